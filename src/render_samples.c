/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One report a line, with the fields that the user chose: perf's names, and our own op, how, size.
 *
 * Columns line up while the values stay within their usual widths; a longer value pushes the rest to the
 * right. A field that the report does not have is "-", never 0.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "da_render.h"
#include "da_symbol.h"
#include "render_format.h"
#include "utf8.h"

#define MAX_FIELDS     64
#define DEFAULT_FIELDS "time,cpu,pid,tid,comm,event,ip,addr,op,size,how"

enum field {
	F_TIME,
	F_CPU,
	F_PID,
	F_TID,
	F_COMM,
	F_EVENT,
	F_IP,
	F_SYM,
	F_DSO,
	F_ADDR,
	F_PHYS_ADDR,
	F_WEIGHT,
	F_DATA_SRC,
	F_DATA_PAGE_SIZE,
	F_PERIOD,
	F_OP,
	F_SIZE,
	F_HOW,
	F_REGION,
	F_TRACE,
	F_NR
};

/* clang-format off */
static const struct { const char *name; int width; /* < 0: to the left */ } known[F_NR] = {
	[F_TIME] = {"time", 18},	 [F_CPU] = {"cpu", 3},	     [F_PID] = {"pid", 7},
	[F_TID] = {"tid", 7},		 [F_COMM] = {"comm", -15},   [F_EVENT] = {"event", -14},
	[F_IP] = {"ip", 16},		 [F_SYM] = {"sym", -24},     [F_DSO] = {"dso", -24},
	[F_ADDR] = {"addr", 16},	 [F_PHYS_ADDR] = {"phys_addr", 16},
	[F_WEIGHT] = {"weight", 6},	 [F_DATA_SRC] = {"data_src", 12},
	[F_DATA_PAGE_SIZE] = {"data_page_size", 14},
	[F_PERIOD] = {"period", 10},	 [F_OP] = {"op", -2},	     [F_SIZE] = {"size", 5},
	[F_HOW] = {"how", -9},		 [F_REGION] = {"region", -20}, [F_TRACE] = {"trace", -20},
};
/* clang-format on */

struct da_fields {
	enum field field[MAX_FIELDS];
	size_t nr;
	struct da_symbols *symbols; /* made when sym is wanted */
	bool trace;                 /* is wanted */
	const char *text;           /* of the line under way: trace */
};

static int unknown_field(const char *name, size_t len, struct da_error *err)
{
	char all[256] = "";
	size_t used = 0, i;

	for (i = 0; i < F_NR && used < sizeof(all); i++) {
		int n = snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "",
				 known[i].name);

		used += n > 0 ? (size_t)n : 0;
	}
	return da_fail(err, DA_EUSAGE, 0, "unknown field '%.*s'; there are %s",
		       len > 64 ? 64 : (int)len, name, all);
}

int da_fields_parse(const char *text, struct da_fields **out, struct da_error *err)
{
	struct da_fields *f = calloc(1, sizeof(*f));
	const char *p = text ? text : DEFAULT_FIELDS;

	*out = NULL;
	if (!f)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	for (;; p++) {
		size_t len = strcspn(p, ","), i = 0;

		while (i < F_NR && (strlen(known[i].name) != len || strncmp(known[i].name, p, len)))
			i++;
		if (i == F_NR || f->nr == MAX_FIELDS) {
			da_fields_free(f);
			return i == F_NR ? unknown_field(p, len, err)
					 : da_fail(err, DA_EUSAGE, 0, "more than %d fields",
						   MAX_FIELDS);
		}
		f->field[f->nr++] = (enum field)i;
		f->trace |= i == F_TRACE;
		if (i == F_SYM && !f->symbols) {
			f->symbols = da_symbols_new();
			if (!f->symbols) {
				da_fields_free(f);
				return da_fail(err, DA_ENOMEM, 0, "out of memory");
			}
		}
		p += len;
		if (!*p)
			break;
	}
	*out = f;
	return 0;
}

void da_fields_free(struct da_fields *f)
{
	if (!f)
		return;
	da_symbols_free(f->symbols);
	free(f);
}

/* ---- one value ---- */

/* Text of any bytes, padded; the last field of a line is not. */
static void put_string(FILE *f, const char *s, int width, bool last)
{
	size_t used = put_text(f, *s ? s : "-", 0, true);

	if (width < 0 && !last && used < (size_t)-width)
		fprintf(f, "%*s", (int)((size_t)-width - used), "");
}

static uint64_t time_of(const struct da_report *r)
{
	return r->has & DA_HAS_TIME ? r->time_ns : UINT64_MAX;
}

static const char *name_of_code(struct da_fields *fields, const struct da_offline *o,
				const struct da_report *r, enum field which, char *buf, size_t size)
{
	const char *name;
	uint64_t offset;
	struct da_map map;

	if (!(r->has & DA_HAS_IP) || !(r->has & DA_HAS_TASK) ||
	    !da_tasks_find(da_offline_tasks(o), r->pid, time_of(r), r->ip, &map))
		return "-";
	if (which == F_DSO)
		return map.name && *map.name ? map.name : "-";
	name = da_symbols_find(fields->symbols, &map, r->ip, &offset);
	if (!name)
		return "-";
	snprintf(buf, size, "%.200s+0x%" PRIx64, name, offset);
	return buf;
}

static const char *region_of(const struct da_offline *o, const struct da_report *r)
{
	struct da_map map;

	if (!(r->has & DA_HAS_VADDR) || !(r->has & DA_HAS_TASK) ||
	    !da_tasks_find(da_offline_tasks(o), r->pid, time_of(r), r->vaddr, &map) || !map.name)
		return "-";
	return map.name;
}

static const char *string_of(struct da_fields *fields, const struct da_offline *o,
			     const struct da_report *r, enum field which, char *buf, size_t size)
{
	static const char *const op[] = {"-", "R", "W", "RW"};

	switch (which) {
	case F_COMM:
		return r->has & DA_HAS_TASK
			       ? da_tasks_comm_of(da_offline_tasks(o), r->pid, r->tid, time_of(r))
			       : "-";
	case F_EVENT:
		return da_offline_event(o, r->event)->name;
	case F_SYM:
	case F_DSO:
		return name_of_code(fields, o, r, which, buf, size);
	case F_OP:
		return r->has & DA_HAS_OP ? op[r->op & 3] : "-";
	case F_HOW:
		return da_how_name((enum da_how)r->how);
	case F_REGION:
		return region_of(o, r);
	case F_TRACE:
		return fields->text ? fields->text : "-";
	default:
		return NULL;
	}
}

/* A number as text; false: the report does not have it. */
static bool number_of(const struct da_offline *o, const struct da_report *r, enum field which,
		      char *buf, size_t size)
{
	switch (which) {
	case F_TIME:
		snprintf(buf, size, "%" PRIu64 ".%09u", r->time_ns / 1000000000,
			 (unsigned)(r->time_ns % 1000000000));
		return r->has & DA_HAS_TIME;
	case F_CPU:
		snprintf(buf, size, "%03" PRIu32, r->cpu);
		return (r->has & DA_HAS_CPU) && knows_cpu(da_offline_event(o, r->event));
	case F_PID:
		snprintf(buf, size, "%" PRIu32, r->pid);
		return r->has & DA_HAS_TASK;
	case F_TID:
		snprintf(buf, size, "%" PRIu32, r->tid);
		return r->has & DA_HAS_TASK;
	case F_IP:
		snprintf(buf, size, "%" PRIx64, r->ip);
		return r->has & DA_HAS_IP;
	case F_ADDR:
		snprintf(buf, size, "%" PRIx64, r->vaddr);
		return r->has & DA_HAS_VADDR;
	case F_PHYS_ADDR:
		snprintf(buf, size, "%" PRIx64, r->paddr);
		return r->has & DA_HAS_PADDR;
	case F_WEIGHT:
		snprintf(buf, size, "%" PRIu32, r->latency);
		return r->has & DA_HAS_LATENCY;
	case F_DATA_SRC:
		snprintf(buf, size, "%" PRIx64, r->data_src);
		return r->has & DA_HAS_DATA_SRC;
	case F_DATA_PAGE_SIZE:
		snprintf(buf, size, "%" PRIu64, r->page_size);
		return r->has & DA_HAS_PAGE_SIZE;
	case F_PERIOD:
		snprintf(buf, size, "%" PRIu64, r->period);
		return r->has & DA_HAS_PERIOD;
	case F_SIZE: /* "<=": an upper bound */
		snprintf(buf, size, "%s%" PRIu32, r->size_is_max ? "<=" : "", r->size);
		return r->has & DA_HAS_SIZE;
	default:
		return false;
	}
}

void da_render_sample(FILE *f, struct da_fields *fields, const struct da_offline *o,
		      const struct da_report *r)
{
	char buf[256];
	size_t i;

	for (i = 0; i < fields->nr; i++) {
		enum field which = fields->field[i];
		const char *s = string_of(fields, o, r, which, buf, sizeof(buf));

		if (i)
			fputc(' ', f);
		if (s)
			put_string(f, s, known[which].width, i + 1 == fields->nr);
		else
			fprintf(f, "%*s", known[which].width,
				number_of(o, r, which, buf, sizeof(buf)) ? buf : "-");
	}
	fputc('\n', f);
}

void da_render_trace(FILE *f, struct da_fields *fields, const struct da_offline *o,
		     const struct da_report *r, const char *text)
{
	if (!fields->trace)
		return;
	fields->text = text;
	da_render_sample(f, fields, o, r);
	fields->text = NULL;
}

void da_render_sample_head(FILE *f, const struct da_fields *fields)
{
	size_t i;

	for (i = 0; i < fields->nr; i++) {
		const char *name = known[fields->field[i]].name;
		int width = known[fields->field[i]].width;

		if (i)
			fputc(' ', f);
		/* the mark of a comment takes the place of a blank where there is one */
		if (!i && width > 0 && (size_t)width > strlen(name))
			fprintf(f, "#%*s", width - 1, name);
		else if (!i)
			fprintf(f, "#%*s", i + 1 == fields->nr ? 0 : width + 1, name);
		else
			fprintf(f, "%*s", i + 1 == fields->nr && width < 0 ? 0 : width, name);
	}
	fputc('\n', f);
}
