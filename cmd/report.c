/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * damon-attrs report: parses options, decodes a recording, prints it in the format asked for.
 */
#include <argp.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "da_offline.h"
#include "da_render.h"
#include "opts.h"
#include "pager.h"
#include "report_damo.h"

#define DEFAULT_WIDTH  80
#define DEFAULT_LIMIT  20
#define DEFAULT_SPACES 5
#define MAX_THREADS    256
#define RAW_REGIONS    "fixed=2M"

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_SAMPLES,
	FORMAT_DAMO,
	FORMAT_SVG,
	FORMAT_HTML,
	FORMAT_NR
};
static const char *const format_names[FORMAT_NR] = {"text", "json", "csv", "samples",
						    "damo", "svg",  "html"};

enum {
	OPT_FORMAT = 0x100,
	OPT_REGIONS,
	OPT_COMM,
	OPT_TIME,
	OPT_LIMIT,
	OPT_WIDTH,
	OPT_NO_HEATMAP,
	OPT_COLOR,
	OPT_PHYS,
	OPT_THREADS,
	OPT_PROBE,
	OPT_RAW
};

struct list {
	char **items;
	size_t nr;
};

struct args {
	const char *input, *output, *fields, *color;
	enum format format;
	struct da_offline_opts offline;
	struct da_render_opts render;
	struct list events, comms;
	const char **probes;
	size_t nr_probes;
	pid_t *pids;
	struct da_raw raw;
	bool quiet, has_limit, has_regions;
	char problem[512]; /* what is wrong with an argument */
};

/* clang-format off */
static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Input and output:", 1},
	{"input", 'i', "FILE", 0, "Read FILE instead of damon-attrs.data; - is standard input", 1},
	{"raw", OPT_RAW, "KIND", 0, "The input is bytes without a container: spe, or pebs:FORMAT (core, nhm, hsw, skl, "
		"adaptive)", 1},
	{"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 1},
	{"format", OPT_FORMAT, "FORMAT", 0, "text (default), json, csv, samples: one access a line, svg and html: pictures, or "
		"damo: a record that damo reads", 1},
	{"fields", 'F', "LIST", 0, "Fields of --format=samples: time, cpu, pid, tid, comm, event, ip, sym, dso, addr, "
		"phys_addr, weight, data_src, data_page_size, period, op, size, how, region, trace", 1},
	{NULL, 0, NULL, 0, "What to show:", 2},
	{"regions", OPT_REGIONS, "HOW", 0, "density[:max=N] (default), vma, fixed=SIZE, or damon[:min=N,max=N,aggr=TIME,sample=TIME,"
		"update=TIME,seed=N]: by DAMON's algorithm, or kernel: of a DAMON recorded by record --damon", 2},
	{"event", 'e', "LIST", 0, "Only these events, by name or number: a,b", 2},
	{"pid", 'p', "LIST", 0, "Only these processes", 2},
	{"comm", OPT_COMM, "NAME", 0, "Only tasks of this name; may be repeated", 2},
	{"time", OPT_TIME, "START,STOP", 0, "Only this time, in seconds of the recording's clock, or with + from the "
		"first sample; either may be left out", 2},
	{"phys", OPT_PHYS, NULL, 0, "Physical memory too", 2},
	{"threads", OPT_THREADS, "N", 0, "Decode AUX traces, and large recordings, with N threads (as many as there are CPUs)", 2},
	{"probe", OPT_PROBE, "NAME:TERMS", 0, "Count the reports that fulfil TERMS, region by region, instead of the probes that "
		"the recording was made with (none: no probes): write, read, cpus=0-3, pids=, tids=, comm=, producer=EVENT, "
		"buffer=, addr=START-END, latency=MIN, data_src=, weight=N. May be repeated", 2},
	{NULL, 0, NULL, 0, "How to show it:", 3},
	{"sort", 's', "KEY", 0, "Order of regions: share (default), samples, accesses, reads, writes, size, addr, label", 3},
	{"limit", OPT_LIMIT, "N", 0, "At most N regions a table (text: 20, csv: all); 0: all, of all processes", 3},
	{"width", OPT_WIDTH, "N", 0, "Columns (the terminal's, else 80)", 3},
	{"no-heatmap", OPT_NO_HEATMAP, NULL, 0, "Tables only", 3},
	{"color", OPT_COLOR, "WHEN", 0, "auto (default), always, never", 3},
	{"verbose", 'v', NULL, 0, "Say more", 3},
	{"quiet", 'q', NULL, 0, "No warnings", 3},
	{NULL, 0, NULL, 0, NULL, 0},
};
/* clang-format on */

/* ---- options ---- */

static error_t bad(struct args *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Keeps the message for cmd_report(): one line, without a stack of usage text. */
static error_t bad(struct args *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (vsnprintf(a->problem, sizeof(a->problem), fmt, ap) < 0)
		a->problem[0] = '\0';
	va_end(ap);
	return EINVAL;
}

/* Adds a copy of len bytes. */
static error_t add(struct list *l, const char *item, size_t len)
{
	char **items = reallocarray(l->items, l->nr + 1, sizeof(*items));

	if (!items)
		return ENOMEM;
	l->items = items;
	l->items[l->nr] = strndup(item, len);
	return l->items[l->nr] ? (l->nr++, 0) : ENOMEM;
}

static error_t add_events(struct list *l, const char *text)
{
	for (;;) {
		size_t n = opts_event_len(text);
		error_t rc = add(l, text, n);

		if (rc || !text[n])
			return rc;
		text += n + 1;
	}
}

static void release(struct list *l)
{
	while (l->nr)
		free(l->items[--l->nr]);
	free(l->items);
}

static error_t parse_format(struct args *a, const char *arg)
{
	int i;

	for (i = 0; i < FORMAT_NR; i++) {
		if (!strcmp(arg, format_names[i])) {
			a->format = (enum format)i;
			return 0;
		}
	}
	return bad(a, "unknown format '%s'; there are text, json, csv, samples, damo, svg and html",
		   arg);
}

static error_t parse_sort(struct args *a, const char *arg)
{
	int i;

	for (i = 0; i < DA_SORT_NR; i++) {
		if (!strcmp(arg, da_sort_name((enum da_sort)i))) {
			a->render.sort = (enum da_sort)i;
			return 0;
		}
	}
	return bad(
		a,
		"unknown order '%s'; there are share, samples, accesses, reads, writes, size, addr and label",
		arg);
}

/* "12.5", "+250ms" or nothing. */
static bool parse_instant(const char *s, uint64_t *ns, bool *relative)
{
	*relative = *s == '+';
	if (*relative)
		s++;
	return !*s ? !*relative : !opts_duration(s, 1000000000, ns);
}

static error_t parse_time(struct args *a, const char *arg)
{
	struct da_offline_opts *o = &a->offline;
	const char *comma = strchr(arg, ',');
	char start[64];
	bool ok;

	if (!comma || (size_t)(comma - arg) >= sizeof(start))
		return bad(
			a,
			"bad time '%s' (wanted: START,STOP in seconds, +SECONDS from the first sample)",
			arg);
	memcpy(start, arg, (size_t)(comma - arg));
	start[comma - arg] = '\0';
	ok = parse_instant(start, &o->start_ns, &o->start_relative) &&
	     parse_instant(comma + 1, &o->stop_ns, &o->stop_relative);
	if (!ok ||
	    (o->stop_ns && o->start_relative == o->stop_relative && o->start_ns >= o->stop_ns))
		return bad(
			a,
			"bad time '%s' (wanted: START,STOP in seconds, +SECONDS from the first sample)",
			arg);
	return 0;
}

static error_t parse_rest(int key, char *arg, struct args *a)
{
	uint64_t n;
	bool color;

	switch (key) {
	case OPT_LIMIT:
		a->has_limit = true;
		if (opts_u64(arg, &n))
			return bad(a, "bad limit '%s' (wanted: a number)", arg);
		a->render.limit = (size_t)n;
		return 0;
	case OPT_WIDTH:
		if (opts_u64(arg, &n) || n < DA_RENDER_WIDTH_MIN || n > DA_RENDER_WIDTH_MAX)
			return bad(a, "bad width '%s' (wanted: %d to %d)", arg, DA_RENDER_WIDTH_MIN,
				   DA_RENDER_WIDTH_MAX);
		a->render.width = (unsigned)n;
		return 0;
	case OPT_THREADS:
		if (opts_u64(arg, &n) || !n || n > MAX_THREADS)
			return bad(a, "bad number of threads '%s' (wanted: 1 to %d)", arg,
				   MAX_THREADS);
		a->offline.threads = (unsigned)n;
		return 0;
	case OPT_NO_HEATMAP:
		a->render.heatmap = false;
		return 0;
	case OPT_COLOR:
		a->color = arg;
		return opts_color(arg, stdout, &color)
			       ? bad(a, "bad colour '%s' (wanted: auto, always or never)", arg)
			       : 0;
	case OPT_PROBE:
		if (!strcmp(arg, "none")) {
			a->offline.no_probes = true;
			return 0;
		}
		return opts_add_text(&a->probes, &a->nr_probes, arg) ? ENOMEM : 0;
	case OPT_PHYS:
		a->render.phys = true;
		return 0;
	case 'v':
		a->render.verbose = true;
		return 0;
	case 'q':
		a->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->input)
			return bad(a, "unexpected argument '%s': the input is '%s'", arg, a->input);
		a->input = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct da_error err = {0};

	switch (key) {
	case 'i':
		a->input = arg;
		return 0;
	case 'o':
		a->output = arg;
		return 0;
	case OPT_FORMAT:
		return parse_format(a, arg);
	case 'F':
		a->fields = arg;
		return 0;
	case OPT_RAW:
		a->offline.raw = &a->raw;
		return da_raw_parse(arg, &a->raw, &err) ? bad(a, "%s", err.msg) : 0;
	case OPT_REGIONS:
		a->has_regions = true;
		return opts_regions(arg, &a->offline.match)
			       ? bad(a, "bad regions '%s' (wanted: " OPTS_REGIONS_WANTED ")", arg)
			       : 0;
	case 'e':
		return add_events(&a->events, arg);
	case 'p':
		free(a->pids);
		a->pids = NULL;
		return opts_ids(arg, &a->pids, &a->offline.nr_pids)
			       ? bad(a, "bad process list '%s' (wanted: PID,PID...)", arg)
			       : 0;
	case OPT_COMM:
		return add(&a->comms, arg, strlen(arg));
	case OPT_TIME:
		return parse_time(a, arg);
	case 's':
		return parse_sort(a, arg);
	default:
		return parse_rest(key, arg, a);
	}
}

/* ---- output ---- */

static int fail(const char *message)
{
	fprintf(stderr, "damon-attrs: error: %s\n", message);
	return 1;
}

static int fail_with(const struct da_error *err)
{
	fail(err->msg);
	return err->code == DA_EUSAGE ? 2 : 1;
}

static void choose_look(struct args *a)
{
	unsigned columns = DEFAULT_WIDTH, rows;

	if (!a->output)
		pager_terminal(&columns, &rows);
	if (!a->render.width)
		a->render.width = columns < DA_RENDER_WIDTH_MAX ? columns : DA_RENDER_WIDTH_MAX;
	if (a->output && (!a->color || !strcmp(a->color, "auto")))
		a->color = "never"; /* a file is no terminal */
	opts_color(a->color, stdout, &a->render.color);
	if (!a->has_limit && a->format == FORMAT_TEXT) {
		a->render.limit = DEFAULT_LIMIT;
		a->render.max_spaces = DEFAULT_SPACES;
	} else if (a->render.limit) {
		a->render.max_spaces = DEFAULT_SPACES;
	}
	setlocale(LC_CTYPE, "");
	a->render.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static void warn(const struct args *a, const struct da_offline_result *r)
{
	size_t i;

	for (i = 0; i < r->nr_messages && !a->quiet; i++)
		fprintf(stderr, "damon-attrs: warning: %s\n", r->messages[i]);
}

/* Traces are decoded in parts, in no order of time. */
static void warn_of_parts(const struct args *a, const struct da_offline_result *r)
{
	size_t i;

	for (i = 0; i < r->nr_events; i++)
		if (r->regions == DA_REGIONS_DAMON && !a->quiet && r->events[i].samples &&
		    r->events[i].producer == DA_PROD_SPE)
			fprintf(stderr, "damon-attrs: warning: --regions=damon leaves '%s' out\n",
				r->events[i].name);
}

static int render(FILE *f, const struct args *a, const struct da_offline_result *r)
{
	switch (a->format) {
	case FORMAT_JSON:
		return da_render_report_json(f, r);
	case FORMAT_SVG:
		return da_render_report_svg(f, r, &a->render);
	case FORMAT_HTML:
		return da_render_report_html(f, r, &a->render);
	case FORMAT_CSV:
		return da_render_report_csv(f, r, &a->render);
	default:
		return da_render_report_text(f, r, &a->render);
	}
}

/* Text for a terminal is made first, to know if it is longer than the screen. */
static int show_on_terminal(const struct args *a, const struct da_offline_result *r)
{
	char *text = NULL;
	size_t len = 0;
	FILE *mem = open_memstream(&text, &len);
	int rc;

	if (!mem)
		return -DA_ENOMEM;
	rc = render(mem, a, r);
	if (fclose(mem))
		rc = -DA_ENOMEM;
	if (!rc)
		pager_text(text, len);
	free(text);
	return rc;
}

static int show(const struct args *a, FILE *out, const struct da_offline_result *r)
{
	unsigned columns, rows;

	if (a->format == FORMAT_TEXT && !a->output && pager_terminal(&columns, &rows))
		return show_on_terminal(a, r);
	return render(out, a, r);
}

/* ---- samples ---- */

struct samples {
	FILE *f;
	struct da_fields *fields;
};

static bool put_sample(void *ctx, const struct da_offline *o, const struct da_report *r)
{
	struct samples *s = ctx;

	da_render_sample(s->f, s->fields, o, r);
	return !ferror(s->f);
}

static bool put_trace(void *ctx, const struct da_offline *o, const struct da_report *r,
		      const char *text)
{
	struct samples *s = ctx;

	da_render_trace(s->f, s->fields, o, r, text);
	return !ferror(s->f);
}

/* ---- the command ---- */

static enum report_damo_format damo_format(enum format f)
{
	return f == FORMAT_TEXT   ? REPORT_DAMO_TEXT
	       : f == FORMAT_JSON ? REPORT_DAMO_JSON
	       : f == FORMAT_CSV  ? REPORT_DAMO_CSV
				  : REPORT_DAMO_OTHER;
}

static int decode_and_show(struct args *a, FILE *out, struct samples *s)
{
	struct da_offline *o = NULL;
	struct da_error err = {0};
	struct pager pager = {.f = out};
	struct da_damo_out *w = NULL;
	int status = report_damo(a->input, out, damo_format(a->format), &a->render, a->quiet), rc;

	if (status >= 0)
		return status;
	if (a->format == FORMAT_DAMO && !report_damo_begin(&a->offline.match, &w))
		return fail("out of memory");
	rc = da_offline_open(&o, a->input, &a->offline, &err);
	if (rc) {
		da_damo_out_free(w);
		return fail_with(&err);
	}
	if (s->fields) {
		if (!a->output)
			pager_start(&pager);
		s->f = pager.f;
		if (a->render.verbose)
			da_render_sample_head(s->f, s->fields);
	}
	rc = da_offline_run(o, &err);
	if (pager.pid)
		pager_end(&pager);
	if (rc) {
		da_offline_close(o);
		da_damo_out_free(w);
		return fail_with(&err);
	}
	status = da_offline_result(o)->damaged ? 5 : 0;
	warn(a, da_offline_result(o));
	warn_of_parts(a, da_offline_result(o));
	if (a->offline.match.regions == DA_REGIONS_KERNEL && !da_offline_result(o)->damon) {
		da_offline_close(o);
		return fail(
			"no regions of the kernel's DAMON in this recording; record --damon adds them");
	}
	if (w)
		status = report_damo_end(w, out, status);
	else if (!s->fields && show(a, out, da_offline_result(o)))
		status = fail("out of memory");
	da_offline_close(o);
	return status;
}

static int report(struct args *a)
{
	struct samples s = {0};
	struct da_error err = {0};
	FILE *out = stdout;
	int status;

	choose_look(a);
	if (a->offline.raw && !a->input) {
		fail("--raw needs the file with the bytes: -i FILE");
		return 2;
	}
	if (!a->input)
		a->input = "damon-attrs.data";
	/* bytes alone do not tell what was mapped */
	if (a->offline.raw && !a->has_regions)
		opts_regions(RAW_REGIONS, &a->offline.match);
	if (a->fields && a->format != FORMAT_SAMPLES) {
		fail("-F goes with --format=samples");
		return 2;
	}
	if (a->format == FORMAT_SAMPLES && da_fields_parse(a->fields, &s.fields, &err))
		return fail_with(&err);
	if (a->format == FORMAT_DAMO && !a->has_regions)
		opts_regions("damon", &a->offline.match);
	if (a->format == FORMAT_DAMO && a->offline.match.regions != DA_REGIONS_DAMON) {
		fail("--format=damo goes with --regions=damon: its snapshots are DAMON's");
		return 2;
	}
	a->offline.match.virt = true;
	a->offline.sum_hybrid = true;
	a->offline.match.accumulate = a->format != FORMAT_SAMPLES;
	a->offline.report = a->format == FORMAT_SAMPLES ? put_sample : NULL;
	a->offline.trace = a->format == FORMAT_SAMPLES ? put_trace : NULL;
	a->offline.ctx = &s;
	a->offline.events = (const char *const *)a->events.items;
	a->offline.nr_events = a->events.nr;
	a->offline.comms = (const char *const *)a->comms.items;
	a->offline.nr_comms = a->comms.nr;
	a->offline.pids = (const uint32_t *)a->pids;
	a->offline.probes = a->probes;
	a->offline.nr_probes = a->nr_probes;
	if (a->output) {
		out = fopen(a->output, "we");
		if (!out) {
			fprintf(stderr, "damon-attrs: error: cannot write '%s': %s\n", a->output,
				strerror(errno));
			da_fields_free(s.fields);
			return 1;
		}
	}
	status = decode_and_show(a, out, &s);
	da_fields_free(s.fields);
	if (a->output) {
		bool failed = ferror(out);

		if ((fclose(out) || failed) && status != 1) {
			fprintf(stderr, "damon-attrs: error: cannot write '%s': %s\n", a->output,
				strerror(errno));
			status = 1;
		}
	}
	return status;
}

int cmd_report(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Decodes a recording into regions and heat maps.",
	};
	struct args a = {.render = {.heatmap = true}, .offline.match.regions = DA_REGIONS_DENSITY};
	error_t rc = argp_parse(&argp, argc, argv, 0, NULL, &a);
	int status;

	if (!rc) {
		status = report(&a);
	} else {
		fail(a.problem[0] ? a.problem : strerror(rc));
		status = a.problem[0] ? 2 : 1;
	}
	release(&a.events);
	release(&a.comms);
	free(a.probes);
	free(a.pids);
	return status;
}
