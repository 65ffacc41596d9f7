/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * damon-attrs record: parses options, runs a session into a file, says what was recorded and lost.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "da_json.h"
#include "rotate.h"
#include "run.h"

enum {
	OPT_REGS = 0x100,
	OPT_KEEP,
	OPT_PROGRESS,
	OPT_REGIONS,
	OPT_DAMON,
	OPT_PROBE,
	OPT_ADAPT,
	OPT_SWITCH_OUTPUT,
	OPT_SWITCH_MAX_FILES,
	OPT_FLIGHT
};

/* --flight: what it means where nothing else is said */
#define FLIGHT_NS    60000000000ull
#define FLIGHT_FILES 10
#define FLIGHT_HZ    100

struct args {
	struct opts_events ev;
	const char *output;
	bool quiet, verbose, regs, keep, progress, damon;
	struct da_match_opts match;
	double adapt_pct;
	const char **probes;
	size_t nr_probes;
	struct rotate rotate;
};

/* clang-format off */
static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Output:", 7},
	{"output", 'o', "FILE", 0, "Write FILE instead of damon-attrs.data; - is a pipe", 7},
	{"switch-output", OPT_SWITCH_OUTPUT, "WHEN", OPTION_ARG_OPTIONAL, "Go on in another file on SIGUSR2 (signal, default), or when one has "
	 "a size (100M) or an age (30s); each is called FILE.TIMESTAMP", 7},
	{"switch-max-files", OPT_SWITCH_MAX_FILES, "N", 0, "Of these files keep the last N", 7},
	{"flight", OPT_FLIGHT, "WHEN", OPTION_ARG_OPTIONAL, "Record for hours: 100 Hz, files of a minute, the last 10 of them, and those around the "
	 "moment at which a sampler fell silent", 7},
	{"quiet", 'q', NULL, 0, "No warnings, no summary", 7},
	{"verbose", 'v', NULL, 0, "Say more", 7},
	{"progress", OPT_PROGRESS, NULL, 0, "Print the counters every second even if stderr is no terminal", 7},
	{"keep", OPT_KEEP, NULL, 0, "Leave COMMAND running when the recording ends first", 3},
	{"regs", OPT_REGS, NULL, 0, "Registers with page faults too", 2},
	{"data", 'd', NULL, 0, "Sample data addresses (as perf; always on)", 2},
	{"regions", OPT_REGIONS, "HOW", 0, "Regions of the live match layer: vma (default), fixed=SIZE", 4},
	{"adapt", OPT_ADAPT, "DROPS", OPTION_ARG_OPTIONAL, "Step the period up when more than DROPS percent (1) of the reports or samples are "
	 "dropped or the kernel throttles, and down again when all is calm", 4},
	{"damon", OPT_DAMON, NULL, 0, "The regions of the DAMONs that run in the kernel too (for report --regions=kernel)", 2},
	{"probe", OPT_PROBE, "NAME:TERMS", 0, "Count the reports that fulfil TERMS: write, read, cpus=0-3, pids=, tids=, "
	 "comm=, producer=EVENT, buffer=, addr=START-END, latency=MIN, data_src=, weight=N. May be repeated", 4},
	{NULL, 'i', NULL, 0, "Not the children of the target (as perf; same as --no-inherit)", 3},
	{NULL, 0, NULL, 0, NULL, 0},
};
/* clang-format on */

static void check_rotate(struct args *a, const struct argp_state *state)
{
	const char *what = a->rotate.flight ? "--flight" : "--switch-output";

	if (!rotate_wanted(&a->rotate)) {
		if (a->rotate.max_files)
			opts_usage(state, "--switch-max-files goes with --switch-output");
		return;
	}
	if (!strcmp(a->output, "-"))
		opts_usage(state, "%s writes files: not to standard output", what);
	if (a->adapt_pct > 0)
		opts_usage(state, "%s does not go with --adapt: each file would need all its steps",
			   what);
	if (a->ev.phys)
		opts_usage(state,
			   "%s does not go with --phys-data: each file would need all "
			   "translations",
			   what);
	if (!a->rotate.flight)
		return;
	if (!a->rotate.max_files)
		a->rotate.max_files = FLIGHT_FILES;
	if (!a->ev.freq && !a->ev.period)
		a->ev.freq = FLIGHT_HZ;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	uint64_t n;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->ev;
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
	case 'd':
		break;
	case 'i':
		a->ev.no_inherit = true;
		break;
	case OPT_PROGRESS:
		a->progress = true;
		break;
	case OPT_KEEP:
		a->keep = true;
		break;
	case OPT_REGS:
		a->regs = true;
		break;
	case OPT_REGIONS:
		if (opts_regions(arg, &a->match) || a->match.regions == DA_REGIONS_DAMON ||
		    a->match.regions == DA_REGIONS_KERNEL)
			opts_usage(
				state,
				"bad regions '%s' (wanted: vma, or fixed=SIZE with a power of two of 4k or "
				"more; report has others)",
				arg);
		break;
	case OPT_ADAPT:
		a->adapt_pct = 1;
		if (arg && (opts_percent(arg, &a->adapt_pct) || a->adapt_pct <= 0))
			opts_usage(state, "bad percentage '%s' for --adapt (wanted: 1, 0.5)", arg);
		break;
	case OPT_DAMON:
		a->damon = true;
		break;
	case OPT_FLIGHT:
		a->rotate.flight = true;
		__attribute__((fallthrough));
	case OPT_SWITCH_OUTPUT:
		if (key == OPT_FLIGHT && !arg) {
			a->rotate.ns = a->rotate.ns ? a->rotate.ns : FLIGHT_NS;
			break;
		}
		if (rotate_parse(arg, &a->rotate))
			opts_usage(state, "bad '%s' for --%s (wanted: " ROTATE_WANTED ")", arg,
				   key == OPT_FLIGHT ? "flight" : "switch-output");
		break;
	case OPT_SWITCH_MAX_FILES:
		if (opts_u64(arg, &n) || !n || n > 1000000)
			opts_usage(state, "bad number '%s' for --switch-max-files", arg);
		a->rotate.max_files = (unsigned)n;
		break;
	case ARGP_KEY_SUCCESS:
		check_rotate(a, state);
		break;
	case OPT_PROBE:
		if (opts_add_text(&a->probes, &a->nr_probes, arg))
			argp_failure(state, EXIT_FAILURE, 0, "out of memory");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void print_counters(const struct da_session *s, const char *end)
{
	struct da_ledger l = da_session_ledger(s);
	struct da_counters c = da_ledger_counters(&l);

	fprintf(stderr,
		"samples=%" PRIu64 " callback=%" PRIu64 " valid=%" PRIu64 " enqueue=%" PRIu64
		" dequeue=%" PRIu64 " overflow=%" PRIu64 " match=%" PRIu64 " update=%" PRIu64 "%s",
		da_session_samples(s), c.callback, c.valid, c.enqueue, c.dequeue, c.overflow,
		c.match, c.update, end);
}

static void progress(void *ctx, struct da_session *s)
{
	(void)ctx;
	if (!isatty(STDERR_FILENO)) {
		print_counters(s, "\n");
		return;
	}
	fputs("\r\033[K", stderr);
	print_counters(s, "");
}

/* What the user asked for, kept in the recording. */
static char *options_json(const struct args *a, const char *spec)
{
	struct da_json_mem m;

	if (!da_json_mem_begin(&m))
		return NULL;
	da_json_object(&m.w, NULL);
	da_json_string(&m.w, "event", spec);
	da_json_string(&m.w, "drain", a->ev.drain == DA_DRAIN_SINGLE ? "single" : "percpu");
	da_json_string(&m.w, "regions", da_regions_name(a->match.regions));
	if (a->match.regions == DA_REGIONS_FIXED)
		da_json_u64(&m.w, "fixed_bytes", a->match.fixed_bytes);
	da_json_bool(&m.w, "phys", a->ev.phys);
	da_json_array(&m.w, "probes");
	for (size_t i = 0; i < a->nr_probes; i++) {
		da_json_object(&m.w, NULL);
		da_json_string(&m.w, "probe", a->probes[i]);
		da_json_close(&m.w);
	}
	da_json_close(&m.w);
	da_json_close(&m.w);
	return da_json_mem_end(&m);
}

static void print_loss(const struct da_facts *f)
{
	if (f->lost_counter > 0)
		fprintf(stderr,
			"damon-attrs: %" PRId64 " samples lost in the kernel's rings (%" PRId64
			" in LOST records, %" PRId64
			" pending at stop); -m makes the rings larger\n",
			f->lost_counter, f->lost_records, f->pending_at_stop);
	else if (f->lost_records > 0)
		fprintf(stderr, "damon-attrs: %" PRId64 " records lost in the kernel's rings\n",
			f->lost_records);
	if (f->aux_truncated > 0 || f->aux_collisions > 0)
		fprintf(stderr,
			"damon-attrs: AUX: %" PRId64
			" records truncated (off for %.1f ms in all), %" PRId64
			" with collisions; -m ,AUX makes the area larger, -c fewer samples\n",
			f->aux_truncated, (double)f->aux_off_ns / 1e6, f->aux_collisions);
	if (f->throttled > 0)
		fprintf(stderr, "damon-attrs: throttled %" PRId64 " times\n", f->throttled);
}

static void print_summary(const struct args *a, struct run_result *res)
{
	struct da_facts f;
	struct stat st;

	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	fputs("damon-attrs: ", stderr);
	print_counters(res->session, "\n");
	if (!da_session_facts(res->session, &f)) {
		print_loss(&f);
		da_facts_release(&f);
	}
	if (!strcmp(a->output, "-"))
		return;
	if (!stat(a->output, &st))
		fprintf(stderr, "damon-attrs: %" PRIu64 " samples in '%s' (%.1f MB)\n",
			res->samples, a->output, (double)st.st_size / 1e6);
}

/* COMMAND's own status; 0 when the recording ended first. */
static int exit_status(const struct run_result *res)
{
	if (!strcmp(res->reason, "exit") && res->command_status >= 0)
		return target_exit_status(res->command_status);
	return 0;
}

/* Adds one event. */
static int add_event(const char *text, struct da_spec **specs, size_t *nr, struct da_error *err)
{
	struct da_spec *new = NULL, *all;
	size_t one = 0;
	char why[256];
	int rc = da_spec_parse(text, &new, &one, why, sizeof(why), err);

	if (rc)
		return rc;
	all = reallocarray(*specs, *nr + 1, sizeof(*all));
	if (!all) {
		free(new);
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	}
	all[*nr] = new[0];
	*specs = all;
	++*nr;
	free(new);
	return 0;
}

/* A kdamond is another task, and none of its records may be left out. */
static int add_damon(struct da_spec **specs, size_t *nr, struct da_error *err)
{
	int rc = add_event("damon:damon_aggregated", specs, nr, err);

	if (rc)
		return rc;
	(*specs)[*nr - 1].system = (*specs)[*nr - 1].has_period = true;
	(*specs)[*nr - 1].attr.sample_period = 1;
	return 0;
}

/* What tells that a sampler fell silent: a clock that goes on. */
static int add_reference(struct da_spec **specs, size_t *nr, struct da_error *err)
{
	for (size_t i = 0; i < *nr; i++)
		if (da_attr_is_clock(&(*specs)[i].attr))
			return 0;
	return add_event("cpu-clock", specs, nr, err);
}

static int record(struct args *a, int argc, char **argv)
{
	struct run_opts run = {.duration_ns = a->ev.duration_ns,
			       .keep = a->keep,
			       .quiet = a->quiet,
			       .who = "record"};
	struct run_result res = {0};
	struct da_spec *specs = NULL;
	struct da_error err = {0};
	char *text = opts_events_text(&a->ev), *json = NULL, why[1024] = "";
	int rc, status;

	if (!text) {
		da_fail(&err, DA_ENOMEM, 0, "out of memory");
		return run_failed(&err);
	}
	rc = da_spec_parse(text, &specs, &run.session.nr_specs, why, sizeof(why), &err);
	if (why[0] && !a->quiet)
		fprintf(stderr, "%s%s", why, why[strlen(why) - 1] == '\n' ? "" : "\n");
	if (rc) {
		status = run_failed(&err);
		goto out;
	}
	rc = a->damon ? add_damon(&specs, &run.session.nr_specs, &err) : 0;
	if (!rc && a->rotate.flight)
		rc = add_reference(&specs, &run.session.nr_specs, &err);
	if (rc) {
		status = run_failed(&err);
		goto out;
	}
	json = options_json(a, text);
	opts_events_session(&a->ev, &run.session);
	run.session.specs = specs;
	run.session.output = a->output;
	run.session.argc = argc;
	run.session.argv = argv;
	run.session.options_json = json;
	run.session.regs = a->regs;
	run.session.verbose = a->verbose;
	run.session.match = a->match;
	run.session.adapt_pct = a->adapt_pct;
	run.session.probes = a->probes;
	run.session.nr_probes = a->nr_probes;
	run.command = a->ev.command;
	if (!strcmp(a->output, "-"))
		run.output = TARGET_TO_STDERR; /* the pipe is ours alone */
	if (a->ev.target == DA_TARGET_NONE && a->ev.cpu_list && !a->ev.command)
		run.session.target =
			DA_TARGET_SYSTEM; /* -C alone: all tasks of these CPUs, as perf */
	run.progress = !a->quiet && (a->progress || isatty(STDERR_FILENO)) ? progress : NULL;
	if (rotate_wanted(&a->rotate)) {
		a->rotate.output = a->output;
		a->rotate.quiet = a->quiet;
		run.turn = rotate_turn;
		run.turn_ns = rotate_every(&a->rotate);
		run.turn_ctx = &a->rotate;
	}
	rc = run_session(&run, &res, &err);
	if (!rc && run.turn)
		rc = rotate_end(&a->rotate, res.session, &err);
	if (rc && err.sys == EPIPE && !strcmp(a->output, "-")) {
		status = 1; /* the reader of the pipe has gone: nobody to tell */
	} else if (rc) {
		status = run_failed(&err);
		if (res.exec_failed)
			status = target_exit_status(res.command_status);
	} else {
		if (!a->quiet)
			print_summary(a, &res);
		status = exit_status(&res);
	}
	da_session_free(res.session);
	rotate_release(&a->rotate);
out:
	free(specs);
	free(text);
	free(json);
	return status;
}

int cmd_record(int argc, char **argv)
{
	static const struct argp_child children[] = {{&opts_events_argp, 0, NULL, 0},
						     {NULL, 0, NULL, 0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[--] COMMAND [ARG...]",
		.doc = "Samples memory accesses, runs them through the pipeline and writes a perf.data file.",
		.children = children,
	};
	struct args a = {.ev = {.target = DA_TARGET_NONE}, .output = "damon-attrs.data"};
	int status;

	opts_parse(&argp, argc, argv, &a);
	if (a.adapt_pct > 0 && a.ev.freq) {
		fputs("damon-attrs: error: --adapt steps a period: it does not go with -F\n",
		      stderr);
		status = 2;
	} else if (!a.ev.command && a.ev.target == DA_TARGET_NONE && !a.ev.cpu_list) {
		fputs("damon-attrs: error: nothing to record: give a COMMAND, -p PID, -t TID or -a\n",
		      stderr);
		status = 2;
	} else {
		status = record(&a, argc, argv);
	}
	free(a.probes);
	opts_events_release(&a.ev);
	return status;
}
