/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The vdso of a process that has already ended, from our own: a kernel has one image for all 64-bit tasks.
 * Of 32-bit and x32 tasks nothing is known here; their vdso lies below 4 GiB and is another image.
 */
#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "code_priv.h"

size_t code_vdso_read(const struct da_map *map, uint64_t addr, void *buf, size_t n)
{
#if defined(__x86_64__) || defined(__aarch64__)
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	uint64_t size = 0, page = (uint64_t)sysconf(_SC_PAGESIZE);
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	if (!image || map->kind != DA_MAP_VDSO || strcmp(map->name, "[vdso]") != 0 ||
	    map->start < 1ULL << 32)
		return 0;
	memcpy(&eh, image, sizeof(eh));
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		memcpy(&ph, image + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_LOAD && ph.p_offset + ph.p_filesz > size)
			size = ph.p_offset + ph.p_filesz;
	}
	/* the mapping is the image, in whole pages; more or fewer is another image */
	if ((size + page - 1) / page != (map->end - map->start) / page || addr - map->start >= size)
		return 0;
	if (n > size - (addr - map->start))
		n = (size_t)(size - (addr - map->start));
	memcpy(buf, image + (addr - map->start), n);
	return n;
#else
	(void)map;
	(void)addr;
	(void)buf;
	(void)n;
	return 0;
#endif
}
