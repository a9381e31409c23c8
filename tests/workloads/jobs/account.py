# SPDX-License-Identifier: BSD-2-Clause
"""What a job spent its time in, by its own clock: the truth for a report on its trace.

Nothing of it is in the trace, except memory that is mapped at the start and two reads of /proc. Each process notes when
it began and ended to do something; the trainer adds that up and writes it to the file $ACCOUNT at its end. Spans do not
lie within each other. The kinds:

    open        stat, list, open and close files
    read        read files, by calls or by page faults
    decode      make a sample from what was read
    write       write files that are not checkpoints
    checkpoint  write and sync a checkpoint
    wait        the trainer has nothing from its loaders
    compute     the trainer trains on a CPU
    gpu         it sleeps, as a thread that waits for its GPU

A wait is divided by what the busy workers did: the time in which at least one worker was in a span goes to the kinds, in
proportion to the time that all of them together spent in each. The rest is idle; where there was no worker, start. Shares
are parts of wall_s, the time between the job's imports and its end:

    storage-read, open-metadata, checkpoint-write   read, open, checkpoint: of the trainer itself and of its waits
    decode-cpu          decode, of both, without the part in which they waited for a CPU
    straggler-worker    of the waits: how much longer the busiest worker was busy than the others on average
    cpu-contention      what the trainer waited for a CPU, and of its waits for busy workers the part of their spans in
                        which they did
    trainer-bound       all but read, open, decode, write and checkpoint
    cpu-bound           what the trainer was on a CPU, for any purpose

runq_share shows whether the machine was too busy for a job that is not about that: the part of their time for which the
trainer, or the workers on average, had no CPU; the larger of the two. Of a process only its main thread counts.
"""
import bisect
import contextlib
import json
import mmap
import multiprocessing.util
import os
import time

now = time.monotonic_ns
KINDS = ("life", "open", "read", "decode", "write", "checkpoint", "wait", "compute", "gpu")
DOES = tuple(kind for kind in KINDS if kind not in ("life", "wait"))
SPANS = 40000  # for each role; pages that are never written to take no memory
COUNT, CPU, RUNQ, FIRST = range(4)  # a role's numbers: spans, ns on a CPU, ns without one; then three for each span


def schedstat():
    """Returns, for the main thread, the ns on a CPU, and the ns in which it waited for one."""
    with open("/proc/self/schedstat", encoding="ascii") as f:
        return [int(n) for n in f.read().split()[:2]]


def with_cpu(roles):
    """Returns which part of the time in which the roles had work for a CPU they had one."""
    ready = sum(role.cpu + role.runq for role in roles)
    return sum(role.cpu for role in roles) / ready if ready else 1


def life_s():
    """Returns the seconds since this process was started."""
    with open("/proc/self/stat", encoding="ascii") as f:
        began = int(f.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - began


def between(spans, ends, begin, end):
    """Yields the parts of sorted SPANS, which end at ENDS, that lie between BEGIN and END."""
    for at in range(bisect.bisect(ends, begin), len(spans)):
        if spans[at][0] >= end:
            break
        yield max(spans[at][0], begin), min(spans[at][1], end)


def union(pieces):
    """Returns the time that at least one of the pieces covers."""
    total = last = 0
    for begin, end in sorted(pieces):
        total += max(0, end - max(begin, last))
        last = max(last, end)
    return total


class Role:
    """The account of the trainer or a worker: sorted (begin, end) by kind."""

    def __init__(self, numbers):
        self.cpu, self.runq = numbers[CPU], numbers[RUNQ]
        self.spans = {kind: [] for kind in KINDS}
        for at in range(FIRST, FIRST + 3 * numbers[COUNT], 3):
            self.spans[KINDS[numbers[at + 2]]].append((numbers[at], numbers[at + 1]))
        for spans in self.spans.values():
            spans.sort()
        self.ends = {kind: [end for _, end in spans] for kind, spans in self.spans.items()}

    def within(self, kind, begin, end):
        return sum(last - first for first, last in between(self.spans[kind], self.ends[kind], begin, end))

    def total(self, kind):
        return sum(end - begin for begin, end in self.spans[kind])

    def pieces(self, begin, end):
        """Yields its spans of all kinds between BEGIN and END, in any order."""
        for kind in DOES:
            for piece in between(self.spans[kind], self.ends[kind], begin, end):
                yield piece

    def busy(self, begin, end):
        return sum(piece[1] - piece[0] for piece in self.pieces(begin, end))


class Account:
    def __init__(self, workers=0):
        self.begin, self.slot, self.before = now(), 0, schedstat()  # the time of imports does not count
        size = 8 * (FIRST + 3 * SPANS)
        memory = memoryview(mmap.mmap(-1, size * (1 + workers))).cast("q")
        self.slots = [memory[size // 8 * n:size // 8 * (n + 1)] for n in range(1 + workers)]
        self.workers = workers

    # --- during the job ---

    def note(self, kind, begin, end):
        mine = self.slots[self.slot]
        at = FIRST + 3 * mine[COUNT]
        mine[at], mine[at + 1], mine[at + 2] = begin, end, KINDS.index(kind)
        mine[COUNT] += 1

    @contextlib.contextmanager
    def time(self, kind):
        begin = now()
        yield
        self.note(kind, begin, now())

    def wait(self):
        """Surrounds a request for a batch: a process without workers does not wait for them, but loads by itself."""
        return self.time("wait") if self.workers else contextlib.nullcontext()

    def worker(self, number):
        """The worker_init_fn of a DataLoader."""
        self.slot = 1 + number
        multiprocessing.util.Finalize(None, self.end_role, (now(), schedstat()), exitpriority=100)

    def end_role(self, begin, before):
        cpu, runq = schedstat()
        mine = self.slots[self.slot]
        mine[CPU] += cpu - before[0]
        mine[RUNQ] += runq - before[1]
        self.note("life", begin, now())

    # --- after the job ---

    def close(self):
        """To be called once all workers have ended."""
        path = os.environ.get("ACCOUNT")
        if path:
            self.end_role(self.begin, self.before)
            with open(path, "w", encoding="ascii") as f:
                json.dump(self.sums(), f, indent=1)

    def sums(self):
        trainer, *workers = (Role(numbers) for numbers in self.slots)
        wall = trainer.total("life")
        own = {kind: trainer.total(kind) for kind in DOES}
        waits = self.waits_for(trainer, workers)
        lives = sum(w.total("life") for w in workers)
        busy = sum(w.total(kind) for w in workers for kind in DOES)
        waited_runq = sum(waits.get(kind, 0) for kind in DOES) * min(1, sum(w.runq for w in workers) / busy) if busy else 0
        both = {kind: own[kind] + waits.get(kind, 0) for kind in own}
        parts = {
            "storage-read": both["read"],
            "open-metadata": both["open"],
            "decode-cpu": own["decode"] * with_cpu([trainer]) + waits.get("decode", 0) * with_cpu(workers),
            "checkpoint-write": both["checkpoint"],
            "straggler-worker": self.lag(trainer, workers),
            "cpu-contention": trainer.runq + waited_runq,
            "cpu-bound": trainer.cpu,
            "trainer-bound": wall - sum(both[kind] for kind in ("read", "open", "decode", "write", "checkpoint")),
        }
        life = life_s()
        return {
            "pid": os.getpid(),
            "begin_ns": self.begin,
            "wall_s": wall / 1e9,
            "imports_s": life - wall / 1e9,
            "runq_share": max([trainer.runq / wall, sum(w.runq for w in workers) / lives if lives else 0]),
            "shares": {code: ns / wall for code, ns in parts.items()},
            "trainer_s": {**{kind: ns / 1e9 for kind, ns in own.items()}, "wait": trainer.total("wait") / 1e9,
                          "cpu": trainer.cpu / 1e9, "runq": trainer.runq / 1e9},
            "waits_for_s": {kind: ns / 1e9 for kind, ns in waits.items()},
            "workers_s": [{**{kind: w.total(kind) / 1e9 for kind in KINDS}, "cpu": w.cpu / 1e9, "runq": w.runq / 1e9}
                          for w in workers],
        }

    @staticmethod
    def waits_for(trainer, workers):
        waits = {"start": 0, "idle": 0}
        for begin, end in trainer.spans["wait"]:
            if not any(w.within("life", begin, end) for w in workers):
                waits["start"] += end - begin
                continue
            spent = {kind: sum(w.within(kind, begin, end) for w in workers) for kind in DOES}
            busy = union(piece for w in workers for piece in w.pieces(begin, end))
            waits["idle"] += end - begin - busy
            for kind, ns in spent.items():
                waits[kind] = waits.get(kind, 0) + (busy * ns / sum(spent.values()) if ns else 0)
        return waits

    @staticmethod
    def lag(trainer, workers):
        """Returns how much longer than the other workers the busiest one was busy during the waits."""
        busy = sorted(sum(w.busy(*wait) for wait in trainer.spans["wait"]) for w in workers)
        return busy[-1] - sum(busy[:-1]) / len(busy[:-1]) if len(busy) > 1 else 0


def check():
    """A made-up job of 100 s, whose sums are easy to count by hand."""
    account = Account(2)
    for slot, spans in enumerate((
            (("life", 0, 100), ("wait", 10, 20), ("gpu", 20, 50), ("wait", 50, 60), ("checkpoint", 60, 90),
             ("wait", 95, 97)),
            (("life", 10, 90), ("read", 10, 18), ("decode", 52, 56)),
            (("life", 12, 90), ("read", 12, 14), ("read", 54, 58)))):
        account.slot = slot
        for kind, begin, end in spans:
            account.note(kind, begin * 10**9, end * 10**9)
    account.slots[1][CPU], account.slots[1][RUNQ] = 2 * 10**9, 10**9
    sums = account.sums()
    # 10 to 20: a worker reads for 8 s; 50 to 60: a worker is busy for 6 s, half of it decoding
    waits = {"start": 2, "idle": 2 + 4, "read": 8 + 3, "decode": 3}
    assert {kind: s for kind, s in sums["waits_for_s"].items() if s} == waits, sums
    shares = {"storage-read": 11, "decode-cpu": 3 * 2 / 3, "checkpoint-write": 30, "straggler-worker": 12 - 6,
              "cpu-contention": 14 * 1 / 18, "trainer-bound": 100 - 11 - 3 - 30}
    assert all(abs(sums["shares"][code] - s / 100) < 1e-9 for code, s in shares.items()), sums


if __name__ == "__main__":
    check()
