#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --log: workload.log is the workload's output byte by byte, workload.out has each line with its time; stdout and stderr
# reach the caller as without --log, even a terminal. A reader that goes away ends the workload as it would without the
# log. What a process writes that outlives the job is in the log, too, and nobody waits for it.
. "${0%/*}/../lib.sh"
probed=open,time_align
need python3
gate

# logged FILE: workload.log equals FILE, and so do the joined lines of workload.out.
logged() {
	cmp "$t/workload.log" "$1" || fail "workload.log is not what was written"
	check lines
	check text "$1"
}

python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 1000)' >bytes
{
	echo plain
	echo
	echo -
	echo '?'
	printf 'tab\tquote"hash#back\\slash \033[31mred\033[0m \377\r\n'
	printf '%5000s\n' long
	printf 'no newline'
} >lines

# --- pipes and files ------------------------------------------------------------------------------

for file in bytes lines; do
	trace --log -- cat $file >out 2>err || fail "status $?"
	cmp out $file || fail "stdout is not what was written"
	logged $file
	check whole
done
equal "rows of lines" "$(col workload TEXT | cut -c -20 | tr '\n' ' ')" \
	"$(printf '%s ' plain - '\055' '\077' 'tab\011quote\042hash' '\040\040\040\040\040' "$(printf '%20s' |
		sed 's/ /\\040/g' | cut -c -20)" 'no\040newline')"

trace --log -- sh -c 'echo one; echo two >&2; echo three; [ -t 1 ] || [ -t 2 ] || exit 3' >out 2>err
equal "status" $? 3
equal "stdout" "$(cat out)" "$(printf 'one\nthree')"
equal "stderr" "$(cat err)" two
equal "log" "$(sort "$t/workload.log" | tr '\n' ' ')" "one three two "
trace --log -- sh -c 'echo one; echo two >&2; echo three' >both 2>&1
grep -v '^dltraced: warning: .*: its file system does not answer; waiting' both >out # a busy disk causes this warning
equal "stdout and stderr in one" "$(cat out)" "$(printf 'one\ntwo\nthree')"
logged out

# --- a reader that ends early -----------------------------------------------------------------------

for log in '' --log; do
	# shellcheck disable=SC2086 # none or one
	{ trace $log -- seq 30000000; echo $? >status; } | head -n 1 >out
	equal "status $log" "$(cat status)" 141
	equal "what was read $log" "$(cat out)" 1
done
head -n 1 "$t/workload.log" | grep -qx 1 || fail "nothing in the log"
check whole

# --- a terminal -----------------------------------------------------------------------------------

cat >job <<'END'
[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo terminal
stty size
read -r line
echo "read $line"
END
# This shell reads the first line of keys: after that the terminal has its size.
cat >shell <<'END'
stty rows 33 columns 133 -echo
"$@"
echo $? >status
END
rm -rf "$t"
mkfifo keys
python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' sh shell \
	"$DLT" start -q --report=none --collectors none --probes $probed --log -o "$t" -- sh job <keys >screen 2>&1 9>&- &
exec 8>keys
await grep -qs '33 133' screen
echo something >&8
await test -s status
exec 8>&-
wait $!
equal "status on a terminal" "$(cat status)" 0
equal "screen" "$(tr -d '\r' <screen)" "$(printf 'terminal\n33 133\nread something')"
tr -d '\r' <screen >out
logged out
check whole

# --- late output ------------------------------------------------------------------------------------

# The trace ends with the workload's root process, and does not wait for processes that hold its output open: such a
# wait would take at least a second, each time.
wait_ms() { manifest '(m["end"]["monotonic_ns"] - m["workload"]["end"]["monotonic_ns"]) // 10**6'; }
for try in 1 2 3 4 5; do
	trace --log -- sh -c '(read _ <gate; echo late) & echo early' >out 9>&- || fail "status $?"
	equal "log" "$(cat "$t/workload.log")" early
	equal "bytes" "$(manifest 'm["workload_log"]')" "{'written_bytes': 6, 'lost_bytes': 0, 'unsure_bytes': 0}"
	check whole
	echo >&9
	await grep -qs late "$t/workload.log"
	await grep -qs late out
	[ "$(wait_ms)" -ge 900 ] || break
done
[ "$(wait_ms)" -lt 900 ] || fail "$try times the trace ended $(wait_ms) ms after the workload"
