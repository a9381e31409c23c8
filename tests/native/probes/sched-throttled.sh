#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# THROTTLED_NS of sched.out is the time in which the CPU quota of a thread's cgroup was used up, as cpu.stat counts it:
# of one that has left its CPU for that, and of two that share a CPU, of which one had been preempted before. Rows of
# waits.out have it, too. Threads that share a CPU without a quota have none.
. "${0%/*}/../quota.inc"
need taskset
python
cpu_group

# Two processes set the QUOTA, compute on one CPU for SECONDS, and print for how long the quota was used up meanwhile,
# by cpu.stat, and the times before and after each look at that: a look may itself wait for the quota.
cat >twins.py <<'END'
import os, sys, time
path, text, column, to_ns, seconds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5])

stat = os.open(os.path.dirname(path) + "/cpu.stat", os.O_RDONLY)

def throttled():
    before, text, after = time.monotonic_ns(), os.pread(stat, 4096, 0), time.monotonic_ns()
    return before, int(text.split(column.encode())[1].split()[0]) * to_ns, after

def compute(who):
    first, began, begin = throttled()
    while time.monotonic_ns() < begin + seconds * 1e9:
        pass
    end, ended, last = throttled()
    with open(who, "w", encoding="ascii") as f:
        print(os.getpid(), ended - began, first, begin, end, last, file=f)

with open(path, "w", encoding="ascii") as f:
    f.write(text)
child = os.fork()
compute("parent" if child else "child")
if child:
    os.waitpid(child, 0)
os._exit(0)  # at once
END
cpu=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')

# sum FILE COLUMN PID [CONDITION]: the column's sum over the rows of that process.
sum() { col "$1" "$2" "PID == $3 && $2 != \"-\" ${4-}" | awk '{ n += $1 } END { printf "%.0f\n", n }'; }
# less A B: whether A <= B, of any size.
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }'; }

twins() {
	quota_of '' >"$quota" && in_group -- taskset -c "$cpu" python3 -SE twins.py "$quota" "$1" "$of_quota" "$to_ns" "$2" ||
		fail "status $?"
}

ms=5
[ -z "$slow" ] || ms=30
twins "$(quota_of $ms)" 3
for who in parent child; do
	read -r pid witness first begin end last <$who
	ns=$(sum sched THROTTLED_NS "$pid") runq=$(sum sched RUNQ_NS "$pid") rows=$(sum waits THROTTLED_NS "$pid")
	less "$ns" "$runq" || fail "$who: $ns ns throttled, $runq runnable"
	less "$rows" "$((ns + 1000000))" || fail "$who: waits.out has $rows ns, sched.out $ns"
	within=$(sum waits THROTTLED_NS "$pid" "&& TIMESTAMP >= $begin && TIMESTAMP <= $end")
	around=$(sum waits THROTTLED_NS "$pid" "&& TIMESTAMP >= $first && TIMESTAMP <= $last")
	[ -n "$slow" ] || around=$ns # where the kernel does not report all switches, rows are missing, but no sums
	echo "$who: $within to $around ns throttled by dltraced, $witness by cpu.stat"
	less 500000000 "$witness" || fail "$who: the quota had no effect"
	less "$within" "$(awk -v w="$witness" 'BEGIN { print w * 1.03 + 1e7 }')" || fail "$who: too much"
	less "$(awk -v w="$witness" 'BEGIN { print w * 0.97 - 1e7 }')" "$around" || fail "$who: too little"
	[ -n "$slow" ] || less "$ns" "$(awk -v w="$witness" 'BEGIN { print w * 1.03 + 1e8 }')" ||
		fail "$who: sched.out has too much: $ns ns"
done
[ "$(rows waits 'STATE == "throttled"' | wc -l)" -gt 5 ] || fail "waits.out has few states"
equal "rows with more than RUNQ_NS" "$(rows waits 'THROTTLED_NS + 0 > RUNQ_NS + 0' | wc -l)" 0
equal "states without time" "$(rows waits 'STATE == "throttled" && !THROTTLED_NS' | wc -l)" 0

twins "$(quota_of '')" 0.7
for who in parent child; do
	read -r pid rest <$who
	less 200000000 "$(sum sched RUNQ_NS "$pid")" || fail "no quota, $who: it did not wait for the CPU"
done
equal "no quota: rows with it" "$(rows sched 'THROTTLED_NS != "-" && THROTTLED_NS > 0' | wc -l)" 0
equal "no quota: waits with it" "$(rows waits 'THROTTLED_NS > 0 || STATE == "throttled"' | wc -l)" 0
