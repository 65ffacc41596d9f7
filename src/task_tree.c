/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The persistent trees of task_tree.h. Functions named *_own take over the caller's references
 * to their trees; a node with one reference is taken apart and used again, so a change costs
 * O(log n) nodes.
 *
 * Nodes are reserved before a change begins: in the middle of one there is no way to fail.
 */
#include "task_tree.h"

#include <assert.h>
#include <stdlib.h>

#include "da_error.h"

/* A change cuts along two paths and joins the parts: a few nodes for each of at most 2 x 64
 * levels. */
#define RESERVE 1024

/* Balance: the smaller side has at least 29 % of a node's weight (size + 1). */
#define ALPHA_PCT 29

/* What a node says about its piece, apart from the tree. */
struct piece {
	uint64_t start, end;
	uint32_t rec, id;
};

void tree_pool_init(struct tree_pool *p, uint32_t max_nodes)
{
	*p = (struct tree_pool){.max = max_nodes, .nr = 1, .next_id = 1};
}

void tree_pool_release(struct tree_pool *p)
{
	free(p->node);
	*p = (struct tree_pool){0};
}

/* Makes sure that RESERVE nodes can be taken. */
static int reserve(struct tree_pool *p)
{
	uint32_t used = p->live + 1;
	uint64_t need = (uint64_t)used + RESERVE, room = need + need / 2;
	struct tree_node *node;

	if (need <= p->room)
		return 0;
	if (need > p->max)
		return -DA_ENOMEM;
	room = room > p->max ? p->max : room;
	node = reallocarray(p->node, (size_t)room, sizeof(*node));
	if (!node)
		return -DA_ENOMEM;
	p->node = node;
	p->room = (uint32_t)room;
	return 0;
}

uint32_t tree_ref(struct tree_pool *p, uint32_t root)
{
	if (root)
		p->node[root].refs++;
	return root;
}

/* Depth of the recursion: height of the tree. */
void tree_unref(struct tree_pool *p, uint32_t root)
{
	uint32_t left, right;

	if (!root || --p->node[root].refs)
		return;
	left = p->node[root].left;
	right = p->node[root].right;
	p->node[root].left = p->free;
	p->free = root;
	p->live--;
	tree_unref(p, left);
	tree_unref(p, right);
}

static uint32_t make_own(struct tree_pool *p, uint32_t left, struct piece k, uint32_t right)
{
	uint32_t i = p->free;

	if (i) {
		p->free = p->node[i].left;
	} else {
		assert(p->nr < p->room);
		i = p->nr++;
	}
	p->live++;
	p->node[i] = (struct tree_node){
		.start = k.start,
		.end = k.end,
		.rec = k.rec,
		.id = k.id,
		.left = left,
		.right = right,
		.size = 1 + tree_size(p, left) + tree_size(p, right),
		.refs = 1,
	};
	return i;
}

static struct piece piece_of(const struct tree_node *n)
{
	return (struct piece){.start = n->start, .end = n->end, .rec = n->rec, .id = n->id};
}

/* Takes a tree apart; the caller owns both sides. */
static struct piece expose_own(struct tree_pool *p, uint32_t t, uint32_t *left, uint32_t *right)
{
	struct piece k = piece_of(&p->node[t]);

	*left = tree_ref(p, p->node[t].left);
	*right = tree_ref(p, p->node[t].right);
	tree_unref(p, t);
	return k;
}

static uint64_t weight(const struct tree_pool *p, uint32_t t)
{
	return (uint64_t)tree_size(p, t) + 1;
}

static bool balanced(uint64_t a, uint64_t b)
{
	return a * 100 >= ALPHA_PCT * (a + b) && b * 100 >= ALPHA_PCT * (a + b);
}

static uint32_t rotate_left_own(struct tree_pool *p, uint32_t left, struct piece k, uint32_t right)
{
	uint32_t rl, rr;
	struct piece rk = expose_own(p, right, &rl, &rr);

	return make_own(p, make_own(p, left, k, rl), rk, rr);
}

static uint32_t rotate_right_own(struct tree_pool *p, uint32_t left, struct piece k, uint32_t right)
{
	uint32_t ll, lr;
	struct piece lk = expose_own(p, left, &ll, &lr);

	return make_own(p, ll, lk, make_own(p, lr, k, right));
}

/* `left` is the heavier one: the join happens where its right spine is light enough. */
static uint32_t join_right_own(struct tree_pool *p, uint32_t left, struct piece k, uint32_t right)
{
	uint32_t ll, lr, t, tl, tr;
	struct piece lk;

	if (balanced(weight(p, left), weight(p, right)))
		return make_own(p, left, k, right);
	lk = expose_own(p, left, &ll, &lr);
	t = join_right_own(p, lr, k, right);
	if (balanced(weight(p, ll), weight(p, t)))
		return make_own(p, ll, lk, t);
	tl = p->node[t].left;
	tr = p->node[t].right;
	if (!balanced(weight(p, ll), weight(p, tl)) ||
	    !balanced(weight(p, ll) + weight(p, tl), weight(p, tr))) {
		struct piece tk = expose_own(p, t, &tl, &tr);

		t = rotate_right_own(p, tl, tk, tr);
	}
	return rotate_left_own(p, ll, lk, t);
}

static uint32_t join_left_own(struct tree_pool *p, uint32_t left, struct piece k, uint32_t right)
{
	uint32_t rl, rr, t, tl, tr;
	struct piece rk;

	if (balanced(weight(p, left), weight(p, right)))
		return make_own(p, left, k, right);
	rk = expose_own(p, right, &rl, &rr);
	t = join_left_own(p, left, k, rl);
	if (balanced(weight(p, t), weight(p, rr)))
		return make_own(p, t, rk, rr);
	tl = p->node[t].left;
	tr = p->node[t].right;
	if (!balanced(weight(p, tr), weight(p, rr)) ||
	    !balanced(weight(p, tl), weight(p, tr) + weight(p, rr))) {
		struct piece tk = expose_own(p, t, &tl, &tr);

		t = rotate_left_own(p, tl, tk, tr);
	}
	return rotate_right_own(p, t, rk, rr);
}

static uint32_t join_own(struct tree_pool *p, uint32_t left, struct piece k, uint32_t right)
{
	if (weight(p, left) > weight(p, right))
		return join_right_own(p, left, k, right);
	return join_left_own(p, left, k, right);
}

/* The id of a piece: that of the same piece in `old`, or a new one. */
static uint32_t id_of(struct tree_pool *p, uint32_t old, const struct piece *k)
{
	const struct tree_node *n = tree_floor(p, old, k->start);

	if (n && n->start == k->start && n->end == k->end && n->rec == k->rec)
		return n->id;
	return p->next_id++;
}

/* What lies below addr, as a tree of its own; a piece across addr is cut. Borrows t. */
static uint32_t below(struct tree_pool *p, uint32_t t, uint64_t addr, uint32_t old)
{
	struct piece k;
	uint32_t left, rest;

	while (t && p->node[t].start >= addr)
		t = p->node[t].left;
	if (!t)
		return 0;
	k = piece_of(&p->node[t]);
	left = p->node[t].left;
	if (k.end > addr) {
		k.end = addr;
		k.id = id_of(p, old, &k);
		rest = 0;
	} else {
		uint32_t right = p->node[t].right;

		rest = below(p, right, addr, old);
		if (rest == right) {
			tree_unref(p, rest);
			return tree_ref(p, t);
		}
	}
	return join_own(p, tree_ref(p, left), k, rest);
}

/* What lies at addr and above. */
static uint32_t from(struct tree_pool *p, uint32_t t, uint64_t addr, uint32_t old)
{
	struct piece k;
	uint32_t right, rest;

	while (t && p->node[t].end <= addr)
		t = p->node[t].right;
	if (!t)
		return 0;
	k = piece_of(&p->node[t]);
	right = p->node[t].right;
	if (k.start < addr) {
		k.start = addr;
		k.id = id_of(p, old, &k);
		rest = 0;
	} else {
		uint32_t left = p->node[t].left;

		rest = from(p, left, addr, old);
		if (rest == left) {
			tree_unref(p, rest);
			return tree_ref(p, t);
		}
	}
	return join_own(p, rest, k, tree_ref(p, right));
}

int tree_overlay(struct tree_pool *p, uint32_t root, uint64_t start, uint64_t end, uint32_t rec,
		 uint32_t old, uint32_t *out)
{
	struct piece k = {.start = start, .end = end, .rec = rec};
	uint32_t left, right;
	int rc = reserve(p);

	if (!rc && p->next_id > UINT32_MAX - 3)
		rc = -DA_ENOMEM;
	if (rc)
		return rc;
	k.id = id_of(p, old, &k);
	left = below(p, root, start, old);
	right = from(p, root, end, old);
	*out = join_own(p, left, k, right);
	return 0;
}

const struct tree_node *tree_floor(const struct tree_pool *p, uint32_t root, uint64_t addr)
{
	uint32_t best = 0;

	while (root) {
		const struct tree_node *n = &p->node[root];

		if (n->start <= addr) {
			best = root;
			root = n->right;
		} else {
			root = n->left;
		}
	}
	return best ? &p->node[best] : NULL;
}

const struct tree_node *tree_above(const struct tree_pool *p, uint32_t root, uint64_t addr)
{
	uint32_t best = 0;

	while (root) {
		const struct tree_node *n = &p->node[root];

		if (n->start > addr) {
			best = root;
			root = n->left;
		} else {
			root = n->right;
		}
	}
	return best ? &p->node[best] : NULL;
}

static void push_left(struct tree_walk *w, uint32_t t)
{
	for (; t; t = w->pool->node[t].left) {
		assert(w->depth < TREE_MAX_HEIGHT);
		w->path[w->depth++] = t;
	}
}

const struct tree_node *tree_first(struct tree_walk *w, const struct tree_pool *p, uint32_t root)
{
	w->pool = p;
	w->depth = 0;
	push_left(w, root);
	return w->depth ? &p->node[w->path[w->depth - 1]] : NULL;
}

const struct tree_node *tree_next(struct tree_walk *w)
{
	uint32_t t = w->path[--w->depth];

	push_left(w, w->pool->node[t].right);
	return w->depth ? &w->pool->node[w->path[w->depth - 1]] : NULL;
}
