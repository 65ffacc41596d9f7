/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any bytes as a record of damo, of the kind that they seem to be, or of one that the first byte picks. Properties:
 * however the bytes come in pieces, the same is read; regions are in order; what is read can be written, and that
 * reads the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_damo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
	if (!ok)
		abort();
}

static struct da_damon *read_all(enum da_damo_kind kind, const uint8_t *data, size_t size,
				 size_t piece, struct da_damo_info *info)
{
	struct da_damon *to = da_damon_new();
	struct da_damo *d = to ? da_damo_new(kind, to) : NULL;

	must(d != NULL);
	for (size_t i = 0; i < size; i += piece) {
		size_t n = size - i < piece ? size - i : piece;

		must(da_damo_feed(d, data + i, n) == 0);
	}
	must(da_damo_end(d, info) == 0);
	da_damo_free(d);
	da_damon_finish(to);
	return to;
}

static void same(const struct da_damon *a, const struct da_damon *b)
{
	const struct da_damon_target *x, *y;

	must(da_damon_nr_targets(a) == da_damon_nr_targets(b));
	for (size_t i = 0; (x = da_damon_target(a, i)); i++) {
		y = da_damon_target(b, i);
		must(x->kdamond == y->kdamond && x->target_id == y->target_id);
		must(x->snapshots == y->snapshots && x->incomplete == y->incomplete);
		must(x->nr_regions == y->nr_regions && x->nr_wss == y->nr_wss);
		must(!x->nr_regions ||
		     !memcmp(x->regions, y->regions, x->nr_regions * sizeof(*x->regions)));
		must(!x->nr_wss || !memcmp(x->wss, y->wss, x->nr_wss * sizeof(*x->wss)));
		for (size_t k = 0; k < x->nr_regions; k++) {
			must(x->regions[k].start < x->regions[k].end);
			must(!k || x->regions[k - 1].end <= x->regions[k].start);
		}
	}
}

/* One record a target: names must differ, so they are numbered. */
static void write_and_read(const struct da_damon *d)
{
	struct da_damo_out *o = da_damo_out_new(5000, 100000, 1000000);
	const struct da_damon_target *x, *y;
	struct da_damo_info info;
	struct da_damon *again;
	char *text = NULL;
	size_t len = 0, nr = 0;
	FILE *f = open_memstream(&text, &len);

	must(o && f);
	for (size_t i = 0; i < 8 && (x = da_damon_target(d, i)); i++)
		da_damo_out_snapshot(o, i, 5, 6, x->regions, x->nr_regions);
	must(da_damo_out_end(o, f) == 0);
	must(fclose(f) == 0);
	must(da_damo_detect((const uint8_t *)text, len) == DA_DAMO_ZIP);
	again = read_all(DA_DAMO_ZIP, (const uint8_t *)text, len, len, &info);
	must(!info.damaged);
	for (size_t i = 0; i < 8 && (x = da_damon_target(d, i)); i++) {
		if (!x->nr_regions)
			continue;
		y = da_damon_target(again, nr++);
		must(y && y->target_id == i && y->nr_regions == x->nr_regions);
		for (size_t k = 0; k < x->nr_regions; k++)
			must(x->regions[k].start == y->regions[k].start &&
			     x->regions[k].end == y->regions[k].end &&
			     x->regions[k].nr_accesses == y->regions[k].nr_accesses);
	}
	da_damon_free(again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum da_damo_kind kind = da_damo_detect(data, size < DA_DAMO_HEAD ? size : DA_DAMO_HEAD);
	struct da_damo_info whole, pieces;
	struct da_damon *a, *b;

	if (kind == DA_DAMO_NONE && size) {
		kind = (enum da_damo_kind)(1 + data[0] % (DA_DAMO_NR - 1));
		data++;
		size--;
	}
	if (kind == DA_DAMO_NONE)
		return 0;
	a = read_all(kind, data, size, size + 1, &whole);
	b = read_all(kind, data, size, 1 + size / 7, &pieces);
	must(whole.snapshots == pieces.snapshots && whole.records == pieces.records &&
	     whole.damaged == pieces.damaged);
	same(a, b);
	write_and_read(a);
	da_damon_free(a);
	da_damon_free(b);
	return 0;
}
