/* SPDX-License-Identifier: GPL-2.0-only */
/* The feature sections that describe this machine and this run; see da_writer_std_features(). */
#ifndef DA_WRITER_FEATURES_H
#define DA_WRITER_FEATURES_H

#include "da_perfdata.h"

struct writer_features {
	int argc;
	char *const *argv;
	int clockid; /* the recording's clock, -1 unknown */
	const struct da_writer_event *ev;
	size_t nr_ev, attr_bytes;
	bool pipe; /* attrs and names are already in the stream */
};

int writer_features_add(struct da_writer *w, const struct writer_features *f, struct da_error *err);

#endif
