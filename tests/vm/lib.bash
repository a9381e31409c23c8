# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# What the programs in this folder share, and scripts/sysroot. They keep what is dear to make, kernels and the guests'
# root, in $vm_cache, outside of build/, so that a fresh clone finds it. Everything there is made
# under another name and then renamed, and under a lock: it is whole or absent.
PATH=$PATH:/usr/sbin:/sbin
vm_here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
vm_repo=${vm_here%/tests/vm}
vm_cache=${DLT_VM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/dltraced/vm}
# The guests' architecture, as dpkg names it: this machine's, or by VM_ARCH another one, with images and a build of its own.
vm_native=$(dpkg --print-architecture 2>/dev/null || echo amd64)
vm_arch=${VM_ARCH:-$vm_native}
vm_build=build
[ "$vm_arch" = "$vm_native" ] || vm_cache+=/$vm_arch vm_build=build/$vm_arch

say() { echo "${0##*/}: $*" >&2; }
fail() { say "$@"; exit 1; }

# skip WHY: this machine lacks something; the tests have not failed.
skip() { say "$@"; exit 77; }

# need COMMAND:PACKAGE...
need() {
	local c

	for c; do
		command -v "${c%:*}" >/dev/null || skip "${c%:*} not found: install ${c#*:}"
	done
}

# need_qemu: what emulates the guests' machine.
need_qemu() {
	case $vm_arch in
	arm64) need qemu-system-aarch64:qemu-system-arm ;;
	*) need qemu-system-x86_64:qemu-system-x86 ;;
	esac
}

# lock NAME: holds the lock until this program ends.
lock() {
	mkdir -p "$vm_cache" || exit 1
	exec 8>"$vm_cache/$1.lock"
	flock -n 8 && return
	say "waiting for another run that makes $1"
	flock 8
}

# kernels: prints the lines of the table for this architecture.
kernels() { sed 's/#.*//' "$vm_here/kernels" | awk -v arch="$vm_arch" 'NF == 4 || $5 == arch'; }
kernel_names() { kernels | cut -d' ' -f1; }

# ext4_image FOLDER FILE LABEL FREE [OPTION...]: makes an image of the folder with FREE MiB to spare, without mounting
# it and without root. It is one MiB larger, for an -E offset.
ext4_image() {
	local dir=$1 file=$2 label=$3 free=$4 mib inodes

	shift 4
	mib=$(($(du -sm --apparent-size "$dir" | cut -f 1) * 5 / 4 + free))
	inodes=$(($(find "$dir" | wc -l) * 2 + 10000))
	rm -f "$file"
	truncate -s "$((mib + 1))M" "$file" || return
	mke2fs -q -t ext4 -F -L "$label" -N "$inodes" -m 0 -b 4096 -d "$dir" "$@" "$file" "${mib}M"
}
