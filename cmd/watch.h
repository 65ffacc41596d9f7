/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diagnose --watch: one line an interval while a session runs, as vmstat prints them.
 */
#ifndef DA_WATCH_H
#define DA_WATCH_H

#include <stdint.h>
#include <stdio.h>

#include "da_session.h"

struct watch {
	FILE *f;
	uint64_t last_ns; /* the rest is private; zeroed at first */
	unsigned lines;
	struct da_counters last;
	uint64_t *seen; /* samples of each CPU */
	size_t nr;
};

/* Prints what came since the last call, as rates a second: the seven counters, and the CPUs that had given
 * samples before and gave none now. */
void watch_line(struct watch *w, const struct da_session *s, uint64_t now_ns);
void watch_release(struct watch *w);

#endif
