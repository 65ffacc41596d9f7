/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Our own records of a recording, taken in by the offline decode: what was asked for, ledger snapshots
 * (the last of each event and CPU holds), code bytes, losses, the end.
 *
 * A record that does not parse is damage and is left out; the recording is readable without it.
 */
#include <stdlib.h>
#include <string.h>

#include "offline_priv.h"

static int append(struct own_text *t, const uint8_t *p, size_t len)
{
	if (t->len + len > t->room) {
		size_t room = (t->len + len) * 2;
		char *text = realloc(t->text, room);

		if (!text)
			return -DA_ENOMEM;
		t->text = text;
		t->room = room;
	}
	if (len)
		memcpy(t->text + t->len, p, len);
	t->len += len;
	return 0;
}

static void take_ledger(struct da_offline *o, const struct da_own_ledger *l)
{
	struct da_offline_result *r = &o->res;
	uint64_t key = (uint64_t)l->event << 32 | l->cpu.cpu;
	uint32_t at = idmap_get(&o->recorded_at, key, UINT32_MAX);

	if (l->event >= r->nr_events || l->cpu.cpu >= MAX_CPUS) {
		offline_damage(
			o,
			"ledger snapshot of event %u on CPU %u, which the recording does not have",
			l->event, l->cpu.cpu);
		return;
	}
	if (at != UINT32_MAX) {
		r->recorded[at] = *l;
		return;
	}
	if (r->nr_recorded == o->room_recorded) {
		size_t room = o->room_recorded ? o->room_recorded * 2 : 16;
		struct da_own_ledger *grown = reallocarray(r->recorded, room, sizeof(*grown));

		if (!grown) {
			o->no_memory = true;
			return;
		}
		r->recorded = grown;
		o->room_recorded = room;
	}
	if (idmap_put(&o->recorded_at, key, (uint32_t)r->nr_recorded)) {
		o->no_memory = true;
		return;
	}
	r->recorded[r->nr_recorded++] = *l;
	r->has_recorded = true;
}

static void take_loss(struct da_offline *o, const struct da_own_loss *l)
{
	/* records, samples and throttled are counted again from the records themselves */
	o->res.lost.counter = l->counter;
	o->res.lost.pending = l->pending;
	o->res.lost.aux_off_ns = l->aux_off_ns;
}

static int take_info(struct da_offline *o, const struct own_text *t)
{
	struct da_own_info info;
	int rc = da_own_info_parse(t->text, t->len, &info);

	if (rc)
		return rc;
	da_own_info_release(&o->res.info);
	o->res.info = info;
	o->res.own_file = true;
	return 0;
}

/* One whole text of a kind. */
static int take_text(struct da_offline *o, enum da_own_kind kind, const struct own_text *t)
{
	struct da_own_ledger ledger;
	struct da_own_loss loss;
	struct da_own_end end;
	struct da_own_step step;
	int rc = 0;

	switch (kind) {
	case DA_OWN_INFO:
		return take_info(o, t);
	case DA_OWN_LEDGER:
		rc = da_own_ledger_parse(t->text, t->len, &ledger);
		if (!rc)
			take_ledger(o, &ledger);
		return rc;
	case DA_OWN_LOSS:
		rc = da_own_loss_parse(t->text, t->len, &loss);
		if (!rc)
			take_loss(o, &loss);
		return rc;
	case DA_OWN_STEP:
		rc = da_own_step_parse(t->text, t->len, &step);
		if (!rc)
			step_record(o, &step);
		return rc;
	case DA_OWN_END:
		rc = da_own_end_parse(t->text, t->len, &end);
		if (!rc)
			o->res.end = end;
		o->res.has_end = !rc;
		return rc;
	default:
		return 0;
	}
}

static struct own_text *text_of(struct da_offline *o, enum da_own_kind kind)
{
	switch (kind) {
	case DA_OWN_INFO:
		return &o->info;
	case DA_OWN_LEDGER:
		return &o->ledger;
	case DA_OWN_LOSS:
		return &o->loss;
	case DA_OWN_END:
		return &o->end;
	case DA_OWN_FACTS:
		return &o->facts;
	case DA_OWN_TRACING:
		return &o->tracing;
	case DA_OWN_STEP:
		return &o->step;
	default:
		return NULL; /* of a newer version: what it says we do not need */
	}
}

static void take_code(struct da_offline *o, const struct da_rec *rec, const uint8_t *payload,
		      size_t len)
{
	struct da_own_code code;

	if (da_own_code_parse(payload, len, rec->swap, &code))
		offline_damage(o, "code bytes of our own record at 0x%llx do not fit it",
			       (unsigned long long)rec->offset);
	else if (da_code_store_add(o->code, &code))
		o->no_memory = true;
}

void own_record(struct da_offline *o, const struct da_rec *rec)
{
	enum da_own_kind kind;
	const uint8_t *payload;
	struct own_text *t;
	uint16_t version;
	size_t len;
	int rc = da_own_parse(rec, &kind, &version, &payload, &len);

	if (rc == -DA_EDAMAGED)
		offline_damage(o, "our own record at 0x%llx does not fit its bytes",
			       (unsigned long long)rec->offset);
	if (rc)
		return;
	if (kind == DA_OWN_CODE) {
		take_code(o, rec, payload, len);
		return;
	}
	if (kind == DA_OWN_NSPID) {
		ns_record(o, payload, len, rec->swap);
		return;
	}
	if (kind == DA_OWN_MAP) {
		map_record(o, payload, len, rec->swap);
		return;
	}
	if (kind == DA_OWN_PADDR) {
		paddr_record(o, payload, len, rec->swap);
		return;
	}
	t = text_of(o, kind);
	if (!t)
		return;
	if (!t->open)
		t->len = 0;
	if (append(t, payload, len)) {
		o->no_memory = true;
		return;
	}
	t->open = version & DA_OWN_MORE;
	if (t->open)
		return;
	rc = take_text(o, kind, t);
	if (rc == -DA_ENOMEM)
		o->no_memory = true;
	else if (rc)
		offline_damage(o, "our own record of kind %d at 0x%llx cannot be read", (int)kind,
			       (unsigned long long)rec->offset);
}

void own_end(struct da_offline *o)
{
	struct own_text *const all[] = {&o->info,  &o->ledger,  &o->loss, &o->end,
					&o->facts, &o->tracing, &o->step};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i]->open)
			offline_damage(o, "our own record is continued, but its end is missing");
	paddr_end(o);
	maps_end(o);
	steps_end(o);
	if (o->facts.len && !o->facts.open) {
		o->res.facts = o->facts.text;
		o->res.facts_len = o->facts.len;
	}
}

void own_release(struct da_offline *o)
{
	da_own_info_release(&o->res.info);
	free(o->info.text);
	free(o->ledger.text);
	free(o->loss.text);
	free(o->end.text);
	free(o->facts.text);
	free(o->tracing.text);
	free(o->step.text);
	free(o->res.steps);
	free(o->res.ns_pids);
	free(o->weight);
	free(o->res.recorded);
	paddr_release(o);
	maps_release(o);
	idmap_release(&o->recorded_at);
}
