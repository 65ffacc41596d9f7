/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzz target: any bytes as an Arm SPE stream. The result must be the same for the walk and for cached
 * layouts, for one window and many, for either kind of sink; every record is counted once; every byte is
 * taken. The first four bytes of an input choose the windows, the position in the stream and the CPU.
 */
#include "da_spe.h"
#include "decode_run.h"

/* A short input is repeated to this length, so that its layouts are used. */
#define REPEATED 640

static struct da_spe_state state;

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_spe: %s\n", what);
	abort();
}

static size_t next_cut(void *ctx, size_t left)
{
	uint32_t *x = ctx;

	(void)left;
	*x = *x * 1664525 + 1013904223;
	return 1 + (*x >> 24) * (*x >> 16 & 7);
}

static void decode(const struct da_input *in, bool walk_only, bool batch, uint32_t *cuts,
		   struct decode_result *res)
{
	static const struct da_decoder spe = {.name = "spe", .decode = da_spe_decode};

	memset(&state, 0, sizeof(state));
	state.walk_only = walk_only;
	memset(res, 0, sizeof(*res));
	check(decode_windows(&spe, &state, in, cuts ? next_cut : NULL, cuts, batch, res),
	      "bytes taken");
	check(decode_balanced(res), "records do not balance");
	check(!state.kept && !state.resync && !state.rec.open, "something is open at the end");
}

static void check_reports(const struct decode_result *res)
{
	for (size_t i = 0; i < res->nr; i++) {
		const struct da_report *r = &res->reports[i];

		check(r->has & (DA_HAS_VADDR | DA_HAS_PADDR), "report without address");
		check(r->has & DA_HAS_VADDR || (!r->vaddr && !r->tag),
		      "virtual address without its bit");
		check(r->has & DA_HAS_PADDR || (!r->paddr && !r->paddr_how),
		      "physical address without its bit");
		check(!(r->has & DA_HAS_OP) == !r->op, "operation and its bit");
		check(r->has & DA_HAS_DATA_SRC || !r->data_src, "data source without its bit");
		check(r->has & DA_HAS_LATENCY || !r->latency, "latency without its bit");
		check(r->paddr >> 56 == 0, "physical address with a top byte");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t midrs[] = {0, 0x410fd0c0, 0xc00fac40, 0x480fd060};
	struct decode_result want, got;
	uint8_t *made = NULL;
	struct da_input in;
	uint32_t cuts;

	if (size < 4)
		return 0;
	in = (struct da_input){.bytes = data + 4,
			       .len = size - 4,
			       .offset = data[0] & 15,
			       .midr = midrs[data[0] >> 4 & 3]};
	cuts = data[1] | (uint32_t)data[2] << 8 | (uint32_t)data[3] << 16;
	if (data[0] & 0x40 && in.len && in.len < REPEATED) {
		size_t times = REPEATED / in.len + 1;

		made = decode_must(malloc(times * in.len));
		for (size_t i = 0; i < times; i++)
			memcpy(made + i * in.len, in.bytes, in.len);
		in.bytes = made;
		in.len *= times;
	}
	decode(&in, true, true, NULL, &want);
	check_reports(&want);
	decode(&in, false, true, NULL, &got);
	check(decode_equal(&want, &got), "layouts differ from the walk");
	decode_release(&got);
	decode(&in, data[0] >> 7, false, &cuts, &got);
	check(decode_equal(&want, &got), "windows make a difference");
	decode_release(&got);
	decode_release(&want);
	free(made);
	return 0;
}
