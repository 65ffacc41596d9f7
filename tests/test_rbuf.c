/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Report buffers: both rules of what is kept, rings, readers of their own, nested writes, and storms of
 * writers and signal handlers against several readers. It does not test speed.
 *
 * RBUF_EACH=N sets the records of each of the eight writers of a storm (the long run is make bench).
 */
#include "da_rbuf.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>

#include "rbuf_storm.h"

struct rec {
	uint64_t n, not_n;
};

static struct da_rbuf *new_buffer(size_t slots, enum da_keep keep, size_t rings)
{
	struct da_rbuf_opts o = {
		.slots = slots, .slot_bytes = sizeof(struct rec), .rings = rings, .keep = keep};
	struct da_rbuf *b = da_rbuf_new(&o);

	ck_assert_ptr_nonnull(b);
	return b;
}

static enum da_put put(struct da_rbuf_writer *w, uint64_t n)
{
	struct rec r = {n, ~n};

	return da_rbuf_put(w, &r);
}

static void expect(struct da_rbuf_reader *r, size_t ring, uint64_t n)
{
	struct rec got;

	ck_assert_msg(da_rbuf_read(r, ring, &got), "nothing to read, wanted %lu", (unsigned long)n);
	ck_assert_uint_eq(got.n, n);
	ck_assert_uint_eq(got.not_n, ~n);
}

static void expect_none(struct da_rbuf_reader *r, size_t ring)
{
	struct rec got;

	ck_assert(!da_rbuf_read(r, ring, &got));
}

static void expect_counts(const struct da_rbuf_reader *r, uint64_t read, uint64_t missed,
			  uint64_t resident)
{
	struct da_rbuf_counts c = da_rbuf_counts(r);

	ck_assert_uint_eq(c.read, read);
	ck_assert_uint_eq(c.missed, missed);
	ck_assert_uint_eq(c.resident, resident);
}

START_TEST(odd_options)
{
	struct da_rbuf_opts o = {.slots = 5, .slot_bytes = 17};
	struct da_rbuf *b = da_rbuf_new(&o);

	ck_assert_uint_eq(da_rbuf_slots(b), 8);
	ck_assert_uint_eq(da_rbuf_slot_bytes(b), 24);
	ck_assert_uint_eq(da_rbuf_rings(b), 1);
	da_rbuf_free(b);
	o.slot_bytes = 0;
	ck_assert_ptr_null(da_rbuf_new(&o));
	o.slot_bytes = 65537;
	ck_assert_ptr_null(da_rbuf_new(&o));
	da_rbuf_free(NULL);
	da_rbuf_reader_free(NULL);
}
END_TEST

START_TEST(oldest_refuses_when_full)
{
	struct da_rbuf *b = new_buffer(8, DA_KEEP_OLDEST, 1);
	struct da_rbuf_reader *r = da_rbuf_reader_new(b);
	struct da_rbuf_writer w;

	da_rbuf_writer_init(&w, b, 0);
	expect_none(r, 0);
	for (uint64_t i = 0; i < 8; i++) {
		ck_assert_int_eq(put(&w, i), DA_PUT_STORED);
		ck_assert_uint_eq(da_rbuf_occupancy(r, 0), i + 1);
	}
	ck_assert_int_eq(put(&w, 8), DA_PUT_OVERFLOW);
	expect_counts(r, 0, 0, 8);
	for (uint64_t i = 0; i < 8; i++)
		expect(r, 0, i);
	expect_none(r, 0);
	ck_assert_int_eq(put(&w, 9), DA_PUT_STORED);
	expect(r, 0, 9);
	expect_counts(r, 9, 0, 0);
	ck_assert_uint_eq(w.stored, 9);
	ck_assert_uint_eq(w.overflow, 1);
	da_rbuf_reader_free(r);
	da_rbuf_free(b);
}
END_TEST

START_TEST(oldest_waits_for_the_slowest)
{
	struct da_rbuf *b = new_buffer(4, DA_KEEP_OLDEST, 1);
	struct da_rbuf_reader *fast = da_rbuf_reader_new(b), *slow = da_rbuf_reader_new(b), *late;
	struct da_rbuf_writer w;

	da_rbuf_writer_init(&w, b, 0);
	for (uint64_t i = 0; i < 4; i++)
		put(&w, i);
	for (uint64_t i = 0; i < 4; i++)
		expect(fast, 0, i);
	ck_assert_int_eq(put(&w, 4), DA_PUT_OVERFLOW); /* the slow one has read nothing */
	expect(slow, 0, 0);
	ck_assert_int_eq(put(&w, 4), DA_PUT_STORED);
	ck_assert_int_eq(put(&w, 5), DA_PUT_OVERFLOW);
	da_rbuf_reader_free(slow); /* and nobody waits for one that has gone */
	ck_assert_int_eq(put(&w, 5), DA_PUT_STORED);
	expect(fast, 0, 4);
	expect(fast, 0, 5);
	expect_none(fast, 0);
	late = da_rbuf_reader_new(b); /* sees what is still there */
	for (uint64_t i = 2; i < 6; i++)
		expect(late, 0, i);
	expect_none(late, 0);
	da_rbuf_reader_free(late);
	da_rbuf_reader_free(fast);
	da_rbuf_free(b);
}
END_TEST

/* Only so many readers can hold writers back; readers of keep=latest are not bounded. */
START_TEST(number_of_readers)
{
	struct da_rbuf *b = new_buffer(4, DA_KEEP_OLDEST, 2);
	struct da_rbuf_reader *r[16] = {NULL};
	unsigned n = 0;

	while (n < 16 && (r[n] = da_rbuf_reader_new(b)))
		n++;
	ck_assert_uint_eq(n, 4);
	da_rbuf_reader_free(r[1]);
	r[1] = da_rbuf_reader_new(b);
	ck_assert_ptr_nonnull(r[1]);
	while (n)
		da_rbuf_reader_free(r[--n]);
	da_rbuf_free(b);
	b = new_buffer(4, DA_KEEP_LATEST, 2);
	for (n = 0; n < 16; n++) {
		r[n] = da_rbuf_reader_new(b);
		ck_assert_ptr_nonnull(r[n]);
	}
	while (n)
		da_rbuf_reader_free(r[--n]);
	da_rbuf_free(b);
}
END_TEST

START_TEST(latest_overwrites)
{
	struct da_rbuf *b = new_buffer(8, DA_KEEP_LATEST, 1);
	struct da_rbuf_reader *a = da_rbuf_reader_new(b), *c = da_rbuf_reader_new(b);
	struct da_rbuf_writer w;

	da_rbuf_writer_init(&w, b, 0);
	for (uint64_t i = 0; i < 5; i++)
		ck_assert_int_eq(put(&w, i), DA_PUT_STORED);
	for (uint64_t i = 0; i < 5; i++)
		expect(a, 0, i);
	for (uint64_t i = 5; i < 12; i++)
		ck_assert_int_eq(put(&w, i), DA_PUT_STORED);
	for (uint64_t i = 5; i < 12; i++)
		expect(a, 0, i);
	expect_none(a, 0);
	expect_counts(a, 12, 0, 0);
	for (uint64_t i = 4; i < 12; i++) /* the other one came late: the latest eight are there */
		expect(c, 0, i);
	expect_none(c, 0);
	expect_counts(c, 8, 4, 0);
	ck_assert_uint_eq(w.stored, 12);
	da_rbuf_reader_free(a);
	da_rbuf_reader_free(c);
	da_rbuf_free(b);
}
END_TEST

START_TEST(rings_are_apart)
{
	struct da_rbuf *b = new_buffer(2, DA_KEEP_LATEST, 3);
	struct da_rbuf_reader *r = da_rbuf_reader_new(b);
	struct da_rbuf_writer w[3];

	for (size_t i = 0; i < 3; i++)
		da_rbuf_writer_init(&w[i], b, i);
	for (uint64_t i = 0; i < 4; i++)
		put(&w[1], i);
	put(&w[2], 77);
	expect_none(r, 0);
	expect(r, 2, 77);
	expect(r, 1, 2);
	expect(r, 1, 3);
	ck_assert_uint_eq(da_rbuf_ring_counts(r, 1).missed, 2);
	ck_assert_uint_eq(da_rbuf_ring_counts(r, 2).missed, 0);
	expect_counts(r, 3, 2, 0);
	da_rbuf_reader_free(r);
	da_rbuf_free(b);
}
END_TEST

/* A write that interrupts its own thread's write is dropped and counted. Here the flag is set by hand;
 * the storm does it by signals. */
START_TEST(nested_drops)
{
	struct da_rbuf *b = new_buffer(8, DA_KEEP_LATEST, 1);
	struct da_rbuf_reader *r = da_rbuf_reader_new(b);
	struct da_rbuf_writer w, other;

	da_rbuf_writer_init(&w, b, 0);
	da_rbuf_writer_init(&other, b, 0);
	put(&w, 1);
	w.busy = true;
	ck_assert_int_eq(put(&w, 2), DA_PUT_NESTED);
	ck_assert_int_eq(put(&other, 3), DA_PUT_STORED); /* another thread is not hindered */
	w.busy = false;
	put(&w, 4);
	expect(r, 0, 1);
	expect(r, 0, 3);
	expect(r, 0, 4);
	expect_none(r, 0);
	ck_assert_uint_eq(w.nested, 1);
	ck_assert_uint_eq(w.stored, 2);
	da_rbuf_reader_free(r);
	da_rbuf_free(b);
}
END_TEST

static uint64_t storm_each(void)
{
	const char *text = getenv("RBUF_EACH");

	return text ? strtoull(text, NULL, 10) : 60000;
}

static void storm_on(size_t slots, enum da_keep keep, size_t rings)
{
	struct storm s = {.opts = {.slots = slots, .rings = rings, .keep = keep},
			  .writers = 8,
			  .each = storm_each()};
	struct storm_result res;

	ck_assert_int_eq(storm_run(&s, &res), 0);
	ck_assert_uint_eq(res.offered, 8 * s.each + res.handler_calls);
	ck_assert_uint_eq(res.offered, res.stored + res.overflow + res.nested);
	ck_assert_uint_gt(res.handler_calls, 0);
	if (keep == DA_KEEP_LATEST)
		ck_assert_uint_eq(res.overflow, 0);
	for (unsigned i = 0; i < STORM_READERS; i++) {
		const struct storm_reader *r = &res.reader[i];

		ck_assert_msg(!r->torn && !r->disorder, "reader %u: %lu torn, %lu out of order", i,
			      (unsigned long)r->torn, (unsigned long)r->disorder);
		ck_assert_uint_eq(r->counts.resident, 0);
		ck_assert_uint_gt(r->counts.read, 0);
		ck_assert_msg(res.offered ==
				      r->counts.read + r->counts.missed + res.overflow + res.nested,
			      "reader %u: %lu offered, %lu read, %lu missed, %lu + %lu dropped", i,
			      (unsigned long)res.offered, (unsigned long)r->counts.read,
			      (unsigned long)r->counts.missed, (unsigned long)res.overflow,
			      (unsigned long)res.nested);
		if (keep == DA_KEEP_OLDEST)
			ck_assert_uint_eq(r->counts.missed, res.lost);
	}
}

START_TEST(storm_latest_global)
{
	storm_on(1024, DA_KEEP_LATEST, 1);
}
END_TEST

/* So small that writers lap each other all the time, and lapped writes are left unfinished. */
START_TEST(storm_latest_tiny)
{
	storm_on(2, DA_KEEP_LATEST, 1);
}
END_TEST

START_TEST(storm_latest_cpu)
{
	storm_on(256, DA_KEEP_LATEST, 8);
}
END_TEST

START_TEST(storm_oldest_global)
{
	storm_on(1024, DA_KEEP_OLDEST, 1);
}
END_TEST

START_TEST(storm_oldest_tiny)
{
	storm_on(2, DA_KEEP_OLDEST, 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rbuf");
	TCase *t = tcase_create("rbuf");
	SRunner *r;
	int failed;

	tcase_set_timeout(t, 600);
	tcase_add_test(t, odd_options);
	tcase_add_test(t, oldest_refuses_when_full);
	tcase_add_test(t, oldest_waits_for_the_slowest);
	tcase_add_test(t, number_of_readers);
	tcase_add_test(t, latest_overwrites);
	tcase_add_test(t, rings_are_apart);
	tcase_add_test(t, nested_drops);
	tcase_add_test(t, storm_latest_global);
	tcase_add_test(t, storm_latest_tiny);
	tcase_add_test(t, storm_latest_cpu);
	tcase_add_test(t, storm_oldest_global);
	tcase_add_test(t, storm_oldest_tiny);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
