/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the commands share in reading options: values with units, lists, and the group of options that say
 * which events to measure on which target (record, diagnose).
 *
 * The value parsers take the whole string or refuse it: 0, or -DA_EUSAGE with *out untouched.
 */
#ifndef DA_OPTS_H
#define DA_OPTS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "da_error.h"
#include "da_session.h"

/* argp_parse() with arguments in order, for a command: a wrong option is one line on stderr instead of
 * argp's two, then the exit status of a usage error. Like argp_parse() it returns only if all is well. The
 * parser says what is wrong with a value by opts_usage(), not by argp_error(). */
void opts_parse(const struct argp *argp, int argc, char **argv, void *input);
/* "NAME: MESSAGE" on stderr, and the exit status of a usage error: never returns. */
void opts_usage(const struct argp_state *state, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* 123, 0x1cd, 0755 is 755: no octal, a period of 010 is a slip. */
int opts_u64(const char *s, uint64_t *out);
/* A count: 100K, 2M, 1G (thousands), also 1.5M. */
int opts_count(const char *s, uint64_t *out);
/* A size in bytes: 4096, 64k, 2M, 1G (binary), an optional B or iB behind. */
int opts_size(const char *s, uint64_t *out);
/* A time in ns: 3s, 500ms, 20us, 100ns, 2m, 1h, 1.5s; without a unit in unit_ns. */
int opts_duration(const char *s, uint64_t unit_ns, uint64_t *out);
/* 0..100, with or without %. */
int opts_percent(const char *s, double *out);
/* Pages of a ring: a power of two up to 2^19, or a size (512K) as perf's -m. */
int opts_pages(const char *s, uint32_t *out);
/* PAGES[,AUXPAGES] or ,AUXPAGES as perf's -m; what is not given stays. */
int opts_mmap(const char *s, uint32_t *pages, uint32_t *aux_pages);
/* "0,2-4": sorted, each once; malloc'ed. */
int opts_cpus(const char *s, uint32_t **cpus, size_t *nr);
/* Process or thread ids "12,345"; malloc'ed. */
int opts_ids(const char *s, pid_t **ids, size_t *nr);
/* "auto" (NULL too), "always", "never" for a stream: auto is colour on a terminal without NO_COLOR. */
int opts_color(const char *s, FILE *f, bool *out);

/* --regions: "density", "damon" with options, "vma", or "fixed=SIZE" with a power of two of 4k or more. -DA_EUSAGE: *o is untouched. */
int opts_regions(const char *s, struct da_match_opts *o);
#define OPTS_REGIONS_WANTED                                                                                                     \
	"density[:max=N], damon[:min=,max=,aggr=,sample=,update=,seed=], kernel, vma, or fixed=SIZE with a power of two of 4k " \
	"or more"

/* --buffer: "[NAME:]slots=N,keep=oldest|latest,scope=cpu|global,decode=early|late". -DA_EUSAGE: *out is
 * untouched. */
int opts_buffer(const char *s, struct da_buffer *out);

/* Adds to a list of texts, which are not copied. 0 or -DA_ENOMEM. */
int opts_add_text(const char ***list, size_t *nr, const char *text);

/* Length of the first event of "a,b": up to a comma, but not one between slashes (perf's rule). */
size_t opts_event_len(const char *text);

/* ---- events and target ---- */

struct opts_events {
	char *events; /* joined -e, NULL: "auto" */
	uint64_t period, freq;
	const char *cpu_list;
	pid_t *ids;
	size_t nr_ids;
	enum da_target target; /* DA_TARGET_NONE: none of -p -t -a was given */
	uint32_t mmap_pages, aux_pages;
	uint64_t latency_ms;
	struct da_buffer *buffers;
	size_t nr_buffers;
	uint64_t duration_ns; /* 0: until the target ends */
	uint64_t delay_ms;
	enum da_drain drain;
	bool no_regs, no_aux, no_inherit, phys, all_user, all_kernel, force;
	/* --pmu NAME --config N: the kernel selftest's way to say it */
	const char *pmu, *config;
	bool has_freq_switch, freq_switch; /* --freq 0|1 */
	uint64_t sample_freq, sample_period;
	char **command; /* the first word of COMMAND, or NULL */
	int nr_command;
};

/* A child parser: its input is a struct opts_events, zeroed but for target = DA_TARGET_NONE. The parent
 * leaves arguments that are not options to it (COMMAND); use ARGP_IN_ORDER. */
extern const struct argp opts_events_argp;
/* The text for da_spec_parse(), from -e or --pmu; malloc'ed, NULL out of memory. */
char *opts_events_text(const struct opts_events *o);
/* Fills what the options decide; pointers borrow from o. Target and child are left to the caller when no
 * option gave one. */
void opts_events_session(const struct opts_events *o, struct da_session_opts *s);
void opts_events_release(struct opts_events *o);

#endif
