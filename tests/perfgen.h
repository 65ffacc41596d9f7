/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes perf.data files for tests, in either byte order and with any fault.
 *
 * It knows the format by itself and shares no code with src/: what the reader and this file agree on has
 * been written down twice. Running out of memory ends the test program.
 */
#ifndef PERFGEN_H
#define PERFGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_perfdata.h"

/* Bytes under construction; swap: in the other byte order. Zero-initialised it is empty. */
struct gen {
	uint8_t *p;
	size_t len, cap;
	bool swap;
};

void gen_free(struct gen *g);
void gen_bytes(struct gen *g, const void *p, size_t n);
void gen_fill(struct gen *g, uint8_t byte, size_t n);
void gen_u16(struct gen *g, uint16_t v);
void gen_u32(struct gen *g, uint32_t v);
void gen_u64(struct gen *g, uint64_t v);
/* Overwrites what is there. */
void gen_set_u16(struct gen *g, size_t at, uint16_t v);
void gen_set_u64(struct gen *g, size_t at, uint64_t v);
/* String, NUL, zeros up to a multiple of `pad`. */
void gen_padded(struct gen *g, const char *s, size_t pad);

/* A record: begin, add the body, end sets its size. */
size_t gen_rec(struct gen *g, uint32_t type, uint16_t misc);
void gen_end(struct gen *g, size_t rec);

void gen_attr(struct gen *g, const struct da_attr *a, size_t size);
/* The fields of a sample in the kernel's order, without header. Values come from s, in this machine's
 * byte order (regs vals, callchain, branches, read: arrays of u64). */
void gen_sample_body(struct gen *g, const struct da_attr *a, const struct da_samp *s);
/* The sample_id trailer, if the attr has one. */
void gen_trailer(struct gen *g, const struct da_attr *a, uint32_t pid, uint32_t tid, uint64_t time,
		 uint64_t id, uint32_t cpu);
/* Whole records. */
void gen_sample(struct gen *g, const struct da_attr *a, const struct da_samp *s);
void gen_comm(struct gen *g, const struct da_attr *a, const char *comm, uint32_t pid, uint64_t time,
	      uint64_t id);
void gen_round(struct gen *g);
void gen_auxtrace(struct gen *g, const void *payload, size_t n, uint64_t claimed, uint64_t offset);

/* ---- files ---- */

#define GEN_EVENTS_MAX 8

struct gen_event {
	struct da_attr attr;
	const char *name; /* for EVENT_DESC and EVENT_UPDATE; NULL: none */
	uint64_t ids[4];
	size_t nr_ids;
};

struct gen_file {
	struct gen_event ev[GEN_EVENTS_MAX];
	size_t nr_ev;
	size_t attr_size;        /* 0: 128 */
	struct gen data;         /* records; data.swap is the file's */
	struct gen feature[256]; /* empty: not there, unless forced */
	bool forced[256];
	bool v1;          /* "PERFFILE" */
	bool header72;    /* old header without feature bits */
	bool attrs_last;  /* attrs and ids behind the data */
	bool words32;     /* feature bits in words of 32 bits */
	bool unfinished;  /* data.size 0 */
	uint64_t patched; /* not 0: data.size says only so much, and no feature bits are set */
};

void gen_file_free(struct gen_file *f);
/* Standard features with known values. */
void gen_features(struct gen_file *f);
/* The file's bytes into out, which must be empty. Returns the offset of the data. */
size_t gen_file_build(const struct gen_file *f, struct gen *out);
/* The same recording as a pipe would carry it. */
void gen_pipe_build(const struct gen_file *f, struct gen *out);
/* A file with these bytes below TMPDIR; free() the path, the file is removed by gen_unlink(). */
char *gen_write(const void *p, size_t n);
void gen_unlink(char *path);

#endif
