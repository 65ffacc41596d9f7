/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timeline of tasks and address spaces (da_task.h): its life, and records to entries of the
 * logs of task_log.h. Reads no files and knows no live process; answers are found in
 * task_query.c.
 */
#include "da_task.h"

#include <stdlib.h>
#include <string.h>

#include "da_report.h"
#include "task_log.h"

#define PROT_R           1u
#define PROT_W           2u
#define PROT_X           4u
#define PROT_RWX         7u
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

/* An id that is no task's: kernel mappings carry it, and the idle task's threads on some
 * kernels. */
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
		.may_be_heap = name == t->anon_name && !shared &&
			       (m->prot & PROT_RWX) == (PROT_R | PROT_W) && m->pgoff == m->addr,
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

/* A child's entry and its parent's have the same key, so that what each is worked out from lies
 * before it: there are no circles, whatever the ids. */
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

/* Opens the timeline for one record; end() closes it, also after false. */
static bool begin(struct da_tasks *t)
{
	pthread_rwlock_wrlock(&t->lock);
	return log_begin(t);
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

	if (mode != DA_CTX_UNKNOWN && mode != DA_CTX_USER) {
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
	/* perf makes up FORK records for the tasks it finds, sets a bit that the kernel does not
	 * set there (FORK_EXEC, 13) and goes on to list the child's own mappings: such a child
	 * copies nothing. Older versions only leave the time 0. */
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
