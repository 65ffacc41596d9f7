/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random histories in random orders of arrival: each answer of the timeline against a model that
 * replays everything for each question, page by page.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_task.h"
#include "task_log.h"

/* For the innermost loops: ck_assert() makes a system call each time, this one only when it
 * fails. */
#define MUST(what)                                                                                 \
	do {                                                                                       \
		if (!(what))                                                                       \
			ck_abort_msg("not so: " #what);                                            \
	} while (0)
#define SAME(a, b)                                                                                 \
	do {                                                                                       \
		uint64_t a_ = (uint64_t)(a), b_ = (uint64_t)(b);                                   \
		if (a_ != b_)                                                                      \
			ck_abort_msg(#a " is %lu, " #b " is %lu", (unsigned long)a_,               \
				     (unsigned long)b_);                                           \
	} while (0)
#define SAME_TEXT(a, b)                                                                            \
	do {                                                                                       \
		const char *a_ = (a), *b_ = (b);                                                   \
		if (strcmp(a_, b_))                                                                \
			ck_abort_msg(#a " is '%s', " #b " is '%s'", a_, b_);                       \
	} while (0)

static uint64_t rnd(uint64_t *s)
{
	*s += 0x9e3779b97f4a7c15ull;
	return (*s ^ *s >> 29) * 0xbf58476d1ce4e5b9ull >> 20;
}

#define M_IDS   14 /* pids and tids 0..13 */
#define M_PAGES 48
#define M_RECS  160

struct event {
	enum op_kind
		kind; /* OP_FORK stands for a record that makes a process; OP_PARENT is not used */
	uint64_t time;
	uint32_t pid, tid, ppid, ptid;
	uint64_t page, pages;
	char text[8];
};

struct model_proc {
	int mm; /* 0: none; else 1 + index of the event that began it, or a soft one */
	bool member[M_IDS];
	int map[M_PAGES]; /* event, -1 none */
};

struct model_name {
	int mm_mark; /* last join: mm; 0: left or never */
	bool joined, named;
	bool created;
	char own[8], creator[8];
};

struct model {
	struct model_proc proc[M_IDS];
	struct model_name name[M_IDS];
	int mm_pid[M_RECS * 2 + 2];
};

static const char *model_comm(const struct model *m, uint32_t pid, uint32_t tid)
{
	const struct model_name *n = &m->name[tid];

	if (n->named)
		return n->own;
	if (n->created)
		return n->creator;
	return tid == pid ? "" : model_comm(m, pid, pid);
}

static void model_join(struct model *m, uint32_t pid, uint32_t tid, const struct event *creator)
{
	struct model_name *n = &m->name[tid];
	char was[8] = "";

	if (m->proc[pid].member[tid])
		return;
	if (creator)
		strcpy(was, model_comm(m, creator->ppid, creator->ptid));
	m->proc[pid].member[tid] = true;
	n->mm_mark = m->proc[pid].mm;
	n->named = false;
	n->created = creator != NULL;
	strcpy(n->creator, was);
}

static void model_begin(struct model *m, uint32_t pid, int mm, const struct event *creator)
{
	struct model_proc *p = &m->proc[pid];

	p->mm = mm;
	m->mm_pid[mm] = (int)pid;
	memset(p->member, 0, sizeof(p->member));
	for (unsigned i = 0; i < M_PAGES; i++)
		p->map[i] = -1;
	model_join(m, pid, pid, creator);
}

/* mm numbers: 2 * event + 1, for the parent side of a fork 2 * event + 2. */
static void model_step(struct model *m, const struct event *e, int i)
{
	struct model_proc *p = &m->proc[e->pid], *parent = &m->proc[e->ppid];
	bool empty = true;

	if (e->kind == OP_FORK) {
		if (!parent->mm)
			model_begin(m, e->ppid, 2 * i + 2, NULL);
		model_join(m, e->ppid, e->ptid, NULL);
		model_begin(m, e->pid, 2 * i + 1, e);
		memcpy(p->map, parent->map, sizeof(p->map));
		return;
	}
	if (e->kind == OP_EXEC)
		model_begin(m, e->pid, 2 * i + 1, NULL);
	else if (!p->mm && e->kind != OP_EXIT)
		model_begin(m, e->pid, 2 * i + 1, NULL);
	switch (e->kind) {
	case OP_EXIT:
		if (!p->mm || !p->member[e->tid])
			return;
		p->member[e->tid] = false;
		m->name[e->tid].mm_mark = 0;
		for (unsigned k = 0; k < M_IDS; k++)
			empty &= !p->member[k];
		if (empty)
			p->mm = 0;
		return;
	case OP_THREAD:
		model_join(m, e->pid, e->tid, e);
		return;
	case OP_MMAP:
		model_join(m, e->pid, e->tid, NULL);
		for (uint64_t k = e->page; k < e->page + e->pages; k++)
			p->map[k] = i;
		return;
	case OP_COMM:
		model_join(m, e->pid, e->tid, NULL);
		m->name[e->tid].named = true;
		strcpy(m->name[e->tid].own, e->text);
		return;
	case OP_EXEC:
		m->name[e->pid].named = true;
		strcpy(m->name[e->pid].own, e->text);
		return;
	default:
		ck_abort();
	}
}

static void model_at(struct model *m, const struct event *ev, const bool *arrived, int nr,
		     uint64_t time)
{
	memset(m, 0, sizeof(*m));
	for (int i = 0; i < nr; i++)
		if (ev[i].time <= time && (!arrived || arrived[i]))
			model_step(m, &ev[i], i);
}

static int give(struct da_tasks *t, const struct event *e)
{
	struct da_rec_task f = {
		.pid = e->pid, .tid = e->tid, .ppid = e->ppid, .ptid = e->ptid, .time_ns = e->time};
	struct da_rec_comm c = {
		.pid = e->pid, .tid = e->tid, .comm = e->text, .exec = e->kind == OP_EXEC};
	struct da_rec_mmap m = {.pid = e->pid,
				.tid = e->tid,
				.addr = e->page << 12,
				.len = e->pages << 12,
				.pgoff = e->page << 12,
				.filename = e->text};

	switch (e->kind) {
	case OP_FORK:
	case OP_THREAD:
		return da_tasks_fork(t, &f, e->time);
	case OP_EXIT:
		return da_tasks_exit(t, &f, e->time);
	case OP_COMM:
	case OP_EXEC:
		return da_tasks_comm(t, &c, e->time);
	default:
		return da_tasks_mmap(t, &m, e->time);
	}
}

/* One number of the model for one of the timeline, both ways. */
struct pairs {
	uint64_t ours[4096], theirs[4096];
	unsigned nr;
};

static void pair(struct pairs *p, uint64_t ours, uint64_t theirs, const char *what)
{
	for (unsigned i = 0; i < p->nr; i++) {
		if (p->ours[i] != ours && p->theirs[i] != theirs)
			continue;
		if (p->ours[i] != ours || p->theirs[i] != theirs)
			ck_abort_msg("%s: %lu is %lu, was %lu is %lu", what, (unsigned long)ours,
				     (unsigned long)theirs, (unsigned long)p->ours[i],
				     (unsigned long)p->theirs[i]);
		return;
	}
	MUST(p->nr < 4096);
	p->ours[p->nr] = ours;
	p->theirs[p->nr++] = theirs;
}

/* Names only where ids are used as a kernel does: one tid at a time in one process. */
static void compare(struct da_tasks *t, const struct model *m, bool sane, uint64_t time,
		    struct pairs *mms, struct pairs *ids)
{
	for (uint32_t id = 0; id < M_IDS; id++) {
		const struct model_proc *p = &m->proc[id];
		uint64_t mm = da_tasks_mm(t, id, time);
		int mark = m->name[id].mm_mark;
		uint32_t pid =
			mark && m->proc[m->mm_pid[mark]].mm == mark ? (uint32_t)m->mm_pid[mark] : 0;
		unsigned pieces = 0;

		SAME(da_tasks_pid_of_tid(t, id, time), pid);
		for (uint32_t other = 0; sane && other < M_IDS; other++)
			SAME_TEXT(da_tasks_comm_of(t, other, id, time), model_comm(m, other, id));
		SAME(!mm, !p->mm);
		if (mm)
			pair(mms, (uint64_t)p->mm, mm, "mm");
		for (unsigned k = 0; k < M_PAGES; k++) {
			struct da_map map;
			bool found = da_tasks_find(t, id, time, (uint64_t)k << 12 | 5, &map);
			unsigned lo = k, hi = k + 1;

			if (!mm || p->map[k] < 0) {
				MUST(!found);
				continue;
			}
			while (lo && p->map[lo - 1] == p->map[k])
				lo--;
			while (hi < M_PAGES && p->map[hi] == p->map[k])
				hi++;
			pieces += lo == k;
			MUST(found);
			SAME(map.start, (uint64_t)lo << 12);
			SAME(map.end, (uint64_t)hi << 12);
			SAME(map.pgoff, (uint64_t)lo << 12);
			SAME(atoi(map.name), p->map[k]);
			SAME(map.mm, mm);
			if (lo == k)
				pair(ids,
				     ((uint64_t)p->mm << 40) | ((uint64_t)p->map[k] << 20) |
					     (lo << 10) | hi,
				     map.id, "id");
		}
		SAME(da_tasks_maps(t, id, time, NULL, 0), pieces);
	}
}

static void invent(struct event *ev, int nr, uint64_t *s, bool sane)
{
	struct model m = {0};

	for (int i = 0; i < nr; i++) {
		struct event *e = &ev[i];
		unsigned what = (unsigned)(rnd(s) % 100);

		*e = (struct event){.time = 10 * (uint64_t)i + 10,
				    .pid = 1 + (uint32_t)(rnd(s) % (M_IDS - 1)),
				    .kind = OP_MMAP};
		e->tid = 1 + (uint32_t)(rnd(s) % (M_IDS - 1));
		e->ppid = 1 + (uint32_t)(rnd(s) % (M_IDS - 1));
		e->ptid = 1 + (uint32_t)(rnd(s) % (M_IDS - 1));
		e->page = rnd(s) % M_PAGES;
		e->pages = 1 + rnd(s) % (M_PAGES - e->page);
		if (e->pages > 6 && rnd(s) % 3)
			e->pages = 1 + e->pages % 6;
		sprintf(e->text, "%d", i);
		if (what < 12)
			e->kind = OP_FORK;
		else if (what < 22)
			e->kind = OP_THREAD;
		else if (what < 32)
			e->kind = OP_EXIT;
		else if (what < 38)
			e->kind = OP_EXEC;
		else if (what < 46)
			e->kind = OP_COMM;
		if (sane) { /* as a kernel would: of live threads, ids used once at a time */
			uint32_t new_id =
				e->kind == OP_FORK || !m.proc[e->pid].mm ? e->pid : e->tid;
			bool free_pid =
				!m.proc[new_id].mm; /* not while threads of its process live */

			if (!m.proc[e->pid].mm)
				e->kind = OP_FORK;
			for (unsigned k = 0; k < M_IDS; k++)
				free_pid &= !m.proc[k].mm || !m.proc[k].member[new_id];
			if ((e->kind == OP_FORK || e->kind == OP_THREAD) &&
			    (!free_pid || m.proc[e->pid].mm))
				e->kind = e->kind == OP_THREAD && free_pid && m.proc[e->pid].mm
						  ? OP_THREAD
						  : OP_MMAP;
			if (e->kind != OP_THREAD && e->kind != OP_FORK &&
			    !m.proc[e->pid].member[e->tid])
				e->tid = e->pid;
			e->ptid = e->ppid;
		}
		if (e->kind == OP_FORK) {
			if (e->ppid == e->pid)
				e->ppid = e->pid % (M_IDS - 1) + 1;
			e->ptid = sane || e->ptid == e->pid ? e->ppid : e->ptid;
			e->tid = e->pid;
		} else {
			e->ppid = e->kind == OP_THREAD ? e->pid : 1;
			e->ptid = sane || e->kind != OP_THREAD ? e->pid : e->ptid;
		}
		if (e->kind == OP_EXEC)
			e->tid = e->pid;
		model_step(&m, e, i);
	}
}

static void shuffle(int *order, int nr, uint64_t *s, int window)
{
	for (int i = 0; i < nr; i++)
		order[i] = i;
	for (int i = 0; i < nr; i++) {
		int left = nr - i, reach = window && window < left ? window : left;
		int j = i + (int)(rnd(s) % (uint64_t)reach), x = order[i];

		order[i] = order[j];
		order[j] = x;
	}
}

/* All pieces that a model's address space ever had, and its life. */
static void compare_spaces(struct da_tasks *t, const struct pairs *mms, const struct pairs *ids)
{
	for (unsigned i = 0; i < mms->nr; i++) {
		struct da_map maps[1024];
		size_t want = 0, got = da_tasks_mm_maps(t, mms->theirs[i], maps, 1024);

		for (unsigned k = 0; k < ids->nr; k++)
			want += ids->ours[k] >> 40 == mms->ours[i];
		SAME(got, want);
		for (size_t k = 0; k < got; k++) {
			unsigned x = 0;

			while (x < ids->nr && ids->theirs[x] != maps[k].id)
				x++;
			MUST(x < ids->nr);
			SAME(ids->ours[x] >> 40, mms->ours[i]);
			SAME((ids->ours[x] & 1023) << 12, maps[k].end);
			if (k)
				MUST(maps[k - 1].start < maps[k].start ||
				     (maps[k - 1].start == maps[k].start &&
				      maps[k - 1].from_ns <= maps[k].from_ns));
		}
	}
}

struct lives {
	struct da_tasks *t;
	const struct event *ev;
	int nr;
	const struct pairs *mms;
	unsigned seen;
	bool sane;
};

static void compare_life(void *ctx, uint64_t mm, uint32_t pid, const char *text, uint64_t from,
			 uint64_t to)
{
	struct lives *l = ctx;
	struct model m;
	unsigned i = 0;

	while (i < l->mms->nr && l->mms->theirs[i] != mm)
		i++;
	ck_assert_msg(i < l->mms->nr, "mm %lu is unknown", (unsigned long)mm);
	SAME(from, l->ev[(l->mms->ours[i] - 1) / 2].time);
	model_at(&m, l->ev, NULL, l->nr, to - 1);
	SAME(m.proc[pid].mm, (int)l->mms->ours[i]);
	if (l->sane)
		SAME_TEXT(text, model_comm(&m, pid, pid));
	if (to != UINT64_MAX) {
		model_at(&m, l->ev, NULL, l->nr, to);
		ck_assert_int_ne(m.proc[pid].mm, (int)l->mms->ours[i]);
	}
	l->seen++;
}

START_TEST(any_order_of_arrival)
{
	uint64_t s = (uint64_t)_i * 77 + 1;
	struct event ev[M_RECS];
	int nr = 20 + (int)(rnd(&s) % (M_RECS - 20)), order[M_RECS];
	static const int windows[] = {1, 4, 16, 0, 0};

	bool sane = _i % 3 == 0;

	invent(ev, nr, &s, sane);
	for (size_t w = 0; w < sizeof(windows) / sizeof(*windows); w++) {
		struct da_tasks *t = da_tasks_new();
		struct pairs mms = {0}, ids = {0}, early_mms, early_ids;
		bool arrived[M_RECS] = {false};
		struct model m;
		struct lives l = {t, ev, nr, &mms, 0, sane};

		shuffle(order, nr, &s, windows[w]);
		for (int i = 0; i < nr; i++) {
			uint64_t time = 10 * (rnd(&s) % (uint64_t)nr) + 15;

			arrived[order[i]] = true;
			SAME(give(t, &ev[order[i]]), 0);
			if (i % 8)
				continue;
			memset(&early_mms, 0, sizeof(early_mms));
			memset(&early_ids, 0, sizeof(early_ids));
			model_at(&m, ev, arrived, nr, time);
			compare(t, &m, sane, time, &early_mms, &early_ids);
		}
		for (int i = 0; i <= nr; i++) {
			uint64_t time = 10 * (uint64_t)i + (i % 2 ? 0 : 5);

			model_at(&m, ev, NULL, nr, 10 * (uint64_t)i);
			compare(t, &m, sane, time, &mms, &ids);
		}
		compare_spaces(t, &mms, &ids);
		da_tasks_each_mm(t, compare_life, &l);
		SAME(l.seen, mms.nr);
		da_tasks_free(t);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("task_model");
	TCase *tc = tcase_create("task_model");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_loop_test(tc, any_order_of_arrival, 0, 60);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
