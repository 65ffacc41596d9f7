/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diagnose --what-if: what the recorded run used becomes the base of the lab's plan, the models that the user
 * wrote are added, and the file is decoded once more for its arrivals. The lab concludes.
 */
#include "whatif.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_offline.h"
#include "opts.h"

#define LOOK_NS 5000000 /* of the match thread, and of a kdamond by default */

static int key_drain(const char *v, struct da_lab_model *m)
{
	m->single = !strcmp(v, "single");
	return m->single || !strcmp(v, "percpu") ? 0 : -DA_EUSAGE;
}

static int key_keep(const char *v, struct da_lab_model *m)
{
	m->latest = !strcmp(v, "latest");
	return m->latest || !strcmp(v, "oldest") ? 0 : -DA_EUSAGE;
}

static int key_slots(const char *v, struct da_lab_model *m)
{
	return opts_count(v, &m->slots) || !m->slots || m->slots > 1ull << 40 ? -DA_EUSAGE : 0;
}

static int key_look(const char *v, struct da_lab_model *m)
{
	m->half = false;
	return opts_duration(v, 1, &m->look_ns) || !m->look_ns ? -DA_EUSAGE : 0;
}

static int key_wake(const char *v, struct da_lab_model *m)
{
	return opts_duration(v, 1, &m->wake_ns);
}

static int key_cost(const char *v, struct da_lab_model *m)
{
	return opts_duration(v, 1, &m->cost_ns);
}

static int key_publish(const char *v, struct da_lab_model *m)
{
	return opts_duration(v, 1, &m->publish_ns);
}

static int key_write(const char *v, struct da_lab_model *m)
{
	return opts_duration(v, 1, &m->write_ns);
}

static int key_period(const char *v, struct da_lab_model *m)
{
	uint64_t n;

	if (*v != 'x' || opts_u64(v + 1, &n) || !n || n > 1000000)
		return -DA_EUSAGE;
	m->thin = (uint32_t)n;
	return 0;
}

static const struct key {
	const char *name;
	int (*set)(const char *value, struct da_lab_model *m);
} keys[] = {
	{"drain", key_drain},     {"keep", key_keep},   {"wake", key_wake},
	{"slots", key_slots},     {"look", key_look},   {"cost", key_cost},
	{"publish", key_publish}, {"write", key_write}, {"period", key_period},
};

static int set_key(char *pair, struct da_lab_model *m)
{
	char *value = strchr(pair, '=');

	if (!value)
		return -DA_EUSAGE;
	*value++ = '\0';
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(pair, keys[i].name))
			return keys[i].set(value, m);
	return -DA_EUSAGE;
}

static int parse_model(const char *text, struct da_lab_model *m, struct da_error *err)
{
	char *copy = strdup(text), *rest = copy, *pair;
	int rc = 0;

	if (!copy)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	while (!rc && (pair = strsep(&rest, ",")))
		rc = set_key(pair, m);
	free(copy);
	return rc ? da_fail(err, DA_EUSAGE, 0, "bad model '%s' (wanted: %s)", text, WHATIF_WANTED)
		  : 0;
}

int whatif_check(const char *text, struct da_error *err)
{
	return parse_model(text, &(struct da_lab_model){0}, err);
}

/* ---- what the run used ---- */

static void base_of(const struct da_facts *f, struct da_lab_base *b)
{
	uint64_t lost = 0, slots = 0;
	bool known = false;

	memset(b, 0, sizeof(*b));
	b->dropped = -1;
	b->model.slots = 65536;
	b->model.look_ns = LOOK_NS;
	b->model.half = true;
	b->model.cost_ns = DA_LAB_CPU_NS;
	for (size_t i = 0; i < f->nr_buffers; i++) {
		const struct da_facts_buffer *x = &f->buffers[i];

		known = true;
		lost += x->overflow;
		if (x->enqueue + x->overflow || !slots)
			slots = x->slots;
		b->model.single |= x->source_cpus > 1;
	}
	if (!known)
		return;
	b->recorded = true;
	b->dropped = (int64_t)lost;
	b->model.slots = slots;
}

/* ---- the replay ---- */

struct replay {
	struct da_lab *lab;
	int rc;
};

static bool arrival(void *ctx, const struct da_offline *o, const struct da_report *r)
{
	struct replay *p = ctx;

	(void)o;
	p->rc = da_lab_arrive(p->lab, r->has & DA_HAS_TIME ? r->time_ns : 0,
			      r->has & DA_HAS_CPU ? r->cpu : 0);
	return !p->rc;
}

static int replay(const char *path, const char *const *events, size_t nr_events, struct da_lab *lab,
		  struct da_error *err)
{
	struct replay ctx = {.lab = lab};
	struct da_offline_opts o = {.match = {.virt = true},
				    .events = events,
				    .nr_events = nr_events,
				    .report = arrival,
				    .ctx = &ctx};
	struct da_offline *off = NULL;
	int rc = da_offline_open(&off, path, &o, err);

	if (!rc)
		rc = da_offline_run(off, err);
	da_offline_close(off);
	if (!rc && ctx.rc)
		rc = da_fail(err, DA_ENOMEM, 0, "out of memory");
	da_lab_finish(lab);
	return rc;
}

/* The speed of the reader is not recorded: the drops tell it. */
static int calibrate(const char *path, const char *const *events, size_t nr_events,
		     struct da_lab_base *b, struct da_error *err)
{
	struct da_lab *lab;
	int rc;

	if (b->dropped < 0)
		return 0;
	lab = da_lab_new();
	rc = lab ? da_lab_candidates(lab, b) : -DA_ENOMEM;
	if (rc)
		rc = da_fail(err, DA_ENOMEM, 0, "out of memory");
	else
		rc = replay(path, events, nr_events, lab, err);
	if (!rc)
		da_lab_choose(lab, b);
	da_lab_free(lab);
	return rc;
}

int whatif_run(const char *path, const char *const *events, size_t nr_events,
	       const struct da_facts *judged, uint64_t regions, const char *const *models,
	       size_t nr_models, struct da_lab_plan *p, struct da_error *err)
{
	struct da_lab_base base;
	int rc;

	base_of(judged, &base);
	base.regions = regions;
	rc = calibrate(path, events, nr_events, &base, err);
	if (rc)
		return rc;
	if (da_lab_plan(p, &base))
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	for (size_t i = 0; i < nr_models; i++) {
		struct da_lab_model m = base.model;

		rc = parse_model(models[i], &m, err);
		if (rc)
			return rc;
		if (da_lab_plan_add(p, &m, DA_LAB_USER, models[i]))
			return da_fail(err, DA_ENOMEM, 0, "out of memory");
	}
	rc = replay(path, events, nr_events, p->lab, err);
	if (rc)
		return rc;
	da_lab_plan_conclude(p);
	return 0;
}
