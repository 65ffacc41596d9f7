/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulated AUX device. A transaction is begun when the event runs and ended by an interrupt (the room
 * or the watermark is used up), at the end of a time slice, and by disabling; what was written in between is
 * then told: an AUX record in the data ring, and aux_head.
 *
 * Like hardware it never writes across the end of the area or where less than a record fits: such places are
 * padded. Without room the record of the next transaction says TRUNCATED and the event is off.
 */
#include "aux_sim.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define SLICE_NS 500000 /* between two slices */
#define BURST    4096   /* records of a slice */

struct aux_sim {
	struct aux_sim_opts o;
	struct kring ring;
	pthread_t thread;
	pthread_mutex_t lock; /* all below; held for a slice */
	bool stop, on;
	uint64_t pos;        /* where the next record goes */
	uint64_t told;       /* aux_head */
	uint64_t woken;      /* aux_head at the last wakeup */
	uint64_t last;       /* where the last whole record began; pos if there is none to be cut */
	uint64_t since, seq; /* records since the last collision; interrupts */
	uint64_t flags;      /* of the transaction under way */
	uint64_t lost;       /* records that found no room in the data ring */
};

static struct perf_event_mmap_page *control(const struct aux_sim *d)
{
	return (struct perf_event_mmap_page *)(void *)d->ring.base;
}

/* ---- the data ring ---- */

static bool ring_put(struct aux_sim *d, const uint8_t *rec, size_t size)
{
	uint8_t *data = d->ring.base + d->ring.page;
	uint64_t head = control(d)->data_head;
	uint64_t tail = __atomic_load_n(&control(d)->data_tail, __ATOMIC_ACQUIRE);

	if (head + size - tail > d->ring.data_bytes)
		return false;
	for (size_t i = 0; i < size; i++)
		data[(head + i) & (d->ring.data_bytes - 1)] = rec[i];
	__atomic_store_n(&control(d)->data_head, head + size, __ATOMIC_RELEASE);
	return true;
}

static size_t build(const struct aux_sim *d, uint32_t type, const uint64_t *words, size_t nr,
		    uint8_t *rec)
{
	struct perf_event_header h = {.type = type};
	size_t size = sizeof(h) + nr * sizeof(*words);

	memcpy(rec + sizeof(h), words, nr * sizeof(*words));
	size += da_sample_id_build(d->o.attr, d->o.pid, d->o.tid, d->o.now(d->o.ctx), d->o.id,
				   d->o.cpu, rec + size);
	h.size = (uint16_t)size;
	memcpy(rec, &h, sizeof(h));
	return size;
}

/* As the kernel does: what was lost is said before the next record that fits. */
static void tell(struct aux_sim *d, uint64_t offset, uint64_t size, uint64_t flags)
{
	uint8_t rec[128];
	size_t len;

	if (d->lost) {
		len = build(d, PERF_RECORD_LOST, (uint64_t[]){d->o.id, d->lost}, 2, rec);
		if (!ring_put(d, rec, len)) {
			d->lost++;
			return;
		}
		d->lost = 0;
	}
	len = build(d, PERF_RECORD_AUX, (uint64_t[]){offset, size, flags}, 3, rec);
	if (!ring_put(d, rec, len))
		d->lost++;
}

/* ---- the AUX area ---- */

static void publish(struct aux_sim *d, uint64_t head)
{
	d->told = head;
	__atomic_store_n(&control(d)->aux_head, head, __ATOMIC_RELEASE);
}

static uint64_t watermark(const struct aux_sim *d)
{
	return d->o.watermark ? d->o.watermark : d->ring.aux_bytes / 2;
}

/* perf_aux_output_end() */
static void end(struct aux_sim *d, bool all)
{
	uint64_t to = d->pos;

	if (d->o.split && !all && d->pos - d->last > 8)
		to = d->last + 1 + d->pos % (d->pos - d->last - 1);
	if (to > d->told || d->flags) {
		tell(d, d->told, to - d->told, d->flags);
		publish(d, to);
	}
	if (d->flags & PERF_AUX_FLAG_TRUNCATED)
		d->on = false;
	if ((d->flags & PERF_AUX_FLAG_TRUNCATED) || d->told - d->woken >= watermark(d)) {
		d->woken = d->told;
		d->o.wake(d->o.ctx);
	}
	d->flags = 0;
}

static void pad(struct aux_sim *d, uint64_t n)
{
	memset(d->ring.aux + (d->pos & (d->ring.aux_bytes - 1)), 0, (size_t)n);
	d->pos += n;
	d->last = d->pos;
}

/* perf_aux_output_begin(): how far may be written at once. 0: there is no room, the event is off. */
static uint64_t begin(struct aux_sim *d)
{
	uint64_t tail = __atomic_load_n(&control(d)->aux_tail, __ATOMIC_ACQUIRE);
	uint64_t size = d->ring.aux_bytes, room = size - 1 - (d->pos - tail);
	uint64_t to_end = size - (d->pos & (size - 1)), left;

	if (to_end < AUX_SIM_RECORD && room >= to_end) {
		pad(d, to_end);
		room -= to_end;
		to_end = size;
	}
	room = room < to_end ? room : to_end;
	left = d->woken + watermark(d);
	left = left > d->pos ? left - d->pos : 0;
	if (room < AUX_SIM_RECORD) {
		d->flags |= PERF_AUX_FLAG_TRUNCATED;
		end(d, false);
		return 0;
	}
	/* the interrupt comes with the record that uses the watermark up */
	left = left < AUX_SIM_RECORD ? AUX_SIM_RECORD : left;
	return d->pos + (room < left ? room : left);
}

static void interrupt(struct aux_sim *d)
{
	bool cut = d->o.cut && ++d->seq >= d->o.cut && d->pos - d->last > 1 && d->last >= d->told;

	if (cut) {
		d->seq = 0;
		d->pos = d->last + (d->pos - d->last) / 2;
		d->flags |= PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL;
	}
	end(d, cut);
	d->last = d->pos;
}

static void take(struct aux_sim *d, const uint8_t *rec, size_t size)
{
	if (d->o.collide && ++d->since >= d->o.collide) {
		d->since = 0;
		d->flags |= PERF_AUX_FLAG_COLLISION;
		return;
	}
	d->last = d->pos;
	memcpy(d->ring.aux + (d->pos & (d->ring.aux_bytes - 1)), rec, size);
	d->pos += size;
}

static void slice(struct aux_sim *d)
{
	uint64_t limit = d->on ? begin(d) : 0;
	uint8_t rec[AUX_SIM_RECORD];
	size_t size;

	for (unsigned i = 0; i < BURST && (size = d->o.next(d->o.ctx, rec)); i++) {
		while (d->on && limit - d->pos < AUX_SIM_RECORD) {
			interrupt(d);
			limit = d->on ? begin(d) : 0;
		}
		if (d->on)
			take(d, rec, size);
	}
	if (d->on)
		end(d, false); /* its task is switched out, say */
}

static void *run(void *device)
{
	struct aux_sim *d = device;
	bool stop = false;

	while (!stop) {
		pthread_mutex_lock(&d->lock);
		slice(d);
		stop = d->stop;
		pthread_mutex_unlock(&d->lock);
		nanosleep(&(struct timespec){.tv_nsec = SLICE_NS}, NULL);
	}
	return NULL;
}

/* ---- from outside ---- */

static uint8_t *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void unmap(struct aux_sim *d)
{
	if (d->ring.aux)
		munmap(d->ring.aux, d->ring.aux_bytes);
	if (d->ring.base)
		munmap(d->ring.base, d->ring.page + d->ring.data_bytes);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

struct aux_sim *aux_sim_new(const struct aux_sim_opts *o)
{
	struct aux_sim *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->o = *o;
	pthread_mutex_init(&d->lock, NULL);
	d->ring = (struct kring){.page = o->page,
				 .data_bytes = o->data_pages * o->page,
				 .aux_bytes = o->aux_pages * o->page};
	d->ring.base = map(d->ring.page + d->ring.data_bytes);
	d->ring.aux = map(d->ring.aux_bytes);
	if (d->ring.base && d->ring.aux) {
		kring_aux_announce(&d->ring, d->ring.page + d->ring.data_bytes, d->ring.aux_bytes);
		if (!pthread_create(&d->thread, NULL, run, d))
			return d;
	}
	unmap(d);
	return NULL;
}

void aux_sim_free(struct aux_sim *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	d->stop = true;
	pthread_mutex_unlock(&d->lock);
	pthread_join(d->thread, NULL);
	unmap(d);
}

const struct kring *aux_sim_ring(const struct aux_sim *d)
{
	return &d->ring;
}

void aux_sim_enable(struct aux_sim *d)
{
	pthread_mutex_lock(&d->lock);
	d->on = true;
	pthread_mutex_unlock(&d->lock);
}

void aux_sim_disable(struct aux_sim *d)
{
	pthread_mutex_lock(&d->lock);
	end(d, true);
	d->on = false;
	pthread_mutex_unlock(&d->lock);
}
