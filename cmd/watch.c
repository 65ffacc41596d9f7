/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diagnose --watch: rates of the seven counters and the CPUs that fell silent. It judges nothing: a CPU may have
 * nothing to do.
 */
#include "watch.h"

#include <inttypes.h>
#include <stdlib.h>

#define HEAD_EVERY 20 /* lines */
#define NAMED      4  /* CPUs that a line names */

static uint64_t rate(uint64_t now, uint64_t last, uint64_t ns)
{
	return (uint64_t)((double)(now - last) * 1e9 / (double)ns + 0.5);
}

/* The CPUs that gave samples before and none since the last line. */
static void put_silent(struct watch *w, const struct da_session *s)
{
	size_t nr = da_session_nr_cpus(s), silent = 0;

	if (w->nr != nr) {
		free(w->seen);
		w->seen = calloc(nr ? nr : 1, sizeof(*w->seen));
		w->nr = w->seen ? nr : 0;
	}
	for (size_t i = 0; i < w->nr; i++) {
		uint32_t cpu;
		uint64_t n = da_session_cpu_samples(s, i, &cpu);

		if (w->seen[i] && n == w->seen[i] && silent++ < NAMED)
			fprintf(w->f, "%s%" PRIu32, silent > 1 ? "," : "", cpu);
		w->seen[i] = n;
	}
	if (silent > NAMED)
		fprintf(w->f, "+%zu", silent - NAMED);
	fputs(silent ? "\n" : "-\n", w->f);
}

void watch_line(struct watch *w, const struct da_session *s, uint64_t now_ns)
{
	struct da_ledger l = da_session_ledger(s);
	struct da_counters n = da_ledger_counters(&l);
	uint64_t ns = now_ns - w->last_ns;

	if (!w->last_ns || !ns) { /* the start: nothing to compare with */
		w->last_ns = now_ns;
		w->last = n;
		return;
	}
	if (w->lines++ % HEAD_EVERY == 0)
		fprintf(w->f, "%9s %9s %9s %9s %9s %9s %9s %s\n", "callback/s", "valid", "enqueue",
			"dequeue", "overflow", "match", "update", "silent");
	fprintf(w->f,
		"%10" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64
		" %9" PRIu64 " ",
		rate(n.callback, w->last.callback, ns), rate(n.valid, w->last.valid, ns),
		rate(n.enqueue, w->last.enqueue, ns), rate(n.dequeue, w->last.dequeue, ns),
		rate(n.overflow, w->last.overflow, ns), rate(n.match, w->last.match, ns),
		rate(n.update, w->last.update, ns));
	put_silent(w, s);
	fflush(w->f);
	w->last_ns = now_ns;
	w->last = n;
}

void watch_release(struct watch *w)
{
	free(w->seen);
}
