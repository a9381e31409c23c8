#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `report --json' names what a training job waits for: for jobs that are made to wait for one thing (staged.py), on a
# slow disk, on a file system with slow metadata, with a GPU that shows what the trainer does. If the trace lacks
# sched.out, the report may say that it does not know, but nothing that is wrong.
#
# alone: shares of the time in jobs of few seconds
. "${0%/*}/../verdicts.inc"
with_helpers
install -m 755 "$here/../stubs/nvidia-smi.py" helpers/nvidia-smi || fail "no stand-in for nvidia-smi"

# With GPU samples, one a second, a job must last for several of them.
longer=''
# staged CODE[,unknown] JOB FOLDER [OPTION...]
staged() {
	codes=$1 job=$2 folder=$3
	shift 3
	# shellcheck disable=SC2086
	verdict "$codes" "$@" -- "$first" "$here/../workloads/staged.py" $longer --gpu helpers/gpu "$job" "$folder" account
}
prepare() { "$here/../workloads/staged.py" --prepare "$@" || fail "--prepare $*"; }

# --- without a slow file system -------------------------------------------------------------------

for job in trainer-bound decode-cpu straggler-sleeps; do prepare $job "$job"; done
longer='--seconds 4'
staged gpu-bound trainer-bound trainer-bound --probes -bio,+sched --collectors gpu,gpu_dev
longer=''
staged trainer-bound trainer-bound-cpu trainer-bound --probes -bio,+sched,+sched_switch
staged trainer-bound,unknown trainer-bound trainer-bound
staged decode-cpu decode-cpu decode-cpu --probes -bio,+sched
staged decode-cpu,unknown decode-cpu decode-cpu
staged cpu-contention cpu-contention decode-cpu --probes -bio,+sched
staged straggler-worker straggler-sleeps straggler-sleeps --probes -bio,+sched
staged straggler-worker straggler-works straggler-sleeps --probes -bio,+sched,+sched_switch

# --- a slow disk ------------------------------------------------------------------------------------

slow_disk 48M read=6 write=6
prepare storage-read disk/read
prepare checkpoint-write disk/save
prepare straggler-disk parts
mv parts/part-0 disk
ln -s "$PWD/disk/part-0" parts/part-0
again() { cold; }
cold
longer='--seconds 1.5'
staged storage-read storage-read disk/read --probes +bio,+sched --disk "$disk" --collectors gpu,gpu_dev
cold
longer=''
staged storage-read storage-read-alone disk/read --probes -bio,+sched,+sched_switch
cold
staged storage-read storage-read-mapped disk/read --probes -bio,+sched,+sched_switch
staged straggler-worker straggler-disk parts --probes -bio,+sched
again() { :; }
cat disk/save/*/* >/dev/null
staged checkpoint-write checkpoint-write disk/save --probes +bio,+sched --disk "$disk"

# --- a slow server ----------------------------------------------------------------------------------

server near meta=2
prepare open-metadata near/data
slow
staged open-metadata open-metadata near/data --probes -bio,+sched
staged open-metadata,unknown open-metadata near/data
