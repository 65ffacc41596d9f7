/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of one CPU through libperf: the only file that includes libperf's headers, the internal
 * ones for the file descriptors that the public API hides among them.
 *
 * libperf opens, closes, switches and reads the events. The ring is mapped and copied here: libperf's own
 * reader hands out one record at a time (6.1 cuts one that straddles the ring's end at 4168 bytes), while
 * recording wants whole runs of bytes; and perf_evsel__mmap() gives every task a ring of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <perf/core.h>
#include <perf/cpumap.h>
#include <perf/event.h>
#include <perf/evsel.h>
#include <perf/threadmap.h>

#include <internal/evsel.h>
#include <internal/xyarray.h>

#include "evt.h"

/* FEASIBILITY: 6.12 has 136 bytes, 6.1 has 128; evt_open() writes 128 and lets the rest be zero. */
_Static_assert(sizeof(struct perf_event_attr) >= 128, "libperf's perf_event_attr is too old");
#define ATTR_BYTES 128

struct one {
	struct perf_evsel *evsel;
	uint64_t *ids; /* one per task; 0 where the read failed */
	bool has_lost;
};

struct evt {
	int cpu;
	size_t nr_tids;
	struct perf_cpu_map *cpus;
	struct perf_thread_map *threads;
	struct one *ev;
	size_t nr;
	struct ring {
		uint8_t *base; /* control page, then the data pages; NULL: not mapped */
		size_t map_bytes, data_bytes;
	} rings[EVT_RINGS];
	size_t page;
};

static int quiet(enum libperf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

struct evt *evt_new(int cpu, const pid_t *tids, size_t nr)
{
	struct evt *e = calloc(1, sizeof(*e));
	char list[16];

	if (!e)
		return NULL;
	libperf_init(quiet); /* sets libperf's page size; idempotent */
	e->cpu = cpu;
	e->nr_tids = nr;
	e->page = (size_t)sysconf(_SC_PAGESIZE);
	snprintf(list, sizeof(list), "%d", cpu);
	e->cpus = perf_cpu_map__new(list);
	e->threads = perf_thread_map__new_array((int)nr, NULL);
	if (!e->cpus || !e->threads) {
		evt_free(e);
		return NULL;
	}
	for (size_t i = 0; i < nr; i++)
		perf_thread_map__set_pid(e->threads, (int)i, tids[i]);
	return e;
}

static int fd_of(const struct one *o, size_t tid)
{
	int *fd = o->evsel->fd ? xyarray__entry(o->evsel->fd, 0, tid) : NULL;

	return fd ? *fd : -1;
}

static void one_release(struct one *o)
{
	if (o->evsel) {
		perf_evsel__close(o->evsel);
		perf_evsel__free_id(o->evsel); /* perf_evsel__delete() leaves them */
		perf_evsel__delete(o->evsel);
	}
	free(o->ids);
	memset(o, 0, sizeof(*o));
}

void evt_free(struct evt *e)
{
	if (!e)
		return;
	evt_unmap(e);
	for (size_t i = e->nr; i > 0; i--)
		one_release(&e->ev[i - 1]);
	free(e->ev);
	perf_cpu_map__put(e->cpus);
	perf_thread_map__put(e->threads);
	free(e);
}

static int read_one(struct evt *e, const struct one *o, size_t tid, struct perf_counts_values *c)
{
	(void)e;
	memset(c, 0, sizeof(*c));
	return perf_evsel__read(o->evsel, 0, (int)tid, c);
}

int evt_open(struct evt *e, const struct da_attr *a)
{
	struct perf_event_attr pa;
	uint8_t raw[ATTR_BYTES];
	struct one *grown, *o;
	int rc;

	memset(&pa, 0, sizeof(pa));
	da_attr_build(a, ATTR_BYTES, raw);
	memcpy(&pa, raw, ATTR_BYTES);
	pa.size = ATTR_BYTES;

	grown = realloc(e->ev, (e->nr + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	e->ev = grown;
	o = &e->ev[e->nr];
	memset(o, 0, sizeof(*o));
	o->evsel = perf_evsel__new(&pa);
	o->ids = calloc(e->nr_tids, sizeof(*o->ids));
	if (!o->evsel || !o->ids) {
		one_release(o);
		return -ENOMEM;
	}
	rc = perf_evsel__open(o->evsel, e->cpus, e->threads);
	if (rc) {
		one_release(o);
		return rc < 0 ? rc : -EIO;
	}
	o->has_lost = a->read_format & DA_FORMAT_LOST;
	for (size_t i = 0; i < e->nr_tids; i++) {
		struct perf_counts_values c;
		int fd = fd_of(o, i);

		/* libperf opens without it, and COMMAND must not inherit our events */
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		if (!read_one(e, o, i, &c))
			o->ids[i] = c.id;
	}
	return (int)e->nr++;
}

static int map_ring(struct evt *e, struct ring *r, int fd, uint32_t pages)
{
	size_t data = (size_t)pages * e->page;
	void *p = mmap(NULL, data + e->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	*r = (struct ring){.base = p, .map_bytes = data + e->page, .data_bytes = data};
	return 0;
}

/* Directs an event on all tasks into the ring of fd. */
static int into(const struct evt *e, const struct one *o, int fd)
{
	for (size_t t = 0; t < e->nr_tids; t++)
		if (fd_of(o, t) != fd && ioctl(fd_of(o, t), PERF_EVENT_IOC_SET_OUTPUT, fd))
			return -errno;
	return 0;
}

int evt_map(struct evt *e, uint32_t side, uint32_t pages)
{
	int rc;

	if (!e->nr)
		return -EINVAL;
	rc = map_ring(e, &e->rings[0], fd_of(&e->ev[0], 0), e->nr > 1 ? side : pages);
	if (!rc)
		rc = into(e, &e->ev[0], fd_of(&e->ev[0], 0));
	if (!rc && e->nr > 1)
		rc = map_ring(e, &e->rings[1], fd_of(&e->ev[1], 0), pages);
	for (size_t i = 1; !rc && i < e->nr; i++)
		rc = into(e, &e->ev[i], fd_of(&e->ev[1], 0));
	if (rc)
		evt_unmap(e);
	return rc;
}

void evt_unmap(struct evt *e)
{
	for (size_t i = 0; i < EVT_RINGS; i++) {
		if (e->rings[i].base)
			munmap(e->rings[i].base, e->rings[i].map_bytes);
		e->rings[i].base = NULL;
	}
}

int evt_enable(struct evt *e, int idx)
{
	int rc = perf_evsel__enable(e->ev[idx].evsel);

	return rc < 0 ? -errno : 0;
}

int evt_disable(struct evt *e, int idx)
{
	int rc = perf_evsel__disable(e->ev[idx].evsel);

	return rc < 0 ? -errno : 0;
}

int evt_read(struct evt *e, int idx, struct evt_count *c)
{
	const struct one *o = &e->ev[idx];

	memset(c, 0, sizeof(*c));
	c->has_lost = o->has_lost;
	for (size_t i = 0; i < e->nr_tids; i++) {
		struct perf_counts_values v;
		int rc = read_one(e, o, i, &v);

		if (rc)
			return rc < 0 ? rc : -EIO;
		c->value += v.val;
		c->enabled_ns += v.ena;
		c->running_ns += v.run;
		c->lost += v.lost;
	}
	return 0;
}

size_t evt_ids(const struct evt *e, int idx, uint64_t *ids, size_t max)
{
	for (size_t i = 0; i < e->nr_tids && i < max; i++)
		ids[i] = e->ev[idx].ids[i];
	return e->nr_tids;
}

int evt_set_period(struct evt *e, int idx, uint64_t period)
{
	for (size_t t = 0; t < e->nr_tids; t++)
		if (ioctl(fd_of(&e->ev[idx], t), PERF_EVENT_IOC_PERIOD, &period))
			return -errno;
	return 0;
}

size_t evt_nr(const struct evt *e)
{
	return e->nr;
}

int evt_cpu(const struct evt *e)
{
	return e->cpu;
}

size_t evt_nr_fds(const struct evt *e)
{
	return e->nr * e->nr_tids;
}

/* Any event that writes into a ring wakes the pollers of all of them (ring_buffer_wakeup() in
 * kernel/events/core.c), so the tasks of the first event of each ring are enough. */
size_t evt_fds(const struct evt *e, int *fds, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < e->nr && i < EVT_RINGS; i++)
		for (size_t t = 0; t < e->nr_tids && n < max; t++)
			fds[n++] = fd_of(&e->ev[i], t);
	return n;
}

static struct perf_event_mmap_page *control(const struct ring *r)
{
	return (struct perf_event_mmap_page *)(void *)r->base;
}

/* Pairs with the kernel's smp_wmb() before it moves data_head (perf_output_put_handle). */
static uint64_t ring_head(const struct ring *r)
{
	return __atomic_load_n(&control(r)->data_head, __ATOMIC_ACQUIRE);
}

static void ring_copy(const struct evt *e, const struct ring *r, uint64_t pos, void *to, size_t n)
{
	const uint8_t *data = r->base + e->page;
	size_t at = (size_t)(pos & (r->data_bytes - 1));
	size_t first = n < r->data_bytes - at ? n : r->data_bytes - at;

	memcpy(to, data + at, first);
	memcpy((uint8_t *)to + first, data, n - first);
}

size_t evt_drain(struct evt *e, unsigned ring, uint8_t *buf, size_t cap)
{
	const struct ring *r = &e->rings[ring];
	uint64_t head, tail;
	size_t n;

	if (!r->base)
		return 0;
	head = ring_head(r);
	tail = control(r)->data_tail;
	n = (size_t)(head - tail);
	if (n > cap) {
		/* walk record headers to the last whole record that fits */
		uint64_t pos = tail;

		for (;;) {
			struct perf_event_header h;

			ring_copy(e, r, pos, &h, sizeof(h));
			if (h.size < sizeof(h) || pos + h.size - tail > cap)
				break;
			pos += h.size;
		}
		n = (size_t)(pos - tail);
	}
	ring_copy(e, r, tail, buf, n);
	/* the copy must be complete before the kernel may write there again */
	__atomic_store_n(&control(r)->data_tail, tail + n, __ATOMIC_RELEASE);
	return n;
}
