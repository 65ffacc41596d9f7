/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attr, sample, trailer and sideband parsers on any bytes.
 *
 * Input: one byte of options, one byte for attr.size, the attr, then the record. Asserted: what a parser
 * lends lies inside the record; a field is valid only if the attr asked for it; a sample that parses can be
 * built again and then reads the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "da_own.h"
#include "da_perfdata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

/* nr * size bytes at p, if there is a p, are within the record. */
static void inside(const uint8_t *rec, size_t size, const void *ptr, uint64_t nr, uint64_t each)
{
	const uint8_t *p = ptr;

	if (!p) {
		check(!nr);
		return;
	}
	check(p >= rec && p <= rec + size);
	check(nr <= (uint64_t)(rec + size - p) / each);
}

static void check_regs(const uint8_t *rec, size_t size, const struct da_regs *r, uint64_t mask,
		       bool swap)
{
	if (!r->abi) {
		check(!r->vals);
		return;
	}
	check(r->abi <= 2 && r->mask == mask && r->swap == swap);
	inside(rec, size, r->vals, (uint64_t)__builtin_popcountll(mask), 8);
}

static bool same_bytes(const void *a, const void *b, uint64_t n)
{
	return !n || !memcmp(a, b, n);
}

/* b was built from a, which may lack the padding. */
static void check_same(const struct da_samp *a, const struct da_samp *b)
{
	check(a->mask == b->mask && a->ip == b->ip && a->time_ns == b->time_ns &&
	      a->addr == b->addr);
	check(a->id == b->id && a->period == b->period && a->weight == b->weight &&
	      a->data_src == b->data_src);
	check(a->transaction == b->transaction && a->phys_addr == b->phys_addr &&
	      a->cgroup == b->cgroup);
	check(a->stream_id == b->stream_id && a->data_page_size == b->data_page_size);
	check(a->code_page_size == b->code_page_size && a->pid == b->pid && a->tid == b->tid &&
	      a->cpu == b->cpu);
	check(a->nr_callchain == b->nr_callchain &&
	      same_bytes(a->callchain, b->callchain, 8 * a->nr_callchain));
	check(a->raw_size <= b->raw_size && same_bytes(a->raw, b->raw, a->raw_size));
	check(a->nr_branches == b->nr_branches && a->hw_idx == b->hw_idx);
	check(same_bytes(a->branches, b->branches, 24 * a->nr_branches));
	check(!a->branch_counters ||
	      same_bytes(a->branch_counters, b->branch_counters, 8 * a->nr_branches));
	check(a->stack_size <= b->stack_size && same_bytes(a->stack, b->stack, a->stack_size));
	check(a->stack_dyn_size == b->stack_dyn_size);
	check(a->read_size == b->read_size && same_bytes(a->read, b->read, a->read_size));
	check(a->aux_size <= b->aux_size && same_bytes(a->aux, b->aux, a->aux_size));
	check(a->regs_user.abi == b->regs_user.abi && a->regs_intr.abi == b->regs_intr.abi);
}

static void try_sample(struct da_attr *a, const uint8_t *rec, size_t size, bool swap)
{
	static uint8_t buf[65536];
	struct da_samp s, again;
	int ret = da_samp_parse(a, rec, size, swap, &s), n;

	check(ret == 0 || ret == -DA_EDAMAGED);
	check(!(s.mask & ~(a->sample_type & DA_SAMPLE_KNOWN)));
	check((ret == 0) == (s.mask == (a->sample_type & DA_SAMPLE_KNOWN) && size >= 8));
	inside(rec, size, s.callchain, s.nr_callchain, 8);
	inside(rec, size, s.raw, s.raw_size, 1);
	inside(rec, size, s.branches, s.nr_branches, 24);
	if (s.branch_counters)
		inside(rec, size, s.branch_counters, s.nr_branches, 8);
	inside(rec, size, s.stack, s.stack_size, 1);
	inside(rec, size, s.read, s.read_size, 1);
	inside(rec, size, s.aux, s.aux_size, 1);
	check_regs(rec, size, &s.regs_user, a->sample_regs_user, swap);
	check_regs(rec, size, &s.regs_intr, a->sample_regs_intr, swap);
	if (ret || swap)
		return;
	n = da_samp_build(a, 2, &s, buf, sizeof(buf));
	if (n < 0)
		return; /* padding made it too long */
	check(n >= 8 && (a->sample_type & DA_SAMPLE_KNOWN ? n % 8 == 0 : n == 8));
	check(da_samp_parse(a, buf, (size_t)n, false, &again) == 0);
	check_same(&s, &again);
}

static void string_inside(const struct da_rec *rec, const char *s)
{
	check((const uint8_t *)s >= rec->bytes && (const uint8_t *)s < rec->bytes + rec->size);
	check((const uint8_t *)s + strlen(s) < rec->bytes + rec->size);
}

static void try_sideband(const struct da_attr *a, struct da_rec *rec)
{
	static const uint32_t types[] = {
		DA_REC_MMAP,         DA_REC_MMAP2,    DA_REC_COMM,
		DA_REC_FORK,         DA_REC_LOST,     DA_REC_AUX,
		DA_REC_LOST_SAMPLES, DA_REC_THROTTLE, DA_REC_HEADER_EVENT_TYPE};
	struct da_rec_throttle throttle;
	struct da_rec_task task;
	struct da_rec_lost lost;
	struct da_rec_comm comm;
	struct da_own_code code;
	struct da_rec_mmap map;
	struct da_rec_aux aux;
	enum da_own_kind kind;
	const uint8_t *payload;
	uint16_t version;
	size_t len;
	int ret;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		rec->type = types[i];
		ret = da_sample_id_parse(a, rec);
		check(ret == 0 || (ret == -DA_EDAMAGED && !rec->has));
		if (!da_rec_comm_parse(rec, &comm))
			string_inside(rec, comm.comm);
		if (!da_rec_mmap_parse(rec, &map)) {
			string_inside(rec, map.filename);
			check(map.build_id_size <= sizeof(map.build_id));
			check(!(map.has_ino && map.has_build_id));
		}
		da_rec_task_parse(rec, &task);
		da_rec_lost_parse(rec, &lost);
		da_rec_aux_parse(rec, &aux);
		da_rec_throttle_parse(rec, &throttle);
		if (!da_own_parse(rec, &kind, &version, &payload, &len))
			inside(rec->bytes, rec->size, payload, len, 1);
	}
	if (!da_own_code_parse(rec->bytes, rec->size, rec->swap, &code))
		inside(rec->bytes, rec->size, code.bytes, code.len, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct da_attr a;
	struct da_rec rec;
	uint8_t built[144], *copy;
	struct da_attr again;
	char name[16];
	size_t attr_size;
	bool swap;

	if (size < 2)
		return 0;
	swap = data[0] & 1;
	attr_size = 64 + data[1] % 96;
	data += 2;
	size -= 2;
	if (size < attr_size || size > 65535) {
		check(da_attr_parse(data, size < 64 ? size : 63, swap, &a) == -DA_EDAMAGED);
		return 0;
	}
	check(da_attr_parse(data, attr_size, swap, &a) == 0);
	check(a.size == attr_size);
	da_attr_build(&a, 144, built);
	check(da_attr_parse(built, 144, false, &again) == 0);
	again.size = a.size;
	check(!memcmp(&a, &again, sizeof(a)));
	da_attr_name(&a, name, sizeof(name));
	check(name[0] && memchr(name, 0, sizeof(name)));
	data += attr_size;
	size -= attr_size;

	copy = malloc(size ? size : 1);
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	try_sample(&a, copy, size, swap);
	a.sample_type &= DA_SAMPLE_KNOWN;
	try_sample(&a, copy, size, swap);
	if (size >= 8) {
		rec = (struct da_rec){
			.bytes = copy, .size = (uint32_t)size, .swap = swap, .misc = data[4]};
		rec.misc |= (uint16_t)(data[5] << 8);
		try_sideband(&a, &rec);
	}
	free(copy);
	return 0;
}
