#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# alloc.out of a process that runs already: probes on the functions of its libraries, by the files that it has mapped,
# also when these are gone or others have their names. Stacks are those of its source. Its children live and are followed; what
# must not be probed is not.
# slow: its children are followed for seconds
. "${0%/*}/../lib.sh"
preloadable

[ "$(uname -m)" = x86_64 ] || skip "instructions are decoded on x86-64 only"

# runs LIBRARY [late]: the workload, up to where the trace is to begin.
runs() {
	rm -f ready go
	cp "$W/$1" libc10.so
	library=$W/$1
	"$W/tensors" ready go "$PWD/libc10.so" ${2:+"$2"} >tally &
	job=$!
	await test -e ready
}

# follow ARG...: a trace of it, and its end.
follow() {
	spawn -v --probes alloc,time_align --alloc min=0 --pid "$job" "$@"
	await test -s "$t/alloc.out"
	await grep -q 'has probes on' err
	: >go
	join
	wait "$job" || fail "the workload ended with $?"
	[ "$rc" = 0 ] || fail "status $rc: $(cat err)"
}

runs c10-plain.so
follow
check tensors tally "$W/tensors" "$library"
grep -q 'libc10.so has probes on c10::alloc_cpu, c10::free_cpu' err || fail "no line of its cost: $(cat err)"

"$DLT" report --json "$t" | grep -q '"stack": "c10::alloc_cpu < tensor < works < ' || fail "no stack in the report"

# a library without frame pointers: the function that calls it is left out, not those above
runs c10-bare.so
follow
check tensors tally "$W/tensors" "$library" bare

# one frame, and none
runs c10-plain.so
follow --alloc sites=caller
equal "stacks of more than a caller" "$(rows sites 'KIND == "native" && FRAMES ~ /;/' | wc -l)" 0
equal "rows without a caller" "$(rows alloc 'SITE == "-" && SIZE != 77777 && SIZE != "-"' | wc -l)" 0
runs c10-plain.so
follow --alloc sites=none
equal "stacks" "$(rows sites 1 | wc -l)" 0
equal "rows with a stack" "$(rows alloc 'SITE != "-"' | wc -l)" 0

# only blocks from --alloc min=SIZE on; the others are counted
runs c10-plain.so
follow --alloc min=20K
equal "small rows" "$(rows alloc 'SIZE != "-" && SIZE < 20480' | wc -l)" "$(rows alloc 'FUNC == "libc:posix_memalign" && SIZE < 20480' | wc -l)"
equal "frees" "$(rows alloc 'FUNC == "c10::free_cpu" && SIZE != 77777 && SIZE != "-"' | wc -l)" 30
[ "$(manifest 'm["alloc"]["small_calls"]')" -ge 600 ] || fail "small calls: $(manifest 'm["alloc"]')"

# its file is another one by now; its file is gone
runs c10-plain.so
cp "$W/c10-nop5.so" new
mv new libc10.so
follow
check tensors tally "$W/tensors" "$library"
runs c10-plain.so
rm libc10.so
follow
check tensors tally "$W/tensors" "$library"

# a library that is loaded later
runs c10-plain.so late
follow
grep -q 'libc10.so has' err && fail "it was there before: $(cat err)"
check tensors tally "$W/tensors" "$library"

# what must not be probed: the others are, and children live
for why in nop5:'nop of five bytes' stepped:'stepped through'; do
	runs "c10-${why%%:*}.so"
	follow
	grep -q "c10::free_cpu of libc10.so has no probe: .*${why#*:}" err || fail "no reason: $(cat err)"
	equal "frees" "$(rows alloc 'FUNC == "c10::free_cpu"' | wc -l)" 0
	equal "allocations" "$(rows alloc 'FUNC == "c10::alloc_cpu" && ADDR != "0" && SIZE != 77777 && SIZE != 12345' | wc -l)" 630
	grep -q '^child 23$' tally || fail "the child has not lived: $(cat tally)"
done

# where a probe on a return makes a system call, a process that filters these has none, and no trace
runs c10-plain.so filter
if grep -qw __x64_sys_uretprobe /proc/kallsyms; then
	"$DLT" start -q -P +alloc --pid "$job" -o refused 2>err && fail "a filter: status 0"
	grep -q 'has a filter of system calls (seccomp), and so no probes: from Linux 6.11 on .*; start the job by dltraced' err || fail "no reason: $(cat err)"
	: >go
	wait "$job" || fail "the workload ended with $?"
	# one that begins to filter loses them
	runs c10-plain.so filters
	follow
	equal "rows before the filter" "$(rows alloc 'FUNC == "c10::alloc_cpu" && SIZE == 12345' | wc -l)" 1
	equal "rows behind the filter" "$(rows alloc 'SIZE != 12345' | wc -l)" 0
	equal "processes that filter" "$(manifest 'm["alloc"]["failed_probes"]')" 2
else
	follow
	check tensors tally "$W/tensors" "$library"
fi

"$DLT" start -q -P +alloc --cgroup /sys/fs/cgroup -o "$t" 2>err && fail "--cgroup: status 0"
grep -q 'needs a workload' err || fail "--cgroup: $(cat err)"
