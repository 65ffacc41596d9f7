/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AMD IBS: raw samples against vectors: registers, valid bits, what is dropped and why, data sources as the
 * kernel derives them. test_ibs_dumps.c compares with what others decoded.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>

#include "ibs_sample.h"
#include "vector_text.h"

#define ZEN3 0x19, 0x01
#define ZEN4 0x19, 0x61

/* ---- vectors ---- */

static const struct {
	const char *name, *kind, *raw;
	uint32_t family, model;
	enum da_drop why;
	uint32_t has;
	uint64_t ip, vaddr, paddr, data_src;
	uint32_t size, latency;
	uint8_t op;
} vectors[] = {
#define ALWAYS (DA_HAS_OP | DA_HAS_DATA_SRC | DA_HAS_PERIOD)
	{"load, L1 hit", "ibs_op",
	 "ff03000000400e0000000000001040000000000005002800000000000000000000000000010006010000000040100000007f000040604523"
	 "010000000000000000000000",
	 ZEN3, DA_DROP_NR, ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_PADDR | DA_HAS_SIZE, 0x401000,
	 0x7f0000001040, 0x123456040, 0x229080142, 8, 0, DA_OP_READ},
	{"store", "ibs_op",
	 "ff03000000401600230100000410400000000000060029000000000000000000000000000200c6000000000048200000007f000048704523"
	 "010000000000000000000000",
	 ZEN3, DA_DROP_NR, ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_PADDR | DA_HAS_SIZE, 0x401004,
	 0x7f0000002048, 0x123457048, 0x229080144, 4, 0, DA_OP_WRITE},
	{"load from the other node's memory", "ibs_op",
	 "ff0f000000400f000000000008104000000000000900bc020000000013000000000000008d0016156c02210000300000007f000000804523"
	 "0900000000000000000000000000000000000000",
	 ZEN4, DA_DROP_NR,
	 ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_PADDR | DA_HAS_SIZE | DA_HAS_LATENCY, 0x401008,
	 0x7f0000003000, 0x923458000, 0x103a51082042, 8, 620, DA_OP_READ},
	{"load from CXL memory", "ibs_op",
	 "ff0f000000400e00000000000c1040000000000009008403000000004000000000000000810056018403000000400000007f000000804523"
	 "2000000000000000000000000000000000000000",
	 ZEN4, DA_DROP_NR,
	 ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_PADDR | DA_HAS_SIZE | DA_HAS_LATENCY, 0x40100c,
	 0x7f0000004000, 0x2023458000, 0x1229080002, 16, 900, DA_OP_READ},
	{"load, line modified in the local L3's reach", "ibs_op",
	 "ff0f000000400e0000000000101040000000000009005a00000000000100000000000000810092013200000000500000007f0000efbeadde"
	 "0000000000000000000000000000000000000000",
	 ZEN4, DA_DROP_NR, ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_SIZE | DA_HAS_LATENCY,
	 0x401010, 0x7f0000005000, 0, 0x629800842, 32, 50, DA_OP_READ},
	{"erratum 1293", "ibs_op",
	 "ff03000000400e0000000000141040000000000009005a00000000000300000000000000810007014d00000000600000007f000000904523"
	 "010000000000000000000000",
	 ZEN3, DA_DROP_NR,
	 ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_PADDR | DA_HAS_SIZE | DA_HAS_LATENCY, 0x401014,
	 0x7f0000006000, 0x123459000, 0x1829080242, 8, 77, DA_OP_READ},
	{"the same on a CPU without the erratum", "ibs_op",
	 "ff03000000400e0000000000141040000000000009005a00000000000300000000000000810007014d00000000600000007f000000904523"
	 "010000000000000000000000",
	 0x17, 0x31, DA_DROP_NR,
	 ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_PADDR | DA_HAS_SIZE | DA_HAS_LATENCY, 0x401014,
	 0x7f0000006000, 0x123459000, 0x429080442, 8, 77, DA_OP_READ},
	{"locked read-modify-write", "ibs_op",
	 "ff03000000400e0000000000181040000000000009005a00000000000000000000000000038006010000000000700000007f000000a04523"
	 "010000000000000000000000",
	 ZEN3, DA_DROP_NR, ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_PADDR | DA_HAS_SIZE, 0x401018,
	 0x7f0000007000, 0x12345a000, 0x22a080142, 8, 0, DA_OP_READ | DA_OP_WRITE},
	{"branch", "ibs_op",
	 "ff03000000400e00000000001c1040000000000003001e003800000000000000000000000000000000000000000000000000000000000000"
	 "000000000020400000000000",
	 ZEN3, DA_DROP_NOT_MEMORY, 0, 0, 0, 0, 0, 0, 0, 0},
	{"invalid IP", "ibs_op",
	 "ff03000000400e0000000000201040000000000003001e00400000000000000000000000010042000000000001800000007f000000000000"
	 "000000000000000000000000",
	 ZEN3, DA_DROP_NR, ALWAYS | DA_HAS_VADDR | DA_HAS_SIZE, 0, 0x7f0000008001, 0, 0x229080142,
	 1, 0, DA_OP_READ},
	{"software prefetch", "ibs_op",
	 "ff0f000000400e0000000000241040000000000003001e00000000000000000000000000810032000000000000900000007f000000000000"
	 "0000000000000000000000000000000000000000",
	 ZEN4, DA_DROP_PREFETCH, 0, 0, 0, 0, 0, 0, 0, 0},
	{"uncached", "ibs_op",
	 "ff0f000000400e0000000000281040000000000003001e000000000000000000000000000140c6000000000000a00000007f00000000d0fe"
	 "0000000000000000000000000000000000000000",
	 ZEN4, DA_DROP_NR, ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_PADDR | DA_HAS_SIZE, 0x401028,
	 0x7f000000a000, 0xfed00000, 0x10290c0042, 4, 0, DA_OP_READ},
	{"not valid", "ibs_op",
	 "ff03000000400a00000000002c104000000000000000000000000000000000000000000000000000000000000000000000000000000000"
	 "00000000000000000000000000",
	 ZEN3, DA_DROP_INVALID, 0, 0, 0, 0, 0, 0, 0, 0},
	{"no branch target, but data 4", "ibs_op",
	 "1f04000000400e0000000000301040000000000000000000200000000000000000000000010002010000000000b00000007f000000000000"
	 "000000005500000000000000",
	 ZEN3, DA_DROP_NR, ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_SIZE, 0x401030,
	 0x7f000000b000, 0, 0x229080142, 8, 0, DA_OP_READ},
	{"fetch", "ibs_fetch",
	 "ff030000004034126400bf06401040000000000040104088000000001100000000000000", ZEN3,
	 DA_DROP_NOT_MEMORY, 0, 0, 0, 0, 0, 0, 0, 0},
	{"fetch on Zen 4", "ibs_fetch",
	 "ff0f00000040000064000738801040000000000080104088000000000300000000000000", ZEN4,
	 DA_DROP_NOT_MEMORY, 0, 0, 0, 0, 0, 0, 0, 0},
	{"fetch without extension", "ibs_fetch",
	 "ff0100000040000000000300c0104000000000000000000000000000", ZEN3, DA_DROP_NOT_MEMORY, 0, 0,
	 0, 0, 0, 0, 0, 0},
};

START_TEST(vector)
{
	uint8_t raw[128];
	struct da_input in = {
		.bytes = raw, .cpu_family = vectors[_i].family, .cpu_model = vectors[_i].model};
	struct da_report r;

	in.len = from_hex(vectors[_i].raw, raw, sizeof(raw));
	ck_assert_int_eq(decode(vectors[_i].kind, &in, &r), vectors[_i].why);
	ck_assert_msg(r.has == vectors[_i].has, "%s: has %x, not %x", vectors[_i].name, r.has,
		      vectors[_i].has);
	ck_assert_msg(r.data_src == vectors[_i].data_src, "%s: data source %" PRIx64,
		      vectors[_i].name, r.data_src);
	ck_assert_msg(r.ip == vectors[_i].ip && r.vaddr == vectors[_i].vaddr &&
			      r.paddr == vectors[_i].paddr && r.size == vectors[_i].size &&
			      r.latency == vectors[_i].latency && r.op == vectors[_i].op,
		      "%s: ip %" PRIx64 " address %" PRIx64 " %" PRIx64 " size %u latency %u op %u",
		      vectors[_i].name, r.ip, r.vaddr, r.paddr, r.size, r.latency, r.op);
	ck_assert_uint_eq(r.how, vectors[_i].why == DA_DROP_NR ? DA_HOW_HARDWARE : DA_HOW_NONE);
	ck_assert_uint_eq(r.paddr_how, r.has & DA_HAS_PADDR ? DA_PADDR_SAMPLED : DA_PADDR_NONE);
}
END_TEST

/* Cut anywhere: truncated while a register that all have is missing, else decoded without the rest. */
START_TEST(every_length)
{
	bool fetch = !strcmp(vectors[_i].kind, "ibs_fetch");
	uint8_t raw[128];
	size_t n = from_hex(vectors[_i].raw, raw, sizeof(raw)), least = fetch ? 3 * 8 : 7 * 8;
	struct da_report r;

	for (size_t len = 1; len <= n; len++) {
		struct da_input in = {.bytes = raw, .len = len, .ibs_caps = 0xfff};
		enum da_drop why = decode(vectors[_i].kind, &in, &r);

		/* without four odd bytes it would be registers alone */
		ck_assert_msg((why == DA_DROP_TRUNCATED) ==
				      (len - (len % 8 ? 4 : 0) < least || len < least),
			      "%s, %zu bytes: %d", vectors[_i].name, len, why);
	}
}
END_TEST

START_TEST(empty)
{
	struct decode_result res = {0};
	struct da_sink sink = decode_sink(&res, false);
	struct da_input in = {.bytes = NULL, .last = true};

	ck_assert_uint_eq(da_decoder_find("ibs_op")->decode(NULL, &in, &sink, &res.stats), 0);
	ck_assert_uint_eq(da_decoder_find("ibs_fetch")->decode(NULL, &in, &sink, &res.stats), 0);
	ck_assert_uint_eq(res.calls, 0);
}
END_TEST

/* ---- optional slots ---- */

START_TEST(slots)
{
	struct sample s = {.caps = 0xfff, .more = {0x11, 0x22}, .nr_more = 2};
	struct da_ibs_op op;
	uint8_t raw[128];

	ck_assert(da_ibs_read_op(raw, put(raw, &s), 0, &op));
	ck_assert(op.has_target && op.target == 0x11 && op.has_data4 && op.data4 == 0x22);
	s.caps = 0xfff & ~0x20u; /* no branch target: data 4 moves up */
	s.nr_more = 1;
	ck_assert(da_ibs_read_op(raw, put(raw, &s), 0, &op));
	ck_assert(!op.has_target && op.has_data4 && op.data4 == 0x11);
	s.caps = 0x3ff;
	ck_assert(da_ibs_read_op(raw, put(raw, &s), 0, &op));
	ck_assert(op.has_target && op.target == 0x11 && !op.has_data4);
	s.nr_more = 0; /* caps promise what is not there */
	s.caps = 0xfff;
	ck_assert(da_ibs_read_op(raw, put(raw, &s), 0, &op));
	ck_assert(!op.has_target && !op.has_data4);
	/* registers without caps before them: the caller's caps count; else the payload's do */
	s.nr_more = 2;
	ck_assert(da_ibs_read_op(raw + 4, put(raw, &s) - 4, 0xfff & ~0x20u, &op));
	ck_assert(op.caps == (0xfff & ~0x20u) && !op.has_target && op.data4 == 0x11);
	ck_assert(da_ibs_read_op(raw, put(raw, &s), 0x1f, &op));
	ck_assert_uint_eq(op.caps, 0xfff);
}
END_TEST

/* ---- valid bits and data sources ---- */

enum {
	LD = 1 << 0,
	ST = 1 << 1,
	L1TLB_MISS = 1 << 2,
	L2TLB_MISS = 1 << 3,
	DC_MISS = 1 << 7,
	UC = 1 << 14,
	LOCK = 1 << 15,
	NO_MAB = 1 << 16,
	LIN = 1 << 17,
	PHYS = 1 << 18,
	L2_MISS = 1 << 20,
	SWPF = 1 << 21
};

START_TEST(valid_bits)
{
	static const struct {
		uint64_t ctl, data3;
		enum da_drop why;
		uint32_t addresses;
	} rows[] = {
		{GOOD, LD | LIN | PHYS, DA_DROP_NR, DA_HAS_VADDR | DA_HAS_PADDR},
		{GOOD, LD | LIN, DA_DROP_NR, DA_HAS_VADDR},
		{GOOD, ST | PHYS, DA_DROP_NR, DA_HAS_PADDR}, /* does occur */
		{GOOD, LD, DA_DROP_INVALID, 0},
		{GOOD, LIN | PHYS, DA_DROP_NOT_MEMORY, 0},
		{GOOD, LD | SWPF | LIN, DA_DROP_PREFETCH, 0},
		{1u << 17, LD | LIN, DA_DROP_INVALID, 0},
		{1u << 18, LD | LIN, DA_DROP_INVALID, 0},
		{0, LD | LIN, DA_DROP_INVALID, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* addresses of 0, which is one where its bit is set */
		struct sample s = {.caps = 0x3ff, .ctl = rows[i].ctl, .data3 = rows[i].data3};
		struct da_report r;

		ck_assert_int_eq(decode_sample(&s, &r), rows[i].why);
		ck_assert_uint_eq(r.has & (DA_HAS_VADDR | DA_HAS_PADDR), rows[i].addresses);
	}
}
END_TEST

START_TEST(base_is_kept)
{
	struct sample s = {.caps = 0x3ff,
			   .ctl = GOOD | 0x4000,
			   .rip = 0x401000,
			   .data1 = (uint64_t)1 << 38,
			   .data3 = LD | LIN,
			   .lin = 0xff110008a5398920};
	struct da_report base = {.has = DA_HAS_IP | DA_HAS_TASK | DA_HAS_PERIOD | DA_HAS_TIME,
				 .ip = 0x402000,
				 .pid = 7,
				 .tid = 8,
				 .period = 99,
				 .time_ns = 5,
				 .event = 2};
	uint8_t raw[128];
	struct da_input in = {.bytes = raw, .len = put(raw, &s), .base = &base};
	struct da_report r;

	/* the record's IP is invalid: that of the interrupt, which the caller knows, stays */
	ck_assert_int_eq(decode("ibs_op", &in, &r), DA_DROP_NR);
	ck_assert(r.ip == 0x402000 && r.pid == 7 && r.tid == 8 && r.period == 99 &&
		  r.time_ns == 5 && r.event == 2);
	ck_assert_uint_eq(r.vaddr, 0xff110008a5398920); /* a kernel address with 5-level paging */
	s.data1 = 0;
	in.len = put(raw, &s);
	in.base = NULL;
	ck_assert_int_eq(decode("ibs_op", &in, &r), DA_DROP_NR);
	ck_assert(r.ip == 0x401000 && r.period == 0x40000);
	/* bit 38 means something only with its capability */
	s.data1 = (uint64_t)1 << 38;
	s.caps = 0x3ff & ~0x80u;
	in.len = put(raw, &s);
	decode("ibs_op", &in, &r);
	ck_assert(r.has & DA_HAS_IP && r.ip == 0x401000);
}
END_TEST

#define OLD  0x3ff
#define NEW  0xfff
#define MISS (LD | LIN | DC_MISS | L2_MISS)
/* what all these loads have: TLB L1 hit, no lock, snoop unknown */
#define REST 0x29080002u
#define HITM 0x29800002u

START_TEST(data_sources)
{
	static const struct {
		uint32_t caps, family, model;
		uint64_t data2, data3, want;
	} rows[] = {
		{OLD, 0x17, 0x31, 0, LD | LIN, REST | 0x200000140},
		{OLD, 0x17, 0x31, 0, LD | LIN | DC_MISS, REST | 0x400000440},
		{OLD, 0x17, 0x31, 2, MISS, HITM | 0x80000008840 | 0x1600000000},
		{OLD, 0x17, 0x31, 2 | 0x20, MISS, REST | 0x80000008840 | 0x1600000000},
		{OLD, 0x17, 0x31, 3, MISS, REST | 0x1a00001040},
		{OLD, 0x17, 0x31, 3 | 0x10, MISS, REST | 0x103a00002040},
		{OLD, 0x17, 0x31, 4, MISS, REST | 0x103600010040},
		{OLD, 0x17, 0x31, 7, MISS, REST | 0x1400020040},
		{OLD, 0x17, 0x31, 5, MISS, REST | 0x1e00000020},
		{OLD, 0x17, 0x31, 5, MISS | NO_MAB, REST | 0x1800000240},
		{OLD, 0x17, 0x31, 8 << 3, MISS, REST | 0x1e00000020}, /* three bits only */
		{NEW, 0x1a, 0x02, 1, MISS, HITM | 0x600000840},
		{NEW, 0x1a, 0x02, 2, MISS, HITM | 0x83600008040},
		{NEW, 0x1a, 0x02, 5, MISS, HITM | 0x103600010040},
		{NEW, 0x1a, 0x02, 6, MISS, REST | 0x1c00000000},
		{NEW, 0x1a, 0x02, 6 | 0x10, MISS, REST | 0x103c00000000},
		{NEW, 0x1a, 0x02, 0x40, MISS, REST | 0x1200000000},
		{NEW, 0x1a, 0x02, 0x40 | 0x10, MISS, REST | 0x103200000000},
		{NEW, 0x1a, 0x02, 7, MISS | UC, REST | 0x1400020040},
		{NEW, 0x1a, 0x02, 3, MISS | UC, REST | 0x1000040040},
		{NEW, 0x1a, 0x02, 4, MISS, REST | 0x1e00000020},
		{NEW, 0x1a, 0x02, 0xc0, MISS, REST | 0x1e00000020},
		/* these models cannot tell a modified line */
		{NEW, 0x19, 0x11, 1, MISS, HITM | 0x600000840},
		{NEW, 0x19, 0x21, 1, MISS, REST | 0x600000840},
		{OLD, 0x19, 0x0f, 2, MISS, REST | 0x80000008840 | 0x1600000000},
		{OLD, 0x19, 0x10, 2, MISS, HITM | 0x80000008840 | 0x1600000000},
		{NEW, 0x19, 0x5f, 1, MISS, REST | 0x600000840},
		{NEW, 0x19, 0x60, 1, MISS, HITM | 0x600000840},
		/* stores have no source */
		{OLD, 0x17, 0x31, 3, ST | LIN | DC_MISS | L2_MISS, 0x1e29080024},
		/* TLB and lock */
		{OLD, 0x17, 0x31, 0, LD | PHYS, 0x205080142},
		{OLD, 0x17, 0x31, 0, LD | LIN | L1TLB_MISS, 0x249080142},
		{OLD, 0x17, 0x31, 0, LD | LIN | L1TLB_MISS | L2TLB_MISS | LOCK, 0x252080142},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sample s = {.caps = rows[i].caps,
				   .family = rows[i].family,
				   .model = rows[i].model,
				   .ctl = GOOD,
				   .data2 = rows[i].data2,
				   .data3 = rows[i].data3};
		struct da_report r;

		ck_assert_int_eq(decode_sample(&s, &r), DA_DROP_NR);
		ck_assert_msg(r.data_src == rows[i].want, "row %zu: %" PRIx64 ", not %" PRIx64, i,
			      r.data_src, rows[i].want);
	}
}
END_TEST

START_TEST(no_memory_operation)
{
	struct da_ibs_op op = {0};

	ck_assert_uint_eq(da_ibs_data_src(&op, 0, 0), 0x1e05080021);
}
END_TEST

START_TEST(widths)
{
	for (uint64_t code = 0; code < 16; code++) {
		struct sample s = {.caps = 0x3ff, .ctl = GOOD, .data3 = LD | LIN | code << 22};
		struct da_report r;

		decode_sample(&s, &r);
		if (code >= 1 && code <= 7)
			ck_assert(r.has & DA_HAS_SIZE && r.size == 1u << (code - 1));
		else
			ck_assert(!(r.has & DA_HAS_SIZE) && !r.size);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ibs");
	TCase *t = tcase_create("ibs");
	SRunner *r;
	int failed;

	tcase_add_loop_test(t, vector, 0, (int)(sizeof(vectors) / sizeof(vectors[0])));
	tcase_add_loop_test(t, every_length, 0, (int)(sizeof(vectors) / sizeof(vectors[0])));
	tcase_add_test(t, empty);
	tcase_add_test(t, slots);
	tcase_add_test(t, valid_bits);
	tcase_add_test(t, base_is_kept);
	tcase_add_test(t, data_sources);
	tcase_add_test(t, no_memory_operation);
	tcase_add_test(t, widths);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
