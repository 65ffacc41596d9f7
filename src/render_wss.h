/* SPDX-License-Identifier: GPL-2.0-only */
/* Working-set sizes and hot and cold memory of a target of DAMON's; shared by src/render_*.c. */
#ifndef RENDER_WSS_H
#define RENDER_WSS_H

#include "da_damon.h"
#include "da_json.h"
#include "da_render.h"

/* Members "wss" and "hot_cold". */
void render_wss_json(struct da_json_out *w, const struct da_damon_target *t);
void render_wss_text(FILE *f, const struct da_damon_target *t, const struct da_render_opts *o);

#endif
