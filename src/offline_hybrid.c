/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The same event of the PMUs of a hybrid CPU: cpu_core/mem-loads/ and cpu_atom/mem-loads/ count the same thing on
 * different cores, so they are shown as one. Samples go to the first of them; no other events are ever added.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "offline_priv.h"

/* What follows the PMU in "cpu_core/mem-loads/P"; NULL: no event of a hybrid CPU's cores. */
static const char *behind_pmu(const char *name)
{
	return !strncmp(name, "cpu_core/", 9) || !strncmp(name, "cpu_atom/", 9) ? name + 8 : NULL;
}

/* Records of one can be read as the other's, and stand for as many events. */
static bool alike(const struct da_offline_event *a, const struct da_offline_event *b)
{
	const struct da_attr *x = a->attr, *y = b->attr;
	const char *p = behind_pmu(a->name), *q = behind_pmu(b->name);

	return p && q && !strcmp(p, q) && strncmp(a->name, b->name, 8) != 0 &&
	       a->producer == b->producer && a->wanted == b->wanted && a->period == b->period &&
	       x->sample_type == y->sample_type && x->read_format == y->read_format &&
	       x->sample_period == y->sample_period && x->flags == y->flags &&
	       x->branch_sample_type == y->branch_sample_type &&
	       x->sample_regs_user == y->sample_regs_user &&
	       x->sample_regs_intr == y->sample_regs_intr;
}

uint32_t hybrid_event(const struct da_offline *o, uint32_t event)
{
	return o->hybrid && event < o->res.nr_events ? o->hybrid[event] : event;
}

int hybrid_find(struct da_offline *o)
{
	struct da_offline_event *ev = o->res.events;
	size_t i, k;

	if (!o->opts->sum_hybrid)
		return 0;
	o->hybrid = calloc(o->res.nr_events + 1, sizeof(*o->hybrid));
	o->hybrid_name = calloc(o->res.nr_events + 1, sizeof(*o->hybrid_name));
	if (!o->hybrid || !o->hybrid_name)
		return -DA_ENOMEM;
	for (i = 0; i < o->res.nr_events; i++)
		o->hybrid[i] = (uint32_t)i;
	for (i = 1; i < o->res.nr_events; i++) {
		for (k = 0;
		     k < i && !(o->hybrid[k] == k && !o->hybrid_name[k] && alike(&ev[k], &ev[i]));)
			k++;
		if (k == i)
			continue;
		if (asprintf(&o->hybrid_name[k], "%.8s+%s", ev[k].name, ev[i].name) < 0) {
			o->hybrid_name[k] = NULL;
			return -DA_ENOMEM;
		}
		o->hybrid[i] = (uint32_t)k;
		ev[k].name = o->hybrid_name[k];
		ev[i].sideband = true; /* nothing is left of its own */
	}
	return 0;
}

void hybrid_release(struct da_offline *o)
{
	size_t i;

	for (i = 0; o->hybrid_name && i < o->res.nr_events; i++)
		free(o->hybrid_name[i]);
	free(o->hybrid_name);
	free(o->hybrid);
}
