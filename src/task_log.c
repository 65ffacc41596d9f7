/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The logs of task_log.h: how each entry changes the state of its process, and what has to be
 * worked out again when an entry is put before others. Knows no records and answers no
 * questions: src/task.c does.
 *
 * Two kinds of entry begin an address space whatever was before (OP_FORK, OP_EXEC), so a late
 * entry is felt no further than to the next of these. Another entry begins one only if the
 * process is not known at its time.
 */
#include "task_log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "da_error.h"

/* Work that late records cause is paid from a credit that each record adds to, so that no order of
 * records costs more than a constant for each. In units of about 100 ns. */
#define CREDIT_START  (1 << 24)
#define CREDIT_MAX    (1 << 26)
#define CREDIT_RECORD 256
#define COST_OVERLAY  32

#define BRK_RANDOM (1ull << 30)
#define BRK_ALONE  (64ull << 30)

/* What a single late record may reach: a second's worth of entries of the busiest process. */
#define MAX_REACH (1 << 14)
/* Of one id: no machine uses one again so often, and each late entry moves them. */
#define MAX_MARKS (1 << 16)

/* ---- the object ---- */

struct da_tasks *log_new(const struct log_limits *limits)
{
	struct da_tasks *t = calloc(1, sizeof(*t));
	pthread_rwlockattr_t attr;
	struct timespec now;
	uint64_t seed;

	if (!t)
		return NULL;
	/* Only has to be unknown to whoever wrote the file: no answer depends on it. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		seed = (uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)t;
	}
	pthread_rwlockattr_init(&attr);
	/* The default lets a steady stream of questions keep records out for good. */
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&t->lock, &attr);
	pthread_rwlockattr_destroy(&attr);
	t->limits = *limits;
	tree_pool_init(&t->tree, limits->nodes);
	names_init(&t->names, seed);
	t->anon_name = names_keep(&t->names, "//anon");
	t->heap_name = names_keep(&t->names, "[heap]");
	idmap_init(&t->by_id, seed);
	idmap_init(&t->members, seed);
	t->credit = CREDIT_START;
	return t;
}

bool log_begin(struct da_tasks *t)
{
	t->no_memory = false;
	t->stats.records++;
	if (t->credit < CREDIT_MAX)
		t->credit += CREDIT_RECORD;
	if (t->nr_ops + 2 <= t->limits.ops && t->seq < UINT32_MAX) /* a fork makes two */
		return true;
	t->stats.over_limit++;
	return false;
}

int log_room(void *array, uint32_t *room, uint32_t nr, size_t size)
{
	void **p = array, *bigger;
	uint64_t want = *room ? *room + (uint64_t)*room / 2 + 1 : 2;

	if (nr < *room)
		return 0;
	if (want > UINT32_MAX / 2)
		return -DA_ENOMEM;
	bigger = reallocarray(*p, (size_t)want, size);
	if (!bigger)
		return -DA_ENOMEM;
	*p = bigger;
	*room = (uint32_t)want;
	return 0;
}

struct task *log_task(const struct da_tasks *t, uint32_t id)
{
	uint32_t i = idmap_get(&t->by_id, id, LOG_NONE);

	return i == LOG_NONE ? NULL : t->task[i];
}

struct task *log_task_add(struct da_tasks *t, uint32_t id)
{
	struct task *p = log_task(t, id);

	if (p)
		return p;
	if (log_room(&t->task, &t->room_tasks, t->nr_tasks, sizeof(*t->task)))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p || idmap_put(&t->by_id, id, t->nr_tasks)) {
		free(p);
		return NULL;
	}
	p->id = id;
	t->task[t->nr_tasks++] = p;
	return p;
}

/* ---- keys ---- */

struct key {
	uint64_t time_ns;
	uint32_t seq;
};

static struct key key_at(const void *array, size_t i, size_t size)
{
	struct key k = {0};

	memcpy(&k, (const char *)array + i * size, offsetof(struct key, seq) + sizeof(k.seq));
	return k;
}

static bool after(struct key k, uint64_t time_ns, uint32_t seq)
{
	return k.time_ns != time_ns ? k.time_ns > time_ns : k.seq > seq;
}

uint32_t log_upto(const void *array, uint32_t nr, size_t size, uint64_t time_ns, uint32_t seq)
{
	uint32_t lo = 0, hi = nr;

	if (!nr || !after(key_at(array, nr - 1, size), time_ns, seq))
		return nr; /* by far the most common case */
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (after(key_at(array, mid, size), time_ns, seq))
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

const struct op *log_at(const struct task *p, uint64_t time_ns)
{
	uint32_t n = log_upto(p->ops, p->nr_ops, sizeof(*p->ops), time_ns, UINT32_MAX);

	return n ? &p->ops[n - 1] : NULL;
}

/* The entry with exactly this key; LOG_NONE: it was dropped. */
static uint32_t index_of(const struct task *p, uint64_t time_ns, uint32_t seq)
{
	uint32_t n = log_upto(p->ops, p->nr_ops, sizeof(*p->ops), time_ns, seq);

	return n && p->ops[n - 1].time_ns == time_ns && p->ops[n - 1].seq == seq ? n - 1 : LOG_NONE;
}

/* ---- members of an address space ---- */

static uint64_t member_key(uint32_t mm, uint32_t tid)
{
	return (uint64_t)mm << 32 | tid;
}

static void mark_add(struct da_tasks *t, uint32_t tid, struct member m)
{
	struct task *p = log_task_add(t, tid);
	uint32_t at;

	if (p && p->nr_members >= MAX_MARKS) {
		t->stats.over_limit++;
		return;
	}
	if (!p || log_room(&p->members, &p->room_members, p->nr_members, sizeof(*p->members))) {
		t->no_memory = true;
		return;
	}
	at = log_upto(p->members, p->nr_members, sizeof(*p->members), m.time_ns, m.seq);
	t->credit -= (p->nr_members - at) >> LOG_MOVE_SHIFT;
	memmove(&p->members[at + 1], &p->members[at], (p->nr_members - at) * sizeof(*p->members));
	p->members[at] = m;
	p->nr_members++;
}

static void mark_del(struct da_tasks *t, uint32_t tid, const struct op *op)
{
	struct task *p = log_task(t, tid);
	uint32_t n;

	if (!p)
		return;
	n = log_upto(p->members, p->nr_members, sizeof(*p->members), op->time_ns, op->seq);
	if (!n || p->members[n - 1].time_ns != op->time_ns || p->members[n - 1].seq != op->seq)
		return; /* there was no memory for it */
	t->credit -= (p->nr_members - n) >> LOG_MOVE_SHIFT;
	memmove(&p->members[n - 1], &p->members[n], (p->nr_members - n) * sizeof(*p->members));
	p->nr_members--;
}

static void join(struct da_tasks *t, struct op *op, uint32_t tid, enum op_flag how,
		 uint32_t lineage)
{
	if (idmap_has(&t->members, member_key(op->mm, tid)))
		return;
	if (idmap_put(&t->members, member_key(op->mm, tid), 1)) {
		t->no_memory = true;
		return;
	}
	op->flags |= (uint8_t)how;
	op->members++;
	mark_add(t, tid,
		 (struct member){
			 .time_ns = op->time_ns, .seq = op->seq, .mm = op->mm, .lineage = lineage});
}

/* The process ends when the last thread that is known of it has: its main thread may go first. */
static void leave(struct da_tasks *t, struct op *op)
{
	if (!idmap_del(&t->members, member_key(op->mm, op->tid)))
		return;
	op->flags |= OP_LEFT;
	op->members--;
	if (!op->members)
		op->mm = 0;
	mark_add(t, op->tid,
		 (struct member){.time_ns = op->time_ns, .seq = op->seq, .lineage = LOG_NONE});
}

/* Takes back what an entry did to the members; those after it were taken back before. */
static void undo_members(struct da_tasks *t, struct task *p, uint32_t i)
{
	struct op *op = &p->ops[i];

	if (op->flags & OP_LEFT) {
		if (idmap_put(&t->members, member_key(p->ops[i - 1].mm, op->tid), 1))
			t->no_memory = true;
		mark_del(t, op->tid, op);
	}
	if (op->flags & OP_JOINED) {
		idmap_del(&t->members, member_key(op->mm, op->tid));
		mark_del(t, op->tid, op);
	}
	if (op->flags & OP_JOINED_LEADER) {
		idmap_del(&t->members, member_key(op->mm, p->id));
		mark_del(t, p->id, op);
	}
	op->flags &= OP_BEGINS;
}

/* ---- state after an entry ---- */

static bool is_hard(const struct op *op)
{
	return op->kind >= OP_EXEC;
}

static uint32_t space_add(struct da_tasks *t, const struct task *p, const struct op *op)
{
	if (log_room(&t->space, &t->room_spaces, t->nr_spaces, sizeof(*t->space))) {
		t->no_memory = true;
		return 0;
	}
	t->space[t->nr_spaces] =
		(struct space){.time_ns = op->time_ns, .seq = op->seq, .pid = p->id};
	return ++t->nr_spaces;
}

/* mm, members and flags of entry i. An entry that began an address space before and does so
 * again keeps its number: others know the space by it. */
static void work_out_life(struct da_tasks *t, struct task *p, uint32_t i)
{
	const struct op none = {0}, *prev = i ? &p->ops[i - 1] : &none;
	struct op *op = &p->ops[i];
	bool had = op->flags & OP_BEGINS,
	     begins = is_hard(op) || (!prev->mm && op->kind != OP_EXIT);

	op->flags = 0;
	if (!begins) {
		op->mm = prev->mm;
		op->members = prev->members;
	} else {
		op->mm = had ? op->mm : space_add(t, p, op);
		op->members = 0;
		op->flags = op->mm ? OP_BEGINS : 0;
		if (op->mm)
			join(t, op, p->id, OP_JOINED_LEADER,
			     op->kind == OP_FORK ? op->ref : LOG_NONE);
	}
	if (!op->mm)
		return;
	if (op->kind == OP_EXIT)
		leave(t, op);
	else if (!is_hard(op))
		join(t, op, op->tid, OP_JOINED, op->kind == OP_THREAD ? op->ref : LOG_NONE);
}

/* What a child begins with: the parent's mappings after its entry of the same key. */
static uint32_t root_of_parent(const struct da_tasks *t, const struct lineage *line)
{
	const struct task *p = log_task(t, line->parent);
	uint32_t i = p ? index_of(p, line->time_ns, line->seq) : LOG_NONE;

	return i == LOG_NONE || !line->copies ? 0 : p->ops[i].root;
}

/* Is a piece the end of a program's file, or its bss behind that? */
static bool ends_program(const struct da_tasks *t, uint32_t base, const struct tree_node *n)
{
	const struct tree_node *before;

	if (t->map[n->rec].kind == DA_MAP_FILE)
		return true;
	before = n->start ? tree_floor(&t->tree, base, n->start - 1) : NULL;
	return t->map[n->rec].kind == DA_MAP_ANON && before && before->end == n->start &&
	       t->map[before->rec].kind == DA_MAP_FILE;
}

/* Recent kernels (seen: 6.18) record a process's first brk as //anon, and only its growth as
 * [heap]. It is told from other memory by its place: a random distance of up to 1 GiB above the
 * program, and nothing else for a long way, as mmap works at the other end of the address space. */
static bool is_first_brk(const struct da_tasks *t, uint32_t base, const struct mapping *m)
{
	const struct tree_node *below, *above;

	if (!m->may_be_heap || !t->heap_name)
		return false;
	below = tree_floor(&t->tree, base, m->start);
	above = tree_above(&t->tree, base, m->start);
	return below && below->end < m->start && m->start - below->end <= BRK_RANDOM &&
	       ends_program(t, base, below) && above && above->start > m->end &&
	       above->start - m->end > BRK_ALONE;
}

static uint32_t overlay(struct da_tasks *t, uint32_t base, const struct op *op)
{
	struct mapping *m = &t->map[op->ref];
	uint32_t root;

	if (m->may_be_heap) {
		bool heap = is_first_brk(t, base, m);

		m->kind = heap ? DA_MAP_HEAP : DA_MAP_ANON;
		m->name = heap ? t->heap_name : t->anon_name;
	}
	if (tree_size(&t->tree, base) >= t->limits.maps_per_mm ||
	    tree_overlay(&t->tree, base, m->start, m->end, op->ref, op->root, &root)) {
		t->stats.over_limit++;
		return tree_ref(&t->tree, base);
	}
	return root;
}

static void changed_for_child(struct da_tasks *t, uint32_t lineage)
{
	if (log_room(&t->todo, &t->room_todo, t->nr_todo, sizeof(*t->todo)))
		t->no_memory = true;
	else
		t->todo[t->nr_todo++] = lineage;
}

/* The root of entry i (0 where there is no process). *was, counted: what the entry before it had
 * until now; then, unless the entry is fresh, what this one had. Returns whether it changed. */
static bool work_out_root(struct da_tasks *t, struct task *p, uint32_t i, bool fresh, uint32_t *was)
{
	struct op *op = &p->ops[i];
	uint32_t base = 0, root;
	bool changed;

	if (op->kind == OP_FORK && op->mm)
		base = root_of_parent(t, &t->line[op->ref]);
	else if (op->mm && !(op->flags & OP_BEGINS))
		base = p->ops[i - 1].root;
	if (op->kind != OP_MMAP || !op->mm) {
		root = tree_ref(&t->tree, base);
	} else if (!fresh && base == *was) {
		root = tree_ref(&t->tree, op->root);
	} else {
		root = overlay(t, base, op);
		t->credit -= fresh ? 0 : COST_OVERLAY;
	}
	changed = root != op->root;
	if (changed && !fresh && op->kind == OP_PARENT)
		changed_for_child(t, op->ref);
	if (!fresh) {
		tree_unref(&t->tree, *was);
		*was = op->root;
	}
	op->root = root;
	return changed;
}

/* The parent's mappings at the fork are others now. */
static void work_out_child(struct da_tasks *t, const struct lineage *line)
{
	struct task *p = log_task(t, line->child);
	uint32_t i = p ? index_of(p, line->time_ns, line->seq) : LOG_NONE, was = 0;

	if (i == LOG_NONE)
		return;
	do {
		t->credit--;
		if (!work_out_root(t, p, i, false, &was))
			break;
	} while (++i < p->nr_ops && p->ops[i].mm && !(p->ops[i].flags & OP_BEGINS));
	tree_unref(&t->tree, was);
}

/* ---- insertion ---- */

static uint64_t last_time(const struct task *p)
{
	uint64_t last = p->nr_ops ? p->ops[p->nr_ops - 1].time_ns : 0;

	if (p->nr_members && p->members[p->nr_members - 1].time_ns > last)
		last = p->members[p->nr_members - 1].time_ns;
	if (p->nr_comms && p->comms[p->nr_comms - 1].time_ns > last)
		last = p->comms[p->nr_comms - 1].time_ns;
	return last;
}

uint64_t log_admit(struct da_tasks *t, const uint32_t *ids, size_t nr, uint64_t time_ns)
{
	uint64_t last = time_ns;
	bool far = false;

	for (size_t i = 0; i < nr; i++) {
		const struct task *p = log_task(t, ids[i]);

		if (!p)
			continue;
		last = last_time(p) > last ? last_time(p) : last;
		far |= p->nr_ops > MAX_REACH && p->ops[p->nr_ops - 1 - MAX_REACH].time_ns > time_ns;
	}
	if (last == time_ns || (t->credit > 0 && !far))
		return time_ns;
	t->stats.late_moved++;
	return last;
}

/* Entries from `at` that a late one there may change: up to the next that begins anew anyway. */
static uint32_t reach(const struct task *p, uint32_t at)
{
	while (at < p->nr_ops && !is_hard(&p->ops[at]))
		at++;
	return at;
}

/* The entry after a late one may have begun a space only because the late one was not known. */
static void take_over_space(struct da_tasks *t, struct task *p, uint32_t at)
{
	struct op *op = &p->ops[at], *next = op + 1;

	if (!(next->flags & OP_BEGINS) || is_hard(next) || op->kind == OP_EXIT)
		return;
	op->mm = next->mm;
	op->flags = OP_BEGINS;
	next->flags = 0;
	t->space[op->mm - 1].time_ns = op->time_ns;
	t->space[op->mm - 1].seq = op->seq;
}

int log_insert(struct da_tasks *t, struct task *p, const struct op *entry)
{
	uint32_t at, end, was;
	const struct op none = {0}, *prev;

	if (log_room(&p->ops, &p->room_ops, p->nr_ops, sizeof(*p->ops)))
		return -DA_ENOMEM;
	at = log_upto(p->ops, p->nr_ops, sizeof(*p->ops), entry->time_ns, entry->seq);
	end = reach(p, at);
	for (uint32_t i = end; i-- > at;)
		undo_members(t, p, i);
	t->stats.late += at < p->nr_ops;
	t->credit -= (int64_t)(end - at) + ((p->nr_ops - at) >> LOG_MOVE_SHIFT);
	memmove(&p->ops[at + 1], &p->ops[at], (p->nr_ops - at) * sizeof(*p->ops));
	p->ops[at] = *entry;
	p->nr_ops++;
	t->nr_ops++;
	if (at < end)
		take_over_space(t, p, at);
	prev = at ? &p->ops[at - 1] : &none;
	was = tree_ref(&t->tree, prev->root);
	for (uint32_t i = at; i <= end; i++) {
		work_out_life(t, p, i);
		work_out_root(t, p, i, i == at, &was);
	}
	tree_unref(&t->tree, was);
	if (at < end || p->ops[at].mm != prev->mm || p->ops[at].root != prev->root)
		atomic_fetch_add_explicit(&t->generation, 1, memory_order_release);
	while (t->nr_todo)
		work_out_child(t, &t->line[t->todo[--t->nr_todo]]);
	return t->no_memory ? -DA_ENOMEM : 0;
}
