/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nanoseconds an instruction: decoding alone, and look-up with resolution when nothing, the code object's
 * cache or the front cache knows it. On the code of the C library, with made-up registers.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "da_code.h"

#define MAX_INSNS 20000u
#define REGS_MASK 0xff03ffULL

static uint64_t insn_at[MAX_INSNS]; /* addresses in this process */
static size_t nr_insns;

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* others may be running */
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "bench_insn: %s\n", what);
	exit(1);
}

/* The executable mapping of the C library in this process. */
static struct da_rec_mmap find_libc(char name[256])
{
	unsigned long start, end, off, ino;
	unsigned maj, min;
	char line[512], prot[8];
	struct da_rec_mmap m = {.pid = 1000, .tid = 1000};
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %7s %lx %x:%x %lu %255s", &start, &end, prot, &off, &maj,
			   &min, &ino, name) != 8 ||
		    prot[2] != 'x' || !strstr(name, "libc.so"))
			continue;
		m.addr = start;
		m.len = end - start;
		m.pgoff = off;
		m.maj = maj;
		m.min = min;
		m.ino = ino;
		m.has_ino = m.has_prot = true;
		m.prot = PROT_READ | PROT_EXEC;
		m.flags = MAP_PRIVATE;
		m.filename = name;
		break;
	}
	if (!m.len)
		die("no C library found");
	fclose(f);
	return m;
}

/* Instructions spread over its code, as samples are: one in eight of those from qsort on. */
static void choose(const struct da_rec_mmap *m)
{
	struct da_insn_decoder *d = da_insn_decoder_new();
	uint64_t at = (uintptr_t)qsort;
	struct da_insn in;

	if (!d)
		die("out of memory");
	for (unsigned n = 0; nr_insns < MAX_INSNS && at + 16 < m->addr + m->len; n++) {
		da_insn_decode(d, DA_ARCH_X86_64, (const uint8_t *)(uintptr_t)at, 16, &in);
		if (n % 8 == 0)
			insn_at[nr_insns++] = at;
		at += in.len ? in.len : 1;
	}
	da_insn_decoder_free(d);
}

static void bench_decode(unsigned rounds)
{
	struct da_insn_decoder *d = da_insn_decoder_new();
	struct da_insn in;
	double start = now_ns();

	for (unsigned r = 0; d && r < rounds; r++)
		for (size_t i = 0; i < nr_insns; i++)
			da_insn_decode(d, DA_ARCH_X86_64, (const uint8_t *)(uintptr_t)insn_at[i],
				       16, &in);
	printf("decode, nothing cached: %.0f ns an instruction\n",
	       (now_ns() - start) / rounds / (double)nr_insns);
	da_insn_decoder_free(d);
}

/* AArch64 words from all over the load and store space; of this code there is none here. */
static void bench_arm64(unsigned rounds)
{
	struct da_insn_decoder *d = da_insn_decoder_new();
	unsigned accesses = 0;
	uint32_t w = 0x9e3779b9;
	struct da_insn in;
	double start = now_ns();

	for (unsigned i = 0; d && i < rounds; i++) {
		uint8_t b[4];

		w = w * 1664525 + 1013904223;
		b[0] = (uint8_t)(w >> 8);
		b[1] = (uint8_t)(w >> 16);
		b[2] = (uint8_t)(w >> 5);
		b[3] = (uint8_t)((w >> 24 & ~2u) | 8);
		da_insn_decode(d, DA_ARCH_ARM64, b, sizeof(b), &in);
		accesses += in.nr;
	}
	printf("decode, AArch64: %.0f ns an instruction (%u %% with an address)\n",
	       (now_ns() - start) / rounds, (unsigned)(100ULL * accesses / rounds));
	da_insn_decoder_free(d);
}

/* Looks up the first n instructions, rounds times over; ns of the last rounds - 1 or of the first. */
static double bench_lookup(struct da_code *c, size_t n, unsigned rounds, bool warm)
{
	uint64_t vals[18];
	struct da_regs regs = {
		.mask = REGS_MASK, .vals = (const uint8_t *)vals, .abi = 2, .arch = DA_ARCH_X86_64};
	struct da_access acc[DA_INSN_MAX_ACCESS];
	uint64_t time_ns = 1000000, sum = 0;
	double start = now_ns();
	unsigned nr;

	for (size_t i = 0; i < 18; i++)
		vals[i] = 0x7f0000000000 + 4096 * i;
	for (unsigned r = 0; r < rounds; r++) {
		if (r == 1 && warm)
			start = now_ns();
		for (size_t i = 0; i < n; i++) {
			const struct da_insn *in = da_code_insn(c, 1000, time_ns++, insn_at[i], 2);

			if (!in)
				die("no code");
			if (da_insn_resolve(in, insn_at[i], &regs, acc, &nr) < 0)
				sum += acc[0].vaddr;
		}
	}
	if (sum == 1)
		printf("\n"); /* so that it is computed */
	return (now_ns() - start) / (rounds - warm) / (double)n;
}

int main(void)
{
	char name[256];
	struct da_rec_mmap m = find_libc(name);
	struct da_tasks *tasks = da_tasks_new();
	struct da_code_store *s = tasks ? da_code_store_new(tasks, DA_ARCH_X86_64) : NULL;
	struct da_code *c = s ? da_code_new(s) : NULL;

	if (!c || da_tasks_mmap(tasks, &m, 1) < 0)
		die("out of memory");
	da_code_store_files(s, true);
	choose(&m);
	bench_decode(10);
	bench_arm64(2000000);
	printf("look-up and resolve, from the file: %.0f ns\n",
	       bench_lookup(c, nr_insns, 1, false));
	printf("look-up and resolve, %zu instructions in turn (object cache): %.0f ns\n", nr_insns,
	       bench_lookup(c, nr_insns, 10, true));
	printf("look-up and resolve, 100 instructions in turn (front cache): %.0f ns\n",
	       bench_lookup(c, 100, 20000, true));
	da_code_free(c);
	da_code_store_free(s);
	da_tasks_free(tasks);
	return 0;
}
