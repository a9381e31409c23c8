# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2034
#
# Shared by the scripts here, each of which begins with: . "${0%/*}/../lib.sh"
# tests/run-native runs them, each in a folder of its own; a script ends at its first failure. Those of tests/vm/scripts
# set native= to this folder first. DLT_BACKEND names the backend to test.
set -u
: "${DLT:?is not set: run tests/run-native ${0##*/}}" "$W"
here=${native:-${0%/*}/..} # the folder tests/native
t=$TMPDIR/t  # the trace folder
probed=-bio # for trace and spawn; a script that looks at few files names their probes: the kernel takes a second to load all
slow=${VM-}  # set in a guest of tests/vm, where a trace takes seconds to begin: a script makes fewer of them
patience=2000 # number of tries of await
[ -z "$slow" ] || patience=1000
cd "$TMPDIR" || exit 1

skip() { echo "needs $*"; exit 77; }
fail() { echo "$*" >&2; exit 1; }

# need COMMAND...: skips the script where one of them is not installed.
need() { for c; do command -v "$c" >/dev/null || skip "$c"; done; }

# python [MODULE...]: from here on, `python3' is one that has these modules, if possible the distribution's: the first
# one on PATH may be a wrapper, or one without modules. Without arguments nothing is started to find out.
# shellcheck disable=SC2120 # scripts may
python() {
	for interpreter in /usr/bin/python3 "$(command -v python3)"; do
		[ -x "$interpreter" ] && { [ $# = 0 ] || "$interpreter" -c 'import importlib.util as u, sys
sys.exit(not all(map(u.find_spec, sys.argv[1:])))' "$@"; } || continue
		mkdir -p bin
		ln -sfn "$interpreter" bin/python3
		case $PATH in "$TMPDIR/bin:"*) ;; *) export PATH="$TMPDIR/bin:$PATH" ;; esac
		return
	done
	skip "python3${*:+ with the modules $*}"
}

# equal WHAT VALUE WANTED
equal() { [ "$2" = "$3" ] || fail "$1: $2, not $3"; }

# with_helpers: dltraced looks for root's helpers (docker, nvidia-smi ...) in fixed folders. After this call the first
# of these folders is $TMPDIR/helpers, for this script alone.
with_helpers() {
	if [ -z "${HELPERS-}" ]; then
		[ -d /usr/local/sbin ] || skip "/usr/local/sbin"
		unshare -m true 2>/dev/null || skip "mount namespaces"
		HELPERS=1 exec unshare -m --propagation private sh "$0"
	fi
	install -d -m 755 helpers
	mount --bind helpers /usr/local/sbin || fail "mount --bind"
}

# --- tracing --------------------------------------------------------------------------------------

# preloadable: from here on, LD_PRELOAD can name the library that makes rows of alloc.out, which is beside dltraced: where
# the path has a blank or a colon, dltraced is a copy in another folder.
preloadable() {
	case $DLT in *[\ :]*) ;; *) return 0 ;; esac
	case $TMPDIR in *[\ :]*) skip "a TMPDIR without blanks and colons, for LD_PRELOAD" ;; esac
	mkdir program
	for f in "$DLT" "${DLT%/*}"/libdltraced-*.so "${DLT%/*}/site"; do
		[ ! -e "$f" ] || cp -r "$f" program || fail "no copy of $f"
	done
	DLT=$TMPDIR/program/${DLT##*/}
}

# start_options: the options with which a test starts a trace, for $(). Requests to disks are the machine's, not only the
# script's, so a script that wants them has to name bio with -P, and its own disk with --disk.
start_options() { echo "--collectors none --probes $probed --min-free 0 ${DLT_BACKEND:+--backend $DLT_BACKEND}"; }

# trace [OPTION...] -- CMD ARG..., or with --workload: a new trace in $t.
trace() {
	rm -rf "$t"
	"$DLT" start -q $(start_options) -o "$t" "$@"
}

# sh -c "$long" sh CMD ARG...: CMD, and then some time without work, as the report has no answer for a job of 0.5 s or less.
long='"$@" && sleep 0.6'

# spawn ARG...: like trace, but in the background: its pid is $dlt, its messages go to err. Signals are set as in a
# terminal (sh would have INT and QUIT ignored).
spawn() {
	rm -rf "$t"
	: >err # await must not see messages of an earlier trace
	env --default-signal=INT,QUIT "$DLT" start -q $(start_options) -o "$t" "$@" 2>err 9>&- &
	dlt=$!
}

# join: waits for its end; its status goes to $rc.
join() {
	wait "$dlt"
	rc=$? dlt=''
}

# await COMMAND...: repeats it until it succeeds, for minutes, as a machine may be busy; but for less time than
# run-native gives the script, which then prints what it waited for.
await() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt "$patience" ] || fail "waited in vain for: $*: $(cat err 2>/dev/null)"
		if [ -n "$slow" ]; then sleep 0.2; else sleep 0.05; fi
	done
}

# messages: the lines of err, without those that any trace on a busy machine may print.
messages() { grep -vE 'warning: (writing to .* has stalled|[0-9]+ rows? lost so far)' err; }

# gone PID: the process has ended, reaped or not.
gone() { ! grep -qs '^State:[[:blank:]][^ZX]' "/proc/$1/status"; }

# at_gate PID: the process waits in a read of its stdin, the gate.
at_gate() { [ "$(stat -Lc %d:%i "/proc/$1/fd/0" 2>&1)" = "$(stat -Lc %d:%i gate)" ] && grep -q '^State:[[:blank:]]S' "/proc/$1/status"; }

# gate: a workload that does `read _ <gate` waits until `echo >&9`, or until this script has ended.
gate() {
	mkfifo gate && exec 9<>gate
}

# each FILE ACTION: awk's ACTION on every row of $t/FILE.out, with its columns as variables: COMM is called command,
# %usr is _usr. Numbers above 2^53, such as TIMESTAMP in some years, must be compared as strings.
each() {
	file=$t/$1.out
	columns=$(sed -n '2{s/\r//;p;q}' "$file" |
		awk -F'\t' '{
			for (i = 1; i <= NF; i++) {
				gsub(/[^A-Za-z0-9]/, "_", $i)
				printf "%s = $%d; ", $i, i
			}
		}')
	awk -F'\t' "NR > 2 && !/^#/ { $columns $2 }" "$file"
}

# rows FILE [CONDITION]: the rows that meet awk's CONDITION, such as 'COMM == "cat" && RET < 0'.
rows() { each "$1" "if (${2:-1}) print"; }

# col FILE COLUMN [CONDITION]: one column of these rows.
col() { each "$1" "if (${3:-1}) print $2"; }

# manifest EXPRESSION: the value of this Python expression on the manifest m.
manifest() {
	python3 -c 'import json, sys; m = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' \
		"$t/manifest.json" "$1"
}

# of_calls: the names of the files whose rows are system calls.
of_calls() { python3 -B "$here/checks/probes.py"; }

# check NAME ARG...: runs checks/NAME.py on $t, which prints what is wrong. A trace that checks/tracefolder.py accepts
# must be valid for `dltraced validate', too.
check() {
	name=$1
	shift
	python3 -B "$here/checks/$name.py" "$t" "$@" || fail "check $name $*: $(tail -n 20 err 2>/dev/null)"
	if grep -q 'tracefolder\.Trace' "$here/checks/$name.py"; then
		valid=$("$DLT" validate "$t" 2>&1) || fail "validate: $valid"
	fi
}

# recipe TEXT: the block of code in docs/traces.md that contains TEXT.
recipe() {
	TEXT=$1 awk '
		/^```/ { if (inside && index(block, ENVIRON["TEXT"])) printf "%s", block
			inside = !inside; block = ""; next }
		inside { block = block $0 "\n" }
	' "$here/../../docs/traces.md"
}

# --- a disk of our own ----------------------------------------------------------------------------

loop='' disk='' mnt='' dlt=''

cleanup() {
	[ -z "$dlt" ] || kill -9 "$dlt"
	[ -z "$mnt" ] || umount "$mnt"
	[ -z "$loop" ] || losetup -d "$loop"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# settle: udev looks at a disk after it was written to; when this returns, that is over.
settle() { ! command -v udevadm >/dev/null || udevadm settle 2>/dev/null || :; }

# disk_ext4 [SIZE]: a new ext4 on the loop device $disk (loop3), mounted on $mnt until the script ends. It is quiet: the
# work that mkfs may leave to the kernel is done at once.
disk_ext4() {
	truncate -s "${1:-64M}" disk.img
	loop=$(losetup -f --show disk.img) || { loop=''; skip "a loop device"; }
	mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$loop" || fail "mkfs.ext4 $loop"
	mkdir disk
	mount "$loop" disk || skip "to mount ext4"
	settle
	mnt=$TMPDIR/disk disk=${loop#/dev/}
}

# has_types MODULE STRUCT: BTF has the module's types. Modules have none before Linux 5.11; tests that need them are
# left out there.
has_types() { [ -e "/sys/kernel/btf/$1" ] || grep -q "$2" /sys/kernel/btf/vmlinux; }

# each_fs FUNCTION [TYPE...]: calls it on ext4, XFS and btrfs, each on a new loop device; in a guest on the guest's
# disk, ext4. FUNCTION has $fs, $mnt and $disk; /dev/$disk is mounted.
each_fs() {
	each=$1
	shift
	if [ -n "${VM_DISK-}" ]; then
		mnt=$VM_MNT disk=$VM_DISK fs=ext4
		$each
		mnt='' disk=''
		return
	fi
	tried=''
	[ $# != 0 ] || set -- ext4 xfs btrfs
	for fs; do
		command -v "mkfs.$fs" >/dev/null || continue
		truncate -s 400M disk.img
		loop=$(losetup -f --show disk.img) || { loop=''; skip "a loop device"; }
		case $fs in
		ext4) set -- -q -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 ;;
		btrfs) set -- -q -d single -m single ;;
		*) set -- -q ;;
		esac
		"mkfs.$fs" "$@" "$loop" >mkfs.log 2>&1 || fail "mkfs.$fs: $(cat mkfs.log)"
		mkdir -p disk
		if mount -t "$fs" "$loop" disk 2>/dev/null; then
			settle
			mnt=$TMPDIR/disk disk=${loop#/dev/}
			$each
			umount "$mnt"
			tried="$tried $fs"
		fi
		mnt='' disk=''
		losetup -d "$loop"
		loop=''
		rm disk.img
	done
	[ -n "$tried" ] || skip "to mount ext4, XFS or btrfs"
}

[ ! -x /usr/bin/python3 ] || python
[ "$(id -u)" = 0 ] || skip "root"
[ -r /sys/kernel/btf/vmlinux ] || skip "a kernel with BTF (CONFIG_DEBUG_INFO_BTF)"
