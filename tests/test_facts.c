/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Facts: gathered from crafted machines and from this one, to JSON and back, from hostile text, and from a
 * decoded recording (ours, ours cut short, another program's).
 */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "da_abi.h"
#include "da_facts_json.h"
#include "da_facts_offline.h"
#include "facts_priv.h"
#include "folder.h"

/* ---- crafted machines ---- */

struct machine {
	char root[200];
};

static void new_root(struct machine *m)
{
	test_folder(m->root, sizeof(m->root));
}

static void file(const struct machine *m, const char *path, const char *text)
{
	char full[512], *slash;
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", m->root, path);
	for (slash = strchr(full + strlen(m->root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ck_assert(!mkdir(full, 0755) || errno == EEXIST);
		*slash = '/';
	}
	f = fopen(full, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void remove_root(const struct machine *m)
{
	char command[232];

	snprintf(command, sizeof(command), "rm -rf '%s'", m->root);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(empty_machine)
{
	struct machine m;
	struct da_facts f;

	da_facts_init(&f);
	new_root(&m);
	facts_files(&f, m.root);
	remove_root(&m);
	ck_assert_int_eq(f.paranoid, INT_MIN);
	ck_assert_int_eq(f.seccomp, -1);
	ck_assert_int_eq(f.mlock_kb, -1);
	ck_assert_int_eq(f.max_sample_rate_before, -1);
	ck_assert(!f.hypervisor && !f.kpti && !f.root && !f.cap_perfmon);
	ck_assert_str_eq(f.pmus, "");
	ck_assert_str_eq(f.cpu, "");
	ck_assert_uint_eq(f.online_cpus, 0);
}
END_TEST

START_TEST(x86_guest)
{
	struct machine m;
	struct da_facts f;

	da_facts_init(&f);
	new_root(&m);
	file(&m, "/proc/sys/kernel/perf_event_paranoid", "-1\n");
	file(&m, "/proc/sys/kernel/perf_event_mlock_kb", "516\n");
	file(&m, "/proc/sys/kernel/perf_event_max_sample_rate", "25000\n");
	file(&m, "/proc/cpuinfo",
	     "processor\t: 0\nmodel name\t: A CPU @ 2.00GHz\nflags\t\t: fpu vme hypervisor lm\n"
	     "processor\t: 1\nmodel name\t: Another\nflags\t\t: fpu vme hypervisor lm\n");
	/* an ordinary user with CAP_PERFMON (bit 38) below a filter */
	file(&m, "/proc/self/status",
	     "Name:\tx\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000004000000000\nSeccomp:\t2\n"
	     "Seccomp_filters:\t1\n");
	file(&m, "/sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n");
	file(&m, "/sys/devices/system/cpu/online", "0-3,8,10-11\n");
	file(&m, "/sys/bus/event_source/devices/software/type", "1\n");
	file(&m, "/sys/bus/event_source/devices/breakpoint/type", "5\n");
	facts_files(&f, m.root);
	remove_root(&m);
	ck_assert_int_eq(f.paranoid, -1);
	ck_assert_int_eq(f.mlock_kb, 516);
	ck_assert_int_eq(f.max_sample_rate_before, 25000);
	ck_assert_int_eq(f.max_sample_rate_after, 25000);
	ck_assert_str_eq(f.cpu, "A CPU @ 2.00GHz");
	ck_assert(f.hypervisor && f.kpti && f.cap_perfmon && !f.cap_sys_admin && !f.root);
	ck_assert_int_eq(f.seccomp, 2);
	ck_assert_uint_eq(f.online_cpus, 7);
	ck_assert_str_eq(f.pmus, "breakpoint software");
}
END_TEST

START_TEST(bare_machine)
{
	struct machine m;
	struct da_facts f;

	da_facts_init(&f);
	new_root(&m);
	file(&m, "/proc/cpuinfo", "model name\t: A CPU\nflags\t\t: fpu vme hypervisor_not lm\n");
	file(&m, "/proc/self/status",
	     "Uid:\t1000\t0\t0\t0\nCapEff:\t0000000000200000\nSeccomp:\t0\n");
	file(&m, "/sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n");
	file(&m, "/sys/class/dmi/id/sys_vendor", "Dell Inc.\n");
	file(&m, "/sys/devices/system/cpu/online", "0\n");
	facts_files(&f, m.root);
	remove_root(&m);
	ck_assert(!f.hypervisor && !f.kpti && f.root && f.cap_sys_admin && !f.cap_perfmon);
	ck_assert_int_eq(f.seccomp, 0);
	ck_assert_uint_eq(f.online_cpus, 1);
}
END_TEST

START_TEST(arm_guest)
{
	struct machine m;
	struct da_facts f;

	da_facts_init(&f);
	new_root(&m);
	file(&m, "/proc/cpuinfo",
	     "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\nprocessor\t: 1\n"
	     "CPU implementer\t: 0x42\nCPU part\t: 0xd0d\n");
	file(&m, "/sys/class/dmi/id/sys_vendor", "QEMU\n");
	facts_files(&f, m.root);
	remove_root(&m);
	ck_assert_str_eq(f.cpu, "implementer 0x41 part 0xd0c");
	ck_assert(f.hypervisor);
}
END_TEST

START_TEST(this_machine)
{
	struct da_facts f;

	da_facts_init(&f);
	da_facts_machine(&f);
	ck_assert(f.machine_known);
	ck_assert(f.kernel[0]);
	ck_assert_uint_ge(f.online_cpus, 1);
	ck_assert_int_gt(f.fd_limit, 0);
	ck_assert_int_ge(f.fd_used, 3);
	ck_assert(f.root == (geteuid() == 0));
	if (access("/proc/sys/kernel/perf_event_paranoid", R_OK) == 0) {
		ck_assert_int_ge(f.paranoid, -1);
		ck_assert(f.perf_event_open_works || f.seccomp == 2);
		ck_assert_int_eq(da_facts_sample_rate(), f.max_sample_rate_before);
		ck_assert_ptr_nonnull(strstr(f.pmus, "software"));
	}
	da_facts_release(&f);
}
END_TEST

/* ---- JSON ---- */

/* Every number different, so that none can stand in for another. */
static void fill(struct da_facts *f)
{
	struct da_facts_event *e;
	uint64_t n = 1000;

	da_facts_init(f);
	f->machine_known = true;
	snprintf(f->kernel, sizeof(f->kernel), "6.18 \"x\" \\");
	snprintf(f->cpu, sizeof(f->cpu), "cpu");
	f->paranoid = -1;
	f->cap_perfmon = f->root = f->kpti = true;
	f->seccomp = 2;
	f->max_sample_rate_before = (int64_t)n++;
	f->max_sample_rate_after = (int64_t)n++;
	f->mlock_kb = (int64_t)n++;
	f->memlock_kb = INT64_MAX;
	f->fd_limit = (int64_t)n++;
	f->fd_used = (int64_t)n++;
	f->online_cpus = 77;
	snprintf(f->pmus, sizeof(f->pmus), "a b c");
	f->target = DA_TARGET_TID;
	f->perf_event_open_works = f->clock_ok = f->no_old_state = f->disabled_before_drain = true;
	snprintf(f->target_text, sizeof(f->target_text), "tid 5");
	f->mmap_pages = 128;
	f->mmap_pages_wanted = 512;
	f->duration_ns = n++;
	f->lost_counter = (int64_t)n++;
	f->lost_samples = (int64_t)n++;
	f->throttled = (int64_t)n++;
	f->aux_off_ns = (int64_t)n++;
	f->pending_at_stop = 0;
	f->command_status = 256;
	snprintf(f->end_reason, sizeof(f->end_reason), "duration");
	snprintf(f->error, sizeof(f->error), "no \x01 way");
	f->events = calloc(2, sizeof(*f->events));
	f->nr_events = 2;
	for (size_t i = 0; i < 2; i++) {
		e = &f->events[i];
		snprintf(e->name, sizeof(e->name), "event%zu", i);
		e->producer = i ? DA_PROD_FAKE : DA_PROD_REGS;
		e->attr = (struct da_attr){.type = (uint32_t)n + 1,
					   .size = 128,
					   .config = n + 2,
					   .sample_period = n + 3,
					   .sample_type = n + 4,
					   .read_format = n + 5,
					   .flags = n + 6,
					   .bp_type = 3,
					   .config1 = n + 7,
					   .config2 = n + 8,
					   .config3 = n + 9,
					   .config4 = n + 10,
					   .sample_regs_user = n + 11,
					   .sample_regs_intr = n + 12,
					   .clockid = -2,
					   .branch_sample_type = n + 13,
					   .wakeup_events = 9,
					   .aux_watermark = 8,
					   .sample_stack_user = 7};
		n += 32;
		snprintf(e->dropped_bits, sizeof(e->dropped_bits), "phys_addr,weight");
		e->effective_period = n++;
		e->needs_aux = true;
		e->aux = i;
		e->nr_errors = i;
		e->errors[0] =
			(struct da_facts_open_error){.cpu = 3, .sys = EACCES, .what = "mmap"};
		e->cpus = calloc(3, sizeof(*e->cpus));
		e->nr_cpus = 3;
		for (size_t c = 0; c < 3; c++) {
			uint64_t *l = (uint64_t *)&e->cpus[c].ledger;

			e->cpus[c] = (struct da_facts_cpu){.cpu = (uint32_t)(10 * c),
							   .state = (enum da_state)(2 + c),
							   .count = (int64_t)n + 1,
							   .lost = -1,
							   .enabled_ns = (int64_t)n + 2,
							   .running_ns = 0,
							   .target_absent = c == 2};
			n += 32;
			for (size_t k = 0; k < sizeof(struct da_ledger) / sizeof(*l); k++)
				l[k] = n++;
		}
	}
	f->buffers = calloc(2, sizeof(*f->buffers));
	f->nr_buffers = 2;
	for (size_t i = 0; i < 2; i++) {
		f->buffers[i] = (struct da_facts_buffer){.name = "b",
							 .cpu = (int32_t)i - 1,
							 .slots = n + 1,
							 .peak = n + 2,
							 .enqueue = n + 3,
							 .overflow = n + 4,
							 .source_cpus = 5};
		n += 32;
	}
}

START_TEST(json_round_trip)
{
	struct da_facts f, g;
	char *a, *b;

	fill(&f);
	a = da_facts_to_json(&f);
	ck_assert_ptr_nonnull(a);
	ck_assert_int_eq(da_facts_from_json(a, strlen(a), &g), 0);
	b = da_facts_to_json(&g);
	ck_assert_ptr_nonnull(b);
	ck_assert_str_eq(a, b);
	/* the text may drop what it does not know: look at the values too */
	ck_assert_uint_eq(g.nr_events, 2);
	ck_assert_int_eq(memcmp(&f.events[1].attr, &g.events[1].attr, sizeof(f.events[1].attr)), 0);
	ck_assert_int_eq(memcmp(f.events[1].cpus, g.events[1].cpus, 3 * sizeof(*f.events[1].cpus)),
			 0);
	ck_assert_int_eq(memcmp(f.buffers, g.buffers, 2 * sizeof(*f.buffers)), 0);
	ck_assert_int_eq(g.events[1].errors[0].sys, EACCES);
	ck_assert_int_eq(g.target, DA_TARGET_TID);
	ck_assert_int_eq(g.paranoid, -1);
	ck_assert_int_eq(g.memlock_kb, INT64_MAX);
	ck_assert_int_eq(g.lost_records, -1);
	ck_assert_int_eq(g.pending_at_stop, 0);
	ck_assert_str_eq(g.kernel, f.kernel);
	ck_assert_str_eq(g.error, f.error);
	free(a);
	free(b);
	da_facts_release(&f);
	da_facts_release(&g);
}
END_TEST

START_TEST(json_nothing_known)
{
	struct da_facts f, g;
	char *text;

	da_facts_init(&f);
	text = da_facts_to_json(&f);
	ck_assert_int_eq(da_facts_from_json(text, strlen(text), &g), 0);
	ck_assert(!g.machine_known);
	ck_assert_int_eq(g.paranoid, INT_MIN);
	ck_assert_int_eq(g.lost_counter, -1);
	ck_assert_int_eq(g.target, DA_TARGET_NONE);
	free(text);
	da_facts_release(&g);
	ck_assert_int_eq(da_facts_from_json("{}", 2, &g), 0);
	ck_assert_uint_eq(g.nr_events, 0);
	da_facts_release(&g);
}
END_TEST

/* Values of a wrong kind leave their fact unknown; rows that lack what bounds their memory are damage. */
START_TEST(json_hostile)
{
	static const char *const odd =
		"{\"machine\":{\"paranoid\":\"2\",\"kernel\":7,\"root\":1,\"mlock_kb\":-9,\"fd_limit\":1e3,\"seccomp\":99999999999,"
		"\"online_cpus\":4294967296},\"run\":{\"target\":\"moon\",\"lost_counter\":\"x\",\"buffers\":[1,{}]},"
		"\"events\":[7,{\"name\":[],\"producer\":\"none such\",\"attr\":[],\"errors\":[1,2,3,4,5,6,7,8,9,10]}]}";
	static const char *const damaged[] = {
		"",
		"[]",
		"7",
		"null",
		"{",
		"{\"events\":[{\"cpus\":[1]}]}",
		"{\"events\":[{\"cpus\":[{\"cpu\":0}]}]}",
		"{\"events\":[{\"cpus\":[{\"cpu\":0,\"state\":\"NONE\"}]}]}",
		"{\"events\":[{\"cpus\":[{\"cpu\":4294967296,\"state\":\"\",\"ledger\":{}}]}]}",
	};
	struct da_facts f;
	size_t n = 20000;
	char *text = malloc(n + 32);

	ck_assert_int_eq(da_facts_from_json(odd, strlen(odd), &f), 0);
	ck_assert_int_eq(f.paranoid, INT_MIN);
	ck_assert_int_eq(f.mlock_kb, -1);
	ck_assert_int_eq(f.fd_limit, -1);
	ck_assert_int_eq(f.seccomp, -1);
	ck_assert_int_eq(f.lost_counter, -1);
	ck_assert_uint_eq(f.online_cpus, 0);
	ck_assert_uint_eq(f.nr_events, 2);
	ck_assert_uint_eq(f.nr_buffers, 2);
	ck_assert_uint_eq(f.events[1].nr_errors, 8);
	ck_assert_int_eq(f.events[1].producer, DA_PROD_NONE);
	da_facts_release(&f);
	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		ck_assert_msg(da_facts_from_json(damaged[i], strlen(damaged[i]), &f) ==
				      -DA_EDAMAGED,
			      "%s", damaged[i]);
		ck_assert(!f.events && !f.buffers);
	}
	/* 5,000 events in 20 KB would take 6 MB */
	strcpy(text, "{\"events\":[");
	while (strlen(text) < n - 8)
		strcat(text, "{},");
	strcat(text, "{}]}");
	ck_assert_int_eq(da_facts_from_json(text, strlen(text), &f), -DA_EDAMAGED);
	free(text);
}
END_TEST

START_TEST(json_every_cut)
{
	struct da_facts f, g;
	char *text;

	fill(&f);
	text = da_facts_to_json(&f);
	for (size_t n = 0; n + 2 < strlen(text); n += 7) {
		char *copy = malloc(n ? n : 1);

		memcpy(copy, text, n);
		ck_assert_int_eq(da_facts_from_json(copy, n, &g), -DA_EDAMAGED);
		free(copy);
	}
	free(text);
	da_facts_release(&f);
}
END_TEST

/* ---- from a decoded recording ---- */

static struct da_ledger with(uint64_t callback, uint64_t valid)
{
	struct da_ledger l = {0};

	l.in[DA_STAGE_SAMPLE] = callback;
	l.out[DA_STAGE_SAMPLE] = valid;
	l.drop[DA_DROP_ADDR_NONE] = callback - valid;
	return l;
}

/* A recording of page faults and of our dummy event, as the offline decode gives it. */
struct recording {
	struct da_attr attr[2];
	struct da_offline_event ev[2];
	struct da_offline_cell cells[2];
	struct da_own_ledger recorded[1];
	struct da_file_info file;
	struct da_own_event own[2];
	struct da_offline_result r;
};

static void recording(struct recording *x, bool own)
{
	memset(x, 0, sizeof(*x));
	x->attr[0] = (struct da_attr){
		.type = DA_TYPE_SOFTWARE, .config = DA_SW_PAGE_FAULTS, .sample_period = 1};
	x->attr[1] = (struct da_attr){.type = DA_TYPE_SOFTWARE, .config = DA_SW_DUMMY};
	x->ev[0] = (struct da_offline_event){.name = "page-faults:uk",
					     .producer = DA_PROD_FAULT,
					     .attr = &x->attr[0],
					     .period = 1,
					     .samples = 9,
					     .wanted = true};
	x->ev[1] = (struct da_offline_event){
		.name = "dummy:u", .producer = DA_PROD_NONE, .attr = &x->attr[1], .wanted = true};
	x->cells[0] =
		(struct da_offline_cell){.cpu = 0, .state = DA_STATE_RUNNING, .ledger = with(5, 5)};
	x->cells[1] =
		(struct da_offline_cell){.cpu = 3, .state = DA_STATE_RUNNING, .ledger = with(4, 3)};
	x->file = (struct da_file_info){
		.osrelease = "6.1", .arch = "x86_64", .cpudesc = "CPU", .nr_cpus_online = 4};
	x->r = (struct da_offline_result){.file = &x->file,
					  .events = x->ev,
					  .nr_events = 2,
					  .cells = x->cells,
					  .nr_cells = 2,
					  .ledger = with(9, 8),
					  .first_ns = 100,
					  .last_ns = 1100};
	x->r.lost = (struct da_offline_lost){
		.counter = -1, .pending = -1, .records = 7, .aux_off_ns = -1, .resync_bytes = -1};
	if (!own)
		return;
	x->own[0] = (struct da_own_event){.name = "page-faults:uk",
					  .producer = DA_PROD_FAULT,
					  .period = 1,
					  .dropped_bits = "phys_addr"};
	x->recorded[0] = (struct da_own_ledger){.event = 0,
						.cpu = {.cpu = 0,
							.state = DA_STATE_RUNNING,
							.count = 8,
							.lost = 0,
							.ledger = with(8, 8)}};
	x->r.own_file = x->r.has_recorded = true;
	x->r.info = (struct da_own_info){.events = x->own, .nr_events = 1};
	x->r.recorded = x->recorded;
	x->r.nr_recorded = 1;
	x->r.recorded_ledger = with(8, 8);
}

START_TEST(offline_foreign)
{
	struct da_facts judged, decode;
	struct recording x;
	bool recorded;

	recording(&x, false);
	ck_assert_int_eq(da_facts_from_offline(&x.r, &judged, &decode, &recorded), 0);
	ck_assert(!recorded && !judged.own_file && !judged.live && !judged.machine_known);
	ck_assert_uint_eq(judged.nr_events, 1); /* not the dummy */
	ck_assert_str_eq(judged.events[0].name, "page-faults:uk");
	ck_assert_uint_eq(judged.events[0].nr_cpus, 2);
	ck_assert_uint_eq(judged.events[0].cpus[1].cpu, 3);
	ck_assert_uint_eq(judged.events[0].cpus[1].ledger.in[DA_STAGE_SAMPLE], 4);
	ck_assert_int_eq(judged.events[0].cpus[1].count, -1);
	ck_assert_int_eq(judged.lost_records, 7);
	ck_assert_uint_eq(judged.duration_ns, 1000);
	ck_assert_str_eq(judged.kernel, "6.1 x86_64");
	da_facts_release(&judged);
	da_facts_release(&decode);

	/* a fake event that was silent looks like a dummy, and is none */
	x.ev[1].producer = DA_PROD_FAKE;
	ck_assert_int_eq(da_facts_from_offline(&x.r, &judged, &decode, &recorded), 0);
	ck_assert_uint_eq(judged.nr_events, 2);
	da_facts_release(&judged);
	da_facts_release(&decode);
}
END_TEST

/* A regular recording: its own facts, with the rows of the last snapshots. */
START_TEST(offline_own)
{
	struct da_facts judged, decode, stored;
	struct recording x;
	bool recorded;
	char *text;

	recording(&x, true);
	fill(&stored);
	free(stored.events[1].cpus);
	stored.nr_events = 1;
	snprintf(stored.events[0].name, sizeof(stored.events[0].name), "page-faults:uk");
	text = da_facts_to_json(&stored);
	da_facts_release(&stored);
	x.r.facts = text;
	x.r.facts_len = strlen(text);
	x.r.has_end = true;
	x.r.end = (struct da_own_end){.reason = "exit", .command_status = 0};
	ck_assert_int_eq(da_facts_from_offline(&x.r, &judged, &decode, &recorded), 0);
	ck_assert(recorded && judged.own_file && judged.machine_known && !judged.live);
	ck_assert_str_eq(judged.end_reason, "exit");
	ck_assert_uint_eq(judged.nr_events, 1);
	ck_assert_uint_eq(judged.events[0].nr_cpus, 1);
	ck_assert_uint_eq(judged.events[0].cpus[0].ledger.in[DA_STAGE_SAMPLE], 8);
	ck_assert_int_eq(judged.events[0].cpus[0].count, 8);
	ck_assert_uint_eq(judged.mmap_pages, 128);
	ck_assert_uint_eq(judged.nr_buffers, 2);
	ck_assert_uint_eq(decode.events[0].cpus[0].ledger.in[DA_STAGE_SAMPLE], 5);
	ck_assert(!decode.own_file);
	da_facts_release(&judged);
	da_facts_release(&decode);

	/* facts of other events than the file's are not believed */
	x.ev[0].name = "minor-faults";
	ck_assert_int_eq(da_facts_from_offline(&x.r, &judged, &decode, &recorded), 0);
	ck_assert(recorded && judged.own_file && !judged.machine_known);
	ck_assert_str_eq(judged.events[0].name, "minor-faults");
	da_facts_release(&judged);
	da_facts_release(&decode);
	free(text);
}
END_TEST

START_TEST(offline_cut_short)
{
	struct da_facts judged, decode;
	struct recording x;
	bool recorded;

	recording(&x, true);
	ck_assert_int_eq(da_facts_from_offline(&x.r, &judged, &decode, &recorded), 0);
	ck_assert(recorded && judged.own_file && !judged.machine_known && !judged.end_reason[0]);
	ck_assert_str_eq(judged.events[0].dropped_bits, "phys_addr");
	ck_assert_uint_eq(judged.events[0].cpus[0].ledger.in[DA_STAGE_SAMPLE], 8);
	da_facts_release(&judged);
	da_facts_release(&decode);

	/* a snapshot from before the first sample: the samples in the file speak */
	x.recorded[0].cpu.ledger = x.r.recorded_ledger = with(0, 0);
	ck_assert_int_eq(da_facts_from_offline(&x.r, &judged, &decode, &recorded), 0);
	ck_assert_uint_eq(judged.events[0].nr_cpus, 2);
	ck_assert_uint_eq(judged.events[0].cpus[0].ledger.in[DA_STAGE_SAMPLE], 5);
	da_facts_release(&judged);
	da_facts_release(&decode);
}
END_TEST

START_TEST(offline_filter)
{
	struct da_facts judged, decode;
	struct recording x;
	bool recorded;

	recording(&x, false);
	x.ev[1] = x.ev[0];
	x.ev[1].name = "other";
	x.ev[0].wanted = false;
	x.cells[1].event = 1;
	ck_assert_int_eq(da_facts_from_offline(&x.r, &judged, &decode, &recorded), 0);
	ck_assert_uint_eq(judged.nr_events, 1);
	ck_assert_str_eq(judged.events[0].name, "other");
	ck_assert_uint_eq(judged.events[0].nr_cpus, 1);
	ck_assert_uint_eq(judged.events[0].cpus[0].cpu, 3);
	da_facts_release(&judged);
	da_facts_release(&decode);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("facts");
	TCase *t = tcase_create("machine"), *j = tcase_create("json"), *o = tcase_create("offline");
	SRunner *r;
	int failed;

	tcase_add_test(t, empty_machine);
	tcase_add_test(t, x86_guest);
	tcase_add_test(t, bare_machine);
	tcase_add_test(t, arm_guest);
	tcase_add_test(t, this_machine);
	tcase_add_test(j, json_round_trip);
	tcase_add_test(j, json_nothing_known);
	tcase_add_test(j, json_hostile);
	tcase_add_test(j, json_every_cut);
	tcase_add_test(o, offline_foreign);
	tcase_add_test(o, offline_own);
	tcase_add_test(o, offline_cut_short);
	tcase_add_test(o, offline_filter);
	suite_add_tcase(s, t);
	suite_add_tcase(s, j);
	suite_add_tcase(s, o);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
