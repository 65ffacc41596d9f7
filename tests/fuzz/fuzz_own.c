/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any text as one of our own JSON records, any bytes as code bytes. Properties: what is read can be written
 * and reads the same again; strings end inside their fields; code bytes lie inside the record.
 *
 * Input: one byte that chooses the kind, the payload. The reader's record around it: fuzz_sample.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "da_own.h"
#include "da_own_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
	if (!ok)
		abort();
}

static void ended(const char *s, size_t room)
{
	must(memchr(s, 0, room) != NULL);
}

/* The first writing makes UTF-8 of whatever the strings hold; from then on nothing may change. */
static void try_info(const char *text, size_t len)
{
	struct da_own_info a, b, c;
	char *first, *second, *third;

	if (da_own_info_parse(text, len, &a))
		return;
	ended(a.version, sizeof(a.version));
	ended(a.host, sizeof(a.host));
	for (size_t i = 0; i < a.nr_events; i++) {
		ended(a.events[i].name, sizeof(a.events[i].name));
		ended(a.events[i].unit, sizeof(a.events[i].unit));
		ended(a.events[i].dropped_bits, sizeof(a.events[i].dropped_bits));
		must(a.events[i].producer < DA_PROD_NR);
	}
	first = da_own_info_text(&a);
	must(first && !da_own_info_parse(first, strlen(first), &b));
	must(b.nr_events == a.nr_events && b.arch == a.arch);
	second = da_own_info_text(&b);
	must(second && !da_own_info_parse(second, strlen(second), &c));
	third = da_own_info_text(&c);
	must(third && !strcmp(second, third));
	free(first);
	free(second);
	free(third);
	da_own_info_release(&a);
	da_own_info_release(&b);
	da_own_info_release(&c);
}

static void try_ledger(const char *text, size_t len)
{
	struct da_own_ledger a, b;
	char *first, *second;

	if (da_own_ledger_parse(text, len, &a))
		return;
	must(a.cpu.state <= DA_STATE_RUNNING);
	first = da_own_ledger_text(&a);
	must(first && !da_own_ledger_parse(first, strlen(first), &b));
	must(a.event == b.event && a.cpu.cpu == b.cpu.cpu && a.cpu.state == b.cpu.state);
	must(!memcmp(&a.cpu.ledger, &b.cpu.ledger, sizeof(a.cpu.ledger)));
	second = da_own_ledger_text(&b);
	must(second && !strcmp(first, second));
	free(first);
	free(second);
}

static void try_loss(const char *text, size_t len)
{
	struct da_own_loss a, b;
	char *again;

	if (da_own_loss_parse(text, len, &a))
		return;
	again = da_own_loss_text(&a);
	must(again && !da_own_loss_parse(again, strlen(again), &b));
	must(a.counter == b.counter && a.records == b.records && a.samples == b.samples &&
	     a.throttled == b.throttled && a.pending == b.pending);
	free(again);
}

static void try_end(const char *text, size_t len)
{
	struct da_own_end a, b, c;
	char *first, *second;

	if (da_own_end_parse(text, len, &a))
		return;
	ended(a.reason, sizeof(a.reason));
	first = da_own_end_text(&a);
	must(first && !da_own_end_parse(first, strlen(first), &b));
	must(a.command_status == b.command_status && a.samples == b.samples);
	second = da_own_end_text(&b);
	must(second && !da_own_end_parse(second, strlen(second), &c));
	must(!strcmp(b.reason, c.reason));
	free(first);
	free(second);
}

static void try_step(const char *text, size_t len)
{
	struct da_own_step a, b;
	char *again;

	if (da_own_step_parse(text, len, &a))
		return;
	ended(a.why, sizeof(a.why));
	again = da_own_step_text(&a);
	must(again && !da_own_step_parse(again, strlen(again), &b));
	must(a.event == b.event && a.time_ns == b.time_ns && a.from == b.from && a.to == b.to);
	free(again);
}

static void try_code(const uint8_t *bytes, size_t len, bool swap)
{
	struct da_own_code a;

	if (da_own_code_parse(bytes, len, swap, &a))
		return;
	must(!a.len || (a.bytes >= bytes && a.bytes <= bytes + len));
	must(a.len <= len && (size_t)(a.bytes - bytes) <= len - a.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;

	if (!size)
		return 0;
	copy = malloc(size > 1 ? size - 1 : 1); /* its own block: the text is not terminated */
	must(copy != NULL);
	memcpy(copy, data + 1, size - 1);
	if (data[0] == 0x88)
		try_step((const char *)copy, size - 1);
	switch (data[0] & 7) {
	case 0:
	case 1:
		try_info((const char *)copy, size - 1);
		break;
	case 2:
	case 3:
		try_ledger((const char *)copy, size - 1);
		break;
	case 4:
		try_loss((const char *)copy, size - 1);
		break;
	case 5:
		try_end((const char *)copy, size - 1);
		break;
	default:
		try_code(copy, size - 1, data[0] & 1);
		break;
	}
	free(copy);
	return 0;
}
