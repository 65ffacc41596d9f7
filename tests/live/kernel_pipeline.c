/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stand-in for a kdamond with a perf event: every 5 ms it calls what tests/live/kernel-pipeline.sh has probes on,
 * which then look like the kernel series' tracepoints. Until it is killed.
 *
 *	kernel_pipeline SAMPLES MISSED DRAINED	how many each time; "-" for DRAINED: it never drains
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROBED __attribute__((noinline, noclone, used))

PROBED void kp_sample(unsigned long addr, unsigned long cpu, unsigned long period)
{
	__asm__ volatile("" ::"r"(addr), "r"(cpu), "r"(period));
}

PROBED void kp_missed(unsigned long count)
{
	__asm__ volatile("" ::"r"(count));
}

PROBED void kp_drain(unsigned long drained, unsigned long matched, unsigned long updated)
{
	__asm__ volatile("" ::"r"(drained), "r"(matched), "r"(updated));
}

int main(int argc, char **argv)
{
	unsigned long samples, missed, drained;

	if (argc < 4)
		return 2;
	samples = strtoul(argv[1], NULL, 10);
	missed = strtoul(argv[2], NULL, 10);
	drained = strtoul(argv[3], NULL, 10);
	for (;;) {
		for (unsigned long i = 0; i < samples; i++)
			kp_sample(0x7f0000001000 + 64 * i, i & 3, 100);
		if (missed)
			kp_missed(missed);
		if (strcmp(argv[3], "-"))
			kp_drain(drained, drained ? drained - 1 : 0, drained > 1);
		usleep(5000);
	}
}
