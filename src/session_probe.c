/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probes of a session: bound to its events, so that the live match layer counts what they drop. Their
 * hits are report's business; the recording keeps their text with the other options.
 */
#include <stdlib.h>

#include "session_priv.h"

int s_probes(struct da_session *s, struct da_error *err)
{
	struct da_probe_event *ev;
	int rc = 0;

	if (!s->o.nr_probes)
		return 0;
	s->probes = da_probes_new();
	ev = calloc(s->nr_ev + 1, sizeof(*ev));
	if (!s->probes || !ev)
		rc = da_fail(err, DA_ENOMEM, 0, "out of memory");
	for (size_t i = 0; i < s->o.nr_probes && !rc; i++)
		rc = da_probes_add(s->probes, s->o.probes[i], err);
	for (size_t i = 0; i < s->nr_ev && !rc; i++)
		ev[i] = (struct da_probe_event){.name = s->ev[i].spec.name,
						.buffer = s->ev[i].spec.buffer,
						.producer = s->ev[i].spec.producer};
	if (!rc)
		rc = da_probes_bind(s->probes, ev, s->nr_ev, err);
	free(ev);
	s->o.probes = NULL; /* the caller's */
	return rc;
}
