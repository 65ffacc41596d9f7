/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plain samples decoded in shards (offline_samples.c): the same whatever the number of threads, and the same
 * numbers as in order, with tasks that change meanwhile, losses, and samples that give no report.
 *
 * timeout: 300
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "da_error.h"
#include "da_offline.h"
#include "da_render.h"
#include "perfgen.h"

#define T0   1000000000ull
#define NR   60000
#define CPUS 4
#define TYPE                                                                                       \
	(DA_SAMPLE_IDENTIFIER | DA_SAMPLE_IP | DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_ADDR |   \
	 DA_SAMPLE_CPU | DA_SAMPLE_PERIOD | DA_SAMPLE_DATA_SRC)

static struct gen_file file;
static struct da_offline_opts opts;
static uint64_t rng = 88172645463325252u;

static uint64_t next_random(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	return rng ^= rng << 17;
}

static void map(uint32_t pid, uint64_t start, uint64_t len, const char *name, uint64_t time)
{
	size_t rec = gen_rec(&file.data, DA_REC_MMAP2, DA_CTX_USER);

	gen_u32(&file.data, pid);
	gen_u32(&file.data, pid);
	gen_u64(&file.data, start);
	gen_u64(&file.data, len);
	gen_u64(&file.data, 0);
	gen_fill(&file.data, 0, 24); /* device, inode, generation */
	gen_u32(&file.data, PROT_READ | PROT_WRITE);
	gen_u32(&file.data, MAP_PRIVATE);
	gen_padded(&file.data, name, 8);
	gen_trailer(&file.data, &file.ev[0].attr, pid, pid, time, 11, 0);
	gen_end(&file.data, rec);
}

static void lost(uint64_t n, uint64_t time, uint32_t cpu)
{
	size_t rec = gen_rec(&file.data, DA_REC_LOST, 0);

	gen_u64(&file.data, 11);
	gen_u64(&file.data, n);
	gen_trailer(&file.data, &file.ev[0].attr, 1000, 1000, time, 11, cpu);
	gen_end(&file.data, rec);
}

static void sample(uint32_t cpu, uint64_t time)
{
	uint64_t x = next_random();
	uint32_t event = (uint32_t)(x & 1);
	struct da_samp s = {
		.id = 11 + 10 * event,
		.ip = 0x401000 + (x >> 50),
		.pid = 1000 + (uint32_t)(x >> 8 & 3),
		.tid = 1000 + (uint32_t)(x >> 8 & 3),
		.time_ns = time,
		.addr = 0x7f0000000000 + (x >> 16 & 0x3fffff),
		.cpu = cpu,
		.period = 1 + (x >> 40 & 7),
		.data_src = event ? 0x144 : 0x142,
	};

	if ((x >> 56) < 4)
		s.addr = 0;
	else if ((x >> 56) == 4)
		s.data_src = 0x148; /* a prefetch */
	else if ((x >> 56) == 5)
		s.pid = UINT32_MAX;
	gen_sample(&file.data, &file.ev[event].attr, &s);
}

/* Two events of four processes on four CPUs; `every` n samples a mapping that is replaced, or a loss. */
static char *write_file(unsigned every)
{
	uint64_t time[CPUS], end = T0, nr = 0;
	struct gen out = {0};
	char *path;

	memset(&file, 0, sizeof(file));
	file.nr_ev = 2;
	for (uint32_t i = 0; i < 2; i++)
		file.ev[i] = (struct gen_event){
			.attr = {.type = 4,
				 .config = 0x1cd + i,
				 .sample_period = 1000,
				 .sample_type = TYPE,
				 .flags = DA_ATTR_SAMPLE_ID_ALL | DA_ATTR_MMAP | 2ull << 15},
			.name = i ? "cpu/mem-stores/P" : "cpu/mem-loads/P",
			.ids = {11 + 10 * i},
			.nr_ids = 1};
	gen_features(&file);
	for (uint32_t pid = 1000; pid < 1004; pid++) {
		gen_comm(&file.data, &file.ev[0].attr, "worker", pid, T0, 11);
		map(pid, 0x7f0000000000, 0x300000, "//anon", T0);
	}
	for (int i = 0; i < CPUS; i++)
		time[i] = T0 + 1;
	while (nr < NR) {
		end += 5000000 + next_random() % 20000000;
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			for (; time[cpu] < end; time[cpu] += next_random() % 20000, nr++) {
				sample(cpu, time[cpu]);
				if (!every || next_random() % every)
					continue;
				if (nr & 1)
					lost(7, time[cpu], cpu);
				else
					map(1000 + (uint32_t)(nr >> 1 & 3),
					    0x7f0000000000 + (nr & 0xff) * 0x1000, 0x100000,
					    "/dev/shm/x", time[cpu]);
			}
		}
		gen_round(&file.data);
	}
	gen_file_build(&file, &out);
	path = gen_write(out.p, out.len);
	gen_free(&out);
	gen_file_free(&file);
	return path;
}

static struct da_offline *decode(const char *path, unsigned threads, uint64_t shard_bytes)
{
	struct da_offline *o = NULL;
	struct da_error err = {0};

	opts = (struct da_offline_opts){.match = {.virt = true, .accumulate = true},
					.threads = threads,
					.shard_bytes = shard_bytes};
	ck_assert_msg(!da_offline_open(&o, path, &opts, &err), "%s", err.msg);
	ck_assert_msg(!da_offline_run(o, &err), "%s", err.msg);
	ck_assert(da_ledger_conserves(&da_offline_result(o)->ledger, NULL));
	return o;
}

static char *as_json(const struct da_offline *o)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(da_render_report_json(f, da_offline_result(o)), 0);
	ck_assert_int_eq(fclose(f), 0);
	return text;
}

static const unsigned every[] = {0, 20000, 2000, 50};

START_TEST(any_number_of_threads)
{
	char *path = write_file(every[_i]), *first = NULL;

	for (unsigned threads = 1; threads < 6; threads++) {
		struct da_offline *o = decode(path, threads, 1);
		char *text = as_json(o);

		if (first)
			ck_assert_msg(!strcmp(first, text), "%u threads", threads);
		free(first);
		first = text;
		da_offline_close(o);
	}
	free(first);
	gen_unlink(path);
}
END_TEST

/* credits: also those. A region whose mapping is replaced meanwhile is another one to a shard that has not seen it
 * before: then it may be credited once more in an interval. */
static void same_ledger(const struct da_ledger *x, const struct da_ledger *y, bool credits)
{
	for (int i = 0; i < DA_STAGE_NR; i++) {
		ck_assert_uint_eq(x->in[i], y->in[i]);
		if (i != DA_STAGE_UPDATE || credits)
			ck_assert_uint_eq(x->out[i], y->out[i]);
	}
	for (int i = 0; i < DA_DROP_NR; i++)
		if (i != DA_DROP_ALREADY_CREDITED || credits)
			ck_assert_uint_eq(x->drop[i], y->drop[i]);
}

static void same_regions(const struct da_space *a, const struct da_space *b, bool credits)
{
	ck_assert_uint_eq(a->pid, b->pid);
	same_ledger(&a->ledger, &b->ledger, credits);
	ck_assert_uint_eq(a->nr_regions, b->nr_regions);
	for (size_t i = 0; i < a->nr_regions; i++) {
		const struct da_region *x = &a->regions[i], *y = &b->regions[i];

		ck_assert_uint_eq(x->start, y->start);
		ck_assert_uint_eq(x->end, y->end);
		ck_assert_str_eq(x->label, y->label);
		ck_assert_uint_eq(x->nr_by_event, y->nr_by_event);
		for (uint32_t k = 0; k < x->nr_by_event; k++) {
			const struct da_region_stat *s = &x->by_event[k], *t = &y->by_event[k];

			ck_assert_uint_eq(s->event, t->event);
			ck_assert_uint_eq(s->samples, t->samples);
			ck_assert_uint_eq(s->accesses, t->accesses);
			ck_assert_uint_eq(s->reads, t->reads);
			ck_assert_uint_eq(s->writes, t->writes);
			ck_assert_uint_eq(s->hit_start, t->hit_start);
			ck_assert_uint_eq(s->hit_end, t->hit_end);
		}
	}
}

/* Only which of the reports of an interval is credited, that of which CPU, is another. */
START_TEST(as_in_order)
{
	char *path = write_file(every[_i]);
	struct da_offline *a = decode(path, 1, UINT64_MAX), *b = decode(path, 3, 1);
	const struct da_offline_result *x = da_offline_result(a), *y = da_offline_result(b);

	ck_assert_uint_eq(x->samples, y->samples);
	ck_assert_uint_ge(x->samples, NR);
	same_ledger(&x->ledger, &y->ledger, !every[_i]);
	ck_assert_uint_gt(y->ledger.drop[DA_DROP_ADDR_NONE], 0);
	ck_assert_uint_gt(y->ledger.drop[DA_DROP_PREFETCH], 0);
	ck_assert_uint_gt(y->ledger.drop[DA_DROP_NO_TASK], 0);
	ck_assert_uint_gt(y->ledger.drop[DA_DROP_MISS_REGION], 0);
	for (size_t i = 0; i < x->nr_events; i++) {
		ck_assert_uint_eq(x->events[i].samples, y->events[i].samples);
		ck_assert_uint_eq(x->events[i].first_ns, y->events[i].first_ns);
		ck_assert_uint_eq(x->events[i].last_ns, y->events[i].last_ns);
	}
	ck_assert_uint_eq(x->nr_cells, y->nr_cells);
	for (size_t i = 0; i < x->nr_cells; i++) {
		ck_assert_uint_eq(x->cells[i].ledger.in[DA_STAGE_SAMPLE],
				  y->cells[i].ledger.in[DA_STAGE_SAMPLE]);
		ck_assert_uint_eq(x->cells[i].ledger.out[DA_STAGE_MATCH],
				  y->cells[i].ledger.out[DA_STAGE_MATCH]);
	}
	ck_assert_uint_eq(x->nr_gaps, y->nr_gaps);
	for (size_t i = 0; i < x->nr_gaps; i++) {
		ck_assert_uint_eq(x->gaps[i].t0_ns, y->gaps[i].t0_ns);
		ck_assert_uint_eq(x->gaps[i].t1_ns, y->gaps[i].t1_ns);
		ck_assert_int_eq(x->gaps[i].lost, y->gaps[i].lost);
	}
	ck_assert(!every[_i] || every[_i] > NR / 8 || x->nr_gaps);
	ck_assert_uint_eq(da_match_nr_spaces(x->match), da_match_nr_spaces(y->match));
	for (size_t i = 0; i < da_match_nr_spaces(x->match); i++)
		same_regions(da_match_space(x->match, i), da_match_space(y->match, i), !every[_i]);
	da_offline_close(a);
	da_offline_close(b);
	gen_unlink(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("offline_samples");
	TCase *tc = tcase_create("shards");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, any_number_of_threads, 0, 4);
	tcase_add_loop_test(tc, as_in_order, 0, 4);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
