/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ledgers of an offline decode: sample and ring layers from the lane, match and update from the match
 * layer, create to enable from the recording where it has them; by event and CPU, and summed.
 */
#include <stdlib.h>

#include "offline_priv.h"

static struct da_offline_cell *cell_of(struct da_offline *o, uint32_t event, uint32_t cpu)
{
	struct da_offline_result *r = &o->res;
	uint64_t key = (uint64_t)event << 32 | cpu;
	uint32_t at = idmap_get(&o->cell_at, key, UINT32_MAX);

	if (at != UINT32_MAX)
		return &r->cells[at];
	if (r->nr_cells == o->room_cells) {
		size_t room = o->room_cells ? o->room_cells * 2 : 16;
		struct da_offline_cell *c = reallocarray(r->cells, room, sizeof(*c));

		if (!c) {
			o->no_memory = true;
			return NULL;
		}
		r->cells = c;
		o->room_cells = room;
	}
	if (idmap_put(&o->cell_at, key, (uint32_t)r->nr_cells)) {
		o->no_memory = true;
		return NULL;
	}
	r->cells[r->nr_cells] = (struct da_offline_cell){.event = event, .cpu = cpu};
	return &r->cells[r->nr_cells++];
}

static void add_lane(void *ctx, uint32_t event, uint32_t cpu, const struct da_ledger *led)
{
	struct da_offline *o = ctx;
	struct da_offline_cell *c = cell_of(o, event, cpu);
	const struct da_ledger *m = da_match_ledger(o->match, event, cpu);

	if (!c)
		return;
	da_ledger_add(&c->ledger, led);
	if (m)
		da_ledger_add(&c->ledger, m);
	o->res.events[event].samples += led->in[DA_STAGE_SAMPLE];
	if (led->in[DA_STAGE_SAMPLE])
		c->state = DA_STATE_RUNNING;
}

/* The run's own layers cannot be decoded again: they stay as they were recorded. */
static void add_recorded(struct da_offline *o, const struct da_own_ledger *l)
{
	struct da_offline_cell *c = cell_of(o, hybrid_event(o, l->event), l->cpu.cpu);
	int s, d;

	da_ledger_add(&o->res.recorded_ledger, &l->cpu.ledger);
	if (!c)
		return;
	c->recorded = true;
	if (l->cpu.state > c->state)
		c->state = l->cpu.state;
	for (s = DA_STAGE_CREATE; s <= DA_STAGE_ENABLE; s++) {
		c->ledger.in[s] = l->cpu.ledger.in[s];
		c->ledger.out[s] = l->cpu.ledger.out[s];
	}
	for (d = 0; d < DA_DROP_NR; d++)
		if (da_drop_stage((enum da_drop)d) <= DA_STAGE_ENABLE)
			c->ledger.drop[d] = l->cpu.ledger.drop[d];
}

static int by_event_and_cpu(const void *a, const void *b)
{
	const struct da_offline_cell *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

int sum_up(struct da_offline *o)
{
	struct da_offline_result *r = &o->res;
	size_t i;

	da_lane_each(o->lane, add_lane, o);
	for (i = 0; i < r->nr_recorded; i++)
		add_recorded(o, &r->recorded[i]);
	if (r->nr_cells)
		qsort(r->cells, r->nr_cells, sizeof(*r->cells), by_event_and_cpu);
	for (i = 0; i < r->nr_cells; i++)
		da_ledger_add(&r->ledger, &r->cells[i].ledger);
	return o->no_memory ? -DA_ENOMEM : 0;
}
