/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of functions: the symbol tables of mapped ELF files, read on first use and kept.
 *
 * A file is used only if it is still the one that was mapped (device and inode as recorded); otherwise
 * there is no name rather than a wrong one. One thread at a time.
 */
#ifndef DA_SYMBOL_H
#define DA_SYMBOL_H

#include <stdint.h>

#include "da_task.h"

struct da_symbols;

struct da_symbols *da_symbols_new(void); /* NULL: out of memory */
void da_symbols_free(struct da_symbols *s);
/* The function that contains addr in a mapping of the recording, and the offset in it. NULL: unknown.
 * Lives until da_symbols_free(). */
const char *da_symbols_find(struct da_symbols *s, const struct da_map *map, uint64_t addr,
			    uint64_t *offset);

/* For a file whose identity the caller has checked: the function at a file offset. */
const char *da_symbols_in_file(struct da_symbols *s, const char *path, uint64_t file_offset,
			       uint64_t *offset);

#endif
