#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Opens that wait for a listener of fanotify, as of a scanner on access, are held up by it: the report's answer is held-by,
# with the process's name, and not the number of files. A FIFO's open that waits for a process outside the job is none of
# storage. The same files without a listener are neither.
. "${0%/*}/../lib.sh"
python
mkdir data
for i in $(seq 60); do echo "$i" >"data/$i"; done
cat >reads.py <<'PY'
import os, sys, time
begin = time.monotonic()
while True:
    for entry in os.scandir(sys.argv[1]):
        with open(entry.path, "rb") as f:
            f.read()
    if time.monotonic() - begin > 0.8:
        break
PY

# answer: of the job that $t has.
answer() {
	"$DLT" report --json "$t" >report.json || fail "report --json: status $?"
	code=$(python3 -c 'import json; print(json.load(open("report.json"))["bottleneck"]["code"])')
}

"$W/on_access" data 20000 ready 2>listener &
listener=$!
until [ -e ready ] || gone "$listener"; do sleep 0.05; done
[ -e ready ] || skip "fanotify: $(cat listener)"
trap 'kill "$listener" 2>/dev/null; cleanup' EXIT
trace -- python3 reads.py data || fail "status $?"
answer
equal "with a listener" "$code" held-by
grep -q 'process outside the job: on_access' report.json || fail "no name: $(cat report.json)"
kill "$listener"
wait "$listener"

trace -- python3 reads.py data || fail "status $?"
answer
case $code in held-by | open-metadata) fail "without a listener: $code" ;; esac

# The other end of the FIFO is opened a second later.
mkfifo fifo
(
	await test -e opens
	sleep 1
	exec 3>fifo
) &
writer=$!
# shellcheck disable=SC2016 # for the inner shell
trace -- sh -c ': >opens; exec 3<fifo' || fail "status $?"
wait "$writer"
answer
case $code in held-by | open-metadata | storage-read) fail "a FIFO: $code" ;; esac
