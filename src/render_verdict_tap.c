/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A verdict for test harnesses: KTAP version 1 and JUnit XML. Both have one test more than there are checks:
 * the verdict that was required, so that a harness that knows only "ok" sees when it was not reached.
 */
#include <string.h>

#include "da_render_verdict.h"
#include "utf8.h"

static const char *required(const struct da_verdict *d)
{
	return d->exit_status == 14 ? "within --max-drop and --min-valid" : "as required";
}

static size_t nr_tests(const struct da_event_verdict *e)
{
	size_t n = 0;

	for (size_t i = 0; i < e->nr_checks; i++)
		n += !e->checks[i].note;
	return n;
}

/* ---- KTAP ---- */

/* One line; '#' would begin a directive. */
static void tap_text(FILE *f, const char *s)
{
	size_t n;

	for (; *s; s += n ? n : 1) {
		n = *s == '#' ? 0 : utf8_printable(s);
		fwrite(n ? s : "?", 1, n ? n : 1, f);
	}
}

static void tap_comment(FILE *f, const char *what, const char *text)
{
	fprintf(f, "# %s", what);
	tap_text(f, text);
	fputc('\n', f);
}

static void tap_check(FILE *f, const struct da_check *c, size_t nr, const char *event)
{
	if (c->note) {
		tap_comment(f, "note: ", c->title);
		tap_comment(f, "  ", c->evidence);
	} else {
		fprintf(f, "%s %zu - ", c->result == DA_FAIL ? "not ok" : "ok", nr);
		if (event) {
			tap_text(f, event);
			fputc(' ', f);
		}
		tap_text(f, c->id);
		if (c->result == DA_SKIP || c->result == DA_UNKNOWN) {
			fprintf(f, " # SKIP %s", c->result == DA_UNKNOWN ? "unknown: " : "");
			tap_text(f, c->evidence);
		}
		fputc('\n', f);
		if (c->result != DA_SKIP && c->result != DA_UNKNOWN)
			tap_comment(f, "  ", c->evidence);
	}
	for (size_t i = 0; i < c->nr_causes; i++) {
		tap_comment(f, "  cause: ", c->causes[i].id);
		tap_comment(f, "    evidence: ", c->causes[i].evidence);
		tap_comment(f, "    fix: ", c->causes[i].fix);
	}
}

void da_render_verdict_tap(FILE *f, const struct da_verdict_view *v)
{
	const struct da_verdict *d = v->verdict;
	size_t nr = 1, at = 0;
	char level[64];

	for (size_t e = 0; e < d->nr_events; e++)
		nr += nr_tests(&d->events[e]);
	fprintf(f, "KTAP version 1\n1..%zu\n", nr);
	for (size_t e = 0; e < d->nr_events; e++) {
		const struct da_event_verdict *x = &d->events[e];

		for (size_t i = 0; i < x->nr_checks; i++) {
			at += !x->checks[i].note;
			tap_check(f, &x->checks[i], at, d->nr_events > 1 ? x->name : NULL);
		}
	}
	for (size_t i = 0; i < d->nr_notes; i++)
		tap_comment(f, "note: ", d->notes[i]);
	da_level_text(d->level, d->broken_at, level, sizeof(level));
	fprintf(f, "%s %zu - verdict %s: %s\n", d->exit_status ? "not ok" : "ok", nr, required(d),
		level);
	fprintf(f, "# SUMMARY: %u passed, %u failed, %u skipped, %u unknown (%s)\n", d->passed,
		d->failed, d->skipped, d->unknown, level);
}

/* ---- JUnit ---- */

static void xml_text(FILE *f, const char *s)
{
	size_t n;

	for (; *s; s += n ? n : 1) {
		n = utf8_printable(s);
		if (n == 0)
			fputc('?', f);
		else if (*s == '&')
			fputs("&amp;", f);
		else if (*s == '<')
			fputs("&lt;", f);
		else if (*s == '>')
			fputs("&gt;", f);
		else if (*s == '"')
			fputs("&quot;", f);
		else if (n == 3 && !memcmp(s, "\xef\xbf", 2) && (unsigned char)s[2] >= 0xbe)
			fputc('?', f); /* U+FFFE and U+FFFF are not XML characters */
		else
			fwrite(s, 1, n, f);
	}
}

static void xml_attribute(FILE *f, const char *name, const char *value)
{
	fprintf(f, " %s=\"", name);
	xml_text(f, value);
	fputc('"', f);
}

static void xml_causes(FILE *f, const struct da_check *c)
{
	for (size_t i = 0; i < c->nr_causes; i++) {
		fputs("\n", f);
		xml_text(f, c->causes[i].id);
		fputs(": ", f);
		xml_text(f, c->causes[i].evidence);
		fputs("\n  fix: ", f);
		xml_text(f, c->causes[i].fix);
	}
}

static void xml_check(FILE *f, const struct da_check *c)
{
	fputs("    <testcase", f);
	xml_attribute(f, "classname", c->group);
	xml_attribute(f, "name", c->id);
	fputs(">\n", f);
	if (c->result == DA_FAIL) {
		fputs("      <failure", f);
		xml_attribute(f, "message", c->evidence);
		fputs(">", f);
		xml_causes(f, c);
		fputs("\n      </failure>\n", f);
	} else if (c->result == DA_SKIP || c->result == DA_UNKNOWN) {
		fputs("      <skipped", f);
		xml_attribute(f, "message", c->evidence);
		fputs("/>\n", f);
	} else {
		fputs("      <system-out>", f);
		xml_text(f, c->evidence);
		fputs("</system-out>\n", f);
	}
	fputs("    </testcase>\n", f);
}

static void xml_notes(FILE *f, const struct da_verdict *d)
{
	if (!d->nr_notes)
		return;
	fputs("      <system-out>", f);
	for (size_t i = 0; i < d->nr_notes; i++) {
		xml_text(f, d->notes[i]);
		fputs("\n", f);
	}
	fputs("</system-out>\n", f);
}

static void xml_required(FILE *f, const struct da_verdict *d)
{
	char level[64];

	da_level_text(d->level, d->broken_at, level, sizeof(level));
	fprintf(f,
		"  <testsuite name=\"verdict\" tests=\"1\" failures=\"%d\" errors=\"0\" skipped=\"0\">\n",
		d->exit_status != 0);
	fputs("    <testcase classname=\"verdict\" name=\"verdict\">\n", f);
	if (d->exit_status) {
		fputs("      <failure", f);
		xml_attribute(f, "message", level);
		fprintf(f, ">exit status %d</failure>\n", d->exit_status);
	}
	xml_notes(f, d);
	fputs("    </testcase>\n  </testsuite>\n", f);
}

void da_render_verdict_junit(FILE *f, const struct da_verdict_view *v)
{
	const struct da_verdict *d = v->verdict;

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"damon-attrs diagnose\">\n",
	      f);
	for (size_t e = 0; e < d->nr_events; e++) {
		const struct da_event_verdict *x = &d->events[e];

		fputs("  <testsuite", f);
		xml_attribute(f, "name", x->name[0] ? x->name : "diagnose");
		fprintf(f, " tests=\"%zu\" failures=\"%u\" errors=\"0\" skipped=\"%u\">\n",
			nr_tests(x), x->failed, x->skipped + x->unknown);
		for (size_t i = 0; i < x->nr_checks; i++)
			if (!x->checks[i].note)
				xml_check(f, &x->checks[i]);
		fputs("  </testsuite>\n", f);
	}
	xml_required(f, d);
	fputs("</testsuites>\n", f);
}
