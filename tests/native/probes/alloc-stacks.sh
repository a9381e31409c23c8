#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The native stacks of allocations are those that the program has, also where frames have another size each time, and earlier
# calls have left their words in them; what is kept of a stack is what a new look finds.
. "${0%/*}/../lib.sh"

python
[ "$(uname -m)" = x86_64 ] || skip "x86-64"
n=20000
[ -z "$slow" ] || n=2000
trace --probes alloc,time_align --alloc-min 64K -- "$W/alloc_stacks" $n >tally 2>err || fail "status $?: $(cat err)"
check alloc_stacks tally "$W/alloc_stacks" $n
# shellcheck disable=SC2016 # the workload's shell
trace --probes alloc --alloc-min 64K -- sh -c 'DLTRACED_ALLOC="$DLTRACED_ALLOC check=1" exec "$@"' - "$W/alloc_stacks" $n >tally 2>err ||
	fail "what is kept is wrong: $? $(cat err)"
