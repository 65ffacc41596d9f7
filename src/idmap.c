/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hash map of idmap.h: linear probing at a load of at most 3/4; a deletion moves later
 * entries of the same run back, so runs never fill up with dead slots.
 */
#include "idmap.h"

#include <stdlib.h>

#include "da_error.h"

#define MIN_BITS 6

struct idmap_slot {
	uint64_t key;
	uint32_t value;
	uint32_t used;
};

/* MurmurHash3's finalizer (Appleby, public domain) over the seeded key. */
static size_t home(const struct idmap *m, uint64_t key)
{
	key ^= m->seed;
	key = (key ^ (key >> 33)) * 0xff51afd7ed558ccdull;
	key = (key ^ (key >> 33)) * 0xc4ceb9fe1a85ec53ull;
	return (size_t)((key ^ (key >> 33)) >> (64 - m->bits));
}

/* The key's slot, or the free one where it would go. The table is never full. */
static size_t locate(const struct idmap *m, uint64_t key)
{
	size_t mask = ((size_t)1 << m->bits) - 1, i = home(m, key);

	while (m->slots[i].used && m->slots[i].key != key)
		i = (i + 1) & mask;
	return i;
}

void idmap_init(struct idmap *m, uint64_t seed)
{
	*m = (struct idmap){.seed = seed};
}

void idmap_release(struct idmap *m)
{
	free(m->slots);
	*m = (struct idmap){0};
}

uint32_t idmap_get(const struct idmap *m, uint64_t key, uint32_t absent)
{
	size_t i;

	if (!m->slots)
		return absent;
	i = locate(m, key);
	return m->slots[i].used ? m->slots[i].value : absent;
}

bool idmap_has(const struct idmap *m, uint64_t key)
{
	return m->slots && m->slots[locate(m, key)].used;
}

static int grow(struct idmap *m)
{
	struct idmap bigger = {.bits = m->slots ? m->bits + 1 : MIN_BITS, .seed = m->seed};
	size_t nr = m->slots ? (size_t)1 << m->bits : 0;

	bigger.slots = calloc((size_t)1 << bigger.bits, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -DA_ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (m->slots[i].used)
			bigger.slots[locate(&bigger, m->slots[i].key)] = m->slots[i];
	bigger.nr = m->nr;
	free(m->slots);
	*m = bigger;
	return 0;
}

int idmap_put(struct idmap *m, uint64_t key, uint32_t value)
{
	size_t i;

	if (!m->slots || m->nr + 1 > ((size_t)3 << m->bits) / 4) {
		int rc = grow(m);

		if (rc)
			return rc;
	}
	i = locate(m, key);
	m->nr += !m->slots[i].used;
	m->slots[i] = (struct idmap_slot){.key = key, .value = value, .used = 1};
	return 0;
}

bool idmap_del(struct idmap *m, uint64_t key)
{
	size_t mask, gap, i;

	if (!m->slots)
		return false;
	mask = ((size_t)1 << m->bits) - 1;
	gap = locate(m, key);
	if (!m->slots[gap].used)
		return false;
	for (i = (gap + 1) & mask; m->slots[i].used; i = (i + 1) & mask) {
		size_t from_home = (i - home(m, m->slots[i].key)) & mask;

		if (from_home < ((i - gap) & mask))
			continue; /* its home lies behind the gap: it may not move before it */
		m->slots[gap] = m->slots[i];
		gap = i;
	}
	m->slots[gap].used = 0;
	m->nr--;
	return true;
}
