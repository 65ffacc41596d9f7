/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `-v` tells of a session's life, a line a step: created, bound, enabled, running, disabled, drained, released.
 * It changes nothing.
 */
#include <inttypes.h>
#include <stdio.h>

#include "session_priv.h"

static void created(struct da_session *s)
{
	for (size_t e = 0; e < s->nr_ev; e++) {
		const struct s_event *ev = &s->ev[e];
		char rate[64];

		if (ev->attr.flags & DA_ATTR_FREQ)
			snprintf(rate, sizeof(rate), "%" PRIu64 " Hz", ev->attr.sample_period);
		else
			snprintf(rate, sizeof(rate), "period %" PRIu64, ev->period);
		s_message(s, 2, "create: %s opened on %" PRIu64 " of %zu CPUs, disabled; %s",
			  ev->spec.name, ev->opened, s->nr_cpus, rate);
	}
}

static void bound(struct da_session *s)
{
	for (size_t e = 0; e < s->nr_ev; e++)
		s_message(s, 2, "bind: %s mapped on %" PRIu64 " CPUs, rings of %" PRIu32 " pages",
			  s->ev[e].spec.name, s->ev[e].bound, s->nr_cpus ? s->cpus[0].pages : 0);
}

static void enabled(struct da_session *s)
{
	const char *when = s->o.delay_ms         ? "after the delay"
			   : s->o.enable_on_exec ? "when the command is executed"
						 : "now";

	s_message(s, 2, "enable: %zu threads drain, 1 matches; the events begin %s", s->nr_lanes,
		  when);
}

static void running(struct da_session *s)
{
	uint64_t n = 0;

	for (size_t e = 0; e < s->nr_ev; e++)
		n += s->ev[e].enabled;
	s_message(s, 2,
		  "running: %" PRIu64 " samples so far; %" PRIu64 " (event, CPU) pairs enabled",
		  da_session_samples(s), n);
}

static void drained(struct da_session *s)
{
	struct da_ledger l = da_session_ledger(s);
	struct da_counters n = da_ledger_counters(&l);

	s_message(s, 2,
		  "drain: rings and buffers are empty: %" PRIu64 " samples, %" PRIu64
		  " reports, %" PRIu64 " dropped by the buffers",
		  n.callback, n.reports, n.reports - n.dequeue);
}

void s_say(struct da_session *s, enum s_step step)
{
	if (!s->o.verbose)
		return;
	switch (step) {
	case S_STEP_CREATED:
		created(s);
		break;
	case S_STEP_BOUND:
		bound(s);
		break;
	case S_STEP_ENABLED:
		enabled(s);
		break;
	case S_STEP_RUNNING:
		if (!s->said_running && da_session_samples(s)) {
			s->said_running = true;
			running(s);
		}
		break;
	case S_STEP_DISABLED:
		s_message(s, 2, "disable: events are off");
		break;
	case S_STEP_DRAINED:
		drained(s);
		break;
	case S_STEP_RELEASED:
		s_message(s, 2, "release: %s",
			  s->released_all ? "all events and maps are closed"
					  : "not everything could be closed");
		break;
	}
}
