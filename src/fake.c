/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The deterministic generator behind `-e fake` (da_fake.h lists its terms). A sample is a
 * function of the terms, the CPU and its number in that CPU's stream: what is random comes from
 * a hash of these, so streams do not depend on each other or on the order of the calls. Makes
 * fields, not records, and plays no failure that needs an event: the session does both.
 */
#include "da_fake.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_abi.h"
#include "da_datasrc.h"
#include "da_perfdata.h"

#define PAGE         4096ull
#define LINE         64ull
#define ACCESS       8ull
#define STAIRS       8ull
#define STAIR_LENGTH 2048ull
#define CODE_START   0x401000ull
#define PHYS_START   (4ull << 30)
#define DEFAULT_BASE 0x300000000000ull
#define MAX_SIZE     (1ull << 40)
#define MAX_BASE     (0x800000000000ull - MAX_SIZE)
/* Where neither binaries nor mmap put anything by themselves; more than MAX_SIZE apart. */
#define MISS_START     0x200000000000ull
#define MISS_ELSEWHERE 0x100000000000ull
#define NSEC           1000000000ull

enum pattern {
	PATTERN_HOTCOLD,
	PATTERN_SEQ,
	PATTERN_RANDOM,
	PATTERN_STAIRS,
	PATTERN_ZIPF,
	PATTERN_NR
};

static const char *const pattern_names[PATTERN_NR] = {
	[PATTERN_HOTCOLD] = "hotcold", [PATTERN_SEQ] = "seq",   [PATTERN_RANDOM] = "random",
	[PATTERN_STAIRS] = "stairs",   [PATTERN_ZIPF] = "zipf",
};

static const char *const fail_names[DA_FAKE_FAIL_NR] = {
	[DA_FAKE_FAIL_NONE] = "none",     [DA_FAKE_FAIL_CREATE] = "create",
	[DA_FAKE_FAIL_BIND] = "bind",     [DA_FAKE_FAIL_ENABLE] = "enable",
	[DA_FAKE_FAIL_SILENT] = "silent", [DA_FAKE_FAIL_NOADDR] = "noaddr",
	[DA_FAKE_FAIL_MISS] = "miss",     [DA_FAKE_FAIL_CPU1] = "cpu1",
	[DA_FAKE_FAIL_STALL] = "stall",
};

struct da_fake {
	uint64_t rate, size, base, writes, seed, cpus, tasks, count, phys, after;
	enum pattern pattern;
	enum da_fake_fail fail;
	uint32_t pid;
	uint64_t next[DA_FAKE_MAX_CPUS]; /* number of the next sample of each CPU */
};

/* ---- terms ---- */

/* The terms with a number. `unit`: what one step of K, M, G multiplies by; 0: none is taken. */
static const struct number_term {
	const char *name;
	size_t field;
	uint64_t min, max, multiple, unit;
} number_terms[] = {
	{"rate", offsetof(struct da_fake, rate), 1, NSEC, 1, 1000},
	{"size", offsetof(struct da_fake, size), PAGE, MAX_SIZE, PAGE, 1024},
	{"base", offsetof(struct da_fake, base), PAGE, MAX_BASE, PAGE, 0},
	{"writes", offsetof(struct da_fake, writes), 0, 100, 1, 0},
	{"seed", offsetof(struct da_fake, seed), 0, UINT64_MAX, 1, 0},
	{"cpus", offsetof(struct da_fake, cpus), 0, DA_FAKE_MAX_CPUS, 1, 0},
	{"tasks", offsetof(struct da_fake, tasks), 1, 4096, 1, 0},
	{"count", offsetof(struct da_fake, count), 0, UINT64_MAX, 1, 1000},
	{"phys", offsetof(struct da_fake, phys), 0, 1, 1, 0},
	{"after", offsetof(struct da_fake, after), 0, UINT64_MAX, 1, 1000},
};
#define NR_NUMBER_TERMS (sizeof(number_terms) / sizeof(*number_terms))

/* One piece of the term list; borrowed bytes, not terminated. */
struct piece {
	const char *p;
	size_t len;
};

static bool piece_is(struct piece a, const char *s)
{
	return strlen(s) == a.len && !memcmp(a.p, s, a.len);
}

static int usage(struct da_error *err, const char *problem, struct piece subject, const char *rest)
{
	return da_fail(err, DA_EUSAGE, 0, "%s '%.*s' %s", problem, (int)subject.len, subject.p,
		       rest);
}

/* Appends to a list of names in words; what does not fit is cut. */
static void add_name(char *list, size_t size, const char *name)
{
	size_t n = strlen(list);

	snprintf(list + n, size - n, "%s%s", n ? ", " : "", name);
}

static int one_of(struct piece term, struct piece value, const char *const *names, size_t nr,
		  int *out, struct da_error *err)
{
	char known[256] = "", rest[300];

	for (size_t i = 0; i < nr; i++) {
		if (piece_is(value, names[i])) {
			*out = (int)i;
			return 0;
		}
		add_name(known, sizeof(known), names[i]);
	}
	snprintf(rest, sizeof(rest), "takes one of %s", known);
	return usage(err, "fake: term", term, rest);
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Decimal or 0x..., then perhaps K, M, G (T for sizes); false: not a number or above 64 bits. */
static bool parse_number(struct piece v, uint64_t unit, uint64_t *out)
{
	static const char suffixes[] = "kmgt";
	uint64_t n = 0;
	size_t i = 0;
	int radix = 10;

	if (v.len > 2 && v.p[0] == '0' && (v.p[1] | 0x20) == 'x') {
		radix = 16;
		i = 2;
	}
	if (i == v.len || digit(v.p[i]) >= radix)
		return false;
	for (; i < v.len && digit(v.p[i]) < radix; i++) {
		if (__builtin_mul_overflow(n, (uint64_t)radix, &n) ||
		    __builtin_add_overflow(n, (uint64_t)digit(v.p[i]), &n))
			return false;
	}
	if (i < v.len && unit) {
		const char *s = v.p[i] ? strchr(suffixes, v.p[i] | 0x20) : NULL;

		for (ptrdiff_t steps = s ? s - suffixes + 1 : 0; steps > 0; steps--)
			if (__builtin_mul_overflow(n, unit, &n))
				return false;
		i += s ? 1 : 0;
	}
	*out = n;
	return i == v.len;
}

static int number(struct da_fake *f, const struct number_term *t, struct piece term,
		  struct piece value, struct da_error *err)
{
	uint64_t n;

	if (!parse_number(value, t->unit, &n))
		return usage(err, "fake: term", term, "needs a number");
	if (n < t->min || n > t->max)
		return usage(err, "fake: term", term, "is out of range");
	if (n % t->multiple)
		return usage(err, "fake: term", term, "must be a multiple of 4096");
	memcpy((char *)f + t->field, &n, sizeof(n));
	return 0;
}

static int unknown(struct piece term, struct da_error *err)
{
	char known[256] = "pattern, fail", rest[300];

	for (size_t i = 0; i < NR_NUMBER_TERMS; i++)
		add_name(known, sizeof(known), number_terms[i].name);
	snprintf(rest, sizeof(rest), "(known: %s)", known);
	return usage(err, "fake: unknown term", term, rest);
}

static int parse_term(struct da_fake *f, struct piece term, struct da_error *err)
{
	const char *eq = memchr(term.p, '=', term.len);
	struct piece name = {term.p, eq ? (size_t)(eq - term.p) : term.len};
	struct piece value = {term.p + name.len, 0};
	int choice, rc;

	if (!name.len)
		return usage(err, "fake: empty term in", term, "");
	if (eq) {
		value.p = eq + 1;
		value.len = term.len - name.len - 1;
	}
	if (piece_is(name, "pattern")) {
		rc = one_of(term, value, pattern_names, PATTERN_NR, &choice, err);
		if (!rc)
			f->pattern = (enum pattern)choice;
		return rc;
	}
	if (piece_is(name, "fail")) {
		rc = one_of(term, value, fail_names, DA_FAKE_FAIL_NR, &choice, err);
		if (!rc)
			f->fail = (enum da_fake_fail)choice;
		return rc;
	}
	for (size_t i = 0; i < NR_NUMBER_TERMS; i++)
		if (piece_is(name, number_terms[i].name))
			return number(f, &number_terms[i], term, value, err);
	return unknown(name, err);
}

int da_fake_new(struct da_fake **out, const char *terms, uint32_t pid, struct da_error *err)
{
	struct da_fake *f = calloc(1, sizeof(*f));
	int rc = 0;

	*out = NULL;
	if (!f)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	f->rate = 10000;
	f->size = 16ull << 20;
	f->base = DEFAULT_BASE;
	f->writes = 30;
	f->seed = 1;
	f->tasks = 1;
	f->after = 1000;
	f->pid = pid;
	while (*terms && !rc) {
		struct piece term = {terms, strcspn(terms, ",")};

		rc = parse_term(f, term, err);
		terms += term.len;
		if (*terms == ',' && !*++terms && !rc)
			rc = parse_term(f, (struct piece){terms, 0}, err);
	}
	if (rc) {
		free(f);
		return rc;
	}
	*out = f;
	return 0;
}

void da_fake_free(struct da_fake *f)
{
	free(f);
}

bool da_fake_fails(const struct da_fake *f, enum da_fake_fail how)
{
	return f->fail == how;
}

void da_fake_range(const struct da_fake *f, uint64_t *start, uint64_t *end)
{
	*start = f->base;
	*end = f->base + f->size;
}

/* ---- samples ---- */

/* Finalizer of SplitMix64 (Steele, Lea, Flood 2014): every input bit reaches every output bit. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/* The random numbers of one sample. */
struct dice {
	uint64_t x;
};

static struct dice dice_of(const struct da_fake *f, uint32_t cpu, uint64_t n)
{
	return (struct dice){
		mix(mix(f->seed + 0x9e3779b97f4a7c15ull) ^ mix((uint64_t)cpu << 48 ^ n))};
}

static uint64_t roll(struct dice *d)
{
	d->x += 0x9e3779b97f4a7c15ull;
	return mix(d->x);
}

/* Below n, n > 0; the bias of a remainder is below n / 2^64. */
static uint64_t below(struct dice *d, uint64_t n)
{
	return roll(d) % n;
}

static uint64_t zipf_page(struct dice *d, uint64_t pages)
{
	/* Ranks 2^k .. 2^(k+1)-1 have together about the same weight for every k: choose k, then
	 * a rank, and again where the last octave reaches beyond the range. A fixed number of
	 * tries bounds the loop. */
	unsigned octaves = 64 - (unsigned)__builtin_clzll(pages);

	for (unsigned tries = 0; tries < 64; tries++) {
		uint64_t first = 1ull << below(d, octaves), rank = first + below(d, first);

		if (rank <= pages)
			return rank - 1;
	}
	return 0;
}

static uint64_t offset_of(const struct da_fake *f, uint32_t cpu, uint64_t n, struct dice *d)
{
	uint64_t words = f->size / ACCESS, part = f->size / STAIRS, streams = f->cpus ? f->cpus : 1;

	switch (f->pattern) {
	case PATTERN_SEQ:
		return (n * streams + (f->cpus ? cpu : 0)) % (f->size / LINE) * LINE;
	case PATTERN_STAIRS:
		return n / STAIR_LENGTH % STAIRS * part + below(d, part / ACCESS) * ACCESS;
	case PATTERN_ZIPF:
		return zipf_page(d, f->size / PAGE) * PAGE + below(d, PAGE / ACCESS) * ACCESS;
	case PATTERN_HOTCOLD:
		if (below(d, 10) < 9)
			return below(d, words / 10) * ACCESS;
		return below(d, words) * ACCESS;
	default:
		return below(d, words) * ACCESS;
	}
}

/* Where the addresses of fail=miss begin: a place that the range does not reach. */
static uint64_t miss_start(const struct da_fake *f)
{
	return f->base < MISS_START + f->size && MISS_START < f->base + f->size ? MISS_ELSEWHERE
										: MISS_START;
}

static bool delivers(const struct da_fake *f, uint32_t cpu, uint64_t n)
{
	if (cpu >= DA_FAKE_MAX_CPUS || (f->cpus && cpu >= f->cpus) || (f->count && n >= f->count))
		return false;
	switch (f->fail) {
	case DA_FAKE_FAIL_CREATE:
	case DA_FAKE_FAIL_BIND:
	case DA_FAKE_FAIL_ENABLE:
	case DA_FAKE_FAIL_SILENT:
		return false;
	case DA_FAKE_FAIL_CPU1:
		return !cpu;
	case DA_FAKE_FAIL_STALL:
		return n < f->after;
	default:
		return true;
	}
}

/* The first sample comes one interval after enabling, and each CPU a bit later than the one
 * before it: no two samples of up to 1000 CPUs have the same time at rates below 1 M. */
static uint64_t time_of(const struct da_fake *f, uint32_t cpu, uint64_t n)
{
	uint64_t whole, t;

	n++;
	if (__builtin_mul_overflow(n / f->rate, NSEC, &whole))
		return UINT64_MAX;
	t = n % f->rate * NSEC / f->rate + cpu % 1000;
	return __builtin_add_overflow(t, whole, &t) ? UINT64_MAX : t;
}

uint64_t da_fake_time(const struct da_fake *f, uint32_t cpu)
{
	if (cpu >= DA_FAKE_MAX_CPUS || !delivers(f, cpu, f->next[cpu]))
		return UINT64_MAX;
	return time_of(f, cpu, f->next[cpu]);
}

bool da_fake_next(struct da_fake *f, uint32_t cpu, struct da_samp *out)
{
	uint64_t time_ns = da_fake_time(f, cpu), n, offset;
	struct dice d;
	bool store;

	*out = (struct da_samp){0};
	if (time_ns == UINT64_MAX)
		return false;
	n = f->next[cpu]++;
	d = dice_of(f, cpu, n);
	store = below(&d, 100) < f->writes;
	offset = offset_of(f, cpu, n, &d);
	out->mask = DA_SAMPLE_IP | DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_ADDR | DA_SAMPLE_CPU |
		    DA_SAMPLE_PERIOD | DA_SAMPLE_DATA_SRC;
	out->ip = CODE_START + 16ull * f->pattern + (store ? 8 : 0);
	out->pid = f->pid;
	out->tid = f->pid + (uint32_t)(n % f->tasks);
	out->time_ns = time_ns;
	out->addr = (f->fail == DA_FAKE_FAIL_MISS ? miss_start(f) : f->base) + offset;
	out->cpu = cpu;
	out->period = 1;
	out->data_src = DS_OP(store ? OP_STORE : OP_LOAD) | DS_LVL(LVL_HIT | LVL_L1) |
			DS_SNOOP(SNOOP_NONE) | DS_LOCK(LOCK_NA) | DS_TLB(TLB_NA) | DS_NUM(NUM_L1);
	if (f->phys) {
		out->mask |= DA_SAMPLE_PHYS_ADDR;
		out->phys_addr = PHYS_START + offset;
	}
	if (f->fail ==
	    DA_FAKE_FAIL_NOADDR) /* the record keeps its layout: absent is written as 0 */
		out->addr = out->phys_addr = 0;
	return true;
}
