/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private to the decoder of raw PEBS records and its tests: one record taken apart, its data-source word,
 * and the decoder's state.
 */
#ifndef DA_PEBS_H
#define DA_PEBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_decoder.h"

enum { DA_PEBS_CORE, DA_PEBS_NHM, DA_PEBS_HSW, DA_PEBS_SKL, DA_PEBS_ADAPTIVE };

/* Bits of an adaptive record's first word: the groups that follow. */
enum da_pebs_group {
	DA_PEBS_GROUP_MEM = 1 << 0,
	DA_PEBS_GROUP_GPR = 1 << 1,
	DA_PEBS_GROUP_XMM = 1 << 2,
	DA_PEBS_GROUP_LBR = 1 << 3,
	DA_PEBS_GROUP_COUNTERS = 1 << 4,
	DA_PEBS_GROUP_METRICS = 1 << 5
};

#define DA_PEBS_BASIC 32 /* bytes of an adaptive record without groups */
#define DA_PEBS_REGS  18 /* AX BX CX DX SI DI BP SP IP FLAGS R8 .. R15: the order of perf's bits */
#define DA_PEBS_MASK  0xff03ffull

struct da_pebs_record {
	bool has_ip, has_mem, has_regs, has_tsc;
	uint64_t ip; /* of the instruction; formats before hsw know only the next one, in regs */
	uint64_t address; /* has_mem; 0: the event gives none */
	uint64_t source, latency;
	uint64_t tsc;
	uint64_t counters;           /* that overflowed */
	uint16_t retire_latency;     /* adaptive */
	uint32_t groups;             /* adaptive: the first word's low half */
	uint64_t regs[DA_PEBS_REGS]; /* after the instruction */
};

/* Bytes of the record at p (n bytes are there), 0 if fewer are there than tell it, or -1: no record can begin
 * so. */
long da_pebs_size(const uint8_t *p, size_t n, unsigned format);
/* Takes apart the record of that size. */
void da_pebs_read(const uint8_t *p, size_t size, unsigned format, struct da_pebs_record *r);

/* perf_mem_data_src of a data-source word; 0 with DA_PEBS_SRC_NONE. */
uint64_t da_pebs_data_src(enum da_pebs_source src, uint64_t word);

struct da_pebs_state {
	bool kept;   /* the last call left the beginning of a record with the caller */
	bool resync; /* looking for the next header */
	bool has_like;
	uint64_t like; /* the last record's header, without what differs from record to record */
};

size_t da_pebs_decode(void *state, const struct da_input *in, const struct da_sink *sink,
		      struct da_decode_stats *stats);

#endif
