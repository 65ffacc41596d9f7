/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The insides of struct da_tasks: a log for each process of what its records say, sorted by
 * time, each entry with the state after it. A question about a time is a binary search; a record
 * that arrives late is put where it belongs and the entries after it are worked out again, in
 * the children forked from them too. So the order of arrival does not matter. Shared by
 * src/task*.c only; no locking here.
 */
#ifndef DA_TASK_LOG_H
#define DA_TASK_LOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "da_task.h"
#include "idmap.h"
#include "task_names.h"
#include "task_tree.h"

#define LOG_NONE       UINT32_MAX
#define LOG_MOVE_SHIFT 5 /* elements of an array moved for one unit of credit */

enum op_kind {
	OP_MMAP,
	OP_COMM,
	OP_THREAD, /* a thread of this process was created */
	OP_PARENT, /* this process forked another one, whose OP_FORK copies from here */
	OP_EXIT,   /* of one thread; the process ends with its last known one */
	OP_EXEC,   /* a new address space, whatever was before; the first of the two "hard" kinds */
	OP_FORK    /* this process begins */
};

enum op_flag {
	OP_BEGINS = 1 << 0,        /* op.mm began here */
	OP_JOINED_LEADER = 1 << 1, /* the process's main thread became a member of mm here */
	OP_JOINED = 1 << 2,        /* op.tid became a member of mm here */
	OP_LEFT = 1 << 3           /* op.tid left mm here */
};

/* One entry. (time_ns, seq) is its key: unique, ascending in a log. */
struct op {
	uint64_t time_ns;
	uint32_t seq; /* order of arrival */
	uint32_t ref; /* MMAP: mapping; THREAD, PARENT, FORK: lineage; else 0 */
	uint32_t tid;
	/* state after it */
	uint32_t mm;      /* 0: no such process now */
	uint32_t root;    /* what is mapped; a counted reference */
	uint32_t members; /* known live threads, the main one included */
	uint8_t kind, flags;
};

/* A thread's belonging to an address space from a time on; mm 0: it ended. */
struct member {
	uint64_t time_ns;
	uint32_t seq, mm;
	uint32_t lineage; /* how it was created; LOG_NONE: unknown */
};

struct comm {
	uint64_t time_ns;
	uint32_t seq;
	const char *text;
};

/* What a pid or tid was in its times: as a process, as a thread. */
struct task {
	uint32_t id;
	uint32_t nr_ops, room_ops;
	uint32_t nr_members, room_members;
	uint32_t nr_comms, room_comms;
	struct op *ops;
	struct member *members;
	struct comm *comms;
};

/* A mapping as its record said. */
struct mapping {
	uint64_t start, end, pgoff, ino, ino_gen, from_ns;
	const char *name;
	uint32_t maj, min, prot;
	uint8_t kind;
	bool may_be_heap; /* private anonymous memory to read and write */
};

/* Who created whom: key of the entry and the thread that did it. */
struct lineage {
	uint64_t time_ns;
	uint32_t seq;
	uint32_t parent, parent_tid, child; /* parent == child: a thread */
	bool copies;                        /* the child begins with the parent's mappings */
};

/* Where an address space begins, unless a late record made it part of another one: then the
 * entry of this key does not begin it any more. */
struct space {
	uint64_t time_ns;
	uint32_t seq, pid;
};

struct log_limits {
	uint32_t maps_per_mm; /* pieces in one address space */
	uint32_t nodes;       /* tree nodes in all */
	uint32_t ops;         /* entries in all */
};

struct da_tasks {
	pthread_rwlock_t lock;
	_Atomic uint64_t generation;
	struct log_limits limits;
	struct da_tasks_stats stats;
	struct tree_pool tree;
	struct names names;
	const char *anon_name, *heap_name; /* NULL: there was no memory for them */
	struct idmap by_id;                /* pid or tid -> index of task */
	struct idmap members; /* mm << 32 | tid, of those alive at the end of the logs */
	struct task **task;
	uint32_t nr_tasks, room_tasks;
	struct mapping *map;
	uint32_t nr_maps, room_maps;
	struct lineage *line;
	uint32_t nr_lines, room_lines;
	struct space *space; /* [mm - 1] */
	uint32_t nr_spaces, room_spaces;
	uint32_t *todo; /* lineages whose parent's mappings changed */
	uint32_t nr_todo, room_todo;
	uint32_t seq;
	uint64_t nr_ops;
	int64_t credit; /* for working out again what late records change */
	bool no_memory; /* something could not be stored while the record under way was worked in */
};

/* As da_tasks_new(), with other limits. */
struct da_tasks *log_new(const struct log_limits *limits);

/* Begins to work in a record, which earns late ones their work. False: there is no room for
 * more. */
bool log_begin(struct da_tasks *t);
/* Room for one more element; -DA_ENOMEM. *array and *room change. */
int log_room(void *array, uint32_t *room, uint32_t nr, size_t size);

struct task *log_task(const struct da_tasks *t, uint32_t id); /* NULL: never heard of */
struct task *log_task_add(struct da_tasks *t, uint32_t id);   /* NULL: out of memory */

/* The number of elements with a key <= (time, seq), of nr sorted ones that each begin with
 * { uint64_t time_ns; uint32_t seq; } and are size bytes apart. */
uint32_t log_upto(const void *array, uint32_t nr, size_t size, uint64_t time_ns, uint32_t seq);

/* The time at which a record about these pids and tids may be taken in: its own, or that of the
 * latest entry about any of them if too much would have to be worked out again. */
uint64_t log_admit(struct da_tasks *t, const uint32_t *ids, size_t nr, uint64_t time_ns);
/* Puts an entry (key, ref, tid, kind) into p's log. 0 or -DA_ENOMEM; the log is sound either
 * way. */
int log_insert(struct da_tasks *t, struct task *p, const struct op *entry);

/* The last entry at or before time; NULL: none. */
const struct op *log_at(const struct task *p, uint64_t time_ns);

#endif
