/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compressed recordings: what libzstd packs here, as perf does, the reader must unfold; and damage to it.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "da_perfdata.h"
#include "perfgen.h"
#include "transcript.h"

static const struct da_attr attr = {.type = 4,
				    .config = 0x1cd,
				    .sample_type = DA_SAMPLE_IP | DA_SAMPLE_TID | DA_SAMPLE_TIME |
						   DA_SAMPLE_ADDR | DA_SAMPLE_RAW,
				    .flags = DA_ATTR_SAMPLE_ID_ALL};

static uint8_t noise[4096];

/* Plain records, some of them long, in order of time. */
static void records(struct gen *g, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		struct da_samp s = {.ip = 0x400000 + i,
				    .pid = 1,
				    .tid = 2,
				    .time_ns = 1000 + i,
				    .addr = i * 64,
				    .raw = noise + i % 97,
				    .raw_size = (uint32_t)(i % 50 == 0 ? 3000 : i % 40)};

		s.raw_size = (s.raw_size + 3) / 8 * 8 + 4;
		gen_sample(g, &attr, &s);
		if (i % 100 == 0)
			gen_comm(g, &attr, "zipped", 1, 1000 + i, 0);
	}
}

/* One recorder's stream. */
struct zip {
	ZSTD_CCtx *c;
	bool v2;         /* COMPRESSED2 */
	bool wrap;       /* its header.size is wrong where it does not fit */
	size_t last_rec; /* offset of the last record in the data */
};

static void zip_begin(struct zip *z, int level)
{
	z->c = ZSTD_createCCtx();
	ck_assert_ptr_nonnull(z->c);
	ZSTD_CCtx_setParameter(z->c, ZSTD_c_compressionLevel, level);
}

/* Appends a record whose payload is n plain bytes, flushed but not ended. */
static void zip_put(struct zip *z, struct gen *g, const uint8_t *plain, size_t n,
		    ZSTD_EndDirective end)
{
	size_t cap = ZSTD_compressBound(n) + 1024;
	ZSTD_inBuffer in = {plain, n, 0};
	ZSTD_outBuffer out = {malloc(cap), cap, 0};

	ck_assert_uint_eq(ZSTD_compressStream2(z->c, &out, &in, end), 0);
	ck_assert_uint_eq(in.pos, n);
	z->last_rec = gen_rec(g, z->v2 ? DA_REC_COMPRESSED2 : DA_REC_COMPRESSED, 0);
	if (z->v2)
		gen_u64(g, out.pos);
	gen_bytes(g, out.dst, out.pos);
	if (z->v2)
		gen_fill(g, 0, -(16 + out.pos) % 8);
	ck_assert(z->wrap || g->len - z->last_rec <= UINT16_MAX);
	gen_end(g, z->last_rec);
	free(out.dst);
}

/* The plain bytes in payloads of so many bytes, wherever records begin. */
static void zip_all(struct zip *z, struct gen *g, const struct gen *plain, size_t piece)
{
	for (size_t at = 0; at < plain->len; at += piece) {
		size_t n = plain->len - at < piece ? plain->len - at : piece;

		zip_put(z, g, plain->p + at, n, ZSTD_e_flush);
		if (at / piece % 5 == 4)
			gen_round(g);
	}
}

static void new_file(struct gen_file *f, bool swap, uint32_t mmap_len)
{
	memset(f, 0, sizeof(*f));
	f->data.swap = swap;
	f->nr_ev = 1;
	f->ev[0].attr = attr;
	gen_features(f);
	if (!mmap_len)
		return;
	gen_u32(&f->feature[27], 1);
	gen_u32(&f->feature[27], 1);
	gen_u32(&f->feature[27], 3);
	gen_u32(&f->feature[27], 5);
	gen_u32(&f->feature[27], mmap_len);
}

static void open_file(const struct gen_file *f, bool piped, struct da_reader **r)
{
	struct da_error err = {0};
	struct gen out = {0};
	char *path;

	if (piped)
		gen_pipe_build(f, &out);
	else
		gen_file_build(f, &out);
	path = gen_write(out.p, out.len);
	ck_assert_int_eq(da_reader_open(r, path, &err), 0);
	gen_unlink(path);
	gen_free(&out);
}

#define NR 300

static void setup(void)
{
	uint64_t v = 1;

	for (size_t i = 0; i < sizeof(noise); i++) {
		v = v * 6364136223846793005u + 1442695040888963407u;
		noise[i] = (uint8_t)(v >> 56);
	}
}

/* The same records plain and compressed read the same, whatever the pieces. */
START_TEST(reads_like_plain)
{
	static const size_t pieces[] = {1, 7, 100, 4096, 60000};

	for (int v = 0; v < 8; v++) {
		bool swap = v & 1, piped = v & 2;
		struct gen_file f;
		struct gen plain = {.swap = swap}, out = {0};
		char *want, *got;

		records(&plain, 0, NR);
		new_file(&f, swap, 0);
		gen_bytes(&f.data, plain.p, plain.len);
		gen_file_build(&f, &out);
		want = transcript_of_bytes(out.p, out.len);
		gen_free(&out);
		gen_file_free(&f);

		for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
			struct zip z = {.v2 = v & 4};

			new_file(&f, swap, 528384);
			zip_begin(&z, i == 4 ? 19 : 1);
			zip_all(&z, &f.data, &plain, pieces[i]);
			if (piped)
				gen_pipe_build(&f, &out);
			else
				gen_file_build(&f, &out);
			got = transcript_of_bytes(out.p, out.len);
			without_lines(got, "type 64 ", "type 68 ", "type 80 ");
			ck_assert_msg(!strcmp(got, want),
				      "variant %d, pieces of %zu:\n%.500s\nnot\n%.500s", v,
				      pieces[i], got, want);
			free(got);
			ZSTD_freeCCtx(z.c);
			gen_free(&out);
			gen_file_free(&f);
		}
		free(want);
		gen_free(&plain);
	}
}
END_TEST

/* COMPRESSED2 of 65536 bytes and more: some recorders let header.size wrap. */
START_TEST(compressed2_wraps)
{
	for (size_t size = 65536 - 16; size <= 65536 + 64; size += 8) {
		struct zip z = {.v2 = true, .wrap = true};
		uint8_t *random = malloc(70000);
		struct da_reader *r;
		struct gen_file f;
		struct gen plain = {0};
		struct tally t;
		uint64_t x = size;
		size_t at;

		/* bytes that cannot be compressed make the payload as long as they are */
		for (size_t i = 0; i < 70000; i++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			random[i] = (uint8_t)(x >> 33);
		}
		while (plain.len < size - 16 - 40) {
			size_t left = size - 16 - 40 - plain.len;

			at = gen_rec(&plain, DA_REC_THREAD_MAP, 0);
			gen_bytes(&plain, random + plain.len,
				  left > 30000 ? 20000
				  : left < 8   ? 0
					       : left - 8);
			gen_end(&plain, at);
		}
		new_file(&f, false, 528384);
		zip_begin(&z, 1);
		zip_put(&z, &f.data, plain.p, plain.len, ZSTD_e_flush);
		plain.len = 0;
		records(&plain, 0, 10);
		zip_put(&z, &f.data, plain.p, plain.len, ZSTD_e_flush);
		open_file(&f, size & 8, &r);
		tally(r, &t);
		ck_assert_msg(!da_reader_info(r)->damaged, "%zu: %s", size,
			      da_reader_info(r)->messages[0]);
		ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], 10);
		ck_assert_uint_gt(t.by_type[DA_REC_THREAD_MAP], 2);
		da_reader_close(r);
		ZSTD_freeCCtx(z.c);
		free(random);
		gen_free(&plain);
		gen_file_free(&f);
	}
}
END_TEST

/* One decoder a stream: in directory mode each file is its own. Here: plain and compressed records mixed,
 * unknown ones inside, and some that may not be inside. */
START_TEST(mixed)
{
	struct zip z = {0};
	struct da_reader *r;
	struct gen_file f;
	struct gen plain = {0};
	struct tally t;
	size_t at;

	new_file(&f, false, 528384);
	zip_begin(&z, 1);
	records(&f.data, 0, 10);
	records(&plain, 10, 20);
	at = gen_rec(&plain, 99, 0);
	gen_fill(&plain, 1, 16);
	gen_end(&plain, at);
	gen_auxtrace(&plain, NULL, 0, 1000, 0);
	gen_end(&plain, gen_rec(&plain, DA_REC_COMPRESSED, 0));
	records(&plain, 20, 30);
	zip_put(&z, &f.data, plain.p, plain.len, ZSTD_e_flush);
	records(&f.data, 30, 40);
	gen_end(&f.data, gen_rec(&f.data, DA_REC_COMPRESSED, 0)); /* no payload at all */
	plain.len = 0;
	records(&plain, 40, 50);
	zip_put(&z, &f.data, plain.p, plain.len, ZSTD_e_end);
	open_file(&f, false, &r);
	tally(r, &t);
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], 50);
	ck_assert_uint_eq(t.by_type[DA_REC_AUXTRACE], 0);
	ck_assert_uint_eq(da_reader_info(r)->unknown_records, 1);
	ck_assert_uint_eq(da_reader_info(r)->damaged_records, 2);
	da_reader_close(r);
	ZSTD_freeCCtx(z.c);
	gen_free(&plain);
	gen_file_free(&f);
}
END_TEST

/* Damage in the middle: the records before it are given, those of other kinds go on, and a new frame is a
 * new beginning. */
START_TEST(damage)
{
	struct zip z = {0};
	struct da_reader *r;
	struct gen_file f;
	struct gen plain = {0};
	struct tally t;

	new_file(&f, false, 528384);
	zip_begin(&z, 1);
	for (uint64_t i = 0; i < 4; i++) {
		plain.len = 0;
		records(&plain, 100 * i + 1, 100 * i + 99);
		zip_put(&z, &f.data, plain.p, plain.len, ZSTD_e_flush);
		if (i == 1)
			memset(f.data.p + z.last_rec + 20, 0xff, 200);
	}
	gen_comm(&f.data, &attr, "plain", 1, 5, 0);
	/* perf record --switch-output does this */
	ZSTD_CCtx_reset(z.c, ZSTD_reset_session_only);
	plain.len = 0;
	records(&plain, 1001, 1099);
	zip_put(&z, &f.data, plain.p, plain.len, ZSTD_e_flush);
	open_file(&f, false, &r);
	tally(r, &t);
	ck_assert_int_eq(t.ret, 0);
	ck_assert_uint_ge(t.by_type[DA_REC_SAMPLE], 98 + 98);
	ck_assert_uint_lt(t.by_type[DA_REC_SAMPLE], 98 + 98 + 98);
	ck_assert_uint_eq(t.by_type[DA_REC_COMM], 1);
	ck_assert(da_reader_info(r)->damaged);
	/* the damaged one and the two that continue it */
	ck_assert_uint_eq(da_reader_info(r)->damaged_records, 3);
	ck_assert_ptr_nonnull(strstr(da_reader_info(r)->messages[0], "cannot be decompressed: "));
	da_reader_close(r);
	ZSTD_freeCCtx(z.c);
	gen_free(&plain);
	gen_file_free(&f);
}
END_TEST

/* Every single byte of the payloads overwritten: no crash, no hang, no record twice. */
START_TEST(every_byte_damaged)
{
	struct zip z = {.v2 = _i};
	struct gen_file f;
	struct gen plain = {0}, out = {0};
	size_t data;

	new_file(&f, false, 528384);
	zip_begin(&z, 1);
	records(&plain, 1, 60);
	zip_all(&z, &f.data, &plain, 900);
	data = gen_file_build(&f, &out);
	for (size_t at = 0; at < f.data.len; at++) {
		struct da_error err = {0};
		struct da_reader *r;
		struct tally t;
		char *path;

		out.p[data + at] ^= (uint8_t)(1 + at % 255);
		path = gen_write(out.p, out.len);
		ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
		tally(r, &t);
		ck_assert_int_eq(t.ret, 0);
		ck_assert_uint_le(t.by_type[DA_REC_SAMPLE], 100);
		da_reader_close(r);
		gen_unlink(path);
		out.p[data + at] ^= (uint8_t)(1 + at % 255);
	}
	ZSTD_freeCCtx(z.c);
	gen_free(&plain);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

/* A few bytes that unfold to many records: bounded by the recorder's buffer where the file tells its size,
 * and by what records can shrink to. */
START_TEST(bomb)
{
	for (int v = 0; v < 2; v++) {
		struct zip z = {0};
		struct da_reader *r;
		struct gen_file f;
		struct gen plain = {0}, block = {0};
		struct tally t;
		uint64_t payload, most;

		new_file(&f, false, v ? 100000 : 0);
		zip_begin(&z, 19);
		while (block.len < 1 << 20)
			gen_end(&block, gen_rec(&block, DA_REC_FINISHED_INIT, 0));
		for (int i = 0; i < 96; i++)
			gen_bytes(&plain, block.p, block.len);
		zip_put(&z, &f.data, plain.p, plain.len, ZSTD_e_flush);
		payload = f.data.len - z.last_rec - 8;
		most = v ? 100000 + 65536 : (1 << 20) + 1024 * payload;
		ck_assert_uint_lt(most, plain.len);
		open_file(&f, false, &r);
		tally(r, &t);
		ck_assert_int_eq(t.ret, 0);
		ck_assert_uint_ge(t.records, v ? 100000 / 8 : 1024 * payload / 8);
		ck_assert_uint_le(t.records, most / 8);
		ck_assert(da_reader_info(r)->damaged);
		ck_assert_ptr_nonnull(
			strstr(da_reader_info(r)->messages[0],
			       v ? "more than the recorder's buffer" : "no recorder's data"));
		da_reader_close(r);
		ZSTD_freeCCtx(z.c);
		gen_free(&plain);
		gen_free(&block);
		gen_file_free(&f);
	}
}
END_TEST

/* Plain bytes that are no records, and a last record that is not complete. */
START_TEST(bad_plain_records)
{
	for (int v = 0; v < 2; v++) {
		struct zip z = {0};
		struct da_reader *r;
		struct gen_file f;
		struct gen plain = {0};
		struct tally t;

		new_file(&f, false, 528384);
		zip_begin(&z, 1);
		records(&plain, 1, 20);
		if (v)
			gen_fill(&plain, 0, 100); /* size 0 */
		else
			plain.len -= 5;
		zip_put(&z, &f.data, plain.p, plain.len, ZSTD_e_flush);
		open_file(&f, false, &r);
		tally(r, &t);
		ck_assert_int_eq(t.ret, 0);
		ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], v ? 19 : 18);
		ck_assert_uint_eq(da_reader_info(r)->damaged_records, 1);
		ck_assert_ptr_nonnull(
			strstr(da_reader_info(r)->messages[0],
			       v ? "impossible size" : "last record that is not complete"));
		da_reader_close(r);
		ZSTD_freeCCtx(z.c);
		gen_free(&plain);
		gen_file_free(&f);
	}
}
END_TEST

START_TEST(other_compression)
{
	struct zip z = {0};
	struct da_reader *r;
	struct gen_file f;
	struct gen plain = {0};
	struct tally t;

	new_file(&f, false, 528384);
	memcpy(f.feature[27].p + 4, "\2", 1);
	zip_begin(&z, 1);
	records(&plain, 1, 20);
	zip_put(&z, &f.data, plain.p, plain.len, ZSTD_e_flush);
	gen_comm(&f.data, &attr, "plain", 1, 5, 0);
	open_file(&f, false, &r);
	tally(r, &t);
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], 0);
	ck_assert_uint_eq(t.by_type[DA_REC_COMM], 1);
	ck_assert_ptr_nonnull(
		strstr(da_reader_info(r)->messages[0], "is compressed, and not by zstd"));
	da_reader_close(r);
	ZSTD_freeCCtx(z.c);
	gen_free(&plain);
	gen_file_free(&f);
}
END_TEST

static int count(void *ctx, const struct da_rec *rec)
{
	(void)rec;
	++*(unsigned *)ctx;
	return 0;
}

/* A scan for kernel records unfolds; one for perf's own and ours need not. */
START_TEST(scan)
{
	struct zip z = {0};
	struct da_error err = {0};
	struct da_reader *r;
	struct gen_file f;
	struct gen plain = {0};
	unsigned n = 0;

	new_file(&f, false, 528384);
	zip_begin(&z, 1);
	records(&plain, 1, 20);
	zip_all(&z, &f.data, &plain, 50);
	open_file(&f, false, &r);
	ck_assert_int_eq(da_reader_scan(r, DA_REC_SAMPLE, count, &n, &err), 0);
	ck_assert_uint_eq(n, 19);
	n = 0;
	ck_assert_int_eq(da_reader_scan(r, DA_REC_HEADER_EVENT_TYPE, count, &n, &err), 0);
	ck_assert_uint_eq(n, 0);
	da_reader_close(r);
	ZSTD_freeCCtx(z.c);
	gen_free(&plain);
	gen_file_free(&f);
}
END_TEST

/* DA_WRITE_SEEDS=tests/fuzz/corpus/reader writes seeds for tests/fuzz/fuzz_reader.c; they are committed. */
START_TEST(write_seeds)
{
	const char *dir = getenv("DA_WRITE_SEEDS");

	for (int v = 0; v < 2; v++) {
		struct zip z = {.v2 = v};
		struct gen_file f;
		struct gen plain = {0}, out = {0};
		char *path;
		FILE *to;

		new_file(&f, false, 528384);
		zip_begin(&z, 1);
		records(&plain, 1, 20);
		zip_all(&z, &f.data, &plain, 300);
		gen_pipe_build(&f, &out);
		ck_assert_int_gt(asprintf(&path, "%s/compressed%d", dir, 1 + v), 0);
		to = fopen(path, "w");
		ck_assert(to && fwrite(out.p, 1, out.len, to) == out.len && !fclose(to));
		free(path);
		ZSTD_freeCCtx(z.c);
		gen_free(&plain);
		gen_free(&out);
		gen_file_free(&f);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfdata_zip");
	TCase *tc = tcase_create("zip");
	SRunner *runner;
	int failed;

	setup();
	if (getenv("DA_WRITE_SEEDS"))
		tcase_add_test(tc, write_seeds);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, reads_like_plain);
	tcase_add_test(tc, compressed2_wraps);
	tcase_add_test(tc, mixed);
	tcase_add_test(tc, damage);
	tcase_add_loop_test(tc, every_byte_damaged, 0, 2);
	tcase_add_test(tc, bomb);
	tcase_add_test(tc, bad_plain_records);
	tcase_add_test(tc, other_compression);
	tcase_add_test(tc, scan);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
