# SPDX-License-Identifier: BSD-2-Clause
"""page_cache FOLDER TALLY [BELOW]: reads, evictions and writes whose effect on the page cache is known. With BELOW, FOLDER is
on overlayfs, on top of it, and nothing is written. The status is 75 where somebody else has changed the cache.

The witness is the kernel's own account of a file's pages, before and after each call: cachestat(2), from 6.5 on, or
mincore(2). For mincore(2) a page that is still being read is not there, so it is called until nothing changes. A page of
a read's range that was not there before is a miss; a page outside of the range that is there afterwards was read ahead; a
page that was there and is gone was evicted. TALLY gets a line for each file: its name, bytes read, hits, misses, pages
ahead, pages of these that were touched, pages that left, those of them that were never touched, pages that were written;
then the pages that are there at the end, and those of them that were never touched: the kernel may evict them before the
trace ends.
"""
import ctypes
import mmap
import os
import sys
import time

PAGE = mmap.PAGESIZE
SYS_CACHESTAT = 451
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)


def cachestat(fd, first, end):
    """Returns how many of these pages are in the page cache; -1: this kernel has no cachestat(2)."""
    span = (ctypes.c_uint64 * 2)(first * PAGE, (end - first) * PAGE)
    counts = (ctypes.c_uint64 * 5)()  # the first field: pages in the cache
    return counts[0] if libc.syscall(SYS_CACHESTAT, fd, span, counts, 0) == 0 else -1


class File:
    def __init__(self, name):
        self.name = name
        self.path = os.path.join(folder, name)
        self.fd = os.open(self.path, os.O_RDONLY if below else os.O_RDWR)
        self.with_pages = os.open(os.path.join(below, name), os.O_RDONLY) if below else self.fd
        self.size = os.fstat(self.fd).st_size
        self.fresh = set()  # read ahead, and not touched yet
        self.known = set()  # pages that were there when it last looked
        self.bytes = self.hit = self.miss = self.ahead = self.used = self.evicted = self.wasted = self.dirtied = 0

    def inexact(self):
        print(f"{self.path}: somebody else has changed the cache: no exact answer", file=sys.stderr)
        sys.exit(75)

    def cached(self, after=False):
        """Returns the numbers of its pages that are in the page cache. AFTER: it has done something to them itself."""
        pages = (self.size + PAGE - 1) // PAGE
        there = set(self.by_cachestat(0, pages)) if has_cachestat else self.by_mincore(pages)
        if not after and self.known - there:
            self.inexact()
        self.known = there
        return there

    def by_cachestat(self, first, end):
        n = cachestat(self.with_pages, first, end)
        if n == end - first:
            return range(first, end)
        if not n:
            return ()
        middle = (first + end) // 2
        return (*self.by_cachestat(first, middle), *self.by_cachestat(middle, end))

    def by_mincore(self, pages):
        """The mapping is removed before anything else happens to the file."""
        same, last = 0, None
        while same < 5:
            addr = libc.mmap(None, self.size, mmap.PROT_READ, mmap.MAP_SHARED, self.with_pages, 0)
            there = ctypes.create_string_buffer(pages)
            if addr is None or libc.mincore(addr, self.size, there):
                sys.exit(f"{self.path}: mincore: {os.strerror(ctypes.get_errno())}")
            libc.munmap(addr, self.size)
            same = same + 1 if there.raw == last else 0
            last = there.raw
            time.sleep(0.02)
        return {i for i, byte in enumerate(last) if byte & 1}

    def read(self, off, size, call=lambda fd, size, off: len(os.pread(fd, size, off))):
        """CALL returns how many bytes it has read."""
        before = self.cached()
        got = call(self.fd, size, off)
        after = self.cached(True)
        wanted = set(range(off // PAGE, (off + got - 1) // PAGE + 1))
        came = after - before
        if not wanted <= after or before - after:
            self.inexact()
        self.bytes += got
        self.miss += len(wanted & came)
        self.hit += len(wanted - came)
        self.ahead += len(came - wanted)
        self.used += len(wanted & self.fresh)
        self.fresh = (self.fresh | (came - wanted)) - wanted

    def want(self, pages):
        """Asks for these pages one by one."""
        before = self.cached()
        for page in pages:
            os.posix_fadvise(self.fd, page * PAGE, PAGE, os.POSIX_FADV_WILLNEED)
        came = self.cached(True) - before
        self.ahead += len(came)
        self.fresh |= came

    def drop(self):
        before = self.cached()
        os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_DONTNEED)
        gone = before - self.cached(True)
        self.evicted += len(gone)
        self.wasted += len(gone & self.fresh)
        self.fresh -= gone

    def write(self, off, size):
        """Writes over clean pages."""
        before = self.cached()
        os.pwrite(self.fd, os.urandom(size), off)
        pages = set(range(off // PAGE, (off + size - 1) // PAGE + 1))
        self.used += len(pages & self.fresh)
        self.fresh -= pages
        self.dirtied += len(pages)
        os.fsync(self.fd)
        if before - self.cached(True):
            self.inexact()


def read_vectors(fd, size, off):
    return os.preadv(fd, [bytearray(100), bytearray(size - 200), bytearray(100)], off)


def read_there(fd, size, off):
    os.lseek(fd, off, os.SEEK_SET)
    return len(os.read(fd, size))


def read_vectors_there(fd, size, off):
    os.lseek(fd, off, os.SEEK_SET)
    return os.readv(fd, [bytearray(size // 2), bytearray(size - size // 2)])


def send(fd, size, off):
    return os.sendfile(write_end, fd, off, size)


def splice(fd, size, off):
    """Asks for more than the pipe takes."""
    return os.splice(fd, write_end, 4 * size, off)


def empty_pipe():
    os.set_blocking(read_end, False)
    try:
        while os.read(read_end, 1 << 20):
            pass
    except BlockingIOError:
        pass


def read_with_gaps(f):
    """Reads where some of the pages are there, among those that are asked for and among those that are read ahead."""
    splices = (splice,) if hasattr(os, "splice") else ()  # Python 3.10
    for call in (read_vectors, read_there, read_vectors_there, send, *splices):
        f.want(range(2, 192, 5))
        f.read(5 * PAGE - 50, 16 * PAGE, call)
        empty_pipe()
        f.drop()


def copy(f, into):
    """A file that is not there yet gets a copy: its pages come, too, and are not read."""
    os.lseek(f.fd, 0, os.SEEK_SET)
    f.read(0, f.size, lambda fd, size, off: os.sendfile(into.fd, fd, None, size))
    written(f, into)


def copy_range(f, into):
    """The same; but where the two share their blocks instead, no page is touched."""
    os.ftruncate(into.fd, 0)
    into.size = f.size
    before = f.cached()
    if os.copy_file_range(f.fd, into.fd, f.size, 0, 0) != f.size:
        sys.exit(f"{f.path}: not copied")
    if not into.cached(True):
        return
    pages = set(range((f.size + PAGE - 1) // PAGE))
    f.bytes += f.size
    f.hit += len(before)
    f.miss += len(pages - before)
    f.used += len(f.fresh)
    f.fresh = set()
    written(f, into)


def written(f, into):
    into.dirtied += (f.size + PAGE - 1) // PAGE
    os.fsync(into.fd)
    into.size = f.size
    into.drop()


def read_into(f, mapped):
    """The pages of the buffer, a mapped file, come by faults within the read: they were read ahead, and are not noted."""
    before, size = mapped.cached(), min(f.size, mapped.size)
    with mmap.mmap(mapped.fd, mapped.size, access=mmap.ACCESS_COPY) as memory:
        f.read(0, size, lambda fd, size, off: os.preadv(fd, [memoryview(memory)[:size]], off))
    mapped.ahead += len(mapped.cached(True) - before)


folder, tally_path, *rest = sys.argv[1:]
below = rest[0] if rest else None
has_cachestat = False
read_end, write_end = os.pipe()


def main():
    global has_cachestat
    small = [File(f"small{i}") for i in range(20)]
    big, some, copied, mapped = (File(name) for name in ("big", "some", "copied", "mapped"))
    has_cachestat = cachestat(big.with_pages, 0, 1) >= 0
    for epoch in range(2):  # the first all misses, the second all hits
        for f in small:
            f.read(0, f.size)
    for f in small[:10]:
        f.drop()
    for f in small:  # half of them from the disk again
        f.read(0, f.size)
    for off in range(0, 2 << 20, 65536):  # read-ahead that is used only in part
        big.read(off, 65536)
    big.drop()
    os.posix_fadvise(big.fd, 0, 0, os.POSIX_FADV_RANDOM)
    for i in range(40):
        big.read((i * 37 % 400) * PAGE * 5, 1000)
    if not below:
        big.write(3 << 20, 100 * PAGE)
        big.write((3 << 20) + 200 * PAGE, 100)
    big.drop()
    some.drop()
    read_with_gaps(some)
    mapped.drop()
    read_into(some, mapped)
    if not below:
        some.drop()
        copy(some, copied)
        copy_range(some, copied)
    with open(tally_path, "w", encoding="ascii") as out:
        for f in (*small, big, some, copied, mapped):
            print(f.name, f.bytes, f.hit, f.miss, f.ahead, f.used, f.evicted, f.wasted, f.dirtied,
                  len(f.cached()), len(f.fresh), file=out)


main()
