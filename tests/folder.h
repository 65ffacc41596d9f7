/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A folder, or a file, for a test to write to: below $TMPDIR, or /tmp.
 */
#ifndef TESTS_FOLDER_H
#define TESTS_FOLDER_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static inline void test_path(char *path, size_t size)
{
	const char *tmp = getenv("TMPDIR");
	int n = snprintf(path, size, "%s/da-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");

	ck_assert_msg(n > 0 && (size_t)n < size, "TMPDIR is too long: %s", tmp);
}

/* Makes a folder, which the test removes. */
static inline void test_folder(char *path, size_t size)
{
	test_path(path, size);
	ck_assert_ptr_nonnull(mkdtemp(path));
}

/* Makes a file, which the test removes; returns its descriptor. */
static inline int test_file(char *path, size_t size)
{
	int fd;

	test_path(path, size);
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	return fd;
}

#endif
