# SPDX-License-Identifier: BSD-2-Clause
"""sched TRACE TALLY BEFORE AFTER: does sched.out agree with the kernel, and with each thread's own account?

TALLY is by the workload "sched" (see its head). BEFORE and AFTER are /proc/stat around the trace: the kernel's own
account of a thread leaves out interrupts, and what a hypervisor took, where it can. If there is a sched_switch.out, it is
compared with the same accounts, and with sched.out.

Some kernels do not report each switch (docs/traces). Such switches are counted as unseen, or lost, and may be missing
here.
"""
import collections
import os
import sys

import tracefolder

SUMS = ("COUNT", "PREEMPTED", "RUN_NS", "RUNQ_NS", "DISK_NS", "BLOCKED_NS", "SLEEP_NS")
OF_CPU = ("PREEMPTED", "RUN_NS", "RUNQ_NS")
OF_CALL = ("DISK_NS", "BLOCKED_NS", "SLEEP_NS")
SAME_CALL = {"nanosleep": ("nanosleep", "clock_nanosleep"), "poll": ("poll", "ppoll")}
TICK_NS = 10_000_000
APART_NS = 200_000_000 if os.environ.get("VM") else 0  # a virtual CPU that is stopped between two hooks
# Part of a thread's time: a busy host may stop a virtual CPU between the moments at which the kernel and the hook read
# the time, some twenty times a second. On other machines the two differ by less than a hundredth.
PART = 2 if os.environ.get("VM") else 100
US = 1000 * (30 if os.environ.get("VM") else 1)  # the time of the hooks, as guests are emulated


def read_tally(path):
    with open(path, encoding="ascii") as f:
        for line in f:
            words = line.split()
            yield {k: int(v) if v.lstrip("-").isdigit() else v for k, v in zip(words[::2], words[1::2])}


def taken_ns(before, after):
    """Returns the time that interrupts and the hypervisor took in between, over all CPUs, and a tick for each CPU."""
    def of(path):
        with open(path, encoding="ascii") as f:
            n = [int(word) for word in f.readline().split()[1:]]
        return sum(n[5:8])  # irq, softirq, steal
    return (of(after) - of(before) + 3) * 10**9 // os.sysconf("SC_CLK_TCK")


def missed(trace):
    return sum(c["lost"] for name, c in trace.counters.items() if name in ("sched", "sched_switch")) + trace.unseen()


class Threads:
    """For each thread: sums of its rows. A thread that executes a program gets its leader's number: both are one account,
    under that number.
    """

    def __init__(self, rows, taken):
        self.taken = taken
        self.cpu = collections.defaultdict(collections.Counter)
        self.calls = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
        self.longest = collections.Counter()
        for row in rows:
            if row["KIND"] != "target":
                continue
            tid = self.of(int(row["TID"]))
            if row["CALL"] == "-":
                sums, columns = self.cpu[tid], ("COUNT", *OF_CPU)
            else:
                sums, columns = self.calls[tid][row["CALL"]], ("COUNT", *OF_CALL)
                key = tid, row["CALL"]
                self.longest[key] = max(self.longest[key], row.n("MAX_NS"))
            for column in columns:
                sums[column] += row.n(column)

    def of(self, tid):
        return self.taken.get(tid, tid)

    def call(self, tid, name):
        total = collections.Counter()
        for same in SAME_CALL.get(name, (name,)):
            total.update(self.calls[tid].get(same, {}))
        return total

    def waits(self, tid):
        total = collections.Counter()
        for sums in self.calls[tid].values():
            total.update(sums)
        return total

    def life_ns(self, tid):
        return (self.cpu[tid]["RUN_NS"] + self.cpu[tid]["RUNQ_NS"] +
                sum(self.waits(tid)[column] for column in OF_CALL))


# --- rows by themselves ---------------------------------------------------------------------------

def check_rows(trace):
    for row in trace["sched"]:
        of_cpu = row["CALL"] == "-"
        absent = (*OF_CALL, "MAX_NS") if of_cpu else ("CPU", *OF_CPU)
        there = OF_CPU if of_cpu else (*OF_CALL, "MAX_NS")
        trace.require(all(row[c] == "-" for c in absent) and all(row[c] != "-" for c in there), f"columns: {row}")
        trace.require(all(row[c] == "-" or row.n(c) >= 0 for c in SUMS), f"negative: {row}")
        if of_cpu:
            trace.require(row["CPU"] != "-", f"no CPU: {row}")
        else:
            trace.require(row["KIND"] == "target", f"a call of no target: {row}")
            waited = sum(row.n(c) for c in OF_CALL)
            trace.require(row.n("MAX_NS") <= waited <= row.n("MAX_NS") * row.n("COUNT"), f"the longest: {row}")
        if row["KIND"] in ("other", "idle"):
            trace.require((row["PID"], row["TID"]) == ("0", "0"), f"whose: {row}")


def check_cpus(trace):
    """Returns the length of the trace in ns: each CPU's idle time, the target's and the others' add up to it."""
    run = collections.Counter()
    for row in trace["sched"]:
        if row["CALL"] == "-":
            run[row["CPU"]] += row.n("RUN_NS")
    trace.require(len(run) >= 1 and max(run.values()) - min(run.values()) <= 1000 + APART_NS, f"RUN_NS of each CPU: {run}")
    return max(run.values())


# --- the kernel's numbers -------------------------------------------------------------------------

class Kernel:
    def __init__(self, tally, of):
        self.sums = collections.defaultdict(collections.Counter)
        self.whole = set()  # threads that make nothing after the reading
        for line in tally:
            if line["role"] in ("zombie", "thread", "leader"):
                tid = of(line["tid"])
                self.sums[tid].update({k: line[k] for k in ("run", "runq", "slices", "voluntary", "involuntary")})
                self.sums[tid]["n"] += 1
                if line["role"] == "zombie":
                    self.whole.add(tid)


def check_kernel(trace, threads, kernel, taken):
    lost = missed(trace)
    late_ns = 100 * TICK_NS * bool(lost)
    for tid, k in kernel.sums.items():
        cpu, waits = threads.cpu[tid], threads.waits(tid)
        whole = tid in kernel.whole
        late = 0 if whole else TICK_NS
        slack = k["run"] // PART + 1000 * US + taken + late_ns + APART_NS
        of = f"thread {tid}: {dict(cpu)} waits {dict(waits)}, the kernel: {dict(k)}"
        trace.require(k["run"] - slack <= cpu["RUN_NS"] <= k["run"] + slack + late, f"RUN_NS: {of}")
        # the wakeup may have a time of a clock that stood still for up to a tick
        slack = k["runq"] // PART + 1000 * US + 20 * US * k["slices"] + taken + late_ns + APART_NS
        trace.require(k["runq"] - slack <= cpu["RUNQ_NS"] <= k["runq"] + slack + late or not whole, f"RUNQ_NS: {of}")
        # it may have lost its CPU once more during the reading, and its last switch may come later
        more = (2 * k["n"] if whole else 200) + lost
        # slices omit switches to a thread that was not queued; each switch to a thread has one from it
        goes = k["voluntary"] + k["involuntary"]
        trace.require(max(goes, k["slices"]) - lost <= cpu["COUNT"] <= goes + more, f"COUNT: {of}")
        trace.require(k["involuntary"] - lost <= cpu["PREEMPTED"] <= k["involuntary"] + more, f"PREEMPTED: {of}")
        trace.require(k["voluntary"] - k["n"] - lost <= waits["COUNT"] <= k["voluntary"] + (lost if whole else more),
                      f"times waited: {of}")


# --- the threads' own numbers ---------------------------------------------------------------------

def check_calls(trace, threads, own):
    tid, name = threads.of(own["tid"]), own["call"]
    got, cpu = threads.call(tid, name), threads.cpu[tid]
    waited = sum(got[c] for c in OF_CALL)
    of = f"{own}: {dict(got)}"
    if name == "none":
        return
    if name != "futex":  # a futex is sometimes woken before it sleeps
        trace.require(got["COUNT"] >= own["waits"] - cpu["PREEMPTED"] - missed(trace), f"waits: {of}")
    if missed(trace):
        return
    trace.require(waited <= own["waited_ns"], f"longer than it took: {of}")
    trace.require(waited + cpu["RUNQ_NS"] >= own["wanted_ns"] * 99 // 100 - 1000 * US, f"too short: {of}")
    for same in SAME_CALL.get(name, (name,)):
        trace.require(threads.longest[tid, same] <= own["longest_ns"], f"the longest: {of}")
    where = {"fault": "DISK_NS", "pread64": "DISK_NS", "vfork": "BLOCKED_NS", "clone": "BLOCKED_NS"}.get(name, "SLEEP_NS")
    # a thread that loses its CPU on the way into a wait may be woken before it gets there
    trace.require(not own["waits"] or got[where] > 0 or not got["COUNT"] and cpu["PREEMPTED"], f"{where}: {of}")
    if where == "SLEEP_NS":
        trace.require(got["DISK_NS"] == got["BLOCKED_NS"] == 0, f"sleeps: {of}")


class Lives:
    """Begin and end of each thread, from pids.out. The last row of a process has its leader's number: the leader may have
    ended earlier, and the row is the end of the last thread as well.
    """

    def __init__(self, trace):
        self.begin, self.end, self.process_end = {}, {}, {}
        for row in trace["pids"]:
            tid = int(row["TID"])
            if row["EVENT"] in ("fork", "thread"):
                self.begin[tid] = row.n("TIMESTAMP")
            elif row["EVENT"] == "exit":
                self.end.setdefault(tid, row.n("TIMESTAMP"))
                if row["STATUS"] != "-":
                    self.process_end[tid] = row.n("TIMESTAMP")


def check_life(trace, threads, lives, own, reaped_ns):
    tid = own["tid"]
    begin, end = lives.begin.get(tid), lives.end.get(tid) or lives.process_end.get(own["pid"])
    if not trace.require(begin and end, f"no beginning or end in pids.out: {own}"):
        return
    trace.require(own["before"] <= begin and (begin <= own["begin"] or own["what"].endswith("exec")), f"{begin}: {own}")
    trace.require(own["end"] <= end or own["what"].endswith("exec"), f"end {end}: {own}")
    trace.require(not reaped_ns or end <= lives.process_end[tid] <= reaped_ns, f"end {end} after {reaped_ns}: {own}")
    if threads.of(tid) in threads.taken.values():
        return  # two accounts of one thread
    if missed(trace):
        return
    life = threads.life_ns(tid)
    slack = (end - begin) // 100 + 2000 * US
    # its parent may lose the CPU between the fork's tracepoint and the wakeup, with which the kernel begins to count
    # waiting
    known = begin if own["what"].endswith("exec") else own["begin"]
    trace.require(life >= end - known - slack, f"{end - known - life} ns of its life are missing: {own}")
    # between its exit and its last switch it may wait for a CPU for any time
    queued = threads.cpu[threads.of(tid)]["RUNQ_NS"]
    trace.require(life <= end - begin + slack + max(queued, 100_000 * US), f"lives {life - (end - begin)} ns too long: {own}")


# --- switch by switch -----------------------------------------------------------------------------

def check_chain(trace, taken):
    """The thread that a switch brings onto a CPU is the one that the next switch takes off it, always for the target."""
    last, broken = {}, []
    tids = {row["TID"] for row in trace["sched"] if row["KIND"] == "target"}
    for row in trace["sched_switch"]:
        before, cpu = last.get(row["CPU"]), row["CPU"]
        last[cpu] = row
        ours = row["PREV_TID"] in tids
        trace.require(ours or row["NEXT_TID"] in tids, f"of nobody: {row}")
        trace.require(row["PREV_TID"] != row["NEXT_TID"], f"no switch: {row}")
        # an exec exchanges the numbers of the thread and its leader
        came, goes = (int(r) for r in (before["NEXT_TID"], row["PREV_TID"])) if before else (0, 0)
        if (ours or came and before["NEXT_TID"] in tids) and taken.get(came, came) != taken.get(goes, goes):
            broken.append(f"from {before} to {row}")
    trace.require(len(broken) == trace.counters["sched_switch"]["lost"], f"not a chain: {len(broken)}, {broken[:1]}")


def check_switches(trace, threads, stolen, leader, ended_ns):
    """Both probes have equal sums. For threads that existed before the trace, the time of the first row is unknown; between
    the two hooks others may have had the CPU. The trace ends when LEADER, the job's first process, has ended, at ENDED_NS at
    the earliest: of its last switches after that, sched_switch.out may have some that sched.out has not, or neither.
    """
    run, runq, comes, goes = (collections.Counter() for _ in range(4))
    states, late = collections.defaultdict(collections.Counter), collections.Counter()
    for row in trace["sched_switch"]:
        prev, next_ = threads.of(int(row["PREV_TID"])), threads.of(int(row["NEXT_TID"]))
        run[prev] += row.n("RUN_NS") if row["RUN_NS"] != "-" else 0
        runq[next_] += row.n("WAIT_NS") if row["WAIT_NS"] != "-" else 0
        goes[prev] += 1
        comes[next_] += 1
        states[prev][row["PREV_STATE"]] += 1
        if row.n("TIMESTAMP") > ended_ns:
            late["comes"] += next_ == leader
            late["preempted"] += prev == leader and row["PREV_STATE"] in ("R", "R+")
    for tid, cpu in threads.cpu.items():
        of = f"thread {tid}: {dict(cpu)}, switches: run {run[tid]} runq {runq[tid]} {comes[tid]} {dict(states[tid])}"
        may = late if tid == leader else collections.Counter()
        of += f", late: {dict(may)}" if may else ""
        slack = cpu["RUN_NS"] // PART + 500 * US + 20 * US * cpu["COUNT"] + APART_NS + stolen
        trace.require(missed(trace) or abs(run[tid] - cpu["RUN_NS"]) <= slack, f"RUN_NS: {of}")
        trace.require(missed(trace) or abs(runq[tid] - cpu["RUNQ_NS"]) <= slack + cpu["RUNQ_NS"] // PART,
                      f"RUNQ_NS: {of}")
        trace.require(0 <= cpu["COUNT"] - comes[tid] + may["comes"] <= may["comes"] + missed(trace), f"COUNT: {of}")
        trace.require(0 <= states[tid]["R"] + states[tid]["R+"] - cpu["PREEMPTED"] <= may["preempted"], f"PREEMPTED: {of}")
        last = 2 if tid in threads.taken.values() else 1
        trace.require(states[tid]["X"] == last or tid == leader and states[tid]["X"] == 0, f"its last: {of}")
    return states


# --------------------------------------------------------------------------------------------------

def main():
    folder, tally, before, after = sys.argv[1:]
    trace = tracefolder.Trace(folder)
    tally = list(read_tally(tally))
    taken = {line["tid"]: line["pid"] for line in tally if line["role"] == "taken"}
    threads = Threads(trace["sched"], taken)
    check_rows(trace)
    check_cpus(trace)
    check_kernel(trace, threads, Kernel(tally, threads.of), taken_ns(before, after))
    lives, reaped = Lives(trace), {line["tid"]: line["now"] for line in tally if line["role"] == "zombie"}
    for own in (line for line in tally if line["role"] == "own"):
        check_calls(trace, threads, own)
        if own["what"] != "main":
            check_life(trace, threads, lives, own, reaped.get(own["tid"]))
    trace.require(len({row["CPU"] for row in trace["sched"] if row["TID"] in
                       {str(o["tid"]) for o in tally if o.get("what") == "migrator"}} - {"-"}) >= min(2, os.cpu_count()),
                  "the migrator has been on one CPU alone")
    if "sched_switch" in trace.files:
        check_chain(trace, taken)
        leader = next(own["pid"] for own in tally if own.get("what") == "main")
        states = check_switches(trace, threads, taken_ns(before, after), leader, lives.process_end[leader])
        for own in tally:
            if own.get("what") in ("stopped", "hogstopped"):
                preempted = threads.cpu[own["tid"]]["PREEMPTED"]
                trace.require(states[own["tid"]]["T"] >= 1 or preempted, f"was not stopped: {own}")
    trace.finish()


main()
