#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Once the workload runs, dltraced has only the capabilities of its table, in every thread and in the bounding set; it
# gains none by executing a program, and its files are the user's. The manifest lists them. The workload loses nothing
# that its user has. The tools of collectors have no privilege, and neither our environment nor our files. The kept
# capabilities suffice for all that a trace does until its end.
. "${0%/*}/../lib.sh"
! grep -qa __tsan_init "$DLT" || skip "a program without ThreadSanitizer, whose own thread gives nothing up"
need python3 mpstat setpriv
getent passwd nobody >nobody || skip "a user nobody"
uid=$(cut -d: -f3 nobody) gid=$(cut -d: -f4 nobody)
other=54321
with_helpers
install -m 755 "$here/../stubs/nvidia-smi" stub
printf '#!/bin/sh\nSTUB_SAMPLES=1 exec %s/stub "$@"\n' "$TMPDIR" >helpers/nvidia-smi
chmod 755 . helpers/nvidia-smi
gate
chmod 666 gate
exec 8<nobody # descriptors that the caller left open must not reach the tools

cat >look.py <<'END'
import glob, sys
names = {1: "DAC_OVERRIDE", 2: "DAC_READ_SEARCH", 5: "KILL", 6: "SETGID", 7: "SETUID", 19: "SYS_PTRACE", 39: "BPF"}

def show(path):
    s = dict(l.rstrip("\n").split(":\t", 1) for l in open(path + "/status") if ":\t" in l)
    caps = ["+".join(names.get(i, str(i)) for i in range(64) if int(s[k], 16) >> i & 1)
            for k in ("CapPrm", "CapEff", "CapBnd", "CapInh", "CapAmb")]
    return " ".join(caps + [s["NoNewPrivs"], s["Uid"].split()[3] + ":" + s["Gid"].split()[3]])

for path in sys.argv[1:]:
    for task in glob.glob(path):
        try:
            print(show(task))
        except (FileNotFoundError, ProcessLookupError):  # a thread that has ended since
            pass
END
# threads: the rights of the threads of $dlt, equal ones once.
threads() { python3 look.py "/proc/$dlt/task/*" | LC_ALL=C sort -u; }
# given_up: the last step of a start is done.
given_up() { ! threads | grep -q ' 0 [0-9]*:[0-9]*$'; }
# stands CAPS IDS: the line for a thread with these.
stands() { echo "$1 $1 $1   1 $2"; }
# both CAPS IDS CAPS2: of the threads; one of them writes rows, and may read other users' /proc.
both() { { stands "$1" "$2"; stands "$3" "$2"; } | LC_ALL=C sort; }
kept() { manifest "' '.join(k['name'][4:] for k in m['privileges']['kept'])"; }
# tool: the mpstat of $dlt is $pid.
tool() { pid=$(ps -o pid=,comm= --ppid "$dlt" | awk '$2 == "mpstat" { print $1 }') && [ "$pid" ]; }

# --- another user's -------------------------------------------------------------------------------

mkdir -m 777 any
mkdir -m 755 metrics
chown $other metrics
t=$TMPDIR/any/t
spawn --user nobody --metrics-file metrics/m.prom --interval 1 --rotate 64K --compress gzip --log --collect 'any/made*' -o "$t.tar.gz" --collectors cpu,gpu -- \
	sh -c 'echo 1 >any/made; grep -E "NoNewPrivs|CapBnd" /proc/self/status >any/status; read _ <gate'
await test -s any/status
await given_up
few="KILL+SETGID+SETUID+SYS_PTRACE+BPF"
equal "threads" "$(threads | sed 's/DAC_OVERRIDE+//g')" "$(both "DAC_READ_SEARCH+$few" "$uid:$gid" "$few")"
equal "in force" "$(threads | cut -d ' ' -f 2 | grep DAC_OVERRIDE)" ""
equal "the workload" "$(cat any/status)" "$(grep -E "NoNewPrivs|CapBnd" /proc/self/status)"
reader=$(pgrep -P "$dlt" -x dltraced-reader)
equal "the reader" "$(python3 look.py "/proc/$reader" | cut -d ' ' -f 1,2,4-)" "DAC_READ_SEARCH+SYS_PTRACE DAC_READ_SEARCH+SYS_PTRACE   1 $uid:$gid"
equal "its descriptors" "$(find "/proc/$reader/fd" -type l | wc -l)" 2
await tool
equal "the tool" "$(python3 look.py "/proc/$pid" | cut -d ' ' -f 1,2,4-)" "    1 $uid:$gid"
equal "its user" "$(awk '/^Uid:/ { print $2, $3, $4, $5 }' "/proc/$pid/status")" "$uid $uid $uid $uid"
equal "its environment" "$(tr '\0' '\n' <"/proc/$pid/environ" | sort | tr '\n' ' ')" \
	"LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin S_COLORS=never S_TIME_FORMAT=ISO TZ=UTC "
equal "its descriptors" "$(find "/proc/$pid/fd" -name '*[3-9]' -o -name '??*' ! -name fd | wc -l)" 0
equal "its session" "$(awk '{ print $6 }' "/proc/$pid/stat")" "$pid"
# a tool that has ended is started again, with the capabilities kept for that
await grep -q 'gpu.out ends here' err
kill -TERM "$dlt" # passed on to the workload
join
equal "status" "$rc" 143
equal "kept" "$(kept)" "BPF DAC_OVERRIDE DAC_READ_SEARCH KILL SETGID SETUID SYS_PTRACE"
grep -q 'metrics-file' err && fail "metrics: $(cat err)"
grep -q '^dltraced_.* [1-9]' metrics/m.prom || fail "metrics: $(cat metrics/m.prom)"
equal "files of" "$(manifest 'm["privileges"]["files_as_uid"]')" "$uid"
gone "$pid" || fail "mpstat goes on"
states=$(manifest "'; '.join(c['name'] + ' ' + c['state'].split(':')[0] for c in m['collectors'])")
equal "collectors" "$states" "cpu stopped; gpu exited 9 after a restart"
equal "collected" "$(cat "$t/collected/any/made")" 1
[ -s "$t.tar.gz" ] || fail "no archive: $(cat err)"
equal "of others" "$(find "$t" "$t.tar.gz" ! -uid "$uid" -o ! -gid "$gid")" ""
equal "complete" "$(manifest 'm["complete"]')" True
rm "$t.tar.gz"

# Killed, it leaves no tool behind.
spawn --user nobody --collectors cpu -- sh -c 'read _ <gate'
await given_up
await tool
kill -9 "$dlt"
await gone "$pid"
echo >&9
join

# --- root's own -----------------------------------------------------------------------------------

t=$TMPDIR/t
spawn --collectors cpu -o "$t.tar.gz" -- sh -c 'read _ <gate'
await given_up
equal "threads" "$(threads)" "$(both "DAC_OVERRIDE+DAC_READ_SEARCH+$few" 0:0 "DAC_OVERRIDE+$few")"
await tool
equal "user of the tool" "$(awk '/^Uid:/ { print $2 }' "/proc/$pid/status")" "$uid"
echo >&9
join
equal "status" "$rc" 0
[ -s "$t.tar.gz" ] || fail "no archive: $(cat err)"
check whole

# Everything is known of attached processes of other users, too: the rank, and the path of an open in flight. With
# --delay, privileges are given up at its end.
mkfifo -m 666 closed
RANK=3 setpriv --reuid $other --regid $other --clear-groups \
	sh -c 'read _ <gate; exec 3<"$0"' "$TMPDIR/closed" 9>&- &
theirs=$!
await grep -q '^State:.S' "/proc/$theirs/status"
t=$TMPDIR/any/t
spawn --user nobody --delay 300ms -P open --pid "$theirs"
await given_up
equal "threads" "$(threads)" "$(both "DAC_READ_SEARCH+KILL+SYS_PTRACE+BPF" "$uid:$gid" "KILL+SYS_PTRACE+BPF")"
echo >&9
at_fifo() { grep -q 'wait_for_partner\|fifo_open' "/proc/$theirs/wchan" "/proc/$theirs/stack"; }
await at_fifo
kill -INT "$dlt"
join
equal "rank" "$(col pids RANK 'EVENT == "snapshot"' | sort -u)" 3
equal "what still runs" "$(col open PATH 'RET == "?"')" "$TMPDIR/closed"
: >closed
wait $theirs
equal "kept" "$(kept)" "BPF DAC_READ_SEARCH KILL SYS_PTRACE"
