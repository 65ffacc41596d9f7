/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages that perf shares with user space, as memory: a control page, the data ring behind it, and
 * perhaps an AUX area (uapi linux/perf_event.h, struct perf_event_mmap_page). This is the reader's side of
 * both. Who made the memory, the kernel's mmap or a test, makes no difference here.
 *
 * One thread reads at a time.
 */
#ifndef DA_KRING_H
#define DA_KRING_H

#include <stddef.h>
#include <stdint.h>

struct kring {
	uint8_t *base; /* control page, then the data pages; NULL: none */
	size_t page, data_bytes;
	uint8_t *aux; /* NULL: no AUX area */
	size_t aux_bytes;
};

/* Copies what waits in the data ring, as far as whole records fit in cap (at least 65536), and frees it
 * there; bytes copied. */
size_t kring_drain(const struct kring *k, uint8_t *buf, size_t cap);

/* How many bytes were ever written to the AUX area, as far as the writer has told. */
uint64_t kring_aux_head(const struct kring *k);
/* Copies n bytes at a position of the stream of all AUX bytes; n is at most aux_bytes. */
void kring_aux_copy(const struct kring *k, uint64_t pos, void *to, size_t n);
/* What lies before `tail` was copied: the writer may use it again. */
void kring_aux_release(const struct kring *k, uint64_t tail);

/* For who maps: says in the control page where the AUX area is to be. */
void kring_aux_announce(const struct kring *k, uint64_t offset, uint64_t bytes);

#endif
