/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The semaphores of the probe points (usdt.h): how many have attached to each. The kernel writes them; nothing here
 * does.
 */
#include "usdt.h"

#ifdef _SDT_HAS_SEMAPHORES
#define SEMAPHORE(name)                                                                            \
	volatile unsigned short damon_attrs_##name##_semaphore __attribute__((section(".probes")))

SEMAPHORE(sample);
SEMAPHORE(report_missed);
SEMAPHORE(drain);
#else
typedef int usdt_needs_a_declaration; /* ISO C wants one in each file */
#endif
