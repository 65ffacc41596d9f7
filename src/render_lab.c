/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The experiments of `diagnose --what-if` as a table for people, and for the JSON of a verdict. What they mean
 * was decided in lab_plan.c.
 */
#include <inttypes.h>
#include <string.h>

#include "da_render_lab.h"
#include "render_format.h"

static const char *const part_names[DA_LAB_PART_NR] = {
	[DA_LAB_BASE] = "base",     [DA_LAB_DRAIN] = "drain",     [DA_LAB_SLOTS] = "slots",
	[DA_LAB_KEEP] = "keep",     [DA_LAB_NESTING] = "nesting", [DA_LAB_DECODE] = "decode",
	[DA_LAB_LOOKUP] = "lookup", [DA_LAB_PERIOD] = "period",   [DA_LAB_READER] = "reader",
	[DA_LAB_USER] = "asked",
};

static void put_row(FILE *f, const struct da_lab_plan *p, size_t i)
{
	struct da_lab_result r = da_lab_result(p->lab, i);
	char stored[WORD], dropped[WORD], pct[WORD], peak[WORD];
	size_t used = put_text(f, "  ", 2, false) + put_text(f, p->label[i], 30, false);

	fprintf(f, "%*s %11s %11s %8s %9s\n", (int)(32 - used), "", format_count(stored, r.dequeue),
		format_count(dropped, da_lab_dropped(&r)),
		format_pct(pct, da_lab_dropped(&r), r.offered), format_count(peak, r.peak));
}

/* Of the sizes and periods only the ends and what lies around the change from drops to none: the others say
 * nothing new. */
static bool tells(const struct da_lab_plan *p, size_t i)
{
	enum da_lab_part part = p->part[i];
	struct da_lab_result here, after;
	bool last = i + 1 == p->nr || p->part[i + 1] != part;

	if (part != DA_LAB_SLOTS && part != DA_LAB_PERIOD)
		return true;
	if (last)
		return part == DA_LAB_PERIOD;
	here = da_lab_result(p->lab, i);
	after = da_lab_result(p->lab, i + 1);
	if (da_lab_dropped(&here) > 0)
		return true;
	/* the first without drops */
	if (i && p->part[i - 1] == part) {
		after = da_lab_result(p->lab, i - 1);
		return da_lab_dropped(&after) > 0;
	}
	return true;
}

static void put_base(FILE *f, const struct da_lab_plan *p, size_t width)
{
	const struct da_lab_model *m = &p->base.model;
	char look[WORD], cost[WORD], wake[WORD], span[WORD], n[WORD], line[400];
	struct da_lab_result r = da_lab_result(p->lab, 0);

	snprintf(line, sizeof(line),
		 "what if: %s reports of %" PRIu32 " CPU%s in %s, replayed through other buffers",
		 format_count(n, r.offered), da_lab_cpus(p->lab), plural(da_lab_cpus(p->lab)),
		 format_time(span, da_lab_span_ns(p->lab)));
	put_wrapped(f, line, 0, width);
	fputc('\n', f);
	snprintf(
		line, sizeof(line),
		"%s: %s of %" PRIu64
		" slots, keep=%s; the reader looks every %s%s, starts after %s and takes %s a report",
		p->base.recorded ? "as recorded" : "not recorded, so the defaults of record",
		m->single ? "one buffer for all CPUs" : "a buffer for each CPU", m->slots,
		m->latest ? "latest" : "oldest", format_time(look, m->look_ns),
		m->half ? " or when one is half full" : "", format_time(wake, m->wake_ns),
		format_time(cost, m->cost_ns));
	put_wrapped(f, line, 0, width);
	fputs("\n\n", f);
}

static void put_conclusion(FILE *f, const struct da_lab_plan *p, size_t width)
{
	struct da_lab_result r = da_lab_result(p->lab, 0);
	char line[640], n[WORD], m[WORD];

	fputc('\n', f);
	if (p->base.dropped >= 0 && !p->fits) {
		snprintf(
			line, sizeof(line),
			"The recorded run dropped %s, this model of it %s: the reader had less or more time than "
			"the model gives it. Compare rows with each other, not with the run.",
			format_count(n, (uint64_t)p->base.dropped),
			format_count(m, da_lab_dropped(&r)));
		put_wrapped(f, line, 0, width);
		fputc('\n', f);
	} else if (p->base.dropped >= 0) {
		snprintf(line, sizeof(line), "The recorded run dropped %s, this model of it %s.",
			 format_count(n, (uint64_t)p->base.dropped),
			 format_count(m, da_lab_dropped(&r)));
		put_wrapped(f, line, 0, width);
		fputc('\n', f);
	}
	if (p->cause[0]) {
		snprintf(line, sizeof(line), "cause %s: %s", p->cause, p->evidence);
		put_wrapped(f, line, 0, width);
		fputc('\n', f);
	} else if (da_lab_dropped(&r)) {
		fputs("cause not found: none of these changes alone takes nine tenths of the drops away\n",
		      f);
	}
	if (p->advice[0]) {
		snprintf(line, sizeof(line), "drops would be 0 with %s", p->advice);
		put_wrapped(f, line, 0, width);
		fputc('\n', f);
	} else if (!da_lab_dropped(&r)) {
		fputs("nothing would be dropped as it is\n", f);
	}
}

void da_render_lab_text(FILE *f, const struct da_lab_plan *p, unsigned width)
{
	size_t columns = width ? width : 100;

	put_base(f, p, columns);
	fprintf(f, "  %-30s %11s %11s %8s %9s\n", "MODEL", "READ", "DROPPED", "DROP%", "PEAK");
	for (size_t i = 0; i < p->nr; i++)
		if (tells(p, i))
			put_row(f, p, i);
	put_conclusion(f, p, columns);
}

static void put_model(struct da_json_out *w, const struct da_lab_plan *p, size_t i)
{
	const struct da_lab_model *m = da_lab_model(p->lab, i);
	struct da_lab_result r = da_lab_result(p->lab, i);

	da_json_flat_object(w, NULL);
	da_json_string(w, "varies", part_names[p->part[i]]);
	da_json_string(w, "label", p->label[i]);
	da_json_string(w, "drain", m->single ? "single" : "percpu");
	da_json_u64(w, "slots", m->slots);
	da_json_string(w, "keep", m->latest ? "latest" : "oldest");
	da_json_u64(w, "period_times", m->thin ? m->thin : 1);
	da_json_u64(w, "publish_ns", m->publish_ns);
	da_json_u64(w, "look_ns", m->look_ns);
	da_json_u64(w, "wake_ns", m->wake_ns);
	da_json_u64(w, "cost_ns", m->cost_ns);
	da_json_u64(w, "write_ns", m->write_ns);
	da_json_u64(w, "offered", r.offered);
	da_json_u64(w, "enqueue", r.enqueue);
	da_json_u64(w, "dequeue", r.dequeue);
	da_json_u64(w, "overflow", r.overflow);
	da_json_u64(w, "overwritten", r.overwritten);
	da_json_u64(w, "nested", r.nested);
	da_json_u64(w, "peak", r.peak);
	da_json_u64(w, "buffers", r.buffers);
	da_json_u64(w, "full", r.full);
	da_json_u64(w, "longest_wait_ns", r.wait_ns);
	da_json_close(w);
}

void da_render_lab_json(struct da_json_out *w, const struct da_lab_plan *p)
{
	da_json_object(w, "what_if");
	da_json_u64(w, "cpus", da_lab_cpus(p->lab));
	da_json_u64(w, "span_ns", da_lab_span_ns(p->lab));
	da_json_bool(w, "recorded", p->base.recorded);
	da_json_measured(w, "recorded_drops", p->base.dropped);
	da_json_bool(w, "model_fits", p->fits);
	da_json_string(w, "cause", p->cause[0] ? p->cause : NULL);
	da_json_string(w, "evidence", p->evidence[0] ? p->evidence : NULL);
	da_json_string(w, "advice", p->advice[0] ? p->advice : NULL);
	da_json_array(w, "models");
	for (size_t i = 0; i < p->nr; i++)
		put_model(w, p, i);
	da_json_close(w);
	da_json_close(w);
}
