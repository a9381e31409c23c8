# SPDX-License-Identifier: BSD-2-Clause
"""programs TRACE PID [HOOK]: prints numbers about the BPF programs of the running dltraced PID, a number a line.

The kernel shows them for every descriptor (/proc/PID/fdinfo): how many instructions the verifier looked at, how often the
program has run, and what a link is attached to; bpftool knows names and sizes.

program.NAME.verified, program.NAME.xlated: of each program; of several with one name, the largest.
program.NAME.walked: of one with functions, how many instructions the verifier's check of the stack goes over: it goes down
every path of calls, and those of a function again for each path (check_max_stack_depth() of kernel/bpf/verifier.c).
hook.NAME: the programs that run whenever the tracepoint NAME is hit, exactly one for each link.

With HOOK: only how often the programs at that tracepoint have run, where BPF_ENABLE_STATS is in force. With "all" in its
place: start.verified, of all programs together, which is most of what a start costs, and start.programs.
"""
import bisect
import functools
import glob
import json
import re
import subprocess
import sys


def descriptors(pid):
    for path in glob.glob("/proc/%s/fdinfo/*" % pid):
        try:
            with open(path) as f:
                yield {k: v.strip() for k, v in (line.split(":", 1) for line in f if ":" in line)}
        except OSError:
            pass  # closed meanwhile


def walked(prog_id, insns):
    """Of the program with INSNS instructions; 0: it has no functions."""
    text = subprocess.check_output(["bpftool", "prog", "dump", "xlated", "id", prog_id], text=True)
    calls = {int(at): int(at) + 1 + int(off) for at, off in re.findall(r"^ *(\d+): \(85\) call pc([+-]\d+)#", text, re.M)}
    begins = sorted({0, *calls.values()})
    of = {begin: [] for begin in begins}
    for at, to in calls.items():
        of[begins[bisect.bisect_right(begins, at) - 1]].append(to)
    ends = dict(zip(begins, begins[1:] + [insns]))

    @functools.lru_cache(None)
    def walk(begin):
        return ends[begin] - begin + sum(walk(to) for to in of[begin])

    return walk(0) if calls else 0


fds = list(descriptors(sys.argv[2]))
links = {fd["link_id"]: fd for fd in fds if "tp_name" in fd}.values()
programs = {fd["prog_id"]: fd for fd in fds if "run_cnt" in fd}

if sys.argv[3:] == ["all"]:
    print("start.verified", sum(int(fd["verified_insns"]) for fd in programs.values()))
    print("start.programs", len(programs))
    sys.exit()
if len(sys.argv) > 3:
    print(sum(int(programs[link["prog_id"]]["run_cnt"]) for link in links if link["tp_name"] == sys.argv[3]))
    sys.exit()

known = {str(p["id"]): p for p in json.loads(subprocess.check_output(["bpftool", "prog", "show", "--json"]))}
numbers = {}
for prog_id, fd in programs.items():
    name = "program." + known[prog_id]["name"]
    insns = known[prog_id]["bytes_xlated"] // 8
    for what, value in (("verified", int(fd["verified_insns"])), ("xlated", insns), ("walked", walked(prog_id, insns))):
        if what == "walked" and not value:
            continue
        numbers[name + "." + what] = max(value, numbers.get(name + "." + what, 0))
for link in links:
    numbers["hook." + link["tp_name"]] = numbers.get("hook." + link["tp_name"], 0) + 1
for name in sorted(numbers):
    print(name, numbers[name])
