/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The offline decode: a recording through the same pipeline as a live run, and everything that report and
 * `diagnose -i` show of it.
 *
 * Order of calls: open -> run -> result* -> close. Memory is bounded by what is shown, not by the file.
 */
#ifndef DA_OFFLINE_H
#define DA_OFFLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_damon.h"
#include "da_error.h"
#include "da_kernel.h"
#include "da_match.h"
#include "da_own_json.h"
#include "da_perfdata.h"
#include "da_pmu.h"
#include "da_report.h"
#include "da_stage.h"
#include "da_task.h"
#include "da_trace.h"

struct da_offline;

/* Bytes without a container, and what a container would have said of them. */
enum da_raw_kind { DA_RAW_SPE, DA_RAW_PEBS };
struct da_raw {
	enum da_raw_kind kind;
	uint64_t midr; /* spe: the CPU that recorded; 0: unknown */
	uint64_t hz;   /* ticks of the PMU's counter in a second; 0: unknown, and so are times */
	uint8_t pebs_format, pebs_source; /* as in struct da_input */
};

/* Reads "spe[,midr=N][,hz=N]" or "pebs:FORMAT[,source=NAME][,hz=N]". -DA_EUSAGE says what there is. */
int da_raw_parse(const char *text, struct da_raw *out, struct da_error *err);

struct da_offline_opts {
	const struct da_raw *raw; /* the input is such bytes; NULL: a recording */
	bool sum_hybrid; /* the same event of a hybrid CPU's two PMUs is one event, under both names */
	/* nr_events and probes are filled here, and phys is set when the recording may have physical addresses; pids are a
	 * filter below. */
	struct da_match_opts match;
	/* Filters. A sample record that does not pass is counted in `filtered` and nowhere else. */
	const char *const *events; /* names, or numbers of events */
	size_t nr_events;
	const uint32_t *pids;
	size_t nr_pids;
	const char *const *comms;
	size_t nr_comms;
	const char *const
		*probes; /* texts (da_probe.h); none: those that the recording was made with */
	size_t nr_probes;
	bool no_probes;                     /* not the recording's either */
	uint64_t start_ns, stop_ns;         /* [start, stop); stop 0: to the end */
	bool start_relative, stop_relative; /* counted from the first sample record */
	unsigned
		threads; /* for AUX traces and shards; 0: as many as there are CPUs. Changes nothing but the speed */
	uint64_t
		aux_part; /* bytes of AUX trace that a thread decodes at a time, at least; 0: 64 MiB */
	/* a recording of so many bytes may be decoded in shards, where the order of samples does not matter; 0:
	 * 16 MiB */
	uint64_t shard_bytes;
	/* Every report, in decoding order, before it is matched; NULL: none. false: enough, end the run. */
	bool (*report)(void *ctx, const struct da_offline *o, const struct da_report *r);
	/* Every record of a tracepoint of DAMON: what r has is whose and when it was, text its fields; NULL:
	 * none. */
	bool (*trace)(void *ctx, const struct da_offline *o, const struct da_report *r,
		      const char *text);
	void *ctx;
};

struct da_offline_event {
	const char *name;
	enum da_producer producer;
	const char *unit;
	uint64_t period; /* effective; 0: frequency mode, or not known */
	const struct da_attr *attr;
	uint64_t samples;           /* sample records taken (of SPE: completed records) */
	uint64_t filtered;          /* sample records that a filter left out */
	uint64_t first_ns, last_ns; /* of those taken; first > last: none with a time */
	double effective; /* samples of one period that would say as much as its own, of 1; 1: all have one */
	bool wanted; /* the filter by event lets it pass */
	bool sideband; /* not shown: our recorder's carrier of MMAP and COMM, or one that sum_hybrid added up */
};

/* One event on one CPU. */
struct da_offline_cell {
	uint32_t event, cpu;
	bool recorded; /* the recording has a snapshot of it: state and create..enable are from there */
	enum da_state state;
	struct da_ledger ledger;
};

/* Loss before us; -1: not measured. Different units, and two may hold the same loss: never added. */
struct da_offline_lost {
	int64_t counter; /* read_format LOST, from the recording's own record */
	int64_t records; /* sum of PERF_RECORD_LOST */
	int64_t samples; /* sum of LOST_SAMPLES */
	int64_t pending; /* counter - records at stop */
	int64_t aux_truncated, aux_collisions; /* AUX records with the flag */
	int64_t aux_off_ns;                    /* time with the AUX event off */
	int64_t throttled;                     /* THROTTLE records */
	int64_t resync_bytes;                  /* bytes of AUX skipped to find the next record */
};

/* A time in which something was lost: between the last record before it and the record that says so. */
struct da_offline_gap {
	uint64_t t0_ns, t1_ns;
	int64_t lost; /* records or samples, -1: not known (throttled) */
};

/* A process that is in another pid namespace than the recorder was, from a time on. */
struct da_ns_pid {
	uint32_t pid, ns_pid;
	uint64_t time_ns;
};

struct da_offline_result {
	const struct da_file_info *file;
	bool damaged;                /* of the file, or of our own records in it */
	const char *const *messages; /* what could not be read, bounded in number */
	size_t nr_messages;
	struct da_offline_event *events;
	size_t nr_events;
	struct da_offline_cell *cells; /* this decode and what was recorded, by event and CPU */
	size_t nr_cells;
	struct da_ledger ledger; /* their sum; create, bind, enable and ring only when own_file */
	bool own_file;           /* written by record: its life layers were measured */
	/* what the recording says of itself; only when own_file */
	struct da_own_info info;
	struct da_own_ledger *recorded; /* the last snapshot of each event and CPU */
	size_t nr_recorded;
	struct da_ledger recorded_ledger; /* their sum */
	bool has_recorded, has_end;
	struct da_ns_pid *ns_pids;
	size_t nr_ns_pids;
	struct da_own_step *steps; /* of an adaptive period, by time */
	size_t nr_steps;
	struct da_own_end end;
	const char *facts; /* JSON text of DA_OWN_FACTS, or NULL */
	size_t facts_len;
	struct da_offline_lost lost;
	struct da_offline_gap *gaps; /* by time, disjoint, bounded in number */
	size_t nr_gaps;
	uint64_t first_ns,
		last_ns; /* of the sample records taken; first > last: none with a time */
	uint64_t samples, filtered;     /* sample records */
	uint64_t aux_bytes;             /* AUX trace data of kinds that are not decoded */
	enum da_regions regions;        /* as asked for */
	const struct da_probes *probes; /* NULL: none */
	const struct da_match *match;   /* finished: spaces, regions, heat cells */
	const struct da_damon
		*damon; /* DAMON's own regions; NULL: no samples of damon_aggregated */
	/* The other tracepoints of DAMON that had samples, by event. */
	struct da_offline_trace {
		uint32_t event;
		struct da_trace *trace;
	} * traces;
	size_t nr_traces;
	/* The kernel's own pipeline; NULL: none of its tracepoints was listened to. Their events are no samplers:
	 * of_kernel by event. */
	struct da_kernel *kernel;
	bool *of_kernel;
	bool complete; /* false: `report` ended the run */
};

/* Opens the recording and finds the events that the filters name. Raw bytes are an event "spe" or "pebs": a
 * record's process is its CONTEXT packet's number, else 0. Refusals are da_reader_open()'s, and
 * -DA_EUSAGE for an event that the recording does not have (the message lists those it has). opts and
 * what it points to must live until close. */
int da_offline_open(struct da_offline **out, const char *path, const struct da_offline_opts *opts,
		    struct da_error *err);
/* Reads and decodes all. Damage is no failure (result.damaged); a negative return is. */
int da_offline_run(struct da_offline *o, struct da_error *err);
const struct da_offline_result *da_offline_result(const struct da_offline *o);
/* The id that a process has in its own pid namespace; 0: it is in the recorder's, or not known. */
uint32_t da_offline_ns_pid(const struct da_offline_result *r, const struct da_space *s);
/* Tasks and mappings, also while it runs. */
struct da_tasks *da_offline_tasks(const struct da_offline *o);
/* Event of a report, while it runs or later. */
const struct da_offline_event *da_offline_event(const struct da_offline *o, uint32_t event);
void da_offline_close(struct da_offline *o); /* NULL allowed */

#endif
