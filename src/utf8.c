/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * UTF-8 (Unicode 15, table 3-7): well-formed sequences and those that may be shown.
 */
#include "utf8.h"

size_t utf8_length(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4, i;

	if (s[0] == 0 || s[0] > 0xf4)
		return 0;
	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80) /* also stops at the terminating NUL */
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

size_t utf8_printable(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	if (s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0))
		return 0;
	return utf8_length(text);
}
