#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# alloc.out of PyTorch that runs already: each tensor has its row and that of its end, to the byte.
# slow: importing PyTorch takes seconds
. "${0%/*}/../lib.sh"
preloadable

[ "$(uname -m)" = x86_64 ] || skip "instructions are decoded on x86-64 only"
python torch
python3 -W ignore "$here/../workloads/tensors_torch.py" ready go >tally 2>job.err &
job=$!
await test -e ready
spawn -v --probes alloc,time_align --alloc min=0 --pid "$job"
await test -s "$t/alloc.out"
await grep -q 'has probes on' err
: >go
join
wait "$job" || fail "it ended with $?: $(cat job.err)"
[ "$rc" = 0 ] || fail "status $rc: $(cat err)"
grep -q 'has probes on c10::alloc_cpu, c10::free_cpu' err || skip "this PyTorch's functions cannot have probes: $(grep -o 'c10.*has no probe' err)"
read -r count bytes ns <tally
equal "tensors" "$(rows alloc 'FUNC == "c10::alloc_cpu" && SIZE >= 100000' | wc -l)" "$count"
equal "bytes" "$(col alloc SIZE 'FUNC == "c10::alloc_cpu" && SIZE >= 100000' | awk '{ n += $1 } END { print n }')" "$bytes"
equal "frees" "$(rows alloc 'FUNC == "c10::free_cpu" && SIZE >= 100000 && LIFE_NS > 0' | wc -l)" "$count"
equal "lost" "$(manifest 'next(p for p in m["probes"] if p["name"] == "alloc")["lost"]')" 0
echo "note: $ns ns a tensor"
