/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzz target: any bytes as the raw payload of an AMD IBS sample. It is one record, told once and wholly
 * taken; a report has only addresses that their valid bits allow. The first byte of an input chooses the
 * decoder, the CPU and what the caller knows.
 */
#include "da_ibs.h"
#include "decode_run.h"

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_ibs: %s\n", what);
	abort();
}

static void check_op(const struct da_ibs_op *op, const struct decode_result *res,
		     const struct da_report *base)
{
	bool access = op->enabled && op->val && !op->sw_prefetch && (op->load || op->store);
	uint64_t src = da_ibs_data_src(op, 0x19, 0x01) | da_ibs_data_src(op, 0, 0);
	const struct da_report *r = res->reports;

	check(res->nr == (access && (op->lin_valid || op->phys_valid)),
	      "a report too many or too few");
	check(src & 0x1f && !(src >> 46), "data source");
	if (!res->nr)
		return;
	check(!!(r->has & DA_HAS_VADDR) == op->lin_valid, "virtual address");
	check(!!(r->has & DA_HAS_PADDR) == op->phys_valid, "physical address");
	check(!op->lin_valid || r->vaddr == op->lin, "virtual address's value");
	check(!op->phys_valid || r->paddr == op->phys, "physical address's value");
	check(r->op == (op->load ? DA_OP_READ : 0) + (op->store ? DA_OP_WRITE : 0), "direction");
	check(!(r->has & DA_HAS_SIZE) || (r->size && r->size <= 64), "size");
	check(r->pid == base->pid && r->event == base->event, "what the caller knows was lost");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct da_report base = {.has = DA_HAS_TASK, .pid = 5, .tid = 6, .event = 7};
	struct decode_result res = {0};
	struct da_input in = {.base = &base};
	struct da_ibs_fetch f;
	struct da_ibs_op op;
	bool fetch, whole;

	if (!size)
		return 0;
	fetch = data[0] & 1;
	in.bytes = data + 1;
	in.len = size - 1;
	in.ibs_caps = data[0] & 2 ? 0xfff : data[0] & 4 ? 0x41f : 0;
	in.cpu_family = data[0] & 8 ? 0x19 : 0x1a;
	in.cpu_model = data[0] >> 4;
	check(decode_windows(da_decoder_find(fetch ? "ibs_fetch" : "ibs_op"), NULL, &in, NULL, NULL,
			     false, &res),
	      "bytes taken");
	check(decode_balanced(&res), "records do not balance");
	check(res.calls == (in.len ? 1 : 0), "one payload is one record");
	whole = fetch ? da_ibs_read_fetch(in.bytes, in.len, in.ibs_caps, &f)
		      : da_ibs_read_op(in.bytes, in.len, in.ibs_caps, &op);
	check(!in.len || whole == !res.stats.truncated_records, "truncated");
	if (whole && fetch)
		check(!res.nr, "a fetch is no access");
	if (whole && !fetch)
		check_op(&op, &res, &base);
	decode_release(&res);
	return 0;
}
