/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * damon-attrs diagnose: a short run (or a recording), its facts to the judge, the verdict to a renderer and
 * to the exit status. It judges nothing itself.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baseline.h"
#include "beside.h"
#include "cmd.h"
#include "da_render_verdict.h"
#include "evidence.h"
#include "pager.h"
#include "run.h"
#include "survey.h"
#include "whatif.h"

#define DAMAGED 5 /* exit status: what could be read was judged */

enum {
	OPT_MAX_DROP = 0x100,
	OPT_MIN_VALID,
	OPT_REQUIRE,
	OPT_ANY,
	OPT_FORMAT,
	OPT_COLOR,
	OPT_WHAT_IF,
	OPT_BASELINE,
	OPT_WATCH,
	OPT_KERNEL_VS_USER,
	OPT_LIST,
	OPT_COVERAGE
};

static const struct format {
	const char *name;
	void (*render)(FILE *f, const struct da_verdict_view *v);
} formats[] = {
	{"text", da_render_verdict_text},
	{"json", da_render_verdict_json},
	{"tap", da_render_verdict_tap},
	{"junit", da_render_verdict_junit},
};

struct args {
	struct opts_events ev;
	const char *input, *output, *color, *baseline;
	const struct format *format;
	struct da_verdict_opts limits;
	bool quiet, verbose, what_if, list, coverage, versus;
	uint64_t watch_ns; /* 0: no --watch */
	const char *models[WHATIF_MAX];
	size_t nr_models;
};

/* What goes into the verdict. */
struct found {
	struct evidence ev;
	struct da_lab_plan lab;
	struct da_compare compare;
	bool has_lab, has_baseline;
};

/* clang-format off */
static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "What to judge:", 1},
	{"input", 'i', "FILE", 0, "A recording (ours or any perf.data) instead of a run now; -e picks events of it", 1},
	{"what-if", OPT_WHAT_IF, "MODEL", OPTION_ARG_OPTIONAL, "With -i: replay its reports through other report buffers; MODEL is one more, KEY=VALUE,...", 1},
	{"list", OPT_LIST, NULL, 0, "What each source could do here: opened, not run", 1},
	{"coverage", OPT_COVERAGE, NULL, 0, "Run each -e (every source that opens) on loops of known truth", 1},
	{"watch", OPT_WATCH, "TIME", OPTION_ARG_OPTIONAL, "Until it ends, print a line of rates every TIME (1s)", 1},
	{"kernel-vs-user", OPT_KERNEL_VS_USER, NULL, 0, "Compare with the kernel's own pipeline, whose sampler -e names", 1},
	{"baseline", OPT_BASELINE, "FILE", 0, "Compare with FILE: a recording, or what --format=json wrote", 1},
	{NULL, 0, NULL, 0, "What must hold (else the exit status says so):", 6},
	{"max-drop", OPT_MAX_DROP, "PCT", 0, "At most PCT percent of reports or samples lost (exit 14)", 6},
	{"min-valid", OPT_MIN_VALID, "PCT", 0, "At least PCT percent of samples with an address (exit 14)", 6},
	{"require", OPT_REQUIRE, "LEVEL", 0, "full (default), or plumbing: PLUMBING-ONLY too", 6},
	{"any", OPT_ANY, NULL, 0, "The best of the events decides, not the worst", 6},
	{NULL, 0, NULL, 0, "Output:", 7},
	{"format", OPT_FORMAT, "NAME", 0, "text (default), json, tap, junit; of --coverage also mail", 7},
	{"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 7},
	{"quiet", 'q', NULL, 0, "Only the SUMMARY line, no warnings", 7},
	{"verbose", 'v', NULL, 0, "All causes, and the counters of every CPU", 7},
	{"color", OPT_COLOR, "WHEN", OPTION_ARG_OPTIONAL, "auto (default), always, never", 7},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Judges every layer of the pipeline: create, bind, enable, sample, ring, match, update.\v"
	"Without COMMAND it runs a workload of its own for a second.\n\n"
	"Exit status: 0 FULLY INTEGRATED, 10 PLUMBING-ONLY, 11 UNUSABLE, 12 BROKEN AT a layer, 13 UNKNOWN, "
	"14 beyond --max-drop or --min-valid; 1 it could not be judged, 2 wrong usage, 5 damaged input.";
/* clang-format on */

/* ---- options ---- */

/* Of --coverage only. */
static const struct format survey_mail = {"mail", NULL};

static const struct format *format_of(const char *name)
{
	if (!strcmp(name, survey_mail.name))
		return &survey_mail;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static void add_model(struct args *a, const char *text, const struct argp_state *state)
{
	struct da_error err = {0};

	if (whatif_check(text, &err))
		opts_usage(state, "%s", err.msg);
	if (a->nr_models == WHATIF_MAX)
		opts_usage(state, "more than %d models for --what-if", WHATIF_MAX);
	a->models[a->nr_models++] = text;
}

/* --list and --coverage judge nothing: they take no recording, no command and no target. */
static void check_survey(const struct args *a, const struct argp_state *state)
{
	const char *what = a->list ? "--list" : "--coverage", *format = a->format->name;

	if (a->list && a->coverage)
		opts_usage(state, "--list or --coverage, not both");
	if (a->input || a->what_if || a->baseline || a->watch_ns)
		opts_usage(state, "%s runs by itself: no -i, --what-if, --baseline or --watch",
			   what);
	if (a->ev.command || a->ev.target != DA_TARGET_NONE)
		opts_usage(state, "%s has loops of its own: no COMMAND, -p, -t or -a", what);
	if (strcmp(format, "text") != 0 && strcmp(format, "json") != 0 &&
	    !(a->coverage && a->format == &survey_mail))
		opts_usage(state, "%s is shown as text%s or json", what,
			   a->coverage ? ", mail" : "");
}

static void check_args(const struct args *a, const struct argp_state *state)
{
	if (a->what_if && (!a->input || !strcmp(a->input, "-")))
		opts_usage(state, "--what-if reads a recording twice: it needs -i FILE");
	if (a->what_if && strcmp(a->format->name, "text") != 0 &&
	    strcmp(a->format->name, "json") != 0)
		opts_usage(state, "--what-if is shown as text or json");
	if (a->baseline && strcmp(a->format->name, "text") != 0 &&
	    strcmp(a->format->name, "json") != 0)
		opts_usage(state, "--baseline is shown as text or json");
	if (a->list || a->coverage)
		check_survey(a, state);
	else if (a->format == &survey_mail)
		opts_usage(state, "--format=mail goes with --coverage");
	if (a->versus && (a->input || a->watch_ns || a->list || a->coverage))
		opts_usage(state,
			   "--kernel-vs-user makes a run: no -i, --watch, --list or --coverage");
	if (a->watch_ns && a->input)
		opts_usage(state, "--watch looks at a run, not at a recording");
	if (!a->input)
		return;
	if (a->ev.command)
		opts_usage(state, "-i judges a recording: no COMMAND goes with it");
	if (a->ev.target != DA_TARGET_NONE || a->ev.cpu_list || a->ev.pmu)
		opts_usage(state, "-i judges a recording: -p, -t, -a, -C and --pmu are for a run");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	bool color;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->ev;
		break;
	case 'i':
		a->input = arg;
		break;
	case 'o':
		a->output = arg;
		break;
	case 'q':
		a->quiet = true;
		break;
	case 'v':
		a->verbose = true;
		break;
	case OPT_MAX_DROP:
		if (opts_percent(arg, &a->limits.max_drop_pct))
			opts_usage(state, "bad percentage '%s' for --max-drop", arg);
		break;
	case OPT_MIN_VALID:
		if (opts_percent(arg, &a->limits.min_valid_pct))
			opts_usage(state, "bad percentage '%s' for --min-valid", arg);
		break;
	case OPT_REQUIRE:
		a->limits.require_plumbing = !strcmp(arg, "plumbing");
		if (!a->limits.require_plumbing && strcmp(arg, "full") != 0)
			opts_usage(state, "unknown level '%s' (wanted: full, plumbing)", arg);
		break;
	case OPT_WHAT_IF:
		a->what_if = true;
		if (arg)
			add_model(a, arg, state);
		break;
	case OPT_LIST:
		a->list = true;
		break;
	case OPT_COVERAGE:
		a->coverage = true;
		break;
	case OPT_WATCH:
		a->watch_ns = 1000000000;
		if (arg && (opts_duration(arg, 1000000000, &a->watch_ns) || a->watch_ns < 10000000))
			opts_usage(state, "bad interval '%s' for --watch (wanted: 10ms or more)",
				   arg);
		break;
	case OPT_KERNEL_VS_USER:
		a->versus = true;
		break;
	case OPT_BASELINE:
		a->baseline = arg;
		break;
	case OPT_ANY:
		a->limits.any = true;
		break;
	case OPT_FORMAT:
		a->format = format_of(arg);
		if (!a->format)
			opts_usage(state, "unknown format '%s' (wanted: text, json, tap, junit)",
				   arg);
		break;
	case OPT_COLOR:
		a->color = arg ? arg : "always";
		if (opts_color(a->color, stdout, &color))
			opts_usage(state, "bad '%s' for --color (wanted: auto, always, never)",
				   arg);
		break;
	case ARGP_KEY_SUCCESS:
		check_args(a, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* ---- evidence ---- */

static int from_run(const struct args *a, int argc, char **argv, struct evidence *ev)
{
	struct evidence_run r = {
		.argc = argc,
		.argv = argv,
		.watch_ns = a->watch_ns,
		.watch_to = strcmp(a->format->name, "text") || a->quiet ? stderr : stdout,
		.versus = a->versus,
		.own_stdout = a->output, /* else the verdict goes there */
		.quiet = a->quiet,
		.verbose = a->verbose,
	};

	return evidence_from_run(&a->ev, &r, ev);
}

/* The kernel's sampler and all that it may see, where the options do not say otherwise. */
static int like_kernel(struct args *a, int argc, char **argv, struct evidence *ev)
{
	struct da_error err = {0};
	char event[160];
	int rc;

	if (!a->ev.command && a->ev.target == DA_TARGET_NONE)
		a->ev.target = DA_TARGET_SYSTEM;
	rc = beside_possible(&err); /* a run for nothing would be a pity */
	if (!rc && !a->ev.events && !a->ev.pmu) {
		rc = beside_event(event, sizeof(event), &err);
		a->ev.events = rc ? NULL : strdup(event);
		if (!rc && !a->ev.events)
			rc = da_fail(&err, DA_ENOMEM, 0, "out of memory");
	}
	if (!rc)
		return from_run(a, argc, argv, ev);
	fprintf(stderr, "damon-attrs: error: --kernel-vs-user: %s\n", err.msg);
	return run_error_status(&err);
}

/* Events of -e; malloc'ed, pointers into text, which is cut. */
static const char **split_events(char *text, size_t *nr)
{
	const char **list = calloc(strlen(text) + 1, sizeof(*list));

	for (*nr = 0; list; text++) {
		list[(*nr)++] = text;
		text += opts_event_len(text);
		if (!*text)
			break;
		*text = '\0';
	}
	return list;
}

static void keep_conclusion(const struct da_lab_plan *p, struct da_facts *f)
{
	snprintf(f->drops_cause, sizeof(f->drops_cause), "%s", p->cause);
	snprintf(f->drops_evidence, sizeof(f->drops_evidence), "%s", p->evidence);
	snprintf(f->drops_advice, sizeof(f->drops_advice), "%s", p->advice);
}

static int from_file(const struct args *a, struct found *f)
{
	const char **events = NULL;
	struct da_error err = {0};
	size_t nr = 0;
	int rc = 0;

	if (a->ev.events) {
		events = split_events(a->ev.events, &nr);
		if (!events)
			rc = da_fail(&err, DA_ENOMEM, 0, "out of memory");
	}
	if (!rc)
		rc = evidence_from_file(a->input, events, nr, a->quiet, &f->ev, &err);
	if (!rc && a->what_if && f->ev.from_file) {
		f->has_lab = true;
		rc = whatif_run(a->input, events, nr, &f->ev.facts, f->ev.regions, a->models,
				a->nr_models, &f->lab, &err);
		if (!rc)
			keep_conclusion(&f->lab, &f->ev.facts);
	}
	free(events);
	return rc ? run_failed(&err) : 0;
}

/* ---- verdict ---- */

/* To standard output, through a pager if it is text for people and longer than their terminal. */
static int write_stdout(const struct args *a, struct da_verdict_view *v)
{
	unsigned columns, rows;
	char *text = NULL;
	size_t len = 0;
	FILE *m;

	opts_color(a->color, stdout, &v->color);
	v->width = pager_terminal(&columns, &rows) ? columns : 0;
	m = open_memstream(&text, &len);
	if (!m) {
		fputs("damon-attrs: error: out of memory\n", stderr);
		return 1;
	}
	a->format->render(m, v);
	fclose(m);
	if (text && v->width && !strcmp(a->format->name, "text"))
		pager_text(text, len);
	else if (text)
		fwrite(text, 1, len, stdout);
	free(text);
	return v->verdict->exit_status; /* main() looks whether stdout took it */
}

static int write_file(const struct args *a, struct da_verdict_view *v)
{
	FILE *f = fopen(a->output, "we");
	int saved;

	if (f) {
		opts_color(a->color, f, &v->color);
		a->format->render(f, v);
		saved = ferror(f) ? EIO : 0;
		if (!fclose(f) && !saved)
			return v->verdict->exit_status;
		errno = saved ? saved : errno;
	}
	fprintf(stderr, "damon-attrs: error: cannot write '%s': %s\n", a->output, strerror(errno));
	return 1;
}

static int write_verdict(const struct args *a, const struct found *f, const struct da_verdict *d)
{
	struct da_verdict_view v = {
		.verdict = d,
		.facts = &f->ev.facts,
		.decode = f->ev.from_file ? &f->ev.decode : NULL,
		.recorded = f->ev.recorded,
		.resync_bytes = f->ev.resync_bytes,
		.lab = f->has_lab ? &f->lab : NULL,
		.compare = f->has_baseline ? &f->compare : NULL,
		.verbose = a->verbose,
		.quiet = a->quiet,
	};

	return a->output && strcmp(a->output, "-") != 0 ? write_file(a, &v) : write_stdout(a, &v);
}

static void note(struct da_verdict *d, const char *text)
{
	if (d->nr_notes < sizeof(d->notes) / sizeof(d->notes[0]))
		snprintf(d->notes[d->nr_notes++], sizeof(d->notes[0]), "%s", text);
}

static int judge(const struct args *a, struct found *f)
{
	struct da_verdict d;
	int status;

	if (da_verdict_judge(&f->ev.facts, &a->limits, &d)) {
		fputs("damon-attrs: error: out of memory\n", stderr);
		return 1;
	}
	if (f->ev.note[0])
		note(&d, f->ev.note);
	if (f->ev.damaged) {
		note(&d, "the input is damaged: judged is what could be read");
		if (!d.exit_status)
			d.exit_status = DAMAGED;
	}
	if (a->baseline) {
		da_compare_take(&f->compare.side[1], a->input ? a->input : "this run", &f->ev.facts,
				&d);
		da_compare(&f->compare);
	}
	status = write_verdict(a, f, &d);
	da_verdict_release(&d);
	return status;
}

static int survey(const struct args *a, int argc, char **argv)
{
	enum survey_format format = !strcmp(a->format->name, "json") ? SURVEY_JSON
				    : a->format == &survey_mail      ? SURVEY_MAIL
								     : SURVEY_TEXT;

	return a->list ? survey_list(a->output, format)
		       : survey_coverage(&a->ev, argc, argv, a->quiet, a->output, format);
}

int cmd_diagnose(int argc, char **argv)
{
	static const struct argp_child children[] = {{&opts_events_argp, 0, NULL, 0},
						     {NULL, 0, NULL, 0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[--] [COMMAND [ARG...]]",
		.doc = doc,
		.children = children,
	};
	struct args a = {.ev = {.target = DA_TARGET_NONE},
			 .format = &formats[0],
			 .limits = {.max_drop_pct = -1, .min_valid_pct = -1}};
	struct found f = {.ev = {.resync_bytes = -1}};
	struct da_error err = {0};
	int status;

	opts_parse(&argp, argc, argv, &a);
	/* the baseline first: a run for nothing would be a pity */
	f.has_baseline = a.baseline;
	if (a.list || a.coverage)
		status = survey(&a, argc, argv);
	else if (a.baseline && baseline_read(a.baseline, &f.compare.side[0], &err))
		status = run_failed(&err);
	else if (a.versus)
		status = like_kernel(&a, argc, argv, &f.ev);
	else
		status = a.input ? from_file(&a, &f) : from_run(&a, argc, argv, &f.ev);
	if (!status && !a.list && !a.coverage)
		status = judge(&a, &f);
	evidence_release(&f.ev);
	da_lab_plan_release(&f.lab);
	opts_events_release(&a.ev);
	return status;
}
