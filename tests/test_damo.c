/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of damo: every form read, in pieces of any size and cut anywhere; what is required and what may be
 * missing; what we write is read again, the same. Fixtures: tests/live/damo.sh.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "da_damo.h"
#include "folder.h"
#include "zlib_stream.h"

#define SEC 1000000000ull

static struct da_damo_info info;

static struct da_damon *read_pieces(enum da_damo_kind kind, const void *bytes, size_t len,
				    size_t piece)
{
	struct da_damon *to = da_damon_new();
	struct da_damo *d = da_damo_new(kind, to);
	const uint8_t *p = bytes;

	ck_assert_ptr_nonnull(d);
	for (size_t i = 0; i < len; i += piece) {
		size_t n = len - i < piece ? len - i : piece;
		uint8_t *copy = malloc(n); /* of exact size: nothing behind it may be read */

		memcpy(copy, p + i, n);
		ck_assert_int_eq(da_damo_feed(d, copy, n), 0);
		free(copy);
	}
	ck_assert_int_eq(da_damo_end(d, &info), 0);
	da_damo_free(d);
	da_damon_finish(to);
	return to;
}

/* The same for any size of piece; the last one is given back. */
static struct da_damon *read_all(const void *bytes, size_t len)
{
	static const size_t piece[] = {1, 7, 4096, SIZE_MAX / 2};
	enum da_damo_kind kind = da_damo_detect(bytes, len < DA_DAMO_HEAD ? len : DA_DAMO_HEAD);
	struct da_damon *d = NULL;
	uint64_t snapshots = 0, damaged = 0;

	ck_assert_uint_ne(kind, DA_DAMO_NONE);
	for (size_t i = 0; i < 4; i++) {
		da_damon_free(d);
		d = read_pieces(kind, bytes, len, piece[i]);
		if (i) {
			ck_assert_uint_eq(info.snapshots, snapshots);
			ck_assert_uint_eq(info.damaged, damaged);
		}
		snapshots = info.snapshots;
		damaged = info.damaged;
	}
	return d;
}

static struct da_damon *read_text(const char *text)
{
	return read_all(text, strlen(text));
}

static uint8_t *pack(const char *text, size_t *len)
{
	struct deflater *z = deflater_new();
	const uint8_t *in = (const uint8_t *)text;
	size_t left = strlen(text), room = left + 1000;
	uint8_t *out = malloc(room);
	long n;

	*len = 0;
	while ((n = deflater_step(z, &in, &left, 1, out + *len, room - *len)) > 0)
		*len += (size_t)n;
	deflater_free(z);
	return out;
}

/* ---- JSON ---- */

#define REGION(s, e, n, a)                                                                         \
	"{\"start\": \"" s "\", \"end\": \"" e "\", \"nr_accesses\": {\"samples\": " n             \
	", \"percent\": null}, \"age\": {\"usec\": null, \"aggr_intervals\": " a "}}"

static const char json[] =
	" [\n {\"kdamond_idx\": 3, \"context_idx\": 0, \"intervals\": {\"sample_us\": \"5,000\", "
	"\"aggr_us\": 100000}, \"scheme_filters\": [{\"a\": [{}]}], \"target_id\": 7, "
	"\"snapshots\": [{\"start_time\": \"0\", \"end_time\": \"1,000\", \"regions\": [" REGION("4,096", "8,192", "2", "\"5\"") ", " REGION("8,192", "1,048,576", "0", "null") "], \"total_bytes\": null}, {\"start_time\": \"1000\", \"end_time\": \"2000\", \"regions\": [" REGION(
		"4096", "12,288", "20",
		"\"6\"") "]}]},\n"
			 "{\"snapshots\": [{\"start_time\": 5, \"end_time\": 6, \"regions\": [" REGION(
				 "0", "4096", "null",
				 "null") "]}], \"target_id\": 18446623438842320000}]\n";

static void check_json(const struct da_damon *d)
{
	const struct da_damon_target *t = da_damon_target(d, 0);

	ck_assert_uint_eq(info.records, 2);
	ck_assert_uint_eq(info.snapshots, 3);
	ck_assert_uint_eq(info.damaged, 0);
	ck_assert(info.has_intervals);
	ck_assert_uint_eq(info.sample_us, 5000);
	ck_assert_uint_eq(info.aggr_us, 100000);
	ck_assert_uint_eq(da_damon_nr_targets(d), 2);
	/* a record that does not name its kdamond: 0; the members may come behind the snapshots */
	ck_assert_uint_eq(t->kdamond, 0);
	ck_assert_uint_eq(t->target_id, 18446623438842320000ull);
	ck_assert(!t->has_age);
	t = da_damon_target(d, 1);
	ck_assert_uint_eq(t->kdamond, 3);
	ck_assert_uint_eq(t->target_id, 7);
	ck_assert_uint_eq(t->snapshots, 2);
	ck_assert(t->has_age);
	ck_assert_uint_eq(t->first_ns, 1000);
	ck_assert_uint_eq(t->last_ns, 2000);
	ck_assert_uint_eq(t->nr_regions, 1);
	ck_assert_uint_eq(t->regions[0].start, 4096);
	ck_assert_uint_eq(t->regions[0].end, 12288);
	ck_assert_uint_eq(t->regions[0].nr_accesses, 20);
	ck_assert_uint_eq(t->regions[0].age, 6);
	/* 4 KiB, then 8 KiB were accessed */
	ck_assert_uint_eq(t->nr_wss, 2);
	ck_assert_uint_eq(t->wss[0], 4096);
	ck_assert_uint_eq(t->wss[1], 8192);
	ck_assert_uint_eq(t->wss_sum, 12288);
}

START_TEST(json_plain_and_packed)
{
	struct da_damon *d = read_text(json);
	uint8_t *zip;
	size_t len;

	ck_assert_uint_eq(info.kind, DA_DAMO_JSON);
	check_json(d);
	da_damon_free(d);
	zip = pack(json, &len);
	d = read_all(zip, len);
	ck_assert_uint_eq(info.kind, DA_DAMO_ZIP);
	check_json(d);
	da_damon_free(d);
	free(zip);
}
END_TEST

/* Cut anywhere: nothing is made up, and what was whole stays. */
START_TEST(cut_short)
{
	size_t len, zip_len;
	uint8_t *zip = pack(json, &zip_len);

	for (len = 60; len < strlen(json) - 2; len++) {
		struct da_damon *d = read_pieces(DA_DAMO_JSON, json, len, 4096);

		ck_assert_uint_ge(info.damaged, 1);
		ck_assert_uint_le(info.snapshots, 3);
		da_damon_free(d);
	}
	for (len = 2; len < zip_len; len++) {
		struct da_damon *d = read_pieces(DA_DAMO_ZIP, zip, len, 4096);

		ck_assert_uint_ge(info.damaged, 1);
		da_damon_free(d);
	}
	free(zip);
}
END_TEST

START_TEST(damaged_json)
{
	static const struct {
		const char *text;
		uint64_t snapshots, damaged;
	} rows[] = {
		{"[]", 0, 0},
		{"[{\"snapshots\": []}]", 0, 0},
		{"[{\"snapshots\": null}]", 0, 0},
		{"[[1]]", 0, 1},
		/* no end_time; a region without an end; a number that is none; one that is too large */
		{"[{\"snapshots\": [{\"regions\": [" REGION("0", "1", "1", "null") "]}]}]", 0, 1},
		{"[{\"snapshots\": [{\"end_time\": 1, \"regions\": [{\"start\": 1}]}]}]", 0, 1},
		{"[{\"snapshots\": [{\"end_time\": 1, \"regions\": [" REGION("0", "1 MiB", "1",
									     "null") "]}]}]",
		 0, 1},
		{"[{\"snapshots\": [{\"end_time\": 1, \"regions\": [" REGION(
			 "0", "99999999999999999999", "1", "null") "]}]}]",
		 0, 1},
		/* not in order; damo's own trailer; a good one beside them */
		{"[{\"snapshots\": [{\"end_time\": 1, \"regions\": [" REGION(
			 "8", "9", "1", "null") "," REGION("1", "3", "1", "null") "]}]}]",
		 0, 1},
		{"[{\"snapshots\": [{\"end_time\": 1, \"regions\": [" REGION(
			 "1", "2", "1",
			 "null") "]}, {\"end_time\": 2, \"regions\": [" REGION("0", "0", "-1",
									       "\"-1\"") "]}]}]",
		 1, 0},
		{"[{\"a\": {\"b\": {\"c\": {\"d\": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 0, 1},
		{"[{\"snapshots\": [{\"end_time\": tru, \"regions\": []}]}]", 0, 1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct da_damon *d = read_text(rows[i].text);

		ck_assert_msg(info.snapshots == rows[i].snapshots &&
				      info.damaged == rows[i].damaged,
			      "row %zu: %" PRIu64 " snapshots, %" PRIu64 " damaged", i,
			      info.snapshots, info.damaged);
		da_damon_free(d);
	}
}
END_TEST

/* ---- binary ---- */

struct bytes {
	uint8_t b[4096];
	size_t len;
};

static void put(struct bytes *b, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		b->b[b->len++] = (uint8_t)(v >> 8 * i);
}

static void snapshot(struct bytes *b, uint64_t ns, uint64_t id, size_t id_size, uint32_t regions)
{
	put(b, ns / SEC, 8);
	put(b, ns % SEC, 8);
	put(b, 1, 4);
	put(b, id, id_size);
	put(b, regions, 4);
	for (uint32_t i = 0; i < regions; i++) {
		put(b, 0x100000 + i * 0x2000, 8);
		put(b, 0x101000 + i * 0x2000, 8);
		put(b, i, 4);
	}
}

START_TEST(binary)
{
	for (uint64_t version = 0; version <= 2; version++) {
		struct bytes b = {.len = 0};
		struct da_damon *d;
		const struct da_damon_target *t;

		if (version) {
			memcpy(b.b, "damon_recfmt_ver", 16);
			b.len = 16;
			put(&b, version, 4);
		}
		snapshot(&b, 5 * SEC + 7, 99, version == 1 ? 4 : 8, 3);
		snapshot(&b, 6 * SEC, 99, version == 1 ? 4 : 8, 2);
		snapshot(&b, 6 * SEC + 1, 98, version == 1 ? 4 : 8, 1);
		d = read_all(b.b, b.len);
		ck_assert_uint_eq(info.kind, version ? DA_DAMO_BINARY : DA_DAMO_BINARY0);
		ck_assert_uint_eq(info.snapshots, 3);
		ck_assert_uint_eq(info.damaged, 0);
		t = da_damon_target(d, 1);
		ck_assert_uint_eq(t->target_id, 99);
		ck_assert_uint_eq(t->first_ns, 5 * SEC + 7);
		ck_assert_uint_eq(t->nr_regions, 2);
		ck_assert_uint_eq(t->regions[1].nr_accesses, 1);
		da_damon_free(d);
		/* a cut costs the last one */
		d = read_all(b.b, b.len - 1);
		ck_assert_uint_eq(info.snapshots, 2);
		ck_assert_uint_eq(info.damaged, 1);
		da_damon_free(d);
		/* a number of regions that cannot be */
		put(&b, 7, 8);
		put(&b, 7, 8);
		put(&b, 1, 4);
		put(&b, 7, version == 1 ? 4 : 8);
		put(&b, UINT32_MAX, 4);
		d = read_all(b.b, b.len);
		ck_assert_uint_eq(info.snapshots, 3);
		ck_assert_uint_eq(info.damaged, 1);
		da_damon_free(d);
	}
}
END_TEST

START_TEST(perf_text)
{
	static const char text[] =
		"# a comment\n"
		"       kdamond.0  4452 [000] 82820.952659: damon:damon_aggregated: target_id=5 nr_regions=2 "
		"4096-8192: 0\n"
		"       kdamond.0  4452 [001] 82820.952663:       damon:damon_aggregated: target_id=5 "
		"nr_regions=2 8192-12288: 3\n"
		" [kernel thread] 12 [000] 5.5: damon:damon_aggregated: target_id=0 nr_regions=1 "
		"140731667070976-140731668037632: 20 77\n"
		"       kdamond.0  4452 [000] 1.0: damon:damon_aggregated: target_id=x\n"
		"       kdamond.0  4452 [000] 1.0: damon:damon_aggregated: target_id=5 nr_regions=2 9-8: 1";
	struct da_damon *d = read_text(text);
	const struct da_damon_target *t = da_damon_target(d, 1);

	ck_assert_uint_eq(info.kind, DA_DAMO_TEXT);
	ck_assert_uint_eq(info.snapshots, 2);
	ck_assert_uint_eq(info.damaged, 2);
	ck_assert_uint_eq(t->kdamond, 4452);
	ck_assert_uint_eq(t->target_id, 5);
	ck_assert_uint_eq(t->last_ns, 82820952663000ull);
	ck_assert_uint_eq(t->nr_regions, 2);
	ck_assert_uint_eq(t->regions[1].nr_accesses, 3);
	ck_assert(!t->has_age);
	t = da_damon_target(d, 0);
	ck_assert(t->has_age);
	ck_assert_uint_eq(t->regions[0].age, 77);
	ck_assert_uint_eq(t->last_ns, 5 * SEC + SEC / 2);
	da_damon_free(d);
}
END_TEST

/* ---- what is none ---- */

START_TEST(other_files)
{
	static const char *const none[] = {"",         "PERFILE2", "{}", "hello\nworld\n",
					   "\x78\x9c", "x[1]"};
	uint8_t zip[64];
	size_t len;
	uint8_t *z = pack("{\"a\": 1}", &len);

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		ck_assert_uint_eq(da_damo_detect((const uint8_t *)none[i], strlen(none[i])),
				  DA_DAMO_NONE);
	ck_assert_uint_eq(da_damo_detect(z, len), DA_DAMO_NONE);
	memset(zip, 0xff, sizeof(zip));
	ck_assert_uint_eq(da_damo_detect(zip, sizeof(zip)), DA_DAMO_NONE);
	free(z);
}
END_TEST

/* ---- writing ---- */

START_TEST(written_and_read)
{
	struct da_damo_out *o = da_damo_out_new(5000, 100000, 1000000);
	char name[256];
	int fd = test_file(name, sizeof(name));
	FILE *f = fdopen(fd, "w");
	struct da_damon *d = NULL;
	struct da_error err = {0};
	const struct da_damon_target *t;

	ck_assert_ptr_nonnull(o);
	ck_assert_ptr_nonnull(f);
	for (uint32_t i = 0; i < 500; i++) {
		struct da_damon_region r[2] = {
			{0x7f0000000000, 0x7f0000000000 + 4096 * (i + 1), i % 21, i},
			{0x7fffffff0000, 0xfffffffffffff000, 0, UINT32_MAX}};

		da_damo_out_snapshot(o, i % 3, i * 10, i * 10 + 10, r, 2);
	}
	ck_assert_int_eq(da_damo_out_end(o, f), 0);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(da_damo_read(name, &d, &info, &err), 0);
	unlink(name);
	ck_assert_uint_eq(info.kind, DA_DAMO_ZIP);
	ck_assert_uint_eq(info.records, 3);
	ck_assert_uint_eq(info.snapshots, 500);
	ck_assert_uint_eq(info.damaged, 0);
	ck_assert_uint_eq(info.sample_us, 5000);
	ck_assert_uint_eq(da_damon_nr_targets(d), 3);
	t = da_damon_target(d, 499 % 3);
	ck_assert_uint_eq(t->last_ns, 5000);
	ck_assert_uint_eq(t->nr_regions, 2);
	ck_assert_uint_eq(t->regions[0].end, 0x7f0000000000 + 4096 * 500);
	ck_assert_uint_eq(t->regions[0].nr_accesses, 499 % 21);
	ck_assert_uint_eq(t->regions[0].age, 499);
	ck_assert_uint_eq(t->regions[1].end, 0xfffffffffffff000);
	ck_assert_uint_eq(t->regions[1].age, UINT32_MAX);
	da_damon_free(d);
	da_damo_out_free(NULL);
	da_damo_out_free(da_damo_out_new(0, 0, 0));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("damo");
	TCase *t = tcase_create("damo");
	SRunner *r;
	int failed;

	tcase_add_test(t, json_plain_and_packed);
	tcase_add_test(t, cut_short);
	tcase_add_test(t, damaged_json);
	tcase_add_test(t, binary);
	tcase_add_test(t, perf_text);
	tcase_add_test(t, other_files);
	tcase_add_test(t, written_and_read);
	tcase_set_timeout(t, 240);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
