/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The string store of task_names.h: chunks that never move and a hash table of pointers into
 * them. Each string is bounded by the record that it came in, so the store is by its input.
 *
 * Names of mappings: linux kernel/events/core.c perf_event_mmap_event(), fs/proc/task_mmu.c,
 * mm/shmem.c; older perf wrote "[stack:TID]".
 */
#include "task_names.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK    32768
#define MIN_BITS 8

struct names_chunk {
	struct names_chunk *next;
	size_t used, room;
	char text[];
};

void names_init(struct names *n, uint64_t seed)
{
	*n = (struct names){.seed = seed};
}

void names_release(struct names *n)
{
	while (n->chunks) {
		struct names_chunk *c = n->chunks;

		n->chunks = c->next;
		free(c);
	}
	free(n->table);
	*n = (struct names){0};
}

/* FNV-1a over the seeded basis, then mixed: the high bits choose the slot. */
static size_t home(const struct names *n, const char *text)
{
	uint64_t h = n->seed ^ 0xcbf29ce484222325ull;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 0x100000001b3ull;
	h = (h ^ (h >> 32)) * 0xff51afd7ed558ccdull;
	return (size_t)(h >> (64 - n->bits));
}

static size_t locate(const struct names *n, const char *text)
{
	size_t mask = ((size_t)1 << n->bits) - 1, i = home(n, text);

	while (n->table[i] && strcmp(n->table[i], text))
		i = (i + 1) & mask;
	return i;
}

static bool grow(struct names *n)
{
	struct names bigger = {.bits = n->table ? n->bits + 1 : MIN_BITS, .seed = n->seed};
	size_t nr = n->table ? (size_t)1 << n->bits : 0;

	bigger.table = calloc((size_t)1 << bigger.bits, sizeof(*bigger.table));
	if (!bigger.table)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (n->table[i])
			bigger.table[locate(&bigger, n->table[i])] = n->table[i];
	free(n->table);
	n->table = bigger.table;
	n->bits = bigger.bits;
	return true;
}

static char *room_for(struct names *n, size_t bytes)
{
	struct names_chunk *c = n->chunks;

	if (!c || c->room - c->used < bytes) {
		size_t room = bytes > CHUNK ? bytes : CHUNK;

		c = malloc(sizeof(*c) + room);
		if (!c)
			return NULL;
		*c = (struct names_chunk){.next = n->chunks, .room = room};
		n->chunks = c;
	}
	c->used += bytes;
	return c->text + c->used - bytes;
}

const char *names_keep(struct names *n, const char *text)
{
	size_t i, bytes;
	char *copy;

	if ((!n->table || n->nr + 1 > ((size_t)3 << n->bits) / 4) && !grow(n))
		return NULL;
	i = locate(n, text);
	if (n->table[i])
		return n->table[i];
	bytes = strlen(text) + 1;
	copy = room_for(n, bytes);
	if (!copy)
		return NULL;
	memcpy(copy, text, bytes);
	n->table[i] = copy;
	n->nr++;
	return copy;
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static enum da_map_kind kind_of_special(const char *name)
{
	static const char *const vdso[] = {"[vdso]", "[vvar]", "[vvar_vclock]", "[vsyscall]",
					   "[vdso32]"};

	for (size_t i = 0; i < sizeof(vdso) / sizeof(*vdso); i++)
		if (!strcmp(name, vdso[i]))
			return DA_MAP_VDSO;
	if (!strcmp(name, "[heap]"))
		return DA_MAP_HEAP;
	if (!strcmp(name, "[stack]") || begins(name, "[stack:"))
		return DA_MAP_STACK;
	if (!strcmp(name, "[anon]") || begins(name, "[anon:"))
		return DA_MAP_ANON;
	if (begins(name, "[anon_shmem:"))
		return DA_MAP_SHM;
	return DA_MAP_OTHER;
}

enum da_map_kind names_map_kind(const char *name, bool shared)
{
	static const char *const shm[] = {"/memfd:", "/SYSV", "/dev/shm/", "/dev/ashmem",
					  "/dev/zero (deleted)"};

	if (!*name || begins(name, "//anon"))
		return DA_MAP_ANON;
	if (*name == '[')
		return kind_of_special(name);
	if (*name !=
	    '/') /* "anon_inode:[io_uring]", "socket:[1234]", perf's "//toolong" is a file */
		return DA_MAP_OTHER;
	for (size_t i = 0; i < sizeof(shm) / sizeof(*shm); i++)
		if (begins(name, shm[i]))
			return DA_MAP_SHM;
	if (!strcmp(name, "/dev/zero"))
		return shared ? DA_MAP_SHM : DA_MAP_ANON;
	if (begins(name, "/anon_hugepage"))
		return shared ? DA_MAP_SHM : DA_MAP_ANON;
	if (begins(name, "/dev/") && !begins(name, "/dev/hugepages/"))
		return DA_MAP_OTHER;
	return begins(name, "/[") ? DA_MAP_OTHER : DA_MAP_FILE; /* "/[aio] (deleted)" */
}
