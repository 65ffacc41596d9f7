/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record --switch-output and --flight: when the output goes on in another file, and which files stay.
 */
#ifndef DA_ROTATE_H
#define DA_ROTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_session.h"

#define ROTATE_WANTED "signal, a size as 100M, or a time as 30s"

struct rotate {
	const char *output;
	uint64_t bytes, ns; /* a file is full; 0: not by this */
	bool on_signal;     /* SIGUSR2 */
	unsigned max_files; /* the oldest beyond are removed; 0: none */
	bool flight; /* look for samplers that fell silent, and keep the files of the moment */
	bool quiet;
	/* private, zeroed at first */
	uint64_t began_ns, since_ns;
	struct rotate_file *file;
	size_t nr_files;
	unsigned keep; /* the file under way and so many less one behind it */
	struct rotate_silent *silent;
	size_t nr_silent;
};

/* ROTATE_WANTED, with perf's units: B, K, M, G are sizes; s, m, h, d times. NULL: "signal". 0 or -DA_EUSAGE. */
int rotate_parse(const char *text, struct rotate *r);
bool rotate_wanted(const struct rotate *r);
/* How often rotate_turn() wants to be called. */
uint64_t rotate_every(const struct rotate *r);
/* While a session runs; asked: SIGUSR2 came. 0, or a negative code: the output has failed. */
int rotate_turn(void *rotate, struct da_session *s, bool asked, struct da_error *err);
/* After it has stopped: the last file gets its name as well, and silence is looked for once more. 0 or a negative
 * code. */
int rotate_end(struct rotate *r, struct da_session *s, struct da_error *err);
void rotate_release(struct rotate *r);

#endif
