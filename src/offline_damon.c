/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * damon:damon_aggregated samples of a recording: decodes them by the format text that came with it, and puts
 * them together to DAMON's own snapshots. They pass the pipeline like any other sample besides.
 */
#include <stdlib.h>
#include <string.h>

#include "offline_priv.h"

/* The text that the recorder stored: the feature, or in a killed recording our own record. */
static void read_formats(struct da_offline *o)
{
	struct damon_input *in = &o->damon;
	const uint8_t *data;
	size_t len;

	in->tried = true;
	in->formats = da_tracepoints_new();
	in->of_event = calloc(o->res.nr_events + 1, sizeof(*in->of_event));
	in->asked = calloc(o->res.nr_events + 1, sizeof(*in->asked));
	if (!in->formats || !in->of_event || !in->asked) {
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

static const struct da_tracepoint *tracepoint_of(struct da_offline *o, uint32_t event)
{
	const struct da_offline_event *e = &o->res.events[event];
	struct damon_input *in = &o->damon;

	if (!in->tried)
		read_formats(o);
	if (!in->formats || !in->of_event || !in->asked)
		return NULL;
	if (in->asked[event])
		return in->of_event[event];
	in->asked[event] = true;
	in->of_event[event] = da_tracepoint_by_id(in->formats, e->attr->config);
	if (in->of_event[event] && !da_tracepoint_is_damon(in->of_event[event]))
		in->of_event[event] = NULL;
	else if (!in->of_event[event] && strstr(e->name, "damon_aggregated"))
		in->missing = e->name;
	return in->of_event[event];
}

void damon_sample(struct da_offline *o, const struct da_rec *rec)
{
	const struct da_offline_event *e = &o->res.events[rec->event->index];
	struct damon_input *in = &o->damon;
	const struct da_tracepoint *tp;
	struct da_tp_value pid = {0};
	const struct da_tp_field *f;
	struct da_tp_damon region;
	struct da_samp samp;
	int rc;

	if (e->attr->type != DA_TYPE_TRACEPOINT || !(e->attr->sample_type & DA_SAMPLE_RAW))
		return;
	tp = tracepoint_of(o, rec->event->index);
	if (!tp)
		return;
	if (!in->snapshots)
		in->snapshots = da_damon_new();
	if (!in->snapshots) {
		o->no_memory = true;
		return;
	}
	da_samp_parse(e->attr, rec->bytes, rec->size, rec->swap, &samp);
	if (!(samp.mask & DA_SAMPLE_RAW) ||
	    da_tracepoint_damon(tp, samp.raw, samp.raw_size, &region)) {
		in->bad++;
		return;
	}
	/* the trace's own, because a sample need not say whose it is */
	f = da_tracepoint_field(tp, "common_pid");
	if (f)
		(void)da_tracepoint_value(tp, f, samp.raw, samp.raw_size, &pid);
	rc = da_damon_add(in->snapshots, (uint32_t)pid.u, &region,
			  rec->has & DA_SAMPLE_TIME ? rec->time_ns : 0);
	if (rc == -DA_ENOMEM)
		o->no_memory = true;
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

	if (in->missing && in->no_data)
		offline_damage(o, "'%s' cannot be decoded: the file has no TRACING_DATA",
			       in->missing);
	else if (in->missing)
		offline_damage(o, "'%s' cannot be decoded: TRACING_DATA has no format of it%s%s",
			       in->missing, in->problem.code ? ": " : "", in->problem.msg);
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
	da_tracepoints_free(o->damon.formats);
	free(o->damon.of_event);
	free(o->damon.asked);
}
