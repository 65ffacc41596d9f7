/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Error codes and the one struct that carries a message up to cmd/.
 *
 * Functions return 0 (or a count) on success and -DA_E... on failure. The layer that knows the file,
 * the offset or the event fills struct da_error once, through da_fail(); callers pass the code up
 * unchanged. Damage inside an input is not an error: it is counted where it is found.
 */
#ifndef DA_ERROR_H
#define DA_ERROR_H

#include <stddef.h>

enum da_err {
	DA_OK,
	DA_ENOMEM,       /* out of memory, or a limit of ours on memory */
	DA_EIO,          /* a system call failed; da_error.sys holds errno */
	DA_EUSAGE,       /* syntax error or unknown name: exit status 2 */
	DA_EFORMAT,      /* not a file of this kind, or nothing in it can be read: exit status 1 */
	DA_EDAMAGED,     /* record or field does not fit its bytes */
	DA_EUNSUPPORTED, /* this machine, kernel or build cannot do it */
	DA_EPERM,        /* not allowed; the message says what would allow it */
	DA_ENOENT,       /* no such event, file or task */
	DA_EMORE,        /* needs more bytes than the window holds: not damage */
	DA_EBUG,         /* an invariant of ours does not hold */
	DA_ERR_NR
};

struct da_error {
	int code;      /* enum da_err, positive; 0 = nothing failed */
	int sys;       /* errno at the failing call, or 0 */
	char msg[512]; /* one line, no final period or newline: problem first, subject quoted */
};

/* Fills *e (may be NULL) and returns -code. sys: errno saved at the failing call, 0 if none. When sys
 * is not 0, ": <strerror>" is appended. A second da_fail on a filled error keeps the first message. */
int da_fail(struct da_error *e, int code, int sys, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* A short name for a code ("damaged input"); never NULL. */
const char *da_err_name(int code);

#endif
