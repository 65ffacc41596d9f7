/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gathering facts below another root than "/", so that a test can show it any machine.
 */
#ifndef DA_FACTS_PRIV_H
#define DA_FACTS_PRIV_H

#include "da_facts.h"

/* What the files below root say: kernel settings, CPU, PMUs, rights. "" is this machine. */
void facts_files(struct da_facts *f, const char *root);

#endif
