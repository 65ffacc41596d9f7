/* SPDX-License-Identifier: GPL-2.0-only */
/* Records of damo in `report`: reading them instead of a recording, and writing one; of cmd/report.c. */
#ifndef REPORT_DAMO_H
#define REPORT_DAMO_H

#include <stdbool.h>
#include <stdio.h>

#include "da_match.h"
#include "da_render.h"

enum report_damo_format { REPORT_DAMO_TEXT, REPORT_DAMO_JSON, REPORT_DAMO_CSV, REPORT_DAMO_OTHER };

/* Shows path if it is a record of damo; the exit status. -1: it is not, and nothing was done. */
int report_damo(const char *path, FILE *out, enum report_damo_format format,
		const struct da_render_opts *o, bool quiet);
/* Lets the snapshots of --regions=damon go to *w; false: no memory. */
bool report_damo_begin(struct da_match_opts *m, struct da_damo_out **w);
/* Writes them; frees w. The exit status so far, or 1. */
int report_damo_end(struct da_damo_out *w, FILE *out, int status);

#endif
