/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads JSON (RFC 8259) without building a tree: one pass checks the whole text, then values are found by
 * scanning over what is known to be well formed. Nothing is allocated, nesting is bounded.
 */
#include "da_json.h"

#include <stdlib.h>
#include <string.h>

/* ---- the check: each takes the bytes [p, end) and returns what follows, or NULL ---- */

static const char *space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static const char *check_string(const char *p, const char *end)
{
	int i;

	if (p == end || *p++ != '"')
		return NULL;
	while (p < end && *p != '"') {
		if ((unsigned char)*p < 0x20)
			return NULL;
		if (*p++ != '\\')
			continue;
		if (p == end || !strchr("\"\\/bfnrtu", *p) || !*p)
			return NULL;
		if (*p++ == 'u')
			for (i = 0; i < 4; i++, p++)
				if (p == end || hex_digit(*p) < 0)
					return NULL;
	}
	return p < end ? p + 1 : NULL;
}

static const char *check_digits(const char *p, const char *end)
{
	const char *first = p;

	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p > first ? p : NULL;
}

static const char *check_number(const char *p, const char *end)
{
	const char *first;

	if (p < end && *p == '-')
		p++;
	first = p;
	p = check_digits(p, end);
	if (!p || (*first == '0' && p - first > 1))
		return NULL;
	if (p < end && *p == '.') {
		p = check_digits(p + 1, end);
		if (!p)
			return NULL;
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < end && (*p == '+' || *p == '-'))
			p++;
		p = check_digits(p, end);
	}
	return p;
}

static const char *check_word(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(end - p) >= n && !memcmp(p, word, n) ? p + n : NULL;
}

static const char *check_value(const char *p, const char *end, unsigned depth);

/* An object or array whose first byte has been read. */
static const char *check_container(const char *p, const char *end, unsigned depth, bool object)
{
	char last = object ? '}' : ']';

	if (depth >= DA_JSON_DEPTH)
		return NULL;
	p = space(p, end);
	if (p < end && *p == last)
		return p + 1;
	while (p) {
		if (object) {
			p = check_string(p, end);
			p = p ? space(p, end) : end;
			if (p == end || *p++ != ':')
				return NULL;
			p = space(p, end);
		}
		p = check_value(p, end, depth + 1);
		p = p ? space(p, end) : end;
		if (p == end)
			return NULL;
		if (*p == last)
			return p + 1;
		if (*p++ != ',')
			return NULL;
		p = space(p, end);
	}
	return NULL;
}

static const char *check_value(const char *p, const char *end, unsigned depth)
{
	if (p == end)
		return NULL;
	switch (*p) {
	case '{':
		return check_container(p + 1, end, depth, true);
	case '[':
		return check_container(p + 1, end, depth, false);
	case '"':
		return check_string(p, end);
	case 't':
		return check_word(p, end, "true");
	case 'f':
		return check_word(p, end, "false");
	case 'n':
		return check_word(p, end, "null");
	default:
		return check_number(p, end);
	}
}

bool da_json_open(const char *text, size_t len, struct da_json *v)
{
	const char *end = text + len, *first = space(text, end), *last = check_value(first, end, 0);

	if (!last || space(last, end) != end)
		return false;
	*v = (struct da_json){first, (size_t)(last - first)};
	return true;
}

/* ---- lookups: the text is known to be well formed ---- */

/* The end of the value at p. */
static const char *skip(const char *p, const char *end)
{
	return check_value(p, end, 0);
}

/* Compares a quoted string with a key of ours, which needs no escapes. */
static bool same(const char *quoted, const char *after, const char *key)
{
	size_t n = strlen(key);

	return (size_t)(after - quoted) == n + 2 && !memcmp(quoted + 1, key, n);
}

bool da_json_get(const struct da_json *v, const char *key, struct da_json *out)
{
	const char *p = v->p, *end = v->p + v->len, *name, *after;

	if (v->len == 0 || *p != '{')
		return false;
	p = space(p + 1, end);
	while (*p == '"') {
		name = p;
		after = check_string(p, end);
		p = space(space(after, end) + 1, end); /* over the colon */
		if (same(name, after, key)) {
			*out = (struct da_json){p, (size_t)(skip(p, end) - p)};
			return true;
		}
		p = space(skip(p, end), end);
		if (*p == ',')
			p = space(p + 1, end);
	}
	return false;
}

bool da_json_next(const struct da_json *v, size_t *pos, struct da_json *out)
{
	const char *p, *end = v->p + v->len;

	if (v->len == 0 || *v->p != '[')
		return false;
	/* *pos is behind the bracket, or behind the last element given. */
	p = space(v->p + (*pos ? *pos : 1), end);
	if (*pos && *p == ',')
		p = space(p + 1, end);
	if (*p == ']')
		return false;
	*out = (struct da_json){p, (size_t)(skip(p, end) - p)};
	*pos = (size_t)(p - v->p) + out->len;
	return true;
}

bool da_json_is_null(const struct da_json *v)
{
	return v->len == 4 && *v->p == 'n';
}

/* An integer without fraction and exponent. */
static bool integer(const struct da_json *v, bool *negative, uint64_t *out)
{
	const char *p = v->p, *end = v->p + v->len;
	uint64_t n = 0;

	*negative = p < end && *p == '-';
	p += *negative;
	if (p == end)
		return false;
	for (; p < end; p++)
		if (*p < '0' || *p > '9' || __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return false;
	*out = n;
	return true;
}

bool da_json_get_u64(const struct da_json *v, const char *key, uint64_t *out)
{
	struct da_json m;
	bool negative;
	uint64_t n;

	if (!da_json_get(v, key, &m) || !integer(&m, &negative, &n) || negative)
		return false;
	*out = n;
	return true;
}

bool da_json_get_i64(const struct da_json *v, const char *key, int64_t *out)
{
	struct da_json m;
	bool negative;
	uint64_t n;

	if (!da_json_get(v, key, &m) || !integer(&m, &negative, &n) || n > INT64_MAX)
		return false;
	*out = negative ? -(int64_t)n : (int64_t)n;
	return true;
}

bool da_json_get_bool(const struct da_json *v, const char *key, bool *out)
{
	struct da_json m;

	if (!da_json_get(v, key, &m) || (*m.p != 't' && *m.p != 'f'))
		return false;
	*out = *m.p == 't';
	return true;
}

static unsigned hex4(const char *p)
{
	return (unsigned)(hex_digit(p[0]) << 12 | hex_digit(p[1]) << 8 | hex_digit(p[2]) << 4 |
			  hex_digit(p[3]));
}

static size_t utf8_put(unsigned c, char *out)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* One character of a checked string at p, unescaped to utf8 (4 bytes); returns what follows it. */
static const char *character(const char *p, const char *end, char *utf8, size_t *n)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *found;
	unsigned c, low;

	if (*p != '\\') {
		utf8[0] = *p++;
		*n = 1;
		while (p < end && (*p & 0xc0) == 0x80 && *n < 4)
			utf8[(*n)++] = *p++;
		return p;
	}
	if (p[1] != 'u') {
		found = strchr(from, p[1]);
		utf8[0] = found ? to[found - from] : p[1];
		*n = 1;
		return p + 2;
	}
	c = hex4(p + 2);
	p += 6;
	if (c >= 0xd800 && c < 0xe000) {
		low = c < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2) : 0;
		if (low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
			p += 6;
		} else {
			c = 0xfffd;
		}
	}
	*n = utf8_put(c, utf8);
	return p;
}

bool da_json_get_string(const struct da_json *v, const char *key, char *out, size_t size)
{
	struct da_json m;
	const char *p, *end;
	char utf8[4];
	size_t n, used = 0;

	if (!da_json_get(v, key, &m) || *m.p != '"')
		return false;
	for (p = m.p + 1, end = m.p + m.len - 1; p < end;) {
		p = character(p, end, utf8, &n);
		if (utf8[0] == '\0' || used + n >= size)
			break;
		memcpy(out + used, utf8, n);
		used += n;
	}
	out[used] = '\0';
	return true;
}
