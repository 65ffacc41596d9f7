/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes without a container through the offline decode: what the option may say, records that lie across the
 * pieces that a large file is decoded in, and that neither parts nor threads change anything.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gen_spe.h"
#include "da_decoder.h"
#include "da_error.h"
#include "da_offline.h"
#include "perfgen.h"

#define MANY (9u << 20) /* bytes: three pieces of the reader */

static struct da_error err;

START_TEST(options)
{
	static const struct {
		const char *text;
		struct da_raw want;
	} good[] = {
		{"spe", {.kind = DA_RAW_SPE}},
		{"spe,hz=1000000000,midr=0x410fd0c0",
		 {.kind = DA_RAW_SPE, .hz = 1000000000, .midr = 0x410fd0c0}},
		{"pebs:core", {.kind = DA_RAW_PEBS, .pebs_format = 0}},
		{"pebs:nhm,source=load-nhm",
		 {.kind = DA_RAW_PEBS, .pebs_format = 1, .pebs_source = DA_PEBS_SRC_LOAD_NHM}},
		{"pebs:hsw,source=store-datala",
		 {.kind = DA_RAW_PEBS, .pebs_format = 2, .pebs_source = DA_PEBS_SRC_DATALA_STORE}},
		{"pebs:skl,hz=1", {.kind = DA_RAW_PEBS, .pebs_format = 3, .hz = 1}},
		{"pebs:v6,source=store-lnc",
		 {.kind = DA_RAW_PEBS, .pebs_format = 6, .pebs_source = DA_PEBS_SRC_STORE_LNC}},
	};
	static const char *const bad[] = {"",
					  "sp",
					  "spe,",
					  "spe:x",
					  "spe,hz",
					  "spe,hz=",
					  "spe,hz=-1",
					  "spe,hz=0x",
					  "spe,source=x",
					  "pebs",
					  "pebs:",
					  "pebs:ski",
					  "pebs:skl,",
					  "pebs:skl,source=load",
					  "pebs:skl,midr=1",
					  "pebsskl",
					  "spe,hz=99999999999999999999",
					  "spe,hz=100000000001"};
	struct da_raw raw;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ck_assert_msg(!da_raw_parse(good[i].text, &raw, &err), "%s: %s", good[i].text,
			      err.msg);
		ck_assert_int_eq(raw.kind, good[i].want.kind);
		ck_assert_uint_eq(raw.midr, good[i].want.midr);
		ck_assert_uint_eq(raw.hz, good[i].want.hz);
		ck_assert_uint_eq(raw.pebs_format, good[i].want.pebs_format);
		ck_assert_uint_eq(raw.pebs_source, good[i].want.pebs_source);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		memset(&err, 0, sizeof(err));
		ck_assert_msg(da_raw_parse(bad[i], &raw, &err) == -DA_EUSAGE && *err.msg,
			      "'%s' is taken", bad[i]);
	}
}
END_TEST

struct seen {
	uint64_t reports, sum_of_addresses, last_ns;
};

static bool see(void *ctx, const struct da_offline *o, const struct da_report *r)
{
	struct seen *s = ctx;

	(void)o;
	ck_assert(r->has & DA_HAS_TASK);
	s->reports++;
	s->sum_of_addresses += r->has & DA_HAS_VADDR ? r->vaddr : 0;
	if (r->has & DA_HAS_TIME)
		s->last_ns = r->time_ns;
	return true;
}

/* Decodes all; threads 0: report by report instead, into *seen. */
static struct da_ledger decode(const char *path, const struct da_raw *raw, unsigned threads,
			       uint64_t part, struct seen *seen, bool *damaged)
{
	struct da_offline_opts o = {.raw = raw,
				    .match = {.virt = true,
					      .accumulate = true,
					      .regions = DA_REGIONS_FIXED,
					      .fixed_bytes = 2 << 20},
				    .threads = threads,
				    .aux_part = part,
				    .report = threads ? NULL : see,
				    .ctx = seen};
	struct da_offline *off;
	struct da_ledger sum;

	ck_assert_msg(!da_offline_open(&off, path, &o, &err), "%s", err.msg);
	ck_assert_msg(!da_offline_run(off, &err), "%s", err.msg);
	sum = da_offline_result(off)->ledger;
	*damaged = da_offline_result(off)->damaged;
	ck_assert(da_ledger_conserves(&sum, NULL));
	da_offline_close(off);
	return sum;
}

static void any_parts(const struct gen *bytes, const struct da_raw *raw, uint64_t records,
		      uint64_t reports, uint64_t addresses)
{
	char *path = gen_write(bytes->p, bytes->len);
	struct seen seen = {0};
	struct da_ledger one, parts, other;
	bool damaged;

	one = decode(path, raw, 0, 0, &seen, &damaged);
	ck_assert(!damaged);
	ck_assert_uint_eq(one.in[DA_STAGE_SAMPLE], records);
	ck_assert_uint_eq(seen.reports, reports);
	ck_assert_uint_eq(seen.sum_of_addresses, addresses);
	ck_assert_uint_gt(seen.last_ns, 0);
	ck_assert_uint_eq(one.out[DA_STAGE_MATCH], reports);
	/* credits of an interval begin anew with each part; all before them does not */
	parts = decode(path, raw, 1, 1, NULL, &damaged);
	for (int i = 0; i <= DA_STAGE_MATCH; i++)
		ck_assert(one.in[i] == parts.in[i] && one.out[i] == parts.out[i]);
	ck_assert(!damaged);
	other = decode(path, raw, 3, 1, NULL, &damaged);
	ck_assert(!damaged && !memcmp(&parts, &other, sizeof(parts)));
	gen_unlink(path);
}

START_TEST(spe_in_parts)
{
	const struct da_raw raw = {.kind = DA_RAW_SPE, .hz = 1000000000};
	struct gen_spe gen = gen_spe_new(7, GEN_SPE_COMPACT);
	uint64_t records = 0, reports = 0, addresses = 0;
	struct gen g = {0};

	while (g.len < MANY) {
		uint8_t b[GEN_SPE_MAX];

		gen_bytes(&g, b, gen_spe_record(&gen, b));
		records++;
		reports += gen.last.memory;
		addresses += gen.last.memory ? gen.last.va : 0;
	}
	any_parts(&g, &raw, records, reports, addresses);
	gen_free(&g);
}
END_TEST

START_TEST(pebs_in_parts)
{
	const struct da_raw raw = {.kind = DA_RAW_PEBS,
				   .hz = 2800000000,
				   .pebs_format = 3,
				   .pebs_source = DA_PEBS_SRC_LOAD_SKL};
	uint64_t records = 0, addresses = 0;
	struct gen g = {.swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__};

	for (; g.len < MANY; records++) { /* of 200 bytes, which no piece is a multiple of */
		uint64_t w[25] = {0};

		w[19] = 0x7f0000000000 + 64 * records;
		w[24] = 1000 + records;
		addresses += w[19];
		for (unsigned i = 0; i < 25; i++)
			gen_u64(&g, w[i]);
	}
	any_parts(&g, &raw, records, records, addresses);
	gen_free(&g);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("offline_raw");
	TCase *tc = tcase_create("all");
	SRunner *sr;
	int failed;

	tcase_set_timeout(tc, 0);
	tcase_add_test(tc, options);
	tcase_add_test(tc, spe_in_parts);
	tcase_add_test(tc, pebs_in_parts);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
