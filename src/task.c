/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timeline of tasks and address spaces (da_task.h): records become entries of the logs of
 * task_log.h, questions are searches in them. Reads no files and knows no live process.
 *
 * The kernel reports no munmap, no mremap and no growth of a stack: a mapping lasts until another one
 * lies over it or its process execs or ends, and an address a little below a stack counts as the stack.
 */
#include "da_task.h"

#include <stdlib.h>
#include <string.h>

#include "task_log.h"

#define PAGE_BYTES       4096ull
#define STACK_GROWTH     (8ull << 20) /* RLIMIT_STACK as every distribution sets it */
#define MAX_ENDS         64           /* of one tid, without it being seen alive in between */
#define MAX_ANCESTORS    256 /* of a comm: enough for any process tree, bounded for any file */
#define PROT_R           1u
#define PROT_X           4u
#define MAP_FLAG_PRIVATE 2u

static const struct log_limits default_limits = {
	.maps_per_mm = 1u << 18, /* four times what the kernel allows by default */
	.nodes = 1u << 25,
	.ops = 1u << 25,
};

struct da_tasks *da_tasks_new(void)
{
	return log_new(&default_limits);
}

void da_tasks_free(struct da_tasks *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nr_tasks; i++) {
		free(t->task[i]->ops);
		free(t->task[i]->members);
		free(t->task[i]->comms);
		free(t->task[i]);
	}
	free(t->task);
	free(t->map);
	free(t->line);
	free(t->space);
	free(t->todo);
	tree_pool_release(&t->tree);
	names_release(&t->names);
	idmap_release(&t->by_id);
	idmap_release(&t->members);
	pthread_rwlock_destroy(&t->lock);
	free(t);
}

/* ---- records ---- */

/* An id that is no task's: kernel mappings carry it, and the idle task's threads on some kernels. */
static bool no_task(uint32_t pid)
{
	return pid == UINT32_MAX;
}

static bool keep_map(struct da_tasks *t, const struct da_rec_mmap *m, uint64_t time_ns)
{
	const char *name = names_keep(&t->names, m->filename ? m->filename : "");
	bool shared = !m->has_prot || !(m->flags & MAP_FLAG_PRIVATE);

	if (!name || log_room(&t->map, &t->room_maps, t->nr_maps, sizeof(*t->map)))
		return false;
	t->map[t->nr_maps] = (struct mapping){
		.start = m->addr,
		.end = m->addr + m->len,
		.pgoff = m->pgoff,
		.ino = m->has_ino ? m->ino : 0,
		.ino_gen = m->has_ino ? m->ino_gen : 0,
		.from_ns = time_ns,
		.name = name,
		.maj = m->has_ino ? m->maj : 0,
		.min = m->has_ino ? m->min : 0,
		.prot = m->has_prot ? m->prot : PROT_R | PROT_X,
		.kind = (uint8_t)names_map_kind(name, shared),
	};
	t->nr_maps++;
	return true;
}

static int take_mmap(struct da_tasks *t, const struct da_rec_mmap *m, uint64_t time_ns)
{
	struct op op = {.kind = OP_MMAP, .tid = m->tid};
	uint64_t end;
	struct task *p;

	if (no_task(m->pid)) {
		t->stats.kernel++;
		return 0;
	}
	if (!m->len) {
		t->stats.zero_length++;
		return 0;
	}
	if (__builtin_add_overflow(m->addr, m->len, &end)) {
		t->stats.wrapped++;
		return 0;
	}
	p = log_task_add(t, m->pid);
	if (!p)
		return -DA_ENOMEM;
	op.time_ns = log_admit(t, (uint32_t[]){m->pid, m->tid}, 2, time_ns);
	op.seq = t->seq++;
	op.ref = t->nr_maps;
	return keep_map(t, m, op.time_ns) ? log_insert(t, p, &op) : -DA_ENOMEM;
}

static int keep_comm(struct da_tasks *t, uint32_t tid, const char *text, const struct op *op)
{
	struct task *p = log_task_add(t, tid);
	uint32_t at;

	if (!p || log_room(&p->comms, &p->room_comms, p->nr_comms, sizeof(*p->comms)))
		return -DA_ENOMEM;
	text = names_keep(&t->names, text);
	if (!text)
		return -DA_ENOMEM;
	at = log_upto(p->comms, p->nr_comms, sizeof(*p->comms), op->time_ns, op->seq);
	t->credit -= (p->nr_comms - at) >> LOG_MOVE_SHIFT;
	memmove(&p->comms[at + 1], &p->comms[at], (p->nr_comms - at) * sizeof(*p->comms));
	p->comms[at] = (struct comm){.time_ns = op->time_ns, .seq = op->seq, .text = text};
	p->nr_comms++;
	return 0;
}

/* The thread that execs becomes the process's main thread, and its only one. */
static int take_comm(struct da_tasks *t, const struct da_rec_comm *c, uint64_t time_ns)
{
	struct op op = {.kind = c->exec ? OP_EXEC : OP_COMM, .tid = c->exec ? c->pid : c->tid};
	struct task *p;
	int rc;

	if (no_task(c->pid))
		return 0;
	p = log_task_add(t, c->pid);
	if (!p)
		return -DA_ENOMEM;
	op.time_ns = log_admit(t, (uint32_t[]){c->pid, op.tid}, 2, time_ns);
	op.seq = t->seq++;
	rc = keep_comm(t, op.tid, c->comm ? c->comm : "", &op);
	return rc ? rc : log_insert(t, p, &op);
}

/* A child's entry and its parent's have the same key, so that what each is worked out from lies before
 * it: there are no circles, whatever the ids. */
static int take_fork(struct da_tasks *t, const struct da_rec_task *f, uint64_t time_ns, bool copies)
{
	bool thread = f->pid == f->ppid;
	struct op op = {.kind = thread ? OP_THREAD : OP_FORK, .tid = thread ? f->tid : f->pid};
	struct op made = {.kind = OP_PARENT, .tid = f->ptid};
	struct task *p, *parent;
	int rc = 0;

	if (no_task(f->pid) || no_task(f->ppid))
		return 0;
	p = log_task_add(t, f->pid);
	parent = log_task_add(t, f->ppid);
	if (!p || !parent || log_room(&t->line, &t->room_lines, t->nr_lines, sizeof(*t->line)))
		return -DA_ENOMEM;
	op.time_ns = made.time_ns =
		log_admit(t, (uint32_t[]){f->pid, f->tid, f->ppid, f->ptid}, 4, time_ns);
	op.seq = made.seq = t->seq++;
	op.ref = made.ref = t->nr_lines;
	t->line[t->nr_lines++] = (struct lineage){.time_ns = op.time_ns,
						  .seq = op.seq,
						  .parent = f->ppid,
						  .parent_tid = f->ptid,
						  .child = f->pid,
						  .copies = copies};
	if (!thread)
		rc = log_insert(t, parent, &made);
	return rc ? rc : log_insert(t, p, &op);
}

static int take_exit(struct da_tasks *t, const struct da_rec_task *f, uint64_t time_ns)
{
	struct op op = {.kind = OP_EXIT, .tid = f->tid};
	struct task *p;

	if (no_task(f->pid))
		return 0;
	p = log_task_add(t, f->pid);
	if (!p)
		return -DA_ENOMEM;
	op.time_ns = log_admit(t, (uint32_t[]){f->pid, f->tid}, 2, time_ns);
	op.seq = t->seq++;
	return log_insert(t, p, &op);
}

/* Opens the timeline for one record. False: its numbers are used up. */
static bool begin(struct da_tasks *t)
{
	pthread_rwlock_wrlock(&t->lock);
	log_begin(t);
	if (t->seq < UINT32_MAX)
		return true;
	t->stats.over_limit++;
	return false;
}

static int end(struct da_tasks *t, int rc)
{
	pthread_rwlock_unlock(&t->lock);
	return rc;
}

int da_tasks_mmap(struct da_tasks *t, const struct da_rec_mmap *m, uint64_t time_ns)
{
	return end(t, begin(t) ? take_mmap(t, m, time_ns) : 0);
}

int da_tasks_comm(struct da_tasks *t, const struct da_rec_comm *c, uint64_t time_ns)
{
	return end(t, begin(t) ? take_comm(t, c, time_ns) : 0);
}

int da_tasks_fork(struct da_tasks *t, const struct da_rec_task *f, uint64_t time_ns)
{
	return end(t, begin(t) ? take_fork(t, f, time_ns, time_ns != 0) : 0);
}

int da_tasks_exit(struct da_tasks *t, const struct da_rec_task *f, uint64_t time_ns)
{
	return end(t, begin(t) ? take_exit(t, f, time_ns) : 0);
}

static void count_damaged(struct da_tasks *t)
{
	pthread_rwlock_wrlock(&t->lock);
	t->stats.damaged++;
	pthread_rwlock_unlock(&t->lock);
}

static int record_mmap(struct da_tasks *t, const struct da_rec *rec, uint64_t time_ns)
{
	unsigned mode = rec->misc & DA_MISC_CPUMODE;
	struct da_rec_mmap m;

	if (mode != 0 && mode != 2) { /* unknown, user */
		pthread_rwlock_wrlock(&t->lock);
		t->stats.kernel++;
		pthread_rwlock_unlock(&t->lock);
		return 0;
	}
	if (da_rec_mmap_parse(rec, &m)) {
		count_damaged(t);
		return 0;
	}
	if (rec->type == DA_REC_MMAP && (rec->misc & DA_MISC_MMAP_DATA)) {
		m.has_prot = true; /* so much it does say: not executable */
		m.prot = PROT_R;
		m.flags = 0;
	}
	return da_tasks_mmap(t, &m, time_ns);
}

static int record_task(struct da_tasks *t, const struct da_rec *rec, uint64_t time_ns)
{
	struct da_rec_task f;
	bool copies;

	if (da_rec_task_parse(rec, &f)) {
		count_damaged(t);
		return 0;
	}
	if (rec->type == DA_REC_EXIT)
		return da_tasks_exit(t, &f, time_ns);
	/* perf makes up FORK records for the tasks it finds, sets a bit that the kernel does not set there
	 * (FORK_EXEC, 13) and goes on to list the child's own mappings: such a child copies nothing. Older
	 * versions only leave the time 0. */
	copies = (f.time_ns || time_ns) && !(rec->misc & DA_MISC_EXEC);
	return end(t, begin(t) ? take_fork(t, &f, time_ns, copies) : 0);
}

int da_tasks_record(struct da_tasks *t, const struct da_rec *rec)
{
	uint64_t time_ns = rec->has & DA_SAMPLE_TIME ? rec->time_ns : 0;
	struct da_rec_comm c;

	switch (rec->type) {
	case DA_REC_MMAP:
	case DA_REC_MMAP2:
		return record_mmap(t, rec, time_ns);
	case DA_REC_COMM:
		if (!da_rec_comm_parse(rec, &c))
			return da_tasks_comm(t, &c, time_ns);
		count_damaged(t);
		return 0;
	case DA_REC_FORK:
	case DA_REC_EXIT:
		return record_task(t, rec, time_ns);
	default:
		return 0;
	}
}

/* ---- questions ---- */

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

uint32_t da_tasks_pid_of_tid(struct da_tasks *t, uint32_t tid, uint64_t time_ns)
{
	const struct member *m = NULL;
	const struct op *op;
	const struct task *p;
	uint32_t pid = 0;

	pthread_rwlock_rdlock(&t->lock);
	p = log_task(t, tid);
	if (p)
		m = member_at(p, time_ns, UINT32_MAX);
	if (m && m->mm) {
		/* the space may have ended without a word about this thread: exec, or its id used again */
		pid = t->space[m->mm - 1].pid;
		op = state_at(t, pid, time_ns);
		pid = op && op->mm == m->mm ? pid : 0;
	}
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

/* Each piece that ever was came with the space, or an entry made it: its own mapping, or what it left
 * of the pieces at its two ends. */
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
