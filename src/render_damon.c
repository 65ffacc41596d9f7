/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DAMON's own regions, as its tracepoint told them: the last complete snapshot of each target. They are what
 * the kernel measured, and stand beside our regions, never in a sum with them.
 */
#include "render_damon.h"

#include <inttypes.h>

#include "da_damon.h"
#include "render_format.h"
#include "render_ink.h"

void render_damon_json(struct da_json_out *w, const struct da_offline_result *r)
{
	const struct da_damon_target *t;

	if (!r->damon)
		return;
	da_json_array(w, "damon");
	for (size_t i = 0; (t = da_damon_target(r->damon, i)); i++) {
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

void render_damon_text(FILE *f, const struct da_offline_result *r, const struct da_render_opts *o)
{
	size_t nr = r->damon ? da_damon_nr_targets(r->damon) : 0, shown = nr;
	uint64_t left = r->damon ? da_damon_left_out(r->damon) : 0;

	if (!r->damon)
		return;
	if (o->max_spaces && nr > o->max_spaces)
		shown = o->max_spaces;
	fputc('\n', f);
	ink(f, o, INK_TITLE);
	fputs("DAMON regions (damon:damon_aggregated)", f);
	ink(f, o, INK_NONE);
	fputc('\n', f);
	for (size_t i = 0; i < shown; i++)
		put_target(f, da_damon_target(r->damon, i), o);
	if (shown < nr)
		fprintf(f, "%zu more target%s\n", nr - shown, plural(nr - shown));
	if (left)
		fprintf(f, "%" PRIu64 " target or snapshot%s too large to be kept\n", left,
			plural(left));
}
