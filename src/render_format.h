/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers and names as people read them; shared by src/render_*.c and nobody else.
 */
#ifndef RENDER_FORMAT_H
#define RENDER_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "da_offline.h"

#define WORD 32 /* enough for any of these */

/* "1,234,567" */
const char *format_count(char out[WORD], uint64_t n);
/* "s" unless there is one. */
const char *plural(uint64_t n);
/* "64.0 MiB" */
const char *format_bytes(char out[WORD], uint64_t bytes);
/* "41.7 ms"; three digits that count. */
const char *format_time(char out[WORD], uint64_t ns);
/* "41.2 %", "<0.1 %"; "-" when of is 0. */
const char *format_pct(char out[WORD], uint64_t n, uint64_t of);

/* Writes text so that a terminal shows it and obeys nothing: what is no printable character becomes \xNN.
 * At most `columns` (0: no limit); a longer text loses its middle. Returns the columns used. */
size_t put_text(FILE *f, const char *text, size_t columns, bool utf8);
/* One paragraph of words, broken at `width` columns; its first line begins at column `indent`, the others 4
 * columns further. Words are shown as put_text() shows them; the line is not ended. */
void put_wrapped(FILE *f, const char *text, size_t indent, size_t width);
/* The same on a line that is at column `at` already; its other lines begin at column `hang`. */
void put_filled(FILE *f, const char *text, size_t at, size_t hang, size_t width);
/* Columns that put_text() would use without a limit. */
size_t text_columns(const char *text);
/* "Process 4711 ", with its id in its own namespace where that is another. */
void put_process(FILE *f, const struct da_offline_result *r, const struct da_space *s);
/* A mapping's label for a narrow column: the file without its folders. */
const char *label_name(const char *label);

/* Do the event's records say on which CPU they were? Else their ledger stands under CPU 0. */
bool knows_cpu(const struct da_offline_event *e);

/* Half-width of the 95 % interval of a share (Wilson's score interval, which stays sensible for shares near
 * 0 and for few samples): share p of n samples. NaN for n = 0. */
double share_error(double p, uint64_t n);

/* Samples and accesses of one event over a space: what shares are of. */
struct totals {
	uint64_t samples, accesses, reads, writes;
	size_t regions;
	uint64_t effective; /* samples of equal weight that would say as much: what errors are of */
};
/* Fills t[], one for each event of the result. */
void totals_of(const struct da_space *s, struct totals *t, const struct da_offline_result *r);
const struct da_region_stat *stat_of(const struct da_region *r,
				     uint32_t event); /* NULL: no report */

#endif
