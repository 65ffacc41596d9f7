/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What VEX and EVEX encoded instructions do to memory and to the general registers, by opcode map. Only
 * data, as insn_x86_legacy.c.
 *
 * The size column is the tuple type of the SDM: it gives the bytes accessed, the element of an EVEX
 * broadcast, and N of the compressed displacement disp8*N. An opcode that is not here stays undecoded:
 * without its tuple the address would be a guess. Left out: FMA4, XOP, Knights Corner and Knights Mill
 * instructions, AVX10.2 and APX.
 */
#include "insn_x86.h"

/* clang-format off */
enum {
	ALL = 0xff,
	CX = 1 << XR_CX, FL = 1 << XR_FLAGS,
	V = E_VEX, E = E_EVEX, VE = E_BOTH,
	P_66F3 = P_66 | P_F3
};

#define D(n) (1 << (n))

/*      first last prefixes encodings W form digits access size immediate dest implicit writes */
#define X(lo, hi, pfx, enc, w, form, digits, acc, size, imm, dest, regs) \
	{ lo, hi, pfx, form, digits, ALL, acc, size, imm, dest, K_PLAIN, enc, w, regs }
/* The common cases: reads its operand; the same with an immediate; stores; stores, memory form only. */
#define RD(lo, hi, pfx, enc, w, size) X(lo, hi, pfx, enc, w, F_M, ALL, A_R, size, I_0, 0, 0)
#define RI(lo, hi, pfx, enc, w, size) X(lo, hi, pfx, enc, w, F_M, ALL, A_R, size, I_B, 0, 0)
#define ST(lo, hi, pfx, enc, w, size) X(lo, hi, pfx, enc, w, F_M, ALL, A_W, size, I_0, 0, 0)
#define SM(lo, hi, pfx, enc, w, size) X(lo, hi, pfx, enc, w, F_MEM, ALL, A_W, size, I_0, 0, 0)
#define RM(lo, hi, pfx, enc, w, size) X(lo, hi, pfx, enc, w, F_MEM, ALL, A_R, size, I_0, 0, 0)
/* Register form only. */
#define RG(lo, hi, pfx, enc, w, imm, dest, regs) X(lo, hi, pfx, enc, w, F_REG, ALL, A_NONE, S_0, imm, dest, regs)
/* Packed single, packed double, scalar single, scalar double. */
#define FP4(lo, hi) \
	RD(lo, hi, P_NP, VE, W_IG0, S_FV4), RD(lo, hi, P_66, VE, W_IG1, S_FV8), \
	RD(lo, hi, P_F3, VE, W_IG0, S_4), RD(lo, hi, P_F2, VE, W_IG1, S_8)
#define FP2(lo, hi) RD(lo, hi, P_NP, VE, W_IG0, S_FV4), RD(lo, hi, P_66, VE, W_IG1, S_FV8)

static const struct x86_row map_0f[] = {
	RD(0x10, 0x10, P_NP, VE, W_IG0, S_FVM), RD(0x10, 0x10, P_66, VE, W_IG1, S_FVM), /* movups, movupd */
	RD(0x10, 0x10, P_F3, VE, W_IG0, S_4), RD(0x10, 0x10, P_F2, VE, W_IG1, S_8),
	ST(0x11, 0x11, P_NP, VE, W_IG0, S_FVM), ST(0x11, 0x11, P_66, VE, W_IG1, S_FVM),
	ST(0x11, 0x11, P_F3, VE, W_IG0, S_4), ST(0x11, 0x11, P_F2, VE, W_IG1, S_8),
	RD(0x12, 0x12, P_NP, VE, W_IG0, S_8), RM(0x12, 0x12, P_66, VE, W_IG1, S_8), /* movlps, movlpd */
	RD(0x12, 0x12, P_F3, VE, W_IG0, S_FVM), RD(0x12, 0x12, P_F2, VE, W_IG1, S_DUP),
	SM(0x13, 0x13, P_NP, VE, W_IG0, S_8), SM(0x13, 0x13, P_66, VE, W_IG1, S_8),
	FP2(0x14, 0x15),
	RD(0x16, 0x16, P_NP, VE, W_IG0, S_8), RM(0x16, 0x16, P_66, VE, W_IG1, S_8),
	RD(0x16, 0x16, P_F3, VE, W_IG0, S_FVM),
	SM(0x17, 0x17, P_NP, VE, W_IG0, S_8), SM(0x17, 0x17, P_66, VE, W_IG1, S_8),
	RD(0x28, 0x28, P_NP, VE, W_IG0, S_FVM), RD(0x28, 0x28, P_66, VE, W_IG1, S_FVM), /* movaps */
	ST(0x29, 0x29, P_NP, VE, W_IG0, S_FVM), ST(0x29, 0x29, P_66, VE, W_IG1, S_FVM),
	RD(0x2a, 0x2a, P_F3 | P_F2, VE, W_ANY, S_Y), /* cvtsi2ss */
	SM(0x2b, 0x2b, P_NP, VE, W_IG0, S_FVM), SM(0x2b, 0x2b, P_66, VE, W_IG1, S_FVM),
	X(0x2c, 0x2d, P_F3, VE, W_ANY, F_M, ALL, A_R, S_4, I_0, D_REG, 0),
	X(0x2c, 0x2d, P_F2, VE, W_ANY, F_M, ALL, A_R, S_8, I_0, D_REG, 0),
	X(0x2e, 0x2f, P_NP, VE, W_IG0, F_M, ALL, A_R, S_4, I_0, 0, FL),
	X(0x2e, 0x2f, P_66, VE, W_IG1, F_M, ALL, A_R, S_8, I_0, 0, FL),
	RG(0x41, 0x42, P_N6, V, W_ANY, I_0, 0, 0), RG(0x44, 0x47, P_N6, V, W_ANY, I_0, 0, 0), /* k masks */
	RG(0x4a, 0x4b, P_N6, V, W_ANY, I_0, 0, 0),
	RG(0x50, 0x50, P_N6, V, W_ANY, I_0, D_REG, 0), /* movmskps */
	FP4(0x51, 0x51),
	RD(0x52, 0x53, P_NP, V, W_ANY, S_FVM), RD(0x52, 0x53, P_F3, V, W_ANY, S_4),
	FP2(0x54, 0x57),
	FP4(0x58, 0x59),
	RD(0x5a, 0x5a, P_NP, VE, W_IG0, S_HV4), RD(0x5a, 0x5a, P_66, VE, W_IG1, S_FV8), /* cvtps2pd */
	RD(0x5a, 0x5a, P_F3, VE, W_IG0, S_4), RD(0x5a, 0x5a, P_F2, VE, W_IG1, S_8),
	RD(0x5b, 0x5b, P_NP, V, W_ANY, S_FVM), RD(0x5b, 0x5b, P_NP, E, W_ANY, S_FV),
	RD(0x5b, 0x5b, P_66F3, VE, W_IG0, S_FV4),
	FP4(0x5c, 0x5f),
	RD(0x60, 0x61, P_66, VE, W_ANY, S_FVM), RD(0x62, 0x62, P_66, VE, W_IG0, S_FV4), /* punpckl */
	RD(0x63, 0x65, P_66, VE, W_ANY, S_FVM), RD(0x66, 0x66, P_66, VE, W_IG0, S_FV4),
	RD(0x67, 0x69, P_66, VE, W_ANY, S_FVM), RD(0x6a, 0x6b, P_66, VE, W_IG0, S_FV4),
	RD(0x6c, 0x6d, P_66, VE, W_IG1, S_FV8),
	RD(0x6e, 0x6e, P_66, VE, W_ANY, S_Y),
	RD(0x6f, 0x6f, P_66F3, VE, W_ANY, S_FVM), RD(0x6f, 0x6f, P_F2, E, W_ANY, S_FVM),
	RI(0x70, 0x70, P_66, VE, W_IG0, S_FV4), RI(0x70, 0x70, P_F3 | P_F2, VE, W_ANY, S_FVM),
	X(0x71, 0x71, P_66, V, W_ANY, F_REG, D(2) | D(4) | D(6), A_NONE, S_0, I_B, 0, 0), /* shifts */
	X(0x71, 0x71, P_66, E, W_ANY, F_M, D(2) | D(4) | D(6), A_R, S_FVM, I_B, 0, 0),
	X(0x72, 0x72, P_66, V, W_ANY, F_REG, D(2) | D(4) | D(6), A_NONE, S_0, I_B, 0, 0),
	X(0x72, 0x72, P_66, E, W_ANY, F_M, D(0) | D(1) | D(4), A_R, S_FV, I_B, 0, 0),
	X(0x72, 0x72, P_66, E, W_0, F_M, D(2) | D(6), A_R, S_FV4, I_B, 0, 0),
	X(0x73, 0x73, P_66, V, W_ANY, F_REG, D(2) | D(3) | D(6) | D(7), A_NONE, S_0, I_B, 0, 0),
	X(0x73, 0x73, P_66, E, W_1, F_M, D(2) | D(6), A_R, S_FV8, I_B, 0, 0),
	X(0x73, 0x73, P_66, E, W_ANY, F_M, D(3) | D(7), A_R, S_FVM, I_B, 0, 0),
	RD(0x74, 0x75, P_66, VE, W_ANY, S_FVM), RD(0x76, 0x76, P_66, VE, W_IG0, S_FV4),
	X(0x77, 0x77, P_NP, V, W_ANY, 0, ALL, A_NONE, S_0, I_0, 0, 0), /* vzeroupper */
	RD(0x78, 0x79, P_NP, E, W_ANY, S_FV), /* cvt(t)ps2udq, cvt(t)pd2udq */
	RD(0x78, 0x79, P_66, E, W_0, S_HV4), RD(0x78, 0x79, P_66, E, W_1, S_FV8),
	X(0x78, 0x79, P_F3, E, W_ANY, F_M, ALL, A_R, S_4, I_0, D_REG, 0),
	X(0x78, 0x79, P_F2, E, W_ANY, F_M, ALL, A_R, S_8, I_0, D_REG, 0),
	RD(0x7a, 0x7b, P_66, E, W_0, S_HV4), RD(0x7a, 0x7b, P_66, E, W_1, S_FV8), /* cvt(t)ps2qq */
	RD(0x7a, 0x7a, P_F3, E, W_0, S_HV4), RD(0x7a, 0x7a, P_F3, E, W_1, S_FV8), /* cvtudq2pd */
	RD(0x7a, 0x7a, P_F2, E, W_ANY, S_FV),
	RD(0x7b, 0x7b, P_F3 | P_F2, E, W_ANY, S_Y), /* cvtusi2ss */
	RD(0x7c, 0x7d, P_66 | P_F2, V, W_ANY, S_FVM), /* hadd */
	X(0x7e, 0x7e, P_66, VE, W_ANY, F_M, ALL, A_W, S_Y, I_0, D_RM, 0), /* movd, movq */
	RD(0x7e, 0x7e, P_F3, VE, W_IG1, S_8),
	ST(0x7f, 0x7f, P_66F3, VE, W_ANY, S_FVM), ST(0x7f, 0x7f, P_F2, E, W_ANY, S_FVM),
	RD(0x90, 0x90, P_NP, V, 1, S_2), RD(0x90, 0x90, P_66, V, 1, S_1), /* kmov */
	RD(0x90, 0x90, P_NP, V, 2, S_8), RD(0x90, 0x90, P_66, V, 2, S_4),
	SM(0x91, 0x91, P_NP, V, 1, S_2), SM(0x91, 0x91, P_66, V, 1, S_1),
	SM(0x91, 0x91, P_NP, V, 2, S_8), SM(0x91, 0x91, P_66, V, 2, S_4),
	RG(0x92, 0x92, P_NP | P_66 | P_F2, V, W_ANY, I_0, 0, 0),
	RG(0x93, 0x93, P_NP | P_66 | P_F2, V, W_ANY, I_0, D_REG, 0),
	RG(0x98, 0x99, P_N6, V, W_ANY, I_0, 0, FL), /* kortest, ktest */
	X(0xae, 0xae, P_NP, V, W_ANY, F_MEM, D(2), A_R, S_4, I_0, 0, 0), /* ldmxcsr */
	X(0xae, 0xae, P_NP, V, W_ANY, F_MEM, D(3), A_W, S_4, I_0, 0, 0),
	RI(0xc2, 0xc2, P_NP, VE, W_IG0, S_FV4), RI(0xc2, 0xc2, P_66, VE, W_IG1, S_FV8), /* cmp */
	RI(0xc2, 0xc2, P_F3, VE, W_IG0, S_4), RI(0xc2, 0xc2, P_F2, VE, W_IG1, S_8),
	RI(0xc4, 0xc4, P_66, VE, W_ANY, S_2), /* pinsrw */
	RG(0xc5, 0xc5, P_66, VE, W_ANY, I_B, D_REG, 0),
	RI(0xc6, 0xc6, P_NP, VE, W_IG0, S_FV4), RI(0xc6, 0xc6, P_66, VE, W_IG1, S_FV8), /* shufps */
	RD(0xd0, 0xd0, P_66 | P_F2, V, W_ANY, S_FVM), /* addsub */
	RD(0xd1, 0xd1, P_66, VE, W_ANY, S_16), RD(0xd2, 0xd2, P_66, VE, W_IG0, S_16), /* shift counts */
	RD(0xd3, 0xd3, P_66, VE, W_IG1, S_16),
	RD(0xd4, 0xd4, P_66, VE, W_IG1, S_FV8), RD(0xd5, 0xd5, P_66, VE, W_ANY, S_FVM),
	ST(0xd6, 0xd6, P_66, VE, W_IG1, S_8), /* movq */
	RG(0xd7, 0xd7, P_66, V, W_ANY, I_0, D_REG, 0), /* pmovmskb */
	RD(0xd8, 0xda, P_66, VE, W_ANY, S_FVM), RD(0xdb, 0xdb, P_66, VE, W_ANY, S_FV),
	RD(0xdc, 0xde, P_66, VE, W_ANY, S_FVM), RD(0xdf, 0xdf, P_66, VE, W_ANY, S_FV),
	RD(0xe0, 0xe0, P_66, VE, W_ANY, S_FVM), RD(0xe1, 0xe2, P_66, VE, W_ANY, S_16),
	RD(0xe3, 0xe5, P_66, VE, W_ANY, S_FVM),
	RD(0xe6, 0xe6, P_66 | P_F2, VE, W_IG1, S_FV8), /* cvtpd2dq */
	RD(0xe6, 0xe6, P_F3, VE, W_IG0, S_HV4), RD(0xe6, 0xe6, P_F3, E, W_1, S_FV8), /* cvtdq2pd, cvtqq2pd */
	SM(0xe7, 0xe7, P_66, VE, W_IG0, S_FVM), /* movntdq */
	RD(0xe8, 0xea, P_66, VE, W_ANY, S_FVM), RD(0xeb, 0xeb, P_66, VE, W_ANY, S_FV),
	RD(0xec, 0xee, P_66, VE, W_ANY, S_FVM), RD(0xef, 0xef, P_66, VE, W_ANY, S_FV),
	RM(0xf0, 0xf0, P_F2, V, W_ANY, S_FVM), /* lddqu */
	RD(0xf1, 0xf1, P_66, VE, W_ANY, S_16), RD(0xf2, 0xf2, P_66, VE, W_IG0, S_16),
	RD(0xf3, 0xf3, P_66, VE, W_IG1, S_16), RD(0xf4, 0xf4, P_66, VE, W_IG1, S_FV8),
	RD(0xf5, 0xf6, P_66, VE, W_ANY, S_FVM),
	{ 0xf7, 0xf7, P_66, F_REG, ALL, ALL, A_W, S_16, I_0, 0, K_MASKMOV, V, W_ANY, 0 },
	RD(0xf8, 0xf9, P_66, VE, W_ANY, S_FVM), RD(0xfa, 0xfa, P_66, VE, W_IG0, S_FV4),
	RD(0xfb, 0xfb, P_66, VE, W_IG1, S_FV8), RD(0xfc, 0xfd, P_66, VE, W_ANY, S_FVM),
	RD(0xfe, 0xfe, P_66, VE, W_IG0, S_FV4),
};

/* Fused multiply-add: packed and scalar alternate from 8 (6, 7 are packed). */
#define FMA(b) \
	RD(b + 6, b + 8, P_66, VE, W_ANY, S_FV), RD(b + 9, b + 9, P_66, VE, W_ANY, S_W), \
	RD(b + 10, b + 10, P_66, VE, W_ANY, S_FV), RD(b + 11, b + 11, P_66, VE, W_ANY, S_W), \
	RD(b + 12, b + 12, P_66, VE, W_ANY, S_FV), RD(b + 13, b + 13, P_66, VE, W_ANY, S_W), \
	RD(b + 14, b + 14, P_66, VE, W_ANY, S_FV), RD(b + 15, b + 15, P_66, VE, W_ANY, S_W)

static const struct x86_row map_0f38[] = {
	RD(0x00, 0x00, P_66, VE, W_ANY, S_FVM), RD(0x01, 0x03, P_66, V, W_ANY, S_FVM),
	RD(0x04, 0x04, P_66, VE, W_ANY, S_FVM), RD(0x05, 0x0a, P_66, V, W_ANY, S_FVM),
	RD(0x0b, 0x0b, P_66, VE, W_ANY, S_FVM), RD(0x0c, 0x0c, P_66, VE, W_0, S_FV4), /* permilps */
	RD(0x0d, 0x0d, P_66, VE, W_IG1, S_FV8),
	X(0x0e, 0x0f, P_66, V, W_ANY, F_M, ALL, A_R, S_FVM, I_0, 0, FL), /* testps */
	RD(0x10, 0x12, P_66, E, W_1, S_FVM), /* psrlvw, psravw, psllvw */
	ST(0x10, 0x10, P_F3, E, W_0, S_HVM), ST(0x11, 0x11, P_F3, E, W_0, S_QVM), /* pmovus */
	ST(0x12, 0x12, P_F3, E, W_0, S_OVM),
	RD(0x13, 0x13, P_66, VE, W_0, S_HVM), ST(0x13, 0x13, P_F3, E, W_0, S_HVM), /* cvtph2ps */
	RD(0x14, 0x15, P_66, E, W_ANY, S_FV), ST(0x14, 0x14, P_F3, E, W_0, S_QVM),
	ST(0x15, 0x15, P_F3, E, W_0, S_HVM),
	RD(0x16, 0x16, P_66, VE, W_ANY, S_FV), /* permps */
	X(0x17, 0x17, P_66, V, W_ANY, F_M, ALL, A_R, S_FVM, I_0, 0, FL), /* ptest */
	RD(0x18, 0x18, P_66, VE, W_0, S_4), RD(0x19, 0x19, P_66, VE, W_ANY, S_8), /* broadcasts */
	RM(0x1a, 0x1a, P_66, VE, W_ANY, S_16), RM(0x1b, 0x1b, P_66, E, W_ANY, S_32),
	RD(0x1c, 0x1d, P_66, VE, W_ANY, S_FVM), RD(0x1e, 0x1e, P_66, VE, W_IG0, S_FV4), /* pabs */
	RD(0x1f, 0x1f, P_66, E, W_1, S_FV8),
	RD(0x20, 0x20, P_66, VE, W_ANY, S_HVM), RD(0x21, 0x21, P_66, VE, W_ANY, S_QVM), /* pmovsx */
	RD(0x22, 0x22, P_66, VE, W_ANY, S_OVM), RD(0x23, 0x23, P_66, VE, W_ANY, S_HVM),
	RD(0x24, 0x24, P_66, VE, W_ANY, S_QVM), RD(0x25, 0x25, P_66, VE, W_IG0, S_HVM),
	ST(0x20, 0x20, P_F3, E, W_0, S_HVM), ST(0x21, 0x21, P_F3, E, W_0, S_QVM), /* pmovs */
	ST(0x22, 0x22, P_F3, E, W_0, S_OVM), ST(0x23, 0x23, P_F3, E, W_0, S_HVM),
	ST(0x24, 0x24, P_F3, E, W_0, S_QVM), ST(0x25, 0x25, P_F3, E, W_0, S_HVM),
	RD(0x26, 0x26, P_66F3, E, W_ANY, S_FVM), RD(0x27, 0x27, P_66F3, E, W_ANY, S_FV), /* ptestm, ptestnm */
	RD(0x28, 0x29, P_66, VE, W_IG1, S_FV8), RG(0x28, 0x29, P_F3, E, W_ANY, I_0, 0, 0), /* pmuldq, pmovm2b */
	RM(0x2a, 0x2a, P_66, VE, W_IG0, S_FVM), RG(0x2a, 0x2a, P_F3, E, W_1, I_0, 0, 0), /* movntdqa */
	RD(0x2b, 0x2b, P_66, VE, W_IG0, S_FV4), /* packusdw */
	RM(0x2c, 0x2d, P_66, V, W_0, S_MVM), RD(0x2c, 0x2c, P_66, E, W_ANY, S_FV), /* maskmov, scalef */
	RD(0x2d, 0x2d, P_66, E, W_ANY, S_W), SM(0x2e, 0x2f, P_66, V, W_0, S_MVM),
	RD(0x30, 0x30, P_66, VE, W_ANY, S_HVM), RD(0x31, 0x31, P_66, VE, W_ANY, S_QVM), /* pmovzx */
	RD(0x32, 0x32, P_66, VE, W_ANY, S_OVM), RD(0x33, 0x33, P_66, VE, W_ANY, S_HVM),
	RD(0x34, 0x34, P_66, VE, W_ANY, S_QVM), RD(0x35, 0x35, P_66, VE, W_IG0, S_HVM),
	ST(0x30, 0x30, P_F3, E, W_0, S_HVM), ST(0x31, 0x31, P_F3, E, W_0, S_QVM), /* pmov */
	ST(0x32, 0x32, P_F3, E, W_0, S_OVM), ST(0x33, 0x33, P_F3, E, W_0, S_HVM),
	ST(0x34, 0x34, P_F3, E, W_0, S_QVM), ST(0x35, 0x35, P_F3, E, W_0, S_HVM),
	RD(0x36, 0x36, P_66, VE, W_ANY, S_FV), RD(0x37, 0x37, P_66, VE, W_IG1, S_FV8), /* permd, pcmpgtq */
	RD(0x38, 0x38, P_66, VE, W_ANY, S_FVM), RD(0x39, 0x39, P_66, VE, W_ANY, S_FV), /* pmin, pmax */
	RG(0x38, 0x39, P_F3, E, W_ANY, I_0, 0, 0),
	RD(0x3a, 0x3a, P_66, VE, W_ANY, S_FVM), RG(0x3a, 0x3a, P_F3, E, W_0, I_0, 0, 0),
	RD(0x3b, 0x3b, P_66, VE, W_ANY, S_FV), RD(0x3c, 0x3c, P_66, VE, W_ANY, S_FVM),
	RD(0x3d, 0x3d, P_66, VE, W_ANY, S_FV), RD(0x3e, 0x3e, P_66, VE, W_ANY, S_FVM),
	RD(0x3f, 0x3f, P_66, VE, W_ANY, S_FV),
	RD(0x40, 0x40, P_66, VE, W_ANY, S_FV), RD(0x41, 0x41, P_66, V, W_ANY, S_FVM), /* pmulld, phminposuw */
	RD(0x42, 0x42, P_66, E, W_ANY, S_FV), RD(0x43, 0x43, P_66, E, W_ANY, S_W), /* getexp */
	RD(0x44, 0x44, P_66, E, W_ANY, S_FV), RD(0x45, 0x45, P_66, VE, W_ANY, S_FV), /* plzcnt, psrlv */
	RD(0x46, 0x46, P_66, VE, 1 | 12, S_FV), RD(0x47, 0x47, P_66, VE, W_ANY, S_FV),
	RM(0x49, 0x49, P_NP, V, W_0, S_64), SM(0x49, 0x49, P_66, V, W_0, S_64), /* ldtilecfg, sttilecfg */
	RG(0x49, 0x49, P_NP | P_F2, V, W_0, I_0, 0, 0), /* tilerelease, tilezero */
	X(0x4b, 0x4b, P_66 | P_F3 | P_F2, V, W_0, F_MEM, ALL, A_VSIB, S_0, I_0, 0, 0), /* tile load, store */
	RD(0x4c, 0x4c, P_66, E, W_ANY, S_FV), RD(0x4d, 0x4d, P_66, E, W_ANY, S_W), /* rcp14 */
	RD(0x4e, 0x4e, P_66, E, W_ANY, S_FV), RD(0x4f, 0x4f, P_66, E, W_ANY, S_W),
	RD(0x50, 0x53, P_66, VE, W_0, S_FV4), RD(0x50, 0x51, P_NP | P_F3 | P_F2, V, W_0, S_FVM), /* dot products */
	RD(0x52, 0x52, P_F3, E, W_0, S_FV4),
	RD(0x54, 0x54, P_66, E, W_ANY, S_FVM), RD(0x55, 0x55, P_66, E, W_ANY, S_FV), /* popcnt */
	RD(0x58, 0x58, P_66, VE, W_0, S_4), RD(0x59, 0x59, P_66, VE, W_ANY, S_8), /* broadcasts */
	RM(0x5a, 0x5a, P_66, VE, W_ANY, S_16), RM(0x5b, 0x5b, P_66, E, W_ANY, S_32),
	RG(0x5c, 0x5c, P_F3 | P_F2, V, W_0, I_0, 0, 0), RG(0x5e, 0x5e, P_ANY, V, W_0, I_0, 0, 0), /* tiles */
	RD(0x62, 0x62, P_66, E, W_0, S_X1), RD(0x62, 0x62, P_66, E, W_1, S_X2), /* pexpandb, pexpandw */
	ST(0x63, 0x63, P_66, E, W_0, S_X1), ST(0x63, 0x63, P_66, E, W_1, S_X2),
	RD(0x64, 0x65, P_66, E, W_ANY, S_FV), RD(0x66, 0x66, P_66, E, W_ANY, S_FVM), /* blendm */
	RD(0x68, 0x68, P_F2, E, W_ANY, S_FV), /* p2intersect */
	RD(0x70, 0x70, P_66, E, W_1, S_FVM), RD(0x71, 0x71, P_66, E, W_ANY, S_FV), /* pshldv */
	RD(0x72, 0x72, P_66, E, W_1, S_FVM), RD(0x72, 0x72, P_F3, VE, W_0, S_FV4), /* pshrdvw, cvtneps2bf16 */
	RD(0x72, 0x72, P_F2, E, W_0, S_FV4), RD(0x73, 0x73, P_66, E, W_ANY, S_FV),
	RD(0x75, 0x75, P_66, E, W_ANY, S_FVM), RD(0x76, 0x77, P_66, E, W_ANY, S_FV), /* permi2 */
	RD(0x78, 0x78, P_66, VE, W_0, S_1), RD(0x79, 0x79, P_66, VE, W_0, S_2), /* broadcasts */
	RG(0x7a, 0x7c, P_66, E, W_ANY, I_0, 0, 0),
	RD(0x7d, 0x7d, P_66, E, W_ANY, S_FVM), RD(0x7e, 0x7f, P_66, E, W_ANY, S_FV), /* permt2 */
	RD(0x83, 0x83, P_66, E, W_1, S_FV8), /* pmultishiftqb */
	RD(0x88, 0x89, P_66, E, W_ANY, S_XW), ST(0x8a, 0x8b, P_66, E, W_ANY, S_XW), /* expand, compress */
	RM(0x8c, 0x8c, P_66, V, W_ANY, S_MVM), RD(0x8d, 0x8d, P_66, E, W_ANY, S_FVM), /* pmaskmov, permb */
	SM(0x8e, 0x8e, P_66, V, W_ANY, S_MVM), RD(0x8f, 0x8f, P_66, E, W_0, S_FVM),
	X(0x90, 0x93, P_66, VE, W_ANY, F_MEM, ALL, A_VSIB, S_0, I_0, 0, 0), /* gather */
	FMA(0x90),
	X(0xa0, 0xa3, P_66, E, W_ANY, F_MEM, ALL, A_VSIB, S_0, I_0, 0, 0), /* scatter */
	FMA(0xa0),
	RM(0xb0, 0xb0, P_ANY, V, W_0, S_FVM), RM(0xb1, 0xb1, P_66F3, V, W_0, S_2), /* bf16 and half to single */
	RD(0xb4, 0xb5, P_66, VE, W_1, S_FV8), /* pmadd52 */
	FMA(0xb0),
	RD(0xc4, 0xc4, P_66, E, W_ANY, S_FV), /* pconflict */
	X(0xc6, 0xc7, P_66, E, W_ANY, F_MEM, D(1) | D(2) | D(5) | D(6), A_PF, S_0, I_0, 0, 0),
	RD(0xc8, 0xc8, P_66, E, W_ANY, S_FV), RD(0xca, 0xca, P_66, E, W_ANY, S_FV), /* exp2, rcp28, rsqrt28 */
	RD(0xcb, 0xcb, P_66, E, W_ANY, S_W), RG(0xcb, 0xcd, P_F2, V, W_0, I_0, 0, 0), /* sha512 */
	RD(0xcc, 0xcc, P_66, E, W_ANY, S_FV), RD(0xcd, 0xcd, P_66, E, W_ANY, S_W),
	RD(0xcf, 0xcf, P_66, VE, W_0, S_FVM), /* gf2p8mulb */
	RD(0xd2, 0xd3, P_NP | P_66 | P_F3, V, W_0, S_FVM), /* vnni int16 */
	RD(0xda, 0xda, P_ANY, V, W_0, S_FVM), /* sm3, sm4 */
	RD(0xdb, 0xdb, P_66, V, W_ANY, S_FVM), RD(0xdc, 0xdf, P_66, VE, W_ANY, S_FVM), /* aes */
	X(0xe0, 0xef, P_66, V, W_ANY, F_MEM, ALL, A_RW, S_Y, I_0, D_REG, FL), /* cmpccxadd */
	X(0xf2, 0xf2, P_NP, V, W_ANY, F_M, ALL, A_R, S_Y, I_0, D_REG, FL), /* andn */
	X(0xf3, 0xf3, P_NP, V, W_ANY, F_M, D(1) | D(2) | D(3), A_R, S_Y, I_0, D_VVVV, FL), /* blsr ... */
	X(0xf5, 0xf5, P_NP, V, W_ANY, F_M, ALL, A_R, S_Y, I_0, D_REG, FL), /* bzhi */
	X(0xf5, 0xf5, P_F3 | P_F2, V, W_ANY, F_M, ALL, A_R, S_Y, I_0, D_REG, 0), /* pext, pdep */
	X(0xf6, 0xf6, P_F2, V, W_ANY, F_M, ALL, A_R, S_Y, I_0, D_REG | D_VVVV, 0), /* mulx */
	X(0xf7, 0xf7, P_NP, V, W_ANY, F_M, ALL, A_R, S_Y, I_0, D_REG, FL), /* bextr */
	X(0xf7, 0xf7, P_66 | P_F3 | P_F2, V, W_ANY, F_M, ALL, A_R, S_Y, I_0, D_REG, 0), /* shlx ... */
};

static const struct x86_row map_0f3a[] = {
	RI(0x00, 0x01, P_66, VE, W_1, S_FV8), RI(0x02, 0x02, P_66, V, W_0, S_FVM), /* permq, pblendd */
	RI(0x03, 0x03, P_66, E, W_ANY, S_FV), RI(0x04, 0x04, P_66, VE, W_0, S_FV4), /* valign, permilps */
	RI(0x05, 0x05, P_66, VE, W_IG1, S_FV8), RI(0x06, 0x06, P_66, V, W_0, S_FVM),
	RI(0x08, 0x08, P_66, VE, W_IG0, S_FV4), RI(0x08, 0x08, P_NP, E, W_0, S_FV2), /* round, rndscale */
	RI(0x09, 0x09, P_66, VE, W_IG1, S_FV8),
	RI(0x0a, 0x0a, P_66, VE, W_IG0, S_4), RI(0x0a, 0x0a, P_NP, E, W_0, S_2),
	RI(0x0b, 0x0b, P_66, VE, W_IG1, S_8),
	RI(0x0c, 0x0e, P_66, V, W_ANY, S_FVM), RI(0x0f, 0x0f, P_66, VE, W_ANY, S_FVM), /* blend, palignr */
	X(0x14, 0x14, P_66, VE, W_ANY, F_M, ALL, A_W, S_1, I_B, D_RM, 0), /* pextr */
	X(0x15, 0x15, P_66, VE, W_ANY, F_M, ALL, A_W, S_2, I_B, D_RM, 0),
	X(0x16, 0x16, P_66, VE, W_ANY, F_M, ALL, A_W, S_Y, I_B, D_RM, 0),
	X(0x17, 0x17, P_66, VE, W_ANY, F_M, ALL, A_W, S_4, I_B, D_RM, 0),
	RI(0x18, 0x18, P_66, VE, W_ANY, S_16), /* insertf128 */
	X(0x19, 0x19, P_66, VE, W_ANY, F_M, ALL, A_W, S_16, I_B, 0, 0),
	RI(0x1a, 0x1a, P_66, E, W_ANY, S_32), X(0x1b, 0x1b, P_66, E, W_ANY, F_M, ALL, A_W, S_32, I_B, 0, 0),
	X(0x1d, 0x1d, P_66, VE, W_0, F_M, ALL, A_W, S_HVM, I_B, 0, 0), /* cvtps2ph */
	RI(0x1e, 0x1f, P_66, E, W_ANY, S_FV), /* pcmpud, pcmpd */
	RI(0x20, 0x20, P_66, VE, W_ANY, S_1), RI(0x21, 0x21, P_66, VE, W_IG0, S_4), /* pinsr, insertps */
	RI(0x22, 0x22, P_66, VE, W_ANY, S_Y),
	RI(0x23, 0x23, P_66, E, W_ANY, S_FV), RI(0x25, 0x25, P_66, E, W_ANY, S_FV), /* shuff32x4, pternlog */
	RI(0x26, 0x26, P_66, E, W_ANY, S_FV), RI(0x26, 0x26, P_NP, E, W_0, S_FV2), /* getmant */
	RI(0x27, 0x27, P_66, E, W_ANY, S_W), RI(0x27, 0x27, P_NP, E, W_0, S_2),
	RG(0x30, 0x33, P_66, V, W_ANY, I_B, 0, 0), /* kshift */
	RI(0x38, 0x38, P_66, VE, W_ANY, S_16), X(0x39, 0x39, P_66, VE, W_ANY, F_M, ALL, A_W, S_16, I_B, 0, 0),
	RI(0x3a, 0x3a, P_66, E, W_ANY, S_32), X(0x3b, 0x3b, P_66, E, W_ANY, F_M, ALL, A_W, S_32, I_B, 0, 0),
	RI(0x3e, 0x3f, P_66, E, W_ANY, S_FVM), /* pcmpub, pcmpb */
	RI(0x40, 0x41, P_66, V, W_ANY, S_FVM), RI(0x42, 0x42, P_66, VE, W_IG0, S_FVM), /* dpps, mpsadbw */
	RI(0x43, 0x43, P_66, E, W_ANY, S_FV), RI(0x44, 0x44, P_66, VE, W_ANY, S_FVM), /* pclmulqdq */
	RI(0x46, 0x46, P_66, V, W_0, S_FVM), RI(0x4a, 0x4c, P_66, V, W_0, S_FVM), /* perm2i128, blendv */
	RI(0x50, 0x50, P_66, E, W_ANY, S_FV), RI(0x51, 0x51, P_66, E, W_ANY, S_W), /* range */
	RI(0x54, 0x54, P_66, E, W_ANY, S_FV), RI(0x55, 0x55, P_66, E, W_ANY, S_W), /* fixupimm */
	RI(0x56, 0x56, P_66, E, W_ANY, S_FV), RI(0x56, 0x56, P_NP, E, W_0, S_FV2), /* reduce */
	RI(0x57, 0x57, P_66, E, W_ANY, S_W), RI(0x57, 0x57, P_NP, E, W_0, S_2),
	X(0x60, 0x60, P_66, V, W_ANY, F_M, ALL, A_R, S_16, I_B, 0, FL), /* pcmpestrm ... */
	X(0x61, 0x61, P_66, V, W_ANY, F_M, ALL, A_R, S_16, I_B, 0, CX | FL),
	X(0x62, 0x62, P_66, V, W_ANY, F_M, ALL, A_R, S_16, I_B, 0, FL),
	X(0x63, 0x63, P_66, V, W_ANY, F_M, ALL, A_R, S_16, I_B, 0, CX | FL),
	RI(0x66, 0x66, P_66, E, W_ANY, S_FV), RI(0x66, 0x66, P_NP, E, W_0, S_FV2), /* fpclass */
	RI(0x67, 0x67, P_66, E, W_ANY, S_W), RI(0x67, 0x67, P_NP, E, W_0, S_2),
	RI(0x70, 0x70, P_66, E, W_1, S_FVM), RI(0x71, 0x71, P_66, E, W_ANY, S_FV), /* pshld, pshrd */
	RI(0x72, 0x72, P_66, E, W_1, S_FVM), RI(0x73, 0x73, P_66, E, W_ANY, S_FV),
	RI(0xc2, 0xc2, P_NP, E, W_0, S_FV2), RI(0xc2, 0xc2, P_F3, E, W_0, S_2), /* cmpph */
	RI(0xce, 0xcf, P_66, VE, W_1, S_FV8), /* gf2p8affine */
	RI(0xde, 0xdf, P_66, V, W_ANY, S_16), /* sm3rnds2, aeskeygenassist */
	X(0xf0, 0xf0, P_F2, V, W_ANY, F_M, ALL, A_R, S_Y, I_B, D_REG, 0), /* rorx */
};

/* Half precision: AVX512-FP16. */
static const struct x86_row map_5[] = {
	RD(0x10, 0x10, P_F3, E, W_0, S_2), ST(0x11, 0x11, P_F3, E, W_0, S_2),
	RD(0x1d, 0x1d, P_NP, E, W_0, S_4), RD(0x1d, 0x1d, P_66, E, W_0, S_FV4), /* cvtss2sh, cvtps2phx */
	RD(0x2a, 0x2a, P_F3, E, W_ANY, S_Y),
	X(0x2c, 0x2d, P_F3, E, W_ANY, F_M, ALL, A_R, S_2, I_0, D_REG, 0),
	X(0x2e, 0x2f, P_NP, E, W_0, F_M, ALL, A_R, S_2, I_0, 0, FL),
	RD(0x51, 0x51, P_NP, E, W_0, S_FV2), RD(0x51, 0x51, P_F3, E, W_0, S_2),
	RD(0x58, 0x59, P_NP, E, W_0, S_FV2), RD(0x58, 0x59, P_F3, E, W_0, S_2),
	RD(0x5a, 0x5a, P_NP, E, W_0, S_QV2), RD(0x5a, 0x5a, P_66, E, W_1, S_FV8), /* cvtph2pd, cvtpd2ph */
	RD(0x5a, 0x5a, P_F3, E, W_0, S_2), RD(0x5a, 0x5a, P_F2, E, W_1, S_8),
	RD(0x5b, 0x5b, P_NP, E, W_ANY, S_FV), RD(0x5b, 0x5b, P_66F3, E, W_0, S_HV2), /* cvtdq2ph, cvtph2dq */
	RD(0x5c, 0x5f, P_NP, E, W_0, S_FV2), RD(0x5c, 0x5f, P_F3, E, W_0, S_2),
	RD(0x6e, 0x6e, P_66, E, W_ANY, S_2),
	RD(0x78, 0x79, P_NP, E, W_0, S_HV2), RD(0x78, 0x79, P_66, E, W_0, S_QV2), /* cvt(t)ph2udq, 2uqq */
	X(0x78, 0x79, P_F3, E, W_ANY, F_M, ALL, A_R, S_2, I_0, D_REG, 0),
	RD(0x7a, 0x7b, P_66, E, W_0, S_QV2), RD(0x7a, 0x7a, P_F2, E, W_ANY, S_FV),
	RD(0x7b, 0x7b, P_F3, E, W_ANY, S_Y), /* cvtusi2sh */
	RD(0x7c, 0x7c, P_N6, E, W_0, S_FV2), RD(0x7d, 0x7d, P_ANY, E, W_0, S_FV2),
	X(0x7e, 0x7e, P_66, E, W_ANY, F_M, ALL, A_W, S_2, I_0, D_RM, 0),
};

#define FMAH(b) \
	RD(b + 6, b + 8, P_66, E, W_0, S_FV2), RD(b + 9, b + 9, P_66, E, W_0, S_2), \
	RD(b + 10, b + 10, P_66, E, W_0, S_FV2), RD(b + 11, b + 11, P_66, E, W_0, S_2), \
	RD(b + 12, b + 12, P_66, E, W_0, S_FV2), RD(b + 13, b + 13, P_66, E, W_0, S_2), \
	RD(b + 14, b + 14, P_66, E, W_0, S_FV2), RD(b + 15, b + 15, P_66, E, W_0, S_2)

static const struct x86_row map_6[] = {
	RD(0x13, 0x13, P_NP, E, W_0, S_2), RD(0x13, 0x13, P_66, E, W_0, S_HV2), /* cvtsh2ss, cvtph2psx */
	RD(0x2c, 0x2c, P_66, E, W_0, S_FV2), RD(0x2d, 0x2d, P_66, E, W_0, S_2),
	RD(0x42, 0x42, P_66, E, W_0, S_FV2), RD(0x43, 0x43, P_66, E, W_0, S_2),
	RD(0x4c, 0x4c, P_66, E, W_0, S_FV2), RD(0x4d, 0x4d, P_66, E, W_0, S_2),
	RD(0x4e, 0x4e, P_66, E, W_0, S_FV2), RD(0x4f, 0x4f, P_66, E, W_0, S_2),
	RD(0x56, 0x56, P_F3 | P_F2, E, W_0, S_FV4), RD(0x57, 0x57, P_F3 | P_F2, E, W_0, S_4), /* complex */
	FMAH(0x90),
	FMAH(0xa0),
	FMAH(0xb0),
	RD(0xd6, 0xd6, P_F3 | P_F2, E, W_0, S_FV4), RD(0xd7, 0xd7, P_F3 | P_F2, E, W_0, S_4),
};
/* clang-format on */

#define TABLE(t)                                                                                   \
	{                                                                                          \
		t, sizeof(t) / sizeof((t)[0])                                                      \
	}

const struct x86_table da_x86_vector[MAP_NR] = {
	[MAP_0F] = TABLE(map_0f), [MAP_0F38] = TABLE(map_0f38), [MAP_0F3A] = TABLE(map_0f3a),
	[MAP_5] = TABLE(map_5),   [MAP_6] = TABLE(map_6),
};
