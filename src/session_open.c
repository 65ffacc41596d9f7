/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The create, bind and enable layers: opens every event on every CPU, maps the rings while the events are
 * disabled, enables them, and releases in reverse. Every refusal keeps its errno, event and CPU.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session_aux.h"

#define SIDE_PAGES 32 /* data pages of the sideband ring: about 1,300 mappings between two drains */

#define MAX_RETRIES 8 /* of an open that lost a thread of its target */

static void note_error(struct s_event *e, uint32_t cpu, int sys, const char *what)
{
	struct da_facts_open_error *x;

	if (e->nr_errors == S_MAX_ERRORS)
		return;
	x = &e->errors[e->nr_errors++];
	x->cpu = cpu;
	x->sys = sys;
	snprintf(x->what, sizeof(x->what), "%s", what);
}

static int try_open(const struct da_session *s, const struct s_event *e, struct evt *evt,
		    const struct da_attr *a)
{
	struct da_attr other = *a, leader = e->leader, *led = e->spec.has_leader ? &leader : NULL;
	int sys = s->o.open ? s->o.open(s->o.open_ctx, &other, led, evt_cpu(evt)) : 0;

	if (sys)
		return -sys;
	return e->spec.system ? evt_open_all(evt, &other) : evt_open(evt, &other, led);
}

/* Optional bits are tried away one at a time, then all together; what helps stays away for all CPUs,
 * because a file has one attr per event. */
static int open_without(struct da_session *s, struct s_event *e, struct evt *evt, int refused)
{
	struct da_attr none = e->attr;
	const char *name;
	int rc;

	for (unsigned n = 0; n < s_attr_nr_optional(); n++) {
		struct da_attr less = e->attr;

		if (!s_attr_drop(&less, n, &name))
			continue;
		s_attr_drop(&none, n, &name);
		rc = try_open(s, e, evt, &less);
		if (rc >= 0) {
			e->attr = less;
			snprintf(e->dropped, sizeof(e->dropped), "%s", name);
			s_message(s, 1, "%s: the kernel refused '%s' (%s); recording without it",
				  e->spec.name, name, strerror(refused));
			return rc;
		}
	}
	rc = try_open(s, e, evt, &none);
	if (rc < 0)
		return -refused;
	for (unsigned n = 0; n < s_attr_nr_optional(); n++) {
		size_t at = strlen(e->dropped);

		if (s_attr_drop(&e->attr, n, &name))
			snprintf(e->dropped + at, sizeof(e->dropped) - at, "%s%s", at ? "," : "",
				 name);
	}
	s_message(s, 1, "%s: the kernel refused optional bits (%s); recording without %s",
		  e->spec.name, strerror(refused), e->dropped);
	return rc;
}

static bool may_be_optional(int sys)
{
	return sys == EINVAL || sys == EOPNOTSUPP || sys == E2BIG || sys == EACCES;
}

static int open_one(struct da_session *s, struct s_event *e, struct evt *evt)
{
	struct da_attr asked = e->attr;
	int rc = try_open(s, e, evt, &e->attr);

	if (rc >= 0 || !may_be_optional(-rc))
		return rc;
	/* Without a modifier an event asks for user space and kernel. Who may not see the kernel gets user
	 * space, as from perf, and is told so; the refusal itself shows that he may not. */
	if (rc == -EACCES && !e->spec.has_modifier && !s->o.all_kernel &&
	    !(e->attr.flags & (DA_ATTR_EXCLUDE_KERNEL | DA_ATTR_EXCLUDE_USER))) {
		e->attr.flags |= DA_ATTR_EXCLUDE_KERNEL | DA_ATTR_EXCLUDE_HV;
		e->attr.config |= e->spec.exclude_config;
		e->leader.flags |= DA_ATTR_EXCLUDE_KERNEL | DA_ATTR_EXCLUDE_HV;
		rc = try_open(s, e, evt, &e->attr);
		e->no_exclude = rc == -EINVAL && e->spec.producer == DA_PROD_IBS_OP;
	}
	if (rc < 0)
		rc = open_without(s, e, evt, -rc);
	if (rc < 0)
		e->attr = asked;
	else if (e->attr.flags != asked.flags)
		s_message(s, 1,
			  "%s: user space only: the kernel's part needs CAP_PERFMON or "
			  "kernel.perf_event_paranoid <= 1",
			  e->spec.name);
	return rc;
}

static void open_failed(struct s_event *e, struct s_pair *p, const struct s_cpu *c, int sys)
{
	/* one that came back may be gone again by now */
	bool offline = !c->online || (c->hot.went && sys == ENODEV);
	enum da_drop d = offline ? DA_DROP_CREATE_CPU_OFFLINE : da_drop_of_open_errno(sys);

	p->life.drop[d]++;
	note_error(e, (uint32_t)c->cpu, sys, "perf_event_open");
}

int s_open_cpu(struct da_session *s, struct s_cpu *c)
{
	pid_t all = -1;
	size_t nr_tids = s->o.target == DA_TARGET_SYSTEM ? 1 : s->nr_ids;
	int side = -ENODEV;

	c->sideband = -1;
	if (c->online) {
		c->evt = evt_new(c->cpu, s->o.target == DA_TARGET_SYSTEM ? &all : s->ids, nr_tids);
		if (!c->evt)
			return -DA_ENOMEM;
		side = s->fake_only ? -ENODEV : evt_open(c->evt, &s->sideband, NULL);
		if (side >= 0) {
			c->sideband = side;
			evt_ids(c->evt, side, &c->sideband_id, 1);
		}
	}
	for (size_t i = 0; i < s->nr_ev; i++) {
		struct s_event *e = &s->ev[i];
		struct s_pair *p = &c->pairs[i];
		int rc;

		p->elsewhere = !s_cpu_in(e->spec.cpus, c->cpu);
		if (p->elsewhere)
			continue;
		e->asked++;
		p->life.in[DA_STAGE_CREATE]++;
		if (!c->online) {
			rc = -ENODEV;
		} else if (e->fake) {
			rc = da_fake_fails(e->fake, DA_FAKE_FAIL_CREATE) ? -ENOENT : 0;
			p->id = 0xfa4e0000u + (uint64_t)c->cpu * s->nr_ev + i;
		} else {
			rc = open_one(s, e, c->evt);
			if (rc >= 0)
				evt_ids(c->evt, rc, &p->id, 1);
			if (rc >= 0 && e->aux)
				evt_aux(c->evt, rc);
		}
		if (rc < 0) {
			open_failed(e, p, c, -rc);
			continue;
		}
		p->idx = rc;
		p->life.out[DA_STAGE_CREATE]++;
		e->opened++;
		s->opened_any = true;
	}
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct id_entry *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static size_t ids_of(const struct s_cpu *c, const struct s_pair *p, bool fake, uint64_t *ids,
		     size_t max)
{
	if (p->idx < 0)
		return 0;
	if (!fake)
		return evt_ids(c->evt, p->idx, ids, max);
	if (max)
		ids[0] = p->id;
	return 1;
}

/* Gives the kernel's ids to the file and to s_event_of_id(). */
static int collect_ids(struct da_session *s, struct da_writer_event *ev, uint64_t *ids,
		       size_t nr_all)
{
	size_t at = 0;

	s->id_map = calloc(nr_all ? nr_all : 1, sizeof(*s->id_map));
	if (!s->id_map)
		return -DA_ENOMEM;
	for (size_t i = 0; i <= s->nr_ev; i++) {
		size_t first = at;

		for (size_t c = 0; c < s->nr_cpus; c++) {
			struct s_cpu *cpu = &s->cpus[c];

			if (i < s->nr_ev)
				at += ids_of(cpu, &cpu->pairs[i], s->ev[i].fake, ids + at,
					     nr_all - at);
			else if (cpu->sideband >= 0)
				at += evt_ids(cpu->evt, cpu->sideband, ids + at, nr_all - at);
		}
		ev[i].attr = i < s->nr_ev ? s->ev[i].attr : s->sideband;
		ev[i].name = i < s->nr_ev ? s->ev[i].spec.name : "dummy:u";
		ev[i].ids = ids + first;
		ev[i].nr_ids = at - first;
		for (size_t k = first; i < s->nr_ev && k < at; k++)
			s->id_map[s->nr_ids_mapped++] =
				(struct id_entry){.id = ids[k], .event = (uint32_t)i};
	}
	qsort(s->id_map, s->nr_ids_mapped, sizeof(*s->id_map), by_id);
	return 0;
}

static int open_file(struct da_session *s, struct da_error *err)
{
	size_t per_cpu = (s->nr_ev + 1) * (s->o.target == DA_TARGET_SYSTEM ? 1 : s->nr_ids);
	size_t nr_all = s->nr_cpus * (per_cpu > s->nr_ev + 1 ? per_cpu : s->nr_ev + 1);
	struct da_writer_event *ev = calloc(s->nr_ev + 1, sizeof(*ev));
	uint64_t *ids = calloc(nr_all, sizeof(*ids));
	int rc = ev && ids ? collect_ids(s, ev, ids, nr_all) : -DA_ENOMEM;

	if (rc)
		da_fail(err, DA_ENOMEM, 0, "out of memory");
	if (!rc && s->output)
		rc = da_writer_open(&s->w, s->output, ev, s->nr_ev + 1, err);
	if (!rc && s->w)
		rc = s_store_features(s, err);
	free(ev);
	free(ids);
	return rc;
}

static const char *target_word(const struct da_session *s)
{
	return s->o.target == DA_TARGET_SYSTEM ? "system-wide (-a)" : "of this target";
}

/* One message for an event that opened nowhere: what failed, why, and the way out. */
static int refused(const struct da_session *s, const struct s_event *e, struct da_error *err)
{
	const struct da_facts_open_error *x = &e->errors[0];
	unsigned precise =
		(unsigned)((e->attr.flags & DA_ATTR_PRECISE_MASK) >> DA_ATTR_PRECISE_SHIFT);
	int sys = e->nr_errors ? x->sys : 0;

	if (!e->asked)
		return da_fail(
			err, DA_ENOENT, 0,
			"cannot open event '%s': its PMU is on CPUs %s, and none of these was asked for",
			e->spec.name, e->spec.cpus);
	if (e->no_exclude)
		return da_fail(err, DA_EPERM, 0, "cannot open event '%s': " DA_IBS_NO_EXCLUDE,
			       e->spec.name);
	if (precise && (sys == EOPNOTSUPP || sys == EINVAL))
		return da_fail(
			err, DA_EUNSUPPORTED, sys,
			"cannot open event '%s': its PMU refuses precise level %u; P takes the "
			"highest that it knows",
			e->spec.name, precise);
	switch (sys) {
	case EACCES:
	case EPERM:
		return da_fail(
			err, DA_EPERM, sys,
			"cannot open event '%s' %s: needs CAP_PERFMON (or root), or "
			"kernel.perf_event_paranoid <= %d; without them, record your own command in user "
			"space: damon-attrs record -e %s -- COMMAND",
			e->spec.name, target_word(s), s->o.target == DA_TARGET_SYSTEM ? 0 : 1,
			e->spec.producer == DA_PROD_FAULT ? "page-faults:u" : "cpu-clock:u");
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return da_fail(
			err, DA_ENOENT, sys,
			"cannot open event '%s': this machine has no such PMU event (no memory PMU, or a VM "
			"that hides it); -e cpu-clock works everywhere",
			e->spec.name);
	case EOPNOTSUPP:
		return da_fail(err, DA_EUNSUPPORTED, sys,
			       "cannot open event '%s': its PMU cannot sample, or not this way",
			       e->spec.name);
	case ESRCH:
		return da_fail(err, DA_ENOENT, sys, "cannot open event '%s': the target is gone",
			       e->spec.name);
	case EMFILE:
	case ENFILE:
		return da_fail(err, DA_EIO, sys,
			       "cannot open event '%s': raise the limit with ulimit -n",
			       e->spec.name);
	default:
		return da_fail(err, DA_EIO, sys, "cannot open event '%s'", e->spec.name);
	}
}

/* Takes out the threads that have ended; true if some did and some are left. */
static bool prune_ids(struct da_session *s)
{
	size_t n = 0, before = s->nr_ids;

	for (size_t i = 0; i < before; i++)
		if (!kill(s->ids[i], 0) || errno != ESRCH)
			s->ids[n++] = s->ids[i];
	s->nr_ids = n ? n : before;
	return n && n < before;
}

static bool saw_no_task(const struct da_session *s)
{
	for (size_t i = 0; i < s->nr_ev; i++)
		for (size_t k = 0; k < s->ev[i].nr_errors; k++)
			if (s->ev[i].errors[k].sys == ESRCH)
				return true;
	return false;
}

static void forget_opens(struct da_session *s)
{
	for (size_t c = 0; c < s->nr_cpus; c++) {
		evt_free(s->cpus[c].evt);
		s->cpus[c].evt = NULL;
		for (size_t i = 0; i < s->nr_ev; i++) {
			s->cpus[c].pairs[i] = (struct s_pair){.idx = -1};
			s->ev[i].nr_errors = 0;
			s->ev[i].opened = s->ev[i].asked = 0;
		}
	}
}

static int open_cpus(struct da_session *s)
{
	for (size_t c = 0; c < s->nr_cpus; c++)
		if (s_open_cpu(s, &s->cpus[c]))
			return -DA_ENOMEM;
	return 0;
}

int s_open_all(struct da_session *s, struct da_error *err)
{
	int rc = open_cpus(s);

	/* one thread that ended between the listing and the open fails the whole event: again without it */
	for (int again = 0; !rc && again < MAX_RETRIES && saw_no_task(s) && prune_ids(s); again++) {
		forget_opens(s);
		rc = open_cpus(s);
	}
	if (rc)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	for (size_t i = 0; i < s->nr_ev; i++) {
		const struct s_event *e = &s->ev[i];

		if (!e->opened)
			return refused(s, e, err);
		if (e->nr_errors)
			s_message(s, 1, "%s: could not open on %zu of %zu CPUs (CPU %u: %s)",
				  e->spec.name, (size_t)(e->asked - e->opened), (size_t)e->asked,
				  e->errors[0].cpu, strerror(e->errors[0].sys));
	}
	return open_file(s, err);
}

/* ---- bind ---- */

static enum da_drop bind_drop(int sys)
{
	switch (sys) {
	case EPERM:
		return DA_DROP_BIND_MLOCK;
	case EMFILE:
	case ENFILE:
		return DA_DROP_BIND_FD_LIMIT;
	case EINVAL:
		return DA_DROP_BIND_INVALID;
	default:
		return DA_DROP_BIND_OTHER;
	}
}

static int map_cpu(struct da_session *s, struct s_cpu *c, uint32_t *pages)
{
	int rc;

	for (;;) {
		uint32_t side = *pages < SIDE_PAGES ? *pages : SIDE_PAGES;

		rc = evt_map(c->evt, s->o.mmap_pages ? SIDE_PAGES : side, *pages);
		if (rc == -EPERM && s->o.mmap_pages) /* at least -m as asked for */
			rc = evt_map(c->evt, 1, *pages);
		if (rc != -EPERM || s->o.mmap_pages || *pages <= 1)
			return rc;
		*pages /= 2; /* the default only: -m is what the user wants or nothing */
	}
}

static void bind_pair(struct s_event *e, struct s_pair *p, uint32_t cpu, int rc)
{
	p->life.in[DA_STAGE_BIND]++;
	if (!rc) {
		p->life.out[DA_STAGE_BIND]++;
		p->bound = true;
		e->bound++;
		return;
	}
	p->life.drop[bind_drop(-rc)]++;
	note_error(e, cpu, -rc, "mmap");
}

int s_bind_cpu(struct da_session *s, struct s_cpu *c, uint32_t *pages)
{
	bool real = c->evt && evt_nr(c->evt);
	int rc = real ? map_cpu(s, c, pages) : 0, last = 0;

	c->pages = rc || !real ? 0 : *pages;
	for (size_t i = 0; i < s->nr_ev; i++) {
		struct s_event *e = &s->ev[i];
		int mine = rc;

		if (c->pairs[i].idx < 0)
			continue;
		if (e->fake)
			mine = da_fake_fails(e->fake, DA_FAKE_FAIL_BIND) ? -EPERM : 0;
		if (!mine && e->aux)
			mine = s_aux_bind(s, c, i);
		bind_pair(e, &c->pairs[i], (uint32_t)c->cpu, mine);
		s->any_bound |= !mine;
		last = mine ? mine : last;
	}
	if (rc) { /* closed without ever having been enabled */
		evt_free(c->evt);
		c->evt = NULL;
		c->sideband = -1;
		for (size_t i = 0; i < s->nr_ev; i++)
			if (!s->ev[i].fake)
				c->pairs[i].idx = -1;
	}
	return last;
}

int s_bind_all(struct da_session *s, struct da_error *err)
{
	uint32_t wanted = s->o.mmap_pages ? s->o.mmap_pages : 512, pages = wanted;
	int last = 0;

	for (size_t k = 0; k < s->nr_cpus; k++) {
		int rc = s_bind_cpu(s, &s->cpus[k], &pages);

		last = rc ? rc : last;
	}
	if (pages < wanted)
		s_message(s, 1,
			  "rings of %u pages a CPU instead of %u: the mlock limit (ulimit -l, "
			  "kernel.perf_event_mlock_kb) allows no more",
			  pages, wanted);
	if (s->any_bound)
		return 0;
	return da_fail(
		err, last == -EPERM ? DA_EPERM : DA_EIO, -last,
		"cannot map rings of %u pages a CPU%s", pages,
		last == -EPERM
			? ": raise ulimit -l or kernel.perf_event_mlock_kb, or use a smaller -m"
			: "");
}

/* ---- enable ---- */

int s_enable_sideband(struct da_session *s)
{
	for (size_t k = 0; k < s->nr_cpus; k++)
		if (s->cpus[k].sideband >= 0)
			evt_enable(s->cpus[k].evt, s->cpus[k].sideband);
	return 0;
}

int s_enable_cpu(struct da_session *s, struct s_cpu *c, bool *any)
{
	int last = 0;

	for (size_t i = 0; i < s->nr_ev; i++) {
		struct s_event *e = &s->ev[i];
		struct s_pair *p = &c->pairs[i];
		int rc = 0;

		if (!p->bound)
			continue;
		if (e->attr.flags & DA_ATTR_ENABLE_ON_EXEC) {
			/* counted at stop, when the read shows whether exec fired it */
			*any = true;
			continue;
		}
		if (p->aux)
			rc = s_aux_enable(p->aux);
		else if (e->fake)
			rc = da_fake_fails(e->fake, DA_FAKE_FAIL_ENABLE) ? -EIO : 0;
		else
			rc = evt_enable(c->evt, p->idx);
		p->life.in[DA_STAGE_ENABLE]++;
		if (rc) {
			p->life.drop[DA_DROP_ENABLE_REFUSED]++;
			note_error(e, (uint32_t)c->cpu, -rc, "ioctl ENABLE");
			last = rc;
			continue;
		}
		p->life.out[DA_STAGE_ENABLE]++;
		p->enabled = true;
		e->enabled++;
		*any = true;
	}
	return last;
}

int s_enable_events(struct da_session *s, struct da_error *err)
{
	bool any = false;
	int last = 0;

	for (size_t k = 0; k < s->nr_cpus; k++) {
		int rc = s_enable_cpu(s, &s->cpus[k], &any);

		last = rc ? rc : last;
	}
	s->on_ns = s_now_ns(s);
	atomic_store(&s->events_on, true);
	return any ? 0 : da_fail(err, DA_EIO, -last, "cannot enable the events");
}

int s_read_count(struct s_cpu *c, struct s_pair *p)
{
	struct evt_count now;
	int rc = evt_read(c->evt, p->idx, &now);

	if (rc)
		return rc;
	p->count = now;
	p->count.value += p->past.value;
	p->count.enabled_ns += p->past.enabled_ns;
	p->count.running_ns += p->past.running_ns;
	p->count.lost += p->past.lost;
	p->counted = true;
	return 0;
}

/* Disables, then reads what was counted: LOST and the times are final only now. */
void s_disable_all(struct da_session *s)
{
	bool were_on;

	pthread_mutex_lock(&s->switch_lock);
	were_on = atomic_exchange(&s->events_on, false);
	pthread_mutex_unlock(&s->switch_lock);
	for (size_t k = 0; k < s->nr_cpus; k++) {
		struct s_cpu *c = &s->cpus[k];

		for (size_t i = 0; i < s->nr_ev; i++) {
			if (c->pairs[i].aux && c->pairs[i].bound)
				s_aux_disable(c->pairs[i].aux);
			else if (!s->ev[i].fake && c->evt && c->pairs[i].bound)
				evt_disable(c->evt, c->pairs[i].idx);
		}
		if (c->sideband >= 0)
			evt_disable(c->evt, c->sideband);
	}
	for (size_t k = 0; k < s->nr_cpus; k++) {
		struct s_cpu *c = &s->cpus[k];

		for (size_t i = 0; i < s->nr_ev; i++) {
			struct s_event *e = &s->ev[i];
			struct s_pair *p = &c->pairs[i];

			if (!p->bound || e->fake || !c->evt)
				continue;
			p->counted = !s_read_count(c, p);
			if (p->count.eof)
				note_error(e, (uint32_t)c->cpu, EBUSY,
					   "read of the pinned event: EOF");
			if (!(e->attr.flags & DA_ATTR_ENABLE_ON_EXEC) || !were_on || p->enabled)
				continue;
			p->life.in[DA_STAGE_ENABLE]++;
			if (p->counted && p->count.enabled_ns) {
				p->life.out[DA_STAGE_ENABLE]++;
				p->enabled = true;
				e->enabled++;
			} else {
				p->life.drop[DA_DROP_ENABLE_NOT_FIRED]++;
			}
		}
	}
	s->disabled_before_drain = true;
	s_find_shared(s);
}

void s_release_all(struct da_session *s)
{
	for (size_t k = s->nr_cpus; k > 0; k--) {
		struct s_cpu *c = &s->cpus[k - 1];

		for (size_t i = 0; i < s->nr_ev; i++)
			s_aux_release(c->pairs[i].aux);
		if (c->evt) {
			evt_unmap(c->evt);
			evt_free(c->evt);
		}
		c->evt = NULL;
	}
	s->unmapped_before_close = true;
	s->released_all = true;
}
