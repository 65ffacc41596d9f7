/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decoders: bytes to access reports. A decoder sees bytes, never files.
 *
 * decode() takes whole records from the front of the input and returns the bytes consumed; the caller
 * presents the rest again with more appended. It cannot fail: bad bytes are counted and skipped. The
 * result does not depend on where a window ends or on where the buffer lies in memory: positions come
 * from input.offset. State is zeroed memory of state_size bytes (aligned as malloc does, not needed if 0)
 * owned by the caller, one per (event, CPU) stream; reports passed to the sink live for the call.
 */
#ifndef DA_DECODER_H
#define DA_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_report.h"
#include "da_stage.h"

struct da_regs;

/* How the data-source word of a raw PEBS record is to be read: the event and CPU that wrote it. */
enum da_pebs_source {
	DA_PEBS_SRC_NONE,        /* unknown: neither direction nor data source may be assumed */
	DA_PEBS_SRC_LOAD_NHM,    /* load latency: Nehalem, Westmere */
	DA_PEBS_SRC_LOAD_SNB,    /* load latency: Sandy Bridge to Broadwell */
	DA_PEBS_SRC_LOAD_SKL,    /* load latency: Skylake to Ice Lake */
	DA_PEBS_SRC_LOAD_GLC,    /* load latency: Golden Cove (with the blocked bits) */
	DA_PEBS_SRC_STORE_SNB,   /* precise store: Sandy Bridge, Ivy Bridge */
	DA_PEBS_SRC_STORE_GLC,   /* store latency: Golden Cove */
	DA_PEBS_SRC_DATALA_LOAD, /* Haswell on: loads with an address but no level */
	DA_PEBS_SRC_DATALA_STORE,
	DA_PEBS_SRC_LOAD_GRT, /* Gracemont */
	DA_PEBS_SRC_STORE_GRT,
	DA_PEBS_SRC_LOAD_CMT, /* Crestmont */
	DA_PEBS_SRC_STORE_CMT,
	DA_PEBS_SRC_LOAD_LNC, /* Lion Cove */
	DA_PEBS_SRC_STORE_LNC,
	DA_PEBS_SRC_NR
};

struct da_input {
	const uint8_t *bytes; /* AUX window or raw payload */
	size_t len;
	uint64_t offset;   /* position of bytes[0] in its stream (AUX offset) */
	bool last;         /* no more bytes will follow: an open record is truncated */
	bool gap;          /* bytes were lost before this window: drop the open record */
	uint64_t midr;     /* SPE: the CPU that recorded, 0 unknown */
	uint32_t ibs_caps; /* IBS: caps word, 0 if only in the payload */
	/* What the caller knows of every report of this input: event, cpu, task, time, period, page size.
	 * Each report begins as a copy of it; what the bytes say replaces it. NULL: nothing. */
	const struct da_report *base;
	uint32_t cpu_family, cpu_model; /* x86, for errata; 0 unknown */
	uint8_t pebs_format;            /* PEBS blocks: IA32_PERF_CAPABILITIES[11:8], 0 to 6 */
	uint8_t pebs_source;            /* enum da_pebs_source */
};

/* What a decoder counts beside the ledger. */
struct da_decode_stats {
	uint64_t records; /* records completed: told to the sink and in neither of the next two */
	uint64_t damaged_records; /* dropped because of a bad byte */
	uint64_t bad_bytes;       /* bytes skipped to find the next packet */
	uint64_t resync_bytes;    /* bytes skipped to find the next record, bad bytes included */
	uint64_t truncated_records;
	uint64_t reserved_packets; /* SPE: packets that today's architecture leaves undefined */
	/* of raw samples, by the sample layer: perf's own fields beside say another address or direction */
	uint64_t contradictions;
};

struct da_sink {
	/* One access report of the record under way. */
	void (*report)(void *ctx, const struct da_report *r);
	/* A record ended: nr_reports reports were given for it (> 0), or none for the reason drop. */
	void (*record)(void *ctx, unsigned nr_reports, enum da_drop drop);
	void *ctx;
	/* The same in bulk, for speed; both or neither. A decoder that knows them calls them instead of the
	 * two above: batch() stands for n times report() and record(1), in order; dropped() for n times
	 * record(0). Reports come in order; drops may be told later, but before decode() returns. batch()
	 * may change task, time and physical address of the reports, and their order. */
	void (*batch)(void *ctx, struct da_report *r, size_t n);
	void (*dropped)(void *ctx, enum da_drop drop, uint64_t n);
	/* May be NULL. The registers that the record under way holds, before its report or drop; ip: of the
	 * instruction, 0 unknown. regs->phase says what they are good for; alive for the call. */
	void (*regs)(void *ctx, uint64_t ip, const struct da_regs *regs);
};

struct da_decoder {
	const char *name; /* "spe", "ibs_op", "ibs_fetch", "pebs_raw" */
	size_t state_size;
	size_t (*decode)(void *state, const struct da_input *in, const struct da_sink *sink,
			 struct da_decode_stats *stats);
	/* Does the state hold nothing of what was decoded, so that a fresh one would go on the same way
	 * (but for bytes that were not consumed)? NULL: never known. */
	bool (*idle)(const void *state);
};

/* All decoders, ended by a NULL name. To add one: doc/adding-a-decoder.md. */
extern const struct da_decoder da_decoders[];
const struct da_decoder *da_decoder_find(const char *name); /* NULL if unknown */

#endif
