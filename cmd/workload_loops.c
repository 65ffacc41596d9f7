/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory loops of `damon-attrs workload`. Each access is one load or store instruction, neither
 * removed nor doubled nor merged by the compiler, so counting loop turns counts accesses. The state is
 * copied into locals, which stay in registers: the loops touch no memory but the range that they are given.
 * They know nothing of time, threads or signals.
 */
#include "workload.h"

/* Through volatile, so that the access is made; atomic, because threads share a range on purpose. */
static inline uint64_t load(const volatile uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline void store(volatile uint64_t *p, uint64_t value)
{
	__atomic_store_n(p, value, __ATOMIC_RELAXED);
}

uint64_t wl_seed(uint64_t seed)
{
	uint64_t x = seed + 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	return x ? x : 1;
}

uint64_t wl_random_next(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

uint64_t wl_below(uint64_t x, uint64_t bound)
{
	return (uint64_t)(((unsigned __int128)x * bound) >> 64);
}

/* Four independent accesses in a row, the last nr_stores of them stores: real programs have their memory
 * instructions side by side too (33 to 67 % of their samples stand on one), and a sampler that catches the
 * instruction after a slow load shall find what it would find there. */
static inline void four(volatile uint64_t *p0, volatile uint64_t *p1, volatile uint64_t *p2,
			volatile uint64_t *p3, unsigned nr_stores, uint64_t x)
{
	switch (nr_stores) {
	case 0:
		(void)load(p0);
		(void)load(p1);
		(void)load(p2);
		(void)load(p3);
		break;
	case 1:
		(void)load(p0);
		(void)load(p1);
		(void)load(p2);
		store(p3, x);
		break;
	case 2:
		(void)load(p0);
		(void)load(p1);
		store(p2, x);
		store(p3, x);
		break;
	case 3:
		(void)load(p0);
		store(p1, x);
		store(p2, x);
		store(p3, x);
		break;
	default:
		store(p0, x);
		store(p1, x);
		store(p2, x);
		store(p3, x);
		break;
	}
}

uint64_t wl_loop_random(volatile uint64_t *base, uint64_t words, uint64_t n, struct wl_stream *s)
{
	uint64_t x = s->rng, due = s->due, stores = 0;
	const uint64_t pct = s->writes_pct;

	for (; n >= 4; n -= 4) {
		/* four names, not an array: they must stay in registers */
		volatile uint64_t *p0, *p1, *p2, *p3;
		unsigned nr_stores;

		x = wl_random_next(x);
		p0 = base + wl_below(x, words);
		x = wl_random_next(x);
		p1 = base + wl_below(x, words);
		x = wl_random_next(x);
		p2 = base + wl_below(x, words);
		x = wl_random_next(x);
		p3 = base + wl_below(x, words);
		due += 4 * pct;
		nr_stores = (unsigned)(due / 100);
		due %= 100;
		stores += nr_stores;
		four(p0, p1, p2, p3, nr_stores, x);
	}
	while (n--) {
		volatile uint64_t *p;

		x = wl_random_next(x);
		p = base + wl_below(x, words);
		due += pct;
		if (due >= 100) {
			due -= 100;
			stores++;
			store(p, x);
		} else {
			(void)load(p);
		}
	}
	s->rng = x;
	s->due = due;
	return stores;
}

uint64_t wl_loop_step(volatile uint64_t *base, uint64_t words, uint64_t step, uint64_t *pos,
		      uint64_t n, struct wl_stream *s)
{
	uint64_t i = *pos, due = s->due, stores = 0;
	const uint64_t pct = s->writes_pct;

	while (n--) {
		due += pct;
		if (due >= 100) {
			due -= 100;
			stores++;
			store(base + i, i);
		} else {
			(void)load(base + i);
		}
		i += step;
		if (i >= words)
			i = 0;
	}
	*pos = i;
	s->due = due;
	return stores;
}

uint64_t wl_loop_chase(volatile uint64_t **at, uint64_t n, struct wl_stream *s)
{
	volatile uint64_t *p = *at;
	uint64_t due = s->due, stores = 0;
	const uint64_t pct = s->writes_pct;

	while (n--) {
		due += pct;
		if (due >= 100) {
			due -= 100;
			stores++;
			store(p + 1, n);
		} else {
			p = (volatile uint64_t *)(uintptr_t)load(p);
		}
	}
	*at = p;
	s->due = due;
	return stores;
}

void wl_chase_build(volatile uint64_t *base, uint64_t words, uint32_t *order, struct wl_stream *s)
{
	const uint64_t step = WL_CHASE_BYTES / sizeof(*base);
	const uint64_t lines = words / step;
	uint64_t i;

	for (i = 0; i < lines; i++)
		order[i] = (uint32_t)i;
	/* Choosing strictly below i makes one cycle of all lines, not several. */
	for (i = lines - 1; i > 0; i--) {
		uint64_t j;
		uint32_t t = order[i];

		s->rng = wl_random_next(s->rng);
		j = wl_below(s->rng, i);
		order[i] = order[j];
		order[j] = t;
	}
	for (i = 0; i < lines; i++)
		store(base + i * step, (uint64_t)(uintptr_t)(base + order[i] * step));
}
