/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Intel PEBS: the data-source word of a memory record as perf_mem_data_src bits.
 *
 * The word's meaning depends on the CPU generation and on the event that wrote it; enum da_pebs_source names
 * both. Derived as the kernel does it, so that a raw record and a sample of it say the same.
 */
#include "da_datasrc.h"
#include "da_pebs.h"

#define HIT(level, num) (DS_LVL((level) | LVL_HIT) | DS_NUM(num))
#define NUM_HIT(num)    (DS_LVL(LVL_HIT) | DS_NUM(num))
#define NONE_MISS       DS_SNOOP(SNOOP_NONE | SNOOP_MISS)

enum table { TABLE_SNB, TABLE_NHM, TABLE_SKL, TABLE_GRT, TABLE_CMT, TABLE_NR };

#define L3_MISS      (DS_LVL(LVL_MISS) | DS_NUM(NUM_L3) | DS_SNOOP(SNOOP_NA)) /* level unknown */
#define IN_L1        (HIT(LVL_L1, NUM_L1) | DS_SNOOP(SNOOP_NONE))
#define IN_LFB       (HIT(LVL_LFB, NUM_LFB) | DS_SNOOP(SNOOP_NONE))
#define IN_L2        (HIT(LVL_L2, NUM_L2) | DS_SNOOP(SNOOP_NONE))
#define IN_L3(s)     (HIT(LVL_L3, NUM_L3) | DS_SNOOP(s))
#define L3_FORWARD   (HIT(LVL_L3, NUM_L3) | DS_SNOOPX(SNOOPX_FWD))
#define REM_CACHE(s) (HIT(LVL_REM_CCE1, NUM_L3) | DS_REMOTE | DS_SNOOP(s))
#define LOC_RAM(s)   (HIT(LVL_LOC_RAM, NUM_RAM) | (s))
#define FIRST_5      L3_MISS, IN_L1, IN_LFB, IN_L2, IN_L3(SNOOP_NONE)
#define LAST_2                                                                                     \
	HIT(LVL_IO, NUM_NA) | DS_SNOOP(SNOOP_NONE), HIT(LVL_UNC, NUM_NA) | DS_SNOOP(SNOOP_NONE)
#define SNB_8_TO_D                                                                                 \
	REM_CACHE(SNOOP_HIT), REM_CACHE(SNOOP_HITM), LOC_RAM(DS_SNOOP(SNOOP_HIT)),                 \
		HIT(LVL_REM_RAM1, NUM_L3) | DS_REMOTE | DS_SNOOP(SNOOP_HIT), LOC_RAM(NONE_MISS),   \
		HIT(LVL_REM_RAM1, NUM_RAM) | DS_REMOTE | NONE_MISS

/* Index: low four bits of the word. */
static const uint64_t tables[TABLE_NR][16] = {
	[TABLE_SNB] = {FIRST_5, IN_L3(SNOOP_MISS), IN_L3(SNOOP_HIT), IN_L3(SNOOP_HITM), SNB_8_TO_D,
		       LAST_2},
	[TABLE_NHM] = {FIRST_5, IN_L3(SNOOP_HIT), IN_L3(SNOOP_HITM), IN_L3(SNOOP_HITM), SNB_8_TO_D,
		       LAST_2},
	[TABLE_SKL] = {FIRST_5, IN_L3(SNOOP_MISS), IN_L3(SNOOP_HIT), IN_L3(SNOOP_HITM),
		       NUM_HIT(NUM_L4) | DS_SNOOP(SNOOP_HIT),
		       NUM_HIT(NUM_L4) | DS_REMOTE | DS_SNOOP(SNOOP_HIT),
		       LOC_RAM(DS_SNOOP(SNOOP_HIT)),
		       NUM_HIT(NUM_RAM) | DS_REMOTE | DS_SNOOP(SNOOP_NONE),
		       NUM_HIT(NUM_ANY_CACHE) | DS_REMOTE | DS_SNOOPX(SNOOPX_FWD),
		       NUM_HIT(NUM_ANY_CACHE) | DS_REMOTE | DS_SNOOP(SNOOP_HITM), LAST_2},
	[TABLE_GRT] = {FIRST_5, IN_L3(SNOOP_HIT), IN_L3(SNOOP_HITM), IN_L3(SNOOP_HITM), L3_FORWARD,
		       REM_CACHE(SNOOP_HITM), LOC_RAM(DS_SNOOP(SNOOP_HIT)),
		       HIT(LVL_REM_RAM1, NUM_L3) | DS_REMOTE | DS_SNOOP(SNOOP_HIT),
		       LOC_RAM(NONE_MISS), HIT(LVL_REM_RAM1, NUM_RAM) | DS_REMOTE | NONE_MISS,
		       LAST_2},
	[TABLE_CMT] = {FIRST_5, IN_L3(SNOOP_MISS), IN_L3(SNOOP_HIT), L3_FORWARD, IN_L3(SNOOP_HITM),
		       REM_CACHE(SNOOP_HITM), LOC_RAM(DS_SNOOP(SNOOP_NONE)),
		       NUM_HIT(NUM_RAM) | DS_REMOTE | DS_SNOOP(SNOOP_NONE),
		       NUM_HIT(NUM_RAM) | DS_REMOTE | DS_SNOOPX(SNOOPX_FWD),
		       NUM_HIT(NUM_RAM) | DS_REMOTE | DS_SNOOP(SNOOP_HITM), LAST_2},
};

/* Lion Cove, index: low eight bits. 0: reserved. */
static const uint64_t lnc_table[256] = {
	[0x00] = L3_MISS,
	[0x01] = IN_L1,
	[0x02] = IN_L1,
	[0x03] = IN_LFB,
	[0x05] = IN_L2,
	[0x06] = NUM_HIT(NUM_L2_MHB) | DS_SNOOP(SNOOP_NONE),
	[0x08] = IN_L3(SNOOP_NONE),
	[0x0c] = L3_FORWARD,
	[0x0d] = IN_L3(SNOOP_HITM),
	[0x0f] = DS_LVL(LVL_L3 | LVL_MISS) | DS_NUM(NUM_L3) | DS_SNOOP(SNOOP_HITM),
	[0x10] = NUM_HIT(NUM_MSC) | DS_SNOOP(SNOOP_NONE),
	[0x11] = LOC_RAM(DS_SNOOP(SNOOP_NONE)),
};

static bool bit(uint64_t v, unsigned n)
{
	return v >> n & 1;
}

static uint64_t stlb_and_lock(bool miss, bool locked)
{
	return (miss ? DS_TLB(TLB_L2 | TLB_MISS) : DS_TLB(TLB_L1 | TLB_L2 | TLB_HIT)) |
	       (locked ? DS_LOCK(LOCK_LOCKED) : 0);
}

static uint64_t blocked(bool data, bool address)
{
	return DS_BLK((data ? BLK_DATA : 0) | (address ? BLK_ADDR : 0) |
		      (data || address ? 0 : BLK_NA));
}

/* The word's layouts; the operation is added by the caller. */
static uint64_t load_latency(enum table t, uint64_t w)
{
	return tables[t][w & 0xf] | stlb_and_lock(bit(w, 4), bit(w, 5));
}

static uint64_t gracemont(uint64_t w) /* TLB and lock the other way round than on the P-core */
{
	return tables[TABLE_GRT][w & 0xf] | stlb_and_lock(bit(w, 5), bit(w, 4)) |
	       blocked(bit(w, 6), false);
}

static uint64_t crestmont(uint64_t w)
{
	return tables[TABLE_CMT][w & 0xf] | stlb_and_lock(bit(w, 6), bit(w, 5)) |
	       blocked(bit(w, 7), false);
}

static uint64_t lion_cove(uint64_t w)
{
	uint64_t v = lnc_table[w & 0xff];

	if (!v)
		v = DS_NUM(NUM_NA) | DS_SNOOP(SNOOP_NA);
	return v | stlb_and_lock(bit(w, 10), bit(w, 11)) | blocked(bit(w, 12), bit(w, 13));
}

static uint64_t precise_store(uint64_t w)
{
	return DS_OP(OP_STORE) | DS_SNOOP(SNOOP_NA) |
	       DS_LVL(LVL_L1 | (bit(w, 0) ? LVL_HIT : LVL_MISS)) |
	       DS_TLB(TLB_L2 | (bit(w, 4) ? TLB_MISS : TLB_HIT)) |
	       (bit(w, 5) ? DS_LOCK(LOCK_LOCKED) : 0);
}

uint64_t da_pebs_data_src(enum da_pebs_source src, uint64_t w)
{
	const uint64_t unknown = DS_NOTHING & ~DS_OP(OP_NA);

	switch (src) {
	case DA_PEBS_SRC_LOAD_NHM:
		return DS_OP(OP_LOAD) | tables[TABLE_NHM][w & 0xf] | DS_TLB(TLB_NA) |
		       DS_LOCK(LOCK_NA);
	case DA_PEBS_SRC_LOAD_SNB:
		return DS_OP(OP_LOAD) | load_latency(TABLE_SNB, w) | DS_BLK(BLK_NA);
	case DA_PEBS_SRC_LOAD_SKL:
		return DS_OP(OP_LOAD) | load_latency(TABLE_SKL, w) | DS_BLK(BLK_NA);
	case DA_PEBS_SRC_LOAD_GLC:
		return DS_OP(OP_LOAD) | load_latency(TABLE_SKL, w) | blocked(bit(w, 6), bit(w, 7));
	case DA_PEBS_SRC_STORE_SNB:
		return precise_store(w);
	case DA_PEBS_SRC_STORE_GLC:
		return DS_OP(OP_STORE) | load_latency(TABLE_SKL, w) | DS_BLK(BLK_NA);
	case DA_PEBS_SRC_DATALA_LOAD:
		return DS_OP(OP_LOAD) | unknown;
	case DA_PEBS_SRC_DATALA_STORE:
		return DS_OP(OP_STORE) | (unknown & ~DS_LVL(LVL_NA)) |
		       DS_LVL(LVL_L1 | (bit(w, 0) ? LVL_HIT : LVL_MISS));
	case DA_PEBS_SRC_LOAD_GRT:
		return DS_OP(OP_LOAD) | gracemont(w);
	case DA_PEBS_SRC_STORE_GRT:
		return DS_OP(OP_STORE) | gracemont(w);
	case DA_PEBS_SRC_LOAD_CMT:
		return DS_OP(OP_LOAD) | crestmont(w);
	case DA_PEBS_SRC_STORE_CMT:
		return DS_OP(OP_STORE) | crestmont(w);
	case DA_PEBS_SRC_LOAD_LNC:
		return DS_OP(OP_LOAD) | lion_cove(w);
	case DA_PEBS_SRC_STORE_LNC:
		return DS_OP(OP_STORE) | lion_cove(w);
	default:
		return 0;
	}
}
