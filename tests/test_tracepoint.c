/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints by format texts written here: DAMON's of several kernels, 32-bit longs and both byte orders,
 * fields of every kind, tracing data cut everywhere, texts that are none, a tracefs of our own making; and
 * DAMON's records put together to snapshots.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "da_damon.h"
#include "da_offline.h"
#include "da_own.h"
#include "da_tracepoint.h"
#include "folder.h"
#include "perfgen.h"

#define LOCAL_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

struct field {
	const char *decl;
	unsigned offset, size, is_signed;
};

static const struct field with_age[] = {{"unsigned long target_id", 8, 8, 0},
					{"unsigned int nr_regions", 16, 4, 0},
					{"unsigned long start", 24, 8, 0},
					{"unsigned long end", 32, 8, 0},
					{"unsigned int nr_accesses", 40, 4, 0},
					{"unsigned int age", 44, 4, 0},
					{NULL, 0, 0, 0}};
static const struct field no_age[] = {
	{"unsigned long target_id", 8, 8, 0},   {"unsigned int nr_regions", 16, 4, 0},
	{"unsigned long start", 24, 8, 0},      {"unsigned long end", 32, 8, 0},
	{"unsigned int nr_accesses", 40, 4, 0}, {NULL, 0, 0, 0}};
static const struct field longs32[] = {{"unsigned long target_id", 8, 4, 0},
				       {"unsigned int nr_regions", 12, 4, 0},
				       {"unsigned long start", 16, 4, 0},
				       {"unsigned long end", 20, 4, 0},
				       {"unsigned int nr_accesses", 24, 4, 0},
				       {"unsigned int age", 28, 4, 0},
				       {NULL, 0, 0, 0}};
static const struct field moved[] = {{"u64 end", 48, 8, 0},
				     {"u64 start", 40, 8, 0},
				     {"u32 age", 36, 4, 0},
				     {"u32 nr_accesses", 32, 4, 0},
				     {"unsigned int nr_regions", 8, 4, 0},
				     {"u64 target_id", 16, 8, 0},
				     {NULL, 0, 0, 0}};
static const struct field kinds[] = {{"__data_loc char[] name", 8, 4, 1},
				     {"__rel_loc u8[] hits", 12, 4, 0},
				     {"char comm[16]", 16, 16, 0},
				     {"const char * p", 32, 8, 0},
				     {"s64 delta", 40, 8, 1},
				     {"short little", 48, 2, 1},
				     {"bool on", 50, 1, 0},
				     {"struct big x", 52, 24, 0},
				     {"__data_loc cpumask_t mask", 76, 4, 0},
				     {NULL, 0, 0, 0}};

static char *text_of(const char *name, unsigned id, const struct field *f)
{
	static const struct field common[] = {{"unsigned short common_type", 0, 2, 0},
					      {"unsigned char common_flags", 2, 1, 0},
					      {"unsigned char common_preempt_count", 3, 1, 0},
					      {"int common_pid", 4, 4, 1},
					      {NULL, 0, 0, 0}};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	fprintf(out, "name: %s\nID: %u\nformat:\n", name, id);
	for (const struct field *c = common; c->decl; c++)
		fprintf(out, "\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%u;\n", c->decl, c->offset,
			c->size, c->is_signed);
	fputc('\n', out);
	for (; f && f->decl; f++)
		fprintf(out, "\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%u;\n", f->decl, f->offset,
			f->size, f->is_signed);
	fprintf(out,
		"\nprint fmt: \"%%d %%s\", REC->a ? ((REC->b)) : 2, __print_flags(REC->c, \"|\", {1, \"x\"})\n");
	ck_assert(!fclose(out));
	return text;
}

/* ---- tracing data ---- */

static void put_text(struct gen *g, const char *text)
{
	gen_u64(g, strlen(text));
	gen_bytes(g, text, strlen(text));
}

static void put_head(struct gen *g, unsigned long_size, const char *version)
{
	uint8_t order = g->swap != LOCAL_BIG, size = (uint8_t)long_size;

	gen_bytes(g, "\x17\x08\x44tracing", 10);
	gen_bytes(g, version, strlen(version) + 1);
	gen_bytes(g, &order, 1);
	gen_bytes(g, &size, 1);
	gen_u32(g, 4096);
	gen_bytes(g, "header_page", 12);
	put_text(g, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n");
	gen_bytes(g, "header_event", 13);
	put_text(g, "# none\n");
	gen_u32(g, 1); /* one of ftrace's own */
	put_text(g, "name: function\nID: 1\nformat:\n");
}

static void put_system(struct gen *g, const char *system, const char *text)
{
	gen_bytes(g, system, strlen(system) + 1);
	gen_u32(g, 1);
	put_text(g, text);
}

static void put_tail(struct gen *g, const char *version)
{
	gen_u32(g, 4);
	gen_bytes(g, "syms", 4);
	gen_u32(g, 2);
	gen_bytes(g, "pk", 2);
	if (strcmp(version, "0.6"))
		return;
	gen_u64(g, 3);
	gen_bytes(g, "1 a", 3);
}

/* One system, one tracepoint. */
static struct gen data_of(bool swap, unsigned long_size, const char *system, const char *text)
{
	struct gen g = {.swap = swap};

	put_head(&g, long_size, "0.6");
	gen_u32(&g, 1);
	put_system(&g, system, text);
	put_tail(&g, "0.6");
	return g;
}

struct set {
	struct da_tracepoints *t;
	struct gen g;
	char *text;
};

static struct set set_of(bool swap, unsigned long_size, const char *system, const char *name,
			 const struct field *f)
{
	struct set s = {.t = da_tracepoints_new(), .text = text_of(name, 767, f)};
	struct da_error err = {0};

	ck_assert_ptr_nonnull(s.t);
	s.g = data_of(swap, long_size, system, s.text);
	ck_assert_msg(!da_tracepoints_data(s.t, s.g.p, s.g.len, &err), "%s", err.msg);
	return s;
}

static void set_free(struct set *s)
{
	da_tracepoints_free(s->t);
	gen_free(&s->g);
	free(s->text);
}

/* ---- DAMON ---- */

/* Raw bytes by the fields' own table: offset and size are written down once, values by name. */
static void put_raw(struct gen *g, const struct field *f, const char *name, uint64_t v)
{
	for (; f->decl; f++) {
		const char *last = strrchr(f->decl, ' ') + 1;
		struct gen one = {.swap = g->swap};

		if (strcmp(last, name))
			continue;
		if (f->size == 8)
			gen_u64(&one, v);
		else
			gen_u32(&one, (uint32_t)v);
		memcpy(g->p + f->offset, one.p, f->size);
		gen_free(&one);
	}
}

static struct gen damon_raw(bool swap, const struct field *f, uint64_t target, uint32_t nr,
			    uint64_t start, uint64_t end, uint32_t nr_accesses, uint32_t age)
{
	struct gen g = {.swap = swap};
	size_t len = 0;

	for (const struct field *x = f; x->decl; x++)
		len = x->offset + x->size > len ? x->offset + x->size : len;
	gen_fill(&g, 0xee, len);
	put_raw(&g, f, "target_id", target);
	put_raw(&g, f, "nr_regions", nr);
	put_raw(&g, f, "start", start);
	put_raw(&g, f, "end", end);
	put_raw(&g, f, "nr_accesses", nr_accesses);
	put_raw(&g, f, "age", age);
	return g;
}

static const struct {
	const char *what;
	const struct field *fields;
	unsigned long_size;
	bool has_age;
} kernels[] = {
	{"5.15", no_age, 8, false},
	{"6.1 and 6.18", with_age, 8, true},
	{"32-bit longs", longs32, 4, true},
	{"other places", moved, 8, true},
};

START_TEST(damon_of_every_kernel)
{
	for (int swap = 0; swap < 2; swap++) {
		uint64_t high = kernels[_i].long_size == 8 ? 0xffff888100000000 : 0;
		struct set s = set_of(swap, kernels[_i].long_size, "damon", "damon_aggregated",
				      kernels[_i].fields);
		const struct da_tracepoint *tp =
			da_tracepoint_find(s.t, "damon", "damon_aggregated");
		struct gen raw = damon_raw(swap, kernels[_i].fields, high + 7, 1300, high + 0x1000,
					   high + 0x5000, 20, 0x80000001);
		struct da_tp_damon d;

		ck_assert_msg(tp && da_tracepoint_is_damon(tp), "%s", kernels[_i].what);
		ck_assert_ptr_eq(tp, da_tracepoint_by_id(s.t, 767));
		ck_assert_uint_eq(da_tracepoint_id(tp), 767);
		ck_assert_uint_eq(da_tracepoints_long_size(s.t), kernels[_i].long_size);
		ck_assert_int_eq(da_tracepoints_big_endian(s.t), swap != LOCAL_BIG);
		ck_assert_int_eq(da_tracepoint_damon(tp, raw.p, raw.len, &d), 0);
		ck_assert_uint_eq(d.target_id, high + 7);
		ck_assert_uint_eq(d.nr_regions, 1300);
		ck_assert_uint_eq(d.start, high + 0x1000);
		ck_assert_uint_eq(d.end, high + 0x5000);
		ck_assert_uint_eq(d.nr_accesses, 20);
		ck_assert_int_eq(d.has_age, kernels[_i].has_age);
		ck_assert_uint_eq(d.age, kernels[_i].has_age ? 0x80000001 : 0);
		for (size_t cut = 0; cut < raw.len; cut++) {
			uint8_t *part = malloc(cut ? cut : 1);

			memcpy(part, raw.p, cut);
			ck_assert_msg(da_tracepoint_damon(tp, part, cut, &d) == -DA_EDAMAGED,
				      "%s cut at %zu", kernels[_i].what, cut);
			free(part);
		}
		gen_free(&raw);
		set_free(&s);
	}
}
END_TEST

START_TEST(not_damon)
{
	static const struct field no_end[] = {{"unsigned long target_id", 8, 8, 0},
					      {"unsigned int nr_regions", 16, 4, 0},
					      {"unsigned long start", 24, 8, 0},
					      {"unsigned int nr_accesses", 40, 4, 0},
					      {NULL, 0, 0, 0}};
	static const struct field array[] = {
		{"unsigned long target_id", 8, 8, 0},   {"unsigned int nr_regions", 16, 4, 0},
		{"unsigned long start[1]", 24, 8, 0},   {"unsigned long end", 32, 8, 0},
		{"unsigned int nr_accesses", 40, 4, 0}, {NULL, 0, 0, 0}};
	static const struct {
		const char *system, *name;
		const struct field *f;
	} c[] = {{"damon", "damon_aggregated", no_end},
		 {"damon", "damon_aggregated", array},
		 {"damon", "damos_before_apply", with_age},
		 {"sched", "damon_aggregated", with_age}};

	for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
		struct set s = set_of(false, 8, c[i].system, c[i].name, c[i].f);
		const struct da_tracepoint *tp = da_tracepoint_find(s.t, c[i].system, c[i].name);

		ck_assert_msg(tp && !da_tracepoint_is_damon(tp), "%zu", i);
		ck_assert_str_eq(da_tracepoint_system(tp), c[i].system);
		ck_assert_str_eq(da_tracepoint_name(tp), c[i].name);
		set_free(&s);
	}
}
END_TEST

/* ---- any tracepoint ---- */

static struct da_tp_value value(const struct da_tracepoint *tp, const char *name,
				const struct gen *raw)
{
	const struct da_tp_field *f = da_tracepoint_field(tp, name);
	struct da_tp_value v;

	ck_assert_msg(f != NULL, "no field %s", name);
	ck_assert_msg(!da_tracepoint_value(tp, f, raw->p, raw->len, &v), "%s", name);
	return v;
}

static void check_bytes(struct da_tp_value v, enum da_tp_kind kind, const void *bytes, size_t len)
{
	ck_assert_int_eq(v.kind, kind);
	ck_assert_uint_eq(v.len, len);
	ck_assert_int_eq(memcmp(v.bytes, bytes, len), 0);
}

/* The kernel tracepoints that the proposals name; what fields they have is theirs to say. */
START_TEST(named_values)
{
	static const char *const names[] = {"damon_perf_sample", "damon_perf_report_missed",
					    "damon_perf_drain"};

	for (int swap = 0; swap < 2; swap++) {
		struct set s = set_of(swap, 8, "damon", names[_i], kinds);
		const struct da_tracepoint *tp = da_tracepoint_find(s.t, "damon", names[_i]);
		struct gen raw = {.swap = swap};
		struct da_tp_value v;

		ck_assert_ptr_nonnull(tp);
		ck_assert_uint_eq(da_tracepoint_nr_fields(tp), 4 + 9);
		gen_u16(&raw, 767);
		gen_u16(&raw, 0);
		gen_u32(&raw, (uint32_t)-2);
		gen_u32(&raw, 4 << 16 | 80);
		gen_u32(&raw, 2 << 16 | 68); /* from 16 on */
		gen_padded(&raw, "kdamond.0", 16);
		gen_u64(&raw, 0xffffffff81000000);
		gen_u64(&raw, (uint64_t)-5);
		gen_u16(&raw, 0x8000);
		gen_fill(&raw, 1, 2);
		gen_fill(&raw, 0x5a, 24);
		gen_u32(&raw, 8 << 16 | 84);
		gen_bytes(&raw, "abc\0\1\2\3\4\0\6\7\0\0\0\0\0", 16);

		v = value(tp, "common_pid", &raw);
		ck_assert(v.kind == DA_TP_INT && v.i == -2);
		check_bytes(value(tp, "name", &raw), DA_TP_TEXT, "abc", 3);
		check_bytes(value(tp, "hits", &raw), DA_TP_BYTES, "\1\2", 2);
		check_bytes(value(tp, "mask", &raw), DA_TP_BYTES, "\1\2\3\4\0\6\7", 8);
		check_bytes(value(tp, "comm", &raw), DA_TP_TEXT, "kdamond.0", 9);
		v = value(tp, "p", &raw);
		ck_assert(v.kind == DA_TP_UINT && v.u == 0xffffffff81000000);
		v = value(tp, "delta", &raw);
		ck_assert(v.kind == DA_TP_INT && v.i == -5);
		v = value(tp, "little", &raw);
		ck_assert(v.kind == DA_TP_INT && v.i == -32768);
		v = value(tp, "on", &raw);
		ck_assert(v.kind == DA_TP_UINT && v.u == 1);
		ck_assert_uint_eq(value(tp, "x", &raw).len, 24);
		ck_assert_ptr_null(da_tracepoint_field(tp, "nothing"));
		ck_assert(da_tracepoint_field(tp, "common_pid")->common &&
			  !da_tracepoint_field(tp, "delta")->common);
		/* a place behind the end */
		ck_assert_int_eq(
			da_tracepoint_value(tp, da_tracepoint_field(tp, "mask"), raw.p, 91, &v),
			-DA_EDAMAGED);
		ck_assert_ptr_null(v.bytes);
		ck_assert_int_eq(
			da_tracepoint_value(tp, da_tracepoint_field(tp, "hits"), raw.p, 85, &v),
			-DA_EDAMAGED);
		gen_free(&raw);
		set_free(&s);
	}
}
END_TEST

/* ---- texts that are none ---- */

START_TEST(bad_texts)
{
	static const char *const bad[] = {
		"unsigned", /* a type or a name, not both */
		"long a[",
		"long a]",
		"long a[[3]]",
		"long [3] a",
		"foo[] name",
		"char __data_loc[] name",
		"__data_loc char[]",
		"__data_loc[] name",
		"long (*a)(void)",
		"long \"a\"",
		"long 1a",
		"long a *",
		"",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct field f[] = {{bad[i], 8, 8, 0}, {NULL, 0, 0, 0}};
		struct set s = set_of(false, 8, "a", "b", f);

		ck_assert_uint_eq(da_tracepoints_nr(s.t), 2); /* and the one of ftrace */
		ck_assert_msg(!da_tracepoint_find(s.t, "a", "b"), "'%s' is a declaration", bad[i]);
		ck_assert_ptr_null(da_tracepoint_by_id(s.t, 767)); /* asked again */
		set_free(&s);
	}
}
END_TEST

START_TEST(bad_lines)
{
	static const struct {
		const char *from, *to;
	} c[] = {{"\tfield:int", "field:int"},
		 {"offset:4;", "offset:;"},
		 {"offset:4;", "offset:-4;"},
		 {"offset:4;", "offset:65536;"},
		 {"size:4;", "size:99999999999999999999;"},
		 {"signed:1;", "signed:2;"},
		 {"signed:1;", "signed:1; "},
		 {"format:", "fields:"},
		 {"print fmt:", "print:"},
		 {"ID: 767", "ID: 0x767"},
		 {"ID: 767", "ID: 99999999999"},
		 {"nr_regions;", "LOCAL_PR_FMT;"},
		 {"int nr_regions;", "LOCAL_PR_FMT nr_regions;"},
		 {"name: b", "name: LOCAL_PR_FMT"},
		 {"name: b", "name: b c"},
		 {"name: b", "name: "}};

	for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
		char *text = text_of("b", 767, with_age), *at = strstr(text, c[i].from);
		struct da_tracepoints *t = da_tracepoints_new();
		char changed[2048];
		struct gen g;

		ck_assert_ptr_nonnull(at);
		snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - text), text, c[i].to,
			 at + strlen(c[i].from));
		g = data_of(false, 8, "a", changed);
		ck_assert_int_eq(da_tracepoints_data(t, g.p, g.len, NULL), 0);
		ck_assert_msg(!da_tracepoint_find(t, "a", "b"), "%s", c[i].to);
		ck_assert_ptr_null(da_tracepoint_by_id(t, 767));
		da_tracepoints_free(t);
		gen_free(&g);
		free(text);
	}
}
END_TEST

/* Kernels before 2.6.33 say nothing of signs. */
START_TEST(no_signs)
{
	struct da_tracepoints *t = da_tracepoints_new();
	struct gen g =
		data_of(false, 8, "a",
			"name: b\nID: 3\nformat:\n\tfield:int common_pid;\toffset:0;\tsize:4;\n\n"
			"\tfield:long x;\toffset:8;\tsize:8;\n\nprint fmt: \"\"\n");

	ck_assert_int_eq(da_tracepoints_data(t, g.p, g.len, NULL), 0);
	ck_assert_ptr_nonnull(da_tracepoint_find(t, "a", "b"));
	da_tracepoints_free(t);
	gen_free(&g);
}
END_TEST

/* ---- damaged tracing data ---- */

START_TEST(cut_everywhere)
{
	char *first = text_of("damon_aggregated", 767, with_age),
	     *second = text_of("other", 768, kinds);
	const char *const versions[] = {"0.5", "0.6"};

	for (int swap = 0; swap < 4; swap++) {
		const char *version = versions[swap / 2];
		struct gen g = {.swap = swap % 2};
		size_t first_end, second_end;

		put_head(&g, 8, version);
		gen_u32(&g, 2);
		put_system(&g, "damon", first);
		first_end = g.len;
		put_system(&g, "b", second);
		second_end = g.len;
		put_tail(&g, version);
		for (size_t cut = 0; cut <= g.len; cut++) {
			struct da_tracepoints *t = da_tracepoints_new();
			uint8_t *part = malloc(cut ? cut : 1);
			int rc;

			memcpy(part, g.p, cut);
			rc = da_tracepoints_data(t, part, cut, NULL);
			ck_assert_msg(rc == (cut < 16      ? -DA_EFORMAT
					     : cut < g.len ? -DA_EDAMAGED
							   : 0),
				      "cut at %zu: %d", cut, rc);
			ck_assert_msg(!!da_tracepoint_by_id(t, 767) == (cut >= first_end),
				      "cut at %zu", cut);
			ck_assert_msg(!!da_tracepoint_find(t, "b", "other") == (cut >= second_end),
				      "cut at %zu", cut);
			da_tracepoints_free(t);
			free(part);
		}
		gen_free(&g);
	}
	free(first);
	free(second);
}
END_TEST

START_TEST(lengths_that_lie)
{
	char *text = text_of("damon_aggregated", 767, with_age);
	struct gen good = data_of(false, 8, "damon", text);

	for (size_t at = 16; at + 8 <= good.len; at++) {
		static const uint64_t lies[] = {UINT64_MAX, INT64_MAX, 0xffffffff, 0x80000000};

		for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
			struct da_tracepoints *t = da_tracepoints_new();
			uint8_t *copy = malloc(good.len);

			memcpy(copy, good.p, good.len);
			memcpy(copy + at, &lies[i], 8);
			(void)da_tracepoints_data(t, copy, good.len, NULL);
			(void)da_tracepoint_find(t, "damon", "damon_aggregated");
			ck_assert_uint_le(da_tracepoints_nr(t), 2);
			da_tracepoints_free(t);
			free(copy);
		}
	}
	gen_free(&good);
	free(text);
}
END_TEST

START_TEST(not_tracing_data)
{
	char *text = text_of("a", 1, no_age);
	struct gen g = data_of(false, 8, "s", text);
	struct da_tracepoints *t = da_tracepoints_new();
	struct da_error err = {0};
	size_t order = 14;

	g.p[order] = 2;
	ck_assert_int_eq(da_tracepoints_data(t, g.p, g.len, NULL), -DA_EFORMAT);
	da_tracepoints_free(t);
	t = da_tracepoints_new();
	g.p[order] = LOCAL_BIG;
	g.p[order + 1] = 2;
	ck_assert_int_eq(da_tracepoints_data(t, g.p, g.len, NULL), -DA_EFORMAT);
	da_tracepoints_free(t);
	t = da_tracepoints_new();
	g.p[order + 1] = 8;
	g.p[0] ^= 1;
	ck_assert_int_eq(da_tracepoints_data(t, g.p, g.len, NULL), -DA_EFORMAT);
	g.p[0] ^= 1;
	ck_assert_int_eq(da_tracepoints_data(t, g.p, g.len, NULL), 0);
	ck_assert_int_eq(da_tracepoints_data(t, g.p, g.len, &err), -DA_EBUG);
	da_tracepoints_free(t);
	da_tracepoints_free(NULL);
	gen_free(&g);
	free(text);
}
END_TEST

/* ---- tracefs ---- */

static char dir[200];

static void put_path(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert(!fclose(f));
}

START_TEST(from_tracefs)
{
	char *a = text_of("damon_aggregated", 767, with_age), *b = text_of("other", 5, kinds),
	     cmd[232];
	const uint64_t ids[] = {767, 5}, unknown[] = {5, 6};
	struct da_tracepoints *t = da_tracepoints_new();
	struct da_error err = {0};
	uint8_t *data;
	size_t len;

	test_folder(dir, sizeof(dir));
	ck_assert_int_eq(da_tracing_data(dir, ids, 2, &data, &len, &err), -DA_ENOENT);
	ck_assert_int_eq(da_tracing_has(dir, "damon", "damon_aggregated", &err), -DA_ENOENT);
	memset(&err, 0, sizeof(err));
	put_path("events/header_page", "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n");
	put_path("events/header_event", "# none\n");
	put_path("events/enable", "0\n");
	put_path("events/damon/enable", "0\n");
	put_path("events/damon/damon_aggregated/id", "767\n");
	put_path("events/damon/damon_aggregated/format", a);
	put_path("events/b/other/id", "5\n");
	put_path("events/b/other/format", b);
	put_path("events/b/third/id", "6x\n");
	ck_assert_int_eq(da_tracing_has(dir, "damon", "damon_aggregated", NULL), 1);
	ck_assert_int_eq(da_tracing_has(dir, "damon", "damon_perf_sample", NULL), 0);
	ck_assert_int_eq(da_tracing_has(dir, "damn", "damon_aggregated", NULL), 0);
	ck_assert_int_eq(da_tracing_data(dir, ids, 2, &data, &len, NULL), 0);
	ck_assert_int_eq(da_tracepoints_data(t, data, len, NULL), 0);
	ck_assert_uint_eq(da_tracepoints_nr(t), 2);
	ck_assert_uint_eq(da_tracepoints_long_size(t), sizeof(long));
	ck_assert(da_tracepoint_is_damon(da_tracepoint_by_id(t, 767)));
	ck_assert_ptr_nonnull(da_tracepoint_find(t, "b", "other"));
	da_tracepoints_free(t);
	free(data);
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(da_tracing_data(dir, unknown, 2, &data, &len, &err),
			 -DA_ENOENT); /* no format */
	ck_assert_ptr_null(data);
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	ck_assert_int_eq(system(cmd), 0);
	free(a);
	free(b);
}
END_TEST

/* ---- snapshots ---- */

static void add(struct da_damon *d, uint32_t kdamond, uint64_t target, uint32_t nr, uint64_t start,
		uint64_t time)
{
	struct da_tp_damon r = {.target_id = target,
				.nr_regions = nr,
				.start = start,
				.end = start + 0x1000,
				.nr_accesses = (uint32_t)time,
				.age = 3,
				.has_age = true};

	/* Check takes 3 us for an assertion that holds, and some tests add millions */
	if (da_damon_add(d, kdamond, &r, time))
		ck_abort_msg("da_damon_add() failed");
}

/* Regions [first, last) of nr, a page each with a page between them. */
static void add_some(struct da_damon *d, uint64_t target, uint32_t nr, unsigned first,
		     unsigned last, uint64_t time)
{
	for (unsigned i = first; i < last; i++)
		add(d, 100, target, nr, 0x10000 + i * 0x2000, time);
}

static void expect(const struct da_damon *d, size_t i, uint64_t snapshots, uint64_t incomplete,
		   size_t nr, uint64_t time)
{
	const struct da_damon_target *t = da_damon_target(d, i);

	ck_assert_ptr_nonnull(t);
	ck_assert_uint_eq(t->snapshots, snapshots);
	ck_assert_uint_eq(t->incomplete, incomplete);
	ck_assert_uint_eq(t->nr_regions, nr);
	ck_assert_uint_eq(t->last_ns, time);
	for (size_t k = 0; k < nr; k++) /* all of one time */
		ck_assert_uint_eq(t->regions[k].nr_accesses, time);
}

START_TEST(whole_snapshots)
{
	struct da_damon *d = da_damon_new();

	add_some(d, 1, 2, 0, 2, 5); /* two targets in turn, of other sizes */
	add_some(d, 0, 40, 0, 40, 5);
	add_some(d, 1, 3, 0, 3, 6);
	add_some(d, 0, 1, 7, 8, 6);
	for (unsigned i = 0; i < 3; i++) { /* two kdamonds at once */
		add(d, 200, 0, 3, 0x1000 * i, 7);
		add(d, 99, 0, 3, 0x8000 + 0x1000 * i, 8);
	}
	da_damon_finish(d);
	ck_assert_uint_eq(da_damon_nr_targets(d), 4);
	ck_assert_uint_eq(da_damon_target(d, 0)->kdamond, 99);
	expect(d, 0, 1, 0, 3, 8);
	expect(d, 1, 2, 0, 1, 6);
	ck_assert_uint_eq(da_damon_target(d, 1)->regions[0].start, 0x10000 + 7 * 0x2000);
	ck_assert_uint_eq(da_damon_target(d, 1)->first_ns, 5);
	ck_assert_uint_eq(da_damon_target(d, 1)->records, 41);
	expect(d, 2, 2, 0, 3, 6);
	expect(d, 3, 1, 0, 3, 7);
	ck_assert_ptr_null(da_damon_target(d, 4));
	da_damon_free(d);
	da_damon_free(NULL);
}
END_TEST

START_TEST(incomplete_snapshots)
{
	struct da_damon *d = da_damon_new();

	add_some(d, 0, 10, 6, 10, 1); /* the recording began in the middle */
	add_some(d, 0, 10, 0, 10, 2);
	add_some(d, 0, 10, 0, 4, 3); /* no end */
	add_some(d, 0, 10, 0, 10, 4);
	add_some(d, 0, 10, 0, 9, 5); /* the next has another number */
	add_some(d, 0, 11, 9, 10, 6);
	add_some(d, 0, 11, 0, 11, 7);
	ck_assert_uint_eq(da_damon_target(d, 0)->incomplete, 4);
	add_some(d, 0, 10, 0, 6,
		 8); /* lost: the end of this and the beginning of the next, ten in all */
	da_damon_lost(d);
	add_some(d, 0, 10, 6, 10, 9);
	add_some(d, 0, 10, 0, 2, 10); /* lost in the middle, what follows belongs to it */
	da_damon_lost(d);
	add_some(d, 0, 10, 3, 10, 10);
	add_some(d, 0, 10, 0, 3, 11);
	da_damon_finish(d);
	expect(d, 0, 3, 7, 11, 7);
	da_damon_free(d);
}
END_TEST

START_TEST(no_regions)
{
	struct da_tp_damon bad[] = {{.nr_regions = 2, .start = 5, .end = 5},
				    {.nr_regions = 2, .start = 6, .end = 5},
				    {.nr_regions = 0, .start = 1, .end = 2}};
	struct da_damon *d = da_damon_new();

	add_some(d, 0, 2, 0, 1, 1);
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(da_damon_add(d, 100, &bad[i], 1), -DA_EDAMAGED);
	add_some(d, 0, 2, 1, 2, 1);
	da_damon_finish(d);
	ck_assert_uint_eq(da_damon_damaged(d), 3);
	expect(d, 0, 0, 1, 0, 0);
	da_damon_free(d);
}
END_TEST

START_TEST(bounded)
{
	struct da_damon *d = da_damon_new();
	uint64_t records = 0;

	for (uint32_t t = 0; t < DA_DAMON_MAX_TARGETS + 5; t++)
		add(d, 1, t, 1, 0x1000, 1);
	ck_assert_uint_eq(da_damon_nr_targets(d), DA_DAMON_MAX_TARGETS);
	ck_assert_uint_eq(da_damon_left_out(d), 5);
	for (uint64_t i = 0; i < 3 * (uint64_t)DA_DAMON_MAX_REGIONS; i++)
		add(d, 1, 7, UINT32_MAX, 0x2000 * (i + 1), 2);
	ck_assert_uint_eq(da_damon_left_out(d), 6);
	for (size_t i = 0; i < DA_DAMON_MAX_TARGETS; i++)
		records += da_damon_target(d, i)->records;
	ck_assert_uint_eq(records, DA_DAMON_MAX_TARGETS + 3 * (uint64_t)DA_DAMON_MAX_REGIONS);
	add(d, 1, 8, 1, 0x1000, 3); /* what was there goes on */
	ck_assert_uint_eq(da_damon_target(d, 8)->snapshots, 2);
	ck_assert_uint_eq(da_damon_target(d, 7)->incomplete, 1);
	da_damon_free(d);
}
END_TEST

/* ---- a recording ---- */

static struct gen_file file;
static struct da_offline *off;
static char *path;

static void set_up(void)
{
	memset(&file, 0, sizeof(file));
	file.nr_ev = 1;
	file.ev[0] = (struct gen_event){
		.attr = {.type = DA_TYPE_TRACEPOINT,
			 .config = 767,
			 .sample_period = 1,
			 .sample_type = DA_SAMPLE_IDENTIFIER | DA_SAMPLE_TID | DA_SAMPLE_TIME |
					DA_SAMPLE_CPU | DA_SAMPLE_RAW,
			 .flags = DA_ATTR_SAMPLE_ID_ALL},
		.name = "damon:damon_aggregated",
		.ids = {11},
		.nr_ids = 1,
	};
}

static void tear_down(void)
{
	da_offline_close(off);
	off = NULL;
	if (path)
		gen_unlink(path);
	path = NULL;
	gen_file_free(&file);
}

static void sample(const struct field *f, uint32_t nr, unsigned i, uint64_t time, size_t cut)
{
	struct gen raw = damon_raw(file.data.swap, f, 3, nr, 0x10000 + i * 0x2000,
				   0x11000 + i * 0x2000, i, 4);
	struct gen pid = {.swap = file.data.swap};
	struct da_samp s = {.pid = 100, .tid = 100, .time_ns = time, .id = 11};

	gen_u32(&pid, 4242);
	memcpy(raw.p + 4, pid.p, 4);
	gen_fill(&raw, 0, 4); /* raw bytes end where their u32 size and they are 8 bytes */
	s.raw = raw.p;
	s.raw_size = (uint32_t)(cut ? cut : raw.len);
	gen_sample(&file.data, &file.ev[0].attr, &s);
	gen_free(&raw);
	gen_free(&pid);
}

static const struct da_offline_result *decode(void)
{
	static const struct da_offline_opts opts = {.match = {.virt = true, .accumulate = true}};
	struct gen out = {.swap = file.data.swap};
	struct da_error err = {0};

	da_offline_close(off);
	if (path)
		gen_unlink(path);
	for (size_t i = 0; i < 256; i++)
		if (i != DA_FEAT_TRACING_DATA)
			gen_free(&file.feature[i]);
	gen_features(&file); /* names too */
	gen_file_build(&file, &out);
	path = gen_write(out.p, out.len);
	gen_free(&out);
	ck_assert_msg(!da_offline_open(&off, path, &opts, &err), "%s", err.msg);
	ck_assert_msg(!da_offline_run(off, &err), "%s", err.msg);
	return da_offline_result(off);
}

static bool says(const struct da_offline_result *r, const char *what)
{
	for (size_t i = 0; i < r->nr_messages; i++)
		if (strstr(r->messages[i], what))
			return true;
	return false;
}

static void put_formats(bool swap, const struct field *f)
{
	char *text = text_of("damon_aggregated", 767, f);

	gen_free(&file.feature[DA_FEAT_TRACING_DATA]);
	file.feature[DA_FEAT_TRACING_DATA] = data_of(swap, 8, "damon", text);
	free(text);
}

START_TEST(recorded_regions)
{
	const struct da_offline_result *r;
	const struct da_damon_target *t;
	uint64_t time = 1000;

	file.data.swap = _i & 1;
	put_formats(file.data.swap, _i & 2 ? no_age : with_age);
	for (unsigned k = 0; k < 3; k++, time += 1000)
		for (unsigned i = 0; i < (k == 2 ? 4 : 5); i++)
			sample(_i & 2 ? no_age : with_age, 5, i, time + i, 0);
	r = decode();
	ck_assert_msg(!r->damaged, "%s", r->nr_messages ? r->messages[0] : "");
	ck_assert_ptr_nonnull(r->damon);
	t = da_damon_target(r->damon, 0);
	ck_assert_uint_eq(da_damon_nr_targets(r->damon), 1);
	ck_assert_uint_eq(t->kdamond, 4242);
	ck_assert_uint_eq(t->target_id, 3);
	ck_assert_uint_eq(t->records, 14);
	ck_assert_uint_eq(t->snapshots, 2);
	ck_assert_uint_eq(t->incomplete, 1);
	ck_assert_uint_eq(t->first_ns, 1004);
	ck_assert_uint_eq(t->last_ns, 2004);
	ck_assert_int_eq(t->has_age, !(_i & 2));
	ck_assert_uint_eq(t->nr_regions, 5);
	for (unsigned i = 0; i < 5; i++) {
		ck_assert_uint_eq(t->regions[i].start, 0x10000 + i * 0x2000);
		ck_assert_uint_eq(t->regions[i].end, 0x11000 + i * 0x2000);
		ck_assert_uint_eq(t->regions[i].nr_accesses, i);
		ck_assert_uint_eq(t->regions[i].age, _i & 2 ? 0 : 4);
	}
}
END_TEST

/* Six of one, lost, four of the next: ten records, and no snapshot. */
START_TEST(recorded_loss)
{
	const struct da_offline_result *r;
	size_t rec;

	put_formats(false, with_age);
	for (unsigned i = 0; i < 6; i++)
		sample(with_age, 10, i, 1000 + i, 0);
	rec = gen_rec(&file.data, DA_REC_LOST, 0);
	gen_u64(&file.data, 11);
	gen_u64(&file.data, 10);
	gen_trailer(&file.data, &file.ev[0].attr, 100, 100, 2005, 11, 0);
	gen_end(&file.data, rec);
	for (unsigned i = 6; i < 10; i++)
		sample(with_age, 10, i, 2000 + i, 0);
	r = decode();
	ck_assert_uint_eq(da_damon_target(r->damon, 0)->records, 10);
	ck_assert_uint_eq(da_damon_target(r->damon, 0)->snapshots, 0);
	ck_assert_uint_eq(da_damon_target(r->damon, 0)->incomplete, 1);
}
END_TEST

/* A killed recording has no features; the texts are in a record of ours too. */
START_TEST(recorded_inline)
{
	struct gen g = {0}, again;
	char *text = text_of("damon_aggregated", 767, with_age);
	uint8_t *rec = malloc(65536);
	int size;

	g = data_of(false, 8, "damon", text);
	size = da_own_build(DA_OWN_TRACING, DA_OWN_VERSION | DA_OWN_MORE, g.p, 100, rec, 65536);
	gen_bytes(&file.data, rec, (size_t)size);
	size = da_own_build(DA_OWN_TRACING, DA_OWN_VERSION, g.p + 100, g.len - 100, rec, 65536);
	gen_bytes(&file.data, rec, (size_t)size);
	sample(with_age, 1, 0, 1000, 0);
	ck_assert_uint_eq(da_damon_target(decode()->damon, 0)->snapshots, 1);
	ck_assert(!da_offline_result(off)->damaged);
	again = g; /* the feature is asked first */
	file.feature[DA_FEAT_TRACING_DATA] = again;
	ck_assert_uint_eq(da_damon_target(decode()->damon, 0)->snapshots, 1);
	free(rec);
	free(text);
}
END_TEST

START_TEST(recorded_badly)
{
	const struct da_offline_result *r;
	struct gen *g = &file.feature[DA_FEAT_TRACING_DATA];

	sample(with_age, 1, 0, 1000, 0);
	r = decode(); /* no texts */
	ck_assert(!r->damon && r->damaged && says(r, "no TRACING_DATA"));
	put_formats(false, with_age);
	g->len = 150;
	r = decode();
	ck_assert(!r->damon && r->damaged && says(r, "does not fit its 150 bytes"));
	gen_free(g);
	put_formats(false, with_age);
	file.ev[0].attr.config = 766; /* of another tracepoint */
	r = decode();
	ck_assert(!r->damon && r->damaged && says(r, "no format of it"));
	file.ev[0].name = "damon:damon_perf_drain";
	r = decode();
	ck_assert(!r->nr_traces && r->damaged && says(r, "'damon:damon_perf_drain' cannot be"));
	file.ev[0].name = "sched:sched_switch";
	r = decode();
	ck_assert_msg(!r->damon && !r->damaged, "%s", r->nr_messages ? r->messages[0] : "");
	file.ev[0].attr.config = 767;     /* whatever it is called */
	sample(with_age, 1, 0, 2000, 44); /* cut before the age */
	r = decode();
	ck_assert(r->damon && r->damaged &&
		  says(r, "1 records of damon_aggregated hold no region"));
	ck_assert_uint_eq(da_damon_target(r->damon, 0)->snapshots, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tracepoint");
	TCase *tc = tcase_create("all");
	SRunner *sr;
	int failed;

	tcase_set_timeout(tc, 0);
	tcase_add_loop_test(tc, damon_of_every_kernel, 0,
			    (int)(sizeof(kernels) / sizeof(*kernels)));
	tcase_add_test(tc, not_damon);
	tcase_add_loop_test(tc, named_values, 0, 3);
	tcase_add_test(tc, bad_texts);
	tcase_add_test(tc, bad_lines);
	tcase_add_test(tc, no_signs);
	tcase_add_test(tc, cut_everywhere);
	tcase_add_test(tc, lengths_that_lie);
	tcase_add_test(tc, not_tracing_data);
	tcase_add_test(tc, from_tracefs);
	tcase_add_test(tc, whole_snapshots);
	tcase_add_test(tc, incomplete_snapshots);
	tcase_add_test(tc, no_regions);
	tcase_add_test(tc, bounded);
	suite_add_tcase(s, tc);
	tc = tcase_create("recording");
	tcase_set_timeout(tc, 0);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, recorded_regions, 0, 4);
	tcase_add_test(tc, recorded_loss);
	tcase_add_test(tc, recorded_inline);
	tcase_add_test(tc, recorded_badly);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
