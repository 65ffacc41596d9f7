/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report as one HTML file that needs nothing else: for each process and event the heat map (render_svg.c) and
 * its regions, a table that can be sorted. A list chooses what is shown; a region's rows in the map light up when a
 * pointer rests on its line, and what a cell is stands beside the map. Without scripts everything is there, below
 * each other.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "da_error.h"
#include "render_ages.h"
#include "render_format.h"
#include "render_rows.h"
#include "render_svg.h"

#define REGIONS 200 /* lines of a table, unless the user said how many */

struct page {
	FILE *f;
	const struct da_offline_result *r;
	const struct da_render_opts *o;
	unsigned nr;
	bool list; /* only the list of what there is */
};

static void put_number(FILE *f, const char *shown, double v)
{
	fprintf(f, "<td data-v=\"%.17g\">%s</td>", v, shown);
}

static void put_region(FILE *f, const struct row *w, const struct da_region_stat *all,
		       const struct ages *ages)
{
	struct age age = ages_get(ages, w->g);
	double share = all->accesses ? (double)w->st->accesses / (double)all->accesses : 0;
	char a[WORD], pct[WORD];

	fprintf(f,
		"<tr data-s=\"%" PRIx64 "\" data-e=\"%" PRIx64
		"\"><td class=\"a\" data-v=\"%.17g\">%" PRIx64 "</td>",
		w->g->start, w->g->end, (double)w->g->start, w->g->start);
	put_number(f, format_bytes(a, w->g->end - w->g->start), (double)(w->g->end - w->g->start));
	put_number(f, format_count(a, w->st->samples), (double)w->st->samples);
	snprintf(pct, sizeof(pct), "%.2f", 100 * share);
	put_number(f, pct, share);
	snprintf(pct, sizeof(pct), "%.2f", 100 * share_error(share, all->samples));
	put_number(f, pct, share_error(share, all->samples));
	put_number(f, format_count(a, w->st->reads), (double)w->st->reads);
	put_number(f, format_count(a, w->st->writes), (double)w->st->writes);
	put_number(f, age.known ? format_time(a, age.age_ns) : "-",
		   age.known ? (double)age.age_ns : -1);
	put_number(f, age.known ? format_time(a, age.idle_ns) : "-",
		   age.known ? (double)age.idle_ns : -1);
	fputs("<td class=\"l\">", f);
	svg_text(f, w->g->label);
	fputs("</td></tr>\n", f);
}

static int put_table(struct page *p, const struct da_space *s, uint32_t event,
		     const struct da_region_stat *total)
{
	size_t most = p->o->limit ? p->o->limit : REGIONS, nr, i;
	struct ages ages;
	struct row *rows;
	int err = ages_make(&ages, p->r, s, event);

	err = err ? err : rows_in_order(s, event, p->o->sort, &rows, &nr);
	if (err) {
		ages_release(&ages);
		return err;
	}
	fputs("<table><thead><tr><th>address<th>size<th>samples<th>share %<th>&plusmn; %<th>reads<th>writes"
	      "<th>age<th>idle<th class=\"l\">region</tr></thead><tbody>\n",
	      p->f);
	for (i = 0; i < nr && i < most; i++)
		put_region(p->f, &rows[i], total, &ages);
	fputs("</tbody></table>\n", p->f);
	if (nr > most)
		fprintf(p->f, "<p>%zu more regions; --limit says how many are shown.</p>\n",
			nr - most);
	free(rows);
	ages_release(&ages);
	return 0;
}

static int put_section(void *ctx, const struct da_space *s, uint32_t event,
		       const struct da_region_stat *total)
{
	struct page *p = ctx;
	unsigned height = 0;
	char *text = NULL, a[WORD];
	size_t len = 0;
	FILE *m;
	int err;

	if (p->list) {
		fprintf(p->f, "<option value=\"%u\">", p->nr++);
		svg_title(p->f, p->r, s, event);
		fprintf(p->f, " (%s samples)</option>", format_count(a, total->samples));
		return 0;
	}
	m = open_memstream(&text, &len);
	if (!m)
		return -DA_ENOMEM;
	err = svg_map(m, p->r, s, event, 0, &height);
	if (fclose(m))
		err = -DA_ENOMEM;
	if (!err) {
		fprintf(p->f,
			"<section id=\"m%u\"><svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\">",
			p->nr++, SVG_WIDTH, height);
		fwrite(text, 1, len, p->f);
		fputs("</svg>\n", p->f);
		err = put_table(p, s, event, total);
		fputs("</section>\n", p->f);
	}
	free(text);
	return err;
}

static const char style[] =
	"body{font:14px sans-serif;margin:16px;color:#222}table{border-collapse:collapse;margin:8px 0}"
	"td,th{padding:1px 8px;text-align:right}th{cursor:pointer;border-bottom:1px solid #999}"
	".l{text-align:left}td.a{font-family:monospace}tbody tr:hover{background:#eef}"
	"#cell{position:sticky;top:0;background:#fff;min-height:1.4em;font-family:monospace}"
	"rect.on{stroke:#000;stroke-width:1.5}";

static const char script[] =
	"const q=(e,s)=>[...e.querySelectorAll(s)],sec=q(document,'section'),sel=document.getElementById('what'),"
	"cell=document.getElementById('cell');\n"
	"function show(){sec.forEach((s,i)=>s.hidden=i!=sel.value)}\n"
	"if(sec.length){sel.onchange=show;show()}\n"
	"document.addEventListener('mouseover',e=>{const t=e.target.closest('rect');"
	"const x=t&&t.querySelector('title');if(x)cell.textContent=x.textContent});\n"
	"q(document,'th').forEach(h=>h.onclick=()=>{const i=h.cellIndex,b=h.closest('table').tBodies[0],"
	"d=h.dataset.d=h.dataset.d==1?-1:1,v=r=>{const c=r.cells[i];return c.dataset.v===undefined?c.textContent:+c.dataset.v};"
	"[...b.rows].sort((x,y)=>{const p=v(x),r=v(y);return (p<r?1:p>r?-1:0)*d}).forEach(r=>b.append(r))});\n"
	"q(document,'tbody tr').forEach(r=>{const s=BigInt('0x'+r.dataset.s),e=BigInt('0x'+r.dataset.e);"
	"const hit=f=>q(r.closest('section'),'rect').forEach(c=>{const t=c.querySelector('title');if(!t)return;"
	"const m=t.textContent.match(/^([0-9a-f]+)-([0-9a-f]+),/);"
	"if(m&&BigInt('0x'+m[1])<e&&BigInt('0x'+m[2])>s)c.classList.toggle('on',f)});"
	"r.onmouseenter=()=>hit(true);r.onmouseleave=()=>hit(false)});\n";

int da_render_report_html(FILE *f, const struct da_offline_result *r,
			  const struct da_render_opts *o)
{
	struct page p = {.f = f, .r = r, .o = o, .list = true};
	char a[WORD];
	size_t i;
	int err;

	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>damon-attrs: ",
	      f);
	svg_text(f, r->file->path);
	fprintf(f, "</title>\n<style>%s", style);
	svg_style(f);
	fputs("</style></head><body>\n<svg width=\"0\" height=\"0\" style=\"position:absolute\">",
	      f);
	svg_defs(f);
	fputs("</svg><h1>", f);
	svg_text(f, r->file->path);
	fputs("</h1><p>", f);
	for (i = 0; i < r->nr_events; i++) {
		if (r->events[i].sideband)
			continue;
		svg_text(f, r->events[i].name);
		fprintf(f, ": %s samples. ", format_count(a, r->events[i].samples));
	}
	fprintf(f, "Regions by %s.", da_regions_name(r->regions));
	if (r->damaged)
		fputs(" <b>The input is damaged: this is what could be read.</b>", f);
	fputs("</p>\n<p><label>Show <select id=\"what\">", f);
	err = svg_each(r, o, put_section, &p);
	fputs("</select></label></p><div id=\"cell\">Point at a cell.</div>\n", f);
	p.list = false;
	p.nr = 0;
	err = err ? err : svg_each(r, o, put_section, &p);
	if (!p.nr)
		fputs("<p>Nothing to show: no sample has an address and a time.</p>\n", f);
	fprintf(f, "<script>\n%s</script></body></html>\n", script);
	return err;
}
