/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AArch64: loads and stores of SVE. Contiguous ones have an address made of general registers; its size,
 * and offsets that count vectors, need the vector length (perf register VG). Which elements are active no
 * sample says, so sizes are upper bounds. Gathers and scatters are unresolvable.
 */
#include "insn_arm64.h"

/* Offset and size of an access that spans `units` / 8 of a vector; `vectors` counts such spans. */
static void vectors(struct da_insn *o, uint32_t w, int64_t offset, uint32_t units, uint8_t op)
{
	struct da_insn_access *a = da_a64_access(o, a64_rn(w), 0, 2 * units, op);

	a->vl = 1;
	a->size_is_max = 1;
	if (offset) {
		a->disp = offset * units;
		a->index = AR_VG;
		a->index_kind = DA_INDEX_VG;
	}
}

/* The same with an index register, in elements of 1 << msz bytes. */
static void indexed(struct da_insn *o, uint32_t w, unsigned msz, uint32_t units, uint8_t op)
{
	vectors(o, w, 0, units, op);
	da_a64_index(&o->acc[0], a64_bits(w, 20, 16), DA_INDEX_PLAIN, msz);
}

/* Bytes that do not depend on the vector length. */
static struct da_insn_access *fixed(struct da_insn *o, uint32_t w, int64_t disp, uint32_t bytes)
{
	struct da_insn_access *a = da_a64_access(o, a64_rn(w), disp, bytes, DA_OP_READ);

	a->size_is_max = 1;
	return a;
}

/* LDR, STR of a vector or of a predicate, whole. False: it is none. */
static bool whole_register(uint32_t w, struct da_insn *o, uint8_t op)
{
	int64_t imm = a64_sbits(w, 21, 16) * 8 + a64_bits(w, 12, 10);
	uint32_t what = a64_bits(w, 15, 13);

	if (a64_bits(w, 24, 22) != 6 || (what != 2 && (what != 0 || w >> 4 & 1)))
		return false;
	vectors(o, w, imm, what == 2 ? 8 : 1, op);
	o->acc[0].size_is_max = 0;
	return true;
}

/* dtype of a load: bytes in memory, and how many times wider the register's element is, as powers of 2 */
static const uint8_t dtype_mem[16] = {0, 0, 0, 0, 2, 1, 1, 1, 1, 1, 2, 2, 0, 0, 0, 3};
static const uint8_t dtype_wider[16] = {0, 1, 2, 3, 1, 0, 1, 2, 2, 1, 0, 1, 3, 2, 1, 0};

/* 32-bit gathers, and what has no size field. */
static void loads_32(uint32_t w, struct da_insn *o)
{
	uint32_t top = a64_bits(w, 24, 23), form = a64_bits(w, 15, 13);
	uint32_t dtype = top << 2 | a64_bits(w, 14, 13);
	bool bit4 = w >> 4 & 1;

	if (whole_register(w, o, DA_OP_READ))
		return;
	if (w >> 22 & 1 && form >= 4) { /* LD1R: one element, to all lanes */
		fixed(o, w, (int64_t)a64_bits(w, 21, 16) << dtype_mem[dtype],
		      1u << dtype_mem[dtype]);
	} else if (!bit4 && ((top == 3 && w >> 22 & 1 && form < 4) ||
			     (a64_bits(w, 22, 21) == 0 && form >= 6) ||
			     (top == 0 && w >> 21 & 1 && form < 4))) {
		o->kind = DA_INSN_PREFETCH;
	} else {
		o->kind = DA_INSN_GATHER;
	}
}

static void loads_contiguous(uint32_t w, struct da_insn *o)
{
	uint32_t dtype = a64_bits(w, 24, 21), msz = a64_bits(w, 24, 23), n = a64_bits(w, 22, 21);
	int64_t imm = a64_sbits(w, 19, 16);
	uint32_t rm = a64_bits(w, 20, 16), units = 8u >> dtype_wider[dtype];

	switch (a64_bits(w, 15, 13)) {
	case 0: /* LD1RQ, LD1RO: 16 or 32 bytes, to the whole vector */
		if (n < 2 && rm != 31)
			da_a64_index(fixed(o, w, 0, 16u << n), rm, DA_INDEX_PLAIN, msz);
		break;
	case 1:
		if (n < 2 && rm < 16)
			fixed(o, w, imm * (16 << n), 16u << n);
		break;
	case 2: /* LD1 */
		if (rm != 31)
			indexed(o, w, dtype_mem[dtype], units, DA_OP_READ);
		break;
	case 3: /* LDFF1: of Xm 31 an offset of 0 */
		indexed(o, w, dtype_mem[dtype], units, DA_OP_READ);
		break;
	case 5: /* LD1, LDNF1 */
		vectors(o, w, imm, units, DA_OP_READ);
		break;
	case 6: /* LDNT1, LD2, LD3, LD4 */
		if (rm != 31)
			indexed(o, w, msz, 8 * (n + 1), DA_OP_READ);
		break;
	case 7:
		if (rm < 16)
			vectors(o, w, imm, 8 * (n + 1), DA_OP_READ);
		break;
	}
}

static void loads_64(uint32_t w, struct da_insn *o)
{
	uint32_t form = a64_bits(w, 15, 13), two = a64_bits(w, 22, 21);
	bool low = a64_bits(w, 24, 23) == 0;

	if (!(w >> 4 & 1) && ((low && two & 1 && form < 4) || (low && two == 3 && form >= 4) ||
			      (two == 0 && form == 7)))
		o->kind = DA_INSN_PREFETCH;
	else
		o->kind = DA_INSN_GATHER;
}

static void stores(uint32_t w, struct da_insn *o)
{
	uint32_t msz = a64_bits(w, 24, 23), two = a64_bits(w, 22, 21), rm = a64_bits(w, 20, 16);
	int64_t imm = a64_sbits(w, 19, 16);

	if (whole_register(w, o, DA_OP_WRITE))
		return;
	switch (a64_bits(w, 15, 13)) {
	case 0:
		break;
	case 2: /* ST1; `two` is the register's element */
		if (two >= msz && rm != 31)
			indexed(o, w, msz, 8u >> (two - msz), DA_OP_WRITE);
		break;
	case 3: /* STNT1, ST2, ST3, ST4 */
		if (rm != 31)
			indexed(o, w, msz, 8 * (two + 1), DA_OP_WRITE);
		break;
	case 7:
		if (w >> 20 & 1)
			vectors(o, w, imm, 8 * (two + 1), DA_OP_WRITE);
		else if (two >= msz)
			vectors(o, w, imm, 8u >> (two - msz), DA_OP_WRITE);
		break;
	default:
		o->kind = DA_INSN_GATHER;
		break;
	}
}

void da_a64_sve(uint32_t w, struct da_insn *o)
{
	switch (a64_bits(w, 30, 29)) {
	case 0:
		loads_32(w, o);
		break;
	case 1:
		loads_contiguous(w, o);
		break;
	case 2:
		loads_64(w, o);
		break;
	default:
		stores(w, o);
		break;
	}
}
