#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# stop, status and mark: running traces answer those who may ask, and nobody else. A trace that is stopped is whole, and
# its workload goes on. The text of a mark is a row, whoever has set it, even the job.
. "${0%/*}/../lib.sh"
probed=open,time_align
need jq python3 setpriv
gate

# field KEY [DIR]: a value of `status --json` for the trace in that folder.
field() {
	"$DLT" status --json | python3 -c '
import json, sys
for t in json.load(sys.stdin):
    if t["dir"] == sys.argv[2]: print(t[sys.argv[1]])' "$1" "${2-$t}"
}
# is PHASE [DIR]
is() { [ "$(field phase "${2-$t}")" = "$1" ]; }

# --- one trace ------------------------------------------------------------------------------------

spawn -- sh -c '"$1" mark --trace "$2" "by the job" && : >marked; read -r _ <gate; : >went-on; exit 3' sh "$DLT" "$t"
await test -e marked
equal "phase" "$(field phase)" tracing
equal "name" "$(field name)" t
pid=$(field pid)
job=$(field workload_pid)
"$DLT" status >table
grep -q "^t  *$pid tracing  *root " table && grep -q "^  .* free, target workload:$job\$" table && grep -qx "  folder $t" table ||
	fail "not in the table: $(cat table)"
"$DLT" status "$pid" | sed 1d | grep -q "^t  *$pid tracing " || fail "status of one: $("$DLT" status "$pid")"
equal "target" "$("$DLT" status --json | jq -c '.[] | select(.name == "t").target | [.workload, .all, .pids]')" '[true,false,[]]'
equal "collectors, rates" "$(field collectors) $(field rows_per_s | grep -c '^[0-9.]*$')" "[] 1"
"$DLT" status nobody 2>err && fail "status of nobody"
grep -q "no trace 'nobody'" err || fail "said: $(cat err)"

# A process that does not answer does not delay the answers of the others.
kill -STOP "$pid"
"$DLT" status >table
grep -q "^?  *$pid silent " table || fail "not silent: $(cat table)"
equal "JSON of one that is silent" "$("$DLT" status --json "$pid" | jq -c .)" "[{\"pid\":$pid,\"phase\":\"silent\"}]"
kill -CONT "$pid"
await is tracing

"$DLT" mark -t "$t" "epoch 2	begins" 2>err || fail "mark: $(cat err)"
"$DLT" mark -t "$pid" "$(printf '\033[2J\377')" 2>err || fail "mark: $(cat err)"
"$DLT" mark -t "$t" "" 2>err && fail "an empty mark was taken"
"$DLT" mark -t "$t" "$(head -c 4097 /dev/zero | tr '\0' x)" 2>err && fail "a mark of 4097 bytes was taken"
long=$(head -c 4096 /dev/zero | tr '\0' x)
"$DLT" mark -t "$t" "$long" 2>err || fail "a mark of 4096 bytes: $(cat err)"

# Clients that send nothing, too much or nonsense do not block the trace.
python3 - "/run/dltraced/$pid.sock" <<'END' || fail "the socket"
import socket, sys
def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(sys.argv[1])
    return s
def answer(request):
    s = connect()
    s.settimeout(60)
    try:
        s.send(request)
        return s.recv(65536)
    except (BrokenPipeError, ConnectionResetError):
        return b""
silent = [connect() for _ in range(12)]
for request in (b"\0", b"stop it", b"x" * 60000, b"mark", b"status\0\xff"):
    got = answer(request)
    assert not got or got.startswith((b"error\n", b"ok\n")), (request[:20], got[:80])
    if request == b"stop it": # "stop" takes no notice of what is behind it
        assert got.startswith(b"ok\n"), got
        break
for s in silent:
    s.close()
END
await is untraced
equal "complete" "$(manifest 'm["complete"]')" True
# The elapsed time no longer grows.
equal "elapsed" "$(field elapsed_ms)" \
	"$(manifest '(m["end"]["monotonic_ns"] - m["start"]["monotonic_ns"]) // 1000000')"
check whole
col marks TEXT >marks
printf '%s\n' 'by\040the\040job' 'epoch\0402\011begins' '\033[2J\377' "$long" | diff - marks ||
	fail "marks.out: $(cat "$t/marks.out")"
[ ! -e went-on ] || fail "the workload did not wait"
"$DLT" stop "$t" 2>err && fail "stopped twice"
grep -q "the trace has ended; only its workload is running" err || fail "said: $(cat err)"
"$DLT" mark -t "$t" late 2>err && fail "marked after its end"
echo >&9
join
equal "status" $rc 3
[ -e went-on ] || fail "the workload has not gone on"
[ ! -e "/run/dltraced/$pid.sock" ] || fail "the socket is still there"

# --- several --------------------------------------------------------------------------------------

odd=$TMPDIR/$(printf 'odd\tname \033[2J\302\2332J') # U+009B is as ESC [ to terminals
for dir in "$TMPDIR/one" "$odd"; do
	"$DLT" start --background -e several --collectors none --probes $probed --min-free 0 -o "$dir" -- \
		sh -c 'read -r _ <gate' 2>err 9>&- || fail "start in $dir: $(cat err)"
done
await is tracing "$TMPDIR/one"
await is tracing "$odd"
"$DLT" status >table
grep -qF 'odd\011name \033[2J\302\2332J' table || fail "not escaped: $(cat table)"
grep -q "$(printf '\033')" table && fail "an order to the terminal"
"$DLT" stop 2>err && fail "stopped one of several"
grep -q "traces are running: name one" err || fail "said: $(cat err)"
grep -q " one of user root, experiment several, process $(field pid "$TMPDIR/one"), folder $TMPDIR/one\$" err &&
	grep -qF 'odd\011name\040\033[2J??2J of user root, experiment several' err || fail "not listed: $(cat err)"
"$DLT" stop several 2>err && fail "stopped one of two of an experiment"
grep -q "2 traces are called 'several'" err || fail "said: $(cat err)"
"$DLT" stop nobody 2>err && fail "stopped nobody"
grep -q "no trace 'nobody'" err || fail "said: $(cat err)"

# Other users can neither stop a trace nor see it.
setpriv --reuid 54321 --regid 54321 --clear-groups "$DLT" stop one 2>err && fail "stopped by somebody else"
equal "what others are told" "$(setpriv --reuid 54321 --regid 54321 --clear-groups "$DLT" status --json)" "[]"
equal "phase after that" "$(field phase "$TMPDIR/one")" tracing

# A trace is found by its folder, relative to the working directory; the socket of a killed process is removed.
(cd "$TMPDIR" && "$DLT" stop "./$(basename "$odd")") 2>err || fail "stop by folder: $(cat err)"
grep -q "rows, .* lost, in " err || fail "no summary: $(cat err)"
"$DLT" mark -t several "now there is one" 2>err || fail "mark by experiment: $(cat err)"
pid=$(field pid "$TMPDIR/one")
kill -KILL "$pid"
swept() { "$DLT" status >/dev/null 2>&1; [ ! -e "/run/dltraced/$pid.sock" ]; }
await swept
printf '\n\n' >&9

# Stopped before it begins: nothing was traced, and the workload has gone on.
spawn --delay 1h -- sh -c 'read -r _ <gate; exit 5'
await is delay
"$DLT" stop "$t" 2>err || fail "stop under --delay: $(cat err)"
echo >&9
join
equal "status" $rc 5
equal "rows" "$(rows open 1 | wc -l)" 0
