/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private to the AMD IBS decoders and their tests: the registers of a raw sample taken apart.
 * Names in comments are AMD's.
 */
#ifndef DA_IBS_H
#define DA_IBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_decoder.h"

/* CPUID Fn8000_001B EAX, those that matter here. */
enum da_ibs_caps {
	DA_IBS_CAP_BRANCH_TARGET = 1 << 5,
	DA_IBS_CAP_RIP_INVALID = 1 << 7, /* IbsRipInvalid means something */
	DA_IBS_CAP_FETCH_EXT = 1 << 9,
	DA_IBS_CAP_DATA4 = 1 << 10,
	DA_IBS_CAP_ZEN4 = 1 << 11 /* 5-bit data source */
};

struct da_ibs_op {
	uint32_t caps;
	/* registers as they were; the last two only where has_ says so */
	uint64_t ctl, rip, data1, data2, data3, lin, phys, target, data4;
	bool has_target, has_data4;
	/* IbsOpCtl */
	uint32_t max_count; /* in events: the period */
	uint32_t cur_count;
	bool l3_miss_only, enabled, val, counts_ops;
	/* IbsOpData */
	uint16_t comp_to_ret, tag_to_ret;
	bool branch_return, branch_taken, branch_mispredicted, branch_retired, rip_invalid,
		branch_fused;
	bool microcode;
	/* IbsOpData2: of loads only */
	uint8_t data_source; /* 5 bits with DA_IBS_CAP_ZEN4, else 3 */
	bool remote_node, cache_hit_owned;
	/* IbsOpData3 */
	bool load, store, l1_tlb_miss, l2_tlb_miss, l1_tlb_hit_2m, l1_tlb_hit_1g, l2_tlb_hit_2m,
		l2_tlb_hit_1g;
	bool dc_miss, misaligned, write_combining, uncacheable, locked, miss_no_mab, lin_valid,
		phys_valid;
	bool l2_miss, sw_prefetch;
	uint8_t width_code; /* 0 none, else 1 << (code - 1) bytes */
	uint8_t open_requests;
	uint16_t dc_miss_latency, tlb_refill_latency;
};

struct da_ibs_fetch {
	uint32_t caps;
	uint64_t ctl, lin, phys, ext;
	bool has_ext;
	uint32_t max_count, count; /* in fetches */
	uint16_t latency, itlb_latency;
	uint8_t page_size_code; /* 0 4 KiB, 1 2 MiB, 2 1 GiB */
	bool enabled, val, complete, ic_miss, phys_valid, l1_tlb_miss, l2_tlb_miss, random, l2_miss;
	bool l3_miss_only, oc_miss, l3_miss;
};

/* False: the bytes are fewer than the registers that every sample has. caps: used if the payload holds none,
 * that is, if it is whole registers. */
bool da_ibs_read_op(const uint8_t *p, size_t len, uint32_t caps, struct da_ibs_op *op);
bool da_ibs_read_fetch(const uint8_t *p, size_t len, uint32_t caps, struct da_ibs_fetch *f);

/* perf_mem_data_src as the kernel derives it. family, model: for errata; 0 unknown. */
uint64_t da_ibs_data_src(const struct da_ibs_op *op, uint32_t family, uint32_t model);

size_t da_ibs_op_decode(void *state, const struct da_input *in, const struct da_sink *sink,
			struct da_decode_stats *stats);
size_t da_ibs_fetch_decode(void *state, const struct da_input *in, const struct da_sink *sink,
			   struct da_decode_stats *stats);

#endif
