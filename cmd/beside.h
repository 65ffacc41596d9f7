/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diagnose: the kernel's own pipeline is listened to beside our run, by a session of its own for its tracepoints,
 * on all CPUs. What it writes is decoded at the end as any recording is, and its file has no name.
 */
#ifndef DA_CMD_BESIDE_H
#define DA_CMD_BESIDE_H

#include <stdbool.h>

#include "da_error.h"
#include "da_facts.h"
#include "da_session.h"

struct beside {
	struct da_session *session; /* NULL: it does not listen */
	int fd;
	bool stopped;
	char note[128]; /* why it does not listen, or could not tell what it heard */
};

/* May it listen? 0; -DA_ENOENT: the kernel has no such pipeline; or another negative code. */
int beside_possible(struct da_error *err);
/* The same, with the reason in b->note too. */
int beside_start(struct beside *b, struct da_error *err);
/* From time to time: it ends by itself when it has heard enough to fill the disk. */
void beside_tick(struct beside *b);
/* Nothing else runs beside it: a second. */
void beside_wait(void);
/* Ends it, also where it never began: what was heard, or why nothing was, goes to the facts. */
void beside_stop(struct beside *b, struct da_facts *facts);
/* The same for nobody. */
void beside_drop(struct beside *b);

/* Listens for a second, for what the kernel's samples say of their sampler: an event for -e in buf.
 * -DA_EUNSUPPORTED: they do not say. */
int beside_event(char *buf, size_t size, struct da_error *err);

/* What our own run beside it came to: facts->damon then holds the comparison. 0 or -DA_ENOMEM. */
int beside_compare(struct da_facts *facts);

#endif
