/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording with a bit of everything, that the tests of the perf.data reader share, and how it gets into
 * files and directories.
 */
#ifndef RECORDING_H
#define RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "da_perfdata.h"
#include "perfgen.h"
#include "transcript.h"

/* Two events whose samples are laid out differently: ids 301 and 302, and id 401. */
extern const struct da_attr rec_attr_a, rec_attr_b;
void rec_events(struct gen_file *f, bool swap);
void rec_sample_a(struct gen *g, uint64_t time, uint64_t addr, uint64_t id);
void rec_sample_b(struct gen *g, uint64_t time, uint64_t id);
/* A record of our own (da_own.h). */
void rec_own(struct gen *g, uint16_t kind, const char *json);

#define REC_FUTURE  99 /* a type that no recorder writes yet */
#define REC_SAMPLES (12 * 15 + 1)

/* Both events, rounds, tasks, an AUX trace, our own records, a type of the future, all features. *f need not
 * be initialised. */
void rec_whole(struct gen_file *f, bool swap);

/* Makes the file, opens it and reads all of it; the caller closes. */
void rec_open(const struct gen_file *f, struct da_reader **r, struct tally *t);

/* A directory below TMPDIR, and files in it; free() paths. */
char *rec_make_dir(void);
char *rec_path_in(const char *dir, const char *name);
void rec_put_file(const char *dir, const char *name, const struct gen *g);
/* Removes data, data.0, data.1, data.2, data.10, data.fifo and data.old with it, and frees it. */
void rec_remove_dir(char *dir);

#endif
