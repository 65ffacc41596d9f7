/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The perf.data reader on what is unfinished, cut, damaged or hostile, on what is no recording, and on files
 * that change while they are read.
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

#include "da_perfdata.h"
#include "perfgen.h"
#include "recording.h"
#include "transcript.h"

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

		rec_whole(&f, v & 1);
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
			ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], REC_SAMPLES);
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

	rec_whole(&f, false);
	f.patched = f.data.len;
	rec_open(&f, &r, &t);
	ck_assert(!da_reader_info(r)->finalised && !da_reader_info(r)->damaged);
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], REC_SAMPLES);
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

		rec_events(&f, swap);
		gen_features(&f);
		rec_open(&f, &r, &t);
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

	rec_whole(&f, false);
	f.attrs_last = true;
	f.unfinished = true;
	rec_open(&f, &r, &t);
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], REC_SAMPLES);
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

			rec_whole(&f, false);
			records = f.data.len;
			f.patched = records;
			gen_fill(&f.data, (uint8_t)byte, lengths[i]);
			rec_open(&f, &r, &t);
			ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], REC_SAMPLES);
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

			rec_whole(&f, false);
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
			ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], REC_SAMPLES);
			ck_assert(da_reader_info(r)->damaged);
			ck_assert_uint_eq(da_reader_info(r)->skipped_bytes, n);
			ck_assert_uint_eq(da_reader_info(r)->nr_messages, 1);
			ck_assert_ptr_nonnull(
				strstr(da_reader_info(r)->messages[0], "stray bytes at 0x"));
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

		rec_events(&f, false);
		gen_features(&f);
		rec_sample_a(&f.data, 1, 2, 301);
		rec_sample_a(&f.data, 2, 2, 301);
		at = gen_rec(&f.data, 9, 2);
		gen_set_u16(&f.data, at + 6, sizes[i]);
		rec_sample_a(&f.data, 3, 2, 301);
		rec_open(&f, &r, &t);
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

	rec_events(&f, false);
	for (unsigned n = 0; n < 9; n++) {
		size_t at = gen_rec(&f.data, 9, 2);

		gen_u64(&f.data, 301);
		gen_fill(&f.data, 1, 8 * n);
		gen_end(&f.data, at);
		rec_sample_a(&f.data, n + 1, 2, 301);
		/* its fixed front is IDENTIFIER IP TID TIME ADDR CPU: 48 bytes */
		bad += 8 + 8 * n < 48;
	}
	/* without its id, and a COMM without its trailer */
	gen_end(&f.data, gen_rec(&f.data, 9, 2));
	gen_end(&f.data, gen_rec(&f.data, 3, 0));
	rec_sample_a(&f.data, 100, 2, 301);
	gen_features(&f);
	rec_open(&f, &r, &t);
	ck_assert_uint_eq(da_reader_info(r)->damaged_records, bad + 2);
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], 9 + 1 + 9 - bad);
	ck_assert(da_reader_info(r)->damaged);
	da_reader_close(r);
	gen_file_free(&f);
}
END_TEST

START_TEST(unknown_types)
{
	static const uint32_t types[] = {0,   23,   40,    63,         87,        100,
					 255, 1000, 32768, 0x7fffffff, UINT32_MAX};

	for (int swap = 0; swap < 2; swap++) {
		struct da_reader *r;
		struct gen_file f = {0};
		struct tally t;
		size_t n = sizeof(types) / sizeof(types[0]), at;

		rec_events(&f, swap);
		for (size_t i = 0; i < n; i++) {
			at = gen_rec(&f.data, types[i], 7);
			gen_fill(&f.data, 0xff, 8 * i);
			gen_end(&f.data, at);
			rec_sample_a(&f.data, i + 1, 2, 301);
		}
		gen_features(&f);
		rec_open(&f, &r, &t);
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

		rec_events(&f, swap);
		for (size_t i = 0; i < 5; i++) {
			size_t at = gen_rec(&f.data, (uint32_t)(32769 + i),
					    (uint16_t)(lengths[i] >> 16));

			gen_set_u16(&f.data, at + 6, (uint16_t)lengths[i]);
			gen_fill(&f.data, 0, lengths[i] - 8);
			rec_sample_a(&f.data, i + 1, 2, 301);
		}
		gen_features(&f);
		rec_open(&f, &r, &t);
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

	rec_events(&f, false);
	for (int n = 0; n < 1000; n++)
		gen_end(&f.data, gen_rec(&f.data, 9, 2));
	gen_features(&f);
	rec_open(&f, &r, &t);
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
		{3, {0xfffffff0, 0x61616161}, 2}, /* HOSTNAME longer than its section */
		{3, {64}, 1},
		{6, {5, 0x61616161}, 2},
		{7, {8}, 1},                    /* NRCPUS */
		{10, {1}, 1},                   /* TOTAL_MEM */
		{11, {3, 4, 0x00616161, 4}, 4}, /* CMDLINE counts more than there are */
		{11, {0xffffffff, 0, 0}, 3},
		{12, {1, 128, 0}, 3}, /* EVENT_DESC cut */
		{12, {0xffffffff, 0, 0}, 3},
		{12, {0xffffffff, 0xffffffff, 0}, 3},
		{12, {2, 8, 0, 0, 0}, 5},
		{16, {0xffffffff, 1, 0}, 3}, /* PMU_MAPPINGS */
		{16, {2, 1, 4, 0x00616161, 9}, 5},
		{21, {1, 2, 3}, 3}, /* SAMPLE_TIME */
		{23, {1}, 1},       /* CLOCKID */
		{27, {1, 1, 1}, 3}, /* COMPRESSED */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct da_reader *r;
		struct gen_file f;
		struct tally t;
		char want[64];

		rec_whole(&f, false);
		gen_free(&f.feature[rows[i].bit]);
		for (size_t k = 0; k < rows[i].nr; k++)
			gen_u32(&f.feature[rows[i].bit], rows[i].words[k]);
		rec_open(&f, &r, &t);
		ck_assert_msg(da_reader_info(r)->damaged, "row %zu", i);
		snprintf(want, sizeof(want), "feature section %d does not fit", rows[i].bit);
		ck_assert_ptr_nonnull(strstr(da_reader_info(r)->messages[0], want));
		ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], REC_SAMPLES);
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

	rec_whole(&f, false);
	gen_free(&f.feature[8]);
	for (int bit = 0; bit < 256; bit++)
		f.forced[bit] = true;
	rec_open(&f, &r, &t);
	ck_assert(!da_reader_info(r)->damaged);
	ck_assert_ptr_null(da_reader_info(r)->cpudesc);
	ck_assert_str_eq(da_reader_info(r)->hostname, "thishost");
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], REC_SAMPLES);
	da_reader_close(r);
	gen_file_free(&f);
}
END_TEST

/* Sections that point anywhere. */
START_TEST(features_out_of_bounds)
{
	static const uint64_t places[][2] = {{UINT64_MAX, 1},          {0, UINT64_MAX},
					     {1ull << 63, 1ull << 63}, {100, 1ull << 40},
					     {UINT64_MAX, UINT64_MAX}, {1ull << 40, 64}};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct da_error err = {0};
		struct gen_file f;
		struct gen out = {0};
		struct da_reader *r;
		struct tally t;
		size_t data;
		char *path;

		rec_whole(&f, false);
		data = gen_file_build(&f, &out);
		gen_set_u64(&out, data + f.data.len, places[i][0]); /* HOSTNAME is the first */
		gen_set_u64(&out, data + f.data.len + 8, places[i][1]);
		path = gen_write(out.p, out.len);
		ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
		tally(r, &t);
		ck_assert(da_reader_info(r)->damaged);
		ck_assert_ptr_null(da_reader_info(r)->hostname);
		ck_assert_str_eq(da_reader_info(r)->osrelease, "6.12.0-test");
		ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], REC_SAMPLES);
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
	static const uint64_t words[] = {0,
					 1,
					 7,
					 8,
					 72,
					 104,
					 144,
					 1 << 16,
					 1ull << 32,
					 1ull << 40,
					 1ull << 62,
					 1ull << 63,
					 UINT64_MAX - 7,
					 UINT64_MAX};

	for (int swap = 0; swap < 2; swap++) {
		struct gen_file f;
		struct gen out = {0};

		rec_whole(&f, swap);
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
					ck_assert_uint_le(t.by_type[DA_REC_SAMPLE], REC_SAMPLES);
					ck_assert_int_eq(da_reader_info(r)->damaged,
							 da_reader_info(r)->nr_messages > 0);
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
	char *dir = rec_make_dir(), *sub;

	assert_refused("/nonexistent/x.data", DA_ENOENT,
		       "cannot open '%s': No such file or directory");
	assert_refused("/dev/null", DA_EFORMAT, "cannot read '%s': a device is no recording");
	assert_refused(dir, DA_EFORMAT,
		       "cannot read '%s': a directory without a file 'data' is no recording");
	sub = rec_path_in(dir, "data");
	ck_assert_int_eq(mkdir(sub, 0700), 0);
	{
		struct da_error err = {0};
		struct da_reader *r;

		ck_assert_int_eq(da_reader_open(&r, dir, &err), -DA_EFORMAT);
		ck_assert_ptr_nonnull(strstr(err.msg, "/data': a directory is no recording"));
	}
	rmdir(sub);
	free(sub);
	rec_remove_dir(dir);

	assert_bytes_refused("", 0, "cannot read '%s': the file is empty");
	assert_bytes_refused(zeros, 1, "cannot read '%s': not a perf.data file");
	assert_bytes_refused(zeros, 1 << 20, "cannot read '%s': not a perf.data file");
	assert_bytes_refused(text, strlen(text), "cannot read '%s': not a perf.data file");
	assert_bytes_refused("PERFIL", 6, "cannot read '%s': not a perf.data file");
	assert_bytes_refused("PERFILE2", 8, "cannot read '%s': it ends inside the file header");
	assert_bytes_refused("PERFILE2\x10\0\0\0\0\0\0", 15,
			     "cannot read '%s': it ends inside the file header");
	assert_bytes_refused("PERFILE2\x10\0\0\0\0\0\0\0", 16,
			     "cannot read '%s': no event attr in it can be read");

	rec_whole(&f, false);
	gen_file_build(&f, &out);
	assert_bytes_refused(out.p, 60, "cannot read '%s': it ends inside the file header");
	assert_bytes_refused(out.p, 104, "cannot read '%s': no event attr in it can be read");
	gen_set_u64(&out, 8, 112);
	assert_bytes_refused(
		out.p, out.len,
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
		if (da_reader_open(&r, path, &err) != -DA_EIO ||
		    !strstr(err.msg, ": Permission denied"))
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
static void cut_at(const struct gen *out, size_t data, size_t data_len, size_t attrs_end,
		   size_t cut, const char *full)
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
		before += type != REC_FUTURE;
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
	bool piped = _i;
	struct gen out = {0};
	struct gen_file f;
	size_t data, attrs_end;
	char *full;

	rec_whole(&f, false);
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

	rec_events(&f, false);
	for (uint64_t i = 1; i < 60000; i++) {
		rec_sample_a(&f.data, i, i, 301);
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

	rec_whole(&f, false);
	f.unfinished = true;
	gen_file_build(&f, &out);
	path = gen_write(out.p, out.len);
	ck_assert_int_eq(da_reader_open(&r, path, &err), 0);
	fd = open(path, O_WRONLY | O_APPEND);
	ck_assert_int_eq(write(fd, f.data.p, f.data.len), (ssize_t)f.data.len);
	close(fd);
	tally(r, &t);
	ck_assert_int_eq(t.ret, 0);
	ck_assert_uint_eq(t.by_type[DA_REC_SAMPLE], REC_SAMPLES);
	da_reader_close(r);
	gen_unlink(path);
	gen_free(&out);
	gen_file_free(&f);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfdata_damage");
	TCase *tc = tcase_create("perfdata_damage");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 300);
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
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
