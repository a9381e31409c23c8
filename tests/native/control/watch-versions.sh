#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# status --watch with a trace of another version, or with anything else that answers at its socket: a message says so,
# nothing else is on stdout, and it does not crash. A view that it can read is shown, without control sequences for a
# terminal. An older watcher is told why it gets nothing.
. "${0%/*}/../lib.sh"
need python3
gate

cat >fake.py <<'END'
import os, socket, sys
path = f"/run/dltraced/{os.getpid()}.sock"
os.makedirs("/run/dltraced", exist_ok=True)
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.bind(path)
server.listen()
open("listens", "w").close()
for answer in sys.argv[1:]:
    while True:
        client = server.accept()[0]
        if not client.recv(65536).startswith(b"status"):
            break
        client.send(b"ok\nfake\t%d\ttracing\t0\t0\t0\t0\t0\t/fake\tfake\n" % os.getpid())
        client.close()
    client.send(os.fsencode(answer))
    client.close()
os.unlink(path)
END
# Each watcher gets the next one of these; `.' begins a line that never ends.
view='{"name":"n","pid":1,"phase":"tracing","all":{"calls":2},"processes":[{"pid":7,"comm":"a b\u001b[2J\\377"}],"running":[]}'
python3 fake.py "$(printf 'ok\nbegin\ttracing\t9\t9\t0\t9\t1\t1\nend\n.')" "$(printf 'ok\n{"running": [\n.')" \
	"$(printf 'ok\n{"running": {}}\n.')" "$(printf 'ok\n{"x": "\033", "running": []}\n.')" \
	"$(printf 'ok\n%s\n.' "$view")" "$(printf 'ok\n%s\n.' "$view")" \
	"$(printf 'error\nit does not know this request\n.')" 9>&- &
fake=$!
await test -e listens
for _ in words cut object control; do
	"$DLT" status --watch --json $fake >out 2>err && fail "took what it cannot read"
	equal "stdout" "$(cat out)" ""
	grep -q "/fake: the trace was started by another version of dltraced" err || fail "said: $(cat err)"
done
"$DLT" status --watch --json $fake >out 2>err || fail "JSON: $(cat err)"
equal "view" "$(cat out)" "${view%?},\"path\": null}"
"$DLT" status --watch $fake >out 2>err || fail "text: $(cat err)"
grep -qF '      7 a b\033[2J\377 ' out || fail "names: $(cat out)"
"$DLT" status --watch $fake >out 2>err && fail "watched what was refused"
grep -q "/fake: it does not know this request" err || fail "said: $(cat err)"
wait $fake || fail "status of the server: $?"

spawn -- sh -c 'read -r _ <gate'
await test -e "/run/dltraced/$dlt.sock"
python3 - "/run/dltraced/$dlt.sock" <<'END' || fail "an older watcher"
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
s.send(b"watch 1000 1000")
got = s.recv(65536)
assert got.startswith(b"error\nthe trace was started by another version of dltraced"), got
END
echo >&9
join
equal "status" $rc 0
