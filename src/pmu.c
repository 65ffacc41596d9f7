/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an event's samples carry (its producer) and count (its unit), and the parser of
 * specifications on this machine. The grammar is in pmu_parse.c.
 */
#include "da_pmu.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "da_facts.h"
#include "pmu_priv.h"

static const char *const producer_names[DA_PROD_NR] = {
	[DA_PROD_REGS] = "regs",     [DA_PROD_FAULT] = "fault",           [DA_PROD_ADDR] = "addr",
	[DA_PROD_IBS_OP] = "ibs_op", [DA_PROD_IBS_FETCH] = "ibs_fetch",   [DA_PROD_SPE] = "spe",
	[DA_PROD_PEBS_RAW] = "pebs", [DA_PROD_TRACEPOINT] = "tracepoint", [DA_PROD_FAKE] = "fake",
	[DA_PROD_NONE] = "none",
};

const char *da_producer_name(enum da_producer p)
{
	return (unsigned)p < DA_PROD_NR ? producer_names[p] : "unknown";
}

/* ---- producers ---- */

/* Bits 63:32 of a hardware event's config name a PMU of a hybrid CPU. */
static uint32_t hardware_event(const struct da_attr *a)
{
	return (uint32_t)a->config;
}

static bool is_fault(const struct da_attr *a)
{
	return a->type == DA_TYPE_SOFTWARE &&
	       (a->config == DA_SW_PAGE_FAULTS || a->config == DA_SW_PAGE_FAULTS_MIN ||
		a->config == DA_SW_PAGE_FAULTS_MAJ || a->config == DA_SW_ALIGNMENT_FAULTS);
}

bool da_attr_is_clock(const struct da_attr *a)
{
	return a->type == DA_TYPE_SOFTWARE &&
	       (a->config == DA_SW_CPU_CLOCK || a->config == DA_SW_TASK_CLOCK);
}

static bool is_cycles(const struct da_attr *a)
{
	return a->type == DA_TYPE_HARDWARE && hardware_event(a) == DA_HW_CPU_CYCLES;
}

/* Software events other than faults put no address into ADDR. */
static enum da_producer of_software(const struct da_attr *a, const char *event_name)
{
	if (is_fault(a))
		return a->sample_type & DA_SAMPLE_ADDR ? DA_PROD_FAULT : DA_PROD_NONE;
	if (da_attr_is_clock(a))
		return a->sample_type & DA_SAMPLE_REGS_INTR ? DA_PROD_REGS : DA_PROD_NONE;
	if (a->config == DA_SW_DUMMY && !strncmp(event_name, "fake", 4))
		return DA_PROD_FAKE;
	return DA_PROD_NONE;
}

static bool named(const char *pmu, const char *event, const char *begins)
{
	return !strncmp(pmu, begins, strlen(begins)) || !strncmp(event, begins, strlen(begins));
}

/* mem-loads-aux: the leader that some Intel CPUs need beside mem-loads; its samples have no
 * address. */
static bool is_aux_leader(const struct da_attr *a)
{
	return a->type == DA_TYPE_RAW && (a->config & 0xffff) == 0x8203;
}

enum da_producer da_producer_of(const struct da_attr *a, const char *event_name,
				const char *pmu_name)
{
	const char *event = event_name ? event_name : "", *pmu = pmu_name ? pmu_name : "";
	bool raw = a->sample_type & DA_SAMPLE_RAW, addr = a->sample_type & DA_SAMPLE_ADDR;

	if (a->type == DA_TYPE_SOFTWARE)
		return of_software(a, event);
	if (a->type == DA_TYPE_TRACEPOINT)
		return DA_PROD_TRACEPOINT;
	/* an execution breakpoint stops before the instruction; its ADDR is that of the
	 * instruction */
	if (a->type == DA_TYPE_BREAKPOINT && (a->bp_type & HW_BREAKPOINT_X))
		return a->sample_type & DA_SAMPLE_REGS_INTR ? DA_PROD_REGS : DA_PROD_NONE;
	if (a->type > DA_TYPE_BREAKPOINT) { /* a PMU of its own */
		if (named(pmu, event, "arm_spe"))
			return DA_PROD_SPE;
		if (raw && named(pmu, event, "ibs_op"))
			return DA_PROD_IBS_OP;
		if (raw && named(pmu, event, "ibs_fetch"))
			return DA_PROD_IBS_FETCH;
	}
	if (is_cycles(a) && (a->sample_type & DA_SAMPLE_REGS_INTR) &&
	    !(a->flags & DA_ATTR_PRECISE_MASK))
		return DA_PROD_REGS;
	return addr && !is_aux_leader(a) ? DA_PROD_ADDR : DA_PROD_NONE;
}

const char *da_event_unit(const struct da_attr *a)
{
	if (da_attr_is_clock(a))
		return "ns";
	if (is_fault(a) || (a->type == DA_TYPE_SOFTWARE && a->config == DA_SW_EMULATION_FAULTS))
		return "faults";
	if (a->type == DA_TYPE_HARDWARE && (hardware_event(a) == PERF_COUNT_HW_CPU_CYCLES ||
					    hardware_event(a) == PERF_COUNT_HW_BUS_CYCLES ||
					    hardware_event(a) == PERF_COUNT_HW_REF_CPU_CYCLES))
		return "cycles";
	return "events";
}

/* ---- this machine ---- */

static int open_one(const struct da_attr *a, int group)
{
	struct da_attr try = *a;
	uint8_t bytes[128];

	try.flags |= DA_ATTR_DISABLED;
	try.sample_type = DA_SAMPLE_IP;
	da_attr_build(&try, sizeof(bytes), bytes);
	return (int)syscall(SYS_perf_event_open, bytes, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

/* Opens the event for this thread, disabled, and closes it. */
static int probe(const struct da_attr *a, const struct da_attr *leader)
{
	int group = leader ? open_one(leader, -1) : -1, sys = errno, fd;
	struct da_attr try = *a;

	if (leader && group < 0)
		return sys;
	if (!try.sample_period)
		try.sample_period = 0x100000; /* long, and a multiple of 16 as IBS wants it */
	fd = open_one(&try, group);
	sys = errno;
	if (fd >= 0)
		close(fd);
	if (group >= 0)
		close(group);
	return fd < 0 ? sys : 0;
}

static void machine(struct pmu_machine *m)
{
	struct utsname u;
	struct da_facts f;

	da_facts_init(&f);
	da_facts_machine(&f);
	m->hypervisor = f.hypervisor;
	m->kpti = f.kpti;
	m->paranoid = f.paranoid;
	if (!uname(&u))
		snprintf(m->arch, sizeof(m->arch), "%.31s",
			 strcmp(u.machine, "aarch64") ? u.machine : "arm64");
	da_facts_release(&f);
}

int da_spec_parse(const char *text, struct da_spec **out, size_t *nr, char *why, size_t why_size,
		  struct da_error *err)
{
	const struct pmu_env env = {
		.devices = "/sys/bus/event_source/devices",
		.tracing = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"},
		.probe = probe,
		.machine = machine,
	};

	return pmu_spec_parse(&env, text, out, nr, why, why ? why_size : 0, err);
}
