/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order in which da_reader_next() gives records: rounds, the bounded window, late records, records
 * without a time, equal times; and the memory that it takes.
 *
 * timeout: 600
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "da_perfdata.h"
#include "perfgen.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

/* addr numbers the samples in file order. */
static struct da_attr attr = {
	.type = 4, .sample_type = DA_SAMPLE_TIME | DA_SAMPLE_ADDR, .flags = DA_ATTR_SAMPLE_ID_ALL};
#define SAMPLE_BYTES 24

static uint64_t rng = 88172645463325252u;

static uint64_t next_random(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	return rng ^= rng << 17;
}

/* The times of samples in file order; ROUND ends a round. */
#define ROUND UINT64_MAX

struct times {
	uint64_t *t;
	size_t nr, cap;
};

static void add(struct times *ts, uint64_t t)
{
	if (ts->nr == ts->cap) {
		ts->cap = ts->cap ? 2 * ts->cap : 1024;
		ts->t = realloc(ts->t, ts->cap * sizeof(*ts->t));
		ck_assert_ptr_nonnull(ts->t);
	}
	ts->t[ts->nr++] = t;
}

/* Raw bytes that make samples longer, where a test wants that. */
static uint32_t longer;

static void sample(struct gen *g, uint64_t time, uint64_t number)
{
	static const uint8_t raw[256];
	struct da_samp s = {.time_ns = time, .addr = number, .raw = raw, .raw_size = longer};

	gen_sample(g, &attr, &s);
}

static char *write_file(const struct times *ts, bool swap)
{
	struct gen_file f = {.nr_ev = 1, .data = {.swap = swap}};
	struct gen out = {0};
	char *path;

	f.ev[0].attr = attr;
	for (size_t i = 0; i < ts->nr; i++) {
		if (ts->t[i] == ROUND)
			gen_round(&f.data);
		else
			sample(&f.data, ts->t[i], i);
	}
	gen_features(&f);
	gen_file_build(&f, &out);
	path = gen_write(out.p, out.len);
	gen_free(&out);
	gen_file_free(&f);
	return path;
}

/* Reads the numbers of the samples as they come. */
static size_t read_numbers(const char *path, uint64_t *numbers, uint64_t *late)
{
	struct da_error err = {0};
	struct da_reader *r;
	struct da_rec rec;
	size_t nr = 0, bad = 0;
	int ret;

	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	while ((ret = da_reader_next(r, &rec, &err)) > 0) {
		struct da_samp s;

		if (rec.type != DA_REC_SAMPLE)
			continue;
		/* an assertion of Check is a system call: one for all of them */
		bad += da_samp_parse(&attr, rec.bytes, rec.size, rec.swap, &s) < 0 ||
		       s.time_ns != rec.time_ns;
		numbers[nr++] = s.addr;
	}
	ck_assert_int_eq(ret, 0);
	ck_assert_uint_eq(bad, 0);
	ck_assert(!da_reader_info(r)->damaged);
	*late = da_reader_info(r)->late_records;
	da_reader_close(r);
	return nr;
}

struct key {
	uint64_t time, number;
};

static int by_time(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* Reads the recording and compares with a stable sort of everything. */
static void assert_sorted(const struct times *ts, bool swap)
{
	char *path = write_file(ts, swap);
	uint64_t *got = calloc(ts->nr + 1, sizeof(*got)), late;
	struct key *want = calloc(ts->nr + 1, sizeof(*want));
	size_t nr = 0;

	for (size_t i = 0; i < ts->nr; i++) {
		if (ts->t[i] != ROUND)
			want[nr++] = (struct key){.time = ts->t[i], .number = i};
	}
	qsort(want, nr, sizeof(*want), by_time);
	ck_assert_uint_eq(read_numbers(path, got, &late), nr);
	ck_assert_uint_eq(late, 0);
	for (size_t i = 0; i < nr; i++) {
		if (got[i] != want[i].number)
			ck_abort_msg("place %zu: sample %" PRIu64 ", not %" PRIu64, i, got[i],
				     want[i].number);
	}
	free(got);
	free(want);
	gen_unlink(path);
}

/* The example in perfdata_sort.c. */
START_TEST(rounds)
{
	static const uint64_t t[] = {1, 4, 6, 2, 3, 7, ROUND, 8, 9, 5, 10, ROUND, 11};
	struct times ts = {.t = (uint64_t *)t, .nr = sizeof(t) / sizeof(t[0])};

	assert_sorted(&ts, false);
	assert_sorted(&ts, true);
}
END_TEST

START_TEST(small_inputs)
{
	/* every order of up to 6 samples, with equal times among them */
	for (unsigned n = 0; n < 6 * 6 * 6 * 6 * 6 * 6; n += 7) {
		struct times ts = {0};
		unsigned v = n;

		for (int i = 0; i < 6; i++, v /= 6)
			add(&ts, 1 + v % 6);
		assert_sorted(&ts, n & 1);
		free(ts.t);
		if (n > 4000)
			n += 170;
	}
}
END_TEST

/* CPUs drained one after the other, each with its samples in order, and rounds in between: any number of
 * CPUs, of samples a round, any interleaving. What a CPU recorded while the round before was under way may be
 * drained in this one only: rounds overlap in time by half. */
START_TEST(random_rounds)
{
	for (int trial = 0; trial < 10; trial++) {
		unsigned cpus = 1 + (unsigned)(next_random() % 7);
		uint64_t per_round = 1 + next_random() % (trial < 6 ? 40 : 16000), start = 1;
		struct times ts = {0};

		while (ts.nr < (trial < 6 ? 3000 : 150000)) {
			for (unsigned cpu = 0; cpu < cpus; cpu++) {
				uint64_t t = start, n = next_random() % per_round;

				for (uint64_t i = 0; i < n; i++) {
					t += next_random() % 5;
					add(&ts, t);
				}
			}
			add(&ts, ROUND);
			start += 2 * per_round; /* a round lasts up to 4 times that */
		}
		assert_sorted(&ts, trial & 1);
		free(ts.t);
	}
}
END_TEST

/* The latest sample of a round does not let go what the next round may still bring: with so many samples
 * that nothing waits for company. */
START_TEST(rounds_overlap)
{
	struct times ts = {0};
	uint64_t nr = 60000;

	for (uint64_t round = 0; round < 6; round++) {
		/* one CPU ahead of the other by half a round */
		for (uint64_t i = 0; i < nr; i++)
			add(&ts, 1 + nr * round + i + nr / 2);
		for (uint64_t i = 0; i < nr; i++)
			add(&ts, 1 + nr * round + i);
		add(&ts, ROUND);
	}
	assert_sorted(&ts, false);
	free(ts.t);
}
END_TEST

/* Without rounds: whatever is out of order by less than half the window is put in order. */
START_TEST(no_rounds)
{
	struct times ts = {0};
	uint64_t nr = 480000, block = 40000;

	/* 24 bytes each and the window's own; blocks of two CPUs that overlap wholly in time */
	for (uint64_t at = 0; at < nr; at += 2 * block) {
		for (uint64_t cpu = 0; cpu < 2; cpu++) {
			for (uint64_t i = 0; i < block; i++)
				add(&ts, 1 + at + 2 * i + cpu);
		}
	}
	assert_sorted(&ts, false);
	free(ts.t);
}
END_TEST

/* Nothing to do: in order as it is; and in reverse, as far as the window goes. */
START_TEST(in_order_and_reversed)
{
	struct times up = {0}, down = {0};

	for (uint64_t i = 0; i < 300000; i++)
		add(&up, 1 + i / 3);
	assert_sorted(&up, false);
	for (uint64_t i = 0; i < 100000; i++)
		add(&down, 100000 - i);
	assert_sorted(&down, false);
	free(up.t);
	free(down.t);
}
END_TEST

START_TEST(random_order)
{
	struct times ts = {0};

	for (uint64_t i = 0; i < 200000; i++)
		add(&ts, 1 + next_random() % 1000000);
	assert_sorted(&ts, false);
	free(ts.t);
}
END_TEST

/* A few records that wait for long, scattered over everything that is read: they must not keep the memory of
 * all that was read around them, and lose their place for it. */
START_TEST(few_wait_for_long)
{
	struct times ts = {0};

	longer = 204;
	attr.sample_type |= DA_SAMPLE_RAW;
	for (uint64_t i = 0; i < 250000; i++)
		add(&ts, i % 10 == 0 ? 1000000 + i : 1 + i);
	assert_sorted(&ts, false);
	assert_sorted(&ts, true);
	free(ts.t);
}
END_TEST

/* Samples that come too late for the window: each is given all the same, once, and counted. */
START_TEST(too_late)
{
	struct times ts = {0};
	uint64_t nr = 1200000, *got, late = 0, backwards = 0, twice = 0;
	uint8_t *seen;
	size_t n;
	char *path;

	for (uint64_t i = 0; i < nr; i++)
		add(&ts, i % 300000 == 299999 ? 5 : 1000 + i);
	path = write_file(&ts, false);
	got = calloc(nr, sizeof(*got));
	seen = calloc(nr, 1);
	n = read_numbers(path, got, &late);
	ck_assert_uint_eq(n, nr);
	for (size_t i = 0; i < n; i++) {
		twice += seen[got[i]];
		seen[got[i]] = 1;
		backwards += i && ts.t[got[i]] < ts.t[got[i - 1]];
	}
	ck_assert_uint_eq(twice, 0);
	ck_assert_uint_eq(late, 4);
	ck_assert_uint_eq(backwards, 4);
	free(got);
	free(seen);
	free(ts.t);
	gen_unlink(path);
}
END_TEST

/* Any times and any lengths, far more than the window: each record is given once, as it was written. */
START_TEST(every_record_once)
{
	struct gen_file f = {.nr_ev = 1, .data = {.swap = _i}};
	uint64_t nr = 150000, given = 0, aux = 0, bad = 0;
	static uint8_t raw[512], payload[64];
	struct da_error err = {0};
	struct gen out = {0};
	struct da_reader *r;
	struct da_rec rec;
	uint8_t *seen = calloc(nr, 1);
	char *path;

	attr.sample_type |= DA_SAMPLE_RAW;
	f.ev[0].attr = attr;
	for (uint64_t i = 0; i < nr; i++) {
		struct da_samp s = {
			.addr = i, .raw = raw, .raw_size = 4 + 8 * (uint32_t)(next_random() % 60)};

		s.time_ns = 1 + (i % 3 ? i : next_random() % nr);
		memset(raw, (int)i, s.raw_size);
		gen_sample(&f.data, &attr, &s);
		if (i % 1000 == 0)
			gen_auxtrace(&f.data, payload, sizeof(payload), sizeof(payload), i);
		if (i % 50000 == 49999)
			gen_round(&f.data);
	}
	gen_features(&f);
	gen_file_build(&f, &out);
	path = gen_write(out.p, out.len);
	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	while (da_reader_next(r, &rec, &err) > 0) {
		struct da_samp s;

		if (rec.type == DA_REC_AUXTRACE) {
			aux++;
			bad += rec.payload_size != sizeof(payload);
		}
		if (rec.type != DA_REC_SAMPLE)
			continue;
		if (da_samp_parse(&attr, rec.bytes, rec.size, rec.swap, &s) < 0 || s.addr >= nr ||
		    memcmp(rec.bytes, out.p + rec.offset, rec.size) != 0) {
			bad++;
			continue;
		}
		bad += seen[s.addr] || s.raw[s.raw_size - 1] != (uint8_t)s.addr;
		seen[s.addr] = 1;
		given++;
	}
	ck_assert_int_eq(err.code, 0);
	ck_assert_uint_eq(bad, 0);
	ck_assert_uint_eq(given, nr);
	ck_assert_uint_eq(aux, nr / 1000);
	ck_assert_uint_gt(da_reader_info(r)->late_records, 0);
	da_reader_close(r);
	gen_unlink(path);
	gen_free(&out);
	gen_file_free(&f);
	free(seen);
}
END_TEST

/* A round larger than the window is read in a window all the same. */
START_TEST(round_beyond_the_window)
{
	struct times ts = {0};
	uint64_t nr = 600000, *got, late;
	char *path;

	for (uint64_t i = 0; i < nr; i++)
		add(&ts, 1 + (i * 2) % nr + i / (nr / 2));
	add(&ts, ROUND);
	path = write_file(&ts, false);
	got = calloc(nr, sizeof(*got));
	ck_assert_uint_eq(read_numbers(path, got, &late), nr);
	ck_assert_uint_gt(late, 0);
	ck_assert_uint_lt(late, nr);
	free(got);
	free(ts.t);
	gen_unlink(path);
}
END_TEST

/* Times that a broken recorder writes: 0 and -1 are no times, the largest one is. */
START_TEST(strange_times)
{
	static const uint64_t t[] = {5, 0, UINT64_MAX - 1, 3, 0,    4, ROUND, 6,
				     0, 2, ROUND,          1, ROUND};
	struct times ts = {.t = (uint64_t *)t, .nr = sizeof(t) / sizeof(t[0])};
	uint64_t got[16], late;
	char *path = write_file(&ts, false);

	ck_assert_uint_eq(read_numbers(path, got, &late), 10);
	/* those of time 0 at once, then the others in order */
	ck_assert_uint_eq(got[0], 1);
	ck_assert_uint_eq(got[1], 4);
	ck_assert_uint_eq(got[2], 8);
	ck_assert_uint_eq(got[3], 11);
	ck_assert_uint_eq(got[4], 9);
	ck_assert_uint_eq(got[9], 2);
	gen_unlink(path);
}
END_TEST

/* Records without a time: at once, before those that wait; AUXTRACE stays behind what precedes it. */
START_TEST(records_without_time)
{
	static const char payload[16] = "sixteen bytes..";
	struct gen_file f = {.nr_ev = 1};
	struct da_error err = {0};
	struct gen out = {0};
	struct da_reader *r;
	struct da_rec rec;
	char order[200] = "", *path;
	size_t at;

	f.ev[0].attr = attr;
	sample(&f.data, 100, 0);
	gen_comm(&f.data, &attr, "no-time", 1, 0, 0);
	gen_auxtrace(&f.data, payload, 16, 16, 0);
	sample(&f.data, 50, 1);
	at = gen_rec(&f.data, DA_REC_TIME_CONV, 0);
	gen_fill(&f.data, 0, 24);
	gen_end(&f.data, at);
	sample(&f.data, 200, 2);
	gen_auxtrace(&f.data, payload, 16, 16, 0);
	sample(&f.data, 300, 3);
	gen_features(&f);
	gen_file_build(&f, &out);
	path = gen_write(out.p, out.len);
	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	while (da_reader_next(r, &rec, &err) > 0)
		snprintf(order + strlen(order), sizeof(order) - strlen(order), "%u:%" PRIu64 " ",
			 rec.type, rec.time_ns);
	ck_assert_str_eq(order, "3:0 79:0 9:50 9:100 71:0 9:200 71:0 9:300 ");
	da_reader_close(r);
	gen_unlink(path);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

/* Peak memory does not grow with the file: 80 MiB of records without rounds, the worst case. */
START_TEST(memory_is_bounded)
{
#ifndef SANITIZED
	struct times ts = {0};
	struct rusage usage;
	char *path;
	int status;
	pid_t pid;

	for (uint64_t i = 0; i < (80u << 20) / SAMPLE_BYTES; i++)
		add(&ts, 1 + i);
	path = write_file(&ts, false);
	free(ts.t);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		/* What fork() shares counts as ours: exec something that does not have it. */
		char exe[4096];
		ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

		exe[n < 0 ? 0 : n] = '\0';
		setenv("DA_TEST_READ", path, 1);
		execl(exe, exe, (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	getrusage(RUSAGE_CHILDREN, &usage);
	gen_unlink(path);
#endif
}
END_TEST

/* The child of memory_is_bounded(). */
static int read_and_check_memory(const char *path)
{
	struct da_error err = {0};
	struct rusage usage;
	struct da_reader *r;
	struct da_rec rec;
	uint64_t n = 0;

	if (da_reader_open(&r, path, &err) < 0)
		return 1;
	while (da_reader_next(r, &rec, &err) > 0)
		n++;
	da_reader_close(r);
	getrusage(RUSAGE_SELF, &usage);
	if (n != (80u << 20) / SAMPLE_BYTES || usage.ru_maxrss > 48 << 10) {
		printf("%" PRIu64 " records, peak %ld KiB\n", n, usage.ru_maxrss);
		return 1;
	}
	return 0;
}

int main(void)
{
	Suite *suite = suite_create("perfdata_sort");
	TCase *tc = tcase_create("sort");
	SRunner *runner;
	int failed;

	if (getenv("DA_TEST_READ"))
		return read_and_check_memory(getenv("DA_TEST_READ"));
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, rounds);
	tcase_add_test(tc, small_inputs);
	tcase_add_test(tc, random_rounds);
	tcase_add_test(tc, rounds_overlap);
	tcase_add_test(tc, no_rounds);
	tcase_add_test(tc, in_order_and_reversed);
	tcase_add_test(tc, random_order);
	tcase_add_test(tc, few_wait_for_long);
	tcase_add_test(tc, too_late);
	tcase_add_loop_test(tc, every_record_once, 0, 2);
	tcase_add_test(tc, round_beyond_the_window);
	tcase_add_test(tc, strange_times);
	tcase_add_test(tc, records_without_time);
	tcase_add_test(tc, memory_is_bounded);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
