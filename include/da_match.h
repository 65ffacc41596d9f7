/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The match and update layers: dequeued reports are looked up in the regions of their address space and
 * credited. The same code serves the live run and the offline decode.
 *
 * Virtual spaces (one per address space) and the physical space are different and never mix. A report
 * with both addresses is matched in the virtual space first: that result is the ledger's; the physical
 * space keeps a ledger of its own.
 * One thread at a time.
 */
#ifndef DA_MATCH_H
#define DA_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_adapt.h"
#include "da_probe.h"
#include "da_report.h"
#include "da_stage.h"
#include "da_task.h"

/* What regions are: mappings; chunks of a fixed size; mappings cut where their sampled density changes;
 * or what DAMON's algorithm makes of the reports. */
enum da_regions {
	DA_REGIONS_VMA,
	DA_REGIONS_FIXED,
	DA_REGIONS_DENSITY,
	DA_REGIONS_DAMON,
	DA_REGIONS_KERNEL,
	DA_REGIONS_NR
};
const char *da_regions_name(enum da_regions r);
enum da_space_kind { DA_SPACE_VIRTUAL, DA_SPACE_PHYSICAL };

struct da_damon;
struct da_damon_region;
/* Regions of a process at the end of an aggregation. */
typedef void (*da_snapshot_fn)(void *ctx, uint32_t pid, uint64_t start_ns, uint64_t end_ns,
			       const struct da_damon_region *r, size_t nr);

struct da_match_opts {
	enum da_regions regions;
	uint64_t fixed_bytes; /* DA_REGIONS_FIXED: power of two, >= 4096 */
	size_t max_regions; /* DA_REGIONS_DENSITY: of a space, if its mappings are not more; 0: no bound */
	struct da_adapt_opts adapt; /* DA_REGIONS_DAMON; checked */
	da_snapshot_fn snapshot;    /* DA_REGIONS_DAMON: NULL, or what gets each snapshot */
	void *snapshot_ctx;
	uint64_t span_ns; /* length of the recording, if it is known before its reports; else 0 */
	uint64_t interval_ns; /* sampling interval of a credit; 0: 5 ms */
	bool virt,
		phys; /* which spaces to keep; a report without such a space misses with miss_space */
	const uint32_t *pids; /* targets; NULL: every process */
	size_t nr_pids;
	/* A report whose virtual address is in no mapping known: true if it will be given again when more is
	 * known, then it is not counted now. NULL: never. Asked only of reports given one by one. */
	bool (*missed)(void *ctx, const struct da_report *r);
	void *missed_ctx;
	size_t nr_events;
	const struct da_probes *probes; /* bound to these events; NULL: none. Must live as long */
	bool accumulate; /* keep per-region numbers and heat cells (report); false: counters only (live) */
	bool part;        /* to be merged into another with da_match_merge() */
	size_t max_cells; /* bound of heat cells over all spaces, 32 bytes each; 0: 192 Ki */
	size_t max_places; /* bound of the cells that regions are cut from, 48 bytes each; 0: 96 Ki */
};

/* Numbers of one event in one region. Events in different units are never added. */
struct da_region_stat {
	uint32_t event;
	uint32_t owner;    /* private to the match layer */
	uint64_t samples;  /* reports matched here */
	uint64_t accesses; /* sum of their periods */
	uint64_t reads,
		writes; /* reports with a known direction; a read-modify-write counts in both */
	uint64_t
		hits; /* sampling intervals with such a report; of joined regions each counts its own */
	uint64_t hit_start, hit_end; /* addresses matched, [start, end) */
};

struct da_region {
	uint64_t start, end; /* [start, end): the widest extent that the mapping had */
	uint64_t from_ns;    /* mapped since; 0: since before the recording, or not known */
	const char
		*label; /* "[heap]", "[stack]", "anon rw-", "/usr/bin/gzip r--", ...; the match's */
	const struct da_region_stat
		*by_event; /* nr_by_event, ascending; events without a report are left out */
	uint32_t nr_by_event;
	uint32_t area, last_area;  /* positions in its space's areas of what it was cut from */
	bool watched;              /* by DAMON, or its algorithm: the next two are known */
	uint32_t nr_accesses, age; /* as DAMON has them: of the last aggregation; in aggregations */
	/* probes with a report here: event is nr_events + the probe's number, of the numbers only samples
	 * (reports that passed) and hits are kept */
	const struct da_region_stat *by_probe;
	uint32_t nr_by_probe;
};

struct da_space {
	enum da_space_kind kind;
	uint64_t
		mm; /* virtual: address space id, 0 if the process is known by its pid only; physical: 0 */
	uint32_t pid;
	const char *comm;
	struct da_region *regions; /* sorted, disjoint; valid after da_match_finish() */
	size_t nr_regions;
	/* What regions were cut from, sorted and disjoint: the mappings. Else the regions themselves. */
	struct da_region *areas;
	size_t nr_areas;
	struct da_ledger ledger; /* match and update of this space only */
	struct da_heat *heat; /* zones are positions in areas; NULL without reports or accumulate */
	uint64_t from_ns, to_ns; /* life of the address space; 0, UINT64_MAX: not known */
};

struct da_match;

struct da_match *da_match_new(const struct da_match_opts *o,
			      struct da_tasks *tasks); /* NULL: no memory */
void da_match_free(struct da_match *m);
/* Takes one dequeued report: counts it in in[MATCH] and exactly one of out or drops of match, and so on
 * for update, under (event, cpu) and under its space. An update is a credit: the first report of an event
 * for a region in a sampling interval. Events are credited apart, so that no event hides another. */
void da_match_report(struct da_match *m, const struct da_report *r);
/* n reports in order; much cheaper than one by one where neighbours are of one event, CPU and process. */
void da_match_reports(struct da_match *m, const struct da_report *r, size_t n);
/* A sample record of this event and process that gave no report: the sampler was looking. */
void da_match_observe(struct da_match *m, uint32_t event, uint32_t pid, uint64_t time_ns);
/* Adds all that was counted in `part`, made with the same options and tasks and with `part` set, as if its
 * reports had come behind those of m; part can only be freed then. Credits are each one's own: a region
 * may get one of both in the same interval. Memory that ran out makes da_match_finish() fail. */
void da_match_merge(struct da_match *m, struct da_match *part);
/* The ledger (match and update layers) of one event and CPU; NULL if nothing was counted there. */
const struct da_ledger *da_match_ledger(const struct da_match *m, uint32_t event, uint32_t cpu);
/* Number of CPUs that a ledger may exist for (highest CPU seen + 1); at most 65536. */
uint32_t da_match_nr_cpus(const struct da_match *m);
/* Builds the sorted region tables; the spaces with the most matched reports come first, the physical one
 * last. Call once, before reading spaces; no report after it. 0 or -DA_ENOMEM (also when a report could
 * not be kept for lack of memory). */
int da_match_finish(struct da_match *m);
/* The snapshots for DA_REGIONS_KERNEL, finished; before da_match_finish(). Borrowed until then. */
void da_match_kernel(struct da_match *m, const struct da_damon *d);
size_t da_match_nr_spaces(const struct da_match *m);
const struct da_space *da_match_space(const struct da_match *m, size_t i);
/* Was the sampler seen at work in this space between the times (a sample record, with or without a
 * report), to about a thousandth of the recording? */
bool da_match_observed(const struct da_match *m, const struct da_space *s, uint32_t event,
		       uint64_t t0_ns, uint64_t t1_ns);

#endif
