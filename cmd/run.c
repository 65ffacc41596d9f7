/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs one session from new to stop: forks the command, waits for its end, for a signal or for the
 * duration, and ticks the session meanwhile. It decides nothing about results.
 */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS  1000000000ull
#define GRACE_MS 2000 /* between SIGTERM and SIGKILL for a command that the run ends */

int run_error_status(const struct da_error *err)
{
	return err->code == DA_EUSAGE ? 2 : 1;
}

int run_failed(const struct da_error *err)
{
	fprintf(stderr, "damon-attrs: error: %s\n", err->msg);
	return run_error_status(err);
}

static void message(void *ctx, int level, const char *text)
{
	const struct run_opts *o = ctx;

	if (o->quiet && level > 0)
		return;
	fprintf(stderr, "damon-attrs: %s%s\n",
		level == 0   ? "error: "
		: level == 1 ? "warning: "
			     : "",
		text);
}

uint64_t run_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int run_temp_folder(char *path, size_t size, struct da_error *err)
{
	const char *tmp = getenv("TMPDIR");

	if (snprintf(path, size, "%s/damon-attrs-XXXXXX", tmp && *tmp ? tmp : "/tmp") >= (int)size)
		return da_fail(err, DA_EIO, ENAMETOOLONG, "cannot make a folder in '%.64s...'",
			       tmp);
	return mkdtemp(path) ? 0 : da_fail(err, DA_EIO, errno, "cannot make a folder '%s'", path);
}

static int ms_until(uint64_t when, uint64_t now)
{
	uint64_t ms = when > now ? (when - now + 999999) / 1000000 : 0;

	return ms > 60000 ? 60000 : (int)ms;
}

static void print_layer(const struct da_ledger *l, enum da_stage stage)
{
	fprintf(stderr, "  %-8s %14" PRIu64 " %14" PRIu64 " ", da_stage_name(stage), l->in[stage],
		l->out[stage]);
	for (int d = 0; d < DA_DROP_NR; d++)
		if (da_drop_stage((enum da_drop)d) == stage && l->drop[d])
			fprintf(stderr, " %s %" PRIu64, da_drop_name((enum da_drop)d), l->drop[d]);
	fputc('\n', stderr);
}

/* What SIGUSR2 asks for: every layer as it is now. */
static void print_ledger(const struct da_session *s, uint64_t ns)
{
	struct da_ledger l = da_session_ledger(s);

	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr); /* over the line of counters */
	fprintf(stderr, "damon-attrs: ledger after %.3f s\n  %-8s %14s %14s  %s\n",
		(double)ns / 1e9, "layer", "in", "out", "drops");
	for (int i = 0; i < DA_STAGE_NR; i++)
		print_layer(&l, (enum da_stage)i);
}

/* Until the target ends, a signal comes or the time is over. */
static int loop(struct run_opts *o, struct da_session *s, struct target *t, struct stop *stop,
		struct run_result *res, struct da_error *err)
{
	uint64_t start = run_now_ns(), tick = start + TICK_NS;
	uint64_t step = o->progress_ns ? o->progress_ns : TICK_NS;
	uint64_t say = o->progress ? start + step : UINT64_MAX;
	uint64_t end = o->duration_ns ? start + o->duration_ns : UINT64_MAX;
	uint64_t turn = o->turn ? start : UINT64_MAX;
	uint64_t begin = o->session.delay_ms ? start + o->session.delay_ms * 1000000 : UINT64_MAX;

	for (;;) {
		struct pollfd fds[2] = {{.fd = stop->fd, .events = POLLIN},
					{.fd = t->pidfd, .events = POLLIN}};
		uint64_t now = run_now_ns(), next = tick < end ? tick : end;
		bool asked;
		int rc;

		next = begin < next ? begin : next;
		next = say < next ? say : next;
		next = turn < next ? turn : next;
		if (t->pid && t->pidfd < 0 && next > now + 50000000)
			next = now + 50000000; /* no pidfd on this kernel: look often */
		if (poll(fds, t->pid && t->pidfd >= 0 ? 2 : 1, ms_until(next, now)) < 0 &&
		    errno != EINTR)
			return da_fail(err, DA_EIO, errno, "cannot wait for the target");
		if (stop_asked(stop)) {
			res->reason = "signal";
			return 0;
		}
		asked = stop->look;
		stop->look = false;
		if (asked)
			print_ledger(s, run_now_ns() - start);
		/* a command beside -a or -p is there to say how long */
		if (t->pid && target_poll(t)) {
			res->reason = "exit";
			return 0;
		}
		now = run_now_ns();
		if (now >= end) {
			res->reason = "duration";
			return 0;
		}
		if (now >= begin) {
			begin = UINT64_MAX;
			rc = da_session_enable_delayed(s, err);
			if (rc < 0)
				return rc;
		}
		if (now >= tick) {
			tick = now + TICK_NS;
			rc = da_session_tick(s, err);
			if (rc < 0)
				return rc;
			if (!rc) {
				res->reason = "exit";
				return 0;
			}
		}
		if (o->turn && (now >= turn || asked)) {
			turn = now + o->turn_ns;
			rc = o->turn(o->turn_ctx, s, asked, err);
			if (rc < 0)
				return rc;
		}
		if (now >= say) {
			say = now + step;
			o->progress(o->ctx, s);
		}
	}
}

int run_begin(struct da_session **s, const struct da_session_opts *o, struct da_error *err)
{
	int rc = da_session_new(s, o, err);

	if (!rc)
		rc = da_session_create(*s, err);
	if (!rc)
		rc = da_session_bind(*s, err);
	return rc ? rc : da_session_enable(*s, err);
}

static int start(struct run_opts *o, struct da_session **s, struct target *t,
		 struct run_result *res, struct da_error *err)
{
	int rc = run_begin(s, &o->session, err);

	if (!rc && t->pid) {
		rc = target_go(t, err);
		if (rc) {
			res->exec_failed = true;
			res->command_status = t->status;
		}
	}
	return rc;
}

int run_session(struct run_opts *o, struct run_result *res, struct da_error *err)
{
	struct target t = TARGET_NONE;
	struct stop stop;
	int rc, rc_stop;

	*res = (struct run_result){.reason = "", .command_status = -1};
	rc = stop_open(&stop, true);
	if (rc)
		return da_fail(err, DA_EIO, -rc, "cannot watch for signals");
	if (o->command) {
		struct target_opts to = {.path = o->command_path,
					 .mask = &stop.old,
					 .output = o->output,
					 .fd = o->output_fd};

		rc = target_fork(&t, o->command, &to, err);
		if (rc)
			goto close_stop;
		if (o->session.target == DA_TARGET_NONE) {
			o->session.target = DA_TARGET_COMMAND;
			o->session.child = t.pid;
			o->session.enable_on_exec = true;
		}
	}
	o->session.message = message;
	o->session.message_ctx = o;
	rc = start(o, &res->session, &t, res, err);
	if (!rc)
		rc = loop(o, res->session, &t, &stop, res, err);
	if (!rc && t.pid && t.reaped)
		res->command_status = t.status;
	if (res->session) {
		rc_stop = da_session_stop(res->session, rc ? "error" : res->reason,
					  res->command_status, rc ? NULL : err);
		rc = rc ? rc : rc_stop;
		res->samples = da_session_samples(res->session);
	}
	if (t.pid && !t.reaped && !o->keep)
		target_terminate(&t, GRACE_MS);
	target_release(&t);
close_stop:
	stop_close(&stop);
	return rc;
}
