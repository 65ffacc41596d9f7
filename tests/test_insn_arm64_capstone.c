/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AArch64: our classification against Capstone's operands, over words drawn from the load and store spaces
 * (DA_WORDS of them, default 400,000; the same ones every time). Where Capstone decodes, base, index,
 * displacement and direction must agree; where it does not, the word must be of a class that it is known
 * not to know. Its access flags and sizes are not looked at: doc/registers.md says how wrong they are.
 */
#include <capstone/capstone.h>
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_insn.h"
#include "da_report.h"

/* What Capstone 4.0.2 does not decode, or decodes to something else. */
static const struct gap {
	const char *name;
	uint32_t mask, value;
} gaps[] = {
	{"LSE atomics, LDAPR, LD64B, ST64B", 0x3b200c00, 0x38200000},
	{"LDRAA, LDRAB", 0xff200400, 0xf8200400},
	{"CAS, LDLAR, STLLR", 0x3f800000, 0x08800000},
	{"CASP", 0xbfa07c00, 0x08207c00},
	{"LDAPUR, STLUR", 0x3f200c00, 0x19000000},
	{"LDAPUR, STLUR of vector registers", 0x3f200c00, 0x1d000800},
	{"LDIAPP, STILP, LDAPR and STLR with write-back", 0x3f200c00, 0x19000800},
	{"MOPS", 0xfb200c00, 0x19000400},
	{"tags", 0xff200000, 0xd9200000},
	{"LSE128", 0xff200000, 0x19200000},
	{"STGP", 0xfe400000, 0x68000000},
	{"LDAP1, STL1", 0xbfbfffff & ~0x3ffu, 0x0d018400},
	{"RPRFM", 0xffe04c18, 0xf8a00818},
	{"SVE loads and stores", 0x9e000000, 0x84000000},
};
#define NR_GAPS (sizeof(gaps) / sizeof(gaps[0]))

static uint32_t next_random(void)
{
	static uint64_t s = 0x9e3779b97f4a7c15u;

	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	return (uint32_t)(s >> 16);
}

/* Loads and stores, one in eight of SVE; fields that decide are often all ones or zeros. */
static uint32_t next_word(void)
{
	uint32_t w = next_random(), how = next_random();

	w = how & 7 ? (w & ~(1u << 25)) | 1u << 27 : (w & ~(15u << 25)) | 1u << 26 | 1u << 31;
	if (how & 0x8)
		w |= 31u << 10;
	if ((how & 0x30) == 0x10)
		w |= 31u << 16;
	if ((how & 0x30) == 0x20)
		w &= ~(31u << 16);
	return w;
}

static int gap_of(uint32_t w)
{
	for (size_t i = 0; i < NR_GAPS; i++)
		if ((w & gaps[i].mask) == gaps[i].value)
			return (int)i;
	return -1;
}

/* A pair loaded into one register, write-back to a register that is loaded or stored: what happens is not
 * defined, and Capstone decodes none of them, nor an unprivileged load to its base. The address is what it
 * always is. */
static bool refused(uint32_t w)
{
	uint32_t rt = w & 31, rt2 = w >> 10 & 31, rn = w >> 5 & 31;
	bool pair = (w & 0x3a000000) == 0x28000000, exclusive = (w & 0x3f800000) == 0x08000000;

	if ((pair || exclusive) && w >> 22 & 1 && rt == rt2)
		return true;
	if (pair)
		return w >> 23 & 1 && rn != 31 && (rn == rt || rn == rt2);
	return (w & 0x3f200000) == 0x38000000 && w >> 10 & 3 && rn == rt && rn != 31;
}

/* Capstone's register as perf's bit; -1: the zero register or none. */
static int perf_bit(arm64_reg r)
{
	if (r >= ARM64_REG_X0 && r <= ARM64_REG_X28)
		return (int)(r - ARM64_REG_X0);
	if (r >= ARM64_REG_W0 && r <= ARM64_REG_W30)
		return (int)(r - ARM64_REG_W0);
	switch (r) {
	case ARM64_REG_X29:
		return 29;
	case ARM64_REG_X30:
		return 30;
	case ARM64_REG_SP:
		return 31;
	default:
		return -1;
	}
}

static const cs_arm64_op *memory_operand(const cs_insn *cs)
{
	for (unsigned i = 0; i < cs->detail->arm64.op_count; i++)
		if (cs->detail->arm64.operands[i].type == ARM64_OP_MEM)
			return &cs->detail->arm64.operands[i];
	return NULL;
}

/* NULL, or what differs. */
static const char *differs(const cs_insn *cs, const struct da_insn *in)
{
	const cs_arm64_op *op = memory_operand(cs);
	const struct da_insn_access *a = &in->acc[0];
	bool prefetch = !strncmp(cs->mnemonic, "prf", 3);
	int index;

	if (prefetch)
		return in->kind == DA_INSN_PREFETCH ? NULL : "a prefetch";
	if (in->kind != DA_INSN_ACCESS || in->nr != 1)
		return "an access";
	if (a->op != (cs->mnemonic[0] == 'l' ? DA_OP_READ : DA_OP_WRITE))
		return "direction";
	if (!op) /* literals */
		return a->base == DA_REG_IP && !strncmp(cs->mnemonic, "ldr", 3) ? NULL : "literal";
	if (perf_bit(op->mem.base) != a->base)
		return "base";
	index = perf_bit(op->mem.index);
	if ((index < 0 ? DA_REG_NONE : index) != a->index)
		return "index";
	if (op->mem.disp != a->disp)
		return "displacement";
	if (index >= 0 && a->scale != 1u << op->shift.value)
		return "scale";
	if (index >= 0 && (op->ext == ARM64_EXT_SXTW) != (a->index_kind == DA_INDEX_SXTW))
		return "extension";
	if (cs->detail->arm64.writeback && !(in->writes >> a->base & 1))
		return "write-back";
	return NULL;
}

START_TEST(operands)
{
	const char *words = getenv("DA_WORDS");
	unsigned long n = words ? strtoul(words, NULL, 0) : 400000, both = 0, neither = 0,
		      only_cs = 0;
	struct da_insn_decoder *decoder = da_insn_decoder_new();
	unsigned long unknown[NR_GAPS] = {0};
	cs_insn *cs;
	csh h;

	ck_assert_ptr_nonnull(decoder);
	ck_assert_int_eq(cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &h), CS_ERR_OK);
	cs_option(h, CS_OPT_DETAIL, CS_OPT_ON);
	cs = cs_malloc(h);
	ck_assert_ptr_nonnull(cs);
	for (unsigned long i = 0; i < n; i++) {
		uint32_t w = next_word();
		uint8_t bytes[4] = {(uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16),
				    (uint8_t)(w >> 24)};
		const uint8_t *p = bytes;
		size_t left = 4;
		uint64_t at = 0;
		struct da_insn in;
		bool known = cs_disasm_iter(h, &p, &left, &at, cs);
		int gap = gap_of(w);

		da_insn_decode(decoder, DA_ARCH_ARM64, bytes, 4, &in);
		if (known && in.kind == DA_INSN_UNDECODED) {
			only_cs++;
		} else if (known && gap < 0) {
			const char *what = differs(cs, &in);

			ck_assert_msg(!what, "%08x %s %s: not the same %s", w, cs->mnemonic,
				      cs->op_str, what);
			both++;
		} else if (in.kind != DA_INSN_UNDECODED) {
			if (gap >= 0)
				unknown[gap] += !known;
			else
				ck_assert_msg(refused(w), "%08x: ours alone, kind %u", w, in.kind);
		} else {
			neither++;
		}
	}
	ck_assert_uint_eq(only_cs, 0);
	printf("%lu words: both %lu, neither %lu\n", n, both, neither);
	for (size_t i = 0; i < NR_GAPS; i++)
		printf("  ours alone %8lu %s\n", unknown[i], gaps[i].name);
	ck_assert_uint_gt(both, n / 8);
	cs_free(cs, 1);
	cs_close(&h);
	da_insn_decoder_free(decoder);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("insn_arm64_capstone");
	TCase *t = tcase_create("words");
	SRunner *r;
	int bad;

	tcase_set_timeout(t, 600);
	tcase_add_test(t, operands);
	suite_add_tcase(suite, t);
	r = srunner_create(suite);
	srunner_run_all(r, CK_ENV);
	bad = srunner_ntests_failed(r);
	srunner_free(r);
	return bad != 0;
}
