/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading damo's records (da_damo.h): which kind it is, unpacking, and handing bytes to the reader of the kind.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_cursor.h"
#include "damo_priv.h"
#include "zlib_stream.h"

#define CHUNK 65536
#define MAX_ITEM                                                                                   \
	(32u << 20) /* a binary snapshot of a million regions; a line of text is far shorter */
#define MARK      "damon_recfmt_ver"
#define MARK_SIZE 16

static const char *const kind_names[DA_DAMO_NR] = {
	[DA_DAMO_NONE] = "none",         [DA_DAMO_ZIP] = "json_compressed",
	[DA_DAMO_JSON] = "json",         [DA_DAMO_BINARY] = "record",
	[DA_DAMO_BINARY0] = "record v0", [DA_DAMO_TEXT] = "perf_script",
};

const char *da_damo_kind_name(enum da_damo_kind k)
{
	return (unsigned)k < DA_DAMO_NR ? kind_names[k] : "unknown";
}

/* ---- kinds ---- */

static bool is_zip(const uint8_t *b, size_t len)
{
	uint8_t out[512];
	struct inflater *z;
	const uint8_t *in = b;
	size_t i = 0;
	long n;

	if (len < 2 || (b[0] & 15) != 8 || (b[0] << 8 | b[1]) % 31 || (b[1] & 32))
		return false;
	z = inflater_new();
	if (!z)
		return false;
	n = inflater_step(z, &in, &len, out, sizeof(out));
	inflater_free(z);
	while (n > 0 && i < (size_t)n && strchr(" \t\r\n", out[i]) && out[i])
		i++;
	return n > 0 && i < (size_t)n && out[i] == '[';
}

/* Without a mark a snapshot must look like one: a time, one target, regions in order. */
static bool is_binary0(const uint8_t *b, size_t len)
{
	struct da_cur c = da_cur_from(b, len, false);
	uint64_t sec = da_cur_u64(&c), nsec = da_cur_u64(&c), start, end;
	uint32_t targets = da_cur_u32(&c), regions;

	da_cur_u64(&c);
	regions = da_cur_u32(&c);
	start = da_cur_u64(&c);
	end = da_cur_u64(&c);
	return da_cur_ok(&c) && sec < 1ull << 40 && nsec < 1000000000 && targets == 1 && regions &&
	       regions <= DA_DAMON_MAX_REGIONS && start < end && !(start & 4095) && !(end & 4095);
}

static bool is_text(const uint8_t *b, size_t len)
{
	return !memchr(b, 0, len) && memmem(b, len, "damon:damon_aggregated:", 23);
}

enum da_damo_kind da_damo_detect(const uint8_t *b, size_t len)
{
	size_t i = 0;

	if (len >= MARK_SIZE && !memcmp(b, MARK, MARK_SIZE))
		return DA_DAMO_BINARY;
	if (is_zip(b, len))
		return DA_DAMO_ZIP;
	while (i < len && b[i] && strchr(" \t\r\n", b[i]))
		i++;
	if (i < len && b[i] == '[' && !memchr(b, 0, len))
		return DA_DAMO_JSON;
	if (is_text(b, len))
		return DA_DAMO_TEXT;
	return is_binary0(b, len) ? DA_DAMO_BINARY0 : DA_DAMO_NONE;
}

/* ---- snapshots ---- */

int damo_region(struct damo_snapshot *s, const struct da_damon_region *r)
{
	if (s->nr == s->room) {
		size_t room = s->room ? s->room * 2 : 64;
		struct da_damon_region *more = reallocarray(s->region, room, sizeof(*more));

		if (!more)
			return -DA_ENOMEM;
		s->region = more;
		s->room = room;
	}
	s->region[s->nr++] = *r;
	return 0;
}

/* damo ends some files with a snapshot that only says when the one before it ended. */
static bool is_trailer(const struct damo_snapshot *s)
{
	return s->nr == 1 && !s->region[0].start && !s->region[0].end;
}

int damo_give(struct da_damo *d, struct damo_snapshot *s, uint32_t kdamond, uint64_t target_id,
	      uint64_t end_ns)
{
	struct da_tp_damon r = {.target_id = target_id, .has_age = s->has_age};
	size_t i;
	int rc = 0;

	if (is_trailer(s) || s->nr > UINT32_MAX)
		s->nr = 0;
	for (i = 0; i < s->nr; i++) {
		if (s->region[i].start < s->region[i].end &&
		    (!i || s->region[i].start >= s->region[i - 1].end))
			continue;
		d->info.damaged++;
		s->nr = 0;
	}
	d->info.snapshots += s->nr > 0;
	r.nr_regions = (uint32_t)s->nr;
	for (i = 0; i < s->nr && rc != -DA_ENOMEM; i++) {
		r.start = s->region[i].start;
		r.end = s->region[i].end;
		r.nr_accesses = s->region[i].nr_accesses;
		r.age = s->region[i].age;
		rc = da_damon_add(d->to, kdamond, &r, end_ns);
	}
	s->nr = 0;
	s->has_age = false;
	return rc == -DA_ENOMEM ? rc : 0;
}

/* ---- bytes ---- */

struct da_damo *da_damo_new(enum da_damo_kind kind, struct da_damon *to)
{
	struct da_damo *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->kind = d->info.kind = kind;
	d->to = to;
	d->version = kind == DA_DAMO_BINARY0 ? 0 : -1;
	if (kind == DA_DAMO_ZIP) {
		d->unzip = inflater_new();
		if (!d->unzip) {
			free(d);
			return NULL;
		}
	}
	return d;
}

void da_damo_free(struct da_damo *d)
{
	if (!d)
		return;
	inflater_free(d->unzip);
	damo_json_free(d->json);
	free(d->buf);
	free(d);
}

static int break_off(struct da_damo *d)
{
	d->broken = true;
	d->info.damaged++;
	return 0;
}

/* Items that may lie across pieces: what is not whole stays. */
static int feed_items(struct da_damo *d, const uint8_t *bytes, size_t len, bool last)
{
	long used;

	if (len > d->room - d->len) {
		size_t room = d->room ? d->room : CHUNK;
		uint8_t *more;

		while (room - d->len < len)
			room *= 2;
		if (room > MAX_ITEM)
			return break_off(d);
		more = realloc(d->buf, room);
		if (!more)
			return -DA_ENOMEM;
		d->buf = more;
		d->room = room;
	}
	if (len)
		memcpy(d->buf + d->len, bytes, len);
	d->len += len;
	used = d->kind == DA_DAMO_TEXT ? damo_text_take(d, d->buf, d->len, last)
				       : damo_binary_take(d, d->buf, d->len);
	if (used < 0)
		return (int)used;
	d->len -= (size_t)used;
	if (d->len)
		memmove(d->buf, d->buf + used, d->len);
	return 0;
}

static int feed_zip(struct da_damo *d, const uint8_t *bytes, size_t len)
{
	uint8_t out[16384];
	long n;
	int rc = 0;

	do {
		n = inflater_step(d->unzip, &bytes, &len, out, sizeof(out));
		if (n == -DA_EDAMAGED)
			return break_off(d);
		if (n > 0)
			rc = damo_json_feed(d, out, (size_t)n);
	} while (n > 0 && !rc && !d->broken);
	return n < 0 ? (int)n : rc;
}

int da_damo_feed(struct da_damo *d, const uint8_t *bytes, size_t len)
{
	d->info.bytes += len;
	while (len && !d->broken) {
		size_t n = len < CHUNK ? len : CHUNK;
		int rc = d->kind == DA_DAMO_ZIP    ? feed_zip(d, bytes, n)
			 : d->kind == DA_DAMO_JSON ? damo_json_feed(d, bytes, n)
						   : feed_items(d, bytes, n, false);

		if (rc)
			return rc;
		bytes += n;
		len -= n;
	}
	return 0;
}

static uint64_t snapshots(const struct da_damon *d)
{
	const struct da_damon_target *t;
	uint64_t n = 0;

	for (size_t i = 0; (t = da_damon_target(d, i)); i++)
		n += t->snapshots;
	return n;
}

int da_damo_end(struct da_damo *d, struct da_damo_info *info)
{
	int rc = 0;

	if (d->kind == DA_DAMO_ZIP && !d->broken && !inflater_done(d->unzip))
		break_off(d);
	if (d->kind == DA_DAMO_ZIP || d->kind == DA_DAMO_JSON)
		rc = damo_json_end(d);
	else if (!d->broken && d->kind == DA_DAMO_TEXT)
		rc = feed_items(d, NULL, 0, true);
	/* fewer bytes than a time are the end of a binary file */
	if (!d->broken && d->len >= 16 && d->kind != DA_DAMO_TEXT)
		d->info.damaged++;
	if (d->kind == DA_DAMO_TEXT)
		d->info.snapshots = snapshots(d->to);
	*info = d->info;
	return rc;
}

static int read_all(FILE *f, const uint8_t *head, size_t len, struct da_damo *d)
{
	uint8_t buf[DA_DAMO_HEAD * 4];
	int rc = da_damo_feed(d, head, len);

	while (!rc && (len = fread(buf, 1, sizeof(buf), f)) > 0)
		rc = da_damo_feed(d, buf, len);
	return rc;
}

int da_damo_read(const char *path, struct da_damon **to, struct da_damo_info *info,
		 struct da_error *err)
{
	uint8_t head[DA_DAMO_HEAD];
	struct da_damo *d = NULL;
	enum da_damo_kind kind;
	FILE *f = fopen(path, "re");
	size_t len;
	int rc;

	*to = NULL;
	if (!f)
		return 1; /* whoever opens it next says why */
	len = fread(head, 1, sizeof(head), f);
	kind = da_damo_detect(head, len);
	if (kind == DA_DAMO_NONE) {
		fclose(f);
		return 1;
	}
	*to = da_damon_new();
	d = *to ? da_damo_new(kind, *to) : NULL;
	rc = d ? read_all(f, head, len, d) : -DA_ENOMEM;
	rc = rc ? rc : da_damo_end(d, info);
	if (rc)
		da_fail(err, -rc, 0, "%s", da_err_name(-rc));
	else if (ferror(f))
		rc = da_fail(err, DA_EIO, errno, "cannot read '%s'", path);
	else if (!info->snapshots)
		rc = da_fail(err, DA_EFORMAT, 0,
			     "'%s' seems to be a record of damo (%s) and has no snapshot", path,
			     da_damo_kind_name(kind));
	fclose(f);
	da_damo_free(d);
	if (rc) {
		da_damon_free(*to);
		*to = NULL;
		return rc;
	}
	da_damon_finish(*to);
	return 0;
}
