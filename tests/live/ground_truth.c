/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decoder against the kernel: a page-fault sample with registers holds the address that faulted and
 * what the address was computed from. For each user-mode fault the instruction at IP is decoded, from the
 * code bytes that the recording saved and nothing else, and its accesses must contain the fault's address.
 *
 *   ground_truth FILE...      (recordings of page faults at period 1 with registers)
 *
 * Prints a line for each file, all classes of disagreement with examples, and as a control how often the
 * address shifted by 64 bytes would agree. Exit status 0: at least 99.9 % agree and under 10 % of the
 * control; 1 otherwise. Faults on the pages of the instruction itself are instruction fetches and do not
 * count; every other one does, undecoded and segment-relative ones as disagreement.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "da_code.h"
#include "da_own.h"
#include "da_perfdata.h"
#include "da_task.h"

#define PAGE_SHIFT 12
#define EXAMPLES   3
#define SHIFT      64

enum { NO_INSN = DA_DROP_NR, ELSEWHERE, NR_CLASSES };

struct tally {
	uint64_t faults, fetches, data, agree, control, no_direction;
	uint64_t classes[NR_CLASSES];
};

struct input {
	struct da_reader *r;
	struct da_tasks *tasks;
	struct da_code_store *store;
	struct da_code *code;
	uint64_t pieces, piece_bytes;
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "ground_truth: %s: %s\n", what, why);
	exit(2);
}

static int take_code(void *ctx, const struct da_rec *rec)
{
	struct input *in = ctx;
	struct da_own_code piece;
	enum da_own_kind kind;
	const uint8_t *payload;
	uint16_t version;
	size_t len;

	if (da_own_parse(rec, &kind, &version, &payload, &len) == 0 && kind == DA_OWN_CODE &&
	    da_own_code_parse(payload, len, rec->swap, &piece) == 0) {
		if (da_code_store_add(in->store, &piece) < 0)
			die("code", "out of memory");
		in->pieces++;
		in->piece_bytes += piece.len;
	}
	return 0;
}

static void open_input(struct input *in, const char *path)
{
	struct da_error err = {0};

	if (da_reader_open(&in->r, path, &err) < 0)
		die(path, err.msg);
	in->tasks = da_tasks_new();
	in->store = in->tasks ? da_code_store_new(in->tasks, da_reader_arch(in->r)) : NULL;
	in->code = in->store ? da_code_new(in->store) : NULL;
	if (!in->code)
		die(path, "out of memory");
	/* da_code_store_files() is not called: only what the recording holds. */
	if (da_reader_scan(in->r, DA_REC_HEADER_EVENT_TYPE, take_code, in, &err) < 0)
		die(path, err.msg);
}

static void close_input(struct input *in)
{
	da_code_free(in->code);
	da_code_store_free(in->store);
	da_tasks_free(in->tasks);
	da_reader_close(in->r);
}

static bool on_page_of(uint64_t addr, uint64_t ip, unsigned len)
{
	return addr >> PAGE_SHIFT == ip >> PAGE_SHIFT ||
	       addr >> PAGE_SHIFT == (ip + len - 1) >> PAGE_SHIFT;
}

/* What there is to say about a class that is no mistake. */
static const char *explanation(int c)
{
	switch (c) {
	case DA_DROP_SEGMENT:
		return " (the base of FS or GS is in no sample: thread-local variables)";
	case DA_DROP_UNRESOLVED:
		return " (the addresses are in vector registers)";
	case NO_INSN:
		return " (the process ended before its memory was read)";
	default:
		return "";
	}
}

static const char *class_name(int c)
{
	if (c == NO_INSN)
		return "no_code";
	if (c == ELSEWHERE)
		return "other_address";
	return da_drop_name((enum da_drop)c);
}

/* Where the instruction is, for the reader of a failure: file, offset and the file's bytes. */
static void print_place(const struct input *in, const struct da_samp *s)
{
	uint8_t bytes[15];
	struct da_map m;
	uint64_t off;
	ssize_t n = 0;
	int fd;

	if (!da_tasks_find(in->tasks, s->pid, s->time_ns, s->ip, &m)) {
		printf(" (not mapped)");
		return;
	}
	off = m.pgoff + (s->ip - m.start);
	printf(" %s+0x%" PRIx64 ":", m.name, off);
	fd = open(m.name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = pread(fd, bytes, sizeof(bytes), (off_t)off);
		close(fd);
	}
	for (ssize_t i = 0; i < n; i++)
		printf(" %02x", bytes[i]);
}

static bool contains(const struct da_access *acc, unsigned nr, uint64_t addr)
{
	for (unsigned i = 0; i < nr; i++)
		if (addr - acc[i].vaddr < acc[i].size)
			return true;
	return false;
}

static void disagree(const struct input *in, const struct da_samp *s, int class,
		     const struct da_access *acc, unsigned nr, struct tally *t)
{
	if (t->classes[class]++ >= EXAMPLES)
		return;
	printf("  %s: fault at 0x%" PRIx64 ", ip 0x%" PRIx64, class_name(class), s->addr, s->ip);
	for (unsigned i = 0; i < nr; i++)
		printf(", decoded 0x%" PRIx64 " %u bytes", acc[i].vaddr, acc[i].size);
	print_place(in, s);
	printf("\n");
}

static void take_fault(struct input *in, const struct da_samp *s, struct tally *t)
{
	struct da_regs regs = s->regs_intr;
	struct da_access acc[DA_INSN_MAX_ACCESS];
	const struct da_insn *insn;
	unsigned nr = 0;
	int drop;

	regs.arch = (uint8_t)da_reader_arch(in->r);
	regs.phase = DA_REGS_BEFORE;
	insn = da_code_insn(in->code, s->pid, s->time_ns, s->ip, regs.abi);
	t->faults++;
	if (on_page_of(s->addr, s->ip, insn && insn->len ? insn->len : 1)) {
		t->fetches++;
		return;
	}
	t->data++;
	drop = insn ? da_insn_resolve(insn, s->ip, &regs, acc, &nr) : NO_INSN;
	t->control += contains(acc, nr, s->addr + SHIFT);
	if (!contains(acc, nr, s->addr)) {
		disagree(in, s, drop < 0 ? ELSEWHERE : drop, acc, nr, t);
		return;
	}
	t->agree++;
	/* 0 is an honest answer where two accesses lie at the same place, as in an overlapping movs */
	t->no_direction += da_insn_op_at(insn, s->ip, &regs, s->addr) == 0;
}

static void add(struct tally *sum, const struct tally *t)
{
	sum->faults += t->faults;
	sum->fetches += t->fetches;
	sum->data += t->data;
	sum->agree += t->agree;
	sum->control += t->control;
	sum->no_direction += t->no_direction;
	for (int i = 0; i < NR_CLASSES; i++)
		sum->classes[i] += t->classes[i];
}

static void print_tally(const char *name, const struct tally *t)
{
	double n = t->data ? (double)t->data : 1;

	printf("%s: %" PRIu64 " faults, %" PRIu64 " fetches, %" PRIu64 " data: agree %" PRIu64
	       " = %.4f %%, control %.2f %%\n",
	       name, t->faults, t->fetches, t->data, t->agree, 100 * (double)t->agree / n,
	       100 * (double)t->control / n);
}

static void one_file(const char *path, struct tally *sum)
{
	struct input in = {0};
	struct tally t = {0};
	struct da_error err = {0};
	struct da_rec rec;
	struct da_samp s;
	int rc;

	open_input(&in, path);
	while ((rc = da_reader_next(in.r, &rec, &err)) > 0) {
		if (rec.type != DA_REC_SAMPLE) {
			if (da_tasks_record(in.tasks, &rec) < 0)
				die(path, "out of memory");
			continue;
		}
		if (!rec.event || (rec.misc & DA_MISC_CPUMODE) != 2) /* user */
			continue;
		if (da_samp_parse(&rec.event->attr, rec.bytes, rec.size, rec.swap, &s))
			die(path, "a sample does not fit its record");
		if (!(s.mask & DA_SAMPLE_ADDR) || !(s.mask & DA_SAMPLE_REGS_INTR) ||
		    !s.regs_intr.abi)
			die(path, "a sample without address or registers");
		take_fault(&in, &s, &t);
	}
	if (rc < 0)
		die(path, err.msg);
	print_tally(path, &t);
	printf("  %" PRIu64 " pieces of code, %" PRIu64 " bytes\n", in.pieces, in.piece_bytes);
	add(sum, &t);
	close_input(&in);
}

int main(int argc, char **argv)
{
	struct tally sum = {0};

	if (argc < 2)
		die("usage", "ground_truth FILE...");
	for (int i = 1; i < argc; i++)
		one_file(argv[i], &sum);
	print_tally("all", &sum);
	for (int i = 0; i < NR_CLASSES; i++)
		if (sum.classes[i])
			printf("  disagree, %s: %" PRIu64 "%s\n", class_name(i), sum.classes[i],
			       explanation(i));
	printf("  direction unknown: %" PRIu64 "\n", sum.no_direction);
	if (!sum.data) {
		printf("no data faults\n");
		return 1;
	}
	if (sum.agree * 1000 < sum.data * 999 || sum.control * 10 >= sum.data) {
		printf("wanted: at least 99.9 %% agreement, under 10 %% in the control\n");
		return 1;
	}
	return 0;
}
