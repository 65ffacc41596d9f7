#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 900
# boot.sh ARCH FOLDER NAME...: boot a guest of ARCH (x86_64, aarch64) under qemu without KVM, with $DA inside, run
# in it tests/guest/NAME.in of each NAME, and put into FOLDER/NAME what they left. The console is in
# FOLDER/console. Status 0 if the guest came to its end, 77 if there can be no guest.
#
# A NAME.in may say in its first lines "seconds: N", how long it may take (60), and "arch: ARCH", that it is for
# guests of this ARCH only.
set -u
arch=$1 out=$2
shift 2
: "${DA:?the program for the guest}" "${DA_SRC:?this checkout}"
skip() { echo "$*"; exit 77; }
fail() {
	echo "FAIL: $*"
	tail -n 30 "$out/console" 2>/dev/null
	exit 1
}

# 1 GiB: the recordings are in the guest's memory, too. pauth-impdef: a fast pointer authentication. Vectors of 16
# bytes (sve-max-vq), because a sample does not say how long they are. All CPUs of an x86-64 guest in one thread: in
# threads of their own one can still run the int3 that another one has put into code and taken out again (each perf
# event patches some, by static keys), which the kernel no longer knows, and panics.
case $arch in
x86_64)
	debian=amd64 console=ttyS0
	machine=(qemu-system-x86_64 -accel tcg,thread=single -cpu max -smp 4)
	;;
aarch64)
	debian=arm64 console=ttyAMA0
	machine=(qemu-system-aarch64 -M virt -accel tcg,thread=multi -cpu max,pauth-impdef=on,sve-max-vq=1 -smp 2)
	;;
*) skip "no guest for $arch" ;;
esac
command -v "${machine[0]}" >/dev/null || skip "${machine[0]} is not installed"
command -v cpio >/dev/null || skip "cpio is not installed"
command -v readelf >/dev/null || skip "readelf is not installed"
parts=$("$DA_SRC/tests/guest/fetch.sh" where $debian)
[ -n "$parts" ] || skip "no kernel for a $arch guest: .ci/setup guest fetches it"
[ -x "$DA" ] || skip "no damon-attrs for $arch"

# --- the initramfs: busybox, our program with the libraries that it names, the tests ---

root=$(mktemp -d "${TMPDIR:-/tmp}/guest.XXXXXX") || exit 1
trap 'rm -rf "$root" "$root.monitor"' EXIT
mkdir -p "$root"/{busybox,bin,da,dev,proc,sys,tmp,out} "$out"
cp -a "$parts/root/." "$root/"
cp "$parts/busybox" "$root/busybox/"
cp "$DA" "$root/bin/damon-attrs"
cp "$DA_SRC/tests/guest/init" "$root/init"
cp "$DA_SRC"/tests/guest/lib.sh "$DA_SRC"/tests/guest/*.in "$root/da/"
# programs of the tests, built beside damon-attrs for the same machine
for p in "$(dirname "$DA")"/tests/guest/*; do
	case $p in *.[od]) ;; *) [ ! -x "$p" ] || cp "$p" "$root/bin/" ;; esac
done

# libraries FILE: copies what a dynamic program of this host needs
libraries() {
	local lib
	for lib in $(ldd "$1" 2>/dev/null | grep -o '/[^ ]*'); do
		[ -e "$root$lib" ] || { mkdir -p "$root$(dirname "$lib")" && cp -L "$lib" "$root$lib"; }
	done
}
for p in "$root"/bin/*; do
	! readelf -l "$p" 2>/dev/null | grep -q INTERP || [ -e "$parts/root/bin/${p##*/}" ] || libraries "$p"
done
for name; do
	seconds=$(head -n 10 "$DA_SRC/tests/guest/$name.in" | sed -n 's/.*seconds: \([0-9]*\).*/\1/p')
	echo "$name ${seconds:-60}"
done >"$root/da/tests"
(cd "$root" && find . -print0 | cpio --null --quiet -o -H newc -R 0:0 | gzip -1) >"$out/initramfs" ||
	fail "cannot build the initramfs"

# --- boot; the guest's first virtio port takes the results, by the second it reaches qemu's monitor ---

trap 'exit 1' HUP INT TERM
rm -f "$out/console" "$out/results"
"${machine[@]}" -m 1024 -nodefaults -no-user-config -display none -no-reboot \
	-kernel "$parts/vmlinuz" -initrd "$out/initramfs" -append "console=$console quiet panic=-1" \
	-serial "file:$out/console" -device virtio-serial-pci -chardev "file,id=results,path=$out/results" \
	-device virtserialport,chardev=results,name=results \
	-chardev "socket,id=monitor,path=$root.monitor,server=on,wait=off" -mon chardev=monitor,mode=readline \
	-chardev "socket,id=asked,path=$root.monitor" -device virtserialport,chardev=asked,name=monitor </dev/null >"$out/qemu" 2>&1 &
qemu=$!
trap 'kill -9 $qemu 2>/dev/null; rm -rf "$root" "$root.monitor"' EXIT
wait $qemu || { cat "$out/qemu"; fail "qemu ended with status $?"; }
rm -f "$out/initramfs"
(cd "$out" && tar xif results) || fail "no results"
rm -f "$out/results"
tr -d '\r' <"$out/console" | grep '^===' # what ran, how long
tr -d '\r' <"$out/console" | grep -q '^=== end' || fail "the guest did not come to its end"
