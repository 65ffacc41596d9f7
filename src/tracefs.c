/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracing data (da_tracepoint.h) of the running kernel, from tracefs: what perf and we need to decode the raw
 * bytes of tracepoint samples. Only read; kernel symbols, printk formats and command names stay empty.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "da_tracepoint.h"

#define MAX_FILE (1u << 20) /* a format text has a few KiB */

static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/* A whole file, malloc'ed. 0 or errno. */
static int read_file(const char *path, char **text, size_t *len)
{
	char *buf = malloc(MAX_FILE);
	int fd = open(path, O_RDONLY | O_CLOEXEC), sys = 0;
	size_t n = 0;

	if (fd < 0)
		sys = errno;
	else if (!buf)
		sys = ENOMEM;
	while (!sys && n < MAX_FILE) {
		ssize_t got = read(fd, buf + n, MAX_FILE - n);

		if (!got)
			break;
		if (got > 0)
			n += (size_t)got;
		else if (errno != EINTR)
			sys = errno;
	}
	if (!sys && n == MAX_FILE)
		sys = EFBIG;
	if (fd >= 0)
		close(fd);
	if (sys) {
		free(buf);
		return sys;
	}
	*text = buf;
	*len = n;
	return 0;
}

static int cannot_read(const char *path, int sys, struct da_error *err)
{
	int code = sys == EACCES || sys == EPERM ? DA_EPERM : sys == ENOENT ? DA_ENOENT : DA_EIO;

	return da_fail(err, code, sys, "cannot read '%s'", path);
}

static void put_u32(FILE *f, uint32_t v)
{
	fwrite(&v, sizeof(v), 1, f);
}

static void put_u64(FILE *f, uint64_t v)
{
	fwrite(&v, sizeof(v), 1, f);
}

/* u64 size, then the file's bytes */
static int put_file(FILE *f, const char *path, struct da_error *err)
{
	size_t len;
	char *text;
	int sys = read_file(path, &text, &len);

	if (sys)
		return cannot_read(path, sys, err);
	put_u64(f, len);
	fwrite(text, 1, len, f);
	free(text);
	return 0;
}

/* ---- which file belongs to an id ---- */

struct event {
	uint64_t id;
	char system[NAME_MAX + 1], name[NAME_MAX + 1];
	bool found;
};

static bool has_id(const char *path, uint64_t *id)
{
	FILE *f = fopen(path, "re");
	unsigned long long v = 0;
	bool ok;

	if (!f)
		return false;
	ok = fscanf(f, "%llu", &v) == 1;
	fclose(f);
	*id = v;
	return ok;
}

static void scan_system(const char *events, const char *system, struct event *ev, size_t nr)
{
	char path[PATH_MAX];
	struct dirent *de;
	uint64_t id;
	DIR *d;

	if (snprintf(path, sizeof(path), "%s/%s", events, system) >= (int)sizeof(path))
		return;
	d = opendir(path);
	while (d && (de = readdir(d))) {
		if (de->d_name[0] == '.' || de->d_type == DT_REG)
			continue;
		if (snprintf(path, sizeof(path), "%s/%s/%s/id", events, system, de->d_name) >=
			    (int)sizeof(path) ||
		    !has_id(path, &id))
			continue;
		for (size_t i = 0; i < nr; i++) {
			if (ev[i].id != id || ev[i].found)
				continue;
			ev[i].found = true;
			snprintf(ev[i].system, sizeof(ev[i].system), "%s", system);
			snprintf(ev[i].name, sizeof(ev[i].name), "%s", de->d_name);
		}
	}
	if (d)
		closedir(d);
}

static int find_events(const char *events, struct event *ev, size_t nr, struct da_error *err)
{
	struct dirent *de;
	DIR *d = opendir(events);

	if (!d)
		return cannot_read(events, errno, err);
	while ((de = readdir(d)))
		if (de->d_name[0] != '.' && de->d_type != DT_REG)
			scan_system(events, de->d_name, ev, nr);
	closedir(d);
	for (size_t i = 0; i < nr; i++)
		if (!ev[i].found)
			return da_fail(err, DA_ENOENT, 0, "no tracepoint with id %llu in '%s'",
				       (unsigned long long)ev[i].id, events);
	return 0;
}

/* ---- the data ---- */

/* Every tracepoint in a system of its own: a name may come again. */
static int put_events(FILE *f, const char *events, const struct event *ev, size_t nr,
		      struct da_error *err)
{
	char path[PATH_MAX];
	int rc = 0;

	put_u32(f, (uint32_t)nr);
	for (size_t i = 0; i < nr && !rc; i++) {
		fwrite(ev[i].system, 1, strlen(ev[i].system) + 1, f);
		put_u32(f, 1);
		if (snprintf(path, sizeof(path), "%s/%s/%s/format", events, ev[i].system,
			     ev[i].name) >= (int)sizeof(path))
			return da_fail(err, DA_EIO, ENAMETOOLONG, "cannot read below '%s'", events);
		rc = put_file(f, path, err);
	}
	return rc;
}

static int put_data(FILE *f, const char *events, const struct event *ev, size_t nr,
		    struct da_error *err)
{
	static const char *const heads[] = {"header_page", "header_event"};
	char path[PATH_MAX];

	fwrite("\x17\x08\x44tracing0.6", 1, 14, f);
	fputc(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, f);
	fputc(sizeof(long), f);
	put_u32(f, (uint32_t)sysconf(_SC_PAGESIZE));
	for (size_t i = 0; i < 2; i++) {
		int rc;

		fwrite(heads[i], 1, strlen(heads[i]) + 1, f);
		if (snprintf(path, sizeof(path), "%s/%s", events, heads[i]) >= (int)sizeof(path))
			return da_fail(err, DA_EIO, ENAMETOOLONG, "cannot read below '%s'", events);
		rc = put_file(f, path, err);
		if (rc)
			return rc;
	}
	put_u32(f, 0); /* texts of ftrace's own entries */
	return put_events(f, events, ev, nr, err);
}

static const char *mounted(const char *tracefs)
{
	char events[PATH_MAX];

	for (size_t i = 0; !tracefs && i < sizeof(places) / sizeof(*places); i++) {
		snprintf(events, sizeof(events), "%s/events", places[i]);
		if (!access(events, F_OK) || errno == EACCES ||
		    i + 1 == sizeof(places) / sizeof(*places))
			tracefs = places[i];
	}
	return tracefs;
}

int da_tracing_has(const char *tracefs, const char *system, const char *name, struct da_error *err)
{
	char events[PATH_MAX], path[PATH_MAX];

	tracefs = mounted(tracefs);
	if (snprintf(events, sizeof(events), "%s/events", tracefs) >= (int)sizeof(events) ||
	    snprintf(path, sizeof(path), "%s/%s/%s/id", events, system, name) >= (int)sizeof(path))
		return da_fail(err, DA_EIO, ENAMETOOLONG, "cannot read '%.64s...'", tracefs);
	if (access(events, R_OK | X_OK))
		return cannot_read(events, errno, err);
	if (!access(path, R_OK))
		return 1;
	return errno == ENOENT || errno == ENOTDIR ? 0 : cannot_read(path, errno, err);
}

int da_tracing_data(const char *tracefs, const uint64_t *ids, size_t nr, uint8_t **data,
		    size_t *len, struct da_error *err)
{
	char events[PATH_MAX];
	struct event *ev = calloc(nr ? nr : 1, sizeof(*ev));
	char *text = NULL;
	FILE *f = ev ? open_memstream(&text, len) : NULL;
	int rc = f ? 0 : da_fail(err, DA_ENOMEM, 0, "out of memory");

	*data = NULL;
	tracefs = mounted(tracefs);
	if (!rc && snprintf(events, sizeof(events), "%s/events", tracefs) >= (int)sizeof(events))
		rc = da_fail(err, DA_EIO, ENAMETOOLONG, "cannot read '%.64s...'", tracefs);
	for (size_t i = 0; i < nr && !rc; i++)
		ev[i].id = ids[i];
	if (!rc)
		rc = find_events(events, ev, nr, err);
	if (!rc)
		rc = put_data(f, events, ev, nr, err);
	if (f && !rc) {
		put_u32(f, 0); /* kernel symbols */
		put_u32(f, 0); /* printk formats */
		put_u64(f, 0); /* command names */
	}
	if (f && fclose(f) && !rc)
		rc = da_fail(err, DA_ENOMEM, 0, "out of memory");
	free(ev);
	if (rc) {
		free(text);
		return rc;
	}
	*data = (uint8_t *)text;
	return 0;
}
