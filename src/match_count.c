/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The match and update layers at work: reports in, each one's region found, its credit given, everything
 * counted under (event, CPU) and under the space.
 *
 * Reports come many at a time. Those in a row that are alike (event, CPU, process) are a lot: what they have in
 * common is looked up once. Finding the place of an address is match_find.c's. Nothing is kept per report.
 */
#include "heat_priv.h"
#include "match_priv.h"

#define LOT 64

/* What one layer makes of some reports. */
struct sums {
	uint64_t in, out, fresh, missed, straddled;
};

/* The reports of a lot in one space. */
struct side {
	uint32_t space; /* NONE: out of memory */
	uint32_t work;  /* NONE: not known yet */
	unsigned shift; /* of the work's bins, and the bin that was marked last */
	uint64_t bin;
	struct da_heat *heat; /* NULL: not known yet */
	struct sums sums;
};

static struct side side_of(uint32_t space)
{
	return (struct side){.space = space, .work = NONE};
}

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

static void mark_work(struct da_match *m, struct side *s, const struct da_report *r)
{
	struct work *w;

	if (s->work != NONE && r->time_ns >> s->shift == s->bin)
		return;
	w = s->work == NONE ? match_work(m, s->space, r->event, r->time_ns) : &m->work[s->work];
	if (!w)
		return;
	work_mark(w, r->time_ns);
	s->work = (uint32_t)(w - m->work);
	s->shift = w->shift;
	s->bin = r->time_ns >> w->shift;
}

static void add_heat(struct da_match *m, struct side *s, uint32_t entry, const struct da_report *r,
		     uint64_t addr)
{
	if (!s->heat) {
		s->heat = match_heat(m, s->space);
		if (!s->heat)
			return;
	}
	if (!front_hit(m->front, s->heat, r->event, entry, r->time_ns, addr))
		match_heat_later(m, s->heat, r->event, entry, r->time_ns, addr);
}

static inline void accumulate(struct da_match *m, struct side *s, uint32_t entry,
			      struct da_region_stat *st, const struct da_report *r, uint64_t addr)
{
	uint8_t op = r->has & DA_HAS_OP ? r->op : 0;

	st->samples++;
	st->accesses += r->has & DA_HAS_PERIOD ? r->period : 1;
	st->reads += !!(op & DA_OP_READ);
	st->writes += !!(op & DA_OP_WRITE);
	st->hit_start = addr < st->hit_start ? addr : st->hit_start;
	st->hit_end = addr >= st->hit_end ? addr + 1 : st->hit_end; /* none reaches the last one */
	if (m->o.regions == DA_REGIONS_DAMON && !m->o.part)
		match_adapt(m, s->space, r, addr);
	if (m->sketch && sketch_add_later(m->sketch, entry, r, addr))
		m->no_memory = true;
	if (!(r->has & DA_HAS_TIME))
		return;
	mark_work(m, s, r);
	add_heat(m, s, entry, r, addr);
}

/* Counts a report at its place. */
static inline void count(struct da_match *m, struct side *s, const struct place *at,
			 const struct da_report *r, uint64_t addr)
{
	/* Of a masked access nobody knows how far it reaches. */
	uint64_t size = (r->has & DA_HAS_SIZE) && !r->size_is_max && r->size ? r->size : 1;
	uint64_t interval;
	uint32_t stat;
	bool fresh;

	da_tally(&s->sums.in, 1);
	if (at->entry == NONE) {
		da_tally(&s->sums.missed, 1);
		return;
	}
	if (size > at->end - addr) {
		da_tally(&s->sums.straddled, 1);
		return;
	}
	stat = m->entry[at->entry].stat; /* mostly one event */
	if (stat == NONE || m->stat[stat].event != r->event)
		stat = match_stat(m, at->entry, r->event);
	if (stat == NONE) {
		da_tally(&s->sums.missed, 1); /* no memory: da_match_finish() fails */
		return;
	}
	s->sums.out++; /* not the ledger's alone: see add_sums() */
	interval = interval_of(m, r);
	fresh = match_credit(&m->credit[stat], interval);
	da_tally(&s->sums.fresh, fresh);
	m->stat[stat].hits += fresh;
	if (!m->o.accumulate)
		return;
	accumulate(m, s, at->entry, &m->stat[stat], r, addr);
	if (m->mask)
		match_probes_count(m, at->entry, m->mask, addr, interval);
}

static void add_sums(struct da_ledger *l, const struct sums *s)
{
	da_tally(&l->drop[DA_DROP_MISS_REGION], s->missed);
	da_tally(&l->drop[DA_DROP_STRADDLE], s->straddled);
	l->out[DA_STAGE_MATCH] += s->out; /* a space is shown, and sorted, by its number of them */
	da_tally(&l->in[DA_STAGE_UPDATE], s->out);
	da_tally(&l->out[DA_STAGE_UPDATE], s->fresh);
	da_tally(&l->drop[DA_DROP_ALREADY_CREDITED], s->out - s->fresh);
}

/* Adds up the lot's numbers in the event's ledger (NULL: its reports have been counted there) and its space's. */
static void close_side(struct da_match *m, const struct side *s, struct da_ledger *led)
{
	if (led)
		add_sums(led, &s->sums);
	if (s->space == NONE)
		return;
	da_tally(&m->space[s->space].pub.ledger.in[DA_STAGE_MATCH], s->sums.in);
	add_sums(&m->space[s->space].pub.ledger, &s->sums);
}

/* ---- the physical space ---- */

/* The physical space knows no owners, but a chosen target bounds it too. */
static bool phys_target(struct da_match *m, const struct da_report *r)
{
	struct proc *p;

	if (!m->pids)
		return true;
	p = r->has & DA_HAS_TASK ? match_proc(m, r->pid) : NULL;
	return p && p->target;
}

static void count_phys(struct da_match *m, struct side *s, const struct da_report *r)
{
	uint64_t bytes = m->o.regions == DA_REGIONS_FIXED ? m->o.fixed_bytes : PHYS_CHUNK;
	struct place at;

	if (s->space == NONE)
		s->space = match_phys_space(m);
	at = match_chunk(m, s->space, r->paddr, bytes, NULL);
	count(m, s, &at, r, r->paddr);
}

/* ---- lots ---- */

/* How many reports from the first on are alike. */
static size_t alike(const struct da_report *r, size_t n)
{
	const uint32_t bits = DA_HAS_TIME | DA_HAS_CPU | DA_HAS_TASK | DA_HAS_VADDR;
	size_t i = 1;

	n = n < LOT ? n : LOT;
	while (i < n && r[i].event == r->event && r[i].cpu == r->cpu && r[i].pid == r->pid &&
	       !((r[i].has ^ r->has) & bits))
		i++;
	return i;
}

/* Is the copy of the process's mappings right for all of the lot? One report is not worth the question. */
static bool lot_is_frozen(struct da_match *m, struct proc *p, const struct da_report *r, size_t n)
{
	uint64_t lo = r->time_ns, hi = r->time_ns;

	if (n < 4)
		return false;
	if (!(r->has & DA_HAS_TIME))
		lo = hi = UINT64_MAX;
	for (size_t i = 1; i < n && (r->has & DA_HAS_TIME); i++) {
		lo = r[i].time_ns < lo ? r[i].time_ns : lo;
		hi = r[i].time_ns > hi ? r[i].time_ns : hi;
	}
	return match_frozen(m, p, lo, hi);
}

/* Reports whose process has the same mappings at all their times. */
static void count_frozen(struct da_match *m, struct proc *p, struct da_ledger *led,
			 const struct da_report *r, size_t n, bool phys)
{
	struct side virt = side_of(p->space), ph = side_of(m->phys);
	uint32_t at[LOT];

	match_find(m, p, r, n, at);
	for (size_t i = 0; i < n; i++) {
		struct place place = match_frozen_place(m, p, &r[i], at[i]);

		count(m, &virt, &place, &r[i], r[i].vaddr);
		if (phys && (r[i].has & DA_HAS_PADDR))
			count_phys(m, &ph, &r[i]);
	}
	close_side(m, &virt, led);
	close_side(m, &ph, NULL);
}

static void count_each(struct da_match *m, struct proc *p, struct da_ledger *led,
		       const struct da_report *r, size_t n, bool phys)
{
	for (size_t i = 0; i < n; i++) {
		struct place place = match_virtual(m, p, &r[i]);
		struct side virt = side_of(place.space), ph = side_of(m->phys);

		if (place.entry == NONE && place.space != NONE && m->o.missed &&
		    m->o.missed(m->o.missed_ctx, &r[i])) {
			led->in[DA_STAGE_MATCH]--; /* it will come again */
			continue;
		}
		count(m, &virt, &place, &r[i], r[i].vaddr);
		if (phys && (r[i].has & DA_HAS_PADDR))
			count_phys(m, &ph, &r[i]);
		close_side(m, &virt, led);
		close_side(m, &ph, NULL);
	}
}

/* Reports of no virtual space, for the reason why, or DA_DROP_NR: then those without a physical one either
 * missed it. */
static void count_physical(struct da_match *m, struct da_ledger *led, enum da_drop why,
			   const struct da_report *r, size_t n, bool phys)
{
	struct side ph = side_of(m->phys);

	for (size_t i = 0; i < n; i++) {
		if (phys && (r[i].has & DA_HAS_PADDR))
			count_phys(m, &ph, &r[i]);
		else if (why == DA_DROP_NR)
			da_tally(&led->drop[DA_DROP_MISS_SPACE], 1);
	}
	if (why != DA_DROP_NR)
		led->drop[why] += n;
	close_side(m, &ph, why == DA_DROP_NR ? led : NULL);
}

static void count_lot(struct da_match *m, const struct da_report *r, size_t n)
{
	struct da_ledger *led = match_ledger_of(m, r->event, r->has & DA_HAS_CPU ? r->cpu : 0);
	bool phys = m->o.phys && phys_target(m, r);
	enum da_drop why = DA_DROP_NR;
	struct proc *p = NULL;

	da_tally(&led->in[DA_STAGE_MATCH], n);
	if (m->o.virt && (r->has & DA_HAS_VADDR)) {
		p = r->has & DA_HAS_TASK ? match_proc(m, r->pid) : NULL;
		if (!(r->has & DA_HAS_TASK))
			why = DA_DROP_NO_TASK;
		else if (!p || !p->target)
			why = DA_DROP_MISS_SPACE;
	}
	if (!p || why != DA_DROP_NR)
		count_physical(m, led, why, r, n, phys);
	else if (lot_is_frozen(m, p, r, n))
		count_frozen(m, p, led, r, n, phys);
	else
		count_each(m, p, led, r, n, phys);
}

/* Probes look at each report, which has then a lot of its own. */
static void count_probed(struct da_match *m, const struct da_report *r)
{
	struct da_ledger *led;

	if (match_probes(m, r, &m->mask)) {
		count_lot(m, r, 1);
		return;
	}
	led = match_ledger_of(m, r->event, r->has & DA_HAS_CPU ? r->cpu : 0);
	da_tally(&led->in[DA_STAGE_MATCH], 1);
	da_tally(&led->drop[DA_DROP_MISS_PROBE], 1);
	if (m->o.accumulate && (r->has & DA_HAS_TASK) && (r->has & DA_HAS_TIME))
		da_match_observe(m, r->event, r->pid, r->time_ns);
}

void da_match_reports(struct da_match *m, const struct da_report *r, size_t n)
{
	size_t i, lot;

	for (i = 0; i < n && m->o.probes; i++)
		count_probed(m, &r[i]);
	for (; i < n; i += lot) {
		lot = alike(r + i, n - i);
		count_lot(m, r + i, lot);
	}
}

void da_match_report(struct da_match *m, const struct da_report *r)
{
	da_match_reports(m, r, 1);
}
