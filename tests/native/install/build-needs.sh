#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A build without clang or bpftool names at once the missing program, and the script that installs it.
. "${0%/*}/../lib.sh"
top=$here/../..
[ -e "$top/Makefile" ] || skip "the Makefile"
need make
for lack in CLANG BPFTOOL; do
	make -C "$top" B="$TMPDIR/build" "$lack=no-such-program" "$TMPDIR/build/vmlinux.h" >out 2>err && fail "a build without $lack"
	grep -qx 'no-such-program not found: scripts/install-deps --build installs what the build needs' err || fail "said: $(cat err)"
done
