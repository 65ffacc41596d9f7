/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DAMON's own regions, as its tracepoint told them: the last complete snapshot of each target; and of its other
 * tracepoints the values of each field. They are what the kernel measured, and stand beside our regions, never
 * in a sum with them.
 */
#include "render_damon.h"

#include <inttypes.h>

#include "da_damon.h"
#include "render_format.h"
#include "render_ink.h"
#include "render_wss.h"

static void put_number(struct da_json_out *w, const char *key, const struct da_trace_field *f,
		       uint64_t v)
{
	if (!f->values || f->field->kind > DA_TP_INT)
		da_json_null(w, key);
	else if (f->field->kind == DA_TP_INT)
		da_json_i64(w, key, (int64_t)v);
	else if (f->address)
		da_json_hex(w, key, v);
	else
		da_json_u64(w, key, v);
}

static void put_traces(struct da_json_out *w, const struct da_offline_result *r)
{
	da_json_array(w, "tracepoints");
	for (size_t i = 0; i < r->nr_traces; i++) {
		const struct da_trace *t = r->traces[i].trace;

		da_json_object(w, NULL);
		da_json_u64(w, "event", r->traces[i].event);
		da_json_string(w, "name", da_tracepoint_name(t->tp));
		da_json_u64(w, "records", t->records);
		da_json_u64(w, "incomplete", t->bad);
		da_json_array(w, "fields");
		for (size_t k = 0; k < t->nr_fields; k++) {
			const struct da_trace_field *f = &t->fields[k];

			da_json_flat_object(w, NULL);
			da_json_string(w, "name", f->field->name);
			da_json_string(w, "type", f->field->type);
			put_number(w, "min", f, f->min);
			put_number(w, "max", f, f->max);
			if (f->address || f->overflow)
				da_json_null(w, "sum");
			else
				put_number(w, "sum", f, f->sum);
			da_json_string(w, "last", f->values ? f->last : NULL);
			da_json_close(w);
		}
		da_json_close(w);
		da_json_close(w);
	}
	da_json_close(w);
}

void render_traces_json(struct da_json_out *w, const struct da_offline_result *r)
{
	if (r->nr_traces)
		put_traces(w, r);
}

void render_damon_json(struct da_json_out *w, const struct da_damon *d)
{
	const struct da_damon_target *t;

	if (!d)
		return;
	da_json_array(w, "damon");
	for (size_t i = 0; (t = da_damon_target(d, i)); i++) {
		da_json_object(w, NULL);
		da_json_u64(w, "kdamond", t->kdamond);
		da_json_u64(w, "target_id", t->target_id);
		da_json_u64(w, "records", t->records);
		da_json_u64(w, "snapshots", t->snapshots);
		da_json_u64(w, "incomplete", t->incomplete);
		da_json_flat_array(w, "time");
		if (t->last_ns) {
			da_json_u64(w, NULL, t->first_ns);
			da_json_u64(w, NULL, t->last_ns);
		}
		da_json_close(w);
		render_wss_json(w, t);
		da_json_array(w, "regions");
		for (size_t k = 0; k < t->nr_regions; k++) {
			const struct da_damon_region *g = &t->regions[k];

			da_json_flat_object(w, NULL);
			da_json_hex(w, "start", g->start);
			da_json_hex(w, "end", g->end);
			da_json_u64(w, "nr_accesses", g->nr_accesses);
			if (t->has_age)
				da_json_u64(w, "age", g->age);
			else
				da_json_null(w, "age");
			da_json_close(w);
		}
		da_json_close(w);
		da_json_close(w);
	}
	da_json_close(w);
}

static void put_target(FILE *f, const struct da_damon_target *t, const struct da_render_opts *o)
{
	size_t shown = o->limit && t->nr_regions > o->limit ? o->limit : t->nr_regions;
	int address = t->nr_regions && t->regions[t->nr_regions - 1].end >> 48 ? 16 : 12;
	char a[WORD], b[WORD];
	uint64_t bytes = 0;

	fprintf(f, "Target %" PRIu64 " of kdamond %" PRIu32 ": %s snapshot%s", t->target_id,
		t->kdamond, format_count(a, t->snapshots), plural(t->snapshots));
	if (t->snapshots > 1 && t->last_ns > t->first_ns)
		fprintf(f, ", one in %s",
			format_time(b, (t->last_ns - t->first_ns) / (t->snapshots - 1)));
	if (t->incomplete)
		fprintf(f, ", %s incomplete", format_count(b, t->incomplete));
	if (t->nr_regions)
		fprintf(f, "; the last has %s region%s", format_count(b, t->nr_regions),
			plural(t->nr_regions));
	fputc('\n', f);
	if (!t->nr_regions)
		return;
	render_wss_text(f, t, o);
	ink(f, o, INK_DIM);
	fprintf(f, "%*s %8s %8s %8s", address, "ADDRESS", "SIZE", "ACCESSES", "AGE");
	ink(f, o, INK_NONE);
	fputc('\n', f);
	for (size_t i = 0; i < t->nr_regions; i++) {
		const struct da_damon_region *g = &t->regions[i];

		if (i >= shown) {
			bytes += g->end - g->start;
			continue;
		}
		fprintf(f, "%*" PRIx64 " %8s %8" PRIu32, address, g->start,
			format_bytes(a, g->end - g->start), g->nr_accesses);
		if (t->has_age)
			fprintf(f, " %8" PRIu32 "\n", g->age);
		else
			fprintf(f, " %8s\n", "-");
	}
	if (shown < t->nr_regions)
		fprintf(f, "%zu more region%s (%s)\n", t->nr_regions - shown,
			plural(t->nr_regions - shown), format_bytes(a, bytes));
}

static void put_cell(FILE *f, const struct da_trace_field *x, uint64_t v, int width)
{
	if (!x->values || x->field->kind > DA_TP_INT)
		fprintf(f, " %*s", width, "-");
	else if (x->field->kind == DA_TP_INT)
		fprintf(f, " %*" PRId64, width, (int64_t)v);
	else if (x->address)
		fprintf(f, " %*" PRIx64, width, v);
	else
		fprintf(f, " %*" PRIu64, width, v);
}

static void put_trace(FILE *f, const struct da_offline_result *r, const struct da_offline_trace *x,
		      const struct da_render_opts *o)
{
	const struct da_trace *t = x->trace;
	char a[WORD];

	fputc('\n', f);
	ink(f, o, INK_TITLE);
	fputs("Tracepoint ", f);
	put_text(f, r->events[x->event].name, 40, o->utf8);
	ink(f, o, INK_NONE);
	fprintf(f, ": %s record%s\n", format_count(a, t->records), plural(t->records));
	if (!t->nr_fields)
		return;
	ink(f, o, INK_DIM);
	fprintf(f, "%-16s %16s %16s %12s  %s", "FIELD", "LEAST", "GREATEST", "SUM", "LAST");
	ink(f, o, INK_NONE);
	fputc('\n', f);
	for (size_t i = 0; i < t->nr_fields; i++) {
		const struct da_trace_field *d = &t->fields[i];
		size_t used = put_text(f, d->field->name, 16, o->utf8);

		fprintf(f, "%*s", used < 16 ? (int)(16 - used) : 0, "");
		put_cell(f, d, d->min, 16);
		put_cell(f, d, d->max, 16);
		if (d->address || d->overflow)
			fprintf(f, " %12s", "-");
		else
			put_cell(f, d, d->sum, 12);
		fputs("  ", f);
		put_text(f, d->values && *d->last ? d->last : "-", o->width - 65, o->utf8);
		fputc('\n', f);
	}
}

void render_traces_text(FILE *f, const struct da_offline_result *r, const struct da_render_opts *o)
{
	for (size_t i = 0; i < r->nr_traces; i++)
		put_trace(f, r, &r->traces[i], o);
}

void render_damon_text(FILE *f, const struct da_damon *d, const struct da_render_opts *o)
{
	size_t nr = d ? da_damon_nr_targets(d) : 0, shown = nr;
	uint64_t left = d ? da_damon_left_out(d) : 0;

	if (!d)
		return;
	if (o->max_spaces && nr > o->max_spaces)
		shown = o->max_spaces;
	fputc('\n', f);
	ink(f, o, INK_TITLE);
	fputs("DAMON regions (damon:damon_aggregated)", f);
	ink(f, o, INK_NONE);
	fputc('\n', f);
	for (size_t i = 0; i < shown; i++)
		put_target(f, da_damon_target(d, i), o);
	if (shown < nr)
		fprintf(f, "%zu more target%s\n", nr - shown, plural(nr - shown));
	if (left)
		fprintf(f, "%" PRIu64 " target or snapshot%s too large to be kept\n", left,
			plural(left));
}
