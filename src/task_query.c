/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Questions to the timeline (da_task.h): searches in the logs of task_log.h under the reader's
 * lock. Changes nothing.
 *
 * The kernel reports no munmap, no mremap and no growth of a stack: a mapping lasts until
 * another one lies over it or its process execs or ends, and an address a little below a stack
 * counts as the stack.
 */
#include <stdlib.h>

#include "da_task.h"
#include "task_log.h"

#define PAGE_BYTES    4096ull
#define STACK_GROWTH  (8ull << 20) /* RLIMIT_STACK as every distribution sets it */
#define MAX_ENDS      64           /* of one tid, without it being seen alive in between */
#define MAX_ANCESTORS 256 /* of a comm: enough for any process tree, bounded for any file */
#define MAX_SPAN      256 /* entries looked at for how long a state lasts */

static void fill(const struct da_tasks *t, uint32_t mm, const struct tree_node *n,
		 struct da_map *out)
{
	const struct mapping *m = &t->map[n->rec];

	*out = (struct da_map){
		.start = n->start,
		.end = n->end,
		.pgoff = m->pgoff + (n->start - m->start),
		.maj = m->maj,
		.min = m->min,
		.ino = m->ino,
		.ino_gen = m->ino_gen,
		.prot = m->prot,
		.kind = m->kind,
		.name = m->name,
		.mm = mm,
		.id = (uint64_t)mm << 32 | n->id,
		.from_ns = m->from_ns,
	};
}

/* A stack grows when an address below it is touched, to that page, without a record. */
static bool find_in_stack(const struct da_tasks *t, const struct op *op, uint64_t addr,
			  struct da_map *out)
{
	const struct tree_node *n = tree_above(&t->tree, op->root, addr);
	uint64_t grown;

	if (!n || t->map[n->rec].kind != DA_MAP_STACK || n->start - addr > STACK_GROWTH)
		return false;
	fill(t, op->mm, n, out);
	grown = out->start - (addr & ~(PAGE_BYTES - 1));
	out->start -= grown;
	out->pgoff -= grown < out->pgoff ? grown : out->pgoff;
	return true;
}

static bool find(const struct da_tasks *t, const struct op *op, uint64_t addr, struct da_map *out)
{
	const struct tree_node *n = tree_floor(&t->tree, op->root, addr);

	if (!n || n->end <= addr)
		return find_in_stack(t, op, addr, out);
	fill(t, op->mm, n, out);
	return true;
}

/* The state of a process at a time; NULL: not known then. */
static const struct op *state_at(const struct da_tasks *t, uint32_t pid, uint64_t time_ns)
{
	const struct task *p = log_task(t, pid);
	const struct op *op = p ? log_at(p, time_ns) : NULL;

	return op && op->mm ? op : NULL;
}

bool da_tasks_find(struct da_tasks *t, uint32_t pid, uint64_t time_ns, uint64_t addr,
		   struct da_map *out)
{
	const struct op *op;
	bool found;

	pthread_rwlock_rdlock(&t->lock);
	op = state_at(t, pid, time_ns);
	found = op && find(t, op, addr, out);
	pthread_rwlock_unlock(&t->lock);
	return found;
}

uint64_t da_tasks_mm(struct da_tasks *t, uint32_t pid, uint64_t time_ns)
{
	const struct op *op;
	uint64_t mm;

	pthread_rwlock_rdlock(&t->lock);
	op = state_at(t, pid, time_ns);
	mm = op ? op->mm : 0;
	pthread_rwlock_unlock(&t->lock);
	return mm;
}

/* The last time at or before the key that the thread joined or left; NULL: not known. */
static const struct member *member_at(const struct task *p, uint64_t time_ns, uint32_t seq)
{
	uint32_t n = log_upto(p->members, p->nr_members, sizeof(*p->members), time_ns, seq);

	return n ? &p->members[n - 1] : NULL;
}

static uint32_t pid_of_tid(const struct da_tasks *t, uint32_t tid, uint64_t time_ns)
{
	const struct member *m = NULL;
	const struct op *op;
	const struct task *p;
	uint32_t pid = 0;

	p = log_task(t, tid);
	if (p)
		m = member_at(p, time_ns, UINT32_MAX);
	if (m && m->mm) {
		/* the space may have ended without a word about this thread: exec, or its id
		 * used again */
		pid = t->space[m->mm - 1].pid;
		op = state_at(t, pid, time_ns);
		pid = op && op->mm == m->mm ? pid : 0;
	}
	return pid;
}

uint32_t da_tasks_pid_of_tid(struct da_tasks *t, uint32_t tid, uint64_t time_ns)
{
	uint32_t pid;

	pthread_rwlock_rdlock(&t->lock);
	pid = pid_of_tid(t, tid, time_ns);
	pthread_rwlock_unlock(&t->lock);
	return pid;
}

static bool same_state(const struct op *a, const struct op *b)
{
	return a->mm == b->mm && (!a->mm || a->root == b->root);
}

/* Narrows [*from, *to) around the time to where pid's state stays as it is then. */
static void narrow_to_state(const struct da_tasks *t, uint32_t pid, uint64_t time_ns,
			    uint64_t *from, uint64_t *to)
{
	const struct task *p = log_task(t, pid);
	uint32_t n, end, first;

	if (!p || !p->nr_ops)
		return;
	n = log_upto(p->ops, p->nr_ops, sizeof(*p->ops), time_ns, UINT32_MAX);
	first = n;
	end = n;
	while (n && first > 1 && n - first < MAX_SPAN &&
	       same_state(&p->ops[first - 2], &p->ops[n - 1]))
		first--;
	while (n && end < p->nr_ops && end - n < MAX_SPAN &&
	       same_state(&p->ops[end], &p->ops[n - 1]))
		end++;
	if (n && p->ops[first - 1].time_ns > *from)
		*from = p->ops[first - 1].time_ns;
	if (end < p->nr_ops && p->ops[end].time_ns < *to)
		*to = p->ops[end].time_ns;
}

void da_tasks_span(struct da_tasks *t, uint32_t pid, uint64_t time_ns, uint64_t *from_ns,
		   uint64_t *to_ns)
{
	*from_ns = 0;
	*to_ns = UINT64_MAX;
	pthread_rwlock_rdlock(&t->lock);
	narrow_to_state(t, pid, time_ns, from_ns, to_ns);
	pthread_rwlock_unlock(&t->lock);
}

uint32_t da_tasks_pid_span(struct da_tasks *t, uint32_t tid, uint64_t time_ns, uint64_t *from_ns,
			   uint64_t *to_ns)
{
	const struct task *p;
	uint32_t pid, n;

	*from_ns = 0;
	*to_ns = UINT64_MAX;
	pthread_rwlock_rdlock(&t->lock);
	pid = pid_of_tid(t, tid, time_ns);
	p = log_task(t, tid);
	n = p ? log_upto(p->members, p->nr_members, sizeof(*p->members), time_ns, UINT32_MAX) : 0;
	if (n)
		*from_ns = p->members[n - 1].time_ns;
	if (p && n < p->nr_members)
		*to_ns = p->members[n].time_ns;
	if (n && p->members[n - 1].mm)
		narrow_to_state(t, t->space[p->members[n - 1].mm - 1].pid, time_ns, from_ns, to_ns);
	pthread_rwlock_unlock(&t->lock);
	return pid;
}

/* A thread is called as it was last named, else as its creator was then called. */
static const char *comm_at(const struct da_tasks *t, uint32_t pid, uint32_t tid, uint64_t time_ns,
			   uint32_t seq)
{
	for (unsigned i = 0; i < MAX_ANCESTORS; i++) {
		const struct task *p = log_task(t, tid);
		const struct member *m = p ? member_at(p, time_ns, seq) : NULL;
		const struct lineage *line;
		uint32_t n;

		/* after its end it is called as before */
		for (n = 0; m && !m->mm && n < MAX_ENDS; n++)
			m = m > p->members ? m - 1 : NULL;
		n = p ? log_upto(p->comms, p->nr_comms, sizeof(*p->comms), time_ns, seq) : 0;
		if (n && (!m || p->comms[n - 1].time_ns > m->time_ns ||
			  (p->comms[n - 1].time_ns == m->time_ns && p->comms[n - 1].seq >= m->seq)))
			return p->comms[n - 1].text;
		if (m && m->lineage != LOG_NONE) {
			line = &t->line[m->lineage];
			tid = line->parent_tid;
			pid = line->parent;
			time_ns = line->time_ns;
			seq = line->seq;
		} else if (tid != pid) {
			tid = pid;
		} else {
			break;
		}
	}
	return "";
}

const char *da_tasks_comm_of(struct da_tasks *t, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	const char *comm;

	pthread_rwlock_rdlock(&t->lock);
	comm = comm_at(t, pid, tid, time_ns, UINT32_MAX);
	pthread_rwlock_unlock(&t->lock);
	return comm;
}

size_t da_tasks_maps(struct da_tasks *t, uint32_t pid, uint64_t time_ns, struct da_map *out,
		     size_t max)
{
	const struct tree_node *n;
	const struct op *op;
	struct tree_walk w;
	size_t nr = 0;

	pthread_rwlock_rdlock(&t->lock);
	op = state_at(t, pid, time_ns);
	if (op && !max)
		nr = tree_size(&t->tree, op->root);
	else if (op)
		for (n = tree_first(&w, &t->tree, op->root); n && nr < max; n = tree_next(&w))
			fill(t, op->mm, n, &out[nr++]);
	pthread_rwlock_unlock(&t->lock);
	return nr;
}

/* ---- whole address spaces ---- */

/* The entries of an address space: from the one that began it, up to the one that ended it. */
struct span {
	const struct task *p;
	uint32_t first, end; /* end: index of the entry that ended it, or nr_ops */
};

static bool span_of(const struct da_tasks *t, uint64_t mm, struct span *s)
{
	const struct space *space = mm && mm <= t->nr_spaces ? &t->space[mm - 1] : NULL;
	uint32_t n;

	s->p = space ? log_task(t, space->pid) : NULL;
	if (!s->p)
		return false;
	n = log_upto(s->p->ops, s->p->nr_ops, sizeof(*s->p->ops), space->time_ns, space->seq);
	if (!n || s->p->ops[n - 1].mm != mm || !(s->p->ops[n - 1].flags & OP_BEGINS))
		return false; /* taken back since */
	s->first = n - 1;
	for (s->end = n; s->end < s->p->nr_ops && s->p->ops[s->end].mm == mm; s->end++)
		;
	return true;
}

struct mm_line {
	uint64_t mm, from_ns, to_ns;
	const char *comm;
	uint32_t pid;
};

static struct mm_line line_of(const struct da_tasks *t, uint64_t mm, const struct span *s)
{
	const struct op *stop = s->end < s->p->nr_ops ? &s->p->ops[s->end] : NULL;
	const struct op *last = &s->p->ops[s->end - 1];
	uint32_t pid = s->p->id;

	return (struct mm_line){
		.mm = mm,
		.from_ns = s->p->ops[s->first].time_ns,
		.to_ns = stop ? stop->time_ns : UINT64_MAX,
		.comm = comm_at(t, pid, pid, last->time_ns, last->seq),
		.pid = pid,
	};
}

/* Without the lock while fn runs: it may ask again. */
void da_tasks_each_mm(struct da_tasks *t,
		      void (*fn)(void *ctx, uint64_t mm, uint32_t pid, const char *comm,
				 uint64_t from_ns, uint64_t to_ns),
		      void *ctx)
{
	struct mm_line line;
	uint64_t mm, nr;
	struct span s;
	bool known;

	pthread_rwlock_rdlock(&t->lock);
	nr = t->nr_spaces;
	pthread_rwlock_unlock(&t->lock);
	for (mm = 1; mm <= nr; mm++) {
		pthread_rwlock_rdlock(&t->lock);
		known = span_of(t, mm, &s);
		if (known)
			line = line_of(t, mm, &s);
		pthread_rwlock_unlock(&t->lock);
		if (known)
			fn(ctx, line.mm, line.pid, line.comm, line.from_ns, line.to_ns);
	}
}

/* A growing list of mappings; nr counts also those that there was no memory for. */
struct map_list {
	struct da_map *map;
	size_t nr, room;
	bool failed;
};

static void list_add(struct map_list *l, const struct da_tasks *t, uint64_t mm,
		     const struct tree_node *n)
{
	if (l->failed)
		return;
	if (l->nr == l->room) {
		size_t room = l->room ? l->room * 2 : 64;
		struct da_map *map = reallocarray(l->map, room, sizeof(*map));

		if (!map) {
			l->failed = true;
			return;
		}
		l->map = map;
		l->room = room;
	}
	fill(t, (uint32_t)mm, n, &l->map[l->nr++]);
}

/* Each piece that ever was came with the space, or an entry made it: its own mapping, or what it
 * left of the pieces at its two ends. */
static void list_span(struct map_list *l, const struct da_tasks *t, uint64_t mm,
		      const struct span *s)
{
	const struct tree_node *n;
	struct tree_walk w;

	for (n = tree_first(&w, &t->tree, s->p->ops[s->first].root); n; n = tree_next(&w))
		list_add(l, t, mm, n);
	for (uint32_t i = s->first + 1; i < s->end; i++) {
		const struct op *op = &s->p->ops[i];
		const struct mapping *m;

		if (op->kind != OP_MMAP || op->root == op[-1].root)
			continue;
		m = &t->map[op->ref];
		n = m->start ? tree_floor(&t->tree, op->root, m->start - 1) : NULL;
		if (n)
			list_add(l, t, mm, n);
		list_add(l, t, mm, tree_floor(&t->tree, op->root, m->start));
		n = tree_floor(&t->tree, op->root, m->end);
		if (n && n->start == m->end)
			list_add(l, t, mm, n);
	}
}

static int by_start_and_time(const void *a, const void *b)
{
	const struct da_map *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

size_t da_tasks_mm_maps(struct da_tasks *t, uint64_t mm, struct da_map *out, size_t max)
{
	struct map_list l = {0};
	size_t nr = 0;
	struct span s;

	pthread_rwlock_rdlock(&t->lock);
	if (span_of(t, mm, &s))
		list_span(&l, t, mm, &s);
	pthread_rwlock_unlock(&t->lock);
	if (l.nr)
		qsort(l.map, l.nr, sizeof(*l.map), by_start_and_time);
	for (size_t i = 0; i < l.nr; i++) {
		if (i && l.map[i].id == l.map[i - 1].id)
			continue;
		if (max && nr == max)
			break;
		if (max)
			out[nr] = l.map[i];
		nr++;
	}
	free(l.map);
	return l.failed ? 0 : nr;
}

uint64_t da_tasks_generation(struct da_tasks *t)
{
	return atomic_load_explicit(&t->generation, memory_order_acquire);
}

struct da_tasks_stats da_tasks_stats(struct da_tasks *t)
{
	struct da_tasks_stats s;

	pthread_rwlock_rdlock(&t->lock);
	s = t->stats;
	pthread_rwlock_unlock(&t->lock);
	return s;
}
