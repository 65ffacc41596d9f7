/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Our own records in the recording: what was asked for, ledger snapshots, code bytes, losses, the end.
 * Written in-stream at first use and every second, so that a killed recording keeps them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "da_facts_json.h"
#include "da_own_json.h"
#include "da_tracepoint.h"
#include "session_priv.h"

#ifndef DA_VERSION
#define DA_VERSION "0"
#endif

/* A text longer than one record goes on in the next (da_own.h). */
int s_store(struct da_session *s, enum da_own_kind kind, const void *payload, size_t len)
{
	const uint8_t *p = payload;
	struct da_error err = {0};
	uint8_t *rec;
	int rc = 0;

	if (!s->w)
		return 0;
	rec = malloc(DA_OWN_MAX_PAYLOAD + 256);
	if (!rec)
		rc = da_fail(&err, DA_ENOMEM, 0, "out of memory");
	while (!rc) {
		size_t n = len < DA_OWN_MAX_PAYLOAD ? len : DA_OWN_MAX_PAYLOAD;
		uint16_t more = len > n ? DA_OWN_MORE : 0;
		int size = da_own_build(kind, (uint16_t)(DA_OWN_VERSION | more), p, n, rec,
					DA_OWN_MAX_PAYLOAD + 256);

		rc = size > 0 ? da_writer_append(s->w, rec, (size_t)size, NULL, &err)
			      : da_fail(&err, DA_EBUG, 0, "a record of ours does not fit");
		if (!more)
			break;
		p += n;
		len -= n;
	}
	free(rec);
	if (rc)
		s_fail(s, &err);
	return rc;
}

int s_store_text(struct da_session *s, enum da_own_kind kind, char *text)
{
	int rc;

	if (!text)
		return -DA_ENOMEM;
	rc = s_store(s, kind, text, strlen(text));
	free(text);
	return rc;
}

void s_store_code(void *session, const struct da_own_code *piece)
{
	struct da_session *s = session;
	uint8_t *rec = s->w ? malloc(DA_OWN_MAX_PAYLOAD + 512) : NULL;
	struct da_error err = {0};
	int size = rec ? da_own_code_build(piece, rec, DA_OWN_MAX_PAYLOAD + 512) : 0;

	if (size > 0 && da_writer_append(s->w, rec, (size_t)size, NULL, &err))
		s_fail(s, &err);
	free(rec);
}

int s_store_features(struct da_session *s, struct da_error *err)
{
	return da_writer_std_features(s->w, s->o.argc, s->o.argv,
				      s->clockid && !s->fake_only ? s->clock : -1, err);
}

int s_store_info(struct da_session *s)
{
	struct da_own_info info = {
		.version = DA_VERSION, .arch = s_arch(), .options = s->options_json};
	int rc;

	gethostname(info.host, sizeof(info.host) - 1);
	info.events = calloc(s->nr_ev ? s->nr_ev : 1, sizeof(*info.events));
	if (!info.events)
		return -DA_ENOMEM;
	info.nr_events = s->nr_ev;
	for (size_t i = 0; i < s->nr_ev; i++) {
		struct da_own_event *e = &info.events[i];

		snprintf(e->name, sizeof(e->name), "%s", s->ev[i].spec.name);
		e->producer = s->ev[i].spec.producer;
		snprintf(e->unit, sizeof(e->unit), "%s", da_event_unit(&s->ev[i].attr));
		e->period = s->ev[i].period;
		snprintf(e->dropped_bits, sizeof(e->dropped_bits), "%s", s->ev[i].dropped);
		snprintf(e->buffer, sizeof(e->buffer), "%s", s->ev[i].spec.buffer);
	}
	rc = s_store_text(s, DA_OWN_INFO, da_own_info_text(&info));
	free(info.events);
	return rc;
}

int s_store_tracing(struct da_session *s, struct da_error *err)
{
	uint64_t *ids = calloc(s->nr_ev ? s->nr_ev : 1, sizeof(*ids));
	struct da_error why = {0};
	uint8_t *data = NULL;
	size_t nr = 0, len = 0;
	int rc;

	if (!ids)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	for (size_t i = 0; i < s->nr_ev; i++)
		if (s->ev[i].attr.type == DA_TYPE_TRACEPOINT)
			ids[nr++] = s->ev[i].attr.config;
	rc = s->w && nr ? da_tracing_data(NULL, ids, nr, &data, &len, &why) : 0;
	free(ids);
	if (rc == -DA_ENOMEM)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	if (rc) /* the samples are there all the same */
		s_message(s, 1, "the file will not say how to decode its tracepoints: %s", why.msg);
	if (!data)
		return 0;
	rc = da_writer_feature(s->w, DA_FEAT_TRACING_DATA, data, len, err);
	if (!rc && !da_writer_is_pipe(s->w))
		rc = s_store(s, DA_OWN_TRACING, data, len);
	free(data);
	return rc;
}

static int store_loss(struct da_session *s)
{
	struct da_facts f = {0};
	struct da_own_loss l;

	s_loss(s, &f);
	l = (struct da_own_loss){.counter = f.lost_counter,
				 .records = f.lost_records,
				 .samples = f.lost_samples,
				 .throttled = f.throttled,
				 .pending = f.pending_at_stop,
				 .aux_off_ns = f.aux_off_ns};
	return s_store_text(s, DA_OWN_LOSS, da_own_loss_text(&l));
}

/* Snapshots of what changed since the last one. */
int s_store_ledgers(struct da_session *s)
{
	struct da_ledger *snap;
	int rc = 0;

	if (!s->w)
		return 0;
	snap = calloc(s->nr_cpus * s->nr_ev + 1, sizeof(*snap));
	if (!snap)
		return -DA_ENOMEM;
	s_match_snapshot(s, snap);
	for (size_t c = 0; !rc && c < s->nr_cpus; c++) {
		for (size_t e = 0; !rc && e < s->nr_ev; e++) {
			const struct s_pair *p = &s->cpus[c].pairs[e];
			struct da_ledger *before = &s->stored[c * s->nr_ev + e];
			struct da_own_ledger l = {.event = (uint32_t)e};

			if (p->elsewhere)
				continue;
			s_pair_facts(s, snap, c, e, &l.cpu);
			if (!p->counted && !l.cpu.silent_due &&
			    !memcmp(before, &l.cpu.ledger, sizeof(*before)))
				continue;
			*before = l.cpu.ledger;
			rc = s_store_text(s, DA_OWN_LEDGER, da_own_ledger_text(&l));
		}
	}
	free(snap);
	return rc ? rc : store_loss(s);
}

static int store_facts(struct da_session *s)
{
	struct da_facts f;
	char *text;
	int rc = da_session_facts(s, &f);

	if (rc)
		return rc;
	text = da_facts_to_json(&f);
	da_facts_release(&f);
	return s_store_text(s, DA_OWN_FACTS, text);
}

int s_store_end(struct da_session *s, const char *reason, int command_status)
{
	struct da_own_end end = {.command_status = command_status,
				 .samples = da_session_samples(s) - s->piece_samples,
				 .piece = s->piece};
	int rc = s_store_ledgers(s);

	if (rc)
		return rc;
	s_adapt_end(s);
	rc = store_facts(s);
	if (rc)
		return rc;
	snprintf(end.reason, sizeof(end.reason), "%s", reason);
	return s_store_text(s, DA_OWN_END, da_own_end_text(&end));
}

int s_store_span(struct da_session *s, struct da_error *err)
{
	uint64_t span[2] = {UINT64_MAX, 0};

	for (size_t i = 0; i < s->nr_lanes; i++) {
		const struct s_lane *l = &s->lanes[i];

		if (!l->last_ns)
			continue;
		span[0] = l->first_ns < span[0] ? l->first_ns : span[0];
		span[1] = l->last_ns > span[1] ? l->last_ns : span[1];
	}
	return span[1] ? da_writer_feature(s->w, DA_FEAT_SAMPLE_TIME, span, sizeof(span), err) : 0;
}
