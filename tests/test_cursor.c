/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bounds-checked cursor: values, failures that stick, lengths that would wrap.
 */
#include <check.h>
#include <stdlib.h>

#include "da_cursor.h"

static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* Values as a little endian machine reads them; the test says so itself on a big endian one. */
static uint64_t number(const uint8_t *p, unsigned n, bool swap)
{
	bool big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != swap;
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)p[big ? n - 1 - i : i] << (8 * i);
	return v;
}

START_TEST(integers)
{
	for (int swap = 0; swap < 2; swap++) {
		struct da_cur c = da_cur_from(bytes, sizeof(bytes), swap);

		ck_assert_uint_eq(da_cur_u8(&c), 1);
		ck_assert_uint_eq(da_cur_u16(&c), number(bytes + 1, 2, swap));
		ck_assert_uint_eq(da_cur_u32(&c), number(bytes + 3, 4, swap));
		ck_assert_uint_eq(da_cur_u64(&c), number(bytes + 7, 8, swap));
		ck_assert(da_cur_ok(&c));
		ck_assert_uint_eq(da_cur_left(&c), 0);
	}
}
END_TEST

/* A read that does not fit gives zero, and so does every later one that would. */
START_TEST(failure_sticks)
{
	struct da_cur c = da_cur_from(bytes, 7, false);

	ck_assert_uint_eq(da_cur_u64(&c), 0);
	ck_assert(!da_cur_ok(&c));
	ck_assert_uint_eq(da_cur_left(&c), 0);
	ck_assert_uint_eq(da_cur_u8(&c), 0);
	ck_assert_uint_eq(da_cur_u16(&c), 0);
	ck_assert_uint_eq(da_cur_u32(&c), 0);
	ck_assert_ptr_null(da_cur_bytes(&c, 0));
	ck_assert_ptr_null(da_cur_str(&c));
	ck_assert_ptr_null(da_cur_array(&c, 0, 8));
	ck_assert(!da_cur_ok(&c));
}
END_TEST

START_TEST(lengths_never_wrap)
{
	static const uint64_t lengths[] = {16,         1ull << 31,     1ull << 32,
					   1ull << 63, UINT64_MAX - 1, UINT64_MAX};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct da_cur c = da_cur_from(bytes, sizeof(bytes), false);

		da_cur_skip(&c, 1);
		ck_assert_ptr_null(da_cur_bytes(&c, lengths[i]));
		ck_assert(!da_cur_ok(&c));
	}
}
END_TEST

START_TEST(bytes_at_the_end)
{
	struct da_cur c = da_cur_from(bytes, sizeof(bytes), false);

	ck_assert_ptr_eq(da_cur_bytes(&c, sizeof(bytes)), bytes);
	ck_assert_ptr_eq(da_cur_bytes(&c, 0), bytes + sizeof(bytes));
	ck_assert(da_cur_ok(&c));
	ck_assert_ptr_null(da_cur_bytes(&c, 1));
}
END_TEST

START_TEST(arrays)
{
	/* nr * size that fits, that does not, and that wraps to something that would */
	static const struct {
		uint64_t nr;
		size_t size;
		bool fits;
	} rows[] = {{0, 8, true},           {1, 8, true},           {2, 8, false},
		    {15, 1, true},          {16, 1, false},         {1ull << 61, 8, false},
		    {1ull << 63, 2, false}, {UINT64_MAX, 8, false}, {UINT64_MAX, 1, false},
		    {0, SIZE_MAX, true}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct da_cur c = da_cur_from(bytes, sizeof(bytes), false);
		const uint8_t *p = da_cur_array(&c, rows[i].nr, rows[i].size);

		ck_assert_int_eq(p != NULL, rows[i].fits);
		ck_assert_int_eq(da_cur_ok(&c), rows[i].fits);
		if (rows[i].fits)
			ck_assert_uint_eq(c.off, rows[i].nr * rows[i].size);
	}
}
END_TEST

START_TEST(children)
{
	struct da_cur c = da_cur_from(bytes, sizeof(bytes), true), s;

	s = da_cur_sub(&c, 4);
	ck_assert(da_cur_ok(&s) && s.swap);
	ck_assert_uint_eq(da_cur_left(&s), 4);
	ck_assert_uint_eq(da_cur_left(&c), sizeof(bytes) - 4);
	/* a child cannot read past its end, and does not spoil its parent */
	ck_assert_uint_eq(da_cur_u64(&s), 0);
	ck_assert(!da_cur_ok(&s) && da_cur_ok(&c));
	ck_assert_uint_eq(da_cur_u8(&c), 5);
	/* one that does not fit is bad, and its parent too */
	s = da_cur_sub(&c, 100);
	ck_assert(!da_cur_ok(&s) && !da_cur_ok(&c));
	ck_assert_uint_eq(da_cur_u8(&s), 0);
	ck_assert_ptr_null(da_cur_str(&s));
}
END_TEST

START_TEST(strings)
{
	static const uint8_t text[] = {'a', 'b', 0, 0, 'c', 'd'};
	struct da_cur c = da_cur_from(text, sizeof(text), false);

	ck_assert_str_eq(da_cur_str(&c), "ab");
	ck_assert_str_eq(da_cur_str(&c), "");
	ck_assert_uint_eq(c.off, 4);
	ck_assert_ptr_null(da_cur_str(&c)); /* no NUL up to the end */
	ck_assert(!da_cur_ok(&c));
	c = da_cur_from(text, 3, false);
	ck_assert_str_eq(da_cur_str(&c), "ab");
	ck_assert_ptr_null(da_cur_str(&c)); /* nothing left */
	ck_assert(!da_cur_ok(&c));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cursor");
	TCase *tc = tcase_create("cursor");
	SRunner *runner;
	int failed;

	tcase_add_test(tc, integers);
	tcase_add_test(tc, failure_sticks);
	tcase_add_test(tc, lengths_never_wrap);
	tcase_add_test(tc, bytes_at_the_end);
	tcase_add_test(tc, arrays);
	tcase_add_test(tc, children);
	tcase_add_test(tc, strings);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
