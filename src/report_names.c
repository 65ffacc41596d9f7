/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of the access report's enums (da_report.h), as JSON, samples output and messages show
 * them. No logic.
 */
#include "da_match.h"
#include "da_report.h"

static const char *const how_names[DA_HOW_NR] = {
	[DA_HOW_NONE] = "none",
	[DA_HOW_HARDWARE] = "hardware",
	[DA_HOW_FAULT] = "fault",
	[DA_HOW_DECODED] = "decoded",
	[DA_HOW_RECONSTRUCTED] = "reconstructed",
	[DA_HOW_SYNTHETIC] = "synthetic",
};

static const char *const regions_names[DA_REGIONS_NR] = {
	[DA_REGIONS_VMA] = "vma",         [DA_REGIONS_FIXED] = "fixed",
	[DA_REGIONS_DENSITY] = "density", [DA_REGIONS_DAMON] = "damon",
	[DA_REGIONS_KERNEL] = "kernel",
};

const char *da_regions_name(enum da_regions r)
{
	return (unsigned)r < DA_REGIONS_NR ? regions_names[r] : "unknown";
}

const char *da_how_name(enum da_how how)
{
	return (unsigned)how < DA_HOW_NR ? how_names[how] : "unknown";
}
