/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a decoded recording to facts. Our own recordings say how their run went; a file of another program
 * has only samples, which this decode counted. It judges nothing.
 *
 * A recording that was cut short has ledger snapshots and no end: its last snapshot can be a second older
 * than its last sample, so where it has seen no sample yet, the decode takes its place.
 */
#include "da_facts_offline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_facts_json.h"

#define LEFT_OUT UINT32_MAX

/* A dummy event carries sideband records and cannot sample; the fake producer borrows its type. */
static bool is_sideband(const struct da_offline_event *e)
{
	return e->attr->type == DA_TYPE_SOFTWARE && e->attr->config == DA_SW_DUMMY &&
	       e->producer != DA_PROD_FAKE && !e->samples;
}

/* Regions of a DAMON that were recorded beside samples: no sampler, and judged only where there is no other. */
static bool is_regions(const struct da_offline_event *e)
{
	return e->attr->type == DA_TYPE_TRACEPOINT && strstr(e->name, "damon_aggregated");
}

/* A tracepoint of the kernel's own pipeline, which is judged for itself. */
static bool is_kernel(const struct da_offline_result *r, size_t i)
{
	return r->of_kernel && r->of_kernel[i];
}

static bool has_sampler(const struct da_offline_result *r)
{
	for (size_t i = 0; i < r->nr_events; i++)
		if (r->events[i].wanted && !is_sideband(&r->events[i]) &&
		    !is_regions(&r->events[i]) && !is_kernel(r, i))
			return true;
	return false;
}

/* new_index[i]: where event i of the recording stands in the facts, or LEFT_OUT. */
static uint32_t *map_events(const struct da_offline_result *r, size_t *nr)
{
	uint32_t *map = calloc(r->nr_events + 1, sizeof(*map));
	bool sampler = has_sampler(r);

	*nr = 0;
	for (size_t i = 0; map && i < r->nr_events; i++)
		map[i] = is_sideband(&r->events[i]) || !r->events[i].wanted || is_kernel(r, i) ||
					 ((sampler || r->kernel) && is_regions(&r->events[i]))
				 ? LEFT_OUT
				 : (uint32_t)(*nr)++;
	return map;
}

static void describe(const struct da_offline_result *r, size_t i, struct da_facts_event *e)
{
	const struct da_offline_event *from = &r->events[i];

	snprintf(e->name, sizeof(e->name), "%s", from->name);
	e->producer = from->producer;
	e->attr = *from->attr;
	e->effective_period = from->period;
	e->needs_aux = from->producer == DA_PROD_SPE;
	e->aux = e->needs_aux && r->aux_bytes;
	for (size_t k = 0; k < r->nr_steps; k++) {
		const struct da_own_step *step = &r->steps[k];

		if (step->event != i || step->from == step->to)
			continue;
		e->period_steps++;
		e->effective_period = step->to;
		snprintf(e->last_step, sizeof(e->last_step), "%s", step->why);
	}
	if (r->own_file && i < r->info.nr_events)
		snprintf(e->dropped_bits, sizeof(e->dropped_bits), "%s",
			 r->info.events[i].dropped_bits);
}

static int new_events(const struct da_offline_result *r, const uint32_t *map, size_t nr,
		      struct da_facts *f)
{
	f->events = calloc(nr ? nr : 1, sizeof(*f->events));
	if (!f->events)
		return -DA_ENOMEM;
	f->nr_events = nr;
	for (size_t i = 0; i < r->nr_events; i++)
		if (map[i] != LEFT_OUT)
			describe(r, i, &f->events[map[i]]);
	return 0;
}

/* Makes room for exactly these rows; then add_row() cannot fail. */
static int new_rows(struct da_facts *f, const size_t *nr)
{
	for (size_t i = 0; i < f->nr_events; i++) {
		struct da_facts_event *e = &f->events[i];

		free(e->cpus);
		e->nr_cpus = 0;
		e->cpus = calloc(nr[i] ? nr[i] : 1, sizeof(*e->cpus));
		if (!e->cpus)
			return -DA_ENOMEM;
	}
	return 0;
}

static int decoded_rows(const struct da_offline_result *r, const uint32_t *map, struct da_facts *f)
{
	size_t *nr = calloc(f->nr_events + 1, sizeof(*nr));
	int ret = nr ? 0 : -DA_ENOMEM;

	for (size_t i = 0; !ret && i < r->nr_cells; i++)
		if (map[r->cells[i].event] != LEFT_OUT)
			nr[map[r->cells[i].event]]++;
	if (!ret)
		ret = new_rows(f, nr);
	for (size_t i = 0; !ret && i < r->nr_cells; i++) {
		const struct da_offline_cell *c = &r->cells[i];
		struct da_facts_event *e;

		if (map[c->event] == LEFT_OUT)
			continue;
		e = &f->events[map[c->event]];
		e->cpus[e->nr_cpus++] = (struct da_facts_cpu){.cpu = c->cpu,
							      .state = c->state,
							      .ledger = c->ledger,
							      .count = -1,
							      .lost = -1,
							      .enabled_ns = -1,
							      .running_ns = -1};
	}
	free(nr);
	return ret;
}

static int recorded_rows(const struct da_offline_result *r, const uint32_t *map, struct da_facts *f)
{
	size_t *nr = calloc(f->nr_events + 1, sizeof(*nr));
	int ret = nr ? 0 : -DA_ENOMEM;

	for (size_t i = 0; !ret && i < r->nr_recorded; i++)
		if (map[r->recorded[i].event] < f->nr_events)
			nr[map[r->recorded[i].event]]++;
	if (!ret)
		ret = new_rows(f, nr);
	for (size_t i = 0; !ret && i < r->nr_recorded; i++) {
		const struct da_own_ledger *l = &r->recorded[i];
		struct da_facts_event *e;

		if (map[l->event] >= f->nr_events)
			continue;
		e = &f->events[map[l->event]];
		e->cpus[e->nr_cpus++] = l->cpu;
	}
	free(nr);
	return ret;
}

static void take_loss(const struct da_offline_result *r, struct da_facts *f)
{
	f->lost_counter = r->lost.counter;
	f->lost_records = r->lost.records;
	f->lost_samples = r->lost.samples;
	f->pending_at_stop = r->lost.pending;
	f->throttled = r->lost.throttled;
	f->aux_truncated = r->lost.aux_truncated;
	f->aux_collisions = r->lost.aux_collisions;
	f->aux_off_ns = r->lost.aux_off_ns;
}

static void take_file(const struct da_offline_result *r, struct da_facts *f)
{
	if (r->file->osrelease)
		snprintf(f->kernel, sizeof(f->kernel), "%.60s %.60s", r->file->osrelease,
			 r->file->arch ? r->file->arch : "");
	if (r->file->cpudesc)
		snprintf(f->cpu, sizeof(f->cpu), "%s", r->file->cpudesc);
	f->online_cpus = r->file->nr_cpus_online;
	if (r->last_ns > r->first_ns)
		f->duration_ns = r->last_ns - r->first_ns;
	if (r->aux_bytes && !r->samples)
		snprintf(f->error, sizeof(f->error),
			 "%" PRIu64 " bytes of AUX trace are of a kind that is not decoded",
			 r->aux_bytes);
}

static int fill_decode(const struct da_offline_result *r, const uint32_t *map, size_t nr,
		       struct da_facts *f)
{
	int ret;

	da_facts_init(f);
	take_file(r, f);
	take_loss(r, f);
	ret = new_events(r, map, nr, f);
	return ret ? ret : decoded_rows(r, map, f);
}

/* Are these the recording's events, all that sampled, in its order? */
static bool same_events(const struct da_offline_result *r, const struct da_facts *f)
{
	size_t at = 0;

	for (size_t i = 0; i < r->nr_events; i++) {
		if (is_sideband(&r->events[i]))
			continue;
		if (at == f->nr_events || strncmp(f->events[at].name, r->events[i].name,
						  sizeof(f->events[at].name) - 1) != 0)
			return false;
		at++;
	}
	return at == f->nr_events;
}

/* Only those events stay that are asked for. */
static void keep_wanted(const struct da_offline_result *r, const uint32_t *map, struct da_facts *f)
{
	size_t at = 0, kept = 0;

	for (size_t i = 0; i < r->nr_events; i++) {
		if (is_sideband(&r->events[i]))
			continue;
		if (map[i] == LEFT_OUT)
			free(f->events[at].cpus);
		else
			f->events[kept++] = f->events[at];
		at++;
	}
	f->nr_events = kept;
}

/* The run as its recording tells it: facts where it ended regularly, and the last ledger snapshots. */
static int fill_recorded(const struct da_offline_result *r, const uint32_t *map, size_t nr,
			 struct da_facts *f)
{
	int ret = -DA_EDAMAGED;

	da_facts_init(f);
	if (r->facts)
		ret = da_facts_from_json(r->facts, r->facts_len, f);
	if (ret == -DA_ENOMEM)
		return ret;
	/* Facts that do not parse, or are of other events than the file's, tell nothing. */
	if (!ret && same_events(r, f)) {
		keep_wanted(r, map, f);
	} else {
		da_facts_release(f);
		da_facts_init(f);
		take_file(r, f);
		ret = new_events(r, map, nr, f);
		if (ret)
			return ret;
	}
	take_loss(r, f);
	f->own_file = true;
	f->end_reason[0] = '\0';
	if (r->has_end) {
		/* a killed run has no end: what it stored of one is not to be believed */
		f->piece = r->end.piece;
		f->goes_on = !strcmp(r->end.reason, "switch");
		f->command_status = r->end.command_status;
		if (!f->goes_on)
			snprintf(f->end_reason, sizeof(f->end_reason), "%s",
				 r->end.reason[0] ? r->end.reason : "exit");
	}
	return recorded_rows(r, map, f);
}

int da_facts_from_offline(const struct da_offline_result *r, struct da_facts *judged,
			  struct da_facts *decode, bool *recorded)
{
	bool has_run = r->own_file && r->has_recorded;
	bool stale = has_run && !r->has_end && !r->recorded_ledger.in[DA_STAGE_SAMPLE] &&
		     r->ledger.in[DA_STAGE_SAMPLE];
	uint32_t *map;
	size_t nr;
	int ret;

	da_facts_init(judged);
	da_facts_init(decode);
	*recorded = has_run;
	map = map_events(r, &nr);
	ret = map ? fill_decode(r, map, nr, decode) : -DA_ENOMEM;
	if (!ret && has_run)
		ret = fill_recorded(r, map, nr, judged);
	else if (!ret)
		ret = fill_decode(r, map, nr, judged);
	if (!ret && stale)
		ret = decoded_rows(r, map, judged);
	if (!ret && r->kernel) {
		judged->damon = da_kernel_copy(r->kernel);
		ret = judged->damon ? 0 : -DA_ENOMEM;
	}
	free(map);
	if (ret) {
		da_facts_release(judged);
		da_facts_release(decode);
	}
	return ret;
}
