/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of decoders. To add one: its file, a line here, a table of vectors and a fuzz target;
 * doc/adding-a-decoder.md goes through it.
 */
#include <string.h>

#include "da_decoder.h"
#include "da_ibs.h"
#include "da_pebs.h"
#include "da_spe.h"

const struct da_decoder da_decoders[] = {
	{"spe", sizeof(struct da_spe_state), da_spe_decode, da_spe_idle},
	{"ibs_op", 0, da_ibs_op_decode, NULL},
	{"ibs_fetch", 0, da_ibs_fetch_decode, NULL},
	{"pebs_raw", sizeof(struct da_pebs_state), da_pebs_decode, NULL},
	{NULL, 0, NULL, NULL},
};

const struct da_decoder *da_decoder_find(const char *name)
{
	for (const struct da_decoder *d = da_decoders; d->name; d++)
		if (!strcmp(d->name, name))
			return d;
	return NULL;
}
