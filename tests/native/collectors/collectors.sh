#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# mpstat, iostat and a stand-in for nvidia-smi run beside the trace: cpu.out, disk.out, gpu.out and gpu_dev.out have the
# tools' own columns after TIMESTAMP and TIME, and are whole at the end; no tool is left running. A tool that is not
# installed is one line. A tool that dies is started once more, and the manifest has how it ended.
#
# smoke
. "${0%/*}/../lib.sh"
need python3 mpstat iostat
with_helpers
gate
# The users that run the tools can read it, wherever the tests lie.
install -m 755 "$here/../stubs/nvidia-smi" stub || fail "no stub"
install -m 755 stub helpers/nvidia-smi

# enough N FILE...: each has rows of at least N samples.
enough() {
	n=$1
	shift
	for f; do
		[ "$(grep '^[0-9]' "$t/$f.out" 2>err.grep | cut -f 1 | uniq | wc -l)" -ge "$n" ] || return 1
	done
}

# states: of the collectors, from the manifest.
states() { manifest "'; '.join(c['name'] + ' ' + c['state'] for c in m['collectors'])"; }

# tools: which of these dltraced runs now, without their paths.
tools() {
	ps -o args= --ppid "$dlt" | sed -n 's/.*\(mpstat\|iostat\|nvidia-smi\) /\1 /p' | sort
}

# --- all of them ----------------------------------------------------------------------------------

spawn --collectors cpu,disk,gpu,gpu_dev -- sh -c 'read _ <gate'
await enough 3 cpu disk gpu gpu_dev
equal "tools" "$(tools)" "$(printf '%s\n' 'iostat -dxmy 1' 'mpstat -P ALL 1' \
	'nvidia-smi dmon -s pucvmet -o DT -d 1' 'nvidia-smi pmon -s um -o DT -d 1')"
pids=$(ps -o pid= --ppid "$dlt")
echo >&9
join
equal "status" $rc 0
equal "messages" "$(messages)" ""
equal "states" "$(states)" "cpu stopped; disk stopped; gpu stopped; gpu_dev stopped"
for pid in $pids; do
	gone "$pid" || fail "still running: $(ps -o args= "$pid")"
done
check whole
check lines
check collectors cpu=CPU,%usr,%idle disk=Device,r/s,%util gpu=gpu,pid,command gpu_dev=gpu,pwr,rxpci
cpus() { col cpu CPU "CPU $1 \"all\"" | wc -l; }
equal "rows of single CPUs" "$(cpus '!=')" $(($(cpus '==') * $(getconf _NPROCESSORS_ONLN)))
equal "GPUs" "$(col gpu gpu | sort -u | tr '\n' ' ')" "0 1 "
equal "a name with blanks" "$(col gpu command 'pid != "-"' | sort -u)" 'pt\040main\040thread'

# --- a slower pace --------------------------------------------------------------------------------

spawn --collectors cpu,gpu --interval 2,cpu=1m -- sh -c 'read _ <gate'
twice() { [ "$(cpus '==' 2>err.cpus)" -ge 2 ]; }
await enough 1 gpu
await twice
equal "tools" "$(tools)" "$(printf 'mpstat -P ALL 2\nnvidia-smi pmon -s um -o DT -d 2')"
echo >&9
join
equal "rows of single CPUs, each minute" "$(cpus '!=')" "$(getconf _NPROCESSORS_ONLN)"
[ "$(cpus '==')" -ge 2 ] || fail "of the whole machine $(cpus '==') rows"
grep -q '^# dltraced cpu 1 .* each_s=60$' "$t/cpu.out" || fail "$(head -n 1 "$t/cpu.out")"
[ ! -e "$t/disk.out" ] && [ ! -e "$t/gpu_dev.out" ] || fail "collectors that were not asked for"

# --- one that is not there ------------------------------------------------------------------------

rm helpers/nvidia-smi
if ! command -v nvidia-smi >there; then
	# a tool in root's own PATH is not run: anybody might have put it there
	PATH=$TMPDIR:$PATH
	mv stub nvidia-smi
	spawn --collectors cpu,disk,gpu,gpu_dev -- sh -c 'read _ <gate'
	await enough 1 cpu disk
	echo >&9
	join
	mv nvidia-smi stub
	equal "status" $rc 0
	equal "messages" "$(messages)" "dltraced: warning: nvidia-smi not found; GPU trace off (gpu.out and gpu_dev.out are \
not written; it comes with NVIDIA's driver)"
	equal "states" "$(states)" "cpu stopped; disk stopped; gpu not found; gpu_dev not found"
	[ ! -e "$t/gpu.out" ] && [ ! -e "$t/gpu_dev.out" ] || fail "files of a tool that is not there"
fi

# --- one that dies --------------------------------------------------------------------------------

chmod 755 .
printf '#!/bin/sh\nSTUB_SAMPLES=2 exec %s/stub "$@"\n' "$TMPDIR" >helpers/nvidia-smi
chmod 755 helpers/nvidia-smi
spawn --collectors cpu,gpu -- sh -c 'read _ <gate'
await grep -q 'gpu.out ends here' err
await enough 3 cpu
echo >&9
join
equal "status" $rc 0
lost='Unable to determine the device handle for GPU: GPU is lost.'
equal "messages" "$(messages)" \
	"dltraced: warning: nvidia-smi exited 9 after a restart: $lost; gpu.out ends here"
equal "states" "$(states)" "cpu stopped; gpu exited 9 after a restart: $lost"
equal "rows of both runs" "$(rows gpu | wc -l)" 8
equal "the gap" "$(grep -c '^# nvidia-smi ended and was started again' "$t/gpu.out")" 1
check lines
check collectors cpu=CPU gpu=gpu,pid,command
