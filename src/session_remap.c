/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mappings that leave no record: the kernel says nothing of mremap(). When a report is in no region that is
 * known, /proc/PID/maps is read again, at a bounded rate, and what it has at that place is added to the
 * timeline since the report's time, and to the file.
 *
 * The report waits meanwhile (it counts as resident): only when every lane has drained past the moment of
 * reading is it known whether the process was still in the address space of the report. All of this is the
 * match thread's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session_priv.h"

#define MAX_PENDING 4096        /* reports that wait */
#define MAX_PROCS   256         /* processes that are looked after */
#define WAIT_NS     20000000ull /* between two looks at a process that were worth it */
#define WAIT_MAX_NS 5000000000ull
#define PATIENCE_NS 200000000ull /* a report does not wait longer for a look */
#define PATH_BYTES  4096

struct place {
	uint64_t start, end;
	char *line; /* of /proc/PID/maps, whole */
};

/* A process as it was found last. */
struct found {
	uint32_t pid;
	uint64_t read_ns; /* when; 0: not yet */
	uint64_t wait_ns; /* to the next look */
	bool wanted;      /* a report waits for a look */
	struct place *place;
	size_t nr;
};

struct s_remap {
	struct found proc[MAX_PROCS];
	size_t nr_procs;
	struct da_report pending[MAX_PENDING];
	size_t nr_pending;
	bool again; /* reports are given to the match layer for the second time */
};

struct s_remap *s_remap_new(void)
{
	return calloc(1, sizeof(struct s_remap));
}

static void forget(struct found *f)
{
	while (f->nr)
		free(f->place[--f->nr].line);
	free(f->place);
	f->place = NULL;
}

void s_remap_free(struct s_remap *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nr_procs; i++)
		forget(&m->proc[i]);
	free(m);
}

static struct found *proc_of(struct s_remap *m, uint32_t pid)
{
	for (size_t i = 0; i < m->nr_procs; i++)
		if (m->proc[i].pid == pid)
			return &m->proc[i];
	if (m->nr_procs == MAX_PROCS)
		return NULL;
	m->proc[m->nr_procs] = (struct found){.pid = pid, .wait_ns = WAIT_NS};
	return &m->proc[m->nr_procs++];
}

static const struct place *place_of(const struct found *f, uint64_t addr)
{
	size_t lo = 0, hi = f->nr;

	while (lo < hi) { /* the first one that ends behind it */
		size_t mid = lo + (hi - lo) / 2;

		if (f->place[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->nr && f->place[lo].start <= addr ? &f->place[lo] : NULL;
}

bool s_remap_missed(void *session, const struct da_report *r)
{
	struct da_session *s = session;
	struct s_remap *m = s->remap;
	struct found *f;

	if (m->again || !(r->has & DA_HAS_TIME) || m->nr_pending == MAX_PENDING)
		return false;
	f = proc_of(m, r->pid);
	if (!f)
		return false;
	if (f->read_ns <= r->time_ns) {
		if (f->wait_ns > PATIENCE_NS && s_now_ns(s) < f->read_ns + f->wait_ns)
			return false;
		f->wanted = true;
	} else if (!place_of(f, r->vaddr)) {
		return false;
	}
	m->pending[m->nr_pending++] = *r;
	return true;
}

static void add_place(struct found *f, size_t *room, const char *line)
{
	uint64_t start, end;
	struct place *grown;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2)
		return;
	if (f->nr == *room) {
		*room = *room ? *room * 2 : 64;
		grown = reallocarray(f->place, *room, sizeof(*grown));
		if (!grown)
			return;
		f->place = grown;
	}
	f->place[f->nr] = (struct place){start, end, strdup(line)};
	f->nr += f->place[f->nr].line != NULL;
}

/* A process that has gone is known to have nothing. */
static void look(struct da_session *s, struct found *f)
{
	struct s_remap *m = s->remap;
	char path[64], *line = NULL;
	size_t cap = 0, room = 0;
	bool worth = false;
	FILE *maps;

	forget(f);
	snprintf(path, sizeof(path), "/proc/%u/maps", f->pid);
	maps = fopen(path, "re");
	while (maps && getline(&line, &cap, maps) > 0)
		add_place(f, &room, line);
	if (maps)
		fclose(maps);
	free(line);
	f->read_ns = s_now_ns(s); /* after it: what was read may have come as late as now */
	f->wanted = false;
	for (size_t i = 0; i < m->nr_pending && !worth; i++)
		worth = m->pending[i].pid == f->pid && place_of(f, m->pending[i].vaddr);
	if (worth)
		f->wait_ns = WAIT_NS;
	else
		f->wait_ns = f->wait_ns < WAIT_MAX_NS / 2 ? f->wait_ns * 2 : WAIT_MAX_NS;
}

/* The mapping in the file: for us since the report's time, for others from now on. */
static void store(struct da_session *s, const struct da_rec_mmap *map, uint64_t since_ns)
{
	uint16_t misc = (uint16_t)(DA_CTX_USER | (map->prot & 4 ? 0 : DA_MISC_MMAP_DATA));
	uint8_t *rec = malloc(8 + PATH_BYTES + 256);
	struct da_error err = {0};
	int size;

	if (!rec || !s->w) {
		free(rec);
		return;
	}
	size = da_rec_mmap2_build(&s->sideband, misc, map, since_ns, s_sideband_id(s), 0, rec + 8,
				  PATH_BYTES + 256);
	if (size > 0) {
		memcpy(rec, &since_ns, 8);
		s_store(s, DA_OWN_MAP, rec, 8 + (size_t)size);
		size = da_rec_mmap2_build(&s->sideband, misc, map, s_now_ns(s), s_sideband_id(s), 0,
					  rec, PATH_BYTES + 256);
	}
	if (size > 0 && da_writer_append(s->w, rec, (size_t)size, NULL, &err))
		s_fail(s, &err);
	free(rec);
}

static void learn(struct da_session *s, const struct found *f, const struct da_report *r)
{
	const struct place *p = place_of(f, r->vaddr);
	struct da_rec_mmap map;
	struct da_map known;
	uint64_t mm;
	char *line;

	if (!p || da_tasks_find(s->tasks, r->pid, r->time_ns, r->vaddr, &known))
		return; /* an earlier report has learnt it */
	mm = da_tasks_mm(s->tasks, r->pid, r->time_ns);
	if (!mm || mm != da_tasks_mm(s->tasks, r->pid, f->read_ns))
		return; /* it has exec'ed, or its pid is another's: what was read is not of then */
	line = strdup(p->line);
	if (line && s_parse_map(line, (pid_t)r->pid, &map) &&
	    !da_tasks_mmap(s->tasks, &map, r->time_ns))
		store(s, &map, r->time_ns);
	free(line);
}

void s_remap_turn(struct da_session *s, bool last)
{
	struct s_remap *m = s->remap;
	uint64_t now = s_now_ns(s), safe;
	size_t i, kept = 0;

	if (!m || !m->nr_pending)
		return;
	for (i = 0; i < m->nr_procs; i++) {
		struct found *f = &m->proc[i];

		if (f->wanted && (last || now >= f->read_ns + f->wait_ns))
			look(s, f);
	}
	safe = last ? UINT64_MAX : s_safe_until(s);
	m->again = true;
	for (i = 0; i < m->nr_pending; i++) {
		const struct da_report *r = &m->pending[i];
		const struct found *f = proc_of(m, r->pid);

		if (f->read_ns > r->time_ns && f->read_ns > safe) {
			m->pending[kept++] = *r;
			continue;
		}
		if (f->read_ns <= r->time_ns && now - r->time_ns < PATIENCE_NS && !last) {
			m->pending[kept++] = *r; /* its look is still to come */
			continue;
		}
		if (f->read_ns > r->time_ns)
			learn(s, f, r);
		da_match_report(s->match, r);
	}
	m->nr_pending = kept;
	m->again = false;
}
