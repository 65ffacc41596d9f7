/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diagnose --baseline: a verdict in JSON is parsed, anything else is decoded and judged as a recording.
 */
#include "baseline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_facts_offline.h"

/* The text of a file that begins as a JSON object; NULL with *rc 0: it is something else. */
static char *json_text(const char *path, size_t *len, int *rc, struct da_error *err)
{
	FILE *f = fopen(path, "re");
	char *text;
	int c;

	*rc = 0;
	if (!f) {
		*rc = da_fail(err, DA_EIO, errno, "cannot open '%s'", path);
		return NULL;
	}
	while ((c = fgetc(f)) == ' ' || c == '\n' || c == '\t' || c == '\r')
		;
	if (c != '{') {
		fclose(f);
		return NULL;
	}
	rewind(f);
	text = malloc(DA_JSON_MAX_TEXT);
	if (text)
		*len = fread(text, 1, DA_JSON_MAX_TEXT, f);
	else
		*rc = da_fail(err, DA_ENOMEM, 0, "out of memory");
	fclose(f);
	return text;
}

static int from_recording(const char *path, struct da_compare_side *s, struct da_error *err)
{
	static const struct da_verdict_opts limits = {.max_drop_pct = -1, .min_valid_pct = -1};
	/* as diagnose -i decodes */
	struct da_offline_opts o = {.match = {.virt = true, .phys = true, .accumulate = true}};
	struct da_facts judged, decode;
	struct da_offline *off = NULL;
	struct da_verdict v;
	bool recorded;
	int rc = da_offline_open(&off, path, &o, err);

	if (!rc)
		rc = da_offline_run(off, err);
	if (rc) {
		da_offline_close(off);
		return rc;
	}
	rc = da_facts_from_offline(da_offline_result(off), &judged, &decode, &recorded);
	da_offline_close(off);
	if (!rc) {
		rc = da_verdict_judge(&judged, &limits, &v);
		if (!rc) {
			da_compare_take(s, path, &judged, &v);
			da_verdict_release(&v);
		}
		da_facts_release(&judged);
		da_facts_release(&decode);
	}
	return rc ? da_fail(err, DA_ENOMEM, 0, "out of memory") : 0;
}

int baseline_read(const char *path, struct da_compare_side *s, struct da_error *err)
{
	size_t len = 0;
	int rc;
	char *text = json_text(path, &len, &rc, err);

	if (rc)
		return rc;
	if (!text)
		return from_recording(path, s, err);
	rc = da_compare_parse(s, path, text, len);
	free(text);
	return rc ? da_fail(err, DA_EFORMAT, 0,
			    "'%s' is no verdict that diagnose --format=json wrote", path)
		  : 0;
}
