# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# What the recipes share.

die() { echo "${0##*/}: $*" >&2; exit 125; }

# Sets $dltraced to the program: DLTRACED, or the one built or installed with this script, or the one on PATH.
find_dltraced() {
	local here
	here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
	for dltraced in "${DLTRACED-}" "$here/../../build/dltraced" "$here/../../../bin/dltraced" "$(type -P dltraced)"; do
		[ -x "$dltraced" ] && return
	done
	die "dltraced not found: install it, or say where it is by DLTRACED=/path/to/dltraced"
}

# start ARG...: dltraced start, by sudo unless this is root. The command then still runs as the caller.
start() {
	[ "$(id -u)" = 0 ] || set -- sudo "$dltraced" start "$@"
	[ "$(id -u)" != 0 ] || set -- "$dltraced" start "$@"
	"$@"
}

# line TEXT: as one line, without tabs
line() { printf %s "$1" | tr '\t\n' '  '; }

# usage: prints the comment at the top of the script, from its third line on.
usage() { sed -n '3,/^[^#]/{/^#/!d; s/^# \{0,1\}//; p}' "$0"; }
