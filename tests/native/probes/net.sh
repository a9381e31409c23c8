#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# net.out has each call on a socket once, in a sum or in a row of its own, with its bytes, as the job counts them, and
# strace where it is there: TCP, UDP and Unix sockets, by recv, send, read, write and sendfile. sockets.out has their
# addresses and bytes, and the report sums of them. A pipe is no socket. With --probes +net each call has a row; without
# net there are no files. In guests the job is the only witness.
. "${0%/*}/../lib.sh"
python=/usr/bin/python3 # the interpreter itself: a wrapper script would make calls of its own
[ -x "$python" ] || skip "$python"
job=$here/../workloads/net.py

trace -- "$python" "$job" protocol || fail "status $?"
set --
if [ -z "$slow" ] && command -v strace >/dev/null; then
	strace -f -qq -yy -e trace=%network,%desc -o calls "$python" "$job" untraced || fail "strace: $?"
	set -- calls
fi
check net protocol "$@"
[ "$(rows net 'COUNT > 1' | wc -l)" -gt 0 ] || fail "no sums"
"$DLT" report --json "$t" >report.json 2>err || fail "report: $(cat err)"
equal "the report's calls" "$("$python" -c 'import json; print(sum(p["calls"] for p in json.load(open("report.json"))["network"]))')" \
	"$(col net COUNT | awk '{ n += $1 } END { print n }')"

trace --probes -bio,+net -- "$python" "$job" protocol || fail "status $?"
check net protocol "$@"
equal "sums, where each call has a row" "$(rows net 'COUNT != 1 || RET == "-"' | wc -l)" 0
[ -z "$slow" ] || exit 0

trace --probes -bio,-net,-sockets -- "$python" "$job" protocol || fail "without it: status $?"
[ ! -e "$t/net.out" ] && [ ! -e "$t/sockets.out" ] || fail "files that nobody wants"
