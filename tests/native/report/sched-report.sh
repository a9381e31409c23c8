#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `report --cpu' on a job of seven processes, some of which have threads, are renamed or execute another program: the
# sums are whole, and agree with each other, with the rows, and with the job's getrusage() and its own clock; from sums,
# from the timeline, from both; also without pids.out, with a file that is cut off, and for several traces. Names do no
# harm in CSV files or on a terminal.
. "${0%/*}/../lib.sh"
need python3

cat >job.py <<'PY'
import ctypes, json, os, sys, threading, time

HOSTILE = b'=1+"a",\n\x1b[31m'
libc = ctypes.CDLL(None)
now = time.monotonic_ns


def rename(name):
    libc.prctl(15, ctypes.c_char_p(name), 0, 0, 0)


def burn(ms):
    end = time.thread_time_ns() + ms * 10**6
    while time.thread_time_ns() < end:
        pass


def mllog(event, key):
    print('0: :::MLLOG {"namespace": "", "time_ms": %d, "event_type": "%s", "key": "%s", "value": null, "metadata": {}}'
          % (time.time_ns() // 10**6, event, key), flush=True)


def plain(tell):
    burn(100)


def sleeper(tell):
    time.sleep(0.2)
    burn(20)


def renamed(tell):
    burn(30)
    rename(HOSTILE)
    burn(30)


def phase(tell):
    rename(b"in-epoch")
    burn(150)


def other_program(tell):
    burn(30)
    os.execvp("sleep", ["sleep", "0.1"])


def with_threads(tell):
    def run(t):
        t["tid"] = threading.get_native_id()
        t["start_ns"] = now()
        rename(b"own-thread")
        burn(40)
        t["end_ns"] = now()

    told = [{"before_ns": now()} for _ in range(3)]
    threads = [threading.Thread(target=run, args=(t,)) for t in told]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    tell["threads"] += told


def child(body):
    tell = {"threads": [{"before_ns": now()}]}
    r, w = os.pipe()
    pid = os.fork()
    if pid:
        os.close(w)
        return pid, r, tell
    os.close(r)
    me = tell["threads"][0]
    me.update(tid=os.getpid(), start_ns=now())
    os.set_inheritable(w, False)
    if body is other_program:
        me["end_ns"] = me["start_ns"]
        os.write(w, json.dumps(tell).encode())
        body(tell)
    body(tell)
    me["end_ns"] = now()
    os.write(w, json.dumps(tell).encode())
    os._exit(0)


def stolen():
    fields = open("/proc/stat").readline().split()
    return sum(int(fields[i]) for i in (6, 7, 8)) * 10**9 // os.sysconf("SC_CLK_TCK")


was_stolen = stolen()
rename(b"job")
bodies = {plain: ["job"], sleeper: ["job"], renamed: ["job", '=1+"a",\n\\033[31m'], phase: ["in-epoch"],
          other_program: ["job", "sleep"], with_threads: ["job", "own-thread"]}
mllog("INTERVAL_START", "epoch_start")
children, facts = [(body, *child(body)) for body in bodies], []
for body, pid, r, _ in children:
    tell = json.loads(os.read(r, 65536))
    _, status, usage = os.wait4(pid, 0)
    if body is phase:
        mllog("INTERVAL_END", "epoch_stop")
    for thread in tell["threads"]:
        thread["after_ns"] = now()
    facts.append({"name": body.__name__, "pid": pid, "names": bodies[body], "threads": tell["threads"],
                  "rusage_ns": round((usage.ru_utime + usage.ru_stime) * 1e9)})
    assert status == 0, body
json.dump({"children": facts, "phase_name": "in-epoch", "stolen_ns": stolen() - was_stolen}, open("facts", "w"))
PY

# reported: makes the report on $t, with CSV files in csv, and checks it.
reported() {
	rm -rf csv
	"$DLT" report --cpu --csv csv "$t" >text || fail "report --cpu: status $?"
	check sched_report csv text facts
}

trace --probes -bio,+sched,+sched_switch --log -- python3 job.py >/dev/null
equal "status" $? 0
check whole
[ "$(cut -f5 "$t/sched.out" | grep -c '=1+')" -gt 0 ] || fail "the job's name is not in the trace"
reported
grep -q '^mllog  *1 .* epoch$' text || fail "the text has no phase: $(cat text)"
grep -q 'in-epoch' text || fail "the text has not: in-epoch"

# --- levels ---------------------------------------------------------------------------------------

# damaged ARG...: a report on a folder that lacks rows of its manifest is made, and its status says so.
damaged() {
	"$DLT" report "$@" >text 2>err
	equal "report $*: status" $? 1
	grep -q 'shorter than its manifest says' err || fail "report $*: it does not say why: $(cat err)"
}

cp -r "$t" whole
rm "$t/sched_switch.out"
damaged --cpu --csv csv "$t"
# the phase is shorter than an interval: with sums alone, its CPU time is not exact
python3 -c 'import json; f = json.load(open("facts")); f["phase_name"] = "nobody"; json.dump(f, open("facts.sums", "w"))'
check sched_report csv text facts.sums
rm -rf "$t"
cp -r whole "$t"
rm "$t/sched.out"
rm -rf csv
damaged --cpu --csv csv "$t"
check sched_report csv text facts
grep -q '^difference  *0.000000000 s' text || fail "of the timeline alone: $(grep -A5 'add up' text)"

# --- options --------------------------------------------------------------------------------------

rm -rf "$t"
cp -r whole "$t"
"$DLT" report --cpu --pattern 'own-*,sleep' "$t" | grep -q '^own-\*  *3  *0 ' || fail "three threads are not there"
"$DLT" report --cpu --threshold 0 "$t" | grep -q '^other' && fail "there is an other at 0 %"
"$DLT" report --cpu --threshold 0 --merge own,in- "$t" >text
grep -q ' own$' text || fail "--merge has not merged: $(cat text)"
grep -q ' kworker$' text && fail "--merge did not take the place of the default rules"
"$DLT" report --cpu --threshold 0 --merge +own "$t" | grep -q ' own$' || fail "--merge +own"
for bad in '--gap 1s' '--cpu --threshold 101' '--cpu --gap 0'; do
	# shellcheck disable=SC2086
	"$DLT" report $bad "$t" >/dev/null 2>err && fail "report $bad: no error"
	[ -s err ] || fail "report $bad: no message"
done

# --- several traces, and incomplete ones ----------------------------------------------------------------

mkdir other
cp -r whole other/t
cp -r whole third
"$DLT" report --cpu --csv all "$t" other/t third >text || fail "three folders: status $?"
equal "three folders" "$(cd all && echo *)" "t t-2 third"
cmp all/t/tasks.csv all/t-2/tasks.csv || fail "of one trace two reports"
equal "three texts" "$(grep -c '^trace  ' text)" 3

truncate -s -5 "$t/sched.out"
"$DLT" report --cpu "$t" >text || fail "cut off: status $?"
grep -q 'sched.out: the last row is cut off' text || fail "it does not say that a row is cut off"
rm "$t/pids.out" "$t/manifest.json" "$t/workload.out"
"$DLT" report --cpu "$t" >text || fail "without pids.out: status $?"
grep -q 'pids.out is missing' text || fail "it does not say that pids.out is not there"
rm "$t"/sched*.out
"$DLT" report --cpu "$t" 2>err && fail "neither sched.out nor sched_switch.out: no error"
grep -q -e '--probes +sched' err || fail "it does not say what to do: $(cat err)"
"$DLT" report --cpu /proc 2>/dev/null && fail "a folder that is no trace: no error"

# Still growing.
gate
spawn --probes -bio,+sched -- sh -c 'read _ <gate'
await eval '[ "$(grep -sc . "$t/sched.out")" -gt 3 ]'
"$DLT" report --cpu "$t" >text || fail "still growing: status $?"
grep -q 'the trace has no end' text || fail "it does not say that the trace has no end"
echo >&9
join
"$DLT" report --cpu "$t" | grep -q '^difference  *0.000000[0-9]* s' || fail "$("$DLT" report --cpu "$t")"
