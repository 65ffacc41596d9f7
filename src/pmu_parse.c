/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The grammar of -e: a list of events, each taken apart and resolved. What an event's terms mean
 * is in pmu_event.c; names that stand for what a machine has (spe, ibs, pebs, auto) are in
 * pmu_auto.c.
 *
 * 	list = item { "," item }		commas inside slashes belong to the item
 * 	item = name [ ":" modifiers ]  |  name "/" [ term { "," term } ] "/" [ [":"] modifiers ]
 * 	     | system ":" name [ ":" modifiers ]
 */
#include <stdlib.h>
#include <string.h>

#include "pmu_priv.h"

/* Letters that perf takes and we do not: "cycles:G" is not a tracepoint of the system "cycles". */
#define LETTERS "ukhpPGHISDWeb"

static int parse_modifiers(struct item *it, struct da_error *err)
{
	for (size_t i = 0; i < it->mod_text.len; i++) {
		char c = it->mod_text.p[i];

		it->mod.user |= c == 'u';
		it->mod.kernel |= c == 'k';
		it->mod.hypervisor |= c == 'h';
		it->mod.precise += c == 'p';
		it->mod.precise_max |= c == 'P';
		if (!strchr("ukhpP", c))
			return da_fail(err, DA_EUSAGE, 0,
				       "unknown modifier '%.*s' of '%.*s' (known: u k h p P)",
				       slice_len(it->mod_text), it->mod_text.p, slice_len(it->text),
				       it->text.p);
	}
	if (it->mod.precise > 3)
		return da_fail(err, DA_EUSAGE, 0, "modifier 'p' of '%.*s': at most three",
			       slice_len(it->text), it->text.p);
	return 0;
}

static bool only_letters(struct slice s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!strchr(LETTERS, s.p[i]))
			return false;
	return s.len > 0;
}

/* Without slashes. *tracepoint is the name after system: of a tracepoint, or empty. */
static int split_colon(struct item *it, struct slice *tracepoint, struct da_error *err)
{
	struct slice rest = it->text, after;

	it->base = it->name = slice_cut(&rest, ':');
	if (it->name.len == it->text.len)
		return 0;
	after = slice_cut(&rest, ':');
	if (!after.len)
		return da_fail(err, DA_EUSAGE, 0, "nothing after ':' in '%.*s'",
			       slice_len(it->text), it->text.p);
	if (!rest.len && only_letters(after)) {
		it->mod_text = after;
		return 0;
	}
	*tracepoint = after;
	it->base.len = it->name.len + 1 + after.len;
	it->mod_text = rest;
	return 0;
}

static int split_slashes(struct item *it, struct da_error *err)
{
	struct slice rest = it->text;

	it->name = slice_cut(&rest, '/');
	if (!rest.len || !memchr(rest.p, '/', rest.len))
		return da_fail(err, DA_EUSAGE, 0, "no second '/' in '%.*s' (wanted: NAME/terms/)",
			       slice_len(it->text), it->text.p);
	it->terms = slice_cut(&rest, '/');
	it->has_terms = true;
	it->base = (struct slice){it->text.p, (size_t)(rest.p - it->text.p)};
	if (rest.len && *rest.p == ':') {
		rest.p++;
		rest.len--;
	}
	it->mod_text = rest;
	return 0;
}

/* ---- which event a name means ---- */

static bool raw_config(struct slice name, uint64_t *config)
{
	char text[20] = "0x";

	if (name.len < 2 || name.len > 17 || *name.p != 'r')
		return false;
	memcpy(text + 2, name.p + 1, name.len - 1);
	return slice_number(slice_from(text), config);
}

static void try_name(void *ctx, const char *name)
{
	nearest_try(ctx, name);
}

struct event_search {
	const struct pmu_env *env;
	struct spec_list *list;
	const struct item *it;
	struct da_error *err;
	struct nearest *near; /* or only names near to the item's */
	unsigned found;
	int rc;
};

static void search_pmu(void *ctx, const char *pmu)
{
	struct event_search *s = ctx;
	char text[512];

	if (s->near) {
		pmu_each(s->env, slice_from(pmu), "events", try_name, s->near);
		return;
	}
	if (s->rc || !pmu_event_text(s->env, slice_from(pmu), s->it->name, text, sizeof(text)))
		return;
	s->found++;
	s->rc = spec_add_pmu(s->env, s->list, s->it, s->it->name, slice_from(pmu), text, s->err);
}

static int unknown(const struct pmu_env *env, const struct item *it, struct da_error *err)
{
	struct event_search s = {.env = env};
	const char *what = it->has_terms ? "PMU or event" : "event";
	struct nearest near;

	nearest_begin(&near, it->name);
	pmu_name_nearest(&near);
	pmu_special_nearest(&near);
	pmu_each(env, (struct slice){"", 0}, "", try_name, &near);
	s.near = &near;
	if (!it->has_terms)
		pmu_each(env, (struct slice){"", 0}, "", search_pmu, &s);
	if (nearest_found(&near))
		return da_fail(err, DA_EUSAGE, 0, "unknown %s '%.*s' (did you mean '%s'?)", what,
			       slice_len(it->name), it->name.p, near.best);
	return da_fail(err, DA_EUSAGE, 0,
		       "unknown %s '%.*s' (perf list shows what this machine has)", what,
		       slice_len(it->name), it->name.p);
}

static int resolve(const struct pmu_env *env, struct spec_list *l, const struct item *it,
		   struct auto_text why, struct da_error *err)
{
	struct event_search search = {.env = env, .list = l, .it = it, .err = err};
	uint64_t config;
	uint32_t type;
	int rc;

	if (pmu_special(env, l, it, why, err, &rc))
		return rc;
	if (pmu_name_find(it->name, &type, &config))
		return spec_add_named(env, l, it, it->name, type, config, err);
	if (pmu_exists(env, it->name, &type))
		return spec_add_pmu(env, l, it, it->base, it->name, "", err);
	if (!it->has_terms)
		pmu_each(env, (struct slice){"", 0}, "", search_pmu, &search);
	if (search.found)
		return search.rc;
	if (raw_config(it->name, &config))
		return spec_add_named(env, l, it, it->name, DA_TYPE_RAW, config, err);
	rc = pmu_known_elsewhere(it->name, err);
	return rc ? rc : unknown(env, it, err);
}

static int add_item(const struct pmu_env *env, struct spec_list *l, struct slice text,
		    struct auto_text why, struct da_error *err)
{
	struct item it = {.text = text};
	struct slice tracepoint = {0};
	uint64_t id;
	int rc;

	if (memchr(text.p, '/', text.len))
		rc = split_slashes(&it, err);
	else
		rc = split_colon(&it, &tracepoint, err);
	if (rc)
		return rc;
	if (!it.name.len)
		return da_fail(err, DA_EUSAGE, 0, "no event name in '%.*s'", slice_len(text),
			       text.p);
	if (tracepoint.len && slice_is(it.name, "mem"))
		return da_fail(err, DA_EUNSUPPORTED, 0,
			       "breakpoint events ('%.*s') are not supported; use cpu-clock",
			       slice_len(text), text.p);
	rc = parse_modifiers(&it, err);
	if (rc || !tracepoint.len)
		return rc ? rc : resolve(env, l, &it, why, err);
	rc = pmu_tracepoint(env, it.name, tracepoint, &id, err);
	return rc ? rc : spec_add_named(env, l, &it, it.base, DA_TYPE_TRACEPOINT, id, err);
}

/* The next item; commas between slashes do not end it. */
static struct slice cut_item(struct slice *rest)
{
	struct slice item = *rest;
	bool inside = false;
	size_t i;

	for (i = 0; i < rest->len && (inside || rest->p[i] != ','); i++)
		inside ^= rest->p[i] == '/';
	item.len = i;
	rest->p += i + (i < rest->len);
	rest->len -= i + (i < rest->len);
	return item;
}

int pmu_spec_parse(const struct pmu_env *env, const char *text, struct da_spec **out, size_t *nr,
		   char *why, size_t why_size, struct da_error *err)
{
	struct auto_text reasons = {why, why_size};
	struct slice rest = slice_from(text);
	struct spec_list l = {0};
	bool more = true;
	int rc = 0;

	*out = NULL;
	*nr = 0;
	if (why_size)
		why[0] = '\0';
	if (strpbrk(text, "{}"))
		return da_fail(
			err, DA_EUSAGE, 0,
			"event groups ('%.200s') are not supported: name the events with commas "
			"between",
			text);
	while (more && !rc) {
		size_t before = rest.len;
		struct slice item = cut_item(&rest);

		more = before > item.len;
		if (item.len)
			rc = add_item(env, &l, item, reasons, err);
		else
			rc = da_fail(err, DA_EUSAGE, 0, "an event is missing in '%.200s'", text);
	}
	if (rc) {
		free(l.spec);
		return rc;
	}
	*out = l.spec;
	*nr = l.nr;
	return 0;
}
