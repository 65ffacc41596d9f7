/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of damo, DAMON's user-space tool, both ways: its JSON (plain or a zlib stream), its old binary form and
 * perf's text of damon:damon_aggregated are read into a struct da_damon; JSON is written.
 *
 * Reading is a stream of bytes in pieces of any size; what it needs of memory is bounded by a snapshot. Damage
 * costs the snapshot that it is in.
 */
#ifndef DA_DAMO_H
#define DA_DAMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "da_damon.h"
#include "da_error.h"

enum da_damo_kind {
	DA_DAMO_NONE, /* another kind of file */
	DA_DAMO_ZIP,  /* json_compressed */
	DA_DAMO_JSON,
	DA_DAMO_BINARY, /* versions 1 and 2 */
	DA_DAMO_BINARY0,
	DA_DAMO_TEXT, /* perf script */
	DA_DAMO_NR
};
const char *da_damo_kind_name(enum da_damo_kind k);

#define DA_DAMO_HEAD 4096 /* so much of the start is enough to tell the kind */
enum da_damo_kind da_damo_detect(const uint8_t *head, size_t len);

struct da_damo_info {
	enum da_damo_kind kind;
	uint64_t bytes, records, snapshots;
	uint64_t
		damaged; /* snapshots and regions that could not be read, places where it broke off */
	bool has_intervals;
	uint64_t sample_us, aggr_us; /* of the first record that says them */
};

struct da_damo;

/* Regions go to `to`, one kdamond a record: its kdamond_idx where the record says one. NULL: no memory. */
struct da_damo *da_damo_new(enum da_damo_kind kind, struct da_damon *to);
/* 0 or -DA_ENOMEM. */
int da_damo_feed(struct da_damo *d, const uint8_t *bytes, size_t len);
/* The end of the bytes; then only free. 0 or -DA_ENOMEM. */
int da_damo_end(struct da_damo *d, struct da_damo_info *info);
void da_damo_free(struct da_damo *d);

/* A whole file. 1: it is none of these, and *to stays NULL; 0: *to is finished, and the caller's. -DA_EFORMAT:
 * it seems to be one, and nothing in it can be read. */
int da_damo_read(const char *path, struct da_damon **to, struct da_damo_info *info,
		 struct da_error *err);

/* ---- writing ---- */

struct da_damo_out;

/* Snapshots of any number of targets in any order; each target's are kept in a file without a name until the end.
 * Intervals of 0: not known. NULL: no memory. */
struct da_damo_out *da_damo_out_new(uint64_t sample_us, uint64_t aggr_us, uint64_t update_us);
/* Errors are kept for da_damo_out_end(). */
void da_damo_out_snapshot(struct da_damo_out *o, uint64_t target_id, uint64_t start_ns,
			  uint64_t end_ns, const struct da_damon_region *r, size_t nr);
/* Writes all as json_compressed, and frees. 0, -DA_ENOMEM or -DA_EIO (errno); errors of f are the stream's. */
int da_damo_out_end(struct da_damo_out *o, FILE *f);
void da_damo_out_free(struct da_damo_out *o); /* instead of the end; NULL allowed */

#endif
