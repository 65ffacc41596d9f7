/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records in batches (da_reader_batch()): the same records as one by one; where the order of samples is free,
 * the same samples before and behind every other record; and the same batches whenever they are returned.
 *
 * timeout: 300
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "da_perfdata.h"
#include "perfgen.h"

#define NR    40000
#define CPUS  3
#define SPAN  20000
#define ALIGN 5000

static struct da_attr attr = {.type = 4,
			      .sample_type = DA_SAMPLE_IDENTIFIER | DA_SAMPLE_TIME |
					     DA_SAMPLE_ADDR | DA_SAMPLE_CPU,
			      .flags = DA_ATTR_SAMPLE_ID_ALL};

/* Raw bytes that make samples longer, where a test wants that. */
static uint32_t longer;

static uint64_t rng = 88172645463325252u;

static uint64_t next_random(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	return rng ^= rng << 17;
}

/* A sample or another record as it was given. */
struct item {
	uint64_t number; /* of a sample; OTHER + n: the n-th other record */
	uint64_t time;
	size_t batch;
};

#define OTHER (1ull << 32)

struct items {
	struct item *i;
	size_t nr;
};

/* Three CPUs drained in turn, each behind the one before by some time; `every` n samples another record, some
 * of them as old as a sample. */
static char *write_file(bool swap, unsigned every, bool rounds)
{
	struct gen_file f = {.nr_ev = 2, .data = {.swap = swap}};
	uint64_t time[CPUS] = {1, 1, 1}, end = 1, number = 0;
	struct gen out = {0};
	static const uint8_t raw[1024];
	char *path;

	for (unsigned i = 0; i < 2; i++)
		f.ev[i] = (struct gen_event){.attr = attr, .ids = {71 + i}, .nr_ids = 1};
	while (number < NR) {
		end += 1000 + next_random() % 20000;
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			for (; time[cpu] < end + cpu * 700; time[cpu] += next_random() % 16) {
				struct da_samp s = {.id = 71 + (number & 1),
						    .time_ns = time[cpu],
						    .addr = number,
						    .cpu = cpu,
						    .raw = raw,
						    .raw_size = longer};

				number++;
				gen_sample(&f.data, &attr, &s);
				if (every && next_random() % every == 0)
					gen_comm(&f.data, &attr, "other", 1, time[cpu], 71);
			}
		}
		if (rounds)
			gen_round(&f.data);
	}
	gen_features(&f);
	gen_file_build(&f, &out);
	path = gen_write(out.p, out.len);
	gen_free(&out);
	gen_file_free(&f);
	return path;
}

static void add(struct items *to, uint64_t number, uint64_t time, size_t batch)
{
	ck_assert_uint_lt(to->nr, 4 * NR);
	to->i[to->nr++] = (struct item){number, time, batch};
}

static void add_rec(struct items *to, const struct da_rec *rec, uint64_t *others, size_t batch)
{
	struct da_samp s;

	if (rec->type == DA_REC_SAMPLE) {
		da_samp_parse(&attr, rec->bytes, rec->size, rec->swap, &s);
		add(to, s.addr, rec->time_ns, batch);
	} else if (rec->type == DA_REC_COMM) {
		/* its place in the file tells it from the others */
		add(to, OTHER + rec->offset, rec->time_ns, batch);
		(*others)++;
	}
}

static struct items items_new(void)
{
	struct items v = {.i = calloc(4 * NR, sizeof(*v.i))};

	ck_assert_ptr_nonnull(v.i);
	return v;
}

static struct items one_by_one(const char *path)
{
	struct items v = items_new();
	struct da_error err = {0};
	uint64_t others = 0;
	struct da_reader *r;
	struct da_rec rec;

	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	while (da_reader_next(r, &rec, &err) > 0)
		add_rec(&v, &rec, &others, 0);
	ck_assert_int_eq(err.code, 0);
	da_reader_close(r);
	return v;
}

/* Samples in bulk, what they are by their records. */
static void take_batch(const struct da_reader *r, struct da_batch *b, struct items *v, size_t nr)
{
	struct da_batch_size size = da_batch_size(b);
	uint64_t others = 0, samples = 0, bad = 0;
	struct da_sample_at at[100];
	struct da_rec rec;
	size_t n, first = 0;

	for (;;) {
		n = da_batch_samples(r, b, at, 1 + next_random() % 100);
		for (size_t i = 0; i < n; i++) {
			da_sample_rec(r, &at[i], &rec);
			bad += rec.time_ns != at[i].time_ns || rec.event->index != at[i].event ||
			       rec.bytes != at[i].bytes || rec.type != DA_REC_SAMPLE;
			add_rec(v, &rec, &others, nr);
		}
		samples += n;
		if (n)
			continue;
		if (!da_batch_next(r, b, &rec))
			break;
		if (rec.type == DA_REC_COMM)
			add_rec(v, &rec, &others, nr);
		else
			first++;
	}
	ck_assert_uint_eq(bad, 0);
	ck_assert_uint_eq(samples, size.samples);
	ck_assert_uint_eq(others, size.others);
	ck_assert_uint_eq(first, size.first);
}

/* keep: batches that are returned late, in any order. */
static struct items in_batches(const char *path, bool loose, size_t keep)
{
	struct da_batch *kept[DA_BATCHES], *b;
	struct items v = items_new();
	struct da_error err = {0};
	size_t nr_kept = 0, nr = 0;
	struct da_reader *r;

	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	if (loose)
		da_reader_loose(r, SPAN, ALIGN);
	while (da_reader_batch(r, &b, &err) > 0) {
		kept[nr_kept++] = b;
		if (nr_kept <= keep)
			continue;
		/* the first one has not been looked at yet */
		take_batch(r, kept[0], &v, nr++);
		da_reader_return(r, kept[0]);
		memmove(kept, kept + 1, --nr_kept * sizeof(kept[0]));
	}
	for (size_t i = 0; i < nr_kept; i++)
		take_batch(r, kept[i], &v, nr++);
	ck_assert_uint_eq(da_reader_lent(r) != 0, nr_kept != 0);
	while (nr_kept)
		da_reader_return(r, kept[--nr_kept]);
	ck_assert_uint_eq(da_reader_lent(r), 0);
	ck_assert_int_eq(err.code, 0);
	da_reader_close(r);
	return v;
}

static void assert_same(const struct items *a, const struct items *b, bool batches)
{
	ck_assert_uint_eq(a->nr, b->nr);
	for (size_t i = 0; i < a->nr; i++)
		if (a->i[i].number != b->i[i].number || (batches && a->i[i].batch != b->i[i].batch))
			ck_abort_msg("record %zu: %" PRIx64 " of batch %zu, not %" PRIx64
				     " of batch %zu",
				     i, b->i[i].number, b->i[i].batch, a->i[i].number,
				     a->i[i].batch);
}

/* Which of its other records each sample stands behind. */
static uint64_t *segments(const struct items *v)
{
	uint64_t *of = calloc(NR + 100000, sizeof(*of)), segment = 0;

	for (size_t i = 0; i < v->nr; i++) {
		if (v->i[i].number >= OTHER)
			segment = v->i[i].number;
		else
			of[v->i[i].number] = segment + 1; /* 0: not given */
	}
	return of;
}

START_TEST(strict_order)
{
	char *path = write_file(_i & 1, 500, true);
	struct items a = one_by_one(path), b = in_batches(path, false, 0);

	ck_assert_uint_gt(a.nr, NR);
	assert_same(&a, &b, false);
	free(a.i);
	free(b.i);
	gen_unlink(path);
}
END_TEST

/* Each sample stands between the same other records as in order, and comes early by less than was allowed. */
START_TEST(loose_order)
{
	static const unsigned every[] = {0, 20000, 3000, 300, 3};
	char *path = write_file(_i & 1, every[_i / 2], true);
	struct items a = one_by_one(path), b = in_batches(path, true, 0);
	uint64_t *want = segments(&a), *got = segments(&b), latest = 0, back = 0, moved = 0;
	uint64_t unaligned = 0;

	ck_assert_uint_eq(a.nr, b.nr);
	for (size_t i = 0; i < NR; i++)
		if (want[i] != got[i] || !got[i])
			ck_abort_msg("sample %zu is behind record %" PRIx64 ", not %" PRIx64, i,
				     got[i], want[i]);
	for (size_t i = 0; i < b.nr; i++) {
		if (latest > b.i[i].time && latest - b.i[i].time > back)
			back = latest - b.i[i].time;
		if (i && b.i[i].batch != b.i[i - 1].batch)
			unaligned += latest / ALIGN >= b.i[i].time / ALIGN;
		latest = b.i[i].time > latest ? b.i[i].time : latest;
		moved += b.i[i].number != a.i[i].number;
	}
	ck_assert_uint_le(back, SPAN);
	ck_assert_uint_eq(unaligned, 0);
	/* with hardly any other record that is worth the while, with many it is not */
	ck_assert(_i / 2 < 2 ? moved > NR / 2 : _i / 2 < 4 || !moved);
	free(want);
	free(got);
	free(a.i);
	free(b.i);
	gen_unlink(path);
}
END_TEST

/* What a batch holds does not depend on when others are returned; nor where the window is
 * always full. */
START_TEST(returned_late)
{
	struct items a;
	char *path;

	if (_i >= 2) {
		longer = 1004;
		attr.sample_type |= DA_SAMPLE_RAW;
	}
	path = write_file(false, _i & 1 ? 1000 : 0, _i < 2);
	a = in_batches(path, true, 0);
	for (size_t keep = 1; keep < 8; keep += 3) {
		struct items b = in_batches(path, true, keep);

		ck_assert_uint_gt(a.i[a.nr - 1].batch, 1);
		assert_same(&a, &b, true);
		free(b.i);
	}
	free(a.i);
	gen_unlink(path);
}
END_TEST

START_TEST(too_many_taken)
{
	char *path = write_file(false, 0, true);
	struct da_batch *b[DA_BATCHES] = {NULL};
	struct da_error err = {0};
	struct da_reader *r;
	size_t nr = 0;
	int ret;

	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	while (nr < DA_BATCHES && (ret = da_reader_batch(r, &b[nr], &err)) > 0)
		nr++;
	ck_assert_int_ge(ret, 0);
	ck_assert_uint_gt(nr, 1);
	/* closing does not ask for them */
	da_reader_close(r);
	gen_unlink(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfdata_batch");
	TCase *tc = tcase_create("batch");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, strict_order, 0, 2);
	tcase_add_loop_test(tc, loose_order, 0, 10);
	tcase_add_loop_test(tc, returned_late, 0, 4);
	tcase_add_test(tc, too_many_taken);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
