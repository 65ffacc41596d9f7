/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opening a recording: header and sections; what is refused and what is only damage.
 *
 * A file is refused when nothing in it can be read: no header, no attr. Everything else that does not
 * fit is a message and costs what it concerns. Records are read by perfdata_next.c.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "da_cursor.h"
#include "perfdata_priv.h"

#define HEADER_FULL  104
#define HEADER_OLD   72 /* without feature bits */
#define HEADER_PIPE  16
#define WINDOW_MIN   (16u << 10)
#define WINDOW_BYTES (1u << 20)

#define llu(v) ((unsigned long long)(v))

/* ---- messages ---- */

static void __attribute__((format(printf, 2, 0)))
add_message(struct da_reader *r, const char *fmt, va_list ap)
{
	char *text;

	if (r->info.nr_messages + 1 >= MAX_MESSAGES) {
		/* The last line says how many more there were. */
		r->nr_suppressed++;
		if (asprintf(&text, "%zu further messages are not shown", r->nr_suppressed) < 0)
			return;
		free(r->messages[MAX_MESSAGES - 1]);
		r->messages[MAX_MESSAGES - 1] = text;
		r->info.nr_messages = MAX_MESSAGES;
		return;
	}
	if (vasprintf(&text, fmt, ap) < 0)
		return;
	/* File names may hold any byte; a message is one line. */
	for (char *p = text; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	}
	r->messages[r->info.nr_messages++] = text;
}

void reader_damage(struct da_reader *r, const char *fmt, ...)
{
	va_list ap;

	r->info.damaged = true;
	va_start(ap, fmt);
	add_message(r, fmt, ap);
	va_end(ap);
}

void *reader_own(struct da_reader *r, void *p)
{
	void **owned;

	if (!p)
		return NULL;
	/* Grows at each power of two. */
	if (!(r->nr_owned & (r->nr_owned - 1))) {
		owned = reallocarray(r->owned, r->nr_owned ? 2 * r->nr_owned : 1, sizeof(*owned));
		if (!owned) {
			free(p);
			return NULL;
		}
		r->owned = owned;
	}
	r->owned[r->nr_owned++] = p;
	return p;
}

int reader_no_memory(const struct da_reader *r, struct da_error *err)
{
	return da_fail(err, DA_ENOMEM, 0, "cannot read '%s': out of memory", r->path);
}

/* ---- the header ---- */

static bool header_size_known(uint64_t size)
{
	return size == HEADER_FULL || size == HEADER_OLD || size == HEADER_PIPE;
}

/* The first 16 bytes: is it a recording, in which byte order, and how long is its header? */
static int parse_magic(struct da_reader *r, uint64_t *size, struct da_error *err)
{
	static const uint64_t magic2 =
		0x32454c4946524550u; /* a number: "PERFILE2" on a little endian machine */
	const struct input *in = &r->inputs[0];
	uint8_t b[16];
	uint64_t magic;
	int ret;

	if (!in->size)
		return da_fail(err, DA_EFORMAT, 0, "cannot read '%s': the file is empty", r->path);
	memset(b, 0, sizeof(b));
	ret = input_read(in, 0, b, in->size < sizeof(b) ? (size_t)in->size : sizeof(b), err);
	if (ret < 0)
		return ret;
	memcpy(&magic, b, 8);
	memcpy(size, b + 8, 8);
	if (!memcmp(b, "PERFFILE", 8))
		/* Version 1 wrote a string; its header's size tells the byte order. */
		r->swap = !header_size_known(*size) && header_size_known(__builtin_bswap64(*size));
	else if (magic == magic2 || magic == __builtin_bswap64(magic2))
		r->swap = magic != magic2;
	else
		return da_fail(err, DA_EFORMAT, 0, "cannot read '%s': not a perf.data file",
			       r->path);
	if (in->size < sizeof(b))
		return da_fail(err, DA_EFORMAT, 0,
			       "cannot read '%s': it ends inside the file header", r->path);
	if (r->swap)
		*size = __builtin_bswap64(*size);
	if (!header_size_known(*size))
		return da_fail(
			err, DA_EFORMAT, 0,
			"cannot read '%s': its file header claims %llu bytes, neither %u nor %u nor %u",
			r->path, llu(*size), HEADER_FULL, HEADER_OLD, HEADER_PIPE);
	return 0;
}

/* Feature bits are words of the recorder's unsigned long, so another byte order leaves two readings; every
 * recorder sets HOSTNAME. */
static void parse_bitmap(const uint8_t *p, bool swap, uint64_t bitmap[NR_FEATURES / 64])
{
	struct da_cur c = da_cur_from(p, NR_FEATURES / 8, swap);

	for (unsigned i = 0; i < NR_FEATURES / 64; i++)
		bitmap[i] = da_cur_u64(&c);
	if (!swap || bitmap[0] >> DA_FEAT_HOSTNAME & 1)
		return;
	c = da_cur_from(p, NR_FEATURES / 8, swap);
	da_cur_skip(&c, 4 * (DA_FEAT_HOSTNAME / 32));
	if (!(da_cur_u32(&c) >> (DA_FEAT_HOSTNAME % 32) & 1))
		return;
	c = da_cur_from(p, NR_FEATURES / 8, swap);
	for (unsigned i = 0; i < NR_FEATURES / 64; i++) {
		uint64_t low = da_cur_u32(&c), high = da_cur_u32(&c);

		bitmap[i] = low | high << 32;
	}
}

static int parse_header(struct da_reader *r, struct file_header *h, struct da_error *err)
{
	uint8_t b[HEADER_FULL] = {0};
	struct da_cur c;
	int ret;

	if (r->inputs[0].size < h->size)
		return da_fail(err, DA_EFORMAT, 0,
			       "cannot read '%s': it ends inside the file header", r->path);
	ret = input_read(&r->inputs[0], 0, b, (size_t)h->size, err);
	if (ret < 0)
		return ret;
	c = da_cur_from(b, sizeof(b), r->swap);
	da_cur_skip(&c, 16);
	h->attr_size = da_cur_u64(&c);
	h->attrs.off = da_cur_u64(&c);
	h->attrs.size = da_cur_u64(&c);
	h->data.off = da_cur_u64(&c);
	h->data.size = da_cur_u64(&c);
	parse_bitmap(b + HEADER_OLD, r->swap, h->bitmap);
	for (unsigned i = 0; i < NR_FEATURES / 64; i++)
		h->any_feature |= h->bitmap[i] != 0;
	if (!h->attr_size)
		return da_fail(err, DA_EFORMAT, 0, "cannot read '%s': its attrs have size 0",
			       r->path);
	return 0;
}

/* ---- data ---- */

/* Is a data section of size 0 empty, and not just unfinished? Then the table of features lies where it
 * begins, and the first section right behind the table. */
static int data_are_empty(struct da_reader *r, struct file_header *h, struct da_error *err)
{
	const struct input *in = &r->inputs[0];
	struct da_cur c;
	uint64_t sections = 0;
	uint8_t b[8];
	int ret;

	if (h->data.size || !h->any_feature || h->data.off > in->size ||
	    in->size - h->data.off < sizeof(b))
		return 0;
	ret = input_read(in, h->data.off, b, sizeof(b), err);
	if (ret < 0)
		return ret;
	for (unsigned i = 0; i < NR_FEATURES / 64; i++)
		sections += (uint64_t)__builtin_popcountll(h->bitmap[i]);
	c = da_cur_from(b, sizeof(b), r->swap);
	h->empty = da_cur_u64(&c) == h->data.off + 16 * sections;
	return 0;
}

/* Where the records lie. A recorder that was killed left data.size 0 (perf) or at its last patch (ours, and
 * no feature bits): records go on up to the end of the file, or to the next section. */
static void place_data(struct da_reader *r, const struct file_header *h, uint64_t next,
		       struct stream *s)
{
	const struct input *in = &r->inputs[0];
	uint64_t pos = h->data.off, end;

	if (pos > in->size) {
		reader_damage(r, "'%s': its data begin beyond the end of the file", in->name);
		pos = in->size;
	}
	if (h->data.size > in->size - pos) {
		reader_damage(r, "'%s': the file was cut: %llu of %llu bytes of data are there",
			      in->name, llu(in->size - pos), llu(h->data.size));
		end = in->size;
	} else {
		end = pos + h->data.size;
	}
	s->pos = pos;
	s->data_end = s->end = end;
	r->info.finalised = h->empty || (h->data.size && (h->any_feature || h->size == HEADER_OLD));
	if (r->info.finalised || end >= next)
		return;
	reader_damage(
		r,
		"'%s': the recording was not finished; what follows the first %llu bytes of data is read too",
		in->name, llu(h->data.size));
	s->end = next;
}

static int open_file(struct da_reader *r, struct stream *s, uint64_t header_size,
		     struct da_error *err)
{
	struct file_header h = {.size = header_size};
	uint64_t next, data_end;
	int ret;

	ret = parse_header(r, &h, err);
	if (ret < 0)
		return ret;
	data_end = h.data.size <= UINT64_MAX - h.data.off ? h.data.off + h.data.size : UINT64_MAX;
	ret = attrs_read(r, &h, data_end, &next, err);
	if (ret < 0)
		return ret;
	if (events_freeze(&r->events) < 0)
		return reader_no_memory(r, err);
	ret = data_are_empty(r, &h, err);
	if (ret < 0)
		return ret;
	place_data(r, &h, next, s);
	if (!h.any_feature || !r->info.finalised)
		return 0;
	ret = features_table(r, h.bitmap, data_end, err);
	if (ret < 0)
		return ret;
	return features_parse(r, err);
}

/* ---- open and close ---- */

int reader_add_input(struct da_reader *r, const char *path, bool any, struct da_error *err)
{
	r->inputs = calloc(1, sizeof(*r->inputs));
	if (!r->inputs)
		return reader_no_memory(r, err);
	if (input_open(&r->inputs[0], path, any, err) < 0)
		return -err->code;
	r->nr_inputs = 1;
	return 0;
}

static int open_inputs(struct da_reader *r, const char *path, struct da_error *err)
{
	struct stat st;
	char *data;
	int ret;

	if (!strcmp(path, "-") || stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return reader_add_input(r, path, false, err);
	r->info.mode = DA_FILE_DIRECTORY;
	if (asprintf(&data, "%s/data", path) < 0)
		return reader_no_memory(r, err);
	if (stat(data, &st) < 0)
		ret = da_fail(err, DA_EFORMAT, 0,
			      "cannot read '%s': a directory without a file 'data' is no recording",
			      path);
	else
		ret = reader_add_input(r, data, false, err);
	free(data);
	return ret;
}

static int open_streams(struct da_reader *r, const struct stream *first, struct da_error *err)
{
	size_t window = WINDOW_BYTES / r->nr_inputs;

	r->streams = calloc(r->nr_inputs, sizeof(*r->streams));
	r->progress = calloc(r->nr_inputs, sizeof(*r->progress));
	r->sorter = sorter_new(&r->blocks, r->swap);
	if (!r->streams || !r->progress || !r->sorter)
		return reader_no_memory(r, err);
	events_quick(&r->events);
	for (size_t i = 0; i < IDS_CACHED; i++)
		r->ids[i].event = NO_EVENT;
	if (window < WINDOW_MIN)
		window = WINDOW_MIN;
	for (size_t i = 0; i < r->nr_inputs; i++) {
		const struct input *in = &r->inputs[i];
		struct stream *s = &r->streams[i];

		/* Blocks are too large for many files: their records are copied. */
		stream_init(s, r, in, 0, in->size, window, r->nr_inputs == 1 ? &r->blocks : NULL);
		if (!i) {
			s->start = s->pos = first->pos;
			s->end = first->end;
			s->data_end = first->data_end;
		}
		r->info.bytes += in->size;
		r->nr_streams++;
	}
	return 0;
}

int reader_begin(struct da_reader *r, const char *path, struct da_error *err)
{
	r->path = strdup(strcmp(path, "-") ? path : "standard input");
	r->messages = calloc(MAX_MESSAGES, sizeof(*r->messages));
	r->features = calloc(1, sizeof(*r->features));
	if (!r->path || !r->messages || !r->features)
		return da_fail(err, DA_ENOMEM, 0, "cannot read '%s': out of memory", path);
	r->info.path = r->path;
	r->info.messages = (const char *const *)r->messages;
	return 0;
}

static int open_all(struct da_reader *r, const char *path, struct da_error *err)
{
	struct stream first = {0};
	uint64_t header_size = 0;
	int ret;

	ret = reader_begin(r, path, err);
	if (ret < 0)
		return ret;
	ret = open_inputs(r, path, err);
	if (ret < 0)
		return ret;
	ret = parse_magic(r, &header_size, err);
	if (ret < 0)
		return ret;
	r->info.swapped = r->swap;
	if (header_size != HEADER_PIPE) {
		ret = open_file(r, &first, header_size, err);
	} else if (r->info.mode == DA_FILE_DIRECTORY) {
		ret = da_fail(err, DA_EFORMAT, 0,
			      "cannot read '%s': its file 'data' is the output of a pipe", r->path);
	} else {
		r->info.mode = DA_FILE_PIPE;
		r->info.finalised = true;
		first.pos = HEADER_PIPE;
		first.end = first.data_end = r->inputs[0].size;
		ret = pipe_open(r, HEADER_PIPE, err);
	}
	if (ret < 0)
		return ret;
	if (events_name_rest(&r->events) < 0)
		return reader_no_memory(r, err);
	if (r->info.mode == DA_FILE_DIRECTORY) {
		ret = dir_open(r, path, err);
		if (ret < 0)
			return ret;
	}
	return open_streams(r, &first, err);
}

int da_reader_open(struct da_reader **out, const char *path, struct da_error *err)
{
	struct da_error local = {0};
	struct da_reader *r;
	int ret;

	*out = NULL;
	if (!err)
		err = &local;
	r = calloc(1, sizeof(*r));
	if (!r)
		return da_fail(err, DA_ENOMEM, 0, "cannot read '%s': out of memory", path);
	ret = open_all(r, path, err);
	if (ret < 0) {
		da_reader_close(r);
		return ret;
	}
	*out = r;
	return 0;
}

void da_reader_close(struct da_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nr_streams; i++)
		stream_release(&r->streams[i]);
	free(r->streams);
	free(r->progress);
	sorter_free(r->sorter);
	for (size_t i = 0; i < sizeof(r->batches) / sizeof(r->batches[0]); i++)
		batch_release(&r->batches[i]);
	blocks_release(&r->blocks);
	free(r->pieces.buf);
	events_release(&r->events);
	if (r->features)
		features_release(r->features);
	free(r->features);
	for (size_t i = 0; i < r->info.nr_messages; i++)
		free(r->messages[i]);
	free(r->messages);
	for (size_t i = 0; i < r->nr_owned; i++)
		free(r->owned[i]);
	free(r->owned);
	for (size_t i = 0; i < r->nr_inputs; i++)
		input_close(&r->inputs[i]);
	free(r->inputs);
	free(r->path);
	free(r);
}

/* ---- what the caller asks ---- */

const struct da_file_info *da_reader_info(const struct da_reader *r)
{
	return &r->info;
}

size_t da_reader_nr_events(const struct da_reader *r)
{
	return r->events.nr;
}

const struct da_event *da_reader_event(const struct da_reader *r, size_t i)
{
	return i < r->events.nr ? &r->events.ev[i] : NULL;
}
