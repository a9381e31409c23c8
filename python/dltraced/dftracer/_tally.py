# SPDX-License-Identifier: BSD-2-Clause
"""What of DFTracer's API was used and has no meaning here: counted, and said in one line at the end of the job.

The processes of a job share a file in which each appends what it counted, and on which each holds a lock. The one that can
take the lock for itself is the last one there: it says the sum, and removes the file. A job is known by DLTRACED_JOB.
"""
from __future__ import annotations

import atexit
import collections
import fcntl
import os
import sys
import tempfile
from typing import Any

from ._names import DFTRACER_ENABLE, HONOURED

MOST = 12  # names in the line
JOB = "DLTRACED_JOB"

_counts: collections.Counter[str] = collections.Counter()
_file: Any = None


def _path() -> str:
    job = os.environ.setdefault(JOB, f"{os.getpid()}-{os.urandom(4).hex()}")
    return os.path.join(tempfile.gettempdir(), f"dltraced-{os.getuid()}-" + "".join(c for c in job if c.isalnum() or c == "-")[:64])


def _join() -> None:
    """Takes part in the file: anew in a forked child, which would else share its parent's lock."""
    global _file
    _counts.clear()
    try:
        fd = os.open(_path(), os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        _file = os.fdopen(fd, "r+b", buffering=0)
    except OSError:  # no place for it, or the last one is just leaving: this process speaks for itself
        _file = None


def count(what: str) -> None:
    """WHAT was asked for. A process may be killed before its end, so the first time is written at once."""
    _counts[what] += 1
    if _counts[what] == 1 and _file is not None:
        _append(what, 1)


def _append(what: str, n: int) -> None:
    try:
        _file.write(f"{n}\t{what}\n".encode("utf-8", "replace"))
    except (OSError, ValueError):
        pass


def _sum() -> collections.Counter[str]:
    """Of all processes, where this is the last one; else nothing."""
    if _file is None:
        return _counts
    for what, n in _counts.items():
        if n > 1:
            _append(what, n - 1)
    fcntl.flock(_file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError: others are there
    counts: collections.Counter[str] = collections.Counter()
    _file.seek(0)
    for line in _file.read().decode("utf-8", "replace").splitlines():
        n, _, what = line.partition("\t")
        counts[what] += int(n) if n.isdigit() else 0
    os.unlink(_path())
    return counts


def line(counts: collections.Counter[str]) -> str:
    """The line for COUNTS; empty without any. A name of the environment counts once a process, so it has no number."""
    used = [f"{what} ({n})" for what, n in counts.most_common() if not what.startswith("DFTRACER_")]
    names = used + sorted(what for what in counts if what.startswith("DFTRACER_"))
    if len(names) > MOST:
        names[MOST:] = [f"and {len(names) - MOST} more"]
    text = ", ".join("".join(c if c.isprintable() else "?" for c in name) for name in names)
    return f"dltraced: of DFTracer's API, this has no meaning here: {text} (docs/regions.md)\n" if names else ""


def _end() -> None:
    try:
        sys.stderr.write(line(_sum()))
    except (OSError, ValueError, AttributeError):  # others are there, or no stderr is
        pass


if DFTRACER_ENABLE:
    _join()
    os.register_at_fork(after_in_child=_join)
    atexit.register(_end)
    for _name in sorted(os.environ):
        if _name.startswith("DFTRACER_") and _name not in HONOURED:
            count(_name)
