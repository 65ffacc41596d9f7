/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Our own records inside a perf.data file (da_own.h, doc/perf-data.7): building and recognising them.
 *
 * The JSON that most kinds hold is made and read elsewhere; here it is bytes. A type 65 record without
 * our magic is perf's deprecated one and is not ours.
 */
#include "da_own.h"

#include <string.h>

#include "da_cursor.h"

#define OWN_MIN    80 /* perf reads so many bytes of a type 65 record before it skips it */
#define CODE_FIXED 48

static uint8_t *put(uint8_t *p, const void *v, size_t n)
{
	memcpy(p, v, n);
	return p + n;
}

/* Record bytes for a payload, or 0 when it does not fit. */
static size_t record_size(size_t payload, size_t cap)
{
	size_t size;

	if (payload > DA_OWN_MAX_PAYLOAD)
		return 0;
	size = (DA_OWN_HDR + payload + 7) & ~(size_t)7;
	if (size < OWN_MIN)
		size = OWN_MIN;
	return size <= cap ? size : 0;
}

/* Header before and padding after a payload that is already in place at buf + DA_OWN_HDR. */
static int frame(enum da_own_kind kind, uint16_t version, size_t payload, size_t size, uint8_t *buf)
{
	uint32_t type = DA_REC_HEADER_EVENT_TYPE, magic = DA_OWN_MAGIC, bytes = (uint32_t)payload,
		 zero = 0;
	uint16_t misc = 0, size16 = (uint16_t)size, kind16 = (uint16_t)kind;
	uint8_t *p = buf;

	p = put(p, &type, 4);
	p = put(p, &misc, 2);
	p = put(p, &size16, 2);
	p = put(p, &magic, 4);
	p = put(p, &kind16, 2);
	p = put(p, &version, 2);
	p = put(p, &bytes, 4);
	p = put(p, &zero, 4);
	memset(p + payload, 0, size - DA_OWN_HDR - payload);
	return (int)size;
}

int da_own_build(enum da_own_kind kind, uint16_t version, const void *payload, size_t len,
		 uint8_t *buf, size_t cap)
{
	size_t size = record_size(len, cap);

	if (!size)
		return -DA_ENOMEM;
	if (len)
		memcpy(buf + DA_OWN_HDR, payload, len);
	return frame(kind, version, len, size, buf);
}

int da_own_code_build(const struct da_own_code *c, uint8_t *buf, size_t cap)
{
	size_t len = CODE_FIXED + (size_t)c->len, size = record_size(len, cap);
	uint8_t *p = buf + DA_OWN_HDR;

	if (!size)
		return -DA_ENOMEM;
	p = put(p, &c->pid, 4);
	p = put(p, &c->maj, 4);
	p = put(p, &c->min, 4);
	p = put(p, &c->len, 4);
	p = put(p, &c->ino, 8);
	p = put(p, &c->ino_gen, 8);
	p = put(p, &c->addr, 8);
	p = put(p, &c->time_ns, 8);
	if (c->len)
		put(p, c->bytes, c->len);
	return frame(DA_OWN_CODE, DA_OWN_VERSION, len, size, buf);
}

int da_own_parse(const struct da_rec *rec, enum da_own_kind *kind, uint16_t *version,
		 const uint8_t **payload, size_t *len)
{
	struct da_cur c = da_cur_from(rec->bytes, rec->size, rec->swap);
	uint32_t magic, bytes;
	uint16_t k, v;

	if (rec->type != DA_REC_HEADER_EVENT_TYPE)
		return -DA_EFORMAT;
	da_cur_skip(&c, 8);
	magic = da_cur_u32(&c);
	k = da_cur_u16(&c);
	v = da_cur_u16(&c);
	bytes = da_cur_u32(&c);
	da_cur_skip(&c, 4);
	if (!da_cur_ok(&c) || magic != DA_OWN_MAGIC)
		return -DA_EFORMAT;
	*payload = da_cur_bytes(&c, bytes);
	if (!da_cur_ok(&c))
		return -DA_EDAMAGED;
	*kind = (enum da_own_kind)k;
	*version = v;
	*len = bytes;
	return 0;
}

int da_own_code_parse(const uint8_t *payload, size_t len, bool swap, struct da_own_code *out)
{
	struct da_cur c = da_cur_from(payload, len, swap);

	memset(out, 0, sizeof(*out));
	out->pid = da_cur_u32(&c);
	out->maj = da_cur_u32(&c);
	out->min = da_cur_u32(&c);
	out->len = da_cur_u32(&c);
	out->ino = da_cur_u64(&c);
	out->ino_gen = da_cur_u64(&c);
	out->addr = da_cur_u64(&c);
	out->time_ns = da_cur_u64(&c);
	out->bytes = da_cur_bytes(&c, out->len);
	return da_cur_ok(&c) ? 0 : -DA_EDAMAGED;
}
