/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Address spaces as persistent trees: every change makes a new root and leaves the old one as it
 * was, so an address space at any time, and a forked copy of it, is one number. Roots share what
 * they have in common; nodes are counted and freed with their last root.
 *
 * A tree holds disjoint pieces of mappings, sorted by address and weight-balanced (join-based:
 * Blelloch, Ferizovic, Sun, "Just Join for Parallel Ordered Sets", 2016), so its height is below
 * 2.1 log2(pieces) whatever the input. Root 0 is the empty tree. No locking.
 */
#ifndef DA_TASK_TREE_H
#define DA_TASK_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define TREE_MAX_HEIGHT 64 /* 2.1 log2(2^30), rounded up */

/* A piece of a mapping, and a node. */
struct tree_node {
	uint64_t start, end; /* [start, end) */
	uint32_t rec;        /* the mapping that it is a piece of: the caller's number */
	uint32_t id;         /* of this piece: never used again, another one when it is cut */
	uint32_t left, right;
	uint32_t size; /* pieces in this subtree */
	uint32_t refs;
};

struct tree_pool {
	struct tree_node *node; /* [0] is not used */
	uint32_t nr, room, max; /* nr: ever used at once */
	uint32_t free;          /* list through left */
	uint32_t live;
	uint32_t next_id;
};

void tree_pool_init(struct tree_pool *p, uint32_t max_nodes);
void tree_pool_release(struct tree_pool *p);

uint32_t tree_ref(struct tree_pool *p, uint32_t root); /* returns root */
void tree_unref(struct tree_pool *p, uint32_t root);

/* A new root, owned by the caller: `root` with [start, end) of mapping rec laid over what was
 * there. A piece that `old` (0: none) holds just as well keeps its id. -DA_ENOMEM: no memory or
 * max_nodes. */
int tree_overlay(struct tree_pool *p, uint32_t root, uint64_t start, uint64_t end, uint32_t rec,
		 uint32_t old, uint32_t *out);

/* The piece with the highest start <= addr; NULL: none. Valid until the next change. */
const struct tree_node *tree_floor(const struct tree_pool *p, uint32_t root, uint64_t addr);
/* The piece with the lowest start > addr. */
const struct tree_node *tree_above(const struct tree_pool *p, uint32_t root, uint64_t addr);

static inline uint32_t tree_size(const struct tree_pool *p, uint32_t root)
{
	return root ? p->node[root].size : 0;
}

/* Walks in address order: tree_first(), then tree_next() until NULL. */
struct tree_walk {
	const struct tree_pool *pool;
	uint32_t path[TREE_MAX_HEIGHT];
	unsigned depth;
};
const struct tree_node *tree_first(struct tree_walk *w, const struct tree_pool *p, uint32_t root);
const struct tree_node *tree_next(struct tree_walk *w);

#endif
