/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The readers of damo's forms, shared by src/damo_*.c only: each takes bytes in pieces and gives snapshots.
 */
#ifndef DAMO_PRIV_H
#define DAMO_PRIV_H

#include "da_damo.h"

struct damo_json;

struct da_damo {
	enum da_damo_kind kind;
	struct da_damon *to;
	struct da_damo_info info;
	struct inflater *unzip; /* DA_DAMO_ZIP */
	bool broken;            /* nothing that follows can be read */
	struct damo_json *json;
	/* binary and text: bytes that are not a whole item yet */
	uint8_t *buf;
	size_t len, room;
	int version; /* binary; -1: its mark is to come */
};

/* A snapshot under way; regions are kept until it is known to be whole. */
struct damo_snapshot {
	struct da_damon_region *region;
	size_t nr, room;
	bool has_age;
};

/* 0 or -DA_ENOMEM. A region that ends before it begins, or overlaps the one before, is damage. */
int damo_region(struct damo_snapshot *s, const struct da_damon_region *r);
/* Gives it to d->to and empties it. damo's own trailer, one region of nothing, is left out. */
int damo_give(struct da_damo *d, struct damo_snapshot *s, uint32_t kdamond, uint64_t target_id,
	      uint64_t end_ns);

int damo_json_feed(struct da_damo *d, const uint8_t *bytes, size_t len);
int damo_json_end(struct da_damo *d);
void damo_json_free(struct damo_json *j);
/* Takes whole items from the front of bytes; returns how many bytes it took. */
long damo_binary_take(struct da_damo *d, const uint8_t *bytes, size_t len);
long damo_text_take(struct da_damo *d, const uint8_t *bytes, size_t len, bool last);

#endif
