/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arm SPE as a stream: what comes out must not depend on where windows end, and damage must cost what it touches
 * and little more. test_spe_layout.c holds the walk against cached layouts.
 *
 * timeout: 600
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>

#include "spe_stream.h"

static const struct da_decoder *spe;

static void setup(void)
{
	spe = da_decoder_find("spe");
	ck_assert_ptr_nonnull(spe);
}

/* ---- windows ---- */

static size_t next_of_list(void *ctx, size_t left)
{
	size_t **at = ctx;
	size_t n = *(*at)++;

	return n < left ? n : left;
}

static size_t by_one(void *ctx, size_t left)
{
	(void)ctx;
	(void)left;
	return 1;
}

/* Records of every kind, whole, cut, damaged, with padding in all places. */
/* clang-format off */
static const uint8_t mixed[] = {
	0, 0, 0, PC, ST, VA, END, PC, LD, VA, TS, 0, PC, 0, ST, 0, 0, VA, 0, END, 0, 0,
	PC, ST, 0x23, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, VA, END, 0x22, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff,
	PC, ST, 0xff, VA, END, PC, LD, VA, TS, PC, 0x4a, 0x01, 0x42, 0x16, END,
	PC, 0x65, 0xd2, 0x04, 0, 0, LD, VA, 0x52, 0x16, 0, 0x98, 0x2a, 0, 0x99, 0x0c, 0, 0x9a, 3, 0, 0x43, 8, TS,
	PC, ST, 0x20, VA, END, PC, ST, 0x20, 0x55, VA, 0xfe, END, END, TS, PC, LD, VA, TS,
	PC, 0x4b, 0x00, VA, END, PC, 0x4b, 0x00, END, 0x49, 0x06, VA, END,
	0xf0, 0xf1, PC, 0x21, 0x00, 0xff, 0xff, END, PC, LD, VA, TS, PC, LD, VA, 0x71, 0x10,
};
/* clang-format on */

START_TEST(every_cut)
{
	for (unsigned offset = 0; offset < 16; offset++) {
		struct run whole = {.batch = true};
		struct decode_result want, got;

		decode(mixed, sizeof(mixed), offset, &whole, &want);
		ck_assert_uint_ge(want.stats.records, 10);
		ck_assert_uint_ge(want.stats.damaged_records, 2);
		for (size_t a = 1; a < sizeof(mixed); a++) {
			size_t cuts[] = {a, (size_t)-1}, *list = cuts;
			struct run two = {.cut = next_of_list, .ctx = &list};

			decode(mixed, sizeof(mixed), offset, &two, &got);
			ck_assert_msg(decode_equal(&want, &got), "offset %u, cut at %zu", offset,
				      a);
			decode_release(&got);
		}
		decode_release(&want);
	}
}
END_TEST

START_TEST(two_cuts_and_single_bytes)
{
	struct run whole = {.batch = false}, bytes = {.cut = by_one};
	struct decode_result want, got;

	decode(mixed, sizeof(mixed), 5, &whole, &want);
	decode(mixed, sizeof(mixed), 5, &bytes, &got);
	ck_assert(decode_equal(&want, &got));
	decode_release(&got);
	for (size_t a = 1; a < sizeof(mixed); a += 3) {
		for (size_t b = 1; a + b < sizeof(mixed); b += 2) {
			size_t cuts[] = {a, b, (size_t)-1}, *list = cuts;
			struct run three = {.cut = next_of_list, .ctx = &list};

			decode(mixed, sizeof(mixed), 5, &three, &got);
			ck_assert_msg(decode_equal(&want, &got), "cuts at %zu and %zu", a, a + b);
			decode_release(&got);
		}
	}
	decode_release(&want);
}
END_TEST

/* The address of the buffer must not matter: alignment is by stream position. */
START_TEST(any_buffer)
{
	uint8_t *b = decode_must(malloc(sizeof(mixed) + 32));
	struct run whole = {.batch = true};
	struct da_spe_state *st = decode_must(calloc(1, sizeof(*st)));
	struct decode_result want, got = {0};
	struct da_sink sink = decode_sink(&got, true);

	decode(mixed, sizeof(mixed), 3, &whole, &want);
	for (size_t shift = 0; shift < 32; shift++) {
		struct da_input in = {.bytes = b + shift,
				      .len = sizeof(mixed),
				      .offset = 3,
				      .midr = N1,
				      .last = true};

		memcpy(b + shift, mixed, sizeof(mixed));
		memset(st, 0, sizeof(*st));
		da_spe_decode(st, &in, &sink, &got.stats);
		ck_assert(decode_equal(&want, &got));
		decode_release(&got);
	}
	decode_release(&want);
	free(st);
	free(b);
}
END_TEST

/* What is skipped: from the bad byte up to and including the terminator. */
START_TEST(bytes_skipped)
{
	static const uint8_t bytes[] = {PC, ST, 0xff, VA, 0xfe, END, PC, LD, VA, TS, PC, 0xf0, LD};
	struct run whole = {.batch = true};
	struct decode_result res;

	decode(bytes, sizeof(bytes), 0, &whole, &res);
	ck_assert(res.nr == 1 && res.stats.damaged_records == 2 && res.stats.bad_bytes == 3);
	ck_assert_uint_eq(res.stats.resync_bytes, 1 + 9 + 1 + 1 + 1 + 2);
	ck_assert_uint_eq(res.stats.truncated_records, 0);
	decode_release(&res);
}
END_TEST

/* A record however long is decoded, and the caller never has to keep more than a few KiB of it. */
START_TEST(long_record)
{
	static const uint8_t head[] = {PC, ST}, tail[] = {VA, END, PC, LD, VA, TS};
	size_t pads = 100000, len = sizeof(head) + pads + sizeof(tail), worst = 0;
	uint8_t *b = decode_must(calloc(1, len));
	struct da_spe_state *st = decode_must(calloc(1, sizeof(*st)));
	struct decode_result want, got = {0};
	struct da_sink sink = decode_sink(&got, true);
	struct run whole = {.batch = true};

	memcpy(b, head, sizeof(head));
	memcpy(b + len - sizeof(tail), tail, sizeof(tail));
	decode(b, len, 0, &whole, &want);
	ck_assert_uint_eq(want.nr, 2);
	ck_assert_uint_eq(want.reports[0].ip, 0x401000);
	for (size_t at = 0, shown = 0; shown < len;) {
		struct da_input in = {.bytes = b + at, .offset = at, .midr = N1};

		shown = len - shown < 777 ? len : shown + 777;
		in.len = shown - at;
		in.last = shown == len;
		at += da_spe_decode(st, &in, &sink, &got.stats);
		worst = shown - at > worst ? shown - at : worst;
	}
	ck_assert(decode_equal(&want, &got));
	ck_assert_uint_le(worst, 2048 + 777);
	decode_release(&got);
	/* and if its end never comes it is one truncated record */
	feed(st, b, len / 2, 0, false, false, &got);
	ck_assert(st->rec.open);
	feed(st, NULL, 0, len / 2, false, true, &got);
	ck_assert(got.nr == 0 && got.stats.truncated_records == 1 && spe->idle(st));
	decode_release(&want);
	decode_release(&got);
	free(st);
	free(b);
}
END_TEST

START_TEST(gaps)
{
	static const uint8_t open[] = {PC, ST, VA}, rest[] = {VA, END}, whole[] = {PC, LD, VA, TS};
	static const uint8_t bad[] = {PC, 0xff};
	struct da_spe_state *st = decode_must(calloc(1, sizeof(*st)));
	struct decode_result res = {0};

	/* the open record went with the gap; what comes is a new one */
	feed(st, open, sizeof(open), 0, false, false, &res);
	ck_assert(!spe->idle(st));
	feed(st, whole, sizeof(whole), 4096, true, false, &res);
	ck_assert(spe->idle(st));
	ck_assert(res.nr == 1 && res.stats.truncated_records == 1 && res.stats.records == 1);
	/* nothing was open: nothing is lost */
	feed(st, whole, sizeof(whole), 8192, true, false, &res);
	ck_assert(res.nr == 2 && res.stats.truncated_records == 1);
	/* damage ends at a gap too */
	feed(st, bad, sizeof(bad), 0, false, false, &res);
	ck_assert(res.stats.damaged_records == 1 && st->resync && !spe->idle(st));
	feed(st, whole, sizeof(whole), 100, true, false, &res);
	ck_assert(res.nr == 3 && res.stats.damaged_records == 1);
	/* but without one the next record goes with it */
	feed(st, bad, sizeof(bad), 0, false, false, &res);
	feed(st, rest, sizeof(rest), sizeof(bad), false, false, &res);
	ck_assert(res.nr == 3 && res.stats.damaged_records == 2 && !st->resync);
	ck_assert(spe->idle(st));
	/* an empty window changes nothing */
	feed(st, open, sizeof(open), 0, false, false, &res);
	feed(st, NULL, 0, 0, false, false, &res);
	feed(st, NULL, 0, 0, false, true, &res);
	ck_assert(res.stats.truncated_records == 2);
	feed(st, NULL, 0, 0, true, true, &res);
	ck_assert(res.stats.truncated_records == 2);
	ck_assert(decode_balanced(&res));
	decode_release(&res);
	free(st);
}
END_TEST

/* ---- damage ---- */

struct span {
	size_t start, end;
	bool hit; /* a byte of it was overwritten */
};

/* The records of a stream as the decoder takes them, with their positions. */
static size_t spans_of(const uint8_t *b, size_t n, struct span *out, size_t room,
		       uint64_t *bad_records)
{
	size_t at = 0, nr = 0, start, end;

	while (at < n) {
		struct da_spe_record r = {0};
		enum da_spe_walk w = da_spe_walk(b + at, n - at, at, &r, &start, &end);

		if (w == DA_SPE_WALK_RECORD) {
			must(nr < room, "more records than bytes allow");
			out[nr++] = (struct span){at + start, at + end, false};
			at += end;
			continue;
		}
		if (w != DA_SPE_WALK_BAD)
			break;
		(*bad_records)++;
		at += end;
		for (bool found = false; at < n && !found;) {
			struct da_spe_packet k;

			da_spe_packet(b + at, n - at, at, &k);
			if (k.kind == DA_SPE_NEED_MORE)
				return nr;
			found = da_spe_ends_record(k.kind);
			at += k.len;
		}
	}
	return nr;
}

#define DAMAGED ((size_t)64 << 20)
#define HITS    600

static int by_value(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * 600 bytes of 64 MiB overwritten. A record that the decoder gives either is one of the undamaged stream, or
 * overlaps one with an overwritten byte. Of the records without one, few are lost, and none behind the
 * second terminator after the damage.
 */
START_TEST(overwritten_bytes)
{
	static const enum gen_spe_mix mixes[] = {GEN_SPE_NEOVERSE, GEN_SPE_COMPACT, GEN_SPE_MANY};
	struct gen_spe g = gen_spe_new(42 + (uint64_t)_i, mixes[_i % 3]),
		       rnd = gen_spe_new(7 + (uint64_t)_i, GEN_SPE_ONE);
	uint8_t *b = decode_must(malloc(DAMAGED));
	size_t records = gen_spe_fill(&g, b, DAMAGED), room = records + 4 * HITS, nr_true, nr_got;
	struct span *truth = decode_must(calloc(room, sizeof(*truth))),
		    *got = decode_must(calloc(room, sizeof(*got)));
	size_t hits[HITS], strays = 0, lost = 0, lost_far = 0, most = 0, hit_records = 0,
			   reported = 0, wrong = 0;
	uint64_t bad_records = 0;
	struct decode_result res;
	struct run fast = {.batch = true};

	nr_true = spans_of(b, DAMAGED, truth, room, &bad_records);
	ck_assert_uint_eq(nr_true, records);
	ck_assert_uint_eq(bad_records, 0);
	for (int i = 0; i < HITS; i++) {
		hits[i] = gen_spe_random(&rnd) % (truth[nr_true - 1].end);
		b[hits[i]] ^= (uint8_t)(1 + gen_spe_random(&rnd) % 255);
	}
	qsort(hits, HITS, sizeof(hits[0]), by_value);
	for (size_t i = 0, h = 0; i < nr_true; i++) {
		while (h < HITS && hits[h] < truth[i].start) /* in the padding before it */
			h++;
		for (; h < HITS && hits[h] < truth[i].end; h++)
			truth[i].hit = true;
		hit_records += truth[i].hit;
	}
	nr_got = spans_of(b, DAMAGED, got, room, &bad_records);

	/* every record that is not one of the true ones overlaps a damaged one */
	for (size_t i = 0, k = 0; i < nr_got; i++) {
		bool overlaps = false;

		while (k < nr_true && truth[k].end <= got[i].start)
			k++;
		if (k < nr_true && truth[k].start == got[i].start && truth[k].end == got[i].end) {
			wrong += truth[k].hit;
			continue;
		}
		strays++;
		for (size_t j = k; j < nr_true && truth[j].start < got[i].end; j++)
			overlaps |= truth[j].hit;
		for (int h = 0; h < HITS && !overlaps;
		     h++) /* or begins in padding that was overwritten */
			overlaps = hits[h] >= got[i].start && hits[h] < got[i].end;
		ck_assert_msg(overlaps, "record at %zx..%zx is not of the stream", got[i].start,
			      got[i].end);
	}
	/* undamaged records that are not given */
	for (size_t i = 0, k = 0, h = 0, since = 0; i < nr_true; i++) {
		while (h < HITS && hits[h] < truth[i].end) {
			h++;
			since = 0;
		}
		while (k < nr_got && got[k].start < truth[i].start)
			k++;
		if (truth[i].hit ||
		    (k < nr_got && got[k].start == truth[i].start && got[k].end == truth[i].end))
			continue;
		lost++;
		since++;
		most = since > most ? since : most;
		/* terminators between the damage and this record: those of the records between, and that of the
		 * damaged record if it stands behind the overwritten byte */
		lost_far += h && i >= 2 && truth[i - 2].end - 1 > hits[h - 1];
	}
	decode(b, DAMAGED, 0, &fast, &res);
	for (size_t i = 0; i < DA_DROP_NR; i++)
		reported += res.drops[i];
	printf("%d bytes of %zu MiB overwritten, %zu records: %zu records hit (%zu of them given), %zu given that the "
	       "stream has not, %" PRIu64
	       " counted as damaged, %zu undamaged lost (at most %zu in a row, %zu behind the "
	       "second terminator), %" PRIu64 " bad bytes, %" PRIu64 " bytes skipped\n",
	       HITS, DAMAGED >> 20, records, hit_records, wrong, strays, res.stats.damaged_records,
	       lost, most, lost_far, res.stats.bad_bytes, res.stats.resync_bytes);
	ck_assert_uint_eq(res.stats.records, nr_got);
	ck_assert_uint_eq(res.stats.damaged_records, bad_records);
	ck_assert_uint_eq(res.nr + reported, res.calls);
	ck_assert_uint_gt(res.stats.damaged_records, 0);
	ck_assert_uint_gt(res.stats.bad_bytes, 0);
	ck_assert_uint_le(lost, 2 * HITS);
	ck_assert_uint_le(most, 2);
	ck_assert_uint_eq(lost_far, 0);
	decode_release(&res);
	free(got);
	free(truth);
	free(b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("spe_stream");
	TCase *t = tcase_create("windows");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, every_cut);
	tcase_add_test(t, two_cuts_and_single_bytes);
	tcase_add_test(t, any_buffer);
	tcase_add_test(t, bytes_skipped);
	tcase_add_test(t, long_record);
	tcase_add_test(t, gaps);
	suite_add_tcase(s, t);
	t = tcase_create("damage");
	tcase_add_checked_fixture(t, setup, NULL);
	tcase_set_timeout(t, 300);
	tcase_add_loop_test(t, overwritten_bytes, 0, 3);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
