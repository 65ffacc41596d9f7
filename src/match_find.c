/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a report belongs: its process, the address space at its time, the region that holds its address.
 *
 * Regions by mapping are searched in a frozen copy of the process's mappings, which holds until the task
 * timeline changes, for the times in which they stay as they are; elsewhere (a change just came, or the
 * report is of another time) the timeline itself is asked. Both give the same answer; only their speed differs.
 * Nothing is counted here (match.c).
 */
#include <stdlib.h>

#include "da_error.h"
#include "match_priv.h"

#define MAX_FROZEN_RANGES (256u * 1024) /* 8 MiB; beyond it all frozen copies are dropped */
#define CALM_FIRST        4
#define CALM_MAX          4096

/* ---- processes and their frozen mappings ---- */

int match_by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct proc *match_proc(struct da_match *m, uint32_t pid)
{
	uint32_t i = m->last_proc;

	if (i != NONE && m->proc[i].pid == pid)
		return &m->proc[i];
	i = index_find(&m->index, KEY_PROC, 0, pid);
	if (i == NONE) {
		if (grow((void **)&m->proc, &m->room_procs, m->nr_procs, sizeof(*m->proc)) ||
		    index_put(&m->index, KEY_PROC, 0, pid, (uint32_t)m->nr_procs)) {
			m->no_memory = true;
			return NULL;
		}
		i = (uint32_t)m->nr_procs++;
		m->proc[i] = (struct proc){.pid = pid, .wait = CALM_FIRST, .space = NONE};
		m->proc[i].target = !m->pids || bsearch(&pid, m->pids, m->o.nr_pids, sizeof(pid),
							match_by_number);
	}
	m->last_proc = i;
	return &m->proc[i];
}

static void thaw(struct da_match *m, struct proc *p)
{
	m->frozen_ranges -= p->set.nr;
	da_region_set_release(&p->set);
	p->frozen = false;
	p->last = 0;
}

void match_thaw_all(struct da_match *m)
{
	size_t i;

	for (i = 0; i < m->nr_procs; i++)
		thaw(m, &m->proc[i]);
}

/* The mappings at a time; malloc'ed, NULL with *nr = 0 when there are none (or no memory). */
static struct da_map *maps_at(struct da_match *m, uint32_t pid, uint64_t time_ns, size_t *nr)
{
	struct da_map *maps;

	*nr = da_tasks_maps(m->tasks, pid, time_ns, NULL, 0);
	maps = *nr ? reallocarray(NULL, *nr, sizeof(*maps)) : NULL;
	*nr = maps ? da_tasks_maps(m->tasks, pid, time_ns, maps, *nr) : 0;
	return maps;
}

/* Copies the state of a process at a time; the timeline knows from when to when it lasts. */
static void freeze(struct da_match *m, struct proc *p, uint64_t generation, uint64_t time_ns)
{
	uint64_t mm = da_tasks_mm(m->tasks, p->pid, time_ns);
	struct da_map *maps = NULL;
	size_t nr = 0, i;
	bool whole = true;

	thaw(m, p);
	p->generation = generation;
	da_tasks_span(m->tasks, p->pid, time_ns, &p->frozen_from_ns, &p->frozen_to_ns);
	if (m->o.regions != DA_REGIONS_FIXED)
		maps = maps_at(m, p->pid, time_ns, &nr);
	if (m->frozen_ranges + nr > MAX_FROZEN_RANGES)
		match_thaw_all(m);
	for (i = 0; i < nr && whole; i++)
		whole = !da_region_set_add(&p->set, maps[i].start, maps[i].end, NONE);
	p->frozen = whole && !da_region_set_freeze(&p->set);
	p->space = p->frozen ? match_space(m, mm, p->pid) : NONE;
	p->frozen = p->space != NONE;
	m->frozen_ranges += p->set.nr;
	if (!p->frozen)
		thaw(m, p);
	free(maps);
}

/* Is the frozen copy right for a report of this time? Freezes when the timeline has been calm for some
 * look-ups: a copy costs as much as they do. */
static bool frozen_at(struct da_match *m, struct proc *p, uint64_t time_ns)
{
	uint64_t generation = da_tasks_generation(m->tasks);

	if (p->generation != generation) {
		p->frozen = false;
		p->generation = generation;
		p->calm = 0;
		p->wait = CALM_FIRST;
	}
	if (p->frozen && time_ns >= p->frozen_from_ns &&
	    (time_ns < p->frozen_to_ns || p->frozen_to_ns == UINT64_MAX)) {
		p->served++;
		return true;
	}
	if (++p->calm < p->wait)
		return false;
	p->calm = 0;
	if (p->served > p->wait)
		p->wait = CALM_FIRST; /* the last copy was worth its cost */
	else
		p->wait = p->wait < CALM_MAX ? p->wait * 2 : CALM_MAX;
	p->served = 0;
	freeze(m, p, generation, time_ns);
	return p->frozen;
}

/* ---- look-ups ---- */

/* Without times the state that was read last is the best there is. */
static uint64_t time_of(const struct da_report *r)
{
	return r->has & DA_HAS_TIME ? r->time_ns : UINT64_MAX;
}

struct place match_chunk(struct da_match *m, uint32_t space, uint64_t addr, uint64_t bytes,
			 const struct da_report *virt)
{
	struct place at = {.space = space, .entry = NONE};
	uint64_t start = addr & ~(bytes - 1); /* a power of two */
	struct near_chunk *near;
	struct da_map map;
	bool known;

	if (space == NONE)
		return at;
	near = &m->near[(start / bytes + space) & (NEAR - 1)];
	if (near->start == start && near->space == space) {
		at.entry = near->entry;
		at.end = m->entry[at.entry].end;
		return at;
	}
	at.entry = match_chunk_entry(m, space, start);
	if (at.entry == NONE) {
		known = virt && da_tasks_find(m->tasks, virt->pid, time_of(virt), addr, &map);
		at.entry = match_new_chunk(m, space, start, bytes, known ? &map : NULL);
	}
	if (at.entry == NONE)
		return at;
	at.end = m->entry[at.entry].end;
	*near = (struct near_chunk){start, space, at.entry};
	return at;
}

static struct place map_at(struct da_match *m, struct proc *p, const struct da_report *r)
{
	struct place at = {.space = NONE, .entry = NONE};
	struct da_map map;

	if (!da_tasks_find(m->tasks, p->pid, time_of(r), r->vaddr, &map)) {
		at.space = match_space(m, da_tasks_mm(m->tasks, p->pid, time_of(r)), p->pid);
		return at;
	}
	at.space = match_space(m, map.mm, p->pid);
	if (at.space != NONE)
		at.entry = match_entry_of_map(m, at.space, &map);
	at.end = map.end;
	return at;
}

static struct place range_place(struct da_match *m, struct proc *p, const struct da_report *r,
				size_t i)
{
	struct da_range *range;

	if (i >= p->set.nr) /* below a stack's recorded start: the timeline knows its growth */
		return map_at(m, p, r);
	range = &p->set.ranges[i];
	if (range->tag == NONE)
		range->tag = map_at(m, p, r).entry; /* as the copy holds, it is the same mapping */
	return (struct place){.space = p->space, .entry = (uint32_t)range->tag, .end = range->end};
}

static struct place frozen_map_at(struct da_match *m, struct proc *p, const struct da_report *r)
{
	size_t i = p->last;

	if (i >= p->set.nr || r->vaddr < p->set.ranges[i].start || r->vaddr >= p->set.ranges[i].end)
		i = da_region_set_find(&p->set, r->vaddr);
	p->last = i;
	return range_place(m, p, r, i);
}

bool match_frozen(struct da_match *m, struct proc *p, uint64_t lo_ns, uint64_t hi_ns)
{
	return frozen_at(m, p, lo_ns) && (hi_ns < p->frozen_to_ns || p->frozen_to_ns == UINT64_MAX);
}

void match_find(const struct da_match *m, const struct proc *p, const struct da_report *r, size_t n,
		uint32_t *at)
{
	for (size_t i = 0; i < n && m->o.regions != DA_REGIONS_FIXED; i++)
		at[i] = (uint32_t)da_region_set_find(&p->set, r[i].vaddr);
}

struct place match_frozen_place(struct da_match *m, struct proc *p, const struct da_report *r,
				uint32_t at)
{
	return m->o.regions != DA_REGIONS_FIXED
		       ? range_place(m, p, r, at)
		       : match_chunk(m, p->space, r->vaddr, m->o.fixed_bytes, r);
}

uint32_t match_space_at(struct da_match *m, struct proc *p, uint64_t time_ns)
{
	return frozen_at(m, p, time_ns)
		       ? p->space
		       : match_space(m, da_tasks_mm(m->tasks, p->pid, time_ns), p->pid);
}

struct place match_virtual(struct da_match *m, struct proc *p, const struct da_report *r)
{
	if (m->o.regions != DA_REGIONS_FIXED)
		return frozen_at(m, p, time_of(r)) ? frozen_map_at(m, p, r) : map_at(m, p, r);
	return match_chunk(m, match_space_at(m, p, time_of(r)), r->vaddr, m->o.fixed_bytes, r);
}
