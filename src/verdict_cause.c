/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the checks are made of: one event's sums, evidence, causes, numbers in words. Judges nothing but
 * conservation.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "verdict_priv.h"

/* Sums what was measured; -1 while nothing was. */
static void add_measured(int64_t *sum, int64_t v)
{
	if (v < 0)
		return;
	if (*sum < 0)
		*sum = v;
	else if (__builtin_add_overflow(*sum, v, sum))
		*sum = INT64_MAX;
}

static void add_broken(struct vd_event *e, const struct da_ledger *l)
{
	struct da_ledger one;
	enum da_stage bad;
	int s;

	/* da_ledger_conserves() names the first broken layer only: look at each alone. */
	for (s = 0; s < DA_STAGE_NR; s++) {
		memset(&one, 0, sizeof(one));
		one.in[s] = l->in[s];
		one.out[s] = l->out[s];
		for (int d = 0; d < DA_DROP_NR; d++)
			if (da_drop_stage((enum da_drop)d) == (enum da_stage)s)
				one.drop[d] = l->drop[d];
		if (!da_ledger_conserves(&one, &bad))
			e->broken[s] = true;
	}
}

uint64_t vd_run_callbacks(const struct da_facts *f)
{
	struct da_ledger sum = {0};

	for (size_t e = 0; e < f->nr_events; e++)
		for (size_t c = 0; c < f->events[e].nr_cpus; c++)
			da_ledger_add(&sum, &f->events[e].cpus[c].ledger);
	return sum.in[DA_STAGE_SAMPLE];
}

void vd_event_init(struct vd_event *e, const struct da_facts *f, const struct da_facts_event *ev,
		   uint64_t run_callbacks)
{
	size_t i;
	int s;

	memset(e, 0, sizeof(*e));
	e->f = f;
	e->ev = ev;
	e->run_callbacks = run_callbacks;
	e->count = e->lost = e->enabled_ns = e->running_ns = -1;
	e->run_known = f->live || f->own_file;
	e->cut_short = !f->live && f->own_file && !f->end_reason[0];
	e->rows = ev->nr_cpus;
	for (i = 0; i < ev->nr_cpus; i++) {
		const struct da_facts_cpu *c = &ev->cpus[i];

		da_ledger_add(&e->sum, &c->ledger);
		add_broken(e, &c->ledger);
		if (c->state > e->max_state)
			e->max_state = c->state;
		for (s = 0; s <= DA_STATE_RUNNING && s <= (int)c->state; s++)
			e->at_least[s]++;
		e->absent += c->target_absent;
		e->sampled += c->ledger.in[DA_STAGE_SAMPLE] > 0;
		add_measured(&e->count, c->count);
		add_measured(&e->lost, c->lost);
		add_measured(&e->enabled_ns, c->enabled_ns);
		add_measured(&e->running_ns, c->running_ns);
	}
	e->n = da_ledger_counters(&e->sum);
}

void vd_evidence(struct da_check *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->evidence, sizeof(c->evidence), fmt, ap);
	va_end(ap);
}

struct da_cause *vd_cause(struct da_check *c, const char *id)
{
	struct da_cause *k;

	if (c->nr_causes == sizeof(c->causes) / sizeof(c->causes[0]))
		return NULL;
	k = &c->causes[c->nr_causes++];
	memset(k, 0, sizeof(*k));
	snprintf(k->id, sizeof(k->id), "%s", id);
	return k;
}

void vd_cause_evidence(struct da_cause *k, const char *fmt, ...)
{
	va_list ap;

	if (!k)
		return;
	va_start(ap, fmt);
	vsnprintf(k->evidence, sizeof(k->evidence), fmt, ap);
	va_end(ap);
}

void vd_fix(struct da_cause *k, const char *fmt, ...)
{
	va_list ap;

	if (!k)
		return;
	va_start(ap, fmt);
	vsnprintf(k->fix, sizeof(k->fix), fmt, ap);
	va_end(ap);
}

const char *vd_spec(const struct vd_event *e)
{
	static const char harmless[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		"_-:/=.,@+";
	const char *name = e->ev->name;

	return *name && *name != '-' && name[strspn(name, harmless)] == '\0' ? name : "EVENT";
}

const char *vd_percent(double part, double whole, char buf[16])
{
	double pct = whole > 0 ? 100 * part / whole : 0;

	if (part > 0 && pct < 0.1)
		snprintf(buf, 16, "<0.1 %%");
	else if (part < whole && pct > 99.9)
		snprintf(buf, 16, ">99.9 %%");
	else if (pct - (double)(int)pct < 0.05 || pct - (double)(int)pct >= 0.95)
		snprintf(buf, 16, "%.0f %%", pct);
	else
		snprintf(buf, 16, "%.1f %%", pct);
	return buf;
}

void vd_drops(const struct da_ledger *l, enum da_stage s, char *buf, size_t size)
{
	size_t used = 0;
	int d, n;

	snprintf(buf, size, "none");
	for (d = 0; d < DA_DROP_NR; d++) {
		if (da_drop_stage((enum da_drop)d) != s || !l->drop[d])
			continue;
		n = snprintf(buf + used, size - used, "%s%s %" PRIu64, used ? ", " : "",
			     da_drop_name((enum da_drop)d), l->drop[d]);
		if (n < 0 || (size_t)n >= size - used)
			return;
		used += (size_t)n;
	}
}

const char *vd_ring(const struct da_facts *f, char buf[24])
{
	uint32_t pages = f->mmap_pages ? f->mmap_pages : f->mmap_pages_wanted;

	if (pages)
		snprintf(buf, 24, "%u page%s", pages, pages == 1 ? "" : "s");
	else
		snprintf(buf, 24, "unknown size");
	return buf;
}

const char *vd_yes_no(bool b)
{
	return b ? "yes" : "no";
}

const char *vd_num(int64_t v, char buf[24])
{
	if (v < 0)
		snprintf(buf, 24, "not measured");
	else
		snprintf(buf, 24, "%" PRId64, v);
	return buf;
}

enum da_result vd_broken(const struct vd_event *e, enum da_stage s, struct da_check *c)
{
	struct da_cause *k = vd_cause(c, "conservation");
	char drops[160];

	vd_drops(&e->sum, s, drops, sizeof(drops));
	vd_evidence(c, "%s does not conserve: in %" PRIu64 ", out %" PRIu64 ", drops: %s",
		    da_stage_name(s), e->sum.in[s], e->sum.out[s], drops);
	vd_cause_evidence(
		k, "in = out + drops must hold on every CPU; it does not: a bug of damon-attrs");
	vd_fix(k, "report it with the output of: damon-attrs diagnose --format=json -e %s",
	       vd_spec(e));
	return DA_FAIL;
}

/* A recording that was cut short does not say its target, but system-wide events have no such bits. */
bool vd_per_task(const struct vd_event *e)
{
	enum da_target t = e->f->target;

	return t == DA_TARGET_COMMAND || t == DA_TARGET_PID || t == DA_TARGET_TID ||
	       (e->ev->attr.flags & (DA_ATTR_INHERIT | DA_ATTR_ENABLE_ON_EXEC));
}

bool vd_clock(const struct da_facts_event *ev)
{
	return ev->producer != DA_PROD_FAKE && da_attr_is_clock(&ev->attr);
}

bool vd_hardware(const struct da_facts_event *ev)
{
	return ev->producer != DA_PROD_FAKE && ev->attr.type != DA_TYPE_SOFTWARE &&
	       ev->attr.type != DA_TYPE_TRACEPOINT && ev->attr.type != DA_TYPE_BREAKPOINT;
}

/* Does it count things that the target may simply not do? A clock or a cycle counter always runs, a memory
 * sampler (SPE, IBS, a precise load event) always finds instructions. */
bool vd_event_driven(const struct da_facts_event *ev)
{
	switch (ev->attr.type) {
	case DA_TYPE_SOFTWARE:
		return ev->producer != DA_PROD_FAKE && !vd_clock(ev);
	case DA_TYPE_TRACEPOINT:
	case DA_TYPE_BREAKPOINT:
		return true;
	case DA_TYPE_HARDWARE:
		/* cycles and instructions (1) cannot stand still */
		return ev->producer == DA_PROD_NONE && (ev->attr.config & UINT32_MAX) > 1;
	default:
		return ev->producer == DA_PROD_NONE;
	}
}
