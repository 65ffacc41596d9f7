/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command as target of a measurement: forked at once, so that events can be attached to it, but held
 * back before exec until target_go().
 *
 * Order of calls: target_fork -> target_go -> (target_poll | target_wait | target_terminate) ->
 * target_release. target_release() is valid at every point and leaves no child that was never let go.
 */
#ifndef DA_TARGET_H
#define DA_TARGET_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "da_error.h"

struct target {
	pid_t pid;        /* 0: none */
	int pidfd;        /* readable when the command has ended; -1 if the kernel has no pidfds */
	int hold_fd;      /* to the child while it waits to exec; -1 afterwards */
	bool reaped;      /* status is valid, pid may belong to somebody else by now */
	int status;       /* as from wait(2) */
	const char *name; /* argv[0], borrowed, for messages */
};

/* One that has no child; target_release() accepts it. */
#define TARGET_NONE ((struct target){.pidfd = -1, .hold_fd = -1})

enum target_output { TARGET_TO_STDOUT, TARGET_TO_NULL, TARGET_TO_STDERR, TARGET_TO_FD };

struct target_opts {
	const char *path;     /* the program; NULL: argv[0] looked up in PATH */
	const sigset_t *mask; /* signal mask of the command; NULL: the caller's */
	enum target_output output;
	int fd; /* TARGET_TO_FD: borrowed */
};

/* Forks a child that waits. Call it before threads exist. 0, -DA_EIO. o may be NULL. */
int target_fork(struct target *t, char *const argv[], const struct target_opts *o,
		struct da_error *err);
/* Lets the child exec. If that fails, reaps it (status: exit 127 when there is no such program, else 126,
 * as shells do) and returns -DA_ENOENT or -DA_EIO with the message. */
int target_go(struct target *t, struct da_error *err);
/* Has it ended? Then true, and t->status holds. Never waits. */
bool target_poll(struct target *t);
/* Waits for its end. */
void target_wait(struct target *t);
/* Ends it: SIGTERM, and SIGKILL if it still runs after the grace time. Waits. Nothing if it has ended. */
void target_terminate(struct target *t, unsigned grace_ms);
/* Closes descriptors; a child that was never let go is ended, a running one is left alone. */
void target_release(struct target *t);

/* Exit status as a shell shows it: the command's own, or 128 + n after signal n. */
int target_exit_status(int wait_status);

#endif
