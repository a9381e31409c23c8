# SPDX-License-Identifier: BSD-2-Clause
"""The run time of a process's BPF programs, as the kernel counts it while somebody asks for it (BPF_ENABLE_STATS), and the
memory of its maps.
"""
import contextlib
import ctypes
import json
import os
import platform
import shutil
import subprocess

SYS_BPF = {"x86_64": 321, "aarch64": 280}
BPF_ENABLE_STATS, BPF_STATS_RUN_TIME = 32, 0


@contextlib.contextmanager
def counted():
    """Within it the kernel counts, for all programs of the machine, as long as the descriptor is open."""
    attr = (ctypes.c_uint32 * 32)(BPF_STATS_RUN_TIME)
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(SYS_BPF[platform.machine()], BPF_ENABLE_STATS, attr, ctypes.sizeof(attr))
    if fd < 0:
        raise OSError(ctypes.get_errno(), "the kernel does not count the run time of BPF programs")
    try:
        yield
    finally:
        os.close(fd)


def own(pid, key, number):
    """Returns {NUMBER: fields of fdinfo} for the descriptors of the process that have KEY."""
    found = {}
    for name in os.listdir(f"/proc/{pid}/fdinfo"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/fdinfo/{name}", encoding="ascii") as f:
            lines = dict(line.rstrip("\n").split("\t")[:2] for line in f if "\t" in line)
            if key in lines:
                found[int(lines[number])] = lines
    return found


def own_programs(pid):
    """Returns {id: fields of fdinfo} for the programs that the process has descriptors of."""
    return own(pid, "run_cnt:", "prog_id:")  # a link to a program has none


def search_path():
    return os.environ["PATH"] + ":/usr/sbin:/sbin"


def missing():
    """Returns why nothing can be counted here, or None."""
    if not shutil.which("bpftool", path=search_path()):
        return "bpftool not found"
    try:
        with counted():
            return None
    except OSError as e:
        return str(e)


def bpftool(*args):
    return json.loads(subprocess.run(["bpftool", "-j", *args], capture_output=True, text=True, check=True,
                                     env=dict(os.environ, PATH=search_path())).stdout)


def runs(pid):
    """Returns {id: (name, ns, runs)} of the process's programs so far."""
    ids = own_programs(pid)
    return {p["id"]: (p.get("name", ""), p.get("run_time_ns", 0), p.get("run_cnt", 0))
            for p in bpftool("prog", "show") if p["id"] in ids}


def map_bytes(pid, *prefixes):
    """Returns the memory of the process's maps whose names begin with one of PREFIXES."""
    names = {m["id"]: m.get("name", "") for m in bpftool("map", "show")}
    return sum(int(lines["memlock:"]) for nr, lines in own(pid, "map_type:", "map_id:").items()
               if names.get(nr, "").startswith(prefixes))


def again(pid, known):
    """Returns the same as runs(), with names from KNOWN, by fdinfo alone: it starts no process, whose page faults would
    count.
    """
    return {prog: (known[prog][0], int(lines["run_time_ns:"]), int(lines["run_cnt:"]))
            for prog, lines in own_programs(pid).items() if prog in known}


def between(before, after):
    """Returns {name: (ns, runs)} of the time between; programs of one name are added up."""
    total = {}
    for prog, (name, ns, count) in after.items():
        _, ns_before, count_before = before.get(prog, (name, 0, 0))
        ns_sum, count_sum = total.get(name, (0, 0))
        total[name] = ns_sum + ns - ns_before, count_sum + count - count_before
    return {name: runs for name, runs in total.items() if runs[1]}
