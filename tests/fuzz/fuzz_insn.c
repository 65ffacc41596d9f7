/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any bytes as an instruction, any registers. Properties: the length is within what was given and within
 * what the architecture allows; the result depends on the instruction's own bytes only, and on all of
 * them; addresses that come out are canonical and in the mode's range; the direction of a resolved access
 * is not denied by da_insn_op_at().
 *
 * Input: one byte of choices (mode, phase, abi, registers present), 26 * 8 bytes of registers, then code.
 * An abi of 3 chooses AArch64.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "da_insn.h"
#include "da_report.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REGS_BYTES (26 * 8)

static struct da_insn_decoder *decoder;

static void must(int ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	decoder = da_insn_decoder_new();
	must(decoder != NULL);
	return 0;
}

/* From a block of exactly n bytes. */
static struct da_insn decode(enum da_arch arch, const uint8_t *code, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);
	struct da_insn in;

	must(copy != NULL);
	memcpy(copy, code, n);
	memset(&in, 0x5a, sizeof(in));
	da_insn_decode(decoder, arch, copy, n, &in);
	free(copy);
	return in;
}

static void check_template(const struct da_insn *in, enum da_arch arch, size_t n)
{
	must(in->nr <= DA_INSN_MAX_ACCESS);
	must((in->kind == DA_INSN_ACCESS) == (in->nr > 0));
	must((in->kind == DA_INSN_UNDECODED) == (in->len == 0));
	must(in->len <= 15 && in->len <= n);
	/* general registers and FLAGS; X0 to X30 and SP */
	must(!(in->writes & ~(arch == DA_ARCH_ARM64 ? 0xffffffffULL : 0xff02ffULL)));
	for (unsigned i = 0; i < in->nr; i++) {
		const struct da_insn_access *a = &in->acc[i];

		must(a->size > 0 && a->size <= 1024);
		must(a->op && !(a->op & ~(DA_OP_READ | DA_OP_WRITE)));
		if (arch == DA_ARCH_ARM64) {
			must(a->addr_bits == DA_ADDR_TBI || a->addr_bits == DA_ADDR_PAC);
			must(a->scale && a->scale <= 16 && !(a->scale & (a->scale - 1)));
			must(a->base < 32 || a->base == DA_REG_IP);
			must(in->len == 4 && in->nr == 1);
			continue;
		}
		must(a->addr_bits == 64 || a->addr_bits == 32 || a->addr_bits == 16);
		must(arch == DA_ARCH_X86_64 ? a->addr_bits != 16 : a->addr_bits != 64);
		must(a->scale == 1 || a->scale == 2 || a->scale == 4 || a->scale == 8);
		must(arch == DA_ARCH_X86_64 || a->base == DA_REG_NONE || a->base < 16);
	}
}

static void check_addresses(const struct da_insn *in, uint64_t ip, const struct da_regs *regs)
{
	struct da_access acc[DA_INSN_MAX_ACCESS];
	unsigned nr = 77;
	int drop = da_insn_resolve(in, ip, regs, acc, &nr);

	must(drop >= -1 && drop < DA_DROP_NR);
	must((drop == -1) == (nr > 0));
	must(drop < 0 || da_drop_stage((enum da_drop)drop) == DA_STAGE_SAMPLE);
	must(nr <= in->nr);
	for (unsigned i = 0; i < nr; i++) {
		uint64_t top = acc[i].vaddr >> 56;
		uint8_t op = da_insn_op_at(in, ip, regs, acc[i].vaddr);

		must(top == 0 || top == 0xff);
		must(!(op & ~acc[i].op)); /* the access contains its own address */
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct da_regs regs = {0};
	struct da_insn in, again;
	uint8_t longer[64];
	const uint8_t *code;
	enum da_arch arch;
	uint64_t ip;
	size_t n;

	if (size < 1 + REGS_BYTES)
		return 0;
	arch = data[0] & 1 ? DA_ARCH_X86_32 : DA_ARCH_X86_64;
	if ((data[0] >> 3 & 3) == 3)
		arch = DA_ARCH_ARM64;
	regs.phase = (data[0] >> 1 & 3) % 3;
	regs.abi = arch == DA_ARCH_ARM64 ? 2 : data[0] >> 3 & 3;
	regs.swap = data[0] >> 5 & 1;
	regs.mask = data[0] >> 6 & 1 ? 0xff0fff : 0x3f00ff;
	if (arch == DA_ARCH_ARM64) /* 24 general registers, SP, VG: 26 values too */
		regs.mask = 0xffffffULL | 1ULL << 31 | 1ULL << 46;
	regs.vals = data + 1;
	memcpy(&ip, data + 1, 8);
	code = data + 1 + REGS_BYTES;
	n = size - 1 - REGS_BYTES;
	if (n > 32)
		n = 32;

	in = decode(arch, code, n);
	check_template(&in, arch, n);
	again = decode(arch, code, n);
	must(memcmp(&in, &again, sizeof(in)) == 0);
	if (in.len) {
		memset(longer, data[0], sizeof(longer));
		memcpy(longer, code, in.len);
		again = decode(arch, longer, sizeof(longer));
		must(memcmp(&in, &again, sizeof(in)) == 0);
		again = decode(arch, code, in.len - 1u);
		must(again.kind == DA_INSN_UNDECODED);
	}
	check_addresses(&in, ip, data[0] >> 7 ? NULL : &regs);
	return 0;
}
