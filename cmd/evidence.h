/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diagnose: what is judged, from a run or from a recording. Both leave facts (da_facts.h) behind; nothing is
 * judged here. Messages go to stderr.
 */
#ifndef DA_CMD_EVIDENCE_H
#define DA_CMD_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "da_facts.h"
#include "da_offline.h"
#include "opts.h"

struct evidence {
	struct da_facts facts, decode; /* of the run; what the decode of a recording came to */
	bool from_file, recorded; /* decode is there; facts are those that the recording holds */
	bool damaged;
	int64_t resync_bytes; /* -1: not known, as at first */
	uint64_t regions;     /* of the space that has most of them */
	char note[160];       /* what there was instead of a recording */
};

/* How a run is made, beside the options of its events. */
struct evidence_run {
	int argc; /* of this command: kept in the facts */
	char **argv;
	uint64_t watch_ns; /* a line of rates every so often to watch_to; 0: none */
	FILE *watch_to;
	bool versus;     /* compare with the kernel's own pipeline */
	bool own_stdout; /* COMMAND's standard output is left to it: the verdict goes elsewhere */
	bool quiet, verbose;
};

/* Runs COMMAND, a target or the built-in workload. 0, or an exit status with the message printed. A kernel or
 * a machine that refuses is evidence as well. */
int evidence_from_run(const struct opts_events *o, const struct evidence_run *r,
		      struct evidence *ev);

/* Decodes a recording as report does, so that both show the same ledger; of `events` only, if there are any
 * (they are filtered by the decode). A record of damo has no samples and leaves a note. 0, or a negative code;
 * messages of the decode are printed unless quiet. */
int evidence_from_file(const char *path, const char *const *events, size_t nr_events, bool quiet,
		       struct evidence *ev, struct da_error *err);

void evidence_release(struct evidence *ev);

#endif
