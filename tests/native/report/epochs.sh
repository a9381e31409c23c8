#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The epochs of jobs that print them as training loops, tqdm, Lightning, Keras, the trainer of Hugging Face, MLPerf and
# other frameworks do, without any option by the user: `report' has as many as there were, where the job's own clock has them, whether
# lines come before an epoch, after it or within it, with workers for each epoch, for all epochs, or without workers. A
# job that prints nothing has the epochs of its workers. Checkpoints are found by their writes. By default lines are
# seen when they are written, each with its own time; with --log the job's output passes through dltraced. LONG=1: more
# ways to print them.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"
need python3

job=$here/../workloads/epochs.py
# run SHAPE OPTION...
run() {
	name=$1
	shift
	# shellcheck disable=SC2086 # none or one
	trace $log -- python3 "$job" "$name" data account --epochs 3 --steps 12 --step-ms 60 "$@" >/dev/null 2>err || fail "$name $*: $? $(cat err)"
	"$DLT" report --json "$t" >json || fail "report of $name $*"
}
# shape SOURCE SIDE FIRST SHAPE OPTION...: see checks/epochs.py
shape() {
	source=$1 side=$2 first=$3
	shift 3
	run "$@"
	python3 -B "$here/checks/epochs.py" account "$source" "$side" "$first" <json || fail "epochs of $*"
}
# numbers WANTED: the numbers of the epochs in the report.
numbers() {
	python3 -c 'import json, sys
print(*(p["number"] for p in json.load(sys.stdin)["timeline"]["phases"] if p["kind"] == "epoch"))' <json >numbers
	equal "epochs of $2" "$(cat numbers)" "$1"
}
python3 "$job" none data account --epochs 1 --steps 1 --step-ms 1 || fail "no data"

# more COMMAND...: only with LONG=1
more() { [ -z "${LONG-}" ] || "$@"; }

# Lines of no known form: the report says how to name them, of a job that prints nothing or known lines it does not.
hint() {
	"$DLT" report "$t" >screen || fail "report of $1"
	[ "$(grep -c "^epochs   no line that the job printed names an epoch" screen)" = "$2" ] || fail "$1: $(cat screen)"
}
log=
shape log ends 7 results --first 7 --save 20
hint results 0
more shape log ends 0 results
more shape log ends 0 results --persistent
more shape log ends 0 results --workers 0
more shape log ends 0 train-and-val --validate
more shape log ends 0 json --validate
more shape log ends 1 trainer
shape log begins 0 headings
more shape log begins 0 best-so-far --workers 0
shape log both 0 heading-and-result
more shape log both 0 every
more shape log both 0 keras
shape log both 0 bar
shape log both 0 lightning
shape log - 0 named
shape mllog - 0 mllog
more shape workers - 0 none --save 20
shape workers - 0 none --validate

# Frameworks with lines of their own. FIRST is the number that their first epoch has.
more shape log both 1 mmengine --first 1 --validate
shape log both 1 yolo --first 1 --validate
shape log ends 0 fastai --workers 0
more shape log both 0 timm --validate
shape log - 1 espnet --first 1
more shape log both 1 torchtune --first 1

# Those that count no epochs, but steps: one phase of training.
shape log training - tensorflow --persistent
more shape log training - detectron2 --persistent

# One generation of workers may be for all epochs, or for one: the report names none.
run none --persistent
numbers "" "workers of all epochs"
hint none 0

run unknown --persistent
hint unknown 1
grep -q "trace again with --phase" screen || fail "unknown: $(cat screen)"

log=--log
run unknown --persistent
hint "unknown --log" 1
"$DLT" report --phase 'round ([0-9]+) of=epoch \1 end' --json "$t" >json || fail "report --phase"
numbers "0 1 2" "the rule that the hint shows"
more shape log ends 0 results
more shape log both 0 heading-and-result
shape log both 0 keras
more shape log - 0 named
more shape mllog - 0 mllog

# Bars show whole seconds, and the time of a line that is drawn over itself is known only from the line: the report has
# one epoch for each bar.
run bar --step-ms 150
numbers "0 1 2" "a bar for each"
run lightning --step-ms 150
numbers "0 1 2" "one line of bars"
