#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the documentation says of names, against what there is: every option of --help has its tag in the manual
# page and every tag its option; options, files and make targets that are mentioned exist; the drops, checks and
# causes of doc/stages.md are those of the code; manual pages render without a warning. What the text says
# about them is for a reader to judge.
cd "${1:-$(dirname "$0")/..}" || exit 1
export LC_ALL=C.UTF-8
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
status=0

# differ WHAT DOCUMENTED CODE: two lists, one name a line
differ() {
	sort -u "$2" >"$tmp/doc" && sort -u "$3" >"$tmp/code"
	[ -s "$tmp/doc" ] && [ -s "$tmp/code" ] || { echo "$1: found no names"; status=1; }
	comm -23 "$tmp/doc" "$tmp/code" | sed "s|^|$1: documented, but not there: |" >"$tmp/bad"
	comm -13 "$tmp/doc" "$tmp/code" | sed "s|^|$1: not documented: |" >>"$tmp/bad"
	[ ! -s "$tmp/bad" ] || { cat "$tmp/bad"; status=1; }
}

# plain roff: no fonts, no quotes
plain() { sed -E 's/\\f[A-Z]//g; s/\\-/-/g; s/\\&//g; s/"//g' "$@"; }
options() { grep -oP '(^|[][ ,(=])\K(-[A-Za-z]\b|--[a-z][-a-z]+(?![-a-z(]))' | grep -vxE -- '--(help|usage)'; }

# Tags are the lines behind .TP and .TQ. In --help options begin their line.
tags() { plain "$@" | awk '/^\.T[PQ]/ { tag = 1; next } tag { sub(/^\.[A-Z]+ /, ""); gsub(/ ,/, ","); print; tag = 0 }'; }
helped() { sed -nE 's/^ +(-.*)/\1/p' "$1" | sed -E 's/  .*//' | options; }

if [ -x "${DA:=build/gcc/damon-attrs}" ]; then
	for c in record report diagnose workload; do
		ARGP_HELP_FMT=rmargin=200,opt-doc-col=60 "$DA" $c --help >"$tmp/help.$c"
		helped "$tmp/help.$c" >"$tmp/code.$c"
		case $c in
		workload) sed -n '/^\.SH WORKLOAD/,/^\.SH SEE/p' doc/damon-attrs.1 >"$tmp/page" ;;
		*) cat doc/damon-attrs-$c.1 >"$tmp/page" ;;
		esac
		tags "$tmp/page" | options >"$tmp/tags"
		differ "$c" "$tmp/tags" "$tmp/code.$c"
	done
	# In prose an option may be any command's, or one of those of other programs.
	cat "$tmp"/code.* >"$tmp/any"
	plain README.md doc/*.md doc/*.[17] | options | grep -- -- | sort -u |
		grep -vxFf "$tmp/any" | grep -vxE -- '--(add|version|cached)' >"$tmp/bad"
	[ ! -s "$tmp/bad" ] || { sed 's/^/no command has the option /' "$tmp/bad"; status=1; }
else
	echo "$DA is not built: options are not compared"
	status=1
fi

# Files: with their folder, also as a pattern; without it they are in one of these.
plain README.md doc/*.md doc/*.[17] include/*.h src/*.[ch] decoders/*.[ch] cmd/*.[ch] | grep -v '^    \$ ' |
	grep -oE '(^|[^A-Za-z0-9_./<-])((include|src|decoders|cmd|tests|doc|\.ci)/[A-Za-z0-9_./*-]*[A-Za-z0-9_]|[a-z][A-Za-z0-9_-]*\*?\.(c|h|sh|md))\b' |
	sed -E 's/^[^A-Za-z0-9_.]//' | sort -u >"$tmp/files"
while read -r f; do
	case $f in
	*/*NAME* | arm_spe_pmu.c) continue ;; # the latter is the kernel's
	*/*) compgen -G "$f" ;;
	*) compgen -G "*/$f" || compgen -G "tests/*/$f" || compgen -G "/usr/include/$f" ;;
	esac >/dev/null || { echo "no such file: $f"; status=1; }
done <"$tmp/files"

# Targets of make, in code spans and indented commands.
grep -hoE '(`|^    (sudo )?)make [a-z][a-z-]+' README.md doc/*.md | sed 's/.* //' | sort -u | while read -r t; do
	grep -qE "^([a-z-]+ )*$t( [a-z-]+)*:" Makefile || echo "no target $t in the Makefile"
done >"$tmp/bad"
[ ! -s "$tmp/bad" ] || { cat "$tmp/bad"; status=1; }

# The words of the ledger and of diagnose. A row of a table names one or more, separated by commas.
section() { sed -n "/^## $1/,/^## /p" doc/stages.md; }
first() { grep -E '^\|' | cut -d '|' -f "$1" | tr ',' '\n' | tr -d ' ' | grep -xE '\.?[a-z_]+'; }
section Drops | awk '/^\*\*/ { exit } { print }' | first 3 | grep -vx drop >"$tmp/words"
sed -nE 's/.*X\([A-Z_]+, [A-Z]+, "([a-z_]+)"\).*/\1/p' include/da_stage.h >"$tmp/names"
differ drops "$tmp/words" "$tmp/names"
section 'The checks' | grep -oE ' \.[a-z_]+' | tr -d ' ' >"$tmp/words"
sed -nE 's/^\t\t\{"[a-z]+(\.[a-z_]+)", ".*/\1/p' src/verdict.c src/verdict_kernel.c >"$tmp/names"
differ checks "$tmp/words" "$tmp/names"
section Causes | first 2 | grep -vx cause >"$tmp/words"
{
	grep -ohE 'vd_cause\([a-z]+, [^;]*' src/verdict*.c | grep -oE '"[a-z_]+"'
	sed -nE '/drop_causes\[\] = \{/,/^\};/s/^\t\{[A-Z_]+, ("[a-z_]+").*/\1/p' src/verdict_note.c
} | tr -d '"' >"$tmp/names"
differ causes "$tmp/words" "$tmp/names"

if command -v groff >/dev/null; then
	for f in doc/*.[17]; do
		groff -k -man -Tutf8 -ww -z "$f" 2>"$tmp/warnings" || status=1
		[ ! -s "$tmp/warnings" ] || { cat "$tmp/warnings"; status=1; }
	done
fi
exit $status
