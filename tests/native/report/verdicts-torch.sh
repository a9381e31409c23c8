#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `report --json' names what a PyTorch job waits for: its samples, on a slow disk; and, when they are in memory, only
# itself, as it computes for longer than the loaders load.
#
# alone: shares of the time in a job of some seconds
[ "${LONG-}" ] || { echo "needs LONG=1 (a minute, of a machine with little else to do)"; exit 77; }
/usr/bin/python3 -c 'import torch' 2>/dev/null || { echo "needs torch for /usr/bin/python3 (python3-torch)"; exit 77; }
. "${0%/*}/../verdicts.inc"
train=$here/../workloads/train.py

slow_disk 32M read=4
"$train" --prepare --files 640 disk/data || fail "--prepare"
again() { cold; }
cold
verdict storage-read --probes +bio,+sched --disk "$disk" -- "$first" "$train" --files 640 --epochs 1 --account account disk/data
again() { :; }
# Data that is in the page cache now.
verdict trainer-bound --probes -bio,+sched -- "$first" "$train" --files 256 --epochs 1 --passes 16 --account account disk/data
verdict trainer-bound,unknown -- "$first" "$train" --files 256 --epochs 1 --passes 16 --account account disk/data
