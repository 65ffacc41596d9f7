/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The note about samplers that gave samples and then stopped while a reference went on. (One that never gave any
 * is the sample layer's own business.)
 */
#include <inttypes.h>
#include <stdio.h>

#include "verdict_priv.h"

static const char *const refs[] = {
	[DA_SILENT_COUNTER] = "its own counter went on",
	[DA_SILENT_EVENTS] = "another event on that CPU went on",
	[DA_SILENT_CPUS] = "the other CPUs went on",
};

bool vd_note_silence(const struct vd_event *e, struct da_check *c)
{
	const struct da_facts_cpu *first = NULL;
	struct da_cause *k;
	size_t nr = 0;

	for (size_t i = 0; i < e->ev->nr_cpus; i++) {
		const struct da_facts_cpu *r = &e->ev->cpus[i];

		if (!r->silent_due || r->silent_ref >= sizeof(refs) / sizeof(refs[0]))
			continue;
		nr++;
		if (!first || r->silent_since_ns < first->silent_since_ns)
			first = r;
	}
	if (!first)
		return false;
	snprintf(c->title, sizeof(c->title), "stopped sampling after %.3g s on %zu of %zu CPUs",
		 (double)first->silent_since_ns / 1e9, nr, e->rows);
	vd_evidence(c,
		    "first CPU %" PRIu32
		    ": the last sample came %.3f s after the start; %s, by which %" PRIu64
		    " more samples were due",
		    first->cpu, (double)first->silent_since_ns / 1e9, refs[first->silent_ref],
		    first->silent_due);
	k = vd_cause(c, "sampler_stopped");
	vd_cause_evidence(k, "%" PRIu64 " samples before, none of %" PRIu64 " due after",
			  first->ledger.in[DA_STAGE_SAMPLE], first->silent_due);
	vd_fix(k,
	       "dmesg | tail; then with a reference beside it: damon-attrs diagnose -e %s,cpu-clock --duration 15m",
	       vd_spec(e));
	return true;
}
