/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks of memory that hold records while they wait to be sorted.
 *
 * A window reads the file into a block; records that must wait stay where they are, and the window goes on
 * in another block. A block is used again when no record waits in it and nobody writes to it.
 */
#include <stdlib.h>
#include <string.h>

#include "perfdata_priv.h"

void blocks_release(struct blocks *bs)
{
	for (unsigned i = 0; i < BLOCKS_MAX; i++)
		free(bs->b[i].p);
	memset(bs, 0, sizeof(*bs));
}

int blocks_take(struct blocks *bs)
{
	for (unsigned i = 0; i < BLOCKS_MAX; i++) {
		struct block *b = &bs->b[i];

		if (b->pinned || b->waiting || b->lent)
			continue;
		if (!b->p)
			b->p = malloc(BLOCK_BYTES);
		if (!b->p)
			return -1;
		b->pinned = true;
		b->copies = false;
		bs->in_use++;
		return (int)i;
	}
	return -1;
}

/* Ends the use of a block for which there is no reason any more. */
static void check_use(struct blocks *bs, struct block *b)
{
	if (!b->pinned && !b->waiting)
		bs->in_use--;
}

void blocks_unpin(struct blocks *bs, int i)
{
	bs->b[i].pinned = false;
	check_use(bs, &bs->b[i]);
}

void blocks_done(struct blocks *bs, unsigned i)
{
	bs->b[i].waiting--;
	check_use(bs, &bs->b[i]);
}
