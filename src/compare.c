/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two runs side by side (da_compare.h). Pure: it judges no layer and opens no file.
 */
#include "da_compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define POINT 0.01 /* the least difference of two shares that is worth a word */
#define Z_95  1.96

/* ---- the sides ---- */

static int64_t lost_of(int64_t counter, int64_t records, int64_t samples)
{
	if (counter >= 0)
		return counter;
	return records > samples ? records : samples;
}

void da_compare_take(struct da_compare_side *s, const char *name, const struct da_facts *f,
		     const struct da_verdict *v)
{
	struct da_ledger sum = {0};

	memset(s, 0, sizeof(*s));
	snprintf(s->name, sizeof(s->name), "%s", name);
	da_level_text(v->level, v->broken_at, s->verdict, sizeof(s->verdict));
	s->level = v->level;
	for (size_t e = 0; e < f->nr_events; e++)
		for (size_t c = 0; c < f->events[e].nr_cpus; c++)
			da_ledger_add(&sum, &f->events[e].cpus[c].ledger);
	s->n = da_ledger_counters(&sum);
	s->ring = v->ring_recorded;
	s->lost = lost_of(f->lost_counter, f->lost_records, f->lost_samples);
}

static enum da_level level_of(const char *text)
{
	char known[64];

	for (int l = 0; l < DA_LEVEL_NR; l++) {
		da_level_text((enum da_level)l, DA_STAGE_CREATE, known, sizeof(known));
		if (!strcmp(text, known) ||
		    (l == DA_LEVEL_BROKEN && !strncmp(text, "BROKEN AT ", 10)))
			return (enum da_level)l;
	}
	return DA_LEVEL_NR;
}

static int64_t measured(const struct da_json *v, const char *key)
{
	int64_t n = -1;

	return da_json_get_i64(v, key, &n) && n >= 0 ? n : -1;
}

static bool parse_counters(const struct da_json *v, struct da_compare_side *s)
{
	if (!da_json_get_u64(v, "callback", &s->n.callback) ||
	    !da_json_get_u64(v, "valid", &s->n.valid) ||
	    !da_json_get_u64(v, "match", &s->n.match) || !da_json_get_u64(v, "miss", &s->n.miss) ||
	    !da_json_get_u64(v, "update", &s->n.update))
		return false;
	s->ring = da_json_get_u64(v, "reports", &s->n.reports) &&
		  da_json_get_u64(v, "enqueue", &s->n.enqueue) &&
		  da_json_get_u64(v, "dequeue", &s->n.dequeue) &&
		  da_json_get_u64(v, "overflow", &s->n.overflow);
	return true;
}

int da_compare_parse(struct da_compare_side *s, const char *name, const char *text, size_t len)
{
	struct da_json root, counters, lost;
	int rc = -DA_EFORMAT;

	memset(s, 0, sizeof(*s));
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->lost = -1;
	if (!da_json_open(text, len, &root))
		return rc;
	if (da_json_get_string(&root, "verdict", s->verdict, sizeof(s->verdict)) &&
	    da_json_get(&root, "counters", &counters) && parse_counters(&counters, s)) {
		s->level = level_of(s->verdict);
		rc = s->level == DA_LEVEL_NR ? -DA_EFORMAT : 0;
		if (da_json_get(&root, "lost", &lost))
			s->lost = lost_of(measured(&lost, "counter"), measured(&lost, "records"),
					  measured(&lost, "samples"));
	}
	da_json_free(&root);
	return rc;
}

/* ---- the comparison ---- */

static void fill(const struct da_compare_side *s, enum da_share share, uint64_t *part,
		 uint64_t *whole)
{
	const struct da_counters *n = &s->n;

	*part = *whole = 0;
	switch (share) {
	case DA_SHARE_VALID:
		*part = n->valid;
		*whole = n->callback;
		break;
	case DA_SHARE_DROPPED:
		if (!s->ring)
			break;
		*part = n->reports > n->dequeue ? n->reports - n->dequeue : 0;
		*whole = n->reports;
		break;
	case DA_SHARE_LOST:
		if (s->lost < 0 || (uint64_t)s->lost > UINT64_MAX - n->callback)
			break;
		*part = (uint64_t)s->lost;
		*whole = (uint64_t)s->lost + n->callback;
		break;
	default:
		if (n->match > UINT64_MAX - n->miss)
			break;
		*part = n->match;
		*whole = n->match + n->miss;
	}
	if (*part > *whole) /* a text may say anything */
		*part = *whole;
}

/* Is a greater share a better one? */
static bool more_is_better(enum da_share s)
{
	return s == DA_SHARE_VALID || s == DA_SHARE_MATCHED;
}

static enum da_change change_of(enum da_share share, const struct da_compare_share *s)
{
	double a, b, pool, error, n0 = (double)s->whole[0], n1 = (double)s->whole[1];

	if (!s->whole[0] || !s->whole[1])
		return DA_CHANGE_UNKNOWN;
	a = (double)s->part[0] / n0;
	b = (double)s->part[1] / n1;
	pool = ((double)s->part[0] + (double)s->part[1]) / (n0 + n1);
	error = Z_95 * sqrt(pool * (1 - pool) * (1 / n0 + 1 / n1));
	if (fabs(b - a) < POINT || fabs(b - a) <= error)
		return DA_CHANGE_NONE;
	return (b > a) == more_is_better(share) ? DA_CHANGE_BETTER : DA_CHANGE_WORSE;
}

static enum da_change verdict_change(enum da_level was, enum da_level is)
{
	/* BROKEN delivers more than UNUSABLE */
	static const int rank[DA_LEVEL_NR] = {
		[DA_LEVEL_FULL] = 4,     [DA_LEVEL_PLUMBING] = 3, [DA_LEVEL_BROKEN] = 2,
		[DA_LEVEL_UNUSABLE] = 1, [DA_LEVEL_UNKNOWN] = 0,
	};

	if (rank[was] == rank[is])
		return DA_CHANGE_NONE;
	if (!rank[was] || !rank[is])
		return DA_CHANGE_UNKNOWN;
	return rank[is] > rank[was] ? DA_CHANGE_BETTER : DA_CHANGE_WORSE;
}

void da_compare(struct da_compare *c)
{
	c->verdict = verdict_change(c->side[0].level, c->side[1].level);
	c->better = c->verdict == DA_CHANGE_BETTER;
	c->worse = c->verdict == DA_CHANGE_WORSE;
	for (int i = 0; i < DA_SHARE_NR; i++) {
		struct da_compare_share *s = &c->share[i];

		for (unsigned k = 0; k < 2; k++)
			fill(&c->side[k], (enum da_share)i, &s->part[k], &s->whole[k]);
		s->change = change_of((enum da_share)i, s);
		c->better |= s->change == DA_CHANGE_BETTER;
		c->worse |= s->change == DA_CHANGE_WORSE;
	}
}

double da_compare_pct(const struct da_compare_share *s, unsigned side)
{
	return s->whole[side] ? 100.0 * (double)s->part[side] / (double)s->whole[side] : NAN;
}

const char *da_share_name(enum da_share s)
{
	static const char *const names[DA_SHARE_NR] = {
		[DA_SHARE_VALID] = "valid of callbacks",
		[DA_SHARE_DROPPED] = "dropped of reports",
		[DA_SHARE_LOST] = "lost in the kernel",
		[DA_SHARE_MATCHED] = "matched of dequeued",
	};

	return names[s];
}

const char *da_change_name(enum da_change c)
{
	static const char *const names[] = {"same", "better", "worse", "unknown"};

	return names[c];
}
