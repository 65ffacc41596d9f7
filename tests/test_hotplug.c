/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs that go away and come back while a session records, without a kernel: the list of online CPUs is a file of
 * this test, the events are made up. And the ids that records of new events get. Real CPUs go and come in the
 * guest (tests/guest/hotplug.in).
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"
#include "session_priv.h"

static char dir[200], list[232], file[232];
static char said[4096];

static void online(const char *cpus)
{
	FILE *f = fopen(list, "we");

	ck_assert_ptr_nonnull(f);
	fprintf(f, "%s\n", cpus);
	fclose(f);
}

static void setup(void)
{
	test_folder(dir, sizeof(dir));
	snprintf(list, sizeof(list), "%s/online", dir);
	snprintf(file, sizeof(file), "%s/data", dir);
	said[0] = '\0';
}

static void teardown(void)
{
	unlink(list);
	unlink(file);
	rmdir(dir);
}

static void message(void *ctx, int level, const char *text)
{
	size_t at = strlen(said);

	(void)ctx;
	snprintf(said + at, sizeof(said) - at, "%d %s\n", level, text);
}

static struct da_session *begin(const char *cpus, struct da_spec **specs)
{
	struct da_session_opts o = {.target = DA_TARGET_SYSTEM,
				    .output = file,
				    .online_path = list,
				    .cpu_list = cpus,
				    .message = message};
	struct da_error err = {0};
	struct da_session *s;

	ck_assert(!da_spec_parse("fake/rate=10000/", specs, &o.nr_specs, NULL, 0, &err));
	o.specs = *specs;
	ck_assert_msg(!da_session_new(&s, &o, &err), "%s", err.msg);
	ck_assert_msg(!da_session_create(s, &err), "%s", err.msg);
	ck_assert_msg(!da_session_bind(s, &err), "%s", err.msg);
	ck_assert_msg(!da_session_enable(s, &err), "%s", err.msg);
	return s;
}

static void conserves(struct da_session *s)
{
	struct da_ledger l = da_session_ledger(s);
	enum da_stage bad = 0;

	ck_assert_msg(da_ledger_conserves(&l, &bad), "%s does not conserve", da_stage_name(bad));
}

static void tick(struct da_session *s, const char *cpus)
{
	struct da_error err = {0};

	online(cpus);
	usleep(30000);
	ck_assert_int_eq(da_session_tick(s, &err), 1);
	conserves(s);
}

/* Sample records of a CPU, decoded until now. */
static uint64_t samples(struct da_session *s, size_t cpu)
{
	struct da_ledger none[8] = {0}, l;

	s_pair_ledger(s, none, cpu, 0, &l);
	return l.in[DA_STAGE_SAMPLE];
}

/* Until there are more than n of them; a busy machine may take its time. */
static uint64_t more(struct da_session *s, size_t cpu, uint64_t n)
{
	for (int i = 0; i < 1000 && samples(s, cpu) <= n; i++)
		usleep(10000);
	ck_assert_uint_gt(samples(s, cpu), n);
	return samples(s, cpu);
}

static void end(struct da_session *s, struct da_spec *specs, struct da_facts *f)
{
	struct da_error err = {0};

	ck_assert_msg(!da_session_stop(s, "duration", -1, &err), "%s", err.msg);
	conserves(s);
	ck_assert(!da_session_facts(s, f));
	da_session_free(s);
	free(specs);
}

START_TEST(away_and_back)
{
	struct da_spec *specs;
	struct da_session *s;
	struct da_facts f;
	const struct da_facts_cpu *c;
	uint64_t n;

	online("0-2");
	s = begin(NULL, &specs);
	ck_assert_uint_eq(s->nr_cpus, 3);
	tick(s, "0-2");
	ck_assert_str_eq(said, "");
	more(s, 1, 0);

	tick(s, "0,2");
	ck_assert_str_eq(said, "1 CPU 1 went offline: its events are closed until it is back\n");
	ck_assert(!s->cpus[1].pairs[0].bound);
	/* what it had given is decoded; then nothing comes from there */
	for (n = 0; n != samples(s, 1); usleep(200000))
		n = samples(s, 1);
	more(s, 0, samples(s, 0));
	tick(s, "0,2");
	ck_assert_uint_eq(samples(s, 1), n);

	said[0] = '\0';
	tick(s, "0-2");
	ck_assert_str_eq(said, "1 CPU 1 is online again: its events were opened anew\n");
	more(s, 1, n);

	said[0] = '\0';
	tick(s, "0-3");
	ck_assert_str_eq(said,
			 "1 CPU 3 came online after the recording began: it is not recorded\n");
	tick(s, "0-3");
	more(s, 0, 0);
	more(s, 2, 0);
	tick(s, "0-1"); /* and one that is away at the end */

	end(s, specs, &f);
	ck_assert_uint_eq(f.events[0].nr_cpus, 3);
	for (size_t i = 0; i < 3; i++) {
		uint64_t times = i == 1 ? 2 : 1; /* in the same ledger */

		c = &f.events[0].cpus[i];
		ck_assert_uint_eq(c->cpu, i);
		ck_assert_uint_eq(c->ledger.in[DA_STAGE_CREATE], times);
		ck_assert_uint_eq(c->ledger.out[DA_STAGE_BIND], times);
		ck_assert_uint_eq(c->ledger.out[DA_STAGE_ENABLE], times);
		ck_assert_int_eq(c->state, DA_STATE_RUNNING);
		ck_assert_uint_eq(c->went_offline, i > 0);
		ck_assert_uint_eq(c->came_back, i == 1);
		ck_assert(!c->away_ns == !i);
	}
	da_facts_release(&f);
}
END_TEST

/* One that -C names is awaited; the others are nobody's business. */
START_TEST(offline_at_first)
{
	bool two = sysconf(_SC_NPROCESSORS_CONF) > 1; /* else -C may not name it */
	const struct da_facts_cpu *c;
	struct da_spec *specs;
	struct da_session *s;
	struct da_facts f;

	online("0");
	s = begin(two ? "0-1" : "0", &specs);
	said[0] = '\0';
	tick(s, "0");
	ck_assert_str_eq(said, "");
	tick(s, "0-2");
	ck_assert_str_eq(said, two ? "1 CPU 1 is online now: its events were opened\n" : "");
	if (two)
		more(s, 1, 0);
	end(s, specs, &f);
	c = &f.events[0].cpus[f.events[0].nr_cpus - 1];
	if (two) {
		ck_assert_uint_eq(c->ledger.in[DA_STAGE_CREATE], 2);
		ck_assert_uint_eq(c->ledger.drop[DA_DROP_CREATE_CPU_OFFLINE], 1);
		ck_assert_uint_eq(c->ledger.out[DA_STAGE_ENABLE], 1);
		ck_assert_int_eq(c->state, DA_STATE_RUNNING);
	}
	ck_assert_uint_eq(c->went_offline, 0);
	da_facts_release(&f);
}
END_TEST

/* A list that cannot be read says nothing about the CPUs. */
START_TEST(no_list)
{
	struct da_error err = {0};
	struct da_spec *specs;
	struct da_session *s;
	struct da_facts f;

	online("0-1");
	s = begin(NULL, &specs);
	unlink(list);
	ck_assert_int_eq(da_session_tick(s, &err), 1);
	ck_assert_str_eq(said, "");
	end(s, specs, &f);
	ck_assert_uint_eq(f.events[0].cpus[0].went_offline, 0);
	da_facts_release(&f);
}
END_TEST

/* ---- ids ---- */

#define NEW 0x1111111111111111ull
#define OLD 0x22ull

static size_t record(uint8_t *p, uint32_t type, uint16_t size)
{
	uint64_t n = 0x1000;

	memcpy(p, &type, 4);
	memset(p + 4, 0, 2);
	memcpy(p + 6, &size, 2);
	for (size_t at = 8; at < size; at += 8, n++)
		memcpy(p + at, &n, 8);
	return size;
}

static uint64_t word(const uint8_t *p, size_t at)
{
	uint64_t v;

	memcpy(&v, p + at, 8);
	return v;
}

static const struct {
	uint32_t type;
	uint16_t size;
	size_t at[3]; /* of the ids; 0 none */
} records[] = {
	{DA_REC_SAMPLE, 64, {8, 0, 0}},        {DA_REC_MMAP2, 120, {112, 0, 0}},
	{DA_REC_LOST, 56, {8, 48, 0}},         {DA_REC_THROTTLE, 64, {16, 24, 56}},
	{DA_REC_LOST_SAMPLES, 48, {40, 0, 0}},
};
#define NR_RECORDS (sizeof(records) / sizeof(records[0]))

START_TEST(ids_of_new_events)
{
	struct s_rename names[] = {{0x9999, 1}, {NEW, OLD}};
	struct s_cpu c = {.hot = {.renames = names, .nr_renames = 2}};
	uint8_t buf[1024], want[1024];
	size_t len = 0;

	for (size_t i = 0; i < NR_RECORDS; i++) {
		uint8_t *p = buf + len, *w = want + len;
		uint64_t now = NEW, then = OLD;

		len += record(p, records[i].type, records[i].size);
		memcpy(w, p, records[i].size);
		for (size_t k = 0; k < 3 && records[i].at[k]; k++) {
			memcpy(p + records[i].at[k], &now, 8);
			memcpy(w + records[i].at[k], &then, 8);
		}
	}
	s_hotplug_rename(&c, buf, len);
	ck_assert_mem_eq(buf, want, len);

	/* what is no whole record is left alone */
	record(buf, DA_REC_SAMPLE, 64);
	memcpy(buf + 8, &(uint64_t){NEW}, 8);
	s_hotplug_rename(&c, buf, 40);
	ck_assert_uint_eq(word(buf, 8), NEW);
	s_hotplug_rename(&c, buf, 4);
	buf[6] = buf[7] = 0;
	s_hotplug_rename(&c, buf, 64);
	ck_assert_uint_eq(word(buf, 8), NEW);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hotplug");
	TCase *t = tcase_create("session");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, away_and_back);
	tcase_add_test(t, offline_at_first);
	tcase_add_test(t, no_list);
	tcase_add_test(t, ids_of_new_events);
	suite_add_tcase(suite, t);
	r = srunner_create(suite);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
