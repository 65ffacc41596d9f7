/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code from mapped files: finding the file that a mapping names, making sure that it is that file, reading
 * it, and the bounds of its small functions.
 *
 * Files belong to others, so nothing of them is mapped into us (a file cut short would kill us with
 * SIGBUS), only regular files are opened (a name may be that of a device), and what a file says is checked.
 *
 * Which file is it: the inode number must be that of the mapping, and the device too. On overlayfs and
 * btrfs stat(2) shows another device than the kernel's record; there path and inode number decide. A
 * recorded device of 0:0 without inode (records of old kernels, or with a build-id instead) proves nothing
 * and is refused. Inode numbers are used again: where the record has the inode's generation and the file
 * system tells it, it must agree.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "code_priv.h"

#define MAX_FILES   65536u
#define MAX_OPEN    32u
#define MAX_SYMTAB  (64u << 20) /* bytes of one symbol table */
#define MAX_LOADS   64
#define FS_OVERLAY  0x794c7630
#define FS_BTRFS    0x9123683e
#define GET_VERSION _IOR('v', 1, long) /* FS_IOC_GETVERSION */

struct function {
	uint64_t start; /* file offset */
	uint32_t size;
};

struct file {
	struct code_key key;
	int fd;               /* -1: closed */
	bool usable, symbols; /* checked and found; functions were looked for */
	uint32_t version;     /* raised when the file changed */
	struct stat st;       /* valid if version > 0 */
	bool looked;          /* looked_ns is valid */
	uint64_t looked_ns;   /* samples' clock */
	uint64_t latest_ns;   /* latest of these */
	uint64_t since_ns;    /* when this version was first seen; 0: the first */
	uint64_t used;        /* least recently used is closed first */
	struct function *fn;  /* by start */
	size_t nr_fn;
	uint32_t next; /* in its bucket */
};

struct code_files {
	struct file *file;
	uint32_t nr, room;
	uint32_t *head; /* 1 << bits buckets: index + 1 */
	unsigned bits;
	uint64_t seed, tick;
	uint32_t open[MAX_OPEN], nr_open;
	bool allowed, live;
	int64_t as_of_s;
};

/* ---- table ---- */

struct code_files *code_files_new(void)
{
	struct code_files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->bits = 6;
	f->head = calloc((size_t)1 << f->bits, sizeof(*f->head));
	if (!f->head) {
		free(f);
		return NULL;
	}
	if (getrandom(&f->seed, sizeof(f->seed), GRND_NONBLOCK) != sizeof(f->seed))
		f->seed = (uintptr_t)f;
	return f;
}

static void drop_functions(struct file *e)
{
	free(e->fn);
	e->fn = NULL;
	e->nr_fn = 0;
	e->symbols = false;
}

static void close_file(struct code_files *f, struct file *e)
{
	if (e->fd < 0)
		return;
	close(e->fd); /* only ever read */
	e->fd = -1;
	drop_functions(e);
	for (uint32_t i = 0; i < f->nr_open; i++) {
		if (&f->file[f->open[i]] == e) {
			f->open[i] = f->open[--f->nr_open];
			break;
		}
	}
}

void code_files_free(struct code_files *f)
{
	if (!f)
		return;
	while (f->nr_open)
		close_file(f, &f->file[f->open[0]]);
	free(f->file);
	free(f->head);
	free(f);
}

void code_files_allow(struct code_files *f, bool allowed, int64_t as_of_s)
{
	f->allowed = allowed;
	f->as_of_s = as_of_s;
}

void code_files_live(struct code_files *f)
{
	f->live = true;
}

static uint32_t *bucket(struct code_files *f, const struct code_key *k)
{
	uint64_t h = f->seed;

	h = (h ^ k->ino) * 0x9e3779b97f4a7c15u;
	h = (h ^ h >> 29 ^ ((uint64_t)k->maj << 32 | k->min)) * 0x9e3779b97f4a7c15u;
	h = (h ^ h >> 29 ^ k->ino_gen) * 0x9e3779b97f4a7c15u;
	return &f->head[h >> (64 - f->bits)];
}

static bool grow(struct code_files *f)
{
	uint32_t room = f->room ? f->room * 2 : 64;
	struct file *file = reallocarray(f->file, room, sizeof(*file));
	uint32_t *head;

	if (!file)
		return false;
	f->file = file;
	f->room = room;
	head = calloc(room, sizeof(*head)); /* room is a power of two */
	if (!head)
		return false;
	free(f->head);
	f->head = head;
	f->bits = (unsigned)__builtin_ctz(room);
	for (uint32_t i = 0; i < f->nr; i++) {
		uint32_t *b = bucket(f, &file[i].key);

		file[i].next = *b;
		*b = i + 1;
	}
	return true;
}

static struct file *lookup(struct code_files *f, const struct da_map *map)
{
	struct code_key key = {0, map->maj, map->min, map->ino, map->ino_gen};
	uint32_t *b;

	for (uint32_t i = *bucket(f, &key); i; i = f->file[i - 1].next) {
		struct file *e = &f->file[i - 1];

		if (e->key.ino == key.ino && e->key.maj == key.maj && e->key.min == key.min &&
		    e->key.ino_gen == key.ino_gen)
			return e;
	}
	if (f->nr == MAX_FILES || (f->nr == f->room && !grow(f)))
		return NULL;
	b = bucket(f, &key);
	f->file[f->nr] = (struct file){.key = key, .fd = -1, .next = *b};
	*b = f->nr + 1;
	return &f->file[f->nr++];
}

/* ---- is it that file? ---- */

static bool other_device_numbers(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return false;
	return (uint32_t)fs.f_type == FS_OVERLAY || (uint32_t)fs.f_type == FS_BTRFS;
}

static bool same_generation(int fd, uint64_t want)
{
	long gen = 0; /* the kernel writes an int on some file systems */

	if (!want || ioctl(fd, GET_VERSION, &gen) < 0)
		return true;
	return (uint32_t)gen == (uint32_t)want;
}

/* A descriptor for reading if the path names the file of the mapping and it may be used, else -1. */
static int open_if_same(const struct code_files *f, const char *path, const struct da_map *map,
			struct stat *st)
{
	char self[40];
	bool same_dev;
	int at, fd = -1;

	/* O_PATH opens without effect, whatever the path names. */
	at = open(path, O_PATH | O_CLOEXEC);
	if (at < 0)
		return -1;
	if (fstat(at, st) == 0 && S_ISREG(st->st_mode) && map->ino && st->st_ino == map->ino) {
		same_dev = major(st->st_dev) == map->maj && minor(st->st_dev) == map->min;
		snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
		if (same_dev || other_device_numbers(at))
			fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd >= 0 && same_dev && !same_generation(fd, map->ino_gen)) {
			close(fd);
			fd = -1;
		}
	}
	close(at);
	if (fd >= 0 && f->as_of_s && st->st_ctim.tv_sec > f->as_of_s) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int open_anywhere(const struct code_files *f, const struct da_map *map, uint32_t pid,
			 struct stat *st)
{
	char path[4200];
	int fd = -1;

	if (map->name[0] != '/')
		return -1;
	/* As the process sees it, in its own mount namespace; then as we do. */
	if (f->live &&
	    snprintf(path, sizeof(path), "/proc/%u/root%s", pid, map->name) < (int)sizeof(path))
		fd = open_if_same(f, path, map, st);
	if (fd < 0)
		fd = open_if_same(f, map->name, map, st);
	/* Deleted, or replaced by another file: the mapping itself (needs privilege). */
	if (fd < 0 && f->live) {
		snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", pid,
			 (unsigned long long)map->start, (unsigned long long)map->end);
		fd = open_if_same(f, path, map, st);
	}
	return fd;
}

/* ---- looking at a file, again and again ---- */

static bool changed(const struct stat *a, const struct stat *b)
{
	return a->st_size != b->st_size || a->st_mtim.tv_sec != b->st_mtim.tv_sec ||
	       a->st_mtim.tv_nsec != b->st_mtim.tv_nsec || a->st_ctim.tv_sec != b->st_ctim.tv_sec ||
	       a->st_ctim.tv_nsec != b->st_ctim.tv_nsec;
}

static void note_state(struct file *e, const struct stat *st)
{
	if (!e->version || changed(&e->st, st)) {
		e->since_ns = e->version ? e->latest_ns : 0;
		e->version++;
		drop_functions(e);
	}
	e->st = *st;
}

static void open_file(struct code_files *f, struct file *e, const struct da_map *map, uint32_t pid)
{
	struct stat st;
	uint32_t oldest = 0;
	int fd = open_anywhere(f, map, pid, &st);

	e->usable = fd >= 0;
	if (fd < 0)
		return;
	if (f->nr_open == MAX_OPEN) {
		for (uint32_t i = 1; i < f->nr_open; i++)
			if (f->file[f->open[i]].used < f->file[f->open[oldest]].used)
				oldest = i;
		close_file(f, &f->file[f->open[oldest]]);
	}
	e->fd = fd;
	f->open[f->nr_open++] = (uint32_t)(e - f->file);
	note_state(e, &st);
}

/* Opens or looks again if it is time to. Then e->usable says whether it can be read. */
static void look(struct code_files *f, struct file *e, const struct da_map *map, uint32_t pid,
		 uint64_t time_ns, bool to_read)
{
	uint64_t away = time_ns > e->looked_ns ? time_ns - e->looked_ns : e->looked_ns - time_ns;
	bool due = !e->looked || (f->live && away > CODE_RECHECK_NS);
	struct stat st;

	if (!f->allowed)
		return;
	if (due) {
		e->looked = true;
		e->looked_ns = time_ns;
		if (time_ns > e->latest_ns)
			e->latest_ns = time_ns;
		if (e->fd < 0)
			open_file(f, e, map, pid);
		else if (fstat(e->fd, &st) == 0)
			note_state(e, &st);
	} else if (to_read && e->usable && e->fd < 0) { /* was closed for another */
		open_file(f, e, map, pid);
	}
}

uint64_t code_files_object(struct code_files *f, const struct da_map *map, uint32_t pid,
			   uint64_t time_ns, uint64_t *since)
{
	struct file *e = lookup(f, map);

	*since = 0;
	if (!e)
		return 0;
	look(f, e, map, pid, time_ns, false);
	*since = e->since_ns;
	return (uint64_t)(e - f->file + 1) << 32 | e->version;
}

static struct file *ready(struct code_files *f, const struct da_map *map, uint32_t pid,
			  uint64_t time_ns)
{
	struct file *e = lookup(f, map);

	if (!e)
		return NULL;
	look(f, e, map, pid, time_ns, true);
	if (!e->usable || e->fd < 0)
		return NULL;
	e->used = ++f->tick;
	return e;
}

static size_t read_at(int fd, void *buf, size_t n, uint64_t off)
{
	size_t done = 0;

	if (off > INT64_MAX - n)
		return 0;
	while (done < n) {
		ssize_t got = pread(fd, (char *)buf + done, n - done, (off_t)(off + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

size_t code_files_read(struct code_files *f, const struct da_map *map, uint32_t pid,
		       uint64_t time_ns, uint64_t off, void *buf, size_t n)
{
	struct file *e = ready(f, map, pid, time_ns);

	return e ? read_at(e->fd, buf, n, off) : 0;
}

/* ---- functions, from the symbol tables ---- */

/* File offset of an address, by the program headers. */
static bool to_offset(const GElf_Phdr *load, size_t nr, uint64_t addr, uint64_t size, uint64_t *off)
{
	for (size_t i = 0; i < nr; i++) {
		if (addr < load[i].p_vaddr || addr - load[i].p_vaddr >= load[i].p_filesz)
			continue;
		if (size > load[i].p_filesz - (addr - load[i].p_vaddr))
			return false;
		return !__builtin_add_overflow(load[i].p_offset, addr - load[i].p_vaddr, off);
	}
	return false;
}

/* Adds the section's small functions; false: out of memory. */
static bool take_section(struct file *e, Elf_Scn *scn, const GElf_Shdr *sh, const GElf_Phdr *load,
			 size_t nr_load, size_t *room)
{
	uint64_t nr = sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;
	Elf_Data *data;
	GElf_Sym sym;
	uint64_t off;

	if (sh->sh_size > MAX_SYMTAB || sh->sh_size > (uint64_t)e->st.st_size)
		return true;
	data = elf_getdata(scn, NULL);
	for (uint64_t i = 0; data && i < nr && gelf_getsym(data, (int)i, &sym); i++) {
		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || !sym.st_size ||
		    sym.st_size > CODE_MAX_FUNCTION ||
		    !to_offset(load, nr_load, sym.st_value, sym.st_size, &off))
			continue;
		if (e->nr_fn == *room) {
			size_t more = *room ? *room * 2 : 256;
			struct function *fn = reallocarray(e->fn, more, sizeof(*fn));

			if (!fn)
				return false;
			e->fn = fn;
			*room = more;
		}
		e->fn[e->nr_fn++] = (struct function){.start = off, .size = (uint32_t)sym.st_size};
	}
	return true;
}

static size_t load_segments(Elf *elf, GElf_Phdr load[MAX_LOADS])
{
	size_t nr_phdr, nr = 0;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &nr_phdr) < 0)
		return 0;
	for (size_t i = 0; i < nr_phdr && nr < MAX_LOADS; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD)
			load[nr++] = ph;
	return nr;
}

static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->size > y->size) - (x->size < y->size);
}

/* ELF_C_READ: libelf reads, and maps nothing. */
static void load_functions(struct file *e)
{
	GElf_Phdr load[MAX_LOADS];
	size_t nr_load, room = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	Elf *elf;

	e->symbols = true;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return;
	elf = elf_begin(e->fd, ELF_C_READ, NULL);
	if (!elf)
		return;
	nr_load = elf_kind(elf) == ELF_K_ELF ? load_segments(elf, load) : 0;
	while (nr_load && (scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) &&
		    (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM) &&
		    !take_section(e, scn, &sh, load, nr_load, &room))
			break;
	elf_end(elf);
	if (e->nr_fn)
		qsort(e->fn, e->nr_fn, sizeof(*e->fn), by_start);
}

bool code_files_function(struct code_files *f, const struct da_map *map, uint32_t pid,
			 uint64_t time_ns, uint64_t off, uint64_t *start, uint64_t *end)
{
	struct file *e = ready(f, map, pid, time_ns);
	size_t lo = 0, hi, mid;

	if (!e)
		return false;
	if (!e->symbols)
		load_functions(e);
	hi = e->nr_fn;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (e->fn[mid].start <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* The last that begins at or before off; a few before it may be longer. */
	for (size_t i = lo, tries = 8; i > 0 && tries > 0; i--, tries--) {
		const struct function *fn = &e->fn[i - 1];

		if (off - fn->start < fn->size) {
			*start = fn->start;
			*end = fn->start + fn->size;
			return true;
		}
	}
	return false;
}
