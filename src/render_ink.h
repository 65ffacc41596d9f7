/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Colours of the report's text; shared by src/render_text.c and src/render_heat.c.
 */
#ifndef RENDER_INK_H
#define RENDER_INK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "da_render.h"

enum ink { INK_NONE, INK_TITLE, INK_DIM, INK_WARN, INK_HEAT1, INK_HEAT2, INK_HEAT3, INK_HEAT4 };

void ink(FILE *f, const struct da_render_opts *o, enum ink i);

/* The heat map of one event in one space. 0 or -DA_ENOMEM. */
int render_heat(FILE *f, const struct da_offline_result *r, const struct da_space *s,
		uint32_t event, const struct da_render_opts *o);

#endif
