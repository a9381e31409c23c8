#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# An option that gets a wrong value is named, with status 125, before anything is made or run. A folder that cannot be
# used is named, too, and nothing in it is touched: --force replaces only what a trace has written. Without the right to
# trace, --best-effort runs the workload, and the manifest names what was not traced. `report' of a folder that is not a
# trace reports just that. (exit-status.sh has the rest.)
#
# smoke
. "${0%/*}/../lib.sh"
need python3 setpriv unshare

# refuse TEXT ARG...: `trace ARG... -- touch ran` fails with a line that contains TEXT; it runs and makes nothing.
refuse() {
	text=$1
	shift
	before=$(ls -A)
	trace "$@" -- touch ran 2>err
	rc=$?
	[ $rc = 125 ] || fail "trace $*: status $rc, not 125: $(cat err)"
	grep -q -e "$text" err || fail "trace $*: said nothing of '$text': $(cat err)"
	[ "$(ls -A)" = "$before" ] || fail "trace $*: made or ran something: $(ls -A)"
}

# --- options --------------------------------------------------------------------------------------

# message | option and argument
touch err
while IFS='|' read -r text option arg; do
	refuse "$option.*$text" "--$option" "$arg"
done <<END
not a size|buffer|1x
not a size|buffer|-4096
less than a page|buffer|10
more than this machine's memory (.*iB)|buffer|1000T
not a size|min-free|1e3
no such disk|disk|nodisk
no such disk|disk|../sda
not a number of whole seconds|interval|500ms
not a number of whole seconds|interval|0
not a time|linger|x
not a time|delay|-1
not more than zero|duration|0s
not a time|duration|99999999999h
no such collector: 'nope'|collectors|cpu,nope
no such probe: 'nope'|probes|open,nope
no such probe: ''|probes|open,,close
no such probe: 'files'|probes|files
No such process|pid|999999999
not a process ID|pid|1,x
% stands before h, j, n, e, t, p or %|output|%q
a name has letters|experiment|a/b
no such user|user|no-such-user
empty|workload|
END
refuse "workload 'b': given twice" --workload a --workload b
refuse "not both" --workload a
refuse "unexpected argument 'stray'" stray

# An argument that a message repeats cannot control a terminal.
evil=$(printf 'x\033]0;owned\a')
for arg in "$evil" "--$evil" "--linger=$evil"; do
	refuse 'x?]0;owned?' "$arg"
	equal "control bytes of $arg" "$(tr -d '\n -~' <err | od -An -c)" ""
done

# --- folders --------------------------------------------------------------------------------------

# contents FOLDER: owner, mode, time and checksum of everything in it.
contents() {
	find "$1" -printf '%p %u %m %T@ %l\n' | sort
	find "$1" -type f -exec cksum {} + | sort
}

# untouched FOLDER TEXT ARG...: refused with TEXT, and FOLDER is unchanged.
untouched() {
	folder=$1 text=$2
	shift 2
	before_it=$(contents "$folder")
	refuse "$text" "$@"
	equal "contents of $folder" "$(contents "$folder")" "$before_it"
}

mkdir full readonly
echo mine >full/mine
echo mine >full/vfs_rw.out
echo '{"tool": "other"}' >full/manifest.json
untouched full 'full: is not empty and holds no trace' -o full
untouched full 'full: is not empty and holds no trace' -o full --force
untouched full 'full/mine: is not a folder' -o full/mine
untouched full 'full/mine: is not a folder' -o full/mine/t/u
mkdir dots
"$DLT" start -q --collectors none --probes close -o "$TMPDIR/dots/a/b/../../c/t" -- true || fail "a folder by way of others: status $?"
equal "what a folder by way of others has made" "$(ls dots)" c
ln -s full link
mkdir -m 1777 shared
untouched shared 'shared: cannot become' -o shared
install -d -o 65534 theirs
untouched theirs 'theirs: cannot become' --user 1 -o theirs

mount -t tmpfs -o ro none readonly || skip "to mount tmpfs"
mnt=$TMPDIR/readonly
refuse 'readonly/t: Read-only' -o readonly/t

# --- targets ----------------------------------------------------------------------------------------

# A target that does not exist yet may be a wrong name: one warning says so, with -q too, and the trace waits for the
# target.
#
# warned TEXT ARG...: a trace that its --duration ends. As nothing came, it fails, with an error that names the target, too.
warned() {
	text=$1
	shift
	for quiet in '' -q; do
		rc=0
		"$DLT" start $quiet --collectors none --probes close --duration 100ms "$@" -o later 2>err || rc=$?
		equal "status of $*" $rc 125
		equal "said of $* ${quiet:-without -q}" "$(grep -e "$1" err | sed 's/ ([^()]*: not known)//; s/ (.docker ps.*//')" \
			"dltraced: warning: $text: the trace waits for it (if the name is wrong, end the trace)
dltraced: error: nothing was traced: $* never appeared while tracing"
		rm -r later
	done
}
warned "--cgroup none-$$ does not exist yet" --cgroup "none-$$"
id=$(printf '%064d' $$)
warned "--container $id is not there yet" --container "$id"

# Impossible targets: one message as well, and status 125.
refused() {
	for quiet in '' -q; do
		rc=0
		"$DLT" start $quiet --collectors none --probes close "$@" -o later 2>err || rc=$?
		equal "status of $*" "$rc, $(grep -c -e "$1" err), $(ls -d later 2>&1)" "125, 1, $(ls -d later 2>&1)"
		[ ! -e later ] || fail "$*: a folder was made"
	done
}
true &
ended=$!
wait $ended
refused --pid $ended
refused --cgroup "none-$$/../x"

# --- a trace that is there already ----------------------------------------------------------------

trace -- cat /dev/null || fail "the first trace"
mv t old
echo mine >old/mine
untouched old 'old: holds a trace already; --force' -o old
"$DLT" start -q --collectors none --probes close --force -o old -- true || fail "--force: status $?"
equal "what --force left" "$(echo old/*)" \
	"old/close.out old/files.out old/manifest.json old/marks.out old/mine old/pids.out"
equal "what was not the trace's" "$(cat old/mine)" mine
equal "rows of the trace before" "$(grep -c /dev/null old/files.out)" 0

# A start that fails changes neither an old trace nor a folder that somebody has made. It fails here for lack of
# descriptors.
mkdir -m 750 made
chmod 750 old
(
	ulimit -n 40
	untouched old 'limit of open files' --force -o old
	untouched made 'limit of open files' -o made
	names=$(ls -A old)
	refuse 'limit of open files' --force --log -o old
	equal "files with --log" "$(ls -A old)" "$names"
) || exit
"$DLT" start -q --collectors none --probes close --force --log -o old -- echo new >out || fail "--force --log: status $?"
equal "log after --force" "$(cat old/workload.log)" new
equal "what --force left" "$(cd old && echo *)" \
	"close.out files.out manifest.json marks.out mine pids.out workload.log workload.out"

gate
spawn -o now -- sh -c 'read _ <gate'
await test -s now/manifest.json
refuse 'now: another dltraced is writing' -o now
refuse 'now: another dltraced is writing' -o now --force
echo >&9
join
equal "status of the one that was there first" $rc 0
t=$TMPDIR/now
check whole

# --- without the right to trace -------------------------------------------------------------------

install -m 755 "$DLT" dltraced
t=$TMPDIR/theirs/t
setpriv --reuid 65534 --regid 65534 --clear-groups \
	./dltraced start --collectors none --best-effort -o "$t" -- sh -c 'echo ran; exit 7' >out 2>err
equal "status under --best-effort" $? 7
equal "the workload's output" "$(cat out)" ran
equal "lines said" "$(grep -c . err)" 1
grep -qF "warning: not traced: not allowed to trace: run with sudo (sudo $PWD/dltraced ...), or" err || fail "said: $(cat err)"
equal "exit code" "$(manifest 'm["workload"]["exit_code"]')" 7
equal "probes" "$(manifest '{p["backend"] for p in m["probes"]}')" "{'none'}"
manifest '{p["why"] for p in m["probes"]}' | grep -q 'not allowed' || fail "no reason in the manifest"
"$DLT" report --full "$t" >out || fail "no report of it"
grep -q '^- .*open.*: not traced: not allowed to trace' out || fail "no reason in the report: $(cat out)"
! grep 'file is missing' out || fail "files that cannot be there are missed"

# Process numbers there are not those that the kernel side sees: the trace would contain no process.
unshare --pid --fork --mount-proc "$DLT" start -q --collectors none -o nobody -- touch ran 2>err
equal "status in a pid namespace" $? 125
grep -q 'error: .*PID namespace' err || fail "said: $(cat err)"
[ ! -e ran ] && [ ! -e nobody ] || fail "made or ran something in a pid namespace"

# --- reports --------------------------------------------------------------------------------------

mkdir empty
for what in empty full err no-such-folder; do
	"$DLT" report $what >out 2>err
	equal "status of a report on $what" $? 125
	grep -q "$what.* \(is not a trace folder\|is a file, not a trace folder\|does not exist\)" err ||
		fail "report on $what said: $(cat err)"
	[ ! -s out ] || fail "report on $what printed: $(cat out)"
done
