/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hash map from 64-bit keys to 32-bit numbers, for ids that come from records (pids, tids).
 * Open addressing, deletion without tombstones; hashed with a seed, so that no file can be made
 * whose ids all collide. No locking.
 */
#ifndef DA_IDMAP_H
#define DA_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idmap_slot;

struct idmap {
	struct idmap_slot *slots; /* 1 << bits of them; NULL while empty */
	size_t nr;
	unsigned bits;
	uint64_t seed;
};

void idmap_init(struct idmap *m, uint64_t seed);
void idmap_release(struct idmap *m);
/* The value of key, or `absent`. */
uint32_t idmap_get(const struct idmap *m, uint64_t key, uint32_t absent);
bool idmap_has(const struct idmap *m, uint64_t key);
/* Adds or replaces; 0 or -DA_ENOMEM (then nothing changed). */
int idmap_put(struct idmap *m, uint64_t key, uint32_t value);
/* True if key was there. */
bool idmap_del(struct idmap *m, uint64_t key);

#endif
