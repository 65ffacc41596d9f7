/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Coverage: what share of a source's samples has an address, and how many of these are in the buffer that a loop
 * of known truth uses. The table of the kernel series' thread, for this machine.
 */
#ifndef DA_COVERAGE_H
#define DA_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DA_COVERAGE_MAX 64

struct da_coverage_row {
	char source[64];         /* the event as it was opened */
	char loop[24];           /* "store loop" */
	uint64_t samples, valid; /* sample records; those with an address */
	uint64_t inside;         /* samples with an address in the buffer of the loop */
	uint64_t loads, stores; /* of these, by what the source says; of both a read-modify-write */
	char why[128];          /* "", or why there is nothing */
};

struct da_coverage {
	char cpu[128], kernel[128], command[256];
	struct da_coverage_row row[DA_COVERAGE_MAX];
	size_t nr;
};

/* Tables of at most 72 columns: for a terminal, and as a mail (plain ASCII, with CPU, kernel and command line). */
void da_render_coverage_text(FILE *f, const struct da_coverage *c);
void da_render_coverage_mail(FILE *f, const struct da_coverage *c);
void da_render_coverage_json(FILE *f, const struct da_coverage *c);

/* ---- what each source could do here ---- */

struct da_source {
	char name[32];    /* as for -e */
	bool opens;       /* it was opened here and closed again */
	char opened[64];  /* as what */
	char address[48]; /* where its addresses come from */
	char note[320];   /* bias, or why it does not open */
};

void da_render_sources_text(FILE *f, const struct da_source *s, size_t nr, unsigned width);
void da_render_sources_json(FILE *f, const struct da_source *s, size_t nr);

#endif
