/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mappings cut into regions by what was sampled in them: places that are known to be hot become regions, no
 * report is lost or given to another mapping, whatever the bound of the sketch; a recording in parts gives what
 * it gives in one piece. And the sketch alone.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "da_damon.h"
#include "da_heat.h"
#include "da_match.h"
#include "da_task.h"
#include "region_sketch.h"

#define PAGE 4096ull
#define BASE 0x10000000ull

static struct da_tasks *tasks;
static uint64_t seed;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void set_up(void)
{
	tasks = da_tasks_new();
	ck_assert_ptr_nonnull(tasks);
	seed = 88172645463325252;
}

static void tear_down(void)
{
	da_tasks_free(tasks);
}

static void map(uint64_t start, uint64_t pages, const char *name)
{
	struct da_rec_mmap r = {.pid = 1,
				.tid = 1,
				.addr = start,
				.len = pages * PAGE,
				.prot = PROT_READ | PROT_WRITE,
				.flags = MAP_PRIVATE,
				.has_prot = true,
				.filename = name};

	ck_assert_int_eq(da_tasks_mmap(tasks, &r, 0), 0);
}

static struct da_report at(uint64_t vaddr, uint64_t time_ns, uint32_t event)
{
	return (struct da_report){
		.has = DA_HAS_TIME | DA_HAS_CPU | DA_HAS_TASK | DA_HAS_VADDR | DA_HAS_PERIOD |
		       DA_HAS_OP,
		.pid = 1,
		.tid = 1,
		.vaddr = vaddr,
		.time_ns = time_ns,
		.period = 10,
		.event = event,
		.op = event ? DA_OP_WRITE : DA_OP_READ,
	};
}

static struct da_match *new_match(enum da_regions how, size_t max_places, bool part)
{
	struct da_match_opts o = {.virt = true,
				  .nr_events = 2,
				  .accumulate = true,
				  .regions = how,
				  .adapt = da_adapt_defaults,
				  .max_places = max_places,
				  .part = part};
	struct da_match *m = da_match_new(&o, tasks);

	ck_assert_ptr_nonnull(m);
	return m;
}

/* Report i: every second in a hot spot of 8 pages of /a, the others anywhere in both mappings. */
static struct da_report nth(uint64_t i)
{
	uint64_t page = i % 2 ? 300 + next() % 8 : next() % 3000;

	return at(BASE + page * PAGE + next() % PAGE, i * 1000, next() % 4 == 0);
}

static struct da_match *run(enum da_regions how, size_t max_places)
{
	struct da_match *m = new_match(how, max_places, false);

	seed = 42;
	for (uint64_t i = 0; i < 8000; i++) {
		struct da_report r = nth(i);

		da_match_report(m, &r);
	}
	ck_assert_int_eq(da_match_finish(m), 0);
	return m;
}

static void add(struct da_region_stat *sum, const struct da_region *r)
{
	for (uint32_t k = 0; k < r->nr_by_event; k++) {
		const struct da_region_stat *st = &r->by_event[k];

		sum[st->event].samples += st->samples;
		sum[st->event].accesses += st->accesses;
		sum[st->event].reads += st->reads;
		sum[st->event].writes += st->writes;
		ck_assert_uint_ge(st->hit_start, r->start);
		ck_assert_uint_lt(st->hit_start, st->hit_end);
		ck_assert_uint_le(st->hit_end, r->end);
	}
}

/* Regions tile their areas, and hold together what these hold. */
static void check_space(const struct da_space *s)
{
	size_t i = 0;

	for (size_t a = 0; a < s->nr_areas; a++) {
		struct da_region_stat got[2] = {0}, want[2] = {0};
		uint64_t end = s->areas[a].start;

		add(want, &s->areas[a]);
		for (; i < s->nr_regions && s->regions[i].area == a; i++) {
			ck_assert_uint_eq(s->regions[i].start, end);
			end = s->regions[i].end;
			ck_assert_str_eq(s->regions[i].label, s->areas[a].label);
			add(got, &s->regions[i]);
		}
		ck_assert_uint_eq(end, s->areas[a].end);
		ck_assert_mem_eq(got, want, sizeof(got));
	}
	ck_assert_uint_eq(i, s->nr_regions);
}

START_TEST(hot_spot_is_a_region)
{
	static const size_t places[] = {0, 1000, 64, 16, 3, 1};
	struct da_match *m;
	const struct da_space *s;

	map(BASE, 2000, "/a");
	map(BASE + 2000 * PAGE, 1000, "/b");
	for (size_t p = 0; p < sizeof(places) / sizeof(*places); p++) {
		bool found = false;

		m = run(DA_REGIONS_DENSITY, places[p]);
		s = da_match_space(m, 0);
		check_space(s);
		for (size_t i = 0; i < s->nr_regions; i++)
			found |= s->regions[i].start == BASE + 300 * PAGE &&
				 s->regions[i].end == BASE + 308 * PAGE;
		if (!places[p])
			ck_assert(found);
		ck_assert_uint_le(s->nr_regions, 12);
		da_match_free(m);
	}
}
END_TEST

/* As mappings alone would have it, when nothing is cut. */
START_TEST(areas_are_mappings)
{
	struct da_match *a, *b;
	const struct da_space *x, *y;

	map(BASE, 2000, "/a");
	map(BASE + 2000 * PAGE, 1000, "/b");
	map(BASE + 5000 * PAGE, 10, "/silent");
	a = run(DA_REGIONS_VMA, 0);
	b = run(DA_REGIONS_DENSITY, 0);
	x = da_match_space(a, 0);
	y = da_match_space(b, 0);
	ck_assert_uint_eq(x->nr_regions, 3);
	ck_assert_ptr_eq(x->regions, x->areas);
	ck_assert_uint_eq(y->nr_areas, 3);
	for (size_t i = 0; i < 3; i++) {
		struct da_region_stat p[2] = {0}, q[2] = {0};

		ck_assert_uint_eq(x->regions[i].start, y->areas[i].start);
		ck_assert_uint_eq(x->regions[i].end, y->areas[i].end);
		add(p, &x->regions[i]);
		add(q, &y->areas[i]);
		ck_assert_mem_eq(p, q, sizeof(p));
	}
	check_space(y);
	da_match_free(a);
	da_match_free(b);
}
END_TEST

/* Two parts put together give the regions of the whole. */
START_TEST(in_parts)
{
	struct da_match *whole, *m;
	const struct da_space *x, *y;

	map(BASE, 2000, "/a");
	map(BASE + 2000 * PAGE, 1000, "/b");
	whole = run(DA_REGIONS_DENSITY, 0);
	m = new_match(DA_REGIONS_DENSITY, 0, false);
	seed = 42;
	for (int part = 0; part < 2; part++) {
		struct da_match *p = new_match(DA_REGIONS_DENSITY, 0, true);

		for (uint64_t i = 0; i < 4000; i++) {
			struct da_report r = nth((uint64_t)part * 4000 + i);

			da_match_report(p, &r);
		}
		da_match_merge(m, p);
		da_match_free(p);
	}
	ck_assert_int_eq(da_match_finish(m), 0);
	x = da_match_space(whole, 0);
	y = da_match_space(m, 0);
	check_space(y);
	ck_assert_uint_eq(x->nr_regions, y->nr_regions);
	for (size_t i = 0; i < x->nr_regions; i++) {
		ck_assert_uint_eq(x->regions[i].start, y->regions[i].start);
		ck_assert_uint_eq(x->regions[i].by_event[0].samples,
				  y->regions[i].by_event[0].samples);
	}
	da_match_free(whole);
	da_match_free(m);
}
END_TEST

/* DAMON's regions: disjoint, every report in one of them, or in one that says it was not watched. */
START_TEST(damon_regions)
{
	struct da_match *m;
	const struct da_space *s;
	struct da_region_stat got[2] = {0}, want[2] = {0};
	uint64_t watched = 0;

	map(BASE, 2000, "/a");
	map(BASE + 2000 * PAGE, 1000, "/b");
	map(BASE + 90000 * PAGE, 10, "/far");
	map(BASE + 990000 * PAGE, 10, "[stack]");
	m = new_match(DA_REGIONS_DAMON, 0, false);
	seed = 42;
	for (uint64_t i = 0; i < 8000; i++) {
		struct da_report r = nth(i);

		r.time_ns = i * 250000;
		da_match_report(m, &r);
		if (i == 7990)
			map(BASE + 5000 * PAGE, 10, "/late"); /* nobody watches it yet */
		if (i > 7990) {
			r.vaddr = BASE + 5000 * PAGE;
			da_match_report(m, &r);
		}
	}
	ck_assert_int_eq(da_match_finish(m), 0);
	s = da_match_space(m, 0);
	for (size_t i = 0; i < s->nr_regions; i++) {
		const struct da_region *r = &s->regions[i];

		ck_assert_uint_lt(r->start, r->end);
		if (i)
			ck_assert_uint_le(s->regions[i - 1].end, r->start);
		ck_assert_uint_lt(r->last_area, s->nr_areas);
		watched += r->watched;
		if (!r->watched) {
			ck_assert(strstr(r->label, "outside: /late"));
			ck_assert_uint_eq(r->start, BASE + 5000 * PAGE);
		}
		add(got, r);
	}
	for (size_t i = 0; i < s->nr_areas; i++)
		add(want, &s->areas[i]);
	ck_assert_mem_eq(got, want, sizeof(got));
	ck_assert_uint_eq(watched, s->nr_regions - 1);
	ck_assert_uint_ge(watched, 10);
	da_match_free(m);

	/* what came in parts has no order of time: mappings are the regions */
	m = new_match(DA_REGIONS_DAMON, 0, false);
	{
		struct da_match *p = new_match(DA_REGIONS_DAMON, 0, true);
		struct da_report r = at(BASE, 1, 0);

		da_match_report(p, &r);
		da_match_merge(m, p);
		da_match_free(p);
	}
	ck_assert_int_eq(da_match_finish(m), 0);
	ck_assert_uint_eq(da_match_space(m, 0)->nr_regions, da_match_space(m, 0)->nr_areas);
	da_match_free(m);
}
END_TEST

static void snapshot(struct da_damon *d, uint32_t kdamond, const uint64_t *bounds, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		struct da_tp_damon r = {.start = bounds[i],
					.end = bounds[i + 1],
					.nr_regions = nr,
					.nr_accesses = i,
					.age = 7,
					.has_age = true};

		ck_assert_int_eq(da_damon_add(d, kdamond, &r, 5), 0);
	}
}

/* Regions of the kernel's DAMON: of the target in which the samples lie, cut where it says. */
START_TEST(kernel_regions)
{
	const uint64_t here[] = {BASE + 100 * PAGE, BASE + 300 * PAGE, BASE + 308 * PAGE,
				 BASE + 2500 * PAGE};
	const uint64_t elsewhere[] = {PAGE, 2 * PAGE, 1ull << 40};
	struct da_damon *d = da_damon_new();
	struct da_region_stat got[2] = {0}, want[2] = {0};
	struct da_match *m;
	const struct da_space *s;
	uint64_t hot = 0;

	map(BASE, 2000, "/a");
	map(BASE + 2000 * PAGE, 1000, "/b");
	for (int with = 0; with < 2; with++) {
		m = new_match(DA_REGIONS_KERNEL, 0, false);
		seed = 42;
		for (uint64_t i = 0; i < 8000; i++) {
			struct da_report r = nth(i);

			hot += i % 2;
			da_match_report(m, &r);
		}
		if (with) {
			snapshot(d, 1, elsewhere, 1);
			snapshot(d, 2, here, 3);
			da_damon_finish(d);
			da_match_kernel(m, d);
		}
		ck_assert_int_eq(da_match_finish(m), 0);
		s = da_match_space(m, 0);
		if (!with) { /* nobody published any: mappings */
			ck_assert_uint_eq(s->nr_regions, 2);
			da_match_free(m);
			hot = 0;
		}
	}
	ck_assert_uint_eq(s->nr_regions, 5); /* and before the first and behind the last */
	for (size_t i = 0; i < 5; i++)
		add(got, &s->regions[i]);
	for (size_t i = 0; i < s->nr_areas; i++)
		add(want, &s->areas[i]);
	ck_assert_mem_eq(got, want, sizeof(got));
	ck_assert(!s->regions[0].watched && s->regions[1].watched && !s->regions[4].watched);
	ck_assert_uint_eq(s->regions[2].start, here[1]);
	ck_assert_uint_eq(s->regions[2].end, here[2]);
	ck_assert_uint_eq(s->regions[2].nr_accesses, 1);
	ck_assert_uint_eq(s->regions[2].age, 7);
	ck_assert_uint_ge(s->regions[2].by_event[0].samples + s->regions[2].by_event[1].samples,
			  hot);
	ck_assert(strstr(s->regions[0].label, "outside: /a"));
	ck_assert(strstr(s->regions[4].label, "outside: /b"));
	da_match_free(m);
	da_damon_free(d);
}
END_TEST

/* A bound on regions is kept, and the hottest place is the last to go. */
START_TEST(bounded_number)
{
	map(BASE, 2000, "/a");
	map(BASE + 2000 * PAGE, 1000, "/b");
	for (size_t max = 1; max < 12; max += 5) {
		struct da_match_opts o = {.virt = true,
					  .nr_events = 2,
					  .accumulate = true,
					  .regions = DA_REGIONS_DENSITY,
					  .max_regions = max};
		struct da_match *m = da_match_new(&o, tasks);
		const struct da_space *s;

		seed = 42;
		for (uint64_t i = 0; i < 8000; i++) {
			uint64_t page = i % 8 ? 256 * (i % 7) + next() % 16 : next() % 3000;
			struct da_report r = at(BASE + page * PAGE, i, 0);

			da_match_report(m, &r);
		}
		ck_assert_int_eq(da_match_finish(m), 0);
		s = da_match_space(m, 0);
		check_space(s);
		ck_assert_uint_le(s->nr_regions, max < 2 ? 2 : max); /* two mappings */
		da_match_free(m);
	}
}
END_TEST

/* Mappings that overlap and are both hit become one; its cells are those of both. */
START_TEST(joined_mappings)
{
	struct da_match *m;
	const struct da_space *s;

	for (size_t max = 0; max < 40; max += 13) {
		tear_down();
		set_up();
		map(BASE, 64, "/a");
		m = new_match(DA_REGIONS_DENSITY, max, false);
		for (uint64_t i = 0; i < 500; i++) {
			struct da_report r = at(BASE + next() % (64 * PAGE), i, 0);

			if (i == 250)
				map(BASE, 32, "/b");
			da_match_report(m, &r);
		}
		ck_assert_int_eq(da_match_finish(m), 0);
		s = da_match_space(m, 0);
		check_space(s);
		da_match_free(m);
	}
}
END_TEST

/* ---- the sketch ---- */

static int by_place(const void *a, const void *b)
{
	const struct sketch_cell *x = a, *y = b;

	if (x->zone != y->zone)
		return x->zone < y->zone ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static struct sketch_cell *cells(const struct sketch *k, size_t *nr)
{
	struct sketch_cell *c;

	*nr = sketch_cells(k);
	c = calloc(*nr + 1, sizeof(*c));
	ck_assert_ptr_nonnull(c);
	sketch_get(k, c);
	qsort(c, *nr, sizeof(*c), by_place);
	return c;
}

/* Bounded, disjoint, whole zones or none; and nothing depends on the order in the table (the seed). */
START_TEST(sketch_is_bounded)
{
	static const size_t bound[] = {4, 50, 700, 5000};

	for (size_t b = 0; b < sizeof(bound) / sizeof(*bound); b++) {
		struct sketch_cell *first = NULL;
		size_t nr_first = 0;

		for (uint64_t s = 1; s < 4; s++) {
			struct sketch *k = sketch_new(bound[b], s * 0x12345);
			struct sketch_cell *c;
			uint64_t in[8] = {0}, got[8] = {0};
			size_t nr;

			seed = 99;
			for (uint64_t i = 0; i < 20000; i++) {
				uint32_t zone = next() % 8;
				struct da_report r = at(next() % (PAGE << (3 * zone)), i, i % 2);

				ck_assert_int_eq(sketch_add(k, zone, &r, r.vaddr), 0);
				in[zone]++;
			}
			ck_assert_uint_le(sketch_cells(k), bound[b]);
			c = cells(k, &nr);
			for (size_t i = 0; i < nr; i++) {
				got[c[i].zone] += c[i].samples;
				if (i && c[i].zone == c[i - 1].zone && c[i].event == c[i - 1].event)
					ck_assert_uint_gt(c[i].start, c[i - 1].last);
			}
			for (size_t z = 0; z < 8; z++)
				ck_assert(got[z] == in[z] || !got[z]);
			if (first) {
				ck_assert_uint_eq(nr, nr_first);
				ck_assert_mem_eq(first, c, nr * sizeof(*c));
				free(c);
			} else {
				first = c;
				nr_first = nr;
			}
			sketch_free(k);
		}
		free(first);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("refine");
	TCase *t = tcase_create("refine");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, hot_spot_is_a_region);
	tcase_add_test(t, areas_are_mappings);
	tcase_add_test(t, in_parts);
	tcase_add_test(t, damon_regions);
	tcase_add_test(t, kernel_regions);
	tcase_add_test(t, bounded_number);
	tcase_add_test(t, joined_mappings);
	tcase_add_test(t, sketch_is_bounded);
	tcase_set_timeout(t, 240);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
