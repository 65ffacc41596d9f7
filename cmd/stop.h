/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The signals that ask a measurement to stop (SIGINT, SIGTERM, SIGHUP), as a file descriptor: blocked from
 * stop_open() to stop_close(), so that no system call of the session fails with EINTR and no handler needs
 * a global. A signal that was ignored when we started (nohup, a shell's background job) stays ignored.
 * SIGUSR2, where it is wanted, asks for a look at the counters.
 */
#ifndef DA_STOP_H
#define DA_STOP_H

#include <signal.h>
#include <stdbool.h>

struct stop {
	int fd;       /* readable when a signal waits; poll it */
	int sig;      /* the signal that came, 0 none */
	bool look;    /* SIGUSR2 came: set by stop_asked(), cleared by who looks */
	sigset_t old; /* the mask before: give it to target_fork() */
};

/* Call before threads exist: they inherit the mask. looks: take SIGUSR2 too. 0 or -errno. */
int stop_open(struct stop *s, bool looks);
/* Has one of the signals come? Never waits; once true it stays true. */
bool stop_asked(struct stop *s);
/* Puts the mask back. A signal that came after stop_asked() takes effect now. */
void stop_close(struct stop *s);

#endif
