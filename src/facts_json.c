/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Facts to JSON text and back. The text may come from a damaged or hostile file: sizes are bounded, a value
 * of the wrong kind leaves its fact unknown, and what is read is data for the judge, never trusted further.
 */
#include "da_facts_json.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_error.h"

/* What bounds the memory of a hostile text: rows of CPUs (0.5 KiB) take at least 33 bytes of it, and it is of
 * bounded length (da_json.h); events (1.2 KiB) and buffers could take 2 bytes, so they are counted. */
#define MAX_EVENTS  1024
#define MAX_BUFFERS 65536

static const char *const target_names[] = {
	[DA_TARGET_COMMAND] = "command", [DA_TARGET_PID] = "pid",   [DA_TARGET_TID] = "tid",
	[DA_TARGET_SYSTEM] = "system",   [DA_TARGET_NONE] = "none",
};

/* ---- tables of fields that are read and written alike ---- */

struct field {
	const char *name;
	size_t offset;
};

#define AT(type, member)                                                                           \
	{                                                                                          \
#member, offsetof(struct type, member)                                             \
	}

static const struct field attr_u64[] = {
	AT(da_attr, config),
	AT(da_attr, config1),
	AT(da_attr, config2),
	AT(da_attr, config3),
	AT(da_attr, config4),
	AT(da_attr, sample_period),
	AT(da_attr, sample_type),
	AT(da_attr, read_format),
	AT(da_attr, flags),
	AT(da_attr, sample_regs_user),
	AT(da_attr, sample_regs_intr),
	AT(da_attr, branch_sample_type),
};

static const struct field attr_u32[] = {
	AT(da_attr, type),
	AT(da_attr, size),
	AT(da_attr, wakeup_events),
	AT(da_attr, bp_type),
	AT(da_attr, sample_stack_user),
	AT(da_attr, aux_watermark),
};

static const struct field machine_flags[] = {
	AT(da_facts, cap_perfmon), AT(da_facts, cap_sys_admin), AT(da_facts, root),
	AT(da_facts, hypervisor),  AT(da_facts, kpti),          AT(da_facts, perf_event_open_works),
};

static const struct field machine_numbers[] = {
	AT(da_facts, max_sample_rate_before),
	AT(da_facts, max_sample_rate_after),
	AT(da_facts, mlock_kb),
	AT(da_facts, memlock_kb),
	AT(da_facts, fd_limit),
	AT(da_facts, fd_used),
};

static const struct field run_flags[] = {
	AT(da_facts, target_ok),     AT(da_facts, clock_ok),
	AT(da_facts, counters_zero), AT(da_facts, no_old_state),
	AT(da_facts, unit_held),     AT(da_facts, disabled_before_drain),
	AT(da_facts, released_all),  AT(da_facts, aux_before_event),
};

static const struct field run_numbers[] = {
	AT(da_facts, lost_counter), AT(da_facts, lost_records),    AT(da_facts, lost_samples),
	AT(da_facts, throttled),    AT(da_facts, aux_truncated),   AT(da_facts, aux_collisions),
	AT(da_facts, aux_off_ns),   AT(da_facts, pending_at_stop),
};

static const struct field cpu_numbers[] = {
	AT(da_facts_cpu, count),
	AT(da_facts_cpu, lost),
	AT(da_facts_cpu, enabled_ns),
	AT(da_facts_cpu, running_ns),
};

static const struct field cpu_u64[] = {
	AT(da_facts_cpu, silent_due), AT(da_facts_cpu, silent_since_ns),
	AT(da_facts_cpu, silent_ref), AT(da_facts_cpu, went_offline),
	AT(da_facts_cpu, came_back),  AT(da_facts_cpu, away_ns),
};

static const struct field buffer_u64[] = {
	AT(da_facts_buffer, slots),
	AT(da_facts_buffer, peak),
	AT(da_facts_buffer, enqueue),
	AT(da_facts_buffer, overflow),
};

#define NR(table) (sizeof(table) / sizeof((table)[0]))

/* ---- writing ---- */

static void put_flags(struct da_json_out *w, const void *base, const struct field *t, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		bool v;

		memcpy(&v, (const char *)base + t[i].offset, sizeof(v));
		da_json_bool(w, t[i].name, v);
	}
}

static void put_measured(struct da_json_out *w, const void *base, const struct field *t, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		int64_t v;

		memcpy(&v, (const char *)base + t[i].offset, sizeof(v));
		da_json_measured(w, t[i].name, v);
	}
}

static void put_u64(struct da_json_out *w, const void *base, const struct field *t, size_t nr,
		    bool zeros)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t v;

		memcpy(&v, (const char *)base + t[i].offset, sizeof(v));
		if (v || zeros)
			da_json_u64(w, t[i].name, v);
	}
}

void da_ledger_to_json(struct da_json_out *w, const char *key, const struct da_ledger *l,
		       const bool measured[DA_STAGE_NR], bool brief)
{
	da_json_object(w, key);
	for (int s = 0; s < DA_STAGE_NR; s++) {
		if (measured && !measured[s]) {
			da_json_null(w, da_stage_name((enum da_stage)s));
			continue;
		}
		da_json_flat_object(w, da_stage_name((enum da_stage)s));
		da_json_u64(w, "in", l->in[s]);
		da_json_u64(w, "out", l->out[s]);
		da_json_object(w, "drops");
		for (int d = 0; d < DA_DROP_NR; d++)
			if (da_drop_stage((enum da_drop)d) == (enum da_stage)s &&
			    (l->drop[d] || !brief))
				da_json_u64(w, da_drop_name((enum da_drop)d), l->drop[d]);
		da_json_close(w);
		da_json_close(w);
	}
	if (measured && !measured[DA_STAGE_RING])
		da_json_null(w, "peak");
	else
		da_json_u64(w, "peak", l->peak);
	da_json_close(w);
}

static void put_attr(struct da_json_out *w, const struct da_attr *a)
{
	da_json_object(w, "attr");
	for (size_t i = 0; i < NR(attr_u32); i++) {
		uint32_t v;

		memcpy(&v, (const char *)a + attr_u32[i].offset, sizeof(v));
		if (v)
			da_json_u64(w, attr_u32[i].name, v);
	}
	put_u64(w, a, attr_u64, NR(attr_u64), false);
	if (a->clockid)
		da_json_i64(w, "clockid", a->clockid);
	da_json_close(w);
}

static void put_cpu(struct da_json_out *w, const struct da_facts_cpu *c)
{
	da_json_object(w, NULL);
	da_json_u64(w, "cpu", c->cpu);
	da_json_string(w, "state", da_state_name(c->state));
	da_json_bool(w, "target_absent", c->target_absent);
	put_measured(w, c, cpu_numbers, NR(cpu_numbers));
	put_u64(w, c, cpu_u64, NR(cpu_u64), false);
	da_ledger_to_json(w, "ledger", &c->ledger, NULL, true);
	da_json_close(w);
}

static void put_event(struct da_json_out *w, const struct da_facts_event *e)
{
	da_json_object(w, NULL);
	da_json_string(w, "name", e->name);
	da_json_string(w, "producer", da_producer_name(e->producer));
	put_attr(w, &e->attr);
	da_json_string(w, "dropped_bits", e->dropped_bits);
	da_json_u64(w, "effective_period", e->effective_period);
	da_json_u64(w, "period_steps", e->period_steps);
	da_json_string(w, "last_step", e->last_step);
	da_json_bool(w, "needs_aux", e->needs_aux);
	da_json_bool(w, "aux", e->aux);
	da_json_array(w, "errors");
	for (size_t i = 0; i < e->nr_errors; i++) {
		da_json_object(w, NULL);
		da_json_u64(w, "cpu", e->errors[i].cpu);
		da_json_i64(w, "errno", e->errors[i].sys);
		da_json_string(w, "what", e->errors[i].what);
		da_json_close(w);
	}
	da_json_close(w);
	da_json_array(w, "cpus");
	for (size_t i = 0; i < e->nr_cpus; i++)
		put_cpu(w, &e->cpus[i]);
	da_json_close(w);
	da_json_close(w);
}

static void put_machine(struct da_json_out *w, const struct da_facts *f)
{
	da_json_object(w, "machine");
	da_json_string(w, "kernel", f->kernel);
	da_json_string(w, "cpu", f->cpu);
	if (f->paranoid == INT_MIN)
		da_json_null(w, "paranoid");
	else
		da_json_i64(w, "paranoid", f->paranoid);
	da_json_measured(w, "seccomp", f->seccomp);
	put_flags(w, f, machine_flags, NR(machine_flags));
	put_measured(w, f, machine_numbers, NR(machine_numbers));
	da_json_u64(w, "online_cpus", f->online_cpus);
	da_json_string(w, "pmus", f->pmus);
	da_json_close(w);
}

static void put_run(struct da_json_out *w, const struct da_facts *f)
{
	da_json_object(w, "run");
	da_json_string(w, "target", target_names[f->target]);
	da_json_string(w, "target_text", f->target_text);
	put_flags(w, f, run_flags, NR(run_flags));
	put_measured(w, f, run_numbers, NR(run_numbers));
	da_json_u64(w, "mmap_pages", f->mmap_pages);
	da_json_u64(w, "mmap_pages_wanted", f->mmap_pages_wanted);
	da_json_u64(w, "duration_ns", f->duration_ns);
	da_json_measured(w, "command_status", f->command_status);
	da_json_string(w, "end_reason", f->end_reason);
	da_json_string(w, "error", f->error);
	da_json_array(w, "buffers");
	for (size_t i = 0; i < f->nr_buffers; i++) {
		const struct da_facts_buffer *b = &f->buffers[i];

		da_json_object(w, NULL);
		da_json_string(w, "name", b->name);
		da_json_measured(w, "cpu", b->cpu);
		put_u64(w, b, buffer_u64, NR(buffer_u64), true);
		da_json_u64(w, "source_cpus", b->source_cpus);
		da_json_close(w);
	}
	da_json_close(w);
	da_json_close(w);
}

char *da_facts_to_json(const struct da_facts *f)
{
	struct da_json_mem m;

	if (!da_json_mem_begin(&m))
		return NULL;
	da_json_object(&m.w, NULL);
	da_json_u64(&m.w, "facts_version", 1);
	if (f->machine_known)
		put_machine(&m.w, f);
	put_run(&m.w, f);
	da_json_array(&m.w, "events");
	for (size_t i = 0; i < f->nr_events; i++)
		put_event(&m.w, &f->events[i]);
	da_json_close(&m.w);
	da_json_close(&m.w);
	return da_json_mem_end(&m);
}

/* ---- reading ---- */

static void get_flags(const struct da_json *v, void *base, const struct field *t, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		bool b;

		if (da_json_get_bool(v, t[i].name, &b))
			memcpy((char *)base + t[i].offset, &b, sizeof(b));
	}
}

/* Negative numbers are no measurements of ours. */
static void get_measured(const struct da_json *v, void *base, const struct field *t, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		int64_t n = -1;

		if (!da_json_get_i64(v, t[i].name, &n) || n < 0)
			n = -1;
		memcpy((char *)base + t[i].offset, &n, sizeof(n));
	}
}

static void get_u64(const struct da_json *v, void *base, const struct field *t, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t n;

		if (da_json_get_u64(v, t[i].name, &n))
			memcpy((char *)base + t[i].offset, &n, sizeof(n));
	}
}

static void get_u32(const struct da_json *v, const char *key, uint32_t *out)
{
	uint64_t n;

	if (da_json_get_u64(v, key, &n) && n <= UINT32_MAX)
		*out = (uint32_t)n;
}

static void get_int(const struct da_json *v, const char *key, int *out)
{
	int64_t n;

	if (da_json_get_i64(v, key, &n) && n >= INT_MIN && n <= INT_MAX)
		*out = (int)n;
}

void da_ledger_from_json(const struct da_json *v, struct da_ledger *out)
{
	struct da_json layer, drops;

	memset(out, 0, sizeof(*out));
	for (int s = 0; s < DA_STAGE_NR; s++) {
		if (!da_json_get(v, da_stage_name((enum da_stage)s), &layer))
			continue;
		da_json_get_u64(&layer, "in", &out->in[s]);
		da_json_get_u64(&layer, "out", &out->out[s]);
		if (!da_json_get(&layer, "drops", &drops))
			continue;
		for (int d = 0; d < DA_DROP_NR; d++)
			if (da_drop_stage((enum da_drop)d) == (enum da_stage)s)
				da_json_get_u64(&drops, da_drop_name((enum da_drop)d),
						&out->drop[d]);
	}
	da_json_get_u64(v, "peak", &out->peak);
}

static void get_attr(const struct da_json *v, struct da_attr *a)
{
	for (size_t i = 0; i < NR(attr_u32); i++) {
		uint32_t n = 0;

		get_u32(v, attr_u32[i].name, &n);
		memcpy((char *)a + attr_u32[i].offset, &n, sizeof(n));
	}
	get_u64(v, a, attr_u64, NR(attr_u64));
	get_int(v, "clockid", &a->clockid);
}

static enum da_state state_of(const char *name)
{
	for (int s = DA_STATE_NONE; s <= DA_STATE_RUNNING; s++)
		if (!strcmp(name, da_state_name((enum da_state)s)))
			return (enum da_state)s;
	return DA_STATE_NONE;
}

/* A row must have these three: their bytes are what bounds the memory that rows take. */
static bool get_cpu(const struct da_json *v, struct da_facts_cpu *c)
{
	struct da_json ledger;
	char state[16];
	uint64_t cpu;

	if (!da_json_get_u64(v, "cpu", &cpu) || cpu > UINT32_MAX ||
	    !da_json_get(v, "ledger", &ledger) ||
	    !da_json_get_string(v, "state", state, sizeof(state)))
		return false;
	memset(c, 0, sizeof(*c));
	c->cpu = (uint32_t)cpu;
	c->state = state_of(state);
	da_json_get_bool(v, "target_absent", &c->target_absent);
	get_measured(v, c, cpu_numbers, NR(cpu_numbers));
	get_u64(v, c, cpu_u64, NR(cpu_u64));
	da_ledger_from_json(&ledger, &c->ledger);
	return true;
}

static int get_cpus(const struct da_json *array, struct da_facts_event *e)
{
	struct da_facts_cpu c, *grown;
	struct da_json v;
	size_t pos = 0, room = 0;

	while (da_json_next(array, &pos, &v)) {
		if (!get_cpu(&v, &c))
			return -DA_EDAMAGED;
		if (e->nr_cpus == room) {
			room = room ? 2 * room : 4;
			grown = realloc(e->cpus, room * sizeof(*grown));
			if (!grown)
				return -DA_ENOMEM;
			e->cpus = grown;
		}
		e->cpus[e->nr_cpus++] = c;
	}
	return 0;
}

static void get_errors(const struct da_json *array, struct da_facts_event *e)
{
	struct da_json v;
	size_t pos = 0;

	while (e->nr_errors < NR(e->errors) && da_json_next(array, &pos, &v)) {
		struct da_facts_open_error *x = &e->errors[e->nr_errors++];

		get_u32(&v, "cpu", &x->cpu);
		get_int(&v, "errno", &x->sys);
		da_json_get_string(&v, "what", x->what, sizeof(x->what));
	}
}

static int get_event(const struct da_json *v, struct da_facts_event *e)
{
	struct da_json part;
	char name[32] = "";

	da_json_get_string(v, "name", e->name, sizeof(e->name));
	da_json_get_string(v, "producer", name, sizeof(name));
	e->producer = DA_PROD_NONE;
	for (int p = 0; p < DA_PROD_NR; p++)
		if (!strcmp(name, da_producer_name((enum da_producer)p)))
			e->producer = (enum da_producer)p;
	if (da_json_get(v, "attr", &part))
		get_attr(&part, &e->attr);
	da_json_get_string(v, "dropped_bits", e->dropped_bits, sizeof(e->dropped_bits));
	da_json_get_u64(v, "effective_period", &e->effective_period);
	da_json_get_u64(v, "period_steps", &e->period_steps);
	da_json_get_string(v, "last_step", e->last_step, sizeof(e->last_step));
	da_json_get_bool(v, "needs_aux", &e->needs_aux);
	da_json_get_bool(v, "aux", &e->aux);
	if (da_json_get(v, "errors", &part))
		get_errors(&part, e);
	return da_json_get(v, "cpus", &part) ? get_cpus(&part, e) : 0;
}

static int get_events(const struct da_json *array, struct da_facts *f)
{
	size_t pos = 0, nr = da_json_count(array);
	struct da_json v;
	int ret;

	if (nr > MAX_EVENTS)
		return -DA_EDAMAGED;
	f->events = calloc(nr ? nr : 1, sizeof(*f->events));
	if (!f->events)
		return -DA_ENOMEM;
	while (da_json_next(array, &pos, &v)) {
		ret = get_event(&v, &f->events[f->nr_events++]);
		if (ret)
			return ret;
	}
	return 0;
}

static void get_machine(const struct da_json *v, struct da_facts *f)
{
	f->machine_known = true;
	da_json_get_string(v, "kernel", f->kernel, sizeof(f->kernel));
	da_json_get_string(v, "cpu", f->cpu, sizeof(f->cpu));
	get_int(v, "paranoid", &f->paranoid);
	get_int(v, "seccomp", &f->seccomp);
	get_flags(v, f, machine_flags, NR(machine_flags));
	get_measured(v, f, machine_numbers, NR(machine_numbers));
	get_u32(v, "online_cpus", &f->online_cpus);
	da_json_get_string(v, "pmus", f->pmus, sizeof(f->pmus));
}

static int get_buffers(const struct da_json *array, struct da_facts *f)
{
	size_t pos = 0, nr = da_json_count(array);
	struct da_json v;

	if (nr > MAX_BUFFERS)
		return -DA_EDAMAGED;
	f->buffers = calloc(nr ? nr : 1, sizeof(*f->buffers));
	if (!f->buffers)
		return -DA_ENOMEM;
	while (da_json_next(array, &pos, &v)) {
		struct da_facts_buffer *b = &f->buffers[f->nr_buffers++];

		b->cpu = -1;
		da_json_get_string(&v, "name", b->name, sizeof(b->name));
		get_int(&v, "cpu", &b->cpu);
		get_u64(&v, b, buffer_u64, NR(buffer_u64));
		get_u32(&v, "source_cpus", &b->source_cpus);
	}
	return 0;
}

static int get_run(const struct da_json *v, struct da_facts *f)
{
	char target[16] = "";
	struct da_json part;

	da_json_get_string(v, "target", target, sizeof(target));
	for (size_t i = 0; i < NR(target_names); i++)
		if (!strcmp(target, target_names[i]))
			f->target = (enum da_target)i;
	da_json_get_string(v, "target_text", f->target_text, sizeof(f->target_text));
	get_flags(v, f, run_flags, NR(run_flags));
	get_measured(v, f, run_numbers, NR(run_numbers));
	get_u32(v, "mmap_pages", &f->mmap_pages);
	get_u32(v, "mmap_pages_wanted", &f->mmap_pages_wanted);
	da_json_get_u64(v, "duration_ns", &f->duration_ns);
	get_int(v, "command_status", &f->command_status);
	da_json_get_string(v, "end_reason", f->end_reason, sizeof(f->end_reason));
	da_json_get_string(v, "error", f->error, sizeof(f->error));
	return da_json_get(v, "buffers", &part) ? get_buffers(&part, f) : 0;
}

int da_facts_from_json(const char *text, size_t len, struct da_facts *out)
{
	struct da_json root, part;
	int ret = 0;

	da_facts_init(out);
	if (!da_json_open(text, len, &root))
		return -DA_EDAMAGED;
	if (!da_json_is_object(&root))
		ret = -DA_EDAMAGED;
	if (da_json_get(&root, "machine", &part))
		get_machine(&part, out);
	if (da_json_get(&root, "run", &part))
		ret = get_run(&part, out);
	if (!ret && da_json_get(&root, "events", &part))
		ret = get_events(&part, out);
	da_json_free(&root);
	if (ret) {
		da_facts_release(out);
		da_facts_init(out);
	}
	return ret;
}
