/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session of the fake producer, end to end and without a kernel: threads, file, buffers, match, stop, and
 * the failures of create, bind and enable. Real events are tested live.
 */
#include "da_offline.h"
#include "da_session.h"
#include "folder.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[200], file[232];

static void make_dir(void)
{
	test_folder(dir, sizeof(dir));
	snprintf(file, sizeof(file), "%s/f", dir);
}

static void remove_dir(void)
{
	unlink(file);
	rmdir(dir);
}

struct run {
	struct da_session *s;
	struct da_spec *specs;
	struct da_facts f;
	int rc; /* of create, bind or enable, the first that failed */
};

static void conserves(const struct da_session *s)
{
	struct da_ledger l = da_session_ledger(s);
	enum da_stage bad = 0;

	ck_assert_msg(da_ledger_conserves(&l, &bad), "layer %s does not conserve: in %llu out %llu",
		      da_stage_name(bad), (unsigned long long)l.in[bad],
		      (unsigned long long)l.out[bad]);
}

static struct run run(const char *event, struct da_session_opts o)
{
	struct da_error err = {0};
	struct run r = {0};

	ck_assert_msg(!da_spec_parse(event, &r.specs, &o.nr_specs, NULL, 0, &err), "%s", err.msg);
	o.specs = r.specs;
	o.target = DA_TARGET_PID;
	o.ids = &(pid_t){getpid()};
	o.nr_ids = 1;
	o.output = file;
	ck_assert_msg(!da_session_new(&r.s, &o, &err), "%s", err.msg);
	r.rc = da_session_create(r.s, &err);
	if (!r.rc)
		r.rc = da_session_bind(r.s, &err);
	if (!r.rc)
		r.rc = da_session_enable(r.s, &err);
	for (int i = 0; !r.rc && i < 20; i++) {
		usleep(20000);
		conserves(r.s);
		if (i % 5 == 0)
			ck_assert_int_ge(da_session_tick(r.s, &err), 0);
	}
	ck_assert_int_eq(da_session_stop(r.s, "duration", -1, &err), 0);
	ck_assert_int_eq(da_session_facts(r.s, &r.f), 0);
	conserves(r.s);
	return r;
}

static void done(struct run *r)
{
	da_facts_release(&r->f);
	da_session_free(r->s);
	free(r->specs);
}

static uint64_t samples_in(const char *path)
{
	struct da_error err = {0};
	struct da_reader *rd;
	struct da_rec rec;
	uint64_t n = 0, last = 0;

	ck_assert_msg(!da_reader_open(&rd, path, &err), "%s", err.msg);
	while (da_reader_next(rd, &rec, &err) > 0) {
		if (rec.type != DA_REC_SAMPLE)
			continue;
		if (rec.time_ns < last) /* rounds let a reader sort */
			ck_abort_msg("%" PRIu64 " behind %" PRIu64, rec.time_ns, last);
		last = rec.time_ns;
		n++;
	}
	ck_assert(!da_reader_info(rd)->damaged);
	ck_assert_uint_eq(da_reader_info(rd)->late_records, 0);
	da_reader_close(rd);
	return n;
}

static uint64_t samples_in_file(void)
{
	return samples_in(file);
}

static void whole_pipeline(enum da_drain drain)
{
	struct run r = run("fake/rate=20000,count=5000/", (struct da_session_opts){.drain = drain});
	struct da_ledger l = da_session_ledger(r.s);
	struct da_counters c = da_ledger_counters(&l);
	uint64_t cpus = r.f.events[0].nr_cpus;

	ck_assert_int_eq(r.rc, 0);
	ck_assert_uint_gt(c.callback, 0);
	ck_assert_uint_eq(c.callback, 5000 * cpus);
	ck_assert_uint_eq(samples_in_file(), c.callback);
	ck_assert_uint_eq(c.valid, c.callback);
	ck_assert_uint_eq(c.enqueue, c.dequeue);
	ck_assert_uint_eq(c.overflow, 0);
	ck_assert_uint_eq(c.match, c.dequeue);
	ck_assert_uint_gt(c.update, 0);
	ck_assert_uint_eq(l.drop[DA_DROP_RESIDENT], 0);
	ck_assert_uint_eq(r.f.nr_buffers, drain == DA_DRAIN_SINGLE ? 1 : cpus);
	ck_assert_uint_eq(r.f.buffers[0].source_cpus, drain == DA_DRAIN_SINGLE ? cpus : 1);
	ck_assert(r.f.disabled_before_drain && r.f.released_all);
	ck_assert_int_eq(r.f.events[0].cpus[0].state, DA_STATE_RUNNING);
	done(&r);
}

START_TEST(per_cpu)
{
	whole_pipeline(DA_DRAIN_PERCPU);
}
END_TEST

START_TEST(single)
{
	whole_pipeline(DA_DRAIN_SINGLE);
}
END_TEST

/* A buffer of two slots overflows, and the ledger still closes. */
START_TEST(overflow)
{
	struct run r = run("fake/rate=200000,count=40000/",
			   (struct da_session_opts){.buffers = &(struct da_buffer){.slots = 2},
						    .nr_buffers = 1});
	struct da_ledger l = da_session_ledger(r.s);
	struct da_counters c = da_ledger_counters(&l);

	ck_assert_uint_gt(c.overflow, 0);
	ck_assert_uint_eq(c.valid, c.enqueue + c.overflow);
	ck_assert_uint_eq(samples_in_file(), c.callback); /* the file lost nothing */
	ck_assert_uint_eq(c.peak, 2);
	done(&r);
}
END_TEST

/* More is due at once than a pass copies, on an emulated machine for longer than rounds are apart: still no round
 * says that what came before it is in the file when it is not. (As much as a reader's window holds, so that
 * rounds are not needed where they cannot be written.) */
START_TEST(more_than_a_piece)
{
	struct run r = run("fake/rate=10000000,count=80000/", (struct da_session_opts){0});
	struct da_ledger l = da_session_ledger(r.s);

	ck_assert_uint_gt(l.in[DA_STAGE_SAMPLE], 20000);
	ck_assert_uint_eq(samples_in_file(), l.in[DA_STAGE_SAMPLE]);
	done(&r);
}
END_TEST

/* The output goes on in other files while lanes drain: each is a recording without damage, in order, which says the
 * how manieth it is; no sample is lost or in two of them; the ledger goes on. */
START_TEST(switched)
{
	enum { FILES = 6 };
	struct da_error err = {0};
	struct da_session_opts o = {
		.target = DA_TARGET_PID, .ids = &(pid_t){getpid()}, .nr_ids = 1, .output = file};
	char kept[FILES][sizeof(file) + 16];
	struct da_spec *specs;
	struct da_session *s;
	struct da_ledger l;
	uint64_t all = 0, in_file = 0;

	ck_assert(!da_spec_parse("fake/rate=100000/", &specs, &o.nr_specs, NULL, 0, &err));
	o.specs = specs;
	ck_assert(!da_session_new(&s, &o, &err) && !da_session_create(s, &err) &&
		  !da_session_bind(s, &err));
	ck_assert_int_eq(da_session_switch(s, "x", &err), -DA_EBUG); /* not running */
	ck_assert(!da_session_enable(s, &err));
	for (int i = 0; i < FILES - 1; i++) {
		int rc;

		do
			usleep(20000);
		while (!da_session_file(s, &in_file) || !in_file);
		conserves(s);
		snprintf(kept[i], sizeof(kept[i]), "%s%d", file, i);
		do {
			rc = da_session_switch(s, kept[i], &err);
		} while (rc > 0);
		ck_assert_msg(!rc, "%s", err.msg);
	}
	do
		usleep(20000);
	while (!da_session_file(s, &in_file) || !in_file);
	ck_assert_int_eq(da_session_stop(s, "duration", -1, &err), 0);
	ck_assert_int_eq(da_session_switch(s, "x", &err), -DA_EBUG);
	l = da_session_ledger(s);
	conserves(s);
	da_session_file(s, &in_file);
	snprintf(kept[FILES - 1], sizeof(kept[0]), "%s", file);
	for (int i = 0; i < FILES; i++) {
		struct da_offline_opts oo = {.match = {.virt = true}};
		const struct da_offline_result *r;
		struct da_offline *off;
		uint64_t n;

		n = samples_in(kept[i]);
		ck_assert_uint_gt(n, 0);
		all += n;
		ck_assert(!da_offline_open(&off, kept[i], &oo, &err) && !da_offline_run(off, &err));
		r = da_offline_result(off);
		ck_assert(r->has_end && r->has_recorded);
		ck_assert_uint_eq(r->end.piece, i + 1);
		ck_assert_uint_eq(r->end.samples, n);
		ck_assert_str_eq(r->end.reason, i < FILES - 1 ? "switch" : "duration");
		/* its mapping is in each: all is matched */
		ck_assert_uint_eq(r->ledger.out[DA_STAGE_MATCH], n);
		da_offline_close(off);
		if (i < FILES - 1)
			unlink(kept[i]);
	}
	ck_assert_uint_eq(all, l.in[DA_STAGE_SAMPLE]);
	ck_assert_uint_lt(in_file, all);
	da_session_free(s);
	free(specs);
}
END_TEST

/* A buffer of few slots that keeps the latest: what was overwritten is counted, and the ledger closes. Two
 * events share it, and two rings of it. */
START_TEST(overwritten)
{
	struct run r =
		run("fake/rate=200000,count=40000/,fake/rate=100000,count=9000,name=b/",
		    (struct da_session_opts){
			    .buffers = &(struct da_buffer){.slots = 4, .keep = DA_KEEP_LATEST},
			    .nr_buffers = 1});
	struct da_ledger l = da_session_ledger(r.s);
	uint64_t dropped = 0, enqueued = 0;
	enum da_stage bad;

	ck_assert_int_eq(r.rc, 0);
	ck_assert(da_ledger_conserves(&l, &bad));
	ck_assert_uint_eq(l.drop[DA_DROP_RESIDENT], 0);
	ck_assert_uint_eq(l.drop[DA_DROP_OVERFLOW], 0);
	ck_assert_uint_gt(l.drop[DA_DROP_OVERWRITTEN], 0);
	ck_assert_uint_eq(l.in[DA_STAGE_RING], l.out[DA_STAGE_RING] + l.drop[DA_DROP_OVERWRITTEN]);
	for (size_t e = 0; e < 2; e++)
		for (size_t c = 0; c < r.f.events[e].nr_cpus; c++)
			ck_assert_uint_eq(r.f.events[e].cpus[c].ledger.drop[DA_DROP_RESIDENT], 0);
	for (size_t i = 0; i < r.f.nr_buffers; i++) {
		dropped += r.f.buffers[i].overflow;
		enqueued += r.f.buffers[i].enqueue;
	}
	ck_assert_uint_eq(dropped, l.drop[DA_DROP_OVERWRITTEN]);
	ck_assert_uint_eq(enqueued, l.out[DA_STAGE_RING]);
	done(&r);
}
END_TEST

/* Buffers by name, of different size and scope; the default one is only made if somebody writes into it. */
START_TEST(named_buffers)
{
	const struct da_buffer buffers[] = {
		{.name = "all", .slots = 1 << 15, .global = true},
		{.name = "each", .slots = 1 << 14},
	};
	struct run r = run("fake/rate=20000,count=3000,buffer=all/,"
			   "fake/rate=20000,count=1000,buffer=each,name=b/,"
			   "fake/rate=20000,count=500,buffer=all,name=c/",
			   (struct da_session_opts){.buffers = buffers, .nr_buffers = 2});
	uint64_t cpus = r.f.events[0].nr_cpus;

	ck_assert_int_eq(r.rc, 0);
	ck_assert_uint_eq(r.f.nr_buffers, 1 + cpus);
	ck_assert_str_eq(r.f.buffers[0].name, "all");
	ck_assert_uint_eq(r.f.buffers[0].enqueue, 3500 * cpus);
	ck_assert_uint_eq(r.f.buffers[0].source_cpus, cpus);
	ck_assert_uint_eq(r.f.buffers[0].slots, 1 << 15);
	for (size_t c = 1; c <= cpus; c++) {
		ck_assert_uint_eq(r.f.buffers[c].enqueue, 1000);
		ck_assert_uint_eq(r.f.buffers[c].source_cpus, 1);
	}
	done(&r);
}
END_TEST

START_TEST(unknown_buffer)
{
	struct da_session_opts o = {
		.target = DA_TARGET_PID, .ids = &(pid_t){getpid()}, .nr_ids = 1};
	struct da_error err = {0};
	struct da_spec *specs;
	struct da_session *s;

	ck_assert(!da_spec_parse("fake/buffer=no/", &specs, &o.nr_specs, NULL, 0, &err));
	o.specs = specs;
	ck_assert_int_eq(da_session_new(&s, &o, &err), -DA_EUSAGE);
	ck_assert_ptr_nonnull(strstr(err.msg, "'no'"));
	da_session_free(s);
	free(specs);
}
END_TEST

START_TEST(nothing_of_an_earlier_run)
{
	struct run r = run("fake/rate=20000,count=100/", (struct da_session_opts){0});

	done(&r);
	r = run("fake/fail=silent/", (struct da_session_opts){0});
	ck_assert_int_eq(r.rc, 0);
	for (size_t c = 0; c < r.f.events[0].nr_cpus; c++) {
		ck_assert_int_eq(r.f.events[0].cpus[c].state, DA_STATE_ENABLED);
		ck_assert_uint_eq(r.f.events[0].cpus[c].ledger.in[DA_STAGE_SAMPLE], 0);
	}
	done(&r);
}
END_TEST

static const struct {
	const char *event;
	enum da_stage stage;
	enum da_drop drop;
	enum da_state state;
} refused[] = {
	{"fake/fail=create/", DA_STAGE_CREATE, DA_DROP_CREATE_NO_EVENT, DA_STATE_NONE},
	{"fake/fail=bind/", DA_STAGE_BIND, DA_DROP_BIND_MLOCK, DA_STATE_CREATED},
	{"fake/fail=enable/", DA_STAGE_ENABLE, DA_DROP_ENABLE_REFUSED, DA_STATE_BOUND},
};

START_TEST(refusals)
{
	struct run r = run(refused[_i].event, (struct da_session_opts){0});
	const struct da_facts_cpu *c = &r.f.events[0].cpus[0];

	ck_assert_int_lt(r.rc, 0);
	ck_assert_uint_eq(c->ledger.in[refused[_i].stage], 1);
	ck_assert_uint_eq(c->ledger.out[refused[_i].stage], 0);
	ck_assert_uint_eq(c->ledger.drop[refused[_i].drop], 1);
	ck_assert_int_eq(c->state, refused[_i].state);
	ck_assert_uint_gt(r.f.events[0].nr_errors, 0);
	done(&r);
}
END_TEST

START_TEST(freed_in_every_state)
{
	static const char *const steps[] = {"new", "create", "bind", "enable"};

	for (size_t n = 0; n < sizeof(steps) / sizeof(steps[0]); n++) {
		struct da_session_opts o = {.target = DA_TARGET_PID,
					    .ids = &(pid_t){getpid()},
					    .nr_ids = 1,
					    .output = file};
		struct da_error err = {0};
		struct da_spec *specs;
		struct da_session *s;

		ck_assert(!da_spec_parse("fake", &specs, &o.nr_specs, NULL, 0, &err));
		o.specs = specs;
		ck_assert(!da_session_new(&s, &o, &err));
		if (n > 0)
			ck_assert(!da_session_create(s, &err));
		if (n > 1)
			ck_assert(!da_session_bind(s, &err));
		if (n > 2)
			ck_assert(!da_session_enable(s, &err));
		da_session_free(s);
		free(specs);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("session");
	TCase *t = tcase_create("session");
	SRunner *r;
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, make_dir, remove_dir);
	tcase_add_test(t, per_cpu);
	tcase_add_test(t, single);
	tcase_add_test(t, overflow);
	tcase_add_test(t, more_than_a_piece);
	tcase_add_test(t, switched);
	tcase_add_test(t, overwritten);
	tcase_add_test(t, named_buffers);
	tcase_add_test(t, unknown_buffer);
	tcase_add_test(t, nothing_of_an_earlier_run);
	tcase_add_loop_test(t, refusals, 0, sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(t, freed_in_every_state);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
