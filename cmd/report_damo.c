/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of damo in `report`: as its input (found by content), and as its output (--format=damo).
 */
#include "report_damo.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "da_damo.h"

int report_damo(const char *path, FILE *out, enum report_damo_format format,
		const struct da_render_opts *o, bool quiet)
{
	struct da_damo_info info = {0};
	struct da_error err = {0};
	struct da_damon *d = NULL;
	struct stat st;
	int rc;

	if (!strcmp(path, "-") || stat(path, &st) || !S_ISREG(st.st_mode))
		return -1; /* what can be read but once is for the reader of recordings */
	rc = da_damo_read(path, &d, &info, &err);
	if (rc == 1)
		return -1;
	if (rc) {
		fprintf(stderr, "damon-attrs: error: %s\n", err.msg);
		return 1;
	}
	if (format == REPORT_DAMO_OTHER) {
		fprintf(stderr,
			"damon-attrs: error: '%s' is a record of damo: it holds regions and no samples\n",
			path);
		da_damon_free(d);
		return 1;
	}
	if (info.damaged && !quiet)
		fprintf(stderr,
			"damon-attrs: warning: '%s': %" PRIu64 " parts of it could not be read\n",
			path, info.damaged);
	if (format == REPORT_DAMO_JSON)
		da_render_damo_json(out, path, d, &info);
	else if (format == REPORT_DAMO_CSV)
		da_render_damo_csv(out, d);
	else
		da_render_damo_text(out, path, d, &info, o);
	da_damon_free(d);
	return info.damaged ? 5 : 0;
}

static void put(void *ctx, uint32_t pid, uint64_t start_ns, uint64_t end_ns,
		const struct da_damon_region *r, size_t nr)
{
	da_damo_out_snapshot(ctx, pid, start_ns, end_ns, r, nr);
}

bool report_damo_begin(struct da_match_opts *m, struct da_damo_out **w)
{
	*w = da_damo_out_new(m->adapt.sample_ns / 1000, m->adapt.aggr_ns / 1000,
			     m->adapt.update_ns / 1000);
	m->snapshot = put;
	m->snapshot_ctx = *w;
	return *w;
}

int report_damo_end(struct da_damo_out *w, FILE *out, int status)
{
	int rc = da_damo_out_end(w, out);

	if (!rc)
		return status;
	fprintf(stderr, "damon-attrs: error: cannot write the record: %s\n",
		rc == -DA_EIO ? strerror(errno) : "out of memory");
	return 1;
}
