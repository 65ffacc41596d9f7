/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The insides of probes, shared by src/probe*.c only.
 */
#ifndef DA_PROBE_PRIV_H
#define DA_PROBE_PRIV_H

#include "da_probe.h"

struct span { /* [lo, hi], both included */
	uint64_t lo, hi;
};

struct spans { /* empty: asks for nothing */
	struct span *all;
	size_t nr;
};

struct names {
	char **all;
	size_t nr;
};

enum source {
	SRC_L1 = 1 << 0,
	SRC_L2 = 1 << 1,
	SRC_L3 = 1 << 2,
	SRC_L4 = 1 << 3,
	SRC_LFB = 1 << 4,
	SRC_RAM = 1 << 5,
	SRC_CXL = 1 << 6,
	SRC_PMEM = 1 << 7,
	SRC_IO = 1 << 8,
	SRC_UNCACHED = 1 << 9,
	SRC_REMOTE = 1 << 10,
	SRC_HITM = 1 << 11,
	SRC_TLB_MISS = 1 << 12,
	SRC_HIT = 1 << 13,
	SRC_MISS = 1 << 14
};

struct probe {
	char name[32];
	char *text;
	uint64_t weight;
	uint8_t op;       /* enum da_op bits; 0: any, known or not */
	uint32_t sources; /* enum source bits; 0: any */
	struct spans cpus, pids, tids, addrs, paddrs, latencies;
	struct names comms, producers, buffers;
};

struct da_probes {
	struct probe all[DA_PROBES_MAX];
	size_t nr;
	bool weighted;
	uint32_t *of_event; /* by event: probes that its reports may pass */
	size_t nr_events;
};

/* Reads NAME:TERMS. On failure nothing is to be released. */
int probe_parse(struct probe *p, const char *text, struct da_error *err);
void probe_release(struct probe *p);

#endif
