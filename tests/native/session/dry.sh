#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --dry: the command runs with its status, its environment and its output, and nothing is traced: dltraced has no BPF
# object, the command no library of ours, the folder no file of a probe. The manifest says so, and has what the command
# used, as it does for a traced command: compared with the command's own account.
#
# smoke
. "${0%/*}/../lib.sh"

dry() {
	rm -rf "$t"
	"$DLT" start -q --dry -o "$t" "$@"
}

# has_bpf PID: the process has a BPF object open.
has_bpf() { cat "/proc/$1"/fdinfo/* 2>/dev/null | grep -qE '^(prog_id|map_id|link_id|link_type|btf_id)'; }

# --- nothing is traced ----------------------------------------------------------------------------

gate
cat >job <<'END'
env >env
cat /proc/self/maps >maps
echo 'printed by the job'
: >ready
read _
exit 7
END
# options about what to record are taken, and have no effect
RANK=3 "$DLT" start -q --dry --log --linger 1h --probes +alloc --regions auto --rotate 1s -o "$t" -- sh job <gate >out 2>err 9>&- &
dlt=$!
await test -e ready
for pid in $dlt $(cat "/proc/$dlt/task"/*/children); do
	! has_bpf "$pid" || fail "process $pid has BPF objects"
done
equal "the manifest while it runs" "$(manifest '[m["dry"], m["complete"], m["probes"], m["collectors"]]')" "[True, False, [], []]"
echo >&9
join
equal "status" $rc 7
equal "messages" "$(cat err)" ""
! grep -q dltraced maps || fail "the command has a library of dltraced: $(grep dltraced maps)"
RANK=3 sh -c 'env >env.plain'
equal "environment" "$(grep -v '^_=' env | sort)" "$(grep -v '^_=' env.plain | sort)"
equal "output" "$(cat "$t/workload.log")" "printed by the job"
equal "files" "$(cd "$t" && echo *)" "manifest.json workload.log"
equal "the manifest" "$(manifest '[m["dry"], m["complete"], m["workload"]["exit_code"], m["workload"]["status"], m["environment"]["RANK"]]')" \
	"[True, True, 7, 1792, '3']"
valid=$("$DLT" validate "$t" 2>&1) || fail "validate: $valid"

# the witness sees BPF objects where there are some
rm ready
spawn -- sh -c 'exec sh job <gate' >out # what begins in the background has /dev/null as its input
await test -e ready
has_bpf "$dlt" || has_bpf "$(cat "/proc/$dlt/task"/*/children)" || fail "a traced command: no BPF objects seen"
echo >&9
join

# --- what a command used --------------------------------------------------------------------------

cat >used.py <<'END'
import json, os, resource, subprocess, sys, time
block = bytearray(64 << 20)
block[::4096] = b"x" * (64 << 8)
subprocess.run([sys.executable, "-c", "sum(range(3000000))"])
left = subprocess.Popen([sys.executable, "-c", "bytearray(256 << 20)"]) # not waited for
for i in range(50):
    time.sleep(0.001)
own, children = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
both = lambda key: getattr(own, key) + getattr(children, key)
json.dump({"user_ns": round(both("ru_utime") * 1e9), "system_ns": round(both("ru_stime") * 1e9),
           "max_rss_bytes": 1024 * max(own.ru_maxrss, children.ru_maxrss), "minor_faults": both("ru_minflt"),
           "major_faults": both("ru_majflt"), "voluntary_switches": both("ru_nvcsw"),
           "involuntary_switches": both("ru_nivcsw")}, open("account", "w"))
os._exit(0)
END
cat >compare.py <<'END'
import json, sys
account, m = json.load(open("account")), json.load(open(sys.argv[1]))
used = m["workload"]["rusage"]
assert list(used) == ["wall_ns", "user_ns", "system_ns", "max_rss_bytes", "minor_faults", "major_faults",
                      "voluntary_switches", "involuntary_switches"], used
life = m["workload"]["end"]["monotonic_ns"] - m["workload"]["start"]["monotonic_ns"]
assert used["wall_ns"] == life >= 50 * 1000000, (used, life) # it has slept 50 times, for 1 ms at least
# what comes after the account: the end of the process, which frees its memory
more = {"user_ns": 5e7, "system_ns": 5e8, "max_rss_bytes": 2 << 20, "minor_faults": 300, "major_faults": 50,
        "voluntary_switches": 50, "involuntary_switches": 1000}
for key in more:
    assert account[key] <= used[key] <= account[key] + more[key], (key, account[key], used[key])
assert used["max_rss_bytes"] >= 64 << 20 and used["voluntary_switches"] >= 50, used
END
dry -- python3 used.py || fail "used.py: status $?"
python3 compare.py "$t/manifest.json" || fail "a dry run"
trace -- python3 used.py || fail "used.py: status $?"
python3 compare.py "$t/manifest.json" || fail "a trace"
equal "a trace is dry" "$(manifest '"dry" in m')" False

# --- reports --------------------------------------------------------------------------------------

dry -- sh -c 'kill -9 $$'
equal "status" $? 137
"$DLT" report "$t" >screen && "$DLT" report --full "$t" >full && "$DLT" report --json "$t" >json || fail "report"
for text in screen full; do
	head -n 1 $text | grep -q '^A dry run: ' || fail "$text: $(cat $text)"
	for label in time memory switches; do
		grep -q "^$label " $text || fail "no $label: $(cat $text)"
	done
done
"$DLT" report "$TMPDIR" | grep -q 'by SIGKILL .* a dry run$' || fail "the list: $("$DLT" report "$TMPDIR")"
python3 - "$t/manifest.json" <<'END' || fail "report --json: $(cat json)"
import json, sys
report, m = json.load(open("json")), json.load(open(sys.argv[1]))
assert report["dry"] is True and report["exit_code"] == 137
assert report["rusage"] == m["workload"]["rusage"], report["rusage"]
END
"$DLT" start --dry -o "$t" --force -- true 2>err || fail "status $?"
grep -q 'A dry run: the command ran without a trace' err || fail "the end: $(cat err)"

# --- what it cannot be given with, and who may ----------------------------------------------------

for with in --all '--pid 1' '--cgroup /x'; do
	# shellcheck disable=SC2086 # words
	"$DLT" start --dry $with -o "$TMPDIR/no" >out 2>err && fail "--dry $with: status 0"
	grep -q -e '--dry runs a workload' err || fail "--dry $with: $(cat err)"
done
install -m 755 "$DLT" dltraced
install -d -o 65534 theirs
setpriv --reuid 65534 --regid 65534 --clear-groups ./dltraced start -q --dry -o theirs/t -- sh -c 'exit 3' 2>err
equal "status without rights" "$? $(cat err)" "3 "
t=theirs/t
equal "its manifest" "$(manifest '[m["dry"], m["workload"]["exit_code"], "rusage" in m["workload"]]')" "[True, 3, True]"
