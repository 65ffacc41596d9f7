/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diagnose's evidence: a short run now, or the decode of a recording, as facts.
 */
#include "evidence.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "beside.h"
#include "da_damo.h"
#include "da_facts_offline.h"
#include "run.h"
#include "watch.h"

#define WORKLOAD_NS 1000000000ull /* of the built-in workload */
#define WATCH_WORKLOAD_NS                                                                          \
	(24 * 3600 * 1000000000ull) /* of the built-in workload with --watch: Ctrl-C ends it */
#define WATCH_NS 3000000000ull      /* of a process that was given without a duration */

/* ---- a run ---- */

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
		return run_failed(err);
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

static void listen(void *ctx, struct da_session *s)
{
	(void)s;
	beside_tick(ctx);
}

static void watch(void *ctx, struct da_session *s)
{
	watch_line(ctx, s, run_now_ns());
}

static int compare(struct da_facts *f)
{
	if (f->damon && !beside_compare(f))
		return 0;
	fprintf(stderr, "damon-attrs: error: --kernel-vs-user: %s\n",
		f->damon ? "out of memory" : f->damon_note);
	return 1;
}

/* There is no such event for user space: what the kernel has of it all the same. */
static int no_user(struct evidence *ev)
{
	struct da_error err = {0};
	struct beside b;

	if (!beside_start(&b, &err))
		beside_wait();
	beside_stop(&b, &ev->facts);
	return compare(&ev->facts);
}

/* Runs the session; the built-in workload is this program again, in a pattern of which clock samples catch most
 * accesses (hotcold 90 %, seq 8 %, chase 1 %): the run is short. 0 with the facts, or an exit status. */
static int run_facts(const struct opts_events *o, const struct evidence_run *r,
		     const struct da_spec *specs, size_t nr, struct da_facts *f)
{
	char self[PATH_MAX] = "/proc/self/exe", time[32];
	char *workload[] = {r->argv[0],
			    (char[]){"workload"},
			    (char[]){"--pattern"},
			    (char[]){"hotcold"},
			    (char[]){"--duration"},
			    time,
			    NULL};
	struct run_opts run = {.duration_ns = o->duration_ns, .quiet = r->quiet, .who = "diagnose"};
	struct watch w = {.f = r->watch_to};
	struct beside b = {.fd = -1};
	struct run_result res;
	struct da_error err = {0};
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	uint64_t endless = WORKLOAD_NS;
	int rc, status;

	self[n > 0 ? n : 0] = '\0';
	opts_events_session(o, &run.session);
	run.session.specs = specs;
	run.session.nr_specs = nr;
	run.session.argc = r->argc;
	run.session.argv = r->argv;
	run.session.verbose = r->verbose;
	if (r->watch_ns) {
		run.progress = watch;
		run.progress_ns = r->watch_ns;
		run.ctx = &w;
		endless = WATCH_WORKLOAD_NS;
	} else {
		(void)beside_start(&b, &err); /* where it is not there, that is no failure */
		err = (struct da_error){0};
		run.progress = listen;
		run.ctx = &b;
	}
	run.command = o->command;
	run.output = r->own_stdout ? TARGET_TO_STDOUT : TARGET_TO_STDERR;
	if (!run.command && (o->target == DA_TARGET_NONE || o->target == DA_TARGET_SYSTEM)) {
		snprintf(time, sizeof(time), "%llums",
			 (unsigned long long)((o->duration_ns ? o->duration_ns : endless) /
					      1000000));
		run.command = workload;
		/* by its name, so that the samples carry it; a program that was replaced is still there */
		run.command_path = n > 0 && !access(self, X_OK) ? self : "/proc/self/exe";
		run.output = TARGET_TO_NULL;
	} else if (!run.command && !run.duration_ns && !r->watch_ns) {
		run.duration_ns = WATCH_NS;
	}
	rc = run_session(&run, &res, &err);
	watch_release(&w);
	status = session_facts(&res, rc, &err, f);
	da_session_free(res.session);
	if (!status)
		beside_stop(&b, f);
	beside_drop(&b);
	return !status && r->versus ? compare(f) : status;
}

int evidence_from_run(const struct opts_events *o, const struct evidence_run *r,
		      struct evidence *ev)
{
	char *text = opts_events_text(o), why[1024] = "";
	struct da_spec *specs = NULL;
	struct da_error err = {0};
	size_t nr = 0;
	int rc, status;

	rc = text ? da_spec_parse(text, &specs, &nr, why, sizeof(why), &err)
		  : da_fail(&err, DA_ENOMEM, 0, "out of memory");
	if (why[0] && !r->quiet)
		fprintf(stderr, "%s%s", why, why[strlen(why) - 1] == '\n' ? "" : "\n");
	if (!rc)
		status = run_facts(o, r, specs, nr, &ev->facts);
	else if (is_refusal(&err))
		status = no_event_facts(text, &err, &ev->facts) ? 1 : r->versus ? no_user(ev) : 0;
	else
		status = run_failed(&err);
	free(specs);
	free(text);
	return status;
}

/* ---- a recording ---- */

/* A record of damo has no samples, and so no pipeline. 1: it is none; 0 with a note, or a negative code. */
static int damo_note(const char *path, struct evidence *ev, struct da_error *err)
{
	struct da_damo_info info;
	struct da_damon *d = NULL;
	struct stat st;
	int rc;

	if (!strcmp(path, "-") || stat(path, &st) || !S_ISREG(st.st_mode))
		return 1;
	rc = da_damo_read(path, &d, &info, err);
	if (rc)
		return rc;
	snprintf(
		ev->note, sizeof(ev->note),
		"the input is a record of damo (%s): %llu snapshots of DAMON's regions, no samples to judge",
		da_damo_kind_name(info.kind), (unsigned long long)info.snapshots);
	ev->damaged = info.damaged != 0;
	da_damon_free(d);
	return 0;
}

static int take(const struct da_offline_result *r, bool quiet, struct evidence *ev,
		struct da_error *err)
{
	for (size_t i = 0; i < r->nr_messages && !quiet; i++)
		fprintf(stderr, "damon-attrs: warning: %s\n", r->messages[i]);
	ev->from_file = true;
	ev->damaged = r->damaged;
	ev->resync_bytes = r->lost.resync_bytes;
	for (size_t i = 0; i < da_match_nr_spaces(r->match); i++)
		if (da_match_space(r->match, i)->nr_regions > ev->regions)
			ev->regions = da_match_space(r->match, i)->nr_regions;
	return da_facts_from_offline(r, &ev->facts, &ev->decode, &ev->recorded)
		       ? da_fail(err, DA_ENOMEM, 0, "out of memory")
		       : 0;
}

int evidence_from_file(const char *path, const char *const *events, size_t nr_events, bool quiet,
		       struct evidence *ev, struct da_error *err)
{
	struct da_offline_opts o = {.match = {.virt = true, .phys = true, .accumulate = true},
				    .events = events,
				    .nr_events = nr_events};
	struct da_offline *off = NULL;
	int rc = damo_note(path, ev, err);

	if (rc <= 0)
		return rc;
	rc = da_offline_open(&off, path, &o, err);
	if (!rc)
		rc = da_offline_run(off, err);
	if (!rc)
		rc = take(da_offline_result(off), quiet, ev, err);
	da_offline_close(off);
	return rc;
}

void evidence_release(struct evidence *ev)
{
	da_facts_release(&ev->facts);
	da_facts_release(&ev->decode);
}
