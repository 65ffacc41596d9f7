/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The offline decode over recordings made by perfgen: ledgers that conserve, what our own records add,
 * filters, losses and when they were, damage that costs nothing but itself.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "da_error.h"
#include "da_offline.h"
#include "da_own.h"
#include "da_own_json.h"
#include "perfgen.h"

#define T0     1000000000ull
#define FAULTS 0 /* events of the recordings made here */
#define CLOCK  1
#define SAMPLE_TYPE                                                                                \
	(DA_SAMPLE_IDENTIFIER | DA_SAMPLE_IP | DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_ADDR |   \
	 DA_SAMPLE_CPU | DA_SAMPLE_PERIOD)

static struct gen_file file;
static char *path;
static struct da_offline *off;
static const struct da_offline_result *res;
static struct da_offline_opts opts;
static struct da_error err;

static void set_up(void)
{
	memset(&file, 0, sizeof(file));
	memset(&opts, 0, sizeof(opts));
	memset(&err, 0, sizeof(err));
	opts.match.virt = opts.match.accumulate = true;
	file.nr_ev = 2;
	file.ev[FAULTS] = (struct gen_event){
		.attr = {.type = DA_TYPE_SOFTWARE,
			 .config = DA_SW_PAGE_FAULTS,
			 .sample_period = 1,
			 .sample_type = SAMPLE_TYPE,
			 .flags = DA_ATTR_SAMPLE_ID_ALL},
		.name = "page-faults:u",
		.ids = {11, 12},
		.nr_ids = 2,
	};
	file.ev[CLOCK] = (struct gen_event){
		.attr = {.type = DA_TYPE_SOFTWARE,
			 .config = DA_SW_CPU_CLOCK,
			 .sample_period = 250000,
			 .sample_type = SAMPLE_TYPE,
			 .flags = DA_ATTR_SAMPLE_ID_ALL},
		.name = "cpu-clock",
		.ids = {21},
		.nr_ids = 1,
	};
	gen_features(&file);
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
}

static int open_it(bool pipe)
{
	struct gen out = {.swap = file.data.swap};

	close_all();
	if (pipe)
		gen_pipe_build(&file, &out);
	else
		gen_file_build(&file, &out);
	path = gen_write(out.p, out.len);
	gen_free(&out);
	return da_offline_open(&off, path, &opts, &err);
}

static void run_it(void)
{
	int rc = open_it(false);

	ck_assert_msg(!rc, "%s", err.msg);
	ck_assert_int_eq(da_offline_run(off, &err), 0);
	res = da_offline_result(off);
	ck_assert(da_ledger_conserves(&res->ledger, NULL));
	for (size_t i = 0; i < res->nr_cells; i++)
		ck_assert(da_ledger_conserves(&res->cells[i].ledger, NULL));
}

/* ---- records ---- */

static const struct da_attr *attr(uint32_t event)
{
	return &file.ev[event].attr;
}

static void comm(uint32_t pid, const char *name, uint64_t time)
{
	gen_comm(&file.data, attr(FAULTS), name, pid, time, 11);
}

static void map(uint32_t pid, uint64_t start, uint64_t len, const char *name, uint64_t time)
{
	size_t rec = gen_rec(&file.data, DA_REC_MMAP2, 0);

	gen_u32(&file.data, pid);
	gen_u32(&file.data, pid);
	gen_u64(&file.data, start);
	gen_u64(&file.data, len);
	gen_u64(&file.data, 0);
	gen_fill(&file.data, 0, 24); /* device, inode, generation */
	gen_u32(&file.data, PROT_READ | PROT_WRITE);
	gen_u32(&file.data, MAP_PRIVATE);
	gen_padded(&file.data, name, 8);
	gen_trailer(&file.data, attr(FAULTS), pid, pid, time, 11, 0);
	gen_end(&file.data, rec);
}

static void sample(uint32_t event, uint32_t pid, uint64_t addr, uint64_t time, uint32_t cpu)
{
	struct da_samp s = {.mask = SAMPLE_TYPE,
			    .id = file.ev[event].ids[0],
			    .ip = 0x401000,
			    .pid = pid,
			    .tid = pid,
			    .time_ns = time,
			    .addr = addr,
			    .cpu = cpu,
			    .period = 3};

	gen_sample(&file.data, attr(event), &s);
}

/* LOST, LOST_SAMPLES, THROTTLE, UNTHROTTLE, AUX */
static void simple(uint32_t type, const uint64_t *body, size_t nr, uint64_t time, uint32_t cpu)
{
	size_t rec = gen_rec(&file.data, type, 0);

	for (size_t i = 0; i < nr; i++)
		gen_u64(&file.data, body[i]);
	gen_trailer(&file.data, attr(FAULTS), 1, 1, time, 11, cpu);
	gen_end(&file.data, rec);
}

static void own(enum da_own_kind kind, uint16_t version, const void *payload, size_t len)
{
	uint8_t buf[DA_OWN_MAX_PAYLOAD + 256];
	int size = da_own_build(kind, version, payload, len, buf, sizeof(buf));

	ck_assert_int_gt(size, 0);
	gen_bytes(&file.data, buf, (size_t)size);
}

static void own_text(enum da_own_kind kind, char *text)
{
	ck_assert_ptr_nonnull(text);
	own(kind, DA_OWN_VERSION, text, strlen(text));
	free(text);
}

static void own_info(void)
{
	struct da_own_event ev[2] = {
		{.name = "page-faults:u", .producer = DA_PROD_FAULT, .unit = "faults", .period = 7},
		{.name = "cpu-clock", .producer = DA_PROD_NONE, .unit = "ns", .period = 9}};
	struct da_own_info info = {
		.version = "0.1.0", .arch = DA_ARCH_X86_64, .events = ev, .nr_events = 2};

	own_text(DA_OWN_INFO, da_own_info_text(&info));
}

static void own_ledger(uint32_t event, uint32_t cpu, uint64_t n)
{
	struct da_own_ledger l = {.event = event,
				  .cpu = {.cpu = cpu,
					  .state = DA_STATE_RUNNING,
					  .count = (int64_t)n,
					  .lost = 4,
					  .enabled_ns = 5,
					  .running_ns = 5}};

	for (int s = DA_STAGE_CREATE; s <= DA_STAGE_ENABLE; s++)
		l.cpu.ledger.in[s] = l.cpu.ledger.out[s] = 1;
	l.cpu.ledger.in[DA_STAGE_SAMPLE] = l.cpu.ledger.out[DA_STAGE_SAMPLE] = n;
	l.cpu.ledger.in[DA_STAGE_RING] = n;
	l.cpu.ledger.drop[DA_DROP_OVERFLOW] = n;
	l.cpu.ledger.peak = n;
	own_text(DA_OWN_LEDGER, da_own_ledger_text(&l));
}

static void own_end(void)
{
	struct da_own_loss loss = {
		.counter = 8, .records = 5, .samples = 0, .throttled = 0, .pending = 3};
	struct da_own_end end = {.reason = "exit", .command_status = 0, .samples = 4};

	own_text(DA_OWN_LOSS, da_own_loss_text(&loss));
	own_text(DA_OWN_END, da_own_end_text(&end));
}

/* Two processes; 4 fault samples in regions, one outside, 2 clock samples that carry no address. */
static void body(void)
{
	comm(7, "seven", T0);
	comm(8, "eight", T0);
	map(7, 0x100000, 0x10000, "[heap]", T0);
	map(8, 0x100000, 0x10000, "[heap]", T0);
	sample(FAULTS, 7, 0x100000, T0 + 10, 0);
	sample(FAULTS, 7, 0x10ffff, T0 + 20, 1);
	sample(FAULTS, 7, 0x200000, T0 + 30, 1);
	sample(FAULTS, 8, 0x100000, T0 + 40, 0);
	sample(CLOCK, 7, 0, T0 + 50, 0);
	sample(CLOCK, 8, 0, T0 + 60, 0);
	sample(FAULTS, 8, 0x104000, T0 + 70, 3);
}

/* ---- tests ---- */

START_TEST(foreign_recording)
{
	body();
	run_it();
	ck_assert(!res->own_file && !res->has_recorded && !res->damaged && res->complete);
	ck_assert_uint_eq(res->nr_events, 2);
	ck_assert_str_eq(res->events[FAULTS].name, "page-faults:u");
	ck_assert_uint_eq(res->events[FAULTS].period, 1);
	ck_assert_uint_eq(res->events[FAULTS].samples, 5);
	ck_assert_uint_eq(res->events[CLOCK].samples, 2);
	ck_assert_uint_eq(res->samples, 7);
	ck_assert_uint_eq(res->first_ns, T0 + 10);
	ck_assert_uint_eq(res->last_ns, T0 + 70);
	ck_assert_uint_eq(res->ledger.in[DA_STAGE_SAMPLE], 7);
	ck_assert_uint_eq(res->ledger.out[DA_STAGE_SAMPLE], 5);
	ck_assert_uint_eq(res->ledger.drop[DA_DROP_ADDR_NONE], 2);
	ck_assert_uint_eq(res->ledger.out[DA_STAGE_MATCH], 4);
	ck_assert_uint_eq(res->ledger.drop[DA_DROP_MISS_REGION], 1);
	ck_assert_uint_eq(res->nr_cells, 4); /* faults on CPUs 0, 1, 3; clock on 0 */
	ck_assert_uint_eq(res->cells[1].cpu, 1);
	ck_assert_uint_eq(res->cells[1].ledger.in[DA_STAGE_SAMPLE], 2);
	ck_assert_uint_eq(res->cells[3].event, CLOCK);
	ck_assert(!res->cells[0].recorded);
	ck_assert_uint_eq(da_match_nr_spaces(res->match), 2);
	ck_assert_str_eq(da_match_space(res->match, 0)->comm, "seven");
	ck_assert_uint_eq(da_match_space(res->match, 0)->regions[0].by_event[0].accesses, 6);
	/* nothing was lost, as far as there are records of it */
	ck_assert_int_eq(res->lost.records, 0);
	ck_assert_int_eq(res->lost.counter, -1);
	ck_assert_uint_eq(res->nr_gaps, 0);
}
END_TEST

START_TEST(own_recording)
{
	own_info();
	own_ledger(FAULTS, 0, 3); /* replaced by the next snapshot */
	body();
	own_ledger(FAULTS, 0, 5);
	own_ledger(FAULTS, 2, 6); /* a CPU that gave no sample */
	own_end();
	run_it();
	ck_assert(res->own_file && res->has_recorded && res->has_end && !res->damaged);
	ck_assert_uint_eq(res->events[FAULTS].period, 7); /* the effective one */
	ck_assert_uint_eq(res->nr_recorded, 2);
	ck_assert_uint_eq(res->recorded_ledger.in[DA_STAGE_SAMPLE], 11);
	ck_assert_uint_eq(res->recorded_ledger.drop[DA_DROP_OVERFLOW], 11);
	ck_assert_uint_eq(res->recorded_ledger.peak, 6); /* a maximum */
	/* the run's layers from the recording, the rest from this decode */
	ck_assert_uint_eq(res->ledger.out[DA_STAGE_ENABLE], 2);
	ck_assert_uint_eq(res->ledger.in[DA_STAGE_SAMPLE], 7);
	ck_assert_uint_eq(res->ledger.in[DA_STAGE_RING], 5);
	ck_assert_uint_eq(res->ledger.out[DA_STAGE_RING], 5);
	ck_assert_uint_eq(res->nr_cells, 5);
	ck_assert(res->cells[0].recorded && !res->cells[1].recorded && res->cells[2].recorded);
	ck_assert_int_eq(res->cells[2].state, DA_STATE_RUNNING);
	ck_assert_int_eq(res->lost.counter, 8);
	ck_assert_int_eq(res->lost.pending, 3);
	ck_assert_int_eq(res->lost.records, 0); /* counted here, not taken over */
	ck_assert_str_eq(res->end.reason, "exit");
}
END_TEST

START_TEST(through_a_pipe)
{
	own_info();
	body();
	own_end();
	ck_assert_int_eq(open_it(true), 0);
	ck_assert_int_eq(da_offline_run(off, &err), 0);
	res = da_offline_result(off);
	ck_assert(res->own_file && res->has_end);
	ck_assert_uint_eq(res->events[FAULTS].period, 7);
	ck_assert_uint_eq(res->ledger.out[DA_STAGE_MATCH], 4);
}
END_TEST

START_TEST(other_byte_order)
{
	file.data.swap = true;
	body();
	run_it();
	ck_assert(res->file->swapped);
	ck_assert_uint_eq(res->ledger.in[DA_STAGE_SAMPLE], 7);
	ck_assert_uint_eq(res->ledger.out[DA_STAGE_MATCH], 4);
}
END_TEST

/* A text that does not fit one record. */
START_TEST(continued_text)
{
	size_t len = DA_OWN_MAX_PAYLOAD + 1000;
	char *facts = malloc(len);

	memset(facts, ' ', len);
	memcpy(facts, "{\"a\":", 5);
	memcpy(facts + len - 2, "1}", 2);
	own(DA_OWN_FACTS, DA_OWN_VERSION | DA_OWN_MORE, facts, DA_OWN_MAX_PAYLOAD);
	own_info(); /* other kinds may come between */
	own(DA_OWN_FACTS, DA_OWN_VERSION, facts + DA_OWN_MAX_PAYLOAD, 1000);
	body();
	run_it();
	ck_assert(!res->damaged);
	ck_assert_uint_eq(res->facts_len, len);
	ck_assert_int_eq(memcmp(res->facts, facts, len), 0);
	free(facts);
}
END_TEST

START_TEST(damaged_own_records)
{
	static const char junk[] = "{\"event\": 0, \"cp";
	struct da_own_code code = {
		.pid = 1, .len = 4, .bytes = (const uint8_t *)"\x90\x90\x90\x90"};
	uint8_t buf[256];
	int size;

	own_info();
	own(DA_OWN_INFO, DA_OWN_VERSION, junk, sizeof(junk) - 1);
	own(DA_OWN_LEDGER, DA_OWN_VERSION, junk, sizeof(junk) - 1);
	own(DA_OWN_END, DA_OWN_VERSION, "[]", 2);
	own_ledger(9, 0, 1);                                    /* no such event */
	own_ledger(0, 1u << 30, 1);                             /* no such CPU */
	own(DA_OWN_LOSS, DA_OWN_VERSION | DA_OWN_MORE, "{", 1); /* its end never comes */
	own(77, DA_OWN_VERSION, junk, sizeof(junk) - 1);        /* of a later version: not damage */
	size = da_own_code_build(&code, buf, sizeof(buf));
	ck_assert_int_gt(size, 0);
	memset(buf + DA_OWN_HDR + 12, 0xff, 4); /* code longer than its record */
	gen_bytes(&file.data, buf, (size_t)size);
	for (int i = 0; i < 40; i++)
		own(DA_OWN_END, DA_OWN_VERSION, junk, sizeof(junk) - 1);
	body();
	run_it();
	ck_assert(res->damaged && !res->has_end && res->own_file);
	ck_assert_uint_eq(res->nr_recorded, 0);
	ck_assert_uint_gt(res->nr_messages, 5);
	ck_assert_uint_le(res->nr_messages, 16); /* bounded, and the last says how many more */
	ck_assert_ptr_nonnull(
		strstr(res->messages[res->nr_messages - 1], "more of our own records"));
	ck_assert_uint_eq(res->ledger.out[DA_STAGE_MATCH], 4); /* the samples do not suffer */
	ck_assert_uint_eq(res->events[FAULTS].period, 7);
}
END_TEST

/* ---- filters ---- */

static void expect(uint64_t samples, uint64_t matched)
{
	run_it();
	ck_assert_uint_eq(res->samples, samples);
	ck_assert_uint_eq(res->filtered, 7 - samples);
	ck_assert_uint_eq(res->ledger.in[DA_STAGE_SAMPLE], samples);
	ck_assert_uint_eq(res->ledger.out[DA_STAGE_MATCH], matched);
}

START_TEST(filter_events)
{
	static const char *const names[] = {"page-faults:u", "page-faults", "0", "cpu-clock", "1"};

	body();
	opts.nr_events = 1;
	for (int i = 0; i < 5; i++) {
		opts.events = &names[i];
		expect(i < 3 ? 5 : 2, i < 3 ? 4 : 0);
		ck_assert_uint_eq(res->events[i < 3 ? CLOCK : FAULTS].samples, 0);
		ck_assert_uint_eq(res->events[i < 3 ? CLOCK : FAULTS].filtered, i < 3 ? 2 : 5);
	}
	opts.events = names + 2;
	opts.nr_events = 2;
	expect(7, 4);
}
END_TEST

START_TEST(filter_unknown_event)
{
	static const char *const names[] = {"page-fault", "2", "", "page-faults:k", "page"};

	body();
	opts.nr_events = 1;
	for (int i = 0; i < 5; i++) {
		opts.events = &names[i];
		memset(&err, 0, sizeof(err));
		ck_assert_int_eq(open_it(false), -DA_EUSAGE);
		ck_assert_ptr_nonnull(strstr(err.msg, "page-faults:u, cpu-clock"));
		ck_assert_ptr_null(off);
	}
}
END_TEST

START_TEST(filter_tasks)
{
	static const uint32_t pids[] = {8, 5};
	static const char *const comms[] = {"seven"};

	body();
	opts.pids = pids;
	opts.nr_pids = 2;
	expect(3, 2);
	opts.comms = comms;
	opts.nr_comms = 1;
	expect(0, 0);
	ck_assert_uint_gt(res->first_ns, res->last_ns);
	opts.nr_pids = 0;
	expect(4, 2);
}
END_TEST

START_TEST(filter_times)
{
	body();
	opts.start_ns = T0 + 20;
	opts.stop_ns = T0 + 50;
	expect(3, 2); /* the stop does not belong to it */
	opts.stop_ns = 0;
	expect(6, 3);
	/* from the first sample record, T0 + 10 */
	opts.start_ns = 10;
	opts.start_relative = true;
	expect(6, 3);
	opts.stop_ns = 40;
	opts.stop_relative = true;
	expect(3, 2);
	opts.start_ns = 0;
	expect(4, 3);
	opts.start_relative = opts.stop_relative = false;
	opts.start_ns = UINT64_MAX - 1;
	opts.stop_ns = UINT64_MAX;
	expect(0, 0);
	opts.start_relative = opts.stop_relative = true; /* beyond the end of the clock */
	expect(0, 0);
}
END_TEST

/* ---- losses ---- */

START_TEST(losses_and_their_times)
{
	const uint64_t lost[] = {11, 5}, lost_more[] = {12, 2}, samples[] = {9}, none[] = {11, 0};
	const uint64_t throttle[] = {T0 + 300, 11, 11}, unthrottle[] = {T0 + 400, 11, 11};
	const uint64_t aux[] = {0, 64, 9}; /* truncated, collision */

	body();
	sample(FAULTS, 7, 0x100000, T0 + 100, 0);
	simple(DA_REC_LOST, lost, 2, T0 + 150, 0);
	simple(DA_REC_LOST, none, 2, T0 + 160, 0);
	simple(DA_REC_THROTTLE, throttle, 3, T0 + 300, 1);
	simple(DA_REC_UNTHROTTLE, unthrottle, 3, T0 + 400, 1);
	simple(DA_REC_LOST, lost_more, 2, T0 + 500, 3); /* CPU 3 was last heard of at T0 + 70 */
	simple(DA_REC_LOST_SAMPLES, samples, 1, T0 + 900, 0);
	simple(DA_REC_AUX, aux, 3, T0 + 910, 0);
	simple(DA_REC_THROTTLE, throttle, 3, T0 + 920, 0); /* and never let go */
	sample(FAULTS, 7, 0x100000, T0 + 950, 0);
	run_it();
	ck_assert_int_eq(res->lost.records, 7);
	ck_assert_int_eq(res->lost.samples, 9); /* another unit: not added */
	ck_assert_int_eq(res->lost.throttled, 2);
	ck_assert_int_eq(res->lost.aux_truncated, 1);
	ck_assert_int_eq(res->lost.aux_collisions, 1);
	ck_assert_int_eq(res->lost.counter, -1);
	/* (70, 500) of CPU 3 covers (100, 150) and (300, 400); 9 lost in (160, 900); the AUX record tells of
	 * (900, 910); throttled from 920 on */
	ck_assert_uint_eq(res->nr_gaps, 2);
	ck_assert_uint_eq(res->gaps[0].t0_ns, T0 + 70);
	ck_assert_uint_eq(res->gaps[0].t1_ns, T0 + 910);
	ck_assert_int_eq(res->gaps[0].lost, 16);
	ck_assert_uint_eq(res->gaps[1].t0_ns, T0 + 920);
	ck_assert_uint_eq(res->gaps[1].t1_ns, T0 + 950);
	ck_assert_int_eq(res->gaps[1].lost, -1);
}
END_TEST

START_TEST(many_losses_stay_bounded)
{
	const uint64_t lost[] = {11, 1};

	body();
	for (uint64_t i = 1; i <= 5000; i++) {
		sample(FAULTS, 7, 0x100000, T0 + i * 1000, 0);
		if (i % 10 == 0)
			simple(DA_REC_LOST, lost, 2, T0 + i * 1000 + 500, 0);
	}
	for (uint64_t i = 1; i <= 2000; i++) {
		sample(FAULTS, 7, 0x100000, T0 + 9000000 + i * 1000, 0);
		simple(DA_REC_LOST, lost, 2, T0 + 9000000 + i * 1000 + 500, 0);
	}
	run_it();
	ck_assert_int_eq(res->lost.records, 2500);
	ck_assert_uint_le(res->nr_gaps, 1024);
	ck_assert_uint_gt(res->nr_gaps, 16);
	for (size_t i = 0, sum = 0; i < res->nr_gaps; i++) {
		sum += (size_t)res->gaps[i].lost;
		if (i)
			ck_assert_uint_gt(res->gaps[i].t0_ns, res->gaps[i - 1].t1_ns);
		if (i + 1 == res->nr_gaps)
			ck_assert_uint_eq(sum, 2500);
	}
	/* in the pause between nothing was lost */
	for (size_t i = 0; i < res->nr_gaps; i++)
		ck_assert(res->gaps[i].t1_ns <= T0 + 6000000 || res->gaps[i].t0_ns >= T0 + 8900000);
}
END_TEST

/* ---- reports ---- */

static uint64_t seen_addr[16];
static size_t nr_seen, enough;

static bool on_report(void *ctx, const struct da_offline *o, const struct da_report *r)
{
	ck_assert_ptr_eq(ctx, &nr_seen);
	ck_assert_str_eq(da_offline_event(o, r->event)->name, "page-faults:u");
	ck_assert_str_eq(da_tasks_comm_of(da_offline_tasks(o), r->pid, r->tid, r->time_ns),
			 r->pid == 7 ? "seven" : "eight");
	seen_addr[nr_seen++] = r->vaddr;
	return nr_seen < enough;
}

START_TEST(every_report_in_order)
{
	static const uint64_t want[] = {0x100000, 0x10ffff, 0x200000, 0x100000, 0x104000};

	opts.report = on_report;
	opts.ctx = &nr_seen;
	body();
	nr_seen = 0;
	enough = 100;
	run_it();
	ck_assert(res->complete);
	ck_assert_uint_eq(nr_seen, 5);
	for (int i = 0; i < 5; i++)
		ck_assert_uint_eq(seen_addr[i], want[i]);
	nr_seen = 0;
	enough = 2;
	run_it();
	ck_assert(!res->complete);
	ck_assert_uint_eq(nr_seen, 2);
	ck_assert_ptr_null(da_offline_event(off, 2));
}
END_TEST

START_TEST(refusals)
{
	ck_assert_int_lt(da_offline_open(&off, "/no/such/file", &opts, &err), 0);
	ck_assert_ptr_null(off);
	ck_assert_ptr_nonnull(strstr(err.msg, "/no/such/file"));
	memset(&err, 0, sizeof(err));
	path = gen_write("not a recording, but long enough to be looked at, well, nearly", 62);
	ck_assert_int_eq(da_offline_open(&off, path, &opts, &err), -DA_EFORMAT);
	da_offline_close(NULL);
}
END_TEST

START_TEST(cut_anywhere)
{
	struct gen out = {0};
	struct da_error e = {0};
	size_t opened = 0;

	own_info();
	body();
	own_end();
	gen_file_build(&file, &out);
	for (size_t len = 0; len < out.len; len += 8) {
		path = gen_write(out.p, len);
		memset(&e, 0, sizeof(e));
		if (!da_offline_open(&off, path, &opts, &e)) {
			opened++;
			ck_assert_int_eq(da_offline_run(off, &e), 0);
			res = da_offline_result(off);
			ck_assert(res->damaged);
			ck_assert(da_ledger_conserves(&res->ledger, NULL));
			ck_assert_uint_le(res->ledger.out[DA_STAGE_MATCH], 4);
		} else {
			ck_assert_int_ne(e.code, 0);
		}
		close_all();
	}
	ck_assert_uint_gt(opened, out.len / 8 / 4);
	gen_free(&out);
}
END_TEST

/* ---- what our own records add to tasks, periods and probes ---- */

/* DA_OWN_MAP: a time, then an MMAP2 record without trailer. */
static void own_map(uint32_t pid, uint64_t start, uint64_t len, uint64_t since)
{
	uint8_t p[8 + 80] = {0};
	uint32_t type = DA_REC_MMAP2, prot = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE;
	uint16_t size = 80;

	memcpy(p, &since, 8);
	memcpy(p + 8, &type, 4);
	memcpy(p + 14, &size, 2);
	memcpy(p + 16, &pid, 4);
	memcpy(p + 20, &pid, 4);
	memcpy(p + 24, &start, 8);
	memcpy(p + 32, &len, 8);
	memcpy(p + 72, &prot, 4);
	memcpy(p + 76, &flags, 4);
	memcpy(p + 80, "//anon", 7);
	own(DA_OWN_MAP, DA_OWN_VERSION, p, sizeof(p));
}

/* A mapping that the run found later holds since the time that it says, not before. */
START_TEST(mapping_found_later)
{
	comm(7, "seven", 0);
	map(7, 0x100000, 0x1000, "//anon", 0);
	sample(FAULTS, 7, 0x500000, T0 + 10, 0);
	sample(FAULTS, 7, 0x500000, T0 + 20, 0);
	sample(FAULTS, 7, 0x500000, T0 + 30, 0);
	own_map(7, 0x500000, 0x2000, T0 + 20);
	own_info();
	run_it();
	ck_assert(!res->damaged);
	ck_assert_uint_eq(res->ledger.out[DA_STAGE_MATCH], 2);
	ck_assert_uint_eq(res->ledger.drop[DA_DROP_MISS_REGION], 1);
}
END_TEST

START_TEST(damaged_mappings)
{
	static const uint8_t junk[60] = {1, 2, 3};

	comm(7, "seven", 0);
	own(DA_OWN_MAP, DA_OWN_VERSION, junk, 5);
	own(DA_OWN_MAP, DA_OWN_VERSION, junk, sizeof(junk)); /* no MMAP2 in it */
	own(DA_OWN_NSPID, DA_OWN_VERSION, junk, 9);
	own(DA_OWN_STEP, DA_OWN_VERSION, "{}", 2);
	sample(FAULTS, 7, 0x500000, T0 + 10, 0);
	run_it();
	ck_assert(res->damaged);
	ck_assert_uint_eq(res->samples, 1);
}
END_TEST

static void step(uint32_t event, uint64_t time, uint64_t from, uint64_t to)
{
	struct da_own_step s = {.event = event, .time_ns = time, .from = from, .to = to};

	snprintf(s.why, sizeof(s.why), "a test");
	own_text(DA_OWN_STEP, da_own_step_text(&s));
}

/* A sample counts with the period of its time; one of an inherited copy with its own. */
START_TEST(periods_by_step)
{
	static const struct {
		uint64_t time, stream;
	} at[] = {{10, 11}, {20, 11}, {30, 99}, {40, 11}, {50, 11}};
	struct da_attr *a = &file.ev[FAULTS].attr;
	const struct da_region_stat *st;

	a->sample_type |= DA_SAMPLE_STREAM_ID;
	own_info();
	step(FAULTS, T0 + 35, 300, 1200); /* not in the order of time */
	step(FAULTS, T0 + 15, 100, 300);
	step(CLOCK, T0 + 12, 1, 7000);
	map(7, 0x100000, 0x1000, "//anon", 0);
	for (size_t i = 0; i < 5; i++) {
		struct da_samp s = {.mask = a->sample_type,
				    .id = 11,
				    .stream_id = at[i].stream,
				    .pid = 7,
				    .tid = 7,
				    .time_ns = T0 + at[i].time,
				    .addr = 0x100000,
				    .period = 100};

		gen_sample(&file.data, a, &s);
	}
	run_it();
	ck_assert_uint_eq(res->nr_steps, 3);
	ck_assert_uint_eq(res->steps[0].event, CLOCK);
	st = &da_match_space(res->match, 0)->regions[0].by_event[0];
	ck_assert_uint_eq(st->samples, 5);
	ck_assert_uint_eq(st->accesses, 100 + 300 + 100 + 1200 + 1200);
	/* (sum w)^2 / (5 sum w^2) */
	ck_assert_double_eq_tol(res->events[FAULTS].effective, 2900.0 * 2900 / (5 * 2990000.0),
				1e-9);
	ck_assert_double_eq_tol(res->events[CLOCK].effective, 1, 1e-9);
}
END_TEST

START_TEST(ids_in_namespaces)
{
	static const struct {
		uint32_t pid, ns_pid;
		uint64_t time;
	} ids = {7, 1, T0};
	size_t seen = 0;

	own_info();
	own(DA_OWN_NSPID, DA_OWN_VERSION, &ids, sizeof(ids));
	body();
	run_it();
	for (size_t i = 0; i < da_match_nr_spaces(res->match); i++) {
		const struct da_space *s = da_match_space(res->match, i);

		ck_assert_uint_eq(da_offline_ns_pid(res, s), s->pid == 7 ? 1 : 0);
		seen += s->pid == 7;
	}
	ck_assert_uint_gt(seen, 0);
}
END_TEST

/* The probes that the recording was made with are there unless others are asked for. */
START_TEST(recorded_probes)
{
	static const char *const other[] = {"o:read", NULL};
	struct da_own_event ev[2] = {{.name = "page-faults:u", .buffer = "big"},
				     {.name = "cpu-clock"}};
	char options[] = "{\"probes\":[{\"probe\":\"a:buffer=big,weight=0\"},{\"probe\":\"b:cpus=1,"
			 "weight=0\"},{\"probe\":\"c:nonsense\"}]}";
	struct da_own_info info = {.events = ev, .nr_events = 2, .options = options};

	own_text(DA_OWN_INFO, da_own_info_text(&info));
	body();
	run_it();
	ck_assert(res->damaged); /* the third one */
	ck_assert_uint_eq(da_probes_nr(res->probes), 2);
	ck_assert_str_eq(da_probe_name(res->probes, 1), "b");
	opts.probes = other;
	opts.nr_probes = 1;
	run_it();
	ck_assert_uint_eq(da_probes_nr(res->probes), 1);
	opts.nr_probes = 0;
	opts.no_probes = true;
	run_it();
	ck_assert_ptr_null(res->probes);
	opts.no_probes = false;
	opts.nr_probes = 1;
	opts.probes = (const char *const[]){"p:producer=nobody"};
	ck_assert_int_eq(open_it(false), -DA_EUSAGE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("offline");
	TCase *c = tcase_create("offline");
	SRunner *run;
	int failed;

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, foreign_recording);
	tcase_add_test(c, own_recording);
	tcase_add_test(c, through_a_pipe);
	tcase_add_test(c, other_byte_order);
	tcase_add_test(c, continued_text);
	tcase_add_test(c, damaged_own_records);
	tcase_add_test(c, filter_events);
	tcase_add_test(c, filter_unknown_event);
	tcase_add_test(c, filter_tasks);
	tcase_add_test(c, filter_times);
	tcase_add_test(c, losses_and_their_times);
	tcase_add_test(c, many_losses_stay_bounded);
	tcase_add_test(c, every_report_in_order);
	tcase_add_test(c, refusals);
	tcase_add_test(c, cut_anywhere);
	tcase_add_test(c, mapping_found_later);
	tcase_add_test(c, damaged_mappings);
	tcase_add_test(c, periods_by_step);
	tcase_add_test(c, ids_in_namespaces);
	tcase_add_test(c, recorded_probes);
	suite_add_tcase(suite, c);
	run = srunner_create(suite);
	srunner_run_all(run, CK_NORMAL);
	failed = srunner_ntests_failed(run);
	srunner_free(run);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
