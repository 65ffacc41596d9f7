/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fields of perf_mem_data_src as numbers (uapi linux/perf_event.h), for what builds such a value: the
 * decoders from what their hardware says, and the generator of fake samples. Ours, because decoders include
 * no kernel header and because a newer kernel's values must not depend on the headers of the build. Values
 * only, no policy.
 */
#ifndef DA_DATASRC_H
#define DA_DATASRC_H

#include <stdint.h>

#define DS_OP(v)     ((uint64_t)(v))
#define DS_LVL(v)    ((uint64_t)(v) << 5)
#define DS_SNOOP(v)  ((uint64_t)(v) << 19)
#define DS_LOCK(v)   ((uint64_t)(v) << 24)
#define DS_TLB(v)    ((uint64_t)(v) << 26)
#define DS_NUM(v)    ((uint64_t)(v) << 33)
#define DS_REMOTE    ((uint64_t)1 << 37)
#define DS_SNOOPX(v) ((uint64_t)(v) << 38)
#define DS_BLK(v)    ((uint64_t)(v) << 40)
#define DS_HOPS(v)   ((uint64_t)(v) << 43)

enum { OP_NA = 1, OP_LOAD = 2, OP_STORE = 4 };

enum {
	LVL_NA = 1,
	LVL_HIT = 2,
	LVL_MISS = 4,
	LVL_L1 = 8,
	LVL_LFB = 0x10,
	LVL_L2 = 0x20,
	LVL_L3 = 0x40,
	LVL_LOC_RAM = 0x80,
	LVL_REM_RAM1 = 0x100,
	LVL_REM_CCE1 = 0x400,
	LVL_REM_CCE2 = 0x800,
	LVL_IO = 0x1000,
	LVL_UNC = 0x2000
};

enum { SNOOP_NA = 1, SNOOP_NONE = 2, SNOOP_HIT = 4, SNOOP_MISS = 8, SNOOP_HITM = 0x10 };
enum { SNOOPX_FWD = 1, SNOOPX_PEER = 2 };
enum { LOCK_NA = 1, LOCK_LOCKED = 2 };
enum { TLB_NA = 1, TLB_HIT = 2, TLB_MISS = 4, TLB_L1 = 8, TLB_L2 = 0x10, TLB_WALKER = 0x20 };
enum { BLK_NA = 1, BLK_DATA = 2, BLK_ADDR = 4 };

enum {
	NUM_L1 = 1,
	NUM_L2 = 2,
	NUM_L3 = 3,
	NUM_L4 = 4,
	NUM_L2_MHB = 5,
	NUM_MSC = 6,
	NUM_UNC = 8,
	NUM_CXL = 9,
	NUM_IO = 0xa,
	NUM_ANY_CACHE = 0xb,
	NUM_LFB = 0xc,
	NUM_RAM = 0xd,
	NUM_PMEM = 0xe,
	NUM_NA = 0xf
};

/* Everything "not available". */
#define DS_NOTHING                                                                                 \
	(DS_OP(OP_NA) | DS_LVL(LVL_NA) | DS_SNOOP(SNOOP_NA) | DS_LOCK(LOCK_NA) | DS_TLB(TLB_NA) |  \
	 DS_NUM(NUM_NA))

#endif
