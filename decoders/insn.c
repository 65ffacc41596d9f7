/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instruction decoding for every architecture: dispatch, and the second step, from template and registers
 * to addresses. Knows no instruction set; that is in insn_x86*.c and insn_arm64*.c.
 */
#include <stdlib.h>
#include <string.h>

#include "da_insn.h"
#include "da_report.h"
#include "insn_arm64.h"
#include "insn_x86.h"

struct da_insn_decoder {
	struct x86_second *x86;
};

struct da_insn_decoder *da_insn_decoder_new(void)
{
	struct da_insn_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->x86 = da_x86_second_new();
	if (!d->x86) {
		free(d);
		return NULL;
	}
	return d;
}

void da_insn_decoder_free(struct da_insn_decoder *d)
{
	if (!d)
		return;
	da_x86_second_free(d->x86);
	free(d);
}

void da_insn_decode(struct da_insn_decoder *d, enum da_arch arch, const uint8_t *bytes, size_t n,
		    struct da_insn *out)
{
	switch (arch) {
	case DA_ARCH_X86_64:
		da_x86_decode(d->x86, true, bytes, n, out);
		break;
	case DA_ARCH_X86_32:
		da_x86_decode(d->x86, false, bytes, n, out);
		break;
	case DA_ARCH_ARM64:
		da_a64_decode(bytes, n, out);
		break;
	default:
		*out = (struct da_insn){.kind = DA_INSN_UNDECODED};
		break;
	}
}

bool da_regs_get(const struct da_regs *r, unsigned bit, uint64_t *val)
{
	uint64_t below;

	*val = 0;
	if (!r->vals || !r->abi || bit > 63 || !(r->mask >> bit & 1))
		return false;
	below = r->mask & ((1ULL << bit) - 1);
	memcpy(val, r->vals + 8 * (size_t)__builtin_popcountll(below), 8);
	if (r->swap)
		*val = __builtin_bswap64(*val);
	return true;
}

static int64_t sext(uint64_t v, unsigned bits)
{
	uint64_t sign = 1ULL << (bits - 1);

	if (bits < 64)
		v &= (sign << 1) - 1;
	return (int64_t)((v ^ sign) - sign);
}

/* The bytes that a bit offset of `size` bytes' width moves the operand. */
static uint64_t bit_offset(uint64_t offset, uint32_t size)
{
	return (uint64_t)(sext(offset, 8 * size) >> 3) & ~(uint64_t)(size - 1);
}

/* Copies of bit 55 from bit `from` up: which half of the arm64 address space it is. */
static uint64_t copy_bit_55(uint64_t addr, unsigned from)
{
	uint64_t upper = ~0ULL << from;

	return addr >> 55 & 1 ? addr | upper : addr & ~upper;
}

/* What the processor makes of the sum. Accepts what its largest variant accepts (57 bits, arm64 52); a
 * smaller one faults on more, but then nothing was accessed. */
static bool canonical(uint64_t *addr, uint8_t addr_bits)
{
	switch (addr_bits) {
	case DA_ADDR_TBI:
	case DA_ADDR_PAC:
		*addr = copy_bit_55(*addr, addr_bits);
		return sext(*addr, 53) == (int64_t)*addr;
	case 64:
		return sext(*addr, 57) == (int64_t)*addr;
	default:
		*addr &= (1ULL << addr_bits) - 1;
		return true;
	}
}

/* Bytes of an access whose template counts for the shortest vector; the sample may hold the real length. */
static uint32_t access_size(const struct da_insn_access *a, const struct da_regs *regs)
{
	uint64_t vg;

	if (!a->vl || !regs || !da_regs_get(regs, AR_VG, &vg) || vg < 2 || vg > 32)
		return a->size;
	return (uint32_t)(a->size * vg / 2);
}

/* One register that the address needs; -1 or the drop reason. */
static int reg(const struct da_insn *in, uint64_t ip, const struct da_regs *regs, uint8_t bit,
	       uint64_t *val)
{
	*val = ip;
	if (bit == DA_REG_IP)
		return -1;
	if (!regs || regs->phase == DA_REGS_UNRELATED)
		return DA_DROP_NO_REGS;
	if (regs->phase == DA_REGS_AFTER && in->writes >> bit & 1)
		return DA_DROP_BASE_OVERWRITTEN;
	return da_regs_get(regs, bit, val) ? -1 : DA_DROP_NO_REGS;
}

/* The address of one access; -1 or the drop reason. */
static int address(const struct da_insn *in, const struct da_insn_access *a, uint64_t ip,
		   const struct da_regs *regs, uint64_t *addr)
{
	uint64_t base = 0, index = 0, bit = 0;
	int drop;

	if (a->seg != DA_SEG_FLAT)
		return DA_DROP_SEGMENT;
	if (a->base != DA_REG_NONE && (drop = reg(in, ip, regs, a->base, &base)) >= 0)
		return drop;
	if (a->addr_bits == DA_ADDR_PAC)
		base = copy_bit_55(base, DA_ADDR_PAC);
	if (a->index != DA_REG_NONE && (drop = reg(in, ip, regs, a->index, &index)) >= 0)
		return a->index_kind == DA_INDEX_VG ? DA_DROP_UNRESOLVED : drop;
	if (a->bit != DA_REG_NONE && (drop = reg(in, ip, regs, a->bit, &bit)) >= 0)
		return drop;
	switch (a->index_kind) {
	case DA_INDEX_LOW8:
		index &= 0xff;
		break;
	case DA_INDEX_BITSTR:
		base += bit_offset(bit, a->size);
		break;
	case DA_INDEX_SXTW:
		index = (uint64_t)sext(index, 32);
		break;
	case DA_INDEX_UXTW:
		index &= 0xffffffff;
		break;
	case DA_INDEX_ALIGN:
		base &= ~(uint64_t)(a->size - 1);
		break;
	case DA_INDEX_VG:
		base += (index - 1) * (uint64_t)a->disp; /* disp itself is added below */
		index = 0;
		break;
	default:
		break;
	}
	*addr = base + index * a->scale + (uint64_t)a->disp;
	return canonical(addr, a->addr_bits) ? -1 : DA_DROP_NONCANONICAL;
}

/* Is this a repeated string instruction whose counter is 0? It accesses nothing. */
static bool no_repetition(const struct da_insn *in, const struct da_regs *regs)
{
	uint64_t count;

	if (!in->rep || !regs || regs->phase != DA_REGS_BEFORE || !da_regs_get(regs, XR_CX, &count))
		return false;
	return !(in->acc[0].addr_bits < 64 ? count & ((1ULL << in->acc[0].addr_bits) - 1) : count);
}

int da_insn_resolve(const struct da_insn *in, uint64_t ip, const struct da_regs *regs,
		    struct da_access acc[DA_INSN_MAX_ACCESS], unsigned *nr)
{
	int drop, first = DA_DROP_NOT_MEMORY;

	*nr = 0;
	switch (in->kind) {
	case DA_INSN_ACCESS:
		break;
	case DA_INSN_PREFETCH:
		return DA_DROP_PREFETCH;
	case DA_INSN_GATHER:
		return DA_DROP_UNRESOLVED;
	case DA_INSN_UNDECODED:
		return DA_DROP_UNDECODED;
	default:
		return DA_DROP_NOT_MEMORY;
	}
	if (no_repetition(in, regs))
		return DA_DROP_NOT_MEMORY;
	for (unsigned i = 0; i < in->nr; i++) {
		const struct da_insn_access *a = &in->acc[i];
		struct da_access *to = &acc[*nr];

		drop = address(in, a, ip, regs, &to->vaddr);
		if (drop < 0) {
			to->size = access_size(a, regs);
			to->op = a->op;
			to->size_is_max = a->size_is_max;
			++*nr;
		} else if (first == DA_DROP_NOT_MEMORY) {
			first = drop;
		}
	}
	return *nr ? -1 : first;
}

uint8_t da_insn_op_at(const struct da_insn *in, uint64_t ip, const struct da_regs *regs,
		      uint64_t addr)
{
	uint8_t op = DA_OP_READ | DA_OP_WRITE;
	bool any = false;

	if (in->kind != DA_INSN_ACCESS)
		return 0;
	for (unsigned i = 0; i < in->nr; i++) {
		const struct da_insn_access *a = &in->acc[i];
		uint64_t at;

		/* An access whose address is not known may be the one. */
		if (address(in, a, ip, regs, &at) < 0 && addr - at >= access_size(a, regs))
			continue;
		op &= a->op;
		any = true;
	}
	return any ? op : 0;
}
