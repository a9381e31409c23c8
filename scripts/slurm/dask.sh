#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# dask.sh SCRIPT [ARG...]: run a script of Python with Dask on all nodes of a job of Slurm
#
#   sbatch -N 4 dask.sh analyse.py traces
#
# A scheduler and a worker for each node start by Dask's own commands, and end with the script, whose status is the job's.
# The script finds them by
#
#   client = distributed.Client(scheduler_file=os.environ["DASK_SCHEDULER_FILE"])
#   frame = dltraced.read("traces/*", engine="dask")
#
# The file is in the current folder, which the nodes share, as they do the traces. PYTHON: the interpreter, which has dask
# and distributed; default: python3.
set -euo pipefail
: "${SLURM_JOB_ID:?is not set: run it by sbatch or salloc}" "${PYTHON:=python3}"
[ $# != 0 ] || { sed -n '3,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 125; }
export DASK_SCHEDULER_FILE=$PWD/dask-$SLURM_JOB_ID.json
steps=()

finish() {
	kill "${steps[@]}" 2>/dev/null || :
	wait
	rm -f "$DASK_SCHEDULER_FILE"
}
trap finish EXIT

srun --overlap --nodes=1 --ntasks=1 "$PYTHON" -m dask scheduler --port 0 --no-dashboard --scheduler-file "$DASK_SCHEDULER_FILE" &
steps+=($!)
until [ -s "$DASK_SCHEDULER_FILE" ]; do
	kill -0 "${steps[0]}" || { echo "dask.sh: the scheduler has ended" >&2; exit 125; }
	sleep 0.2
done
srun --overlap --ntasks-per-node=1 "$PYTHON" -m dask worker --no-dashboard --scheduler-file "$DASK_SCHEDULER_FILE" \
	--local-directory "${TMPDIR:-/tmp}" &
steps+=($!)
"$PYTHON" "$@"
