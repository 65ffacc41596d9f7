/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads JSON with json-c, of which this file is the only user. What it adds: a text is one whole value or
 * none, no text makes json-c take more memory than MAX_TREE, and a lookup does not turn one type into
 * another as json-c's getters do.
 */
#include "da_json.h"

#include <json-c/json.h>
#include <string.h>

/* What json-c 0.16 allocates at most: for an object even if it is empty, and for any value with its place
 * in a container (measured: 800 bytes for "{},", 150 for "[],", 70 for "1,"; a key and its slot 200). */
#define OBJECT_COST 800u
#define VALUE_COST  300u
#define MAX_TREE    (256u << 20)

/* Three bytes of text can take 800 of memory, so the length alone bounds too little. Braces and commas that
 * are in strings count too: no text of ours comes near the limit. */
static bool affordable(const char *text, size_t len)
{
	size_t cost = 0;

	if (len == 0 || len > DA_JSON_MAX_TEXT)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '{')
			cost += OBJECT_COST;
		else if (text[i] == '[' || text[i] == ',')
			cost += VALUE_COST;
	}
	return cost <= MAX_TREE;
}

bool da_json_open(const char *text, size_t len, struct da_json *root)
{
	struct json_tokener *t;
	struct json_object *o;
	bool whole;

	if (!affordable(text, len))
		return false;
	t = json_tokener_new_ex(DA_JSON_DEPTH);
	if (!t)
		return false;
	json_tokener_set_flags(t, JSON_TOKENER_STRICT);
	o = json_tokener_parse_ex(t, text, (int)len);
	whole = json_tokener_get_parse_end(t) == len;
	/* a number or a word at the end of the text: only a NUL says that no more follows */
	if (whole && json_tokener_get_error(t) == json_tokener_continue)
		o = json_tokener_parse_ex(t, "", 1);
	whole = whole && json_tokener_get_error(t) == json_tokener_success;
	json_tokener_free(t);
	if (!whole) {
		json_object_put(o);
		return false;
	}
	root->obj = o;
	return true;
}

static struct json_object *object(const struct da_json *v)
{
	return (struct json_object *)v->obj;
}

void da_json_free(struct da_json *root)
{
	json_object_put(object(root));
	root->obj = NULL;
}

bool da_json_get(const struct da_json *v, const char *key, struct da_json *out)
{
	struct json_object *o;

	if (!json_object_object_get_ex(object(v), key, &o))
		return false;
	out->obj = o;
	return true;
}

size_t da_json_count(const struct da_json *v)
{
	return json_object_is_type(object(v), json_type_array) ? json_object_array_length(object(v))
							       : 0;
}

bool da_json_next(const struct da_json *v, size_t *pos, struct da_json *out)
{
	if (*pos >= da_json_count(v))
		return false;
	out->obj = json_object_array_get_idx(object(v), (*pos)++);
	return true;
}

bool da_json_is_object(const struct da_json *v)
{
	return json_object_is_type(object(v), json_type_object);
}

bool da_json_is_null(const struct da_json *v)
{
	return !v->obj;
}

char *da_json_text(const struct da_json *v)
{
	const char *text = json_object_to_json_string_ext(
		object(v), JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

	return text ? strdup(text) : NULL;
}

/* A member of this type, or NULL. */
static struct json_object *member(const struct da_json *v, const char *key, enum json_type type)
{
	struct da_json m;

	return da_json_get(v, key, &m) && json_object_is_type(object(&m), type) ? object(&m) : NULL;
}

bool da_json_get_u64(const struct da_json *v, const char *key, uint64_t *out)
{
	struct json_object *o = member(v, key, json_type_int);

	if (!o || json_object_get_int64(o) < 0)
		return false;
	*out = json_object_get_uint64(o);
	return true;
}

bool da_json_get_i64(const struct da_json *v, const char *key, int64_t *out)
{
	struct json_object *o = member(v, key, json_type_int);

	/* json-c reads all that is below INT64_MIN as INT64_MIN: out of range, both */
	if (!o || json_object_get_uint64(o) > INT64_MAX || json_object_get_int64(o) == INT64_MIN)
		return false;
	*out = json_object_get_int64(o);
	return true;
}

bool da_json_get_bool(const struct da_json *v, const char *key, bool *out)
{
	struct json_object *o = member(v, key, json_type_boolean);

	if (!o)
		return false;
	*out = json_object_get_boolean(o);
	return true;
}

bool da_json_get_string(const struct da_json *v, const char *key, char *out, size_t size)
{
	struct json_object *o = member(v, key, json_type_string);
	const char *s;
	size_t n;

	if (!o)
		return false;
	s = json_object_get_string(o);
	n = strlen(s);
	if (n >= size)
		for (n = size - 1; n > 0 && (s[n] & 0xc0) == 0x80;)
			n--;
	memcpy(out, s, n);
	out[n] = '\0';
	return true;
}
