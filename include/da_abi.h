/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of the perf ABI that files and records hold. Sources: uapi linux/perf_event.h,
 * tools/lib/perf/include/perf/event.h. Ours, because a file may come from a newer kernel than the
 * headers that this program was compiled with.
 */
#ifndef DA_ABI_H
#define DA_ABI_H

enum da_rec_type {
	DA_REC_MMAP = 1,
	DA_REC_LOST = 2,
	DA_REC_COMM = 3,
	DA_REC_EXIT = 4,
	DA_REC_THROTTLE = 5,
	DA_REC_UNTHROTTLE = 6,
	DA_REC_FORK = 7,
	DA_REC_READ = 8,
	DA_REC_SAMPLE = 9,
	DA_REC_MMAP2 = 10,
	DA_REC_AUX = 11,
	DA_REC_ITRACE_START = 12,
	DA_REC_LOST_SAMPLES = 13,
	DA_REC_SWITCH = 14,
	DA_REC_SWITCH_CPU_WIDE = 15,
	DA_REC_NAMESPACES = 16,
	DA_REC_KSYMBOL = 17,
	DA_REC_BPF_EVENT = 18,
	DA_REC_CGROUP = 19,
	DA_REC_TEXT_POKE = 20,
	DA_REC_AUX_OUTPUT_HW_ID = 21,
	DA_REC_CALLCHAIN_DEFERRED = 22,
	/* perf's own records, no sample_id trailer */
	DA_REC_HEADER_ATTR = 64,
	DA_REC_HEADER_EVENT_TYPE =
		65, /* deprecated, skipped by perf: carries our own data (da_own.h) */
	DA_REC_TRACING_DATA = 66,
	DA_REC_BUILD_ID = 67,
	DA_REC_FINISHED_ROUND = 68,
	DA_REC_ID_INDEX = 69,
	DA_REC_AUXTRACE_INFO = 70,
	DA_REC_AUXTRACE = 71,
	DA_REC_AUXTRACE_ERROR = 72,
	DA_REC_THREAD_MAP = 73,
	DA_REC_CPU_MAP = 74,
	DA_REC_STAT_CONFIG = 75,
	DA_REC_STAT = 76,
	DA_REC_STAT_ROUND = 77,
	DA_REC_EVENT_UPDATE = 78,
	DA_REC_TIME_CONV = 79,
	DA_REC_HEADER_FEATURE = 80,
	DA_REC_COMPRESSED = 81,
	DA_REC_FINISHED_INIT = 82,
	DA_REC_COMPRESSED2 = 83,
	DA_REC_BPF_METADATA = 84,
	DA_REC_SCHEDSTAT_CPU = 85,
	DA_REC_SCHEDSTAT_DOMAIN = 86
};

#define DA_MISC_CPUMODE       0x7
#define DA_MISC_EXEC          (1u << 13) /* COMM: by exec */
#define DA_MISC_MMAP_DATA     (1u << 13) /* MMAP: not executable */
#define DA_MISC_SWITCH_OUT    (1u << 13)
#define DA_MISC_MMAP_BUILD_ID (1u << 14) /* MMAP2 */
#define DA_MISC_BUILD_ID_SIZE (1u << 15) /* BUILD_ID: size byte valid */

/* sample_type bits, in bit order (the order inside a record differs: src/perfrec.c) */
#define DA_SAMPLE_IP             (1ull << 0)
#define DA_SAMPLE_TID            (1ull << 1)
#define DA_SAMPLE_TIME           (1ull << 2)
#define DA_SAMPLE_ADDR           (1ull << 3)
#define DA_SAMPLE_READ           (1ull << 4)
#define DA_SAMPLE_CALLCHAIN      (1ull << 5)
#define DA_SAMPLE_ID             (1ull << 6)
#define DA_SAMPLE_CPU            (1ull << 7)
#define DA_SAMPLE_PERIOD         (1ull << 8)
#define DA_SAMPLE_STREAM_ID      (1ull << 9)
#define DA_SAMPLE_RAW            (1ull << 10)
#define DA_SAMPLE_BRANCH_STACK   (1ull << 11)
#define DA_SAMPLE_REGS_USER      (1ull << 12)
#define DA_SAMPLE_STACK_USER     (1ull << 13)
#define DA_SAMPLE_WEIGHT         (1ull << 14)
#define DA_SAMPLE_DATA_SRC       (1ull << 15)
#define DA_SAMPLE_IDENTIFIER     (1ull << 16)
#define DA_SAMPLE_TRANSACTION    (1ull << 17)
#define DA_SAMPLE_REGS_INTR      (1ull << 18)
#define DA_SAMPLE_PHYS_ADDR      (1ull << 19)
#define DA_SAMPLE_AUX            (1ull << 20)
#define DA_SAMPLE_CGROUP         (1ull << 21)
#define DA_SAMPLE_DATA_PAGE_SIZE (1ull << 22)
#define DA_SAMPLE_CODE_PAGE_SIZE (1ull << 23)
#define DA_SAMPLE_WEIGHT_STRUCT  (1ull << 24)
#define DA_SAMPLE_KNOWN          ((1ull << 25) - 1)

/* attr.flags bits */
#define DA_ATTR_DISABLED       (1ull << 0)
#define DA_ATTR_INHERIT        (1ull << 1)
#define DA_ATTR_PINNED         (1ull << 2)
#define DA_ATTR_EXCLUSIVE      (1ull << 3)
#define DA_ATTR_EXCLUDE_USER   (1ull << 4)
#define DA_ATTR_EXCLUDE_KERNEL (1ull << 5)
#define DA_ATTR_EXCLUDE_HV     (1ull << 6)
#define DA_ATTR_EXCLUDE_IDLE   (1ull << 7)
#define DA_ATTR_MMAP           (1ull << 8)
#define DA_ATTR_COMM           (1ull << 9)
#define DA_ATTR_FREQ           (1ull << 10)
#define DA_ATTR_INHERIT_STAT   (1ull << 11)
#define DA_ATTR_ENABLE_ON_EXEC (1ull << 12)
#define DA_ATTR_TASK           (1ull << 13)
#define DA_ATTR_WATERMARK      (1ull << 14)
#define DA_ATTR_PRECISE_SHIFT  15
#define DA_ATTR_PRECISE_MASK   (3ull << 15)
#define DA_ATTR_MMAP_DATA      (1ull << 17)
#define DA_ATTR_SAMPLE_ID_ALL  (1ull << 18)
#define DA_ATTR_MMAP2          (1ull << 23)
#define DA_ATTR_COMM_EXEC      (1ull << 24)
#define DA_ATTR_USE_CLOCKID    (1ull << 25)
#define DA_ATTR_CONTEXT_SWITCH (1ull << 26)
#define DA_ATTR_NAMESPACES     (1ull << 28)
#define DA_ATTR_BUILD_ID       (1ull << 34)

/* read_format bits */
#define DA_FORMAT_TIME_ENABLED (1u << 0)
#define DA_FORMAT_TIME_RUNNING (1u << 1)
#define DA_FORMAT_ID           (1u << 2)
#define DA_FORMAT_GROUP        (1u << 3)
#define DA_FORMAT_LOST         (1u << 4)

/* attr.type */
enum da_pmu_type {
	DA_TYPE_HARDWARE,
	DA_TYPE_SOFTWARE,
	DA_TYPE_TRACEPOINT,
	DA_TYPE_HW_CACHE,
	DA_TYPE_RAW,
	DA_TYPE_BREAKPOINT
};
/* attr.config of DA_TYPE_HARDWARE / DA_TYPE_SOFTWARE, those used here */
#define DA_HW_CPU_CYCLES       0
#define DA_SW_CPU_CLOCK        0
#define DA_SW_TASK_CLOCK       1
#define DA_SW_PAGE_FAULTS      2
#define DA_SW_CONTEXT_SWITCHES 3
#define DA_SW_CPU_MIGRATIONS   4
#define DA_SW_PAGE_FAULTS_MIN  5
#define DA_SW_PAGE_FAULTS_MAJ  6
#define DA_SW_ALIGNMENT_FAULTS 7
#define DA_SW_EMULATION_FAULTS 8
#define DA_SW_DUMMY            9
#define DA_SW_BPF_OUTPUT       10
#define DA_SW_CGROUP_SWITCHES  11

/* feature section bits of the file header */
enum da_feat {
	DA_FEAT_TRACING_DATA = 1,
	DA_FEAT_BUILD_ID,
	DA_FEAT_HOSTNAME,
	DA_FEAT_OSRELEASE,
	DA_FEAT_VERSION,
	DA_FEAT_ARCH,
	DA_FEAT_NRCPUS,
	DA_FEAT_CPUDESC,
	DA_FEAT_CPUID,
	DA_FEAT_TOTAL_MEM,
	DA_FEAT_CMDLINE,
	DA_FEAT_EVENT_DESC,
	DA_FEAT_CPU_TOPOLOGY,
	DA_FEAT_NUMA_TOPOLOGY,
	DA_FEAT_BRANCH_STACK,
	DA_FEAT_PMU_MAPPINGS,
	DA_FEAT_GROUP_DESC,
	DA_FEAT_AUXTRACE,
	DA_FEAT_STAT,
	DA_FEAT_CACHE,
	DA_FEAT_SAMPLE_TIME,
	DA_FEAT_MEM_TOPOLOGY,
	DA_FEAT_CLOCKID,
	DA_FEAT_DIR_FORMAT,
	DA_FEAT_BPF_PROG_INFO,
	DA_FEAT_BPF_BTF,
	DA_FEAT_COMPRESSED,
	DA_FEAT_CPU_PMU_CAPS,
	DA_FEAT_CLOCK_DATA,
	DA_FEAT_HYBRID_TOPOLOGY,
	DA_FEAT_PMU_CAPS
};

#endif
