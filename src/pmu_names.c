/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event names that every perf knows (uapi linux/perf_event.h; `perf list`), and the small tools
 * on words that the parser and its messages need. Looks at no machine.
 */
#include <string.h>

#include "pmu_priv.h"

static const struct pmu_event_name names[] = {
	{"cycles", "cpu-cycles", DA_TYPE_HARDWARE, 0},
	{"instructions", NULL, DA_TYPE_HARDWARE, 1},
	{"cache-references", NULL, DA_TYPE_HARDWARE, 2},
	{"cache-misses", NULL, DA_TYPE_HARDWARE, 3},
	{"branches", "branch-instructions", DA_TYPE_HARDWARE, 4},
	{"branch-misses", NULL, DA_TYPE_HARDWARE, 5},
	{"bus-cycles", NULL, DA_TYPE_HARDWARE, 6},
	{"stalled-cycles-frontend", "idle-cycles-frontend", DA_TYPE_HARDWARE, 7},
	{"stalled-cycles-backend", "idle-cycles-backend", DA_TYPE_HARDWARE, 8},
	{"ref-cycles", NULL, DA_TYPE_HARDWARE, 9},
	{"cpu-clock", NULL, DA_TYPE_SOFTWARE, DA_SW_CPU_CLOCK},
	{"task-clock", NULL, DA_TYPE_SOFTWARE, DA_SW_TASK_CLOCK},
	{"page-faults", "faults", DA_TYPE_SOFTWARE, DA_SW_PAGE_FAULTS},
	{"minor-faults", NULL, DA_TYPE_SOFTWARE, DA_SW_PAGE_FAULTS_MIN},
	{"major-faults", NULL, DA_TYPE_SOFTWARE, DA_SW_PAGE_FAULTS_MAJ},
	{"context-switches", "cs", DA_TYPE_SOFTWARE, DA_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", "migrations", DA_TYPE_SOFTWARE, DA_SW_CPU_MIGRATIONS},
	{"alignment-faults", NULL, DA_TYPE_SOFTWARE, DA_SW_ALIGNMENT_FAULTS},
	{"emulation-faults", NULL, DA_TYPE_SOFTWARE, DA_SW_EMULATION_FAULTS},
	{"dummy", NULL, DA_TYPE_SOFTWARE, DA_SW_DUMMY},
	{"bpf-output", NULL, DA_TYPE_SOFTWARE, DA_SW_BPF_OUTPUT},
	{"cgroup-switches", NULL, DA_TYPE_SOFTWARE, DA_SW_CGROUP_SWITCHES},
};

/* Hardware cache events are CACHE-OPERATION[-RESULT]; config: cache | operation << 8 | result <<
 * 16. */
static const char *const caches[][3] = {
	{"L1-dcache", "l1d", "L1-data"},
	{"L1-icache", "l1i", "L1-instruction"},
	{"LLC", "L2", NULL},
	{"dTLB", "d-tlb", "Data-TLB"},
	{"iTLB", "i-tlb", NULL},
	{"branch", "bpu", "btb"},
	{"node", NULL, NULL},
};
static const char *const cache_ops[][3] = {
	{"load", "loads", "read"},
	{"store", "stores", "write"},
	{"prefetch", "prefetches", "speculative-read"},
};

#define NR(a) (sizeof(a) / sizeof((a)[0]))

struct slice slice_from(const char *s)
{
	return (struct slice){s, strlen(s)};
}

bool slice_is(struct slice s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.p, text, s.len);
}

bool slice_begins(struct slice s, const char *text)
{
	size_t len = strlen(text);

	return s.len >= len && !memcmp(s.p, text, len);
}

struct slice slice_cut(struct slice *rest, char c)
{
	const char *at = rest->len ? memchr(rest->p, c, rest->len) : NULL;
	struct slice head = {rest->p, at ? (size_t)(at - rest->p) : rest->len};
	size_t taken = head.len + (at ? 1 : 0);

	rest->p += taken;
	rest->len -= taken;
	return head;
}

static unsigned digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 99;
}

bool slice_number(struct slice s, uint64_t *out)
{
	unsigned radix = 10;
	uint64_t n = 0;
	size_t i = 0;

	if (s.len > 2 && s.p[0] == '0' && (s.p[1] | 0x20) == 'x') {
		radix = 16;
		i = 2;
	}
	if (i == s.len)
		return false;
	for (; i < s.len; i++) {
		if (digit(s.p[i]) >= radix || __builtin_mul_overflow(n, (uint64_t)radix, &n) ||
		    __builtin_add_overflow(n, (uint64_t)digit(s.p[i]), &n))
			return false;
	}
	*out = n;
	return true;
}

/* ---- nearest name ---- */

#define MAX_WORD 63

/* Edits (insert, delete, replace, swap two neighbours) from a to b. */
static unsigned distance(struct slice a, struct slice b)
{
	unsigned row[3][MAX_WORD + 1];

	if (a.len > MAX_WORD || b.len > MAX_WORD)
		return UINT32_MAX;
	for (size_t j = 0; j <= b.len; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a.len; i++) {
		unsigned *cur = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];

		cur[0] = (unsigned)i;
		for (size_t j = 1; j <= b.len; j++) {
			unsigned d = up[j - 1] + (a.p[i - 1] != b.p[j - 1]);

			d = up[j] + 1 < d ? up[j] + 1 : d;
			d = cur[j - 1] + 1 < d ? cur[j - 1] + 1 : d;
			if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
				d = up2[j - 2] + 1 < d ? up2[j - 2] + 1 : d;
			cur[j] = d;
		}
	}
	return row[a.len % 3][b.len];
}

void nearest_begin(struct nearest *n, struct slice word)
{
	*n = (struct nearest){.word = word, .distance = UINT32_MAX};
}

void nearest_try(struct nearest *n, const char *candidate)
{
	unsigned d = distance(n->word, slice_from(candidate));

	if (d < n->distance) {
		n->distance = d;
		memcpy(n->best, candidate,
		       strlen(candidate) + 1); /* at most MAX_WORD: distance() saw to it */
	}
}

bool nearest_found(const struct nearest *n)
{
	return n->distance <= (n->word.len + 2) / 3;
}

/* ---- event names ---- */

static bool one_of(struct slice s, const char *const *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (words[i] && slice_is(s, words[i]))
			return true;
	return false;
}

static bool cache_result(struct slice s, uint64_t *result)
{
	static const char *const refs[] = {"refs", "ops", "access"}, *const misses[] = {"misses",
											"miss"};

	*result = one_of(s, misses, NR(misses));
	return *result || !s.len || one_of(s, refs, NR(refs));
}

/* "load-misses" after the cache's name; nothing: loads. */
static bool cache_operation(struct slice s, uint64_t *op, uint64_t *result)
{
	for (*op = 0; *op < NR(cache_ops); ++*op) {
		for (size_t k = 0; k < NR(cache_ops[0]); k++) {
			const char *word = cache_ops[*op][k];
			struct slice rest = s;

			if (!slice_begins(s, word))
				continue;
			rest.p += strlen(word);
			rest.len -= strlen(word);
			if (rest.len && *rest.p != '-')
				continue;
			if (rest.len == 1)
				return false;
			rest.p += rest.len ? 1 : 0;
			rest.len -= rest.len ? 1 : 0;
			return cache_result(rest, result);
		}
	}
	*op = 0;
	return cache_result(s, result) && *result;
}

static bool cache_find(struct slice s, uint64_t *config)
{
	uint64_t op, result;

	for (uint64_t c = 0; c < NR(caches); c++) {
		for (size_t k = 0; k < NR(caches[0]); k++) {
			const char *word = caches[c][k];
			struct slice rest = s;

			if (!word || !slice_begins(s, word))
				continue;
			rest.p += strlen(word);
			rest.len -= strlen(word);
			if (rest.len < 2 || *rest.p != '-')
				continue;
			rest.p++;
			rest.len--;
			if (!cache_operation(rest, &op, &result))
				continue;
			*config = c | op << 8 | result << 16;
			return true;
		}
	}
	return false;
}

bool pmu_name_find(struct slice name, uint32_t *type, uint64_t *config)
{
	for (size_t i = 0; i < NR(names); i++) {
		if (!slice_is(name, names[i].name) &&
		    !(names[i].alias && slice_is(name, names[i].alias)))
			continue;
		*type = names[i].type;
		*config = names[i].config;
		return true;
	}
	*type = DA_TYPE_HW_CACHE;
	return cache_find(name, config);
}

void pmu_name_nearest(struct nearest *n)
{
	static const char *const common_caches[] = {
		"L1-dcache-loads",  "L1-dcache-load-misses",
		"L1-dcache-stores", "L1-icache-load-misses",
		"LLC-loads",        "LLC-load-misses",
		"LLC-stores",       "LLC-store-misses",
		"dTLB-loads",       "dTLB-load-misses",
		"iTLB-load-misses", "node-loads",
		"node-load-misses",
	};

	for (size_t i = 0; i < NR(names); i++) {
		nearest_try(n, names[i].name);
		if (names[i].alias)
			nearest_try(n, names[i].alias);
	}
	for (size_t i = 0; i < NR(common_caches); i++)
		nearest_try(n, common_caches[i]);
}
