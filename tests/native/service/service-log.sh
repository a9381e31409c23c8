#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The daemon's log has the reason of each refusal, with the user's name; and a user who connects again and again does not
# fill it: requests beyond a number are counted instead.
. "${0%/*}/../service.inc"
python
install -d -o nobody -m 700 home
t=$TMPDIR/home/t
daemon "max-traces-per-user = 2"

# --- reasons --------------------------------------------------------------------------------------------

sleep 1000 &
roots=$!
as_start --pid "$roots" 2>err && fail "root's process was traced"
kill "$roots"
logged() { grep -Eq "^dltraced: $1\$" daemon.err; }
await logged "process [0-9]+ for user nobody is refused: process $roots cannot be traced: it is not only yours: it runs as user 0"
python3 -c '
import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(os.environ["DLTRACED_SOCKET"])
assert b"root needs no service" in s.recv(4096)' || fail "root is served"
await logged 'user root is refused: root needs no service to trace'
# who has no name is named by the number
setpriv --reuid 54321 --regid 54321 --groups 1 python3 -c '
import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(os.environ["DLTRACED_SOCKET"])
s.send(b"\x1b[2Jjunk")
while s.recv(4096) != b"end": pass' || fail "junk"
await logged 'process [0-9]+ for user 54321 is refused: the request: Protocol error'
# what the client itself refuses is no refusal by the service
as_start --all 2>err && fail "the whole machine was traced"
grep -q 'error: --all is for root' err || fail "--all: $(cat err)"
await logged 'process [0-9]+ for user nobody has no request: the client went without one'
! logged '.*Connection reset by peer.*' || fail "a refusal: $(grep reset daemon.err)"
gate
for n in 1 2; do
	dir=$TMPDIR/home/t$n
	as "$DLT" start -q --background --collectors none --probes open --min-free 0 -o "$dir" -- sh -c 'read -r _ <gate' 2>err 9>&- ||
		fail "trace $n: $(cat err)"
done
as_start -- true 2>err && fail "a third trace"
await logged 'user nobody is refused: you have reached the limit of traces per user.*'
as "$DLT" stop t1 2>err || fail "stop: $(cat err)"
as "$DLT" stop t2 2>err || fail "stop: $(cat err)"
printf '\n\n' >&9

# --- a flood --------------------------------------------------------------------------------------------

lines=$(wc -l <daemon.err)
cat >flood <<'END'
import os, socket
for i in range(600):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(60)
    s.connect(os.environ["DLTRACED_SOCKET"])
    try:
        s.send(b"junk")
        while s.recv(4096) not in (b"end", b""):
            pass
    except (BrokenPipeError, ConnectionResetError):
        pass
END
setpriv --reuid 54322 --regid 54322 --groups 1 python3 flood || fail "the flood"
# another user still has lines
as_start --pid 1 2>err && fail "process 1 was traced"
await logged 'process [0-9]+ for user nobody is refused: process 1 cannot be traced:.*'
kill "$daemon"
wait "$daemon"
equal "status" $? 0
daemon=''
sed "1,${lines}d" daemon.err | grep -E '54322' >flooded
[ "$(wc -l <flooded)" -lt 200 ] || fail "$(wc -l <flooded) lines of a flood"
with_lines=$(grep -cE 'process [0-9]+ for user 54322, who asks|: user 54322 is refused' flooded)
without=$(awk '/user 54322: .* without lines here/ { for (i = 1; i < NF; i++) if ($i ~ /^further/) n += $(i - 1) } END { print n + 0 }' flooded)
[ "$without" -gt 300 ] || fail "not counted: $(tail -n 5 flooded)"
equal "requests with and without lines" $((with_lines + without)) 600
