/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probes of an offline decode: those asked for, else those that the recording was made with.
 */
#include <stdlib.h>
#include <string.h>

#include "da_json.h"
#include "offline_priv.h"

static int add_given(struct da_offline *o, struct da_error *err)
{
	const struct da_offline_opts *f = o->opts;
	int rc = 0;

	for (size_t i = 0; i < f->nr_probes && !rc; i++)
		rc = da_probes_add(o->probes, f->probes[i], err);
	return rc;
}

/* What the file says may be damaged: then it is as if it said nothing. */
static void add_recorded(struct da_offline *o)
{
	const char *text = o->res.info.options;
	struct da_error why = {0};
	struct da_json root, list, v;
	char one[4096];
	size_t pos = 0;

	if (!text || !da_json_open(text, strlen(text), &root))
		return;
	if (da_json_is_object(&root) && da_json_get(&root, "probes", &list))
		while (da_json_next(&list, &pos, &v))
			if (!da_json_get_string(&v, "probe", one, sizeof(one)) ||
			    da_probes_add(o->probes, one, &why))
				offline_damage(o, "a probe of the recording cannot be read");
	da_json_free(&root);
}

static int bind_probes(struct da_offline *o, struct da_error *err)
{
	size_t nr = o->res.nr_events;
	struct da_probe_event *ev = calloc(nr + 1, sizeof(*ev));
	int rc;

	if (!ev)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	for (size_t i = 0; i < nr; i++)
		ev[i] = (struct da_probe_event){
			.name = o->res.events[i].name,
			.buffer = i < o->res.info.nr_events ? o->res.info.events[i].buffer : "",
			.producer = o->res.events[i].producer};
	rc = da_probes_bind(o->probes, ev, nr, err);
	free(ev);
	return rc;
}

int probes_choose(struct da_offline *o, struct da_error *err)
{
	int rc;

	o->probes = da_probes_new();
	if (!o->probes)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	rc = add_given(o, err);
	if (!o->opts->nr_probes && !o->opts->no_probes)
		add_recorded(o);
	if (!rc && da_probes_nr(o->probes))
		rc = bind_probes(o, err);
	if (!rc && da_probes_nr(o->probes))
		o->res.probes = o->probes;
	return rc;
}
