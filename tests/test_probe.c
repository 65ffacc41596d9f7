/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes: their text, which reports pass, and what the match layer makes of them: hits, reports, replace
 * instead of blend.
 */
#include "da_probe.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_abi.h"
#include "da_match.h"
#include "match_hits.h"

static const struct da_probe_event events[] = {
	{"cpu-clock:u", "", DA_PROD_REGS},
	{"page-faults", "", DA_PROD_FAULT},
	{"cpu/mem-loads/P", "big", DA_PROD_ADDR},
};

static struct da_probes *probes_of(const char *const *texts)
{
	struct da_probes *p = da_probes_new();
	struct da_error err = {0};

	for (; *texts; texts++)
		ck_assert_msg(!da_probes_add(p, *texts, &err), "%s: %s", *texts, err.msg);
	ck_assert_msg(!da_probes_bind(p, events, 3, &err), "%s", err.msg);
	return p;
}

static const char *const bad[] = {
	"",
	"w",
	":write",
	"a b:write",
	"w:wrte",
	"w:cpus=",
	"w:cpus=3-1",
	"w:cpus=1-",
	"w:cpus=x",
	"w:cpus=65536",
	"w:6",
	"w:weight=-1",
	"w:weight=1,2",
	"w:addr=10",
	"w:addr=20-10",
	"w:addr=10-10",
	"w:comm=",
	"w:latency=",
	"w:latency=9-3",
	"w:data_src=l9",
	"w:write,,read",
	"w:nope=3",
	"w:pids=-3",
	"w:cpus=1;2",
	"w:weight=99999999",
	"w:cpus=0x1",
	"w:write,6",
	"w:latency=1-x",
};

START_TEST(refused)
{
	struct da_probes *p = da_probes_new();
	struct da_error err = {0};

	ck_assert_msg(da_probes_add(p, bad[_i], &err) == -DA_EUSAGE, "'%s' was taken", bad[_i]);
	ck_assert_uint_gt(strlen(err.msg), 0);
	ck_assert_uint_eq(da_probes_nr(p), 0);
	da_probes_free(p);
}
END_TEST

START_TEST(names)
{
	struct da_probes *p = da_probes_new();
	struct da_error err = {0};
	char text[64];

	ck_assert(!da_probes_add(p, "a:write", &err));
	ck_assert_int_eq(da_probes_add(p, "a:read", &err), -DA_EUSAGE);
	for (int i = 1; i < DA_PROBES_MAX; i++) {
		snprintf(text, sizeof(text), "n%d:", i);
		ck_assert(!da_probes_add(p, text, &err));
	}
	ck_assert_int_eq(da_probes_add(p, "more:", &err), -DA_EUSAGE);
	ck_assert_str_eq(da_probe_name(p, 1), "n1");
	ck_assert_str_eq(da_probe_text(p, 0), "a:write");
	da_probes_free(p);

	p = da_probes_new();
	ck_assert(!da_probes_add(p, "a:producer=nobody", &err));
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(da_probes_bind(p, events, 3, &err), -DA_EUSAGE);
	ck_assert_ptr_nonnull(strstr(err.msg, "nobody"));
	da_probes_free(p);
	p = da_probes_new();
	ck_assert(!da_probes_add(p, "a:buffer=small", &err));
	ck_assert_int_eq(da_probes_bind(p, events, 3, &err), -DA_EUSAGE);
	da_probes_free(p);
}
END_TEST

#define ALL (DA_HAS_CPU | DA_HAS_TASK | DA_HAS_OP | DA_HAS_VADDR)
/* uapi: mem_lvl at bit 5; HIT 2, L1 8, L2 0x20, remote DRAM 0x100; mem_snoop at 19, HITM 0x10 */
#define L1_HIT     (0xaull << 5)
#define L2_HIT     (0x22ull << 5)
#define REMOTE_RAM (0x102ull << 5)

static const struct {
	const char *text;
	struct da_report r;
	bool pass;
} cases[] = {
	{"p:", {.has = ALL, .op = 1}, true},
	{"p:write", {.has = ALL, .op = DA_OP_WRITE}, true},
	{"p:write", {.has = ALL, .op = DA_OP_READ}, false},
	{"p:write", {.has = ALL, .op = DA_OP_READ | DA_OP_WRITE}, true},
	{"p:write", {.has = DA_HAS_VADDR, .op = DA_OP_WRITE}, false}, /* direction not known */
	{"p:read,write", {.has = ALL, .op = DA_OP_READ}, true},
	{"p:cpus=0-3", {.has = ALL, .cpu = 3}, true},
	{"p:cpus=0-3", {.has = ALL, .cpu = 4}, false},
	{"p:cpus=0-3,6,8-9,write", {.has = ALL, .cpu = 6, .op = 2}, true},
	{"p:cpus=0-3,6,8-9,write", {.has = ALL, .cpu = 9, .op = 2}, true},
	{"p:cpus=0-3,6,8-9,write", {.has = ALL, .cpu = 7, .op = 2}, false},
	{"p:cpus=0", {.has = DA_HAS_VADDR}, false}, /* CPU not known */
	{"p:pids=7,9", {.has = ALL, .pid = 9}, true},
	{"p:pids=7,9", {.has = ALL, .pid = 8}, false},
	{"p:tid=5", {.has = ALL, .tid = 5}, true},
	{"p:tid=5", {.has = ALL, .tid = 6}, false},
	{"p:producer=cpu-clock", {.has = ALL, .event = 0}, true},
	{"p:producer=cpu-clock", {.has = ALL, .event = 2}, false},
	{"p:producer=cpu-clock:u", {.has = ALL, .event = 0}, true},
	{"p:event=2", {.has = ALL, .event = 2}, true},
	{"p:event=cpu/mem-loads/P,read", {.has = ALL, .event = 2, .op = 1}, true},
	{"p:producer=regs,producer=addr", {.has = ALL, .event = 2}, true},
	{"p:buffer=big", {.has = ALL, .event = 2}, true},
	{"p:buffer=big", {.has = ALL, .event = 0}, false},
	{"p:addr=1000-2000", {.has = ALL, .vaddr = 0x1000}, true},
	{"p:addr=0x1000-0x2000", {.has = ALL, .vaddr = 0x1fff}, true},
	{"p:addr=1000-2000", {.has = ALL, .vaddr = 0x2000}, false},
	{"p:addr=0-1000", {.has = ALL}, true},   /* 0 is an address */
	{"p:paddr=0-1000", {.has = ALL}, false}, /* and none is none */
	{"p:paddr=0-1000", {.has = DA_HAS_PADDR}, true},
	{"p:latency=30", {.has = DA_HAS_LATENCY, .latency = 30}, true},
	{"p:latency=30", {.has = DA_HAS_LATENCY, .latency = 29}, false},
	{"p:latency=30-40", {.has = DA_HAS_LATENCY, .latency = 41}, false},
	{"p:latency=0", {.has = ALL}, false},
	{"p:data_src=l1", {.has = DA_HAS_DATA_SRC, .data_src = L1_HIT}, true},
	{"p:data_src=l1", {.has = DA_HAS_DATA_SRC, .data_src = L2_HIT}, false},
	{"p:data_src=l1,data_src=l2", {.has = DA_HAS_DATA_SRC, .data_src = L2_HIT}, true},
	{"p:data_src=ram", {.has = DA_HAS_DATA_SRC, .data_src = REMOTE_RAM}, true},
	{"p:data_src=remote", {.has = DA_HAS_DATA_SRC, .data_src = REMOTE_RAM}, true},
	{"p:data_src=remote", {.has = DA_HAS_DATA_SRC, .data_src = L1_HIT}, false},
	{"p:data_src=cxl", {.has = DA_HAS_DATA_SRC, .data_src = 9ull << 33}, true},
	{"p:data_src=hitm", {.has = DA_HAS_DATA_SRC, .data_src = 0x10ull << 19}, true},
	{"p:data_src=l1", {.has = ALL, .data_src = L1_HIT}, false},
	/* a page fault has no hit count: only without weights does it pass */
	{"p:write", {.has = ALL, .event = 1, .op = 2}, false},
	{"p:write,weight=0", {.has = ALL, .event = 1, .op = 2}, true},
	{"p:producer=fault,weight=1", {.has = ALL, .event = 1}, false},
};

START_TEST(passing)
{
	const char *texts[] = {cases[_i].text, NULL};
	struct da_probes *p = probes_of(texts);

	ck_assert_msg(da_probes_pass(p, NULL, &cases[_i].r) == cases[_i].pass, "case %d: '%s'", _i,
		      cases[_i].text);
	da_probes_free(p);
}
END_TEST

START_TEST(by_comm)
{
	const char *texts[] = {"a:comm=gcc,comm=cc1", "b:comm=ld", NULL};
	struct da_probes *p = probes_of(texts);
	struct da_tasks *tasks = da_tasks_new();
	struct da_report r = {.has = ALL | DA_HAS_TIME, .pid = 9, .tid = 9, .time_ns = 150};

	struct da_rec_comm first = {.pid = 9, .tid = 9, .comm = "cc1"}, second = first;

	second.comm = "ld";
	ck_assert(!da_tasks_comm(tasks, &first, 100));
	ck_assert(!da_tasks_comm(tasks, &second, 200));
	ck_assert_uint_eq(da_probes_pass(p, tasks, &r), 1);
	r.time_ns = 250; /* the name at the report's time */
	ck_assert_uint_eq(da_probes_pass(p, tasks, &r), 2);
	r.has &= ~(uint32_t)DA_HAS_TASK;
	ck_assert_uint_eq(da_probes_pass(p, tasks, &r), 0);
	da_tasks_free(tasks);
	da_probes_free(p);
}
END_TEST

/* ---- in the match layer ---- */

#define MS 1000000ull

struct rig {
	struct da_probes *p;
	struct da_tasks *tasks;
	struct da_match *m;
};

static struct rig rig_of(const char *const *texts)
{
	struct rig g = {.p = probes_of(texts), .tasks = da_tasks_new()};
	struct da_match_opts o = {.regions = DA_REGIONS_FIXED,
				  .fixed_bytes = 4096,
				  .virt = true,
				  .phys = true,
				  .nr_events = 3,
				  .accumulate = true,
				  .probes = g.p};

	g.m = da_match_new(&o, g.tasks);
	return g;
}

static void give(struct rig *g, uint32_t event, uint32_t cpu, uint8_t op, uint64_t addr,
		 uint64_t ms)
{
	struct da_report r = {.has = ALL | DA_HAS_TIME | DA_HAS_PADDR,
			      .event = event,
			      .pid = 7,
			      .tid = 7,
			      .cpu = cpu,
			      .op = op,
			      .vaddr = addr,
			      .paddr = addr + 0x100000,
			      .time_ns = ms * MS};

	da_match_report(g->m, &r);
}

static void expect(const struct da_region *g, uint32_t probe, uint64_t hits, uint64_t reports)
{
	for (uint32_t i = 0; i < g->nr_by_probe; i++) {
		if (g->by_probe[i].event != 3 + probe)
			continue;
		ck_assert_uint_eq(g->by_probe[i].hits, hits);
		ck_assert_uint_eq(g->by_probe[i].samples, reports);
		return;
	}
	ck_assert_uint_eq(hits + reports, 0);
}

static void release(struct rig *g)
{
	da_match_free(g->m);
	da_tasks_free(g->tasks);
	da_probes_free(g->p);
}

/* A hit is an interval of 5 ms in which a passing report exists. Virtual and physical regions side by side. */
START_TEST(hits_and_reports)
{
	const char *texts[] = {"a:write,cpus=0,weight=3", "b:write,cpus=1,weight=1", NULL};
	struct rig g = rig_of(texts);
	const struct da_ledger *l;
	enum da_stage bad_stage;

	for (uint64_t ms = 0; ms < 20; ms++) {
		give(&g, 0, 0, DA_OP_WRITE, 0x1000, ms);
		if (ms % 5 == 0)
			give(&g, 0, 1, DA_OP_WRITE, 0x2000, ms);
		give(&g, 0, 0, DA_OP_READ, 0x3000, ms);  /* passes none */
		give(&g, 1, 0, DA_OP_WRITE, 0x1000, ms); /* a page fault */
	}
	ck_assert(!da_match_finish(g.m));
	ck_assert_uint_eq(da_match_nr_spaces(g.m), 2);
	for (size_t i = 0; i < 2; i++) {
		const struct da_space *s = da_match_space(g.m, i);

		ck_assert_int_eq(s->kind, i ? DA_SPACE_PHYSICAL : DA_SPACE_VIRTUAL);
		ck_assert_uint_eq(s->nr_regions, 2);
		expect(&s->regions[0], 0, 4, 20);
		expect(&s->regions[0], 1, 0, 0);
		expect(&s->regions[1], 0, 0, 0);
		expect(&s->regions[1], 1, 4, 4);
		ck_assert_uint_eq(s->regions[0].nr_by_event, 1); /* no probe among the events */
		ck_assert_uint_eq(s->regions[0].by_event[0].samples, 20);
	}
	l = da_match_ledger(g.m, 0, 0);
	ck_assert_uint_eq(l->drop[DA_DROP_MISS_PROBE], 20);
	ck_assert(da_ledger_conserves(l, &bad_stage));
	l = da_match_ledger(g.m, 1, 0);
	ck_assert_uint_eq(l->drop[DA_DROP_MISS_PROBE], 20); /* replaced, not blended */
	release(&g);
}
END_TEST

/* Without weights everything feeds the access rate; the probes only count. */
START_TEST(no_weights)
{
	const char *texts[] = {"a:write,weight=0", NULL};
	struct rig g = rig_of(texts);
	const struct da_space *s;

	ck_assert(!da_probes_weighted(g.p));
	give(&g, 0, 0, DA_OP_READ, 0x1000, 0);
	give(&g, 0, 0, DA_OP_WRITE, 0x1000, 1);
	give(&g, 1, 0, DA_OP_WRITE, 0x1000, 2);
	ck_assert(!da_match_finish(g.m));
	s = da_match_space(g.m, 0);
	ck_assert_uint_eq(s->ledger.out[DA_STAGE_MATCH], 3);
	expect(&s->regions[0], 0, 1, 2);
	ck_assert_uint_eq(s->regions[0].nr_by_event, 2);
	release(&g);
}
END_TEST

/* Where a mapping is cut in the end, each piece has the hits of its own reports. */
START_TEST(cut_by_density)
{
	const char *texts[] = {"a:cpus=0", "b:cpus=1,weight=2", NULL};
	struct rig g = {.p = probes_of(texts), .tasks = da_tasks_new()};
	struct da_match_opts o = {.regions = DA_REGIONS_DENSITY,
				  .virt = true,
				  .nr_events = 3,
				  .accumulate = true,
				  .probes = g.p};
	struct da_rec_mmap map = {.pid = 7,
				  .tid = 7,
				  .addr = 0x10000000,
				  .len = 0x1000000,
				  .prot = 3,
				  .has_prot = true,
				  .filename = "//anon"};
	uint64_t sum[2] = {0}, hits[2] = {0}, half = map.addr + map.len / 2;
	const struct da_space *s;
	size_t pieces = 0;

	ck_assert(!da_tasks_mmap(g.tasks, &map, 0));
	g.m = da_match_new(&o, g.tasks);
	/* CPU 0 in the first half at all times, CPU 1 in the last eighth in every second interval */
	for (uint64_t ms = 0; ms < 4000; ms++) {
		give(&g, 0, 0, DA_OP_READ, map.addr + ms * 0x9e3779b9u % (map.len / 2), ms);
		if (ms / 5 % 2)
			give(&g, 0, 1, DA_OP_READ,
			     half + map.len / 8 * 3 + ms * 0x85ebca6bu % (map.len / 8), ms);
	}
	ck_assert(!da_match_finish(g.m));
	s = da_match_space(g.m, 0);
	for (size_t i = 0; i < s->nr_regions; i++) {
		const struct da_region *r = &s->regions[i];
		uint64_t samples = 0;

		for (uint32_t k = 0; k < r->nr_by_event; k++)
			samples += r->by_event[k].samples;
		pieces += samples > 0;
		for (uint32_t k = 0; k < r->nr_by_probe; k++) {
			unsigned probe = r->by_probe[k].event - 3;

			ck_assert_uint_le(r->by_probe[k].hits, r->by_probe[k].samples);
			ck_assert_uint_le(r->by_probe[k].hits, 800);
			sum[probe] += r->by_probe[k].samples;
			hits[probe] += r->by_probe[k].hits;
			samples -= r->by_probe[k].samples;
			if (r->start >= half)
				ck_assert_uint_eq(probe, 1);
			else
				ck_assert_uint_eq(probe, 0);
		}
		ck_assert_uint_eq(samples, 0); /* each report passed one of the two */
	}
	ck_assert_uint_ge(pieces, 2);
	ck_assert_uint_eq(sum[0], 4000);
	ck_assert_uint_eq(sum[1], 2000);
	ck_assert_uint_ge(hits[0], 800); /* in one piece: all 800 intervals */
	ck_assert_uint_ge(hits[1], 400);
	release(&g);
}
END_TEST

/* However few records there may be, no hit and no report is lost, only its place gets coarse. */
START_TEST(bounded_log)
{
	struct hits *h = hits_new(64, 1);
	const struct hits_record *r;
	uint64_t reports = 0, bits[2] = {0};
	size_t nr;

	for (uint64_t i = 0; i < 100000; i++)
		ck_assert(!hits_add(h, (uint32_t)(i % 2), 0, i * 4096, i / 1000));
	r = hits_records(h, &nr);
	ck_assert_uint_le(nr, 64);
	for (size_t i = 0; i < nr; i++) {
		reports += r[i].reports;
		ck_assert_uint_eq(r[i].chunk, 0);
		for (size_t k = 0; k < HITS_INTERVALS / 64; k++)
			bits[r[i].entry] |= k < 2 && r[i].bits[k] ? 1ull << k : 0;
	}
	ck_assert_uint_eq(reports, 100000);
	ck_assert_uint_eq(bits[0], 3); /* intervals 0 to 99 */
	ck_assert_uint_eq(bits[1], 3);
	hits_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("probe");
	TCase *t = tcase_create("probe");
	SRunner *r;
	int failed;

	tcase_add_loop_test(t, refused, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(t, names);
	tcase_add_loop_test(t, passing, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(t, by_comm);
	tcase_add_test(t, hits_and_reports);
	tcase_add_test(t, no_weights);
	tcase_add_test(t, cut_by_density);
	tcase_add_test(t, bounded_log);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
