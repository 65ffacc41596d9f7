/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of AMD IBS: a raw op sample from its registers, and decoding of one sample. Header-only.
 */
#ifndef IBS_SAMPLE_H
#define IBS_SAMPLE_H

#include <check.h>

#include "da_ibs.h"
#include "fuzz/decode_run.h"

#define GOOD (1u << 17 | 1u << 18) /* IbsOpCtl: enabled, valid */

struct sample {
	uint32_t caps, family, model;
	uint64_t ctl, rip, data1, data2, data3, lin, phys;
	uint64_t more[2]; /* slots 7 and 8 */
	unsigned nr_more;
};

static inline size_t put(uint8_t *p, const struct sample *s)
{
	uint64_t regs[] = {s->ctl, s->rip,  s->data1,   s->data2,  s->data3,
			   s->lin, s->phys, s->more[0], s->more[1]};
	size_t n = 4;

	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(s->caps >> 8 * i);
	for (unsigned r = 0; r < 7 + s->nr_more; r++)
		for (unsigned i = 0; i < 8; i++)
			p[n++] = (uint8_t)(regs[r] >> 8 * i);
	return n;
}

/* The reason if there was no report, else DA_DROP_NR. */
static inline enum da_drop decode(const char *name, const struct da_input *proto,
				  struct da_report *out)
{
	const struct da_decoder *d = da_decoder_find(name);
	struct decode_result res = {0};
	enum da_drop why = DA_DROP_NR;

	ck_assert_ptr_nonnull(d);
	ck_assert(decode_windows(d, NULL, proto, NULL, NULL, false, &res));
	ck_assert(decode_balanced(&res));
	ck_assert_uint_eq(res.calls, 1);
	for (int i = 0; i < DA_DROP_NR; i++)
		if (res.drops[i])
			why = (enum da_drop)i;
	memset(out, 0, sizeof(*out));
	if (res.nr)
		*out = res.reports[0];
	decode_release(&res);
	return why;
}

static inline enum da_drop decode_sample(const struct sample *s, struct da_report *out)
{
	uint8_t raw[128];
	struct da_input in = {
		.bytes = raw, .len = put(raw, s), .cpu_family = s->family, .cpu_model = s->model};

	return decode("ibs_op", &in, out);
}

#endif
