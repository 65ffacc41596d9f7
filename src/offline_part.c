/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decode of SPE traces in parts: each with a lane and a match of its own, in threads, put together in
 * the order of the parts.
 *
 * A part is begun as if no record reached into it, which is nearly always so. When its turn comes and the
 * part before turns out to have left a record unfinished, it is decoded again, this time going on from
 * there. So the result is that of one thread that reads all.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "offline_aux.h"

#define WINDOW      (256u << 10) /* what a core's own cache holds beside its tables */
#define MAX_THREADS 256
#define TID_CACHE   64 /* power of two */

/* A thread's process, and when that is so. */
struct known_tid {
	uint64_t from_ns, to_ns; /* from > to: nothing is known */
	uint32_t tid, pid;
};

/* What all threads share. */
struct decode {
	struct da_offline *o;
	struct aux *a;
	pthread_mutex_t lock;
	pthread_cond_t turned;
	size_t next; /* part that nobody has taken yet */
	size_t turn; /* part that is put to the others next */
	bool stop;
	bool filtered; /* there are filters by time, process or name */
	struct da_error err;
};

struct worker {
	struct decode *d;
	uint8_t *buf;
	/* the part under way */
	struct aux_queue *q;
	struct da_lane *lane;
	struct da_match *match;
	uint64_t first_ns, last_ns, filtered;
	size_t sw; /* switch in whose time the last report was */
	struct known_tid known[TID_CACHE];
	/* its window */
	size_t len;
	uint64_t pos;  /* of buf[0] in the stream */
	bool gap;      /* bytes are missing before buf[0] */
	bool finished; /* the caller of da_offline_run() wants no more */
	bool probe;    /* only the first times are wanted, and of the first window */
	struct da_error err;
};

/* ---- reports ---- */

static uint64_t time_of(const struct da_report *r)
{
	return r->has & DA_HAS_TIME ? r->time_ns : UINT64_MAX;
}

static uint32_t pid_of(struct worker *w, uint32_t tid, uint64_t time_ns)
{
	struct known_tid *k = &w->known[tid & (TID_CACHE - 1)];

	if (k->tid != tid || time_ns < k->from_ns ||
	    (time_ns >= k->to_ns && k->to_ns != UINT64_MAX)) {
		k->tid = tid;
		k->pid = da_tasks_pid_span(w->d->o->tasks, tid, time_ns, &k->from_ns, &k->to_ns);
	}
	return k->pid;
}

/* Who ran on the CPU by its switch records; NULL: not known then. */
static const struct aux_switch *switch_at(struct worker *w, uint64_t time_ns)
{
	const struct aux_track *t = w->q->switches;
	size_t lo = 0, hi = t ? t->nr_switches : 0, i = w->sw;

	if (i < hi && t->sw[i].time_ns <= time_ns &&
	    (i + 1 == hi || t->sw[i + 1].time_ns > time_ns))
		return &t->sw[i];
	while (lo < hi) { /* the first one behind the time */
		size_t mid = lo + (hi - lo) / 2;

		if (t->sw[mid].time_ns <= time_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	w->sw = lo - 1;
	return &t->sw[lo - 1];
}

static void set_task(struct worker *w, struct da_report *r)
{
	const struct aux_switch *s = NULL;
	uint32_t tid;

	if (r->has & DA_HAS_TID) {
		tid = r->tid;
	} else {
		if (w->q->cpu != UINT32_MAX && (r->has & DA_HAS_TIME))
			s = switch_at(w, r->time_ns);
		tid = s ? s->tid : w->q->tid;
		if (tid == UINT32_MAX)
			return;
	}
	r->pid = pid_of(w, tid, time_of(r));
	if (!r->pid && s && s->pid != UINT32_MAX)
		r->pid = s->pid;
	r->tid = tid;
	r->has &= ~(uint32_t)DA_HAS_TID;
	r->has |= r->pid ? DA_HAS_TASK : DA_HAS_TID;
}

static bool passes(const struct da_offline *o, const struct da_report *r)
{
	const struct da_offline_opts *f = o->opts;
	const char *comm;
	bool ok = !f->nr_pids;
	size_t i;

	if (r->has & DA_HAS_TIME ? r->time_ns < o->start_ns ||
					   (r->time_ns >= o->stop_ns && o->stop_ns != UINT64_MAX)
				 : f->start_ns || f->stop_ns)
		return false;
	for (i = 0; i < f->nr_pids && (r->has & DA_HAS_TASK) && !ok; i++)
		ok = f->pids[i] == r->pid;
	if (!ok || !f->nr_comms)
		return ok;
	if (!(r->has & DA_HAS_TASK))
		return false;
	comm = da_tasks_comm_of(o->tasks, r->pid, r->tid, time_of(r));
	for (i = 0; i < f->nr_comms; i++)
		if (!strcmp(f->comms[i], comm))
			return true;
	return false;
}

/* The first time only. */
static size_t probe(struct worker *w, const struct da_report *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((r[i].has & DA_HAS_TIME) && r[i].time_ns < w->first_ns)
			w->first_ns = r[i].time_ns;
	return 0;
}

static size_t filter(struct worker *w, struct da_report *r, size_t n)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++) {
		if (!passes(w->d->o, &r[i]))
			continue;
		if (kept != i)
			r[kept] = r[i];
		kept++;
	}
	w->filtered += n - kept;
	return kept;
}

static size_t complete(void *ctx, struct da_report *r, size_t n)
{
	struct worker *w = ctx;
	size_t i;

	if (w->finished)
		return 0;
	if (w->probe)
		return probe(w, r, n);
	for (i = 0; i < n; i++) {
		if (w->d->o->opts->raw)
			raw_set_task(&r[i]);
		else
			set_task(w, &r[i]);
	}
	if (w->d->filtered)
		n = filter(w, r, n);
	for (i = 0; i < n; i++) {
		if (!(r[i].has & DA_HAS_TIME))
			continue;
		w->first_ns = r[i].time_ns < w->first_ns ? r[i].time_ns : w->first_ns;
		w->last_ns = r[i].time_ns > w->last_ns ? r[i].time_ns : w->last_ns;
	}
	return n;
}

static size_t emit_many(void *ctx, const struct da_report *r, size_t n, struct da_ledger *l)
{
	struct worker *w = ctx;
	const struct da_offline *o = w->d->o;
	size_t i = 0;

	/* who wants to see each report may have seen enough: then there is one thread only */
	while (o->opts->report && i < n && !w->finished)
		w->finished = !o->opts->report(o->opts->ctx, o, &r[i++]);
	n = o->opts->report ? i : n;
	da_tally(&l->in[DA_STAGE_RING], n);
	da_tally(&l->out[DA_STAGE_RING], n);
	da_match_reports(w->match, r, n);
	return n;
}

static void emit(void *ctx, const struct da_report *r, struct da_ledger *l)
{
	emit_many(ctx, r, 1, l);
}

/* ---- bytes ---- */

/* The first mark that ends at or behind a position; NULL: none. */
static const struct aux_mark *mark_at(const struct aux_queue *q, uint64_t pos)
{
	const struct aux_track *t = q->marks;
	size_t lo = 0, hi = t ? t->nr_marks : 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->mark[mid].end < pos)
			lo = mid + 1;
		else
			hi = mid;
	}
	return t && lo < t->nr_marks ? &t->mark[lo] : NULL;
}

/* Gives what is in the window to the decoder; what it does not take stays. */
static void decode_window(struct worker *w, bool last)
{
	const struct aux *a = w->d->a;
	const struct aux_mark *m = mark_at(w->q, w->pos + w->len);
	struct da_aux_source s = {.event = w->q->event,
				  .cpu = w->q->cpu,
				  .time_ns = m ? m->time_ns : 0,
				  .clock = a->has_clock ? &a->clock : NULL,
				  .complete = complete,
				  .ctx = w};
	struct da_input in = {.bytes = w->buf,
			      .len = w->len,
			      .offset = w->pos,
			      .gap = w->gap,
			      .last = last,
			      .midr = w->q->midr,
			      .pebs_format = a->pebs_format,
			      .pebs_source = a->pebs_source};
	size_t used = da_lane_aux(w->lane, &s, &in);

	if (used < w->len)
		memmove(w->buf, w->buf + used, w->len - used);
	w->len -= used;
	w->pos += used;
	w->gap = false;
}

/* Bytes behind the window are missing, or what is there is not to be gone on with. */
static void break_off(struct worker *w, uint64_t pos)
{
	w->len = 0;
	w->pos = pos;
	w->gap = true;
}

/* How many bytes may be read at pos: not beyond a mark where the window's time or its records end. */
static uint64_t up_to_mark(const struct worker *w, uint64_t pos, uint64_t n, bool *cut)
{
	const struct aux_mark *m = mark_at(w->q, pos + 1);
	bool timed = w->d->a->has_clock &&
		     (w->d->o->res.events[w->q->event].attr->config & 1); /* ts_enable */

	*cut = false;
	/* where records have times of their own, only where the stream is cut matters */
	while (m && timed && !m->cut && m->end - pos <= n)
		m = mark_at(w->q, m->end + 1);
	if (!m || m->end - pos > n)
		return n;
	*cut = m->cut;
	return m->end - pos;
}

static int decode_piece(struct worker *w, const struct aux_piece *p)
{
	const struct da_offline *o = w->d->o;
	uint64_t done = 0;

	if (w->pos + w->len != p->offset)
		break_off(w, p->offset);
	while (done < p->size && !w->finished) {
		uint64_t n = p->size - done, room = WINDOW - w->len;
		bool cut;
		int rc;

		n = up_to_mark(w, p->offset + done, n < room ? n : room, &cut);
		rc = da_reader_payload(o->reader, p->input, p->at + done, w->buf + w->len,
				       (size_t)n, &w->err);
		if (rc)
			return rc;
		w->len += (size_t)n;
		done += n;
		decode_window(w, false);
		w->finished |= w->probe;
		if (cut || w->len == WINDOW)
			break_off(w, p->offset + done);
	}
	return 0;
}

/* ---- parts ---- */

/* on: the parts before have been put together, and it goes on where they ended. */
static int begin_part(struct worker *w, struct aux_queue *q, const struct aux_part *part, bool on)
{
	struct da_offline *o = w->d->o;
	struct da_match_opts mo = o->match_opts;

	mo.part = true;
	if (w->d->a->first_ns < w->d->a->last_ns)
		mo.span_ns = w->d->a->last_ns - w->d->a->first_ns;
	w->q = q;
	w->len = 0;
	w->pos = q->piece[part->first].offset;
	w->gap = false;
	w->sw = 0;
	w->filtered = 0;
	w->first_ns = UINT64_MAX;
	w->last_ns = 0;
	w->match = da_match_new(&mo, o->tasks);
	if (on && q->carry) {
		w->lane = q->carry;
		da_lane_redirect(w->lane, emit, w);
		memcpy(w->buf, q->carry_bytes, q->carry_len);
		w->len = q->carry_len;
		w->pos = q->carry_end - q->carry_len;
		w->gap = q->carry_gap;
		q->carry = NULL;
		carry_release(q);
	} else {
		w->lane = da_lane_new(w->d->a->pipeline, emit, w);
	}
	if (w->lane)
		da_lane_emit_many(w->lane, emit_many);
	return w->match && w->lane ? 0 : -DA_ENOMEM;
}

static void drop_part(struct worker *w)
{
	da_lane_free(w->lane);
	da_match_free(w->match);
	w->lane = NULL;
	w->match = NULL;
}

static int decode_part(struct worker *w, const struct aux_part *part, bool on)
{
	struct aux_queue *q = &w->d->a->queue[part->queue];
	int rc = begin_part(w, q, part, on);
	size_t i;

	for (i = part->first; i < part->end && !rc && !w->finished; i++)
		rc = decode_piece(w, &q->piece[i]);
	if (!rc && part->last && !w->probe)
		decode_window(w, true);
	return rc;
}

/* What the part left unfinished is for the next one. */
static int keep_carry(struct worker *w)
{
	struct da_aux_source s = {.event = w->q->event, .cpu = w->q->cpu};

	if (!w->len && da_lane_aux_idle(w->lane, &s))
		return 0;
	w->q->carry_bytes = malloc(w->len + 1);
	if (!w->q->carry_bytes)
		return -DA_ENOMEM;
	memcpy(w->q->carry_bytes, w->buf, w->len);
	w->q->carry_len = w->len;
	w->q->carry_end = w->pos + w->len;
	w->q->carry_gap = w->gap;
	w->q->carry = w->lane;
	w->lane = NULL;
	return 0;
}

void carry_release(struct aux_queue *q)
{
	da_lane_free(q->carry);
	free(q->carry_bytes);
	q->carry = NULL;
	q->carry_bytes = NULL;
	q->carry_len = 0;
}

/* Adds the part under way to what there is; only the thread whose turn it is. */
static int put_together(struct worker *w, const struct aux_part *part)
{
	struct da_offline *o = w->d->o;
	struct da_offline_event *e = &o->res.events[w->q->event];
	struct da_decode_stats stats;
	struct da_ledger sum = {0};

	da_lane_sum(w->lane, w->q->event, &sum);
	da_lane_decode_stats(w->lane, &stats);
	o->res.samples += sum.in[DA_STAGE_SAMPLE];
	o->res.filtered += w->filtered;
	e->filtered += w->filtered;
	e->first_ns = w->first_ns < e->first_ns ? w->first_ns : e->first_ns;
	e->last_ns = w->last_ns > e->last_ns ? w->last_ns : e->last_ns;
	w->d->a->stats.damaged_records += stats.damaged_records;
	w->d->a->stats.bad_bytes += stats.bad_bytes;
	w->d->a->stats.resync_bytes += stats.resync_bytes;
	w->d->a->stats.truncated_records += stats.truncated_records;
	da_match_merge(o->match, w->match);
	if (!da_lane_move(o->lane, w->lane))
		return -DA_ENOMEM;
	return part->last ? 0 : keep_carry(w);
}

/* Waits for the turn of a part; false: it will not come. */
static bool await_turn(struct decode *d, size_t i)
{
	bool go;

	pthread_mutex_lock(&d->lock);
	while (d->turn != i && !d->stop)
		pthread_cond_wait(&d->turned, &d->lock);
	go = !d->stop;
	pthread_mutex_unlock(&d->lock);
	return go;
}

static void pass_turn(struct worker *w, int rc)
{
	struct decode *d = w->d;

	pthread_mutex_lock(&d->lock);
	if (rc && !d->err.code) {
		d->err = w->err;
		da_fail(&d->err, -rc, 0, "%s", da_err_name(rc)); /* keeps the first message */
	}
	d->stop |= rc || w->finished;
	d->turn++;
	pthread_cond_broadcast(&d->turned);
	pthread_mutex_unlock(&d->lock);
}

static void do_part(struct worker *w, size_t i)
{
	struct decode *d = w->d;
	const struct aux_part *part = &d->a->part[i];
	struct aux_queue *q = &d->a->queue[part->queue];
	bool early, go = true;
	int rc = 0;

	pthread_mutex_lock(&d->lock);
	early = d->turn != i;
	pthread_mutex_unlock(&d->lock);
	if (early) {
		rc = decode_part(w, part, false);
		go = await_turn(d, i);
		if (go && q->carry) {
			drop_part(w);
			early = false;
		}
	}
	if (go) {
		if (!early)
			rc = decode_part(w, part, true);
		rc = rc ? rc : put_together(w, part);
		pass_turn(w, rc);
	}
	drop_part(w);
}

static void *work(void *ctx)
{
	struct worker *w = ctx;
	struct decode *d = w->d;

	for (;;) {
		size_t i;
		bool more;

		pthread_mutex_lock(&d->lock);
		i = d->next;
		more = i < d->a->nr_parts && !d->stop;
		d->next += more;
		pthread_mutex_unlock(&d->lock);
		if (!more)
			return NULL;
		do_part(w, i);
	}
}

static size_t nr_threads(const struct da_offline *o)
{
	long n = o->opts->threads ? (long)o->opts->threads : sysconf(_SC_NPROCESSORS_ONLN);

	if (o->opts->report || n < 1)
		return 1; /* its caller is to get the reports one by one, in order */
	n = n < MAX_THREADS ? n : MAX_THREADS;
	return (size_t)n < o->aux->nr_parts ? (size_t)n : o->aux->nr_parts;
}

static struct worker *worker_new(struct decode *d)
{
	struct worker *w = calloc(1, sizeof(*w));
	size_t i;

	if (!w)
		return NULL;
	w->d = d;
	w->buf = malloc(WINDOW);
	for (i = 0; i < TID_CACHE; i++)
		w->known[i] = (struct known_tid){.from_ns = UINT64_MAX, .tid = (uint32_t)i};
	if (w->buf)
		return w;
	free(w);
	return NULL;
}

static void worker_free(struct worker *w)
{
	if (w)
		free(w->buf);
	free(w);
}

/* A time filter may count from the first sample, and none has been seen yet. */
static int learn_first_time(struct decode *d)
{
	uint64_t first = UINT64_MAX;
	struct worker *w = worker_new(d);
	size_t i;
	int rc = 0;

	if (!w)
		return -DA_ENOMEM;
	w->probe = true;
	for (i = 0; i < d->a->nr_parts && !rc; i++) {
		if (d->a->part[i].first)
			continue;
		w->finished = false;
		rc = decode_part(w, &d->a->part[i], false);
		first = w->first_ns < first ? w->first_ns : first;
		drop_part(w);
	}
	d->err = w->err;
	worker_free(w);
	if (!rc && first != UINT64_MAX)
		offline_first_time(d->o, first);
	return rc;
}

static int run_workers(struct decode *d, size_t nr)
{
	struct worker *worker[MAX_THREADS] = {NULL};
	pthread_t thread[MAX_THREADS];
	size_t i, started = 0;

	for (i = 0; i < nr; i++)
		worker[i] = worker_new(d);
	/* a thread that cannot be started is one less; the first worker is this thread */
	for (i = 1; i < nr && worker[i]; i++) {
		if (pthread_create(&thread[i], NULL, work, worker[i]))
			break;
		started = i;
	}
	if (worker[0])
		work(worker[0]);
	for (i = 1; i <= started; i++)
		pthread_join(thread[i], NULL);
	d->o->enough |= worker[0] && worker[0]->finished;
	i = worker[0] != NULL || started;
	for (size_t k = 0; k < nr; k++)
		worker_free(worker[k]);
	return i ? 0 : -DA_ENOMEM;
}

int parts_decode(struct da_offline *o, struct da_error *err)
{
	const struct da_offline_opts *f = o->opts;
	struct decode d = {.o = o,
			   .a = o->aux,
			   .lock = PTHREAD_MUTEX_INITIALIZER,
			   .turned = PTHREAD_COND_INITIALIZER,
			   .filtered = f->nr_pids || f->nr_comms || f->start_ns || f->stop_ns};
	int rc = 0;

	if (!o->have_first && (f->start_relative || f->stop_relative))
		rc = learn_first_time(&d);
	if (!rc)
		rc = run_workers(&d, nr_threads(o));
	if (rc && !d.err.code)
		return rc;
	if (d.err.code)
		return da_fail(err, d.err.code, d.err.sys, "%s", d.err.msg);
	return 0;
}
