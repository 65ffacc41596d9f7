/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diagnose --list and --coverage. Coverage records each event on each loop of the built-in workload into a file of
 * its own, decodes it, and counts the addresses in the range that the workload says it used.
 */
#include "coverage.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "da_json.h"
#include "da_offline.h"
#include "run.h"

#define LOOP_NS   500000000ull
#define TRUTH_MAX 65536 /* bytes that the workload prints, at most */

/* ---- the sources ---- */

static const struct {
	const char *name, *address, *note;
} known[] = {
	{"spe", "SPE packets", "every sampled access, virtual and physical"},
	{"ibs", "IBS registers", "every sampled op; a fifth of all ops access memory"},
	{"pebs", "PEBS records", "loads slower than ldlat, and stores"},
	{"cycles", "instruction and registers", "biased against loads that miss the caches"},
	{"cpu-clock", "instruction and registers", "biased against loads that miss the caches"},
	{"page-faults", "the fault", "first touches of pages, not accesses"},
	{"minor-faults", "the fault", "first touches; physical addresses too with --phys-data"},
	{"major-faults", "the fault", "pages that had to be read in"},
	{"fake", "made up", "for tests of the pipeline"},
};

_Static_assert(sizeof(known) / sizeof(known[0]) <= SOURCES_MAX, "SOURCES_MAX");

/* Does it open on this process? Nothing is mapped or enabled. */
static bool opens(const struct da_spec *specs, size_t nr, struct da_error *err)
{
	pid_t self = getpid();
	struct da_session_opts o = {
		.specs = specs, .nr_specs = nr, .target = DA_TARGET_PID, .ids = &self, .nr_ids = 1};
	struct da_session *s = NULL;
	int rc = da_session_new(&s, &o, err);

	if (!rc)
		rc = da_session_create(s, err);
	da_session_free(s);
	return !rc;
}

static void one_source(size_t i, struct da_source *s)
{
	struct da_spec *specs = NULL;
	struct da_error err = {0};
	size_t nr = 0;

	memset(s, 0, sizeof(*s));
	snprintf(s->name, sizeof(s->name), "%s", known[i].name);
	snprintf(s->address, sizeof(s->address), "%s", known[i].address);
	snprintf(s->note, sizeof(s->note), "%s", known[i].note);
	if (!da_spec_parse(known[i].name, &specs, &nr, NULL, 0, &err) && nr) {
		snprintf(s->opened, sizeof(s->opened), "%s", specs[0].name);
		s->opens = opens(specs, nr, &err);
	}
	if (!s->opens)
		snprintf(s->note, sizeof(s->note), "%.319s", err.msg);
	free(specs);
}

size_t sources_list(struct da_source out[SOURCES_MAX])
{
	size_t nr = sizeof(known) / sizeof(known[0]);

	for (size_t i = 0; i < nr; i++)
		one_source(i, &out[i]);
	return nr;
}

/* ---- coverage ---- */

static const struct loop {
	const char *name;
	const char *pattern, *writes;
} loops[] = {
	{"store loop", "seq", "100"},
	{"pointer chase", "chase", "0"},
	{"random", "random", "50"},
};

struct range {
	uint64_t start, end;
};

/* The range of the workload, from what it printed. */
static bool read_truth(int fd, struct range *r)
{
	struct da_json root, ranges, one;
	char *text = malloc(TRUTH_MAX), start[32] = "", end[32] = "";
	ssize_t n = text ? pread(fd, text, TRUTH_MAX, 0) : -1;
	size_t at = 0;
	bool ok = false;

	if (n > 0 && da_json_open(text, (size_t)n, &root)) {
		ok = da_json_get(&root, "ranges", &ranges) && da_json_next(&ranges, &at, &one) &&
		     da_json_get_string(&one, "start", start, sizeof(start)) &&
		     da_json_get_string(&one, "end", end, sizeof(end));
		da_json_free(&root);
	}
	free(text);
	r->start = strtoull(start, NULL, 16);
	r->end = strtoull(end, NULL, 16);
	return ok && r->start < r->end;
}

struct counts {
	struct range in;
	struct da_coverage_row *row;
	uint64_t last_time; /* of the sample that was counted last: one can hold several accesses */
	uint32_t last_tid;
	bool any;
};

static bool count_report(void *ctx, const struct da_offline *o, const struct da_report *r)
{
	struct counts *c = ctx;
	bool again = c->any && (r->has & DA_HAS_TIME) && r->time_ns == c->last_time &&
		     r->tid == c->last_tid;

	(void)o;
	if (!(r->has & DA_HAS_VADDR) || r->vaddr < c->in.start || r->vaddr >= c->in.end || again)
		return true;
	c->any = true;
	c->last_time = r->time_ns;
	c->last_tid = r->tid;
	c->row->inside++;
	if (r->has & DA_HAS_OP) {
		c->row->loads += !!(r->op & DA_OP_READ);
		c->row->stores += !!(r->op & DA_OP_WRITE);
	}
	return true;
}

static int decode_row(const char *path, const struct range *in, struct da_coverage_row *row,
		      struct da_error *err)
{
	struct counts c = {.in = *in, .row = row};
	struct da_offline_opts o = {
		.match = {.virt = true}, .report = count_report, .ctx = &c, .threads = 1};
	struct da_offline *off = NULL;
	int rc = da_offline_open(&off, path, &o, err);

	if (!rc)
		rc = da_offline_run(off, err);
	if (!rc) {
		struct da_counters n = da_ledger_counters(&da_offline_result(off)->ledger);

		row->samples = n.callback;
		row->valid = n.valid;
	}
	da_offline_close(off);
	return rc;
}

struct one_run {
	const struct opts_events *o;
	const struct da_spec *specs;
	size_t nr;
	const char *path; /* of the recording */
	char *const *argv;
	int argc;
	bool quiet;
};

static int record_row(const struct one_run *c, const struct loop *loop, int truth,
		      struct da_error *err)
{
	char self[PATH_MAX] = "/proc/self/exe", time[32], pattern[16], writes[8];
	char *workload[] = {c->argv[0],
			    (char[]){"workload"},
			    (char[]){"--format=json"},
			    (char[]){"--pattern"},
			    pattern,
			    (char[]){"--writes"},
			    writes,
			    (char[]){"--duration"},
			    time,
			    NULL};
	struct run_opts run = {.quiet = true, .who = "diagnose", .command = workload};
	uint64_t ns = c->o->duration_ns ? c->o->duration_ns : LOOP_NS;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct run_result res;
	int rc;

	self[n > 0 ? n : 0] = '\0';
	snprintf(pattern, sizeof(pattern), "%s", loop->pattern);
	snprintf(writes, sizeof(writes), "%s", loop->writes);
	snprintf(time, sizeof(time), "%lluus", (unsigned long long)(ns / 1000));
	opts_events_session(c->o, &run.session);
	run.session.specs = c->specs;
	run.session.nr_specs = c->nr;
	run.session.output = c->path;
	run.session.argc = c->argc;
	run.session.argv = c->argv;
	run.command_path = n > 0 && !access(self, X_OK) ? self : "/proc/self/exe";
	run.output = TARGET_TO_FD;
	run.output_fd = truth;
	rc = run_session(&run, &res, err);
	da_session_free(res.session);
	return rc;
}

static void one_row(const struct one_run *c, const struct loop *loop, struct da_coverage_row *row)
{
	struct da_error err = {0};
	struct range in;
	int truth = memfd_create("truth", MFD_CLOEXEC), rc;

	rc = truth < 0 ? da_fail(&err, DA_EIO, errno, "cannot make a file in memory")
		       : record_row(c, loop, truth, &err);
	if (!rc && !read_truth(truth, &in))
		rc = da_fail(&err, DA_EIO, 0, "the workload did not say what it used");
	if (!rc)
		rc = decode_row(c->path, &in, row, &err);
	if (rc)
		snprintf(row->why, sizeof(row->why), "%.127s", err.msg);
	else if (!row->samples)
		snprintf(row->why, sizeof(row->why), "no samples");
	if (truth >= 0)
		close(truth);
	unlink(c->path);
}

/* One event of the list on all loops. */
static void one_event(struct one_run *c, const struct da_spec *spec, struct da_coverage *out)
{
	c->specs = spec;
	c->nr = 1;
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]) && out->nr < DA_COVERAGE_MAX; i++) {
		struct da_coverage_row *row = &out->row[out->nr++];

		memset(row, 0, sizeof(*row));
		snprintf(row->source, sizeof(row->source), "%s", spec->name);
		snprintf(row->loop, sizeof(row->loop), "%s", loops[i].name);
		one_row(c, &loops[i], row);
	}
}

/* Every source that opens here, but for the made-up one. */
static char *all_sources(void)
{
	struct da_source s[SOURCES_MAX];
	size_t nr = sources_list(s), used = 0;
	size_t room = sizeof(s);
	char *text = calloc(1, room);

	for (size_t i = 0; text && i < nr; i++)
		if (s[i].opens && strcmp(s[i].name, "fake") != 0)
			used += (size_t)snprintf(text + used, room - used, "%s%.31s",
						 used ? "," : "", s[i].name);
	return text;
}

static void describe(struct da_coverage *out, char *const argv[], int argc)
{
	struct da_facts f;
	size_t used = 0;

	da_facts_init(&f);
	da_facts_machine(&f);
	snprintf(out->cpu, sizeof(out->cpu), "%.100s%s", f.cpu,
		 f.hypervisor ? " (virtual machine)" : "");
	snprintf(out->kernel, sizeof(out->kernel), "Linux %.100s", f.kernel);
	da_facts_release(&f);
	for (int i = 0; i < argc && used < sizeof(out->command); i++)
		used += (size_t)snprintf(out->command + used, sizeof(out->command) - used, "%s%s",
					 i ? " " : "", argv[i]);
}

int coverage_run(const struct opts_events *o, char *const argv[], int argc, bool quiet,
		 struct da_coverage *out)
{
	char *text = o->events || o->pmu ? opts_events_text(o) : all_sources();
	struct one_run c = {.o = o, .argv = argv, .argc = argc, .quiet = quiet};
	char folder[PATH_MAX], path[PATH_MAX + 16], why[1024] = "";
	struct da_spec *specs = NULL;
	struct da_error err = {0};
	size_t nr = 0;
	int rc = text ? 0 : da_fail(&err, DA_ENOMEM, 0, "out of memory");

	memset(out, 0, sizeof(*out));
	describe(out, argv, argc);
	if (!rc)
		rc = da_spec_parse(text, &specs, &nr, why, sizeof(why), &err);
	if (!rc && why[0] && !quiet)
		fprintf(stderr, "%s\n", why);
	if (!rc)
		rc = run_temp_folder(folder, sizeof(folder), &err);
	if (!rc) {
		snprintf(path, sizeof(path), "%s/loop.data", folder);
		c.path = path;
		for (size_t i = 0; i < nr; i++)
			one_event(&c, &specs[i], out);
		rmdir(folder);
	}
	free(specs);
	free(text);
	return rc ? run_failed(&err) : 0;
}
