/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AUX traces of the offline decode, shared by two files only: offline_aux.c gathers what records say and
 * plans, offline_part.c decodes.
 */
#ifndef DA_OFFLINE_AUX_H
#define DA_OFFLINE_AUX_H

#include "offline_priv.h"

/* Trace bytes in the file, at a position of their stream. */
struct aux_piece {
	uint64_t offset, size; /* in the stream; size without padding */
	uint64_t at;           /* in the file */
	uint32_t input;
};

/* An AUX record: the bytes before `end` were written until then. */
struct aux_mark {
	uint64_t end, time_ns; /* 0: not known */
	bool cut;              /* the last record before `end` is not whole */
};

struct aux_switch {
	uint64_t time_ns;
	uint32_t pid, tid; /* who runs from then on */
};

/* What records say about a CPU, or about a thread's own buffer. */
struct aux_track {
	struct aux_mark *mark; /* by end */
	size_t nr_marks, room_marks;
	struct aux_switch *sw; /* by time */
	size_t nr_switches, room_switches;
};

struct aux_cpu {
	uint64_t cpu, midr, pmu_type;
};

/* One buffer's trace. */
struct aux_queue {
	uint32_t cpu, tid; /* UINT32_MAX: of no CPU, of no thread */
	uint32_t event;    /* UINT32_MAX: not decoded */
	uint64_t midr;
	const struct aux_track *marks, *switches; /* or NULL */
	struct aux_piece *piece;
	size_t nr, room;
	/* What the part before left unfinished: the lane whose decoder holds it, and bytes. */
	struct da_lane *carry;
	uint8_t *carry_bytes;
	size_t carry_len;
	uint64_t carry_end; /* position behind them */
	bool carry_gap;     /* bytes are missing there */
};

/* Pieces that are decoded by one thread at a time. */
struct aux_part {
	uint32_t queue;
	size_t first, end; /* pieces */
	bool last;         /* of its queue */
};

struct aux {
	bool has_kind, has_clock, switches_full;
	uint32_t kind;     /* AUXTRACE_INFO: what wrote the traces */
	uint64_t pmu_type; /* attr.type of its events */
	struct aux_cpu *cpu;
	size_t nr_cpus, room_cpus;
	struct da_clock clock;
	struct idmap queue_at; /* idx and CPU or thread -> queue */
	struct aux_queue *queue;
	size_t nr_queues, room_queues;
	struct idmap track_at; /* of a thread << 32 | CPU or thread -> track */
	struct aux_track *track;
	size_t nr_tracks, room_tracks;
	size_t nr_switches;
	uint64_t first_ns, last_ns; /* of AUX records; first > last: none with a time */
	struct aux_part *part;
	size_t nr_parts, room_parts;
	struct da_pipeline *pipeline;
	struct da_decode_stats stats;
	uint8_t pebs_format, pebs_source;
};

/* What is known of bytes without a container, before their queues are planned. */
void raw_describe(struct da_offline *o);
/* The task of a report from such bytes. */
void raw_set_task(struct da_report *r);

/* Decodes all parts into the match and the lane of the recording. 0 or negative. */
int parts_decode(struct da_offline *o, struct da_error *err);
void carry_release(struct aux_queue *q);

#endif
