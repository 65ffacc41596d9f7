/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a whole recording through da_reader (transcript.h).
 */
#include "transcript.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfgen.h"

void tally(struct da_reader *r, struct tally *t)
{
	struct da_error err = {0};
	struct da_rec rec;
	uint64_t last = 0;

	memset(t, 0, sizeof(*t));
	while ((t->ret = da_reader_next(r, &rec, &err)) > 0) {
		struct da_samp s;

		t->payload += rec.payload_size;
		if (rec.payload_offset)
			continue;
		t->records++;
		if (rec.type < 128)
			t->by_type[rec.type]++;
		if (rec.has & DA_SAMPLE_TIME && rec.time_ns) {
			t->timed++;
			t->backwards += rec.time_ns < last;
			last = rec.time_ns;
		}
		if (rec.type != DA_REC_SAMPLE)
			continue;
		if (!rec.event) {
			t->no_event++;
			continue;
		}
		if (rec.event->index < 16)
			t->by_event[rec.event->index]++;
		t->damaged_samples +=
			da_samp_parse(&rec.event->attr, rec.bytes, rec.size, rec.swap, &s) < 0;
	}
}

static void write_u64s(FILE *f, const char *name, const uint8_t *p, uint64_t nr, bool swap)
{
	fprintf(f, " %s", name);
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t v;

		memcpy(&v, p + 8 * i, 8);
		fprintf(f, ",%" PRIx64, swap ? __builtin_bswap64(v) : v);
	}
}

static void write_bytes(FILE *f, const char *name, const uint8_t *p, uint64_t n)
{
	uint64_t sum = 1469598103934665603u;

	for (uint64_t i = 0; i < n; i++)
		sum = (sum ^ p[i]) * 1099511628211u;
	fprintf(f, " %s %" PRIu64 ":%" PRIx64, name, n, sum);
}

static void write_sample(FILE *f, const struct da_rec *rec)
{
	struct da_samp s;
	int ret = da_samp_parse(&rec->event->attr, rec->bytes, rec->size, rec->swap, &s);

	fprintf(f,
		" %d mask %" PRIx64 " ip %" PRIx64 " addr %" PRIx64 " period %" PRIu64
		" weight %" PRIx64,
		ret, s.mask, s.ip, s.addr, s.period, s.weight);
	fprintf(f, " src %" PRIx64 " phys %" PRIx64 " stream %" PRIu64, s.data_src, s.phys_addr,
		s.stream_id);
	write_u64s(f, "chain", s.callchain, s.nr_callchain, rec->swap);
	write_u64s(f, "read", s.read, s.read_size / 8, rec->swap);
	if (s.regs_intr.abi)
		write_u64s(f, "regs", s.regs_intr.vals,
			   (uint64_t)__builtin_popcountll(s.regs_intr.mask), rec->swap);
	if (s.regs_user.abi)
		write_u64s(f, "uregs", s.regs_user.vals,
			   (uint64_t)__builtin_popcountll(s.regs_user.mask), rec->swap);
	write_bytes(f, "raw", s.raw, s.raw_size);
	write_bytes(f, "stack", s.stack, s.stack_size);
	write_bytes(f, "aux", s.aux, s.aux_size);
}

static void write_record(FILE *f, const struct da_rec *rec)
{
	struct da_rec_comm comm;
	struct da_rec_mmap m;

	fprintf(f, "type %u misc %x size %u", rec->type, rec->misc, rec->size);
	if (rec->has & DA_SAMPLE_TIME)
		fprintf(f, " time %" PRIu64, rec->time_ns);
	if (rec->has & DA_SAMPLE_ID)
		fprintf(f, " id %" PRIu64, rec->id);
	if (rec->has & DA_SAMPLE_TID)
		fprintf(f, " task %u/%u", rec->pid, rec->tid);
	if (rec->has & DA_SAMPLE_CPU)
		fprintf(f, " cpu %u", rec->cpu);
	if (rec->event)
		fprintf(f, " event %s", rec->event->name);
	if (rec->type == DA_REC_SAMPLE && rec->event)
		write_sample(f, rec);
	if (rec->type == DA_REC_COMM && !da_rec_comm_parse(rec, &comm))
		fprintf(f, " comm %s", comm.comm);
	if ((rec->type == DA_REC_MMAP || rec->type == DA_REC_MMAP2) && !da_rec_mmap_parse(rec, &m))
		fprintf(f, " %" PRIx64 "+%" PRIx64 "@%" PRIx64 " %" PRIu64 " %s", m.addr, m.len,
			m.pgoff, m.ino, m.filename);
	if (rec->payload_total)
		fprintf(f, " payload %" PRIu64 "/%" PRIu64, rec->payload_offset,
			rec->payload_total);
	if (rec->payload)
		write_bytes(f, "bytes", rec->payload, rec->payload_size);
	fputc('\n', f);
}

char *transcript_of_path(const char *path)
{
	struct da_error err = {0};
	struct da_reader *r;
	struct da_rec rec;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int ret;

	if (!f)
		abort();
	ret = da_reader_open(&r, path, &err);
	if (ret < 0) {
		fprintf(f, "refused %d: %s\n", -ret, err.msg);
		fclose(f);
		return text;
	}
	while ((ret = da_reader_next(r, &rec, &err)) > 0)
		write_record(f, &rec);
	if (ret < 0)
		fprintf(f, "failed %d: %s\n", -ret, err.msg);
	fprintf(f, "host %s arch %s cpus %u late %" PRIu64 "\n", da_reader_info(r)->hostname,
		da_reader_info(r)->arch, da_reader_info(r)->nr_cpus_online,
		da_reader_info(r)->late_records);
	da_reader_close(r);
	fclose(f);
	return text;
}

char *transcript_of_bytes(const void *p, size_t n)
{
	char *path = gen_write(p, n), *text = transcript_of_path(path);

	gen_unlink(path);
	return text;
}

char *without_lines(char *text, const char *a, const char *b, const char *c)
{
	char *from = text, *to = text;

	while (*from) {
		char *end = strchrnul(from, '\n');
		size_t n = (size_t)(end - from) + (*end == '\n');

		if (strncmp(from, a, strlen(a)) != 0 && strncmp(from, b, strlen(b)) != 0 &&
		    strncmp(from, c, strlen(c)) != 0) {
			memmove(to, from, n);
			to += n;
		}
		from += n;
	}
	*to = '\0';
	return text;
}
