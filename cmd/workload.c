/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `damon-attrs workload`: programs of known truth, for the demo, for tests and for diagnose. A hidden
 * command. This file parses its options, forks the copies asked for and prints the truth: what was mapped
 * and exactly how many loads, stores and first touches were made to it. workload_run.c does the work.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "opts.h"
#include "stop.h"
#include "workload.h"

#define MAX_RANGES  4096
#define MAX_THREADS 1024
#define MAX_COPIES  256
#define MAX_SIZE    (1ull << 40)

static const char *const pattern_names[WL_PATTERN_NR] = {
	[WL_SEQ] = "seq",       [WL_RANDOM] = "random", [WL_HOTCOLD] = "hotcold",
	[WL_STAIRS] = "stairs", [WL_CHASE] = "chase",   [WL_TOUCH] = "touch",
	[WL_ZIGZAG] = "zigzag", [WL_ZIPF] = "zipf",     [WL_SPLIT] = "split",
};

enum { FORMAT_TEXT, FORMAT_JSON };

struct options {
	struct wl_config config;
	uint32_t *cpus; /* malloc'ed */
	bool writes_given;
	uint32_t copies; /* --fork */
	int format;
	bool announce;
};

/* A forked copy and the pipe that its truth comes through. */
struct copy {
	pid_t pid;
	FILE *truth;
};

enum {
	KEY_SIZE = 0x100,
	KEY_RANGES,
	KEY_WRITES,
	KEY_THREADS,
	KEY_CPUS,
	KEY_DURATION,
	KEY_OPS,
	KEY_SEED,
	KEY_FORK,
	KEY_REPEAT,
	KEY_FORMAT,
	KEY_ANNOUNCE
};

static const struct argp_option options_table[] = {
	{"pattern", 'p', "NAME", 0,
	 "seq, random (the default), hotcold (the first range gets 90 %), stairs, chase (each load gives the next "
	 "address), touch (page faults), zigzag, zipf (range i has weight 1/i), split (each thread in ranges of its own, or "
	 "with fewer ranges than threads in its part of each)",
	 0},
	{"size", KEY_SIZE, "BYTES[k|m|g]", 0, "size of a range (16m)", 0},
	{"ranges", KEY_RANGES, "N", 0,
	 "number of ranges (1; hotcold 4, zipf 8, split one a thread)", 0},
	{"writes", KEY_WRITES, "PCT", 0, "share of stores (25; touch 100)", 0},
	{"threads", KEY_THREADS, "N", 0, "threads that share the work (1; split 2)", 0},
	{"cpus", KEY_CPUS, "LIST", 0, "pin the threads to these CPUs in turn: 0,2-3", 0},
	{"duration", KEY_DURATION, "TIME", 0,
	 "stop after TIME, seconds or with a unit: us, ms, s, m (1 s)", 0},
	{"ops", KEY_OPS, "N[k|m|g]", 0, "stop after N accesses of all threads together", 0},
	{"repeat", KEY_REPEAT, "N", 0, "touch: touch all pages N times, each time anew (1)", 0},
	{"seed", KEY_SEED, "N", 0, "seed of the random numbers (1)", 0},
	{"fork", KEY_FORK, "N", 0, "N child processes do the same in ranges of their own", 0},
	{"format", KEY_FORMAT, "text|json", 0, "how to print the truth", 0},
	{"announce", KEY_ANNOUNCE, NULL, 0, "print the ranges before the work begins", 0},
	{0},
};

/* A count in [min, max]; false if it is not. */
static bool parse_count(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t n;

	if (opts_count(text, &n) || n < min || n > max)
		return false;
	*out = n;
	return true;
}

static bool parse_pattern(const char *text, enum wl_pattern *out)
{
	int i;

	for (i = 0; i < WL_PATTERN_NR; i++) {
		if (!strcmp(text, pattern_names[i])) {
			*out = (enum wl_pattern)i;
			return true;
		}
	}
	return false;
}

static bool parse_format(const char *text, int *out)
{
	*out = !strcmp(text, "json") ? FORMAT_JSON : FORMAT_TEXT;
	return *out == FORMAT_JSON || !strcmp(text, "text");
}

/* Everything that is valid by itself but not together, and what was not given. */
static void complete(struct options *o, struct argp_state *state)
{
	struct wl_config *c = &o->config;
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	c->size_bytes = (c->size_bytes + page - 1) / page * page;
	if (!c->nr_threads)
		c->nr_threads = c->pattern == WL_SPLIT ? 2 : 1;
	if (!c->nr_ranges && c->pattern == WL_SPLIT)
		c->nr_ranges = c->nr_threads;
	if (!c->nr_ranges)
		c->nr_ranges = c->pattern == WL_HOTCOLD ? 4 : c->pattern == WL_ZIPF ? 8 : 1;
	if (c->nr_ranges < 2 && (c->pattern == WL_HOTCOLD || c->pattern == WL_ZIPF))
		argp_failure(state, 2, 0, "pattern %s needs --ranges=2 or more",
			     pattern_names[c->pattern]);
	if (c->repeat && c->pattern != WL_TOUCH)
		argp_failure(state, 2, 0, "--repeat belongs to pattern touch");
	if (!o->writes_given)
		c->writes_pct = c->pattern == WL_TOUCH ? 100 : 25;
	if (c->pattern == WL_CHASE && c->writes_pct == 100)
		argp_failure(state, 2, 0, "a chase needs loads: --writes must be below 100");
	if (!c->duration_ns && !c->ops && !c->repeat) {
		if (c->pattern == WL_TOUCH)
			c->repeat = 1;
		else
			c->duration_ns = 1000000000;
	}
	c->cpus = o->cpus;
}

static const char *option_name(int key)
{
	const struct argp_option *o = options_table;

	while (o->name && o->key != key)
		o++;
	return o->name;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	struct wl_config *c = &o->config;
	uint64_t n = 0;
	bool ok = true;

	switch (key) {
	case 'p':
		ok = parse_pattern(arg, &c->pattern);
		break;
	case KEY_SIZE:
		ok = !opts_size(arg, &c->size_bytes) && c->size_bytes > 0 &&
		     c->size_bytes <= MAX_SIZE;
		break;
	case KEY_RANGES:
		ok = parse_count(arg, 1, MAX_RANGES, &n);
		c->nr_ranges = (uint32_t)n;
		break;
	case KEY_WRITES:
		ok = parse_count(arg, 0, 100, &n);
		c->writes_pct = (unsigned)n;
		o->writes_given = true;
		break;
	case KEY_THREADS:
		ok = parse_count(arg, 1, MAX_THREADS, &n);
		c->nr_threads = (uint32_t)n;
		break;
	case KEY_CPUS:
		free(o->cpus);
		o->cpus = NULL;
		ok = !opts_cpus(arg, &o->cpus, &c->nr_cpus) &&
		     o->cpus[c->nr_cpus - 1] < CPU_SETSIZE;
		break;
	case KEY_DURATION:
		ok = !opts_duration(arg, 1000000000, &c->duration_ns) && c->duration_ns > 0;
		break;
	case KEY_OPS:
		ok = parse_count(arg, 1, UINT64_MAX / 2, &c->ops);
		break;
	case KEY_REPEAT:
		ok = parse_count(arg, 1, UINT64_MAX / 2, &c->repeat);
		break;
	case KEY_SEED:
		ok = !opts_u64(arg, &c->seed);
		break;
	case KEY_FORK:
		ok = parse_count(arg, 0, MAX_COPIES, &n);
		o->copies = (uint32_t)n;
		break;
	case KEY_FORMAT:
		ok = parse_format(arg, &o->format);
		break;
	case KEY_ANNOUNCE:
		o->announce = true;
		break;
	case ARGP_KEY_ARG:
		argp_failure(state, 2, 0, "unexpected argument '%s'", arg);
		break;
	case ARGP_KEY_END:
		complete(o, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (!ok)
		argp_failure(state, 2, 0, "invalid --%s '%s'", option_name(key), arg);
	return 0;
}

static void announce(const struct wl_run *run, int format)
{
	uint32_t i;

	if (format == FORMAT_JSON)
		printf("{\"pid\": %d, \"ranges\": [", (int)getpid());
	for (i = 0; i < run->config.nr_ranges; i++) {
		const struct wl_range *r = &run->ranges[i];

		if (format == FORMAT_JSON)
			printf("%s{\"name\": \"%s\", \"start\": \"0x%" PRIx64
			       "\", \"end\": \"0x%" PRIx64 "\"}",
			       i ? ", " : "", r->name, r->start, r->end);
		else
			printf("pid %d range %s 0x%" PRIx64 "-0x%" PRIx64 "\n", (int)getpid(),
			       r->name, r->start, r->end);
	}
	if (format == FORMAT_JSON)
		printf("]}\n");
	fflush(stdout);
}

static void print_text(FILE *out, const struct wl_run *run)
{
	const struct wl_config *c = &run->config;
	uint32_t i;

	fprintf(out, "pattern %s, pid %d, %u thread%s, %.3f s\n", pattern_names[c->pattern],
		(int)getpid(), c->nr_threads, c->nr_threads == 1 ? "" : "s",
		(double)run->duration_ns / 1e9);
	fprintf(out, "%-16s %-18s %-18s %7s %14s %14s %9s %9s\n", "range", "start", "end", "weight",
		"loads", "stores", "pages", "faults");
	for (i = 0; i < c->nr_ranges; i++) {
		const struct wl_range *r = &run->ranges[i];

		fprintf(out,
			"%-16s 0x%-16" PRIx64 " 0x%-16" PRIx64 " %6.2f%% %14" PRIu64 " %14" PRIu64
			" %9" PRIu64 " %9" PRIu64 "\n",
			r->name, r->start, r->end, 100 * r->weight, r->loads, r->stores, r->pages,
			r->faults);
	}
}

/* The object without its closing brace. */
static void print_json(FILE *out, const struct wl_run *run)
{
	const struct wl_config *c = &run->config;
	uint32_t i;

	fprintf(out,
		"{\"pattern\": \"%s\", \"pid\": %d, \"threads\": %u, \"duration_ns\": %" PRIu64
		", \"page_bytes\": %" PRIu64 ", \"ended_by\": \"%s\", \"ranges\": [",
		pattern_names[c->pattern], (int)getpid(), c->nr_threads, run->duration_ns,
		run->page_bytes, run->signalled ? "signal" : "limit");
	for (i = 0; i < c->nr_ranges; i++) {
		const struct wl_range *r = &run->ranges[i];

		fprintf(out,
			"%s\n {\"name\": \"%s\", \"start\": \"0x%" PRIx64
			"\", \"end\": \"0x%" PRIx64 "\", \"weight\": %.6f, \"loads\": %" PRIu64
			", \"stores\": %" PRIu64 ", \"pages_touched\": %" PRIu64
			", \"faults_expected\": %" PRIu64 "}",
			i ? "," : "", r->name, r->start, r->end, r->weight, r->loads, r->stores,
			r->pages, r->faults);
	}
	fprintf(out, "]");
}

static int complain(const struct da_error *err)
{
	fprintf(stderr, "damon-attrs: error: %s\n", err->msg);
	return 1;
}

/* Runs in this process and prints its truth, as far as print_json() goes. */
static int run_here(const struct options *o, FILE *out, bool *signalled)
{
	struct da_error err = {0};
	struct wl_run run;
	int ret = wl_run_init(&run, &o->config, &err);

	if (ret == 0 && o->announce)
		announce(&run, o->format);
	if (ret == 0)
		ret = wl_run_go(&run, &err);
	if (ret == 0 && o->format == FORMAT_JSON)
		print_json(out, &run);
	else if (ret == 0)
		print_text(out, &run);
	*signalled = run.signalled;
	wl_run_release(&run);
	return ret == 0 ? 0 : complain(&err);
}

/* In a forked copy: work, write the truth into the pipe, never return. */
static _Noreturn void be_copy(struct options *o, uint32_t k, int fd, pid_t parent)
{
	FILE *out = fdopen(fd, "w");
	bool signalled;
	int status;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (!out || getppid() != parent)
		_exit(1);
	o->config.first_cpu = (size_t)(k + 1) * o->config.nr_threads;
	o->config.seed += k + 1;
	status = run_here(o, out, &signalled);
	if (status == 0 && o->format == FORMAT_JSON)
		fputc('}', out);
	if (fclose(out))
		status = 1;
	_exit(status);
}

static int fork_copies(struct options *o, struct copy *copies, uint32_t *nr, struct da_error *err)
{
	const pid_t parent = getpid();
	uint32_t k;

	for (k = 0; k < o->copies; k++) {
		int fds[2];
		pid_t pid;

		if (pipe(fds))
			return da_fail(err, DA_EIO, errno, "cannot create a pipe");
		pid = fork();
		if (pid < 0) {
			int sys = errno;

			close(fds[0]);
			close(fds[1]);
			return da_fail(err, DA_EIO, sys, "cannot fork");
		}
		if (pid == 0) {
			close(fds[0]);
			be_copy(o, k, fds[1], parent);
		}
		close(fds[1]);
		copies[k] = (struct copy){.pid = pid, .truth = fdopen(fds[0], "r")};
		*nr = k + 1;
		if (!copies[k].truth) {
			close(fds[0]);
			return da_fail(err, DA_ENOMEM, 0, "no memory for a pipe");
		}
	}
	return 0;
}

/* Passes on the truth of the copies and waits for them; the worst of their exit statuses. */
static int gather_copies(const struct options *o, const struct copy *copies, uint32_t nr,
			 bool end_them)
{
	int worst = 0;
	uint32_t k;

	for (k = 0; k < nr && end_them; k++)
		kill(copies[k].pid, SIGTERM);
	for (k = 0; k < nr; k++) {
		char buf[4096];
		size_t n;
		int status;

		if (o->format == FORMAT_JSON)
			fputs(k ? ",\n" : ",\n \"children\": [\n", stdout);
		while (copies[k].truth && (n = fread(buf, 1, sizeof(buf), copies[k].truth)) > 0)
			fwrite(buf, 1, n, stdout);
		if (copies[k].truth)
			fclose(copies[k].truth);
		while (waitpid(copies[k].pid, &status, 0) < 0 && errno == EINTR)
			;
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			worst = 1;
	}
	if (o->format == FORMAT_JSON && nr)
		fputc(']', stdout);
	return worst;
}

static int run_all(struct options *o)
{
	struct copy copies[MAX_COPIES];
	struct da_error err = {0};
	bool signalled = false;
	uint32_t nr = 0;
	int status, copies_status;

	if (fork_copies(o, copies, &nr, &err))
		status = complain(&err);
	else
		status = run_here(o, stdout, &signalled);
	copies_status = gather_copies(o, copies, nr, signalled || status);
	if (o->format == FORMAT_JSON)
		fputs("}\n", stdout);
	return status ? status : copies_status;
}

int cmd_workload(int argc, char **argv)
{
	static const struct argp argp = {
		options_table,
		parse_option,
		NULL,
		"Makes memory accesses of which the exact number is known, and prints it.",
		NULL,
		NULL,
		NULL};
	struct options o = {.config = {.pattern = WL_RANDOM, .size_bytes = 16 << 20, .seed = 1}};
	struct stop stop;
	int status = 1, ret;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	ret = stop_open(&stop, false);
	if (ret) {
		fprintf(stderr, "damon-attrs: error: cannot watch for signals: %s\n",
			strerror(-ret));
	} else {
		o.config.stop = &stop;
		status = run_all(&o);
		fflush(stdout);
		(void)stop_asked(&stop); /* one that comes after the work is done changes nothing */
		stop_close(&stop);
	}
	free(o.cpus);
	return status;
}
