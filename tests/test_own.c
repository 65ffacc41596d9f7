/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Our own records: layout, both byte orders, what is not ours, what is cut.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "da_own.h"
#include "perfgen.h"

static struct da_rec rec_of(const uint8_t *p, size_t n, bool swap)
{
	return (struct da_rec){
		.type = DA_REC_HEADER_EVENT_TYPE, .bytes = p, .size = (uint32_t)n, .swap = swap};
}

/* The layout of da_own.h, written down once more. */
static void gen_own(struct gen *g, uint16_t kind, uint16_t version, const void *payload, size_t n)
{
	size_t at = gen_rec(g, 65, 0);

	gen_u32(g, 0x444d4e41);
	gen_u16(g, kind);
	gen_u16(g, version);
	gen_u32(g, (uint32_t)n);
	gen_u32(g, 0);
	gen_bytes(g, payload, n);
	while (g->len % 8 || g->len - at < 80)
		gen_fill(g, 0, 1);
	gen_end(g, at);
}

START_TEST(build_and_parse)
{
	static const size_t lengths[] = {0, 1, 55, 56, 57, 63, 64, 65, 1000, 64999, 65000};
	uint8_t *payload = malloc(65000), *buf = malloc(65536);

	for (size_t i = 0; i < 65000; i++)
		payload[i] = (uint8_t)(i * 7);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t n = lengths[i], len;
		struct gen g = {0};
		enum da_own_kind kind;
		const uint8_t *p;
		struct da_rec r;
		uint16_t version;
		int size;

		memset(buf, 0xff, 65536);
		size = da_own_build(DA_OWN_LEDGER, DA_OWN_VERSION | DA_OWN_MORE, payload, n, buf,
				    65536);
		gen_own(&g, 2, 0x8001, payload, n);
		ck_assert_int_eq(size, (int)g.len);
		ck_assert_mem_eq(buf, g.p, g.len);
		ck_assert_int_eq(size % 8, 0);
		ck_assert_int_ge(size, 80);
		ck_assert_uint_eq(buf[size], 0xff);
		ck_assert_int_eq(da_own_build(DA_OWN_LEDGER, 1, payload, n, buf, (size_t)size - 1),
				 -DA_ENOMEM);
		r = rec_of(g.p, g.len, false);
		ck_assert_int_eq(da_own_parse(&r, &kind, &version, &p, &len), 0);
		ck_assert_int_eq(kind, DA_OWN_LEDGER);
		ck_assert_uint_eq(version, 0x8001);
		ck_assert_uint_eq(len, n);
		ck_assert_mem_eq(p, payload, n);
		gen_free(&g);
	}
	ck_assert_int_eq(da_own_build(DA_OWN_INFO, 1, payload, 65001, buf, 65536), -DA_ENOMEM);
	ck_assert_int_eq(da_own_build(DA_OWN_INFO, 1, payload, SIZE_MAX, buf, 65536), -DA_ENOMEM);
	free(payload);
	free(buf);
}
END_TEST

START_TEST(parse_swapped)
{
	struct gen g = {.swap = true};
	enum da_own_kind kind;
	const uint8_t *p;
	struct da_rec r;
	uint16_t version;
	size_t len;

	gen_own(&g, DA_OWN_END, 1, "{}", 2);
	r = rec_of(g.p, g.len, true);
	ck_assert_int_eq(da_own_parse(&r, &kind, &version, &p, &len), 0);
	ck_assert_int_eq(kind, DA_OWN_END);
	ck_assert_uint_eq(version, 1);
	ck_assert_uint_eq(len, 2);
	ck_assert_mem_eq(p, "{}", 2);
	gen_free(&g);
}
END_TEST

START_TEST(not_ours)
{
	struct gen g = {0};
	enum da_own_kind kind;
	const uint8_t *p;
	struct da_rec r;
	uint16_t version;
	size_t len;

	gen_own(&g, DA_OWN_INFO, 1, "text", 4);
	r = rec_of(g.p, g.len, false);
	r.type = DA_REC_TIME_CONV;
	ck_assert_int_eq(da_own_parse(&r, &kind, &version, &p, &len), -DA_EFORMAT);
	r.type = DA_REC_HEADER_EVENT_TYPE;
	/* read in the other byte order the magic is another one */
	r.swap = true;
	ck_assert_int_eq(da_own_parse(&r, &kind, &version, &p, &len), -DA_EFORMAT);
	r.swap = false;
	g.p[8] ^= 1;
	ck_assert_int_eq(da_own_parse(&r, &kind, &version, &p, &len), -DA_EFORMAT);
	g.p[8] ^= 1;
	/* too short to tell, then too short for its payload */
	for (size_t n = 8; n < 28; n++) {
		uint8_t *block = malloc(n);

		memcpy(block, g.p, n);
		r = rec_of(block, n, false);
		ck_assert_int_eq(da_own_parse(&r, &kind, &version, &p, &len),
				 n < 24 ? -DA_EFORMAT : -DA_EDAMAGED);
		free(block);
	}
	r = rec_of(g.p, g.len, false);
	memset(g.p + 16, 0xff, 4); /* payload bytes */
	ck_assert_int_eq(da_own_parse(&r, &kind, &version, &p, &len), -DA_EDAMAGED);
	gen_free(&g);
}
END_TEST

START_TEST(code)
{
	static const uint8_t insns[] = {0x48, 0x8b, 0x07, 0xc3, 0x90};
	struct da_own_code in = {.pid = 1,
				 .maj = 8,
				 .min = 3,
				 .ino = 0x1122334455,
				 .ino_gen = 9,
				 .addr = 0x7f0000001000,
				 .time_ns = 123456789,
				 .len = sizeof(insns),
				 .bytes = insns},
			   out;
	enum da_own_kind kind;
	uint8_t buf[256], *block;
	const uint8_t *p;
	struct da_rec r;
	uint16_t version;
	size_t len;
	int size;

	memset(buf, 0xff, sizeof(buf));
	size = da_own_code_build(&in, buf, sizeof(buf));
	ck_assert_int_eq(size, 80);
	ck_assert_uint_eq(buf[80], 0xff);
	ck_assert_int_eq(da_own_code_build(&in, buf, 79), -DA_ENOMEM);
	r = rec_of(buf, (size_t)size, false);
	ck_assert_int_eq(da_own_parse(&r, &kind, &version, &p, &len), 0);
	ck_assert_int_eq(kind, DA_OWN_CODE);
	ck_assert_uint_eq(len, 48 + sizeof(insns));
	ck_assert_int_eq(da_own_code_parse(p, len, false, &out), 0);
	ck_assert(out.pid == 1 && out.maj == 8 && out.min == 3 && out.ino == in.ino &&
		  out.ino_gen == 9);
	ck_assert(out.addr == in.addr && out.time_ns == in.time_ns && out.len == in.len);
	ck_assert_mem_eq(out.bytes, insns, sizeof(insns));
	for (size_t n = 0; n < len; n++) {
		block = malloc(n ? n : 1);
		memcpy(block, p, n);
		ck_assert_int_eq(da_own_code_parse(block, n, false, &out), -DA_EDAMAGED);
		free(block);
	}
	in.len = DA_OWN_MAX_PAYLOAD;
	ck_assert_int_eq(da_own_code_build(&in, buf, sizeof(buf)), -DA_ENOMEM);
	in.len = UINT32_MAX;
	ck_assert_int_eq(da_own_code_build(&in, buf, sizeof(buf)), -DA_ENOMEM);
	in.len = 0;
	in.bytes = NULL;
	ck_assert_int_eq(da_own_code_build(&in, buf, sizeof(buf)), 80);
}
END_TEST

START_TEST(code_swapped)
{
	struct gen g = {.swap = true};
	struct da_own_code out;

	gen_u32(&g, 5);
	gen_u32(&g, 6);
	gen_u32(&g, 7);
	gen_u32(&g, 3);
	for (uint64_t i = 8; i < 12; i++)
		gen_u64(&g, i);
	gen_bytes(&g, "abc", 3);
	ck_assert_int_eq(da_own_code_parse(g.p, g.len, true, &out), 0);
	ck_assert(out.pid == 5 && out.maj == 6 && out.min == 7 && out.len == 3);
	ck_assert(out.ino == 8 && out.ino_gen == 9 && out.addr == 10 && out.time_ns == 11);
	ck_assert_mem_eq(out.bytes, "abc", 3);
	gen_free(&g);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("own");
	TCase *tc = tcase_create("own");
	SRunner *runner;
	int failed;

	tcase_add_test(tc, build_and_parse);
	tcase_add_test(tc, parse_swapped);
	tcase_add_test(tc, not_ours);
	tcase_add_test(tc, code);
	tcase_add_test(tc, code_swapped);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
