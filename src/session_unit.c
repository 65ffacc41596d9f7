/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which events had to share the one unit of their PMU: AMD IBS and Arm SPE have one for each CPU, and the
 * kernel lets two events on it take turns. The evidence is the kernel's: time running below time enabled,
 * or the end of file that a pinned event reads which was not let in. It judges nothing else.
 */
#include "session_priv.h"

#define SHARED_PERCENT                                                                             \
	98 /* of the time enabled; a little less is lost whenever tasks are switched */

static bool one_unit(const struct s_event *e)
{
	return e->spec.producer == DA_PROD_SPE || e->spec.producer == DA_PROD_IBS_OP ||
	       e->spec.producer == DA_PROD_IBS_FETCH;
}

/* What an event got of its unit, over all CPUs. */
struct turn {
	uint64_t enabled_ns, running_ns, samples;
	bool eof;
};

static struct turn turn_of(const struct da_session *s, size_t e)
{
	struct turn t = {0};

	for (size_t c = 0; c < s->nr_cpus; c++) {
		const struct s_pair *p = &s->cpus[c].pairs[e];

		if (p->lane)
			t.samples +=
				__atomic_load_n(&p->lane->in[DA_STAGE_SAMPLE], __ATOMIC_RELAXED);
		if (!p->counted)
			continue;
		t.enabled_ns += p->count.enabled_ns;
		t.running_ns += p->count.running_ns;
		t.eof |= p->count.eof;
	}
	return t;
}

/* Another event of ours on the same unit; NULL: somebody else's. */
static const struct s_event *rival(const struct da_session *s, size_t e)
{
	for (size_t i = 0; i < s->nr_ev; i++)
		if (i != e && s->ev[i].spec.attr.type == s->ev[e].spec.attr.type && s->ev[i].opened)
			return &s->ev[i];
	return NULL;
}

void s_find_shared(struct da_session *s)
{
	for (size_t e = 0; e < s->nr_ev; e++) {
		const struct s_event *ev = &s->ev[e], *other = rival(s, e);
		struct turn t = turn_of(s, e);

		if (t.eof)
			s_message(s, 1,
				  "%s: pinned, and reads as ended: its counter is held by %s%s%s",
				  ev->spec.name, other ? "'" : "another event",
				  other ? other->spec.name : "", other ? "'" : "");
		s->unit_held |= t.eof;
		if (!one_unit(ev) || !t.enabled_ns ||
		    t.running_ns / 100 >= t.enabled_ns / 100 * SHARED_PERCENT / 100)
			continue;
		s->unit_held = true;
		s_message(
			s, 1,
			"%s: ran %.0f %% of the time that it was enabled (%llu samples): its unit, one for "
			"each CPU, was shared with %s%s%s",
			ev->spec.name, 100.0 * (double)t.running_ns / (double)t.enabled_ns,
			(unsigned long long)t.samples, other ? "'" : "an event of somebody else",
			other ? other->spec.name : "", other ? "'" : "");
	}
}
