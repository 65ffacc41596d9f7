/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AMD IBS: raw samples against vectors: registers, valid bits, what is dropped and why, data sources as the
 * kernel derives them. With ../shared beside the checkout also against what perf printed of the vectors, and
 * against published register dumps.
 */
#include <check.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <unistd.h>

#include "da_ibs.h"
#include "fuzz/decode_run.h"

#define ZEN3 0x19, 0x01
#define ZEN4 0x19, 0x61

static size_t from_hex(const char *hex, uint8_t *out, size_t max)
{
	size_t n = 0;
	unsigned byte;

	for (; *hex; hex += 2) {
		ck_assert_uint_eq(sscanf(hex, "%2x", &byte), 1);
		ck_assert_uint_lt(n, max);
		out[n++] = (uint8_t)byte;
	}
	return n;
}

struct sample {
	uint32_t caps, family, model;
	uint64_t ctl, rip, data1, data2, data3, lin, phys;
	uint64_t more[2]; /* slots 7 and 8 */
	unsigned nr_more;
};

static size_t put(uint8_t *p, const struct sample *s)
{
	uint64_t regs[] = {s->ctl, s->rip, s->data1, s->data2, s->data3, s->lin, s->phys, s->more[0], s->more[1]};
	size_t n = 4;

	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(s->caps >> 8 * i);
	for (unsigned r = 0; r < 7 + s->nr_more; r++)
		for (unsigned i = 0; i < 8; i++)
			p[n++] = (uint8_t)(regs[r] >> 8 * i);
	return n;
}

/* The reason if there was no report, else DA_DROP_NR. */
static enum da_drop decode(const char *name, const struct da_input *proto, struct da_report *out)
{
	const struct da_decoder *d = da_decoder_find(name);
	struct decode_result res = {0};
	enum da_drop why = DA_DROP_NR;

	ck_assert_ptr_nonnull(d);
	ck_assert(decode_windows(d, NULL, proto, NULL, NULL, false, &res));
	ck_assert(decode_balanced(&res));
	ck_assert_uint_eq(res.calls, 1);
	for (int i = 0; i < DA_DROP_NR; i++)
		if (res.drops[i])
			why = (enum da_drop)i;
	memset(out, 0, sizeof(*out));
	if (res.nr)
		*out = res.reports[0];
	decode_release(&res);
	return why;
}

static enum da_drop decode_sample(const struct sample *s, struct da_report *out)
{
	uint8_t raw[128];
	struct da_input in = {.bytes = raw, .len = put(raw, s), .cpu_family = s->family, .cpu_model = s->model};

	return decode("ibs_op", &in, out);
}

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
	 ZEN3, DA_DROP_NR, ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_PADDR | DA_HAS_SIZE, 0x401000, 0x7f0000001040,
	 0x123456040, 0x229080142, 8, 0, DA_OP_READ},
	{"store", "ibs_op",
	 "ff03000000401600230100000410400000000000060029000000000000000000000000000200c6000000000048200000007f000048704523"
	 "010000000000000000000000",
	 ZEN3, DA_DROP_NR, ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_PADDR | DA_HAS_SIZE, 0x401004, 0x7f0000002048,
	 0x123457048, 0x229080144, 4, 0, DA_OP_WRITE},
	{"load from the other node's memory", "ibs_op",
	 "ff0f000000400f000000000008104000000000000900bc020000000013000000000000008d0016156c02210000300000007f000000804523"
	 "0900000000000000000000000000000000000000",
	 ZEN4, DA_DROP_NR, ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_PADDR | DA_HAS_SIZE | DA_HAS_LATENCY, 0x401008,
	 0x7f0000003000, 0x923458000, 0x103a51082042, 8, 620, DA_OP_READ},
	{"load from CXL memory", "ibs_op",
	 "ff0f000000400e00000000000c1040000000000009008403000000004000000000000000810056018403000000400000007f000000804523"
	 "2000000000000000000000000000000000000000",
	 ZEN4, DA_DROP_NR, ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_PADDR | DA_HAS_SIZE | DA_HAS_LATENCY, 0x40100c,
	 0x7f0000004000, 0x2023458000, 0x1229080002, 16, 900, DA_OP_READ},
	{"load, line modified in the local L3's reach", "ibs_op",
	 "ff0f000000400e0000000000101040000000000009005a00000000000100000000000000810092013200000000500000007f0000efbeadde"
	 "0000000000000000000000000000000000000000",
	 ZEN4, DA_DROP_NR, ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_SIZE | DA_HAS_LATENCY, 0x401010, 0x7f0000005000, 0,
	 0x629800842, 32, 50, DA_OP_READ},
	{"erratum 1293", "ibs_op",
	 "ff03000000400e0000000000141040000000000009005a00000000000300000000000000810007014d00000000600000007f000000904523"
	 "010000000000000000000000",
	 ZEN3, DA_DROP_NR, ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_PADDR | DA_HAS_SIZE | DA_HAS_LATENCY, 0x401014,
	 0x7f0000006000, 0x123459000, 0x1829080242, 8, 77, DA_OP_READ},
	{"the same on a CPU without the erratum", "ibs_op",
	 "ff03000000400e0000000000141040000000000009005a00000000000300000000000000810007014d00000000600000007f000000904523"
	 "010000000000000000000000",
	 0x17, 0x31, DA_DROP_NR, ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_PADDR | DA_HAS_SIZE | DA_HAS_LATENCY,
	 0x401014, 0x7f0000006000, 0x123459000, 0x429080442, 8, 77, DA_OP_READ},
	{"locked read-modify-write", "ibs_op",
	 "ff03000000400e0000000000181040000000000009005a00000000000000000000000000038006010000000000700000007f000000a04523"
	 "010000000000000000000000",
	 ZEN3, DA_DROP_NR, ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_PADDR | DA_HAS_SIZE, 0x401018, 0x7f0000007000,
	 0x12345a000, 0x22a080142, 8, 0, DA_OP_READ | DA_OP_WRITE},
	{"branch", "ibs_op",
	 "ff03000000400e00000000001c1040000000000003001e003800000000000000000000000000000000000000000000000000000000000000"
	 "000000000020400000000000",
	 ZEN3, DA_DROP_NOT_MEMORY, 0, 0, 0, 0, 0, 0, 0, 0},
	{"invalid IP", "ibs_op",
	 "ff03000000400e0000000000201040000000000003001e00400000000000000000000000010042000000000001800000007f000000000000"
	 "000000000000000000000000",
	 ZEN3, DA_DROP_NR, ALWAYS | DA_HAS_VADDR | DA_HAS_SIZE, 0, 0x7f0000008001, 0, 0x229080142, 1, 0, DA_OP_READ},
	{"software prefetch", "ibs_op",
	 "ff0f000000400e0000000000241040000000000003001e00000000000000000000000000810032000000000000900000007f000000000000"
	 "0000000000000000000000000000000000000000",
	 ZEN4, DA_DROP_PREFETCH, 0, 0, 0, 0, 0, 0, 0, 0},
	{"uncached", "ibs_op",
	 "ff0f000000400e0000000000281040000000000003001e000000000000000000000000000140c6000000000000a00000007f00000000d0fe"
	 "0000000000000000000000000000000000000000",
	 ZEN4, DA_DROP_NR, ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_PADDR | DA_HAS_SIZE, 0x401028, 0x7f000000a000,
	 0xfed00000, 0x10290c0042, 4, 0, DA_OP_READ},
	{"not valid", "ibs_op",
	 "ff03000000400a00000000002c104000000000000000000000000000000000000000000000000000000000000000000000000000000000"
	 "00000000000000000000000000",
	 ZEN3, DA_DROP_INVALID, 0, 0, 0, 0, 0, 0, 0, 0},
	{"no branch target, but data 4", "ibs_op",
	 "1f04000000400e0000000000301040000000000000000000200000000000000000000000010002010000000000b00000007f000000000000"
	 "000000005500000000000000",
	 ZEN3, DA_DROP_NR, ALWAYS | DA_HAS_IP | DA_HAS_VADDR | DA_HAS_SIZE, 0x401030, 0x7f000000b000, 0, 0x229080142, 8, 0,
	 DA_OP_READ},
	{"fetch", "ibs_fetch", "ff030000004034126400bf06401040000000000040104088000000001100000000000000", ZEN3,
	 DA_DROP_NOT_MEMORY, 0, 0, 0, 0, 0, 0, 0, 0},
	{"fetch on Zen 4", "ibs_fetch", "ff0f00000040000064000738801040000000000080104088000000000300000000000000", ZEN4,
	 DA_DROP_NOT_MEMORY, 0, 0, 0, 0, 0, 0, 0, 0},
	{"fetch without extension", "ibs_fetch", "ff0100000040000000000300c0104000000000000000000000000000", ZEN3,
	 DA_DROP_NOT_MEMORY, 0, 0, 0, 0, 0, 0, 0, 0},
};

START_TEST(vector)
{
	uint8_t raw[128];
	struct da_input in = {.bytes = raw, .cpu_family = vectors[_i].family, .cpu_model = vectors[_i].model};
	struct da_report r;

	in.len = from_hex(vectors[_i].raw, raw, sizeof(raw));
	ck_assert_int_eq(decode(vectors[_i].kind, &in, &r), vectors[_i].why);
	ck_assert_msg(r.has == vectors[_i].has, "%s: has %x, not %x", vectors[_i].name, r.has, vectors[_i].has);
	ck_assert_msg(r.data_src == vectors[_i].data_src, "%s: data source %" PRIx64, vectors[_i].name, r.data_src);
	ck_assert_msg(r.ip == vectors[_i].ip && r.vaddr == vectors[_i].vaddr && r.paddr == vectors[_i].paddr &&
			      r.size == vectors[_i].size && r.latency == vectors[_i].latency && r.op == vectors[_i].op,
		      "%s: ip %" PRIx64 " address %" PRIx64 " %" PRIx64 " size %u latency %u op %u", vectors[_i].name,
		      r.ip, r.vaddr, r.paddr, r.size, r.latency, r.op);
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
		ck_assert_msg((why == DA_DROP_TRUNCATED) == (len - (len % 8 ? 4 : 0) < least || len < least),
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

#define GOOD (1u << 17 | 1u << 18)

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
	struct sample s = {.caps = 0x3ff, .ctl = GOOD | 0x4000, .rip = 0x401000, .data1 = (uint64_t)1 << 38,
			   .data3 = LD | LIN, .lin = 0xff110008a5398920};
	struct da_report base = {.has = DA_HAS_IP | DA_HAS_TASK | DA_HAS_PERIOD | DA_HAS_TIME, .ip = 0x402000, .pid = 7,
				 .tid = 8, .period = 99, .time_ns = 5, .event = 2};
	uint8_t raw[128];
	struct da_input in = {.bytes = raw, .len = put(raw, &s), .base = &base};
	struct da_report r;

	/* the record's IP is invalid: that of the interrupt, which the caller knows, stays */
	ck_assert_int_eq(decode("ibs_op", &in, &r), DA_DROP_NR);
	ck_assert(r.ip == 0x402000 && r.pid == 7 && r.tid == 8 && r.period == 99 && r.time_ns == 5 && r.event == 2);
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
		struct sample s = {.caps = rows[i].caps, .family = rows[i].family, .model = rows[i].model, .ctl = GOOD,
				   .data2 = rows[i].data2, .data3 = rows[i].data3};
		struct da_report r;

		ck_assert_int_eq(decode_sample(&s, &r), DA_DROP_NR);
		ck_assert_msg(r.data_src == rows[i].want, "row %zu: %" PRIx64 ", not %" PRIx64, i, r.data_src,
			      rows[i].want);
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

/* ---- against perf's text ---- */

static const char *shared_file(const char *name, char *path, size_t size)
{
	const char *dir = getenv("DA_SHARED");

	snprintf(path, size, "%s/%s", dir ? dir : "../shared", name);
	if (access(path, R_OK) == 0)
		return path;
	printf("not tested: no '%s'\n", path);
	return NULL;
}

/* The number behind "NAME " in a line of perf's dump; -1 if the name is not there. */
static int64_t number_of(const char *line, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = line; (p = strstr(p, name)); p += n)
		if (p[n] == ' ' && (p == line || p[-1] == ' ' || p[-1] == '\t'))
			return strtoll(p + n, NULL, 10);
	return -1;
}

struct named {
	const char *name;
	uint64_t value;
};

/* Every name that the line has must have this value. Returns how many it had. */
static unsigned same_numbers(const char *vector_name, const char *line, const struct named *n, size_t nr)
{
	unsigned seen = 0;

	for (size_t i = 0; i < nr; i++) {
		int64_t v = number_of(line, n[i].name);

		if (v < 0)
			continue;
		seen++;
		ck_assert_msg((uint64_t)v == n[i].value, "%s: %s is %" PRIu64 ": %s", vector_name, n[i].name, n[i].value,
			      line);
	}
	return seen;
}

#define ALL(a) (a), sizeof(a) / sizeof((a)[0])

static unsigned check_op_line(const char *name, const char *line, const struct da_ibs_op *op, bool zen4)
{
	const struct named regs[] = {{"ibs_op_ctl:", op->ctl},	 {"IbsOpRip:", op->rip},
				     {"ibs_op_data:", op->data1}, {"ibs_op_data2:", op->data2},
				     {"ibs_op_data3:", op->data3}, {"IbsDCLinAd:", op->lin},
				     {"IbsDCPhysAd:", op->phys}};
	const struct named fields[] = {
		{"MaxCnt", op->max_count}, {"L3MissOnly", op->l3_miss_only}, {"En", op->enabled}, {"Val", op->val},
		{"CntCtl", op->counts_ops}, {"CurCnt", op->cur_count}, {"CompToRetCtr", op->comp_to_ret},
		{"TagToRetCtr", op->tag_to_ret}, {"BrnRet", op->branch_retired}, {"RipInvalid", op->rip_invalid},
		{"BrnFuse", op->branch_fused}, {"Microcode", op->microcode}, {"RmtNode", op->remote_node},
		{"LdOp", op->load}, {"StOp", op->store}, {"DcL1TlbMiss", op->l1_tlb_miss},
		{"DcL2TlbMiss", op->l2_tlb_miss}, {"DcL1TlbHit2M", op->l1_tlb_hit_2m},
		{"DcL1TlbHit1G", op->l1_tlb_hit_1g}, {"DcL2TlbHit2M", op->l2_tlb_hit_2m}, {"DcMiss", op->dc_miss},
		{"DcMisAcc", op->misaligned}, {"DcWcMemAcc", op->write_combining}, {"DcUcMemAcc", op->uncacheable},
		{"DcLockedOp", op->locked}, {"DcMissNoMabAlloc", op->miss_no_mab}, {"DcLinAddrValid", op->lin_valid},
		{"DcPhyAddrValid", op->phys_valid}, {"DcL2TlbHit1G", op->l2_tlb_hit_1g}, {"L2Miss", op->l2_miss},
		{"SwPf", op->sw_prefetch}, {"OpMemWidth", op->width_code ? 1u << (op->width_code - 1) : 0},
		{"OpDcMissOpenMemReqs", op->open_requests}, {"DcMissLat", op->dc_miss_latency},
		{"TlbRefillLat", op->tlb_refill_latency},
	};
	size_t colon = strcspn(line, ":") + 1;
	unsigned seen = 0;
	int64_t source;

	for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++) {
		if (strlen(regs[i].name) != colon || strncmp(line, regs[i].name, colon))
			continue;
		ck_assert_msg(strtoull(line + colon, NULL, 16) == regs[i].value, "%s: %s", name, line);
		seen++;
	}
	source = number_of(line, "DataSrc");
	if (source >= 0 && zen4 == !!(op->caps & DA_IBS_CAP_ZEN4)) { /* perf goes by the file, we by the caps */
		ck_assert_int_eq(source, op->data_source);
		seen++;
	}
	return seen + same_numbers(name, line, ALL(fields));
}

static unsigned check_fetch_line(const char *name, const char *line, const struct da_ibs_fetch *f)
{
	const struct named fields[] = {
		{"MaxCnt", f->max_count}, {"Cnt", f->count}, {"Lat", f->latency}, {"En", f->enabled}, {"Val", f->val},
		{"Comp", f->complete}, {"IcMiss", f->ic_miss}, {"PhyAddrValid", f->phys_valid},
		{"L1TlbMiss", f->l1_tlb_miss}, {"L2TlbMiss", f->l2_tlb_miss}, {"RandEn", f->random},
		{"L2Miss", f->l2_miss}, {"L3MissOnly", f->l3_miss_only}, {"FetchOcMiss", f->oc_miss},
		{"FetchL3Miss", f->l3_miss},
	};
	unsigned seen = 0;

	if (!strncmp(line, "ibs_fetch_ctl:", 14)) {
		ck_assert_uint_eq(strtoull(line + 14, NULL, 16), f->ctl);
		seen = 1 + same_numbers(name, line, ALL(fields));
	} else if (!strncmp(line, "IbsFetchLinAd:", 14)) {
		ck_assert_uint_eq(strtoull(line + 14, NULL, 16), f->lin);
		seen = 1;
	} else if (!strncmp(line, "IbsFetchPhysAd:", 15)) {
		ck_assert_uint_eq(strtoull(line + 15, NULL, 16), f->phys);
		seen = 1;
	} else if (!strncmp(line, "ic_ibs_ext_ctl:", 15) && f->has_ext) { /* without it perf reads past the sample */
		ck_assert_uint_eq(strtoull(line + 15, NULL, 16), f->ext);
		seen = 1;
	}
	return seen;
}

START_TEST(perf_text)
{
	static const char *const keys[] = {"perf_zen4", "perf_zen3"};
	char path[512];
	const char *file = shared_file("formats/vectors/ibs_vectors.json", path, sizeof(path));
	struct json_object *all, *v;
	unsigned seen = 0;

	if (!file)
		return;
	all = json_object_from_file(file);
	ck_assert_ptr_nonnull(all);
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *o = json_object_array_get_idx(all, i);
		const char *name, *kind;
		struct da_ibs_op op;
		struct da_ibs_fetch f;
		uint8_t raw[128];
		size_t n;

		json_object_object_get_ex(o, "name", &v);
		name = json_object_get_string(v);
		json_object_object_get_ex(o, "kind", &v);
		kind = json_object_get_string(v);
		json_object_object_get_ex(o, "raw", &v);
		n = from_hex(json_object_get_string(v), raw, sizeof(raw));
		ck_assert(!strcmp(kind, "op") ? da_ibs_read_op(raw, n, 0, &op) : da_ibs_read_fetch(raw, n, 0, &f));
		for (int k = 0; k < 2; k++) {
			json_object_object_get_ex(o, keys[k], &v);
			for (size_t l = 0; l < json_object_array_length(v); l++) {
				const char *line = json_object_get_string(json_object_array_get_idx(v, l));

				seen += !strcmp(kind, "op") ? check_op_line(name, line, &op, !k)
							    : check_fetch_line(name, line, &f);
			}
		}
	}
	json_object_put(all);
	ck_assert_uint_gt(seen, 1000);
}
END_TEST

/* ---- published dumps ---- */

/* "NAME HEX  TEXT" lines, cases begun by "# case". */
START_TEST(published_registers)
{
	static const char *const names[] = {"ibs_op_ctl", "IbsOpRip",	"ibs_op_data", "ibs_op_data2",
					    "ibs_op_data3", "IbsDCLinAd", "IbsDCPhysAd"};
	char path[512], line[1024], name[64];
	const char *file = shared_file("fixtures/vectors/ibs-op-regs.txt", path, sizeof(path));
	uint64_t regs[7] = {0}, value;
	char lines[8][1024];
	unsigned nr = 0, cases = 0;
	FILE *f;

	if (!file)
		return;
	f = fopen(file, "r");
	ck_assert_ptr_nonnull(f);
	for (bool more = true; more;) {
		more = fgets(line, sizeof(line), f);
		if (!more || !strncmp(line, "# case", 6)) {
			struct sample s = {.caps = 0xfff, .ctl = regs[0], .rip = regs[1], .data1 = regs[2],
					   .data2 = regs[3], .data3 = regs[4], .lin = regs[5], .phys = regs[6]};
			struct da_ibs_op op;
			struct da_report r;
			uint8_t raw[128];
			unsigned seen = 0;

			if (!nr)
				continue;
			ck_assert(da_ibs_read_op(raw, put(raw, &s), 0, &op));
			for (unsigned i = 0; i < nr; i++)
				seen += check_op_line("published", lines[i], &op, true);
			ck_assert_uint_gt(seen, 20);
			ck_assert_int_eq(decode_sample(&s, &r), DA_DROP_NR);
			ck_assert(r.vaddr == regs[5] && r.paddr == regs[6] && r.ip == regs[1]);
			ck_assert(r.op == (cases ? DA_OP_READ : DA_OP_WRITE) && r.size == (cases ? 8 : 32));
			memset(regs, 0, sizeof(regs));
			nr = 0;
			cases++;
			continue;
		}
		if (line[0] == '#' || sscanf(line, "%63s %" SCNx64, name, &value) != 2)
			continue;
		for (unsigned i = 0; i < 7; i++)
			if (!strcmp(name, names[i]))
				regs[i] = value;
		ck_assert_uint_lt(nr, 8);
		/* the fields only: behind the register's value */
		snprintf(lines[nr++], sizeof(lines[0]), ": %.1000s", strchr(line, ' '));
	}
	fclose(f);
	ck_assert_uint_eq(cases, 2);
}
END_TEST

/* A thousand op samples as columns: registers are built from them and decoded again. */
#define COLUMNS 48

START_TEST(published_samples)
{
	static const struct {
		const char *column;
		unsigned reg, low; /* of data1, data2, data3 */
	} fields[] = {
		{"IbsCompToRetCtr", 1, 0}, {"IbsTagToRetCtr", 1, 16}, {"IbsOpReturn", 1, 34}, {"IbsOpBrnTaken", 1, 35},
		{"IbsOpBrnMisp", 1, 36}, {"IbsOpBrnRet", 1, 37}, {"IbsRipInvalid", 1, 38}, {"IbsOpBrnFuse", 1, 39},
		{"IbsOpMicrocode", 1, 40}, {"DataSrc", 2, 0}, {"RmtNode", 2, 4}, {"CacheHitSt", 2, 5}, {"IbsLdOp", 3, 0},
		{"IbsStOp", 3, 1}, {"IbsDcL1tlbMiss", 3, 2}, {"IbsDcL2TlbMiss", 3, 3}, {"IbsDcL1TlbHit2M", 3, 4},
		{"IbsDcL1TlbHit1G", 3, 5}, {"IbsDcL2tlbHit2M", 3, 6}, {"IbsDcMiss", 3, 7}, {"IbsDcMissAcc", 3, 8},
		{"IbsDcWcMemAcc", 3, 13}, {"IbsDcUcMemAcc", 3, 14}, {"IbsDcLockedOp", 3, 15}, {"DcMissNoMabAlloc", 3, 16},
		{"IbsDcLinAddrValid", 3, 17}, {"IbsDcPhyAddrValid", 3, 18}, {"IbsDcL2tlbHit1G", 3, 19}, {"IbsL2Miss", 3, 20},
		{"IbsSwPf", 3, 21}, {"IbsDcMissLat", 3, 32}, {"IbstlbRefillLat", 3, 48},
	};
	char path[512], line[4096], names[COLUMNS][64];
	const char *file = shared_file("fixtures/vectors/ibs-memgaze-annotated_op-1k.csv", path, sizeof(path));
	unsigned columns = 0, rows = 0, addresses = 0, physical_only = 0;
	FILE *f;

	if (!file)
		return;
	f = fopen(file, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	for (char *p = strtok(line, ",\n"); p && columns < COLUMNS; p = strtok(NULL, ",\n"))
		snprintf(names[columns++], sizeof(names[0]), "%s", p);
	while (fgets(line, sizeof(line), f)) {
		struct sample s = {.caps = 0x3ff, .ctl = GOOD, .family = 0x19, .model = 1};
		uint64_t regs[4] = {0}, lin = 0, phys = 0, width = 0;
		bool lin_valid = false, phys_valid = false, memory = false, prefetch = false;
		unsigned c = 0, found = 0;
		struct da_report r;
		enum da_drop why;

		for (char *p = line, *next; p && c < columns; p = next, c++) {
			uint64_t v;

			next = strchr(p, ',');
			if (next)
				*next++ = 0;
			v = *p == '-' ? 0 : strtoull(p, NULL, 0);
			for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
				if (strcmp(names[c], fields[i].column))
					continue;
				regs[fields[i].reg] |= v << fields[i].low;
				found++;
			}
			lin_valid |= !strcmp(names[c], "IbsDcLinAddrValid") && v;
			phys_valid |= !strcmp(names[c], "IbsDcPhyAddrValid") && v;
			memory |= (!strcmp(names[c], "IbsLdOp") || !strcmp(names[c], "IbsStOp")) && v;
			prefetch |= !strcmp(names[c], "IbsSwPf") && v;
			if (!strcmp(names[c], "IbsOpRip"))
				s.rip = v;
			if (!strcmp(names[c], "IbsDcLinAd"))
				lin = v;
			if (!strcmp(names[c], "IbsDcPhysAd"))
				phys = v;
			if (!strcmp(names[c], "IbsOpMemWidth"))
				width = v;
		}
		ck_assert_uint_eq(found, sizeof(fields) / sizeof(fields[0]));
		s.data1 = regs[1];
		s.data2 = regs[2];
		s.data3 = regs[3] | (width ? (uint64_t)(__builtin_ctzll(width) + 1) << 22 : 0);
		s.lin = lin;
		s.phys = phys;
		rows++;
		why = decode_sample(&s, &r);
		if (prefetch)
			ck_assert_int_eq(why, DA_DROP_PREFETCH);
		else if (!memory)
			ck_assert_int_eq(why, DA_DROP_NOT_MEMORY);
		else if (!lin_valid && !phys_valid)
			ck_assert_int_eq(why, DA_DROP_INVALID);
		else
			ck_assert_int_eq(why, DA_DROP_NR);
		if (why != DA_DROP_NR)
			continue;
		addresses += lin_valid;
		physical_only += !lin_valid;
		ck_assert(!!(r.has & DA_HAS_VADDR) == lin_valid && r.vaddr == (lin_valid ? lin : 0));
		ck_assert(!!(r.has & DA_HAS_PADDR) == phys_valid && r.paddr == (phys_valid ? phys : 0));
		ck_assert(r.size == width && r.ip == s.rip);
	}
	fclose(f);
	printf("published samples: %u, %u with an address, %u with a physical one only\n", rows, addresses, physical_only);
	ck_assert_uint_gt(rows, 900);
	ck_assert_uint_gt(addresses, 100);
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
	tcase_add_test(t, perf_text);
	tcase_add_test(t, published_registers);
	tcase_add_test(t, published_samples);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
