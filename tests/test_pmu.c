/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event specifications: grammar, names, terms against a made-up sysfs, auto's choice, producers and
 * units. Nothing here depends on the machine, except the last case, which accepts either answer.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "da_pmu.h"
#include "folder.h"
#include "pmu_priv.h"

#define UK (DA_ATTR_EXCLUDE_KERNEL)
#define HV (DA_ATTR_EXCLUDE_HV)
#define EU (DA_ATTR_EXCLUDE_USER)

/* ---- a machine ---- */

static char root[256];
static char devices[300], tracing[300], nowhere[300];
static uint32_t refused[8]; /* PMU types that do not open */
static int refusal[8];
static unsigned max_precise;
static uint64_t opens_with; /* flags with which a refused type opens all the same */
static bool ibs_refuses_exclusion;
static uint64_t led; /* config of the leader of the last probe */

static int probe(const struct da_attr *a, const struct da_attr *leader)
{
	unsigned precise = (unsigned)((a->flags & DA_ATTR_PRECISE_MASK) >> DA_ATTR_PRECISE_SHIFT);

	led = leader ? leader->config : 0;
	if (ibs_refuses_exclusion && a->type == 12 && (a->flags & (UK | EU | HV)))
		return EINVAL;
	for (unsigned i = 0; i < 8; i++)
		if (refusal[i] && refused[i] == a->type && !(a->flags & opens_with))
			return refusal[i];
	return precise > max_precise ? EOPNOTSUPP : 0;
}

static struct pmu_env env = {.probe = probe};

static void put(const char *path, const char *text)
{
	char full[600], *slash;
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		ck_assert(!mkdir(full, 0755) || errno == EEXIST);
		*slash = '/';
	}
	if (!text)
		return;
	f = fopen(full, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

/* The common ground: what every Linux has. */
static void setup(void)
{
	test_folder(root, sizeof(root));
	snprintf(devices, sizeof(devices), "%s/devices", root);
	snprintf(tracing, sizeof(tracing), "%s/tracing", root);
	snprintf(nowhere, sizeof(nowhere), "%s/nowhere", root);
	env.devices = devices;
	env.tracing[0] = nowhere;
	env.tracing[1] = tracing;
	memset(refusal, 0, sizeof(refusal));
	max_precise = 0;
	opens_with = 0;
	ibs_refuses_exclusion = false;
	env.machine = NULL;
	put("devices/software/type", "1\n");
	put("devices/tracepoint/type", "2\n");
	put("devices/msr/type", "10\n");
	put("devices/msr/format/event", "config:0-63\n");
	put("devices/msr/events/tsc", "event=0x00\n");
	put("devices/msr/events/smi", "event=0x04\n");
	put("tracing/events/sched/sched_switch/id", "316\n");
	put("tracing/events/sched/sched_wakeup/id", "318\n");
	put("tracing/events/kmem/broken/id", "what\n");
}

static void intel(void)
{
	put("devices/cpu/type", "4\n");
	put("devices/cpu/format/event", "config:0-7\n");
	put("devices/cpu/format/umask", "config:8-15,40-47\n");
	put("devices/cpu/format/edge", "config:18\n");
	put("devices/cpu/format/ldlat", "config1:0-15\n");
	put("devices/cpu/format/far", "config3:0-3\n");
	put("devices/cpu/format/odd", "gonfig:1\n");
	put("devices/cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	put("devices/cpu/events/mem-stores", "event=0xd0,umask=0x82\n");
	put("devices/cpu/events/open-ended", "event=0xcd,ldlat=?\n");
	max_precise = 3;
}

static void arm(void)
{
	put("devices/arm_spe_0/type", "11\n");
	put("devices/arm_spe_0/format/ts_enable", "config:0\n");
	put("devices/arm_spe_0/format/pa_enable", "config:1\n");
	put("devices/arm_spe_0/format/jitter", "config:16\n");
	put("devices/arm_spe_0/format/load_filter", "config:33\n");
	put("devices/arm_spe_0/format/store_filter", "config:34\n");
	put("devices/arm_spe_0/format/event_filter", "config1:0-63\n");
	put("devices/arm_spe_0/format/min_latency", "config2:0-11\n");
}

static void amd(void)
{
	put("devices/ibs_op/type", "12\n");
	put("devices/ibs_op/format/cnt_ctl", "config:19\n");
	put("devices/ibs_fetch/type", "13\n");
	put("devices/ibs_fetch/format/rand_en", "config:57\n");
}

static void teardown(void)
{
	char command[400];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	ck_assert_int_eq(system(command), 0);
}

/* ---- helpers ---- */

static struct da_spec *parse(const char *text, size_t want)
{
	struct da_error err = {0};
	struct da_spec *specs;
	size_t nr;
	int rc = pmu_spec_parse(&env, text, &specs, &nr, NULL, 0, &err);

	ck_assert_msg(rc == 0, "'%s': %s", text, err.msg);
	ck_assert_msg(nr == want, "'%s': %zu events", text, nr);
	return specs;
}

static struct da_spec one(const char *text)
{
	struct da_spec *specs = parse(text, 1), s = specs[0];

	free(specs);
	return s;
}

static void refuse(const char *text, int code, const char *msg)
{
	struct da_error err = {0};
	struct da_spec *specs = (struct da_spec *)&err;
	char want[600], *at;
	size_t nr = 99;
	int rc = pmu_spec_parse(&env, text, &specs, &nr, NULL, 0, &err);

	ck_assert_msg(rc == -code, "'%s': %d (%s)", text, rc, err.msg);
	ck_assert_int_eq(err.code, code);
	ck_assert_ptr_null(specs);
	ck_assert_uint_eq(nr, 0);
	/* @ stands for the made-up root */
	snprintf(want, sizeof(want), "%s", msg);
	at = strchr(want, '@');
	if (at)
		snprintf(want, sizeof(want), "%.*s%s%s", (int)(at - want), msg, root,
			 strchr(msg, '@') + 1);
	ck_assert_str_eq(err.msg, want);
	ck_assert_ptr_null(strchr(err.msg, '\n'));
}

/* ---- names ---- */

START_TEST(known_names)
{
	static const struct {
		const char *text, *name;
		uint32_t type;
		uint64_t config, flags;
		enum da_producer producer;
		const char *unit;
	} rows[] = {
		{"cpu-clock", "cpu-clock:u", 1, 0, UK | HV, DA_PROD_REGS, "ns"},
		{"task-clock", "task-clock:u", 1, 1, UK | HV, DA_PROD_REGS, "ns"},
		{"cycles", "cycles:u", 0, 0, UK | HV, DA_PROD_REGS, "cycles"},
		{"cpu-cycles", "cpu-cycles:u", 0, 0, UK | HV, DA_PROD_REGS, "cycles"},
		{"page-faults", "page-faults", 1, 2, HV, DA_PROD_FAULT, "faults"},
		{"faults", "faults", 1, 2, HV, DA_PROD_FAULT, "faults"},
		{"minor-faults", "minor-faults", 1, 5, HV, DA_PROD_FAULT, "faults"},
		{"major-faults", "major-faults", 1, 6, HV, DA_PROD_FAULT, "faults"},
		{"alignment-faults", "alignment-faults", 1, 7, HV, DA_PROD_FAULT, "faults"},
		{"emulation-faults", "emulation-faults", 1, 8, HV, DA_PROD_NONE, "faults"},
		{"context-switches", "context-switches", 1, 3, HV, DA_PROD_NONE, "events"},
		{"cs", "cs", 1, 3, HV, DA_PROD_NONE, "events"},
		{"migrations", "migrations", 1, 4, HV, DA_PROD_NONE, "events"},
		{"dummy", "dummy", 1, 9, HV, DA_PROD_NONE, "events"},
		{"bpf-output", "bpf-output", 1, 10, HV, DA_PROD_NONE, "events"},
		{"cgroup-switches", "cgroup-switches", 1, 11, HV, DA_PROD_NONE, "events"},
		{"instructions", "instructions", 0, 1, HV, DA_PROD_NONE, "events"},
		{"cache-misses", "cache-misses", 0, 3, HV, DA_PROD_NONE, "events"},
		{"branches", "branches", 0, 4, HV, DA_PROD_NONE, "events"},
		{"ref-cycles", "ref-cycles", 0, 9, HV, DA_PROD_NONE, "cycles"},
		{"bus-cycles", "bus-cycles", 0, 6, HV, DA_PROD_NONE, "cycles"},
		{"L1-dcache-loads", "L1-dcache-loads", 3, 0, HV, DA_PROD_NONE, "events"},
		{"L1-dcache-load-misses", "L1-dcache-load-misses", 3, 0x10000, HV, DA_PROD_NONE,
		 "events"},
		{"LLC-store-misses", "LLC-store-misses", 3, 0x10102, HV, DA_PROD_NONE, "events"},
		{"LLC-stores", "LLC-stores", 3, 0x102, HV, DA_PROD_NONE, "events"},
		{"dTLB-prefetch-misses", "dTLB-prefetch-misses", 3, 0x10203, HV, DA_PROD_NONE,
		 "events"},
		{"iTLB-misses", "iTLB-misses", 3, 0x10004, HV, DA_PROD_NONE, "events"},
		{"node-loads", "node-loads", 3, 6, HV, DA_PROD_NONE, "events"},
		{"branch-load-misses", "branch-load-misses", 3, 0x10005, HV, DA_PROD_NONE,
		 "events"},
		{"branch-misses", "branch-misses", 0, 5, HV, DA_PROD_NONE, "events"},
		{"r1a8", "r1a8", 4, 0x1a8, 0, DA_PROD_NONE, "events"},
		{"rFFFFFFFFFFFFFFFF", "rFFFFFFFFFFFFFFFF", 4, UINT64_MAX, 0, DA_PROD_NONE,
		 "events"},
		{"sched:sched_switch", "sched:sched_switch", 2, 316, 0, DA_PROD_TRACEPOINT,
		 "events"},
		{"sched:sched_switch:u", "sched:sched_switch:u", 2, 316, UK | HV,
		 DA_PROD_TRACEPOINT, "events"},
		{"msr/tsc/", "msr/tsc/", 10, 0, 0, DA_PROD_NONE, "events"},
		{"msr/smi/", "msr/smi/", 10, 4, 0, DA_PROD_NONE, "events"},
		{"msr/event=7/", "msr/event=7/", 10, 7, 0, DA_PROD_NONE, "events"},
		{"msr/config=0x9/", "msr/config=0x9/", 10, 9, 0, DA_PROD_NONE, "events"},
		{"msr//", "msr//", 10, 0, 0, DA_PROD_NONE, "events"},
		{"msr", "msr", 10, 0, 0, DA_PROD_NONE, "events"},
		{"smi", "smi", 10, 4, 0, DA_PROD_NONE, "events"},
		{"fake", "fake", 1, 9, 0, DA_PROD_FAKE, "events"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct da_spec s = one(rows[i].text);

		ck_assert_str_eq(s.text, rows[i].text);
		ck_assert_str_eq(s.name, rows[i].name);
		ck_assert_msg(s.attr.type == rows[i].type && s.attr.config == rows[i].config &&
				      s.attr.flags == rows[i].flags,
			      "%s: type %u config %#lx flags %#lx", s.text, s.attr.type,
			      (unsigned long)s.attr.config, (unsigned long)s.attr.flags);
		ck_assert_msg(s.producer == rows[i].producer, "%s: %s", s.text,
			      da_producer_name(s.producer));
		ck_assert_str_eq(da_event_unit(&s.attr), rows[i].unit);
		ck_assert_uint_eq(s.attr.size, 128);
		ck_assert_uint_eq(s.attr.sample_type, 0);
		ck_assert(!s.has_period && !s.buffer[0]);
	}
}
END_TEST

START_TEST(modifiers)
{
	static const struct {
		const char *text, *name;
		uint64_t flags;
		enum da_producer producer;
		bool given;
	} rows[] = {
		{"cpu-clock:u", "cpu-clock:u", UK | HV, DA_PROD_REGS, true},
		{"cpu-clock:k", "cpu-clock:k", EU | HV, DA_PROD_REGS, true},
		{"cpu-clock:uk", "cpu-clock:uk", HV, DA_PROD_REGS, true},
		{"cpu-clock:ukh", "cpu-clock:ukh", 0, DA_PROD_REGS, true},
		{"cpu-clock:h", "cpu-clock:h", EU | UK, DA_PROD_REGS, true},
		{"page-faults:u", "page-faults:u", UK | HV, DA_PROD_FAULT, true},
		{"cycles:p", "cycles:p", HV | 1 << 15, DA_PROD_ADDR, false},
		{"cycles:ppp", "cycles:ppp", HV | 3 << 15, DA_PROD_ADDR, false},
		{"cycles:upp", "cycles:upp", UK | HV | 2 << 15, DA_PROD_ADDR, true},
		{"cpu-clock//u", "cpu-clock:u", UK | HV, DA_PROD_REGS, true},
		{"cpu-clock//:k", "cpu-clock:k", EU | HV, DA_PROD_REGS, true},
		{"msr/tsc/u", "msr/tsc/u", UK | HV, DA_PROD_NONE, true},
		{"msr/tsc/:u", "msr/tsc/u", UK | HV, DA_PROD_NONE, true},
		{"r1a8:k", "r1a8:k", EU | HV, DA_PROD_NONE, true},
		{"r1a8:p", "r1a8:p", 1 << 15, DA_PROD_ADDR, false},
		{"cycles:P", "cycles:P", HV | 2 << 15, DA_PROD_ADDR, false},
		{"cpu-clock:pp", "cpu-clock:upp", UK | HV, DA_PROD_REGS, false},
		{"page-faults:P", "page-faults:P", HV, DA_PROD_FAULT, false},
	};

	max_precise = 2;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct da_spec s = one(rows[i].text);

		ck_assert_str_eq(s.name, rows[i].name);
		ck_assert_msg(s.attr.flags == rows[i].flags, "%s: flags %#lx", s.text,
			      (unsigned long)s.attr.flags);
		ck_assert_int_eq(s.producer, rows[i].producer);
		ck_assert_int_eq(s.has_modifier, rows[i].given);
	}
	/* no level opens: the event is opened as it is and says itself why it does not */
	refused[0] = 0;
	refusal[0] = ENOENT;
	ck_assert_uint_eq(one("cycles:P").attr.flags & DA_ATTR_PRECISE_MASK, 0);
}
END_TEST

START_TEST(common_terms)
{
	struct da_spec s = one("cpu-clock/period=250000,name=hot,buffer=B/u");

	ck_assert_str_eq(s.name, "hot");
	ck_assert_str_eq(s.text, "cpu-clock/period=250000,name=hot,buffer=B/u");
	ck_assert_str_eq(s.buffer, "B");
	ck_assert(s.has_period && s.has_modifier);
	ck_assert_uint_eq(s.attr.sample_period, 250000);
	ck_assert(!(s.attr.flags & DA_ATTR_FREQ));
	s = one("page-faults/freq=100/");
	ck_assert_str_eq(s.name, "page-faults");
	ck_assert_uint_eq(s.attr.sample_period, 100);
	ck_assert(s.attr.flags & DA_ATTR_FREQ);
	s = one("msr/tsc,period=0x10/");
	ck_assert_uint_eq(s.attr.sample_period, 16);
	s = one("r1a8/period=7,name=x/");
	ck_assert_uint_eq(s.attr.config, 0x1a8);
	ck_assert_str_eq(s.name, "x");
}
END_TEST

START_TEST(lists)
{
	struct da_spec *s =
		parse("page-faults,cpu-clock/period=1,name=a/u,sched:sched_switch,msr/tsc/", 4);

	ck_assert_str_eq(s[0].name, "page-faults");
	ck_assert_str_eq(s[1].name, "a");
	ck_assert_str_eq(s[1].text, "cpu-clock/period=1,name=a/u");
	ck_assert_str_eq(s[2].name, "sched:sched_switch");
	ck_assert_uint_eq(s[3].attr.type, 10);
	free(s);
	s = parse("cpu-clock,cpu-clock", 2);
	free(s);
}
END_TEST

/* ---- terms of a PMU ---- */

START_TEST(pmu_terms)
{
	struct da_spec s;

	intel();
	s = one("cpu/event=0xcd,umask=0x1/");
	ck_assert_uint_eq(s.attr.config, 0x1cd);
	ck_assert_uint_eq(s.attr.type, 4);
	ck_assert_int_eq(s.producer, DA_PROD_NONE);
	s = one("cpu/event=0x3c,umask=0x1ff,edge/"); /* the upper half of umask lies elsewhere */
	ck_assert_uint_eq(s.attr.config, 0x3c | 0xff00 | 1ull << 40 | 1 << 18);
	s = one("cpu/event=0x3c,edge=0/");
	ck_assert_uint_eq(s.attr.config, 0x3c);
	s = one("cpu/mem-loads/P");
	ck_assert_uint_eq(s.attr.config, 0x1cd);
	ck_assert_uint_eq(s.attr.config1, 3);
	ck_assert_uint_eq(s.attr.flags, 3 << 15);
	ck_assert_int_eq(s.producer, DA_PROD_ADDR);
	ck_assert_str_eq(s.name, "cpu/mem-loads/P");
	/* what is given holds, wherever it stands */
	ck_assert_uint_eq(one("cpu/mem-loads,ldlat=30/").attr.config1, 30);
	ck_assert_uint_eq(one("cpu/ldlat=30,mem-loads/").attr.config1, 30);
	ck_assert_uint_eq(one("cpu/open-ended,ldlat=9/").attr.config1, 9);
	s = one("cpu/config=0x1b7,config1=0x10001,config2=5,event=1/");
	ck_assert_uint_eq(s.attr.config, 0x101);
	ck_assert_uint_eq(s.attr.config1, 0x10001);
	ck_assert_uint_eq(s.attr.config2, 5);
	/* an event's name alone finds its PMU */
	ck_assert_uint_eq(one("mem-stores:p").attr.config, 0x82d0);
	ck_assert_uint_eq(one("cpu/far=0/").attr.config3, 0);
}
END_TEST

START_TEST(formats)
{
	static const struct {
		const char *text;
		bool ok;
		unsigned field;
		uint64_t bits;
	} rows[] = {
		{"config:0-63", true, 0, UINT64_MAX},
		{"config:63", true, 0, 1ull << 63},
		{"config1:0-7,32-35", true, 1, 0xf000000ff},
		{"config:5,1-2", true, 0, 0x26},
		{"config2:0", true, 2, 1},
		{"config4:8", true, 4, 0x100},
		{"config5:0", false, 0, 0},
		{"config0:0", false, 0, 0},
		{"config12:0", false, 0, 0},
		{"config", false, 0, 0},
		{"config:", false, 0, 0},
		{"config:64", false, 0, 0},
		{"config:0-64", false, 0, 0},
		{"config:7-0", false, 0, 0},
		{"config:a", false, 0, 0},
		{"config:1-", true, 0, 2},
		{"config:1,,2", false, 0, 0},
		{"", false, 0, 0},
		{":1", false, 0, 0},
	};
	struct da_attr a = {.config1 = UINT64_MAX};
	struct pmu_format f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		ck_assert_msg(pmu_format_parse(rows[i].text, &f) == rows[i].ok, "'%s'",
			      rows[i].text);
		if (!rows[i].ok)
			continue;
		ck_assert_uint_eq(f.field, rows[i].field);
		ck_assert_uint_eq(f.bits, rows[i].bits);
	}
	f = (struct pmu_format){.field = 1, .bits = 0xf000000ff};
	ck_assert(pmu_format_put(&f, 0xa5c, &a));
	ck_assert_uint_eq(a.config1, (UINT64_MAX & ~0xf000000ffull) | 0xa0000005c);
	ck_assert(!pmu_format_put(&f, 0x1000, &a));
	f = (struct pmu_format){.field = 0, .bits = UINT64_MAX};
	ck_assert(pmu_format_put(&f, UINT64_MAX, &a));
	ck_assert_uint_eq(a.config, UINT64_MAX);
}
END_TEST

/* ---- what is refused ---- */

START_TEST(usage_errors)
{
	intel();
	refuse("", DA_EUSAGE, "an event is missing in ''");
	refuse("cpu-clock,", DA_EUSAGE, "an event is missing in 'cpu-clock,'");
	refuse(",cpu-clock", DA_EUSAGE, "an event is missing in ',cpu-clock'");
	refuse("cpu-clok", DA_EUSAGE, "unknown event 'cpu-clok' (did you mean 'cpu-clock'?)");
	refuse("page-fualts", DA_EUSAGE,
	       "unknown event 'page-fualts' (did you mean 'page-faults'?)");
	refuse("LLC-laods", DA_EUSAGE, "unknown event 'LLC-laods' (did you mean 'LLC-loads'?)");
	refuse("L1-dcache", DA_EUSAGE,
	       "unknown event 'L1-dcache' (perf list shows what this machine has)");
	refuse("L1-dcache-load-", DA_EUSAGE,
	       "unknown event 'L1-dcache-load-' (did you mean 'L1-dcache-loads'?)");
	refuse("mem-load", DA_EUSAGE, "unknown event 'mem-load' (did you mean 'mem-loads'?)");
	refuse("spee", DA_EUSAGE, "unknown event 'spee' (did you mean 'spe'?)");
	refuse("zebra-crossing", DA_EUSAGE,
	       "unknown event 'zebra-crossing' (perf list shows what this machine has)");
	refuse("rxyz", DA_EUSAGE, "unknown event 'rxyz' (perf list shows what this machine has)");
	refuse("r10000000000000000", DA_EUSAGE,
	       "unknown event 'r10000000000000000' (perf list shows what this machine has)");
	refuse("msrr/tsc/", DA_EUSAGE, "unknown PMU or event 'msrr' (did you mean 'msr'?)");
	refuse("..//", DA_EUSAGE,
	       "unknown PMU or event '..' (perf list shows what this machine has)");
	refuse("{cycles,instructions}", DA_EUSAGE,
	       "event groups ('{cycles,instructions}') are not supported: name the events with commas between");
	refuse("cpu-clock:x", DA_EUSAGE, "unknown tracepoint 'cpu-clock:x' (see @/tracing/events)");
	refuse("cpu-clock:G", DA_EUSAGE,
	       "unknown modifier 'G' of 'cpu-clock:G' (known: u k h p P)");
	refuse("cpu-clock//z", DA_EUSAGE,
	       "unknown modifier 'z' of 'cpu-clock//z' (known: u k h p P)");
	refuse("msr/tsc/u/x/", DA_EUSAGE,
	       "unknown modifier 'u/x/' of 'msr/tsc/u/x/' (known: u k h p P)");
	refuse("cycles:pppp", DA_EUSAGE, "modifier 'p' of 'cycles:pppp': at most three");
	refuse("cpu-clock:", DA_EUSAGE, "nothing after ':' in 'cpu-clock:'");
	refuse(":u", DA_EUSAGE, "no event name in ':u'");
	refuse("/period=1/", DA_EUSAGE, "no event name in '/period=1/'");
	refuse("cpu-clock/period=1", DA_EUSAGE,
	       "no second '/' in 'cpu-clock/period=1' (wanted: NAME/terms/)");
	refuse("cpu-clock/", DA_EUSAGE, "no second '/' in 'cpu-clock/' (wanted: NAME/terms/)");
	refuse("cpu-clock/period/", DA_EUSAGE,
	       "term 'period' in 'cpu-clock/period/' needs a number");
	refuse("cpu-clock/period=1k/", DA_EUSAGE,
	       "term 'period=1k' in 'cpu-clock/period=1k/' needs a number");
	refuse("cpu-clock/period=0/", DA_EUSAGE,
	       "term 'period=0' in 'cpu-clock/period=0/' may not be 0");
	refuse("cpu-clock/period=1,freq=2/", DA_EUSAGE,
	       "term 'freq=2' in 'cpu-clock/period=1,freq=2/' comes after another period or frequency");
	refuse("cpu-clock/period=18446744073709551616/", DA_EUSAGE,
	       "term 'period=18446744073709551616' in 'cpu-clock/period=18446744073709551616/' needs a number");
	refuse("cpu-clock/name=/", DA_EUSAGE, "term 'name=' in 'cpu-clock/name=/' needs a value");
	refuse("cpu-clock/name=a\tb/", DA_EUSAGE,
	       "term 'name=a?b' in 'cpu-clock/name=a?b/' holds a control character");
	refuse("cpu-clock/buffer=aaaaaaaaaabbbbbbbbbbccccccccccdd/", DA_EUSAGE,
	       "term 'buffer=aaaaaaaaaabbbbbbbbbbccccccccccdd' in "
	       "'cpu-clock/buffer=aaaaaaaaaabbbbbbbbbbccccccccccdd/' is too long");
	refuse("cpu-clock/peroid=1/", DA_EUSAGE,
	       "unknown term 'peroid' in 'cpu-clock/peroid=1/', did you mean 'period'? (known: period, freq, "
	       "name, buffer, pinned)");
	refuse("cpu-clock/umask=1/", DA_EUSAGE,
	       "unknown term 'umask' in 'cpu-clock/umask=1/' (known: period, freq, name, buffer, pinned)");
	refuse("cpu-clock/period=1,/", DA_EUSAGE, "term '' in 'cpu-clock/period=1,/' has no name");
	refuse("cpu-clock/,period=1/", DA_EUSAGE, "term '' in 'cpu-clock/,period=1/' has no name");
	refuse("cpu/=1/", DA_EUSAGE, "term '=1' in 'cpu/=1/' has no name");
	refuse("cpu/event=0x100/", DA_EUSAGE,
	       "term 'event=0x100' in 'cpu/event=0x100/' is too big: 8 bits are for it");
	refuse("cpu/edge=2/", DA_EUSAGE,
	       "term 'edge=2' in 'cpu/edge=2/' is too big: 1 bits are for it");
	refuse("cpu/event=many/", DA_EUSAGE,
	       "term 'event=many' in 'cpu/event=many/' needs a number");
	refuse("cpu/event=/", DA_EUSAGE, "term 'event=' in 'cpu/event=/' needs a number");
	refuse("cpu/open-ended/", DA_EUSAGE,
	       "term 'ldlat=?' in 'cpu/open-ended/' has to be given: the PMU leaves it open");
	refuse("cpu/ldlatt=1/", DA_EUSAGE,
	       "unknown term 'ldlatt' in 'cpu/ldlatt=1/', did you mean 'ldlat'? (known: edge, event, far, ldlat, "
	       "odd, umask, config, config1, config2, period, freq, name, buffer, pinned)");
	refuse("cpu/odd=1/", DA_EUNSUPPORTED,
	       "term 'odd' in 'cpu/odd=1/': what sysfs says of its bits is not understood");
	refuse("cpu/..=1/", DA_EUSAGE,
	       "unknown term '..' in 'cpu/..=1/' (known: edge, event, far, ldlat, odd, umask, config, config1, "
	       "config2, period, freq, name, buffer, pinned)");
	refuse("cpu/config3=1/", DA_EUNSUPPORTED,
	       "term 'config3=1' in 'cpu/config3=1/' needs config3, which is not written");
	refuse("cpu/far=1/", DA_EUNSUPPORTED,
	       "term 'far=1' in 'cpu/far=1/' needs config3, which is not written");
	refuse("mem:0x1000:rw", DA_EUNSUPPORTED,
	       "breakpoint events ('mem:0x1000:rw') are not supported; use cpu-clock");
	refuse("trap", DA_EUNSUPPORTED, "'trap' is not part of this version; use cpu-clock");
	refuse("fake/rate=zero/", DA_EUSAGE, "fake: term 'rate=zero' needs a number");
	refuse("fake/period=0/", DA_EUSAGE, "term 'period=0' in 'fake/period=0/' may not be 0");
}
END_TEST

START_TEST(long_texts)
{
	char text[5000], *p = text;
	struct da_error err = {0};
	struct da_spec *specs;
	size_t nr;

	/* names of a machine that are longer than any we compare with */
	snprintf(text, sizeof(text), "devices/%0100d/type", 7);
	put(text, "77\n");
	snprintf(text, sizeof(text), "tracing/events/sched/%0100d/id", 7);
	put(text, "77\n");
	refuse("sched:zzz", DA_EUSAGE,
	       "unknown tracepoint 'sched:zzz' (see @/tracing/events/sched)");
	refuse("zzzzz", DA_EUSAGE, "unknown event 'zzzzz' (perf list shows what this machine has)");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(pmu_spec_parse(&env, text, &specs, &nr, NULL, 0, &err), -DA_EUSAGE);
	text[2000] = '/';
	text[4000] = '/';
	ck_assert_int_eq(pmu_spec_parse(&env, text, &specs, &nr, NULL, 0, NULL), -DA_EUSAGE);
	memcpy(text, "cpu-clock/name=", 15);
	text[2000] = 'x';
	ck_assert_int_eq(pmu_spec_parse(&env, text, &specs, &nr, NULL, 0, NULL), -DA_EUSAGE);
	memcpy(text, "fake/", 5);
	ck_assert_int_eq(pmu_spec_parse(&env, text, &specs, &nr, NULL, 0, NULL), -DA_EUSAGE);
	memcpy(text, "a:", 2);
	text[4000] = 'x';
	ck_assert_int_eq(pmu_spec_parse(&env, text, &specs, &nr, NULL, 0, NULL), -DA_EUSAGE);
	for (unsigned i = 0; i < 300; i++)
		p += sprintf(p, "%scpu-clock", i ? "," : "");
	err = (struct da_error){0};
	ck_assert_int_eq(pmu_spec_parse(&env, text, &specs, &nr, NULL, 0, &err), -DA_EUSAGE);
	ck_assert_str_eq(err.msg, "more than 256 events");
}
END_TEST

START_TEST(tracepoints)
{
	refuse("sched:sched_swich", DA_EUSAGE,
	       "unknown tracepoint 'sched:sched_swich' (did you mean 'sched:sched_switch'?)");
	refuse("shced:sched_switch", DA_EUSAGE,
	       "unknown tracepoint 'shced:sched_switch' (did you mean 'sched:sched_switch'?)");
	refuse("sched:nothing_like_it", DA_EUSAGE,
	       "unknown tracepoint 'sched:nothing_like_it' (see @/tracing/events/sched)");
	refuse("..:sched_switch", DA_EUSAGE,
	       "bad tracepoint '..:sched_switch' (wanted: system:name)");
	refuse("sched:.id", DA_EUSAGE, "bad tracepoint 'sched:.id' (wanted: system:name)");
	refuse("kmem:broken", DA_EIO, "'@/tracing/events/kmem/broken/id' holds no number");
	refuse("damon:damon_aggregated", DA_ENOENT,
	       "this kernel has no tracepoint 'damon:damon_aggregated' (it needs CONFIG_DAMON); use page-faults or "
	       "cpu-clock to sample accesses without it");
	env.tracing[1] = "/nonexistent";
	refuse("sched:sched_switch", DA_ENOENT,
	       "cannot look up tracepoint 'sched:sched_switch': no tracefs at @/nowhere; mount it with: mount -t "
	       "tracefs tracefs /sys/kernel/tracing");
}
END_TEST

START_TEST(what_this_machine_lacks)
{
	static const char *const texts[] = {
		"spe",
		"ibs",
		"pebs",
		"spe/min_latency=30/",
		"arm_spe_0//",
		"arm_spe_0/config=0x0/",
		"ibs_op//",
		"ibs_fetch/rand_en=1/",
		"cpu/event=0x3c/",
		"cpu_core/mem-loads/",
		"mem-loads",
		"armv8_pmuv3//",
		"intel_pt//",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct da_error err = {0};
		struct da_spec *specs;
		size_t nr;
		int rc = pmu_spec_parse(&env, texts[i], &specs, &nr, NULL, 0, &err);

		ck_assert_msg(rc == -DA_ENOENT, "%s: %d %s", texts[i], rc, err.msg);
		ck_assert_msg(strstr(err.msg, "cpu-clock") != NULL, "no alternative in: %s",
			      err.msg);
	}
	refuse("arm_spe_0//", DA_ENOENT,
	       "this machine has no 'arm_spe_0' (Arm machines with the Statistical Profiling Extension have it); "
	       "use cycles or cpu-clock");
	refuse("ibs", DA_ENOENT,
	       "no AMD IBS here (no ibs_op in @/devices: not an AMD machine, or hidden by the hypervisor); use "
	       "cycles or cpu-clock");
}
END_TEST

/* ---- names of ours ---- */

START_TEST(spe_ibs_pebs)
{
	struct da_spec s, *all;

	arm();
	s = one("spe");
	ck_assert_uint_eq(s.attr.type, 11);
	ck_assert_uint_eq(s.attr.config, 1 | 1ull << 33 | 1ull << 34);
	ck_assert_int_eq(s.producer, DA_PROD_SPE);
	ck_assert_str_eq(s.name, "spe");
	s = one("spe/min_latency=30,store_filter=0,period=1000/u");
	ck_assert_uint_eq(s.attr.config, 1 | 1ull << 33);
	ck_assert_uint_eq(s.attr.config2, 30);
	ck_assert_uint_eq(s.attr.sample_period, 1000);
	ck_assert_uint_eq(s.attr.flags, UK | HV);
	ck_assert_str_eq(s.name, "spe/min_latency=30,store_filter=0,period=1000/u");
	ck_assert_int_eq(one("arm_spe_0/jitter=1/").producer, DA_PROD_SPE);
	ck_assert_uint_eq(one("arm_spe_0/jitter=1/").attr.config, 1 << 16);
	put("devices/arm_spe_1/type", "14\n");
	all = parse("spe", 2);
	ck_assert_uint_eq(all[0].attr.type, 11);
	ck_assert_uint_eq(all[1].attr.type, 14);
	ck_assert_uint_eq(all[1].attr.config, 0); /* only what the PMU has */
	free(all);

	amd();
	s = one("ibs/cnt_ctl=1/");
	ck_assert_uint_eq(s.attr.type, 12);
	ck_assert_uint_eq(s.attr.config, 1 << 19);
	ck_assert_int_eq(s.producer, DA_PROD_IBS_OP);
	ck_assert_int_eq(one("ibs_fetch//").producer, DA_PROD_IBS_FETCH);

	intel();
	all = parse("pebs/ldlat=30,period=500/", 2);
	ck_assert_uint_eq(all[0].attr.config, 0x1cd);
	ck_assert_uint_eq(all[0].attr.config1, 30);
	ck_assert_uint_eq(all[1].attr.config, 0x82d0);
	ck_assert_uint_eq(all[1].attr.config1, 0);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_uint_eq(all[i].attr.flags, 3 << 15);
		ck_assert_uint_eq(all[i].attr.sample_period, 500);
		ck_assert_int_eq(all[i].producer, DA_PROD_ADDR);
	}
	ck_assert_str_eq(all[0].name, "cpu/mem-loads/");
	free(all);
	refuse("pebs/nonsense=1/", DA_EUSAGE,
	       "unknown term 'nonsense' in 'pebs/nonsense=1/' (known: edge, event, far, ldlat, odd, umask, config, "
	       "config1, config2, period, freq, name, buffer, pinned)");
}
END_TEST

/* A hybrid CPU: both kinds of core, each with loads and stores. */
START_TEST(pebs_of_both_kinds)
{
	static const char *const names[] = {"cpu_atom/mem-loads/", "cpu_atom/mem-stores/",
					    "cpu_core/mem-loads/", "cpu_core/mem-stores/"};
	static const uint32_t types[] = {10, 10, 4, 4};
	static const uint64_t configs[] = {0x5d0, 0x6d0, 0x1cd, 0x2cd};
	struct da_spec *all;

	for (int i = 0; i < 2; i++) {
		char path[64];
		const char *pmu = i ? "cpu_core" : "cpu_atom";

		snprintf(path, sizeof(path), "devices/%s/type", pmu);
		put(path, i ? "4\n" : "10\n");
		snprintf(path, sizeof(path), "devices/%s/format/event", pmu);
		put(path, "config:0-7\n");
		snprintf(path, sizeof(path), "devices/%s/format/umask", pmu);
		put(path, "config:8-15\n");
		snprintf(path, sizeof(path), "devices/%s/format/ldlat", pmu);
		put(path, "config1:0-15\n");
		snprintf(path, sizeof(path), "devices/%s/events/mem-loads", pmu);
		put(path, i ? "event=0xcd,umask=0x1,ldlat=3\n" : "event=0xd0,umask=0x5,ldlat=3\n");
		snprintf(path, sizeof(path), "devices/%s/events/mem-stores", pmu);
		put(path, i ? "event=0xcd,umask=0x2\n" : "event=0xd0,umask=0x6\n");
	}
	max_precise = 3;
	all = parse("pebs", 4);
	for (int i = 0; i < 4; i++) {
		int k = 0;

		while (k < 4 && strcmp(all[i].name, names[k]))
			k++;
		ck_assert_msg(k < 4, "%s", all[i].name);
		ck_assert_uint_eq(all[i].attr.type, types[k]);
		ck_assert_uint_eq(all[i].attr.config, configs[k]);
		ck_assert_int_eq(all[i].producer, DA_PROD_ADDR);
	}
	free(all);
}
END_TEST

static void choose(const char *text, size_t nr_want, const char *first, const char *why_want)
{
	struct da_error err = {0};
	struct da_spec *specs;
	char why[2000] = "old";
	size_t nr;

	ck_assert_int_eq(pmu_spec_parse(&env, text, &specs, &nr, why, sizeof(why), &err), 0);
	ck_assert_uint_eq(nr, nr_want);
	ck_assert_str_eq(specs[0].name, first);
	ck_assert_msg(strstr(why, why_want) == why, "%s", why);
	free(specs);
	/* reasons that do not fit are cut, and none are asked for with NULL */
	for (size_t size = 0; size < 300; size += 7) {
		memset(why, 'x', sizeof(why));
		ck_assert_int_eq(pmu_spec_parse(&env, text, &specs, &nr, why, size, &err), 0);
		free(specs);
		ck_assert(!size || strlen(why) < size);
		ck_assert_int_eq(why[size], 'x');
	}
}

START_TEST(auto_choice)
{
	refused[0] = 0;
	refusal[0] = ENOENT;
	choose("auto", 1, "cpu-clock:u",
	       "auto: cpu-clock (addresses from instruction and registers, on every machine)\n"
	       "not spe, ibs, pebs: no arm_spe_*, ibs_op, cpu*/events/mem-loads in ");
	choose("auto:k", 1, "cpu-clock:k", "auto: cpu-clock");
	choose("auto/period=1000000/", 1, "cpu-clock:u", "auto: cpu-clock");
	refusal[0] = 0;
	choose("auto", 1, "cycles:u", "auto: cycles");
	intel();
	choose("auto", 2, "cpu/mem-loads/",
	       "auto: pebs (Intel PEBS gives exact addresses)\nnot spe, ibs: no arm_spe_*, ibs_op in ");
	refused[1] = 4;
	refusal[1] = EACCES;
	choose("auto", 1, "cycles:u", "auto: cycles");
	refusal[1] = 0;
	amd();
	choose("auto", 1, "auto", "auto: ibs");
	arm();
	choose("auto", 1, "auto", "auto: spe (Arm SPE gives exact addresses)");
	/* there, but it does not open */
	refused[2] = 11;
	refusal[2] = EACCES;
	choose("auto", 1, "auto",
	       "auto: ibs (AMD IBS gives exact addresses)\nnot spe: not allowed: see "
	       "kernel.perf_event_paranoid, CAP_PERFMON");
	/* nothing opens: the clock is taken, and says itself why not */
	for (uint32_t i = 0; i < 5; i++) {
		refused[3 + i] = (uint32_t[]){0, 1, 4, 12, 11}[i];
		refusal[3 + i] = ENOSYS;
	}
	choose("auto", 1, "cpu-clock:u", "auto: cpu-clock");
	refuse("auto/ldlat=3/", DA_EUSAGE,
	       "unknown term 'ldlat' in 'auto/ldlat=3/' (known: period, freq, name, buffer, pinned)");
}
END_TEST

START_TEST(why_lines)
{
	struct da_spec *specs;
	char why[2000];
	size_t nr, lines = 0;

	refused[0] = 0;
	refusal[0] = ENOENT;
	ck_assert_int_eq(pmu_spec_parse(&env, "auto", &specs, &nr, why, sizeof(why), NULL), 0);
	free(specs);
	for (char *p = why; p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
		lines++;
	ck_assert_uint_eq(lines, 3);
	ck_assert_ptr_nonnull(
		strstr(why, "\nnot cycles: no such hardware counter: a virtual machine"));
	/* nothing is said where nothing was chosen */
	ck_assert_int_eq(pmu_spec_parse(&env, "cpu-clock", &specs, &nr, why, sizeof(why), NULL), 0);
	ck_assert_str_eq(why, "");
	free(specs);
}
END_TEST

static void a_machine(struct pmu_machine *m)
{
	m->hypervisor = true;
	m->paranoid = 3;
	snprintf(m->arch, sizeof(m->arch), "x86_64");
}

static void an_arm(struct pmu_machine *m)
{
	m->kpti = true;
	snprintf(m->arch, sizeof(m->arch), "arm64");
}

static void whole_why(const char *want)
{
	struct da_spec *specs;
	char why[2000], full[2000], *at;
	size_t nr;

	snprintf(full, sizeof(full), "%s", want);
	at = strchr(full, '@');
	if (at)
		snprintf(at, sizeof(full) - (size_t)(at - full), "%s%s", devices,
			 strchr(want, '@') + 1);
	ck_assert_int_eq(pmu_spec_parse(&env, "auto", &specs, &nr, why, sizeof(why), NULL), 0);
	ck_assert_str_eq(why, full);
	free(specs);
}

/* What the reasons are in words: of a virtual machine, of rights, of page table isolation, of levels. */
START_TEST(reasons)
{
	env.machine = a_machine;
	refused[0] = 0;
	refusal[0] = ENOENT;
	whole_why(
		"auto: cpu-clock (addresses from instruction and registers, on every machine)\n"
		"not spe, ibs, pebs: no arm_spe_*, ibs_op, cpu*/events/mem-loads in @ of this x86_64 "
		"virtual machine\n"
		"not cycles: no such hardware counter: this virtual machine's hypervisor gives it no PMU");
	intel();
	amd();
	refused[1] = 4;
	refused[2] = 12;
	refusal[0] = refusal[1] = refusal[2] = EACCES;
	whole_why("auto: cpu-clock (addresses from instruction and registers, on every machine)\n"
		  "not spe: no arm_spe_* in @ of this x86_64 virtual machine\n"
		  "not ibs, pebs, cycles: not allowed: kernel.perf_event_paranoid is 3, and no "
		  "CAP_PERFMON");
	env.machine = an_arm;
	refusal[0] = 0;
	refusal[1] = EOPNOTSUPP;
	refusal[2] = EBUSY;
	whole_why(
		"auto: cycles (addresses from instruction and registers)\n"
		"not spe: no arm_spe_* in @ of this arm64 machine (page table isolation hides SPE: "
		"boot with kpti=off)\n"
		"not ibs: another event holds it\n"
		"not pebs: it cannot sample");
}
END_TEST

/* Who may not see the kernel gets user space, as the session opens it then; IBS may not be able to. */
START_TEST(ordinary_user)
{
	struct da_spec s;

	intel();
	refused[0] = 4;
	refusal[0] = EACCES;
	opens_with = UK;
	choose("auto", 2, "cpu/mem-loads/", "auto: pebs");
	amd();
	refused[1] = 12;
	refusal[1] = EACCES;
	choose("auto", 1, "auto", "auto: ibs");
	opens_with = 0;
	refusal[0] = ENOENT;
	ibs_refuses_exclusion = true;
	choose("auto", 1, "cycles:u",
	       "auto: cycles (addresses from instruction and registers)\nnot spe: no arm_spe_*");
	{
		struct da_spec *specs;
		char why[2000];
		size_t nr;

		ck_assert(!pmu_spec_parse(&env, "auto", &specs, &nr, why, sizeof(why), NULL));
		free(specs);
		ck_assert_ptr_nonnull(strstr(why, "not ibs: " DA_IBS_NO_EXCLUDE));
	}
	/* a newer kernel filters by a bit of config */
	ibs_refuses_exclusion = false;
	put("devices/ibs_op/format/swfilt", "config:63\n");
	s = one("ibs");
	ck_assert_uint_eq(s.attr.config, 0);
	ck_assert_uint_eq(s.exclude_config, 1ull << 63);
	s = one("ibs:u");
	ck_assert_uint_eq(s.attr.config, 1ull << 63);
	ck_assert_uint_eq(s.attr.flags, UK | HV);
	ck_assert_uint_eq(one("ibs_op/cnt_ctl=1/u").attr.config, 1ull << 63 | 1 << 19);
	ck_assert_uint_eq(one("ibs:uk").attr.config, 0);
}
END_TEST

/* Kinds of core, each with its PMU, its CPUs and its own way to count loads. */
START_TEST(hybrid)
{
	struct da_spec *all;

	put("devices/cpu_core/type", "4\n");
	put("devices/cpu_core/cpus", "0-3\n");
	put("devices/cpu_core/format/event", "config:0-7\n");
	put("devices/cpu_core/format/umask", "config:8-15\n");
	put("devices/cpu_core/format/ldlat", "config1:0-15\n");
	put("devices/cpu_core/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	put("devices/cpu_core/events/mem-stores", "event=0xcd,umask=0x2\n");
	put("devices/cpu_core/events/mem-loads-aux", "event=0x03,umask=0x82\n");
	put("devices/cpu_atom/type", "10\n");
	put("devices/cpu_atom/cpus", "4-7\n");
	put("devices/cpu_atom/format/event", "config:0-7\n");
	put("devices/cpu_atom/format/umask", "config:8-15\n");
	put("devices/cpu_atom/format/ldlat", "config1:0-15\n");
	put("devices/cpu_atom/events/mem-loads", "event=0xd0,umask=0x5,ldlat=3\n");
	put("devices/cpu_atom/events/mem-stores", "event=0xd0,umask=0x6\n");
	max_precise = 2;
	all = parse("pebs/ldlat=30/u", 4);
	ck_assert_str_eq(all[0].cpus, "4-7");
	ck_assert_uint_eq(all[0].attr.type, 10);
	ck_assert(!all[0].has_leader);
	ck_assert_str_eq(all[2].name, "cpu_core/mem-loads/u");
	ck_assert_str_eq(all[2].cpus, "0-3");
	ck_assert_uint_eq(all[2].attr.config1, 30);
	ck_assert_uint_eq((all[2].attr.flags & DA_ATTR_PRECISE_MASK) >> DA_ATTR_PRECISE_SHIFT, 2);
	ck_assert(all[2].has_leader);
	ck_assert_uint_eq(all[2].leader.config, 0x8203);
	ck_assert_uint_eq(all[2].leader.type, 4);
	ck_assert_uint_eq(all[2].leader.flags, UK | HV);
	ck_assert_uint_eq(all[2].leader.sample_period, 0);
	ck_assert(!all[3].has_leader); /* stores need none */
	free(all);
	/* also when the event was named directly, and when levels are tried */
	led = 0;
	ck_assert(one("cpu_core/mem-loads,ldlat=9/P").has_leader);
	ck_assert_uint_eq(led, 0x8203);
	ck_assert(!one("cpu_core/mem-stores/P").has_leader);
}
END_TEST

START_TEST(options_of_an_event)
{
	struct da_spec s;

	arm();
	put("devices/arm_spe_0/cpumask", "0-1\n");
	put("devices/arm_spe_0/caps/min_interval", "1024\n");
	s = one("spe/pinned,pa_enable=1/");
	ck_assert_uint_eq(s.min_period, 1024);
	ck_assert_str_eq(s.cpus, "0-1");
	ck_assert_uint_eq(s.attr.flags, DA_ATTR_PINNED);
	ck_assert_uint_eq(s.attr.config, 3 | 1ull << 33 | 1ull << 34);
	ck_assert_uint_eq(one("cpu-clock/pinned=0/").attr.flags & DA_ATTR_PINNED, 0);
	ck_assert_uint_eq(one("cpu-clock/pinned=1/").attr.flags & DA_ATTR_PINNED, DA_ATTR_PINNED);
	refuse("cpu-clock/pinned=2/", DA_EUSAGE,
	       "term 'pinned=2' in 'cpu-clock/pinned=2/' is 0 or 1");
}
END_TEST

START_TEST(simulated)
{
	struct da_spec s = one("spe/simulate,rate=5k,collide=7,cut=3,split,period=4096,pinned=0/");

	ck_assert(s.simulate && s.sim_split);
	ck_assert_uint_eq(s.sim_collide, 7);
	ck_assert_uint_eq(s.sim_cut, 3);
	ck_assert_str_eq(s.fake, "rate=5k");
	ck_assert_str_eq(s.name, "spe/simulate/");
	ck_assert_int_eq(s.producer, DA_PROD_SPE);
	ck_assert_uint_eq(s.attr.sample_period, 4096);
	ck_assert_uint_eq(s.attr.config & 1, 1);
	refuse("spe/simulate,collide=x/", DA_EUSAGE,
	       "term 'collide=x' in 'spe/simulate,collide=x/' needs a number");
	refuse("spe/simulate,nonsense=1/", DA_EUSAGE,
	       "fake: unknown term 'nonsense' (known: pattern, fail, rate, size, base, writes, seed, cpus, "
	       "tasks, count, phys, after)");
}
END_TEST

START_TEST(fake_terms)
{
	struct da_spec s = one("fake/rate=5k,period=3,fail=silent,name=f,size=1m/u");

	ck_assert_str_eq(s.fake, "rate=5k,fail=silent,size=1m");
	ck_assert_str_eq(s.name, "f");
	ck_assert_uint_eq(s.attr.sample_period, 3);
	ck_assert_int_eq(s.producer, DA_PROD_FAKE);
	ck_assert_str_eq(one("fake").fake, "");
	ck_assert_str_eq(one("fake//").fake, "");
	ck_assert_str_eq(one("fake/seed=2/").name, "fake");
}
END_TEST

/* ---- events of files ---- */

START_TEST(producers_of_files)
{
	static const struct {
		struct da_attr a;
		const char *event, *pmu;
		enum da_producer producer;
	} rows[] = {
		{{.type = 1, .config = 2, .sample_type = DA_SAMPLE_ADDR},
		 "page-faults",
		 NULL,
		 DA_PROD_FAULT},
		{{.type = 1, .config = 5, .sample_type = DA_SAMPLE_ADDR},
		 NULL,
		 NULL,
		 DA_PROD_FAULT},
		{{.type = 1, .config = 2}, "page-faults", NULL, DA_PROD_NONE},
		{{.type = 1, .config = 0, .sample_type = DA_SAMPLE_REGS_INTR},
		 "cpu-clock",
		 NULL,
		 DA_PROD_REGS},
		{{.type = 1, .config = 0, .sample_type = DA_SAMPLE_ADDR},
		 "cpu-clock",
		 NULL,
		 DA_PROD_NONE},
		{{.type = 1, .config = 3, .sample_type = DA_SAMPLE_ADDR}, "cs", NULL, DA_PROD_NONE},
		{{.type = 0, .config = 0, .sample_type = DA_SAMPLE_REGS_INTR},
		 "cycles",
		 NULL,
		 DA_PROD_REGS},
		{{.type = 0, .config = 4ull << 32, .sample_type = DA_SAMPLE_REGS_INTR},
		 "cpu_core/cycles/",
		 NULL,
		 DA_PROD_REGS},
		{{.type = 0, .config = 0, .sample_type = DA_SAMPLE_REGS_INTR, .flags = 2 << 15},
		 "cycles:pp",
		 NULL,
		 DA_PROD_NONE},
		{{.type = 0,
		  .config = 0,
		  .sample_type = DA_SAMPLE_REGS_INTR | DA_SAMPLE_ADDR,
		  .flags = 2 << 15},
		 "cycles:pp",
		 NULL,
		 DA_PROD_ADDR},
		{{.type = 0, .config = 1, .sample_type = DA_SAMPLE_REGS_INTR},
		 "instructions",
		 NULL,
		 DA_PROD_NONE},
		{{.type = 4, .config = 0x1cd, .sample_type = DA_SAMPLE_ADDR, .flags = 3 << 15},
		 "cpu/mem-loads/P",
		 "cpu",
		 DA_PROD_ADDR},
		{{.type = 4, .config = 0x8203, .sample_type = DA_SAMPLE_ADDR},
		 "cpu/mem-loads-aux/",
		 "cpu",
		 DA_PROD_NONE},
		{{.type = 4, .config = 0x1cd}, "r1cd", "cpu", DA_PROD_NONE},
		{{.type = 9, .sample_type = DA_SAMPLE_ADDR},
		 "arm_spe_0//",
		 "arm_spe_0",
		 DA_PROD_SPE},
		{{.type = 9}, "x", "arm_spe_1", DA_PROD_SPE},
		{{.type = 9}, "arm_spe_0/ts_enable=1/", NULL, DA_PROD_SPE},
		{{.type = 9, .sample_type = DA_SAMPLE_RAW}, "ibs_op//", "ibs_op", DA_PROD_IBS_OP},
		{{.type = 9, .sample_type = DA_SAMPLE_RAW}, "x", "ibs_fetch", DA_PROD_IBS_FETCH},
		{{.type = 9, .sample_type = DA_SAMPLE_ADDR}, "ibs_op//", "ibs_op", DA_PROD_ADDR},
		{{.type = 9, .sample_type = DA_SAMPLE_RAW}, "x", NULL, DA_PROD_NONE},
		{{.type = 2, .config = 316, .sample_type = DA_SAMPLE_RAW},
		 "sched:sched_switch",
		 NULL,
		 DA_PROD_TRACEPOINT},
		{{.type = 1, .config = 9, .sample_type = DA_SAMPLE_ADDR},
		 "fake",
		 NULL,
		 DA_PROD_FAKE},
		{{.type = 1, .config = 9, .sample_type = DA_SAMPLE_ADDR},
		 "dummy:u",
		 NULL,
		 DA_PROD_NONE},
		{{.type = 1, .config = 9}, NULL, NULL, DA_PROD_NONE},
		{{.type = 5, .bp_type = 4, .sample_type = DA_SAMPLE_REGS_INTR | DA_SAMPLE_ADDR},
		 "mem:x",
		 NULL,
		 DA_PROD_REGS},
		{{.type = 5, .bp_type = 4, .sample_type = DA_SAMPLE_ADDR},
		 "mem:x",
		 NULL,
		 DA_PROD_NONE},
		{{.type = 5, .bp_type = 3, .sample_type = DA_SAMPLE_ADDR},
		 "mem:x",
		 NULL,
		 DA_PROD_ADDR},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		enum da_producer p = da_producer_of(&rows[i].a, rows[i].event, rows[i].pmu);

		ck_assert_msg(p == rows[i].producer, "row %zu (%s): %s", i,
			      rows[i].event ? rows[i].event : "-", da_producer_name(p));
	}
	for (int p = 0; p < DA_PROD_NR; p++)
		for (int q = 0; q < p; q++)
			ck_assert_str_ne(da_producer_name((enum da_producer)p),
					 da_producer_name((enum da_producer)q));
	ck_assert_str_eq(da_producer_name((enum da_producer)DA_PROD_NR), "unknown");
}
END_TEST

static unsigned open_files(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

START_TEST(this_machine)
{
	static const char *const probed[] = {"cycles:P", "sched:sched_switch:P", "instructions:P"};
	unsigned before;
	struct da_error err = {0};
	struct da_spec *specs;
	char why[2000];
	size_t nr;

	ck_assert_int_eq(da_spec_parse("cpu-clock,page-faults", &specs, &nr, NULL, 0, &err), 0);
	ck_assert_uint_eq(nr, 2);
	free(specs);
	ck_assert_int_eq(da_spec_parse("auto", &specs, &nr, why, sizeof(why), &err), 0);
	ck_assert_uint_ge(nr, 1);
	ck_assert_int_eq(strncmp(why, "auto: ", 6), 0);
	free(specs);
	/* The probe closes what it opens. Which events open, and so are probed, depends on the
	 * machine. */
	before = open_files();
	for (size_t i = 0; i < sizeof(probed) / sizeof(*probed); i++) {
		if (da_spec_parse(probed[i], &specs, &nr, NULL, 0, NULL))
			continue;
		ck_assert_uint_eq(nr, 1);
		free(specs);
	}
	ck_assert_uint_eq(open_files(), before);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pmu");
	TCase *tc = tcase_create("spec");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, known_names);
	tcase_add_test(tc, modifiers);
	tcase_add_test(tc, common_terms);
	tcase_add_test(tc, lists);
	tcase_add_test(tc, pmu_terms);
	tcase_add_test(tc, formats);
	tcase_add_test(tc, usage_errors);
	tcase_add_test(tc, long_texts);
	tcase_add_test(tc, tracepoints);
	tcase_add_test(tc, what_this_machine_lacks);
	tcase_add_test(tc, spe_ibs_pebs);
	tcase_add_test(tc, pebs_of_both_kinds);
	tcase_add_test(tc, auto_choice);
	tcase_add_test(tc, why_lines);
	tcase_add_test(tc, reasons);
	tcase_add_test(tc, ordinary_user);
	tcase_add_test(tc, hybrid);
	tcase_add_test(tc, options_of_an_event);
	tcase_add_test(tc, simulated);
	tcase_add_test(tc, fake_terms);
	tcase_add_test(tc, producers_of_files);
	tcase_add_test(tc, this_machine);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
