/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report's renderers over results made by hand: the fixed JSON shape with values that must be right,
 * CSV quoting, text that stays in its columns and shows no byte that a terminal would obey, heat maps that
 * tell none from not looked at and from lost, and the arithmetic of shares.
 */
#include <check.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "da_error.h"
#include "da_json.h"
#include "da_render.h"
#include "da_symbol.h"
#include "folder.h"
#include "render_format.h"
#include "render_plan.h"
#include "utf8.h"

#define MS 1000000ull
#define T0 (5000 * MS)

/* A result over a match that the test fills; everything else as an empty foreign file. */
static struct {
	struct da_tasks *tasks;
	struct da_match *match;
	struct da_offline_result r;
	struct da_file_info file;
	struct da_attr attr;
	struct da_offline_event ev[2];
	struct da_offline_cell cell[2];
	struct da_offline_gap gap[2];
	char *out;
	struct da_json json; /* what open_json() opened last */
} t;

static void set_up(void)
{
	static const struct da_match_opts o = {
		.virt = true, .phys = true, .nr_events = 2, .accumulate = true};

	memset(&t, 0, sizeof(t));
	t.tasks = da_tasks_new();
	t.match = da_match_new(&o, t.tasks);
	ck_assert(t.tasks && t.match);
	t.attr.sample_type = DA_SAMPLE_CPU;
	t.file.path = "test.data";
	t.file.bytes = 12345;
	t.ev[0] = (struct da_offline_event){.name = "cpu-clock:u",
					    .wanted = true,
					    .producer = DA_PROD_REGS,
					    .unit = "ns",
					    .period = 250000,
					    .attr = &t.attr,
					    .first_ns = UINT64_MAX};
	t.ev[1] = (struct da_offline_event){.name = "page-faults",
					    .wanted = true,
					    .producer = DA_PROD_FAULT,
					    .unit = "faults",
					    .attr = &t.attr,
					    .first_ns = UINT64_MAX};
	t.r = (struct da_offline_result){.file = &t.file,
					 .events = t.ev,
					 .nr_events = 2,
					 .cells = t.cell,
					 .nr_cells = 2,
					 .first_ns = UINT64_MAX,
					 .gaps = t.gap,
					 .match = t.match};
	t.r.lost = (struct da_offline_lost){-1, 0, 0, -1, 0, 0, -1, 0, -1};
	t.cell[1].event = 1;
}

static void tear_down(void)
{
	da_json_free(&t.json);
	da_match_free(t.match);
	da_tasks_free(t.tasks);
	da_json_free(&t.json);
	free(t.out);
}

static void comm(uint32_t pid, const char *name)
{
	struct da_rec_comm c = {.pid = pid, .tid = pid, .comm = name, .exec = true};

	ck_assert_int_eq(da_tasks_comm(t.tasks, &c, 0), 0);
}

static void map_at(uint32_t pid, uint64_t start, uint64_t end, const char *name, uint64_t time_ns)
{
	struct da_rec_mmap m = {.pid = pid,
				.tid = pid,
				.addr = start,
				.len = end - start,
				.filename = name,
				.prot = PROT_READ | PROT_WRITE,
				.has_prot = true,
				.flags = MAP_PRIVATE};

	ck_assert_int_eq(da_tasks_mmap(t.tasks, &m, time_ns), 0);
}

/* One sample record with one report, in all the books that an offline decode would have. */
static void sample(uint32_t event, uint32_t pid, uint64_t vaddr, uint64_t time_ns, uint8_t op)
{
	struct da_report r = {.has = DA_HAS_TIME | DA_HAS_CPU | DA_HAS_TASK | DA_HAS_VADDR |
				     DA_HAS_PERIOD | DA_HAS_OP,
			      .event = event,
			      .pid = pid,
			      .tid = pid,
			      .vaddr = vaddr,
			      .time_ns = time_ns,
			      .period = 10,
			      .op = op};
	struct da_ledger *l = &t.cell[event].ledger;

	da_match_report(t.match, &r);
	l->in[DA_STAGE_SAMPLE]++;
	l->out[DA_STAGE_SAMPLE]++;
	l->in[DA_STAGE_RING]++;
	l->out[DA_STAGE_RING]++;
	t.ev[event].samples++;
	t.r.samples++;
	t.r.first_ns = time_ns < t.r.first_ns ? time_ns : t.r.first_ns;
	t.r.last_ns = time_ns > t.r.last_ns ? time_ns : t.r.last_ns;
}

static void finish(void)
{
	for (uint32_t e = 0; e < 2; e++) {
		const struct da_ledger *m = da_match_ledger(t.match, e, 0);

		if (m)
			da_ledger_add(&t.cell[e].ledger, m);
		da_ledger_add(&t.r.ledger, &t.cell[e].ledger);
	}
	ck_assert_int_eq(da_match_finish(t.match), 0);
}

static struct da_render_opts plain(void)
{
	return (struct da_render_opts){.width = 80, .heatmap = true, .limit = 20, .max_spaces = 5};
}

enum how { TEXT, JSON, CSV };

static const char *render(enum how how, const struct da_render_opts *o)
{
	size_t len;
	FILE *f;
	int rc;

	free(t.out);
	t.out = NULL;
	f = open_memstream(&t.out, &len);
	rc = how == JSON  ? da_render_report_json(f, &t.r)
	     : how == CSV ? da_render_report_csv(f, &t.r, o)
			  : da_render_report_text(f, &t.r, o);
	ck_assert_int_eq(rc, 0);
	ck_assert_int_eq(fclose(f), 0);
	return t.out;
}

/* Two processes, three regions with reports and one without, two events. */
static void busy(void)
{
	comm(7, "seven");
	comm(8, "eight");
	map_at(7, 0x100000, 0x140000, "[heap]", 0);
	map_at(7, 0x400000, 0x402000, "/usr/lib/lib c.so", 0);
	map_at(7, 0x7ff000000000, 0x7ff000100000, "[stack]", 0);
	map_at(8, 0x100000, 0x140000, "[heap]", 0);
	for (uint64_t i = 0; i < 90; i++)
		sample(0, 7, 0x100000 + i * 0x1000 % 0x40000, T0 + i * MS,
		       i % 3 ? DA_OP_READ : DA_OP_WRITE);
	for (uint64_t i = 0; i < 10; i++)
		sample(0, 7, 0x7ff000000000 + i * 8, T0 + i * MS, DA_OP_READ | DA_OP_WRITE);
	for (uint64_t i = 0; i < 4; i++)
		sample(1, 7, 0x100000 + i * 0x1000, T0 + i * MS, DA_OP_WRITE);
	sample(0, 8, 0x100000, T0 + 3 * MS, DA_OP_READ);
	finish();
}

/* ---- JSON ---- */

static struct da_json open_json(const char *text)
{
	da_json_free(&t.json);
	ck_assert_msg(da_json_open(text, strlen(text), &t.json), "no JSON: %.400s", text);
	for (const char *p = text; *p; p += utf8_length(p))
		ck_assert_msg(utf8_length(p), "not UTF-8 at %.20s", p);
	return t.json;
}

static struct da_json get(const struct da_json *v, const char *key)
{
	struct da_json m;

	ck_assert_msg(da_json_get(v, key, &m), "no '%s'", key);
	return m;
}

static struct da_json at(const struct da_json *v, size_t i)
{
	struct da_json m;
	size_t pos = 0;

	for (;;) {
		ck_assert_msg(da_json_next(v, &pos, &m), "no element %zu", i);
		if (!i--)
			return m;
	}
}

static uint64_t num(const struct da_json *v, const char *key)
{
	uint64_t n;

	ck_assert_msg(da_json_get_u64(v, key, &n), "no number '%s'", key);
	return n;
}

static void check_string(const struct da_json *v, const char *key, const char *want)
{
	char s[256];

	ck_assert(da_json_get_string(v, key, s, sizeof(s)));
	ck_assert_str_eq(s, want);
}

/* A number as it is written; null is 0. */
static double number(const struct da_json *v)
{
	char *text = da_json_text(v);
	double n = strtod(text, NULL);

	free(text);
	return n;
}

static double real(const struct da_json *v, const char *key)
{
	struct da_json m = get(v, key);

	return number(&m);
}

static bool is_null(const struct da_json *v, const char *key)
{
	struct da_json m = get(v, key);

	return da_json_is_null(&m);
}

START_TEST(json_shape_and_values)
{
	struct da_json all, v, s, g, e, h;
	uint64_t sum = 0;

	busy();
	all = open_json(render(JSON, NULL));
	ck_assert_uint_eq(num(&all, "schema_version"), 1);
	check_string(&all, "tool", "damon-attrs");
	v = get(&all, "input");
	check_string(&v, "path", "test.data");
	check_string(&v, "mode", "file");
	ck_assert_uint_eq(num(&v, "bytes"), 12345);
	v = get(&all, "events");
	e = at(&v, 0);
	check_string(&e, "name", "cpu-clock:u");
	check_string(&e, "unit", "ns");
	ck_assert_uint_eq(num(&e, "period"), 250000);
	ck_assert_uint_eq(num(&e, "samples"), 101);
	e = at(&v, 1);
	ck_assert(is_null(&e, "period")); /* frequency mode: nobody knows */
	v = get(&all, "counters");
	ck_assert_uint_eq(num(&v, "callback"), 105);
	ck_assert_uint_eq(num(&v, "match"), 105);
	ck_assert(is_null(&v, "enqueue") && is_null(&v, "peak"));
	v = get(&all, "ledger");
	ck_assert(is_null(&v, "create") && is_null(&v, "ring")); /* foreign */
	e = get(&v, "sample");
	ck_assert_uint_eq(num(&e, "in"), 105);
	ck_assert(is_null(&all, "recorded_ledger"));
	v = get(&all, "lost");
	ck_assert(is_null(&v, "counter"));
	ck_assert_uint_eq(num(&v, "records"), 0);

	v = get(&all, "spaces");
	ck_assert_uint_eq(da_json_count(&v), 2);
	s = at(&v, 0);
	check_string(&s, "kind", "virtual");
	ck_assert_uint_eq(num(&s, "pid"), 7);
	check_string(&s, "comm", "seven");
	g = get(&s, "regions");
	ck_assert_uint_eq(da_json_count(&g), 3); /* the one without reports too: observed, none */
	e = at(&g, 1);
	check_string(&e, "label", "/usr/lib/lib c.so rw-");
	v = get(&e, "by_event");
	ck_assert_uint_eq(da_json_count(&v), 0);
	e = at(&g, 0);
	check_string(&e, "start", "0x100000");
	check_string(&e, "end", "0x140000");
	v = get(&e, "by_event");
	ck_assert_uint_eq(da_json_count(&v), 2);
	e = at(&v, 0);
	ck_assert_uint_eq(num(&e, "event"), 0);
	ck_assert_uint_eq(num(&e, "samples"), 90);
	ck_assert_uint_eq(num(&e, "accesses"), 900);
	ck_assert_uint_eq(num(&e, "reads"), 60);
	ck_assert_uint_eq(num(&e, "writes"), 30);
	ck_assert_double_eq_tol(real(&e, "share"), 0.9, 1e-6);
	ck_assert_double_eq_tol(real(&e, "error"), share_error(0.9, 100), 1e-6);
	e = at(&v, 1);
	ck_assert_uint_eq(num(&e, "event"), 1);
	ck_assert_double_eq_tol(real(&e, "share"), 1.0, 1e-9); /* of its own event, not of both */

	h = get(&s, "heatmap");
	ck_assert_uint_eq(num(&h, "event"), 0);
	check_string(&h, "unit", "samples");
	v = get(&h, "rows");
	g = get(&h, "cells");
	ck_assert_uint_eq(da_json_count(&v), da_json_count(&g));
	for (size_t i = 0; i < da_json_count(&g); i++) {
		struct da_json row = at(&g, i), c;
		size_t pos = 0;

		ck_assert_uint_eq(da_json_count(&row), num(&h, "columns"));
		while (da_json_next(&row, &pos, &c)) {
			char *text = da_json_text(&c);

			sum += strtoull(text, NULL, 10); /* null is 0 */
			free(text);
		}
	}
	ck_assert_uint_eq(sum, 100);
	g = get(&s, "heatmaps"); /* those of the other events */
	ck_assert_uint_eq(da_json_count(&g), 1);
}
END_TEST

START_TEST(json_of_own_recording)
{
	struct da_json all, v, e;

	t.r.own_file = t.r.has_recorded = true;
	t.r.recorded_ledger.in[DA_STAGE_RING] = 40;
	t.r.recorded_ledger.out[DA_STAGE_RING] = 30;
	t.r.recorded_ledger.drop[DA_DROP_OVERFLOW] = 10;
	t.r.recorded_ledger.peak = 17;
	t.cell[0].recorded = true;
	t.cell[0].state = DA_STATE_ENABLED;
	busy();
	all = open_json(render(JSON, NULL));
	v = get(&all, "ledger");
	e = get(&v, "ring");
	ck_assert_uint_eq(num(&e, "in"), 105);
	v = get(&all, "counters");
	ck_assert_uint_eq(num(&v, "enqueue"), 105);
	v = get(&all, "recorded_ledger");
	e = get(&v, "ring");
	ck_assert_uint_eq(num(&e, "in"), 40);
	e = get(&e, "drops");
	ck_assert_uint_eq(num(&e, "overflow"), 10);
	v = get(&all, "ledger_by");
	ck_assert_uint_eq(da_json_count(&v), 2);
	e = at(&v, 0);
	check_string(&e, "state", "ENABLED");
	e = at(&v, 1);
	ck_assert(is_null(&e, "state"));
	ck_assert_uint_eq(num(&e, "cpu"), 0);
	t.attr.sample_type = 0; /* then nobody knows the CPU */
	all = open_json(render(JSON, NULL));
	v = get(&all, "ledger_by");
	e = at(&v, 1);
	ck_assert(is_null(&e, "cpu"));
}
END_TEST

static const char hostile[] = "a\"b\\,\n\033[31m\xff\xc2\x9b\xe2\x82\xac";

START_TEST(hostile_names)
{
	struct da_render_opts o = plain();
	struct da_json all, v, s;
	const char *text;

	comm(7, hostile);
	map_at(7, 0x100000, 0x140000, hostile, 0);
	t.ev[0].name = hostile;
	t.file.path = hostile;
	t.file.hostname = hostile;
	sample(0, 7, 0x100000, T0, DA_OP_READ);
	finish();
	all = open_json(render(JSON, NULL));
	v = get(&all, "spaces");
	s = at(&v, 0);
	ck_assert_uint_eq(num(&s, "pid"), 7);
	for (int i = 0; i < 2; i++) {
		o.utf8 = i;
		text = render(TEXT, &o);
		ck_assert_ptr_nonnull(strstr(text, "\\x1b[31m\\xff\\xc2\\x9b"));
		for (const char *p = text; *p; p++)
			ck_assert(*p == '\n' || (unsigned char)*p >= 0x20);
	}
	text = render(CSV, &o);
	ck_assert_ptr_nonnull(strstr(text, "virtual,7,\"a\"\"b\\,\\x0a\\x1b[31m\\xff\\xc2\\x9b"));
	/* two lines: the head and one row, whatever the names hold */
	ck_assert_ptr_eq(strchr(strchr(text, '\n') + 1, '\n') + 1, text + strlen(text));
}
END_TEST

/* ---- text ---- */

/* Columns of the longest line. */
static size_t widest(const char *text)
{
	size_t best = 0;

	while (*text) {
		size_t n = 0, step;

		for (; *text && *text != '\n'; text += step ? step : 1, n++)
			step = utf8_length(text);
		best = n > best ? n : best;
		text += *text == '\n';
	}
	return best;
}

START_TEST(text_fits_its_columns)
{
	struct da_render_opts o = plain();
	static char *cmdline[] = {(char *)(uintptr_t) "damon-attrs",
				  (char *)(uintptr_t) "record",
				  (char *)(uintptr_t) "-e",
				  (char *)(uintptr_t) "cpu-clock,page-faults:u",
				  (char *)(uintptr_t) "--",
				  (char *)(uintptr_t) "/a/very/long/path/to/some/program"};

	t.file.cmdline = (const char *const *)cmdline;
	t.file.nr_cmdline = 6;
	map_at(7, 0xffffffff81000000, 0xffffffff82000000,
	       "/a/rather/long/name/of/a/shared/library.so.6.0.0", 0);
	sample(0, 7, 0xffffffff81000000, T0, DA_OP_READ);
	sample(0, 7, 0xffffffff81ffffff, T0 + MS, DA_OP_READ);
	busy();
	for (unsigned width = DA_RENDER_WIDTH_MIN; width <= 200; width += 7) {
		for (int i = 0; i < 2; i++) {
			const char *text;

			o.width = width;
			o.utf8 = i;
			text = render(TEXT, &o);
			ck_assert_msg(widest(text) <= width, "width %u: %zu\n%s", width,
				      widest(text), text);
			if (!i)
				for (const char *p = text; *p; p++)
					ck_assert_msg((unsigned char)*p < 0x80, "not ASCII: %.40s",
						      p);
			ck_assert_ptr_null(strchr(text, '\033'));
		}
	}
	o.width = 80;
	o.color = true;
	ck_assert_ptr_nonnull(strchr(render(TEXT, &o), '\033'));
}
END_TEST

START_TEST(text_says_what_it_shows)
{
	struct da_render_opts o = plain();
	const char *text;

	t.cell[0].ledger.in[DA_STAGE_SAMPLE] = 30;
	t.cell[0].ledger.drop[DA_DROP_NOT_MEMORY] = 20;
	t.cell[0].ledger.drop[DA_DROP_NO_CODE] = 10;
	busy();
	text = render(TEXT, &o);
	ck_assert_ptr_nonnull(strstr(text, "131 samples: 101 valid (77.1 %); 101 matched"));
	ck_assert_ptr_nonnull(
		strstr(text, "not valid: not_memory 20 (15.3 %), no_code 10 (7.6 %)"));
	/* a sample of time is no count of accesses, a fault is no access */
	ck_assert_ptr_nonnull(strstr(text, "is slow, not how often"));
	ck_assert_ptr_nonnull(strstr(text, "first touch, not each access"));
	ck_assert_ptr_nonnull(
		strstr(text, "Process 7 seven: cpu-clock:u, 100 samples in 2 regions"));
	ck_assert_ptr_nonnull(
		strstr(text, "Process 7 seven: page-faults, 4 samples in 1 region\n"));
	ck_assert_ptr_nonnull(strstr(text, "1 more region (8 KiB): no samples"));
	ck_assert_ptr_nonnull(strstr(text, "no record of a loss"));
	/* a process with few samples gets a line, not a table */
	ck_assert_ptr_nonnull(strstr(text, "Other processes"));
	ck_assert_ptr_null(strstr(text, "Process 8"));
	ck_assert_ptr_nonnull(strstr(text, "128 TiB without samples"));
	o.max_spaces = 0;
	o.heatmap = false;
	text = render(TEXT, &o);
	ck_assert_ptr_nonnull(strstr(text, "Process 8 eight"));
	ck_assert_ptr_null(strstr(text, "address -"));
	o.limit = 1;
	text = render(TEXT, &o);
	ck_assert_ptr_nonnull(strstr(text, "1 more region: 10 samples (10.0 %)"));
}
END_TEST

START_TEST(text_of_losses_and_damage)
{
	struct da_render_opts o = plain();
	static const char *const messages[] = {"record at 0x10 is cut", "another"};
	const char *text;

	t.r.lost = (struct da_offline_lost){1957, 700, 0, 1257, 0, 0, -1, 3, -1};
	t.r.damaged = true;
	t.r.messages = messages;
	t.r.nr_messages = 2;
	busy();
	text = render(TEXT, &o);
	ck_assert_ptr_nonnull(strstr(text, "damaged: record at 0x10 is cut (and 1 more)"));
	ck_assert_ptr_nonnull(
		strstr(text, "lost before decoding: 1,957 by the events' own counters, 1,257"));
	ck_assert_ptr_nonnull(strstr(text, "700 in LOST records, 3 THROTTLE records"));
	t.r.lost = (struct da_offline_lost){0, 0, 0, 0, 0, 0, -1, 0, -1};
	ck_assert_ptr_nonnull(strstr(render(TEXT, &o), "nothing, by the events' own counters"));
	/* counters that do not add up are our bug, and said so */
	t.r.ledger.drop[DA_DROP_STRADDLE]++;
	ck_assert_ptr_nonnull(strstr(render(TEXT, &o), "BUG: the counters of layer match"));
}
END_TEST

START_TEST(nothing_to_show)
{
	struct da_render_opts o = plain();
	struct da_json all;

	finish();
	ck_assert_ptr_nonnull(strstr(render(TEXT, &o), "No access could be given to a region"));
	all = open_json(render(JSON, NULL));
	all = get(&all, "spaces");
	ck_assert_uint_eq(da_json_count(&all), 0);
	ck_assert_str_eq(render(CSV, &o),
			 "space,pid,comm,start,end,label,event,samples,accesses,reads,writes,"
			 "share,error,age_ns,idle_ns\n");
}
END_TEST

START_TEST(sort_orders)
{
	struct da_render_opts o = {.width = 80};
	static const struct {
		enum da_sort by;
		const char *order;
	} want[] = {
		{DA_SORT_SHARE, "bca"},   {DA_SORT_ADDR, "abc"},  {DA_SORT_LABEL, "abc"},
		{DA_SORT_SAMPLES, "bca"}, {DA_SORT_READS, "cab"}, {DA_SORT_WRITES, "bac"},
		{DA_SORT_SIZE, "cba"},
	};

	map_at(7, 0x100000, 0x101000, "/a", 0);
	map_at(7, 0x200000, 0x202000, "/b", 0);
	map_at(7, 0x300000, 0x303000, "/c", 0);
	sample(0, 7, 0x100000, T0, 0);
	for (int i = 0; i < 5; i++)
		sample(0, 7, 0x200000, T0, DA_OP_WRITE);
	for (int i = 0; i < 3; i++)
		sample(0, 7, 0x300000, T0, DA_OP_READ);
	finish();
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const char *p;
		char got[4] = "";
		size_t n = 0;

		o.sort = want[i].by;
		p = render(CSV, &o);
		while (n < 3 && (p = strstr(p, ",\"/"))) {
			got[n++] = p[3];
			p += 3;
		}
		ck_assert_msg(!strcmp(got, want[i].order), "by %s: %s, not %s",
			      da_sort_name(want[i].by), got, want[i].order);
	}
}
END_TEST

/* ---- heat maps ---- */

START_TEST(none_unseen_and_lost_differ)
{
	const struct da_space *s;
	struct plan p;
	uint64_t sum = 0;

	comm(7, "seven");
	map_at(7, 0x100000, 0x102000, "/a", 0);
	map_at(7, 0x300000, 0x302000, "/late", T0 + 60 * MS);
	/* at work in [0, 20) and [40, 100) ms; the access layer of [40, 60) saw nothing */
	for (uint64_t i = 0; i < 20; i++)
		sample(0, 7, 0x100000, T0 + i * MS, DA_OP_READ);
	for (uint64_t i = 40; i < 60; i++)
		da_match_observe(t.match, 0, 7, T0 + i * MS);
	for (uint64_t i = 60; i < 100; i++)
		sample(0, 7, 0x300000, T0 + i * MS, DA_OP_READ);
	t.gap[0] = (struct da_offline_gap){T0 + 81 * MS, T0 + 84 * MS, 5};
	t.r.nr_gaps = 1;
	finish();
	s = da_match_space(t.match, 0);
	ck_assert_int_eq(plan_make(&p, &t.r, s, 0, 10, 8), 0); /* 10 columns of 10 ms */
	ck_assert_uint_eq(p.columns, 10);
	ck_assert_uint_eq(p.nr_rows, 2);
	for (size_t c = 0; c < 10; c++) {
		bool looking = c < 2 || c >= 4, row0 = c < 2, row1 = c >= 6;

		ck_assert_msg(!!p.cells[c] == row0, "row 0, column %zu", c);
		ck_assert_msg(!!p.cells[10 + c] == row1, "row 1, column %zu", c);
		ck_assert_msg(p.unseen[c] == !looking, "row 0, column %zu", c);
		/* before it was mapped there was nothing to look at */
		ck_assert_msg(p.unseen[10 + c] == (c < 6), "row 1, column %zu", c);
		ck_assert_msg(p.lost[c] == (c == 8), "column %zu", c);
	}
	for (size_t i = 0; i < 20; i++)
		sum += p.cells[i];
	ck_assert_uint_eq(sum, 60);
	plan_release(&p);
	/* an event that happens by itself is looked at all the time */
	t.ev[0].producer = DA_PROD_FAULT;
	ck_assert_int_eq(plan_make(&p, &t.r, s, 0, 10, 8), 0);
	for (size_t c = 0; c < 10; c++)
		ck_assert(!p.unseen[c]);
	plan_release(&p);
}
END_TEST

START_TEST(map_on_a_terminal)
{
	struct da_render_opts o = plain();
	const char *text;

	comm(7, "seven");
	map_at(7, 0x100000, 0x102000, "/a", 0);
	map_at(7, 0x200000, 0x201000, "/silent", 0);
	map_at(7, 0x300000, 0x302000, "/c", 0);
	for (uint64_t i = 0; i < 100; i++)
		sample(0, 7, i < 50 ? 0x100000 : 0x301000, T0 + i * MS, DA_OP_READ);
	t.gap[0] = (struct da_offline_gap){T0 + 20 * MS, T0 + 30 * MS, -1};
	t.r.nr_gaps = 1;
	finish();
	text = render(TEXT, &o);
	ck_assert_msg(strstr(text, "      100000 |#"), "%s", text);
	ck_assert_ptr_nonnull(
		strstr(text, "~ | 2 MiB without samples")); /* something is mapped there */
	ck_assert_ptr_nonnull(strstr(text, "samples were lost in this time"));
	ck_assert_ptr_nonnull(strstr(text, "1 column = 2."));
	/* no count there, but a loss */
	ck_assert_ptr_nonnull(memchr(strstr(text, "301000 |"), '/', 60));
	o.utf8 = true;
	text = render(TEXT, &o);
	ck_assert_ptr_nonnull(strstr(text, "\xe2\x96\x88"));
	ck_assert_ptr_nonnull(strstr(text, "\xe2\x95\xb1"));
}
END_TEST

/* Counts in all cells of a plan, and what it left out, are all samples, whatever the regions. */
static size_t check_plan(size_t max_rows, size_t max_columns)
{
	const struct da_space *s = da_match_space(t.match, 0);
	struct totals total[2];
	struct plan p;
	uint64_t sum = 0;
	size_t left;

	totals_of(s, total, &t.r);
	ck_assert_int_eq(plan_make(&p, &t.r, s, 0, max_columns, max_rows), 0);
	ck_assert_uint_le(p.nr_rows, max_rows);
	ck_assert_uint_le(p.columns, max_columns);
	ck_assert_uint_ge(p.nr_rows, 1);
	for (size_t i = 1; i < p.nr_rows; i++)
		ck_assert_uint_le(p.rows[i - 1].end, p.rows[i].start);
	for (size_t i = 0; i < p.nr_rows * p.columns; i++)
		sum += p.cells[i];
	ck_assert_uint_eq(sum + p.left_samples, total[0].samples);
	left = p.left_regions;
	plan_release(&p);
	return left;
}

START_TEST(plans_lose_nothing)
{
	/* few regions, a large one among small ones, many alike, few that matter among many */
	for (int kind = 0; kind < 4; kind++) {
		uint64_t nr = kind < 2 ? 6 : 300;
		uint64_t x = 12345;

		tear_down();
		set_up();
		for (uint64_t i = 0; i < nr; i++)
			map_at(7, 0x100000000 + i * 0x10000000,
			       0x100000000 + i * 0x10000000 + (i == 3 && kind ? 0xfff0000 : 0x3000),
			       "/m", 0);
		for (uint64_t i = 0; i < 3000; i++) {
			uint64_t k, off;

			x = x * 6364136223846793005u + 1442695040888963407u;
			k = (x >> 33) % (kind == 3 && i % 20 ? 5 : nr);
			off = (x >> 20) % (k == 3 && kind ? 0xfff0000 : 0x3000);
			sample(0, 7, 0x100000000 + k * 0x10000000 + off, T0 + i * 100000,
			       DA_OP_READ);
		}
		finish();
		ck_assert_uint_eq(check_plan(24, 48) > 0, kind == 3); /* regions left out */
		check_plan(64, 64);
		check_plan(2, 1);
		check_plan(7, 500);
	}
}
END_TEST

START_TEST(plan_at_the_ends_of_the_address_space)
{
	map_at(7, 0, 0x1000, "/zero", 0);
	map_at(7, 0xfffffffffffff000, UINT64_MAX, "/last", 0);
	sample(0, 7, 0, 0, DA_OP_READ);
	sample(0, 7, UINT64_MAX - 8, UINT64_MAX, DA_OP_READ);
	finish();
	check_plan(24, 48);
	check_plan(2, 48);
	render(TEXT, &(struct da_render_opts){.width = 80, .heatmap = true});
	open_json(render(JSON, NULL));
}
END_TEST

/* ---- numbers and words ---- */

START_TEST(numbers)
{
	char s[WORD];

	ck_assert_str_eq(format_count(s, 0), "0");
	ck_assert_str_eq(format_count(s, 999), "999");
	ck_assert_str_eq(format_count(s, 1000), "1,000");
	ck_assert_str_eq(format_count(s, UINT64_MAX), "18,446,744,073,709,551,615");
	ck_assert_str_eq(format_bytes(s, 0), "0 B");
	ck_assert_str_eq(format_bytes(s, 1023), "1023 B");
	ck_assert_str_eq(format_bytes(s, 1024), "1 KiB");
	ck_assert_str_eq(format_bytes(s, 1536), "1.5 KiB");
	ck_assert_str_eq(format_bytes(s, 132 * 1024), "132 KiB");
	ck_assert_str_eq(format_bytes(s, UINT64_MAX), "16 EiB");
	ck_assert_str_eq(format_time(s, 999), "999 ns");
	ck_assert_str_eq(format_time(s, 1500), "1.50 us");
	ck_assert_str_eq(format_time(s, 41700000), "41.7 ms");
	ck_assert_str_eq(format_time(s, 999600000), "1.00 s");
	ck_assert_str_eq(format_pct(s, 1, 0), "-");
	ck_assert_str_eq(format_pct(s, 0, 7), "0.0 %");
	ck_assert_str_eq(format_pct(s, 1, 100000), "<0.1 %");      /* few is not none */
	ck_assert_str_eq(format_pct(s, 99999, 100000), ">99.9 %"); /* nearly all is not all */
	ck_assert_str_eq(format_pct(s, 7, 7), "100.0 %");
}
END_TEST

START_TEST(share_errors)
{
	/* Wilson's interval: known values, and sense at the ends */
	ck_assert_double_eq_tol(share_error(0.5, 100), 0.0961, 5e-4);
	ck_assert_double_eq_tol(share_error(0.5, 10000), 0.0098, 5e-5);
	ck_assert_double_eq_tol(share_error(0, 10), 0.1388, 5e-4);
	ck_assert(share_error(1, 10) > 0.1 && share_error(1, 10) < 0.2);
	ck_assert(isnan(share_error(0.3, 0)));
}
END_TEST

static const char *text_in(const char *text, size_t columns, bool utf8)
{
	size_t len, used;
	FILE *f;

	free(t.out);
	f = open_memstream(&t.out, &len);
	used = put_text(f, text, columns, utf8);
	fclose(f);
	if (columns)
		ck_assert_uint_le(used, columns);
	return t.out;
}

START_TEST(words)
{
	ck_assert_str_eq(text_in("short", 16, false), "short");
	ck_assert_str_eq(text_in("0123456789abcdef", 10, false), "01..abcdef");
	ck_assert_str_eq(text_in("0123456789abcdef", 10, true), "012\xe2\x80\xa6"
								"abcdef");
	ck_assert_str_eq(text_in("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 3, true),
			 "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac");
	ck_assert_str_eq(text_in("\001\002", 0, true), "\\x01\\x02");
	ck_assert_str_eq(text_in("abcdef", 1, true), "a");
	ck_assert_str_eq(text_in("\xff\xff\xff", 6, true), "\xe2\x80\xa6\\xff");
	ck_assert_str_eq(label_name("/usr/lib/libc.so.6 r-x"), "libc.so.6 r-x");
	ck_assert_str_eq(label_name("[heap]"), "[heap]");
	ck_assert_str_eq(label_name("/a r-- + /b/c r--"), "/a r-- + /b/c r--");
	ck_assert_str_eq(label_name("/ r--"), "/ r--");
	ck_assert_str_eq(label_name("/dir/ r--"), "/dir/ r--");
}
END_TEST

/* ---- fields and symbols ---- */

START_TEST(fields)
{
	static const char *const wrong[] = {"", "addr,", ",addr", "adr", "addr time", "time,,cpu"};
	struct da_error err = {0};
	struct da_fields *f;
	char many[1024] = "ip";
	size_t len;
	FILE *out;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		memset(&err, 0, sizeof(err));
		ck_assert_int_eq(da_fields_parse(wrong[i], &f, &err), -DA_EUSAGE);
		ck_assert_ptr_null(f);
	}
	ck_assert_ptr_nonnull(strstr(err.msg, "phys_addr")); /* says what there is */
	for (int i = 0; i < 64; i++)
		strcat(many, ",ip");
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(da_fields_parse(many, &f, &err), -DA_EUSAGE);
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(da_fields_parse("addr,op,comm", &f, &err), 0);
	free(t.out);
	out = open_memstream(&t.out, &len);
	da_render_sample_head(out, f);
	fclose(out);
	ck_assert_str_eq(t.out, "#           addr op comm\n");
	da_fields_free(f);
	ck_assert_int_eq(da_fields_parse(NULL, &f, &err), 0);
	da_fields_free(f);
}
END_TEST

static int a_function_of_this_test(int x)
{
	return x * 3 + 1;
}

START_TEST(symbols)
{
	struct da_symbols *s = da_symbols_new();
	int (*volatile fn)(int) = a_function_of_this_test;
	uint64_t offset = 0, addr = (uint64_t)(uintptr_t)fn;
	unsigned long start, end, off;
	const char *name;
	char line[PATH_MAX];
	struct stat st;
	FILE *f;

	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(fn(1), 4);
	f = fopen("/proc/self/maps", "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &off) == 3 && start <= addr &&
		    addr < end)
			break;
	fclose(f);
	name = da_symbols_in_file(s, "/proc/self/exe", addr - start + off, &offset);
	ck_assert_ptr_nonnull(name);
	ck_assert_str_eq(name, "a_function_of_this_test");
	ck_assert_uint_eq(offset, 0);
	name = da_symbols_in_file(s, "/proc/self/exe", addr - start + off + 1, &offset);
	ck_assert_uint_eq(offset, 1);
	ck_assert_ptr_null(da_symbols_in_file(s, "/proc/self/exe", UINT64_MAX, &offset));
	ck_assert_ptr_null(da_symbols_in_file(s, "/no/such/file", 0, &offset));
	ck_assert_ptr_null(da_symbols_in_file(s, "/proc/self/maps", 0, &offset));
	ck_assert_ptr_null(da_symbols_in_file(s, "/dev/zero", 0, &offset));
	/* the file that was mapped; any other, by inode or device, has no name rather than a wrong one */
	ck_assert_ptr_nonnull(realpath("/proc/self/exe", line));
	ck_assert_int_eq(stat(line, &st), 0);
	for (int i = 0; i < 4; i++) {
		struct da_map map = {.start = start,
				     .end = end,
				     .pgoff = off,
				     .id = (uint64_t)i + 1,
				     .name = line,
				     .kind = DA_MAP_FILE,
				     .maj = major(st.st_dev) + (i == 1),
				     .min = minor(st.st_dev) + (i == 2),
				     .ino = st.st_ino + (i == 3)};

		for (int twice = 0; twice < 2; twice++)
			ck_assert_int_eq(da_symbols_find(s, &map, addr, &offset) != NULL, i == 0);
		ck_assert_ptr_null(da_symbols_find(s, &map, end, &offset));
	}
	da_symbols_free(s);
}
END_TEST

/* Each byte of an ELF head changed, and every cut: no crash, no endless loop. */
START_TEST(damaged_elf)
{
	static unsigned char elf[1 << 16];
	char path[256];
	FILE *self = fopen("/proc/self/exe", "r");
	size_t n = fread(elf, 1, sizeof(elf), self);
	int fd = test_file(path, sizeof(path));
	uint64_t offset;

	fclose(self);
	for (size_t i = 0; i < 400; i++) {
		struct da_symbols *s = da_symbols_new();
		unsigned char keep = elf[i % 400];

		elf[i % 400] ^= (unsigned char)(i * 7 + 1);
		ck_assert_int_eq(ftruncate(fd, 0), 0);
		ck_assert_int_gt(pwrite(fd, elf, i % 5 ? n : n * i / 400 + 1, 0), 0);
		elf[i % 400] = keep;
		(void)da_symbols_in_file(s, path, 0x1000 + i, &offset);
		da_symbols_free(s);
	}
	close(fd);
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("render");
	TCase *c = tcase_create("render");
	SRunner *run;
	int failed;

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, json_shape_and_values);
	tcase_add_test(c, json_of_own_recording);
	tcase_add_test(c, hostile_names);
	tcase_add_test(c, text_fits_its_columns);
	tcase_add_test(c, text_says_what_it_shows);
	tcase_add_test(c, text_of_losses_and_damage);
	tcase_add_test(c, nothing_to_show);
	tcase_add_test(c, sort_orders);
	tcase_add_test(c, none_unseen_and_lost_differ);
	tcase_add_test(c, map_on_a_terminal);
	tcase_add_test(c, plans_lose_nothing);
	tcase_add_test(c, plan_at_the_ends_of_the_address_space);
	tcase_add_test(c, numbers);
	tcase_add_test(c, share_errors);
	tcase_add_test(c, words);
	tcase_add_test(c, fields);
	tcase_add_test(c, symbols);
	tcase_add_test(c, damaged_elf);
	suite_add_tcase(suite, c);
	run = srunner_create(suite);
	srunner_run_all(run, CK_NORMAL);
	failed = srunner_ntests_failed(run);
	srunner_free(run);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
