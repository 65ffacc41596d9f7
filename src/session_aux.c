/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AUX areas of a session: which backend serves an event, from the area to the file, and what was lost. The
 * live decode is in session_aux_decode.c; what differs from PMU to PMU is the backend's.
 *
 * The kernel tells of trace data twice: an AUX record in the ring says what came, and flags; aux_head says
 * that the bytes are there. The head is read first: whatever it covers has its record in the ring by then.
 */
#include "session_aux.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* To add one: its file, and a line here. */
static const struct s_aux_backend *const backends[] = {
	&s_aux_spe_sim,
	&s_aux_spe,
};

#define RING_PAGES    32         /* data pages: the records about 100 ms of task switches */
#define DEFAULT_BYTES (2u << 20) /* AUX area: 32 pages of an Arm server, 64 KiB each */
#define LEAST_PAGES   16
#define AUX_HEADER    48

#define AUX_TRUNCATED 1u /* uapi linux/perf_event.h PERF_AUX_FLAG_* */
#define AUX_PARTIAL   4u
#define AUX_COLLISION 8u

const struct s_aux_backend *s_aux_backend_of(const struct da_session *s, const struct da_spec *spec)
{
	for (size_t i = 0; i < sizeof(backends) / sizeof(*backends) && !s->o.no_aux; i++)
		if (backends[i]->match(spec))
			return backends[i];
	return NULL;
}

/* ---- bind and enable ---- */

uint32_t s_aux_pages(const struct da_session *s)
{
	uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);

	if (s->o.aux_pages)
		return s->o.aux_pages;
	return DEFAULT_BYTES / page > LEAST_PAGES ? DEFAULT_BYTES / page : LEAST_PAGES;
}

void s_aux_release(struct s_aux *a)
{
	if (a && a->ring)
		a->be->release(a);
}

void s_aux_free(struct s_aux *a)
{
	while (a) {
		struct s_aux *before = a->before;

		s_aux_release(a);
		free(a->window);
		free(a->mark);
		free(a);
		a = before;
	}
}

int s_aux_bind(struct da_session *s, struct s_cpu *c, size_t event)
{
	uint32_t pages = s->aux_pages ? s->aux_pages : s_aux_pages(s);
	struct s_aux *a = calloc(1, sizeof(*a));
	int rc;

	if (!a)
		return -ENOMEM;
	a->be = s->ev[event].aux;
	a->s = s;
	a->cpu = c;
	a->pair = &c->pairs[event];
	a->event = event;
	a->idx = s->nr_aux;
	a->midr = s_aux_midr(c->cpu);
	do {
		rc = a->be->arm(a, RING_PAGES, pages);
		if (rc != -EPERM || s->o.aux_pages || pages <= LEAST_PAGES)
			break; /* the default only: -m is what the user wants or nothing */
		pages /= 2;
	} while (1);
	if (rc) {
		a->ring = NULL;
		s_aux_free(a);
		return rc;
	}
	s->aux_pages = pages;
	s->nr_aux++;
	a->before = a->pair->aux;
	a->pair->aux = a;
	return 0;
}

int s_aux_enable(struct s_aux *a)
{
	return a->be->enable(a);
}

int s_aux_disable(struct s_aux *a)
{
	return a->be->disable(a);
}

/* ---- area to file ---- */

static void put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, 4);
}

static void put64(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, 8);
}

/* One piece: always all that is there, because readers (perf's among them) begin a record anew with each. */
static int take_bytes(struct s_lane *l, struct s_aux *a, uint64_t n, uint64_t now_ns)
{
	size_t size = AUX_HEADER + ((size_t)n + 7) / 8 * 8;
	uint16_t head = AUX_HEADER;
	uint8_t *rec = malloc(size);

	if (!rec)
		return -DA_ENOMEM;
	memset(rec, 0, AUX_HEADER);
	put32(rec, DA_REC_AUXTRACE);
	memcpy(rec + 6, &head, 2);
	put64(rec + 8, size - AUX_HEADER);
	put64(rec + 16, a->taken);
	put64(rec + 24, now_ns);
	put32(rec + 32, a->idx);
	put32(rec + 36, UINT32_MAX);
	put32(rec + 40, (uint32_t)a->cpu->cpu);
	memset(rec + size - 8, 0, 8);
	kring_aux_copy(a->ring, a->taken, rec + AUX_HEADER, (size_t)n);
	a->taken += n;
	kring_aux_release(a->ring, a->taken);
	return s_lane_take_aux(l, a, rec, size, (size_t)n, now_ns);
}

/* The kernel switches an event off whose area is full, and says so or not (perf_aux_output_begin() does not
 * if there is no byte left): on again after every drain, which does nothing to one that runs. */
static void on_again(struct s_aux *a)
{
	struct da_session *s = a->s;

	pthread_mutex_lock(&s->switch_lock); /* not after s_disable_all() */
	if (atomic_load(&s->events_on) && a->pair->enabled) {
		a->be->enable(a);
		if (a->off_from) {
			uint64_t now = s_now_ns(s);

			if (now > a->off_from)
				atomic_fetch_add(&a->off_ns, now - a->off_from);
			a->off_from = 0;
		}
	}
	pthread_mutex_unlock(&s->switch_lock);
}

int s_aux_take(struct s_lane *l, struct s_aux *a)
{
	uint64_t head = kring_aux_head(a->ring), n = head - a->taken;
	size_t got;
	int rc = 0;

	while (!rc && (got = kring_drain(a->ring, l->buf, S_DRAIN_CAP))) {
		if (a->cpu->hot.nr_renames)
			s_hotplug_rename(a->cpu, l->buf, got);
		rc = s_lane_take(l, l->buf, got);
	}
	if (n > a->ring->aux_bytes) {
		/* nobody writes so: what is there cannot be what was told */
		a->taken = head;
		a->gap = true;
		kring_aux_release(a->ring, head);
		n = 0;
	}
	if (!rc && n)
		rc = take_bytes(l, a, n, s_now_ns(a->s));
	if (n || a->off_from)
		on_again(a);
	return rc;
}

size_t s_aux_drain(struct s_lane *l, struct s_cpu *c)
{
	struct da_session *s = l->s;
	struct da_error err = {0};
	size_t n = 0;

	for (size_t i = 0; s->nr_aux && i < s->nr_ev; i++) {
		struct s_aux *a = c->pairs[i].aux;
		uint64_t before;

		if (!a || !a->ring)
			continue;
		before = a->taken;
		if (a->be->drain(l, a)) {
			da_fail(&err, DA_ENOMEM, 0, "out of memory");
			s_fail(s, &err);
		}
		n += (size_t)(a->taken - before);
	}
	return n;
}

/* ---- what records say ---- */

static struct s_cpu *cpu_of(const struct s_lane *l, uint32_t cpu)
{
	for (size_t i = 0; i < l->nr_cpus; i++)
		if (l->cpus[i]->cpu == (int)cpu)
			return l->cpus[i];
	return NULL;
}

static void add_mark(struct s_aux *a, const struct s_aux_mark *m)
{
	if (a->first_mark && a->nr_marks == a->room_marks) { /* those before are used up */
		a->nr_marks -= a->first_mark;
		memmove(a->mark, a->mark + a->first_mark, a->nr_marks * sizeof(*a->mark));
		a->first_mark = 0;
	}
	if (a->nr_marks == a->room_marks) {
		size_t room = a->room_marks * 2 + 64;
		struct s_aux_mark *grown = reallocarray(a->mark, room, sizeof(*grown));

		if (!grown)
			return; /* a later one covers the same bytes, with a later time */
		a->mark = grown;
		a->room_marks = room;
	}
	a->mark[a->nr_marks++] = *m;
}

static void take_aux(struct s_lane *l, const struct da_rec *rec)
{
	int event = s_event_of_id(l->s, rec->id);
	struct s_cpu *c = cpu_of(l, rec->cpu);
	struct s_aux *a = event >= 0 && c ? c->pairs[event].aux : NULL;
	struct da_rec_aux x;

	if (!a || da_rec_aux_parse(rec, &x))
		return;
	if (x.flags & AUX_TRUNCATED && !a->off_from)
		a->off_from = rec->time_ns;
	if (x.flags & (AUX_TRUNCATED | AUX_PARTIAL))
		atomic_fetch_add(&a->truncated, 1);
	if (x.flags & AUX_COLLISION)
		atomic_fetch_add(&a->collisions, 1);
	add_mark(a, &(struct s_aux_mark){.end = x.offset + x.size,
					 .time_ns = rec->time_ns,
					 .cut = x.flags & AUX_PARTIAL});
}

/* Who runs from now on: who was switched in, or who follows the one that was switched out. */
static void take_switch(struct s_lane *l, const struct da_rec *rec)
{
	struct s_cpu *c = cpu_of(l, rec->cpu);
	struct s_switch w = {.time_ns = rec->time_ns, .pid = rec->pid, .tid = rec->tid};

	if (!c)
		return;
	if (rec->misc & DA_MISC_SWITCH_OUT) {
		if (rec->type != DA_REC_SWITCH_CPU_WIDE || rec->size < 16)
			return;
		memcpy(&w.pid, rec->bytes + 8, 4);
		memcpy(&w.tid, rec->bytes + 12, 4);
	}
	if (c->nr_sw && c->sw[c->nr_sw - 1].tid == w.tid)
		return;
	if (c->nr_sw == c->room_sw) {
		size_t room = c->room_sw * 2 + 64;
		struct s_switch *grown = reallocarray(c->sw, room, sizeof(*grown));

		if (!grown)
			return;
		c->sw = grown;
		c->room_sw = room;
	}
	c->sw[c->nr_sw++] = w;
}

void s_aux_record(struct s_lane *l, struct da_rec *rec)
{
	if (!l->s->nr_aux || (rec->has & (DA_SAMPLE_ID | DA_SAMPLE_CPU | DA_SAMPLE_TIME)) !=
				     (DA_SAMPLE_ID | DA_SAMPLE_CPU | DA_SAMPLE_TIME))
		return;
	if (rec->type == DA_REC_AUX)
		take_aux(l, rec);
	else
		take_switch(l, rec);
}

/* ---- before the data, and after ---- */

int s_aux_store_info(struct da_session *s, struct da_error *err)
{
	uint8_t rec[8192] = {0};
	const struct s_aux_backend *be = NULL;
	uint16_t size = 56;
	int rc = 0;

	for (size_t i = 0; i < s->nr_ev && !be; i++)
		be = s->ev[i].aux;
	if (!be || !s->nr_aux)
		return 0;
	s->has_ticks = be->clock(s, &s->ticks);
	if (!s->w)
		return 0;
	if (s->has_ticks) { /* readers take it up when they see AUXTRACE_INFO */
		put32(rec, DA_REC_TIME_CONV);
		memcpy(rec + 6, &size, 2);
		put64(rec + 8, s->ticks.shift);
		put64(rec + 16, s->ticks.mult);
		put64(rec + 24, s->ticks.zero);
		put64(rec + 32, s->ticks.cycles);
		put64(rec + 40, s->ticks.mask);
		rec[48] = 1; /* cap_user_time_zero */
		rec[49] = s->ticks.wraps;
		rc = da_writer_append(s->w, rec, size, NULL, err);
	}
	memset(rec, 0, sizeof(rec));
	size = (uint16_t)(8 + be->info(s, rec + 8, sizeof(rec) - 8));
	put32(rec, DA_REC_AUXTRACE_INFO);
	memcpy(rec + 6, &size, 2);
	return rc ? rc : da_writer_append(s->w, rec, size, NULL, err);
}

static void add_loss(struct s_aux *a, struct da_facts *f)
{
	f->aux_truncated += (int64_t)atomic_load(&a->truncated);
	f->aux_collisions += (int64_t)atomic_load(&a->collisions);
	f->aux_off_ns += (int64_t)atomic_load(&a->off_ns);
}

void s_aux_loss(struct da_session *s, struct da_facts *f)
{
	f->aux_truncated = f->aux_collisions = f->aux_off_ns = -1;
	if (!s->nr_aux)
		return;
	f->aux_truncated = f->aux_collisions = f->aux_off_ns = 0;
	for (size_t c = 0; c < s->nr_cpus; c++) {
		for (size_t i = 0; i < s->nr_ev; i++) {
			struct s_aux *now = s->cpus[c].pairs[i].aux;

			for (struct s_aux *a = now; a; a = a->before)
				add_loss(a, f);
			/* stopped is set after the threads have ended */
			if (now && s->stop_ns && now->off_from && now->off_from < s->stop_ns &&
			    s->joined)
				f->aux_off_ns += (int64_t)(s->stop_ns - now->off_from);
		}
	}
}
