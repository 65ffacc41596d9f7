/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The insides of a recording session, shared by src/session*.c only.
 *
 * Threads: the owner (create .. stop, tick), one drain thread per lane, one match thread.
 *   drain  ring and AUX area -> file, verbatim; then, when every lane has drained past a sample's time (so that all
 *          sideband records before it are known), decodes it and puts the reports into its buffer
 *   match  buffers -> regions -> credits
 */
#ifndef DA_SESSION_PRIV_H
#define DA_SESSION_PRIV_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "da_code.h"
#include "da_fake.h"
#include "da_match.h"
#include "da_own.h"
#include "da_pace.h"
#include "da_pipeline.h"
#include "da_rbuf.h"
#include "da_session.h"
#include "da_silence.h"
#include "evt.h"

#define S_MAX_ERRORS 8
#define S_DRAIN_CAP  (1u << 20) /* bytes taken from a ring at once: the lane's buffer */
#define S_NOTE       3          /* message level: always said, but no warning */

struct s_aux; /* session_aux.h */
struct s_aux_backend;
struct s_switch;

/* One event of the session. */
struct s_event {
	struct da_spec spec;
	struct da_attr leader; /* of its group, with spec.has_leader */
	bool no_exclude;       /* refused, because it cannot leave the kernel out */
	struct da_attr attr;   /* as opened: optional bits that the kernel refused are cleared */
	char dropped[128];     /* names of those bits */
	struct da_fake
		*fake; /* the generator of one that is made up, else NULL: it is the kernel's */
	const struct s_aux_backend *aux; /* NULL: its samples do not come through AUX */
	uint64_t period;                 /* effective; 0 in frequency mode */
	size_t buf;                      /* its report buffer */
	_Atomic uint64_t fake_scale;     /* fake: one in so many is taken; 0: all */
	_Atomic uint64_t fake_seen;
	struct da_facts_open_error errors[S_MAX_ERRORS];
	size_t nr_errors;
	uint64_t asked, opened, bound, enabled; /* CPUs */
};

/* One event on one CPU. */
struct s_pair {
	int idx; /* in the CPU's struct evt; -1 not open */
	bool bound, enabled;
	struct da_ledger life; /* create, bind, enable layers; owner's thread */
	struct da_ledger
		*lane; /* sample and ring layers; lane's thread writes, under its seqlock */
	uint64_t id;   /* kernel id, or a made-up one for fake */
	struct evt_count count;
	bool counted;          /* count was read after disabling */
	bool elsewhere;        /* its PMU is on other CPUs: nothing was asked for here */
	struct s_aux *aux;     /* its AUX area, NULL: none was mapped */
	struct evt_count past; /* of events that its CPU lost when it went offline */
};

/* A CPU that goes offline and comes back while it is recorded (session_hotplug.c). */
struct s_hot {
	uint32_t went, came;
	bool away;        /* its events are closed */
	bool tried;       /* it came back, but its events could not be opened */
	uint64_t went_ns; /* when it was seen to be away */
	uint64_t away_ns; /* for how long, until it came back */
	uint64_t seen_ns; /* time that its sideband event had been enabled at the last look */
	/* what its new events are called by the kernel, and what the file calls them; its lane's */
	struct s_rename {
		uint64_t now, file;
	} * renames;
	size_t nr_renames;
};

/* One report buffer, with a ring for each lane or one for all. */
struct s_buffer {
	struct da_buffer o;
	bool used; /* by an event */
	struct da_rbuf *b;
	struct da_rbuf_reader *reader; /* the match thread's */
	_Atomic uint64_t *peak;        /* by ring */
};

/* One CPU: its events share a ring. */
struct s_cpu {
	int cpu;
	bool online;
	struct evt *evt;
	int sideband; /* index of the dummy event in evt, -1 none */
	uint64_t sideband_id;
	uint32_t pages;
	struct s_pair *pairs; /* one per event */
	/* who ran there, kept only for AUX; its lane's */
	struct s_switch *sw;
	size_t nr_sw, room_sw;
	struct s_hot hot;
};

/* A run of whole records, or an AUXTRACE record with its trace data, that went to the file and waits to be
 * decoded. */
struct s_block {
	struct s_block *next;
	uint64_t offset;                   /* in the file */
	size_t len, pos;                   /* pos of an AUXTRACE: in its trace data */
	struct s_aux *aux;                 /* of an AUXTRACE, then: */
	uint64_t stream, payload, time_ns; /* its position, its bytes, when they were there */
	uint8_t *data;                     /* NULL: spilled, to be read back from the file */
};

struct s_lane {
	struct da_session *s;
	pthread_t thread;
	bool started;
	pthread_mutex_t
		gate; /* the thread's while it works; the owner's while the lane is halted */
	pthread_cond_t go;
	_Atomic bool halt;
	struct s_cpu **cpus;
	size_t nr_cpus;
	struct da_lane *lane;
	struct da_rbuf_writer *writer; /* by buffer */
	char name[32];
	int32_t cpu; /* -1: all CPUs */
	int wake_fd;
	uint8_t *buf; /* drain buffer */
	struct s_block *head, *tail;
	size_t backlog_bytes; /* memory held by blocks */
	uint64_t
		behind_ns; /* the oldest record that this pass left where it was; UINT64_MAX: none */
	_Atomic uint64_t
		drained_until;    /* every record older than this (recording clock) was drained */
	_Atomic uint64_t epoch;   /* last epoch in which a whole pass began and ended */
	_Atomic uint64_t seq;     /* odd while the lane's ledgers change */
	_Atomic uint64_t samples; /* sample records in the file */
	_Atomic uint64_t lost_records, lost_samples, throttled;
	uint64_t first_ns, last_ns; /* times of the samples in the file; 0, 0: none */
};

struct da_session {
	struct da_session_opts o;
	char *output, *options_json, *cpu_list;
	pid_t *ids;
	size_t nr_ids;
	struct s_event *ev;
	size_t nr_ev;
	struct s_cpu *cpus;
	size_t nr_cpus;
	struct da_attr sideband; /* attr of the dummy event */
	bool clockid;            /* records carry the time of `clock` */
	clockid_t clock; /* MONOTONIC; with AUX its RAW form, which runs as the PMU's counter */
	bool fake_only;
	bool created, any_bound, running, stopped;
	bool told_new_cpu;      /* that one is not recorded */
	_Atomic bool events_on; /* from enable to disable */
	uint64_t on_ns;         /* when, before events_on */

	struct da_writer *w;
	uint64_t piece;         /* of the output, from 1; 0: it was never switched */
	uint64_t piece_samples; /* in the pieces before */
	uint64_t piece_head;    /* bytes of the file that say again what was there before */
	bool again;             /* what was there is stored once more, for a new piece */
	struct da_tasks *tasks;
	struct da_code_store *code;
	struct da_pipeline *pipe;
	struct da_match *match;
	struct da_probes *probes;
	struct s_adapt *adapt; /* NULL: periods stay */
	struct s_remap *remap; /* NULL: mappings are not read again */
	struct s_paddr *paddr;
	struct id_entry *id_map; /* sorted by id */
	size_t nr_ids_mapped;

	struct s_buffer *buf;
	size_t nr_buf;
	uint64_t *missed;           /* by buffer and ring, under match_lock: as of match_snap */
	struct da_lane *late_lane;  /* match thread: decodes behind the buffers */
	struct da_ledger *late_led; /* its counts, nr_cpus * nr_ev + 1 */
	size_t late_nr;             /* reports of the slot under way */

	struct s_lane *lanes;
	size_t nr_lanes;
	_Atomic bool stop_drain, stop_match, failed;
	struct da_error failure; /* first failure of a thread; under lock */
	pthread_mutex_t lock;
	pthread_mutex_t
		evt_lock; /* events are opened and closed by the owner, stepped by the match thread */
	pthread_mutex_t switch_lock; /* to switch events that the kernel may have switched off */
	bool has_aux, joined;        /* an event has a backend; the threads have ended */
	uint32_t nr_aux, aux_pages;  /* areas that are mapped, and how large each is */
	struct da_clock ticks;       /* of trace data, valid with has_ticks */
	bool has_ticks;
	_Atomic uint64_t epoch;
	_Atomic uint64_t last_round_ns;

	pthread_t match_thread;
	bool match_started;
	int match_wake;
	pthread_mutex_t match_lock;   /* the match ledgers' snapshot */
	struct da_ledger *match_snap; /* nr_cpus * nr_ev */

	struct da_silence *silence;   /* by CPU and event; samples: match thread, counters: owner */
	pthread_mutex_t silence_lock; /* the match thread looks, the owner counts and asks */
	uint64_t silence_at, *silence_seen;

	uint64_t start_ns, stop_ns;
	int64_t rate_before;
	struct da_ledger *stored; /* last LEDGER record written, nr_cpus * nr_ev */
	bool disabled_before_drain, released_all, unmapped_before_close, opened_any;
	char end_reason[32];
	int command_status;
	bool said_running;
	bool target_ok;
	bool unit_held; /* two events want one unit */
};

struct id_entry {
	uint64_t id;
	uint32_t event;
};

/* session.c */
void s_message(struct da_session *s, int level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
uint64_t s_now_ns(const struct da_session *s); /* the recording's clock */
enum da_arch s_arch(void);                     /* of this machine */
void s_fail(struct da_session *s, const struct da_error *e);
/* Is a CPU in a list of sysfs? In "" and in one that is none, all are. */
bool s_cpu_in(const char *list, int cpu);
/* Event of a kernel id; -1 unknown (the sideband event too). */
int s_event_of_id(const struct da_session *s, uint64_t id);
/* Consistent ledger of one event on one CPU, all layers. */
void s_pair_ledger(struct da_session *s, const struct da_ledger *match_snap, size_t cpu, size_t ev,
		   struct da_ledger *out);
/* Copies the match snapshot into out (nr_cpus * nr_ev). */
void s_match_snapshot(struct da_session *s, struct da_ledger *out);
/* Ledger, state and what the kernel counted, of one event on one CPU. */
void s_pair_facts(struct da_session *s, const struct da_ledger *match_snap, size_t cpu, size_t ev,
		  struct da_facts_cpu *out);

/* session_attr.c: specs to attrs */
int s_attrs(struct da_session *s, struct da_error *err);
/* Names and clears the n-th optional bit of *a; false when there are no more or it is not set. */
bool s_attr_drop(struct da_attr *a, unsigned n, const char **name);
unsigned s_attr_nr_optional(void);

/* The CPUs of a list like that of sysfs, "0,2-3": their bytes in set[65536] become 1. */
void s_read_cpus(const char *path, uint8_t *set);
/* Where the online CPUs are listed. */
const char *s_online_path(const struct da_session *s);

/* session_hotplug.c: CPUs that go away and come back */
void s_hotplug_tick(struct da_session *s);
/* Gives records taken from a ring of this CPU the ids that the file knows. */
void s_hotplug_rename(const struct s_cpu *c, uint8_t *bytes, size_t len);

/* session_open.c: create, bind, enable, release */
/* One CPU. 0, or -DA_ENOMEM; what the kernel refused is in the ledgers. */
int s_open_cpu(struct da_session *s, struct s_cpu *c);
/* 0 or the last -errno. *pages: what to map, and what the mlock limit allowed. */
int s_bind_cpu(struct da_session *s, struct s_cpu *c, uint32_t *pages);
/* 0 or the last -errno. *any becomes true if an event is on, or exec will switch it on. */
int s_enable_cpu(struct da_session *s, struct s_cpu *c, bool *any);
/* Reads an event's count, with that of its CPU's earlier ones. 0 or -errno. */
int s_read_count(struct s_cpu *c, struct s_pair *p);
int s_open_all(struct da_session *s, struct da_error *err);
int s_bind_all(struct da_session *s, struct da_error *err);
int s_enable_sideband(struct da_session *s);
int s_enable_events(struct da_session *s, struct da_error *err);
void s_disable_all(struct da_session *s);
void s_release_all(struct da_session *s);

/* session_adapt.c: the adaptive period; the match thread's */
struct s_adapt *s_adapt_new(const struct da_session *s);
void s_adapt_free(struct s_adapt *a); /* NULL allowed */
void s_adapt_turn(struct da_session *s);
void s_adapt_end(struct da_session *s);
/* Gives events that were opened anew their period; under evt_lock. */
void s_adapt_again(struct da_session *s);
void s_adapt_facts(const struct da_session *s, size_t ev, struct da_facts_event *f);

/* session_proc.c: a made record, for the file and, at first, for ourselves too */
int s_take_made(struct da_session *s, const uint8_t *rec, size_t len);
/* The processes that live, once more for a new piece. Lanes are halted. */
int s_synthesize_again(struct da_session *s);

/* session_ns.c: ids in other pid namespaces */
void s_ns_look(struct da_session *s, uint32_t pid, uint64_t time_ns);
void s_ns_record(struct da_session *s, const struct da_rec *rec);

/* session_remap.c: mappings without a record; the match thread's */
struct s_remap *s_remap_new(void);
void s_remap_free(struct s_remap *m); /* NULL allowed */
/* da_match_opts.missed */
bool s_remap_missed(void *session, const struct da_report *r);
/* Between batches; last: nothing more comes, and what waits is settled. */
void s_remap_turn(struct da_session *s, bool last);

/* session_drain.c */
/* All records older than this have been drained, from every ring. */
uint64_t s_safe_until(const struct da_session *s);
void *s_drain_main(void *lane);
void *s_match_main(void *session);
/* Appends whole records to the file and queues them for decoding. */
int s_lane_take(struct s_lane *l, const uint8_t *bytes, size_t len);
/* The same for an AUXTRACE record with `payload` bytes of trace data at the end of the taken stream, which
 * were there at time_ns. rec is malloc'ed and given away. */
int s_lane_take_aux(struct s_lane *l, struct s_aux *a, uint8_t *rec, size_t len, size_t payload,
		    uint64_t time_ns);
/* Around what changes the lane's ledgers. */
void s_ledgers_begin(struct s_lane *l);
void s_ledgers_end(struct s_lane *l);
/* Takes all that waits in the rings of one of its CPUs; bytes. By the lane's thread, or while it is halted. */
size_t s_lane_drain(struct s_lane *l, struct s_cpu *c, uint64_t now_ns);
/* The lane's thread stands still between the two. */
void s_lane_halt(struct s_lane *l);
void s_lane_go(struct s_lane *l);
void s_lane_wake(struct s_lane *l);
void s_lane_free_blocks(struct s_lane *l);

/* session_probe.c: probes of the live match layer; s->probes stays NULL without. */
int s_probes(struct da_session *s, struct da_error *err);

/* session_buffers.c: the report buffers */
int s_buffers_choose(struct da_session *s, struct da_error *err);
int s_buffers_make(struct da_session *s, struct da_error *err);
void s_buffers_free(struct da_session *s);
/* The lane's da_emit_fn and da_late_fn: put a report into its event's buffer and count the ring layer. */
void s_emit(void *lane, const struct da_report *r, struct da_ledger *led);
void s_emit_late(void *lane, const struct da_late *late, struct da_ledger *led);
/* The match thread's: what decodes behind the buffers; a turn over all of them, returning its reports. */
int s_late_begin(struct da_session *s);
size_t s_match_buffers(struct da_session *s);
void s_buffers_publish(struct da_session *s);
void s_buffers_overwritten(struct da_session *s, struct da_ledger *snap, uint64_t *missed);
void s_buffers_facts(struct da_session *s, struct da_facts *f);

/* session_say.c: what verbose tells */
enum s_step {
	S_STEP_CREATED,
	S_STEP_BOUND,
	S_STEP_ENABLED,
	S_STEP_RUNNING, /* said once, when samples have come */
	S_STEP_DISABLED,
	S_STEP_DRAINED,
	S_STEP_RELEASED
};
void s_say(struct da_session *s, enum s_step step);

/* session_silence.c: samplers that stop */
int s_silence_begin(struct da_session *s);
void s_silence_free(struct da_session *s);
/* The match thread's, as often as it likes. */
void s_silence_look(struct da_session *s);
/* The owner's: what the events' own counters say. */
void s_silence_count(struct da_session *s);
/* After the threads have stopped. */
void s_silence_facts(struct da_session *s, size_t cpu, size_t ev, struct da_facts_cpu *out);

/* session_fake.c: the fake producer's records */
size_t s_fake_fill(struct s_lane *l, struct s_cpu *c, uint8_t *buf, size_t cap, uint64_t now_ns);
/* What was due while the CPU was away did not happen. */
void s_fake_skip(struct da_session *s, const struct s_cpu *c, uint64_t now_ns);
int s_fake_synthesize(struct da_session *s, uint32_t pid);

/* session_proc.c: what existed before the recording began */
int s_synthesize(struct da_session *s, struct da_error *err);
/* A line of /proc/PID/maps, which it changes and which must outlive *m. */
bool s_parse_map(char *line, pid_t pid, struct da_rec_mmap *m);
uint64_t s_sideband_id(const struct da_session *s);
/* Threads of a process; malloc'ed, 0 when it is gone. */
size_t s_threads_of(pid_t pid, pid_t **out);

/* session_paddr.c: /proc/PID/pagemap */
struct s_paddr *s_paddr_new(struct da_session *s);
void s_paddr_free(struct s_paddr *p);
bool s_paddr_lookup(void *paddr, uint32_t pid, uint64_t time_ns, uint64_t vaddr, uint64_t *out);

/* session_store.c: our own records */
int s_store(struct da_session *s, enum da_own_kind kind, const void *payload, size_t len);
int s_store_text(struct da_session *s, enum da_own_kind kind, char *text);
void s_store_code(void *session, const struct da_own_code *piece);
int s_store_info(struct da_session *s);
/* The format texts of the tracepoints that are recorded, as TRACING_DATA. */
int s_store_tracing(struct da_session *s, struct da_error *err);
int s_store_ledgers(struct da_session *s);
/* Ledgers, facts and END, for the file that ends now. */
int s_store_end(struct da_session *s, const char *reason, int command_status);
int s_store_features(struct da_session *s, struct da_error *err);
/* The SAMPLE_TIME feature: first and last sample. */
int s_store_span(struct da_session *s, struct da_error *err);
void s_loss(struct da_session *s, struct da_facts *f);

/* session_unit.c: after the events were read: which of them had to share their unit; says so. */
void s_find_shared(struct da_session *s);

#endif
