/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pieces of code that a recording holds, found by object, address and time. Each is listed under every
 * page that it touches, in a hash of (object, page).
 *
 * Pieces come from files, so all is bounded: bytes in all, and how many a look-up must walk.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "code_priv.h"
#include "da_error.h"

#define PAGE_SHIFT   12
#define MAX_BYTES    (32u << 20) /* code and bookkeeping */
#define MAX_PER_PAGE 256u
#define CHUNK        (64u << 10)
#define NONE         UINT32_MAX

struct piece {
	struct code_key key;
	uint64_t addr, time_ns;
	const uint8_t *bytes;
	uint32_t len;
};

/* One page of one piece. */
struct node {
	uint32_t piece, next;
};

struct chunk {
	struct chunk *next;
	uint8_t bytes[];
};

struct code_pieces {
	struct piece *piece;
	struct node *node;
	uint32_t *head; /* 1 << bits lists of nodes */
	struct chunk *chunks;
	size_t chunk_left;
	size_t bytes; /* counted against MAX_BYTES */
	uint64_t seed;
	uint32_t nr_pieces, room_pieces, nr_nodes, room_nodes;
	unsigned bits;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static uint32_t bucket(const struct code_pieces *p, const struct code_key *k, uint64_t page)
{
	uint64_t h = mix(p->seed, k->ino);

	h = mix(h, (uint64_t)k->maj << 32 | k->min);
	h = mix(h, k->ino_gen);
	h = mix(h, k->pid);
	h = mix(h, page);
	return (uint32_t)(mix(h, 0) >> (64 - p->bits));
}

static bool same_key(const struct code_key *a, const struct code_key *b)
{
	return a->ino == b->ino && a->maj == b->maj && a->min == b->min &&
	       a->ino_gen == b->ino_gen && a->pid == b->pid;
}

static bool new_heads(struct code_pieces *p, unsigned bits)
{
	uint32_t *head = malloc(sizeof(*head) << bits);

	if (!head)
		return false;
	memset(head, 0xff, sizeof(*head) << bits); /* NONE */
	free(p->head);
	p->head = head;
	p->bits = bits;
	return true;
}

struct code_pieces *code_pieces_new(void)
{
	struct code_pieces *p = calloc(1, sizeof(*p));

	if (!p || !new_heads(p, 8)) {
		free(p);
		return NULL;
	}
	/* Without random numbers a hostile file can make long lists; MAX_BYTES still bounds them. */
	if (getrandom(&p->seed, sizeof(p->seed), GRND_NONBLOCK) != sizeof(p->seed))
		p->seed = (uintptr_t)p;
	return p;
}

void code_pieces_free(struct code_pieces *p)
{
	if (!p)
		return;
	for (struct chunk *c = p->chunks, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	free(p->piece);
	free(p->node);
	free(p->head);
	free(p);
}

static bool covers(const struct piece *e, uint64_t addr)
{
	return addr >= e->addr && addr - e->addr < e->len;
}

/* Does the piece add nothing to what there is? *per_page: the longest list it would be on. */
static bool known(const struct code_pieces *p, const struct piece *new, uint32_t *per_page)
{
	uint64_t last = (new->addr + new->len - 1) >> PAGE_SHIFT;

	*per_page = 0;
	for (uint64_t page = new->addr >> PAGE_SHIFT; page <= last; page++) {
		uint32_t n = 0;

		for (uint32_t i = p->head[bucket(p, &new->key, page)]; i != NONE;
		     i = p->node[i].next) {
			const struct piece *e = &p->piece[p->node[i].piece];

			if (!same_key(&e->key, &new->key))
				continue;
			n++;
			if (e->time_ns == new->time_ns && covers(e, new->addr) &&
			    covers(e, new->addr + new->len - 1) &&
			    memcmp(e->bytes + (new->addr - e->addr), new->bytes, new->len) == 0)
				return true;
		}
		if (n > *per_page)
			*per_page = n;
	}
	return false;
}

static const uint8_t *keep_bytes(struct code_pieces *p, const uint8_t *bytes, uint32_t len)
{
	uint8_t *to;

	if (!p->chunks || p->chunk_left < len) {
		size_t size = len > CHUNK ? len : CHUNK;
		struct chunk *c = malloc(sizeof(*c) + size);

		if (!c)
			return NULL;
		c->next = p->chunks;
		p->chunks = c;
		p->chunk_left = size;
	}
	p->chunk_left -= len;
	to = p->chunks->bytes + p->chunk_left;
	memcpy(to, bytes, len);
	return to;
}

static void list(struct code_pieces *p, uint32_t node)
{
	const struct piece *e = &p->piece[p->node[node].piece];
	uint64_t page = e->addr >> PAGE_SHIFT;
	uint32_t *head, first = node;

	/* The nodes of a piece lie side by side, one a page. */
	while (first > 0 && p->node[first - 1].piece == p->node[node].piece)
		first--;
	head = &p->head[bucket(p, &e->key, page + (node - first))];
	p->node[node].next = *head;
	*head = node;
}

static bool grow(struct code_pieces *p, uint32_t pages)
{
	if (p->nr_pieces == p->room_pieces) {
		uint32_t room = p->room_pieces ? p->room_pieces * 2 : 64;
		struct piece *piece = reallocarray(p->piece, room, sizeof(*piece));

		if (!piece)
			return false;
		p->piece = piece;
		p->room_pieces = room;
	}
	if (p->room_nodes - p->nr_nodes < pages) {
		uint32_t room = (p->nr_nodes + pages) * 2;
		struct node *node = reallocarray(p->node, room, sizeof(*node));

		if (!node)
			return false;
		p->node = node;
		p->room_nodes = room;
	}
	if (p->nr_nodes >> p->bits) {
		if (!new_heads(p, p->bits + 1))
			return false;
		for (uint32_t i = 0; i < p->nr_nodes; i++)
			list(p, i);
	}
	return true;
}

int code_pieces_add(struct code_pieces *p, const struct da_own_code *c)
{
	struct piece new = {
		.key = {c->pid, c->maj, c->min, c->ino, c->ino_gen},
		.addr = c->addr,
		.time_ns = c->time_ns,
		.bytes = c->bytes,
		.len = c->len,
	};
	uint32_t per_page, pages;
	size_t bytes;

	if (!c->len || c->len > DA_OWN_MAX_PAYLOAD || c->addr > UINT64_MAX - c->len)
		return 0;
	pages = (uint32_t)(((c->addr + c->len - 1) >> PAGE_SHIFT) - (c->addr >> PAGE_SHIFT) + 1);
	bytes = sizeof(new) + pages * sizeof(struct node) + c->len;
	if (bytes > MAX_BYTES - p->bytes || known(p, &new, &per_page) || per_page >= MAX_PER_PAGE)
		return 0;
	if (!grow(p, pages))
		return -DA_ENOMEM;
	new.bytes = keep_bytes(p, c->bytes, c->len);
	if (!new.bytes)
		return -DA_ENOMEM;
	p->bytes += bytes;
	p->piece[p->nr_pieces] = new;
	for (uint32_t i = 0; i < pages; i++) {
		p->node[p->nr_nodes] = (struct node){.piece = p->nr_pieces};
		list(p, p->nr_nodes++);
	}
	p->nr_pieces++;
	return 1;
}

void code_pieces_each(const struct code_pieces *p, da_code_save_fn fn, void *ctx)
{
	for (uint32_t i = 0; i < p->nr_pieces; i++) {
		const struct piece *e = &p->piece[i];
		struct da_own_code c = {.pid = e->key.pid,
					.maj = e->key.maj,
					.min = e->key.min,
					.ino = e->key.ino,
					.ino_gen = e->key.ino_gen,
					.addr = e->addr,
					.time_ns = e->time_ns,
					.len = e->len,
					.bytes = e->bytes};

		fn(ctx, &c);
	}
}

struct code_found code_pieces_find(const struct code_pieces *p, const struct code_key *key,
				   uint64_t addr, uint64_t since, uint64_t time_ns)
{
	struct code_found found = {.to = UINT64_MAX};
	const struct piece *best = NULL;
	uint64_t left, best_left = 0;

	for (uint32_t i = p->head[bucket(p, key, addr >> PAGE_SHIFT)]; i != NONE;
	     i = p->node[i].next) {
		const struct piece *e = &p->piece[p->node[i].piece];

		if (!covers(e, addr) || e->time_ns < since || !same_key(&e->key, key))
			continue;
		if (e->time_ns > time_ns) {
			if (e->time_ns < found.to)
				found.to = e->time_ns;
			continue;
		}
		left = e->len - (addr - e->addr);
		if (!best || e->time_ns > best->time_ns ||
		    (e->time_ns == best->time_ns && left > best_left)) {
			best = e;
			best_left = left;
		}
	}
	if (best) {
		found.from = best->time_ns;
		found.n = best_left < sizeof(found.bytes) ? (size_t)best_left : sizeof(found.bytes);
		memcpy(found.bytes, best->bytes + (addr - best->addr), found.n);
	}
	return found;
}
