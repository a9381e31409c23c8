#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Processes that crowd on one CPU of several, as they may not use the others, are at a limit: the report's answer is
# cpu-limit, and it knows who has set it: what dltraced was started by, the job itself, a cgroup. Processes that crowd on
# all CPUs are at none. The manifest has what the job may use.
. "${0%/*}/../lib.sh"
need prlimit taskset
python
jobs=$here/../workloads/busy.py
online=$(nproc --all) may=$(nproc)
[ "$online" -gt 1 ] || skip "two CPUs"
cpu=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')

# value EXPRESSION: its value, with the report as r, the manifest's object `allowed' as a.
value() { python3 -c 'import json, sys
r, a = json.load(open("report.json")), json.load(open(sys.argv[2]))["allowed"]
print(eval(sys.argv[1]))' "$1" "$t/manifest.json"; }

# job WHAT [COMMAND...]: COMMAND starts dltraced; then the answer's code is in $code. $of: arguments of the workload.
job() {
	what=$1
	shift
	rm -rf "$t"
	# shellcheck disable=SC2046,SC2086 # words
	"$@" "$DLT" start -q $(start_options) -o "$t" -- python3 "$jobs" $of || fail "$what: status $?"
	"$DLT" report --json "$t" >report.json || fail "$what: report --json: status $?"
	code=$(value 'r["bottleneck"]["code"]')
}

# says TEXT: the answer's evidence has TEXT.
says() { value '" ".join(r["bottleneck"]["evidence"])' | grep -qF "$1" || fail "$what: no \"$1\" in $(value 'r["bottleneck"]')"; }

of="4 1.5"
job inherited taskset -c "$cpu"
equal "inherited: the answer" "$code" cpu-limit
equal "inherited: the CPUs" "$(value 'a["cpus"], a["n_cpus"], a["cpus_by"]')" "('$cpu', 1, 'inherited')"
says "as dltraced itself"

of="4 1.5 $cpu"
job itself
equal "itself: the answer" "$code" cpu-limit
[ "$may" != "$online" ] || says "the job itself"

# A process that runs already.
sleep 60 &
pid=$!
trace --pid "$pid" --duration 300ms || fail "--pid: status $?"
kill "$pid"
equal "--pid: allowed" "$(python3 -c 'import json, sys
a = json.load(open(sys.argv[1]))["allowed"]
print(a["pid"], a["n_cpus"], a["nice"], a["policy"])' "$t/manifest.json")" "$pid $may $(nice) other"

# Limits and priority, inherited.
rm -rf "$t"
# shellcheck disable=SC2046 # words
prlimit --nofile=777 --memlock=65536 nice -n 3 "$DLT" start -q $(start_options) -o "$t" -- true || fail "limits: status $?"
equal "limits" "$(python3 -c 'import json, sys
a = json.load(open(sys.argv[1]))["allowed"]
print(a["nofile"]["soft"], a["memlock_bytes"]["soft"], a["nice"], "soft" in a["nproc"], "oom_score_adj" in a)' \
	"$t/manifest.json")" "777 65536 $(($(nice) + 3)) True True"

if [ "$may" = "$online" ]; then
	of="$((3 * online)) 1.5"
	job all
	[ "$code" != cpu-limit ] || fail "all: $(value 'r["bottleneck"]')"
fi

# A cgroup's cpuset, of v2 or v1. Here: where such a one can be made.
# shellcheck disable=SC2046 # words
set -- $(awk '/ - cgroup / && /[ ,]cpuset/ { print $5, "cpuset.cpus", "v1"; exit }' /proc/self/mountinfo)
# shellcheck disable=SC2046
[ $# = 3 ] || set -- $(awk '/ - cgroup2 / { print $5, "cpuset.cpus", "v2"; exit }' /proc/self/mountinfo)
group=${1-}/dltraced-cpus-$$
{ [ $# = 3 ] && mkdir "$group"; } 2>/dev/null || { echo "left out: no cgroup hierarchy that can be written"; exit 0; }
trap 'rmdir "$group" 2>/dev/null; cleanup' EXIT
[ "$3" = v2 ] || cat "$1/cpuset.mems" >"$group/cpuset.mems" 2>/dev/null
echo "$cpu" 2>/dev/null >"$group/$2" || { echo "left out: no cpuset that can be written"; exit 0; }
of="4 1.5"
# shellcheck disable=SC2016 # for the inner shell
job cgroup sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group"
equal "cgroup: the answer" "$code" cpu-limit
equal "cgroup: who" "$(value 'a["n_cpus"], a["cpus_by"]')" "(1, 'cgroup')"
says "cpuset of its cgroup"
