# SPDX-License-Identifier: BSD-2-Clause
"""What was measured on: the machine, its kernel, the peers' versions."""
import json
import os
import platform
import re
import subprocess
import time

import tracers

VERSIONS = {
    "bpftrace": ["bpftrace", "--version"],
    "dltraced": [tracers.DLTRACED, "--version"],
    "libbpf-tools": ["dpkg-query", "-W", "-f", "${Version}", "libbpf-tools"],
    "perf": ["perf", "--version"],
    "strace": ["strace", "--version"],
}


def first(pattern, path, default="unknown"):
    try:
        with open(path) as f:
            found = re.search(pattern, f.read(), re.M)
    except OSError:
        found = None
    return found[1] if found else default


def version(argv):
    try:
        got = subprocess.run(argv, capture_output=True, text=True)
    except OSError:
        return None
    found = re.search(r"v?(\d+\.[\w.+~-]+)", got.stdout)
    return found[1] if found else None


def tracing_programs():
    """Returns the BPF programs on tracepoints that exist already: another tracer slows everything down."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    try:
        got = subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, text=True,
                             env=dict(os.environ, PATH=path))
        return sum(p["type"] in ("tracing", "tracepoint", "raw_tracepoint") for p in json.loads(got.stdout))
    except (OSError, ValueError):
        return 0


class Alone:
    """Waits for other tracers to end, which slow everything down: not again, once that has taken too long."""

    def __init__(self, limit_s=30):
        self.limit_s, self.patient, self.disturbed = limit_s, True, 0

    def wait(self):
        deadline = time.monotonic() + self.limit_s
        while tracing_programs():
            self.patient = self.patient and time.monotonic() < deadline
            if not self.patient:
                self.disturbed += 1
                break
            time.sleep(0.1)

    def note(self):
        """Returns a sentence about it, or nothing."""
        return f" Another tracer was running in {self.disturbed} of the runs." if self.disturbed else ""


def line(m):
    """Returns the result of describe() as text."""
    return f"{m['cpu']}, {m['cpus']} CPUs, {m['memory_gib']} GiB, Linux {m['kernel']}"


def heading(what, before, loads):
    """Returns the line above the tables: when, on which machine, WHAT, and the load of the machine BEFORE and meanwhile."""
    return (f"{time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}: {line(describe())}. {what}. Load: at most"
            f" {max(before, *loads):.1f}.")


def describe():
    versions = {name: version(argv) for name, argv in VERSIONS.items()}
    if tracers.NEWEST:
        versions["bpftrace newest"] = version([*tracers.newest(), "--version"])
    return {
        "cpu": first(r"^model name\s*: (.*)", "/proc/cpuinfo"),
        "cpus": os.cpu_count(),
        "memory_gib": round(int(first(r"^MemTotal:\s*(\d+)", "/proc/meminfo", "0")) / (1 << 20)),
        "kernel": platform.release().split("-")[0] + " " + platform.machine(),
        "system": first(r'^PRETTY_NAME="(.*)"', "/etc/os-release"),
        "versions": {name: v for name, v in versions.items() if v},
    }
