/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The perf.data reader on whole files that perfgen.c makes: what it tells about them, both byte orders and
 * every layout, ids, payloads, scans. Pipes and directories: test_perfdata_modes.c. Damage:
 * test_perfdata_damage.c. Compressed: test_perfdata_zip.c. Order: test_perfdata_sort.c.
 *
 * timeout: 600
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "da_own.h"
#include "da_perfdata.h"
#include "perfgen.h"
#include "recording.h"
#include "transcript.h"

/* ---- plain files ---- */

START_TEST(everything_is_read)
{
	struct da_error err = {0};
	struct da_reader *r;
	const struct da_file_info *i;
	const struct da_event *ev;
	const uint8_t *bytes;
	struct gen_file f;
	struct gen out = {0};
	struct tally t;
	size_t size;
	char *path;

	rec_whole(&f, false);
	gen_file_build(&f, &out);
	path = gen_write(out.p, out.len);
	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);

	i = da_reader_info(r);
	ck_assert_str_eq(i->path, path);
	ck_assert_uint_eq(i->bytes, out.len);
	ck_assert_int_eq(i->mode, DA_FILE_NORMAL);
	ck_assert(!i->swapped && i->finalised && !i->damaged && !i->nr_messages);
	ck_assert_str_eq(i->hostname, "thishost");
	ck_assert_str_eq(i->osrelease, "6.12.0-test");
	ck_assert_str_eq(i->version, "6.12.1");
	ck_assert_str_eq(i->arch, "x86_64");
	ck_assert_str_eq(i->cpudesc, "Some CPU @ 3 GHz");
	ck_assert_str_eq(i->cpuid, "GenuineIntel,6,106,6");
	ck_assert_uint_eq(i->nr_cpus_avail, 8);
	ck_assert_uint_eq(i->nr_cpus_online, 4);
	ck_assert_uint_eq(i->total_mem_kib, 16296848);
	ck_assert_uint_eq(i->nr_cmdline, 3);
	ck_assert_str_eq(i->cmdline[0], "/usr/bin/perf");
	ck_assert_str_eq(i->cmdline[1], "record");
	ck_assert_uint_gt(strlen(i->cmdline[2]), 64);
	ck_assert_uint_eq(i->sample_time_first_ns, 1000);
	ck_assert_uint_eq(i->sample_time_last_ns, 99000);
	ck_assert_uint_eq(i->clockid_res_ns, 1);
	ck_assert_int_eq(da_reader_arch(r), DA_ARCH_X86_64);
	ck_assert_str_eq(da_reader_pmu_name(r, 9), "arm_spe_0");
	ck_assert_str_eq(da_reader_pmu_name(r, 4), "cpu");
	ck_assert_ptr_null(da_reader_pmu_name(r, 5));
	bytes = da_reader_feature(r, 200, &size);
	ck_assert_uint_eq(size, 40);
	ck_assert_uint_eq(bytes[39], 0xee);
	ck_assert_ptr_null(da_reader_feature(r, 14, &size));
	ck_assert_ptr_null(da_reader_feature(r, 256, &size));
	ck_assert_ptr_null(da_reader_feature(r, UINT32_MAX, &size));

	ck_assert_uint_eq(da_reader_nr_events(r), 2);
	ev = da_reader_event(r, 0);
	ck_assert_str_eq(ev->name, "cpu/mem-loads/P");
	ck_assert_uint_eq(ev->index, 0);
	ck_assert_uint_eq(ev->nr_ids, 2);
	ck_assert_uint_eq(ev->ids[1], 302);
	ck_assert_uint_eq(ev->attr.config, 0x1cd);
	ck_assert_uint_eq(ev->attr.size, 128);
	ev = da_reader_event(r, 1);
	ck_assert_str_eq(ev->name, "page-faults:u");
	ck_assert_uint_eq(ev->ids[0], 401);
	ck_assert_ptr_null(da_reader_event(r, 2));

	tally(r, &t);
	ck_assert_int_eq(t.ret, 0);
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], REC_SAMPLES);
	ck_assert_uint_eq(t.by_event[0], 12 * 8 + 1);
	ck_assert_uint_eq(t.by_event[1], 12 * 7);
	ck_assert_uint_eq(t.by_type[DA_REC_COMM], 13);
	ck_assert_uint_eq(t.by_type[DA_REC_FINISHED_ROUND], 12);
	ck_assert_uint_eq(t.by_type[DA_REC_HEADER_EVENT_TYPE], 2);
	ck_assert_uint_eq(t.by_type[DA_REC_AUXTRACE], 1);
	ck_assert_uint_eq(t.payload, 40);
	ck_assert_uint_eq(t.backwards, 0);
	ck_assert_uint_eq(t.damaged_samples, 0);
	ck_assert_uint_eq(i->unknown_records, 1);
	ck_assert(!i->damaged);
	ck_assert_uint_eq(i->late_records + i->damaged_records + i->skipped_bytes + i->unknown_ids,
			  0);
	/* the end stays the end */
	tally(r, &t);
	ck_assert_uint_eq(t.records, 0);
	da_reader_close(r);
	gen_unlink(path);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

/* What is known of a record without parsing it. */
START_TEST(shared_fields)
{
	struct da_error err = {0};
	struct gen_file f;
	struct gen out = {0};
	struct da_reader *r;
	struct da_rec rec;
	unsigned seen = 0;
	char *path;

	for (int swap = 0; swap < 2; swap++) {
		rec_whole(&f, swap);
		gen_file_build(&f, &out);
		path = gen_write(out.p, out.len);
		ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
		while (da_reader_next(r, &rec, &err) > 0) {
			uint32_t size = rec.size;

			ck_assert_int_eq(rec.swap, swap);
			/* bytes are those of the file, at the offset that it says */
			ck_assert_uint_le(rec.offset + size, out.len);
			ck_assert_mem_eq(rec.bytes, out.p + rec.offset, size);
			if (rec.type != DA_REC_AUXTRACE)
				ck_assert(!rec.payload && !rec.payload_size && !rec.payload_total);
			if (rec.type == DA_REC_SAMPLE && rec.event->index == 0) {
				ck_assert_uint_eq(rec.has, DA_SAMPLE_TID | DA_SAMPLE_TIME |
								   DA_SAMPLE_ID | DA_SAMPLE_CPU);
				ck_assert(rec.pid == 7 && rec.tid == 8 && rec.cpu == 1);
				ck_assert(rec.id == 301 || rec.id == 302);
				ck_assert_uint_eq(rec.misc, 2);
				seen |= 1;
			} else if (rec.type == DA_REC_SAMPLE) {
				ck_assert_uint_eq(rec.has,
						  DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_ID);
				ck_assert(rec.pid == 7 && rec.tid == 9 && rec.id == 401);
				seen |= 2;
			} else if (rec.type == DA_REC_COMM && rec.id) {
				ck_assert_ptr_eq(rec.event, da_reader_event(r, 0));
				ck_assert(rec.pid == 7 && rec.tid == 7 && rec.time_ns);
				seen |= 4;
			} else if (rec.type == DA_REC_COMM) {
				ck_assert_ptr_null(rec.event); /* made up by the recorder */
				ck_assert_uint_eq(rec.time_ns, 0);
				seen |= 8;
			} else if (rec.type == DA_REC_AUXTRACE) {
				ck_assert_uint_eq(rec.payload_size, 40);
				ck_assert_uint_eq(rec.payload_offset, 0);
				ck_assert_uint_eq(rec.payload_total, 40);
				ck_assert_mem_eq(rec.payload, "AUX bytes", 9);
				ck_assert(!rec.has && !rec.event);
				seen |= 16;
			}
		}
		da_reader_close(r);
		gen_unlink(path);
		gen_free(&out);
		gen_file_free(&f);
	}
	ck_assert_uint_eq(seen, 31);
}
END_TEST

/* Variants of one recording that must all read the same. */
START_TEST(variants_read_identically)
{
	struct gen_file f;
	struct gen out = {0};
	char *want, *got;

	rec_whole(&f, false);
	gen_file_build(&f, &out);
	want = transcript_of_bytes(out.p, out.len);
	ck_assert_ptr_nonnull(strstr(want, "cpu/mem-loads/P"));
	gen_free(&out);
	gen_file_free(&f);

	for (int v = 0; v < 20; v++) {
		bool swap = v & 1;
		int kind = v / 2;

		rec_whole(&f, swap);
		out.swap = swap;
		switch (kind) {
		case 0:
			break;
		case 1:
			f.attrs_last = true;
			break;
		case 2:
			f.words32 = swap; /* on a little endian machine both are the same bytes */
			break;
		case 3:
			f.v1 = true;
			break;
		case 4:
			f.attr_size = 136;
			break;
		case 5:
			f.attr_size = 144;
			break;
		case 6:
			f.attr_size = 64;
			break;
		case 7:
			f.attr_size = 96;
			break;
		case 8:
			f.attr_size = 112;
			break;
		case 9:
			f.attr_size = 160; /* of the future */
			break;
		}
		gen_file_build(&f, &out);
		got = transcript_of_bytes(out.p, out.len);
		ck_assert_msg(!strcmp(got, want), "variant %d, swap %d:\n%.2000s\nnot\n%.2000s",
			      kind, swap, got, want);
		free(got);
		gen_free(&out);
		gen_file_free(&f);
	}
	free(want);
}
END_TEST

/* The old header has no feature bits: names are made from the attr, the records are the same. */
START_TEST(header_without_features)
{
	for (int v = 0; v < 4; v++) {
		struct da_error err = {0};
		struct da_reader *r;
		struct gen_file f;
		struct gen out = {0};
		struct tally t;
		char *path;

		rec_whole(&f, v & 1);
		f.header72 = true;
		f.v1 = v & 2;
		gen_file_build(&f, &out);
		path = gen_write(out.p, out.len);
		ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
		ck_assert_str_eq(da_reader_event(r, 0)->name, "raw 0x1cd");
		ck_assert_str_eq(da_reader_event(r, 1)->name, "page-faults");
		ck_assert_ptr_null(da_reader_info(r)->hostname);
		ck_assert_int_eq(da_reader_arch(r), DA_ARCH_UNKNOWN);
		tally(r, &t);
		ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], REC_SAMPLES);
		ck_assert(!da_reader_info(r)->damaged);
		da_reader_close(r);
		gen_unlink(path);
		gen_free(&out);
		gen_file_free(&f);
	}
}
END_TEST

/* attr.size 0 in an entry is the first ABI's 64. */
START_TEST(attr_size_zero)
{
	struct da_error err = {0};
	struct da_reader *r;
	struct gen_file f;
	struct gen out = {0};
	struct tally t;
	char *path;

	rec_whole(&f, false);
	f.attr_size = 64;
	gen_file_build(&f, &out);
	for (int i = 0; i < 2; i++)
		memset(out.p + 104 + 24 + i * 80 + 4, 0, 4);
	path = gen_write(out.p, out.len);
	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	tally(r, &t);
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], REC_SAMPLES);
	ck_assert_uint_eq(da_reader_event(r, 1)->attr.size, 64);
	ck_assert(!da_reader_info(r)->damaged);
	da_reader_close(r);
	gen_unlink(path);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

START_TEST(architectures)
{
	static const struct {
		const char *name;
		enum da_arch arch;
	} rows[] = {
		{"x86_64", DA_ARCH_X86_64}, {"i686", DA_ARCH_X86_32},   {"i386", DA_ARCH_X86_32},
		{"aarch64", DA_ARCH_ARM64}, {"arm64", DA_ARCH_ARM64},   {"armv7l", DA_ARCH_ARM32},
		{"arm", DA_ARCH_ARM32},     {"s390x", DA_ARCH_UNKNOWN}, {"", DA_ARCH_UNKNOWN},
		{"ia64", DA_ARCH_UNKNOWN},  {"x86", DA_ARCH_X86_32}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct da_error err = {0};
		struct da_reader *r;
		struct gen_file f;
		struct gen out = {0};
		char *path;

		rec_whole(&f, false);
		gen_free(&f.feature[6]);
		gen_u32(&f.feature[6], 64);
		gen_padded(&f.feature[6], rows[i].name, 64);
		gen_file_build(&f, &out);
		path = gen_write(out.p, out.len);
		ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
		ck_assert_int_eq(da_reader_arch(r), rows[i].arch);
		da_reader_close(r);
		gen_unlink(path);
		gen_free(&out);
		gen_file_free(&f);
	}
}
END_TEST

/* ---- ids ---- */

/* A sample whose id nobody has: with equal layouts it is read as the first event's and counted; with
 * different ones there is no telling what its bytes mean. */
START_TEST(unknown_ids)
{
	struct da_reader *r;
	struct gen_file f = {0};
	struct tally t;

	rec_events(&f, false);
	rec_sample_a(&f.data, 1, 2, 301);
	rec_sample_a(&f.data, 2, 2, 999);
	rec_sample_a(&f.data, 3, 2, 0);
	gen_features(&f);
	rec_open(&f, &r, &t);
	ck_assert_uint_eq(t.by_event[0], 1);
	ck_assert_uint_eq(t.no_event, 2);
	ck_assert_uint_eq(da_reader_info(r)->unknown_ids, 2);
	da_reader_close(r);

	f.ev[1].attr = rec_attr_a;
	f.ev[1].attr.config = 0x2d0;
	rec_open(&f, &r, &t);
	ck_assert_uint_eq(t.by_event[0], 3);
	ck_assert_uint_eq(t.no_event, 0);
	ck_assert_uint_eq(da_reader_info(r)->unknown_ids, 2);
	da_reader_close(r);
	gen_file_free(&f);
}
END_TEST

/* An attr that is lost takes its samples with it: they are not read as another event's. */
START_TEST(lost_attr)
{
	for (int v = 0; v < 3; v++) {
		struct da_error err = {0};
		struct gen_file f;
		struct gen out = {0};
		struct da_reader *r;
		struct tally t;
		char *path;

		rec_whole(&f, false);
		f.attrs_last = true;
		if (v == 2)
			f.ev[1].attr = rec_attr_a, f.ev[1].attr.config = 77;
		gen_file_build(&f, &out);
		/* the second of two, cut off or with a size that none has */
		if (v)
			memset(out.p + out.len - 144 + 4, 9, 4);
		path = gen_write(out.p, v ? out.len : out.len - 20);
		ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
		ck_assert_uint_eq(da_reader_nr_events(r), 1);
		tally(r, &t);
		ck_assert_uint_eq(t.by_event[0], 12 * 8 + 1);
		ck_assert_uint_eq(t.no_event, 12 * 7);
		ck_assert_uint_eq(da_reader_info(r)->unknown_ids, 12 * 7);
		ck_assert(da_reader_info(r)->damaged);
		da_reader_close(r);
		gen_unlink(path);
		gen_free(&out);
		gen_file_free(&f);
	}
}
END_TEST

/* Events that put their ids in different places: each is found by an id of its own. */
START_TEST(ids_in_different_places)
{
	struct da_attr a = {.type = 0, .sample_type = DA_SAMPLE_IP | DA_SAMPLE_TIME | DA_SAMPLE_ID},
		       b = {.type = 1,
			    .sample_type =
				    DA_SAMPLE_TIME | DA_SAMPLE_ADDR | DA_SAMPLE_ID | DA_SAMPLE_CPU};
	struct da_reader *r;
	struct gen_file f = {0};
	struct tally t;

	a.flags = b.flags = DA_ATTR_SAMPLE_ID_ALL;
	f.nr_ev = 2;
	f.ev[0] = (struct gen_event){.attr = a, .ids = {71}, .nr_ids = 1};
	f.ev[1] = (struct gen_event){.attr = b, .ids = {81}, .nr_ids = 1};
	for (uint64_t i = 1; i <= 10; i++) {
		struct da_samp s = {.ip = 0x400000, .addr = 0x500000, .time_ns = 100 * i, .id = 71};

		gen_sample(&f.data, &a, &s);
		s.id = 81;
		s.time_ns++;
		gen_sample(&f.data, &b, &s);
		gen_comm(&f.data, &b, "b", 1, 100 * i + 2, 81);
	}
	gen_features(&f);
	rec_open(&f, &r, &t);
	ck_assert_uint_eq(t.by_event[0], 10);
	ck_assert_uint_eq(t.by_event[1], 10);
	ck_assert_uint_eq(t.by_type[DA_REC_COMM], 10);
	ck_assert_uint_eq(t.backwards, 0);
	ck_assert_uint_eq(da_reader_info(r)->unknown_ids, 0);
	da_reader_close(r);
	gen_file_free(&f);
}
END_TEST

/* Thousands of ids, some of them claimed twice. */
START_TEST(many_ids)
{
	struct da_error err = {0};
	struct gen_file f = {0};
	struct gen out = {0}, ids = {0};
	struct da_reader *r;
	struct tally t;
	size_t at;
	char *path;

	rec_events(&f, false);
	for (uint64_t i = 0; i < 3000; i++)
		rec_sample_a(&f.data, i + 1, i, 7 * i);
	gen_file_build(&f, &out);
	/* ids of event 0: 0, 7, 14 ...; of event 1: all of 0..9 and far ones */
	for (uint64_t i = 0; i < 3000; i++)
		gen_u64(&ids, 7 * (2999 - i));
	for (uint64_t i = 0; i < 3000; i++)
		gen_u64(&ids, i < 10 ? i : i << 40);
	at = out.len;
	gen_bytes(&out, ids.p, ids.len);
	gen_set_u64(&out, 128 + 128, at);
	gen_set_u64(&out, 128 + 136, 3000 * 8);
	gen_set_u64(&out, 128 + 144 + 128, at + 3000 * 8);
	gen_set_u64(&out, 128 + 144 + 136, 3000 * 8);
	path = gen_write(out.p, out.len);
	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	ck_assert_uint_eq(da_reader_event(r, 1)->nr_ids, 3000);
	tally(r, &t);
	/* the first event keeps those that both claim: 0 and 7 */
	ck_assert_uint_eq(t.by_event[0], 3000);
	ck_assert_uint_eq(t.by_event[1], 0);
	da_reader_close(r);
	gen_unlink(path);
	gen_free(&ids);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

/* Recordings of old kernels: no trailers, ids or neither. */
START_TEST(no_sample_id_all)
{
	struct da_attr a = {.type = 0, .sample_type = DA_SAMPLE_IP | DA_SAMPLE_TIME};
	struct da_reader *r;
	struct gen_file f = {0};
	struct tally t;
	size_t at;

	f.nr_ev = 2;
	f.ev[0].attr = f.ev[1].attr = a;
	for (uint64_t i = 1; i <= 10; i++) {
		struct da_samp s = {.ip = 0x400000, .time_ns = 100 * i};

		gen_sample(&f.data, &a, &s);
		gen_comm(&f.data, &a, "name", 1, 0, 0);
		/* EXIT carries its time in its body */
		at = gen_rec(&f.data, DA_REC_EXIT, 0);
		gen_fill(&f.data, 1, 16);
		gen_u64(&f.data, 100 * i - 50);
		gen_end(&f.data, at);
	}
	gen_features(&f);
	rec_open(&f, &r, &t);
	ck_assert_uint_eq(t.by_event[0], 10);
	ck_assert_uint_eq(t.by_type[DA_REC_COMM], 10);
	ck_assert_uint_eq(t.by_type[DA_REC_EXIT], 10);
	ck_assert_uint_eq(t.backwards, 0);
	ck_assert_uint_eq(t.timed, 20);
	ck_assert_uint_eq(da_reader_info(r)->unknown_ids, 10);
	ck_assert(!da_reader_info(r)->damaged);
	da_reader_close(r);
	gen_file_free(&f);
}
END_TEST

/* ---- payloads ---- */

static void check_pieces(uint64_t there, uint64_t claimed)
{
	struct da_error err = {0};
	struct gen_file f = {0};
	struct gen out = {0};
	uint8_t *payload = malloc(there ? there : 1);
	struct da_reader *r;
	struct da_rec rec;
	uint64_t got = 0;
	unsigned pieces = 0, samples = 0;
	char *path;

	for (uint64_t i = 0; i < there; i++)
		payload[i] = (uint8_t)(i * 2654435761u >> 13);
	rec_events(&f, false);
	rec_sample_a(&f.data, 100, 1, 301);
	gen_auxtrace(&f.data, payload, there, claimed, 0);
	if (there == claimed)
		rec_sample_a(&f.data, 50, 2, 301); /* older, but it follows */
	gen_features(&f);
	gen_file_build(&f, &out);
	/* the file ends with the payload */
	path = gen_write(out.p, there == claimed ? out.len : 104 + 24 + 2 * 144 + f.data.len);
	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	while (da_reader_next(r, &rec, &err) > 0) {
		if (rec.type == DA_REC_SAMPLE) {
			samples++;
			continue;
		}
		ck_assert_uint_eq(rec.type, DA_REC_AUXTRACE);
		ck_assert_uint_eq(rec.size, 48);
		ck_assert_uint_eq(rec.payload_total, claimed);
		ck_assert_uint_eq(rec.payload_offset, got);
		ck_assert_uint_le(rec.payload_size, DA_PAYLOAD_PIECE);
		if (there)
			ck_assert_mem_eq(rec.payload, payload + got, rec.payload_size);
		else
			ck_assert_ptr_null(rec.payload);
		got += rec.payload_size;
		pieces++;
	}
	ck_assert_int_eq(err.code, 0);
	ck_assert_uint_eq(got, there);
	ck_assert_uint_eq(pieces, there ? (there + DA_PAYLOAD_PIECE - 1) / DA_PAYLOAD_PIECE : 1);
	ck_assert_uint_eq(samples, there == claimed ? 2 : 1);
	ck_assert_int_eq(da_reader_info(r)->damaged, there != claimed);
	da_reader_close(r);
	gen_unlink(path);
	gen_free(&out);
	gen_file_free(&f);
	free(payload);
}

START_TEST(payload_pieces)
{
	static const uint64_t lengths[] = {0,
					   1,
					   8,
					   4096,
					   DA_PAYLOAD_PIECE - 1,
					   DA_PAYLOAD_PIECE,
					   DA_PAYLOAD_PIECE + 1,
					   5 * DA_PAYLOAD_PIECE + 12345};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		check_pieces(lengths[i], lengths[i]);
		check_pieces(lengths[i], lengths[i] + 1);
	}
	check_pieces(1000, UINT64_MAX);
	check_pieces(1000, UINT64_MAX - 1000);
	check_pieces(0, 1ull << 63);
}
END_TEST

/* Payloads left alone are told about, and read when wanted: while records are read and after their end. */
START_TEST(payload_on_demand)
{
	static const uint8_t bytes[] = "0123456789abcdef";
	struct da_error err = {0};
	struct gen_file f = {0};
	struct gen out = {0};
	struct da_rec rec, seen[3];
	struct da_reader *r;
	unsigned nr = 0;
	uint8_t b[16];
	char *path;

	rec_events(&f, false);
	gen_features(&f);
	gen_auxtrace(&f.data, bytes, 16, 16, 0);
	rec_sample_a(&f.data, 1, 1, 301);
	gen_auxtrace(&f.data, NULL, 0, 0, 16);
	gen_auxtrace(&f.data, bytes, 8, 24, 16); /* the file is cut here */
	gen_file_build(&f, &out);
	path = gen_write(out.p, 104 + 24 + 2 * 144 + f.data.len);
	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	da_reader_leave_payloads(r);
	while (da_reader_next(r, &rec, &err) > 0) {
		if (rec.type == DA_REC_SAMPLE)
			continue;
		ck_assert_uint_lt(nr, 3);
		ck_assert(!rec.payload && !rec.payload_size && !rec.payload_offset);
		seen[nr++] = rec;
	}
	ck_assert_uint_eq(nr, 3);
	ck_assert(seen[0].payload_total == 16 && seen[0].payload_avail == 16);
	ck_assert(seen[1].payload_total == 0 && seen[1].payload_avail == 0);
	ck_assert(seen[2].payload_total == 24 && seen[2].payload_avail == 8);
	ck_assert_int_eq(
		da_reader_payload(r, seen[0].payload_input, seen[0].payload_at + 4, b, 12, &err),
		0);
	ck_assert_mem_eq(b, "456789abcdef", 12);
	ck_assert_int_eq(
		da_reader_payload(r, seen[2].payload_input, seen[2].payload_at, b, 8, &err), 0);
	ck_assert_mem_eq(b, "01234567", 8);
	/* never beyond the file */
	ck_assert_int_eq(da_reader_payload(r, 0, seen[2].payload_at, b, 9, &err), -DA_EBUG);
	ck_assert_int_eq(da_reader_payload(r, 0, UINT64_MAX, b, 1, NULL), -DA_EBUG);
	ck_assert_int_eq(da_reader_payload(r, 1, 0, b, 1, NULL), -DA_EBUG);
	da_reader_close(r);
	gen_unlink(path);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

/* A payload of many times our memory; the file is sparse. */
START_TEST(payload_of_any_size)
{
	uint64_t total = 256ull << 20, got = 0;
	struct da_error err = {0};
	struct gen_file f = {0};
	struct gen out = {0};
	struct da_reader *r;
	struct da_rec rec;
	char *path;

	f.nr_ev = 1;
	f.ev[0].attr = rec_attr_a;
	gen_auxtrace(&f.data, NULL, 0, total, 0);
	f.unfinished = true;
	gen_file_build(&f, &out);
	path = gen_write(out.p, out.len);
	ck_assert_int_eq(truncate(path, (off_t)(out.len + total)), 0);
	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	while (da_reader_next(r, &rec, &err) > 0) {
		ck_assert_uint_eq(rec.payload_offset, got);
		got += rec.payload_size;
	}
	ck_assert_uint_eq(got, total);
	da_reader_close(r);
	gen_unlink(path);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

/* ---- scan ---- */

struct scan {
	unsigned calls, stop_at;
	int value;
	char text[256];
	uint64_t payload;
};

static int count_own(void *ctx, const struct da_rec *rec)
{
	struct scan *s = ctx;
	enum da_own_kind kind;
	const uint8_t *p;
	uint16_t version;
	size_t len;

	s->payload += rec->payload_size;
	if (rec->type == DA_REC_HEADER_EVENT_TYPE) {
		ck_assert_int_eq(da_own_parse(rec, &kind, &version, &p, &len), 0);
		snprintf(s->text + strlen(s->text), sizeof(s->text) - strlen(s->text), "%d:%.*s ",
			 kind, (int)len, (const char *)p);
	}
	s->calls++;
	return s->calls == s->stop_at ? s->value : 0;
}

START_TEST(scan_sees_all_and_moves_nothing)
{
	for (int v = 0; v < 4; v++) {
		struct da_error err = {0};
		struct scan s = {0};
		struct gen_file f;
		struct gen out = {0};
		struct da_reader *r;
		struct da_rec rec;
		struct tally t;
		char *path;

		rec_whole(&f, v & 1);
		if (v & 2)
			gen_pipe_build(&f, &out);
		else
			gen_file_build(&f, &out);
		path = gen_write(out.p, out.len);
		ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
		ck_assert_int_eq(da_reader_scan(r, DA_REC_HEADER_EVENT_TYPE, count_own, &s, &err),
				 0);
		ck_assert_uint_eq(s.calls, 2);
		ck_assert_uint_eq(da_reader_info(r)->unknown_records, 0);
		ck_assert_str_eq(s.text, "1:{\"tool\":\"test\"} 5:{\"reason\":\"exit\"} ");
		for (int i = 0; i < 50; i++)
			ck_assert_int_eq(da_reader_next(r, &rec, &err), 1);
		memset(&s, 0, sizeof(s));
		ck_assert_int_eq(da_reader_scan(r, 0, count_own, &s, &err), 0);
		ck_assert_uint_eq(s.payload, 40);
		tally(r, &t);
		ck_assert_uint_eq(50 + t.records, s.calls);
		ck_assert_uint_eq(t.backwards, 0);
		/* after the end too, and stopped by the caller */
		for (int value = -3; value < 4; value += 6) {
			s = (struct scan){.stop_at = 3, .value = value};
			ck_assert_int_eq(da_reader_scan(r, DA_REC_SAMPLE, count_own, &s, &err),
					 value);
			ck_assert_uint_eq(s.calls, 3);
		}
		ck_assert_int_eq(err.code, 0);
		da_reader_close(r);
		gen_unlink(path);
		gen_free(&out);
		gen_file_free(&f);
	}
}
END_TEST

/* Damage is counted once, by the walk that gives the records. */
START_TEST(scan_counts_no_damage)
{
	struct da_error err = {0};
	struct gen_file f = {0};
	struct gen out = {0};
	struct scan s = {0};
	struct da_reader *r;
	struct tally t;
	char *path;

	rec_events(&f, false);
	rec_sample_a(&f.data, 1, 1, 301);
	gen_end(&f.data, gen_rec(&f.data, 9, 2)); /* short */
	gen_end(&f.data, gen_rec(&f.data, 999, 2));
	rec_sample_a(&f.data, 2, 1, 301);
	gen_fill(&f.data, 0, 20);
	gen_features(&f);
	gen_file_build(&f, &out);
	path = gen_write(out.p, out.len);
	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	ck_assert_int_eq(da_reader_scan(r, 0, count_own, &s, &err), 0);
	ck_assert_uint_eq(s.calls, 2);
	ck_assert(!da_reader_info(r)->damaged);
	tally(r, &t);
	ck_assert_int_eq(da_reader_scan(r, 0, count_own, &s, &err), 0);
	ck_assert_uint_eq(da_reader_info(r)->damaged_records, 2);
	ck_assert_uint_eq(da_reader_info(r)->unknown_records, 1);
	ck_assert_uint_eq(da_reader_info(r)->skipped_bytes, 8 + 20);
	ck_assert_uint_eq(da_reader_info(r)->nr_messages, 2);
	da_reader_close(r);
	gen_unlink(path);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

/* ---- seeds for tests/fuzz/fuzz_reader.c ---- */

/* DA_WRITE_SEEDS=tests/fuzz/corpus/reader writes them; they are committed. */
START_TEST(write_seeds)
{
	const char *dir = getenv("DA_WRITE_SEEDS");

	static const char *const names[] = {"file",    "swapped",    "pipe",       "pipe-swapped",
					    "v1",      "old-header", "attrs-last", "killed",
					    "patched", "one-event"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct gen_file f = {0};
		struct gen out = {0};

		rec_events(&f, i == 1 || i == 3);
		if (i == 9)
			f.nr_ev = 1;
		rec_own(&f.data, DA_OWN_INFO, "{}");
		gen_comm(&f.data, &rec_attr_a, "seed", 7, 0, 0);
		rec_sample_a(&f.data, 2000, 1, 301);
		rec_sample_b(&f.data, 1007, i == 9 ? 301 : 401);
		gen_round(&f.data);
		gen_auxtrace(&f.data, "AUX bytes", 8, 8, 0);
		rec_sample_a(&f.data, 3000, 1, 302);
		gen_round(&f.data);
		gen_features(&f);
		f.v1 = i == 4;
		f.header72 = i == 5;
		f.attrs_last = i == 6;
		f.unfinished = i == 7;
		f.patched = i == 8 ? 80 : 0;
		if (i == 2 || i == 3)
			gen_pipe_build(&f, &out);
		else
			gen_file_build(&f, &out);
		rec_put_file(dir, names[i], &out);
		gen_free(&out);
		gen_file_free(&f);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfdata_read");
	TCase *tc = tcase_create("perfdata_read");
	SRunner *runner;
	int failed;

	if (getenv("DA_WRITE_SEEDS"))
		tcase_add_test(tc, write_seeds);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, everything_is_read);
	tcase_add_test(tc, shared_fields);
	tcase_add_test(tc, variants_read_identically);
	tcase_add_test(tc, header_without_features);
	tcase_add_test(tc, attr_size_zero);
	tcase_add_test(tc, architectures);
	tcase_add_test(tc, unknown_ids);
	tcase_add_test(tc, lost_attr);
	tcase_add_test(tc, ids_in_different_places);
	tcase_add_test(tc, many_ids);
	tcase_add_test(tc, no_sample_id_all);
	tcase_add_test(tc, payload_pieces);
	tcase_add_test(tc, payload_on_demand);
	tcase_add_test(tc, payload_of_any_size);
	tcase_add_test(tc, scan_sees_all_and_moves_nothing);
	tcase_add_test(tc, scan_counts_no_damage);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
