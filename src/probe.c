/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes (da_probe.h): what a report must be to pass. Their text is read in probe_parse.c; crediting regions
 * is the match layer's.
 */
#include "da_probe.h"

#include <stdlib.h>
#include <string.h>

#include "da_datasrc.h"
#include "probe_priv.h"

struct da_probes *da_probes_new(void)
{
	return calloc(1, sizeof(struct da_probes));
}

void da_probes_free(struct da_probes *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nr; i++)
		probe_release(&p->all[i]);
	free(p->of_event);
	free(p);
}

int da_probes_add(struct da_probes *p, const char *text, struct da_error *err)
{
	struct probe one;
	int rc;

	if (p->nr == DA_PROBES_MAX)
		return da_fail(err, DA_EUSAGE, 0, "more than %d probes", DA_PROBES_MAX);
	rc = probe_parse(&one, text, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < p->nr; i++) {
		if (strcmp(p->all[i].name, one.name) != 0)
			continue;
		rc = da_fail(err, DA_EUSAGE, 0, "two probes are called '%s'", one.name);
		probe_release(&one);
		return rc;
	}
	p->weighted |= one.weight > 0;
	p->all[p->nr++] = one;
	return 0;
}

size_t da_probes_nr(const struct da_probes *p)
{
	return p ? p->nr : 0;
}

const char *da_probe_name(const struct da_probes *p, size_t i)
{
	return p->all[i].name;
}

const char *da_probe_text(const struct da_probes *p, size_t i)
{
	return p->all[i].text;
}

uint64_t da_probe_weight(const struct da_probes *p, size_t i)
{
	return p->all[i].weight;
}

bool da_probes_weighted(const struct da_probes *p)
{
	return p && p->weighted;
}

/* ---- binding to events ---- */

static bool is_event(const char *want, const struct da_probe_event *e, size_t index)
{
	const char *slash = strrchr(e->name, '/'), *colon = strrchr(slash ? slash : e->name, ':');
	size_t plain = colon && colon[1] && strspn(colon + 1, "ukhpGHP") == strlen(colon + 1)
			       ? (size_t)(colon - e->name)
			       : strlen(e->name);

	if (*want && strspn(want, "0123456789") == strlen(want))
		return strtoull(want, NULL, 10) == index;
	return !strcmp(want, e->name) || !strcmp(want, da_producer_name(e->producer)) ||
	       (strlen(want) == plain && !strncmp(want, e->name, plain));
}

static bool any_name(const struct names *n, const char *name)
{
	for (size_t i = 0; i < n->nr; i++)
		if (!strcmp(n->all[i], name))
			return true;
	return false;
}

static bool any_event(const struct names *n, const struct da_probe_event *e, size_t index)
{
	for (size_t i = 0; i < n->nr; i++)
		if (is_event(n->all[i], e, index))
			return true;
	return false;
}

static int check_names(const struct probe *p, const struct da_probe_event *ev, size_t nr,
		       struct da_error *err)
{
	for (size_t i = 0; i < p->producers.nr; i++) {
		bool found = false;

		for (size_t e = 0; e < nr; e++)
			found |= is_event(p->producers.all[i], &ev[e], e);
		if (!found)
			return da_fail(err, DA_EUSAGE, 0,
				       "probe '%s': no event or producer is called '%s' here",
				       p->name, p->producers.all[i]);
	}
	for (size_t i = 0; i < p->buffers.nr; i++) {
		bool found = false;

		for (size_t e = 0; e < nr; e++)
			found |= !strcmp(p->buffers.all[i], ev[e].buffer);
		if (!found)
			return da_fail(err, DA_EUSAGE, 0,
				       "probe '%s': no event writes into a buffer '%s'", p->name,
				       p->buffers.all[i]);
	}
	return 0;
}

int da_probes_bind(struct da_probes *p, const struct da_probe_event *ev, size_t nr,
		   struct da_error *err)
{
	int rc = 0;

	free(p->of_event);
	p->of_event = calloc(nr ? nr : 1, sizeof(*p->of_event));
	if (!p->of_event)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	p->nr_events = nr;
	for (size_t i = 0; i < p->nr && !rc; i++)
		rc = check_names(&p->all[i], ev, nr, err);
	for (size_t e = 0; e < nr; e++) {
		/* a page fault has no hit count: with weights it is no part of the score */
		if (p->weighted && ev[e].producer == DA_PROD_FAULT)
			continue;
		for (size_t i = 0; i < p->nr; i++) {
			const struct probe *one = &p->all[i];

			if ((!one->producers.nr || any_event(&one->producers, &ev[e], e)) &&
			    (!one->buffers.nr || any_name(&one->buffers, ev[e].buffer)))
				p->of_event[e] |= 1u << i;
		}
	}
	return rc;
}

/* ---- passing ---- */

static bool in_list(const struct spans *l, uint64_t v)
{
	for (size_t i = 0; i < l->nr; i++)
		if (v >= l->all[i].lo && v <= l->all[i].hi)
			return true;
	return false;
}

/* A list that is empty asks for nothing; a field that the report has not never fulfils one. */
static bool fits(const struct spans *l, bool has, uint64_t v)
{
	return !l->nr || (has && in_list(l, v));
}

static bool fits_source(const struct probe *p, const struct da_report *r)
{
	uint64_t level = r->data_src >> 5, v = r->data_src;
	uint32_t is = 0;
	static const struct {
		uint32_t bit, old, num;
	} levels[] = {
		{SRC_L1, LVL_L1, NUM_L1},
		{SRC_L2, LVL_L2, NUM_L2},
		{SRC_L3, LVL_L3, NUM_L3},
		{SRC_L4, 0, NUM_L4},
		{SRC_LFB, LVL_LFB, NUM_LFB},
		{SRC_RAM, LVL_LOC_RAM | LVL_REM_RAM1 | LVL_REM_RAM1 << 1, NUM_RAM},
		{SRC_CXL, 0, NUM_CXL},
		{SRC_PMEM, 0, NUM_PMEM},
		{SRC_IO, LVL_IO, NUM_IO},
		{SRC_UNCACHED, LVL_UNC, NUM_UNC},
	};

	if (!p->sources)
		return true;
	if (!(r->has & DA_HAS_DATA_SRC))
		return false;
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if ((level & levels[i].old & 0x3fff) || (v >> 33 & 0xf) == levels[i].num)
			is |= levels[i].bit;
	is |= level & LVL_HIT ? SRC_HIT : 0;
	is |= level & LVL_MISS ? SRC_MISS : 0;
	is |= v & DS_REMOTE || (level & (LVL_REM_RAM1 * 3 | LVL_REM_CCE1 | LVL_REM_CCE2))
		      ? SRC_REMOTE
		      : 0;
	is |= v & DS_SNOOP(SNOOP_HITM) ? SRC_HITM : 0;
	is |= v & DS_TLB(TLB_MISS) ? SRC_TLB_MISS : 0;
	return is & p->sources;
}

static bool fits_comm(const struct probe *p, struct da_tasks *tasks, const struct da_report *r)
{
	if (!p->comms.nr)
		return true;
	if (!tasks || !(r->has & DA_HAS_TASK))
		return false;
	return any_name(&p->comms,
			da_tasks_comm_of(tasks, r->pid, r->tid,
					 r->has & DA_HAS_TIME ? r->time_ns : UINT64_MAX));
}

static bool passes(const struct probe *p, struct da_tasks *tasks, const struct da_report *r)
{
	bool task = r->has & DA_HAS_TASK;

	return (!p->op || ((r->has & DA_HAS_OP) && (r->op & p->op))) &&
	       fits(&p->cpus, r->has & DA_HAS_CPU, r->cpu) && fits(&p->pids, task, r->pid) &&
	       fits(&p->tids, task, r->tid) && fits(&p->addrs, r->has & DA_HAS_VADDR, r->vaddr) &&
	       fits(&p->paddrs, r->has & DA_HAS_PADDR, r->paddr) &&
	       fits(&p->latencies, r->has & DA_HAS_LATENCY, r->latency) && fits_source(p, r) &&
	       fits_comm(p, tasks, r);
}

uint32_t da_probes_pass(const struct da_probes *p, struct da_tasks *tasks,
			const struct da_report *r)
{
	uint32_t left = r->event < p->nr_events ? p->of_event[r->event] : 0, mask = 0;

	for (; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		if (passes(&p->all[i], tasks, r))
			mask |= 1u << i;
	}
	return mask;
}
