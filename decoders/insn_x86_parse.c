/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes one x86 instruction apart: prefixes, opcode, ModRM, SIB, displacement, immediate, for the legacy,
 * VEX and EVEX encodings in 64-bit and 32-bit mode. Bytes to fields; the meaning is in the tables.
 *
 * Refuses (returns false) what is cut short, longer than 15 bytes, not in the tables, or undefined in a
 * way that would make the length or the address uncertain. It does not check everything that a
 * processor would fault on: such bytes are never the instruction that a sample stopped at.
 */
#include <string.h>

#include "insn_x86.h"

struct in {
	const uint8_t *p;
	size_t len, off;
	bool bad; /* sticky: read past the end */
};

static uint8_t get8(struct in *in)
{
	if (in->off >= in->len) {
		in->bad = true;
		return 0;
	}
	return in->p[in->off++];
}

/* Little-endian, n = 0..8 bytes. */
static uint64_t get(struct in *in, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)get8(in) << (8 * i);
	return v;
}

static int64_t sext(uint64_t v, unsigned bits)
{
	uint64_t sign = 1ULL << (bits - 1);

	return (int64_t)((v ^ sign) - sign);
}

/* Bits of the REX, VEX or EVEX prefix that extend register numbers. */
struct ext {
	uint8_t r, x, b; /* 0 or 8 */
	uint8_t r2;      /* 0 or 16: EVEX only */
};

/* ---- prefixes and opcode ---- */

static void legacy_prefixes(struct in *in, struct x86_enc *e, struct ext *ext, bool *p67,
			    uint8_t *op)
{
	uint8_t rex = 0, repeat = 0, b;

	for (;;) {
		b = get8(in);
		if (e->mode64 && (b & 0xf0) == 0x40) {
			rex = b;
			continue;
		}
		switch (b) {
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
			/* 64-bit mode ignores these four; they do not undo FS or GS. */
			if (!e->mode64)
				e->seg = DA_SEG_FLAT;
			break;
		case 0x64:
			e->seg = DA_SEG_FS;
			break;
		case 0x65:
			e->seg = DA_SEG_GS;
			break;
		case 0x66:
			e->p66 = true;
			break;
		case 0x67:
			*p67 = true;
			break;
		case 0xf0:
			break;
		case 0xf2:
		case 0xf3:
			repeat = b;
			break;
		default:
			goto opcode;
		}
		if (in->bad)
			return;
		rex = 0; /* REX counts only right before the opcode */
	}
opcode:
	*op = b;
	e->rep = repeat != 0;
	e->pfx = repeat == 0xf3 ? P_F3 : repeat == 0xf2 ? P_F2 : e->p66 ? P_66 : P_NP;
	e->rex = rex != 0;
	e->w = rex & 8;
	ext->r = rex & 4 ? 8 : 0;
	ext->x = rex & 2 ? 8 : 0;
	ext->b = rex & 1 ? 8 : 0;
}

static uint8_t pfx_of_pp(uint8_t pp)
{
	static const uint8_t pfx[4] = {P_NP, P_66, P_F3, P_F2};

	return pfx[pp & 3];
}

/* C4 and C5: two or one payload byte, then the opcode. */
static bool vex(struct in *in, struct x86_enc *e, struct ext *ext, uint8_t first)
{
	uint8_t b1 = get8(in), b2;

	ext->r = b1 & 0x80 ? 0 : 8;
	if (first == 0xc5) {
		b2 = b1;
		e->map = MAP_0F;
	} else {
		b2 = get8(in);
		ext->x = b1 & 0x40 ? 0 : 8;
		ext->b = b1 & 0x20 ? 0 : 8;
		e->map = b1 & 0x1f;
		e->w = b2 & 0x80;
	}
	e->vvvv = ~(b2 >> 3) & 0xf;
	e->vl = b2 & 4 ? 32 : 16;
	e->pfx = pfx_of_pp(b2);
	e->enc = E_VEX;
	e->opcode = get8(in);
	return e->map >= MAP_0F && e->map <= MAP_0F3A;
}

/* 62: three payload bytes, then the opcode. */
static bool evex(struct in *in, struct x86_enc *e, struct ext *ext)
{
	uint8_t p0 = get8(in), p1 = get8(in), p2 = get8(in);

	/* These two bits have other values only in APX, which this decoder does not know. */
	if ((p0 & 8) || !(p1 & 4))
		return false;
	ext->r = p0 & 0x80 ? 0 : 8;
	ext->x = p0 & 0x40 ? 0 : 8;
	ext->b = p0 & 0x20 ? 0 : 8;
	ext->r2 = p0 & 0x10 ? 0 : 16;
	e->map = p0 & 7;
	e->w = p1 & 0x80;
	e->vvvv = (~(p1 >> 3) & 0xf) | (p2 & 8 ? 0 : 16);
	e->pfx = pfx_of_pp(p1);
	e->vl = 16 << (p2 >> 5 & 3); /* 128 for the reserved value: refused with a memory operand */
	e->bcast = p2 & 0x10;
	e->mask = p2 & 7;
	e->enc = E_EVEX;
	e->opcode = get8(in);
	return e->map >= MAP_0F && e->map < MAP_NR && da_x86_vector[e->map].nr;
}

static bool opcode(struct in *in, struct x86_enc *e, struct ext *ext, bool *p67)
{
	uint8_t op = 0;
	bool vector;

	legacy_prefixes(in, e, ext, p67, &op);
	if (in->bad)
		return false;
	vector = op == 0xc4 || op == 0xc5 || op == 0x62;
	if (vector && !e->mode64) {
		/* LDS, LES and BOUND have no register form, so that one became the prefix. */
		vector = in->off < in->len && in->p[in->off] >= 0xc0;
	}
	if (vector) {
		if (e->rex || e->p66 || e->rep) /* these prefixes are invalid before VEX and EVEX */
			return false;
		return op == 0x62 ? evex(in, e, ext) : vex(in, e, ext, op);
	}
	e->map = MAP_1B;
	if (op == 0x0f) {
		e->map = MAP_0F;
		op = get8(in);
		if (op == 0x38 || op == 0x3a) {
			e->map = op == 0x38 ? MAP_0F38 : MAP_0F3A;
			op = get8(in);
		}
	}
	e->opcode = op;
	return true;
}

/* ---- table lookup ---- */

static bool enc_fits(const struct x86_row *row, const struct x86_enc *e)
{
	if (e->enc == E_LEGACY)
		return true;
	if (!(row->enc & e->enc))
		return false;
	return row->w & (e->enc == E_VEX ? 1 : 4) << e->w;
}

static bool form_fits(const struct x86_row *row, const struct x86_enc *e)
{
	if ((row->form & F_64 && !e->mode64) || (row->form & F_32 && e->mode64))
		return false;
	if (!(row->form & F_M))
		return true;
	if (!(row->digits & 1 << (e->reg & 7)))
		return false;
	if (e->mod != 3)
		return (row->form & F_REG) != F_REG;
	return (row->form & F_MEM) != F_MEM && row->rms & 1 << (e->rm & 7);
}

static const struct x86_table *table_of(const struct x86_enc *e)
{
	return e->enc == E_LEGACY ? &da_x86_legacy[e->map] : &da_x86_vector[e->map];
}

static bool has_modrm(const struct x86_enc *e)
{
	const struct x86_table *t = table_of(e);

	for (size_t i = 0; i < t->nr; i++)
		if (e->opcode >= t->rows[i].lo && e->opcode <= t->rows[i].hi)
			return t->rows[i].form & F_M;
	return false;
}

static const struct x86_row *find_row(const struct x86_enc *e)
{
	const struct x86_table *t = table_of(e);

	for (size_t i = 0; i < t->nr; i++) {
		const struct x86_row *row = &t->rows[i];

		if (e->opcode >= row->lo && e->opcode <= row->hi && row->pfx & e->pfx &&
		    enc_fits(row, e) && form_fits(row, e))
			return row;
	}
	return NULL;
}

/* ---- sizes ---- */

/* Element of an EVEX broadcast, 0 if the row has none. */
static unsigned bcast_element(const struct x86_enc *e)
{
	switch (e->row->size) {
	case S_FV:
		return e->w ? 8 : 4;
	case S_FV2:
	case S_HV2:
	case S_QV2:
		return 2;
	case S_FV4:
	case S_HV4:
		return 4;
	case S_FV8:
		return 8;
	default:
		return 0;
	}
}

uint32_t da_x86_size(const struct x86_enc *e)
{
	static const uint16_t fixed[] = {
		[S_0] = 0,   [S_1] = 1,   [S_2] = 2,   [S_4] = 4,   [S_6] = 6,   [S_8] = 8,
		[S_10] = 10, [S_16] = 16, [S_32] = 32, [S_48] = 48, [S_64] = 64, [S_512] = 512,
	};

	if (e->row->size <= S_512)
		return fixed[e->row->size];
	if (e->bcast && bcast_element(e))
		return bcast_element(e);
	switch (e->row->size) {
	case S_V:
		return e->opsize;
	case S_V2:
		return 2u * e->opsize;
	case S_Y:
		return e->w && e->mode64 ? 8 : 4;
	case S_STK:
		if (e->p66 && !e->w)
			return 2;
		return e->mode64 ? 8 : 4;
	case S_FAR:
		return 2u + e->opsize;
	case S_DESC:
		return e->mode64 ? 10 : 6;
	case S_ENV:
		return e->opsize == 2 ? 14 : 28;
	case S_FSAVE:
		return e->opsize == 2 ? 94 : 108;
	case S_XSAVE:
		return 576;
	case S_CX8:
		return e->w ? 16 : 8;
	case S_W:
		return e->w ? 8 : 4;
	case S_HV2:
	case S_HV4:
	case S_HVM:
		return e->vl / 2;
	case S_QV2:
	case S_QVM:
		return e->vl / 4;
	case S_OVM:
		return e->vl / 8;
	case S_DUP:
		return e->vl == 16 ? 8 : e->vl;
	default:
		return e->vl;
	}
}

/* N of disp8*N: the bytes accessed, or one element where memory holds packed elements. */
static unsigned disp8_unit(const struct x86_enc *e)
{
	switch (e->row->size) {
	case S_X1:
		return 1;
	case S_X2:
		return 2;
	case S_XW:
		return e->w ? 8 : 4;
	default:
		return da_x86_size(e);
	}
}

/* ---- operands ---- */

static void mem16(struct in *in, struct x86_enc *e)
{
	/* encoding numbers: bx 3, bp 5, si 6, di 7 */
	static const uint8_t bases[8] = {3, 3, 5, 5, 6, 7, 5, 3};
	static const uint8_t indexes[8] = {6,          7,          6,          7,
					   X86_NO_REG, X86_NO_REG, X86_NO_REG, X86_NO_REG};

	e->base = bases[e->rm & 7];
	e->index = indexes[e->rm & 7];
	if (e->mod == 0 && (e->rm & 7) == 6) {
		e->base = X86_NO_REG;
		e->disp = (int64_t)get(in, 2);
	} else if (e->mod == 1) {
		e->disp = sext(get(in, 1), 8);
	} else if (e->mod == 2) {
		e->disp = sext(get(in, 2), 16);
	}
}

static void mem(struct in *in, struct x86_enc *e, const struct ext *ext)
{
	uint8_t low = e->rm & 7, sib;

	e->base = low | ext->b;
	if (low == 4) {
		sib = get8(in);
		e->scale = 1 << (sib >> 6);
		e->index = (sib >> 3 & 7) | ext->x;
		if (e->index == 4)
			e->index = X86_NO_REG;
		low = sib & 7;
		e->base = low | ext->b;
		if (low == 5 && e->mod == 0)
			e->base = X86_NO_REG;
	} else if (low == 5 && e->mod == 0) {
		e->base = e->mode64 ? X86_IP : X86_NO_REG;
	}
	if (e->mod == 1)
		e->disp = sext(get(in, 1), 8) * (e->enc == E_EVEX ? (int64_t)disp8_unit(e) : 1);
	else if (e->mod == 2 || (e->mod == 0 && low == 5))
		e->disp = sext(get(in, 4), 32);
}

static unsigned imm_bytes(const struct x86_enc *e)
{
	switch (e->row->imm) {
	case I_B:
		return 1;
	case I_W:
	case I_2B:
		return 2;
	case I_ENTER:
		return 3;
	case I_V:
		return e->opsize;
	case I_Z:
		return e->opsize == 2 ? 2 : 4;
	case I_OFFS:
		return e->addr_bits / 8;
	case I_JZ:
		return e->p66 && !e->mode64 ? 2 : 4;
	case I_FAR:
		return e->opsize + 2u;
	default:
		return 0;
	}
}

/* Undefined combinations that would leave the memory operand in doubt. */
static bool doubtful(const struct x86_enc *e)
{
	if (e->row->form & F_NEAR && e->mode64 && e->p66 && !e->w)
		return true; /* Intel ignores 66 here, AMD takes it: different length and stack width */
	if (!e->mem)
		return false;
	if (e->row->acc == A_VSIB && (e->rm & 7) != 4)
		return true;
	return e->enc == E_EVEX && (e->vl > 64 || (e->bcast && !bcast_element(e)));
}

bool da_x86_parse(bool mode64, const uint8_t *bytes, size_t n, struct x86_enc *e)
{
	struct in in = {.p = bytes, .len = n < 15 ? n : 15};
	struct ext ext = {0};
	bool p67 = false;
	uint8_t modrm;

	memset(e, 0, sizeof(*e));
	e->mode64 = mode64;
	e->base = e->index = X86_NO_REG;
	e->scale = 1;
	if (!opcode(&in, e, &ext, &p67) || in.bad)
		return false;
	if (!mode64) { /* eight registers: the extension bits are ignored */
		ext = (struct ext){0};
		e->vvvv &= 7;
	}
	e->addr_bits = mode64 ? (p67 ? 32 : 64) : (p67 ? 16 : 32);
	e->opsize = e->w && mode64 ? 8 : e->p66 ? 2 : 4;
	e->opreg = (e->opcode & 7) | ext.b;
	if (has_modrm(e)) {
		modrm = get8(&in);
		e->mod = modrm >> 6;
		e->reg = (modrm >> 3 & 7) | ext.r | ext.r2;
		e->rm = (modrm & 7) | ext.b;
		e->mem = e->mod != 3;
	}
	e->row = find_row(e);
	if (!e->row || in.bad || doubtful(e))
		return false;
	if (e->mem && e->addr_bits == 16)
		mem16(&in, e);
	else if (e->mem)
		mem(&in, e, &ext);
	e->imm = get(&in, imm_bytes(e));
	if (e->row->kind == K_OFFS)
		e->disp = (int64_t)e->imm;
	e->len = (uint8_t)in.off;
	return !in.bad;
}
