/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private to the Arm SPE decoder and its tests: packets (spe_pkt.c), the data-source encodings
 * (spe_source.c), the cache of record layouts (spe_layout.c) and records (spe.c).
 * Payloads are little-endian whatever machine recorded them or reads them.
 */
#ifndef DA_SPE_H
#define DA_SPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "da_decoder.h"

/* ---- packets ---- */

enum da_spe_kind {
	DA_SPE_BAD,       /* byte 0 begins no packet */
	DA_SPE_NEED_MORE, /* the packet goes on after the window */
	DA_SPE_PAD,
	DA_SPE_ALIGN, /* padding too; its length depends on its position */
	DA_SPE_END,
	DA_SPE_TIMESTAMP,
	DA_SPE_EVENTS,
	DA_SPE_SOURCE,
	DA_SPE_CONTEXT,
	DA_SPE_OP,
	DA_SPE_ADDRESS,
	DA_SPE_COUNTER,
	DA_SPE_KIND_NR
};

struct da_spe_packet {
	uint8_t kind;  /* enum da_spe_kind */
	uint8_t index; /* address, counter and context number; op class */
	uint8_t head;  /* header bytes: 1 or 2 */
	uint8_t len;   /* all bytes, skipped ones of ALIGN included; BAD: 1; NEED_MORE: 0 */
	uint64_t payload;
};

/* The packet at p, of which n > 0 bytes are there. pos: stream position of p[0], for ALIGN. */
void da_spe_packet(const uint8_t *p, size_t n, uint64_t pos, struct da_spe_packet *out);

static inline bool da_spe_ends_record(uint8_t kind)
{
	return kind == DA_SPE_END || kind == DA_SPE_TIMESTAMP;
}

static inline uint64_t da_spe_le64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

/* ---- records ---- */

enum da_spe_has {
	DA_SPE_HAS_PC = 1 << 0,
	DA_SPE_HAS_TARGET = 1 << 1,
	DA_SPE_HAS_VA = 1 << 2,
	DA_SPE_HAS_PA = 1 << 3,
	DA_SPE_HAS_PREVIOUS = 1 << 4,
	DA_SPE_HAS_TOTAL = 1 << 5,
	DA_SPE_HAS_ISSUE = 1 << 6,
	DA_SPE_HAS_XLAT = 1 << 7,
	DA_SPE_HAS_CONTEXT = 1 << 8,
	DA_SPE_HAS_OP = 1 << 9,
	DA_SPE_HAS_EVENTS = 1 << 10,
	DA_SPE_HAS_SOURCE = 1 << 11,
	DA_SPE_HAS_TIMESTAMP = 1 << 12
};

/* What an operation type packet says about memory; several packets of a record accumulate. */
enum da_spe_op {
	DA_SPE_OP_LOAD = 1 << 0,   /* load or swap that accesses data */
	DA_SPE_OP_STORE = 1 << 1,  /* store that accesses data */
	DA_SPE_OP_ATOMIC = 1 << 2, /* with LOAD or STORE: both reads and writes */
	DA_SPE_OP_TAGS = 1 << 3,   /* MTE tag load or store: touches no data */
	DA_SPE_OP_OTHER = 1 << 4,  /* neither load, store nor branch */
	DA_SPE_OP_VECTOR = 1 << 5, /* SVE or SME data processing */
	DA_SPE_OP_BRANCH = 1 << 6,
	DA_SPE_OP_RESERVED = 1 << 7 /* class 3 */
};

#define DA_SPE_OP_DATA (DA_SPE_OP_LOAD | DA_SPE_OP_STORE)

struct da_spe_record {
	uint16_t has;          /* enum da_spe_has: which fields below were in the record */
	bool open;             /* packets were seen, the terminator not yet */
	uint8_t ops;           /* enum da_spe_op of all operation packets */
	uint8_t op_class, op;  /* last operation packet */
	uint8_t context_index; /* 0 EL1, 1 EL2 */
	uint8_t reserved;      /* packets without a meaning, saturating */
	uint16_t source, total, issue, xlat;
	uint32_t context;
	/* payloads as they were; da_spe_pc() and da_spe_va() make addresses of them */
	uint64_t pc, target, va, pa, previous, events, timestamp;
};

enum da_spe_walk { DA_SPE_WALK_RECORD, DA_SPE_WALK_MORE, DA_SPE_WALK_EMPTY, DA_SPE_WALK_BAD };

/*
 * Takes one record from the front of p[0..n), n > 0. *r is zeroed, or an open record of an earlier call
 * that is continued. *start: first byte of the record, behind leading padding. *end: RECORD: behind its
 * terminator; MORE: behind its last complete packet; EMPTY: behind the padding; BAD: at the bad byte.
 */
enum da_spe_walk da_spe_walk(const uint8_t *p, size_t n, uint64_t pos, struct da_spe_record *r,
			     size_t *start, size_t *end);

/* enum da_spe_op bits of an operation packet. */
uint8_t da_spe_op_bits(uint8_t op_class, uint8_t v);

/* Virtual address of an instruction (address packets 0, 1, 4): the top byte holds NS and EL; the address of a
 * non-secure EL1 or EL2 instruction is a kernel one. As perf does it. */
static inline uint64_t da_spe_pc(uint64_t payload)
{
	uint64_t kernel = payload >> 63 & ((payload >> 61 ^ payload >> 62) & 1);

	return (payload & 0x00ffffffffffffff) | (0 - kernel) << 56;
}

/* enum da_ctx of an instruction address packet. With VHE the kernel runs at EL2, without at EL1; EL3 is
 * firmware. */
static inline uint8_t da_spe_ctx(uint64_t payload)
{
	const unsigned by_el =
		DA_CTX_USER | DA_CTX_KERNEL << 4 | DA_CTX_KERNEL << 8 | DA_CTX_UNKNOWN << 12;

	return (uint8_t)(by_el >> (payload >> 61 & 3) * 4 & 0xf);
}

/* Data virtual address (packet 2): the top byte is a tag, or the sign was lost; a kernel address has bits
 * 55:52 set, so that adding to them carries. As perf does it. */
static inline uint64_t da_spe_va(uint64_t payload)
{
	uint64_t kernel = ((payload + ((uint64_t)1 << 52)) ^ payload) >> 56 & 1;

	return (payload & 0x00ffffffffffffff) | (0 - kernel) << 56;
}

static inline uint64_t da_spe_pa(uint64_t payload)
{
	return payload & 0x00ffffffffffffff;
}

/* ---- data source ---- */

enum da_spe_cpu {
	DA_SPE_CPU_GENERIC,
	DA_SPE_CPU_COMMON,
	DA_SPE_CPU_AMPEREONE,
	DA_SPE_CPU_HIP,
	DA_SPE_CPU_NR
};

#define DA_SPE_SOURCES 32 /* encodings in use are smaller */

/* perf_mem_data_src bits: by data-source payload, the last entry for none; without a source encoding by hit
 * and miss events; by TLB events. */
extern const uint64_t da_spe_by_source[DA_SPE_CPU_NR][DA_SPE_SOURCES + 1];
extern const uint64_t da_spe_by_event[32];
extern const uint64_t da_spe_by_tlb[4];

enum da_spe_cpu da_spe_cpu(uint64_t midr);
/* The part that follows from the operation. */
uint64_t da_spe_op_source(enum da_spe_cpu cpu, uint8_t ops);
/* Does the data-source packet of such an operation say anything? */
bool da_spe_uses_source(enum da_spe_cpu cpu, uint8_t ops);

/* The part that depends on payloads. source: DA_SPE_SOURCES if there is none to be used. */
static inline uint64_t da_spe_level(enum da_spe_cpu cpu, unsigned source, uint64_t events)
{
	uint64_t tlb = da_spe_by_tlb[events >> 4 & 3];

	if (cpu == DA_SPE_CPU_GENERIC)
		return tlb | da_spe_by_event[(events >> 2 & 3) | (events >> 6 & 0x1c)];
	return tlb | da_spe_by_source[cpu][source < DA_SPE_SOURCES ? source : DA_SPE_SOURCES];
}

/* ---- output ---- */

#define DA_SPE_BATCH 64

struct da_spe_out {
	const struct da_sink *sink;
	struct da_decode_stats *stats;
	struct da_report base; /* what each report begins with */
	enum da_spe_cpu cpu;
	bool ready; /* batch and layouts are set up for the base */
	size_t nr;
	uint64_t dropped[DA_DROP_NR + 1];     /* [DA_DROP_NR]: not dropped */
	struct da_report batch[DA_SPE_BATCH]; /* what no record changes is set already */
};

/* Gives the reports of the batch to the sink. */
void da_spe_flush(struct da_spe_out *o);

/* The has bits of a record's report; payload values do not matter. */
uint32_t da_spe_report_has(const struct da_spe_record *r);
/* DA_DROP_NR if the record gives a report, else why not. */
enum da_drop da_spe_drop(const struct da_spe_record *r);
uint8_t da_spe_rw(uint8_t ops); /* enum da_op bits */

/* ---- layouts ---- */

/*
 * Which bytes of a record are headers depends on its header bytes alone. A layout is the headers of one
 * record with their positions (and its operation payloads, which decide about the report); a record whose
 * bytes at these positions are equal has the same fields at the same places, so it needs no walk.
 *
 * Layouts are found by a decision tree. A node looks at a few bytes that are header bytes in all layouts
 * below it, all at once, since each look costs the time of some loads. Whatever the tree says is checked by
 * the comparison of all header bytes.
 */
#define DA_SPE_LAYOUTS    64
#define DA_SPE_LAYOUT_MAX 128                      /* longest record that is cached */
#define DA_SPE_MARGIN     (DA_SPE_LAYOUT_MAX + 16) /* bytes that must be there to try a layout */

/* A field of a layout: its payload is le64(record + off) & mask; absent: mask 0. */
struct da_spe_field {
	uint64_t mask;
	uint8_t off;
};

struct da_spe_layout {
	uint8_t len;  /* of the record */
	uint8_t drop; /* DA_DROP_NR: gives a report */
	uint8_t step; /* to the next report: its size, or 0 where the record gives none */
	uint8_t op;   /* enum da_op bits */
	uint8_t ctx;  /* mask for the execution context */
	uint8_t paddr_how;
	uint8_t reserved;
	uint8_t source_none; /* DA_SPE_SOURCES where there is no source to be used, else 0 */
	uint32_t has;
	/* what da_spe_prepare() derives from that and the caller's base */
	uint32_t base_has, base_pid, base_tid;
	uint64_t base_time;
	uint64_t data_src; /* the part that no payload changes */
	uint64_t levels;   /* mask for the part that payloads change */
	struct da_spe_field pc, va, pa, context, timestamp, events, source, total;
	uint8_t mask[DA_SPE_LAYOUT_MAX]; /* 0xff: a header byte, and val is its value */
	uint8_t val[DA_SPE_LAYOUT_MAX];
};

/* Tree links: 0 nothing, else node number, or DA_SPE_LEAF | layout number. */
#define DA_SPE_LEAF  0x80u
#define DA_SPE_LOOKS 4

struct da_spe_node {
	uint8_t at[DA_SPE_LOOKS]; /* bytes of the record to look at */
	uint32_t mult;            /* the top byte of this times those is the index of the way on */
};

struct da_spe_layouts {
	uint8_t nr;        /* layouts */
	uint8_t depth;     /* most nodes on a way from the root to a leaf */
	uint8_t nr_nodes;  /* nodes 1 (the root) .. nr_nodes are in use */
	uint8_t cpu;       /* enum da_spe_cpu that they were made for */
	uint16_t missed;   /* records that found no room since the cache is full */
	uint16_t patience; /* how many may, before it is emptied */
	struct da_spe_node node[DA_SPE_LAYOUTS];
	uint8_t next[DA_SPE_LAYOUTS][256];
	struct da_spe_layout layout[DA_SPE_LAYOUTS];
};

static inline uint32_t da_spe_looks(const struct da_spe_node *n, const uint8_t *p)
{
	return p[n->at[0]] | (uint32_t)p[n->at[1]] << 8 | (uint32_t)p[n->at[2]] << 16 |
	       (uint32_t)p[n->at[3]] << 24;
}

static inline uint8_t da_spe_way(const struct da_spe_node *n, uint32_t looks)
{
	return (uint8_t)(looks * n->mult >> 24);
}

/* To be called before da_spe_fast() with another base. */
void da_spe_prepare(struct da_spe_layouts *c, const struct da_report *base);
/* Decodes records from the front of p[0..n) as long as their layouts are known; returns the bytes taken. */
size_t da_spe_fast(const struct da_spe_layouts *c, const uint8_t *p, size_t n,
		   struct da_spe_out *o);
/* Remembers the layout of the record p[0..len), which the walk has found to be r. */
void da_spe_learn(struct da_spe_layouts *c, const uint8_t *p, size_t len,
		  const struct da_spe_record *r, const struct da_spe_out *o);
/* Empties the cache; its layouts are to be those of such a CPU from now on. */
void da_spe_forget(struct da_spe_layouts *c, enum da_spe_cpu cpu);

/* ---- state ---- */

struct da_spe_state {
	struct da_spe_record rec; /* open record of which bytes were consumed already */
	bool kept;                /* the last call left an open record with the caller */
	bool resync;              /* skipping to the next terminator */
	bool walk_only;           /* tests and benches: no layouts */
	struct da_spe_layouts layouts;
};

size_t da_spe_decode(void *state, const struct da_input *in, const struct da_sink *sink,
		     struct da_decode_stats *stats);
bool da_spe_idle(const void *state);

#endif
