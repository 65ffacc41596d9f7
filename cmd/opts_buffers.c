/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The value of --buffer, for record and diagnose: [NAME:]slots=N,keep=...,scope=...,decode=...
 */
#include <stdlib.h>
#include <string.h>

#include "opts.h"

/* One of two words; true if it is one of them. */
static bool either(const char *value, const char *first, const char *second, bool *is_second)
{
	*is_second = !strcmp(value, second);
	return *is_second || !strcmp(value, first);
}

static bool one_term(struct da_buffer *b, const char *key, const char *value)
{
	uint64_t slots;
	bool latest;

	if (!strcmp(key, "slots")) {
		if (opts_count(value, &slots) || slots < 2 || slots > 1u << 24)
			return false;
		b->slots = (size_t)slots;
		return true;
	}
	if (!strcmp(key, "keep")) {
		if (!either(value, "oldest", "latest", &latest))
			return false;
		b->keep = latest ? DA_KEEP_LATEST : DA_KEEP_OLDEST;
		return true;
	}
	if (!strcmp(key, "scope"))
		return either(value, "cpu", "global", &b->global);
	return !strcmp(key, "decode") && either(value, "early", "late", &b->late);
}

static bool is_name(const char *s, size_t n)
{
	return n && n < sizeof(((struct da_buffer *)NULL)->name) &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") >= n;
}

int opts_buffer(const char *s, struct da_buffer *out)
{
	const char *colon = strchr(s, ':');
	struct da_buffer b = {.keep = DA_KEEP_OLDEST};
	char *copy, *rest, *term;
	bool ok = true;

	if (colon) {
		if (!is_name(s, (size_t)(colon - s)))
			return -DA_EUSAGE;
		memcpy(b.name, s, (size_t)(colon - s));
		s = colon + 1;
	}
	copy = rest = strdup(s);
	if (!copy)
		return -DA_ENOMEM;
	while (ok && (term = strsep(&rest, ","))) {
		char *value = strchr(term, '=');

		ok = value != NULL;
		if (ok) {
			*value++ = '\0';
			ok = one_term(&b, term, value);
		}
	}
	free(copy);
	if (!ok)
		return -DA_EUSAGE;
	*out = b;
	return 0;
}
