/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The JSON texts of our own records (da_own.h), built and parsed in one place.
 *
 * INFO   {"version": "0.1.0", "arch": "x86_64", "host": "name", "events": [{"id", "name", "producer", "unit", "period",
 *         "dropped_bits", "buffer"}], "options": {...}}           written before the first sample
 * LEDGER {"event", "cpu", "state", "count"|null, "lost"|null, "enabled_ns"|null, "running_ns"|null,
 *         "target_absent", "silent_due", "silent_since_ns", "silent_ref" (these three only if it stopped),
 *         "ledger": {"create": {"in", "out", "drops": {"NAME": n}}, ..., "peak"}}
 *                                                       one (event, CPU), cumulative: the last one holds
 * LOSS   {"counter"|null, "records", "samples", "throttled", "pending"|null, "aux_off_ns"|null}
 *                                                       the last one holds
 * STEP   {"event", "time_ns", "from", "to", "why"}      a period changed; from == to: what it ended with
 * END    {"reason", "command_status"|null, "samples"}   a regular stop
 */
#ifndef DA_OWN_JSON_H
#define DA_OWN_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "da_facts.h"
#include "da_insn.h"
#include "da_pmu.h"
#include "da_stage.h"

struct da_own_event {
	char name[64];
	enum da_producer producer;
	char unit[16];
	uint64_t period; /* effective; 0: frequency mode */
	char dropped_bits[128];
	char buffer[32]; /* report buffer that it wrote into, "" the default one */
};

struct da_own_info {
	char version[32];
	enum da_arch arch;
	char host[65]; /* HOST_NAME_MAX and NUL; in a killed recording the features are missing */
	struct da_own_event *events; /* malloc'ed when parsed */
	size_t nr_events;
	char *options; /* JSON text or NULL; malloc'ed when parsed */
};

struct da_own_ledger {
	uint32_t event;
	struct da_facts_cpu cpu;
};

struct da_own_loss {
	int64_t counter, records, samples, throttled, pending, aux_off_ns; /* -1: not measured */
};

struct da_own_step {
	uint32_t event;
	uint64_t time_ns, from, to;
	char why[96];
};

struct da_own_end {
	char reason[32];
	int command_status; /* wait(2) status, -1 none */
	uint64_t samples;   /* in this file */
	/* A run's output may be switched to other files: this is the n-th, from 1, and all but the last end with
	 * the reason "switch". 0: there is only one. Counters are of the run, up to the end of this file. */
	uint64_t piece;
};

/* Each build returns a malloc'ed text or NULL (out of memory). Each parse returns 0, -DA_EDAMAGED or
 * -DA_ENOMEM; text need not be terminated. */
char *da_own_info_text(const struct da_own_info *i);
int da_own_info_parse(const char *text, size_t len, struct da_own_info *out);
void da_own_info_release(struct da_own_info *i);
char *da_own_ledger_text(const struct da_own_ledger *l);
int da_own_ledger_parse(const char *text, size_t len, struct da_own_ledger *out);
char *da_own_loss_text(const struct da_own_loss *l);
int da_own_loss_parse(const char *text, size_t len, struct da_own_loss *out);
char *da_own_step_text(const struct da_own_step *s);
int da_own_step_parse(const char *text, size_t len, struct da_own_step *out);
char *da_own_end_text(const struct da_own_end *e);
int da_own_end_parse(const char *text, size_t len, struct da_own_end *out);

#endif
