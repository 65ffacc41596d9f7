/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes without a container as a recording: one event, and AUXTRACE records that say where the bytes lie, as
 * the recorder of a perf.data file would have written them.
 *
 * The bytes are not read here: who decodes them asks for them (da_reader_payload()).
 */
#include <stdlib.h>
#include <string.h>

#include "perfdata_priv.h"

#define PIECE (4u << 20) /* of a trace that may be decoded in parts */

static int open_raw(struct da_reader *r, const char *path, const struct da_attr *a,
		    const char *name, struct da_error *err)
{
	int ret = reader_begin(r, path, err);

	if (ret < 0)
		return ret;
	ret = reader_add_input(r, path, true, err);
	if (ret < 0)
		return ret;
	if (!r->inputs[0].size)
		return da_fail(err, DA_EFORMAT, 0, "cannot read '%s': it is empty", r->path);
	if (events_add(&r->events, a, NULL, 0) < 0 || events_freeze(&r->events) < 0 ||
	    events_set_name(&r->events, 0, name, strlen(name)) < 0)
		return reader_no_memory(r, err);
	r->no_container = true;
	r->info.mode = DA_FILE_RAW;
	r->info.finalised = true;
	r->info.bytes = r->inputs[0].size;
	return 0;
}

int da_reader_open_raw(struct da_reader **out, const char *path, const struct da_attr *a,
		       const char *name, struct da_error *err)
{
	struct da_error local = {0};
	struct da_reader *r = calloc(1, sizeof(*r));
	int ret;

	*out = NULL;
	if (!err)
		err = &local;
	if (!r)
		return da_fail(err, DA_ENOMEM, 0, "cannot read '%s': out of memory", path);
	ret = open_raw(r, path, a, name, err);
	if (ret < 0) {
		da_reader_close(r);
		return ret;
	}
	*out = r;
	return 0;
}

int raw_next(struct da_reader *r, struct da_rec *rec)
{
	uint64_t left = r->inputs[0].size - r->raw_at, n = left < PIECE ? left : PIECE;
	struct { /* PERF_RECORD_AUXTRACE */
		uint32_t type;
		uint16_t misc, size;
		uint64_t bytes, offset, reference;
		uint32_t idx, tid, cpu, reserved;
	} x = {.type = DA_REC_AUXTRACE,
	       .size = sizeof(r->raw_rec),
	       .bytes = n,
	       .offset = r->raw_at,
	       .tid = UINT32_MAX,
	       .cpu = UINT32_MAX};

	_Static_assert(sizeof(x) == sizeof(r->raw_rec), "an AUXTRACE record has 48 bytes");
	if (!n)
		return 0;
	memcpy(r->raw_rec, &x, sizeof(x));
	*rec = (struct da_rec){.type = x.type,
			       .size = x.size,
			       .bytes = (const uint8_t *)r->raw_rec,
			       .offset = r->raw_at,
			       .payload_at = r->raw_at,
			       .payload_total = n,
			       .payload_avail = n};
	r->raw_at += n;
	return 1;
}
