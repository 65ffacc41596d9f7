/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a recording with Arm SPE traces, as `perf record -e arm_spe//` on four CPUs would: for
 * report-spe.sh, and to try things.
 *
 *	gen_spe_data FILE MIB [MIX [SEED]]	MIX: one, neoverse (default), compact, many
 *
 * Records stand in pieces of 1 MiB that wrap as perf's reads do, each with its AUX record. Eight processes
 * with their mappings run in turn; the records' CONTEXT packets name them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "da_report.h"
#include "gen_spe.h"
#include "perfgen.h"

#define PMU     9
#define NR_CPUS 4
#define PIECE   ((size_t)1 << 20)
#define SLICE   ((size_t)1 << 16) /* of one process: about a thousand records */
#define T0      1000000000ull

static struct gen_file file = {
	.nr_ev = 2,
	.ev = {
		{.attr = {.type = PMU,
			  .config = 0x700010007,
			  .sample_period = 1024,
			  .sample_type = DA_SAMPLE_IDENTIFIER | DA_SAMPLE_IP | DA_SAMPLE_TID |
					 DA_SAMPLE_TIME | DA_SAMPLE_CPU | DA_SAMPLE_PERIOD |
					 DA_SAMPLE_ADDR | DA_SAMPLE_PHYS_ADDR | DA_SAMPLE_DATA_SRC |
					 DA_SAMPLE_WEIGHT,
			  .flags = DA_ATTR_SAMPLE_ID_ALL},
		 .name = "arm_spe_0//",
		 .ids = {11},
		 .nr_ids = 1},
		{.attr = {.type = DA_TYPE_SOFTWARE,
			  .config = DA_SW_DUMMY,
			  .sample_period = 1,
			  .sample_type = DA_SAMPLE_IDENTIFIER | DA_SAMPLE_IP | DA_SAMPLE_TID |
					 DA_SAMPLE_TIME | DA_SAMPLE_CPU,
			  .flags = DA_ATTR_SAMPLE_ID_ALL | DA_ATTR_MMAP | DA_ATTR_COMM},
		 .name = "dummy:u",
		 .ids = {21},
		 .nr_ids = 1},
	}};

static void map(uint32_t pid, uint64_t start, uint64_t len, uint32_t prot, const char *name)
{
	size_t rec = gen_rec(&file.data, DA_REC_MMAP2, DA_CTX_USER);

	gen_u32(&file.data, pid);
	gen_u32(&file.data, pid);
	gen_u64(&file.data, start);
	gen_u64(&file.data, len);
	gen_u64(&file.data, 0);
	gen_u32(&file.data, 8);
	gen_u32(&file.data, 1);
	gen_u64(&file.data, 4711);
	gen_u64(&file.data, 0);
	gen_u32(&file.data, prot);
	gen_u32(&file.data, MAP_PRIVATE);
	gen_padded(&file.data, name, 8);
	gen_trailer(&file.data, &file.ev[1].attr, pid, pid, T0, 21, 0);
	gen_end(&file.data, rec);
}

static void processes(void)
{
	for (uint32_t pid = 1000; pid < 1008; pid++) {
		gen_comm(&file.data, &file.ev[1].attr, "worker", pid, T0, 21);
		map(pid, 0xaaaad0000000, 0x10000, PROT_READ | PROT_EXEC, "/usr/bin/worker");
		for (uint64_t i = 0; i < 4; i++)
			map(pid, 0xffff80000000 + i * 0x40000000, 0x4000000, PROT_READ | PROT_WRITE,
			    "//anon");
	}
}

static void head(void)
{
	size_t rec;

	gen_features(&file);
	gen_free(&file.feature[6]);
	gen_u32(&file.feature[6], 64);
	gen_padded(&file.feature[6], "aarch64", 64);
	gen_free(&file.feature[9]);
	gen_u32(&file.feature[9], 64);
	gen_padded(&file.feature[9], "0x00000000410fd0c0", 64);
	gen_free(&file.feature[DA_FEAT_PMU_MAPPINGS]);
	gen_u32(&file.feature[DA_FEAT_PMU_MAPPINGS], 1);
	gen_u32(&file.feature[DA_FEAT_PMU_MAPPINGS], PMU);
	gen_u32(&file.feature[DA_FEAT_PMU_MAPPINGS], 64);
	gen_padded(&file.feature[DA_FEAT_PMU_MAPPINGS], "arm_spe_0", 64);
	rec = gen_rec(&file.data, DA_REC_TIME_CONV, 0);
	gen_u64(&file.data, 0);
	gen_u64(&file.data, 10); /* 100 MHz */
	gen_u64(&file.data, T0);
	gen_end(&file.data, rec);
	rec = gen_rec(&file.data, DA_REC_AUXTRACE_INFO, 0);
	gen_u32(&file.data, 4);
	gen_u32(&file.data, 0);
	gen_u64(&file.data, PMU);
	gen_u64(&file.data, 0);
	gen_end(&file.data, rec);
	processes();
}

static void piece(uint32_t cpu, uint64_t offset, const uint8_t *p, uint64_t time)
{
	size_t rec = gen_rec(&file.data, DA_REC_AUX, 0);

	gen_u64(&file.data, offset);
	gen_u64(&file.data, PIECE);
	gen_u64(&file.data, 0);
	gen_trailer(&file.data, &file.ev[0].attr, 1000, 1000, time, 11, cpu);
	gen_end(&file.data, rec);
	rec = gen_rec(&file.data, DA_REC_AUXTRACE, 0);
	gen_u64(&file.data, PIECE);
	gen_u64(&file.data, offset);
	gen_u64(&file.data, 1);
	gen_u32(&file.data, cpu);
	gen_u32(&file.data, UINT32_MAX);
	gen_u32(&file.data, cpu);
	gen_u32(&file.data, 0);
	gen_end(&file.data, rec);
	gen_bytes(&file.data, p, PIECE);
}

static enum gen_spe_mix mix_of(const char *name)
{
	static const char *const names[] = {"one", "neoverse", "compact", "many"};

	for (int i = 0; i < 4; i++)
		if (!strcmp(name, names[i]))
			return (enum gen_spe_mix)i;
	fprintf(stderr, "no mix '%s'\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	size_t mib = argc >= 3 ? strtoull(argv[2], NULL, 0) : 0, nr = 0;
	enum gen_spe_mix mix = mix_of(argc >= 4 ? argv[3] : "neoverse");
	struct gen_spe g = gen_spe_new(argc >= 5 ? strtoull(argv[4], NULL, 0) : 1, mix);
	uint8_t *bytes = malloc(PIECE);
	struct gen out = {0};
	FILE *f;

	if (!mib || !bytes) {
		fprintf(stderr, "usage: gen_spe_data FILE MIB [MIX [SEED]]\n");
		return 2;
	}
	head();
	for (size_t i = 0; i < mib; i++) {
		for (size_t at = 0; at < PIECE; at += SLICE) {
			g.tid = 1000 + (uint32_t)(gen_spe_random(&g) >> 40 & 7);
			nr += gen_spe_fill(&g, bytes + at, SLICE);
		}
		piece((uint32_t)(i % NR_CPUS), i / NR_CPUS * PIECE, bytes, T0 + g.ticks * 10);
		if (i % NR_CPUS == NR_CPUS - 1)
			gen_round(&file.data);
	}
	gen_file_build(&file, &out);
	f = fopen(argv[1], "wb");
	if (!f || fwrite(out.p, 1, out.len, f) != out.len || fclose(f)) {
		perror(argv[1]);
		return 1;
	}
	printf("%zu\n", nr);
	gen_free(&out);
	gen_file_free(&file);
	free(bytes);
	return 0;
}
