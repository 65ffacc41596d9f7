/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AArch64 instructions: what each does to memory and registers (the table insn_arm64_cases.h), then
 * addresses from registers in perf's numbers: tags, authentication codes, SP and the zero register, vector
 * length, write-back. The comparison with Capstone is test_insn_arm64_capstone.c.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_insn.h"
#include "da_report.h"
#include "insn_arm64_cases.h"

enum { SP = 31, PC = 32, VG = 46, NR_REGS = 34 };
#define CODE 0xaaaa00001000ULL

static struct da_insn_decoder *decoder;

static void setup(void)
{
	decoder = da_insn_decoder_new();
	ck_assert_ptr_nonnull(decoder);
}

static void teardown(void)
{
	da_insn_decoder_free(decoder);
}

/* Instructions are little-endian on every host; the block ends where they do. */
static struct da_insn decode(uint32_t word, size_t n)
{
	uint8_t *bytes = malloc(n ? n : 1);
	struct da_insn in;

	ck_assert_ptr_nonnull(bytes);
	for (size_t i = 0; i < n; i++)
		bytes[i] = i < 4 ? (uint8_t)(word >> 8 * i) : 0x5a;
	memset(&in, 0xee, sizeof(in));
	da_insn_decode(decoder, DA_ARCH_ARM64, bytes, n, &in);
	free(bytes);
	return in;
}

static const char *name(unsigned bit)
{
	static char names[4][8];
	static unsigned turn;
	char *s = names[turn++ % 4];

	if (bit == DA_REG_IP)
		return "ip";
	if (bit == SP)
		return "sp";
	snprintf(s, 8, "x%u", bit);
	return s;
}

/*
 * R, W or RW; bytes, after <= where they are an upper bound, vl where they grow with the vector; in
 * brackets base, +index*scale and its extension, displacement, *vg where that counts granules; /pac where
 * the base holds a code.
 */
static void print_access(const struct da_insn_access *a, char *buf, size_t size)
{
	FILE *f = fmemopen(buf, size, "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f, "%s%s%s%u%s[%s", a->op & DA_OP_READ ? "R" : "", a->op & DA_OP_WRITE ? "W" : "",
		a->size_is_max ? "<=" : "", a->size, a->vl ? "vl" : "", name(a->base));
	if (a->index != DA_REG_NONE && a->index_kind != DA_INDEX_VG)
		fprintf(f, "+%s*%u", name(a->index), a->scale);
	if (a->index_kind == DA_INDEX_SXTW || a->index_kind == DA_INDEX_UXTW)
		fputs(a->index_kind == DA_INDEX_SXTW ? " sxtw" : " uxtw", f);
	if (a->disp)
		fprintf(f, "%c0x%llx", a->disp < 0 ? '-' : '+',
			a->disp < 0 ? -(unsigned long long)a->disp : (unsigned long long)a->disp);
	fputs(a->index_kind == DA_INDEX_VG ? "*vg" : "", f);
	fputs(a->index_kind == DA_INDEX_ALIGN ? " align" : "", f);
	fputs(a->addr_bits == DA_ADDR_PAC ? "]/pac" : "]", f);
	fclose(f);
	ck_assert(a->addr_bits == DA_ADDR_PAC || a->addr_bits == DA_ADDR_TBI);
	ck_assert_uint_eq(a->seg, DA_SEG_FLAT);
}

START_TEST(instructions)
{
	static const char *const kinds[] = {
		[DA_INSN_NO_MEMORY] = "none",
		[DA_INSN_PREFETCH] = "prefetch",
		[DA_INSN_GATHER] = "gather",
		[DA_INSN_UNDECODED] = "undecoded",
	};

	for (size_t i = 0; i < sizeof(arm64_cases) / sizeof(arm64_cases[0]); i++) {
		const struct arm64_case *c = &arm64_cases[i];
		struct da_insn in = decode(c->word, 4), again = decode(c->word, 9);
		char got[128], writes[128] = "";

		if (in.kind == DA_INSN_ACCESS) {
			ck_assert_uint_eq(in.nr, 1);
			print_access(&in.acc[0], got, sizeof(got));
		} else {
			ck_assert_uint_eq(in.nr, 0);
			snprintf(got, sizeof(got), "%s", kinds[in.kind]);
		}
		ck_assert_msg(!strcmp(got, c->accesses), "%s (%08x): %s, not %s", c->text, c->word,
			      got, c->accesses);
		ck_assert_uint_eq(in.len, in.kind == DA_INSN_UNDECODED ? 0 : 4);
		for (unsigned r = 0; r < 64; r++) {
			if (!(in.writes >> r & 1))
				continue;
			ck_assert_uint_le(r, SP);
			snprintf(writes + strlen(writes), sizeof(writes) - strlen(writes), "%s%s",
				 writes[0] ? " " : "", name(r));
		}
		ck_assert_msg(!strcmp(writes, c->writes), "%s (%08x): writes '%s', not '%s'",
			      c->text, c->word, writes, c->writes);
		ck_assert_msg(!memcmp(&in, &again, sizeof(in)), "%s: depends on what follows",
			      c->text);
		for (size_t cut = 0; cut < 4; cut++)
			ck_assert_uint_eq(decode(c->word, cut).kind, DA_INSN_UNDECODED);
	}
}
END_TEST

START_TEST(other_modes)
{
	const uint8_t ldr[4] = {0x20, 0x00, 0x40, 0xf9};
	struct da_insn in;

	da_insn_decode(decoder, DA_ARCH_ARM32, ldr, 4, &in);
	ck_assert_uint_eq(in.kind, DA_INSN_UNDECODED);
	ck_assert_uint_eq(in.len, 0);
}
END_TEST

/* ---- addresses ---- */

/* X0..X30, SP, PC and, as the kernel does, behind them VG. */
struct sample {
	uint64_t regs[NR_REGS];
	bool with_vg;
	uint8_t phase;
};

/* The address of the only access, or the drop reason. */
static int resolve(uint32_t word, const struct sample *s, struct da_access *acc)
{
	struct da_regs regs = {.mask = (1ULL << 33) - 1,
			       .vals = (const uint8_t *)s->regs,
			       .abi = 2,
			       .arch = DA_ARCH_ARM64,
			       .phase = s->phase};
	struct da_access all[DA_INSN_MAX_ACCESS];
	struct da_insn in = decode(word, 4);
	unsigned nr;
	int drop;

	if (s->with_vg)
		regs.mask |= 1ULL << VG;
	drop = da_insn_resolve(&in, CODE, &regs, all, &nr);
	ck_assert_uint_eq(nr, drop < 0);
	if (nr) {
		*acc = all[0];
		/* the fault at this address has this direction */
		ck_assert_uint_eq(da_insn_op_at(&in, CODE, &regs, acc->vaddr), acc->op);
	}
	return drop;
}

static void expect(uint32_t word, const struct sample *s, uint64_t addr, uint32_t size)
{
	struct da_access acc;
	int drop = resolve(word, s, &acc);

	ck_assert_msg(drop == -1, "%08x: drop %d", word, drop);
	ck_assert_msg(acc.vaddr == addr, "%08x: %llx, not %llx", word,
		      (unsigned long long)acc.vaddr, (unsigned long long)addr);
	ck_assert_uint_eq(acc.size, size);
}

static void expect_drop(uint32_t word, const struct sample *s, int why)
{
	struct da_access acc;

	ck_assert_int_eq(resolve(word, s, &acc), why);
}

START_TEST(addresses)
{
	struct sample s = {.regs = {[1] = 0xaaaa80001000, [2] = 0xfffffff0, [SP] = 0x7ffff000}};

	expect(0xf9400420, &s, 0xaaaa80001008, 8); /* ldr x0, [x1, #8] */
	expect(0xf8008420, &s, 0xaaaa80001000, 8); /* str x0, [x1], #8: before */
	expect(0xf8008c20, &s, 0xaaaa80001008, 8); /* str x0, [x1, #8]! */
	expect(0xf85f83e0, &s, 0x7fffeff8, 8);     /* ldur x0, [sp, #-8] */
	expect(0xb8625820, &s, 0xaaaa80001000 + 0xfffffff0ULL * 4,
	       4);                                              /* ldr w0, [x1, w2, uxtw #2] */
	expect(0xb862d820, &s, 0xaaaa80001000 - 0x40, 4);       /* sxtw #2 */
	expect(0xb8626820, &s, 0xaaaa80001000 + 0xfffffff0, 4); /* ldr w0, [x1, x2] */
	expect(0xf87f7820, &s, 0xaaaa80001000, 8);              /* ldr x0, [x1, xzr, lsl #3] */
	expect(0x58ffffe0, &s, CODE - 4, 8);                    /* ldr x0, . - 4 */
	expect(0x9c000100, &s, CODE + 32, 16);                  /* ldr q0, . + 32 */
	expect(0xa93f0be1, &s, 0x7fffeff0, 16);                 /* stp x1, x2, [sp, #-16] */
	s.regs[1] = 0x12345;
	expect(0xd50b7421, &s, 0x12340, 64); /* dc zva, x1 */
}
END_TEST

START_TEST(bits_that_are_no_address)
{
	struct sample s = {.regs = {[1] = 0x5a00ffff80001000}};

	expect(0xf9400420, &s, 0xffff80001008, 8);
	s.regs[1] = 0xffff800012345678;
	expect(0xf9400420, &s, 0xffff800012345680, 8);
	s.regs[1] = 0x00ff800012345678; /* a kernel pointer with a tag */
	expect(0xf9400420, &s, 0xffff800012345680, 8);
	s.regs[1] = 0x000f800012345678; /* 52 bits are addresses */
	expect(0xf9400420, &s, 0x000f800012345680, 8);
	s.regs[1] = 0x0012800012345678; /* a code, but nothing authenticates it */
	expect_drop(0xf9400420, &s, DA_DROP_NONCANONICAL);
	expect(0xf8200420, &s, 0x800012345678, 8);        /* ldraa x0, [x1] */
	expect(0xf8600420, &s, 0x800012345678 - 4096, 8); /* ldraa x0, [x1, #-4096] */
	s.regs[1] = 0x3f7f7ffffffffff8;                   /* the sum does not run into the code */
	expect(0xf8201c20, &s, 0x0000800000000000, 8);    /* ldraa x0, [x1, #8]! */
}
END_TEST

START_TEST(vector_length)
{
	struct sample s = {.regs = {[1] = 0x10000, [2] = 0x100, [33] = 8}}; /* 64 bytes */

	/* ld1w {z0.s}, p0/z, [x1, x2, lsl #2]; ld1b {z0.d}, p0/z, [x1, #-2, mul vl] */
	expect(0xa5424020, &s, 0x10400, 16);
	expect_drop(0xa46ea020, &s, DA_DROP_UNRESOLVED);
	expect(0xa460a020, &s, 0x10000, 2);
	expect(0x84408020, &s, 0x10000, 1); /* ld1rb {z0.b}, p0/z, [x1], top bits 8 */
	s.with_vg = true;
	expect(0xa5424020, &s, 0x10400, 64);
	expect(0xa46ea020, &s, 0x10000 - 16, 8);
	expect(0x85804420, &s, 0x10000 + 64, 64);          /* ldr z0, [x1, #1, mul vl] */
	expect(0x85800420, &s, 0x10000 + 8, 8);            /* ldr p0, [x1, #1, mul vl] */
	expect(0xe473e020, &s, 0x10000 + 3 * 4 * 64, 256); /* st4b, [x1, #12, mul vl] */
	s.regs[33] = 3000;                                 /* no vector length */
	expect(0xa5424020, &s, 0x10400, 16);
}
END_TEST

/* Registers from after the instruction. */
START_TEST(written_inputs)
{
	struct sample s = {.regs = {[1] = 0x10000, [2] = 0x100}, .phase = DA_REGS_AFTER};

	expect(0xf9400020, &s, 0x10000, 8);                    /* ldr x0, [x1] */
	expect_drop(0xf9400021, &s, DA_DROP_BASE_OVERWRITTEN); /* ldr x1, [x1] */
	expect(0xf9000021, &s, 0x10000, 8);                    /* str x1, [x1] */
	expect_drop(0xf8008420, &s, DA_DROP_BASE_OVERWRITTEN); /* str x0, [x1], #8 */
	expect_drop(0xb8626822, &s, DA_DROP_BASE_OVERWRITTEN); /* ldr w2, [x1, x2] */
	expect(0xb862683f, &s, 0x10100, 4);                    /* ldr wzr, [x1, x2] */
	expect_drop(0xc8017c22, &s, DA_DROP_BASE_OVERWRITTEN); /* stxr w1, x2, [x1] */
	expect_drop(0xf8bf0021, &s, DA_DROP_BASE_OVERWRITTEN); /* ldadda xzr, x1, [x1] */
	expect(0xfc408020, &s, 0x10008, 8);                    /* ldur d0, [x1, #8] */
}
END_TEST

START_TEST(no_access)
{
	struct sample s = {.regs = {[1] = 0x10000}};

	expect_drop(0xf9800020, &s, DA_DROP_PREFETCH);   /* prfm pldl1keep, [x1] */
	expect_drop(0xd8000020, &s, DA_DROP_PREFETCH);   /* prfm, literal */
	expect_drop(0xd9200820, &s, DA_DROP_NOT_MEMORY); /* stg x0, [x1] */
	expect_drop(0x91000420, &s, DA_DROP_NOT_MEMORY); /* add x0, x1, #1 */
	expect_drop(0x10000020, &s, DA_DROP_NOT_MEMORY); /* adr x0, . + 4 */
	expect_drop(0xc5200000, &s, DA_DROP_UNRESOLVED); /* a gather */
	expect_drop(0x19010440, &s, DA_DROP_UNRESOLVED); /* cpyfp [x0]!, [x1]!, x2! */
	expect_drop(0x00000000, &s, DA_DROP_UNDECODED);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("insn_arm64");
	TCase *t = tcase_create("words");
	SRunner *r;
	int bad;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, instructions);
	tcase_add_test(t, other_modes);
	tcase_add_test(t, addresses);
	tcase_add_test(t, bits_that_are_no_address);
	tcase_add_test(t, vector_length);
	tcase_add_test(t, written_inputs);
	tcase_add_test(t, no_access);
	suite_add_tcase(suite, t);
	r = srunner_create(suite);
	srunner_run_all(r, CK_ENV);
	bad = srunner_ntests_failed(r);
	srunner_free(r);
	return bad != 0;
}
