/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arm SPE data sources: what a record says about where data came from, as perf_mem_data_src bits.
 *
 * The payload of a data-source packet is implementation defined and means something for loads only; the
 * CPU's MIDR chooses the encoding. CPUs without a known one are described by their cache events. A record
 * without the packet has no source: 0 is a value like others (L1 on the common encoding).
 */
#include "da_datasrc.h"
#include "da_spe.h"

/* MIDR fields that name a CPU model: implementer and part number. */
#define MODEL(implementer, part) ((uint32_t)(implementer) << 16 | (part))
#define MODEL_OF(midr)           MODEL((midr) >> 24 & 0xff, (midr) >> 4 & 0xfff)

enum { ARM = 0x41, HISILICON = 0x48, AMPERE = 0xc0 };

static const struct {
	uint32_t model;
	enum da_spe_cpu cpu;
} models[] = {
	{MODEL(ARM, 0xd0c), DA_SPE_CPU_COMMON}, /* Neoverse N1 */
	{MODEL(ARM, 0xd40), DA_SPE_CPU_COMMON}, /* Neoverse V1 */
	{MODEL(ARM, 0xd49), DA_SPE_CPU_COMMON}, /* Neoverse N2 */
	{MODEL(ARM, 0xd4c), DA_SPE_CPU_COMMON}, /* Cortex-X1C */
	{MODEL(ARM, 0xd4e), DA_SPE_CPU_COMMON}, /* Cortex-X3 */
	{MODEL(ARM, 0xd4f), DA_SPE_CPU_COMMON}, /* Neoverse V2 */
	{MODEL(ARM, 0xd81), DA_SPE_CPU_COMMON}, /* Cortex-A720 */
	{MODEL(ARM, 0xd82), DA_SPE_CPU_COMMON}, /* Cortex-X4 */
	{MODEL(ARM, 0xd84), DA_SPE_CPU_COMMON}, /* Neoverse V3 */
	{MODEL(ARM, 0xd85), DA_SPE_CPU_COMMON}, /* Cortex-X925 */
	{MODEL(ARM, 0xd87), DA_SPE_CPU_COMMON}, /* Cortex-A725 */
	{MODEL(ARM, 0xd89), DA_SPE_CPU_COMMON}, /* Cortex-A720AE */
	{MODEL(ARM, 0xd8e), DA_SPE_CPU_COMMON}, /* Neoverse N3 */
	{MODEL(AMPERE, 0xac4), DA_SPE_CPU_AMPEREONE},
	{MODEL(HISILICON, 0xd06), DA_SPE_CPU_HIP}, /* HIP12 */
};

enum da_spe_cpu da_spe_cpu(uint64_t midr)
{
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (models[i].model == MODEL_OF(midr))
			return models[i].cpu;
	return DA_SPE_CPU_GENERIC;
}

#define HIT(level, num) (DS_LVL((level) | LVL_HIT) | DS_NUM(num))
#define SNOOPED(s, x)   (DS_SNOOP(s) | DS_SNOOPX(x))

#define IN_L1     (HIT(LVL_L1, NUM_L1) | DS_SNOOP(SNOOP_NONE))
#define IN_L2     (HIT(LVL_L2, NUM_L2) | DS_SNOOP(SNOOP_NONE))
#define PEER_CORE (HIT(LVL_L2, NUM_L2) | DS_SNOOPX(SNOOPX_PEER))
#define CLUSTER   (HIT(LVL_L3, NUM_L3) | DS_SNOOPX(SNOOPX_PEER)) /* this one's or another's */
#define SYS_CACHE (HIT(LVL_L3, NUM_L3) | DS_SNOOP(SNOOP_HIT))
#define REMOTE    (DS_LVL(LVL_NA) | DS_NUM(NUM_NA) | DS_REMOTE | DS_SNOOPX(SNOOPX_PEER))
#define DRAM      (HIT(LVL_LOC_RAM, NUM_RAM) | DS_SNOOP(SNOOP_NONE))

/* clang-format off */
const uint64_t da_spe_by_source[DA_SPE_CPU_NR][DA_SPE_SOURCES + 1] = {
	[DA_SPE_CPU_COMMON] = {
		[0x0] = IN_L1, [0x8] = IN_L2, [0x9] = PEER_CORE, [0xa] = CLUSTER, [0xb] = SYS_CACHE,
		[0xc] = CLUSTER, [0xd] = REMOTE, [0xe] = DRAM,
	},
	[DA_SPE_CPU_AMPEREONE] = { /* 0: a cache of this chip, or a device */
		[0x0] = PEER_CORE, [0x3] = SYS_CACHE, [0x5] = REMOTE, [0x7] = DRAM, [0x8] = IN_L1, [0x9] = IN_L2,
	},
	[DA_SPE_CPU_HIP] = {
		[0] = PEER_CORE,
		[1] = HIT(LVL_L2, NUM_L2) | SNOOPED(SNOOP_HITM, SNOOPX_PEER),
		[2] = SYS_CACHE,
		[3] = HIT(LVL_L3, NUM_L3) | DS_SNOOP(SNOOP_HITM),
		[4] = HIT(LVL_REM_CCE1, NUM_L3) | DS_SNOOPX(SNOOPX_PEER), /* other cluster */
		[5] = HIT(LVL_REM_CCE1, NUM_L3) | SNOOPED(SNOOP_HITM, SNOOPX_PEER),
		[6] = DS_LVL(LVL_REM_CCE2) | DS_NUM(NUM_ANY_CACHE) | DS_REMOTE | DS_SNOOPX(SNOOPX_PEER),
		[7] = DS_LVL(LVL_REM_CCE2) | DS_NUM(NUM_ANY_CACHE) | DS_REMOTE | SNOOPED(SNOOP_HITM, SNOOPX_PEER),
		[8] = DRAM,
		[9] = HIT(LVL_REM_RAM1, NUM_RAM) | DS_REMOTE,
		[13] = HIT(LVL_IO, NUM_IO) | DS_SNOOP(SNOOP_NONE), /* non-cacheable, device */
		[16] = IN_L2,
		[17] = HIT(LVL_L2, NUM_L2) | DS_SNOOP(SNOOP_HITM),
		[18] = IN_L1,
	},
};
/* clang-format on */

/* Index: event bits 2, 3 (L1D access, refill), 8, 9, 10 (last level access, miss, remote access). */
#define L1_OF(i)      ((i)&3 ? DS_LVL(LVL_L1 | ((i)&2 ? LVL_MISS : LVL_HIT)) : 0)
#define LEVEL_OF(i)   ((i)&12 ? DS_LVL(LVL_L3 | ((i)&8 ? LVL_MISS : LVL_HIT)) : L1_OF(i))
#define BY_EVENT(i)   (LEVEL_OF(i) | ((i)&16 ? DS_REMOTE : 0))
#define BY_EVENT_4(i) BY_EVENT(i), BY_EVENT((i) + 1), BY_EVENT((i) + 2), BY_EVENT((i) + 3)

const uint64_t da_spe_by_event[32] = {
	BY_EVENT_4(0),  BY_EVENT_4(4),  BY_EVENT_4(8),  BY_EVENT_4(12),
	BY_EVENT_4(16), BY_EVENT_4(20), BY_EVENT_4(24), BY_EVENT_4(28),
};

/* Index: event bits 4, 5: TLB access, refill (a page-table walk). */
const uint64_t da_spe_by_tlb[4] = {0, DS_TLB(TLB_WALKER | TLB_HIT), DS_TLB(TLB_WALKER | TLB_MISS),
				   DS_TLB(TLB_WALKER | TLB_MISS)};

uint64_t da_spe_op_source(enum da_spe_cpu cpu, uint8_t ops)
{
	if (ops & DA_SPE_OP_LOAD)
		return DS_OP(OP_LOAD); /* an atomic too: perf has one bit an operation */
	if (cpu == DA_SPE_CPU_GENERIC)
		return DS_OP(OP_STORE);
	return DS_OP(OP_STORE) | DS_LVL(LVL_NA) | DS_NUM(NUM_NA) | DS_SNOOP(SNOOP_NA);
}

bool da_spe_uses_source(enum da_spe_cpu cpu, uint8_t ops)
{
	return cpu != DA_SPE_CPU_GENERIC && (ops & DA_SPE_OP_LOAD);
}
