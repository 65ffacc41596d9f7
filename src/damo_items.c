/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The forms of damo's records that are a row of items: its old binary one, and the text that perf script prints
 * of damon:damon_aggregated. Neither says more of the time than when each snapshot ended.
 */
#include <stdlib.h>
#include <string.h>

#include "da_cursor.h"
#include "damo_priv.h"

#define MARK_SIZE 20 /* "damon_recfmt_ver" and the version */

/* ---- binary, little endian, not aligned ---- */

/*
 * A snapshot: s64 seconds, s64 nanoseconds, u32 targets; of each u64 id (version 1: s32), u32 regions; of each
 * u64 start, u64 end, u32 nr_accesses. False: not all of it is there, or (d->broken) it is none.
 */
static bool take_snapshot(struct da_damo *d, struct da_cur *c, int *rc)
{
	uint64_t sec = da_cur_u64(c), nsec = da_cur_u64(c), end_ns, id;
	uint32_t targets = da_cur_u32(c), regions, i;
	struct damo_snapshot s = {0};
	bool whole = da_cur_ok(c);

	if (whole && (nsec >= 1000000000 || sec > UINT64_MAX / 1000000000 - 1 ||
		      targets > DA_DAMON_MAX_TARGETS)) {
		d->broken = true;
		return false;
	}
	end_ns = sec * 1000000000 + nsec;
	while (whole && targets-- && !*rc) {
		id = d->version == 1 ? da_cur_u32(c) : da_cur_u64(c);
		regions = da_cur_u32(c);
		if (da_cur_ok(c) && regions > DA_DAMON_MAX_REGIONS) {
			d->broken = true;
			break;
		}
		for (i = 0; i < regions && da_cur_left(c) >= 20 && !*rc; i++) {
			struct da_damon_region r = {.start = da_cur_u64(c)};

			r.end = da_cur_u64(c);
			r.nr_accesses = da_cur_u32(c);
			*rc = damo_region(&s, &r);
		}
		whole = da_cur_ok(c) && i == regions;
		if (whole && !*rc)
			*rc = damo_give(d, &s, 0, id, end_ns);
		d->info.records = d->info.records ? d->info.records : 1;
	}
	free(s.region);
	return whole && !d->broken;
}

/* Is a whole snapshot there? Only then is it given: it must not be given twice. */
static bool is_whole(const struct da_damo *d, struct da_cur c)
{
	uint32_t targets, regions;

	da_cur_skip(&c, 16);
	targets = da_cur_u32(&c);
	while (da_cur_ok(&c) && targets--) {
		da_cur_skip(&c, d->version == 1 ? 4 : 8);
		regions = da_cur_u32(&c);
		if (regions > DA_DAMON_MAX_REGIONS)
			return true; /* the reader says so */
		da_cur_skip(&c, regions * 20ull);
	}
	return da_cur_ok(&c);
}

long damo_binary_take(struct da_damo *d, const uint8_t *bytes, size_t len)
{
	size_t used = 0;
	int rc = 0;

	if (d->version < 0) {
		struct da_cur c = da_cur_from(bytes, len, false);
		uint32_t version;

		if (len < MARK_SIZE)
			return 0;
		da_cur_skip(&c, 16);
		version = da_cur_u32(&c);
		if (version < 1 || version > 2) {
			d->broken = true;
			d->info.damaged++;
			return 0;
		}
		d->version = (int)version;
		used = MARK_SIZE;
	}
	while (!d->broken && !rc) {
		struct da_cur c = da_cur_from(bytes + used, len - used, false);

		if (!is_whole(d, c))
			break;
		if (!take_snapshot(d, &c, &rc)) {
			d->info.damaged += d->broken;
			break;
		}
		used = len - da_cur_left(&c);
	}
	return rc ? rc : (long)used;
}

/* ---- text ---- */

/* Digits at *p, which moves behind them; false: there are none, or too many. */
static bool digits(const char **p, const char *end, uint64_t *out)
{
	const char *from = *p;
	uint64_t n = 0;

	for (; *p < end && **p >= '0' && **p <= '9'; (*p)++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(**p - '0'), &n))
			return false;
	*out = n;
	return *p > from;
}

static bool word(const char **p, const char *end, const char *w)
{
	size_t n = strlen(w);

	if ((size_t)(end - *p) < n || memcmp(*p, w, n))
		return false;
	*p += n;
	return true;
}

/* "kdamond.0  4452 [000] 82877.315633: ": the thread and the time, from behind. */
static void read_head(const char *line, const char *end, uint64_t *tid, uint64_t *time_ns)
{
	const char *p = end, *q;
	uint64_t sec, frac = 0, scale = 1000000000;

	*tid = *time_ns = 0;
	while (p > line && (p[-1] == ' ' || p[-1] == ':'))
		p--;
	for (q = p; q > line && q[-1] != ' ';)
		q--;
	if (digits(&q, p, &sec) && q < p && *q++ == '.' && sec < UINT64_MAX / 1000000000 - 1) {
		for (; q < p && *q >= '0' && *q <= '9' && scale > 1; q++) {
			scale /= 10;
			frac += (uint64_t)(*q - '0') * scale;
		}
		*time_ns = sec * 1000000000 + frac;
	}
	q = memchr(line, '[', (size_t)(p - line));
	if (!q)
		return;
	while (q > line && q[-1] == ' ')
		q--;
	for (p = q; q > line && q[-1] >= '0' && q[-1] <= '9';)
		q--;
	(void)digits(&q, p, tid);
}

/* False: a line of the event that cannot be read. */
static bool read_line(const char *line, const char *end, struct da_tp_damon *r, uint64_t *tid,
		      uint64_t *time_ns)
{
	static const char event[] = "damon:damon_aggregated:";
	const char *p = memmem(line, (size_t)(end - line), event, sizeof(event) - 1);
	uint64_t nr = 0, accesses = 0, age = 0;

	read_head(line, p, tid, time_ns);
	p += sizeof(event) - 1;
	while (p < end && *p == ' ')
		p++;
	if (!word(&p, end, "target_id=") || !digits(&p, end, &r->target_id) ||
	    !word(&p, end, " nr_regions=") || !digits(&p, end, &nr) || !word(&p, end, " ") ||
	    !digits(&p, end, &r->start) || !word(&p, end, "-") || !digits(&p, end, &r->end) ||
	    !word(&p, end, ": ") || !digits(&p, end, &accesses) || nr > UINT32_MAX ||
	    accesses > UINT32_MAX)
		return false;
	r->has_age = word(&p, end, " ") && digits(&p, end, &age) && age <= UINT32_MAX;
	r->nr_regions = (uint32_t)nr;
	r->nr_accesses = (uint32_t)accesses;
	r->age = r->has_age ? (uint32_t)age : 0;
	return true;
}

long damo_text_take(struct da_damo *d, const uint8_t *bytes, size_t len, bool last)
{
	const char *line = len ? (const char *)bytes : "", *all = line + len, *first = line, *end;
	uint64_t tid, time_ns;
	struct da_tp_damon r;
	int rc;

	for (; line < all; line = end + 1) {
		end = memchr(line, '\n', (size_t)(all - line));
		if (!end && !last)
			break;
		end = end ? end : all;
		if (memmem(line, (size_t)(end - line), "damon:damon_aggregated:", 23)) {
			d->info.records = 1;
			if (read_line(line, end, &r, &tid, &time_ns)) {
				rc = da_damon_add(d->to, (uint32_t)tid, &r, time_ns);
				if (rc == -DA_ENOMEM)
					return rc;
				d->info.damaged += rc < 0;
			} else {
				d->info.damaged++;
			}
		}
		if (end == all)
			return (long)len;
	}
	return line - first;
}
