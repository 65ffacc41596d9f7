/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Error codes and messages.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "da_error.h"

START_TEST(every_code_has_a_name)
{
	for (int code = 0; code < DA_ERR_NR; code++) {
		ck_assert_str_ne(da_err_name(code), "unknown error");
		ck_assert_str_eq(da_err_name(-code), da_err_name(code));
		for (int other = 0; other < code; other++)
			ck_assert_str_ne(da_err_name(code), da_err_name(other));
	}
	ck_assert_str_eq(da_err_name(DA_ERR_NR), "unknown error");
	ck_assert_str_eq(da_err_name(-DA_ERR_NR), "unknown error");
	ck_assert_str_eq(da_err_name(1 << 30), "unknown error");
	ck_assert_str_eq(da_err_name(-2147483647 - 1), "unknown error");
}
END_TEST

START_TEST(fill)
{
	struct da_error e = {0};

	ck_assert_int_eq(
		da_fail(&e, DA_EDAMAGED, 0, "cannot read '%s': record at 0x%x", "f", 0x1f40),
		-DA_EDAMAGED);
	ck_assert_int_eq(e.code, DA_EDAMAGED);
	ck_assert_int_eq(e.sys, 0);
	ck_assert_str_eq(e.msg, "cannot read 'f': record at 0x1f40");
}
END_TEST

START_TEST(errno_is_appended)
{
	struct da_error e = {0};

	ck_assert_int_eq(da_fail(&e, DA_EIO, ENOENT, "cannot open '%s'", "x"), -DA_EIO);
	ck_assert_int_eq(e.sys, ENOENT);
	ck_assert_str_eq(e.msg, "cannot open 'x': No such file or directory");
}
END_TEST

START_TEST(first_message_stays)
{
	struct da_error e = {0};

	da_fail(&e, DA_EIO, EACCES, "first");
	ck_assert_int_eq(da_fail(&e, DA_ENOMEM, 0, "second"), -DA_ENOMEM);
	ck_assert_int_eq(e.code, DA_EIO);
	ck_assert_str_eq(e.msg, "first: Permission denied");
}
END_TEST

START_TEST(no_struct)
{
	ck_assert_int_eq(da_fail(NULL, DA_EPERM, 1, "%d", 1), -DA_EPERM);
}
END_TEST

/* A code that is none of ours must not read as success. */
START_TEST(bad_code)
{
	static const int codes[] = {0, -1, DA_ERR_NR, 1000};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		struct da_error e = {0};

		ck_assert_int_eq(da_fail(&e, codes[i], 0, "m"), -DA_EBUG);
		ck_assert_int_eq(e.code, DA_EBUG);
	}
}
END_TEST

START_TEST(long_messages_are_cut)
{
	struct da_error e = {0};
	char name[2000];

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	da_fail(&e, DA_EIO, ENOSPC, "cannot write '%s'", name);
	ck_assert_uint_eq(strlen(e.msg), sizeof(e.msg) - 1);
}
END_TEST

/* File names hold any byte; a message is one line without control sequences. */
START_TEST(one_line)
{
	struct da_error e = {0};

	da_fail(&e, DA_ENOENT, 0, "cannot open '%s'", "a\nb\x1b[31mc\x7f\r\xc3\xa4");
	ck_assert_str_eq(e.msg, "cannot open 'a?b?[31mc??\xc3\xa4'");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("error");
	TCase *tc = tcase_create("error");
	SRunner *runner;
	int failed;

	tcase_add_test(tc, every_code_has_a_name);
	tcase_add_test(tc, fill);
	tcase_add_test(tc, errno_is_appended);
	tcase_add_test(tc, first_message_stays);
	tcase_add_test(tc, no_struct);
	tcase_add_test(tc, bad_code);
	tcase_add_test(tc, long_messages_are_cut);
	tcase_add_test(tc, one_line);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
