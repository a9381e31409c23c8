#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `report --json' names why the GPU of a job waited, or that it did not (tests/workloads/gpu.py): the job's GPU is a stand-in
# whose nvidia-smi shows what the job does with it.
#
# alone: shares of the time in jobs of few seconds
. "${0%/*}/../verdicts.inc"
with_helpers
install -m 755 "$here/../stubs/nvidia-smi.py" helpers/nvidia-smi || fail "no stand-in for nvidia-smi"
slow_disk 64M read=6 write=6
fast
mkdir disk/samples
python3 -c 'import os
for number in range(120):
    with open(f"disk/samples/sample-{number:04}", "wb") as f:
        f.write(os.urandom(200000))' || fail samples

for job in reads spins ahead full itself none; do
	for try in 1 2 3; do
		cold
		rm -f account helpers/gpu
		trace --log --collectors gpu,gpu_dev -- "$first" "$here/../workloads/gpu.py" $job disk/samples --gpu helpers/gpu \
			--account account >log || fail "$job: status $?: $(cat log)"
		"$DLT" report --json "$t" >report.json || fail "report --json: status $?"
		[ -z "${KEEP-}" ] || { rm -rf "${KEEP:?}/$job"; mkdir -p "$KEEP"; cp -r "$t" "$KEEP/$job"; }
		python3 -B "$here/checks/gpu.py" "$job" report.json account
		case $? in
		0) break ;;
		75) [ "$try" != 3 ] || skip "a machine that is not so busy" ;;
		*) [ "$try" != 3 ] || fail "$job" ;;
		esac
	done
done
