#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A start that fails by its surroundings names the true reason and the remedy: a limit of the shell, a current folder that
# was removed, a folder where the user may not write, /proc or /sys that are not mounted. Nothing is left behind.
. "${0%/*}/../lib.sh"
need setpriv unshare

# refused TEXT COMMAND...: it ends with 125, and one line of its messages contains TEXT, a regular expression.
refused() {
	text=$1
	shift
	"$@" >out 2>err
	equal "status of $*" $? 125
	grep -q "error: .*$text" err || fail "$*: said nothing of '$text': $(cat err)"
	[ ! -e ran ] || fail "$*: the workload ran"
}

# start ARG...: as `trace` does, with its folder in the last word.
start() { "$DLT" start -q --collectors none --probes -bio --min-free 0 "$@"; }

# --- limits ---------------------------------------------------------------------------------------

# files of at most 4 KiB: the manifest is larger; and rings that the address space cannot hold
limited() { (ulimit "$1" "$2" && start -o limited -- touch ran); }
refused 'manifest.json: File too large: .* files of at most 4.00 KiB (ulimit -f unlimited' limited -f 8
refused 'the rings, [0-9]* of .*B, cannot be mapped: Cannot allocate memory: .* address space of at most 97.7 MiB (ulimit -v unlimited.*--buffer SIZE' \
	limited -v 100000
[ ! -e limited ] || fail "left behind: $(ls limited)"
(ulimit -v 100000 && "$DLT" check --min-free 0 -o out) >text
equal "status of check within the same address space" $? 1
tr -s ' \n' ' ' <text | grep -q 'address space limit fail 97.7 MiB; a trace maps .* -> ulimit -v unlimited' || fail "check: $(cat text)"

# What is made of a trace is larger, too. Nothing of it is left, but for folders of a file for each of the trace's.
start -o whole -- "$W/calls" -n 500 -t 1 -f 1 -T tally dir >pids || fail "status $?"
made_of_it() { (ulimit -f 8 && "$DLT" "$@"); }
for command in "export whole -f ndjson -o made" "export whole -f csv -o folder" "report whole --html made" "cut whole --from 0 -o made" \
	"merge whole -o made" "anonymize whole -o made"; do
	# shellcheck disable=SC2086 # words
	refused ': File too large: .* files of at most 4.00 KiB (ulimit -f unlimited' made_of_it $command
	[ ! -e made ] || fail "$command has left: $(ls made)"
done
"$DLT" export whole -f sqlite -o made 2>err && refused ': File too large: ' made_of_it export whole -f sqlite -o other
made_of_it report --full whole >made 2>err
equal "status of report into such a file" $? 125
rm -r whole made tally dir pids

# --- folders --------------------------------------------------------------------------------------

# without [ARG...]: from a folder that has been removed.
without() {
	mkdir gone
	(cd gone && rmdir ../gone && "$@")
}
refused 'traces: the current folder has been removed: cd to one' without start -- touch ran
for command in "report" "validate none" "export none -f csv -o out"; do
	# shellcheck disable=SC2086
	without "$DLT" $command >out 2>err
	equal "status of $command in a folder that was removed" $? 125
	grep -q 'dltraced: the current folder has been removed' err || fail "$command said: $(cat err)"
done
without start -o "$TMPDIR/t" -- true || fail "an absolute path, from a folder that was removed: $?"
rm -r t

install -m 755 "$DLT" dltraced
chmod 755 "$TMPDIR"
install -d -m 700 roots
install -d -m 755 read
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
name=$(id -nu 65534)
refused "read/t: Permission denied: $TMPDIR/read belongs to root (mode 0755), and $name may not write there; give a folder of $name with -o" \
	nobody ./dltraced start -q --best-effort -o read/t -- touch ran
refused "roots/t: Permission denied: $TMPDIR/roots belongs to root (mode 0700), and $name may not write there" \
	nobody ./dltraced start -q --best-effort -o roots/t -- touch ran
in_roots() { (cd roots && nobody /proc/self/fd/3 start -q --best-effort -- touch ran 3<../dltraced); }
refused "traces/.*: Permission denied: $name may not enter the current folder" in_roots
ln -s nowhere loose
refused 'loose: is a symbolic link to a folder that does not exist' start -o loose/t -- touch ran
touch file
refused 'file: is not a folder; give a new one with -o' start -o file -- touch ran
mkdir -m 1777 shared
refused "shared: cannot become the folder of root: $TMPDIR/shared belongs to root (mode 1777, shared by all users)" start -o shared -- touch ran
refused "/proc/t: /proc is the kernel's, and holds no files of users; give another folder with -o" start -o /proc/t -- touch ran
refused "/sys/kernel/t: /sys/kernel is the kernel's, and" start -o /sys/kernel/t -- touch ran

# --- what is not mounted --------------------------------------------------------------------------

# unmounted FOLDER COMMAND...: in mounts of its own
unmounted() {
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m --propagation private sh -c 'umount -l "$1" && shift && exec "$@"' sh "$@"
}
start -o t -- true || fail "status $?"
for command in "start -q -o none -- touch ran" "report t" "status" "validate t"; do
	# shellcheck disable=SC2086
	refused '/proc is not mounted: mount -t proc proc /proc$' unmounted /proc "$DLT" $command
done
refused '/sys is not mounted.*mount -t sysfs sysfs /sys' unmounted /sys "$DLT" start -q --collectors none -o none -- touch ran
[ ! -e none ] || fail "left behind: none"
