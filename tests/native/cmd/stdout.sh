#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What a command prints is what the user wants: where standard output is closed or full, each command that prints fails with
# 125 and says so. A traced command keeps its status, and finds its standard output closed as it was.
. "${0%/*}/../lib.sh"
# more than a buffer holds
trace -- "$W/calls" -n 500 -t 1 -f 1 -T tally dir >pids || fail "status $?"

# closed COMMAND...: it fails on a closed standard output.
closed() {
	"$DLT" "$@" >&- 2>err
	equal "status of $* on a closed standard output" $? 125
	grep -q 'error: standard output is closed' err || fail "$* said: $(cat err)"
}

# lost COMMAND...: it fails on a closed standard output, on one that is open for reading alone, and on a full one.
lost() {
	"$DLT" "$@" >out 2>err || fail "$*: status $?: $(cat err)"
	[ -s out ] || fail "$* prints nothing"
	closed "$@"
	"$DLT" "$@" 1</dev/null 2>err
	equal "status of $* on one for reading" $? 125
	[ -e /dev/full ] || return
	"$DLT" "$@" >/dev/full 2>err
	equal "status of $* on a full disk" $? 125
	grep -q 'error: standard output: ' err || fail "$* said: $(cat err)"
	equal "errors of $* on a full disk" "$(grep -c error err)" 1
}

lost --version
lost --help
lost help start
lost start --help
lost status --usage
lost status --json
lost probes --json
lost validate t
lost report t
lost report --full t
lost report --json t
lost report --html - t
lost export t -f csv --probes open -o -
lost export t -f ndjson -o -
lost export t -f folded -o -

closed probes # these load all programs, which takes long
closed check --min-free 0

# Nothing to print is no loss.
XDG_RUNTIME_DIR=$TMPDIR "$DLT" stop none >&- 2>err
equal "status of stop without a trace" $? 1

t=without
# shellcheck disable=SC2016 # the workload's
trace -- sh -c '[ ! -e /proc/self/fd/1 ]; exit $((7 + $?))' >&-
equal "status of a workload whose standard output is closed" $? 7
rm -r without
"$DLT" start --collectors none --probes -bio --min-free 0 --report screen -o without -- sh -c 'exit 7' >&- 2>err
equal "status where the screen cannot be printed" $? 7
grep -q 'warning: .*first screen.*could not be written' err || fail "said: $(cat err)"
