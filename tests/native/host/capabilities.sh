#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A program with cap_bpf and cap_perfmon (setcap) that a plain user runs: traces are whole; the command has no
# capability, and the caller's environment; stop, status, collectors and archives work; and nobody can read or run
# anything through it that they could not before. What is not allowed is named: only one of the two capabilities,
# --user, set-user-ID, and tracing in a user namespace.
. "${0%/*}/../lib.sh"
probed=open,time_align
! grep -qa __tsan_init "$DLT" || skip "a program without ThreadSanitizer, whose own thread gives nothing up"
need python3 setcap setpriv unshare
getent passwd nobody >nobody || skip "a user nobody"
uid=$(cut -d: -f3 nobody) gid=$(cut -d: -f4 nobody)
program=$DLT
ulimit -l unlimited # rings count against it before Linux 5.11
gate
chmod 666 gate
chmod 755 .
install -d -m 777 any
install -d -m 700 -o "$uid" -g "$gid" runtime
t=$TMPDIR/any/t
cat >plain <<END
#!/bin/sh
LD_LIBRARY_PATH=/a exec setpriv --reuid $uid --regid $gid --clear-groups "$TMPDIR/capable" "\$@"
END
chmod 755 plain

# capable CAPS: dltraced as an executable file with these capabilities, which the functions of lib.sh then run as a
# plain user.
capable() {
	rm -f capable
	install -m 755 "$program" capable
	setcap "$1" capable 2>setcap.err || skip "capabilities of files ($(cat setcap.err))"
	DLT=$TMPDIR/plain
}

# refused TEXT COMMAND...: the command fails with a message that contains TEXT.
refused() {
	text=$1
	shift
	"$@" >out 2>err
	rc=$?
	[ $rc = 125 ] || [ $rc = 126 ] || fail "status $rc of $*: $(cat err)"
	grep -q -e "$text" err || fail "not '$text': $(cat err)"
}

# --- a trace ----------------------------------------------------------------------------------------

capable cap_bpf,cap_perfmon=ep
export XDG_RUNTIME_DIR="$TMPDIR/runtime"
cat >job <<'END'
env | grep -E '^(LD_LIBRARY_PATH|TMPDIR)=' | sort
grep -E '^(CapPrm|CapEff|CapAmb|NoNewPrivs):' /proc/self/status
id -u
: >any/made
read -r _ <gate
END
spawn --log --rotate 64K --compress gzip --collect 'any/made*' -o "$t.tar.gz" -- sh job
await [ -e any/made ]
given_up() { [ "$(cat "/proc/$dlt/task"/*/status | grep -c '^NoNewPrivs:.0')" = 0 ]; }
await given_up
equal "threads" "$(sed -n 's/^CapPrm:.//p' "/proc/$dlt/task"/*/status | sort -u)" 0000008000000000
./plain mark "half way" 2>said || fail "mark: $(cat said)"
./plain status >said
grep -q ' tracing ' said || fail "status: $(cat said)"
without_place() { env -u XDG_RUNTIME_DIR "$@"; }
if [ ! -d "/run/user/$uid" ]; then
	without_place ./plain status 2>said
	grep -q 'without XDG_RUNTIME_DIR' said || fail "nothing said of sockets: $(cat said)"
fi
echo >&9
join
equal "status ($(cat err))" $rc 0
equal "the command's" "$(cat "$t/workload.log")" "LD_LIBRARY_PATH=/a
TMPDIR=$TMPDIR
CapPrm:	0000000000000000
CapEff:	0000000000000000
CapAmb:	0000000000000000
NoNewPrivs:	0
$uid"
equal "kept" "$(manifest "' '.join(k['name'] for k in m['privileges']['kept'])")" CAP_BPF
equal "of others" "$(find "$t" "$t.tar.gz" ! -uid "$uid")" ""
[ -e "$t/collected/any/made" ] || fail "nothing collected: $(cat err)"
equal "complete" "$(manifest 'm["complete"]')" True
lost=$(manifest 'sum(p["lost"] for p in m["probes"])')
# only root's tracefs may show which hooks no kernel skips
[ "$lost" = 0 ] || grep -q 'skips runs of them' "$t/manifest.json" || fail "$lost lost: $(cat err)"
equal "marked" "$(zcat "$t/marks.out.gz" | tail -n 1 | cut -f 4)" 'half\040way'

trace -- sh -c 'for i in 1 2 3; do cat /etc/passwd; done >any/copy' || fail "status $?"
[ "$lost" != 0 ] || {
	equal "opens" "$(rows open 'FILE == "passwd" && RET >= 0 && COMM == "cat"' | wc -l)" 3
	check whole
}

# A user without a runtime folder has the socket in the trace's folder, and other users cannot use it.
if [ ! -d "/run/user/$uid" ]; then
	rm -rf "$t"
	without_place ./plain start --collectors none --probes $probed --background -o "$t" -- sh -c 'read -r _ <gate' 2>err ||
		fail "background: status $?: $(cat err)"
	grep -q "dltraced stop $t' ends" err || fail "not said how to end it: $(cat err)"
	without_place ./plain status "$t" >said 2>&1
	grep -q ' tracing ' said || fail "status by the folder: $(cat said)"
	"$program" stop "$t" 2>said && fail "root was answered by a user's socket"
	without_place ./plain mark -t "$t" there 2>said || fail "mark by the folder: $(cat said)"
	(cd any && without_place "$TMPDIR/plain" stop t) 2>said || fail "stop by the folder: $(cat said)"
	equal "marked" "$(tail -n 1 "$t/marks.out" | cut -f 4)" there
	echo >&9 # the folder is removed with the command
	await [ ! -e "$t/control.sock" ]
	"$DLT" report --full "$t" >report 2>&1 || fail "report: status $?: $(cat report)"

	without_place ./plain start -q --collectors none --probes $probed -o "$TMPDIR/any/none" -- ./nothing-there 2>err
	equal "no command: status ($(cat err))" $? 127
	[ ! -e any/none ] || fail "left: $(ls any/none)"
	unset XDG_RUNTIME_DIR
	spawn -- sh -c 'echo $$ >any/workload; exec sleep 100'
	await [ -s any/workload ]
	for pid in $(cat "/proc/$dlt/task/$dlt/children") "$dlt" "$(cat any/workload)"; do
		kill -9 "$pid" 2>kill.err
	done
	join
	[ -S "$t/control.sock" ] || fail "no socket: $(ls "$t")"
	./plain stop "$t" 2>said && fail "stop of one that was killed: $(cat said)"
	[ ! -e "$t/control.sock" ] || fail "its socket was left"
	export XDG_RUNTIME_DIR="$TMPDIR/runtime"
fi

# For programs with privileges the kernel lowers a soft stack limit above 8 MiB to 8 MiB; a lower one, and the hard
# limit, are the caller's.
stack() { (ulimit -S -s "$1" && trace -- sh -c 'ulimit -S -s; ulimit -H -s') 2>err | tr '\n' ' '; }
hard=$(ulimit -H -s)
if [ "$hard" = unlimited ] || [ "$hard" -gt 16384 ]; then
	equal "stack of 16 MiB ($(cat err))" "$(stack 16384)" "8192 $hard "
	equal "stack without a limit ($(cat err))" "$(stack "$hard")" "8192 $hard "
fi
equal "stack of 4 MiB ($(cat err))" "$(stack 4096)" "4096 $hard "

# --- what is not allowed ----------------------------------------------------------------------------

refused "only root can run a command as another user" trace --user root -- id
equal "output" "$(cat out)" ""

# The right to read every file does not become the user's: it serves to trace the user's own processes, and no command
# has it.
capable cap_bpf,cap_perfmon,cap_dac_read_search,cap_dac_override,cap_setuid=ep
mkdir -m 700 private
"$program" start -q --collectors none --probes $probed --min-free 0 -o private/t -- true || fail "status $?"
refused "private" ./plain report "$TMPDIR/private/t"
refused "private/program: Permission" trace -- "$TMPDIR/private/program"
refused "private/t2" ./plain start --collectors none -o "$TMPDIR/private/t2" -- true
spawn -- sh job
await given_up
equal "threads" "$(sed -n 's/^CapPrm:.//p' "/proc/$dlt/task"/*/status | sort -u | tr '\n' ' ')" \
	"0000008000000000 0000008000000004 "
echo >&9
join
equal "status ($(cat err))" $rc 0

for alone in cap_bpf cap_perfmon; do
	capable $alone=ep
	DLTRACED_SOCKET=$TMPDIR/none refused "not allowed to trace" trace -- true
done

rm -f capable
install -m 4755 "$program" capable
refused "set-user-ID" trace -- id
equal "output" "$(cat out)" ""

DLT=$program
if unshare -Ur true 2>/dev/null; then
	refused "user namespace" unshare -Ur "$program" start -q --collectors none -o "$t" -- true
	unshare -Ur "$program" start --best-effort --collectors none -o "$t" -- echo on >out 2>err || fail "status $?"
	equal "untraced" "$(cat out)" on
	grep -q 'user namespace' err || fail "nothing said: $(cat err)"
fi
