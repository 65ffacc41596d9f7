/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diagnose --list and --coverage: what the sources of this machine can do.
 */
#ifndef DA_CMD_COVERAGE_H
#define DA_CMD_COVERAGE_H

#include <stddef.h>

#include "da_coverage.h"
#include "opts.h"

#define SOURCES_MAX 16

/* Opens each source on ourselves, without running it, and closes it. Number of rows. */
size_t sources_list(struct da_source out[SOURCES_MAX]);
/* Runs each event of `events` (NULL: every source that opens) on three loops. 0, or an exit status with the
 * message printed. */
int coverage_run(const struct opts_events *o, char *const argv0[], int argc, bool quiet,
		 struct da_coverage *out);

#endif
