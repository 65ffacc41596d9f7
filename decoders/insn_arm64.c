/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AArch64: which memory one instruction accesses, for all loads and stores of the fixed encodings but SVE's,
 * and for the cache instructions that write. Every function decodes one class of the Arm ARM, C4.1, and
 * leaves the template alone (undecoded) where the class has no instruction.
 *
 * Of instructions outside the load and store space it is only known that they access no memory; what they
 * write is not looked at.
 */
#include <string.h>

#include "insn_arm64.h"

enum { R = DA_OP_READ, W = DA_OP_WRITE, RW = R | W };

/* DC ZVA: the block is 64 bytes on the processors that there are; DCZID_EL0 is in no sample. */
#define ZVA_BYTES 64

struct da_insn_access *da_a64_access(struct da_insn *o, uint32_t rn, int64_t disp, uint32_t size,
				     uint8_t op)
{
	struct da_insn_access *a = &o->acc[o->nr++];

	o->kind = DA_INSN_ACCESS;
	*a = (struct da_insn_access){
		.disp = disp,
		.size = size,
		.base = (uint8_t)rn, /* 31 is SP here, as in perf's numbers */
		.index = DA_REG_NONE,
		.scale = 1,
		.op = op,
		.addr_bits = DA_ADDR_TBI,
		.bit = DA_REG_NONE,
	};
	return a;
}

void da_a64_index(struct da_insn_access *a, uint32_t rm, uint8_t kind, unsigned shift)
{
	if (rm == 31)
		return;
	a->index = (uint8_t)rm;
	a->index_kind = kind;
	a->scale = (uint8_t)(1u << shift);
}

static void writes_base(struct da_insn *o, uint32_t w)
{
	o->writes |= 1ULL << a64_rn(w); /* SP too */
}

/* ---- one register ---- */

/* What size, V and opc say in all forms of one register. False: no instruction. */
struct one {
	uint32_t size;
	uint8_t op; /* 0: a prefetch */
	bool to_general;
};

static bool one_register(uint32_t w, struct one *r)
{
	uint32_t size = a64_bits(w, 31, 30), opc = a64_bits(w, 23, 22);

	*r = (struct one){.size = 1u << size, .op = opc & 1 ? R : W};
	if (w >> 26 & 1) {
		if (opc & 2)
			r->size = 16;
		return !(opc & 2) || size == 0;
	}
	r->to_general = opc != 0;
	if (opc & 2) {
		/* sign extension to 64 bits, to 32 bits; of 8 bytes: prefetch, nothing */
		r->op = size == 3 ? 0 : R;
		return opc == 2 || size < 2;
	}
	return true;
}

static struct da_insn_access *one_access(struct da_insn *o, uint32_t w, const struct one *r,
					 int64_t disp)
{
	if (!r->op) {
		o->kind = DA_INSN_PREFETCH;
		return NULL;
	}
	if (r->to_general)
		a64_writes(o, w & 31);
	return da_a64_access(o, a64_rn(w), disp, r->size, r->op);
}

static void unsigned_offset(uint32_t w, struct da_insn *o)
{
	struct one r;

	if (one_register(w, &r))
		one_access(o, w, &r, (int64_t)a64_bits(w, 21, 10) * r.size);
}

static void register_offset(uint32_t w, struct da_insn *o)
{
	static const uint8_t kinds[8] = {[2] = DA_INDEX_UXTW, [6] = DA_INDEX_SXTW};
	uint32_t option = a64_bits(w, 15, 13);
	struct da_insn_access *a;
	struct one r;

	if (!one_register(w, &r))
		return;
	if (!(option & 2) && (r.op || (w & 31) < 24))
		return; /* but RPRFM, the range prefetch, uses these options too */
	a = one_access(o, w, &r, 0);
	if (a)
		da_a64_index(a, a64_bits(w, 20, 16), kinds[option],
			     w >> 12 & 1 ? (unsigned)__builtin_ctz(r.size) : 0);
}

/* Unscaled, post-index, unprivileged, pre-index. */
static void nine_bits(uint32_t w, struct da_insn *o)
{
	enum { UNSCALED, POST, UNPRIVILEGED, PRE } form = a64_bits(w, 11, 10);
	struct one r;

	if (!one_register(w, &r) || (!r.op && form != UNSCALED))
		return;
	if (form == UNPRIVILEGED && w >> 26 & 1)
		return;
	one_access(o, w, &r, form == POST ? 0 : a64_sbits(w, 20, 12));
	if (form == POST || form == PRE)
		writes_base(o, w);
}

static void literal(uint32_t w, struct da_insn *o)
{
	bool vector = w >> 26 & 1;
	uint32_t opc = a64_bits(w, 31, 30);

	if (opc == 3) {
		if (!vector)
			o->kind = DA_INSN_PREFETCH;
		return;
	}
	/* W, X, the word of LDRSW; S, D, Q */
	da_a64_access(o, 0, a64_sbits(w, 23, 5) * 4,
		      vector     ? 4u << opc
		      : opc == 1 ? 8
				 : 4,
		      R)
		->base = DA_REG_IP;
	if (!vector)
		a64_writes(o, w & 31);
}

/* LDRAA, LDRAB: the base is authenticated first, and the address has no authentication code. */
static void authenticated(uint32_t w, struct da_insn *o)
{
	int64_t off = (int64_t)a64_bits(w, 20, 12) - (w >> 22 & 1 ? 512 : 0);

	if (a64_bits(w, 31, 30) != 3 || w >> 26 & 1)
		return;
	da_a64_access(o, a64_rn(w), 8 * off, 8, R)->addr_bits = DA_ADDR_PAC;
	a64_writes(o, w & 31);
	if (w >> 11 & 1)
		writes_base(o, w);
}

/* ---- atomics ---- */

static void atomic(uint32_t w, struct da_insn *o)
{
	uint32_t size = a64_bits(w, 31, 30), rs = a64_bits(w, 20, 16), ar = a64_bits(w, 23, 22);
	uint32_t rt = w & 31, op = a64_bits(w, 15, 12); /* o3 and opc */

	if (w >> 26 & 1)
		return;
	if (op <= 8) { /* LDADD, LDCLR ... LDUMIN, SWP; ST<op> with Rt 31 */
		da_a64_access(o, a64_rn(w), 0, 1u << size, RW);
		a64_writes(o, rt);
	} else if (op == 12 && ar == 2 && rs == 31) { /* LDAPR */
		da_a64_access(o, a64_rn(w), 0, 1u << size, R);
		a64_writes(o, rt);
	} else if (op >= 9 && op <= 11 && size < 2) { /* RCWCLR, RCWSWP, RCWSET, and RCWS */
		da_a64_access(o, a64_rn(w), 0, 8, RW);
		a64_writes(o, rt);
	} else if (size == 3 && ar == 0 && rt % 2 == 0 && rt < 24) {
		/* LD64B, ST64B, ST64BV, ST64BV0 from or to eight registers */
		if (op == 13 && rs == 31) {
			da_a64_access(o, a64_rn(w), 0, 64, R);
			o->writes |= 0xffULL << rt;
		} else if (op == 9 && rs == 31) {
			da_a64_access(o, a64_rn(w), 0, 64, W);
		} else if (op == 10 || op == 11) {
			da_a64_access(o, a64_rn(w), 0, 64, W);
			a64_writes(o, rs);
		}
	}
}

/* LDCLRP, LDSETP, SWPP: 16 bytes, two registers read and written. */
static void atomic_pair(uint32_t w, struct da_insn *o)
{
	uint32_t op = a64_bits(w, 15, 10), rt = w & 31, rt2 = a64_bits(w, 20, 16);

	if ((op != 0x04 && op != 0x0c && op != 0x20) || rt == 31 || rt2 == 31)
		return;
	da_a64_access(o, a64_rn(w), 0, 16, RW);
	a64_writes(o, rt);
	a64_writes(o, rt2);
}

/* Exclusive, ordered, compare and swap. */
static void exclusive(uint32_t w, struct da_insn *o)
{
	uint32_t size = a64_bits(w, 31, 30), rs = a64_bits(w, 20, 16), rt2 = a64_bits(w, 14, 10);
	uint32_t bytes = 1u << size, rt = w & 31;
	bool load = w >> 22 & 1, pair = w >> 21 & 1;

	if (w >> 23 & 1) {
		if (!pair) { /* LDAR, LDLAR, STLR, STLLR */
			da_a64_access(o, a64_rn(w), 0, bytes, load ? R : W);
			if (load)
				a64_writes(o, rt);
		} else if (rt2 == 31) { /* CAS */
			da_a64_access(o, a64_rn(w), 0, bytes, RW);
			a64_writes(o, rs);
		}
		return;
	}
	if (pair && size < 2) { /* CASP of two W or two X registers */
		if (rt2 != 31 || rs % 2 || rt % 2)
			return;
		da_a64_access(o, a64_rn(w), 0, 8u << size, RW);
		a64_writes(o, rs);
		a64_writes(o, rs + 1);
		return;
	}
	da_a64_access(o, a64_rn(w), 0, pair ? 2 * bytes : bytes, load ? R : W);
	if (!load) {
		a64_writes(o, rs); /* whether it was stored */
		return;
	}
	a64_writes(o, rt);
	if (pair)
		a64_writes(o, rt2);
}

/* ---- pairs ---- */

static void pairs(uint32_t w, struct da_insn *o)
{
	enum { NO_ALLOCATE, POST, OFFSET, PRE } form = a64_bits(w, 24, 23);
	uint32_t opc = a64_bits(w, 31, 30), bytes = opc == 2 ? 8 : 4, scale;
	bool load = w >> 22 & 1, vector = w >> 26 & 1;

	if (opc == 3)
		return;
	if (vector)
		bytes = 4u << opc;
	scale = bytes;
	if (!vector && opc == 1) { /* LDPSW, STGP */
		if (form == NO_ALLOCATE)
			return;
		bytes = load ? 4 : 8;
		scale = load ? 4 : 16;
	}
	da_a64_access(o, a64_rn(w), form == POST ? 0 : a64_sbits(w, 21, 15) * scale, 2 * bytes,
		      load ? R : W);
	if (load && !vector) {
		a64_writes(o, w & 31);
		a64_writes(o, a64_bits(w, 14, 10));
	}
	if (form == POST || form == PRE)
		writes_base(o, w);
}

/* ---- tags, RCpc, memory copies: bits 29..24 = 011001 or 011101 ---- */

static void tags(uint32_t w, struct da_insn *o)
{
	enum { ZERO, STZG, ST2G, STZ2G } opc = a64_bits(w, 23, 22);
	uint32_t form = a64_bits(w, 11, 10); /* special, post, offset, pre */
	uint32_t imm = a64_bits(w, 20, 12);

	if (form == 0) {
		if (opc == 1) { /* LDG */
			o->kind = DA_INSN_NO_MEMORY;
			a64_writes(o, w & 31);
		} else if (imm == 0 &&
			   opc == 0) { /* STZGM: a block of a size that only GMID says */
			o->kind = DA_INSN_GATHER;
		} else if (imm == 0) { /* STGM, LDGM */
			o->kind = DA_INSN_NO_MEMORY;
			if (opc == 3)
				a64_writes(o, w & 31);
		}
		return;
	}
	if (opc == STZG || opc == STZ2G)
		da_a64_access(o, a64_rn(w), form == 1 ? 0 : a64_sbits(w, 20, 12) * 16,
			      opc == STZG ? 16 : 32, W);
	else
		o->kind = DA_INSN_NO_MEMORY; /* STG, ST2G: tags, no data */
	if (form != 2)
		writes_base(o, w);
}

/* LDAPUR, STLUR; in FEAT_LRCPC3 with vector registers too. */
static void ordered_unscaled(uint32_t w, struct da_insn *o)
{
	struct one r;

	if (one_register(w, &r) && r.op)
		one_access(o, w, &r, a64_sbits(w, 20, 12));
}

/* FEAT_LRCPC3: LDIAPP, STILP, and LDAPR, STLR that move their base. */
static void ordered_moving(uint32_t w, struct da_insn *o)
{
	uint32_t opc = a64_bits(w, 23, 22), bytes = a64_bits(w, 31, 30) == 3 ? 8 : 4;
	uint32_t op2 = a64_bits(w, 15, 12), rt2 = a64_bits(w, 20, 16);
	bool load = opc & 1;

	if (!(w >> 31) || op2 > 1)
		return;
	if (opc & 2) {
		if (op2 || rt2)
			return;
		da_a64_access(o, a64_rn(w), load ? 0 : -(int64_t)bytes, bytes, load ? R : W);
		writes_base(o, w);
	} else {
		da_a64_access(o, a64_rn(w), load || op2 ? 0 : -2 * (int64_t)bytes, 2 * bytes,
			      load ? R : W);
		if (load)
			a64_writes(o, rt2);
		if (!op2)
			writes_base(o, w);
	}
	if (load)
		a64_writes(o, w & 31);
}

static void group_19(uint32_t w, struct da_insn *o)
{
	uint32_t size = a64_bits(w, 31, 30), form = a64_bits(w, 11, 10);
	bool vector = w >> 26 & 1;

	if (w >> 21 & 1) {
		if (vector)
			return;
		if (size == 3)
			tags(w, o);
		else if (size == 0)
			atomic_pair(w, o);
		return;
	}
	if (form == 0 && !vector) {
		ordered_unscaled(w, o);
	} else if (form == 2) {
		if (vector)
			ordered_unscaled(w, o);
		else
			ordered_moving(w, o);
	} else if (form == 1 && size == 0) {
		/* CPY*, SET*: how far it is, registers and flags of the implementation's choice tell;
		 * flags are in no sample. */
		o->kind = DA_INSN_GATHER;
		o->writes = (1ULL << (w & 31) | 1ULL << a64_rn(w)) & ~(1ULL << AR_SP);
		if (a64_bits(w, 23, 22) != 3) /* CPY: the source as well */
			a64_writes(o, a64_bits(w, 20, 16));
	}
}

/* ---- vector structures ---- */

static void structure_access(uint32_t w, struct da_insn *o, uint32_t bytes)
{
	da_a64_access(o, a64_rn(w), 0, bytes, w >> 22 & 1 ? R : W);
	if (w >> 23 & 1) /* post-index, by the size or by Xm */
		writes_base(o, w);
}

static void multiple_structures(uint32_t w, struct da_insn *o)
{
	static const uint8_t registers[16] = {
		[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2};
	uint32_t opcode = a64_bits(w, 15, 12), q = w >> 30 & 1;
	bool interleaved = opcode % 4 == 0;

	if (w >> 31 || w >> 21 & 1 || !registers[opcode])
		return;
	if (!(w >> 23 & 1) && a64_bits(w, 20, 16))
		return;
	if (interleaved && !q && a64_bits(w, 11, 10) == 3)
		return;
	structure_access(w, o, registers[opcode] * (q ? 16u : 8u));
}

static void single_structure(uint32_t w, struct da_insn *o)
{
	uint32_t opcode = a64_bits(w, 15, 13), size = a64_bits(w, 11, 10), rm = a64_bits(w, 20, 16);
	uint32_t scale = opcode >> 1, registers = ((opcode & 1) << 1 | (w >> 21 & 1)) + 1;
	bool load = w >> 22 & 1, s = w >> 12 & 1;

	if (w >> 31)
		return;
	if (!(w >> 23 & 1) && rm) { /* LDAP1, STL1 */
		if (rm == 1 && opcode == 4 && size == 1 && !s && registers == 1)
			structure_access(w, o, 8);
		return;
	}
	switch (scale) {
	case 1:
		if (size & 1)
			return;
		break;
	case 2:
		if (size & 2 || (size == 1 && s))
			return;
		scale += size;
		break;
	case 3: /* one element to all lanes */
		if (!load || s)
			return;
		scale = size;
		break;
	}
	structure_access(w, o, registers << scale);
}

/* ---- the groups ---- */

static void loads_and_stores(uint32_t w, struct da_insn *o)
{
	switch (a64_bits(w, 29, 24) & ~4u) { /* without V */
	case 0x08:
		if (!(w >> 26 & 1))
			exclusive(w, o);
		else
			multiple_structures(w, o);
		break;
	case 0x09:
		if (w >> 26 & 1)
			single_structure(w, o);
		break;
	case 0x18:
		literal(w, o);
		break;
	case 0x19:
		group_19(w, o);
		break;
	case 0x28:
	case 0x29:
		pairs(w, o);
		break;
	case 0x38:
		if (!(w >> 21 & 1))
			nine_bits(w, o);
		else if (w >> 10 & 1)
			authenticated(w, o);
		else if (w >> 11 & 1)
			register_offset(w, o);
		else
			atomic(w, o);
		break;
	case 0x39:
		unsigned_offset(w, o);
		break;
	}
}

/* Branches, system: of these, SYS with CRn 7 works on caches and memory. */
static void system_group(uint32_t w, struct da_insn *o)
{
	uint32_t op1 = a64_bits(w, 18, 16), crm = a64_bits(w, 11, 8), op2 = a64_bits(w, 7, 5);
	struct da_insn_access *a;

	o->kind = DA_INSN_NO_MEMORY;
	if (a64_bits(w, 31, 19) != 0x1aa1 || a64_bits(w, 15, 12) != 7)
		return;
	if (op1 == 3 && crm == 4) {
		if (op2 != 1 && op2 != 4) /* GVA: tags only */
			return;
		if ((w & 31) == 31) { /* address 0 */
			o->kind = DA_INSN_UNDECODED;
			return;
		}
		a = da_a64_access(o, w & 31, 0, ZVA_BYTES, W); /* DC ZVA, GZVA */
		a->index_kind = DA_INDEX_ALIGN;
		a->size_is_max = 1;
	} else if (crm == 1 || crm == 5 || crm == 6 || crm >= 10) {
		o->kind = DA_INSN_PREFETCH; /* IC, DC by address or by set */
	}
}

void da_a64_decode(const uint8_t *bytes, size_t n, struct da_insn *out)
{
	uint32_t w, op0;

	memset(out, 0, sizeof(*out)); /* padding too */
	out->kind = DA_INSN_UNDECODED;
	if (n < 4)
		return;
	w = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	    (uint32_t)bytes[3] << 24;
	op0 = a64_bits(w, 28, 25);
	if ((op0 & 5) == 4) {
		loads_and_stores(w, out);
	} else if (op0 == 2) {
		if (w >> 31)
			da_a64_sve(w, out);
		else
			out->kind = DA_INSN_NO_MEMORY;
	} else if (op0 == 0) {
		/* SME; its loads and stores need the streaming vector length. UDF without bit 31. */
		if (w >> 31)
			out->kind = w >> 29 & 1 && (w >> 30 & 1 || !(w >> 23 & 1))
					    ? DA_INSN_GATHER
					    : DA_INSN_NO_MEMORY;
	} else if ((op0 & 14) == 10) {
		system_group(w, out);
	} else if (op0 & 8 || op0 & 4) {
		out->kind = DA_INSN_NO_MEMORY; /* arithmetic */
	}
	if (out->kind != DA_INSN_UNDECODED)
		out->len = 4;
}
