#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The direction rules of doc/architecture.md:
#
#	cmd -> src -> include <- decoders	tests -> anything	nothing -> cmd
#
# First rules over the code of include/, src/, decoders/ and cmd/; each violation is printed with its file
# and line. Then decoders/ is linked alone, with Capstone and libc only.
cd "${1:-$(dirname "$0")/..}" || exit 1
export LC_ALL=C
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
status=0
shopt -s nullglob
files=({include,src,decoders,cmd}/*.[ch])
[ ${#files[@]} -gt 0 ] || { echo "no sources"; exit 1; }

# FILE:LINE: CODE, without comments and what strings hold (but for the names of headers)
awk '
FNR == 1 { inside = 0 }
{
	line = $0; code = ""
	while (line != "") {
		if (inside) {
			end = index(line, "*/")
			if (!end) break
			line = substr(line, end + 2); inside = 0; code = code " "
		} else if (match(line, /"(\\.|[^"\\])*"|\047(\\.|[^\047\\])+\047|\/\*|\/\//)) {
			token = substr(line, RSTART, RLENGTH)
			code = code substr(line, 1, RSTART - 1)
			line = substr(line, RSTART + RLENGTH)
			if (token == "//") break
			if (token == "/*") inside = 1
			else code = code (code ~ /^[ \t]*#[ \t]*include/ ? token : "\"\"")
		} else { code = code line; break }
	}
	sub(/^[ \t]*#[ \t]*/, "#", code)
	sub(/^#include[ \t]*/, "#include ", code)
	if (code ~ /[^ \t]/) print FILENAME ":" FNR ": " code
}' "${files[@]}" >"$tmp/code"

# rule WHAT FILES CODE: no line of FILES begins with CODE (Perl expressions)
rule() {
	local bad
	bad=$(grep -P "^(?:$2):\d+: (?:$3)" "$tmp/code")
	case $? in
	0) ;;
	1) return ;;
	*) echo "the rule '$1' does not work" ;;
	esac
	while read -r line; do
		echo "$line	<- $1"
	done <<<"$bad"
	status=1
}

# one_of FOLDER: an expression for the names of the headers there
one_of() { (cd "$1" 2>/dev/null && printf '%s|' *.h | sed 's/\./\\./g; s/|$//'); }
ours='da_[a-z0-9_]+\.h'
libc='assert|ctype|elf|endian|errno|inttypes|limits|pthread|signal|std[a-z]+|string|time|unistd|sys/(types|uio)'

# --- who may include what ---

rule 'no ../' '.*' '#include .[^">]*\.\./'
rule 'include/ is C, libc and itself' 'include/.*' "#include (?!<($libc)\.h>|\"$ours\")"
rule 'include/ holds da_*.h only' 'include/(?!da_).*' ''
rule 'decoders/ see bytes, and few headers' 'decoders/.*' \
	"#include (?!<(assert|inttypes|limits|stdbool|stddef|stdint|stdlib|string)\.h>|<(capstone/)?capstone\.h>|\"da_(abi|cursor|datasrc|decoder|error|insn|report|stage)\.h\"|\"($(one_of decoders))\")"
rule 'src/ includes include/ and its own' 'src/.*' "#include \"(?!($ours|$(one_of src))\")"
rule 'cmd/ includes include/ and its own' 'cmd/.*' "#include \"(?!($ours|$(one_of cmd))\")"

# --- each library has one owner ---

owner() { rule "$1 belongs to $2" "(?!(?:$2):).*" "#include [<\"](?:$3)[>\"]"; }

owner libperf 'src/(evt_libperf|libperf_\w+)\.[ch]' '(perf|internal|api)/.*'
owner libtraceevent 'src/tracepoint\w*\.c' '(traceevent/)?(event-(parse|plugin|utils)|trace-seq|kbuffer)\.h'
owner libelf 'src/code\w*\.c' '(libelf|gelf|elfutils/(libelf|elf-knowledge))\.h'
owner Capstone 'decoders/(regs|insn)\w*\.[ch]' '(capstone/.*|capstone\.h)'
owner argp 'cmd/.*' 'argp\.h'
owner libcheck 'tests/.*' 'check\.h'
owner json-c 'src/json_read\.c' '(json-c/.*|json\.h)'
for lib in 'libdw (elfutils/(libdw.*|known-dwarf)|dwarf)\.h' 'zstd zstd.*\.h' 'zlib zlib\.h' 'libnuma numa\w*\.h'; do
	owner "${lib%% *}" 'src/.*' "${lib#* }"
	users=$(grep -P "#include [<\"]${lib#* }[>\"]" "$tmp/code" | cut -d: -f1 | sort -u)
	[ "$(wc -w <<<"$users")" -le 1 ] || { echo "${lib%% *} has more than one owner:" $users; status=1; }
done

# --- what a library may not do ---

rule 'src/ and decoders/ never print' '(src|decoders)/.*' '.*(?<![\w.>])((v?printf|puts|putchar|perror)\s*\(|std(out|err)\b)'
rule 'src/ and decoders/ never exit' '(src|decoders)/.*' '.*(?<![\w.>])(exit|quick_exit|errx?)\s*\('
rule 'src/ and decoders/ write no static variable' '(src|decoders)/.*' '\s*static (?!.*\bconst\b)(?!inline\b)[^(]*[=;[]'

same=$(printf '%s\n' "${files[@]##*/}" | sort | uniq -d)
[ -z "$same" ] || { echo "more than one file is called:" $same; status=1; }

# --- decoders/ link alone ---

sources=(decoders/*.c)
if [ ${#sources[@]} -gt 0 ]; then
	# shellcheck disable=SC2046
	if ${CC:-gcc} -std=c17 -D_GNU_SOURCE -Iinclude $(pkg-config --cflags capstone) -fPIC -shared -nostartfiles \
		-Wl,-z,defs -o "$tmp/decoders.so" "${sources[@]}" $(pkg-config --libs capstone); then
		# .data.rel.ro holds constants with pointers
		written=$(objdump -t "$tmp/decoders.so" | awk '$3 == "O" && $4 ~ /^\.t?(data|bss)$/ { print $NF }
			$2 == "O" && $3 ~ /^\.t?(data|bss)$/ { print $NF }')
		[ -z "$written" ] || { echo "decoders/ has variables that can be written:" $written; status=1; }
	else
		echo "decoders/ does not link with Capstone and libc only"
		status=1
	fi
fi
[ $status != 0 ] || echo "${#files[@]} files keep the direction rules"
exit $status
