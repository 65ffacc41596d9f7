/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The perf.data reader on any bytes, which it gets as a file in memory.
 *
 * Asserted: each record is at least 8 bytes long and lies inside the input, with the input's bytes, unless
 * it came out of a compressed one; pieces of a payload are contiguous and inside the input; the walk ends; a
 * scan finds the same records; damage has a message, and messages are few; records go back in time only if
 * late ones were counted.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "da_perfdata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

struct walk {
	const struct da_reader *r;
	const uint8_t *data;
	size_t size;
	uint64_t records, backwards, last, next_piece;
	bool compressed;
};

static uint32_t u32_at(const uint8_t *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return swap ? __builtin_bswap32(v) : v;
}

static void check_payload(struct walk *w, const struct da_rec *rec)
{
	if (!rec->payload) {
		check(!rec->payload_size && !rec->payload_offset);
		return;
	}
	check(rec->type == DA_REC_AUXTRACE || rec->type == DA_REC_TRACING_DATA);
	check(rec->payload_size && rec->payload_size <= DA_PAYLOAD_PIECE);
	check(rec->payload_offset == w->next_piece);
	check(rec->payload_offset + rec->payload_size <= rec->payload_total);
	check(rec->offset + rec->size + rec->payload_offset + rec->payload_size <= w->size);
	check(!memcmp(rec->payload, w->data + rec->offset + rec->size + rec->payload_offset,
		      rec->payload_size));
	w->next_piece = rec->payload_offset + rec->payload_size;
}

static int take(void *ctx, const struct da_rec *rec)
{
	struct walk *w = ctx;
	uint32_t there;
	struct da_samp s;

	check(rec->size >= 8 && rec->size <= 65535);
	check(rec->offset < w->size && w->size - rec->offset >= 8);
	there = u32_at(w->data + rec->offset, rec->swap);
	if (there == DA_REC_COMPRESSED || there == DA_REC_COMPRESSED2) {
		w->compressed = true;
	} else {
		check(there == rec->type && rec->size <= w->size - rec->offset);
		check(!memcmp(rec->bytes, w->data + rec->offset, rec->size));
	}
	if (!rec->payload_offset)
		w->next_piece = 0;
	check_payload(w, rec);
	if (rec->payload_offset)
		return 0;
	w->records++;
	if (rec->has & DA_SAMPLE_TIME && rec->time_ns && rec->time_ns != UINT64_MAX) {
		w->backwards += rec->time_ns < w->last;
		w->last = rec->time_ns;
	}
	if (rec->event) {
		check(rec->event == da_reader_event(w->r, rec->event->index));
		if (rec->type == DA_REC_SAMPLE)
			da_samp_parse(&rec->event->attr, rec->bytes, rec->size, rec->swap, &s);
	}
	return 0;
}

static void check_info(const struct da_reader *r, size_t size)
{
	const struct da_file_info *i = da_reader_info(r);
	size_t n, sum = 0;

	check(i->bytes == size && i->mode != DA_FILE_DIRECTORY);
	check(i->damaged == (i->nr_messages > 0) && i->nr_messages <= 64);
	check(i->damaged || !(i->damaged_records || i->skipped_bytes));
	for (size_t k = 0; k < i->nr_messages; k++)
		check(*i->messages[k] && !strchr(i->messages[k], '\n'));
	for (size_t k = 0; k < i->nr_cmdline; k++)
		sum += strlen(i->cmdline[k]);
	check(sum <= size);
	check(da_reader_nr_events(r) > 0);
	for (size_t k = 0; k < da_reader_nr_events(r); k++) {
		const struct da_event *e = da_reader_event(r, k);

		check(e->index == k && e->name && *e->name && e->attr.size >= 64);
	}
	for (unsigned bit = 0; bit < 256; bit++) {
		const uint8_t *p = da_reader_feature(r, bit, &n);

		check(n <= size && (p || !n));
		if (n)
			sum += p[0] + p[n - 1];
	}
	da_reader_pmu_name(r, (uint32_t)sum);
	da_reader_arch(r);
}

static void read_all(const char *path, const uint8_t *data, size_t size)
{
	struct walk w = {.data = data, .size = size}, scanned;
	struct da_error err = {0};
	struct da_reader *r;
	struct da_rec rec;
	int ret;

	ret = da_reader_open(&r, path, &err);
	check(ret == 0 || (ret < 0 && !r && err.code == -ret && *err.msg));
	if (ret < 0)
		return;
	w.r = r;
	scanned = w;
	check_info(r, size);
	while ((ret = da_reader_next(r, &rec, &err)) > 0)
		take(&w, &rec);
	check(ret == 0 && !err.code);
	check(da_reader_next(r, &rec, &err) == 0);
	check_info(r, size);
	check(w.backwards <= da_reader_info(r)->late_records);
	if (!w.compressed)
		check(w.records <= size / 8);
	check(da_reader_scan(r, 0, take, &scanned, &err) == 0);
	check(scanned.records == w.records);
	da_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1; /* one file for all inputs: making one costs as much as a run */
	char path[64];

	if (fd < 0)
		fd = memfd_create("fuzz_reader", MFD_CLOEXEC);
	if (fd < 0 || pwrite(fd, data, size, 0) != (ssize_t)size || ftruncate(fd, (off_t)size))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_all(path, data, size);
	return 0;
}
