#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# ^C at every phase of the start, once and twice, and an attached target that ends there (LONG=1: each at every phase):
# dltraced always ends, with the signal's status or with the trace whole. The workload has got the ^C, or has never run.
# No process, program or link of dltraced is left, and no folder without a manifest.
. "${0%/*}/../lib.sh"
need python3 bpftool

cat >phases.py <<'END'
import glob, json, os, pty, select, signal, subprocess, sys, time

dlt, folder = os.environ["DLT"], "t"
options = ["start", "-q", "--collectors", "none", "--probes", "-bio", "--min-free", "0", "-o", folder]
pid = 0

def links(kind):
    n = 0
    for fd in glob.glob(f"/proc/{pid}/fd/*"):
        try:
            n += os.readlink(fd) == f"anon_inode:{kind}"
        except OSError:
            pass
    return n

def children():
    try:
        return open(f"/proc/{pid}/task/{pid}/children").read().split()
    except OSError:
        return []

PHASES = {
    "exec": lambda: os.readlink(f"/proc/{pid}/exe") == os.path.realpath(dlt), # before, no terminal is its own
    "folder": lambda: os.path.exists(folder),
    "fork": lambda: children(),
    "first map": lambda: links("bpf-map"),
    "first program": lambda: links("bpf-prog"),
    "half of the programs": lambda: links("bpf-prog") >= 10,
    "first file": lambda: os.path.exists(folder + "/files.out"),
    "first link": lambda: links("bpf_link"),
    "manifest": lambda: os.path.exists(folder + "/manifest.json"),
    "workload": lambda: os.path.exists("runs"),
}

TWICE = "first program", "first link", "manifest"  # those that are enough at every change
LONG = os.environ.get("LONG")

def objects():
    """
    The ids of what dltraced holds now. Not of maps, which programs hold: to ask for a program array
    while it is being let go of makes the kernel keep it (prog_array_map_clear() takes a reference for
    a work that may be queued already).
    """
    found = set()
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            text = open(path).read()
        except OSError:
            continue
        for line in text.splitlines():
            if line.startswith(("prog_id:", "link_id:")):
                found.add(tuple(line.split("\t")))
    return found

def is_there(kind_id):
    kind, id = kind_id[0][:-4], kind_id[1]
    return subprocess.run(["bpftool", kind, "show", "id", id], capture_output=True).returncode == 0

def alive(p):
    try:
        return open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False

def holders(what):
    """Who has a descriptor of such a BPF object."""
    text = "\t".join(what) + "\n" if isinstance(what, tuple) else None
    found = []
    for path in glob.glob("/proc/[0-9]*/fdinfo/*") if text else ():
        try:
            if text in open(path).read():
                found.append(path + " " + open(f"/proc/{path.split('/')[2]}/comm").read().strip())
        except OSError:
            pass
    return found

def until(condition, what):
    begin = time.monotonic()
    while not condition():
        if time.monotonic() > begin + 120:
            sys.exit(f"{name}: waited in vain for {what}; held by {holders(what)}")
        time.sleep(0.001)

def ended():
    """Its status, reading what it says so that it can go on."""
    global master
    for _ in range(6000):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if master >= 0 and select.select([master], [], [], 0.01)[0]:
            try:
                said.append(os.read(master, 4096))
            except OSError:
                master = -1
        elif master < 0:
            time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    sys.exit(f"{name}: it did not end: {said}")

def check_end(status, wanted, kept):
    text = f"{name}: status {status}, said {b''.join(said)}, folder {os.path.exists(folder) and os.listdir(folder)}"
    if status not in wanted:
        sys.exit(text)
    if os.path.exists(folder):
        if not os.path.exists(folder + "/manifest.json"):
            sys.exit(text + ": a folder without a manifest")
        if not json.load(open(folder + "/manifest.json"))["complete"]:
            sys.exit(text + ": not complete")
        r = subprocess.run([dlt, "report", folder], capture_output=True)
        if r.returncode:
            sys.exit(f"{text}: report: {r}")
    for p in kept:
        until(lambda: not alive(p), f"the end of process {p}")
    for o in held:
        until(lambda: not is_there(o), o)

def clean():
    subprocess.run(["rm", "-rf", folder, "runs"])
    said.clear()

said, held = [], set()
for times in 1, 2:
    for phase, reached in PHASES.items():
        if times == 2 and phase not in TWICE and not LONG:
            continue
        name = f"^C {times} times at {phase}"
        clean()
        pid, master = pty.fork()
        if pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execv(dlt, [dlt] + options + ["--", "sh", "-c", ": >runs; exec sleep 1000"])
        until(reached, name)
        kids, held = children(), objects()
        for i in range(times):
            os.write(master, b"\x03")
        check_end(ended(), (130, -2), kids)
        print("ok", name)

for phase, reached in PHASES.items():
    if phase in ("exec", "fork", "workload") or (phase not in TWICE and not LONG):
        continue
    name = f"the target's end at {phase}"
    clean()
    target = subprocess.Popen(["sleep", "1000"])
    pid, master = pty.fork()
    if pid == 0:
        os.execv(dlt, [dlt] + options + ["--pid", str(target.pid)])
    until(reached, name)
    held = objects()
    target.kill()
    target.wait()
    check_end(ended(), (0,), [])
    print("ok", name)
END
python3 phases.py >out 2>&1 || fail "$(tail -n 3 out)"
