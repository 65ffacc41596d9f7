/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The live decode of trace data: blocks that were written to the file, through the decoder of their
 * producer, to reports of the same pipeline that serves samples. What the decoder does not know is added:
 * the time by TIME_CONV (the pipeline does it), the process by thread or by who ran on the CPU.
 *
 * It cuts the stream where offline_part.c does, so that both give the same reports.
 */
#include <stdlib.h>
#include <string.h>

#include "session_aux.h"

#define WINDOW     (256u << 10)
#define STEP       (64u << 10) /* decoded between two looks at the rings */
#define AUX_HEADER 48

/* What complete() needs. */
struct decoding {
	struct s_lane *l;
	struct s_aux *a;
};

static uint32_t pid_of(struct s_aux *a, uint32_t tid, uint64_t time_ns)
{
	size_t i = tid & (S_AUX_TIDS - 1);

	if (a->known_tid[i] != tid || time_ns < a->known_from[i] || time_ns >= a->known_to[i]) {
		a->known_tid[i] = tid;
		a->known_pid[i] = da_tasks_pid_span(a->s->tasks, tid, time_ns, &a->known_from[i],
						    &a->known_to[i]);
		/* what comes later may say otherwise from then on */
		if (a->known_to[i] > a->sure_until)
			a->known_to[i] = a->sure_until;
	}
	return a->known_pid[i];
}

static const struct s_switch *switch_at(const struct s_cpu *c, uint64_t time_ns)
{
	size_t lo = 0, hi = c->nr_sw;

	while (lo < hi) { /* the first one behind the time */
		size_t mid = lo + (hi - lo) / 2;

		if (c->sw[mid].time_ns <= time_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &c->sw[lo - 1] : NULL;
}

static void complete_one(const struct decoding *d, struct da_report *r)
{
	struct s_lane *l = d->l;
	bool timed = r->has & DA_HAS_TIME;
	const struct s_switch *sw = NULL;
	uint32_t tid;

	if (timed) {
		if (!l->last_ns || r->time_ns < l->first_ns)
			l->first_ns = r->time_ns;
		if (r->time_ns > l->last_ns)
			l->last_ns = r->time_ns;
	}
	if (!(r->has & DA_HAS_TID)) {
		sw = timed ? switch_at(d->a->cpu, r->time_ns) : NULL;
		if (!sw)
			return;
	}
	tid = sw ? sw->tid : r->tid;
	r->pid = pid_of(d->a, tid, timed ? r->time_ns : UINT64_MAX);
	if (!r->pid && sw && sw->pid != UINT32_MAX)
		r->pid = sw->pid;
	r->tid = tid;
	r->has &= ~(uint32_t)DA_HAS_TID;
	r->has |= r->pid ? DA_HAS_TASK : DA_HAS_TID;
}

static size_t complete(void *ctx, struct da_report *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		complete_one(ctx, &r[i]);
	return n;
}

/* The first mark that ends at or behind a position; those before are not needed any more. */
static const struct s_aux_mark *mark_at(struct s_aux *a, uint64_t pos)
{
	size_t i = a->first_mark;

	while (i < a->nr_marks && a->mark[i].end < pos)
		i++;
	return i < a->nr_marks ? &a->mark[i] : NULL;
}

static void forget_marks(struct s_aux *a, uint64_t before)
{
	while (a->first_mark < a->nr_marks && a->mark[a->first_mark].end <= before)
		a->first_mark++;
}

static void decode_window(struct s_lane *l, struct s_aux *a, bool last)
{
	struct da_session *s = a->s;
	const struct s_aux_mark *m = mark_at(a, a->pos + a->len);
	struct decoding d = {.l = l, .a = a};
	struct da_aux_source src = {.event = (uint32_t)a->event,
				    .cpu = (uint32_t)a->cpu->cpu,
				    .time_ns = m ? m->time_ns : 0,
				    .clock = s->has_ticks ? &s->ticks : NULL,
				    .complete = complete,
				    .ctx = &d};
	struct da_input in = {.bytes = a->window,
			      .len = a->len,
			      .offset = a->pos,
			      .gap = a->gap,
			      .last = last,
			      .midr = a->midr};
	uint64_t before = a->pair->lane->in[DA_STAGE_SAMPLE];
	size_t used;

	s_ledgers_begin(l);
	used = da_lane_aux(l->lane, &src, &in);
	s_ledgers_end(l);
	atomic_fetch_add_explicit(&l->samples, a->pair->lane->in[DA_STAGE_SAMPLE] - before,
				  memory_order_relaxed);
	if (used < a->len)
		memmove(a->window, a->window + used, a->len - used);
	a->len -= used;
	a->pos += used;
	a->gap = false;
}

/* Bytes behind the window are missing, or what is there is not to be gone on with. */
static void break_off(struct s_aux *a, uint64_t pos)
{
	a->len = 0;
	a->pos = pos;
	a->gap = true;
}

/* How many bytes may be decoded at once: not beyond a mark where the window's time or its records end. */
static uint64_t up_to_mark(struct s_aux *a, uint64_t pos, uint64_t n, bool *cut)
{
	bool timed = a->s->has_ticks && (a->s->ev[a->event].attr.config & 1); /* ts_enable */
	size_t i = a->first_mark;

	*cut = false;
	while (i < a->nr_marks && (a->mark[i].end <= pos || (timed && !a->mark[i].cut)))
		i++;
	if (i == a->nr_marks || a->mark[i].end - pos > n)
		return n;
	*cut = a->mark[i].cut;
	return a->mark[i].end - pos;
}

size_t s_aux_decode(struct s_lane *l, struct s_block *b)
{
	struct s_aux *a = b->aux;
	uint64_t at = b->stream + b->pos, n = b->payload - b->pos, room;
	bool cut;

	if (!a->window) {
		a->window = malloc(WINDOW);
		if (!a->window) {
			struct da_error err = {0};

			da_fail(&err, DA_ENOMEM, 0, "out of memory");
			s_fail(a->s, &err);
			b->pos = b->payload;
			return 1;
		}
	}
	a->sure_until = b->time_ns;
	if (a->pos + a->len != at)
		break_off(a, at);
	room = WINDOW - a->len;
	n = n < room ? n : room;
	n = up_to_mark(a, at, n < STEP ? n : STEP, &cut);
	memcpy(a->window + a->len, b->data + AUX_HEADER + b->pos, (size_t)n);
	a->len += (size_t)n;
	b->pos += (size_t)n;
	decode_window(l, a, false);
	forget_marks(a, a->pos);
	if (cut || a->len == WINDOW)
		break_off(a, at + n);
	return (size_t)n / 64 + 1;
}

static void forget_switches(struct s_cpu *c, uint64_t before)
{
	size_t n = 0;

	while (n + 1 < c->nr_sw && c->sw[n + 1].time_ns <= before)
		n++;
	if (n < 4096)
		return;
	c->nr_sw -= n;
	memmove(c->sw, c->sw + n, c->nr_sw * sizeof(*c->sw));
}

void s_aux_decode_done(struct s_block *b)
{
	/* a task's clock and its counter agree to far less than a second */
	if (b->time_ns > 1000000000)
		forget_switches(b->aux->cpu, b->time_ns - 1000000000);
}

void s_aux_decode_end(struct s_lane *l)
{
	for (size_t c = 0; c < l->nr_cpus; c++) {
		for (size_t i = 0; i < l->s->nr_ev; i++) {
			struct s_aux *a = l->cpus[c]->pairs[i].aux;

			for (; a; a = a->before)
				if (a->window)
					decode_window(l, a, true);
		}
	}
}
