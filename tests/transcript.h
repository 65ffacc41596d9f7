/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a whole recording through da_reader: counts, or as text to compare with that of another one.
 */
#ifndef TRANSCRIPT_H
#define TRANSCRIPT_H

#include <stdint.h>

#include "da_perfdata.h"

struct tally {
	int ret;          /* of the last da_reader_next(): 0 at the end */
	uint64_t records; /* a record with a payload counts once */
	uint64_t by_type[128];
	uint64_t by_event[16];
	uint64_t no_event;        /* samples without an event */
	uint64_t timed;           /* records with a time that is not 0 */
	uint64_t backwards;       /* of them those before the one that they follow */
	uint64_t damaged_samples; /* da_samp_parse() failed */
	uint64_t payload;         /* bytes */
};

/* Reads on from where the reader is. */
void tally(struct da_reader *r, struct tally *t);

/* What a recording says, as text that depends neither on byte order nor on where records lie; free() it.
 * A refusal is text too: "refused CODE: MESSAGE". */
char *transcript_of_path(const char *path);
char *transcript_of_bytes(const void *p, size_t n);
/* Removes the lines that begin with one of three words, in place; returns text. */
char *without_lines(char *text, const char *a, const char *b, const char *c);

#endif
