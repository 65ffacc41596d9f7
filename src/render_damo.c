/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A record of damo as a report: it holds DAMON's regions and no samples, so there is nothing but those.
 */
#include <inttypes.h>

#include "da_render.h"
#include "render_damon.h"
#include "render_format.h"
#include "render_ink.h"

#ifndef DA_VERSION
#define DA_VERSION "0"
#endif

void da_render_damo_text(FILE *f, const char *path, const struct da_damon *d,
			 const struct da_damo_info *i, const struct da_render_opts *o)
{
	char a[WORD];

	ink(f, o, INK_TITLE);
	put_text(f, path, 0, o->utf8);
	ink(f, o, INK_NONE);
	fprintf(f, "\n  %s, a record of damo (%s): %s snapshot%s of DAMON's regions, no samples\n",
		format_bytes(a, i->bytes), da_damo_kind_name(i->kind),
		format_count((char[WORD]){0}, i->snapshots), plural(i->snapshots));
	if (i->has_intervals)
		fprintf(f,
			"  sampling interval %" PRIu64 " us, aggregation interval %" PRIu64
			" us: nr_accesses is at most %" PRIu64 "\n",
			i->sample_us, i->aggr_us, i->aggr_us / i->sample_us);
	render_damon_text(f, d, o);
}

void da_render_damo_json(FILE *f, const char *path, const struct da_damon *d,
			 const struct da_damo_info *i)
{
	struct da_json_out w;

	da_json_begin(&w, f, false);
	da_json_object(&w, NULL);
	da_json_u64(&w, "schema_version", 1);
	da_json_string(&w, "tool", "damon-attrs");
	da_json_string(&w, "version", DA_VERSION);
	da_json_object(&w, "input");
	da_json_string(&w, "path", path);
	da_json_u64(&w, "bytes", i->bytes);
	da_json_string(&w, "mode", "damo");
	da_json_string(&w, "form", da_damo_kind_name(i->kind));
	da_json_bool(&w, "damaged", i->damaged != 0);
	da_json_u64(&w, "snapshots", i->snapshots);
	da_json_measured(&w, "sample_us", i->has_intervals ? (int64_t)i->sample_us : -1);
	da_json_measured(&w, "aggr_us", i->has_intervals ? (int64_t)i->aggr_us : -1);
	da_json_close(&w);
	render_damon_json(&w, d);
	da_json_close(&w);
	da_json_finish(&w);
}

void da_render_damo_csv(FILE *f, const struct da_damon *d)
{
	const struct da_damon_target *t;

	fputs("kdamond,target_id,time_ns,start,end,nr_accesses,age\n", f);
	for (size_t i = 0; (t = da_damon_target(d, i)); i++) {
		for (size_t k = 0; k < t->nr_regions; k++) {
			const struct da_damon_region *g = &t->regions[k];

			fprintf(f,
				"%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",0x%" PRIx64 ",0x%" PRIx64
				",%" PRIu32 ",",
				t->kdamond, t->target_id, t->last_ns, g->start, g->end,
				g->nr_accesses);
			if (t->has_age)
				fprintf(f, "%" PRIu32, g->age);
			fputc('\n', f);
		}
	}
}
