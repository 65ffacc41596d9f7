/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instruction bytes at (process, address, time), and the cache of decoded instructions.
 *
 * Sources, in this order: offline the bytes saved in the recording (DA_OWN_CODE); the mapped file, if device
 * and inode are still those of the mapping (live also through /proc/PID/map_files); live only, the process's
 * memory (JIT, deleted files), and for the vdso of a process that has ended our own; live last, what was
 * saved so far. What none of them has is "no code", never a guess. doc/registers.md section 4 has the rules.
 *
 * The cache is keyed by the code object (device, inode, generation, size and mtime of the file; or the
 * mapping id for anonymous code) and the offset in it, so it survives nothing that it must not: exec,
 * munmap, pid reuse, a file replaced on disk.
 * A struct da_code is used by one thread at a time; open one per lane over a shared da_code_store.
 */
#ifndef DA_CODE_H
#define DA_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_insn.h"
#include "da_own.h"
#include "da_task.h"

struct da_code;
struct da_code_store; /* saved code, shared, thread-safe */

/* Receives each new piece of code that the lookup had to fetch, to be saved into the recording. May be
 * called from any lane; at most once per piece, and for da_code_store_again(). */
typedef void (*da_code_save_fn)(void *ctx, const struct da_own_code *piece);

struct da_code_store *da_code_store_new(struct da_tasks *tasks, enum da_arch arch);
void da_code_store_free(struct da_code_store *s);
/* Live lookups may read the process itself and save what they find. */
void da_code_store_live(struct da_code_store *s, da_code_save_fn save, void *ctx);
/* Saves all pieces once more: the recording goes on in another file. */
void da_code_store_again(struct da_code_store *s);
/* The machine that the code is for, where it is learned after the first pieces were added. */
void da_code_store_arch(struct da_code_store *s, enum da_arch arch);
/* Adds a saved piece (copied). 0 or -DA_ENOMEM. */
int da_code_store_add(struct da_code_store *s, const struct da_own_code *piece);
/* May files on this machine be read for code? false: only saved pieces (a foreign machine's recording). */
void da_code_store_files(struct da_code_store *s, bool allowed);
/* They may, but not one that changed (ctime) after this second of the wall clock: for a recording that is older
 * than what is installed now. */
void da_code_store_files_as_of(struct da_code_store *s, int64_t seconds);

struct da_code *da_code_new(struct da_code_store *s); /* NULL: out of memory */
void da_code_free(struct da_code *c);

/* The decoded instruction of process pid at ip and time. NULL when the bytes are not available (NO_CODE).
 * The pointer is valid until the next call. abi: 1 = 32-bit task, 2 = 64-bit. */
const struct da_insn *da_code_insn(struct da_code *c, uint32_t pid, uint64_t time_ns, uint64_t ip,
				   uint8_t abi);

/* Counters, for bench and diagnose. */
struct da_code_stats {
	uint64_t lookups, hits, fetched_file, fetched_live, missing;
};
struct da_code_stats da_code_stats(const struct da_code *c);

#endif
