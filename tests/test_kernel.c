/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own pipeline: records of its three tracepoints with layouts made here (fields in other orders, of
 * other sizes and names, in both byte orders, unknown ones between them), and the judge on crafted sums: each
 * cause from its own evidence, and none that is not there.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_kernel.h"
#include "da_verdict.h"
#include "perfgen.h"
#include "verdict_facts.h"

#define LOCAL_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* ---- formats and records ---- */

struct field {
	const char *decl;
	unsigned size, is_signed;
};

/* Fields lie one behind the other; nothing says that they must be aligned. */
static char *text_of(const char *name, unsigned id, const struct field *f)
{
	static const struct field common[] = {{"unsigned short common_type", 2, 0},
					      {"unsigned char common_flags", 1, 0},
					      {"unsigned char common_preempt_count", 1, 0},
					      {"int common_pid", 4, 1},
					      {NULL, 0, 0}};
	char *text = NULL;
	size_t len;
	unsigned at = 0;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	fprintf(out, "name: %s\nID: %u\nformat:\n", name, id);
	for (const struct field *c = common; c->decl; at += c->size, c++)
		fprintf(out, "\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%u;\n", c->decl, at,
			c->size, c->is_signed);
	fputc('\n', out);
	for (; f->decl; at += f->size, f++)
		fprintf(out, "\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%u;\n", f->decl, at,
			f->size, f->is_signed);
	fputs("\nprint fmt: \"\"\n", out);
	ck_assert(!fclose(out));
	return text;
}

struct set {
	struct gen data;
	struct da_tracepoints *t;
	const struct da_tracepoint *tp[DA_KTP_NR];
};

static void put_text(struct gen *g, const char *text)
{
	gen_u64(g, strlen(text));
	gen_bytes(g, text, strlen(text));
}

static struct set set_of(bool swap, const struct field *const layout[DA_KTP_NR])
{
	struct set s = {.data = {.swap = swap}};
	uint8_t order = swap != LOCAL_BIG, size = 8;

	gen_bytes(&s.data, "\x17\x08\x44tracing0.5", 14);
	gen_bytes(&s.data, &order, 1);
	gen_bytes(&s.data, &size, 1);
	gen_u32(&s.data, 4096);
	gen_bytes(&s.data, "header_page", 12);
	put_text(&s.data, "");
	gen_bytes(&s.data, "header_event", 13);
	put_text(&s.data, "");
	gen_u32(&s.data, 0);
	gen_u32(&s.data, 1);
	gen_bytes(&s.data, "damon", 6);
	gen_u32(&s.data, DA_KTP_NR);
	for (unsigned i = 0; i < DA_KTP_NR; i++) {
		char *text = text_of(da_ktp_names[i], 900 + i, layout[i]);

		put_text(&s.data, text);
		free(text);
	}
	gen_u32(&s.data, 0);
	gen_u32(&s.data, 0);
	s.t = da_tracepoints_new();
	ck_assert_int_eq(da_tracepoints_data(s.t, s.data.p, s.data.len, NULL), 0);
	for (unsigned i = 0; i < DA_KTP_NR; i++) {
		s.tp[i] = da_tracepoint_find(s.t, "damon", da_ktp_names[i]);
		ck_assert_ptr_nonnull(s.tp[i]);
	}
	return s;
}

static void set_free(struct set *s)
{
	da_tracepoints_free(s->t);
	gen_free(&s->data);
}

/* One value for each field; of a field that is no number, its bytes are this character. */
static int add(struct da_kernel *k, const struct set *s, enum da_ktp which, const struct field *f,
	       const uint64_t *v, uint32_t cpu, uint64_t time_ns, size_t cut)
{
	struct gen raw = {.swap = s->data.swap};
	uint8_t *exact;
	size_t len;
	int rc;

	gen_fill(&raw, 0, 8);
	for (; f->decl; f++, v++) {
		if (f->size == 8)
			gen_u64(&raw, *v);
		else if (f->size == 4)
			gen_u32(&raw, (uint32_t)*v);
		else if (f->size == 2)
			gen_u16(&raw, (uint16_t)*v);
		else
			gen_fill(&raw, (uint8_t)*v, f->size);
	}
	len = cut ? cut : raw.len;
	exact = malloc(len); /* so that a byte too far is seen */
	ck_assert_ptr_nonnull(exact);
	memcpy(exact, raw.p, len);
	rc = da_kernel_add(k, s->tp[which], exact, len, cpu, time_ns);
	free(exact);
	gen_free(&raw);
	return rc;
}

/* As the series may have them, in its own words. */
static const struct field sample_a[] = {{"u64 addr", 8, 0},
					{"u64 ip", 8, 0},
					{"u32 cpu", 4, 0},
					{"u32 sample_flags", 4, 0},
					{"u64 sample_type", 8, 0},
					{"int context", 4, 1},
					{NULL, 0, 0}};
static const struct field missed_a[] = {{"unsigned long count", 8, 0}, {NULL, 0, 0}};
static const struct field drain_a[] = {
	{"u32 drained", 4, 0}, {"u32 matched", 4, 0}, {"u32 updated", 4, 0}, {NULL, 0, 0}};
/* Other orders, sizes and names, and fields that nobody knows. */
static const struct field sample_b[] = {{"u8 is_write", 1, 0},
					{"unsigned short cpu_id", 2, 0},
					{"struct blob x", 5, 0},
					{"bool valid", 1, 0},
					{"u64 vaddr", 8, 0},
					{"u32 sample_period", 4, 0},
					{"char pmu[3]", 3, 0},
					{"u64 config", 8, 0},
					{"u8 wakeup_events", 1, 0},
					{"u8 precise_ip", 1, 0},
					{NULL, 0, 0}};
static const struct field missed_b[] = {
	{"u64 other", 8, 0}, {"short nr_missed", 2, 1}, {"int cpu", 4, 1}, {NULL, 0, 0}};
static const struct field drain_b[] = {{"s64 nr_updated", 8, 1}, {"u16 nr_matched", 2, 0},
				       {"u8 unknown[3]", 3, 0},  {"u64 nr_drained", 8, 0},
				       {"u16 cpu", 2, 0},        {NULL, 0, 0}};
/* Hardly anything. */
static const struct field nothing[] = {{"u64 what", 8, 0}, {NULL, 0, 0}};

static const struct field *const layout_a[] = {sample_a, missed_a, drain_a};
static const struct field *const layout_b[] = {sample_b, missed_b, drain_b};
static const struct field *const layout_0[] = {nothing, nothing, nothing};

#define SEC 1000000000ull

START_TEST(plain_layout)
{
	struct set s = set_of(_i, layout_a);
	struct da_kernel *k = da_kernel_new();
	struct da_kernel_ledger l;

	for (uint64_t i = 0; i < 10; i++)
		ck_assert(!add(k, &s, DA_KTP_SAMPLE, sample_a,
			       (uint64_t[]){i == 3 ? 0 : 0x7f0000001000 + i, 1, i % 2, 0, 0, 0}, 5,
			       SEC + i, 0));
	ck_assert(!add(k, &s, DA_KTP_MISSED, missed_a, (uint64_t[]){2}, 0, SEC + 20, 0));
	ck_assert(!add(k, &s, DA_KTP_DRAIN, drain_a, (uint64_t[]){4, 3, 2}, 0, SEC + 30, 0));
	ck_assert(!add(k, &s, DA_KTP_DRAIN, drain_a, (uint64_t[]){3, 1, 1}, 0, SEC + 45, 0));
	da_kernel_ledger(k, &l);
	ck_assert_uint_eq(l.layer[DA_STAGE_SAMPLE].in, 10);
	ck_assert_uint_eq(l.layer[DA_STAGE_SAMPLE].out, 9);
	ck_assert_uint_eq(l.layer[DA_STAGE_RING].in, 9);
	ck_assert_uint_eq(l.layer[DA_STAGE_RING].out, 7);
	ck_assert_uint_eq(l.layer[DA_STAGE_MATCH].out, 4);
	ck_assert_uint_eq(l.layer[DA_STAGE_UPDATE].in, 4);
	ck_assert_uint_eq(l.layer[DA_STAGE_UPDATE].out, 3);
	ck_assert(l.layer[DA_STAGE_UPDATE].out_known && !l.layer[DA_STAGE_CREATE].in_known &&
		  !l.layer[DA_STAGE_ENABLE].out_known);
	ck_assert(l.missed_at == DA_KERNEL_MISSED_RING && l.overflow == 2 && !l.miss);
	ck_assert(!l.resident && !l.earlier);
	ck_assert_uint_eq(k->gap_ns, 15);
	ck_assert(k->has_cpu && !k->has_ring);
	ck_assert_uint_eq(k->nr_cpus, 3); /* 0 and 1 are named, 5 wrote */
	ck_assert(k->cpus[0].samples == 5 && k->cpus[1].valid == 4 && k->cpus[2].fired == 10);
	ck_assert(k->cpus[0].missed == 2); /* no field names a CPU: who wrote it */
	da_kernel_free(k);
	set_free(&s);
}
END_TEST

START_TEST(other_layout)
{
	struct set s = set_of(_i, layout_b);
	struct da_kernel *k = da_kernel_new(), *copy;
	struct da_kernel_ledger l;
	char event[64];

	for (uint64_t i = 0; i < 4; i++)
		ck_assert(!add(k, &s, DA_KTP_SAMPLE, sample_b,
			       (uint64_t[]){1, 300 + i, 7, i != 2, 0, 4096, 'x', 3, 0, 2}, 0, SEC,
			       0));
	ck_assert(!add(k, &s, DA_KTP_MISSED, missed_b, (uint64_t[]){99, 2, 301}, 0, SEC, 0));
	ck_assert(!add(k, &s, DA_KTP_DRAIN, drain_b, (uint64_t[]){1, 1, 0, 3, 302}, 0, SEC, 0));
	da_kernel_ledger(k, &l);
	/* the flag decides, whatever the address is */
	ck_assert(k->samples == 4 && k->valid == 3 && k->drained == 3 && k->matched == 1);
	ck_assert(k->missed == 2 && k->updated == 1 && k->has_ring);
	/* what was drained and did not match is as many as were missed */
	ck_assert(l.missed_at == DA_KERNEL_MISSED_MATCH && l.miss == 2 && !l.overflow);
	ck_assert(k->cpus[3].cpu == 302 && k->cpus[3].drained == 3 && k->cpus[2].missed == 2);
	ck_assert(!k->wakeup && k->precise && k->period == 4096);
	ck_assert(da_kernel_event(k, event, sizeof(event)));
	ck_assert_str_eq(event, "xxx/config=3,period=4096/");
	ck_assert(!da_kernel_event(k, event, 10)); /* no room */
	strcpy(k->pmu, "a/b");
	ck_assert(!da_kernel_event(k, event, sizeof(event)));
	strcpy(k->pmu, "software");
	k->config = 2;
	ck_assert(da_kernel_event(k, event, sizeof(event)));
	ck_assert_str_eq(event, "page-faults/period=4096/");
	k->config = 9;
	ck_assert(!da_kernel_event(k, event, sizeof(event)));
	copy = da_kernel_copy(k);
	ck_assert(copy->nr_cpus == k->nr_cpus && copy->cpus != k->cpus &&
		  copy->cpus[3].drained == 3);
	da_kernel_free(copy);
	da_kernel_free(k);
	set_free(&s);
}
END_TEST

/* What no field names is not 0. */
START_TEST(unnamed_layout)
{
	struct set s = set_of(_i, layout_0);
	struct da_kernel *k = da_kernel_new();
	struct da_kernel_ledger l;
	char event[64];

	for (int i = 0; i < DA_KTP_NR; i++)
		for (int n = 0; n < 3; n++)
			ck_assert(!add(k, &s, (enum da_ktp)i, nothing, (uint64_t[]){7}, 2, 0, 0));
	da_kernel_ledger(k, &l);
	ck_assert(k->samples == 3 && k->missed == 3 && k->records[DA_KTP_DRAIN] == 3);
	ck_assert(l.layer[DA_STAGE_SAMPLE].in_known && !l.layer[DA_STAGE_SAMPLE].out_known);
	ck_assert(!l.layer[DA_STAGE_RING].out_known && !l.layer[DA_STAGE_MATCH].out_known);
	ck_assert(!l.resident && !l.earlier && l.overflow == 3);
	ck_assert(k->wakeup == -1 && !da_kernel_event(k, event, sizeof(event)));
	da_kernel_free(k);
	set_free(&s);
}
END_TEST

START_TEST(hostile)
{
	struct set s = set_of(_i, layout_b);
	struct da_kernel *k = da_kernel_new();
	uint64_t v[] = {0, 0, 0, UINT64_MAX, 0};

	/* cut anywhere: refused and counted, nothing else changes */
	for (size_t cut = 1; cut < 8 + 8 + 2 + 4; cut++)
		if (cut < 18)
			ck_assert_int_eq(add(k, &s, DA_KTP_MISSED, missed_b, (uint64_t[]){1, 1, 1},
					     0, 0, cut),
					 -DA_EDAMAGED);
	ck_assert(k->bad == 17 && !k->missed && !k->records[DA_KTP_MISSED]);
	/* a count below 0 */
	ck_assert_int_eq(add(k, &s, DA_KTP_MISSED, missed_b, (uint64_t[]){1, 0xffff, 1}, 0, 0, 0),
			 -DA_EDAMAGED);
	ck_assert_int_eq(
		add(k, &s, DA_KTP_DRAIN, drain_b, (uint64_t[]){UINT64_MAX, 1, 1, 1, 1}, 0, 0, 0),
		-DA_EDAMAGED);
	ck_assert(!k->has_drained && k->bad == 19);
	/* sums that would wrap */
	for (int n = 0; n < 3; n++)
		ck_assert(!add(k, &s, DA_KTP_DRAIN, drain_b, v, 0, n == 1 ? 5 : 10, 0));
	ck_assert(k->drained == UINT64_MAX && k->cpus[0].drained == UINT64_MAX);
	ck_assert(!k->gap_ns); /* time that runs backwards is no gap */
	/* more CPUs than there can be */
	for (uint64_t c = 0; c < DA_KERNEL_MAX_CPUS + 10; c++)
		ck_assert(!add(k, &s, DA_KTP_MISSED, missed_b, (uint64_t[]){0, 1, c * 7}, 0, 0, 0));
	ck_assert(k->nr_cpus == DA_KERNEL_MAX_CPUS && k->cpus_left_out == 10);
	ck_assert(k->missed == DA_KERNEL_MAX_CPUS + 10);
	for (size_t i = 1; i < k->nr_cpus; i++)
		ck_assert(k->cpus[i - 1].cpu < k->cpus[i].cpu);
	da_kernel_free(k);
	set_free(&s);
}
END_TEST

START_TEST(names)
{
	ck_assert(da_ktp_of("damon", "damon_perf_drain") == DA_KTP_DRAIN);
	ck_assert(da_ktp_of("damon", "damon_perf_drains") == DA_KTP_NR);
	ck_assert(da_ktp_of("sched", "damon_perf_drain") == DA_KTP_NR);
}
END_TEST

/* ---- the judge ---- */

static struct da_kernel_cpu cpus[4];

/* 4000 samples of 4 CPUs in 2 s, a drain every 10 ms; all that the fields may name is named. */
static struct da_kernel healthy_kernel(void)
{
	struct da_kernel k = {
		.recorded = {true, true, true},
		.records = {4000, 0, 200},
		.has_valid = true,
		.has_cpu = true,
		.has_drained = true,
		.has_matched = true,
		.has_updated = true,
		.has_ring = true,
		.samples = 4000,
		.valid = 4000,
		.drained = 4000,
		.matched = 3000,
		.updated = 800,
		.first_ns = 10 * SEC,
		.last_ns = 12 * SEC,
		.drain_ns = 12 * SEC,
		.gap_ns = SEC / 100,
		.wakeup = -1,
		.cpus = cpus,
		.nr_cpus = 4,
	};

	for (uint32_t i = 0; i < 4; i++)
		cpus[i] = (struct da_kernel_cpu){
			.cpu = i, .samples = 1000, .valid = 1000, .fired = 1000, .drained = 1000};
	return k;
}

static void overflow(struct da_kernel *k)
{
	k->records[DA_KTP_MISSED] = 100;
	k->missed = 2000;
	k->drained = 2000;
	k->matched = 1500;
}

static void fan_in(struct da_kernel *k)
{
	overflow(k);
	for (int i = 1; i < 4; i++)
		k->cpus[i].fired = k->cpus[i].drained = 0;
}

static void fan_in_unnamed_ring(struct da_kernel *k)
{
	fan_in(k);
	k->has_ring = false;
}

/* One ring, but of the CPU that all samples are of. */
static void one_cpu(struct da_kernel *k)
{
	fan_in(k);
	for (int i = 1; i < 4; i++)
		k->cpus[i].samples = k->cpus[i].valid = 0;
}

static void stalled(struct da_kernel *k)
{
	overflow(k);
	k->drain_ns = 10 * SEC + SEC / 2;
	k->after_drain = 3000;
}

static void stalled_without_loss(struct da_kernel *k)
{
	k->gap_ns = SEC + SEC / 2;
}

static void never_drained(struct da_kernel *k)
{
	k->records[DA_KTP_DRAIN] = 0;
	k->has_drained = k->has_matched = k->has_updated = false;
	k->drained = k->matched = k->updated = k->drain_ns = k->gap_ns = 0;
	k->after_drain = 4000;
}

static void too_short(struct da_kernel *k)
{
	never_drained(k);
	k->last_ns = k->first_ns + SEC / 100;
}

static void drained_nothing(struct da_kernel *k)
{
	overflow(k);
	k->drained = k->matched = k->updated = 0;
	k->missed = 4000;
}

static void no_drain_recorded(struct da_kernel *k)
{
	never_drained(k);
	k->recorded[DA_KTP_DRAIN] = false;
}

static void no_samples(struct da_kernel *k)
{
	k->records[DA_KTP_SAMPLE] = k->samples = k->valid = k->drained = k->matched = k->updated =
		0;
	k->has_valid = k->has_cpu = false;
	k->first_ns = k->last_ns = 0;
	k->nr_cpus = 0;
}

static void idle(struct da_kernel *k)
{
	no_samples(k);
	k->records[DA_KTP_DRAIN] = 0;
	k->has_drained = k->has_matched = k->has_updated = false;
}

static void no_address(struct da_kernel *k)
{
	k->valid = k->drained = k->matched = k->updated = 0;
}

static void outside(struct da_kernel *k)
{
	k->matched = k->updated = 0;
}

static void misses(struct da_kernel *k)
{
	k->missed = 1000; /* those that did not match */
}

static void uncredited(struct da_kernel *k)
{
	k->updated = 0;
}

static void unnamed(struct da_kernel *k)
{
	k->has_drained = k->has_matched = k->has_updated = k->has_valid = false;
	k->drained = k->matched = k->updated = k->valid = 0;
}

static void pebs(struct da_kernel *k)
{
	k->precise = true;
	k->wakeup = 0;
}

static void pebs_with_wakeups(struct da_kernel *k)
{
	pebs(k);
	k->wakeup = 1;
}

static void batches(struct da_kernel *k)
{
	k->user.ran = k->user.precise = true;
	k->user.samples = 8 * 4000;
}

static void nearly_batches(struct da_kernel *k)
{
	batches(k);
	k->user.samples--;
}

static void beside(struct da_kernel *k)
{
	k->user.ran = true;
	k->user.samples = 8 * 4000; /* no PMU that writes by itself: another load */
}

static void user_only(struct da_kernel *k)
{
	no_samples(k);
	beside(k);
}

static void user_only_no_kdamond(struct da_kernel *k)
{
	idle(k);
	beside(k);
}

static void neither(struct da_kernel *k)
{
	idle(k);
	k->user.ran = true;
}

static void neither_was_due(struct da_kernel *k)
{
	neither(k);
	k->user.idle = true;
}

static void kernel_only(struct da_kernel *k)
{
	k->user.ran = true;
}

static void incomplete(struct da_kernel *k)
{
	k->lost = 10;
}

static const struct row {
	const char *name;
	void (*spoil)(struct da_kernel *k);
	enum da_level level;
	int broken_at;
	unsigned passed, failed, skipped, unknown;
	const char *causes; /* exactly these */
} rows[] = {
	{"healthy", NULL, DA_LEVEL_FULL, -1, 7, 0, 0, 0, ""},
	{"overflow", overflow, DA_LEVEL_FULL, -1, 7, 0, 0, 0, "kernel_buffer_overflow"},
	{"fan-in", fan_in, DA_LEVEL_FULL, -1, 7, 0, 0, 0, "kernel_fan_in"},
	{"fan-in, ring not named", fan_in_unnamed_ring, DA_LEVEL_FULL, -1, 7, 0, 0, 0,
	 "kernel_fan_in"},
	{"overflow of the one CPU", one_cpu, DA_LEVEL_FULL, -1, 7, 0, 0, 0,
	 "kernel_buffer_overflow"},
	{"drain stalled", stalled, DA_LEVEL_FULL, -1, 7, 0, 0, 0, "kernel_drain_stalled"},
	{"drain stalled, nothing lost", stalled_without_loss, DA_LEVEL_FULL, -1, 7, 0, 0, 0,
	 "kernel_drain_stalled"},
	{"never drained", never_drained, DA_LEVEL_BROKEN, DA_STAGE_RING, 4, 1, 0, 2,
	 "kernel_drain_stalled"},
	{"too short to tell", too_short, DA_LEVEL_UNKNOWN, -1, 4, 0, 0, 3, ""},
	{"drains take nothing", drained_nothing, DA_LEVEL_BROKEN, DA_STAGE_RING, 4, 1, 2, 0,
	 "kernel_buffer_overflow"},
	{"drain not recorded", no_drain_recorded, DA_LEVEL_UNKNOWN, -1, 4, 0, 0, 3, ""},
	{"no samples", no_samples, DA_LEVEL_UNUSABLE, -1, 0, 1, 3, 3, "kernel_no_samples"},
	{"nothing at all", idle, DA_LEVEL_UNKNOWN, -1, 0, 0, 1, 6, ""},
	{"no address", no_address, DA_LEVEL_PLUMBING, -1, 4, 0, 3, 0, ""},
	{"outside", outside, DA_LEVEL_BROKEN, DA_STAGE_MATCH, 5, 1, 1, 0, "kernel_outside_regions"},
	{"missed are misses", misses, DA_LEVEL_FULL, -1, 7, 0, 0, 0, ""},
	{"not credited", uncredited, DA_LEVEL_BROKEN, DA_STAGE_UPDATE, 6, 1, 0, 0,
	 "kernel_not_credited"},
	{"fields not named", unnamed, DA_LEVEL_UNKNOWN, -1, 4, 0, 0, 3, ""},
	{"PEBS without wakeups", pebs, DA_LEVEL_FULL, -1, 7, 0, 0, 0, "kernel_no_wakeups"},
	{"PEBS with wakeups", pebs_with_wakeups, DA_LEVEL_FULL, -1, 7, 0, 0, 0, ""},
	{"a sample a batch", batches, DA_LEVEL_FULL, -1, 8, 0, 0, 0, "kernel_no_wakeups"},
	{"not far enough apart", nearly_batches, DA_LEVEL_FULL, -1, 8, 0, 0, 0, ""},
	{"both", beside, DA_LEVEL_FULL, -1, 8, 0, 0, 0, ""},
	{"user space only", user_only, DA_LEVEL_BROKEN, DA_STAGE_SAMPLE, 0, 2, 3, 3,
	 "kernel_no_samples kernel_path"},
	{"user space only, no drain", user_only_no_kdamond, DA_LEVEL_BROKEN, DA_STAGE_SAMPLE, 0, 1,
	 1, 6, "kernel_path"},
	{"neither", neither, DA_LEVEL_UNUSABLE, -1, 0, 1, 1, 6, "kernel_pmu"},
	{"neither was due", neither_was_due, DA_LEVEL_UNKNOWN, -1, 0, 0, 1, 7, ""},
	{"kernel only", kernel_only, DA_LEVEL_FULL, -1, 7, 1, 0, 0, "user_path"},
	{"incomplete", incomplete, DA_LEVEL_FULL, -1, 7, 0, 0, 0, ""},
};

static bool listed(const char *list, const char *id)
{
	size_t n = strlen(id);

	for (const char *p = list; (p = strstr(p, id)); p += n)
		if ((p == list || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return true;
	return false;
}

static void check_causes(const struct da_event_verdict *e, const char *name, const char *causes)
{
	size_t nr = 0, wanted = *causes != '\0';

	for (const char *p = causes; *p; p++)
		wanted += *p == ' ';
	for (size_t i = 0; i < e->nr_checks; i++) {
		const struct da_check *c = &e->checks[i];

		ck_assert_msg(c->note || c->evidence[0], "%s: %s", name, c->id);
		ck_assert_msg(c->result != DA_FAIL || c->nr_causes, "%s: %s", name, c->id);
		for (size_t j = 0; j < c->nr_causes; j++, nr++) {
			ck_assert_msg(listed(causes, c->causes[j].id), "%s: %s", name,
				      c->causes[j].id);
			ck_assert(c->causes[j].evidence[0] && c->causes[j].fix[0]);
		}
	}
	ck_assert_msg(nr == wanted, "%s: %zu causes", name, nr);
}

static const struct da_verdict_opts opts = {.max_drop_pct = -1, .min_valid_pct = -1};

START_TEST(judged)
{
	const struct row *r = &rows[_i];
	struct da_kernel k = healthy_kernel();
	struct da_facts f;
	struct da_verdict v;
	const struct da_event_verdict *e;

	if (r->spoil)
		r->spoil(&k);
	da_facts_init(&f);
	f.damon = &k; /* and nothing of ours */
	ck_assert_int_eq(da_verdict_judge(&f, &opts, &v), 0);
	ck_assert_uint_eq(v.nr_events, 1);
	e = &v.events[0];
	ck_assert(e->kernel && v.level == e->level);
	ck_assert_msg(e->level == r->level, "%s: %s", r->name, da_level_name(e->level));
	if (r->broken_at >= 0)
		ck_assert_int_eq(e->broken_at, r->broken_at);
	ck_assert_msg(e->passed == r->passed && e->failed == r->failed &&
			      e->skipped == r->skipped && e->unknown == r->unknown,
		      "%s: %u passed, %u failed, %u skipped, %u unknown", r->name, e->passed,
		      e->failed, e->skipped, e->unknown);
	check_causes(e, r->name, r->causes);
	da_verdict_release(&v);
}
END_TEST

/* Beside an event of ours it is shown and does not decide, unless both were compared. */
START_TEST(beside_ours)
{
	struct da_kernel k = healthy_kernel();
	struct da_verdict v;
	struct run r;

	never_drained(&k);
	healthy(&r);
	r.f.damon = &k;
	ck_assert_int_eq(da_verdict_judge(&r.f, &opts, &v), 0);
	ck_assert(v.level == DA_LEVEL_FULL && !v.exit_status && v.passed == 27);
	ck_assert(v.nr_events == 2 && !v.decider && v.events[1].kernel);
	ck_assert_str_eq(v.notes[v.nr_notes - 1], "the kernel's own pipeline: BROKEN AT ring");
	da_verdict_release(&v);

	beside(&k);
	ck_assert_int_eq(da_verdict_judge(&r.f, &opts, &v), 0);
	ck_assert(v.level == DA_LEVEL_BROKEN && v.exit_status == 12 && v.decider == 1);
	da_verdict_release(&v);

	/* the verdicts that the comparison is for */
	k = healthy_kernel();
	user_only(&k);
	ck_assert_int_eq(da_verdict_judge(&r.f, &opts, &v), 0);
	ck_assert(v.exit_status == 12 && v.broken_at == DA_STAGE_SAMPLE);
	da_verdict_release(&v);
	k = healthy_kernel();
	beside(&k);
	ck_assert_int_eq(da_verdict_judge(&r.f, &opts, &v), 0);
	ck_assert(!v.exit_status && v.level == DA_LEVEL_FULL);
	da_verdict_release(&v);
	spoil_fake_silent(&r);
	r.f.damon = &k;
	k.user.samples = 0;
	ck_assert_int_eq(da_verdict_judge(&r.f, &opts, &v), 0);
	ck_assert(v.exit_status == 11 && !v.decider); /* what ails our own event it says itself */
	da_verdict_release(&v);
}
END_TEST

/* Limits, where it decides. */
START_TEST(limits)
{
	struct da_verdict_opts o = {.max_drop_pct = 50, .min_valid_pct = -1};
	struct da_kernel k = healthy_kernel();
	struct da_verdict v;
	struct da_facts f;

	da_facts_init(&f);
	f.damon = &k;
	overflow(&k); /* half of them */
	ck_assert_int_eq(da_verdict_judge(&f, &o, &v), 0);
	ck_assert_int_eq(v.exit_status, 0);
	da_verdict_release(&v);
	o.max_drop_pct = 49;
	ck_assert_int_eq(da_verdict_judge(&f, &o, &v), 0);
	ck_assert_int_eq(v.exit_status, 14);
	ck_assert_str_eq(v.notes[v.nr_notes - 1], "50.0 % missed is more than --max-drop 49 %");
	da_verdict_release(&v);
	o.max_drop_pct = -1;
	o.min_valid_pct = 60;
	k.valid = 2000;
	ck_assert_int_eq(da_verdict_judge(&f, &o, &v), 0);
	ck_assert_int_eq(v.exit_status, 14);
	da_verdict_release(&v);
	k.has_valid = false; /* not known is not too few */
	ck_assert_int_eq(da_verdict_judge(&f, &o, &v), 0);
	ck_assert_int_eq(v.exit_status, 0);
	da_verdict_release(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kernel");
	TCase *t = tcase_create("records");
	SRunner *r;
	int failed;

	tcase_add_loop_test(t, plain_layout, 0, 2);
	tcase_add_loop_test(t, other_layout, 0, 2);
	tcase_add_loop_test(t, unnamed_layout, 0, 2);
	tcase_add_loop_test(t, hostile, 0, 2);
	tcase_add_test(t, names);
	suite_add_tcase(s, t);
	t = tcase_create("judge");
	tcase_add_loop_test(t, judged, 0, (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_test(t, beside_ours);
	tcase_add_test(t, limits);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
