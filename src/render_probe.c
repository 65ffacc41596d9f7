/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes in words and in machine formats: what each let pass, its hits region by region, and the score. It
 * only shows; what a probe is, is da_probe.h's.
 */
#include "render_probe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render_format.h"
#include "render_ink.h"

#define MAX_NAME 14 /* columns of a probe's name in a heading */
#define PAIR     15 /* columns of hits and reports */
#define HITS     9
#define SCORE    15 /* columns of the score and its share */
#define ROOM     12 /* columns for a region's name, at least */

const struct da_region_stat *probe_stat(const struct da_region *g,
					const struct da_offline_result *r, size_t probe)
{
	for (uint32_t i = 0; i < g->nr_by_probe; i++)
		if (g->by_probe[i].event == r->nr_events + probe)
			return &g->by_probe[i];
	return NULL;
}

uint64_t probe_score(const struct da_region *g, const struct da_offline_result *r)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < g->nr_by_probe; i++)
		sum += g->by_probe[i].hits *
		       da_probe_weight(r->probes, g->by_probe[i].event - r->nr_events);
	return sum;
}

/* ---- JSON ---- */

void probe_region_json(struct da_json_out *w, const struct da_offline_result *r,
		       const struct da_region *g)
{
	da_json_object(w, "probes");
	for (size_t i = 0; i < da_probes_nr(r->probes); i++) {
		const struct da_region_stat *st = probe_stat(g, r, i);

		da_json_object(w, da_probe_name(r->probes, i));
		da_json_u64(w, "hits", st ? st->hits : 0);
		da_json_u64(w, "reports", st ? st->samples : 0);
		da_json_close(w);
	}
	da_json_close(w);
	if (da_probes_weighted(r->probes))
		da_json_u64(w, "score", probe_score(g, r));
}

void probe_list_json(struct da_json_out *w, const struct da_offline_result *r)
{
	if (!r->probes)
		return;
	da_json_array(w, "probes");
	for (size_t i = 0; i < da_probes_nr(r->probes); i++) {
		da_json_flat_object(w, NULL);
		da_json_string(w, "name", da_probe_name(r->probes, i));
		da_json_string(w, "text", da_probe_text(r->probes, i));
		da_json_u64(w, "weight", da_probe_weight(r->probes, i));
		da_json_close(w);
	}
	da_json_close(w);
	da_json_string(w, "scoring", da_probes_weighted(r->probes) ? "probes" : "access_rate");
}

/* ---- CSV: columns behind the others ---- */

void probe_head_csv(FILE *f, const struct da_offline_result *r)
{
	for (size_t i = 0; i < da_probes_nr(r->probes); i++)
		fprintf(f, ",hits:%s,reports:%s", da_probe_name(r->probes, i),
			da_probe_name(r->probes, i));
	if (da_probes_weighted(r->probes))
		fputs(",score", f);
}

void probe_row_csv(FILE *f, const struct da_offline_result *r, const struct da_region *g)
{
	for (size_t i = 0; i < da_probes_nr(r->probes); i++) {
		const struct da_region_stat *st = probe_stat(g, r, i);

		fprintf(f, ",%" PRIu64 ",%" PRIu64, st ? st->hits : 0, st ? st->samples : 0);
	}
	if (da_probes_weighted(r->probes))
		fprintf(f, ",%" PRIu64, probe_score(g, r));
}

/* ---- text ---- */

static void line(FILE *f, const char *text, const struct da_render_opts *o)
{
	put_wrapped(f, text, 2, o->width);
	fputc('\n', f);
}

/* The events whose reports are not part of the score, and how many. */
static void put_replaced(FILE *f, const struct da_offline_result *r, const struct da_render_opts *o)
{
	char *text, a[WORD], b[WORD];

	for (uint32_t e = 0; e < r->nr_events; e++) {
		uint64_t missed = 0, in = 0;
		const char *why = "reports that no probe lets pass";

		for (size_t i = 0; i < r->nr_cells; i++) {
			if (r->cells[i].event != e)
				continue;
			missed += r->cells[i].ledger.drop[DA_DROP_MISS_PROBE];
			in += r->cells[i].ledger.in[DA_STAGE_MATCH];
		}
		if (!missed)
			continue;
		if (r->events[e].producer == DA_PROD_FAULT)
			why = "page faults have no hit count";
		if (asprintf(&text, "not in the score: %s of %s of %.64s (%s)",
			     format_count(a, missed), format_count(b, in), r->events[e].name,
			     why) < 0)
			return;
		line(f, text, o);
		free(text);
	}
}

void probe_list_text(FILE *f, const struct da_offline_result *r, const struct da_render_opts *o)
{
	char *text;

	if (!r->probes)
		return;
	fputc('\n', f);
	for (size_t i = 0; i < da_probes_nr(r->probes); i++) {
		const char *given = da_probe_text(r->probes, i);

		if (asprintf(&text, "probe %.256s%s", given,
			     strstr(given, "weight=") ? "" : " (weight 1)") < 0)
			return;
		line(f, text, o);
		free(text);
	}
	if (da_probes_weighted(r->probes)) {
		line(f,
		     "score = sum of weight x hits, hits = sampling intervals with such a report; "
		     "only probes count (replace, not blend)",
		     o);
		put_replaced(f, r, o);
	} else {
		line(f,
		     "all weights are 0: all sources feed one access rate and cannot be told apart "
		     "in it; there is no score",
		     o);
	}
}

struct ranked {
	const struct da_region *g;
	uint64_t key, hits;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	if (x->hits != y->hits)
		return x->hits > y->hits ? -1 : 1;
	return (x->g->start > y->g->start) - (x->g->start < y->g->start);
}

static size_t rank(const struct da_space *s, const struct da_offline_result *r, struct ranked *all)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nr_regions; i++) {
		struct ranked one = {.g = &s->regions[i]};

		if (!one.g->nr_by_probe)
			continue;
		for (uint32_t k = 0; k < one.g->nr_by_probe; k++)
			one.hits += one.g->by_probe[k].hits;
		one.key = da_probes_weighted(r->probes) ? probe_score(one.g, r) : one.hits;
		all[n++] = one;
	}
	if (n)
		qsort(all, n, sizeof(*all), by_rank);
	return n;
}

/* What fits into the width. */
struct layout {
	int address;
	size_t shown;
	bool pairs, score;
};

static struct layout lay_out(const struct da_space *s, const struct da_offline_result *r,
			     const struct da_render_opts *o)
{
	size_t nr = da_probes_nr(r->probes);
	struct layout l = {.address = s->regions[s->nr_regions - 1].start >> 48 ? 16 : 12,
			   .score = da_probes_weighted(r->probes)};
	size_t room = o->width - (size_t)l.address - 9 - (l.score ? SCORE : 0) - ROOM - 2;

	l.pairs = nr * PAIR <= room;
	l.shown = l.pairs || nr * HITS <= room ? nr : room / HITS;
	return l;
}

static void put_head(FILE *f, const struct da_offline_result *r, const struct layout *l)
{
	int each = l->pairs ? PAIR : HITS;

	if (l->pairs) {
		fprintf(f, "%*s", l->address + 9, "");
		for (size_t i = 0; i < l->shown; i++)
			fprintf(f, " %*.*s", each - 1, MAX_NAME, da_probe_name(r->probes, i));
		fputc('\n', f);
	}
	fprintf(f, "%*s %8s", l->address, "ADDRESS", "SIZE");
	for (size_t i = 0; i < l->shown; i++) {
		if (l->pairs)
			fprintf(f, " %6s %7s", "HITS", "REPORTS");
		else
			fprintf(f, " %*.*s", each - 1, HITS - 1, da_probe_name(r->probes, i));
	}
	if (l->score)
		fprintf(f, " %7s %6s", "SCORE", "SCORE%");
	fputs("  REGION\n", f);
}

static void put_row(FILE *f, const struct da_offline_result *r, const struct layout *l,
		    const struct ranked *w, uint64_t all, const struct da_render_opts *o)
{
	size_t used = (size_t)l->address + 9 + l->shown * (l->pairs ? PAIR : HITS) +
		      (l->score ? SCORE : 0) + 2;
	char a[WORD], b[WORD];

	fprintf(f, "%*" PRIx64 " %8s", l->address, w->g->start,
		format_bytes(a, w->g->end - w->g->start));
	for (size_t i = 0; i < l->shown; i++) {
		const struct da_region_stat *st = probe_stat(w->g, r, i);

		if (l->pairs)
			fprintf(f, " %6s %7s", format_count(a, st ? st->hits : 0),
				format_count(b, st ? st->samples : 0));
		else
			fprintf(f, " %*s", HITS - 1, format_count(a, st ? st->hits : 0));
	}
	if (l->score)
		fprintf(f, " %7s %6.1f", format_count(a, w->key),
			all ? 100 * (double)w->key / (double)all : 0);
	fputs("  ", f);
	put_text(f, label_name(w->g->label), o->width - used, o->utf8);
	fputc('\n', f);
}

int probe_space_text(FILE *f, const struct da_offline_result *r, const struct da_space *s,
		     const struct da_render_opts *o)
{
	struct ranked *all;
	struct layout l;
	uint64_t sum = 0;
	size_t nr, shown;
	char a[WORD];

	if (!r->probes || !s->nr_regions)
		return 0;
	all = reallocarray(NULL, s->nr_regions, sizeof(*all));
	if (!all)
		return -DA_ENOMEM;
	nr = rank(s, r, all);
	l = lay_out(s, r, o);
	for (size_t i = 0; i < nr; i++)
		sum += all[i].key;
	fputc('\n', f);
	ink(f, o, INK_TITLE);
	if (s->kind == DA_SPACE_PHYSICAL) {
		fputs("Physical memory", f);
	} else {
		put_process(f, r, s);
		put_text(f, *s->comm ? s->comm : "(name unknown)", 32, o->utf8);
	}
	ink(f, o, INK_NONE);
	fprintf(f, ": probes, %zu region%s hit\n", nr, plural(nr));
	if (nr) {
		ink(f, o, INK_DIM);
		put_head(f, r, &l);
		ink(f, o, INK_NONE);
	}
	shown = o->limit && nr > o->limit ? o->limit : nr;
	for (size_t i = 0; i < shown; i++)
		put_row(f, r, &l, &all[i], sum, o);
	if (nr > shown)
		fprintf(f, "%s more region%s\n", format_count(a, nr - shown), plural(nr - shown));
	if (l.shown < da_probes_nr(r->probes) && nr)
		fprintf(f, "%zu more probes: --width, --format=csv or json\n",
			da_probes_nr(r->probes) - l.shown);
	free(all);
	return 0;
}
