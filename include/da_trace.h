/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The values of a kernel tracepoint over a recording, field by field, whatever fields its format names: for
 * tracepoints whose meaning we do not know better. Common fields (of every tracepoint) are left out.
 */
#ifndef DA_TRACE_H
#define DA_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_tracepoint.h"

#define DA_TRACE_LAST 64 /* bytes of a value as text, NUL included */

struct da_trace_field {
	const struct da_tp_field *field;
	bool address; /* by its type or name: shown in hexadecimal, never added up */
	uint64_t values;
	uint64_t min, max; /* integers, by their sign */
	uint64_t sum;      /* integers; not if it overflowed */
	bool overflow;
	char last[DA_TRACE_LAST];
};

struct da_trace {
	const struct da_tracepoint *tp;
	uint64_t records, bad; /* bad: did not hold all of their fields */
	struct da_trace_field *fields;
	size_t nr_fields;
};

struct da_trace *da_trace_new(const struct da_tracepoint *tp); /* NULL: out of memory */
void da_trace_free(struct da_trace *t);                        /* NULL allowed */
/* The raw bytes of the next record; 0 or -DA_EDAMAGED. */
int da_trace_add(struct da_trace *t, const uint8_t *raw, size_t len);
/* "name=value name=value": all fields of a record. What it does not hold is "?"; a longer text is cut. */
void da_trace_line(const struct da_tracepoint *tp, const uint8_t *raw, size_t len, char *buf,
		   size_t size);

#endif
