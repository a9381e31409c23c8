#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The callbacks of the package for Python leave a region for each step and epoch of Lightning and of Hugging Face's Trainer.
native=${0%/*}/../native
. "$native/lib.sh"
python=$("$native/../peers/environment") || fail "no environment"
export PYTHONDONTWRITEBYTECODE=1

for trainer in lightning transformers; do
	PYTHONPATH=$(cd "$native/../../python" && pwd) trace -- "$python" "$native/../workloads/frameworks.py" "$trainer" data account \
		--callback >log 2>err || fail "$trainer: $(cat err)"
	"$DLT" report --json "$t" >report.json || fail "report --json"
	check framework_regions report.json account callback
done
