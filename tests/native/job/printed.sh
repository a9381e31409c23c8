#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# printed.out has the job's lines about epochs, with the time at which the job wrote each, while the output is as
# without a trace: a pipe, a file, a terminal, the same bytes. Lines may come in pieces, from two processes, from one
# that is killed, among many others and among junk. A line that tee passes on is not a second line. -P -printed leaves
# the file out.
. "${0%/*}/../lib.sh"
need python3
job=$here/../workloads/prints.py

# prints WAY [OPTION...]: the job prints its lines in that way, into out and err; the lines are rows.
prints() {
	way=$1
	shift
	trace "$@" -- python3 "$job" "$way" account >out 2>err9
	equal "status of $way" $? "${status:-0}"
	check printed account
}

ways='lines pieces two many junk'
[ -z "$slow" ] || ways='lines junk'
for way in $ways; do
	python3 "$job" $way account >out-plain 2>err-plain || fail "$way"
	prints $way
	for file in out err; do
		[ $file = err ] && got=err9 || got=out
		[ $way = two ] && continue # the order of two processes is chance
		# on a busy machine dltraced itself may print warnings there
		sed '/^dltraced: warning: /d' $got >got
		cmp got $file-plain || fail "$way: std$file is another than without a trace"
	done
done
status=137 prints killed

# The descriptors are the caller's own.
[ -n "$slow" ] && exit
stat -L -c '%d %i' out >inode
trace -- sh -c 'stat -L -c "%d %i" /dev/stdout /dev/stderr' >out 2>&1
equal "stdout and stderr" "$(sort -u out)" "$(cat inode)"
trace -- python3 "$job" lines account 2>/dev/null | cat >out
equal "lines in a pipe" "$(grep -c finished out)" 4
check printed account
cat >terminal.py <<'EOF'
import os, pty, sys
pid, fd = pty.fork()
if not pid:
    os.execvp(sys.argv[1], sys.argv[1:])
out = b""
while True:
    try:
        out += os.read(fd, 65536)
    except OSError:
        break
sys.stdout.buffer.write(out)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
EOF
rm -rf "$t"
python3 terminal.py "$DLT" start -q --report=none --collectors none -P -bio --min-free 0 -o "$t" --workload \
	"test -t 1 && test -t 2 && exec python3 '$job' lines account" >out || fail "on a terminal: $? $(cat out)"
check printed account
equal "lines on a terminal" "$(grep -c finished out)" 5

trace --workload "python3 '$job' lines account 2>&1 | tee of-tee" >out 2>err || fail "tee: $?"
cmp out of-tee || fail "tee"
check printed account
equal "lines of tee that are left out" "$(manifest 'next(p["filtered"] for p in m["probes"] if p["name"] == "printed")')" 5

# A bar is drawn 500 times a second: the lines that are left out are counted, and no call is lost.
trace -- python3 -c '
import os, time
for i in range(1001):
    os.write(2, b"\rEpoch 1: %3d%%|###| %d/1000 [00:01<00:01]" % (i // 10, i))
    time.sleep(0.002)' 2>/dev/null || fail "bar: $?"
check whole
kept=$(rows printed | wc -l)
equal "lines of a bar, and those left out" \
	"$((kept + $(manifest 'next(p["filtered"] for p in m["probes"] if p["name"] == "printed")')))" 1001
seconds=$(col vfs_rw TIMESTAMP 'FD == 2 && RW == "W"' | sed -n '1p;$p' | awk '{ t[NR] = $1 } END { printf "%d", (t[2] - t[1]) / 1e9 }')
[ "$kept" -gt 2 ] && [ "$kept" -le $((32 + 4 * seconds)) ] || fail "$kept lines of a bar in $seconds s"
equal "its last state" "$(col printed TEXT | tail -n 1 | grep -c 1000/1000)" 1
equal "its writes" "$(rows vfs_rw 'FD == 2 && RW == "W" && COMM ~ /^python/' | wc -l)" 1001

# A flood of output costs no row of a call, and all of it is counted.
trace -- python3 -c '
import os
os.write(1, b"Epoch 0 finished\n")
for i in range(39999):
    os.write(1, b"of no phase, again and again\n")' >/dev/null || fail "flood: $?"
check whole
equal "writes of a flood" "$(rows vfs_rw 'FD == 1 && RW == "W" && COMM ~ /^python/' | wc -l)" 40000
"$DLT" report --json "$t" >json || fail "report"
if [ "$(manifest 'next(p.get("unread", 0) for p in m["probes"] if p["name"] == "printed")')" -gt 0 ]; then
	grep -q 'writes to the job.s output were too many' json || fail "the report does not say what was not looked at"
fi

# Only the lines of the user's own rule, which no built-in rule knows.
trace --phase 'iteration ([0-9]+)=block \1' -- sh -c 'echo "iteration 1 of two"; echo other; echo "iteration 2 of two"' >out ||
	fail "phase: $?"
check whole
equal "lines of one's own" "$(col printed TEXT | tr '\n' ' ')" 'iteration\0401\040of\040two iteration\0402\040of\040two '
"$DLT" report --json --phase 'iteration ([0-9]+)=block \1' "$t" | grep -q '"block 1"' || fail "the report does not have them"

for off in '-P -printed' '-P -vfs_rw'; do
	# shellcheck disable=SC2086 # words
	trace $off -- python3 "$job" lines account >out 2>err || fail "$off: $?"
	[ ! -e "$t/printed.out" ] || fail "$off: printed.out is there"
done
