/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables of `diagnose --coverage` and `--list`. Nothing is measured here.
 */
#include "da_coverage.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "da_json.h"
#include "render_format.h"

#define MAIL_WIDTH 72

static double share(uint64_t n, uint64_t of)
{
	return of ? (double)n / (double)of : NAN;
}

/* "98.9 0.4": percent and the half of its 95 % interval. */
static void put_share(FILE *f, uint64_t n, uint64_t of)
{
	double p = share(n, of);

	if (isnan(p))
		fprintf(f, " %6s %4s", "-", "-");
	else
		fprintf(f, " %6.1f %4.1f", 100 * p, 100 * share_error(p, of));
}

/* Without an interval: it is the loop's own mix, as the source sees it. */
static void put_mix(FILE *f, uint64_t n, uint64_t of)
{
	double p = share(n, of);

	if (isnan(p))
		fprintf(f, " %5s", "-");
	else
		fprintf(f, " %5.1f", 100 * p);
}

static void put_table(FILE *f, const struct da_coverage *c)
{
	const char *last = "";

	fprintf(f, "%-14s %-13s %7s %6s %4s %6s %4s %5s %5s\n", "SOURCE", "LOOP", "SAMPLES",
		"ADDR%", "+-", "BUFF%", "+-", "LOAD%", "STOR%");
	for (size_t i = 0; i < c->nr; i++) {
		const struct da_coverage_row *r = &c->row[i];
		size_t used = put_text(f, strcmp(last, r->source) ? r->source : "", 14, false);

		last = r->source;
		fprintf(f, "%*s %-13s", (int)(14 - used), "", r->loop);
		if (r->why[0]) {
			fputc(' ', f);
			put_text(f, r->why, MAIL_WIDTH - 29, false);
			fputc('\n', f);
			continue;
		}
		fprintf(f, " %7" PRIu64, r->samples);
		put_share(f, r->valid, r->samples);
		put_share(f, r->inside, r->samples);
		put_mix(f, r->loads, r->inside);
		put_mix(f, r->stores, r->inside);
		fputc('\n', f);
	}
}

static void put_legend(FILE *f)
{
	fputs("\n"
	      "ADDR%  samples with an address; BUFF%  with one in the loop's buffer;\n"
	      "+-     half of the 95 % interval; LOAD%, STOR%  of those in the buffer\n"
	      "(a read-modify-write is both).\n",
	      f);
}

void da_render_coverage_text(FILE *f, const struct da_coverage *c)
{
	put_table(f, c);
	put_legend(f);
}

void da_render_coverage_mail(FILE *f, const struct da_coverage *c)
{
	char command[sizeof(c->command) + 2];

	snprintf(command, sizeof(command), "$ %s", c->command);
	fputs("Share of samples with an address, and with one inside the buffer of a\n"
	      "loop of known truth (one run per source and loop):\n\n",
	      f);
	put_table(f, c);
	put_legend(f);
	fputs("\n", f);
	put_wrapped(f, c->cpu[0] ? c->cpu : "CPU unknown", 0, MAIL_WIDTH);
	fputc('\n', f);
	put_wrapped(f, c->kernel, 0, MAIL_WIDTH);
	fputc('\n', f);
	put_wrapped(f, command, 0, MAIL_WIDTH);
	fputc('\n', f);
}

static void put_pct(struct da_json_out *w, const char *key, const char *error, uint64_t n,
		    uint64_t of)
{
	double p = share(n, of);

	da_json_double(w, key, 100 * p);
	if (error)
		da_json_double(w, error, isnan(p) ? NAN : 100 * share_error(p, of));
}

void da_render_coverage_json(FILE *f, const struct da_coverage *c)
{
	struct da_json_out w;

	da_json_begin(&w, f, false);
	da_json_object(&w, NULL);
	da_json_u64(&w, "schema_version", 1);
	da_json_string(&w, "cpu", c->cpu);
	da_json_string(&w, "kernel", c->kernel);
	da_json_string(&w, "command", c->command);
	da_json_array(&w, "rows");
	for (size_t i = 0; i < c->nr; i++) {
		const struct da_coverage_row *r = &c->row[i];

		da_json_flat_object(&w, NULL);
		da_json_string(&w, "source", r->source);
		da_json_string(&w, "loop", r->loop);
		da_json_u64(&w, "samples", r->samples);
		da_json_u64(&w, "valid", r->valid);
		da_json_u64(&w, "inside", r->inside);
		da_json_u64(&w, "loads", r->loads);
		da_json_u64(&w, "stores", r->stores);
		put_pct(&w, "address_pct", "address_error", r->valid, r->samples);
		put_pct(&w, "inside_pct", "inside_error", r->inside, r->samples);
		da_json_string(&w, "why", r->why[0] ? r->why : NULL);
		da_json_close(&w);
	}
	da_json_close(&w);
	da_json_close(&w);
	da_json_finish(&w);
}

void da_render_sources_text(FILE *f, const struct da_source *s, size_t nr, unsigned width)
{
	size_t columns = width ? width : 80;

	fprintf(f, "%-13s %-5s %s\n", "SOURCE", "HERE", "ADDRESS; WHAT TO KNOW");
	for (size_t i = 0; i < nr; i++) {
		char line[400];

		fprintf(f, "%-13s %-5s ", s[i].name, s[i].opens ? "yes" : "no");
		if (s[i].opens)
			snprintf(line, sizeof(line), "%s; %s", s[i].address, s[i].note);
		else
			snprintf(line, sizeof(line), "%s", s[i].note);
		put_filled(f, line, 20, 20, columns);
		fputc('\n', f);
	}
}

void da_render_sources_json(FILE *f, const struct da_source *s, size_t nr)
{
	struct da_json_out w;

	da_json_begin(&w, f, false);
	da_json_object(&w, NULL);
	da_json_u64(&w, "schema_version", 1);
	da_json_array(&w, "sources");
	for (size_t i = 0; i < nr; i++) {
		da_json_flat_object(&w, NULL);
		da_json_string(&w, "name", s[i].name);
		da_json_bool(&w, "opens", s[i].opens);
		da_json_string(&w, "event", s[i].opened[0] ? s[i].opened : NULL);
		da_json_string(&w, "address", s[i].address);
		da_json_string(&w, "note", s[i].note);
		da_json_close(&w);
	}
	da_json_close(&w);
	da_json_close(&w);
	da_json_finish(&w);
}
