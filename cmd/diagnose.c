/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * damon-attrs diagnose: a short run (or a recording), its facts to the judge, the verdict to a renderer and
 * to the exit status. It judges nothing itself.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "baseline.h"
#include "cmd.h"
#include "coverage.h"
#include "da_damo.h"
#include "da_facts_offline.h"
#include "da_render_verdict.h"
#include "pager.h"
#include "run.h"
#include "watch.h"
#include "whatif.h"

#define WORKLOAD_NS 1000000000ull /* of the built-in workload */
#define WATCH_WORKLOAD_NS                                                                          \
	(24 * 3600 * 1000000000ull) /* of the built-in workload with --watch: Ctrl-C ends it */
#define WATCH_NS 3000000000ull      /* of a process that was given without a duration */
#define DAMAGED  5                  /* exit status: what could be read was judged */

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
	bool quiet, verbose, what_if, list, coverage;
	uint64_t watch_ns; /* 0: no --watch */
	const char *models[WHATIF_MAX];
	size_t nr_models;
};

/* What is judged, and what a recording added to it. */
struct evidence {
	struct da_facts facts, decode;
	bool from_file, recorded, damaged;
	int64_t resync_bytes;
	uint64_t regions; /* of the space that has most of them */
	struct da_lab_plan lab;
	struct da_compare compare;
	bool has_lab, has_baseline;
	char note[160]; /* what there was instead of a recording */
};

/* clang-format off */
static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "What to judge:", 1},
	{"input", 'i', "FILE", 0, "A recording (ours or any perf.data) instead of a run now; -e picks events of it", 1},
	{"what-if", OPT_WHAT_IF, "MODEL", OPTION_ARG_OPTIONAL, "With -i: replay its reports through other report buffers; MODEL is one more, KEY=VALUE,...", 1},
	{"list", OPT_LIST, NULL, 0, "What each source could do here: opened, not run", 1},
	{"coverage", OPT_COVERAGE, NULL, 0, "Run each -e (every source that opens) on loops of known truth", 1},
	{"watch", OPT_WATCH, "TIME", OPTION_ARG_OPTIONAL, "Until it ends, print a line of rates every TIME (1s)", 1},
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

/* ---- evidence from a run ---- */

static int fail(const struct da_error *err)
{
	fprintf(stderr, "damon-attrs: error: %s\n", err->msg);
	return run_error_status(err);
}

/* The event cannot even be written down for this machine: that is what the judge shall say, and why. */
static int no_event_facts(const char *text, const struct da_error *err, struct da_facts *f)
{
	struct da_facts_event *e = calloc(1, sizeof(*e));
	struct da_facts_cpu *c = calloc(1, sizeof(*c));

	da_facts_init(f);
	if (!e || !c) {
		free(e);
		free(c);
		return -DA_ENOMEM;
	}
	da_facts_machine(f);
	f->live = true;
	f->target = DA_TARGET_NONE;
	f->target_ok = f->clock_ok = f->counters_zero = f->no_old_state = true;
	snprintf(f->error, sizeof(f->error), "%.255s", err->msg);
	snprintf(e->name, sizeof(e->name), "%.63s", text);
	e->producer = DA_PROD_NONE;
	c->count = c->lost = c->enabled_ns = c->running_ns = -1;
	c->ledger.in[DA_STAGE_CREATE] = 1;
	c->ledger
		.drop[err->code == DA_EPERM ? DA_DROP_CREATE_PERMISSION : DA_DROP_CREATE_NO_EVENT] =
		1;
	e->cpus = c;
	e->nr_cpus = 1;
	f->events = e;
	f->nr_events = 1;
	return 0;
}

/* Errors after which there is something to judge: the kernel or the machine refused. */
static bool is_refusal(const struct da_error *err)
{
	return err->code == DA_EPERM || err->code == DA_ENOENT || err->code == DA_EUNSUPPORTED ||
	       err->code == DA_EIO;
}

static int session_facts(const struct run_result *res, int rc, const struct da_error *err,
			 struct da_facts *f)
{
	if (rc && (!res->session || res->exec_failed || !is_refusal(err)))
		return fail(err);
	if (da_session_facts(res->session, f)) {
		fputs("damon-attrs: error: out of memory\n", stderr);
		return 1;
	}
	if (rc) {
		snprintf(f->error, sizeof(f->error), "%.255s", err->msg);
		f->error_sys = err->sys;
	}
	return 0;
}

static void watch(void *ctx, struct da_session *s)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	watch_line(ctx, s, (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec);
}

/* Runs the session; the built-in workload is this program again, in a pattern of which clock samples catch most
 * accesses (hotcold 90 %, seq 8 %, chase 1 %): the run is short. 0 with the facts, or an exit status. */
static int run_facts(struct args *a, const struct da_spec *specs, size_t nr, int argc, char **argv,
		     struct da_facts *f)
{
	char self[PATH_MAX] = "/proc/self/exe", time[32];
	char *workload[] = {argv[0],
			    (char[]){"workload"},
			    (char[]){"--pattern"},
			    (char[]){"hotcold"},
			    (char[]){"--duration"},
			    time,
			    NULL};
	struct run_opts run = {
		.duration_ns = a->ev.duration_ns, .quiet = a->quiet, .who = "diagnose"};
	struct watch w = {.f = strcmp(a->format->name, "text") || a->quiet ? stderr : stdout};
	struct run_result res;
	struct da_error err = {0};
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	uint64_t endless = WORKLOAD_NS;
	int rc, status;

	self[n > 0 ? n : 0] = '\0';
	opts_events_session(&a->ev, &run.session);
	run.session.specs = specs;
	run.session.nr_specs = nr;
	run.session.argc = argc;
	run.session.argv = argv;
	run.session.verbose = a->verbose;
	if (a->watch_ns) {
		run.progress = watch;
		run.progress_ns = a->watch_ns;
		run.ctx = &w;
		endless = WATCH_WORKLOAD_NS;
	}
	run.command = a->ev.command;
	run.output =
		a->output ? TARGET_TO_STDOUT : TARGET_TO_STDERR; /* stdout is for the verdict */
	if (!run.command && (a->ev.target == DA_TARGET_NONE || a->ev.target == DA_TARGET_SYSTEM)) {
		snprintf(time, sizeof(time), "%llums",
			 (unsigned long long)((a->ev.duration_ns ? a->ev.duration_ns : endless) /
					      1000000));
		run.command = workload;
		/* by its name, so that the samples carry it; a program that was replaced is still there */
		run.command_path = n > 0 && !access(self, X_OK) ? self : "/proc/self/exe";
		run.output = TARGET_TO_NULL;
	} else if (!run.command && !run.duration_ns && !a->watch_ns) {
		run.duration_ns = WATCH_NS;
	}
	rc = run_session(&run, &res, &err);
	watch_release(&w);
	status = session_facts(&res, rc, &err, f);
	da_session_free(res.session);
	return status;
}

static int live_evidence(struct args *a, int argc, char **argv, struct da_facts *f)
{
	char *text = opts_events_text(&a->ev), why[1024] = "";
	struct da_spec *specs = NULL;
	struct da_error err = {0};
	size_t nr = 0;
	int rc, status;

	rc = text ? da_spec_parse(text, &specs, &nr, why, sizeof(why), &err)
		  : da_fail(&err, DA_ENOMEM, 0, "out of memory");
	if (why[0] && !a->quiet)
		fprintf(stderr, "%s%s", why, why[strlen(why) - 1] == '\n' ? "" : "\n");
	if (!rc) {
		status = run_facts(a, specs, nr, argc, argv, f);
	} else if (is_refusal(&err)) {
		status = no_event_facts(text, &err, f) ? 1 : 0;
	} else {
		status = fail(&err);
	}
	free(specs);
	free(text);
	return status;
}

/* ---- evidence from a recording ---- */

/* Events of -e, separated by commas outside slashes; malloc'ed, pointers into text. */
static const char **split_events(char *text, size_t *nr)
{
	const char **list = calloc(strlen(text) + 1, sizeof(*list));
	bool inside = false;

	*nr = 0;
	if (!list)
		return NULL;
	list[(*nr)++] = text;
	for (; *text; text++) {
		inside ^= *text == '/';
		if (*text != ',' || inside)
			continue;
		*text = '\0';
		list[(*nr)++] = text + 1;
	}
	return list;
}

static int decode(const char *path, const struct da_offline_opts *o, struct args *a,
		  struct evidence *ev)
{
	const struct da_offline_result *r;
	struct da_offline *off = NULL;
	struct da_error err = {0};
	int rc = da_offline_open(&off, path, o, &err);

	if (!rc)
		rc = da_offline_run(off, &err);
	if (rc) {
		da_offline_close(off);
		return fail(&err);
	}
	r = da_offline_result(off);
	for (size_t i = 0; i < r->nr_messages && !a->quiet; i++)
		fprintf(stderr, "damon-attrs: warning: %s\n", r->messages[i]);
	ev->from_file = true;
	ev->damaged = r->damaged;
	ev->resync_bytes = r->lost.resync_bytes;
	for (size_t i = 0; i < da_match_nr_spaces(r->match); i++)
		if (da_match_space(r->match, i)->nr_regions > ev->regions)
			ev->regions = da_match_space(r->match, i)->nr_regions;
	rc = da_facts_from_offline(r, &ev->facts, &ev->decode, &ev->recorded);
	da_offline_close(off);
	if (rc)
		fputs("damon-attrs: error: out of memory\n", stderr);
	return rc ? 1 : 0;
}

static void keep_conclusion(const struct da_lab_plan *p, struct da_facts *f)
{
	snprintf(f->drops_cause, sizeof(f->drops_cause), "%s", p->cause);
	snprintf(f->drops_evidence, sizeof(f->drops_evidence), "%s", p->evidence);
	snprintf(f->drops_advice, sizeof(f->drops_advice), "%s", p->advice);
}

/* Only the events that were asked for are judged; the decode filtered the others out. */
/* A record of damo has no samples, and so no pipeline. 1: it is none. */
static int damo_evidence(const struct args *a, struct evidence *ev)
{
	struct da_damo_info info;
	struct da_error err = {0};
	struct da_damon *d = NULL;
	struct stat st;
	int rc;

	if (!strcmp(a->input, "-") || stat(a->input, &st) || !S_ISREG(st.st_mode))
		return 1;
	rc = da_damo_read(a->input, &d, &info, &err);
	if (rc)
		return rc < 0 ? (fail(&err), -1) : 1;
	snprintf(
		ev->note, sizeof(ev->note),
		"the input is a record of damo (%s): %llu snapshots of DAMON's regions, no samples to judge",
		da_damo_kind_name(info.kind), (unsigned long long)info.snapshots);
	ev->damaged = info.damaged != 0;
	da_damon_free(d);
	return 0;
}

static int file_evidence(struct args *a, struct evidence *ev)
{
	/* decoded as report does it, so that both show the same ledger */
	struct da_offline_opts o = {.match = {.virt = true, .phys = true, .accumulate = true}};
	const char **events = NULL;
	struct da_error err = {0};
	int status;

	status = damo_evidence(a, ev);
	if (status <= 0)
		return status ? 1 : 0;
	if (a->ev.events) {
		events = split_events(a->ev.events, &o.nr_events);
		if (!events) {
			fputs("damon-attrs: error: out of memory\n", stderr);
			return 1;
		}
		o.events = events;
	}
	status = decode(a->input, &o, a, ev);
	if (!status && a->what_if) {
		ev->has_lab = true;
		if (whatif_run(a->input, events, o.nr_events, &ev->facts, ev->regions, a->models,
			       a->nr_models, &ev->lab, &err))
			status = fail(&err);
		else
			keep_conclusion(&ev->lab, &ev->facts);
	}
	free(events);
	return status;
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

static int write_verdict(const struct args *a, const struct evidence *ev,
			 const struct da_verdict *d)
{
	struct da_verdict_view v = {
		.verdict = d,
		.facts = &ev->facts,
		.decode = ev->from_file ? &ev->decode : NULL,
		.recorded = ev->recorded,
		.resync_bytes = ev->resync_bytes,
		.lab = ev->has_lab ? &ev->lab : NULL,
		.compare = ev->has_baseline ? &ev->compare : NULL,
		.verbose = a->verbose,
		.quiet = a->quiet,
	};

	return a->output && strcmp(a->output, "-") != 0 ? write_file(a, &v) : write_stdout(a, &v);
}

static int judge(const struct args *a, struct evidence *ev)
{
	struct da_verdict d;
	int status;

	if (da_verdict_judge(&ev->facts, &a->limits, &d)) {
		fputs("damon-attrs: error: out of memory\n", stderr);
		return 1;
	}
	if (ev->note[0] && d.nr_notes < sizeof(d.notes) / sizeof(d.notes[0]))
		snprintf(d.notes[d.nr_notes++], sizeof(d.notes[0]), "%s", ev->note);
	if (ev->damaged) {
		if (d.nr_notes < sizeof(d.notes) / sizeof(d.notes[0]))
			snprintf(d.notes[d.nr_notes++], sizeof(d.notes[0]),
				 "the input is damaged: judged is what could be read");
		if (!d.exit_status)
			d.exit_status = DAMAGED;
	}
	if (a->baseline) {
		da_compare_take(&ev->compare.side[1], a->input ? a->input : "this run", &ev->facts,
				&d);
		da_compare(&ev->compare);
	}
	status = write_verdict(a, ev, &d);
	da_verdict_release(&d);
	return status;
}

/* ---- what there is here ---- */

static FILE *survey_output(const struct args *a)
{
	FILE *f = a->output && strcmp(a->output, "-") != 0 ? fopen(a->output, "we") : stdout;

	if (!f)
		fprintf(stderr, "damon-attrs: error: cannot write '%s': %s\n", a->output,
			strerror(errno));
	return f;
}

static int survey_close(const struct args *a, FILE *f)
{
	if (f == stdout) /* main() looks whether it took all */
		return 0;
	if (ferror(f) | fclose(f)) {
		fprintf(stderr, "damon-attrs: error: cannot write '%s'\n", a->output);
		return 1;
	}
	return 0;
}

static int list(const struct args *a)
{
	struct da_source s[SOURCES_MAX];
	size_t nr = sources_list(s);
	unsigned columns = 0, rows;
	FILE *f = survey_output(a);

	if (!f)
		return 1;
	if (!strcmp(a->format->name, "json"))
		da_render_sources_json(f, s, nr);
	else
		da_render_sources_text(f, s, nr, pager_terminal(&columns, &rows) ? columns : 0);
	return survey_close(a, f);
}

static int coverage(const struct args *a, int argc, char **argv)
{
	struct da_coverage *c = malloc(sizeof(*c));
	int status;
	FILE *f;

	if (!c) {
		fputs("damon-attrs: error: out of memory\n", stderr);
		return 1;
	}
	status = coverage_run(&a->ev, argv, argc, a->quiet, c);
	f = status ? NULL : survey_output(a);
	if (f) {
		if (!strcmp(a->format->name, "json"))
			da_render_coverage_json(f, c);
		else if (a->format == &survey_mail)
			da_render_coverage_mail(f, c);
		else
			da_render_coverage_text(f, c);
		status = survey_close(a, f);
	} else if (!status) {
		status = 1;
	}
	free(c);
	return status;
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
	struct evidence ev = {.resync_bytes = -1};
	struct da_error err = {0};
	int status;

	opts_parse(&argp, argc, argv, &a);
	if (a.list || a.coverage) {
		status = a.list ? list(&a) : coverage(&a, argc, argv);
		opts_events_release(&a.ev);
		return status;
	}
	/* first: a run for nothing would be a pity */
	ev.has_baseline = a.baseline;
	if (a.baseline && baseline_read(a.baseline, &ev.compare.side[0], &err)) {
		opts_events_release(&a.ev);
		return fail(&err);
	}
	status = a.input ? file_evidence(&a, &ev) : live_evidence(&a, argc, argv, &ev.facts);
	if (!status)
		status = judge(&a, &ev);
	da_facts_release(&ev.facts);
	da_facts_release(&ev.decode);
	da_lab_plan_release(&ev.lab);
	opts_events_release(&a.ev);
	return status;
}
