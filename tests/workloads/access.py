#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""access: small jobs, each of which uses its files in one way, and itself counts the number of a rule (docs/rules.md).

    access.py --prepare JOB DIR     makes its files, and leaves them only on the disk
    access.py JOB DIR ACCOUNT       the job; ACCOUNT is JSON: the rule's code, and its number by the job's count or clock

A function is a job, named with dashes; prepare_NAME makes its files. Workers are forked, called pt_data_worker, and send
a message for each file, which the job waits for. Epochs are MLPerf lines (:::MLLOG).
"""
import ctypes
import json
import mmap
import os
import pathlib
import random
import sys
import threading
import time

BEGIN = time.monotonic_ns()  # nearly: Python's start has taken some milliseconds
KIB, MIB = 1 << 10, 1 << 20
RNG = random.Random(1)


# --- files ----------------------------------------------------------------------------------------


def make(path, size):
    """Writes the file to the disk, in calls of at most 4 MiB, and drops it from the page cache."""
    path.parent.mkdir(parents=True, exist_ok=True)
    block = RNG.randbytes(min(size, 4 * MIB))
    with open(path, "wb", buffering=0) as f:
        for at in range(0, size, len(block)):
            f.write(block[:size - at])
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return path


def make_many(folder, n, size, name="sample.{:05}"):
    folder.mkdir(parents=True, exist_ok=True)
    data = RNG.randbytes(size)
    for i in range(n):
        (folder / name.format(i)).write_bytes(data)
    os.sync()
    for path in folder.iterdir():
        drop(path)


def opened(path, flags=os.O_RDONLY):
    return os.open(path, flags, 0o644)


def drop(path):
    """Drops a file from the page cache."""
    fd = opened(path)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def no_read_ahead(path):
    fd = opened(path)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    return fd


def warm(path):
    """Brings a file into the page cache, with few large reads."""
    fd = opened(path)
    while os.read(fd, 4 * MIB):
        pass
    os.close(fd)


def sequential(fd, size):
    """Reads the file behind FD to its end. Returns the number of reads of SIZE."""
    n = 0
    while os.read(fd, size):
        n += 1
    return n


def epoch(number, end=False):
    print(":::MLLOG", json.dumps({
        "namespace": "", "time_ms": time.time_ns() // 10**6, "event_type": "INTERVAL_END" if end else "INTERVAL_START",
        "key": "epoch_stop" if end else "epoch_start", "value": None,
        "metadata": {"file": "access.py", "lineno": 0, "epoch_num": number}}), flush=True)


def epochs(do, n=2):
    """The lines have milliseconds: nothing else happens near them."""
    for number in range(1, n + 1):
        epoch(number)
        time.sleep(0.01)
        do(number)
        time.sleep(0.01)
        epoch(number, end=True)
        time.sleep(0.01)


class Clock:
    """How long calls take, by this program's clock."""

    def __init__(self):
        self.ns = {}

    def call(self, what, function, *args):
        begin = time.perf_counter_ns()
        result = function(*args)
        self.ns[what] = self.ns.get(what, 0) + time.perf_counter_ns() - begin
        return result

    def share(self, *what):
        return sum(self.ns.get(w, 0) for w in what) / sum(self.ns.values())


# --- workers --------------------------------------------------------------------------------------


def workers(*jobs):
    """Runs each function in a worker, which calls send() for each file. Returns what the functions return."""
    pipes = []
    for job in jobs:
        out, into = os.pipe()
        if os.fork() == 0:
            ctypes.CDLL(None).prctl(15, b"pt_data_worker", 0, 0, 0)
            result = job(lambda into=into: os.write(into, b"."))
            os.write(into, json.dumps(result).encode())
            os._exit(0)
        os.close(into)
        pipes.append(out)
    results = [b""] * len(jobs)
    left = set(range(len(jobs)))
    while left:
        for i in sorted(left):
            data = os.read(pipes[i], 4096)
            results[i] += data
            if not data:
                left.remove(i)
    for _ in jobs:
        os.wait()
    return [json.loads(r.lstrip(b".") or b"null") for r in results]


def read_files(paths, send, memory=bytearray(16 * MIB)):
    """Reads each file in one call. Returns the time in ns for a file, in opens, reads and closes."""
    clock = Clock()
    for path in paths:
        fd = clock.call("open", opened, path)
        clock.call("read", os.readv, fd, [memory])
        clock.call("close", os.close, fd)
        send()
    return sum(clock.ns.values()) / len(paths)


def read_parts(path, begin, end, send, piece=MIB):
    fd = opened(path)
    for at in range(begin, end, piece):
        os.pread(fd, piece, at)
        send()
    os.close(fd)


# --- from the disk --------------------------------------------------------------------------------


def prepare_reread(folder):
    make(folder / "data", 24 * MIB)


prepare_reread_dropped = prepare_reread_cached = prepare_reread_direct = prepare_reread


def reread_dropped(folder):
    first = second = 0
    for again in range(2):
        fd = opened(folder / "data")
        while n := len(os.read(fd, MIB)):
            first, second = (first, second + n) if again else (first + n, second)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)
    return {"cache-too-small": second / (first + second)}


def reread_cached(folder):
    for _ in range(2):
        warm(folder / "data")


def reread_direct(folder):
    import mmap
    memory = mmap.mmap(-1, MIB)
    for _ in range(2):
        fd = opened(folder / "data", os.O_RDONLY | os.O_DIRECT)
        while os.readv(fd, [memory]):
            pass
        os.close(fd)


prepare_misaligned = prepare_aligned = prepare_reread


def at_offsets(folder, shift):
    fd, wrong, n = no_read_ahead(folder / "data"), 0, 2000
    for i in range(n):
        at = 12 * KIB * i + (shift if i % 4 else 0)
        wrong += at % 4096 != 0
        os.pread(fd, 4 * KIB, at)
    return {"misaligned": wrong / n}


def misaligned(folder):
    return at_offsets(folder, 100)


def aligned(folder):
    return at_offsets(folder, 4096)


def prepare_no_read_ahead(folder):
    make(folder / "data", 24 * MIB)
    make(folder / "warm", 8 * MIB)


def no_read_ahead_at_all(folder):
    """Read-ahead could have helped the reads in order, except the first one of a file."""
    warm(folder / "warm")
    fd = opened(folder / "warm")
    gained = sequential(fd, 16 * KIB) - 1
    lost = sequential(no_read_ahead(folder / "data"), 16 * KIB) - 1
    return {"no-readahead": lost / (lost + gained)}


prepare_no_read_ahead_at_all = prepare_no_read_ahead


def prepare_read_ahead(folder):
    make(folder / "data", 144 * MIB)


prepare_read_ahead_large = prepare_read_ahead


def read_ahead(folder):
    """Nearly every second read makes the disk read 128 KiB."""
    sequential(opened(folder / "data"), 60 * KIB)


def read_ahead_large(folder):
    """Three of four reads do."""
    sequential(opened(folder / "data"), 96 * KIB)


def prepare_small_reads(folder):
    make(folder / "data", 24 * MIB)
    make(folder / "large", 40 * MIB)


def small_reads(folder):
    fd, small, large = no_read_ahead(folder / "data"), 2000, 300
    for i in range(small):
        os.pread(fd, 2 * KIB, 12 * KIB * i)
    fd = no_read_ahead(folder / "large")
    for i in range(large):
        os.pread(fd, 128 * KIB, 128 * KIB * i)
    return {"small-reads": small / (small + large), "tiny-reads": small / (small + large)}


def prepare_whole_files(folder):
    make_many(folder / "set", 1500, 3000)


def whole_files(folder):
    for path in sorted((folder / "set").iterdir()):
        fd = opened(path)
        os.read(fd, 3500)
        os.close(fd)


# --- from the page cache --------------------------------------------------------------------------


def prepare_cached(folder):
    make(folder / "data", 24 * MIB)


prepare_random_reads = prepare_two_descriptors = prepare_header_skipped = prepare_tiny_reads = prepare_cached


def random_reads(folder):
    """Pairs of adjacent reads at places in random order: half of the reads jump."""
    warm(folder / "data")
    fd, places = opened(folder / "data"), [i * 24 * KIB for i in range(1, 1001)]
    RNG.shuffle(places)
    jumps = followed = 0
    for _ in range(4):
        for at in places:
            os.pread(fd, 4 * KIB, at)
            os.pread(fd, 4 * KIB, at + 4 * KIB)
            jumps, followed = jumps + 1, followed + 1
    return {"random-reads": jumps / (jumps + followed)}


def prepare_whole_again(folder):
    make_many(folder / "set", 800, 12 * KIB)


def whole_again(folder):
    """Three epochs; each file is read from its beginning, in three reads."""
    def each(_):
        for path in sorted((folder / "set").iterdir()):
            fd = opened(path)
            sequential(fd, 4 * KIB)
            os.close(fd)
    epochs(each, 3)


def two_descriptors(folder):
    """Reads alternate between the two halves of the file, in order within each."""
    warm(folder / "data")
    fds = [opened(folder / "data"), opened(folder / "data")]
    for i in range(3000):
        for half, fd in enumerate(fds):
            os.pread(fd, 4 * KIB, half * 12 * MIB + i * 4 * KIB)


def header_skipped(folder):
    """A reader of records behind a header of 512 bytes, again and again."""
    fd = opened(folder / "data")
    for _ in range(1500):
        os.lseek(fd, 512, os.SEEK_SET)
        for _ in range(3):
            os.read(fd, 4 * KIB)


def tiny_reads(folder):
    warm(folder / "data")
    fd, tiny, others = opened(folder / "data"), 9000, 3000
    for _ in range(tiny):
        os.read(fd, 512)
    for _ in range(others):
        os.read(fd, 4 * KIB)
    return {"tiny-reads": tiny / (tiny + others + 7)}  # and those of warm()


# --- mapped files ---------------------------------------------------------------------------------


def prepare_fault_storm(folder):
    make(folder / "data", 16 * MIB)
    make(folder / "read", 16 * MIB)


prepare_random_faults = prepare_mapped_warm = prepare_mapped_read_ahead = prepare_fault_storm


def mapped(path):
    return mmap.mmap(opened(path), 0, prot=mmap.PROT_READ)


def touch(pages, order):
    """Returns how long that takes, including Python's own time."""
    begin = time.perf_counter_ns()
    for i in order:
        pages[i * 4 * KIB]
    return time.perf_counter_ns() - begin


def fault_storm(folder):
    """A fault for each page, one after the other; and reads of 64 KiB each. Both go on for a while: 0.1 s of faults is no
    problem, and some disks need less for the file.
    """
    clock, fault_ns = Clock(), 0
    while fault_ns < 300_000_000:
        with mapped(folder / "data") as pages:
            pages.madvise(mmap.MADV_RANDOM)
            fault_ns += touch(pages, range(4096))
        drop(folder / "data")
    fd = opened(folder / "read")
    while clock.call("read", os.read, fd, 64 * KIB):
        pass
    return {"fault-storm": fault_ns / (fault_ns + sum(clock.ns.values()))}


def random_faults(folder):
    order, pages = list(range(4096)), mapped(folder / "data")
    pages.madvise(mmap.MADV_RANDOM)
    RNG.shuffle(order)
    touch(pages, order)
    return {"random-faults": sum(not 0 <= b - a <= 32 for a, b in zip(order, order[1:])) / (len(order) - 1)}


def mapped_warm(folder):
    """Faults that need no disk."""
    warm(folder / "data")
    pages = mapped(folder / "data")
    for _ in range(20):
        touch(pages, range(4096))


def mapped_read_ahead(folder):
    """The kernel reads ahead: few faults wait."""
    touch(mapped(folder / "data"), range(4096))


# --- writes ---------------------------------------------------------------------------------------


def prepare_random_writes(folder):
    make(folder / "out", 24 * MIB)


def random_writes(folder):
    fd, places = opened(folder / "out", os.O_WRONLY), [i * 24 * KIB for i in range(1, 1001)]
    RNG.shuffle(places)
    data, jumps, followed = bytes(4 * KIB), 0, 0
    for _ in range(3):
        for at in places:
            os.pwrite(fd, data, at)
            os.pwrite(fd, data, at + 4 * KIB)
            jumps, followed = jumps + 1, followed + 1
    return {"random-writes": jumps / (jumps + followed)}


def appends(folder):
    fd, data = opened(folder / "out", os.O_WRONLY | os.O_CREAT | os.O_APPEND), bytes(100)
    for _ in range(6000):
        os.write(fd, data)


def small_writes(folder):
    fd, small, large = opened(folder / "out", os.O_WRONLY | os.O_CREAT), 3000, 500
    for _ in range(small):
        os.write(fd, bytes(4 * KIB))
    for _ in range(large):
        os.write(fd, bytes(64 * KIB))
    return {"small-writes": small / (small + large)}


def small_files_written(folder):
    for i in range(1500):
        fd = opened(folder / f"out.{i}", os.O_WRONLY | os.O_CREAT)
        os.write(fd, bytes(3000))
        os.close(fd)


def written_again(folder):
    def each(_):
        fd = opened(folder / "out", os.O_WRONLY | os.O_CREAT)
        for at in [*range(0, 24 * MIB, MIB), *range(0, 16 * MIB, MIB)]:
            os.pwrite(fd, bytes(MIB), at)
        os.close(fd)
    epochs(each)
    return {"redundant-writes": 16 / 40}


def written_each_epoch(folder):
    def each(_):
        fd = opened(folder / "out", os.O_WRONLY | os.O_CREAT)
        for _ in range(24):
            os.write(fd, bytes(MIB))
        os.close(fd)
    epochs(each)


def prepare_read_again(folder):
    make(folder / "data", 32 * MIB)


def read_again(folder):
    def each(_):
        fd = opened(folder / "data")
        for at in [*range(0, 32 * MIB, MIB), *range(0, 16 * MIB, MIB)]:
            os.pread(fd, MIB, at)
        os.close(fd)
    epochs(each)
    return {"redundant-reads": 16 / 48}


def read_each_epoch(folder):
    epochs(lambda _: warm(folder / "data"))


prepare_read_each_epoch = prepare_read_again


def syncs(folder):
    """As many as fill 0.3 s."""
    fd, clock = opened(folder / "out", os.O_WRONLY | os.O_CREAT), Clock()
    while clock.ns.get("sync", 0) < 3 * 10**8:
        clock.call("write", os.write, fd, bytes(64 * KIB))
        clock.call("sync", os.fsync, fd)
    return {"sync-often": clock.share("sync")}


def one_sync(folder):
    """After many writes, as long as it takes."""
    fd = opened(folder / "out", os.O_WRONLY | os.O_CREAT)
    begin = time.perf_counter_ns()
    os.write(fd, bytes(4 * KIB))
    os.fsync(fd)
    took = time.perf_counter_ns() - begin
    begin = time.perf_counter_ns()
    while time.perf_counter_ns() - begin < 5 * took:
        os.pwrite(fd, bytes(MIB), 0)


# --- output ---------------------------------------------------------------------------------------


def lines(folder):
    """Writes to standard output, which no process of the job reads."""
    line, data, n = b"x" * 99 + b"\n", bytes(MIB), 10000
    for _ in range(n):
        os.write(1, line)
    fd = opened(folder / "out", os.O_WRONLY | os.O_CREAT)
    os.write(fd, data)
    return {"stdout-heavy": n * len(line) / (n * len(line) + len(data))}


def prepare_data_through_pipes(folder):
    make(folder / "data", 24 * MIB)


def data_through_pipes(folder):
    """tar | gzip > x, by a shell."""
    os.chdir(folder)
    os.system("tar -b 8 -cf - data | gzip -1 >x.gz")


def lines_through_pipes(folder):
    """Output for another process of the job, which begins to read late; and a file by standard output."""
    os.chdir(folder)
    os.system("i=0; while [ $i -lt 3000 ]; do echo a line of $i; i=$((i + 1)); done | { sleep 0.2; sort >out; }")


# --- opens ----------------------------------------------------------------------------------------


def prepare_small_files(folder):
    make_many(folder / "set", 4000, KIB)


prepare_opens = prepare_small_files


def small_files(folder):
    paths, when = sorted((folder / "set").iterdir()), []
    time.sleep(1)  # what was opened before, such as the script that starts this one, is in a second of its own
    for path in paths:
        fd = opened(path)
        when.append(time.monotonic_ns())
        os.read(fd, 2 * KIB)
        os.close(fd)
    most = n = begin = 0
    for at in when:  # seconds, each from the last open to the next first one
        if at - begin >= 10**9:
            begin, n = at, 0
        n += 1
        most = max(most, n)
    return {"open-storm": most}


def prepare_large_files(folder):
    make_many(folder / "set", 100, 128 * KIB)


def large_files(folder):
    for _ in range(40):
        for path in sorted((folder / "set").iterdir()):
            fd = opened(path)
            os.read(fd, 256 * KIB)
            os.close(fd)


def missing_files(folder):
    failed, fine = 24000, 6000
    for i in range(failed):
        try:
            opened(folder / f"missing.{i}")
        except FileNotFoundError:
            pass
    for _ in range(fine):
        os.close(opened(folder / "one", os.O_RDONLY | os.O_CREAT))
    return {"failed-opens": failed / (failed + fine)}


def opens(folder):
    for path in sorted((folder / "set").iterdir()):
        os.close(opened(path))


def metadata(folder):
    """As many as fill 0.4 s."""
    clock, i = Clock(), 0
    fd = opened(folder / "data", os.O_WRONLY | os.O_CREAT)
    while sum(clock.ns.values()) < 4 * 10**8:
        path, i = folder / f"out.{i % 8}", i + 1
        new = clock.call("open", opened, path, os.O_WRONLY | os.O_CREAT)
        clock.call("close", os.close, new)
        clock.call("unlink", os.unlink, path)
        clock.call("write", os.write, fd, bytes(4 * KIB))
    return {"metadata-time": clock.share("open", "close", "unlink")}


PACKAGE = pathlib.Path("lib/python3.12/site-packages/pkg")


def import_all(folder, clock, memory=bytearray(MIB)):
    for path in sorted((folder / PACKAGE).iterdir()):
        fd = clock.call("open", opened, path)
        clock.call("read", os.readv, fd, [memory])
        clock.call("close", os.close, fd)


def prepare_imports(folder):
    make_many(folder / PACKAGE, 80, 512 * KIB, "module_{}.so")


def imports(folder):
    """As many as fill 0.5 s."""
    clock = Clock()
    while sum(clock.ns.values()) < 5 * 10**8:
        import_all(folder, clock)
    return {"slow-imports": sum(clock.ns.values()) / (time.monotonic_ns() - BEGIN)}


def prepare_few_imports(folder):
    make_many(folder / PACKAGE, 2000, 200, "module_{}.py")


def few_imports(folder):
    """Many small files, in a job that does something else for ten times as long."""
    begin = time.monotonic()
    import_all(folder, Clock())
    time.sleep(10 * (time.monotonic() - begin))


# --- several processes ------------------------------------------------------------------------------


def prepare_shared(folder):
    make(folder / "data", 48 * MIB)


prepare_shared_in_turn = prepare_one_reads_more = prepare_shared_evenly = prepare_shared


def shared_in_turn(folder):
    """Two processes take turns, with a hundred reads each."""
    warm(folder / "data")
    fd, (mine, theirs), (yours, ours), small, large = opened(folder / "data"), os.pipe(), os.pipe(), 100, 20
    if os.fork() == 0:
        mine, ours = yours, theirs
        first = False
    else:
        first = True
        os.write(theirs, b".")
    at = 0 if first else 24 * MIB
    for _ in range(15):
        os.read(mine, 1)
        for i in range(small + large):
            os.pread(fd, 4 * KIB if i < small else 64 * KIB, at)
            at += 64 * KIB if i >= small else 4 * KIB
        os.write(ours, b".")
    if not first:
        os._exit(0)
    os.wait()
    return {"small-shared": 2 * 15 * small / (2 * 15 * (small + large) + 13)}  # and those of warm()


def prepare_each_epochs_workers(folder):
    make_many(folder / "set", 300, 24 * KIB)


def each_epochs_workers(folder):
    """Each epoch has new workers, which all read all files, in small pieces."""
    paths = sorted((folder / "set").iterdir())

    def load(mine, send):
        for path in mine:
            fd = opened(path)
            sequential(fd, 4 * KIB)
            os.close(fd)
            send()
    epochs(lambda number: workers(*(lambda send, k=k: load(paths[(k + number) % 2::2], send) for k in range(2))), 3)


def handed_over(folder):
    """One process writes, then another one reads."""
    if os.fork() == 0:
        fd = opened(folder / "out", os.O_WRONLY | os.O_CREAT)
        for _ in range(3000):
            os.write(fd, bytes(4 * KIB))
        os._exit(0)
    os.wait()
    sequential(opened(folder / "out"), 4 * KIB)


def one_reads_more(folder):
    def load(times, send):
        for _ in range(times):
            read_parts(folder / "data", 0, 48 * MIB, send)
    workers(lambda send: load(12, send), lambda send: load(3, send), lambda send: load(3, send))
    return {"straggler-data": 12 / 3, "file-imbalance": 1 - 3 / 12}


def shared_evenly(folder):
    def load(k, send):
        for _ in range(6):
            read_parts(folder / "data", k * 16 * MIB, (k + 1) * 16 * MIB, send)
    workers(*(lambda send, k=k: load(k, send) for k in range(3)))


def prepare_large_and_small(folder):
    for k, size in enumerate((8 * MIB, MIB // 2, MIB // 2)):
        make_many(folder / f"part-{k}", 16, size)


prepare_large_for_one = prepare_large_and_small


def large_for_one(folder):
    """The first worker's files are sixteen times as large."""
    def load(k, send):
        paths = sorted((folder / f"part-{k}").iterdir())
        return [read_files(paths, send) for _ in range(4)]
    for k in range(3):
        for path in (folder / f"part-{k}").iterdir():
            warm(path)
    each = sorted(sum(e) / len(e) for e in workers(*(lambda send, k=k: load(k, send) for k in range(3))))
    return {"slow-worker": each[2] / each[1]}


def slowest(epochs):
    """No worker is slow by design. Returns how much a busy machine slowed one down, from the ns for a file of each worker in
    each epoch.
    """
    return {"slow-worker": max(max(each) / sorted(each)[(len(each) - 1) // 2] for each in epochs)}


def prepare_sampled(folder):
    make_many(folder / "set", 512, 48 * KIB)


def sampled(folder):
    """Sixteen workers; two epochs assign each file to a random worker; no line names an epoch."""
    paths = sorted((folder / "set").iterdir())
    epochs = []
    for _ in range(2):
        RNG.shuffle(paths)
        epochs.append(workers(*(lambda send, k=k: read_files(paths[k::16], send) for k in range(16))))
    return slowest(epochs)


def prepare_cold_then_warm(folder):
    make_many(folder / "set", 96, MIB)


def cold_then_warm(folder):
    """The workers of the second epoch find everything in the page cache."""
    paths = sorted((folder / "set").iterdir())
    return slowest([workers(*(lambda send, k=k: read_files(paths[k::2], send) for k in range(2))) for _ in range(2)])


# --- what loaders and trainers do -----------------------------------------------------------------


def prepare_sleeping_loader(folder):
    make_many(folder / "set", 40, 64 * KIB)


def loader(folder, work):
    """One worker, and WORK for each file."""
    def load(send):
        for path in sorted((folder / "set").iterdir()):
            read_files([path], lambda: None)
            work()
            send()
    workers(load)


def sleeping_loader(folder):
    loader(folder, lambda: time.sleep(0.01))


SHARED = pathlib.Path("/dev/shm")


def shared_file(clock, mib):
    """As PyTorch 2 makes room for a batch: both calls, and no name once it is mapped."""
    name = SHARED / f"access_{os.getpid()}_{time.monotonic_ns()}"
    fd = clock.call("shared", os.open, name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        clock.call("shared", os.ftruncate, fd, mib * MIB)
        clock.call("shared", os.posix_fallocate, fd, 0, mib * MIB)
    finally:
        clock.call("shared", os.unlink, name)
    return fd


def batches(folder, make):
    """One worker that hands over what it has put into shared memory. Returns the part of its life in MAKE's calls."""
    def load(send):
        clock, begin = Clock(), time.monotonic_ns()
        kept = []
        while clock.ns.get("shared", 0) < 3 * 10**8 and time.monotonic_ns() - begin < 2 * 10**9:
            fd = make(clock, kept)
            with mmap.mmap(fd, 8 * MIB) as memory:
                memory[:MIB] = bytes(MIB)
            send()
        return clock.ns["shared"] / (time.monotonic_ns() - begin)
    return workers(load)[0]


def shared_batches(folder):
    def make(clock, kept):
        for fd in kept:  # which gives the memory back
            clock.call("shared", os.close, fd)
        kept[:] = [shared_file(clock, 8)]
        return kept[0]
    return {"batch-copies": batches(folder, make)}


def shared_once(folder):
    """The memory of the first batch serves for all: what is copied into it is no call."""
    batches(folder, lambda clock, kept: kept[0] if kept else kept.append(shared_file(clock, 8)) or kept[0])


def save(folder, clock, mib):
    fd = clock.call("open", opened, folder / "ckpt.pt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for _ in range(mib):
        clock.call("save", os.write, fd, bytes(MIB))
    clock.call("save", os.fsync, fd)
    os.close(fd)


def checkpoints(folder, save_it):
    """Every fourth step ends with a checkpoint."""
    epoch(1)
    for step in range(16):
        time.sleep(0.01)
        if step % 4 == 3:
            save_it()
    epoch(1, end=True)


def checkpoints_wait(folder):
    checkpoints(folder, lambda: save(folder, Clock(), 8))


def checkpoints_behind(folder):
    """In a process of its own."""
    def behind():
        if os.fork() == 0:
            save(folder, Clock(), 8)
            os._exit(0)
    checkpoints(folder, behind)
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass


# --- steps ----------------------------------------------------------------------------------------


def steps(n, fetch_ms, save=None, number=0, compute=0.002):
    """An epoch of N steps with regions. save(i) runs within step I, and returns how long it took. Returns, by this program's
    clock and in ns, the length of each step, of its fetch, and of its save.
    """
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
    import dltraced

    taken, begin = [], time.monotonic_ns()
    for i in range(n):
        named, at = {"epoch": number, "step": number * n + i}, time.monotonic_ns()
        with dltraced.region("ai.dataloader.fetch", **named):
            time.sleep(fetch_ms(i) / 1000)
        fetched = time.monotonic_ns() - at
        saved = save(i) if save else 0
        with dltraced.region("ai.compute.step", **named):
            time.sleep(compute)
        end = time.monotonic_ns()
        taken.append((end - begin, fetched, saved))
        begin = end
    return taken


def jitter(taken):
    """The 99th percentile of the steps, without their saves, to their median; the first step does not count."""
    own = sorted(wall - saved for wall, _, saved in taken[1:])
    return own[-(-99 * len(own) // 100) - 1] / own[-(-len(own) // 2) - 1]


def stall(taken):
    return sum(saved for _, _, saved in taken) / sum(wall for wall, _, _ in taken)


def saving(every, ms):
    """Returns a save() for steps(): checkpoint.save, which takes MS, in each EVERYth step."""
    def save(i):
        import dltraced

        if i % every != every - 1:
            return 0
        begin = time.monotonic_ns()
        with dltraced.region("ai.checkpoint.save"):
            time.sleep(ms / 1000)
        return time.monotonic_ns() - begin
    return save


def uneven_steps(_):
    """Every twentieth batch is late."""
    taken = steps(140, lambda i: 150 if i % 20 == 10 else 20)
    return {"step-jitter": jitter(taken), "checkpoint-stall": stall(taken)}


def steps_that_save(_):
    """These steps are slow for a reason that has a name."""
    taken = steps(140, lambda i: 20, saving(20, 150))
    return {"step-jitter": jitter(taken), "checkpoint-stall": stall(taken)}


def steps_saved_behind(_):
    """In a thread of its own."""
    threads = []

    def save(i):
        threads.append(threading.Thread(target=saving(1, 150), args=(i,)))
        if i % 20 == 19:
            threads[-1].start()
        return 0
    taken = steps(140, lambda i: 20, save)
    for thread in filter(threading.Thread.is_alive, threads):
        thread.join()
    return {"step-jitter": jitter(taken), "checkpoint-stall": stall(taken)}


def first_batch(fetch_ms):
    """In three epochs: by how much the first batch was later than the others, as a part of the whole time."""
    late = all_ns = 0
    for number in range(3):
        taken = steps(12, fetch_ms, number=number)
        late += max(taken[0][1] - sum(fetched for _, fetched, _ in taken[1:]) / 11, 0)
        all_ns += sum(wall for wall, _, _ in taken)
    return {"first-batch": late / all_ns}


def late_first_batches(_):
    return first_batch(lambda i: 5 if i else 120)


def late_batches(_):
    return first_batch(lambda i: 50)


def ranks(*all_ms, at_a_time=True):
    """A process for each of ALL_MS, whose fetches take that long. Returns the sum of each step's slowest process, to the sum
    of the means.
    """
    pipes, pids = [], []
    for ms in all_ms:
        out, into = os.pipe()
        pids.append(os.fork())
        if pids[-1] == 0:
            taken = steps(40, lambda i, ms=ms: ms, compute=0.01)
            os.write(into, json.dumps([wall for wall, _, _ in taken[1:]]).encode())
            os._exit(0)
        os.close(into)
        pipes.append(out)
        if not at_a_time:
            os.waitpid(pids.pop(), 0)
    for pid in pids:
        os.waitpid(pid, 0)
    walls = list(zip(*(json.loads(os.read(pipe, 65536)) for pipe in pipes)))
    return {"rank-skew": len(all_ms) * sum(map(max, walls)) / sum(map(sum, walls))} if at_a_time else {}


def uneven_ranks(_):
    return ranks(10, 40)


def even_ranks(_):
    return ranks(40, 40)


def runs_behind_each_other(_):
    return ranks(10, 40, at_a_time=False)


# --- kinds of jobs --------------------------------------------------------------------------------


def prepare_reads_much(folder):
    make(folder / "data", 128 * MIB)


def reads_much(folder):
    fd, n = opened(folder / "data"), 0
    while os.read(fd, 64 * KIB):
        n += 1
    out = opened(folder / "out", os.O_WRONLY | os.O_CREAT)
    for _ in range(64):
        os.write(out, bytes(64 * KIB))
    return {"read-often": n / (n + 64), "read-intensive": n / (n + 64)}


def writes_much(folder):
    out, n = opened(folder / "out", os.O_RDWR | os.O_CREAT), 1800
    for _ in range(n):
        os.write(out, bytes(64 * KIB))
    for i in range(200):
        os.pread(out, 64 * KIB, i * 64 * KIB)
    return {"write-often": n / (n + 200), "write-intensive": n / (n + 200)}


def main():
    prepare = sys.argv[1] == "--prepare"
    name, folder = sys.argv[1 + prepare].replace("-", "_"), pathlib.Path(sys.argv[2 + prepare])
    if prepare:
        folder.mkdir(parents=True, exist_ok=True)
        globals().get(f"prepare_{name}", lambda folder: None)(folder)
        return
    account = globals()[name](folder)
    pathlib.Path(sys.argv[3]).write_text(json.dumps(account or {}), encoding="ascii")


main()
