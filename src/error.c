/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Error codes to words, and the one place where an error message is formatted.
 *
 * Nothing is printed here: cmd/ prints what da_fail() left in struct da_error.
 */
#include "da_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[DA_ERR_NR] = {
	[DA_OK] = "no error",
	[DA_ENOMEM] = "out of memory",
	[DA_EIO] = "system error",
	[DA_EUSAGE] = "usage error",
	[DA_EFORMAT] = "unreadable format",
	[DA_EDAMAGED] = "damaged input",
	[DA_EUNSUPPORTED] = "not supported",
	[DA_EPERM] = "not permitted",
	[DA_ENOENT] = "not found",
	[DA_EMORE] = "more bytes needed",
	[DA_EBUG] = "internal error",
};

const char *da_err_name(int code)
{
	if (code < 0 && code > -DA_ERR_NR)
		code = -code;
	if (code < 0 || code >= DA_ERR_NR || !names[code])
		return "unknown error";
	return names[code];
}

/* Subjects are file and event names, which may hold any byte: a message stays one line and cannot
 * reach the terminal as a control sequence. */
static void one_line(char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < 0x20 || c == 0x7f)
			*s = '?';
	}
}

int da_fail(struct da_error *e, int code, int sys, const char *fmt, ...)
{
	char text[128];
	va_list ap;
	size_t n;

	if (code <= 0 || code >= DA_ERR_NR)
		code = DA_EBUG;
	if (!e || e->code)
		return -code;
	e->code = code;
	e->sys = sys;
	va_start(ap, fmt);
	if (vsnprintf(e->msg, sizeof(e->msg), fmt, ap) < 0)
		e->msg[0] = '\0';
	va_end(ap);
	if (sys) {
		n = strlen(e->msg);
		snprintf(e->msg + n, sizeof(e->msg) - n, ": %s",
			 strerror_r(sys, text, sizeof(text)));
	}
	one_line(e->msg);
	return -code;
}
