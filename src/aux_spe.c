/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The AUX backend of Arm SPE: what its PMU takes and refuses (drivers/perf/arm_spe_pmu.c), the generic timer
 * whose ticks its records carry, and how perf.data describes them. The bytes are decoders/spe.c's business.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session_aux.h"

#define INTERVAL_MASK 0xffffff00u /* PMSIRR_EL1.INTERVAL: a period is a multiple of 256 */
#define AUXTRACE_SPE  4           /* linux tools/perf/util/auxtrace.h PERF_AUXTRACE_ARM_SPE */
#define V2_MAGIC      0x1010101010101010ull
#define RECORD_BYTES  64            /* of one sample, on the CPUs that exist */
#define BUSY_OPS      3000000000ull /* operations that a busy CPU executes in a second, about */
#define LATENCY_MS    100
#define PERIOD_LOW    3000 /* below, collisions and overhead rise; the literature takes 3000 to 4000 */

static bool match(const struct da_spec *spec)
{
	return spec->producer == DA_PROD_SPE && !spec->simulate;
}

/* ---- what the PMU takes ---- */

/* As the driver corrects it without a word. */
static uint64_t real_period(uint64_t asked, uint64_t least)
{
	if (asked < least)
		return least;
	return asked > INTERVAL_MASK ? INTERVAL_MASK : asked & INTERVAL_MASK;
}

static void forecast(struct da_session *s, const struct s_event *e)
{
	uint64_t rate = BUSY_OPS / e->period;

	s_message(s, S_NOTE,
		  "%s: at period %llu a busy CPU gives about %llu samples/s, %.1f MB/s of file; -c "
		  "makes it less",
		  e->spec.name, (unsigned long long)e->period, (unsigned long long)rate,
		  (double)(rate * RECORD_BYTES) / 1e6);
}

/* What is in the area is seen only after an interrupt: so often that it is not older than wanted, and before
 * the area is full. */
static uint32_t watermark(const struct da_session *s, const struct s_event *e)
{
	uint64_t area = (uint64_t)s_aux_pages(s) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t ms = s->o.latency_ms ? s->o.latency_ms : LATENCY_MS;
	uint64_t bytes = BUSY_OPS / e->period * RECORD_BYTES * ms / 1000;

	if (bytes < RECORD_BYTES)
		bytes = RECORD_BYTES;
	return (uint32_t)(bytes < area / 2 ? bytes : area / 2);
}

int s_aux_spe_init(struct da_session *s, struct s_event *e, struct da_error *err)
{
	uint64_t asked = e->attr.sample_period;

	if (e->attr.flags & DA_ATTR_FREQ)
		return da_fail(
			err, DA_EUNSUPPORTED, 0,
			"'%s' takes a period (-c), not a frequency: Arm SPE counts operations, "
			"not time",
			e->spec.name);
	e->attr.sample_period = real_period(asked, e->spec.min_period ? e->spec.min_period : 256);
	e->period = e->attr.sample_period;
	if (e->period != asked)
		s_message(
			s, e->period > asked ? 1 : S_NOTE,
			"%s: period %llu instead of %llu: the PMU takes multiples of 256 from %llu on",
			e->spec.name, (unsigned long long)e->period, (unsigned long long)asked,
			(unsigned long long)(e->spec.min_period ? e->spec.min_period : 256));
	if (e->period < PERIOD_LOW)
		s_message(
			s, 1,
			"%s: periods below %d cost the target much and lose samples to collisions; 3000 "
			"to 4000 suits most",
			e->spec.name, PERIOD_LOW);
	e->attr.aux_watermark = watermark(s, e);
	return 0;
}

static int init(struct da_session *s, struct s_event *e, struct da_error *err)
{
	int rc = s_aux_spe_init(s, e, err);

	if (!rc)
		forecast(s, e);
	return rc;
}

/* ---- the kernel's area ---- */

static int arm(struct s_aux *a, uint32_t ring_pages, uint32_t aux_pages)
{
	int rc = evt_map_aux(a->cpu->evt, a->pair->idx, ring_pages, aux_pages);

	if (!rc)
		a->ring = evt_aux_ring(a->cpu->evt, a->pair->idx);
	return rc;
}

static int enable(struct s_aux *a)
{
	return evt_enable(a->cpu->evt, a->pair->idx);
}

static int disable(struct s_aux *a)
{
	return evt_disable(a->cpu->evt, a->pair->idx);
}

static void release(struct s_aux *a)
{
	if (a->cpu->evt)
		evt_unmap_aux(a->cpu->evt, a->pair->idx);
	a->ring = NULL;
}

/* ---- time ---- */

#if defined(__aarch64__)
static uint64_t counter(void)
{
	uint64_t v;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(v)::"memory");
	return v;
}

/* Both clocks read at one moment, as nearly as can be had. Afterwards they run alike: RAW is that counter at
 * its nominal frequency. */
static bool ticks_clock(struct da_session *s, struct da_clock *out)
{
	uint64_t freq, best = UINT64_MAX, at_ticks = 0, at_ns = 0;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(freq));
	if (!freq || !s->clockid)
		return false;
	*out = (struct da_clock){.shift = 32};
	while (out->shift && (1000000000ull << out->shift) / freq > UINT32_MAX)
		out->shift--;
	while (out->shift > 2 && 1000000000ull > UINT64_MAX >> out->shift)
		out->shift--;
	out->mult = (uint32_t)(((1000000000ull << out->shift) + freq / 2) / freq);
	for (int i = 0; i < 32; i++) {
		uint64_t before = s_now_ns(s), ticks = counter(), after = s_now_ns(s);

		if (after - before >= best)
			continue;
		best = after - before;
		at_ticks = ticks;
		at_ns = before + best / 2;
	}
	out->zero = at_ns - da_clock_ns(out, at_ticks);
	return true;
}
#else
static bool ticks_clock(struct da_session *s, struct da_clock *out)
{
	(void)s;
	(void)out;
	return false; /* no Arm CPU, no such counter */
}
#endif

/* ---- AUXTRACE_INFO ---- */

struct words {
	uint8_t *p;
	size_t len, cap;
	bool full;
};

static void put(struct words *w, uint64_t v)
{
	if (w->cap - w->len < 8) {
		w->full = true;
		return;
	}
	memcpy(w->p + w->len, &v, 8);
	w->len += 8;
}

/* The PMU of a CPU's SPE; UINT64_MAX: it has none. */
static uint64_t pmu_of(const struct da_session *s, const struct s_cpu *c)
{
	for (size_t i = 0; i < s->nr_ev; i++)
		if (c->pairs[i].aux)
			return s->ev[i].attr.type;
	return UINT64_MAX;
}

static bool all_alike(const struct da_session *s)
{
	uint64_t type = UINT64_MAX, t;

	for (size_t c = 0; c < s->nr_cpus; c++) {
		t = pmu_of(s, &s->cpus[c]);
		if (t != UINT64_MAX && type != UINT64_MAX && t != type)
			return false;
		type = t != UINT64_MAX ? t : type;
	}
	return true;
}

/* Where one PMU serves all CPUs the older form: every perf reads it. */
size_t s_aux_spe_info(struct da_session *s, uint8_t *buf, size_t cap)
{
	struct words w = {.p = buf, .cap = cap};
	uint64_t type = UINT64_MAX;
	bool alike = all_alike(s);

	for (size_t c = 0; c < s->nr_cpus && type == UINT64_MAX; c++)
		type = pmu_of(s, &s->cpus[c]);
	put(&w, AUXTRACE_SPE);
	if (alike) {
		put(&w, type);
		put(&w, 1); /* an area for each CPU */
		return w.full ? 0 : w.len;
	}
	put(&w, 2); /* version, words of this header, PMU, CPUs */
	put(&w, 4);
	put(&w, type);
	put(&w, s->nr_cpus);
	for (size_t c = 0; c < s->nr_cpus; c++) {
		put(&w, V2_MAGIC);
		put(&w, (uint64_t)s->cpus[c].cpu);
		put(&w, 3); /* MIDR, PMU, least period */
		put(&w, s_aux_midr(s->cpus[c].cpu));
		put(&w, pmu_of(s, &s->cpus[c]));
		put(&w, 0);
	}
	return w.full ? 0 : w.len;
}

uint64_t s_aux_midr(int cpu)
{
	char path[96], text[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1",
		 cpu);
	f = fopen(path, "re");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		fclose(f);
	return strtoull(text, NULL, 16);
}

const struct s_aux_backend s_aux_spe = {
	.name = "spe",
	.match = match,
	.init = init,
	.arm = arm,
	.drain = s_aux_take,
	.enable = enable,
	.disable = disable,
	.release = release,
	.clock = ticks_clock,
	.info = s_aux_spe_info,
};
