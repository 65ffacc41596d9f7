/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a record that damo reads (json_compressed): a zlib stream of JSON, one record a target.
 *
 * A target's snapshots stand together in it, but come mixed with those of other targets: they wait in
 * files without a name. Our own JSON writer is not used, because this text may be long and is packed piece by piece.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "da_damo.h"
#include "zlib_stream.h"

#define MAX_TARGETS 256 /* files open at a time */

struct target {
	uint64_t id;
	FILE *spool;
	uint64_t snapshots, last_ns;
};

struct da_damo_out {
	uint64_t sample_us, aggr_us, update_us;
	struct target target[MAX_TARGETS];
	size_t nr;
	int error; /* errno of a spool */
};

struct da_damo_out *da_damo_out_new(uint64_t sample_us, uint64_t aggr_us, uint64_t update_us)
{
	struct da_damo_out *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->sample_us = sample_us;
	o->aggr_us = aggr_us;
	o->update_us = update_us;
	return o;
}

static struct target *target_of(struct da_damo_out *o, uint64_t id)
{
	struct target *t;
	size_t i;

	for (i = 0; i < o->nr; i++)
		if (o->target[i].id == id)
			return &o->target[i];
	if (o->nr == MAX_TARGETS) {
		o->error = EMFILE;
		return NULL;
	}
	t = &o->target[o->nr];
	*t = (struct target){.id = id, .spool = tmpfile()};
	if (!t->spool) {
		o->error = errno;
		return NULL;
	}
	o->nr++;
	return t;
}

/* As damo writes them: "4,294,967,296". */
static void put_commas(FILE *f, const char *key, uint64_t n)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%" PRIu64, n), i;

	fprintf(f, "\"%s\": \"", key);
	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			fputc(',', f);
		fputc(text[i], f);
	}
	fputs("\", ", f);
}

void da_damo_out_snapshot(struct da_damo_out *o, uint64_t target_id, uint64_t start_ns,
			  uint64_t end_ns, const struct da_damon_region *r, size_t nr)
{
	struct target *t = o->error ? NULL : target_of(o, target_id);
	uint64_t bytes = 0;
	size_t i;

	/* Of a process that was exec'ed the former space may have its last ones late. */
	if (!t || !nr || start_ns < t->last_ns)
		return;
	t->last_ns = end_ns;
	fprintf(t->spool,
		"%s{\"start_time\": \"%" PRIu64 "\", \"end_time\": \"%" PRIu64 "\", \"regions\": [",
		t->snapshots++ ? ",\n" : "", start_ns, end_ns);
	for (i = 0; i < nr; i++) {
		fputs(i ? ",\n{" : "\n{", t->spool);
		put_commas(t->spool, "start", r[i].start);
		put_commas(t->spool, "end", r[i].end);
		fprintf(t->spool,
			"\"nr_accesses\": {\"samples\": %" PRIu32 ", \"percent\": null}, "
			"\"age\": {\"usec\": null, \"aggr_intervals\": \"%" PRIu32 "\"}, "
			"\"probe_hits\": [], \"sz_filter_passed\": \"0 B\"}",
			r[i].nr_accesses, r[i].age);
		bytes += r[i].end - r[i].start;
	}
	fprintf(t->spool,
		"], \"total_bytes\": \"%" PRIu64
		"\", \"damos_stats\": null, \"sample_interval_us\": null}",
		bytes);
	if (ferror(t->spool))
		o->error = errno ? errno : EIO;
}

/* ---- the end ---- */

struct packer {
	struct deflater *z;
	FILE *f;
	bool failed;
};

static void pack(struct packer *p, const char *text, size_t len, int last)
{
	uint8_t out[8192];
	const uint8_t *in = (const uint8_t *)text;
	long n;

	do {
		n = deflater_step(p->z, &in, &len, last, out, sizeof(out));
		if (n > 0)
			fwrite(out, 1, (size_t)n, p->f);
	} while (n > 0 || len);
}

static void say(struct packer *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(struct packer *p, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < sizeof(text))
		pack(p, text, (size_t)n, 0);
}

static void put_record(struct packer *p, const struct da_damo_out *o, struct target *t)
{
	char buf[8192];
	size_t n;

	say(p, "{\"kdamond_idx\": null, \"context_idx\": null, \"intervals\": ");
	if (o->sample_us && o->aggr_us)
		say(p,
		    "{\"sample_us\": \"%" PRIu64 "\", \"aggr_us\": \"%" PRIu64
		    "\", \"ops_update_us\": \"%" PRIu64 "\", \"intervals_goal\": {\"access_bp\": "
		    "\"0\", \"aggrs\": \"0\", \"min_sample_us\": \"0\", \"max_sample_us\": \"0\"}}",
		    o->sample_us, o->aggr_us, o->update_us);
	else
		say(p, "null");
	say(p,
	    ", \"scheme_idx\": null, \"target_id\": %" PRIu64
	    ", \"scheme_filters\": [], \"snapshots\": [\n",
	    t->id);
	rewind(t->spool);
	while ((n = fread(buf, 1, sizeof(buf), t->spool)) > 0)
		pack(p, buf, n, 0);
	p->failed |= ferror(t->spool);
	say(p, "], \"data_source\": \"damon-attrs\"}");
}

void da_damo_out_free(struct da_damo_out *o)
{
	for (size_t i = 0; o && i < o->nr; i++)
		fclose(o->target[i].spool);
	free(o);
}

int da_damo_out_end(struct da_damo_out *o, FILE *f)
{
	struct packer p = {.z = deflater_new(), .f = f};
	int rc = p.z ? 0 : -DA_ENOMEM;
	size_t i;

	if (!rc && o->error) {
		errno = o->error;
		rc = -DA_EIO;
	}
	if (!rc) {
		say(&p, "[");
		for (i = 0; i < o->nr; i++) {
			if (i)
				say(&p, ",\n");
			put_record(&p, o, &o->target[i]);
		}
		pack(&p, "]", 1, 1);
		pack(&p, "", 0, 1);
		rc = p.failed ? -DA_EIO : 0;
	}
	deflater_free(p.z);
	da_damo_out_free(o);
	return rc;
}
