/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diagnose --baseline FILE: what a run is compared with.
 */
#ifndef DA_BASELINE_H
#define DA_BASELINE_H

#include "da_compare.h"
#include "da_error.h"

/* FILE is what `diagnose --format=json` wrote, or a recording, which is judged in the same way. 0, or a negative
 * code with a message. */
int baseline_read(const char *path, struct da_compare_side *s, struct da_error *err);

#endif
