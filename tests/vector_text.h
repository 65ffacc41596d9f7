/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests with vectors: hex text to bytes, files below ../shared that may not be there, and an assertion for
 * inner loops. Header-only.
 */
#ifndef VECTOR_TEXT_H
#define VECTOR_TEXT_H

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* As ck_assert_msg(), which tells its parent of every success: too slow a million times. */
#define must(condition, ...)                                                                       \
	do {                                                                                       \
		if (!(condition))                                                                  \
			ck_abort_msg(__VA_ARGS__);                                                 \
	} while (0)

/* Spaces between bytes are allowed. Returns the number of bytes. */
static inline size_t from_hex(const char *hex, uint8_t *out, size_t max)
{
	size_t n = 0;
	unsigned byte;

	for (; *hex; hex++) {
		if (*hex == ' ')
			continue;
		ck_assert_uint_eq(sscanf(hex, "%2x", &byte), 1);
		ck_assert_uint_lt(n, max);
		out[n++] = (uint8_t)byte;
		hex++;
	}
	return n;
}

/* The path of a file below ../shared, or NULL, said aloud, if it is not there. */
static inline const char *shared_file(const char *name, char *path, size_t size)
{
	const char *dir = getenv("DA_SHARED");

	snprintf(path, size, "%s/%s", dir ? dir : "../shared", name);
	if (access(path, R_OK) == 0)
		return path;
	printf("not tested: no '%s'\n", path);
	return NULL;
}

#endif
