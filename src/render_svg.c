/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Heat maps as one SVG picture: the plan of render_plan.c, drawn. Each cell tells its time, addresses, samples and
 * their error when a pointer rests on it; what was not observed, and times in which samples were lost, look
 * different from no samples.
 */
#include "render_svg.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "da_error.h"
#include "render_format.h"
#include "render_plan.h"
#include "utf8.h"

#define COLUMNS    96
#define ROWS       64
#define LEAST_ROWS 8
#define PER_ROW    16
#define LEFT       270 /* addresses and labels */
#define RIGHT      20
#define TOP        48
#define ROW        13
#define GAP        6 /* between rows that do not meet */
#define BOTTOM     46
#define LEVELS     7
#define SPACES     5 /* shown, unless the user said how many */

void svg_text(FILE *f, const char *text)
{
	size_t n;

	for (; *text; text += n ? n : 1) {
		n = utf8_printable(text);
		if (*text == '<' || *text == '>' || *text == '&' || *text == '"' || *text == '\'')
			fprintf(f, "&#%d;", *text);
		else if (n)
			fwrite(text, 1, n, f);
		else
			fprintf(f, "\\x%02x", (unsigned char)*text);
	}
}

void svg_style(FILE *f)
{
	/* from light to dark, and told apart without colour too */
	static const char *const color[LEVELS] = {"#fde725", "#a8db34", "#5ec962", "#21918c",
						  "#2c728e", "#3b528b", "#440154"};
	int i;

	fputs("text{font:12px sans-serif;fill:#222}.t{font-weight:bold;font-size:14px}"
	      ".m{font-family:monospace}.s{fill:#666;font-size:11px}"
	      ".b{fill:#fff;stroke:#999}.u{fill:#ddd}.x{fill:url(#lost)}.g{stroke:#bbb;stroke-dasharray:2 3}",
	      f);
	for (i = 0; i < LEVELS; i++)
		fprintf(f, ".c%d{fill:%s}", i, color[i]);
}

void svg_defs(FILE *f)
{
	fputs("<defs><pattern id=\"lost\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
	      "<path d=\"M0 6L6 0\" stroke=\"#c22\"/></pattern></defs>\n",
	      f);
}

void svg_title(FILE *f, const struct da_offline_result *r, const struct da_space *s, uint32_t event)
{
	if (s->kind == DA_SPACE_PHYSICAL) {
		fputs("Physical memory", f);
	} else {
		fprintf(f, "Process %" PRIu32 " ", s->pid);
		svg_text(f, s->comm);
	}
	fputs(": ", f);
	svg_text(f, r->events[event].name);
}

/* ---- one map ---- */

struct map {
	FILE *f;
	const struct plan *p;
	const struct da_space *s;
	unsigned y;
	unsigned *row_y; /* top of each row */
	uint64_t t_first;
};

/* 0 to LEVELS - 1, by the logarithm: counts differ by powers. */
static unsigned level_of(uint64_t n, uint64_t max)
{
	double l = max > 1 ? log((double)n) / log((double)max) * LEVELS : 0;

	return l >= LEVELS ? LEVELS - 1 : (unsigned)l;
}

static double x_of(const struct map *m, size_t column)
{
	return LEFT + (double)(SVG_WIDTH - LEFT - RIGHT) * (double)column / (double)m->p->columns;
}

/* 'n': samples; 'x': lost; 'u': not observed; 0: observed, none. */
static char kind_of(const struct plan *p, size_t row, size_t col)
{
	size_t i = row * p->columns + col;

	if (p->cells[i])
		return 'n';
	return p->lost[col] ? 'x' : p->unseen[i] ? 'u' : 0;
}

/* A cell, or a run of cells without samples; returns the column behind it. */
static size_t put_cell(const struct map *m, size_t row, size_t col)
{
	const struct plan *p = m->p;
	uint64_t n = p->cells[row * p->columns + col];
	char kind = kind_of(p, row, col), a[WORD], b[WORD];
	size_t end = col + 1;

	while (kind != 'n' && end < p->columns && kind_of(p, row, end) == kind)
		end++;
	if (!kind)
		return end; /* the ground */
	fprintf(m->f, "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" class=\"",
		x_of(m, col), m->row_y[row], x_of(m, end) - x_of(m, col) + 0.2, ROW);
	if (n)
		fprintf(m->f, "c%u", level_of(n, p->max));
	else
		fputc(kind, m->f);
	fprintf(m->f, "\"><title>%" PRIx64 "-%" PRIx64 ", %s + %s: ", p->rows[row].start,
		p->rows[row].end, format_time(a, plan_time(p, col) - m->t_first),
		format_time(b, plan_time(p, end) - plan_time(p, col)));
	if (n)
		fprintf(m->f, "%s sample%s, +-%.0f%s", format_count(a, n), plural(n),
			1.96 * sqrt((double)n), p->lost[col] ? "; some were lost then" : "");
	else
		fputs(kind == 'x' ? "samples were lost" : "not observed", m->f);
	fputs("</title></rect>\n", m->f);
	return end;
}

static void put_row(const struct map *m, size_t row)
{
	const struct da_heat_row *r = &m->p->rows[row], *before = row ? r - 1 : NULL;
	char a[WORD];
	size_t col;

	fprintf(m->f, "<text class=\"m\" x=\"8\" y=\"%u\">%" PRIx64 "</text>", m->row_y[row] + 11,
		r->start);
	if (!before || before->last_zone != r->zone || r->last_zone != r->zone) {
		fprintf(m->f, "<text class=\"s\" x=\"115\" y=\"%u\">", m->row_y[row] + 11);
		if (r->last_zone > r->zone)
			fprintf(m->f, "%" PRIu32 " regions", r->last_zone - r->zone + 1);
		else
			svg_text(m->f, label_name(m->s->areas[r->zone].label));
		fputs("</text>\n", m->f);
	}
	if (before && before->end < r->start) {
		fprintf(m->f,
			"<path class=\"g\" d=\"M%d %uH%d\"><title>%s left out</title></path>\n",
			LEFT, m->row_y[row] - GAP / 2, SVG_WIDTH - RIGHT,
			format_bytes(a, r->start - before->end));
	}
	for (col = 0; col < m->p->columns;)
		col = put_cell(m, row, col);
}

/* A tick at each round number of seconds, at most twelve. */
static void put_time(const struct map *m, unsigned y)
{
	uint64_t span = m->p->t1_ns - m->p->t0_ns, step = 1, from = m->p->t0_ns - m->t_first, t;
	char a[WORD];
	int i = 0;

	while (span / step > 12) /* 1, 2, 5, 10, ... */
		step = i++ % 3 == 1 ? step / 2 * 5 : step * 2;
	/* none so near the end that its text would be cut */
	for (t = (from + step - 1) / step * step; t <= from + span / 20 * 19; t += step)
		fprintf(m->f, "<text class=\"s\" x=\"%.0f\" y=\"%u\">%s</text>",
			LEFT + (double)(SVG_WIDTH - LEFT - RIGHT) * (double)(t - from) /
					(double)span,
			y, t ? format_time(a, t) : "0");
	fputc('\n', m->f);
}

static void put_legend(const struct map *m, unsigned y)
{
	unsigned x = LEFT, i;
	uint64_t low = 1, high;
	char a[WORD], b[WORD];

	fprintf(m->f,
		"<text class=\"s\" x=\"8\" y=\"%u\">samples in a cell; a count n is good to</text>"
		"<text class=\"s\" x=\"8\" y=\"%u\">+-2 sqrt(n); white: observed, none</text>",
		y + 10, y + 24);
	for (i = 0; i < LEVELS; i++, low = high + 1) {
		for (high = low; high < m->p->max && level_of(high + 1, m->p->max) == i &&
				 high - low < 1u << 20;)
			high++;
		if (high - low == 1u << 20)
			high = (uint64_t)pow((double)m->p->max, (i + 1.0) / LEVELS);
		if (i == LEVELS - 1)
			high = m->p->max;
		if (low > m->p->max || level_of(low, m->p->max) != i) {
			high = low - 1;
			continue;
		}
		fprintf(m->f,
			"<rect x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" class=\"c%u\"/>"
			"<text class=\"s\" x=\"%u\" y=\"%u\">%s",
			x, y, i, x + 16, y + 10, format_count(a, low));
		if (high > low)
			fprintf(m->f, "-%s", format_count(b, high));
		fputs("</text>", m->f);
		x += 92;
	}
	fprintf(m->f,
		"<rect x=\"%d\" y=\"%u\" width=\"12\" height=\"12\" class=\"u\"/>"
		"<text class=\"s\" x=\"%d\" y=\"%u\">not observed</text>"
		"<rect x=\"%d\" y=\"%u\" width=\"12\" height=\"12\" class=\"x\"/>"
		"<text class=\"s\" x=\"%d\" y=\"%u\">samples were lost in this time</text>\n",
		LEFT, y + 16, LEFT + 16, y + 26, LEFT + 110, y + 16, LEFT + 126, y + 26);
}

/* A few samples need no large picture. */
static size_t max_rows(const struct da_space *s, uint32_t event)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < s->nr_areas && n < ROWS * PER_ROW; i++) {
		const struct da_region_stat *st = stat_of(&s->areas[i], event);

		n += st ? st->samples : 0;
	}
	n = LEAST_ROWS + n / PER_ROW;
	return n < ROWS ? (size_t)n : ROWS;
}

int svg_map(FILE *f, const struct da_offline_result *r, const struct da_space *s, uint32_t event,
	    unsigned y, unsigned *height)
{
	struct plan p;
	struct map m = {.f = f, .p = &p, .s = s, .y = y};
	int err = plan_make(&p, r, s, event, COLUMNS, max_rows(s, event));
	unsigned at = y + TOP;
	char a[WORD], b[WORD];
	size_t i;

	m.row_y = err ? NULL : calloc(p.nr_rows + 1, sizeof(*m.row_y));
	if (!m.row_y) {
		plan_release(&p);
		return -DA_ENOMEM;
	}
	m.t_first = r->first_ns < p.t0_ns ? r->first_ns : p.t0_ns;
	for (i = 0; i < p.nr_rows; i++) {
		if (i && p.rows[i - 1].end < p.rows[i].start)
			at += GAP;
		m.row_y[i] = at;
		at += ROW;
	}
	fprintf(f, "<g><text class=\"t\" x=\"8\" y=\"%u\">", y + 18);
	svg_title(f, r, s, event);
	fprintf(f,
		"</text><text class=\"s\" x=\"8\" y=\"%u\">address, mapping</text>"
		"<text class=\"s\" x=\"%d\" y=\"%u\" text-anchor=\"end\">time; 1 column = %s, 1 row = %s</text>",
		y + 38, SVG_WIDTH - RIGHT, y + 18, format_time(a, (p.t1_ns - p.t0_ns) / p.columns),
		format_bytes(b, p.row_bytes));
	put_time(&m, y + 38);
	for (i = 0; i < p.nr_rows; i++) /* the ground first: gaps stay white */
		fprintf(f,
			"<rect class=\"b\" x=\"%d\" y=\"%u\" width=\"%d\" height=\"%d\" stroke-width=\"0.3\"/>",
			LEFT, m.row_y[i], SVG_WIDTH - LEFT - RIGHT, ROW);
	for (i = 0; i < p.nr_rows; i++)
		put_row(&m, i);
	put_legend(&m, at + 8);
	if (p.left_regions)
		fprintf(f,
			"<text class=\"s\" x=\"%d\" y=\"%u\">not drawn: %s samples in %zu regions</text>",
			LEFT + 330, at + 34, format_count(a, p.left_samples), p.left_regions);
	fputs("</g>\n", f);
	*height = at + BOTTOM - y;
	free(m.row_y);
	plan_release(&p);
	return 0;
}

/* ---- all of them ---- */

int svg_each(const struct da_offline_result *r, const struct da_render_opts *o, svg_each_fn fn,
	     void *ctx)
{
	size_t max = o->max_spaces ? o->max_spaces : SPACES, i, shown = 0;
	struct totals *total = calloc(r->nr_events + 1, sizeof(*total));
	int err = total ? 0 : -DA_ENOMEM;

	for (i = 0; !err && i < da_match_nr_spaces(r->match) && shown < max; i++) {
		const struct da_space *s = da_match_space(r->match, i);
		bool any = false;
		uint32_t e;

		totals_of(s, total, r);
		for (e = 0; e < r->nr_events && !err; e++) {
			struct da_region_stat sum = {.event = e,
						     .samples = total[e].samples,
						     .accesses = total[e].accesses};

			if (!total[e].samples || !plan_possible(s, e))
				continue;
			err = fn(ctx, s, e, &sum);
			any = true;
		}
		shown += any;
	}
	free(total);
	return err;
}

struct picture {
	FILE *f;
	const struct da_offline_result *r;
	unsigned y;
};

static int put_map(void *ctx, const struct da_space *s, uint32_t event,
		   const struct da_region_stat *total)
{
	struct picture *p = ctx;
	unsigned height = 0;
	int err = svg_map(p->f, p->r, s, event, p->y, &height);

	(void)total;
	p->y += height;
	return err;
}

int da_render_report_svg(FILE *f, const struct da_offline_result *r, const struct da_render_opts *o)
{
	char *text = NULL;
	size_t len = 0;
	struct picture p = {.f = open_memstream(&text, &len), .r = r};
	int err;

	if (!p.f)
		return -DA_ENOMEM;
	err = svg_each(r, o, put_map, &p);
	if (!p.y) {
		fputs("<text x=\"8\" y=\"18\">nothing to show: no sample has an address and a time</text>",
		      p.f);
		p.y = 30;
	}
	if (fclose(p.f))
		err = -DA_ENOMEM;
	if (!err) {
		/* the height is known only now */
		fprintf(f,
			"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
			"viewBox=\"0 0 %d %u\">\n<style>",
			SVG_WIDTH, p.y, SVG_WIDTH, p.y);
		svg_style(f);
		fputs("</style>\n", f);
		svg_defs(f);
		fprintf(f, "<rect width=\"%d\" height=\"%u\" fill=\"#fff\"/>\n", SVG_WIDTH, p.y);
		fwrite(text, 1, len, f);
		fputs("</svg>\n", f);
	}
	free(text);
	return err;
}
