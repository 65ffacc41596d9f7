/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notes: loss, yield, bias and whatever else stands beside the verdict without changing it. Causes of drops
 * are told apart by what was measured on each buffer, never by the rate of drops alone.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "verdict_priv.h"

static void title(struct da_check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void title(struct da_check *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->title, sizeof(c->title), fmt, ap);
	va_end(ap);
}

/* ---- environment, create, bind, enable ---- */

bool vd_note_rate_clamped(const struct vd_event *e, struct da_check *c)
{
	int64_t before = e->f->max_sample_rate_before, after = e->f->max_sample_rate_after;
	struct da_cause *k;

	if (before < 0 || after < 0 || after >= before)
		return false;
	title(c, "the kernel lowered perf_event_max_sample_rate while running");
	vd_evidence(c,
		    "kernel.perf_event_max_sample_rate %" PRId64 " before, %" PRId64
		    " after: sampling took too much time",
		    before, after);
	k = vd_cause(c, "rate_clamped");
	vd_cause_evidence(k,
			  "from %" PRId64 " to %" PRId64
			  " samples a second, for everybody until it is set back",
			  before, after);
	vd_fix(k,
	       "a longer period: -c %" PRIu64
	       "; set back with: sudo sysctl kernel.perf_event_max_sample_rate=%" PRId64,
	       e->ev->effective_period ? 4 * e->ev->effective_period : 1000000, before);
	return true;
}

bool vd_note_optional_bits(const struct vd_event *e, struct da_check *c)
{
	const char *p = e->ev->dropped_bits;
	unsigned nr = 1;

	if (!*p)
		return false;
	for (; *p; p++)
		nr += *p == ',';
	title(c, "without %.60s", e->ev->dropped_bits);
	vd_evidence(c, "kernel or PMU refused %u optional attr bits: %.120s", nr,
		    e->ev->dropped_bits);
	return true;
}

bool vd_note_period(const struct vd_event *e, struct da_check *c)
{
	uint64_t asked = e->ev->attr.sample_period, got = e->ev->effective_period;

	if ((e->ev->attr.flags & DA_ATTR_FREQ) || !got || !asked || got == asked)
		return false;
	if (e->ev->period_steps) {
		title(c, "period stepped to %" PRIu64, got);
		vd_evidence(c,
			    "stepped %" PRIu64 " times from %" PRIu64 " to %" PRIu64
			    "; the last time because: %.100s",
			    e->ev->period_steps, asked, got, e->ev->last_step);
		return true;
	}
	title(c, "period %" PRIu64 " instead of %" PRIu64, got, asked);
	vd_evidence(c, "the PMU took the period %" PRIu64 " for the %" PRIu64 " that were asked",
		    got, asked);
	return true;
}

bool vd_note_ring_halved(const struct vd_event *e, struct da_check *c)
{
	uint64_t wanted = e->f->mmap_pages_wanted, got = e->f->mmap_pages;

	if (!got || got >= wanted)
		return false;
	title(c, "kernel rings of %" PRIu64 " pages instead of %" PRIu64, got, wanted);
	vd_evidence(c, "locked memory allows rings of %" PRIu64 " pages, %" PRIu64 " were wanted",
		    got, wanted);
	return true;
}

bool vd_note_multiplexed(const struct vd_event *e, struct da_check *c)
{
	char pct[16];

	/* A per-task event of one CPU does not run while the task is on another: says nothing. */
	if (vd_per_task(e) || e->enabled_ns <= 0 || e->running_ns < 0 ||
	    (double)e->running_ns >= 0.95 * (double)e->enabled_ns)
		return false;
	vd_percent((double)e->running_ns, (double)e->enabled_ns, pct);
	title(c, "the event ran %s of the time: multiplexed", pct);
	vd_evidence(c,
		    "enabled %" PRId64 " ns, running %" PRId64
		    " ns: other events share its counters",
		    e->enabled_ns, e->running_ns);
	return true;
}

/* ---- sample ---- */

double vd_valid_pct(const struct vd_event *e)
{
	return e->n.callback ? 100.0 * (double)e->n.valid / (double)e->n.callback : 100;
}

/* What an address from this producer cannot tell; NULL: no known bias. */
static const char *bias(const struct da_facts_event *ev)
{
	switch (ev->producer) {
	case DA_PROD_REGS:
		return "decoded at IP, biased against missing loads";
	case DA_PROD_FAULT:
		return "first touches of pages, not accesses";
	default:
		return NULL;
	}
}

struct drop_cause {
	enum da_drop drop;
	const char *id, *evidence;
	const char *fix, *fix_rest; /* the event's name goes between them */
};

static const struct drop_cause drop_causes[] = {
	{DA_DROP_ADDR_NONE, "no_registers",
	 "the samples were taken without registers to decode an address from",
	 "damon-attrs diagnose -e ", ", without --no-regs"},
	{DA_DROP_NO_REGS, "registers_missing", "these samples came without their registers",
	 "damon-attrs diagnose -e ", " --all-user"},
	{DA_DROP_ADDR_NONE, "event_without_address",
	 "the samples carry no data address (a precise event that has none, or not a memory event)",
	 "damon-attrs diagnose -e auto, instead of -e ", ""},
	{DA_DROP_NO_CODE, "code_missing",
	 "the instruction bytes are gone: JIT code, a replaced or unmapped file",
	 "damon-attrs record -e ", " -- COMMAND (it saves the code as it samples)"},
	{DA_DROP_KERNEL_IP, "kernel_samples",
	 "the samples are in the kernel, whose registers are not decoded",
	 "damon-attrs diagnose -e ", " --all-user"},
	{DA_DROP_UNDECODED, "undecodable_code", "the decoder does not know the instructions",
	 "damon-attrs record -e ", " -- COMMAND; damon-attrs report --format=samples -F ip,sym"},
	{DA_DROP_NOT_MEMORY, "not_memory", "the sampled instructions access no memory",
	 "damon-attrs diagnose -e auto (a PMU that gives addresses, if there is one), instead of -e ",
	 ""},
	{DA_DROP_BASE_OVERWRITTEN, "base_overwritten",
	 "the registers are from after the instruction, which changed them",
	 "damon-attrs diagnose -e ", ", without the modifier p"},
	{DA_DROP_UNRESOLVED, "unresolved",
	 "gathers and scatters: their index vectors are not sampled",
	 "damon-attrs diagnose -e auto, instead of -e ", ""},
	{DA_DROP_SEGMENT, "segment", "thread-local accesses: the FS or GS base is not sampled",
	 "damon-attrs diagnose -e auto, instead of -e ", ""},
	{DA_DROP_INVALID, "hardware_invalid", "the PMU marked the addresses as invalid",
	 "damon-attrs diagnose -e ", " -c N with another period"},
	{DA_DROP_BAD_PACKET, "damaged_stream", "packets of the AUX stream are damaged",
	 "damon-attrs diagnose -e ", " -m 1024"},
	{DA_DROP_TRUNCATED, "truncated_records", "records do not fit their bytes",
	 "record again: damon-attrs record -e ", " -- COMMAND"},
};

/* Clock samples that were taken without registers have nothing to decode an address from. */
static bool applies(const struct vd_event *e, const struct drop_cause *d)
{
	bool bare =
		e->ev->producer == DA_PROD_REGS && !(e->ev->attr.sample_type & DA_SAMPLE_REGS_INTR);

	if (!e->sum.drop[d->drop])
		return false;
	return d->drop != DA_DROP_ADDR_NONE || !strcmp(d->id, "no_registers") == bare;
}

/* The three drops that cost most, the greatest first. */
static void yield_causes(const struct vd_event *e, struct da_check *c)
{
	bool used[sizeof(drop_causes) / sizeof(drop_causes[0])] = {false};
	const struct drop_cause *d;
	struct da_cause *k;
	size_t n, i, best;
	char pct[16];

	for (n = 0; n < sizeof(c->causes) / sizeof(c->causes[0]); n++) {
		best = SIZE_MAX;
		for (i = 0; i < sizeof(drop_causes) / sizeof(drop_causes[0]); i++)
			if (!used[i] && applies(e, &drop_causes[i]) &&
			    (best == SIZE_MAX || e->sum.drop[drop_causes[i].drop] >
							 e->sum.drop[drop_causes[best].drop]))
				best = i;
		if (best == SIZE_MAX)
			return;
		used[best] = true;
		d = &drop_causes[best];
		k = vd_cause(c, d->id);
		vd_percent((double)e->sum.drop[d->drop], (double)e->n.callback, pct);
		vd_cause_evidence(k, "%" PRIu64 " samples (%s): %s", e->sum.drop[d->drop], pct,
				  d->evidence);
		vd_fix(k, "%s%s%s", d->fix, vd_spec(e), d->fix_rest);
	}
}

bool vd_note_yield(const struct vd_event *e, struct da_check *c)
{
	const char *b = bias(e->ev);
	bool all = e->n.valid == e->n.callback;
	char pct[16];

	if (!e->n.callback || (all && !b))
		return false;
	vd_percent((double)e->n.valid, (double)e->n.callback, pct);
	if (!e->n.valid)
		title(c, "valid 0 of %" PRIu64 " samples", e->n.callback);
	else if (all)
		title(c, "%s", b);
	else
		title(c, "valid %s of samples%s%s", pct, b ? ", " : "", b ? b : "");
	vd_evidence(c, "%" PRIu64 " of %" PRIu64 " samples have an address (%s)", e->n.valid,
		    e->n.callback, pct);
	if (!all)
		yield_causes(e, c);
	return true;
}

/* A CPU that owed samples and gave none. */
static bool silent_cpu(const struct vd_event *e, const struct da_facts_cpu *r)
{
	const struct da_facts_event *ev = e->ev;
	uint64_t period = ev->effective_period;

	if (r->state < DA_STATE_ENABLED || r->target_absent || r->ledger.in[DA_STAGE_SAMPLE] ||
	    r->lost > 0)
		return false;
	if (ev->producer == DA_PROD_FAKE)
		return true;
	/* A clock counts idle and excluded time too. */
	if (vd_clock(ev) && (ev->attr.flags & (DA_ATTR_EXCLUDE_USER | DA_ATTR_EXCLUDE_KERNEL)))
		return false;
	return period && r->count > 0 && (uint64_t)r->count / period >= 10;
}

bool vd_note_cpus(const struct vd_event *e, struct da_check *c)
{
	size_t i, silent = 0;
	uint32_t first = 0;
	struct da_cause *k;

	if (!e->run_known || !e->n.callback)
		return false;
	for (i = 0; i < e->ev->nr_cpus; i++)
		if (silent_cpu(e, &e->ev->cpus[i]) && !silent++)
			first = e->ev->cpus[i].cpu;
	if (!silent)
		return false;
	title(c, "samples from %zu of %zu CPUs only", e->sampled, e->rows);
	vd_evidence(
		c,
		"%zu CPUs enabled, %zu gave samples, %zu counted events and gave none (first: CPU %u)",
		e->at_least[DA_STATE_ENABLED], e->sampled, silent, first);
	k = vd_cause(c, "silent_cpus");
	vd_cause_evidence(k, "%zu CPUs count and do not sample, %u CPUs are online", silent,
			  e->f->online_cpus);
	vd_fix(k, "damon-attrs diagnose -e %s -a -C %u; cat /sys/devices/system/cpu/online",
	       vd_spec(e), first);
	return true;
}

bool vd_note_throttled(const struct vd_event *e, struct da_check *c)
{
	struct da_cause *k;

	if (e->f->throttled <= 0)
		return false;
	title(c, "throttled %" PRId64 " times by the kernel", e->f->throttled);
	vd_evidence(c,
		    "%" PRId64 " THROTTLE records; perf_event_max_sample_rate %" PRId64
		    " before, %" PRId64 " after",
		    e->f->throttled, e->f->max_sample_rate_before, e->f->max_sample_rate_after);
	k = vd_cause(c, "throttled");
	vd_cause_evidence(
		k,
		"more samples a tick than the limit allows: the kernel stopped the event until the next");
	vd_fix(k, "damon-attrs diagnose -e %s -c %" PRIu64, vd_spec(e),
	       e->ev->effective_period ? 4 * e->ev->effective_period : 1000000);
	return true;
}

bool vd_note_aux(const struct vd_event *e, struct da_check *c)
{
	char truncated[24], collisions[24], off[24];
	const struct da_facts *f = e->f;
	struct da_cause *k;

	if (!e->ev->aux || (f->aux_truncated <= 0 && f->aux_collisions <= 0 && f->aux_off_ns <= 0))
		return false;
	title(c, "AUX truncated %" PRId64 " times, %" PRId64 " collisions",
	      f->aux_truncated > 0 ? f->aux_truncated : 0,
	      f->aux_collisions > 0 ? f->aux_collisions : 0);
	vd_evidence(c, "AUX truncated %s, collisions %s, event off for %s ns",
		    vd_num(f->aux_truncated, truncated), vd_num(f->aux_collisions, collisions),
		    vd_num(f->aux_off_ns, off));
	k = vd_cause(c, "aux_small");
	vd_cause_evidence(
		k,
		"the AUX area was full before it was read, or samples came too fast for the PMU");
	vd_fix(k, "damon-attrs diagnose -e %s -c %" PRIu64 ", or a greater -m", vd_spec(e),
	       e->ev->effective_period ? 4 * e->ev->effective_period : 4096);
	return true;
}

/* ---- ring ---- */

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static uint64_t dropped(const struct vd_event *e)
{
	const uint64_t *d = e->sum.drop;

	return d[DA_DROP_OVERFLOW] + d[DA_DROP_OVERWRITTEN] + d[DA_DROP_NESTED];
}

double vd_drop_pct(const struct vd_event *e)
{
	return percent_of(dropped(e), e->n.reports);
}

/* What the report buffers of the run looked like. */
struct buffers {
	const struct da_facts_buffer *worst; /* with the most overflow */
	size_t active, empty, full;          /* offered something, nothing; reached their size */
	double horizon_s; /* time that the worst one can hold at its mean rate; 0 unknown */
};

static void look_at_buffers(const struct da_facts *f, struct buffers *b)
{
	size_t i;

	memset(b, 0, sizeof(*b));
	for (i = 0; i < f->nr_buffers; i++) {
		const struct da_facts_buffer *x = &f->buffers[i];

		if (!(x->enqueue + x->overflow)) {
			b->empty++;
			continue;
		}
		b->active++;
		b->full += x->slots && x->peak >= x->slots;
		if (x->overflow && (!b->worst || x->overflow > b->worst->overflow))
			b->worst = x;
	}
	if (b->worst && f->duration_ns)
		b->horizon_s = (double)b->worst->slots * ((double)f->duration_ns / 1e9) /
			       ((double)b->worst->enqueue + (double)b->worst->overflow);
}

/* Many CPUs in one buffer while no other buffer sees anything. */
static bool is_fan_in(const struct buffers *b)
{
	return b->worst && b->worst->source_cpus > 1 && b->active == 1;
}

static void small_cause(const struct vd_event *e, const struct buffers *b, struct da_check *c)
{
	struct da_cause *k = vd_cause(c, "report_buffer_small");

	vd_cause_evidence(k,
			  "%zu of %zu buffers in use were full; '%.30s' has %" PRIu64
			  " slots, room for %.3g s of its "
			  "reports",
			  b->full, b->active, b->worst->name, b->worst->slots, b->horizon_s);
	vd_fix(k, "damon-attrs diagnose -e %s --buffer slots=%" PRIu64, vd_spec(e),
	       8 * b->worst->slots);
}

static void slow_cause(const struct vd_event *e, const struct buffers *b, struct da_check *c)
{
	struct da_cause *k = vd_cause(c, "slow_consumer");

	vd_cause_evidence(
		k,
		"%zu of %zu buffers in use were full although '%.30s' has room for %.3g s of its reports: the "
		"reader does not keep up",
		b->full, b->active, b->worst->name, b->horizon_s);
	vd_fix(k, "damon-attrs diagnose -e %s -c %" PRIu64 " (a longer period)", vd_spec(e),
	       e->ev->effective_period ? 4 * e->ev->effective_period : 1000000);
}

/* What an experiment showed is better evidence than what the buffers looked like. */
static const char *experiment_cause(const struct vd_event *e, struct da_check *c)
{
	static const struct {
		const char *id, *words;
	} known[] = {
		{"fan_in", "fan-in"},
		{"slow_consumer", "slow consumer"},
		{"report_buffer_small", "report buffer too small"},
	};
	const struct da_facts *f = e->f;
	struct da_cause *k;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].id, f->drops_cause) != 0)
			continue;
		k = vd_cause(c, known[i].id);
		vd_cause_evidence(k, "replayed: %s", f->drops_evidence);
		vd_fix(k, "drops would be 0 with %s",
		       f->drops_advice[0] ? f->drops_advice : "nothing that was tried");
		return known[i].words;
	}
	return NULL;
}

bool vd_note_drops(const struct vd_event *e, struct da_check *c)
{
	uint64_t lost = dropped(e);
	const char *why;
	struct buffers b;
	struct da_cause *k;
	char pct[16];

	if (!lost)
		return false;
	look_at_buffers(e->f, &b);
	why = experiment_cause(e, c);
	if (!why && is_fan_in(&b)) {
		why = "fan-in";
		k = vd_cause(c, "fan_in");
		vd_cause_evidence(k,
				  "reports of %u CPUs go into one buffer ('%.30s', %" PRIu64
				  " slots, peak %" PRIu64 "), %zu other buffers are empty",
				  b.worst->source_cpus, b.worst->name, b.worst->slots,
				  b.worst->peak, b.empty);
		vd_fix(k, "damon-attrs diagnose -e %s --drain=percpu", vd_spec(e));
	} else if (!why && b.worst && b.horizon_s >= 1) {
		why = "slow consumer";
		slow_cause(e, &b, c);
	} else if (!why && b.worst) {
		why = "report buffer too small";
		small_cause(e, &b, c);
		/* Between these a larger buffer may or may not do: both are named. */
		if (b.horizon_s >= 0.1)
			slow_cause(e, &b, c);
	}
	vd_percent((double)lost, (double)e->n.reports, pct);
	title(c, "%s of reports dropped: %s", pct, why ? why : "cause not measured");
	vd_evidence(c,
		    "%" PRIu64 " of %" PRIu64 " reports dropped: overflow %" PRIu64
		    ", overwritten %" PRIu64 ", nested %" PRIu64 "; peak %" PRIu64
		    "; buffers: %zu in use, %zu full, %zu empty",
		    lost, e->n.reports, e->sum.drop[DA_DROP_OVERFLOW],
		    e->sum.drop[DA_DROP_OVERWRITTEN], e->sum.drop[DA_DROP_NESTED], e->n.peak,
		    b.active, b.full, b.empty);
	return true;
}

/* Samples that the kernel could not store: the event's own counter, else what the records of the whole run
 * say, and then of all its samples. They are different accounts of one loss and never added. */
static int64_t kernel_lost(const struct vd_event *e, uint64_t *delivered)
{
	*delivered = e->n.callback;
	if (e->lost >= 0)
		return e->lost;
	*delivered = e->run_callbacks;
	return e->f->lost_records > e->f->lost_samples ? e->f->lost_records : e->f->lost_samples;
}

double vd_kernel_loss_pct(const struct vd_event *e)
{
	uint64_t delivered;
	int64_t lost = kernel_lost(e, &delivered);

	return lost > 0 ? 100.0 * (double)lost / ((double)lost + (double)delivered) : 0;
}

bool vd_note_kernel_loss(const struct vd_event *e, struct da_check *c)
{
	const struct da_facts *f = e->f;
	char pct[16], counter[24], records[24], samples[24], pending[24], ring[24];
	uint64_t delivered;
	int64_t lost = kernel_lost(e, &delivered);
	struct da_cause *k;

	if (lost <= 0)
		return false;
	vd_percent((double)lost, (double)lost + (double)delivered, pct);
	title(c, "%s of samples lost in the kernel's ring", pct);
	vd_evidence(
		c,
		"lost before us (accounts of one loss, never added): counter %s, LOST records %s, LOST_SAMPLES "
		"%s, pending at stop %s; rings of %s",
		vd_num(e->lost, counter), vd_num(f->lost_records, records),
		vd_num(f->lost_samples, samples), vd_num(f->pending_at_stop, pending),
		vd_ring(f, ring));
	k = vd_cause(c, "kernel_ring_small");
	vd_cause_evidence(k, "%" PRId64 " samples found the ring of %s full", lost,
			  vd_ring(f, ring));
	vd_fix(k, "damon-attrs diagnose -e %s -m %u", vd_spec(e),
	       f->mmap_pages ? 4 * f->mmap_pages : 1024);
	return true;
}
