/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The insides of the offline decode, shared by src/offline*.c only: offline.c reads and decodes,
 * offline_own.c takes in our own records, offline_aux.c AUX traces, offline_raw.c bytes without a container,
 * offline_loss.c what the kernel says it lost, offline_samples.c plain samples, many at a time, offline_sum.c
 * puts the ledgers together.
 */
#ifndef DA_OFFLINE_PRIV_H
#define DA_OFFLINE_PRIV_H

#include "da_code.h"
#include "da_damon.h"
#include "da_error.h"
#include "da_offline.h"
#include "da_own.h"
#include "da_pipeline.h"
#include "idmap.h"

#define MAX_CPUS     65536 /* as the pipeline has it */
#define MAX_MESSAGES 16
#define MAX_GAPS     1024

/* JSON text of one kind of our records, gathered over its continuations. */
struct own_text {
	char *text;
	size_t len, room;
	bool open; /* the last record said that more follows */
};

/* What the last record of a CPU's ring was: loss begins behind it. */
struct ring_end {
	uint64_t last_ns;
	uint64_t throttled_ns; /* since then; 0: not throttled */
};

/* Translations that the live run walked: offline_paddr.c. */
struct paddr_table {
	struct paddr *all;
	size_t nr, room, left_out;
	bool sorted;
};

/* Mappings that the live run found without a record: offline_map.c. */
struct map_since {
	uint64_t time_ns;
	size_t order, len;
	uint8_t *bytes;
	bool swap;
};
struct map_table {
	struct map_since *all;
	size_t nr, room, given;
};

/* An event that may be a tracepoint of DAMON. */
struct damon_event {
	bool known;                     /* whether it is one */
	bool regions;                   /* damon_aggregated */
	bool kernel;                    /* one of the kernel's own pipeline */
	const struct da_tracepoint *tp; /* NULL: not DAMON's */
	struct da_trace *trace;         /* of others than damon_aggregated; owned by the result */
};

/* Samples of DAMON's tracepoints: offline_damon.c. */
struct damon_input {
	struct da_tracepoints *formats;
	struct damon_event *event;
	struct da_damon *snapshots; /* NULL: no such sample yet */
	bool tried, no_data;
	const char *missing; /* an event that may be damon's and has no format */
	struct da_error problem;
	uint64_t bad; /* samples that do not hold their fields */
};

struct da_offline {
	const struct da_offline_opts *opts;
	struct da_reader *reader;
	struct da_tasks *tasks;
	struct da_code_store *code;
	struct da_pipeline *pipeline;
	struct da_lane *lane;
	struct da_match *match;
	struct da_match_opts match_opts; /* its own */
	struct aux *aux;                 /* NULL: nothing was heard of AUX traces */
	struct da_probes *probes;
	struct da_offline_result res;
	bool *plain;     /* by event: its samples may be taken many at a time; NULL: none */
	bool own_inline; /* the file could not be scanned before: own records are taken as they come */
	bool enough, no_memory;
	uint64_t start_ns, stop_ns; /* filters, absolute once the first time is known */
	bool have_first;
	unsigned emitted; /* reports of the record under way */

	uint32_t *hybrid;   /* by event: the one that its samples belong to; NULL: each its own */
	char **hybrid_name; /* by event; NULL: as recorded */

	struct own_text info, ledger, loss, end, facts, tracing, step;
	struct damon_input damon;
	struct paddr_table paddr;
	struct map_table maps;
	size_t room_steps, room_ns_pids;
	struct step_weight {
		double sum, squares;
		uint64_t nr;
	} * weight;               /* by event: periods of its reports; NULL without steps */
	struct idmap recorded_at; /* event << 32 | cpu -> recorded */
	size_t room_recorded;

	struct idmap ring_at; /* cpu -> ring */
	struct ring_end *ring;
	size_t nr_rings, room_rings;
	size_t room_gaps;

	struct idmap cell_at; /* event << 32 | cpu -> cell */
	size_t room_cells;

	char *message[MAX_MESSAGES];
	size_t nr_message, suppressed;
	const char **messages; /* the reader's and ours */
};

/* Counts damage of ours; keeps a bounded number of messages. */
void offline_damage(struct da_offline *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Takes a type 65 record; others than ours are ignored. */
void own_record(struct da_offline *o, const struct da_rec *rec);
/* After the last one: what is incomplete is damage. */
void own_end(struct da_offline *o);
void own_release(struct da_offline *o);

/* DA_OWN_PADDR records, and their da_paddr_fn. */
void paddr_record(struct da_offline *o, const uint8_t *payload, size_t len, bool swap);
bool paddr_lookup(void *offline, uint32_t pid, uint64_t time_ns, uint64_t vaddr, uint64_t *out);
void paddr_end(struct da_offline *o);
void paddr_release(struct da_offline *o);

/* DA_OWN_NSPID records. */
void ns_record(struct da_offline *o, const uint8_t *payload, size_t len, bool swap);

/* DA_OWN_STEP records; the da_period_fn that knows them. */
void step_record(struct da_offline *o, const struct da_own_step *step);
uint64_t step_period(void *offline, uint32_t event, const struct da_samp *s);
void steps_end(struct da_offline *o);

/* DA_OWN_MAP records; and what of them holds at a time that the recording has come to. */
void map_record(struct da_offline *o, const uint8_t *payload, size_t len, bool swap);
void maps_end(struct da_offline *o);
void maps_until(struct da_offline *o, uint64_t time_ns);
void maps_release(struct da_offline *o);

#define AUX_TRUNCATED 0x01 /* flags of an AUX record (uapi linux/perf_event.h) */
#define AUX_PARTIAL   0x04
#define AUX_COLLISION 0x08

/* Times of the filter that are counted from the first sample record: this is its time. */
void offline_first_time(struct da_offline *o, uint64_t time_ns);

/* AUXTRACE_INFO, TIME_CONV, AUXTRACE, AUX, SWITCH_CPU_WIDE; others are ignored. */
void aux_record(struct da_offline *o, const struct da_rec *rec);
/* After the last record. 0 or negative. */
int aux_decode(struct da_offline *o, struct da_error *err);
void aux_release(struct da_offline *o);

/* Events that are one on a hybrid CPU; after they were described and chosen. 0 or -DA_ENOMEM. */
int hybrid_find(struct da_offline *o);
uint32_t hybrid_event(const struct da_offline *o, uint32_t event);
void hybrid_release(struct da_offline *o);

/* Opens o->opts->raw as a reader. */
int raw_open(struct da_offline *o, const char *path, struct da_error *err);
enum da_producer raw_producer(const struct da_raw *raw);

/* Every record that came from a ring, in time order. */
void loss_seen(struct da_offline *o, const struct da_rec *rec);
/* The same of many: the latest of a CPU. */
void loss_seen_until(struct da_offline *o, uint32_t cpu, uint64_t time_ns);
/* LOST, LOST_SAMPLES, AUX, THROTTLE, UNTHROTTLE; before loss_seen() of the same record. */
void loss_record(struct da_offline *o, const struct da_rec *rec);
void loss_end(struct da_offline *o);

/* A sample that the filters let pass; others than of DAMON's tracepoints are ignored. */
void damon_sample(struct da_offline *o, const struct da_rec *rec);
void damon_lost(struct da_offline *o, const struct da_rec *rec);
void damon_end(struct da_offline *o);
void damon_release(struct da_offline *o);

/* The probes, once the events are known. 0 or negative. */
int probes_choose(struct da_offline *o, struct da_error *err);

/* One record as the reader gives it. */
void offline_take(struct da_offline *o, const struct da_rec *rec);
/* May the recording's samples be taken many at a time, in shards? Then all records are: 0 or negative. */
bool samples_in_shards(struct da_offline *o);
int samples_run(struct da_offline *o, struct da_error *err);

/* Cells and sums, after the last record. 0 or -DA_ENOMEM. */
int sum_up(struct da_offline *o);

#endif
