#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The epochs of jobs that are trained by the real tqdm, Lightning, Hugging Face Trainer and Keras, traced with default
# options: as many as their own callbacks count, and where these saw them; with the output on a pipe and on a terminal.
native=${0%/*}/../native
. "$native/lib.sh"
need script
python=$("$native/../peers/environment") || fail "no environment"
job=$native/../workloads/frameworks.py

# epochs TRAINER HOW: compares the report's epochs with the account.
epochs() {
	"$DLT" report --json "$t" >json || fail "report of $1"
	python3 -B "$native/checks/frameworks.py" account <json >shown 2>&1 || fail "$1, on a $2: $(cat shown)"
}

for trainer in tqdm lightning transformers keras; do
	trace -- "$python" "$job" "$trainer" data account 2>err | cat >log || fail "$trainer: $(cat err)"
	epochs "$trainer" pipe
	rm -rf "$t"
	script -qec "$DLT start -q --collectors none --probes -bio --min-free 0 -o $t -- $python $job $trainer data account" log >/dev/null </dev/null ||
		fail "$trainer on a terminal: $(tail -c 2000 log)"
	epochs "$trainer" terminal
done
