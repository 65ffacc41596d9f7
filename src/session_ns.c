/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ids that processes have in their own pid namespaces: all ids of a recording are global (as seen here),
 * and report shows both. The kernel reports no such ids; they are read from /proc when a process begins.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session_priv.h"

#define MISC_COMM_EXEC (1u << 13) /* uapi PERF_RECORD_MISC_COMM_EXEC */

/* The last number of "NSpid: 4711 5": the id in the innermost namespace; 0: the process is in ours. */
static uint32_t innermost(const char *line)
{
	unsigned long last = 0;
	unsigned nr = 0;
	char *end;

	for (;; nr++) {
		unsigned long v = strtoul(line, &end, 10);

		if (end == line)
			break;
		last = v;
		line = end;
	}
	return nr > 1 && last <= INT32_MAX ? (uint32_t)last : 0;
}

void s_ns_look(struct da_session *s, uint32_t pid, uint64_t time_ns)
{
	char path[64], line[512];
	struct {
		uint32_t pid, ns_pid;
		uint64_t time_ns;
	} found = {.pid = pid, .time_ns = time_ns};
	FILE *f;

	if (!s->w || s->fake_only)
		return;
	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		found.ns_pid = innermost(line + 6);
		break;
	}
	if (f)
		fclose(f);
	if (found.ns_pid)
		s_store(s, DA_OWN_NSPID, &found, sizeof(found));
}

/* A process that began, or another program in one. */
void s_ns_record(struct da_session *s, const struct da_rec *rec)
{
	uint32_t ids[2];

	if (rec->size < 16)
		return;
	memcpy(ids, rec->bytes + 8, sizeof(ids));
	if ((rec->type == DA_REC_FORK && ids[0] != ids[1]) ||
	    (rec->type == DA_REC_COMM && (rec->misc & MISC_COMM_EXEC)))
		s_ns_look(s, ids[0], rec->time_ns);
}
