/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From an x86 instruction taken apart to the template of its accesses: the ModRM operand as its table row
 * says, and the accesses that no operand names (stack, string, xlat, ...).
 */
#include <string.h>

#include "insn_x86.h"

static uint8_t perf_reg(uint8_t nr)
{
	static const uint8_t low[8] = {XR_AX, XR_CX, XR_DX, XR_BX, XR_SP, XR_BP, XR_SI, XR_DI};

	return nr < 8 ? low[nr] : XR_R8 + (nr - 8);
}

/* Perf bit of register nr as an operand of the row; 8-bit operands 4..7 without REX are AH CH DH BH. */
static uint64_t written(const struct x86_enc *e, uint8_t nr)
{
	if (e->row->dest & D_8BIT && !e->rex && nr >= 4 && nr < 8)
		nr -= 4;
	return nr < 16 ? 1ULL << perf_reg(nr) : 0; /* 16 and up: vector registers only */
}

static uint64_t writes(const struct x86_enc *e)
{
	uint64_t w = e->row->regs;

	if (e->row->dest & D_RM && !e->mem)
		w |= written(e, e->rm);
	if (e->row->dest & D_REG)
		w |= written(e, e->reg);
	if (e->row->dest & D_OP)
		w |= written(e, e->opreg);
	if (e->row->dest & D_VVVV)
		w |= written(e, e->vvvv);
	return w;
}

/* Adds an access through one register, or none (DA_REG_NONE): no segment base, width of the stack. */
static struct da_insn_access *add(struct da_insn *out, const struct x86_enc *e, uint8_t base,
				  int64_t disp, uint32_t size, uint8_t op)
{
	struct da_insn_access *a = &out->acc[out->nr++];

	*a = (struct da_insn_access){
		.disp = disp,
		.size = size,
		.base = base,
		.index = DA_REG_NONE,
		.bit = DA_REG_NONE,
		.scale = 1,
		.op = op,
		.addr_bits = e->mode64 ? 64 : 32,
	};
	return a;
}

/* The same with the instruction's address size and, if asked for, its segment override. */
static struct da_insn_access *add_addr(struct da_insn *out, const struct x86_enc *e, uint8_t base,
				       uint32_t size, uint8_t op, bool seg)
{
	struct da_insn_access *a = add(out, e, base, 0, size, op);

	a->addr_bits = e->addr_bits;
	if (seg)
		a->seg = e->seg;
	return a;
}

static struct da_insn_access *add_modrm(struct da_insn *out, const struct x86_enc *e, uint32_t size,
					uint8_t op)
{
	struct da_insn_access *a = add_addr(out, e, DA_REG_NONE, size, op, true);

	a->disp = e->disp;
	if (e->base == X86_IP) {
		a->base = DA_REG_IP;
		a->disp += e->len;
	} else if (e->base != X86_NO_REG) {
		a->base = perf_reg(e->base);
	}
	if (e->index != X86_NO_REG) {
		a->index = perf_reg(e->index);
		a->scale = e->scale;
	}
	a->size_is_max =
		e->mask || (e->row->size >= S_X1 && e->row->size <= S_XW) || e->row->size == S_MVM;
	return a;
}

static void push(struct da_insn *out, const struct x86_enc *e, uint32_t size)
{
	add(out, e, XR_SP, -(int64_t)size, size, DA_OP_WRITE);
	out->writes |= 1ULL << XR_SP;
}

static void pop(struct da_insn *out, const struct x86_enc *e, uint32_t size)
{
	add(out, e, XR_SP, 0, size, DA_OP_READ);
	out->writes |= 1ULL << XR_SP;
}

/* enter: saves rbp; with nesting level n > 0 copies n - 1 frame pointers down and pushes its own. */
static void enter(struct da_insn *out, const struct x86_enc *e, uint32_t s)
{
	uint32_t level = e->imm >> 16 & 31;

	push(out, e, s * (level + 1));
	if (level > 1)
		add(out, e, XR_BP, -(int64_t)(s * (level - 1)), s * (level - 1), DA_OP_READ);
}

static void string(struct da_insn *out, const struct x86_enc *e, uint32_t size)
{
	switch (e->row->kind) {
	case K_MOVS:
		add_addr(out, e, XR_SI, size, DA_OP_READ, true);
		add_addr(out, e, XR_DI, size, DA_OP_WRITE, false);
		break;
	case K_CMPS:
		add_addr(out, e, XR_SI, size, DA_OP_READ, true);
		add_addr(out, e, XR_DI, size, DA_OP_READ, false);
		break;
	case K_STOS:
		add_addr(out, e, XR_DI, size, DA_OP_WRITE, false);
		break;
	case K_INS:
		add_addr(out, e, XR_DI, size < 4 ? size : 4, DA_OP_WRITE, false);
		break;
	case K_SCAS:
		add_addr(out, e, XR_DI, size, DA_OP_READ, false);
		break;
	case K_LODS:
		add_addr(out, e, XR_SI, size, DA_OP_READ, true);
		break;
	default: /* K_OUTS */
		add_addr(out, e, XR_SI, size < 4 ? size : 4, DA_OP_READ, true);
		break;
	}
	if (e->rep) {
		out->rep = 1;
		out->writes |= 1ULL << XR_CX;
	}
}

/* Accesses of the instructions that are more than their ModRM operand. */
static void special(struct da_insn *out, const struct x86_enc *e)
{
	uint32_t size = da_x86_size(e);
	struct da_insn_access *a;

	switch (e->row->kind) {
	case K_PUSH:
		push(out, e, size);
		break;
	case K_PUSHM:
		if (e->mem)
			add_modrm(out, e, size, DA_OP_READ);
		push(out, e, size);
		break;
	case K_POP:
		pop(out, e, size);
		break;
	case K_POPM:
		pop(out, e, size);
		if (e->mem) {
			a = add_modrm(out, e, size, DA_OP_WRITE);
			if (a->base == XR_SP) /* the address is taken after the increment */
				a->disp += size;
		}
		break;
	case K_PUSHA:
		push(out, e, 8 * size);
		break;
	case K_POPA:
		pop(out, e, 8 * size);
		break;
	case K_CALL:
		if (e->mem)
			add_modrm(out, e, size, DA_OP_READ);
		push(out, e, size);
		break;
	case K_CALLF:
		if (e->mem)
			add_modrm(out, e, size, DA_OP_READ);
		push(out, e, 2u * e->opsize);
		break;
	case K_RET:
		pop(out, e, size);
		break;
	case K_RETF:
		pop(out, e, 2 * size);
		break;
	case K_IRET:
		pop(out, e, (e->mode64 ? 5 : 3) * size);
		break;
	case K_ENTER:
		enter(out, e, size);
		break;
	case K_LEAVE:
		add(out, e, XR_BP, 0, size, DA_OP_READ);
		out->writes |= 1ULL << XR_SP;
		break;
	case K_XLAT:
		a = add_addr(out, e, XR_BX, size, DA_OP_READ, true);
		a->index = XR_AX;
		a->index_kind = DA_INDEX_LOW8;
		break;
	case K_OFFS:
		a = add_addr(out, e, DA_REG_NONE, size, e->row->acc, true);
		a->disp = e->disp;
		break;
	case K_BIT:
		if (e->mem) {
			a = add_modrm(out, e, size, e->row->acc);
			a->index_kind = DA_INDEX_BITSTR;
			a->bit = perf_reg(e->reg);
		}
		break;
	case K_MASKMOV:
		a = add_addr(out, e, XR_DI, size, DA_OP_WRITE, true);
		a->size_is_max = 1;
		break;
	case K_MOVDIR:
		add_modrm(out, e, size, DA_OP_READ);
		add_addr(out, e, perf_reg(e->reg), size, DA_OP_WRITE, false);
		break;
	case K_CLZERO:
		a = add_addr(out, e, XR_AX, 64, DA_OP_WRITE, true);
		a->index_kind = DA_INDEX_ALIGN;
		break;
	case K_XCHGA:
		if (e->opcode == 0x90 && (e->opreg == 0 || e->pfx == P_F3)) /* nop, pause */
			out->writes = 0;
		else
			out->writes |= 1ULL << XR_AX;
		break;
	default:
		string(out, e, size);
		break;
	}
}

void da_x86_decode(struct x86_second *s, bool mode64, const uint8_t *bytes, size_t n,
		   struct da_insn *out)
{
	struct x86_enc e;

	*out = (struct da_insn){.kind = DA_INSN_UNDECODED};
	if (!da_x86_parse(mode64, bytes, n, &e) || !da_x86_second_agrees(s, bytes, n, &e))
		return;
	out->len = e.len;
	out->writes = writes(&e);
	out->kind = DA_INSN_NO_MEMORY;
	if (e.row->kind != K_PLAIN) {
		special(out, &e);
	} else if (e.mem) {
		if (e.row->acc == A_VSIB)
			out->kind = DA_INSN_GATHER;
		else if (e.row->acc == A_PF)
			out->kind = DA_INSN_PREFETCH;
		else if (e.row->acc != A_NOACC)
			add_modrm(out, &e, da_x86_size(&e), e.row->acc);
	}
	if (out->nr)
		out->kind = DA_INSN_ACCESS;
}
