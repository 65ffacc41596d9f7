/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The match layer (da_match.h) as a whole: made and freed, its ledgers, its heats with their common bound, and
 * the order of its spaces at the end.
 *
 * Reports are match_count.c's.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "da_error.h"
#include "match_priv.h"

#define INTERVAL_NS     5000000ull /* DAMON's default sampling interval */
#define MAX_CELLS       (192u * 1024)
#define MAX_CELLS_SPACE (48u * 1024) /* a table of 2 MiB: what a core's own cache may hold */
/* Of a part, which is a slice of the recording: it needs fewer, and all its tables fit such a cache. */
#define PART_CELLS       (24u * 1024)
#define PART_CELLS_SPACE (12u * 1024)
/* For cutting regions: 48 bytes each, with the table's free slots 6 MiB. */
#define MAX_PLACES  (96u * 1024)
#define PART_PLACES (24u * 1024)
#define FEW_CELLS   64 /* a heat has room for so many from the start */
#define MAX_CPUS                                                                                   \
	65536 /* a CPU number beyond this comes from damage; it is counted on the last one */

/* What is kept beside regions and ledgers. */
static bool make_parts(struct da_match *m)
{
	const struct da_match_opts *o = &m->o;
	size_t places = o->max_places ? o->max_places : o->part ? PART_PLACES : MAX_PLACES;
	bool cut = o->accumulate && o->regions >= DA_REGIONS_DENSITY;

	m->front = da_heat_front_new();
	if (cut)
		m->sketch = sketch_new(places, m->index.seed);
	if (m->sketch && da_probes_nr(o->probes))
		m->hits = hits_new(0, m->index.seed);
	if (o->pids)
		m->pids = reallocarray(NULL, o->nr_pids + 1, sizeof(*m->pids));
	return m->front && (m->sketch || !cut) && (m->hits || !cut || !da_probes_nr(o->probes)) &&
	       (m->pids || !o->pids);
}

struct da_match *da_match_new(const struct da_match_opts *o, struct da_tasks *tasks)
{
	struct da_match *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->o = *o;
	m->tasks = tasks;
	if (getrandom(&m->index.seed, sizeof(m->index.seed), GRND_NONBLOCK) < 0)
		m->index.seed = (uintptr_t)m; /* not secret then, but no file can know it */
	m->lasting.seed = m->index.seed;
	m->phys = NONE;
	m->last_proc = NONE;
	m->last_ledger = NONE;
	memset(m->near, 0xff, sizeof(m->near));
	if (!m->o.interval_ns)
		m->o.interval_ns = INTERVAL_NS;
	if (!m->o.max_cells)
		m->o.max_cells = m->o.part ? PART_CELLS : MAX_CELLS;
	if (!m->o.fixed_bytes)
		m->o.fixed_bytes = PHYS_CHUNK;
	if (!make_parts(m)) {
		da_match_free(m);
		return NULL;
	}
	if (m->pids) {
		memcpy(m->pids, o->pids, o->nr_pids * sizeof(*m->pids));
		qsort(m->pids, o->nr_pids, sizeof(*m->pids), match_by_number);
	}
	return m;
}

void da_match_free(struct da_match *m)
{
	size_t i;

	if (!m)
		return;
	match_thaw_all(m);
	for (i = 0; i < m->nr_spaces; i++) {
		da_heat_free(m->space[i].pub.heat);
		da_adapt_free(m->space[i].adapt);
		free(m->space[i].adapt_to);
		free(m->space[i].bounds);
		if (m->space[i].pub.areas != m->space[i].pub.regions)
			free(m->space[i].pub.areas);
		free(m->space[i].pub.regions);
	}
	da_heat_front_free(m->front);
	for (i = 0; i < m->nr_texts; i++)
		free(m->texts[i]);
	free(m->pids);
	free(m->index.slot);
	free(m->lasting.slot);
	free(m->chunks.slot);
	free(m->proc);
	free(m->space);
	free(m->shown);
	free(m->entry);
	free(m->stat);
	free(m->credit);
	free(m->label);
	free(m->texts);
	free(m->joined);
	free(m->cut_stat);
	free(m->probe_stat);
	hits_free(m->hits);
	sketch_free(m->sketch);
	free(m->work);
	free(m->ledger);
	free(m->met);
	free(m);
}

/* ---- ledgers ---- */

struct da_ledger *match_ledger_of(struct da_match *m, uint32_t event, uint32_t cpu)
{
	uint64_t key;
	uint32_t i = m->last_ledger;

	if (cpu >= MAX_CPUS)
		cpu = MAX_CPUS - 1;
	if (i != NONE && m->ledger[i].event == event && m->ledger[i].cpu == cpu)
		return &m->ledger[i].ledger;
	key = (uint64_t)event << 32 | cpu;
	i = index_find(&m->lasting, KEY_LEDGER, 0, key);
	if (i == NONE) {
		if (grow((void **)&m->ledger, &m->room_ledgers, m->nr_ledgers,
			 sizeof(*m->ledger)) ||
		    index_put(&m->lasting, KEY_LEDGER, 0, key, (uint32_t)m->nr_ledgers)) {
			m->no_memory = true;
			return &m->spill.ledger;
		}
		i = (uint32_t)m->nr_ledgers++;
		m->ledger[i] = (struct match_ledger){.event = event, .cpu = cpu};
		if (cpu >= m->nr_cpus)
			m->nr_cpus = cpu + 1;
	}
	m->last_ledger = i;
	return &m->ledger[i].ledger;
}

const struct da_ledger *da_match_ledger(const struct da_match *m, uint32_t event, uint32_t cpu)
{
	uint32_t i = index_find(&m->lasting, KEY_LEDGER, 0, (uint64_t)event << 32 | cpu);

	return i == NONE ? NULL : &m->ledger[i].ledger;
}

uint32_t da_match_nr_cpus(const struct da_match *m)
{
	return m->nr_cpus;
}

/* ---- heat ---- */

/* The bound holds for all heats together: the fullest gives way, down to some room for the next. Where
 * there are so many spaces that none has cells to spare, each keeps its few. */
static void limit_cells(struct da_match *m)
{
	size_t goal = m->o.max_cells - m->o.max_cells / 8, before, i;

	while (m->cells > goal) {
		struct da_heat *fullest = NULL;

		for (i = 0; i < m->nr_spaces; i++) {
			struct da_heat *h = m->space[i].pub.heat;

			if (h && (!fullest || da_heat_cells(h) > da_heat_cells(fullest)))
				fullest = h;
		}
		before = fullest ? da_heat_cells(fullest) : 0;
		if (before <= FEW_CELLS || da_heat_coarsen(fullest)) {
			m->o.max_cells = m->cells + m->cells / 4;
			return;
		}
		m->cells -= before - da_heat_cells(fullest);
	}
}

struct da_heat *match_heat(struct da_match *m, uint32_t space)
{
	struct da_space *s = &m->space[space].pub;
	size_t most;

	if (s->heat)
		return s->heat;
	most = m->o.part ? PART_CELLS_SPACE : MAX_CELLS_SPACE;
	s->heat = da_heat_new(m->o.max_cells < most ? m->o.max_cells : most);
	if (s->heat) {
		da_heat_expect(s->heat, m->o.span_ns);
		da_heat_use_front(s->heat, m->front);
	} else {
		m->no_memory = true;
	}
	return s->heat;
}

void match_heat_grew(struct da_match *m, const struct da_heat *h, size_t before)
{
	m->cells += da_heat_cells(h) - before; /* wraps rightly when cells merged */
	if (m->cells > m->o.max_cells)
		limit_cells(m);
}

static void count_heat(struct da_match *m, const struct pending *p)
{
	size_t before = da_heat_cells(p->heat);

	if (da_heat_add(p->heat, p->event, p->entry, p->time_ns, p->addr, 1))
		m->no_memory = true;
	match_heat_grew(m, p->heat, before);
}

/* Cells of many addresses are rarely in the cache. */
void match_heat_later(struct da_match *m, struct da_heat *h, uint32_t event, uint32_t entry,
		      uint64_t time_ns, uint64_t addr)
{
	struct pending *p = &m->pending[m->next_pending++ % PENDING];

	if (p->heat)
		count_heat(m, p);
	*p = (struct pending){h, time_ns, addr, event, entry};
	da_heat_prefetch(h, event, entry, time_ns, addr);
}

void match_flush(struct da_match *m)
{
	size_t i;

	for (i = 0; i < PENDING; i++) { /* the oldest first */
		struct pending *p = &m->pending[m->next_pending++ % PENDING];

		if (p->heat)
			count_heat(m, p);
		p->heat = NULL;
	}
	for (i = 0; i < m->nr_spaces; i++)
		if (m->space[i].pub.heat)
			da_heat_settle(m->space[i].pub.heat);
	if (m->sketch && sketch_settle(m->sketch))
		m->no_memory = true;
}

/* ---- the sampler at work ---- */

void da_match_observe(struct da_match *m, uint32_t event, uint32_t pid, uint64_t time_ns)
{
	struct proc *p;
	struct work *w;
	uint32_t space;

	if (m->o.phys && m->phys != NONE) {
		w = match_work(m, m->phys, event, time_ns);
		if (w)
			work_mark(w, time_ns);
	}
	p = m->o.virt ? match_proc(m, pid) : NULL;
	if (!p || !p->target)
		return;
	space = match_space_at(m, p, time_ns);
	w = space == NONE ? NULL : match_work(m, space, event, time_ns);
	if (w)
		work_mark(w, time_ns);
}

bool da_match_observed(const struct da_match *m, const struct da_space *s, uint32_t event,
		       uint64_t t0_ns, uint64_t t1_ns)
{
	const struct space *in =
		(const struct space *)((const char *)s - offsetof(struct space, pub));
	uint64_t key = (uint64_t)in->self << 32 | event;
	uint32_t i = index_find(&m->lasting, KEY_WORK, 0, key);

	return i != NONE && work_any(&m->work[i], t0_ns, t1_ns);
}

/* ---- the end ---- */

static int by_weight(const void *a, const void *b)
{
	const struct space *x = *(struct space *const *)a, *y = *(struct space *const *)b;
	uint64_t nx = x->pub.ledger.out[DA_STAGE_MATCH], ny = y->pub.ledger.out[DA_STAGE_MATCH];

	if (x->pub.kind != y->pub.kind)
		return x->pub.kind == DA_SPACE_PHYSICAL ? 1 : -1;
	if (nx != ny)
		return nx > ny ? -1 : 1;
	return (x->self > y->self) - (x->self < y->self);
}

int da_match_finish(struct da_match *m)
{
	size_t i;
	int err;

	if (m->finished)
		return -DA_EBUG;
	m->finished = true;
	match_flush(m);
	match_thaw_all(m);
	err = match_build_regions(m);
	if (err)
		return err;
	m->shown = reallocarray(NULL, m->nr_spaces + 1, sizeof(*m->shown));
	if (!m->shown)
		return -DA_ENOMEM;
	for (i = 0; i < m->nr_spaces; i++)
		m->shown[m->nr_shown++] = &m->space[i];
	qsort(m->shown, m->nr_shown, sizeof(*m->shown), by_weight);
	return m->no_memory ? -DA_ENOMEM : 0;
}

size_t da_match_nr_spaces(const struct da_match *m)
{
	return m->nr_shown;
}

const struct da_space *da_match_space(const struct da_match *m, size_t i)
{
	return i < m->nr_shown ? &m->shown[i]->pub : NULL;
}
