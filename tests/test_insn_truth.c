/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decoder against the labels of other people: 316 x86 instructions with bytes and the accesses that
 * the manuals give them, formats/tools/capstone/x86_results.json of the shared folder (DA_SHARED or ../shared). The
 * folder is not part of the project; without it the test is skipped.
 */
#include <check.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "da_insn.h"
#include "da_report.h"

#define FILE_NAME "formats/tools/capstone/x86_results.json"

/* Where we know more than the label. */
static const struct {
	const char *text, *why;
} known[] = {
	{"enter 16,2", "the label leaves out the read of the outer frame pointer"},
};

static char path[4096];
static struct da_insn_decoder *decoder;

static const char *row_str(struct json_object *row, size_t i)
{
	const char *s = json_object_get_string(json_object_array_get_idx(row, i));

	return s ? s : "";
}

static size_t unhex(const char *s, uint8_t out[32])
{
	size_t n = 0;
	unsigned v;
	int used;

	while (n < 32 && sscanf(s, "%2x%n", &v, &used) == 1) {
		out[n++] = (uint8_t)v;
		s += used;
	}
	return n;
}

/* Takes one label like "RW8" off the accesses not yet matched; "?" fits any size. */
static bool take(const struct da_insn *in, const char *label, size_t len, unsigned *used)
{
	unsigned op = 0;
	size_t i = 0;

	for (; i < len && (label[i] == 'R' || label[i] == 'W'); i++)
		op |= label[i] == 'R' ? DA_OP_READ : DA_OP_WRITE;
	for (unsigned k = 0; k < in->nr; k++) {
		if (*used >> k & 1 || in->acc[k].op != op)
			continue;
		if (label[i] != '?' && in->acc[k].size != strtoul(label + i, NULL, 10))
			continue;
		*used |= 1u << k;
		return true;
	}
	return false;
}

/* Compares with a comma-separated list; false if one of its labels is not among the accesses. */
static bool take_all(const struct da_insn *in, const char *labels, unsigned *used)
{
	while (*labels) {
		size_t len = strcspn(labels, ",");

		if (*labels != '-' && *labels != 'G' && *labels != 'S' &&
		    !take(in, labels, len, used))
			return false;
		labels += len + (labels[len] == ',');
	}
	return true;
}

static bool agrees(const struct da_insn *in, size_t n, const char *operand, const char *implicit)
{
	unsigned used = 0;

	if (in->len != n || !take_all(in, operand, &used) || !take_all(in, implicit, &used))
		return false;
	if (*operand == 'G' || *operand == 'S')
		return in->kind == DA_INSN_GATHER;
	if (!used)
		return in->kind == DA_INSN_NO_MEMORY || in->kind == DA_INSN_PREFETCH;
	return used == (1u << in->nr) - 1;
}

static const char *explained(const char *text)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].text, text) == 0)
			return known[i].why;
	return NULL;
}

START_TEST(labels)
{
	struct json_object *rows = json_object_from_file(path);
	size_t nr, agreed = 0, differ = 0;

	ck_assert_msg(rows && json_object_is_type(rows, json_type_array), "%s: no JSON list", path);
	nr = json_object_array_length(rows);
	ck_assert_uint_ge(nr, 300);
	for (size_t i = 0; i < nr; i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		const char *text = row_str(row, 1), *why = explained(text);
		enum da_arch arch = atoi(row_str(row, 0)) == 32 ? DA_ARCH_X86_32 : DA_ARCH_X86_64;
		uint8_t bytes[32];
		size_t n = unhex(row_str(row, 4), bytes);
		struct da_insn in;

		ck_assert_msg(n > 0, "%s: no bytes", text);
		da_insn_decode(decoder, arch, bytes, n, &in);
		if (agrees(&in, n, row_str(row, 2), row_str(row, 3))) {
			ck_assert_msg(!why, "%s agrees: no longer an exception", text);
			agreed++;
		} else {
			ck_assert_msg(why != NULL, "%s (%s): kind %u, %u accesses, label '%s' '%s'",
				      text, row_str(row, 4), in.kind, in.nr, row_str(row, 2),
				      row_str(row, 3));
			printf("differs: %s: %s\n", text, why);
			differ++;
		}
	}
	printf("%zu of %zu labels agree, %zu explained\n", agreed, nr, differ);
	json_object_put(rows);
}
END_TEST

int main(void)
{
	const char *shared = getenv("DA_SHARED");
	Suite *s = suite_create("insn_truth");
	TCase *t = tcase_create("labels");
	SRunner *r;
	int failed;

	snprintf(path, sizeof(path), "%s/%s", shared ? shared : "../shared", FILE_NAME);
	if (access(path, R_OK) != 0) {
		printf("skipped: no %s\n", path);
		return 77;
	}
	decoder = da_insn_decoder_new();
	if (!decoder)
		return EXIT_FAILURE;
	tcase_add_test(t, labels);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	da_insn_decoder_free(decoder);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
