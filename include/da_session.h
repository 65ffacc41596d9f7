/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording session: create, bind, enable, run, stop, with the live pipeline.
 *
 * Order of calls: new -> create -> bind -> enable -> run* -> stop -> facts -> free. free is valid in
 * every state and undoes in reverse (AUX before event). Nothing of one session is visible in another.
 * The library never prints: what the user should read comes as messages through opts.message.
 */
#ifndef DA_SESSION_H
#define DA_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "da_error.h"
#include "da_facts.h"
#include "da_match.h"
#include "da_pmu.h"
#include "da_rbuf.h"

enum da_drain { DA_DRAIN_PERCPU, DA_DRAIN_SINGLE };

/* A report buffer; events name theirs (da_spec.buffer). */
struct da_buffer {
	char name[32]; /* "": the default one, which events without buffer= write into */
	size_t slots;  /* of each ring; 0: 65536 */
	enum da_keep keep;
	bool global; /* one ring for all CPUs, else one for each drain thread */
	bool late;   /* registers go through the buffer and are decoded behind it */
};

struct da_session_opts {
	const struct da_spec *specs; /* copied */
	size_t nr_specs;
	enum da_target target;
	const pid_t *ids; /* DA_TARGET_PID, DA_TARGET_TID */
	size_t nr_ids;
	pid_t child;             /* DA_TARGET_COMMAND: a forked child that waits to exec; else 0 */
	const char *cpu_list;    /* -C "0,2-3"; NULL all online */
	const char *online_path; /* where the online CPUs are listed; NULL: in sysfs (tests) */
	bool inherit;
	bool enable_on_exec; /* command targets: the kernel enables at exec */
	bool all_user, all_kernel;
	uint64_t period, freq; /* -c, -F; 0: default of the producer */
	uint32_t mmap_pages;   /* data pages a CPU; 0: 512, halved until the mlock limit allows */
	bool no_regs;          /* --no-regs: clock events without registers */
	bool regs;             /* --regs: registers with faults too (ground truth) */
	bool phys;             /* --phys-data */
	bool no_aux;
	uint32_t
		aux_pages; /* AUX area of each CPU; 0: 2 MiB, halved until the mlock limit allows */
	uint64_t
		latency_ms; /* samples are to be seen after this time at most; 0: up to the producer */
	enum da_drain drain;
	const struct da_buffer *buffers; /* copied */
	size_t nr_buffers;
	uint64_t delay_ms;          /* -D */
	struct da_match_opts match; /* regions of the live match layer */
	const char *const *probes;  /* texts (da_probe.h) */
	size_t nr_probes;
	double adapt_pct;   /* step periods so that at most so many percent are dropped; 0: never */
	const char *output; /* file, "-" or NULL: no file (diagnose) */
	int argc;           /* command line for the CMDLINE feature */
	char *const *argv;
	const char *options_json; /* stored in the INFO record; may be NULL */
	bool verbose;
	/* For tests: called before each open, and may change what is opened or refuse it with an errno. NULL:
	 * what is asked for is opened. */
	int (*open)(void *ctx, struct da_attr *a, struct da_attr *leader, int cpu);
	void *open_ctx;
	bool force; /* --force: allow periods that starve the target */
	/* Lines for the user; level 0 error, 1 warning, 2 info (only with verbose), 3 note. May be NULL. */
	void (*message)(void *ctx, int level, const char *text);
	void *message_ctx;
};

struct da_session;

int da_session_new(struct da_session **out, const struct da_session_opts *o, struct da_error *err);
int da_session_create(struct da_session *s, struct da_error *err);
int da_session_bind(struct da_session *s, struct da_error *err);
/* Starts the drain threads; enables the events, arms enable_on_exec, or with delay_ms leaves them off until
 * da_session_enable_delayed(). */
int da_session_enable(struct da_session *s, struct da_error *err);
int da_session_enable_delayed(struct da_session *s, struct da_error *err);
/* Called about once a second or on any wakeup by the owner's loop: patches the file, stores ledger
 * snapshots. Returns 1 while the target lives, 0 when all targets are gone. */
int da_session_tick(struct da_session *s, struct da_error *err);
/* Ends the output file, renames it to `kept` and goes on in a new one of the output's name; events, counters and
 * ledger go on. Each file is a recording of its own: what existed at its beginning is stored in it again. 1: not
 * now, as records wait to be read back from the file; ask again. -DA_EUNSUPPORTED: the output is a pipe, or an
 * event has AUX. Between enable and stop, by the owner. */
int da_session_switch(struct da_session *s, const char *kept, struct da_error *err);
/* Bytes of the output file, but for what a switch stored in it at its beginning, and its sample records. */
uint64_t da_session_file(const struct da_session *s, uint64_t *samples);
/* An event that fell silent on a CPU while a reference went on. */
struct da_silent {
	const char *event;
	uint32_t cpu;
	uint64_t since_ns; /* after enabling */
	uint64_t due;      /* samples that the reference let expect since */
};
/* As far as it can be told while running: up to max of them; their number. By the owner. */
size_t da_session_silent(struct da_session *s, struct da_silent *out, size_t max);
/* Disables, drains to the end, closes events and file. reason: "exit", "duration", "signal". */
int da_session_stop(struct da_session *s, const char *reason, int command_status,
		    struct da_error *err);
/* Live sums, any time from any thread. */
struct da_ledger da_session_ledger(const struct da_session *s);
uint64_t da_session_samples(const struct da_session *s); /* sample records in the file so far */
/* CPUs that are sampled, and the samples of all events on the i-th of them so far. */
size_t da_session_nr_cpus(const struct da_session *s);
uint64_t da_session_cpu_samples(const struct da_session *s, size_t i, uint32_t *cpu);
/* Everything measured; valid after stop (also after a failed create/bind/enable). Caller releases. */
int da_session_facts(struct da_session *s, struct da_facts *out);
void da_session_free(struct da_session *s); /* NULL allowed */

#endif
