/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The perf.data reader on files that perfgen.c makes: every mode, both byte orders, order in time, payloads,
 * and every kind of damage. Compressed recordings: test_perfdata_zip.c. Order: test_perfdata_sort.c.
 *
 * timeout: 600
 */
#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "da_own.h"
#include "da_perfdata.h"
#include "perfgen.h"
#include "transcript.h"

/* ---- a recording with a bit of everything ---- */

#define ST_A                                                                                               \
	(DA_SAMPLE_IDENTIFIER | DA_SAMPLE_IP | DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_ADDR |           \
	 DA_SAMPLE_CPU | DA_SAMPLE_PERIOD | DA_SAMPLE_DATA_SRC)
#define ST_B (DA_SAMPLE_IDENTIFIER | DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_CALLCHAIN | DA_SAMPLE_PHYS_ADDR)

static const struct da_attr attr_a = {
	.type = 4, .config = 0x1cd, .sample_period = 1000, .sample_type = ST_A, .flags = DA_ATTR_SAMPLE_ID_ALL};
static const struct da_attr attr_b = {
	.type = 1, .config = 2, .sample_period = 1, .sample_type = ST_B, .flags = DA_ATTR_SAMPLE_ID_ALL};

static void sample_a(struct gen *g, uint64_t time, uint64_t addr, uint64_t id)
{
	struct da_samp s = {.id = id,
			    .ip = 0x401000 + time,
			    .pid = 7,
			    .tid = 8,
			    .time_ns = time,
			    .addr = addr,
			    .cpu = 1,
			    .period = 1000,
			    .data_src = 0x68100142};

	gen_sample(g, &attr_a, &s);
}

static void sample_b(struct gen *g, uint64_t time, uint64_t id)
{
	uint64_t chain[3] = {0xffffffffffffff80, time, time + 1};
	struct da_samp s = {.id = id,
			    .pid = 7,
			    .tid = 9,
			    .time_ns = time,
			    .callchain = (uint8_t *)chain,
			    .nr_callchain = time % 4,
			    .phys_addr = 0x100000000 + time};

	gen_sample(g, &attr_b, &s);
}

static void own_record(struct gen *g, uint16_t kind, const char *json)
{
	size_t at = gen_rec(g, 65, 0);

	gen_u32(g, 0x444d4e41);
	gen_u16(g, kind);
	gen_u16(g, 1);
	gen_u32(g, (uint32_t)strlen(json));
	gen_u32(g, 0);
	gen_padded(g, json, 8);
	while (g->len - at < 80)
		gen_u64(g, 0);
	gen_end(g, at);
}

static void two_events(struct gen_file *f, bool swap)
{
	f->data.swap = swap;
	f->nr_ev = 2;
	f->ev[0] = (struct gen_event){.attr = attr_a, .name = "cpu/mem-loads/P", .ids = {301, 302}, .nr_ids = 2};
	f->ev[1] = (struct gen_event){.attr = attr_b, .name = "page-faults:u", .ids = {401}, .nr_ids = 1};
}

#define FUTURE 99 /* a type that no recorder writes yet */

static void fill_data(struct gen_file *f)
{
	static const uint8_t payload[40] = "AUX bytes that are no records at all...";
	struct gen *g = &f->data;
	size_t at;

	own_record(g, DA_OWN_INFO, "{\"tool\":\"test\"}");
	gen_comm(g, &attr_a, "made-up", 7, 0, 0);
	for (unsigned round = 0; round < 12; round++) {
		uint64_t t = 10000 * round;

		/* two CPUs, one after the other */
		for (unsigned i = 1; i < 8; i++)
			sample_a(g, t + 1000 * i, 0x7f0000000000 + 64 * i, 301);
		gen_comm(g, &attr_a, "late-name", 7, t + 8000, 301);
		for (unsigned i = 1; i < 8; i++)
			sample_b(g, t + 1000 * i + 7, 401);
		sample_a(g, t + 8500, 0, 302);
		if (round == 5)
			gen_auxtrace(g, payload, sizeof(payload), sizeof(payload), 0x4000);
		gen_round(g);
	}
	/* a record type of the future */
	at = gen_rec(g, FUTURE, 0);
	gen_fill(g, 0x77, 24);
	gen_end(g, at);
	sample_a(g, 200000, 1, 301);
	own_record(g, DA_OWN_END, "{\"reason\":\"exit\"}");
}

#define SAMPLES (12 * 15 + 1)

static void whole(struct gen_file *f, bool swap)
{
	memset(f, 0, sizeof(*f));
	two_events(f, swap);
	fill_data(f);
	gen_features(f);
}

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

	whole(&f, false);
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
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], SAMPLES);
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
	ck_assert_uint_eq(i->late_records + i->damaged_records + i->skipped_bytes + i->unknown_ids, 0);
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
		whole(&f, swap);
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
				ck_assert_uint_eq(rec.has, DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_ID | DA_SAMPLE_CPU);
				ck_assert(rec.pid == 7 && rec.tid == 8 && rec.cpu == 1);
				ck_assert(rec.id == 301 || rec.id == 302);
				ck_assert_uint_eq(rec.misc, 2);
				seen |= 1;
			} else if (rec.type == DA_REC_SAMPLE) {
				ck_assert_uint_eq(rec.has, DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_ID);
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

	whole(&f, false);
	gen_file_build(&f, &out);
	want = transcript_of_bytes(out.p, out.len);
	ck_assert_ptr_nonnull(strstr(want, "cpu/mem-loads/P"));
	gen_free(&out);
	gen_file_free(&f);

	for (int v = 0; v < 20; v++) {
		bool swap = v & 1;
		int kind = v / 2;

		whole(&f, swap);
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
		ck_assert_msg(!strcmp(got, want), "variant %d, swap %d:\n%.2000s\nnot\n%.2000s", kind, swap, got, want);
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

		whole(&f, v & 1);
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
		ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], SAMPLES);
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

	whole(&f, false);
	f.attr_size = 64;
	gen_file_build(&f, &out);
	for (int i = 0; i < 2; i++)
		memset(out.p + 104 + 24 + i * 80 + 4, 0, 4);
	path = gen_write(out.p, out.len);
	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	tally(r, &t);
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], SAMPLES);
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
	} rows[] = {{"x86_64", DA_ARCH_X86_64}, {"i686", DA_ARCH_X86_32},  {"i386", DA_ARCH_X86_32},
		    {"aarch64", DA_ARCH_ARM64}, {"arm64", DA_ARCH_ARM64},  {"armv7l", DA_ARCH_ARM32},
		    {"arm", DA_ARCH_ARM32},	{"s390x", DA_ARCH_UNKNOWN}, {"", DA_ARCH_UNKNOWN},
		    {"ia64", DA_ARCH_UNKNOWN},	{"x86", DA_ARCH_X86_32}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct da_error err = {0};
		struct da_reader *r;
		struct gen_file f;
		struct gen out = {0};
		char *path;

		whole(&f, false);
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

/* ---- pipes ---- */

/* Opens path in a child whose standard input is fd, and writes the transcript to out. */
static char *transcript_in_child(int fd, const char *path)
{
	int out[2];
	char *text = NULL;
	size_t len = 0, cap = 0;
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(pipe(out), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		char *t;

		if (fd >= 0)
			dup2(fd, STDIN_FILENO);
		t = transcript_of_path(path);
		if (write(out[1], t, strlen(t)) < 0)
			_exit(1);
		free(t);
		_exit(0);
	}
	close(out[1]);
	do {
		if (len + 4096 > cap)
			text = realloc(text, cap = cap * 2 + 8192);
		n = read(out[0], text + len, 4096);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	close(out[0]);
	text[len] = '\0';
	waitpid(pid, NULL, 0);
	return text;
}

static pid_t feed(int fd, const struct gen *g, size_t chunk)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		for (size_t at = 0; at < g->len; at += chunk) {
			size_t n = g->len - at < chunk ? g->len - at : chunk;

			if (write(fd, g->p + at, n) != (ssize_t)n)
				_exit(1);
		}
		_exit(0);
	}
	return pid;
}

START_TEST(pipe_reads_like_the_file)
{
	for (int v = 0; v < 4; v++) {
		struct gen file = {0}, piped = {0};
		struct gen_file f;
		char *want, *got;

		whole(&f, v & 1);
		f.attr_size = v & 2 ? 144 : 128;
		gen_file_build(&f, &file);
		gen_pipe_build(&f, &piped);
		want = transcript_of_bytes(file.p, file.len);
		got = transcript_of_bytes(piped.p, piped.len);
		/* the records in which a pipe carries attrs, names and features are records */
		ck_assert_str_eq(without_lines(got, "type 64 ", "type 78 ", "type 80 "), want);
		free(want);
		free(got);
		gen_free(&file);
		gen_free(&piped);
		gen_file_free(&f);
	}
}
END_TEST

START_TEST(standard_input)
{
	struct gen file = {0}, piped = {0};
	struct gen_file f;
	char *want, *got, *path;
	int p[2], fd;
	pid_t pid;

	whole(&f, false);
	gen_file_build(&f, &file);
	gen_pipe_build(&f, &piped);
	/* a pipe, in pipe mode and in file mode; 7 bytes at a time */
	for (int v = 0; v < 2; v++) {
		const struct gen *g = v ? &file : &piped;

		want = transcript_of_bytes(g->p, g->len);
		ck_assert_int_eq(pipe(p), 0);
		pid = feed(p[1], g, 7);
		close(p[1]);
		got = transcript_in_child(p[0], "-");
		ck_assert_str_eq(got, want);
		close(p[0]);
		waitpid(pid, NULL, 0);
		free(got);
		free(want);
	}
	/* a file, from its beginning and behind something else */
	want = transcript_of_bytes(piped.p, piped.len);
	for (int v = 0; v < 2; v++) {
		struct gen g = {0};

		gen_fill(&g, 'x', v ? 1000 : 0);
		gen_bytes(&g, piped.p, piped.len);
		path = gen_write(g.p, g.len);
		fd = open(path, O_RDONLY);
		lseek(fd, v ? 1000 : 0, SEEK_SET);
		got = transcript_in_child(fd, "-");
		ck_assert_str_eq(got, want);
		close(fd);
		free(got);
		gen_unlink(path);
		gen_free(&g);
	}
	free(want);
	gen_free(&file);
	gen_free(&piped);
	gen_file_free(&f);
}
END_TEST

START_TEST(fifo)
{
	struct gen piped = {0};
	struct gen_file f;
	char *want, *got, *path;
	pid_t pid;
	int fd;

	whole(&f, false);
	gen_pipe_build(&f, &piped);
	want = transcript_of_bytes(piped.p, piped.len);
	path = gen_write("", 0);
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		fd = open(path, O_WRONLY);
		_exit(write(fd, piped.p, piped.len) == (ssize_t)piped.len ? 0 : 1);
	}
	got = transcript_of_path(path);
	ck_assert_str_eq(got, want);
	waitpid(pid, NULL, 0);
	free(got);
	free(want);
	gen_unlink(path);
	gen_free(&piped);
	gen_file_free(&f);
}
END_TEST

/* An endless stream of something else is not copied to the disk. */
START_TEST(endless_nonsense)
{
	int p[2];
	char *got;
	pid_t pid;

	ck_assert_int_eq(pipe(p), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(p[0]);
		for (;;) {
			if (write(p[1], "yes\n", 4) < 0)
				_exit(0);
		}
	}
	close(p[1]);
	got = transcript_in_child(p[0], "-");
	ck_assert_str_eq(got, "refused 4: cannot read 'standard input': not a perf.data file\n");
	close(p[0]);
	waitpid(pid, NULL, 0);
	free(got);
}
END_TEST

/* Pipe mode without ids: one event takes all. */
START_TEST(pipe_one_event_without_ids)
{
	struct da_error err = {0};
	struct da_reader *r;
	struct gen_file f;
	struct gen out = {0};
	struct tally t;
	char *path;

	memset(&f, 0, sizeof(f));
	f.nr_ev = 1;
	f.ev[0].attr = attr_a;
	for (uint64_t i = 1; i < 10; i++)
		sample_a(&f.data, i, i, 0);
	gen_pipe_build(&f, &out);
	path = gen_write(out.p, out.len);
	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	ck_assert_int_eq(da_reader_info(r)->mode, DA_FILE_PIPE);
	tally(r, &t);
	ck_assert_uint_eq(t.by_event[0], 9);
	ck_assert_uint_eq(da_reader_info(r)->unknown_ids, 0);
	da_reader_close(r);
	gen_unlink(path);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

/* TRACING_DATA: bytes behind the record, which are also the feature. */
START_TEST(pipe_tracing_data)
{
	static const uint8_t format[24] = "\x17\x08\x44tracing and formats";

	for (int v = 0; v < 2; v++) {
		struct da_error err = {0};
		struct da_reader *r;
		struct gen_file f;
		struct gen out = {0};
		struct da_rec rec;
		const uint8_t *p;
		unsigned seen = 0;
		size_t at, size;
		char *path;

		memset(&f, 0, sizeof(f));
		f.nr_ev = 1;
		f.ev[0].attr = attr_a;
		/* 12 bytes, as perf writes it; or 16 */
		at = gen_rec(&f.data, DA_REC_TRACING_DATA, 0);
		gen_u32(&f.data, sizeof(format));
		if (v)
			gen_u32(&f.data, 0);
		gen_end(&f.data, at);
		gen_bytes(&f.data, format, sizeof(format));
		sample_a(&f.data, 5, 6, 0);
		gen_pipe_build(&f, &out);
		path = gen_write(out.p, out.len);
		ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
		p = da_reader_feature(r, DA_FEAT_TRACING_DATA, &size);
		ck_assert_uint_eq(size, sizeof(format));
		ck_assert_mem_eq(p, format, size);
		while (da_reader_next(r, &rec, &err) > 0) {
			if (rec.type == DA_REC_TRACING_DATA) {
				ck_assert_uint_eq(rec.payload_size, sizeof(format));
				ck_assert_mem_eq(rec.payload, format, sizeof(format));
				seen++;
			}
			seen += rec.type == DA_REC_SAMPLE ? 10 : 0;
		}
		ck_assert_uint_eq(seen, 11);
		ck_assert(!da_reader_info(r)->damaged);
		da_reader_close(r);
		gen_unlink(path);
		gen_free(&out);
		gen_file_free(&f);
	}
}
END_TEST

/* ---- directories ---- */

static char *in_dir(const char *dir, const char *name)
{
	char *p;

	ck_assert_int_gt(asprintf(&p, "%s/%s", dir, name), 0);
	return p;
}

static void put_file(const char *dir, const char *name, const struct gen *g)
{
	char *path = in_dir(dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_eq(write(fd, g->p, g->len), (ssize_t)g->len);
	close(fd);
	free(path);
}

static char *make_dir(void)
{
	char *path = gen_write("", 0);

	unlink(path);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	return path;
}

static void remove_dir(char *dir)
{
	static const char *const names[] = {"data", "data.0", "data.1", "data.2", "data.10", "data.fifo", "data.old"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *p = in_dir(dir, names[i]);

		remove(p);
		free(p);
	}
	ck_assert_int_eq(rmdir(dir), 0);
	free(dir);
}

START_TEST(directory_is_merged)
{
	for (int swap = 0; swap < 2; swap++) {
		struct da_error err = {0};
		struct gen_file f = {0};
		struct gen out = {0}, streams[3] = {{.swap = swap}, {.swap = swap}, {.swap = swap}};
		char *dir = make_dir(), *p;
		struct da_reader *r;
		struct tally t;

		two_events(&f, swap);
		gen_comm(&f.data, &attr_a, "first", 7, 0, 0);
		gen_features(&f);
		gen_u64(&f.feature[24], 1);
		gen_file_build(&f, &out);
		/* each in order, interleaved in time; one is much denser, one ends early */
		for (uint64_t i = 1; i <= 60000; i++) {
			sample_a(&streams[0], 10 * i, i, 301);
			if (i % 100 == 0)
				sample_b(&streams[1], 10 * i + 5, 401);
			if (i < 1000)
				sample_a(&streams[2], 10 * i + 1, i, 302);
		}
		put_file(dir, "data", &out);
		put_file(dir, "data.10", &streams[0]);
		put_file(dir, "data.2", &streams[1]);
		put_file(dir, "data.0", &streams[2]);
		/* neither is a stream */
		p = in_dir(dir, "data.fifo");
		ck_assert_int_eq(mkfifo(p, 0600), 0);
		free(p);
		p = in_dir(dir, "data.old");
		ck_assert_int_eq(mkdir(p, 0700), 0);
		free(p);

		ck_assert_int_eq(da_reader_open(&r, dir, &err), 0);
		ck_assert_int_eq(da_reader_info(r)->mode, DA_FILE_DIRECTORY);
		ck_assert_uint_eq(da_reader_info(r)->bytes,
				  out.len + streams[0].len + streams[1].len + streams[2].len);
		tally(r, &t);
		ck_assert_int_eq(t.ret, 0);
		ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], 60000 + 600 + 999);
		ck_assert_uint_eq(t.by_type[DA_REC_COMM], 1);
		ck_assert_uint_eq(t.backwards, 0);
		ck_assert_uint_eq(da_reader_info(r)->late_records, 0);
		ck_assert(!da_reader_info(r)->damaged);
		da_reader_close(r);
		remove_dir(dir);
		for (int i = 0; i < 3; i++)
			gen_free(&streams[i]);
		gen_free(&out);
		gen_file_free(&f);
	}
}
END_TEST

/* A directory with `data` alone is that file; its rounds count. */
START_TEST(directory_with_data_only)
{
	struct gen_file f;
	struct gen out = {0};
	char *dir = make_dir(), *want, *got;

	whole(&f, false);
	gen_file_build(&f, &out);
	put_file(dir, "data", &out);
	want = transcript_of_bytes(out.p, out.len);
	got = transcript_of_path(dir);
	ck_assert_str_eq(got, want);
	free(want);
	free(got);
	remove_dir(dir);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

/* One damaged stream costs its rest, not the others'. */
START_TEST(directory_with_damage)
{
	struct da_error err = {0};
	struct gen_file f = {0};
	struct gen out = {0}, good = {0}, bad = {0};
	char *dir = make_dir();
	struct da_reader *r;
	struct tally t;

	two_events(&f, false);
	gen_features(&f);
	gen_file_build(&f, &out);
	for (uint64_t i = 1; i <= 1000; i++) {
		sample_a(&good, i, i, 301);
		if (i <= 400)
			sample_a(&bad, i, i, 302);
	}
	gen_fill(&bad, 0, 500);
	put_file(dir, "data", &out);
	put_file(dir, "data.0", &good);
	put_file(dir, "data.1", &bad);
	ck_assert_int_eq(da_reader_open(&r, dir, &err), 0);
	tally(r, &t);
	ck_assert_int_eq(t.ret, 0);
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], 1400);
	ck_assert(da_reader_info(r)->damaged);
	ck_assert_uint_eq(da_reader_info(r)->skipped_bytes, 500);
	ck_assert_ptr_nonnull(strstr(da_reader_info(r)->messages[0], "data.1': record at 0x"));
	da_reader_close(r);
	remove_dir(dir);
	gen_free(&out);
	gen_free(&good);
	gen_free(&bad);
	gen_file_free(&f);
}
END_TEST

/* ---- ids ---- */

static void open_gen(const struct gen_file *f, struct da_reader **r, struct tally *t)
{
	struct da_error err = {0};
	struct gen out = {0};
	char *path;

	gen_file_build(f, &out);
	path = gen_write(out.p, out.len);
	ck_assert_int_eq(da_reader_open(r, path, &err), 0);
	tally(*r, t);
	gen_unlink(path);
	gen_free(&out);
}

/* A sample whose id nobody has: with equal layouts it is read as the first event's and counted; with
 * different ones there is no telling what its bytes mean. */
START_TEST(unknown_ids)
{
	struct da_reader *r;
	struct gen_file f = {0};
	struct tally t;

	two_events(&f, false);
	sample_a(&f.data, 1, 2, 301);
	sample_a(&f.data, 2, 2, 999);
	sample_a(&f.data, 3, 2, 0);
	gen_features(&f);
	open_gen(&f, &r, &t);
	ck_assert_uint_eq(t.by_event[0], 1);
	ck_assert_uint_eq(t.no_event, 2);
	ck_assert_uint_eq(da_reader_info(r)->unknown_ids, 2);
	da_reader_close(r);

	f.ev[1].attr = attr_a;
	f.ev[1].attr.config = 0x2d0;
	open_gen(&f, &r, &t);
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

		whole(&f, false);
		f.attrs_last = true;
		if (v == 2)
			f.ev[1].attr = attr_a, f.ev[1].attr.config = 77;
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
		       b = {.type = 1, .sample_type = DA_SAMPLE_TIME | DA_SAMPLE_ADDR | DA_SAMPLE_ID | DA_SAMPLE_CPU};
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
	open_gen(&f, &r, &t);
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

	two_events(&f, false);
	for (uint64_t i = 0; i < 3000; i++)
		sample_a(&f.data, i + 1, i, 7 * i);
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
	open_gen(&f, &r, &t);
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

/* ---- unfinished and damaged ---- */

START_TEST(unfinished)
{
	/* data.size 0 as perf leaves it; patched behind the 3rd, 50th record and behind the last but one */
	for (int v = 0; v < 8; v++) {
		struct da_error err = {0};
		struct gen_file f;
		struct gen out = {0};
		struct da_reader *r;
		struct tally t;
		char *path;

		whole(&f, v & 1);
		f.unfinished = v < 2;
		if (v >= 2)
			f.patched = v < 4 ? 200 : v < 6 ? f.data.len / 16 * 8 : f.data.len - 8;
		gen_file_build(&f, &out);
		path = gen_write(out.p, out.len);
		ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
		ck_assert(!da_reader_info(r)->finalised);
		ck_assert(da_reader_info(r)->damaged);
		ck_assert_ptr_nonnull(strstr(da_reader_info(r)->messages[0], "not finished"));
		tally(r, &t);
		/* whatever data.size says, all records are there: patched sizes end between records */
		ck_assert_int_eq(t.ret, 0);
		if (v != 4 && v != 5)
			ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], SAMPLES);
		ck_assert_uint_eq(t.backwards, 0);
		da_reader_close(r);
		gen_unlink(path);
		gen_free(&out);
		gen_file_free(&f);
	}
}
END_TEST

/* A killed recording whose size was patched last when all was written: nothing is behind it. */
START_TEST(unfinished_at_a_patch)
{
	struct da_reader *r;
	struct gen_file f;
	struct tally t;

	whole(&f, false);
	f.patched = f.data.len;
	open_gen(&f, &r, &t);
	ck_assert(!da_reader_info(r)->finalised && !da_reader_info(r)->damaged);
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], SAMPLES);
	da_reader_close(r);
	gen_file_free(&f);
}
END_TEST

/* A recording of nothing: data.size is 0, and its features are where they should be. */
START_TEST(empty_data)
{
	for (int swap = 0; swap < 2; swap++) {
		struct da_reader *r;
		struct gen_file f = {0};
		struct tally t;

		two_events(&f, swap);
		gen_features(&f);
		open_gen(&f, &r, &t);
		ck_assert(da_reader_info(r)->finalised && !da_reader_info(r)->damaged);
		ck_assert_str_eq(da_reader_info(r)->hostname, "thishost");
		ck_assert_uint_eq(t.records, 0);
		da_reader_close(r);
		gen_file_free(&f);
	}
}
END_TEST

/* Attrs behind the data are not taken for records. */
START_TEST(unfinished_with_attrs_last)
{
	struct da_reader *r;
	struct gen_file f;
	struct tally t;

	whole(&f, false);
	f.attrs_last = true;
	f.unfinished = true;
	open_gen(&f, &r, &t);
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], SAMPLES);
	ck_assert_uint_eq(da_reader_info(r)->damaged_records, 0);
	da_reader_close(r);
	gen_file_free(&f);
}
END_TEST

/* What follows the records of a killed recording need not be records. */
START_TEST(unfinished_with_junk)
{
	static const size_t lengths[] = {1, 4, 7, 8, 9, 64, 5000};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (int byte = 0; byte < 256; byte += 85) {
			struct da_reader *r;
			struct gen_file f;
			struct tally t;
			uint64_t records;

			whole(&f, false);
			records = f.data.len;
			f.patched = records;
			gen_fill(&f.data, (uint8_t)byte, lengths[i]);
			open_gen(&f, &r, &t);
			ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], SAMPLES);
			ck_assert(da_reader_info(r)->damaged && !da_reader_info(r)->finalised);
			ck_assert_uint_eq(da_reader_info(r)->skipped_bytes, lengths[i]);
			da_reader_close(r);
			gen_file_free(&f);
		}
	}
}
END_TEST

/* 1 to 7 bytes behind the last record, of which perf makes an endless loop. */
START_TEST(stray_tail)
{
	for (size_t n = 1; n < 8; n++) {
		for (int mode = 0; mode < 2; mode++) {
			struct da_error err = {0};
			struct da_reader *r;
			struct gen_file f;
			struct gen out = {0};
			struct tally t;
			char *path;

			whole(&f, false);
			if (mode) {
				gen_pipe_build(&f, &out);
				gen_fill(&out, 9, n);
			} else {
				gen_fill(&f.data, 9, n);
				gen_file_build(&f, &out);
			}
			path = gen_write(out.p, out.len);
			ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
			tally(r, &t);
			ck_assert_int_eq(t.ret, 0);
			ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], SAMPLES);
			ck_assert(da_reader_info(r)->damaged);
			ck_assert_uint_eq(da_reader_info(r)->skipped_bytes, n);
			ck_assert_uint_eq(da_reader_info(r)->nr_messages, 1);
			ck_assert_ptr_nonnull(strstr(da_reader_info(r)->messages[0], "stray bytes at 0x"));
			da_reader_close(r);
			gen_unlink(path);
			gen_free(&out);
			gen_file_free(&f);
		}
	}
}
END_TEST

/* A record that cannot be framed ends the data; what precedes it is kept. */
START_TEST(bad_record_size)
{
	static const uint16_t sizes[] = {0, 1, 4, 7, 65535};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct da_reader *r;
		struct gen_file f = {0};
		struct tally t;
		size_t at;
		char want[64];

		two_events(&f, false);
		gen_features(&f);
		sample_a(&f.data, 1, 2, 301);
		sample_a(&f.data, 2, 2, 301);
		at = gen_rec(&f.data, 9, 2);
		gen_set_u16(&f.data, at + 6, sizes[i]);
		sample_a(&f.data, 3, 2, 301);
		open_gen(&f, &r, &t);
		ck_assert_int_eq(t.ret, 0);
		ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], 2);
		ck_assert(da_reader_info(r)->damaged && da_reader_info(r)->finalised);
		ck_assert_uint_eq(da_reader_info(r)->damaged_records, 1);
		ck_assert_uint_eq(da_reader_info(r)->skipped_bytes, f.data.len - at);
		snprintf(want, sizeof(want), "claims %u bytes", sizes[i]);
		ck_assert_ptr_nonnull(strstr(da_reader_info(r)->messages[0], want));
		/* features behind it were read all the same */
		ck_assert_str_eq(da_reader_info(r)->hostname, "thishost");
		da_reader_close(r);
		gen_file_free(&f);
	}
}
END_TEST

/* A record that is shorter than its event's fields costs that record. */
START_TEST(short_records)
{
	struct da_reader *r;
	struct gen_file f = {0};
	struct tally t;
	unsigned bad = 0;

	two_events(&f, false);
	for (unsigned n = 0; n < 9; n++) {
		size_t at = gen_rec(&f.data, 9, 2);

		gen_u64(&f.data, 301);
		gen_fill(&f.data, 1, 8 * n);
		gen_end(&f.data, at);
		sample_a(&f.data, n + 1, 2, 301);
		/* its fixed front is IDENTIFIER IP TID TIME ADDR CPU: 48 bytes */
		bad += 8 + 8 * n < 48;
	}
	/* without its id, and a COMM without its trailer */
	gen_end(&f.data, gen_rec(&f.data, 9, 2));
	gen_end(&f.data, gen_rec(&f.data, 3, 0));
	sample_a(&f.data, 100, 2, 301);
	gen_features(&f);
	open_gen(&f, &r, &t);
	ck_assert_uint_eq(da_reader_info(r)->damaged_records, bad + 2);
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], 9 + 1 + 9 - bad);
	ck_assert(da_reader_info(r)->damaged);
	da_reader_close(r);
	gen_file_free(&f);
}
END_TEST

START_TEST(unknown_types)
{
	static const uint32_t types[] = {0, 23, 40, 63, 87, 100, 255, 1000, 32768, 0x7fffffff, UINT32_MAX};

	for (int swap = 0; swap < 2; swap++) {
		struct da_reader *r;
		struct gen_file f = {0};
		struct tally t;
		size_t n = sizeof(types) / sizeof(types[0]), at;

		two_events(&f, swap);
		for (size_t i = 0; i < n; i++) {
			at = gen_rec(&f.data, types[i], 7);
			gen_fill(&f.data, 0xff, 8 * i);
			gen_end(&f.data, at);
			sample_a(&f.data, i + 1, 2, 301);
		}
		gen_features(&f);
		open_gen(&f, &r, &t);
		ck_assert_uint_eq(da_reader_info(r)->unknown_records, n);
		ck_assert_uint_eq(t.records, n);
		ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], n);
		ck_assert(!da_reader_info(r)->damaged);
		da_reader_close(r);
		gen_file_free(&f);
	}
}
END_TEST

/* simpleperf's own records have a size of 32 bits, whose upper half is where misc is. */
START_TEST(simpleperf_records)
{
	static const uint32_t lengths[] = {8, 24, 65528, 65536, 200000};

	for (int swap = 0; swap < 2; swap++) {
		struct da_reader *r;
		struct gen_file f = {0};
		struct tally t;

		two_events(&f, swap);
		for (size_t i = 0; i < 5; i++) {
			size_t at = gen_rec(&f.data, (uint32_t)(32769 + i), (uint16_t)(lengths[i] >> 16));

			gen_set_u16(&f.data, at + 6, (uint16_t)lengths[i]);
			gen_fill(&f.data, 0, lengths[i] - 8);
			sample_a(&f.data, i + 1, 2, 301);
		}
		gen_features(&f);
		open_gen(&f, &r, &t);
		ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], 5);
		ck_assert_uint_eq(da_reader_info(r)->unknown_records, 5);
		ck_assert(!da_reader_info(r)->damaged);
		da_reader_close(r);
		gen_file_free(&f);
	}
}
END_TEST

/* However much is damaged, the messages stay few and the counts are right. */
START_TEST(messages_are_bounded)
{
	const struct da_file_info *i;
	struct da_reader *r;
	struct gen_file f = {0};
	struct tally t;

	two_events(&f, false);
	for (int n = 0; n < 1000; n++)
		gen_end(&f.data, gen_rec(&f.data, 9, 2));
	gen_features(&f);
	open_gen(&f, &r, &t);
	i = da_reader_info(r);
	ck_assert_uint_eq(i->damaged_records, 1000);
	ck_assert_uint_eq(i->skipped_bytes, 8000);
	ck_assert_uint_le(i->nr_messages, 40);
	ck_assert_str_eq(i->messages[i->nr_messages - 1], "969 further messages are not shown");
	da_reader_close(r);
	gen_file_free(&f);
}
END_TEST

/* ---- features ---- */

/* A feature section that does not fit its bytes costs that section only. */
START_TEST(damaged_features)
{
	static const struct {
		int bit;
		uint32_t words[6];
		size_t nr;
	} rows[] = {
		{3, {0xfffffff0, 0x61616161}, 2},      /* HOSTNAME longer than its section */
		{3, {64}, 1},
		{6, {5, 0x61616161}, 2},
		{7, {8}, 1},			       /* NRCPUS */
		{10, {1}, 1},			       /* TOTAL_MEM */
		{11, {3, 4, 0x00616161, 4}, 4},	       /* CMDLINE counts more than there are */
		{11, {0xffffffff, 0, 0}, 3},
		{12, {1, 128, 0}, 3},		       /* EVENT_DESC cut */
		{12, {0xffffffff, 0, 0}, 3},
		{12, {0xffffffff, 0xffffffff, 0}, 3},
		{12, {2, 8, 0, 0, 0}, 5},
		{16, {0xffffffff, 1, 0}, 3},	       /* PMU_MAPPINGS */
		{16, {2, 1, 4, 0x00616161, 9}, 5},
		{21, {1, 2, 3}, 3},		       /* SAMPLE_TIME */
		{23, {1}, 1},			       /* CLOCKID */
		{27, {1, 1, 1}, 3},		       /* COMPRESSED */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct da_reader *r;
		struct gen_file f;
		struct tally t;
		char want[64];

		whole(&f, false);
		gen_free(&f.feature[rows[i].bit]);
		for (size_t k = 0; k < rows[i].nr; k++)
			gen_u32(&f.feature[rows[i].bit], rows[i].words[k]);
		open_gen(&f, &r, &t);
		ck_assert_msg(da_reader_info(r)->damaged, "row %zu", i);
		snprintf(want, sizeof(want), "feature section %d does not fit", rows[i].bit);
		ck_assert_ptr_nonnull(strstr(da_reader_info(r)->messages[0], want));
		ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], SAMPLES);
		/* the others are there */
		ck_assert_str_eq(da_reader_info(r)->osrelease, "6.12.0-test");
		ck_assert_str_eq(da_reader_info(r)->cpuid, "GenuineIntel,6,106,6");
		da_reader_close(r);
		gen_file_free(&f);
	}
}
END_TEST

/* Bits without bytes say nothing; bits that nobody knows neither. */
START_TEST(empty_and_unknown_features)
{
	struct da_reader *r;
	struct gen_file f;
	struct tally t;

	whole(&f, false);
	gen_free(&f.feature[8]);
	for (int bit = 0; bit < 256; bit++)
		f.forced[bit] = true;
	open_gen(&f, &r, &t);
	ck_assert(!da_reader_info(r)->damaged);
	ck_assert_ptr_null(da_reader_info(r)->cpudesc);
	ck_assert_str_eq(da_reader_info(r)->hostname, "thishost");
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], SAMPLES);
	da_reader_close(r);
	gen_file_free(&f);
}
END_TEST

/* Sections that point anywhere. */
START_TEST(features_out_of_bounds)
{
	static const uint64_t places[][2] = {{UINT64_MAX, 1}, {0, UINT64_MAX},	    {1ull << 63, 1ull << 63},
					     {100, 1ull << 40}, {UINT64_MAX, UINT64_MAX}, {1ull << 40, 64}};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct da_error err = {0};
		struct gen_file f;
		struct gen out = {0};
		struct da_reader *r;
		struct tally t;
		size_t data;
		char *path;

		whole(&f, false);
		data = gen_file_build(&f, &out);
		gen_set_u64(&out, data + f.data.len, places[i][0]); /* HOSTNAME is the first */
		gen_set_u64(&out, data + f.data.len + 8, places[i][1]);
		path = gen_write(out.p, out.len);
		ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
		tally(r, &t);
		ck_assert(da_reader_info(r)->damaged);
		ck_assert_ptr_null(da_reader_info(r)->hostname);
		ck_assert_str_eq(da_reader_info(r)->osrelease, "6.12.0-test");
		ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], SAMPLES);
		da_reader_close(r);
		gen_unlink(path);
		gen_free(&out);
		gen_file_free(&f);
	}
}
END_TEST

/* ---- hostile headers ---- */

/* Any 8 bytes of the header, and of the first attr entry, replaced by any of these: no crash, no hang, and a
 * message when something is wrong. */
START_TEST(hostile_header_words)
{
	static const uint64_t words[] = {0,	    1,		7,	      8,	   72,		 104,	   144,
					 1 << 16,   1ull << 32, 1ull << 40,   1ull << 62, 1ull << 63, UINT64_MAX - 7,
					 UINT64_MAX};

	for (int swap = 0; swap < 2; swap++) {
		struct gen_file f;
		struct gen out = {0};

		whole(&f, swap);
		gen_file_build(&f, &out);
		for (size_t at = 0; at < 128 + 144; at += 8) {
			for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
				struct da_error err = {0};
				struct da_reader *r;
				struct tally t;
				uint64_t saved;
				char *path;
				int ret;

				memcpy(&saved, out.p + at, 8);
				gen_set_u64(&out, at, words[i]);
				path = gen_write(out.p, out.len);
				ret = da_reader_open(&r, path, &err);
				if (ret < 0) {
					ck_assert_ptr_null(r);
					ck_assert_int_eq(ret, -DA_EFORMAT);
					ck_assert_int_eq(err.code, DA_EFORMAT);
					ck_assert_ptr_nonnull(strstr(err.msg, path));
				} else {
					tally(r, &t);
					ck_assert_int_eq(t.ret, 0);
					ck_assert_uint_le(t.by_type[DA_REC_SAMPLE], SAMPLES);
					ck_assert_int_eq(da_reader_info(r)->damaged, da_reader_info(r)->nr_messages > 0);
					da_reader_close(r);
				}
				gen_unlink(path);
				memcpy(out.p + at, &saved, 8);
			}
		}
		gen_free(&out);
		gen_file_free(&f);
	}
}
END_TEST

/* ---- refusals ---- */

static void assert_refused(const char *path, int code, const char *fmt)
{
	struct da_error err = {0};
	struct da_reader *r = (void *)&err;
	char want[600];

	ck_assert_int_eq(da_reader_open(&r, path, &err), -code);
	ck_assert_ptr_null(r);
	ck_assert_int_eq(err.code, code);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(want, sizeof(want), fmt, path);
#pragma GCC diagnostic pop
	ck_assert_str_eq(err.msg, want);
	ck_assert_int_eq(da_reader_open(&r, path, NULL), -code);
}

static void assert_bytes_refused(const void *p, size_t n, const char *fmt)
{
	char *path = gen_write(p, n);

	assert_refused(path, DA_EFORMAT, fmt);
	gen_unlink(path);
}

START_TEST(refusals)
{
	static const char text[] = "This is a text file, and a rather short one at that.\n";
	uint8_t *zeros = calloc(1, 1 << 20);
	struct gen_file f;
	struct gen out = {0};
	char *dir = make_dir(), *sub;

	assert_refused("/nonexistent/x.data", DA_ENOENT, "cannot open '%s': No such file or directory");
	assert_refused("/dev/null", DA_EFORMAT, "cannot read '%s': a device is no recording");
	assert_refused(dir, DA_EFORMAT, "cannot read '%s': a directory without a file 'data' is no recording");
	sub = in_dir(dir, "data");
	ck_assert_int_eq(mkdir(sub, 0700), 0);
	{
		struct da_error err = {0};
		struct da_reader *r;

		ck_assert_int_eq(da_reader_open(&r, dir, &err), -DA_EFORMAT);
		ck_assert_ptr_nonnull(strstr(err.msg, "/data': a directory is no recording"));
	}
	rmdir(sub);
	free(sub);
	remove_dir(dir);

	assert_bytes_refused("", 0, "cannot read '%s': the file is empty");
	assert_bytes_refused(zeros, 1, "cannot read '%s': not a perf.data file");
	assert_bytes_refused(zeros, 1 << 20, "cannot read '%s': not a perf.data file");
	assert_bytes_refused(text, strlen(text), "cannot read '%s': not a perf.data file");
	assert_bytes_refused("PERFIL", 6, "cannot read '%s': not a perf.data file");
	assert_bytes_refused("PERFILE2", 8, "cannot read '%s': it ends inside the file header");
	assert_bytes_refused("PERFILE2\x10\0\0\0\0\0\0", 15, "cannot read '%s': it ends inside the file header");
	assert_bytes_refused("PERFILE2\x10\0\0\0\0\0\0\0", 16,
			     "cannot read '%s': no event attr in it can be read");

	whole(&f, false);
	gen_file_build(&f, &out);
	assert_bytes_refused(out.p, 60, "cannot read '%s': it ends inside the file header");
	assert_bytes_refused(out.p, 104, "cannot read '%s': no event attr in it can be read");
	gen_set_u64(&out, 8, 112);
	assert_bytes_refused(out.p, out.len,
			     "cannot read '%s': its file header claims 112 bytes, neither 104 nor 72 nor 16");
	gen_set_u64(&out, 8, 104);
	gen_set_u64(&out, 16, 0);
	assert_bytes_refused(out.p, out.len, "cannot read '%s': its attrs have size 0");
	gen_set_u64(&out, 16, 144);
	gen_set_u64(&out, 32, 0);
	assert_bytes_refused(out.p, out.len, "cannot read '%s': no event attr in it can be read");
	gen_free(&out);
	gen_file_free(&f);
	free(zeros);
}
END_TEST

START_TEST(refused_without_permission)
{
	char *path = gen_write("x", 1);
	int status;
	pid_t pid;

	ck_assert_int_eq(chmod(path, 0), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		struct da_error err = {0};
		struct da_reader *r;

		if (geteuid() == 0 && seteuid(65534) < 0)
			_exit(0); /* nobody to be refused as */
		if (da_reader_open(&r, path, &err) != -DA_EIO || !strstr(err.msg, ": Permission denied"))
			_exit(1);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	gen_unlink(path);
}
END_TEST

/* ---- cuts ---- */

/* Every record that lies wholly before the cut is given, and nothing else. */
static void cut_at(const struct gen *out, size_t data, size_t data_len, size_t attrs_end, size_t cut, const char *full)
{
	struct da_error err = {0};
	char *path = gen_write(out->p, cut), *got;
	struct da_reader *r;
	uint64_t before = 0;
	struct tally t;
	int ret;

	ret = da_reader_open(&r, path, &err);
	if (ret < 0) {
		ck_assert_msg(cut < attrs_end, "cut at %zu: %s", cut, err.msg);
		ck_assert_int_eq(ret, -DA_EFORMAT);
		gen_unlink(path);
		return;
	}
	tally(r, &t);
	ck_assert_int_eq(t.ret, 0);
	for (size_t at = data; at + 8 <= cut && at < data + data_len;) {
		uint16_t size;
		uint32_t type;
		uint64_t payload = 0;

		memcpy(&type, out->p + at, 4);
		memcpy(&size, out->p + at + 6, 2);
		if (type == DA_REC_AUXTRACE)
			memcpy(&payload, out->p + at + 8, 8);
		if (at + size > cut)
			break;
		before += type != FUTURE;
		at += size + payload;
	}
	ck_assert_uint_eq(t.records, before);
	ck_assert_uint_eq(t.backwards, 0);
	/* a pipe cut between two records cannot be told from a whole one */
	if (cut < out->len && da_reader_info(r)->mode == DA_FILE_NORMAL)
		ck_assert_msg(da_reader_info(r)->damaged, "cut at %zu of %zu", cut, out->len);
	ck_assert_int_eq(da_reader_info(r)->damaged, da_reader_info(r)->nr_messages > 0);
	da_reader_close(r);
	if (cut == out->len) {
		got = transcript_of_path(path);
		ck_assert_str_eq(got, full);
		free(got);
	}
	gen_unlink(path);
}

START_TEST(cuts)
{
	bool piped = _i & 1, swap = _i & 2;
	struct gen out = {0};
	struct gen_file f;
	size_t data, attrs_end;
	char *full;

	if (swap && piped)
		return;
	whole(&f, false);
	if (piped) {
		gen_pipe_build(&f, &out);
		data = 16;
		attrs_end = 16 + 8 + 128 + 16;
	} else {
		data = gen_file_build(&f, &out);
		attrs_end = data;
	}
	full = transcript_of_bytes(out.p, out.len);
	for (size_t cut = 0; cut <= out.len; cut += cut < 1024 ? 1 : 64)
		cut_at(&out, data, piped ? out.len - data : f.data.len, attrs_end, cut, full);
	cut_at(&out, data, piped ? out.len - data : f.data.len, attrs_end, out.len, full);
	free(full);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

/* ---- files that change ---- */

START_TEST(file_that_shrinks)
{
	struct da_error err = {0}, again = {0};
	struct gen_file f = {0};
	struct gen out = {0};
	struct da_reader *r;
	struct da_rec rec;
	unsigned n = 0;
	char *path;
	int ret;

	two_events(&f, false);
	for (uint64_t i = 1; i < 60000; i++) {
		sample_a(&f.data, i, i, 301);
		if (i % 1000 == 0)
			gen_round(&f.data);
	}
	gen_features(&f);
	gen_file_build(&f, &out);
	path = gen_write(out.p, out.len);
	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	for (; n < 100; n++)
		ck_assert_int_eq(da_reader_next(r, &rec, &err), 1);
	ck_assert_int_eq(truncate(path, (off_t)(out.len / 2)), 0);
	while ((ret = da_reader_next(r, &rec, &err)) > 0)
		n++;
	ck_assert_int_eq(ret, -DA_EIO);
	ck_assert_ptr_nonnull(strstr(err.msg, path));
	ck_assert_ptr_nonnull(strstr(err.msg, "at offset 0x"));
	ck_assert_ptr_nonnull(strstr(err.msg, "has become shorter"));
	ck_assert_uint_lt(n, 60000);
	/* it stays so, and a scan says the same */
	ck_assert_int_eq(da_reader_next(r, &rec, &again), -DA_EIO);
	ck_assert_str_eq(again.msg, err.msg);
	da_reader_close(r);
	gen_unlink(path);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

/* What is appended after the opening is not read. */
START_TEST(file_that_grows)
{
	struct da_error err = {0};
	struct gen_file f;
	struct gen out = {0};
	struct da_reader *r;
	struct tally t;
	char *path;
	int fd;

	whole(&f, false);
	f.unfinished = true;
	gen_file_build(&f, &out);
	path = gen_write(out.p, out.len);
	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	fd = open(path, O_WRONLY | O_APPEND);
	ck_assert_int_eq(write(fd, f.data.p, f.data.len), (ssize_t)f.data.len);
	close(fd);
	tally(r, &t);
	ck_assert_int_eq(t.ret, 0);
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], SAMPLES);
	da_reader_close(r);
	gen_unlink(path);
	gen_free(&out);
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
	two_events(&f, false);
	sample_a(&f.data, 100, 1, 301);
	gen_auxtrace(&f.data, payload, there, claimed, 0);
	if (there == claimed)
		sample_a(&f.data, 50, 2, 301); /* older, but it follows */
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
	static const uint64_t lengths[] = {0, 1, 8, 4096, DA_PAYLOAD_PIECE - 1, DA_PAYLOAD_PIECE,
					   DA_PAYLOAD_PIECE + 1, 5 * DA_PAYLOAD_PIECE + 12345};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		check_pieces(lengths[i], lengths[i]);
		check_pieces(lengths[i], lengths[i] + 1);
	}
	check_pieces(1000, UINT64_MAX);
	check_pieces(1000, UINT64_MAX - 1000);
	check_pieces(0, 1ull << 63);
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
	f.ev[0].attr = attr_a;
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
		snprintf(s->text + strlen(s->text), sizeof(s->text) - strlen(s->text), "%d:%.*s ", kind, (int)len,
			 (const char *)p);
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

		whole(&f, v & 1);
		if (v & 2)
			gen_pipe_build(&f, &out);
		else
			gen_file_build(&f, &out);
		path = gen_write(out.p, out.len);
		ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
		ck_assert_int_eq(da_reader_scan(r, DA_REC_HEADER_EVENT_TYPE, count_own, &s, &err), 0);
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
			ck_assert_int_eq(da_reader_scan(r, DA_REC_SAMPLE, count_own, &s, &err), value);
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

	two_events(&f, false);
	sample_a(&f.data, 1, 1, 301);
	gen_end(&f.data, gen_rec(&f.data, 9, 2)); /* short */
	gen_end(&f.data, gen_rec(&f.data, 999, 2));
	sample_a(&f.data, 2, 1, 301);
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

	static const char *const names[] = {"file", "swapped", "pipe", "pipe-swapped", "v1", "old-header",
					    "attrs-last", "killed", "patched", "one-event"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct gen_file f = {0};
		struct gen out = {0};

		two_events(&f, i == 1 || i == 3);
		if (i == 9)
			f.nr_ev = 1;
		own_record(&f.data, DA_OWN_INFO, "{}");
		gen_comm(&f.data, &attr_a, "seed", 7, 0, 0);
		sample_a(&f.data, 2000, 1, 301);
		sample_b(&f.data, 1007, i == 9 ? 301 : 401);
		gen_round(&f.data);
		gen_auxtrace(&f.data, "AUX bytes", 8, 8, 0);
		sample_a(&f.data, 3000, 1, 302);
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
		put_file(dir, names[i], &out);
		gen_free(&out);
		gen_file_free(&f);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfdata_read");
	TCase *tc = tcase_create("read");
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
	tcase_add_test(tc, pipe_reads_like_the_file);
	tcase_add_test(tc, standard_input);
	tcase_add_test(tc, fifo);
	tcase_add_test(tc, endless_nonsense);
	tcase_add_test(tc, pipe_one_event_without_ids);
	tcase_add_test(tc, pipe_tracing_data);
	tcase_add_test(tc, directory_is_merged);
	tcase_add_test(tc, directory_with_data_only);
	tcase_add_test(tc, directory_with_damage);
	tcase_add_test(tc, unknown_ids);
	tcase_add_test(tc, lost_attr);
	tcase_add_test(tc, ids_in_different_places);
	tcase_add_test(tc, many_ids);
	tcase_add_test(tc, no_sample_id_all);
	tcase_add_test(tc, unfinished);
	tcase_add_test(tc, unfinished_at_a_patch);
	tcase_add_test(tc, empty_data);
	tcase_add_test(tc, unfinished_with_attrs_last);
	tcase_add_test(tc, unfinished_with_junk);
	tcase_add_test(tc, stray_tail);
	tcase_add_test(tc, bad_record_size);
	tcase_add_test(tc, short_records);
	tcase_add_test(tc, unknown_types);
	tcase_add_test(tc, simpleperf_records);
	tcase_add_test(tc, messages_are_bounded);
	tcase_add_test(tc, damaged_features);
	tcase_add_test(tc, empty_and_unknown_features);
	tcase_add_test(tc, features_out_of_bounds);
	tcase_add_test(tc, hostile_header_words);
	tcase_add_test(tc, refusals);
	tcase_add_test(tc, refused_without_permission);
	tcase_add_loop_test(tc, cuts, 0, 2);
	tcase_add_test(tc, file_that_shrinks);
	tcase_add_test(tc, file_that_grows);
	tcase_add_test(tc, payload_pieces);
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
