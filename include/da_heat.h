/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Heat cells: counts of reports by (event, zone, time bin, address bin), in bounded memory whatever the
 * input. A zone is the caller's number for a region, so that a coarse address bin never mixes the counts
 * of two regions.
 *
 * Bins are powers of two. When the cells reach the bound, the resolution of one axis is halved and cells
 * merge: time while it has more bins than a screen could show, else the axis that saves more cells.
 * da_heat_render() resamples to a grid of rows (address ranges that were given) and columns (time).
 */
#ifndef DA_HEAT_H
#define DA_HEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct da_heat;

struct da_heat_row {
	uint64_t start, end; /* [start, end) */
	uint32_t zone,
		last_zone; /* the zones that count here: several where a row stands for several regions */
};

struct da_heat *da_heat_new(size_t max_cells); /* NULL: out of memory */
void da_heat_free(struct da_heat *h);
/* A small cache of the cells that were added to last, shared by any number of heats of one thread. Until
 * da_heat_settle() it may hold a part of their counts; da_heat_merge() (both), da_heat_render() need them
 * settled. Free it after the heats. */
struct da_heat_front;
struct da_heat_front *da_heat_front_new(void); /* NULL: out of memory */
void da_heat_front_free(struct da_heat_front *f);
void da_heat_use_front(struct da_heat *h, struct da_heat_front *f);
void da_heat_settle(struct da_heat *h);
/* So long a time is to come, as far as is known: saves the work of a resolution that cannot last. Before the
 * first report. */
void da_heat_expect(struct da_heat *h, uint64_t span_ns);
/* Adds n reports; 0 or -DA_ENOMEM. */
int da_heat_add(struct da_heat *h, uint32_t event, uint32_t zone, uint64_t time_ns, uint64_t addr,
		uint64_t n);
/* A report of this will be added soon: asks for its memory. */
void da_heat_prefetch(const struct da_heat *h, uint32_t event, uint32_t zone, uint64_t time_ns,
		      uint64_t addr);
/* Adds all counts of another one, whose zone z is to[z] here; the resolution becomes the coarser of both.
 * 0 or -DA_ENOMEM. */
int da_heat_merge(struct da_heat *h, const struct da_heat *from, const uint32_t *to);
/* Cells in use; what a shared bound over several heats is made of. */
size_t da_heat_cells(const struct da_heat *h);
/* Halves the resolution of one axis; 0, -DA_ENOMEM, or -DA_EMORE when nothing is left to merge. */
int da_heat_coarsen(struct da_heat *h);
/* Renumbers the zones: zone z becomes to[z]. to has an entry for every zone added. 0 or -DA_ENOMEM. */
int da_heat_rezone(struct da_heat *h, const uint32_t *to);
/* First and last time of an event, ns, to the resolution of the time bins; returns 0 when it has no report. */
int da_heat_span(const struct da_heat *h, uint32_t event, uint64_t *t0_ns, uint64_t *t1_ns);
/*
 * Sums into cells[nr_rows * columns] (row-major). Rows are sorted by start and disjoint, and so are their
 * zones, but for the one that a row's last zone may share with the next row. Column c covers the c-th part
 * of [t0, t1). A bin counts where its middle lies (in its zone's nearest row when the rows cover only a
 * part of the bin); bins whose zone has no row there, or outside [t0, t1), are left out.
 */
void da_heat_render(const struct da_heat *h, uint32_t event, uint64_t t0_ns, uint64_t t1_ns,
		    size_t columns, const struct da_heat_row *rows, size_t nr_rows,
		    uint64_t *cells);
/* Resolution reached: smallest address bin in bytes and time bin in ns. */
void da_heat_resolution(const struct da_heat *h, uint64_t *addr_bytes, uint64_t *time_ns);
/* False once the bound forced regions into shared cells: then rows are told apart by address alone. */
bool da_heat_zoned(const struct da_heat *h);

#endif
