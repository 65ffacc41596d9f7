/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any text as the facts of a recording. Properties: what is read can be written and reads the same again;
 * every such set of facts is judged, with tallies that are those of its checks and an exit status of the
 * table; whatever the texts in it hold, the JSON that shows it is JSON and the others are free of control
 * characters.
 *
 * Input: a byte of choices, the text. The upper two bits choose which of this is done, for speed: rewriting,
 * or one or two of the renderers.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_facts_json.h"
#include "da_render_verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
	if (!ok)
		abort();
}

/* The first writing makes UTF-8 of whatever the strings hold; from then on nothing may change. */
static void same_again(const struct da_facts *f)
{
	struct da_facts g, h;
	char *a = da_facts_to_json(f), *b, *c;

	must(a != NULL);
	must(da_facts_from_json(a, strlen(a), &g) == 0);
	must(g.nr_events == f->nr_events && g.nr_buffers == f->nr_buffers);
	b = da_facts_to_json(&g);
	must(b != NULL);
	must(da_facts_from_json(b, strlen(b), &h) == 0);
	c = da_facts_to_json(&h);
	must(c && !strcmp(b, c));
	da_facts_release(&g);
	da_facts_release(&h);
	free(a);
	free(b);
	free(c);
}

static void check_tallies(const struct da_event_verdict *e)
{
	unsigned seen[DA_RESULT_NR] = {0};

	for (size_t i = 0; i < e->nr_checks; i++) {
		must(e->checks[i].result < DA_RESULT_NR);
		if (!e->checks[i].note)
			seen[e->checks[i].result]++;
	}
	if (e->checks)
		must(seen[DA_PASS] == e->passed && seen[DA_FAIL] == e->failed &&
		     seen[DA_SKIP] == e->skipped && seen[DA_UNKNOWN] == e->unknown);
	/* a verdict does not contradict its checks */
	must(e->level != DA_LEVEL_FULL || !e->failed);
	must(e->level != DA_LEVEL_PLUMBING || !e->failed);
	must(e->level != DA_LEVEL_UNUSABLE || e->failed);
	must(e->level != DA_LEVEL_BROKEN || e->failed);
}

static void show(const struct da_verdict_view *v,
		 void (*render)(FILE *, const struct da_verdict_view *), bool json)
{
	struct da_json j;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	must(f != NULL);
	render(f, v);
	must(!fclose(f));
	if (json) {
		must(da_json_open(text, len, &j));
		da_json_free(&j);
	}
	for (size_t i = 0; i < len; i++)
		must((unsigned char)text[i] >= 0x20 || text[i] == '\n');
	free(text);
}

enum what { WHAT_AGAIN, WHAT_TEXT, WHAT_JSON, WHAT_TESTS };

static void judge(const struct da_facts *f, struct da_verdict_opts o, enum what what)
{
	struct da_verdict_view view = {.facts = f, .verbose = true, .width = 80};
	struct da_verdict v;

	must(da_verdict_judge(f, &o, &v) == 0);
	must(v.exit_status == 0 || (v.exit_status >= 10 && v.exit_status <= 14));
	must(v.decider < v.nr_events && v.checks == v.events[v.decider].checks && v.checks);
	for (size_t i = 0; i < v.nr_events; i++)
		check_tallies(&v.events[i]);
	view.verdict = &v;
	if (what == WHAT_TEXT)
		show(&view, da_render_verdict_text, false);
	if (what == WHAT_JSON)
		show(&view, da_render_verdict_json, true);
	if (what == WHAT_TESTS) {
		show(&view, da_render_verdict_tap, false);
		show(&view, da_render_verdict_junit, false);
	}
	da_verdict_release(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct da_facts f;
	enum what what;

	if (size < 1 || da_facts_from_json((const char *)data + 1, size - 1, &f))
		return 0;
	what = (enum what)(data[0] >> 6);
	f.live = data[0] & 1;
	f.own_file = data[0] & 2;
	if (what == WHAT_AGAIN)
		same_again(&f);
	else
		judge(&f,
		      (struct da_verdict_opts){.max_drop_pct = data[0] & 4 ? 10 : -1,
					       .min_valid_pct = data[0] & 8 ? 50 : -1,
					       .require_plumbing = data[0] & 16,
					       .any = data[0] & 32},
		      what);
	da_facts_release(&f);
	return 0;
}
