#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The newest PyTorch, and trainers and data sets on it (Lightning, Hugging Face Trainer and datasets, WebDataset), leave a
# region for each fetch, backward pass and step by --regions auto, with as many samples as they trained with.
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
