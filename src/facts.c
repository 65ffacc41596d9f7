/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gathers what the judge may know of the machine: kernel settings, rights, limits, PMUs. It judges nothing,
 * and what cannot be read stays unknown.
 */
#include "da_facts.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "facts_priv.h"

#define CAP_BIT_SYS_ADMIN 21 /* uapi linux/capability.h */
#define CAP_BIT_PERFMON   38

static FILE *open_below(const char *root, const char *path)
{
	char full[PATH_MAX];
	int n = snprintf(full, sizeof(full), "%s%s", root, path);

	return n > 0 && (size_t)n < sizeof(full) ? fopen(full, "re") : NULL;
}

static int64_t read_number(const char *root, const char *path, int64_t unknown)
{
	FILE *f = open_below(root, path);
	long long v;

	if (!f)
		return unknown;
	if (fscanf(f, "%lld", &v) != 1)
		v = unknown;
	fclose(f);
	return v;
}

/* The text after "KEY<blanks>:<blanks>" of a line, or NULL. */
static const char *value_of(const char *line, const char *key)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) != 0)
		return NULL;
	line += n;
	line += strspn(line, " \t");
	if (*line != ':')
		return NULL;
	return line + 1 + strspn(line + 1, " \t");
}

static void copy_line(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
}

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	const char *p;

	for (p = strstr(list, word); p; p = strstr(p + n, word))
		if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\n' || p[n] == '\0'))
			return true;
	return false;
}

/* The first processor stands for all. Arm has no model name, only numbers. */
static void read_cpuinfo(struct da_facts *f, const char *root)
{
	FILE *file = open_below(root, "/proc/cpuinfo");
	char *line = NULL, implementer[16] = "", part[16] = "";
	const char *v;
	size_t size = 0;

	if (!file)
		return;
	while (getline(&line, &size, file) > 0) {
		if (!f->cpu[0] && (v = value_of(line, "model name")))
			copy_line(f->cpu, sizeof(f->cpu), v);
		else if ((v = value_of(line, "flags")))
			f->hypervisor = has_word(v, "hypervisor");
		else if (!implementer[0] && (v = value_of(line, "CPU implementer")))
			copy_line(implementer, sizeof(implementer), v);
		else if (!part[0] && (v = value_of(line, "CPU part")))
			copy_line(part, sizeof(part), v);
	}
	if (!f->cpu[0] && implementer[0])
		snprintf(f->cpu, sizeof(f->cpu), "implementer %s part %s", implementer, part);
	free(line);
	fclose(file);
}

static void read_status(struct da_facts *f, const char *root)
{
	FILE *file = open_below(root, "/proc/self/status");
	unsigned long long caps;
	char *line = NULL;
	const char *v;
	size_t size = 0;

	if (!file)
		return;
	while (getline(&line, &size, file) > 0) {
		if ((v = value_of(line, "CapEff"))) {
			caps = strtoull(v, NULL, 16);
			f->cap_sys_admin = caps >> CAP_BIT_SYS_ADMIN & 1;
			f->cap_perfmon = caps >> CAP_BIT_PERFMON & 1;
		} else if ((v = value_of(line, "Seccomp"))) {
			f->seccomp = atoi(v);
		} else if ((v = value_of(line, "Uid"))) {
			/* real, effective, ... */
			v += strcspn(v, " \t");
			f->root = strtol(v, NULL, 10) == 0;
		}
	}
	free(line);
	fclose(file);
}

/* x86 has a CPU flag for it, Xen a folder; on Arm only the firmware's vendor tells, and a vendor whose bare
 * machines say the same is not listed. */
static void read_hypervisor(struct da_facts *f, const char *root)
{
	static const char *const vendors[] = {"QEMU", "KVM", "VMware", "Xen", "Parallels"};
	FILE *file = open_below(root, "/sys/hypervisor/type");
	char line[128];
	size_t i;

	if (file) {
		f->hypervisor = true;
		fclose(file);
	}
	file = open_below(root, "/sys/class/dmi/id/sys_vendor");
	if (!file)
		return;
	if (fgets(line, sizeof(line), file))
		for (i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++)
			if (!strncmp(line, vendors[i], strlen(vendors[i])))
				f->hypervisor = true;
	fclose(file);
}

static void read_kpti(struct da_facts *f, const char *root)
{
	FILE *file = open_below(root, "/sys/devices/system/cpu/vulnerabilities/meltdown");
	char line[128];

	if (!file)
		return;
	if (fgets(line, sizeof(line), file))
		f->kpti = strstr(line, "PTI") != NULL;
	fclose(file);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_pmus(struct da_facts *f, const char *root)
{
	char path[PATH_MAX], *names[256];
	size_t nr = 0, used = 0, i;
	struct dirent *d;
	DIR *dir;
	int n = snprintf(path, sizeof(path), "%s/sys/bus/event_source/devices", root);

	dir = n > 0 && (size_t)n < sizeof(path) ? opendir(path) : NULL;
	if (!dir)
		return;
	while (nr < sizeof(names) / sizeof(names[0]) && (d = readdir(dir)))
		if (d->d_name[0] != '.' && (names[nr] = strdup(d->d_name)))
			nr++;
	closedir(dir);
	qsort(names, nr, sizeof(names[0]), by_name);
	for (i = 0; i < nr; i++) {
		/* whole names only */
		if (used + strlen(names[i]) + 2 <= sizeof(f->pmus))
			used += (size_t)snprintf(f->pmus + used, sizeof(f->pmus) - used, "%s%s",
						 used ? " " : "", names[i]);
		free(names[i]);
	}
}

/* "0-3,5": how many. */
static uint32_t count_cpus(const char *root)
{
	FILE *file = open_below(root, "/sys/devices/system/cpu/online");
	unsigned from, to, nr = 0;
	int c;

	if (!file)
		return 0;
	while (fscanf(file, "%u", &from) == 1) {
		to = from;
		c = fgetc(file);
		if (c == '-' && fscanf(file, "%u", &to) == 1)
			c = fgetc(file);
		if (to >= from && to < 65536)
			nr += to - from + 1;
		if (c != ',')
			break;
	}
	fclose(file);
	return nr;
}

int64_t da_facts_sample_rate(void)
{
	return read_number("", "/proc/sys/kernel/perf_event_max_sample_rate", -1);
}

void facts_files(struct da_facts *f, const char *root)
{
	f->paranoid = (int)read_number(root, "/proc/sys/kernel/perf_event_paranoid", INT_MIN);
	f->mlock_kb = read_number(root, "/proc/sys/kernel/perf_event_mlock_kb", -1);
	f->max_sample_rate_before = f->max_sample_rate_after =
		read_number(root, "/proc/sys/kernel/perf_event_max_sample_rate", -1);
	f->seccomp = -1;
	read_status(f, root);
	read_cpuinfo(f, root);
	read_hypervisor(f, root);
	read_kpti(f, root);
	read_pmus(f, root);
	f->online_cpus = count_cpus(root);
}

/* A call that cannot succeed, to see who refuses it: the kernel finds the attr pointer bad (EFAULT, or
 * EACCES where a distribution forbids the call to users outright), a filter or an old kernel never looks. */
static bool syscall_works(int seccomp)
{
	if (syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0UL) >= 0)
		return true;
	return errno != ENOSYS && !(errno == EPERM && seccomp == 2);
}

static void read_limits(struct da_facts *f)
{
	struct rlimit r;
	struct dirent *d;
	DIR *dir;

	if (!getrlimit(RLIMIT_NOFILE, &r))
		f->fd_limit = r.rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)r.rlim_cur;
	if (!getrlimit(RLIMIT_MEMLOCK, &r))
		f->memlock_kb =
			r.rlim_cur == RLIM_INFINITY ? INT64_MAX : (int64_t)(r.rlim_cur / 1024);
	dir = opendir("/proc/self/fd");
	if (!dir)
		return;
	f->fd_used = -1; /* the descriptor that reads the directory */
	while ((d = readdir(dir)))
		f->fd_used += d->d_name[0] != '.';
	closedir(dir);
}

void da_facts_init(struct da_facts *f)
{
	memset(f, 0, sizeof(*f));
	f->paranoid = INT_MIN;
	f->seccomp = -1;
	f->max_sample_rate_before = f->max_sample_rate_after = -1;
	f->mlock_kb = f->memlock_kb = f->fd_limit = f->fd_used = -1;
	f->target = DA_TARGET_NONE;
	f->lost_counter = f->lost_records = f->lost_samples = f->throttled = -1;
	f->aux_truncated = f->aux_collisions = f->aux_off_ns = f->pending_at_stop = -1;
	f->command_status = -1;
}

void da_facts_machine(struct da_facts *f)
{
	struct utsname u;

	f->machine_known = true;
	f->mlock_kb = f->memlock_kb = f->fd_limit = f->fd_used = -1;
	if (!uname(&u))
		snprintf(f->kernel, sizeof(f->kernel), "%.60s %.60s", u.release, u.machine);
	facts_files(f, "");
	read_limits(f);
	f->perf_event_open_works = syscall_works(f->seccomp);
}

void da_facts_release(struct da_facts *f)
{
	size_t i;

	for (i = 0; f->events && i < f->nr_events; i++)
		free(f->events[i].cpus);
	free(f->events);
	free(f->buffers);
	da_kernel_free(f->damon);
	memset(f, 0, sizeof(*f));
}
