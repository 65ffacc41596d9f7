/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Heat cells: where counts appear, that coarsening loses none of them, and that the bound holds whatever
 * is added.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "da_error.h"
#include "da_heat.h"

#define MS 1000000ull

static uint64_t total(const uint64_t *cells, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += cells[i];
	return sum;
}

START_TEST(places_counts)
{
	static const struct da_heat_row rows[] = {
		{0x1000, 0x3000, 0, 0},
		{0x3000, 0x5000, 0, 0},
		{0x9000, 0xa000, 7, 7},
	};
	struct da_heat *h = da_heat_new(0);
	uint64_t cells[3 * 4], t0, t1, bytes, ns;

	ck_assert_int_eq(da_heat_span(h, 0, &t0, &t1), 0);
	/* 4 columns of 1 s */
	ck_assert_int_eq(da_heat_add(h, 0, 0, 10000 * MS, 0x1000, 1), 0);
	ck_assert_int_eq(da_heat_add(h, 0, 0, 10500 * MS, 0x2fff, 2), 0);
	ck_assert_int_eq(da_heat_add(h, 0, 0, 12200 * MS, 0x3000, 5), 0);
	ck_assert_int_eq(da_heat_add(h, 0, 7, 13999 * MS, 0x9fff, 11), 0);
	ck_assert_int_eq(da_heat_add(h, 0, 7, 13000 * MS, 0x9000, 0), 0);   /* nothing: no cell */
	ck_assert_int_eq(da_heat_add(h, 1, 0, 11000 * MS, 0x1000, 100), 0); /* another event */
	ck_assert_int_eq(da_heat_add(h, 0, 3, 11000 * MS, 0x7000, 100),
			 0); /* no row has this zone */
	da_heat_render(h, 0, 10000 * MS, 14000 * MS, 4, rows, 3, cells);
	static const uint64_t want[] = {3, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 11};
	for (size_t i = 0; i < 12; i++)
		ck_assert_msg(cells[i] == want[i], "cell %zu: %llu", i,
			      (unsigned long long)cells[i]);
	ck_assert_int_eq(da_heat_span(h, 0, &t0, &t1), 1);
	da_heat_resolution(h, &bytes, &ns);
	ck_assert_uint_eq(bytes, 4096);
	ck_assert_uint_le(ns, 8 * MS); /* 4 s in at least 512 bins */
	ck_assert_uint_eq(t0, 10000 * MS);
	ck_assert_uint_eq(t1, 13999 * MS);
	ck_assert_int_eq(da_heat_span(h, 1, &t0, &t1), 1);
	ck_assert_uint_le(t0, 11000 * MS);
	ck_assert_uint_ge(t1, 11000 * MS);
	ck_assert_uint_le(t1 - t0, ns);
	/* only a part of the time */
	da_heat_render(h, 0, 12000 * MS, 14000 * MS, 2, rows, 3, cells);
	ck_assert_uint_eq(total(cells, 6), 16);
	da_heat_render(h, 0, 14000 * MS, 14000 * MS, 2, rows, 3, cells);
	ck_assert_uint_eq(total(cells, 6), 0);
	da_heat_free(h);
}
END_TEST

/* A zone keeps its counts to itself, however coarse the address bins become. */
START_TEST(zones_do_not_mix)
{
	static const struct da_heat_row rows[] = {{0x10000, 0x11000, 1, 1},
						  {0x11000, 0x12000, 2, 2}};
	struct da_heat *h = da_heat_new(0);
	uint64_t cells[2], bytes, ns;

	ck_assert_int_eq(da_heat_add(h, 0, 1, 0, 0x10800, 3), 0);
	ck_assert_int_eq(da_heat_add(h, 0, 2, 0, 0x11800, 4), 0);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(da_heat_coarsen(h), 0);
	da_heat_resolution(h, &bytes, &ns);
	if (da_heat_zoned(h)) {
		da_heat_render(h, 0, 0, MS, 1, rows, 2, cells);
		ck_assert_uint_eq(cells[0], 3);
		ck_assert_uint_eq(cells[1], 4);
	}
	da_heat_free(h);

	/* the same, forced by many distinct addresses of a third zone */
	h = da_heat_new(0);
	ck_assert_int_eq(da_heat_add(h, 0, 1, 0, 0x10800, 3), 0);
	ck_assert_int_eq(da_heat_add(h, 0, 2, 0, 0x11800, 4), 0);
	for (uint64_t i = 0; i < 100000; i++)
		ck_assert_int_eq(da_heat_add(h, 0, 3, 0, 0x7f0000000000 + i * 4096, 1), 0);
	da_heat_resolution(h, &bytes, &ns);
	ck_assert(da_heat_zoned(h));
	ck_assert_uint_gt(bytes, 0x2000);
	da_heat_render(h, 0, 0, MS, 1, rows, 2, cells);
	ck_assert_uint_eq(cells[0], 3);
	ck_assert_uint_eq(cells[1], 4);
	da_heat_free(h);
}
END_TEST

/* Random reports over a large space and a long time: bounded cells, every report still there. */
START_TEST(bounded_and_complete)
{
	static const struct da_heat_row all[] = {{0, UINT64_MAX, 0, 0}};
	struct da_heat *h = da_heat_new(2000);
	uint64_t x = 88172645463325252ull, cells[50], n = 200000;

	for (uint64_t i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		ck_assert_int_eq(da_heat_add(h, 0, 0, i * 50000, x >> 16, 1), 0);
		ck_assert_uint_le(da_heat_cells(h), 2000);
	}
	da_heat_render(h, 0, 0, n * 50000, 50, all, 1, cells);
	ck_assert_uint_eq(total(cells, 50), n);
	for (size_t i = 0; i < 50; i++) /* evenly spread in time, to a bin's width */
		ck_assert_msg(cells[i] > n / 50 / 2 && cells[i] < n / 50 * 2, "column %zu: %llu", i,
			      (unsigned long long)cells[i]);
	da_heat_free(h);
}
END_TEST

/* Two heats that share a front hold what two without one hold. */
START_TEST(front_changes_nothing)
{
	static const struct da_heat_row rows[] = {{0, 1 << 23, 0, 3}, {1 << 23, 1 << 24, 0, 3}};
	struct da_heat_front *front = da_heat_front_new();
	struct da_heat *with[2], *without[2];
	uint64_t x = 88172645463325252ull, a[2 * 20], b[2 * 20];

	for (int i = 0; i < 2; i++) {
		with[i] = da_heat_new(2000);
		without[i] = da_heat_new(2000);
		da_heat_use_front(with[i], front);
	}
	for (uint64_t i = 0; i < 100000; i++) {
		uint64_t t, addr, n;
		uint32_t zone, event;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		t = i * 50000 + (x >> 5) % 300000;
		addr = x >> 20 & (x & 3 ? 0xffff : 0xffffff);
		zone = x >> 50 & 3;
		event = x >> 52 & 1;
		n = x >> 53 & 1 ? 1 : x >> 54;
		ck_assert_int_eq(da_heat_add(with[x & 1], event, zone, t, addr, n), 0);
		ck_assert_int_eq(da_heat_add(without[x & 1], event, zone, t, addr, n), 0);
	}
	for (int i = 0; i < 2; i++) {
		da_heat_settle(with[i]);
		ck_assert_uint_eq(da_heat_cells(with[i]), da_heat_cells(without[i]));
		for (uint32_t e = 0; e < 2; e++) {
			uint64_t t[4];

			da_heat_render(with[i], e, 0, 5100 * MS, 20, rows, 2, a);
			da_heat_render(without[i], e, 0, 5100 * MS, 20, rows, 2, b);
			ck_assert(!memcmp(a, b, sizeof(a)) && total(a, 40));
			ck_assert_int_eq(da_heat_span(with[i], e, t, t + 1), 1);
			ck_assert_int_eq(da_heat_span(without[i], e, t + 2, t + 3), 1);
			ck_assert(t[0] == t[2] && t[1] == t[3]);
		}
		da_heat_free(with[i]);
		da_heat_free(without[i]);
	}
	da_heat_front_free(front);
}
END_TEST

/* More zones than cells: then regions must share, and it says so. */
START_TEST(more_zones_than_cells)
{
	struct da_heat_row *rows = calloc(50000, sizeof(*rows));
	uint64_t *cells = calloc(50000, sizeof(*cells));
	struct da_heat *h = da_heat_new(2000);

	for (uint32_t i = 0; i < 50000; i++) {
		rows[i] = (struct da_heat_row){i * 4096ull, (i + 1) * 4096ull, i, i};
		ck_assert_int_eq(da_heat_add(h, 0, i, i, i * 4096ull, 1), 0);
	}
	ck_assert_uint_le(da_heat_cells(h), 2000);
	ck_assert(!da_heat_zoned(h));
	da_heat_render(h, 0, 0, 50000, 1, rows, 50000, cells);
	ck_assert_uint_eq(total(cells, 50000), 50000);
	free(rows);
	free(cells);
	da_heat_free(h);
}
END_TEST

/* Many events at one place: an event's cells are its own, and there the bound ends. */
START_TEST(events_stay_apart)
{
	static const struct da_heat_row all[] = {{0, UINT64_MAX, 0, 0}};
	struct da_heat *h = da_heat_new(1024);
	uint64_t cell;

	for (uint32_t e = 0; e < 3000; e++)
		ck_assert_int_eq(da_heat_add(h, e, 0, 5, 0x1000, e + 1), 0);
	for (uint32_t e = 0; e < 3000; e++) {
		da_heat_render(h, e, 0, 10, 1, all, 1, &cell);
		ck_assert_uint_eq(cell, e + 1);
	}
	da_heat_free(h);
}
END_TEST

/* A row may stand for several regions, and share one with the next row. */
START_TEST(rows_of_several_zones)
{
	static const struct da_heat_row rows[] = {
		{0x1000, 0x4000, 0, 2},
		{0x4000, 0x8000, 2, 5},
		{0x9000, 0xa000, 7, 7},
	};
	struct da_heat *h = da_heat_new(0);
	uint64_t cells[3];

	for (uint32_t z = 0; z < 9;
	     z++) /* zone z: [(z + 1) << 12, +1 page), zone 2 has two pages more */
		ck_assert_int_eq(da_heat_add(h, 0, z, 0, (uint64_t)(z + 1) << 12, 1ull << z), 0);
	ck_assert_int_eq(da_heat_add(h, 0, 2, 0, 0x4800, 1000), 0);
	da_heat_render(h, 0, 0, MS, 1, rows, 3, cells);
	ck_assert_uint_eq(cells[0], 1 + 2 + 4);
	ck_assert_uint_eq(cells[1], 8 + 16 + 32 + 1000);
	ck_assert_uint_eq(cells[2], 0); /* zone 7 lies at 0x8000, outside its row */
	da_heat_free(h);
}
END_TEST

START_TEST(time_outliers)
{
	static const struct da_heat_row all[] = {{0, UINT64_MAX, 0, 0}};
	struct da_heat *h = da_heat_new(1024);
	uint64_t cells[4], t0, t1;

	/* backwards, and to both ends of what a file can say */
	ck_assert_int_eq(da_heat_add(h, 0, 0, 1ull << 40, 1, 1), 0);
	ck_assert_int_eq(da_heat_add(h, 0, 0, 1000, 1, 1), 0);
	ck_assert_int_eq(da_heat_add(h, 0, 0, UINT64_MAX, UINT64_MAX, 1), 0);
	ck_assert_int_eq(da_heat_add(h, 0, 0, 0, 0, 1), 0);
	ck_assert_int_eq(da_heat_span(h, 0, &t0, &t1), 1);
	ck_assert_uint_eq(t0, 0);
	ck_assert_uint_eq(t1, UINT64_MAX);
	da_heat_render(h, 0, 0, UINT64_MAX, 4, all, 1, cells);
	ck_assert_uint_eq(cells[0], 3);
	ck_assert_uint_eq(cells[3], 1);
	da_heat_free(h);
}
END_TEST

START_TEST(rezone_and_saturation)
{
	static const struct da_heat_row rows[] = {{0x1000, 0x2000, 0, 0}, {0x5000, 0x6000, 1, 1}};
	static const uint32_t to[] = {1, 0, 1};
	struct da_heat *h = da_heat_new(0);
	uint64_t cells[2];

	ck_assert_int_eq(da_heat_add(h, 0, 0, 0, 0x5000, UINT64_MAX - 1), 0);
	ck_assert_int_eq(da_heat_add(h, 0, 2, 0, 0x5001, 5),
			 0); /* joins zone 0's cell: capped, not wrapped */
	ck_assert_int_eq(da_heat_add(h, 0, 1, 0, 0x1000, 9), 0);
	ck_assert_int_eq(da_heat_rezone(h, to), 0);
	ck_assert_uint_eq(da_heat_cells(h), 2);
	da_heat_render(h, 0, 0, 10, 1, rows, 2, cells);
	ck_assert_uint_eq(cells[0], 9);
	ck_assert_uint_eq(cells[1], UINT64_MAX);
	da_heat_free(h);
}
END_TEST

/* A bin that is wider than the rows of its zone counts in the nearest of them, or in none. */
START_TEST(coarse_bin_finds_nearest_row)
{
	static const struct da_heat_row edge[] = {{0x40000000, 0x40001000, 0, 0},
						  {0x40003000, 0x40004000, 0, 0}};
	static const struct da_heat_row far[] = {{0x10000000, 0x10001000, 0, 0}};
	struct da_heat *h = da_heat_new(1024);
	uint64_t cells[2], bytes, ns;

	ck_assert_int_eq(da_heat_add(h, 0, 0, 0, 0x40000800, 6), 0);
	for (uint64_t i = 0; i < 20000; i++)
		ck_assert_int_eq(da_heat_add(h, 0, 1, 0, 0x7f0000000000 + i * 4096, 1), 0);
	da_heat_resolution(h, &bytes, &ns);
	ck_assert(da_heat_zoned(h) && bytes >= 0x8000 && bytes <= 0x40000);
	da_heat_render(h, 0, 0, MS, 1, edge, 2, cells);
	ck_assert_uint_eq(cells[0] + cells[1], 6);
	da_heat_render(h, 0, 0, MS, 1, far, 1, cells);
	ck_assert_uint_eq(cells[0], 0);
	da_heat_free(h);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("heat");
	TCase *t = tcase_create("cells");
	SRunner *run;
	int failed;

	tcase_add_test(t, places_counts);
	tcase_add_test(t, zones_do_not_mix);
	tcase_add_test(t, bounded_and_complete);
	tcase_add_test(t, front_changes_nothing);
	tcase_add_test(t, more_zones_than_cells);
	tcase_add_test(t, events_stay_apart);
	tcase_add_test(t, rows_of_several_zones);
	tcase_add_test(t, time_outliers);
	tcase_add_test(t, rezone_and_saturation);
	tcase_add_test(t, coarse_bin_finds_nearest_row);
	suite_add_tcase(suite, t);
	run = srunner_create(suite);
	srunner_run_all(run, CK_NORMAL);
	failed = srunner_ntests_failed(run);
	srunner_free(run);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
