/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AArch64 instructions, private to decoders/insn_arm64*.c: from one 32-bit word to a template.
 *
 * The encodings are facts of the Arm ARM (DDI 0487), section C4. doc/registers.md says what counts as an
 * access. No 32-bit Arm code here.
 */
#ifndef DA_INSN_ARM64_H
#define DA_INSN_ARM64_H

#include <stddef.h>
#include <stdint.h>

#include "da_insn.h"
#include "da_report.h"

/* perf_regs bits (uapi asm/perf_regs.h): X0..X30 are 0..30. */
enum arm64_perf_reg { AR_SP = 31, AR_PC = 32, AR_VG = 46 };

/* Bits hi..lo of the word. */
static inline uint32_t a64_bits(uint32_t w, unsigned hi, unsigned lo)
{
	return w >> lo & (uint32_t)((1ULL << (hi - lo + 1)) - 1);
}

static inline int64_t a64_sbits(uint32_t w, unsigned hi, unsigned lo)
{
	uint32_t sign = 1u << (hi - lo);

	return (int64_t)(a64_bits(w, hi, lo) ^ sign) - sign;
}

static inline uint32_t a64_rn(uint32_t w)
{
	return a64_bits(w, 9, 5);
}

/* What an instruction leaves in general register r; as a target, 31 is the zero register. */
static inline void a64_writes(struct da_insn *o, uint32_t r)
{
	if (r < 31)
		o->writes |= 1ULL << r;
}

/* One more access: [Xn or SP, #disp]. */
struct da_insn_access *da_a64_access(struct da_insn *o, uint32_t rn, int64_t disp, uint32_t size,
				     uint8_t op);
/* Its index: Xm, shifted left; 31 is the zero register. */
void da_a64_index(struct da_insn_access *a, uint32_t rm, uint8_t kind, unsigned shift);

void da_a64_decode(const uint8_t *bytes, size_t n, struct da_insn *out);
/* The encodings with bits 28..25 = 0010 (SVE) and bit 31 set (insn_arm64_sve.c). */
void da_a64_sve(uint32_t w, struct da_insn *o);

#endif
