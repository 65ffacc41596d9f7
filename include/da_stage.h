/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The seven layers of the pipeline and their conserving ledger. doc/stages.md says who adds to each
 * counter and what a zero means.
 *
 * One struct da_ledger per (event, CPU); each has one writer per layer. Sums are made for display only.
 * Invariant, for every layer at any moment: in == out + sum of that layer's drops.
 * Units: create..enable count (event, CPU or thread) pairs; sample counts sample records; from ring on
 * the unit is access reports.
 */
#ifndef DA_STAGE_H
#define DA_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#define DA_STAGES(X)                                                                               \
	X(CREATE, "create")                                                                        \
	X(BIND, "bind")                                                                            \
	X(ENABLE, "enable")                                                                        \
	X(SAMPLE, "sample")                                                                        \
	X(RING, "ring")                                                                            \
	X(MATCH, "match")                                                                          \
	X(UPDATE, "update")

enum da_stage {
#define X(id, name) DA_STAGE_##id,
	DA_STAGES(X)
#undef X
		DA_STAGE_NR
};

/* One line per drop: X(enum suffix, layer, name in JSON and text). */
#define DA_DROPS(X)                                                                                \
	X(CREATE_PERMISSION, CREATE, "permission")     /* EACCES, EPERM */                         \
	X(CREATE_NO_EVENT, CREATE, "no_such_event")    /* ENOENT, ENODEV, ENXIO */                 \
	X(CREATE_INVALID, CREATE, "invalid")           /* EINVAL, E2BIG */                         \
	X(CREATE_UNSUPPORTED, CREATE, "not_supported") /* EOPNOTSUPP */                            \
	X(CREATE_NO_TASK, CREATE, "no_such_task")      /* ESRCH */                                 \
	X(CREATE_FD_LIMIT, CREATE, "fd_limit")         /* EMFILE, ENFILE */                        \
	X(CREATE_BUSY, CREATE, "busy")                 /* EBUSY, ENOSPC */                         \
	X(CREATE_CPU_OFFLINE, CREATE, "cpu_offline")   /* ENODEV on a CPU that is offline */       \
	X(CREATE_OTHER, CREATE, "other")                                                           \
	X(BIND_MLOCK, BIND, "mlock_limit") /* EPERM from mmap */                                   \
	X(BIND_FD_LIMIT, BIND, "fd_limit")                                                         \
	X(BIND_INVALID, BIND, "invalid")                                                           \
	X(BIND_OTHER, BIND, "other")                                                               \
	X(ENABLE_REFUSED, ENABLE, "refused")                                                       \
	X(ENABLE_CPU_OFFLINE, ENABLE, "cpu_offline")                                               \
	X(ENABLE_NOT_FIRED, ENABLE, "not_fired") /* enable_on_exec and exec never came */          \
	X(ADDR_NONE, SAMPLE, "addr_none")        /* no address in the record; seeds: addr_zero */  \
	X(NOT_MEMORY, SAMPLE, "not_memory")      /* instruction accesses no memory */              \
	X(UNDECODED, SAMPLE, "undecoded")        /* instruction unknown to the decoder */          \
	X(NO_CODE, SAMPLE, "no_code")            /* instruction bytes not available */             \
	X(BASE_OVERWRITTEN, SAMPLE, "base_overwritten") /* registers are after the instruction */  \
	X(UNRESOLVED, SAMPLE, "unresolved") /* address needs what a sample lacks: gather */        \
	X(SEGMENT, SAMPLE, "segment")       /* FS or GS base unknown */                            \
	X(NONCANONICAL, SAMPLE, "noncanonical")                                                    \
	X(KERNEL_IP, SAMPLE, "kernel_ip") /* decode wanted, instruction is in the kernel */        \
	X(NO_REGS, SAMPLE, "no_regs")     /* decode wanted, record has no registers */             \
	X(INVALID, SAMPLE, "invalid")     /* IBS: no valid bit set for an address */               \
	X(PREFETCH, SAMPLE, "prefetch")                                                            \
	X(BAD_PACKET, SAMPLE, "bad_packet")  /* SPE record dropped with a damaged packet */        \
	X(TRUNCATED, SAMPLE, "truncated")    /* record does not fit its bytes */                   \
	X(OVERFLOW, RING, "overflow")        /* keep=oldest: the buffer was full */                \
	X(OVERWRITTEN, RING, "overwritten")  /* keep=latest: a newer report took the slot */       \
	X(NESTED, RING, "nested")            /* writer interrupted another writer */               \
	X(RESIDENT, RING, "resident")        /* still inside; 0 after stop */                      \
	X(MISS_REGION, MATCH, "miss_region") /* in no region of the target */                      \
	X(STRADDLE, MATCH, "straddle")       /* begins in a region, ends outside it */             \
	X(MISS_SPACE, MATCH, "miss_space")   /* task or address space is not a target */           \
	X(MISS_PROBE, MATCH, "miss_probe")                                                         \
	X(NO_TASK, MATCH, "no_task") /* virtual address without a known task */                    \
	X(LATE, MATCH, "no_address") /* decode=late: the registers gave no address */              \
	X(ALREADY_CREDITED, UPDATE, "already_credited")

enum da_drop {
#define X(id, stage, name) DA_DROP_##id,
	DA_DROPS(X)
#undef X
		DA_DROP_NR
};

struct da_ledger {
	uint64_t in[DA_STAGE_NR];
	uint64_t out[DA_STAGE_NR];
	uint64_t drop[DA_DROP_NR];
	uint64_t
		peak; /* highest occupancy of the report buffer seen, in reports: a maximum, never summed */
};

/* State of one (event, CPU) of one run; ordered. */
enum da_state {
	DA_STATE_NONE,
	DA_STATE_CREATED,
	DA_STATE_BOUND,
	DA_STATE_ENABLED,
	DA_STATE_RUNNING
};

/* A ledger's counters are added to by these two alone wherever it happens for each sample. DA_NO_COUNT leaves them
 * out: tests/bench/ledger.sh measures what the ledger costs. */
#ifndef DA_NO_COUNT
#define DA_COUNTS 1
#else
#define DA_COUNTS 0
#endif

/* Adds to a counter that other threads may be reading; the writer is alone. */
static inline void da_count(uint64_t *counter, uint64_t n)
{
	if (DA_COUNTS)
		__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* The same of a counter that no other thread reads. */
static inline void da_tally(uint64_t *counter, uint64_t n)
{
	if (DA_COUNTS)
		*counter += n;
}

const char *da_stage_name(enum da_stage s);
const char *da_drop_name(enum da_drop d);
enum da_stage da_drop_stage(enum da_drop d);
const char *da_state_name(enum da_state s);

/* The create-layer drop for an errno of perf_event_open(2). */
enum da_drop da_drop_of_open_errno(int err);

/* sum += l, counter by counter; peak is the maximum of both. */
void da_ledger_add(struct da_ledger *sum, const struct da_ledger *l);

/* Sum of the drops of one layer. */
uint64_t da_ledger_drops(const struct da_ledger *l, enum da_stage s);

/* True if in == out + drops at every layer. Otherwise false and *bad (may be NULL) = first broken layer. */
bool da_ledger_conserves(const struct da_ledger *l, enum da_stage *bad);

/* The seeds' counters, derived from a ledger. */
struct da_counters {
	uint64_t callback; /* sample records delivered: in[SAMPLE] */
	uint64_t valid;    /* with at least one usable address: out[SAMPLE] */
	uint64_t reports;  /* offered to the report buffers: in[RING] */
	uint64_t enqueue;  /* reports - overflow - nested */
	uint64_t dequeue;  /* out[RING] */
	uint64_t overflow; /* overflow + overwritten */
	uint64_t peak;
	uint64_t match;  /* out[MATCH] */
	uint64_t miss;   /* all drops of match */
	uint64_t update; /* out[UPDATE] */
};
struct da_counters da_ledger_counters(const struct da_ledger *l);

#endif
