/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the perf.data reader share; nobody else includes it.
 *
 *   perfdata_input.c    bytes of a file, through a sliding window; spooling of pipes
 *   perfdata_block.c    memory for records that wait to be sorted
 *   perfdata_event.c    events, ids, where in a record id, time, task and CPU are
 *   perfdata_feature.c  feature sections
 *   perfdata_read.c     open and close: header, sections, messages
 *   perfdata_attrs.c    attrs and ids of a file
 *   perfdata_pipe.c     what a recording in pipe mode says about itself
 *   perfdata_dir.c      the files of a recording in directory mode
 *   perfdata_stream.c   records of one file, in file order
 *   perfdata_unzip.c    COMPRESSED records to plain records (owner of libzstd)
 *   perfdata_sort.c     the window in which records are brought into time order
 *   perfdata_batch.c    records that left it, and in which order they are given
 *   perfdata_payload.c  bytes that follow a record
 *   perfdata_next.c     da_reader_next() and da_reader_scan()
 *
 * Integers from a file are uint64_t until they have been compared with what the file holds.
 */
#ifndef PERFDATA_PRIV_H
#define PERFDATA_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_perfdata.h"

#define REC_HEADER   8
#define REC_MAX      65535 /* largest record that is lent whole */
#define NR_FEATURES  256
#define ATTR_MIN     64
#define MAX_EVENTS   65536
#define MAX_IDS      (4u << 20) /* a thousand threads on a thousand CPUs, four events */
#define MAX_MESSAGES 32
#define NO_EVENT     UINT32_MAX
#define NO_OFFSET    UINT16_MAX

/* ---- input ---- */

struct input {
	int fd;
	char *name;    /* for messages */
	uint64_t size; /* at open; nothing beyond is read, even if the file grows */
};

/* Opens path for reading ("-": standard input). What cannot be read twice is first copied to an unlinked
 * temporary file; any: also if it does not begin as a recording does. */
int input_open(struct input *in, const char *path, bool any, struct da_error *err);
/* Reads exactly n bytes at off. A file that has become shorter is -DA_EIO with a message. */
int input_read(const struct input *in, uint64_t off, void *buf, size_t n, struct da_error *err);
void input_close(struct input *in);

/* ---- blocks ---- */

#define BLOCK_BYTES (256u << 10)
#define BLOCKS_FULL 64 /* so many in use: the sorter must let records go */
#define BLOCKS_MAX                                                                                 \
	255 /* the two batches that have left it and what it may copy meanwhile included */
#define NO_BLOCK (-1)

struct block {
	uint8_t *p;       /* BLOCK_BYTES, allocated on first use */
	uint64_t off;     /* file offset of p[0]; not for copies */
	uint32_t waiting; /* records in it that the sorter holds */
	uint32_t lent;    /* records in it that are in a batch */
	bool pinned;      /* somebody writes to it */
	bool copies;      /* holds copied records, each behind a u64 with its file offset */
};

struct blocks {
	struct block b[BLOCKS_MAX];
	unsigned
		in_use; /* pinned, or with records that wait: the same whoever consumes batches how fast */
};

/* Zero-initialised it has no blocks. */
void blocks_release(struct blocks *bs);
/* A block that nobody uses, pinned; NO_BLOCK: out of memory. */
int blocks_take(struct blocks *bs);
void blocks_unpin(struct blocks *bs, int i);
/* One record less waits in it. */
void blocks_done(struct blocks *bs, unsigned i);

/* A window that slides over an input; lends contiguous bytes. */
struct window {
	const struct input *in;
	uint8_t *buf;
	size_t cap, len;       /* of buf; len bytes of the file are in it */
	uint64_t off;          /* file offset of buf[0] */
	size_t want;           /* capacity to allocate on first use */
	struct blocks *blocks; /* buf is one of them; NULL: its own */
	int block;
};

void window_init(struct window *w, const struct input *in, size_t want, struct blocks *blocks);
void window_release(struct window *w);
/* Slow path of window_at(). */
const uint8_t *window_slide(struct window *w, uint64_t off, size_t n, struct da_error *err);

/* n bytes (at most REC_MAX) at off, which the caller knows to lie inside the input; valid until the next
 * call. NULL: I/O error or out of memory, *err says which. */
static inline const uint8_t *window_at(struct window *w, uint64_t off, size_t n,
				       struct da_error *err)
{
	if (off >= w->off && off - w->off <= w->len && n <= w->len - (off - w->off))
		return w->buf + (off - w->off);
	return window_slide(w, off, n, err);
}

/* ---- events ---- */

/* Where the fields that every record shares lie in the records of one event. Offsets of a SAMPLE from
 * its start, of the sample_id trailer from its start. NO_OFFSET: not there. */
struct layout {
	uint16_t id, tid, time, cpu;
	uint16_t sample_min; /* shortest SAMPLE that holds them */
	uint16_t trailer;    /* bytes of the sample_id trailer, 0: none */
	uint16_t t_id, t_tid, t_time, t_cpu;
};

struct id_entry {
	uint64_t id;
	uint32_t event;
};

struct events {
	struct da_event *ev;
	struct layout *layout;
	size_t nr, cap;
	struct id_entry *map; /* nr_ids, sorted by id */
	size_t nr_ids;
	bool same_layout; /* records of all events are laid out alike */
	bool partial;     /* attrs were lost: a record may belong to an event that is not here */
	/* Samples of all events have their id and time here; NO_OFFSET: not so. quick_min: the shortest. */
	uint16_t quick_id, quick_time, quick_min;
	/* Where the id is in every event's records; NO_OFFSET if they differ or have none. */
	uint16_t id_at;       /* in a SAMPLE, from its start */
	uint16_t id_from_end; /* in a trailer, bytes from its end */
};

void events_release(struct events *e);
/* Adds an event; ids (native byte order) is taken over, also on failure. */
int events_add(struct events *e, const struct da_attr *a, uint64_t *ids, size_t nr_ids);
/* After the last one: id map, common positions. -DA_ENOMEM. */
int events_freeze(struct events *e);
/* When all is known about the events: quick_id, quick_time, quick_min. */
void events_quick(struct events *e);
int events_set_name(struct events *e, size_t i, const char *name, size_t len);
/* Events without a name get da_attr_name(). */
int events_name_rest(struct events *e);
/* Event with this id, NO_EVENT if there is none. */
uint32_t events_by_id(const struct events *e, uint64_t id);

/* ---- the file header ---- */

struct section {
	uint64_t off, size;
};

struct file_header {
	uint64_t size, attr_size;
	struct section attrs, data;
	uint64_t bitmap[NR_FEATURES / 64];
	bool any_feature;
	bool empty; /* finished, with no records */
};

/* Adds the events of a recording in file mode. *lowest: where the first section of attrs or ids at or after
 * `from` begins, or the end of the file. */
int attrs_read(struct da_reader *r, const struct file_header *h, uint64_t from, uint64_t *lowest,
	       struct da_error *err);

/* ---- zstd ---- */

struct unzip {
	uint8_t *buf;         /* plain bytes */
	size_t pos, len, cap; /* [pos, len) not yet taken */
	uint64_t budget;      /* plain bytes that this payload may still give */
	uint64_t allowance;   /* the same of all payloads so far */
	bool pending;         /* the decoder may hold output that did not fit */
	void *dctx;
};

struct unzip *unzip_new(void); /* NULL: out of memory */
void unzip_free(struct unzip *u);
/* Forgets all: a new frame begins. */
void unzip_reset(struct unzip *u);
/* Begins a payload of so many bytes, which may unfold to `budget`. */
void unzip_payload(struct unzip *u, uint64_t bytes, uint64_t budget);
/* Feeds n bytes; *used of them were taken, plain bytes were appended. -DA_EDAMAGED with *why. */
int unzip_feed(struct unzip *u, const uint8_t *in, size_t n, size_t *used, const char **why);

/* ---- streams ---- */

/* One record in file order. */
struct raw {
	uint32_t type;
	uint16_t misc;
	uint32_t size;
	const uint8_t *bytes; /* size bytes; valid until the next stream_next() of this stream */
	int block;            /* that holds them, or NO_BLOCK */
	uint64_t offset;
	uint64_t payload_at, payload_total,
		payload_avail; /* AUXTRACE and TRACING_DATA only: else not set */
};

struct stream {
	struct da_reader *r;
	const struct input *in;
	struct window win;
	uint64_t start, pos, end;
	uint64_t data_end; /* where data.size ends; records after it are salvaged */
	bool quiet;        /* a second walk: damage was or will be counted by the first */
	bool skim;         /* compressed records are skipped */
	bool damaged;      /* of this walk */
	/* COMPRESSED records */
	struct unzip *zip;
	uint64_t zip_pos, zip_end,
		zip_rec;     /* compressed bytes still to feed; their record's offset */
	const char *zip_why; /* the payload under way cannot be decompressed further; static text */
	bool in_zip, zip_lost;
};

void stream_init(struct stream *s, struct da_reader *r, const struct input *in, uint64_t pos,
		 uint64_t end, size_t window, struct blocks *blocks);
void stream_release(struct stream *s);
/* 1: *raw filled; 0: end; negative: I/O error or out of memory. Unknown types are counted and skipped. */
int stream_next(struct stream *s, struct raw *raw, struct da_error *err);

/* ---- features ---- */

struct feature {
	bool present;
	uint64_t off, size; /* in the first input */
	uint8_t *bytes;     /* read on demand */
};

struct pmu_name {
	uint32_t type;
	char *name;
};

struct features {
	struct feature f[NR_FEATURES];
	struct pmu_name *pmu;
	size_t nr_pmu;
	uint64_t comp_mmap_len;
	bool comp_unsupported; /* compressed by something else than zstd */
};

/* Reads the table at `table` for the bits set in bitmap; sections outside the file are left out. */
int features_table(struct da_reader *r, const uint64_t bitmap[NR_FEATURES / 64], uint64_t table,
		   struct da_error *err);
/* Takes over what da_file_info shows, event names and PMU names. */
int features_parse(struct da_reader *r, struct da_error *err);
void features_release(struct features *f);

/* ---- sorter ---- */

/* A record under way. `who` is the caller's: whose record it is, and WHO_SAMPLE. */
struct held {
	struct raw raw; /* of a record that comes out of a batch: without type and misc */
	uint64_t time;
	uint32_t who;   /* less than WHO_MAX */
	uint32_t input; /* index of the input that holds the payload */
	bool has_payload;
};

#define WHO_MAX    (1u << 31)
#define WHO_SAMPLE (1u << 28) /* a sample of a known event: who is this and its number */

/* Where a record is: its block in the upper 14 bits, its place in the block in the lower 18. */
#define PLACE_BITS 18
_Static_assert(BLOCK_BYTES <= 1u << PLACE_BITS && BLOCKS_MAX <= 1u << (32 - PLACE_BITS),
	       "a place is a block and an offset in it");

struct entry {
	uint64_t time;
	uint32_t place;
	uint32_t who; /* IN_PAYLOADS and an index of payloads, else the caller's */
};

#define IN_PAYLOADS WHO_MAX

struct payload {
	uint64_t at, total, avail;
	uint32_t input, who;
};

struct entries {
	struct entry *e;
	size_t nr, cap;
};

#define RUNS_MAX 256 /* runs that are kept apart */

/* An entry of a batch that is no sample. */
struct other {
	uint64_t time;
	uint32_t at;
};

/* What has left the sorter together. */
struct da_batch {
	struct entries first; /* records without a time: before all others */
	struct entries e;
	uint32_t run[RUNS_MAX + 1]; /* first entry of each run; run[nr_runs] is e.nr */
	unsigned nr_runs;
	struct payload *payloads;
	size_t nr_payloads, cap_payloads;
	struct other *other; /* in order of time; only if there are several runs */
	size_t nr_other, cap_other;
	uint64_t span;     /* of several runs samples within so many ns may change their order */
	size_t nr_samples; /* of e; the others are no samples of known events */
	bool taken;        /* somebody has it */
	/* how far it has been given */
	size_t at_first, at_other;
	uint32_t pos[RUNS_MAX];  /* next entry of each run */
	uint32_t stop[RUNS_MAX]; /* up to there before anything else is given */
	unsigned at_run;
	bool sliced;     /* stop[] is known */
	bool then_other; /* and behind it comes other[at_other] */
};

struct sorter {
	struct blocks *blocks;
	bool swap;
	bool loose;     /* samples need not be in order of time, see da_reader_loose() */
	uint64_t align; /* then batches end before multiples of so many ns, if they can */
	int copy_block; /* copies go to it from copy_at on; NO_BLOCK: to a new one */
	uint32_t copy_at;
	struct entries first, e, tmp;
	uint32_t run[RUNS_MAX]; /* where each run begins, unless there are more */
	unsigned nr_runs;
	uint32_t *merge_runs; /* first entry of each run, while merging */
	size_t cap_merge_runs;
	struct payload *payloads;
	size_t nr_payloads, cap_payloads;
	size_t nr_other;    /* entries that are no samples */
	size_t fresh;       /* bytes put since the flush before */
	size_t fresh_first; /* the same of records without a time */
	bool limit_new;     /* the limit has risen since the flush before */
	uint64_t limit;     /* records up to it may go */
	uint64_t given;     /* latest time that went */
	uint64_t last;      /* time of the last entry */
	uint64_t max, late;
};

#define ENTRIES_MAX (256u << 10) /* records */
#define BATCH_BYTES (512u << 10) /* a sort of less is not worth its cost */

struct sorter *sorter_new(struct blocks *blocks, bool swap);
void sorter_free(struct sorter *s);
/* Takes a record in: its bytes stay where they are if they are in a block, else they are copied. */
int sorter_put(struct sorter *s, const struct held *h);
/* The same of a record without a time: it goes before all that wait. */
int sorter_put_first(struct sorter *s, const struct held *h);
/* No record with a time up to `limit` will follow any more (as far as anybody knows). */
void sorter_limit(struct sorter *s, uint64_t limit);
/* Are enough records below the limit, or is the window full? */
static inline bool sorter_due(const struct sorter *s)
{
	return (s->limit_new && s->fresh >= BATCH_BYTES) || s->blocks->in_use >= BLOCKS_FULL ||
	       s->e.nr >= ENTRIES_MAX || s->fresh_first >= BATCH_BYTES;
}

/* What may go, in b, which held nothing. end: all that is left. */
int sorter_cut(struct sorter *s, struct da_batch *b, bool end);
/* Nobody uses the records of b any more. */
void sorter_return(struct sorter *s, struct da_batch *b);
/* Room for an entry more. */
int entries_room(struct entries *v);

/* A record in a block, as sorter_put(); there is room for it. */
static inline void sorter_add(struct sorter *s, uint64_t time, uint32_t place, uint32_t who,
			      uint32_t size)
{
	if (time < s->last || !s->e.nr) {
		if (s->nr_runs < RUNS_MAX)
			s->run[s->nr_runs] = (uint32_t)s->e.nr;
		s->nr_runs++;
	}
	s->last = time;
	if (time < s->given)
		s->late++;
	if (time > s->max)
		s->max = time;
	s->e.e[s->e.nr++] = (struct entry){time, place, who};
	s->blocks->b[place >> PLACE_BITS].waiting++;
	s->nr_other += !(who & WHO_SAMPLE);
	s->fresh += size;
}

static inline uint32_t place_at(int block, size_t at)
{
	return (uint32_t)block << PLACE_BITS | (uint32_t)at;
}

static inline const uint8_t *place_bytes(const struct blocks *bs, uint32_t place)
{
	return bs->b[place >> PLACE_BITS].p + (place & ((1u << PLACE_BITS) - 1));
}

uint64_t place_offset(const struct blocks *bs, uint32_t place);
uint32_t place_size(const struct blocks *bs, uint32_t place, bool swap);

/* ---- batches ---- */

void batch_release(struct da_batch *b);
/* Nothing of it has been given yet. */
void batch_begin(struct da_batch *b);
/* The next record, in order; false: none is left. */
bool batch_next(struct da_batch *b, const struct blocks *bs, bool swap, struct held *out);
/* Samples that come next, at most max, *e the first of them. 0: something else comes, or nothing. */
size_t batch_samples(struct da_batch *b, const struct entry **e, size_t max);

/* ---- payloads ---- */

struct pieces {
	const struct input *in;
	uint64_t at, total, avail, done;
	uint8_t *buf;
	size_t room;
	bool active;
};

void pieces_begin(struct pieces *p, const struct input *in, const struct da_rec *rec);
/* The next piece into *rec; negative: I/O error or out of memory. */
int pieces_next(struct pieces *p, struct da_rec *rec, struct da_error *err);

/* ---- reader ---- */

/* Events of the ids that were seen last. */
struct id_cache {
	uint64_t id;
	uint32_t event; /* NO_EVENT: none yet */
};

#define IDS_CACHED 256 /* power of two */

/* Progress of one stream in time, for merging several. */
struct progress {
	uint64_t max;  /* latest time seen */
	uint64_t prev; /* the same at the end of its turn before */
	bool ended;
};

struct da_reader {
	struct input *inputs;
	size_t nr_inputs;
	bool swap;
	struct events events;
	struct features *features;
	struct da_file_info info;
	char *path;
	char **messages;
	size_t nr_suppressed;
	void **owned; /* strings and arrays of info */
	size_t nr_owned;
	/* position of da_reader_next() */
	struct stream *streams; /* one an input */
	size_t nr_streams, turn;
	uint64_t turn_start; /* latest time of this stream when its turn began */
	uint64_t turn_left;  /* bytes of records that it may still give */
	struct progress *progress;
	struct blocks blocks;
	struct sorter *sorter;
	struct da_batch batches[DA_BATCHES];
	struct da_batch *batch; /* of da_reader_next() */
	struct id_cache ids[IDS_CACHED];
	uint64_t round_limit; /* maximum time at the last FINISHED_ROUND */
	struct pieces pieces;
	struct da_rec piece_rec;
	bool leave_payloads;
	bool ended;
	struct da_error failed; /* sticky */
	/* bytes without a container: perfdata_raw.c */
	bool no_container;
	uint64_t raw_at;     /* bytes that were given */
	uint64_t raw_rec[6]; /* the record that lends them */
};

/* Reads until a batch is due, and makes it in b. 1, 0: the end and nothing is left; negative: failed. */
int reader_fill(struct da_reader *r, struct da_batch *b);

/* Counts damage: sets info.damaged and keeps a bounded number of messages. */
void reader_damage(struct da_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* -DA_ENOMEM with the usual message. */
int reader_no_memory(const struct da_reader *r, struct da_error *err);
/* Keeps p until close; frees it and returns NULL when out of memory. */
void *reader_own(struct da_reader *r, void *p);

/* What every reader has, before it has an input. */
int reader_begin(struct da_reader *r, const char *path, struct da_error *err);
/* The first input. any: it need not look like a recording. */
int reader_add_input(struct da_reader *r, const char *path, bool any, struct da_error *err);
/* da_reader_next() of bytes without a container. */
int raw_next(struct da_reader *r, struct da_rec *rec);

/* Walks all records from `pos` on for attrs, names and features. */
int pipe_open(struct da_reader *r, uint64_t pos, struct da_error *err);
/* Adds the data.N files of directory `path` as inputs. */
int dir_open(struct da_reader *r, const char *path, struct da_error *err);

#endif
