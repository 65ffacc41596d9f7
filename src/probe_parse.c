/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text of a probe (da_probe.h) to what it asks for. It knows neither events nor tasks.
 */
#include <stdlib.h>
#include <string.h>

#include "probe_priv.h"

#define MAX_VALUES 4096 /* of one list */
#define MAX_CPU    65535
#define MAX_WEIGHT 1000000

void probe_release(struct probe *p)
{
	struct spans *const lists[] = {&p->cpus,  &p->pids,   &p->tids,
				       &p->addrs, &p->paddrs, &p->latencies};
	struct names *const names[] = {&p->comms, &p->producers, &p->buffers};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		free(lists[i]->all);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		while (names[i]->nr)
			free(names[i]->all[--names[i]->nr]);
		free(names[i]->all);
	}
	free(p->text);
	memset(p, 0, sizeof(*p));
}

/* ---- values: 0, -DA_EUSAGE or -DA_ENOMEM ---- */

static int add_span(struct spans *l, uint64_t lo, uint64_t hi)
{
	struct span *grown;

	if (l->nr == MAX_VALUES || lo > hi)
		return -DA_EUSAGE;
	grown = reallocarray(l->all, l->nr + 1, sizeof(*grown));
	if (!grown)
		return -DA_ENOMEM;
	l->all = grown;
	l->all[l->nr++] = (struct span){lo, hi};
	return 0;
}

static int add_name(struct names *n, const char *name)
{
	char **grown;

	if (n->nr == MAX_VALUES || !*name)
		return -DA_EUSAGE;
	grown = reallocarray(n->all, n->nr + 1, sizeof(*grown));
	if (!grown)
		return -DA_ENOMEM;
	n->all = grown;
	n->all[n->nr] = strdup(name);
	return n->all[n->nr] ? (n->nr++, 0) : -DA_ENOMEM;
}

/* A number at *s, at most max; hexadecimal if asked for, 0x or not. */
static bool number(const char **s, int base, uint64_t max, uint64_t *out)
{
	const char *p = *s;
	char *end;

	if (base == 16 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	/* strtoull() would take a sign or blanks */
	if (!strchr(base == 16 ? "0123456789abcdefABCDEF" : "0123456789", *p) || !*p)
		return false;
	*out = strtoull(p, &end, base);
	*s = end;
	return *out <= max && end - p <= 20;
}

/* "3" or "3-5"; behind: what the second may be left out for ("5-": to the end). */
static int range(struct spans *l, const char *s, int base, uint64_t max)
{
	uint64_t lo, hi;

	if (!number(&s, base, max, &lo))
		return -DA_EUSAGE;
	hi = lo;
	if (*s == '-') {
		s++;
		if (!number(&s, base, max, &hi))
			return -DA_EUSAGE;
	}
	return *s ? -DA_EUSAGE : add_span(l, lo, hi);
}

/* START-END, END not included. */
static int addresses(struct spans *l, const char *s)
{
	uint64_t lo, hi;

	if (!number(&s, 16, UINT64_MAX, &lo) || *s++ != '-' || !number(&s, 16, UINT64_MAX, &hi) ||
	    *s || hi <= lo)
		return -DA_EUSAGE;
	return add_span(l, lo, hi - 1);
}

static int latency(struct spans *l, const char *s)
{
	uint64_t lo, hi = UINT64_MAX;

	if (!number(&s, 10, UINT32_MAX, &lo))
		return -DA_EUSAGE;
	if (*s == '-' && s[1]) {
		s++;
		if (!number(&s, 10, UINT32_MAX, &hi))
			return -DA_EUSAGE;
	}
	return *s ? -DA_EUSAGE : add_span(l, lo, hi);
}

static int source(uint32_t *bits, const char *s)
{
	static const char *const names[] = {"l1",     "l2",   "l3",       "l4",  "lfb",
					    "ram",    "cxl",  "pmem",     "io",  "uncached",
					    "remote", "hitm", "tlb_miss", "hit", "miss"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(s, names[i])) {
			*bits |= 1u << i;
			return 0;
		}
	}
	return -DA_EUSAGE;
}

static int weight(uint64_t *out, const char *s)
{
	return number(&s, 10, MAX_WEIGHT, out) && !*s ? 0 : -DA_EUSAGE;
}

/* ---- terms ---- */

enum key {
	KEY_CPUS,
	KEY_PIDS,
	KEY_TIDS,
	KEY_COMM,
	KEY_PRODUCER,
	KEY_BUFFER,
	KEY_ADDR,
	KEY_PADDR,
	KEY_LATENCY,
	KEY_DATA_SRC,
	KEY_WEIGHT,
	KEY_NR
};

static const struct {
	const char *name;
	enum key key;
} keys[] = {
	{"cpus", KEY_CPUS},       {"cpu", KEY_CPUS},          {"pids", KEY_PIDS},
	{"pid", KEY_PIDS},        {"tids", KEY_TIDS},         {"tid", KEY_TIDS},
	{"comm", KEY_COMM},       {"producer", KEY_PRODUCER}, {"event", KEY_PRODUCER},
	{"buffer", KEY_BUFFER},   {"addr", KEY_ADDR},         {"paddr", KEY_PADDR},
	{"latency", KEY_LATENCY}, {"data_src", KEY_DATA_SRC}, {"weight", KEY_WEIGHT},
};

static int value(struct probe *p, enum key key, const char *s)
{
	switch (key) {
	case KEY_CPUS:
		return range(&p->cpus, s, 10, MAX_CPU);
	case KEY_PIDS:
		return range(&p->pids, s, 10, INT32_MAX);
	case KEY_TIDS:
		return range(&p->tids, s, 10, INT32_MAX);
	case KEY_COMM:
		return add_name(&p->comms, s);
	case KEY_PRODUCER:
		return add_name(&p->producers, s);
	case KEY_BUFFER:
		return add_name(&p->buffers, s);
	case KEY_ADDR:
		return addresses(&p->addrs, s);
	case KEY_PADDR:
		return addresses(&p->paddrs, s);
	case KEY_LATENCY:
		return latency(&p->latencies, s);
	case KEY_DATA_SRC:
		return source(&p->sources, s);
	case KEY_WEIGHT:
		return weight(&p->weight, s);
	default:
		return -DA_EUSAGE;
	}
}

/* "write", "cpus=0-3", or "6" behind "cpus=0-3". */
static int term(struct probe *p, char *s, enum key *last)
{
	char *eq = strchr(s, '=');
	enum key key = KEY_NR;

	if (!strcmp(s, "read") || !strcmp(s, "write")) {
		p->op |= *s == 'r' ? DA_OP_READ : DA_OP_WRITE;
		*last = KEY_NR;
		return 0;
	}
	if (!eq && *s >= '0' && *s <= '9' && *last != KEY_WEIGHT)
		return value(p, *last, s);
	if (!eq)
		return -DA_EUSAGE;
	*eq = '\0';
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(s, keys[i].name))
			key = keys[i].key;
	*eq = '=';
	*last = key;
	return value(p, key, eq + 1);
}

static bool is_name(const char *s, size_t n)
{
	return n && n < sizeof(((struct probe *)NULL)->name) &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") >= n;
}

/* Commas between slashes belong to an event's name. */
static char *next_term(char **rest)
{
	char *s = *rest, *p = s;
	bool inside = false;

	if (!s)
		return NULL;
	for (; *p && (*p != ',' || inside); p++)
		inside ^= *p == '/';
	*rest = *p ? p + 1 : NULL;
	*p = '\0';
	return s;
}

int probe_parse(struct probe *p, const char *text, struct da_error *err)
{
	size_t n = strcspn(text, ":");
	enum key last = KEY_NR;
	char *copy, *rest, *one;
	int rc = 0;

	memset(p, 0, sizeof(*p));
	p->weight = 1;
	if (!text[n] || !is_name(text, n))
		return da_fail(err, DA_EUSAGE, 0,
			       "bad probe '%s' (wanted: NAME:TERM,..., as w:write,cpus=0-3)", text);
	memcpy(p->name, text, n);
	p->text = strdup(text);
	copy = rest = strdup(text + n + 1);
	if (!p->text || !copy)
		rc = -DA_ENOMEM;
	while (!rc && *copy && (one = next_term(&rest))) {
		rc = term(p, one, &last);
		if (rc == -DA_EUSAGE)
			da_fail(err, DA_EUSAGE, 0,
				"probe '%s': bad term '%s' (there are read, write, cpus=, pids=, "
				"tids=, comm=, producer=, buffer=, addr=, paddr=, latency=, "
				"data_src=, weight=)",
				p->name, one);
	}
	free(copy);
	if (rc) {
		probe_release(p);
		return da_fail(err, -rc, 0, "out of memory"); /* keeps the first message */
	}
	return 0;
}
