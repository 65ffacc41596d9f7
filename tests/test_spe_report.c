/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arm SPE: the access report of one record, field by field: addresses, operations, data sources of each kind
 * of CPU, and what is dropped and why. Data sources also against ../shared's file of what perf says.
 */
#include <check.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>

#include "da_spe.h"
#include "fuzz/decode_run.h"
#include "vector_text.h"

#define N1  0x00000000410fd0c0u
#define HIP 0x00000000480fd010u /* a HiSilicon core without a source encoding */

#define PC "b000104000000000 80"
#define VA "b2402000 00aaaa0000"
#define TS "7110270000 00000000"

/* Decodes one record; the reason if it gave no report, else DA_DROP_NR. */
static enum da_drop one_report(const char *hex, uint64_t midr, const struct da_report *base,
			       struct da_report *out)
{
	struct decode_result res = {0};
	struct da_sink sink = decode_sink(&res, false);
	struct da_spe_state *st = decode_must(calloc(1, sizeof(*st)));
	uint8_t bytes[128];
	struct da_input in = {.bytes = bytes,
			      .len = from_hex(hex, bytes, sizeof(bytes)),
			      .midr = midr,
			      .base = base,
			      .last = true};
	enum da_drop why = DA_DROP_NR;

	da_spe_decode(st, &in, &sink, &res.stats);
	ck_assert(decode_balanced(&res));
	ck_assert_uint_eq(res.calls, 1);
	for (int i = 0; i < DA_DROP_NR; i++)
		if (res.drops[i])
			why = (enum da_drop)i;
	if (out)
		memset(out, 0, sizeof(*out));
	if (out && res.nr)
		*out = res.reports[0];
	decode_release(&res);
	free(st);
	return why;
}

START_TEST(all_fields)
{
	struct da_report r;

	ck_assert_int_eq(one_report(PC "65d20400004900" VA
				       "b3402000341200 05c0 521603982a004308" TS,
				    N1, NULL, &r),
			 DA_DROP_NR);
	ck_assert_uint_eq(r.has, DA_HAS_IP | DA_HAS_VADDR | DA_HAS_TAG | DA_HAS_PADDR |
					 DA_HAS_LATENCY | DA_HAS_EVENTS | DA_HAS_OP |
					 DA_HAS_DATA_SRC | DA_HAS_TID | DA_HAS_TICKS);
	ck_assert_uint_eq(r.ip, 0x401000);
	ck_assert_uint_eq(r.ctx, DA_CTX_USER);
	ck_assert_uint_eq(r.vaddr, 0xaaaa00002040);
	ck_assert_uint_eq(r.tag, 0);
	ck_assert_uint_eq(r.paddr, 0x5001234002040);
	ck_assert_uint_eq(r.paddr_how, DA_PADDR_SAMPLED);
	ck_assert_uint_eq(r.latency, 42);
	ck_assert_uint_eq(r.hw_events, 0x316);
	ck_assert_uint_eq(r.op, DA_OP_READ);
	ck_assert_uint_eq(r.how, DA_HOW_HARDWARE);
	ck_assert_uint_eq(r.tid, 1234);
	ck_assert_uint_eq(r.pid, 0);
	ck_assert_uint_eq(r.time_ns, 10000);
	ck_assert_uint_eq(r.data_src, 0x488100442);
}
END_TEST

START_TEST(addresses)
{
	struct da_report r;

	/* an address of 0 is one */
	ck_assert_int_eq(one_report("4900b20000000000000000 01", N1, NULL, &r), DA_DROP_NR);
	ck_assert_uint_eq(r.has & (DA_HAS_VADDR | DA_HAS_IP | DA_HAS_PADDR), DA_HAS_VADDR);
	ck_assert_uint_eq(r.vaddr, 0);
	ck_assert_uint_eq(r.ctx, DA_CTX_UNKNOWN);
	/* a physical one alone too */
	ck_assert_int_eq(one_report("4901b3000000000000 0080 01", N1, NULL, &r), DA_DROP_NR);
	ck_assert_uint_eq(r.has & (DA_HAS_VADDR | DA_HAS_TAG | DA_HAS_PADDR), DA_HAS_PADDR);
	ck_assert_uint_eq(r.paddr, 0);
	/* kernel address whose top byte holds a tag, or was lost; user address with a tag */
	one_report("4900b2002008800000ffb401", N1, NULL, &r);
	ck_assert_uint_eq(r.vaddr, 0xffff000080082000);
	ck_assert_uint_eq(r.tag, 0xb4);
	one_report("4900b2c026c20720fcff0001", N1, NULL, &r);
	ck_assert_uint_eq(r.vaddr, 0xfffffc2007c226c0);
	ck_assert_uint_eq(r.tag, 0);
	one_report("4900b20020000000 0080b401", N1, NULL, &r);
	ck_assert_uint_eq(r.vaddr, 0x0080000000002000);
	ck_assert_uint_eq(r.tag, 0xb4);
	one_report("4900b200200000 0000e05501", N1, NULL, &r); /* all of bits 55:52 must be set */
	ck_assert_uint_eq(r.vaddr, 0x00e0000000002000);
	ck_assert_uint_eq(r.tag, 0x55);
	/* instructions: EL1 and EL2, non-secure; secure; EL3 */
	one_report("b00008 80008000ffa0 4900" VA "01", N1, NULL, &r);
	ck_assert_uint_eq(r.ip, 0xffff008000800800);
	ck_assert_uint_eq(r.ctx, DA_CTX_KERNEL);
	one_report("b00008 80008000ffc0 4900" VA "01", N1, NULL, &r);
	ck_assert_uint_eq(r.ip, 0xffff008000800800);
	ck_assert_uint_eq(r.ctx, DA_CTX_KERNEL);
	one_report("b00008 80008000ff20 4900" VA "01", N1, NULL, &r);
	ck_assert_uint_eq(r.ip, 0x00ff008000800800);
	ck_assert_uint_eq(r.ctx, DA_CTX_KERNEL);
	one_report("b00008 80008000ffe0 4900" VA "01", N1, NULL, &r);
	ck_assert_uint_eq(r.ip, 0x00ff008000800800);
	ck_assert_uint_eq(r.ctx, DA_CTX_UNKNOWN);
}
END_TEST

/* what the caller knows, and what the record knows better */
START_TEST(base)
{
	struct da_report b = {.has = DA_HAS_TASK | DA_HAS_TIME | DA_HAS_CPU | DA_HAS_PERIOD |
				     DA_HAS_PADDR,
			      .event = 3,
			      .cpu = 5,
			      .pid = 70,
			      .tid = 71,
			      .time_ns = 99,
			      .period = 1024,
			      .paddr = 7,
			      .ip = 8,
			      .how = DA_HOW_DECODED};
	struct da_report r;

	one_report("4900" VA "01", N1, &b, &r);
	ck_assert_uint_eq(
		r.has & ~(unsigned)(DA_HAS_VADDR | DA_HAS_TAG | DA_HAS_OP | DA_HAS_DATA_SRC),
		DA_HAS_TASK | DA_HAS_TIME | DA_HAS_CPU | DA_HAS_PERIOD);
	ck_assert(r.event == 3 && r.cpu == 5 && r.pid == 70 && r.tid == 71 && r.time_ns == 99 &&
		  r.period == 1024);
	ck_assert(r.ip == 0 && r.paddr == 0 && r.how == DA_HOW_HARDWARE);
	one_report("65d20400004900" VA TS, N1, &b, &r);
	ck_assert_uint_eq(r.has & (DA_HAS_TASK | DA_HAS_TID | DA_HAS_TIME | DA_HAS_TICKS),
			  DA_HAS_TID | DA_HAS_TICKS);
	ck_assert(r.pid == 0 && r.tid == 1234 && r.time_ns == 10000 && r.event == 3);
}
END_TEST

/* clang-format off */
static const struct {
	const char *op;
	int rw; /* enum da_op bits; -1: not_memory even with an address; 0: a report without direction */
	enum da_drop without; /* an address */
} ops[] = {
	{"4900", DA_OP_READ, DA_DROP_ADDR_NONE},  {"4901", DA_OP_WRITE, DA_DROP_ADDR_NONE},
	{"4904", DA_OP_READ, DA_DROP_ADDR_NONE},  {"4905", DA_OP_WRITE, DA_DROP_ADDR_NONE}, /* SIMD */
	{"4910", DA_OP_READ, DA_DROP_ADDR_NONE},  {"4911", DA_OP_WRITE, DA_DROP_ADDR_NONE},
	{"4930", DA_OP_READ, DA_DROP_ADDR_NONE},  {"4931", DA_OP_WRITE, DA_DROP_ADDR_NONE},
	{"4920", DA_OP_READ, DA_DROP_ADDR_NONE},  {"4921", DA_OP_WRITE, DA_DROP_ADDR_NONE}, /* copy */
	{"4924", DA_OP_READ, DA_DROP_ADDR_NONE},  {"4925", DA_OP_WRITE, DA_DROP_ADDR_NONE}, /* -, set */
	{"4908", DA_OP_READ, DA_DROP_ADDR_NONE},  {"498d", DA_OP_WRITE, DA_DROP_ADDR_NONE}, /* SVE */
	{"4940", DA_OP_READ, DA_DROP_ADDR_NONE},  {"4945", DA_OP_WRITE, DA_DROP_ADDR_NONE}, /* GCS */
	/* extended: plain, exclusive, acquire; atomic */
	{"4902", DA_OP_READ, DA_DROP_ADDR_NONE},  {"490b", DA_OP_WRITE, DA_DROP_ADDR_NONE},
	{"4912", DA_OP_READ, DA_DROP_ADDR_NONE},  {"4906", DA_OP_READ | DA_OP_WRITE, DA_DROP_ADDR_NONE},
	{"491f", DA_OP_READ | DA_OP_WRITE, DA_DROP_ADDR_NONE},
	/* MTE tags */
	{"4914", -1, DA_DROP_NOT_MEMORY},	  {"4915", -1, DA_DROP_NOT_MEMORY},
	/* other; SVE and SME data processing; branches */
	{"4800", 0, DA_DROP_NOT_MEMORY},	  {"4801", 0, DA_DROP_NOT_MEMORY},
	{"4808", -1, DA_DROP_NOT_MEMORY},	  {"480a", -1, DA_DROP_NOT_MEMORY},
	{"4888", -1, DA_DROP_NOT_MEMORY},	  {"4a00", -1, DA_DROP_NOT_MEMORY},
	{"4a16", -1, DA_DROP_NOT_MEMORY},
	/* reserved class, no operation packet; two of them */
	{"4b00", 0, DA_DROP_ADDR_NONE},		  {"", 0, DA_DROP_ADDR_NONE},
	{"49004901", DA_OP_READ | DA_OP_WRITE, DA_DROP_ADDR_NONE},
};
/* clang-format on */

START_TEST(operations)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct da_report r;
		char hex[128];

		snprintf(hex, sizeof(hex), PC "%s 01", ops[i].op);
		ck_assert_msg(one_report(hex, N1, NULL, NULL) == ops[i].without,
			      "op %s without address", ops[i].op);
		snprintf(hex, sizeof(hex), PC "%s" VA "01", ops[i].op);
		if (ops[i].rw < 0) {
			ck_assert_msg(one_report(hex, N1, NULL, NULL) == DA_DROP_NOT_MEMORY,
				      "op %s", ops[i].op);
			continue;
		}
		ck_assert_msg(one_report(hex, N1, NULL, &r) == DA_DROP_NR, "op %s with address",
			      ops[i].op);
		ck_assert_msg(r.op == ops[i].rw, "op %s: %u", ops[i].op, r.op);
		ck_assert_uint_eq(!!(r.has & DA_HAS_OP), ops[i].rw > 0);
		ck_assert_uint_eq(!!(r.has & DA_HAS_DATA_SRC), ops[i].rw > 0);
	}
}
END_TEST

START_TEST(reserved_packets)
{
	struct decode_result res = {0};
	struct da_sink sink = decode_sink(&res, true);
	struct da_spe_state *st = decode_must(calloc(1, sizeof(*st)));
	uint8_t bytes[128];
	struct da_input in = {.bytes = bytes, .last = true};

	in.len = from_hex("4b00 b50000000000000000 9b0100 21b10000000000000000 01 4900" VA "01",
			  bytes, sizeof(bytes));
	da_spe_decode(st, &in, &sink, &res.stats);
	ck_assert_uint_eq(res.stats.reserved_packets, 4);
	ck_assert_uint_eq(res.stats.records, 2);
	decode_release(&res);
	free(st);
}
END_TEST

static const struct {
	uint64_t midr;
	const char *packets;
	uint64_t data_src;
} sources[] = {
	{N1, "49004300", 0x200100142},
	{N1, "49004308", 0x400100442},
	{N1, "49004309", 0x8400000442},
	{N1, "4900430a", 0x8600000842},
	{N1, "4900430b", 0x600200842},
	{N1, "4900430c", 0x8600000842},
	{N1, "4900430d", 0xbe00000022},
	{N1, "4900430e", 0x1a00101042},
	{N1, "49004305", 0x2},
	{N1, "4900530e00", 0x1a00101042},
	{N1, "4900530e01", 0x2}, /* sources have 16 bits */
	{N1, "4900", 0x2},       /* no source is not source 0 */
	{N1, "49014308", 0x1e00080024},
	{N1, "4901", 0x1e00080024},
	{N1, "49064308", 0x400100442},
	{N1, "49005212004300", 0x288100142},
	{N1, "49005232004300", 0x290100142},
	{N1, "4900522000", 0x90000002},
	/* by events */
	{HIP, "4900520400", 0x142},
	{HIP, "4900520c00", 0x182},
	{HIP, "4900520001", 0x842},
	{HIP, "4900520003", 0x882},
	{HIP, "4900520007", 0x2000000882},
	{HIP, "4900520000", 0x2},
	{HIP, "49004308", 0x2},
	{HIP, "4901520400", 0x144},
	{HIP, "4901", 0x4},
	{0, "4901", 0x4},
	/* AmpereOne, values of its own */
	{0xc00fac40, "49004300", 0x8400000442},
	{0xc00fac40, "49004303", 0x600200842},
	{0xc00fac40, "49004305", 0xbe00000022},
	{0xc00fac40, "49004307", 0x1a00101042},
	{0xc00fac40, "49004308", 0x200100142},
	{0xc00fac40, "49004309", 0x400100442},
	{0xc00fac40, "4900430a", 0x2},
	{0xc00fac40, "49014307", 0x1e00080024},
	/* HIP12 */
	{0x480fd060, "49004312", 0x200100142},
	{0x480fd060, "49004310", 0x400100442},
	{0x480fd060, "49004308", 0x1a00101042},
	{0x480fd060, "49004307", 0xb600810002},
	{0x480fd060, "4900430f", 0x2},
	/* V2 as N1; revision and variant do not matter */
	{0x413fd4f1, "49004300", 0x200100142},
};

START_TEST(data_sources)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		struct da_report r;
		char hex[128];

		snprintf(hex, sizeof(hex), PC "%s" VA "01", sources[i].packets);
		ck_assert_int_eq(one_report(hex, sources[i].midr, NULL, &r), DA_DROP_NR);
		ck_assert_msg(r.data_src == sources[i].data_src, "%s on %" PRIx64 ": %" PRIx64,
			      sources[i].packets, sources[i].midr, r.data_src);
	}
}
END_TEST

START_TEST(data_source_file)
{
	char path[512];
	const char *file = shared_file("formats/vectors/spe_datasrc.json", path, sizeof(path));
	struct json_object *all;

	if (!file)
		return;
	all = json_object_from_file(file);
	ck_assert_ptr_nonnull(all);
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *v = json_object_array_get_idx(all, i);
		uint64_t midr = strtoull(json_object_get_string(json_object_array_get_idx(v, 1)),
					 NULL, 16),
			 want;
		const char *text = json_object_get_string(json_object_array_get_idx(v, 3));
		struct da_report r;
		char hex[128];

		ck_assert_int_eq(sscanf(text, "memory: %" SCNx64, &want), 1);
		snprintf(hex, sizeof(hex), PC "%s" VA "710a00000000000000",
			 json_object_get_string(json_object_array_get_idx(v, 2)));
		ck_assert_int_eq(one_report(hex, midr, NULL, &r), DA_DROP_NR);
		ck_assert_msg(r.data_src == want, "%s: %" PRIx64, text, r.data_src);
	}
	json_object_put(all);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("spe_report");
	TCase *t = tcase_create("report");
	SRunner *r;
	int failed;

	tcase_add_test(t, all_fields);
	tcase_add_test(t, addresses);
	tcase_add_test(t, base);
	tcase_add_test(t, operations);
	tcase_add_test(t, reserved_packets);
	tcase_add_test(t, data_sources);
	tcase_add_test(t, data_source_file);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
