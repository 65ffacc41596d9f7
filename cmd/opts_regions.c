/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The value of --regions, for record, report and diagnose.
 */
#include <string.h>

#include "opts.h"

#define FIXED_MIN 4096

int opts_regions(const char *s, struct da_match_opts *o)
{
	static const char fixed[] = "fixed=";
	uint64_t bytes;

	if (!strcmp(s, "vma")) {
		o->regions = DA_REGIONS_VMA;
		return 0;
	}
	if (!strcmp(s, "density")) {
		o->regions = DA_REGIONS_DENSITY;
		return 0;
	}
	if (strncmp(s, fixed, strlen(fixed)) || opts_size(s + strlen(fixed), &bytes) ||
	    bytes < FIXED_MIN || (bytes & (bytes - 1)))
		return -DA_EUSAGE;
	o->regions = DA_REGIONS_FIXED;
	o->fixed_bytes = bytes;
	return 0;
}
