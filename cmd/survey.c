/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diagnose --list and --coverage: what coverage.c finds goes to a renderer.
 */
#include "survey.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coverage.h"
#include "pager.h"

static FILE *open_output(const char *output)
{
	FILE *f = output && strcmp(output, "-") != 0 ? fopen(output, "we") : stdout;

	if (!f)
		fprintf(stderr, "damon-attrs: error: cannot write '%s': %s\n", output,
			strerror(errno));
	return f;
}

static int close_output(const char *output, FILE *f)
{
	if (f == stdout) /* main() looks whether it took all */
		return 0;
	if (ferror(f) | fclose(f)) {
		fprintf(stderr, "damon-attrs: error: cannot write '%s'\n", output);
		return 1;
	}
	return 0;
}

int survey_list(const char *output, enum survey_format format)
{
	struct da_source s[SOURCES_MAX];
	size_t nr = sources_list(s);
	unsigned columns = 0, rows;
	FILE *f = open_output(output);

	if (!f)
		return 1;
	if (format == SURVEY_JSON)
		da_render_sources_json(f, s, nr);
	else
		da_render_sources_text(f, s, nr, pager_terminal(&columns, &rows) ? columns : 0);
	return close_output(output, f);
}

static int write_coverage(const struct da_coverage *c, const char *output,
			  enum survey_format format)
{
	FILE *f = open_output(output);

	if (!f)
		return 1;
	switch (format) {
	case SURVEY_JSON:
		da_render_coverage_json(f, c);
		break;
	case SURVEY_MAIL:
		da_render_coverage_mail(f, c);
		break;
	default:
		da_render_coverage_text(f, c);
	}
	return close_output(output, f);
}

int survey_coverage(const struct opts_events *o, int argc, char **argv, bool quiet,
		    const char *output, enum survey_format format)
{
	struct da_coverage *c = malloc(sizeof(*c));
	int status;

	if (!c) {
		fputs("damon-attrs: error: out of memory\n", stderr);
		return 1;
	}
	status = coverage_run(o, argv, argc, quiet, c);
	if (!status)
		status = write_coverage(c, output, format);
	free(c);
	return status;
}
