/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report as JSON, in the fixed shape of doc/damon-attrs-report.1: streamed, so that a million regions
 * cost no memory. Addresses are hex strings, times nanoseconds, null is "not measured".
 */
#include <stdlib.h>

#include "da_facts_json.h"
#include "da_json.h"
#include "da_render.h"
#include "render_ages.h"
#include "render_damon.h"
#include "render_format.h"
#include "render_plan.h"
#include "render_probe.h"

#ifndef DA_VERSION
#define DA_VERSION "0"
#endif

#define HEAT_COLUMNS 64
#define HEAT_ROWS    64

struct json {
	struct da_json_out w;
	const struct da_offline_result *r;
	struct totals *total; /* of the space under way, by event */
	struct ages *ages;    /* the same */
};

static void put_input(struct json *j)
{
	static const char *const mode[] = {
		[DA_FILE_NORMAL] = "file",
		[DA_FILE_PIPE] = "pipe",
		[DA_FILE_DIRECTORY] = "directory",
		[DA_FILE_RAW] = "raw",
	};
	const struct da_file_info *i = j->r->file;
	size_t k;

	da_json_object(&j->w, "input");
	da_json_string(&j->w, "path", i->path);
	da_json_u64(&j->w, "bytes", i->bytes);
	da_json_string(&j->w, "mode", mode[i->mode]);
	da_json_bool(&j->w, "damaged", j->r->damaged);
	da_json_array(&j->w, "messages");
	for (k = 0; k < j->r->nr_messages; k++)
		da_json_string(&j->w, NULL, j->r->messages[k]);
	da_json_close(&j->w);
	da_json_bool(&j->w, "own_recording", j->r->own_file);
	da_json_string(&j->w, "hostname", i->hostname);
	da_json_string(&j->w, "kernel", i->osrelease);
	da_json_string(&j->w, "arch", i->arch);
	da_json_flat_array(&j->w, "command_line");
	for (k = 0; k < i->nr_cmdline; k++)
		da_json_string(&j->w, NULL, i->cmdline[k]);
	da_json_close(&j->w);
	da_json_u64(&j->w, "sample_records", j->r->samples);
	da_json_u64(&j->w, "filtered_records", j->r->filtered);
	da_json_u64(&j->w, "aux_bytes_not_decoded", j->r->aux_bytes);
	if (j->r->first_ns <= j->r->last_ns) {
		da_json_u64(&j->w, "first_ns", j->r->first_ns);
		da_json_u64(&j->w, "last_ns", j->r->last_ns);
	} else {
		da_json_null(&j->w, "first_ns");
		da_json_null(&j->w, "last_ns");
	}
	da_json_close(&j->w);
}

/* Of an adaptive period. */
static void put_steps(struct json *j, uint32_t event)
{
	size_t i;

	da_json_array(&j->w, "steps");
	for (i = 0; i < j->r->nr_steps; i++) {
		const struct da_own_step *s = &j->r->steps[i];

		if (s->event != event)
			continue;
		da_json_object(&j->w, NULL);
		da_json_u64(&j->w, "time_ns", s->time_ns);
		da_json_u64(&j->w, "from", s->from);
		da_json_u64(&j->w, "to", s->to);
		da_json_string(&j->w, "why", s->why);
		da_json_close(&j->w);
	}
	da_json_close(&j->w);
}

static void put_events(struct json *j)
{
	size_t i;

	da_json_array(&j->w, "events");
	for (i = 0; i < j->r->nr_events; i++) {
		if (j->r->events[i].sideband)
			continue;
		const struct da_offline_event *e = &j->r->events[i];

		da_json_flat_object(&j->w, NULL);
		da_json_u64(&j->w, "id", i);
		da_json_string(&j->w, "name", e->name);
		da_json_string(&j->w, "producer", da_producer_name(e->producer));
		da_json_string(&j->w, "unit", e->unit);
		if (e->period)
			da_json_u64(&j->w, "period", e->period);
		else
			da_json_null(&j->w, "period");
		da_json_u64(&j->w, "samples", e->samples);
		if (j->r->nr_steps)
			put_steps(j, (uint32_t)i);
		da_json_close(&j->w);
	}
	da_json_close(&j->w);
}

/* Of a foreign file nobody knows the buffers that its reports went through. */
static void put_counters(struct json *j)
{
	struct da_counters c = da_ledger_counters(&j->r->ledger);
	bool own = j->r->own_file;

	da_json_flat_object(&j->w, "counters");
	da_json_u64(&j->w, "callback", c.callback);
	da_json_u64(&j->w, "valid", c.valid);
	da_json_u64(&j->w, "reports", c.reports);
	da_json_measured(&j->w, "enqueue", own ? (int64_t)c.enqueue : -1);
	da_json_measured(&j->w, "dequeue", own ? (int64_t)c.dequeue : -1);
	da_json_measured(&j->w, "overflow", own ? (int64_t)c.overflow : -1);
	da_json_null(&j->w,
		     "peak"); /* this decode has no buffer; the run's is in recorded_ledger */
	da_json_u64(&j->w, "match", c.match);
	da_json_u64(&j->w, "miss", c.miss);
	da_json_u64(&j->w, "update", c.update);
	da_json_close(&j->w);
}

static void put_ledgers(struct json *j)
{
	bool own = j->r->own_file;
	const bool measured[DA_STAGE_NR] = {
		[DA_STAGE_CREATE] = own && j->r->has_recorded,
		[DA_STAGE_BIND] = own && j->r->has_recorded,
		[DA_STAGE_ENABLE] = own && j->r->has_recorded,
		[DA_STAGE_SAMPLE] = true,
		[DA_STAGE_RING] = own,
		[DA_STAGE_MATCH] = true,
		[DA_STAGE_UPDATE] = true,
	};
	const bool all[DA_STAGE_NR] = {true, true, true, true, true, true, true};
	size_t i;

	da_ledger_to_json(&j->w, "ledger", &j->r->ledger, measured, false);
	da_json_array(&j->w, "ledger_by");
	for (i = 0; i < j->r->nr_cells; i++) {
		const struct da_offline_cell *c = &j->r->cells[i];

		da_json_flat_object(&j->w, NULL);
		da_json_u64(&j->w, "event", c->event);
		da_json_measured(&j->w, "cpu",
				 knows_cpu(&j->r->events[c->event]) ? (int64_t)c->cpu : -1);
		da_json_string(&j->w, "state", c->recorded ? da_state_name(c->state) : NULL);
		da_ledger_to_json(&j->w, "ledger", &c->ledger, measured, true);
		da_json_close(&j->w);
	}
	da_json_close(&j->w);
	if (j->r->has_recorded)
		da_ledger_to_json(&j->w, "recorded_ledger", &j->r->recorded_ledger, all, false);
	else
		da_json_null(&j->w, "recorded_ledger");
}

static void put_lost(struct json *j)
{
	const struct da_offline_lost *l = &j->r->lost;

	da_json_flat_object(&j->w, "lost");
	da_json_measured(&j->w, "counter", l->counter);
	da_json_measured(&j->w, "records", l->records);
	da_json_measured(&j->w, "samples", l->samples);
	da_json_measured(&j->w, "pending", l->pending);
	da_json_measured(&j->w, "aux_truncated", l->aux_truncated);
	da_json_measured(&j->w, "aux_collisions", l->aux_collisions);
	da_json_measured(&j->w, "aux_off_ns", l->aux_off_ns);
	da_json_measured(&j->w, "throttled", l->throttled);
	da_json_measured(&j->w, "resync_bytes", l->resync_bytes);
	da_json_close(&j->w);
}

/* ---- spaces ---- */

static void put_age(struct json *j, struct age a)
{
	if (a.known) {
		da_json_u64(&j->w, "age_ns", a.age_ns);
		da_json_u64(&j->w, "idle_ns", a.idle_ns);
	} else {
		da_json_null(&j->w, "age_ns");
		da_json_null(&j->w, "idle_ns");
	}
}

static void put_region(struct json *j, const struct da_region *g)
{
	uint32_t i;

	da_json_flat_object(&j->w, NULL);
	da_json_hex(&j->w, "start", g->start);
	da_json_hex(&j->w, "end", g->end);
	da_json_string(&j->w, "label", g->label);
	if (g->watched) {
		da_json_u64(&j->w, "nr_accesses", g->nr_accesses);
		da_json_u64(&j->w, "age", g->age);
	}
	da_json_array(&j->w, "by_event");
	for (i = 0; i < g->nr_by_event; i++) {
		const struct da_region_stat *st = &g->by_event[i];
		const struct totals *all = &j->total[st->event];
		double share = all->accesses ? (double)st->accesses / (double)all->accesses : 0;

		da_json_object(&j->w, NULL);
		da_json_u64(&j->w, "event", st->event);
		da_json_u64(&j->w, "samples", st->samples);
		da_json_u64(&j->w, "accesses", st->accesses);
		da_json_u64(&j->w, "reads", st->reads);
		da_json_u64(&j->w, "writes", st->writes);
		da_json_double(&j->w, "share", share);
		da_json_double(&j->w, "error", share_error(share, all->effective));
		put_age(j, ages_get(&j->ages[st->event], g));
		da_json_close(&j->w);
	}
	da_json_close(&j->w);
	probe_region_json(&j->w, j->r, g);
	da_json_close(&j->w);
}

static void put_gaps(struct json *j, const struct plan *p)
{
	size_t i;

	da_json_flat_array(&j->w, "lost");
	for (i = 0; i < j->r->nr_gaps; i++) {
		const struct da_offline_gap *g = &j->r->gaps[i];

		if (g->t1_ns < p->t0_ns || g->t0_ns >= p->t1_ns)
			continue;
		da_json_array(&j->w, NULL);
		da_json_u64(&j->w, NULL, g->t0_ns);
		da_json_u64(&j->w, NULL, g->t1_ns);
		da_json_measured(&j->w, NULL, g->lost);
		da_json_close(&j->w);
	}
	da_json_close(&j->w);
}

static int put_heat(struct json *j, const struct da_space *s, uint32_t event, const char *key)
{
	uint64_t bytes, ns;
	struct plan p;
	size_t row, col;
	int err = plan_make(&p, j->r, s, event, HEAT_COLUMNS, HEAT_ROWS);

	if (err) {
		plan_release(&p);
		return err;
	}
	da_heat_resolution(s->heat, &bytes, &ns);
	da_json_object(&j->w, key);
	da_json_u64(&j->w, "event", event);
	da_json_string(&j->w, "unit", "samples");
	da_json_flat_array(&j->w, "time");
	da_json_u64(&j->w, NULL, p.t0_ns);
	da_json_u64(&j->w, NULL, p.t1_ns);
	da_json_close(&j->w);
	da_json_u64(&j->w, "columns", p.columns);
	da_json_u64(&j->w, "time_bin_ns", ns);
	da_json_u64(&j->w, "address_bin_bytes", bytes);
	da_json_u64(&j->w, "regions_not_drawn", p.left_regions);
	da_json_u64(&j->w, "samples_not_drawn", p.left_samples);
	da_json_array(&j->w, "rows");
	for (row = 0; row < p.nr_rows; row++) {
		da_json_flat_array(&j->w, NULL);
		da_json_hex(&j->w, NULL, p.rows[row].start);
		da_json_hex(&j->w, NULL, p.rows[row].end);
		da_json_close(&j->w);
	}
	da_json_close(&j->w);
	da_json_array(&j->w, "cells");
	for (row = 0; row < p.nr_rows; row++) {
		da_json_flat_array(&j->w, NULL);
		for (col = 0; col < p.columns; col++) {
			if (p.unseen[row * p.columns + col])
				da_json_null(&j->w, NULL);
			else
				da_json_u64(&j->w, NULL, p.cells[row * p.columns + col]);
		}
		da_json_close(&j->w);
	}
	da_json_close(&j->w);
	put_gaps(j, &p);
	da_json_close(&j->w);
	plan_release(&p);
	return 0;
}

/* The event with the most samples has the heat map; the others follow in "heatmaps". */
static int put_heats(struct json *j, const struct da_space *s)
{
	size_t nr = j->r->nr_events, best = nr, i;
	int err = 0;

	for (i = 0; i < nr; i++)
		if (plan_possible(s, (uint32_t)i) &&
		    (best == nr || j->total[i].samples > j->total[best].samples))
			best = i;
	if (best == nr) {
		da_json_null(&j->w, "heatmap");
		return 0;
	}
	err = put_heat(j, s, (uint32_t)best, "heatmap");
	if (err)
		return err;
	da_json_array(&j->w, "heatmaps");
	for (i = 0; i < nr && !err; i++)
		if (i != best && j->total[i].samples && plan_possible(s, (uint32_t)i))
			err = put_heat(j, s, (uint32_t)i, NULL);
	da_json_close(&j->w);
	return err;
}

static int put_space(struct json *j, const struct da_space *s)
{
	size_t i, made;
	int err = 0;

	totals_of(s, j->total, j->r);
	for (made = 0; made < j->r->nr_events && !err; made++)
		err = ages_make(&j->ages[made], j->r, s, (uint32_t)made);
	da_json_object(&j->w, NULL);
	da_json_string(&j->w, "kind", s->kind == DA_SPACE_PHYSICAL ? "physical" : "virtual");
	if (s->kind == DA_SPACE_PHYSICAL) {
		da_json_null(&j->w, "pid");
		da_json_null(&j->w, "comm");
	} else {
		da_json_u64(&j->w, "pid", s->pid);
		if (da_offline_ns_pid(j->r, s))
			da_json_u64(&j->w, "ns_pid", da_offline_ns_pid(j->r, s));
		da_json_string(&j->w, "comm", s->comm);
	}
	da_json_array(&j->w, "regions");
	for (i = 0; i < s->nr_regions && !err; i++)
		put_region(j, &s->regions[i]);
	da_json_close(&j->w);
	while (made)
		ages_release(&j->ages[--made]);
	err = err ? err : put_heats(j, s);
	da_json_close(&j->w);
	return err;
}

int da_render_report_json(FILE *f, const struct da_offline_result *r)
{
	struct json j = {.r = r};
	size_t i;
	int err = 0;

	j.total = calloc(r->nr_events + 1, sizeof(*j.total));
	j.ages = calloc(r->nr_events + 1, sizeof(*j.ages));
	if (!j.total || !j.ages) {
		free(j.total);
		free(j.ages);
		return -DA_ENOMEM;
	}
	da_json_begin(&j.w, f, false);
	da_json_object(&j.w, NULL);
	da_json_u64(&j.w, "schema_version", 1);
	da_json_string(&j.w, "tool", "damon-attrs");
	da_json_string(&j.w, "version", DA_VERSION);
	put_input(&j);
	put_events(&j);
	put_counters(&j);
	put_ledgers(&j);
	put_lost(&j);
	da_json_string(&j.w, "regions", da_regions_name(r->regions));
	probe_list_json(&j.w, r);
	da_json_array(&j.w, "spaces");
	for (i = 0; i < da_match_nr_spaces(r->match) && !err; i++)
		if (da_match_space(r->match, i)->ledger.out[DA_STAGE_MATCH])
			err = put_space(&j, da_match_space(r->match, i));
	if (!err) {
		da_json_close(&j.w);
		render_traces_json(&j.w, r);
		render_damon_json(&j.w, r->damon);
		da_json_close(&j.w);
		da_json_finish(&j.w);
	}
	free(j.total);
	free(j.ages);
	return err;
}
