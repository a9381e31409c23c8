#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# status --watch looks in /proc for the file of a call in flight. If another process has the PID by then, which began
# after the call, nothing of that process is shown.
. "${0%/*}/../lib.sh"
need python3
gate
echo text >secret
sh -c 'exec 7<secret; read -r _ <gate' 9>&- &
process=$!
await test -e "/proc/$process/fd/7"

# One call on descriptor 7, in flight for SINCE ms.
cat >fake.py <<'END'
import json, os, socket, sys
path = f"/run/dltraced/{os.getpid()}.sock"
os.makedirs("/run/dltraced", exist_ok=True)
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.bind(path)
server.listen()
open("listens", "w").close()
process = int(sys.argv[1])
for since in sys.argv[2:]:
    while True:
        client = server.accept()[0]
        if not client.recv(65536).startswith(b"status"):
            break
        client.send(b"ok\nfake\t%d\ttracing\t0\t0\t0\t0\t0\t/fake\tfake\n" % os.getpid())
        client.close()
    view = {"name": "n", "pid": 1, "phase": "tracing", "all": {}, "processes": [], "running": [
        {"pid": process, "tid": process, "comm": "", "probe": "vfs_rw", "call": "read", "running_ms": int(since), "file": None, "fd": 7}]}
    client.send(b"ok\n" + json.dumps(view).encode() + b"\n.")
    client.close()
os.unlink(path)
END
python3 fake.py $process 0 360000000 9>&- &
fake=$!
await test -e listens
# shown: the thread's name and file
shown() {
	"$DLT" status --watch --json $fake >out 2>err || fail "status --watch: $(cat err)"
	python3 -c 'import json; c = json.loads(open("out").readline())["running"][0]; print(c["comm"] or "-", (c["file"] or "-").rsplit("/")[-1])'
}
equal "a call of this process" "$(shown)" "sh secret"
equal "a call from before it" "$(shown)" "- -"
wait $fake || fail "status of the server: $?"
echo >&9
wait $process
