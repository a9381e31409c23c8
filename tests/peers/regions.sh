#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The newest PyTorch, and trainers and data sets on it (Lightning, Hugging Face Trainer and datasets, WebDataset), leave a
# region for each fetch, backward pass and step by --regions auto, with as many samples as they trained with.
# So do collectives and distributed checkpoints.
native=${0%/*}/../native
. "$native/lib.sh"
python=$("$native/../peers/environment") || fail "no environment"
job=$native/../workloads/frameworks.py
export PYTHONDONTWRITEBYTECODE=1

# regions HOW: compares regions.out and the report with the account.
regions() {
	"$DLT" report --json "$t" >report.json || fail "report --json"
	check framework_regions report.json account "$1"
}

for trainer in lightning transformers datasets; do
	trace --regions auto -- "$python" "$job" "$trainer" data account >log 2>err || fail "$trainer: $(cat err)"
	regions auto
done
trace --regions auto -- "$python" "$job" webdataset data account >log 2>err || fail "webdataset: $(cat err)"
regions batched

# a loader of this PyTorch says of itself what that of the distribution's says
trace -P regions,time_align --regions auto -- "$python" "$native/../workloads/regions_torch.py" forkserver persistent >losses 2>err || fail "loader: $(cat err)"
check regions_torch workers forkserver 1

# collectives of two ranks, and checkpoints by torch.distributed
trace -P regions,time_align --regions auto -- "$python" "$native/../workloads/collectives_torch.py" "$TMPDIR" >tally 2>err || fail "collectives: $(cat err)"
check regions_collectives tally
cat >saves.py <<'PY'
import torch
import torch.distributed.checkpoint as dcp
state = {"weights": torch.ones(10)}
dcp.save(state, checkpoint_id="saved")
state["weights"] = torch.zeros(10)
dcp.load(state, checkpoint_id="saved")
assert state["weights"][0] == 1
PY
trace -P regions,time_align --regions auto -- "$python" -W ignore saves.py 2>err || fail "torch.distributed.checkpoint: $(cat err)"
equal "checkpoints" "$(rows regions | cut -f 6,7,9 | tr '\t\n' '  ')" "checkpoint save 0 checkpoint load 0 "
