/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any bytes as tracing data, and any bytes as a sample of each of its tracepoints. Properties: values lie
 * inside the sample; a tracepoint is found again by what it says of itself; a sample cut anywhere is refused
 * or gives what the whole one gave; the kernel's own pipeline counts no more than it was given, and gives back what
 * it holds.
 *
 * Input: u16 length of the sample, the sample, the tracing data. Where that has no magic, it is taken as one
 * format text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "da_kernel.h"
#include "da_tracepoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define IDS 64 /* ids that are asked for without knowing them */

static void must(int ok)
{
	if (!ok)
		abort();
}

static void check_value(const struct da_tracepoint *tp, const struct da_tp_field *f,
			const uint8_t *raw, size_t len)
{
	struct da_tp_value whole, part;
	int rc = da_tracepoint_value(tp, f, raw, len, &whole);

	must(f->name && *f->name && f->type);
	must(whole.kind == f->kind);
	must(!whole.bytes || (!rc && whole.bytes >= raw && whole.bytes + whole.len <= raw + len));
	must(!rc || (!whole.u && !whole.i && !whole.len));
	if (rc || !len)
		return;
	if (!da_tracepoint_value(tp, f, raw, len / 2, &part))
		must(part.u == whole.u && part.i == whole.i && part.bytes == whole.bytes &&
		     part.len == whole.len);
}

/* The same record twice, and once in part. */
static void check_kernel(const struct da_tracepoint *tp, const uint8_t *raw, size_t len)
{
	enum da_ktp which = da_ktp_of(da_tracepoint_system(tp), da_tracepoint_name(tp));
	struct da_kernel *k = which == DA_KTP_NR ? NULL : da_kernel_new(), *copy;
	struct da_kernel_ledger l;
	char event[64];
	uint64_t given;

	if (!k)
		return;
	must(da_kernel_add(k, tp, raw, len, 1, 10) == da_kernel_add(k, tp, raw, len, 1, 20));
	(void)da_kernel_add(k, tp, raw, len / 2, 2, 5);
	given = k->records[which] + k->bad;
	must(given == 3 && k->samples <= 3 && k->valid <= k->samples && k->nr_cpus <= 4);
	must(k->gap_ns <= 10);
	da_kernel_ledger(k, &l);
	must(l.overflow + l.miss == k->missed);
	must(!l.layer[DA_STAGE_SAMPLE].in_known || l.layer[DA_STAGE_SAMPLE].in == k->samples);
	if (da_kernel_event(k, event, sizeof(event)))
		must(strspn(event,
			    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-=,/") ==
		     strlen(event));
	copy = da_kernel_copy(k);
	must(copy && copy->nr_cpus == k->nr_cpus);
	da_kernel_free(copy);
	da_kernel_free(k);
}

static void check(struct da_tracepoints *t, const struct da_tracepoint *tp, const uint8_t *raw,
		  size_t len)
{
	const struct da_tp_field *f;
	struct da_tp_damon d;

	if (!tp)
		return;
	f = da_tracepoint_fields(tp);
	must(da_tracepoint_by_id(t, da_tracepoint_id(tp)) != NULL || da_tracepoints_nr(t) > 1);
	must(da_tracepoint_find(t, da_tracepoint_system(tp), da_tracepoint_name(tp)) != NULL ||
	     da_tracepoints_nr(t) > 1);
	for (size_t i = 0; i < da_tracepoint_nr_fields(tp); i++) {
		must(da_tracepoint_field(tp, f[i].name) != NULL);
		check_value(tp, &f[i], raw, len);
	}
	check_kernel(tp, raw, len);
	if (da_tracepoint_is_damon(tp))
		(void)da_tracepoint_damon(tp, raw, len, &d);
}

/* The text as the only one of damon, byte order of this machine. */
static uint8_t *wrap(const uint8_t *text, size_t len, size_t *all)
{
	static const char head[] = "\x17\x08\x44tracing0.6";
	static const char pages[] = "header_page\0\0\0\0\0\0\0\0\0header_event\0\0\0\0\0\0\0\0";
	const uint16_t one = 1;
	const uint32_t nr = 1;
	const uint64_t size = len;
	uint8_t *b = calloc(1, 256 + len), *p = b;

	must(b != NULL);
	memcpy(p, head, sizeof(head));
	p += sizeof(head);
	*p++ = *(const uint8_t *)&one == 0;
	*p++ = sizeof(long);
	p += 4;
	memcpy(p, pages, sizeof(pages));
	p += sizeof(pages);
	p += 4; /* none of ftrace */
	memcpy(p, &nr, 4);
	memcpy(p + 4, "damon", 6);
	memcpy(p + 10, &nr, 4);
	memcpy(p + 14, &size, 8);
	memcpy(p + 22, text, len);
	*all = (size_t)(p - b) + 22 + len + 16;
	return b;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct da_tracepoints *t = da_tracepoints_new();
	uint8_t *raw, *own = NULL;
	size_t raw_len, len;
	int rc;

	must(t != NULL);
	if (size < 2 || (raw_len = data[0] | (size_t)data[1] << 8) > size - 2) {
		da_tracepoints_free(t);
		return 0;
	}
	raw = malloc(raw_len ? raw_len : 1); /* its own block, so that a byte too far is seen */
	must(raw != NULL);
	memcpy(raw, data + 2, raw_len);
	data += 2 + raw_len;
	len = size - 2 - raw_len;
	if (!len || data[0] != 0x17)
		data = own = wrap(data, len, &len);
	rc = da_tracepoints_data(t, data, len, NULL);
	must(!own || !rc);
	must(rc || da_tracepoints_long_size(t) == 4 || da_tracepoints_long_size(t) == 8);
	check(t, da_tracepoint_find(t, "damon", "damon_aggregated"), raw, raw_len);
	for (int i = 0; i < DA_KTP_NR; i++)
		check(t, da_tracepoint_find(t, "damon", da_ktp_names[i]), raw, raw_len);
	for (uint64_t id = 0; id < IDS; id++)
		check(t, da_tracepoint_by_id(t, id), raw, raw_len);
	da_tracepoints_free(t);
	free(own);
	free(raw);
	return 0;
}
