/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fake producer in a session: turns the generator's fields into sample records that take the same way
 * as the kernel's. The failures of create, bind and enable are acted on in session_open.c.
 */
#include <string.h>
#include <sys/mman.h>

#include "session_priv.h"

#define MAX_SAMPLE 256 /* bytes of a fake sample record, at most */

static bool is_due(const struct da_session *s, const struct s_event *e, const struct s_cpu *c,
		   uint64_t now_ns)
{
	uint64_t t = da_fake_time(e->fake, (uint32_t)c->cpu);

	/* a pass may have begun before the events were switched on */
	return t != UINT64_MAX && now_ns >= s->on_ns && t <= now_ns - s->on_ns;
}

static bool is_taken(struct s_event *e)
{
	uint64_t scale = atomic_load_explicit(&e->fake_scale, memory_order_relaxed);
	uint64_t n = atomic_fetch_add_explicit(&e->fake_seen, 1, memory_order_relaxed);

	return scale < 2 || n % scale == 0;
}

/* Records that are due by now, as far as they fit; whole records only. The lane is told of the oldest that did
 * not: unlike a ring, which holds what fits into it, a generator is never full, and may always be ahead. */
size_t s_fake_fill(struct s_lane *l, struct s_cpu *c, uint8_t *buf, size_t cap, uint64_t now_ns)
{
	struct da_session *s = l->s;
	size_t n = 0;

	if (!atomic_load(&s->events_on))
		return 0;
	for (size_t i = 0; i < s->nr_ev; i++) {
		struct s_event *e = &s->ev[i];

		if (e->spec.producer != DA_PROD_FAKE || !c->pairs[i].enabled)
			continue;
		while (cap - n >= MAX_SAMPLE && is_due(s, e, c, now_ns)) {
			struct da_samp samp;
			int size;

			if (!da_fake_next(e->fake, (uint32_t)c->cpu, &samp))
				break;
			if (!is_taken(e))
				continue; /* a longer period */
			samp.id = samp.stream_id = c->pairs[i].id;
			samp.mask |= DA_SAMPLE_IDENTIFIER | DA_SAMPLE_STREAM_ID;
			samp.time_ns += s->on_ns;
			size = da_samp_build(&e->attr, DA_CTX_USER, &samp, buf + n, cap - n);
			if (size > 0)
				n += (size_t)size;
		}
		if (is_due(s, e, c, now_ns)) {
			uint64_t t = s->on_ns + da_fake_time(e->fake, (uint32_t)c->cpu);

			l->behind_ns = t < l->behind_ns ? t : l->behind_ns;
		}
	}
	return n;
}

void s_fake_skip(struct da_session *s, const struct s_cpu *c, uint64_t now_ns)
{
	struct da_samp samp;

	for (size_t i = 0; i < s->nr_ev; i++)
		while (s->ev[i].fake && is_due(s, &s->ev[i], c, now_ns) &&
		       da_fake_next(s->ev[i].fake, (uint32_t)c->cpu, &samp))
			; /* nobody was there to see it */
}

/* The target's view of the range: without it no address would be in any region. */
int s_fake_synthesize(struct da_session *s, uint32_t pid)
{
	for (size_t i = 0; i < s->nr_ev; i++) {
		struct da_rec_comm c = {.pid = pid, .tid = pid, .comm = "fake"};
		struct da_rec_mmap m = {.pid = pid,
					.tid = pid,
					.prot = PROT_READ | PROT_WRITE,
					.flags = MAP_PRIVATE,
					.has_prot = true,
					.has_ino = true,
					.filename = "//anon"};
		uint8_t rec[512];
		uint64_t end;
		int size, rc;

		if (!s->ev[i].fake)
			continue;
		da_fake_range(s->ev[i].fake, &m.addr, &end);
		m.len = end - m.addr;
		size = da_rec_comm_build(&s->sideband, &c, 0, 0, 0, rec, sizeof(rec));
		rc = size > 0 ? s_take_made(s, rec, (size_t)size) : 0;
		size = da_rec_mmap2_build(&s->sideband, DA_CTX_USER | DA_MISC_MMAP_DATA, &m, 0, 0,
					  0, rec, sizeof(rec));
		if (!rc && size > 0)
			rc = s_take_made(s, rec, (size_t)size);
		if (rc)
			return rc;
	}
	return 0;
}
