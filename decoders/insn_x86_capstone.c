/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Capstone as the second opinion on length and memory operand of legacy and VEX encodings. Both decoders
 * must agree wherever Capstone decodes at all; a disagreement leaves the instruction undecoded.
 *
 * Not asked: its access flags, operand sizes and implicit operands, and EVEX, where version 4.0.2 scales
 * disp8 wrongly in a hundred instructions (vpsllvd zmm, vcmpss, vfmadd132pd with broadcast ...) and knows
 * a third of the rest. doc/registers.md has the list.
 */
#include <capstone/capstone.h>
#include <stdlib.h>

#include "insn_x86.h"

struct x86_second {
	csh handle[2]; /* 32-bit, 64-bit mode */
	cs_insn *insn[2];
};

struct x86_second *da_x86_second_new(void)
{
	static const cs_mode modes[2] = {CS_MODE_32, CS_MODE_64};
	struct x86_second *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	for (int i = 0; i < 2; i++) {
		if (cs_open(CS_ARCH_X86, modes[i], &s->handle[i]) != CS_ERR_OK ||
		    cs_option(s->handle[i], CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK ||
		    !(s->insn[i] = cs_malloc(s->handle[i]))) {
			da_x86_second_free(s);
			return NULL;
		}
	}
	return s;
}

void da_x86_second_free(struct x86_second *s)
{
	if (!s)
		return;
	for (int i = 0; i < 2; i++) {
		if (s->insn[i])
			cs_free(s->insn[i], 1);
		if (s->handle[i])
			cs_close(&s->handle[i]);
	}
	free(s);
}

/* Capstone's name for encoding number nr at this address width. */
static x86_reg reg_name(uint8_t nr, uint8_t addr_bits)
{
	static const uint16_t r64[16] = {
		X86_REG_RAX, X86_REG_RCX, X86_REG_RDX, X86_REG_RBX, X86_REG_RSP, X86_REG_RBP,
		X86_REG_RSI, X86_REG_RDI, X86_REG_R8,  X86_REG_R9,  X86_REG_R10, X86_REG_R11,
		X86_REG_R12, X86_REG_R13, X86_REG_R14, X86_REG_R15,
	};
	static const uint16_t r32[16] = {
		X86_REG_EAX,  X86_REG_ECX,  X86_REG_EDX,  X86_REG_EBX,  X86_REG_ESP,  X86_REG_EBP,
		X86_REG_ESI,  X86_REG_EDI,  X86_REG_R8D,  X86_REG_R9D,  X86_REG_R10D, X86_REG_R11D,
		X86_REG_R12D, X86_REG_R13D, X86_REG_R14D, X86_REG_R15D,
	};
	static const uint16_t r16[8] = {
		X86_REG_AX, X86_REG_CX, X86_REG_DX, X86_REG_BX,
		X86_REG_SP, X86_REG_BP, X86_REG_SI, X86_REG_DI,
	};

	if (nr == X86_NO_REG)
		return X86_REG_INVALID;
	if (nr == X86_IP)
		return addr_bits == 64 ? X86_REG_RIP : X86_REG_EIP;
	return addr_bits == 64 ? r64[nr & 15] : addr_bits == 32 ? r32[nr & 15] : r16[nr & 7];
}

static bool same_reg(unsigned theirs, uint8_t ours, uint8_t addr_bits)
{
	if (theirs == X86_REG_RIZ || theirs == X86_REG_EIZ) /* a SIB byte without an index */
		theirs = X86_REG_INVALID;
	return theirs == (unsigned)reg_name(ours, addr_bits);
}

static bool same_operand(const cs_x86_op *op, const struct x86_enc *e)
{
	uint64_t all = e->addr_bits == 64 ? ~0ULL : (1ULL << e->addr_bits) - 1;
	uint8_t seg = op->mem.segment == X86_REG_FS   ? DA_SEG_FS
		      : op->mem.segment == X86_REG_GS ? DA_SEG_GS
						      : DA_SEG_FLAT;

	if (((uint64_t)op->mem.disp ^ (uint64_t)e->disp) & all)
		return false;
	if (seg != e->seg || !same_reg(op->mem.base, e->base, e->addr_bits))
		return false;
	if (e->row->acc == A_VSIB)
		return true;
	return same_reg(op->mem.index, e->index, e->addr_bits) &&
	       (e->index == X86_NO_REG || op->mem.scale == e->scale);
}

bool da_x86_second_agrees(struct x86_second *s, const uint8_t *bytes, size_t n,
			  const struct x86_enc *e)
{
	cs_insn *insn = s->insn[e->mode64];
	const cs_x86 *x;
	uint64_t address = 0;

	if (e->enc == E_EVEX)
		return true;
	if (!cs_disasm_iter(s->handle[e->mode64], &bytes, &n, &address, insn))
		return true; /* not known to Capstone */
	if (insn->size != e->len)
		return false;
	if (!e->mem && e->row->kind != K_OFFS)
		return true;
	x = &insn->detail->x86;
	for (uint8_t i = 0; i < x->op_count; i++)
		if (x->operands[i].type == X86_OP_MEM)
			return same_operand(&x->operands[i], e);
	return true; /* nop, fence and the like: no operand listed */
}
