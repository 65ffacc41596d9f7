/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Option values: numbers with units, lists, colour. Whole strings only; what does not parse is refused, so
 * that "10O" is never taken for 10. No printing: the caller knows the option's name.
 */
#include "opts.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_CPU   65535u /* the kernel's limit is far below */
#define MAX_IDS   65536u
#define MAX_PAGES (1u << 19)

struct unit {
	const char *suffix;
	uint64_t factor;
};

static const struct unit thousands[] = {{"k", 1000},    {"K", 1000},       {"m", 1000000},
					{"M", 1000000}, {"g", 1000000000}, {"G", 1000000000},
					{NULL, 0}};

static const struct unit binary[] = {{"k", 1ull << 10},
				     {"K", 1ull << 10},
				     {"m", 1ull << 20},
				     {"M", 1ull << 20},
				     {"g", 1ull << 30},
				     {"G", 1ull << 30},
				     {"t", 1ull << 40},
				     {"T", 1ull << 40},
				     {"B", 1},
				     {"kB", 1ull << 10},
				     {"KB", 1ull << 10},
				     {"MB", 1ull << 20},
				     {"GB", 1ull << 30},
				     {"TB", 1ull << 40},
				     {"KiB", 1ull << 10},
				     {"kiB", 1ull << 10},
				     {"MiB", 1ull << 20},
				     {"GiB", 1ull << 30},
				     {"TiB", 1ull << 40},
				     {NULL, 0}};

static const struct unit times[] = {{"ns", 1},
				    {"us", 1000},
				    {"ms", 1000000},
				    {"s", 1000000000},
				    {"m", 60 * 1000000000ull},
				    {"min", 60 * 1000000000ull},
				    {"h", 3600 * 1000000000ull},
				    {NULL, 0}};

/* ---- the parser ---- */

/* Above the command's parser: takes argp's error stream away, so that its "Try ... --help" is not printed.
 * getopt itself still says which option is wrong. */
static error_t parse_root(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->err_stream = NULL;
	state->child_inputs[0] = state->input;
	return 0;
}

void opts_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	const struct argp_child children[] = {{argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
	const struct argp root = {.parser = parse_root, .children = children};

	if (argp_parse(&root, argc, argv, ARGP_IN_ORDER, NULL, input))
		exit(argp_err_exit_status);
}

void opts_usage(const struct argp_state *state, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", state->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(argp_err_exit_status);
}

/* ---- values ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Decimal digits at *s; false if there are none or they do not fit. */
static bool digits(const char **s, uint64_t *out)
{
	uint64_t v = 0;

	if (!is_digit(**s))
		return false;
	for (; is_digit(**s); (*s)++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(**s - '0'), &v))
			return false;
	*out = v;
	return true;
}

/* DIGITS[.DIGITS][SUFFIX]; without a suffix the factor is `plain`. */
static int scaled(const char *s, const struct unit *units, uint64_t plain, uint64_t *out)
{
	uint64_t whole, fraction = 0, scale = 1, factor = plain;
	const char *p = s;
	int i;

	if (!digits(&p, &whole))
		return -DA_EUSAGE;
	if (*p == '.') {
		p++;
		if (!is_digit(*p))
			return -DA_EUSAGE;
		for (i = 0; is_digit(*p); p++, i++) {
			if (i >= 9)
				continue;
			fraction = fraction * 10 + (uint64_t)(*p - '0');
			scale *= 10;
		}
	}
	if (*p) {
		while (units->suffix && strcmp(p, units->suffix) != 0)
			units++;
		if (!units->suffix)
			return -DA_EUSAGE;
		factor = units->factor;
	}
	fraction = (uint64_t)((unsigned __int128)fraction * factor / scale);
	if (__builtin_mul_overflow(whole, factor, &whole) ||
	    __builtin_add_overflow(whole, fraction, &whole))
		return -DA_EUSAGE;
	*out = whole;
	return 0;
}

int opts_u64(const char *s, uint64_t *out)
{
	uint64_t v = 0;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		if (!s[2] || strlen(s + 2) > 16 ||
		    strspn(s + 2, "0123456789abcdefABCDEF") != strlen(s + 2))
			return -DA_EUSAGE;
		*out = strtoull(s + 2, NULL, 16);
		return 0;
	}
	if (!digits(&s, &v) || *s)
		return -DA_EUSAGE;
	*out = v;
	return 0;
}

int opts_count(const char *s, uint64_t *out)
{
	return scaled(s, thousands, 1, out);
}

int opts_size(const char *s, uint64_t *out)
{
	return scaled(s, binary, 1, out);
}

int opts_duration(const char *s, uint64_t unit_ns, uint64_t *out)
{
	return scaled(s, times, unit_ns, out);
}

int opts_percent(const char *s, double *out)
{
	/* In units of 10^-7 %, so that the parser above serves. */
	static const struct unit percent[] = {{"%", 10000000}, {NULL, 0}};
	uint64_t v;

	if (scaled(s, percent, 10000000, &v) || v > 1000000000)
		return -DA_EUSAGE;
	*out = (double)v / 1e7;
	return 0;
}

int opts_pages(const char *s, uint32_t *out)
{
	uint64_t v, page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (opts_size(s, &v))
		return -DA_EUSAGE;
	if (!is_digit(
		    s[strlen(s) - 1])) { /* had a unit: bytes, rounded up to a power of two pages */
		uint64_t pages = 1;

		while (pages < MAX_PAGES && pages * page < v)
			pages *= 2;
		if (!v || pages * page < v)
			return -DA_EUSAGE;
		v = pages;
	}
	if (!v || v > MAX_PAGES || (v & (v - 1)))
		return -DA_EUSAGE;
	*out = (uint32_t)v;
	return 0;
}

int opts_mmap(const char *s, uint32_t *pages, uint32_t *aux_pages)
{
	const char *comma = strchr(s, ',');
	size_t len = comma ? (size_t)(comma - s) : strlen(s);
	uint32_t ring = *pages, aux = *aux_pages;
	char first[32];

	if (len >= sizeof(first))
		return -DA_EUSAGE;
	memcpy(first, s, len);
	first[len] = '\0';
	if ((len || !comma) && opts_pages(first, &ring))
		return -DA_EUSAGE;
	if (comma && opts_pages(comma + 1, &aux))
		return -DA_EUSAGE;
	*pages = ring;
	*aux_pages = aux;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* One "N" or "N-M" at *s. */
static bool range(const char **s, uint64_t max, uint64_t *from, uint64_t *to)
{
	if (!digits(s, from))
		return false;
	*to = *from;
	if (**s == '-') {
		(*s)++;
		if (!digits(s, to))
			return false;
	}
	return *from <= *to && *to <= max;
}

int opts_cpus(const char *s, uint32_t **cpus, size_t *nr)
{
	uint8_t *seen = calloc(MAX_CPU + 1, 1);
	uint32_t *list = NULL;
	uint64_t from, to;
	size_t n = 0, i;
	int ret = -DA_EUSAGE;

	if (!seen)
		return -DA_ENOMEM;
	for (;;) {
		if (!range(&s, MAX_CPU, &from, &to))
			goto out;
		memset(seen + from, 1, (size_t)(to - from + 1));
		if (!*s)
			break;
		if (*s++ != ',')
			goto out;
	}
	for (i = 0; i <= MAX_CPU; i++)
		n += seen[i];
	list = calloc(n, sizeof(*list));
	ret = list ? 0 : -DA_ENOMEM;
	if (ret)
		goto out;
	for (i = 0, n = 0; i <= MAX_CPU; i++)
		if (seen[i])
			list[n++] = (uint32_t)i;
	*cpus = list;
	*nr = n;
out:
	free(seen);
	return ret;
}

int opts_ids(const char *s, pid_t **ids, size_t *nr)
{
	uint32_t *list = NULL, *grown;
	uint64_t v;
	size_t n = 0, i, kept = 0;
	int ret = -DA_EUSAGE;

	for (;;) {
		if (n == MAX_IDS || !digits(&s, &v) || v == 0 || v > INT32_MAX)
			goto out;
		if ((n & (n - 1)) == 0) { /* full at every power of two */
			grown = realloc(list, (n ? 2 * n : 1) * sizeof(*list));
			if (!grown) {
				ret = -DA_ENOMEM;
				goto out;
			}
			list = grown;
		}
		list[n++] = (uint32_t)v;
		if (!*s)
			break;
		if (*s++ != ',')
			goto out;
	}
	qsort(list, n, sizeof(*list), by_number);
	for (i = 0; i < n; i++)
		if (i == 0 || list[i] != list[i - 1])
			list[kept++] = list[i];
	_Static_assert(sizeof(pid_t) == sizeof(*list), "ids are built in place");
	*ids = (pid_t *)list;
	*nr = kept;
	return 0;
out:
	free(list);
	return ret;
}

int opts_add_text(const char ***list, size_t *nr, const char *text)
{
	const char **grown = reallocarray(*list, *nr + 1, sizeof(*grown));

	if (!grown)
		return -DA_ENOMEM;
	*list = grown;
	grown[(*nr)++] = text;
	return 0;
}

int opts_color(const char *s, FILE *f, bool *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (s && !strcmp(s, "always"))
		*out = true;
	else if (s && !strcmp(s, "never"))
		*out = false;
	else if (!s || !strcmp(s, "auto"))
		*out = isatty(fileno(f)) && !(no && *no) && !(term && !strcmp(term, "dumb"));
	else
		return -DA_EUSAGE;
	return 0;
}
