/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Physical addresses that the live run walked (DA_OWN_PADDR), looked up again by the offline decode: for each
 * page of a process, what it translated to from when on.
 *
 * Bounded: translations beyond MAX_PADDRS are left out and said to be.
 */
#include <stdlib.h>
#include <string.h>

#include "da_cursor.h"
#include "offline_priv.h"

#define MAX_PADDRS (1u << 20) /* 32 MiB; with 4 KiB pages 4 GiB of touched memory */

struct paddr {
	uint64_t vpage, ppage, time_ns;
	uint32_t pid;
};

void paddr_record(struct da_offline *o, const uint8_t *payload, size_t len, bool swap)
{
	struct paddr_table *t = &o->paddr;
	struct da_cur c = da_cur_from(payload, len, swap);

	while (da_cur_left(&c) >= DA_OWN_PADDR_BYTES) {
		struct paddr *p;

		if (t->nr == MAX_PADDRS) {
			t->left_out++;
			return;
		}
		if (t->nr == t->room) {
			size_t room = t->room ? t->room * 2 : 256;
			struct paddr *grown = reallocarray(t->all, room, sizeof(*grown));

			if (!grown) {
				o->no_memory = true;
				return;
			}
			t->all = grown;
			t->room = room;
		}
		p = &t->all[t->nr++];
		p->pid = da_cur_u32(&c);
		da_cur_skip(&c, 4);
		p->time_ns = da_cur_u64(&c);
		p->vpage = da_cur_u64(&c);
		p->ppage = da_cur_u64(&c);
	}
	t->sorted = false;
}

static int compare(const void *a, const void *b)
{
	const struct paddr *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->vpage != y->vpage)
		return x->vpage < y->vpage ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* Index of the first entry that is not less than the key. */
static size_t lower_bound(const struct paddr_table *t, const struct paddr *key)
{
	size_t lo = 0, hi = t->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (compare(&t->all[mid], key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool paddr_lookup(void *offline, uint32_t pid, uint64_t time_ns, uint64_t vaddr, uint64_t *out)
{
	struct da_offline *o = offline;
	struct paddr_table *t = &o->paddr;
	struct paddr key = {.pid = pid, .vpage = vaddr & ~(uint64_t)4095, .time_ns = time_ns};
	const struct paddr *p;
	size_t at;

	if (!t->nr)
		return false;
	if (!t->sorted) {
		qsort(t->all, t->nr, sizeof(*t->all), compare);
		t->sorted = true;
	}
	at = lower_bound(t, &key);
	/* exactly this time, else the last before it, else (CPUs are drained one after the other) the first */
	if (at == t->nr || t->all[at].pid != pid || t->all[at].vpage != key.vpage ||
	    t->all[at].time_ns != time_ns) {
		if (at > 0 && t->all[at - 1].pid == pid && t->all[at - 1].vpage == key.vpage)
			at--;
		else if (at == t->nr || t->all[at].pid != pid || t->all[at].vpage != key.vpage)
			return false;
	}
	p = &t->all[at];
	if (!p->ppage) /* from then on the page was not there */
		return false;
	*out = p->ppage + (vaddr - key.vpage);
	return true;
}

void paddr_end(struct da_offline *o)
{
	if (o->paddr.left_out)
		offline_damage(o, "more than %u stored translations: the rest is left out",
			       MAX_PADDRS);
}

void paddr_release(struct da_offline *o)
{
	free(o->paddr.all);
}
