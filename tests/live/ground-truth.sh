#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 600
# The decoder against the kernel, on real programs: for every user-mode page fault the address decoded from
# instruction and registers must contain the address that faulted. tests/live/ground_truth.c judges; it
# knows only the code that the recordings saved.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/libbuild.sh"
need_sampling user
[ "$(uname -m)" = x86_64 ] || skip "instructions are decoded on x86-64 only"
build ground_truth.c
judge=$built

files=()
ran=()
# fault NAME COMMAND...: records the page faults of a command, if there is such a command
fault() {
	local name=$1
	shift
	if ! command -v "$1" >/dev/null; then
		echo "no $1 here: not tried"
		return
	fi
	run 0 "$DA" record -q -e page-faults:u -c 1 --regs -o "$tmp/$name.data" -- "$@"
	files+=("$tmp/$name.data")
	ran+=("$name")
}

cd "$tmp" || exit 1
export HOME=$tmp GIT_CONFIG_NOSYSTEM=1 LC_ALL=C

# something for a compiler to think about
{
	echo '#include <math.h>'
	echo '#include <stdio.h>'
	echo '#include <stdlib.h>'
	echo '#include <string.h>'
	for i in $(seq 400); do
		echo "struct s$i { double d[$((i % 7 + 1))]; char c[$i]; long l; };"
		echo "double f$i(struct s$i *a, const float *x, int n) {"
		echo "  double r = a->l; for (int i = 0; i < n; i++) { r += x[i] * a->d[i % $((i % 7 + 1))];"
		echo "    if (x[i] > $i) a->c[i % $i] ^= (char)n; else r = sqrt(r + $i); }"
		echo "  switch (n) { case 1: return r; case 2: a->l = (long)r; break; case $((i + 3)): memset(a->c, n, $i); }"
		echo "  printf(\"%g\\n\", r); return r * n; }"
	done
} >big.c
head -c 3000000 /dev/urandom | od -An -tx4 >numbers
cat >words.py <<'PY'
import collections, json, random, re
random.seed(1)
text = open("numbers").read()
words = collections.Counter(re.findall(r"[0-9a-f]{8}", text))
pairs = sorted((n, w) for w, n in words.items())
d = {w: [n, {"k": [i * 0.5 for i in range(20)]}] for n, w in pairs[:20000]}
assert json.loads(json.dumps(d)) == d
print(sum(hash(w) & 1 for w in words), len({random.random() for _ in range(200000)}))
PY
cat >words.pl <<'PERL'
open my $f, "<", "numbers" or die; my %n; my @all;
while (<$f>) { for my $w (/[0-9a-f]{4}/g) { $n{$w}++; push @all, $w if length($w) % 2 == 0; } }
my @s = sort { $n{$a} <=> $n{$b} || $a cmp $b } keys %n;
my $t = join ",", @s[0 .. 9999]; $t =~ s/([a-f])(\d)/$2$1/g; print length $t, " ", scalar @all, "\n";
PERL

fault gcc gcc -O2 -g -c -o big.o big.c
fault clang clang -O1 -c -o big2.o big.c
fault python3 python3 words.py
fault perl perl words.pl
fault sort sort -o sorted numbers
fault gzip gzip -9 -k -f numbers
fault xz xz -1 -k -f numbers
if command -v git >/dev/null; then
	git init -q repo && cp big.c words.py numbers repo || fail "git init"
	fault git-add git -C repo add .
	fault git-commit git -C repo -c user.name=x -c user.email=x@x commit -q -m x
	fault git-gc git -C repo -c gc.auto=0 repack -q -a -d
	fault git-grep git -C repo grep -c double
fi
[ "${#ran[@]}" -ge 4 ] || skip "only ${#ran[@]} of the programs are installed: ${ran[*]}"

"$judge" "${files[@]}" || fail "the decoder does not agree with the kernel"
