/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings kept once each (names of mappings, comms), and what kind of mapping a name says.
 * Strings stay where they are until release. No locking.
 */
#ifndef DA_TASK_NAMES_H
#define DA_TASK_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_task.h"

struct names {
	const char **table; /* open addressing, 1 << bits */
	size_t nr;
	unsigned bits;
	uint64_t seed;
	struct names_chunk *chunks;
};

void names_init(struct names *n, uint64_t seed);
void names_release(struct names *n);
/* The kept copy of text; NULL: out of memory. */
const char *names_keep(struct names *n, const char *text);

/* MAP_PRIVATE tells private /dev/zero memory from shared anonymous memory: `shared` when the
 * record said so or did not say. */
enum da_map_kind names_map_kind(const char *name, bool shared);

#endif
