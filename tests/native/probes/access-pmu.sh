#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# access.out by samples of a PMU: what cannot be had is refused with the reason; and where sysfs describes page faults as its
# event, samples are faults of the target, with address, thread and instruction, or their number by block.
. "${0%/*}/../lib.sh"
. "${0%/*}/../pmu.inc"

python
# most machines that run this have none
if ! "$DLT" check --json | grep -q 'by the PMU (--access pmu)'; then
	trace --probes access --access pmu -- true 2>err
	equal "without a PMU: status" $? 125
	grep -q -- '--access pmu: .*: use --access pages or faults' err || fail "without a PMU: $(cat err)"
	! grep -q 'refused its programs' err || fail "a reason that is none: $(cat err)"
	trace --best-effort --probes access --access pmu -- true 2>err || fail "best effort: status $?"
	grep -q 'warning: access is not traced: .*--access pmu: .*: use --access' err || fail "best effort: $(cat err)"
	"$DLT" check | grep -q "^samples of accesses .*not by the PMU, --access pmu is refused" || fail "check: $("$DLT" check | grep -A2 samples)"
fi

made_pmu
COLUMNS=200 "$DLT" check | grep -q '^samples of accesses .*cpu/mem-loads, cpu/mem-stores' || fail "check: $("$DLT" check | grep samples)"
most=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
trace --probes access --access pmu:$((most + 1)) -- true 2>err
equal "too many samples: status" $? 125
grep -q "allows $most samples a second" err || fail "too many samples: $(cat err)"

n=2000
[ -z "$slow" ] || n=400
trace --probes access,time_align --access "pmu:$most,interval=0" -- "$W/touches" faults 3 4 $n >tally || fail "status $?"
check access tally sampled
equal "events" "$(manifest 'm["access"]["source"], m["access"]["hz"], m["access"]["events"]')" "('pmu', $most, ['cpu/mem-loads', 'cpu/mem-stores'])"
[ "$(manifest 'm["access"]["addressless_samples"]')" -gt 0 ] || fail "switches of threads have an address"
trace --probes access,time_align --access "pmu:$most" -- "$W/touches" faults 3 4 $n >tally || fail "status $?"
check access tally counted
end_pmu
