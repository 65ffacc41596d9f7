/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue lab's experiments, shown. Decides nothing.
 */
#ifndef DA_RENDER_LAB_H
#define DA_RENDER_LAB_H

#include <stdio.h>

#include "da_json.h"
#include "da_lab.h"

/* After da_lab_plan_conclude(). width: columns of text, 0 for 100. */
void da_render_lab_text(FILE *f, const struct da_lab_plan *p, unsigned width);
/* The member "what_if" of an open object. */
void da_render_lab_json(struct da_json_out *w, const struct da_lab_plan *p);

#endif
