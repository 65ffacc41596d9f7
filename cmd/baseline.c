/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diagnose --baseline: a verdict in JSON is parsed, anything else is decoded and judged as a recording.
 */
#include "baseline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence.h"

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
	struct evidence ev = {.resync_bytes = -1};
	struct da_verdict v;
	int rc = evidence_from_file(path, NULL, 0, true, &ev, err);

	if (!rc && !ev.from_file)
		rc = da_fail(err, DA_EFORMAT, 0, "%s", ev.note);
	if (!rc && da_verdict_judge(&ev.facts, &limits, &v)) {
		rc = da_fail(err, DA_ENOMEM, 0, "out of memory");
	} else if (!rc) {
		da_compare_take(s, path, &ev.facts, &v);
		da_verdict_release(&v);
	}
	evidence_release(&ev);
	return rc;
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
