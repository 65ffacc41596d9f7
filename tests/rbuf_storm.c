/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The storm of rbuf_storm.h. Every word of a record follows from its first, so that a record of two
 * writers, or of one half, cannot pass for whole.
 */
#include "rbuf_storm.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct writer {
	struct da_rbuf_writer w;
	struct run *run;
	pthread_t thread;
	unsigned self;
	uint64_t each;
	_Atomic uint64_t seq;     /* last number given out, handlers' too */
	_Atomic uint64_t handled; /* calls by the handler */
	uint64_t calls;           /* others */
};

struct reader {
	struct run *run;
	struct da_rbuf_reader *r;
	pthread_t thread;
	bool slow;
	struct storm_reader *result;
};

struct run {
	const struct storm *s;
	struct da_rbuf *b;
	struct writer writer[STORM_WRITERS];
	struct reader reader[STORM_READERS];
	atomic_uint ready, done;
	atomic_bool go, stop_signals;
};

static _Thread_local struct writer *mine;

static void fill(uint64_t rec[STORM_WORDS], uint64_t id)
{
	for (unsigned i = 0; i < STORM_WORDS; i++)
		rec[i] = (id ^ i * 0x9e3779b97f4a7c15ull) * (2 * i + 1);
}

static bool is_whole(const uint64_t rec[STORM_WORDS])
{
	uint64_t want[STORM_WORDS];

	fill(want, rec[0]);
	return !memcmp(rec, want, sizeof(want));
}

/* writer << 56 | handler << 55 | number */
static void offer(struct writer *w, bool handler)
{
	uint64_t rec[STORM_WORDS];
	uint64_t n = atomic_fetch_add_explicit(&w->seq, 1, memory_order_relaxed);

	fill(rec, (uint64_t)w->self << 56 | (uint64_t)handler << 55 | n);
	da_rbuf_put(&w->w, rec);
}

static void on_signal(int sig)
{
	struct writer *w = mine;

	(void)sig;
	if (!w)
		return;
	atomic_fetch_add_explicit(&w->handled, 1, memory_order_relaxed);
	offer(w, true);
}

static void *write_main(void *arg)
{
	struct writer *w = arg;

	mine = w;
	atomic_fetch_add(&w->run->ready, 1);
	while (!atomic_load(&w->run->go))
		sched_yield();
	for (; w->calls < w->each; w->calls++)
		offer(w, false);
	atomic_fetch_add(&w->run->done, 1);
	while (!atomic_load(&w->run->stop_signals)) /* signals find a thread until they stop */
		sched_yield();
	mine = NULL;
	return NULL;
}

/* A handler's record can come before the one that it interrupted, never the other way round; and the
 * interrupted one has the number before it. So per writer and kind the order is strict. */
static void check(struct storm_reader *res, uint64_t last[STORM_WRITERS][2],
		  const uint64_t rec[STORM_WORDS])
{
	unsigned who = (unsigned)(rec[0] >> 56), handler = rec[0] >> 55 & 1;
	uint64_t n = (rec[0] & ((1ull << 55) - 1)) + 1;

	if (!is_whole(rec) || who >= STORM_WRITERS) {
		res->torn++;
		return;
	}
	res->disorder += n <= last[who][handler];
	last[who][handler] = n;
	res->handlers += handler;
}

static void *read_main(void *arg)
{
	struct reader *rd = arg;
	struct run *run = rd->run;
	uint64_t(*last)[2] = calloc(STORM_WRITERS, sizeof(*last));
	size_t rings = da_rbuf_rings(run->b);
	uint64_t rec[STORM_WORDS];
	bool more = last != NULL;

	while (more) {
		unsigned n = 0;

		more = !atomic_load(&run->stop_signals); /* before the last look */
		for (size_t ring = 0; ring < rings; ring++) {
			for (; n < 4096 && da_rbuf_read(rd->r, ring, rec); n++)
				check(rd->result, last, rec);
		}
		more |= n > 0;
		if (rd->slow && !atomic_load(&run->stop_signals))
			nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
		else if (!n)
			sched_yield();
	}
	free(last);
	return NULL;
}

/* Sends signals to the writers until all are done: as fast as they are taken. */
static void storm(struct run *run)
{
	unsigned nr = run->s->writers, i = 0;

	while (atomic_load(&run->done) < nr) {
		pthread_kill(run->writer[i++ % nr].thread, SIGUSR1);
		if (i % nr == 0)
			nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	}
}

static bool start(struct run *run)
{
	for (unsigned i = 0; i < STORM_READERS; i++) {
		struct reader *rd = &run->reader[i];

		rd->run = run;
		rd->slow = i == STORM_READERS - 1;
		rd->r = da_rbuf_reader_new(run->b);
		if (!rd->r)
			return false;
	}
	for (unsigned i = 0; i < STORM_READERS; i++)
		if (pthread_create(&run->reader[i].thread, NULL, read_main, &run->reader[i]))
			return false;
	for (unsigned i = 0; i < run->s->writers; i++) {
		struct writer *w = &run->writer[i];

		w->run = run;
		w->self = i;
		w->each = run->s->each;
		da_rbuf_writer_init(&w->w, run->b, i % da_rbuf_rings(run->b));
		if (pthread_create(&w->thread, NULL, write_main, w))
			return false;
	}
	return true;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int storm_run(const struct storm *s, struct storm_result *out)
{
	struct sigaction old, act = {.sa_handler = on_signal};
	struct da_rbuf_opts opts = s->opts;
	struct run *run = calloc(1, sizeof(*run));
	double began;

	memset(out, 0, sizeof(*out));
	opts.slot_bytes = STORM_WORDS * 8;
	opts.bounds = STORM_READERS;
	if (!run || s->writers > STORM_WRITERS)
		return -1;
	run->s = s;
	run->b = da_rbuf_new(&opts);
	for (unsigned i = 0; i < STORM_READERS; i++)
		run->reader[i].result = &out->reader[i];
	if (!run->b || !start(run))
		return -1; /* the process is about to end with a failed test */
	sigaction(SIGUSR1, &act, &old);
	while (atomic_load(&run->ready) < s->writers)
		sched_yield();
	began = now();
	atomic_store(&run->go, true);
	storm(run);
	atomic_store(&run->stop_signals, true);
	for (unsigned i = 0; i < s->writers; i++) {
		struct writer *w = &run->writer[i];

		pthread_join(w->thread, NULL);
		out->handler_calls += w->handled;
		out->offered += w->calls + w->handled;
		out->stored += w->w.stored;
		out->overflow += w->w.overflow;
		out->nested += w->w.nested;
		out->lost += w->w.lost;
	}
	sigaction(SIGUSR1, &old, NULL);
	for (unsigned i = 0; i < STORM_READERS; i++) {
		uint64_t rec[STORM_WORDS], last[STORM_WRITERS][2] = {{0}};

		pthread_join(run->reader[i].thread, NULL);
		/* a handler that was under way when the readers took their last look */
		for (size_t ring = 0; ring < da_rbuf_rings(run->b); ring++)
			while (da_rbuf_read(run->reader[i].r, ring, rec))
				check(&out->reader[i], last, rec);
		out->reader[i].counts = da_rbuf_counts(run->reader[i].r);
		da_rbuf_reader_free(run->reader[i].r);
	}
	out->seconds = now() - began;
	da_rbuf_free(run->b);
	free(run);
	return 0;
}
