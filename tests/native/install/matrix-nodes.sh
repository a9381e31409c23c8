#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The recipe matrix binds runs to the nodes of the machine, also by the six columns of Heimdallr; a mode that this machine
# cannot run, or that a tracer should not, is refused.
. "${0%/*}/../lib.sh"
preloadable
. "${0%/*}/../pmu.inc"
need python3
matrix=$(realpath "$here/../../scripts/recipes/matrix")
export DLTRACED=$DLT
# without requests, of which the kernel of a busy virtual machine may not report the end: such a run would not count
plain=(-p 0 -w 0 -x --min-free -x 0 -x --collectors -x none -x --probes -x -bio)

# a machine of two nodes, of which the second has neither CPUs nor memory
cpus=$(cat /sys/devices/system/node/node0/cpulist) || skip "/sys/devices/system/node"
mkdir -p fake/node0 fake/node1
echo 0-1 >fake/online
echo 0 >fake/has_memory
echo 'Node 0 MemTotal: 1024 kB' >fake/node0/meminfo
echo 'Node 1 MemTotal: 0 kB' >fake/node1/meminfo
echo "$cpus" >fake/node0/cpulist
echo >fake/node1/cpulist
{ mount --bind fake /sys/devices/system/node && umount /sys/devices/system/node; } || skip "mount --bind"

# --- nodes -----------------------------------------------------------------------------------------

echo 'here dry cpu=0' >modes
"$matrix" "${plain[@]}" modes d5 1 'grep Cpus_allowed_list /proc/self/status' >out || fail "cpu=0: status $?: $(cat out)"
equal "CPUs" "$(cut -f 2 d5/grep.here.1/workload.log)" "$cpus"

# the kernel lists the policy of a mapping, and the nodes that have its pages
if [ -e /proc/self/numa_maps ]; then
	for node in /sys/devices/system/node/node*; do
		grep -q 'MemTotal: *[1-9]' "$node/meminfo" || continue
		node=${node##*/node} policy=bind:${node##*/node}
		[ "$(cat /sys/devices/system/node/has_memory)" != "$node" ] || policy=default
		[ $policy = default ] || command -v numactl >/dev/null || continue
		echo "near dry mem=$node" >modes
		"$matrix" "${plain[@]}" modes "d8.$node" 1 'cat /proc/self/numa_maps' >out 2>&1 || fail "mem=$node: status $?: $(cat out)"
		equal "its node" "$(cut -f 6 "d8.$node/matrix.tsv" | tail -n 1)" "$node"
		equal "policy and pages of the heap" \
			"$(awk '/heap/ { printf $2; for (i = 3; i <= NF; i++) if ($i ~ /^N[0-9]/) printf " %s", $i }' "d8.$node/cat.near.1/workload.log" |
				sed 's/=.*//')" "$policy N$node"
	done
else
	echo "note: the policy of memory was not looked at: /proc/self/numa_maps (CONFIG_NUMA)"
fi

mount --bind fake /sys/devices/system/node
cat >modes <<'END'
1loc_DR 0 0 0 1 0
1loc_50 0 0 0 0 5000
END
"$matrix" "${plain[@]}" modes d6 1 'echo job' >out 2>err ||
	fail "six columns: status $?: $(cat out err; grep -rH '"lost": [1-9]' d6)"
grep -q '1loc_50: accesses are recorded by pages or page faults (access=auto), not sampled at 5000 Hz' err || fail "six columns: $(cat err)"
for run in 1loc_DR 1loc_50; do
	t=$TMPDIR/d6/echo.$run.1
	equal "$run" "$(cat "$t/workload.log") $(manifest "['dry' in m, 'alloc' in [p['name'] for p in m['probes']]]")" \
		"job [$([ $run = 1loc_50 ] && echo False, True || echo True, False)]"
done
# where the kernel has a PMU with data addresses, the frequency is its
made_pmu
"$matrix" "${plain[@]}" modes d7 1 'echo job' >out 2>err || fail "six columns with a PMU: status $?: $(cat out err; grep -rH '"lost": [1-9]' d7)"
end_pmu
t=$TMPDIR/d7/echo.1loc_50.1
equal "with a PMU" "$(manifest "[m['access']['source'], m['access']['hz']]")" "['pmu', 5000]"
equal "nodes" "$(cut -f 3,5-7 d6/matrix.tsv | tail -n +2 | sort | xargs)" "1loc_50 no 0 0 1loc_DR yes 0 0"

# --- what is refused -------------------------------------------------------------------------------

refuse() {
	echo "$1" >modes
	PATH=${3-$PATH} "$matrix" "${plain[@]}" modes no 1 true >out 2>&1
	equal "$1: status" $? 125
	grep -q -e "$2" out || fail "$1: $(cat out)"
	[ ! -e no ] || fail "$1: there is a folder"
}
refuse '' 'no mode'
refuse 'a dry
a' 'a is there twice'
refuse 'a.b dry' 'letters, digits'
refuse 'a wet' 'wet: not one of'
refuse 'a access=moon' 'not access=auto, access=pages'
refuse 'a x="--probes' 'quote without an end'
refuse '3hms_00 1 1 1 0 0' 'hms=1: a tracer does not decide'
refuse 'a cpu=2' 'mode a: cpu=2: this machine has the nodes 0-1$'
echo 0 >fake/online
refuse 'a mem=2' 'mode a: mem=2: this machine has one node, 0$'
echo 0-1 >fake/online
refuse 'a cpu=one' 'not the number of a node'
refuse 'a cpu=1' 'has no CPUs'
refuse 'a mem=1' 'has no memory'
mkdir none
for tool in bash cat dirname env grep; do ln -s "$(command -v $tool)" none/; done
refuse 'a cpu=0' 'needs taskset' "$TMPDIR/none"
