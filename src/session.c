/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording session from its owner's side: life cycle, live sums, facts. The threads are in
 * session_drain.c, opening and enabling in session_open.c, our own records in session_store.c.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "session_aux.h"

void s_message(struct da_session *s, int level, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (!s->o.message || (level == 2 && !s->o.verbose))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	s->o.message(s->o.message_ctx, level, text);
}

uint64_t s_now_ns(const struct da_session *s)
{
	struct timespec t;

	clock_gettime(s->clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void s_fail(struct da_session *s, const struct da_error *e)
{
	pthread_mutex_lock(&s->lock);
	if (!s->failure.code)
		s->failure = *e;
	pthread_mutex_unlock(&s->lock);
	atomic_store(&s->failed, true);
}

static int failure(struct da_session *s, struct da_error *err)
{
	int code = 0;

	pthread_mutex_lock(&s->lock);
	if (s->failure.code) {
		code = s->failure.code;
		if (err && !err->code)
			*err = s->failure;
	}
	pthread_mutex_unlock(&s->lock);
	return -code;
}

int s_event_of_id(const struct da_session *s, uint64_t id)
{
	size_t lo = 0, hi = s->nr_ids_mapped;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->id_map[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->nr_ids_mapped && s->id_map[lo].id == id ? (int)s->id_map[lo].event : -1;
}

/* ---- new ---- */

static int copy_specs(struct da_session *s)
{
	s->nr_ev = s->o.nr_specs;
	s->ev = calloc(s->nr_ev ? s->nr_ev : 1, sizeof(*s->ev));
	if (!s->ev)
		return -DA_ENOMEM;
	s->fake_only = true;
	for (size_t i = 0; i < s->nr_ev; i++) {
		s->ev[i].spec = s->o.specs[i];
		s->fake_only &= s->ev[i].spec.producer == DA_PROD_FAKE || s->ev[i].spec.simulate;
		s->ev[i].aux = s_aux_backend_of(s, &s->ev[i].spec);
		s->has_aux |= s->ev[i].aux != NULL;
	}
	return 0;
}

static int make_fakes(struct da_session *s, struct da_error *err)
{
	for (size_t i = 0; i < s->nr_ev; i++) {
		struct s_event *e = &s->ev[i];
		uint32_t pid = s->nr_ids ? (uint32_t)s->ids[0] : (uint32_t)getpid();
		int rc;

		if (e->spec.producer != DA_PROD_FAKE && !e->spec.simulate)
			continue;
		rc = da_fake_new(&e->fake, e->spec.fake, pid, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* All threads of the target processes at the time of opening; threads started later are inherited. */
static int resolve_ids(struct da_session *s, struct da_error *err)
{
	s->target_ok = true;
	if (s->o.target == DA_TARGET_SYSTEM || s->o.target == DA_TARGET_NONE)
		return 0;
	if (s->o.target == DA_TARGET_COMMAND) {
		s->ids = malloc(sizeof(*s->ids));
		if (!s->ids)
			return da_fail(err, DA_ENOMEM, 0, "out of memory");
		s->ids[0] = s->o.child;
		s->nr_ids = 1;
		return 0;
	}
	for (size_t i = 0; i < s->o.nr_ids; i++) {
		pid_t *threads = NULL, *grown;
		size_t nr = 1;

		if (s->o.target == DA_TARGET_PID)
			nr = s_threads_of(s->o.ids[i], &threads);
		else if (kill(s->o.ids[i], 0) && errno == ESRCH)
			nr = 0;
		if (!nr) {
			s->target_ok = false;
			free(threads);
			return da_fail(err, DA_ENOENT, 0, "no such %s: %d",
				       s->o.target == DA_TARGET_PID ? "process" : "thread",
				       s->o.ids[i]);
		}
		grown = realloc(s->ids, (s->nr_ids + nr) * sizeof(*grown));
		if (!grown) {
			free(threads);
			return da_fail(err, DA_ENOMEM, 0, "out of memory");
		}
		s->ids = grown;
		for (size_t t = 0; t < nr; t++)
			s->ids[s->nr_ids++] = threads ? threads[t] : s->o.ids[i];
		free(threads);
	}
	return 0;
}

/* A CPU list of sysfs or of -C: "0,2-3". Calls fn for each CPU; false on a syntax error. */
static bool each_cpu(const char *list, void (*fn)(void *ctx, unsigned cpu), void *ctx)
{
	while (*list) {
		char *end;
		unsigned long a = strtoul(list, &end, 10), b = a;

		if (end == list)
			return false;
		if (*end == '-') {
			list = end + 1;
			b = strtoul(list, &end, 10);
			if (end == list)
				return false;
		}
		if (b < a || b >= 65536)
			return false;
		for (; a <= b; a++)
			fn(ctx, (unsigned)a);
		list = end + (*end == ',');
		if (*end && *end != ',' && *end != '\n')
			return false;
		if (*end == '\n')
			break;
	}
	return true;
}

static void mark(void *ctx, unsigned cpu)
{
	((uint8_t *)ctx)[cpu] = 1;
}

struct one_cpu {
	unsigned cpu;
	bool found;
};

static void look(void *ctx, unsigned cpu)
{
	struct one_cpu *c = ctx;

	c->found |= c->cpu == cpu;
}

bool s_cpu_in(const char *list, int cpu)
{
	struct one_cpu c = {.cpu = (unsigned)cpu};

	return !*list || !each_cpu(list, look, &c) || c.found;
}

void s_read_cpus(const char *path, uint8_t *set)
{
	FILE *f = fopen(path, "re");
	char line[4096];

	if (f && fgets(line, sizeof(line), f))
		each_cpu(line, mark, set);
	if (f)
		fclose(f);
}

const char *s_online_path(const struct da_session *s)
{
	return s->o.online_path ? s->o.online_path : "/sys/devices/system/cpu/online";
}

static int choose_cpus(struct da_session *s, struct da_error *err)
{
	uint8_t *online = calloc(3, 65536), *want = online ? online + 65536 : NULL;
	uint8_t *possible = online ? online + 2 * 65536 : NULL;
	int rc = 0;
	size_t nr = 0;

	if (!online)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	s_read_cpus("/sys/devices/system/cpu/possible", possible);
	s_read_cpus(s_online_path(s), online);
	if (s->cpu_list) {
		if (!each_cpu(s->cpu_list, mark, want) || !*s->cpu_list)
			rc = da_fail(err, DA_EUSAGE, 0, "'%s' is not a list of CPUs", s->cpu_list);
	} else {
		memcpy(want, online, 65536);
	}
	if (!memchr(online, 1, 65536))
		rc = da_fail(err, DA_EIO, errno, "cannot read the list of online CPUs%s",
			     errno == EMFILE ? " (raise the limit with ulimit -n)" : "");
	for (unsigned c = 0; !rc && c < 65536; c++) {
		if (want[c] && !possible[c] && !online[c])
			rc = da_fail(err, DA_ENOENT, 0, "CPU %u does not exist on this machine", c);
		nr += want[c];
	}
	s->cpus = rc ? NULL : calloc(nr ? nr : 1, sizeof(*s->cpus));
	if (!rc && !s->cpus)
		rc = da_fail(err, DA_ENOMEM, 0, "out of memory");
	for (unsigned c = 0; !rc && c < 65536; c++) {
		struct s_cpu *cpu = &s->cpus[s->nr_cpus];

		if (!want[c])
			continue;
		cpu->cpu = (int)c;
		cpu->online = online[c];
		cpu->sideband = -1;
		cpu->pairs = calloc(s->nr_ev ? s->nr_ev : 1, sizeof(*cpu->pairs));
		if (!cpu->pairs)
			rc = da_fail(err, DA_ENOMEM, 0, "out of memory");
		for (size_t i = 0; !rc && i < s->nr_ev; i++)
			cpu->pairs[i].idx = -1;
		s->nr_cpus++;
	}
	free(online);
	return rc;
}

static int64_t sysctl_rate(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	long long v = -1;

	if (f) {
		if (fscanf(f, "%lld", &v) != 1)
			v = -1;
		fclose(f);
	}
	return v;
}

static char *copy_or_null(const char *text, bool *failed)
{
	char *c = text ? strdup(text) : NULL;

	*failed |= text && !c;
	return c;
}

int da_session_new(struct da_session **out, const struct da_session_opts *o, struct da_error *err)
{
	struct da_session *s = calloc(1, sizeof(*s));
	bool failed = false;
	int rc;

	*out = NULL;
	if (!s)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	s->o = *o;
	s->output = copy_or_null(o->output, &failed);
	s->options_json = copy_or_null(o->options_json, &failed);
	s->cpu_list = copy_or_null(o->cpu_list, &failed);
	s->match_wake = -1;
	s->command_status = -1;
	s->rate_before = sysctl_rate();
	s->clock = CLOCK_MONOTONIC;
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->evt_lock, NULL);
	pthread_mutex_init(&s->match_lock, NULL);
	pthread_mutex_init(&s->switch_lock, NULL);
	pthread_mutex_init(&s->silence_lock, NULL);
	rc = failed || copy_specs(s) ? da_fail(err, DA_ENOMEM, 0, "out of memory") : 0;
	if (s->has_aux)
		s->clock = CLOCK_MONOTONIC_RAW;
	if (!rc)
		rc = choose_cpus(s, err);
	if (!rc)
		rc = resolve_ids(s, err);
	if (!rc)
		rc = make_fakes(s, err);
	if (!rc)
		rc = s_buffers_choose(s, err);
	if (!rc)
		rc = s_probes(s, err);
	*out = s; /* also on failure: its facts say what went wrong; the caller frees it */
	return rc;
}

/* ---- create: events, then what the live pipeline needs ---- */

enum da_arch s_arch(void)
{
#if defined(__x86_64__)
	return DA_ARCH_X86_64;
#elif defined(__aarch64__)
	return DA_ARCH_ARM64;
#else
	return DA_ARCH_UNKNOWN;
#endif
}

static int new_eventfd(int *fd, struct da_error *err)
{
	*fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (*fd >= 0)
		return 0;
	return da_fail(err, DA_EIO, errno, "cannot open an eventfd%s",
		       errno == EMFILE ? " (raise the limit with ulimit -n)" : "");
}

static int make_lane(struct da_session *s, struct s_lane *l, size_t first, size_t nr,
		     struct da_error *err)
{
	l->s = s;
	l->wake_fd = -1;
	pthread_mutex_init(&l->gate, NULL);
	pthread_cond_init(&l->go, NULL);
	l->cpus = calloc(nr, sizeof(*l->cpus));
	if (!l->cpus)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	for (size_t i = 0; i < nr; i++)
		l->cpus[i] = &s->cpus[first + i];
	l->nr_cpus = nr;
	l->cpu = s->o.drain == DA_DRAIN_SINGLE ? -1 : l->cpus[0]->cpu;
	if (l->cpu < 0)
		snprintf(l->name, sizeof(l->name), "single");
	else
		snprintf(l->name, sizeof(l->name), "cpu%d", l->cpu);
	l->buf = malloc(1 << 20);
	if (!l->buf)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	return new_eventfd(&l->wake_fd, err);
}

static int make_lanes(struct da_session *s, struct da_error *err)
{
	size_t nr = s->o.drain == DA_DRAIN_SINGLE ? 1 : s->nr_cpus;
	size_t each = s->o.drain == DA_DRAIN_SINGLE ? s->nr_cpus : 1;

	s->lanes = calloc(nr, sizeof(*s->lanes));
	if (!s->lanes)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	for (size_t i = 0; i < nr; i++) {
		int rc;

		s->nr_lanes = i + 1;
		rc = make_lane(s, &s->lanes[i], i * each, each, err);
		if (rc)
			return rc;
	}
	return s_buffers_make(s, err);
}

static int make_pipeline(struct da_session *s, struct da_error *err)
{
	struct da_pipeline_event *ev = calloc(s->nr_ev ? s->nr_ev : 1, sizeof(*ev));
	struct da_match_opts m = s->o.match;
	int rc;

	if (!ev)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	for (size_t i = 0; i < s->nr_ev; i++)
		ev[i] = (struct da_pipeline_event){.attr = &s->ev[i].attr,
						   .producer = s->ev[i].spec.producer,
						   .name = s->ev[i].spec.name,
						   .late = s->buf[s->ev[i].buf].o.late};
	s->tasks = da_tasks_new();
	s->code = s->tasks ? da_code_store_new(s->tasks, s_arch()) : NULL;
	s->pipe = s->code ? da_pipeline_new(ev, s->nr_ev, s_arch(), s->tasks, s->code) : NULL;
	free(ev);
	m.nr_events = s->nr_ev;
	m.virt = true;
	m.phys = s->o.phys;
	m.accumulate = false;
	m.probes = s->probes;
	if (s->o.adapt_pct > 0) {
		s->adapt = s_adapt_new(s);
		if (!s->adapt)
			return da_fail(err, DA_ENOMEM, 0, "out of memory");
	}
	if (s->clockid && !s->fake_only) {
		s->remap = s_remap_new();
		m.missed = s->remap ? s_remap_missed : NULL;
		m.missed_ctx = s;
	}
	s->match = s->pipe ? da_match_new(&m, s->tasks) : NULL;
	s->match_snap = calloc(s->nr_cpus * s->nr_ev + 1, sizeof(*s->match_snap));
	s->stored = calloc(s->nr_cpus * s->nr_ev + 1, sizeof(*s->stored));
	if (!s->match || !s->match_snap || !s->stored)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	rc = new_eventfd(&s->match_wake, err);
	if (!rc)
		rc = make_lanes(s, err);
	if (rc)
		return rc;
	da_code_store_files(s->code, true);
	da_code_store_live(s->code, s_store_code, s);
	if (s_silence_begin(s) || s_late_begin(s))
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	if (s->o.phys && !s->fake_only) {
		s->paddr = s_paddr_new(s);
		if (!s->paddr)
			return da_fail(err, DA_ENOMEM, 0, "out of memory");
		da_pipeline_paddr(s->pipe, s_paddr_lookup, s->paddr);
	}
	for (size_t i = 0; i < s->nr_lanes; i++) {
		struct s_lane *l = &s->lanes[i];

		l->lane = da_lane_new(s->pipe, s_emit, l);
		if (l->lane)
			da_lane_late(l->lane, s_emit_late);
		for (size_t c = 0; l->lane && c < l->nr_cpus; c++) {
			for (size_t e = 0; e < s->nr_ev; e++) {
				struct s_pair *p = &l->cpus[c]->pairs[e];

				/* made now, so that other threads may read it while it grows */
				p->lane = da_lane_ledger(l->lane, (uint32_t)e,
							 (uint32_t)l->cpus[c]->cpu);
				if (!p->lane)
					return da_fail(err, DA_ENOMEM, 0, "out of memory");
			}
		}
		if (!l->lane)
			return da_fail(err, DA_ENOMEM, 0, "out of memory");
	}
	return 0;
}

/* Can records carry a clock that user space reads too? Every kernel since 4.1 can. */
static bool probe_clockid(clockid_t clock)
{
	struct da_attr a = {.type = DA_TYPE_SOFTWARE,
			    .config = DA_SW_DUMMY,
			    .size = 128,
			    .clockid = clock,
			    .flags = DA_ATTR_DISABLED | DA_ATTR_USE_CLOCKID |
				     DA_ATTR_EXCLUDE_KERNEL | DA_ATTR_EXCLUDE_HV};
	pid_t self = 0;
	struct evt *e = evt_new(0, &self, 1);
	int rc = e ? evt_open(e, &a, NULL) : -ENOMEM;

	evt_free(e);
	return rc != -EINVAL;
}

int da_session_create(struct da_session *s, struct da_error *err)
{
	int rc;

	s->clockid = probe_clockid(s->clock);
	rc = s_attrs(s, err);
	if (!rc)
		rc = s_open_all(s, err);
	if (rc)
		return rc;
	rc = make_pipeline(s, err);
	if (rc)
		return rc;
	s->created = true;
	s_say(s, S_STEP_CREATED);
	return 0;
}

int da_session_bind(struct da_session *s, struct da_error *err)
{
	int rc = s_bind_all(s, err);

	if (!rc)
		rc = s_aux_store_info(s, err);
	if (!rc)
		rc = s_store_info(s);
	if (!rc)
		rc = s_store_tracing(s, err);
	if (!rc)
		s_say(s, S_STEP_BOUND);
	return rc ? rc : failure(s, err);
}

/* ---- run ---- */

static int start_thread(pthread_t *t, void *(*fn)(void *), void *arg)
{
	sigset_t all, old;
	int rc;

	/* signals are the owner's business */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(t, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

int da_session_enable(struct da_session *s, struct da_error *err)
{
	int rc;

	s->start_ns = s_now_ns(s);
	atomic_store(&s->last_round_ns, s->start_ns);
	atomic_store(&s->epoch, 1);
	s_enable_sideband(s);
	/* after the sideband events are on: what is mapped between the two is seen by one of them */
	rc = s_synthesize(s, err);
	if (rc)
		return rc;
	s->running = true;
	rc = start_thread(&s->match_thread, s_match_main, s);
	s->match_started = !rc;
	for (size_t i = 0; !rc && i < s->nr_lanes; i++) {
		rc = start_thread(&s->lanes[i].thread, s_drain_main, &s->lanes[i]);
		s->lanes[i].started = !rc;
	}
	if (rc)
		return da_fail(err, DA_EIO, rc, "cannot start a thread");
	rc = s->o.delay_ms ? 0 : s_enable_events(s, err);
	if (!rc)
		s_say(s, S_STEP_ENABLED);
	return rc;
}

int da_session_enable_delayed(struct da_session *s, struct da_error *err)
{
	return s_enable_events(s, err);
}

/* enable_on_exec fires in the kernel: a first sample proves it before the read at the end does. */
static void confirm_enabled(struct da_session *s)
{
	for (size_t c = 0; c < s->nr_cpus; c++) {
		for (size_t e = 0; e < s->nr_ev; e++) {
			struct s_pair *p = &s->cpus[c].pairs[e];

			if (p->enabled || !p->bound || !p->lane ||
			    !__atomic_load_n(&p->lane->in[DA_STAGE_SAMPLE], __ATOMIC_RELAXED))
				continue;
			p->life.in[DA_STAGE_ENABLE]++;
			p->life.out[DA_STAGE_ENABLE]++;
			p->enabled = true;
			s->ev[e].enabled++;
		}
	}
}

static bool targets_alive(const struct da_session *s)
{
	if (s->o.target != DA_TARGET_PID && s->o.target != DA_TARGET_TID)
		return true; /* a command is its owner's child, the system does not end */
	for (size_t i = 0; i < s->o.nr_ids; i++)
		if (!kill(s->o.ids[i], 0) || errno != ESRCH)
			return true;
	return false;
}

int da_session_tick(struct da_session *s, struct da_error *err)
{
	int rc = failure(s, err);

	if (rc)
		return rc;
	s_hotplug_tick(s);
	confirm_enabled(s);
	s_silence_count(s);
	s_say(s, S_STEP_RUNNING);
	rc = s_store_ledgers(s);
	if (!rc && s->w)
		rc = da_writer_sync(s->w, err);
	return rc ? rc : targets_alive(s);
}

/* ---- stop ---- */

static void join_all(struct da_session *s)
{
	atomic_store(&s->stop_drain, true);
	for (size_t i = 0; i < s->nr_lanes; i++)
		if (s->lanes[i].started)
			s_lane_wake(&s->lanes[i]);
	for (size_t i = 0; i < s->nr_lanes; i++)
		if (s->lanes[i].started)
			pthread_join(s->lanes[i].thread, NULL);
	atomic_store(&s->stop_match, true);
	if (s->match_started) {
		(void)!write(s->match_wake, &(uint64_t){1}, 8);
		pthread_join(s->match_thread, NULL);
	}
	for (size_t i = 0; i < s->nr_lanes; i++)
		s->lanes[i].started = false;
	s->match_started = false;
	s->joined = true;
}

int da_session_stop(struct da_session *s, const char *reason, int command_status,
		    struct da_error *err)
{
	int rc;

	if (s->stopped)
		return 0;
	s->stopped = true;
	confirm_enabled(s);
	s_say(s, S_STEP_RUNNING);
	if (s->created)
		s_disable_all(s);
	s_say(s, S_STEP_DISABLED);
	s->stop_ns = s_now_ns(s);
	join_all(s);
	s_say(s, S_STEP_DRAINED);
	snprintf(s->end_reason, sizeof(s->end_reason), "%s", reason);
	s->command_status = command_status;
	s_release_all(s); /* before the end is stored, so that the stored facts are what happened */
	s_say(s, S_STEP_RELEASED);
	rc = failure(s, err);
	if (s->w) {
		if (!rc)
			rc = s_store_end(s, s->end_reason, s->command_status);
		if (!rc)
			rc = s_store_span(s, err);
		if (!rc) {
			rc = da_writer_close(s->w, err);
		} else {
			if (err && !err->code)
				failure(s, err);
			da_writer_abort(s->w);
		}
		s->w = NULL;
	}
	return rc;
}

void da_session_free(struct da_session *s)
{
	if (!s)
		return;
	if (!s->stopped) {
		if (s->running)
			s_disable_all(s);
		join_all(s);
		da_writer_abort(s->w);
		s_release_all(s);
	}
	for (size_t i = 0; i < s->nr_lanes; i++) {
		struct s_lane *l = &s->lanes[i];

		s_lane_free_blocks(l);
		da_lane_free(l->lane);
		free(l->buf);
		free(l->cpus);
		if (l->wake_fd >= 0)
			close(l->wake_fd);
		pthread_mutex_destroy(&l->gate);
		pthread_cond_destroy(&l->go);
	}
	s_buffers_free(s);
	s_silence_free(s);
	free(s->lanes);
	da_lane_free(s->late_lane);
	da_match_free(s->match);
	s_remap_free(s->remap);
	s_adapt_free(s->adapt);
	da_probes_free(s->probes);
	s_paddr_free(s->paddr);
	da_pipeline_free(s->pipe);
	da_code_store_free(s->code);
	da_tasks_free(s->tasks);
	for (size_t i = 0; i < s->nr_ev; i++)
		da_fake_free(s->ev[i].fake);
	for (size_t c = 0; c < s->nr_cpus; c++) {
		for (size_t i = 0; i < s->nr_ev && s->cpus[c].pairs; i++)
			s_aux_free(s->cpus[c].pairs[i].aux);
		free(s->cpus[c].pairs);
		free(s->cpus[c].sw);
		free(s->cpus[c].hot.renames);
	}
	if (s->match_wake >= 0)
		close(s->match_wake);
	free(s->match_snap);
	free(s->stored);
	free(s->id_map);
	free(s->cpus);
	free(s->ev);
	free(s->ids);
	free(s->output);
	free(s->options_json);
	free(s->cpu_list);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->evt_lock);
	pthread_mutex_destroy(&s->match_lock);
	pthread_mutex_destroy(&s->switch_lock);
	pthread_mutex_destroy(&s->silence_lock);
	free(s);
}
