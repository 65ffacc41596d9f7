/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two runs side by side, as a table for people and for the JSON of a verdict.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "da_compare.h"
#include "render_format.h"

static void put_word(FILE *f, enum da_change c)
{
	if (c == DA_CHANGE_BETTER || c == DA_CHANGE_WORSE)
		fprintf(f, "  %s", da_change_name(c));
	fputc('\n', f);
}

static void put_count(FILE *f, const char *name, uint64_t was, uint64_t is)
{
	char a[WORD], b[WORD];

	fprintf(f, "  %-20s %18s %18s", name, format_count(a, was), format_count(b, is));
	if (was)
		fprintf(f, " %+9.1f %%\n", 100.0 * ((double)is - (double)was) / (double)was);
	else
		fprintf(f, " %11s\n", "-");
}

static void put_share(FILE *f, const struct da_compare *c, enum da_share i)
{
	const struct da_compare_share *s = &c->share[i];
	double was = da_compare_pct(s, 0), is = da_compare_pct(s, 1);
	char text[2][WORD] = {"-", "-"};

	if (!isnan(was))
		snprintf(text[0], WORD, "%.2f %%", was);
	if (!isnan(is))
		snprintf(text[1], WORD, "%.2f %%", is);
	fprintf(f, "  %-20s %18s %18s", da_share_name(i), text[0], text[1]);
	if (isnan(was) || isnan(is))
		fprintf(f, " %11s", "-");
	else
		fprintf(f, " %+8.2f pt", is - was);
	put_word(f, s->change);
}

void da_render_compare_text(FILE *f, const struct da_compare *c)
{
	const struct da_counters *was = &c->side[0].n, *is = &c->side[1].n;

	fputs("compared with ", f);
	put_text(f, c->side[0].name, 66, false);
	fprintf(f, "\n  %-20s %18s %18s %11s\n", "", "BASELINE", "NOW", "CHANGE");
	fprintf(f, "  %-20s %18.18s %18.18s %11s", "verdict", c->side[0].verdict,
		c->side[1].verdict, "");
	put_word(f, c->verdict);
	put_count(f, "callback", was->callback, is->callback);
	put_count(f, "valid", was->valid, is->valid);
	if (c->side[0].ring && c->side[1].ring) {
		put_count(f, "enqueue", was->enqueue, is->enqueue);
		put_count(f, "dequeue", was->dequeue, is->dequeue);
		put_count(f, "overflow", was->overflow, is->overflow);
	}
	put_count(f, "match", was->match, is->match);
	put_count(f, "update", was->update, is->update);
	for (int i = 0; i < DA_SHARE_NR; i++)
		put_share(f, c, (enum da_share)i);
	if (!c->better && !c->worse)
		fputs("  nothing changed by more than chance and one percentage point\n", f);
}

static void put_side(struct da_json_out *w, const char *key, const struct da_compare_side *s)
{
	da_json_flat_object(w, key);
	da_json_string(w, "name", s->name);
	da_json_string(w, "verdict", s->verdict);
	da_json_u64(w, "callback", s->n.callback);
	da_json_u64(w, "valid", s->n.valid);
	da_json_measured(w, "reports", s->ring ? (int64_t)s->n.reports : -1);
	da_json_measured(w, "enqueue", s->ring ? (int64_t)s->n.enqueue : -1);
	da_json_measured(w, "dequeue", s->ring ? (int64_t)s->n.dequeue : -1);
	da_json_measured(w, "overflow", s->ring ? (int64_t)s->n.overflow : -1);
	da_json_u64(w, "match", s->n.match);
	da_json_u64(w, "update", s->n.update);
	da_json_measured(w, "lost", s->lost);
	da_json_close(w);
}

void da_render_compare_json(struct da_json_out *w, const struct da_compare *c)
{
	da_json_object(w, "baseline");
	put_side(w, "was", &c->side[0]);
	put_side(w, "is", &c->side[1]);
	da_json_string(w, "verdict", da_change_name(c->verdict));
	da_json_array(w, "shares");
	for (int i = 0; i < DA_SHARE_NR; i++) {
		da_json_flat_object(w, NULL);
		da_json_string(w, "name", da_share_name((enum da_share)i));
		da_json_double(w, "was_pct", da_compare_pct(&c->share[i], 0));
		da_json_double(w, "is_pct", da_compare_pct(&c->share[i], 1));
		da_json_string(w, "change", da_change_name(c->share[i].change));
		da_json_close(w);
	}
	da_json_close(w);
	da_json_close(w);
}
