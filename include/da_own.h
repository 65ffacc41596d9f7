/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Our own data inside a perf.data file: records of type 65, which every perf skips
 * (tools/perf/util/session.c handles HEADER_EVENT_TYPE as deprecated; verified with perf 6.1, file and
 * pipe mode, and perf inject drops them without harm). Layout, all in the recorder's byte order:
 *
 *   perf_event_header {u32 type=65, u16 misc=0, u16 size}
 *   u32 magic DA_OWN_MAGIC, u16 kind, u16 version
 *   u32 payload bytes, u32 reserved 0
 *   payload, zero padding to 8; the record is at least 80 bytes
 *
 * JSON kinds hold UTF-8 text (shapes and parsers: da_own_json.h, facts: da_facts_json.h); a text longer than one record is continued in records of the same kind
 * with DA_OWN_MORE set in version (bit 15), last part without it.
 */
#ifndef DA_OWN_H
#define DA_OWN_H

#include <stddef.h>
#include <stdint.h>

#include "da_perfdata.h"

#define DA_OWN_MAGIC       0x444d4e41u /* "DMNA" as a number */
#define DA_OWN_VERSION     1
#define DA_OWN_MORE        0x8000u
#define DA_OWN_HDR         24 /* bytes before the payload */
#define DA_OWN_MAX_PAYLOAD 65000

enum da_own_kind {
	DA_OWN_INFO =
		1, /* JSON: tool version, options, events with producer and effective period */
	DA_OWN_LEDGER =
		2, /* JSON: one (event, cpu): {"event","cpu","state","ledger":{..}}; the last one holds */
	DA_OWN_CODE = 3, /* binary: instruction bytes, struct da_own_code */
	DA_OWN_LOSS =
		4, /* JSON: read_format LOST and counts per event and CPU, read after disabling */
	DA_OWN_END =
		5, /* JSON: written at a regular stop: reason, command status; absent in a killed file */
	DA_OWN_FACTS = 6, /* JSON: facts for diagnose at record time */
	DA_OWN_PADDR = 7, /* binary: translations walked at drain time, struct da_own_paddr */
	DA_OWN_MAP =
		9, /* binary: u64 time, then an MMAP2 record: a mapping that the kernel did not report and
			     that was there since that time */
	DA_OWN_NSPID = 11, /* binary: u32 pid, u32 its id in its own pid namespace, u64 time */
	DA_OWN_STEP = 10,  /* JSON: the period of an event changed */
	DA_OWN_TRACING =
		8 /* binary: what the TRACING_DATA feature will hold, which a killed file has not */
};

/* DA_OWN_CODE payload: fixed part, then `len` bytes of code. A file mapping is named by its file, so
 * that it serves every process that maps it; anything else by process, address and time. */
struct da_own_code {
	uint32_t pid;      /* 0 for a file mapping */
	uint32_t maj, min; /* device of the file, 0 for anonymous */
	uint64_t ino, ino_gen;
	uint64_t addr; /* file offset of the first byte, or virtual address */
	uint64_t
		time_ns; /* valid from; 0 for the first of a file, later ones where its bytes were found changed */
	uint32_t len;
	const uint8_t *bytes; /* borrowed when parsed */
};

/* DA_OWN_PADDR payload: an array of these, 32 bytes each: {u32 pid, u32 0, u64 time_ns, u64 vaddr page,
 * u64 paddr page}. The translation of that page of pid as /proc/PID/pagemap said at that time; a later one
 * replaces it, and paddr 0 says that the page was no longer there. */
struct da_own_paddr {
	uint32_t pid;
	uint64_t time_ns, vpage, ppage; /* addresses, page aligned */
};
#define DA_OWN_PADDR_BYTES 32

/* Builds one record into buf; bytes or -DA_ENOMEM. */
int da_own_build(enum da_own_kind kind, uint16_t version, const void *payload, size_t len,
		 uint8_t *buf, size_t cap);
int da_own_code_build(const struct da_own_code *c, uint8_t *buf, size_t cap);
/* Is this record ours? Then *kind, *version and the payload; 0, or -DA_EFORMAT if it is not ours,
 * -DA_EDAMAGED if it is and does not fit. */
int da_own_parse(const struct da_rec *rec, enum da_own_kind *kind, uint16_t *version,
		 const uint8_t **payload, size_t *len);
int da_own_code_parse(const uint8_t *payload, size_t len, bool swap, struct da_own_code *out);

#endif
