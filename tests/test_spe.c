/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arm SPE: packets against the header rules, and records against vectors. What reports they give is tested in
 * test_spe_report.c, how windows and damage are handled in test_spe_stream.c.
 *
 * The vectors are the sixteen cases of the seed's parser tests as bytes. With ../shared beside the checkout
 * its vector files are read too.
 */
#include <check.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>

#include "da_spe.h"
#include "fuzz/decode_run.h"
#include "spe_text.h"
#include "vector_text.h"

#define N1 0x00000000410fd0c0u

#define PC  "b000104000000000 80"
#define PC2 "b004104000000000 80"
#define VA  "b2402000 00aaaa0000"
#define VA2 "b2802000 00aaaa0000"
#define TS  "7110270000 00000000"

/* ---- packets ---- */

struct rule {
	int kind;
	unsigned head, payload, index;
};

/* The header rules as masks, in the order in which they are tested; DA_SPE_NEED_MORE: a byte is missing. */
static struct rule rule_of(uint8_t b0, uint8_t b1, bool second)
{
	unsigned size = 1u << (b0 >> 4 & 3);

	if (b0 == 0x00)
		return (struct rule){DA_SPE_PAD, 1, 0, 0};
	if (b0 == 0x01)
		return (struct rule){DA_SPE_END, 1, 0, 0};
	if (b0 == 0x71)
		return (struct rule){DA_SPE_TIMESTAMP, 1, 8, 0};
	if ((b0 & 0xcf) == 0x42)
		return (struct rule){DA_SPE_EVENTS, 1, size, 0};
	if ((b0 & 0xcf) == 0x43)
		return (struct rule){DA_SPE_SOURCE, 1, size, 0};
	if ((b0 & 0xfc) == 0x64)
		return (struct rule){DA_SPE_CONTEXT, 1, size, b0 & 3u};
	if ((b0 & 0xfc) == 0x48)
		return (struct rule){DA_SPE_OP, 1, size, b0 & 3u};
	if ((b0 & 0xf8) == 0xb0)
		return (struct rule){DA_SPE_ADDRESS, 1, size, b0 & 7u};
	if ((b0 & 0xf8) == 0x98)
		return (struct rule){DA_SPE_COUNTER, 1, size, b0 & 7u};
	if ((b0 & 0xfc) != 0x20)
		return (struct rule){DA_SPE_BAD, 1, 0, 0};
	if (!second)
		return (struct rule){DA_SPE_NEED_MORE, 0, 0, 0};
	size = 1u << (b1 >> 4 & 3);
	if (b1 == 0)
		return (struct rule){DA_SPE_ALIGN, 2, 0, 0};
	if ((b1 & 0xf8) == 0xb0)
		return (struct rule){DA_SPE_ADDRESS, 2, size, (b0 & 3u) << 3 | (b1 & 7u)};
	if ((b1 & 0xf8) == 0x98)
		return (struct rule){DA_SPE_COUNTER, 2, size, (b0 & 3u) << 3 | (b1 & 7u)};
	return (struct rule){DA_SPE_BAD, 1, 0, 0};
}

START_TEST(every_header)
{
	static const uint8_t tail[16] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99};

	for (unsigned b = 0; b < 0x10000; b++) {
		for (size_t n = 1; n <= 18; n++) {
			uint8_t *p = decode_must(malloc(n));
			uint8_t head[2] = {(uint8_t)b, (uint8_t)(b >> 8)};
			struct rule want = rule_of(head[0], head[1], n > 1);
			uint64_t payload = 0;
			struct da_spe_packet k;
			size_t len;

			memcpy(p, head, n < 2 ? n : 2);
			if (n > 2)
				memcpy(p + 2, tail, n - 2);
			/* at 5: a whole 16 from there is 11 bytes */
			da_spe_packet(p, n, 5, &k);
			len = want.head + want.payload;
			if (want.kind == DA_SPE_ALIGN) {
				unsigned align = 2u << (head[0] & 0xf);

				len = align - (5 & (align - 1));
			}
			if (want.kind == DA_SPE_NEED_MORE || len > n) {
				must(k.kind == DA_SPE_NEED_MORE, "%02x %02x, %zu bytes: kind %u",
				     head[0], head[1], n, k.kind);
			} else {
				for (size_t i = want.payload; i--;)
					payload = payload << 8 | p[want.head + i];
				must(k.kind == want.kind && k.len == len && k.index == want.index &&
					     k.payload == payload,
				     "%02x %02x, %zu bytes: kind %u len %u index %u", head[0],
				     head[1], n, k.kind, k.len, k.index);
			}
			free(p);
		}
	}
}
END_TEST

START_TEST(alignment_by_position)
{
	uint8_t p[18] = {0};
	struct da_spe_packet k;

	for (unsigned head = 0x20; head <= 0x23; head++) {
		unsigned align = 2u << (head & 0xf);

		for (uint64_t pos = 0; pos < 48; pos++) {
			p[0] = (uint8_t)head;
			memset(p + 1, 0, sizeof(p) - 1);
			da_spe_packet(p, sizeof(p), pos | UINT64_C(1) << 40, &k);
			must(k.kind == DA_SPE_ALIGN && k.len >= 1 && k.len <= align &&
				     (pos + k.len) % align == 0,
			     "%02x at %" PRIu64 ": %u", head, pos, k.len);
		}
	}
	p[0] = 0x24; /* its alignment would be 32: no packet */
	da_spe_packet(p, sizeof(p), 0, &k);
	ck_assert_uint_eq(k.kind, DA_SPE_BAD);
}
END_TEST

/* ---- records ---- */

enum status { RECORD, EMPTY, NEED_MORE };

static const char *const status_names[] = {"RECORD", "EMPTY", "NEED_MORE"};

/* One call of "take one record from this window". text: what the record holds. */
struct call {
	enum status status;
	size_t consumed, bad;
	char text[160];
};

static void say(char *text, size_t size, const char *name, bool has, uint64_t v)
{
	size_t n = strlen(text);

	if (has)
		snprintf(text + n, size - n, "%s%s=%" PRIx64, n ? " " : "", name, v);
}

static void read_call(const struct da_spe_record *r, struct call *c)
{
	say(c->text, sizeof(c->text), "pc", r->has & DA_SPE_HAS_PC, da_spe_pc(r->pc));
	say(c->text, sizeof(c->text), "va", r->has & DA_SPE_HAS_VA, da_spe_va(r->va));
	say(c->text, sizeof(c->text), "op", r->has & DA_SPE_HAS_OP, r->op);
	say(c->text, sizeof(c->text), "class", r->has & DA_SPE_HAS_OP, r->op_class);
	say(c->text, sizeof(c->text), "events", r->has & DA_SPE_HAS_EVENTS, r->events);
	say(c->text, sizeof(c->text), "source", r->has & DA_SPE_HAS_SOURCE, r->source);
	say(c->text, sizeof(c->text), "context", r->has & DA_SPE_HAS_CONTEXT, r->context);
	say(c->text, sizeof(c->text), "el", r->has & DA_SPE_HAS_CONTEXT, r->context_index + 1u);
	say(c->text, sizeof(c->text), "ts", r->has & DA_SPE_HAS_TIMESTAMP, r->timestamp);
	say(c->text, sizeof(c->text), "total", r->has & DA_SPE_HAS_TOTAL, r->total);
	say(c->text, sizeof(c->text), "issue", r->has & DA_SPE_HAS_ISSUE, r->issue);
	say(c->text, sizeof(c->text), "xlat", r->has & DA_SPE_HAS_XLAT, r->xlat);
}

/* One record from p[0..n), a damaged one before it skipped as the decoder does. */
static struct call one_record(const uint8_t *p, size_t n, uint64_t pos)
{
	struct call c = {.status = EMPTY};
	struct da_spe_record r;
	size_t at = 0, start, end;

	while (at < n) {
		memset(&r, 0, sizeof(r));
		switch (da_spe_walk(p + at, n - at, pos + at, &r, &start, &end)) {
		case DA_SPE_WALK_RECORD:
			c.status = RECORD;
			c.consumed = at + end;
			read_call(&r, &c);
			return c;
		case DA_SPE_WALK_EMPTY:
			c.consumed = at + end;
			return c;
		case DA_SPE_WALK_MORE:
			c.status = NEED_MORE;
			c.consumed = at + start;
			return c;
		case DA_SPE_WALK_BAD:
			at += end;
			break;
		}
		for (bool found = false; at < n && !found;) {
			struct da_spe_packet k;

			da_spe_packet(p + at, n - at, pos + at, &k);
			ck_assert_uint_ne(k.kind, DA_SPE_NEED_MORE);
			c.bad += k.kind == DA_SPE_BAD;
			found = da_spe_ends_record(k.kind);
			at += k.len;
		}
	}
	c.consumed = at;
	return c;
}

#define STORE "pc=401000 va=aaaa00002040 op=1 class=1"
#define LOAD  "pc=401000 va=aaaa00002040 op=0 class=1 ts=2710"
#define LOAD2 "pc=401004 va=aaaa00002080 op=0 class=1 ts=2710"

/* clang-format off */
static const struct vector {
	const char *name, *hex;
	struct call calls[4];
} vectors[] = {
	{"store record", PC "4901" VA "01", {{RECORD, 21, 0, STORE}, {EMPTY, 0, 0, ""}}},
	{"load record with timestamp", PC "4900" VA TS, {{RECORD, 29, 0, LOAD}, {EMPTY, 0, 0, ""}}},
	{"two records", PC "4901" VA "01" PC2 "4900" VA2 TS,
	 {{RECORD, 21, 0, STORE}, {RECORD, 29, 0, LOAD2}, {EMPTY, 0, 0, ""}}},
	{"pad wrapped", "000000" PC "0049010000" VA "0001000000", {{RECORD, 28, 0, STORE}, {EMPTY, 3, 0, ""}}},
	{"alignment at odd position", PC "49012300ffffff" VA "01", {{RECORD, 26, 0, STORE}, {EMPTY, 0, 0, ""}}},
	{"alignment at aligned position", PC "490100000000002300ffffffffffffffffffffffffffff" VA "01",
	 {{RECORD, 42, 0, STORE}, {EMPTY, 0, 0, ""}}},
	{"bad packet resync", PC "4901ff" VA "01" PC2 "4900" VA2 TS, {{RECORD, 51, 1, LOAD2}, {EMPTY, 0, 0, ""}}},
	{"record without address", PC "4a01421601",
	 {{RECORD, 14, 0, "pc=401000 op=1 class=2 events=16"}, {EMPTY, 0, 0, ""}}},
	{"events source counter", PC "65d20400004900" VA "521600982a00990c009a03004308" TS,
	 {{RECORD, 48, 0, "pc=401000 va=aaaa00002040 op=0 class=1 events=16 source=8 context=4d2 el=2 ts=2710 "
			  "total=2a issue=c xlat=3"}, {EMPTY, 0, 0, ""}}},
	{"truncated record retained", PC "4900" VA, {{NEED_MORE, 0, 0, ""}}},
	{"truncated packet retained", PC "4900b2402000", {{NEED_MORE, 0, 0, ""}}},
	{"extended address", PC "490120" VA "01", {{RECORD, 22, 0, STORE}, {EMPTY, 0, 0, ""}}},
	{"invalid extended header", PC "49012055" VA "01" PC2 "4900" VA2 TS,
	 {{RECORD, 52, 2, LOAD2}, {EMPTY, 0, 0, ""}}},
	{"pad only", "00000000000000000000000000000000", {{EMPTY, 16, 0, ""}}},
	{"empty window", "", {{EMPTY, 0, 0, ""}}},
	{"split record, first piece", PC "4900b24020", {{NEED_MORE, 0, 0, ""}}},
	{"split record, both pieces", PC "4900b24020" "0000aaaa0000" TS, {{RECORD, 29, 0, LOAD}, {EMPTY, 0, 0, ""}}},
	/* alignment headers at position 11, and a reserved address */
	{"align 2 at 11", PC "49012000" VA "01", {{RECORD, 23, 0, STORE}, {EMPTY, 0, 0, ""}}},
	{"align 4 at 11", PC "49012100" VA "01", {{RECORD, 23, 0, STORE}, {EMPTY, 0, 0, ""}}},
	{"extended index", PC "490121" VA "01", {{RECORD, 22, 0, "pc=401000 op=1 class=1"}, {EMPTY, 0, 0, ""}}},
	/* a later packet replaces one of its kind; events are collected */
	{"packets twice", PC2 PC "4202520401" "4900" VA2 VA "01",
	 {{RECORD, 44, 0, "pc=401000 va=aaaa00002040 op=0 class=1 events=106"}, {EMPTY, 0, 0, ""}}},
	{"cut alignment", PC "4901" VA "012300", {{RECORD, 21, 0, STORE}, {NEED_MORE, 0, 0, ""}}},
};
/* clang-format on */

#define NR_VECTORS (sizeof(vectors) / sizeof(vectors[0]))

static void same_call(const char *name, unsigned i, const struct call *a, const struct call *b)
{
	ck_assert_msg(a->status == b->status && a->consumed == b->consumed && a->bad == b->bad &&
			      !strcmp(a->text, b->text),
		      "%s, call %u: %s@%zu bad %zu '%s', not %s@%zu bad %zu '%s'", name, i,
		      status_names[a->status], a->consumed, a->bad, a->text,
		      status_names[b->status], b->consumed, b->bad, b->text);
}

START_TEST(seed_vectors)
{
	const struct vector *v = &vectors[_i];
	uint8_t bytes[128];
	size_t n = from_hex(v->hex, bytes, sizeof(bytes)), at = 0;

	for (unsigned i = 0;; i++) {
		uint8_t *exact = decode_must(malloc(n - at + 1)), *p = exact + (n == at);
		struct call c;

		memcpy(p, bytes + at, n - at);
		c = one_record(p, n - at, at);
		free(exact);
		same_call(v->name, i, &c, &v->calls[i]);
		if (c.status != RECORD)
			break;
		at += c.consumed;
	}
}
END_TEST

/* The decoder takes whole records and leaves an open one. */
START_TEST(vectors_through_decoder)
{
	const struct vector *v = &vectors[_i];
	struct decode_result res = {0};
	struct da_sink sink = decode_sink(&res, _i & 1);
	struct da_spe_state *st = decode_must(calloc(1, sizeof(*st)));
	uint8_t bytes[128];
	size_t n = from_hex(v->hex, bytes, sizeof(bytes)), want = 0, records = 0, bad = 0;
	struct da_input in = {.bytes = bytes, .len = n, .midr = N1};
	bool open = false;

	for (unsigned i = 0; i < 4; i++) {
		want += v->calls[i].consumed;
		records += v->calls[i].status == RECORD;
		bad += v->calls[i].bad;
		open |= v->calls[i].status == NEED_MORE && strcmp(v->name, "cut alignment");
		if (v->calls[i].status != RECORD)
			break;
	}
	ck_assert_uint_eq(da_spe_decode(st, &in, &sink, &res.stats), want);
	ck_assert_uint_eq(res.stats.records, records);
	ck_assert_uint_eq(res.stats.bad_bytes, bad);
	ck_assert_uint_eq(res.stats.damaged_records, bad ? 1 : 0);
	ck_assert_uint_eq(res.stats.truncated_records, 0);
	ck_assert(decode_balanced(&res));
	/* the same bytes are the last ones: what is open is truncated */
	in.bytes = bytes + want;
	in.len = n - want;
	in.offset = want;
	in.last = true;
	ck_assert_uint_eq(da_spe_decode(st, &in, &sink, &res.stats), n - want);
	ck_assert_uint_eq(res.stats.truncated_records, open);
	ck_assert_uint_eq(res.stats.records, records);
	ck_assert(decode_balanced(&res));
	decode_release(&res);
	free(st);
}
END_TEST

/* ---- vector files ---- */

static const char *json_text(struct json_object *o, const char *name)
{
	struct json_object *v;

	ck_assert(json_object_object_get_ex(o, name, &v));
	return json_object_get_string(v);
}

static void json_call(struct json_object *o, struct call *c)
{
	static const char *const names[][2] = {
		{"pc", "pc"},          {"va", "va"},         {"op", "op"},
		{"op_class", "class"}, {"events", "events"}, {"source", "source"},
		{"ctx", "context"},    {"ctx_el", "el"},     {"ts", "ts"},
		{"total", "total"},    {"issue", "issue"},   {"xlat", "xlat"},
	};
	struct json_object *r, *v;

	*c = (struct call){.status = EMPTY};
	for (int i = RECORD; i <= NEED_MORE; i++)
		if (!strcmp(json_text(o, "status"), status_names[i]))
			c->status = (enum status)i;
	ck_assert(json_object_object_get_ex(o, "consumed", &v));
	c->consumed = json_object_get_uint64(v);
	ck_assert(json_object_object_get_ex(o, "bad_bytes", &v));
	c->bad = json_object_get_uint64(v);
	if (!json_object_object_get_ex(o, "record", &r))
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (json_object_object_get_ex(r, names[i][0], &v))
			say(c->text, sizeof(c->text), names[i][1], true, json_object_get_uint64(v));
}

START_TEST(vector_file)
{
	char path[512];
	const char *file = shared_file("formats/vectors/spe_vectors.json", path, sizeof(path));
	struct json_object *all, *pieces, *calls;

	if (!file)
		return;
	all = json_object_from_file(file);
	ck_assert_ptr_nonnull(all);
	ck_assert_uint_ge(json_object_array_length(all), 16);
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *v = json_object_array_get_idx(all, i);
		uint8_t bytes[256];
		size_t n = 0, at = 0;

		json_object_object_get_ex(v, "pieces", &pieces);
		json_object_object_get_ex(v, "calls", &calls);
		for (size_t k = 0; k < json_object_array_length(pieces); k++)
			n += from_hex(json_object_get_string(json_object_array_get_idx(pieces, k)),
				      bytes + n, sizeof(bytes) - n);
		for (size_t k = 0; k < json_object_array_length(calls); k++) {
			struct call want, got = one_record(bytes + at, n - at, at);

			json_call(json_object_array_get_idx(calls, k), &want);
			same_call(json_text(v, "name"), (unsigned)k, &got, &want);
			at += got.consumed;
		}
	}
	json_object_put(all);
}
END_TEST

/* ---- published dumps: FILE.spe.bin and the packets that perf printed of it ---- */

static const char *const dumps[] = {"spe-armtelemetry-packets", "spe-kunpeng-branch",
				    "spe-qemu-vspe-ld", "spe-quipper-records"};

/* The description of the packet at this offset, or NULL. */
static const char *expected_at(const char *text, size_t offset, char *line, size_t size)
{
	char want[24];

	snprintf(want, sizeof(want), "\n%08zx ", offset);
	text = strstr(text, want);
	if (!text)
		return NULL;
	snprintf(line, size, "%.*s", (int)strcspn(text + 1, "\n"), text + 1);
	return line;
}

static char *whole_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *b = decode_must(malloc(65536));

	ck_assert_ptr_nonnull(f);
	*len = fread(b, 1, 65535, f);
	b[*len] = 0;
	fclose(f);
	return b;
}

START_TEST(published_dumps)
{
	char path[512], name[128], line[256], text[SPE_TEXT_MAX];
	size_t len, unused, pads = 0;
	char *bytes, *expected;

	snprintf(name, sizeof(name), "fixtures/vectors/%s.expected.txt", dumps[_i]);
	if (!shared_file(name, path, sizeof(path)))
		return;
	expected = whole_file(path, &unused);
	memcpy(strstr(path, ".expected.txt"), ".spe.bin", sizeof(".spe.bin"));
	bytes = whole_file(path, &len);
	for (size_t at = 0; at < len;) {
		const char *want = expected_at(expected, at, line, sizeof(line));
		struct da_spe_packet k;

		da_spe_packet((const uint8_t *)bytes + at, len - at, at, &k);
		spe_text(&k, text);
		ck_assert_msg(k.kind > DA_SPE_NEED_MORE, "%s: no packet at %zx", dumps[_i], at);
		if (!want) { /* perf prints a run of padding as one */
			ck_assert_uint_eq(k.kind, DA_SPE_PAD);
			pads++;
		} else if (k.kind == DA_SPE_OP) {
			ck_assert_msg(strstr(want, " LD") || strstr(want, " ST") ||
					      strstr(want, " B ") || strstr(want, "INSN-OTHER"),
				      "%s: %s", dumps[_i], line);
		} else {
			ck_assert_msg(strstr(want, text), "%s: %s, not %s", dumps[_i], text, line);
		}
		at += k.len;
	}
	ck_assert(pads || _i == 0);
	free(bytes);
	free(expected);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("spe");
	TCase *t = tcase_create("format");
	SRunner *r;
	int failed;

	tcase_add_test(t, every_header);
	tcase_add_test(t, alignment_by_position);
	tcase_add_loop_test(t, seed_vectors, 0, (int)NR_VECTORS);
	tcase_add_loop_test(t, vectors_through_decoder, 0, (int)NR_VECTORS);
	tcase_add_test(t, vector_file);
	tcase_add_loop_test(t, published_dumps, 0, (int)(sizeof(dumps) / sizeof(dumps[0])));
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
