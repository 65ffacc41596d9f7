/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs that go away and come back while the system is recorded. The kernel takes the events of a CPU that goes
 * offline off it and never puts them on again. So the session watches, closes them when the CPU goes, and
 * creates, binds and enables them anew, into the same ledger, when it is back.
 *
 * It looks at each tick: at the online CPUs, and whether the time of the sideband event goes on, because a CPU
 * can go and be back between two ticks (a suspend does that to all but the first). Events of tasks are the
 * kernel's business: it keeps them. A CPU that was not there when the recording began is not recorded.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "session_aux.h"

#define NR_CPUS_MAX 65536

static struct s_lane *lane_of(struct da_session *s, const struct s_cpu *c)
{
	return &s->lanes[s->o.drain == DA_DRAIN_SINGLE ? 0 : (size_t)(c - s->cpus)];
}

/* ---- names in the file ---- */

static void rename_at(const struct s_cpu *c, uint8_t *p)
{
	uint64_t id;

	memcpy(&id, p, sizeof(id));
	for (size_t i = 0; i < c->hot.nr_renames; i++) {
		if (c->hot.renames[i].now == id) {
			memcpy(p, &c->hot.renames[i].file, sizeof(id));
			return;
		}
	}
}

/* A header names the ids before the first record, and a new event has a new one. An event on a CPU keeps its
 * id in the file for the whole recording: that is what every reader, of a pipe too, understands. */
void s_hotplug_rename(const struct s_cpu *c, uint8_t *bytes, size_t len)
{
	uint16_t size;
	uint32_t type;

	for (size_t pos = 0; len - pos >= 8; pos += size) {
		uint8_t *p = bytes + pos;

		memcpy(&type, p, sizeof(type));
		memcpy(&size, p + 6, sizeof(size));
		if (size < 16 || size > len - pos)
			return;
		/* IDENTIFIER is the first field of a sample and the last one of all other records */
		rename_at(c, type == DA_REC_SAMPLE ? p + 8 : p + size - 8);
		if (type == DA_REC_LOST)
			rename_at(c, p + 8);
		if ((type == DA_REC_THROTTLE || type == DA_REC_UNTHROTTLE) && size >= 40) {
			rename_at(c, p + 16);
			rename_at(c, p + 24);
		}
	}
}

/* Of an event on a CPU that was offline when the header was written: that of the event elsewhere. */
static uint64_t some_id(const struct da_session *s, size_t ev)
{
	for (size_t k = 0; k < s->nr_cpus; k++)
		if (s->cpus[k].pairs[ev].id)
			return s->cpus[k].pairs[ev].id;
	return 0;
}

static uint64_t some_sideband_id(const struct da_session *s)
{
	for (size_t k = 0; k < s->nr_cpus; k++)
		if (s->cpus[k].sideband_id)
			return s->cpus[k].sideband_id;
	return 0;
}

/* The new events are open: what they are called now, in the file as before. */
static void keep_ids(struct da_session *s, struct s_cpu *c, const uint64_t *before)
{
	struct s_hot *h = &c->hot;

	h->nr_renames = 0;
	for (size_t i = 0; i < s->nr_ev; i++) {
		struct s_pair *p = &c->pairs[i];
		uint64_t now = p->id;

		p->id = before[i] ? before[i] : some_id(s, i);
		if (now != p->id && p->idx >= 0 && !s->ev[i].fake)
			h->renames[h->nr_renames++] = (struct s_rename){now, p->id};
	}
	if (c->sideband >= 0) {
		uint64_t now = c->sideband_id;

		c->sideband_id = before[s->nr_ev] ? before[s->nr_ev] : some_sideband_id(s);
		if (now != c->sideband_id)
			h->renames[h->nr_renames++] = (struct s_rename){now, c->sideband_id};
	}
}

/* ---- it goes ---- */

static void close_cpu(struct da_session *s, struct s_cpu *c)
{
	for (size_t i = 0; i < s->nr_ev; i++) {
		struct s_pair *p = &c->pairs[i];

		if (p->bound && c->evt && !s->ev[i].fake && !s_read_count(c, p))
			p->past = p->count;
		s_aux_release(p->aux);
		p->bound = p->enabled = false;
		p->idx = -1;
	}
	if (c->evt)
		evt_unmap(c->evt);
	evt_free(c->evt);
	c->evt = NULL;
	c->sideband = -1;
}

static void gone(struct da_session *s, struct s_cpu *c)
{
	struct s_lane *l = lane_of(s, c);

	s_lane_halt(l);
	while (c->evt && s_lane_drain(l, c, s_now_ns(s)) && !atomic_load(&s->failed))
		; /* nothing new comes */
	close_cpu(s, c);
	c->online = false;
	c->hot.away = true;
	c->hot.tried = false;
	c->hot.went++;
	c->hot.went_ns = s_now_ns(s);
	s_lane_go(l);
}

/* ---- it is back ---- */

/* Offline, its thread was moved to the others. */
static void pin_again(struct da_session *s, const struct s_cpu *c)
{
	struct s_lane *l = lane_of(s, c);
	cpu_set_t set;

	if (l->cpu < 0 || l->cpu >= CPU_SETSIZE || !l->started)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)l->cpu, &set);
	(void)!pthread_setaffinity_np(l->thread, sizeof(set), &set);
}

static bool create_again(struct da_session *s, struct s_cpu *c)
{
	uint64_t *before = calloc(s->nr_ev + 1, sizeof(*before));
	uint32_t pages = s->o.mmap_pages ? s->o.mmap_pages : 512;
	bool any = false;

	if (c->pages && c->pages < pages)
		pages = c->pages; /* what the mlock limit allowed then */
	if (!c->hot.renames)
		c->hot.renames = calloc(s->nr_ev + 1, sizeof(*c->hot.renames));
	if (!before || !c->hot.renames) {
		free(before);
		return false;
	}
	for (size_t i = 0; i < s->nr_ev; i++) {
		before[i] = c->pairs[i].id;
		c->pairs[i].counted = false;
	}
	before[s->nr_ev] = c->sideband_id;
	if (!s_open_cpu(s, c)) {
		keep_ids(s, c, before);
		s_bind_cpu(s, c, &pages);
		if (c->sideband >= 0)
			evt_enable(c->evt, c->sideband);
		if (atomic_load(&s->events_on))
			s_enable_cpu(s, c, &any);
		for (size_t i = 0; i < s->nr_ev; i++)
			any |= c->pairs[i].bound;
	}
	free(before);
	if (!any)
		close_cpu(s, c);
	return any;
}

static bool back(struct da_session *s, struct s_cpu *c)
{
	struct s_lane *l = lane_of(s, c);
	bool ok;

	s_lane_halt(l);
	c->online = true;
	ok = create_again(s, c);
	if (ok) {
		c->hot.came += c->hot.went > 0;
		c->hot.away = false;
		c->hot.away_ns += c->hot.went_ns ? s_now_ns(s) - c->hot.went_ns : 0;
		c->hot.seen_ns = 0;
		if (atomic_load(&s->events_on))
			s_fake_skip(s, c, s_now_ns(s));
	}
	c->hot.tried = !ok;
	pin_again(s, c);
	s_lane_go(l);
	return ok;
}

/* ---- the watch ---- */

/* Its events were taken off: the time that one of them was enabled stands still. */
static bool taken_off(struct s_cpu *c)
{
	struct evt_count now;
	uint64_t before = c->hot.seen_ns;

	if (!c->evt || c->sideband < 0 || evt_read(c->evt, c->sideband, &now))
		return false;
	c->hot.seen_ns = now.enabled_ns;
	return before && now.enabled_ns == before;
}

static void watch(struct da_session *s, struct s_cpu *c, bool online)
{
	/* one that -C asked for may have been offline from the beginning */
	bool open = c->online && !c->hot.away;

	if (open && !online) {
		gone(s, c);
		s_message(s, 1, "CPU %d went offline: its events are closed until it is back",
			  c->cpu);
	} else if (open && taken_off(c)) {
		gone(s, c);
		if (back(s, c))
			s_message(s, 1,
				  "CPU %d was offline for a moment: its events were opened anew",
				  c->cpu);
	} else if (!open && online && !c->hot.tried) {
		if (back(s, c))
			s_message(s, 1, "CPU %d is online%s: its events were opened%s", c->cpu,
				  c->hot.went ? " again" : " now", c->hot.went ? " anew" : "");
		else
			s_message(s, 1, "CPU %d is online, but its events cannot be opened",
				  c->cpu);
	} else if (!online) {
		c->hot.tried = false;
	}
}

void s_hotplug_tick(struct da_session *s)
{
	uint8_t *online;

	if (s->o.target != DA_TARGET_SYSTEM || s->stopped)
		return;
	online = calloc(1, NR_CPUS_MAX);
	if (!online)
		return; /* at the next tick */
	s_read_cpus(s_online_path(s), online);
	if (memchr(online, 1, NR_CPUS_MAX)) { /* else the list cannot be read */
		pthread_mutex_lock(&s->evt_lock);
		for (size_t k = 0; k < s->nr_cpus; k++) {
			watch(s, &s->cpus[k], online[s->cpus[k].cpu]);
			online[s->cpus[k].cpu] = 0;
		}
		s_adapt_again(s);
		pthread_mutex_unlock(&s->evt_lock);
		for (int n = 0; n < NR_CPUS_MAX && !s->cpu_list && !s->told_new_cpu; n++) {
			s->told_new_cpu = online[n];
			if (online[n])
				s_message(
					s, 1,
					"CPU %d came online after the recording began: it is not recorded",
					n);
		}
	}
	free(online);
}
