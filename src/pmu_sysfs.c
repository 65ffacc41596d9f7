/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What sysfs says of this machine's PMUs (type, format, events) and tracefs of its tracepoints.
 * Layout: linux Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events}. Reads
 * only; parses no specification.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmu_priv.h"

/* Words of a specification become parts of a path: what could leave the folder is no name. */
static bool is_file_name(struct slice s)
{
	if (!s.len || s.len > NAME_MAX || *s.p == '.')
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] == '/' || (unsigned char)s.p[i] < 0x21)
			return false;
	return true;
}

/* The first line of a small file, without its end. An errno, or 0. */
static int read_line(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), saved;
	ssize_t n;

	if (fd < 0)
		return errno;
	n = read(fd, buf, size - 1);
	saved = errno;
	close(fd);
	if (n < 0)
		return saved;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

static bool device_path(const struct pmu_env *env, struct slice pmu, const char *sub,
			struct slice leaf, char *buf, size_t size)
{
	int n;

	if (!is_file_name(pmu) || (leaf.len && !is_file_name(leaf)))
		return false;
	n = snprintf(buf, size, "%s/%.*s/%s%s%.*s", env->devices, (int)pmu.len, pmu.p, sub,
		     leaf.len ? "/" : "", (int)leaf.len, leaf.p);
	return n > 0 && (size_t)n < size;
}

bool pmu_exists(const struct pmu_env *env, struct slice pmu, uint32_t *type)
{
	char path[PATH_MAX], text[32];
	uint64_t v;

	if (!device_path(env, pmu, "type", (struct slice){"", 0}, path, sizeof(path)) ||
	    read_line(path, text, sizeof(text)) || !slice_number(slice_from(text), &v) ||
	    v > UINT32_MAX)
		return false;
	*type = (uint32_t)v;
	return true;
}

static int visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

void pmu_each(const struct pmu_env *env, struct slice pmu, const char *sub,
	      void (*fn)(void *ctx, const char *name), void *ctx)
{
	struct dirent **list;
	char path[PATH_MAX];
	int n;

	if (!pmu.len)
		snprintf(path, sizeof(path), "%s", env->devices);
	else if (!device_path(env, pmu, sub, (struct slice){"", 0}, path, sizeof(path)))
		return;
	n = scandir(path, &list, visible, alphasort);
	if (n < 0)
		return;
	for (int i = 0; i < n; i++) {
		fn(ctx, list[i]->d_name);
		free(list[i]);
	}
	free(list);
}

bool pmu_event_text(const struct pmu_env *env, struct slice pmu, struct slice event, char *buf,
		    size_t size)
{
	char path[PATH_MAX];

	return event.len && device_path(env, pmu, "events", event, path, sizeof(path)) &&
	       !read_line(path, buf, size);
}

bool pmu_file(const struct pmu_env *env, struct slice pmu, const char *file, char *buf, size_t size)
{
	char path[PATH_MAX];

	return device_path(env, pmu, file, (struct slice){"", 0}, path, sizeof(path)) &&
	       !read_line(path, buf, size) && buf[0];
}

/* ---- format ---- */

/* "config:0-7,32-35": a field and the bits that the value's bits go to, lowest first. */
bool pmu_format_parse(const char *text, struct pmu_format *out)
{
	struct slice rest = slice_from(text), field = slice_cut(&rest, ':');

	*out = (struct pmu_format){0};
	if (!slice_begins(field, "config") || field.len > 7 || !rest.len)
		return false;
	if (field.len == 7) {
		if (field.p[6] < '1' || field.p[6] > '4')
			return false;
		out->field = (unsigned)(field.p[6] - '0');
	}
	while (rest.len) {
		struct slice range = slice_cut(&rest, ','), first = slice_cut(&range, '-');
		uint64_t lo, hi;

		if (!slice_number(first, &lo))
			return false;
		hi = lo;
		if (range.len && !slice_number(range, &hi))
			return false;
		if (lo > hi || hi > 63)
			return false;
		out->bits |= (hi - lo == 63 ? ~0ull : (1ull << (hi - lo + 1)) - 1) << lo;
	}
	return true;
}

bool pmu_format_find(const struct pmu_env *env, struct slice pmu, struct slice term,
		     struct pmu_format *out)
{
	char path[PATH_MAX], text[256];

	return term.len && device_path(env, pmu, "format", term, path, sizeof(path)) &&
	       !read_line(path, text, sizeof(text)) && pmu_format_parse(text, out);
}

uint64_t *pmu_config_field(struct da_attr *a, unsigned field)
{
	switch (field) {
	case 0:
		return &a->config;
	case 1:
		return &a->config1;
	case 2:
		return &a->config2;
	case 3:
		return &a->config3;
	default:
		return &a->config4;
	}
}

bool pmu_format_put(const struct pmu_format *f, uint64_t value, struct da_attr *a)
{
	uint64_t *field = pmu_config_field(a, f->field), placed = 0;

	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(f->bits >> bit & 1))
			continue;
		placed |= (value & 1) << bit;
		value >>= 1;
	}
	if (value)
		return false;
	*field = (*field & ~f->bits) | placed;
	return true;
}

/* ---- tracepoints ---- */

static void try_dir(struct nearest *near, const char *path)
{
	struct dirent **list;
	int n = scandir(path, &list, visible, alphasort);

	for (int i = 0; i < n; i++) {
		nearest_try(near, list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

static int unknown_tracepoint(const char *events, struct slice system, struct slice event,
			      bool have_system, struct da_error *err)
{
	char path[PATH_MAX];
	struct nearest near;
	int n = 0;

	if (slice_is(system, "damon"))
		return da_fail(
			err, DA_ENOENT, 0,
			"this kernel has no tracepoint 'damon:%.*s' (it needs CONFIG_DAMON); use "
			"page-faults or cpu-clock to sample accesses without it",
			slice_len(event), event.p);
	nearest_begin(&near, have_system ? event : system);
	if (have_system)
		n = snprintf(path, sizeof(path), "%s/%.*s", events, (int)system.len, system.p);
	else
		n = snprintf(path, sizeof(path), "%s", events);
	if (n > 0 && (size_t)n < sizeof(path))
		try_dir(&near, path);
	if (!nearest_found(&near))
		return da_fail(err, DA_EUSAGE, 0, "unknown tracepoint '%.*s:%.*s' (see %s)",
			       slice_len(system), system.p, slice_len(event), event.p, path);
	if (have_system)
		return da_fail(err, DA_EUSAGE, 0,
			       "unknown tracepoint '%.*s:%.*s' (did you mean '%.*s:%s'?)",
			       slice_len(system), system.p, slice_len(event), event.p,
			       slice_len(system), system.p, near.best);
	return da_fail(err, DA_EUSAGE, 0,
		       "unknown tracepoint '%.*s:%.*s' (did you mean '%s:%.*s'?)",
		       slice_len(system), system.p, slice_len(event), event.p, near.best,
		       slice_len(event), event.p);
}

int pmu_tracepoint(const struct pmu_env *env, struct slice system, struct slice event, uint64_t *id,
		   struct da_error *err)
{
	char events[PATH_MAX], path[PATH_MAX], text[32];
	int sys = ENOENT, n;

	if (!is_file_name(system) || !is_file_name(event))
		return da_fail(err, DA_EUSAGE, 0,
			       "bad tracepoint '%.*s:%.*s' (wanted: system:name)",
			       slice_len(system), system.p, slice_len(event), event.p);
	for (size_t i = 0; i < sizeof(env->tracing) / sizeof(*env->tracing); i++) {
		snprintf(events, sizeof(events), "%s/events", env->tracing[i]);
		if (!access(events, X_OK))
			break;
		if (errno == EACCES)
			sys = EACCES;
		events[0] = '\0';
	}
	if (!events[0] && sys == EACCES)
		return da_fail(
			err, DA_EPERM, 0,
			"may not read tracepoint '%.*s:%.*s' below %s: only root may, unless it was "
			"mounted or made readable for others",
			slice_len(system), system.p, slice_len(event), event.p, env->tracing[0]);
	if (!events[0])
		return da_fail(
			err, DA_ENOENT, 0,
			"cannot look up tracepoint '%.*s:%.*s': no tracefs at %s; mount it with: "
			"mount -t tracefs tracefs /sys/kernel/tracing",
			slice_len(system), system.p, slice_len(event), event.p, env->tracing[0]);
	n = snprintf(path, sizeof(path), "%s/%.*s", events, (int)system.len, system.p);
	if (n < 0 || (size_t)n >= sizeof(path) || access(path, F_OK))
		return unknown_tracepoint(events, system, event, false, err);
	n = snprintf(path, sizeof(path), "%s/%.*s/%.*s/id", events, (int)system.len, system.p,
		     (int)event.len, event.p);
	sys = n > 0 && (size_t)n < sizeof(path) ? read_line(path, text, sizeof(text))
						: ENAMETOOLONG;
	if (sys == EACCES || sys == EPERM)
		return da_fail(err, DA_EPERM, sys, "cannot read '%s'", path);
	if (sys)
		return unknown_tracepoint(events, system, event, true, err);
	if (!slice_number(slice_from(text), id))
		return da_fail(err, DA_EIO, 0, "'%s' holds no number", path);
	return 0;
}
