/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzz target: any bytes as a block of raw PEBS records. Windows make no difference, every record is counted
 * once, every byte is taken, registers are those after the instruction. The first three bytes of an input
 * choose format, data-source kind and windows.
 */
#include "da_insn.h"
#include "da_pebs.h"
#include "decode_run.h"

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_pebs: %s\n", what);
	abort();
}

static size_t next_cut(void *ctx, size_t left)
{
	uint32_t *x = ctx;

	(void)left;
	*x = *x * 1664525 + 1013904223;
	return 1 + (*x >> 24) * (*x >> 16 & 7);
}

static void on_regs(void *ctx, uint64_t ip, const struct da_regs *regs)
{
	uint8_t vals[8 * DA_PEBS_REGS];

	(void)ctx;
	(void)ip;
	check(regs->phase == DA_REGS_AFTER && regs->mask == DA_PEBS_MASK,
	      "registers are after the instruction");
	check(8 * (size_t)__builtin_popcountll(regs->mask) == sizeof(vals), "number of registers");
	memcpy(vals, regs->vals, sizeof(vals)); /* all of them are there to be read */
	check(memcmp(vals, regs->vals, sizeof(vals)) == 0, "registers");
}

/* Takes one window with a sink that wants registers. */
static void with_registers(const struct da_input *proto)
{
	struct decode_result res = {0};
	struct da_sink sink = decode_sink(&res, false);
	struct da_pebs_state st = {0};
	struct da_input in = *proto;

	in.last = true;
	sink.regs = on_regs;
	check(da_pebs_decode(&st, &in, &sink, &res.stats) == in.len, "bytes taken");
	check(decode_balanced(&res), "records do not balance");
	for (size_t i = 0; i < res.nr; i++) {
		check(res.reports[i].has & DA_HAS_VADDR && res.reports[i].vaddr,
		      "report without address");
		check(!(res.reports[i].has & DA_HAS_OP) == !res.reports[i].op,
		      "operation and its bit");
	}
	decode_release(&res);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct da_decoder pebs = {.name = "pebs_raw", .decode = da_pebs_decode};
	struct da_pebs_state st = {0};
	struct decode_result want = {0}, got = {0};
	struct da_input in;
	uint32_t cuts;

	if (size < 3)
		return 0;
	in = (struct da_input){.bytes = data + 3,
			       .len = size - 3,
			       .pebs_format = data[0] % 9,
			       .pebs_source = data[1] & 31};
	cuts = data[2];
	check(decode_windows(&pebs, &st, &in, NULL, NULL, false, &want), "bytes taken");
	check(decode_balanced(&want), "records do not balance");
	check(!st.kept && !st.resync, "something is open at the end");
	memset(&st, 0, sizeof(st));
	check(decode_windows(&pebs, &st, &in, next_cut, &cuts, true, &got), "bytes taken");
	check(decode_equal(&want, &got), "windows make a difference");
	with_registers(&in);
	decode_release(&got);
	decode_release(&want);
	return 0;
}
