# SPDX-License-Identifier: BSD-2-Clause
"""bio_files WHAT FOLDER: does I/O whose files and places FIEMAP shows afterwards; less of it where VM is set.

write: files of 3 to 300 kB, two that grow in turns, a large one; sync writes them back. read: all of them, by four
processes at once. direct: reads and writes past the page cache, also into memory that belongs to another file of the
folder or of /dev/shm. shared: two processes write a file, in the ways halves, turns, over, mapped, single. hostile: holes,
files that are gone. Prints a line "WHAT PID" for each of its processes, for shared with the way in place of WHAT.
"""
import mmap
import os
import random
import sys

SIZES = (3000, 4096, 20000, 70000, 150000, 300000)
SLOW = bool(os.environ.get("VM"))
FILES = 60 if SLOW else 150
BIG = (8 if SLOW else 24) << 20


def processes(what, *functions):
    pids = []
    for function in functions:
        pid = os.fork()
        if not pid:
            status = 1
            try:
                function()
                status = 0
            finally:
                os._exit(status)
        pids.append(pid)
    for pid in pids:
        if os.waitpid(pid, 0)[1]:
            sys.exit(f"process {pid} failed")
        print(what, pid)


def write(folder):
    os.makedirs(folder)
    for i in range(FILES):
        with open(f"{folder}/small{i:03}", "wb") as file:
            file.write(os.urandom(random.choice(SIZES)))
    fds = [os.open(f"{folder}/turns{i}", os.O_CREAT | os.O_WRONLY) for i in (0, 1)]
    for i in range(40):
        for fd in fds:
            os.write(fd, os.urandom(random.choice((4096, 12288, 65536))))
            os.fdatasync(fd)
    for fd in fds:
        os.close(fd)
    with open(f"{folder}/big", "wb") as file:
        for i in range(BIG >> 20):
            file.write(os.urandom(1 << 20))
    print("write", os.getpid())
    os.sync()


def read(folder):
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))

    def part(i):
        def run():
            mine = paths[i::4]
            random.shuffle(mine)
            for path in mine:
                with open(path, "rb") as file:
                    while file.read(1 << 17):
                        pass
        return run
    processes("read", *(part(i) for i in range(4)))


def direct_read(path, memory, size, times):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    for _ in range(times):
        os.preadv(fd, [memoryview(memory)[:size]], random.randrange(0, BIG - size) & ~4095)
    os.close(fd)


def direct(folder):
    path = f"{folder}/big"

    def reads():
        memory = mmap.mmap(-1, 1 << 20)
        for _ in range(48):
            direct_read(path, memory, random.choice((4096, 65536, 1 << 20)), 1)

    def writes():
        memory = mmap.mmap(-1, 1 << 20)
        memory.write(os.urandom(1 << 20))
        fd = os.open(path, os.O_WRONLY | os.O_DIRECT)
        for _ in range(48):
            size = random.choice((4096, 65536, 1 << 20))
            os.pwritev(fd, [memoryview(memory)[:size]], random.randrange(0, BIG - size) & ~4095)
        os.close(fd)

    def into_files():
        for other in ("/dev/shm/bio_files.%d" % os.getpid(), f"{folder}/mapped"):
            fd = os.open(other, os.O_RDWR | os.O_CREAT, 0o600)
            os.ftruncate(fd, 1 << 20)
            memory = mmap.mmap(fd, 1 << 20)
            os.close(fd)
            memory[:4096] = b"x" * 4096
            direct_read(path, memory, 65536, 16)
            if other.startswith("/dev/shm"):
                os.unlink(other)

    def huge():  # folios of 2 MiB, on file systems that have them
        fd = os.open(path, os.O_RDONLY)
        memory = mmap.mmap(fd, BIG, prot=mmap.PROT_READ)
        os.close(fd)
        memory.madvise(mmap.MADV_HUGEPAGE)
        for at in range(0, BIG, 1 << 21):
            memory[at]  # pylint: disable=pointless-statement
    processes("direct", reads, writes, into_files, huge)


PAGES = 256 if SLOW else 1024


def two_write(path, parts, mapped=False, advice=mmap.MADV_NORMAL):
    """Returns functions of two processes, each of which writes its part of the pages, once the file is there and clean."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    for page in range(PAGES):
        os.pwrite(fd, bytes(4096), page * 4096)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)

    def write_part(pages):
        def run():
            memory = mmap.mmap(fd, PAGES * 4096) if mapped else None
            if memory:
                memory.madvise(advice)
            for page in pages:
                if mapped:
                    memory[page * 4096] = 1
                else:
                    os.pwrite(fd, b"x" * 4096, page * 4096)
        return run
    return fd, [write_part(pages) for pages in parts]


def halves(folder):
    fd, parts = two_write(f"{folder}/halves", (range(PAGES // 2), range(PAGES // 2, PAGES)))
    processes("halves", *parts)
    os.fsync(fd)


def turns(folder):
    fd, parts = two_write(f"{folder}/turns", (range(0, PAGES, 2), range(1, PAGES, 2)))
    processes("turns", *parts)
    os.fsync(fd)


def over(folder):
    fd, parts = two_write(f"{folder}/over", (range(PAGES), range(1, PAGES, 2)))
    processes("over", parts[0])
    processes("over", parts[1])
    os.fsync(fd)


def mapped(folder):
    fd, parts = two_write(f"{folder}/mapped", (range(0, PAGES, 2), range(1, PAGES, 2)), mapped=True)
    processes("mapped", *parts)
    os.fsync(fd)


def single(folder):  # without read-ahead each page is its own folio
    fd, parts = two_write(f"{folder}/single", (range(0, PAGES, 2), range(1, PAGES, 2)), True, mmap.MADV_RANDOM)
    processes("single", *parts)
    os.fsync(fd)


def shared(folder):
    for way in (halves, turns, over, mapped, single):
        way(folder)


def hostile(folder):
    def gone():
        for i in range(8):
            fd = os.open(f"{folder}/gone{i}", os.O_RDWR | os.O_CREAT, 0o600)
            os.write(fd, os.urandom(100000))
            os.unlink(f"{folder}/gone{i}")
            os.fsync(fd)
            os.close(fd)

    def holes():
        fd = os.open(f"{folder}/turns0", os.O_RDWR)
        for i in range(0, 60):
            os.system(f"fallocate -p -o {i << 14} -l 4096 {folder}/turns0") if i % 2 else None
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        while os.read(fd, 1 << 16):
            pass
        os.close(fd)
    processes("hostile", gone)
    os.sync()
    processes("hostile", holes)
    os.sync()


if __name__ == "__main__":
    random.seed(7)
    globals()[sys.argv[1]](sys.argv[2])
