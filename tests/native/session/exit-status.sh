#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The exit status is the workload's own; 128+N when signal N ended it; 126 when it could not be executed; 127 when it
# was not found; 125 when dltraced itself failed. A mistake that is known beforehand is reported in one line: nothing
# starts, and nothing is left behind.
#
# smoke
. "${0%/*}/../lib.sh"
probed=mmap

# expect STATUS ARG...: the status of `trace ARG...`; its messages are in err.
expect() {
	wanted=$1
	shift
	trace "$@" 2>err
	rc=$?
	[ $rc = "$wanted" ] || fail "trace $*: status $rc, not $wanted: $(cat err)"
}

# refuse STATUS TEXT ARG...: as well, with a line that contains TEXT, and without a trace or a workload.
refuse() {
	wanted=$1 text=$2
	shift 2
	expect "$wanted" "$@"
	grep -q -e "$text" err || fail "trace $*: said nothing of $text: $(cat err)"
	[ -z "$(find . -name ran)" ] || fail "trace $*: the workload ran"
	[ ! -e "$t" ] || fail "trace $*: left a folder"
}

# --- the workload's own ---------------------------------------------------------------------------

for status in 0 1 125 126 127 255; do
	expect $status -- sh -c "exit $status"
	equal "exit_code of exit $status" "$(manifest 'm["workload"]["exit_code"]')" $status
done
expect 7 --workload 'true; exit 7'

for signal in 1 9 11 15; do
	expect $((128 + signal)) -- sh -c "kill -$signal \$\$"
	equal "status of signal $signal" "$(manifest 'm["workload"]["status"] & 127')" $signal
done
expect 143 --workload 'kill $$'

# --- not to be executed ---------------------------------------------------------------------------

mkdir folder
touch plain
refuse 127 no-such-command -- no-such-command
refuse 127 ./no-such-file -- ./no-such-file
refuse 126 ./plain -- ./plain
refuse 126 ./folder -- ./folder
# The kernel's number is the same for these, the reasons are not.
printf '#!/usr/bin/no-such-pyton\n' >script
chmod 755 script
refuse 127 "./script: a script whose interpreter does not exist: .*/usr/bin/no-such-pyton:" -- ./script
refuse 127 'cd: a word of the shell, not a program: .*--workload "cd ..."' -- cd /
refuse 127 'FOO=1: an assignment, .*-- env FOO=1 ...' -- FOO=1 touch ran
refuse 127 'touch ran: one word with blanks' -- 'touch ran'
refuse 127 "plain: not a program in PATH; the file in this folder is ./plain" -- plain
refuse 126 './plain: not executable by this user: chmod +x ./plain' -- ./plain
refuse 127 "'': the command is an empty word" -- ''
evil=$(printf 'x\033]0;owned\a')
printf '#!/%s\n' "$evil" >script
refuse 127 '/x?]0;owned?' -- ./script
equal "control bytes of an interpreter's name" "$(tr -d '\n -~' <err | od -An -c)" ""
expect 127 --workload no-such-command # the shell's own status
expect 126 --workload ./plain
rm -rf "$t"

# --- our own failures -----------------------------------------------------------------------------

refuse 125 'no such probe.*nothing' --probes nothing -- touch ran
refuse 125 backend --backend magic -- touch ran
refuse 125 duration --duration 5x -- touch ran
refuse 125 user --user no-such-user -- touch ran
refuse 125 no-such-option --no-such-option -- touch ran
refuse 125 'nothing to trace'

mkdir full
echo mine >full/mine
refuse 125 full -o "$TMPDIR/full" -- touch ran
equal "what was in the folder" "$(ls full)$(cat full/mine)" minemine
refuse 125 full/mine -o "$TMPDIR/full/mine/t" -- touch ran

# A name that dltraced has chosen itself is in use: by another rank, or by a trace that has ended.
(trace() { SLURM_JOB_ID=7 "$DLT" start -q --collectors none --probes mmap -- "$@"; }
trace sh -c 'cd traces/sh_7/* && exit 3'
equal "status of one rank" $? 3
trace sh -c 'exit 4'
equal "status of the next, whose folder is taken" $? 4
equal "traces" "$(ls traces/sh_7 | wc -l)" 2) || exit

# --- without the right to trace -------------------------------------------------------------------

install -m 755 "$DLT" dltraced
install -d -o 65534 theirs
cat >as-nobody <<'END'
#!/bin/sh
exec setpriv --reuid 65534 --regid 65534 --clear-groups ./dltraced "$@"
END
chmod +x as-nobody
DLT=./as-nobody t=$TMPDIR/theirs/t
refuse 125 sudo -- touch theirs/ran
expect 7 --best-effort -- sh -c 'exit 7'
