/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a recording with ADDR samples, as `perf mem record -a` would on four CPUs with PEBS: for addr.sh,
 * and to try things.
 *
 *	gen_addr_data FILE SAMPLES [SEED]
 *
 * Two events (loads and stores), eight processes that the CPUs run in turn, rounds of the recorder's passes
 * over the CPUs, some of whose samples the pass before could have taken. Nothing but the head is kept in
 * memory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "da_report.h"
#include "perfgen.h"

#define NR_CPUS   4
#define NR_PROCS  8
#define FIRST_PID 1000
#define T0        1000000000ull
#define TICK_NS   10000   /* between two samples of a CPU, on average */
#define SLICE_NS  3000000 /* for which a CPU runs one process */

#define SAMPLE                                                                                     \
	(DA_SAMPLE_IDENTIFIER | DA_SAMPLE_IP | DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_ADDR |   \
	 DA_SAMPLE_CPU | DA_SAMPLE_PERIOD | DA_SAMPLE_WEIGHT | DA_SAMPLE_DATA_SRC)

static const struct gen_event events[2] = {
	{.attr = {.type = 4,
		  .config = 0x1cd,
		  .config1 = 0x1f,
		  .sample_period = 1009,
		  .sample_type = SAMPLE,
		  .flags = DA_ATTR_SAMPLE_ID_ALL | DA_ATTR_MMAP | DA_ATTR_COMM | 2ull << 15},
	 .name = "cpu/mem-loads,ldlat=30/P",
	 .ids = {11, 12, 13, 14},
	 .nr_ids = 4},
	{.attr = {.type = 4,
		  .config = 0x82d0,
		  .sample_period = 2003,
		  .sample_type = SAMPLE,
		  .flags = DA_ATTR_SAMPLE_ID_ALL | 2ull << 15},
	 .name = "cpu/mem-stores/P",
	 .ids = {21, 22, 23, 24},
	 .nr_ids = 4},
};

static uint64_t rng;

static uint64_t next_random(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	return rng ^= rng << 17;
}

/* ---- the processes ---- */

static const struct {
	uint64_t start, len;
	uint32_t prot;
	const char *name;
} maps[] = {
	{0x555500000000, 0x200000, PROT_READ | PROT_EXEC, "/usr/bin/worker"},
	{0x555500400000, 0x4000000, PROT_READ | PROT_WRITE, "[heap]"},
	{0x7f0000000000, 0x8000000, PROT_READ | PROT_WRITE, "//anon"},
	{0x7f1000000000, 0x8000000, PROT_READ | PROT_WRITE, "//anon"},
	{0x7f2000000000, 0x2000000, PROT_READ | PROT_WRITE, "/dev/shm/shared"},
	{0x7f3000000000, 0x1000000, PROT_READ, "/usr/lib/data.bin"},
	{0x7ffc00000000, 0x21000, PROT_READ | PROT_WRITE, "[stack]"},
};

static void map(struct gen *g, uint32_t pid, size_t i)
{
	size_t rec = gen_rec(g, DA_REC_MMAP2, DA_CTX_USER);

	gen_u32(g, pid);
	gen_u32(g, pid);
	gen_u64(g, maps[i].start);
	gen_u64(g, maps[i].len);
	gen_u64(g, 0);
	gen_u32(g, 8);
	gen_u32(g, 1);
	gen_u64(g, 4711 + i);
	gen_u64(g, 0);
	gen_u32(g, maps[i].prot);
	gen_u32(g, MAP_PRIVATE);
	gen_padded(g, maps[i].name, 8);
	gen_trailer(g, &events[0].attr, pid, pid, T0, 11, 0);
	gen_end(g, rec);
}

static void processes(struct gen *g)
{
	for (uint32_t pid = FIRST_PID; pid < FIRST_PID + NR_PROCS; pid++) {
		gen_comm(g, &events[0].attr, "worker", pid, T0, 11);
		for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
			map(g, pid, i);
	}
}

/* Half of the accesses lie in a window of 1 MiB that moves through a mapping, a quarter anywhere. */
static uint64_t address(uint64_t time, uint32_t pid, uint64_t x)
{
	uint64_t part = (time - T0) >> 20, at = x >> 16;

	switch (x & 15) {
	case 0:
	case 1:
		return maps[6].start + 0x20000 + (at & 0xff8);
	case 2:
	case 3:
		return maps[1].start + (at & 0x3fffff8);
	case 4:
	case 5:
		return maps[4].start + (at & 0x1fffff8);
	case 6:
	case 7:
		return maps[3].start + (at & 0x7fffff8);
	default:
		return maps[2].start + ((part * 0x8000 + pid * 0x300000) & 0x7efffff) +
		       (at & 0xffff8);
	}
}

/* perf_mem_data_src: op in 5 bits, level in 14: L1, LFB, L2, L3, RAM hit */
static const uint64_t loads[] = {0x142, 0x142, 0x142, 0x142, 0x242, 0x442, 0x842, 0x1042};
#define STORE 0x144

static void sample(struct gen *g, uint32_t cpu, uint64_t time)
{
	uint64_t x = next_random();
	uint32_t pid = FIRST_PID + (uint32_t)((time / SLICE_NS + cpu * 3) % NR_PROCS);
	bool store = (x >> 60) < 5;
	struct da_samp s = {
		.ip = maps[0].start + 0x1000 + (x >> 40 & 0xfff),
		.pid = pid,
		.tid = pid + (uint32_t)(x >> 52 & 1) * 100,
		.time_ns = time,
		.addr = address(time, pid, x),
		.id = events[store].ids[cpu],
		.stream_id = events[store].ids[cpu],
		.cpu = cpu,
		.period = events[store].attr.sample_period,
		.weight = store ? 0 : 30 + (x >> 56 & 0xff),
		.data_src = store ? STORE : loads[x >> 12 & 7],
	};

	gen_sample(g, &events[store].attr, &s);
}

/* ---- the file: header, attrs, ids, data, features ---- */

static void section(struct gen *g, uint64_t off, uint64_t size)
{
	gen_u64(g, off);
	gen_u64(g, size);
}

#define HEADER_BYTES 104
#define ATTR_BYTES   128

/* The file as far as the data, whose size is known at the end only. */
static void head(struct gen *g, uint64_t data_bytes, uint64_t features)
{
	uint64_t ids_at = HEADER_BYTES, attrs_at = ids_at + 2 * 4 * 8,
		 data_at = attrs_at + 2 * (ATTR_BYTES + 16);

	gen_bytes(g, "PERFILE2", 8);
	gen_u64(g, HEADER_BYTES);
	gen_u64(g, ATTR_BYTES + 16);
	section(g, attrs_at, 2 * (ATTR_BYTES + 16));
	section(g, data_at, data_bytes);
	section(g, 0, 0);
	gen_u64(g, features);
	gen_fill(g, 0, 24);
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < events[i].nr_ids; k++)
			gen_u64(g, events[i].ids[k]);
	for (size_t i = 0; i < 2; i++) {
		gen_attr(g, &events[i].attr, ATTR_BYTES);
		section(g, ids_at + i * 4 * 8, 4 * 8);
	}
}

static void features(struct gen *g, uint64_t at, uint64_t last, uint64_t *bitmap)
{
	struct gen_file f = {.nr_ev = 2, .ev = {events[0], events[1]}};
	uint64_t nr = 0;

	gen_features(&f);
	gen_free(&f.feature[21]); /* SAMPLE_TIME */
	gen_u64(&f.feature[21], T0 + 1);
	gen_u64(&f.feature[21], last);
	*bitmap = 0;
	for (int i = 0; i < 64; i++)
		nr += f.feature[i].len != 0;
	at += 16 * nr;
	for (int i = 0; i < 64; i++) {
		if (!f.feature[i].len)
			continue;
		*bitmap |= 1ull << i;
		section(g, at, f.feature[i].len);
		at += f.feature[i].len;
	}
	for (int i = 0; i < 64; i++)
		gen_bytes(g, f.feature[i].p, f.feature[i].len);
	gen_file_free(&f);
}

static void put(FILE *f, struct gen *g)
{
	if (fwrite(g->p, 1, g->len, f) != g->len) {
		perror("write");
		exit(1);
	}
	g->len = 0;
}

int main(int argc, char **argv)
{
	uint64_t nr = argc >= 3 ? strtoull(argv[2], NULL, 0) : 0, done = 0, bytes = 0, bitmap;
	uint64_t time[NR_CPUS], end = T0;
	struct gen g = {0};
	FILE *f;

	if (!nr) {
		fprintf(stderr, "usage: gen_addr_data FILE SAMPLES [SEED]\n");
		return 2;
	}
	rng = (argc >= 4 ? strtoull(argv[3], NULL, 0) : 1) * 0x9e3779b97f4a7c15;
	for (int i = 0; i < NR_CPUS; i++)
		time[i] = T0 + 1;
	f = fopen(argv[1], "wb+");
	if (!f) {
		perror(argv[1]);
		return 1;
	}
	head(&g, 0, 0);
	put(f, &g);
	processes(&g);
	while (done < nr) {
		end += (500 + next_random() % 2000) * TICK_NS;
		for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
			/* a CPU that is drained later has recorded more meanwhile */
			uint64_t until = end + cpu * (next_random() % 500000);

			for (; time[cpu] < until && done < nr; done++) {
				sample(&g, cpu, time[cpu]);
				time[cpu] += 1 + next_random() % (2 * TICK_NS);
			}
			bytes += g.len;
			put(f, &g);
		}
		gen_round(&g);
	}
	bytes += g.len;
	put(f, &g);
	features(&g, (uint64_t)ftell(f), end, &bitmap);
	put(f, &g);
	head(&g, bytes, bitmap);
	rewind(f);
	put(f, &g);
	gen_free(&g);
	if (fclose(f)) {
		perror(argv[1]);
		return 1;
	}
	printf("%" PRIu64 "\n", nr);
	return 0;
}
