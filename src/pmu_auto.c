/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of ours for what a machine has: spe, ibs, pebs, trap, and auto, which takes the first of
 * these, cycles and cpu-clock that is there and opens. Opens nothing for good: a probe is closed
 * at once.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmu_priv.h"

static const char *const special_names[] = {"auto", "spe", "ibs", "pebs", "trap", "fake"};

void pmu_special_nearest(struct nearest *n)
{
	for (size_t i = 0; i < sizeof(special_names) / sizeof(*special_names); i++)
		nearest_try(n, special_names[i]);
}

int pmu_known_elsewhere(struct slice pmu, struct da_error *err)
{
	static const struct {
		const char *begins, *of, *instead;
	} rows[] = {
		{"arm_spe", "Arm machines with the Statistical Profiling Extension",
		 "cycles or cpu-clock"},
		{"ibs_op", "AMD machines", "cycles or cpu-clock"},
		{"ibs_fetch", "AMD machines", "cycles or cpu-clock"},
		{"cpu_core", "hybrid Intel machines", "cpu, or cpu-clock"},
		{"cpu_atom", "hybrid Intel machines", "cpu, or cpu-clock"},
		{"armv", "Arm machines with a PMU", "cpu-clock"},
		{"cpu", "machines with a hardware PMU", "cpu-clock"},
		{"uncore", "Intel machines", "cpu-clock"},
		{"amd_", "AMD machines", "cpu-clock"},
		{"intel_pt", "Intel machines", "cycles or cpu-clock"},
		{"cs_etm", "Arm machines with CoreSight", "cycles or cpu-clock"},
		{"mem-loads", "Intel machines with PEBS", "cycles or cpu-clock"},
		{"mem-stores", "Intel machines with PEBS", "cycles or cpu-clock"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bool exact = !strcmp(rows[i].begins, "cpu");

		if (exact ? !slice_is(pmu, rows[i].begins) : !slice_begins(pmu, rows[i].begins))
			continue;
		return da_fail(err, DA_ENOENT, 0, "this machine has no '%.*s' (%s have it); use %s",
			       slice_len(pmu), pmu.p, rows[i].of, rows[i].instead);
	}
	return 0;
}

/* ---- PMUs of a kind ---- */

struct kind_search {
	const struct pmu_env *env;
	const char *begins; /* of the PMU's name */
	const char *event;  /* that it must have, or NULL */
	char found[8][64];
	size_t nr;
};

static void kind_try(void *ctx, const char *pmu)
{
	struct kind_search *s = ctx;
	char text[512];

	if (strncmp(pmu, s->begins, strlen(s->begins)) != 0 || strlen(pmu) >= sizeof(s->found[0]) ||
	    s->nr == sizeof(s->found) / sizeof(*s->found))
		return;
	if (s->event &&
	    !pmu_event_text(s->env, slice_from(pmu), slice_from(s->event), text, sizeof(text)))
		return;
	memcpy(s->found[s->nr++], pmu, strlen(pmu) + 1);
}

static void kind_find(struct kind_search *s)
{
	pmu_each(s->env, (struct slice){"", 0}, "", kind_try, s);
}

/* Terms among these that the PMU has, as a list. */
static void terms_it_has(const struct pmu_env *env, struct slice pmu, const char *const *terms,
			 size_t nr, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < nr; i++) {
		struct slice rest = slice_from(terms[i]), name = slice_cut(&rest, '=');
		struct pmu_format f;

		if (pmu_format_find(env, pmu, name, &f) && used + strlen(terms[i]) + 2 < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? "," : "",
						 terms[i]);
	}
}

/* Every instance: big.LITTLE machines have one for each kind of core. */
static int add_spe(const struct pmu_env *env, struct spec_list *l, const struct item *it,
		   struct da_error *err)
{
	static const char *const wanted[] = {"ts_enable=1", "load_filter=1", "store_filter=1"};
	struct kind_search s = {.env = env, .begins = "arm_spe"};
	char preset[128];
	int rc = 0;

	if (spec_simulates(it))
		return spec_add_fake(env, l, it, err);
	kind_find(&s);
	if (!s.nr)
		return da_fail(
			err, DA_ENOENT, 0,
			"no Arm SPE here (no arm_spe_* in %s: not an Arm machine, or hidden by "
			"firmware, hypervisor or kpti); use cycles or cpu-clock",
			env->devices);
	for (size_t i = 0; i < s.nr && !rc; i++) {
		struct slice pmu = slice_from(s.found[i]);

		terms_it_has(env, pmu, wanted, sizeof(wanted) / sizeof(*wanted), preset,
			     sizeof(preset));
		rc = spec_add_pmu(env, l, it, it->base, pmu, preset, err);
	}
	return rc;
}

static int add_ibs(const struct pmu_env *env, struct spec_list *l, const struct item *it,
		   struct da_error *err)
{
	struct slice pmu = slice_from("ibs_op");
	uint32_t type;

	if (!pmu_exists(env, pmu, &type))
		return da_fail(
			err, DA_ENOENT, 0,
			"no AMD IBS here (no ibs_op in %s: not an AMD machine, or hidden by the "
			"hypervisor); use cycles or cpu-clock",
			env->devices);
	return spec_add_pmu(env, l, it, it->base, pmu, "", err);
}

/* The least latency is a matter of loads: stores have no such field. */
static struct slice without_ldlat(struct slice terms, char *buf, size_t size)
{
	size_t used = 0;

	while (terms.len) {
		struct slice term = slice_cut(&terms, ',');

		if (!slice_begins(term, "ldlat=") && used + term.len + 2 < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%.*s", used ? "," : "",
						 (int)term.len, term.p);
	}
	return (struct slice){buf, used};
}

/* Loads and stores are two events, on each kind of core. */
static int add_pebs(const struct pmu_env *env, struct spec_list *l, const struct item *it,
		    struct da_error *err)
{
	static const char *const events[] = {"mem-loads", "mem-stores"};
	struct kind_search s = {.env = env, .begins = "cpu", .event = "mem-loads"};
	struct item each = *it;
	char base[96], for_stores[256];
	int rc = 0;

	kind_find(&s);
	if (!s.nr)
		return da_fail(
			err, DA_ENOENT, 0,
			"no Intel PEBS memory events here (no cpu*/events/mem-loads in %s: not an "
			"Intel machine, or hidden by the hypervisor); use cycles or cpu-clock",
			env->devices);
	each.mod.precise_max = !it->mod.precise;
	for (size_t i = 0; i < 2 * s.nr && !rc; i++) {
		struct slice pmu = slice_from(s.found[i / 2]);
		char text[512];

		if (!pmu_event_text(env, pmu, slice_from(events[i % 2]), text, sizeof(text)))
			continue;
		each.terms = i % 2 ? without_ldlat(it->terms, for_stores, sizeof(for_stores))
				   : it->terms;
		snprintf(base, sizeof(base), "%s/%s/", s.found[i / 2], events[i % 2]);
		rc = spec_add_pmu(env, l, &each, slice_from(base), pmu, events[i % 2], err);
	}
	return rc;
}

static int add_trap(struct da_error *err)
{
	return da_fail(err, DA_EUNSUPPORTED, 0,
		       "'trap' is not part of this version; use cpu-clock");
}

/* ---- auto ---- */

static int add_cycles(const struct pmu_env *env, struct spec_list *l, const struct item *it,
		      struct da_error *err)
{
	return spec_add_named(env, l, it, slice_from("cycles"), DA_TYPE_HARDWARE, DA_HW_CPU_CYCLES,
			      err);
}

static int add_clock(const struct pmu_env *env, struct spec_list *l, const struct item *it,
		     struct da_error *err)
{
	return spec_add_named(env, l, it, slice_from("cpu-clock"), DA_TYPE_SOFTWARE,
			      DA_SW_CPU_CLOCK, err);
}

__attribute__((format(printf, 2, 3))) static void say(struct auto_text why, const char *fmt, ...)
{
	size_t used = why.size ? strlen(why.buf) : 0;
	va_list ap;

	if (used + 2 > why.size)
		return;
	if (used)
		why.buf[used++] = '\n';
	va_start(ap, fmt);
	vsnprintf(why.buf + used, why.size - used, fmt, ap);
	va_end(ap);
}

static const struct candidate {
	const char *name, *what, *is; /* is: what sysfs shows of it */
	int (*add)(const struct pmu_env *env, struct spec_list *l, const struct item *it,
		   struct da_error *err);
} candidates[] = {
	{"spe", "Arm SPE gives exact addresses", "arm_spe_*", add_spe},
	{"ibs", "AMD IBS gives exact addresses", "ibs_op", add_ibs},
	{"pebs", "Intel PEBS gives exact addresses", "cpu*/events/mem-loads", add_pebs},
	{"cycles", "addresses from instruction and registers", NULL, add_cycles},
	{"cpu-clock", "addresses from instruction and registers, on every machine", NULL,
	 add_clock},
};
#define NR_CANDIDATES (sizeof(candidates) / sizeof(*candidates))

/* Why one was not taken. */
struct refusal {
	bool missing; /* sysfs does not show it */
	char text[sizeof(((struct da_error *)0)->msg)];
};

static void not_allowed(const struct pmu_machine *m, struct refusal *r)
{
	if (m->paranoid != INT_MIN)
		snprintf(r->text, sizeof(r->text),
			 "not allowed: kernel.perf_event_paranoid is %d, and no CAP_PERFMON",
			 m->paranoid);
	else
		snprintf(r->text, sizeof(r->text),
			 "not allowed: see kernel.perf_event_paranoid, CAP_PERFMON");
}

static void explain(const struct pmu_machine *m, const struct da_spec *s, int sys,
		    struct refusal *r)
{
	unsigned precise =
		(unsigned)((s->attr.flags & DA_ATTR_PRECISE_MASK) >> DA_ATTR_PRECISE_SHIFT);

	switch (sys) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		snprintf(r->text, sizeof(r->text), "no such hardware counter: %s",
			 m->hypervisor
				 ? "this virtual machine's hypervisor gives it no PMU"
				 : "a virtual machine without a PMU, or a CPU that the kernel does "
				   "not know");
		break;
	case EACCES:
	case EPERM:
		not_allowed(m, r);
		break;
	case EOPNOTSUPP:
		if (precise)
			snprintf(r->text, sizeof(r->text), "it refuses precise level %u", precise);
		else
			snprintf(r->text, sizeof(r->text), "it cannot sample");
		break;
	case EBUSY:
		snprintf(r->text, sizeof(r->text), "another event holds it");
		break;
	case ENOSYS:
		snprintf(r->text, sizeof(r->text), "no perf_event_open here");
		break;
	default:
		snprintf(r->text, sizeof(r->text), "refused (%s)", strerror(sys));
		break;
	}
}

/* As the session opens it: who may not see the kernel gets user space, where the PMU can leave it out. */
static int probe_spec(const struct pmu_env *env, const struct da_spec *s, bool *excluded)
{
	struct da_attr less = s->attr;
	const struct da_attr *leader = s->has_leader ? &s->leader : NULL;
	int sys = env->probe(&s->attr, leader);

	*excluded = false;
	if (sys != EACCES || s->has_modifier)
		return sys;
	*excluded = true;
	less.flags |= DA_ATTR_EXCLUDE_KERNEL | DA_ATTR_EXCLUDE_HV;
	less.config |= s->exclude_config;
	return env->probe(&less, leader);
}

/* Adds the candidate's events if it is there and all of them open; else *r says why not. */
static bool take(const struct pmu_env *env, const struct pmu_machine *m, struct spec_list *l,
		 const struct item *it, const struct candidate *c, struct refusal *r)
{
	size_t before = l->nr;
	struct da_error err = {0};

	*r = (struct refusal){0};
	if (c->add(env, l, it, &err)) {
		r->missing = err.code == DA_ENOENT;
		snprintf(r->text, sizeof(r->text), "%s", err.msg);
		l->nr = before;
		return false;
	}
	for (size_t i = before; i < l->nr; i++) {
		bool excluded;
		int sys = probe_spec(env, &l->spec[i], &excluded);

		if (!sys)
			continue;
		if (excluded && sys == EINVAL)
			snprintf(r->text, sizeof(r->text), "%s", DA_IBS_NO_EXCLUDE);
		else
			explain(m, &l->spec[i], sys, r);
		l->nr = before;
		return false;
	}
	return true;
}

static void add_word(char *list, size_t size, const char *word)
{
	size_t n = strlen(list);

	snprintf(list + n, size - n, "%s%s", n ? ", " : "", word);
}

/* Those that sysfs does not show in one line, with what could hide them here. */
static void say_missing(const struct pmu_env *env, const struct pmu_machine *m,
			struct auto_text why, const struct refusal *r, size_t nr)
{
	char names[64] = "", files[96] = "";

	for (size_t k = 0; k < nr; k++) {
		if (!r[k].missing)
			continue;
		add_word(names, sizeof(names), candidates[k].name);
		add_word(files, sizeof(files), candidates[k].is);
	}
	if (!names[0])
		return;
	say(why, "not %s: no %s in %s%s%s%s", names, files, env->devices,
	    m->arch[0] ? " of this " : "", m->arch,
	    m->hypervisor ? " virtual machine"
	    : m->kpti && r[0].missing && !strcmp(m->arch, "arm64")
		    ? " machine (page table isolation hides SPE: boot with kpti=off)"
	    : m->arch[0] ? " machine"
			 : "");
}

static void say_refused(struct auto_text why, const struct refusal *r, size_t nr)
{
	for (size_t k = 0; k < nr; k++) {
		char names[64] = "";
		bool said = r[k].missing;

		for (size_t b = 0; b < k; b++)
			said |= !r[b].missing && !strcmp(r[b].text, r[k].text);
		if (said)
			continue;
		for (size_t b = k; b < nr; b++)
			if (!r[b].missing && !strcmp(r[b].text, r[k].text))
				add_word(names, sizeof(names), candidates[b].name);
		say(why, "not %s: %s", names, r[k].text);
	}
}

static int add_auto(const struct pmu_env *env, struct spec_list *l, const struct item *it,
		    struct auto_text why, struct da_error *err)
{
	struct pmu_machine m = {.paranoid = INT_MIN};
	struct refusal r[NR_CANDIDATES];
	size_t i;

	if (env->machine)
		env->machine(&m);
	/* The last one is taken whatever the probe says: opening it tells more than a reason
	 * here can. */
	for (i = 0; i + 1 < NR_CANDIDATES; i++)
		if (take(env, &m, l, it, &candidates[i], &r[i]))
			break;
	if (i + 1 == NR_CANDIDATES) {
		int rc = candidates[i].add(env, l, it, err);

		if (rc)
			return rc;
	}
	say(why, "auto: %s (%s)", candidates[i].name, candidates[i].what);
	say_missing(env, &m, why, r, i);
	say_refused(why, r, i);
	return 0;
}

bool pmu_special(const struct pmu_env *env, struct spec_list *l, const struct item *it,
		 struct auto_text why, struct da_error *err, int *rc)
{
	if (slice_is(it->name, "auto"))
		*rc = add_auto(env, l, it, why, err);
	else if (slice_is(it->name, "spe"))
		*rc = add_spe(env, l, it, err);
	else if (slice_is(it->name, "ibs"))
		*rc = add_ibs(env, l, it, err);
	else if (slice_is(it->name, "pebs"))
		*rc = add_pebs(env, l, it, err);
	else if (slice_is(it->name, "trap"))
		*rc = add_trap(err);
	else if (slice_is(it->name, "fake"))
		*rc = spec_add_fake(env, l, it, err);
	else
		return false;
	return true;
}
