/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes that follow an AUXTRACE or TRACING_DATA record: piece by piece with the record, or wherever the
 * caller wants them.
 *
 * Which bytes they are was found by perfdata_stream.c.
 */
#include <stdlib.h>

#include "perfdata_priv.h"

void pieces_begin(struct pieces *p, const struct input *in, const struct da_rec *rec)
{
	p->in = in;
	p->at = rec->payload_at;
	p->total = rec->payload_total;
	p->avail = rec->payload_avail;
	p->done = 0;
	p->active = true;
}

int pieces_next(struct pieces *p, struct da_rec *rec, struct da_error *err)
{
	uint64_t left = p->avail - p->done;
	size_t n = left < DA_PAYLOAD_PIECE ? (size_t)left : DA_PAYLOAD_PIECE;
	int ret;

	if (n > p->room) { /* no more than there are bytes */
		free(p->buf);
		p->buf = malloc(n);
		p->room = p->buf ? n : 0;
		if (!p->buf)
			return da_fail(err, DA_ENOMEM, 0, "cannot read '%s': out of memory",
				       p->in->name);
	}
	ret = n ? input_read(p->in, p->at + p->done, p->buf, n, err) : 0;
	if (ret < 0)
		return ret;
	rec->payload = n ? p->buf : NULL;
	rec->payload_size = n;
	rec->payload_offset = p->done;
	rec->payload_total = p->total;
	p->done += n;
	p->active = p->done < p->avail;
	return 0;
}

void da_reader_leave_payloads(struct da_reader *r)
{
	r->leave_payloads = true;
}

int da_reader_payload(const struct da_reader *r, uint32_t payload_input, uint64_t at, void *buf,
		      size_t n, struct da_error *err)
{
	const struct input *in = payload_input < r->nr_inputs ? &r->inputs[payload_input] : NULL;

	if (!in || at > in->size || n > in->size - at)
		return da_fail(err, DA_EBUG, 0, "read of '%s' at offset 0x%llx beyond its end",
			       r->path, (unsigned long long)at);
	return input_read(in, at, buf, n, err);
}
