/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who existed and what was mapped, when: a timeline of tasks and address spaces built from COMM, FORK,
 * EXIT and MMAP records, in any order of arrival (live, the rings of other CPUs arrive late), queried by
 * time. Exec starts a new address space; a later mapping replaces what it overlaps from its time on; a
 * pid that is used again is another process.
 *
 * Thread-safe: one lock inside; returned structs are copies, returned strings live until free.
 */
#ifndef DA_TASK_H
#define DA_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "da_perfdata.h"

struct da_tasks;

enum da_map_kind {
	DA_MAP_FILE,
	DA_MAP_ANON,
	DA_MAP_HEAP,
	DA_MAP_STACK,
	DA_MAP_VDSO,
	DA_MAP_SHM,
	DA_MAP_OTHER,
	DA_MAP_KIND_NR
};

/* One mapping as it was at the time asked for. */
struct da_map {
	uint64_t start, end; /* [start, end) at that time */
	uint64_t pgoff;      /* file offset of start */
	uint32_t maj, min;
	uint64_t ino, ino_gen;
	uint32_t prot; /* PROT_ bits; exec assumed when the record did not say */
	uint8_t kind;  /* enum da_map_kind */
	/* File name as recorded, "[heap]", "//anon" ...; lives until da_tasks_free. What looks like the first
	 * brk of a process is "[heap]" too: recent kernels record it as "//anon". */
	const char *name;
	uint64_t mm; /* address space id: unique per process life and exec, never reused */
	uint64_t id; /* this mapping's id: unique, never reused; changes when replaced or resized */
	uint64_t from_ns; /* mapped since */
};

/* Records that did not become part of the timeline as they are. Memory is bounded: by limits on the
 * mappings of an address space and on all entries, and on the work that late records may cause. */
struct da_tasks_stats {
	uint64_t records;     /* MMAP, COMM, FORK, EXIT given */
	uint64_t damaged;     /* do not fit their bytes */
	uint64_t kernel;      /* mappings of the kernel, a hypervisor or a guest */
	uint64_t zero_length; /* mappings */
	uint64_t wrapped;     /* mappings that reach beyond the end of the address space */
	uint64_t over_limit;  /* dropped: a limit on memory */
	uint64_t late;        /* taken in at their time though later ones were known */
	uint64_t late_moved;  /* came too late too often: taken in at a later time than theirs */
};

struct da_tasks *da_tasks_new(void); /* NULL: out of memory */
void da_tasks_free(struct da_tasks *t);

/* Each takes a parsed record and its time (0: since ever). 0 or -DA_ENOMEM. */
int da_tasks_mmap(struct da_tasks *t, const struct da_rec_mmap *m, uint64_t time_ns);
int da_tasks_comm(struct da_tasks *t, const struct da_rec_comm *c, uint64_t time_ns);
int da_tasks_fork(struct da_tasks *t, const struct da_rec_task *f, uint64_t time_ns);
int da_tasks_exit(struct da_tasks *t, const struct da_rec_task *f, uint64_t time_ns);
/* Feeds any record: the four above are recognised, others ignored. */
int da_tasks_record(struct da_tasks *t, const struct da_rec *rec);

/* The mapping of pid that contains addr at time (UINT64_MAX: now); false if none is known. A stack grows
 * without a record: an address in no mapping and up to 8 MiB below a "[stack]" is found in it, with start
 * lowered to the address's page and the same id. */
bool da_tasks_find(struct da_tasks *t, uint32_t pid, uint64_t time_ns, uint64_t addr,
		   struct da_map *out);
/* The address space of pid at time; 0 if the process is not known at that time. */
uint64_t da_tasks_mm(struct da_tasks *t, uint32_t pid, uint64_t time_ns);
/* Process of a thread at time; 0 if unknown. */
uint32_t da_tasks_pid_of_tid(struct da_tasks *t, uint32_t tid, uint64_t time_ns);
/* The same, and since when and until when the answer holds at least: [*from_ns, *to_ns). */
uint32_t da_tasks_pid_span(struct da_tasks *t, uint32_t tid, uint64_t time_ns, uint64_t *from_ns,
			   uint64_t *to_ns);
/* Around this time, as long as the generation does not change, pid has one address space (or none) with the
 * same mappings: in [*from_ns, *to_ns) at least; to_ns UINT64_MAX: from then on. */
void da_tasks_span(struct da_tasks *t, uint32_t pid, uint64_t time_ns, uint64_t *from_ns,
		   uint64_t *to_ns);
/* comm of a thread (or its process) at time; "" if unknown; lives until da_tasks_free. */
const char *da_tasks_comm_of(struct da_tasks *t, uint32_t pid, uint32_t tid, uint64_t time_ns);
/* Copies the mappings of pid at time in address order; returns their number, at most max (call with max
 * 0 to size). */
size_t da_tasks_maps(struct da_tasks *t, uint32_t pid, uint64_t time_ns, struct da_map *out,
		     size_t max);
/* All address spaces ever seen: fn(ctx, mm, pid, comm, from_ns, to_ns). */
void da_tasks_each_mm(struct da_tasks *t,
		      void (*fn)(void *ctx, uint64_t mm, uint32_t pid, const char *comm,
				 uint64_t from_ns, uint64_t to_ns),
		      void *ctx);
/* All mappings ever seen in an address space (also replaced ones), by start, then time. */
size_t da_tasks_mm_maps(struct da_tasks *t, uint64_t mm, struct da_map *out, size_t max);
/* A number that grows with every change to an address space (cache key). Takes no lock. */
uint64_t da_tasks_generation(struct da_tasks *t);
struct da_tasks_stats da_tasks_stats(struct da_tasks *t);

#endif
