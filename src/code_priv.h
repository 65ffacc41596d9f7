/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private to src/code*.c: where instruction bytes come from. code_pieces.c keeps those that a recording
 * holds, code_file.c reads the mapped files, code_vdso.c the kernel's; code.c chooses between them and the process,
 * and caches.
 */
#ifndef DA_CODE_PRIV_H
#define DA_CODE_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_code.h"
#include "da_insn.h"
#include "da_own.h"
#include "da_task.h"

/* ---- saved pieces (no locking inside) ---- */

/* Whose code: a file (pid 0), or a process's memory (maj, min, ino, ino_gen 0). */
struct code_key {
	uint32_t pid, maj, min;
	uint64_t ino, ino_gen;
};

struct code_pieces;

struct code_pieces *code_pieces_new(void); /* NULL: out of memory */
void code_pieces_free(struct code_pieces *p);

/* Adds a copy. 1: added; 0: known already, or over the limits (32 MiB in all, 256 pieces in a page of
 * one object: more is no recording of ours); -DA_ENOMEM. */
int code_pieces_add(struct code_pieces *p, const struct da_own_code *piece);

/* All that were added, in their order. */
void code_pieces_each(const struct code_pieces *p, da_code_save_fn fn, void *ctx);

struct code_found {
	uint8_t bytes[DA_INSN_MAX_BYTES];
	size_t n;          /* bytes known from addr on; 0: none */
	uint64_t from, to; /* times [from, to) for which this is the answer */
};

/* The newest bytes at addr among the pieces valid from a time in [since, time]. */
struct code_found code_pieces_find(const struct code_pieces *p, const struct code_key *key,
				   uint64_t addr, uint64_t since, uint64_t time_ns);

/* ---- mapped files (no locking inside) ---- */

struct code_files;

struct code_files *code_files_new(void); /* NULL: out of memory */
void code_files_free(struct code_files *f);

/* Which files may be read: none at all; those that did not change after `as_of` seconds of the wall clock
 * (0: any); a live process's also through /proc/PID. */
void code_files_allow(struct code_files *f, bool allowed, int64_t as_of_s);
void code_files_live(struct code_files *f);

/* A number for the file of a mapping as it is now: another file, or the same one after it was written to,
 * has another number. *since: the time from which on it is known to be like this, 0 if it was never seen
 * otherwise. Looks at the file again when time_ns is more than CODE_RECHECK_NS away from the last look
 * (live only). 0: too many files. */
uint64_t code_files_object(struct code_files *f, const struct da_map *map, uint32_t pid,
			   uint64_t time_ns, uint64_t *since);

/* Up to n bytes at a file offset; 0: the file cannot be had, or is not that of the mapping. */
size_t code_files_read(struct code_files *f, const struct da_map *map, uint32_t pid,
		       uint64_t time_ns, uint64_t off, void *buf, size_t n);

/* Bounds, as file offsets, of the function of at most CODE_MAX_FUNCTION bytes that contains off; false:
 * not known. */
bool code_files_function(struct code_files *f, const struct da_map *map, uint32_t pid,
			 uint64_t time_ns, uint64_t off, uint64_t *start, uint64_t *end);

/* ---- the vdso ---- */

/* Up to n bytes at addr of a vdso mapping of this kernel, from our own; 0: not the same image. */
size_t code_vdso_read(const struct da_map *map, uint64_t addr, void *buf, size_t n);

#define CODE_RECHECK_NS   10000000ULL /* of the samples' clock */
#define CODE_MAX_FUNCTION 4096
#define CODE_WINDOW       256 /* bytes saved around an instruction whose function is not known */

#endif
