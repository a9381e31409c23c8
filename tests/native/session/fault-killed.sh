#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# dltraced is killed, by SIGKILL and by SIGSEGV, at random moments (LONG=1: 100 of them): during the start, while it
# writes, at its end. A workload that has begun goes on to its end, and one that has not never runs. No program, link or
# collector of dltraced stays, and what is in the folder can be read.
. "${0%/*}/../lib.sh"
# with a sanitizer, SIGSEGV must still kill
export ASAN_OPTIONS="${ASAN_OPTIONS-}:handle_segv=0" TSAN_OPTIONS="${TSAN_OPTIONS-}:handle_segv=0"
need python3 bpftool mpstat
ulimit -c 0
head -c 1048576 /dev/zero >data

cat >killed.py <<'END'
import glob, os, random, re, signal, subprocess, sys, time

dlt, storm, rounds, seed = os.environ["DLT"], sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random.seed(seed)
JOB = ': >began; "$0" -n 600000 data >out 2>&1 && echo $? >ended'

def read(path):
    try:
        with open(path) as f:
            return f.read()
    except OSError:
        return ""

def until(condition, what):
    for _ in range(12000):
        if condition():
            return
        time.sleep(0.01)
    sys.exit(f"{name}: waited in vain for {what}")

def gone(pid):
    state = re.search(r"^State:\s(.)", read(f"/proc/{pid}/status"), re.M)
    return not state or state[1] in "ZX"

def stopped(pid):
    return all(re.search(r"^State:\s[TZ]", read(p), re.M) for p in glob.glob(f"/proc/{pid}/task/*/status"))

def objects(pid):
    """The ids of the BPF objects that it holds; not of maps, see fault-start.sh."""
    return {m for p in glob.glob(f"/proc/{pid}/fdinfo/*")
            for m in re.findall(r"^(prog|link)_id:\s*(\d+)", read(p), re.M)}

def there(kind, id):
    return subprocess.run(["bpftool", kind, "show", "id", id], capture_output=True).returncode == 0

def helpers(pid):
    """Children, but for the one at the gate or behind it, and the relay, which outlives us to keep the log."""
    kids = read(f"/proc/{pid}/task/{pid}/children").split()
    return [k for k in kids if read(f"/proc/{k}/comm").strip() in ("mpstat",)], kids

begun = 0
for nr in range(rounds):
    sig = signal.SIGSEGV if nr % 4 == 3 else signal.SIGKILL
    subprocess.run("rm -rf t began ended out", shell=True)
    delay = random.uniform(0, 1.6)
    name = f"seed {seed}, round {nr}: {sig.name} after {delay:.3f} s"
    p = subprocess.Popen([dlt, "start", "-q", "--collectors", "cpu", "--probes", "-bio", "--min-free", "0", "--log",
                          "-o", "t", "--", "sh", "-c", JOB, storm], stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE)
    time.sleep(delay)
    # It stands still while it is looked at: all that it holds is known.
    p.send_signal(signal.SIGSTOP)
    until(lambda: p.poll() is not None or stopped(p.pid), "the stop")
    held, (tools, kids) = objects(p.pid), helpers(p.pid)
    p.send_signal(sig)
    p.send_signal(signal.SIGCONT)
    if p.wait() not in (-sig, 0):
        sys.exit(f"{name}: status {p.returncode}: {p.stderr.read()}")
    p.stderr.close()
    for kind, id in held:
        until(lambda: not there(kind, id), f"{kind} {id} to be let go of")
    for kid in tools:
        until(lambda: gone(kid), f"the end of mpstat {kid}")
    until(lambda: os.path.exists("ended") or (not os.path.exists("began") and all(map(gone, kids))),
          f"the end of the workload, {kids}")
    for kid in kids:
        until(lambda: gone(kid), f"the end of {kid}")
    if os.path.exists("began"):
        begun += 1
        if read("ended") != "0\n" or not read("out").startswith("round 1"):
            sys.exit(f"{name}: the workload was harmed: {read('out')}")
    r = subprocess.run([dlt, "report", "t"], capture_output=True, text=True)
    # before there is a manifest there is no trace
    if r.returncode and os.path.exists("t/manifest.json") or r.returncode not in (0, 125):
        sys.exit(f"{name}: report: {r}")
    for path in glob.glob("t/*.out"):
        lines = open(path, "rb").read().split(b"\n")
        if b"\0" in b"".join(lines) or lines[0] and not lines[0].startswith(b"# dltraced "):
            sys.exit(f"{name}: {path}: {lines[:2]}")
    print("ok", name, len(held), "objects,", "a trace" if r.returncode == 0 else "no trace yet")
print(f"{rounds} rounds, the workload had begun in {begun}")
END
python3 killed.py "$W/storm" "$([ "${LONG-}" ] && echo 100 || echo 8)" $$ >killed 2>&1 || fail "$(tail -n 3 killed)"
tail -n 1 killed
