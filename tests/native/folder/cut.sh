#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# smoke
# What dltraced cut makes of a made-up trace, by times since the start and in UTC, by phase, by process: awk selects the same
# rows; files, processes and clocks stay whole; validate accepts it, and so does Python's reader where the trace is a real one.
. "${0%/*}/../lib.sh"
need python3

"$W/../tests/gen_trace" -r 20000 -g 2 -w 4 -c 2 -s 8 -f 500 made >/dev/null || fail "gen_trace: status $?"
"$DLT" validate made >out || fail "made: $(cat out)"

# cut NAME CONDITION OPTION...: CONDITION is awk's, of ns since the begin and pid ("" where rows have none).
cut() {
	name=$1 condition=$2
	shift 2
	"$DLT" cut made -o "$name" "$@" || fail "cut $*: status $?"
	"$DLT" validate "$name" >out || fail "cut $*: $(cat out)"
	for file in made/*.out; do
		case ${file##*/} in
		files.out | pids.out | sites.out | time_align.out) cmp "$file" "$name/${file##*/}" || fail "cut $*: $file is not whole" ;;
		*)
			awk -F'\t' "NR == 2 { for (i = 1; i <= NF; i++) at[\$i] = i }
				NR > 2 && !/^#/ { ns = \$1 - 1000000000000; pid = (\"PID\" in at) ? \$at[\"PID\"] : \"\" }
				NR <= 2 || (!/^#/ && ($condition))" "$file" | sed 1d >lines
			sed 1d "$name/${file##*/}" | cmp - lines || fail "cut $*: $file"
			;;
		esac
	done
}

cut times 'ns >= 2000000000 && ns < 5500000000' --from 2 --to 5500ms
cut utc 'ns >= 2000000000 && ns < 5500000000' --from 2026-11-22T00:00:02Z --to 2026-11-22T00:00:05.5Z
cut late 'ns >= 6000000000' --from 6
cut phase '(ns >= 560000000 && ns < 2640000000) || (ns >= 3040000000 && ns < 5120000000) || (ns >= 5520000000 && ns < 7600000000)' --phase epoch
cut pids 'pid == "" || pid == 1000 || pid == 1003' --pid 1000,1003
cut both '(pid == "" || pid == 1000) && ns < 3000000000' --pid 1000 --to 3
for file in times/*.out; do
	cmp "$file" "utc/${file##*/}" || fail "UTC: $file"
done
t='times'
equal "start and end" "$(manifest '(m["start"], m["end"])')" \
	"({'monotonic_ns': 1002000000000, 'utc': '2026-11-22T00:00:02.000000000Z'}, {'monotonic_ns': 1005500000000, 'utc': '2026-11-22T00:00:05.500000000Z'})"
equal "cut" "$(manifest '[m["cut"][k] for k in ("from", "from_start_ns", "times")]')" \
	"['made', 1000000000000, [[1002000000000, 1005500000000]]]"
equal "report: duration" "$("$DLT" report --json times | python3 -c 'import json, sys; print(json.load(sys.stdin)["duration_ns"])')" 3500000000

for by in '--from 2 --to 5500ms' '--from 2026-11-22T00:00:02Z --to 2026-11-22T00:00:05.5Z'; do
	"$DLT" export made -f csv -P vfs_rw -o - $by >"${by%% --to*}.csv" || fail "export $by"
done
cmp ./--from*.csv || fail "export by UTC"
# a cut of a cut
"$DLT" cut times -o again --from 1 && "$DLT" validate again >out || fail "cut of a cut: $(cat out)"
equal "rows of vfs_rw" "$(sed 1,2d again/vfs_rw.out | wc -l)" \
	"$(awk -F'\t' 'NR > 2 && $1 >= 1003000000000 && $1 < 1005500000000' made/vfs_rw.out | wc -l)"

refused() {
	wanted=$1
	shift
	"$DLT" cut "$@" -o none 2>err
	equal "status of cut $*" $? 125
	grep -q -e "$wanted" err || fail "cut $*: $(cat err)"
	[ ! -e none ] || fail "cut $*: a folder is left"
}
refused 'no time from' made --from 9
refused 'not later than' made --from 3 --to 2
refused 'not later than' made --to 2026-11-21T00:00:00Z
refused 'neither a time' made --from 2026-11-22
refused 'which part' made
refused 'no time from' made --phase epoch --to 100ms
refused 'no phase' made --phase lunch
refused 'not a list' made --pid 1,x
refused 'not a trace folder' . --from 1

t=$TMPDIR/real
trace --collectors none -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do cat /etc/passwd >/dev/null; sleep 0.1; done' || fail "status $?"
original=$t t=$TMPDIR/part
"$DLT" cut "$original" -o "$t" --from 300ms --to 700ms || fail "cut: status $?"
check whole
begin=$(manifest 'm["start"]["monotonic_ns"]') end=$(manifest 'm["end"]["monotonic_ns"]')
equal "length" $((end - begin)) 400000000
equal "rows of open" "$(rows open | wc -l)" "$(awk -F'\t' -v b="$begin" -v e="$end" 'NR > 2 && $1 >= b && $1 < e' "$original/open.out" | wc -l)"
[ "$(rows open | wc -l)" -gt 0 ] || fail "no rows"
