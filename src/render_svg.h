/* SPDX-License-Identifier: GPL-2.0-only */
/* Pictures of heat maps, shared by src/render_svg.c and src/render_html.c. */
#ifndef RENDER_SVG_H
#define RENDER_SVG_H

#include "da_render.h"

#define SVG_WIDTH 960

/* Text as XML holds it: what is no printable character becomes \xNN. */
void svg_text(FILE *f, const char *text);
/* The style of all pictures: a <style> element's content, and the patterns that they fill with. */
void svg_style(FILE *f);
void svg_defs(FILE *f);
/* One map as a <g>, its top at y; *height: what it took. 0 or -DA_ENOMEM. */
int svg_map(FILE *f, const struct da_offline_result *r, const struct da_space *s, uint32_t event,
	    unsigned y, unsigned *height);
/* Calls back for each map that is to be shown: of the first spaces, each event with samples. */
typedef int (*svg_each_fn)(void *ctx, const struct da_space *s, uint32_t event,
			   const struct da_region_stat *total);
int svg_each(const struct da_offline_result *r, const struct da_render_opts *o, svg_each_fn fn,
	     void *ctx);
/* "Process 12 name: event", as XML. */
void svg_title(FILE *f, const struct da_offline_result *r, const struct da_space *s,
	       uint32_t event);

#endif
