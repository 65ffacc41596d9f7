/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The insides of the sample layer, shared by src/pipeline*.c only: pipeline.c takes sample records,
 * pipeline_aux.c what byte decoders make of AUX trace data and raw samples.
 */
#ifndef DA_PIPELINE_PRIV_H
#define DA_PIPELINE_PRIV_H

#include "da_pipeline.h"

#define MAX_CPUS 65536 /* a CPU number beyond this comes from damage */

/* Where the fields of a plain event's samples lie, from the record's start; 0: not there. */
struct plain {
	uint16_t ip, task, time, addr, cpu, period, weight, data_src, phys_addr, page_size;
	uint16_t bytes; /* of the shortest sample that has them all */
	bool ok;        /* the event is plain: pipeline_plain.c */
};

struct lane_event {
	struct da_attr attr;
	enum da_producer producer;
	const struct da_decoder *decoder; /* byte stream producers, else NULL */
	bool late;
	uint64_t period; /* of samples that do not say theirs */
	struct plain plain;
};

struct da_pipeline {
	struct lane_event *ev;
	size_t nr;
	enum da_arch arch;
	uint32_t cpu_family, cpu_model; /* of AMD, for IBS; 0 unknown */
	struct da_tasks *tasks;
	struct da_code_store *code;
	da_paddr_fn paddr;
	void *paddr_ctx;
	da_period_fn period;
	void *period_ctx;
};

struct per_cpu {
	struct da_ledger ledger;
	void *state; /* decoder's */
	struct da_decode_stats stats;
};

struct per_event {
	struct per_cpu **cpus; /* by CPU number; NULL where nothing happened */
	uint32_t nr;
};

struct da_lane {
	struct da_pipeline *p;
	struct da_code *code;
	da_emit_fn emit;
	da_emit_many_fn emit_many; /* or NULL */
	da_late_fn late;           /* NULL: all is decoded at once */
	da_group_fn group;         /* of da_lane_samples() */
	void *ctx;
	struct per_event *ev;
	/* context of the byte decoders' callbacks */
	const struct da_aux_source *aux;
	struct da_report base;
	bool agrees;        /* the raw sample under way and perf's own fields */
	uint64_t perf_addr; /* of a raw sample: perf's own ADDR; 0: none */
	struct da_ledger *led;
	unsigned given; /* reports passed on for the record under way */
};

/* perf_mem_data_src.mem_op, low 5 bits (uapi linux/perf_event.h PERF_MEM_OP_*) */
#define MEM_OP_LOAD   0x02
#define MEM_OP_STORE  0x04
#define MEM_OP_PFETCH 0x08
#define MEM_PREFETCH  UINT32_MAX

/* DA_OP_ bits of a data source; MEM_PREFETCH: it is no access. */
static inline uint32_t mem_op(uint64_t data_src)
{
	if ((data_src & MEM_OP_PFETCH) && !(data_src & (MEM_OP_LOAD | MEM_OP_STORE)))
		return MEM_PREFETCH;
	return (data_src & MEM_OP_LOAD ? DA_OP_READ : 0) |
	       (data_src & MEM_OP_STORE ? DA_OP_WRITE : 0);
}

/* Cycles of a weight; 0: not known. */
static inline uint32_t latency_of(uint64_t sample_type, uint64_t weight)
{
	if (!(sample_type & DA_SAMPLE_WEIGHT))
		return (uint32_t)weight; /* var1_dw: cache latency */
	return weight > UINT32_MAX ? UINT32_MAX : (uint32_t)weight;
}

/* Finds out whether an event is plain. */
void plain_plan(struct lane_event *e);
/* What is kept of an event on a CPU; NULL: out of memory. */
struct per_cpu *lane_cpu(struct da_lane *l, uint32_t event, uint32_t cpu);
/* Passes a report of a valid record on, with its physical address where that can be known. */
void lane_emit(struct da_lane *l, struct da_report *r, struct da_ledger *led);
/* Returns how many were taken. */
size_t lane_emit_many(struct da_lane *l, struct da_report *r, size_t n, struct da_ledger *led);
/* Decodes a raw sample; l->base is what its record says beside. */
void lane_decode_raw(struct da_lane *l, const struct lane_event *e, struct per_cpu *c,
		     const struct da_input *in);

#endif
