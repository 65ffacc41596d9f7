/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Listening to the kernel's own pipeline beside a run (beside.h).
 */
#include "beside.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "da_offline.h"
#include "da_tracepoint.h"
#include "da_verdict.h"
#include "run.h"

#define MAX_RECORDS 4000000 /* about 400 MB: enough for any verdict */
#define LEARN_NS    1000000000

/* Those of the three that there are. *text has room for all. */
static int find(char *text, size_t size, struct da_error *err)
{
	size_t used = 0;

	for (int i = 0; i < DA_KTP_NR; i++) {
		int rc = da_tracing_has(NULL, "damon", da_ktp_names[i], err);

		if (rc < 0)
			return rc;
		if (rc)
			used += (size_t)snprintf(text + used, size - used, "%sdamon:%s",
						 used ? "," : "", da_ktp_names[i]);
	}
	return used ? 0
		    : da_fail(err, DA_ENOENT, 0,
			      "this kernel has no tracepoints damon:damon_perf_*");
}

int beside_possible(struct da_error *err)
{
	char text[256];

	return find(text, sizeof(text), err);
}

/* A file that has a name only until it is open, so that nothing is left whatever ends us. */
static int open_output(struct beside *b, const struct da_session_opts *from, struct da_error *err)
{
	struct da_session_opts o = *from;
	char dir[256], path[300];
	int rc = run_temp_folder(dir, sizeof(dir), err);

	if (rc)
		return rc;
	snprintf(path, sizeof(path), "%s/data", dir);
	o.output = path;
	rc = run_begin(&b->session, &o, err);
	b->fd = rc ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (!rc && b->fd < 0)
		rc = da_fail(err, DA_EIO, 0, "cannot open '%s'", path);
	unlink(path);
	rmdir(dir);
	return rc;
}

static int start(struct beside *b, struct da_error *err)
{
	struct da_session_opts o = {.target = DA_TARGET_SYSTEM};
	char text[256], why[256];
	struct da_spec *specs = NULL;
	sigset_t all, old;
	int rc;

	rc = find(text, sizeof(text), err);
	if (!rc)
		rc = da_spec_parse(text, &specs, &o.nr_specs, why, sizeof(why), err);
	if (rc)
		return rc;
	for (size_t i = 0; i < o.nr_specs; i++) {
		specs[i].has_period = true; /* none may be left out */
		specs[i].attr.sample_period = 1;
	}
	o.specs = specs;
	/* its threads are none of those that signals are for */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	rc = open_output(b, &o, err);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	free(specs);
	return rc;
}

int beside_start(struct beside *b, struct da_error *err)
{
	int rc;

	*b = (struct beside){.fd = -1};
	rc = start(b, err);
	if (rc) {
		beside_drop(b);
		snprintf(b->note, sizeof(b->note), "%.127s", err->msg);
	}
	return rc;
}

static int stop(struct beside *b, struct da_error *err)
{
	int rc = b->stopped ? 0 : da_session_stop(b->session, "duration", -1, err);

	b->stopped = true;
	return rc;
}

void beside_tick(struct beside *b)
{
	struct da_error err = {0};

	if (b->session && !b->stopped &&
	    (da_session_tick(b->session, &err) < 0 || da_session_samples(b->session) > MAX_RECORDS))
		(void)stop(b, &err);
}

static int decode(int fd, struct da_kernel **out, struct da_error *err)
{
	const struct da_offline_opts o = {.match = {.virt = true}};
	const struct da_offline_result *r;
	struct da_offline *off = NULL;
	char path[32];
	int rc;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = da_offline_open(&off, path, &o, err);
	if (!rc)
		rc = da_offline_run(off, err);
	if (!rc) {
		r = da_offline_result(off);
		*out = r->kernel ? da_kernel_copy(r->kernel) : da_kernel_new();
		if (!*out)
			rc = da_fail(err, DA_ENOMEM, 0, "out of memory");
	}
	da_offline_close(off);
	return rc;
}

void beside_drop(struct beside *b)
{
	da_session_free(b->session);
	b->session = NULL;
	if (b->fd >= 0)
		close(b->fd);
	b->fd = -1;
}

/* What was heard, the caller's. */
static int heard(struct beside *b, struct da_kernel **out, struct da_error *err)
{
	int rc = stop(b, err);

	*out = NULL;
	if (!rc)
		rc = decode(b->fd, out, err);
	beside_drop(b);
	return rc;
}

void beside_stop(struct beside *b, struct da_facts *f)
{
	struct da_error err = {0};

	if (b->session && heard(b, &f->damon, &err))
		snprintf(b->note, sizeof(b->note), "%.127s", err.msg);
	snprintf(f->damon_note, sizeof(f->damon_note), "%s", b->note);
}

void beside_wait(void)
{
	const struct timespec learn = {LEARN_NS / 1000000000, LEARN_NS % 1000000000};

	nanosleep(&learn, NULL);
}

int beside_event(char *buf, size_t size, struct da_error *err)
{
	struct da_kernel *k = NULL;
	struct beside b;
	int rc = beside_start(&b, err);

	if (rc)
		return rc;
	beside_wait();
	rc = heard(&b, &k, err);
	if (!rc && !da_kernel_event(k, buf, size))
		rc = da_fail(err, DA_EUNSUPPORTED, 0,
			     "%llu samples of the kernel do not say of which PMU and period they "
			     "are: name it with -e",
			     (unsigned long long)k->samples);
	da_kernel_free(k);
	return rc;
}

/* Nothing was due, or our own event did not even run: that says nothing of the PMU. */
static bool is_idle(const struct da_facts *f, bool *idle)
{
	const struct da_verdict_opts o = {.max_drop_pct = -1, .min_valid_pct = -1};
	struct da_verdict v;

	if (da_verdict_judge(f, &o, &v))
		return false;
	*idle = v.level == DA_LEVEL_UNKNOWN;
	for (int s = DA_STAGE_CREATE; s <= DA_STAGE_ENABLE; s++)
		*idle |= v.layer[s] == DA_FAIL;
	da_verdict_release(&v);
	return true;
}

int beside_compare(struct da_facts *f)
{
	struct da_kernel *k = f->damon;
	bool idle = false, ok;

	f->damon = NULL; /* ours alone */
	ok = is_idle(f, &idle);
	f->damon = k;
	if (!ok)
		return -DA_ENOMEM;
	k->user.ran = true;
	k->user.idle = idle;
	for (size_t i = 0; i < f->nr_events; i++) {
		const struct da_facts_event *e = &f->events[i];

		if (!i)
			snprintf(k->user.name, sizeof(k->user.name), "%s", e->name);
		k->user.precise |= e->attr.flags & DA_ATTR_PRECISE_MASK;
		for (size_t c = 0; c < e->nr_cpus; c++)
			if (__builtin_add_overflow(k->user.samples,
						   e->cpus[c].ledger.in[DA_STAGE_SAMPLE],
						   &k->user.samples))
				k->user.samples = UINT64_MAX;
	}
	return 0;
}
