/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AMD IBS against others: what perf printed of the vectors in ../shared, and published dumps of registers and
 * of a thousand samples. Without ../shared nothing is compared, and it says so.
 */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>

#include "ibs_sample.h"
#include "vector_text.h"

/* ---- perf's text ---- */

/* The number behind "NAME " in a line of perf's dump; -1 if the name is not there. */
static int64_t number_of(const char *line, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = line; (p = strstr(p, name)); p += n)
		if (p[n] == ' ' && (p == line || p[-1] == ' ' || p[-1] == '\t'))
			return strtoll(p + n, NULL, 10);
	return -1;
}

struct named {
	const char *name;
	uint64_t value;
};

/* Every name that the line has must have this value. Returns how many it had. */
static unsigned same_numbers(const char *vector_name, const char *line, const struct named *n,
			     size_t nr)
{
	unsigned seen = 0;

	for (size_t i = 0; i < nr; i++) {
		int64_t v = number_of(line, n[i].name);

		if (v < 0)
			continue;
		seen++;
		ck_assert_msg((uint64_t)v == n[i].value, "%s: %s is %" PRIu64 ": %s", vector_name,
			      n[i].name, n[i].value, line);
	}
	return seen;
}

#define ALL(a) (a), sizeof(a) / sizeof((a)[0])

static unsigned check_op_line(const char *name, const char *line, const struct da_ibs_op *op,
			      bool zen4)
{
	/* clang-format off */
	const struct named regs[] = {{"ibs_op_ctl:", op->ctl},	 {"IbsOpRip:", op->rip},
				     {"ibs_op_data:", op->data1}, {"ibs_op_data2:", op->data2},
				     {"ibs_op_data3:", op->data3}, {"IbsDCLinAd:", op->lin},
				     {"IbsDCPhysAd:", op->phys}};
	const struct named fields[] = {
		{"MaxCnt", op->max_count}, {"L3MissOnly", op->l3_miss_only}, {"En", op->enabled}, {"Val", op->val},
		{"CntCtl", op->counts_ops}, {"CurCnt", op->cur_count}, {"CompToRetCtr", op->comp_to_ret},
		{"TagToRetCtr", op->tag_to_ret}, {"BrnRet", op->branch_retired}, {"RipInvalid", op->rip_invalid},
		{"BrnFuse", op->branch_fused}, {"Microcode", op->microcode}, {"RmtNode", op->remote_node},
		{"LdOp", op->load}, {"StOp", op->store}, {"DcL1TlbMiss", op->l1_tlb_miss},
		{"DcL2TlbMiss", op->l2_tlb_miss}, {"DcL1TlbHit2M", op->l1_tlb_hit_2m},
		{"DcL1TlbHit1G", op->l1_tlb_hit_1g}, {"DcL2TlbHit2M", op->l2_tlb_hit_2m}, {"DcMiss", op->dc_miss},
		{"DcMisAcc", op->misaligned}, {"DcWcMemAcc", op->write_combining}, {"DcUcMemAcc", op->uncacheable},
		{"DcLockedOp", op->locked}, {"DcMissNoMabAlloc", op->miss_no_mab}, {"DcLinAddrValid", op->lin_valid},
		{"DcPhyAddrValid", op->phys_valid}, {"DcL2TlbHit1G", op->l2_tlb_hit_1g}, {"L2Miss", op->l2_miss},
		{"SwPf", op->sw_prefetch}, {"OpMemWidth", op->width_code ? 1u << (op->width_code - 1) : 0},
		{"OpDcMissOpenMemReqs", op->open_requests}, {"DcMissLat", op->dc_miss_latency},
		{"TlbRefillLat", op->tlb_refill_latency},
	};
	/* clang-format on */
	size_t colon = strcspn(line, ":") + 1;
	unsigned seen = 0;
	int64_t source;

	for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++) {
		if (strlen(regs[i].name) != colon || strncmp(line, regs[i].name, colon))
			continue;
		ck_assert_msg(strtoull(line + colon, NULL, 16) == regs[i].value, "%s: %s", name,
			      line);
		seen++;
	}
	source = number_of(line, "DataSrc");
	if (source >= 0 &&
	    zen4 == !!(op->caps & DA_IBS_CAP_ZEN4)) { /* perf goes by the file, we by the caps */
		ck_assert_int_eq(source, op->data_source);
		seen++;
	}
	return seen + same_numbers(name, line, ALL(fields));
}

static unsigned check_fetch_line(const char *name, const char *line, const struct da_ibs_fetch *f)
{
	/* clang-format off */
	const struct named fields[] = {
		{"MaxCnt", f->max_count}, {"Cnt", f->count}, {"Lat", f->latency}, {"En", f->enabled}, {"Val", f->val},
		{"Comp", f->complete}, {"IcMiss", f->ic_miss}, {"PhyAddrValid", f->phys_valid},
		{"L1TlbMiss", f->l1_tlb_miss}, {"L2TlbMiss", f->l2_tlb_miss}, {"RandEn", f->random},
		{"L2Miss", f->l2_miss}, {"L3MissOnly", f->l3_miss_only}, {"FetchOcMiss", f->oc_miss},
		{"FetchL3Miss", f->l3_miss},
	};
	/* clang-format on */
	unsigned seen = 0;

	if (!strncmp(line, "ibs_fetch_ctl:", 14)) {
		ck_assert_uint_eq(strtoull(line + 14, NULL, 16), f->ctl);
		seen = 1 + same_numbers(name, line, ALL(fields));
	} else if (!strncmp(line, "IbsFetchLinAd:", 14)) {
		ck_assert_uint_eq(strtoull(line + 14, NULL, 16), f->lin);
		seen = 1;
	} else if (!strncmp(line, "IbsFetchPhysAd:", 15)) {
		ck_assert_uint_eq(strtoull(line + 15, NULL, 16), f->phys);
		seen = 1;
	} else if (!strncmp(line, "ic_ibs_ext_ctl:", 15) &&
		   f->has_ext) { /* without it perf reads past the sample */
		ck_assert_uint_eq(strtoull(line + 15, NULL, 16), f->ext);
		seen = 1;
	}
	return seen;
}

START_TEST(perf_text)
{
	static const char *const keys[] = {"perf_zen4", "perf_zen3"};
	char path[512];
	const char *file = shared_file("formats/vectors/ibs_vectors.json", path, sizeof(path));
	struct json_object *all, *v;
	unsigned seen = 0;

	if (!file)
		return;
	all = json_object_from_file(file);
	ck_assert_ptr_nonnull(all);
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *o = json_object_array_get_idx(all, i);
		const char *name, *kind;
		struct da_ibs_op op;
		struct da_ibs_fetch f;
		uint8_t raw[128];
		size_t n;

		json_object_object_get_ex(o, "name", &v);
		name = json_object_get_string(v);
		json_object_object_get_ex(o, "kind", &v);
		kind = json_object_get_string(v);
		json_object_object_get_ex(o, "raw", &v);
		n = from_hex(json_object_get_string(v), raw, sizeof(raw));
		ck_assert(!strcmp(kind, "op") ? da_ibs_read_op(raw, n, 0, &op)
					      : da_ibs_read_fetch(raw, n, 0, &f));
		for (int k = 0; k < 2; k++) {
			json_object_object_get_ex(o, keys[k], &v);
			for (size_t l = 0; l < json_object_array_length(v); l++) {
				const char *line =
					json_object_get_string(json_object_array_get_idx(v, l));

				seen += !strcmp(kind, "op") ? check_op_line(name, line, &op, !k)
							    : check_fetch_line(name, line, &f);
			}
		}
	}
	json_object_put(all);
	ck_assert_uint_gt(seen, 1000);
}
END_TEST

/* ---- published dumps ---- */

/* "NAME HEX  TEXT" lines, cases begun by "# case". */
START_TEST(published_registers)
{
	static const char *const names[] = {"ibs_op_ctl",   "IbsOpRip",     "ibs_op_data",
					    "ibs_op_data2", "ibs_op_data3", "IbsDCLinAd",
					    "IbsDCPhysAd"};
	char path[512], line[1024], name[64];
	const char *file = shared_file("fixtures/vectors/ibs-op-regs.txt", path, sizeof(path));
	uint64_t regs[7] = {0}, value;
	char lines[8][1024];
	unsigned nr = 0, cases = 0;
	FILE *f;

	if (!file)
		return;
	f = fopen(file, "r");
	ck_assert_ptr_nonnull(f);
	for (bool more = true; more;) {
		more = fgets(line, sizeof(line), f);
		if (!more || !strncmp(line, "# case", 6)) {
			struct sample s = {.caps = 0xfff,
					   .ctl = regs[0],
					   .rip = regs[1],
					   .data1 = regs[2],
					   .data2 = regs[3],
					   .data3 = regs[4],
					   .lin = regs[5],
					   .phys = regs[6]};
			struct da_ibs_op op;
			struct da_report r;
			uint8_t raw[128];
			unsigned seen = 0;

			if (!nr)
				continue;
			ck_assert(da_ibs_read_op(raw, put(raw, &s), 0, &op));
			for (unsigned i = 0; i < nr; i++)
				seen += check_op_line("published", lines[i], &op, true);
			ck_assert_uint_gt(seen, 20);
			ck_assert_int_eq(decode_sample(&s, &r), DA_DROP_NR);
			ck_assert(r.vaddr == regs[5] && r.paddr == regs[6] && r.ip == regs[1]);
			ck_assert(r.op == (cases ? DA_OP_READ : DA_OP_WRITE) &&
				  r.size == (cases ? 8 : 32));
			memset(regs, 0, sizeof(regs));
			nr = 0;
			cases++;
			continue;
		}
		if (line[0] == '#' || sscanf(line, "%63s %" SCNx64, name, &value) != 2)
			continue;
		for (unsigned i = 0; i < 7; i++)
			if (!strcmp(name, names[i]))
				regs[i] = value;
		ck_assert_uint_lt(nr, 8);
		/* the fields only: behind the register's value */
		snprintf(lines[nr++], sizeof(lines[0]), ": %.1000s", strchr(line, ' '));
	}
	fclose(f);
	ck_assert_uint_eq(cases, 2);
}
END_TEST

/* A thousand op samples as columns: registers are built from them and decoded again. */
#define COLUMNS 48

START_TEST(published_samples)
{
	/* clang-format off */
	static const struct {
		const char *column;
		unsigned reg, low; /* of data1, data2, data3 */
	} fields[] = {
		{"IbsCompToRetCtr", 1, 0}, {"IbsTagToRetCtr", 1, 16}, {"IbsOpReturn", 1, 34}, {"IbsOpBrnTaken", 1, 35},
		{"IbsOpBrnMisp", 1, 36}, {"IbsOpBrnRet", 1, 37}, {"IbsRipInvalid", 1, 38}, {"IbsOpBrnFuse", 1, 39},
		{"IbsOpMicrocode", 1, 40}, {"DataSrc", 2, 0}, {"RmtNode", 2, 4}, {"CacheHitSt", 2, 5}, {"IbsLdOp", 3, 0},
		{"IbsStOp", 3, 1}, {"IbsDcL1tlbMiss", 3, 2}, {"IbsDcL2TlbMiss", 3, 3}, {"IbsDcL1TlbHit2M", 3, 4},
		{"IbsDcL1TlbHit1G", 3, 5}, {"IbsDcL2tlbHit2M", 3, 6}, {"IbsDcMiss", 3, 7}, {"IbsDcMissAcc", 3, 8},
		{"IbsDcWcMemAcc", 3, 13}, {"IbsDcUcMemAcc", 3, 14}, {"IbsDcLockedOp", 3, 15}, {"DcMissNoMabAlloc", 3, 16},
		{"IbsDcLinAddrValid", 3, 17}, {"IbsDcPhyAddrValid", 3, 18}, {"IbsDcL2tlbHit1G", 3, 19}, {"IbsL2Miss", 3, 20},
		{"IbsSwPf", 3, 21}, {"IbsDcMissLat", 3, 32}, {"IbstlbRefillLat", 3, 48},
	};
	/* clang-format on */
	char path[512], line[4096], names[COLUMNS][64];
	const char *file =
		shared_file("fixtures/vectors/ibs-memgaze-annotated_op-1k.csv", path, sizeof(path));
	unsigned columns = 0, rows = 0, addresses = 0, physical_only = 0;
	FILE *f;

	if (!file)
		return;
	f = fopen(file, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	for (char *p = strtok(line, ",\n"); p && columns < COLUMNS; p = strtok(NULL, ",\n"))
		snprintf(names[columns++], sizeof(names[0]), "%s", p);
	while (fgets(line, sizeof(line), f)) {
		struct sample s = {.caps = 0x3ff, .ctl = GOOD, .family = 0x19, .model = 1};
		uint64_t regs[4] = {0}, lin = 0, phys = 0, width = 0;
		bool lin_valid = false, phys_valid = false, memory = false, prefetch = false;
		unsigned c = 0, found = 0;
		struct da_report r;
		enum da_drop why;

		for (char *p = line, *next; p && c < columns; p = next, c++) {
			uint64_t v;

			next = strchr(p, ',');
			if (next)
				*next++ = 0;
			v = *p == '-' ? 0 : strtoull(p, NULL, 0);
			for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
				if (strcmp(names[c], fields[i].column))
					continue;
				regs[fields[i].reg] |= v << fields[i].low;
				found++;
			}
			lin_valid |= !strcmp(names[c], "IbsDcLinAddrValid") && v;
			phys_valid |= !strcmp(names[c], "IbsDcPhyAddrValid") && v;
			memory |=
				(!strcmp(names[c], "IbsLdOp") || !strcmp(names[c], "IbsStOp")) && v;
			prefetch |= !strcmp(names[c], "IbsSwPf") && v;
			if (!strcmp(names[c], "IbsOpRip"))
				s.rip = v;
			if (!strcmp(names[c], "IbsDcLinAd"))
				lin = v;
			if (!strcmp(names[c], "IbsDcPhysAd"))
				phys = v;
			if (!strcmp(names[c], "IbsOpMemWidth"))
				width = v;
		}
		ck_assert_uint_eq(found, sizeof(fields) / sizeof(fields[0]));
		s.data1 = regs[1];
		s.data2 = regs[2];
		s.data3 = regs[3] | (width ? (uint64_t)(__builtin_ctzll(width) + 1) << 22 : 0);
		s.lin = lin;
		s.phys = phys;
		rows++;
		why = decode_sample(&s, &r);
		if (prefetch)
			ck_assert_int_eq(why, DA_DROP_PREFETCH);
		else if (!memory)
			ck_assert_int_eq(why, DA_DROP_NOT_MEMORY);
		else if (!lin_valid && !phys_valid)
			ck_assert_int_eq(why, DA_DROP_INVALID);
		else
			ck_assert_int_eq(why, DA_DROP_NR);
		if (why != DA_DROP_NR)
			continue;
		addresses += lin_valid;
		physical_only += !lin_valid;
		ck_assert(!!(r.has & DA_HAS_VADDR) == lin_valid &&
			  r.vaddr == (lin_valid ? lin : 0));
		ck_assert(!!(r.has & DA_HAS_PADDR) == phys_valid &&
			  r.paddr == (phys_valid ? phys : 0));
		ck_assert(r.size == width && r.ip == s.rip);
	}
	fclose(f);
	printf("published samples: %u, %u with an address, %u with a physical one only\n", rows,
	       addresses, physical_only);
	ck_assert_uint_gt(rows, 900);
	ck_assert_uint_gt(addresses, 100);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ibs_dumps");
	TCase *t = tcase_create("dumps");
	SRunner *r;
	int failed;

	tcase_add_test(t, perf_text);
	tcase_add_test(t, published_registers);
	tcase_add_test(t, published_samples);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
