/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From event specifications to the attributes that are opened: what to sample, how often, with which
 * optional bits. It opens nothing.
 *
 * Every attr of a session begins with IDENTIFIER, IP, TID, TIME and ends its sample_id the same way, so
 * that the drain threads find id and time at fixed places.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "session_aux.h"

/* uapi asm/perf_regs.h: all general registers with FLAGS, CS and SS; x86-64 refuses DS ES FS GS. */
#if defined(__x86_64__)
#define REGS_MASK 0xff0fffull
#elif defined(__aarch64__)
#define REGS_MASK ((1ull << 33) - 1)
#else
#define REGS_MASK 0ull
#endif

#define SAMPLE_BASE                                                                                \
	(DA_SAMPLE_IDENTIFIER | DA_SAMPLE_IP | DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_CPU)

#define CLOCK_DEFAULT_NS 250000 /* FEASIBILITY 2: +16 % on a memory-bound loop; below it hurts */
#define CLOCK_WARN_NS    250000
#define CLOCK_REFUSE_NS  50000
#define CYCLES_DEFAULT   1000003 /* a prime, so that it does not beat with a loop */
#define OTHER_DEFAULT    100003
#define SPE_DEFAULT      3840 /* operations; a multiple of 256 in what the literature takes */

/* Bits that a kernel may not know and that recording can do without, newest first. */
static const struct optional {
	const char *name;
	uint64_t sample_type, flags, read_format;
} optional[] = {
	{.name = "read_format.lost", .read_format = DA_FORMAT_LOST},         /* 6.0 */
	{.name = "weight_struct", .sample_type = DA_SAMPLE_WEIGHT_STRUCT},   /* 5.12 */
	{.name = "data_page_size", .sample_type = DA_SAMPLE_DATA_PAGE_SIZE}, /* 5.11 */
	{.name = "phys_addr", .sample_type = DA_SAMPLE_PHYS_ADDR}, /* 4.14, needs privilege */
	{.name = "weight", .sample_type = DA_SAMPLE_WEIGHT},
	{.name = "data_src", .sample_type = DA_SAMPLE_DATA_SRC},
};

unsigned s_attr_nr_optional(void)
{
	return sizeof(optional) / sizeof(optional[0]);
}

bool s_attr_drop(struct da_attr *a, unsigned n, const char **name)
{
	const struct optional *o = &optional[n];

	*name = o->name;
	if (!((a->sample_type & o->sample_type) | (a->flags & o->flags) |
	      (a->read_format & o->read_format)))
		return false;
	a->sample_type &= ~o->sample_type;
	a->flags &= ~o->flags;
	a->read_format &= ~o->read_format;
	return true;
}

static uint64_t default_period(const struct s_event *e)
{
	if (da_attr_is_clock(&e->attr))
		return CLOCK_DEFAULT_NS;
	switch (e->spec.producer) {
	case DA_PROD_FAULT:
	case DA_PROD_FAKE:
	case DA_PROD_TRACEPOINT:
		return 1;
	case DA_PROD_REGS:
		return CYCLES_DEFAULT;
	case DA_PROD_SPE:
		return SPE_DEFAULT;
	default:
		return e->attr.type == DA_TYPE_SOFTWARE ? 1 : OTHER_DEFAULT;
	}
}

/* A clock that fires too often leaves the target no time at all, and the kernel does not stop it at its
 * default sysctl: the user must say --force. */
static int check_rate(struct da_session *s, const struct s_event *e, struct da_error *err)
{
	uint64_t ns = e->attr.sample_period;

	if (!da_attr_is_clock(&e->attr))
		return 0;
	if (e->attr.flags & DA_ATTR_FREQ)
		ns = e->attr.sample_period ? 1000000000 / e->attr.sample_period : 0;
	if (ns < CLOCK_REFUSE_NS && !s->o.force)
		return da_fail(
			err, DA_EUSAGE, 0,
			"a sample every %llu ns starves the target of '%s'; use -c %d or more, or --force",
			(unsigned long long)ns, e->spec.name, CLOCK_REFUSE_NS);
	if (ns < CLOCK_WARN_NS)
		s_message(
			s, 1,
			"a sample every %llu ns slows the target down (250000 ns costs about 16 %%)",
			(unsigned long long)ns);
	return 0;
}

static int set_rate(struct da_session *s, struct s_event *e, struct da_error *err)
{
	struct da_attr *a = &e->attr;

	if (!e->spec.has_period) {
		a->flags &= ~DA_ATTR_FREQ;
		if (s->o.freq) {
			a->flags |= DA_ATTR_FREQ;
			a->sample_period = s->o.freq;
		} else {
			a->sample_period = s->o.period ? s->o.period : default_period(e);
		}
	}
	if (!a->sample_period)
		return da_fail(err, DA_EUSAGE, 0, "period of '%s' is 0", e->spec.name);
	if ((a->flags & DA_ATTR_FREQ) && s->rate_before > 0 &&
	    a->sample_period > (uint64_t)s->rate_before)
		return da_fail(
			err, DA_EUNSUPPORTED, 0,
			"frequency %llu is above kernel.perf_event_max_sample_rate (%lld); use -F %lld "
			"or less, or a period (-c)",
			(unsigned long long)a->sample_period, (long long)s->rate_before,
			(long long)s->rate_before);
	e->period = a->flags & DA_ATTR_FREQ ? 0 : a->sample_period;
	return check_rate(s, e, err);
}

static void set_fields(const struct da_session *s, struct s_event *e)
{
	struct da_attr *a = &e->attr;
	bool fixed = !(a->flags & DA_ATTR_FREQ);

	a->sample_type =
		SAMPLE_BASE | (fixed && e->spec.producer == DA_PROD_FAULT ? 0 : DA_SAMPLE_PERIOD);
	if (s->o.adapt_pct > 0) /* whose sample it is: the event's, or an inherited copy's */
		a->sample_type |= DA_SAMPLE_PERIOD | DA_SAMPLE_STREAM_ID;
	switch (e->spec.producer) {
	case DA_PROD_REGS:
		if (!s->o.no_regs && REGS_MASK != 0) {
			a->sample_type |= DA_SAMPLE_REGS_INTR;
			a->sample_regs_intr = REGS_MASK;
		}
		break;
	case DA_PROD_FAULT:
		a->sample_type |= DA_SAMPLE_ADDR | (s->o.phys ? DA_SAMPLE_PHYS_ADDR : 0);
		if (s->o.regs && REGS_MASK != 0) {
			a->sample_type |= DA_SAMPLE_REGS_INTR;
			a->sample_regs_intr = REGS_MASK;
		}
		break;
	case DA_PROD_IBS_OP:
	case DA_PROD_IBS_FETCH:
		a->sample_type |= DA_SAMPLE_RAW | DA_SAMPLE_ADDR | DA_SAMPLE_DATA_SRC |
				  DA_SAMPLE_WEIGHT | DA_SAMPLE_DATA_PAGE_SIZE |
				  (s->o.phys ? DA_SAMPLE_PHYS_ADDR : 0);
		break;
	case DA_PROD_ADDR:
		if (s->o.latency_ms) /* each sample by an interrupt: the kernel batches none then */
			a->wakeup_events = 1;
		a->sample_type |= DA_SAMPLE_ADDR | DA_SAMPLE_DATA_SRC | DA_SAMPLE_WEIGHT_STRUCT |
				  DA_SAMPLE_DATA_PAGE_SIZE | (s->o.phys ? DA_SAMPLE_PHYS_ADDR : 0);
		break;
	case DA_PROD_FAKE:
		a->sample_type |= DA_SAMPLE_ADDR | DA_SAMPLE_DATA_SRC;
		break;
	case DA_PROD_SPE: /* no sample has them, but perf shows only what the attr names */
		a->sample_type |= DA_SAMPLE_ADDR | DA_SAMPLE_DATA_SRC | DA_SAMPLE_WEIGHT;
		break;
	case DA_PROD_TRACEPOINT:
		a->sample_type |= DA_SAMPLE_RAW;
		break;
	default:
		break;
	}
}

static void set_flags(const struct da_session *s, struct da_attr *a)
{
	bool task = s->o.target != DA_TARGET_SYSTEM;

	a->flags |= DA_ATTR_DISABLED | DA_ATTR_SAMPLE_ID_ALL;
	if (s->clockid) {
		a->flags |= DA_ATTR_USE_CLOCKID;
		a->clockid = s->clock;
	}
	if (task && s->o.inherit)
		a->flags |= DA_ATTR_INHERIT;
	a->read_format =
		DA_FORMAT_TIME_ENABLED | DA_FORMAT_TIME_RUNNING | DA_FORMAT_ID | DA_FORMAT_LOST;
}

static void sideband_attr(struct da_session *s)
{
	struct da_attr *a = &s->sideband;

	memset(a, 0, sizeof(*a));
	a->type = DA_TYPE_SOFTWARE;
	a->config = DA_SW_DUMMY;
	a->size = 128;
	a->sample_period = 1;
	a->sample_type = SAMPLE_BASE | (s->o.adapt_pct > 0 ? DA_SAMPLE_STREAM_ID : 0);
	a->flags = DA_ATTR_EXCLUDE_KERNEL | DA_ATTR_EXCLUDE_HV | DA_ATTR_MMAP | DA_ATTR_MMAP2 |
		   DA_ATTR_MMAP_DATA | DA_ATTR_COMM | DA_ATTR_COMM_EXEC | DA_ATTR_TASK;
	/* who ran when: trace data may not say whose it is */
	if (s->has_aux && !s->fake_only)
		a->flags |= DA_ATTR_CONTEXT_SWITCH;
	set_flags(s, a);
}

/* It counts beside the event, in the same tasks and under the same conditions. */
static void set_leader(const struct da_session *s, struct s_event *e)
{
	const uint64_t shared = DA_ATTR_EXCLUDE_USER | DA_ATTR_EXCLUDE_KERNEL | DA_ATTR_EXCLUDE_HV |
				DA_ATTR_ENABLE_ON_EXEC | DA_ATTR_PINNED;

	if (!e->spec.has_leader)
		return;
	e->leader = e->spec.leader;
	e->leader.size = 128;
	set_flags(s, &e->leader);
	e->leader.flags |= e->attr.flags & shared;
	e->leader.read_format = e->attr.read_format;
	/* one that is pinned leads */
	e->attr.flags &= ~DA_ATTR_PINNED;
}

int s_attrs(struct da_session *s, struct da_error *err)
{
	for (size_t i = 0; i < s->nr_ev; i++) {
		struct s_event *e = &s->ev[i];
		int rc;

		e->attr = e->spec.attr;
		e->attr.size = 128;
		rc = set_rate(s, e, err);
		if (!rc && e->aux)
			rc = e->aux->init(s, e, err);
		if (rc)
			return rc;
		set_fields(s, e);
		set_flags(s, &e->attr);
		if (s->o.all_user && !e->spec.system)
			e->attr.flags =
				(e->attr.flags | DA_ATTR_EXCLUDE_KERNEL) & ~DA_ATTR_EXCLUDE_USER;
		if (s->o.all_kernel)
			e->attr.flags =
				(e->attr.flags | DA_ATTR_EXCLUDE_USER) & ~DA_ATTR_EXCLUDE_KERNEL;
		if (e->spec.system)
			e->attr.flags &= ~DA_ATTR_INHERIT;
		else if (s->o.target == DA_TARGET_COMMAND && s->o.enable_on_exec &&
			 !s->o.delay_ms && !e->fake)
			e->attr.flags |= DA_ATTR_ENABLE_ON_EXEC;
		set_leader(s, e);
	}
	sideband_attr(s);
	return 0;
}
