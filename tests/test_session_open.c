/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opening events of PMUs that this machine does not have: what the kernel would answer is played by a
 * function, which may also put a software event in the place of the one asked for. What is opened, with
 * which bits, on which CPUs, in whose group, and what is said when it is refused.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "da_session.h"
#include "session_priv.h"

#define UK DA_ATTR_EXCLUDE_KERNEL

/* The kernel's side, and what it saw. */
static struct kernel {
	bool needs_exclusion, refuses_exclusion, needs_leader;
	uint64_t needs_config; /* bits that exclusion needs */
	unsigned max_precise;
	struct da_attr last, leader;
	unsigned opens;
	uint64_t cpus;
} kernel;

static char said[4096];

static void message(void *ctx, int level, const char *text)
{
	size_t n = strlen(said);

	(void)ctx;
	snprintf(said + n, sizeof(said) - n, "%d %s\n", level, text);
}

static int opening(void *ctx, struct da_attr *a, struct da_attr *leader, int cpu)
{
	unsigned precise = (unsigned)((a->flags & DA_ATTR_PRECISE_MASK) >> DA_ATTR_PRECISE_SHIFT);

	(void)ctx;
	if (a->type == DA_TYPE_SOFTWARE)
		return 0;
	kernel.opens++;
	kernel.last = *a;
	if (kernel.needs_exclusion && !(a->flags & UK))
		return EACCES;
	if ((a->flags & UK) &&
	    (kernel.refuses_exclusion || (a->config & kernel.needs_config) != kernel.needs_config))
		return EINVAL;
	if (precise > kernel.max_precise)
		return EOPNOTSUPP;
	if (kernel.needs_leader && (!leader || leader->config != 0x8203))
		return ENODATA;
	kernel.cpus |= 1ull << cpu;
	a->type = DA_TYPE_SOFTWARE;
	a->config = DA_SW_CPU_CLOCK;
	a->sample_period = 1000000;
	a->sample_type &= ~(uint64_t)(DA_SAMPLE_RAW | DA_SAMPLE_ADDR);
	a->flags &= ~DA_ATTR_PRECISE_MASK;
	if (leader) {
		kernel.leader = *leader;
		leader->type = DA_TYPE_SOFTWARE;
		leader->config = DA_SW_DUMMY;
	}
	return 0;
}

static void reset(void)
{
	kernel = (struct kernel){.max_precise = 3};
	said[0] = '\0';
}

static struct da_spec ibs(void)
{
	return (struct da_spec){
		.name = "ibs", .producer = DA_PROD_IBS_OP, .attr = {.type = 12, .size = 128}};
}

static struct da_spec mem_loads(unsigned precise)
{
	return (struct da_spec){.name = "cpu/mem-loads/",
				.producer = DA_PROD_ADDR,
				.attr = {.type = 4,
					 .size = 128,
					 .config = 0x1cd,
					 .flags = (uint64_t)precise << DA_ATTR_PRECISE_SHIFT}};
}

static int create(const struct da_spec *specs, size_t nr, struct da_session_opts o,
		  struct da_session **s, struct da_error *err)
{
	*err = (struct da_error){0};
	o.specs = specs;
	o.nr_specs = nr;
	o.target = DA_TARGET_PID;
	o.ids = &(pid_t){getpid()};
	o.nr_ids = 1;
	o.open = opening;
	o.message = message;
	ck_assert_msg(!da_session_new(s, &o, err), "%s", err->msg);
	return da_session_create(*s, err);
}

/* Software events themselves may be forbidden here. */
static bool can_sample(void)
{
	struct da_spec spec = {.name = "cpu-clock:u",
			       .producer = DA_PROD_REGS,
			       .attr = {.type = DA_TYPE_SOFTWARE, .size = 128, .flags = UK}};
	struct da_session *s;
	struct da_error err;
	bool can = !create(&spec, 1, (struct da_session_opts){.no_regs = true}, &s, &err);

	da_session_free(s);
	reset();
	return can;
}

/* An ordinary user and IBS: the kernel's part is left out if that can be, and it is said why not. */
START_TEST(ibs_without_the_kernel)
{
	struct da_spec spec = ibs();
	struct da_session *s;
	struct da_error err;
	struct da_facts f;

	kernel.needs_exclusion = kernel.refuses_exclusion = true;
	ck_assert_int_eq(create(&spec, 1, (struct da_session_opts){0}, &s, &err), -DA_EPERM);
	ck_assert_ptr_nonnull(strstr(err.msg, DA_IBS_NO_EXCLUDE));
	ck_assert_ptr_nonnull(strstr(err.msg, "'ibs'"));
	da_session_free(s);

	if (!can_sample())
		return;
	kernel.needs_exclusion = true;
	kernel.needs_config = 1ull << 63;
	spec.exclude_config = 1ull << 63;
	ck_assert_msg(!create(&spec, 1, (struct da_session_opts){0}, &s, &err), "%s", err.msg);
	ck_assert_uint_eq(kernel.last.config, 1ull << 63);
	ck_assert(!da_session_facts(s, &f));
	ck_assert(f.events[0].attr.flags & UK);
	ck_assert_uint_eq(f.events[0].attr.config, 1ull << 63);
	ck_assert_ptr_nonnull(strstr(said, "ibs: user space only"));
	da_facts_release(&f);
	da_session_free(s);
}
END_TEST

START_TEST(precise_level_refused)
{
	struct da_spec spec = mem_loads(3);
	struct da_session *s;
	struct da_error err;

	kernel.max_precise = 2;
	ck_assert_int_eq(create(&spec, 1, (struct da_session_opts){0}, &s, &err), -DA_EUNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(err.msg, "precise level 3"));
	da_session_free(s);
}
END_TEST

/* The event that only has to be there: same tasks, same conditions, no samples. */
START_TEST(in_the_group_of_a_leader)
{
	struct da_spec spec = mem_loads(2);
	struct da_session *s;
	struct da_error err;
	struct da_facts f;

	if (!can_sample())
		return;
	kernel.needs_leader = true;
	ck_assert_int_lt(create(&spec, 1, (struct da_session_opts){0}, &s, &err), 0);
	da_session_free(s);
	spec.has_leader = true;
	spec.leader = (struct da_attr){.type = 4, .config = 0x8203};
	spec.attr.flags |= UK | DA_ATTR_PINNED;
	ck_assert_msg(!create(&spec, 1, (struct da_session_opts){.latency_ms = 5}, &s, &err), "%s",
		      err.msg);
	ck_assert_uint_eq(kernel.leader.sample_period, 0);
	ck_assert(kernel.leader.flags & UK);
	ck_assert(kernel.leader.flags & DA_ATTR_PINNED && !(kernel.last.flags & DA_ATTR_PINNED));
	ck_assert_uint_eq(kernel.last.wakeup_events, 1); /* a latency was asked for */
	ck_assert_msg(!da_session_bind(s, &err) && !da_session_enable(s, &err), "%s", err.msg);
	for (int i = 0; i < 100000000 && !da_session_samples(s); i++)
		; /* work that is sampled */
	ck_assert_int_eq(da_session_stop(s, "duration", -1, &err), 0);
	ck_assert_uint_gt(da_session_samples(s), 0); /* it ran, so the leader did */
	ck_assert(!da_session_facts(s, &f));
	ck_assert_uint_eq(f.nr_events, 1);
	ck_assert(!f.unit_held);
	da_facts_release(&f);
	da_session_free(s);
	/* the default leaves batches to the kernel */
	spec.has_leader = kernel.needs_leader = false;
	ck_assert(!create(&spec, 1, (struct da_session_opts){0}, &s, &err));
	ck_assert_uint_eq(kernel.last.wakeup_events, 0);
	da_session_free(s);
}
END_TEST

/* A PMU that is on some CPUs is asked for there only, and nowhere else counted as refused. */
START_TEST(cpus_of_a_pmu)
{
	struct da_spec spec[2] = {mem_loads(0), mem_loads(0)};
	struct da_session *s;
	struct da_error err;
	struct da_facts f;

	if (!can_sample())
		return;
	spec[0].attr.flags = spec[1].attr.flags = UK;
	strcpy(spec[0].cpus, "0");
	strcpy(spec[1].name, "everywhere");
	ck_assert_msg(!create(spec, 2, (struct da_session_opts){0}, &s, &err), "%s", err.msg);
	ck_assert(!da_session_facts(s, &f));
	ck_assert_uint_eq(f.events[0].nr_cpus, 1);
	ck_assert_uint_eq(f.events[0].cpus[0].cpu, 0);
	ck_assert_uint_eq(f.events[0].cpus[0].ledger.in[DA_STAGE_CREATE], 1);
	ck_assert_uint_eq(f.events[1].nr_cpus, (size_t)sysconf(_SC_NPROCESSORS_ONLN));
	da_facts_release(&f);
	da_session_free(s);

	strcpy(spec[0].cpus, "4000-4095");
	ck_assert_int_eq(create(spec, 1, (struct da_session_opts){0}, &s, &err), -DA_ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, "its PMU is on CPUs 4000-4095"));
	da_session_free(s);
}
END_TEST

/* What Arm SPE is told and says before it is opened, and a PMU that has no AUX area after all. */
START_TEST(spe)
{
	struct da_spec spec = {.name = "spe",
			       .producer = DA_PROD_SPE,
			       .min_period = 1024,
			       .attr = {.type = 11, .size = 128, .config = 1, .flags = UK}};
	struct da_session *s;
	struct da_error err;
	struct da_facts f;

	ck_assert_int_eq(create(&spec, 1, (struct da_session_opts){.freq = 100}, &s, &err),
			 -DA_EUNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(err.msg, "period"));
	ck_assert_uint_eq(kernel.opens, 0);
	da_session_free(s);
	if (!can_sample())
		return;
	ck_assert_msg(!create(&spec, 1, (struct da_session_opts){.period = 500}, &s, &err), "%s",
		      err.msg);
	ck_assert_uint_eq(kernel.last.sample_period, 1024);
	ck_assert_uint_gt(kernel.last.aux_watermark, 0);
	ck_assert_ptr_nonnull(strstr(said, "1 spe: period 1024 instead of 500"));
	ck_assert_ptr_nonnull(strstr(said, "1 spe: periods below 3000"));
	ck_assert_ptr_nonnull(strstr(said, "3 spe: at period 1024 a busy CPU gives about 2929687 "
					   "samples/s, 187.5 MB/s"));
	ck_assert_int_lt(da_session_bind(s, &err), 0);
	ck_assert(!da_session_facts(s, &f));
	ck_assert_uint_eq(f.events[0].effective_period, 1024);
	ck_assert_uint_eq(f.events[0].cpus[0].ledger.out[DA_STAGE_CREATE], 1);
	ck_assert_uint_eq(f.events[0].cpus[0].ledger.out[DA_STAGE_BIND], 0);
	ck_assert_str_eq(f.events[0].errors[0].what, "mmap");
	ck_assert(f.events[0].needs_aux && !f.events[0].aux);
	da_facts_release(&f);
	da_session_free(s);
	said[0] = '\0';
	ck_assert(!create(&spec, 1, (struct da_session_opts){0}, &s, &err));
	ck_assert_uint_eq(kernel.last.sample_period, 3840);
	ck_assert_ptr_null(strstr(said, "1 spe"));
	ck_assert_ptr_nonnull(strstr(said, "50.0 MB/s"));
	da_session_free(s);
}
END_TEST

/* ---- one event a unit ---- */

static void share(uint64_t running, bool eof, uint32_t other_type, bool want, const char *text)
{
	struct da_ledger led[2] = {{.in = {[DA_STAGE_SAMPLE] = 1234}}};
	struct s_pair pairs[2] = {
		{.counted = true,
		 .lane = &led[0],
		 .count = {.enabled_ns = eof ? 0 : 1000000000, .running_ns = running, .eof = eof}},
		{.lane = &led[1]}};
	struct s_event ev[2] = {{.spec = ibs(), .opened = 1}, {.spec = ibs(), .opened = 1}};
	struct s_cpu cpu = {.pairs = pairs};
	struct da_session s = {.ev = ev, .nr_ev = 2, .cpus = &cpu, .nr_cpus = 1};

	s.o.message = message;
	ev[1].spec.attr.type = other_type;
	strcpy(ev[1].spec.name, "ibs/cnt_ctl=1/");
	said[0] = '\0';
	s_find_shared(&s);
	ck_assert_int_eq(s.unit_held, want);
	if (text)
		ck_assert_msg(strstr(said, text) != NULL, "%s", said);
	else
		ck_assert_str_eq(said, "");
}

START_TEST(shared_units)
{
	share(1000000000, false, 12, false, NULL);
	share(995000000, false, 12, false, NULL); /* switching tasks costs as much */
	share(500000000, false, 12, true,
	      "1 ibs: ran 50 % of the time that it was enabled (1234 samples): its unit, one for each CPU, "
	      "was shared with 'ibs/cnt_ctl=1/'");
	share(500000000, false, 13, true, "was shared with an event of somebody else");
	share(0, true, 12, true,
	      "1 ibs: pinned, and reads as ended: its counter is held by 'ibs/cnt_ctl=1/'");
	share(0, true, 13, true, "is held by another event");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("session_open");
	TCase *t = tcase_create("session_open");
	SRunner *r;
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, reset, NULL);
	tcase_add_test(t, ibs_without_the_kernel);
	tcase_add_test(t, precise_level_refused);
	tcase_add_test(t, in_the_group_of_a_leader);
	tcase_add_test(t, cpus_of_a_pmu);
	tcase_add_test(t, spe);
	tcase_add_test(t, shared_units);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
