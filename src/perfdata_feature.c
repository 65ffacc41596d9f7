/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Feature sections of a recording: where they lie, and the few whose contents are shown or needed.
 *
 * The others are skipped by size; their bytes are read when somebody asks (da_reader_feature()). A section
 * that does not fit its bytes is damage and costs that section only.
 */
#include <stdlib.h>
#include <string.h>

#include "da_cursor.h"
#include "perfdata_priv.h"

#define SECTION_MAX (64u << 20) /* larger than any section that is read whole */
#define LIST_MAX    65536 /* strings of a list that are kept: some take 4 bytes of the file only */
#define ZSTD_TYPE   1

static bool has(const struct da_reader *r, unsigned bit)
{
	return r->features->f[bit].present;
}

/* ---- the table ---- */

int features_table(struct da_reader *r, const uint64_t bitmap[NR_FEATURES / 64], uint64_t table,
		   struct da_error *err)
{
	const struct input *in = &r->inputs[0];

	for (unsigned bit = 0; bit < NR_FEATURES; bit++) {
		struct da_cur c;
		uint8_t entry[16];
		uint64_t off, size;
		int ret;

		if (!(bitmap[bit / 64] >> (bit % 64) & 1))
			continue;
		if (table > in->size || in->size - table < sizeof(entry)) {
			reader_damage(r, "'%s': the table of feature sections is cut off",
				      in->name);
			return 0;
		}
		ret = input_read(in, table, entry, sizeof(entry), err);
		if (ret < 0)
			return ret;
		table += sizeof(entry);
		c = da_cur_from(entry, sizeof(entry), r->swap);
		off = da_cur_u64(&c);
		size = da_cur_u64(&c);
		if (off > in->size || size > in->size - off) {
			reader_damage(r, "'%s': feature section %u lies beyond the end of the file",
				      in->name, bit);
			continue;
		}
		r->features->f[bit] = (struct feature){.present = true, .off = off, .size = size};
	}
	return 0;
}

/* The bytes of a section, read once; NULL: absent, or *err says why. */
static const uint8_t *section(const struct da_reader *r, unsigned bit, size_t *size,
			      struct da_error *err)
{
	struct feature *f = &r->features->f[bit];

	*size = 0;
	if (!f->present)
		return NULL;
	if (!f->bytes) {
		if (f->size > SECTION_MAX) {
			da_fail(err, DA_ENOMEM, 0, "feature section %u of '%s' is too large", bit,
				r->path);
			return NULL;
		}
		f->bytes = malloc(f->size ? (size_t)f->size : 1);
		if (!f->bytes) {
			reader_no_memory(r, err);
			return NULL;
		}
		if (input_read(&r->inputs[0], f->off, f->bytes, (size_t)f->size, err) < 0) {
			free(f->bytes);
			f->bytes = NULL;
			return NULL;
		}
	}
	*size = (size_t)f->size;
	return f->bytes;
}

const uint8_t *da_reader_feature(const struct da_reader *r, unsigned bit, size_t *size)
{
	struct da_error err = {0};

	*size = 0;
	return bit < NR_FEATURES ? section(r, bit, size, &err) : NULL;
}

/* ---- pieces ---- */

/* u32 length, then so many bytes that hold a string and its padding. *len: up to the NUL. NULL: damaged. */
static const char *take_string(struct da_cur *c, size_t *len)
{
	uint32_t size = da_cur_u32(c);
	const uint8_t *s = da_cur_bytes(c, size);

	*len = s ? strnlen((const char *)s, size) : 0;
	return (const char *)s;
}

static char *own_string(struct da_reader *r, const char *s, size_t len)
{
	return reader_own(r, strndup(s, len));
}

static void bad_section(struct da_reader *r, unsigned bit)
{
	reader_damage(r, "'%s': feature section %u does not fit its %llu bytes", r->inputs[0].name,
		      bit, (unsigned long long)r->features->f[bit].size);
}

/* ---- the sections that are read ---- */

static int parse_string(struct da_reader *r, unsigned bit, struct da_cur *c)
{
	struct da_file_info *i = &r->info;
	const char **dst = bit == DA_FEAT_HOSTNAME    ? &i->hostname
			   : bit == DA_FEAT_OSRELEASE ? &i->osrelease
			   : bit == DA_FEAT_VERSION   ? &i->version
			   : bit == DA_FEAT_ARCH      ? &i->arch
			   : bit == DA_FEAT_CPUDESC   ? &i->cpudesc
						      : &i->cpuid;
	size_t len;
	const char *s = take_string(c, &len);

	if (!s)
		return 0;
	*dst = own_string(r, s, len);
	return *dst ? 0 : -DA_ENOMEM;
}

static int parse_cmdline(struct da_reader *r, unsigned bit, struct da_cur *c)
{
	uint32_t nr = da_cur_u32(c);
	const char **argv;

	(void)bit;
	if (nr > LIST_MAX || nr > da_cur_left(c) / 4) {
		c->bad = true;
		return 0;
	}
	argv = reader_own(r, calloc((size_t)nr + 1, sizeof(*argv)));
	if (!argv)
		return -DA_ENOMEM;
	for (uint32_t k = 0; k < nr; k++) {
		size_t len;
		const char *s = take_string(c, &len);

		if (!s)
			return 0;
		argv[k] = own_string(r, s, len);
		if (!argv[k])
			return -DA_ENOMEM;
		r->info.cmdline = argv;
		r->info.nr_cmdline = k + 1;
	}
	return 0;
}

/* The event that an entry of EVENT_DESC names: by its first id, else by its place. */
static size_t described_event(const struct da_reader *r, size_t place, const struct da_attr *a,
			      bool has_id, uint64_t id)
{
	const struct events *e = &r->events;
	uint32_t by_id = has_id ? events_by_id(e, id) : NO_EVENT;

	if (by_id != NO_EVENT)
		return by_id;
	if (place < e->nr && e->ev[place].attr.type == a->type &&
	    e->ev[place].attr.config == a->config)
		return place;
	return e->nr;
}

static int parse_event_desc(struct da_reader *r, unsigned bit, struct da_cur *c)
{
	uint32_t nr = da_cur_u32(c), attr_size = da_cur_u32(c);

	(void)bit;
	for (uint32_t k = 0; k < nr && da_cur_ok(c); k++) {
		const uint8_t *bytes = da_cur_bytes(c, attr_size), *ids;
		uint32_t nr_ids = da_cur_u32(c);
		size_t len, event;
		const char *name = take_string(c, &len);
		struct da_attr a;
		struct da_cur id;

		ids = da_cur_array(c, nr_ids, 8);
		if (!da_cur_ok(c))
			break;
		if (da_attr_parse(bytes, attr_size, r->swap, &a) < 0) {
			c->bad = true;
			break;
		}
		id = da_cur_from(ids, 8 * (size_t)nr_ids, r->swap);
		event = described_event(r, k, &a, nr_ids > 0, nr_ids ? da_cur_u64(&id) : 0);
		if (event < r->events.nr && len &&
		    events_set_name(&r->events, event, name, len) < 0)
			return -DA_ENOMEM;
	}
	return 0;
}

static int parse_pmu_mappings(struct da_reader *r, unsigned bit, struct da_cur *c)
{
	struct features *f = r->features;
	uint32_t nr = da_cur_u32(c);

	(void)bit;
	if (nr > LIST_MAX || nr > da_cur_left(c) / 8) {
		c->bad = true;
		return 0;
	}
	f->pmu = calloc((size_t)nr + 1, sizeof(*f->pmu));
	if (!f->pmu)
		return -DA_ENOMEM;
	for (uint32_t k = 0; k < nr; k++) {
		uint32_t type = da_cur_u32(c);
		size_t len;
		const char *name = take_string(c, &len);

		if (!name)
			return 0;
		f->pmu[k] = (struct pmu_name){.type = type, .name = strndup(name, len)};
		if (!f->pmu[k].name)
			return -DA_ENOMEM;
		f->nr_pmu = k + 1;
	}
	return 0;
}

static int parse_numbers(struct da_reader *r, unsigned bit, struct da_cur *c)
{
	struct da_file_info *i = &r->info;

	switch (bit) {
	case DA_FEAT_NRCPUS:
		i->nr_cpus_avail = da_cur_u32(c);
		i->nr_cpus_online = da_cur_u32(c);
		break;
	case DA_FEAT_TOTAL_MEM:
		i->total_mem_kib = da_cur_u64(c);
		break;
	case DA_FEAT_SAMPLE_TIME:
		i->sample_time_first_ns = da_cur_u64(c);
		i->sample_time_last_ns = da_cur_u64(c);
		break;
	case DA_FEAT_CLOCKID:
		i->clockid_res_ns = da_cur_u64(c);
		break;
	case DA_FEAT_COMPRESSED:
		da_cur_skip(c, 4); /* version */
		if (da_cur_u32(c) != ZSTD_TYPE && da_cur_ok(c))
			r->features->comp_unsupported = true;
		da_cur_skip(c, 8); /* level, ratio */
		r->features->comp_mmap_len = da_cur_u32(c);
		break;
	}
	return 0;
}

static const struct {
	unsigned bit;
	/* 0, also when the bytes do not fit (the cursor says so), or -DA_ENOMEM */
	int (*parse)(struct da_reader *r, unsigned bit, struct da_cur *c);
} parsers[] = {
	{DA_FEAT_HOSTNAME, parse_string},
	{DA_FEAT_OSRELEASE, parse_string},
	{DA_FEAT_VERSION, parse_string},
	{DA_FEAT_ARCH, parse_string},
	{DA_FEAT_NRCPUS, parse_numbers},
	{DA_FEAT_CPUDESC, parse_string},
	{DA_FEAT_CPUID, parse_string},
	{DA_FEAT_TOTAL_MEM, parse_numbers},
	{DA_FEAT_CMDLINE, parse_cmdline},
	{DA_FEAT_EVENT_DESC, parse_event_desc},
	{DA_FEAT_PMU_MAPPINGS, parse_pmu_mappings},
	{DA_FEAT_SAMPLE_TIME, parse_numbers},
	{DA_FEAT_CLOCKID, parse_numbers},
	{DA_FEAT_COMPRESSED, parse_numbers},
};

int features_parse(struct da_reader *r, struct da_error *err)
{
	for (size_t k = 0; k < sizeof(parsers) / sizeof(parsers[0]); k++) {
		unsigned bit = parsers[k].bit;
		const uint8_t *bytes;
		struct da_cur c;
		size_t size;

		if (!has(r, bit) || !r->features->f[bit].size)
			continue; /* a bit alone says nothing, and some recorders could not say more */
		if (r->features->f[bit].size > SECTION_MAX) {
			bad_section(r, bit);
			continue;
		}
		bytes = section(r, bit, &size, err);
		if (!bytes)
			return -err->code;
		c = da_cur_from(bytes, size, r->swap);
		if (parsers[k].parse(r, bit, &c) < 0)
			return reader_no_memory(r, err);
		if (!da_cur_ok(&c))
			bad_section(r, bit);
	}
	return 0;
}

void features_release(struct features *f)
{
	for (size_t k = 0; k < NR_FEATURES; k++)
		free(f->f[k].bytes);
	for (size_t k = 0; k < f->nr_pmu; k++)
		free(f->pmu[k].name);
	free(f->pmu);
}

/* ---- what the caller asks ---- */

const char *da_reader_pmu_name(const struct da_reader *r, uint32_t type)
{
	for (size_t k = 0; k < r->features->nr_pmu; k++) {
		if (r->features->pmu[k].type == type)
			return r->features->pmu[k].name;
	}
	return NULL;
}

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

enum da_arch da_reader_arch(const struct da_reader *r)
{
	const char *arch = r->info.arch;

	if (!arch)
		return DA_ARCH_UNKNOWN;
	if (!strcmp(arch, "x86_64"))
		return DA_ARCH_X86_64;
	/* uname(2) says i386 ... i686 */
	if (!strcmp(arch, "x86") ||
	    (arch[0] == 'i' && strlen(arch) == 4 && !strcmp(arch + 2, "86")))
		return DA_ARCH_X86_32;
	if (begins(arch, "aarch64") || begins(arch, "arm64"))
		return DA_ARCH_ARM64;
	if (begins(arch, "arm"))
		return DA_ARCH_ARM32;
	return DA_ARCH_UNKNOWN;
}
