/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report for people: what was recorded and how much of it is usable, then for each space and event a
 * table of regions and a heat map.
 *
 * Numbers of different events are never added. What limits the meaning of a number stands beside it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render_ages.h"
#include "render_damon.h"
#include "render_format.h"
#include "render_ink.h"
#include "render_probe.h"
#include "render_rows.h"

#define NUMBERS    52 /* columns of the table of regions between address and label */
#define MAX_DROPS  4
#define MAX_STEPS  8  /* of an adaptive period, shown without verbose */
#define FEW_LINES  10 /* of a list that is not the matter */
#define SMALL_PART 20 /* a process with less than a 20th of the samples gets one line */

void ink(FILE *f, const struct da_render_opts *o, enum ink i)
{
	static const char *const code[] = {
		[INK_NONE] = "\033[0m",         [INK_TITLE] = "\033[1m",
		[INK_DIM] = "\033[2m",          [INK_WARN] = "\033[33m",
		[INK_HEAT1] = "\033[38;5;27m",  [INK_HEAT2] = "\033[38;5;37m",
		[INK_HEAT3] = "\033[38;5;214m", [INK_HEAT4] = "\033[38;5;196m",
	};

	if (o->color)
		fputs(code[i], f);
}

struct text {
	FILE *f;
	const struct da_render_opts *o;
	const struct da_offline_result *r;
	struct totals *total; /* of the space under way, by event */
	bool watched;         /* its regions are DAMON's */
	/* a paragraph under way */
	FILE *line;
	char *words;
	size_t len;
};

/* Starts a paragraph; its words are printed to the stream. */
static FILE *begin(struct text *t)
{
	rewind(t->line);
	return t->line;
}

/* Ends it: broken to the width, in one colour. */
static void end(struct text *t, enum ink color, size_t indent)
{
	fputc('\0', t->line);
	fflush(t->line);
	if (color != INK_NONE)
		ink(t->f, t->o, color);
	put_wrapped(t->f, t->words ? t->words : "", indent, t->o->width);
	if (color != INK_NONE)
		ink(t->f, t->o, INK_NONE);
	fputc('\n', t->f);
}

static void put_sentence(struct text *t, enum ink color, size_t indent, const char *words)
{
	fputs(words, begin(t));
	end(t, color, indent);
}

/* ---- the recording ---- */

static void put_command(struct text *t)
{
	const struct da_file_info *i = t->r->file;
	size_t used = strlen("  recorded by"), k;

	if (!i->nr_cmdline)
		return;
	fputs("  recorded by", t->f);
	for (k = 0; k < i->nr_cmdline && used + 8 < t->o->width; k++) {
		fputc(' ', t->f);
		used += 1 + put_text(t->f, i->cmdline[k], t->o->width - used - 1, t->o->utf8);
	}
	fputs(k < i->nr_cmdline ? " ...\n" : "\n", t->f);
}

static void put_times(struct text *t)
{
	const struct da_offline_result *r = t->r;
	char a[WORD], b[WORD];

	if (r->first_ns <= r->last_ns) {
		fprintf(begin(t), "%s from first to last sample; times count from %.6f s",
			format_time(a, r->last_ns - r->first_ns), (double)r->first_ns / 1e9);
		end(t, INK_NONE, 2);
	} else if (r->file->mode == DA_FILE_RAW) {
		put_sentence(t, INK_NONE, 2,
			     "without times: how fast the PMU's counter runs was not given (hz=)");
	}
	if (r->filtered) {
		fprintf(begin(t), "filters left %s of %s sample records",
			format_count(a, r->samples), format_count(b, r->samples + r->filtered));
		end(t, INK_NONE, 2);
	}
}

static void put_file(struct text *t)
{
	const struct da_file_info *i = t->r->file;
	char a[WORD];
	FILE *f;

	ink(t->f, t->o, INK_TITLE);
	put_text(t->f, strcmp(i->path, "-") ? i->path : "standard input", t->o->width, t->o->utf8);
	ink(t->f, t->o, INK_NONE);
	fputc('\n', t->f);
	f = begin(t);
	fprintf(f, "%s", format_bytes(a, i->bytes));
	if (i->hostname)
		fprintf(f, ", recorded on %.64s", i->hostname);
	if (i->osrelease)
		fprintf(f, ", Linux %.64s", i->osrelease);
	if (i->arch)
		fprintf(f, " %.16s", i->arch);
	end(t, INK_NONE, 2);
	put_command(t);
	put_times(t);
	if (t->r->damaged) {
		f = begin(t);
		fprintf(f, "damaged: %s",
			t->r->nr_messages ? t->r->messages[0] : "what could be read follows");
		if (t->r->nr_messages > 1)
			fprintf(f, " (and %zu more)", t->r->nr_messages - 1);
		end(t, INK_WARN, 2);
	} else if (t->r->own_file && !t->r->has_end) {
		put_sentence(
			t, INK_WARN, 2,
			"the recording was not ended regularly: it holds what was written until then");
	}
	if (t->r->aux_bytes) {
		fprintf(begin(t), "%s of AUX trace data were not decoded",
			format_bytes(a, t->r->aux_bytes));
		end(t, INK_WARN, 2);
	}
}

/* ---- events ---- */

static const char *address_from(enum da_producer p)
{
	switch (p) {
	case DA_PROD_REGS:
		return "address from instruction and registers";
	case DA_PROD_FAULT:
		return "address from the fault itself";
	case DA_PROD_ADDR:
	case DA_PROD_IBS_OP:
	case DA_PROD_IBS_FETCH:
	case DA_PROD_SPE:
	case DA_PROD_PEBS_RAW:
		return "address from the PMU";
	case DA_PROD_FAKE:
		return "address made up";
	default:
		return "no address in its records";
	}
}

/* A sideband event that was never meant to sample, or one that a filter left out. */
static bool is_silent(const struct da_offline_event *e)
{
	return !e->wanted ||
	       ((e->producer == DA_PROD_NONE || e->sideband) && !e->samples && !e->filtered);
}

static struct da_ledger ledger_of(const struct da_offline_result *r, uint32_t event)
{
	struct da_ledger sum = {0};
	size_t i;

	for (i = 0; i < r->nr_cells; i++)
		if (r->cells[i].event == event)
			da_ledger_add(&sum, &r->cells[i].ledger);
	return sum;
}

/* The next drop of a layer in order of size: smaller than the last one, or as large and later. */
static unsigned next_drop(const struct da_ledger *l, enum da_stage s, uint64_t last,
			  unsigned last_at)
{
	unsigned best = DA_DROP_NR, d;

	for (d = 0; d < DA_DROP_NR; d++) {
		uint64_t n = l->drop[d];

		if (da_drop_stage((enum da_drop)d) != s || !n || n > last ||
		    (n == last && d <= last_at))
			continue;
		if (best == DA_DROP_NR || n > l->drop[best])
			best = d;
	}
	return best;
}

/* The drops of one layer, the largest first; at most MAX_DROPS unless verbose. */
static void put_drops(struct text *t, const struct da_ledger *l, enum da_stage s, const char *what)
{
	unsigned shown = 0, left = 0, d = next_drop(l, s, UINT64_MAX, 0);
	char a[WORD], b[WORD];
	FILE *f;

	if (d == DA_DROP_NR)
		return;
	f = begin(t);
	fprintf(f, "%s:", what);
	for (; d != DA_DROP_NR; d = next_drop(l, s, l->drop[d], d)) {
		if (shown == MAX_DROPS && !t->o->verbose)
			left++;
		else
			fprintf(f, "%s %s %s (%s)", shown++ ? "," : "",
				da_drop_name((enum da_drop)d), format_count(a, l->drop[d]),
				format_pct(b, l->drop[d], l->in[s]));
	}
	if (left)
		fprintf(f, ", %u more", left);
	end(t, INK_NONE, 4);
}

/* Steps of an adaptive period: the first ones, and the last. */
static void put_steps(struct text *t, uint32_t event)
{
	const struct da_offline_result *r = t->r;
	size_t i, nr = 0, at = 0;
	char a[WORD], b[WORD], c[WORD];

	for (i = 0; i < r->nr_steps; i++)
		nr += r->steps[i].event == event;
	for (i = 0; i < r->nr_steps; i++) {
		const struct da_own_step *s = &r->steps[i];
		uint64_t since = s->time_ns > r->first_ns ? s->time_ns - r->first_ns : 0;

		if (s->event != event)
			continue;
		if (++at > MAX_STEPS && at < nr && !t->o->verbose) {
			if (at == MAX_STEPS + 1) {
				fprintf(begin(t), "period: %zu more steps", nr - MAX_STEPS - 1);
				end(t, INK_NONE, 4);
			}
			continue;
		}
		if (s->from == s->to)
			fprintf(begin(t), "period at the end %s: %.90s", format_count(a, s->to),
				s->why);
		else
			fprintf(begin(t), "period %s -> %s after %s: %.90s",
				format_count(a, s->from), format_count(b, s->to),
				format_time(c, since), s->why);
		end(t, INK_NONE, 4);
	}
}

static void put_event(struct text *t, uint32_t event)
{
	const struct da_offline_event *e = &t->r->events[event];
	struct da_ledger l = ledger_of(t->r, event);
	uint64_t valid = l.out[DA_STAGE_SAMPLE];
	char a[WORD], b[WORD], c[WORD];
	FILE *f = begin(t);

	fprintf(f, "%.64s", e->name);
	if (e->period)
		fprintf(f, ", period %s %s", format_count(a, e->period), e->unit);
	if (e->attr && e->attr->flags & DA_ATTR_PRECISE_MASK)
		fprintf(f, ", precise_ip %u",
			(unsigned)((e->attr->flags & DA_ATTR_PRECISE_MASK) >>
				   DA_ATTR_PRECISE_SHIFT));
	fprintf(f, "; %s", address_from(e->producer));
	end(t, INK_NONE, 2);
	f = begin(t);
	fprintf(f, "%s sample%s: %s valid (%s)", format_count(a, l.in[DA_STAGE_SAMPLE]),
		plural(l.in[DA_STAGE_SAMPLE]), format_count(b, valid),
		format_pct(c, valid, l.in[DA_STAGE_SAMPLE]));
	if (l.in[DA_STAGE_MATCH] != valid)
		fprintf(f, ", %s accesses", format_count(a, l.in[DA_STAGE_MATCH]));
	fprintf(f, "; %s matched, %s update%s", format_count(a, l.out[DA_STAGE_MATCH]),
		format_count(b, l.out[DA_STAGE_UPDATE]), plural(l.out[DA_STAGE_UPDATE]));
	end(t, INK_NONE, 4);
	put_steps(t, event);
	put_drops(t, &l, DA_STAGE_SAMPLE, "not valid");
	put_drops(t, &l, DA_STAGE_MATCH, "not matched");
	if (e->producer == DA_PROD_REGS && valid)
		put_sentence(
			t, INK_DIM, 4,
			"note: a time sample shows the instruction after a slow one. Shares tell where a pass "
			"is slow, not how often memory is accessed.");
	else if (e->producer == DA_PROD_FAULT && valid)
		put_sentence(t, INK_DIM, 4,
			     "note: a fault is a page's first touch, not each access to it.");
}

/* Different units, and two may tell the same loss: listed, never added. */
static void put_lost(struct text *t)
{
	const struct da_offline_lost *l = &t->r->lost;
	const struct {
		int64_t n;
		const char *what;
	} all[] = {
		{l->counter, "by the events' own counters"},
		{l->pending, "not yet reported at the end"},
		{l->records, "in LOST records"},
		{l->samples, "in LOST_SAMPLES records"},
		{l->aux_truncated, "truncated AUX records"},
		{l->aux_collisions, "AUX records with collisions"},
		{l->throttled, "THROTTLE records"},
	};
	FILE *f = begin(t);
	bool any = false;
	char a[WORD];
	size_t i;

	fputs("lost before decoding:", f);
	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (all[i].n <= 0)
			continue;
		fprintf(f, "%s %s %s", any ? "," : "", format_count(a, (uint64_t)all[i].n),
			all[i].what);
		any = true;
	}
	if (!any)
		fputs(l->counter == 0 ? " nothing, by the events' own counters"
				      : " no record of a loss",
		      f);
	end(t, any ? INK_WARN : INK_NONE, 2);
}

static void put_events(struct text *t)
{
	const struct da_offline_result *r = t->r;
	struct da_counters c = da_ledger_counters(&r->recorded_ledger);
	char a[WORD], b[WORD];
	enum da_stage bad;
	uint32_t i;

	for (i = 0; i < r->nr_events; i++)
		if (!is_silent(&r->events[i]) || t->o->verbose)
			put_event(t, i);
	put_lost(t);
	if (r->has_recorded &&
	    (t->o->verbose || da_ledger_drops(&r->recorded_ledger, DA_STAGE_RING))) {
		fprintf(begin(t),
			"while recording: %s reports offered, %s dropped by full report buffers",
			format_count(a, c.reports), format_count(b, c.overflow));
		end(t, c.overflow ? INK_WARN : INK_NONE, 2);
	}
	if (!da_ledger_conserves(&r->ledger, &bad)) {
		fprintf(begin(t), "BUG: the counters of layer %s do not add up; please report this",
			da_stage_name(bad));
		end(t, INK_WARN, 2);
	}
}

/* ---- tables of regions ---- */

/* "41.7ms": a time in six columns. */
static void put_age(struct text *t, bool known, uint64_t ns)
{
	char a[WORD], *space;

	format_time(a, ns);
	space = strchr(a, ' ');
	if (space)
		memmove(space, space + 1, strlen(space));
	fprintf(t->f, " %6s", known ? ns ? a : "0" : "-");
}

/* Of those with a known direction; a read-modify-write is both. */
static void put_writes(struct text *t, const struct da_region_stat *st)
{
	uint64_t known =
		st->reads + st->writes < st->samples ? st->reads + st->writes : st->samples;

	if (known)
		fprintf(t->f, " %4.0f", 100 * (double)st->writes / (double)known);
	else
		fprintf(t->f, " %4s", "-");
}

static void put_region(struct text *t, const struct row *w, const struct totals *all,
		       const struct ages *ages, int address)
{
	double share = all->accesses ? (double)w->st->accesses / (double)all->accesses : 0;
	struct age age = ages_get(ages, w->g);
	char a[WORD];

	fprintf(t->f, "%*" PRIx64 " %8s", address, w->g->start,
		format_bytes(a, w->g->end - w->g->start));
	fprintf(t->f, " %9s", format_count(a, w->st->samples));
	fprintf(t->f, " %6.1f", 100 * share);
	fprintf(t->f, " %4.1f", 100 * share_error(share, all->effective));
	if (w->g->watched) {
		fprintf(t->f, " %4" PRIu32, w->g->nr_accesses);
		fprintf(t->f, " %6" PRIu32, w->g->age);
	} else if (t->watched) {
		fprintf(t->f, " %4s %6s", "-", "-");
	} else {
		put_writes(t, w->st);
		put_age(t, age.known, age.age_ns);
	}
	put_age(t, age.known, age.idle_ns);
	fputs("  ", t->f);
	put_text(t->f, label_name(w->g->label), t->o->width - (unsigned)address - NUMBERS,
		 t->o->utf8);
	fputc('\n', t->f);
}

static int put_table(struct text *t, const struct da_space *s, uint32_t event)
{
	size_t nr, shown, i, silent = s->nr_regions - t->total[event].regions;
	uint64_t rest = 0, silent_bytes = 0;
	struct row *rows;
	char a[WORD], b[WORD];
	int address = s->nr_regions && s->regions[s->nr_regions - 1].start >> 48 ? 16 : 12;

	struct ages ages;

	t->watched = false;
	for (i = 0; i < s->nr_regions; i++)
		t->watched |= s->regions[i].watched;
	if (ages_make(&ages, t->r, s, event))
		return -DA_ENOMEM;
	if (rows_in_order(s, event, t->o->sort, &rows, &nr)) {
		ages_release(&ages);
		return -DA_ENOMEM;
	}
	shown = t->o->limit && nr > t->o->limit ? t->o->limit : nr;
	ink(t->f, t->o, INK_DIM);
	fprintf(t->f, "%*s %8s %9s %6s %s %4s %6s %6s  %s", address, "ADDRESS", "SIZE", "SAMPLES",
		"SHARE%", t->o->utf8 ? "  \xc2\xb1%" : " +-%", t->watched ? "ACC" : "W%", "AGE",
		"IDLE", "REGION");
	ink(t->f, t->o, INK_NONE);
	fputc('\n', t->f);
	for (i = 0; i < shown; i++)
		put_region(t, &rows[i], &t->total[event], &ages, address);
	ages_release(&ages);
	for (i = shown; i < nr; i++)
		rest += rows[i].st->samples;
	free(rows);
	if (rest)
		fprintf(t->f, "%zu more region%s: %s sample%s (%s)\n", nr - shown,
			plural(nr - shown), format_count(a, rest), plural(rest),
			format_pct(b, rest, t->total[event].samples));
	for (i = 0; i < s->nr_regions; i++)
		if (!stat_of(&s->regions[i], event))
			silent_bytes += s->regions[i].end - s->regions[i].start;
	if (silent)
		fprintf(t->f, "%zu more region%s (%s): no samples\n", silent, plural(silent),
			format_bytes(a, silent_bytes));
	return 0;
}

/* ---- spaces ---- */

static int put_space(struct text *t, const struct da_space *s)
{
	char a[WORD];
	uint32_t e;
	int err;

	totals_of(s, t->total, t->r);
	for (e = 0; e < t->r->nr_events; e++) {
		if (!t->total[e].samples)
			continue;
		fputc('\n', t->f);
		ink(t->f, t->o, INK_TITLE);
		if (s->kind == DA_SPACE_PHYSICAL) {
			fputs("Physical memory", t->f);
		} else {
			put_process(t->f, t->r, s);
			put_text(t->f, *s->comm ? s->comm : "(name unknown)", 32, t->o->utf8);
		}
		ink(t->f, t->o, INK_NONE);
		fputs(": ", t->f);
		put_text(t->f, t->r->events[e].name, 32, t->o->utf8);
		fprintf(t->f, ", %s sample%s in %zu region%s\n",
			format_count(a, t->total[e].samples), plural(t->total[e].samples),
			t->total[e].regions, plural(t->total[e].regions));
		err = put_table(t, s, e);
		if (!err && t->o->heatmap)
			err = render_heat(t->f, t->r, s, e, t->o);
		if (err)
			return err;
	}
	return probe_space_text(t->f, t->r, s, t->o);
}

/* Processes that got no table: a line each. */
static void put_others(struct text *t, size_t first, uint64_t all)
{
	const struct da_match *m = t->r->match;
	size_t i, shown = 0, more = 0;
	uint64_t rest = 0;
	char a[WORD], b[WORD];

	for (i = first; i < da_match_nr_spaces(m); i++) {
		const struct da_space *s = da_match_space(m, i);
		uint64_t n = s->ledger.out[DA_STAGE_MATCH];

		if (!n || s->kind == DA_SPACE_PHYSICAL)
			continue;
		if (shown == FEW_LINES) {
			more++;
			rest += n;
			continue;
		}
		if (!shown++)
			fputs("\nOther processes (--limit 0 shows all, --pid and --comm choose):\n",
			      t->f);
		fprintf(t->f, "%10" PRIu32 "  ", s->pid);
		fprintf(t->f, "%*s",
			(int)(20 - put_text(t->f, *s->comm ? s->comm : "?", 20, t->o->utf8)), "");
		fprintf(t->f, " %11s sample%-1s %7s\n", format_count(a, n), plural(n),
			format_pct(b, n, all));
	}
	if (more)
		fprintf(t->f, "      %zu more %*s %11s samples %7s\n", more,
			(int)(20 - (more > 9) - (more > 99) - (more > 999)), "",
			format_count(a, rest), format_pct(b, rest, all));
}

/* Spaces come with the fullest first and the physical one last. */
static int put_spaces(struct text *t)
{
	const struct da_match *m = t->r->match;
	size_t i, shown = 0, nr = da_match_nr_spaces(m);
	bool phys = false;
	uint64_t all = 0;
	int err;

	for (i = 0; i < nr; i++)
		if (da_match_space(m, i)->kind == DA_SPACE_VIRTUAL)
			all += da_match_space(m, i)->ledger.out[DA_STAGE_MATCH];
	for (i = 0; i < nr; i++, shown++) {
		const struct da_space *s = da_match_space(m, i);
		uint64_t n = s->ledger.out[DA_STAGE_MATCH];
		bool small = shown && t->o->max_spaces && n < all / SMALL_PART;

		if (!n || s->kind == DA_SPACE_PHYSICAL || small ||
		    (t->o->max_spaces && shown == t->o->max_spaces))
			break;
		err = put_space(t, s);
		if (err)
			return err;
	}
	put_others(t, i, all);
	for (; i < nr; i++) {
		const struct da_space *s = da_match_space(m, i);

		if (s->kind != DA_SPACE_PHYSICAL || !s->ledger.out[DA_STAGE_MATCH])
			continue;
		phys = true;
		err = t->o->phys ? put_space(t, s) : 0;
		if (err)
			return err;
	}
	if (!all && !phys)
		fputs("\nNo access could be given to a region.\n", t->f);
	if (phys && !t->o->phys)
		fputs("\nThe recording has physical addresses too: --phys shows them.\n", t->f);
	if (!phys && t->o->phys)
		fputs("\nThe recording has no physical addresses.\n", t->f);
	return 0;
}

int da_render_report_text(FILE *f, const struct da_offline_result *r,
			  const struct da_render_opts *o)
{
	struct da_render_opts own = *o;
	struct text t = {.f = f, .o = &own, .r = r};
	int err = -DA_ENOMEM;

	if (own.width < DA_RENDER_WIDTH_MIN)
		own.width = DA_RENDER_WIDTH_MIN;
	t.total = calloc(r->nr_events + 1, sizeof(*t.total));
	t.line = open_memstream(&t.words, &t.len);
	if (t.total && t.line) {
		put_file(&t);
		fputc('\n', f);
		put_events(&t);
		probe_list_text(f, r, &own);
		err = put_spaces(&t);
		if (!err)
			render_traces_text(f, r, &own);
		render_damon_text(f, r->damon, &own);
	}
	if (t.line)
		fclose(t.line);
	free(t.words);
	free(t.total);
	return err;
}
