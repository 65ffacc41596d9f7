/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sample layer: classifies every sample record as valid, with the reports it gives, or as dropped for
 * exactly one reason. One lane a thread; lanes share tasks and code.
 *
 * It does not look reports up in regions (da_match.h) and keeps no sample.
 */
#include "da_pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline_priv.h"

static const char *decoder_name(enum da_producer p)
{
	switch (p) {
	case DA_PROD_SPE:
		return "spe";
	case DA_PROD_PEBS_RAW:
		return "pebs_raw";
	case DA_PROD_IBS_OP:
		return "ibs_op";
	case DA_PROD_IBS_FETCH:
		return "ibs_fetch";
	default:
		return NULL;
	}
}

struct da_pipeline *da_pipeline_new(const struct da_pipeline_event *ev, size_t nr,
				    enum da_arch arch, struct da_tasks *tasks,
				    struct da_code_store *code)
{
	struct da_pipeline *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->ev = calloc(nr ? nr : 1, sizeof(*p->ev));
	if (!p->ev) {
		free(p);
		return NULL;
	}
	p->nr = nr;
	p->arch = arch;
	p->tasks = tasks;
	p->code = code;
	for (size_t i = 0; i < nr; i++) {
		const char *name = decoder_name(ev[i].producer);

		p->ev[i].attr = *ev[i].attr;
		p->ev[i].producer = ev[i].producer;
		p->ev[i].late = ev[i].late;
		p->ev[i].decoder = name ? da_decoder_find(name) : NULL;
		/* in frequency mode nobody knows the period */
		p->ev[i].period = ev[i].attr->flags & DA_ATTR_FREQ ? 1 : ev[i].attr->sample_period;
		plain_plan(&p->ev[i]);
	}
	return p;
}

void da_pipeline_free(struct da_pipeline *p)
{
	if (!p)
		return;
	free(p->ev);
	free(p);
}

void da_pipeline_paddr(struct da_pipeline *p, da_paddr_fn fn, void *ctx)
{
	p->paddr = fn;
	p->paddr_ctx = ctx;
}

void da_pipeline_cpu(struct da_pipeline *p, const char *cpuid)
{
	unsigned family, model;

	if (cpuid && sscanf(cpuid, "AuthenticAMD,%u,%u,", &family, &model) == 2) {
		p->cpu_family = family;
		p->cpu_model = model;
	}
}

void da_pipeline_period(struct da_pipeline *p, da_period_fn fn, void *ctx)
{
	p->period = fn;
	p->period_ctx = ctx;
}

struct da_lane *da_lane_new(struct da_pipeline *p, da_emit_fn emit, void *ctx)
{
	struct da_lane *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->p = p;
	l->emit = emit;
	l->ctx = ctx;
	l->ev = calloc(p->nr ? p->nr : 1, sizeof(*l->ev));
	l->code = da_code_new(p->code);
	if (!l->ev || !l->code) {
		da_lane_free(l);
		return NULL;
	}
	return l;
}

void da_lane_redirect(struct da_lane *l, da_emit_fn emit, void *ctx)
{
	l->emit = emit;
	l->emit_many = NULL;
	l->ctx = ctx;
}

void da_lane_emit_many(struct da_lane *l, da_emit_many_fn emit)
{
	l->emit_many = emit;
}

void da_lane_free(struct da_lane *l)
{
	if (!l)
		return;
	for (size_t e = 0; l->ev && e < l->p->nr; e++) {
		for (uint32_t c = 0; c < l->ev[e].nr; c++) {
			if (l->ev[e].cpus[c])
				free(l->ev[e].cpus[c]->state);
			free(l->ev[e].cpus[c]);
		}
		free(l->ev[e].cpus);
	}
	free(l->ev);
	da_code_free(l->code);
	free(l);
}

struct per_cpu *lane_cpu(struct da_lane *l, uint32_t event, uint32_t cpu)
{
	struct per_event *e = &l->ev[event];

	if (cpu >= MAX_CPUS)
		cpu = MAX_CPUS - 1;
	if (cpu >= e->nr) {
		uint32_t n = cpu + 1;
		struct per_cpu **grown = realloc(e->cpus, n * sizeof(*grown));

		if (!grown)
			return NULL;
		memset(grown + e->nr, 0, (n - e->nr) * sizeof(*grown));
		e->cpus = grown;
		e->nr = n;
	}
	if (!e->cpus[cpu])
		e->cpus[cpu] = calloc(1, sizeof(**e->cpus));
	return e->cpus[cpu];
}

struct da_ledger *da_lane_ledger(struct da_lane *l, uint32_t event, uint32_t cpu)
{
	struct per_cpu *c = event < l->p->nr ? lane_cpu(l, event, cpu) : NULL;

	return c ? &c->ledger : NULL;
}

static void drop(struct da_ledger *led, enum da_drop why)
{
	da_count(&led->drop[why], 1);
}

/* ---- reports from one parsed sample ---- */

static void base_report(struct da_lane *l, uint32_t event, uint32_t cpu, const struct da_rec *rec,
			const struct da_samp *s, struct da_report *r)
{
	memset(r, 0, sizeof(*r));
	r->event = event;
	r->cpu = cpu;
	if ((s->mask | rec->has) & DA_SAMPLE_CPU)
		r->has |= DA_HAS_CPU;
	r->ctx = rec->misc & DA_MISC_CPUMODE;
	if (s->mask & DA_SAMPLE_TIME) {
		r->time_ns = s->time_ns;
		r->has |= DA_HAS_TIME;
	}
	if (s->mask & DA_SAMPLE_TID && s->pid != UINT32_MAX) {
		r->pid = s->pid;
		r->tid = s->tid;
		r->has |= DA_HAS_TASK;
	}
	if (s->mask & DA_SAMPLE_IP) {
		r->ip = s->ip;
		r->has |= DA_HAS_IP;
	}
	if (s->mask & DA_SAMPLE_PERIOD)
		r->period = l->p->period ? l->p->period(l->p->period_ctx, event, s) : s->period;
	else
		r->period = l->p->ev[event].period;
	r->has |= DA_HAS_PERIOD;
	/* "0 means absent in perf's PHYS_ADDR": the page was not mapped, or no permission */
	if (s->mask & DA_SAMPLE_PHYS_ADDR && s->phys_addr) {
		r->paddr = s->phys_addr;
		r->paddr_how = DA_PADDR_SAMPLED;
		r->has |= DA_HAS_PADDR;
	}
	if (s->mask & DA_SAMPLE_DATA_SRC) {
		r->data_src = s->data_src;
		r->has |= DA_HAS_DATA_SRC;
	}
	if (s->mask & (DA_SAMPLE_WEIGHT | DA_SAMPLE_WEIGHT_STRUCT)) {
		r->latency = latency_of(s->mask, s->weight);
		r->has |= r->latency ? DA_HAS_LATENCY : 0;
	}
	if (s->mask & DA_SAMPLE_DATA_PAGE_SIZE && s->data_page_size) {
		r->page_size = s->data_page_size;
		r->has |= DA_HAS_PAGE_SIZE;
	}
}

static void find_paddr(const struct da_pipeline *p, struct da_report *r)
{
	if (!(r->has & DA_HAS_PADDR) && (r->has & DA_HAS_VADDR) && (r->has & DA_HAS_TASK) &&
	    p->paddr(p->paddr_ctx, r->pid, r->time_ns, r->vaddr, &r->paddr)) {
		r->has |= DA_HAS_PADDR;
		r->paddr_how = DA_PADDR_WALKED;
	}
}

void lane_emit(struct da_lane *l, struct da_report *r, struct da_ledger *led)
{
	if (l->p->paddr)
		find_paddr(l->p, r);
	l->emit(l->ctx, r, led);
}

size_t lane_emit_many(struct da_lane *l, struct da_report *r, size_t n, struct da_ledger *led)
{
	size_t i;

	for (i = 0; i < n && l->p->paddr; i++)
		find_paddr(l->p, &r[i]);
	if (l->emit_many)
		return n ? l->emit_many(l->ctx, r, n, led) : 0;
	for (i = 0; i < n; i++)
		l->emit(l->ctx, &r[i], led);
	return n;
}

static void one_address(struct da_lane *l, struct da_report *r, uint64_t vaddr, enum da_how how,
			struct da_ledger *led)
{
	r->vaddr = vaddr;
	r->has |= DA_HAS_VADDR;
	r->how = (uint8_t)how;
	da_count(&led->out[DA_STAGE_SAMPLE], 1);
	lane_emit(l, r, led);
}

static const struct da_insn *insn_at(struct da_lane *l, const struct da_report *r, uint8_t abi)
{
	return da_code_insn(l->code, r->pid, r->time_ns, r->ip, abi);
}

/* x86 CS 0x23 is the 32-bit code segment of Linux; abi says the same where registers were sampled. */
static struct da_regs regs_of(const struct da_lane *l, const struct da_samp *s, uint8_t phase)
{
	struct da_regs regs = s->regs_intr;

	regs.arch = (uint8_t)l->p->arch;
	regs.phase = phase;
	return regs;
}

/* Clock and cycle samples: the registers are those before the instruction at IP, so an address decoded
 * from it is exact; on precise events they are those after it. */
static void decode_regs(struct da_lane *l, const struct da_report *r, const struct da_regs *regs,
			struct da_ledger *led)
{
	struct da_access acc[DA_INSN_MAX_ACCESS];
	const struct da_insn *insn = insn_at(l, r, regs->abi);
	unsigned nr = 0;
	int why;

	if (!insn) {
		drop(led, DA_DROP_NO_CODE);
		return;
	}
	why = da_insn_resolve(insn, r->ip, regs, acc, &nr);
	if (why >= 0 || !nr) {
		drop(led, why >= 0 ? (enum da_drop)why : DA_DROP_NOT_MEMORY);
		return;
	}
	da_count(&led->out[DA_STAGE_SAMPLE], 1);
	for (unsigned i = 0; i < nr; i++) {
		struct da_report a = *r;

		a.vaddr = acc[i].vaddr;
		a.size = acc[i].size;
		a.size_is_max = acc[i].size_is_max;
		a.op = acc[i].op;
		a.how = DA_HOW_DECODED;
		a.has |= DA_HAS_VADDR | DA_HAS_SIZE | DA_HAS_OP;
		if (i) { /* PHYS_ADDR belongs to the record's own address, which a decoded sample has not */
			a.has &= ~(uint32_t)DA_HAS_PADDR;
			a.paddr = 0;
			a.paddr_how = DA_PADDR_NONE;
		}
		lane_emit(l, &a, led);
	}
}

/* Passes the registers on as they are; false: they are not such that they could be kept. */
static bool emit_late(struct da_lane *l, const struct da_report *r, const struct da_regs *regs,
		      struct da_ledger *led)
{
	size_t nr = (size_t)__builtin_popcountll(regs->mask);
	struct da_late late = {.r = *r, .mask = regs->mask, .abi = regs->abi};

	if (!nr || nr > DA_LATE_REGS || regs->swap)
		return false;
	memcpy(late.vals, regs->vals, nr * sizeof(late.vals[0]));
	da_count(&led->out[DA_STAGE_SAMPLE], 1);
	l->late(l->ctx, &late, led);
	return true;
}

static uint8_t phase_of(const struct lane_event *e)
{
	return e->attr.flags & DA_ATTR_PRECISE_MASK ? DA_REGS_AFTER : DA_REGS_BEFORE;
}

static void sample_regs(struct da_lane *l, const struct lane_event *e, const struct da_samp *s,
			struct da_report *r, struct da_ledger *led)
{
	struct da_regs regs = regs_of(l, s, phase_of(e));

	if (!(e->attr.sample_type & DA_SAMPLE_REGS_INTR)) {
		drop(led, DA_DROP_ADDR_NONE); /* nothing in the record could hold an address */
		return;
	}
	if (r->ctx != DA_CTX_USER) {
		drop(led, DA_DROP_KERNEL_IP);
		return;
	}
	if (!(s->mask & DA_SAMPLE_REGS_INTR) || !regs.abi) {
		drop(led, DA_DROP_NO_REGS);
		return;
	}
	if (!(r->has & DA_HAS_TASK) || !(r->has & DA_HAS_IP)) {
		drop(led, DA_DROP_NO_CODE);
		return;
	}
	if (!e->late || !l->late || !emit_late(l, r, &regs, led))
		decode_regs(l, r, &regs, led);
}

void da_lane_late(struct da_lane *l, da_late_fn fn)
{
	l->late = fn;
}

void da_lane_decode_late(struct da_lane *l, const struct da_late *late)
{
	struct per_cpu *c =
		late->r.event < l->p->nr ? lane_cpu(l, late->r.event, late->r.cpu) : NULL;
	struct da_regs regs = {.mask = late->mask,
			       .vals = (const uint8_t *)late->vals,
			       .abi = (uint8_t)late->abi,
			       .arch = (uint8_t)l->p->arch};

	if (!c)
		return;
	regs.phase = phase_of(&l->p->ev[late->r.event]);
	da_count(&c->ledger.in[DA_STAGE_SAMPLE], 1);
	decode_regs(l, &late->r, &regs, &c->ledger);
}

/* The kernel gives the fault's address, 0 included, but not its direction: the instruction at IP does. */
static void sample_fault(struct da_lane *l, const struct lane_event *e, const struct da_samp *s,
			 struct da_report *r, struct da_ledger *led)
{
	if (!(s->mask & DA_SAMPLE_ADDR)) {
		drop(led, DA_DROP_ADDR_NONE);
		return;
	}
	if (r->ctx == DA_CTX_USER && (r->has & DA_HAS_TASK) && (r->has & DA_HAS_IP)) {
		struct da_regs regs = regs_of(l, s, DA_REGS_BEFORE);
		bool have = (s->mask & DA_SAMPLE_REGS_INTR) && regs.abi;
		const struct da_insn *insn = insn_at(l, r, have ? regs.abi : 2);

		if (insn)
			r->op = da_insn_op_at(insn, r->ip, have ? &regs : NULL, s->addr);
		if (r->op)
			r->has |= DA_HAS_OP;
	}
	(void)e;
	one_address(l, r, s->addr, DA_HOW_FAULT, led);
}

/* Events whose ADDR is the data address; there 0 means absent. */
static void sample_addr(struct da_lane *l, const struct lane_event *e, const struct da_samp *s,
			struct da_report *r, struct da_ledger *led)
{
	uint32_t op = mem_op(s->data_src);

	if (s->mask & DA_SAMPLE_DATA_SRC) {
		if (op == MEM_PREFETCH) {
			drop(led, DA_DROP_PREFETCH);
			return;
		}
		r->op = (uint8_t)op;
		if (r->op)
			r->has |= DA_HAS_OP;
	}
	if (!(s->mask & DA_SAMPLE_ADDR) || !s->addr) {
		if (!(r->has & DA_HAS_PADDR)) {
			drop(led, DA_DROP_ADDR_NONE);
			return;
		}
		r->how = DA_HOW_HARDWARE; /* a physical address alone is usable */
		da_count(&led->out[DA_STAGE_SAMPLE], 1);
		lane_emit(l, r, led);
		return;
	}
	one_address(l, r, s->addr, e->producer == DA_PROD_FAKE ? DA_HOW_SYNTHETIC : DA_HOW_HARDWARE,
		    led);
}

/* ---- raw samples ---- */

/* IBS: the raw registers and perf's own fields, which hold where it filled them; else those alone. */
static void sample_raw(struct da_lane *l, const struct lane_event *e, struct per_cpu *c,
		       const struct da_samp *s, struct da_report *r)
{
	struct da_input in = {.bytes = s->raw,
			      .len = s->raw_size,
			      .last = true,
			      .cpu_family = l->p->cpu_family,
			      .cpu_model = l->p->cpu_model};

	if (!(s->mask & DA_SAMPLE_RAW) || !s->raw_size || !e->decoder) {
		da_count(&c->ledger.in[DA_STAGE_SAMPLE], 1);
		sample_addr(l, e, s, r, &c->ledger);
		return;
	}
	l->base = *r;
	l->perf_addr = s->mask & DA_SAMPLE_ADDR ? s->addr : 0;
	lane_decode_raw(l, e, c, &in);
}

void da_lane_sample(struct da_lane *l, uint32_t event, const struct da_rec *rec)
{
	const struct lane_event *e;
	struct per_cpu *c;
	struct da_samp s;
	struct da_report r;
	uint32_t cpu = 0;
	int rc;

	if (rec->type != DA_REC_SAMPLE || event >= l->p->nr)
		return;
	e = &l->p->ev[event];
	rc = da_samp_parse(&e->attr, rec->bytes, rec->size, rec->swap, &s);
	if (s.mask & DA_SAMPLE_CPU)
		cpu = s.cpu;
	else if (rec->has & DA_SAMPLE_CPU)
		cpu = rec->cpu;
	c = lane_cpu(l, event, cpu);
	if (!c)
		return;
	if (rc) {
		da_count(&c->ledger.in[DA_STAGE_SAMPLE], 1);
		drop(&c->ledger, DA_DROP_TRUNCATED);
		return;
	}
	base_report(l, event, cpu, rec, &s, &r);
	if (e->producer == DA_PROD_IBS_OP || e->producer == DA_PROD_IBS_FETCH) {
		sample_raw(l, e, c, &s, &r);
		return;
	}
	da_count(&c->ledger.in[DA_STAGE_SAMPLE], 1);
	switch (e->producer) {
	case DA_PROD_REGS:
		sample_regs(l, e, &s, &r, &c->ledger);
		break;
	case DA_PROD_FAULT:
		sample_fault(l, e, &s, &r, &c->ledger);
		break;
	case DA_PROD_ADDR:
	case DA_PROD_FAKE:
		sample_addr(l, e, &s, &r, &c->ledger);
		break;
	default:
		drop(&c->ledger, DA_DROP_ADDR_NONE);
		break;
	}
}

/* ---- sums ---- */

void da_lane_each(const struct da_lane *l,
		  void (*fn)(void *ctx, uint32_t event, uint32_t cpu, const struct da_ledger *led),
		  void *ctx)
{
	for (uint32_t e = 0; e < l->p->nr; e++)
		for (uint32_t c = 0; c < l->ev[e].nr; c++)
			if (l->ev[e].cpus[c])
				fn(ctx, e, c, &l->ev[e].cpus[c]->ledger);
}

struct sum {
	uint32_t event;
	struct da_ledger *to;
};

static void add_to_sum(void *ctx, uint32_t event, uint32_t cpu, const struct da_ledger *led)
{
	struct sum *s = ctx;

	(void)cpu;
	if (s->event == UINT32_MAX || s->event == event)
		da_ledger_add(s->to, led);
}

void da_lane_sum(const struct da_lane *l, uint32_t event, struct da_ledger *sum)
{
	struct sum s = {.event = event, .to = sum};

	da_lane_each(l, add_to_sum, &s);
}
