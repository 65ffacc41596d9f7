/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads of a running session: a drain thread per lane (ring -> file -> reports -> buffer) and the
 * match thread (buffers -> regions -> credits).
 *
 * Copying to the file always comes first; decoding happens between copies, in slices, from the blocks that
 * were written. A sample is decoded only when every lane has drained past its time: then each mapping,
 * exec and fork before it is known, whichever CPU's ring it came through. What waits is bounded in memory:
 * beyond BACKLOG_MAX the blocks are dropped and read back from the file.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "session_aux.h"

#define BACKLOG_MAX (64u << 20) /* bytes of undecoded records kept in memory, per lane */
#define SLICE       512         /* records decoded between two looks at the rings */
#define ROUND_NS    100000000   /* at most one FINISHED_ROUND in this time */
#define IDLE_MS     100
#define WAIT_MS     10 /* something waits for the other lanes to pass its time */
#define MAX_POLL    256
/* A record's time is taken before it is visible in the ring of another CPU. */
#define VISIBLE_NS 1000000

/* ---- the lane's seqlock: readers copy ledgers that fit together ---- */

void s_ledgers_begin(struct s_lane *l)
{
	atomic_store_explicit(&l->seq, atomic_load_explicit(&l->seq, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

void s_ledgers_end(struct s_lane *l)
{
	atomic_store_explicit(&l->seq, atomic_load_explicit(&l->seq, memory_order_relaxed) + 1,
			      memory_order_release);
}

/* ---- ring -> file ---- */

struct rec_head {
	uint32_t type;
	uint16_t misc, size;
};

/* The next record of a run; false at its end or where the run is not whole records. */
static bool next_record(const uint8_t *p, size_t len, size_t pos, struct rec_head *h)
{
	if (len - pos < sizeof(*h))
		return false;
	memcpy(h, p + pos, sizeof(*h));
	return h->size >= sizeof(*h) && h->size <= len - pos;
}

static void one_sideband(struct s_lane *l, const uint8_t *p, const struct rec_head *h)
{
	struct da_rec rec = {.type = h->type, .misc = h->misc, .size = h->size, .bytes = p};
	struct da_rec_lost lost;

	if (h->type == DA_REC_THROTTLE) {
		atomic_fetch_add_explicit(&l->throttled, 1, memory_order_relaxed);
		return;
	}
	if (h->type == DA_REC_LOST || h->type == DA_REC_LOST_SAMPLES) {
		if (!da_rec_lost_parse(&rec, &lost))
			atomic_fetch_add_explicit(h->type == DA_REC_LOST ? &l->lost_records
									 : &l->lost_samples,
						  lost.lost, memory_order_relaxed);
		return;
	}
	/* every attr of a session has the same sample_id layout */
	if (da_sample_id_parse(&l->s->sideband, &rec))
		return;
	if (h->type == DA_REC_AUX || h->type == DA_REC_SWITCH ||
	    h->type == DA_REC_SWITCH_CPU_WIDE) {
		s_aux_record(l, &rec);
		return;
	}
	da_tasks_record(l->s->tasks, &rec);
	s_ns_record(l->s, &rec);
}

static int spill(struct s_lane *l, struct s_block *b)
{
	if (!l->s->w || da_writer_is_pipe(l->s->w))
		return 0; /* nowhere to read it back from: memory has to hold it */
	free(b->data);
	b->data = NULL;
	l->backlog_bytes -= b->len;
	return 0;
}

/* data is malloc'ed and given away. */
static int push_block(struct s_lane *l, const struct s_block *what, uint8_t *data)
{
	struct s_block *b = data ? malloc(sizeof(*b)) : NULL;

	if (!b) {
		free(data);
		return -DA_ENOMEM;
	}
	*b = *what;
	b->data = data;
	l->backlog_bytes += b->len;
	if (l->tail)
		l->tail->next = b;
	else
		l->head = b;
	l->tail = b;
	return l->backlog_bytes > BACKLOG_MAX ? spill(l, b) : 0;
}

static int no_memory(struct da_session *s)
{
	struct da_error err = {0};

	da_fail(&err, DA_ENOMEM, 0, "out of memory");
	s_fail(s, &err);
	return -DA_ENOMEM;
}

/* IDENTIFIER, IP, TID, TIME: at 8, 16, 24, 32 in every sample of a session (session_attr.c). */
static void sample_head(const uint8_t *p, uint64_t *id, uint64_t *time_ns)
{
	memcpy(id, p + 8, 8);
	memcpy(time_ns, p + 32, 8);
}

/* What the file's samples span. */
static void sample_time(struct s_lane *l, const uint8_t *p)
{
	uint64_t id, t;

	sample_head(p, &id, &t);
	if (!l->last_ns || t < l->first_ns)
		l->first_ns = t;
	if (t > l->last_ns)
		l->last_ns = t;
}

int s_lane_take(struct s_lane *l, const uint8_t *bytes, size_t len)
{
	struct da_session *s = l->s;
	struct da_error err = {0};
	struct s_block block = {.len = len};
	struct rec_head h;
	uint64_t samples = 0;
	uint8_t *copy;

	if (s->w && da_writer_append(s->w, bytes, len, &block.offset, &err)) {
		s_fail(s, &err);
		return -DA_EIO;
	}
	for (size_t pos = 0; next_record(bytes, len, pos, &h); pos += h.size) {
		if (h.type == DA_REC_SAMPLE) {
			samples++;
			if (h.size >= 40)
				sample_time(l, bytes + pos);
		} else {
			one_sideband(l, bytes + pos, &h);
		}
	}
	if (samples)
		atomic_fetch_add_explicit(&l->samples, samples, memory_order_relaxed);
	copy = malloc(len);
	if (copy)
		memcpy(copy, bytes, len);
	return push_block(l, &block, copy) ? no_memory(s) : 0;
}

int s_lane_take_aux(struct s_lane *l, struct s_aux *a, uint8_t *rec, size_t len, size_t payload,
		    uint64_t time_ns)
{
	struct da_session *s = l->s;
	struct s_block block = {.len = len,
				.aux = a,
				.stream = a->taken - payload,
				.payload = payload,
				.time_ns = time_ns};
	struct da_error err = {0};

	if (s->w && da_writer_append(s->w, rec, len, &block.offset, &err)) {
		s_fail(s, &err);
		free(rec);
		return -DA_EIO;
	}
	return push_block(l, &block, rec) ? no_memory(s) : 0;
}

size_t s_lane_drain(struct s_lane *l, struct s_cpu *c, uint64_t now_ns)
{
	size_t all = 0, n;

	for (unsigned ring = 0; c->evt && ring < EVT_RINGS; ring++) {
		/* a fast producer must not keep this lane here for ever: as often as its ring is large */
		for (size_t turn = 0; turn <= c->pages / (S_DRAIN_CAP / 4096); turn++) {
			n = evt_drain(c->evt, ring, l->buf, S_DRAIN_CAP);
			if (!n)
				break;
			if (c->hot.nr_renames)
				s_hotplug_rename(c, l->buf, n);
			if (s_lane_take(l, l->buf, n))
				return all;
			all += n;
		}
	}
	all += s_aux_drain(l, c);
	n = s_fake_fill(l, c, l->buf, S_DRAIN_CAP, now_ns);
	if (n && !s_lane_take(l, l->buf, n))
		all += n;
	return all;
}

/* ---- FINISHED_ROUND ---- */

/* A reader may sort and flush, at a round, everything older than the newest record before the previous
 * round. So a round is written only when every lane has made a whole pass over its rings that began after
 * the previous one: what was in any ring then is in the file before this one. */
static void maybe_round(struct da_session *s, uint64_t now_ns)
{
	static const struct {
		uint32_t type;
		uint16_t misc, size;
	} round = {.type = DA_REC_FINISHED_ROUND, .size = sizeof(round)};
	uint64_t epoch = atomic_load(&s->epoch);
	struct da_error err = {0};

	if (!s->w || now_ns - atomic_load(&s->last_round_ns) < ROUND_NS)
		return;
	for (size_t i = 0; i < s->nr_lanes; i++)
		if (atomic_load(&s->lanes[i].epoch) < epoch)
			return;
	pthread_mutex_lock(&s->lock);
	if (atomic_load(&s->epoch) == epoch) {
		atomic_store(&s->last_round_ns, now_ns);
		if (!da_writer_append(s->w, &round, sizeof(round), NULL, &err))
			atomic_store(&s->epoch, epoch + 1);
	}
	pthread_mutex_unlock(&s->lock);
	if (err.code)
		s_fail(s, &err);
}

/* ---- records -> reports -> buffer ---- */

uint64_t s_safe_until(const struct da_session *s)
{
	uint64_t min = UINT64_MAX;

	if (!s->clockid && !s->fake_only)
		return UINT64_MAX; /* a clock that we cannot read: no waiting */
	for (size_t i = 0; i < s->nr_lanes; i++) {
		uint64_t t = atomic_load_explicit(&s->lanes[i].drained_until, memory_order_acquire);

		if (t < min)
			min = t;
	}
	return min;
}

static void pop_block(struct s_lane *l)
{
	struct s_block *b = l->head;

	l->head = b->next;
	if (!l->head)
		l->tail = NULL;
	if (b->data)
		l->backlog_bytes -= b->len;
	free(b->data);
	free(b);
}

void s_lane_free_blocks(struct s_lane *l)
{
	while (l->head)
		pop_block(l);
}

static bool unspill(struct s_lane *l, struct s_block *b)
{
	struct da_error err = {0};

	b->data = malloc(b->len);
	if (b->data && !da_writer_read_back(l->s->w, b->offset, b->data, b->len, &err)) {
		l->backlog_bytes += b->len;
		return true;
	}
	free(b->data);
	b->data = NULL;
	if (!err.code)
		da_fail(&err, DA_ENOMEM, 0, "out of memory");
	s_fail(l->s, &err);
	return false;
}

static void decode_one(struct s_lane *l, const uint8_t *p, const struct rec_head *h, uint64_t id,
		       uint64_t time_ns)
{
	struct da_rec rec = {.type = h->type,
			     .misc = h->misc,
			     .size = h->size,
			     .bytes = p,
			     .has = DA_SAMPLE_TIME | DA_SAMPLE_ID,
			     .time_ns = time_ns,
			     .id = id};
	int ev = s_event_of_id(l->s, id);

	if (ev < 0)
		return; /* the sideband event takes no samples */
	s_ledgers_begin(l);
	da_lane_sample(l->lane, (uint32_t)ev, &rec);
	s_ledgers_end(l);
}

/* Decodes up to `max` records of a block older than `until`; their number. *waits: the next one is not. */
static size_t decode_records(struct s_lane *l, struct s_block *b, uint64_t until, size_t max,
			     bool *waits)
{
	struct rec_head h;
	size_t n = 0;

	while (n < max && next_record(b->data, b->len, b->pos, &h)) {
		uint64_t id, time_ns;

		if (h.type == DA_REC_SAMPLE && h.size >= 40) {
			sample_head(b->data + b->pos, &id, &time_ns);
			*waits = time_ns >= until;
			if (*waits)
				return n;
			decode_one(l, b->data + b->pos, &h, id, time_ns);
			n++;
		}
		b->pos += h.size;
	}
	return n;
}

static size_t decode_trace(struct s_lane *l, struct s_block *b, uint64_t until, size_t max,
			   bool *waits)
{
	size_t n = 0;

	*waits = b->time_ns >= until && until != UINT64_MAX;
	while (!*waits && n < max && b->pos < b->payload)
		n += s_aux_decode(l, b);
	if (b->pos == b->payload)
		s_aux_decode_done(b);
	return n;
}

/* Decodes about `max` records older than `until`; their number. */
static size_t decode_some(struct s_lane *l, uint64_t until, size_t max)
{
	size_t n = 0;

	while (l->head && n < max) {
		struct s_block *b = l->head;
		bool waits = false;

		if (!b->data && !unspill(l, b)) {
			pop_block(l);
			continue;
		}
		if (b->aux)
			n += decode_trace(l, b, until, max - n, &waits);
		else
			n += decode_records(l, b, until, max - n, &waits);
		if (waits)
			return n;
		if (b->aux ? b->pos == b->payload : n < max)
			pop_block(l);
	}
	return n;
}

/* ---- the drain thread ---- */

static void wait_for_data(struct s_lane *l, int ms)
{
	struct pollfd fds[MAX_POLL];
	int raw[MAX_POLL];
	nfds_t n = 1;
	uint64_t drop;

	fds[0] = (struct pollfd){.fd = l->wake_fd, .events = POLLIN};
	for (size_t k = 0; k < l->nr_cpus && n < MAX_POLL; k++) {
		size_t got = l->cpus[k]->evt ? evt_fds(l->cpus[k]->evt, raw, MAX_POLL - n) : 0;

		for (size_t i = 0; i < got && n < MAX_POLL; i++)
			fds[n++] = (struct pollfd){.fd = raw[i], .events = POLLIN};
	}
	if (poll(fds, n, ms) <= 0)
		return;
	if (fds[0].revents & POLLIN)
		(void)!read(l->wake_fd, &drop, sizeof(drop));
	/* an event whose task has ended reports POLLHUP for ever: sleep instead of spinning on it */
	for (nfds_t i = 1; i < n; i++)
		if (fds[i].revents & POLLIN)
			return;
	if (!(fds[0].revents & POLLIN))
		poll(fds, 1, ms < 5 ? ms : 5);
}

static bool pass(struct s_lane *l, bool last)
{
	struct da_session *s = l->s;
	uint64_t epoch = atomic_load(&s->epoch), began = s_now_ns(s);
	uint64_t until = began - VISIBLE_NS;
	size_t got = 0;

	l->behind_ns = UINT64_MAX;
	for (size_t k = 0; k < l->nr_cpus; k++)
		got += s_lane_drain(l, l->cpus[k], began);
	if (l->behind_ns < until)
		until = l->behind_ns;
	atomic_store_explicit(&l->drained_until, last && !got ? UINT64_MAX : until,
			      memory_order_release);
	if (l->behind_ns == UINT64_MAX) /* else it has not seen all that was there when it began */
		atomic_store(&l->epoch, epoch);
	maybe_round(s, began);
	return got;
}

static void pin(const struct s_lane *l)
{
	cpu_set_t set;

	if (l->cpu < 0 || l->cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)l->cpu, &set);
	/* not allowed in this cpuset: unpinned works too */
	(void)!pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

void *s_drain_main(void *arg)
{
	struct s_lane *l = arg;
	struct da_session *s = l->s;

	pin(l);
	pthread_mutex_lock(&l->gate);
	for (;;) {
		bool last = atomic_load(&s->stop_drain), got;
		uint64_t until;
		size_t n;

		while (atomic_load(&l->halt))
			pthread_cond_wait(&l->go, &l->gate);
		got = pass(l, last);
		until = s_safe_until(s);

		if (atomic_load(&s->failed))
			s_lane_free_blocks(
				l); /* keep the rings flowing, but nothing more can be stored */
		n = decode_some(l, until, SLICE);
		if (last && !got && !l->head) {
			s_aux_decode_end(l);
			break;
		}
		if (!got && n < SLICE)
			wait_for_data(l, l->head ? WAIT_MS : IDLE_MS);
	}
	pthread_mutex_unlock(&l->gate);
	return NULL;
}

void s_lane_halt(struct s_lane *l)
{
	atomic_store(&l->halt, true);
	s_lane_wake(l);
	pthread_mutex_lock(&l->gate);
}

void s_lane_go(struct s_lane *l)
{
	atomic_store(&l->halt, false);
	pthread_cond_signal(&l->go);
	pthread_mutex_unlock(&l->gate);
}

void s_lane_wake(struct s_lane *l)
{
	(void)!write(l->wake_fd, &(uint64_t){1}, 8);
}

/* ---- the match thread ---- */

static void publish_match(struct da_session *s)
{
	pthread_mutex_lock(&s->match_lock);
	for (size_t c = 0; c < s->nr_cpus; c++) {
		for (size_t e = 0; e < s->nr_ev; e++) {
			const struct da_ledger *l =
				da_match_ledger(s->match, (uint32_t)e, (uint32_t)s->cpus[c].cpu);

			s->match_snap[c * s->nr_ev + e] = (struct da_ledger){0};
			if (l)
				s->match_snap[c * s->nr_ev + e] = *l;
		}
	}
	s_buffers_publish(s);
	pthread_mutex_unlock(&s->match_lock);
}

void *s_match_main(void *arg)
{
	struct da_session *s = arg;
	uint64_t drop;

	for (;;) {
		bool last = atomic_load(&s->stop_match);
		size_t n = s_match_buffers(s);

		s_remap_turn(s, last && !n);
		s_adapt_turn(s);
		s_silence_look(s);
		if (n) {
			publish_match(s);
			continue;
		}
		if (last)
			break;
		if (poll(&(struct pollfd){.fd = s->match_wake, .events = POLLIN}, 1, 5) > 0)
			(void)!read(s->match_wake, &drop, sizeof(drop));
	}
	publish_match(s);
	return NULL;
}
