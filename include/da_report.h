/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The access report: one memory access that a producer saw. A plain value, copied freely, owns nothing.
 *
 * A field may be read only if its DA_HAS_ bit is set: 0 is a legal address. One sample record can give
 * several reports (movs, push of memory). pid and tid are global ids; namespaces only when printing.
 */
#ifndef DA_REPORT_H
#define DA_REPORT_H

#include <stdint.h>

enum da_has {
	DA_HAS_TIME = 1 << 0,
	DA_HAS_CPU = 1 << 1,
	DA_HAS_TASK = 1 << 2, /* pid and tid */
	DA_HAS_IP = 1 << 3,
	DA_HAS_VADDR = 1 << 4,
	DA_HAS_PADDR = 1 << 5,
	DA_HAS_SIZE = 1 << 6,
	DA_HAS_LATENCY = 1 << 7,
	DA_HAS_DATA_SRC = 1 << 8,
	DA_HAS_PAGE_SIZE = 1 << 9,
	DA_HAS_PERIOD = 1 << 10,
	DA_HAS_TAG = 1 << 11,    /* top-byte tag of the virtual address, kept apart */
	DA_HAS_OP = 1 << 12,     /* op is known; without it neither read nor write may be assumed */
	DA_HAS_EVENTS = 1 << 13, /* hw_events: SPE events packet */
	DA_HAS_TID =
		1 << 14, /* tid alone: its process is not resolved yet; never with DA_HAS_TASK */
	DA_HAS_TICKS =
		1 << 15 /* time_ns holds ticks of the PMU's counter; never with DA_HAS_TIME */
};

enum da_op { DA_OP_READ = 1, DA_OP_WRITE = 2 }; /* both bits: a read-modify-write */

enum da_how {
	DA_HOW_NONE,
	DA_HOW_HARDWARE,      /* the PMU gave the address */
	DA_HOW_FAULT,         /* a page fault's own address */
	DA_HOW_DECODED,       /* instruction at IP and registers */
	DA_HOW_RECONSTRUCTED, /* another instruction of the block */
	DA_HOW_SYNTHETIC,     /* the fake producer */
	DA_HOW_NR
};

enum da_role { DA_ROLE_NONE, DA_ROLE_STALL, DA_ROLE_BYSTANDER, DA_ROLE_NEXT_PASS, DA_ROLE_NR };

enum da_ctx { /* execution context: misc bits 2:0 of the record */
	      DA_CTX_UNKNOWN,
	      DA_CTX_KERNEL,
	      DA_CTX_USER,
	      DA_CTX_HYPERVISOR,
	      DA_CTX_GUEST_KERNEL,
	      DA_CTX_GUEST_USER
};

enum da_paddr_how { DA_PADDR_NONE, DA_PADDR_SAMPLED, DA_PADDR_WALKED /* pagemap, later */ };

struct da_report {
	uint32_t has;     /* enum da_has */
	uint32_t event;   /* producer: index of the event in the recording */
	uint64_t time_ns; /* clock of the recording; with DA_HAS_TICKS not converted yet */
	uint64_t ip;
	uint64_t vaddr;
	uint64_t paddr;
	uint64_t period;    /* events of the producer that this sample stands for */
	uint64_t data_src;  /* perf_mem_data_src bits (uapi linux/perf_event.h) */
	uint64_t page_size; /* bytes */
	uint32_t pid, tid;
	uint32_t cpu;
	uint32_t size;      /* bytes accessed; an upper bound where size_is_max */
	uint32_t latency;   /* cycles */
	uint16_t hw_events; /* low 16 bits of the SPE events packet */
	uint8_t op;         /* enum da_op bits */
	uint8_t how;        /* enum da_how */
	uint8_t role;       /* enum da_role */
	uint8_t ctx;        /* enum da_ctx */
	uint8_t paddr_how;  /* enum da_paddr_how */
	uint8_t tag;
	uint8_t size_is_max; /* masked or tail-dependent access: size is an upper bound */
};

const char *da_how_name(enum da_how how);

#endif
