/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records that have left the sorter together, and in which order they are given: those without a time, then
 * the others by time. Of several runs (nobody asked for the order of samples) the samples are given run by
 * run, each CPU's for itself, in slices: up to the next record that is no sample, and never over a longer
 * time than was allowed. What lies before that record in time, or is as old and before it in the file, is
 * given before it, and all else behind it.
 *
 * It does not know where records come from, nor what they mean.
 */
#include <stdlib.h>

#include "perfdata_priv.h"

void batch_release(struct da_batch *b)
{
	free(b->first.e);
	free(b->e.e);
	free(b->payloads);
	free(b->other);
	*b = (struct da_batch){0};
}

void batch_begin(struct da_batch *b)
{
	b->at_first = b->at_other = 0;
	b->at_run = 0;
	for (unsigned i = 0; i < b->nr_runs; i++) {
		b->pos[i] = b->run[i];
		b->stop[i] = b->run[i + 1];
	}
	b->sliced = b->nr_runs <= 1;
	b->then_other = false;
}

/* The first entry of [from, to), which is in order, that is later than the time, or as late if `same`. */
static uint32_t first_after(const struct entry *e, uint32_t from, uint32_t to, uint64_t time,
			    bool same)
{
	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (e[mid].time < time || (e[mid].time == time && !same))
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static void up_to_time(struct da_batch *b, uint64_t time)
{
	for (unsigned i = 0; i < b->nr_runs; i++)
		b->stop[i] = first_after(b->e.e, b->pos[i], b->run[i + 1], time, false);
}

static void up_to_other(struct da_batch *b, const struct other *o)
{
	for (unsigned i = 0; i < b->nr_runs; i++) {
		uint32_t end = b->run[i + 1];

		if (o->at >= b->run[i] && o->at < end)
			b->stop[i] = o->at;
		else
			b->stop[i] = first_after(b->e.e, b->pos[i], end, o->time, end > o->at);
	}
}

/* Chooses the next slice; false: nothing is left. */
static bool slice(struct da_batch *b)
{
	const struct other *o = b->at_other < b->nr_other ? &b->other[b->at_other] : NULL;
	uint64_t first = UINT64_MAX, last;
	bool any = false;

	for (unsigned i = 0; i < b->nr_runs; i++) {
		if (b->pos[i] == b->run[i + 1])
			continue;
		any = true;
		first = b->e.e[b->pos[i]].time < first ? b->e.e[b->pos[i]].time : first;
	}
	if (__builtin_add_overflow(first, b->span, &last))
		last = UINT64_MAX;
	b->then_other = o && o->time <= last;
	if (b->then_other)
		up_to_other(b, o);
	else
		up_to_time(b, last);
	b->at_run = 0;
	b->sliced = true;
	return any;
}

size_t batch_samples(struct da_batch *b, const struct entry **e, size_t max)
{
	if (b->at_first < b->first.nr)
		return 0;
	for (;;) {
		if (!b->sliced && !slice(b))
			return 0;
		for (; b->at_run < b->nr_runs; b->at_run++) {
			uint32_t pos = b->pos[b->at_run];
			size_t left = b->stop[b->at_run] - pos, n = 0;

			if (!left)
				continue;
			left = left < max ? left : max;
			while (n < left && (b->e.e[pos + n].who & WHO_SAMPLE))
				n++;
			*e = &b->e.e[pos];
			b->pos[b->at_run] += (uint32_t)n;
			return n;
		}
		if (b->then_other || b->nr_runs <= 1)
			return 0;
		b->sliced = false;
	}
}

static void fill(const struct da_batch *b, const struct entry *e, const struct blocks *bs,
		 bool swap, struct held *out)
{
	out->raw.bytes = place_bytes(bs, e->place);
	out->raw.offset = place_offset(bs, e->place);
	out->raw.size = place_size(bs, e->place, swap);
	out->time = e->time;
	out->who = e->who;
	out->has_payload = e->who & IN_PAYLOADS;
	if (out->has_payload) {
		const struct payload *p = &b->payloads[e->who & ~IN_PAYLOADS];

		out->who = p->who;
		out->input = p->input;
		out->raw.payload_at = p->at;
		out->raw.payload_total = p->total;
		out->raw.payload_avail = p->avail;
	}
}

/* The entry that comes behind the samples; NULL: none. */
static const struct entry *other(struct da_batch *b)
{
	const struct other *o;

	if (b->nr_runs == 1 && b->pos[0] < b->stop[0])
		return &b->e.e[b->pos[0]++];
	if (!b->then_other)
		return NULL;
	o = &b->other[b->at_other++];
	for (unsigned i = 0; i < b->nr_runs; i++)
		if (o->at >= b->run[i] && o->at < b->run[i + 1])
			b->pos[i]++;
	b->sliced = b->then_other = false;
	return &b->e.e[o->at];
}

bool batch_next(struct da_batch *b, const struct blocks *bs, bool swap, struct held *out)
{
	const struct entry *e;

	if (b->at_first < b->first.nr)
		e = &b->first.e[b->at_first++];
	else if (!batch_samples(b, &e, 1))
		e = other(b);
	if (!e)
		return false;
	fill(b, e, bs, swap, out);
	return true;
}
