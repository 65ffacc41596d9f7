/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue lab (da_lab.h): each model is a set of counters that arrivals and a reader move. Time jumps from
 * one happening to the next, so that a pass costs a few steps an arrival and model, and the work of the reader
 * is counted and not simulated report by report.
 *
 * Not here: which models to try and what they prove (lab_plan.c).
 */
#include "da_lab.h"

#include <stdlib.h>
#include <string.h>

#include "da_error.h"

#define BATCH 4096 /* the reader turns to the next buffer after so many */

struct buffer {
	uint64_t inside, pending; /* reports in it; sampled and not yet published */
	bool used, full;
};

struct writer {           /* a CPU */
	uint64_t last;    /* when it last wrote */
	uint32_t skipped; /* by thin */
	bool wrote;
};

struct model {
	struct da_lab_model m;
	struct da_lab_result r;
	struct buffer *buf; /* one, or one a CPU */
	uint32_t nr_buf;
	struct writer *cpu;
	uint64_t inside, pending;     /* in all of them */
	uint64_t publish_at, look_at; /* the next of each */
	uint64_t clock;               /* the reader is done with what it did until then */
	uint64_t asleep_since;        /* with something inside */
	uint32_t at;                  /* the buffer that it reads */
	uint32_t batch;               /* taken from it in this turn */
	bool awake;
};

struct da_lab {
	struct model *model;
	size_t nr;
	uint32_t *index; /* of a CPU: 1 + its place, 0 not seen */
	uint32_t nr_cpus;
	uint64_t first, last;
	bool begun;
};

/* ---- the reader ---- */

static uint64_t on_grid(uint64_t start, uint64_t step, uint64_t t)
{
	uint64_t n = t <= start ? 0 : (t - start) / step + ((t - start) % step != 0);

	return start + n * step;
}

static void wake(struct model *s, uint64_t t)
{
	if (s->awake)
		return;
	s->awake = true;
	if (t + s->m.wake_ns > s->clock)
		s->clock = t + s->m.wake_ns;
	if (s->inside && t - s->asleep_since > s->r.wait_ns)
		s->r.wait_ns = t - s->asleep_since;
}

/* The buffer to read from; there is something in one of them. */
static struct buffer *next_buffer(struct model *s)
{
	while (!s->buf[s->at].inside || s->batch >= BATCH) {
		s->batch = 0;
		s->at = s->at + 1 < s->nr_buf ? s->at + 1 : 0;
	}
	return &s->buf[s->at];
}

/* Until t the reader takes what its time allows. */
static void read_until(struct model *s, uint64_t t)
{
	while (s->awake && s->inside) {
		struct buffer *b;
		uint64_t n;

		if (s->clock > t || t - s->clock < s->m.cost_ns)
			return;
		b = next_buffer(s);
		n = b->inside < BATCH - s->batch ? b->inside : BATCH - s->batch;
		if (s->m.cost_ns && (t - s->clock) / s->m.cost_ns < n)
			n = (t - s->clock) / s->m.cost_ns;
		s->clock += n * s->m.cost_ns;
		b->inside -= n;
		s->inside -= n;
		s->batch += (uint32_t)n;
		s->r.dequeue += n;
	}
	if (s->awake) {
		s->awake = false;
		s->look_at = s->clock + s->m.look_ns;
	}
}

static void reader(struct model *s, uint64_t t)
{
	for (;;) {
		if (!s->awake) {
			if (!s->inside) { /* nothing until something arrives: its looks find nothing */
				if (s->look_at <= t)
					s->look_at = on_grid(s->look_at, s->m.look_ns, t);
				if (s->look_at == t)
					s->look_at += s->m.look_ns;
				return;
			}
			if (s->look_at > t)
				return;
			wake(s, s->look_at);
		}
		read_until(s, t);
		if (s->awake)
			return;
	}
}

/* ---- the writers ---- */

static void put(struct model *s, struct buffer *b, uint64_t n, uint64_t t)
{
	uint64_t room = s->m.slots - b->inside, stored = n < room ? n : room;

	if (!n)
		return;
	if (!s->inside && !s->awake)
		s->asleep_since = t;
	if (s->m.latest) {
		s->r.enqueue += n;
		s->r.overwritten += n - stored;
	} else {
		s->r.enqueue += stored;
		s->r.overflow += n - stored;
	}
	b->inside += stored;
	s->inside += stored;
	b->full |= b->inside == s->m.slots;
	if (b->inside > s->r.peak)
		s->r.peak = b->inside;
	if (s->m.half && b->inside >= s->m.slots / 2 + (s->m.slots & 1))
		wake(s, t);
}

/* The drain hands on what was sampled since its last turn. */
static void publish_until(struct model *s, uint64_t t)
{
	while (s->pending && s->publish_at <= t) {
		/* a look at the same moment finds what is published */
		reader(s, s->publish_at ? s->publish_at - 1 : 0);
		for (uint32_t i = 0; i < s->nr_buf; i++) {
			put(s, &s->buf[i], s->buf[i].pending, s->publish_at);
			s->buf[i].pending = 0;
		}
		s->pending = 0;
	}
}

static void arrive(struct model *s, uint64_t t, uint32_t cpu, uint64_t first)
{
	struct buffer *b = &s->buf[s->m.single ? 0 : cpu];
	struct writer *w = &s->cpu[cpu];
	bool nested;

	if (s->m.thin > 1 && w->skipped++ % s->m.thin)
		return;
	publish_until(s, t);
	s->r.offered++;
	b->used = true;
	if (s->m.publish_ns) {
		if (!s->pending)
			s->publish_at = on_grid(first, s->m.publish_ns, t);
		b->pending++;
		s->pending++;
		return;
	}
	reader(s, t);
	/* another CPU's writer is not interrupted: it writes beside */
	nested = w->wrote && t - w->last < s->m.write_ns;
	if (nested) {
		s->r.nested++;
		return;
	}
	w->last = t;
	w->wrote = true;
	put(s, b, 1, t);
}

static void finish(struct model *s)
{
	publish_until(s, UINT64_MAX);
	for (uint32_t i = 0; i < s->nr_buf; i++) {
		s->r.dequeue += s->buf[i].inside;
		s->buf[i].inside = 0;
		s->r.buffers += s->buf[i].used;
		s->r.full += s->buf[i].full;
	}
	s->inside = 0;
}

/* ---- the lab ---- */

struct da_lab *da_lab_new(void)
{
	struct da_lab *lab = calloc(1, sizeof(*lab));

	if (lab)
		lab->index = calloc(DA_LAB_MAX_CPUS, sizeof(*lab->index));
	if (lab && !lab->index) {
		free(lab);
		return NULL;
	}
	return lab;
}

void da_lab_free(struct da_lab *lab)
{
	if (!lab)
		return;
	for (size_t i = 0; i < lab->nr; i++) {
		free(lab->model[i].buf);
		free(lab->model[i].cpu);
	}
	free(lab->model);
	free(lab->index);
	free(lab);
}

int da_lab_add(struct da_lab *lab, const struct da_lab_model *m)
{
	struct model *grown = realloc(lab->model, (lab->nr + 1) * sizeof(*grown)), *s;

	if (!grown)
		return -DA_ENOMEM;
	lab->model = grown;
	s = &grown[lab->nr];
	memset(s, 0, sizeof(*s));
	s->m = *m;
	s->m.slots = m->slots ? m->slots : 1;
	s->m.look_ns = m->look_ns ? m->look_ns : 1;
	s->buf = calloc(1, sizeof(*s->buf));
	s->cpu = calloc(1, sizeof(*s->cpu));
	if (!s->buf || !s->cpu) {
		free(s->buf);
		free(s->cpu);
		return -DA_ENOMEM;
	}
	s->nr_buf = 1;
	return (int)lab->nr++;
}

static void *grow(void *old, size_t nr, size_t size)
{
	char *p = reallocarray(old, nr + 1, size);

	if (p)
		memset(p + nr * size, 0, size);
	return p;
}

/* Every model has room for one CPU, and is given it for one more. */
static int one_cpu_more(struct da_lab *lab)
{
	for (size_t i = 0; i < lab->nr && lab->nr_cpus; i++) {
		struct model *s = &lab->model[i];
		void *p = grow(s->cpu, lab->nr_cpus, sizeof(*s->cpu));

		if (!p)
			return -DA_ENOMEM;
		s->cpu = p;
		if (s->m.single || s->nr_buf > lab->nr_cpus)
			continue;
		p = grow(s->buf, lab->nr_cpus, sizeof(*s->buf));
		if (!p)
			return -DA_ENOMEM;
		s->buf = p;
		s->nr_buf++;
	}
	lab->nr_cpus++;
	return 0;
}

int da_lab_arrive(struct da_lab *lab, uint64_t time_ns, uint32_t cpu)
{
	uint32_t slot = cpu < DA_LAB_MAX_CPUS ? cpu : DA_LAB_MAX_CPUS - 1;

	if (!lab->begun) {
		lab->first = lab->last = time_ns;
		for (size_t i = 0; i < lab->nr; i++)
			lab->model[i].look_at = lab->model[i].publish_at = time_ns;
		lab->begun = true;
	}
	if (time_ns > lab->last)
		lab->last = time_ns;
	if (!lab->index[slot]) {
		if (one_cpu_more(lab))
			return -DA_ENOMEM;
		lab->index[slot] = lab->nr_cpus;
	}
	for (size_t i = 0; i < lab->nr; i++)
		arrive(&lab->model[i], lab->last, lab->index[slot] - 1, lab->first);
	return 0;
}

void da_lab_finish(struct da_lab *lab)
{
	for (size_t i = 0; i < lab->nr; i++)
		finish(&lab->model[i]);
}

size_t da_lab_models(const struct da_lab *lab)
{
	return lab->nr;
}

const struct da_lab_model *da_lab_model(const struct da_lab *lab, size_t i)
{
	return &lab->model[i].m;
}

struct da_lab_result da_lab_result(const struct da_lab *lab, size_t i)
{
	return lab->model[i].r;
}

uint32_t da_lab_cpus(const struct da_lab *lab)
{
	return lab->nr_cpus;
}

uint64_t da_lab_span_ns(const struct da_lab *lab)
{
	return lab->last - lab->first;
}

uint64_t da_lab_dropped(const struct da_lab_result *r)
{
	return r->overflow + r->overwritten + r->nested;
}
