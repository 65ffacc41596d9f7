/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sideband records (mappings, tasks, losses, AUX notices): bodies to fields and back.
 *
 * Bodies only: the sample_id trailer that may follow is perfrec.c's. Nothing is kept; strings borrow
 * from the record.
 */
#include <string.h>

#include "da_cursor.h"
#include "da_perfdata.h"

#define REC_HEADER   8
#define BUILD_ID_MAX 20
#define MMAP2_FIXED  64 /* bytes of an MMAP2 record's body before the file name */

static struct da_cur body(const struct da_rec *rec)
{
	struct da_cur c = da_cur_from(rec->bytes, rec->size, rec->swap);

	da_cur_skip(&c, REC_HEADER);
	return c;
}

static int result(const struct da_cur *c)
{
	return da_cur_ok(c) ? 0 : -DA_EDAMAGED;
}

/* The file's identity: device and inode, or since 5.12 optionally a build id in the same 24 bytes. */
static void parse_identity(struct da_cur *c, uint16_t misc, struct da_rec_mmap *out)
{
	const uint8_t *id;

	if (!(misc & DA_MISC_MMAP_BUILD_ID)) {
		out->maj = da_cur_u32(c);
		out->min = da_cur_u32(c);
		out->ino = da_cur_u64(c);
		out->ino_gen = da_cur_u64(c);
		out->has_ino = da_cur_ok(c);
		return;
	}
	out->build_id_size = da_cur_u8(c);
	da_cur_skip(c, 3);
	id = da_cur_bytes(c, BUILD_ID_MAX);
	if (!id)
		return;
	if (out->build_id_size > BUILD_ID_MAX)
		out->build_id_size = BUILD_ID_MAX;
	memcpy(out->build_id, id, BUILD_ID_MAX);
	out->has_build_id = true;
}

int da_rec_mmap_parse(const struct da_rec *rec, struct da_rec_mmap *out)
{
	struct da_cur c = body(rec);

	memset(out, 0, sizeof(*out));
	out->pid = da_cur_u32(&c);
	out->tid = da_cur_u32(&c);
	out->addr = da_cur_u64(&c);
	out->len = da_cur_u64(&c);
	out->pgoff = da_cur_u64(&c);
	if (rec->type == DA_REC_MMAP2) {
		parse_identity(&c, rec->misc, out);
		out->prot = da_cur_u32(&c);
		out->flags = da_cur_u32(&c);
		out->has_prot = da_cur_ok(&c);
	}
	out->filename = da_cur_str(&c);
	return result(&c);
}

int da_rec_comm_parse(const struct da_rec *rec, struct da_rec_comm *out)
{
	struct da_cur c = body(rec);

	memset(out, 0, sizeof(*out));
	out->pid = da_cur_u32(&c);
	out->tid = da_cur_u32(&c);
	out->comm = da_cur_str(&c);
	out->exec = rec->misc & DA_MISC_EXEC;
	return result(&c);
}

int da_rec_task_parse(const struct da_rec *rec, struct da_rec_task *out)
{
	struct da_cur c = body(rec);

	memset(out, 0, sizeof(*out));
	out->pid = da_cur_u32(&c);
	out->ppid = da_cur_u32(&c);
	out->tid = da_cur_u32(&c);
	out->ptid = da_cur_u32(&c);
	out->time_ns = da_cur_u64(&c);
	return result(&c);
}

int da_rec_lost_parse(const struct da_rec *rec, struct da_rec_lost *out)
{
	struct da_cur c = body(rec);

	memset(out, 0, sizeof(*out));
	if (rec->type == DA_REC_LOST)
		out->id = da_cur_u64(&c);
	out->lost = da_cur_u64(&c);
	return result(&c);
}

int da_rec_aux_parse(const struct da_rec *rec, struct da_rec_aux *out)
{
	struct da_cur c = body(rec);

	memset(out, 0, sizeof(*out));
	out->offset = da_cur_u64(&c);
	out->size = da_cur_u64(&c);
	out->flags = da_cur_u64(&c);
	return result(&c);
}

int da_rec_throttle_parse(const struct da_rec *rec, struct da_rec_throttle *out)
{
	struct da_cur c = body(rec);

	memset(out, 0, sizeof(*out));
	out->time_ns = da_cur_u64(&c);
	out->id = da_cur_u64(&c);
	out->stream_id = da_cur_u64(&c);
	return result(&c);
}

/* ---- building ---- */

static uint8_t *put(uint8_t *p, const void *v, size_t n)
{
	memcpy(p, v, n);
	return p + n;
}

static void put_header(uint8_t *buf, uint32_t type, uint16_t misc, size_t size)
{
	uint16_t size16 = (uint16_t)size;

	memcpy(buf, &type, 4);
	memcpy(buf + 4, &misc, 2);
	memcpy(buf + 6, &size16, 2);
}

/* String with its NUL, padded with zeros to a multiple of 8: its bytes in the record. */
static size_t padded_len(const char *s)
{
	return (strlen(s) + 8) & ~(size_t)7;
}

static uint8_t *put_string(uint8_t *p, const char *s)
{
	size_t len = padded_len(s);

	memset(p, 0, len);
	memcpy(p, s, strlen(s));
	return p + len;
}

/* Does a record of so many bytes and the longest trailer fit? */
static bool fits(size_t bytes, size_t cap)
{
	size_t max = cap < UINT16_MAX ? cap : UINT16_MAX;

	return max >= DA_SAMPLE_ID_MAX && bytes <= max - DA_SAMPLE_ID_MAX;
}

int da_rec_mmap2_build(const struct da_attr *a, uint16_t misc, const struct da_rec_mmap *m,
		       uint64_t time_ns, uint64_t id, uint32_t cpu, uint8_t *buf, size_t cap)
{
	uint8_t *p = buf + REC_HEADER;
	size_t size;

	if (!fits(REC_HEADER + MMAP2_FIXED + padded_len(m->filename), cap))
		return -DA_ENOMEM;
	p = put(p, &m->pid, 4);
	p = put(p, &m->tid, 4);
	p = put(p, &m->addr, 8);
	p = put(p, &m->len, 8);
	p = put(p, &m->pgoff, 8);
	if (m->has_build_id) {
		uint8_t head[4] = {m->build_id_size};

		misc |= DA_MISC_MMAP_BUILD_ID;
		p = put(p, head, sizeof(head));
		p = put(p, m->build_id, BUILD_ID_MAX);
	} else {
		misc &= (uint16_t)~DA_MISC_MMAP_BUILD_ID;
		p = put(p, &m->maj, 4);
		p = put(p, &m->min, 4);
		p = put(p, &m->ino, 8);
		p = put(p, &m->ino_gen, 8);
	}
	p = put(p, &m->prot, 4);
	p = put(p, &m->flags, 4);
	p = put_string(p, m->filename);
	p += da_sample_id_build(a, m->pid, m->tid, time_ns, id, cpu, p);
	size = (size_t)(p - buf);
	put_header(buf, DA_REC_MMAP2, misc, size);
	return (int)size;
}

int da_rec_comm_build(const struct da_attr *a, const struct da_rec_comm *c, uint64_t time_ns,
		      uint64_t id, uint32_t cpu, uint8_t *buf, size_t cap)
{
	uint8_t *p = buf + REC_HEADER;
	size_t size;

	if (!fits(REC_HEADER + 8 + padded_len(c->comm), cap))
		return -DA_ENOMEM;
	p = put(p, &c->pid, 4);
	p = put(p, &c->tid, 4);
	p = put_string(p, c->comm);
	p += da_sample_id_build(a, c->pid, c->tid, time_ns, id, cpu, p);
	size = (size_t)(p - buf);
	put_header(buf, DA_REC_COMM, c->exec ? DA_MISC_EXEC : 0, size);
	return (int)size;
}
