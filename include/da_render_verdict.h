/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A verdict in words and in machine formats. The renderers decide nothing: what is shown is in the verdict
 * and its facts. Stream errors are the stream's: look at ferror() in the end.
 */
#ifndef DA_RENDER_VERDICT_H
#define DA_RENDER_VERDICT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "da_compare.h"
#include "da_facts.h"
#include "da_lab.h"
#include "da_verdict.h"

struct da_verdict_view {
	const struct da_verdict *verdict;
	const struct da_facts *facts;  /* those that were judged */
	const struct da_facts *decode; /* from a file: what this decode found; NULL: a live run */
	const struct da_compare *compare; /* text and json: with a baseline; NULL: none */
	const struct da_lab_plan *lab;    /* text and json: its experiments; NULL: none */
	bool recorded;                    /* facts are what the recording run stored */
	int64_t resync_bytes;             /* bytes that the decode skipped; -1 not measured */
	bool color, verbose, quiet;       /* text only; quiet: the last line only */
	unsigned width;                   /* text: columns to fill, 0 does not wrap */
};

void da_render_verdict_text(FILE *f, const struct da_verdict_view *v);
void da_render_verdict_json(FILE *f, const struct da_verdict_view *v);
void da_render_verdict_tap(FILE *f, const struct da_verdict_view *v);   /* KTAP version 1 */
void da_render_verdict_junit(FILE *f, const struct da_verdict_view *v); /* JUnit XML */

#endif
