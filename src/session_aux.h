/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AUX areas in a session: one for each (event, CPU) whose samples come through AUX, served by a backend.
 *
 * A backend is one file with one struct s_aux_backend, and one line in the table of session_aux.c. What all
 * of them share (files, losses, switching on again, the live decode) is done around it.
 * doc/adding-a-backend.md walks through an example.
 */
#ifndef DA_SESSION_AUX_H
#define DA_SESSION_AUX_H

#include "kring.h"
#include "session_priv.h"

/* An AUX record: the bytes before `end` were written until then. */
struct s_aux_mark {
	uint64_t end, time_ns;
	bool cut; /* the last record before `end` is not whole */
};

/* Who runs on a CPU from then on. */
struct s_switch {
	uint64_t time_ns;
	uint32_t pid, tid;
};

#define S_AUX_TIDS 16 /* power of two */

/* One AUX area. */
struct s_aux {
	const struct s_aux_backend *be;
	struct da_session *s;
	struct s_cpu *cpu;
	struct s_pair *pair;
	struct s_aux *before; /* that of the same pair before its CPU went offline */
	size_t event;         /* in s->ev */
	uint32_t idx;         /* of its queue in the file */
	uint64_t midr;
	const struct kring *ring; /* set by arm() */
	void *state;              /* the backend's own */
	/* the drain thread's */
	uint64_t taken;    /* bytes of the stream that are in the file */
	uint64_t off_from; /* when the kernel switched the event off, 0: it did not */
	_Atomic uint64_t off_ns, truncated, collisions;
	/* live decode: what the decoder has not taken yet */
	uint8_t *window;
	size_t len;
	uint64_t pos; /* of window[0] in the stream */
	bool gap;     /* bytes are missing before it */
	struct s_aux_mark *mark;
	size_t nr_marks, first_mark, room_marks;
	uint64_t sure_until; /* tasks are known up to here */
	uint32_t known_tid[S_AUX_TIDS], known_pid[S_AUX_TIDS];
	uint64_t known_from[S_AUX_TIDS], known_to[S_AUX_TIDS];
};

struct s_aux_backend {
	const char *name;
	/* Does it serve this event? The first backend that does is taken. */
	bool (*match)(const struct da_spec *spec);
	/* Before the event is opened: corrects e->attr and e->period to what the PMU can do, or refuses. */
	int (*init)(struct da_session *s, struct s_event *e, struct da_error *err);
	/* Maps the area of a->pair while its event is disabled, and sets a->ring. 0 or -errno. */
	int (*arm)(struct s_aux *a, uint32_t ring_pages, uint32_t aux_pages);
	/* Takes what is there to the file: s_aux_take(), unless its bytes are to be changed before. */
	int (*drain)(struct s_lane *l, struct s_aux *a);
	/* Switches the event; again after the kernel did. 0 or -errno. */
	int (*enable)(struct s_aux *a);
	int (*disable)(struct s_aux *a);
	/* Before the event is closed. Nothing that arm() set stays. */
	void (*release)(struct s_aux *a);
	/* How the ticks in its records become times; false: it has none. */
	bool (*clock)(struct da_session *s, struct da_clock *out);
	/* Body of AUXTRACE_INFO for these events; bytes, 0 if it does not fit. */
	size_t (*info)(struct da_session *s, uint8_t *buf, size_t cap);
};

/* aux_spe.c, aux_spe_sim.c */
extern const struct s_aux_backend s_aux_spe, s_aux_spe_sim;
uint64_t s_aux_midr(int cpu); /* 0 unknown: not an Arm CPU, say */
/* What is the same for every SPE, simulated or not. */
int s_aux_spe_init(struct da_session *s, struct s_event *e, struct da_error *err);
size_t s_aux_spe_info(struct da_session *s, uint8_t *buf, size_t cap);

/* session_aux.c */

/* The backend of an event, NULL: its samples do not come through AUX, or --no-aux. */
const struct s_aux_backend *s_aux_backend_of(const struct da_session *s,
					     const struct da_spec *spec);
/* The bind layer of an event with a backend on one CPU, again when it is back. 0 or -errno. */
int s_aux_bind(struct da_session *s, struct s_cpu *c, size_t event);
int s_aux_enable(struct s_aux *a);
int s_aux_disable(struct s_aux *a);
void s_aux_release(struct s_aux *a); /* unmaps; what was counted stays. NULL allowed */
void s_aux_free(struct s_aux *a);    /* NULL allowed */
/* Takes what waits in a CPU's AUX areas to the file; bytes. */
size_t s_aux_drain(struct s_lane *l, struct s_cpu *c);
/* The drain of a backend whose bytes go to the file as they are. */
int s_aux_take(struct s_lane *l, struct s_aux *a);
/* AUX and switch records, as the lane takes them. */
void s_aux_record(struct s_lane *l, struct da_rec *rec);
/* TIME_CONV and AUXTRACE_INFO, which come before all trace data. */
int s_aux_store_info(struct da_session *s, struct da_error *err);
/* Adds the losses of all areas to *f; what was not measured stays -1. */
void s_aux_loss(struct da_session *s, struct da_facts *f);
uint32_t s_aux_pages(const struct da_session *s);

/* session_aux_decode.c: the live decode */

/* Decodes part of a block that holds trace data; about how many records it was. */
size_t s_aux_decode(struct s_lane *l, struct s_block *b);
/* The block is used up. */
void s_aux_decode_done(struct s_block *b);
/* No more bytes will follow. */
void s_aux_decode_end(struct s_lane *l);

#endif
