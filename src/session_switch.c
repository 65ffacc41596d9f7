/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The output goes on in another file while the events run on. Lanes stand still meanwhile, the match thread does
 * not: what it stores goes to the one file or to the other.
 *
 * When to switch, and what becomes of the files, is the owner's business.
 */
#include <string.h>

#include "session_priv.h"

/* Records that are not in memory lie in the file that is to go. */
static bool waits_in_file(const struct da_session *s)
{
	for (size_t i = 0; i < s->nr_lanes; i++)
		for (const struct s_block *b = s->lanes[i].head; b; b = b->next)
			if (!b->data)
				return true;
	return false;
}

static int begin_piece(struct da_session *s, struct da_error *err)
{
	int rc = s_store_features(s, err);

	if (!rc)
		rc = s_store_info(s);
	if (!rc)
		rc = s_store_tracing(s, err);
	if (rc)
		return rc;
	/* all ledgers at once: from here on their growth is this file's */
	memset(s->stored, 0, s->nr_cpus * s->nr_ev * sizeof(*s->stored));
	da_code_store_again(s->code);
	rc = s_store_ledgers(s);
	return rc ? rc : s_synthesize_again(s);
}

static int switch_now(struct da_session *s, const char *kept, struct da_error *err)
{
	int rc;

	s->piece = s->piece ? s->piece : 1;
	rc = s_store_end(s, "switch", -1);
	if (!rc)
		rc = s_store_span(s, err);
	if (!rc)
		rc = da_writer_switch(s->w, kept, err);
	if (rc)
		return rc;
	s->piece++;
	s->piece_samples = da_session_samples(s);
	for (size_t i = 0; i < s->nr_lanes; i++)
		s->lanes[i].first_ns = s->lanes[i].last_ns = 0;
	s->again = true;
	rc = begin_piece(s, err);
	s->again = false;
	s->piece_head = da_writer_size(s->w);
	return rc;
}

/* What the rings hold by now belongs to the old file, whichever lane looked at its own last, and when: else a mapping
 * could be in the new one and the samples in it, from another CPU, in the old. */
static void drain_all(struct da_session *s)
{
	uint64_t now = s_now_ns(s);

	for (size_t i = 0; i < s->nr_lanes; i++)
		for (size_t c = 0; c < s->lanes[i].nr_cpus; c++)
			s_lane_drain(&s->lanes[i], s->lanes[i].cpus[c], now);
}

int da_session_switch(struct da_session *s, const char *kept, struct da_error *err)
{
	int rc;

	if (!s->w || !s->running || s->stopped)
		return da_fail(err, DA_EBUG, 0, "there is no output to switch");
	if (s->nr_aux)
		return da_fail(err, DA_EUNSUPPORTED, 0,
			       "the output cannot be switched: AUX data go on from file to file");
	for (size_t i = 0; i < s->nr_lanes; i++)
		s_lane_halt(&s->lanes[i]);
	drain_all(s);
	rc = waits_in_file(s) ? 1 : switch_now(s, kept, err);
	for (size_t i = 0; i < s->nr_lanes; i++)
		s_lane_go(&s->lanes[i]);
	if (rc == -DA_ENOMEM && err && !err->code)
		da_fail(err, DA_ENOMEM, 0, "out of memory");
	return rc;
}

uint64_t da_session_file(const struct da_session *s, uint64_t *samples)
{
	*samples = da_session_samples(s) - s->piece_samples;
	return s->w ? da_writer_size(s->w) - s->piece_head : 0;
}

size_t da_session_silent(struct da_session *s, struct da_silent *out, size_t max)
{
	size_t n = 0;

	for (size_t c = 0; c < s->nr_cpus; c++) {
		for (size_t e = 0; e < s->nr_ev && n < max; e++) {
			struct da_facts_cpu f = {0};

			s_silence_facts(s, c, e, &f);
			if (f.silent_due)
				out[n++] = (struct da_silent){.event = s->ev[e].spec.name,
							      .cpu = (uint32_t)s->cpus[c].cpu,
							      .since_ns = f.silent_since_ns,
							      .due = f.silent_due};
		}
	}
	return n;
}
