#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""flood.py KIND PROCESSES one|two [OPTION...]: what a flood takes from another process's rows (docs/security.md).

PROCESSES of tests/workloads/flood.c make calls of KIND as fast as they can, while another process opens 20 000 paths and
reads 20 000 times from a file, 100 of each every 50 ms, and ends with a child. They are in one trace, or in two. Options
go to both. Prints how many rows of the other process there are, and what the trace lost.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

N = 20000
BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build")
OTHER = f"""
import os, sys, time
data = os.open("data", os.O_RDWR | os.O_CREAT)
os.ftruncate(data, {N})
sys.stdin.readline()
for i in range({N}):
    try:
        os.open(f"/nowhere/{{i}}", os.O_RDONLY)
    except OSError:
        pass
    os.pread(data, 1, i)
    if i % 100 == 99:
        time.sleep(0.05)
if not os.fork():
    os.execv("/bin/true", ["true"])
os.wait()
"""


def trace(out, processes, options):
    return subprocess.Popen([f"{BUILD}/dltraced", "start", "-q", "--collectors", "none", "--probes", "-bio", "-o", out,
                             "--pid", ",".join(str(p.pid) for p in processes), *options])


def rows(out, name):
    """Each row of a file as {column: value}."""
    with open(f"{out}/{name}.out", encoding="utf-8") as lines:
        next(lines)
        columns = next(lines).rstrip("\n").split("\t")
        for line in lines:
            yield dict(zip(columns, line.rstrip("\n").split("\t")))


def lost(out):
    with open(f"{out}/manifest.json", encoding="utf-8") as text:
        return ", ".join(f"{p['name']} {p['lost']} of {p['rows'] + p['lost']}" for p in json.load(text)["probes"] if p["lost"])


def main():
    kind, n, traces, *options = sys.argv[1:]
    os.chdir(tempfile.mkdtemp(prefix="flood."))
    other = subprocess.Popen([sys.executable, "-c", OTHER], stdin=subprocess.PIPE)
    flood = [subprocess.Popen([f"{BUILD}/workloads/flood", kind]) for _ in range(int(n))]
    for p in flood:
        p.send_signal(signal.SIGSTOP)
    time.sleep(1)
    targets = {"one": [[other, *flood]], "two": [[other], flood]}[traces]
    running = [trace(f"t{i}", t, options) for i, t in enumerate(targets)]
    while not all(os.path.exists(f"t{i}/manifest.json") for i in range(len(targets))):
        time.sleep(0.1)
    time.sleep(2)
    for p in flood:
        p.send_signal(signal.SIGCONT)
    other.communicate(b"\n")
    for p in flood:
        p.kill()
        p.wait()
    for p in running:
        p.send_signal(signal.SIGINT)
        p.wait()
    pid = str(other.pid)
    opens = sum(r["PID"] == pid and "/nowhere/" in r["PATH"] for r in rows("t0", "open"))
    reads = sum(r["PID"] == pid and r["FUNC"] == "pread64" for r in rows("t0", "vfs_rw"))
    lives = sum(pid in (r["PID"], r["PPID"]) and r["EVENT"] in ("fork", "exec", "exit") for r in rows("t0", "pids"))
    print(f"{kind}, {n}, {traces}: rows of the other process: opens {opens}, reads {reads} of {N}, lives {lives} of 4")
    for i in range(len(targets)):
        print(f"  trace {i} lost: {lost(f't{i}') or 'nothing'}")
    subprocess.run(["rm", "-rf", os.getcwd()], check=True)


if __name__ == "__main__":
    main()
