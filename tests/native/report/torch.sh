#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A real PyTorch job: 512 sample files read twice by two forked data-loader workers, a checkpoint
# after each epoch. Every sample's open and read comes from a worker, the checkpoints are created,
# written and renamed by the trainer, nothing is lost.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"
/usr/bin/python3 -c 'import torch' 2>/dev/null || skip "torch for /usr/bin/python3 (python3-torch)"

train=$here/../workloads/train.py
"$train" --prepare data || fail "status $?"
trace -- "$train" data >log || fail "status $?"
check torch data log
