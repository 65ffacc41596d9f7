/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own pipeline in numbers (render_kernel.h). It shows the sums of da_kernel.h and judges nothing.
 */
#include "render_kernel.h"

#include <inttypes.h>

/* "-" in the place of what was not measured */
static const char *number(bool known, uint64_t n, char buf[24])
{
	if (known)
		snprintf(buf, 24, "%" PRIu64, n);
	else
		snprintf(buf, 24, "-");
	return buf;
}

static void put_drops(FILE *f, const struct da_kernel_ledger *l, enum da_stage s)
{
	if (s == DA_STAGE_RING && l->overflow)
		fprintf(f, "  missed %" PRIu64, l->overflow);
	if (s == DA_STAGE_RING && l->resident)
		fprintf(f, "  inside or lost unseen %" PRIu64, l->resident);
	if (s == DA_STAGE_RING && l->earlier)
		fprintf(f, "  from before %" PRIu64, l->earlier);
	if (s == DA_STAGE_MATCH && l->miss)
		fprintf(f, "  missed %" PRIu64, l->miss);
}

static void put_cpus(FILE *f, const struct da_kernel *k)
{
	char valid[24], drained[24];

	fprintf(f, "  %6s %14s %14s %14s %14s\n", "cpu", "samples", "valid", "missed", "drained");
	for (size_t i = 0; i < k->nr_cpus; i++) {
		const struct da_kernel_cpu *c = &k->cpus[i];

		fprintf(f, "  %6" PRIu32 " %14" PRIu64 " %14s %14" PRIu64 " %14s\n", c->cpu,
			c->samples, number(k->has_valid, c->valid, valid), c->missed,
			number(k->has_ring && k->has_drained, c->drained, drained));
	}
}

void render_kernel_text(FILE *f, const struct da_kernel *k, const char *title, bool per_cpu)
{
	struct da_kernel_ledger l;
	char in[24], out[24];

	da_kernel_ledger(k, &l);
	fprintf(f, "%s\n  %-8s %14s %14s\n", title, "layer", "in", "out");
	for (int s = 0; s < DA_STAGE_NR; s++) {
		fprintf(f, "  %-8s %14s %14s", da_stage_name((enum da_stage)s),
			number(l.layer[s].in_known, l.layer[s].in, in),
			number(l.layer[s].out_known, l.layer[s].out, out));
		put_drops(f, &l, (enum da_stage)s);
		fputc('\n', f);
	}
	if (per_cpu)
		put_cpus(f, k);
}

static int64_t measured(bool known, uint64_t n)
{
	return !known ? -1 : n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static void put_layers(struct da_json_out *w, const struct da_kernel *k)
{
	struct da_kernel_ledger l;

	da_kernel_ledger(k, &l);
	da_json_object(w, "ledger");
	for (int s = 0; s < DA_STAGE_NR; s++) {
		da_json_flat_object(w, da_stage_name((enum da_stage)s));
		da_json_measured(w, "in", measured(l.layer[s].in_known, l.layer[s].in));
		da_json_measured(w, "out", measured(l.layer[s].out_known, l.layer[s].out));
		if (s == DA_STAGE_RING) {
			da_json_u64(w, "missed", l.overflow);
			da_json_u64(w, "inside_or_lost", l.resident);
			da_json_u64(w, "from_before", l.earlier);
		} else if (s == DA_STAGE_MATCH) {
			da_json_u64(w, "missed", l.miss);
		}
		da_json_close(w);
	}
	da_json_close(w);
}

static void put_records(struct da_json_out *w, const struct da_kernel *k)
{
	da_json_flat_object(w, "records");
	for (int i = 0; i < DA_KTP_NR; i++)
		da_json_measured(w, da_ktp_names[i], measured(k->recorded[i], k->records[i]));
	da_json_u64(w, "bad", k->bad);
	da_json_u64(w, "lost", k->lost);
	da_json_close(w);
}

void render_kernel_json(struct da_json_out *w, const struct da_kernel *k, const char *why_not)
{
	if (!k) {
		da_json_null(w, "kernel");
		da_json_string(w, "kernel_note", why_not && *why_not ? why_not : NULL);
		return;
	}
	da_json_object(w, "kernel");
	put_records(w, k);
	put_layers(w, k);
	if (k->user.ran) {
		da_json_flat_object(w, "user");
		da_json_string(w, "name", k->user.name);
		da_json_u64(w, "samples", k->user.samples);
		da_json_close(w);
	}
	da_json_array(w, "cpus");
	for (size_t i = 0; i < k->nr_cpus; i++) {
		const struct da_kernel_cpu *c = &k->cpus[i];

		da_json_flat_object(w, NULL);
		da_json_u64(w, "cpu", c->cpu);
		da_json_u64(w, "samples", c->samples);
		da_json_measured(w, "valid", measured(k->has_valid, c->valid));
		da_json_u64(w, "missed", c->missed);
		da_json_measured(w, "drained", measured(k->has_ring && k->has_drained, c->drained));
		da_json_close(w);
	}
	da_json_close(w);
	da_json_close(w);
}
