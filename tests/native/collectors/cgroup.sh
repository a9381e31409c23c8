#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# cgroup.out against the kernel's own files, read by this script before and after: time without quota, pages that came
# again, and bytes of a disk, of a job in cgroups of its own, and the same of a process that moves, and of a cgroup that
# is named. The first row of a cgroup has no sums, the last comes after the job's end.
. "${0%/*}/../quota.inc"
. "$here/limited.inc"
need python3 losetup
cpu_group
cpu=$group
memory_group 33554432
memory=$group
io=$(awk '/ - cgroup / && /[ ,]blkio(,[^ ]*)?$/ { print $5; exit }' /proc/self/mountinfo)
io_stat=blkio.throttle.io_service_bytes_recursive
if [ ! "$io" ]; then
	io=${memory%/*} io_stat=io.stat
	[ -z "$slow" ] || echo +io >"$io/cgroup.subtree_control" || skip "the io controller"
fi
io=$io/dltraced-io-$$
mkdir "$io" || skip "a cgroup hierarchy that can be written"
trap 'rmdir "$cpu" "$memory" "$io" 2>/dev/null; cleanup' EXIT
gate

# of KEY FILE: the number of that line of a cgroup's file
of() { awk -v key="$1" '$1 == key { print $2 }' "$2"; }
# sum COLUMN GROUP: of the rows of that cgroup after $from
sum() { col cgroup "$1" "TIMESTAMP > $from && CGROUP == \"/${2##*/}\" && $1 != \"-\"" | awk '{ n += $1 } END { printf "%.0f\n", n }'; }
# near WHAT VALUE WANTED: within 3 %
near() { awk -v a="$2" -v b="$3" 'BEGIN { exit !(b > 0 && a >= 0.97 * b && a <= 1.03 * b) }' || fail "$1: $2, not $3"; }
# begun GROUP: it has a row
begun() { grep -q "	/${1##*/}\$" "$t/cgroup.out" 2>err.grep; }
# quiet GROUP: its last row has sums, and no thread of it was without quota; $from is the row's time
quiet() {
	begun "$1" || return
	from=$(rows cgroup "CGROUP == \"/${1##*/}\"" | tail -n 1 | awk -F'\t' '$4 != "-" && $8 + 0 == 0 { print $1 }')
	[ "$from" ]
}
# in_cgroup GROUP SCRIPT ARG...: spawns a job that moves into the cgroup and runs SCRIPT when nothing happens there
in_cgroup() {
	to=$1 script=$2
	shift 2
	spawn --collectors cgroup -- sh -c "echo \$\$ >'$to/cgroup.procs' && read _ <gate && { $script; }" sh "$@"
	await quiet "$to"
}
go() {
	echo >&9
	join
	equal "status" $rc 0
	equal "messages" "$(messages)" ""
	equal "state" "$(manifest "'; '.join(c['name'] + ' ' + c['state'] for c in m['collectors'])")" "cgroup stopped"
	check whole
	check collectors cgroup=LEVEL,SPAN_NS,CPU_NS,MEM_BYTES,R_BYTES,IO_FULL_NS,CGROUP
	# a cgroup's first row has nothing to count from
	equal "first rows" "$(each cgroup 'if (!(CGROUP in seen)) { seen[CGROUP]; if (SPAN_NS != "-") print }' | wc -l)" 0
	equal "levels" "$(each cgroup 'n = gsub("/", "/", CGROUP); if (LEVEL != (CGROUP == "/" ? 0 : n)) print' | wc -l)" 0
}

# --- a quota --------------------------------------------------------------------------------------

ms=8
[ -z "$slow" ] || ms=40
quota_of $ms >"$quota"
# at its end the job sleeps, so that no thread is without quota then
in_cgroup "$cpu" 'timeout 2.5 sh -c "while :; do :; done" & timeout 2.5 sh -c "while :; do :; done"; wait; sleep 0.5'
before=$(of "$of_quota" "$cpu/cpu.stat") periods=$(of nr_periods "$cpu/cpu.stat") times=$(of nr_throttled "$cpu/cpu.stat")
go
ns=$((($(of "$of_quota" "$cpu/cpu.stat") - before) * to_ns))
echo "throttled: $(sum THROTTLED_NS "$cpu") ns by dltraced, $ns by cpu.stat"
near "throttled" "$(sum THROTTLED_NS "$cpu")" $ns
# the kernel counts some periods after the job's end
[ "$(sum PERIODS "$cpu")" -ge "$(sum THROTTLED "$cpu")" ] && [ "$(sum PERIODS "$cpu")" -le $(($(of nr_periods "$cpu/cpu.stat") - periods)) ] ||
	fail "periods: $(rows cgroup)"
near "times" "$(sum THROTTLED "$cpu")" $(($(of nr_throttled "$cpu/cpu.stat") - times))
equal "quota" "$(col cgroup CPU_MAX "CGROUP == \"/${cpu##*/}\"" | sort -u)" "$(awk -v ms=$ms 'BEGIN { printf "%.3f\n", ms / 100 }')"
"$DLT" validate "$t" >valid || fail "validate: $(cat valid)"
from=0
equal "throttled, in the report" "$("$DLT" report --json "$t" | python3 -c 'import json, sys
print(sum(row["throttled_ns"] or 0 for row in json.load(sys.stdin)["cgroups"]))')" "$(sum THROTTLED_NS "$cpu")"
"$DLT" report --full "$t" >full || fail "report: status $?"
grep -q '^  CPU: cpu.max 0.[0-9]* CPUs, throttled .* s in .* % of its periods' full || fail "the report has no quota: $(cat full)"

# --- a limit of memory ----------------------------------------------------------------------------

disk_ext4 128M
dd if=/dev/zero of=disk/large bs=1M count=64 conv=fsync 2>err || fail "$(cat err)"
echo 3 >/proc/sys/vm/drop_caches
file=workingset_refault_file full=max events=$memory/memory.events
[ -e "$events" ] || { file=total_workingset_refault_file full='' events=$memory/memory.failcnt; }
refaults() { awk -v a="$file" '$1 == a { print $2 }' "$memory/memory.stat"; }
hits() { if [ "$full" ]; then of max "$events"; else cat "$events"; fi; }
in_cgroup "$memory" 'cat disk/large disk/large disk/large >/dev/null'
before=$(refaults) had=$(hits)
go
echo "refaults: $(sum REFAULT_FILE "$memory") by dltraced, $(($(refaults) - before)) by memory.stat"
near "refaults" "$(sum REFAULT_FILE "$memory")" $(($(refaults) - before))
near "times at the limit" "$(sum MAX_EVENTS "$memory")" $(($(hits) - had))
equal "limit" "$(col cgroup MEM_MAX "CGROUP == \"/${memory##*/}\"" | sort -u)" 33554432
[ "$(col cgroup MEM_BYTES "CGROUP == \"/${memory##*/}\"" | sort -n | tail -n 1)" -gt 30000000 ] || fail "memory in use: $(rows cgroup)"
"$DLT" report --full "$t" >full || fail "report: status $?"
grep -q '^  memory: .* % of memory.max (32.0 MiB), .* refaults/s' full || fail "the report has no limit of memory: $(cat full)"
umount disk && mnt=''

# --- bytes of a disk ------------------------------------------------------------------------------

numbers=$(stat -c '%Hr:%Lr' "$loop")
# from Linux 6.10 on, v1 counts the bytes only of disks that have a limit; this one is none
[ "$io_stat" = io.stat ] || for way in read write; do
	echo "$numbers 1000000000000" >"$io/blkio.throttle.${way}_bps_device" || fail "no limit"
done
in_cgroup "$io" 'dd if=$1 of=/dev/null bs=1M count=24 iflag=direct status=none && dd if=/dev/zero of=$1 bs=256K count=20 oflag=direct status=none' "$loop"
go
echo "bytes: $(sum R_BYTES "$io") read, $(sum W_BYTES "$io") written, $(sum R_IOS "$io") and $(sum W_IOS "$io") requests"
[ "$(sum R_BYTES "$io")" -ge 25165824 ] && [ "$(sum W_BYTES "$io")" -ge 5242880 ] || fail "bytes: $(rows cgroup)"
if [ "$io_stat" = io.stat ]; then
	sums=$(awk '{ for (i = 2; i <= NF; i++) { split($i, v, "="); n[v[1]] += v[2] } } END { print n["rbytes"] + 0, n["wbytes"] + 0 }' "$io/io.stat")
else
	sums=$(awk '{ n[$2] += $3 } END { print n["Read"] + 0, n["Write"] + 0 }' "$io/$io_stat")
fi
equal "bytes as $io_stat ($numbers)" "$(sum R_BYTES "$io") $(sum W_BYTES "$io")" "$sums"

[ -z "$slow" ] || exit 0

# --- a cgroup that is named, and the machine ------------------------------------------------------

"$DLT" start -q --report none $(start_options) --collectors cgroup --cgroup "$cpu" -o named &
dlt=$!
t=named
await quiet "$cpu"
before=$(of "$of_quota" "$cpu/cpu.stat")
sh -c 'echo $$ >"$0/cgroup.procs" && timeout 1 sh -c "while :; do :; done"; sleep 0.5' "$cpu"
"$DLT" stop named >stopped || fail "stop: $?"
join
equal "status" $rc 0
ns=$((($(of "$of_quota" "$cpu/cpu.stat") - before) * to_ns))
near "throttled, of a named cgroup" "$(sum THROTTLED_NS "$cpu")" $ns
"$DLT" start -q --report none $(start_options) --collectors cgroup --all --duration 1s -o all || fail "status $?"
t=all
equal "cgroups of the machine" "$(col cgroup CGROUP | sort -u)" /
[ ! -e /proc/pressure/io ] || equal "its pressure" "$(col cgroup IO_SOME_NS 'SPAN_NS != "-" && IO_SOME_NS == "-"' | wc -l)" 0
