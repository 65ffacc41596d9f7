/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any text as a probe, as a recording may hold one. Properties: what is taken has a name, is taken again from
 * the text that is kept, and lets the same reports pass; a refusal says why.
 *
 * Input: the bytes of a report (40), then the text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "da_probe.h"

#define REPORT 40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
	if (!ok)
		abort();
}

static struct da_report report_of(const uint8_t p[REPORT])
{
	struct da_report r = {.event = p[0] % 4, .op = p[1], .cpu = p[2], .pid = p[3], .tid = p[4]};

	memcpy(&r.has, p + 5, 2);
	memcpy(&r.latency, p + 7, 2);
	memcpy(&r.vaddr, p + 9, 8);
	memcpy(&r.paddr, p + 17, 8);
	memcpy(&r.data_src, p + 25, 8);
	return r;
}

static uint32_t pass_of(const char *text, const struct da_report *r, char kept[4096])
{
	static const struct da_probe_event ev[] = {{"cpu-clock:u", "", DA_PROD_REGS},
						   {"page-faults", "", DA_PROD_FAULT},
						   {"cpu/mem-loads/P", "big", DA_PROD_ADDR}};
	struct da_probes *p = da_probes_new();
	struct da_error err = {0};
	uint32_t mask = UINT32_MAX;
	int rc;

	must(p != NULL);
	rc = da_probes_add(p, text, &err);
	must((rc == 0) == (da_probes_nr(p) == 1));
	must(rc == 0 || (err.code && err.msg[0]));
	if (!rc) {
		must(da_probe_name(p, 0)[0] != '\0' && !strcmp(da_probe_text(p, 0), text));
		strncpy(kept, da_probe_text(p, 0), 4095);
		memset(&err, 0, sizeof(err));
		rc = da_probes_bind(p, ev, 3, &err);
		must(rc == 0 || err.msg[0]);
		mask = rc ? UINT32_MAX : da_probes_pass(p, NULL, r);
		must(rc || mask <= 1);
	}
	da_probes_free(p);
	return mask;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[4096] = "", kept[4096] = "", again[4096] = "";
	struct da_report r;
	uint32_t mask;

	if (size <= REPORT || size - REPORT >= sizeof(text))
		return 0;
	r = report_of(data);
	memcpy(text, data + REPORT, size - REPORT);
	mask = pass_of(text, &r, kept);
	if (kept[0])
		must(pass_of(kept, &r, again) == mask);
	return 0;
}
