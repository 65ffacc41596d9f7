/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Running a session: from options to stop, shared by record and diagnose. Messages of the session go to
 * stderr; the caller prints results.
 */
#ifndef DA_RUN_H
#define DA_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "da_session.h"
#include "opts.h"
#include "stop.h"
#include "target.h"

struct run_opts {
	struct da_session_opts session; /* target, child and message are filled here */
	uint64_t duration_ns;           /* 0: until the target ends */
	char *const *command;           /* NULL: none */
	const char *command_path;       /* program to run instead of command[0]; NULL: that */
	enum target_output output;      /* where COMMAND's stdout goes */
	int output_fd;                  /* TARGET_TO_FD */
	bool keep;                      /* a command that outlives the run goes on */
	bool quiet;
	const char *who; /* "record", for messages */
	/* Called every progress_ns (0: a second) while running; may be NULL. */
	void (*progress)(void *ctx, struct da_session *s);
	uint64_t progress_ns;
	void *ctx;
	/* Called every turn_ns while running, and when SIGUSR2 came (asked); may be NULL. A negative code ends the
	 * run. */
	int (*turn)(void *ctx, struct da_session *s, bool asked, struct da_error *err);
	uint64_t turn_ns;
	void *turn_ctx;
};

struct run_result {
	struct da_session
		*session;   /* stopped; facts can be read; the caller frees it; may be NULL */
	const char *reason; /* "exit", "duration", "signal" or "" when it never ran */
	int command_status; /* wait(2) status, -1 none */
	bool exec_failed;
	uint64_t samples, bytes; /* records in the file, file size */
};

/* CLOCK_MONOTONIC */
uint64_t run_now_ns(void);
/* A folder of our own below $TMPDIR or /tmp, its path to `path`, for the caller to remove. 0 or -DA_EIO. */
int run_temp_folder(char *path, size_t size, struct da_error *err);
/* new, create, bind, enable. *s may be there after a failure too. */
int run_begin(struct da_session **s, const struct da_session_opts *o, struct da_error *err);
/* 0, or the code of what failed with err filled. res is valid in both cases. */
int run_session(struct run_opts *o, struct run_result *res, struct da_error *err);
/* Exit status for an error code: 2 for usage, 1 otherwise. */
int run_error_status(const struct da_error *err);
/* The same, with the message printed. */
int run_failed(const struct da_error *err);

#endif
