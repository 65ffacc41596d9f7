/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Facts from a decoded recording, for `diagnose -i`.
 */
#ifndef DA_FACTS_OFFLINE_H
#define DA_FACTS_OFFLINE_H

#include <stdbool.h>

#include "da_facts.h"
#include "da_offline.h"

/* Fills two sets of facts, which the caller releases (both are empty on failure):
 *   *judged  what the judge looks at: the run that made the recording, as far as it stored it; else this
 *            decode
 *   *decode  this decode, event by event and CPU by CPU
 * *recorded: judged holds the run's own ledger. Events that only carry sideband records (perf's and our
 * dummy) are left out of both. 0 or -DA_ENOMEM. */
int da_facts_from_offline(const struct da_offline_result *r, struct da_facts *judged,
			  struct da_facts *decode, bool *recorded);

#endif
