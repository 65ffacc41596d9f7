/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sample layer: one sample record in, access reports out, every record classified. The same code
 * serves the drain threads of a live run and the offline decode.
 *
 * A lane is used by one thread at a time; lanes of one pipeline share tasks and code store.
 */
#ifndef DA_PIPELINE_H
#define DA_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_code.h"
#include "da_decoder.h"
#include "da_perfdata.h"
#include "da_pmu.h"
#include "da_report.h"
#include "da_stage.h"
#include "da_task.h"

struct da_pipeline; /* what lanes share: events with their producers, tasks, code, machine */

struct da_pipeline_event {
	const struct da_attr *attr;
	enum da_producer producer;
	const char *name;
	bool late; /* its registers are decoded by da_lane_decode_late(), where that is asked for */
};

struct da_pipeline *da_pipeline_new(const struct da_pipeline_event *ev, size_t nr,
				    enum da_arch arch, struct da_tasks *tasks,
				    struct da_code_store *code);
void da_pipeline_free(struct da_pipeline *p);
/* Where physical addresses come from when a sample has none: fn returns true and *paddr, or false (the
 * address stays invalid, never 0). Live: /proc/PID/pagemap; offline: what the live run stored. */
typedef bool (*da_paddr_fn)(void *ctx, uint32_t pid, uint64_t time_ns, uint64_t vaddr,
			    uint64_t *paddr);
void da_pipeline_paddr(struct da_pipeline *p, da_paddr_fn fn, void *ctx);

/* The period that held for a sample, where its own PERIOD does not say it (an adaptive period). NULL: the
 * sample's own. Called only for samples that have one. */
typedef uint64_t (*da_period_fn)(void *ctx, uint32_t event, const struct da_samp *s);
void da_pipeline_period(struct da_pipeline *p, da_period_fn fn, void *ctx);

/* Where reports go: called for each report of a valid record, in order. Returns nothing: the ring layer
 * (report buffer) or the match layer is behind it. `l` is the ledger of (event, cpu), whose ring layer
 * the receiver counts in. */
typedef void (*da_emit_fn)(void *ctx, const struct da_report *r, struct da_ledger *l);
/* The same for n > 0 reports in order. Returns how many it took; the records of the rest are not counted. */
typedef size_t (*da_emit_many_fn)(void *ctx, const struct da_report *r, size_t n,
				  struct da_ledger *l);

/* The CPU that recorded, as perf writes it ("AuthenticAMD,25,17,1"): IBS has errata. NULL: unknown. */
void da_pipeline_cpu(struct da_pipeline *p, const char *cpuid);

struct da_lane;
struct da_lane *da_lane_new(struct da_pipeline *p, da_emit_fn emit, void *ctx);
void da_lane_free(struct da_lane *l);
/* Reports go elsewhere from now on, one by one. */
void da_lane_redirect(struct da_lane *l, da_emit_fn emit, void *ctx);
/* A report whose address is still to be decoded from its registers: a plain value, to be kept and decoded
 * later. mask 0: it needs no decoding. */
#define DA_LATE_REGS 34 /* arm64 has the most: 33 */
struct da_late {
	struct da_report r;
	uint64_t mask; /* perf register bits; vals in their order */
	uint64_t abi;  /* as struct da_regs has it */
	uint64_t vals[DA_LATE_REGS];
};
typedef void (*da_late_fn)(void *ctx, const struct da_late *late, struct da_ledger *l);
/* Events with `late` give these instead of reports: then a valid record is one that has registers. ctx is
 * the one of da_lane_new(). */
void da_lane_late(struct da_lane *l, da_late_fn fn);
/* Decodes one: gives the reports that it would have given at once. Counted in the sample layer of this
 * lane, which is of no ledger: it says why the others gave none. */
void da_lane_decode_late(struct da_lane *l, const struct da_late *late);
/* Reports that are there together (those of AUX data) go to this one from now on, with the lane's ctx. */
void da_lane_emit_many(struct da_lane *l, da_emit_many_fn emit);
/* Takes one SAMPLE record; others are ignored. event: index of its event. */
void da_lane_sample(struct da_lane *l, uint32_t event, const struct da_rec *rec);

/* Are the event's samples of fixed layout with an address of their own, so that da_lane_samples() may have
 * them? */
bool da_lane_plain(const struct da_lane *l, uint32_t event);
#define DA_LANE_SAMPLES 128
/* n > 0 reports of one event, CPU and process, in order, each its sample's only one; l as of da_emit_fn. */
typedef void (*da_group_fn)(void *ctx, const struct da_report *r, size_t n, struct da_ledger *l);
void da_lane_group(struct da_lane *l, da_group_fn fn);
/* Takes n <= DA_LANE_SAMPLES samples of plain events, in this machine's byte order: what da_lane_sample() would
 * make of them goes to da_group_fn, with the lane's ctx. Left to da_lane_sample() are those that give no report;
 * odd[] gets their positions. Returns how many they are. */
size_t da_lane_samples(struct da_lane *l, const struct da_sample_at *s, size_t n, uint16_t *odd);

/* How ticks of the PMU's counter become times of the recording (PERF_RECORD_TIME_CONV). */
struct da_clock {
	uint64_t zero, cycles, mask; /* cycles, mask: only if wraps */
	uint32_t mult;
	uint8_t shift; /* below 64 */
	bool wraps;    /* the counter is shorter than 64 bits */
};
uint64_t da_clock_ns(const struct da_clock *c, uint64_t ticks);

/* AUX trace data: whose it is. */
struct da_aux_source {
	uint32_t event, cpu;          /* cpu: UINT32_MAX if its buffer belongs to a task */
	uint64_t time_ns;             /* of the bytes as a whole, 0 unknown */
	const struct da_clock *clock; /* NULL: ticks mean nothing, time_ns stands for them */
	/* Adds to n reports what the caller knows: their tasks, say. Returns how many of them are wanted, moved
	 * to the front in order; the records of the others are not counted. NULL: nothing to add. */
	size_t (*complete)(void *ctx, struct da_report *r, size_t n);
	void *ctx;
};

/* Takes AUX bytes, contiguous by offset; in->base is set here. Returns the bytes consumed; the rest is to
 * be presented again with more behind it. */
size_t da_lane_aux(struct da_lane *l, const struct da_aux_source *s, const struct da_input *in);
/* Could another lane go on with the bytes that follow those consumed? False in the midst of a record. */
bool da_lane_aux_idle(struct da_lane *l, const struct da_aux_source *s);
/* Adds the counts of one lane to another with the same events, and zeroes them there; decoders keep their
 * state. False: out of memory. */
bool da_lane_move(struct da_lane *to, struct da_lane *from);
/* Ledger of (event, cpu), created on demand; NULL: out of memory. Only this lane's thread may call. */
struct da_ledger *da_lane_ledger(struct da_lane *l, uint32_t event, uint32_t cpu);
/* Copies for display from any thread: sums over the lane's CPUs into *sum for one event (or all: ~0u). */
void da_lane_sum(const struct da_lane *l, uint32_t event, struct da_ledger *sum);
/* Visits every (event, cpu) ledger. */
void da_lane_each(const struct da_lane *l,
		  void (*fn)(void *ctx, uint32_t event, uint32_t cpu, const struct da_ledger *led),
		  void *ctx);
void da_lane_decode_stats(const struct da_lane *l, struct da_decode_stats *sum);

#endif
