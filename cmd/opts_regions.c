/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The value of --regions, for record, report and diagnose: NAME, or NAME:KEY=VALUE,KEY=VALUE.
 */
#include <stdlib.h>
#include <string.h>

#include "opts.h"

#define FIXED_MIN 4096
#define US        1000

static int fixed(const char *s, struct da_match_opts *o)
{
	uint64_t bytes;

	if (opts_size(s, &bytes) || bytes < FIXED_MIN || (bytes & (bytes - 1)))
		return -DA_EUSAGE;
	o->regions = DA_REGIONS_FIXED;
	o->fixed_bytes = bytes;
	return 0;
}

static int count(const char *s, uint32_t *out)
{
	uint64_t n;

	if (opts_count(s, &n) || n > UINT32_MAX)
		return -DA_EUSAGE;
	*out = (uint32_t)n;
	return 0;
}

/* Times without a unit are microseconds, as DAMON has them. */
static int damon_option(const char *key, const char *value, struct da_adapt_opts *a)
{
	if (!strcmp(key, "min"))
		return count(value, &a->min);
	if (!strcmp(key, "max"))
		return count(value, &a->max);
	if (!strcmp(key, "sample"))
		return opts_duration(value, US, &a->sample_ns);
	if (!strcmp(key, "aggr"))
		return opts_duration(value, US, &a->aggr_ns);
	if (!strcmp(key, "update"))
		return opts_duration(value, US, &a->update_ns);
	return strcmp(key, "seed") ? -DA_EUSAGE : opts_u64(value, &a->seed);
}

static int density_option(const char *key, const char *value, struct da_match_opts *o)
{
	uint64_t n;

	if (strcmp(key, "max") || opts_count(value, &n) || !n)
		return -DA_EUSAGE;
	o->max_regions = (size_t)n;
	return 0;
}

/* "a=1,b=2"; the text is changed. */
static int each_option(char *text, struct da_match_opts *o)
{
	char *next, *eq;
	int err = 0;

	for (; text && !err; text = next) {
		next = strchr(text, ',');
		if (next)
			*next++ = '\0';
		eq = strchr(text, '=');
		if (!eq)
			return -DA_EUSAGE;
		*eq = '\0';
		err = o->regions == DA_REGIONS_DAMON ? damon_option(text, eq + 1, &o->adapt)
						     : density_option(text, eq + 1, o);
	}
	return err;
}

static int with_options(const char *s, enum da_regions how, struct da_match_opts *o)
{
	struct da_match_opts new = *o;
	char *text;
	int err = 0;

	new.regions = how;
	new.adapt = da_adapt_defaults;
	new.max_regions = 0;
	if (*s) {
		text = strdup(s + 1);
		err = *s == ':' && text ? each_option(text, &new) : -DA_EUSAGE;
		free(text);
	}
	/* where only one of the two was made longer, the other follows */
	if (new.adapt.update_ns < new.adapt.aggr_ns)
		new.adapt.update_ns = new.adapt.aggr_ns;
	if (err || da_adapt_check(&new.adapt))
		return -DA_EUSAGE;
	*o = new;
	return 0;
}

int opts_regions(const char *s, struct da_match_opts *o)
{
	static const struct {
		const char *name;
		enum da_regions how;
	} kind[] = {{"density", DA_REGIONS_DENSITY}, {"damon", DA_REGIONS_DAMON}};
	size_t i, len;

	if (!strcmp(s, "vma")) {
		o->regions = DA_REGIONS_VMA;
		return 0;
	}
	if (!strcmp(s, "kernel")) {
		o->regions = DA_REGIONS_KERNEL;
		return 0;
	}
	if (!strncmp(s, "fixed=", 6))
		return fixed(s + 6, o);
	for (i = 0; i < sizeof(kind) / sizeof(*kind); i++) {
		len = strlen(kind[i].name);
		if (!strncmp(s, kind[i].name, len) && (!s[len] || s[len] == ':'))
			return with_options(s + len, kind[i].how, o);
	}
	return -DA_EUSAGE;
}
