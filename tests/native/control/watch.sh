#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# status --watch: its numbers for each process are those of the rows, whether it looks often or once. Calls that hang
# are there, with their files. It redraws on a terminal and nowhere else, and ends with the trace or on ^C. There may be
# more processes than a packet holds; a watcher that does not read, or too many watchers, disturb nobody.
. "${0%/*}/../lib.sh"
need python3 mkfs.ext4
gate
disk_ext4
head -c 4194304 /dev/urandom >"$mnt/data"
sync -f "$mnt"

watch() { exec env --default-signal=INT "$DLT" status --watch "$@" 9>&-; }
seen() { [ "$(wc -l <"$1")" -ge "${2-1}" ]; }

# --- sums -----------------------------------------------------------------------------------------

mkfifo nobody
# shellcheck disable=SC2016 # the job's own
spawn -e watched -- sh -c '
	read -r _ <gate
	"$0" -n 20000 >out; echo $! >pids
	sh -c "echo \$\$ >pids; dd if=$1/data of=/dev/null bs=4k iflag=direct; exec dd if=$1/data of=$1/copy bs=64k conv=fsync"
	sh -c "echo \$\$ >>pids; exec cat missing nothing <pids"
	(cat nobody) & (: <nobody) &
	i=0; while [ $i -lt 2000 ]; do (: <pids) & i=$((i + 1)); [ $((i % 50)) != 0 ] || : ; done
	: >forked; read -r _ <gate; echo >nobody; wait' "$W/storm" "$mnt" >out
await test -e "/run/dltraced/$dlt.sock"
watch -j -i 100ms watched >often 2>err-often &
often=$!
watch -j -i 1h "$t" >once 2>err-once &
once=$!
await seen often 1
await seen once 1
echo >&9
await test -e forked

# --- what hangs ------------------------------------------------------------------------------------

# hangs CALL FILE: in the last look but one (the last may be incomplete).
hangs() {
	tail -n 2 often | head -n 1 | python3 -c '
import json, sys
calls = json.loads(sys.stdin.readline())["running"]
sys.exit(not any(c["call"] == sys.argv[1] and (c["file"] or "").endswith(sys.argv[2]) for c in calls))' "$@"
}
await hangs openat "$TMPDIR/nobody"
await hangs read "$TMPDIR/gate"

# --- a terminal, a pipe, ^C, too many ----------------------------------------------------------------

cat >on-a-terminal.py <<'END'
import fcntl, os, pty, signal, struct, sys, termios
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 70, 0, 0))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
said = b""
while said.count(b"\033[H") < 3 or not said.endswith(b"\033[J"):
    said += os.read(fd, 65536)
os.write(fd, b"\003")
try:
    while os.read(fd, 65536):
        pass
except OSError:
    pass
assert os.waitpid(pid, 0)[1] == 0, "status after ^C"
frames = said.split(b"\033[H")[1:]
for frame in frames:
    lines = frame.split(b"\n")
    assert 3 <= len(lines) <= 12, frame
    assert all(len(l.replace(b"\033[K", b"").replace(b"\033[J", b"").rstrip(b"\r")) <= 70 for l in lines), frame
    assert b"CALLS/S" in frame, frame
END
python3 on-a-terminal.py "$DLT" status -w -i 100ms "$t" 9>&- 2>err || fail "on a terminal: $(cat err)"

watch "$t" >text 2>err-text &
text=$!
watch -i 1h "$t" >silent 2>err-silent &
silent=$!
await grep -q '^  *all  *[0-9.]' text
await seen silent 2
grep -q "$(printf '\033')" text && fail "orders to a terminal: $(cat text)"
head -n 1 text | grep -Eq '^t  tracing 00:[0-9:]*  [0-9]* rows  0 lost  processes: [0-9]*, ' || fail "head: $(head text)"
awk '/ PID / { on = 1 } !NF { on = 0 } on && length > 80 { exit 1 }' text || fail "more than 80 columns: $(cat text)"
grep -Eq '^ *[0-9]+ [a-z]+ +[0-9.]+ openat +/.*/nobody$' text || fail "no call that hangs: $(cat text)"
"$DLT" status --watch "$t" 2>err && fail "a fifth one watches"
grep -q "4 commands watch it already" err || fail "said: $(cat err)"
kill -INT $text
wait $text || fail "status after an interrupt: $?: $(cat err-text)"
kill -STOP $silent

# --- the end ---------------------------------------------------------------------------------------

echo >&9
join
equal "status" $rc 0
wait $often || fail "status of the first: $?: $(cat err-often)"
wait $once || fail "status of the second: $?: $(cat err-once)"
kill -CONT $silent
wait $silent || fail "status of the silent one: $?"
check whole
[ "$(tail -n 1 once | wc -c)" -gt 400000 ] || fail "no large answer: $(tail -n 1 once | wc -c)"
# shellcheck disable=SC2046 # words
check watch often once $(grep . pids)
"$DLT" status -w "$t" 2>err && fail "watched nothing"
grep -q "no trace '$t' is running" err || fail "said: $(cat err)"

# --- what it refuses -------------------------------------------------------------------------------

for arguments in "-i 1" "t" "-w -i 0" "-w -i 2h" "-w a b"; do
	# shellcheck disable=SC2086 # words
	"$DLT" status $arguments >out 2>err && fail "took $arguments"
	[ -s err ] || fail "said nothing of $arguments"
done
