# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# Clean roots of Debian by mmdebstrap(1), kept as archives in ~/.cache/dltraced (or DLT_VM_CACHE) for a week. Who sources this
# has say() and die(), and may set renew=yes.
cache=${DLT_VM_CACHE:-$HOME/.cache/dltraced/vm}/package
mkdir -p "$cache"

# root_with SUITE PACKAGES [OPTION...]: makes a root of SUITE with these, if there is none of this week, by mmdebstrap with these
# OPTIONs. Sets $tar.
root_with() {
	local suite=$1 include=$2

	tar=$cache/$suite-$(sha256sum <<<"$include ${*:3}" | cut -c -8).tar
	if [ -n "${renew-}" ] || [ -z "$(find "$tar" -mtime -7 2>/dev/null)" ]; then
		say "making a root of $suite with $include"
		mmdebstrap --quiet --format=tar --variant=minbase --include="$include" "${@:3}" "$suite" "$tar.new" 2>"$cache/log" || {
			cat "$cache/log" >&2
			die "mmdebstrap failed"
		}
		mv "$tar.new" "$tar"
	fi
}

# in_root ROOT COMMAND...: COMMAND in ROOT with this machine's /proc, /sys and /dev, by mounts that end with it; without
# our environment.
in_root() {
	# shellcheck disable=SC2016 # for the shell in the namespace
	unshare --mount --propagation private sh -euc '
		root=$1
		shift
		for d in proc sys dev; do mount --rbind "/$d" "$root/$d"; done
		exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root "$@"
	' in_root "$@" </dev/null
}
