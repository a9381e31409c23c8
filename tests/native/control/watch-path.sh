#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# status --watch shows where the job's last ten seconds went, while they go: a sleep, a computation, a child's computation
# that is waited for, answers of a server outside the job, and a wait for nobody in the job, of which most last for
# seconds and so have no row yet. Each view agrees with the job's own clock. Of a hostile name no byte reaches the
# terminal as it is. Two traces at once, one of which is attached, each have their own.
. "${0%/*}/../lib.sh"
need python3
python
mkfifo outside

cat >server.py <<'END'
import socket, time
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
peer, _ = server.accept()
while peer.recv(1):
    time.sleep(0.15)
    peer.send(b"x")
END
cat >job.py <<'END'
import ctypes, os, socket, sys, time

LONG = 3
peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
account = open("account", "w", buffering=1)


def compute():
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        pass


def sleep():
    time.sleep(LONG)


def child():
    reads, writes = os.pipe()
    if not os.fork():
        ctypes.CDLL(None).prctl(15, b"he\033[2Jlper")
        compute()
        os.write(writes, b"x")
        os._exit(0)
    os.read(reads, 1)
    os.wait()


def network():
    for _ in range(LONG * 6):
        peer.send(b"x")
        peer.recv(1)


def outside():
    with open("outside", "r+b", buffering=0) as fifo:
        fifo.read(1)


def phase(what):
    begin = time.monotonic_ns()
    what()
    print(what.__name__, begin, time.monotonic_ns(), file=account)


for what in (sleep, compute, child, network, outside, compute):
    phase(what)
open("done", "w").close()
time.sleep(4)
END

python3 server.py >port &
server=$!
await test -s port
spawn -e path -- python3 job.py "$(cat port)"
await test -e "/run/dltraced/$dlt.sock"
"$DLT" status --watch -j -i 500ms "$t" >views 2>err-views 9>&- &
views=$!
"$DLT" status --watch -i 500ms "$t" >text 2>err-text 9>&- &
text=$!

# Another trace, of a process that runs already and does nothing but sleep.
sleep 300 &
idle=$!
"$DLT" start -q $(start_options) -o "$TMPDIR/other" -e other --rotate 6s --pid "$idle" 2>err-other 9>&- &
other=$!
await test -e "/run/dltraced/$other.sock"
"$DLT" status --watch -j "$TMPDIR/other" >views-other 2>err-views-other 9>&- &
views_other=$!

await grep -qs '^network ' account
python3 -c 'import time; time.sleep(3)'
echo >outside
await test -e done
join
equal "status" $rc 0
wait $views || fail "status of the watcher: $?: $(cat err-views)"
wait $text || fail "status of the other watcher: $?: $(cat err-text)"
kill $idle
wait $server || fail "status of the server: $?"
wait $other || fail "status of the other trace: $?: $(cat err-other)"
wait $views_other || fail "status of its watcher: $?: $(cat err-views-other)"

python3 -B "$here/checks/watch_path.py" views account python3 || fail "$(sed 's/.*"path"//' views | tail -n 3)"
python3 -B "$here/checks/watch_path.py" --idle views-other sleep "$idle" || fail "$(sed 's/.*"path"//' views-other | tail -n 3)"
grep -Eq '^where [0-9.]+ s of process [0-9]+ \(python3\) went, until [0-9]+ s ago:$' text || fail "no head: $(tail -n 40 text)"
grep -Eq '^ +[0-9.]+ %  sleeping for a given time \(python3\)$' text || fail "no sleep: $(tail -n 40 text)"
grep -Eq '^ +[0-9.]+ %  on a CPU \(he\\033\[2Jlper.*\)$' text || fail "no child: $(tail -n 40 text)"
! grep -q "$(printf '\033')" text || fail "orders to a terminal: $(cat -v text)"
