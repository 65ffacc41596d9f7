/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AMD IBS: the raw registers of one sample to an access report; the decoders "ibs_op" and "ibs_fetch".
 *
 * The input is one PERF_SAMPLE_RAW payload: u32 caps, then u64 registers. Which optional registers are there
 * and in which slot depends on caps and on the size. The record's report, or the reason for none:
 *
 *	fewer bytes than every sample has		truncated
 *	Val or En not set; or a load or store that says that neither of its addresses is valid	invalid
 *	software prefetch				prefetch
 *	neither load nor store; every fetch		not_memory
 *
 * Valid bits decide, never an address of 0. The page size of a TLB entry is no statement about the mapping,
 * so no page size is reported. The CPU's family and model are input, since files come from other machines.
 */
#include "da_ibs.h"

#include <string.h>

#include "da_cursor.h"
#include "da_datasrc.h"

#define OP_REGS    7 /* that every op sample has */
#define FETCH_REGS 3
#define WIDTH_MAX  7 /* 64 bytes; larger codes are not defined */

static uint64_t bits(uint64_t v, unsigned low, unsigned nr)
{
	return v >> low & (((uint64_t)1 << nr) - 1);
}

static bool bit(uint64_t v, unsigned n)
{
	return v >> n & 1;
}

/* A cursor at the first register. Registers alone are a multiple of 8 bytes, with caps 4 more. */
static struct da_cur registers(const uint8_t *p, size_t len, uint32_t *caps)
{
	struct da_cur c = da_cur_from(p, len, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	if (len % sizeof(uint64_t))
		*caps = da_cur_u32(&c);
	return c;
}

/* ---- op ---- */

static void read_ctl(struct da_ibs_op *op)
{
	op->max_count = (uint32_t)(bits(op->ctl, 20, 7) << 16 | bits(op->ctl, 0, 16)) << 4;
	op->l3_miss_only = bit(op->ctl, 16);
	op->enabled = bit(op->ctl, 17);
	op->val = bit(op->ctl, 18);
	op->counts_ops = bit(op->ctl, 19);
	op->cur_count = (uint32_t)bits(op->ctl, 32, 27);
}

static void read_data1(struct da_ibs_op *op)
{
	op->comp_to_ret = (uint16_t)bits(op->data1, 0, 16);
	op->tag_to_ret = (uint16_t)bits(op->data1, 16, 16);
	op->branch_return = bit(op->data1, 34);
	op->branch_taken = bit(op->data1, 35);
	op->branch_mispredicted = bit(op->data1, 36);
	op->branch_retired = bit(op->data1, 37);
	op->rip_invalid = bit(op->data1, 38);
	op->branch_fused = bit(op->data1, 39);
	op->microcode = bit(op->data1, 40);
}

static void read_data2(struct da_ibs_op *op)
{
	op->data_source = (uint8_t)bits(op->data2, 0, 3);
	if (op->caps & DA_IBS_CAP_ZEN4)
		op->data_source |= (uint8_t)(bits(op->data2, 6, 2) << 3);
	op->remote_node = bit(op->data2, 4);
	op->cache_hit_owned = bit(op->data2, 5);
}

static void read_data3(struct da_ibs_op *op)
{
	op->load = bit(op->data3, 0);
	op->store = bit(op->data3, 1);
	op->l1_tlb_miss = bit(op->data3, 2);
	op->l2_tlb_miss = bit(op->data3, 3);
	op->l1_tlb_hit_2m = bit(op->data3, 4);
	op->l1_tlb_hit_1g = bit(op->data3, 5);
	op->l2_tlb_hit_2m = bit(op->data3, 6);
	op->dc_miss = bit(op->data3, 7);
	op->misaligned = bit(op->data3, 8);
	op->write_combining = bit(op->data3, 13);
	op->uncacheable = bit(op->data3, 14);
	op->locked = bit(op->data3, 15);
	op->miss_no_mab = bit(op->data3, 16);
	op->lin_valid = bit(op->data3, 17);
	op->phys_valid = bit(op->data3, 18);
	op->l2_tlb_hit_1g = bit(op->data3, 19);
	op->l2_miss = bit(op->data3, 20);
	op->sw_prefetch = bit(op->data3, 21);
	op->width_code = (uint8_t)bits(op->data3, 22, 4);
	op->open_requests = (uint8_t)bits(op->data3, 26, 6);
	op->dc_miss_latency = (uint16_t)bits(op->data3, 32, 16);
	op->tlb_refill_latency = (uint16_t)bits(op->data3, 48, 16);
}

bool da_ibs_read_op(const uint8_t *p, size_t len, uint32_t caps, struct da_ibs_op *op)
{
	struct da_cur c = registers(p, len, &caps);

	memset(op, 0, sizeof(*op));
	op->caps = caps;
	if (da_cur_left(&c) < OP_REGS * sizeof(uint64_t))
		return false;
	op->ctl = da_cur_u64(&c);
	op->rip = da_cur_u64(&c);
	op->data1 = da_cur_u64(&c);
	op->data2 = da_cur_u64(&c);
	op->data3 = da_cur_u64(&c);
	op->lin = da_cur_u64(&c);
	op->phys = da_cur_u64(&c);
	/* slots 7 and 8 are filled without gaps */
	if (caps & DA_IBS_CAP_BRANCH_TARGET && da_cur_left(&c) >= sizeof(uint64_t)) {
		op->target = da_cur_u64(&c);
		op->has_target = true;
	}
	if (caps & DA_IBS_CAP_DATA4 && da_cur_left(&c) >= sizeof(uint64_t)) {
		op->data4 = da_cur_u64(&c);
		op->has_data4 = true;
	}
	read_ctl(op);
	read_data1(op);
	read_data2(op);
	read_data3(op);
	return true;
}

/* ---- data source ---- */

#define HIT(level, num) (DS_LVL((level) | LVL_HIT) | DS_NUM(num))

/* Index: IbsOpData2 data source. 0: says nothing. */
static const uint64_t old_sources[32] = {
	[2] = HIT(LVL_L3 | LVL_REM_CCE1, NUM_ANY_CACHE) | DS_HOPS(1),
	[3] = HIT(LVL_LOC_RAM, NUM_RAM),
	[4] = HIT(LVL_REM_CCE2, NUM_ANY_CACHE) | DS_REMOTE | DS_HOPS(2),
	[7] = HIT(LVL_IO, NUM_IO),
};

static const uint64_t zen4_sources[32] = {
	[1] = HIT(LVL_L3, NUM_L3),
	[2] = HIT(LVL_REM_CCE1, NUM_ANY_CACHE) | DS_REMOTE | DS_HOPS(1),
	[3] = HIT(LVL_LOC_RAM, NUM_RAM),
	[5] = HIT(LVL_REM_CCE2, NUM_ANY_CACHE) | DS_REMOTE | DS_HOPS(2),
	[6] = DS_NUM(NUM_PMEM),
	[7] = HIT(LVL_IO, NUM_IO),
	[8] = DS_NUM(NUM_CXL),
};

enum { SRC_DRAM = 3, SRC_IO = 7, SRC_PMEM = 6, SRC_CXL = 8 };

/* Erratum 1293, Zen 3: with these the L2 miss bit and all of IbsOpData2 are wrong. */
static bool erratum_1293(const struct da_ibs_op *op, uint32_t family, uint32_t model)
{
	return family == 0x19 && model < 0x10 && (op->miss_no_mab || op->sw_prefetch);
}

static uint64_t source_level(const struct da_ibs_op *op)
{
	bool zen4 = op->caps & DA_IBS_CAP_ZEN4;
	uint64_t v = (zen4 ? zen4_sources : old_sources)[op->data_source];

	if (!v || !op->remote_node)
		return v;
	if (op->data_source == SRC_DRAM)
		return HIT(LVL_REM_RAM1, NUM_RAM) | DS_REMOTE | DS_HOPS(2);
	if (zen4 && (op->data_source == SRC_PMEM || op->data_source == SRC_CXL))
		return v | DS_REMOTE | DS_HOPS(2);
	return v;
}

static uint64_t level(const struct da_ibs_op *op, bool broken)
{
	uint64_t v = 0;

	if (op->uncacheable && (broken || op->data_source != SRC_IO))
		return HIT(LVL_UNC, NUM_UNC);
	if (!op->dc_miss)
		return HIT(LVL_L1, NUM_L1);
	if (!op->l2_miss && !broken)
		return HIT(LVL_L2, NUM_L2);
	if (op->load && !broken)
		v = source_level(op);
	if (v)
		return v;
	return op->miss_no_mab ? HIT(LVL_LFB, NUM_LFB) : DS_LVL(LVL_NA) | DS_NUM(NUM_NA);
}

/* Was the line modified in another cache? Early Zen 3 and 4 models do not know. */
static bool hitm(const struct da_ibs_op *op, uint64_t lvl, bool broken, uint32_t family,
		 uint32_t model)
{
	unsigned sources = op->caps & DA_IBS_CAP_ZEN4 ? 1u << 1 | 1u << 2 | 1u << 5 : 1u << 2;

	if (family == 0x19 && (model <= 0x0f || (model >= 0x20 && model <= 0x5f)))
		return false;
	return op->load && !broken && !(lvl & DS_LVL(LVL_L1 | LVL_L2)) && !op->cache_hit_owned &&
	       sources >> op->data_source & 1;
}

static uint64_t tlb(const struct da_ibs_op *op)
{
	if (!op->lin_valid)
		return DS_TLB(TLB_NA);
	if (!op->l1_tlb_miss)
		return DS_TLB(TLB_L1 | TLB_HIT);
	return op->l2_tlb_miss ? DS_TLB(TLB_L2 | TLB_MISS) : DS_TLB(TLB_L2 | TLB_HIT);
}

uint64_t da_ibs_data_src(const struct da_ibs_op *op, uint32_t family, uint32_t model)
{
	bool broken = erratum_1293(op, family, model);
	uint64_t lvl;

	if (!op->load && !op->store)
		return DS_NOTHING;
	lvl = level(op, broken);
	return DS_OP(op->load ? OP_LOAD : OP_STORE) | lvl |
	       DS_SNOOP(hitm(op, lvl, broken, family, model) ? SNOOP_HITM : SNOOP_NA) | tlb(op) |
	       DS_LOCK(op->locked ? LOCK_LOCKED : LOCK_NA);
}

/* ---- reports ---- */

static enum da_drop op_drop(const struct da_ibs_op *op)
{
	if (!op->enabled || !op->val)
		return DA_DROP_INVALID;
	if (op->sw_prefetch)
		return DA_DROP_PREFETCH;
	if (!op->load && !op->store)
		return DA_DROP_NOT_MEMORY;
	return op->lin_valid || op->phys_valid ? DA_DROP_NR : DA_DROP_INVALID;
}

static void op_report(const struct da_ibs_op *op, const struct da_input *in, struct da_report *r)
{
	r->how = DA_HOW_HARDWARE;
	r->op = (uint8_t)((op->load ? DA_OP_READ : 0) | (op->store ? DA_OP_WRITE : 0));
	r->data_src = da_ibs_data_src(op, in->cpu_family, in->cpu_model);
	r->has |= DA_HAS_OP | DA_HAS_DATA_SRC;
	if (!(op->caps & DA_IBS_CAP_RIP_INVALID) || !op->rip_invalid) {
		r->ip = op->rip;
		r->has |= DA_HAS_IP;
	}
	if (op->lin_valid) {
		r->vaddr = op->lin;
		r->has |= DA_HAS_VADDR;
	}
	if (op->phys_valid) {
		r->paddr = op->phys;
		r->paddr_how = DA_PADDR_SAMPLED;
		r->has |= DA_HAS_PADDR;
	}
	if (op->width_code && op->width_code <= WIDTH_MAX) {
		r->size = 1u << (op->width_code - 1);
		r->has |= DA_HAS_SIZE;
	}
	if (op->load && op->dc_miss) { /* elsewhere the field is not the latency of this op */
		r->latency = op->dc_miss_latency;
		r->has |= DA_HAS_LATENCY;
	}
	if (!(r->has & DA_HAS_PERIOD)) {
		r->period = op->max_count;
		r->has |= DA_HAS_PERIOD;
	}
}

static void drop(const struct da_sink *sink, struct da_decode_stats *stats, enum da_drop why)
{
	if (why == DA_DROP_TRUNCATED)
		stats->truncated_records++;
	else
		stats->records++;
	sink->record(sink->ctx, 0, why);
}

size_t da_ibs_op_decode(void *state, const struct da_input *in, const struct da_sink *sink,
			struct da_decode_stats *stats)
{
	struct da_report r = {0};
	struct da_ibs_op op;
	enum da_drop why;

	(void)state;
	if (!in->len)
		return 0;
	why = da_ibs_read_op(in->bytes, in->len, in->ibs_caps, &op) ? op_drop(&op)
								    : DA_DROP_TRUNCATED;
	if (why != DA_DROP_NR) {
		drop(sink, stats, why);
		return in->len;
	}
	if (in->base)
		r = *in->base;
	op_report(&op, in, &r);
	stats->records++;
	sink->report(sink->ctx, &r);
	sink->record(sink->ctx, 1, DA_DROP_NR);
	return in->len;
}

/* ---- fetch ---- */

bool da_ibs_read_fetch(const uint8_t *p, size_t len, uint32_t caps, struct da_ibs_fetch *f)
{
	struct da_cur c = registers(p, len, &caps);

	memset(f, 0, sizeof(*f));
	f->caps = caps;
	if (da_cur_left(&c) < FETCH_REGS * sizeof(uint64_t))
		return false;
	f->ctl = da_cur_u64(&c);
	f->lin = da_cur_u64(&c);
	f->phys = da_cur_u64(&c);
	if (caps & DA_IBS_CAP_FETCH_EXT && da_cur_left(&c) >= sizeof(uint64_t)) {
		f->ext = da_cur_u64(&c);
		f->has_ext = true;
		f->itlb_latency = (uint16_t)bits(f->ext, 0, 16);
	}
	f->max_count = (uint32_t)bits(f->ctl, 0, 16) << 4;
	f->count = (uint32_t)bits(f->ctl, 16, 16) << 4;
	f->latency = (uint16_t)bits(f->ctl, 32, 16);
	f->enabled = bit(f->ctl, 48);
	f->val = bit(f->ctl, 49);
	f->complete = bit(f->ctl, 50);
	f->ic_miss = bit(f->ctl, 51);
	f->phys_valid = bit(f->ctl, 52);
	f->page_size_code = (uint8_t)bits(f->ctl, 53, 2);
	f->l1_tlb_miss = bit(f->ctl, 55);
	f->l2_tlb_miss = bit(f->ctl, 56);
	f->random = bit(f->ctl, 57);
	f->l2_miss = bit(f->ctl, 58);
	f->l3_miss_only = bit(f->ctl, 59);
	f->oc_miss = bit(f->ctl, 60);
	f->l3_miss = bit(f->ctl, 61);
	return true;
}

/* An instruction fetch is no data access: it is only told whether it was a valid sample. */
size_t da_ibs_fetch_decode(void *state, const struct da_input *in, const struct da_sink *sink,
			   struct da_decode_stats *stats)
{
	struct da_ibs_fetch f;

	(void)state;
	if (!in->len)
		return 0;
	if (!da_ibs_read_fetch(in->bytes, in->len, in->ibs_caps, &f))
		drop(sink, stats, DA_DROP_TRUNCATED);
	else
		drop(sink, stats, f.enabled && f.val ? DA_DROP_NOT_MEMORY : DA_DROP_INVALID);
	return in->len;
}
