# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# What the recipes share.

die() { echo "${0##*/}: $*" >&2; exit 125; }

# The program: DLTRACED, or the one that was built or installed beside us, or that of PATH. Sets $dltraced.
find_dltraced() {
	local here
	here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
	for dltraced in "${DLTRACED-}" "$here/../../build/dltraced" "$here/../../../bin/dltraced" "$(type -P dltraced)"; do
		[ -x "$dltraced" ] && return
	done
	die "dltraced not found: install it, or say where it is by DLTRACED=/path/to/dltraced"
}

# start ARG...: dltraced start, by sudo where we are not root. The command is still ours then.
start() {
	[ "$(id -u)" = 0 ] || set -- sudo "$dltraced" start "$@"
	[ "$(id -u)" != 0 ] || set -- "$dltraced" start "$@"
	"$@"
}

# usage: the comment at the top of the script, from its third line on.
usage() { sed -n '3,/^[^#]/{/^#/!d; s/^# \{0,1\}//; p}' "$0"; }
