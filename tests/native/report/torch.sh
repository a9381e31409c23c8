#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A real PyTorch job: 512 sample files read twice by two forked data-loader workers, a checkpoint after each epoch.
# Every open and read of a sample comes from a worker; the trainer creates, writes and renames the checkpoints; nothing
# is lost.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"
/usr/bin/python3 -c 'import torch' 2>/dev/null || skip "torch for /usr/bin/python3 (python3-torch)"

train=$here/../workloads/train.py
"$train" --prepare data || fail "status $?"
trace -- "$train" data >log || fail "status $?"
check torch data log
