/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes to characters, for whatever is printed: names of commands and files hold any byte.
 */
#ifndef DA_UTF8_H
#define DA_UTF8_H

#include <stddef.h>

/* Bytes of the UTF-8 character at s, a NUL-terminated string; 0 if there is none. */
size_t utf8_length(const char *s);
/* The same, and 0 too for what a terminal may obey instead of show: C0 and C1 controls, DEL. */
size_t utf8_printable(const char *s);

#endif
