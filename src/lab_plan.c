/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The experiments of `diagnose --what-if`: what the recording used, then one thing changed at a time; and the
 * conclusion, which names a cause only if taking it away takes the drops away.
 *
 * Not here: the simulation (lab.c), where the arrivals come from (cmd/whatif.c), how it is shown
 * (render_lab.c).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_error.h"
#include "da_lab.h"

#define SLOTS_MIN 64ull
#define SLOTS_MAX (1ull << 20)
#define THIN_MAX  16

/* Of a reader thread: how long until it runs, and its time for a report. */
static const uint64_t wakes[] = {0, 20000, 100000, 500000, 2000000};
static const uint64_t costs[] = {25, 50, 100, 200, 400, 800, 1600};

/* What a report costs, in ns, for the rows that ask about it: figures of tests/bench on one machine, there to
 * compare two designs and not to predict one. */
#define NMI_WRITE_NS 50  /* to write a report */
#define DECODE_NS    400 /* an instruction that is not in the cache */
#define STEP_NS      8   /* of a binary search */
#define WALK_NS      0.6 /* a region of a linear walk */

int da_lab_candidates(struct da_lab *lab, const struct da_lab_base *b)
{
	struct da_lab_model m = b->model;

	for (size_t w = 0; w < sizeof(wakes) / sizeof(wakes[0]); w++) {
		for (size_t c = 0; c < sizeof(costs) / sizeof(costs[0]); c++) {
			m.wake_ns = wakes[w];
			m.cost_ns = costs[c];
			if (da_lab_add(lab, &m) < 0)
				return -DA_ENOMEM;
		}
	}
	return 0;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

void da_lab_choose(const struct da_lab *lab, struct da_lab_base *b)
{
	uint64_t best = UINT64_MAX;

	for (size_t i = 0; b->dropped >= 0 && i < da_lab_models(lab); i++) {
		const struct da_lab_model *m = da_lab_model(lab, i);
		struct da_lab_result r = da_lab_result(lab, i);
		uint64_t off = distance(da_lab_dropped(&r), (uint64_t)b->dropped);

		/* of equals the one that is nearest to the default, which stays if it fits */
		if (off > best || (off == best && m->cost_ns != DA_LAB_CPU_NS))
			continue;
		if (off == best && b->model.cost_ns == DA_LAB_CPU_NS &&
		    b->model.wake_ns <= m->wake_ns)
			continue;
		best = off;
		b->model.wake_ns = m->wake_ns;
		b->model.cost_ns = m->cost_ns;
	}
}

int da_lab_plan_add(struct da_lab_plan *p, const struct da_lab_model *m, enum da_lab_part part,
		    const char *label)
{
	enum da_lab_part *parts = reallocarray(p->part, p->nr + 1, sizeof(*parts));
	char(*labels)[48] = reallocarray(p->label, p->nr + 1, sizeof(*labels));

	if (parts)
		p->part = parts;
	if (labels)
		p->label = labels;
	if (!parts || !labels || da_lab_add(p->lab, m) < 0)
		return -DA_ENOMEM;
	parts[p->nr] = part;
	snprintf(labels[p->nr], sizeof(labels[0]), "%s", label);
	p->nr++;
	return 0;
}

static int try_slots(struct da_lab_plan *p, const struct da_lab_model *base)
{
	char label[48];

	for (uint64_t n = SLOTS_MIN; n <= SLOTS_MAX; n *= 2) {
		struct da_lab_model m = *base;

		if (n == base->slots)
			continue;
		m.slots = n;
		snprintf(label, sizeof(label), "slots=%" PRIu64, n);
		if (da_lab_plan_add(p, &m, DA_LAB_SLOTS, label))
			return -DA_ENOMEM;
	}
	return 0;
}

static int try_periods(struct da_lab_plan *p, const struct da_lab_model *base)
{
	char label[48];

	for (uint32_t n = 2; n <= THIN_MAX; n *= 2) {
		struct da_lab_model m = *base;

		m.thin = n;
		snprintf(label, sizeof(label), "period x%" PRIu32, n);
		if (da_lab_plan_add(p, &m, DA_LAB_PERIOD, label))
			return -DA_ENOMEM;
	}
	return 0;
}

static uint64_t log2_up(uint64_t n)
{
	uint64_t bits = 0;

	while (bits < 63 && (1ull << bits) < n)
		bits++;
	return bits;
}

/* The thread's open questions: which rule, which scope, who decodes, how a region is found. */
static int try_designs(struct da_lab_plan *p, const struct da_lab_base *b)
{
	struct da_lab_model other = b->model, keep = b->model, nest = b->model, late = b->model,
			    walk = b->model, search = b->model, instant = b->model;
	int rc;

	other.single = !b->model.single;
	keep.latest = !b->model.latest;
	nest.publish_ns = 0;
	nest.write_ns = NMI_WRITE_NS + DECODE_NS;
	late.cost_ns += DECODE_NS;
	walk.cost_ns += (uint64_t)((double)b->regions / 2 * WALK_NS);
	search.cost_ns += log2_up(b->regions) * STEP_NS;
	instant.cost_ns = instant.wake_ns = 0;
	rc = da_lab_plan_add(p, &other, DA_LAB_DRAIN,
			     other.single ? "one buffer for all CPUs" : "a buffer for each CPU");
	if (!rc)
		rc = da_lab_plan_add(p, &keep, DA_LAB_KEEP,
				     keep.latest ? "keep=latest" : "keep=oldest");
	if (!rc)
		rc = da_lab_plan_add(p, &nest, DA_LAB_NESTING, "decoded in the interrupt");
	if (!rc)
		rc = da_lab_plan_add(p, &late, DA_LAB_DECODE, "decoded by the reader");
	if (!rc && b->regions > 1)
		rc = da_lab_plan_add(p, &search, DA_LAB_LOOKUP, "regions by binary search");
	if (!rc && b->regions > 1)
		rc = da_lab_plan_add(p, &walk, DA_LAB_LOOKUP, "regions by linear walk");
	if (!rc)
		rc = da_lab_plan_add(p, &instant, DA_LAB_READER, "a reader that takes no time");
	return rc;
}

int da_lab_plan(struct da_lab_plan *p, const struct da_lab_base *base)
{
	int rc;

	memset(p, 0, sizeof(*p));
	p->base = *base;
	p->lab = da_lab_new();
	if (!p->lab)
		return -DA_ENOMEM;
	rc = da_lab_plan_add(p, &base->model, DA_LAB_BASE,
			     base->recorded ? "as recorded" : "defaults of record");
	if (!rc)
		rc = try_designs(p, base);
	if (!rc)
		rc = try_slots(p, &base->model);
	if (!rc)
		rc = try_periods(p, &base->model);
	return rc;
}

void da_lab_plan_release(struct da_lab_plan *p)
{
	da_lab_free(p->lab);
	free(p->part);
	free(p->label);
	memset(p, 0, sizeof(*p));
}

/* ---- what it proves ---- */

/* The first model of this part whose drops are at most `max`; with `greater`, of those with more slots than the
 * base. Models of a part stand in growing order. */
static size_t first_good(const struct da_lab_plan *p, enum da_lab_part part, uint64_t max,
			 bool greater)
{
	for (size_t i = 0; i < p->nr; i++) {
		struct da_lab_result r = da_lab_result(p->lab, i);

		if (p->part[i] != part || da_lab_dropped(&r) > max)
			continue;
		if (greater && da_lab_model(p->lab, i)->slots <= p->base.model.slots)
			continue;
		return i;
	}
	return SIZE_MAX;
}

static void advise(struct da_lab_plan *p)
{
	size_t drain = first_good(p, DA_LAB_DRAIN, 0, false),
	       slots = first_good(p, DA_LAB_SLOTS, 0, true),
	       period = first_good(p, DA_LAB_PERIOD, 0, false);
	const char * or = "";
	size_t used = 0;

	if (drain != SIZE_MAX) {
		used += (size_t)snprintf(p->advice, sizeof(p->advice), "--drain=%s",
					 da_lab_model(p->lab, drain)->single ? "single" : "percpu");
		or = ", or with ";
	}
	if (slots != SIZE_MAX) {
		used += (size_t)snprintf(p->advice + used, sizeof(p->advice) - used,
					 "%s--buffer slots=%" PRIu64, or,
					 da_lab_model(p->lab, slots)->slots);
		or = ", or with ";
	}
	if (period != SIZE_MAX)
		snprintf(p->advice + used, sizeof(p->advice) - used,
			 "%sa period %" PRIu32 " times as long", or,
			 da_lab_model(p->lab, period)->thin);
}

/* A larger buffer cures bursts; what only a much larger one cures is a reader that does not keep up. */
#define LARGER 16

static void blame_sharing(struct da_lab_plan *p, size_t i)
{
	struct da_lab_result r = da_lab_result(p->lab, i);

	snprintf(p->cause, sizeof(p->cause), "fan_in");
	snprintf(p->evidence, sizeof(p->evidence),
		 "%" PRIu32 " CPUs share one buffer of %" PRIu64
		 " slots; one of that size for each CPU drops %" PRIu64
		 " and is never fuller than %" PRIu64,
		 da_lab_cpus(p->lab), p->base.model.slots, da_lab_dropped(&r), r.peak);
}

static void blame_size(struct da_lab_plan *p, size_t i)
{
	struct da_lab_result r = da_lab_result(p->lab, i);

	snprintf(p->cause, sizeof(p->cause), "report_buffer_small");
	snprintf(p->evidence, sizeof(p->evidence),
		 "%" PRIu64 " slots instead of %" PRIu64 " drop %" PRIu64,
		 da_lab_model(p->lab, i)->slots, p->base.model.slots, da_lab_dropped(&r));
}

static void blame_reader(struct da_lab_plan *p, size_t i)
{
	struct da_lab_result r = da_lab_result(p->lab, i);

	snprintf(p->cause, sizeof(p->cause), "slow_consumer");
	snprintf(p->evidence, sizeof(p->evidence),
		 "%d times the slots do not help; a reader that takes no time, instead of %" PRIu64
		 " ns a report, drops %" PRIu64,
		 LARGER, p->base.model.cost_ns, da_lab_dropped(&r));
}

static void conclude(struct da_lab_plan *p, uint64_t dropped)
{
	uint64_t few = dropped / 10;
	size_t drain = first_good(p, DA_LAB_DRAIN, few, false),
	       slots = first_good(p, DA_LAB_SLOTS, few, true),
	       reader = first_good(p, DA_LAB_READER, few, false);

	if (p->base.model.single && da_lab_cpus(p->lab) > 1 && drain != SIZE_MAX)
		blame_sharing(p, drain);
	else if (slots != SIZE_MAX &&
		 da_lab_model(p->lab, slots)->slots / LARGER <= p->base.model.slots)
		blame_size(p, slots);
	else if (reader != SIZE_MAX)
		blame_reader(p, reader);
	else if (slots != SIZE_MAX)
		blame_size(p, slots);
}

void da_lab_plan_conclude(struct da_lab_plan *p)
{
	struct da_lab_result base = da_lab_result(p->lab, 0);
	uint64_t dropped = da_lab_dropped(&base);

	p->fits = p->base.dropped < 0 ||
		  distance(dropped, (uint64_t)p->base.dropped) <= base.offered / 10;
	p->cause[0] = p->evidence[0] = p->advice[0] = '\0';
	if (!dropped)
		return;
	conclude(p, dropped);
	advise(p);
}
