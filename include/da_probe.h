/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes: filters over access reports. A probe hits a region in a sampling interval if a report that it
 * lets pass exists for the region in that interval; regions are scored by weight x hits.
 *
 * Text form, NAME:TERM[,TERM...], terms of different kinds are all to hold, values of one kind are
 * alternatives (a term that begins with a digit goes on with the list before it):
 *
 *   read, write            direction known, and this one; both: either
 *   cpus=0-3,6             CPU that it was on
 *   pids=, tids=           global ids
 *   comm=NAME              of the task at that time
 *   producer=NAME          an event, by its name or number, or a kind of producer: regs, fault, addr, spe, ...
 *   buffer=NAME            the report buffer that the event writes into
 *   addr=START-END         virtual address in [START, END), hexadecimal
 *   paddr=START-END        physical address
 *   latency=MIN[-MAX]      cycles
 *   data_src=NAME          l1 l2 l3 l4 lfb ram cxl pmem io uncached, remote, hitm, tlb_miss, hit, miss
 *   weight=N               default 1
 *
 * With any weight above zero only probes count (replace, not blend): a report that no probe lets pass, and
 * every page fault's, is dropped as miss_probe. With all weights zero nothing is dropped, and everything
 * feeds one access rate.
 */
#ifndef DA_PROBE_H
#define DA_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_error.h"
#include "da_pmu.h"
#include "da_report.h"
#include "da_task.h"

#define DA_PROBES_MAX 32

struct da_probes; /* a set of them, in order; immutable once bound */

struct da_probes *da_probes_new(void); /* NULL: out of memory */
void da_probes_free(struct da_probes *p);
/* Adds one from its text. -DA_EUSAGE with a message: syntax, a name given twice, too many. */
int da_probes_add(struct da_probes *p, const char *text, struct da_error *err);
size_t da_probes_nr(const struct da_probes *p); /* NULL: 0 */
const char *da_probe_name(const struct da_probes *p, size_t i);
const char *da_probe_text(const struct da_probes *p, size_t i); /* as added */
uint64_t da_probe_weight(const struct da_probes *p, size_t i);
bool da_probes_weighted(const struct da_probes *p); /* any weight above zero */

struct da_probe_event {
	const char *name, *buffer; /* buffer: "" the default one */
	enum da_producer producer;
};
/* Resolves producers and buffers for these events. Before the first da_probes_pass(). -DA_EUSAGE: a probe
 * names an event or buffer that is not there. */
int da_probes_bind(struct da_probes *p, const struct da_probe_event *ev, size_t nr,
		   struct da_error *err);
/* Bit i: probe i lets the report pass. Any number of threads; tasks (NULL: none) names them. */
uint32_t da_probes_pass(const struct da_probes *p, struct da_tasks *tasks,
			const struct da_report *r);

#endif
