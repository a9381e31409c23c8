#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# sites.out: the lines that make PyTorch's tensors, for which it has released the GIL, in the first thread and in another.
# slow: importing PyTorch takes seconds
. "${0%/*}/../lib.sh"
preloadable

python torch
cp "$here/../workloads/alloc_torch.py" job.py
trace --probes alloc,time_align -- python3 -W ignore "$PWD/job.py" >tally 2>err || fail "status $?: $(cat err)"
check alloc_torch tally
