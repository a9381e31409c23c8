#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The recipe matrix binds runs to the nodes of the machine, also by the six columns of Heimdallr; a mode that this machine
# cannot run, or that a tracer should not, is refused.
. "${0%/*}/../lib.sh"
need_preload
. "${0%/*}/../pmu.inc"
need python3
matrix=$(realpath "$here/../../scripts/recipes/matrix")
export DLTRACED=$DLT
plain=(-p 0 -w 0 -x --min-free -x 0 -x --collectors -x none)

# a machine of two nodes, of which the second has no CPUs
cpus=$(cat /sys/devices/system/node/node0/cpulist) || skip "/sys/devices/system/node"
mkdir -p fake/node0 fake/node1
echo 0-1 >fake/online
echo "$cpus" >fake/node0/cpulist
echo >fake/node1/cpulist
{ mount --bind fake /sys/devices/system/node && umount /sys/devices/system/node; } || skip "mount --bind"

# --- nodes -----------------------------------------------------------------------------------------

echo 'here dry cpu=0' >modes
"$matrix" "${plain[@]}" modes d5 1 'grep Cpus_allowed_list /proc/self/status' >out || fail "cpu=0: status $?: $(cat out)"
equal "CPUs" "$(cut -f 2 d5/grep.here.1/workload.log)" "$cpus"

mount --bind fake /sys/devices/system/node
# where one node has all memory, nothing has to be bound to it
echo 0 >fake/has_memory
echo 'here dry mem=0' >modes
"$matrix" "${plain[@]}" modes d8 1 'echo job' >out 2>&1 || fail "mem=0: status $?: $(cat out)"
equal "its node" "$(cut -f 6 d8/matrix.tsv | tail -n 1)" 0
rm fake/has_memory
mkdir stubs
cat >stubs/numactl <<'END'
#!/bin/sh
while [ "$1" != -- ]; do echo "numactl $1"; shift; done
shift
exec "$@"
END
chmod +x stubs/numactl
cat >modes <<'END'
1loc_DR 0 0 0 1 0
1far_50 0 1 0 0 5000
END
PATH=$TMPDIR/stubs:$PATH "$matrix" "${plain[@]}" modes d6 1 'echo job' >out 2>err ||
	fail "six columns: status $?: $(cat out err; grep -rH '"lost": [1-9]' d6)"
grep -q '1far_50: accesses are recorded by pages or page faults (access=auto), not sampled at 5000 Hz' err || fail "six columns: $(cat err)"
for run in 1loc_DR 1far_50; do
	t=$TMPDIR/d6/echo.$run.1
	[ $run = 1far_50 ] && node=1 || node=0
	equal "$run" "$(cat "$t/workload.log") $(manifest "['dry' in m, 'alloc' in [p['name'] for p in m['probes']]]")" "numactl --membind=$node
numactl --cpunodebind=0
job [$([ $run = 1far_50 ] && echo False, True || echo True, False)]"
done
# where the kernel has a PMU with data addresses, the frequency is its
made_pmu
PATH=$TMPDIR/stubs:$PATH "$matrix" "${plain[@]}" modes d7 1 'echo job' >out 2>err || fail "six columns with a PMU: status $?: $(cat out err)"
end_pmu
t=$TMPDIR/d7/echo.1far_50.1
equal "with a PMU" "$(manifest "[m['access']['source'], m['access']['hz']]")" "['pmu', 5000]"
equal "nodes" "$(cut -f 3,5-7 d6/matrix.tsv | tail -n +2 | sort | xargs)" "1far_50 no 1 0 1loc_DR yes 0 0"

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
refuse 'a cpu=2' 'cpu=2: no such node; this machine has 0-1'
refuse 'a cpu=one' 'not the number of a node'
refuse 'a cpu=1' 'has no CPUs'
mkdir none
for tool in bash cat dirname env grep; do ln -s "$(command -v $tool)" none/; done
refuse 'a mem=0' 'needs numactl' "$TMPDIR/none"
refuse 'a cpu=0' 'needs numactl or taskset' "$TMPDIR/none"
