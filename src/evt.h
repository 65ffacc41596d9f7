/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of one CPU and their kernel rings: open, map, read, enable, close. The only gate to libperf;
 * no libperf type appears here.
 *
 * The first event opened (the sideband) has a ring of its own, so that a flood of samples cannot push out
 * the records that say what is mapped where; those with an AUX area have one each; all others share one.
 * Events are opened disabled; evt_enable() switches them on after evt_map(). One thread at a time, except
 * that evt_enable() and evt_disable() may run while another thread drains.
 */
#ifndef DA_EVT_H
#define DA_EVT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "da_perfdata.h"
#include "kring.h"

struct evt;

struct evt_count {
	uint64_t value, enabled_ns, running_ns;
	uint64_t lost; /* valid when has_lost */
	bool has_lost; /* the attr asked for PERF_FORMAT_LOST */
	bool eof;      /* a pinned event in error: on some task something else holds its counter */
};

/* cpu: CPU number. tids: the tasks to attach to, {-1} for all tasks of the CPU. NULL: out of memory. */
struct evt *evt_new(int cpu, const pid_t *tids, size_t nr);
void evt_free(struct evt *e); /* unmaps, closes; NULL allowed */

/* Opens one more event, in the group of `leader` if that is not NULL: it is opened with it, switched and
 * closed with it, and gives no samples. The index (0, 1, ...) or -errno; nothing stays open on failure. */
int evt_open(struct evt *e, const struct da_attr *a, const struct da_attr *leader);
/* The same without a leader for all tasks of the CPU, whatever tids are; not the first one. */
int evt_open_all(struct evt *e, const struct da_attr *a);
#define EVT_RINGS 2
/* Maps the two shared rings, of `side` and `pages` data pages (powers of two; side is unused when only one
 * event is open). 0 or -errno, then nothing at all is mapped. */
int evt_map(struct evt *e, uint32_t side, uint32_t pages);
void evt_unmap(struct evt *e); /* AUX areas first */
/* Before evt_map(): the event does not share a ring. */
void evt_aux(struct evt *e, int idx);
/* Then: maps its ring and its AUX area (powers of two pages). 0 or -errno, then neither is mapped. */
int evt_map_aux(struct evt *e, int idx, uint32_t pages, uint32_t aux_pages);
void evt_unmap_aux(struct evt *e, int idx); /* the AUX area first */
/* Its ring; valid until then. */
const struct kring *evt_aux_ring(const struct evt *e, int idx);
/* 0 or -errno. */
int evt_enable(struct evt *e, int idx);
int evt_disable(struct evt *e, int idx);
/* Sums over the tasks. 0 or -errno. */
int evt_read(struct evt *e, int idx, struct evt_count *c);
/* Kernel ids of the event's tasks; returns their number, fills at most max. */
size_t evt_ids(const struct evt *e, int idx, uint64_t *ids, size_t max);
/* Changes the period or frequency of a running event. 0 or -errno. */
int evt_set_period(struct evt *e, int idx, uint64_t period);

size_t evt_nr(const struct evt *e);
int evt_cpu(const struct evt *e);
/* File descriptors to poll for data; returns their number, fills at most max. */
size_t evt_fds(const struct evt *e, int *fds, size_t max);
/* Copies what waits in a shared ring, 0 .. EVT_RINGS - 1, as kring_drain() does. */
size_t evt_drain(struct evt *e, unsigned ring, uint8_t *buf, size_t cap);

#endif
