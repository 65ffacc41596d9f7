/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SPE traces of a recording through the offline decode: whose a record is and when it was, pieces that cut
 * records, gaps, what the kernel says was lost, both forms of metadata, and that neither the size of the
 * parts nor the number of threads changes anything.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/gen_spe.h"
#include "da_error.h"
#include "da_offline.h"
#include "da_render.h"
#include "perfgen.h"

#define T0     1000000000ull
#define SPE    0
#define DUMMY  1
#define PMU    9
#define NONE32 UINT32_MAX
#define SAMPLE_TYPE                                                                                \
	(DA_SAMPLE_IDENTIFIER | DA_SAMPLE_IP | DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_CPU)
#define MAX_SEEN 64

static struct gen_file file;
static struct gen spe; /* trace bytes under construction */
static char *path;
static struct da_offline *off;
static const struct da_offline_result *res;
static struct da_offline_opts opts;
static struct da_error err;
static struct da_report seen[MAX_SEEN];
static size_t nr_seen;

static bool see(void *ctx, const struct da_offline *o, const struct da_report *r)
{
	(void)ctx;
	(void)o;
	if (nr_seen < MAX_SEEN)
		seen[nr_seen] = *r;
	nr_seen++;
	return true;
}

static void set_up(void)
{
	memset(&file, 0, sizeof(file));
	memset(&opts, 0, sizeof(opts));
	memset(&err, 0, sizeof(err));
	nr_seen = 0;
	opts.match.virt = opts.match.accumulate = true;
	opts.report = see;
	file.nr_ev = 2;
	file.ev[SPE] = (struct gen_event){
		.attr = {.type = PMU,
			 .config = 0x700010007,
			 .sample_period = 1024,
			 .sample_type = SAMPLE_TYPE,
			 .flags = DA_ATTR_SAMPLE_ID_ALL},
		.name = "spe",
		.ids = {11},
		.nr_ids = 1,
	};
	file.ev[DUMMY] = (struct gen_event){
		.attr = {.type = DA_TYPE_SOFTWARE,
			 .config = DA_SW_DUMMY,
			 .sample_period = 1,
			 .sample_type = SAMPLE_TYPE,
			 .flags = DA_ATTR_SAMPLE_ID_ALL},
		.name = "dummy:u",
		.ids = {21},
		.nr_ids = 1,
	};
}

static void close_all(void)
{
	da_offline_close(off);
	off = NULL;
	if (path)
		gen_unlink(path);
	path = NULL;
}

static void tear_down(void)
{
	close_all();
	gen_file_free(&file);
	gen_free(&spe);
}

static void run_again(void)
{
	da_offline_close(off);
	off = NULL;
	nr_seen = 0;
	ck_assert_msg(!da_offline_open(&off, path, &opts, &err), "%s", err.msg);
	ck_assert_msg(!da_offline_run(off, &err), "%s", err.msg);
	res = da_offline_result(off);
	ck_assert(da_ledger_conserves(&res->ledger, NULL));
}

static void run_it(bool pipe)
{
	struct gen out = {0};

	close_all();
	if (pipe)
		gen_pipe_build(&file, &out);
	else
		gen_file_build(&file, &out);
	path = gen_write(out.p, out.len);
	gen_free(&out);
	run_again();
}

/* ---- records of the file ---- */

static const struct da_attr *attr(void)
{
	return &file.ev[DUMMY].attr;
}

static void info_v1(void)
{
	size_t rec = gen_rec(&file.data, DA_REC_AUXTRACE_INFO, 0);

	gen_u32(&file.data, 4);
	gen_u32(&file.data, 0);
	gen_u64(&file.data, PMU);
	gen_u64(&file.data, 0);
	gen_end(&file.data, rec);
}

/* CPUs 0 and 1, with MIDRs and params of each; more than 4 are only claimed. */
static void info_v2(uint64_t midr0, uint64_t midr1, uint64_t params)
{
	size_t rec = gen_rec(&file.data, DA_REC_AUXTRACE_INFO, 0);
	const uint64_t midr[] = {midr0, midr1};

	gen_u32(&file.data, 4);
	gen_u32(&file.data, 0);
	gen_u64(&file.data, 2);
	gen_u64(&file.data, 4);
	gen_u64(&file.data, PMU);
	gen_u64(&file.data, 2);
	for (uint64_t cpu = 0; cpu < 2; cpu++) {
		gen_u64(&file.data, 0x1010101010101010);
		gen_u64(&file.data, cpu);
		gen_u64(&file.data, params <= 4 ? params : UINT64_MAX / 8);
		gen_u64(&file.data, midr[cpu]);
		gen_u64(&file.data, PMU);
		for (uint64_t i = 2; i < params && i < 4; i++)
			gen_u64(&file.data, 256);
	}
	gen_end(&file.data, rec);
}

static void clock_is(uint64_t shift, uint64_t mult, uint64_t zero)
{
	size_t rec = gen_rec(&file.data, DA_REC_TIME_CONV, 0);

	gen_u64(&file.data, shift);
	gen_u64(&file.data, mult);
	gen_u64(&file.data, zero);
	gen_end(&file.data, rec);
}

static void comm(uint32_t pid, const char *name, uint64_t time)
{
	gen_comm(&file.data, attr(), name, pid, time, 21);
}

static void map(uint32_t pid, uint64_t start, uint64_t len, const char *name, uint64_t time)
{
	size_t rec = gen_rec(&file.data, DA_REC_MMAP2, 0);

	gen_u32(&file.data, pid);
	gen_u32(&file.data, pid);
	gen_u64(&file.data, start);
	gen_u64(&file.data, len);
	gen_u64(&file.data, 0);
	gen_u32(&file.data, 8);
	gen_u32(&file.data, 1);
	gen_u64(&file.data, 4711);
	gen_u64(&file.data, 0);
	gen_u32(&file.data, PROT_READ | PROT_WRITE);
	gen_u32(&file.data, MAP_PRIVATE);
	gen_padded(&file.data, name, 8);
	gen_trailer(&file.data, attr(), pid, pid, time, 21, 0);
	gen_end(&file.data, rec);
}

/* A thread begins or ends. */
static void task(uint32_t type, uint32_t pid, uint32_t tid, uint64_t time)
{
	size_t rec = gen_rec(&file.data, type, 0);

	gen_u32(&file.data, pid);
	gen_u32(&file.data, pid);
	gen_u32(&file.data, tid);
	gen_u32(&file.data, pid);
	gen_u64(&file.data, time);
	gen_trailer(&file.data, attr(), pid, tid, time, 21, 0);
	gen_end(&file.data, rec);
}

static void switch_in(uint32_t cpu, uint32_t pid, uint64_t time)
{
	size_t rec = gen_rec(&file.data, DA_REC_SWITCH_CPU_WIDE, DA_MISC_SWITCH_OUT);

	gen_u32(&file.data, pid); /* who comes next */
	gen_u32(&file.data, pid);
	gen_trailer(&file.data, attr(), 1, 1, time, 21, cpu);
	gen_end(&file.data, rec);
}

static void aux(uint32_t cpu, uint32_t tid, uint64_t offset, uint64_t size, uint64_t flags,
		uint64_t time)
{
	size_t rec = gen_rec(&file.data, DA_REC_AUX, 0);

	gen_u64(&file.data, offset);
	gen_u64(&file.data, size);
	gen_u64(&file.data, flags);
	gen_trailer(&file.data, &file.ev[SPE].attr, tid, tid, time, 11, cpu);
	gen_end(&file.data, rec);
}

/* A piece as perf writes it: padded to 8 bytes, which do not count for the next offset. */
static void piece(uint32_t cpu, uint32_t tid, uint64_t offset, const void *p, size_t n)
{
	size_t rec = gen_rec(&file.data, DA_REC_AUXTRACE, 0);
	size_t padded = (n + 7) & ~(size_t)7;

	gen_u64(&file.data, padded);
	gen_u64(&file.data, offset);
	gen_u64(&file.data, 0x1234);
	gen_u32(&file.data, cpu == NONE32 ? 0 : cpu); /* idx */
	gen_u32(&file.data, tid);
	gen_u32(&file.data, cpu);
	gen_u32(&file.data, 0);
	gen_end(&file.data, rec);
	gen_bytes(&file.data, p, n);
	gen_fill(&file.data, 0, padded - n);
}

/* ---- trace bytes ---- */

static void packet(uint8_t head, uint64_t payload, unsigned bytes)
{
	uint8_t buf[16];

	gen_bytes(&spe, buf, (size_t)(gen_spe_put(buf, head, payload, bytes) - buf));
}

/* PC, op, VA, and what is not 0 of PA, latency, context; time: ticks, or END if 0. */
static void access_of(uint8_t op, uint64_t va, uint64_t pa, uint16_t latency, uint32_t tid,
		      uint64_t ticks)
{
	packet(0xb0, 0x8000000000401000, 8);
	if (tid)
		packet(0x65, tid, 4);
	packet(0x49, op, 1);
	if (latency)
		packet(0x98, latency, 2);
	packet(0xb2, va, 8);
	if (pa)
		packet(0xb3, pa | 1ull << 63, 8);
	if (ticks)
		packet(0x71, ticks, 8);
	else
		packet(0x01, 0, 0);
}

static uint64_t drops(enum da_drop d)
{
	return res->ledger.drop[d];
}

/* ---- tests ---- */

START_TEST(reports_in_full)
{
	uint64_t base = (1ull << 52) + 7; /* times mult: more than 64 bits */

	if (_i & 2) /* on either side of what it explains */
		info_v1();
	clock_is(4, 1000, T0);
	if (!(_i & 2))
		info_v1();
	comm(7, "seven", T0);
	map(7, 0x100000, 0x10000, "[heap]", T0);
	access_of(0x00, 0x100040, 0x880000040, 42, 7, base + 16);
	access_of(0x01, 0x0b00000000100080, 0, 0, 7, base + 32); /* a tag */
	access_of(0x06, 0x1000c0, 0, 0, 7, base + 48);           /* atomic */
	packet(0xb0, 0x8000000000401000, 8);
	packet(0x4a, 0, 1); /* a branch */
	packet(0x01, 0, 0);
	piece(1, NONE32, 0, spe.p, spe.len);
	run_it(_i & 1);
	ck_assert(!res->damaged);
	ck_assert_uint_eq(nr_seen, 3);
	for (int i = 0; i < 3; i++) {
		const struct da_report *r = &seen[i];

		ck_assert_uint_eq(r->event, SPE);
		ck_assert_uint_eq(r->vaddr, 0x100040u + 0x40u * (unsigned)i);
		ck_assert_uint_eq(r->ip, 0x401000);
		ck_assert_uint_eq(r->cpu, 1);
		ck_assert_uint_eq(r->pid, 7);
		ck_assert_uint_eq(r->tid, 7);
		ck_assert_uint_eq(r->how, DA_HOW_HARDWARE);
		ck_assert_uint_eq(r->period, 1024);
		/* (base + 16 n) * 1000 / 16 */
		ck_assert_uint_eq(r->time_ns, T0 + (base / 16) * 1000 + (base % 16) * 1000 / 16 +
						      1000 * (unsigned)(i + 1));
		ck_assert_uint_eq(r->has & (DA_HAS_TICKS | DA_HAS_TID), 0);
		ck_assert((r->has & DA_HAS_TASK) && (r->has & DA_HAS_CPU));
	}
	ck_assert_uint_eq(seen[0].paddr, 0x880000040);
	ck_assert_uint_eq(seen[0].latency, 42);
	ck_assert(!(seen[1].has & (DA_HAS_PADDR | DA_HAS_LATENCY)));
	ck_assert_uint_eq(seen[0].op, DA_OP_READ);
	ck_assert_uint_eq(seen[1].op, DA_OP_WRITE);
	ck_assert_uint_eq(seen[1].tag, 0x0b);
	ck_assert_uint_eq(seen[2].op, DA_OP_READ | DA_OP_WRITE);
	ck_assert_uint_eq(res->samples, 4);
	ck_assert_uint_eq(res->events[SPE].samples, 4);
	ck_assert_int_eq(res->events[SPE].producer, DA_PROD_SPE); /* though no PMU is named */
	ck_assert_uint_eq(res->first_ns, seen[0].time_ns);
	ck_assert_uint_eq(res->last_ns, seen[2].time_ns);
	ck_assert_uint_eq(drops(DA_DROP_NOT_MEMORY), 1);
	ck_assert_uint_eq(res->ledger.out[DA_STAGE_MATCH], 3);
	ck_assert_uint_eq(res->aux_bytes, 0);
	ck_assert_int_eq(res->lost.resync_bytes, 0);
	/* virtual space and physical memory */
	ck_assert_uint_eq(da_match_nr_spaces(res->match), 2);
	ck_assert_str_eq(da_match_space(res->match, 0)->comm, "seven");
	ck_assert_uint_eq(da_match_space(res->match, 0)->regions[0].by_event[0].reads, 2);
	ck_assert_int_eq(da_match_space(res->match, 1)->kind, DA_SPACE_PHYSICAL);
}
END_TEST

/* No clock: the time of the AUX record that says the bytes are there. */
START_TEST(time_of_the_piece)
{
	info_v1();
	if (_i)
		clock_is(4, 0, 0); /* says nothing, and divides by nothing */
	comm(7, "seven", T0);
	map(7, 0x100000, 0x10000, "[heap]", T0);
	aux(0, 7, 0, 32, 0, T0 + 100);
	aux(0, 7, 32, 1000, 0, T0 + 200);
	access_of(0, 0x100000, 0, 0, 7, 55);
	ck_assert_uint_le(spe.len, 40);
	access_of(0, 0x100010, 0, 0, 7, 66);
	piece(0, NONE32, 0, spe.p, spe.len);
	run_it(false);
	ck_assert_uint_eq(nr_seen, 2);
	ck_assert_uint_eq(seen[0].time_ns, T0 + 200); /* its end came then */
	ck_assert_uint_eq(seen[1].time_ns, T0 + 200);
	ck_assert(!(seen[0].has & DA_HAS_TICKS) && (seen[0].has & DA_HAS_TIME));
}
END_TEST

START_TEST(whose_record)
{
	info_v1();
	clock_is(0, 1, T0);
	comm(7, "seven", T0);
	comm(8, "eight", T0);
	map(7, 0x100000, 0x10000, "[heap]", T0);
	map(8, 0x100000, 0x10000, "[heap]", T0);
	task(DA_REC_FORK, 8, 88, T0 + 1); /* a thread of another one */
	switch_in(0, 7, T0 + 10);
	switch_in(0, 8, T0 + 20);
	access_of(0, 0x100000, 0, 0, 0, 5);         /* before any switch: nobody */
	access_of(0, 0x100000, 0, 0, 0, 15);        /* 7 by switch */
	access_of(0, 0x100000, 0, 0, 0, 25);        /* 8 by switch */
	access_of(0, 0x100000, 0, 0, 7, 26);        /* the record itself knows better */
	access_of(0, 0x100000, 0x5000, 0, 999, 27); /* a thread that nobody heard of */
	piece(0, NONE32, 0, spe.p, spe.len);
	spe.len = 0;
	access_of(0, 0x100000, 0, 0, 0, 30);
	piece(NONE32, 88, 0, spe.p, spe.len); /* a thread's own buffer */
	/* the timeline is complete before traces are decoded, and right at each time */
	task(DA_REC_EXIT, 7, 7, T0 + 40);
	run_it(false);
	ck_assert_uint_eq(nr_seen, 6);
	ck_assert(!(seen[0].has & DA_HAS_TASK));
	ck_assert_uint_eq(seen[1].pid, 7);
	ck_assert_uint_eq(seen[2].pid, 8);
	ck_assert_uint_eq(seen[3].pid, 7);
	ck_assert(!(seen[4].has & DA_HAS_TASK));
	ck_assert_uint_eq(seen[4].tid, 999);
	ck_assert_uint_eq(seen[5].pid, 8);
	ck_assert_uint_eq(seen[5].tid, 88);
	ck_assert(!(seen[5].has & DA_HAS_CPU));
	ck_assert_uint_eq(drops(DA_DROP_NO_TASK), 2);
	ck_assert_uint_eq(res->ledger.out[DA_STAGE_MATCH], 4);
	/* physical memory needs no task */
	ck_assert_int_eq(da_match_space(res->match, 2)->kind, DA_SPACE_PHYSICAL);
	ck_assert_uint_eq(da_match_space(res->match, 2)->ledger.out[DA_STAGE_MATCH], 1);
}
END_TEST

/* Two records and a rest, cut at every position into pieces that perf pads. */
START_TEST(cut_anywhere)
{
	info_v1();
	clock_is(0, 1, T0);
	access_of(0, 0x100000, 0x5000, 9, 7, 10);
	packet(0x00, 0, 0);
	access_of(1, 0x100010, 0x6000, 9, 7, 20);
	opts.aux_part = _i & 1 ? 1 : 0; /* a part for each piece, or one */
	for (size_t cut = 1; cut < spe.len; cut++) {
		size_t begin = file.data.len;

		piece(0, NONE32, 4096, spe.p, cut);
		piece(0, NONE32, 4096 + cut, spe.p + cut, spe.len - cut);
		run_it(false);
		file.data.len = begin;
		ck_assert_msg(nr_seen == 2, "cut at %zu: %zu reports", cut, nr_seen);
		ck_assert_uint_eq(seen[0].vaddr, 0x100000);
		ck_assert_uint_eq(seen[0].paddr, 0x5000);
		ck_assert_uint_eq(seen[1].vaddr, 0x100010);
		ck_assert_uint_eq(seen[1].time_ns, T0 + 20);
		ck_assert_uint_eq(res->samples, 2);
		ck_assert(!res->damaged);
	}
}
END_TEST

START_TEST(gap_between_pieces)
{
	size_t one;

	info_v1();
	clock_is(0, 1, T0);
	access_of(0, 0x100000, 0, 0, 7, 10);
	one = spe.len;
	access_of(0, 0x100010, 0, 0, 7, 20);
	access_of(0, 0x100020, 0, 0, 7, 30);
	opts.aux_part = _i ? 1 : 0;
	/* the second record has no end, and what follows begins with a whole one */
	piece(0, NONE32, 0, spe.p, one + 24);
	piece(0, NONE32, 4096, spe.p + 2 * one, one);
	run_it(false);
	ck_assert_uint_eq(nr_seen, 2);
	ck_assert_uint_eq(seen[1].vaddr, 0x100020);
	ck_assert_uint_eq(drops(DA_DROP_TRUNCATED), 1);
	ck_assert_uint_eq(res->samples, 3);
}
END_TEST

/* Snapshots may overlap: the later one has the bytes. */
START_TEST(overlap)
{
	size_t one;

	info_v1();
	clock_is(0, 1, T0);
	for (uint64_t i = 0; i < 4; i++) {
		access_of(0, 0x100000 + i * 16, 0, 0, 7, 10 + i);
		one = spe.len / (i + 1);
	}
	piece(0, NONE32, 0, spe.p, 3 * one);
	piece(0, NONE32, 2 * one, spe.p + 2 * one, 2 * one);
	run_it(false);
	ck_assert_uint_eq(nr_seen, 4);
	for (uint64_t i = 0; i < 4; i++)
		ck_assert_uint_eq(seen[i].vaddr, 0x100000 + i * 16);
}
END_TEST

START_TEST(losses_with_their_time)
{
	size_t one;

	info_v1();
	clock_is(0, 1, T0);
	comm(7, "seven", T0 + 50);
	access_of(0, 0x100000, 0, 0, 7, 10);
	one = spe.len;
	access_of(0, 0x100010, 0, 0, 7, 20);
	aux(0, 7, 0, one + 12, 1 | 4, T0 + 100); /* truncated, its last record is not whole */
	aux(0, 7, one + 12, one, 8, T0 + 200);   /* collision */
	aux(0, 7, 2 * one + 12, 64, 0, T0 + 300);
	/* one record, a part of another, one record */
	gen_bytes(&spe, spe.p, 0);
	memmove(spe.p + one + 12, spe.p + one, one);
	spe.len = one + 12 + one;
	piece(0, NONE32, 0, spe.p, spe.len);
	run_it(false);
	ck_assert_uint_eq(nr_seen, 2);
	ck_assert_uint_eq(seen[0].vaddr, 0x100000);
	ck_assert_uint_eq(seen[1].vaddr, 0x100010);
	ck_assert_uint_eq(seen[1].ip, 0x401000);
	ck_assert_uint_eq(drops(DA_DROP_TRUNCATED), 1);
	ck_assert_int_eq(res->lost.aux_truncated, 1);
	ck_assert_int_eq(res->lost.aux_collisions, 1);
	ck_assert_uint_eq(res->nr_gaps, 1); /* they meet */
	ck_assert_uint_eq(res->gaps[0].t0_ns, T0 + 50);
	ck_assert_uint_eq(res->gaps[0].t1_ns, T0 + 200);
	ck_assert_int_eq(res->gaps[0].lost, -1);
}
END_TEST

/* Where records have times a window goes on beyond an AUX record, but not where one is cut. */
START_TEST(cut_behind_another_aux_record)
{
	size_t one;

	info_v1();
	clock_is(0, 1, T0);
	access_of(0, 0x100000, 0, 0, 7, 10);
	one = spe.len;
	access_of(0, 0x100010, 0, 0, 7, 20);
	aux(0, 7, 0, one, 0, T0 + 90);
	aux(0, 7, one, 12, 1 | 4, T0 + 100);
	aux(0, 7, one + 12, one, 0, T0 + 200);
	gen_bytes(&spe, spe.p, 0);
	memmove(spe.p + one + 12, spe.p + one, one);
	spe.len = one + 12 + one;
	piece(0, NONE32, 0, spe.p, spe.len);
	run_it(false);
	ck_assert_uint_eq(nr_seen, 2);
	ck_assert_uint_eq(seen[1].vaddr, 0x100010);
	ck_assert_uint_eq(seen[1].time_ns, T0 + 20);
	ck_assert_uint_eq(drops(DA_DROP_TRUNCATED), 1);
}
END_TEST

START_TEST(metadata_of_each_cpu)
{
	info_v2(0x410fd0c0, 0xc00fac40, 3 + (uint64_t)_i); /* Neoverse N1, AmpereOne */
	clock_is(0, 1, T0);
	packet(0xb2, 0x100000, 8);
	packet(0x49, 0, 1);
	packet(0x43, 8, 1); /* L2 on the one, L1D on the other */
	packet(0x71, 10, 8);
	piece(0, NONE32, 0, spe.p, spe.len);
	piece(1, NONE32, 0, spe.p, spe.len);
	run_it(false);
	ck_assert_uint_eq(nr_seen, 2);
	ck_assert_uint_eq(seen[0].data_src, 0x400100442);
	ck_assert_uint_eq(seen[1].data_src, 0x200100142);
}
END_TEST

START_TEST(metadata_of_the_file)
{
	gen_features(&file);
	gen_free(&file.feature[9]);
	gen_u32(&file.feature[9], 64);
	gen_padded(&file.feature[9], "0x00000000410fd0c0", 64);
	info_v1();
	clock_is(0, 1, T0);
	packet(0xb2, 0x100000, 8);
	packet(0x49, 0, 1);
	packet(0x43, 8, 1);
	packet(0x71, 10, 8);
	piece(0, NONE32, 0, spe.p, spe.len);
	run_it(false);
	ck_assert_uint_eq(nr_seen, 1);
	ck_assert_uint_eq(seen[0].data_src, 0x400100442);
}
END_TEST

START_TEST(metadata_that_lies)
{
	info_v2(1, 2, _i ? 5 : 1); /* too many, too few */
	clock_is(0, 1, T0);
	access_of(0, 0x100000, 0, 0, 7, 10);
	piece(0, NONE32, 0, spe.p, spe.len);
	run_it(false);
	ck_assert(res->damaged);
	ck_assert_uint_eq(nr_seen, 1); /* the traces are there all the same */
}
END_TEST

START_TEST(other_traces)
{
	size_t rec = gen_rec(&file.data, DA_REC_AUXTRACE_INFO, 0);

	gen_u32(&file.data, 1); /* Intel PT */
	gen_u32(&file.data, 0);
	gen_u64(&file.data, PMU);
	gen_end(&file.data, rec);
	access_of(0, 0x100000, 0, 0, 7, 10);
	piece(0, NONE32, 0, spe.p, spe.len & ~(size_t)7);
	run_it(false);
	ck_assert_uint_eq(nr_seen, 0);
	ck_assert_uint_eq(res->aux_bytes, spe.len & ~(size_t)7);
	ck_assert(!res->damaged);
}
END_TEST

START_TEST(damaged_bytes)
{
	info_v1();
	clock_is(0, 1, T0);
	access_of(0, 0x100000, 0, 0, 7, 10);
	spe.p[9] = 0xff; /* was the header of the context packet */
	access_of(0, 0x100010, 0, 0, 7, 20);
	piece(0, NONE32, 0, spe.p, spe.len);
	run_it(false);
	ck_assert(res->damaged);
	ck_assert_uint_eq(nr_seen, 1);
	ck_assert_uint_eq(seen[0].vaddr, 0x100010);
	ck_assert_uint_eq(drops(DA_DROP_BAD_PACKET), 1);
	ck_assert_int_gt(res->lost.resync_bytes, 0);
}
END_TEST

START_TEST(filters)
{
	static const uint32_t pids[] = {8};
	static const char *const comms[] = {"seven"};
	static const char *const events[] = {"dummy"};

	info_v1();
	clock_is(0, 1, T0);
	comm(7, "seven", T0);
	comm(8, "eight", T0);
	for (uint64_t i = 0; i < 10; i++)
		access_of(0, 0x100000 + i, 0, 0, i < 6 ? 7 : 8, 10 + i);
	piece(0, NONE32, 0, spe.p, spe.len);
	opts.pids = pids;
	opts.nr_pids = 1;
	run_it(false);
	ck_assert_uint_eq(nr_seen, 4);
	ck_assert_uint_eq(res->filtered, 6);
	ck_assert_uint_eq(res->samples, 4);
	opts.nr_pids = 0;
	opts.comms = comms;
	opts.nr_comms = 1;
	run_again();
	ck_assert_uint_eq(nr_seen, 6);
	opts.nr_comms = 0;
	opts.start_ns = 2; /* from the first sample, which only the trace has */
	opts.stop_ns = T0 + 15;
	opts.start_relative = true;
	run_again();
	ck_assert_uint_eq(nr_seen, 3);
	ck_assert_uint_eq(seen[0].time_ns, T0 + 12);
	opts.start_ns = opts.stop_ns = 0;
	opts.events = events;
	opts.nr_events = 1;
	run_again();
	ck_assert_uint_eq(nr_seen, 0);
}
END_TEST

/* ---- threads ---- */

static char *as_json(void)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(da_render_report_json(f, res), 0);
	ck_assert_int_eq(fclose(f), 0);
	return text;
}

/* Pieces of several CPUs, cut anywhere, a gap, some damage. */
static void many_records(void)
{
	struct gen_spe g = gen_spe_new(7, GEN_SPE_MANY);
	size_t len = 3 << 19;
	uint8_t *bytes = malloc(len);

	ck_assert_ptr_nonnull(bytes);
	info_v1();
	clock_is(2, 4000, T0);
	for (uint32_t pid = 1000; pid < 1008; pid++) {
		comm(pid, "worker", T0);
		for (uint64_t i = 0; i < 4; i++)
			map(pid, 0xffff80000000 + i * 0x40000000, 0x3000000,
			    i & 1 ? "//anon" : "/lib/x", T0 + i * 1000000000);
	}
	task(DA_REC_EXIT, 1003, 1003, T0 + 3000000000);
	for (uint32_t cpu = 0; cpu < 3; cpu++) {
		uint64_t at = 0;

		gen_spe_fill(&g, bytes, len);
		bytes[len / 3] ^= 0x55;
		while (at < len) {
			size_t n = 4096 + gen_spe_random(&g) % 65536;

			n = n < len - at ? n : len - at;
			if (n != len - at && gen_spe_random(&g) % 8 == 0)
				at += 100; /* lost */
			n = n < len - at ? n : len - at;
			piece(cpu, NONE32, at, bytes + at, n);
			at += n;
		}
	}
	free(bytes);
}

START_TEST(any_number_of_threads)
{
	static const unsigned threads[] = {1, 2, 4, 7};
	char *first = NULL;
	uint64_t samples = 0, matched = 0;

	opts.report = NULL;
	if (_i == 2) {
		opts.match.regions = DA_REGIONS_DENSITY;
	} else if (_i) {
		opts.match.regions = DA_REGIONS_FIXED;
		opts.match.fixed_bytes = 1 << 20;
	}
	many_records();
	for (int part = 0; part < 2; part++) {
		opts.aux_part = part ? 100000 : 0;
		for (size_t i = 0; i < 4; i++) {
			char *text;

			opts.threads = threads[i];
			if (path)
				run_again();
			else
				run_it(false);
			text = as_json();
			if (!i) {
				free(first);
				first = text;
			} else {
				ck_assert_msg(!strcmp(first, text), "%u threads", threads[i]);
				free(text);
			}
			/* nor do the parts change what was decoded and matched */
			if (!samples) {
				samples = res->samples;
				matched = res->ledger.out[DA_STAGE_MATCH];
			}
			ck_assert_uint_eq(res->samples, samples);
			ck_assert_uint_eq(res->ledger.out[DA_STAGE_MATCH], matched);
		}
	}
	ck_assert_uint_gt(matched, 10000);
	free(first);
}
END_TEST

/* One thread or several, one part or many: each address space has the same regions and numbers. */
START_TEST(parts_add_up)
{
	struct {
		uint64_t start, end, samples, writes;
		char label[32];
	} want[256];
	size_t nr = 0;

	opts.report = NULL;
	many_records();
	for (int part = 0; part < 2; part++) {
		size_t n = 0;

		opts.aux_part = part ? 50000 : UINT64_MAX;
		opts.threads = part ? 3 : 1;
		if (path)
			run_again();
		else
			run_it(false);
		for (size_t i = 0; i < da_match_nr_spaces(res->match); i++) {
			const struct da_space *s = da_match_space(res->match, i);

			for (size_t k = 0; k < s->nr_regions && n < 256; k++, n++) {
				const struct da_region *r = &s->regions[k];
				const struct da_region_stat *st =
					r->nr_by_event ? r->by_event : NULL;

				if (part) {
					ck_assert_uint_eq(want[n].start, r->start);
					ck_assert_uint_eq(want[n].end, r->end);
					ck_assert_uint_eq(want[n].samples, st ? st->samples : 0);
					ck_assert_uint_eq(want[n].writes, st ? st->writes : 0);
					ck_assert_str_eq(want[n].label, r->label);
					continue;
				}
				want[n].start = r->start;
				want[n].end = r->end;
				want[n].samples = st ? st->samples : 0;
				want[n].writes = st ? st->writes : 0;
				snprintf(want[n].label, sizeof(want[n].label), "%s", r->label);
			}
		}
		if (!part)
			nr = n;
		ck_assert_uint_eq(n, nr);
	}
	ck_assert_uint_gt(nr, 8);
}
END_TEST

/* ---- the vectors ---- */

START_TEST(vectors)
{
	static const struct {
		const char *name;
		size_t nr;
		uint64_t addr[2];
	} want[] = {
		{"01_store_record", 1, {0xaaaa00002040}},
		{"02_load_record_with_timestamp", 1, {0xaaaa00002040}},
		{"03_two_records", 2, {0xaaaa00002040, 0xaaaa00002080}},
		{"04_pad_wrapped", 1, {0xaaaa00002040}},
		{"05_alignment_at_odd_position", 1, {0xaaaa00002040}},
		{"06_alignment_at_aligned_position", 1, {0xaaaa00002040}},
		{"07_bad_packet_resync", 1, {0xaaaa00002080}},
		{"08_record_without_address", 0, {0}},
		{"09_events_source_counter", 1, {0xaaaa00002040}},
		{"10_truncated_record_retained", 0, {0}},
		{"11_truncated_packet_retained", 0, {0}},
		{"12_extended_address", 1, {0xaaaa00002040}},
		{"13_invalid_extended_header", 1, {0xaaaa00002080}},
		{"14_pad_only", 0, {0}},
		{"15_empty_window", 0, {0}},
		/* 16: its offsets count perf's padding, so that it is not what it was made from */
	};
	const char *shared = getenv("DA_SHARED");
	char name[512];
	FILE *f;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		snprintf(name, sizeof(name), "%s/formats/vectors/spe_%s.data",
			 shared ? shared : "../shared", want[i].name);
		f = fopen(name, "rb");
		if (!f) {
			printf("SKIP: no %s\n", name);
			return;
		}
		fclose(f);
		nr_seen = 0;
		ck_assert_msg(!da_offline_open(&off, name, &opts, &err), "%s", err.msg);
		ck_assert_int_eq(da_offline_run(off, &err), 0);
		ck_assert_msg(nr_seen == want[i].nr, "%s: %zu", want[i].name, nr_seen);
		for (size_t k = 0; k < nr_seen; k++)
			ck_assert_uint_eq(seen[k].vaddr, want[i].addr[k]);
		da_offline_close(off);
		off = NULL;
	}
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("offline_aux");
	TCase *c = tcase_create("offline_aux");

	tcase_set_timeout(c, 120);
	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, reports_in_full, 0, 4);
	tcase_add_loop_test(c, time_of_the_piece, 0, 2);
	tcase_add_test(c, whose_record);
	tcase_add_loop_test(c, cut_anywhere, 0, 2);
	tcase_add_loop_test(c, gap_between_pieces, 0, 2);
	tcase_add_test(c, overlap);
	tcase_add_test(c, losses_with_their_time);
	tcase_add_test(c, cut_behind_another_aux_record);
	tcase_add_loop_test(c, metadata_of_each_cpu, 0, 2);
	tcase_add_test(c, metadata_of_the_file);
	tcase_add_loop_test(c, metadata_that_lies, 0, 2);
	tcase_add_test(c, other_traces);
	tcase_add_test(c, damaged_bytes);
	tcase_add_test(c, filters);
	tcase_add_loop_test(c, any_number_of_threads, 0, 3);
	tcase_add_test(c, parts_add_up);
	tcase_add_test(c, vectors);
	suite_add_tcase(s, c);
	return s;
}

int main(void)
{
	SRunner *r = srunner_create(suite());
	int failed;

	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
