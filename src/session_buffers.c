/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report buffers of a session: made as the options say, written by the drain threads, read by the match
 * thread. Registers that a buffer carries (decode=late) are decoded here, behind it.
 *
 * How a buffer works is rbuf.c's; what a report means is the match layer's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session_priv.h"
#include "usdt.h"

#define SLOTS_DEFAULT 65536
#define BATCH         4096 /* reports of one ring at a time, so that no other ring overflows meanwhile */

/* What a slot of a buffer with decode=late holds; mask 0: the report is whole as it is. */
_Static_assert(sizeof(struct da_report) % 8 == 0, "slots are read as words");
_Static_assert(sizeof(struct da_late) % 8 == 0, "slots are read as words");

static int find_buffer(const struct da_session *s, const char *name)
{
	for (size_t i = 0; i < s->nr_buf; i++)
		if (!strcmp(s->buf[i].o.name, name))
			return (int)i;
	return -1;
}

/* The buffers asked for, and the default one if an event writes into it and it was not. */
int s_buffers_choose(struct da_session *s, struct da_error *err)
{
	s->buf = calloc(s->o.nr_buffers + 1, sizeof(*s->buf));
	if (!s->buf)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	for (size_t i = 0; i < s->o.nr_buffers; i++) {
		if (find_buffer(s, s->o.buffers[i].name) >= 0)
			return da_fail(err, DA_EUSAGE, 0, "two buffers are called '%s'",
				       s->o.buffers[i].name);
		s->buf[s->nr_buf++].o = s->o.buffers[i];
	}
	s->o.buffers = NULL; /* the caller's */
	for (size_t e = 0; e < s->nr_ev; e++) {
		const char *name = s->ev[e].spec.buffer;
		int at = find_buffer(s, name);

		if (at < 0 && *name)
			return da_fail(
				err, DA_EUSAGE, 0,
				"'%s' names a buffer '%s' that is not there (--buffer %s:slots=N "
				"makes it)",
				s->ev[e].spec.text, name, name);
		if (at < 0)
			at = (int)s->nr_buf++;
		s->ev[e].buf = (size_t)at;
		s->buf[at].used = true;
	}
	for (size_t i = 0; i < s->nr_buf; i++)
		if (!s->buf[i].used && s->buf[i].o.name[0])
			s_message(s, 1, "no event writes into the buffer '%s'", s->buf[i].o.name);
	return 0;
}

/* Memory of the buffers, when the number of lanes is known; each lane gets a writer for each buffer. */
int s_buffers_make(struct da_session *s, struct da_error *err)
{
	s->missed = calloc(s->nr_buf * s->nr_lanes + 1, sizeof(*s->missed));
	for (size_t i = 0; i < s->nr_buf; i++) {
		struct s_buffer *b = &s->buf[i];
		struct da_rbuf_opts o = {.slots = b->o.slots ? b->o.slots : SLOTS_DEFAULT,
					 .slot_bytes = b->o.late ? sizeof(struct da_late)
								 : sizeof(struct da_report),
					 .rings = b->o.global ? 1 : s->nr_lanes,
					 .keep = b->o.keep,
					 .bounds = 1};

		if (!b->used)
			continue;
		b->b = da_rbuf_new(&o);
		b->reader = b->b ? da_rbuf_reader_new(b->b) : NULL;
		b->peak = calloc(o.rings, sizeof(*b->peak));
		if (!b->reader || !b->peak || !s->missed)
			return da_fail(err, DA_ENOMEM, 0,
				       "out of memory for %zu report buffers of "
				       "%zu slots",
				       o.rings, o.slots);
	}
	for (size_t i = 0; i < s->nr_lanes; i++) {
		struct s_lane *l = &s->lanes[i];

		l->writer = calloc(s->nr_buf, sizeof(*l->writer));
		if (!l->writer)
			return da_fail(err, DA_ENOMEM, 0, "out of memory");
		for (size_t k = 0; k < s->nr_buf; k++)
			if (s->buf[k].b)
				da_rbuf_writer_init(&l->writer[k], s->buf[k].b,
						    s->buf[k].o.global ? 0 : i);
	}
	s->late_led = calloc(s->nr_cpus * s->nr_ev + 1, sizeof(*s->late_led));
	return s->late_led ? 0 : da_fail(err, DA_ENOMEM, 0, "out of memory");
}

void s_buffers_free(struct da_session *s)
{
	for (size_t i = 0; i < s->nr_lanes; i++)
		free(s->lanes[i].writer);
	for (size_t i = 0; i < s->nr_buf; i++) {
		da_rbuf_reader_free(s->buf[i].reader);
		da_rbuf_free(s->buf[i].b);
		free(s->buf[i].peak);
	}
	free(s->buf);
	free(s->missed);
	free(s->late_led);
}

/* ---- the drain threads ---- */

static void put(struct s_lane *l, size_t ev, const void *slot, struct da_ledger *led)
{
	struct s_buffer *b = &l->s->buf[l->s->ev[ev].buf];
	struct da_rbuf_writer *w = &l->writer[l->s->ev[ev].buf];
	uint64_t occupancy;

	da_count(&led->in[DA_STAGE_RING], 1);
	switch (da_rbuf_put(w, slot)) {
	case DA_PUT_OVERFLOW:
		da_count(&led->drop[DA_DROP_OVERFLOW], 1);
		break;
	case DA_PUT_NESTED:
		da_count(&led->drop[DA_DROP_NESTED], 1);
		break;
	case DA_PUT_STORED:
		break;
	}
	occupancy = da_rbuf_occupancy(b->reader, w->ring);
	if (occupancy > led->peak)
		__atomic_store_n(&led->peak, occupancy, __ATOMIC_RELAXED);
	if (occupancy > atomic_load_explicit(&b->peak[w->ring], memory_order_relaxed))
		atomic_store_explicit(&b->peak[w->ring], occupancy, memory_order_relaxed);
	if (occupancy == da_rbuf_slots(b->b) / 2)
		(void)!write(l->s->match_wake, &(uint64_t){1}, 8);
}

void s_emit(void *lane, const struct da_report *r, struct da_ledger *led)
{
	struct s_lane *l = lane;
	struct da_late late;

	if (USDT_ON(sample))
		USDT_SAMPLE(r);
	if (!l->s->buf[l->s->ev[r->event].buf].o.late) {
		put(l, r->event, r, led);
		return;
	}
	memset(&late, 0, sizeof(late)); /* an address that needed no registers: a fault's, say */
	late.r = *r;
	put(l, r->event, &late, led);
}

void s_emit_late(void *lane, const struct da_late *late, struct da_ledger *led)
{
	if (USDT_ON(sample))
		USDT_SAMPLE(&late->r);
	put(lane, late->r.event, late, led);
}

/* ---- the match thread ---- */

static struct da_ledger *late_ledger(struct da_session *s, const struct da_report *r)
{
	for (size_t c = 0; c < s->nr_cpus; c++)
		if (s->cpus[c].cpu == (int)r->cpu)
			return &s->late_led[c * s->nr_ev + r->event];
	return &s->late_led[s->nr_cpus * s->nr_ev]; /* of a CPU that is none of ours: not shown */
}

static uint64_t matched(const struct da_session *s, const struct da_report *r)
{
	const struct da_ledger *l =
		da_match_ledger(s->match, r->event, r->has & DA_HAS_CPU ? r->cpu : 0);

	return l ? l->out[DA_STAGE_MATCH] : 0;
}

static void match_one(struct da_session *s, const struct da_report *r)
{
	uint64_t before;

	if (!USDT_ON(report_missed)) {
		da_match_report(s->match, r);
		return;
	}
	before = matched(s, r);
	da_match_report(s->match, r);
	if (matched(s, r) == before)
		USDT_MISSED(r);
}

/* Accesses of one register report: the first one came through the buffer, and of an instruction with
 * several the others came with it. */
static void emit_decoded(void *session, const struct da_report *r, struct da_ledger *led)
{
	struct da_session *s = session;

	(void)led;
	if (s->late_nr++)
		late_ledger(s, r)->in[DA_STAGE_RING]++;
	match_one(s, r);
}

static void match_late(struct da_session *s, const struct da_late *late)
{
	if (!late->mask) {
		match_one(s, &late->r);
		return;
	}
	s->late_nr = 0;
	da_lane_decode_late(s->late_lane, late);
	if (!s->late_nr) {
		struct da_ledger *led = late_ledger(s, &late->r);

		led->in[DA_STAGE_MATCH]++;
		led->drop[DA_DROP_LATE]++;
	}
}

int s_late_begin(struct da_session *s)
{
	s->late_lane = da_lane_new(s->pipe, emit_decoded, s);
	return s->late_lane ? 0 : -DA_ENOMEM;
}

size_t s_match_buffers(struct da_session *s)
{
	_Alignas(8) struct da_late slot;
	size_t all = 0;

	for (size_t i = 0; i < s->nr_buf; i++) {
		struct s_buffer *b = &s->buf[i];

		for (size_t ring = 0; b->b && ring < da_rbuf_rings(b->b); ring++) {
			size_t n = 0;

			for (; n < BATCH && da_rbuf_read(b->reader, ring, &slot); n++) {
				if (b->o.late)
					match_late(s, &slot);
				else
					match_one(s, &slot.r);
			}
			if (n && USDT_ON(drain))
				USDT_DRAIN(ring, n);
			all += n;
		}
	}
	return all;
}

/* ---- sums ---- */

/* Under match_lock, with the match ledgers that belong to it. */
void s_buffers_publish(struct da_session *s)
{
	for (size_t i = 0; i < s->nr_buf; i++)
		for (size_t ring = 0; s->buf[i].b && ring < da_rbuf_rings(s->buf[i].b); ring++)
			s->missed[i * s->nr_lanes + ring] =
				da_rbuf_ring_counts(s->buf[i].reader, ring).missed;
	for (size_t i = 0; i < s->nr_cpus * s->nr_ev; i++)
		da_ledger_add(&s->match_snap[i], &s->late_led[i]);
}

static size_t ring_of(const struct da_session *s, size_t cpu, size_t ev)
{
	if (s->buf[s->ev[ev].buf].o.global || s->o.drain == DA_DRAIN_SINGLE)
		return 0;
	return cpu;
}

/* What was overwritten in a ring is known as one number. Of a ring that several events or CPUs share, it is
 * shared out among those that have reports neither dequeued nor dropped: exact when nothing is resident any
 * more. missed (changed here) was copied with the match ledgers in `snap`. */
void s_buffers_overwritten(struct da_session *s, struct da_ledger *snap, uint64_t *missed)
{
	for (size_t c = 0; c < s->nr_cpus; c++) {
		for (size_t e = 0; e < s->nr_ev; e++) {
			uint64_t *left = &missed[s->ev[e].buf * s->nr_lanes + ring_of(s, c, e)];
			struct da_ledger l;
			uint64_t open, n;

			if (!*left)
				continue;
			s_pair_ledger(s, snap, c, e, &l);
			open = l.drop[DA_DROP_RESIDENT];
			n = open < *left ? open : *left;
			snap[c * s->nr_ev + e].drop[DA_DROP_OVERWRITTEN] = n;
			*left -= n;
		}
	}
}

static void one_buffer(struct da_session *s, const struct s_buffer *b, size_t ring,
		       struct da_facts_buffer *out)
{
	const struct s_lane *only = b->o.global && s->nr_lanes > 1 ? NULL : &s->lanes[ring];
	uint64_t missed = s->missed[(size_t)(b - s->buf) * s->nr_lanes + ring];
	uint64_t stored = 0, dropped = missed;

	if (!b->o.name[0])
		snprintf(out->name, sizeof(out->name), "%s", only ? only->name : "global");
	else if (da_rbuf_rings(b->b) == 1)
		snprintf(out->name, sizeof(out->name), "%s", b->o.name);
	else
		snprintf(out->name, sizeof(out->name), "%.20s/%.10s", b->o.name, only->name);
	out->cpu = only ? only->cpu : -1;
	out->slots = da_rbuf_slots(b->b);
	out->peak = b->peak[ring];
	for (size_t i = 0; i < s->nr_lanes; i++) {
		const struct s_lane *l = &s->lanes[i];
		const struct da_rbuf_writer *w = &l->writer[b - s->buf];

		if (w->ring != ring)
			continue;
		stored += w->stored;
		dropped += w->overflow + w->nested;
		for (size_t c = 0; c < l->nr_cpus; c++) {
			bool source = false;

			for (size_t e = 0; e < s->nr_ev; e++)
				source |= &s->buf[s->ev[e].buf] == b && l->cpus[c]->pairs[e].lane &&
					  l->cpus[c]->pairs[e].lane->in[DA_STAGE_RING];
			out->source_cpus += source;
		}
	}
	out->enqueue = stored - missed;
	out->overflow = dropped;
}

void s_buffers_facts(struct da_session *s, struct da_facts *f)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->nr_buf; i++)
		nr += s->buf[i].peak ? da_rbuf_rings(s->buf[i].b) : 0;
	f->buffers = calloc(nr ? nr : 1, sizeof(*f->buffers));
	pthread_mutex_lock(
		&s->match_lock); /* the lanes stand still or have ended, the match thread may not */
	for (size_t i = 0; f->buffers && i < s->nr_buf; i++)
		for (size_t r = 0; s->buf[i].peak && r < da_rbuf_rings(s->buf[i].b); r++)
			one_buffer(s, &s->buf[i], r, &f->buffers[f->nr_buffers++]);
	pthread_mutex_unlock(&s->match_lock);
}
