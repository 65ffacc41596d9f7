/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records of one file, in file order: framing, payloads outside records, compressed records.
 *
 * A record that does not fit where it claims to be ends the walk: records carry no mark from which the
 * next one could be found. What records mean is not looked at here.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "da_cursor.h"
#include "perfdata_priv.h"

#define SIMPLEPERF_FIRST 32769 /* simpleperf's own records: misc holds bits 31:16 of the size */
#define SIMPLEPERF_LAST  33023
#define SALVAGE_MAX      127 /* known types, and room for those of the future */
#define TRACING_MAX      16  /* a longer TRACING_DATA is simpleperf's, with its bytes inside */
#define ZIP_PIECE        (32u << 10) /* compressed bytes given to zstd at once */
/* A payload without a COMPRESSED feature to say how long the recorder's buffer was. */
#define BUDGET_DEFAULT (64u << 20)
#define BUDGET_MAX     (256u << 20)
#define BUDGET_SLACK   REC_MAX /* so that a payload as long as the buffer does not end at 0 */

void stream_init(struct stream *s, struct da_reader *r, const struct input *in, uint64_t pos,
		 uint64_t end, size_t window, struct blocks *blocks)
{
	memset(s, 0, sizeof(*s));
	s->r = r;
	s->in = in;
	s->start = s->pos = pos;
	s->end = s->data_end = end;
	window_init(&s->win, in, window, blocks);
}

void stream_release(struct stream *s)
{
	window_release(&s->win);
	unzip_free(s->zip);
	s->zip = NULL;
}

/* ---- damage ---- */

#define hex(v) ((unsigned long long)(v))

/* skipped: bytes that are lost with it. */
static void __attribute__((format(printf, 4, 0)))
vdamage(struct stream *s, uint64_t at, uint64_t skipped, const char *fmt, va_list ap)
{
	char what[192];

	s->damaged = true;
	if (s->quiet)
		return;
	vsnprintf(what, sizeof(what), fmt, ap);
	s->r->info.skipped_bytes += skipped;
	reader_damage(s->r, "'%s': record at 0x%llx %s", s->in->name, hex(at), what);
}

static void __attribute__((format(printf, 4, 5)))
lost_record(struct stream *s, uint64_t at, uint64_t skipped, const char *fmt, ...)
{
	va_list ap;

	if (!s->quiet)
		s->r->info.damaged_records++;
	va_start(ap, fmt);
	vdamage(s, at, skipped, fmt, ap);
	va_end(ap);
}

/* Nothing of this stream can be found any more. */
static void __attribute__((format(printf, 2, 3))) stop(struct stream *s, const char *fmt, ...)
{
	va_list ap;

	if (!s->quiet)
		s->r->info.damaged_records++;
	va_start(ap, fmt);
	vdamage(s, s->pos, s->end - s->pos, fmt, ap);
	va_end(ap);
	s->pos = s->end;
}

static void unknown_record(struct stream *s)
{
	if (!s->quiet)
		s->r->info.unknown_records++;
}

static int failed(const struct da_error *err)
{
	return err->code ? -err->code : -DA_EBUG;
}

/* ---- headers ---- */

struct header {
	uint32_t type;
	uint16_t misc;
	uint32_t size;
};

static inline struct header parse_header(const uint8_t *p, bool swap)
{
	struct header h;
	uint16_t size;

	memcpy(&h.type, p, 4);
	memcpy(&h.misc, p + 4, 2);
	memcpy(&size, p + 6, 2);
	if (swap) {
		h.type = __builtin_bswap32(h.type);
		h.misc = __builtin_bswap16(h.misc);
		size = __builtin_bswap16(size);
	}
	h.size = size;
	if (h.type >= SIMPLEPERF_FIRST && h.type <= SIMPLEPERF_LAST) {
		h.size |= (uint32_t)h.misc << 16;
		h.misc = 0;
	}
	return h;
}

static bool known(uint32_t type)
{
	return (type >= DA_REC_MMAP && type <= DA_REC_CALLCHAIN_DEFERRED) ||
	       (type >= DA_REC_HEADER_ATTR && type <= DA_REC_SCHEDSTAT_DOMAIN);
}

static uint64_t u64_at(const uint8_t *p, bool swap)
{
	struct da_cur c = da_cur_from(p, 8, swap);

	return da_cur_u64(&c);
}

static uint32_t u32_at(const uint8_t *p, bool swap)
{
	struct da_cur c = da_cur_from(p, 4, swap);

	return da_cur_u32(&c);
}

/* ---- plain records out of compressed ones ---- */

/* The plain bytes lost their place; nothing more of this stream's compressed records can be used. */
static void zip_lose(struct stream *s, const char *what)
{
	lost_record(s, s->zip_rec, s->zip_end - s->zip_pos, "%s", what);
	s->zip_lost = true;
	s->in_zip = false;
	s->zip->pos = s->zip->len = 0;
}

/* Feeds the next piece of the payload. An error of zstd ends the payload, after the records before it. */
static int zip_more(struct stream *s, struct da_error *err)
{
	uint64_t left = s->zip_end - s->zip_pos;
	size_t n = left < ZIP_PIECE ? (size_t)left : ZIP_PIECE, used;
	const uint8_t *in = window_at(&s->win, s->zip_pos, n, err);

	if (!in)
		return failed(err);
	if (unzip_feed(s->zip, in, n, &used, &s->zip_why) < 0)
		s->zip->pending = false;
	s->zip_pos += used;
	return 0;
}

/* No whole record is there and no byte to feed. */
static void zip_payload_end(struct stream *s)
{
	char what[160];

	if (s->zip_why) {
		snprintf(what, sizeof(what), "cannot be decompressed: %s", s->zip_why);
		zip_lose(s, what);
		return;
	}
	s->in_zip = false; /* an incomplete record waits for the next payload */
}

/* 1: a record; 0: this payload holds no further whole record; negative: as stream_next(). */
static int zip_next(struct stream *s, struct raw *raw, struct da_error *err)
{
	struct unzip *u = s->zip;

	while (s->in_zip) {
		size_t have = u->len - u->pos;
		const uint8_t *p = u->buf + u->pos;
		struct header h = {0};
		int ret;

		if (have >= REC_HEADER) {
			h = parse_header(p, s->r->swap);
			if (h.size < REC_HEADER || h.size > REC_MAX) {
				zip_lose(s, "unfolds to a record of impossible size");
				return 0;
			}
		}
		if (!h.size || have < h.size) {
			if (s->zip_why || (s->zip_pos == s->zip_end && !u->pending)) {
				zip_payload_end(s);
				return 0;
			}
			ret = zip_more(s, err);
			if (ret < 0)
				return ret;
			continue;
		}
		u->pos += h.size;
		if (!known(h.type)) {
			unknown_record(s);
			continue;
		}
		if (h.type == DA_REC_COMPRESSED || h.type == DA_REC_COMPRESSED2 ||
		    h.type == DA_REC_AUXTRACE || h.type == DA_REC_TRACING_DATA) {
			lost_record(s, s->zip_rec, h.size,
				    "unfolds to a record that may not be compressed");
			continue;
		}
		raw->type = h.type;
		raw->misc = h.misc;
		raw->size = h.size;
		raw->bytes = p;
		raw->block = NO_BLOCK;
		raw->offset = s->zip_rec;
		return 1;
	}
	return 0;
}

/* Begins the payload [at, end) of the compressed record at s->pos. */
static int zip_begin(struct stream *s, uint64_t at, uint64_t end, struct da_error *err)
{
	static const uint8_t zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd}; /* begins a frame */
	uint64_t budget = s->r->features->comp_mmap_len;
	const uint8_t *magic;

	s->zip_rec = s->pos;
	if (s->r->features->comp_unsupported) {
		lost_record(s, s->pos, end - at, "is compressed, and not by zstd");
		return 0;
	}
	if (!s->zip) {
		s->zip = unzip_new();
		if (!s->zip)
			return da_fail(err, DA_ENOMEM, 0, "cannot read '%s': out of memory",
				       s->in->name);
	}
	if (s->zip_lost) {
		/* A new frame is a new beginning. */
		magic = end - at >= sizeof(zstd_magic)
				? window_at(&s->win, at, sizeof(zstd_magic), err)
				: NULL;
		if (err->code)
			return failed(err);
		if (!magic || memcmp(magic, zstd_magic, sizeof(zstd_magic)) != 0) {
			lost_record(s, s->pos, end - at,
				    "continues compressed data that were damaged before");
			return 0;
		}
		unzip_reset(s->zip);
		s->zip_lost = false;
	}
	if (!budget)
		budget = BUDGET_DEFAULT;
	unzip_payload(s->zip, end - at, (budget < BUDGET_MAX ? budget : BUDGET_MAX) + BUDGET_SLACK);
	s->zip_pos = at;
	s->zip_end = end;
	s->zip_why = NULL;
	s->in_zip = true;
	return 0;
}

/* COMPRESSED2 says its payload's size itself, because some recorders let header.size wrap at 65536.
 * Returns the whole record's bytes, 0 if it does not fit, and the payload's in *payload. */
static uint64_t compressed2_size(const uint8_t *p, const struct header *h, uint64_t left, bool swap,
				 uint64_t *payload)
{
	uint64_t size = u64_at(p + REC_HEADER, swap), whole;

	if (size > left - 16)
		return 0;
	whole = (16 + size + 7) & ~7ull;
	if (h->size >= 16 + size)
		whole = h->size;
	else if (h->size != (whole & 0xffff))
		return 0;
	*payload = size;
	return whole <= left ? whole : 0;
}

static int compressed(struct stream *s, const uint8_t *p, const struct header *h, uint64_t left,
		      struct da_error *err)
{
	uint64_t whole = h->size, payload = whole - REC_HEADER, skip = REC_HEADER;
	int ret;

	if (h->type == DA_REC_COMPRESSED2) {
		whole = compressed2_size(p, h, left, s->r->swap, &payload);
		skip = 16;
		if (!whole) {
			stop(s, "is compressed and does not fit the %llu bytes that follow",
			     hex(left));
			return 0;
		}
	}
	ret = s->skim ? 0 : zip_begin(s, s->pos + skip, s->pos + skip + payload, err);
	s->pos += whole;
	return ret;
}

/* ---- the walk ---- */

/* While salvaging what lies behind data.size, bytes need not be records at all. */
static bool looks_like_a_record(const struct header *h)
{
	return h->type && h->type <= SALVAGE_MAX && h->size >= REC_HEADER && !(h->size & 7);
}

static void stray_tail(struct stream *s, uint64_t left)
{
	s->damaged = true;
	if (!s->quiet) {
		s->r->info.skipped_bytes += left;
		reader_damage(s->r, "'%s': %llu stray bytes at 0x%llx after the last record",
			      s->in->name, hex(left), hex(s->pos));
	}
	s->pos = s->end;
}

/* AUXTRACE and TRACING_DATA: bytes follow the record. */
static void take_payload(struct stream *s, const struct header *h, uint64_t left, struct raw *raw)
{
	uint64_t total;

	raw->payload_at = raw->payload_total = raw->payload_avail = 0;
	if (h->type == DA_REC_AUXTRACE && h->size >= 16)
		total = u64_at(raw->bytes + REC_HEADER, s->r->swap);
	else if (h->type == DA_REC_TRACING_DATA && h->size >= 12 && h->size <= TRACING_MAX)
		total = u32_at(raw->bytes + REC_HEADER, s->r->swap);
	else
		return;
	raw->payload_at = s->pos;
	raw->payload_total = total;
	raw->payload_avail = total <= left ? total : left;
	s->pos += raw->payload_avail;
	if (raw->payload_avail < total)
		lost_record(s, raw->offset, 0, "claims %llu bytes after it, and %llu follow",
			    hex(total), hex(left));
}

/* Looks at the header at s->pos. 1: a record to lend or to unfold; 0: look again. */
static int frame(struct stream *s, uint64_t left, struct header *h, const uint8_t **bytes,
		 struct da_error *err)
{
	const uint8_t *p = window_at(&s->win, s->pos, REC_HEADER, err);
	uint64_t need;

	if (!p)
		return failed(err);
	*h = parse_header(p, s->r->swap);
	if (s->pos >= s->data_end && s->pos < s->end && s->data_end != s->end &&
	    !looks_like_a_record(h)) {
		stop(s,
		     "is none: the recording was not finished, and %llu bytes of something else follow",
		     hex(s->end - s->pos));
		return 0;
	}
	if (h->type == DA_REC_COMPRESSED2) {
		/* Its header.size may be 0; the payload is not read through the window at once. */
		if (left < 16) {
			stop(s, "is compressed, and only %llu bytes follow", hex(left));
			return 0;
		}
		*bytes = window_at(&s->win, s->pos, 16, err);
		return *bytes ? 1 : failed(err);
	}
	if (h->size < REC_HEADER) {
		stop(s, "claims %u bytes, too few for any record", h->size);
		return 0;
	}
	if (h->size > left) {
		stop(s, "claims %u bytes, and %llu follow", h->size, hex(left));
		return 0;
	}
	if (!known(h->type)) {
		unknown_record(s);
		s->pos += h->size;
		return 0;
	}
	need = h->type == DA_REC_COMPRESSED ? REC_HEADER : h->size;
	*bytes = window_at(&s->win, s->pos, (size_t)need, err);
	return *bytes ? 1 : failed(err);
}

int stream_next(struct stream *s, struct raw *raw, struct da_error *err)
{
	for (;;) {
		const uint8_t *bytes = NULL;
		struct header h = {0};
		uint64_t left;
		int ret;

		if (s->in_zip) {
			ret = zip_next(s, raw, err);
			if (ret)
				return ret;
			continue;
		}
		left = s->end - s->pos;
		if (left < REC_HEADER)
			break;
		ret = frame(s, left, &h, &bytes, err);
		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		if (h.type == DA_REC_COMPRESSED || h.type == DA_REC_COMPRESSED2) {
			ret = compressed(s, bytes, &h, left, err);
			if (ret < 0)
				return ret;
			continue;
		}
		raw->type = h.type;
		raw->misc = h.misc;
		raw->size = h.size;
		raw->bytes = bytes;
		raw->block = s->win.block;
		raw->offset = s->pos;
		s->pos += h.size;
		if (h.type == DA_REC_AUXTRACE || h.type == DA_REC_TRACING_DATA)
			take_payload(s, &h, left - h.size, raw);
		return 1;
	}
	if (s->pos < s->end)
		stray_tail(s, s->end - s->pos);
	if (s->zip && s->zip->len > s->zip->pos) {
		lost_record(s, s->zip_rec, s->zip->len - s->zip->pos,
			    "unfolds to a last record that is not complete");
		s->zip->pos = s->zip->len;
	}
	return 0;
}
