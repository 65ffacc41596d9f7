/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording of plain samples (da_pipeline.h) decoded by as many threads as are wanted. Its batches are
 * dealt out to a fixed number of shards, each with a lane and a match of its own, which are put together at
 * the end. Which shard has which batches, in which order, depends on the recording alone: so does the result.
 *
 * The caller's thread reads, and works on batches itself when it has read far enough ahead. What changes the
 * tasks is taken in while nobody works: all that precedes it has been decoded then.
 *
 * Only where nobody looks at single samples or at their order: without filters, probes, a receiver of
 * reports and DAMON's algorithm.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "offline_priv.h"

#define SHARDS       4           /* more threads would have nothing to do */
#define SHARD_CELLS  (32u << 10) /* of heat: together somewhat less than one match for all has */
#define SHARD_PLACES (16u << 10) /* of density */
#define DEALT        4 /* batches in a row: cells of heat merge with those of times nearby */
#define AHEAD_BYTES  (4u << 20)  /* a thread: so much may be read and not yet decoded */
#define SHARDS_BYTES (16u << 20) /* a smaller recording is taken in order */
/* Samples so near to each other may change their order, in sampling intervals: the match layer remembers the
 * last 64. */
#define LOOSE_INTERVALS 32
#define INTERVAL_NS     5000000 /* unless another one is asked for */

struct shard {
	struct da_offline *o;
	struct da_lane *lane;
	struct da_match *match;
	struct da_batch *queue[DA_BATCHES]; /* to be decoded, in order */
	size_t head, nr_queued;
	bool busy; /* somebody works on it */
	/* what its samples were */
	unsigned emitted; /* reports of the record under way */
	uint64_t samples;
	struct times {
		uint64_t first_ns, last_ns;
	} * of_event;
	uint64_t *last_of_cpu; /* 0: none */
	size_t nr_cpus;
	bool no_memory;
};

struct run {
	struct da_offline *o;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct shard shard[SHARDS];
	size_t dealt; /* batches with samples */
	struct da_batch *done[DA_BATCHES];
	size_t nr_done, nr_taken; /* batches to return; all that are not returned */
	bool stop;
	unsigned threads; /* beside the caller's */
	pthread_t thread[SHARDS];
};

/* ---- samples ---- */

static void seen(struct shard *p, uint32_t event, uint32_t cpu, uint64_t lo_ns, uint64_t hi_ns)
{
	struct times *t = &p->of_event[event];

	t->first_ns = lo_ns < t->first_ns ? lo_ns : t->first_ns;
	t->last_ns = hi_ns > t->last_ns ? hi_ns : t->last_ns;
	cpu = cpu < MAX_CPUS ? cpu : MAX_CPUS;
	if (cpu >= p->nr_cpus) {
		uint64_t *last = reallocarray(p->last_of_cpu, cpu + 1, sizeof(*last));

		if (!last) {
			p->no_memory = true;
			return;
		}
		memset(last + p->nr_cpus, 0, (cpu + 1 - p->nr_cpus) * sizeof(*last));
		p->last_of_cpu = last;
		p->nr_cpus = cpu + 1;
	}
	if (hi_ns > p->last_of_cpu[cpu])
		p->last_of_cpu[cpu] = hi_ns;
}

static void emit(void *ctx, const struct da_report *r, struct da_ledger *l)
{
	struct shard *p = ctx;

	da_tally(&l->in[DA_STAGE_RING], 1);
	da_tally(&l->out[DA_STAGE_RING], 1);
	p->emitted++;
	da_match_report(p->match, r);
}

/* Reports of one event and CPU, each its sample's only one. */
static void take_group(void *ctx, const struct da_report *r, size_t n, struct da_ledger *l)
{
	struct shard *p = ctx;
	uint64_t lo = r->time_ns, hi = r->time_ns;

	for (size_t i = 1; i < n; i++) {
		lo = r[i].time_ns < lo ? r[i].time_ns : lo;
		hi = r[i].time_ns > hi ? r[i].time_ns : hi;
	}
	da_tally(&l->in[DA_STAGE_RING], n);
	da_tally(&l->out[DA_STAGE_RING], n);
	p->samples += n;
	seen(p, r->event, r->cpu, lo, hi);
	da_match_reports(p->match, r, n);
}

/* A sample that gives no report, or not as the others do. */
static void take_odd(struct shard *p, const struct da_sample_at *s)
{
	struct da_rec rec;

	da_sample_rec(p->o->reader, s, &rec);
	p->samples++;
	seen(p, s->event, rec.cpu, rec.time_ns, rec.time_ns);
	p->emitted = 0;
	da_lane_sample(p->lane, s->event, &rec);
	if (!p->emitted)
		da_match_observe(p->match, s->event, rec.pid, rec.time_ns);
}

/* The samples that come next in a batch; false: something else does. */
static bool take_samples(struct shard *p, struct da_batch *b)
{
	struct da_sample_at s[DA_LANE_SAMPLES];
	uint16_t odd[DA_LANE_SAMPLES];
	size_t n = da_batch_samples(p->o->reader, b, s, DA_LANE_SAMPLES), nr_odd, i;

	nr_odd = da_lane_samples(p->lane, s, n, odd);
	for (i = 0; i < nr_odd; i++)
		take_odd(p, &s[odd[i]]);
	return n;
}

/* ---- shards ---- */

static int shard_init(struct shard *p, struct da_offline *o, const struct da_match_opts *mo)
{
	size_t i;

	p->o = o;
	p->lane = da_lane_new(o->pipeline, emit, p);
	p->match = da_match_new(mo, o->tasks);
	p->of_event = calloc(o->res.nr_events + 1, sizeof(*p->of_event));
	if (!p->lane || !p->match || !p->of_event)
		return -DA_ENOMEM;
	da_lane_group(p->lane, take_group);
	for (i = 0; i < o->res.nr_events; i++)
		p->of_event[i] = (struct times){.first_ns = UINT64_MAX};
	return 0;
}

static void shard_release(struct shard *p)
{
	da_lane_free(p->lane);
	da_match_free(p->match);
	free(p->of_event);
	free(p->last_of_cpu);
}

/* Who was seen on which CPU last: losses are dated by it. */
static void put_seen(struct shard *p)
{
	for (size_t i = 0; i < p->nr_cpus; i++) {
		if (p->last_of_cpu[i])
			loss_seen_until(p->o, (uint32_t)i, p->last_of_cpu[i]);
		p->last_of_cpu[i] = 0;
	}
}

/* Adds a shard to what there is. */
static int put_together(struct shard *p)
{
	struct da_offline *o = p->o;
	size_t i;

	for (i = 0; i < o->res.nr_events; i++) {
		struct da_offline_event *e = &o->res.events[i];
		const struct times *t = &p->of_event[i];

		e->first_ns = t->first_ns < e->first_ns ? t->first_ns : e->first_ns;
		e->last_ns = t->last_ns > e->last_ns ? t->last_ns : e->last_ns;
	}
	o->res.samples += p->samples;
	o->no_memory |= p->no_memory;
	put_seen(p);
	da_match_merge(o->match, p->match);
	return da_lane_move(o->lane, p->lane) ? 0 : -DA_ENOMEM;
}

/* ---- work ---- */

/* Decodes a batch of a shard that has one and on which nobody works. The lock is held, but not meanwhile.
 * False: there is none. */
static bool work_once(struct run *r)
{
	struct shard *p = NULL;
	struct da_batch *b;
	size_t i;

	for (i = 0; i < SHARDS && !p; i++)
		if (!r->shard[i].busy && r->shard[i].nr_queued)
			p = &r->shard[i];
	if (!p)
		return false;
	b = p->queue[p->head];
	p->head = (p->head + 1) % DA_BATCHES;
	p->nr_queued--;
	p->busy = true;
	pthread_mutex_unlock(&r->lock);
	while (take_samples(p, b))
		;
	pthread_mutex_lock(&r->lock);
	p->busy = false;
	r->done[r->nr_done++] = b;
	pthread_cond_broadcast(&r->changed);
	return true;
}

static void *work(void *ctx)
{
	struct run *r = ctx;

	pthread_mutex_lock(&r->lock);
	while (!r->stop)
		if (!work_once(r))
			pthread_cond_wait(&r->changed, &r->lock);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

static void return_done(struct run *r)
{
	while (r->nr_done) {
		da_reader_return(r->o->reader, r->done[--r->nr_done]);
		r->nr_taken--;
	}
}

/* Works, or waits, until less than so much is under way. The lock is held. */
static void catch_up(struct run *r, size_t batches, size_t bytes)
{
	return_done(r);
	while (r->nr_taken > batches || (r->nr_taken && da_reader_lent(r->o->reader) > bytes)) {
		if (!work_once(r))
			pthread_cond_wait(&r->changed, &r->lock);
		return_done(r);
	}
}

/* ---- records that are no samples ---- */

/* Those that neither change tasks nor ask what was seen before them. */
static bool harmless(uint32_t type)
{
	return type == DA_REC_FINISHED_ROUND || type == DA_REC_FINISHED_INIT;
}

static void take_other(struct run *r, const struct da_rec *rec)
{
	if (!harmless(rec->type)) {
		catch_up(r, 0, 0);
		for (size_t i = 0; i < SHARDS; i++)
			put_seen(&r->shard[i]);
	}
	offline_take(r->o, rec);
}

/* A batch with other records among its samples. */
static void take_mixed(struct run *r, struct shard *p, struct da_batch *b)
{
	struct da_rec rec;

	catch_up(r, 0, 0);
	for (size_t i = 0; i < SHARDS; i++)
		put_seen(&r->shard[i]);
	do {
		while (take_samples(p, b))
			;
		if (!da_batch_next(r->o->reader, b, &rec))
			break;
		put_seen(p);
		offline_take(r->o, &rec);
	} while (true);
	da_reader_return(r->o->reader, b);
}

static void take_batch(struct run *r, struct da_batch *b)
{
	struct da_batch_size size = da_batch_size(b);
	struct shard *p = &r->shard[r->dealt / DEALT % SHARDS];
	struct da_rec rec;

	for (; size.first && da_batch_next(r->o->reader, b, &rec); size.first--)
		take_other(r, &rec);
	r->dealt += size.samples != 0;
	if (size.others) {
		take_mixed(r, p, b);
		return;
	}
	p->queue[(p->head + p->nr_queued++) % DA_BATCHES] = b;
	r->nr_taken++;
	pthread_cond_broadcast(&r->changed);
}

/* ---- the run ---- */

static int read_all(struct run *r, struct da_error *err)
{
	size_t batches = r->threads ? DA_BATCHES - 2 : 0;
	size_t bytes = (r->threads + 1) * (size_t)AHEAD_BYTES;
	struct da_batch *b;
	int rc;

	do {
		catch_up(r, batches, bytes);
		pthread_mutex_unlock(&r->lock);
		rc = da_reader_batch(r->o->reader, &b, err);
		pthread_mutex_lock(&r->lock);
		if (rc > 0)
			take_batch(r, b);
	} while (rc > 0);
	catch_up(r, 0, 0);
	return rc;
}

static void start_threads(struct run *r)
{
	long n = r->o->opts->threads ? (long)r->o->opts->threads : sysconf(_SC_NPROCESSORS_ONLN);

	n = n < SHARDS ? n : SHARDS;
	/* the caller's is one of them; a thread that cannot be started is one less */
	while ((long)r->threads + 1 < n && !pthread_create(&r->thread[r->threads], NULL, work, r))
		r->threads++;
}

static void stop_threads(struct run *r)
{
	r->stop = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	for (size_t i = 0; i < r->threads; i++)
		pthread_join(r->thread[i], NULL);
}

/* How long the recording is, if it says so. */
static uint64_t span_of(const struct da_offline *o)
{
	uint64_t times[2];
	size_t size;
	const uint8_t *p = da_reader_feature(o->reader, DA_FEAT_SAMPLE_TIME, &size);

	if (!p || size < sizeof(times))
		return 0;
	memcpy(times, p, sizeof(times));
	return times[1] > times[0] ? times[1] - times[0] : 0;
}

int samples_run(struct da_offline *o, struct da_error *err)
{
	struct da_match_opts mo = o->match_opts;
	uint64_t interval = mo.interval_ns ? mo.interval_ns : INTERVAL_NS;
	struct run *r = calloc(1, sizeof(*r));
	int rc = 0;

	if (!r)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	da_reader_loose(o->reader, LOOSE_INTERVALS * interval, interval);
	r->o = o;
	mo.part = true;
	mo.max_cells = SHARD_CELLS;
	mo.max_places = SHARD_PLACES;
	mo.span_ns = span_of(o);
	for (size_t i = 0; i < SHARDS && !rc; i++)
		rc = shard_init(&r->shard[i], o, &mo);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	pthread_mutex_lock(&r->lock);
	if (!rc) {
		start_threads(r);
		rc = read_all(r, err);
	}
	stop_threads(r);
	for (size_t i = 0; i < SHARDS && !rc; i++)
		rc = put_together(&r->shard[i]);
	for (size_t i = 0; i < SHARDS; i++)
		shard_release(&r->shard[i]);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->changed);
	free(r);
	return rc ? da_fail(err, -rc, 0, "out of memory") : 0; /* keeps the first message */
}

/* No sampler: its records are no samples. */
static bool is_dummy(const struct da_attr *a)
{
	return a->type == DA_TYPE_SOFTWARE && a->config == DA_SW_DUMMY;
}

bool samples_in_shards(struct da_offline *o)
{
	const struct da_offline_opts *f = o->opts;
	bool any = false;
	size_t i;

	if (f->nr_pids || f->nr_comms || f->start_ns || f->stop_ns || f->report ||
	    o->match_opts.probes || o->match_opts.regions == DA_REGIONS_DAMON ||
	    o->res.file->swapped ||
	    o->res.file->bytes < (f->shard_bytes ? f->shard_bytes : SHARDS_BYTES))
		return false;
	for (i = 0; i < o->res.nr_events; i++) {
		const struct da_offline_event *e = &o->res.events[i];

		if (is_dummy(e->attr))
			continue;
		if (!e->wanted || !da_lane_plain(o->lane, (uint32_t)i))
			return false;
		any = true;
	}
	return any;
}
