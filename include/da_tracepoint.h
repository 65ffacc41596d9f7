/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel tracepoints by their format texts: the raw bytes of a sample to named values.
 *
 * A set of formats comes from the TRACING_DATA of a recording (perf's tracing data: magic 17 08 44
 * "tracing", version, byte order, long size, page size, then length-prefixed texts) or from tracefs of the
 * running kernel, which da_tracing_data() puts into the same form. Offsets, sizes and signs are always those
 * of the text, never built in. All of it is hostile: nothing is read past the bytes given.
 */
#ifndef DA_TRACEPOINT_H
#define DA_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_error.h"

struct da_tracepoints; /* a set of formats; not for use by two threads at once */
struct da_tracepoint;  /* one tracepoint, owned by its set */

struct da_tracepoints *da_tracepoints_new(void);    /* NULL: out of memory */
void da_tracepoints_free(struct da_tracepoints *t); /* NULL allowed */

/* Takes tracing data and its byte order and long size. The bytes are borrowed until the set is freed, and a
 * set takes them once. -DA_EFORMAT: not tracing data. -DA_EDAMAGED: it does not fit its bytes; what precedes
 * the damage is there. */
int da_tracepoints_data(struct da_tracepoints *t, const uint8_t *p, size_t len,
			struct da_error *err);
bool da_tracepoints_big_endian(const struct da_tracepoints *t);
unsigned da_tracepoints_long_size(const struct da_tracepoints *t);
size_t da_tracepoints_nr(const struct da_tracepoints *t); /* texts with a name and an id */

/* NULL: not in the set, or its text is none. Of two the first. The id is attr.config of the event. */
const struct da_tracepoint *da_tracepoint_find(struct da_tracepoints *t, const char *system,
					       const char *name);
const struct da_tracepoint *da_tracepoint_by_id(struct da_tracepoints *t, uint64_t id);
const char *da_tracepoint_system(const struct da_tracepoint *tp);
const char *da_tracepoint_name(const struct da_tracepoint *tp);
uint64_t da_tracepoint_id(const struct da_tracepoint *tp);

enum da_tp_kind {
	DA_TP_UINT,
	DA_TP_INT,
	DA_TP_TEXT, /* characters, up to a NUL or the end of the field */
	DA_TP_BYTES /* any other array or structure */
};

struct da_tp_field {
	const char *name, *type; /* "nr_regions", "unsigned int" */
	enum da_tp_kind kind;
	uint32_t offset, size; /* in the raw bytes */
	bool common;           /* of every tracepoint: common_pid ... */
	bool dynamic;          /* at offset is where it is: (length << 16) | offset */
	bool relative;         /* and that offset counts from the end of the field */
};

size_t da_tracepoint_nr_fields(const struct da_tracepoint *tp);
const struct da_tp_field *
da_tracepoint_fields(const struct da_tracepoint *tp); /* common ones first */
const struct da_tp_field *da_tracepoint_field(const struct da_tracepoint *tp,
					      const char *name); /* or NULL */

struct da_tp_value {
	enum da_tp_kind kind;
	uint64_t u; /* DA_TP_UINT; DA_TP_INT: the same bits, sign-extended */
	int64_t i;
	const uint8_t
		*bytes; /* DA_TP_TEXT, DA_TP_BYTES: borrowed from the raw bytes, no terminator */
	size_t len;
};

/* The value of a field of tp in the raw bytes of a sample. -DA_EDAMAGED, and zeros, where they do not hold it. */
int da_tracepoint_value(const struct da_tracepoint *tp, const struct da_tp_field *f,
			const uint8_t *raw, size_t len, struct da_tp_value *out);

/* damon:damon_aggregated: one region at the end of one aggregation interval. */
struct da_tp_damon {
	uint64_t target_id, start, end;
	uint32_t nr_regions; /* records of this target in this interval */
	uint32_t nr_accesses, age;
	bool has_age; /* not before about 5.17 */
};

/* True if tp is damon:damon_aggregated and has the fields above (age may be missing). */
bool da_tracepoint_is_damon(const struct da_tracepoint *tp);
/* Only where da_tracepoint_is_damon(). 0 or -DA_EDAMAGED. */
int da_tracepoint_damon(const struct da_tracepoint *tp, const uint8_t *raw, size_t len,
			struct da_tp_damon *out);

/* Does the running kernel have this tracepoint? 1 or 0; -DA_EPERM: tracefs may not be looked into, -DA_ENOENT: there
 * is none. */
int da_tracing_has(const char *tracefs, const char *system, const char *name, struct da_error *err);

/* Tracing data of the running kernel for the tracepoints with these ids. tracefs: where it is mounted, NULL: the
 * usual places. *data is malloc'ed. -DA_ENOENT: no tracefs, or an id that it does not have; -DA_EPERM. */
int da_tracing_data(const char *tracefs, const uint64_t *ids, size_t nr, uint8_t **data,
		    size_t *len, struct da_error *err);

#endif
