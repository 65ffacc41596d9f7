/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The insides of the match layer, shared by src/match*.c only: match.c keeps it together, match_count.c
 * counts reports, match_find.c finds their places, match_entries.c keeps spaces and regions while reports come in,
 * match_regions.c turns them into tables, match_tables.c holds the index and the sampler's activity.
 *
 * All parts are bounded by the input: nothing is allocated per pair of things (region and event, space and
 * event) before a report brought that pair together.
 */
#ifndef DA_MATCH_PRIV_H
#define DA_MATCH_PRIV_H

#include "da_adapt.h"
#include "da_damon.h"
#include "da_heat.h"
#include "da_match.h"
#include "da_region_set.h"
#include "match_hits.h"
#include "region_sketch.h"

#define NONE       UINT32_MAX
#define PHYS_CHUNK (16ull << 20)

/* ---- index: (kind, space, key) -> position in an array ---- */

enum index_kind {
	KEY_PROC,  /* pid -> proc */
	KEY_SPACE, /* mm, or pid with SPACE_BY_PID -> space */
	KEY_ID,    /* in a space: mapping id -> region */
	KEY_START, /* in a space: first address of a mapping -> region */
	KEY_END,   /* in a space: end of a mapping that grows down -> region */
	KEY_STAT,  /* region << 32 | event -> stat */
	KEY_WORK,  /* space << 32 | event -> activity */
	KEY_LABEL, /* hash of name and kind -> label */
	KEY_LEDGER /* event << 32 | cpu -> ledger */
};
#define SPACE_BY_PID (1ull << 63)

struct index_slot {
	uint64_t key;
	uint32_t tag; /* space << 4 | kind */
	uint32_t at;  /* NONE: free */
};

struct index {
	struct index_slot *slot;
	size_t nr_slots, used;
	uint64_t seed; /* so that no file can be made whose keys all collide */
};

/* NONE if absent. */
uint32_t index_find(const struct index *x, enum index_kind kind, uint32_t space, uint64_t key);
/* Adds or replaces. 0 or -DA_ENOMEM. */
int index_put(struct index *x, enum index_kind kind, uint32_t space, uint64_t key, uint32_t at);

/* Regions of fixed chunks by (space, start). There may be millions: a slot is the region's number alone,
 * and the region says what its key is. */
struct chunks {
	uint32_t *slot;
	size_t nr_slots, used;
};

/* Makes room for one more element. 0 or -DA_ENOMEM. */
int grow(void **array, size_t *room, size_t nr, size_t size);

/* ---- when a sampler was at work in a space: a bitmap of time bins ---- */

#define WORK_BINS 1024

struct work {
	uint64_t first; /* bin of bit 0 */
	unsigned shift; /* ns a bin */
	uint64_t bits[WORK_BINS / 64];
};

void work_init(struct work *w, uint64_t time_ns);
void work_mark(struct work *w, uint64_t time_ns);
/* Marks all that is marked in another one. */
void work_merge(struct work *w, const struct work *from);
bool work_any(const struct work *w, uint64_t t0_ns, uint64_t t1_ns);

/* ---- regions under way ---- */

/* The sampling intervals credited lately: late reports of other CPUs find theirs. */
struct credit {
	uint64_t newest, mask; /* bit i: interval newest - i; mask 0: none yet */
};

struct entry {
	uint64_t start, end;
	uint64_t from_ns;
	const char *label;
	uint32_t space;
	uint32_t stat; /* of the first event seen here, or NONE; others through the index */
};

struct label {
	const char *name;
	uint32_t prot;
	uint8_t kind;
	const char *text;
};

struct space {
	struct da_space pub;
	uint32_t self;                  /* its number: survives the sorting of da_match_finish() */
	struct da_adapt *adapt;         /* DA_REGIONS_DAMON, from the first report on */
	struct adapt_to *adapt_to;      /* who gets its snapshots */
	struct da_damon_region *bounds; /* regions that are given; NULL: none */
	size_t nr_bounds;
};

/* A mapping as it was first met, for da_match_merge(). */
struct met {
	struct da_map map;
	uint32_t space, entry;
};

/* What is known of one process: its mappings, frozen while nothing changes. */
struct proc {
	uint32_t pid, space;
	bool target;
	bool frozen; /* set and space hold for reports of [frozen_from_ns, frozen_to_ns) ... */
	uint64_t generation; /* ... while the tasks have this generation */
	uint64_t frozen_from_ns, frozen_to_ns;
	unsigned calm,
		wait;    /* look-ups since the generation changed; freeze when calm reaches wait */
	uint64_t served; /* look-ups that the copy answered */
	struct da_region_set set; /* tag: entry, or NONE before its first report */
	size_t last;              /* range of the last hit */
};

/* A heat cell that has been asked for from memory, and is counted when it is there. */
struct pending {
	struct da_heat *heat; /* NULL: none */
	uint64_t time_ns, addr;
	uint32_t event, entry;
};
#define PENDING 16

/* Chunks that were hit lately, by their number's last bits. */
struct near_chunk {
	uint64_t start;
	uint32_t space, entry; /* NONE: none */
};
#define NEAR 256 /* power of two */

struct match_ledger {
	uint32_t event, cpu;
	struct da_ledger ledger;
};

struct da_match {
	struct da_match_opts o;
	uint32_t *pids; /* sorted copy; NULL: every process */
	struct da_tasks *tasks;
	struct index index;   /* dropped by da_match_finish() */
	struct index lasting; /* KEY_WORK, KEY_LEDGER */
	struct chunks chunks; /* dropped by da_match_finish() */

	struct proc *proc;
	size_t nr_procs, room_procs;
	size_t frozen_ranges; /* over all procs */
	uint32_t last_proc;

	struct space *space;
	size_t nr_spaces, room_spaces;
	uint32_t phys;        /* number of the physical space, NONE before its first report */
	struct space **shown; /* after finish, in order */
	size_t nr_shown;

	struct entry *entry;
	size_t nr_entries, room_entries;
	struct da_region_stat *stat;
	struct credit *credit; /* beside stat */
	size_t nr_stats, room_stats, room_credits;
	struct label *label;
	size_t nr_labels, room_labels;
	char **texts; /* all label texts */
	size_t nr_texts, room_texts;
	struct da_region_stat *joined; /* by_event of the regions with several stats */

	struct work *work;
	size_t nr_work, room_work;
	uint32_t last_work;
	uint64_t last_work_key;

	struct match_ledger *ledger;
	size_t nr_ledgers, room_ledgers;
	uint32_t last_ledger, nr_cpus;
	struct match_ledger spill; /* where counts go when memory ran out: finish fails then */

	struct met *met; /* of a part: its mappings, in order */
	size_t nr_met, room_met;

	uint32_t mask; /* probes that the report under way passes */
	uint64_t interval_from, interval_to,
		interval; /* the sampling interval of the last report */
	size_t cells;
	struct sketch *sketch;             /* NULL: regions are not cut */
	struct da_region_stat *cut_stat;   /* by_event of regions that were cut */
	struct hits *hits;                 /* NULL: regions are not cut, or there are no probes */
	struct da_region_stat *probe_stat; /* by_probe of regions that were cut */
	struct pending pending[PENDING];
	unsigned next_pending;
	uint64_t last_ns;            /* of the reports that drove a da_adapt */
	struct da_heat_front *front; /* of all heats */
	struct near_chunk near[NEAR];
	const struct da_damon *kernel; /* for DA_REGIONS_KERNEL; NULL: none */
	bool no_memory;
	bool finished;
};

/* ---- match.c ---- */

struct da_ledger *match_ledger_of(struct da_match *m, uint32_t event, uint32_t cpu);
/* The heat of a space, made on first use; NULL: out of memory. */
struct da_heat *match_heat(struct da_match *m, uint32_t space);
/* Adds a report to a heat's cell, a little later. */
void match_heat_later(struct da_match *m, struct da_heat *h, uint32_t event, uint32_t entry,
		      uint64_t time_ns, uint64_t addr);
/* Counts what is pending. */
void match_flush(struct da_match *m);
/* A space's heat had so many cells before something was added to it. */
void match_heat_grew(struct da_match *m, const struct da_heat *h, size_t before);

/* Marks an interval; true if it was not yet. */
bool match_credit(struct credit *c, uint64_t interval);

/* ---- match_probe.c ---- */

/* The probes that a report passes; false: it is to be dropped as miss_probe. */
bool match_probes(struct da_match *m, const struct da_report *r, uint32_t *mask);
void match_probes_count(struct da_match *m, uint32_t entry, uint32_t mask, uint64_t addr,
			uint64_t interval);
/* by_event holds the probes' numbers too, last: parts them off. */
void match_part_probes(struct da_match *m, struct da_region *g);
/* After match_refine(): numbers of the regions that share their area. 0 or -DA_ENOMEM. */
int match_cut_probes(struct da_match *m);

/* ---- match_find.c ---- */

/* Where a report belongs, and the limit of what holds its first byte. */
struct place {
	uint32_t space; /* NONE: out of memory */
	uint32_t entry; /* NONE: in no region */
	uint64_t end;
};

int match_by_number(const void *a, const void *b);
struct proc *match_proc(struct da_match *m, uint32_t pid); /* NULL: out of memory */
uint32_t match_space_at(struct da_match *m, struct proc *p, uint64_t time_ns);
/* Has the process one frozen copy that is right for the times lo to hi? */
bool match_frozen(struct da_match *m, struct proc *p, uint64_t lo_ns, uint64_t hi_ns);
/* Of n <= UINT32_MAX reports in a frozen process: at[i] is what match_frozen_place() is to be told. */
void match_find(const struct da_match *m, const struct proc *p, const struct da_report *r, size_t n,
		uint32_t *at);
struct place match_frozen_place(struct da_match *m, struct proc *p, const struct da_report *r,
				uint32_t at);
/* The place of the report's virtual address. */
struct place match_virtual(struct da_match *m, struct proc *p, const struct da_report *r);
/* The place of addr in a space of fixed chunks; virt (NULL: physical) finds the chunk's label. */
struct place match_chunk(struct da_match *m, uint32_t space, uint64_t addr, uint64_t bytes,
			 const struct da_report *virt);
void match_thaw_all(struct da_match *m);

/* ---- match_entries.c: these return NONE (and set no_memory) when memory ran out ---- */

uint32_t match_space(struct da_match *m, uint64_t mm, uint32_t pid);
uint32_t match_phys_space(struct da_match *m);
/* The region of a mapping: the one that it grew from, if it did. */
uint32_t match_entry_of_map(struct da_match *m, uint32_t space, const struct da_map *map);
/* The region of the fixed chunk that begins at start; NONE: it has none yet. */
uint32_t match_chunk_entry(const struct da_match *m, uint32_t space, uint64_t start);
/* Makes it; map (NULL: none known) gives its label. */
uint32_t match_new_chunk(struct da_match *m, uint32_t space, uint64_t start, uint64_t bytes,
			 const struct da_map *map);
uint32_t match_stat(struct da_match *m, uint32_t entry, uint32_t event);
/* The label of a chunk of another match that was made there by match_new_chunk(). */
const char *match_label_from(struct da_match *m, const struct da_match *from, const char *text);
/* Keeps a malloc'ed label text; "" when it is NULL or memory ran out. */
const char *match_keep_text(struct da_match *m, char *text);
/* The sampler's work in a space; NULL when memory ran out. */
struct work *match_work(struct da_match *m, uint32_t space, uint32_t event, uint64_t time_ns);

/* ---- match_regions.c ---- */

/* Entries to sorted disjoint regions, for every space. 0 or -DA_ENOMEM. */
int match_build_regions(struct da_match *m);

/* ---- match_adapt.c ---- */

void match_adapt(struct da_match *m, uint32_t space, const struct da_report *r, uint64_t addr);
/* The last regions become the space's bounds. 0 or -DA_ENOMEM. */
int match_adapt_bounds(struct da_match *m, struct space *s);

/* ---- match_refine.c ---- */

/* Cuts mappings into regions; area[] gives an entry's position in its space's regions, which become its areas.
 * 0 or -DA_ENOMEM. */
int match_refine(struct da_match *m, const uint32_t *area);

#endif
