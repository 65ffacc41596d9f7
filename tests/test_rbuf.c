/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Report buffer: order, fullness, wrap-around, and many producers against one consumer. It does not test
 * speed.
 */
#include "da_rbuf.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct da_report numbered(uint64_t n)
{
	return (struct da_report){.vaddr = n, .paddr = ~n, .has = DA_HAS_VADDR | DA_HAS_PADDR};
}

START_TEST(full_and_empty)
{
	struct da_rbuf *b = da_rbuf_new(5); /* rounded up to 8 */
	struct da_report r;
	size_t occupancy = 99;

	ck_assert_uint_eq(da_rbuf_slots(b), 8);
	ck_assert(!da_rbuf_get(b, &r));
	for (uint64_t i = 0; i < 8; i++) {
		r = numbered(i);
		ck_assert(da_rbuf_put(b, &r, &occupancy));
		ck_assert_uint_eq(occupancy, i + 1);
	}
	r = numbered(8);
	ck_assert(!da_rbuf_put(b, &r, &occupancy)); /* keep=oldest: the new one is refused */
	ck_assert_uint_eq(occupancy, 8);
	for (uint64_t i = 0; i < 8; i++) {
		ck_assert(da_rbuf_get(b, &r));
		ck_assert_uint_eq(r.vaddr, i);
	}
	ck_assert(!da_rbuf_get(b, &r));
	ck_assert_uint_eq(da_rbuf_occupancy(b), 0);
	da_rbuf_free(b);
}
END_TEST

START_TEST(many_laps)
{
	struct da_rbuf *b = da_rbuf_new(4);
	uint64_t in = 0, out = 0;

	for (int lap = 0; lap < 1000; lap++) {
		struct da_report r;

		for (int i = 0; i < 1 + lap % 4; i++) {
			r = numbered(in++);
			ck_assert(da_rbuf_put(b, &r, NULL));
		}
		while (da_rbuf_get(b, &r))
			ck_assert_uint_eq(r.vaddr, out++);
	}
	ck_assert_uint_eq(in, out);
	da_rbuf_free(b);
}
END_TEST

#define PRODUCERS 4
#define EACH      50000

struct shared {
	struct da_rbuf *b;
	atomic_uint next;
	atomic_uint done;
	uint64_t stored[PRODUCERS];
};

static void *produce(void *arg)
{
	struct shared *s = arg;
	unsigned me = atomic_fetch_add(&s->next, 1);

	for (uint64_t i = 0; i < EACH; i++) {
		struct da_report r = numbered((uint64_t)me << 32 | i);

		s->stored[me] += da_rbuf_put(s->b, &r, NULL);
		if (i % 64 == 0)
			sched_yield();
	}
	atomic_fetch_add(&s->done, 1);
	return NULL;
}

/* Every report that was stored arrives once, whole, and in its producer's order. */
START_TEST(producers_against_consumer)
{
	struct shared s = {.b = da_rbuf_new(256)};
	uint64_t got[PRODUCERS] = {0};
	int64_t last[PRODUCERS];
	pthread_t t[PRODUCERS];
	struct da_report r;
	bool more = true;

	for (int i = 0; i < PRODUCERS; i++) {
		last[i] = -1;
		ck_assert(!pthread_create(&t[i], NULL, produce, &s));
	}
	while (more) {
		more = atomic_load(&s.done) < PRODUCERS; /* before the last look */
		while (da_rbuf_get(s.b, &r)) {
			unsigned who = (unsigned)(r.vaddr >> 32);

			ck_assert_uint_lt(who, PRODUCERS);
			ck_assert_uint_eq(r.paddr, ~r.vaddr); /* not torn */
			ck_assert_int_gt((int64_t)(uint32_t)r.vaddr, last[who]);
			last[who] = (uint32_t)r.vaddr;
			got[who]++;
			more = true;
		}
	}
	for (int i = 0; i < PRODUCERS; i++) {
		pthread_join(t[i], NULL);
		ck_assert_uint_gt(got[i], 0);
		ck_assert_uint_eq(got[i], s.stored[i]);
	}
	da_rbuf_free(s.b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rbuf");
	TCase *t = tcase_create("rbuf");
	SRunner *r;
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, full_and_empty);
	tcase_add_test(t, many_laps);
	tcase_add_test(t, producers_against_consumer);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
