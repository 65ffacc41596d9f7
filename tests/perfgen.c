/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes perf.data files for tests (perfgen.h). Written from the format alone; see doc/perf-data.7.
 */
#include "perfgen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *must(void *p)
{
	if (!p) {
		fprintf(stderr, "out of memory\n");
		abort();
	}
	return p;
}

/* ---- bytes ---- */

void gen_free(struct gen *g)
{
	free(g->p);
	g->p = NULL;
	g->len = g->cap = 0;
}

void gen_bytes(struct gen *g, const void *p, size_t n)
{
	if (n > g->cap - g->len) {
		while (n > g->cap - g->len)
			g->cap = g->cap ? 2 * g->cap : 256;
		g->p = must(realloc(g->p, g->cap));
	}
	if (n)
		memcpy(g->p + g->len, p, n);
	g->len += n;
}

void gen_fill(struct gen *g, uint8_t byte, size_t n)
{
	while (n--)
		gen_bytes(g, &byte, 1);
}

void gen_u16(struct gen *g, uint16_t v)
{
	if (g->swap)
		v = __builtin_bswap16(v);
	gen_bytes(g, &v, sizeof(v));
}

void gen_u32(struct gen *g, uint32_t v)
{
	if (g->swap)
		v = __builtin_bswap32(v);
	gen_bytes(g, &v, sizeof(v));
}

void gen_u64(struct gen *g, uint64_t v)
{
	if (g->swap)
		v = __builtin_bswap64(v);
	gen_bytes(g, &v, sizeof(v));
}

void gen_set_u16(struct gen *g, size_t at, uint16_t v)
{
	if (g->swap)
		v = __builtin_bswap16(v);
	memcpy(g->p + at, &v, sizeof(v));
}

void gen_set_u64(struct gen *g, size_t at, uint64_t v)
{
	if (g->swap)
		v = __builtin_bswap64(v);
	memcpy(g->p + at, &v, sizeof(v));
}

void gen_padded(struct gen *g, const char *s, size_t pad)
{
	size_t n = strlen(s) + 1;

	gen_bytes(g, s, n);
	gen_fill(g, 0, (pad - n % pad) % pad);
}

/* ---- records ---- */

size_t gen_rec(struct gen *g, uint32_t type, uint16_t misc)
{
	size_t at = g->len;

	gen_u32(g, type);
	gen_u16(g, misc);
	gen_u16(g, 0);
	return at;
}

void gen_end(struct gen *g, size_t rec)
{
	gen_set_u16(g, rec + 6, (uint16_t)(g->len - rec));
}

static uint8_t mirrored(uint8_t b)
{
	uint8_t r = 0;

	for (int i = 0; i < 8; i++) {
		if (b & 1 << i)
			r |= (uint8_t)(0x80 >> i);
	}
	return r;
}

void gen_attr(struct gen *g, const struct da_attr *a, size_t size)
{
	struct gen t = {.swap = g->swap};
	bool big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != g->swap;

	gen_u32(&t, a->type);
	gen_u32(&t, (uint32_t)size);
	gen_u64(&t, a->config);
	gen_u64(&t, a->sample_period);
	gen_u64(&t, a->sample_type);
	gen_u64(&t, a->read_format);
	for (int i = 0; i < 8; i++) {
		uint8_t b = (uint8_t)(a->flags >> 8 * i);

		b = big ? mirrored(b) : b;
		gen_bytes(&t, &b, 1);
	}
	gen_u32(&t, a->wakeup_events);
	gen_u32(&t, a->bp_type);
	gen_u64(&t, a->config1);
	gen_u64(&t, a->config2);
	gen_u64(&t, a->branch_sample_type);
	gen_u64(&t, a->sample_regs_user);
	gen_u32(&t, a->sample_stack_user);
	gen_u32(&t, (uint32_t)a->clockid);
	gen_u64(&t, a->sample_regs_intr);
	gen_u32(&t, a->aux_watermark);
	gen_u16(&t, a->sample_max_stack);
	gen_u16(&t, 0);
	gen_u32(&t, a->aux_sample_size);
	gen_u32(&t, a->aux_action);
	gen_u64(&t, a->sig_data);
	gen_u64(&t, a->config3);
	gen_u64(&t, a->config4);
	if (size > t.len)
		gen_fill(&t, 0xa5, size - t.len);
	gen_bytes(g, t.p, size);
	gen_free(&t);
}

static void u64_array(struct gen *g, const uint8_t *p, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t v;

		memcpy(&v, p + 8 * i, 8);
		gen_u64(g, v);
	}
}

static unsigned bits(uint64_t v)
{
	return (unsigned)__builtin_popcountll(v);
}

void gen_sample_body(struct gen *g, const struct da_attr *a, const struct da_samp *s)
{
	uint64_t t = a->sample_type;

	if (t & 1 << 16)
		gen_u64(g, s->id);
	if (t & 1 << 0)
		gen_u64(g, s->ip);
	if (t & 1 << 1) {
		gen_u32(g, s->pid);
		gen_u32(g, s->tid);
	}
	if (t & 1 << 2)
		gen_u64(g, s->time_ns);
	if (t & 1 << 3)
		gen_u64(g, s->addr);
	if (t & 1 << 6)
		gen_u64(g, s->id);
	if (t & 1 << 9)
		gen_u64(g, s->stream_id);
	if (t & 1 << 7) {
		gen_u32(g, s->cpu);
		gen_u32(g, 0);
	}
	if (t & 1 << 8)
		gen_u64(g, s->period);
	if (t & 1 << 4)
		u64_array(g, s->read, s->read_size / 8);
	if (t & 1 << 5) {
		gen_u64(g, s->nr_callchain);
		u64_array(g, s->callchain, s->nr_callchain);
	}
	if (t & 1 << 10) {
		uint32_t pad = -(4 + s->raw_size) % 8;

		gen_u32(g, s->raw_size + pad);
		gen_bytes(g, s->raw, s->raw_size);
		gen_fill(g, 0, pad);
	}
	if (t & 1 << 11) {
		gen_u64(g, s->nr_branches);
		if (a->branch_sample_type & 1 << 17)
			gen_u64(g, s->hw_idx);
		u64_array(g, s->branches, 3 * s->nr_branches);
		if (a->branch_sample_type & 1 << 19)
			u64_array(g, s->branch_counters, s->nr_branches);
	}
	if (t & 1 << 12) {
		gen_u64(g, s->regs_user.abi);
		if (s->regs_user.abi)
			u64_array(g, s->regs_user.vals, bits(a->sample_regs_user));
	}
	if (t & 1 << 13) {
		gen_u64(g, s->stack_size);
		if (s->stack_size) {
			gen_bytes(g, s->stack, s->stack_size);
			gen_u64(g, s->stack_dyn_size);
		}
	}
	if (t & (1 << 14 | 1 << 24))
		gen_u64(g, s->weight);
	if (t & 1 << 15)
		gen_u64(g, s->data_src);
	if (t & 1 << 17)
		gen_u64(g, s->transaction);
	if (t & 1 << 18) {
		gen_u64(g, s->regs_intr.abi);
		if (s->regs_intr.abi)
			u64_array(g, s->regs_intr.vals, bits(a->sample_regs_intr));
	}
	if (t & 1 << 19)
		gen_u64(g, s->phys_addr);
	if (t & 1 << 21)
		gen_u64(g, s->cgroup);
	if (t & 1 << 22)
		gen_u64(g, s->data_page_size);
	if (t & 1 << 23)
		gen_u64(g, s->code_page_size);
	if (t & 1 << 20) {
		gen_u64(g, s->aux_size);
		gen_bytes(g, s->aux, s->aux_size);
	}
}

void gen_trailer(struct gen *g, const struct da_attr *a, uint32_t pid, uint32_t tid, uint64_t time,
		 uint64_t id, uint32_t cpu)
{
	uint64_t t = a->sample_type;

	if (!(a->flags & 1 << 18))
		return;
	if (t & 1 << 1) {
		gen_u32(g, pid);
		gen_u32(g, tid);
	}
	if (t & 1 << 2)
		gen_u64(g, time);
	if (t & 1 << 6)
		gen_u64(g, id);
	if (t & 1 << 9)
		gen_u64(g, id);
	if (t & 1 << 7) {
		gen_u32(g, cpu);
		gen_u32(g, 0);
	}
	if (t & 1 << 16)
		gen_u64(g, id);
}

void gen_sample(struct gen *g, const struct da_attr *a, const struct da_samp *s)
{
	size_t rec = gen_rec(g, 9, 2);

	gen_sample_body(g, a, s);
	gen_end(g, rec);
}

void gen_comm(struct gen *g, const struct da_attr *a, const char *comm, uint32_t pid, uint64_t time,
	      uint64_t id)
{
	size_t rec = gen_rec(g, 3, 0);

	gen_u32(g, pid);
	gen_u32(g, pid);
	gen_padded(g, comm, 8);
	gen_trailer(g, a, pid, pid, time, id, 0);
	gen_end(g, rec);
}

void gen_round(struct gen *g)
{
	gen_end(g, gen_rec(g, 68, 0));
}

void gen_auxtrace(struct gen *g, const void *payload, size_t n, uint64_t claimed, uint64_t offset)
{
	size_t rec = gen_rec(g, 71, 0);

	gen_u64(g, claimed);
	gen_u64(g, offset);
	gen_u64(g, 0); /* reference */
	gen_u32(g, 0); /* idx */
	gen_u32(g, 7); /* tid */
	gen_u32(g, 1); /* cpu */
	gen_u32(g, 0);
	gen_end(g, rec);
	gen_bytes(g, payload, n);
}

/* ---- files ---- */

void gen_file_free(struct gen_file *f)
{
	gen_free(&f->data);
	for (int i = 0; i < 256; i++)
		gen_free(&f->feature[i]);
}

/* A string of a feature section. */
static void feature_string(struct gen *g, const char *s)
{
	gen_u32(g, (uint32_t)((strlen(s) + 64) & ~(size_t)63));
	gen_padded(g, s, 64);
}

void gen_features(struct gen_file *f)
{
	static const struct {
		int bit;
		const char *s;
	} strings[] = {{3, "thishost"}, {4, "6.12.0-test"},      {5, "6.12.1"},
		       {6, "x86_64"},   {8, "Some CPU @ 3 GHz"}, {9, "GenuineIntel,6,106,6"}};
	struct gen *g;

	for (int i = 0; i < 256; i++)
		f->feature[i].swap = f->data.swap;
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		feature_string(&f->feature[strings[i].bit], strings[i].s);
	gen_u32(&f->feature[7], 8);
	gen_u32(&f->feature[7], 4);
	gen_u64(&f->feature[10], 16296848);
	g = &f->feature[11];
	gen_u32(g, 3);
	feature_string(g, "/usr/bin/perf");
	feature_string(g, "record");
	feature_string(
		g,
		"a long argument that takes more than sixty-four bytes with its terminating NUL byte");
	g = &f->feature[12];
	gen_u32(g, (uint32_t)f->nr_ev);
	gen_u32(g, 128);
	for (size_t i = 0; i < f->nr_ev; i++) {
		gen_attr(g, &f->ev[i].attr, 128);
		gen_u32(g, (uint32_t)f->ev[i].nr_ids);
		feature_string(g, f->ev[i].name ? f->ev[i].name : "");
		for (size_t k = 0; k < f->ev[i].nr_ids; k++)
			gen_u64(g, f->ev[i].ids[k]);
	}
	g = &f->feature[16];
	gen_u32(g, 2);
	gen_u32(g, 4);
	feature_string(g, "cpu");
	gen_u32(g, 9);
	feature_string(g, "arm_spe_0");
	gen_u64(&f->feature[21], 1000);
	gen_u64(&f->feature[21], 99000);
	gen_u64(&f->feature[23], 1);
	gen_fill(&f->feature[200], 0xee, 40); /* nobody knows it */
}

static bool has_feature(const struct gen_file *f, int bit)
{
	return f->feature[bit].len || f->forced[bit];
}

static void bitmap(const struct gen_file *f, struct gen *out)
{
	for (int word = 0; word < 4; word++) {
		uint64_t v = 0;

		for (int bit = 0; bit < 64; bit++) {
			if (!f->patched && has_feature(f, 64 * word + bit))
				v |= 1ull << bit;
		}
		if (f->words32) {
			gen_u32(out, (uint32_t)v);
			gen_u32(out, (uint32_t)(v >> 32));
		} else {
			gen_u64(out, v);
		}
	}
}

static size_t attr_size(const struct gen_file *f)
{
	return f->attr_size ? f->attr_size : 128;
}

/* ids of all events, then the attrs; returns the offset of the attrs. */
static size_t attrs(const struct gen_file *f, struct gen *out)
{
	size_t at = out->len, start;

	for (size_t i = 0; i < f->nr_ev; i++) {
		for (size_t k = 0; k < f->ev[i].nr_ids; k++)
			gen_u64(out, f->ev[i].ids[k]);
	}
	start = out->len;
	for (size_t i = 0; i < f->nr_ev; i++) {
		gen_attr(out, &f->ev[i].attr, attr_size(f));
		gen_u64(out, at);
		gen_u64(out, 8 * f->ev[i].nr_ids);
		at += 8 * f->ev[i].nr_ids;
	}
	return start;
}

static void features(const struct gen_file *f, struct gen *out)
{
	size_t at = out->len;

	for (int i = 0; i < 256; i++)
		at += has_feature(f, i) ? 16 : 0;
	for (int i = 0; i < 256; i++) {
		if (!has_feature(f, i))
			continue;
		gen_u64(out, at);
		gen_u64(out, f->feature[i].len);
		at += f->feature[i].len;
	}
	for (int i = 0; i < 256; i++)
		gen_bytes(out, f->feature[i].p, f->feature[i].len);
}

size_t gen_file_build(const struct gen_file *f, struct gen *out)
{
	size_t data, attrs_at;

	out->swap = f->data.swap;
	if (f->v1)
		gen_bytes(out, "PERFFILE", 8);
	else
		gen_u64(out, 0x32454c4946524550u);
	gen_u64(out, f->header72 ? 72 : 104);
	gen_u64(out, attr_size(f) + 16);
	gen_fill(out, 0, 48);
	if (!f->header72)
		bitmap(f, out);
	attrs_at = f->attrs_last ? 0 : attrs(f, out);
	data = out->len;
	gen_bytes(out, f->data.p, f->data.len);
	if (!f->header72 && !f->unfinished && !f->patched)
		features(f, out);
	if (f->attrs_last)
		attrs_at = attrs(f, out);
	gen_set_u64(out, 24, attrs_at);
	gen_set_u64(out, 32, f->nr_ev * (attr_size(f) + 16));
	gen_set_u64(out, 40, data);
	gen_set_u64(out, 48, f->unfinished ? 0 : f->patched ? f->patched : f->data.len);
	return data;
}

void gen_pipe_build(const struct gen_file *f, struct gen *out)
{
	size_t rec;

	out->swap = f->data.swap;
	gen_u64(out, 0x32454c4946524550u);
	gen_u64(out, 16);
	for (size_t i = 0; i < f->nr_ev; i++) {
		const struct gen_event *e = &f->ev[i];

		rec = gen_rec(out, 64, 0);
		gen_attr(out, &e->attr, attr_size(f));
		for (size_t k = 0; k < e->nr_ids; k++)
			gen_u64(out, e->ids[k]);
		gen_end(out, rec);
	}
	gen_bytes(out, f->data.p, f->data.len);
	/* Late on purpose. */
	for (size_t i = 0; i < f->nr_ev; i++) {
		const struct gen_event *e = &f->ev[i];

		if (!e->name || !e->nr_ids)
			continue;
		rec = gen_rec(out, 78, 0);
		gen_u64(out, 2);
		gen_u64(out, e->ids[0]);
		gen_padded(out, e->name, 8);
		gen_end(out, rec);
	}
	for (int i = 0; i < 256; i++) {
		if (!has_feature(f, i) || i == 12)
			continue;
		rec = gen_rec(out, 80, 0);
		gen_u64(out, (uint64_t)i);
		gen_bytes(out, f->feature[i].p, f->feature[i].len);
		gen_end(out, rec);
	}
}

char *gen_write(const void *p, size_t n)
{
	const char *dir = getenv("TMPDIR");
	char *path;
	int fd;

	if (asprintf(&path, "%s/da-test-XXXXXX", dir ? dir : "/tmp") < 0)
		abort();
	fd = mkstemp(path);
	if (fd < 0 || write(fd, p, n) != (ssize_t)n || close(fd) < 0) {
		perror(path);
		abort();
	}
	return path;
}

void gen_unlink(char *path)
{
	unlink(path);
	free(path);
}
