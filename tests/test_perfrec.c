/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attrs and samples, both ways and in both byte orders. perfgen.c is the second opinion about every layout.
 * Other records: test_perfside.c.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_perfdata.h"
#include "perfgen.h"

/* ---- attrs ---- */

static struct da_attr full_attr(void)
{
	return (struct da_attr){
		.type = 4,
		.size = 144,
		.config = 0x1122334455667788,
		.sample_period = 100003,
		.sample_type = DA_SAMPLE_IP | DA_SAMPLE_TID,
		.read_format = DA_FORMAT_ID | DA_FORMAT_LOST,
		.flags = DA_ATTR_DISABLED | DA_ATTR_FREQ | DA_ATTR_SAMPLE_ID_ALL |
			 DA_ATTR_BUILD_ID | 2ull << DA_ATTR_PRECISE_SHIFT,
		.wakeup_events = 0x01020304,
		.bp_type = 3,
		.config1 = 0x1111,
		.config2 = 0x2222,
		.branch_sample_type = 0x3333,
		.sample_regs_user = 0xff0fff,
		.sample_stack_user = 8192,
		.clockid = -2,
		.sample_regs_intr = 0xff0ffe,
		.aux_watermark = 0x4444,
		.sample_max_stack = 127,
		.aux_sample_size = 0x5555,
		.aux_action = 1,
		.sig_data = 0x6666,
		.config3 = 0x7777,
		.config4 = 0x8888,
	};
}

/* The attr as an entry of `size` bytes can tell it. */
static struct da_attr cut_attr(size_t size)
{
	struct da_attr a = full_attr();

	a.size = (uint32_t)size;
	if (size < 144)
		a.config4 = 0;
	if (size < 136)
		a.config3 = 0;
	if (size < 128)
		a.sig_data = 0;
	if (size < 120)
		a.aux_sample_size = a.aux_action = 0;
	if (size < 112)
		a.aux_watermark = a.sample_max_stack = 0;
	if (size < 104)
		a.sample_regs_intr = 0;
	if (size < 96)
		a.sample_regs_user = a.sample_stack_user = 0, a.clockid = 0;
	if (size < 80)
		a.branch_sample_type = 0;
	if (size < 72)
		a.config2 = 0;
	return a;
}

static void assert_attr_eq(const struct da_attr *a, const struct da_attr *b)
{
	ck_assert_uint_eq(a->type, b->type);
	ck_assert_uint_eq(a->size, b->size);
	ck_assert_uint_eq(a->config, b->config);
	ck_assert_uint_eq(a->sample_period, b->sample_period);
	ck_assert_uint_eq(a->sample_type, b->sample_type);
	ck_assert_uint_eq(a->read_format, b->read_format);
	ck_assert_uint_eq(a->flags, b->flags);
	ck_assert_uint_eq(a->wakeup_events, b->wakeup_events);
	ck_assert_uint_eq(a->bp_type, b->bp_type);
	ck_assert_uint_eq(a->config1, b->config1);
	ck_assert_uint_eq(a->config2, b->config2);
	ck_assert_uint_eq(a->branch_sample_type, b->branch_sample_type);
	ck_assert_uint_eq(a->sample_regs_user, b->sample_regs_user);
	ck_assert_uint_eq(a->sample_stack_user, b->sample_stack_user);
	ck_assert_int_eq(a->clockid, b->clockid);
	ck_assert_uint_eq(a->sample_regs_intr, b->sample_regs_intr);
	ck_assert_uint_eq(a->aux_watermark, b->aux_watermark);
	ck_assert_uint_eq(a->sample_max_stack, b->sample_max_stack);
	ck_assert_uint_eq(a->aux_sample_size, b->aux_sample_size);
	ck_assert_uint_eq(a->aux_action, b->aux_action);
	ck_assert_uint_eq(a->sig_data, b->sig_data);
	ck_assert_uint_eq(a->config3, b->config3);
	ck_assert_uint_eq(a->config4, b->config4);
}

static const size_t attr_sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 152, 200};

START_TEST(attr_parse_every_size)
{
	for (int swap = 0; swap < 2; swap++) {
		size_t size = attr_sizes[_i];
		struct da_attr full = full_attr(), want = cut_attr(size), got;
		struct gen g = {.swap = swap};

		gen_attr(&g, &full, size);
		ck_assert_uint_eq(g.len, size);
		/* shrunk to fit, so that a sanitizer sees a read past the end */
		g.p = realloc(g.p, size);
		ck_assert_int_eq(da_attr_parse(g.p, size, swap, &got), 0);
		assert_attr_eq(&got, &want);
		gen_free(&g);
	}
}
END_TEST

START_TEST(attr_parse_refuses_short)
{
	uint8_t b[64] = {0};
	struct da_attr a;

	for (size_t n = 0; n < 64; n++)
		ck_assert_int_eq(da_attr_parse(b, n, false, &a), -DA_EDAMAGED);
	ck_assert_int_eq(da_attr_parse(b, 64, false, &a), 0);
}
END_TEST

START_TEST(attr_build_every_size)
{
	size_t size = attr_sizes[_i];
	struct da_attr full = full_attr();
	struct gen g = {0};
	uint8_t b[256];

	if (size > 144)
		return;
	memset(b, 0xff, sizeof(b));
	da_attr_build(&full, size, b);
	gen_attr(&g, &full, size);
	ck_assert_mem_eq(b, g.p, size);
	for (size_t i = size; i < sizeof(b); i++)
		ck_assert_uint_eq(b[i], 0xff);
	gen_free(&g);
}
END_TEST

/* Each flag bit keeps its number through a file of the other byte order. */
START_TEST(attr_flags_mirrored)
{
	bool to_big = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

	for (int bit = 0; bit < 64; bit++) {
		struct da_attr a = {.flags = 1ull << bit}, got;
		struct gen g = {.swap = true};

		gen_attr(&g, &a, 64);
		ck_assert_uint_eq(g.p[40 + bit / 8], to_big ? 0x80 >> bit % 8 : 1 << bit % 8);
		ck_assert_int_eq(da_attr_parse(g.p, 64, true, &got), 0);
		ck_assert_uint_eq(got.flags, a.flags);
		gen_free(&g);
	}
}
END_TEST

START_TEST(attr_names)
{
	static const struct {
		struct da_attr a;
		const char *name;
	} rows[] = {
		{{.type = 0, .config = 0}, "cycles"},
		{{.type = 0, .config = 1, .flags = DA_ATTR_EXCLUDE_KERNEL}, "instructions:u"},
		{{.type = 0, .config = 0, .flags = 3ull << DA_ATTR_PRECISE_SHIFT}, "cycles:ppp"},
		{{.type = 0,
		  .config = 0x400000000,
		  .flags = DA_ATTR_EXCLUDE_USER | 1ull << DA_ATTR_PRECISE_SHIFT},
		 "cycles:kp"},
		{{.type = 0, .config = 99}, "pmu 0 config 0x63"},
		{{.type = 1, .config = 0, .flags = DA_ATTR_EXCLUDE_KERNEL | DA_ATTR_EXCLUDE_HV},
		 "cpu-clock:u"},
		{{.type = 1, .config = 2}, "page-faults"},
		{{.type = 1, .config = 5}, "minor-faults"},
		{{.type = 1, .config = 6}, "major-faults"},
		{{.type = 1, .config = 11}, "cgroup-switches"},
		{{.type = 1, .config = 12}, "pmu 1 config 0xc"},
		{{.type = 1, .config = 9, .flags = DA_ATTR_EXCLUDE_USER | DA_ATTR_EXCLUDE_KERNEL},
		 "dummy"},
		{{.type = 2, .config = 1329}, "tracepoint 1329"},
		{{.type = 3, .config = 0x10000}, "L1-dcache-load-misses"},
		{{.type = 3, .config = 0x00102}, "LLC-stores"},
		{{.type = 3, .config = 0x90000}, "hw-cache 0x90000"},
		{{.type = 4, .config = 0x1cd}, "raw 0x1cd"},
		{{.type = 5, .config1 = 0x401000, .bp_type = 4}, "mem:0x401000:x"},
		{{.type = 5, .config1 = 0x10, .bp_type = 3}, "mem:0x10:rw"},
		{{.type = 9, .config = 0x700000001}, "pmu 9 config 0x700000001"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char name[64], small[4];

		da_attr_name(&rows[i].a, name, sizeof(name));
		ck_assert_str_eq(name, rows[i].name);
		da_attr_name(&rows[i].a, small, sizeof(small));
		ck_assert_uint_eq(strlen(small), 3);
	}
}
END_TEST

/* ---- samples ---- */

static uint64_t u64s[64];
static uint8_t bytes[256];

/* A sample with a different value in every field. */
static struct da_samp full_samp(const struct da_attr *a)
{
	struct da_samp s = {
		.ip = 0x1111111111111101,
		.time_ns = 0x1111111111111102,
		.addr = 0x1111111111111103,
		.id = 0x1111111111111104,
		.stream_id = 0x1111111111111105,
		.period = 0x1111111111111106,
		.weight = 0x1111111111111107,
		.data_src = 0x1111111111111108,
		.transaction = 0x1111111111111109,
		.phys_addr = 0x111111111111110a,
		.cgroup = 0x111111111111110b,
		.data_page_size = 4096,
		.code_page_size = 2 << 20,
		.pid = 0x01020304,
		.tid = 0x05060708,
		.cpu = 0x090a0b0c,
		.nr_callchain = 3,
		.raw_size = 20, /* 4 + 20 is a multiple of 8 */
		.nr_branches = 2,
		.hw_idx = 0x111111111111110c,
		.stack_size = 16,
		.stack_dyn_size = 9,
		.aux_size = 24,
	};

	for (size_t i = 0; i < sizeof(u64s) / sizeof(u64s[0]); i++)
		u64s[i] = 0xabcd000000000000 + i;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 1);
	s.callchain = (uint8_t *)&u64s[0];
	s.raw = bytes;
	s.branches = (uint8_t *)&u64s[8];
	s.branch_counters = (uint8_t *)&u64s[16];
	s.regs_user = (struct da_regs){
		.abi = 2, .mask = a->sample_regs_user, .vals = (uint8_t *)&u64s[20]};
	s.regs_intr = (struct da_regs){
		.abi = 1, .mask = a->sample_regs_intr, .vals = (uint8_t *)&u64s[30]};
	s.stack = bytes + 50;
	s.aux = bytes + 100;
	s.read = (uint8_t *)&u64s[40];
	s.read_size = 8;
	return s;
}

static void assert_u64s_eq(const uint8_t *got, const uint8_t *want, uint64_t n, bool swap)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t g, w;

		memcpy(&g, got + 8 * i, 8);
		memcpy(&w, want + 8 * i, 8);
		ck_assert_uint_eq(swap ? __builtin_bswap64(g) : g, w);
	}
}

static void assert_regs_eq(const struct da_regs *got, const struct da_regs *want, bool swap)
{
	ck_assert_uint_eq(got->abi, want->abi);
	if (!want->abi)
		return;
	ck_assert_uint_eq(got->mask, want->mask);
	ck_assert_int_eq(got->swap, swap);
	assert_u64s_eq(got->vals, want->vals, (uint64_t)__builtin_popcountll(want->mask), swap);
}

static void assert_samp_eq(const struct da_samp *got, const struct da_samp *want,
			   const struct da_attr *a, bool swap)
{
	uint64_t t = a->sample_type;

	ck_assert_uint_eq(got->mask, t);
	if (t & (DA_SAMPLE_ID | DA_SAMPLE_IDENTIFIER))
		ck_assert_uint_eq(got->id, want->id);
	if (t & DA_SAMPLE_IP)
		ck_assert_uint_eq(got->ip, want->ip);
	if (t & DA_SAMPLE_TID) {
		ck_assert_uint_eq(got->pid, want->pid);
		ck_assert_uint_eq(got->tid, want->tid);
	}
	if (t & DA_SAMPLE_TIME)
		ck_assert_uint_eq(got->time_ns, want->time_ns);
	if (t & DA_SAMPLE_ADDR)
		ck_assert_uint_eq(got->addr, want->addr);
	if (t & DA_SAMPLE_STREAM_ID)
		ck_assert_uint_eq(got->stream_id, want->stream_id);
	if (t & DA_SAMPLE_CPU)
		ck_assert_uint_eq(got->cpu, want->cpu);
	if (t & DA_SAMPLE_PERIOD)
		ck_assert_uint_eq(got->period, want->period);
	if (t & DA_SAMPLE_READ) {
		ck_assert_uint_eq(got->read_size, want->read_size);
		assert_u64s_eq(got->read, want->read, want->read_size / 8, swap);
	}
	if (t & DA_SAMPLE_CALLCHAIN) {
		ck_assert_uint_eq(got->nr_callchain, want->nr_callchain);
		assert_u64s_eq(got->callchain, want->callchain, want->nr_callchain, swap);
	}
	if (t & DA_SAMPLE_RAW) {
		ck_assert_uint_eq(got->raw_size, want->raw_size);
		ck_assert_mem_eq(got->raw, want->raw, want->raw_size);
	}
	if (t & DA_SAMPLE_BRANCH_STACK) {
		ck_assert_uint_eq(got->nr_branches, want->nr_branches);
		assert_u64s_eq(got->branches, want->branches, 3 * want->nr_branches, swap);
		if (a->branch_sample_type & 1 << 17)
			ck_assert_uint_eq(got->hw_idx, want->hw_idx);
		if (a->branch_sample_type & 1 << 19)
			assert_u64s_eq(got->branch_counters, want->branch_counters,
				       want->nr_branches, swap);
		else
			ck_assert_ptr_null(got->branch_counters);
	}
	if (t & DA_SAMPLE_REGS_USER)
		assert_regs_eq(&got->regs_user, &want->regs_user, swap);
	if (t & DA_SAMPLE_STACK_USER) {
		ck_assert_uint_eq(got->stack_size, want->stack_size);
		if (want->stack_size) {
			ck_assert_mem_eq(got->stack, want->stack, want->stack_size);
			ck_assert_uint_eq(got->stack_dyn_size, want->stack_dyn_size);
		}
	}
	if (t & (DA_SAMPLE_WEIGHT | DA_SAMPLE_WEIGHT_STRUCT))
		ck_assert_uint_eq(got->weight, want->weight);
	if (t & DA_SAMPLE_DATA_SRC)
		ck_assert_uint_eq(got->data_src, want->data_src);
	if (t & DA_SAMPLE_TRANSACTION)
		ck_assert_uint_eq(got->transaction, want->transaction);
	if (t & DA_SAMPLE_REGS_INTR)
		assert_regs_eq(&got->regs_intr, &want->regs_intr, swap);
	if (t & DA_SAMPLE_PHYS_ADDR)
		ck_assert_uint_eq(got->phys_addr, want->phys_addr);
	if (t & DA_SAMPLE_CGROUP)
		ck_assert_uint_eq(got->cgroup, want->cgroup);
	if (t & DA_SAMPLE_DATA_PAGE_SIZE)
		ck_assert_uint_eq(got->data_page_size, want->data_page_size);
	if (t & DA_SAMPLE_CODE_PAGE_SIZE)
		ck_assert_uint_eq(got->code_page_size, want->code_page_size);
	if (t & DA_SAMPLE_AUX) {
		ck_assert_uint_eq(got->aux_size, want->aux_size);
		ck_assert_mem_eq(got->aux, want->aux, want->aux_size);
	}
}

/* Parses exactly these bytes from a heap block of exactly their size. */
static int parse_exact(const struct da_attr *a, const uint8_t *rec, size_t size, bool swap,
		       struct da_samp *out, uint8_t **block)
{
	*block = malloc(size ? size : 1);
	memcpy(*block, rec, size);
	return da_samp_parse(a, *block, size, swap, out);
}

/* The whole trip for one attr: build, the second opinion, parse in both byte orders, every cut. */
static void trip(const struct da_attr *a, const struct da_samp *s)
{
	static uint8_t buf[4096];
	struct da_samp got;
	struct gen g = {0};
	uint8_t *block;
	int size;

	memset(buf, 0xff, sizeof(buf));
	size = da_samp_build(a, 0x4002, s, buf, sizeof(buf));
	gen_end(&g, gen_rec(&g, 9, 0x4002));
	gen_sample_body(&g, a, s);
	gen_set_u16(&g, 6, (uint16_t)g.len);
	ck_assert_int_eq(size, (int)g.len);
	ck_assert_mem_eq(buf, g.p, g.len);
	for (size_t i = g.len; i < g.len + 64; i++)
		ck_assert_uint_eq(buf[i], 0xff);
	/* exactly enough room, and one byte less */
	ck_assert_int_eq(da_samp_build(a, 0x4002, s, buf, g.len), (int)g.len);
	ck_assert_int_eq(da_samp_build(a, 0x4002, s, buf, g.len - 1), -DA_ENOMEM);

	for (int swap = 0; swap < 2; swap++) {
		struct gen o = {.swap = swap};

		gen_sample(&o, a, s);
		ck_assert_int_eq(parse_exact(a, o.p, o.len, swap, &got, &block), 0);
		assert_samp_eq(&got, s, a, swap);
		free(block);
		/* what is cut off is what is missing */
		for (size_t cut = 0; cut < o.len; cut++) {
			int ret = parse_exact(a, o.p, cut, swap, &got, &block);

			ck_assert_int_eq(ret, -DA_EDAMAGED);
			ck_assert_uint_ne(got.mask & a->sample_type,
					  a->sample_type | (a->sample_type == 0));
			free(block);
		}
		/* trailing bytes are allowed */
		gen_fill(&o, 0xff, 24);
		ck_assert_int_eq(parse_exact(a, o.p, o.len, swap, &got, &block), 0);
		assert_samp_eq(&got, s, a, swap);
		free(block);
		gen_free(&o);
	}
	gen_free(&g);
}

static struct da_attr samp_attr(uint64_t type)
{
	return (struct da_attr){.sample_type = type,
				.sample_regs_user = 0x8000000000000103,
				.sample_regs_intr = 0xff};
}

/* The bits that the tests below make; a bit that the header gains fails here. */
#define TESTED ((1ull << 25) - 1)

START_TEST(samp_all_bits_known)
{
	ck_assert_uint_eq(TESTED, DA_SAMPLE_KNOWN);
}
END_TEST

START_TEST(samp_each_bit)
{
	struct da_attr a = samp_attr(1ull << _i);
	struct da_samp s = full_samp(&a);

	trip(&a, &s);
}
END_TEST

START_TEST(samp_each_pair)
{
	for (int k = 0; k < _i; k++) {
		struct da_attr a = samp_attr(1ull << _i | 1ull << k);
		struct da_samp s = full_samp(&a);

		if (a.sample_type == (DA_SAMPLE_WEIGHT | DA_SAMPLE_WEIGHT_STRUCT))
			continue; /* no kernel accepts both */
		trip(&a, &s);
	}
}
END_TEST

START_TEST(samp_all_together)
{
	struct da_attr a = samp_attr(TESTED & ~DA_SAMPLE_WEIGHT_STRUCT);
	struct da_samp s = full_samp(&a);

	trip(&a, &s);
	a.sample_type = TESTED & ~DA_SAMPLE_WEIGHT;
	trip(&a, &s);
	a.branch_sample_type = 1 << 17;
	trip(&a, &s);
	a.branch_sample_type = 1 << 19;
	trip(&a, &s);
	a.branch_sample_type = 1 << 17 | 1 << 19;
	trip(&a, &s);
	s.regs_user.abi = s.regs_intr.abi = 0;
	s.stack_size = s.aux_size = s.nr_callchain = s.nr_branches = 0;
	trip(&a, &s);
}
END_TEST

/* None of the fields: a sample is its header. */
START_TEST(samp_no_bits)
{
	struct da_attr a = samp_attr(0);
	struct da_samp s = full_samp(&a), got;
	uint8_t buf[16];

	ck_assert_int_eq(da_samp_build(&a, 2, &s, buf, sizeof(buf)), 8);
	ck_assert_int_eq(da_samp_parse(&a, buf, 8, false, &got), 0);
	ck_assert_uint_eq(got.mask, 0);
	ck_assert_int_eq(da_samp_parse(&a, buf, 7, false, &got), -DA_EDAMAGED);
}
END_TEST

START_TEST(samp_unknown_bits_ignored)
{
	struct da_attr a = samp_attr(DA_SAMPLE_IP | 1ull << 25 | 1ull << 63);
	struct da_samp s = full_samp(&a), got;
	uint8_t buf[32];

	ck_assert_int_eq(da_samp_build(&a, 2, &s, buf, sizeof(buf)), 16);
	ck_assert_int_eq(da_samp_parse(&a, buf, 16, false, &got), 0);
	ck_assert_uint_eq(got.mask, DA_SAMPLE_IP);
}
END_TEST

/* All read formats; a group's number of members is in the block. */
START_TEST(samp_read_formats)
{
	uint64_t format = (uint64_t)_i;
	struct da_attr a = samp_attr(DA_SAMPLE_IP | DA_SAMPLE_READ | DA_SAMPLE_PHYS_ADDR);
	struct da_samp s = full_samp(&a);
	uint64_t times = (format & 1) + (format >> 1 & 1),
		 member = 1 + (format >> 2 & 1) + (format >> 4 & 1);
	uint64_t block[32];

	for (size_t i = 0; i < 32; i++)
		block[i] = 0x500 + i;
	block[0] = 3;
	a.read_format = format;
	s.read = (uint8_t *)block;
	s.read_size = 8 * (format & DA_FORMAT_GROUP ? 1 + times + 3 * member : times + member);
	trip(&a, &s);
	if (format & DA_FORMAT_GROUP) {
		block[0] = 0;
		s.read_size = 8 * (1 + times);
		trip(&a, &s);
	}
}
END_TEST

/* Raw bytes of any length are padded as the kernel pads them. */
START_TEST(samp_raw_padding)
{
	struct da_attr a = samp_attr(DA_SAMPLE_RAW | DA_SAMPLE_PHYS_ADDR);
	struct da_samp s = full_samp(&a), got;
	uint8_t buf[128];
	int size;

	s.raw_size = (uint32_t)_i;
	size = da_samp_build(&a, 2, &s, buf, sizeof(buf));
	ck_assert_int_eq(size, 8 + (4 + _i + 7) / 8 * 8 + 8);
	ck_assert_int_eq(da_samp_parse(&a, buf, (size_t)size, false, &got), 0);
	ck_assert_uint_eq((4 + got.raw_size) % 8, 0);
	ck_assert_uint_ge(got.raw_size, s.raw_size);
	ck_assert_uint_lt(got.raw_size, s.raw_size + 8);
	ck_assert_mem_eq(got.raw, s.raw, s.raw_size);
	for (uint32_t i = s.raw_size; i < got.raw_size; i++)
		ck_assert_uint_eq(got.raw[i], 0);
	ck_assert_uint_eq(got.phys_addr, s.phys_addr);
}
END_TEST

/* Stack and AUX bytes keep the record a multiple of 8. */
START_TEST(samp_stack_and_aux_padding)
{
	struct da_attr a = samp_attr(DA_SAMPLE_STACK_USER | DA_SAMPLE_AUX);
	struct da_samp s = full_samp(&a), got;
	uint8_t buf[256];
	int size;

	s.stack_size = 13;
	s.aux_size = 5;
	size = da_samp_build(&a, 2, &s, buf, sizeof(buf));
	ck_assert_int_eq(size, 8 + 8 + 16 + 8 + 8 + 8);
	ck_assert_int_eq(da_samp_parse(&a, buf, (size_t)size, false, &got), 0);
	ck_assert_uint_eq(got.stack_size, 16);
	ck_assert_mem_eq(got.stack, s.stack, 13);
	ck_assert_uint_eq(got.stack_dyn_size, s.stack_dyn_size);
	ck_assert_uint_eq(got.aux_size, 8);
	ck_assert_mem_eq(got.aux, s.aux, 5);
}
END_TEST

/* Counts and sizes that no record can hold, among them those whose product wraps. */
START_TEST(samp_hostile_counts)
{
	static const uint64_t counts[] = {
		5,          1 << 16,          1ull << 29,         1ull << 32, (1ull << 61) - 1,
		1ull << 61, (1ull << 61) + 1, 0x0aaaaaaaaaaaaaab, /* times 24 wraps to 8 */
		1ull << 63, UINT64_MAX - 7,   UINT64_MAX};
	static const struct {
		uint64_t type, format, branch;
		uint64_t before; /* mask of what was read before it */
	} fields[] = {
		{DA_SAMPLE_CALLCHAIN, 0, 0, 0},
		{DA_SAMPLE_BRANCH_STACK, 0, 0, 0},
		{DA_SAMPLE_BRANCH_STACK, 0, 1 << 17, 0},
		{DA_SAMPLE_BRANCH_STACK, 0, 1 << 19, 0},
		{DA_SAMPLE_READ, DA_FORMAT_GROUP, 0, 0},
		{DA_SAMPLE_READ, DA_FORMAT_GROUP | DA_FORMAT_ID | DA_FORMAT_LOST, 0, 0},
		{DA_SAMPLE_STACK_USER, 0, 0, 0},
		{DA_SAMPLE_AUX, 0, 0, 0},
		{DA_SAMPLE_IP | DA_SAMPLE_AUX, 0, 0, DA_SAMPLE_IP},
	};

	for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++) {
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
			struct da_attr a = {.sample_type = fields[f].type,
					    .read_format = fields[f].format,
					    .branch_sample_type = fields[f].branch};
			struct gen g = {0};
			struct da_samp got;
			uint8_t *block;
			bool fits;

			gen_rec(&g, 9, 2);
			if (fields[f].before & DA_SAMPLE_IP)
				gen_u64(&g, 0x401000);
			gen_u64(&g, counts[i]);
			gen_u64(&g, 1);
			if (counts[i] > 5)
				gen_u64(&g, 2);
			/* 5 bytes of AUX are there; 5 of anything else are not */
			fits = counts[i] == 5 && fields[f].type & DA_SAMPLE_AUX;
			ck_assert_int_eq(parse_exact(&a, g.p, g.len, false, &got, &block),
					 fits ? 0 : -DA_EDAMAGED);
			ck_assert_uint_eq(got.mask & fields[f].before, fields[f].before);
			free(block);
			gen_free(&g);
		}
	}
}
END_TEST

START_TEST(samp_hostile_raw_and_regs)
{
	struct da_attr a = {.sample_type = DA_SAMPLE_RAW};
	struct gen g = {0};
	struct da_samp got;
	uint8_t *block;

	gen_rec(&g, 9, 2);
	gen_u32(&g, UINT32_MAX);
	gen_u32(&g, 0);
	ck_assert_int_eq(parse_exact(&a, g.p, g.len, false, &got, &block), -DA_EDAMAGED);
	ck_assert_ptr_null(got.raw);
	free(block);
	gen_free(&g);

	/* an abi that no kernel writes: whatever follows is not registers */
	for (uint64_t abi = 0; abi < 300; abi++) {
		a = (struct da_attr){.sample_type = DA_SAMPLE_REGS_INTR, .sample_regs_intr = 3};
		gen_rec(&g, 9, 2);
		gen_u64(&g, abi | (abi == 299 ? 1ull << 40 : 0));
		gen_u64(&g, 7);
		gen_u64(&g, 8);
		ck_assert_int_eq(parse_exact(&a, g.p, g.len, false, &got, &block),
				 abi <= 2 ? 0 : -DA_EDAMAGED);
		ck_assert_uint_eq(got.regs_intr.abi, abi <= 2 ? abi : 0);
		ck_assert_int_eq(got.regs_intr.vals != NULL, abi == 1 || abi == 2);
		free(block);
		gen_free(&g);
	}
}
END_TEST

START_TEST(samp_build_too_long)
{
	struct da_attr a = samp_attr(DA_SAMPLE_RAW);
	struct da_samp s = full_samp(&a);
	uint8_t *big = calloc(1, 1 << 17), *out = malloc(1 << 17);

	s.raw = big;
	s.raw_size = 65535 - 12 - 7; /* 65528 bytes in all */
	ck_assert_int_eq(da_samp_build(&a, 2, &s, out, 1 << 17), 65528);
	s.raw_size = 65535 - 12;
	ck_assert_int_eq(da_samp_build(&a, 2, &s, out, 1 << 17), -DA_ENOMEM);
	s.raw_size = UINT32_MAX;
	ck_assert_int_eq(da_samp_build(&a, 2, &s, out, 1 << 17), -DA_ENOMEM);
	a = samp_attr(DA_SAMPLE_CALLCHAIN | DA_SAMPLE_BRANCH_STACK);
	s.nr_callchain = (1ull << 61) + 1;
	ck_assert_int_eq(da_samp_build(&a, 2, &s, out, 1 << 17), -DA_ENOMEM);
	s.nr_callchain = 0;
	s.nr_branches = UINT64_MAX;
	ck_assert_int_eq(da_samp_build(&a, 2, &s, out, 1 << 17), -DA_ENOMEM);
	free(big);
	free(out);
}
END_TEST

/* DA_WRITE_SEEDS=tests/fuzz/corpus/sample writes seeds for tests/fuzz/fuzz_sample.c; they are committed. */
START_TEST(write_seeds)
{
	const char *dir = getenv("DA_WRITE_SEEDS");

	static const uint64_t types[] = {
		TESTED & ~DA_SAMPLE_WEIGHT, 0x10001e7, DA_SAMPLE_REGS_INTR | DA_SAMPLE_IP,
		DA_SAMPLE_CALLCHAIN | DA_SAMPLE_BRANCH_STACK, DA_SAMPLE_RAW | DA_SAMPLE_AUX};

	for (int i = 0; i < 10; i++) {
		struct da_attr a = samp_attr(types[i / 2]);
		struct gen g = {.swap = i & 1};
		struct da_samp s;
		char *path;
		FILE *f;

		a.flags = DA_ATTR_SAMPLE_ID_ALL;
		s = full_samp(&a);
		gen_bytes(&g, i & 1 ? "\1" : "\0", 1);
		gen_bytes(&g, "@", 1); /* attr.size 64 + 64 */
		gen_attr(&g, &a, 128);
		gen_sample(&g, &a, &s);
		ck_assert_int_gt(asprintf(&path, "%s/%d", dir, i), 0);
		f = fopen(path, "w");
		ck_assert(f && fwrite(g.p, 1, g.len, f) == g.len && !fclose(f));
		free(path);
		gen_free(&g);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfrec");
	TCase *attrs = tcase_create("attr"), *samples = tcase_create("sample");
	SRunner *runner;
	int failed;

	if (getenv("DA_WRITE_SEEDS"))
		tcase_add_test(samples, write_seeds);
	tcase_add_loop_test(attrs, attr_parse_every_size, 0,
			    sizeof(attr_sizes) / sizeof(attr_sizes[0]));
	tcase_add_loop_test(attrs, attr_build_every_size, 0,
			    sizeof(attr_sizes) / sizeof(attr_sizes[0]));
	tcase_add_test(attrs, attr_parse_refuses_short);
	tcase_add_test(attrs, attr_flags_mirrored);
	tcase_add_test(attrs, attr_names);
	suite_add_tcase(suite, attrs);

	tcase_add_test(samples, samp_all_bits_known);
	tcase_add_loop_test(samples, samp_each_bit, 0, 25);
	tcase_add_loop_test(samples, samp_each_pair, 1, 25);
	tcase_add_test(samples, samp_all_together);
	tcase_add_test(samples, samp_no_bits);
	tcase_add_test(samples, samp_unknown_bits_ignored);
	tcase_add_loop_test(samples, samp_read_formats, 0, 32);
	tcase_add_loop_test(samples, samp_raw_padding, 0, 17);
	tcase_add_test(samples, samp_stack_and_aux_padding);
	tcase_add_test(samples, samp_hostile_counts);
	tcase_add_test(samples, samp_hostile_raw_and_regs);
	tcase_add_test(samples, samp_build_too_long);
	suite_add_tcase(suite, samples);

	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
