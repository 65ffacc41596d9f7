/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device that writes trace data into an AUX area, as a thread instead of hardware and driver: the memory
 * is laid out as the kernel lays out perf's pages, and it wraps, truncates, collides and stops until it is
 * enabled again by the same rules. What its records say is its caller's business.
 *
 * It stands for a kernel (kernel/events/ring_buffer.c, perf_aux_output_begin() and _end()) with the driver
 * of Arm SPE (drivers/perf/arm_spe_pmu.c); behind kring.h nobody can tell the difference.
 */
#ifndef DA_AUX_SIM_H
#define DA_AUX_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_perfdata.h"
#include "kring.h"

#define AUX_SIM_RECORD 64 /* the largest record; no more than that is written at once */

struct aux_sim_opts {
	size_t page, data_pages, aux_pages; /* powers of two */
	uint64_t watermark; /* bytes after which it interrupts; 0: half of the AUX area */
	uint64_t collide;   /* every so many records one is dropped, and flagged; 0: none */
	uint64_t cut; /* at every so many interrupts the last record is cut, and flagged; 0: none */
	bool split;   /* what it tells ends in the midst of records */
	/* Of the records that it writes into the data ring. */
	const struct da_attr *attr; /* alive as long as the device */
	uint64_t id;
	uint32_t cpu, pid, tid;
	uint64_t (*now)(void *ctx); /* the recording's clock */
	/* The next record, at most AUX_SIM_RECORD bytes; 0: none is due. */
	size_t (*next)(void *ctx, uint8_t *buf);
	void (*wake)(void *ctx); /* as poll() would return; must not call the device */
	void *ctx;
};

struct aux_sim;

/* Disabled, its areas are mapped. NULL: out of memory, or no thread. */
struct aux_sim *aux_sim_new(const struct aux_sim_opts *o);
void aux_sim_free(struct aux_sim *d); /* NULL allowed */
const struct kring *aux_sim_ring(const struct aux_sim *d);
/* From any thread. After disabling all that was written is told. */
void aux_sim_enable(struct aux_sim *d);
void aux_sim_disable(struct aux_sim *d);

#endif
