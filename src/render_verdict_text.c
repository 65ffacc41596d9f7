/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A verdict for people: first what is the matter, why, and the command that mends it; then every check; then
 * the counters and the SUMMARY line in the form of the kernel's selftest.
 */
#include <inttypes.h>
#include <string.h>

#include "da_render_lab.h"
#include "da_render_verdict.h"
#include "render_format.h"
#include "render_kernel.h"
#include "utf8.h"

enum ink { INK_NONE, INK_GOOD, INK_BAD, INK_ODD, INK_DIM };

struct out {
	FILE *f;
	bool color;
	unsigned width; /* 0: no wrapping */
};

static void ink(const struct out *o, enum ink i)
{
	static const char *const codes[] = {"\033[0m", "\033[32m", "\033[31m", "\033[33m",
					    "\033[2m"};

	if (o->color)
		fputs(codes[i], o->f);
}

/* One line of text from column `at` on; lines that follow are indented. What a terminal would obey is
 * shown as '?'. A word that is longer than a line stays whole: it may be a command to be copied. */
static void wrapped(const struct out *o, unsigned at, unsigned indent, const char *text)
{
	const char *p = text;
	bool first = true;

	while (*p) {
		const char *word = p;
		unsigned columns = 0;
		size_t n;

		for (; *p && *p != ' '; p += n ? n : 1, columns++)
			n = utf8_printable(p);
		if (!first && o->width && at + 1 + columns > o->width) {
			fprintf(o->f, "\n%*s", (int)indent, "");
			at = indent;
		} else if (!first) {
			fputc(' ', o->f);
			at++;
		}
		first = false;
		at += columns;
		for (; word < p; word += n ? n : 1) {
			n = utf8_printable(word);
			fwrite(n ? word : "?", 1, n ? n : 1, o->f);
		}
		p += strspn(p, " ");
	}
	fputc('\n', o->f);
}

static void put_causes(const struct out *o, const struct da_check *c, unsigned indent, size_t max)
{
	char line[320];

	for (size_t i = 0; i < c->nr_causes && i < max; i++) {
		snprintf(line, sizeof(line), "%s: %s", c->causes[i].id, c->causes[i].evidence);
		fprintf(o->f, "%*scause ", (int)indent, "");
		wrapped(o, indent + 6, indent + 6, line);
		fprintf(o->f, "%*sfix   ", (int)indent, "");
		wrapped(o, indent + 6, indent + 6, c->causes[i].fix);
	}
}

static enum ink ink_of(const struct da_check *c)
{
	if (c->note || c->result == DA_UNKNOWN)
		return INK_ODD;
	return c->result == DA_PASS ? INK_GOOD : c->result == DA_FAIL ? INK_BAD : INK_DIM;
}

static void put_check(const struct out *o, const struct da_check *c, size_t max_causes)
{
	const char *mark = c->note ? "NOTE" : da_result_name(c->result);
	char line[400];

	fputs("  [", o->f);
	ink(o, ink_of(c));
	fputs(mark, o->f);
	ink(o, INK_NONE);
	fputs("] ", o->f);
	snprintf(line, sizeof(line), "%s: %s", c->title, c->evidence);
	wrapped(o, (unsigned)strlen(mark) + 5, 9, line);
	put_causes(o, c, 9, max_causes);
}

/* What makes the verdict what it is: the first checks that failed or could not tell; without one, what
 * left no sample valid. A cause that is shown is not repeated. */
static void put_reasons(const struct out *o, const struct da_event_verdict *e)
{
	enum da_result wanted = e->failed ? DA_FAIL : DA_UNKNOWN;
	const struct da_check *before = NULL;

	for (size_t i = 0; i < e->nr_checks; i++) {
		const struct da_check *c = &e->checks[i];
		bool why = e->level == DA_LEVEL_PLUMBING
				   ? c->note && !strcmp(c->id, "sample.yield")
				   : !c->note && c->result == wanted &&
					     (c->nr_causes || e->kernel ||
					      !strcmp(c->id, "sample.callback"));

		if (!why)
			continue;
		put_check(o, c,
			  before && c->nr_causes && !strcmp(before->causes[0].id, c->causes[0].id)
				  ? 0
				  : 2);
		if (before)
			return;
		before = c;
	}
}

static void put_header(const struct out *o, const struct da_verdict_view *v)
{
	const struct da_verdict *d = v->verdict;
	char line[8 * 258 + 128];
	size_t used;

	da_level_text(d->level, d->broken_at, line, sizeof(line));
	fputs("VERDICT: ", o->f);
	ink(o, d->level == DA_LEVEL_FULL       ? INK_GOOD
	       : d->level == DA_LEVEL_PLUMBING ? INK_ODD
	       : d->level == DA_LEVEL_UNKNOWN  ? INK_ODD
					       : INK_BAD);
	used = strlen(line);
	for (size_t i = 0; i < d->nr_notes && used < sizeof(line); i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, "; %s", d->notes[i]);
	wrapped(o, 9, 9, line);
	ink(o, INK_NONE);
	if (d->level != DA_LEVEL_FULL)
		put_reasons(o, &d->events[d->decider]);
}

static void put_event_table(const struct out *o, const struct da_verdict *d)
{
	char level[64], line[192];

	fputs("\nevents\n", o->f);
	for (size_t i = 0; i < d->nr_events; i++) {
		const struct da_event_verdict *e = &d->events[i];

		da_level_text(e->level, e->broken_at, level, sizeof(level));
		snprintf(line, sizeof(line), "%s: %s (%u passed, %u failed, %u skipped)%s", e->name,
			 level, e->passed, e->failed, e->skipped,
			 i == d->decider ? " <- decides" : "");
		fputs("  ", o->f);
		wrapped(o, 2, 4, line);
	}
}

/* All groups, or only what did not pass. */
static void put_groups(const struct out *o, const struct da_check *c, size_t nr, bool all,
		       bool verbose)
{
	const char *group = "";

	for (size_t i = 0; i < nr; i++) {
		if (!all && !c[i].note && c[i].result == DA_PASS)
			continue;
		if (strcmp(group, c[i].group) != 0) {
			group = c[i].group;
			fprintf(o->f, "%s%s\n", all ? "\n" : " ", group);
		}
		put_check(o, &c[i], verbose || !c[i].note ? 3 : 1);
	}
}

static void add_number(char *line, size_t size, const char *name, uint64_t n, bool measured)
{
	size_t used = strlen(line);

	snprintf(line + used, size - used, "%s%s=", used ? ", " : "", name);
	used = strlen(line);
	if (measured)
		snprintf(line + used, size - used, "%" PRIu64, n);
	else
		snprintf(line + used, size - used, "-"); /* not recorded is not 0 */
}

/* From column `at` on; one line, in the form of the selftest, unless a terminal is too narrow for it. */
static void put_counters(const struct out *o, unsigned at, const struct da_ledger *l, bool ring)
{
	struct da_counters n = da_ledger_counters(l);
	char line[256] = "";

	add_number(line, sizeof(line), "callback", n.callback, true);
	add_number(line, sizeof(line), "valid", n.valid, true);
	add_number(line, sizeof(line), "enqueue", n.enqueue, ring);
	add_number(line, sizeof(line), "dequeue", n.dequeue, ring);
	add_number(line, sizeof(line), "overflow", n.overflow, ring);
	add_number(line, sizeof(line), "match", n.match, true);
	add_number(line, sizeof(line), "update", n.update, true);
	wrapped(o, at, 2, line);
}

static void sum_event(const struct da_facts_event *e, struct da_ledger *sum)
{
	for (size_t i = 0; i < e->nr_cpus; i++)
		da_ledger_add(sum, &e->cpus[i].ledger);
}

/* Columns for up to 80; greater numbers push the line. */
static void put_cpus(const struct out *o, const struct da_facts *f)
{
	fprintf(o->f, "\nper CPU\n  %-12s %4s %-8s %7s %7s %7s %7s %7s %7s\n", "event", "cpu",
		"state", "calls", "valid", "enqueue", "overfl.", "match", "update");
	for (size_t e = 0; e < f->nr_events; e++) {
		for (size_t i = 0; i < f->events[e].nr_cpus; i++) {
			const struct da_facts_cpu *c = &f->events[e].cpus[i];
			struct da_counters n = da_ledger_counters(&c->ledger);
			size_t used = put_text(o->f, "  ", 2, false) +
				      put_text(o->f, f->events[e].name, 12, false);

			fprintf(o->f,
				"%*s %4" PRIu32 " %-8s %7" PRIu64 " %7" PRIu64 " %7" PRIu64
				" %7" PRIu64 " %7" PRIu64 " %7" PRIu64 "\n",
				(int)(14 - used), "", c->cpu,
				c->target_absent ? "absent" : da_state_name(c->state), n.callback,
				n.valid, n.enqueue, n.overflow, n.match, n.update);
		}
	}
}

/* Beside ours, where it was looked for. */
static void put_kernel(const struct out *o, const struct da_verdict_view *v)
{
	const struct da_facts *f = v->facts;
	const struct da_event_verdict *e = &v->verdict->events[v->verdict->nr_events - 1];
	char level[64], title[128];

	if (f->damon && e->kernel) {
		da_level_text(e->level, e->broken_at, level, sizeof(level));
		snprintf(title, sizeof(title), "\nkernel's own pipeline, by its tracepoints: %s",
			 level);
		render_kernel_text(o->f, f->damon, title, v->verbose);
	} else if (f->damon_note[0]) {
		fputs("\nkernel's own pipeline: ", o->f);
		wrapped(o, 23, 2, f->damon_note);
	}
}

static void put_tail(const struct out *o, const struct da_verdict_view *v)
{
	const struct da_verdict *d = v->verdict;
	const struct da_facts *f = v->facts;
	struct da_ledger sum = {0};
	char level[64];

	da_level_text(d->level, d->broken_at, level, sizeof(level));
	for (size_t e = 0; !v->quiet && e < f->nr_events; e++) {
		struct da_ledger one = {0};
		unsigned at;

		sum_event(&f->events[e], &one);
		da_ledger_add(&sum, &one);
		if (f->nr_events < 2)
			continue;
		at = (unsigned)put_text(o->f, f->events[e].name, 0, true);
		fputs(": ", o->f);
		put_counters(o, at + 2, &one, d->ring_recorded);
	}
	if (!v->quiet && (f->nr_events || !f->damon)) /* else nothing of ours ran */
		put_counters(o, 0, &sum, d->ring_recorded);
	fprintf(o->f, "SUMMARY: %u passed, %u failed, %u skipped", d->passed, d->failed,
		d->skipped);
	if (d->unknown)
		fprintf(o->f, ", %u unknown", d->unknown);
	fprintf(o->f, " (%s)\n", level);
}

void da_render_verdict_text(FILE *f, const struct da_verdict_view *v)
{
	const struct da_verdict *d = v->verdict;
	struct out o = {.f = f, .color = v->color, .width = v->width};

	if (v->quiet) {
		put_tail(&o, v);
		return;
	}
	put_header(&o, v);
	if (d->nr_events > 1)
		put_event_table(&o, d);
	put_groups(&o, d->checks, d->nr_checks, true, v->verbose);
	for (size_t i = 0; i < d->nr_events; i++) {
		const struct da_event_verdict *e = &d->events[i];

		if (i == d->decider || (e->level == DA_LEVEL_FULL && !v->verbose))
			continue;
		fputs("\nevent ", f);
		wrapped(&o, 6, 6, e->name);
		put_groups(&o, e->checks, e->nr_checks, v->verbose, v->verbose);
	}
	if (v->facts->nr_events &&
	    (v->verbose || (d->level != DA_LEVEL_FULL && d->level != DA_LEVEL_PLUMBING)))
		put_cpus(&o, v->facts);
	put_kernel(&o, v);
	if (v->compare) {
		fputc('\n', f);
		da_render_compare_text(f, v->compare);
	}
	if (v->lab) {
		fputc('\n', f);
		da_render_lab_text(f, v->lab, v->width);
	}
	fputc('\n', f);
	put_tail(&o, v);
}
