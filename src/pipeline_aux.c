/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Byte decoders in the sample layer: AUX trace data in bulk, raw samples record by record.
 *
 * What a decoder cannot know is added here: the CPU, the time that ticks of the PMU's counter stand for,
 * the task. Where the bytes come from is the caller's business.
 */
#include <stdlib.h>
#include <string.h>

#include "pipeline_priv.h"

uint64_t da_clock_ns(const struct da_clock *c, uint64_t ticks)
{
	uint64_t t = c->wraps ? c->cycles + ((ticks - c->cycles) & c->mask) : ticks;

	return c->zero + (uint64_t)((unsigned __int128)t * c->mult >> c->shift);
}

/* ---- AUX trace data ---- */

/* Ticks to time; where that is not known, the time of the bytes stands for them. */
static void set_time(const struct da_aux_source *s, struct da_report *r)
{
	if (r->has & DA_HAS_TICKS) {
		r->has &= ~(uint32_t)DA_HAS_TICKS;
		if (s->clock) {
			r->time_ns = da_clock_ns(s->clock, r->time_ns);
			r->has |= DA_HAS_TIME;
			return;
		}
		r->time_ns = s->time_ns;
		r->has |= s->time_ns ? DA_HAS_TIME : 0;
	}
}

/* Passes reports on, as far as the caller wants them. Returns how many. */
static size_t aux_reports(struct da_lane *l, struct da_report *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		set_time(l->aux, &r[i]);
	if (l->aux->complete)
		n = l->aux->complete(l->aux->ctx, r, n);
	return lane_emit_many(l, r, n, l->led);
}

static void on_batch(void *ctx, struct da_report *r, size_t n)
{
	struct da_lane *l = ctx;
	size_t valid = aux_reports(l, r, n);

	da_count(&l->led->in[DA_STAGE_SAMPLE], valid);
	da_count(&l->led->out[DA_STAGE_SAMPLE], valid);
}

static void on_dropped(void *ctx, enum da_drop why, uint64_t n)
{
	struct da_lane *l = ctx;

	da_count(&l->led->in[DA_STAGE_SAMPLE], n);
	da_count(&l->led->drop[why], n);
}

static void on_report(void *ctx, const struct da_report *r)
{
	struct da_lane *l = ctx;
	struct da_report out = *r;

	l->given += (unsigned)aux_reports(l, &out, 1);
}

static void on_record(void *ctx, unsigned nr_reports, enum da_drop why)
{
	struct da_lane *l = ctx;

	if (!nr_reports) {
		on_dropped(l, why, 1);
	} else if (l->given) {
		da_count(&l->led->in[DA_STAGE_SAMPLE], 1);
		da_count(&l->led->out[DA_STAGE_SAMPLE], 1);
	}
	l->given = 0;
}

static void *state_of(struct per_cpu *c, const struct da_decoder *d)
{
	if (!c->state)
		c->state = calloc(1, d->state_size ? d->state_size : 1);
	return c->state;
}

size_t da_lane_aux(struct da_lane *l, const struct da_aux_source *s, const struct da_input *in)
{
	const struct da_sink sink = {.report = on_report,
				     .record = on_record,
				     .ctx = l,
				     .batch = on_batch,
				     .dropped = on_dropped};
	bool on_cpu = s->cpu != UINT32_MAX;
	struct per_cpu *c = s->event < l->p->nr ? lane_cpu(l, s->event, on_cpu ? s->cpu : 0) : NULL;
	const struct lane_event *e;
	struct da_input with_base = *in;

	if (!c)
		return in->len;
	e = &l->p->ev[s->event];
	if (!e->decoder || !state_of(c, e->decoder))
		return in->len;
	l->base = (struct da_report){
		.event = s->event,
		.cpu = on_cpu ? s->cpu : 0,
		.time_ns = s->time_ns,
		.period = e->attr.flags & DA_ATTR_FREQ ? 1 : e->attr.sample_period,
		.has = DA_HAS_PERIOD | (on_cpu ? DA_HAS_CPU : 0u) | (s->time_ns ? DA_HAS_TIME : 0u),
	};
	with_base.base = &l->base;
	l->led = &c->ledger;
	l->aux = s;
	l->given = 0;
	return e->decoder->decode(c->state, &with_base, &sink, &c->stats);
}

bool da_lane_aux_idle(struct da_lane *l, const struct da_aux_source *s)
{
	struct per_cpu *c = s->event < l->p->nr
				    ? lane_cpu(l, s->event, s->cpu != UINT32_MAX ? s->cpu : 0)
				    : NULL;
	const struct da_decoder *d = c ? l->p->ev[s->event].decoder : NULL;

	return !d || !c->state || (d->idle && d->idle(c->state));
}

static void add_stats(struct da_decode_stats *sum, const struct da_decode_stats *s)
{
	sum->records += s->records;
	sum->damaged_records += s->damaged_records;
	sum->bad_bytes += s->bad_bytes;
	sum->resync_bytes += s->resync_bytes;
	sum->truncated_records += s->truncated_records;
	sum->reserved_packets += s->reserved_packets;
	sum->contradictions += s->contradictions;
}

void da_lane_decode_stats(const struct da_lane *l, struct da_decode_stats *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (uint32_t e = 0; e < l->p->nr; e++)
		for (uint32_t c = 0; c < l->ev[e].nr; c++)
			if (l->ev[e].cpus[c])
				add_stats(sum, &l->ev[e].cpus[c]->stats);
}

bool da_lane_move(struct da_lane *to, struct da_lane *from)
{
	bool all = true;

	for (uint32_t e = 0; e < from->p->nr && e < to->p->nr; e++) {
		for (uint32_t c = 0; c < from->ev[e].nr; c++) {
			struct per_cpu *f = from->ev[e].cpus[c];
			struct per_cpu *t = f ? lane_cpu(to, e, c) : NULL;

			if (!t) {
				all &= !f;
				continue;
			}
			da_ledger_add(&t->ledger, &f->ledger);
			add_stats(&t->stats, &f->stats);
			memset(&f->ledger, 0, sizeof(f->ledger));
			memset(&f->stats, 0, sizeof(f->stats));
		}
	}
	return all;
}

/* ---- raw samples ---- */

/* perf_mem_data_src.mem_op: loads and stores (uapi linux/perf_event.h) */
static uint8_t op_of(uint64_t data_src)
{
	return (uint8_t)((data_src & 2 ? DA_OP_READ : 0) | (data_src & 4 ? DA_OP_WRITE : 0));
}

/* The kernel made its own fields of the same registers: they hold, and must say the same. */
static bool perf_fields(const struct da_lane *l, struct da_report *out)
{
	const struct da_report *perf = &l->base;
	bool same = true;

	if (l->perf_addr) {
		same &= !(out->has & DA_HAS_VADDR) || out->vaddr == l->perf_addr;
		out->vaddr = l->perf_addr;
		out->has |= DA_HAS_VADDR;
	}
	if (perf->has & DA_HAS_PADDR) {
		same &= !(out->has & DA_HAS_PADDR) || out->paddr == perf->paddr;
		out->paddr = perf->paddr;
		out->paddr_how = perf->paddr_how;
		out->has |= DA_HAS_PADDR;
	}
	/* how deep the memory was is read differently by kernels of different age; what it was is not */
	if ((perf->has & DA_HAS_DATA_SRC) && op_of(perf->data_src)) {
		same &= !(out->has & DA_HAS_OP) || (out->op & op_of(perf->data_src));
		out->data_src = perf->data_src;
		out->has |= DA_HAS_DATA_SRC;
	}
	return same;
}

static void raw_report(void *ctx, const struct da_report *r)
{
	struct da_lane *l = ctx;
	struct da_report out = *r;

	l->agrees &= perf_fields(l, &out);
	out.ctx = l->base.ctx;
	if (!(out.has & DA_HAS_IP) && (l->base.has & DA_HAS_IP)) {
		out.ip = l->base.ip;
		out.has |= DA_HAS_IP;
	}
	if (!(out.has & DA_HAS_PAGE_SIZE) && (l->base.has & DA_HAS_PAGE_SIZE)) {
		out.page_size = l->base.page_size;
		out.has |= DA_HAS_PAGE_SIZE;
	}
	out.event = l->base.event;
	out.cpu = l->base.cpu;
	out.has |= DA_HAS_CPU;
	if (!(out.has & DA_HAS_TIME) && (l->base.has & DA_HAS_TIME)) {
		out.time_ns = l->base.time_ns;
		out.has |= DA_HAS_TIME;
	}
	if (!(out.has & DA_HAS_TASK) && (l->base.has & DA_HAS_TASK)) {
		out.pid = l->base.pid;
		out.tid = l->base.tid;
		out.has |= DA_HAS_TASK;
	}
	if (!(out.has & DA_HAS_PERIOD)) {
		out.period = l->base.period;
		out.has |= DA_HAS_PERIOD;
	}
	if (!l->given++)
		da_count(&l->led->out[DA_STAGE_SAMPLE], 1);
	lane_emit(l, &out, l->led);
}

static void raw_record(void *ctx, unsigned nr_reports, enum da_drop why)
{
	struct da_lane *l = ctx;

	da_count(&l->led->in[DA_STAGE_SAMPLE], 1);
	if (!nr_reports)
		da_count(&l->led->drop[why], 1);
	l->given = 0;
}

void lane_decode_raw(struct da_lane *l, const struct lane_event *e, struct per_cpu *c,
		     const struct da_input *in)
{
	const struct da_sink sink = {.report = raw_report, .record = raw_record, .ctx = l};

	if (!state_of(c, e->decoder))
		return;
	l->led = &c->ledger;
	l->given = 0;
	l->agrees = true;
	e->decoder->decode(c->state, in, &sink, &c->stats);
	c->stats.contradictions += !l->agrees;
}
