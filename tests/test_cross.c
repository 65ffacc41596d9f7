/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording of one machine, reported on another: instruction set, registers and byte order are those of
 * the file. The same recordings of x86-64, AArch64 and 32-bit tasks of both are made in either byte order
 * and decoded; `make check-cross` runs this on other processors. No kernel is asked.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "da_error.h"
#include "da_offline.h"
#include "da_own.h"
#include "perfgen.h"

#define T0       1000000000ull
#define TEXT     0x401000ull
#define PID      7
#define MAX_REGS 34

/* One sample: the instruction at its IP, its registers, and the access that they give. */
static const struct machine {
	const char *arch; /* as uname says it */
	uint64_t mask;
	uint8_t abi;
	uint8_t bytes[16];
	struct {
		unsigned nth; /* in the mask */
		uint64_t value;
	} set[2];
	int drop; /* enum da_drop, or -1 and: */
	uint64_t addr;
	uint32_t size;
	uint8_t op;
} machines[] = {
	/* mov %rax, 8(%rbx,%r15,2): BX is the 2nd of the mask, R15 the last */
	{"x86_64",
	 0xff0fff,
	 2,
	 {0x4a, 0x89, 0x44, 0x7b, 0x08},
	 {{1, 0x510000}, {19, 4}},
	 -1,
	 0x510010,
	 8,
	 DA_OP_WRITE},
	/* inc %eax would be a REX prefix: mov (%ebx), %eax */
	{"x86_64", 0xff0fff, 1, {0x8b, 0x03}, {{1, 0x510000}}, -1, 0x510000, 4, DA_OP_READ},
	/* str x0, [x1, x30, lsl #3] with a tag in the pointer */
	{"aarch64",
	 0x1ffffffff,
	 2,
	 {0x20, 0x78, 0x3e, 0xf8},
	 {{1, 0x5a0000aaaa510000}, {30, 4}},
	 -1,
	 0xaaaa510020,
	 8,
	 DA_OP_WRITE},
	/* ldp x29, x30, [sp], #32 */
	{"aarch64",
	 0x1ffffffff,
	 2,
	 {0xfd, 0x7b, 0xc2, 0xa8},
	 {{31, 0xffffd000}},
	 -1,
	 0xffffd000,
	 16,
	 DA_OP_READ},
	/* ldadd w0, w2, [x3], with only X0..X3 sampled */
	{"aarch64",
	 0xf,
	 2,
	 {0x62, 0x00, 0x20, 0xb8},
	 {{3, 0x510000}},
	 -1,
	 0x510000,
	 4,
	 DA_OP_READ | DA_OP_WRITE},
	/* the same, and X3 is not sampled */
	{"aarch64", 0x7, 2, {0x62, 0x00, 0x20, 0xb8}, {{2, 0x510000}}, DA_DROP_NO_REGS, 0, 0, 0},
	/* ldr r0, [r1] of a 32-bit task */
	{"aarch64",
	 0x1ffffffff,
	 1,
	 {0x00, 0x00, 0x91, 0xe5},
	 {{1, 0x510000}},
	 DA_DROP_UNDECODED,
	 0,
	 0,
	 0},
	/* a machine whose instructions are not known here */
	{"riscv64", 0xf, 2, {0x03, 0x35, 0x05, 0x00}, {{1, 0x510000}}, DA_DROP_UNDECODED, 0, 0, 0},
};
#define NR_MACHINES (sizeof(machines) / sizeof(machines[0]))

static struct da_report last;
static unsigned nr_reports;

static bool on_report(void *ctx, const struct da_offline *o, const struct da_report *r)
{
	(void)ctx;
	(void)o;
	last = *r;
	nr_reports++;
	return true;
}

static void arch_feature(struct gen *g, const char *arch)
{
	g->len = 0;
	gen_u32(g, 64);
	gen_padded(g, arch, 64);
}

/* Our record of the code, in the file's byte order. */
static void code_record(struct gen *g, const struct machine *m)
{
	size_t rec = gen_rec(g, DA_REC_HEADER_EVENT_TYPE, 0);

	gen_u32(g, DA_OWN_MAGIC);
	gen_u16(g, DA_OWN_CODE);
	gen_u16(g, DA_OWN_VERSION);
	gen_u32(g, 48 + sizeof(m->bytes));
	gen_u32(g, 0);
	gen_u32(g, PID);
	gen_u32(g, 0);
	gen_u32(g, 0);
	gen_u32(g, sizeof(m->bytes));
	gen_u64(g, 0);
	gen_u64(g, 0);
	gen_u64(g, TEXT);
	gen_u64(g, T0);
	gen_bytes(g, m->bytes, sizeof(m->bytes));
	gen_end(g, rec);
}

static void recording(struct gen_file *f, const struct machine *m)
{
	uint64_t vals[MAX_REGS] = {0};
	struct da_samp s = {
		.id = 11,
		.ip = TEXT,
		.pid = PID,
		.tid = PID,
		.time_ns = T0 + 10,
		.period = 1,
		.regs_intr = {.mask = m->mask, .vals = (const uint8_t *)vals, .abi = m->abi}};
	size_t rec;

	f->nr_ev = 1;
	f->ev[0] = (struct gen_event){
		.attr = {.type = DA_TYPE_HARDWARE,
			 .config = DA_HW_CPU_CYCLES,
			 .sample_period = 1,
			 .sample_type = DA_SAMPLE_IDENTIFIER | DA_SAMPLE_IP | DA_SAMPLE_TID |
					DA_SAMPLE_TIME | DA_SAMPLE_CPU | DA_SAMPLE_PERIOD |
					DA_SAMPLE_REGS_INTR,
			 .sample_regs_intr = m->mask,
			 .flags = DA_ATTR_SAMPLE_ID_ALL},
		.name = "cycles:u",
		.ids = {11},
		.nr_ids = 1,
	};
	s.mask = f->ev[0].attr.sample_type;
	gen_features(f);
	arch_feature(&f->feature[6], m->arch);
	for (size_t i = 0; i < 2; i++)
		if (m->set[i].value)
			vals[m->set[i].nth] = m->set[i].value;

	rec = gen_rec(&f->data, DA_REC_MMAP2, DA_CTX_USER);
	gen_u32(&f->data, PID);
	gen_u32(&f->data, PID);
	gen_u64(&f->data, TEXT);
	gen_u64(&f->data, 0x1000);
	gen_u64(&f->data, 0);
	gen_fill(&f->data, 0, 24); /* device, inode, generation */
	gen_u32(&f->data, PROT_READ | PROT_EXEC);
	gen_u32(&f->data, MAP_PRIVATE);
	gen_padded(&f->data, "//anon", 8);
	gen_trailer(&f->data, &f->ev[0].attr, PID, PID, T0, 11, 0);
	gen_end(&f->data, rec);
	code_record(&f->data, m);
	gen_sample(&f->data, &f->ev[0].attr, &s);
}

START_TEST(reported_elsewhere)
{
	const struct machine *m = &machines[(size_t)_i / 2];
	struct da_offline_opts opts = {.report = on_report};
	struct gen_file f = {.data.swap = _i % 2};
	struct gen out = {.swap = _i % 2};
	const struct da_offline_result *res;
	struct da_offline *off = NULL;
	struct da_error err = {0};
	char *path;

	opts.match.virt = opts.match.accumulate = true;
	nr_reports = 0;
	recording(&f, m);
	gen_file_build(&f, &out);
	path = gen_write(out.p, out.len);
	ck_assert_msg(!da_offline_open(&off, path, &opts, &err), "%s", err.msg);
	ck_assert_int_eq(da_offline_run(off, &err), 0);
	res = da_offline_result(off);
	ck_assert_uint_eq(res->ledger.in[DA_STAGE_SAMPLE], 1);
	for (int d = 0; d < DA_DROP_NR; d++)
		ck_assert_msg(res->ledger.drop[d] == (d == m->drop) ||
				      da_drop_stage((enum da_drop)d) != DA_STAGE_SAMPLE,
			      "%s: dropped as %s", m->arch, da_drop_name((enum da_drop)d));
	if (m->drop >= 0) {
		ck_assert_uint_eq(nr_reports, 0);
	} else {
		ck_assert_msg(nr_reports == 1, "%s: %u reports", m->arch, nr_reports);
		ck_assert_uint_eq(last.vaddr, m->addr);
		ck_assert_uint_eq(last.size, m->size);
		ck_assert_uint_eq(last.op, m->op);
	}
	da_offline_close(off);
	gen_unlink(path);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cross");
	TCase *t = tcase_create("machines");
	SRunner *r;
	int bad;

	tcase_add_loop_test(t, reported_elsewhere, 0, 2 * (int)NR_MACHINES);
	suite_add_tcase(suite, t);
	r = srunner_create(suite);
	srunner_run_all(r, CK_ENV);
	bad = srunner_ntests_failed(r);
	srunner_free(r);
	return bad != 0;
}
