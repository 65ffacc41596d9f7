/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For how long regions have been as they are, and since when nothing was seen in them; shared by src/render_*.c
 * and nobody else.
 */
#ifndef RENDER_AGES_H
#define RENDER_AGES_H

#include <stdbool.h>
#include <stdint.h>

#include "da_offline.h"

/* Both end with the recording, or with the process, and are known to a 64th of that time. */
struct age {
	bool known;       /* there are samples with a time */
	uint64_t age_ns;  /* since the rate of samples changed last, by da_density.h's measure */
	uint64_t idle_ns; /* since the last sample; 0: in the last 64th */
};

/* Of all regions of a space and one event: three bytes each. */
struct ages {
	const struct da_space *s;
	uint64_t t0_ns, t1_ns;
	size_t columns;
	struct age_columns *of; /* by region */
};

/* 0 or -DA_ENOMEM; ages_release() in both cases. */
int ages_make(struct ages *a, const struct da_offline_result *r, const struct da_space *s,
	      uint32_t event);
struct age ages_get(const struct ages *a, const struct da_region *g);
void ages_release(struct ages *a);

#endif
