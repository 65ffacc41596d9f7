/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints by their format texts (da_tracepoint.h). Tracing data is only indexed at first; a text is read
 * when its tracepoint is asked for, by libtraceevent, whose only user this file is.
 *
 * libtraceevent trusts the kernel that wrote the text. Ours may come from anywhere, so it is given a text of
 * known shape, made of those lines that were checked here, and without the expressions of the print format,
 * which nobody here evaluates. Values are read here, within their bytes.
 */
#include "da_tracepoint.h"

#include <event-parse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_cursor.h"

#define MAX_FIELDS 512   /* of a tracepoint; the kernel's largest has about 70 */
#define MAX_DECL   256   /* bytes of a declaration */
#define MAX_NAME   128   /* bytes of the name of a system or a tracepoint */
#define MAX_NUMBER 65535 /* offsets and sizes: a raw sample is smaller */
#define MAX_ID     0x7fffffff

static const uint8_t magic[10] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

enum damon_field { TARGET_ID, NR_REGIONS, START, END, NR_ACCESSES, AGE, NR_DAMON };
static const char *const damon_names[NR_DAMON] = {"target_id", "nr_regions",  "start",
						  "end",       "nr_accesses", "age"};

struct da_tracepoint {
	const struct da_tracepoints *set;
	char *system, *name;
	uint64_t id;
	struct da_tp_field *fields;
	size_t nr_fields;
	bool is_damon;
	const struct da_tp_field *damon[NR_DAMON]; /* AGE may be NULL */
};

/* A text of the tracing data; borrowed. */
struct format {
	const char *system, *name, *text; /* the system has a terminator, the others have not */
	size_t name_len, text_len;
	uint64_t id;
	struct da_tracepoint *tp; /* once it was asked for */
	bool bad;
};

struct da_tracepoints {
	struct tep_handle *tep;
	struct format *formats;
	size_t nr, room;
	bool taken, big_endian, swap;
	unsigned long_size;
};

struct da_tracepoints *da_tracepoints_new(void)
{
	struct da_tracepoints *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->tep = tep_alloc();
	if (!t->tep) {
		free(t);
		return NULL;
	}
	t->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	t->long_size = sizeof(long);
	return t;
}

static void free_tracepoint(struct da_tracepoint *tp)
{
	if (!tp)
		return;
	free(tp->system);
	free(tp->name);
	free(tp->fields);
	free(tp);
}

void da_tracepoints_free(struct da_tracepoints *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr; i++)
		free_tracepoint(t->formats[i].tp);
	free(t->formats);
	tep_free(t->tep);
	free(t);
}

bool da_tracepoints_big_endian(const struct da_tracepoints *t)
{
	return t->big_endian;
}

unsigned da_tracepoints_long_size(const struct da_tracepoints *t)
{
	return t->long_size;
}

size_t da_tracepoints_nr(const struct da_tracepoints *t)
{
	return t->nr;
}

/* ---- a format text ---- */

struct text {
	const char *p, *end;
};

static bool next_line(struct text *t, struct text *line)
{
	const char *nl;

	if (t->p == t->end)
		return false;
	nl = memchr(t->p, '\n', (size_t)(t->end - t->p));
	*line = (struct text){t->p, nl ? nl : t->end};
	t->p = nl ? nl + 1 : t->end;
	return true;
}

static bool eat(struct text *t, const char *what)
{
	size_t n = strlen(what);

	if ((size_t)(t->end - t->p) < n || memcmp(t->p, what, n))
		return false;
	t->p += n;
	return true;
}

static bool eat_number(struct text *t, uint64_t max, uint64_t *out)
{
	const char *first = t->p;

	for (*out = 0; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++) {
		*out = *out * 10 + (uint64_t)(*t->p - '0');
		if (*out > max)
			return false;
	}
	return t->p > first;
}

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* libtraceevent takes this word for a string of perf's, and leaks memory over it where none may stand. */
static bool has_bad_word(const char *p, size_t len)
{
	static const char word[] = "LOCAL_PR_FMT";

	return memmem(p, len, word, sizeof(word) - 1) != NULL;
}

static bool is_word(const char *p, size_t len)
{
	if (!len || len > MAX_NAME || has_bad_word(p, len))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_word_char(p[i]))
			return false;
	return true;
}

/* "name: NAME", "ID: NUMBER", "format:". Then *t is at the fields. */
static bool eat_head(struct text *t, const char **name, size_t *name_len, uint64_t *id)
{
	struct text line;

	if (!next_line(t, &line) || !eat(&line, "name: ") ||
	    !is_word(line.p, (size_t)(line.end - line.p)))
		return false;
	*name = line.p;
	*name_len = (size_t)(line.end - line.p);
	if (!next_line(t, &line) || !eat(&line, "ID: ") || !eat_number(&line, MAX_ID, id) ||
	    line.p != line.end)
		return false;
	return next_line(t, &line) && eat(&line, "format:");
}

static bool eat_word(struct text *t, struct text *word)
{
	*word = *t;
	while (t->p < t->end && is_word_char(*t->p))
		t->p++;
	word->end = t->p;
	return word->end > word->p;
}

static bool word_is(const struct text *word, const char *what)
{
	struct text w = *word;

	return eat(&w, what) && w.p == w.end;
}

/* "const struct foo * * p", words and stars that end in a word; *first and the number of words in *nr. */
static bool eat_words(struct text *t, struct text *first, size_t *nr)
{
	struct text word;
	bool star = false;

	for (*nr = 0;;) {
		if (*nr && eat(t, "*")) {
			star = true;
		} else if (eat_word(t, &word)) {
			if (*word.p <= '9' || word.end - word.p > MAX_NAME)
				return false;
			/* marks of a place, which only the first word can be */
			if ((*nr || star) &&
			    (word_is(&word, "__data_loc") || word_is(&word, "__rel_loc")))
				return false;
			*first = *nr ? *first : word;
			++*nr;
			star = false;
		} else {
			return *nr && !star;
		}
		eat(t, " ");
	}
}

/* "unsigned long args[6]", "const char * p", or with a mark "__data_loc char[] name". */
static bool is_declaration(const char *p, size_t len)
{
	struct text t = {p, p + len}, first = {p, p}, word;
	size_t nr;

	if (!len || len > MAX_DECL || has_bad_word(p, len) || !eat_words(&t, &first, &nr))
		return false;
	if (word_is(&first, "__data_loc") || word_is(&first, "__rel_loc")) {
		if (t.p == t.end)
			return nr > 2; /* "__data_loc cpumask_t cpumask" */
		return nr > 1 && eat(&t, "[] ") && eat_word(&t, &word) && *word.p > '9' &&
		       t.p == t.end;
	}
	while (eat(&t, "[")) {
		eat_word(&t, &word);
		if (!eat(&t, "]"))
			return false;
	}
	return nr > 1 && t.p == t.end;
}

/* Copies a line "\tfield:DECLARATION;\toffset:N;\tsize:N;\tsigned:N;" to out; kernels before 2.6.33 have no
 * "signed". */
static bool copy_field(struct text *line, FILE *out)
{
	uint64_t offset, size, is_signed = 0;
	const char *decl, *semicolon;

	if (!eat(line, "\tfield:"))
		return false;
	decl = line->p;
	semicolon = memchr(decl, ';', (size_t)(line->end - decl));
	if (!semicolon || !is_declaration(decl, (size_t)(semicolon - decl)))
		return false;
	line->p = semicolon + 1;
	if (!eat(line, "\toffset:") || !eat_number(line, MAX_NUMBER, &offset) ||
	    !eat(line, ";\tsize:") || !eat_number(line, MAX_NUMBER, &size) || !eat(line, ";"))
		return false;
	if (eat(line, "\tsigned:") && (!eat_number(line, 1, &is_signed) || !eat(line, ";")))
		return false;
	if (line->p != line->end)
		return false;
	return fprintf(out, "\tfield:%.*s;\toffset:%u;\tsize:%u;\tsigned:%u;\n",
		       (int)(semicolon - decl), decl, (unsigned)offset, (unsigned)size,
		       (unsigned)is_signed) > 0;
}

/* The common fields, an empty line, the others. */
static bool copy_fields(struct text *t, FILE *out)
{
	struct text line;
	size_t nr = 0, gaps = 0;

	while (next_line(t, &line)) {
		if (eat(&line, "print fmt:"))
			return nr && gaps; /* its expressions stay out */
		if (line.p == line.end) {
			gaps++;
			if (gaps == 1)
				fputc('\n', out);
			continue;
		}
		if (++nr > MAX_FIELDS || !copy_field(&line, out))
			return false;
	}
	return nr && gaps;
}

/* The text that libtraceevent is to read; NULL: there is none to be made of this one. */
static char *checked_text(const struct format *f, size_t *len)
{
	struct text t = {f->text, f->text + f->text_len};
	const char *name;
	size_t name_len;
	uint64_t id;
	char *text = NULL;
	FILE *out = open_memstream(&text, len);
	bool ok;

	if (!out)
		return NULL;
	ok = eat_head(&t, &name, &name_len, &id);
	if (ok)
		fprintf(out, "name: %.*s\nID: %u\nformat:\n", (int)name_len, name, (unsigned)id);
	ok = ok && copy_fields(&t, out);
	fputs("\nprint fmt: \"\"\n", out);
	if (fclose(out) || !ok) {
		free(text);
		return NULL;
	}
	return text;
}

/* ---- what libtraceevent made of it ---- */

static enum da_tp_kind kind_of(const struct tep_format_field *f)
{
	if (f->flags &
	    (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC)) /* it says string of u8 arrays too */
		return f->flags & TEP_FIELD_IS_STRING && strstr(f->type, "char") ? DA_TP_TEXT
										 : DA_TP_BYTES;
	if (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8)
		return DA_TP_BYTES;
	return f->flags & TEP_FIELD_IS_SIGNED ? DA_TP_INT : DA_TP_UINT;
}

static void add_fields(struct da_tracepoint *tp, const struct tep_format_field *f, bool common)
{
	for (; f; f = f->next)
		tp->fields[tp->nr_fields++] =
			(struct da_tp_field){.name = f->name,
					     .type = f->type,
					     .kind = kind_of(f),
					     .offset = (uint32_t)f->offset,
					     .size = (uint32_t)f->size,
					     .common = common,
					     .dynamic = f->flags & TEP_FIELD_IS_DYNAMIC,
					     .relative = f->flags & TEP_FIELD_IS_RELATIVE};
}

static size_t count(const struct tep_format_field *f)
{
	size_t n = 0;

	for (; f; f = f->next)
		n++;
	return n;
}

static void find_damon(struct da_tracepoint *tp)
{
	if (strcmp(tp->system, "damon") || strcmp(tp->name, "damon_aggregated"))
		return;
	tp->is_damon = true;
	for (size_t i = 0; i < NR_DAMON; i++) {
		const struct da_tp_field *f = da_tracepoint_field(tp, damon_names[i]);

		if (f && f->kind != DA_TP_UINT && f->kind != DA_TP_INT)
			f = NULL;
		tp->damon[i] = f;
		tp->is_damon &= f || i == AGE;
	}
}

static struct da_tracepoint *read_format(struct da_tracepoints *t, const struct format *f)
{
	struct da_tracepoint *tp;
	struct tep_event *event = NULL;
	size_t len;
	char *text = checked_text(f, &len);

	if (!text)
		return NULL;
	/* the event belongs to t->tep; one that could not be read has the flag, or is not there */
	if (tep_parse_format(t->tep, &event, text, len, f->system) || !event ||
	    event->flags & TEP_EVENT_FL_FAILED)
		event = NULL;
	free(text);
	tp = event ? calloc(1, sizeof(*tp)) : NULL;
	if (!tp)
		return NULL;
	tp->set = t;
	tp->id = f->id;
	tp->system = strdup(f->system);
	tp->name = strndup(f->name, f->name_len);
	tp->fields = calloc(count(event->format.common_fields) + count(event->format.fields) + 1,
			    sizeof(*tp->fields));
	if (!tp->system || !tp->name || !tp->fields) {
		free_tracepoint(tp);
		return NULL;
	}
	add_fields(tp, event->format.common_fields, true);
	add_fields(tp, event->format.fields, false);
	find_damon(tp);
	return tp;
}

/* ---- tracing data ---- */

/* A text of a system; one without a name and an id is of no use to anybody. */
static int add_format(struct da_tracepoints *t, const char *system, const uint8_t *p, size_t len)
{
	struct format f = {.system = system, .text = (const char *)p, .text_len = len};
	struct text text = {f.text, f.text + len};

	if (!is_word(system, strnlen(system, MAX_NAME + 1)) ||
	    !eat_head(&text, &f.name, &f.name_len, &f.id))
		return 0;
	if (t->nr == t->room) {
		size_t room = t->room ? t->room * 2 : 16;
		struct format *more = reallocarray(t->formats, room, sizeof(*more));

		if (!more)
			return -DA_ENOMEM;
		t->formats = more;
		t->room = room;
	}
	t->formats[t->nr++] = f;
	return 0;
}

/* u32 count of texts, each u64 size and that many bytes */
static int take_formats(struct da_tracepoints *t, const char *system, struct da_cur *c)
{
	uint32_t nr = da_cur_u32(c);
	int rc = 0;

	for (uint32_t i = 0; i < nr && da_cur_ok(c) && !rc; i++) {
		uint64_t size = da_cur_u64(c);
		const uint8_t *p = da_cur_bytes(c, size);

		if (p)
			rc = add_format(t, system, p, (size_t)size);
	}
	return rc;
}

/* A name with its terminator, u64 size, that many bytes */
static bool skip_named(struct da_cur *c, const char *name)
{
	const char *s = da_cur_str(c);

	if (s && strcmp(s, name))
		c->bad = true;
	da_cur_skip(c, da_cur_u64(c));
	return da_cur_ok(c);
}

static int take_data(struct da_tracepoints *t, struct da_cur *c)
{
	uint32_t nr;
	int rc;

	if (!skip_named(c, "header_page") || !skip_named(c, "header_event"))
		return 0;
	rc = take_formats(t, "ftrace", c);
	nr = rc ? 0 : da_cur_u32(c);
	for (uint32_t i = 0; i < nr && da_cur_ok(c) && !rc; i++) {
		const char *system = da_cur_str(c);

		if (system)
			rc = take_formats(t, system, c);
	}
	if (rc)
		return rc;
	da_cur_skip(c, da_cur_u32(c)); /* kallsyms */
	da_cur_skip(c, da_cur_u32(c)); /* printk formats */
	return 0;
}

int da_tracepoints_data(struct da_tracepoints *t, const uint8_t *p, size_t len,
			struct da_error *err)
{
	struct da_cur c = da_cur_from(p, len, false);
	const uint8_t *begin = da_cur_bytes(&c, sizeof(magic));
	const char *version;
	uint8_t order;
	int rc;

	if (t->taken)
		return da_fail(err, DA_EBUG, 0, "a set of tracepoints takes tracing data once");
	if (!begin || memcmp(begin, magic, sizeof(magic)))
		return da_fail(err, DA_EFORMAT, 0, "tracing data does not begin as such");
	t->taken = true;
	version = da_cur_str(&c);
	order = da_cur_u8(&c);
	t->long_size = da_cur_u8(&c);
	if (!da_cur_ok(&c) || order > 1 || (t->long_size != 4 && t->long_size != 8))
		return da_fail(err, DA_EFORMAT, 0,
			       "tracing data has no byte order or size of long");
	t->big_endian = order;
	t->swap = order != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	c.swap = t->swap;
	da_cur_skip(&c, 4); /* page size */
	tep_set_file_bigendian(t->tep, order ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(t->tep, (int)t->long_size);
	rc = take_data(t, &c);
	if (rc)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	if (!strcmp(version, "0.6"))
		da_cur_skip(&c, da_cur_u64(&c)); /* saved command names */
	return da_cur_ok(&c) ? 0
			     : da_fail(err, DA_EDAMAGED, 0,
				       "tracing data does not fit its %zu bytes", len);
}

/* ---- what the caller asks ---- */

static const struct da_tracepoint *open_format(struct da_tracepoints *t, struct format *f)
{
	if (!f->tp && !f->bad) {
		f->tp = read_format(t, f);
		f->bad = !f->tp;
	}
	return f->tp;
}

const struct da_tracepoint *da_tracepoint_find(struct da_tracepoints *t, const char *system,
					       const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < t->nr; i++) {
		struct format *f = &t->formats[i];

		if (f->name_len == len && !memcmp(f->name, name, len) && !strcmp(f->system, system))
			return open_format(t, f);
	}
	return NULL;
}

const struct da_tracepoint *da_tracepoint_by_id(struct da_tracepoints *t, uint64_t id)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->formats[i].id == id)
			return open_format(t, &t->formats[i]);
	return NULL;
}

const char *da_tracepoint_system(const struct da_tracepoint *tp)
{
	return tp->system;
}

const char *da_tracepoint_name(const struct da_tracepoint *tp)
{
	return tp->name;
}

uint64_t da_tracepoint_id(const struct da_tracepoint *tp)
{
	return tp->id;
}

size_t da_tracepoint_nr_fields(const struct da_tracepoint *tp)
{
	return tp->nr_fields;
}

const struct da_tp_field *da_tracepoint_fields(const struct da_tracepoint *tp)
{
	return tp->fields;
}

const struct da_tp_field *da_tracepoint_field(const struct da_tracepoint *tp, const char *name)
{
	for (size_t i = 0; i < tp->nr_fields; i++)
		if (!strcmp(tp->fields[i].name, name))
			return &tp->fields[i];
	return NULL;
}

/* ---- values ---- */

static uint64_t number(struct da_cur *c, const struct da_tp_field *f)
{
	uint64_t v;

	switch (f->size) {
	case 1:
		v = da_cur_u8(c);
		break;
	case 2:
		v = da_cur_u16(c);
		break;
	case 4:
		v = da_cur_u32(c);
		break;
	default:
		return da_cur_u64(c);
	}
	if (f->kind == DA_TP_INT && v >> (f->size * 8 - 1))
		v |= UINT64_MAX << (f->size * 8);
	return v;
}

/* A dynamic field's own place; bad if its 4 bytes do not fit. */
static struct da_cur dynamic(struct da_cur *c, const uint8_t *raw, size_t len,
			     const struct da_tp_field *f)
{
	uint32_t where = da_cur_u32(c);
	struct da_cur d = da_cur_from(raw, len, c->swap);

	d.bad = c->bad;
	da_cur_skip(&d,
		    (uint64_t)(where & 0xffff) + (f->relative ? (uint64_t)f->offset + f->size : 0));
	return da_cur_sub(&d, where >> 16);
}

int da_tracepoint_value(const struct da_tracepoint *tp, const struct da_tp_field *f,
			const uint8_t *raw, size_t len, struct da_tp_value *out)
{
	struct da_cur c = da_cur_from(raw, len, tp->set->swap), bytes;
	const uint8_t *nul;

	*out = (struct da_tp_value){.kind = f->kind};
	da_cur_skip(&c, f->offset);
	if (f->kind == DA_TP_UINT || f->kind == DA_TP_INT) {
		out->u = number(&c, f);
		out->i = (int64_t)out->u;
		return da_cur_ok(&c) ? 0 : -DA_EDAMAGED;
	}
	bytes = f->dynamic ? dynamic(&c, raw, len, f) : da_cur_sub(&c, f->size);
	if (!da_cur_ok(&bytes))
		return -DA_EDAMAGED;
	out->bytes = bytes.p;
	out->len = bytes.len;
	nul = f->kind == DA_TP_TEXT && bytes.len ? memchr(bytes.p, 0, bytes.len) : NULL;
	if (nul)
		out->len = (size_t)(nul - bytes.p);
	return 0;
}

bool da_tracepoint_is_damon(const struct da_tracepoint *tp)
{
	return tp->is_damon;
}

int da_tracepoint_damon(const struct da_tracepoint *tp, const uint8_t *raw, size_t len,
			struct da_tp_damon *out)
{
	uint64_t v[NR_DAMON] = {0};

	*out = (struct da_tp_damon){.has_age = tp->damon[AGE]};
	for (size_t i = 0; i < NR_DAMON; i++) {
		struct da_tp_value value;

		if (!tp->damon[i])
			continue;
		if (da_tracepoint_value(tp, tp->damon[i], raw, len, &value))
			return -DA_EDAMAGED;
		v[i] = value.u;
	}
	out->target_id = v[TARGET_ID];
	out->start = v[START];
	out->end = v[END];
	out->nr_regions = (uint32_t)v[NR_REGIONS];
	out->nr_accesses = (uint32_t)v[NR_ACCESSES];
	out->age = (uint32_t)v[AGE];
	return 0;
}
