#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# dltraced is killed by SIGKILL: the workload lives on, and its output and log, too. No BPF program, link or map of
# dltraced stays, and no collector. The folder can be read up to the last flush, and its manifest is not complete.
. "${0%/*}/../lib.sh"
need bpftool mpstat
gate

# ids KIND: of the BPF objects that $dlt holds.
ids() { sed -n "s/^$1_id:[[:blank:]]*//p" /proc/"$dlt"/fdinfo/* 2>/dev/null | sort -u; }

# freed KIND ID...: the kernel has freed each object, some time after the last close.
freed() {
	kind=$1
	shift
	for id; do
		bpftool "$kind" show id "$id" >/dev/null 2>&1 && return 1
	done
	return 0
}

cat >job <<'END'
echo $$ >pid
echo early
cat first
read _ <gate
cat second
echo late
echo end >done
END
echo 1 >first
echo 2 >second

spawn --log --collectors cpu -- sh job >out
await grep -qs '	first' "$t/vfs_rw.out" # rows have been flushed
await grep -qs '^[0-9].*all' "$t/cpu.out"
progs=$(ids prog) links=$(ids link) maps=$(ids map)
[ -n "$progs" ] && [ -n "$links" ] && [ -n "$maps" ] || fail "no BPF objects: $progs, $links, $maps"
mpstat=$(grep -l mpstat /proc/[0-9]*/comm | while read -r comm; do
	p=${comm%/comm}
	[ "$(awk '{ print $4 }' "$p/stat")" != "$dlt" ] || echo "${p#/proc/}"
done)
[ -n "$mpstat" ] || fail "no mpstat of ours"

kill -KILL "$dlt"
join 2>/dev/null
equal "status" $rc 137
for pid in $mpstat; do
	await gone "$pid"
done
# shellcheck disable=SC2086
{
	await freed prog $progs
	await freed link $links
	await freed map $maps
}

gone "$(cat pid)" && fail "the workload has gone too"
echo >&9
await test -s done
await gone "$(cat pid)"
await grep -q late out
equal "output" "$(cat out)" "$(printf 'early\n1\n2\nlate')"
equal "log" "$(cat "$t/workload.log")" "$(cat out)"

equal "complete" "$(manifest 'm["complete"]')" False
check lines
equal "rows of the first file" "$(col vfs_rw FILE 'COMM == "cat" && FILE == "first" && RETURNED > 0')" first
equal "rows of the second file" "$(rows vfs_rw 'FILE == "second"')" ""
"$DLT" report --full "$t" >report || fail "report: status $?"
grep -q '^files *NOT complete' report || fail "report does not say so: $(cat report)"

# --- killed while it writes -----------------------------------------------------------------------

large() { [ "$(wc -c <"$t/vfs_rw.out")" -gt 10000000 ]; }

spawn -- sh -c '"$0" -n 2000000; read _ <gate' "$W/storm" >out
await test -s "$t/vfs_rw.out"
await large
kill -KILL "$dlt"
join 2>/dev/null
check lines
await grep -q '^round 1 ' out
echo >&9
"$DLT" report --full "$t" >report || fail "report: status $?"
grep -q '^files *NOT complete' report || fail "report does not say so: $(cat report)"
