/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the timeline is made of, each against a naive twin: persistent trees, the hash map, the
 * strings.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idmap.h"
#include "task_names.h"
#include "task_tree.h"

/* For the innermost loops: ck_assert() makes a system call each time, this one only when it
 * fails. */
#define MUST(what)                                                                                 \
	do {                                                                                       \
		if (!(what))                                                                       \
			ck_abort_msg("not so: " #what);                                            \
	} while (0)
#define SAME(a, b)                                                                                 \
	do {                                                                                       \
		uint64_t a_ = (uint64_t)(a), b_ = (uint64_t)(b);                                   \
		if (a_ != b_)                                                                      \
			ck_abort_msg(#a " is %lu, " #b " is %lu", (unsigned long)a_,               \
				     (unsigned long)b_);                                           \
	} while (0)
#define SAME_TEXT(a, b)                                                                            \
	do {                                                                                       \
		const char *a_ = (a), *b_ = (b);                                                   \
		if (strcmp(a_, b_))                                                                \
			ck_abort_msg(#a " is '%s', " #b " is '%s'", a_, b_);                       \
	} while (0)

static uint64_t rnd(uint64_t *s)
{
	*s += 0x9e3779b97f4a7c15ull;
	return (*s ^ *s >> 29) * 0xbf58476d1ce4e5b9ull >> 20;
}

/* ---- the tree ---- */

static unsigned check_node(const struct tree_pool *p, uint32_t i, uint64_t lo, uint64_t hi)
{
	const struct tree_node *n = &p->node[i];
	uint64_t l, r;
	unsigned hl, hr;

	if (!i)
		return 0;
	MUST(lo <= n->start && n->start < n->end && n->end <= hi);
	MUST(n->refs >= 1);
	l = tree_size(p, n->left);
	r = tree_size(p, n->right);
	SAME(n->size, l + r + 1);
	MUST((l + 1) * 100 >= 29 * (l + r + 2) && (r + 1) * 100 >= 29 * (l + r + 2));
	hl = check_node(p, n->left, lo, n->start);
	hr = check_node(p, n->right, n->end, hi);
	return 1 + (hl > hr ? hl : hr);
}

START_TEST(tree_is_balanced_and_frees)
{
	struct tree_pool p;
	uint32_t roots[2000], seen[512];
	uint64_t s = (uint64_t)_i + 1;

	tree_pool_init(&p, 1 << 20);
	for (unsigned i = 0; i < 2000; i++) {
		uint32_t base = i ? roots[rnd(&s) % 4 ? i - 1 : rnd(&s) % i] : 0;
		uint64_t a = _i == 0 ? i : rnd(&s) % 512,
			 b = _i == 0 ? i + 1 : a + 1 + rnd(&s) % (_i * 8);
		const struct tree_node *n;
		struct tree_walk w;

		for (unsigned x = 0; x < 512; x++) {
			n = tree_floor(&p, base, x);
			seen[x] = n && n->end > x ? n->rec : UINT32_MAX;
		}
		SAME(tree_overlay(&p, base, a, b, i, 0, &roots[i]), 0);
		MUST(check_node(&p, roots[i], 0, UINT64_MAX) <= 25);
		for (unsigned x = 0; x < 512; x++) {
			n = tree_floor(&p, roots[i], x);
			SAME(n && n->end > x ? n->rec : UINT32_MAX, x >= a && x < b ? i : seen[x]);
			n = tree_floor(&p, base, x); /* the old tree is as it was */
			SAME(n && n->end > x ? n->rec : UINT32_MAX, seen[x]);
		}
		a = 0;
		for (n = tree_first(&w, &p, roots[i]), b = 0; n; n = tree_next(&w), b++) {
			MUST(n->start >= a);
			ck_assert_ptr_eq(
				tree_above(&p, roots[i], n->start ? n->start - 1 : UINT64_MAX),
				n->start ? n : NULL);
			a = n->end;
		}
		SAME(b, tree_size(&p, roots[i]));
	}
	for (unsigned i = 0; i < 2000; i++)
		tree_unref(&p, roots[i]);
	SAME(p.live, 0);
	tree_pool_release(&p);
}
END_TEST

/* ---- the hash map ---- */

START_TEST(idmap_against_an_array)
{
	struct idmap m;
	uint32_t model[256];
	uint64_t s = 3;

	memset(model, 0xff, sizeof(model));
	idmap_init(&m, 42);
	SAME(idmap_get(&m, 1, 77), 77);
	MUST(!idmap_del(&m, 1));
	for (unsigned i = 0; i < 200000; i++) {
		uint32_t k = (uint32_t)(rnd(&s) % 256);
		uint64_t key = (uint64_t)k << 32 | k;

		if (rnd(&s) % 2) {
			SAME(idmap_put(&m, key, i), 0);
			model[k] = i;
		} else {
			SAME(idmap_del(&m, key), model[k] != UINT32_MAX);
			model[k] = UINT32_MAX;
		}
		k = (uint32_t)(rnd(&s) % 256);
		key = (uint64_t)k << 32 | k;
		SAME(idmap_get(&m, key, UINT32_MAX), model[k]);
		SAME(idmap_has(&m, key), model[k] != UINT32_MAX);
	}
	idmap_release(&m);
}
END_TEST

START_TEST(names_are_kept_once)
{
	struct names n;
	const char *first, *texts[3000];
	char text[40000];

	names_init(&n, 7);
	first = names_keep(&n, "abc");
	for (unsigned i = 0; i < 3000; i++) {
		sprintf(text, "name %u", i);
		texts[i] = names_keep(&n, text);
	}
	for (unsigned i = 0; i < 3000; i++) {
		sprintf(text, "name %u", i);
		SAME_TEXT(texts[i], text);
		MUST(names_keep(&n, text) == texts[i]);
	}
	MUST(names_keep(&n, "abc") == first);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	SAME_TEXT(names_keep(&n, text), text);
	SAME_TEXT(names_keep(&n, ""), "");
	names_release(&n);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("task_parts");
	TCase *tc = tcase_create("task_parts");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_loop_test(tc, tree_is_balanced_and_frees, 0, 4);
	tcase_add_test(tc, idmap_against_an_array);
	tcase_add_test(tc, names_are_kept_once);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
