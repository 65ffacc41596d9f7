/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of the kernel's own pipeline to sums (da_kernel.h). What a field means is looked up by its name, in the
 * words of the series' text; it judges nothing.
 */
#include "da_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const da_ktp_names[DA_KTP_NR] = {"damon_perf_sample", "damon_perf_report_missed",
					     "damon_perf_drain"};

/* Names that a field of each meaning may have; the first one that there is counts. */
static const char *const address_words[] = {"addr",  "vaddr",     "address", "virt_addr",
					    "paddr", "phys_addr", NULL};
static const char *const valid_words[] = {"valid", "is_valid", "addr_valid", NULL};
static const char *const cpu_words[] = {"cpu", "cpu_id", "sample_cpu", NULL};
static const char *const period_words[] = {"period", "sample_period", NULL};
static const char *const pmu_words[] = {"pmu", "pmu_name", "event", "event_name", NULL};
static const char *const config_words[] = {"config", "attr_config", NULL};
static const char *const wakeup_words[] = {"wakeup_events", NULL};
static const char *const precise_words[] = {"precise_ip", "precise", NULL};
static const char *const missed_words[] = {"count", "nr_missed", "missed", "nr",
					   "lost",  "dropped",   NULL};
static const char *const drained_words[] = {"drained",    "nr_drained", "dequeued", "dequeue",
					    "nr_reports", "reports",    "count",    NULL};
static const char *const matched_words[] = {"matched", "nr_matched", "match", NULL};
static const char *const updated_words[] = {"updated", "nr_updated", "update", NULL};

struct da_kernel *da_kernel_new(void)
{
	struct da_kernel *k = calloc(1, sizeof(*k));

	if (k)
		k->wakeup = -1;
	return k;
}

void da_kernel_free(struct da_kernel *k)
{
	if (k)
		free(k->cpus);
	free(k);
}

struct da_kernel *da_kernel_copy(const struct da_kernel *k)
{
	struct da_kernel *c = malloc(sizeof(*c));

	if (!c)
		return NULL;
	*c = *k;
	c->room_cpus = k->nr_cpus;
	c->cpus = calloc(k->nr_cpus + 1, sizeof(*c->cpus));
	if (!c->cpus) {
		free(c);
		return NULL;
	}
	if (k->nr_cpus)
		memcpy(c->cpus, k->cpus, k->nr_cpus * sizeof(*c->cpus));
	return c;
}

enum da_ktp da_ktp_of(const char *system, const char *name)
{
	if (!strcmp(system, "damon"))
		for (int i = 0; i < DA_KTP_NR; i++)
			if (!strcmp(name, da_ktp_names[i]))
				return (enum da_ktp)i;
	return DA_KTP_NR;
}

static void add(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

/* ---- fields ---- */

struct record {
	struct da_kernel *k;
	const struct da_tracepoint *tp;
	const uint8_t *raw;
	size_t len;
	uint32_t cpu;
	uint64_t time_ns;
	bool bad;
};

static const struct da_tp_field *field(const struct record *r, const char *const *names)
{
	for (size_t i = 0; names[i]; i++) {
		const struct da_tp_field *f = da_tracepoint_field(r->tp, names[i]);

		if (f && !f->common)
			return f;
	}
	return NULL;
}

/* An integer that is named so; false: there is none, or the record does not hold it. */
static bool number(struct record *r, const char *const *names, uint64_t *out)
{
	const struct da_tp_field *f = field(r, names);
	struct da_tp_value v;

	if (!f || (f->kind != DA_TP_UINT && f->kind != DA_TP_INT))
		return false;
	if (da_tracepoint_value(r->tp, f, r->raw, r->len, &v)) {
		r->bad = true;
		return false;
	}
	*out = v.u;
	return true;
}

/* The same of what cannot be negative. */
static bool count(struct record *r, const char *const *names, uint64_t *out)
{
	const struct da_tp_field *f = field(r, names);

	if (!number(r, names, out))
		return false;
	if (f->kind == DA_TP_INT && (int64_t)*out < 0) {
		r->bad = true;
		return false;
	}
	return true;
}

static void text(struct record *r, const char *const *names, char *buf, size_t size)
{
	const struct da_tp_field *f = field(r, names);
	struct da_tp_value v;
	size_t n;

	if (!f || f->kind != DA_TP_TEXT)
		return;
	if (da_tracepoint_value(r->tp, f, r->raw, r->len, &v)) {
		r->bad = true;
		return;
	}
	n = v.len < size ? v.len : size - 1;
	memcpy(buf, v.bytes, n);
	buf[n] = '\0';
}

/* ---- CPUs ---- */

/* The row of a CPU, kept by number; NULL: there are too many, or out of memory (*rc). */
static struct da_kernel_cpu *row(struct da_kernel *k, uint32_t cpu, int *rc)
{
	size_t lo = 0, hi = k->nr_cpus;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->cpus[mid].cpu < cpu)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < k->nr_cpus && k->cpus[lo].cpu == cpu)
		return &k->cpus[lo];
	if (k->nr_cpus == DA_KERNEL_MAX_CPUS) {
		add(&k->cpus_left_out, 1);
		return NULL;
	}
	if (k->nr_cpus == k->room_cpus) {
		size_t room = k->room_cpus ? 2 * k->room_cpus : 8;
		struct da_kernel_cpu *more = reallocarray(k->cpus, room, sizeof(*more));

		if (!more) {
			*rc = -DA_ENOMEM;
			return NULL;
		}
		k->cpus = more;
		k->room_cpus = room;
	}
	memmove(&k->cpus[lo + 1], &k->cpus[lo], (k->nr_cpus - lo) * sizeof(*k->cpus));
	k->cpus[lo] = (struct da_kernel_cpu){.cpu = cpu};
	k->nr_cpus++;
	return &k->cpus[lo];
}

/* The CPU that the record names, else the one that wrote it. */
static uint32_t cpu_of(struct record *r, bool *named)
{
	uint64_t cpu;

	*named = number(r, cpu_words, &cpu) && cpu <= UINT32_MAX;
	return *named ? (uint32_t)cpu : r->cpu;
}

/* ---- the three ---- */

static void sampler(struct record *r)
{
	struct da_kernel *k = r->k;
	uint64_t v;

	text(r, pmu_words, k->pmu, sizeof(k->pmu));
	if (count(r, config_words, &v))
		k->config = v;
	if (count(r, period_words, &v))
		k->period = v;
	if (count(r, wakeup_words, &v))
		k->wakeup = v > 0;
	if (count(r, precise_words, &v))
		k->precise = v > 0;
}

static int take_sample(struct record *r)
{
	struct da_kernel *k = r->k;
	struct da_kernel_cpu *c;
	bool named, has, valid = false;
	uint32_t cpu = cpu_of(r, &named);
	uint64_t v = 0;
	int rc = 0;

	has = number(r, valid_words, &v) || number(r, address_words, &v);
	valid = has && v;
	sampler(r);
	if (r->bad)
		return -DA_EDAMAGED;
	k->has_valid |= has;
	k->has_cpu |= named;
	add(&k->samples, 1);
	add(&k->valid, valid);
	add(&k->after_drain, 1);
	if (r->time_ns) {
		if (!k->first_ns)
			k->first_ns = r->time_ns;
		if (r->time_ns > k->last_ns)
			k->last_ns = r->time_ns;
	}
	c = row(k, cpu, &rc);
	if (c) {
		add(&c->samples, 1);
		add(&c->valid, valid);
	}
	c = row(k, r->cpu, &rc);
	if (c)
		add(&c->fired, 1);
	return rc;
}

static int take_missed(struct record *r)
{
	struct da_kernel_cpu *c;
	bool named;
	uint32_t cpu = cpu_of(r, &named);
	uint64_t n = 1;
	int rc = 0;

	(void)count(r, missed_words, &n);
	if (r->bad)
		return -DA_EDAMAGED;
	add(&r->k->missed, n);
	c = row(r->k, cpu, &rc);
	if (c)
		add(&c->missed, n);
	return rc;
}

static int take_drain(struct record *r)
{
	struct da_kernel *k = r->k;
	struct da_kernel_cpu *c;
	bool ring, drained, matched, updated;
	uint32_t cpu = cpu_of(r, &ring);
	uint64_t n = 0, m = 0, u = 0;
	int rc = 0;

	drained = count(r, drained_words, &n);
	matched = count(r, matched_words, &m);
	updated = count(r, updated_words, &u);
	if (r->bad)
		return -DA_EDAMAGED;
	k->has_ring |= ring;
	k->has_drained |= drained;
	k->has_matched |= matched;
	k->has_updated |= updated;
	add(&k->drained, n);
	add(&k->matched, m);
	add(&k->updated, u);
	k->after_drain = 0;
	if (r->time_ns > k->drain_ns) {
		if (k->drain_ns && r->time_ns - k->drain_ns > k->gap_ns)
			k->gap_ns = r->time_ns - k->drain_ns;
		k->drain_ns = r->time_ns;
	}
	c = ring ? row(k, cpu, &rc) : NULL;
	if (c)
		add(&c->drained, n);
	return rc;
}

int da_kernel_add(struct da_kernel *k, const struct da_tracepoint *tp, const uint8_t *raw,
		  size_t len, uint32_t cpu, uint64_t time_ns)
{
	struct record r = {
		.k = k, .tp = tp, .raw = raw, .len = len, .cpu = cpu, .time_ns = time_ns};
	enum da_ktp which = da_ktp_of(da_tracepoint_system(tp), da_tracepoint_name(tp));
	int rc;

	if (which == DA_KTP_NR)
		return 0;
	k->recorded[which] = true;
	rc = which == DA_KTP_SAMPLE   ? take_sample(&r)
	     : which == DA_KTP_MISSED ? take_missed(&r)
				      : take_drain(&r);
	add(rc == -DA_EDAMAGED ? &k->bad : &k->records[which], 1);
	return rc;
}

/* ---- what it comes to ---- */

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* A missed report is one that the ring refused, or one that came out of it and fell into no region: the name of
 * the tracepoint allows both. It was the latter if the drains' own counts leave room for it only there. */
static enum da_kernel_missed missed_at(const struct da_kernel *k)
{
	bool none_missing = k->has_drained && k->drained >= k->valid;

	return k->missed && none_missing && k->has_matched &&
			       minus(k->drained, k->matched) == k->missed
		       ? DA_KERNEL_MISSED_MATCH
		       : DA_KERNEL_MISSED_RING;
}

void da_kernel_ledger(const struct da_kernel *k, struct da_kernel_ledger *out)
{
	bool ring_in = k->recorded[DA_KTP_SAMPLE] && (k->has_valid || !k->samples);
	bool drains = k->recorded[DA_KTP_DRAIN] && (k->has_drained || !k->records[DA_KTP_DRAIN]);

	memset(out, 0, sizeof(*out));
	out->missed_at = missed_at(k);
	if (out->missed_at == DA_KERNEL_MISSED_RING)
		out->overflow = k->missed;
	else
		out->miss = k->missed;
	out->layer[DA_STAGE_SAMPLE].in_known = k->recorded[DA_KTP_SAMPLE];
	out->layer[DA_STAGE_SAMPLE].in = k->samples;
	out->layer[DA_STAGE_SAMPLE].out_known = out->layer[DA_STAGE_RING].in_known = ring_in;
	out->layer[DA_STAGE_SAMPLE].out = out->layer[DA_STAGE_RING].in = k->valid;
	out->layer[DA_STAGE_RING].out_known = out->layer[DA_STAGE_MATCH].in_known = drains;
	out->layer[DA_STAGE_RING].out = out->layer[DA_STAGE_MATCH].in = k->drained;
	out->layer[DA_STAGE_MATCH].out_known = out->layer[DA_STAGE_UPDATE].in_known =
		k->has_matched;
	out->layer[DA_STAGE_MATCH].out = out->layer[DA_STAGE_UPDATE].in = k->matched;
	out->layer[DA_STAGE_UPDATE].out_known = k->has_updated;
	out->layer[DA_STAGE_UPDATE].out = k->updated;
	if (ring_in && drains) {
		out->resident = minus(minus(k->valid, out->overflow), k->drained);
		out->earlier = minus(k->drained, minus(k->valid, out->overflow));
	}
}

/* Names come from records: only what an event of ours can be made of. */
static bool is_plain(const char *s)
{
	return *s && s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789_-")] == '\0';
}

bool da_kernel_event(const struct da_kernel *k, char *buf, size_t size)
{
	int n;

	if (!is_plain(k->pmu) || !k->period)
		return false;
	if (!strcmp(k->pmu, "software")) {
		const char *name = k->config == 2 ? "page-faults" : k->config ? NULL : "cpu-clock";

		n = name ? snprintf(buf, size, "%s/period=%llu/", name,
				    (unsigned long long)k->period)
			 : -1;
	} else {
		n = snprintf(buf, size, "%s/config=%llu,period=%llu/", k->pmu,
			     (unsigned long long)k->config, (unsigned long long)k->period);
	}
	return n > 0 && (size_t)n < size;
}
