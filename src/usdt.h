/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probe points of a running session for perf, bpftrace and SystemTap: a load and a branch each until somebody attaches, and
 * nothing at all where <sys/sdt.h> is not installed. Provider damon_attrs; names and meaning are those of the
 * kernel series' tracepoints (damon_perf_sample, damon_perf_report_missed, damon_perf_drain):
 *
 *   sample          a report is offered to its buffer: cpu, tid, address, ip, enum da_has bits, enum da_op bits,
 *                   enum da_how, enum da_ctx
 *   report_missed   a dequeued report is in no region of the target: cpu, tid, address
 *   drain           the reader took reports out of a buffer: its ring, their number
 */
#ifndef USDT_H
#define USDT_H

#include "da_report.h"

#if defined(__has_include)
#if __has_include(<sys/sdt.h>)
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

/* Who attaches raises it: the kernel counts in our memory (uprobes' ref_ctr_offset). Ours never write them. */
extern volatile unsigned short damon_attrs_sample_semaphore;
extern volatile unsigned short damon_attrs_report_missed_semaphore;
extern volatile unsigned short damon_attrs_drain_semaphore;
#define USDT_ON(name) __builtin_expect(damon_attrs_##name##_semaphore, 0)
#define USDT_SAMPLE(r)                                                                             \
	DTRACE_PROBE8(damon_attrs, sample, (r)->cpu, (r)->tid, usdt_address(r), (r)->ip, (r)->has, \
		      (r)->op, (r)->how, (r)->ctx)
#define USDT_MISSED(r)                                                                             \
	DTRACE_PROBE3(damon_attrs, report_missed, (r)->cpu, (r)->tid, usdt_address(r))
#define USDT_DRAIN(ring, n) DTRACE_PROBE2(damon_attrs, drain, (uint64_t)(ring), (uint64_t)(n))
#endif
#endif

#ifndef USDT_ON
#define USDT_ON(name)       0
#define USDT_SAMPLE(r)      ((void)(r))
#define USDT_MISSED(r)      ((void)(r))
#define USDT_DRAIN(ring, n) ((void)(ring), (void)(n))
#endif

/* The virtual address; the physical one where there is no other. */
static inline uint64_t usdt_address(const struct da_report *r)
{
	return r->has & DA_HAS_VADDR ? r->vaddr : r->paddr;
}

#endif
