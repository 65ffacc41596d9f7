/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The perf.data reader in pipe mode, through pipes and FIFOs, and in directory mode.
 *
 * timeout: 600
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "da_perfdata.h"
#include "perfgen.h"
#include "recording.h"
#include "transcript.h"

/* ---- pipes ---- */

/* Opens path in a child whose standard input is fd, and writes the transcript to out. */
static char *transcript_in_child(int fd, const char *path)
{
	int out[2];
	char *text = NULL;
	size_t len = 0, cap = 0;
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(pipe(out), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		char *t;

		if (fd >= 0)
			dup2(fd, STDIN_FILENO);
		t = transcript_of_path(path);
		if (write(out[1], t, strlen(t)) < 0)
			_exit(1);
		free(t);
		_exit(0);
	}
	close(out[1]);
	do {
		if (len + 4096 > cap)
			text = realloc(text, cap = cap * 2 + 8192);
		n = read(out[0], text + len, 4096);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	close(out[0]);
	text[len] = '\0';
	waitpid(pid, NULL, 0);
	return text;
}

static pid_t feed(int fd, const struct gen *g, size_t chunk)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		for (size_t at = 0; at < g->len; at += chunk) {
			size_t n = g->len - at < chunk ? g->len - at : chunk;

			if (write(fd, g->p + at, n) != (ssize_t)n)
				_exit(1);
		}
		_exit(0);
	}
	return pid;
}

START_TEST(pipe_reads_like_the_file)
{
	for (int v = 0; v < 4; v++) {
		struct gen file = {0}, piped = {0};
		struct gen_file f;
		char *want, *got;

		rec_whole(&f, v & 1);
		f.attr_size = v & 2 ? 144 : 128;
		gen_file_build(&f, &file);
		gen_pipe_build(&f, &piped);
		want = transcript_of_bytes(file.p, file.len);
		got = transcript_of_bytes(piped.p, piped.len);
		/* the records in which a pipe carries attrs, names and features are records */
		ck_assert_str_eq(without_lines(got, "type 64 ", "type 78 ", "type 80 "), want);
		free(want);
		free(got);
		gen_free(&file);
		gen_free(&piped);
		gen_file_free(&f);
	}
}
END_TEST

START_TEST(standard_input)
{
	struct gen file = {0}, piped = {0};
	struct gen_file f;
	char *want, *got, *path;
	int p[2], fd;
	pid_t pid;

	rec_whole(&f, false);
	gen_file_build(&f, &file);
	gen_pipe_build(&f, &piped);
	/* a pipe, in pipe mode and in file mode; 7 bytes at a time */
	for (int v = 0; v < 2; v++) {
		const struct gen *g = v ? &file : &piped;

		want = transcript_of_bytes(g->p, g->len);
		ck_assert_int_eq(pipe(p), 0);
		pid = feed(p[1], g, 7);
		close(p[1]);
		got = transcript_in_child(p[0], "-");
		ck_assert_str_eq(got, want);
		close(p[0]);
		waitpid(pid, NULL, 0);
		free(got);
		free(want);
	}
	/* a file, from its beginning and behind something else */
	want = transcript_of_bytes(piped.p, piped.len);
	for (int v = 0; v < 2; v++) {
		struct gen g = {0};

		gen_fill(&g, 'x', v ? 1000 : 0);
		gen_bytes(&g, piped.p, piped.len);
		path = gen_write(g.p, g.len);
		fd = open(path, O_RDONLY);
		lseek(fd, v ? 1000 : 0, SEEK_SET);
		got = transcript_in_child(fd, "-");
		ck_assert_str_eq(got, want);
		close(fd);
		free(got);
		gen_unlink(path);
		gen_free(&g);
	}
	free(want);
	gen_free(&file);
	gen_free(&piped);
	gen_file_free(&f);
}
END_TEST

START_TEST(fifo)
{
	struct gen piped = {0};
	struct gen_file f;
	char *want, *got, *path;
	pid_t pid;
	int fd;

	rec_whole(&f, false);
	gen_pipe_build(&f, &piped);
	want = transcript_of_bytes(piped.p, piped.len);
	path = gen_write("", 0);
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		fd = open(path, O_WRONLY);
		_exit(write(fd, piped.p, piped.len) == (ssize_t)piped.len ? 0 : 1);
	}
	got = transcript_of_path(path);
	ck_assert_str_eq(got, want);
	waitpid(pid, NULL, 0);
	free(got);
	free(want);
	gen_unlink(path);
	gen_free(&piped);
	gen_file_free(&f);
}
END_TEST

/* An endless stream of something else is not copied to the disk. */
START_TEST(endless_nonsense)
{
	int p[2];
	char *got;
	pid_t pid;

	ck_assert_int_eq(pipe(p), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(p[0]);
		for (;;) {
			if (write(p[1], "yes\n", 4) < 0)
				_exit(0);
		}
	}
	close(p[1]);
	got = transcript_in_child(p[0], "-");
	ck_assert_str_eq(got, "refused 4: cannot read 'standard input': not a perf.data file\n");
	close(p[0]);
	waitpid(pid, NULL, 0);
	free(got);
}
END_TEST

/* Pipe mode without ids: one event takes all. */
START_TEST(pipe_one_event_without_ids)
{
	struct da_error err = {0};
	struct da_reader *r;
	struct gen_file f;
	struct gen out = {0};
	struct tally t;
	char *path;

	memset(&f, 0, sizeof(f));
	f.nr_ev = 1;
	f.ev[0].attr = rec_attr_a;
	for (uint64_t i = 1; i < 10; i++)
		rec_sample_a(&f.data, i, i, 0);
	gen_pipe_build(&f, &out);
	path = gen_write(out.p, out.len);
	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	ck_assert_int_eq(da_reader_info(r)->mode, DA_FILE_PIPE);
	tally(r, &t);
	ck_assert_uint_eq(t.by_event[0], 9);
	ck_assert_uint_eq(da_reader_info(r)->unknown_ids, 0);
	da_reader_close(r);
	gen_unlink(path);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

/* TRACING_DATA: bytes behind the record, which are also the feature. */
START_TEST(pipe_tracing_data)
{
	static const uint8_t format[24] = "\x17\x08\x44tracing and formats";

	for (int v = 0; v < 2; v++) {
		struct da_error err = {0};
		struct da_reader *r;
		struct gen_file f;
		struct gen out = {0};
		struct da_rec rec;
		const uint8_t *p;
		unsigned seen = 0;
		size_t at, size;
		char *path;

		memset(&f, 0, sizeof(f));
		f.nr_ev = 1;
		f.ev[0].attr = rec_attr_a;
		/* 12 bytes, as perf writes it; or 16 */
		at = gen_rec(&f.data, DA_REC_TRACING_DATA, 0);
		gen_u32(&f.data, sizeof(format));
		if (v)
			gen_u32(&f.data, 0);
		gen_end(&f.data, at);
		gen_bytes(&f.data, format, sizeof(format));
		rec_sample_a(&f.data, 5, 6, 0);
		gen_pipe_build(&f, &out);
		path = gen_write(out.p, out.len);
		ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
		p = da_reader_feature(r, DA_FEAT_TRACING_DATA, &size);
		ck_assert_uint_eq(size, sizeof(format));
		ck_assert_mem_eq(p, format, size);
		while (da_reader_next(r, &rec, &err) > 0) {
			if (rec.type == DA_REC_TRACING_DATA) {
				ck_assert_uint_eq(rec.payload_size, sizeof(format));
				ck_assert_mem_eq(rec.payload, format, sizeof(format));
				seen++;
			}
			seen += rec.type == DA_REC_SAMPLE ? 10 : 0;
		}
		ck_assert_uint_eq(seen, 11);
		ck_assert(!da_reader_info(r)->damaged);
		da_reader_close(r);
		gen_unlink(path);
		gen_free(&out);
		gen_file_free(&f);
	}
}
END_TEST

/* ---- directories ---- */

START_TEST(directory_is_merged)
{
	for (int swap = 0; swap < 2; swap++) {
		struct da_error err = {0};
		struct gen_file f = {0};
		struct gen out = {0}, streams[3] = {{.swap = swap}, {.swap = swap}, {.swap = swap}};
		char *dir = rec_make_dir(), *p;
		struct da_reader *r;
		struct tally t;

		rec_events(&f, swap);
		gen_comm(&f.data, &rec_attr_a, "first", 7, 0, 0);
		gen_features(&f);
		gen_u64(&f.feature[24], 1);
		gen_file_build(&f, &out);
		/* each in order, interleaved in time; one is much denser, one ends early */
		for (uint64_t i = 1; i <= 60000; i++) {
			rec_sample_a(&streams[0], 10 * i, i, 301);
			if (i % 100 == 0)
				rec_sample_b(&streams[1], 10 * i + 5, 401);
			if (i < 1000)
				rec_sample_a(&streams[2], 10 * i + 1, i, 302);
		}
		rec_put_file(dir, "data", &out);
		rec_put_file(dir, "data.10", &streams[0]);
		rec_put_file(dir, "data.2", &streams[1]);
		rec_put_file(dir, "data.0", &streams[2]);
		/* neither is a stream */
		p = rec_path_in(dir, "data.fifo");
		ck_assert_int_eq(mkfifo(p, 0600), 0);
		free(p);
		p = rec_path_in(dir, "data.old");
		ck_assert_int_eq(mkdir(p, 0700), 0);
		free(p);

		ck_assert_int_eq(da_reader_open(&r, dir, &err), 0);
		ck_assert_int_eq(da_reader_info(r)->mode, DA_FILE_DIRECTORY);
		ck_assert_uint_eq(da_reader_info(r)->bytes,
				  out.len + streams[0].len + streams[1].len + streams[2].len);
		tally(r, &t);
		ck_assert_int_eq(t.ret, 0);
		ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], 60000 + 600 + 999);
		ck_assert_uint_eq(t.by_type[DA_REC_COMM], 1);
		ck_assert_uint_eq(t.backwards, 0);
		ck_assert_uint_eq(da_reader_info(r)->late_records, 0);
		ck_assert(!da_reader_info(r)->damaged);
		da_reader_close(r);
		rec_remove_dir(dir);
		for (int i = 0; i < 3; i++)
			gen_free(&streams[i]);
		gen_free(&out);
		gen_file_free(&f);
	}
}
END_TEST

/* Within a ring records are nearly in order only: what a file gives next may be older than what it gave. */
START_TEST(directory_nearly_in_order)
{
	struct da_error err = {0};
	struct gen_file f = {0};
	struct gen out = {0}, streams[2] = {{0}, {0}};
	char *dir = rec_make_dir();
	struct da_reader *r;
	struct tally t;

	rec_events(&f, false);
	gen_features(&f);
	gen_file_build(&f, &out);
	for (uint64_t i = 0; i < 20000; i++) {
		/* the last of each sixteen comes first */
		uint64_t time = i / 16 * 16 + (i + 15) % 16;

		rec_sample_a(&streams[0], 1 + 2 * time, i, 301);
		rec_sample_a(&streams[1], 2 + 2 * time, i, 302);
	}
	rec_put_file(dir, "data", &out);
	rec_put_file(dir, "data.0", &streams[0]);
	rec_put_file(dir, "data.1", &streams[1]);
	ck_assert_int_eq(da_reader_open(&r, dir, &err), 0);
	tally(r, &t);
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], 40000);
	ck_assert_uint_eq(t.backwards, 0);
	ck_assert_uint_eq(da_reader_info(r)->late_records, 0);
	da_reader_close(r);
	rec_remove_dir(dir);
	gen_free(&streams[0]);
	gen_free(&streams[1]);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

/* A directory with `data` alone is that file; its rounds count. */
START_TEST(directory_with_data_only)
{
	struct gen_file f;
	struct gen out = {0};
	char *dir = rec_make_dir(), *want, *got;

	rec_whole(&f, false);
	gen_file_build(&f, &out);
	rec_put_file(dir, "data", &out);
	want = transcript_of_bytes(out.p, out.len);
	got = transcript_of_path(dir);
	ck_assert_str_eq(got, want);
	free(want);
	free(got);
	rec_remove_dir(dir);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

/* One damaged stream costs its rest, not the others'. */
START_TEST(directory_with_damage)
{
	struct da_error err = {0};
	struct gen_file f = {0};
	struct gen out = {0}, good = {0}, bad = {0};
	char *dir = rec_make_dir();
	struct da_reader *r;
	struct tally t;

	rec_events(&f, false);
	gen_features(&f);
	gen_file_build(&f, &out);
	for (uint64_t i = 1; i <= 1000; i++) {
		rec_sample_a(&good, i, i, 301);
		if (i <= 400)
			rec_sample_a(&bad, i, i, 302);
	}
	gen_fill(&bad, 0, 500);
	rec_put_file(dir, "data", &out);
	rec_put_file(dir, "data.0", &good);
	rec_put_file(dir, "data.1", &bad);
	ck_assert_int_eq(da_reader_open(&r, dir, &err), 0);
	tally(r, &t);
	ck_assert_int_eq(t.ret, 0);
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], 1400);
	ck_assert(da_reader_info(r)->damaged);
	ck_assert_uint_eq(da_reader_info(r)->skipped_bytes, 500);
	ck_assert_ptr_nonnull(strstr(da_reader_info(r)->messages[0], "data.1': record at 0x"));
	da_reader_close(r);
	rec_remove_dir(dir);
	gen_free(&out);
	gen_free(&good);
	gen_free(&bad);
	gen_file_free(&f);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfdata_modes");
	TCase *tc = tcase_create("perfdata_modes");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, pipe_reads_like_the_file);
	tcase_add_test(tc, standard_input);
	tcase_add_test(tc, fifo);
	tcase_add_test(tc, endless_nonsense);
	tcase_add_test(tc, pipe_one_event_without_ids);
	tcase_add_test(tc, pipe_tracing_data);
	tcase_add_test(tc, directory_is_merged);
	tcase_add_test(tc, directory_nearly_in_order);
	tcase_add_test(tc, directory_with_data_only);
	tcase_add_test(tc, directory_with_damage);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
