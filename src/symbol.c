/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Function names from ELF symbol tables (da_symbol.h). Files are read with bounds checks, never mapped:
 * they may change or be cut while they are read, and any byte may be wrong.
 *
 * Not here: separate debug files, names of the kernel and of JIT code.
 */
#include "da_symbol.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "da_cursor.h"
#include "idmap.h"

#define MAX_FILES       1024
#define MAX_TABLE_BYTES (256u << 20) /* a larger symbol or string table is left alone */
#define MAX_SECTIONS    65536

struct function {
	uint64_t start, end; /* virtual addresses in the file */
	uint32_t name;       /* offset in names */
};

struct segment {
	uint64_t offset, vaddr, size;
};

struct file {
	char *path;
	struct segment *segment;
	size_t nr_segments;
	struct function *function; /* by start */
	size_t nr_functions, room;
	char *names; /* string table, ended by a NUL */
	size_t names_len;
};

struct da_symbols {
	struct file *file;
	size_t nr;
	struct idmap by_path; /* hash of path -> file */
	uint64_t checked;     /* id of the mapping whose file was checked last, and what came out */
	bool unchanged;
};

struct da_symbols *da_symbols_new(void)
{
	struct da_symbols *s = calloc(1, sizeof(*s));

	if (s)
		idmap_init(&s->by_path, (uintptr_t)s);
	return s;
}

static void release(struct file *f)
{
	free(f->path);
	free(f->segment);
	free(f->function);
	free(f->names);
}

void da_symbols_free(struct da_symbols *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->nr; i++)
		release(&s->file[i]);
	free(s->file);
	idmap_release(&s->by_path);
	free(s);
}

/* ---- reading ---- */

struct elf {
	int fd;
	uint64_t size;
	bool wide, swap;
};

/* n bytes at off, malloc'ed with a NUL behind; NULL if the file does not hold them. */
static uint8_t *piece(const struct elf *e, uint64_t off, uint64_t n)
{
	uint8_t *p;
	size_t got = 0;

	if (off > e->size || n > e->size - off || n > MAX_TABLE_BYTES)
		return NULL;
	p = malloc((size_t)n + 1);
	while (p && got < n) {
		ssize_t r = pread(e->fd, p + got, (size_t)n - got, (off_t)(off + got));

		if (r <= 0) {
			free(p);
			return NULL;
		}
		got += (size_t)r;
	}
	if (p)
		p[n] = '\0';
	return p;
}

static uint64_t word(const struct elf *e, struct da_cur *c)
{
	return e->wide ? da_cur_u64(c) : da_cur_u32(c);
}

struct section {
	uint32_t type, link;
	uint64_t offset, size, entry;
};

static struct section section_at(const struct elf *e, const uint8_t *table, uint64_t bytes,
				 uint64_t entsize, uint64_t i)
{
	struct da_cur c = da_cur_from(table, (size_t)bytes, e->swap);
	struct section s;

	da_cur_skip(&c, i * entsize);
	da_cur_skip(&c, 4); /* name */
	s.type = da_cur_u32(&c);
	word(e, &c); /* flags */
	word(e, &c); /* address */
	s.offset = word(e, &c);
	s.size = word(e, &c);
	s.link = da_cur_u32(&c);
	da_cur_skip(&c, 4);
	word(e, &c); /* alignment */
	s.entry = word(e, &c);
	if (!da_cur_ok(&c))
		memset(&s, 0, sizeof(s));
	return s;
}

static bool add_function(struct file *f, uint64_t start, uint64_t size, uint32_t name)
{
	if (f->nr_functions == f->room) {
		size_t room = f->room ? f->room * 2 : 256;
		struct function *g = reallocarray(f->function, room, sizeof(*g));

		if (!g)
			return false;
		f->function = g;
		f->room = room;
	}
	f->function[f->nr_functions++] = (struct function){start, start + size, name};
	return true;
}

/* One symbol table with its strings. Returns false if it gave no function. */
static bool read_symbols(const struct elf *e, struct file *f, const struct section *syms,
			 const struct section *strs)
{
	uint64_t entry = e->wide ? 24 : 16, nr = syms->size / entry, i;
	uint8_t *table = piece(e, syms->offset, syms->size),
		*names = piece(e, strs->offset, strs->size);
	struct da_cur c = da_cur_from(table, table ? (size_t)syms->size : 0, e->swap);

	if (!table || !names || syms->entry != entry) {
		free(table);
		free(names);
		return false;
	}
	for (i = 0; i < nr; i++) {
		uint32_t name = da_cur_u32(&c);
		uint64_t value, size;
		uint8_t info;
		uint16_t shndx;

		if (e->wide) {
			info = da_cur_u8(&c);
			da_cur_skip(&c, 1);
			shndx = da_cur_u16(&c);
			value = da_cur_u64(&c);
			size = da_cur_u64(&c);
		} else {
			value = da_cur_u32(&c);
			size = da_cur_u32(&c);
			info = da_cur_u8(&c);
			da_cur_skip(&c, 1);
			shndx = da_cur_u16(&c);
		}
		if ((info & 0xf) != STT_FUNC && (info & 0xf) != STT_GNU_IFUNC)
			continue;
		if (shndx == SHN_UNDEF || name >= strs->size || !names[name] ||
		    value + size < value)
			continue;
		if (!add_function(f, value, size, name))
			break;
	}
	free(table);
	f->names = (char *)names;
	f->names_len = (size_t)strs->size;
	return f->nr_functions > 0;
}

/* The full table if the file was not stripped, else the dynamic one. */
static void read_tables(const struct elf *e, struct file *f, uint64_t shoff, uint64_t entsize,
			uint64_t nr)
{
	static const uint32_t wanted[] = {SHT_SYMTAB, SHT_DYNSYM};
	uint64_t bytes = nr * entsize, i;
	uint8_t *table;
	size_t w;

	if (nr > MAX_SECTIONS || entsize < (e->wide ? 64u : 40u) || entsize > 1024)
		return;
	table = piece(e, shoff, bytes);
	for (w = 0; table && w < 2; w++) {
		for (i = 0; i < nr; i++) {
			struct section syms = section_at(e, table, bytes, entsize, i), strs;

			if (syms.type != wanted[w] || syms.link >= nr)
				continue;
			strs = section_at(e, table, bytes, entsize, syms.link);
			if (strs.type == SHT_STRTAB && read_symbols(e, f, &syms, &strs)) {
				free(table);
				return;
			}
			free(f->names);
			f->names = NULL;
			f->nr_functions = 0;
		}
	}
	free(table);
}

static void read_segments(const struct elf *e, struct file *f, uint64_t phoff, uint64_t entsize,
			  uint64_t nr)
{
	uint64_t bytes = nr * entsize, i;
	uint8_t *table =
		entsize >= (e->wide ? 56u : 32u) && entsize <= 1024 ? piece(e, phoff, bytes) : NULL;

	f->segment = table ? calloc((size_t)nr + 1, sizeof(*f->segment)) : NULL;
	for (i = 0; f->segment && i < nr; i++) {
		struct da_cur c = da_cur_from(table, (size_t)bytes, e->swap);
		struct segment s;
		uint32_t type;

		da_cur_skip(&c, i * entsize);
		type = da_cur_u32(&c);
		if (e->wide)
			da_cur_skip(&c, 4); /* flags */
		s.offset = word(e, &c);
		s.vaddr = word(e, &c);
		word(e, &c); /* physical address */
		s.size = word(e, &c);
		if (da_cur_ok(&c) && type == PT_LOAD)
			f->segment[f->nr_segments++] = s;
	}
	free(table);
}

static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end
			       ? -1
			       : 1; /* the larger first: an alias of size 0 does not hide it */
	return (x->name > y->name) - (x->name < y->name);
}

static void read_elf(struct elf *e, struct file *f)
{
	uint8_t *head = piece(e, 0, 64);
	uint64_t phoff, shoff;
	uint16_t phentsize, phnum, shentsize, shnum;
	const union {
		uint16_t v;
		uint8_t first;
	} one = {1};
	struct da_cur c;

	if (!head || memcmp(head, ELFMAG, SELFMAG) || head[EI_CLASS] < ELFCLASS32 ||
	    head[EI_CLASS] > ELFCLASS64) {
		free(head);
		return;
	}
	e->wide = head[EI_CLASS] == ELFCLASS64;
	e->swap = (head[EI_DATA] == ELFDATA2LSB) != one.first;
	c = da_cur_from(head, 64, e->swap);
	da_cur_skip(&c, EI_NIDENT + 2 + 2 + 4);
	word(e, &c); /* entry point */
	phoff = word(e, &c);
	shoff = word(e, &c);
	da_cur_skip(&c, 4 + 2); /* flags, size of this header */
	phentsize = da_cur_u16(&c);
	phnum = da_cur_u16(&c);
	shentsize = da_cur_u16(&c);
	shnum = da_cur_u16(&c);
	free(head);
	read_segments(e, f, phoff, phentsize, phnum);
	read_tables(e, f, shoff, shentsize, shnum);
	if (f->nr_functions)
		qsort(f->function, f->nr_functions, sizeof(*f->function), by_start);
}

/* ---- finding ---- */

static uint64_t hash_of(const char *path)
{
	uint64_t h = 0xcbf29ce484222325ull; /* FNV-1a */

	while (*path)
		h = (h ^ (unsigned char)*path++) * 0x100000001b3ull;
	return h;
}

/* The file, read on first use; an unreadable one is kept too, without functions. */
static struct file *file_of(struct da_symbols *s, const char *path)
{
	uint64_t key = hash_of(path);
	uint32_t at = idmap_get(&s->by_path, key, UINT32_MAX);
	struct elf e = {.fd = -1};
	struct file *grown, *f;
	struct stat st;

	if (at != UINT32_MAX)
		return strcmp(s->file[at].path, path) ? NULL : &s->file[at];
	if (s->nr == MAX_FILES)
		return NULL;
	grown = reallocarray(s->file, s->nr + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	s->file = grown;
	f = &s->file[s->nr];
	memset(f, 0, sizeof(*f));
	f->path = strdup(path);
	if (!f->path || idmap_put(&s->by_path, key, (uint32_t)s->nr)) {
		free(f->path);
		return NULL;
	}
	s->nr++;
	e.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (e.fd < 0)
		return f;
	if (!fstat(e.fd, &st) && S_ISREG(st.st_mode)) {
		e.size = (uint64_t)st.st_size;
		read_elf(&e, f);
	}
	close(e.fd);
	return f;
}

static const char *function_at(const struct file *f, uint64_t vaddr, uint64_t *offset)
{
	size_t lo = 0, hi = f->nr_functions;

	while (lo < hi) { /* the first function behind vaddr */
		size_t mid = lo + (hi - lo) / 2;

		if (f->function[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* Aliases and functions in functions: some of those before may contain it. */
	for (hi = lo; hi > 0 && lo - hi < 16; hi--) {
		const struct function *g = &f->function[hi - 1];

		if (vaddr < g->end) {
			*offset = vaddr - g->start;
			return f->names + g->name;
		}
	}
	return NULL;
}

const char *da_symbols_in_file(struct da_symbols *s, const char *path, uint64_t file_offset,
			       uint64_t *offset)
{
	const struct file *f = file_of(s, path);
	size_t i;

	for (i = 0; f && i < f->nr_segments; i++) {
		const struct segment *g = &f->segment[i];

		if (file_offset >= g->offset && file_offset - g->offset < g->size)
			return function_at(f, file_offset - g->offset + g->vaddr, offset);
	}
	return NULL;
}

const char *da_symbols_find(struct da_symbols *s, const struct da_map *map, uint64_t addr,
			    uint64_t *offset)
{
	struct stat st;

	if (addr < map->start || addr >= map->end)
		return NULL;
	if (map->id && map->id == s->checked)
		return s->unchanged ? da_symbols_in_file(s, map->name,
							 addr - map->start + map->pgoff, offset)
				    : NULL;
	s->checked = map->id;
	s->unchanged = false;
	if (map->kind != DA_MAP_FILE || !map->ino || !map->name || *map->name != '/')
		return NULL;
	if (stat(map->name, &st) || !S_ISREG(st.st_mode) || st.st_ino != map->ino ||
	    major(st.st_dev) != map->maj || minor(st.st_dev) != map->min)
		return NULL;
	s->unchanged = true;
	return da_symbols_in_file(s, map->name, addr - map->start + map->pgoff, offset);
}
