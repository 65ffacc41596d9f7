/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where one output file of a session ends and the next begins: at one moment for all CPUs, many times, with several
 * events and regardless of how lanes are split; and what happens when there can be no next file.
 */
#include "da_session.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"

#define FILES 24

static char dir[96], file[128], kept[FILES][160];

static void make_dir(void)
{
	test_folder(dir, sizeof(dir));
	snprintf(file, sizeof(file), "%s/f", dir);
	for (int i = 0; i < FILES; i++)
		snprintf(kept[i], sizeof(kept[i]), "%s.%02d", file, i);
}

static void remove_dir(void)
{
	for (int i = 0; i < FILES; i++)
		unlink(kept[i]);
	unlink(file);
	rmdir(dir);
}

struct run {
	struct da_session *s;
	struct da_spec *specs;
};

static struct run begin(const char *event, enum da_drain drain)
{
	struct da_session_opts o = {.target = DA_TARGET_PID,
				    .ids = &(pid_t){getpid()},
				    .nr_ids = 1,
				    .output = file,
				    .drain = drain};
	struct da_error err = {0};
	struct run r = {0};

	ck_assert_msg(!da_spec_parse(event, &r.specs, &o.nr_specs, NULL, 0, &err), "%s", err.msg);
	o.specs = r.specs;
	ck_assert_msg(!da_session_new(&r.s, &o, &err), "%s", err.msg);
	ck_assert_msg(!da_session_create(r.s, &err), "%s", err.msg);
	ck_assert_msg(!da_session_bind(r.s, &err), "%s", err.msg);
	ck_assert_msg(!da_session_enable(r.s, &err), "%s", err.msg);
	return r;
}

static void done(struct run *r)
{
	da_session_free(r->s);
	free(r->specs);
}

struct span {
	uint64_t samples, first_ns, last_ns;
};

static struct span span_of(const char *path)
{
	struct span s = {0, UINT64_MAX, 0};
	struct da_error err = {0};
	struct da_reader *rd;
	struct da_rec rec;

	ck_assert_msg(!da_reader_open(&rd, path, &err), "%s", err.msg);
	while (da_reader_next(rd, &rec, &err) > 0) {
		if (rec.type != DA_REC_SAMPLE)
			continue;
		s.samples++;
		s.first_ns = rec.time_ns < s.first_ns ? rec.time_ns : s.first_ns;
		s.last_ns = rec.time_ns > s.last_ns ? rec.time_ns : s.last_ns;
	}
	ck_assert_msg(!da_reader_info(rd)->damaged, "%s is damaged", path);
	ck_assert_uint_eq(da_reader_info(rd)->late_records, 0);
	da_reader_close(rd);
	return s;
}

/* Lanes look at their rings up to 100 ms apart; a file ends for all of them at once all the same, or the mapping that
 * one CPU recorded would be missing in the file of the samples that another one took behind it. */
static void one_moment(enum da_drain drain)
{
	struct run r = begin("fake/rate=2000/,fake/rate=500,name=b/", drain);
	struct da_error err = {0};
	uint64_t all = 0, last = 0;
	struct da_ledger l;

	for (int i = 0; i < FILES - 1; i++) {
		int rc;

		usleep((useconds_t)(5000 + i % 5 * 11000));
		do
			rc = da_session_switch(r.s, kept[i], &err);
		while (rc > 0);
		ck_assert_msg(!rc, "%s", err.msg);
		if (i % 7 == 0)
			ck_assert_int_ge(da_session_tick(r.s, &err), 0);
	}
	usleep(20000);
	ck_assert_msg(!da_session_stop(r.s, "duration", -1, &err), "%s", err.msg);
	l = da_session_ledger(r.s);
	done(&r);
	ck_assert_int_eq(rename(file, kept[FILES - 1]), 0);
	for (int i = 0; i < FILES; i++) {
		struct span s = span_of(kept[i]);

		if (s.samples && s.first_ns < last)
			ck_abort_msg("file %d begins %" PRIu64 " us before the end of the last one",
				     i, (last - s.first_ns) / 1000);
		last = s.last_ns > last ? s.last_ns : last;
		all += s.samples;
	}
	ck_assert_uint_gt(all, 0);
	ck_assert_uint_eq(all, l.in[DA_STAGE_SAMPLE]);
}

START_TEST(one_moment_per_cpu)
{
	one_moment(DA_DRAIN_PERCPU);
}
END_TEST

START_TEST(one_moment_single)
{
	one_moment(DA_DRAIN_SINGLE);
}
END_TEST

/* A place that cannot be renamed to: said, and everything after it fails, instead of going on in no file. */
START_TEST(no_such_folder)
{
	struct run r = begin("fake/rate=1000/", DA_DRAIN_PERCPU);
	struct da_error err = {0}, later = {0};
	char path[192];

	snprintf(path, sizeof(path), "%s/none/f", dir);
	ck_assert_int_lt(da_session_switch(r.s, path, &err), 0);
	ck_assert_msg(strstr(err.msg, path) != NULL, "%s", err.msg);
	ck_assert_int_lt(da_session_stop(r.s, "error", -1, &later), 0);
	done(&r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("session_switch");
	TCase *t = tcase_create("session_switch");
	SRunner *r;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, make_dir, remove_dir);
	tcase_add_test(t, one_moment_per_cpu);
	tcase_add_test(t, one_moment_single);
	tcase_add_test(t, no_such_folder);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
