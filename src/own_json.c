/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON texts of our own records, both ways (da_own_json.h has their shapes). It knows no record framing.
 */
#include "da_own_json.h"

#include <stdlib.h>
#include <string.h>

#include "da_error.h"
#include "da_facts_json.h"
#include "da_json.h"

/* An event takes 0.2 KiB of memory, and of a hostile text 2 bytes. */
#define MAX_EVENTS 1024

static const char *const arch_names[DA_ARCH_NR] = {
	[DA_ARCH_UNKNOWN] = "unknown", [DA_ARCH_X86_64] = "x86_64", [DA_ARCH_X86_32] = "i386",
	[DA_ARCH_ARM64] = "aarch64",   [DA_ARCH_ARM32] = "arm",
};

/* ---- building ---- */

static void put_event(struct da_json_out *w, size_t id, const struct da_own_event *e)
{
	da_json_object(w, NULL);
	da_json_u64(w, "id", id);
	da_json_string(w, "name", e->name);
	da_json_string(w, "producer", da_producer_name(e->producer));
	da_json_string(w, "unit", e->unit);
	da_json_u64(w, "period", e->period);
	da_json_string(w, "dropped_bits", e->dropped_bits);
	da_json_string(w, "buffer", e->buffer);
	da_json_close(w);
}

/* Options that are not JSON are left out: they must not take the rest with them. */
static void put_options(struct da_json_out *w, const char *text)
{
	struct da_json options;

	if (!text || !da_json_open(text, strlen(text), &options))
		return;
	da_json_free(&options);
	da_json_raw(w, "options", text);
}

char *da_own_info_text(const struct da_own_info *i)
{
	struct da_json_mem m;

	if (!da_json_mem_begin(&m))
		return NULL;
	da_json_object(&m.w, NULL);
	da_json_string(&m.w, "version", i->version);
	da_json_string(&m.w, "arch", arch_names[i->arch]);
	da_json_string(&m.w, "host", i->host);
	da_json_array(&m.w, "events");
	for (size_t k = 0; k < i->nr_events; k++)
		put_event(&m.w, k, &i->events[k]);
	da_json_close(&m.w);
	put_options(&m.w, i->options);
	da_json_close(&m.w);
	return da_json_mem_end(&m);
}

char *da_own_ledger_text(const struct da_own_ledger *l)
{
	struct da_json_mem m;

	if (!da_json_mem_begin(&m))
		return NULL;
	da_json_object(&m.w, NULL);
	da_json_u64(&m.w, "event", l->event);
	da_json_u64(&m.w, "cpu", l->cpu.cpu);
	da_json_string(&m.w, "state", da_state_name(l->cpu.state));
	da_json_measured(&m.w, "count", l->cpu.count);
	da_json_measured(&m.w, "lost", l->cpu.lost);
	da_json_measured(&m.w, "enabled_ns", l->cpu.enabled_ns);
	da_json_measured(&m.w, "running_ns", l->cpu.running_ns);
	da_json_bool(&m.w, "target_absent", l->cpu.target_absent);
	if (l->cpu.silent_due) {
		da_json_u64(&m.w, "silent_due", l->cpu.silent_due);
		da_json_u64(&m.w, "silent_since_ns", l->cpu.silent_since_ns);
		da_json_u64(&m.w, "silent_ref", l->cpu.silent_ref);
	}
	if (l->cpu.went_offline) {
		da_json_u64(&m.w, "went_offline", l->cpu.went_offline);
		da_json_u64(&m.w, "came_back", l->cpu.came_back);
		da_json_u64(&m.w, "away_ns", l->cpu.away_ns);
	}
	da_ledger_to_json(&m.w, "ledger", &l->cpu.ledger, NULL, true);
	da_json_close(&m.w);
	return da_json_mem_end(&m);
}

char *da_own_loss_text(const struct da_own_loss *l)
{
	struct da_json_mem m;

	if (!da_json_mem_begin(&m))
		return NULL;
	da_json_object(&m.w, NULL);
	da_json_measured(&m.w, "counter", l->counter);
	da_json_measured(&m.w, "records", l->records);
	da_json_measured(&m.w, "samples", l->samples);
	da_json_measured(&m.w, "throttled", l->throttled);
	da_json_measured(&m.w, "pending", l->pending);
	da_json_measured(&m.w, "aux_off_ns", l->aux_off_ns);
	da_json_close(&m.w);
	return da_json_mem_end(&m);
}

char *da_own_step_text(const struct da_own_step *s)
{
	struct da_json_mem m;

	if (!da_json_mem_begin(&m))
		return NULL;
	da_json_object(&m.w, NULL);
	da_json_u64(&m.w, "event", s->event);
	da_json_u64(&m.w, "time_ns", s->time_ns);
	da_json_u64(&m.w, "from", s->from);
	da_json_u64(&m.w, "to", s->to);
	da_json_string(&m.w, "why", s->why);
	da_json_close(&m.w);
	return da_json_mem_end(&m);
}

char *da_own_end_text(const struct da_own_end *e)
{
	struct da_json_mem m;

	if (!da_json_mem_begin(&m))
		return NULL;
	da_json_object(&m.w, NULL);
	da_json_string(&m.w, "reason", e->reason);
	da_json_measured(&m.w, "command_status", e->command_status);
	da_json_u64(&m.w, "samples", e->samples);
	if (e->piece)
		da_json_u64(&m.w, "piece", e->piece);
	da_json_close(&m.w);
	return da_json_mem_end(&m);
}

/* ---- parsing: a missing or odd member reads as its zero; the text comes from a file ---- */

static bool parse(const char *text, size_t len, struct da_json *root)
{
	if (len > 0 && !text[len - 1]) /* a text may come with its terminator */
		len--;
	if (!da_json_open(text, len, root))
		return false;
	if (da_json_is_object(root))
		return true;
	da_json_free(root);
	return false;
}

static uint64_t get_num(const struct da_json *v, const char *key)
{
	uint64_t n = 0;

	da_json_get_u64(v, key, &n);
	return n;
}

static int64_t get_num_or_null(const struct da_json *v, const char *key)
{
	int64_t n = -1;

	da_json_get_i64(v, key, &n);
	return n < 0 ? -1 : n;
}

static void get_str(const struct da_json *v, const char *key, char *out, size_t size)
{
	out[0] = '\0';
	da_json_get_string(v, key, out, size);
}

static enum da_producer producer_of(const char *name)
{
	for (int p = 0; p < DA_PROD_NR; p++)
		if (!strcmp(name, da_producer_name((enum da_producer)p)))
			return (enum da_producer)p;
	return DA_PROD_NONE;
}

static int get_events(const struct da_json *array, struct da_own_info *out)
{
	size_t pos = 0, nr = da_json_count(array);
	struct da_json v;
	char name[32];

	if (nr > MAX_EVENTS)
		return -DA_EDAMAGED;
	out->events = calloc(nr ? nr : 1, sizeof(*out->events));
	if (!out->events)
		return -DA_ENOMEM;
	while (da_json_next(array, &pos, &v)) {
		struct da_own_event *e = &out->events[out->nr_events++];

		get_str(&v, "name", e->name, sizeof(e->name));
		get_str(&v, "producer", name, sizeof(name));
		e->producer = producer_of(name);
		get_str(&v, "unit", e->unit, sizeof(e->unit));
		e->period = get_num(&v, "period");
		get_str(&v, "dropped_bits", e->dropped_bits, sizeof(e->dropped_bits));
		get_str(&v, "buffer", e->buffer, sizeof(e->buffer));
	}
	return 0;
}

static int get_info(const struct da_json *v, struct da_own_info *out)
{
	struct da_json part;
	char name[32];
	int ret;

	get_str(v, "version", out->version, sizeof(out->version));
	get_str(v, "arch", name, sizeof(name));
	for (int a = 0; a < DA_ARCH_NR; a++)
		if (!strcmp(name, arch_names[a]))
			out->arch = (enum da_arch)a;
	get_str(v, "host", out->host, sizeof(out->host));
	if (da_json_get(v, "events", &part)) {
		ret = get_events(&part, out);
		if (ret)
			return ret;
	}
	if (da_json_get(v, "options", &part) && !da_json_is_null(&part)) {
		out->options = da_json_text(&part);
		if (!out->options)
			return -DA_ENOMEM;
	}
	return 0;
}

int da_own_info_parse(const char *text, size_t len, struct da_own_info *out)
{
	struct da_json v;
	int ret;

	memset(out, 0, sizeof(*out));
	if (!parse(text, len, &v))
		return -DA_EDAMAGED;
	ret = get_info(&v, out);
	da_json_free(&v);
	if (ret)
		da_own_info_release(out);
	return ret;
}

void da_own_info_release(struct da_own_info *i)
{
	free(i->events);
	free(i->options);
	memset(i, 0, sizeof(*i));
}

int da_own_ledger_parse(const char *text, size_t len, struct da_own_ledger *out)
{
	struct da_json v, ledger;
	char name[32];

	memset(out, 0, sizeof(*out));
	if (!parse(text, len, &v))
		return -DA_EDAMAGED;
	out->event = (uint32_t)get_num(&v, "event");
	out->cpu.cpu = (uint32_t)get_num(&v, "cpu");
	get_str(&v, "state", name, sizeof(name));
	for (int s = DA_STATE_NONE; s <= DA_STATE_RUNNING; s++)
		if (!strcmp(name, da_state_name((enum da_state)s)))
			out->cpu.state = (enum da_state)s;
	out->cpu.count = get_num_or_null(&v, "count");
	out->cpu.lost = get_num_or_null(&v, "lost");
	out->cpu.enabled_ns = get_num_or_null(&v, "enabled_ns");
	out->cpu.running_ns = get_num_or_null(&v, "running_ns");
	da_json_get_bool(&v, "target_absent", &out->cpu.target_absent);
	da_json_get_u64(&v, "silent_due", &out->cpu.silent_due);
	da_json_get_u64(&v, "silent_since_ns", &out->cpu.silent_since_ns);
	da_json_get_u64(&v, "silent_ref", &out->cpu.silent_ref);
	out->cpu.went_offline = get_num(&v, "went_offline");
	out->cpu.came_back = get_num(&v, "came_back");
	out->cpu.away_ns = get_num(&v, "away_ns");
	if (da_json_get(&v, "ledger", &ledger))
		da_ledger_from_json(&ledger, &out->cpu.ledger);
	da_json_free(&v);
	return 0;
}

int da_own_loss_parse(const char *text, size_t len, struct da_own_loss *out)
{
	struct da_json v;

	memset(out, 0, sizeof(*out));
	if (!parse(text, len, &v))
		return -DA_EDAMAGED;
	out->counter = get_num_or_null(&v, "counter");
	out->records = get_num_or_null(&v, "records");
	out->samples = get_num_or_null(&v, "samples");
	out->throttled = get_num_or_null(&v, "throttled");
	out->pending = get_num_or_null(&v, "pending");
	out->aux_off_ns = get_num_or_null(&v, "aux_off_ns");
	da_json_free(&v);
	return 0;
}

int da_own_step_parse(const char *text, size_t len, struct da_own_step *out)
{
	struct da_json v;
	uint64_t event;

	memset(out, 0, sizeof(*out));
	if (!parse(text, len, &v))
		return -DA_EDAMAGED;
	event = get_num(&v, "event");
	out->event = event > UINT32_MAX ? UINT32_MAX : (uint32_t)event;
	out->time_ns = get_num(&v, "time_ns");
	out->from = get_num(&v, "from");
	out->to = get_num(&v, "to");
	get_str(&v, "why", out->why, sizeof(out->why));
	da_json_free(&v);
	return out->to ? 0 : -DA_EDAMAGED;
}

int da_own_end_parse(const char *text, size_t len, struct da_own_end *out)
{
	struct da_json v;
	int64_t status;

	memset(out, 0, sizeof(*out));
	if (!parse(text, len, &v))
		return -DA_EDAMAGED;
	get_str(&v, "reason", out->reason, sizeof(out->reason));
	status = get_num_or_null(&v, "command_status");
	out->command_status = status > INT32_MAX ? -1 : (int)status;
	out->samples = get_num(&v, "samples");
	out->piece = get_num(&v, "piece");
	da_json_free(&v);
	return 0;
}
