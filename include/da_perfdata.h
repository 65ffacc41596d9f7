/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf.data: attributes, one record's fields both ways, the reader and the writer.
 *
 * Format: doc/perf-data.7 (linux tools/perf/Documentation/perf.data-file-format.txt, uapi
 * linux/perf_event.h, kernel/events/core.c perf_output_sample() for the order of sample fields).
 */
#ifndef DA_PERFDATA_H
#define DA_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_abi.h"
#include "da_error.h"
#include "da_insn.h"

/* perf_event_attr in this machine's byte order; fields that the file's attr.size does not reach are 0. */
struct da_attr {
	uint32_t type; /* enum da_pmu_type or a dynamic PMU number */
	uint32_t size; /* bytes in the file, 64 or more */
	uint64_t config;
	uint64_t sample_period; /* or frequency in Hz when flags has DA_ATTR_FREQ */
	uint64_t sample_type, read_format;
	uint64_t flags;         /* DA_ATTR_ bits */
	uint32_t wakeup_events; /* or watermark, bytes */
	uint32_t bp_type;
	uint64_t config1; /* or bp_addr */
	uint64_t config2; /* or bp_len */
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack;
	uint32_t aux_sample_size;
	uint32_t aux_action;
	uint64_t sig_data, config3, config4;
};

/* One event of a recording. */
struct da_event {
	struct da_attr attr;
	char *name;          /* "cpu-clock:u"; never NULL in an opened file */
	const uint64_t *ids; /* nr_ids kernel ids */
	size_t nr_ids;
	uint32_t index; /* position in the recording: da_report.event */
};

/* Parses an attr of `size` bytes (>= 64) at p; extra bytes are ignored. -DA_EDAMAGED if size < 64. */
int da_attr_parse(const uint8_t *p, size_t size, bool swap, struct da_attr *out);
/* Writes attr as `size` bytes (64..144) in this machine's byte order. */
void da_attr_build(const struct da_attr *a, size_t size, uint8_t *out);
/* A name for an attr where the file gives none: "cpu-clock:u", "page-faults", "raw 0x1cd". */
void da_attr_name(const struct da_attr *a, char *buf, size_t size);

#define DA_PAYLOAD_PIECE (2u << 20) /* multiple of 8 */

/* One record as the reader lends it. */
struct da_rec {
	uint32_t type;
	uint16_t misc;
	uint32_t size; /* bytes, header included (COMPRESSED2 may exceed 65535) */
	const uint8_t *
		bytes; /* the whole record, header included; valid until the next da_reader_next() */
	uint64_t
		offset; /* file offset for messages (of the compressed record if it came from one) */
	bool swap;
	const struct da_event *event; /* by id; NULL for records without an event */
	/* AUXTRACE, TRACING_DATA: bytes that follow the record outside `size`. A payload can be larger than
	 * memory, so it comes in pieces: the same record is returned again and again, each time with the
	 * next piece, contiguous and in order; the last one has payload_offset + payload_size ==
	 * payload_total. Where the file is cut the pieces stop early. An empty payload is one record with
	 * payload_size 0. Other records: NULL and 0. */
	const uint8_t *payload;  /* this piece; valid as long as bytes */
	uint64_t payload_size;   /* bytes of this piece, at most DA_PAYLOAD_PIECE */
	uint64_t payload_offset; /* position of this piece in the payload */
	uint64_t payload_total;  /* bytes of the whole payload as the record says */
	/* Where the payload is, for da_reader_payload(). payload_avail: what the file has of it. */
	uint64_t payload_at, payload_avail;
	uint32_t payload_input;
	/* sample_id or the sample's own fields */
	uint64_t has; /* DA_SAMPLE_TID|TIME|ID|CPU bits that are valid below */
	uint64_t time_ns, id;
	uint32_t pid, tid, cpu;
};

/* Fields of one PERF_RECORD_SAMPLE. Pointers borrow from the record. A field is valid when its
 * DA_SAMPLE_ bit is in mask. */
struct da_samp {
	uint64_t mask;
	uint64_t ip, time_ns, addr, id, stream_id, period, weight, data_src, transaction, phys_addr;
	uint64_t cgroup, data_page_size, code_page_size;
	uint32_t pid, tid, cpu;
	const uint8_t *callchain; /* nr_callchain u64, file byte order */
	uint64_t nr_callchain;
	const uint8_t *raw;
	uint32_t raw_size;
	const uint8_t *branches; /* nr_branches * 24 bytes */
	uint64_t nr_branches, hw_idx;
	const uint8_t *branch_counters;      /* nr_branches u64, or NULL */
	struct da_regs regs_user, regs_intr; /* abi 0: none; arch and phase are left 0 */
	const uint8_t *stack;
	uint64_t stack_size, stack_dyn_size;
	const uint8_t *read; /* read_format block, file byte order */
	size_t read_size;
	const uint8_t *aux;
	uint64_t aux_size;
};

/* Parses the body of a SAMPLE record of `size` bytes (header included). -DA_EDAMAGED when a field does
 * not fit; then *out holds what preceded it. Trailing bytes are allowed. */
int da_samp_parse(const struct da_attr *a, const uint8_t *rec, size_t size, bool swap,
		  struct da_samp *out);
/* Builds the record (native byte order) from the fields; 0 < size <= cap, or -DA_ENOMEM if it does not
 * fit in cap or 65535 bytes. */
int da_samp_build(const struct da_attr *a, uint16_t misc, const struct da_samp *s, uint8_t *buf,
		  size_t cap);
/* The sample_id trailer of a non-sample kernel record: fills has/time/id/pid/tid/cpu of *rec. */
int da_sample_id_parse(const struct da_attr *a, struct da_rec *rec);
#define DA_SAMPLE_ID_MAX 48 /* bytes of the longest trailer */
/* Appends a sample_id trailer (at most DA_SAMPLE_ID_MAX bytes); returns its bytes. */
size_t da_sample_id_build(const struct da_attr *a, uint32_t pid, uint32_t tid, uint64_t time_ns,
			  uint64_t id, uint32_t cpu, uint8_t *buf);

/* Bodies of sideband records. Strings borrow from the record and are NUL-terminated inside it. */
struct da_rec_mmap {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_gen; /* valid when has_ino */
	uint32_t prot, flags;  /* valid when has_prot */
	bool has_ino, has_prot, has_build_id;
	uint8_t build_id[20];
	uint8_t build_id_size;
	const char *filename;
};
struct da_rec_comm {
	uint32_t pid, tid;
	const char *comm;
	bool exec;
};
struct da_rec_task {
	uint32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
};
struct da_rec_lost {
	uint64_t id, lost;
};
struct da_rec_aux {
	uint64_t offset, size, flags;
};
struct da_rec_throttle {
	uint64_t time_ns, id, stream_id;
};
/* Each returns 0 or -DA_EDAMAGED. rec->type must be one that the name says. */
int da_rec_mmap_parse(const struct da_rec *rec, struct da_rec_mmap *out); /* MMAP and MMAP2 */
int da_rec_comm_parse(const struct da_rec *rec, struct da_rec_comm *out);
int da_rec_task_parse(const struct da_rec *rec, struct da_rec_task *out); /* FORK and EXIT */
int da_rec_lost_parse(const struct da_rec *rec,
		      struct da_rec_lost *out); /* LOST; LOST_SAMPLES: id 0 */
int da_rec_aux_parse(const struct da_rec *rec, struct da_rec_aux *out);
int da_rec_throttle_parse(const struct da_rec *rec, struct da_rec_throttle *out);
/* Builds an MMAP2 record with trailer (native byte order) for a mapping found in /proc; bytes or
 * -DA_ENOMEM. */
int da_rec_mmap2_build(const struct da_attr *a, uint16_t misc, const struct da_rec_mmap *m,
		       uint64_t time_ns, uint64_t id, uint32_t cpu, uint8_t *buf, size_t cap);
int da_rec_comm_build(const struct da_attr *a, const struct da_rec_comm *c, uint64_t time_ns,
		      uint64_t id, uint32_t cpu, uint8_t *buf, size_t cap);

/* ---- reader ---- */

enum da_file_mode { DA_FILE_NORMAL, DA_FILE_PIPE, DA_FILE_DIRECTORY, DA_FILE_RAW };

struct da_file_info {
	const char *path;
	uint64_t bytes;
	enum da_file_mode mode;
	bool swapped;                /* other byte order than this machine */
	bool finalised;              /* data.size and features were written */
	bool damaged;                /* something could not be read; messages say what */
	const char *const *messages; /* nr_messages lines, bounded in number */
	size_t nr_messages;
	uint64_t damaged_records, unknown_records, skipped_bytes, late_records;
	uint64_t unknown_ids; /* samples whose id matches no event */
	/* features; NULL or 0 when absent */
	const char *hostname, *osrelease, *version, *arch, *cpudesc, *cpuid;
	uint32_t nr_cpus_online, nr_cpus_avail;
	uint64_t total_mem_kib;
	const char *const *cmdline;
	size_t nr_cmdline;
	uint64_t sample_time_first_ns, sample_time_last_ns;
	uint64_t clockid_res_ns;
};

struct da_reader;

/* Opens a file, a directory, or "-" (standard input). On success *out is to be closed by the caller.
 * Refusals: -DA_ENOENT / -DA_EIO (system), -DA_EFORMAT (not perf.data, no readable attr). */
int da_reader_open(struct da_reader **out, const char *path, struct da_error *err);
/* Opens bytes without a container, which are to be an AUX trace of one event of no task and no CPU: a few
 * AUXTRACE records, whose payloads are not read (da_reader_leave_payloads()). */
int da_reader_open_raw(struct da_reader **out, const char *path, const struct da_attr *a,
		       const char *name, struct da_error *err);
void da_reader_close(struct da_reader *r); /* NULL allowed */
const struct da_file_info *da_reader_info(const struct da_reader *r);
size_t da_reader_nr_events(const struct da_reader *r);
const struct da_event *da_reader_event(const struct da_reader *r, size_t i);
/* PMU name of an attr.type by the PMU_MAPPINGS feature; NULL if unknown. */
const char *da_reader_pmu_name(const struct da_reader *r, uint32_t type);
/* Bytes of a feature section (borrowed until close); NULL if absent. */
const uint8_t *da_reader_feature(const struct da_reader *r, unsigned bit, size_t *size);
enum da_arch da_reader_arch(const struct da_reader *r);

/* The next record in time order. 1: *rec filled; 0: end; negative: the input cannot be read further (also a
 * damaged input ends with 0 after what could be read; info->damaged then says so).
 *
 * Records without a time (time 0 or none): AUXTRACE comes after the records that precede it in the file;
 * every other at once, before records that still wait to be sorted. Order is that of FINISHED_ROUND within a
 * window of bounded size; a record that comes too late for it is given all the same, and counted
 * (info->late_records). COMPRESSED records are unfolded, unknown types skipped. */
int da_reader_next(struct da_reader *r, struct da_rec *rec, struct da_error *err);

/* The same in bulk, instead of da_reader_next(): batches of records, each a whole that somebody may work on
 * while the next one is read. What is in a batch, and in which order, does not depend on that. */
struct da_batch;
#define DA_BATCHES 64 /* so many may be taken at a time */

/* A sample of a known event; alive until its batch is returned. */
struct da_sample_at {
	const uint8_t *bytes; /* of the record; as many as its header says are there */
	uint64_t time_ns;
	uint32_t event; /* index */
	uint32_t place; /* the reader's */
};

/* 1: *out is the next batch, to be returned; 0: the end; negative: as da_reader_next(). */
int da_reader_batch(struct da_reader *r, struct da_batch **out, struct da_error *err);
void da_reader_return(struct da_reader *r, struct da_batch *b); /* NULL allowed */
/* Bytes of memory that the batches which are taken keep. */
size_t da_reader_lent(const struct da_reader *r);
/* From now on, before the first record: samples of a batch that lie within span_ns of each other may come in
 * another order, those of a CPU together; before and behind each other record come those that would anyway. A
 * batch ends just before a multiple of align_ns, unless the window is full. */
void da_reader_loose(struct da_reader *r, uint64_t span_ns, uint64_t align_ns);

/* How many records a batch has: without a time, which come first; samples of known events; others. */
struct da_batch_size {
	size_t first, samples, others;
};

struct da_batch_size da_batch_size(const struct da_batch *b);
/* Takes the next record of a batch, payloads left where they are; false: it had no more. The functions of a
 * batch may be called while other threads call the reader's, but by one thread at a time. */
bool da_batch_next(const struct da_reader *r, struct da_batch *b, struct da_rec *rec);
/* Takes the samples of known events that come next in a batch, at most max. 0: another record comes, or none. */
size_t da_batch_samples(const struct da_reader *r, struct da_batch *b, struct da_sample_at *out,
			size_t max);
/* One of them as a record. */
void da_sample_rec(const struct da_reader *r, const struct da_sample_at *s, struct da_rec *rec);

/* From now on payloads are not read: a record with one comes once, with payload NULL and payload_size 0. */
void da_reader_leave_payloads(struct da_reader *r);
/* Reads n bytes at payload_at + something below payload_avail of a record that da_reader_next() gave, also
 * long after it. Threads may call it at the same time, while no other function of the reader runs. */
int da_reader_payload(const struct da_reader *r, uint32_t payload_input, uint64_t at, void *buf,
		      size_t n, struct da_error *err);
/* Walks all records in file order, unsorted, without changing the position of da_reader_next(): for our
 * own type 65 records, which must be known before the samples that they explain. Only records whose type
 * is `type` are given to fn (0: all). fn returns 0 to go on; another value ends the walk and is returned.
 * Nothing is counted in da_file_info. Works for every input: what came through a pipe lies in a file. */
int da_reader_scan(struct da_reader *r, uint32_t type,
		   int (*fn)(void *ctx, const struct da_rec *rec), void *ctx, struct da_error *err);

/* ---- writer ---- */

struct da_writer;

struct da_writer_event {
	struct da_attr attr;
	const char *name;
	const uint64_t *ids;
	size_t nr_ids;
};

/* Creates the file (mode 0600; an existing regular file is renamed to PATH.old) or uses standard output
 * for "-" (pipe mode). Events and ids are written at once, so that a killed recording can be read. */
int da_writer_open(struct da_writer **out, const char *path, const struct da_writer_event *ev,
		   size_t nr, struct da_error *err);
bool da_writer_is_pipe(const struct da_writer *w);
/* Appends whole records; thread-safe, one append is never mixed with another. *offset (may be NULL)
 * receives the file offset. */
int da_writer_append(struct da_writer *w, const void *bytes, size_t len, uint64_t *offset,
		     struct da_error *err);
/* Reads back bytes that were appended (not in pipe mode). */
int da_writer_read_back(struct da_writer *w, uint64_t offset, void *buf, size_t len,
			struct da_error *err);
/* Patches data.size so that perf opens the file even if we are killed next. */
int da_writer_sync(struct da_writer *w, struct da_error *err);
/* Adds a feature section body (copied), written at close (pipe mode: at once, as HEADER_FEATURE
 * or TRACING_DATA). */
int da_writer_feature(struct da_writer *w, unsigned bit, const void *body, size_t len,
		      struct da_error *err);
/* The standard features of this machine: HOSTNAME OSRELEASE VERSION ARCH NRCPUS CPUDESC CPUID TOTAL_MEM
 * CMDLINE EVENT_DESC PMU_MAPPINGS CLOCKID. clockid: the recording's clock, -1: one that is not known here. */
int da_writer_std_features(struct da_writer *w, int argc, char *const *argv, int clockid,
			   struct da_error *err);
/* Writes features and the final header, closes. A negative return is a lost recording: say so. */
/* Ends the file as da_writer_close() does, renames it to `kept`, and goes on in a new file of the first one's name
 * with the same events and no features. Other threads may append meanwhile: to the one or to the other. Offsets
 * for da_writer_read_back() begin anew. Not of a pipe (-DA_EUNSUPPORTED). */
int da_writer_switch(struct da_writer *w, const char *kept, struct da_error *err);
/* Bytes so far. */
uint64_t da_writer_size(struct da_writer *w);
int da_writer_close(struct da_writer *w, struct da_error *err);
/* Closes without finalising (error paths). NULL allowed. */
void da_writer_abort(struct da_writer *w);

#endif
