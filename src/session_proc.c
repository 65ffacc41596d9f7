/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What existed before the recording began: COMM and MMAP2 records made from /proc, with time 0 ("since
 * ever"), as perf record makes them. Processes come and go meanwhile; what cannot be read is left out.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "session_priv.h"

#define MAP_BYTES (4096 + 256) /* of an MMAP2 record: a path, and what is beside it */

static bool all_digits(const char *s)
{
	return *s && !s[strspn(s, "0123456789")];
}

size_t s_threads_of(pid_t pid, pid_t **out)
{
	char path[64];
	DIR *d;
	struct dirent *de;
	size_t n = 0, cap = 0;
	pid_t *list = NULL;

	*out = NULL;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (!d)
		return 0;
	while ((de = readdir(d))) {
		if (!all_digits(de->d_name))
			continue;
		if (n == cap) {
			pid_t *grown = realloc(list, (cap = cap * 2 + 16) * sizeof(*list));

			if (!grown)
				break;
			list = grown;
		}
		list[n++] = (pid_t)atoi(de->d_name);
	}
	closedir(d);
	*out = list;
	return n;
}

uint64_t s_sideband_id(const struct da_session *s)
{
	for (size_t c = 0; c < s->nr_cpus; c++)
		if (s->cpus[c].sideband >= 0)
			return s->cpus[c].sideband_id;
	return 0;
}

int s_take_made(struct da_session *s, const uint8_t *rec, size_t len)
{
	struct da_error err = {0};

	/* the first lane stores and learns them, before any thread runs */
	if (!s->again)
		return s_lane_take(&s->lanes[0], rec, len);
	if (!da_writer_append(s->w, rec, len, NULL, &err))
		return 0;
	s_fail(s, &err);
	return -DA_EIO;
}

static int take(struct da_session *s, const uint8_t *rec, int size)
{
	return size > 0 ? s_take_made(s, rec, (size_t)size) : 0;
}

static int one_comm(struct da_session *s, pid_t pid, pid_t tid, uint64_t id)
{
	uint8_t rec[256];
	char path[64], name[64];
	struct da_rec_comm c = {.pid = (uint32_t)pid, .tid = (uint32_t)tid, .comm = name};
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(name, 1, 16, f); /* TASK_COMM_LEN */
	fclose(f);
	while (n && name[n - 1] == '\n')
		n--;
	name[n < 16 ? n : 15] = '\0';
	return take(s, rec, da_rec_comm_build(&s->sideband, &c, 0, id, 0, rec, sizeof(rec)));
}

/* "start-end perms pgoff maj:min ino   name": fs/proc/task_mmu.c show_map_vma(). The name may hold blanks
 * and, escaped as \012, line feeds. */
bool s_parse_map(char *line, pid_t pid, struct da_rec_mmap *m)
{
	char perms[8];
	unsigned maj, min;
	uint64_t end;
	int at = 0;

	memset(m, 0, sizeof(*m));
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &m->addr,
		   &end, perms, &m->pgoff, &maj, &min, &m->ino, &at) < 7 ||
	    end <= m->addr || !at)
		return false;
	m->pid = m->tid = (uint32_t)pid;
	m->len = end - m->addr;
	m->maj = maj;
	m->min = min;
	m->has_ino = m->has_prot = true;
	m->prot =
		(uint32_t)((perms[0] == 'r' ? PROT_READ : 0) | (perms[1] == 'w' ? PROT_WRITE : 0) |
			   (perms[2] == 'x' ? PROT_EXEC : 0));
	m->flags = perms[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	m->filename = line + at;
	line[at + (int)strcspn(line + at, "\n")] = '\0';
	if (!*m->filename)
		m->filename = "//anon"; /* as the kernel names it in MMAP2 */
	return true;
}

/* A mapping as the kernel would report it; rec is of MAP_BYTES. */
static int one_map(struct da_session *s, const struct da_rec_mmap *m, uint64_t id, uint8_t *rec)
{
	uint16_t misc = DA_CTX_USER;

	if (!(m->prot & PROT_EXEC))
		misc |= DA_MISC_MMAP_DATA;
	return take(s, rec, da_rec_mmap2_build(&s->sideband, misc, m, 0, id, 0, rec, MAP_BYTES));
}

static int maps_of(struct da_session *s, pid_t pid, uint64_t id)
{
	char path[64], *line = NULL;
	uint8_t *rec = malloc(MAP_BYTES);
	size_t cap = 0;
	FILE *f;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = rec ? fopen(path, "re") : NULL;
	while (f && !rc && getline(&line, &cap, f) > 0) {
		struct da_rec_mmap m;

		if (s_parse_map(line, pid, &m))
			rc = one_map(s, &m, id, rec);
	}
	if (f)
		fclose(f);
	free(line);
	free(rec);
	return rc;
}

static int names_of(struct da_session *s, pid_t pid, uint64_t id)
{
	pid_t *threads;
	size_t nr = s_threads_of(pid, &threads);
	int rc = 0;

	for (size_t i = 0; !rc && i < nr; i++)
		rc = one_comm(s, pid, threads[i], id);
	free(threads);
	s_ns_look(s, (uint32_t)pid, 0);
	return rc;
}

static int one_process(struct da_session *s, pid_t pid, uint64_t id)
{
	int rc = names_of(s, pid, id);

	return rc ? rc : maps_of(s, pid, id);
}

/* Mappings as the kernel told them: /proc does not know a file's generation, by which code is found again. */
static int known_maps(struct da_session *s, uint32_t pid, uint64_t id)
{
	size_t nr = da_tasks_maps(s->tasks, pid, UINT64_MAX, NULL, 0), i;
	struct da_map *map = nr ? calloc(nr, sizeof(*map)) : NULL;
	uint8_t *rec = malloc(MAP_BYTES);
	int rc = rec && (map || !nr) ? 0 : -DA_ENOMEM;

	if (map)
		nr = da_tasks_maps(s->tasks, pid, UINT64_MAX, map, nr);
	for (i = 0; !rc && i < nr; i++) {
		struct da_rec_mmap m = {.pid = pid,
					.tid = pid,
					.addr = map[i].start,
					.len = map[i].end - map[i].start,
					.pgoff = map[i].pgoff,
					.maj = map[i].maj,
					.min = map[i].min,
					.ino = map[i].ino,
					.ino_gen = map[i].ino_gen,
					.prot = map[i].prot,
					.flags = MAP_PRIVATE,
					.has_ino = true,
					.has_prot = true,
					.filename = map[i].name};

		rc = one_map(s, &m, id, rec);
	}
	free(map);
	free(rec);
	return rc;
}

static pid_t process_of(pid_t tid)
{
	char path[64], line[256];
	pid_t pid = tid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	if (f)
		fclose(f);
	return pid;
}

static int whole_system(struct da_session *s, uint64_t id)
{
	DIR *d = opendir("/proc");
	struct dirent *de;
	int rc = 0;

	while (d && !rc && (de = readdir(d)))
		if (all_digits(de->d_name))
			rc = one_process(s, (pid_t)atoi(de->d_name), id);
	if (d)
		closedir(d);
	return rc;
}

struct living {
	uint32_t *pid;
	size_t nr, room;
	bool failed;
};

static void lives(void *ctx, uint64_t mm, uint32_t pid, const char *comm, uint64_t from_ns,
		  uint64_t to_ns)
{
	struct living *l = ctx;

	(void)mm;
	(void)comm;
	(void)from_ns;
	if (to_ns != UINT64_MAX || l->failed)
		return;
	if (l->nr == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		uint32_t *grown = reallocarray(l->pid, room, sizeof(*grown));

		l->failed = !grown;
		if (!grown)
			return;
		l->pid = grown;
		l->room = room;
	}
	l->pid[l->nr++] = pid;
}

int s_synthesize_again(struct da_session *s)
{
	struct living l = {0};
	uint64_t id = s_sideband_id(s);
	int rc = s_fake_synthesize(s, s->nr_ids ? (uint32_t)s->ids[0] : (uint32_t)getpid());

	if (rc || s->fake_only)
		return rc;
	da_tasks_each_mm(s->tasks, lives, &l);
	for (size_t i = 0; i < l.nr && !rc; i++) {
		rc = names_of(s, (pid_t)l.pid[i], id);
		if (!rc)
			rc = known_maps(s, l.pid[i], id);
	}
	free(l.pid);
	return rc ? rc : l.failed ? -DA_ENOMEM : 0;
}

int s_synthesize(struct da_session *s, struct da_error *err)
{
	uint64_t id = s_sideband_id(s);
	int rc = 0;

	rc = s_fake_synthesize(s, s->nr_ids ? (uint32_t)s->ids[0] : (uint32_t)getpid());
	if (s->fake_only || rc)
		return rc;
	if (s->o.target == DA_TARGET_SYSTEM)
		rc = whole_system(s, id);
	else if (s->o.target != DA_TARGET_COMMAND) /* a command's exec brings its own records */
		for (size_t i = 0; !rc && i < s->o.nr_ids; i++)
			rc = one_process(s, process_of(s->o.ids[i]), id);
	if (rc) {
		if (err && !err->code)
			*err = s->failure;
		return rc;
	}
	return 0;
}
