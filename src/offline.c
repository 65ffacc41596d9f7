/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The offline decode (da_offline.h): reads a recording in time order, lets the task timeline learn, and
 * sends each sample through the pipeline to match and update. Filters stand before the sample layer.
 *
 * Not here: decoding (pipeline.c, offline_aux.c), regions (match.c), showing anything (render_*.c).
 */
#include "da_offline.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "offline_priv.h"

void offline_damage(struct da_offline *o, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	o->res.damaged = true;
	if (o->nr_message == MAX_MESSAGES) {
		o->suppressed++;
		return;
	}
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n >= 0)
		o->message[o->nr_message++] = text;
}

/* ---- opening ---- */

static bool is_number(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s);
}

/* An event is named by its number, its name, or its name without modifiers. */
static bool names_event(const char *want, const struct da_offline_event *e, size_t index)
{
	const char *slash = strrchr(e->name, '/'), *colon = strrchr(slash ? slash : e->name, ':');
	size_t plain = colon && !strchr("0123456789", colon[1]) && strlen(colon + 1) <= 4
			       ? (size_t)(colon - e->name)
			       : strlen(e->name);

	if (is_number(want))
		return strtoull(want, NULL, 10) == index;
	return !strcmp(want, e->name) || (strlen(want) == plain && !strncmp(want, e->name, plain));
}

static int choose_events(struct da_offline *o, struct da_error *err)
{
	const struct da_offline_opts *opts = o->opts;
	char list[320] = "";
	size_t i, k, used = 0;

	for (i = 0; i < o->res.nr_events; i++)
		o->res.events[i].wanted = !opts->nr_events;
	for (k = 0; k < opts->nr_events; k++) {
		bool found = false;

		for (i = 0; i < o->res.nr_events; i++) {
			if (names_event(opts->events[k], &o->res.events[i], i))
				o->res.events[i].wanted = found = true;
		}
		if (found)
			continue;
		for (i = 0; i < o->res.nr_events && used + 1 < sizeof(list); i++) {
			int n = snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 o->res.events[i].name);

			used += n > 0 ? (size_t)n : 0;
		}
		return da_fail(err, DA_EUSAGE, 0, "no event '%s' in '%s'; it has %s",
			       opts->events[k], o->res.file->path, *list ? list : "none");
	}
	return 0;
}

/* Where our own recording says more about its events than their attrs do. */
static void describe_events(struct da_offline *o)
{
	size_t i;

	for (i = 0; i < o->res.nr_events; i++) {
		const struct da_event *ev = da_reader_event(o->reader, i);
		struct da_offline_event *e = &o->res.events[i];

		e->attr = &ev->attr;
		e->name = ev->name;
		e->producer = da_producer_of(&ev->attr, ev->name,
					     da_reader_pmu_name(o->reader, ev->attr.type));
		e->unit = da_event_unit(&ev->attr);
		e->period = ev->attr.flags & DA_ATTR_FREQ ? 0 : ev->attr.sample_period;
		e->first_ns = UINT64_MAX;
		e->effective = 1;
		e->sideband = o->res.own_file && i >= o->res.info.nr_events;
		if (i < o->res.info.nr_events && !strcmp(o->res.info.events[i].name, ev->name)) {
			e->producer = o->res.info.events[i].producer;
			e->period = o->res.info.events[i].period;
		}
		if (o->opts->raw)
			e->producer = raw_producer(o->opts->raw);
	}
}

static int take_own(void *ctx, const struct da_rec *rec)
{
	own_record(ctx, rec);
	return 0;
}

#define PROBE_BYTES (1u << 20)

/* The beginning of a recording, to see whose it is. */
struct probe {
	uint64_t first; /* offset of the first record */
	bool any, own;
};

static int probe_record(void *ctx, const struct da_rec *rec)
{
	struct probe *p = ctx;
	enum da_own_kind kind;
	const uint8_t *payload;
	uint16_t version;
	size_t len;

	if (!p->any)
		p->first = rec->offset;
	p->any = true;
	p->own = rec->type == DA_REC_HEADER_EVENT_TYPE &&
		 da_own_parse(rec, &kind, &version, &payload, &len) != -DA_EFORMAT;
	return p->own || rec->offset - p->first + rec->payload_offset > PROBE_BYTES;
}

/* Our own records explain the samples, so they are read first. A recording of ours begins with one; that of
 * somebody else is not read twice. */
static int scan_own(struct da_offline *o, struct da_error *err)
{
	struct da_error e = {0};
	struct probe p = {0};
	int rc = da_reader_scan(o->reader, 0, probe_record, &p, &e);

	o->own_inline = !p.own;
	if (rc >= 0 && p.own)
		rc = da_reader_scan(o->reader, DA_REC_HEADER_EVENT_TYPE, take_own, o, &e);
	if (rc < 0)
		return da_fail(err, e.code ? e.code : -rc, 0, "%s",
			       e.code ? e.msg : da_err_name(rc));
	if (p.own)
		own_end(o);
	return 0;
}

/* Instruction bytes may come from files of this machine only if the recording was made here. */
static bool recorded_here(const struct da_offline *o)
{
	const char *host = o->res.file->hostname ? o->res.file->hostname : o->res.info.host;
	struct utsname u;

	return *host && !uname(&u) && !strcmp(u.nodename, host);
}

/* Not code that changed after the recording was written: its addresses would be another program's. */
static void allow_code_files(struct da_offline *o)
{
	struct stat st;

	if (recorded_here(o) && o->res.file->mode == DA_FILE_NORMAL &&
	    !stat(o->res.file->path, &st))
		da_code_store_files_as_of(o->code, st.st_mtime);
	else
		da_code_store_files(o->code, recorded_here(o));
}

/* A killed recording has no features: what they would say is in our first record too. */
static enum da_arch recorded_arch(const struct da_offline *o)
{
	enum da_arch arch = da_reader_arch(o->reader);

	return arch == DA_ARCH_UNKNOWN ? o->res.info.arch : arch;
}

/* ---- reports ---- */

static void emit(void *ctx, const struct da_report *r, struct da_ledger *l)
{
	struct da_offline *o = ctx;

	/* no buffer stands between here and the match layer: every report passes the ring */
	da_tally(&l->in[DA_STAGE_RING], 1);
	da_tally(&l->out[DA_STAGE_RING], 1);
	o->emitted++;
	if (o->weight) {
		struct step_weight *w = &o->weight[r->event];

		w->sum += (double)r->period;
		w->squares += (double)r->period * (double)r->period;
		w->nr++;
	}
	da_match_report(o->match, r);
	if (o->opts->report && !o->enough && !o->opts->report(o->opts->ctx, o, r))
		o->enough = true;
}

static bool has_phys(const struct da_offline_event *e)
{
	/* a PMU without a name may turn out to be SPE */
	return (e->attr->sample_type & DA_SAMPLE_PHYS_ADDR) || e->attr->type > DA_TYPE_BREAKPOINT;
}

static int new_pipeline(struct da_offline *o)
{
	struct da_match_opts mo = o->opts->match;
	struct da_pipeline_event *ev = calloc(o->res.nr_events + 1, sizeof(*ev));
	enum da_arch arch = recorded_arch(o);
	size_t i;

	if (!ev)
		return -DA_ENOMEM;
	for (i = 0; i < o->res.nr_events; i++)
		ev[i] = (struct da_pipeline_event){.attr = o->res.events[i].attr,
						   .producer = o->res.events[i].producer,
						   .name = o->res.events[i].name};
	for (i = 0; i < o->res.nr_events; i++)
		mo.phys |= has_phys(&o->res.events[i]);
	mo.nr_events = o->res.nr_events;
	mo.probes = o->res.probes;
	mo.pids = NULL; /* the filter stands before the sample layer */
	mo.nr_pids = 0;
	o->pipeline = da_pipeline_new(ev, o->res.nr_events, arch, o->tasks, o->code);
	free(ev);
	mo.phys |= o->paddr.nr > 0;
	if (o->res.nr_steps) {
		o->weight = calloc(o->res.nr_events + 1, sizeof(*o->weight));
		if (!o->weight)
			return -DA_ENOMEM;
		if (o->pipeline)
			da_pipeline_period(o->pipeline, step_period, o);
	}
	if (o->pipeline && o->paddr.nr)
		da_pipeline_paddr(o->pipeline, paddr_lookup, o);
	if (o->pipeline)
		da_pipeline_cpu(o->pipeline, o->res.file->cpuid);
	o->lane = o->pipeline ? da_lane_new(o->pipeline, emit, o) : NULL;
	o->match_opts = mo;
	o->match = da_match_new(&mo, o->tasks);
	return o->lane && o->match ? 0 : -DA_ENOMEM;
}

int da_offline_open(struct da_offline **out, const char *path, const struct da_offline_opts *opts,
		    struct da_error *err)
{
	struct da_offline *o = calloc(1, sizeof(*o));
	uint64_t seed = (uintptr_t)o;
	int rc;

	*out = NULL;
	if (!o)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	o->opts = opts;
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed = (uintptr_t)o;
	idmap_init(&o->recorded_at, seed);
	idmap_init(&o->ring_at, seed);
	idmap_init(&o->cell_at, seed);
	o->res.lost = (struct da_offline_lost){
		.counter = -1, .pending = -1, .aux_off_ns = -1, .resync_bytes = -1};
	o->res.first_ns = UINT64_MAX;
	o->res.complete = true;
	o->res.regions = opts->match.regions;
	rc = opts->raw ? raw_open(o, path, err) : da_reader_open(&o->reader, path, err);
	if (rc < 0)
		goto fail;
	o->res.file = da_reader_info(o->reader);
	o->res.nr_events = da_reader_nr_events(o->reader);
	o->res.events = calloc(o->res.nr_events + 1, sizeof(*o->res.events));
	o->tasks = da_tasks_new();
	o->code = o->tasks ? da_code_store_new(o->tasks, da_reader_arch(o->reader)) : NULL;
	rc = -DA_ENOMEM;
	if (!o->res.events || !o->code)
		goto fail;
	rc = opts->raw ? 0 : scan_own(o, err);
	if (rc < 0)
		goto fail;
	da_code_store_arch(o->code, recorded_arch(o));
	allow_code_files(o);
	describe_events(o);
	rc = choose_events(o, err);
	if (rc < 0)
		goto fail;
	rc = hybrid_find(o);
	if (rc < 0)
		goto fail;
	rc = probes_choose(o, err);
	if (rc < 0)
		goto fail;
	rc = new_pipeline(o);
	if (rc < 0)
		goto fail;
	o->start_ns = opts->start_ns;
	o->stop_ns = opts->stop_ns ? opts->stop_ns : UINT64_MAX;
	*out = o;
	return 0;
fail:
	da_offline_close(o);
	return da_fail(err, -rc, 0, "%s", da_err_name(rc)); /* keeps the first message */
}

/* ---- filters ---- */

static bool pid_passes(const struct da_offline *o, const struct da_rec *rec)
{
	const struct da_offline_opts *f = o->opts;
	size_t i;

	if (!f->nr_pids)
		return true;
	for (i = 0; i < f->nr_pids && rec->has & DA_SAMPLE_TID; i++)
		if (f->pids[i] == rec->pid)
			return true;
	return false;
}

static bool comm_passes(const struct da_offline *o, const struct da_rec *rec)
{
	const struct da_offline_opts *f = o->opts;
	const char *comm;
	size_t i;

	if (!f->nr_comms)
		return true;
	if (!(rec->has & DA_SAMPLE_TID))
		return false;
	comm = da_tasks_comm_of(o->tasks, rec->pid, rec->tid,
				rec->has & DA_SAMPLE_TIME ? rec->time_ns : UINT64_MAX);
	for (i = 0; i < f->nr_comms; i++)
		if (!strcmp(f->comms[i], comm))
			return true;
	return false;
}

void offline_first_time(struct da_offline *o, uint64_t time_ns)
{
	o->have_first = true;
	if (o->opts->start_relative && __builtin_add_overflow(o->start_ns, time_ns, &o->start_ns))
		o->start_ns = UINT64_MAX;
	if (o->opts->stop_relative && o->opts->stop_ns &&
	    __builtin_add_overflow(o->stop_ns, time_ns, &o->stop_ns))
		o->stop_ns = UINT64_MAX;
}

static bool time_passes(struct da_offline *o, const struct da_rec *rec)
{
	if (!(rec->has & DA_SAMPLE_TIME))
		return !o->opts->start_ns && !o->opts->stop_ns;
	if (!o->have_first)
		offline_first_time(o, rec->time_ns);
	return rec->time_ns >= o->start_ns &&
	       (rec->time_ns < o->stop_ns || o->stop_ns == UINT64_MAX);
}

/* ---- running ---- */

static void take_sample(struct da_offline *o, const struct da_rec *rec)
{
	struct da_offline_event *e;
	uint32_t event;
	bool in_time;

	if (!rec->event)
		return; /* the reader counts unknown ids */
	event = hybrid_event(o, rec->event->index);
	e = &o->res.events[event];
	in_time = time_passes(o, rec); /* also learns the first time */
	if (!e->wanted || !in_time || !pid_passes(o, rec) || !comm_passes(o, rec)) {
		e->filtered++;
		o->res.filtered++;
		return;
	}
	o->res.samples++;
	if (rec->has & DA_SAMPLE_TIME) {
		e->first_ns = rec->time_ns < e->first_ns ? rec->time_ns : e->first_ns;
		e->last_ns = rec->time_ns > e->last_ns ? rec->time_ns : e->last_ns;
	}
	damon_sample(o, rec);
	o->emitted = 0;
	da_lane_sample(o->lane, event, rec);
	if (!o->emitted && (rec->has & DA_SAMPLE_TIME) && (rec->has & DA_SAMPLE_TID))
		da_match_observe(o->match, event, rec->pid, rec->time_ns);
}

void offline_take(struct da_offline *o, const struct da_rec *rec)
{
	if (rec->has & DA_SAMPLE_TIME)
		maps_until(o, rec->time_ns);
	switch (rec->type) {
	case DA_REC_SAMPLE:
		loss_seen(o, rec);
		take_sample(o, rec);
		return;
	case DA_REC_MMAP:
	case DA_REC_MMAP2:
	case DA_REC_COMM:
	case DA_REC_FORK:
	case DA_REC_EXIT:
		if (da_tasks_record(o->tasks, rec) == -DA_ENOMEM)
			o->no_memory = true;
		break;
	case DA_REC_LOST:
	case DA_REC_LOST_SAMPLES:
	case DA_REC_THROTTLE:
	case DA_REC_UNTHROTTLE:
		loss_record(o, rec);
		damon_lost(o, rec);
		break;
	case DA_REC_AUX:
		loss_record(o, rec);
		aux_record(o, rec);
		break;
	case DA_REC_AUXTRACE:
	case DA_REC_AUXTRACE_INFO:
	case DA_REC_TIME_CONV:
		aux_record(o, rec);
		return;
	case DA_REC_SWITCH_CPU_WIDE:
		aux_record(o, rec);
		break;
	case DA_REC_HEADER_EVENT_TYPE:
		if (o->own_inline)
			own_record(o, rec);
		return;
	default:
		break;
	}
	if (rec->type < DA_REC_HEADER_ATTR)
		loss_seen(o, rec);
}

/* The reader's messages and ours, as one list. */
static int gather_messages(struct da_offline *o)
{
	const struct da_file_info *f = o->res.file;
	size_t i, n = 0;

	if (o->suppressed && o->nr_message == MAX_MESSAGES) {
		free(o->message[MAX_MESSAGES - 1]);
		if (asprintf(&o->message[MAX_MESSAGES - 1],
			     "%zu more of our own records could not be read",
			     o->suppressed + 1) < 0)
			o->message[MAX_MESSAGES - 1] = NULL;
	}
	o->messages = calloc(f->nr_messages + o->nr_message + 1, sizeof(*o->messages));
	if (!o->messages)
		return -DA_ENOMEM;
	for (i = 0; i < f->nr_messages; i++)
		o->messages[n++] = f->messages[i];
	for (i = 0; i < o->nr_message; i++)
		if (o->message[i])
			o->messages[n++] = o->message[i];
	o->res.messages = o->messages;
	o->res.nr_messages = n;
	o->res.damaged |= f->damaged;
	return 0;
}

static int run_in_order(struct da_offline *o, struct da_error *err)
{
	struct da_rec rec;
	int rc = 0;

	while (!o->enough && (rc = da_reader_next(o->reader, &rec, err)) > 0)
		offline_take(o, &rec);
	return rc < 0 ? rc : 0;
}

int da_offline_run(struct da_offline *o, struct da_error *err)
{
	struct da_decode_stats stats;
	size_t i;
	int rc;

	da_reader_leave_payloads(o->reader);
	rc = samples_in_shards(o) ? samples_run(o, err) : run_in_order(o, err);
	if (rc)
		return rc;
	if (o->own_inline)
		own_end(o);
	da_lane_decode_stats(o->lane, &stats); /* of raw samples: traces have lanes of their own */
	if (stats.contradictions)
		offline_damage(
			o,
			"%llu IBS samples: the registers and perf's own fields say different things",
			(unsigned long long)stats.contradictions);
	maps_until(o, UINT64_MAX);
	rc = aux_decode(o, err);
	if (rc)
		return da_fail(err, -rc, 0, "%s", da_err_name(rc)); /* keeps the first message */
	o->res.complete = !o->enough;
	loss_end(o);
	damon_end(o);
	for (i = 0; i < o->res.nr_events; i++) {
		struct da_offline_event *e = &o->res.events[i];
		const struct step_weight *w = o->weight ? &o->weight[i] : NULL;

		if (w && w->nr && w->squares > 0) /* Kish: samples of unequal weight say less */
			e->effective = w->sum * w->sum / (w->squares * (double)w->nr);
		o->res.first_ns = e->first_ns < o->res.first_ns ? e->first_ns : o->res.first_ns;
		o->res.last_ns = e->last_ns > o->res.last_ns ? e->last_ns : o->res.last_ns;
	}
	if (o->res.damon)
		da_match_kernel(o->match, o->res.damon);
	rc = da_match_finish(o->match);
	rc = rc ? rc : sum_up(o);
	rc = rc ? rc : gather_messages(o);
	if (!rc && o->no_memory)
		rc = -DA_ENOMEM;
	if (rc)
		return da_fail(err, -rc, 0, "%s", da_err_name(rc));
	o->res.match = o->match;
	return 0;
}

const struct da_offline_result *da_offline_result(const struct da_offline *o)
{
	return &o->res;
}

struct da_tasks *da_offline_tasks(const struct da_offline *o)
{
	return o->tasks;
}

const struct da_offline_event *da_offline_event(const struct da_offline *o, uint32_t event)
{
	return event < o->res.nr_events ? &o->res.events[event] : NULL;
}

void da_offline_close(struct da_offline *o)
{
	size_t i;

	if (!o)
		return;
	hybrid_release(o);
	aux_release(o);
	damon_release(o);
	da_lane_free(o->lane);
	da_pipeline_free(o->pipeline);
	da_match_free(o->match);
	da_probes_free(o->probes);
	da_code_store_free(o->code);
	da_tasks_free(o->tasks);
	da_reader_close(o->reader);
	own_release(o);
	idmap_release(&o->ring_at);
	idmap_release(&o->cell_at);
	for (i = 0; i < o->nr_message; i++)
		free(o->message[i]);
	free(o->messages);
	free(o->ring);
	free(o->res.events);
	free(o->res.cells);
	free(o->res.gaps);
	free(o);
}
