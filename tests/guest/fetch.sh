#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a guest is made of, fetched with apt: a Debian kernel with DAMON, busybox, for arm64 also programs to
# sample.
#
#   fetch.sh ARCH         fetch it, if it is not there; ARCH is Debian's name: amd64, arm64
#   fetch.sh where ARCH   say where it is: a folder with vmlinuz, busybox, root/ (the programs), version; or
#                         nothing
#
# The folder is beside the libperf of .ci/setup. apt runs with lists and caches of its own, so nothing else of
# this host is changed, no architecture added. Status 1: it cannot be had.
set -euo pipefail
layout=1 # of the folder; raise it when its shape changes

root_deps=/usr/local/lib/damon-attrs
user_deps=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/damon-attrs
[ -z "${DA_DEPS:-}" ] || DA_DEPS=$(realpath -m "$DA_DEPS")
where() {
	local d
	for d in "${DA_DEPS:-$root_deps}" "${DA_DEPS:-$user_deps}"; do
		if [ "$(sed -n 's/^layout //p' "$d/guest/$1/version" 2>/dev/null)" = "$layout" ]; then
			echo "$d/guest/$1"
			return
		fi
	done
}
if [ "$1" = where ]; then where "$2"; exit; fi

arch=$1
case $arch in
amd64) programs=() ;;
arm64) programs=(coreutils gzip perl-base xz-utils) ;;
*) echo "fetch.sh: no guest for $arch" >&2; exit 1 ;;
esac

[ -z "$(where "$arch")" ] || exit 0
if [ "$(id -u)" = 0 ]; then dest=${DA_DEPS:-$root_deps}; else dest=${DA_DEPS:-$user_deps}; fi
dest=$dest/guest/$arch
die() { echo "fetch.sh: $*" >&2; exit 1; }
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || die "no apt here"

# One at a time; what a killed one left is swept away.
part=$dest.new
mkdir -p "$(dirname "$dest")"
exec 9>"$dest.lock"
flock 9
[ -z "$(where "$arch")" ] || exit 0
rm -rf "$part"
mkdir -p "$part"/apt/{lists,cache/archives}/partial "$part"/{debs,root,kernel}
trap 'rm -rf "$part"' EXIT
trap 'exit 1' HUP INT TERM
cd "$part" || exit 1
part=$PWD

# The release, its updates and security suites, of the mirror that this host knows.
sources() {
	local key=/usr/share/keyrings/debian-archive-keyring.gpg uri release component
	[ -e "$key" ] && key="signed-by=$key" || key=
	# shellcheck disable=SC2016 # apt-get fills these in
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | sort -u |
		while read -r uri release component; do
			case $component:$release:$uri in
			*:*-*:*) ;;
			main:*/debian/)
				echo "deb [arch=$arch $key] $uri $release main"
				echo "deb [arch=$arch $key] $uri $release-updates main"
				echo "deb [arch=$arch $key] ${uri%/}-security/ $release-security main"
				;;
			esac
		done
}
sources >apt/sources.list
[ -s apt/sources.list ] || die "apt knows no Debian mirror (apt-get update?)"
: >apt/status
options=(-qq -o "APT::Architecture=$arch" -o "APT::Architectures::=$arch" -o APT::Sandbox::User=root
	-o APT::Install-Recommends=false -o Acquire::Languages=none
	-o "Dir::Etc::SourceList=$part/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
	-o "Dir::State::status=$part/apt/status" -o "Dir::State::Lists=$part/apt/lists" -o "Dir::Cache=$part/apt/cache")
apt-get "${options[@]}" update || die "apt-get update failed for $arch"

# A meta package names the newest kernel of its series.
kernel=
for meta in linux-image-6.12-cloud-$arch linux-image-cloud-$arch; do
	kernel=$(apt-cache "${options[@]}" depends "$meta" 2>/dev/null |
		sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
	[ -z "$kernel" ] || break
done
[ -n "$kernel" ] || die "no kernel package for $arch"
(cd debs && apt-get "${options[@]}" download "$kernel" busybox-static) || die "cannot download $kernel"
dpkg-deb --fsys-tarfile "debs/$kernel"_*.deb | tar x -C kernel --wildcards './boot/vmlinuz-*' './boot/config-*'
dpkg-deb --fsys-tarfile debs/busybox-static_*.deb | tar x -C kernel --wildcards './*bin/busybox'
if [ ${#programs[@]} -gt 0 ]; then
	apt-get "${options[@]}" -y --download-only install "${programs[@]}" || die "cannot download: ${programs[*]}"
	for deb in apt/cache/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar x -C root --exclude './usr/share/*' --exclude './usr/lib/*/gconv/*' ./usr ./bin ./lib 2>/dev/null || :
	done
fi
mv kernel/boot/vmlinuz-* vmlinuz
mv kernel/boot/config-* config
mv "$(find kernel -name busybox)" busybox
rm -rf kernel debs apt
printf '%s\nlayout %s\n' "$kernel" "$layout" >version
rm -rf "$dest"
mv "$part" "$dest"
echo "fetch.sh: $kernel for guests is in $dest" >&2
