/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report as CSV (RFC 4180, but with plain newlines): one line a region and event that has reports
 * there. Names are quoted; bytes that are no text become \xNN.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "da_render.h"
#include "render_ages.h"
#include "render_format.h"
#include "render_probe.h"
#include "render_rows.h"
#include "utf8.h"

static void put_name(FILE *f, const char *name)
{
	size_t n;

	fputc('"', f);
	for (; *name; name += n ? n : 1) {
		n = utf8_printable(name);
		if (*name == '"')
			fputs("\"\"", f);
		else if (n)
			fwrite(name, 1, n, f);
		else
			fprintf(f, "\\x%02x", (unsigned char)*name);
	}
	fputc('"', f);
}

static void put_row(FILE *f, const struct da_offline_result *r, const struct da_space *s,
		    const struct row *w, const struct totals *all, const struct ages *ages)
{
	struct age age = ages_get(ages, w->g);
	double share = all->accesses ? (double)w->st->accesses / (double)all->accesses : 0;

	if (s->kind == DA_SPACE_PHYSICAL) {
		fputs("physical,,,", f);
	} else {
		fprintf(f, "virtual,%" PRIu32 ",", s->pid);
		put_name(f, s->comm);
		fputc(',', f);
	}
	fprintf(f, "0x%" PRIx64 ",0x%" PRIx64 ",", w->g->start, w->g->end);
	put_name(f, w->g->label);
	fputc(',', f);
	put_name(f, r->events[w->st->event].name);
	fprintf(f, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6g,%.6g", w->st->samples,
		w->st->accesses, w->st->reads, w->st->writes, share,
		share_error(share, all->effective));
	if (age.known)
		fprintf(f, ",%" PRIu64 ",%" PRIu64, age.age_ns, age.idle_ns);
	else
		fputs(",,", f);
	probe_row_csv(f, r, w->g);
	fputc('\n', f);
}

static int put_space(FILE *f, const struct da_offline_result *r, const struct da_space *s,
		     const struct da_render_opts *o, struct totals *total)
{
	struct row *rows;
	struct ages ages;
	size_t nr, i;
	uint32_t e;

	totals_of(s, total, r);
	for (e = 0; e < r->nr_events; e++) {
		if (!total[e].samples)
			continue;
		if (ages_make(&ages, r, s, e) || rows_in_order(s, e, o->sort, &rows, &nr)) {
			ages_release(&ages);
			return -DA_ENOMEM;
		}
		for (i = 0; i < nr && (!o->limit || i < o->limit); i++)
			put_row(f, r, s, &rows[i], &total[e], &ages);
		free(rows);
		ages_release(&ages);
	}
	return 0;
}

int da_render_report_csv(FILE *f, const struct da_offline_result *r, const struct da_render_opts *o)
{
	struct totals *total = calloc(r->nr_events + 1, sizeof(*total));
	size_t i;
	int err = 0;

	if (!total)
		return -DA_ENOMEM;
	fputs("space,pid,comm,start,end,label,event,samples,accesses,reads,writes,share,error,"
	      "age_ns,idle_ns",
	      f);
	probe_head_csv(f, r);
	fputc('\n', f);
	for (i = 0; i < da_match_nr_spaces(r->match) && !err; i++)
		err = put_space(f, r, da_match_space(r->match, i), o, total);
	free(total);
	return err;
}
