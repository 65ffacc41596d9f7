/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Raw PEBS records: every format's layout, sizes, registers after the instruction, damage and windows, and the
 * data-source word of each generation. With ../shared beside the checkout also its vector blobs.
 */
#include <check.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>

#include "da_insn.h"
#include "da_pebs.h"
#include "fuzz/decode_run.h"
#include "vector_text.h"

static const struct da_decoder *pebs;

static void setup(void)
{
	pebs = da_decoder_find("pebs_raw");
	ck_assert_ptr_nonnull(pebs);
}

/* ---- building records ---- */

struct block {
	uint8_t bytes[65536];
	size_t len;
};

static void put(struct block *b, uint64_t v)
{
	must(b->len + 8 <= sizeof(b->bytes), "block too small");
	for (unsigned i = 0; i < 64; i += 8)
		b->bytes[b->len++] = (uint8_t)(v >> i);
}

static void put_many(struct block *b, uint64_t first, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		put(b, first + i);
}

static void put_fixed(struct block *b, unsigned format, uint64_t address)
{
	put(b, 0x246);    /* flags */
	put(b, 0x401003); /* next ip */
	put_many(b, 0xa0, 16);
	if (format < DA_PEBS_NHM)
		return;
	put(b, 1);
	put(b, address);
	put(b, 0x4c);
	put(b, 7);
	if (format < DA_PEBS_HSW)
		return;
	put(b, 0x401000);
	put(b, 0);
	if (format >= DA_PEBS_SKL)
		put(b, 123456789);
}

/* extra: bytes of groups that are not known */
static void put_adaptive(struct block *b, uint64_t groups, unsigned lbr, uint64_t address,
			 unsigned extra)
{
	size_t at = b->len, size;

	put(b, 0);
	put(b, 0x401000);
	put(b, 1);
	put(b, 987654321);
	if (groups & DA_PEBS_GROUP_MEM) {
		put(b, address);
		put(b, 0x4c);
		put(b, (uint64_t)0x55 << 32 | 0x66);
		put(b, 0);
	}
	if (groups & DA_PEBS_GROUP_GPR) {
		put(b, 0x246);
		put(b, 0x401003);
		/* ax cx dx bx sp bp si di */
		put(b, 1), put(b, 3), put(b, 4), put(b, 2), put(b, 7), put(b, 6), put(b, 5),
			put(b, 8);
		put_many(b, 9, 8);
	}
	if (groups & DA_PEBS_GROUP_XMM)
		put_many(b, 100, 32);
	if (groups & DA_PEBS_GROUP_LBR)
		put_many(b, 0x500000, 3 * lbr);
	put_many(b, UINT64_MAX, extra / 8);
	size = b->len - at;
	groups |= (uint64_t)0x11 << 32 | (uint64_t)size << 48;
	if (groups & DA_PEBS_GROUP_LBR)
		groups |= (uint64_t)(lbr - 1) << 24;
	for (unsigned i = 0; i < 8; i++)
		b->bytes[at + i] = (uint8_t)(groups >> 8 * i);
}

/* ---- sinks ---- */

struct seen_regs {
	unsigned nr;
	uint64_t ip;
	uint64_t vals[24]; /* by perf bit */
	uint64_t mask;
	bool after;
};

static struct seen_regs seen;

static void on_regs(void *ctx, uint64_t ip, const struct da_regs *regs)
{
	unsigned k = 0;

	(void)ctx;
	seen.nr++;
	seen.ip = ip;
	seen.mask = regs->mask;
	seen.after = regs->phase == DA_REGS_AFTER && regs->abi == 2 &&
		     regs->arch == DA_ARCH_X86_64 && !regs->swap;
	for (unsigned bit = 0; bit < 24; bit++) {
		if (!(regs->mask >> bit & 1))
			continue;
		memcpy(&seen.vals[bit], regs->vals + 8 * k++, 8);
	}
}

static void decode(const struct block *b, unsigned format, enum da_pebs_source source,
		   struct decode_result *res)
{
	struct da_sink sink = decode_sink(res, false);
	struct da_pebs_state st = {0};
	struct da_input in = {.bytes = b->bytes,
			      .len = b->len,
			      .last = true,
			      .pebs_format = (uint8_t)format,
			      .pebs_source = (uint8_t)source};

	memset(res, 0, sizeof(*res));
	memset(&seen, 0, sizeof(seen));
	sink.regs = on_regs;
	ck_assert_uint_eq(pebs->decode(&st, &in, &sink, &res->stats), b->len);
	ck_assert(decode_balanced(res));
}

/* ---- formats ---- */

START_TEST(fixed_formats)
{
	static const size_t sizes[] = {144, 176, 192, 200};
	static struct block b;
	struct decode_result res;
	const struct da_report *r;
	unsigned format = (unsigned)_i;

	b.len = 0;
	put_fixed(&b, format, 0x7f0000001000);
	ck_assert_uint_eq(b.len, sizes[format]);
	ck_assert_int_eq(da_pebs_size(b.bytes, b.len, format), (long)sizes[format]);
	decode(&b, format, DA_PEBS_SRC_LOAD_SNB, &res);
	ck_assert(seen.nr == 1 && seen.mask == 0xff03ff && seen.after);
	ck_assert_uint_eq(seen.vals[8], 0x401003); /* IP: the next instruction */
	ck_assert_uint_eq(seen.vals[9], 0x246);
	for (unsigned i = 0; i < 8; i++) {
		ck_assert_uint_eq(seen.vals[i], 0xa0 + i);      /* ax bx cx dx si di bp sp */
		ck_assert_uint_eq(seen.vals[16 + i], 0xa8 + i); /* r8 .. r15 */
	}
	ck_assert_uint_eq(seen.ip, format >= DA_PEBS_HSW ? 0x401000 : 0);
	if (format == DA_PEBS_CORE) {
		ck_assert(res.nr == 0 && res.drops[DA_DROP_ADDR_NONE] == 1);
		return;
	}
	ck_assert_uint_eq(res.nr, 1);
	r = &res.reports[0];
	ck_assert_uint_eq(r->has & ~(unsigned)(DA_HAS_IP | DA_HAS_TICKS),
			  DA_HAS_VADDR | DA_HAS_LATENCY | DA_HAS_OP | DA_HAS_DATA_SRC);
	ck_assert(r->vaddr == 0x7f0000001000 && r->latency == 7 && r->op == DA_OP_READ &&
		  r->how == DA_HOW_HARDWARE);
	/* before hsw only the address behind the instruction is known: no IP is better than a wrong one */
	ck_assert_uint_eq(!!(r->has & DA_HAS_IP), format >= DA_PEBS_HSW);
	ck_assert_uint_eq(r->ip, format >= DA_PEBS_HSW ? 0x401000 : 0);
	ck_assert_uint_eq(!!(r->has & DA_HAS_TICKS), format >= DA_PEBS_SKL);
	ck_assert_uint_eq(r->time_ns, format >= DA_PEBS_SKL ? 123456789 : 0);
	decode_release(&res);
}
END_TEST

static const struct {
	uint64_t groups;
	unsigned lbr;
	size_t size;
} adaptive[] = {
	{0, 0, 32}, {1, 0, 64}, {3, 0, 208}, {7, 0, 464}, {0xb, 4, 304}, {0xf, 32, 1232},
};

START_TEST(adaptive_formats)
{
	uint64_t groups = adaptive[_i].groups;
	static struct block b;
	struct decode_result res;

	for (unsigned format = DA_PEBS_ADAPTIVE; format <= 6; format++) {
		b.len = 0;
		put_adaptive(&b, groups, adaptive[_i].lbr, 0x7f0000001040, 0);
		ck_assert_uint_eq(b.len, adaptive[_i].size);
		put_adaptive(&b, groups, adaptive[_i].lbr, 0x7f0000001080, 0);
		decode(&b, format, DA_PEBS_SRC_STORE_GLC, &res);
		ck_assert_uint_eq(res.stats.records, 2);
		ck_assert_uint_eq(res.nr, groups & 1 ? 2 : 0);
		ck_assert_uint_eq(res.drops[DA_DROP_ADDR_NONE], groups & 1 ? 0 : 2);
		ck_assert_uint_eq(seen.nr, groups & 2 ? 2 : 0);
		if (groups & 2) {
			ck_assert(seen.after && seen.ip == 0x401000 && seen.vals[8] == 0x401003 &&
				  seen.vals[9] == 0x246);
			for (unsigned i = 0; i < 8;
			     i++) { /* ax=1 bx=2 cx=3 dx=4 si=5 bp=6 sp=7 di=8 */
				static const uint64_t want[] = {1, 2, 3, 4, 5, 8, 6, 7};

				ck_assert_uint_eq(seen.vals[i], want[i]);
				ck_assert_uint_eq(seen.vals[16 + i], 9 + i);
			}
		}
		for (size_t i = 0; i < res.nr; i++) {
			const struct da_report *r = &res.reports[i];

			ck_assert_uint_eq(r->has, DA_HAS_VADDR | DA_HAS_IP | DA_HAS_TICKS |
							  DA_HAS_LATENCY | DA_HAS_OP |
							  DA_HAS_DATA_SRC);
			ck_assert(r->vaddr == 0x7f0000001040 + 64 * i && r->ip == 0x401000 &&
				  r->time_ns == 987654321);
			ck_assert(r->latency == 0x55 && r->op == DA_OP_WRITE);
		}
		decode_release(&res);
	}
}
END_TEST

START_TEST(one_record_apart)
{
	static struct block b;
	struct da_pebs_record r;

	b.len = 0;
	put_adaptive(&b, 3, 0, 0x7f0000001040, 0);
	da_pebs_read(b.bytes, b.len, 4, &r);
	ck_assert(r.has_ip && r.has_mem && r.has_regs && r.has_tsc && r.groups == 3 &&
		  r.retire_latency == 0x11);
	ck_assert(r.counters == 1 && r.source == 0x4c &&
		  r.latency == ((uint64_t)0x55 << 32 | 0x66));
	b.len = 0;
	put_fixed(&b, DA_PEBS_SKL, 5);
	da_pebs_read(b.bytes, b.len, DA_PEBS_SKL, &r);
	ck_assert(r.counters == 1 && r.source == 0x4c && r.latency == 7 && r.address == 5);
}
END_TEST

/* An address of 0 is none; a latency of 0 was not measured; without a source kind nothing is assumed. */
START_TEST(absent_fields)
{
	static struct block b;
	struct decode_result res;

	b.len = 0;
	put_fixed(&b, DA_PEBS_SKL, 0);
	put_fixed(&b, DA_PEBS_SKL, 1);
	b.bytes[200 + 168] = 0; /* latency of the second */
	decode(&b, DA_PEBS_SKL, DA_PEBS_SRC_NONE, &res);
	ck_assert(res.drops[DA_DROP_ADDR_NONE] == 1 && res.nr == 1);
	ck_assert_uint_eq(res.reports[0].has, DA_HAS_VADDR | DA_HAS_IP | DA_HAS_TICKS);
	ck_assert(!res.reports[0].op && !res.reports[0].data_src);
	decode_release(&res);
	decode(&b, DA_PEBS_SKL, DA_PEBS_SRC_NR, &res); /* no such kind */
	ck_assert(res.nr == 1 && !res.reports[0].op && !res.reports[0].data_src);
	decode_release(&res);
	/* before Alder Lake the latency word is one number */
	b.len = 0;
	put_adaptive(&b, 1, 0, 64, 0);
	memset(b.bytes + 48 + 4, 0, 4);
	decode(&b, 4, DA_PEBS_SRC_LOAD_SKL, &res);
	ck_assert_uint_eq(res.reports[0].latency, 0x66);
	decode_release(&res);
}
END_TEST

START_TEST(base_is_kept)
{
	static struct block b;
	struct da_report base = {.has = DA_HAS_CPU | DA_HAS_TASK | DA_HAS_TIME,
				 .cpu = 3,
				 .pid = 4,
				 .tid = 5,
				 .time_ns = 6,
				 .event = 1};
	struct da_pebs_state st = {0};
	struct decode_result res = {0};
	struct da_sink sink = decode_sink(&res, true);
	struct da_input in = {
		.bytes = b.bytes, .last = true, .pebs_format = DA_PEBS_SKL, .base = &base};

	b.len = 0;
	put_fixed(&b, DA_PEBS_SKL, 64);
	in.len = b.len;
	pebs->decode(&st, &in, &sink, &res.stats);
	ck_assert(res.reports[0].cpu == 3 && res.reports[0].pid == 4 && res.reports[0].event == 1);
	ck_assert(res.reports[0].time_ns == 123456789);
	ck_assert_uint_eq(res.reports[0].has & (DA_HAS_TIME | DA_HAS_TICKS | DA_HAS_TASK),
			  DA_HAS_TICKS | DA_HAS_TASK);
	decode_release(&res);
}
END_TEST

/* ---- streams ---- */

static size_t random_cut(void *ctx, size_t left)
{
	uint64_t *x = ctx;

	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return 1 + (*x >> 33) % (left < 400 ? left : 400);
}

static void same_in_windows(const struct block *b, unsigned format)
{
	struct da_input in = {.bytes = b->bytes,
			      .len = b->len,
			      .pebs_format = (uint8_t)format,
			      .pebs_source = DA_PEBS_SRC_LOAD_GLC};
	struct da_pebs_state st = {0};
	struct decode_result want = {0}, got;

	ck_assert(decode_windows(pebs, &st, &in, NULL, NULL, false, &want));
	ck_assert(decode_balanced(&want));
	for (uint64_t seed = 1; seed <= 40; seed++) {
		uint64_t x = seed;

		memset(&st, 0, sizeof(st));
		memset(&got, 0, sizeof(got));
		ck_assert(decode_windows(pebs, &st, &in, random_cut, &x, seed & 1, &got));
		ck_assert(decode_balanced(&got));
		ck_assert_msg(decode_equal(&want, &got), "format %u, seed %" PRIu64, format, seed);
		decode_release(&got);
	}
	decode_release(&want);
}

START_TEST(windows)
{
	static struct block b;
	unsigned format = (unsigned)_i;

	b.len = 0;
	for (unsigned i = 0; i < 12; i++) {
		if (format < DA_PEBS_ADAPTIVE)
			put_fixed(&b, format, i * 64);
		else
			put_adaptive(&b, (i % 3 == 2 ? 0xb : 3) | (i % 4 == 3 ? 1 << 7 : 0), 4,
				     i * 64, i % 4 == 3 ? 16 : 0);
	}
	same_in_windows(&b, format);
	b.len -= 24; /* cut in the last record */
	same_in_windows(&b, format);
	if (format >= DA_PEBS_ADAPTIVE) {
		b.bytes[208 * 2 + 6] ^= 0x55; /* a size */
		b.bytes[208 * 2 + 7] ^= 0x10;
		same_in_windows(&b, format);
	}
}
END_TEST

START_TEST(unknown_groups)
{
	static struct block b;
	struct decode_result res;

	b.len = 0;
	for (unsigned i = 1; i <= 3; i++)
		put_adaptive(&b, 3 | 1 << 6, 0, 64 * i,
			     72); /* a group of a later CPU, behind the known ones */
	decode(&b, 6, DA_PEBS_SRC_NONE, &res);
	ck_assert_uint_eq(res.nr, 3);
	ck_assert_uint_eq(res.reports[2].vaddr, 192);
	decode_release(&res);
	/* counters and metrics take at least their header */
	b.len = 0;
	put_adaptive(&b, 1 | DA_PEBS_GROUP_COUNTERS, 0, 64, 16 + 8 * 3);
	put_adaptive(&b, 1 | DA_PEBS_GROUP_COUNTERS | DA_PEBS_GROUP_METRICS, 0, 128, 16 + 8 * 5);
	decode(&b, 6, DA_PEBS_SRC_NONE, &res);
	ck_assert_uint_eq(res.nr, 2);
	decode_release(&res);
}
END_TEST

/* With groups that are unknown nothing but the likeness to the last header tells where the next record is. */
START_TEST(damage_among_unknown_groups)
{
	static struct block b;
	struct decode_result res;

	b.len = 0;
	for (unsigned i = 1; i <= 5; i++)
		put_adaptive(&b, 1 | 1 << 8, 0, 64 * i, 40);
	b.bytes[2 * 104 + 6] ^= 1; /* the third one's size is no multiple of 8 */
	decode(&b, 6, DA_PEBS_SRC_NONE, &res);
	ck_assert(res.nr == 4 && res.stats.damaged_records == 1 && res.stats.resync_bytes == 104);
	ck_assert(res.reports[1].vaddr == 128 && res.reports[2].vaddr == 256);
	decode_release(&res);
}
END_TEST

/* A damaged header costs its record and no other. */
START_TEST(damaged_headers)
{
	const unsigned nr = 50, hurt = 20;
	static struct block b, copy;

	b.len = 0;
	for (unsigned i = 0; i < nr; i++)
		put_adaptive(&b, 3, 0, 0x10000 + 64 * i, 0);
	for (unsigned byte = 0; byte < 8; byte++) {
		for (unsigned v = 1; v < 256; v++) {
			struct decode_result res;
			unsigned found = 0;

			copy = b;
			copy.bytes[hurt * 208 + byte] ^= (uint8_t)v;
			decode(&copy, 5, DA_PEBS_SRC_NONE, &res);
			for (size_t i = 0; i < res.nr; i++) {
				uint64_t n = (res.reports[i].vaddr - 0x10000) / 64;

				must(n < nr, "an address that is none");
				found += n != hurt;
			}
			ck_assert_msg(found == nr - 1, "byte %u ^ %02x: %u of %u others", byte, v,
				      found, nr - 1);
			ck_assert_uint_eq(res.stats.resync_bytes,
					  res.stats.damaged_records ? 208 : 0);
			ck_assert(byte < 6 || res.stats.damaged_records == 1);
			decode_release(&res);
		}
	}
}
END_TEST

START_TEST(no_header_at_all)
{
	static struct block b;
	struct decode_result res;

	b.len = 0;
	put_many(&b, UINT64_MAX / 3, 100);
	decode(&b, 4, DA_PEBS_SRC_NONE, &res);
	ck_assert(res.nr == 0 && res.calls == 1 && res.stats.damaged_records == 1 &&
		  res.stats.resync_bytes == 800);
	/* good records behind it are found */
	put_adaptive(&b, 1, 0, 64, 0);
	put_adaptive(&b, 1, 0, 128, 0);
	decode(&b, 4, DA_PEBS_SRC_NONE, &res);
	ck_assert(res.nr == 2 && res.stats.damaged_records == 1 && res.stats.resync_bytes == 800);
	decode_release(&res);
}
END_TEST

START_TEST(gap)
{
	static struct block b;
	struct da_pebs_state st = {0};
	struct decode_result res = {0};
	struct da_sink sink = decode_sink(&res, false);
	struct da_input in = {.bytes = b.bytes, .pebs_format = DA_PEBS_SKL};

	b.len = 0;
	put_fixed(&b, DA_PEBS_SKL, 64);
	in.len = 100;
	ck_assert_uint_eq(pebs->decode(&st, &in, &sink, &res.stats), 0);
	in.len = 200;
	in.gap = true;
	ck_assert_uint_eq(pebs->decode(&st, &in, &sink, &res.stats), 200);
	ck_assert(res.stats.truncated_records == 1 && res.stats.records == 1 &&
		  decode_balanced(&res));
	/* the search for a header ends at a gap: there a record begins */
	b.len = 0;
	put(&b, 1);
	put_adaptive(&b, 1 | 1 << 8, 0, 64, 40);
	in = (struct da_input){.bytes = b.bytes, .len = 8, .pebs_format = 6};
	pebs->decode(&st, &in, &sink, &res.stats);
	ck_assert(st.resync && res.stats.damaged_records == 1);
	in = (struct da_input){
		.bytes = b.bytes + 8, .len = b.len - 8, .pebs_format = 6, .gap = true};
	ck_assert_uint_eq(pebs->decode(&st, &in, &sink, &res.stats), b.len - 8);
	ck_assert(res.nr == 2 && !st.resync && decode_balanced(&res));
	decode_release(&res);
}
END_TEST

/* ---- data sources ---- */

/* op, level, snoop ... as in the value of a sample */
static const struct {
	enum da_pebs_source src;
	uint64_t word, want;
} sources[] = {
	/* the common table, STLB hit, unlocked */
	{DA_PEBS_SRC_LOAD_SNB, 0x0, 0x10668080082},
	{DA_PEBS_SRC_LOAD_SNB, 0x1, 0x10268100142},
	{DA_PEBS_SRC_LOAD_SNB, 0x2, 0x11868100242},
	{DA_PEBS_SRC_LOAD_SNB, 0x3, 0x10468100442},
	{DA_PEBS_SRC_LOAD_SNB, 0x4, 0x10668100842},
	{DA_PEBS_SRC_LOAD_SNB, 0x5, 0x10668400842},
	{DA_PEBS_SRC_LOAD_SNB, 0x6, 0x10668200842},
	{DA_PEBS_SRC_LOAD_SNB, 0x7, 0x10668800842},
	{DA_PEBS_SRC_LOAD_SNB, 0x8, 0x12668208042},
	{DA_PEBS_SRC_LOAD_SNB, 0x9, 0x12668808042},
	{DA_PEBS_SRC_LOAD_SNB, 0xa, 0x11a68201042},
	{DA_PEBS_SRC_LOAD_SNB, 0xb, 0x12668202042},
	{DA_PEBS_SRC_LOAD_SNB, 0xc, 0x11a68501042},
	{DA_PEBS_SRC_LOAD_SNB, 0xd, 0x13a68502042},
	{DA_PEBS_SRC_LOAD_SNB, 0xe, 0x11e68120042},
	{DA_PEBS_SRC_LOAD_SNB, 0xf, 0x11e68140042},
	/* STLB miss, locked */
	{DA_PEBS_SRC_LOAD_SNB, 0x11, 0x10250100142},
	{DA_PEBS_SRC_LOAD_SNB, 0x31, 0x10252100142},
	{DA_PEBS_SRC_LOAD_SNB, 0xc1, 0x10268100142}, /* no blocked bits yet */
	{DA_PEBS_SRC_LOAD_NHM, 0x5, 0x605200842},
	{DA_PEBS_SRC_LOAD_NHM, 0x36, 0x605800842},
	{DA_PEBS_SRC_LOAD_NHM, 0x7, 0x605800842},
	{DA_PEBS_SRC_LOAD_SKL, 0x8, 0x10868200042},
	{DA_PEBS_SRC_LOAD_SKL, 0x9, 0x12868200042},
	{DA_PEBS_SRC_LOAD_SKL, 0xb, 0x13a68100042},
	{DA_PEBS_SRC_LOAD_SKL, 0xc, 0x17668000042},
	{DA_PEBS_SRC_LOAD_SKL, 0xd, 0x13668800042},
	{DA_PEBS_SRC_LOAD_GLC, 0x1, 0x10268100142},
	{DA_PEBS_SRC_LOAD_GLC, 0x41, 0x20268100142},
	{DA_PEBS_SRC_LOAD_GLC, 0x81, 0x40268100142},
	{DA_PEBS_SRC_LOAD_GLC, 0xc1, 0x60268100142},
	{DA_PEBS_SRC_STORE_GLC, 0xd1, 0x10250100144},
	/* Gracemont: bit 4 locked, bit 5 STLB miss */
	{DA_PEBS_SRC_LOAD_GRT, 0x11, 0x1026a100142},
	{DA_PEBS_SRC_LOAD_GRT, 0x21, 0x10250100142},
	{DA_PEBS_SRC_LOAD_GRT, 0x45, 0x20668200842},
	{DA_PEBS_SRC_LOAD_GRT, 0x8, 0x14668000842},
	{DA_PEBS_SRC_STORE_GRT, 0x1, 0x10268100144},
	/* Crestmont */
	{DA_PEBS_SRC_LOAD_CMT, 0x7, 0x14668000842},
	{DA_PEBS_SRC_LOAD_CMT, 0x8, 0x10668800842},
	{DA_PEBS_SRC_LOAD_CMT, 0x1a, 0x11a68101042}, /* the fifth bit is masked off */
	{DA_PEBS_SRC_LOAD_CMT, 0xc, 0x17a68000042},
	{DA_PEBS_SRC_LOAD_CMT, 0x21, 0x1026a100142},
	{DA_PEBS_SRC_LOAD_CMT, 0x41, 0x10250100142},
	{DA_PEBS_SRC_LOAD_CMT, 0x81, 0x20268100142},
	{DA_PEBS_SRC_STORE_CMT, 0x81, 0x20268100144},
	/* Lion Cove */
	{DA_PEBS_SRC_LOAD_LNC, 0x0, 0x10668080082},
	{DA_PEBS_SRC_LOAD_LNC, 0x2, 0x10268100142},
	{DA_PEBS_SRC_LOAD_LNC, 0x6, 0x10a68100042},
	{DA_PEBS_SRC_LOAD_LNC, 0xf, 0x10668800882},
	{DA_PEBS_SRC_LOAD_LNC, 0x10, 0x10c68100042},
	{DA_PEBS_SRC_LOAD_LNC, 0x11, 0x11a68101042},
	{DA_PEBS_SRC_LOAD_LNC, 0x4, 0x11e68080002},
	{DA_PEBS_SRC_LOAD_LNC, 0xff, 0x11e68080002},
	{DA_PEBS_SRC_LOAD_LNC, 0x3c01, 0x60252100142},
	{DA_PEBS_SRC_STORE_LNC, 0x1, 0x10268100144},
	/* stores that know only L1 */
	{DA_PEBS_SRC_STORE_SNB, 0x01, 0x48080144},
	{DA_PEBS_SRC_STORE_SNB, 0x30, 0x52080184},
	{DA_PEBS_SRC_DATALA_LOAD, 0x01, 0x1e05080022},
	{DA_PEBS_SRC_DATALA_STORE, 0x01, 0x1e05080144},
	{DA_PEBS_SRC_DATALA_STORE, 0x00, 0x1e05080184},
	{DA_PEBS_SRC_NONE, 0x01, 0},
};

START_TEST(data_sources)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		uint64_t got = da_pebs_data_src(sources[i].src, sources[i].word);

		ck_assert_msg(got == sources[i].want,
			      "kind %d word %" PRIx64 ": %" PRIx64 ", not %" PRIx64, sources[i].src,
			      sources[i].word, got, sources[i].want);
	}
	/* whatever the word, the operation is that of the event */
	for (int src = DA_PEBS_SRC_NONE + 1; src < DA_PEBS_SRC_NR; src++) {
		uint64_t op = da_pebs_data_src((enum da_pebs_source)src, 0) & 0x1f;

		ck_assert(op == 2 || op == 4);
		for (uint64_t w = 0; w < 0x4000; w++)
			must((da_pebs_data_src((enum da_pebs_source)src, w) & 0x1f) == op,
			     "kind %d word %" PRIx64, src, w);
	}
}
END_TEST

/* ---- vector file ---- */

START_TEST(vector_file)
{
	static const struct {
		const char *name;
		unsigned format;
		bool address, regs;
	} blobs[] = {
		{"core", 0, false, true},
		{"nhm", 1, true, true},
		{"hsw", 2, true, true},
		{"skl", 3, true, true},
		{"adaptive_0_0", 4, false, false},
		{"adaptive_1_0", 4, true, false},
		{"adaptive_3_0", 4, true, true},
		{"adaptive_7_0", 4, true, true},
		{"adaptive_b_4", 4, true, true},
		{"adaptive_f_32", 4, true, true},
	};
	char path[512];
	struct json_object *all, *v, *text;

	if (!shared_file("formats/vectors/pebs_raw.json", path, sizeof(path)))
		return;
	all = json_object_from_file(path);
	ck_assert_ptr_nonnull(all);
	for (size_t i = 0; i < sizeof(blobs) / sizeof(blobs[0]); i++) {
		static struct block b;
		struct decode_result res;

		ck_assert(json_object_object_get_ex(all, blobs[i].name, &v));
		json_object_object_get_ex(v, "hex", &text);
		b.len = from_hex(json_object_get_string(text), b.bytes, sizeof(b.bytes));
		json_object_object_get_ex(v, "len", &text);
		ck_assert_uint_eq(b.len, json_object_get_uint64(text));
		decode(&b, blobs[i].format, DA_PEBS_SRC_LOAD_GLC, &res);
		ck_assert_uint_eq(res.stats.records, 1);
		ck_assert_uint_eq(res.nr, blobs[i].address);
		ck_assert_uint_eq(seen.nr, blobs[i].regs);
		if (blobs[i].address)
			ck_assert_uint_eq(res.reports[0].vaddr,
					  blobs[i].format < 4 ? 0x7f0000001000 : 0x7f0000001040);
		if (blobs[i].regs)
			ck_assert_uint_eq(seen.vals[8], 0x401003);
		decode_release(&res);
	}
	json_object_put(all);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pebs");
	TCase *t = tcase_create("pebs");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_loop_test(t, fixed_formats, 0, 4);
	tcase_add_loop_test(t, adaptive_formats, 0, (int)(sizeof(adaptive) / sizeof(adaptive[0])));
	tcase_add_test(t, one_record_apart);
	tcase_add_test(t, absent_fields);
	tcase_add_test(t, base_is_kept);
	tcase_add_loop_test(t, windows, 0, 7);
	tcase_add_test(t, unknown_groups);
	tcase_add_test(t, damage_among_unknown_groups);
	tcase_add_test(t, damaged_headers);
	tcase_add_test(t, no_header_at_all);
	tcase_add_test(t, gap);
	tcase_add_test(t, data_sources);
	tcase_add_test(t, vector_file);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
