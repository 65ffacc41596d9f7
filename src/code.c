/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instruction bytes at (process, address, time), and the cache of decoded instructions (da_code.h).
 *
 * A look-up goes: front cache (process, address) - mapping - cache (code object, offset) - bytes - decoder.
 * Whatever is kept says for which times and which state of timeline, file or memory it holds, so that
 * nothing has to be told when something changes:
 *
 *   front entry   one generation of the timeline and of the saved pieces, a span of time
 *   file          the object's number changes with the file; it is looked at again every 10 ms
 *   saved piece   the span of time up to the next piece for the same place
 *   memory        compared with the process again every 10 ms, as JIT compilers write to it
 *
 * Times are those of the samples; this file reads no clock.
 */
#include "da_code.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "code_priv.h"
#include "da_error.h"

#define FRONT_BITS 12
#define MIN_SLOTS  512u
#define MAX_SLOTS  32768u /* 6 MiB a lane */
#define WAYS       4u
#define OBJECTS    256u
#define MEMORY     (1ULL << 63) /* object numbers of mappings that are not files */
#define MAX_PIECE  (CODE_MAX_FUNCTION + 64 + DA_INSN_MAX_BYTES)

struct da_code_store {
	struct da_tasks *tasks;
	enum da_arch arch;
	bool live;
	da_code_save_fn save;
	void *save_ctx;
	pthread_rwlock_t pieces_lock;
	struct code_pieces *pieces;
	_Atomic uint64_t generation; /* pieces added */
	pthread_mutex_t files_lock;
	struct code_files *files;
};

enum source { FROM_NOWHERE, FROM_PIECE, FROM_FILE, FROM_MEMORY };

/* One decoded instruction. */
struct slot {
	uint64_t object, off;
	uint64_t serial; /* unique for each filling; 0: empty */
	uint64_t used;
	uint64_t from, to; /* valid for times [from, to) */
	uint64_t pieces;   /* FROM_PIECE: generation of the pieces */
	struct da_insn insn;
	uint8_t bytes[DA_INSN_MAX_BYTES]; /* FROM_MEMORY: to compare */
	uint8_t n, abi, source;
};

struct front {
	uint64_t ip, generation, from, to;
	uint64_t serial;
	uint32_t pid, slot;
	uint8_t abi;
};

/* The object of a mapping, as of its last look. */
struct object {
	uint64_t map_id, number, since, looked_ns;
	bool valid;
};

struct da_code {
	struct da_code_store *s;
	struct da_insn_decoder *decoder;
	struct slot *slot;
	uint32_t nr_slots, filled;
	uint64_t serial, tick;
	struct front front[1u << FRONT_BITS];
	struct object object[OBJECTS];
	struct da_code_stats stats;
	uint8_t piece[MAX_PIECE]; /* being read */
};

/* ---- the store ---- */

struct da_code_store *da_code_store_new(struct da_tasks *tasks, enum da_arch arch)
{
	struct da_code_store *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->tasks = tasks;
	s->arch = arch;
	s->pieces = code_pieces_new();
	s->files = code_files_new();
	if (!s->pieces || !s->files || pthread_rwlock_init(&s->pieces_lock, NULL))
		goto no_locks;
	if (pthread_mutex_init(&s->files_lock, NULL))
		goto no_files_lock;
	return s;
no_files_lock:
	pthread_rwlock_destroy(&s->pieces_lock);
no_locks:
	code_pieces_free(s->pieces);
	code_files_free(s->files);
	free(s);
	return NULL;
}

void da_code_store_free(struct da_code_store *s)
{
	if (!s)
		return;
	pthread_rwlock_destroy(&s->pieces_lock);
	pthread_mutex_destroy(&s->files_lock);
	code_pieces_free(s->pieces);
	code_files_free(s->files);
	free(s);
}

void da_code_store_live(struct da_code_store *s, da_code_save_fn save, void *ctx)
{
	s->live = true;
	s->save = save;
	s->save_ctx = ctx;
	code_files_live(s->files);
}

void da_code_store_arch(struct da_code_store *s, enum da_arch arch)
{
	s->arch = arch;
}

void da_code_store_files(struct da_code_store *s, bool allowed)
{
	code_files_allow(s->files, allowed, 0);
}

void da_code_store_files_as_of(struct da_code_store *s, int64_t seconds)
{
	code_files_allow(s->files, true, seconds);
}

/* As code_pieces_add(). */
static int add_piece(struct da_code_store *s, const struct da_own_code *piece)
{
	int rc;

	pthread_rwlock_wrlock(&s->pieces_lock);
	rc = code_pieces_add(s->pieces, piece);
	if (rc > 0)
		atomic_fetch_add_explicit(&s->generation, 1, memory_order_release);
	pthread_rwlock_unlock(&s->pieces_lock);
	return rc;
}

void da_code_store_again(struct da_code_store *s)
{
	if (!s->save)
		return;
	pthread_rwlock_rdlock(&s->pieces_lock);
	code_pieces_each(s->pieces, s->save, s->save_ctx);
	pthread_rwlock_unlock(&s->pieces_lock);
}

int da_code_store_add(struct da_code_store *s, const struct da_own_code *piece)
{
	int rc = add_piece(s, piece);

	return rc < 0 ? rc : 0;
}

/* ---- one lane ---- */

struct da_code *da_code_new(struct da_code_store *s)
{
	struct da_code *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->s = s;
	c->nr_slots = MIN_SLOTS;
	c->slot = calloc(c->nr_slots, sizeof(*c->slot));
	c->decoder = da_insn_decoder_new();
	if (!c->slot || !c->decoder) {
		da_code_free(c);
		return NULL;
	}
	return c;
}

void da_code_free(struct da_code *c)
{
	if (!c)
		return;
	da_insn_decoder_free(c->decoder);
	free(c->slot);
	free(c);
}

struct da_code_stats da_code_stats(const struct da_code *c)
{
	return c->stats;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ b * 0x9e3779b97f4a7c15u) * 0xc2b2ae3d27d4eb4fu;

	return h ^ h >> 32;
}

/* The set of WAYS slots where (object, off) may be. */
static struct slot *set_of(struct da_code *c, uint64_t object, uint64_t off)
{
	return &c->slot[(mix(object, off) & (c->nr_slots / WAYS - 1)) * WAYS];
}

static struct slot *find_slot(struct da_code *c, uint64_t object, uint64_t off, uint8_t abi)
{
	struct slot *set = set_of(c, object, off);

	for (unsigned i = 0; i < WAYS; i++)
		if (set[i].serial && set[i].object == object && set[i].off == off &&
		    set[i].abi == abi)
			return &set[i];
	return NULL;
}

/* An empty slot of the set, or the one not used for longest. */
static struct slot *victim(struct da_code *c, uint64_t object, uint64_t off)
{
	struct slot *set = set_of(c, object, off), *oldest = set;

	for (unsigned i = 0; i < WAYS; i++) {
		if (!set[i].serial)
			return &set[i];
		if (set[i].used < oldest->used)
			oldest = &set[i];
	}
	return oldest;
}

/* Twice the slots, if there may be more and memory for them. */
static void grow(struct da_code *c)
{
	struct slot *old = c->slot, *new = NULL;
	uint32_t nr = c->nr_slots;

	if (nr < MAX_SLOTS)
		new = calloc(nr * 2, sizeof(*new));
	if (!new)
		return;
	c->slot = new;
	c->nr_slots = nr * 2;
	c->filled = 0;
	for (uint32_t i = 0; i < nr; i++) {
		struct slot *to;

		if (!old[i].serial)
			continue;
		to = victim(c, old[i].object, old[i].off);
		c->filled += !to->serial;
		*to = old[i];
	}
	free(old);
}

/* ---- where the bytes come from ---- */

/* What is asked for, and the mapping that answers. */
struct query {
	uint32_t pid;
	uint8_t abi;
	uint64_t time_ns, ip;
	struct da_map map;
	bool is_file;         /* the mapping has a file whose content is the code */
	struct code_key key;  /* of its saved pieces */
	uint64_t object, off; /* off: file offset, or the address */
	uint64_t left;        /* bytes from there to the mapping's end */
	uint64_t since;       /* the file is known to be as it is from this time on */
};

/* Memory files change without a change of their times, and what they hold is written by the process. */
static bool is_file(const struct da_map *m)
{
	return m->ino && m->name[0] == '/' && m->kind != DA_MAP_SHM && m->kind != DA_MAP_ANON &&
	       strncmp(m->name, "/memfd:", 7) != 0 && strncmp(m->name, "/dev/", 5) != 0 &&
	       strncmp(m->name, "/SYSV", 5) != 0;
}

/* The object's number; for files asked again every CODE_RECHECK_NS, because the file may have changed. */
static uint64_t object_of(struct da_code *c, struct query *q)
{
	struct object *o = &c->object[mix(q->map.id, 0) % OBJECTS];
	uint64_t away =
		q->time_ns > o->looked_ns ? q->time_ns - o->looked_ns : o->looked_ns - q->time_ns;

	if (!q->is_file)
		return MEMORY | q->map.id;
	if (!o->valid || o->map_id != q->map.id || (c->s->live && away > CODE_RECHECK_NS)) {
		pthread_mutex_lock(&c->s->files_lock);
		o->number = code_files_object(c->s->files, &q->map, q->pid, q->time_ns, &o->since);
		pthread_mutex_unlock(&c->s->files_lock);
		o->valid = o->number != 0;
		o->map_id = q->map.id;
		o->looked_ns = q->time_ns;
	}
	q->since = o->since;
	return o->number;
}

static bool ask(struct da_code *c, struct query *q)
{
	if (!da_tasks_find(c->s->tasks, q->pid, q->time_ns, q->ip, &q->map))
		return false;
	q->is_file = is_file(&q->map);
	q->left = q->map.end - q->ip;
	if (q->is_file) {
		q->key = (struct code_key){0, q->map.maj, q->map.min, q->map.ino, q->map.ino_gen};
		q->off = q->map.pgoff + (q->ip - q->map.start);
	} else {
		q->key = (struct code_key){.pid = q->pid};
		q->off = q->ip;
	}
	q->object = object_of(c, q);
	return q->object != 0;
}

static size_t at_most(uint64_t n, size_t max)
{
	return n < max ? (size_t)n : max;
}

/* Is the mapping, as far as known, still there now? */
static bool current(const struct da_code *c, const struct query *q, uint64_t *until)
{
	struct da_map now;
	bool same =
		da_tasks_find(c->s->tasks, q->pid, UINT64_MAX, q->ip, &now) && now.id == q->map.id;

	if (until)
		*until = same ? UINT64_MAX : q->time_ns;
	return same;
}

/* From the live process. It may have ended, or called exec a moment ago without our knowing yet: then
 * this fails, or (at the same address, of all there are) reads what is there now. */
static size_t read_memory(const struct da_code *c, const struct query *q, uint64_t addr, void *buf,
			  size_t n)
{
	struct iovec local = {buf, n}, remote = {(void *)(uintptr_t)addr, n};
	ssize_t got;

	if (!c->s->live)
		return 0;
	got = current(c, q, NULL) ? process_vm_readv((pid_t)q->pid, &local, 1, &remote, 1, 0) : 0;
	return got > 0 ? (size_t)got : code_vdso_read(&q->map, addr, buf, n);
}

static struct code_found find_piece(const struct da_code *c, const struct query *q,
				    const struct code_key *key, uint64_t addr)
{
	uint64_t since = key->pid ? q->map.from_ns : 0;
	struct code_found found;

	pthread_rwlock_rdlock(&c->s->pieces_lock);
	found = code_pieces_find(c->s->pieces, key, addr, since, q->time_ns);
	pthread_rwlock_unlock(&c->s->pieces_lock);
	return found;
}

/* What a look-up found: bytes and how long they are right. */
struct code {
	uint8_t bytes[DA_INSN_MAX_BYTES];
	size_t n;
	enum source source;
	uint64_t from, to;
};

static bool from_pieces(const struct da_code *c, const struct query *q, struct code *code)
{
	struct code_key memory = {.pid = q->pid};
	struct code_found f = find_piece(c, q, &q->key, q->off);

	if (!f.n && q->is_file)
		f = find_piece(c, q, &memory, q->ip);
	if (!f.n)
		return false;
	*code = (struct code){
		.n = at_most(q->left, f.n), .source = FROM_PIECE, .from = f.from, .to = f.to};
	memcpy(code->bytes, f.bytes, code->n);
	return true;
}

static bool from_file(struct da_code *c, const struct query *q, struct code *code)
{
	if (!q->is_file)
		return false;
	pthread_mutex_lock(&c->s->files_lock);
	code->n = code_files_read(c->s->files, &q->map, q->pid, q->time_ns, q->off, code->bytes,
				  at_most(q->left, sizeof(code->bytes)));
	pthread_mutex_unlock(&c->s->files_lock);
	code->source = FROM_FILE;
	code->from = q->since;
	code->to = UINT64_MAX;
	c->stats.fetched_file += code->n != 0;
	return code->n != 0;
}

/* What was looked at now need not be looked at again between these times. */
static uint64_t time_before(uint64_t time_ns)
{
	return time_ns > CODE_RECHECK_NS ? time_ns - CODE_RECHECK_NS : 0;
}

static uint64_t time_after(uint64_t time_ns)
{
	return time_ns < UINT64_MAX - CODE_RECHECK_NS ? time_ns + CODE_RECHECK_NS : UINT64_MAX;
}

static bool from_memory(struct da_code *c, const struct query *q, struct code *code)
{
	code->n = read_memory(c, q, q->ip, code->bytes, at_most(q->left, sizeof(code->bytes)));
	code->source = FROM_MEMORY;
	code->from = time_before(q->time_ns);
	code->to = time_after(q->time_ns);
	c->stats.fetched_live += code->n != 0;
	return code->n != 0;
}

static bool fetch(struct da_code *c, const struct query *q, struct code *code)
{
	*code = (struct code){.source = FROM_NOWHERE};
	/* While recording, what is there now comes before what was saved, which may be of an earlier moment;
	 * unless a later moment is saved too: then this sample is the late one. */
	if (from_pieces(c, q, code) && (!c->s->live || code->to != UINT64_MAX))
		return true;
	if (q->time_ns < q->since)
		return false; /* what the file was then nobody knows any more */
	if (from_file(c, q, code) || from_memory(c, q, code))
		return true;
	return c->s->live && from_pieces(c, q, code);
}

/* ---- saving ---- */

/* The range worth saving around the instruction, in the file's offsets or the process's addresses. */
static void range(struct da_code *c, const struct query *q, const struct code *code, size_t need,
		  uint64_t *start, uint64_t *end)
{
	uint64_t at = code->source == FROM_FILE ? q->off : q->ip, first, last;

	if (code->source == FROM_FILE) {
		bool found;

		pthread_mutex_lock(&c->s->files_lock);
		found = code_files_function(c->s->files, &q->map, q->pid, q->time_ns, at, start,
					    end);
		pthread_mutex_unlock(&c->s->files_lock);
		if (found && *end - at >= need)
			return;
		/* else unknown, or cut short by its symbol: the instruction ends beyond */
	}
	first = at - (q->ip - q->map.start); /* of the mapping */
	last = at + q->left;
	*start = (at - at_most(at, CODE_WINDOW)) & ~63ULL;
	*end = (at + CODE_WINDOW + DA_INSN_MAX_BYTES + 63) & ~63ULL;
	if (*start < first)
		*start = first;
	if (*end > last || *end < at)
		*end = last;
}

/* Saves the code around the instruction of `need` bytes, unless a saved piece already says the same of it. */
static void save(struct da_code *c, const struct query *q, const struct code *code, size_t need)
{
	struct da_own_code piece = {.pid = q->pid, .bytes = c->piece};
	struct code_key key = {.pid = q->pid};
	uint64_t start, end, at = q->ip;
	struct code_found known;
	size_t n;

	if (code->source == FROM_FILE) {
		key = q->key;
		at = q->off;
		piece.pid = 0;
		piece.maj = key.maj;
		piece.min = key.min;
		piece.ino = key.ino;
		piece.ino_gen = key.ino_gen;
	}
	known = find_piece(c, q, &key, at);
	if (known.n >= need && memcmp(known.bytes, code->bytes, need) == 0)
		return;
	range(c, q, code, need, &start, &end);
	n = at_most(end - start, sizeof(c->piece));
	if (code->source == FROM_FILE) {
		pthread_mutex_lock(&c->s->files_lock);
		n = code_files_read(c->s->files, &q->map, q->pid, q->time_ns, start, c->piece, n);
		pthread_mutex_unlock(&c->s->files_lock);
	} else {
		n = read_memory(c, q, start, c->piece, n);
	}
	/* What was decoded goes into the file, even if it has changed since or no more can be read. */
	if (n < at - start + need || memcmp(c->piece + (at - start), code->bytes, need) != 0) {
		memcpy(c->piece, code->bytes, code->n);
		start = at;
		n = code->n;
	}
	piece.addr = start;
	piece.len = (uint32_t)n;
	/* The first piece holds from the beginning, a later one, which differs, from now on. */
	if (known.n && memcmp(known.bytes, code->bytes, at_most(known.n, need)) != 0)
		piece.time_ns = q->time_ns;
	else if (code->source == FROM_MEMORY)
		piece.time_ns = q->map.from_ns;
	if (add_piece(c->s, &piece) > 0 && c->s->save)
		c->s->save(c->s->save_ctx, &piece);
}

/* ---- the look-up ---- */

static enum da_arch insn_arch(enum da_arch machine, uint8_t abi)
{
	if (abi != 1)
		return machine;
	if (machine == DA_ARCH_X86_64)
		return DA_ARCH_X86_32;
	return machine == DA_ARCH_ARM64 ? DA_ARCH_ARM32 : machine;
}

/* The bytes that decide about any instruction. */
static size_t longest(enum da_arch arch)
{
	return arch == DA_ARCH_ARM64 || arch == DA_ARCH_ARM32 ? 4 : DA_INSN_MAX_BYTES;
}

/* Does the slot still say what a fresh look would? */
static bool still_right(struct da_code *c, struct slot *s, const struct query *q, uint64_t pieces)
{
	uint8_t now[DA_INSN_MAX_BYTES];
	size_t n;

	switch (s->source) {
	case FROM_FILE: /* a changed file is another object */
		return q->time_ns >= s->from;
	case FROM_PIECE:
		return q->time_ns >= s->from && q->time_ns < s->to && s->pieces == pieces;
	default:
		if (q->time_ns < s->from)
			return false;
		if (q->time_ns < s->to)
			return true;
		n = read_memory(c, q, q->ip, now, at_most(q->left, sizeof(now)));
		if (n && (n != s->n || memcmp(now, s->bytes, n) != 0))
			return false;
		if (n) {
			s->from = time_before(q->time_ns);
			s->to = time_after(q->time_ns);
		}
		return true; /* or the process is gone, and this is what it last had there */
	}
}

static struct slot *fill(struct da_code *c, const struct query *q, uint64_t pieces)
{
	struct slot *s;
	struct code code;

	if (!fetch(c, q, &code))
		return NULL;
	s = find_slot(c, q->object, q->off, q->abi);
	if (!s) {
		if (c->filled >= c->nr_slots / 4 * 3)
			grow(c);
		s = victim(c, q->object, q->off);
		c->filled += !s->serial;
	}
	*s = (struct slot){
		.object = q->object,
		.off = q->off,
		.serial = ++c->serial,
		.from = code.from,
		.to = code.to,
		.pieces = pieces,
		.n = (uint8_t)code.n,
		.abi = q->abi,
		.source = (uint8_t)code.source,
	};
	memcpy(s->bytes, code.bytes, sizeof(s->bytes));
	da_insn_decode(c->decoder, insn_arch(c->s->arch, q->abi), code.bytes, code.n, &s->insn);
	if (code.source != FROM_PIECE) {
		if (c->s->live)
			save(c, q, &code, s->insn.len ? s->insn.len : code.n);
	} else if (!s->insn.len &&
		   code.n < at_most(q->left, longest(insn_arch(c->s->arch, q->abi)))) {
		s->serial = 0; /* the piece may end inside the instruction */
		c->filled--;
		return NULL;
	}
	return s;
}

/* From when to when the front cache may answer alone. */
static void remember(struct da_code *c, struct front *f, const struct query *q,
		     const struct slot *s, uint64_t generation)
{
	*f = (struct front){
		.ip = q->ip,
		.generation = generation,
		.from = q->time_ns,
		.serial = s->serial,
		.pid = q->pid,
		.slot = (uint32_t)(s - c->slot),
		.abi = q->abi,
	};
	/* A mapping id is never used again: what it is now and at the latest time, it is in between. */
	current(c, q, &f->to);
	if (s->source == FROM_PIECE || s->source == FROM_MEMORY) {
		if (f->to >= s->to)
			f->to = s->to - 1;
	} else if (c->s->live) {
		if (f->to > time_after(q->time_ns))
			f->to = time_after(q->time_ns);
	}
}

const struct da_insn *da_code_insn(struct da_code *c, uint32_t pid, uint64_t time_ns, uint64_t ip,
				   uint8_t abi)
{
	struct front *f = &c->front[mix(ip, pid) >> (32 - FRONT_BITS) & ((1u << FRONT_BITS) - 1)];
	struct query q = {.pid = pid, .time_ns = time_ns, .ip = ip, .abi = abi == 1 ? 1 : 2};
	uint64_t pieces, generation;
	struct slot *s;

	c->stats.lookups++;
	/* Both only ever grow, so their sum stays the same only if both do. Read before the look-up: a
	 * change during it makes the entry useless, not wrong. */
	pieces = atomic_load_explicit(&c->s->generation, memory_order_acquire);
	generation = da_tasks_generation(c->s->tasks) + pieces;
	if (f->ip == ip && f->pid == pid && f->abi == q.abi && f->generation == generation &&
	    time_ns >= f->from && time_ns <= f->to && f->slot < c->nr_slots &&
	    c->slot[f->slot].serial == f->serial && f->serial) {
		c->stats.hits++;
		return &c->slot[f->slot].insn;
	}
	if (!ask(c, &q)) {
		c->stats.missing++;
		return NULL;
	}
	s = find_slot(c, q.object, q.off, q.abi);
	if (s && still_right(c, s, &q, pieces)) {
		c->stats.hits++;
	} else {
		s = fill(c, &q, pieces);
		if (!s) {
			c->stats.missing++;
			return NULL;
		}
	}
	s->used = ++c->tick;
	remember(c, f, &q, s, generation);
	return &s->insn;
}
