/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings cut at every 64th byte, through the whole offline decode: refused before an attr can be read
 * (status 1), else damaged (5) with what precedes the cut, and whole (0) only where nothing is missing. Over
 * files made here in every form, and parts of the real ones of $DA_SHARED/fixtures, if they are there.
 *
 * timeout: 300
 */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "bench/gen_spe.h"
#include "da_error.h"
#include "da_offline.h"
#include "perfgen.h"
#include "recording.h"

#define STEP        64
#define SPE_PMU     9
#define FIXTURE_MAX (16u << 20)
#define FIXTURE_CUT 12 /* cuts of each real file */

struct outcome {
	int status; /* of `damon-attrs report` */
	uint64_t samples;
};

static struct outcome report(const char *path)
{
	static const struct da_offline_opts opts = {.match = {.virt = true, .accumulate = true},
						    .threads = 1};
	struct da_error err = {0};
	struct da_offline *o = NULL;
	struct outcome out = {.status = 1};
	const struct da_offline_result *r;

	if (da_offline_open(&o, path, &opts, &err)) {
		ck_assert(*err.msg && !o);
		return out;
	}
	ck_assert_msg(!da_offline_run(o, &err), "%s", err.msg);
	r = da_offline_result(o);
	ck_assert(da_ledger_conserves(&r->ledger, NULL));
	ck_assert_int_eq(r->damaged, r->nr_messages > 0);
	out.status = r->damaged ? 5 : 0;
	out.samples = r->samples;
	da_offline_close(o);
	return out;
}

/* A file's bytes that can be cut shorter and shorter. */
struct cutting {
	int fd;
	char path[64];
};

static struct cutting cutting_of(const void *p, size_t len)
{
	struct cutting c = {.fd = memfd_create("cut", MFD_CLOEXEC)};

	ck_assert_int_ge(c.fd, 0);
	ck_assert_int_eq(pwrite(c.fd, p, len, 0), (ssize_t)len);
	snprintf(c.path, sizeof(c.path), "/proc/self/fd/%d", c.fd);
	return c;
}

/* What the test knows of a file. */
struct expect {
	const char *what;
	size_t readable; /* from here on the first attr can be read */
	size_t records;  /* where plain records begin; 0: they are not to be walked */
	size_t end;      /* and where they end */
	bool others;     /* there are other samples than SAMPLE records */
	bool pipe;       /* without a header that says how much there is */
};

/* SAMPLE records that lie wholly before the cut; *between: it lies between two records. */
static uint64_t walk(const struct gen *g, const struct expect *e, size_t cut, bool *between)
{
	uint64_t samples = 0;
	size_t at = e->records;

	*between = false;
	while (at < e->end && at + 8 <= cut) {
		uint32_t type;
		uint16_t size;
		uint64_t payload = 0;

		memcpy(&type, g->p + at, 4);
		memcpy(&size, g->p + at + 6, 2);
		if (type == DA_REC_AUXTRACE)
			memcpy(&payload, g->p + at + 8, 8);
		ck_assert_uint_ge(size, 8);
		if (at + size + payload > cut)
			return samples;
		samples += type == DA_REC_SAMPLE;
		at += size + payload;
	}
	*between = at == cut;
	return samples;
}

static void cut_everywhere(const struct gen *g, const struct expect *e)
{
	struct cutting c = cutting_of(g->p, g->len);
	struct outcome whole = report(c.path);
	uint64_t last = whole.samples;

	ck_assert_msg(!whole.status && whole.samples > 100, "%s: status %d, %llu samples", e->what,
		      whole.status, (unsigned long long)whole.samples);
	for (size_t cut = (g->len - 1) / STEP * STEP;; cut -= STEP) {
		bool between = false;
		struct outcome o;
		uint64_t n;

		ck_assert(!ftruncate(c.fd, (off_t)cut));
		o = report(c.path);
		ck_assert_msg(o.samples <= last, "%s, cut at %zu: %llu samples, %llu at the next",
			      e->what, cut, (unsigned long long)o.samples,
			      (unsigned long long)last);
		last = o.samples;
		if (e->records) {
			n = walk(g, e, cut, &between);
			ck_assert_msg(o.samples == n || e->others,
				      "%s, cut at %zu: %llu samples, %llu are there", e->what, cut,
				      (unsigned long long)o.samples, (unsigned long long)n);
		}
		if (cut < e->readable)
			ck_assert_msg(o.status == 1, "%s, cut at %zu: status %d", e->what, cut,
				      o.status);
		else if (!(e->pipe && between && !o.status)) /* nobody could tell */
			ck_assert_msg(o.status == 5, "%s, cut at %zu of %zu: status %d", e->what,
				      cut, g->len, o.status);
		if (!cut)
			break;
	}
	close(c.fd);
}

/* ---- what is cut ---- */

START_TEST(file)
{
	struct gen out = {0};
	struct gen_file f;
	struct expect e = {.what = _i ? "attrs last" : "file"};

	rec_whole(&f, false);
	f.attrs_last = _i;
	e.records = gen_file_build(&f, &out);
	e.end = e.records + f.data.len;
	/* the first of two attrs, before the data or behind all */
	e.readable = (_i ? out.len : e.records) - 128 - 16;
	if (_i)
		e.records = 0; /* without attrs there are no samples before */
	cut_everywhere(&out, &e);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

START_TEST(pipe_form)
{
	struct gen out = {0};
	struct gen_file f;
	struct expect e = {
		.what = "pipe", .readable = 16 + 8 + 128 + 16, .records = 16, .pipe = true};

	rec_whole(&f, false);
	gen_pipe_build(&f, &out);
	e.end = out.len;
	cut_everywhere(&out, &e);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

static struct gen_event spe_event(void)
{
	return (struct gen_event){
		.attr = {.type = SPE_PMU,
			 .config = 1,
			 .sample_period = 1024,
			 .sample_type = DA_SAMPLE_IDENTIFIER | DA_SAMPLE_TID | DA_SAMPLE_TIME |
					DA_SAMPLE_CPU,
			 .flags = DA_ATTR_SAMPLE_ID_ALL},
		.name = "spe",
		.ids = {11},
		.nr_ids = 1,
	};
}

START_TEST(spe)
{
	struct gen_spe gen = gen_spe_new(1, GEN_SPE_NEOVERSE);
	struct gen out = {0}, trace = {0};
	struct gen_file f = {.nr_ev = 1, .ev = {spe_event()}};
	struct expect e = {.what = "SPE", .records = 16, .others = true, .pipe = _i};
	size_t rec;

	rec = gen_rec(&f.data, DA_REC_AUXTRACE_INFO, 0);
	gen_u32(&f.data, 4);
	gen_u32(&f.data, 0);
	gen_u64(&f.data, SPE_PMU);
	gen_u64(&f.data, 0);
	gen_end(&f.data, rec);
	for (int piece = 0; piece < 3; piece++) {
		size_t begun = trace.len;

		for (int i = 0; i < 100; i++) {
			uint8_t bytes[GEN_SPE_MAX];

			gen_bytes(&trace, bytes, gen_spe_record(&gen, bytes));
		}
		gen_fill(&trace, 0, -trace.len % 8);
		gen_auxtrace(&f.data, trace.p + begun, trace.len - begun, trace.len - begun, begun);
	}
	gen_features(&f);
	if (_i)
		gen_pipe_build(&f, &out);
	else
		e.records = gen_file_build(&f, &out);
	e.end = _i ? out.len : e.records + f.data.len;
	e.readable = _i ? 16 + 8 + 128 + 8 : 104 + 8 + 128 + 16;
	cut_everywhere(&out, &e);
	gen_free(&out);
	gen_free(&trace);
	gen_file_free(&f);
}
END_TEST

/* Records packed as perf packs them, each round a payload of the one frame. */
START_TEST(compressed)
{
	struct gen out = {0};
	struct gen plain = {0};
	struct gen_file f = {0};
	ZSTD_CCtx *z = ZSTD_createCCtx();
	struct expect e = {.what = "compressed", .readable = 104 + 16 + 2 * (128 + 16)};

	rec_events(&f, false);
	for (uint64_t i = 1; i <= 300; i++)
		rec_sample_a(&plain, 1000 * i, 64 * i, 301);
	for (size_t at = 0; at < plain.len; at += 1500) {
		size_t n = plain.len - at < 1500 ? plain.len - at : 1500, rec;
		uint8_t packed[4096];
		ZSTD_inBuffer in = {plain.p + at, n, 0};
		ZSTD_outBuffer to = {packed, sizeof(packed), 0};

		ck_assert_uint_eq(ZSTD_compressStream2(z, &to, &in, ZSTD_e_flush), 0);
		rec = gen_rec(&f.data, DA_REC_COMPRESSED, 0);
		gen_bytes(&f.data, packed, to.pos);
		gen_end(&f.data, rec);
	}
	gen_features(&f);
	gen_u32(&f.feature[27], 1);
	gen_u32(&f.feature[27], 1);
	gen_u32(&f.feature[27], 3);
	gen_u32(&f.feature[27], 5);
	gen_u32(&f.feature[27], 1 << 20);
	gen_file_build(&f, &out);
	e.readable -= 128 + 16; /* the second attr */
	cut_everywhere(&out, &e);
	ZSTD_freeCCtx(z);
	gen_free(&out);
	gen_free(&plain);
	gen_file_free(&f);
}
END_TEST

/* The head of a directory, and one of its streams. */
START_TEST(directory)
{
	struct gen_file f = {0};
	struct gen out = {0}, stream[2] = {{0}};
	char *dir = rec_make_dir(), *head, *first;
	struct outcome o;
	size_t len;

	rec_events(&f, false);
	gen_comm(&f.data, &rec_attr_a, "first", 7, 0, 0);
	gen_features(&f);
	gen_u64(&f.feature[24], 1);
	gen_file_build(&f, &out);
	for (uint64_t i = 1; i <= 100; i++) {
		rec_sample_a(&stream[0], 10 * i, i, 301);
		rec_sample_a(&stream[1], 10 * i + 1, i, 302);
	}
	rec_put_file(dir, "data", &out);
	rec_put_file(dir, "data.0", &stream[0]);
	rec_put_file(dir, "data.1", &stream[1]);
	o = report(dir);
	ck_assert(!o.status && o.samples == 200);
	first = rec_path_in(dir, "data.0");
	len = stream[0].len / 100; /* of a record */
	for (size_t cut = (stream[0].len - 1) / STEP * STEP;; cut -= STEP) {
		ck_assert(!truncate(first, (off_t)cut));
		o = report(dir);
		ck_assert_uint_eq(o.samples, 100 + cut / len);
		ck_assert_msg(o.status == 5 || !(cut % len), "stream cut at %zu: status %d", cut,
			      o.status);
		if (!cut)
			break;
	}
	rec_put_file(dir, "data.0", &stream[0]);
	head = rec_path_in(dir, "data");
	for (size_t cut = (out.len - 1) / STEP * STEP;; cut -= STEP) {
		size_t readable = 104 + 24 + 128 + 16;

		ck_assert(!truncate(head, (off_t)cut));
		o = report(dir);
		ck_assert_msg(o.status == (cut < readable ? 1 : 5), "head cut at %zu: status %d",
			      cut, o.status);
		if (!cut)
			break;
	}
	free(head);
	free(first);
	rec_remove_dir(dir);
	gen_free(&out);
	gen_free(&stream[0]);
	gen_free(&stream[1]);
	gen_file_free(&f);
}
END_TEST

/* ---- real ones ---- */

static void cut_fixture(const char *path, unsigned *reports)
{
	struct outcome whole;
	struct stat st;
	struct cutting c;
	uint8_t *bytes;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert(fd >= 0 && !fstat(fd, &st));
	bytes = malloc((size_t)st.st_size + 1);
	ck_assert_int_eq(read(fd, bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	c = cutting_of(bytes, (size_t)st.st_size);
	free(bytes);
	whole = report(c.path);
	for (unsigned i = FIXTURE_CUT; i-- > 0;) {
		size_t cut = (size_t)st.st_size * i / FIXTURE_CUT / STEP * STEP;
		struct outcome o;

		ck_assert(!ftruncate(c.fd, (off_t)cut));
		o = report(c.path);
		(*reports)++;
		ck_assert_msg(o.samples <= whole.samples, "%s, cut at %zu", path, cut);
		/* where the whole one is well, a pipe may happen to be cut between records */
		ck_assert_msg(o.status || (!whole.status && cut), "%s, cut at %zu", path, cut);
	}
	close(c.fd);
}

START_TEST(fixtures)
{
	const char *shared = getenv("DA_SHARED");
	unsigned files = 0, cuts = 0;
	struct dirent **entries;
	char *dir, *path;
	int n;

	ck_assert_int_gt(asprintf(&dir, "%s/fixtures", shared ? shared : "../shared"), 0);
	n = scandir(dir, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		struct stat st;

		ck_assert_int_gt(asprintf(&path, "%s/%s", dir, entries[i]->d_name), 0);
		if (!strstr(path, ".oracle.txt") && !stat(path, &st) && S_ISREG(st.st_mode) &&
		    st.st_size && st.st_size < FIXTURE_MAX) {
			cut_fixture(path, &cuts);
			files++;
		}
		free(path);
		free(entries[i]);
	}
	if (n > 0)
		free(entries);
	if (!files)
		printf("SKIP fixtures: no files in '%s'\n", dir);
	else
		printf("%u real files cut, %u reports\n", files, cuts);
	free(dir);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cuts");
	TCase *tc = tcase_create("cuts");
	SRunner *sr;
	int failed;

	tcase_set_timeout(tc, 0);
	tcase_add_loop_test(tc, file, 0, 2);
	tcase_add_test(tc, pipe_form);
	tcase_add_loop_test(tc, spe, 0, 2);
	tcase_add_test(tc, compressed);
	tcase_add_test(tc, directory);
	tcase_add_test(tc, fixtures);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
