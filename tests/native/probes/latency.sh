#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# LAT_NS has 64 bits: a read that blocks for longer than 2^31 ns has its true length. A read that still blocks when the
# trace ends is a row, too, with its time so far and no result.
. "${0%/*}/../lib.sh"

gate

# now VARIABLE: CLOCK_MONOTONIC in ns.
now() { eval "$1=\$(python3 -c 'import time; print(time.monotonic_ns())')"; }
blocked() { grep -qs '(head) S' "/proc/$(cat pid)/stat"; }

# block: traces a program until it blocks in a read of the gate; nothing else makes it sleep.
block() {
	rm -f pid
	spawn -- sh -c 'trap "" TERM; echo $$ >pid; exec head -c 1 gate'
	await [ -s pid ]
	await blocked
}

# spans RESULT BEGUN DONE END: the row of the read began before BEGUN and ended between DONE and END.
spans() {
	check latency "$(cat pid)" "$@"
}

block
now begun
sleep 2.3
now woken
echo >&9
join
equal status $rc 0
now end
spans 1 "$begun" "$woken" "$end"

# The first TERM goes to the workload, which ignores it; a later one ends the trace.
ended() { gone $dlt || ! kill -TERM $dlt; }
block
now begun
await ended
join
now end
spans '?' "$begun" "$begun" "$end"
echo >&9
await gone "$(cat pid)"
