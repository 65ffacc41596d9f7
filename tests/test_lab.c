/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue lab: counts that can be worked out by hand, conservation on random models and arrivals against a
 * slow simulation, and the seeds' 67.9 % whose cause is fan-in.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "da_lab.h"

#define MS 1000000ull

static struct da_lab_result one_model(const struct da_lab_model *m, const uint64_t *times,
				      const uint32_t *cpus, size_t n)
{
	struct da_lab *lab = da_lab_new();
	struct da_lab_result r;

	ck_assert_ptr_nonnull(lab);
	ck_assert_int_eq(da_lab_add(lab, m), 0);
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(da_lab_arrive(lab, times[i], cpus ? cpus[i] : 0), 0);
	da_lab_finish(lab);
	r = da_lab_result(lab, 0);
	da_lab_free(lab);
	ck_assert_uint_eq(r.offered, r.enqueue + r.overflow + r.nested);
	ck_assert_uint_eq(r.enqueue, r.dequeue + r.overwritten);
	return r;
}

/* 10 reports at once into 4 slots: 4 fit; keep=latest stores all and loses 6. */
START_TEST(full_buffer)
{
	static const uint64_t times[10] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5};
	struct da_lab_model m = {.slots = 4, .look_ns = MS};
	struct da_lab_result r = one_model(&m, times, NULL, 10);

	ck_assert_uint_eq(r.enqueue, 4);
	ck_assert_uint_eq(r.overflow, 6);
	ck_assert_uint_eq(r.peak, 4);
	ck_assert_uint_eq(r.full, 1);
	m.latest = true;
	r = one_model(&m, times, NULL, 10);
	ck_assert_uint_eq(r.enqueue, 10);
	ck_assert_uint_eq(r.overwritten, 6);
	ck_assert_uint_eq(da_lab_dropped(&r), 6);
}
END_TEST

/* A look a millisecond takes what came since: two in 1 ms fit two slots, three do not. */
START_TEST(looks_make_room)
{
	static const uint64_t times[] = {0, MS / 2, MS + 1, MS + 2, MS + 3, 2 * MS + 1, 2 * MS + 2};
	struct da_lab_model m = {.slots = 2, .look_ns = MS};
	struct da_lab_result r = one_model(&m, times, NULL, 7);

	ck_assert_uint_eq(r.overflow, 1);
	ck_assert_uint_eq(r.dequeue, 6);
	ck_assert_uint_eq(r.wait_ns, MS);
	/* at its half full the reader wakes at once */
	m.half = true;
	r = one_model(&m, times, NULL, 7);
	ck_assert_uint_eq(r.overflow, 0);
	/* ... but not if it needs longer to wake up than they take to come */
	m.wake_ns = MS;
	r = one_model(&m, times, NULL, 7);
	ck_assert_uint_gt(r.overflow, 0);
}
END_TEST

/* 1 report a us, a reader of 2 us a report: half of them are lost, whatever the size, once it is full. */
START_TEST(slow_reader)
{
	enum { N = 10000 };
	static uint64_t times[N];
	struct da_lab_model m = {.slots = 16, .look_ns = 1000, .cost_ns = 2000};
	struct da_lab_result r;

	for (size_t i = 0; i < N; i++)
		times[i] = i * 1000;
	r = one_model(&m, times, NULL, N);
	ck_assert_uint_ge(r.overflow, N / 2 - 20);
	ck_assert_uint_le(r.overflow, N / 2);
	m.slots = 1024;
	r = one_model(&m, times, NULL, N);
	ck_assert_uint_ge(r.overflow, N / 2 - 1050);
	m.cost_ns = 900;
	r = one_model(&m, times, NULL, N);
	ck_assert_uint_eq(r.overflow, 0);
}
END_TEST

/* A CPU's report within its writer's time is nested; another CPU writes beside. */
START_TEST(nested_is_per_cpu)
{
	static const uint64_t times[] = {0, 10, 20, 200, 210};
	static const uint32_t same[] = {0, 0, 1, 0, 1};
	struct da_lab_model m = {.slots = 64, .look_ns = MS, .write_ns = 50, .single = true};
	struct da_lab_result r = one_model(&m, times, same, 5);

	ck_assert_uint_eq(r.nested, 1);
	ck_assert_uint_eq(r.enqueue, 4);
}
END_TEST

START_TEST(periods_thin_each_cpu)
{
	uint64_t times[100];
	uint32_t cpus[100];
	struct da_lab_model m = {.slots = 64, .look_ns = MS, .thin = 4};
	struct da_lab_result r;

	for (size_t i = 0; i < 100; i++) {
		times[i] = i;
		cpus[i] = i % 2;
	}
	r = one_model(&m, times, cpus, 100);
	ck_assert_uint_eq(r.offered, 26); /* 13 of the 50 of each CPU */
	ck_assert_uint_eq(r.buffers, 2);
}
END_TEST

/* ---- against a simulation that takes every report by itself ---- */

struct naive {
	uint64_t inside[8], look, clock;
	bool awake;
	uint32_t at;
	unsigned batch;
	uint64_t dequeue, overflow;
};

static bool naive_take(struct naive *s, unsigned nr)
{
	for (unsigned k = 0; k <= nr; k++) {
		if (s->inside[s->at] && s->batch < 4096) {
			s->inside[s->at]--;
			s->batch++;
			s->dequeue++;
			return true;
		}
		s->batch = 0;
		s->at = (s->at + 1) % nr;
	}
	return false;
}

static bool naive_empty(const struct naive *s, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		if (s->inside[i])
			return false;
	return true;
}

/* All that the reader does until t, a nanosecond's decision at a time. */
static void naive_read(struct naive *s, const struct da_lab_model *m, unsigned nr, uint64_t t)
{
	for (;;) {
		if (!s->awake) {
			while (naive_empty(s, nr) && s->look <= t)
				s->look += m->look_ns;
			if (naive_empty(s, nr) || s->look > t)
				return;
			s->awake = true;
			if (s->clock < s->look)
				s->clock = s->look;
		}
		if (naive_empty(s, nr)) {
			s->awake = false;
			s->look = s->clock + m->look_ns;
			continue;
		}
		if (s->clock + m->cost_ns > t)
			return;
		naive_take(s, nr);
		s->clock += m->cost_ns;
	}
}

START_TEST(equals_a_naive_simulation)
{
	srandom(_i + 1);
	for (unsigned round = 0; round < 30; round++) {
		unsigned nr = 1 + (unsigned)random() % 4, n = 3000;
		struct da_lab_model m = {.slots = 1 + (uint64_t)random() % 40,
					 .look_ns = 1 + (uint64_t)random() % 5000,
					 .cost_ns = (uint64_t)random() % 300};
		struct da_lab *lab = da_lab_new();
		struct naive s = {0};
		struct da_lab_result r;
		uint64_t t = 0;
		bool known[8] = {false};
		unsigned order[8] = {0}, seen = 0;

		ck_assert_int_eq(da_lab_add(lab, &m), 0);
		for (unsigned i = 0; i < n; i++) {
			unsigned cpu = (unsigned)random() % nr;

			t += (uint64_t)random() % 400;
			if (!i)
				s.look = t;
			if (!known[cpu]) { /* places are given in the order of their coming */
				known[cpu] = true;
				order[cpu] = seen++;
			}
			da_lab_arrive(lab, t, cpu);
			naive_read(&s, &m, seen, t);
			if (s.inside[order[cpu]] == m.slots)
				s.overflow++;
			else
				s.inside[order[cpu]]++;
		}
		da_lab_finish(lab);
		r = da_lab_result(lab, 0);
		ck_assert_msg(
			r.overflow == s.overflow,
			"round %u: %lu lost, by hand %lu (cpus %u slots %lu look %lu cost %lu)",
			round, r.overflow, s.overflow, nr, m.slots, m.look_ns, m.cost_ns);
		da_lab_free(lab);
	}
}
END_TEST

/* ---- plans ---- */

/* The seeds' run: 47,248 reports of 256 CPUs, drained by one thread every 5 ms into its own ring of 256 slots.
 * 59 drains find more than the ring holds and one finds 57: 59 * 256 + 57 = 15,161 go in. */
static void seed_arrivals(struct da_lab *lab)
{
	uint64_t left = 47248 - 57, n = 0;

	for (unsigned tick = 0; tick < 60; tick++) {
		uint64_t in_tick = tick == 59 ? 57 : left / (59 - tick);

		if (tick < 59)
			left -= in_tick;
		for (uint64_t i = 0; i < in_tick; i++, n++)
			ck_assert_int_eq(da_lab_arrive(lab, tick * 5 * MS + (tick > 0) + i * 5000,
						       (uint32_t)(n * 7 % 256)),
					 0);
	}
	ck_assert_uint_eq(n, 47248);
}

START_TEST(seeds_drops_are_fan_in)
{
	struct da_lab_base base = {.recorded = true,
				   .dropped = 32087,
				   .regions = 1000,
				   .model = {.single = true,
					     .slots = 256,
					     .publish_ns = 5 * MS,
					     .look_ns = 5 * MS,
					     .cost_ns = 100}};
	struct da_lab_plan p;
	struct da_lab_result r;

	ck_assert_int_eq(da_lab_plan(&p, &base), 0);
	seed_arrivals(p.lab);
	da_lab_finish(p.lab);
	da_lab_plan_conclude(&p);
	r = da_lab_result(p.lab, 0);
	ck_assert_uint_eq(r.offered, 47248);
	ck_assert_uint_eq(r.enqueue, 15161);
	ck_assert_uint_eq(r.overflow, 32087);
	ck_assert(p.fits);
	ck_assert_str_eq(p.cause, "fan_in");
	ck_assert_ptr_nonnull(strstr(p.evidence, "256 CPUs share one buffer of 256 slots"));
	ck_assert_ptr_nonnull(strstr(p.evidence, "drops 0"));
	ck_assert_ptr_nonnull(strstr(p.advice, "--drain=percpu"));
	ck_assert_ptr_nonnull(strstr(p.advice, "slots=1024"));
	da_lab_plan_release(&p);
}
END_TEST

/* The same arrivals in a buffer for each CPU, with a reader that cannot keep up, and with too few slots. */
START_TEST(other_causes)
{
	struct da_lab_base base = {.dropped = -1,
				   .model = {.slots = 64, .look_ns = 10000, .cost_ns = 5000}};
	struct da_lab_plan p;

	/* 1 report a us for 20 ms, 5 us each: only 32768 slots and more would hold them */
	ck_assert_int_eq(da_lab_plan(&p, &base), 0);
	for (unsigned i = 0; i < 20000; i++)
		da_lab_arrive(p.lab, i * 1000ull, 0);
	da_lab_finish(p.lab);
	da_lab_plan_conclude(&p);
	ck_assert_str_eq(p.cause, "slow_consumer");
	da_lab_plan_release(&p);

	base.model.cost_ns = 10;
	ck_assert_int_eq(da_lab_plan(&p, &base), 0);
	for (unsigned i = 0; i < 20000; i++) /* 200 each 10 ms, at once */
		da_lab_arrive(p.lab, i / 200 * 10 * MS, 0);
	da_lab_finish(p.lab);
	da_lab_plan_conclude(&p);
	ck_assert_str_eq(p.cause, "report_buffer_small");
	ck_assert_str_eq(p.advice, "--buffer slots=256, or with a period 4 times as long");
	da_lab_plan_release(&p);

	base.model.slots = 65536;
	ck_assert_int_eq(da_lab_plan(&p, &base), 0);
	da_lab_arrive(p.lab, 1, 0);
	da_lab_finish(p.lab);
	da_lab_plan_conclude(&p);
	ck_assert_str_eq(p.cause, "");
	ck_assert_str_eq(p.advice, "");
	da_lab_plan_release(&p);
}
END_TEST

/* The reader that was simulated is found again from its drops. */
START_TEST(reader_speed_is_found)
{
	struct da_lab_base base = {.recorded = true, .model = {.slots = 64, .look_ns = MS}};
	struct da_lab_model truth = base.model;
	struct da_lab *lab = da_lab_new();
	struct da_lab_result r;

	truth.cost_ns = 800;
	truth.wake_ns = 20000;
	ck_assert_int_eq(da_lab_add(lab, &truth), 0);
	base.dropped = 0;
	ck_assert_int_eq(da_lab_candidates(lab, &base), 0);
	for (unsigned i = 0; i < 50000; i++)
		da_lab_arrive(lab, i * 500ull, i % 3);
	da_lab_finish(lab);
	r = da_lab_result(lab, 0);
	base.dropped = (int64_t)da_lab_dropped(&r);
	ck_assert_int_gt(base.dropped, 0);
	da_lab_choose(lab, &base);
	ck_assert_uint_eq(base.model.cost_ns, 800);
	ck_assert_uint_eq(base.model.wake_ns, 20000);
	da_lab_free(lab);
}
END_TEST

/* Times of a hostile file: at the end of the range, backwards, CPUs beyond any. */
START_TEST(odd_arrivals)
{
	static const uint64_t times[] = {UINT64_MAX, 0, UINT64_MAX - 1, 5, UINT64_MAX};
	static const uint32_t cpus[] = {UINT32_MAX, 0, DA_LAB_MAX_CPUS, 77, 3};
	struct da_lab_model m = {.slots = 2,
				 .look_ns = UINT64_MAX,
				 .publish_ns = UINT64_MAX,
				 .wake_ns = UINT64_MAX,
				 .cost_ns = UINT64_MAX};

	ck_assert_uint_eq(one_model(&m, times, cpus, 5).offered, 5);
	m = (struct da_lab_model){.cost_ns = 1, .write_ns = UINT64_MAX};
	ck_assert_uint_eq(one_model(&m, times, cpus, 5).offered, 5);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lab");
	TCase *t = tcase_create("lab");
	SRunner *r;
	int failed;

	tcase_add_test(t, full_buffer);
	tcase_add_test(t, looks_make_room);
	tcase_add_test(t, slow_reader);
	tcase_add_test(t, nested_is_per_cpu);
	tcase_add_test(t, periods_thin_each_cpu);
	tcase_add_loop_test(t, equals_a_naive_simulation, 0, 4);
	tcase_add_test(t, seeds_drops_are_fan_in);
	tcase_add_test(t, other_causes);
	tcase_add_test(t, reader_speed_is_found);
	tcase_add_test(t, odd_arrivals);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
