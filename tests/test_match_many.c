/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports given many at a time are counted as if they had come one by one: random reports of several events,
 * CPUs, processes and kinds, among mappings that come and go, in batches of random lengths.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "da_heat.h"
#include "da_match.h"

#define REPORTS 300
#define ROUNDS  120
#define COLUMNS 16

static uint64_t state;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 11;
}

static void map(struct da_tasks *tasks, uint32_t pid, uint64_t start, uint64_t len,
		const char *name, uint64_t time_ns)
{
	struct da_rec_mmap r = {.pid = pid,
				.tid = pid,
				.addr = start,
				.len = len,
				.prot = PROT_READ | PROT_WRITE,
				.flags = MAP_PRIVATE,
				.has_prot = true,
				.filename = name};

	ck_assert_int_eq(da_tasks_mmap(tasks, &r, time_ns), 0);
}

/* Mostly like the one before, as reports are. */
static struct da_report next_report(const struct da_report *before, uint64_t time_ns)
{
	struct da_report r = *before;
	uint64_t dice = rnd();

	r.has = DA_HAS_TIME | DA_HAS_CPU | DA_HAS_TASK | DA_HAS_VADDR | DA_HAS_PERIOD | DA_HAS_OP;
	r.time_ns = time_ns;
	if (dice % 16 == 0)
		r.pid = r.tid = 1 + (uint32_t)(rnd() % 4);
	if (dice % 16 == 1)
		r.event = (uint32_t)(rnd() % 3);
	if (dice % 16 == 2)
		r.cpu = (uint32_t)(rnd() % 3);
	if (dice % 64 == 3)
		r.time_ns -= rnd() % 30000 % time_ns; /* late */
	if (dice % 64 == 4)
		r.has &= ~(uint32_t)DA_HAS_TIME;
	if (dice % 64 == 5)
		r.has &= ~(uint32_t)DA_HAS_TASK;
	if (dice % 64 == 6)
		r.has &= ~(uint32_t)DA_HAS_VADDR;
	if (dice % 3 == 0)
		r.has |= DA_HAS_PADDR;
	if (dice % 5 == 0)
		r.has |= DA_HAS_SIZE;
	r.size = 1 + (uint32_t)(rnd() % 64);
	r.period = rnd() % 100;
	r.op = rnd() % 4 & (DA_OP_READ | DA_OP_WRITE);
	r.vaddr = dice % 32 == 8 ? 0x7ffff0000000 - rnd() % 0x100000 : rnd() % 0x90000;
	r.paddr = 0x100000000 + rnd() % 0x8000000;
	return r;
}

static void same_ledgers(const struct da_match *a, const struct da_match *b)
{
	ck_assert_uint_eq(da_match_nr_cpus(a), da_match_nr_cpus(b));
	for (uint32_t e = 0; e < 3; e++) {
		for (uint32_t c = 0; c < da_match_nr_cpus(a); c++) {
			const struct da_ledger *x = da_match_ledger(a, e, c),
					       *y = da_match_ledger(b, e, c);

			ck_assert_int_eq(!x, !y);
			ck_assert(!x || !memcmp(x, y, sizeof(*x)));
			ck_assert(!x || da_ledger_conserves(x, NULL));
		}
	}
}

static void same_heat(const struct da_match *ma, const struct da_match *mb,
		      const struct da_space *a, const struct da_space *b)
{
	struct da_heat_row *row = calloc(a->nr_regions + 1, sizeof(*row));
	uint64_t *x = calloc(a->nr_regions + 1, COLUMNS * sizeof(*x)),
		 *y = calloc(a->nr_regions + 1, COLUMNS * sizeof(*y)), t = ROUNDS * 100000;

	for (size_t i = 0; i < a->nr_regions; i++)
		row[i] = (struct da_heat_row){a->regions[i].start, a->regions[i].end, (uint32_t)i,
					      (uint32_t)i};
	ck_assert_uint_eq(da_heat_cells(a->heat), da_heat_cells(b->heat));
	for (uint32_t e = 0; e < 3; e++) {
		da_heat_render(a->heat, e, 0, t, COLUMNS, row, a->nr_regions, x);
		da_heat_render(b->heat, e, 0, t, COLUMNS, row, a->nr_regions, y);
		ck_assert(!memcmp(x, y, a->nr_regions * COLUMNS * sizeof(*x)));
		for (uint64_t c = 0; c < COLUMNS; c++)
			ck_assert_int_eq(
				da_match_observed(ma, a, e, c * t / COLUMNS, (c + 1) * t / COLUMNS),
				da_match_observed(mb, b, e, c * t / COLUMNS,
						  (c + 1) * t / COLUMNS));
	}
	free(row);
	free(x);
	free(y);
}

static void same_spaces(const struct da_match *a, const struct da_match *b)
{
	ck_assert_uint_eq(da_match_nr_spaces(a), da_match_nr_spaces(b));
	for (size_t i = 0; i < da_match_nr_spaces(a); i++) {
		const struct da_space *x = da_match_space(a, i), *y = da_match_space(b, i);

		ck_assert(!memcmp(&x->ledger, &y->ledger, sizeof(x->ledger)));
		ck_assert_uint_eq(x->nr_regions, y->nr_regions);
		for (size_t k = 0; k < x->nr_regions; k++) {
			const struct da_region *p = &x->regions[k], *q = &y->regions[k];

			ck_assert_uint_eq(p->start, q->start);
			ck_assert_uint_eq(p->end, q->end);
			ck_assert_str_eq(p->label, q->label);
			ck_assert_uint_eq(p->nr_by_event, q->nr_by_event);
			ck_assert(!p->nr_by_event ||
				  !memcmp(p->by_event, q->by_event,
					  p->nr_by_event * sizeof(*p->by_event)));
		}
		if (x->heat)
			same_heat(a, b, x, y);
	}
}

static void both_ways(const struct da_match_opts *o, uint64_t seed)
{
	struct da_tasks *tasks = da_tasks_new();
	struct da_match *one = da_match_new(o, tasks), *many = da_match_new(o, tasks);
	struct da_report r[REPORTS] = {{.pid = 1, .tid = 1}};

	state = 88172645463325252ull + seed;
	ck_assert(one && many);
	for (uint32_t pid = 1; pid < 4; pid++) {
		map(tasks, pid, 0x10000, 0x30000, "/lib", 0);
		map(tasks, pid, 0x7ffff0000000, 0x10000, "[stack]", 0);
	}
	for (uint64_t round = 1; round < ROUNDS; round++) {
		if (round % 10 == 0)
			map(tasks, 1 + (uint32_t)(rnd() % 3), rnd() % 0x80 << 12,
			    (1 + rnd() % 32) << 12, rnd() & 1 ? "//anon" : "/file", round * 100000);
		for (size_t i = 0; i < REPORTS; i++)
			r[i] = next_report(&r[i ? i - 1 : 0], round * 100000 + i * 300);
		for (size_t i = 0; i < REPORTS; i++)
			da_match_report(one, &r[i]);
		for (size_t i = 0, n; i < REPORTS; i += n) {
			n = 1 + rnd() % 200;
			n = n < REPORTS - i ? n : REPORTS - i;
			da_match_reports(many, r + i, n);
		}
	}
	da_match_reports(many, r, 0);
	same_ledgers(one, many);
	ck_assert_int_eq(da_match_finish(one), 0);
	ck_assert_int_eq(da_match_finish(many), 0);
	if (o->accumulate)
		same_spaces(one, many);
	da_match_free(one);
	da_match_free(many);
	da_tasks_free(tasks);
}

START_TEST(mappings)
{
	struct da_match_opts o = {.virt = true, .phys = true, .nr_events = 3, .accumulate = true};

	both_ways(&o, 0);
	o.phys = false;
	both_ways(&o, 1);
	o.phys = true;
	o.virt = false;
	both_ways(&o, 2);
}
END_TEST

START_TEST(chunks)
{
	struct da_match_opts o = {.virt = true,
				  .phys = true,
				  .nr_events = 3,
				  .accumulate = true,
				  .regions = DA_REGIONS_FIXED,
				  .fixed_bytes = 4096};

	both_ways(&o, 3);
	o.max_cells = 1024; /* heats that become coarser all the time */
	both_ways(&o, 4);
	o.interval_ns = 1000;
	both_ways(&o, 5);
}
END_TEST

START_TEST(targets)
{
	static const uint32_t pids[] = {3, 1};
	struct da_match_opts o = {.virt = true,
				  .phys = true,
				  .nr_events = 3,
				  .accumulate = true,
				  .pids = pids,
				  .nr_pids = 2};

	both_ways(&o, 6);
	o.accumulate = false;
	both_ways(&o, 7);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("match_many");
	TCase *t = tcase_create("batches");
	SRunner *run;
	int failed;

	tcase_add_test(t, mappings);
	tcase_add_test(t, chunks);
	tcase_add_test(t, targets);
	suite_add_tcase(suite, t);
	run = srunner_create(suite);
	srunner_run_all(run, CK_NORMAL);
	failed = srunner_ntests_failed(run);
	srunner_free(run);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
