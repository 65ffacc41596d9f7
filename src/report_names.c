/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of the access report's enums (da_report.h), as JSON, samples output and messages show
 * them. No logic.
 */
#include "da_report.h"

static const char *const how_names[DA_HOW_NR] = {
	[DA_HOW_NONE] = "none",
	[DA_HOW_HARDWARE] = "hardware",
	[DA_HOW_FAULT] = "fault",
	[DA_HOW_DECODED] = "decoded",
	[DA_HOW_RECONSTRUCTED] = "reconstructed",
	[DA_HOW_SYNTHETIC] = "synthetic",
};

const char *da_how_name(enum da_how how)
{
	return (unsigned)how < DA_HOW_NR ? how_names[how] : "unknown";
}
