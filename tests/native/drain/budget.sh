#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The cost of a row, of a wake-up and of a traced call stays within tests/budgets: instructions, allocations and system
# calls, none of which depends on how busy the machine is. RECORD=1 writes the numbers there instead.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"
need python3 valgrind strace bpftool
budgets=$here/../budgets
replay=$W/../tests/drain/test_replay
[ -x "$replay" ] || fail "$replay is not there: make build/tests/drain/test_replay"
! grep -qa -e __asan_init -e __tsan_init "$replay" || skip "a program without a sanitizer: it counts instructions"

put() { echo "$1 $2" >>measured; }

# --- the drain, on rings in memory ------------------------------------------------------------------

# insns ARG...: instructions of the replay's rounds; out has what the replay printed.
insns() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=replay_round \
		"$replay" "$@" >out 2>err || fail "replay $*: $(cat out err)"
	cat out >>outs
	sed -n 's/.*Collected : //p' err
}

# calls N: system calls of a replay of N rows.
calls() {
	strace -c -o calls "$replay" -b 2 -n "$1" >>outs || fail "replay -n $1"
	awk '/ total$/ { print $4 }' calls
}

rows=20000 rounds=1000
two=$(insns -n $rows -b 2)
many=$(insns -n $rows -b 256)
put row.insns.2_rings $((two / rows))
put row.insns.256_rings $((many / rows))
put row.insns.mix $(($(insns -n $rows -b 2 -m) / rows))
put row.256_rings_percent $((many * 100 / two))
put round.insns.idle_256 $(($(insns -n $rounds -b 2 -k 0) / rounds))
put round.insns.2_of_256 $(($(insns -n $((2 * rounds)) -b 2 -k 2) / rounds))
fewer=$(calls 100000)
put row.syscalls_per_million $(($(calls 1100000) - fewer))
put row.allocations "$(awk '$1 == "allocations" { n += $2 } END { print n + 0 }' outs)"
# new files, whose paths are stored
put row.insns.small_files $(($(insns -n $rows -b 2 -f) / rows))

# --- the daemon -------------------------------------------------------------------------------------

strace -f -e trace=openat -o opens "$DLT" start -q --collectors none -o opens.trace -- true ||
	fail "start under strace"
put start.reads_of_btf "$(grep -c '"/sys/kernel/btf/vmlinux".* = [0-9]' opens)"

# What a start loads by itself: below there are more probes.
gate
rm -rf "$t"
"$DLT" start -q --collectors none -o "$t" -- sh -c 'touch loaded; read _ <gate' 2>err 9>&- &
dlt=$!
await test -e loaded
python3 -B "$here/checks/programs.py" "$t" "$dlt" all >all || fail "programs"
echo >&9
join
equal "status" "$rc" 0

disk_ext4 16M
# shellcheck disable=SC2016 # the workload's own
spawn --probes +bio,+sched_switch --disk "$disk" -- \
	sh -c 'touch ready; read _ <gate; "$0" -n 100000 -w 0 >traced; read _ <gate; : >again; read _ <gate' "$W/storm"
await test -e ready

# The kernel counts runs while this descriptor is open, so no longer than this process lives.
python3 - >stats <<'END' &
import ctypes, os, platform, time
nr = {"x86_64": 321, "aarch64": 280}[platform.machine()]
fd = ctypes.CDLL(None, use_errno=True).syscall(nr, 32, ctypes.byref(ctypes.c_uint32(0)), 4)  # BPF_ENABLE_STATS
print("on" if fd >= 0 else os.strerror(ctypes.get_errno()), flush=True)
parent = os.getppid()
while os.getppid() == parent:
    time.sleep(0.2)
END
stats=$!
await test -s stats
equal "counting of runs" "$(cat stats)" on

runs() { python3 -B "$here/checks/programs.py" "$t" "$dlt" "$1" || fail "programs"; }
done_calls() { grep -q '^round' "$1"; }

# at_least HOOK WHOSE BEFORE: 100000 more runs than BEFORE. Other calls on the machine count as well, so this is only a
# lower bound; but a call runs a program as often as hook.HOOK says that it is attached.
at_least() {
	n=$(($(runs "$1") - $3))
	[ $n -ge 100000 ] || fail "$n runs at $1 for 100000 calls of $2"
}
enter=$(runs sys_enter) exit=$(runs sys_exit)
echo >&9
await done_calls traced
at_least sys_enter "the target" "$enter"
at_least sys_exit "the target" "$exit"
enter=$(runs sys_enter) exit=$(runs sys_exit)
"$W/storm" -n 100000 -w 0 >untraced
at_least sys_enter "others" "$enter"
at_least sys_exit "others" "$exit"
kill $stats
python3 -B "$here/checks/programs.py" "$t" "$dlt" >programs || fail "programs"

# The thread of the drain: its system calls from one wait to the next. Not counted: writes; the timer, which it sets
# when rows come again and after a second without rows; its look at /proc/meminfo each interval. It is the thread with
# the most CPU time beside the main thread; others write messages (host/stall/async_log.c) or watch the folder
# (host/stall/folder_watch.c).
drain=$(for tid in "/proc/$dlt/task"/*; do
	[ "${tid##*/}" = "$dlt" ] || echo "$(cut -d' ' -f1 "$tid/schedstat" 2>gone) ${tid##*/}"
done | sort -rn | sed -n '1s/.* //p')
strace -o trace -p "$drain" 2>attached &
strace=$!
await grep -q attached attached
echo >&9
await test -e again
waits() { [ "$(grep -c '^epoll_wait' trace)" -ge 20 ]; }
await waits
kill $strace
wait $strace
put wakeup.syscalls "$(awk '/^epoll_wait/ { if (events > 0 && n / events > most) most = n / events
		n = 0; events = $NF; next }
	!/^(pwrite64|fallocate|sync_file_range|timerfd_settime|pread64\([0-9]+, "MemTotal)/ { n++ } END { print most + 0 }' trace)"
echo >&9
join
equal "status" "$rc" 0
check whole
equal "rows of the target" "$(rows vfs_rw 'FUNC == "pread64" && FILE ~ /^storm\./' | wc -l)" 100256

kernel=$(uname -r | cut -d. -f1,2)
if [ -n "${RECORD-}" ] || grep -q "^$kernel:" "$budgets"; then
	sed "s/^/$kernel:/" all programs >>measured
else
	echo "no budgets for the programs on Linux $kernel"
fi
cat measured
check budget measured "$budgets"
