/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON: what the writer writes is valid whatever the bytes; the reader takes whole texts of a bounded size,
 * and no wrong value for a right one; both agree with each other.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_json.h"

struct sink {
	char *text;
	size_t size;
	FILE *f;
	struct da_json_out w;
};

static void begin(struct sink *s, bool compact)
{
	s->f = open_memstream(&s->text, &s->size);
	ck_assert_ptr_nonnull(s->f);
	da_json_begin(&s->w, s->f, compact);
}

static void end(struct sink *s)
{
	struct da_json v;

	da_json_finish(&s->w);
	ck_assert_int_eq(fclose(s->f), 0);
	ck_assert_msg(da_json_open(s->text, s->size, &v), "not JSON: %s", s->text);
	da_json_free(&v);
}

static void some(struct da_json_out *w)
{
	da_json_object(w, NULL);
	da_json_string(w, "s", "a\"b\\c\n\t\x01");
	da_json_u64(w, "u", UINT64_MAX);
	da_json_i64(w, "i", -5);
	da_json_measured(w, "m", -1);
	da_json_hex(w, "h", 0x7f00);
	da_json_double(w, "d", 0.25);
	da_json_double(w, "nan", NAN);
	da_json_bool(w, "b", true);
	da_json_null(w, "n");
	da_json_array(w, "a");
	da_json_close(w);
	da_json_flat_array(w, "f");
	da_json_u64(w, NULL, 1);
	da_json_u64(w, NULL, 2);
	da_json_flat_object(w, NULL);
	da_json_u64(w, "x", 1);
	da_json_u64(w, "y", 2);
	da_json_close(w);
	da_json_close(w);
	da_json_close(w);
}

START_TEST(written_compact)
{
	struct sink s;

	begin(&s, true);
	some(&s.w);
	end(&s);
	ck_assert_str_eq(
		s.text,
		"{\"s\":\"a\\\"b\\\\c\\n\\t\\u0001\",\"u\":18446744073709551615,\"i\":-5,\"m\":null,"
		"\"h\":\"0x7f00\",\"d\":0.25,\"nan\":null,\"b\":true,\"n\":null,\"a\":[],"
		"\"f\":[1,2,{\"x\":1,\"y\":2}]}\n");
	free(s.text);
}
END_TEST

START_TEST(written_indented)
{
	struct sink s;

	begin(&s, false);
	some(&s.w);
	end(&s);
	ck_assert_str_eq(
		s.text,
		"{\n  \"s\": \"a\\\"b\\\\c\\n\\t\\u0001\",\n  \"u\": 18446744073709551615,\n"
		"  \"i\": -5,\n  \"m\": null,\n  \"h\": \"0x7f00\",\n  \"d\": 0.25,\n"
		"  \"nan\": null,\n  \"b\": true,\n  \"n\": null,\n  \"a\": [],\n"
		"  \"f\": [1, 2, {\"x\": 1, \"y\": 2}]\n}\n");
	free(s.text);
}
END_TEST

/* In memory: one line without its end, other texts put into it. */
START_TEST(written_in_memory)
{
	struct da_json_mem m;
	char *text;

	ck_assert(da_json_mem_begin(&m));
	da_json_object(&m.w, NULL);
	da_json_raw(&m.w, "a", "[1, {}]");
	da_json_raw(&m.w, "b", "null");
	da_json_close(&m.w);
	text = da_json_mem_end(&m);
	ck_assert_str_eq(text, "{\"a\":[1, {}],\"b\":null}");
	free(text);
}
END_TEST

/* Every byte pair, and the borders of UTF-8. */
START_TEST(any_bytes)
{
	static const char *const borders[] = {
		"\xc2\x80",         "\xc1\xbf",         "\xdf\xbf",         "\xe0\xa0\x80",
		"\xe0\x9f\xbf",     "\xed\x9f\xbf",     "\xed\xa0\x80",     "\xef\xbf\xbf",
		"\xf0\x90\x80\x80", "\xf0\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf", "\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80", "\xe2\x82",         "\xf0\x9f\x98",
	};
	char text[4] = "";
	struct sink s;

	begin(&s, false);
	da_json_array(&s.w, NULL);
	for (int a = 1; a < 256; a++) {
		for (int b = 0; b < 256; b += 3) {
			text[0] = (char)a;
			text[1] = (char)b;
			da_json_string(&s.w, NULL, text);
		}
	}
	for (size_t i = 0; i < sizeof(borders) / sizeof(borders[0]); i++)
		da_json_string(&s.w, NULL, borders[i]);
	da_json_close(&s.w);
	end(&s);
	/* neither a control character nor a byte that is not UTF-8 is left */
	for (size_t i = 0; i < s.size; i++)
		ck_assert((unsigned char)s.text[i] >= 0x20 || s.text[i] == '\n');
	ck_assert_ptr_null(memchr(s.text, 0xc1, s.size));
	ck_assert_ptr_null(memchr(s.text, 0xf5, s.size));
	ck_assert_ptr_null(memmem(s.text, s.size, "\xed\xa0", 2));
	ck_assert_ptr_nonnull(memmem(s.text, s.size, "\xf4\x8f\xbf\xbf", 4));
	free(s.text);
}
END_TEST

static const char *const valid[] = {
	"0",
	"-0",
	"12",
	"1.5",
	"-1.5e+10",
	"1E5",
	"true",
	"false",
	"null",
	"\"\"",
	"\"\\u00e9\\n\\/\"",
	"[]",
	"{}",
	" [ 1 , [ ] , { } ] ",
	"{\"a\":{\"b\":[1,2]},\"a\":3}",
	"\t\r\n{ }\n",
	"\"\xc3\xa9\"",
};

static const char *const invalid[] = {
	"",       " ",         "01",          "-",         ".5",       "1e",
	"+1",     "tru",       "truex",       "nul",       "\"",       "\"\\x\"",
	"[",      "\"\\u12\"", "\"\\u12g4\"", "]",         "[1",       "[1,",
	"[1,]",   "[,1]",      "[1 2]",       "{",         "{1:2}",    "{\"a\"}",
	"{a:1}",  "{\"a\":}",  "{\"a\":1,}",  "{\"a\" 1}", "[1]]",     "{\"a\":1 \"b\":2}",
	"1 2",    "'a'",       "[1}",         "{\"a\":1]", "[TRUE]",   "[]x",
	"/**/ 1", "[1]\v",     "null null",   "[01]",      "{\"a\"1}",
};

START_TEST(grammar)
{
	struct da_json v;
	char *copy;

	for (size_t i = 0; i < sizeof(valid) / sizeof(valid[0]); i++) {
		size_t n = strlen(valid[i]);

		copy = malloc(n); /* no terminator: a read past the end is found by the sanitizer */
		memcpy(copy, valid[i], n);
		ck_assert_msg(da_json_open(copy, n, &v), "refused: %s", valid[i]);
		da_json_free(&v);
		free(copy);
	}
	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
		size_t n = strlen(invalid[i]);

		copy = malloc(n ? n : 1);
		memcpy(copy, invalid[i], n);
		ck_assert_msg(!da_json_open(copy, n, &v), "accepted: %s", invalid[i]);
		free(copy);
	}
	/* a NUL ends no text */
	ck_assert(!da_json_open("[1]\0", 4, &v) && !da_json_open("1\0", 2, &v) &&
		  !da_json_open("[1\0]", 4, &v) && !da_json_open("{}\0{}", 5, &v));
}
END_TEST

/* No cut of a text is taken for the text. */
START_TEST(every_cut)
{
	static const char text[] =
		"{\"a\": [1, -2.5e3, \"x\\u0041\"], \"b\": {\"c\": true, \"d\": null}}";
	struct da_json v;

	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		char *copy = malloc(n ? n : 1);

		memcpy(copy, text, n);
		ck_assert_msg(!da_json_open(copy, n, &v), "cut at %zu accepted", n);
		free(copy);
	}
	ck_assert(da_json_open(text, sizeof(text) - 1, &v));
	da_json_free(&v);
}
END_TEST

START_TEST(depth)
{
	char text[2 * DA_JSON_DEPTH + 2];
	struct da_json v;

	memset(text, '[', DA_JSON_DEPTH);
	memset(text + DA_JSON_DEPTH, ']', DA_JSON_DEPTH);
	ck_assert(da_json_open(text, 2 * DA_JSON_DEPTH, &v));
	da_json_free(&v);
	memset(text, '[', DA_JSON_DEPTH + 1);
	memset(text + DA_JSON_DEPTH + 1, ']', DA_JSON_DEPTH + 1);
	ck_assert(!da_json_open(text, 2 * DA_JSON_DEPTH + 2, &v));
}
END_TEST

/* `n` bytes: an array of this element again and again, spaces after it. */
static bool opens(const char *element, size_t n)
{
	size_t len = strlen(element), at = 0;
	char *text = malloc(n);
	struct da_json v;
	bool opened;

	memset(text, ' ', n);
	for (text[at++] = '['; at + len + 1 <= n; at += len)
		memcpy(text + at, element, len);
	text[at - 1] = ']'; /* over the last comma */
	opened = da_json_open(text, n, &v);
	if (opened)
		da_json_free(&v);
	free(text);
	return opened;
}

/* Neither long texts nor such as take much memory for each byte. */
START_TEST(size)
{
	ck_assert(opens(
		"\"a string of some 100 bytes, so that it takes less memory than there are bytes of "
		"text; or not much more\",",
		DA_JSON_MAX_TEXT));
	ck_assert(!opens(
		"\"a string of some 100 bytes, so that it takes less memory than there are bytes of "
		"text; or not much more\",",
		DA_JSON_MAX_TEXT + 1));
	ck_assert(opens("{},", 3 * 200000));
	ck_assert(!opens("{},", 3 * 300000));
	ck_assert(opens("1,", 2 * 500000));
	ck_assert(!opens("1,", 2 * 2000000));
	ck_assert(!opens("[],", 3 * 600000));
}
END_TEST

static void check_text(const struct da_json *v, const char *want)
{
	char *text = da_json_text(v);

	ck_assert_str_eq(text, want);
	free(text);
}

START_TEST(lookups)
{
	static const char text[] =
		"{\"n\": 18446744073709551615, \"i\": -7, \"f\": 1.5, \"e\": 1e3, \"t\": \"7\", "
		"\"low\": -9223372036854775809, \"max\": 9223372036854775807, "
		"\"min\": -9223372036854775807, \"over\": 9223372036854775808, "
		"\"s\": \"\\ud83d\\ude00\\ud800x\\u00e9\\u0000y\", \"b\": false, \"z\": null, "
		"\"o\": {\"n\": 1}, \"a\": [10, [20, 21], {\"n\": 30, \"p\": \"/\"}, null]}";
	struct da_json v, m, e;
	uint64_t u = 42;
	int64_t i = 42;
	bool b = true;
	char s[32];
	size_t pos = 0;

	ck_assert(da_json_open(text, strlen(text), &v));
	ck_assert(da_json_get_u64(&v, "n", &u));
	ck_assert_uint_eq(u, UINT64_MAX);
	ck_assert(da_json_get_i64(&v, "i", &i));
	ck_assert_int_eq(i, -7);
	u = 42;
	ck_assert(!da_json_get_u64(&v, "i", &u) && !da_json_get_u64(&v, "low", &u) &&
		  !da_json_get_u64(&v, "f", &u) && !da_json_get_u64(&v, "e", &u) &&
		  !da_json_get_u64(&v, "t", &u) && !da_json_get_u64(&v, "b", &u) &&
		  !da_json_get_u64(&v, "z", &u) && !da_json_get_u64(&v, "o", &u) &&
		  !da_json_get_u64(&v, "none", &u));
	ck_assert_uint_eq(u, 42);
	i = 42;
	ck_assert(!da_json_get_i64(&v, "n", &i) && !da_json_get_i64(&v, "over", &i) &&
		  !da_json_get_i64(&v, "low", &i) && !da_json_get_i64(&v, "t", &i) && i == 42);
	ck_assert(da_json_get_i64(&v, "max", &i) && i == INT64_MAX);
	ck_assert(da_json_get_i64(&v, "min", &i) && i == -INT64_MAX);
	ck_assert(da_json_get_u64(&v, "over", &u) && u == (uint64_t)INT64_MAX + 1);
	ck_assert(da_json_get_bool(&v, "b", &b) && !b);
	ck_assert(!da_json_get_bool(&v, "z", &b) && !da_json_get_bool(&v, "n", &b) && !b);
	ck_assert(da_json_get(&v, "z", &m) && da_json_is_null(&m) && !da_json_is_object(&m));
	ck_assert(!da_json_get(&m, "n", &e) && !da_json_get_u64(&m, "n", &u) &&
		  da_json_count(&m) == 0);
	ck_assert(da_json_get(&v, "b", &m) && !da_json_is_null(&m));
	ck_assert(da_json_get_string(&v, "s", s, sizeof(s)));
	ck_assert_str_eq(
		s,
		"\xf0\x9f\x98\x80\xef\xbf\xbdx\xc3\xa9"); /* a lone half becomes U+FFFD; NUL ends */
	ck_assert(da_json_get_string(&v, "s", s, 8));     /* cut at a character, not inside one */
	ck_assert_str_eq(s, "\xf0\x9f\x98\x80\xef\xbf\xbd");
	ck_assert(da_json_get_string(&v, "s", s, 7) && !strcmp(s, "\xf0\x9f\x98\x80"));
	ck_assert(da_json_get_string(&v, "s", s, 4) && !strcmp(s, ""));
	ck_assert(da_json_get_string(&v, "s", s, 1) && !strcmp(s, ""));
	ck_assert(!da_json_get_string(&v, "n", s, sizeof(s)) &&
		  !da_json_get_string(&v, "z", s, sizeof(s)));
	ck_assert(da_json_is_object(&v) && da_json_count(&v) == 0);
	ck_assert(da_json_get(&v, "o", &m) && da_json_get_u64(&m, "n", &u) && u == 1);
	ck_assert(!da_json_next(&m, &pos, &e));
	ck_assert(da_json_get(&v, "a", &m) && !da_json_get_u64(&m, "n", &u) &&
		  !da_json_is_object(&m));
	ck_assert_uint_eq(da_json_count(&m), 4);
	ck_assert(da_json_next(&m, &pos, &e));
	check_text(&e, "10");
	ck_assert(da_json_next(&m, &pos, &e) && da_json_count(&e) == 2);
	check_text(&e, "[20,21]");
	ck_assert(da_json_next(&m, &pos, &e) && da_json_get_u64(&e, "n", &u) && u == 30);
	check_text(&e, "{\"n\":30,\"p\":\"/\"}");
	ck_assert(da_json_next(&m, &pos, &e) && da_json_is_null(&e));
	check_text(&e, "null");
	ck_assert(!da_json_next(&m, &pos, &e) && !da_json_next(&m, &pos, &e));
	da_json_free(&v);
	ck_assert(da_json_open("[]", 2, &v));
	pos = 0;
	ck_assert(!da_json_next(&v, &pos, &e));
	da_json_free(&v);
	ck_assert(da_json_open("{\"a\":1,\"a\":2}", 13, &v));
	ck_assert(da_json_get_u64(&v, "a", &u) && u == 2);
	da_json_free(&v);
	ck_assert(da_json_open("null", 4, &v) && da_json_is_null(&v));
	da_json_free(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("json");
	TCase *t = tcase_create("both ways");
	SRunner *r;
	int failed;

	tcase_add_test(t, written_compact);
	tcase_add_test(t, written_indented);
	tcase_add_test(t, written_in_memory);
	tcase_add_test(t, any_bytes);
	tcase_add_test(t, grammar);
	tcase_add_test(t, every_cut);
	tcase_add_test(t, depth);
	tcase_add_test(t, size);
	tcase_add_test(t, lookups);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
