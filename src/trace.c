/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values of kernel tracepoints as text, and what they were over a recording (da_trace.h).
 *
 * It reads no format and knows no tracepoint: tracepoint.c does. Any byte may be in a text.
 */
#include "da_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Does a number of this field name a place in memory? The format's own word for it is the print format, which
 * is code; the type and the name are nearly always enough. */
static bool is_address(const struct da_tp_field *f)
{
	static const char *const whole[] = {"start", "end", "ip", "pc", "vaddr", "paddr"};

	if (f->kind != DA_TP_UINT || f->size < 4)
		return false;
	if (strchr(f->type, '*') || strstr(f->name, "addr"))
		return true;
	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
		if (!strcmp(f->name, whole[i]))
			return true;
	return false;
}

/* Characters that would end a line or a word of it are shown as \xNN. */
static void put_chars(const uint8_t *p, size_t len, char *buf, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < len && used + 5 < size; i++) {
		if (p[i] > 0x20 && p[i] < 0x7f && p[i] != '\\')
			buf[used++] = (char)p[i];
		else
			used += (size_t)snprintf(buf + used, size - used, "\\x%02x", p[i]);
	}
	buf[used] = '\0';
}

static void put_value(const struct da_trace_field *f, const struct da_tp_value *v, char *buf,
		      size_t size)
{
	size_t used = 0;

	switch (v->kind) {
	case DA_TP_INT:
		snprintf(buf, size, "%" PRId64, v->i);
		break;
	case DA_TP_UINT:
		snprintf(buf, size, f->address ? "0x%" PRIx64 : "%" PRIu64, v->u);
		break;
	case DA_TP_TEXT:
		put_chars(v->bytes, v->len, buf, size);
		break;
	default:
		*buf = '\0';
		for (size_t i = 0; i < v->len && used + 3 < size; i++)
			used += (size_t)snprintf(buf + used, size - used, "%02x", v->bytes[i]);
		break;
	}
}

static struct da_trace_field field_of(const struct da_tp_field *f)
{
	return (struct da_trace_field){.field = f, .address = is_address(f)};
}

struct da_trace *da_trace_new(const struct da_tracepoint *tp)
{
	const struct da_tp_field *f = da_tracepoint_fields(tp);
	struct da_trace *t = calloc(1, sizeof(*t));
	size_t nr = da_tracepoint_nr_fields(tp);

	if (!t)
		return NULL;
	t->tp = tp;
	t->fields = calloc(nr + 1, sizeof(*t->fields));
	if (!t->fields) {
		free(t);
		return NULL;
	}
	for (size_t i = 0; i < nr; i++)
		if (!f[i].common)
			t->fields[t->nr_fields++] = field_of(&f[i]);
	return t;
}

void da_trace_free(struct da_trace *t)
{
	if (t)
		free(t->fields);
	free(t);
}

static void add_number(struct da_trace_field *f, const struct da_tp_value *v)
{
	bool is_signed = v->kind == DA_TP_INT, less, more;

	less = is_signed ? v->i < (int64_t)f->min : v->u < f->min;
	more = is_signed ? v->i > (int64_t)f->max : v->u > f->max;
	if (!f->values || less)
		f->min = v->u;
	if (!f->values || more)
		f->max = v->u;
	if (is_signed) {
		int64_t sum = (int64_t)f->sum;

		f->overflow |= __builtin_add_overflow(sum, v->i, &sum);
		f->sum = (uint64_t)sum;
	} else {
		f->overflow |= __builtin_add_overflow(f->sum, v->u, &f->sum);
	}
}

int da_trace_add(struct da_trace *t, const uint8_t *raw, size_t len)
{
	struct da_tp_value v;
	int rc = 0;

	t->records++;
	for (size_t i = 0; i < t->nr_fields; i++) {
		struct da_trace_field *f = &t->fields[i];

		if (da_tracepoint_value(t->tp, f->field, raw, len, &v)) {
			rc = -DA_EDAMAGED;
			continue;
		}
		if (v.kind == DA_TP_INT || v.kind == DA_TP_UINT)
			add_number(f, &v);
		f->values++;
		put_value(f, &v, f->last, sizeof(f->last));
	}
	t->bad += rc != 0;
	return rc;
}

void da_trace_line(const struct da_tracepoint *tp, const uint8_t *raw, size_t len, char *buf,
		   size_t size)
{
	const struct da_tp_field *f = da_tracepoint_fields(tp);
	size_t nr = da_tracepoint_nr_fields(tp), used = 0;

	*buf = '\0';
	for (size_t i = 0; i < nr; i++) {
		struct da_trace_field one = field_of(&f[i]);
		struct da_tp_value v;
		char value[256] = "?";
		int n;

		if (f[i].common)
			continue;
		if (!da_tracepoint_value(tp, &f[i], raw, len, &v))
			put_value(&one, &v, value, sizeof(value));
		n = snprintf(buf + used, size - used, "%s%s=%s", used ? " " : "", f[i].name, value);
		if (n < 0 || (size_t)n >= size - used)
			return;
		used += (size_t)n;
	}
}
