# SPDX-License-Identifier: BSD-2-Clause
"""programs TRACE PID [HOOK]: prints numbers about the BPF programs of the running dltraced PID, a number a line.

The kernel shows them for every descriptor (/proc/PID/fdinfo): how many instructions the verifier looked at, how often the
program has run, and what a link is attached to; bpftool knows names and sizes.

program.NAME.verified, program.NAME.xlated: of each program; of several with one name, the largest.
hook.NAME: the programs that run whenever the tracepoint NAME is hit, exactly one for each link.

With HOOK: only how often the programs at that tracepoint have run, where BPF_ENABLE_STATS is in force.
"""
import glob
import json
import subprocess
import sys


def descriptors(pid):
    for path in glob.glob("/proc/%s/fdinfo/*" % pid):
        try:
            with open(path) as f:
                yield {k: v.strip() for k, v in (line.split(":", 1) for line in f if ":" in line)}
        except OSError:
            pass  # closed meanwhile


fds = list(descriptors(sys.argv[2]))
links = {fd["link_id"]: fd for fd in fds if "tp_name" in fd}.values()
programs = {fd["prog_id"]: fd for fd in fds if "run_cnt" in fd}

if len(sys.argv) > 3:
    print(sum(int(programs[link["prog_id"]]["run_cnt"]) for link in links if link["tp_name"] == sys.argv[3]))
    sys.exit()

known = {str(p["id"]): p for p in json.loads(subprocess.check_output(["bpftool", "prog", "show", "--json"]))}
numbers = {}
for prog_id, fd in programs.items():
    name = "program." + known[prog_id]["name"]
    for what, value in (("verified", int(fd["verified_insns"])), ("xlated", known[prog_id]["bytes_xlated"] // 8)):
        numbers[name + "." + what] = max(value, numbers.get(name + "." + what, 0))
for link in links:
    numbers["hook." + link["tp_name"]] = numbers.get("hook." + link["tp_name"], 0) + 1
for name in sorted(numbers):
    print(name, numbers[name])
