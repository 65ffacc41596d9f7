/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program for single_step: the instructions that compilers seldom write and whose accesses no operand
 * names, on memory and registers that change visibly. Sets beyond x86-64 are run where the processor has
 * them. It computes nothing.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if !defined(__x86_64__)
int main(void)
{
	return 77;
}
#else

/* Each gets a buffer of 4096 bytes, 64-byte aligned, in rdi, filled with a pattern. */
void odd_base(uint8_t *buf);
void odd_avx(uint8_t *buf);
void odd_avx512(uint8_t *buf);

/* clang-format off */
__asm__(
".intel_syntax noprefix\n"
".macro enter_test\n push rbx\n push rbp\n push r12\n push r13\n push r14\n push r15\n lea rbx, [rdi+1024]\n"
" mov r12, rdi\n mov r13, 16\n .endm\n"
".macro leave_test\n pop r15\n pop r14\n pop r13\n pop r12\n pop rbp\n pop rbx\n ret\n .endm\n"

".globl odd_base\nodd_base:\n enter_test\n"
/* stack */
" push qword ptr [rbx]\n pop qword ptr [rbx+8]\n push qword ptr [rbx+16]\n push qword ptr [rsp]\n"
" pop qword ptr [rsp+8]\n pop rax\n push -7\n pop rax\n .byte 0x66, 0x68, 0x34, 0x12\n pop word ptr [rbx+24]\n push fs\n pop rax\n"
" pushfq\n pop rax\n push rax\n popfq\n sub rsp, 64\n enter 32, 0\n leave\n mov rbp, rsp\n enter 16, 1\n leave\n"
" lea rbp, [rsp+32]\n enter 16, 3\n leave\n mov rsp, rsp\n add rsp, 64\n"
" lea rax, [rip+1f]\n mov [rbx+32], rax\n call [rbx+32]\n call rax\n jmp 2f\n 1: ret\n 2:\n"
" lea rax, [rip+3f]\n mov [rbx+32], rax\n jmp [rbx+32]\n 3:\n"
" push 1\n push 2\n lea rax, [rip+4f]\n push rax\n ret 16\n 4:\n"
/* bit strings: near, far, negative */
" mov eax, 3\n bts [rbx], eax\n mov eax, 100\n bts [rbx], eax\n mov eax, -70\n btc [rbx], eax\n mov rax, 1000\n"
" btr qword ptr [rbx], rax\n mov rax, -130\n btc qword ptr [rbx+r13*4], rax\n mov eax, 0x4005\n btc word ptr [rbx], ax\n"
" mov eax, -20\n bt word ptr [rbx], ax\n lock bts dword ptr [rbx], eax\n bts qword ptr [rbx], 40\n"
/* exchange and compare */
" mov rax, [rbx+64]\n mov rcx, 77\n cmpxchg [rbx+64], rcx\n cmpxchg [rbx+64], r13\n lock cmpxchg [rbx+65], cl\n"
" mov rax, [rbx+128]\n mov rdx, [rbx+136]\n mov r15, rbx\n mov ecx, 5\n mov rsi, rbx\n xor ebx, ebx\n"
" lock cmpxchg16b [rsi+128]\n cmpxchg8b [rsi+144]\n mov rbx, r15\n"
" xadd [rbx+72], r13\n lock xadd [rbx+80], ecx\n xchg [rbx+88], cl\n xchg rax, [rbx+96]\n mov r13, 16\n"
/* arithmetic on memory */
" add byte ptr [rbx+7], 200\n adc [rbx+9], eax\n sbb qword ptr [rbx+17], -3\n neg word ptr [rbx+33]\n"
" not qword ptr [rbx+41]\n inc byte ptr [rbx+50]\n dec dword ptr [rbx+52]\n rol qword ptr [rbx+56], 5\n"
" rcr byte ptr [rbx+64], 1\n mov cl, 9\n shl dword ptr [rbx+68], cl\n sar word ptr [rbx+72], 3\n"
" shld [rbx+80], rax, 7\n shrd [rbx+88], eax, cl\n setnz [rbx+100]\n setc ah\n imul rdx, [rbx], -13\n mul qword ptr [rbx]\n"
" xor edx, edx\n mov eax, 1000\n div dword ptr [rip+5f]\n cbw\n cwde\n cdqe\n cqo\n bswap r9\n sahf\n lahf\n"
" xchg ah, bl\n mov rbx, r15\n movzx eax, byte ptr [rbx+3]\n movsx rcx, word ptr [rbx+5]\n movsxd rdx, dword ptr [rbx+9]\n"
" jmp 6f\n 5: .long 7\n 6: cmovc rax, [rbx]\n cmovnc rcx, [rbx+8]\n"
/* strings, both directions */
" lea rsi, [rbx]\n lea rdi, [rbx+512]\n movsb\n movsw\n movsd\n movsq\n mov ecx, 9\n rep movsb\n mov ecx, 3\n rep movsq\n"
" mov ecx, 0\n rep movsb\n mov eax, 0x5a5a5a5a\n stosb\n stosd\n mov ecx, 5\n rep stosw\n lodsb\n lodsq\n"
" lea rsi, [rbx]\n lea rdi, [rbx]\n cmpsb\n mov ecx, 6\n repe cmpsw\n mov al, 0xff\n mov ecx, 7\n repne scasb\n scasd\n"
" std\n lea rsi, [rbx+64]\n lea rdi, [rbx+700]\n movsb\n movsq\n mov ecx, 4\n rep movsd\n stosq\n cld\n"
" lea esi, [rbx]\n mov r14d, ebx\n"
/* and the rest */
" lea rcx, [rbx]\n xchg rcx, rbx\n mov eax, 0xffffff05\n xlatb\n mov rbx, r15\n movnti [rbx+4], r13\n"
" fld1\n fst dword ptr [rbx+20]\n fst qword ptr [rbx+24]\n fistp dword ptr [rbx+32]\n fldpi\n fstp tbyte ptr [rbx+40]\n"
" fldpi\n fisttp qword ptr [rbx+56]\n fild word ptr [rbx]\n fbstp [rbx+64]\n fnstcw [rbx+80]\n fnstsw [rbx+84]\n fnstsw ax\n"
" fldcw [rbx+80]\n fnstenv [rbx+96]\n fldenv [rbx+96]\n fnsave [rbx+128]\n frstor [rbx+128]\n fld1\n fld1\n fcomip st, st(1)\n"
" fstp st(0)\n fxsave [rbx+256]\n fxrstor [rbx+256]\n stmxcsr [rbx+12]\n ldmxcsr [rbx+12]\n"
" movdqu xmm0, [rbx]\n movdqu xmm1, [rbx+16]\n paddb xmm0, xmm1\n movups [rbx+33], xmm0\n movlps [rbx+50], xmm0\n"
" movhpd [rbx+58], xmm0\n movss [rbx+66], xmm0\n movsd qword ptr [rbx+70], xmm0\n movd [rbx+78], xmm0\n movq [rbx+82], xmm0\n"
" movntps [rbx+96], xmm0\n movntdq [rbx+112], xmm1\n movaps [rbx+128], xmm0\n lea rdi, [rbx+149]\n maskmovdqu xmm0, xmm1\n"
" movmskps eax, xmm0\n pmovmskb ecx, xmm1\n pextrw edx, xmm0, 3\n cvttsd2si rax, [rbx+70]\n cvtsi2sd xmm2, qword ptr [rbx]\n"
" comisd xmm0, [rbx+8]\n movq mm0, [rbx]\n paddb mm0, mm0\n movq [rbx+200], mm0\n movntq [rbx+208], mm0\n emms\n"
" rdtsc\n mov r15, rbx\n mov eax, 1\n xor ecx, ecx\n cpuid\n mov rbx, r15\n mov ecx, 3\n 7: loop 7b\n jrcxz 8f\n nop\n 8: pause\n"
" prefetcht0 [rbx+5000]\n clflush [rbx]\n nop dword ptr [rax+rax+0x1000]\n lea ax, [rbx+rcx*2]\n mfence\n"
" mov rax, fs:[0]\n mov rcx, rax\n mov ax, ds\n"
" leave_test\n"

".globl odd_avx\nodd_avx:\n enter_test\n"
" vmovdqu ymm0, [rbx]\n vpaddb ymm0, ymm0, [rbx+32]\n vmovups [rbx+5], ymm0\n vmovaps [rbx+64], ymm0\n vmovntdq [rbx+96], ymm0\n"
" vmovss [rbx+131], xmm0\n vmovlpd [rbx+136], xmm0\n vmovhps [rbx+145], xmm0\n vextractf128 [rbx+160], ymm0, 1\n"
" vextracti128 [rbx+177], ymm0, 0\n vpextrb [rbx+200], xmm0, 3\n vpextrw [rbx+202], xmm0, 3\n vpextrd [rbx+204], xmm0, 3\n"
" vpextrq [rbx+209], xmm0, 1\n vextractps [rbx+220], xmm0, 2\n vcvtps2ph [rbx+224], ymm0, 0\n vmaskmovps [rbx+260], ymm0, ymm0\n"
" vpmaskmovq [rbx+300], ymm0, ymm0\n vpmaskmovd ymm1, ymm0, [rbx]\n vbroadcasti128 ymm2, [rbx]\n vpgatherdd ymm3, [rbx+ymm5*4], ymm6\n"
" vpmovmskb eax, ymm0\n vptest ymm0, [rbx]\n vstmxcsr [rbx+400]\n lea rdi, [rbx+433]\n vmaskmovdqu xmm0, xmm1\n"
" movbe [rbx+500], rax\n movbe eax, [rbx+4]\n mov rdx, [rbx]\n mulx rax, rcx, [rbx+8]\n andn r9, rax, [rbx]\n blsr r10, [rbx]\n"
" bzhi r11, [rbx], rax\n shlx rax, [rbx], rcx\n rorx rcx, [rbx], 3\n pdep rdx, rax, [rbx]\n popcnt rax, [rbx]\n tzcnt eax, [rbx]\n"
" crc32 rax, qword ptr [rbx]\n pextrb [rbx+600], xmm0, 1\n pextrq [rbx+608], xmm0, 1\n extractps [rbx+616], xmm0, 1\n"
" pcmpistri xmm0, [rbx], 5\n rdrand rcx\n vzeroupper\n"
" leave_test\n"

".globl odd_avx512\nodd_avx512:\n enter_test\n"
" vmovdqu8 zmm0, [rbx]\n vpaddb zmm0, zmm0, [rbx+64]\n mov eax, 0x5a5a3c3d\n kmovd k1, eax\n knotd k2, k1\n kmovw [rbx+3], k1\n"
" kmovd [rbx+8], k1\n kmovq [rbx+17], k2\n kmovb [rbx+30], k1\n kmovq rax, k2\n kortestd k1, k2\n"
" vmovdqu8 [rbx+128]{k1}, zmm0\n vmovdqu32 [rbx+64]{k2}, zmm0\n vmovups [rbx+192], zmm0\n vmovdqu64 [rbx-64], ymm0\n vpcompressd [rbx+260]{k1}, zmm0\n"
" vpcompressq [rbx+328]{k1}, zmm0\n vpcompressd [rbx+388], ymm0\n vcompresspd [rbx+448]{k2}, ymm0\n vpmovdb [rbx+512], zmm0\n"
" vpmovqb [rbx+536], zmm0\n vpmovsdw [rbx+544], zmm0\n vpmovwb [rbx+576], zmm0\n vpmovusqw [rbx+624], zmm0\n vpmovqd [rbx+640]{k1}, zmm0\n"
" vextractf32x4 [rbx+672], zmm0, 2\n vextracti64x4 [rbx+704], zmm0, 1\n vextracti64x2 [rbx+736], ymm0, 1\n vcvtps2ph [rbx+768], zmm0, 0\n"
" vmovss [rbx+804]{k1}, xmm0\n vmovsd [rbx+816], xmm16\n vmovd [rbx+828], xmm16\n vpextrq [rbx+832], xmm16, 1\n vpscatterdd [rbx+zmm31*4]{k1}, zmm0\n"
" vpcmpeqb k3, zmm0, [rbx+64]\n vpcmpub k3, ymm16, [rbx+32], 4\n vptestnmb k3, zmm0, [rbx]\n vpternlogd zmm1, zmm0, dword ptr [rbx+4]{1to16}, 7\n"
" vpexpandd zmm1{k1}, [rbx+12]\n vaddps zmm1{k1}, zmm0, [rbx]\n vcvttsd2usi rax, [rbx+8]\n vbroadcasti64x2 zmm3, [rbx+16]\n vpermb zmm1, zmm0, [rbx+64]\n"
" vzeroupper\n"
" leave_test\n"
".att_syntax\n");
/* clang-format on */

int main(void)
{
	static uint8_t buf[4096] __attribute__((aligned(64)));

	for (unsigned i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)(i * 37 + 11);
	odd_base(buf);
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) {
		odd_avx(buf);
		puts("avx2");
	}
	if (__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512dq")) {
		odd_avx512(buf);
		puts("avx512");
	}
	return 0;
}
#endif
