/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes JSON to a stream: commas, indentation, escapes. It keeps the nesting and nothing else; what goes
 * where is the caller's. Ours and not json-c's, because it streams in bounded memory, gives UTF-8 whatever
 * bytes a string holds, and prints flat rows in indented text: json-c does none of these.
 */
#include "da_json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

void da_json_begin(struct da_json_out *w, FILE *f, bool compact)
{
	memset(w, 0, sizeof(*w));
	w->f = f;
	w->compact = compact;
	w->empty = true;
}

void da_json_finish(struct da_json_out *w)
{
	assert(w->depth == 0);
	fputc('\n', w->f);
}

static bool one_line(const struct da_json_out *w)
{
	return w->compact || (w->depth > 0 && w->flat[w->depth - 1]);
}

static void newline(struct da_json_out *w)
{
	unsigned i;

	fputc('\n', w->f);
	for (i = 0; i < w->depth; i++)
		fputs("  ", w->f);
}

static void quoted(FILE *f, const char *s)
{
	size_t n;

	fputc('"', f);
	while (*s) {
		n = utf8_length(s);
		if (n == 0) {
			fputs("\xef\xbf\xbd", f); /* U+FFFD */
			n = 1;
		} else if (*s == '"' || *s == '\\') {
			fputc('\\', f);
			fputc(*s, f);
		} else if (*s == '\n') {
			fputs("\\n", f);
		} else if (*s == '\t') {
			fputs("\\t", f);
		} else if (!utf8_printable(
				   s)) { /* a control character: its number is in the last byte */
			fprintf(f, "\\u%04x", (unsigned char)s[n - 1]);
		} else {
			fwrite(s, 1, n, f);
		}
		s += n;
	}
	fputc('"', f);
}

/* What stands before a value: comma, line break, key. */
static void lead(struct da_json_out *w, const char *key)
{
	if (!w->empty)
		fputc(',', w->f);
	if (w->depth > 0) {
		if (!one_line(w))
			newline(w);
		else if (!w->empty && !w->compact)
			fputc(' ', w->f);
	}
	w->empty = false;
	if (key) {
		quoted(w->f, key);
		fputs(w->compact ? ":" : ": ", w->f);
	}
}

static void open_container(struct da_json_out *w, const char *key, char first, char last, bool flat)
{
	bool inherited = one_line(w);

	assert(w->depth < DA_JSON_DEPTH);
	lead(w, key);
	fputc(first, w->f);
	w->flat[w->depth] = flat || inherited;
	w->close[w->depth++] = last;
	w->empty = true;
}

void da_json_object(struct da_json_out *w, const char *key)
{
	open_container(w, key, '{', '}', false);
}

void da_json_array(struct da_json_out *w, const char *key)
{
	open_container(w, key, '[', ']', false);
}

void da_json_flat_object(struct da_json_out *w, const char *key)
{
	open_container(w, key, '{', '}', true);
}

void da_json_flat_array(struct da_json_out *w, const char *key)
{
	open_container(w, key, '[', ']', true);
}

void da_json_close(struct da_json_out *w)
{
	bool empty = w->empty, flat = one_line(w);

	assert(w->depth > 0);
	w->depth--;
	if (!empty && !flat)
		newline(w);
	fputc(w->close[w->depth], w->f);
	w->empty = false;
}

void da_json_string(struct da_json_out *w, const char *key, const char *s)
{
	lead(w, key);
	if (s)
		quoted(w->f, s);
	else
		fputs("null", w->f);
}

void da_json_u64(struct da_json_out *w, const char *key, uint64_t v)
{
	lead(w, key);
	fprintf(w->f, "%" PRIu64, v);
}

void da_json_i64(struct da_json_out *w, const char *key, int64_t v)
{
	lead(w, key);
	fprintf(w->f, "%" PRId64, v);
}

void da_json_measured(struct da_json_out *w, const char *key, int64_t v)
{
	if (v == -1)
		da_json_null(w, key);
	else
		da_json_i64(w, key, v);
}

void da_json_hex(struct da_json_out *w, const char *key, uint64_t v)
{
	lead(w, key);
	fprintf(w->f, "\"0x%" PRIx64 "\"", v);
}

void da_json_double(struct da_json_out *w, const char *key, double v)
{
	char text[32], *comma;

	if (!isfinite(v)) {
		da_json_null(w, key);
		return;
	}
	lead(w, key);
	snprintf(text, sizeof(text), "%.6g", v);
	comma = strchr(text, ','); /* a locale's decimal point */
	if (comma)
		*comma = '.';
	fputs(text, w->f);
}

void da_json_bool(struct da_json_out *w, const char *key, bool v)
{
	lead(w, key);
	fputs(v ? "true" : "false", w->f);
}

void da_json_null(struct da_json_out *w, const char *key)
{
	lead(w, key);
	fputs("null", w->f);
}

void da_json_raw(struct da_json_out *w, const char *key, const char *text)
{
	lead(w, key);
	fputs(text, w->f);
}

bool da_json_mem_begin(struct da_json_mem *m)
{
	FILE *f;

	m->text = NULL;
	f = open_memstream(&m->text, &m->size);
	if (!f)
		return false;
	da_json_begin(&m->w, f, true);
	return true;
}

char *da_json_mem_end(struct da_json_mem *m)
{
	bool failed;

	assert(m->w.depth == 0);
	failed = ferror(m->w.f) != 0;
	if (fclose(m->w.f) || failed) {
		free(m->text);
		return NULL;
	}
	return m->text;
}
