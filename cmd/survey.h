/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diagnose --list and --coverage: their output.
 */
#ifndef DA_CMD_SURVEY_H
#define DA_CMD_SURVEY_H

#include "opts.h"

enum survey_format { SURVEY_TEXT, SURVEY_JSON, SURVEY_MAIL };

/* Each writes to the file `output` (NULL or "-": standard output) and returns an exit status, with a message
 * printed when it is not 0. Of --list there is no mail. */
int survey_list(const char *output, enum survey_format format);
int survey_coverage(const struct opts_events *o, int argc, char **argv, bool quiet,
		    const char *output, enum survey_format format);

#endif
