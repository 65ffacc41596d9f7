/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading the rings that perf shares: positions only grow, a position modulo the size is a place. The
 * writer's head is read before what it covers, the reader's tail is written after it was copied. It does
 * not know what the bytes say, but for the sizes of records.
 */
#include "kring.h"

#include <linux/perf_event.h>
#include <string.h>

static struct perf_event_mmap_page *control(const struct kring *k)
{
	return (struct perf_event_mmap_page *)(void *)k->base;
}

/* n is at most the ring's size, a power of two. */
static void copy(const uint8_t *ring, size_t bytes, uint64_t pos, void *to, size_t n)
{
	size_t at = (size_t)(pos & (bytes - 1));
	size_t first = n < bytes - at ? n : bytes - at;

	memcpy(to, ring + at, first);
	memcpy((uint8_t *)to + first, ring, n - first);
}

size_t kring_drain(const struct kring *k, uint8_t *buf, size_t cap)
{
	const uint8_t *data;
	uint64_t head, tail;
	size_t n;

	if (!k->base)
		return 0;
	data = k->base + k->page;
	/* pairs with the kernel's smp_wmb() before it moves data_head (perf_output_put_handle) */
	head = __atomic_load_n(&control(k)->data_head, __ATOMIC_ACQUIRE);
	tail = control(k)->data_tail;
	n = (size_t)(head - tail);
	if (n > cap) {
		/* walk record headers to the last whole record that fits */
		uint64_t pos = tail;

		for (;;) {
			struct perf_event_header h;

			copy(data, k->data_bytes, pos, &h, sizeof(h));
			if (h.size < sizeof(h) || pos + h.size - tail > cap)
				break;
			pos += h.size;
		}
		n = (size_t)(pos - tail);
	}
	copy(data, k->data_bytes, tail, buf, n);
	/* the copy must be complete before the kernel may write there again */
	__atomic_store_n(&control(k)->data_tail, tail + n, __ATOMIC_RELEASE);
	return n;
}

/* Pairs with the kernel's smp_wmb() in perf_aux_output_end(). */
uint64_t kring_aux_head(const struct kring *k)
{
	return k->aux ? __atomic_load_n(&control(k)->aux_head, __ATOMIC_ACQUIRE) : 0;
}

void kring_aux_copy(const struct kring *k, uint64_t pos, void *to, size_t n)
{
	copy(k->aux, k->aux_bytes, pos, to, n);
}

/* Pairs with the kernel's control dependency on aux_tail in perf_aux_output_begin(). */
void kring_aux_release(const struct kring *k, uint64_t tail)
{
	__atomic_store_n(&control(k)->aux_tail, tail, __ATOMIC_RELEASE);
}

void kring_aux_announce(const struct kring *k, uint64_t offset, uint64_t bytes)
{
	control(k)->aux_offset = offset;
	control(k)->aux_size = bytes;
}
