#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The job's phases in `report': from its output, printed as DLIO and MLPerf do, in the host's zone; from a log of its
# own in another zone, with --app-log, --app-log-tz and --phase; from marks; in the text, in --json, in the page and in
# --cpu. Each is where the job's own clock has it. Without any of these sources they are inferred, or there are none.
. "${0%/*}/../lib.sh"
need python3

cat >job.py <<'PY'
import datetime, json, logging, os, subprocess, sys, time

facts = {}
now = time.monotonic_ns
zone = datetime.timezone(datetime.timedelta(hours=-5, minutes=-30))
log = open("job.log", "w")


class Instant:
    """Something that is written by the wall clock, and what the other clock was before and after."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.before = now()

    def __exit__(self, *_):
        facts[self.name] = [self.before, now()]


def dlio(name, text):
    with Instant(name):
        stamp = datetime.datetime.now()
    print(f"[OUTPUT] {stamp:%Y-%m-%dT%H:%M:%S.%f} {text}", flush=True)


def mllog(name, event, key, number):
    with Instant(name):
        ms = time.time_ns() // 10**6
    print('0: :::MLLOG {"namespace": "", "time_ms": %d, "event_type": "INTERVAL_%s", "key": "%s", "value": null, '
          '"metadata": {"file": "job.py", "epoch_num": %d}}' % (ms, event, key, number), flush=True)


def own(name, text):
    with Instant(name):
        stamp = datetime.datetime.now(zone)
    log.write(f"{stamp:%Y-%m-%d %H:%M:%S},{stamp.microsecond // 1000:03d} - train - INFO - {text}\n")


dlio("first", "Running DLIO [Training] with 1 process(es)")
for epoch in 1, 2:
    own(f"own {epoch}", f"Epoch {epoch}/2")
    dlio(f"epoch {epoch} begin", f"Starting epoch {epoch}: 5 steps expected")
    time.sleep(0.05)
    mllog(f"eval {epoch} begin", "START", "eval_start", epoch)
    time.sleep(0.05)
    mllog(f"eval {epoch} end", "END", "eval_stop", epoch)
    dlio(f"epoch {epoch} end", f"Ending epoch {epoch} - 5 steps completed in 0.1 s")
own("own end", "all done")
log.write("2026-13-01 00:00:00,000 - train - INFO - Epoch 3/2\n")
log.close()
with Instant("mark begin"):
    subprocess.run([sys.argv[1], "mark", "-t", sys.argv[2], "tidy up start"], check=True)
with Instant("mark end"):
    subprocess.run([sys.argv[1], "mark", "-t", sys.argv[2], "tidy up stop"], check=True)
json.dump(facts, open("facts", "w"))
PY

cat >check.py <<'PY'
# check.py WANTED...: the phases of the report on stdin are these, where facts has them: "LABEL SOURCE BEGIN END"
import json, sys

r = json.load(sys.stdin)
facts = json.load(open("facts"))
phases = {(p["name"], p["source"]): p for p in r["timeline"]["phases"]}
wanted = [w.split(":") for w in sys.argv[1:]]
assert sorted(phases) == sorted((w[0], w[1]) for w in wanted), sorted(phases)
for name, source, kind, begin, end in wanted:
    p = phases[name, source]
    assert p["kind"] == kind, p
    for key, fact in (("begin_ns", begin), ("end_ns", end)):
        if not fact:
            continue
        # logs have milliseconds, and the clocks are compared once a second
        low, high = facts[fact][0] - 3 * 10**6, facts[fact][1] + 3 * 10**6
        assert low <= p[key] <= high, (name, key, p[key], facts[fact])
    assert p["inferred"] == (name == "init"), p
    assert p["unfinished"] == (not end), p
PY

trace --log -- python3 job.py "$DLT" "$t" >/dev/null || fail "status $?"
"$DLT" report --json "$t" >json || fail "report --json"
python3 check.py <json init:dlio:init:first:'epoch 1 begin' \
	'epoch 1:dlio:epoch:epoch 1 begin:epoch 1 end' 'epoch 2:dlio:epoch:epoch 2 begin:epoch 2 end' \
	'eval 1:mllog:eval:eval 1 begin:eval 1 end' 'eval 2:mllog:eval:eval 2 begin:eval 2 end' \
	'tidy\040up:marks:mark:mark begin:mark end' || fail "phases of the output"

# a log of another zone, and lines that only a rule of the user knows
report() { "$DLT" report --app-log job.log --phase 'Epoch ([0-9]+)/=epoch \1' --phase 'all done=epoch_end' "$@" "$t"; }
report --app-log-tz=-05:30 --json >json || fail "report --app-log"
python3 check.py <json 'epoch 1:log:epoch:own 1:own 2' 'epoch 2:log:epoch:own 2:own end' \
	'tidy\040up:marks:mark:mark begin:mark end' || fail "phases of the log"
python3 -c 'import json; t = json.load(open("json"))["timeline"]
assert [(r["rule"], r["lines"]) for r in t["phase_rules"]] == [("Epoch ([0-9]+)/=epoch \\1", 3), ("all done=epoch_end", 1)], t' ||
	fail "lines of rules: $(cat json)"
grep -q 'job.log: 1 line about phases has no time' json || fail "the line without a time is not missed"
report --full --app-log-tz=-05:30 >text || fail "report"
sed -n '/^Phases/,/^$/p' text | grep -q '^log  *2 .* epoch$' || fail "the text has no phases: $(cat text)"
grep -q '^Lines that --phase matched: 3 of Epoch' text || fail "the text has no rules: $(cat text)"
report --app-log-tz=-05:30 --html page.html || fail "report --html"
grep -q '"name":"epoch 2"' page.html || fail "the page has no phases"
report --app-log-tz=+12:00 --json >json || fail "report in the wrong zone"
grep -q 'outside of the trace.*--app-log-tz' json || fail "the wrong zone is not said"
python3 check.py <json 'tidy\040up:marks:mark:mark begin:mark end' || fail "phases of a log of another time"

# lines only for the ends: the first epoch begins with the trace, as nothing is read, each later one at the end before;
# a rule that matches no line is probably a mistake, and a warning
"$DLT" report --app-log job.log --app-log-tz=-05:30 --phase 'INFO - Epoch ([0-9]+)/=round \1 end' --phase 'Epohc=epoch' --json "$t" >json 2>err ||
	fail "report of ends"
python3 -c 'import json
p = [p for p in json.load(open("json"))["timeline"]["phases"] if p["name"].startswith("round")]
f = json.load(open("facts"))
assert [q["name"] for q in p] == ["round 1", "round 2"] and p[0]["end_ns"] == p[1]["begin_ns"], p
assert abs(p[0]["end_ns"] - f["own 1"][0]) < 10**7 and abs(p[1]["end_ns"] - f["own 2"][0]) < 10**7, (p, f)' || fail "ends alone"
grep -q "warning: --phase 'Epohc=epoch': no line" err || fail "said: $(cat err)"
grep -q -- '--phase Epohc=epoch: no line of a log matched' json || fail "the notes do not have the rule"
grep -q "'INFO" err && fail "a rule that matched is warned of"

"$DLT" report --app-log none "$t" 2>err >/dev/null && fail "a log that is not there"
grep -q -- "--app-log 'none': No such file" err || fail "said: $(cat err)"
"$DLT" report --phase '(=x' "$t" 2>err >/dev/null && fail "a rule that is none"
grep -q -- "--phase '(=x': " err || fail "said: $(cat err)"
rc=0
"$DLT" report --phase 'epoch ([0-9]+)=e \2' "$t" 2>err >/dev/null || rc=$?
equal "status of a rule that names a group too many" $rc 125
grep -q -- "--phase 'epoch (.* the pattern has 1 ( )" err || fail "said: $(cat err)"
"$DLT" report --app-log-tz Mars "$t" 2>err >/dev/null && fail "a zone that is none"
grep -q -- "--app-log-tz 'Mars': " err || fail "said: $(cat err)"

# with --cpu as well
if "$DLT" probes | grep -q '^sched.out'; then
	trace --probes -bio,+sched --log -- python3 job.py "$DLT" "$t" >/dev/null || fail "status $?, traced for --cpu"
	"$DLT" report --cpu "$t" >text || fail "report --cpu"
	for phase in 'dlio *2 .* epoch' 'mllog *2 .* eval' 'marks *1 .* tidy up'; do
		grep -q "^$phase\$" text || fail "--cpu has no $phase: $(cat text)"
	done
	"$DLT" report --cpu --app-log job.log --app-log-tz=-05:30 --phase 'Epoch=epoch' "$t" | grep -q '^log *2 .* epoch' ||
		fail "--cpu has no phases of the log"
fi

# no line names an epoch
trace -- true || fail "status $?"
"$DLT" report --json "$t" | python3 -c 'import json, sys; assert json.load(sys.stdin)["timeline"]["phases"] == []' ||
	fail "phases of nothing"
