#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The programs of every probe, those that are off by default too, are accepted by this kernel's verifier and attached.
native=${0%/*}/../../native
. "$native/lib.sh"
preloadable

more=$("$DLT" probes | sed -n 's/.*(off by default: --probes \(+[a-z_]*\)).*/\1/p' | paste -sd ,)
case $more in
*+access*+alloc*+cache*) ;;
*) fail "off by default: $more" ;;
esac
more=$more,+vfs_rw_sums
trace --probes "$more" --min-latency 1ms -- "$W/calls" -n 2 -t 1 -f 1 -T tally dir >pids 2>err || fail "status $?: $(cat err)"
! grep -E 'refused|in part|cannot be traced' err || fail "not all of it is traced"
missing=$(for name in $(echo "$more" | tr ',+' '  '); do [ -e "$t/$name.out" ] || echo "$name"; done)
equal "probes without a file" "$missing" ''
