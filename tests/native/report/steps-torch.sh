#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The steps of an unmodified PyTorch job with --regions auto add up to its own time: at most the time from before its
# first iteration to after its last checkpoint by its own clock, and at least that from within the first to within the
# last. Its waits are its fetches, with loaders and without. Its epochs' computing and I/O are compared with regions.out
# and vfs_rw.out.
. "${0%/*}/../lib.sh"
python torch
for workers in 2 0; do
	trace --regions auto -- python3 "$here/../workloads/steps_torch.py" $workers "$TMPDIR/data" account >log 2>&1 ||
		fail "status $?: $(cat log)"
	"$DLT" report --json "$t" >report.json || fail "report --json: status $?"
	check steps_torch report.json account $workers
done
