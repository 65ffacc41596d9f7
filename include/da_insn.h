/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From instruction bytes and registers to accesses.
 *
 * Two steps, so that the first can be cached per (code object, offset):
 *   da_insn_decode()  bytes -> struct da_insn, a template of the accesses (our own tables; on x86
 *                     Capstone's second opinion)
 *   da_insn_resolve() template + registers -> addresses
 * Neither guesses: what cannot be known is a drop reason. Sources: formats in doc/registers.md.
 */
#ifndef DA_INSN_H
#define DA_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_stage.h"

enum da_arch {
	DA_ARCH_UNKNOWN,
	DA_ARCH_X86_64,
	DA_ARCH_X86_32,
	DA_ARCH_ARM64,
	DA_ARCH_ARM32,
	DA_ARCH_NR
};

#define DA_INSN_MAX_BYTES  16 /* longest instruction (x86: 15) */
#define DA_INSN_MAX_ACCESS 4

#define DA_REG_NONE 0xff /* da_insn_access.base/index: no register */
#define DA_REG_IP   0xfe /* da_insn_access.base: the address of the instruction itself */

enum da_seg { DA_SEG_FLAT, DA_SEG_FS, DA_SEG_GS };

/* Registers are numbered by their perf_regs bit (x86: uapi asm/perf_regs.h AX=0 BX=1 ...; arm64: X0=0
 * ... SP=31 PC=32), so that a sampled value is found without translation. */
struct da_insn_access {
	int64_t disp;  /* added, sign-extended; for IP-relative forms includes the insn length */
	uint32_t size; /* bytes */
	uint8_t base;  /* perf register bit, DA_REG_IP or DA_REG_NONE */
	uint8_t index; /* perf register bit or DA_REG_NONE */
	uint8_t scale; /* 1, 2, 4, 8; arm64 16 too */
	uint8_t op;    /* enum da_op bits */
	uint8_t seg;   /* enum da_seg */
	uint8_t addr_bits;  /* 64, 32 or 16: result truncated to so many; or an enum da_addr_bits */
	uint8_t index_kind; /* enum da_index_kind */
	uint8_t size_is_max;
	uint8_t vl; /* size is for a vector of 16 bytes and grows with the vector length (arm64 VG) */
	uint8_t bit; /* DA_INDEX_BITSTR: perf register bit of the bit offset, else DA_REG_NONE */
};

enum da_index_kind {
	DA_INDEX_PLAIN, /* full register */
	DA_INDEX_LOW8,  /* x86 xlat: AL */
	DA_INDEX_BITSTR, /* x86 bt/bts/btr/btc m, reg: plus sext(`bit` register) >> 3, rounded to the size */
	DA_INDEX_SXTW,  /* arm64 */
	DA_INDEX_UXTW,  /* arm64 */
	DA_INDEX_ALIGN, /* arm64 DC ZVA: base rounded down to size */
	DA_INDEX_VG     /* arm64 SVE: index is VG, and disp is multiplied by it */
};

/* da_insn_access.addr_bits of arm64: an address has more bits than the processor looks at. */
enum da_addr_bits {
	DA_ADDR_TBI = 56, /* bits 63..56, which may hold a tag, become copies of bit 55 */
	DA_ADDR_PAC = 48  /* before and after: so do bits 54..48, where the base holds a code */
};

enum da_insn_kind {
	DA_INSN_ACCESS,    /* has accesses */
	DA_INSN_NO_MEMORY, /* touches no memory (lea, nop m, plain arithmetic) */
	DA_INSN_PREFETCH,  /* prefetch or cache maintenance: no access */
	DA_INSN_GATHER,    /* vector addresses: unresolvable from general registers */
	DA_INSN_UNDECODED  /* not known to the decoder */
};

struct da_insn {
	uint8_t kind; /* enum da_insn_kind */
	uint8_t len;  /* bytes; 0 if undecoded */
	uint8_t nr;   /* accesses used */
	uint8_t rep;  /* x86 string instruction with rep: no access when the counter is 0 */
	/* perf register bits that the instruction writes (for registers sampled after it); arm64: loads and
	 * stores only */
	uint64_t writes;
	struct da_insn_access acc[DA_INSN_MAX_ACCESS];
};

enum da_reg_phase {
	DA_REGS_BEFORE,   /* the instruction at IP has not executed: inputs intact */
	DA_REGS_AFTER,    /* PEBS: it has; written inputs are gone */
	DA_REGS_UNRELATED /* IBS: taken at the interrupt */
};

struct da_regs {
	uint64_t mask;       /* attr.sample_regs_intr: bit -> register present */
	const uint8_t *vals; /* borrowed; popcount(mask) u64, lowest bit first; may be unaligned */
	bool swap;           /* stored in the other byte order */
	uint8_t abi;         /* 0 none, 1 32-bit task, 2 64-bit task */
	uint8_t arch;        /* enum da_arch of the recording machine: X86_64 or ARM64 */
	uint8_t phase;       /* enum da_reg_phase */
};

/* The value of the register with this perf bit; false if it was not sampled. */
bool da_regs_get(const struct da_regs *r, unsigned bit, uint64_t *val);

/* One access with its address. */
struct da_access {
	uint64_t vaddr;
	uint32_t size;
	uint8_t op; /* enum da_op bits */
	uint8_t size_is_max;
};

/*
 * Decodes the instruction at bytes (n available bytes, may be fewer than the instruction needs). Always
 * fills *out. arch selects the mode (X86_64, X86_32, ARM64). `decoder` comes from da_insn_decoder_new()
 * and must be used by one thread at a time. The result depends only on bytes and arch.
 */
struct da_insn_decoder;
struct da_insn_decoder *da_insn_decoder_new(void);    /* NULL: out of memory */
void da_insn_decoder_free(struct da_insn_decoder *d); /* NULL allowed */
void da_insn_decode(struct da_insn_decoder *d, enum da_arch arch, const uint8_t *bytes, size_t n,
		    struct da_insn *out);

/*
 * Addresses of the template's accesses. ip: address of the instruction. acc[DA_INSN_MAX_ACCESS] receives
 * *nr accesses. Returns -1 if at least one access resolved, else the drop reason of the record
 * (enum da_drop of the sample layer: NOT_MEMORY, PREFETCH, UNDECODED, UNRESOLVED, SEGMENT, NONCANONICAL,
 * BASE_OVERWRITTEN, NO_REGS).
 */
int da_insn_resolve(const struct da_insn *in, uint64_t ip, const struct da_regs *regs,
		    struct da_access acc[DA_INSN_MAX_ACCESS], unsigned *nr);

/* The op (enum da_op bits) that all accesses of the template share and that contain addr as far as
 * registers tell; 0 when unknown. regs may be NULL. Used to give a page fault its direction. */
uint8_t da_insn_op_at(const struct da_insn *in, uint64_t ip, const struct da_regs *regs,
		      uint64_t addr);

#endif
