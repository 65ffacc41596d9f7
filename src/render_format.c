/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers, sizes, times and names in the words of the text output, and the arithmetic of shares. No
 * layout: columns are the callers'.
 */
#include "render_format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "utf8.h"

const char *format_count(char out[WORD], uint64_t n)
{
	char digits[WORD];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, n), i, used = 0;

	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = digits[i];
	}
	out[used] = '\0';
	return out;
}

const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

const char *format_bytes(char out[WORD], uint64_t bytes)
{
	static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double v = (double)bytes;
	size_t u = 0;

	while (v >= 1023.95 && u < sizeof(unit) / sizeof(*unit) - 1) {
		v /= 1024;
		u++;
	}
	snprintf(out, WORD, u && v < 99.95 && v != floor(v) ? "%.1f %s" : "%.0f %s", v, unit[u]);
	return out;
}

const char *format_time(char out[WORD], uint64_t ns)
{
	static const char *const unit[] = {"ns", "us", "ms", "s"};
	double v = (double)ns;
	size_t u = 0;

	while (v >= 999.5 && u < sizeof(unit) / sizeof(*unit) - 1) {
		v /= 1000;
		u++;
	}
	snprintf(out, WORD,
		 !u || v >= 99.95 ? "%.0f %s"
		 : v >= 9.995     ? "%.1f %s"
				  : "%.2f %s",
		 v, unit[u]);
	return out;
}

const char *format_pct(char out[WORD], uint64_t n, uint64_t of)
{
	double pct = of ? 100.0 * (double)n / (double)of : 0;

	if (!of)
		snprintf(out, WORD, "-");
	else if (n && pct < 0.05)
		snprintf(out, WORD, "<0.1 %%");
	else if (n < of && pct >= 99.95)
		snprintf(out, WORD, ">99.9 %%"); /* 100 % would say all */
	else
		snprintf(out, WORD, "%.1f %%", pct);
	return out;
}

/* ---- text ---- */

/* One shown character: its bytes (0: not printable, shown as \xNN) and columns. */
static size_t shown(const char *s, size_t *columns)
{
	size_t n = utf8_printable(s);

	*columns = n ? 1 : 4;
	return n;
}

size_t text_columns(const char *text)
{
	size_t sum = 0, columns, n;

	for (; *text; text += n ? n : 1) {
		n = shown(text, &columns);
		sum += columns;
	}
	return sum;
}

static size_t put_upto(FILE *f, const char **text, size_t limit)
{
	size_t used = 0, columns, n;

	while (**text) {
		n = shown(*text, &columns);
		if (used + columns > limit)
			break;
		if (n)
			fwrite(*text, 1, n, f);
		else
			fprintf(f, "\\x%02x", (unsigned char)**text);
		used += columns;
		*text += n ? n : 1;
	}
	return used;
}

size_t put_text(FILE *f, const char *text, size_t limit, bool utf8)
{
	size_t all = text_columns(text), used, columns, n;
	const char *dots = utf8 ? "\xe2\x80\xa6" : "..";
	size_t dots_columns = utf8 ? 1 : 2;

	if (!limit || all <= limit)
		return put_upto(f, &text, SIZE_MAX);
	if (limit <= dots_columns)
		return put_upto(f, &text, limit);
	/* The ends of a name tell more than its middle, and the tail (".so.6 r-x") most. */
	used = put_upto(f, &text, (limit - dots_columns) / 3);
	fputs(dots, f);
	used += dots_columns;
	for (all = text_columns(text); all > limit - used; all -= columns) {
		n = shown(text, &columns);
		text += n ? n : 1;
	}
	return used + put_upto(f, &text, SIZE_MAX);
}

void put_filled(FILE *f, const char *text, size_t at, size_t hang, size_t width)
{
	bool begun = false;
	char word[256];

	while (*(text += strspn(text, " "))) {
		size_t n = strcspn(text, " "), columns;

		n = n < sizeof(word) ? n : sizeof(word) - 1;
		memcpy(word, text, n);
		word[n] = '\0';
		columns = text_columns(word);
		if (begun && at + 1 + columns > width) {
			fprintf(f, "\n%*s", (int)hang, "");
			at = hang;
		} else if (begun) {
			fputc(' ', f);
			at++;
		}
		begun = true;
		at += put_text(f, word, 0, true);
		text += n;
	}
}

void put_wrapped(FILE *f, const char *text, size_t indent, size_t width)
{
	if (*(text += strspn(text, " ")))
		fprintf(f, "%*s", (int)indent, "");
	put_filled(f, text, indent, indent + 4, width);
}

const char *label_name(const char *label)
{
	/* What follows the access bits of a file is no folder: "r-x" holds no slash. */
	const char *slash = *label == '/' && !strstr(label, " + ") ? strrchr(label, '/') : NULL;

	return slash && slash[1] && slash[1] != ' ' ? slash + 1 : label;
}

bool knows_cpu(const struct da_offline_event *e)
{
	return (e->attr->sample_type & DA_SAMPLE_CPU) || e->producer == DA_PROD_SPE;
}

/* ---- shares ---- */

double share_error(double p, uint64_t n)
{
	const double z = 1.959963984540054;
	double m = (double)n;

	if (!n)
		return NAN;
	return z / (1 + z * z / m) * sqrt(p * (1 - p) / m + z * z / (4 * m * m));
}

const struct da_region_stat *stat_of(const struct da_region *r, uint32_t event)
{
	uint32_t i;

	for (i = 0; i < r->nr_by_event; i++)
		if (r->by_event[i].event == event)
			return &r->by_event[i];
	return NULL;
}

void put_process(FILE *f, const struct da_offline_result *r, const struct da_space *s)
{
	uint32_t ns_pid = da_offline_ns_pid(r, s);

	fprintf(f, "Process %" PRIu32 " ", s->pid);
	if (ns_pid)
		fprintf(f, "(%" PRIu32 " in its namespace) ", ns_pid);
}

void totals_of(const struct da_space *s, struct totals *t, const struct da_offline_result *r)
{
	size_t nr_events = r->nr_events;
	size_t i;
	uint32_t k;

	memset(t, 0, nr_events * sizeof(*t));
	for (i = 0; i < s->nr_regions; i++) {
		for (k = 0; k < s->regions[i].nr_by_event; k++) {
			const struct da_region_stat *st = &s->regions[i].by_event[k];

			if (st->event >= nr_events)
				continue;
			t[st->event].samples += st->samples;
			t[st->event].accesses += st->accesses;
			t[st->event].reads += st->reads;
			t[st->event].writes += st->writes;
			t[st->event].regions++;
		}
	}
	for (i = 0; i < nr_events; i++) {
		double part = r->events[i].effective;

		t[i].effective = t[i].samples;
		if (part > 0 && part < 1)
			t[i].effective = (uint64_t)((double)t[i].samples * part + 0.5);
	}
}
