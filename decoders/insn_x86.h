/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86 instructions, private to decoders/insn_x86*.c: one instruction taken apart, and the opcode tables
 * that say what it does to memory and to the general registers.
 *
 * The tables hold facts of the Intel SDM (volume 2) and the AMD APM (volume 3). They know opcodes, not
 * mnemonics: one row covers all forms that behave alike. doc/registers.md, "The x86 tables", explains
 * how to read and extend them.
 */
#ifndef DA_INSN_X86_H
#define DA_INSN_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_insn.h"
#include "da_report.h"

/* perf_regs bits (uapi asm/perf_regs.h). */
/* clang-format off */
enum x86_perf_reg {
	XR_AX, XR_BX, XR_CX, XR_DX, XR_SI, XR_DI, XR_BP, XR_SP, XR_IP, XR_FLAGS,
	XR_R8 = 16, XR_R11 = 19, XR_R15 = 23
};
/* clang-format on */

/* ---- the tables ---- */

/* clang-format off */

enum x86_map { MAP_1B, MAP_0F, MAP_0F38, MAP_0F3A, MAP_5 = 5, MAP_6, MAP_NR };

/* x86_row.pfx: which mandatory prefixes select the row. F2 and F3 win over 66. */
enum x86_pfx { P_NP = 1, P_66 = 2, P_F3 = 4, P_F2 = 8, P_N6 = P_NP | P_66, P_ANY = 15 };

/* x86_row.form */
enum x86_form {
	F_M = 1,	   /* has a ModRM byte */
	F_MEM = 2 | F_M,   /* ModRM, memory form (mod != 3) only */
	F_REG = 4 | F_M,   /* ModRM, register form (mod == 3) only */
	F_64 = 8,	   /* in 64-bit mode only */
	F_32 = 16,	   /* in 32-bit mode only */
	F_NEAR = 32	   /* near branch: with 66 and no REX.W the vendors differ in 64-bit mode */
};

/* x86_row.acc: what happens to the ModRM memory operand (or the operand that `kind` names). */
enum x86_acc { A_NONE, A_R = DA_OP_READ, A_W = DA_OP_WRITE, A_RW = A_R | A_W, A_NOACC, A_PF, A_VSIB };

/* x86_row.size: bytes accessed; in EVEX also N of disp8*N and the element of a broadcast. */
enum x86_size {
	S_0, S_1, S_2, S_4, S_6, S_8, S_10, S_16, S_32, S_48, S_64, S_512,
	S_V,	 /* operand size: 2, 4, 8 */
	S_V2,	 /* twice that (bound) */
	S_Y,	 /* 4, or 8 with REX.W or VEX.W in 64-bit mode: a general register */
	S_STK,	 /* stack width: 8 (4 in 32-bit mode), 2 with 66 */
	S_FAR,	 /* selector and offset: 2 more than the operand size */
	S_DESC,	 /* descriptor table register: 10, in 32-bit mode 6 */
	S_ENV,	 /* x87 environment: 28, 14 with 66 */
	S_FSAVE, /* x87 state: 108, 94 with 66 */
	S_XSAVE, /* legacy area and header: the least that XSAVE touches */
	S_CX8,	 /* cmpxchg8b or 16b */
	/* vector tuples; FV, HV, QV allow EVEX broadcast of one element */
	S_FV,	 /* vector length; element 4 or 8 by W */
	S_FV2, S_FV4, S_FV8, /* vector length; element 2, 4, 8 */
	S_HV2, S_HV4, /* half the vector length */
	S_QV2,	 /* a quarter */
	S_FVM, S_HVM, S_QVM, S_OVM, /* all, 1/2, 1/4, 1/8 of the vector length; no broadcast */
	S_MVM,	 /* vector length at most: a mask register chooses */
	S_DUP,	 /* movddup: 8 for 128 bits, else the vector length */
	S_W,	 /* vector element of 4 or 8 bytes by W */
	S_X1, S_X2, S_XW /* expand and compress: up to the vector length; N is one element (1, 2, by W) */
};

enum x86_imm {
	I_0, I_B, I_W, I_Z /* 2 with 66, else 4 */, I_V /* operand size */, I_OFFS /* address size */,
	I_JZ /* branch: 4; in 32-bit mode 2 with 66 */, I_FAR, I_ENTER, I_2B
};

/* x86_row.dest: general registers written, as operands. */
enum x86_dest { D_RM = 1, D_REG = 2, D_OP = 4 /* low three opcode bits */, D_VVVV = 8, D_8BIT = 16 };

/* x86_row.kind: instructions whose accesses are not (only) their ModRM operand. */
enum x86_kind {
	K_PLAIN, K_PUSH, K_PUSHM, K_POP, K_POPM, K_PUSHA, K_POPA, K_CALL, K_CALLF, K_RET, K_RETF, K_IRET, K_ENTER,
	K_LEAVE, K_MOVS, K_CMPS, K_STOS, K_LODS, K_SCAS, K_INS, K_OUTS, K_XLAT, K_OFFS, K_BIT, K_MASKMOV,
	K_MOVDIR, K_CLZERO, K_XCHGA
};

enum x86_encs { E_LEGACY = 0, E_VEX = 1, E_EVEX = 2, E_BOTH = 3 };

/* x86_row.w: allowed W, bits 0 and 1 for VEX, 2 and 3 for EVEX. */
enum x86_w { W_0 = 5, W_1 = 10, W_ANY = 15, W_IG0 = 3 | 4 /* EVEX must be 0 */, W_IG1 = 3 | 8 };

/* clang-format on */

struct x86_row {
	uint8_t lo, hi; /* opcodes */
	uint8_t pfx, form;
	uint8_t digits; /* bit n: modrm.reg may be n */
	uint8_t rms;    /* register form: bit n: modrm.rm may be n */
	uint8_t acc, size, imm, dest, kind;
	uint8_t enc, w;
	uint32_t regs; /* implicitly written registers, perf bits */
};

struct x86_table {
	const struct x86_row *rows; /* in any order; the first that fits counts */
	size_t nr;
};
extern const struct x86_table da_x86_legacy[MAP_NR]; /* insn_x86_legacy.c */
extern const struct x86_table da_x86_vector[MAP_NR]; /* insn_x86_vector.c */

/* ---- one instruction taken apart ---- */

enum { X86_NO_REG = 0xff, X86_IP = 0xfe }; /* for base and index */

struct x86_enc {
	const struct x86_row *row;
	uint8_t len;
	bool mode64;
	uint8_t enc; /* enum x86_encs */
	uint8_t map, opcode;
	uint8_t pfx; /* one enum x86_pfx bit */
	bool p66, rep, rex, w;
	uint8_t seg;       /* enum da_seg */
	uint8_t addr_bits; /* 64, 32, 16 */
	uint8_t opsize;    /* 2, 4, 8 */
	uint8_t vl;        /* vector length, bytes */
	bool mask, bcast;
	uint8_t mod, reg, rm; /* with their extension bits */
	uint8_t vvvv;
	uint8_t opreg;       /* register in the opcode's low bits */
	bool mem;            /* ModRM names memory: the next four */
	uint8_t base, index; /* encoding numbers, X86_NO_REG, X86_IP */
	uint8_t scale;
	int64_t disp; /* disp8*N applied; for X86_IP relative to the next instruction; K_OFFS: the address */
	uint64_t imm; /* K_ENTER needs it */
};

/* Takes the instruction apart. False: not known to the tables, or cut short; *e is then undefined. */
bool da_x86_parse(bool mode64, const uint8_t *bytes, size_t n, struct x86_enc *e);
/* Bytes that the row's memory operand has in this encoding. */
uint32_t da_x86_size(const struct x86_enc *e);

/* Capstone's second opinion (insn_x86_capstone.c). */
struct x86_second;
struct x86_second *da_x86_second_new(void);
void da_x86_second_free(struct x86_second *s); /* NULL allowed */
/* False if Capstone decodes the bytes and disagrees about length or memory operand. */
bool da_x86_second_agrees(struct x86_second *s, const uint8_t *bytes, size_t n,
			  const struct x86_enc *e);

/* The template (insn_x86.c). */
void da_x86_decode(struct x86_second *s, bool mode64, const uint8_t *bytes, size_t n,
		   struct da_insn *out);

#endif
