/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86 instructions: what each does to memory and registers (the table insn_x86_cases.h), then addresses
 * from registers, with every reason for not having one. Each instruction lies in a heap block of exactly
 * its size, so that sanitizers see a read past its end.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_insn.h"
#include "da_report.h"
#include "insn_x86_cases.h"

enum { AX, BX, CX, DX, SI, DI, BP, SP, IP, FL, R8 = 16, R15 = 23, NR_REGS };

static const char *const names[NR_REGS] = {
	[AX] = "ax",  [BX] = "bx",  [CX] = "cx",  [DX] = "dx",  [SI] = "si",  [DI] = "di",
	[BP] = "bp",  [SP] = "sp",  [IP] = "ip",  [FL] = "fl",  [16] = "r8",  [17] = "r9",
	[18] = "r10", [19] = "r11", [20] = "r12", [21] = "r13", [22] = "r14", [23] = "r15",
};

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

static size_t unhex(const char *hex, uint8_t out[64])
{
	size_t n = strlen(hex) / 2;

	ck_assert_uint_le(n, 64);
	for (size_t i = 0; i < n; i++) {
		unsigned v;

		ck_assert_int_eq(sscanf(hex + 2 * i, "%2x", &v), 1);
		out[i] = (uint8_t)v;
	}
	return n;
}

/* Decodes the first n bytes from a block of that size. */
static struct da_insn decode(enum da_arch arch, const uint8_t *bytes, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);
	struct da_insn in;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, n);
	memset(&in, 0xee, sizeof(in));
	da_insn_decode(decoder, arch, copy, n, &in);
	free(copy);
	return in;
}

static struct da_insn decode_hex(enum da_arch arch, const char *hex)
{
	uint8_t bytes[64];

	return decode(arch, bytes, unhex(hex, bytes));
}

/*
 * An access: R, W or RW; its bytes, after <= where they are an upper bound; in brackets the segment, base
 * +index*scale, +al (xlat) or "bit" and a register (bit string) or "align", and the displacement; after
 * the brackets /32 or /16 if the address is shorter than the mode's.
 */
static void print_access(FILE *f, const struct da_insn_access *a, unsigned mode_bits)
{
	fprintf(f, "%s%s%s%u[", a->op & DA_OP_READ ? "R" : "", a->op & DA_OP_WRITE ? "W" : "",
		a->size_is_max ? "<=" : "", a->size);
	if (a->seg != DA_SEG_FLAT)
		fprintf(f, "%s:", a->seg == DA_SEG_FS ? "fs" : "gs");
	if (a->base != DA_REG_NONE)
		fputs(a->base == DA_REG_IP ? "ip" : names[a->base], f);
	if (a->index_kind == DA_INDEX_LOW8)
		fputs("+al", f);
	else if (a->index != DA_REG_NONE)
		fprintf(f, "+%s*%u", names[a->index], a->scale);
	if (a->disp < 0)
		fprintf(f, "-0x%llx", -(unsigned long long)a->disp);
	else if (a->disp > 0)
		fprintf(f, "+0x%llx", (unsigned long long)a->disp);
	if (a->index_kind == DA_INDEX_BITSTR)
		fprintf(f, " bit %s", names[a->bit]);
	if (a->index_kind == DA_INDEX_ALIGN)
		fputs(" align", f);
	fputs("]", f);
	if (a->addr_bits != mode_bits)
		fprintf(f, "/%u", a->addr_bits);
}

static void print_insn(const struct da_insn *in, unsigned mode_bits, char *buf, size_t size)
{
	static const char *const kinds[] = {
		[DA_INSN_NO_MEMORY] = "none",
		[DA_INSN_PREFETCH] = "prefetch",
		[DA_INSN_GATHER] = "gather",
		[DA_INSN_UNDECODED] = "undecoded",
	};
	FILE *f = fmemopen(buf, size, "w");

	ck_assert_ptr_nonnull(f);
	if (in->kind != DA_INSN_ACCESS) {
		ck_assert_uint_eq(in->nr, 0);
		fputs(kinds[in->kind], f);
	}
	if (in->rep)
		fputs("rep ", f);
	for (unsigned i = 0; i < in->nr; i++) {
		if (i)
			fputc(' ', f);
		print_access(f, &in->acc[i], mode_bits);
	}
	fclose(f);
}

static void print_writes(const struct da_insn *in, char *buf, size_t size)
{
	buf[0] = 0;
	for (unsigned r = 0; r < 64; r++) {
		if (!(in->writes >> r & 1))
			continue;
		ck_assert_msg(r < NR_REGS && names[r], "writes register %u", r);
		if (buf[0])
			strncat(buf, " ", size - strlen(buf) - 1);
		strncat(buf, names[r], size - strlen(buf) - 1);
	}
}

static void try_case(const struct insn_case *c, enum da_arch arch)
{
	unsigned mode_bits = arch == DA_ARCH_X86_64 ? 64 : 32;
	char got[256], writes[128];
	uint8_t bytes[64];
	size_t n = unhex(c->hex, bytes);
	struct da_insn in = decode(arch, bytes, n), again;

	print_insn(&in, mode_bits, got, sizeof(got));
	ck_assert_msg(strcmp(got, c->accesses) == 0, "%s (%s): %s, not %s", c->text, c->hex, got,
		      c->accesses);
	if (in.kind == DA_INSN_UNDECODED) {
		ck_assert_uint_eq(in.len, 0);
		ck_assert_uint_eq(in.writes, 0);
		return;
	}
	ck_assert_msg(in.len == n, "%s (%s): %u bytes long", c->text, c->hex, in.len);
	print_writes(&in, writes, sizeof(writes));
	ck_assert_msg(strcmp(writes, c->writes) == 0, "%s (%s): writes '%s', not '%s'", c->text,
		      c->hex, writes, c->writes);

	/* What follows it does not matter; what is missing does. */
	memset(bytes + n, 0x66, sizeof(bytes) - n);
	again = decode(arch, bytes, sizeof(bytes));
	ck_assert_msg(memcmp(&in, &again, sizeof(in)) == 0, "%s: depends on what follows", c->text);
	for (size_t cut = 0; cut < n; cut++) {
		again = decode(arch, bytes, cut);
		ck_assert_msg(again.kind == DA_INSN_UNDECODED && again.len == 0 && again.nr == 0,
			      "%s cut to %zu bytes is decoded", c->text, cut);
	}
}

START_TEST(case_64)
{
	try_case(&cases_64[_i], DA_ARCH_X86_64);
}
END_TEST

START_TEST(case_32)
{
	try_case(&cases_32[_i], DA_ARCH_X86_32);
}
END_TEST

START_TEST(other_architectures)
{
	const uint8_t mov[] = {0x8b, 0x03};

	for (int arch = 0; arch < DA_ARCH_NR; arch++) {
		struct da_insn in = decode((enum da_arch)arch, mov, sizeof(mov));

		if (arch != DA_ARCH_X86_64 && arch != DA_ARCH_X86_32)
			ck_assert_int_eq(in.kind, DA_INSN_UNDECODED);
	}
}
END_TEST

/* ---- registers ---- */

/* All general registers, IP and FLAGS: register n holds base + n * 0x1000. */
#define ALL_REGS 0xff03ffULL

struct snapshot {
	uint8_t bytes[1 + 64 * 8]; /* the values begin at an odd address */
	struct da_regs regs;
};

static void snap(struct snapshot *s, uint64_t mask, const uint64_t vals[NR_REGS], bool swap)
{
	uint8_t *p = s->bytes + 1;

	for (unsigned r = 0; r < NR_REGS; r++) {
		uint64_t v = swap ? __builtin_bswap64(vals[r]) : vals[r];

		if (!(mask >> r & 1))
			continue;
		memcpy(p, &v, 8);
		p += 8;
	}
	s->regs = (struct da_regs){
		.mask = mask,
		.vals = s->bytes + 1,
		.swap = swap,
		.abi = 2,
		.arch = DA_ARCH_X86_64,
		.phase = DA_REGS_BEFORE,
	};
}

static void plain(uint64_t vals[NR_REGS])
{
	for (unsigned r = 0; r < NR_REGS; r++)
		vals[r] = 0x7f0000000000 + 0x10000 * (uint64_t)r;
}

START_TEST(regs_get)
{
	uint64_t vals[NR_REGS], v;
	struct snapshot s;

	plain(vals);
	for (int swap = 0; swap < 2; swap++) {
		snap(&s, 1 << BX | 1 << IP | 1 << R8 | 1 << R15, vals, swap);
		for (unsigned r = 0; r < 70; r++) {
			bool there = r == BX || r == IP || r == R8 || r == R15;

			ck_assert_int_eq(da_regs_get(&s.regs, r, &v), there);
			ck_assert_uint_eq(v, there ? vals[r] : 0);
		}
	}
	s.regs.abi = 0;
	ck_assert(!da_regs_get(&s.regs, BX, &v));
	s.regs.abi = 2;
	s.regs.vals = NULL;
	ck_assert(!da_regs_get(&s.regs, BX, &v));
}
END_TEST

/* ---- addresses ---- */

#define RESOLVED (-1)

/* Decodes, resolves at ip 0x400000 and compares with up to two addresses. */
static void resolve(enum da_arch arch, const char *hex, const struct da_regs *regs, int want,
		    unsigned want_nr, uint64_t first, uint64_t second)
{
	struct da_access acc[DA_INSN_MAX_ACCESS];
	struct da_insn in = decode_hex(arch, hex);
	unsigned nr = 99;
	int got = da_insn_resolve(&in, 0x400000, regs, acc, &nr);

	ck_assert_msg(got == want, "%s: %d, not %d", hex, got, want);
	ck_assert_msg(nr == want_nr, "%s: %u addresses", hex, nr);
	if (nr > 0)
		ck_assert_msg(acc[0].vaddr == first, "%s: 0x%llx, not 0x%llx", hex,
			      (unsigned long long)acc[0].vaddr, (unsigned long long)first);
	if (nr > 1)
		ck_assert_msg(acc[1].vaddr == second, "%s: 0x%llx, not 0x%llx", hex,
			      (unsigned long long)acc[1].vaddr, (unsigned long long)second);
}

START_TEST(addresses)
{
	uint64_t v[NR_REGS];
	struct snapshot s;
	const enum da_arch x64 = DA_ARCH_X86_64;

	plain(v);
	v[CX] = 0x10;
	v[AX] = 0x1122334455667788;
	v[20] = 7; /* r12 */
	snap(&s, ALL_REGS, v, false);
	resolve(x64, "8b03", &s.regs, RESOLVED, 1, v[BX], 0);
	resolve(x64, "8b448bf0", &s.regs, RESOLVED, 1, v[BX] + 0x40 - 0x10,
		0);                                                        /* [rbx+rcx*4-0x10] */
	resolve(x64, "488b0424", &s.regs, RESOLVED, 1, v[SP], 0);          /* [rsp], no index */
	resolve(x64, "4a8b04a4", &s.regs, RESOLVED, 1, v[SP] + 7 * 4, 0);  /* [rsp+r12*4] */
	resolve(x64, "488b0500010000", &s.regs, RESOLVED, 1, 0x400107, 0); /* rip-relative */
	resolve(x64, "c7050001000005000000", &s.regs, RESOLVED, 1, 0x40010a,
		0); /* and an immediate */
	resolve(x64, "488b0500010000", NULL, RESOLVED, 1, 0x400107, 0);
	resolve(x64, "48a18877665544330000", &s.regs, RESOLVED, 1, 0x334455667788, 0);
	resolve(x64, "d7", &s.regs, RESOLVED, 1, v[BX] + 0x88, 0); /* xlat: al only */
	resolve(x64, "67d7", &s.regs, RESOLVED, 1, (v[BX] + 0x88) & 0xffffffff, 0);
	resolve(x64, "678b448bf0", &s.regs, RESOLVED, 1, (v[BX] + 0x30) & 0xffffffff, 0);
	resolve(x64, "ff33", &s.regs, RESOLVED, 2, v[BX], v[SP] - 8);         /* push [rbx] */
	resolve(x64, "ff742408", &s.regs, RESOLVED, 2, v[SP] + 8, v[SP] - 8); /* push [rsp+8] */
	resolve(x64, "8f442408", &s.regs, RESOLVED, 2, v[SP], v[SP] + 16);    /* pop [rsp+8] */
	resolve(x64, "c9", &s.regs, RESOLVED, 1, v[BP], 0);                   /* leave */
	resolve(x64, "f3a4", &s.regs, RESOLVED, 2, v[SI], v[DI]);
	resolve(x64, "a4", &s.regs, RESOLVED, 2, v[SI], v[DI]);
	resolve(x64, "660f38f803", &s.regs, RESOLVED, 1, v[BX],
		0); /* movdir64b: rax is not canonical */
	v[AX] = v[DX] + 0x3f;
	snap(&s, ALL_REGS, v, true);
	resolve(x64, "660f38f803", &s.regs, RESOLVED, 2, v[BX], v[DX] + 0x3f);
	resolve(x64, "0f01fc", &s.regs, RESOLVED, 1, v[DX], 0); /* clzero: the line of rax */
}
END_TEST

START_TEST(bit_strings)
{
	static const struct {
		uint64_t offset;
		int64_t by16, by32, by64;
	} rows[] = {
		{0, 0, 0, 0},
		{7, 0, 0, 0},
		{15, 0, 0, 0},
		{16, 2, 0, 0},
		{31, 2, 0, 0},
		{32, 4, 4, 0},
		{64, 8, 8, 8},
		{100, 12, 12, 8},
		{1000, 124, 124, 120},
		{(uint64_t)-1, -2, -4, -8},
		{(uint64_t)-16, -2, -4, -8},
		{(uint64_t)-17, -4, -4, -8},
		{(uint64_t)-64, -8, -8, -8},
		{(uint64_t)-65, -10, -12, -16},
		/* beyond the operand's width nothing counts */
		{0x8000, -4096, 4096, 4096},
		{0x80000000, 0, -0x10000000, 0x10000000},
		{0x100000020, 4, 4, 0x20000000},
	};
	uint64_t v[NR_REGS];
	struct snapshot s;

	plain(v);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		v[AX] = rows[i].offset;
		v[CX] = 2;
		snap(&s, ALL_REGS, v, false);
		resolve(DA_ARCH_X86_64, "660fa303", &s.regs, RESOLVED, 1,
			v[BX] + (uint64_t)rows[i].by16, 0);
		resolve(DA_ARCH_X86_64, "0fa303", &s.regs, RESOLVED, 1,
			v[BX] + (uint64_t)rows[i].by32, 0);
		resolve(DA_ARCH_X86_64, "480fab03", &s.regs, RESOLVED, 1,
			v[BX] + (uint64_t)rows[i].by64, 0);
		/* btc [rbx+rcx*4+8], rax: three registers */
		resolve(DA_ARCH_X86_64, "480fbb448b08", &s.regs, RESOLVED, 1,
			v[BX] + 16 + (uint64_t)rows[i].by64, 0);
	}
	s.regs.mask &= ~(1ULL << R15); /* the last one: the others keep their place */
	resolve(DA_ARCH_X86_64, "4c0fbb3b", &s.regs, DA_DROP_NO_REGS, 0, 0, 0);
}
END_TEST

START_TEST(no_address)
{
	uint64_t v[NR_REGS];
	struct snapshot s;
	const enum da_arch x64 = DA_ARCH_X86_64;

	plain(v);
	snap(&s, ALL_REGS, v, false);
	resolve(x64, "488d03", &s.regs, DA_DROP_NOT_MEMORY, 0, 0, 0);
	resolve(x64, "0f1803", &s.regs, DA_DROP_PREFETCH, 0, 0, 0);
	resolve(x64, "c4e26d90048b", &s.regs, DA_DROP_UNRESOLVED, 0, 0, 0); /* vpgatherdd */
	resolve(x64, "06", &s.regs, DA_DROP_UNDECODED, 0, 0, 0);
	resolve(x64, "64488b03", &s.regs, DA_DROP_SEGMENT, 0, 0, 0);
	resolve(x64, "65488b042528000000", &s.regs, DA_DROP_SEGMENT, 0, 0, 0);
	resolve(x64, "64ff33", &s.regs, RESOLVED, 1, v[SP] - 8,
		0); /* push fs:[rbx]: the stack is known */
	resolve(x64, "8b03", NULL, DA_DROP_NO_REGS, 0, 0, 0);
	s.regs.abi = 0;
	resolve(x64, "8b03", &s.regs, DA_DROP_NO_REGS, 0, 0, 0);
	s.regs.abi = 2;
	s.regs.mask = 1; /* AX only */
	resolve(x64, "8b03", &s.regs, DA_DROP_NO_REGS, 0, 0, 0);
	resolve(x64, "8b00", &s.regs, RESOLVED, 1, v[AX], 0);
	resolve(x64, "8b0418", &s.regs, DA_DROP_NO_REGS, 0, 0, 0); /* [rax+rbx] */
	resolve(x64, "8b0500010000", &s.regs, RESOLVED, 1, 0x400106, 0);
}
END_TEST

START_TEST(canonical)
{
	static const struct {
		uint64_t at;
		bool ok;
	} rows[] = {
		{0, true},
		{0x00007fffffffffff, true},
		{0x00ffffffffffffff, true}, /* 57 bits */
		{0x0100000000000000, false},
		{0x8000000000000000, false},
		{0xfeffffffffffffff, false},
		{0xff00000000000000, true},
		{0xffffffffff600000, true},
	};
	uint64_t v[NR_REGS];
	struct snapshot s;

	plain(v);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		v[BX] = rows[i].at;
		snap(&s, ALL_REGS, v, false);
		resolve(DA_ARCH_X86_64, "8b03", &s.regs,
			rows[i].ok ? RESOLVED : DA_DROP_NONCANONICAL, rows[i].ok, rows[i].at, 0);
	}
	/* wraps round at the end of the address space */
	v[BX] = 0xfffffffffffffff8;
	snap(&s, ALL_REGS, v, false);
	resolve(DA_ARCH_X86_64, "8b4310", &s.regs, RESOLVED, 1, 8, 0);
	/* of two accesses one is usable */
	v[BX] = 1ULL << 60;
	snap(&s, ALL_REGS, v, false);
	resolve(DA_ARCH_X86_64, "ff33", &s.regs, RESOLVED, 1, v[SP] - 8, 0);
}
END_TEST

START_TEST(repetition)
{
	uint64_t v[NR_REGS];
	struct snapshot s;

	plain(v);
	v[CX] = 0;
	snap(&s, ALL_REGS, v, false);
	resolve(DA_ARCH_X86_64, "f3a4", &s.regs, DA_DROP_NOT_MEMORY, 0, 0, 0);
	resolve(DA_ARCH_X86_64, "a4", &s.regs, RESOLVED, 2, v[SI], v[DI]);
	v[CX] = 0x100000000; /* ecx is 0, cx too */
	snap(&s, ALL_REGS, v, false);
	resolve(DA_ARCH_X86_64, "f3aa", &s.regs, RESOLVED, 1, v[DI], 0);
	resolve(DA_ARCH_X86_64, "67f3aa", &s.regs, DA_DROP_NOT_MEMORY, 0, 0, 0);
	resolve(DA_ARCH_X86_32, "f3aa", &s.regs, DA_DROP_NOT_MEMORY, 0, 0, 0);
	v[CX] = 0x10000;
	snap(&s, ALL_REGS, v, false);
	resolve(DA_ARCH_X86_32, "f3aa", &s.regs, RESOLVED, 1, v[DI] & 0xffffffff, 0);
	resolve(DA_ARCH_X86_32, "67f3aa", &s.regs, DA_DROP_NOT_MEMORY, 0, 0, 0);
	/* after the instruction the counter says nothing, and the pointers are gone */
	v[CX] = 0;
	snap(&s, ALL_REGS, v, false);
	s.regs.phase = DA_REGS_AFTER;
	resolve(DA_ARCH_X86_64, "f3aa", &s.regs, DA_DROP_BASE_OVERWRITTEN, 0, 0, 0);
	/* not sampled: not known to be 0 */
	snap(&s, ALL_REGS & ~(1ULL << CX), v, false);
	resolve(DA_ARCH_X86_64, "f3aa", &s.regs, RESOLVED, 1, v[DI], 0);
}
END_TEST

START_TEST(task_of_32_bits)
{
	uint64_t v[NR_REGS];
	struct snapshot s;

	plain(v);
	v[BX] = 0xfffffff0;
	v[SP] = 0xffffd000;
	v[SI] = 0x12348;
	v[DI] = 0x5;
	snap(&s, ALL_REGS, v, false);
	s.regs.abi = 1;
	resolve(DA_ARCH_X86_32, "8b4320", &s.regs, RESOLVED, 1, 0x10, 0); /* [ebx+0x20] wraps */
	resolve(DA_ARCH_X86_32, "50", &s.regs, RESOLVED, 1, 0xffffcffc, 0);
	resolve(DA_ARCH_X86_32, "60", &s.regs, RESOLVED, 1, 0xffffcfe0, 0);
	resolve(DA_ARCH_X86_32, "678b00", &s.regs, RESOLVED, 1, (0xfff0 + 0x2348) & 0xffff, 0);
	resolve(DA_ARCH_X86_32, "678b41fe", &s.regs, RESOLVED, 1, 0xfff0 + 5 - 2,
		0); /* [bx+di-2] */
	resolve(DA_ARCH_X86_32, "a178563412", &s.regs, RESOLVED, 1, 0x12345678, 0);
	resolve(DA_ARCH_X86_32, "65a114000000", &s.regs, DA_DROP_SEGMENT, 0, 0, 0);
}
END_TEST

START_TEST(phases)
{
	uint64_t v[NR_REGS];
	struct snapshot s;
	const enum da_arch x64 = DA_ARCH_X86_64;

	plain(v);
	snap(&s, ALL_REGS, v, false);
	s.regs.phase = DA_REGS_AFTER;
	resolve(x64, "488b00", &s.regs, DA_DROP_BASE_OVERWRITTEN, 0, 0, 0); /* mov rax, [rax] */
	resolve(x64, "488b03", &s.regs, RESOLVED, 1, v[BX], 0);             /* mov rax, [rbx] */
	resolve(x64, "488903", &s.regs, RESOLVED, 1, v[BX], 0);
	resolve(x64, "488b0403", &s.regs, DA_DROP_BASE_OVERWRITTEN, 0, 0,
		0); /* mov rax, [rbx+rax] */
	resolve(x64, "50", &s.regs, DA_DROP_BASE_OVERWRITTEN, 0, 0, 0);
	resolve(x64, "ff33", &s.regs, RESOLVED, 1, v[BX], 0); /* push [rbx]: not the stack */
	resolve(x64, "480fc103", &s.regs, RESOLVED, 1, v[BX], 0);
	resolve(x64, "480fc11b", &s.regs, DA_DROP_BASE_OVERWRITTEN, 0, 0, 0); /* xadd [rbx], rbx */
	resolve(x64, "488b0500010000", &s.regs, RESOLVED, 1, 0x400107, 0);
	s.regs.phase = DA_REGS_UNRELATED;
	resolve(x64, "488903", &s.regs, DA_DROP_NO_REGS, 0, 0, 0);
	resolve(x64, "488b0500010000", &s.regs, RESOLVED, 1, 0x400107, 0);
}
END_TEST

/* ---- direction of a fault ---- */

static void op_at(const char *hex, const struct da_regs *regs, uint64_t addr, unsigned want)
{
	struct da_insn in = decode_hex(DA_ARCH_X86_64, hex);
	unsigned got = da_insn_op_at(&in, 0x400000, regs, addr);

	ck_assert_msg(got == want, "%s at 0x%llx: %u, not %u", hex, (unsigned long long)addr, got,
		      want);
}

START_TEST(direction)
{
	const unsigned r = DA_OP_READ, w = DA_OP_WRITE;
	uint64_t v[NR_REGS];
	struct snapshot s;

	plain(v);
	snap(&s, ALL_REGS, v, false);
	op_at("8b03", &s.regs, v[BX], r);
	op_at("8b03", &s.regs, v[BX] + 3, r);
	op_at("8b03", &s.regs, v[BX] + 4, 0);
	op_at("8b03", &s.regs, v[BX] - 1, 0);
	op_at("8903", &s.regs, v[BX], w);
	op_at("0103", &s.regs, v[BX], r | w);
	op_at("a4", &s.regs, v[SI], r);
	op_at("a4", &s.regs, v[DI], w);
	op_at("a6", &s.regs, v[DI], r);
	op_at("ff33", &s.regs, v[SP] - 8, w);
	op_at("ff33", &s.regs, v[BX] + 7, r);
	op_at("488d03", &s.regs, v[BX], 0);
	op_at("06", &s.regs, v[BX], 0);
	op_at("c4e26d90048b", &s.regs, v[BX], 0);
	/* without registers: what all accesses share */
	op_at("8b03", NULL, 0x1234, r);
	op_at("0103", NULL, 0x1234, r | w);
	op_at("a6", NULL, 0x1234, r);
	op_at("a4", NULL, 0x1234, 0);
	op_at("ff33", NULL, 0x1234, 0);
	/* an unknown segment base may be the one; the stack is not */
	op_at("64ff33", &s.regs, 0x1234, r);
	op_at("64ff33", &s.regs, v[SP] - 8, 0);
	op_at("64488b03", &s.regs, 0x1234, r);
	/* both at the same place */
	v[DI] = v[SI];
	snap(&s, ALL_REGS, v, false);
	op_at("a4", &s.regs, v[SI], 0);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("insn_x86");
	TCase *t = tcase_create("table");

	tcase_add_unchecked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, case_64, 0, (int)(sizeof(cases_64) / sizeof(cases_64[0])));
	tcase_add_loop_test(t, case_32, 0, (int)(sizeof(cases_32) / sizeof(cases_32[0])));
	tcase_add_test(t, other_architectures);
	suite_add_tcase(s, t);
	t = tcase_create("resolve");
	tcase_add_unchecked_fixture(t, setup, teardown);
	tcase_add_test(t, regs_get);
	tcase_add_test(t, addresses);
	tcase_add_test(t, bit_strings);
	tcase_add_test(t, no_address);
	tcase_add_test(t, canonical);
	tcase_add_test(t, repetition);
	tcase_add_test(t, task_of_32_bits);
	tcase_add_test(t, phases);
	tcase_add_test(t, direction);
	suite_add_tcase(s, t);
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
