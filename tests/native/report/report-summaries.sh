#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Which process used which file, what is not a file, output with its rate, --path, --compare, hosts of one job: compared
# with what the workload itself has done and counted, and with the rows.
. "${0%/*}/../lib.sh"
need python3

mkdir -p data/set data/settler 'data/set/a b'
head -c 300000 /dev/urandom >data/set/shared
head -c 5000 /dev/urandom >'data/set/a b/own'
head -c 7000 /dev/urandom >data/settler/else

# The workload counts what it does: lines of "what number" in counts.
cat >job.py <<'END'
import mmap, os, sys, time
done = dict(shared_reads=0, shared_bytes=0, log_writes=0, log_bytes=0, events=0, out_bytes=0)
kids = []
for i in range(3):
    pid = os.fork()
    if pid == 0:
        fd = os.open("data/set/shared", os.O_RDONLY)
        while os.read(fd, 65536):
            pass
        os.close(fd)
        os._exit(0)
    kids.append(pid)
    done["shared_reads"] += 6  # five with bytes, one at the end
    done["shared_bytes"] += 300000
for pid in kids:
    os.waitpid(pid, 0)
for name in ("data/set/a b/own", "data/settler/else"):
    with open(name, "rb", buffering=0) as f:
        f.read(100000)
log = os.open("train.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for i in range(20):
    done["log_bytes"] += os.write(log, b"step %d\n" % i)
    done["log_writes"] += 1
    time.sleep(0.01)
for i in range(7):
    done["out_bytes"] += os.write(1, b"epoch %d\n" % i)
event = os.eventfd(0)
for i in range(5):
    os.write(event, (1).to_bytes(8, sys.byteorder))
    done["events"] += 1
shm = os.open("/dev/shm/dltraced-test-%d" % os.getpid(), os.O_RDWR | os.O_CREAT | os.O_EXCL)
os.unlink("/dev/shm/dltraced-test-%d" % os.getpid())
os.ftruncate(shm, 1 << 20)
mmap.mmap(shm, 1 << 20).close()
with open("counts", "w") as f:
    for what, n in done.items():
        f.write(f"{what} {n}\n")
END
python3 -c 'import os; os.eventfd' 2>/dev/null || skip "python3 with os.eventfd (3.10)"

trace -- python3 job.py >out || fail "the workload: status $?"
check whole
"$DLT" report --json "$t" >json || fail "report --json: status $?"
check report json
check summaries json counts "$TMPDIR"
"$DLT" report --full "$t" >text || fail "report: status $?"
for line in '^Files that several processes used' '^Output and logs' '^eventfd ' '^Shared memory in /dev/shm' \
	'^Latencies: how many' '^Sizes: how many' '^Processes: medians'; do
	grep -q "$line" text || fail "the report does not say '$line': $(cat text)"
done

# --- one data set -----------------------------------------------------------------------------------

"$DLT" report --json --path "$TMPDIR/data//set/" "$t" >part || fail "--path: status $?"
python3 - part counts "$TMPDIR" <<'END' || fail "--path"
import json, sys
r = json.load(open(sys.argv[1]))
counts = dict((k, int(v)) for k, v in map(str.split, open(sys.argv[2])))
rw = next(p for p in r["probes"] if p["name"] == "vfs_rw")
assert rw["reads"]["bytes"] == counts["shared_bytes"] + 5000, rw
assert rw["writes"]["rows"] == 0, rw
assert r["only"]["path"] == sys.argv[3] + "/data/set" and 0 < r["only"]["left_out"] < r["only"]["rows"], r["only"]
paths = {f["path"] for f in r["files_by_bytes"]}
assert paths == {sys.argv[3] + "/data/set/shared", sys.argv[3] + "/data/set/a\\040b/own"}, paths
assert not r["logs"]["busiest"] and not r["classes"] and not r["shm"]["largest"]
END
"$DLT" report --path "$TMPDIR/data/set" "$t" | grep -q '^only  *calls on files at or below .*/data/set, without ' ||
	fail "--path in the text"
"$DLT" report --path /no/such/path "$t" | grep -q 'path /no/such/path: no row' || fail "--path of nothing"
! "$DLT" report --path data/set "$t" 2>err || fail "a relative --path"
grep -q 'not an absolute path' err || fail "a relative --path: $(cat err)"

# --- side by side -------------------------------------------------------------------------------------

mv "$t" first
trace -- sh -c 'cat data/set/shared data/set/shared >/dev/null' || fail "the second: status $?"
"$DLT" report --json "$t" >second.json
"$DLT" report --compare first "$t" >text || fail "--compare: status $?"
for line in '^(2) .*: sh -c' '^lasted ' '^reads: p99 '; do
	grep -q "$line" text || fail "--compare does not say '$line': $(cat text)"
done
"$DLT" report --compare --json first "$t" >compare || fail "--compare --json: status $?"
python3 - compare json second.json <<'END' || fail "--compare --json"
import json, sys
c, a, b = (json.load(open(f)) for f in sys.argv[1:])
m = {(x["section"], x["name"]): x for x in c["compare"]["measures"]}
side = lambda r: next(p for p in r["probes"] if p["name"] == "vfs_rw")["reads"]
for name, key in (("reads: bytes", "bytes"), ("reads: rows", "rows"), ("reads: p50", "p50_ns"), ("reads: p99", "p99_ns")):
    x = m["Probes", name]
    assert x["values"] == [side(a)[key], side(b)[key]], x
    ratio = side(b)[key] / side(a)[key]
    assert abs(x["ratios"][1] - ratio) <= 1e-5 * ratio and x["ratios"][0] == 1, x  # six digits
assert m["Run", "lasted"]["values"] == [a["duration_ns"], b["duration_ns"]]
END
! "$DLT" report --compare first 2>err || fail "--compare of one"

# --- hosts of one job -----------------------------------------------------------------------------------

"$DLT" report --json first "$t" >job.json || fail "several folders: status $?"
check summaries job.json
python3 - job.json json second.json <<'END' || fail "hosts of one job"
import json, sys
j, a, b = (json.load(open(f)) for f in sys.argv[1:])
rw = lambda r: next(p for p in r["probes"] if p["name"] == "vfs_rw")
for key in ("rows", "bytes", "time_ns", "failed"):
    assert rw(j)[key] == rw(a)[key] + rw(b)[key], key
assert [h["command"] for h in j["hosts"]] == [a["command"], b["command"]]
assert j["hosts"][0]["name"] + " (2)" == j["hosts"][1]["name"]
t = j["timeline"]
assert t["begin_ns"] == 0 and t["begin_utc"] == j["started"]
# one boot, one clock: what is known of it is how it was read
assert j["between_hosts"]["error_ns"] == a["clock"]["error_ns"] + b["clock"]["error_ns"], j["between_hosts"]
for host, r in zip(j["hosts"], (a, b)):
    mine = [s["values"] for s in t["series"] if s["host"] == host["name"] and (s["panel"], s["name"]) == ("vfs", "read")][0]
    assert len(mine) == t["bins"], (len(mine), t["bins"])
    span, bin_ns = next(h for h in t["hosts"] if h["host"] == host["name"]), t["bin_ns"]
    traced = [max(0, min(span["end_ns"], (i + 1) * bin_ns) - max(span["begin_ns"], i * bin_ns)) for i in range(len(mine))]
    got = sum(v * ns / 1e9 for v, ns in zip(mine, traced) if v is not None)
    want = sum(x["read_bytes"] for x in r["types"] if x["type"] in ("reg", "shm", "memfd", "unknown", "dir"))
    assert abs(got - want) <= want * 0.001 + 1, (got, want)
assert j["hosts"][1]["after_ns"] > 0
END
"$DLT" report --html job.html first "$t" || fail "a page of two: status $?"
grep -q '"between_hosts":{' job.html || fail "a page of two"
"$DLT" report --compare --html compare.html first "$t" || fail "a page that compares: status $?"
grep -q '"compare":{"traces":' compare.html || fail "a page that compares"
rm "$t/time_align.out"
! "$DLT" report --json first "$t" >out 2>err || fail "a host without a clock"
grep -q 'no time_align.out' err || fail "a host without a clock: $(cat err)"
