/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of one CPU through libperf: the only file that includes libperf's headers, the internal
 * ones for the file descriptors that the public API hides among them.
 *
 * libperf opens, closes, switches and reads the events. The rings are mapped here and read by kring.c:
 * libperf's own reader hands out one record at a time (6.1 cuts one that straddles the ring's end at 4168
 * bytes), while recording wants whole runs of bytes; and perf_evsel__mmap() gives every task a ring of its
 * own.
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
	struct perf_evsel *evsel, *leader; /* leader: NULL, or of its group */
	uint64_t *ids;                     /* one per task; 0 where the read failed */
	size_t nr_tids;
	bool has_lost;
	bool pinned;
	bool aux;          /* has a ring of its own, with an AUX area */
	struct kring ring; /* that one */
};

struct evt {
	int cpu;
	size_t nr_tids;
	struct perf_cpu_map *cpus;
	struct perf_thread_map *threads, *all;
	struct one *ev;
	size_t nr;
	struct kring rings[EVT_RINGS];
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

static void delete (struct perf_evsel *s)
{
	if (!s)
		return;
	perf_evsel__close(s);
	perf_evsel__free_id(s); /* perf_evsel__delete() leaves them */
	perf_evsel__delete(s);
}

static void one_release(struct one *o)
{
	delete (o->evsel);
	delete (o->leader);
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
	perf_thread_map__put(e->all);
	free(e);
}

static int read_one(struct evt *e, const struct one *o, size_t tid, struct perf_counts_values *c)
{
	(void)e;
	memset(c, 0, sizeof(*c));
	return perf_evsel__read(o->evsel, 0, (int)tid, c);
}

/* perf_event_read_value() is not reached: nothing at all comes back. */
static bool at_eof(const struct one *o, size_t tid)
{
	uint64_t words[8];

	return o->pinned && read(fd_of(o, tid), words, sizeof(words)) == 0;
}

static struct perf_evsel *new_evsel(const struct da_attr *a)
{
	struct perf_event_attr pa;
	uint8_t raw[ATTR_BYTES];

	memset(&pa, 0, sizeof(pa));
	da_attr_build(a, ATTR_BYTES, raw);
	memcpy(&pa, raw, ATTR_BYTES);
	pa.size = ATTR_BYTES;
	return perf_evsel__new(&pa);
}

static int open_evsel(const struct evt *e, struct perf_evsel *s, struct perf_thread_map *threads)
{
	int rc = perf_evsel__open(s, e->cpus, threads);

	return rc <= 0 ? rc : -EIO;
}

static int open_one(const struct evt *e, struct one *o, const struct da_attr *a,
		    const struct da_attr *leader, struct perf_thread_map *threads)
{
	int rc = 0;

	o->evsel = new_evsel(a);
	o->ids = calloc(o->nr_tids, sizeof(*o->ids));
	if (leader)
		o->leader = new_evsel(leader);
	if (!o->evsel || !o->ids || (leader && !o->leader))
		return -ENOMEM;
	if (leader) {
		rc = open_evsel(e, o->leader, threads);
		o->evsel->leader = o->leader;
	}
	return rc ? rc : open_evsel(e, o->evsel, threads);
}

/* libperf opens without it, and COMMAND must not inherit our events. */
static void close_on_exec(const struct one *o, struct perf_evsel *s)
{
	for (size_t i = 0; s && i < o->nr_tids; i++) {
		int *fd = xyarray__entry(s->fd, 0, i);

		if (fd)
			fcntl(*fd, F_SETFD, FD_CLOEXEC);
	}
}

static int open_for(struct evt *e, const struct da_attr *a, const struct da_attr *leader,
		    struct perf_thread_map *threads, size_t nr_tids)
{
	struct one *grown, *o;
	int rc;

	grown = realloc(e->ev, (e->nr + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	e->ev = grown;
	o = &e->ev[e->nr];
	memset(o, 0, sizeof(*o));
	o->nr_tids = nr_tids;
	rc = open_one(e, o, a, leader, threads);
	if (rc) {
		one_release(o);
		return rc;
	}
	o->has_lost = a->read_format & DA_FORMAT_LOST;
	o->pinned = a->flags & DA_ATTR_PINNED;
	close_on_exec(o, o->evsel);
	close_on_exec(o, o->leader);
	for (size_t i = 0; i < nr_tids; i++) {
		struct perf_counts_values c;

		if (!read_one(e, o, i, &c))
			o->ids[i] = c.id;
	}
	return (int)e->nr++;
}

int evt_open(struct evt *e, const struct da_attr *a, const struct da_attr *leader)
{
	return open_for(e, a, leader, e->threads, e->nr_tids);
}

int evt_open_all(struct evt *e, const struct da_attr *a)
{
	if (!e->all) {
		e->all = perf_thread_map__new_array(1, NULL);
		if (!e->all)
			return -ENOMEM;
		perf_thread_map__set_pid(e->all, 0, -1);
	}
	return open_for(e, a, NULL, e->all, 1);
}

static int map_ring(struct evt *e, struct kring *r, int fd, uint32_t pages)
{
	size_t data = (size_t)pages * e->page;
	void *p = mmap(NULL, data + e->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	*r = (struct kring){.base = p, .page = e->page, .data_bytes = data};
	return 0;
}

/* The AUX area goes first: the kernel lets its ring go only when nothing is written there any more. */
static void unmap_ring(struct kring *r)
{
	if (r->aux)
		munmap(r->aux, r->aux_bytes);
	if (r->base)
		munmap(r->base, r->page + r->data_bytes);
	*r = (struct kring){0};
}

/* Directs an event on all tasks into the ring of fd. */
static int into(const struct one *o, int fd)
{
	for (size_t t = 0; t < o->nr_tids; t++)
		if (fd_of(o, t) != fd && ioctl(fd_of(o, t), PERF_EVENT_IOC_SET_OUTPUT, fd))
			return -errno;
	return 0;
}

void evt_aux(struct evt *e, int idx)
{
	e->ev[idx].aux = true;
}

int evt_map_aux(struct evt *e, int idx, uint32_t pages, uint32_t aux_pages)
{
	struct one *o = &e->ev[idx];
	size_t bytes = (size_t)aux_pages * e->page;
	int fd = fd_of(o, 0), rc = map_ring(e, &o->ring, fd, pages);
	uint64_t at;
	void *p;

	if (!rc)
		rc = into(o, fd);
	if (rc) {
		unmap_ring(&o->ring);
		return rc;
	}
	at = o->ring.page + o->ring.data_bytes;
	at = (at + bytes - 1) & ~(uint64_t)(bytes - 1);
	kring_aux_announce(&o->ring, at, bytes);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);
	if (p == MAP_FAILED) {
		rc = -errno;
		unmap_ring(&o->ring);
		return rc;
	}
	o->ring.aux = p;
	o->ring.aux_bytes = bytes;
	return 0;
}

void evt_unmap_aux(struct evt *e, int idx)
{
	unmap_ring(&e->ev[idx].ring);
}

const struct kring *evt_aux_ring(const struct evt *e, int idx)
{
	return &e->ev[idx].ring;
}

/* The first event from `from` on that shares a ring. */
static size_t sharing(const struct evt *e, size_t from)
{
	while (from < e->nr && e->ev[from].aux)
		from++;
	return from;
}

int evt_map(struct evt *e, uint32_t side, uint32_t pages)
{
	size_t first = sharing(e, 0), second = sharing(e, first + 1);
	bool two = second < e->nr;
	int rc;

	if (first >= e->nr)
		return e->nr ? 0 : -EINVAL;
	rc = map_ring(e, &e->rings[0], fd_of(&e->ev[first], 0), e->nr > 1 ? side : pages);
	if (!rc)
		rc = into(&e->ev[first], fd_of(&e->ev[first], 0));
	if (!rc && two)
		rc = map_ring(e, &e->rings[1], fd_of(&e->ev[second], 0), pages);
	for (size_t i = second; !rc && i < e->nr; i = sharing(e, i + 1))
		rc = into(&e->ev[i], fd_of(&e->ev[second], 0));
	if (rc)
		evt_unmap(e);
	return rc;
}

void evt_unmap(struct evt *e)
{
	for (size_t i = 0; i < e->nr; i++)
		unmap_ring(&e->ev[i].ring);
	for (size_t i = 0; i < EVT_RINGS; i++)
		unmap_ring(&e->rings[i]);
}

int evt_enable(struct evt *e, int idx)
{
	const struct one *o = &e->ev[idx];
	int rc = o->leader ? perf_evsel__enable(o->leader) : 0;

	if (!rc)
		rc = perf_evsel__enable(o->evsel);
	return rc < 0 ? -errno : 0;
}

int evt_disable(struct evt *e, int idx)
{
	const struct one *o = &e->ev[idx];
	int rc = perf_evsel__disable(o->evsel);

	if (o->leader)
		perf_evsel__disable(o->leader);
	return rc < 0 ? -errno : 0;
}

int evt_read(struct evt *e, int idx, struct evt_count *c)
{
	const struct one *o = &e->ev[idx];

	memset(c, 0, sizeof(*c));
	c->has_lost = o->has_lost;
	for (size_t i = 0; i < o->nr_tids; i++) {
		struct perf_counts_values v;
		int rc;

		if (at_eof(o, i)) {
			c->eof = true;
			continue;
		}
		rc = read_one(e, o, i, &v);
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
	for (size_t i = 0; i < e->ev[idx].nr_tids && i < max; i++)
		ids[i] = e->ev[idx].ids[i];
	return e->ev[idx].nr_tids;
}

int evt_set_period(struct evt *e, int idx, uint64_t period)
{
	for (size_t t = 0; t < e->ev[idx].nr_tids; t++)
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

/* Any event that writes into a ring wakes the pollers of all of them (ring_buffer_wakeup() in
 * kernel/events/core.c), so the tasks of the first event of each ring are enough. */
size_t evt_fds(const struct evt *e, int *fds, size_t max)
{
	size_t n = 0, shared = 0;

	for (size_t i = 0; i < e->nr; i++) {
		if (!e->ev[i].aux && shared++ >= EVT_RINGS)
			continue;
		for (size_t t = 0; t < e->ev[i].nr_tids && n < max; t++)
			fds[n++] = fd_of(&e->ev[i], t);
	}
	return n;
}

size_t evt_drain(struct evt *e, unsigned ring, uint8_t *buf, size_t cap)
{
	return kring_drain(&e->rings[ring], buf, cap);
}
