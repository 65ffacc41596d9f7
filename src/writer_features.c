/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds the standard feature sections of a perf.data file from this machine: host, kernel, CPU, memory,
 * command line, events, PMU numbers, clock. It does not write: da_writer_feature() does.
 */
#include "writer_features.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#ifndef DA_VERSION
#define DA_VERSION "0"
#endif

struct buf {
	uint8_t *p;
	size_t len, cap;
	bool failed;
};

static void put(struct buf *b, const void *bytes, size_t n)
{
	if (b->failed)
		return;
	if (n > b->cap - b->len) {
		size_t cap = b->cap * 2 + n + 256;
		uint8_t *p = realloc(b->p, cap);

		if (!p) {
			b->failed = true;
			return;
		}
		b->p = p;
		b->cap = cap;
	}
	memcpy(b->p + b->len, bytes, n);
	b->len += n;
}

static void put_u32(struct buf *b, uint32_t v)
{
	put(b, &v, 4);
}

static void put_u64(struct buf *b, uint64_t v)
{
	put(b, &v, 8);
}

/* u32 length, then the text with its NUL, zero-padded to a multiple of 64 */
static void put_str(struct buf *b, const char *s)
{
	static const uint8_t zero[64];
	size_t n = strlen(s) + 1, padded = (n + 63) & ~(size_t)63;

	put_u32(b, (uint32_t)padded);
	put(b, s, n);
	put(b, zero, padded - n);
}

static int flush(struct da_writer *w, unsigned bit, struct buf *b, struct da_error *err)
{
	int rc = b->failed ? da_fail(err, DA_ENOMEM, 0, "out of memory")
			   : da_writer_feature(w, bit, b->p, b->len, err);

	free(b->p);
	memset(b, 0, sizeof(*b));
	return rc;
}

static int add_str(struct da_writer *w, unsigned bit, const char *s, struct da_error *err)
{
	struct buf b = {0};

	put_str(&b, s);
	return flush(w, bit, &b, err);
}

/* The value of the first "key : value" line of /proc/cpuinfo; "" if there is none. */
static void cpuinfo(const char *key, char *out, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[512];

	out[0] = '\0';
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');

		if (strncmp(line, key, strlen(key)) || !colon)
			continue;
		colon += 1 + (colon[1] == ' ');
		colon[strcspn(colon, "\n")] = '\0';
		snprintf(out, size, "%s", colon);
		break;
	}
	fclose(f);
}

/* As perf writes it: x86 "vendor,family,model,stepping", arm64 the MIDR of CPU 0 in hex. */
static void cpuid(char *out, size_t size)
{
	char vendor[64], family[32], model[32], step[32];
	FILE *f;

	out[0] = '\0';
	f = fopen("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "re");
	if (f) {
		if (fgets(vendor, sizeof(vendor), f)) {
			vendor[strcspn(vendor, "\n")] = '\0';
			snprintf(out, size, "%s", vendor);
		}
		fclose(f);
		return;
	}
	cpuinfo("vendor_id", vendor, sizeof(vendor));
	cpuinfo("cpu family", family, sizeof(family));
	cpuinfo("model\t", model, sizeof(model));
	cpuinfo("stepping", step, sizeof(step));
	if (vendor[0])
		snprintf(out, size, "%s,%s,%s,%s", vendor, family, model, step);
}

static int add_event_desc(struct da_writer *w, const struct writer_features *f,
			  struct da_error *err)
{
	struct buf b = {0};

	put_u32(&b, (uint32_t)f->nr_ev);
	put_u32(&b, (uint32_t)f->attr_bytes);
	for (size_t i = 0; i < f->nr_ev; i++) {
		uint8_t attr[144];

		da_attr_build(&f->ev[i].attr, f->attr_bytes, attr);
		put(&b, attr, f->attr_bytes);
		put_u32(&b, (uint32_t)f->ev[i].nr_ids);
		put_str(&b, f->ev[i].name);
		put(&b, f->ev[i].ids, f->ev[i].nr_ids * 8);
	}
	return flush(w, DA_FEAT_EVENT_DESC, &b, err);
}

static int add_pmu_mappings(struct da_writer *w, struct da_error *err)
{
	DIR *d = opendir("/sys/bus/event_source/devices");
	struct buf b = {0};
	uint32_t nr = 0;
	struct dirent *de;

	if (!d)
		return 0;
	put_u32(&b, 0);
	while ((de = readdir(d))) {
		char path[512];
		unsigned type;
		FILE *f;

		if (de->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", de->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fscanf(f, "%u", &type) == 1) {
			put_u32(&b, type);
			put_str(&b, de->d_name);
			nr++;
		}
		fclose(f);
	}
	closedir(d);
	if (!b.failed && b.p)
		memcpy(b.p, &nr, 4);
	return flush(w, DA_FEAT_PMU_MAPPINGS, &b, err);
}

static int add_machine(struct da_writer *w, struct da_error *err)
{
	struct utsname u;
	char text[256];
	struct buf b = {0};
	int rc = 0;

	if (!uname(&u)) {
		rc = add_str(w, DA_FEAT_HOSTNAME, u.nodename, err);
		if (!rc)
			rc = add_str(w, DA_FEAT_OSRELEASE, u.release, err);
		if (!rc)
			rc = add_str(w, DA_FEAT_ARCH, u.machine, err);
	}
	if (!rc)
		rc = add_str(w, DA_FEAT_VERSION, "damon-attrs " DA_VERSION, err);
	put_u32(&b, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
	put_u32(&b, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	if (!rc)
		rc = flush(w, DA_FEAT_NRCPUS, &b, err);
	cpuinfo("model name", text, sizeof(text));
	if (!rc && text[0])
		rc = add_str(w, DA_FEAT_CPUDESC, text, err);
	cpuid(text, sizeof(text));
	if (!rc && text[0])
		rc = add_str(w, DA_FEAT_CPUID, text, err);
	put_u64(&b, (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 1024);
	if (!rc)
		rc = flush(w, DA_FEAT_TOTAL_MEM, &b, err);
	free(b.p);
	return rc;
}

static int add_clock(struct da_writer *w, int clockid, struct da_error *err)
{
	struct timespec res, at, real;
	struct buf b = {0};
	int rc;

	if (clock_getres(clockid, &res) || clock_gettime(clockid, &at) ||
	    clock_gettime(CLOCK_REALTIME, &real))
		return 0;
	put_u64(&b, (uint64_t)res.tv_sec * 1000000000 + (uint64_t)res.tv_nsec);
	rc = flush(w, DA_FEAT_CLOCKID, &b, err);
	if (rc)
		return rc;
	put_u32(&b, 1);
	put_u32(&b, (uint32_t)clockid);
	put_u64(&b, (uint64_t)real.tv_sec * 1000000000 + (uint64_t)real.tv_nsec);
	put_u64(&b, (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec);
	return flush(w, DA_FEAT_CLOCK_DATA, &b, err);
}

int writer_features_add(struct da_writer *w, const struct writer_features *f, struct da_error *err)
{
	struct buf b = {0};
	int rc = add_machine(w, err);

	put_u32(&b, (uint32_t)f->argc);
	for (int i = 0; i < f->argc; i++)
		put_str(&b, f->argv[i]);
	if (!rc)
		rc = flush(w, DA_FEAT_CMDLINE, &b, err);
	if (!rc && !f->pipe)
		rc = add_event_desc(w, f, err);
	if (!rc)
		rc = add_pmu_mappings(w, err);
	if (!rc && f->clockid >= 0)
		rc = add_clock(w, f->clockid, err);
	free(b.p);
	return rc;
}
