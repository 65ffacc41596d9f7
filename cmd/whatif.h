/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diagnose --what-if: the arrivals of a recording through the queue lab.
 */
#ifndef DA_WHATIF_H
#define DA_WHATIF_H

#include <stddef.h>

#include "da_error.h"
#include "da_facts.h"
#include "da_lab.h"

#define WHATIF_MAX 16

/* Is this a model, "KEY=VALUE[,KEY=VALUE...]"? 0, else -DA_EUSAGE with a message. */
int whatif_check(const char *text, struct da_error *err);
#define WHATIF_WANTED                                                                              \
	"drain=percpu|single, keep=oldest|latest, slots=N, look=TIME, wake=TIME, cost=TIME, "      \
	"publish=TIME, write=TIME, period=xN"

/* Decodes the file again and replays its reports. judged: the facts of its run; regions: of the greatest of
 * its spaces. Release *p in either case. */
int whatif_run(const char *path, const char *const *events, size_t nr_events,
	       const struct da_facts *judged, uint64_t regions, const char *const *models,
	       size_t nr_models, struct da_lab_plan *p, struct da_error *err);

#endif
