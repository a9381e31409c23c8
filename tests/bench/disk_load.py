# SPDX-License-Identifier: BSD-2-Clause
"""disk_load BASE FOLDER TIMES PATTERN...: one pattern after the other, each between two gates (measure.Gate) BASE.

Whatever a pattern needs is made ready before its gate, by a process that is traced as well. FOLDER is on a disk.

  direct     reads of 4 KiB past the page cache: a disk request each
  synced     writes of 4 KiB, each with fdatasync(): a request of the file each, beside the journal's
  flushed    eight times, one fdatasync() for as many dirty pages: few requests, each of many pages
  dirty      writes of 4 KiB, each into a page that is clean
  overwrite  writes of 4 KiB, each into a page that is dirty
  inserted   reads of 4 KiB without read-ahead, not in memory: a folio each put into the page cache
  ahead      eight times, reads of 4 KiB from front to end, not in memory: read-ahead puts larger folios there
  major      touches of mapped pages that are not in memory: a fault each that waits for the disk
  minor      touches of pages of anonymous memory: a fault each that waits for nothing
  mapped     touches of mapped pages that are in memory: a fault for some of them each
  stored     first stores to pages, which are in memory, of a shared mapping: a fault each
"""
import mmap
import os
import resource
import sys

PAGE = 4096
FAULTS = {"major": "ru_majflt", "minor": "ru_minflt", "mapped": "ru_minflt", "stored": "ru_minflt"}  # counters


def gate(base, word, n):
    with open(f"{base}.up", "w", encoding="ascii") as f:
        f.write(f"{word} {n}\n")
    with open(f"{base}.down", encoding="ascii") as f:
        if not f.readline():
            sys.exit("disk_load: whoever measures is gone")


class File:
    """A file of PAGES pages, on the disk and, unless COLD, clean in the page cache."""

    def __init__(self, folder, pages, cold, flags=0):
        path = os.path.join(folder, "file")
        self.pages = pages
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
        for i in range(pages):  # each in its own folio, if the file system does that
            os.pwrite(self.fd, bytes(PAGE), i * PAGE)
        os.fsync(self.fd)
        if cold:
            os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_DONTNEED)
        if flags:
            os.close(self.fd)
            self.fd = os.open(path, os.O_RDWR | flags)

    def write_all(self):
        for i in range(self.pages):
            os.pwrite(self.fd, b"x" * PAGE, i * PAGE)


def direct(folder, pages):
    file, buffer = File(folder, pages, True, os.O_DIRECT), mmap.mmap(-1, PAGE)  # it is aligned
    return lambda: [os.preadv(file.fd, [buffer], i * PAGE) for i in range(pages)]


def synced(folder, pages):
    file = File(folder, pages, False)
    return lambda: [(os.pwrite(file.fd, b"x" * PAGE, i * PAGE), os.fdatasync(file.fd)) for i in range(pages)]


def dirty(folder, pages):
    return File(folder, pages, False).write_all


def overwrite(folder, pages):
    file = File(folder, pages, False)
    file.write_all()
    return file.write_all


def flushed(folder, pages):
    file = File(folder, pages, False)
    return lambda: [(file.write_all(), os.fdatasync(file.fd)) for _ in range(8)]


def inserted(folder, pages):
    file = File(folder, pages, True)
    os.posix_fadvise(file.fd, 0, 0, os.POSIX_FADV_RANDOM)
    return lambda: [os.pread(file.fd, PAGE, i * PAGE) for i in range(pages)]


def ahead(folder, pages):
    file = File(folder, pages, True)

    def run():
        for _ in range(8):
            for i in range(pages):
                os.pread(file.fd, PAGE, i * PAGE)
            os.posix_fadvise(file.fd, 0, 0, os.POSIX_FADV_DONTNEED)
    return run


def touches(memory, pages, advice):
    memory.madvise(advice)
    return lambda: [memory[i * PAGE] for i in range(pages)]


def shared(folder, pages, cold):
    return mmap.mmap(File(folder, pages, cold).fd, pages * PAGE)


def major(folder, pages):
    return touches(shared(folder, pages, True), pages, mmap.MADV_RANDOM)


def minor(_folder, pages):
    return touches(mmap.mmap(-1, pages * PAGE), pages, mmap.MADV_NOHUGEPAGE)


def mapped(folder, pages):
    return touches(shared(folder, pages, False), pages, mmap.MADV_RANDOM)


def stored(folder, pages):
    memory = shared(folder, pages, False)
    return lambda: [memory.__setitem__(i * PAGE, 1) for i in range(pages)]


def main():
    base, folder, pages, *patterns = sys.argv[1:]
    for name in patterns:
        run = globals()[name](folder, int(pages))
        before = resource.getrusage(resource.RUSAGE_SELF)
        gate(base, "ready", os.getpid())
        run()
        after = resource.getrusage(resource.RUSAGE_SELF)
        faults = FAULTS.get(name)
        gate(base, "done", getattr(after, faults) - getattr(before, faults) if faults else int(pages))


main()
