/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON: a writer for every machine format, and a reader over borrowed text.
 *
 * Writer: output is valid whatever bytes a string holds (what is not UTF-8 becomes U+FFFD, control
 * characters are escaped). Errors of the stream are the stream's: look at ferror() in the end.
 *
 * Reader: da_json_open() checks the whole text once; the values are views into it, so nothing is allocated
 * and hostile text costs no memory. A lookup scans its object: for the small texts that we write.
 */
#ifndef DA_JSON_H
#define DA_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DA_JSON_DEPTH 32

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

/* One value inside a text that da_json_open() accepted. */
struct da_json {
	const char *p;
	size_t len;
};

/* True if the text is exactly one JSON value, nested at most DA_JSON_DEPTH deep; *v borrows it. */
bool da_json_open(const char *text, size_t len, struct da_json *v);
/* A member of an object; false if v is no object or has none of this name. */
bool da_json_get(const struct da_json *v, const char *key, struct da_json *out);
/* Elements of an array in turn: start with *pos = 0. False at the end, or if v is no array. */
bool da_json_next(const struct da_json *v, size_t *pos, struct da_json *out);
bool da_json_is_null(const struct da_json *v);

/* Members with a type; false, and *out untouched, if absent or of another type or out of range. */
bool da_json_get_u64(const struct da_json *v, const char *key, uint64_t *out);
bool da_json_get_i64(const struct da_json *v, const char *key, int64_t *out);
bool da_json_get_bool(const struct da_json *v, const char *key, bool *out);
/* Unescaped and cut to size - 1 bytes at a character; \u0000 ends it. */
bool da_json_get_string(const struct da_json *v, const char *key, char *out, size_t size);

#endif
