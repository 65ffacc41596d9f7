/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Report buffer: a fixed number of slots between the producers of access reports and the match layer.
 *
 * Lock-free; any number of producers, one consumer (readers with positions of their own come with the
 * report-buffer library). keep=oldest: a full buffer refuses the new report (overflow).
 */
#ifndef DA_RBUF_H
#define DA_RBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_report.h"

struct da_rbuf;

/* slots: rounded up to a power of two, 2..2^24. NULL: out of memory. */
struct da_rbuf *da_rbuf_new(size_t slots);
void da_rbuf_free(struct da_rbuf *b);
size_t da_rbuf_slots(const struct da_rbuf *b);
/* True if stored, false if full. Never blocks, takes no lock, allocates nothing. *occupancy (may be
 * NULL) receives the number of reports inside after the call: an estimate under concurrency. */
bool da_rbuf_put(struct da_rbuf *b, const struct da_report *r, size_t *occupancy);
/* The oldest report; false if empty. One thread. */
bool da_rbuf_get(struct da_rbuf *b, struct da_report *r);
size_t da_rbuf_occupancy(const struct da_rbuf *b);

#endif
