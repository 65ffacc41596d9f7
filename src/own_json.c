/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON texts of our own records, both ways (da_own_json.h has their shapes). It knows no record framing.
 */
#include "da_own_json.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

static const char *const arch_names[DA_ARCH_NR] = {
	[DA_ARCH_UNKNOWN] = "unknown", [DA_ARCH_X86_64] = "x86_64", [DA_ARCH_X86_32] = "i386",
	[DA_ARCH_ARM64] = "aarch64",   [DA_ARCH_ARM32] = "arm",
};

/* ---- building ---- */

static char *finish(json_object *o)
{
	const char *text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
	char *copy = text ? strdup(text) : NULL;

	json_object_put(o);
	return copy;
}

static void add(json_object *o, const char *key, json_object *v)
{
	json_object_object_add(o, key, v);
}

static json_object *num(uint64_t v)
{
	return json_object_new_uint64(v);
}

/* -1 is how a signed field says "not measured" */
static json_object *num_or_null(int64_t v)
{
	return v < 0 ? NULL : json_object_new_int64(v);
}

static json_object *str(const char *s)
{
	return json_object_new_string(s);
}

char *da_own_info_text(const struct da_own_info *i)
{
	json_object *o = json_object_new_object(), *ev = json_object_new_array();
	json_object *options = i->options ? json_tokener_parse(i->options) : NULL;

	add(o, "version", str(i->version));
	add(o, "arch", str(arch_names[i->arch]));
	add(o, "host", str(i->host));
	for (size_t k = 0; k < i->nr_events; k++) {
		const struct da_own_event *e = &i->events[k];
		json_object *j = json_object_new_object();

		add(j, "id", num(k));
		add(j, "name", str(e->name));
		add(j, "producer", str(da_producer_name(e->producer)));
		add(j, "unit", str(e->unit));
		add(j, "period", num(e->period));
		add(j, "dropped_bits", str(e->dropped_bits));
		json_object_array_add(ev, j);
	}
	add(o, "events", ev);
	if (options)
		add(o, "options", options);
	return finish(o);
}

static json_object *ledger_json(const struct da_ledger *l)
{
	json_object *o = json_object_new_object();

	for (int s = 0; s < DA_STAGE_NR; s++) {
		json_object *layer = json_object_new_object(), *drops = json_object_new_object();

		add(layer, "in", num(l->in[s]));
		add(layer, "out", num(l->out[s]));
		for (int d = 0; d < DA_DROP_NR; d++)
			if (da_drop_stage((enum da_drop)d) == (enum da_stage)s && l->drop[d])
				add(drops, da_drop_name((enum da_drop)d), num(l->drop[d]));
		add(layer, "drops", drops);
		add(o, da_stage_name((enum da_stage)s), layer);
	}
	add(o, "peak", num(l->peak));
	return o;
}

char *da_own_ledger_text(const struct da_own_ledger *l)
{
	json_object *o = json_object_new_object();

	add(o, "event", num(l->event));
	add(o, "cpu", num(l->cpu.cpu));
	add(o, "state", str(da_state_name(l->cpu.state)));
	add(o, "count", num_or_null(l->cpu.count));
	add(o, "lost", num_or_null(l->cpu.lost));
	add(o, "enabled_ns", num_or_null(l->cpu.enabled_ns));
	add(o, "running_ns", num_or_null(l->cpu.running_ns));
	add(o, "target_absent", json_object_new_boolean(l->cpu.target_absent));
	add(o, "ledger", ledger_json(&l->cpu.ledger));
	return finish(o);
}

char *da_own_loss_text(const struct da_own_loss *l)
{
	json_object *o = json_object_new_object();

	add(o, "counter", num_or_null(l->counter));
	add(o, "records", num_or_null(l->records));
	add(o, "samples", num_or_null(l->samples));
	add(o, "throttled", num_or_null(l->throttled));
	add(o, "pending", num_or_null(l->pending));
	return finish(o);
}

char *da_own_end_text(const struct da_own_end *e)
{
	json_object *o = json_object_new_object();

	add(o, "reason", str(e->reason));
	add(o, "command_status", num_or_null(e->command_status));
	add(o, "samples", num(e->samples));
	return finish(o);
}

/* ---- parsing: a missing or odd member reads as its zero; the text comes from a file ---- */

static json_object *parse(const char *text, size_t len)
{
	json_tokener *t;
	json_object *o;

	if (len > INT32_MAX)
		return NULL;
	t = json_tokener_new();
	if (!t)
		return NULL;
	o = json_tokener_parse_ex(t, text, (int)len);
	if (json_tokener_get_error(t) != json_tokener_success || !json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		o = NULL;
	}
	json_tokener_free(t);
	return o;
}

static uint64_t get_num(json_object *o, const char *key)
{
	json_object *v = NULL;

	json_object_object_get_ex(o, key, &v);
	return json_object_is_type(v, json_type_int) ? json_object_get_uint64(v) : 0;
}

static int64_t get_num_or_null(json_object *o, const char *key)
{
	json_object *v = NULL;
	int64_t n;

	json_object_object_get_ex(o, key, &v);
	n = json_object_is_type(v, json_type_int) ? json_object_get_int64(v) : -1;
	return n < 0 ? -1 : n;
}

static void get_str(json_object *o, const char *key, char *out, size_t size)
{
	json_object *v = NULL;
	const char *s = NULL;

	json_object_object_get_ex(o, key, &v);
	if (json_object_is_type(v, json_type_string))
		s = json_object_get_string(v);
	out[0] = '\0';
	if (s) {
		size_t n = strnlen(s, size - 1);

		memcpy(out, s, n);
		out[n] = '\0';
	}
}

static enum da_producer producer_of(const char *name)
{
	for (int p = 0; p < DA_PROD_NR; p++)
		if (!strcmp(name, da_producer_name((enum da_producer)p)))
			return (enum da_producer)p;
	return DA_PROD_NONE;
}

int da_own_info_parse(const char *text, size_t len, struct da_own_info *out)
{
	json_object *o = parse(text, len), *ev = NULL, *options = NULL;
	char name[32];

	memset(out, 0, sizeof(*out));
	if (!o)
		return -DA_EDAMAGED;
	get_str(o, "version", out->version, sizeof(out->version));
	get_str(o, "arch", name, sizeof(name));
	for (int a = 0; a < DA_ARCH_NR; a++)
		if (!strcmp(name, arch_names[a]))
			out->arch = (enum da_arch)a;
	get_str(o, "host", out->host, sizeof(out->host));
	json_object_object_get_ex(o, "events", &ev);
	if (json_object_is_type(ev, json_type_array)) {
		size_t nr = json_object_array_length(ev);

		out->events = calloc(nr ? nr : 1, sizeof(*out->events));
		if (!out->events) {
			json_object_put(o);
			return -DA_ENOMEM;
		}
		out->nr_events = nr;
		for (size_t i = 0; i < nr; i++) {
			json_object *j = json_object_array_get_idx(ev, i);
			struct da_own_event *e = &out->events[i];

			e->producer = DA_PROD_NONE;
			if (!json_object_is_type(j, json_type_object))
				continue;
			get_str(j, "name", e->name, sizeof(e->name));
			get_str(j, "producer", name, sizeof(name));
			e->producer = producer_of(name);
			get_str(j, "unit", e->unit, sizeof(e->unit));
			e->period = get_num(j, "period");
			get_str(j, "dropped_bits", e->dropped_bits, sizeof(e->dropped_bits));
		}
	}
	json_object_object_get_ex(o, "options", &options);
	if (options)
		out->options = strdup(json_object_to_json_string_ext(options, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
	return 0;
}

void da_own_info_release(struct da_own_info *i)
{
	free(i->events);
	free(i->options);
	memset(i, 0, sizeof(*i));
}

static void ledger_parse(json_object *o, struct da_ledger *l)
{
	for (int s = 0; s < DA_STAGE_NR; s++) {
		json_object *layer = NULL, *drops = NULL;

		json_object_object_get_ex(o, da_stage_name((enum da_stage)s), &layer);
		if (!json_object_is_type(layer, json_type_object))
			continue;
		l->in[s] = get_num(layer, "in");
		l->out[s] = get_num(layer, "out");
		json_object_object_get_ex(layer, "drops", &drops);
		if (!json_object_is_type(drops, json_type_object))
			continue;
		for (int d = 0; d < DA_DROP_NR; d++)
			if (da_drop_stage((enum da_drop)d) == (enum da_stage)s)
				l->drop[d] = get_num(drops, da_drop_name((enum da_drop)d));
	}
	l->peak = get_num(o, "peak");
}

int da_own_ledger_parse(const char *text, size_t len, struct da_own_ledger *out)
{
	json_object *o = parse(text, len), *led = NULL, *absent = NULL;
	char name[32];

	memset(out, 0, sizeof(*out));
	if (!o)
		return -DA_EDAMAGED;
	out->event = (uint32_t)get_num(o, "event");
	out->cpu.cpu = (uint32_t)get_num(o, "cpu");
	get_str(o, "state", name, sizeof(name));
	for (int s = DA_STATE_NONE; s <= DA_STATE_RUNNING; s++)
		if (!strcmp(name, da_state_name((enum da_state)s)))
			out->cpu.state = (enum da_state)s;
	out->cpu.count = get_num_or_null(o, "count");
	out->cpu.lost = get_num_or_null(o, "lost");
	out->cpu.enabled_ns = get_num_or_null(o, "enabled_ns");
	out->cpu.running_ns = get_num_or_null(o, "running_ns");
	json_object_object_get_ex(o, "target_absent", &absent);
	out->cpu.target_absent = json_object_get_boolean(absent);
	json_object_object_get_ex(o, "ledger", &led);
	if (json_object_is_type(led, json_type_object))
		ledger_parse(led, &out->cpu.ledger);
	json_object_put(o);
	return 0;
}

int da_own_loss_parse(const char *text, size_t len, struct da_own_loss *out)
{
	json_object *o = parse(text, len);

	memset(out, 0, sizeof(*out));
	if (!o)
		return -DA_EDAMAGED;
	out->counter = get_num_or_null(o, "counter");
	out->records = get_num_or_null(o, "records");
	out->samples = get_num_or_null(o, "samples");
	out->throttled = get_num_or_null(o, "throttled");
	out->pending = get_num_or_null(o, "pending");
	json_object_put(o);
	return 0;
}

int da_own_end_parse(const char *text, size_t len, struct da_own_end *out)
{
	json_object *o = parse(text, len);
	int64_t status;

	memset(out, 0, sizeof(*out));
	if (!o)
		return -DA_EDAMAGED;
	get_str(o, "reason", out->reason, sizeof(out->reason));
	status = get_num_or_null(o, "command_status");
	out->command_status = status > INT32_MAX ? -1 : (int)status;
	out->samples = get_num(o, "samples");
	json_object_put(o);
	return 0;
}
