#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# PEER_HOST of sockets.out is the name of the remote host, where a TLS connection or a name server's answer has it, and so are
# the report's peers. Nothing else of what was sent is in the trace. With --no-net-names there is none.
. "${0%/*}/../lib.sh"
need python3
[ -x /usr/bin/python3 ] || skip "/usr/bin/python3"
/usr/bin/python3 -c 'import socket; socket.socket(type=socket.SOCK_DGRAM).bind(("127.0.0.77", 53))' 2>/dev/null ||
	skip "port 53 of 127.0.0.77"

# hosts: PEER_HOST and PEER of each connection that the job has made.
hosts() {
	rows sockets 'STATE == "closed" && TYPE == "stream" && PEER ~ /^127\.0\.0\.(78|79|80):/' >closed
	col sockets PEER_HOST 'STATE == "closed" && TYPE == "stream" && PEER ~ /^127\.0\.0\.(78|79|80):/' >names
	col sockets PEER 'STATE == "closed" && TYPE == "stream" && PEER ~ /^127\.0\.0\.(78|79|80):/' | paste -d ' ' names - | sort
}

trace -- /usr/bin/python3 "$here/../workloads/hosts.py" >told || fail "status $?"
[ "$(wc -l <told)" = 3 ] || fail "the job: $(cat told)"
equal "hosts" "$(hosts)" "$(sort told)"
"$DLT" report --json "$t" >report.json || fail "report: status $?"
for name in data.example.org bucket.s3.example.com; do
	grep -q "127\.0\.0\.[0-9]*:[0-9]* ($name)" report.json || fail "the report has no $name"
done
! grep -r 'not\.looked\.at' "$t" || fail "the trace has what was sent"
equal "lost" "$(manifest 'sum(p["lost"] for p in m["probes"] if p["name"] in ("net", "sockets"))')" 0
"$DLT" validate "$t" >out || fail "validate: $(cat out)"

trace --no-net-names -- /usr/bin/python3 "$here/../workloads/hosts.py" >told || fail "--no-net-names: status $?"
equal "--no-net-names" "$(col sockets PEER_HOST | sort -u)" -
