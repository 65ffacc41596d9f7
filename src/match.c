/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The match and update layers (da_match.h): one report in, its region found, its credit given, everything
 * counted under (event, CPU) and under the space.
 *
 * Finding the place of an address is match_find.c's. Nothing is kept per report.
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
#define PHYS_CHUNK  (16ull << 20)
#define MAX_CPUS                                                                                   \
	65536 /* a CPU number beyond this comes from damage; it is counted on the last one */

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
	if (!m->o.interval_ns)
		m->o.interval_ns = INTERVAL_NS;
	if (!m->o.max_cells)
		m->o.max_cells = m->o.part ? PART_CELLS : MAX_CELLS;
	if (!m->o.fixed_bytes)
		m->o.fixed_bytes = PHYS_CHUNK;
	if (o->pids) {
		m->pids = reallocarray(NULL, o->nr_pids + 1, sizeof(*m->pids));
		if (!m->pids) {
			free(m);
			return NULL;
		}
		memcpy(m->pids, o->pids, o->nr_pids * sizeof(*m->pids));
		qsort(m->pids, o->nr_pids, sizeof(*m->pids), match_by_number);
	}
	if (o->accumulate && o->regions >= DA_REGIONS_DENSITY) {
		size_t places = o->max_places ? o->max_places : o->part ? PART_PLACES : MAX_PLACES;

		m->sketch = sketch_new(places, m->index.seed);
		if (da_probes_nr(o->probes))
			m->hits = hits_new(0, m->index.seed);
		if (!m->sketch || (da_probes_nr(o->probes) && !m->hits)) {
			sketch_free(m->sketch);
			hits_free(m->hits);
			free(m->pids);
			free(m);
			return NULL;
		}
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
		free(m->space[i].bounds);
		if (m->space[i].pub.areas != m->space[i].pub.regions)
			free(m->space[i].pub.areas);
		free(m->space[i].pub.regions);
	}
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

/* ---- counting ---- */

bool match_credit(struct credit *c, uint64_t interval)
{
	uint64_t behind;

	if (!c->mask || interval > c->newest) {
		behind = c->mask ? interval - c->newest : 64;
		c->mask = (behind < 64 ? c->mask << behind : 0) | 1;
		c->newest = interval;
		return true;
	}
	behind = c->newest - interval;
	if (behind >= 64 || (c->mask >> behind & 1))
		return false;
	c->mask |= 1ull << behind;
	return true;
}

static uint64_t interval_of(struct da_match *m, const struct da_report *r)
{
	if (!(r->has & DA_HAS_TIME))
		return 0; /* without times all is one interval */
	if (r->time_ns < m->interval_from || r->time_ns >= m->interval_to) {
		m->interval = r->time_ns / m->o.interval_ns;
		m->interval_from = m->interval * m->o.interval_ns;
		if (__builtin_add_overflow(m->interval_from, m->o.interval_ns, &m->interval_to))
			m->interval_to = UINT64_MAX;
	}
	return m->interval;
}

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
	if (s->heat)
		da_heat_expect(s->heat, m->o.span_ns);
	else
		m->no_memory = true;
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

void match_flush(struct da_match *m)
{
	unsigned i;

	for (i = 0; i < PENDING; i++) { /* the oldest first */
		struct pending *p = &m->pending[m->next_pending++ % PENDING];

		if (p->heat)
			count_heat(m, p);
		p->heat = NULL;
	}
}

/* Cells of many addresses are rarely in the cache. */
static void heat(struct da_match *m, uint32_t space, uint32_t entry, const struct da_report *r,
		 uint64_t addr)
{
	struct da_heat *h = match_heat(m, space);
	struct pending *p = &m->pending[m->next_pending % PENDING];

	if (!h)
		return;
	m->next_pending++;
	if (p->heat)
		count_heat(m, p);
	*p = (struct pending){h, r->time_ns, addr, r->event, entry};
	da_heat_prefetch(h, r->event, entry, r->time_ns, addr);
}

static void accumulate(struct da_match *m, const struct place *at, struct da_region_stat *st,
		       const struct da_report *r, uint64_t addr)
{
	struct work *w;

	st->samples++;
	st->accesses += r->has & DA_HAS_PERIOD ? r->period : 1;
	if (r->has & DA_HAS_OP) {
		st->reads += !!(r->op & DA_OP_READ);
		st->writes += !!(r->op & DA_OP_WRITE);
	}
	if (addr < st->hit_start)
		st->hit_start = addr;
	if (addr >= st->hit_end)
		st->hit_end = addr + 1; /* no region reaches the last address */
	if (m->o.regions == DA_REGIONS_DAMON && !m->o.part)
		match_adapt(m, at->space, r, addr);
	if (m->sketch && sketch_add(m->sketch, at->entry, r, addr))
		m->no_memory = true;
	if (!(r->has & DA_HAS_TIME))
		return;
	w = match_work(m, at->space, r->event, r->time_ns);
	if (w)
		work_mark(w, r->time_ns);
	heat(m, at->space, at->entry, r, addr);
}

static void miss(struct da_ledger *a, struct da_ledger *b, enum da_drop why)
{
	if (a)
		a->drop[why]++;
	if (b)
		b->drop[why]++;
}

/* Counts a report at its place, in the event's ledger (NULL: it has been counted there) and its space's. */
static void count(struct da_match *m, struct da_ledger *led, const struct place *at,
		  const struct da_report *r, uint64_t addr)
{
	struct da_ledger *of_space = at->space == NONE ? NULL : &m->space[at->space].pub.ledger;
	/* Of a masked access nobody knows how far it reaches. */
	uint64_t size = (r->has & DA_HAS_SIZE) && !r->size_is_max && r->size ? r->size : 1;
	uint32_t stat;
	bool fresh;

	if (of_space)
		of_space->in[DA_STAGE_MATCH]++;
	if (at->entry == NONE) {
		miss(led, of_space, DA_DROP_MISS_REGION);
		return;
	}
	if (size > at->end - addr) {
		miss(led, of_space, DA_DROP_STRADDLE);
		return;
	}
	stat = match_stat(m, at->entry, r->event);
	if (stat == NONE) {
		miss(led, of_space, DA_DROP_MISS_REGION); /* no memory: da_match_finish() fails */
		return;
	}
	fresh = match_credit(&m->credit[stat], interval_of(m, r));
	m->stat[stat].hits += fresh;
	of_space->out[DA_STAGE_MATCH]++;
	of_space->in[DA_STAGE_UPDATE]++;
	of_space->out[DA_STAGE_UPDATE] += fresh;
	of_space->drop[DA_DROP_ALREADY_CREDITED] += !fresh;
	if (led) {
		led->out[DA_STAGE_MATCH]++;
		led->in[DA_STAGE_UPDATE]++;
		led->out[DA_STAGE_UPDATE] += fresh;
		led->drop[DA_DROP_ALREADY_CREDITED] += !fresh;
	}
	if (!m->o.accumulate)
		return;
	accumulate(m, at, &m->stat[stat], r, addr);
	if (m->mask)
		match_probes_count(m, at->entry, m->mask, addr, interval_of(m, r));
}

static void report_phys(struct da_match *m, struct da_ledger *led, const struct da_report *r)
{
	uint64_t bytes = m->o.regions == DA_REGIONS_FIXED ? m->o.fixed_bytes : PHYS_CHUNK;
	struct place at = match_chunk(m, match_phys_space(m), r->paddr, bytes, NULL);

	count(m, led, &at, r, r->paddr);
}

/* Returns true if the virtual space took the report (matched or not). */
static bool report_virt(struct da_match *m, struct da_ledger *led, const struct da_report *r)
{
	struct place at;
	struct proc *p;

	if (!m->o.virt || !(r->has & DA_HAS_VADDR))
		return false;
	if (!(r->has & DA_HAS_TASK)) {
		led->drop[DA_DROP_NO_TASK]++;
		return true;
	}
	p = match_proc(m, r->pid);
	if (!p || !p->target) {
		led->drop[DA_DROP_MISS_SPACE]++;
		return true;
	}
	at = match_virtual(m, p, r);
	count(m, led, &at, r, r->vaddr);
	return true;
}

/* The physical space knows no owners, but a chosen target bounds it too. */
static bool phys_target(struct da_match *m, const struct da_report *r)
{
	struct proc *p;

	if (!m->pids)
		return true;
	p = r->has & DA_HAS_TASK ? match_proc(m, r->pid) : NULL;
	return p && p->target;
}

void da_match_report(struct da_match *m, const struct da_report *r)
{
	struct da_ledger *led = match_ledger_of(m, r->event, r->has & DA_HAS_CPU ? r->cpu : 0);
	bool phys = m->o.phys && (r->has & DA_HAS_PADDR) && phys_target(m, r);
	bool virt;

	led->in[DA_STAGE_MATCH]++;
	if (m->o.probes && !match_probes(m, r, &m->mask)) {
		led->drop[DA_DROP_MISS_PROBE]++;
		if (m->o.accumulate && (r->has & DA_HAS_TASK) && (r->has & DA_HAS_TIME))
			da_match_observe(m, r->event, r->pid, r->time_ns);
		return;
	}
	virt = report_virt(m, led, r);
	if (phys)
		report_phys(m, virt ? NULL : led, r);
	else if (!virt)
		led->drop[DA_DROP_MISS_SPACE]++;
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
