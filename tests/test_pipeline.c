/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sample layer: every record is classified exactly once, with the right reason, and gives the reports it
 * should. Code comes from saved pieces, so no process or file is involved.
 */
#include "da_datasrc.h"
#include "da_pipeline.h"
#include "ibs_sample.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PID  77
#define TEXT 0x400000ull

/* uapi asm/perf_regs.h (x86): bit 0 AX, 5 DI, 4 SI, 7 SP, 8 IP, 9 FLAGS */
#define REGS ((1ull << 0) | (1ull << 4) | (1ull << 5) | (1ull << 7) | (1ull << 8) | (1ull << 9))

struct got {
	struct da_report r[16];
	size_t nr;
	struct da_late late;
	size_t nr_late;
};

struct rig {
	struct da_attr attr;
	struct da_tasks *tasks;
	struct da_code_store *store;
	struct da_pipeline *p;
	struct da_lane *l;
	struct got got;
	bool compat; /* the task runs 32-bit code */
};

static void take(void *ctx, const struct da_report *r, struct da_ledger *led)
{
	struct got *g = ctx;

	ck_assert_uint_lt(g->nr, 16);
	g->r[g->nr++] = *r;
	da_count(&led->in[DA_STAGE_RING], 1);
	da_count(&led->drop[DA_DROP_RESIDENT], 1);
}

static void setup(struct rig *rig, enum da_producer producer, uint64_t more, bool late)
{
	static const uint8_t code[] = {
		0x48, 0x89, 0x07, /* +0  mov %rax,(%rdi) */
		0x48, 0x01, 0xc0, /* +3  add %rax,%rax */
		0x48, 0x8b, 0x06, /* +6  mov (%rsi),%rax */
		0xa4,             /* +9  movsb */
		0x0f, 0x18, 0x06, /* +10 prefetchnta (%rsi) */
		0x64, 0x8b, 0x06, /* +13 mov %fs:(%rsi),%eax */
		0x06,             /* +16 invalid in 64-bit mode */
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	};
	struct da_rec_mmap m = {.pid = PID,
				.tid = PID,
				.addr = TEXT,
				.len = 0x1000,
				.prot = PROT_READ | PROT_EXEC,
				.has_prot = true,
				.filename = "//anon"};
	struct da_own_code piece = {.pid = PID, .addr = TEXT, .len = sizeof(code), .bytes = code};
	struct da_pipeline_event ev;

	memset(rig, 0, sizeof(*rig));
	rig->attr = (struct da_attr){.type = DA_TYPE_SOFTWARE,
				     .size = 128,
				     .sample_period = 10,
				     .sample_type = DA_SAMPLE_IDENTIFIER | DA_SAMPLE_IP |
						    DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_CPU |
						    more,
				     .sample_regs_intr = more & DA_SAMPLE_REGS_INTR ? REGS : 0};
	rig->tasks = da_tasks_new();
	rig->store = da_code_store_new(rig->tasks, DA_ARCH_X86_64);
	ck_assert(!da_tasks_mmap(rig->tasks, &m, 0));
	ck_assert(!da_code_store_add(rig->store, &piece));
	da_code_store_files(rig->store, false);
	ev = (struct da_pipeline_event){
		.attr = &rig->attr, .producer = producer, .name = "test", .late = late};
	rig->p = da_pipeline_new(&ev, 1, DA_ARCH_X86_64, rig->tasks, rig->store);
	rig->l = da_lane_new(rig->p, take, &rig->got);
	ck_assert_ptr_nonnull(rig->l);
}

static void teardown(struct rig *rig)
{
	struct da_ledger sum = {0};
	enum da_stage bad;

	da_lane_sum(rig->l, ~0u, &sum);
	ck_assert_msg(da_ledger_conserves(&sum, &bad), "ledger does not conserve at layer %d", bad);
	da_lane_free(rig->l);
	da_pipeline_free(rig->p);
	da_code_store_free(rig->store);
	da_tasks_free(rig->tasks);
}

/* One sample at TEXT + at; its reports are in rig->got. */
static void feed(struct rig *rig, struct da_samp s, uint64_t at, uint16_t misc)
{
	uint64_t regs[] = {0xa0, 0x51000, 0xd1000, 0x7fff0000, TEXT + at, 0x202};
	uint8_t buf[1024];
	struct da_rec rec = {.type = DA_REC_SAMPLE, .misc = misc, .bytes = buf};
	int size;

	rig->got.nr = 0;
	s.mask |= rig->attr.sample_type & ~(DA_SAMPLE_REGS_INTR);
	s.ip = TEXT + at;
	s.pid = s.tid = PID;
	s.time_ns = 1000;
	s.cpu = 3;
	if (rig->attr.sample_type & DA_SAMPLE_REGS_INTR) {
		s.mask |= DA_SAMPLE_REGS_INTR;
		s.regs_intr = (struct da_regs){
			.mask = REGS, .vals = (uint8_t *)regs, .abi = rig->compat ? 1 : 2};
	}
	size = da_samp_build(&rig->attr, misc, &s, buf, sizeof(buf));
	ck_assert_int_gt(size, 0);
	rec.size = (uint32_t)size;
	da_lane_sample(rig->l, 0, &rec);
}

static uint64_t drops(struct rig *rig, enum da_drop d)
{
	return da_lane_ledger(rig->l, 0, 3)->drop[d];
}

START_TEST(registers)
{
	struct da_samp s = {0};
	struct rig rig;

	setup(&rig, DA_PROD_REGS, DA_SAMPLE_REGS_INTR, false);
	feed(&rig, s, 0, DA_CTX_USER);
	ck_assert_uint_eq(rig.got.nr, 1);
	ck_assert_uint_eq(rig.got.r[0].vaddr, 0xd1000);
	ck_assert_uint_eq(rig.got.r[0].size, 8);
	ck_assert_uint_eq(rig.got.r[0].op, DA_OP_WRITE);
	ck_assert_uint_eq(rig.got.r[0].how, DA_HOW_DECODED);
	ck_assert_uint_eq(rig.got.r[0].cpu, 3);
	ck_assert_uint_eq(rig.got.r[0].period, 10);
	feed(&rig, s, 6, DA_CTX_USER);
	ck_assert_uint_eq(rig.got.nr, 1);
	ck_assert_uint_eq(rig.got.r[0].vaddr, 0x51000);
	ck_assert_uint_eq(rig.got.r[0].op, DA_OP_READ);
	feed(&rig, s, 9, DA_CTX_USER); /* one record, two reports */
	ck_assert_uint_eq(rig.got.nr, 2);
	ck_assert_uint_eq(rig.got.r[0].op | rig.got.r[1].op, DA_OP_READ | DA_OP_WRITE);
	ck_assert_uint_eq(da_lane_ledger(rig.l, 0, 3)->out[DA_STAGE_SAMPLE], 3);
	ck_assert_uint_eq(da_lane_ledger(rig.l, 0, 3)->in[DA_STAGE_RING], 4);
	teardown(&rig);
}
END_TEST

START_TEST(register_drops)
{
	struct da_samp s = {0};
	struct rig rig;

	setup(&rig, DA_PROD_REGS, DA_SAMPLE_REGS_INTR, false);
	feed(&rig, s, 3, DA_CTX_USER);
	ck_assert_uint_eq(drops(&rig, DA_DROP_NOT_MEMORY), 1);
	feed(&rig, s, 10, DA_CTX_USER);
	ck_assert_uint_eq(drops(&rig, DA_DROP_PREFETCH), 1);
	feed(&rig, s, 13, DA_CTX_USER);
	ck_assert_uint_eq(drops(&rig, DA_DROP_SEGMENT), 1);
	feed(&rig, s, 16, DA_CTX_USER);
	ck_assert_uint_eq(drops(&rig, DA_DROP_UNDECODED), 1);
	feed(&rig, s, 0x800, DA_CTX_USER); /* mapped, but no bytes are known */
	ck_assert_uint_eq(drops(&rig, DA_DROP_NO_CODE), 1);
	feed(&rig, s, 0x5000, DA_CTX_USER); /* not mapped */
	ck_assert_uint_eq(drops(&rig, DA_DROP_NO_CODE), 2);
	feed(&rig, s, 0, DA_CTX_KERNEL);
	ck_assert_uint_eq(drops(&rig, DA_DROP_KERNEL_IP), 1);
	ck_assert_uint_eq(rig.got.nr, 0);
	ck_assert_uint_eq(da_lane_ledger(rig.l, 0, 3)->in[DA_STAGE_SAMPLE], 7);
	teardown(&rig);
	setup(&rig, DA_PROD_REGS, 0, false); /* --no-regs: the seeds' addr_zero */
	feed(&rig, s, 0, DA_CTX_USER);
	ck_assert_uint_eq(drops(&rig, DA_DROP_ADDR_NONE), 1);
	teardown(&rig);
}
END_TEST

/* The same bytes are other instructions in a 32-bit task, and addresses are shorter. */
START_TEST(compat_task)
{
	struct da_samp s = {0};
	struct rig rig;

	setup(&rig, DA_PROD_REGS, DA_SAMPLE_REGS_INTR, false);
	feed(&rig, s, 0, DA_CTX_USER);
	ck_assert_uint_eq(rig.got.nr, 1);
	rig.compat = true;
	feed(&rig, s, 0, DA_CTX_USER); /* dec %eax */
	ck_assert_uint_eq(drops(&rig, DA_DROP_NOT_MEMORY), 1);
	feed(&rig, s, 1, DA_CTX_USER); /* mov %eax,(%edi) */
	ck_assert_uint_eq(rig.got.nr, 1);
	ck_assert_uint_eq(rig.got.r[0].size, 4);
	ck_assert_uint_eq(rig.got.r[0].op, DA_OP_WRITE);
	feed(&rig, s, 16, DA_CTX_USER); /* push %es */
	ck_assert_uint_eq(rig.got.nr, 1);
	ck_assert_uint_eq(rig.got.r[0].vaddr, 0x7fff0000 - 4);
	teardown(&rig);
}
END_TEST

START_TEST(precise_after)
{
	struct da_samp s = {0};
	struct rig rig;

	setup(&rig, DA_PROD_REGS, DA_SAMPLE_REGS_INTR, false);
	rig.attr.flags |= 2ull << DA_ATTR_PRECISE_SHIFT;
	da_lane_free(rig.l);
	da_pipeline_free(rig.p);
	rig.p = da_pipeline_new(
		&(struct da_pipeline_event){.attr = &rig.attr, .producer = DA_PROD_REGS}, 1,
		DA_ARCH_X86_64, rig.tasks, rig.store);
	rig.l = da_lane_new(rig.p, take, &rig.got);
	feed(&rig, s, 0, DA_CTX_USER); /* writes no register: the base still holds */
	ck_assert_uint_eq(rig.got.nr, 1);
	feed(&rig, s, 9, DA_CTX_USER); /* movsb moves rsi and rdi */
	ck_assert_uint_eq(drops(&rig, DA_DROP_BASE_OVERWRITTEN), 1);
	teardown(&rig);
}
END_TEST

START_TEST(faults)
{
	struct da_samp s = {.addr = 0};
	struct rig rig;

	setup(&rig, DA_PROD_FAULT, DA_SAMPLE_ADDR | DA_SAMPLE_PHYS_ADDR, false);
	feed(&rig, s, 0, DA_CTX_USER); /* a fault at address 0 has an address */
	ck_assert_uint_eq(rig.got.nr, 1);
	ck_assert(rig.got.r[0].has & DA_HAS_VADDR);
	ck_assert(!(rig.got.r[0].has & DA_HAS_PADDR));   /* PHYS_ADDR 0 is absent */
	ck_assert_uint_eq(rig.got.r[0].op, DA_OP_WRITE); /* the instruction at IP says so */
	ck_assert_uint_eq(rig.got.r[0].how, DA_HOW_FAULT);
	s.addr = 0x123456;
	s.phys_addr = 0x9000;
	feed(&rig, s, 6, DA_CTX_USER);
	ck_assert_uint_eq(rig.got.r[0].vaddr, 0x123456);
	ck_assert_uint_eq(rig.got.r[0].paddr, 0x9000);
	ck_assert_uint_eq(rig.got.r[0].paddr_how, DA_PADDR_SAMPLED);
	ck_assert_uint_eq(rig.got.r[0].op, DA_OP_READ);
	feed(&rig, s, 0x800, DA_CTX_USER); /* no code: valid, direction unknown */
	ck_assert_uint_eq(rig.got.nr, 1);
	ck_assert(!(rig.got.r[0].has & DA_HAS_OP));
	feed(&rig, s, 0, DA_CTX_KERNEL);
	ck_assert_uint_eq(rig.got.nr, 1);
	ck_assert(!(rig.got.r[0].has & DA_HAS_OP));
	teardown(&rig);
}
END_TEST

START_TEST(hardware_address)
{
	struct da_samp s = {.addr = 0, .data_src = 0x4}; /* store */
	struct rig rig;

	setup(&rig, DA_PROD_ADDR,
	      DA_SAMPLE_ADDR | DA_SAMPLE_DATA_SRC | DA_SAMPLE_WEIGHT | DA_SAMPLE_PHYS_ADDR, false);
	feed(&rig, s, 0, DA_CTX_USER); /* there 0 is absent */
	ck_assert_uint_eq(drops(&rig, DA_DROP_ADDR_NONE), 1);
	s.phys_addr = 0x5000; /* a physical address alone is usable */
	feed(&rig, s, 0, DA_CTX_USER);
	ck_assert_uint_eq(rig.got.nr, 1);
	ck_assert(!(rig.got.r[0].has & DA_HAS_VADDR));
	s.addr = 0x8000;
	s.weight = 123;
	feed(&rig, s, 0, DA_CTX_KERNEL); /* the address needs no decoding */
	ck_assert_uint_eq(rig.got.nr, 1);
	ck_assert_uint_eq(rig.got.r[0].op, DA_OP_WRITE);
	ck_assert_uint_eq(rig.got.r[0].latency, 123);
	s.data_src = 0x8; /* prefetch */
	feed(&rig, s, 0, DA_CTX_USER);
	ck_assert_uint_eq(drops(&rig, DA_DROP_PREFETCH), 1);
	teardown(&rig);
}
END_TEST

/* Intel since Alder Lake: three numbers in the weight, of which the first is the access's; and page sizes. */
START_TEST(pebs_fields)
{
	struct da_samp s = {.addr = 0x8000,
			    .data_src = 0x2,
			    .weight = 7ull << 48 | 66ull << 32 | 55,
			    .data_page_size = 2 << 20};
	const struct da_report *r;
	struct rig rig;

	setup(&rig, DA_PROD_ADDR,
	      DA_SAMPLE_ADDR | DA_SAMPLE_DATA_SRC | DA_SAMPLE_WEIGHT_STRUCT |
		      DA_SAMPLE_DATA_PAGE_SIZE,
	      false);
	r = &rig.got.r[0];
	feed(&rig, s, 0, DA_CTX_USER);
	ck_assert_uint_eq(rig.got.nr, 1);
	ck_assert(r->has & DA_HAS_LATENCY && r->latency == 55);
	ck_assert(r->has & DA_HAS_PAGE_SIZE && r->page_size == 2 << 20);
	ck_assert(r->has & DA_HAS_DATA_SRC && r->data_src == 0x2);
	s.weight = 66ull << 32; /* 0: not measured */
	s.data_page_size = 0;   /* 0: not known */
	feed(&rig, s, 0, DA_CTX_USER);
	ck_assert(!(r->has & (DA_HAS_LATENCY | DA_HAS_PAGE_SIZE)));
	teardown(&rig);
}
END_TEST

/* A load of AMD IBS: registers, and what the kernel made of them. */
static struct da_samp ibs_load(uint8_t raw[128], struct sample *x)
{
	*x = (struct sample){.caps = 0x3ff,
			     .ctl = GOOD | 0x1000,
			     .rip = TEXT,
			     .data3 = 1 | 1 << 17 | 1 << 18,
			     .lin = 0x7f0000001000,
			     .phys = 0x140001000};
	return (struct da_samp){.addr = x->lin,
				.phys_addr = x->phys,
				.data_src = 0x2, /* a load, and nothing more */
				.raw = raw,
				.raw_size = (uint32_t)put(raw, x)};
}

static uint64_t contradictions(struct rig *rig)
{
	struct da_decode_stats stats;

	da_lane_decode_stats(rig->l, &stats);
	return stats.contradictions;
}

/* Both there: perf's fields hold, and a difference is counted. */
START_TEST(ibs_both)
{
	struct sample x;
	uint8_t raw[128];
	struct da_samp s = ibs_load(raw, &x);
	const struct da_report *r;
	struct rig rig;

	setup(&rig, DA_PROD_IBS_OP,
	      DA_SAMPLE_ADDR | DA_SAMPLE_DATA_SRC | DA_SAMPLE_PHYS_ADDR | DA_SAMPLE_RAW, false);
	r = &rig.got.r[0];
	feed(&rig, s, 0, DA_CTX_USER);
	ck_assert_uint_eq(rig.got.nr, 1);
	ck_assert_uint_eq(r->vaddr, x.lin);
	ck_assert_uint_eq(r->paddr, x.phys);
	ck_assert_uint_eq(r->data_src, 0x2);
	ck_assert_uint_eq(r->op, DA_OP_READ);
	ck_assert_uint_eq(r->ctx, DA_CTX_USER);
	ck_assert_uint_eq(contradictions(&rig), 0);

	s.addr = 0; /* perf has none: the registers do */
	s.phys_addr = 0;
	s.data_src = 0;
	feed(&rig, s, 0, DA_CTX_USER);
	ck_assert_uint_eq(r->vaddr, x.lin);
	ck_assert_uint_eq(r->paddr, x.phys);
	ck_assert(r->data_src & 0x2);
	ck_assert_uint_eq(contradictions(&rig), 0);

	s = ibs_load(raw, &x);
	s.addr += 8;
	feed(&rig, s, 0, DA_CTX_USER);
	ck_assert_uint_eq(r->vaddr, x.lin + 8);
	ck_assert_uint_eq(contradictions(&rig), 1);
	s = ibs_load(raw, &x);
	s.phys_addr += 4096;
	feed(&rig, s, 0, DA_CTX_USER);
	ck_assert_uint_eq(r->paddr, x.phys + 4096);
	ck_assert_uint_eq(contradictions(&rig), 2);
	s = ibs_load(raw, &x);
	s.data_src = 0x4; /* a store */
	feed(&rig, s, 0, DA_CTX_USER);
	ck_assert_uint_eq(contradictions(&rig), 3);
	ck_assert_uint_eq(da_lane_ledger(rig.l, 0, 3)->out[DA_STAGE_SAMPLE], 5);
	teardown(&rig);
}
END_TEST

/* Early models of Zen 3 do not know of modified lines: the recording says which CPU it was. */
START_TEST(ibs_errata)
{
	static const char *const cpu[] = {NULL, "AuthenticAMD,25,1,1", "AuthenticAMD,23,49,0",
					  "GenuineIntel,6,85,7"};
	static const bool hitm[] = {true, false, true, true};

	for (size_t i = 0; i < 4; i++) {
		struct sample x;
		uint8_t raw[128];
		struct da_samp s = ibs_load(raw, &x);
		struct rig rig;

		x.data2 = 2;                 /* from another core's cache */
		x.data3 |= 1 << 7 | 1 << 20; /* it missed */
		s.raw_size = (uint32_t)put(raw, &x);
		s.data_src = 0;
		setup(&rig, DA_PROD_IBS_OP, DA_SAMPLE_RAW | DA_SAMPLE_DATA_SRC, false);
		da_pipeline_cpu(rig.p, cpu[i]);
		feed(&rig, s, 0, DA_CTX_USER);
		ck_assert_uint_eq(rig.got.nr, 1);
		ck_assert_msg(!!(rig.got.r[0].data_src & DS_SNOOP(SNOOP_HITM)) == hitm[i],
			      "CPU %zu: %llx", i, (unsigned long long)rig.got.r[0].data_src);
		teardown(&rig);
	}
}
END_TEST

START_TEST(truncated)
{
	uint8_t buf[64] = {9, 0, 0, 0, 2, 0, 16, 0};
	struct da_rec rec = {.type = DA_REC_SAMPLE,
			     .misc = DA_CTX_USER,
			     .size = 16,
			     .bytes = buf,
			     .has = DA_SAMPLE_CPU,
			     .cpu = 3};
	struct rig rig;

	setup(&rig, DA_PROD_FAULT, DA_SAMPLE_ADDR, false);
	da_lane_sample(rig.l, 0, &rec);
	ck_assert_uint_eq(drops(&rig, DA_DROP_TRUNCATED), 1);
	da_lane_sample(rig.l, 9, &rec); /* no such event: not ours to count */
	teardown(&rig);
}
END_TEST

static bool walked(void *ctx, uint32_t pid, uint64_t time_ns, uint64_t vaddr, uint64_t *paddr)
{
	(void)ctx;
	(void)time_ns;
	ck_assert_uint_eq(pid, PID);
	*paddr = vaddr + 0x100000000;
	return vaddr != 0x51000;
}

START_TEST(walked_paddr)
{
	struct da_samp s = {0};
	struct rig rig;

	setup(&rig, DA_PROD_REGS, DA_SAMPLE_REGS_INTR, false);
	da_pipeline_paddr(rig.p, walked, NULL);
	feed(&rig, s, 0, DA_CTX_USER);
	ck_assert_uint_eq(rig.got.r[0].paddr, 0x1000d1000);
	ck_assert_uint_eq(rig.got.r[0].paddr_how, DA_PADDR_WALKED);
	feed(&rig, s, 6, DA_CTX_USER); /* the walk has none: absent, not 0 */
	ck_assert(!(rig.got.r[0].has & DA_HAS_PADDR));
	teardown(&rig);
}
END_TEST

static void keep_late(void *ctx, const struct da_late *late, struct da_ledger *led)
{
	struct got *g = ctx;

	(void)led;
	g->late = *late;
	g->nr_late++;
}

/* Registers kept and decoded later, by another lane, give the very reports that they would have given at
 * once, or none for the same reason. */
START_TEST(decoded_late)
{
	static const uint64_t at[] = {0, 3, 6, 9, 10, 13, 16, 0x2000};

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct da_ledger early = {0}, held = {0}, late = {0};
		struct rig rig;
		struct got want;
		struct da_lane *behind;

		setup(&rig, DA_PROD_REGS, DA_SAMPLE_REGS_INTR, false);
		feed(&rig, (struct da_samp){0}, at[i], DA_CTX_USER);
		want = rig.got;
		da_lane_sum(rig.l, 0, &early);
		teardown(&rig);

		setup(&rig, DA_PROD_REGS, DA_SAMPLE_REGS_INTR, true);
		da_lane_late(rig.l, keep_late);
		feed(&rig, (struct da_samp){0}, at[i], DA_CTX_USER);
		ck_assert_uint_eq(rig.got.nr, 0);
		ck_assert_uint_eq(rig.got.nr_late, 1);
		da_lane_sum(rig.l, 0, &held);
		ck_assert_uint_eq(held.out[DA_STAGE_SAMPLE], 1); /* it has registers */
		behind = da_lane_new(rig.p, take, &rig.got);
		da_lane_decode_late(behind, &rig.got.late);
		ck_assert_uint_eq(rig.got.nr, want.nr);
		ck_assert_int_eq(memcmp(rig.got.r, want.r, want.nr * sizeof(want.r[0])), 0);
		da_lane_sum(behind, 0, &late);
		ck_assert_uint_eq(late.out[DA_STAGE_SAMPLE], early.out[DA_STAGE_SAMPLE]);
		ck_assert_int_eq(memcmp(late.drop, early.drop, sizeof(late.drop)), 0);
		da_lane_free(behind);
		teardown(&rig);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pipeline");
	TCase *t = tcase_create("pipeline");
	SRunner *r;
	int failed;

	tcase_add_test(t, registers);
	tcase_add_test(t, register_drops);
	tcase_add_test(t, compat_task);
	tcase_add_test(t, precise_after);
	tcase_add_test(t, pebs_fields);
	tcase_add_test(t, ibs_both);
	tcase_add_test(t, ibs_errata);
	tcase_add_test(t, faults);
	tcase_add_test(t, hardware_address);
	tcase_add_test(t, truncated);
	tcase_add_test(t, walked_paddr);
	tcase_add_test(t, decoded_late);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
