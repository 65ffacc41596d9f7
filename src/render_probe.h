/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the renderers show of probes; shared by src/render_*.c and nobody else. All of it is nothing without
 * probes.
 */
#ifndef RENDER_PROBE_H
#define RENDER_PROBE_H

#include <stdio.h>

#include "da_json.h"
#include "da_render.h"

/* NULL: no report of the probe was for this region. */
const struct da_region_stat *probe_stat(const struct da_region *g,
					const struct da_offline_result *r, size_t probe);
uint64_t probe_score(const struct da_region *g, const struct da_offline_result *r);

/* "probes" of a region, and its score. */
void probe_region_json(struct da_json_out *w, const struct da_offline_result *r,
		       const struct da_region *g);
void probe_list_json(struct da_json_out *w, const struct da_offline_result *r);
void probe_head_csv(FILE *f, const struct da_offline_result *r);
void probe_row_csv(FILE *f, const struct da_offline_result *r, const struct da_region *g);
void probe_list_text(FILE *f, const struct da_offline_result *r, const struct da_render_opts *o);
/* A table of the space. 0 or -DA_ENOMEM. */
int probe_space_text(FILE *f, const struct da_offline_result *r, const struct da_space *s,
		     const struct da_render_opts *o);

#endif
