/* SPDX-License-Identifier: GPL-2.0-only */
/* DAMON's own regions and tracepoints in the report; shared by src/render_*.c. */
#ifndef RENDER_DAMON_H
#define RENDER_DAMON_H

#include "da_json.h"
#include "da_render.h"

/* Members "damon" and "tracepoints", where the recording has such samples. */
void render_damon_json(struct da_json_out *w, const struct da_offline_result *r);
/* Sections, where the recording has such samples. */
void render_damon_text(FILE *f, const struct da_offline_result *r, const struct da_render_opts *o);

#endif
