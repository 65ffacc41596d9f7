/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes without a container in the offline decode: what the user says of them takes the place of what a
 * perf.data file would, and then they are an AUX trace like any other (offline_aux.c).
 *
 * Nothing is guessed: PEBS records do not say their format, so it must be given; without the counter's
 * frequency no record has a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "offline_aux.h"

#define NS_PER_S 1000000000ull

/* ---- the option's text ---- */

struct word {
	const char *name;
	uint8_t value;
};

/* By IA32_PERF_CAPABILITIES[11:8]; from 4 on a record says itself what it holds. */
static const struct word formats[] = {{"core", 0},     {"nhm", 1}, {"hsw", 2}, {"skl", 3},
				      {"adaptive", 4}, {"v4", 4},  {"v5", 5},  {"v6", 6}};

static const struct word sources[] = {
	{"load-nhm", DA_PEBS_SRC_LOAD_NHM},   {"load-snb", DA_PEBS_SRC_LOAD_SNB},
	{"load-skl", DA_PEBS_SRC_LOAD_SKL},   {"load-glc", DA_PEBS_SRC_LOAD_GLC},
	{"load-grt", DA_PEBS_SRC_LOAD_GRT},   {"load-cmt", DA_PEBS_SRC_LOAD_CMT},
	{"load-lnc", DA_PEBS_SRC_LOAD_LNC},   {"load-datala", DA_PEBS_SRC_DATALA_LOAD},
	{"store-snb", DA_PEBS_SRC_STORE_SNB}, {"store-glc", DA_PEBS_SRC_STORE_GLC},
	{"store-grt", DA_PEBS_SRC_STORE_GRT}, {"store-cmt", DA_PEBS_SRC_STORE_CMT},
	{"store-lnc", DA_PEBS_SRC_STORE_LNC}, {"store-datala", DA_PEBS_SRC_DATALA_STORE},
};

static bool find_word(const struct word *w, size_t nr, const char *text, size_t len, uint8_t *out)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (strlen(w[i].name) == len && !strncmp(w[i].name, text, len)) {
			*out = w[i].value;
			return true;
		}
	}
	return false;
}

static bool number(const char *text, size_t len, uint64_t *out)
{
	char buf[24], *end;

	if (!len || len >= sizeof(buf) || !strchr("0123456789", *text))
		return false;
	memcpy(buf, text, len);
	buf[len] = '\0';
	errno = 0;
	*out = strtoull(buf, &end, 0);
	return !*end && !errno;
}

/* "key=value"; false: no such key, or a value that it cannot have. */
static bool take_term(const char *term, size_t len, struct da_raw *out)
{
	const char *eq = memchr(term, '=', len), *v = eq ? eq + 1 : term + len;
	size_t key = eq ? (size_t)(eq - term) : len, n = len - (size_t)(v - term);

	if (key == 2 && !strncmp(term, "hz", key))
		return number(v, n, &out->hz) && out->hz && out->hz <= 100 * NS_PER_S;
	if (out->kind == DA_RAW_SPE && key == 4 && !strncmp(term, "midr", key))
		return number(v, n, &out->midr);
	if (out->kind == DA_RAW_PEBS && key == 6 && !strncmp(term, "source", key))
		return find_word(sources, sizeof(sources) / sizeof(*sources), v, n,
				 &out->pebs_source);
	return false;
}

static int bad_term(const char *term, size_t len, const struct da_raw *raw, struct da_error *err)
{
	if (raw->kind == DA_RAW_PEBS && len > 7 && !strncmp(term, "source=", 7))
		return da_fail(
			err, DA_EUSAGE, 0,
			"unknown source '%.*s'; there are load- and store- with snb, glc, grt, cmt, lnc "
			"or datala, load-nhm and load-skl",
			(int)len - 7, term + 7);
	return da_fail(err, DA_EUSAGE, 0, "bad term '%.*s' of raw %s (wanted: %s=..., hz=N)",
		       (int)len, term, raw->kind == DA_RAW_SPE ? "spe" : "pebs",
		       raw->kind == DA_RAW_SPE ? "midr" : "source");
}

static int take_kind(const char *text, size_t len, struct da_raw *out, struct da_error *err)
{
	if (len == 3 && !strncmp(text, "spe", len)) {
		out->kind = DA_RAW_SPE;
		return 0;
	}
	if (len < 4 || strncmp(text, "pebs", 4) || (len > 4 && text[4] != ':'))
		return da_fail(err, DA_EUSAGE, 0,
			       "unknown kind of bytes '%.*s'; there are spe and pebs:FORMAT",
			       (int)len, text);
	out->kind = DA_RAW_PEBS;
	if (len > 5 && find_word(formats, sizeof(formats) / sizeof(*formats), text + 5, len - 5,
				 &out->pebs_format))
		return 0;
	return da_fail(
		err, DA_EUSAGE, 0,
		"PEBS records do not say their format: pebs:core, nhm, hsw, skl or adaptive (v4 to v6)");
}

int da_raw_parse(const char *text, struct da_raw *out, struct da_error *err)
{
	size_t len = strcspn(text, ",");
	int rc;

	memset(out, 0, sizeof(*out));
	rc = take_kind(text, len, out, err);
	while (!rc && text[len]) {
		text += len + 1;
		len = strcspn(text, ",");
		if (!take_term(text, len, out))
			rc = bad_term(text, len, out, err);
	}
	return rc;
}

/* ---- the decode ---- */

enum da_producer raw_producer(const struct da_raw *raw)
{
	return raw->kind == DA_RAW_SPE ? DA_PROD_SPE : DA_PROD_PEBS_RAW;
}

int raw_open(struct da_offline *o, const char *path, struct da_error *err)
{
	bool spe = o->opts->raw->kind == DA_RAW_SPE;
	/* How many events a record stands for nobody knows: each counts once. */
	const struct da_attr attr = {.type = UINT32_MAX, .size = 128, .flags = DA_ATTR_FREQ};

	return da_reader_open_raw(&o->reader, path, &attr, spe ? "spe" : "pebs", err);
}

/* The counter runs evenly and began with the clock: so much is certain if its frequency is. */
static struct da_clock clock_of(uint64_t hz)
{
	struct da_clock c = {.shift = 32};

	/* the greatest multiplier that fits its 32 bits */
	while (c.shift && (NS_PER_S << c.shift) / hz > UINT32_MAX)
		c.shift--;
	c.mult = (uint32_t)((NS_PER_S << c.shift) / hz);
	return c;
}

void raw_describe(struct da_offline *o)
{
	const struct da_raw *raw = o->opts->raw;
	struct aux *a = o->aux;

	a->pebs_format = raw->pebs_format;
	a->pebs_source = raw->pebs_source;
	if (raw->hz) {
		a->clock = clock_of(raw->hz);
		a->has_clock = true;
	}
}

void raw_set_task(struct da_report *r)
{
	if (!(r->has & DA_HAS_TID))
		r->tid = 0;
	r->pid = r->tid;
	r->has &= ~(uint32_t)DA_HAS_TID;
	r->has |= DA_HAS_TASK;
}
