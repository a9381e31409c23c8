# SPDX-License-Identifier: BSD-2-Clause
"""page_faults.py FILE OTHER LIST [GATE]: causes major page faults in a mapping of FILE, and each process lists its own.

FILE has 64 MiB on a disk. Each process drops it from the page cache, maps it and touches its pages one by one. It
measures each touch, counts its own major faults and bytes from disk around it, and appends what it knows to LIST, a line
of JSON for each process; their parent appends what each has used. OTHER is a file for direct I/O, on a disk, too. With
GATE, a process maps FILE before it reads a line of GATE, and touches pages only after that.
"""
import json
import mmap
import os
import random
import resource
import sys
import threading
import time

PAGE = mmap.PAGESIZE
SIZE = 64 << 20
PATH, OTHER, LIST = sys.argv[1:4]


def faults():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_majflt


def disk_bytes():
    with open("/proc/thread-self/io", encoding="ascii") as f:
        return int(f.read().split("\nread_bytes: ")[1].split()[0])


class Mapping:
    def __init__(self, advice):
        fd = os.open(PATH, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        self.map = mmap.mmap(fd, SIZE, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE)
        os.close(fd)
        self.map.madvise(advice)
        with open("/proc/self/maps", encoding="ascii", errors="replace") as f:
            self.start = [int(line.split("-")[0], 16) for line in f if line.rstrip().endswith(PATH)][-1]

    def touch(self, pages, touches):
        """Touches pages one by one. Returns the facts of each major fault."""
        for _ in range(3):  # so that these calls fault no more
            faults(), disk_bytes(), time.monotonic_ns()
        for page in pages:
            bytes_before, before = disk_bytes(), faults()
            begin = time.monotonic_ns()
            self.map[page * PAGE]
            end = time.monotonic_ns()
            if faults() != before:
                touches.append({"tid": threading.get_native_id(), "addr": self.start + page * PAGE, "offset": page * PAGE,
                                "begin": begin, "end": end, "faults": faults() - before,
                                "bytes": disk_bytes() - bytes_before})


def write_line(what, touches, **more):
    line = json.dumps({"what": what, "pid": os.getpid(), "touches": touches, **more}) + "\n"
    fd = os.open(LIST, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(fd, line.encode())
    os.close(fd)


def pages_at_random(n):
    return random.Random(7).sample(range(SIZE // PAGE), n)


def random_touches():
    touches = []
    Mapping(mmap.MADV_RANDOM).touch(pages_at_random(400), touches)
    write_line("random", touches)


def normal_touches():
    touches = []
    Mapping(mmap.MADV_NORMAL).touch(pages_at_random(400), touches)
    write_line("normal", touches)


def threads():
    mapping, touches = Mapping(mmap.MADV_RANDOM), [[] for _ in range(4)]
    each = pages_at_random(400)
    running = [threading.Thread(target=mapping.touch, args=(each[i::4], touches[i])) for i in range(4)]
    for t in running:
        t.start()
    for t in running:
        t.join()
    write_line("threads", sum(touches, []))


def written_to(out):
    """Returns the number of faults in the calls that write 100 pages of the mapping to descriptor OUT."""
    view, n = memoryview(Mapping(mmap.MADV_RANDOM).map), 0
    faults()
    for page in pages_at_random(100):
        before = faults()
        os.pwrite(out, view[page * PAGE:(page + 1) * PAGE], 0)
        n += faults() - before
    return n


def kernel():
    """The kernel reads the mapping, in calls."""
    write_line("kernel", [], faults=written_to(os.memfd_create("out")))


def direct():
    """The kernel has a driver read the mapping: it faults in the pages without an event."""
    write_line("direct", [], faults=written_to(os.open(OTHER, os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o644)))


def children(*functions):
    pids = []
    for function in functions:
        pids.append(os.fork())
        if not pids[-1]:
            try:
                function()
            finally:
                sys.stdout.flush()
                os._exit(sys.exc_info()[0] is not None)
    return all([ended(pid) for pid in pids])


def ended(pid):
    """Lists what the process has used. Returns whether it has succeeded."""
    _, status, used = os.wait4(pid, 0)
    write_line("used", [], pid=pid, minflt=used.ru_minflt, majflt=used.ru_majflt)
    return status == 0


def shared(ready):
    def touches_same_pages():
        touches, mapping = [], Mapping(mmap.MADV_RANDOM)
        os.read(ready, 1)  # all of them have mapped it
        mapping.touch(pages_at_random(200), touches)
        write_line("shared", touches)
    return touches_same_pages


def main():
    if len(sys.argv) > 4:
        mapping, touches = Mapping(mmap.MADV_RANDOM), []
        with open(sys.argv[4], encoding="ascii") as gate:
            gate.readline()
        mapping.touch(pages_at_random(100), touches)
        write_line("attached", touches)
        return
    ok = all(children(f) for f in (random_touches, normal_touches, threads, kernel, direct))
    read_end, write_end = os.pipe()
    os.write(write_end, b"xxx")
    sys.exit(not (children(*[shared(read_end)] * 3) and ok))


main()
