/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of the seven layers and their drops, and the arithmetic on ledgers: sums for display,
 * the conservation check, the seeds' counters. Counts nothing itself: who adds to a counter is
 * in doc/stages.md.
 *
 * A ledger may come from a file, so no sum here may wrap into a plausible number: sums saturate,
 * and a layer whose sum would wrap does not conserve.
 */
#include "da_stage.h"

#include <errno.h>
#include <stddef.h>

static const char *const stage_names[] = {
#define X(id, name) [DA_STAGE_##id] = name,
	DA_STAGES(X)
#undef X
};

static const struct drop_info {
	const char *name;
	enum da_stage stage;
} drops[] = {
#define X(id, layer, text) [DA_DROP_##id] = {text, DA_STAGE_##layer},
	DA_DROPS(X)
#undef X
};

static const char *const state_names[] = {
	[DA_STATE_NONE] = "NONE",       [DA_STATE_CREATED] = "CREATED", [DA_STATE_BOUND] = "BOUND",
	[DA_STATE_ENABLED] = "ENABLED", [DA_STATE_RUNNING] = "RUNNING",
};

/* Values of these enums may come from a file: an unknown one is named, not indexed. */
const char *da_stage_name(enum da_stage s)
{
	return (unsigned)s < DA_STAGE_NR ? stage_names[s] : "unknown";
}

const char *da_drop_name(enum da_drop d)
{
	return (unsigned)d < DA_DROP_NR ? drops[d].name : "unknown";
}

enum da_stage da_drop_stage(enum da_drop d)
{
	return (unsigned)d < DA_DROP_NR ? drops[d].stage : DA_STAGE_NR;
}

const char *da_state_name(enum da_state s)
{
	return (unsigned)s <= DA_STATE_RUNNING ? state_names[s] : "unknown";
}

enum da_drop da_drop_of_open_errno(int err)
{
	switch (err) {
	case EACCES:
	case EPERM:
		return DA_DROP_CREATE_PERMISSION;
	case ENOENT:
	case ENODEV: /* of an offline CPU too: only the caller knows whether the CPU is online */
	case ENXIO:
		return DA_DROP_CREATE_NO_EVENT;
	case EINVAL:
	case E2BIG:
		return DA_DROP_CREATE_INVALID;
	case EOPNOTSUPP:
		return DA_DROP_CREATE_UNSUPPORTED;
	case ESRCH:
		return DA_DROP_CREATE_NO_TASK;
	case EMFILE:
	case ENFILE:
		return DA_DROP_CREATE_FD_LIMIT;
	case EBUSY:
	case ENOSPC:
		return DA_DROP_CREATE_BUSY;
	default:
		return DA_DROP_CREATE_OTHER;
	}
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	uint64_t r;

	return __builtin_add_overflow(a, b, &r) ? UINT64_MAX : r;
}

static uint64_t sub_saturated(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

void da_ledger_add(struct da_ledger *sum, const struct da_ledger *l)
{
	for (size_t i = 0; i < DA_STAGE_NR; i++) {
		sum->in[i] = add_saturated(sum->in[i], l->in[i]);
		sum->out[i] = add_saturated(sum->out[i], l->out[i]);
	}
	for (size_t i = 0; i < DA_DROP_NR; i++)
		sum->drop[i] = add_saturated(sum->drop[i], l->drop[i]);
	if (l->peak > sum->peak)
		sum->peak = l->peak;
}

uint64_t da_ledger_drops(const struct da_ledger *l, enum da_stage s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < DA_DROP_NR; i++)
		if (drops[i].stage == s)
			sum = add_saturated(sum, l->drop[i]);
	return sum;
}

bool da_ledger_conserves(const struct da_ledger *l, enum da_stage *bad)
{
	uint64_t left[DA_STAGE_NR]; /* of `in`, after taking away out and each drop */
	bool broken[DA_STAGE_NR] = {false};

	for (size_t i = 0; i < DA_STAGE_NR; i++)
		broken[i] = __builtin_sub_overflow(l->in[i], l->out[i], &left[i]);
	for (size_t i = 0; i < DA_DROP_NR; i++) {
		enum da_stage s = drops[i].stage;

		broken[s] |= __builtin_sub_overflow(left[s], l->drop[i], &left[s]);
	}
	for (size_t i = 0; i < DA_STAGE_NR; i++) {
		if (!broken[i] && !left[i])
			continue;
		if (bad)
			*bad = (enum da_stage)i;
		return false;
	}
	return true;
}

struct da_counters da_ledger_counters(const struct da_ledger *l)
{
	uint64_t refused = add_saturated(l->drop[DA_DROP_OVERFLOW], l->drop[DA_DROP_NESTED]);

	return (struct da_counters){
		.callback = l->in[DA_STAGE_SAMPLE],
		.valid = l->out[DA_STAGE_SAMPLE],
		.reports = l->in[DA_STAGE_RING],
		.enqueue = sub_saturated(l->in[DA_STAGE_RING], refused),
		.dequeue = l->out[DA_STAGE_RING],
		/* an overwritten report was enqueued first, yet never reached a reader: lost all
		 * the same */
		.overflow = add_saturated(l->drop[DA_DROP_OVERFLOW], l->drop[DA_DROP_OVERWRITTEN]),
		.peak = l->peak,
		.match = l->out[DA_STAGE_MATCH],
		.miss = da_ledger_drops(l, DA_STAGE_MATCH),
		.update = l->out[DA_STAGE_UPDATE],
	};
}
