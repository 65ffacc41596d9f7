/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options that say what to measure on whom, as an argp child parser of record and diagnose.
 *
 * They are perf's names and meanings; --pmu, --config, --freq, --sample-freq and --period are those of the
 * kernel's DAMON selftest. Which combinations make sense for a command is decided by the command.
 */
#include "opts.h"

#include <stdlib.h>
#include <string.h>

#include "da_abi.h"

enum {
	OPT_ALL_USER = 0x200,
	OPT_ALL_KERNEL,
	OPT_NO_INHERIT,
	OPT_NO_REGS,
	OPT_NO_AUX,
	OPT_PHYS,
	OPT_DRAIN,
	OPT_BUFFER,
	OPT_DURATION,
	OPT_FORCE,
	OPT_LATENCY,
	OPT_PMU,
	OPT_CONFIG,
	OPT_FREQ,
	OPT_SAMPLE_FREQ,
	OPT_PERIOD
};

size_t opts_event_len(const char *text)
{
	bool inside = false;
	size_t n;

	for (n = 0; text[n] && (text[n] != ',' || inside); n++)
		inside ^= text[n] == '/';
	return n;
}

/* clang-format off */
static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "What to sample:", 2},
	{"event", 'e', "EVENT", 0, "Events, as perf names them: cpu-clock, page-faults, PMU/terms/, rNNN, "
	 "system:tracepoint, fake; auto (default) takes the best that this machine has", 2},
	{"count", 'c', "N", 0, "One sample every N events (ns for the clocks)", 2},
	{NULL, 'F', "HZ", 0, "HZ samples a second instead of a fixed period", 2},
	{"all-user", OPT_ALL_USER, NULL, 0, "User space only", 2},
	{"all-kernel", OPT_ALL_KERNEL, NULL, 0, "Kernel only", 2},
	{"phys-data", OPT_PHYS, NULL, 0, "Physical addresses too (needs CAP_SYS_ADMIN)", 2},
	{"no-regs", OPT_NO_REGS, NULL, 0, "No registers with clock samples: no addresses from them", 2},
	{"no-aux", OPT_NO_AUX, NULL, 0, "Map no AUX area", 2},
	{"force", OPT_FORCE, NULL, 0, "Allow periods so short that they starve the target", 2},

	{NULL, 0, NULL, 0, "On whom:", 3},
	{"pid", 'p', "PID[,PID]", 0, "These processes", 3},
	{"tid", 't', "TID[,TID]", 0, "These threads", 3},
	{"all-cpus", 'a', NULL, 0, "The whole system", 3},
	{"cpu", 'C', "LIST", 0, "Only on these CPUs: 0,2-4", 3},
	{"no-inherit", OPT_NO_INHERIT, NULL, 0, "Not the children of the target", 3},
	{"delay", 'D', "MS", 0, "Begin MS milliseconds after the start", 3},
	{"duration", OPT_DURATION, "TIME", 0, "Stop after TIME: 500ms, 3s, 2m", 3},

	{NULL, 0, NULL, 0, "Buffers:", 4},
	{"mmap-pages", 'm', "PAGES[,AUX]", 0, "Kernel ring of each CPU: pages (a power of two) or a size (2M); "
	 "AUX: the same for the AUX area of Arm SPE", 4},
	{"latency", OPT_LATENCY, "TIME", 0, "Samples that a PMU gathers by itself (SPE, PEBS) are to be seen "
	 "after TIME at most (10ms, 1s)", 4},
	{"drain", OPT_DRAIN, "HOW", 0, "percpu (default): a drain thread and a report buffer for each CPU; "
	 "single: one for all", 4},
	{"buffer", OPT_BUFFER, "[NAME:]TERMS", 0, "A report buffer: slots=N, keep=oldest (default) or latest, scope=cpu "
	 "(default) or global, decode=early (default) or late; events name it: EVENT/buffer=NAME/. May be "
	 "repeated", 4},

	{NULL, 0, NULL, 0, "As the kernel's selftest says it:", 5},
	{"pmu", OPT_PMU, "NAME", 0, "PMU by its name in sysfs", 5},
	{"config", OPT_CONFIG, "N", 0, "attr.config for --pmu (software: 2, page faults)", 5},
	{"freq", OPT_FREQ, "0|1", 0, "Take --sample-freq (1) or --period (0)", 5},
	{"sample-freq", OPT_SAMPLE_FREQ, "HZ", 0, "Samples a second", 5},
	{"period", OPT_PERIOD, "N", 0, "One sample every N events", 5},
	{NULL, 0, NULL, 0, NULL, 0},
};
/* clang-format on */

static int join(char **list, const char *more)
{
	size_t old = *list ? strlen(*list) : 0;
	char *p = realloc(*list, old + strlen(more) + 2);

	if (!p)
		return -DA_ENOMEM;
	if (old)
		p[old++] = ',';
	memcpy(p + old, more, strlen(more) + 1);
	*list = p;
	return 0;
}

static void set_target(struct opts_events *o, struct argp_state *state, enum da_target t,
		       const char *arg)
{
	int ret;

	if (o->target != DA_TARGET_NONE)
		opts_usage(state, "only one of -a, -p and -t can be given");
	o->target = t;
	if (!arg)
		return;
	ret = opts_ids(arg, &o->ids, &o->nr_ids);
	if (ret == -DA_ENOMEM)
		argp_failure(state, EXIT_FAILURE, 0, "out of memory");
	else if (ret)
		opts_usage(state, "bad list of ids '%s' (wanted: 12,345)", arg);
}

static void check_cpus(struct argp_state *state, const char *arg)
{
	uint32_t *cpus;
	size_t nr;

	if (opts_cpus(arg, &cpus, &nr))
		opts_usage(state, "bad list of CPUs '%s' (wanted: 0,2-4)", arg);
	else
		free(cpus);
}

static void set_count(struct argp_state *state, const char *arg, const char *option, uint64_t *out)
{
	if (opts_count(arg, out) || !*out)
		opts_usage(state, "bad number '%s' for %s (wanted: 100000, 100K, 1M)", arg, option);
}

static void add_buffer(struct opts_events *o, struct argp_state *state, const char *arg)
{
	struct da_buffer *grown = reallocarray(o->buffers, o->nr_buffers + 1, sizeof(*grown));

	if (!grown) {
		argp_failure(state, EXIT_FAILURE, 0, "out of memory");
		return;
	}
	o->buffers = grown;
	if (opts_buffer(arg, &o->buffers[o->nr_buffers]))
		opts_usage(state,
			   "bad buffer '%s' (wanted: [NAME:]slots=N, 2 to 16777216, "
			   "keep=oldest|latest, scope=cpu|global, decode=early|late)",
			   arg);
	o->nr_buffers++;
}

/* The selftest's four options become a period or a frequency. */
static void settle(struct opts_events *o, struct argp_state *state)
{
	if (o->config && !o->pmu)
		opts_usage(state, "--config belongs to --pmu");
	if (o->pmu && o->events)
		opts_usage(state, "-e and --pmu say the same thing: give one");
	if (o->sample_freq && o->sample_period && !o->has_freq_switch)
		opts_usage(state,
			   "--sample-freq or --period? --freq 1 takes the first, 0 the second");
	if (o->has_freq_switch && o->freq_switch && !o->sample_freq)
		opts_usage(state, "--freq 1 needs --sample-freq");
	if (o->has_freq_switch && !o->freq_switch && !o->sample_period)
		opts_usage(state, "--freq 0 needs --period");
	if ((o->sample_freq || o->sample_period) && (o->freq || o->period))
		opts_usage(state, "-c and -F do not go with --sample-freq and --period");
	if (o->has_freq_switch ? o->freq_switch : o->sample_freq != 0)
		o->freq = o->sample_freq;
	else if (o->sample_period)
		o->period = o->sample_period;
	if (o->freq && o->period)
		opts_usage(state, "a fixed period and a frequency cannot go together");
	if (o->all_user && o->all_kernel)
		opts_usage(state, "--all-user and --all-kernel leave nothing");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct opts_events *o = state->input;
	uint64_t v;

	switch (key) {
	case 'e':
		if (join(&o->events, arg))
			argp_failure(state, EXIT_FAILURE, 0, "out of memory");
		break;
	case 'c':
		set_count(state, arg, "-c", &o->period);
		break;
	case 'F':
		set_count(state, arg, "-F", &o->freq);
		break;
	case 'p':
		set_target(o, state, DA_TARGET_PID, arg);
		break;
	case 't':
		set_target(o, state, DA_TARGET_TID, arg);
		break;
	case 'a':
		set_target(o, state, DA_TARGET_SYSTEM, NULL);
		break;
	case 'C':
		check_cpus(state, arg);
		o->cpu_list = arg;
		break;
	case 'm':
		if (opts_mmap(arg, &o->mmap_pages, &o->aux_pages))
			opts_usage(state,
				   "bad ring size '%s' (wanted: a power of two pages, or 512K, 2M; "
				   "for the AUX area another one after a comma)",
				   arg);
		break;
	case OPT_LATENCY:
		if (opts_duration(arg, 1000000, &v) || !v)
			opts_usage(state, "bad latency '%s' (wanted: 10ms, 1s)", arg);
		else
			o->latency_ms = (v + 999999) / 1000000;
		break;
	case 'D':
		if (opts_duration(arg, 1000000, &v))
			opts_usage(state, "bad delay '%s' (wanted: milliseconds)", arg);
		else
			o->delay_ms = v / 1000000;
		break;
	case OPT_DURATION:
		if (opts_duration(arg, 1000000000, &o->duration_ns) || !o->duration_ns)
			opts_usage(state, "bad duration '%s' (wanted: 500ms, 3s, 2m)", arg);
		break;
	case OPT_ALL_USER:
		o->all_user = true;
		break;
	case OPT_ALL_KERNEL:
		o->all_kernel = true;
		break;
	case OPT_NO_INHERIT:
		o->no_inherit = true;
		break;
	case OPT_NO_REGS:
		o->no_regs = true;
		break;
	case OPT_NO_AUX:
		o->no_aux = true;
		break;
	case OPT_PHYS:
		o->phys = true;
		break;
	case OPT_FORCE:
		o->force = true;
		break;
	case OPT_DRAIN:
		if (!strcmp(arg, "percpu"))
			o->drain = DA_DRAIN_PERCPU;
		else if (!strcmp(arg, "single"))
			o->drain = DA_DRAIN_SINGLE;
		else
			opts_usage(state, "unknown drain '%s' (wanted: percpu, single)", arg);
		break;
	case OPT_BUFFER:
		add_buffer(o, state, arg);
		break;
	case OPT_PMU:
		if (!*arg || strpbrk(arg, "/,"))
			opts_usage(state, "bad PMU name '%s'", arg);
		o->pmu = arg;
		break;
	case OPT_CONFIG:
		if (opts_u64(arg, &v))
			opts_usage(state, "bad config '%s' (wanted: a number)", arg);
		o->config = arg;
		break;
	case OPT_FREQ:
		/* perf's --freq takes Hz; only 0 and 1 can mean the selftest's switch. */
		if (strcmp(arg, "0") != 0 && strcmp(arg, "1") != 0) {
			set_count(state, arg, "--freq", &o->freq);
			break;
		}
		o->has_freq_switch = true;
		o->freq_switch = *arg == '1';
		break;
	case OPT_SAMPLE_FREQ:
		set_count(state, arg, "--sample-freq", &o->sample_freq);
		break;
	case OPT_PERIOD:
		set_count(state, arg, "--period", &o->sample_period);
		break;
	case ARGP_KEY_ARGS: /* all that is left is the command, with options of its own */
		o->command = state->argv + state->next;
		o->nr_command = state->argc - state->next;
		state->next = state->argc;
		break;
	case ARGP_KEY_END:
		settle(o, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp opts_events_argp = {.options = options, .parser = parse};

/* The selftest calls events of the software PMU by number; by name they get the treatment that -e gives. */
static const char *software_name(uint64_t config)
{
	switch (config) {
	case DA_SW_CPU_CLOCK:
		return "cpu-clock";
	case DA_SW_TASK_CLOCK:
		return "task-clock";
	case DA_SW_PAGE_FAULTS:
		return "page-faults";
	case DA_SW_PAGE_FAULTS_MIN:
		return "minor-faults";
	case DA_SW_PAGE_FAULTS_MAJ:
		return "major-faults";
	default:
		return NULL;
	}
}

char *opts_events_text(const struct opts_events *o)
{
	const char *name = NULL;
	uint64_t config = 0;
	char *text;

	if (!o->pmu)
		return strdup(o->events ? o->events : "auto");
	if (!strcmp(o->pmu, "software")) {
		config = DA_SW_PAGE_FAULTS;
		if (o->config)
			opts_u64(o->config, &config);
		name = software_name(config);
	}
	if (name)
		return strdup(name);
	if (o->config)
		opts_u64(o->config, &config);
	if (asprintf(&text, "%s/config=0x%llx/", o->pmu, (unsigned long long)config) < 0)
		return NULL;
	return text;
}

void opts_events_session(const struct opts_events *o, struct da_session_opts *s)
{
	s->period = o->period;
	s->freq = o->freq;
	s->cpu_list = o->cpu_list;
	s->target = o->target;
	s->ids = o->ids;
	s->nr_ids = o->nr_ids;
	s->mmap_pages = o->mmap_pages;
	s->aux_pages = o->aux_pages;
	s->latency_ms = o->latency_ms;
	s->buffers = o->buffers;
	s->nr_buffers = o->nr_buffers;
	s->delay_ms = o->delay_ms;
	s->drain = o->drain;
	s->no_regs = o->no_regs;
	s->no_aux = o->no_aux;
	s->phys = o->phys;
	s->all_user = o->all_user;
	s->all_kernel = o->all_kernel;
	s->force = o->force;
	s->inherit = !o->no_inherit;
}

void opts_events_release(struct opts_events *o)
{
	free(o->events);
	free(o->ids);
	free(o->buffers);
	o->buffers = NULL;
	o->nr_buffers = 0;
	o->events = NULL;
	o->ids = NULL;
	o->nr_ids = 0;
}
