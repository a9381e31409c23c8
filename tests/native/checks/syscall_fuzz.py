# SPDX-License-Identifier: BSD-2-Clause
"""syscall_fuzz TRACE TALLY SEED: does each call of TALLY have its row, with what the program knows of it?

TALLY is by the workload "syscall_fuzz" (see tests/workloads/syscall_fuzz/main.c). Rows and calls are compared thread by
thread, in order. Names come from a model of the file system in memory (fuzz_tree.py), on which the calls are repeated
with their results: it shows which paths a file has had, and which call has made one.
"""
import collections
import mmap
import os
import stat
import sys

import fuzz_tree
import probes
import tracefolder

NR, FUNC, PID, TID, START, END, RET, INTERRUPTS, SHARED, RING, SILENT, ARGS = range(12)
NONE, NOTHING = "-", -1 << 63
RESTARTS = (-512, -513, -514, -516)
EINTR, ECANCELED = -4, -125

O_LARGEFILE = {"aarch64": 0o400000}.get(os.uname().machine, 0o100000)
O_NAMES = {name: getattr(os, "O_" + name) for name in (
    "WRONLY RDWR APPEND ASYNC CLOEXEC CREAT DIRECT SYNC DSYNC EXCL NOATIME NOCTTY NOFOLLOW NONBLOCK PATH TMPFILE "
    "DIRECTORY TRUNC").split()} | {"RDONLY": 0, "LARGEFILE": O_LARGEFILE}
PROT_NAMES = {"EXEC": mmap.PROT_EXEC, "READ": mmap.PROT_READ, "WRITE": mmap.PROT_WRITE,
              "GROWSDOWN": 0x01000000, "GROWSUP": 0x02000000}
# asm-generic/mman.h, mman-common.h
MAP_NAMES = {"SHARED": 1, "PRIVATE": 2, "SHARED_VALIDATE": 3, "FIXED": 0x10, "ANONYMOUS": 0x20, "GROWSDOWN": 0x100,
             "DENYWRITE": 0x800, "LOCKED": 0x2000, "NORESERVE": 0x4000, "POPULATE": 0x8000, "NONBLOCK": 0x10000,
             "STACK": 0x20000, "HUGETLB": 0x40000, "SYNC": 0x80000, "FIXED_NOREPLACE": 0x100000}
MREMAP_NAMES = {"MREMAP_MAYMOVE": 1, "MREMAP_FIXED": 2, "MREMAP_DONTUNMAP": 4}
# asm-generic/mman-common.h; the advice is a whole number
ADVICE = dict(enumerate("NORMAL RANDOM SEQUENTIAL WILLNEED DONTNEED".split())) | dict(enumerate(
    "FREE REMOVE DONTFORK DOFORK MERGEABLE UNMERGEABLE HUGEPAGE NOHUGEPAGE DONTDUMP DODUMP WIPEONFORK KEEPONFORK COLD PAGEOUT "
    "POPULATE_READ POPULATE_WRITE DONTNEED_LOCKED COLLAPSE".split(), 8))
RWF_DSYNC, RWF_SYNC, RWF_NOWAIT, RWF_APPEND = 2, 4, 8, 16  # linux/fs.h
MAP_ANONYMOUS, MREMAP_FIXED = 0x20, 2


def s32(n):
    n &= 0xffffffff
    return n - (1 << 32) if n >> 31 else n


def u32(n):
    return n & 0xffffffff


def u64(n):
    return n & 0xffffffffffffffff


def fd_of(call, arg=0):
    """A file that only the ring has (in a slot) has no descriptor."""
    return NONE if call.args[arg] == NOTHING else s32(call.args[arg])


class Side:
    """A file of a call, with the path that was passed for it."""

    def __init__(self, how, before, after, life, mode, f_flags, text):
        self.how, self.before, self.after = (None if t == NONE else int(t) for t in (how, before, after))
        self.life = None if life == NONE else life
        self.mode, self.f_flags = (0, 0) if self.life is None else (int(mode, 8), int(f_flags))
        self.text = None
        if text != NONE:
            length, head = text.split(":")
            raw = bytes.fromhex(head)
            self.text = raw + raw[-1:] * (int(length) - len(raw))

    @property
    def seekable(self):
        """Whether it has an offset, by its kind: regular files and folders, unless opened with O_PATH."""
        return self.life is not None and (stat.S_ISREG(self.mode) or stat.S_ISDIR(self.mode)) and \
            not self.f_flags & os.O_PATH

    @property
    def nowhere(self):
        """Returns the OFFSET of a file without offsets; an eventfd, which has no kind, seems to have them."""
        return NONE if self.life is None or stat.S_IFMT(self.mode) else None


class Call:
    def __init__(self, line):
        f = line.rstrip("\n").split("\t")
        self.line = line.rstrip("\n")
        self.nr, self.name, self.pid, self.tid = int(f[NR]), f[FUNC], f[PID], f[TID]
        # the system call that a request of io_uring corresponds to
        self.func = {"io_uring:renameat": "renameat2"}.get(self.name, self.name.removeprefix("io_uring:"))
        self.start, self.end, self.ret = int(f[START]), int(f[END]), int(f[RET])
        self.interrupts, self.shared = int(f[INTERRUPTS]), f[SHARED] == "1"
        self.ring, self.silent, self.or_refused = f[RING], f[SILENT] != "0", f[SILENT] == "2"
        self.args = [NOTHING if t == NONE else int(t) for t in f[ARGS:ARGS + 6]]
        self.bytes = None if f[ARGS + 6] == NONE else int(f[ARGS + 6])
        self.sides = Side(*f[ARGS + 7:ARGS + 14]), Side(*f[ARGS + 14:ARGS + 21])
        self.dir = f[ARGS + 21].encode()

    @property
    def open_flags(self):
        return {"creat": os.O_CREAT | os.O_WRONLY | os.O_TRUNC, "open": u32(self.args[1]), "openat": u32(self.args[2]),
                "openat2": self.sides[0].how}[self.func]

    @property
    def open_mode(self):
        if self.func == "openat2":
            return self.sides[1].how
        return self.args[{"creat": 1, "open": 2, "openat": 3}[self.func]] & 0xffff

    def dirfd(self, i):
        """Returns the folder that path I is relative to: AT_FDCWD, or the file's life and mode."""
        arg = {"openat": 0, "openat2": 0, "mkdirat": 0, "mknodat": 0, "unlinkat": 0, "symlinkat": 1}.get(self.func)
        if self.func in ("linkat", "renameat", "renameat2"):
            arg = 2 * i
        if arg is None or s32(self.args[arg]) == fuzz_tree.AT_FDCWD:
            return fuzz_tree.AT_FDCWD
        side = self.sides[1 if self.func in ("openat", "openat2") else i]
        return side if side.life else None


# --- the expected row: column -> value, None: any; numbers as numbers ------------------------------------

def path_as_passed(raw):
    return NONE if not raw else tracefolder.escape(raw[:4095])


def absolute(call, tree, i):
    """Returns a path of create_del; None where the account does not determine it."""
    raw = call.sides[i].text
    if not raw:
        return NONE
    raw = raw[:4095]
    base = b""
    if not raw.startswith(b"/"):
        folder = call.dirfd(i)
        if folder is None:
            return tracefolder.escape(raw)
        if folder == fuzz_tree.AT_FDCWD:
            base = tree.cwd(call)
        else:
            base = tree.folder_path(folder.life)
            if base is None:
                return None
    parts = [part for part in raw.split(b"/") if part not in (b"", b".")]
    return tracefolder.escape(base.rstrip(b"/") + b"".join(b"/" + part for part in parts) or b"/")


def rw_flags(side, rwf):
    flags = side.f_flags
    names = {"DIRECT": flags & os.O_DIRECT, "APPEND": flags & os.O_APPEND or rwf & RWF_APPEND, "NOWAIT": rwf & RWF_NOWAIT,
             "SYNC": flags & os.O_DSYNC or rwf & (RWF_DSYNC | RWF_SYNC)}
    return "|".join(name for name, there in names.items() if there) or NONE


def offset_of(call, side, given, writes, appends):
    if side.life is None or not side.seekable:
        return side.nowhere
    if writes and appends and call.ret > 0:
        return None if given is not None or call.shared else side.after - call.ret
    if given is not None:
        return given
    return None if call.shared else side.before


def want_rw(call, rw, vector, pos, rwf):
    side, flags = call.sides[0], call.args[5] if rwf else 0
    given = call.args[3] if pos and not (rwf and call.args[3] == -1) else None
    appends = side.f_flags & os.O_APPEND or flags & RWF_APPEND
    return {"RW": rw, "REQUESTED": (None if call.bytes is None else u64(call.bytes)) if vector else u64(call.args[2]),
            "RETURNED": call.ret, "FD": s32(call.args[0]), "FLAGS": rw_flags(side, flags),
            "OFFSET": offset_of(call, side, given, rw == "W", appends), "FID": side.life}


def want_ring_rw(call, _tree, rw, vector=False):
    """A request at position -1 begins at the file's own position, one that appends at its end (its size is in HOW). One that
    fails has the position that it leaves: 5.10 sets it before it copies. Requests of one batch may move a file's position in
    any order, which no row shows.
    """
    side, given = call.sides[0], call.args[3]
    appends = rw == "W" and (side.f_flags & os.O_APPEND or call.args[5] & RWF_APPEND)
    own = side.before if call.ret > 0 else side.after
    offset = side.how if appends and call.ret > 0 else own if given == -1 else given
    if not side.seekable:
        offset = side.nowhere
    elif call.shared and (given == -1 or appends):
        offset = None
    return {"RW": rw, "REQUESTED": (None if call.bytes is None else u64(call.bytes)) if vector else u64(call.args[2]),
            "RETURNED": call.ret, "FD": fd_of(call), "FLAGS": rw_flags(side, call.args[5]), "OFFSET": offset,
            "FID": side.life}


def want_ring_copy(call, i):
    """Like want_copy(), but -1 means the file's own position."""
    side, given = call.sides[i], call.args[2 * i + 1]
    offset = side.before if given == -1 else given
    if given == -1 and call.shared:
        offset = None
    return {"RW": "RW"[i], "REQUESTED": u64(call.args[4]), "RETURNED": call.ret, "FD": fd_of(call, 2 * i),
            "FLAGS": rw_flags(side, 0), "OFFSET": offset if side.seekable else side.nowhere, "FID": side.life}


def want_aio(call, _tree, rw, vector=False):
    """OFFSET is the argument; of a write that appends no hook sees where it began."""
    side = call.sides[0]
    appends = rw == "W" and (side.f_flags & os.O_APPEND or call.args[5] & RWF_APPEND)
    return {"RW": rw, "REQUESTED": (None if call.bytes is None else u64(call.bytes)) if vector else u64(call.args[2]),
            "RETURNED": call.ret, "FD": s32(call.args[0]), "FLAGS": rw_flags(side, call.args[5]),
            "OFFSET": (NONE if appends else call.args[3]) if side.seekable else side.nowhere, "FID": side.life}


def want_io_submit(call, _tree):
    """An io_submit that took no request."""
    return {"RW": NONE, "REQUESTED": 0, "RETURNED": call.ret, "FD": -1, "FLAGS": NONE, "OFFSET": NONE, "FID": None}


def want_copy(call, i):
    """I: 0 the source, 1 the destination. Where a position cannot be read, the call fails, and OFFSET may be anything."""
    fd, pos, length = {"sendfile": [(1, 2, 3), (0, None, 3)]}.get(call.func, [(0, 1, 4), (2, 3, 4)])[i]
    side = call.sides[i]
    offset = side.before
    if pos is not None and call.args[pos] and call.ret == -14:
        offset = None
    if call.shared:
        offset = None
    if not side.seekable:
        offset = side.nowhere
    return {"RW": "RW"[i], "REQUESTED": u64(call.args[length]), "RETURNED": call.ret, "FD": s32(call.args[fd]),
            "FLAGS": rw_flags(side, 0), "OFFSET": offset, "FID": side.life}


def want_open(call, tree):
    flags, mode = call.open_flags, call.open_mode
    if flags is None or not flags & (os.O_CREAT | os.O_TMPFILE & ~os.O_DIRECTORY):
        mode = NONE
    made = tree.opened.get(call.nr)
    return {"RET": call.ret, "FLAGS": NONE if flags is None else (flags, O_NAMES), "MODE": mode,
            "PATH": path_as_passed(call.sides[0].text), "FID": call.sides[0].life if call.ret >= 0 else None,
            "REALPATH": NONE if call.ret < 0 else tracefolder.escape(made) if made else None}


def want_close(call, _tree):
    if call.func == "close":
        # a pidfd, or a file for which the program had no room
        file = "any" if call.ret == 0 and not call.sides[0].life else call.sides[0].life
        return {"RET": call.ret, "FD": fd_of(call), "LAST": NONE, "FID": file}
    return {"RET": call.ret, "FD": u32(call.args[0]), "LAST": u32(call.args[1]), "FID": None}


def want_mmap(call, _tree):
    addr, length, prot, flags, fd, offset = call.args
    file = call.sides[0].life if not flags & MAP_ANONYMOUS else None
    return {"RET": u64(call.ret), "ADDR": u64(addr), "LEN": u64(length), "PROT": (prot, PROT_NAMES),
            "FLAGS": (flags, MAP_NAMES), "FD": s32(fd), "OFFSET": offset, "OLD_ADDR": NONE, "OLD_LEN": NONE, "FID": file}


def want_munmap(call, _tree):
    return {"RET": u64(call.ret), "ADDR": u64(call.args[0]), "LEN": u64(call.args[1]), "PROT": NONE, "FLAGS": NONE,
            "FD": NONE, "OFFSET": NONE, "OLD_ADDR": NONE, "OLD_LEN": NONE, "FID": None}


def want_mremap(call, _tree):
    old, old_len, length, flags, new = call.args[:5]
    return {"RET": u64(call.ret), "ADDR": u64(new) if flags & MREMAP_FIXED else NONE, "LEN": u64(length), "PROT": NONE,
            "FLAGS": (flags, MREMAP_NAMES), "FD": NONE, "OFFSET": NONE, "OLD_ADDR": u64(old), "OLD_LEN": old_len,
            "FID": None}


def want_madvise(call, _tree):
    addr, length, advice = call.args[:3]
    return {"RET": u64(call.ret), "ADDR": u64(addr), "LEN": u64(length), "PROT": NONE,
            "FLAGS": "MADV_" + ADVICE.get(u32(advice), "UNKNOWN"), "FD": NONE, "OFFSET": NONE, "OLD_ADDR": NONE, "OLD_LEN": NONE,
            "FID": None}


def want_brk(call, _tree):
    """The end before the call is known where no other thread moves it: 0 moves nothing."""
    before, sole = call.sides[0].how, call.sides[1].how == 1
    if sole and call.args[0] == 0:
        before = call.ret
    return {"RET": u64(call.ret), "ADDR": u64(call.args[0]), "LEN": None if before is None else abs(call.ret - before),
            "PROT": NONE, "FLAGS": NONE, "FD": NONE, "OFFSET": NONE, "OLD_ADDR": before, "OLD_LEN": NONE, "FID": None}


def want_sync(call, _tree):
    """Returns which arguments are FD, OFFSET and LEN."""
    fd, offset, length = {"fallocate": (0, 2, 3), "ftruncate": (0, None, 1), "msync": (None, None, 1),
                          "sync_file_range": (0, 1, 2), "truncate": (None, None, 1)}.get(call.func, (0, None, None))
    if call.name in ("io_uring:fsync", "io_uring:fdatasync") and any(call.args[1:3]):
        offset, length = 1, 2
    return {"RET": call.ret, "FD": NONE if fd is None else fd_of(call),
            "OFFSET": NONE if offset is None else call.args[offset], "LEN": NONE if length is None else call.args[length],
            "FID": call.sides[0].life if fd is not None else "any"}


def want_name(call, tree):
    """Returns which arguments are MODE and FLAGS. The text of a symlink is the first argument of the call, and PATH2 of the
    row.
    """
    mode = {"mkdir": 1, "mkdirat": 2, "mknod": 1, "mknodat": 2}.get(call.func)
    flags = {"unlinkat": 2, "linkat": 4, "renameat2": 4}.get(call.func)
    two = call.func in ("rename", "renameat", "renameat2", "link", "linkat")
    path2 = tree.paths[call.nr][1] if two else NONE
    if call.func.startswith("symlink"):
        path2 = path_as_passed(call.sides[1].text)
    return {"RET": call.ret, "MODE": NONE if mode is None else call.args[mode] & 0xffff,
            "FLAGS": NONE if flags is None else u32(call.args[flags]), "PATH": tree.paths[call.nr][0], "PATH2": path2,
            "FID": "any"}


def rw(*shape):
    return "vfs_rw", lambda call, _tree: want_rw(call, *shape)


WANT = {
    "close": ("close", want_close), "close_range": ("close", want_close),
    "brk": ("mmap", want_brk), "madvise": ("mmap", want_madvise), "mmap": ("mmap", want_mmap), "mremap": ("mmap", want_mremap),
    "munmap": ("mmap", want_munmap),
    # vector, position, RWF_*
    "read": rw("R", False, False, False), "write": rw("W", False, False, False),
    "readv": rw("R", True, False, False), "writev": rw("W", True, False, False),
    "pread64": rw("R", False, True, False), "pwrite64": rw("W", False, True, False),
    "preadv": rw("R", True, True, False), "pwritev": rw("W", True, True, False),
    "preadv2": rw("R", True, True, True), "pwritev2": rw("W", True, True, True),
    **{func: ("vfs_rw", lambda call, _tree: want_copy(call, 0)) for func in tracefolder.BETWEEN_TWO},
    **{func: ("open", want_open) for func in fuzz_tree.OPENS},
    **{func: ("sync", want_sync) for func in ("fallocate", "fdatasync", "fsync", "ftruncate", "msync", "sync_file_range",
                                              "syncfs", "truncate")},
    **{func: ("create_del", want_name) for func in (
        "link", "linkat", "mkdir", "mkdirat", "mknod", "mknodat", "rename", "renameat", "renameat2", "rmdir", "symlink",
        "symlinkat", "unlink", "unlinkat")},
}


def of_requests(prefix, want, shapes):
    """SHAPES: the names of the operations, and the arguments of WANT for each."""
    return {prefix + name: ("vfs_rw", lambda call, tree, shape=shape: want(call, tree, *shape))
            for name, shape in shapes.items()}


WANT_AIO = {"io_submit": ("vfs_rw", want_io_submit)} | of_requests("io_submit:", want_aio, {
    "pread": ("R",), "pwrite": ("W",), "fsync": (NONE,), "fdsync": (NONE,), "preadv": ("R", True), "pwritev": ("W", True)})
WANT_RING = of_requests("io_uring:", want_ring_rw, {
    "read": ("R",), "read_fixed": ("R",), "read_multishot": ("R",), "readv": ("R", True), "write": ("W",), "write_fixed": ("W",),
    "writev": ("W", True), "readv_fixed": ("R", True), "writev_fixed": ("W", True)}) | {
        "io_uring:splice": ("vfs_rw", lambda call, _tree: want_ring_copy(call, 0))} | {"io_uring:" + func: WANT[func] for func in (
        "close", "fallocate", "fdatasync", "fsync", "ftruncate", "linkat", "mkdirat", "openat", "openat2", "symlinkat",
        "sync_file_range", "unlinkat")} | {"io_uring:renameat": WANT["renameat2"]}
WANT |= WANT_AIO | WANT_RING
RESULTS = {name: "RETURNED" if name == "vfs_rw" else "RET" for name in probes.OF_CALLS}
ADDRESSES = ("ADDR", "OLD_ADDR")
ENOUGH = 60  # with so many requests for each operation (or kind of ring), each of them must have occurred
RINGS = ("plain", "skip", "sqpoll", "coop", "defer")


# --- the comparison ------------------------------------------------------------------------------------------

class Comparison:
    def __init__(self, trace, calls, tree, seed):
        self.trace, self.calls, self.tree, self.seed = trace, calls, tree, seed
        self.fids, self.lives = {}, {}  # life -> FID, and back
        self.kinds = collections.Counter()  # of differences

    def differ(self, call, row, message):
        """Prints a difference with both lines, unless one of its kind has been printed."""
        kind = call and call.name, message.split(" ")[0]
        self.kinds[kind] += 1
        if self.kinds[kind] == 1:
            self.trace.require(False, f"seed {self.seed}, call {call.nr if call else '-'}: {message}\n    call {call and call.line}"
                                      f"\n    row  {row and chr(9).join(row.values())}")
        return False

    def same_file(self, call, row, life):
        fid = row["FID"]
        if life == "any" or fid == NONE and life is None:
            return True
        if fid == NONE or life is None:
            return self.differ(call, row, f"FID {fid}, and the file is {life}")
        if self.fids.setdefault(life, fid) != fid:
            return self.differ(call, row, f"file {life} is FID {self.fids[life]} and FID {fid}")
        if self.lives.setdefault(fid, life) != life:
            return self.differ(call, row, f"FID {fid} is file {self.lives[fid]} and file {life}")
        return True

    def same_value(self, column, want, got):
        if want is None:
            return True
        if want == NONE or isinstance(want, str):
            return got == want
        if got in (NONE, "?"):
            return False
        if isinstance(want, tuple):  # bits and their names
            return u64(sum_of(got, want[1])) == u64(want[0])
        if column == "MODE":
            return int(got, 8) == want
        if column in ("RET", "FLAGS") or column in ADDRESSES:
            return u64(int(got, 0)) == u64(want)
        return int(got, 0) == want

    def same(self, call, row, want):
        for column, value in want.items():
            if column != "FID" and not self.same_value(column, value, row[column]):
                return self.differ(call, row, f"{column} is {row[column]}, not {value[0] if isinstance(value, tuple) else value}")
        if not self.same_file(call, row, want["FID"]):
            return False
        if row["PID"] != call.pid or call.ring == "sqpoll" and not row["COMM"].startswith("iou-sqp-"):
            return self.differ(call, row, "of another process or thread")
        begin, end = begin_of(row), row.n("TIMESTAMP")
        if begin < call.start or end > call.end and not call.silent:
            return self.differ(call, row, "not within the call's time")
        return True

    def is_restart(self, call, name, row):
        """Whether ROW is a try of CALL that a signal interrupted: the kernel repeats it, or the program gets EINTR."""
        file, want = WANT[call.name]
        if name != file or row["FUNC"] != call.name or row.ret not in RESTARTS or not call.interrupts:
            return False
        want = {**want(call, self.tree), "RETURNED": row.ret}
        return self.same(call, row, {k: v for k, v in want.items() if k != "OFFSET"})

    @staticmethod
    def has_ended(outer, call, rows):
        """Whether the kernel has ended OUTER, but its thread makes CALL in a signal handler before it returns."""
        return rows and rows[0][1]["FUNC"] == outer.name != call.name and rows[0][1].ret == outer.ret

    def require_tries(self, call, tries):
        """There is at most one interrupted try for each signal; a call that is not repeated has one row."""
        wrong = tries > call.interrupts or call.ret == EINTR and tries != 1
        return not wrong or self.differ(call, None, f"{tries} rows that say interrupted")

    def thread(self, tid, calls, rows):
        """Compares the calls of one thread, in the order of their ends, with its rows, in order with their files."""
        rows = collections.deque(rows)
        waiting = collections.Counter()  # call number -> interrupted tries so far
        ended = set()
        for at, call in enumerate(calls):
            outer = next((c for c in calls[at:at + 16] if c.interrupts and c.start <= call.start and c.end >= call.end), None)
            while rows and outer and self.is_restart(outer, *rows[0]):
                rows.popleft()
                waiting[outer.nr] += 1
            if outer and outer is not call and self.has_ended(outer, call, rows):
                ended.add(outer.nr)
                name, row = rows.popleft()
                self.call(outer, name, row, rows)
            if not self.require_tries(call, waiting[call.nr]):
                return False
            if call.ret == EINTR or call.nr in ended:
                continue  # this call had its last row already
            if not rows:
                return self.differ(call, None, f"thread {tid} has no more rows")
            name, row = rows.popleft()
            if not self.call(call, name, row, rows):
                return False
        if rows:
            return self.differ(None, rows[0][1], f"{len(rows)} rows of thread {tid} that are no calls")
        return True

    def call(self, call, name, row, rows):
        file, want = WANT[call.name]
        if name != file or row["FUNC"] != call.name:
            return self.differ(call, row, f"{name} has {row['FUNC']} here")
        want = want(call, self.tree)
        if call.or_refused and row.ret < 0:
            call.ret = row.ret
            want = {**want, RESULTS[file]: row.ret}
        if call.func in tracefolder.BETWEEN_TWO:
            if not rows or rows[0][1]["TIMESTAMP"] != row["TIMESTAMP"]:
                return self.differ(call, row, "no second row")
            of_pair = want_ring_copy if call.name == "io_uring:splice" else want_copy
            self.same(call, rows.popleft()[1], of_pair(call, 1))
        made = bool(rows) and rows[0][1]["FUNC"] == "create" and rows[0][1]["TIMESTAMP"] == row["TIMESTAMP"]
        if call.func in fuzz_tree.OPENS:
            if made != (call.nr in self.tree.created):
                self.differ(call, row, f"{'a' if made else 'no'} row create")
            if made:
                self.created(call, rows.popleft()[1])
        self.same(call, row, want)
        return True

    def requests(self, tid, calls, rows):
        """Compares requests of io_uring in the order of their submission: one that is canceled without a completion may have
        its row after the thread has gone on. One that succeeds without a completion has a row without a result, once its
        memory is used again, or at the end.
        """
        rows = collections.deque(rows)
        for call in calls:
            if not rows:
                return self.differ(call, None, f"thread {tid} has no more rows of requests")
            name, row = rows.popleft()
            file, want = WANT[call.name]
            if not call.silent or call.ret == ECANCELED:
                if not self.call(call, name, row, rows):
                    return False
                continue
            if name != file or row["FUNC"] != call.name:
                return self.differ(call, row, f"silently: {name} has {row['FUNC']} here")
            if call.func in tracefolder.BETWEEN_TWO and rows and rows[0][1]["TIMESTAMP"] == row["TIMESTAMP"]:
                self.silent_row(call, *rows.popleft(), want_ring_copy(call, 1), 1)
            self.silent_row(call, name, row, want(call, self.tree), 0)
        if rows:
            return self.differ(None, rows[0][1], f"{len(rows)} rows of thread {tid} that are no requests")
        return True

    def silent_row(self, call, name, row, want, i):
        """Compares the row of a request without a completion. Its OFFSET is not known where it began at the file's own
        position, or appended.
        """
        want = {**want, RESULTS[name]: NONE}
        unknown = {"REALPATH", "FID"} if call.func in fuzz_tree.OPENS else set()
        if name == "vfs_rw" and call.sides[i].seekable:
            given = call.args[2 * i + 1 if call.func == "splice" else 3]
            appends = call.func != "splice" and want["RW"] == "W" and \
                (call.sides[i].f_flags & os.O_APPEND or call.args[5] & RWF_APPEND)
            want["OFFSET"] = NONE if given == -1 or appends else given
        for column, value in want.items():
            if column not in ("FID", *unknown) and not self.same_value(column, value, row[column]):
                return self.differ(call, row, f"silently: {column} is {row[column]}, not {value}")
        if row["PID"] != call.pid or not call.start < begin_of(row) < call.end:
            return self.differ(call, row, "silently: another process or time")
        return "FID" in unknown or self.same_file(call, row, want["FID"])

    def created(self, call, row):
        self.same(call, row, {"RET": 0, "MODE": call.open_mode, "FLAGS": call.open_flags, "PATH": self.tree.paths[call.nr][0],
                              "PATH2": NONE, "FID": call.sides[0].life})

    def files(self):
        """The paths of a FID are some of those that the file has had; for many files these are known, how many depends on
        the order of the threads. The path of a deleted file is the kernel's: with its folder's name at the time.
        """
        known = 0
        deleted = {(row["FID"], row.b("REALPATH")) for row in self.trace["files"] if row["STATE"] == "deleted"}
        for fid, life in self.lives.items():
            paths, gone = self.tree.names(life) or (None, None)
            first = self.trace.file(fid)
            known += paths is not None
            major, minor, ino = life.split(":")[:3]
            if (first["DEV"], first["INO"]) != (f"{major}:{minor}", ino):
                self.differ(None, first, f"FID {fid} is {life}")
            for path in self.trace.paths(fid):
                if paths is not None and path not in paths and not (path in gone and (fid, path) in deleted):
                    self.differ(None, first, f"file {life} is at {path}, not at {sorted(paths)}")
        self.trace.require(known * 6 > len(self.lives), f"of {len(self.lives)} files {known} have paths to compare")


def sum_of(text, names):
    return 0 if text == "0" else eval_or([names[part] if part in names else int(part, 16) for part in text.split("|")])


def eval_or(numbers):
    total = 0
    for n in numbers:
        total |= n
    return total


def begin_of(row):
    return row.n("TIMESTAMP") - row.n("LAT_NS")


def stream_of(func):
    """Each completion of a multishot read is one of these, in order; other calls may come in between."""
    return "reads" if func == "io_uring:read_multishot" else "requests" if func.startswith("io_uring:") else "calls"


def main():
    folder, tally, seed = sys.argv[1:]
    trace = tracefolder.Trace(folder)
    with open(tally, encoding="ascii") as f:
        lines = list(f)
    lacks = {line.split()[2] for line in lines if line.startswith("# lacks ")}
    calls = [Call(line) for line in lines if not line.startswith("#")]
    calls.sort(key=lambda call: call.end)
    tree = fuzz_tree.Tree({call.dir for call in calls})
    for call in calls:
        tree.paths[call.nr] = (absolute(call, tree, 0), absolute(call, tree, 1))
        problem = tree.apply(call)
        trace.require(not problem, f"seed {seed}, call {call.nr}: the account: {problem}\n    {call.line}")

    rings_are_seen = "hooks" in (trace.manifest.get("io_uring") or {})
    streams = collections.defaultdict(lambda: ([], []))  # the calls and the rows of each, in one order
    for call in calls:
        if call.name in WANT_RING and not rings_are_seen:
            continue
        if call.name != "io_submit" or call.ret <= 0:  # a call that took requests has no row of its own
            streams[call.tid, stream_of(call.name)][0].append(call)
    ends = {(row["TID"], row["TIMESTAMP"]) for _, row in trace.calls() if stream_of(row["FUNC"]) == "requests"}
    for name, row in trace.calls():
        made = row["FUNC"] == "create" and (row["TID"], row["TIMESTAMP"]) in ends  # by a request that opens
        streams[row["TID"], "requests" if made else stream_of(row["FUNC"])][1].append((name, row))
    comparison = Comparison(trace, calls, tree, seed)
    for (tid, stream), (mine, theirs) in streams.items():
        if not mine:
            continue
        if stream == "requests":
            # the row of an open comes before that of the file that it created, a copy's R before its W
            theirs.sort(key=lambda r: (begin_of(r[1]), r[1]["FUNC"] == "create"))
            comparison.requests(tid, sorted(mine, key=lambda call: call.nr), theirs)
            continue
        begin, end = min(call.start for call in mine), mine[-1].end
        theirs = sorted((r for r in theirs if begin < r[1].n("TIMESTAMP") < end),
                        key=lambda r: (r[1].n("TIMESTAMP"), r[1]["FUNC"] == "create"))
        comparison.thread(tid, mine, theirs)
    comparison.files()
    for name, counter in trace.counters.items():
        if name in probes.OF_CALLS:
            trace.require(counter["lost"] == 0, f"{name}: {counter['lost']} lost")
    made = collections.Counter(call.name for call in calls)
    due = set(WANT) - lacks
    for names, what in ((set(WANT_AIO), "libaio"), (set(WANT_RING), "io_uring")):
        n = sum(made[name] for name in names)
        due -= names if n < ENOUGH * len(names) else set()
        if not n:
            print(f"note: the kernel allows no {what}")
    used = collections.Counter("ring:" + call.ring for call in calls)
    if sum(made[name] for name in WANT_RING) >= ENOUGH * len(RINGS):
        unused = {"ring:" + ring for ring in RINGS} - lacks - set(used)
        trace.require(not unused, f"never used: {unused}")
    trace.require("refused" not in str(trace.manifest.get("io_uring")), f"io_uring: {trace.manifest.get('io_uring')}")
    if any(made[name] for name in WANT_RING) and not rings_are_seen:
        print(f"note: the trace has no hooks of io_uring: {trace.manifest.get('io_uring')}")
    elif lacks and used["ring:plain"]:
        print(f"note: the kernel lacks {' '.join(sorted(lacks))}")
    trace.require(due <= set(made), f"never called: {due - set(made)}")
    trace.require(len(comparison.lives) > 1, "no file was compared")
    if comparison.kinds:
        print(f"  {sum(comparison.kinds.values())} differences; one of each kind:")
    trace.finish()


main()
