/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A heat map for a terminal: time goes right, addresses go down, what lies between regions is skipped and
 * marked. What was counted, what was looked at without a count, and what nobody looked at look different,
 * and so do times in which data was lost.
 */
#include <inttypes.h>
#include <string.h>

#include "render_format.h"
#include "render_ink.h"
#include "render_plan.h"

#define MIN_ROWS   8
#define MAX_ROWS   24
#define PER_ROW    8 /* samples that a row is worth */
#define SMALL_GAP  4 /* a gap of less than this part of a row has no line of its own */
#define SHADES     4
#define LABEL_MIN  16
#define LABEL_MAX  40
#define TICK_WIDTH 9 /* a number and some room */
#define MAX_MAP    512

/* clang-format off */
struct signs { const char *shade[SHADES], *unseen, *lost, *bar, *gap, *tick, *line; };
static const struct signs unicode = {
	{"\xe2\x96\x91", "\xe2\x96\x92", "\xe2\x96\x93", "\xe2\x96\x88"}, "\xc2\xb7", "\xe2\x95\xb1",
	"\xe2\x94\x82", "\xe2\x8b\xae", "\xe2\x94\xb4", "\xe2\x94\x80",
};
static const struct signs ascii = {{":", "+", "*", "#"}, ".", "/", "|", "~", "+", "-"};
/* clang-format on */

struct canvas {
	FILE *f;
	const struct da_render_opts *o;
	const struct plan *p;
	const struct da_space *s;
	const struct signs *sign;
	unsigned address, map, label; /* columns of each part */
	unsigned cell;                /* columns of a cell */
	bool mappings;                /* regions are mappings: what is in none is not mapped */
	uint64_t upto[SHADES];        /* highest count of each shade; 0: the shade is not used */
};

/* Shades in equal steps of the logarithm, as counts of memory accesses span decades. */
static void choose_shades(struct canvas *c)
{
	uint64_t max = c->p->max, root, low = 0;
	unsigned i;

	if (max <= SHADES) {
		for (i = 0; i < max; i++)
			c->upto[SHADES - max + i] = i + 1;
		return;
	}
	for (root = 2; root < max; root++) { /* the smallest root with root^4 >= max */
		unsigned __int128 sq = (unsigned __int128)root * root;

		if (sq >= (uint64_t)-1 || sq * sq >= max)
			break;
	}
	for (i = 0; i < SHADES; i++) {
		uint64_t next = i == SHADES - 1 ? max : (low ? low * root : root);

		if (next > max || next < low)
			next = max;
		c->upto[i] = next > low ? next : 0;
		low = next;
	}
}

static unsigned shade_of(const struct canvas *c, uint64_t n)
{
	unsigned i = 0;

	while (i < SHADES - 1 && n > c->upto[i])
		i++;
	return i;
}

static void repeat(FILE *f, const char *s, size_t n)
{
	while (n--)
		fputs(s, f);
}

/* What a cell shows: a sign and its colour. */
static const char *look_of(const struct canvas *c, size_t row, size_t col, enum ink *color)
{
	uint64_t n = c->p->cells[row * c->p->columns + col];
	unsigned shade = shade_of(c, n);

	if (n) {
		*color = INK_HEAT1 + shade;
		return c->sign->shade[shade];
	}
	if (c->p->lost[col]) { /* no count can be trusted to be none */
		*color = INK_WARN;
		return c->sign->lost;
	}
	if (c->p->unseen[row * c->p->columns + col]) {
		*color = INK_DIM;
		return c->sign->unseen;
	}
	*color = INK_NONE;
	return " ";
}

static void put_cells(const struct canvas *c, size_t row)
{
	enum ink now = INK_NONE, color;
	size_t col;

	for (col = 0; col < c->p->columns; col++) {
		const char *sign = look_of(c, row, col, &color);

		if (color != now && now != INK_NONE)
			ink(c->f, c->o, INK_NONE);
		if (color != now && color != INK_NONE)
			ink(c->f, c->o, color);
		now = color;
		repeat(c->f, sign, c->cell);
	}
	if (now != INK_NONE)
		ink(c->f, c->o, INK_NONE);
}

/* ---- axes ---- */

/* The largest of 1, 2, 5 x 10^n that gives ticks at least TICK_WIDTH columns apart. */
static uint64_t tick_step(const struct canvas *c)
{
	double ns_per_char = (double)(c->p->t1_ns - c->p->t0_ns) / (double)c->map;
	uint64_t step = 1;
	unsigned i = 0;

	while ((double)step < ns_per_char * TICK_WIDTH && step < UINT64_MAX / 10) {
		step = i % 3 == 1 ? step / 2 * 5 : step * 2;
		i++;
	}
	return step;
}

/* The column over which the mark of a time stands; false when it is outside the map. */
static bool column_at(const struct canvas *c, uint64_t t_ns, size_t *column)
{
	if (t_ns < c->p->t0_ns || t_ns >= c->p->t1_ns)
		return false;
	*column = (size_t)((double)(t_ns - c->p->t0_ns) / (double)(c->p->t1_ns - c->p->t0_ns) *
			   (double)c->map);
	return *column < c->map;
}

/* Times count from the first sample of the recording, in all maps alike. */
static void put_time_axis(const struct canvas *c, uint64_t zero_ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} unit[] = {
		{1000000000, "s"},
		{1000000, "ms"},
		{1000, "us"},
		{1, "ns"},
	};
	uint64_t step = tick_step(c), t;
	char text[WORD], numbers[MAX_MAP + WORD];
	bool tick[MAX_MAP] = {false};
	size_t u = 0, at, end = 0, i;

	while (u < 3 && step < unit[u].ns / 100)
		u++;
	memset(numbers, ' ', sizeof(numbers));
	if (zero_ns > c->p->t0_ns)
		zero_ns = c->p->t0_ns;
	t = c->p->t0_ns - zero_ns;
	t = t / step * step + (t % step ? step : 0);
	/* at most a tick a column: the times of a damaged file reach to the end of the clock */
	for (i = 0; i < c->map && zero_ns + t >= zero_ns && column_at(c, zero_ns + t, &at);
	     i++, t += step) {
		int n = snprintf(text, sizeof(text), "%.*f",
				 step % unit[u].ns ? (step % (unit[u].ns / 10) ? 2 : 1) : 0,
				 (double)t / (double)unit[u].ns);

		tick[at] = true;
		if (n > 0 && at + (size_t)n <= c->map + c->label) {
			memcpy(numbers + at, text, (size_t)n);
			end = at + (size_t)n;
		}
	}
	fprintf(c->f, "%*s  %.*s\n%*s %s", (int)c->address, unit[u].name, (int)end, numbers,
		(int)c->address, "address", c->sign->line);
	for (at = 0; at < c->map; at++)
		fputs(tick[at] ? c->sign->tick : c->sign->line, c->f);
	fprintf(c->f, "%s\n", c->sign->line);
}

/* What lies between two rows; inside a region rows touch. */
static void put_gap(const struct canvas *c, size_t row)
{
	const struct da_heat_row *a = &c->p->rows[row - 1], *b = &c->p->rows[row];
	size_t undrawn = 0, i;
	char text[WORD];

	if (b->start - a->end < c->p->row_bytes / SMALL_GAP || b->start == a->end)
		return;
	for (i = (size_t)a->last_zone + 1; i < b->zone; i++)
		undrawn += stat_of(&c->s->areas[i], c->p->event) != NULL;
	ink(c->f, c->o, INK_DIM);
	fprintf(c->f, "%*s%s %s %s ", (int)c->address - 1, "", c->sign->gap, c->sign->bar,
		format_bytes(text, b->start - a->end));
	if (undrawn)
		fprintf(c->f, "with %zu region%s not drawn", undrawn, plural(undrawn));
	else if (c->mappings && b->zone == a->last_zone + 1)
		fputs("not mapped", c->f);
	else
		fputs("without samples", c->f);
	ink(c->f, c->o, INK_NONE);
	fputc('\n', c->f);
}

static void put_row_label(const struct canvas *c, size_t row)
{
	const struct da_heat_row *at = &c->p->rows[row];
	char text[WORD];

	if (at->last_zone > at->zone) {
		snprintf(text, sizeof(text), " %" PRIu32 " regions", at->last_zone - at->zone + 1);
		fputs(text, c->f);
	} else if (!row || c->p->rows[row - 1].last_zone != at->zone) {
		fputc(' ', c->f);
		put_text(c->f, label_name(c->s->areas[at->zone].label), c->label - 1, c->o->utf8);
	}
}

static void put_legend(const struct canvas *c)
{
	const struct plan *p = c->p;
	bool unseen = false, lost = false;
	uint64_t low = 1;
	char a[WORD], b[WORD], text[128];
	size_t i;

	for (i = 0; i < p->columns; i++)
		lost |= p->lost[i];
	for (i = 0; i < p->nr_rows * p->columns; i++)
		unseen |= p->unseen[i] && !p->lost[i % p->columns];
	fprintf(c->f, "  samples in a cell: blank 0");
	for (i = 0; i < SHADES; i++) {
		if (!c->upto[i])
			continue;
		fputs("  ", c->f);
		ink(c->f, c->o, INK_HEAT1 + (enum ink)i);
		fputs(c->sign->shade[i], c->f);
		ink(c->f, c->o, INK_NONE);
		if (low == c->upto[i])
			fprintf(c->f, " %s", format_count(a, low));
		else
			fprintf(c->f, " %s-%s", format_count(a, low), format_count(b, c->upto[i]));
		low = c->upto[i] + 1;
	}
	fputc('\n', c->f);
	if (unseen || lost) {
		fputs(" ", c->f);
		if (unseen)
			fprintf(c->f, " %s not observed (0 is not known)", c->sign->unseen);
		if (lost)
			fprintf(c->f, "%s %s samples were lost in this time", unseen ? " " : "",
				c->sign->lost);
		fputc('\n', c->f);
	}
	snprintf(text, sizeof(text),
		 "1 column = %s, 1 row = %s; a count n is good to about +-2 sqrt(n)",
		 format_time(a, (p->t1_ns - p->t0_ns) / p->columns), format_bytes(b, p->row_bytes));
	put_wrapped(c->f, text, 2, c->o->width);
	fputc('\n', c->f);
	if (p->left_regions)
		fprintf(c->f, "  not drawn: %s samples in %zu regions\n",
			format_count(a, p->left_samples), p->left_regions);
}

/* ---- all of it ---- */

static void layout(struct canvas *c)
{
	uint64_t last = c->p->rows[c->p->nr_rows - 1].start;
	unsigned widest = 0;
	size_t i;

	c->address = last >> 48 ? 16 : 12;
	for (i = 0; i < c->p->nr_rows; i++) {
		size_t n = text_columns(label_name(c->s->areas[c->p->rows[i].zone].label));

		widest = n > widest ? (unsigned)n : widest;
	}
	c->label = 1 + (widest < LABEL_MIN ? LABEL_MIN : widest > LABEL_MAX ? LABEL_MAX : widest);
	if (c->label > c->o->width / 4)
		c->label = c->o->width / 4;
}

/* A few samples need no large picture. */
static size_t max_rows(const struct da_space *s, uint32_t event)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < s->nr_areas && n < MAX_ROWS * PER_ROW; i++) {
		const struct da_region_stat *st = stat_of(&s->areas[i], event);

		n += st ? st->samples : 0;
	}
	n = MIN_ROWS + n / PER_ROW;
	return n < MAX_ROWS ? (size_t)n : MAX_ROWS;
}

int render_heat(FILE *f, const struct da_offline_result *r, const struct da_space *s,
		uint32_t event, const struct da_render_opts *o)
{
	struct canvas c = {.f = f,
			   .o = o,
			   .s = s,
			   .sign = o->utf8 ? &unicode : &ascii,
			   .mappings =
				   s->kind == DA_SPACE_VIRTUAL && r->regions != DA_REGIONS_FIXED};
	unsigned frame = 3; /* bars, and the blank after the address */
	size_t rows;
	struct plan p;
	size_t row;
	int err;

	if (!plan_possible(s, event))
		return 0;
	rows = max_rows(s, event);
	err = plan_make(&p, r, s, event, MAX_MAP, rows);
	c.p = &p;
	if (err || !p.nr_rows) {
		plan_release(&p);
		return err;
	}
	layout(&c);
	c.map = o->width - c.address - c.label - frame;
	if (c.map > MAX_MAP)
		c.map = MAX_MAP;
	if (p.columns > c.map) {
		plan_release(&p);
		err = plan_make(&p, r, s, event, c.map, rows);
		if (err) {
			plan_release(&p);
			return err;
		}
	}
	c.cell = c.map / (unsigned)p.columns;
	c.map = c.cell * (unsigned)p.columns;
	choose_shades(&c);
	fputc('\n', f);
	put_time_axis(&c, r->first_ns <= r->last_ns ? r->first_ns : p.t0_ns);
	for (row = 0; row < p.nr_rows; row++) {
		if (row)
			put_gap(&c, row);
		fprintf(f, "%*" PRIx64 " %s", (int)c.address, p.rows[row].start, c.sign->bar);
		put_cells(&c, row);
		fputs(c.sign->bar, f);
		put_row_label(&c, row);
		fputc('\n', f);
	}
	put_legend(&c);
	plan_release(&p);
	return 0;
}
