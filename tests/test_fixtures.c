/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Real recordings of other projects in $DA_SHARED/fixtures (or ../shared/fixtures), which are no part of
 * this project: our reader against what perf 6.1 printed for them and against a walk over their records.
 *
 * Where perf read a file, the samples of each event are as many as perf's, and the first ones have its
 * values. Where it did not, and for traces from which perf makes up samples of its own, the number of SAMPLE
 * records decides. A second walk, in this file, unpacks compressed ones. A table shows all of them.
 *
 * timeout: 300
 */
#include <check.h>
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "da_perfdata.h"

#define MAX_EVENTS 512
#define MAX_LINES  20

static char *dir;

/* Files whose samples perf prints are not those of the file. */
static const struct {
	const char *begin, *why;
} apart[] = {
	{"aux-", "perf makes samples from the trace"},
	{"regs--platformsystemextras--perf_with_add_counter",
	 "perf makes a sample for each member of a group"},
	{"addr--perfparser--contentsize", "the oracle counted lines"},
};

/* ---- files ---- */

static char *slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	size_t n;

	*len = 0;
	if (!f)
		return NULL;
	do {
		text = realloc(text, *len + 65536 + 1);
		n = fread(text + *len, 1, 65536, f);
		*len += n;
	} while (n);
	text[*len] = '\0';
	fclose(f);
	return text;
}

/* ---- the oracle ---- */

struct expected_event {
	char name[160];
	uint64_t samples;
};

/* A line of `perf script`. */
struct expected_sample {
	uint32_t pid, tid;
	uint64_t time_us, period, addr, data_src, weight, ip;
	bool has_period, has_addr, has_data_src, has_weight, has_ip;
};

struct oracle {
	bool perf_read; /* perf's exit status was 0 */
	struct expected_event ev[MAX_EVENTS];
	size_t nr_ev;
	uint64_t perf_samples, walked_samples;
	struct expected_sample lines[MAX_LINES];
	size_t nr_lines;
	const char *records; /* the walk's counts, as text */
};

/* The line that begins with `with`; the last of them if there are several. */
static char *find_line(char *text, const char *with)
{
	char *found = NULL;

	for (char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
		if (!strncmp(p, with, strlen(with)))
			found = p + strlen(with);
	}
	return found;
}

/* {"name": 1, "other": 2} */
static void parse_counts(const char *p, struct oracle *o)
{
	while (p && (p = strchr(p, '"')) && o->nr_ev < MAX_EVENTS) {
		struct expected_event *e = &o->ev[o->nr_ev];
		const char *end = strstr(p + 1, "\": ");

		if (!end || memchr(p, '\n', (size_t)(end - p)))
			return;
		snprintf(e->name, sizeof(e->name), "%.*s", (int)(end - p - 1), p + 1);
		e->samples = strtoull(end + 3, NULL, 10);
		o->perf_samples += e->samples;
		o->nr_ev++;
		p = end + 3;
	}
}

static uint64_t walked(const struct oracle *o, const char *type)
{
	char key[64];
	const char *p, *end = o->records ? strchrnul(o->records, '\n') : NULL;

	snprintf(key, sizeof(key), "\"%s\": ", type);
	p = o->records ? strstr(o->records, key) : NULL;
	return p && p < end ? strtoull(p + strlen(key), NULL, 10) : 0;
}

/* Seconds with six decimals and a colon: where a line's time is. */
static char *find_time(char *line)
{
	for (char *p = line; *p; p++) {
		size_t n = strspn(p, "0123456789");

		if (n && (p == line || p[-1] == ' ') && p[n] == '.' &&
		    strspn(p + n + 1, "0123456789") == 6 && p[n + 7] == ':')
			return p;
	}
	return NULL;
}

/* The word before `end` (exclusive), as a hex number; *end moves before it. */
static uint64_t hex_before(const char *line, const char **end)
{
	const char *p = *end;

	while (p > line && p[-1] == ' ')
		p--;
	while (p > line && p[-1] != ' ')
		p--;
	*end = p;
	return strtoull(p, NULL, 16);
}

static bool field(const char *fields, const char *name)
{
	const char *p = strstr(fields, name);
	size_t n = strlen(name);

	return p && (p[-1] == ',' || p[-1] == ' ') && (p[n] == ',' || p[n] == ']');
}

static bool parse_sample(char *line, const char *fields, struct expected_sample *s)
{
	char *time = find_time(line), *p;
	const char *end = line + strlen(line);

	memset(s, 0, sizeof(*s));
	if (!time)
		return false;
	for (p = time; p > line && (p[-1] != '/' || !isdigit((unsigned char)p[-2])); p--)
		;
	if (p == line)
		return false;
	s->tid = (uint32_t)strtoul(p, NULL, 10);
	for (p--; p > line && isdigit((unsigned char)p[-1]); p--)
		;
	s->pid = (uint32_t)strtoul(p, NULL, 10);
	s->time_us = strtoull(time, &p, 10) * 1000000;
	s->time_us += strtoull(p + 1, &p, 10);
	s->has_period = field(fields, "period");
	if (s->has_period)
		s->period = strtoull(p + 1, NULL, 10);
	if (field(fields, "trace"))
		return true; /* any text to the end */
	s->has_ip = true;
	s->ip = hex_before(line, &end);
	if (field(fields, "weight")) {
		s->has_weight = true;
		while (end > line && end[-1] == ' ')
			end--;
		while (end > line && isdigit((unsigned char)end[-1]))
			end--;
		s->weight = strtoull(end, NULL, 10);
	}
	if (field(fields, "data_src")) {
		s->has_data_src = true;
		end = strstr(time, " |OP ");
		if (!end)
			return false;
		s->data_src = hex_before(line, &end);
	}
	if (field(fields, "addr")) {
		s->has_addr = true;
		s->addr = hex_before(line, &end);
	}
	return true;
}

static void parse_samples(char *text, struct oracle *o)
{
	char *fields = find_line(text, "[perf script -F "), *line;

	if (!fields)
		return;
	line = strchr(fields, '\n');
	if (!line)
		return;
	*line++ = '\0';
	while (line && *line && o->nr_lines < MAX_LINES) {
		char *next = strchr(line, '\n');

		if (next)
			*next++ = '\0';
		if (!parse_sample(line, fields - 1, &o->lines[o->nr_lines]))
			return;
		o->nr_lines++;
		line = next;
	}
}

static void parse_oracle(char *text, struct oracle *o)
{
	char *p;

	memset(o, 0, sizeof(*o));
	o->records = find_line(text, "records: ");
	o->walked_samples = walked(o, "SAMPLE");
	p = find_line(text, "samples_by_event: ");
	o->perf_read = p != NULL;
	parse_counts(p, o);
	if (o->perf_read)
		parse_samples(text, o);
}

/* ---- the second walk ---- */

static uint64_t get(const uint8_t *p, unsigned n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

/* SAMPLE records in n plain bytes; *rest: bytes of a last, incomplete record. */
static uint64_t samples_in(const uint8_t *p, size_t n, size_t *rest)
{
	uint64_t samples = 0;

	while (n >= 8 && get(p + 6, 2) >= 8 && get(p + 6, 2) <= n) {
		samples += get(p, 4) == 9;
		n -= get(p + 6, 2);
		p += get(p + 6, 2);
	}
	*rest = n;
	return samples;
}

/* Little endian files and pipes, unpacked at once into memory: nothing like what the reader does. */
static bool second_walk(const uint8_t *p, size_t len, uint64_t *samples)
{
	ZSTD_DCtx *d = ZSTD_createDCtx();
	uint8_t *plain = NULL;
	size_t nr_plain = 0, rest, at = 16, end = len;
	bool packed = false;

	*samples = 0;
	if (len >= 104 && !memcmp(p, "PERFILE2", 8) && get(p + 8, 8) == 104) {
		at = get(p + 40, 8);
		end = at + get(p + 48, 8);
	}
	while (at + 8 <= end && end <= len) {
		uint64_t type = get(p + at, 4), size = get(p + at + 6, 2);
		ZSTD_inBuffer in = {p + at + 8, size - 8, 0};

		if (size < 8 || size > end - at)
			break;
		samples[0] += type == 9;
		if (type == 83) {
			in.src = p + at + 16;
			in.size = get(p + at + 8, 8);
		}
		while ((type == 81 || type == 83) && in.size <= end - at) {
			ZSTD_outBuffer out = {NULL, 1 << 20, 0};

			packed = true;
			plain = realloc(plain, nr_plain + out.size);
			out.dst = plain + nr_plain;
			if (ZSTD_isError(ZSTD_decompressStream(d, &out, &in)))
				break;
			nr_plain += out.pos;
			if (in.pos == in.size && out.pos < out.size)
				break;
		}
		at += size + (type == 71                 ? get(p + at + 8, 8)
			      : type == 66 && size <= 16 ? get(p + at + 8, 4)
							 : 0);
	}
	*samples += samples_in(plain, nr_plain, &rest);
	free(plain);
	ZSTD_freeDCtx(d);
	return packed;
}

/* ---- ours ---- */

struct ours {
	char refused[256];
	uint64_t samples, by_event[MAX_EVENTS], by_type[128], bad_samples, no_event;
	size_t nr_events;
	char names[MAX_EVENTS][160];
	struct da_samp first[MAX_LINES];
	size_t nr_first;
	bool damaged;
};

static void read_ours(const char *path, struct ours *o)
{
	struct da_error err = {0};
	struct da_reader *r;
	struct da_rec rec;
	int ret;

	memset(o, 0, sizeof(*o));
	ret = da_reader_open(&r, path, &err);
	if (ret < 0) {
		ck_assert_int_eq(ret, -DA_EFORMAT);
		snprintf(o->refused, sizeof(o->refused), "%s",
			 strstr(err.msg, "': ") ? strstr(err.msg, "': ") + 3 : "");
		ck_assert(o->refused[0]);
		return;
	}
	o->nr_events = da_reader_nr_events(r);
	ck_assert_uint_le(o->nr_events, MAX_EVENTS);
	for (size_t i = 0; i < o->nr_events; i++)
		snprintf(o->names[i], sizeof(o->names[i]), "%s", da_reader_event(r, i)->name);
	while ((ret = da_reader_next(r, &rec, &err)) > 0) {
		struct da_samp s;

		if (rec.type < 128 && !rec.payload_offset)
			o->by_type[rec.type]++;
		if (rec.type != DA_REC_SAMPLE)
			continue;
		o->samples++;
		o->no_event += !rec.event;
		if (!rec.event)
			continue;
		o->by_event[rec.event->index]++;
		o->bad_samples +=
			da_samp_parse(&rec.event->attr, rec.bytes, rec.size, rec.swap, &s) < 0;
		if (o->nr_first < MAX_LINES)
			o->first[o->nr_first++] = s;
	}
	ck_assert_int_eq(ret, 0);
	o->damaged = da_reader_info(r)->damaged;
	ck_assert_int_eq(o->damaged, da_reader_info(r)->nr_messages > 0);
	da_reader_close(r);
}

/* ---- comparison ---- */

static unsigned wrong;

static void differ(const char *file, const char *what, uint64_t ours, uint64_t theirs)
{
	wrong++;
	printf("  %s: %s: ours %" PRIu64 " (0x%" PRIx64 "), theirs %" PRIu64 " (0x%" PRIx64 ")\n",
	       file, what, ours, ours, theirs, theirs);
}

/* Names differ where perf adds what it reads from the machine: counts must pair up, names may help. */
static void compare_events(const char *file, const struct ours *o, const struct oracle *x)
{
	bool used[MAX_EVENTS] = {false};

	for (size_t k = 0; k < x->nr_ev; k++) {
		size_t best = MAX_EVENTS;

		for (size_t i = 0; i < o->nr_events; i++) {
			size_t n = strcspn(o->names[i], ":");

			if (used[i] || o->by_event[i] != x->ev[k].samples)
				continue;
			if (best == MAX_EVENTS || !strncmp(o->names[i], x->ev[k].name, n))
				best = i;
		}
		if (best == MAX_EVENTS)
			differ(file, x->ev[k].name, 0, x->ev[k].samples);
		else
			used[best] = true;
	}
}

static void compare_first(const char *file, const struct ours *o, const struct oracle *x)
{
	for (size_t i = 0; i < x->nr_lines && i < o->nr_first; i++) {
		const struct expected_sample *e = &x->lines[i];
		const struct da_samp *s = &o->first[i];

		if (s->mask & DA_SAMPLE_TID && (s->pid != e->pid || s->tid != e->tid))
			differ(file, "tid", s->tid, e->tid);
		if (s->mask & DA_SAMPLE_TIME && s->time_ns / 1000 != e->time_us)
			differ(file, "time", s->time_ns / 1000, e->time_us);
		if (e->has_period && s->mask & DA_SAMPLE_PERIOD && s->period != e->period)
			differ(file, "period", s->period, e->period);
		if (e->has_ip && s->ip != e->ip)
			differ(file, "ip", s->ip, e->ip);
		if (e->has_addr && s->addr != e->addr)
			differ(file, "addr", s->addr, e->addr);
		if (e->has_data_src && s->data_src != e->data_src)
			differ(file, "data_src", s->data_src, e->data_src);
		/* perf prints the lower half of WEIGHT_STRUCT */
		if (e->has_weight && (uint32_t)s->weight != e->weight)
			differ(file, "weight", s->weight, e->weight);
	}
}

/* Other records, where the walk saw all of them. */
static void compare_types(const char *file, const struct ours *o, const struct oracle *x)
{
	static const struct {
		uint32_t type;
		const char *name;
	} types[] = {{DA_REC_MMAP, "MMAP"},
		     {DA_REC_MMAP2, "MMAP2"},
		     {DA_REC_COMM, "COMM"},
		     {DA_REC_FORK, "FORK"},
		     {DA_REC_EXIT, "EXIT"},
		     {DA_REC_LOST, "LOST"},
		     {DA_REC_AUX, "AUX"},
		     {DA_REC_AUXTRACE, "AUXTRACE"},
		     {DA_REC_THROTTLE, "THROTTLE"},
		     {DA_REC_KSYMBOL, "KSYMBOL"},
		     {DA_REC_BPF_EVENT, "BPF_EVENT"},
		     {DA_REC_TIME_CONV, "TIME_CONV"},
		     {DA_REC_SWITCH, "SWITCH"},
		     {DA_REC_ITRACE_START, "ITRACE_START"},
		     {DA_REC_LOST_SAMPLES, "LOST_SAMPLES"},
		     {DA_REC_FINISHED_ROUND, "FINISHED_ROUND"}};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		uint64_t n = walked(x, types[i].name);

		if (o->by_type[types[i].type] != n)
			differ(file, types[i].name, o->by_type[types[i].type], n);
	}
}

static const char *set_apart(const char *name)
{
	for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++) {
		if (!strncmp(name, apart[i].begin, strlen(apart[i].begin)))
			return apart[i].why;
	}
	return NULL;
}

static void one_file(const char *name)
{
	static struct oracle x;
	static struct ours o;
	char *path, *oracle_path, *text, *bytes, shown[32] = "-";
	uint64_t second = 0;
	const char *note;
	unsigned before = wrong;
	bool packed;
	size_t len, n;

	ck_assert_int_gt(asprintf(&path, "%s/%s", dir, name), 0);
	ck_assert_int_gt(asprintf(&oracle_path, "%s/%s.oracle.txt", dir, name), 0);
	text = slurp(oracle_path, &len);
	bytes = slurp(path, &n);
	ck_assert(text && bytes);
	/* counts are read before parse_samples() cuts the text into lines */
	parse_oracle(text, &x);
	read_ours(path, &o);
	packed = second_walk((uint8_t *)bytes, n, &second);
	note = set_apart(name);

	if (o.refused[0]) {
		/* nothing is lost with it */
		if (x.perf_samples || x.walked_samples)
			differ(name, "refused", 0, x.perf_samples + x.walked_samples);
		note = o.refused;
	} else {
		/* simpleperf's TRACING_DATA holds its bytes inside, which the oracle's walk did not know */
		bool simple = strstr(name, "--perf_with_tracepoint_event") ||
			      strstr(name, "--perf_sched_stat_runtime");
		uint64_t want = packed || simple ? second : x.walked_samples;

		if (x.perf_read && !note && o.samples != x.perf_samples)
			differ(name, "samples", o.samples, x.perf_samples);
		if (o.samples != want)
			differ(name, "SAMPLE records", o.samples, want);
		if (x.perf_read && !note) {
			compare_events(name, &o, &x);
			compare_first(name, &o, &x);
		}
		if (!packed && !simple)
			compare_types(name, &o, &x);
		if (o.bad_samples || o.no_event)
			differ(name, "samples that do not parse", o.bad_samples + o.no_event, 0);
		if (!note && packed)
			note = x.perf_read ? "compressed" : "compressed; perf 6.1 refuses it";
		else if (!note && o.damaged)
			note = "damaged";
	}
	if (x.perf_read)
		snprintf(shown, sizeof(shown), "%" PRIu64, x.perf_samples);
	printf("%-4s %-72.72s %8" PRIu64 " %8s %8" PRIu64 "  %s\n", wrong == before ? "ok" : "BAD",
	       name, o.samples, shown, packed ? second : x.walked_samples, note ? note : "");
	free(path);
	free(oracle_path);
	free(text);
	free(bytes);
}

static int is_fixture(const struct dirent *d)
{
	/* damo's files are no recordings */
	return d->d_name[0] != '.' && !strstr(d->d_name, ".oracle.txt") &&
	       strncmp(d->d_name, "damo--", 6) != 0 && strstr(d->d_name, "--");
}

START_TEST(all_fixtures)
{
	struct dirent **names;
	int nr = scandir(dir, &names, is_fixture, alphasort);

	ck_assert_int_gt(nr, 50);
	printf("%-4s %-72s %8s %8s %8s\n", "", "file", "ours", "perf", "walk");
	for (int i = 0; i < nr; i++) {
		one_file(names[i]->d_name);
		free(names[i]);
	}
	free(names);
	printf("%d files, %u differences\n", nr, wrong);
	fflush(stdout);
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

int main(void)
{
	const char *shared = getenv("DA_SHARED");
	Suite *suite;
	SRunner *runner;
	struct stat st;
	TCase *tc;
	int failed;

	if (asprintf(&dir, "%s/fixtures", shared ? shared : "../shared") < 0)
		return EXIT_FAILURE;
	if (stat(dir, &st) < 0) {
		printf("no fixtures: '%s' is not there\n", dir);
		return 77;
	}
	suite = suite_create("fixtures");
	tc = tcase_create("fixtures");
	tcase_set_timeout(tc, 240);
	tcase_add_test(tc, all_fixtures);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	free(dir);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
