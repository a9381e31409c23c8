# SPDX-License-Identifier: BSD-2-Clause
"""The goals: what each promises, how it is computed, and whether it is met."""
from statistics import median
from typing import Callable, NamedTuple


def verdict(met):
    """MET: of each round. Where rounds lie on both sides of the target they decide nothing: another measurement may have its
    median on the other side.
    """
    sides = set(met)
    return "not measured" if not sides else "undecided" if len(sides) == 2 else "met" if sides == {True} else "NOT MET"


class Goal(NamedTuple):
    nr: str
    text: str
    target: float
    at_least: bool
    unit: str
    value: Callable  # (figures) -> number, list of a number per round, or None where not measured

    def met(self, value):
        return value >= self.target if self.at_least else value <= self.target

    def judge(self, figures):
        """Returns (value, spread, verdict)."""
        got = self.value(figures)
        if got is None or got == []:
            return None, None, "not measured"
        rounds = got if isinstance(got, list) else [got]
        spread = (min(rounds), max(rounds)) if len(rounds) > 1 else None
        return median(rounds), spread, verdict(self.met(value) for value in rounds)


def of_round(workload, tracer, key):
    """Returns a function for the ratio to dltraced."""
    return lambda f: f.ratios(workload, tracer, key)


def all_lost(*names):
    def value(f):
        runs = [r for name in names for r in f.of(name, "dltraced")]
        return sum(r["lost"] + abs(r["calls"] - r["rows"] - r["lost"]) for r in runs) if runs else None
    return value


OURS = ("dltraced", "dltraced -P -sched")


def unaccounted(f):
    runs = [r for r in f.results["runs"] if r["tracer"] in OURS and "failed" not in r]
    return sum(abs(r["calls"] - r["rows"] - r["lost"]) for r in runs) if runs else None


def by_shim(workload):
    def value(f):
        return [1 / ratio for ratio in f.ratios(workload, "JSON shim", "cpu_ns")]
    return value


def idle(f):
    return [100 * r["tracer_cpu_ns"] / r["elapsed_ns"] for r in f.of("idle", "dltraced")]


def packed(packer):
    return lambda f: max((s[packer] for s in f.results.get("sizes", [])), default=None)


def text_bytes(f):
    return max((s["text"] - s["comm_file"] for s in f.results.get("sizes", [])), default=None)


def mb(workload):
    return lambda f: [r["memory"]["rest"] / 1e6 for r in f.of(workload, "dltraced") if "memory" in r]


def growth(f):
    few, many = mb("reads")(f), mb("soak")(f)
    return median(many) - median(few) if few and many else None


def linear(f):
    few, many = (f.cpu_per_million(w, "dltraced") for w in ("reads", "soak"))
    return median(many) / median(few) if few and many else None


def peak(f):
    got = f.results.get("load_peak")
    return got / 1e6 if got else None


def start(f):
    return [ns / 1e9 for ns in f.values("start", "dltraced", "start_ns")]


NEWEST = "bpftrace newest, big buffers"  # with small buffers it loses a good part of the rows, and their cost
MORE, LESS = True, False
GOALS = [
    Goal("1", "added CPU per read, bpftrace with the file's name / dltraced", 15, MORE, "x",
         of_round("reads", "bpftrace +name", "cpu_ns")),
    Goal("1", "added CPU per read, newest bpftrace, big buffers / dltraced", 4.2, MORE, "x",
         of_round("reads", NEWEST, "cpu_ns")),
    Goal("1", "added wall time per read, bpftrace with the file's name / dltraced", 15, MORE, "x",
         of_round("reads", "bpftrace +name", "wall_ns")),
    Goal("1", "added wall time per read, strace / dltraced", 80, MORE, "x", of_round("reads", "strace", "wall_ns")),
    Goal("1", "added wall time per read, perf trace / dltraced", 28, MORE, "x",
         of_round("reads", "perf trace", "wall_ns")),
    Goal("1", "added wall time per read, perf record / dltraced", 3.5, MORE, "x",
         of_round("reads", "perf record", "wall_ns")),
    Goal("1", "added CPU per read", 450, LESS, "ns", lambda f: f.added("reads", "dltraced", "cpu_ns")),
    Goal("2", "added CPU per read, ratio to the JSON shim", 1.0, LESS, "x", by_shim("reads")),
    Goal("2", "added CPU per call of small files, ratio to the JSON shim", 1.5, LESS, "x",
         by_shim("small files")),
    Goal("3", "small files: slowdown", 1.45, LESS, "x", lambda f: f.slowdown("small files", "dltraced")),
    Goal("3", "small files: slowdown by bpftrace", 5.5, MORE, "x",
         lambda f: f.slowdown("small files", "bpftrace")),
    Goal("3", "small files: slowdown by strace", 20, MORE, "x",
         lambda f: f.slowdown("small files", "strace")),
    Goal("4", "calls that are neither a row nor counted as lost, in all runs", 0, LESS, "",
         unaccounted),
    Goal("4", "lost in storms (reads of 1 and 2 threads, writes, small files, mixed)", 0, LESS, "",
         all_lost("reads", "reads, 2 threads", "writes", "small files", "mixed")),
    Goal("4", "lost in 10 M reads in a row", 0, LESS, "", all_lost("soak")),
    Goal("4", "lost while the drain is stopped for 1 s, 600 000 reads a second", 0, LESS, "",
         all_lost("stall, 600 k/s")),
    Goal("5", "own CPU per million rows", 0.16, LESS, "s",
         lambda f: f.cpu_per_million("soak", "dltraced") or f.cpu_per_million("reads", "dltraced")),
    Goal("5", "own CPU per million rows, small files", 0.25, LESS, "s",
         lambda f: f.cpu_per_million("small files", "dltraced")),
    Goal("5", "own CPU of an idle trace", 0.1, LESS, "% of a core", idle),
    Goal("6", "a row of vfs_rw.out without COMM and FILE", 110, LESS, "bytes", text_bytes),
    Goal("6", "a row of vfs_rw.out, zstd -3", 20, LESS, "bytes", packed("zstd -3")),
    Goal("6", "a row of vfs_rw.out, zstd -19", 14, LESS, "bytes", packed("zstd -19")),
    Goal("7", "added to calls that no probe traces, ratio to two empty hooks", 1.05, LESS, "x",
         lambda f: f.bystander("others")),
    Goal("7", "added to calls of processes that are not traced, ratio to two empty hooks", 1.25, LESS, "x",
         lambda f: f.bystander("bytes")),
    Goal("7", "from the start to the workload's first instruction, all probes", 0.3, LESS, "s", start),
    Goal("7", "resident memory beside the rings, after 1 M rows", 10, LESS, "MB", mb("reads")),
    Goal("7", "peak of memory while loading", 40, LESS, "MB", peak),
    Goal("8", "memory after 10 M rows, growth since 1 M rows", 1, LESS, "MB", growth),
    Goal("8", "own CPU per row of 10 M rows, ratio to 1 M rows", 1.1, LESS, "x", linear),
]

# Goals of disk.py. Other processes dirty pages and have faults, too: 1 ns counts as nothing.
DISK_GOALS = [
    Goal("9", "the file of a disk request: a direct read of 4 KiB", 500, LESS, "ns more", lambda f: f.more("direct")),
    Goal("9", "its file and writer: a write of 4 KiB", 500, LESS, "ns more",
         lambda f: f.more("synced")),
    Goal("9", "its file and writers: a write of many pages", 500, LESS, "ns more",
         lambda f: f.more("flushed")),
    Goal("9", "a folio that becomes dirty", 50, LESS, "ns", lambda f: f.each("dirty")),
    Goal("9", "an overwrite of a dirty page", 1, LESS, "ns", lambda f: f.each("overwrite")),
    Goal("9", "a folio of 4 KiB put into the page cache, under cache", 150, LESS, "ns",
         lambda f: f.each("inserted")),
    Goal("9", "the same, of read-ahead", 150, LESS, "ns",
         lambda f: f.each("ahead")),
    Goal("9", "a major fault", 2000, LESS, "ns", lambda f: f.each("major")),
    Goal("9", "a minor fault of anonymous memory", 1, LESS, "ns", lambda f: f.each("minor")),
    Goal("9", "a minor fault of a mapped file, read", 1, LESS, "ns", lambda f: f.each("mapped")),
    Goal("9", "a minor fault, first store to a shared mapping of a file", 1, LESS, "ns", lambda f: f.each("stored")),
    Goal("9", "MiB of BPF maps for all of this", 64, LESS, "MiB",
         lambda f: f.memory()),
]
