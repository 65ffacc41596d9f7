/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The perf.data writer against the reader: a finished file, a killed one, one patched and killed, pipe
 * mode, and the existing file that becomes .old. What perf makes of it is tested live.
 */
#include "da_perfdata.h"
#include "folder.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char dir[200];

static void make_dir(void)
{
	test_folder(dir, sizeof(dir));
	ck_assert(!chdir(dir));
}

static void remove_dir(void)
{
	(void)!system("rm -f -- *");
	ck_assert(!chdir("/"));
	rmdir(dir);
}

static const uint64_t ids[2] = {11, 12};
static const struct da_attr attr = {.type = DA_TYPE_SOFTWARE,
				    .config = DA_SW_PAGE_FAULTS,
				    .size = 128,
				    .sample_period = 1,
				    .flags = DA_ATTR_SAMPLE_ID_ALL,
				    .sample_type = DA_SAMPLE_IDENTIFIER | DA_SAMPLE_IP |
						   DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_ADDR |
						   DA_SAMPLE_CPU};

static int sample(uint8_t *buf, size_t cap, uint64_t n)
{
	struct da_samp s = {.mask = attr.sample_type,
			    .id = ids[n % 2],
			    .ip = 0x1000 + n,
			    .pid = 1,
			    .tid = 1,
			    .time_ns = 100 + n,
			    .addr = 0x7000 + n,
			    .cpu = (uint32_t)(n % 2)};

	return da_samp_build(&attr, 2, &s, buf, cap);
}

static struct da_writer *start(const char *path)
{
	struct da_writer_event ev = {
		.attr = attr, .name = "page-faults:u", .ids = ids, .nr_ids = 2};
	struct da_error err = {0};
	struct da_writer *w;

	ck_assert_msg(!da_writer_open(&w, path, &ev, 1, &err), "%s", err.msg);
	return w;
}

static void append(struct da_writer *w, uint64_t n)
{
	uint8_t buf[256];
	int size = sample(buf, sizeof(buf), n);

	ck_assert_int_gt(size, 0);
	ck_assert(!da_writer_append(w, buf, (size_t)size, NULL, NULL));
}

/* Reads the file back; number of samples, each checked. Without features the event's name comes from its
 * attr. */
static uint64_t read_back(const char *path, const char *name)
{
	struct da_error err = {0};
	struct da_reader *r;
	struct da_rec rec;
	uint64_t n = 0;
	int rc;

	ck_assert_msg(!da_reader_open(&r, path, &err), "%s", err.msg);
	ck_assert_uint_eq(da_reader_nr_events(r), 1);
	ck_assert_str_eq(da_reader_event(r, 0)->name, name);
	while ((rc = da_reader_next(r, &rec, &err)) > 0) {
		struct da_samp s;

		if (rec.type != DA_REC_SAMPLE)
			continue;
		ck_assert_ptr_eq(rec.event, da_reader_event(r, 0));
		ck_assert(!da_samp_parse(&rec.event->attr, rec.bytes, rec.size, rec.swap, &s));
		ck_assert_uint_eq(s.addr, 0x7000 + n);
		n++;
	}
	ck_assert_int_eq(rc, 0);
	da_reader_close(r);
	return n;
}

START_TEST(finished)
{
	struct da_writer *w = start("f");
	char *argv[] = {(char *)(uintptr_t) "damon-attrs", (char *)(uintptr_t) "record"};
	struct da_error err = {0};
	const struct da_file_info *info;
	struct da_reader *r;
	struct stat st;

	for (uint64_t i = 0; i < 100; i++)
		append(w, i);
	ck_assert(!da_writer_std_features(w, 2, argv, CLOCK_MONOTONIC, &err));
	ck_assert_msg(!da_writer_close(w, &err), "%s", err.msg);
	ck_assert(!stat("f", &st));
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	ck_assert_uint_eq(read_back("f", "page-faults:u"), 100);
	ck_assert(!da_reader_open(&r, "f", &err));
	info = da_reader_info(r);
	ck_assert(!info->damaged);
	ck_assert_uint_eq(info->nr_cmdline, 2);
	ck_assert_str_eq(info->cmdline[1], "record");
	ck_assert_ptr_nonnull(info->hostname);
	ck_assert_ptr_nonnull(info->arch);
	ck_assert_uint_gt(info->nr_cpus_online, 0);
	da_reader_close(r);
}
END_TEST

START_TEST(killed)
{
	struct da_writer *w = start("k");

	for (uint64_t i = 0; i < 50; i++)
		append(w, i);
	ck_assert(!da_writer_sync(w, NULL));
	for (uint64_t i = 50; i < 60; i++)
		append(w, i); /* after the last patch: readable all the same */
	da_writer_abort(w);
	ck_assert_uint_eq(read_back("k", "page-faults"), 60);
	w = start("never-patched");
	for (uint64_t i = 0; i < 7; i++)
		append(w, i);
	da_writer_abort(w);
	ck_assert_uint_eq(read_back("never-patched", "page-faults"), 7);
}
END_TEST

START_TEST(pipe_mode)
{
	int to = dup(STDOUT_FILENO), f = open("p", O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct da_writer *w;

	ck_assert_int_ge(f, 0);
	fflush(stdout);
	dup2(f, STDOUT_FILENO);
	w = start("-");
	dup2(to, STDOUT_FILENO);
	close(to);
	close(f);
	ck_assert(da_writer_is_pipe(w));
	for (uint64_t i = 0; i < 20; i++)
		append(w, i);
	ck_assert(!da_writer_close(w, NULL));
	ck_assert_uint_eq(read_back("p", "page-faults:u"), 20);
}
END_TEST

START_TEST(old_file)
{
	struct da_writer *w = start("f");

	append(w, 0);
	ck_assert(!da_writer_close(w, NULL));
	w = start("f");
	append(w, 0);
	append(w, 1);
	ck_assert(!da_writer_close(w, NULL));
	ck_assert_uint_eq(read_back("f.old", "page-faults"), 1);
	ck_assert_uint_eq(read_back("f", "page-faults"), 2);
}
END_TEST

START_TEST(read_back_bytes)
{
	struct da_writer *w = start("f");
	uint8_t buf[256], again[256];
	int size = sample(buf, sizeof(buf), 3);
	uint64_t at;

	append(w, 0);
	ck_assert(!da_writer_append(w, buf, (size_t)size, &at, NULL));
	append(w, 1);
	ck_assert(!da_writer_read_back(w, at, again, (size_t)size, NULL));
	ck_assert_mem_eq(buf, again, (size_t)size);
	ck_assert(!da_writer_close(w, NULL));
}
END_TEST

START_TEST(refusals)
{
	struct da_writer_event ev = {.attr = attr, .name = "x", .ids = ids, .nr_ids = 2};
	struct da_error err = {0};
	struct da_writer *w;

	ck_assert_int_eq(da_writer_open(&w, "no/such/dir/f", &ev, 1, &err), -DA_EIO);
	ck_assert_ptr_null(w);
	ck_assert_ptr_nonnull(strstr(err.msg, "'no/such/dir/f'"));
	ck_assert(!mkdir("d", 0700));
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(da_writer_open(&w, "d", &ev, 1, &err), -DA_EIO);
	rmdir("d");
	/* a full disk is an error at the first write, and stays one */
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(da_writer_open(&w, "/dev/full", &ev, 1, &err), -DA_EIO);
}
END_TEST

/* Each file has the header, the events and the features that were given for it; what cannot be renamed is an error that
 * stays; a pipe is refused. */
START_TEST(switched)
{
	struct da_writer *w = start("f");
	char *argv[] = {(char *)(uintptr_t) "damon-attrs", (char *)(uintptr_t) "record"};
	struct da_error err = {0};

	for (uint64_t i = 0; i < 10; i++)
		append(w, i);
	ck_assert(!da_writer_std_features(w, 2, argv, CLOCK_MONOTONIC, &err));
	ck_assert_msg(!da_writer_switch(w, "g", &err), "%s", err.msg);
	ck_assert_uint_eq(read_back("g", "page-faults:u"), 10);
	for (uint64_t i = 0; i < 7; i++)
		append(w, i);
	ck_assert_uint_gt(da_writer_size(w), 7 * 40);
	ck_assert(!da_writer_std_features(w, 2, argv, CLOCK_MONOTONIC, &err));
	ck_assert_msg(!da_writer_switch(w, "h", &err), "%s", err.msg);
	ck_assert_uint_eq(read_back("h", "page-faults:u"), 7);
	ck_assert_int_eq(da_writer_switch(w, "no/such/dir", &err), -DA_EIO);
	ck_assert_ptr_nonnull(strstr(err.msg, "no/such/dir"));
	ck_assert(da_writer_append(w, &err, 8, NULL, NULL));
	ck_assert_int_ne(da_writer_switch(w, "i", &err), 0);
	ck_assert_int_ne(da_writer_close(w, &err), 0);
	ck_assert_uint_eq(read_back("g", "page-faults:u"), 10);
	w = start("/dev/null");
	ck_assert_int_eq(da_writer_switch(w, "g", &err), -DA_EUNSUPPORTED);
	ck_assert(!da_writer_close(w, &err));
	unlink("g");
	unlink("h");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("writer");
	TCase *t = tcase_create("writer");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, make_dir, remove_dir);
	tcase_add_test(t, finished);
	tcase_add_test(t, killed);
	tcase_add_test(t, pipe_mode);
	tcase_add_test(t, old_file);
	tcase_add_test(t, read_back_bytes);
	tcase_add_test(t, refusals);
	tcase_add_test(t, switched);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
