/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A decoded recording in words and in machine formats. The renderers decide nothing about the data; what
 * is shown is in the result. Each returns 0 or -DA_ENOMEM; errors of the stream are the stream's: look at
 * ferror() in the end.
 */
#ifndef DA_RENDER_H
#define DA_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "da_damo.h"
#include "da_error.h"
#include "da_offline.h"

enum da_sort {
	DA_SORT_SHARE, /* by share of accesses; the largest first, as all but the next two */
	DA_SORT_ADDR,
	DA_SORT_LABEL,
	DA_SORT_SAMPLES,
	DA_SORT_ACCESSES,
	DA_SORT_READS,
	DA_SORT_WRITES,
	DA_SORT_SIZE,
	DA_SORT_NR
};
const char *da_sort_name(enum da_sort s);

#define DA_RENDER_WIDTH_MIN 72 /* of the text: less has no room for the numbers */
#define DA_RENDER_WIDTH_MAX 500

struct da_render_opts {
	unsigned width; /* text: columns of the terminal, at least the minimum */
	bool utf8;      /* text: shades and lines may be more than ASCII */
	bool color;     /* text */
	bool heatmap;   /* text */
	bool verbose;   /* text: also what is usually left out */
	bool phys;      /* text: the physical space too */
	enum da_sort sort;
	size_t limit;      /* regions a table of the text or a space of the csv; 0: all */
	size_t max_spaces; /* spaces of the text; 0: all */
};

int da_render_report_text(FILE *f, const struct da_offline_result *r,
			  const struct da_render_opts *o);
/* The fixed shape of PRODUCT.md 5; regions in address order, all of them. */
int da_render_report_json(FILE *f, const struct da_offline_result *r);
/* One line a region and event that has reports there. */
int da_render_report_csv(FILE *f, const struct da_offline_result *r,
			 const struct da_render_opts *o);

/* The heat maps as one picture; and with the tables of regions as a page that needs nothing else. */
int da_render_report_svg(FILE *f, const struct da_offline_result *r,
			 const struct da_render_opts *o);
int da_render_report_html(FILE *f, const struct da_offline_result *r,
			  const struct da_render_opts *o);

/* ---- a record of damo: DAMON's regions alone ---- */

void da_render_damo_text(FILE *f, const char *path, const struct da_damon *d,
			 const struct da_damo_info *i, const struct da_render_opts *o);
void da_render_damo_json(FILE *f, const char *path, const struct da_damon *d,
			 const struct da_damo_info *i);
/* One line a region of the last snapshots. */
void da_render_damo_csv(FILE *f, const struct da_damon *d);

/* ---- samples: one report a line ---- */

struct da_fields;

/* Parses "time,cpu,addr" (NULL: the default). *out is freed by da_fields_free(). -DA_EUSAGE names the
 * unknown field and those there are. */
int da_fields_parse(const char *text, struct da_fields **out, struct da_error *err);
void da_fields_free(struct da_fields *f);
/* "#"-line with the names, in the columns of the lines. */
void da_render_sample_head(FILE *f, const struct da_fields *fields);
/* What a report does not have is "-". */
void da_render_sample(FILE *f, struct da_fields *fields, const struct da_offline *o,
		      const struct da_report *r);
/* The record of a tracepoint: a line if the field trace is wanted. */
void da_render_trace(FILE *f, struct da_fields *fields, const struct da_offline *o,
		     const struct da_report *r, const char *text);

#endif
