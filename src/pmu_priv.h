/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The insides of the event parser, shared by src/pmu*.c and its tests: where a machine says what
 * it has, and the pieces of a specification.
 */
#ifndef DA_PMU_PRIV_H
#define DA_PMU_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_pmu.h"

/* What may hide a PMU, or forbid it. */
struct pmu_machine {
	bool hypervisor, kpti;
	int paranoid;  /* INT_MIN unknown */
	char arch[32]; /* as uname says, "" unknown */
};

/* Where to look. Tests put their own folders here. */
struct pmu_env {
	const char *devices;    /* /sys/bus/event_source/devices */
	const char *tracing[2]; /* where tracefs may be mounted */
	/* Can such an event be opened, in the group of leader (NULL: alone)? 0 or an errno. */
	int (*probe)(const struct da_attr *a, const struct da_attr *leader);
	void (*machine)(struct pmu_machine *m); /* NULL: nothing is known */
};

/* da_spec_parse() on a given machine. */
int pmu_spec_parse(const struct pmu_env *env, const char *text, struct da_spec **out, size_t *nr,
		   char *why, size_t why_size, struct da_error *err);

/* ---- text ---- */

struct slice { /* borrowed, not terminated */
	const char *p;
	size_t len;
};

static inline int slice_len(struct slice s) /* for %.*s */
{
	return s.len < 200 ? (int)s.len : 200;
}
struct slice slice_from(const char *s);
bool slice_is(struct slice s, const char *text);
bool slice_begins(struct slice s, const char *text);
/* The part before the first `c`, which is taken off *rest together with it; all of it if there
 * is none. */
struct slice slice_cut(struct slice *rest, char c);
/* Decimal or 0x..., nothing else. */
bool slice_number(struct slice s, uint64_t *out);

/* Distance of two words in edits; a name is "near" at up to a third of its length. */
struct nearest {
	struct slice word;
	char best[64];
	unsigned distance;
};
void nearest_begin(struct nearest *n, struct slice word);
void nearest_try(struct nearest *n, const char *candidate);
bool nearest_found(const struct nearest *n);

/* ---- names that every perf knows (pmu_names.c) ---- */

struct pmu_event_name {
	const char *name, *alias; /* alias may be NULL */
	uint32_t type;
	uint64_t config;
};

bool pmu_name_find(struct slice name, uint32_t *type, uint64_t *config); /* also hw-cache names */
void pmu_name_nearest(struct nearest *n);

/* ---- what sysfs and tracefs say (pmu_sysfs.c) ---- */

bool pmu_exists(const struct pmu_env *env, struct slice pmu, uint32_t *type);
/* Calls fn for each name in devices/PMU/SUB ("" pmu and sub: the PMUs), sorted. */
void pmu_each(const struct pmu_env *env, struct slice pmu, const char *sub,
	      void (*fn)(void *ctx, const char *name), void *ctx);
/* The terms that an event of a PMU stands for; false: no such event. */
bool pmu_event_text(const struct pmu_env *env, struct slice pmu, struct slice event, char *buf,
		    size_t size);
/* A small file of a PMU (caps/min_interval, cpus); false: it has none, or it is empty. */
bool pmu_file(const struct pmu_env *env, struct slice pmu, const char *file, char *buf,
	      size_t size);
/* Which bits of which attr field a format term means; false: no such term, or not understood. */
struct pmu_format {
	unsigned field; /* 0..4: config, config1 .. config4 */
	uint64_t bits;
};
bool pmu_format_find(const struct pmu_env *env, struct slice pmu, struct slice term,
		     struct pmu_format *out);
bool pmu_format_parse(const char *text, struct pmu_format *out);
/* Puts a value into the format's bits, lowest first; false: it does not fit. */
bool pmu_format_put(const struct pmu_format *f, uint64_t value, struct da_attr *a);
uint64_t *pmu_config_field(struct da_attr *a, unsigned field);
/* The id of a tracepoint. -DA_EUSAGE, -DA_ENOENT or -DA_EPERM with a message. */
int pmu_tracepoint(const struct pmu_env *env, struct slice system, struct slice event, uint64_t *id,
		   struct da_error *err);

/* ---- one event ---- */

struct spec_list {
	struct da_spec *spec;
	size_t nr;
};

struct modifiers {
	bool user, kernel, hypervisor; /* letters given */
	unsigned precise;
	bool precise_max;
};

/* One item of the list, taken apart. */
struct item {
	struct slice text;  /* all of it */
	struct slice name;  /* before slash or colon */
	struct slice terms; /* between the slashes */
	struct slice base;  /* text up to the second slash; the name if there is none */
	struct slice mod_text;
	struct modifiers mod;
	bool has_terms;
};

/* Each adds one event (pmu_event.c). base: what its name begins with when no name= was given. */
int spec_add_named(const struct pmu_env *env, struct spec_list *l, const struct item *it,
		   struct slice base, uint32_t type, uint64_t config, struct da_error *err);
/* preset: terms that come before the item's own ones. */
int spec_add_pmu(const struct pmu_env *env, struct spec_list *l, const struct item *it,
		 struct slice base, struct slice pmu, const char *preset, struct da_error *err);
/* fake/terms/, and spe/simulate,terms/. */
bool spec_simulates(const struct item *it);
int spec_add_fake(const struct pmu_env *env, struct spec_list *l, const struct item *it,
		  struct da_error *err);

/* ---- names of ours that stand for what a machine has (pmu_auto.c) ---- */

struct auto_text { /* the reasons of "auto" */
	char *buf;
	size_t size;
};
/* spe, ibs, pebs, trap, auto. True: it was one of these, *rc is the result. */
bool pmu_special(const struct pmu_env *env, struct spec_list *l, const struct item *it,
		 struct auto_text why, struct da_error *err, int *rc);
void pmu_special_nearest(struct nearest *n);
/* A PMU that other machines have: says so. 0: no such PMU is known. */
int pmu_known_elsewhere(struct slice pmu, struct da_error *err);

#endif
