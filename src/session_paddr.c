/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Physical addresses where a sample has none: /proc/PID/pagemap at drain time. A page that is not present,
 * or that we may not see (the kernel shows frame number 0 without CAP_SYS_ADMIN), gives no address.
 *
 * Each new translation is stored in the recording (DA_OWN_PADDR), so that report needs no live process.
 * Thread-safe.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session_priv.h"

/* Documentation/admin-guide/mm/pagemap.rst: bits 0-54 frame number, bit 63 present */
#define PM_PRESENT (1ull << 63)
#define PM_FRAME   ((1ull << 55) - 1)

#define NR_FDS   64    /* open pagemap files */
#define NR_SLOTS 65536 /* translations remembered as stored; a collision stores one again */

struct s_paddr {
	struct da_session *s;
	pthread_mutex_t lock;
	long page;
	struct {
		uint32_t pid;
		int fd;
	} fds[NR_FDS];
	struct stored {
		uint32_t pid;
		uint64_t vpage, ppage;
	} * stored;
};

struct s_paddr *s_paddr_new(struct da_session *s)
{
	struct s_paddr *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->s = s;
	p->page = sysconf(_SC_PAGESIZE);
	p->stored = calloc(NR_SLOTS, sizeof(*p->stored));
	pthread_mutex_init(&p->lock, NULL);
	for (size_t i = 0; i < NR_FDS; i++)
		p->fds[i].fd = -1;
	if (!p->stored) {
		s_paddr_free(p);
		return NULL;
	}
	return p;
}

void s_paddr_free(struct s_paddr *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < NR_FDS; i++)
		if (p->fds[i].fd >= 0)
			close(p->fds[i].fd);
	pthread_mutex_destroy(&p->lock);
	free(p->stored);
	free(p);
}

static int open_pagemap(struct s_paddr *p, uint32_t pid)
{
	size_t i = pid % NR_FDS;
	char path[64];

	if (p->fds[i].fd >= 0 && p->fds[i].pid == pid)
		return p->fds[i].fd;
	if (p->fds[i].fd >= 0)
		close(p->fds[i].fd);
	snprintf(path, sizeof(path), "/proc/%u/pagemap", pid);
	p->fds[i].fd = open(path, O_RDONLY | O_CLOEXEC);
	p->fds[i].pid = pid;
	return p->fds[i].fd;
}

/* An open pagemap of a process that ended reads 0 bytes; the pid may since be another's. */
static bool read_entry(struct s_paddr *p, uint32_t pid, uint64_t vpn, uint64_t *entry)
{
	for (int attempt = 0; attempt < 2; attempt++) {
		int fd = open_pagemap(p, pid);

		if (fd < 0)
			return false;
		if (pread(fd, entry, 8, (off_t)(vpn * 8)) == 8)
			return true;
		close(fd);
		p->fds[pid % NR_FDS].fd = -1;
	}
	return false;
}

static struct stored *slot_of(const struct s_paddr *p, uint32_t pid, uint64_t vpage)
{
	return &p->stored[(pid * 0x9e3779b1u ^ (uint32_t)(vpage >> 12) * 0x85ebca6bu) % NR_SLOTS];
}

static void store(struct s_paddr *p, uint32_t pid, uint64_t time_ns, uint64_t vpage, uint64_t ppage)
{
	struct stored *st = slot_of(p, pid, vpage);
	uint8_t b[DA_OWN_PADDR_BYTES] = {0};

	if (st->pid == pid && st->vpage == vpage && st->ppage == ppage)
		return;
	*st = (struct stored){.pid = pid, .vpage = vpage, .ppage = ppage};
	memcpy(b, &pid, 4);
	memcpy(b + 8, &time_ns, 8);
	memcpy(b + 16, &vpage, 8);
	memcpy(b + 24, &ppage, 8);
	s_store(p->s, DA_OWN_PADDR, b, sizeof(b));
}

bool s_paddr_lookup(void *paddr, uint32_t pid, uint64_t time_ns, uint64_t vaddr, uint64_t *out)
{
	struct s_paddr *p = paddr;
	uint64_t page = (uint64_t)p->page, vpage = vaddr - vaddr % page, entry = 0, ppage = 0;
	const struct stored *st;

	pthread_mutex_lock(&p->lock);
	if (read_entry(p, pid, vaddr / page, &entry) && (entry & PM_PRESENT))
		ppage = (entry & PM_FRAME) * page; /* frame 0: hidden from us */
	st = slot_of(p, pid, vpage);
	/* a page that is gone is stored too (0), or report would go on with its old frame */
	if (ppage || (st->pid == pid && st->vpage == vpage))
		store(p, pid, time_ns, vpage, ppage);
	pthread_mutex_unlock(&p->lock);
	*out = ppage + vaddr % page;
	return ppage;
}
