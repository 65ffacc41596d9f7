/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of plain events, many at a time: those whose fields all have fixed places and whose data address is
 * one of them. Where each field lies is found out once an event, so that a sample costs some loads.
 *
 * It gives the reports that pipeline.c would; samples that give none are left to it. The order of the fields is
 * perfrec.c's knowledge, which is asked by a record whose bytes say where they are.
 */
#include <string.h>

#include "pipeline_priv.h"

#define REC_HEADER 8

/* 8 bytes each, whatever they hold. */
#define FIXED                                                                                      \
	(DA_SAMPLE_IDENTIFIER | DA_SAMPLE_IP | DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_ADDR |   \
	 DA_SAMPLE_ID | DA_SAMPLE_STREAM_ID | DA_SAMPLE_CPU | DA_SAMPLE_PERIOD |                   \
	 DA_SAMPLE_WEIGHT | DA_SAMPLE_WEIGHT_STRUCT | DA_SAMPLE_DATA_SRC | DA_SAMPLE_TRANSACTION | \
	 DA_SAMPLE_PHYS_ADDR | DA_SAMPLE_CGROUP | DA_SAMPLE_DATA_PAGE_SIZE |                       \
	 DA_SAMPLE_CODE_PAGE_SIZE)
#define NEEDED    (DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_ADDR | DA_SAMPLE_CPU)
#define MAX_BYTES (REC_HEADER + 8 * 17)

static uint16_t place(uint64_t field)
{
	uint32_t first;

	memcpy(&first, &field, sizeof(first)); /* in memory, whatever the byte order */
	return (uint16_t)first;
}

void plain_plan(struct lane_event *e)
{
	uint64_t type = e->attr.sample_type;
	uint8_t rec[MAX_BYTES] = {0};
	struct plain *p = &e->plain;
	struct da_samp s;

	*p = (struct plain){0};
	if (e->producer != DA_PROD_ADDR || (type & ~(uint64_t)FIXED) || (type & NEEDED) != NEEDED)
		return;
	for (uint32_t at = 0; at < MAX_BYTES; at += 4)
		memcpy(rec + at, &at, sizeof(at));
	for (p->bytes = REC_HEADER; p->bytes <= MAX_BYTES; p->bytes += 8)
		if (!da_samp_parse(&e->attr, rec, p->bytes, false, &s))
			break;
	p->ip = place(s.ip);
	p->task = (uint16_t)s.pid;
	p->time = place(s.time_ns);
	p->addr = place(s.addr);
	p->cpu = (uint16_t)s.cpu;
	p->period = place(s.period);
	p->weight = place(s.weight);
	p->data_src = place(s.data_src);
	p->phys_addr = place(s.phys_addr);
	p->page_size = place(s.data_page_size);
	p->ok = p->bytes <= MAX_BYTES;
}

void da_lane_group(struct da_lane *l, da_group_fn fn)
{
	l->group = fn;
}

bool da_lane_plain(const struct da_lane *l, uint32_t event)
{
	/* a hook for the period asks for each sample (record --adapt) */
	return event < l->p->nr && l->p->ev[event].plain.ok && !l->p->paddr && !l->p->period;
}

static inline uint64_t u64_at(const uint8_t *p, uint16_t at)
{
	uint64_t v;

	memcpy(&v, p + at, sizeof(v));
	return v;
}

static inline uint32_t u32_at(const uint8_t *p, uint16_t at)
{
	uint32_t v;

	memcpy(&v, p + at, sizeof(v));
	return v;
}

/* What reports that go on together have in common. */
struct group {
	uint32_t event, cpu, pid;
};

/* Does the sample give exactly one report? */
static bool usual(const struct plain *p, const uint8_t *rec, uint32_t *pid)
{
	uint16_t size;

	memcpy(&size, rec + 6, sizeof(size));
	if (size < p->bytes || !u64_at(rec, p->addr))
		return false;
	*pid = u32_at(rec, p->task);
	if (*pid == UINT32_MAX)
		return false;
	return !p->data_src || mem_op(u64_at(rec, p->data_src)) != MEM_PREFETCH;
}

static inline void report(const struct lane_event *e, const struct group *g, const uint8_t *rec,
			  struct da_report *r)
{
	const struct plain *p = &e->plain;
	uint64_t weight, page_size, phys;
	uint16_t misc;

	memcpy(&misc, rec + 4, sizeof(misc));
	*r = (struct da_report){.has = DA_HAS_TIME | DA_HAS_CPU | DA_HAS_TASK | DA_HAS_VADDR |
				       DA_HAS_PERIOD,
				.event = g->event,
				.time_ns = u64_at(rec, p->time),
				.vaddr = u64_at(rec, p->addr),
				.period = e->period,
				.pid = g->pid,
				.tid = u32_at(rec, p->task + 4),
				.cpu = g->cpu,
				.how = DA_HOW_HARDWARE,
				.ctx = (uint8_t)(misc & DA_MISC_CPUMODE)};
	if (p->ip) {
		r->ip = u64_at(rec, p->ip);
		r->has |= DA_HAS_IP;
	}
	if (p->period)
		r->period = u64_at(rec, p->period);
	if (p->data_src) {
		r->data_src = u64_at(rec, p->data_src);
		r->op = (uint8_t)mem_op(r->data_src);
		r->has |= DA_HAS_DATA_SRC | (r->op ? DA_HAS_OP : 0);
	}
	if (p->weight) {
		weight = u64_at(rec, p->weight);
		r->latency = latency_of(e->attr.sample_type, weight);
		r->has |= r->latency ? DA_HAS_LATENCY : 0;
	}
	if (p->phys_addr) {
		phys = u64_at(rec, p->phys_addr);
		r->paddr = phys;
		r->paddr_how = phys ? DA_PADDR_SAMPLED : DA_PADDR_NONE;
		r->has |= phys ? DA_HAS_PADDR : 0;
	}
	if (p->page_size) {
		page_size = u64_at(rec, p->page_size);
		r->page_size = page_size;
		r->has |= page_size ? DA_HAS_PAGE_SIZE : 0;
	}
}

static void emit_group(struct da_lane *l, const struct group *g, struct da_report *r, size_t n)
{
	struct per_cpu *c = lane_cpu(l, g->event, g->cpu);

	if (!c)
		return;
	da_count(&c->ledger.in[DA_STAGE_SAMPLE], n);
	da_count(&c->ledger.out[DA_STAGE_SAMPLE], n);
	l->group(l->ctx, r, n, &c->ledger);
}

size_t da_lane_samples(struct da_lane *l, const struct da_sample_at *s, size_t n, uint16_t *odd)
{
	struct da_report out[DA_LANE_SAMPLES];
	struct group of[DA_LANE_SAMPLES];
	uint16_t rest[DA_LANE_SAMPLES];
	size_t nr_odd = 0, nr_rest = 0;

	for (size_t i = 0; i < n; i++) {
		const struct plain *p = &l->p->ev[s[i].event].plain;

		if (!usual(p, s[i].bytes, &of[i].pid)) {
			odd[nr_odd++] = (uint16_t)i;
			continue;
		}
		of[i].event = s[i].event;
		of[i].cpu = u32_at(s[i].bytes, p->cpu);
		rest[nr_rest++] = (uint16_t)i;
	}
	/* one group after the other, each in order; there are few */
	while (nr_rest) {
		struct group g = of[rest[0]];
		const struct lane_event *e = &l->p->ev[g.event];
		size_t nr = 0, left = 0;

		for (size_t i = 0; i < nr_rest; i++) {
			const struct group *x = &of[rest[i]];

			if (x->event == g.event && x->cpu == g.cpu && x->pid == g.pid)
				report(e, &g, s[rest[i]].bytes, &out[nr++]);
			else
				rest[left++] = rest[i];
		}
		emit_group(l, &g, out, nr);
		nr_rest = left;
	}
	return nr_odd;
}
