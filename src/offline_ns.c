/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ids of processes in their own pid namespaces (DA_OWN_NSPID), to be shown beside the global ones.
 */
#include <stdlib.h>

#include "da_cursor.h"
#include "offline_priv.h"

#define MAX_NS_PIDS 65536

void ns_record(struct da_offline *o, const uint8_t *payload, size_t len, bool swap)
{
	struct da_offline_result *r = &o->res;
	struct da_cur c = da_cur_from(payload, len, swap);
	struct da_ns_pid n;

	n.pid = da_cur_u32(&c);
	n.ns_pid = da_cur_u32(&c);
	n.time_ns = da_cur_u64(&c);
	if (!da_cur_ok(&c)) {
		offline_damage(o, "an id in a namespace of our own records does not fit its bytes");
		return;
	}
	if (r->nr_ns_pids == MAX_NS_PIDS)
		return;
	if (r->nr_ns_pids == o->room_ns_pids) {
		size_t room = o->room_ns_pids ? o->room_ns_pids * 2 : 16;
		struct da_ns_pid *grown = reallocarray(r->ns_pids, room, sizeof(*grown));

		if (!grown) {
			o->no_memory = true;
			return;
		}
		r->ns_pids = grown;
		o->room_ns_pids = room;
	}
	r->ns_pids[r->nr_ns_pids++] = n;
}

uint32_t da_offline_ns_pid(const struct da_offline_result *r, const struct da_space *s)
{
	for (size_t i = r->nr_ns_pids; s->kind == DA_SPACE_VIRTUAL && i-- > 0;) {
		const struct da_ns_pid *n = &r->ns_pids[i];

		if (n->pid == s->pid && n->time_ns < s->to_ns)
			return n->ns_pid;
	}
	return 0;
}
