/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_event_attr: bytes to fields and back, and a name for an attr that the file gives none.
 *
 * The layout grew from 64 to 144 bytes; a shorter one reads as zeros, a longer one's tail is ignored.
 * What the fields mean for a sample's layout is known by perfrec.c.
 */
#include <stdio.h>
#include <string.h>

#include "da_cursor.h"
#include "da_perfdata.h"

#define ATTR_MIN 64
#define ATTR_MAX 144

static bool host_is_big(void)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

static uint8_t reversed(uint8_t b)
{
	b = (uint8_t)((b & 0xf0) >> 4 | (b & 0x0f) << 4);
	b = (uint8_t)((b & 0xcc) >> 2 | (b & 0x33) << 2);
	return (uint8_t)((b & 0xaa) >> 1 | (b & 0x55) << 1);
}

/* The flags are C bit-fields: the first one is the lowest bit of the first byte where bytes are little
 * endian, and the highest bit of the first byte where they are big endian. */
static uint64_t flags_from(const uint8_t *p, bool big)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < 8; i++)
		v |= (uint64_t)(big ? reversed(p[i]) : p[i]) << (8 * i);
	return v;
}

static void flags_to(uint64_t flags, bool big, uint8_t *p)
{
	for (unsigned i = 0; i < 8; i++) {
		uint8_t b = (uint8_t)(flags >> (8 * i));

		p[i] = big ? reversed(b) : b;
	}
}

int da_attr_parse(const uint8_t *p, size_t size, bool swap, struct da_attr *out)
{
	uint8_t full[ATTR_MAX] = {0};
	struct da_cur c = da_cur_from(full, sizeof(full), swap);
	const uint8_t *flags;

	memset(out, 0, sizeof(*out));
	if (size < ATTR_MIN)
		return -DA_EDAMAGED;
	/* Zero-filled to the newest layout, so that one sequence of reads serves every size. */
	memcpy(full, p, size < ATTR_MAX ? size : ATTR_MAX);
	out->type = da_cur_u32(&c);
	da_cur_skip(&c, 4); /* size: the caller's, which knows about 0 and about cut attrs */
	out->size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
	out->config = da_cur_u64(&c);
	out->sample_period = da_cur_u64(&c);
	out->sample_type = da_cur_u64(&c);
	out->read_format = da_cur_u64(&c);
	flags = da_cur_bytes(&c, 8);
	out->flags = flags_from(flags, host_is_big() != swap);
	out->wakeup_events = da_cur_u32(&c);
	out->bp_type = da_cur_u32(&c);
	out->config1 = da_cur_u64(&c);
	out->config2 = da_cur_u64(&c);
	out->branch_sample_type = da_cur_u64(&c);
	out->sample_regs_user = da_cur_u64(&c);
	out->sample_stack_user = da_cur_u32(&c);
	out->clockid = (int32_t)da_cur_u32(&c);
	out->sample_regs_intr = da_cur_u64(&c);
	out->aux_watermark = da_cur_u32(&c);
	out->sample_max_stack = da_cur_u16(&c);
	da_cur_skip(&c, 2);
	out->aux_sample_size = da_cur_u32(&c);
	out->aux_action = da_cur_u32(&c);
	out->sig_data = da_cur_u64(&c);
	out->config3 = da_cur_u64(&c);
	out->config4 = da_cur_u64(&c);
	return 0;
}

static uint8_t *put(uint8_t *p, const void *v, size_t n)
{
	memcpy(p, v, n);
	return p + n;
}

void da_attr_build(const struct da_attr *a, size_t size, uint8_t *out)
{
	uint8_t full[ATTR_MAX] = {0};
	uint8_t *p = full;
	uint32_t size32;

	if (size < ATTR_MIN)
		size = ATTR_MIN;
	if (size > ATTR_MAX)
		size = ATTR_MAX;
	size32 = (uint32_t)size;
	p = put(p, &a->type, 4);
	p = put(p, &size32, 4);
	p = put(p, &a->config, 8);
	p = put(p, &a->sample_period, 8);
	p = put(p, &a->sample_type, 8);
	p = put(p, &a->read_format, 8);
	flags_to(a->flags, host_is_big(), p);
	p += 8;
	p = put(p, &a->wakeup_events, 4);
	p = put(p, &a->bp_type, 4);
	p = put(p, &a->config1, 8);
	p = put(p, &a->config2, 8);
	p = put(p, &a->branch_sample_type, 8);
	p = put(p, &a->sample_regs_user, 8);
	p = put(p, &a->sample_stack_user, 4);
	p = put(p, &a->clockid, 4);
	p = put(p, &a->sample_regs_intr, 8);
	p = put(p, &a->aux_watermark, 4);
	p = put(p, &a->sample_max_stack, 2);
	p += 2;
	p = put(p, &a->aux_sample_size, 4);
	p = put(p, &a->aux_action, 4);
	p = put(p, &a->sig_data, 8);
	p = put(p, &a->config3, 8);
	put(p, &a->config4, 8);
	memcpy(out, full, size);
}

/* ---- names ---- */

static const char *const hardware_names[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software_names[] = {
	[DA_SW_CPU_CLOCK] = "cpu-clock",
	[DA_SW_TASK_CLOCK] = "task-clock",
	[DA_SW_PAGE_FAULTS] = "page-faults",
	[DA_SW_CONTEXT_SWITCHES] = "context-switches",
	[DA_SW_CPU_MIGRATIONS] = "cpu-migrations",
	[DA_SW_PAGE_FAULTS_MIN] = "minor-faults",
	[DA_SW_PAGE_FAULTS_MAJ] = "major-faults",
	[DA_SW_ALIGNMENT_FAULTS] = "alignment-faults",
	[DA_SW_EMULATION_FAULTS] = "emulation-faults",
	[DA_SW_DUMMY] = "dummy",
	[DA_SW_BPF_OUTPUT] = "bpf-output",
	[DA_SW_CGROUP_SWITCHES] = "cgroup-switches",
};

static const char *const cache_names[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
					  "iTLB",      "branch",    "node"};
static const char *const cache_ops[3][2] = {
	{"loads", "load-misses"}, {"stores", "store-misses"}, {"prefetches", "prefetch-misses"}};

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static void cache_name(uint64_t config, char *buf, size_t size)
{
	uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache < NR(cache_names) && op < NR(cache_ops) && result < 2)
		snprintf(buf, size, "%s-%s", cache_names[cache], cache_ops[op][result]);
	else
		snprintf(buf, size, "hw-cache 0x%llx", (unsigned long long)config);
}

static void breakpoint_name(const struct da_attr *a, char *buf, size_t size)
{
	/* bp_type bits: 1 read, 2 write, 4 execute */
	snprintf(buf, size, "mem:0x%llx:%s%s%s", (unsigned long long)a->config1,
		 a->bp_type & 1 ? "r" : "", a->bp_type & 2 ? "w" : "", a->bp_type & 4 ? "x" : "");
}

/* "u" for user only, "k" for kernel only, and one "p" a precise level. */
static void modifiers(const struct da_attr *a, char *buf, size_t size)
{
	unsigned precise = (unsigned)((a->flags & DA_ATTR_PRECISE_MASK) >> DA_ATTR_PRECISE_SHIFT);
	bool no_user = a->flags & DA_ATTR_EXCLUDE_USER,
	     no_kernel = a->flags & DA_ATTR_EXCLUDE_KERNEL;
	bool space = no_user || no_kernel;

	buf[0] = '\0';
	if (!space && !precise)
		return;
	snprintf(buf, size, ":%s%s%.*s", space && !no_user ? "u" : "",
		 space && !no_kernel ? "k" : "", (int)precise, "ppp");
	if (!buf[1])
		buf[0] = '\0'; /* both excluded: hypervisor only, no letter of ours */
}

void da_attr_name(const struct da_attr *a, char *buf, size_t size)
{
	unsigned long long config = a->config;
	char name[64], mod[8];

	if (a->type == DA_TYPE_HARDWARE && (config & 0xffffffff) < NR(hardware_names))
		/* bits 63:32 name a PMU of a hybrid CPU */
		snprintf(name, sizeof(name), "%s", hardware_names[config & 0xffffffff]);
	else if (a->type == DA_TYPE_SOFTWARE && config < NR(software_names))
		snprintf(name, sizeof(name), "%s", software_names[config]);
	else if (a->type == DA_TYPE_TRACEPOINT)
		snprintf(name, sizeof(name), "tracepoint %llu", config);
	else if (a->type == DA_TYPE_HW_CACHE)
		cache_name(config, name, sizeof(name));
	else if (a->type == DA_TYPE_RAW)
		snprintf(name, sizeof(name), "raw 0x%llx", config);
	else if (a->type == DA_TYPE_BREAKPOINT)
		breakpoint_name(a, name, sizeof(name));
	else
		snprintf(name, sizeof(name), "pmu %u config 0x%llx", a->type, config);
	modifiers(a, mod, sizeof(mod));
	snprintf(buf, size, "%s%s", name, mod);
}
