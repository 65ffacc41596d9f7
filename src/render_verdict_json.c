/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A verdict as JSON, in the shape that PRODUCT 6 fixes; keys were added, none changed.
 */
#include <string.h>

#include "da_facts_json.h"
#include "da_json.h"
#include "da_render_lab.h"
#include "da_render_verdict.h"
#include "render_kernel.h"

static void put_causes(struct da_json_out *w, const struct da_check *c)
{
	da_json_array(w, "causes");
	for (size_t i = 0; i < c->nr_causes; i++) {
		da_json_object(w, NULL);
		da_json_string(w, "id", c->causes[i].id);
		da_json_string(w, "evidence", c->causes[i].evidence);
		da_json_string(w, "fix", c->causes[i].fix);
		da_json_close(w);
	}
	da_json_close(w);
}

static void put_check(struct da_json_out *w, const struct da_check *c)
{
	da_json_object(w, NULL);
	da_json_string(w, "id", c->id);
	if (!c->note)
		da_json_string(w, "result", da_result_name(c->result));
	da_json_string(w, "title", c->title);
	da_json_string(w, "evidence", c->evidence);
	put_causes(w, c);
	da_json_close(w);
}

/* Notes apart from the checks, so that counting these gives the tallies. */
static void put_list(struct da_json_out *w, const char *key, const struct da_check *c, size_t nr,
		     bool notes)
{
	da_json_array(w, key);
	for (size_t i = 0; i < nr; i++)
		if (c[i].note == notes)
			put_check(w, &c[i]);
	da_json_close(w);
}

/* Checks stand in the order of their groups. */
static void put_layers(struct da_json_out *w, const struct da_check *c, size_t nr)
{
	size_t i = 0, end;

	da_json_array(w, "layers");
	while (i < nr) {
		const char *group = c[i].group;

		for (end = i; end < nr && !strcmp(c[end].group, group);)
			end++;

		da_json_object(w, NULL);
		da_json_string(w, "name", group);
		da_json_string(w, "result", da_result_name(da_group_result(c, nr, group)));
		put_list(w, "checks", &c[i], end - i, false);
		put_list(w, "notes", &c[i], end - i, true);
		da_json_close(w);
		i = end;
	}
	da_json_close(w);
}

static void put_summary(struct da_json_out *w, unsigned passed, unsigned failed, unsigned skipped,
			unsigned unknown)
{
	da_json_flat_object(w, "summary");
	da_json_u64(w, "passed", passed);
	da_json_u64(w, "failed", failed);
	da_json_u64(w, "skipped", skipped);
	da_json_u64(w, "unknown", unknown);
	da_json_close(w);
}

static void put_events(struct da_json_out *w, const struct da_verdict_view *v)
{
	char level[64];

	da_json_array(w, "events");
	for (size_t i = 0; i < v->verdict->nr_events; i++) {
		const struct da_event_verdict *e = &v->verdict->events[i];

		if (i >= v->facts->nr_events && !e->kernel)
			continue; /* it stands for no event at all */

		da_level_text(e->level, e->broken_at, level, sizeof(level));
		da_json_object(w, NULL);
		da_json_u64(w, "id", e->id);
		da_json_string(w, "name", e->name);
		da_json_string(w, "verdict", level);
		put_summary(w, e->passed, e->failed, e->skipped, e->unknown);
		/* those of the deciding event are the layers of the whole */
		if (i != v->verdict->decider)
			put_layers(w, e->checks, e->nr_checks);
		da_json_close(w);
	}
	da_json_close(w);
}

static void sum_ledger(const struct da_facts *f, struct da_ledger *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (size_t e = 0; e < f->nr_events; e++)
		for (size_t c = 0; c < f->events[e].nr_cpus; c++)
			da_ledger_add(sum, &f->events[e].cpus[c].ledger);
}

/* What a decode of a file cannot know. */
static void measured_layers(bool run, bool measured[DA_STAGE_NR])
{
	for (int s = 0; s < DA_STAGE_NR; s++)
		measured[s] =
			run || s == DA_STAGE_SAMPLE || s == DA_STAGE_MATCH || s == DA_STAGE_UPDATE;
}

static void put_counters(struct da_json_out *w, const struct da_verdict_view *v)
{
	struct da_ledger sum;
	struct da_counters n;
	bool ring = v->verdict->ring_recorded;

	sum_ledger(v->facts, &sum);
	n = da_ledger_counters(&sum);
	da_json_flat_object(w, "counters");
	da_json_u64(w, "callback", n.callback);
	da_json_u64(w, "valid", n.valid);
	da_json_measured(w, "reports", ring ? (int64_t)n.reports : -1);
	da_json_measured(w, "enqueue", ring ? (int64_t)n.enqueue : -1);
	da_json_measured(w, "dequeue", ring ? (int64_t)n.dequeue : -1);
	da_json_measured(w, "overflow", ring ? (int64_t)n.overflow : -1);
	da_json_measured(w, "peak", ring ? (int64_t)n.peak : -1);
	da_json_u64(w, "match", n.match);
	da_json_u64(w, "miss", n.miss);
	da_json_u64(w, "update", n.update);
	da_json_close(w);
}

static void put_ledgers(struct da_json_out *w, const struct da_verdict_view *v)
{
	const struct da_facts *f = v->decode ? v->decode : v->facts;
	bool measured[DA_STAGE_NR];
	struct da_ledger sum;

	measured_layers(v->verdict->ring_recorded, measured);
	sum_ledger(f, &sum);
	da_ledger_to_json(w, "ledger", &sum, measured, false);
	da_json_array(w, "ledger_by");
	for (size_t e = 0; e < f->nr_events; e++) {
		for (size_t i = 0; i < f->events[e].nr_cpus; i++) {
			const struct da_facts_cpu *c = &f->events[e].cpus[i];

			da_json_object(w, NULL);
			da_json_u64(w, "event", e);
			da_json_u64(w, "cpu", c->cpu);
			da_json_string(w, "state", v->decode ? NULL : da_state_name(c->state));
			da_json_measured(w, "count", c->count);
			da_json_measured(w, "lost", c->lost);
			da_json_measured(w, "enabled_ns", c->enabled_ns);
			da_json_measured(w, "running_ns", c->running_ns);
			if (c->went_offline) {
				da_json_u64(w, "went_offline", c->went_offline);
				da_json_u64(w, "came_back", c->came_back);
				da_json_u64(w, "away_ns", c->away_ns);
			}
			da_ledger_to_json(w, "ledger", &c->ledger, measured, true);
			da_json_close(w);
		}
	}
	da_json_close(w);
	if (!v->recorded) {
		da_json_null(w, "recorded_ledger");
		return;
	}
	sum_ledger(v->facts, &sum);
	da_ledger_to_json(w, "recorded_ledger", &sum, NULL, false);
}

static void put_lost(struct da_json_out *w, const struct da_verdict_view *v)
{
	const struct da_facts *f = v->facts;

	da_json_flat_object(w, "lost");
	da_json_measured(w, "counter", f->lost_counter);
	da_json_measured(w, "records", f->lost_records);
	da_json_measured(w, "samples", f->lost_samples);
	da_json_measured(w, "aux_truncated", f->aux_truncated);
	da_json_measured(w, "aux_collisions", f->aux_collisions);
	da_json_measured(w, "aux_off_ns", f->aux_off_ns);
	da_json_measured(w, "throttled", f->throttled);
	da_json_measured(w, "resync_bytes", v->resync_bytes);
	da_json_measured(w, "pending_at_stop", f->pending_at_stop);
	da_json_close(w);
}

static void put_buffers(struct da_json_out *w, const struct da_facts *f)
{
	da_json_array(w, "buffers");
	for (size_t i = 0; i < f->nr_buffers; i++) {
		const struct da_facts_buffer *b = &f->buffers[i];

		da_json_flat_object(w, NULL);
		da_json_string(w, "name", b->name);
		da_json_measured(w, "cpu", b->cpu);
		da_json_u64(w, "slots", b->slots);
		da_json_u64(w, "peak", b->peak);
		da_json_u64(w, "enqueue", b->enqueue);
		da_json_u64(w, "overflow", b->overflow);
		da_json_u64(w, "source_cpus", b->source_cpus);
		da_json_close(w);
	}
	da_json_close(w);
}

void da_render_verdict_json(FILE *f, const struct da_verdict_view *v)
{
	const struct da_verdict *d = v->verdict;
	struct da_json_out w;
	char level[64];

	da_level_text(d->level, d->broken_at, level, sizeof(level));
	da_json_begin(&w, f, false);
	da_json_object(&w, NULL);
	da_json_u64(&w, "schema_version", 1);
	da_json_string(&w, "verdict", level);
	da_json_i64(&w, "exit_status", d->exit_status);
	da_json_array(&w, "notes");
	for (size_t i = 0; i < d->nr_notes; i++)
		da_json_string(&w, NULL, d->notes[i]);
	da_json_close(&w);
	put_summary(&w, d->passed, d->failed, d->skipped, d->unknown);
	put_events(&w, v);
	put_layers(&w, d->checks, d->nr_checks);
	put_counters(&w, v);
	put_ledgers(&w, v);
	put_lost(&w, v);
	put_buffers(&w, v->facts);
	if (v->facts->damon || v->facts->damon_note[0])
		render_kernel_json(&w, v->facts->damon, v->facts->damon_note);
	if (v->compare)
		da_render_compare_json(&w, v->compare);
	if (v->lab)
		da_render_lab_json(&w, v->lab);
	da_json_close(&w);
	da_json_finish(&w);
}
