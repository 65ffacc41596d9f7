/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the x86 instructions without VEX or EVEX prefix do to memory and to the general registers, by
 * opcode map. Only data: insn_x86_parse.c selects the row, insn_x86.c turns it into accesses.
 *
 * Left out, and so "undecoded": what user space cannot execute and what no processor has any more.
 */
#include "insn_x86.h"

/* clang-format off */
enum {
	ALL = 0xff,
	AX = 1 << XR_AX, BX = 1 << XR_BX, CX = 1 << XR_CX, DX = 1 << XR_DX, SI = 1 << XR_SI, DI = 1 << XR_DI,
	BP = 1 << XR_BP, FL = 1 << XR_FLAGS, R11 = 1 << XR_R11,
	RM = D_RM, REG = D_REG, RM8 = D_RM | D_8BIT, REG8 = D_REG | D_8BIT
};

/* /n: one digit of modrm.reg */
#define D(n) (1 << (n))

/*      first last prefixes form digits access size immediate dest kind implicit writes */
#define R(lo, hi, pfx, form, digits, acc, size, imm, dest, kind, regs) \
	{ lo, hi, pfx, form, digits, ALL, acc, size, imm, dest, kind, E_LEGACY, 0, regs }
/* Register form with certain modrm.rm only: no memory operand. */
#define RR(op, pfx, digits, rms, imm, dest, kind, regs) \
	{ op, op, pfx, F_REG, digits, rms, A_NONE, S_0, imm, dest, kind, E_LEGACY, 0, regs }

/* The six encodings of one two-operand operation; w: all ones, or 0 for cmp, which writes flags only. */
#define ALU(b, acc, w) \
	R(b, b, P_ANY, F_M, ALL, acc, S_1, I_0, (w) & RM8, K_PLAIN, FL), \
	R(b + 1, b + 1, P_ANY, F_M, ALL, acc, S_V, I_0, (w) & RM, K_PLAIN, FL), \
	R(b + 2, b + 2, P_ANY, F_M, ALL, A_R, S_1, I_0, (w) & REG8, K_PLAIN, FL), \
	R(b + 3, b + 3, P_ANY, F_M, ALL, A_R, S_V, I_0, (w) & REG, K_PLAIN, FL), \
	R(b + 4, b + 4, P_ANY, 0, ALL, A_NONE, S_0, I_B, 0, K_PLAIN, ((w) & AX) | FL), \
	R(b + 5, b + 5, P_ANY, 0, ALL, A_NONE, S_0, I_Z, 0, K_PLAIN, ((w) & AX) | FL)

static const struct x86_row one_byte[] = {
	ALU(0x00, A_RW, 0xff),
	R(0x06, 0x06, P_ANY, F_32, ALL, A_NONE, S_STK, I_0, 0, K_PUSH, 0),
	R(0x07, 0x07, P_ANY, F_32, ALL, A_NONE, S_STK, I_0, 0, K_POP, 0),
	ALU(0x08, A_RW, 0xff),
	R(0x0e, 0x0e, P_ANY, F_32, ALL, A_NONE, S_STK, I_0, 0, K_PUSH, 0),
	ALU(0x10, A_RW, 0xff),
	R(0x16, 0x16, P_ANY, F_32, ALL, A_NONE, S_STK, I_0, 0, K_PUSH, 0),
	R(0x17, 0x17, P_ANY, F_32, ALL, A_NONE, S_STK, I_0, 0, K_POP, 0),
	ALU(0x18, A_RW, 0xff),
	R(0x1e, 0x1e, P_ANY, F_32, ALL, A_NONE, S_STK, I_0, 0, K_PUSH, 0),
	R(0x1f, 0x1f, P_ANY, F_32, ALL, A_NONE, S_STK, I_0, 0, K_POP, 0),
	ALU(0x20, A_RW, 0xff),
	R(0x27, 0x27, P_ANY, F_32, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, AX | FL), /* daa */
	ALU(0x28, A_RW, 0xff),
	R(0x2f, 0x2f, P_ANY, F_32, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, AX | FL),
	ALU(0x30, A_RW, 0xff),
	R(0x37, 0x37, P_ANY, F_32, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, AX | FL),
	ALU(0x38, A_R, 0),
	R(0x3f, 0x3f, P_ANY, F_32, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, AX | FL),
	R(0x40, 0x4f, P_ANY, F_32, ALL, A_NONE, S_0, I_0, D_OP, K_PLAIN, FL), /* inc, dec */
	R(0x50, 0x57, P_ANY, 0, ALL, A_NONE, S_STK, I_0, 0, K_PUSH, 0),
	R(0x58, 0x5f, P_ANY, 0, ALL, A_NONE, S_STK, I_0, D_OP, K_POP, 0),
	R(0x60, 0x60, P_ANY, F_32, ALL, A_NONE, S_STK, I_0, 0, K_PUSHA, 0),
	R(0x61, 0x61, P_ANY, F_32, ALL, A_NONE, S_STK, I_0, 0, K_POPA, AX | BX | CX | DX | SI | DI | BP),
	R(0x62, 0x62, P_ANY, F_32 | F_MEM, ALL, A_R, S_V2, I_0, 0, K_PLAIN, 0), /* bound */
	R(0x63, 0x63, P_NP | P_F3 | P_F2, F_64 | F_M, ALL, A_R, S_4, I_0, REG, K_PLAIN, 0), /* movsxd */
	R(0x63, 0x63, P_ANY, F_32 | F_M, ALL, A_RW, S_2, I_0, RM, K_PLAIN, FL), /* arpl */
	R(0x68, 0x68, P_ANY, 0, ALL, A_NONE, S_STK, I_Z, 0, K_PUSH, 0),
	R(0x69, 0x69, P_ANY, F_M, ALL, A_R, S_V, I_Z, REG, K_PLAIN, FL), /* imul */
	R(0x6a, 0x6a, P_ANY, 0, ALL, A_NONE, S_STK, I_B, 0, K_PUSH, 0),
	R(0x6b, 0x6b, P_ANY, F_M, ALL, A_R, S_V, I_B, REG, K_PLAIN, FL),
	R(0x6c, 0x6c, P_ANY, 0, ALL, A_W, S_1, I_0, 0, K_INS, DI),
	R(0x6d, 0x6d, P_ANY, 0, ALL, A_W, S_V, I_0, 0, K_INS, DI),
	R(0x6e, 0x6e, P_ANY, 0, ALL, A_R, S_1, I_0, 0, K_OUTS, SI),
	R(0x6f, 0x6f, P_ANY, 0, ALL, A_R, S_V, I_0, 0, K_OUTS, SI),
	R(0x70, 0x7f, P_ANY, 0, ALL, A_NONE, S_0, I_B, 0, K_PLAIN, 0), /* jcc */
	R(0x80, 0x80, P_ANY, F_M, 0x7f, A_RW, S_1, I_B, RM8, K_PLAIN, FL),
	R(0x80, 0x80, P_ANY, F_M, D(7), A_R, S_1, I_B, 0, K_PLAIN, FL), /* cmp */
	R(0x81, 0x81, P_ANY, F_M, 0x7f, A_RW, S_V, I_Z, RM, K_PLAIN, FL),
	R(0x81, 0x81, P_ANY, F_M, D(7), A_R, S_V, I_Z, 0, K_PLAIN, FL),
	R(0x82, 0x82, P_ANY, F_32 | F_M, 0x7f, A_RW, S_1, I_B, RM8, K_PLAIN, FL),
	R(0x82, 0x82, P_ANY, F_32 | F_M, D(7), A_R, S_1, I_B, 0, K_PLAIN, FL),
	R(0x83, 0x83, P_ANY, F_M, 0x7f, A_RW, S_V, I_B, RM, K_PLAIN, FL),
	R(0x83, 0x83, P_ANY, F_M, D(7), A_R, S_V, I_B, 0, K_PLAIN, FL),
	R(0x84, 0x84, P_ANY, F_M, ALL, A_R, S_1, I_0, 0, K_PLAIN, FL), /* test */
	R(0x85, 0x85, P_ANY, F_M, ALL, A_R, S_V, I_0, 0, K_PLAIN, FL),
	R(0x86, 0x86, P_ANY, F_M, ALL, A_RW, S_1, I_0, RM8 | REG8, K_PLAIN, 0), /* xchg */
	R(0x87, 0x87, P_ANY, F_M, ALL, A_RW, S_V, I_0, RM | REG, K_PLAIN, 0),
	R(0x88, 0x88, P_ANY, F_M, ALL, A_W, S_1, I_0, RM8, K_PLAIN, 0), /* mov */
	R(0x89, 0x89, P_ANY, F_M, ALL, A_W, S_V, I_0, RM, K_PLAIN, 0),
	R(0x8a, 0x8a, P_ANY, F_M, ALL, A_R, S_1, I_0, REG8, K_PLAIN, 0),
	R(0x8b, 0x8b, P_ANY, F_M, ALL, A_R, S_V, I_0, REG, K_PLAIN, 0),
	R(0x8c, 0x8c, P_ANY, F_M, 0x3f, A_W, S_2, I_0, RM, K_PLAIN, 0), /* mov from a segment register */
	R(0x8d, 0x8d, P_ANY, F_MEM, ALL, A_NOACC, S_0, I_0, REG, K_PLAIN, 0), /* lea */
	R(0x8e, 0x8e, P_ANY, F_M, 0x3d, A_R, S_2, I_0, 0, K_PLAIN, 0),
	R(0x8f, 0x8f, P_ANY, F_M, D(0), A_W, S_STK, I_0, RM, K_POPM, 0), /* other digits: XOP */
	R(0x90, 0x97, P_ANY, 0, ALL, A_NONE, S_0, I_0, D_OP, K_XCHGA, 0),
	R(0x98, 0x98, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, AX),
	R(0x99, 0x99, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, DX),
	R(0x9a, 0x9a, P_ANY, F_32, ALL, A_NONE, S_STK, I_FAR, 0, K_CALLF, 0),
	R(0x9b, 0x9b, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, 0),
	R(0x9c, 0x9c, P_ANY, 0, ALL, A_NONE, S_STK, I_0, 0, K_PUSH, 0), /* pushf */
	R(0x9d, 0x9d, P_ANY, 0, ALL, A_NONE, S_STK, I_0, 0, K_POP, FL),
	R(0x9e, 0x9e, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, FL),
	R(0x9f, 0x9f, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, AX),
	R(0xa0, 0xa0, P_ANY, 0, ALL, A_R, S_1, I_OFFS, 0, K_OFFS, AX),
	R(0xa1, 0xa1, P_ANY, 0, ALL, A_R, S_V, I_OFFS, 0, K_OFFS, AX),
	R(0xa2, 0xa2, P_ANY, 0, ALL, A_W, S_1, I_OFFS, 0, K_OFFS, 0),
	R(0xa3, 0xa3, P_ANY, 0, ALL, A_W, S_V, I_OFFS, 0, K_OFFS, 0),
	R(0xa4, 0xa4, P_ANY, 0, ALL, A_NONE, S_1, I_0, 0, K_MOVS, SI | DI),
	R(0xa5, 0xa5, P_ANY, 0, ALL, A_NONE, S_V, I_0, 0, K_MOVS, SI | DI),
	R(0xa6, 0xa6, P_ANY, 0, ALL, A_NONE, S_1, I_0, 0, K_CMPS, SI | DI | FL),
	R(0xa7, 0xa7, P_ANY, 0, ALL, A_NONE, S_V, I_0, 0, K_CMPS, SI | DI | FL),
	R(0xa8, 0xa8, P_ANY, 0, ALL, A_NONE, S_0, I_B, 0, K_PLAIN, FL),
	R(0xa9, 0xa9, P_ANY, 0, ALL, A_NONE, S_0, I_Z, 0, K_PLAIN, FL),
	R(0xaa, 0xaa, P_ANY, 0, ALL, A_NONE, S_1, I_0, 0, K_STOS, DI),
	R(0xab, 0xab, P_ANY, 0, ALL, A_NONE, S_V, I_0, 0, K_STOS, DI),
	R(0xac, 0xac, P_ANY, 0, ALL, A_NONE, S_1, I_0, 0, K_LODS, SI | AX),
	R(0xad, 0xad, P_ANY, 0, ALL, A_NONE, S_V, I_0, 0, K_LODS, SI | AX),
	R(0xae, 0xae, P_ANY, 0, ALL, A_NONE, S_1, I_0, 0, K_SCAS, DI | FL),
	R(0xaf, 0xaf, P_ANY, 0, ALL, A_NONE, S_V, I_0, 0, K_SCAS, DI | FL),
	R(0xb0, 0xb7, P_ANY, 0, ALL, A_NONE, S_0, I_B, D_OP | D_8BIT, K_PLAIN, 0),
	R(0xb8, 0xbf, P_ANY, 0, ALL, A_NONE, S_0, I_V, D_OP, K_PLAIN, 0),
	R(0xc0, 0xc0, P_ANY, F_M, ALL, A_RW, S_1, I_B, RM8, K_PLAIN, FL), /* shifts */
	R(0xc1, 0xc1, P_ANY, F_M, ALL, A_RW, S_V, I_B, RM, K_PLAIN, FL),
	R(0xc2, 0xc2, P_ANY, F_NEAR, ALL, A_NONE, S_STK, I_W, 0, K_RET, 0),
	R(0xc3, 0xc3, P_ANY, F_NEAR, ALL, A_NONE, S_STK, I_0, 0, K_RET, 0),
	R(0xc4, 0xc5, P_ANY, F_32 | F_MEM, ALL, A_R, S_FAR, I_0, REG, K_PLAIN, 0), /* les, lds */
	R(0xc6, 0xc6, P_ANY, F_M, D(0), A_W, S_1, I_B, RM8, K_PLAIN, 0),
	RR(0xc6, P_ANY, D(7), D(0), I_B, 0, K_PLAIN, AX), /* xabort */
	R(0xc7, 0xc7, P_ANY, F_M, D(0), A_W, S_V, I_Z, RM, K_PLAIN, 0),
	RR(0xc7, P_ANY, D(7), D(0), I_Z, 0, K_PLAIN, AX), /* xbegin */
	R(0xc8, 0xc8, P_ANY, 0, ALL, A_NONE, S_STK, I_ENTER, 0, K_ENTER, BP),
	R(0xc9, 0xc9, P_ANY, 0, ALL, A_NONE, S_STK, I_0, 0, K_LEAVE, BP),
	R(0xca, 0xca, P_ANY, 0, ALL, A_NONE, S_V, I_W, 0, K_RETF, 0),
	R(0xcb, 0xcb, P_ANY, 0, ALL, A_NONE, S_V, I_0, 0, K_RETF, 0),
	R(0xcc, 0xcc, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, 0), /* int3 */
	R(0xcd, 0xcd, P_ANY, 0, ALL, A_NONE, S_0, I_B, 0, K_PLAIN, AX), /* int n: a system call in user space */
	R(0xce, 0xce, P_ANY, F_32, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, 0),
	R(0xcf, 0xcf, P_ANY, 0, ALL, A_NONE, S_V, I_0, 0, K_IRET, FL),
	R(0xd0, 0xd0, P_ANY, F_M, ALL, A_RW, S_1, I_0, RM8, K_PLAIN, FL),
	R(0xd1, 0xd1, P_ANY, F_M, ALL, A_RW, S_V, I_0, RM, K_PLAIN, FL),
	R(0xd2, 0xd2, P_ANY, F_M, ALL, A_RW, S_1, I_0, RM8, K_PLAIN, FL),
	R(0xd3, 0xd3, P_ANY, F_M, ALL, A_RW, S_V, I_0, RM, K_PLAIN, FL),
	R(0xd4, 0xd5, P_ANY, F_32, ALL, A_NONE, S_0, I_B, 0, K_PLAIN, AX | FL), /* aam, aad; 64-bit: REX2 */
	R(0xd7, 0xd7, P_ANY, 0, ALL, A_R, S_1, I_0, 0, K_XLAT, AX),
	/* x87 */
	R(0xd8, 0xd8, P_ANY, F_MEM, ALL, A_R, S_4, I_0, 0, K_PLAIN, 0),
	R(0xd8, 0xd8, P_ANY, F_REG, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, 0),
	R(0xd9, 0xd9, P_ANY, F_MEM, D(0), A_R, S_4, I_0, 0, K_PLAIN, 0),
	R(0xd9, 0xd9, P_ANY, F_MEM, D(2) | D(3), A_W, S_4, I_0, 0, K_PLAIN, 0),
	R(0xd9, 0xd9, P_ANY, F_MEM, D(4), A_R, S_ENV, I_0, 0, K_PLAIN, 0),
	R(0xd9, 0xd9, P_ANY, F_MEM, D(5), A_R, S_2, I_0, 0, K_PLAIN, 0),
	R(0xd9, 0xd9, P_ANY, F_MEM, D(6), A_W, S_ENV, I_0, 0, K_PLAIN, 0),
	R(0xd9, 0xd9, P_ANY, F_MEM, D(7), A_W, S_2, I_0, 0, K_PLAIN, 0),
	RR(0xd9, P_ANY, D(0) | D(1) | D(6) | D(7), ALL, I_0, 0, K_PLAIN, 0),
	RR(0xd9, P_ANY, D(2), D(0), I_0, 0, K_PLAIN, 0),
	RR(0xd9, P_ANY, D(4), 0x33, I_0, 0, K_PLAIN, 0),
	RR(0xd9, P_ANY, D(5), 0x7f, I_0, 0, K_PLAIN, 0),
	R(0xda, 0xda, P_ANY, F_MEM, ALL, A_R, S_4, I_0, 0, K_PLAIN, 0),
	RR(0xda, P_ANY, 0x0f, ALL, I_0, 0, K_PLAIN, 0),
	RR(0xda, P_ANY, D(5), D(1), I_0, 0, K_PLAIN, 0),
	R(0xdb, 0xdb, P_ANY, F_MEM, D(0), A_R, S_4, I_0, 0, K_PLAIN, 0),
	R(0xdb, 0xdb, P_ANY, F_MEM, D(1) | D(2) | D(3), A_W, S_4, I_0, 0, K_PLAIN, 0),
	R(0xdb, 0xdb, P_ANY, F_MEM, D(5), A_R, S_10, I_0, 0, K_PLAIN, 0),
	R(0xdb, 0xdb, P_ANY, F_MEM, D(7), A_W, S_10, I_0, 0, K_PLAIN, 0),
	RR(0xdb, P_ANY, 0x0f, ALL, I_0, 0, K_PLAIN, 0),
	RR(0xdb, P_ANY, D(4), 0x1f, I_0, 0, K_PLAIN, 0),
	RR(0xdb, P_ANY, D(5) | D(6), ALL, I_0, 0, K_PLAIN, FL), /* fucomi, fcomi */
	R(0xdc, 0xdc, P_ANY, F_MEM, ALL, A_R, S_8, I_0, 0, K_PLAIN, 0),
	RR(0xdc, P_ANY, 0xf3, ALL, I_0, 0, K_PLAIN, 0),
	R(0xdd, 0xdd, P_ANY, F_MEM, D(0), A_R, S_8, I_0, 0, K_PLAIN, 0),
	R(0xdd, 0xdd, P_ANY, F_MEM, D(1) | D(2) | D(3), A_W, S_8, I_0, 0, K_PLAIN, 0),
	R(0xdd, 0xdd, P_ANY, F_MEM, D(4), A_R, S_FSAVE, I_0, 0, K_PLAIN, 0),
	R(0xdd, 0xdd, P_ANY, F_MEM, D(6), A_W, S_FSAVE, I_0, 0, K_PLAIN, 0),
	R(0xdd, 0xdd, P_ANY, F_MEM, D(7), A_W, S_2, I_0, 0, K_PLAIN, 0),
	RR(0xdd, P_ANY, D(0) | D(2) | D(3) | D(4) | D(5), ALL, I_0, 0, K_PLAIN, 0),
	R(0xde, 0xde, P_ANY, F_MEM, ALL, A_R, S_2, I_0, 0, K_PLAIN, 0),
	RR(0xde, P_ANY, 0xf3, ALL, I_0, 0, K_PLAIN, 0),
	RR(0xde, P_ANY, D(3), D(1), I_0, 0, K_PLAIN, 0),
	R(0xdf, 0xdf, P_ANY, F_MEM, D(0), A_R, S_2, I_0, 0, K_PLAIN, 0),
	R(0xdf, 0xdf, P_ANY, F_MEM, D(1) | D(2) | D(3), A_W, S_2, I_0, 0, K_PLAIN, 0),
	R(0xdf, 0xdf, P_ANY, F_MEM, D(4), A_R, S_10, I_0, 0, K_PLAIN, 0),
	R(0xdf, 0xdf, P_ANY, F_MEM, D(5), A_R, S_8, I_0, 0, K_PLAIN, 0),
	R(0xdf, 0xdf, P_ANY, F_MEM, D(6), A_W, S_10, I_0, 0, K_PLAIN, 0),
	R(0xdf, 0xdf, P_ANY, F_MEM, D(7), A_W, S_8, I_0, 0, K_PLAIN, 0),
	RR(0xdf, P_ANY, D(0), ALL, I_0, 0, K_PLAIN, 0),
	RR(0xdf, P_ANY, D(4), D(0), I_0, 0, K_PLAIN, AX), /* fnstsw ax */
	RR(0xdf, P_ANY, D(5) | D(6), ALL, I_0, 0, K_PLAIN, FL),
	R(0xe0, 0xe2, P_ANY, 0, ALL, A_NONE, S_0, I_B, 0, K_PLAIN, CX), /* loop */
	R(0xe3, 0xe3, P_ANY, 0, ALL, A_NONE, S_0, I_B, 0, K_PLAIN, 0),
	R(0xe4, 0xe5, P_ANY, 0, ALL, A_NONE, S_0, I_B, 0, K_PLAIN, AX), /* in */
	R(0xe6, 0xe7, P_ANY, 0, ALL, A_NONE, S_0, I_B, 0, K_PLAIN, 0),
	R(0xe8, 0xe8, P_ANY, F_NEAR, ALL, A_NONE, S_STK, I_JZ, 0, K_CALL, 0),
	R(0xe9, 0xe9, P_ANY, F_NEAR, ALL, A_NONE, S_0, I_JZ, 0, K_PLAIN, 0),
	R(0xea, 0xea, P_ANY, F_32, ALL, A_NONE, S_0, I_FAR, 0, K_PLAIN, 0),
	R(0xeb, 0xeb, P_ANY, 0, ALL, A_NONE, S_0, I_B, 0, K_PLAIN, 0),
	R(0xec, 0xed, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, AX),
	R(0xee, 0xef, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, 0),
	R(0xf1, 0xf1, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, 0),
	R(0xf4, 0xf4, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, 0),
	R(0xf5, 0xf5, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, FL),
	R(0xf6, 0xf6, P_ANY, F_M, D(0) | D(1), A_R, S_1, I_B, 0, K_PLAIN, FL), /* test */
	R(0xf6, 0xf6, P_ANY, F_M, D(2), A_RW, S_1, I_0, RM8, K_PLAIN, 0), /* not */
	R(0xf6, 0xf6, P_ANY, F_M, D(3), A_RW, S_1, I_0, RM8, K_PLAIN, FL), /* neg */
	R(0xf6, 0xf6, P_ANY, F_M, 0xf0, A_R, S_1, I_0, 0, K_PLAIN, AX | FL), /* mul, div */
	R(0xf7, 0xf7, P_ANY, F_M, D(0) | D(1), A_R, S_V, I_Z, 0, K_PLAIN, FL),
	R(0xf7, 0xf7, P_ANY, F_M, D(2), A_RW, S_V, I_0, RM, K_PLAIN, 0),
	R(0xf7, 0xf7, P_ANY, F_M, D(3), A_RW, S_V, I_0, RM, K_PLAIN, FL),
	R(0xf7, 0xf7, P_ANY, F_M, 0xf0, A_R, S_V, I_0, 0, K_PLAIN, AX | DX | FL),
	R(0xf8, 0xfd, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, FL),
	R(0xfe, 0xfe, P_ANY, F_M, D(0) | D(1), A_RW, S_1, I_0, RM8, K_PLAIN, FL),
	R(0xff, 0xff, P_ANY, F_M, D(0) | D(1), A_RW, S_V, I_0, RM, K_PLAIN, FL),
	R(0xff, 0xff, P_ANY, F_M | F_NEAR, D(2), A_R, S_STK, I_0, 0, K_CALL, 0),
	R(0xff, 0xff, P_ANY, F_MEM, D(3), A_R, S_FAR, I_0, 0, K_CALLF, 0),
	R(0xff, 0xff, P_ANY, F_M | F_NEAR, D(4), A_R, S_STK, I_0, 0, K_PLAIN, 0), /* jmp */
	R(0xff, 0xff, P_ANY, F_MEM, D(5), A_R, S_FAR, I_0, 0, K_PLAIN, 0),
	R(0xff, 0xff, P_ANY, F_M, D(6), A_R, S_STK, I_0, 0, K_PUSHM, 0),
};

/* An SSE operation that reads its operand: MMX form of 8 bytes without prefix, XMM form with 66. */
#define MMX_R(lo, hi) \
	R(lo, hi, P_NP, F_M, ALL, A_R, S_8, I_0, 0, K_PLAIN, 0), \
	R(lo, hi, P_66, F_M, ALL, A_R, S_16, I_0, 0, K_PLAIN, 0)
#define SSE_R(lo, hi, pfx, size) R(lo, hi, pfx, F_M, ALL, A_R, size, I_0, 0, K_PLAIN, 0)
/* Packed single, packed double, scalar single, scalar double. */
#define SSE4_R(lo, hi) SSE_R(lo, hi, P_N6, S_16), SSE_R(lo, hi, P_F3, S_4), SSE_R(lo, hi, P_F2, S_8)

static const struct x86_row map_0f[] = {
	R(0x00, 0x00, P_ANY, F_M, D(0) | D(1), A_W, S_2, I_0, RM, K_PLAIN, 0), /* sldt, str */
	R(0x00, 0x00, P_ANY, F_M, D(2) | D(3), A_R, S_2, I_0, 0, K_PLAIN, 0),
	R(0x00, 0x00, P_ANY, F_M, D(4) | D(5), A_R, S_2, I_0, 0, K_PLAIN, FL), /* verr, verw */
	R(0x01, 0x01, P_ANY, F_MEM, D(0) | D(1), A_W, S_DESC, I_0, 0, K_PLAIN, 0), /* sgdt, sidt */
	R(0x01, 0x01, P_ANY, F_MEM, D(2) | D(3), A_R, S_DESC, I_0, 0, K_PLAIN, 0),
	R(0x01, 0x01, P_ANY, F_M, D(4), A_W, S_2, I_0, RM, K_PLAIN, 0), /* smsw */
	R(0x01, 0x01, P_F3, F_MEM, D(5), A_RW, S_8, I_0, 0, K_PLAIN, 0), /* rstorssp */
	R(0x01, 0x01, P_ANY, F_M, D(6), A_R, S_2, I_0, 0, K_PLAIN, 0), /* lmsw */
	R(0x01, 0x01, P_ANY, F_MEM, D(7), A_NOACC, S_0, I_0, 0, K_PLAIN, 0), /* invlpg */
	RR(0x01, P_NP, D(1), 0x0f, I_0, 0, K_PLAIN, 0), /* monitor, mwait, clac, stac */
	RR(0x01, P_NP, D(2), D(0), I_0, 0, K_PLAIN, AX | DX), /* xgetbv */
	RR(0x01, P_NP, D(2), D(1) | D(5), I_0, 0, K_PLAIN, 0), /* xsetbv, xend */
	RR(0x01, P_NP, D(2), D(6), I_0, 0, K_PLAIN, FL), /* xtest */
	RR(0x01, P_NP, D(5), D(0), I_0, 0, K_PLAIN, 0), /* serialize */
	RR(0x01, P_F3, D(5), D(0) | D(2), I_0, 0, K_PLAIN, 0), /* setssbsy, saveprevssp: shadow stack only */
	RR(0x01, P_F2, D(5), D(0) | D(1), I_0, 0, K_PLAIN, 0), /* xsusldtrk, xresldtrk */
	RR(0x01, P_NP, D(5), D(6), I_0, 0, K_PLAIN, AX | DX), /* rdpkru */
	RR(0x01, P_NP, D(5), D(7), I_0, 0, K_PLAIN, 0),
	RR(0x01, P_NP, D(7), D(0) | D(2) | D(3), I_0, 0, K_PLAIN, 0), /* swapgs, monitorx, mwaitx */
	RR(0x01, P_ANY, D(7), D(1), I_0, 0, K_PLAIN, AX | CX | DX), /* rdtscp */
	RR(0x01, P_NP, D(7), D(4), I_0, 0, K_CLZERO, 0),
	RR(0x01, P_NP, D(7), D(5), I_0, 0, K_PLAIN, AX | DX | FL), /* rdpru */
	RR(0x01, P_F3, D(5), D(5), I_0, 0, K_PLAIN, FL), /* testui */
	RR(0x01, P_F3, D(5), D(6) | D(7), I_0, 0, K_PLAIN, 0), /* clui, stui */
	R(0x02, 0x03, P_ANY, F_M, ALL, A_R, S_2, I_0, REG, K_PLAIN, FL), /* lar, lsl */
	R(0x05, 0x05, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, AX | CX | R11 | FL), /* syscall */
	R(0x06, 0x06, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, 0),
	R(0x08, 0x09, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, 0),
	R(0x0b, 0x0b, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, 0), /* ud2 */
	R(0x0d, 0x0d, P_ANY, F_M, ALL, A_PF, S_0, I_0, 0, K_PLAIN, 0),
	R(0x0e, 0x0e, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, 0),
	R(0x0f, 0x0f, P_ANY, F_M, ALL, A_R, S_8, I_B, 0, K_PLAIN, 0), /* 3DNow!, operation in the last byte */
	SSE4_R(0x10, 0x10),
	R(0x11, 0x11, P_N6, F_M, ALL, A_W, S_16, I_0, 0, K_PLAIN, 0),
	R(0x11, 0x11, P_F3, F_M, ALL, A_W, S_4, I_0, 0, K_PLAIN, 0),
	R(0x11, 0x11, P_F2, F_M, ALL, A_W, S_8, I_0, 0, K_PLAIN, 0),
	SSE_R(0x12, 0x12, P_NP | P_F2, S_8), /* movlps, movhlps, movddup */
	R(0x12, 0x12, P_66, F_MEM, ALL, A_R, S_8, I_0, 0, K_PLAIN, 0),
	SSE_R(0x12, 0x12, P_F3, S_16),
	R(0x13, 0x13, P_N6, F_MEM, ALL, A_W, S_8, I_0, 0, K_PLAIN, 0),
	SSE_R(0x14, 0x15, P_N6, S_16),
	SSE_R(0x16, 0x16, P_NP, S_8), /* movhps, movlhps */
	R(0x16, 0x16, P_66, F_MEM, ALL, A_R, S_8, I_0, 0, K_PLAIN, 0),
	SSE_R(0x16, 0x16, P_F3, S_16),
	R(0x17, 0x17, P_N6, F_MEM, ALL, A_W, S_8, I_0, 0, K_PLAIN, 0),
	R(0x18, 0x18, P_ANY, F_MEM, D(0) | D(1) | D(2) | D(3) | D(6) | D(7), A_PF, S_0, I_0, 0, K_PLAIN, 0),
	R(0x18, 0x18, P_ANY, F_MEM, D(4) | D(5), A_NOACC, S_0, I_0, 0, K_PLAIN, 0),
	R(0x18, 0x18, P_ANY, F_REG, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, 0),
	R(0x19, 0x1b, P_ANY, F_M, ALL, A_NOACC, S_0, I_0, 0, K_PLAIN, 0), /* nop; MPX is gone */
	R(0x1c, 0x1c, P_NP, F_MEM, D(0), A_PF, S_0, I_0, 0, K_PLAIN, 0), /* cldemote */
	R(0x1c, 0x1d, P_ANY, F_M, ALL, A_NOACC, S_0, I_0, 0, K_PLAIN, 0),
	R(0x1e, 0x1e, P_F3, F_REG, D(1), A_NONE, S_0, I_0, RM, K_PLAIN, 0), /* rdssp */
	R(0x1e, 0x1f, P_ANY, F_M, ALL, A_NOACC, S_0, I_0, 0, K_PLAIN, 0), /* nop, endbr */
	R(0x28, 0x28, P_N6, F_M, ALL, A_R, S_16, I_0, 0, K_PLAIN, 0),
	R(0x29, 0x29, P_N6, F_M, ALL, A_W, S_16, I_0, 0, K_PLAIN, 0),
	SSE_R(0x2a, 0x2a, P_N6, S_8), SSE_R(0x2a, 0x2a, P_F3 | P_F2, S_Y), /* cvtpi2ps, cvtsi2ss */
	R(0x2b, 0x2b, P_N6, F_MEM, ALL, A_W, S_16, I_0, 0, K_PLAIN, 0),
	R(0x2b, 0x2b, P_F3, F_MEM, ALL, A_W, S_4, I_0, 0, K_PLAIN, 0), /* movntss */
	R(0x2b, 0x2b, P_F2, F_MEM, ALL, A_W, S_8, I_0, 0, K_PLAIN, 0),
	SSE_R(0x2c, 0x2d, P_NP, S_8), SSE_R(0x2c, 0x2d, P_66, S_16), /* to mmx */
	R(0x2c, 0x2d, P_F3, F_M, ALL, A_R, S_4, I_0, REG, K_PLAIN, 0),
	R(0x2c, 0x2d, P_F2, F_M, ALL, A_R, S_8, I_0, REG, K_PLAIN, 0),
	R(0x2e, 0x2f, P_NP, F_M, ALL, A_R, S_4, I_0, 0, K_PLAIN, FL), /* ucomiss, comiss */
	R(0x2e, 0x2f, P_66, F_M, ALL, A_R, S_8, I_0, 0, K_PLAIN, FL),
	R(0x30, 0x30, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, 0),
	R(0x31, 0x33, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, AX | DX), /* rdtsc, rdmsr, rdpmc */
	R(0x34, 0x34, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, AX | CX | DX | 1 << XR_SP | FL), /* sysenter */
	R(0x40, 0x4f, P_ANY, F_M, ALL, A_R, S_V, I_0, REG, K_PLAIN, 0), /* cmov */
	R(0x50, 0x50, P_N6, F_REG, ALL, A_NONE, S_0, I_0, REG, K_PLAIN, 0), /* movmskps */
	SSE4_R(0x51, 0x51),
	SSE_R(0x52, 0x53, P_NP, S_16), SSE_R(0x52, 0x53, P_F3, S_4),
	SSE_R(0x54, 0x57, P_N6, S_16),
	SSE4_R(0x58, 0x59),
	SSE_R(0x5a, 0x5a, P_NP | P_F2, S_8), SSE_R(0x5a, 0x5a, P_66, S_16), SSE_R(0x5a, 0x5a, P_F3, S_4),
	SSE_R(0x5b, 0x5b, P_NP | P_66 | P_F3, S_16),
	SSE4_R(0x5c, 0x5f),
	SSE_R(0x60, 0x62, P_NP, S_4), SSE_R(0x60, 0x62, P_66, S_16), /* punpckl: MMX reads the low half only */
	MMX_R(0x63, 0x6b),
	SSE_R(0x6c, 0x6d, P_66, S_16),
	SSE_R(0x6e, 0x6e, P_N6, S_Y),
	SSE_R(0x6f, 0x6f, P_NP, S_8), SSE_R(0x6f, 0x6f, P_66 | P_F3, S_16),
	R(0x70, 0x70, P_NP, F_M, ALL, A_R, S_8, I_B, 0, K_PLAIN, 0),
	R(0x70, 0x70, P_66 | P_F3 | P_F2, F_M, ALL, A_R, S_16, I_B, 0, K_PLAIN, 0),
	R(0x71, 0x72, P_N6, F_REG, D(2) | D(4) | D(6), A_NONE, S_0, I_B, 0, K_PLAIN, 0),
	R(0x73, 0x73, P_NP, F_REG, D(2) | D(6), A_NONE, S_0, I_B, 0, K_PLAIN, 0),
	R(0x73, 0x73, P_66, F_REG, D(2) | D(3) | D(6) | D(7), A_NONE, S_0, I_B, 0, K_PLAIN, 0),
	MMX_R(0x74, 0x76),
	R(0x77, 0x77, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, 0), /* emms */
	R(0x78, 0x78, P_66, F_REG, D(0), A_NONE, S_0, I_2B, 0, K_PLAIN, 0), /* extrq */
	R(0x78, 0x78, P_F2, F_REG, ALL, A_NONE, S_0, I_2B, 0, K_PLAIN, 0), /* insertq */
	R(0x79, 0x79, P_66 | P_F2, F_REG, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, 0),
	SSE_R(0x7c, 0x7d, P_66 | P_F2, S_16),
	R(0x7e, 0x7e, P_N6, F_M, ALL, A_W, S_Y, I_0, RM, K_PLAIN, 0),
	SSE_R(0x7e, 0x7e, P_F3, S_8),
	R(0x7f, 0x7f, P_NP, F_M, ALL, A_W, S_8, I_0, 0, K_PLAIN, 0),
	R(0x7f, 0x7f, P_66 | P_F3, F_M, ALL, A_W, S_16, I_0, 0, K_PLAIN, 0),
	R(0x80, 0x8f, P_ANY, F_NEAR, ALL, A_NONE, S_0, I_JZ, 0, K_PLAIN, 0), /* jcc */
	R(0x90, 0x9f, P_ANY, F_M, ALL, A_W, S_1, I_0, RM8, K_PLAIN, 0), /* setcc */
	R(0xa0, 0xa0, P_ANY, 0, ALL, A_NONE, S_STK, I_0, 0, K_PUSH, 0),
	R(0xa1, 0xa1, P_ANY, 0, ALL, A_NONE, S_STK, I_0, 0, K_POP, 0),
	R(0xa2, 0xa2, P_ANY, 0, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, AX | BX | CX | DX), /* cpuid */
	R(0xa3, 0xa3, P_ANY, F_M, ALL, A_R, S_V, I_0, 0, K_BIT, FL), /* bt */
	R(0xa4, 0xa4, P_ANY, F_M, ALL, A_RW, S_V, I_B, RM, K_PLAIN, FL), /* shld */
	R(0xa5, 0xa5, P_ANY, F_M, ALL, A_RW, S_V, I_0, RM, K_PLAIN, FL),
	R(0xa8, 0xa8, P_ANY, 0, ALL, A_NONE, S_STK, I_0, 0, K_PUSH, 0),
	R(0xa9, 0xa9, P_ANY, 0, ALL, A_NONE, S_STK, I_0, 0, K_POP, 0),
	R(0xab, 0xab, P_ANY, F_M, ALL, A_RW, S_V, I_0, RM, K_BIT, FL), /* bts */
	R(0xac, 0xac, P_ANY, F_M, ALL, A_RW, S_V, I_B, RM, K_PLAIN, FL),
	R(0xad, 0xad, P_ANY, F_M, ALL, A_RW, S_V, I_0, RM, K_PLAIN, FL),
	R(0xae, 0xae, P_NP, F_MEM, D(0), A_W, S_512, I_0, 0, K_PLAIN, 0), /* fxsave */
	R(0xae, 0xae, P_NP, F_MEM, D(1), A_R, S_512, I_0, 0, K_PLAIN, 0),
	R(0xae, 0xae, P_NP, F_MEM, D(2), A_R, S_4, I_0, 0, K_PLAIN, 0), /* ldmxcsr */
	R(0xae, 0xae, P_NP, F_MEM, D(3), A_W, S_4, I_0, 0, K_PLAIN, 0),
	R(0xae, 0xae, P_NP, F_MEM, D(4) | D(6), A_W, S_XSAVE, I_0, 0, K_PLAIN, 0), /* xsave, xsaveopt */
	R(0xae, 0xae, P_NP, F_MEM, D(5), A_R, S_XSAVE, I_0, 0, K_PLAIN, 0),
	R(0xae, 0xae, P_N6, F_MEM, D(7), A_PF, S_0, I_0, 0, K_PLAIN, 0), /* clflush, clflushopt */
	R(0xae, 0xae, P_66, F_MEM, D(6), A_PF, S_0, I_0, 0, K_PLAIN, 0), /* clwb */
	R(0xae, 0xae, P_F3, F_M, D(4), A_R, S_Y, I_0, 0, K_PLAIN, 0), /* ptwrite */
	R(0xae, 0xae, P_F3, F_MEM, D(6), A_RW, S_8, I_0, 0, K_PLAIN, FL), /* clrssbsy */
	R(0xae, 0xae, P_F3, F_REG, D(0) | D(1), A_NONE, S_0, I_0, RM, K_PLAIN, 0), /* rdfsbase, rdgsbase */
	R(0xae, 0xae, P_F3, F_REG, D(2) | D(3) | D(5) | D(6), A_NONE, S_0, I_0, 0, K_PLAIN, 0),
	R(0xae, 0xae, P_66 | P_F2, F_REG, D(6), A_NONE, S_0, I_0, 0, K_PLAIN, FL), /* tpause, umwait */
	R(0xae, 0xae, P_NP, F_REG, D(5) | D(6) | D(7), A_NONE, S_0, I_0, 0, K_PLAIN, 0), /* fences */
	R(0xaf, 0xaf, P_ANY, F_M, ALL, A_R, S_V, I_0, REG, K_PLAIN, FL), /* imul */
	R(0xb0, 0xb0, P_ANY, F_M, ALL, A_RW, S_1, I_0, RM8, K_PLAIN, AX | FL), /* cmpxchg */
	R(0xb1, 0xb1, P_ANY, F_M, ALL, A_RW, S_V, I_0, RM, K_PLAIN, AX | FL),
	R(0xb2, 0xb2, P_ANY, F_MEM, ALL, A_R, S_FAR, I_0, REG, K_PLAIN, 0), /* lss */
	R(0xb3, 0xb3, P_ANY, F_M, ALL, A_RW, S_V, I_0, RM, K_BIT, FL), /* btr */
	R(0xb4, 0xb5, P_ANY, F_MEM, ALL, A_R, S_FAR, I_0, REG, K_PLAIN, 0),
	R(0xb6, 0xb6, P_ANY, F_M, ALL, A_R, S_1, I_0, REG, K_PLAIN, 0), /* movzx */
	R(0xb7, 0xb7, P_ANY, F_M, ALL, A_R, S_2, I_0, REG, K_PLAIN, 0),
	R(0xb8, 0xb8, P_F3, F_M, ALL, A_R, S_V, I_0, REG, K_PLAIN, FL), /* popcnt */
	R(0xba, 0xba, P_ANY, F_M, D(4), A_R, S_V, I_B, 0, K_PLAIN, FL), /* bt m, imm: stays inside the operand */
	R(0xba, 0xba, P_ANY, F_M, D(5) | D(6) | D(7), A_RW, S_V, I_B, RM, K_PLAIN, FL),
	R(0xbb, 0xbb, P_ANY, F_M, ALL, A_RW, S_V, I_0, RM, K_BIT, FL), /* btc */
	R(0xbc, 0xbd, P_ANY, F_M, ALL, A_R, S_V, I_0, REG, K_PLAIN, FL), /* bsf, bsr, tzcnt, lzcnt */
	R(0xbe, 0xbe, P_ANY, F_M, ALL, A_R, S_1, I_0, REG, K_PLAIN, 0), /* movsx */
	R(0xbf, 0xbf, P_ANY, F_M, ALL, A_R, S_2, I_0, REG, K_PLAIN, 0),
	R(0xc0, 0xc0, P_ANY, F_M, ALL, A_RW, S_1, I_0, RM8 | REG8, K_PLAIN, FL), /* xadd */
	R(0xc1, 0xc1, P_ANY, F_M, ALL, A_RW, S_V, I_0, RM | REG, K_PLAIN, FL),
	R(0xc2, 0xc2, P_N6, F_M, ALL, A_R, S_16, I_B, 0, K_PLAIN, 0), /* cmpps */
	R(0xc2, 0xc2, P_F3, F_M, ALL, A_R, S_4, I_B, 0, K_PLAIN, 0),
	R(0xc2, 0xc2, P_F2, F_M, ALL, A_R, S_8, I_B, 0, K_PLAIN, 0),
	R(0xc3, 0xc3, P_NP, F_MEM, ALL, A_W, S_Y, I_0, 0, K_PLAIN, 0), /* movnti */
	R(0xc4, 0xc4, P_N6, F_M, ALL, A_R, S_2, I_B, 0, K_PLAIN, 0), /* pinsrw */
	R(0xc5, 0xc5, P_N6, F_REG, ALL, A_NONE, S_0, I_B, REG, K_PLAIN, 0), /* pextrw */
	R(0xc6, 0xc6, P_N6, F_M, ALL, A_R, S_16, I_B, 0, K_PLAIN, 0),
	R(0xc7, 0xc7, P_ANY, F_MEM, D(1), A_RW, S_CX8, I_0, 0, K_PLAIN, AX | DX | FL),
	R(0xc7, 0xc7, P_NP, F_MEM, D(3), A_R, S_XSAVE, I_0, 0, K_PLAIN, 0), /* xrstors */
	R(0xc7, 0xc7, P_NP, F_MEM, D(4) | D(5), A_W, S_XSAVE, I_0, 0, K_PLAIN, 0), /* xsavec, xsaves */
	R(0xc7, 0xc7, P_N6, F_REG, D(6) | D(7), A_NONE, S_0, I_0, RM, K_PLAIN, FL), /* rdrand, rdseed */
	R(0xc7, 0xc7, P_F3, F_REG, D(6), A_NONE, S_0, I_0, 0, K_PLAIN, 0), /* senduipi */
	R(0xc7, 0xc7, P_F3, F_REG, D(7), A_NONE, S_0, I_0, RM, K_PLAIN, 0), /* rdpid */
	R(0xc8, 0xcf, P_ANY, 0, ALL, A_NONE, S_0, I_0, D_OP, K_PLAIN, 0), /* bswap */
	SSE_R(0xd0, 0xd0, P_66 | P_F2, S_16),
	MMX_R(0xd1, 0xd5),
	R(0xd6, 0xd6, P_66, F_M, ALL, A_W, S_8, I_0, 0, K_PLAIN, 0), /* movq */
	R(0xd6, 0xd6, P_F3 | P_F2, F_REG, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, 0),
	R(0xd7, 0xd7, P_N6, F_REG, ALL, A_NONE, S_0, I_0, REG, K_PLAIN, 0), /* pmovmskb */
	MMX_R(0xd8, 0xe5),
	SSE_R(0xe6, 0xe6, P_66 | P_F2, S_16), SSE_R(0xe6, 0xe6, P_F3, S_8),
	R(0xe7, 0xe7, P_NP, F_MEM, ALL, A_W, S_8, I_0, 0, K_PLAIN, 0), /* movntq, movntdq */
	R(0xe7, 0xe7, P_66, F_MEM, ALL, A_W, S_16, I_0, 0, K_PLAIN, 0),
	MMX_R(0xe8, 0xef),
	R(0xf0, 0xf0, P_F2, F_MEM, ALL, A_R, S_16, I_0, 0, K_PLAIN, 0), /* lddqu */
	MMX_R(0xf1, 0xf6),
	R(0xf7, 0xf7, P_NP, F_REG, ALL, A_W, S_8, I_0, 0, K_MASKMOV, 0),
	R(0xf7, 0xf7, P_66, F_REG, ALL, A_W, S_16, I_0, 0, K_MASKMOV, 0),
	MMX_R(0xf8, 0xfe),
};

static const struct x86_row map_0f38[] = {
	MMX_R(0x00, 0x0b),
	SSE_R(0x10, 0x10, P_66, S_16), /* pblendvb */
	SSE_R(0x14, 0x15, P_66, S_16),
	R(0x17, 0x17, P_66, F_M, ALL, A_R, S_16, I_0, 0, K_PLAIN, FL), /* ptest */
	MMX_R(0x1c, 0x1e),
	SSE_R(0x20, 0x20, P_66, S_8), SSE_R(0x21, 0x21, P_66, S_4), SSE_R(0x22, 0x22, P_66, S_2), /* pmovsx */
	SSE_R(0x23, 0x23, P_66, S_8), SSE_R(0x24, 0x24, P_66, S_4), SSE_R(0x25, 0x25, P_66, S_8),
	SSE_R(0x28, 0x29, P_66, S_16),
	R(0x2a, 0x2a, P_66, F_MEM, ALL, A_R, S_16, I_0, 0, K_PLAIN, 0), /* movntdqa */
	SSE_R(0x2b, 0x2b, P_66, S_16),
	SSE_R(0x30, 0x30, P_66, S_8), SSE_R(0x31, 0x31, P_66, S_4), SSE_R(0x32, 0x32, P_66, S_2), /* pmovzx */
	SSE_R(0x33, 0x33, P_66, S_8), SSE_R(0x34, 0x34, P_66, S_4), SSE_R(0x35, 0x35, P_66, S_8),
	SSE_R(0x37, 0x41, P_66, S_16),
	SSE_R(0xc8, 0xcd, P_NP, S_16), /* sha */
	SSE_R(0xcf, 0xcf, P_66, S_16), /* gf2p8mulb */
	R(0xd8, 0xd8, P_F3, F_MEM, D(0) | D(1), A_R, S_48, I_0, 0, K_PLAIN, FL), /* key locker, wide */
	R(0xd8, 0xd8, P_F3, F_MEM, D(2) | D(3), A_R, S_64, I_0, 0, K_PLAIN, FL),
	SSE_R(0xdb, 0xdf, P_66, S_16), /* aes */
	R(0xdc, 0xdd, P_F3, F_MEM, ALL, A_R, S_48, I_0, 0, K_PLAIN, FL), /* aesenc128kl, aesdec128kl */
	R(0xdc, 0xdc, P_F3, F_REG, ALL, A_NONE, S_0, I_0, 0, K_PLAIN, FL), /* loadiwkey */
	R(0xde, 0xdf, P_F3, F_MEM, ALL, A_R, S_64, I_0, 0, K_PLAIN, FL),
	R(0xf0, 0xf0, P_N6, F_MEM, ALL, A_R, S_V, I_0, REG, K_PLAIN, 0), /* movbe */
	R(0xf0, 0xf0, P_F2, F_M, ALL, A_R, S_1, I_0, REG, K_PLAIN, 0), /* crc32 */
	R(0xf1, 0xf1, P_N6, F_MEM, ALL, A_W, S_V, I_0, 0, K_PLAIN, 0),
	R(0xf1, 0xf1, P_F2, F_M, ALL, A_R, S_V, I_0, REG, K_PLAIN, 0),
	R(0xf5, 0xf5, P_66, F_MEM, ALL, A_W, S_Y, I_0, 0, K_PLAIN, 0), /* wruss */
	R(0xf6, 0xf6, P_NP, F_MEM, ALL, A_W, S_Y, I_0, 0, K_PLAIN, 0), /* wrss */
	R(0xf6, 0xf6, P_66 | P_F3, F_M, ALL, A_R, S_Y, I_0, REG, K_PLAIN, FL), /* adcx, adox */
	R(0xf8, 0xf8, P_66, F_MEM, ALL, A_R, S_64, I_0, 0, K_MOVDIR, 0), /* movdir64b */
	R(0xf8, 0xf8, P_F3 | P_F2, F_MEM, ALL, A_R, S_64, I_0, 0, K_MOVDIR, FL), /* enqcmds, enqcmd */
	R(0xf9, 0xf9, P_NP, F_MEM, ALL, A_W, S_Y, I_0, 0, K_PLAIN, 0), /* movdiri */
	R(0xfa, 0xfb, P_F3, F_REG, ALL, A_NONE, S_0, I_0, REG, K_PLAIN, FL), /* encodekey */
	R(0xfc, 0xfc, P_ANY, F_MEM, ALL, A_RW, S_Y, I_0, 0, K_PLAIN, 0), /* aadd, aand, aor, axor */
};

#define SSE_RI(lo, hi, pfx, size) R(lo, hi, pfx, F_M, ALL, A_R, size, I_B, 0, K_PLAIN, 0)

static const struct x86_row map_0f3a[] = {
	SSE_RI(0x08, 0x09, P_66, S_16), SSE_RI(0x0a, 0x0a, P_66, S_4), SSE_RI(0x0b, 0x0b, P_66, S_8), /* round */
	SSE_RI(0x0c, 0x0e, P_66, S_16),
	SSE_RI(0x0f, 0x0f, P_NP, S_8), SSE_RI(0x0f, 0x0f, P_66, S_16), /* palignr */
	R(0x14, 0x14, P_66, F_M, ALL, A_W, S_1, I_B, RM, K_PLAIN, 0), /* pextr */
	R(0x15, 0x15, P_66, F_M, ALL, A_W, S_2, I_B, RM, K_PLAIN, 0),
	R(0x16, 0x16, P_66, F_M, ALL, A_W, S_Y, I_B, RM, K_PLAIN, 0),
	R(0x17, 0x17, P_66, F_M, ALL, A_W, S_4, I_B, RM, K_PLAIN, 0),
	SSE_RI(0x20, 0x20, P_66, S_1), SSE_RI(0x21, 0x21, P_66, S_4), SSE_RI(0x22, 0x22, P_66, S_Y), /* insert */
	SSE_RI(0x40, 0x42, P_66, S_16),
	SSE_RI(0x44, 0x44, P_66, S_16), /* pclmulqdq */
	R(0x60, 0x60, P_66, F_M, ALL, A_R, S_16, I_B, 0, K_PLAIN, FL), /* pcmpestrm */
	R(0x61, 0x61, P_66, F_M, ALL, A_R, S_16, I_B, 0, K_PLAIN, CX | FL),
	R(0x62, 0x62, P_66, F_M, ALL, A_R, S_16, I_B, 0, K_PLAIN, FL),
	R(0x63, 0x63, P_66, F_M, ALL, A_R, S_16, I_B, 0, K_PLAIN, CX | FL),
	SSE_RI(0xcc, 0xcc, P_NP, S_16), /* sha1rnds4 */
	SSE_RI(0xce, 0xcf, P_66, S_16), /* gf2p8affine */
	SSE_RI(0xdf, 0xdf, P_66, S_16), /* aeskeygenassist */
};
/* clang-format on */

#define TABLE(t)                                                                                   \
	{                                                                                          \
		t, sizeof(t) / sizeof((t)[0])                                                      \
	}

const struct x86_table da_x86_legacy[MAP_NR] = {
	[MAP_1B] = TABLE(one_byte),
	[MAP_0F] = TABLE(map_0f),
	[MAP_0F38] = TABLE(map_0f38),
	[MAP_0F3A] = TABLE(map_0f3a),
};
