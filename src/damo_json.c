/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * damo's JSON: an array of records, each with an array of snapshots. A record can be a hundred times larger than
 * what we may hold, so this file finds the extents of each snapshot in the stream of bytes, and only a snapshot
 * is parsed as a whole (da_json.h). Numbers are mostly strings, with commas for thousands.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "da_json.h"
#include "damo_priv.h"

#define MAX_KEY    32
#define MAX_MEMBER 65536       /* text of a member of a record other than its snapshots */
#define UNNAMED    0x80000000u /* + number of the record: its kdamond until its name is known */

struct damo_json {
	unsigned
		depth; /* containers open: 1 the array, 2 a record, 3 its snapshots, 4 a snapshot */
	bool begun, in_string, escaped, value, in_snapshots, over;
	char key[MAX_KEY]; /* of the record's member */
	size_t key_len;
	char *text; /* being captured */
	size_t len, room, limit;
	bool capture, too_long;
	struct damo_snapshot snapshot;
	/* the record */
	uint32_t number;
	uint64_t target_id, kdamond;
	bool has_kdamond;
};

void damo_json_free(struct damo_json *j)
{
	if (!j)
		return;
	free(j->text);
	free(j->snapshot.region);
	free(j);
}

/* ---- values ---- */

/* A number that is a string or a number. */
static bool number(const struct da_json *v, const char *key, uint64_t *out)
{
	char text[48];
	uint64_t n = 0;
	const char *p;

	if (da_json_get_u64(v, key, out))
		return true;
	if (!da_json_get_string(v, key, text, sizeof(text)) || !*text)
		return false;
	for (p = text; *p; p++) {
		if (*p == ',')
			continue;
		if (*p < '0' || *p > '9' || __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return false;
	}
	*out = n;
	return true;
}

static uint32_t bounded(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* False: it does not hold what damo requires. A region that was not monitored has no accesses. */
static bool read_region(const struct da_json *v, struct da_damon_region *r, bool *has_age)
{
	struct da_json accesses, age;
	uint64_t n = 0, a = 0;

	if (!number(v, "start", &r->start) || !number(v, "end", &r->end))
		return false;
	if (da_json_get(v, "nr_accesses", &accesses) && !da_json_is_null(&accesses) &&
	    !number(&accesses, "samples", &n))
		(void)number(&accesses, "percent", &n);
	*has_age |= da_json_get(v, "age", &age) && !da_json_is_null(&age) &&
		    number(&age, "aggr_intervals", &a);
	r->nr_accesses = bounded(n);
	r->age = bounded(a);
	return true;
}

static int read_snapshot(struct da_damo *d, struct damo_json *j)
{
	struct da_json root, regions, v;
	struct da_damon_region r;
	uint64_t end_ns;
	size_t at = 0;
	bool whole;
	int rc = 0;

	if (j->too_long || !da_json_open(j->text, j->len, &root)) {
		d->info.damaged++;
		return 0;
	}
	whole = number(&root, "end_time", &end_ns) && da_json_get(&root, "regions", &regions);
	while (whole && !rc && da_json_next(&regions, &at, &v)) {
		whole = read_region(&v, &r, &j->snapshot.has_age);
		rc = whole ? damo_region(&j->snapshot, &r) : 0;
	}
	if (!whole) {
		d->info.damaged++;
		j->snapshot.nr = 0;
	}
	da_json_free(&root);
	return rc ? rc
		  : damo_give(d, &j->snapshot, UNNAMED + j->number, UNNAMED + j->number, end_ns);
}

static void read_member(struct da_damo *d, struct damo_json *j)
{
	struct da_json root, intervals;

	if (j->too_long || !da_json_open(j->text, j->len, &root)) {
		d->info.damaged++;
		return;
	}
	if (!strcmp(j->key, "target_id")) {
		(void)number(&root, "v", &j->target_id);
	} else if (!strcmp(j->key, "kdamond_idx")) {
		j->has_kdamond = number(&root, "v", &j->kdamond);
	} else if (!strcmp(j->key, "intervals") && !d->info.has_intervals &&
		   da_json_get(&root, "v", &intervals)) {
		d->info.has_intervals = number(&intervals, "sample_us", &d->info.sample_us) &&
					number(&intervals, "aggr_us", &d->info.aggr_us) &&
					d->info.sample_us && d->info.aggr_us;
	}
	da_json_free(&root);
}

/* ---- the stream ---- */

static int put(struct damo_json *j, char c)
{
	if (!j->capture || j->too_long)
		return 0;
	if (j->len == j->limit) {
		j->too_long = true;
		return 0;
	}
	if (j->len == j->room) {
		size_t room = j->room ? j->room * 2 : 4096;
		char *more = realloc(j->text, room);

		if (!more)
			return -DA_ENOMEM;
		j->text = more;
		j->room = room;
	}
	j->text[j->len++] = c;
	return 0;
}

static int begin(struct damo_json *j, const char *before, size_t limit)
{
	int rc = 0;

	j->capture = true;
	j->too_long = false;
	j->len = 0;
	j->limit = limit;
	while (*before && !rc)
		rc = put(j, *before++);
	return rc;
}

static int end_member(struct da_damo *d, struct damo_json *j)
{
	int rc = j->capture ? put(j, '}') : 0;

	if (j->capture && !rc)
		read_member(d, j);
	j->capture = j->value = false;
	j->key_len = 0;
	return rc;
}

static void begin_record(struct damo_json *j)
{
	j->target_id = 0;
	j->has_kdamond = false;
	j->value = false;
	j->key_len = 0;
}

static void end_record(struct da_damo *d, struct damo_json *j)
{
	uint32_t kdamond = j->has_kdamond ? bounded(j->kdamond) : 0;

	/* two records of one name: the later one is told apart by its number */
	if (!da_damon_rename(d->to, UNNAMED + j->number, UNNAMED + j->number, kdamond,
			     j->target_id))
		da_damon_rename(d->to, UNNAMED + j->number, UNNAMED + j->number, j->number,
				j->target_id);
	d->info.records++;
	j->number++;
}

static int open_container(struct da_damo *d, struct damo_json *j, char c)
{
	if (++j->depth > DA_JSON_DEPTH || (j->depth == 1 && c != '[') ||
	    (j->depth == 2 && c != '{') || j->number == UNNAMED - 1) {
		d->broken = true;
		d->info.damaged++;
		return 0;
	}
	if (j->depth == 2)
		begin_record(j);
	if (j->depth == 3 && c == '[' && j->value && !strcmp(j->key, "snapshots"))
		j->in_snapshots = true;
	if (j->in_snapshots && j->depth == 4 && c == '{')
		return begin(j, "{", DA_JSON_MAX_TEXT);
	return put(j, c);
}

static int close_container(struct da_damo *d, struct damo_json *j, char c)
{
	int rc = 0;

	if (j->depth == 2) {
		rc = end_member(d, j);
		end_record(d, j);
	} else {
		rc = put(j, c);
	}
	if (j->depth)
		j->depth--;
	if (j->in_snapshots && j->depth == 3 && j->capture && !rc) {
		j->capture = false;
		rc = read_snapshot(d, j);
	}
	if (j->depth == 2)
		j->in_snapshots = false;
	j->over = !j->depth;
	return rc;
}

static int take_string(struct damo_json *j, char c)
{
	if (j->escaped)
		j->escaped = false;
	else if (c == '\\')
		j->escaped = true;
	else if (c == '"')
		j->in_string = false;
	if (j->in_string && j->depth == 2 && !j->value) {
		if (j->key_len < MAX_KEY - 1)
			j->key[j->key_len++] = c;
		j->key[j->key_len] = '\0';
	}
	return put(j, c);
}

static int take(struct da_damo *d, struct damo_json *j, char c)
{
	if (j->in_string)
		return take_string(j, c);
	switch (c) {
	case '"':
		j->in_string = true;
		if (j->depth == 2 && !j->value)
			j->key_len = 0;
		return put(j, c);
	case '{':
	case '[':
		return open_container(d, j, c);
	case '}':
	case ']':
		return close_container(d, j, c);
	case ':':
		if (j->depth == 2 && !j->value) {
			j->value = true;
			return strcmp(j->key, "snapshots") ? begin(j, "{\"v\":", MAX_MEMBER) : 0;
		}
		return put(j, c);
	case ',':
		return j->depth == 2 ? end_member(d, j) : put(j, c);
	default:
		return put(j, c);
	}
}

int damo_json_feed(struct da_damo *d, const uint8_t *bytes, size_t len)
{
	int rc = 0;
	size_t i;

	if (!d->json)
		d->json = calloc(1, sizeof(*d->json));
	if (!d->json)
		return -DA_ENOMEM;
	for (i = 0; i < len && !rc && !d->broken && !d->json->over; i++)
		rc = take(d, d->json, (char)bytes[i]);
	return rc;
}

/* A record that was cut short keeps the snapshots that were whole. */
int damo_json_end(struct da_damo *d)
{
	struct damo_json *j = d->json;

	if (!j || j->over)
		return 0;
	if (!d->broken)
		d->info.damaged++;
	if (j->depth >= 2)
		end_record(d, j);
	return 0;
}
