/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One event: its terms, modifiers, defaults and name to a spec. Which event an item means is
 * decided by pmu_parse.c and pmu_auto.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_fake.h"
#include "pmu_priv.h"

/* Attributes are written at the size that perf 6.1 reads: config3 and config4 lie beyond it. */
#define ATTR_SIZE  128
#define LAST_FIELD 2
#define MAX_SPECS  256

/* What no kernel gives to a PMU: it counts from 8 on. */
#define SIMULATED_PMU 0x53504500u
#define MEM_LOADS     0x01cdu        /* Intel: MEM_TRANS_RETIRED.LOAD_LATENCY */
#define SPE_CONFIG    0x600000001ull /* ts_enable, load_filter, store_filter (arm_spe_pmu.c) */

static int spec_add(struct spec_list *l, struct da_spec **out, struct da_error *err)
{
	struct da_spec *spec;

	if (l->nr >= MAX_SPECS)
		return da_fail(err, DA_EUSAGE, 0, "more than %d events", MAX_SPECS);
	spec = reallocarray(l->spec, l->nr + 1, sizeof(*spec));
	if (!spec)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	l->spec = spec;
	spec += l->nr++;
	memset(spec, 0, sizeof(*spec));
	spec->attr.size = ATTR_SIZE;
	*out = spec;
	return 0;
}

static void copy(char *buf, size_t size, struct slice s)
{
	size_t len = s.len < size ? s.len : size - 1;

	memcpy(buf, s.p, len);
	buf[len] = '\0';
}

static int bad_term(struct da_error *err, const struct item *it, struct slice term,
		    const char *problem)
{
	return da_fail(err, DA_EUSAGE, 0, "term '%.*s' in '%.*s' %s", slice_len(term), term.p,
		       slice_len(it->text), it->text.p, problem);
}

/* ---- terms ---- */

/* One term of a list. "a," and "a,,b" have an empty one; "" has none. */
struct term {
	struct slice text, name, value;
	bool has_value;
};

struct term_walk {
	struct slice rest;
	bool more;
};

static struct term_walk walk(struct slice terms)
{
	return (struct term_walk){.rest = terms, .more = terms.len > 0};
}

static bool next_term(struct term_walk *w, struct term *t)
{
	size_t before = w->rest.len;

	if (!w->more)
		return false;
	t->text = slice_cut(&w->rest, ',');
	w->more = before > t->text.len; /* a comma was there */
	t->value = t->text;
	t->name = slice_cut(&t->value, '=');
	t->has_value = t->name.len < t->text.len;
	return true;
}

static int take_rate(struct da_spec *s, const struct item *it, const struct term *t, uint64_t flag,
		     struct da_error *err)
{
	uint64_t n;

	if (!slice_number(t->value, &n))
		return bad_term(err, it, t->text, "needs a number");
	if (!n)
		return bad_term(err, it, t->text, "may not be 0");
	if (s->has_period)
		return bad_term(err, it, t->text, "comes after another period or frequency");
	s->has_period = true;
	s->attr.sample_period = n;
	s->attr.flags |= flag;
	return 0;
}

static int take_word(char *buf, size_t size, const struct item *it, const struct term *t,
		     struct da_error *err)
{
	if (!t->value.len)
		return bad_term(err, it, t->text, "needs a value");
	if (t->value.len >= size)
		return bad_term(err, it, t->text, "is too long");
	for (size_t i = 0; i < t->value.len; i++)
		if ((unsigned char)t->value.p[i] < 0x20)
			return bad_term(err, it, t->text, "holds a control character");
	copy(buf, size, t->value);
	return 0;
}

/* Always on its counter, or in error: then it reads nothing, and something else holds the unit. */
static int take_pinned(struct da_spec *s, const struct item *it, const struct term *t,
		       struct da_error *err)
{
	uint64_t n = 1;

	if (t->has_value && (!slice_number(t->value, &n) || n > 1))
		return bad_term(err, it, t->text, "is 0 or 1");
	s->attr.flags = (s->attr.flags & ~DA_ATTR_PINNED) | (n ? DA_ATTR_PINNED : 0);
	return 0;
}

static const char *const common_terms[] = {"period", "freq", "name", "buffer", "pinned"};

/* Terms that every event takes. True: it was one, *rc is the result. */
static bool common_term(struct da_spec *s, const struct item *it, const struct term *t,
			struct da_error *err, int *rc)
{
	if (slice_is(t->name, "period"))
		*rc = take_rate(s, it, t, 0, err);
	else if (slice_is(t->name, "freq"))
		*rc = take_rate(s, it, t, DA_ATTR_FREQ, err);
	else if (slice_is(t->name, "name"))
		*rc = take_word(s->name, sizeof(s->name), it, t, err);
	else if (slice_is(t->name, "buffer"))
		*rc = take_word(s->buffer, sizeof(s->buffer), it, t, err);
	else if (slice_is(t->name, "pinned"))
		*rc = take_pinned(s, it, t, err);
	else
		return false;
	return true;
}

static int out_of_reach(struct da_error *err, const struct item *it, const struct term *t,
			unsigned field)
{
	return da_fail(err, DA_EUNSUPPORTED, 0,
		       "term '%.*s' in '%.*s' needs config%u, which is not written",
		       slice_len(t->text), t->text.p, slice_len(it->text), it->text.p, field);
}

/* config=, config1= ...: a whole field. */
static bool config_term(struct da_spec *s, const struct item *it, const struct term *t,
			struct da_error *err, int *rc)
{
	unsigned field = t->name.len == 7 ? (unsigned)(t->name.p[6] - '0') : 0;
	uint64_t n;

	if (!slice_begins(t->name, "config") || t->name.len > 7 || (t->name.len == 7 && !field) ||
	    field > 4)
		return false;
	if (!slice_number(t->value, &n))
		*rc = bad_term(err, it, t->text, "needs a number");
	else if (field > LAST_FIELD)
		*rc = out_of_reach(err, it, t, field);
	else
		*rc = 0;
	if (!*rc)
		*pmu_config_field(&s->attr, field) = n;
	return true;
}

struct known_terms {
	char text[300];
	struct nearest near;
};

static void list_term(void *ctx, const char *name)
{
	struct known_terms *k = ctx;
	size_t len = strlen(k->text);

	snprintf(k->text + len, sizeof(k->text) - len, "%s%s", len ? ", " : "", name);
	nearest_try(&k->near, name);
}

static int unknown_term(const struct pmu_env *env, const struct item *it, struct slice pmu,
			struct slice name, struct da_error *err)
{
	struct known_terms k = {.text = ""};

	nearest_begin(&k.near, name);
	if (pmu.len) {
		pmu_each(env, pmu, "format", list_term, &k);
		list_term(&k, "config");
		list_term(&k, "config1");
		list_term(&k, "config2");
	}
	for (size_t i = 0; i < sizeof(common_terms) / sizeof(*common_terms); i++)
		list_term(&k, common_terms[i]);
	if (!k.near.distance)
		return da_fail(
			err, DA_EUNSUPPORTED, 0,
			"term '%.*s' in '%.*s': what sysfs says of its bits is not understood",
			slice_len(name), name.p, slice_len(it->text), it->text.p);
	if (nearest_found(&k.near))
		return da_fail(err, DA_EUSAGE, 0,
			       "unknown term '%.*s' in '%.*s', did you mean '%s'? (known: %s)",
			       slice_len(name), name.p, slice_len(it->text), it->text.p,
			       k.near.best, k.text);
	return da_fail(err, DA_EUSAGE, 0, "unknown term '%.*s' in '%.*s' (known: %s)",
		       slice_len(name), name.p, slice_len(it->text), it->text.p, k.text);
}

static int format_term(const struct pmu_env *env, struct da_spec *s, const struct item *it,
		       struct slice pmu, const struct term *t, struct da_error *err)
{
	struct pmu_format f;
	uint64_t n = 1; /* a term alone is a flag that is set */

	if (!pmu_format_find(env, pmu, t->name, &f))
		return unknown_term(env, it, pmu, t->name, err);
	if (t->has_value && slice_is(t->value, "?"))
		return bad_term(err, it, t->text, "has to be given: the PMU leaves it open");
	if (t->has_value && !slice_number(t->value, &n))
		return bad_term(err, it, t->text, "needs a number");
	if (n && f.field > LAST_FIELD)
		return out_of_reach(err, it, t, f.field);
	if (!pmu_format_put(&f, n, &s->attr))
		return da_fail(err, DA_EUSAGE, 0,
			       "term '%.*s' in '%.*s' is too big: %d bits are for it",
			       slice_len(t->text), t->text.p, slice_len(it->text), it->text.p,
			       __builtin_popcountll(f.bits));
	return 0;
}

static int one_term(const struct pmu_env *env, struct da_spec *s, const struct item *it,
		    struct slice pmu, const struct term *t, struct da_error *err)
{
	int rc;

	if (!t->name.len)
		return bad_term(err, it, t->text, "has no name");
	if (common_term(s, it, t, err, &rc))
		return rc;
	if (!pmu.len)
		return unknown_term(env, it, pmu, t->name, err);
	return config_term(s, it, t, err, &rc) ? rc : format_term(env, s, it, pmu, t, err);
}

/* The terms that an event name of this PMU stands for; given ones may say otherwise. */
static bool is_event(const struct pmu_env *env, struct slice pmu, const struct term *t, char *text,
		     size_t size)
{
	return pmu.len && !t->has_value && pmu_event_text(env, pmu, t->name, text, size);
}

static bool is_given(struct slice terms, struct slice name)
{
	struct term_walk w = walk(terms);
	struct term t;

	while (next_term(&w, &t))
		if (t.has_value && t.name.len == name.len && !memcmp(t.name.p, name.p, name.len))
			return true;
	return false;
}

static int event_of_pmu(const struct pmu_env *env, struct da_spec *s, const struct item *it,
			struct slice pmu, const char *text, struct slice given,
			struct da_error *err)
{
	struct term_walk w = walk(slice_from(text));
	struct term t;
	int rc = 0;

	while (!rc && next_term(&w, &t))
		if (!is_given(given, t.name))
			rc = one_term(env, s, it, pmu, &t, err);
	return rc;
}

static int all_terms(const struct pmu_env *env, struct da_spec *s, const struct item *it,
		     struct slice pmu, struct slice terms, struct da_error *err)
{
	struct term_walk w = walk(terms);
	char text[512];
	struct term t;
	int rc = 0;

	while (!rc && next_term(&w, &t)) {
		if (is_event(env, pmu, &t, text, sizeof(text)))
			rc = event_of_pmu(env, s, it, pmu, text, terms, err);
		else
			rc = one_term(env, s, it, pmu, &t, err);
	}
	return rc;
}

/* ---- modifiers, defaults, name ---- */

/* P: the highest level that opens; 0 if none does, so that the error is that of the event
 * itself. */
static unsigned highest_precise(const struct pmu_env *env, const struct da_spec *s)
{
	for (unsigned level = 3; level; level--) {
		struct da_attr try = s->attr;

		try.flags |= (uint64_t)level << DA_ATTR_PRECISE_SHIFT;
		if (!env->probe(&try, s->has_leader ? &s->leader : NULL))
			return level;
	}
	return 0;
}

static void set_modifiers(const struct pmu_env *env, struct da_spec *s, const struct modifiers *m)
{
	struct da_attr *a = &s->attr;
	unsigned precise;

	s->has_modifier = m->user || m->kernel || m->hypervisor;
	if (s->has_modifier && (!m->user || !m->kernel))
		a->config |= s->exclude_config;
	if (s->has_modifier) {
		a->flags |= m->user ? 0 : DA_ATTR_EXCLUDE_USER;
		a->flags |= m->kernel ? 0 : DA_ATTR_EXCLUDE_KERNEL;
		a->flags |= m->hypervisor ? 0 : DA_ATTR_EXCLUDE_HV;
	}
	if (a->type == DA_TYPE_SOFTWARE)
		return; /* as precise as they can be, whatever is asked for */
	precise = m->precise_max ? highest_precise(env, s) : m->precise;
	a->flags |= (uint64_t)precise << DA_ATTR_PRECISE_SHIFT;
	s->leader.flags =
		a->flags & (DA_ATTR_EXCLUDE_USER | DA_ATTR_EXCLUDE_KERNEL | DA_ATTR_EXCLUDE_HV);
}

/* What the samples will hold once the recorder has asked for it. */
static enum da_producer producer_to_be(const struct da_spec *s, const char *pmu)
{
	struct da_attr a = s->attr;

	a.sample_type = DA_SAMPLE_RAW;
	if (a.flags & DA_ATTR_PRECISE_MASK)
		a.sample_type |= DA_SAMPLE_ADDR;
	else
		a.sample_type |= DA_SAMPLE_REGS_INTR;
	if (a.type == DA_TYPE_SOFTWARE)
		a.sample_type |= DA_SAMPLE_ADDR;
	return da_producer_of(&a, NULL, pmu);
}

/* Instructions in the kernel cannot be decoded from here: clocks and cycles are of user space by
 * default. A PMU may refuse to exclude anything, so only the common ones are asked to. */
static void set_defaults(struct da_spec *s)
{
	struct da_attr *a = &s->attr;

	if (s->has_modifier)
		return;
	if (s->producer == DA_PROD_REGS)
		a->flags |= DA_ATTR_EXCLUDE_KERNEL;
	if (a->type == DA_TYPE_HARDWARE || a->type == DA_TYPE_SOFTWARE ||
	    a->type == DA_TYPE_HW_CACHE)
		a->flags |= DA_ATTR_EXCLUDE_HV;
}

static void set_names(struct da_spec *s, const struct item *it, struct slice base)
{
	bool slash = base.len && base.p[base.len - 1] == '/';
	const char *colon = slash ? "" : ":", *by_default = s->producer == DA_PROD_REGS ? "u" : "";

	copy(s->text, sizeof(s->text), it->text);
	if (s->name[0])
		return;
	if (s->has_modifier)
		by_default = "";
	snprintf(s->name, sizeof(s->name), "%.*s%s%s%.*s", slice_len(base), base.p,
		 it->mod_text.len || *by_default ? colon : "", by_default, slice_len(it->mod_text),
		 it->mod_text.p ? it->mod_text.p : "");
}

static void finish(const struct pmu_env *env, struct da_spec *s, const struct item *it,
		   struct slice base, const char *pmu)
{
	set_modifiers(env, s, &it->mod);
	s->producer = producer_to_be(s, pmu);
	set_defaults(s);
	set_names(s, it, base);
}

/* ---- kinds of event ---- */

int spec_add_named(const struct pmu_env *env, struct spec_list *l, const struct item *it,
		   struct slice base, uint32_t type, uint64_t config, struct da_error *err)
{
	struct da_spec *s;
	int rc = spec_add(l, &s, err);

	if (rc)
		return rc;
	s->attr.type = type;
	s->attr.config = config;
	rc = all_terms(env, s, it, (struct slice){"", 0}, it->terms, err);
	if (!rc)
		finish(env, s, it, base, NULL);
	return rc;
}

/* Golden Cove and later count loads with their latency only beside an event that is there for that. */
static void set_leader(const struct pmu_env *env, struct da_spec *s, const struct item *it,
		       struct slice pmu)
{
	struct da_spec aux = {.attr = {.type = s->attr.type, .size = ATTR_SIZE}};
	char text[512];

	if ((s->attr.config & 0xffff) != MEM_LOADS ||
	    !pmu_event_text(env, pmu, slice_from("mem-loads-aux"), text, sizeof(text)) ||
	    event_of_pmu(env, &aux, it, pmu, text, (struct slice){"", 0}, NULL))
		return;
	s->leader = aux.attr;
	s->has_leader = true;
}

/* What sysfs says of the PMU beside its terms. */
static void set_pmu(const struct pmu_env *env, struct da_spec *s, const struct item *it,
		    struct slice pmu)
{
	struct pmu_format f;
	char text[64];

	if (!pmu_file(env, pmu, "cpus", s->cpus, sizeof(s->cpus)) &&
	    !pmu_file(env, pmu, "cpumask", s->cpus, sizeof(s->cpus)))
		s->cpus[0] = '\0';
	if (pmu_file(env, pmu, "caps/min_interval", text, sizeof(text)) &&
	    !slice_number(slice_from(text), &s->min_period))
		s->min_period = 0;
	/* IBS filters by itself where it can, and refuses to exclude where it cannot */
	if (slice_begins(pmu, "ibs_") && pmu_format_find(env, pmu, slice_from("swfilt"), &f) &&
	    !f.field)
		s->exclude_config = f.bits;
	set_leader(env, s, it, pmu);
}

int spec_add_pmu(const struct pmu_env *env, struct spec_list *l, const struct item *it,
		 struct slice base, struct slice pmu, const char *preset, struct da_error *err)
{
	struct da_spec *s;
	char name[64];
	int rc = spec_add(l, &s, err);

	if (rc)
		return rc;
	if (!pmu_exists(env, pmu, &s->attr.type))
		return da_fail(err, DA_ENOENT, 0, "no PMU '%.*s' in %s", slice_len(pmu), pmu.p,
			       env->devices);
	copy(name, sizeof(name), pmu);
	rc = all_terms(env, s, it, pmu, slice_from(preset), err);
	if (!rc)
		rc = all_terms(env, s, it, pmu, it->terms, err);
	if (rc)
		return rc;
	set_pmu(env, s, it, pmu);
	finish(env, s, it, base, name);
	return 0;
}

bool spec_simulates(const struct item *it)
{
	struct term_walk w = walk(it->terms);
	struct term t;

	while (next_term(&w, &t))
		if (slice_is(t.text, "simulate"))
			return true;
	return false;
}

/* Terms of the device that spe/simulate/ stands for. True: it was one, *rc is the result. */
static bool device_term(struct da_spec *s, const struct item *it, const struct term *t,
			struct da_error *err, int *rc)
{
	uint64_t *number = slice_is(t->name, "collide") ? &s->sim_collide
			   : slice_is(t->name, "cut")   ? &s->sim_cut
							: NULL;

	*rc = 0;
	if (slice_is(t->text, "simulate"))
		s->simulate = true;
	else if (slice_is(t->text, "split"))
		s->sim_split = true;
	else if (number && !slice_number(t->value, number))
		*rc = bad_term(err, it, t->text, "needs a number");
	else
		return number != NULL;
	return true;
}

/* The generator gets the terms that are not common to all events, as they were typed. */
int spec_add_fake(const struct pmu_env *env, struct spec_list *l, const struct item *it,
		  struct da_error *err)
{
	bool spe = spec_simulates(it);
	struct term_walk w = walk(it->terms);
	struct da_fake *generator;
	size_t used = 0;
	struct da_spec *s;
	struct term t;
	int rc = spec_add(l, &s, err), rate;

	while (!rc && next_term(&w, &t)) {
		if (common_term(s, it, &t, err, &rate) ||
		    (spe && device_term(s, it, &t, err, &rate))) {
			rc = rate;
			continue;
		}
		if (used + t.text.len + 2 > sizeof(s->fake))
			return da_fail(err, DA_EUSAGE, 0, "terms of '%.*s' are too long",
				       slice_len(it->text), it->text.p);
		used += (size_t)snprintf(s->fake + used, sizeof(s->fake) - used, "%s%.*s",
					 used ? "," : "", (int)t.text.len, t.text.p);
	}
	if (!rc)
		rc = da_fake_new(&generator, s->fake, 0, err);
	if (rc)
		return rc;
	da_fake_free(generator);
	s->attr.type = spe ? SIMULATED_PMU : DA_TYPE_SOFTWARE;
	s->attr.config = spe ? SPE_CONFIG : DA_SW_DUMMY;
	set_modifiers(env, s, &it->mod);
	s->producer = spe ? DA_PROD_SPE : DA_PROD_FAKE;
	set_names(s, it, spe ? slice_from("spe/simulate/") : it->name);
	return 0;
}
