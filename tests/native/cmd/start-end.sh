#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The last thing that `start' writes on a terminal, whatever the job has written, is a screen of at most 12 lines of 80
# columns: what the job waited for, how it ended, what is missing, which processes still run, where the trace is, and
# what to type next. It agrees with the report. -q prints none of it; --report=none does not read the trace; a trace that
# is too large to be read in a moment is not waited for. The status is always the workload's. `stop' ends with the same
# screen, and `status' of one trace prints what is known so far.
. "${0%/*}/../lib.sh"
need python3
trap '[ ! -s children ] || kill $(cat children); cleanup' EXIT

# shown ARG...: `start ARG...` on a terminal. screen has all of the output, said the lines of dltraced, $rc the status.
shown() {
	rm -rf "$t"
	python3 "$here/terminal.py" /dev/null 80 "$DLT" start --collectors none --probes -bio --min-free 0 -o "$t" "$@" >screen
	rc=$?
	sed -n '/^dltraced: [A-Z]/,$p' screen >said
}

# A trace folder below the working directory is named relative to it.
ended() {
	[ "$(wc -l <said)" -le 12 ] || fail "$(wc -l <said) lines: $(cat said)"
	awk 'length > 80' said | grep . && fail "wider than 80 columns"
	grep -v '^dltraced: ' said && fail "something comes behind it"
	grep -q "^dltraced:   trace    t (.*B)$" said && grep -q "^dltraced:   next     dltraced report t$" said &&
		grep -q "^dltraced:            dltraced report --html report.html t$" said || fail "where to go on: $(cat said)"
}

# fact NAME TEXT
fact() { grep -q "^dltraced:   $1  *$2$" said || fail "no $1 '$2': $(cat said)"; }
no_fact() { ! grep "^dltraced:   $1 " said || fail "$1 is there: $(cat said)"; }

# --- the job ends ---------------------------------------------------------------------------------

shown -- sh -c 'seq 500; exit 3'
equal "status" $rc 3
equal "the job's lines" "$(grep -cx '[0-9]*' screen)" 500
ended
fact job 'ended with status 3, traced for .*s'
no_fact missing
no_fact running
"$DLT" report "$t" >report
title=$(sed -n '2,$d; s/^[a-z-]*: //; s/ ([0-9].*//p' report)
head -n 2 said | sed 's/^dltraced: //' | tr '\n' ' ' | grep -qF "$title" || fail "not the report's '$title': $(cat said)"

shown -- sh -c 'kill -9 $$'
equal "status after SIGKILL" $rc 137
fact job 'ended by SIGKILL, traced for .*s'

# --- processes that still run ---------------------------------------------------------------------

shown -- sh -c 'for i in 1 2; do sleep 100 </dev/null >/dev/null 2>&1 & echo $! >>children; done'
ended
fact running '2 processes of the job still run; --wait-all traces them'
no_fact missing
# shellcheck disable=SC2046 # words
kill $(cat children)
rm children

# --- what is missing ------------------------------------------------------------------------------

shown --probes open -- true
ended
fact missing 'calls of close, create_del, mmap, sync, vfs_rw were not'

preloadable
shown --probes +alloc --alloc min=1M -- env -i "$(command -v sleep)" 0.01
ended
fact missing 'allocations of 1 process without the library of alloc'
"$DLT" report "$t" | grep -q '^memory   no allocation is in the trace$' || fail "memory: $("$DLT" report "$t")"

# --- packed ---------------------------------------------------------------------------------------

shown -o t.tar.gz -- true
ended
fact archive 't\.tar\.gz (.*B)'
rm t.tar.gz

# --- otherwise ------------------------------------------------------------------------------------

shown -q -- sh -c 'echo mine; exit 5'
equal "status with -q" $rc 5
equal "what -q writes" "$(cat screen)" mine
shown --report=none -- true
sed -n '/^dltraced:   job/,$p' screen >said
ended
grep -q '^dltraced: The ' screen && fail "--report=none has read the trace: $(cat screen)"
shown --report screen -- true
ended
grep -q "^next     dltraced report --full t$" screen || fail "--report screen prints no report: $(cat screen)"

# A trace too large to be read at once: no summary, but the command for it.
cat >large <<'END'
import os, sys, glob
while not glob.glob(sys.argv[1] + "/pids.out"):
    pass
fd = os.open(sys.argv[1] + "/large", os.O_CREAT | os.O_WRONLY)
os.truncate(fd, 3 << 30)  # takes no space
END
shown -- python3 large "$t"
ended
grep -q '^dltraced: Finding out what the job waited for takes longer than a moment' said || fail "said: $(cat said)"

# --- stop and status ------------------------------------------------------------------------------

gate
spawn -- sh -c 'cat /etc/passwd >/dev/null; read _ <gate; exit 4'
await grep -qs passwd "$t/files.out"
"$DLT" status "$t" >table || fail "status"
equal "lines of a verdict" "$(grep -c '^so far: ' table)" 1
"$DLT" status --json "$t" | python3 -c 'import json, sys; json.load(sys.stdin)' || fail "status --json"
"$DLT" stop "$t" 2>said || fail "stop: $(cat said)"
sed -i '/ rows, .* lost, in /d' said
ended
fact job 'goes on as process [0-9]*, traced for .*s'
echo >&9
join
equal "status after stop" $rc 4
