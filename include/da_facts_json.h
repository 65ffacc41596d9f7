/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Facts as JSON text: what the FACTS record of a recording holds (da_own.h), and what a test writes by
 * hand to show the judge a machine that is not there.
 *
 * Everything but the two kinds of origin (live, own_file) goes both ways. Keys that are absent leave their
 * fact unknown; unknown keys are ignored, so that an older reader takes a newer text.
 */
#ifndef DA_FACTS_JSON_H
#define DA_FACTS_JSON_H

#include <stddef.h>

#include "da_facts.h"
#include "da_json.h"

/* One line, malloc'ed; NULL: out of memory. */
char *da_facts_to_json(const struct da_facts *f);
/* Text need not be terminated. 0 (the caller releases *out), -DA_EDAMAGED or -DA_ENOMEM (*out is empty).
 * live and own_file are left false for the caller to set. */
int da_facts_from_json(const char *text, size_t len, struct da_facts *out);

/* A ledger as PRODUCT 5 has it: {"create": {"in", "out", "drops": {"NAME": n}}, .., "peak"}. Layers that
 * were not measured are null; drops of 0 are left out where `brief`. */
void da_ledger_to_json(struct da_json_out *w, const char *key, const struct da_ledger *l,
		       const bool measured[DA_STAGE_NR], bool brief);
void da_ledger_from_json(const struct da_json *v, struct da_ledger *out);

#endif
