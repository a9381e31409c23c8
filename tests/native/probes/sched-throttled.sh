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
# by cpu.stat.
cat >twins.py <<'END'
import os, sys, time
path, text, column, to_ns, seconds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5])

def throttled():
    with open(os.path.dirname(path) + "/cpu.stat", encoding="ascii") as f:
        return next((int(line.split()[1]) for line in f if line.startswith(column + " ")), 0) * to_ns

def compute(who):
    began, begin = throttled(), time.monotonic_ns()
    while time.monotonic_ns() < begin + seconds * 1e9:
        pass
    end, witness = time.monotonic_ns(), throttled() - began
    with open(who, "w", encoding="ascii") as f:
        print(os.getpid(), witness, begin, end, file=f)

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

twins "$(quota_of 5)" 3
for who in parent child; do
	read -r pid witness begin end <$who
	ns=$(sum sched THROTTLED_NS "$pid") runq=$(sum sched RUNQ_NS "$pid") rows=$(sum waits THROTTLED_NS "$pid")
	less "$ns" "$runq" || fail "$who: $ns ns throttled, $runq runnable"
	less "$rows" "$((ns + 1000000))" || fail "$who: waits.out has $rows ns, sched.out $ns"
	# an emulated CPU is not at once in the loop, and out of it
	[ -z "$slow" ] || ns=$(sum waits THROTTLED_NS "$pid" "&& TIMESTAMP >= $begin && TIMESTAMP <= $end")
	echo "$who: $ns ns throttled by dltraced, $witness by cpu.stat"
	less 500000000 "$witness" || fail "$who: the quota had no effect"
	less "$(awk -v w="$witness" 'BEGIN { print w * 0.97 - 1e7 }')" "$ns" || fail "$who: too little"
	less "$ns" "$(awk -v w="$witness" 'BEGIN { print w * 1.03 + 1e7 }')" || fail "$who: too much"
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
