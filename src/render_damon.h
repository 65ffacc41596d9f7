/* SPDX-License-Identifier: GPL-2.0-only */
/* DAMON's own regions and tracepoints in the report; shared by src/render_*.c. */
#ifndef RENDER_DAMON_H
#define RENDER_DAMON_H

#include "da_json.h"
#include "da_render.h"

/* A member "damon", where there are such; d may be NULL. */
void render_damon_json(struct da_json_out *w, const struct da_damon *d);
/* A section, where there are such. */
void render_damon_text(FILE *f, const struct da_damon *d, const struct da_render_opts *o);
/* A member "tracepoints", and sections, of the recording's tracepoints. */
void render_traces_json(struct da_json_out *w, const struct da_offline_result *r);
void render_traces_text(FILE *f, const struct da_offline_result *r, const struct da_render_opts *o);

#endif
