/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arm SPE traces of a recording: what the walk over the records says about them, and then the decode.
 *
 * Traces are decoded after the walk, when every task and mapping of the recording is known. They are cut
 * into parts (offline_part.c decodes them, in threads) that are put together in their order, so that the
 * result is the same for any number of threads. Memory holds where pieces are, never their bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "da_cursor.h"
#include "offline_aux.h"

#define AUX_TYPE_SPE 4 /* linux tools/perf/util/auxtrace.h: PERF_AUXTRACE_ARM_SPE */
#define V1_BYTES     16
#define V2_MAGIC     0x1010101010101010ull
#define V2_PARAMS    2             /* of a CPU: those that are read, MIDR and PMU type */
#define MAX_SWITCHES (4u << 20)    /* 96 MiB */
#define PART_BYTES   (64ull << 20) /* each part begins without what others have learned */

/* ---- growing ---- */

static bool room_for_one(struct da_offline *o, void *array, size_t *room, size_t nr, size_t size)
{
	void **p = array, *grown;
	size_t want = *room ? *room * 2 : 16;

	if (nr < *room)
		return true;
	grown = reallocarray(*p, want, size);
	if (!grown) {
		o->no_memory = true;
		return false;
	}
	*p = grown;
	*room = want;
	return true;
}

static struct aux *aux_of(struct da_offline *o)
{
	if (!o->aux) {
		o->aux = calloc(1, sizeof(*o->aux));
		if (!o->aux) {
			o->no_memory = true;
			return NULL;
		}
		o->aux->first_ns = UINT64_MAX;
		idmap_init(&o->aux->queue_at, o->recorded_at.seed);
		idmap_init(&o->aux->track_at, o->recorded_at.seed);
	}
	return o->aux;
}

/* ---- what the records say ---- */

static void take_v2(struct da_offline *o, struct da_cur c)
{
	struct aux *a = o->aux;
	uint64_t words, nr, i, k;

	da_cur_skip(&c, 8); /* version */
	words = da_cur_u64(&c);
	a->pmu_type = da_cur_u64(&c);
	nr = da_cur_u64(&c);
	if (words < 4 || (words - 4) > da_cur_left(&c) / 8)
		goto damaged;
	da_cur_skip(&c, (size_t)(words - 4) * 8);
	for (i = 0; i < nr; i++) {
		struct aux_cpu cpu = {0};
		uint64_t params;

		if (da_cur_left(&c) < 3 * 8 || da_cur_u64(&c) != V2_MAGIC)
			goto damaged;
		cpu.cpu = da_cur_u64(&c);
		params = da_cur_u64(&c);
		if (params > da_cur_left(&c) / 8 || params < V2_PARAMS)
			goto damaged;
		cpu.midr = da_cur_u64(&c);
		cpu.pmu_type = da_cur_u64(&c);
		for (k = V2_PARAMS; k < params; k++)
			da_cur_skip(&c, 8);
		if (!room_for_one(o, &a->cpu, &a->room_cpus, a->nr_cpus, sizeof(cpu)))
			return;
		a->cpu[a->nr_cpus++] = cpu;
	}
	return;
damaged:
	offline_damage(o, "what the recording says about its AUX trace data cannot be read");
}

static void take_info(struct da_offline *o, const struct da_rec *rec)
{
	struct da_cur c = da_cur_from(rec->bytes, rec->size, rec->swap);
	struct aux *a = aux_of(o);

	if (!a || rec->size < 16 + 8)
		return;
	da_cur_skip(&c, 8);
	a->kind = da_cur_u32(&c);
	a->has_kind = true;
	da_cur_skip(&c, 4);
	a->nr_cpus = 0;
	if (a->kind != AUX_TYPE_SPE)
		return;
	if (da_cur_left(&c) == V1_BYTES)
		a->pmu_type = da_cur_u64(&c);
	else
		take_v2(o, c);
}

/* The shorter form ends after `zero`. */
static void take_clock(struct da_offline *o, const struct da_rec *rec)
{
	struct da_cur c = da_cur_from(rec->bytes, rec->size, rec->swap);
	struct da_clock k = {0};
	uint64_t shift, mult;
	struct aux *a = aux_of(o);

	if (!a || rec->size < 32)
		return;
	da_cur_skip(&c, 8);
	shift = da_cur_u64(&c);
	mult = da_cur_u64(&c);
	k.zero = da_cur_u64(&c);
	if (!mult || mult > UINT32_MAX || shift > 63)
		return; /* no counter is so: times would be made up */
	k.mult = (uint32_t)mult;
	k.shift = (uint8_t)shift;
	if (rec->size >= 56) {
		k.cycles = da_cur_u64(&c);
		k.mask = da_cur_u64(&c);
		da_cur_skip(&c, 1); /* cap_user_time_zero */
		k.wraps = da_cur_u8(&c);
	}
	a->clock = k;
	a->has_clock = true;
}

static struct aux_queue *queue_of(struct da_offline *o, uint32_t idx, uint32_t cpu, uint32_t tid)
{
	struct aux *a = o->aux;
	bool on_cpu = cpu != UINT32_MAX;
	uint64_t key = (uint64_t)idx << 33 | (uint64_t)on_cpu << 32 | (on_cpu ? cpu : tid);
	uint32_t at = idmap_get(&a->queue_at, key, UINT32_MAX);

	if (at != UINT32_MAX)
		return &a->queue[at];
	if (!room_for_one(o, &a->queue, &a->room_queues, a->nr_queues, sizeof(*a->queue)))
		return NULL;
	if (idmap_put(&a->queue_at, key, (uint32_t)a->nr_queues)) {
		o->no_memory = true;
		return NULL;
	}
	a->queue[a->nr_queues] = (struct aux_queue){.cpu = cpu, .tid = tid};
	return &a->queue[a->nr_queues++];
}

static void take_piece(struct da_offline *o, const struct da_rec *rec)
{
	struct da_cur c = da_cur_from(rec->bytes, rec->size, rec->swap);
	struct aux *a = aux_of(o);
	struct aux_queue *q;
	uint32_t idx, tid, cpu;
	uint64_t offset;

	if (!a || rec->size < 48 || !rec->payload_avail) {
		o->res.aux_bytes += rec->payload_avail;
		return;
	}
	da_cur_skip(&c, 16);
	offset = da_cur_u64(&c);
	da_cur_skip(&c, 8); /* reference */
	idx = da_cur_u32(&c);
	tid = da_cur_u32(&c);
	cpu = da_cur_u32(&c);
	if (rec->payload_avail > UINT64_MAX - offset) {
		offline_damage(o, "AUX trace data at 0x%llx begins at an impossible position",
			       (unsigned long long)rec->offset);
		return;
	}
	q = queue_of(o, idx, cpu, tid);
	if (!q || !room_for_one(o, &q->piece, &q->room, q->nr, sizeof(*q->piece)))
		return;
	q->piece[q->nr++] = (struct aux_piece){.offset = offset,
					       .size = rec->payload_avail,
					       .at = rec->payload_at,
					       .input = rec->payload_input};
}

/* What happened on a CPU, or to a thread's own buffer, in time order. */
static struct aux_track *track_of(struct da_offline *o, bool of_tid, uint32_t id)
{
	struct aux *a = aux_of(o);
	uint64_t key = (uint64_t)of_tid << 32 | id;
	uint32_t at = a ? idmap_get(&a->track_at, key, UINT32_MAX) : UINT32_MAX;

	if (at != UINT32_MAX)
		return &a->track[at];
	if (!a || !room_for_one(o, &a->track, &a->room_tracks, a->nr_tracks, sizeof(*a->track)))
		return NULL;
	if (idmap_put(&a->track_at, key, (uint32_t)a->nr_tracks)) {
		o->no_memory = true;
		return NULL;
	}
	a->track[a->nr_tracks] = (struct aux_track){0};
	return &a->track[a->nr_tracks++];
}

static void add_mark(struct da_offline *o, bool of_tid, uint32_t id, const struct aux_mark *m)
{
	struct aux_track *t = track_of(o, of_tid, id);

	if (!t || (t->nr_marks && t->mark[t->nr_marks - 1].end >= m->end))
		return; /* written over again: the bytes are of the later time or lost */
	if (room_for_one(o, &t->mark, &t->room_marks, t->nr_marks, sizeof(*m)))
		t->mark[t->nr_marks++] = *m;
}

static void take_aux_record(struct da_offline *o, const struct da_rec *rec)
{
	struct da_rec_aux x;
	struct aux_mark m = {.time_ns = rec->has & DA_SAMPLE_TIME ? rec->time_ns : 0};

	if (da_rec_aux_parse(rec, &x) || __builtin_add_overflow(x.offset, x.size, &m.end))
		return;
	m.cut = x.flags & AUX_PARTIAL;
	if (m.time_ns && aux_of(o)) {
		o->aux->first_ns = m.time_ns < o->aux->first_ns ? m.time_ns : o->aux->first_ns;
		o->aux->last_ns = m.time_ns > o->aux->last_ns ? m.time_ns : o->aux->last_ns;
	}
	if (rec->has & DA_SAMPLE_CPU)
		add_mark(o, false, rec->cpu, &m);
	if (rec->has & DA_SAMPLE_TID)
		add_mark(o, true, rec->tid, &m);
}

/* Who runs on a CPU from now on: who was switched in, or who follows the one that was switched out. */
static void take_switch(struct da_offline *o, const struct da_rec *rec)
{
	struct da_cur c = da_cur_from(rec->bytes, rec->size, rec->swap);
	struct aux_switch s = {.time_ns = rec->time_ns, .pid = rec->pid, .tid = rec->tid};
	struct aux_track *t;

	if (!(rec->has & DA_SAMPLE_TIME) || !(rec->has & DA_SAMPLE_CPU) || rec->size < 16)
		return;
	if (rec->misc & DA_MISC_SWITCH_OUT) {
		da_cur_skip(&c, 8);
		s.pid = da_cur_u32(&c);
		s.tid = da_cur_u32(&c);
	} else if (!(rec->has & DA_SAMPLE_TID)) {
		return;
	}
	t = track_of(o, false, rec->cpu);
	if (!t || (t->nr_switches && t->sw[t->nr_switches - 1].tid == s.tid) ||
	    (t->nr_switches && t->sw[t->nr_switches - 1].time_ns > s.time_ns))
		return;
	if (o->aux->nr_switches == MAX_SWITCHES) {
		if (!o->aux->switches_full)
			offline_damage(o, "more than %u task switches: the rest is left out",
				       MAX_SWITCHES);
		o->aux->switches_full = true;
		return;
	}
	if (!room_for_one(o, &t->sw, &t->room_switches, t->nr_switches, sizeof(s)))
		return;
	t->sw[t->nr_switches++] = s;
	o->aux->nr_switches++;
}

void aux_record(struct da_offline *o, const struct da_rec *rec)
{
	switch (rec->type) {
	case DA_REC_AUXTRACE_INFO:
		take_info(o, rec);
		break;
	case DA_REC_TIME_CONV:
		take_clock(o, rec);
		break;
	case DA_REC_AUXTRACE:
		take_piece(o, rec);
		break;
	case DA_REC_AUX:
		take_aux_record(o, rec);
		break;
	case DA_REC_SWITCH_CPU_WIDE:
		take_switch(o, rec);
		break;
	default:
		break;
	}
}

/* ---- before the decode ---- */

static const struct aux_cpu *cpu_of(const struct aux *a, const struct aux_queue *q)
{
	size_t i;

	for (i = 0; i < a->nr_cpus; i++)
		if (a->cpu[i].cpu == q->cpu)
			return &a->cpu[i];
	/* the buffer of a task, which may have run on any CPU: right where all are alike */
	return q->cpu == UINT32_MAX && a->nr_cpus ? &a->cpu[0] : NULL;
}

/* The event of a queue: of its PMU, else the only kind of event that has such traces. */
static uint32_t event_of(const struct da_offline *o, const struct aux_queue *q)
{
	const struct aux *a = o->aux;
	const struct aux_cpu *cpu = cpu_of(a, q);
	uint64_t type = cpu && cpu->pmu_type != UINT64_MAX ? cpu->pmu_type : a->pmu_type;
	size_t i;

	if (o->opts->raw)
		return 0; /* the only one */
	for (i = 0; i < o->res.nr_events && a->has_kind; i++)
		if (o->res.events[i].attr->type == type)
			return (uint32_t)i;
	for (i = 0; i < o->res.nr_events; i++)
		if (o->res.events[i].producer == DA_PROD_SPE)
			return (uint32_t)i;
	return UINT32_MAX;
}

/* A recording without metadata of each CPU has one CPUID for all: hexadecimal digits of MIDR_EL1. */
static uint64_t midr_of(const struct da_offline *o, const struct aux_queue *q)
{
	const struct aux_cpu *cpu = cpu_of(o->aux, q);
	const char *id = o->res.file->cpuid;

	if (o->opts->raw)
		return o->opts->raw->midr;
	if (cpu)
		return cpu->midr;
	return id && !strncmp(id, "0x", 2) ? strtoull(id, NULL, 16) : 0;
}

static const struct aux_track *find_track(const struct aux *a, bool of_tid, uint32_t id)
{
	uint32_t at = idmap_get(&a->track_at, (uint64_t)of_tid << 32 | id, UINT32_MAX);

	return at == UINT32_MAX ? NULL : &a->track[at];
}

/* Trace data ends with up to 7 bytes of padding, which the next piece's position tells from data; where
 * pieces overlap the next one has the rest. */
static void trim(struct aux_queue *q)
{
	size_t i;

	for (i = 0; i + 1 < q->nr; i++) {
		struct aux_piece *p = &q->piece[i];
		uint64_t next = p[1].offset;

		if (next > p->offset && next - p->offset < p->size)
			p->size = next - p->offset;
	}
}

static bool add_parts(struct da_offline *o, uint32_t queue)
{
	struct aux *a = o->aux;
	struct aux_queue *q = &a->queue[queue];
	uint64_t bytes = 0, want = o->opts->aux_part ? o->opts->aux_part : PART_BYTES;
	size_t i, first = 0;

	for (i = 0; i < q->nr; i++) {
		bytes += q->piece[i].size;
		if (bytes < want && i + 1 < q->nr)
			continue;
		if (!room_for_one(o, &a->part, &a->room_parts, a->nr_parts, sizeof(*a->part)))
			return false;
		a->part[a->nr_parts++] = (struct aux_part){
			.queue = queue, .first = first, .end = i + 1, .last = i + 1 == q->nr};
		first = i + 1;
		bytes = 0;
	}
	return true;
}

static void not_decoded(struct da_offline *o, const struct aux_queue *q)
{
	size_t i;

	for (i = 0; i < q->nr; i++)
		o->res.aux_bytes += q->piece[i].size;
}

static bool plan(struct da_offline *o)
{
	struct aux *a = o->aux;
	size_t i;

	for (i = 0; i < a->nr_queues; i++) {
		struct aux_queue *q = &a->queue[i];
		struct da_offline_event *e;

		q->event = a->has_kind && a->kind != AUX_TYPE_SPE ? UINT32_MAX : event_of(o, q);
		if (q->event == UINT32_MAX) {
			not_decoded(o, q);
			continue;
		}
		e = &o->res.events[q->event];
		if (!o->opts->raw)
			e->producer = DA_PROD_SPE; /* the recording may not name its PMUs */
		if (!e->wanted)
			continue;
		q->midr = midr_of(o, q);
		q->switches = find_track(a, false, q->cpu);
		q->marks = q->cpu != UINT32_MAX ? q->switches : find_track(a, true, q->tid);
		trim(q);
		if (!add_parts(o, (uint32_t)i))
			return false;
	}
	return true;
}

static struct da_pipeline *spe_pipeline(const struct da_offline *o)
{
	struct da_pipeline_event *ev = calloc(o->res.nr_events + 1, sizeof(*ev));
	struct da_pipeline *p;
	size_t i;

	if (!ev)
		return NULL;
	for (i = 0; i < o->res.nr_events; i++)
		ev[i] = (struct da_pipeline_event){.attr = o->res.events[i].attr,
						   .producer = o->res.events[i].producer,
						   .name = o->res.events[i].name};
	p = da_pipeline_new(ev, o->res.nr_events, DA_ARCH_ARM64, o->tasks, o->code);
	free(ev);
	return p;
}

int aux_decode(struct da_offline *o, struct da_error *err)
{
	struct aux *a = o->aux;
	int rc;

	if (!a || !a->nr_queues || o->enough)
		return 0;
	if (o->opts->raw)
		raw_describe(o);
	if (!plan(o))
		return -DA_ENOMEM;
	if (!a->nr_parts)
		return 0;
	a->pipeline = spe_pipeline(o);
	if (!a->pipeline)
		return -DA_ENOMEM;
	rc = parts_decode(o, err);
	if (rc)
		return rc;
	o->res.lost.resync_bytes = (int64_t)a->stats.resync_bytes;
	/* a trace may end in the midst of a record; a whole file of records does not */
	if (o->opts->raw && a->stats.truncated_records)
		offline_damage(o, "the last record is cut short");
	if (a->stats.damaged_records || a->stats.bad_bytes)
		offline_damage(o,
			       "AUX trace data: %llu records are damaged, %llu bytes were skipped",
			       (unsigned long long)a->stats.damaged_records,
			       (unsigned long long)a->stats.resync_bytes);
	return 0;
}

void aux_release(struct da_offline *o)
{
	struct aux *a = o->aux;
	size_t i;

	if (!a)
		return;
	for (i = 0; i < a->nr_queues; i++) {
		free(a->queue[i].piece);
		carry_release(&a->queue[i]);
	}
	for (i = 0; i < a->nr_tracks; i++) {
		free(a->track[i].mark);
		free(a->track[i].sw);
	}
	da_pipeline_free(a->pipeline);
	idmap_release(&a->queue_at);
	idmap_release(&a->track_at);
	free(a->queue);
	free(a->track);
	free(a->cpu);
	free(a->part);
	free(a);
	o->aux = NULL;
}
