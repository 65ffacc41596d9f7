/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recording that the tests of the perf.data reader share (recording.h).
 */
#include "recording.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "da_own.h"

#define ST_A                                                                                       \
	(DA_SAMPLE_IDENTIFIER | DA_SAMPLE_IP | DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_ADDR |   \
	 DA_SAMPLE_CPU | DA_SAMPLE_PERIOD | DA_SAMPLE_DATA_SRC)
#define ST_B                                                                                       \
	(DA_SAMPLE_IDENTIFIER | DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_CALLCHAIN |             \
	 DA_SAMPLE_PHYS_ADDR)

const struct da_attr rec_attr_a = {.type = 4,
				   .config = 0x1cd,
				   .sample_period = 1000,
				   .sample_type = ST_A,
				   .flags = DA_ATTR_SAMPLE_ID_ALL};
const struct da_attr rec_attr_b = {.type = 1,
				   .config = 2,
				   .sample_period = 1,
				   .sample_type = ST_B,
				   .flags = DA_ATTR_SAMPLE_ID_ALL};

void rec_sample_a(struct gen *g, uint64_t time, uint64_t addr, uint64_t id)
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

	gen_sample(g, &rec_attr_a, &s);
}

void rec_sample_b(struct gen *g, uint64_t time, uint64_t id)
{
	uint64_t chain[3] = {0xffffffffffffff80, time, time + 1};
	struct da_samp s = {.id = id,
			    .pid = 7,
			    .tid = 9,
			    .time_ns = time,
			    .callchain = (uint8_t *)chain,
			    .nr_callchain = time % 4,
			    .phys_addr = 0x100000000 + time};

	gen_sample(g, &rec_attr_b, &s);
}

void rec_own(struct gen *g, uint16_t kind, const char *json)
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

void rec_events(struct gen_file *f, bool swap)
{
	f->data.swap = swap;
	f->nr_ev = 2;
	f->ev[0] = (struct gen_event){
		.attr = rec_attr_a, .name = "cpu/mem-loads/P", .ids = {301, 302}, .nr_ids = 2};
	f->ev[1] = (struct gen_event){
		.attr = rec_attr_b, .name = "page-faults:u", .ids = {401}, .nr_ids = 1};
}

static void fill_data(struct gen_file *f)
{
	static const uint8_t payload[40] = "AUX bytes that are no records at all...";
	struct gen *g = &f->data;
	size_t at;

	rec_own(g, DA_OWN_INFO, "{\"tool\":\"test\"}");
	gen_comm(g, &rec_attr_a, "made-up", 7, 0, 0);
	for (unsigned round = 0; round < 12; round++) {
		uint64_t t = 10000 * round;

		/* two CPUs, one after the other */
		for (unsigned i = 1; i < 8; i++)
			rec_sample_a(g, t + 1000 * i, 0x7f0000000000 + 64 * i, 301);
		gen_comm(g, &rec_attr_a, "late-name", 7, t + 8000, 301);
		for (unsigned i = 1; i < 8; i++)
			rec_sample_b(g, t + 1000 * i + 7, 401);
		rec_sample_a(g, t + 8500, 0, 302);
		if (round == 5)
			gen_auxtrace(g, payload, sizeof(payload), sizeof(payload), 0x4000);
		gen_round(g);
	}
	/* a record type of the future */
	at = gen_rec(g, REC_FUTURE, 0);
	gen_fill(g, 0x77, 24);
	gen_end(g, at);
	rec_sample_a(g, 200000, 1, 301);
	rec_own(g, DA_OWN_END, "{\"reason\":\"exit\"}");
}

void rec_whole(struct gen_file *f, bool swap)
{
	memset(f, 0, sizeof(*f));
	rec_events(f, swap);
	fill_data(f);
	gen_features(f);
}

void rec_open(const struct gen_file *f, struct da_reader **r, struct tally *t)
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

/* ---- directories ---- */

char *rec_path_in(const char *dir, const char *name)
{
	char *p;

	ck_assert_int_gt(asprintf(&p, "%s/%s", dir, name), 0);
	return p;
}

void rec_put_file(const char *dir, const char *name, const struct gen *g)
{
	char *path = rec_path_in(dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_eq(write(fd, g->p, g->len), (ssize_t)g->len);
	close(fd);
	free(path);
}

char *rec_make_dir(void)
{
	char *path = gen_write("", 0);

	unlink(path);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	return path;
}

void rec_remove_dir(char *dir)
{
	static const char *const names[] = {"data",    "data.0",    "data.1",  "data.2",
					    "data.10", "data.fifo", "data.old"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *p = rec_path_in(dir, names[i]);

		remove(p);
		free(p);
	}
	ck_assert_int_eq(rmdir(dir), 0);
	free(dir);
}
