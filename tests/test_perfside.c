/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sample_id trailer and sideband records, both ways and in both byte orders. perfgen.c is the second
 * opinion about the layouts.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "da_perfdata.h"
#include "perfgen.h"

/* ---- trailers ---- */

static struct da_rec rec_of(const struct gen *g)
{
	struct da_rec r = {.bytes = g->p, .size = (uint32_t)g->len, .swap = g->swap};
	uint32_t type;
	uint16_t misc;

	memcpy(&type, g->p, 4);
	memcpy(&misc, g->p + 4, 2);
	r.type = g->swap ? __builtin_bswap32(type) : type;
	r.misc = g->swap ? __builtin_bswap16(misc) : misc;
	return r;
}

/* Every subset of the six fields. */
START_TEST(trailer_every_subset)
{
	static const uint64_t fields[] = {DA_SAMPLE_TID, DA_SAMPLE_TIME,
					  DA_SAMPLE_ID,  DA_SAMPLE_STREAM_ID,
					  DA_SAMPLE_CPU, DA_SAMPLE_IDENTIFIER};
	struct da_attr a = {.flags = DA_ATTR_SAMPLE_ID_ALL,
			    .sample_type = DA_SAMPLE_IP | DA_SAMPLE_ADDR};
	uint64_t has;

	for (int i = 0; i < 6; i++) {
		if (_i & 1 << i)
			a.sample_type |= fields[i];
	}
	has = a.sample_type & (DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_CPU);
	if (a.sample_type & (DA_SAMPLE_ID | DA_SAMPLE_IDENTIFIER))
		has |= DA_SAMPLE_ID;
	for (int swap = 0; swap < 2; swap++) {
		struct gen g = {.swap = swap};
		size_t at = gen_rec(&g, DA_REC_COMM, 0), body = g.len;
		struct da_rec r;

		gen_trailer(&g, &a, 11, 12, 13, 14, 15);
		gen_end(&g, at);
		if (!swap) {
			uint8_t buf[DA_SAMPLE_ID_MAX + 8];

			memset(buf, 0xff, sizeof(buf));
			ck_assert_uint_eq(da_sample_id_build(&a, 11, 12, 13, 14, 15, buf),
					  g.len - body);
			ck_assert_mem_eq(buf, g.p + body, g.len - body);
			ck_assert_uint_eq(buf[g.len - body], 0xff);
		}
		r = rec_of(&g);
		ck_assert_int_eq(da_sample_id_parse(&a, &r), 0);
		ck_assert_uint_eq(r.has, has);
		if (has & DA_SAMPLE_TID) {
			ck_assert_uint_eq(r.pid, 11);
			ck_assert_uint_eq(r.tid, 12);
		}
		if (has & DA_SAMPLE_TIME)
			ck_assert_uint_eq(r.time_ns, 13);
		if (has & DA_SAMPLE_ID)
			ck_assert_uint_eq(r.id, 14);
		if (has & DA_SAMPLE_CPU)
			ck_assert_uint_eq(r.cpu, 15);
		if (g.len > body) {
			r.size -= 8;
			r.bytes += 8;
			ck_assert_int_eq(da_sample_id_parse(&a, &r), -DA_EDAMAGED);
			ck_assert_uint_eq(r.has, 0);
		}
		gen_free(&g);
	}
}
END_TEST

START_TEST(trailer_absent)
{
	struct da_attr a = {.sample_type = DA_SAMPLE_TIME | DA_SAMPLE_TID};
	struct da_rec r;
	struct gen g = {0};
	uint8_t buf[DA_SAMPLE_ID_MAX];

	gen_comm(&g, &a, "x", 1, 2, 3);
	r = rec_of(&g);
	r.has = ~0ull;
	ck_assert_int_eq(da_sample_id_parse(&a, &r), 0);
	ck_assert_uint_eq(r.has, 0);
	ck_assert_uint_eq(da_sample_id_build(&a, 1, 2, 3, 4, 5, buf), 0);
	/* perf's own records never have one */
	a.flags = DA_ATTR_SAMPLE_ID_ALL;
	r.type = DA_REC_TIME_CONV;
	ck_assert_int_eq(da_sample_id_parse(&a, &r), 0);
	ck_assert_uint_eq(r.has, 0);
	gen_free(&g);
}
END_TEST

/* ---- sideband ---- */

static const struct da_attr side_attr = {.flags = DA_ATTR_SAMPLE_ID_ALL,
					 .sample_type = DA_SAMPLE_TID | DA_SAMPLE_TIME |
							DA_SAMPLE_CPU | DA_SAMPLE_IDENTIFIER};

/* Calls parse on the record and on each of its cuts before `needs` bytes, which must be damage. */
#define for_each_cut(g, needs, parse, out)                                                         \
	for (size_t cut_ = 8; cut_ < (needs); cut_++) {                                            \
		uint8_t *block_ = malloc(cut_);                                                    \
		struct da_rec r_ = rec_of(g);                                                      \
		memcpy(block_, (g)->p, cut_);                                                      \
		r_.bytes = block_;                                                                 \
		r_.size = (uint32_t)cut_;                                                          \
		ck_assert_int_eq(parse(&r_, out), -DA_EDAMAGED);                                   \
		free(block_);                                                                      \
	}

START_TEST(side_mmap)
{
	for (int swap = 0; swap < 2; swap++) {
		struct gen g = {.swap = swap};
		size_t at = gen_rec(&g, DA_REC_MMAP, DA_MISC_MMAP_DATA);
		struct da_rec_mmap m;
		struct da_rec r;

		gen_u32(&g, 21);
		gen_u32(&g, 22);
		gen_u64(&g, 0x400000);
		gen_u64(&g, 0x1000);
		gen_u64(&g, 0x2000);
		gen_padded(&g, "/bin/true", 8);
		gen_end(&g, at);
		r = rec_of(&g);
		ck_assert_int_eq(da_rec_mmap_parse(&r, &m), 0);
		ck_assert_uint_eq(m.pid, 21);
		ck_assert_uint_eq(m.tid, 22);
		ck_assert_uint_eq(m.addr, 0x400000);
		ck_assert_uint_eq(m.len, 0x1000);
		ck_assert_uint_eq(m.pgoff, 0x2000);
		ck_assert(!m.has_ino && !m.has_prot && !m.has_build_id);
		ck_assert_str_eq(m.filename, "/bin/true");
		for_each_cut(&g, 8 + 32 + 10, da_rec_mmap_parse, &m);
		gen_free(&g);
	}
}
END_TEST

START_TEST(side_mmap2)
{
	for (int k = 0; k < 4; k++) {
		bool swap = k & 1, with_id = k & 2;
		struct gen g = {.swap = swap};
		size_t at = gen_rec(&g, DA_REC_MMAP2, with_id ? DA_MISC_MMAP_BUILD_ID : 0);
		struct da_rec_mmap m;
		struct da_rec r;

		gen_u32(&g, 21);
		gen_u32(&g, 22);
		gen_u64(&g, 0x400000);
		gen_u64(&g, 0x1000);
		gen_u64(&g, 0x2000);
		if (with_id) {
			static const uint8_t head[4] = {20};

			gen_bytes(&g, head, 4);
			for (uint8_t i = 0; i < 20; i++)
				gen_bytes(&g, &i, 1);
		} else {
			gen_u32(&g, 8);
			gen_u32(&g, 3);
			gen_u64(&g, 4711);
			gen_u64(&g, 815);
		}
		gen_u32(&g, 5);
		gen_u32(&g, 2);
		gen_padded(&g, "//anon", 8);
		gen_trailer(&g, &side_attr, 21, 22, 99, 5, 1);
		gen_end(&g, at);
		r = rec_of(&g);
		ck_assert_int_eq(da_rec_mmap_parse(&r, &m), 0);
		ck_assert_int_eq(m.has_build_id, with_id);
		ck_assert_int_eq(m.has_ino, !with_id);
		ck_assert(m.has_prot);
		ck_assert_uint_eq(m.prot, 5);
		ck_assert_uint_eq(m.flags, 2);
		ck_assert_str_eq(m.filename, "//anon");
		if (with_id) {
			ck_assert_uint_eq(m.build_id_size, 20);
			for (uint8_t i = 0; i < 20; i++)
				ck_assert_uint_eq(m.build_id[i], i);
		} else {
			ck_assert_uint_eq(m.maj, 8);
			ck_assert_uint_eq(m.min, 3);
			ck_assert_uint_eq(m.ino, 4711);
			ck_assert_uint_eq(m.ino_gen, 815);
		}
		for_each_cut(&g, 8 + 64 + 7, da_rec_mmap_parse, &m);
		gen_free(&g);
	}
}
END_TEST

/* A build id never claims more bytes than the field has. */
START_TEST(side_mmap2_build_id_size)
{
	struct gen g = {0};
	size_t at = gen_rec(&g, DA_REC_MMAP2, DA_MISC_MMAP_BUILD_ID);
	struct da_rec_mmap m;
	struct da_rec r;

	gen_fill(&g, 0xff, 64);
	gen_padded(&g, "f", 8);
	gen_end(&g, at);
	r = rec_of(&g);
	ck_assert_int_eq(da_rec_mmap_parse(&r, &m), 0);
	ck_assert_uint_eq(m.build_id_size, 20);
	gen_free(&g);
}
END_TEST

/* A name without its NUL up to the record's end. */
START_TEST(side_unterminated)
{
	struct gen g = {0};
	struct da_rec_mmap m;
	struct da_rec_comm c;
	struct da_rec r;
	size_t at;

	at = gen_rec(&g, DA_REC_MMAP, 0);
	gen_fill(&g, 'x', 48);
	gen_end(&g, at);
	r = rec_of(&g);
	ck_assert_int_eq(da_rec_mmap_parse(&r, &m), -DA_EDAMAGED);
	ck_assert_ptr_null(m.filename);
	r.type = DA_REC_COMM;
	ck_assert_int_eq(da_rec_comm_parse(&r, &c), -DA_EDAMAGED);
	ck_assert_ptr_null(c.comm);
	gen_free(&g);
}
END_TEST

START_TEST(side_others)
{
	for (int swap = 0; swap < 2; swap++) {
		struct da_rec_throttle th;
		struct da_rec_task task;
		struct da_rec_comm comm;
		struct da_rec_lost lost;
		struct da_rec_aux aux;
		struct gen g = {.swap = swap};
		struct da_rec r;
		size_t at;

		at = gen_rec(&g, DA_REC_COMM, DA_MISC_EXEC);
		gen_u32(&g, 1);
		gen_u32(&g, 2);
		gen_padded(&g, "name", 8);
		gen_end(&g, at);
		r = rec_of(&g);
		ck_assert_int_eq(da_rec_comm_parse(&r, &comm), 0);
		ck_assert(comm.pid == 1 && comm.tid == 2 && comm.exec);
		ck_assert_str_eq(comm.comm, "name");
		for_each_cut(&g, 8 + 8 + 5, da_rec_comm_parse, &comm);
		g.len = 0;

		at = gen_rec(&g, DA_REC_FORK, 0);
		for (uint32_t i = 1; i <= 4; i++)
			gen_u32(&g, i);
		gen_u64(&g, 5);
		gen_end(&g, at);
		r = rec_of(&g);
		ck_assert_int_eq(da_rec_task_parse(&r, &task), 0);
		ck_assert(task.pid == 1 && task.ppid == 2 && task.tid == 3 && task.ptid == 4 &&
			  task.time_ns == 5);
		for_each_cut(&g, 32, da_rec_task_parse, &task);
		g.len = 0;

		at = gen_rec(&g, DA_REC_LOST, 0);
		gen_u64(&g, 6);
		gen_u64(&g, 7);
		gen_end(&g, at);
		r = rec_of(&g);
		ck_assert_int_eq(da_rec_lost_parse(&r, &lost), 0);
		ck_assert(lost.id == 6 && lost.lost == 7);
		for_each_cut(&g, 24, da_rec_lost_parse, &lost);
		r.type = DA_REC_LOST_SAMPLES;
		ck_assert_int_eq(da_rec_lost_parse(&r, &lost), 0);
		ck_assert(lost.id == 0 && lost.lost == 6);
		g.len = 0;

		at = gen_rec(&g, DA_REC_AUX, 0);
		gen_u64(&g, 8);
		gen_u64(&g, 9);
		gen_u64(&g, 10);
		gen_end(&g, at);
		r = rec_of(&g);
		ck_assert_int_eq(da_rec_aux_parse(&r, &aux), 0);
		ck_assert(aux.offset == 8 && aux.size == 9 && aux.flags == 10);
		for_each_cut(&g, 32, da_rec_aux_parse, &aux);
		r.type = DA_REC_THROTTLE;
		ck_assert_int_eq(da_rec_throttle_parse(&r, &th), 0);
		ck_assert(th.time_ns == 8 && th.id == 9 && th.stream_id == 10);
		for_each_cut(&g, 32, da_rec_throttle_parse, &th);
		gen_free(&g);
	}
}
END_TEST

START_TEST(side_build)
{
	struct da_rec_mmap m = {.pid = 1,
				.tid = 2,
				.addr = 0x7f0000000000,
				.len = 0x5000,
				.pgoff = 0x3000,
				.maj = 8,
				.min = 1,
				.ino = 99,
				.ino_gen = 7,
				.prot = 5,
				.flags = 2,
				.has_ino = true,
				.has_prot = true},
			   got;
	struct da_rec_comm c = {.pid = 3, .tid = 4, .exec = true}, gotc;
	uint8_t buf[512];
	uint16_t misc;

	/* names of every length around the padding */
	for (size_t n = 0; n < 20; n++) {
		static const char name[] = "/usr/lib/libsomething";
		char cut[32] = {0};
		struct da_rec r = {.bytes = buf, .type = DA_REC_MMAP2};
		int size;

		memcpy(cut, name, n);
		m.filename = c.comm = cut;
		memset(buf, 0xff, sizeof(buf));
		size = da_rec_mmap2_build(&side_attr, 2, &m, 1000, 5, 1, buf, sizeof(buf));
		ck_assert_int_eq(size, 8 + 64 + (int)(n + 8) / 8 * 8 + 32);
		ck_assert_uint_eq(buf[size], 0xff);
		r.size = (uint32_t)size;
		ck_assert_int_eq(da_sample_id_parse(&side_attr, &r), 0);
		ck_assert(r.pid == 1 && r.tid == 2 && r.time_ns == 1000 && r.id == 5 && r.cpu == 1);
		ck_assert_int_eq(da_rec_mmap_parse(&r, &got), 0);
		ck_assert_str_eq(got.filename, cut);
		ck_assert(got.pid == 1 && got.tid == 2 && got.addr == m.addr && got.len == m.len);
		ck_assert(got.pgoff == m.pgoff && got.maj == 8 && got.min == 1 && got.ino == 99 &&
			  got.ino_gen == 7);
		ck_assert(got.prot == 5 && got.flags == 2 && got.has_ino && got.has_prot &&
			  !got.has_build_id);
		ck_assert_int_eq(
			da_rec_mmap2_build(&side_attr, 2, &m, 1000, 5, 1, buf, (size_t)size + 15),
			size + 15 >= 8 + 64 + (int)(n + 8) / 8 * 8 + DA_SAMPLE_ID_MAX ? size
										      : -DA_ENOMEM);

		size = da_rec_comm_build(&side_attr, &c, 1001, 6, 2, buf, sizeof(buf));
		ck_assert_int_eq(size, 16 + (int)(n + 8) / 8 * 8 + 32);
		r = (struct da_rec){.bytes = buf,
				    .type = DA_REC_COMM,
				    .size = (uint32_t)size,
				    .misc = DA_MISC_EXEC};
		ck_assert_int_eq(da_rec_comm_parse(&r, &gotc), 0);
		ck_assert_str_eq(gotc.comm, cut);
		memcpy(&misc, buf + 4, 2);
		ck_assert_uint_eq(misc, DA_MISC_EXEC);
	}
}
END_TEST

START_TEST(side_build_build_id)
{
	struct da_rec_mmap m = {.has_build_id = true, .build_id_size = 20, .filename = "x"}, got;
	struct da_rec r = {.type = DA_REC_MMAP2};
	uint8_t buf[256];
	int size;

	memset(m.build_id, 0xab, 20);
	size = da_rec_mmap2_build(&side_attr, 0, &m, 0, 0, 0, buf, sizeof(buf));
	ck_assert_int_gt(size, 0);
	r.bytes = buf;
	r.size = (uint32_t)size;
	memcpy(&r.misc, buf + 4, 2);
	ck_assert_uint_eq(r.misc, DA_MISC_MMAP_BUILD_ID);
	ck_assert_int_eq(da_rec_mmap_parse(&r, &got), 0);
	ck_assert_uint_eq(got.build_id_size, 20);
	ck_assert_mem_eq(got.build_id, m.build_id, 20);
}
END_TEST

START_TEST(side_build_too_long)
{
	char *name = malloc(70000);
	uint8_t *buf = malloc(70000);
	struct da_rec_mmap m = {.filename = name};
	struct da_rec_comm c = {.comm = name};

	memset(name, 'n', 70000);
	name[69999] = '\0';
	ck_assert_int_eq(da_rec_mmap2_build(&side_attr, 0, &m, 0, 0, 0, buf, 70000), -DA_ENOMEM);
	ck_assert_int_eq(da_rec_comm_build(&side_attr, &c, 0, 0, 0, buf, 70000), -DA_ENOMEM);
	name[1] = '\0';
	for (size_t cap = 0; cap < 60; cap++) {
		ck_assert_int_eq(da_rec_mmap2_build(&side_attr, 0, &m, 0, 0, 0, buf, cap),
				 -DA_ENOMEM);
		ck_assert_int_eq(da_rec_comm_build(&side_attr, &c, 0, 0, 0, buf, cap), -DA_ENOMEM);
	}
	free(name);
	free(buf);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfside");
	TCase *tc = tcase_create("perfside");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tc, trailer_every_subset, 0, 64);
	tcase_add_test(tc, trailer_absent);
	tcase_add_test(tc, side_mmap);
	tcase_add_test(tc, side_mmap2);
	tcase_add_test(tc, side_mmap2_build_id_size);
	tcase_add_test(tc, side_unterminated);
	tcase_add_test(tc, side_others);
	tcase_add_test(tc, side_build);
	tcase_add_test(tc, side_build_build_id);
	tcase_add_test(tc, side_build_too_long);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
