/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The AUX backend of `-e spe/simulate/`: the accesses that `-e fake` generates (da_fake.h), written as SPE
 * records by a simulated device (aux_sim.h). Everything from its memory on is the code that serves a real
 * one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aux_sim.h"
#include "da_datasrc.h"
#include "session_aux.h"

#define TICK_NS 10 /* a counter of 100 MHz */
#define SHIFT   20

struct sim {
	struct aux_sim *device;
	struct s_aux *a;
	struct s_lane *lane;
};

static bool match(const struct da_spec *spec)
{
	return spec->producer == DA_PROD_SPE && spec->simulate;
}

/* ---- records (Arm ARM, "Statistical Profiling Extension sample record specification") ---- */

static uint8_t *put(uint8_t *p, uint8_t header, uint64_t payload, unsigned bytes)
{
	*p++ = header;
	for (unsigned i = 0; i < bytes; i++)
		*p++ = (uint8_t)(payload >> 8 * i);
	return p;
}

static size_t build(const struct da_samp *s, uint64_t ticks, uint8_t *buf)
{
	bool store = s->data_src & DS_OP(OP_STORE);
	uint8_t *p = put(buf, 0xb0, s->ip | 1ull << 63, 8); /* PC, not secure, EL0 */

	p = put(p, 0x64, s->tid, 4); /* CONTEXTIDR_EL1 */
	p = put(p, 0x52, 0x0006, 2); /* retired, L1 data access */
	p = put(p, 0x49, store, 1);  /* load or store, general registers */
	if (s->addr)
		p = put(p, 0xb2, s->addr, 8);
	if (s->mask & DA_SAMPLE_PHYS_ADDR)
		p = put(p, 0xb3, s->phys_addr | 1ull << 63, 8);
	p = put(p, 0x98, 4 + s->ip % 8, 2); /* total latency */
	if (!store)
		p = put(p, 0x43, 0, 1); /* data source: L1 */
	p = put(p, 0x71, ticks, 8);
	return (size_t)(p - buf);
}

static size_t next(void *ctx, uint8_t *buf)
{
	struct sim *sim = ctx;
	struct da_session *s = sim->a->s;
	struct da_fake *f = s->ev[sim->a->event].fake;
	uint32_t cpu = (uint32_t)sim->a->cpu->cpu;
	uint64_t t = da_fake_time(f, cpu);
	struct da_samp samp;

	if (!atomic_load(&s->events_on) || t == UINT64_MAX || t > s_now_ns(s) - s->on_ns ||
	    !da_fake_next(f, cpu, &samp))
		return 0;
	return build(&samp, (samp.time_ns + s->on_ns - s->ticks.zero) / TICK_NS, buf);
}

/* ---- the device ---- */

static uint64_t now(void *ctx)
{
	const struct sim *sim = ctx;

	return s_now_ns(sim->a->s);
}

static void wake(void *ctx)
{
	const struct sim *sim = ctx;

	s_lane_wake(sim->lane);
}

static struct s_lane *lane_of(struct da_session *s, const struct s_cpu *c)
{
	return &s->lanes[s->o.drain == DA_DRAIN_SINGLE ? 0 : c - s->cpus];
}

static int arm(struct s_aux *a, uint32_t ring_pages, uint32_t aux_pages)
{
	struct da_session *s = a->s;
	struct s_event *e = &s->ev[a->event];
	struct sim *sim;
	struct aux_sim_opts o = {.page = (size_t)sysconf(_SC_PAGESIZE),
				 .data_pages = ring_pages,
				 .aux_pages = aux_pages,
				 .watermark = e->attr.aux_watermark,
				 .collide = e->spec.sim_collide,
				 .cut = e->spec.sim_cut,
				 .split = e->spec.sim_split,
				 .attr = &e->attr,
				 .id = a->pair->id,
				 .cpu = (uint32_t)a->cpu->cpu,
				 .pid = s->nr_ids ? (uint32_t)s->ids[0] : (uint32_t)getpid(),
				 .now = now,
				 .next = next,
				 .wake = wake};

	if (da_fake_fails(e->fake, DA_FAKE_FAIL_BIND))
		return -EPERM;
	sim = calloc(1, sizeof(*sim));
	if (!sim)
		return -ENOMEM;
	sim->a = a;
	sim->lane = lane_of(s, a->cpu);
	o.tid = o.pid;
	o.ctx = sim;
	sim->device = aux_sim_new(&o);
	if (!sim->device) {
		free(sim);
		return -ENOMEM;
	}
	a->state = sim;
	a->ring = aux_sim_ring(sim->device);
	return 0;
}

static int enable(struct s_aux *a)
{
	struct sim *sim = a->state;

	if (da_fake_fails(a->s->ev[a->event].fake, DA_FAKE_FAIL_ENABLE))
		return -EIO;
	aux_sim_enable(sim->device);
	return 0;
}

static int disable(struct s_aux *a)
{
	struct sim *sim = a->state;

	aux_sim_disable(sim->device);
	return 0;
}

static void release(struct s_aux *a)
{
	struct sim *sim = a->state;

	aux_sim_free(sim->device);
	free(sim);
	a->state = NULL;
	a->ring = NULL;
}

static bool ticks_clock(struct da_session *s, struct da_clock *out)
{
	uint64_t t = s_now_ns(s);

	*out = (struct da_clock){
		.zero = t - t % 1000000000, .mult = TICK_NS << SHIFT, .shift = SHIFT};
	return true;
}

const struct s_aux_backend s_aux_spe_sim = {
	.name = "spe/simulate",
	.match = match,
	.init = s_aux_spe_init,
	.arm = arm,
	.drain = s_aux_take,
	.enable = enable,
	.disable = disable,
	.release = release,
	.clock = ticks_clock,
	.info = s_aux_spe_info,
};
