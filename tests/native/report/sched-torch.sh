#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The CPU time of a PyTorch job, as a user would look at it: `start -P sched --workload', then `report --cpu'. It adds
# up, it has the data loader's workers and the job's phases, and dltraced has its own line.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"
/usr/bin/python3 -c 'import torch' 2>/dev/null || skip "torch for /usr/bin/python3 (python3-torch)"

train=$here/../workloads/train.py
"$train" --prepare --files 128 data || fail "status $?"
rm -rf "$t"
"$DLT" start -q -P sched --collectors none --min-free 0 --log -o "$t" --workload "'$train' --files 128 data" >log ||
	fail "status $?"
"$DLT" report --cpu --csv csv "$t" >text || fail "report --cpu: status $?"
grep -q '^difference  *0.000000[0-9]* s' text || fail "it does not add up: $(cat text)"
for name in train.py '(dltraced itself)'; do
	grep -qF " $name" text || fail "$name is not in it: $(cat text)"
done
for phase in init run epoch checkpoint; do
	grep -q "^mllog .* $phase\$" text || fail "it has no phase $phase: $(cat text)"
done
# A pipe may pass on several lines at once; each line contains the time of its event, in milliseconds.
awk -F, '$1 == "checkpoint" { n++; ns += $4 * 1e9 } END { exit !(n == 2 && ns >= 1e6) }' csv/phase_times.csv ||
	fail "checkpoints are not so short: $(cat csv/phase_times.csv)"
equal "workers" "$(grep -c . data/workers)" 4
while read -r _ _ pid; do
	grep -q "^$pid," csv/processes.csv || fail "no worker $pid: $(cat csv/processes.csv)"
done <data/workers
