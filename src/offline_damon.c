/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of DAMON's tracepoints in a recording, by the format texts that came with it: damon_aggregated is
 * put together to DAMON's own snapshots, of any other the values of its fields are kept, whatever they are, and those
 * of the kernel's own pipeline are counted.
 * All pass the pipeline like any other sample besides.
 */
#include <stdlib.h>
#include <string.h>

#include "offline_priv.h"

#define LINE 1024 /* of the fields of a record */

/* The text that the recorder stored: the feature, or in a killed recording our own record. */
static void read_formats(struct da_offline *o)
{
	struct damon_input *in = &o->damon;
	const uint8_t *data;
	size_t len;

	in->tried = true;
	in->formats = da_tracepoints_new();
	in->event = calloc(o->res.nr_events + 1, sizeof(*in->event));
	o->res.traces = calloc(o->res.nr_events + 1, sizeof(*o->res.traces));
	if (!in->formats || !in->event || !o->res.traces) {
		o->no_memory = true;
		return;
	}
	data = da_reader_feature(o->reader, DA_FEAT_TRACING_DATA, &len);
	if ((!data || !len) && o->tracing.len && !o->tracing.open) {
		data = (const uint8_t *)o->tracing.text;
		len = o->tracing.len;
	}
	in->no_data = !data || !len;
	if (!in->no_data && da_tracepoints_data(in->formats, data, len, &in->problem) == -DA_ENOMEM)
		o->no_memory = true;
}

static bool of_damon(const struct da_tracepoint *tp)
{
	return tp && !strcmp(da_tracepoint_system(tp), "damon");
}

/* Finds out what tracepoint the event is. */
static struct damon_event *event_of(struct da_offline *o, uint32_t event)
{
	const struct da_offline_event *e = &o->res.events[event];
	struct damon_input *in = &o->damon;
	struct damon_event *d;

	if (!in->tried)
		read_formats(o);
	if (!in->formats || !in->event || !o->res.traces)
		return NULL;
	d = &in->event[event];
	if (d->known)
		return d;
	d->known = true;
	d->tp = da_tracepoint_by_id(in->formats, e->attr->config);
	if (!d->tp && !strncmp(e->name, "damon", 5))
		in->missing = e->name;
	if (!of_damon(d->tp))
		d->tp = NULL;
	d->regions = d->tp && da_tracepoint_is_damon(d->tp);
	d->kernel = d->tp &&
		    da_ktp_of(da_tracepoint_system(d->tp), da_tracepoint_name(d->tp)) != DA_KTP_NR;
	if (d->tp && !d->regions) {
		d->trace = da_trace_new(d->tp);
		o->no_memory |= !d->trace;
		if (d->trace)
			o->res.traces[o->res.nr_traces++] =
				(struct da_offline_trace){event, d->trace};
	}
	return d;
}

/* The kernel's own pipeline; NULL: out of memory. */
static struct da_kernel *kernel_of(struct da_offline *o)
{
	if (!o->res.kernel) {
		o->res.kernel = da_kernel_new();
		o->res.of_kernel = calloc(o->res.nr_events + 1, sizeof(*o->res.of_kernel));
		if (!o->res.kernel || !o->res.of_kernel)
			o->no_memory = true;
	}
	return o->no_memory ? NULL : o->res.kernel;
}

static void count_kernel(struct da_offline *o, const struct da_tracepoint *tp,
			 const struct da_rec *rec, const struct da_samp *samp)
{
	struct da_kernel *k = kernel_of(o);

	if (!k)
		return;
	o->res.of_kernel[rec->event->index] = true;
	/* what is bad it counts, and the trace of its values says so */
	if (da_kernel_add(k, tp, samp->raw, samp->raw_size, rec->cpu,
			  rec->has & DA_SAMPLE_TIME ? rec->time_ns : 0) == -DA_ENOMEM)
		o->no_memory = true;
}

/* An event that was listened to and silent says as much as its samples would. */
static void listen_kernel(struct da_offline *o)
{
	const struct damon_input *in = &o->damon;

	for (size_t i = 0; i < o->res.nr_events; i++) {
		const struct da_offline_event *e = &o->res.events[i];
		struct da_kernel *k;
		enum da_ktp which;

		if (e->attr->type != DA_TYPE_TRACEPOINT || strncmp(e->name, "damon:", 6) != 0 ||
		    !e->wanted)
			continue;
		which = da_ktp_of("damon", e->name + 6);
		if (which == DA_KTP_NR || (in->event && in->event[i].known && !in->event[i].tp))
			continue; /* samples that cannot be decoded tell nothing */
		k = kernel_of(o);
		if (!k)
			return;
		k->recorded[which] = true;
		o->res.of_kernel[i] = true;
	}
	if (o->res.kernel && o->res.lost.records > 0)
		o->res.kernel->lost = (uint64_t)o->res.lost.records;
}

/* One region of a snapshot. */
static void take_region(struct da_offline *o, const struct da_tracepoint *tp,
			const struct da_rec *rec, const struct da_samp *samp)
{
	struct damon_input *in = &o->damon;
	struct da_tp_value pid = {0};
	const struct da_tp_field *f;
	struct da_tp_damon region;
	int rc;

	if (!in->snapshots)
		in->snapshots = da_damon_new();
	if (!in->snapshots) {
		o->no_memory = true;
		return;
	}
	if (!(samp->mask & DA_SAMPLE_RAW) ||
	    da_tracepoint_damon(tp, samp->raw, samp->raw_size, &region)) {
		in->bad++;
		return;
	}
	/* the trace's own, because a sample need not say whose it is */
	f = da_tracepoint_field(tp, "common_pid");
	if (f)
		(void)da_tracepoint_value(tp, f, samp->raw, samp->raw_size, &pid);
	rc = da_damon_add(in->snapshots, (uint32_t)pid.u, &region,
			  rec->has & DA_SAMPLE_TIME ? rec->time_ns : 0);
	if (rc == -DA_ENOMEM)
		o->no_memory = true;
}

static void show(struct da_offline *o, const struct da_tracepoint *tp, const struct da_rec *rec,
		 const struct da_samp *samp)
{
	struct da_report r = {
		.event = rec->event->index,
		.has = (rec->has & DA_SAMPLE_TIME ? DA_HAS_TIME : 0u) |
		       (rec->has & DA_SAMPLE_CPU ? DA_HAS_CPU : 0u) |
		       (rec->has & DA_SAMPLE_TID ? DA_HAS_TASK : 0u) |
		       (samp->mask & DA_SAMPLE_IP ? DA_HAS_IP : 0u),
		.time_ns = rec->time_ns,
		.cpu = rec->cpu,
		.pid = rec->pid,
		.tid = rec->tid,
		.ip = samp->ip,
	};
	char line[LINE];

	if (o->enough)
		return;
	da_trace_line(tp, samp->raw, samp->raw_size, line, sizeof(line));
	if (!o->opts->trace(o->opts->ctx, o, &r, line))
		o->enough = true;
}

void damon_sample(struct da_offline *o, const struct da_rec *rec)
{
	const struct da_offline_event *e = &o->res.events[rec->event->index];
	const struct damon_event *d;
	struct da_samp samp;

	if (e->attr->type != DA_TYPE_TRACEPOINT || !(e->attr->sample_type & DA_SAMPLE_RAW))
		return;
	d = event_of(o, rec->event->index);
	if (!d || !d->tp)
		return;
	da_samp_parse(e->attr, rec->bytes, rec->size, rec->swap, &samp);
	if (!(samp.mask & DA_SAMPLE_RAW))
		samp.raw_size = 0;
	if (d->kernel)
		count_kernel(o, d->tp, rec, &samp);
	if (d->regions)
		take_region(o, d->tp, rec, &samp);
	else if (d->trace)
		(void)da_trace_add(d->trace, samp.raw, samp.raw_size); /* it counts what is bad */
	if (o->opts->trace)
		show(o, d->tp, rec, &samp);
}

void damon_lost(struct da_offline *o, const struct da_rec *rec)
{
	if (o->damon.snapshots && (rec->type == DA_REC_LOST || rec->type == DA_REC_LOST_SAMPLES))
		da_damon_lost(o->damon.snapshots);
}

void damon_end(struct da_offline *o)
{
	struct damon_input *in = &o->damon;
	uint64_t bad = in->bad;

	listen_kernel(o);
	if (in->missing && in->no_data)
		offline_damage(o, "'%s' cannot be decoded: the file has no TRACING_DATA",
			       in->missing);
	else if (in->missing)
		offline_damage(o, "'%s' cannot be decoded: TRACING_DATA has no format of it%s%s",
			       in->missing, in->problem.code ? ": " : "", in->problem.msg);
	for (size_t i = 0; i < o->res.nr_traces; i++) {
		const struct da_offline_trace *t = &o->res.traces[i];

		if (t->trace->bad)
			offline_damage(o, "%llu records of %s do not hold their fields",
				       (unsigned long long)t->trace->bad,
				       o->res.events[t->event].name);
	}
	if (!in->snapshots)
		return;
	da_damon_finish(in->snapshots);
	bad += da_damon_damaged(in->snapshots);
	if (bad)
		offline_damage(o, "%llu records of damon_aggregated hold no region",
			       (unsigned long long)bad);
	o->res.damon = in->snapshots;
}

void damon_release(struct da_offline *o)
{
	da_damon_free(o->damon.snapshots);
	for (size_t i = 0; i < o->res.nr_traces; i++)
		da_trace_free(o->res.traces[i].trace);
	free(o->res.traces);
	da_kernel_free(o->res.kernel);
	free(o->res.of_kernel);
	da_tracepoints_free(o->damon.formats);
	free(o->damon.event);
}
