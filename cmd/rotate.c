/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record --switch-output and --flight. Files are named as perf names them: the output's name, a dot and the local
 * time at which they ended, to a hundredth of a second.
 *
 * A sampler is seen to be silent some time after it fell silent: the file of that moment, the one before and the one
 * after are kept, whatever their age. A sampler that is silent is told once, so that not everything is kept.
 */
#include "rotate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "da_verdict.h"
#include "opts.h"
#include "run.h"

#define SIZE_LOOK_NS 50000000ull
#define LOOK_NS      1000000000ull
#define SILENT_MAX   64 /* told in one turn */

struct rotate_file {
	char *path;
	uint64_t from_ns, to_ns; /* since the beginning */
	bool kept;
};

struct rotate_silent {
	char event[64];
	uint32_t cpu;
};

int rotate_parse(const char *text, struct rotate *r)
{
	size_t n = text ? strlen(text) : 0;
	char unit = n ? text[n - 1] : '\0', number[32];
	uint64_t days;

	r->bytes = r->ns = 0;
	r->on_signal = !text || !strcmp(text, "signal");
	if (r->on_signal)
		return 0;
	if (unit && strchr("BKMGkg", unit))
		return opts_size(text, &r->bytes) || !r->bytes ? -DA_EUSAGE : 0;
	if (!unit || !strchr("smhd", unit) || n >= sizeof(number))
		return -DA_EUSAGE;
	if (unit != 'd')
		return opts_duration(text, 1, &r->ns) || !r->ns ? -DA_EUSAGE : 0;
	memcpy(number, text, n - 1);
	number[n - 1] = '\0';
	if (opts_u64(number, &days) || !days ||
	    __builtin_mul_overflow(days, 86400000000000ull, &r->ns))
		return -DA_EUSAGE;
	return 0;
}

bool rotate_wanted(const struct rotate *r)
{
	return r->bytes || r->ns || r->on_signal;
}

uint64_t rotate_every(const struct rotate *r)
{
	if (r->bytes)
		return SIZE_LOOK_NS;
	/* an age is kept to a tenth */
	return r->ns && r->ns / 10 < LOOK_NS ? (r->ns / 10 ? r->ns / 10 : 1) : LOOK_NS;
}

/* ---- files ---- */

/* A name that no file has: ended at the same hundredth of a second, the next one. */
static char *name_of(const struct rotate *r)
{
	struct timeval t;
	struct tm tm;
	char stamp[32], *path;

	gettimeofday(&t, NULL);
	for (int i = 0; i < 1000; i++) {
		struct stat st;

		localtime_r(&t.tv_sec, &tm);
		strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", &tm);
		if (asprintf(&path, "%s.%s%02ld", r->output, stamp, (long)(t.tv_usec / 10000)) < 0)
			return NULL;
		if (lstat(path, &st) && errno == ENOENT)
			return path;
		free(path);
		t.tv_usec += 10000;
		t.tv_sec += t.tv_usec / 1000000;
		t.tv_usec %= 1000000;
	}
	return NULL;
}

static void remove_oldest(struct rotate *r)
{
	size_t others = 0, i;

	for (i = 0; i < r->nr_files; i++)
		others += !r->file[i].kept;
	for (i = 0; r->max_files && others > r->max_files; others--) {
		while (r->file[i].kept)
			i++;
		if (unlink(r->file[i].path) && errno != ENOENT)
			fprintf(stderr, "damon-attrs: warning: cannot remove '%s': %s\n",
				r->file[i].path, strerror(errno));
		free(r->file[i].path);
		r->nr_files--;
		memmove(&r->file[i], &r->file[i + 1], (r->nr_files - i) * sizeof(*r->file));
	}
}

/* The file under way has ended and is called `path`, which is taken over. */
static int add_file(struct rotate *r, char *path, uint64_t at_ns, uint64_t samples)
{
	struct rotate_file *grown = reallocarray(r->file, r->nr_files + 1, sizeof(*grown)), *f;
	struct stat st = {0};

	if (!grown) {
		free(path);
		return -DA_ENOMEM;
	}
	r->file = grown;
	f = &r->file[r->nr_files++];
	*f = (struct rotate_file){path, r->since_ns, at_ns, r->keep};
	r->keep -= r->keep > 0;
	r->since_ns = at_ns;
	stat(path, &st);
	if (!r->quiet)
		fprintf(stderr, "damon-attrs: '%s': %" PRIu64 " samples (%.1f MB)%s\n", path,
			samples, (double)st.st_size / 1e6, f->kept ? ", kept" : "");
	return 0;
}

static int no_memory(struct da_error *err)
{
	return da_fail(err, DA_ENOMEM, 0, "out of memory");
}

static int switch_file(struct rotate *r, struct da_session *s, struct da_error *err)
{
	char *path = name_of(r);
	uint64_t samples;
	int rc;

	if (!path)
		return no_memory(err);
	da_session_file(s, &samples);
	rc = da_session_switch(s, path, err);
	if (rc) {
		free(path);
		return rc < 0 ? rc : 0; /* not now: the next turn asks again */
	}
	if (add_file(r, path, run_now_ns() - r->began_ns, samples))
		return no_memory(err);
	remove_oldest(r);
	return 0;
}

/* ---- silence ---- */

static bool is_new(struct rotate *r, const struct da_silent *s)
{
	struct rotate_silent *grown;

	for (size_t i = 0; i < r->nr_silent; i++)
		if (r->silent[i].cpu == s->cpu &&
		    !strncmp(r->silent[i].event, s->event, sizeof(r->silent[i].event) - 1))
			return false;
	grown = reallocarray(r->silent, r->nr_silent + 1, sizeof(*grown));
	if (!grown)
		return false;
	r->silent = grown;
	grown[r->nr_silent].cpu = s->cpu;
	snprintf(grown[r->nr_silent++].event, sizeof(grown->event), "%s", s->event);
	return true;
}

/* The file of a moment; nr_files: it is the one under way. */
static size_t file_of(const struct rotate *r, uint64_t at_ns)
{
	size_t i = 0;

	while (i < r->nr_files && r->file[i].to_ns <= at_ns)
		i++;
	return i;
}

/* The file of the moment, the one before and the one after. */
static void keep(struct rotate *r, size_t i)
{
	if (i)
		r->file[i - 1].kept = true;
	if (i < r->nr_files)
		r->file[i].kept = true;
	if (i + 1 < r->nr_files)
		r->file[i + 1].kept = true;
	else
		r->keep = i == r->nr_files ? 2 : r->keep ? r->keep : 1;
}

static void look(struct rotate *r, struct da_session *s)
{
	struct da_silent found[SILENT_MAX];
	size_t n = da_session_silent(s, found, SILENT_MAX);

	for (size_t i = 0; i < n; i++) {
		const struct da_silent *q = &found[i];
		size_t f = file_of(r, q->since_ns);

		if (!is_new(r, q))
			continue;
		keep(r, f);
		if (r->quiet)
			continue;
		fprintf(stderr,
			"damon-attrs: warning: %s fell silent on CPU %" PRIu32
			" %.2f s after the beginning, while its reference went on (%" PRIu64
			" samples due); kept: %s%s%s, and the files before and after\n",
			q->event, q->cpu, (double)q->since_ns / 1e9, q->due,
			f < r->nr_files ? "'" : "",
			f < r->nr_files ? r->file[f].path : "the file being written",
			f < r->nr_files ? "'" : "");
	}
}

/* ---- the checks of diagnose, at the end ---- */

/* Says each that fails, of each event; their number. */
static size_t say_failed(const struct rotate *r, const struct da_facts *f)
{
	const struct da_verdict_opts opts = {.max_drop_pct = -1, .min_valid_pct = -1};
	struct da_verdict v;
	size_t n = 0;

	if (da_verdict_judge(f, &opts, &v))
		return 0;
	for (size_t e = 0; e < v.nr_events; e++) {
		const struct da_event_verdict *ev = &v.events[e];

		for (size_t i = 0; i < ev->nr_checks; i++) {
			const struct da_check *c = &ev->checks[i];

			if (c->result != DA_FAIL || c->note)
				continue;
			n++;
			if (!r->quiet)
				fprintf(stderr,
					"damon-attrs: warning: %s: %s fails: %s; the last file "
					"and the one before are kept\n",
					ev->name, c->id, c->evidence);
		}
	}
	da_verdict_release(&v);
	return n;
}

static void judge(struct rotate *r, struct da_session *s)
{
	struct da_facts f;
	size_t failed;

	if (da_session_facts(s, &f))
		return;
	failed = say_failed(r, &f);
	da_facts_release(&f);
	for (size_t i = r->nr_files; failed && i && i + 2 > r->nr_files; i--)
		r->file[i - 1].kept = true;
}

/* ---- turns ---- */

int rotate_turn(void *rotate, struct da_session *s, bool asked, struct da_error *err)
{
	struct rotate *r = rotate;
	uint64_t now = run_now_ns(), samples;

	if (!r->began_ns)
		r->began_ns = now;
	if (r->flight)
		look(r, s);
	if ((asked && r->on_signal) || (r->ns && now - r->began_ns - r->since_ns >= r->ns) ||
	    (r->bytes && da_session_file(s, &samples) >= r->bytes))
		return switch_file(r, s, err);
	return 0;
}

int rotate_end(struct rotate *r, struct da_session *s, struct da_error *err)
{
	char *path = name_of(r);
	uint64_t samples;

	if (!path)
		return no_memory(err);
	if (rename(r->output, path)) {
		da_fail(err, DA_EIO, errno, "cannot rename '%s' to '%s'", r->output, path);
		free(path);
		return -DA_EIO;
	}
	da_session_file(s, &samples);
	if (add_file(r, path, run_now_ns() - r->began_ns, samples))
		return no_memory(err);
	/* what was too late for the last turn, and what only the counters at the end tell; then the oldest may go */
	if (r->flight) {
		look(r, s);
		judge(r, s);
	}
	remove_oldest(r);
	return 0;
}

void rotate_release(struct rotate *r)
{
	for (size_t i = 0; i < r->nr_files; i++)
		free(r->file[i].path);
	free(r->file);
	free(r->silent);
}
