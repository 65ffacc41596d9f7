/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decoder against the processor: runs a program one instruction at a time and looks at what each did.
 *
 *   single_step STEPS COMMAND...
 *
 * For each instruction, decoded from the bytes at the instruction pointer:
 *   - the next instruction is where its length says, unless it is a branch;
 *   - general registers and flags that changed are among those it is said to write;
 *   - around each address it is said to access, and around the stack pointer, memory changes only inside
 *     the ranges it is said to write (up to 512 bytes);
 *   - what it is said to access is mapped;
 *   - a plain mov from memory puts into its register what was at the address decoded.
 *
 * It cannot see: writes that do not change a byte, writes far from what was decoded, reads other than
 * plain mov, accesses through FS and GS and gathers (no address is claimed), what a system call does.
 * Exit status 0: nothing contradicts.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "da_insn.h"
#include "da_report.h"

#if !defined(__x86_64__)
int main(void)
{
	puts("single-stepping is compared on x86-64 only");
	return 77;
}
#else

#define REGS_MASK 0xff03ffULL
#define NR_REGS   18
#define MARGIN    64
#define MAX_WRITE 512
#define ARITH     0xcd5ULL /* CF PF AF ZF SF DF OF */
#define AREAS     (DA_INSN_MAX_ACCESS + 1)
#define EXAMPLES  20

struct area {
	uint64_t start;
	size_t len; /* 0: not mapped */
	uint8_t before[MAX_WRITE + 2 * MARGIN], after[MAX_WRITE + 2 * MARGIN];
};

static pid_t child;
static struct da_insn_decoder *decoder;
static uint64_t steps, undecoded, writes_seen, writes_changed, loads_checked, unresolved, branches,
	wrong;

static size_t peek(uint64_t addr, void *buf, size_t n)
{
	struct iovec local = {buf, n}, remote = {(void *)(uintptr_t)addr, n};
	ssize_t got = process_vm_readv(child, &local, 1, &remote, 1, 0);

	return got < 0 ? 0 : (size_t)got;
}

/* In perf's order: AX BX CX DX SI DI BP SP IP FLAGS R8..R15. */
static void to_perf(const struct user_regs_struct *u, uint64_t v[NR_REGS])
{
	const uint64_t all[NR_REGS] = {u->rax, u->rbx, u->rcx, u->rdx,    u->rsi, u->rdi,
				       u->rbp, u->rsp, u->rip, u->eflags, u->r8,  u->r9,
				       u->r10, u->r11, u->r12, u->r13,    u->r14, u->r15};

	memcpy(v, all, sizeof(all));
}

static unsigned perf_bit(unsigned i)
{
	return i < 10 ? i : i + 6;
}

static void contradiction(const char *what, const struct user_regs_struct *u, const uint8_t *code,
			  unsigned len, uint64_t detail)
{
	if (wrong++ >= EXAMPLES)
		return;
	printf("%s: ip 0x%llx, 0x%" PRIx64 ":", what, u->rip, detail);
	for (unsigned i = 0; i < (len ? len : 15); i++)
		printf(" %02x", code[i]);
	printf("\n");
}

/* After legacy prefixes and REX: the opcode. */
static const uint8_t *opcode_of(const uint8_t *p, bool *wide, bool *p66)
{
	*wide = *p66 = false;
	for (;; p++) {
		if ((*p & 0xf0) == 0x40)
			*wide = *p & 8;
		else if (*p == 0x66)
			*p66 = true;
		else if (*p != 0x2e && *p != 0x36 && *p != 0x3e && *p != 0x26 && *p != 0x64 &&
			 *p != 0x65 && *p != 0x67 && *p != 0xf0 && *p != 0xf2 && *p != 0xf3)
			return p;
	}
}

static bool is_branch(const uint8_t *op)
{
	if (*op == 0x0f)
		return (op[1] & 0xf0) == 0x80 || op[1] == 0x05;
	if (*op == 0xff)
		return (op[1] >> 3 & 7) >= 2 && (op[1] >> 3 & 7) <= 5;
	return (*op & 0xf0) == 0x70 || (*op >= 0xe0 && *op <= 0xe3) || *op == 0xe8 || *op == 0xe9 ||
	       *op == 0xeb || *op == 0xc2 || *op == 0xc3 || (*op == 0xc7 && op[1] == 0xf8);
}

/* The register that modrm.reg names after an 8b, as perf's index. */
static unsigned mov_target(const uint8_t *code, const uint8_t *op)
{
	static const uint8_t low[8] = {0, 2, 3, 1, 7, 6, 4, 5};
	unsigned r = op[1] >> 3 & 7;

	if (op > code && (op[-1] & 0xf4) == 0x44)
		return 10 + r;
	return low[r];
}

static void set_area(struct area *a, uint64_t addr, uint32_t size)
{
	uint64_t start = addr > MARGIN ? addr - MARGIN : 0;
	size_t n = size + 2 * MARGIN;

	a->start = start;
	a->len = peek(start, a->before, n);
	if (a->len == n)
		return;
	/* near an end of what is mapped: only the accessed bytes */
	a->start = addr;
	a->len = peek(addr, a->before, size);
	if (a->len < size)
		a->len = 0;
}

static bool claimed(const struct da_access *acc, unsigned nr, uint64_t addr)
{
	for (unsigned i = 0; i < nr; i++)
		if (acc[i].op & DA_OP_WRITE && addr - acc[i].vaddr < acc[i].size)
			return true;
	return false;
}

static void check_memory(const struct user_regs_struct *u, const uint8_t *code,
			 const struct da_insn *in, const struct da_access *acc, unsigned nr,
			 struct area *area)
{
	for (unsigned i = 0; i <= nr; i++) {
		struct area *a = &area[i];
		bool changed = false;

		if (!a->len || peek(a->start, a->after, a->len) != a->len)
			continue; /* an munmap would be a system call: does not happen */
		for (size_t k = 0; k < a->len; k++) {
			if (a->before[k] == a->after[k])
				continue;
			changed = true;
			if (!claimed(acc, nr, a->start + k)) {
				contradiction("memory changed that it is not said to write", u,
					      code, in->len, a->start + k);
				break;
			}
		}
		writes_changed += i < nr && changed;
	}
}

static void check_registers(const struct user_regs_struct *u, const uint8_t *code,
			    const struct da_insn *in, const uint64_t before[NR_REGS],
			    const uint64_t after[NR_REGS])
{
	for (unsigned i = 0; i < NR_REGS; i++) {
		uint64_t diff = before[i] ^ after[i];

		if (perf_bit(i) == 8) /* IP */
			continue;
		if (perf_bit(i) == 9)
			diff &= ARITH;
		if (diff && !(in->writes >> perf_bit(i) & 1))
			contradiction("register changed that it is not said to write", u, code,
				      in->len, perf_bit(i));
	}
}

static void check_load(const struct user_regs_struct *u, const uint8_t *code, const uint8_t *op,
		       bool wide, bool p66, const struct da_access *acc, unsigned nr,
		       const struct area *area, const uint64_t after[NR_REGS])
{
	uint64_t want = 0;

	if (*op != 0x8b || nr != 1 || !area[0].len || (p66 && !wide))
		return;
	memcpy(&want, area[0].before + (acc[0].vaddr - area[0].start), wide ? 8 : 4);
	loads_checked++;
	if (after[mov_target(code, op)] != want)
		contradiction("mov loaded something else", u, code, 0, acc[0].vaddr);
}

/* One instruction. False: the program has ended. */
static bool step(void)
{
	struct user_regs_struct u, v;
	uint64_t before[NR_REGS], after[NR_REGS];
	struct da_regs regs = {
		.mask = REGS_MASK, .abi = 2, .arch = DA_ARCH_X86_64, .phase = DA_REGS_BEFORE};
	struct da_access acc[DA_INSN_MAX_ACCESS];
	struct area area[AREAS];
	uint8_t code[32] = {0};
	const uint8_t *op;
	struct da_insn in;
	unsigned nr = 0;
	bool wide, p66, syscall;
	int status;

	if (ptrace(PTRACE_GETREGS, child, 0, &u))
		return false;
	da_insn_decode(decoder, DA_ARCH_X86_64, code, peek(u.rip, code, 16), &in);
	op = opcode_of(code, &wide, &p66);
	syscall = *op == 0x0f && op[1] == 0x05;
	to_perf(&u, before);
	regs.vals = (const uint8_t *)before;
	da_insn_resolve(&in, u.rip, &regs, acc, &nr);
	unresolved += in.nr - nr;
	for (unsigned i = 0; i < nr; i++) {
		if (acc[i].size > MAX_WRITE) {
			area[i].len = 0;
			continue;
		}
		set_area(&area[i], acc[i].vaddr, acc[i].size);
		writes_seen += (acc[i].op & DA_OP_WRITE) != 0;
	}
	set_area(&area[nr], u.rsp, 0);

	if (ptrace(PTRACE_SINGLESTEP, child, 0, 0) || waitpid(child, &status, 0) != child ||
	    !WIFSTOPPED(status))
		return false;
	if (WSTOPSIG(status) != SIGTRAP) {
		fprintf(stderr, "single_step: the program got signal %d\n", WSTOPSIG(status));
		exit(2);
	}
	if (ptrace(PTRACE_GETREGS, child, 0, &v))
		return false;
	steps++;
	to_perf(&v, after);
	if (in.kind == DA_INSN_UNDECODED) {
		undecoded++;
		contradiction("not decoded", &u, code, 0, 0);
		return true;
	}
	for (unsigned i = 0; i < nr; i++)
		if (acc[i].size <= MAX_WRITE && !area[i].len && !acc[i].size_is_max)
			contradiction("accessed memory is not mapped", &u, code, in.len,
				      acc[i].vaddr);
	if (v.rip != u.rip + in.len && !(in.rep && v.rip == u.rip)) {
		branches++;
		if (!is_branch(op))
			contradiction("the next instruction is elsewhere", &u, code, in.len, v.rip);
	}
	check_registers(&u, code, &in, before, after);
	if (!syscall) {
		check_memory(&u, code, &in, acc, nr, area);
		check_load(&u, code, op, wide, p66, acc, nr, area, after);
	}
	return true;
}

int main(int argc, char **argv)
{
	uint64_t max;
	int status;

	if (argc < 3) {
		fprintf(stderr, "usage: single_step STEPS COMMAND...\n");
		return 2;
	}
	max = strtoull(argv[1], NULL, 10);
	decoder = da_insn_decoder_new();
	child = fork();
	if (!decoder || child < 0)
		return 2;
	if (child == 0) {
		personality(ADDR_NO_RANDOMIZE); /* the same run each time */
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(77);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (waitpid(child, &status, 0) != child)
		return 2;
	if (WIFEXITED(status)) {
		printf("cannot trace '%s' (status %d)\n", argv[2], WEXITSTATUS(status));
		return WEXITSTATUS(status) == 77 ? 77 : 2;
	}
	while (steps < max && step())
		;
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	da_insn_decoder_free(decoder);
	printf("%s: %" PRIu64 " steps, %" PRIu64 " branches taken; %" PRIu64
	       " writes claimed, %" PRIu64 " seen to change memory; %" PRIu64
	       " loads compared; %" PRIu64 " accesses without address, %" PRIu64
	       " instructions not decoded; %" PRIu64 " contradictions\n",
	       argv[2], steps, branches, writes_seen, writes_changed, loads_checked, unresolved,
	       undecoded, wrong);
	return wrong || steps < 1000 ? 1 : 0;
}
#endif
