/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON: a writer for every machine format, and a reader of the texts that our recordings hold.
 *
 * Writer: output is valid whatever bytes a string holds (what is not UTF-8 becomes U+FFFD, control
 * characters are escaped). Errors of the stream are the stream's: look at ferror() in the end.
 *
 * Reader: json-c, with the lookups that take no wrong value for a right one. Texts may come from a damaged or
 * hostile file: their length, depth and the memory that they may take are bounded.
 */
#ifndef DA_JSON_H
#define DA_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DA_JSON_DEPTH    32
#define DA_JSON_MAX_TEXT (8u << 20) /* longer texts are not read */

struct da_json_out {
	FILE *f;
	bool compact;   /* one line; else indented, members of a `flat` container on one line */
	unsigned depth; /* private from here on */
	bool empty;     /* nothing yet in the innermost container */
	bool flat[DA_JSON_DEPTH];
	char close[DA_JSON_DEPTH];
};

/* Starts a text; the stream is borrowed. */
void da_json_begin(struct da_json_out *w, FILE *f, bool compact);
/* Ends the text with a newline; every container must be closed. */
void da_json_finish(struct da_json_out *w);

/* In all of these key is NULL in an array and for the outermost value. A flat container is one line even
 * in indented text. */
void da_json_object(struct da_json_out *w, const char *key);
void da_json_array(struct da_json_out *w, const char *key);
void da_json_flat_object(struct da_json_out *w, const char *key);
void da_json_flat_array(struct da_json_out *w, const char *key);
void da_json_close(struct da_json_out *w);
void da_json_string(struct da_json_out *w, const char *key, const char *s); /* NULL: null */
void da_json_u64(struct da_json_out *w, const char *key, uint64_t v);
void da_json_i64(struct da_json_out *w, const char *key, int64_t v);
/* -1 means not measured: null. */
void da_json_measured(struct da_json_out *w, const char *key, int64_t v);
void da_json_hex(struct da_json_out *w, const char *key, uint64_t v);  /* "0x7f00" */
void da_json_double(struct da_json_out *w, const char *key, double v); /* not finite: null */
void da_json_bool(struct da_json_out *w, const char *key, bool v);
void da_json_null(struct da_json_out *w, const char *key);
/* A value that is text already: exactly one JSON value, copied as it is. */
void da_json_raw(struct da_json_out *w, const char *key, const char *text);

/* A compact text in memory. It must not move between begin and end, and every begin needs its end. */
struct da_json_mem {
	struct da_json_out w; /* write here */
	char *text;           /* private from here on */
	size_t size;
};

/* False: out of memory. */
bool da_json_mem_begin(struct da_json_mem *m);
/* The text, malloc'ed, without a newline at its end; NULL: out of memory. */
char *da_json_mem_end(struct da_json_mem *m);

/* A value of a text that da_json_open() accepted, borrowed from its root. */
struct da_json {
	const void *obj; /* private; NULL is the value null */
};

/* True if the text (no terminator needed) is one JSON value as json-c's strict mode has it (which takes NaN,
 * "1." and control characters in strings too), nested at most DA_JSON_DEPTH deep; then *root takes a
 * da_json_free(). False and nothing to free: it is not, it is too large, or memory is out. */
bool da_json_open(const char *text, size_t len, struct da_json *root);
void da_json_free(struct da_json *root);
/* A member of an object; false if v is no object or has none of this name. Of two with one name the last. */
bool da_json_get(const struct da_json *v, const char *key, struct da_json *out);
/* Elements of an array in turn: start with *pos = 0. False at the end, or if v is no array. */
bool da_json_next(const struct da_json *v, size_t *pos, struct da_json *out);
/* Number of elements; 0 if v is no array. */
size_t da_json_count(const struct da_json *v);
bool da_json_is_object(const struct da_json *v);
bool da_json_is_null(const struct da_json *v);
/* The value as compact text, malloc'ed; NULL: out of memory. */
char *da_json_text(const struct da_json *v);

/* Members with a type; false, and *out untouched, if absent or of another type or out of range. (Above
 * UINT64_MAX json-c does not tell: such a number reads as UINT64_MAX.) */
bool da_json_get_u64(const struct da_json *v, const char *key, uint64_t *out);
bool da_json_get_i64(const struct da_json *v, const char *key, int64_t *out);
bool da_json_get_bool(const struct da_json *v, const char *key, bool *out);
/* Cut to size - 1 bytes at a character; \u0000 ends it. */
bool da_json_get_string(const struct da_json *v, const char *key, char *out, size_t size);

#endif
