# SPDX-License-Identifier: BSD-2-Clause
"""Which rows are wanted: those of processes, ranks and epochs. Lines are left out before they are parsed."""
from __future__ import annotations

import functools
import os
from typing import Dict, FrozenSet, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _lines, _program
from ._folder import Host

Numbers = Union[int, Iterable[int], None]
Span = Tuple[int, int]
# Other rows refer to theirs, whenever they are from: dltraced export leaves them in, too.
TIMELESS = ("files", "pids", "time_align")


class Selection(NamedTuple):
    """Spans are from, up to and without, by TIMESTAMP; None: all. TIMESTAMP is the first column. A region is of the epoch in which it
    begins, or, where the epochs are those of regions, of the one that it names."""
    spans: Optional[Sequence[Span]]
    pids: Optional[FrozenSet[bytes]]
    pid_at: int
    lat_at: int = 0  # the columns of a region; 0: the rows are no regions
    epoch_at: int = 0  # 0: the epochs are others
    epochs: FrozenSet[bytes] = frozenset()

    def __call__(self, line: bytes) -> bool:
        fields = line.split(b"\t", max(self.pid_at, self.lat_at, self.epoch_at) + 1)
        if self.pids is not None and fields[self.pid_at] not in self.pids:
            return False
        if self.spans is None:
            return True
        if self.epoch_at and fields[self.epoch_at].isdigit():
            return fields[self.epoch_at] in self.epochs
        at = int(fields[0]) - (int(fields[self.lat_at]) if self.lat_at and fields[self.lat_at].isdigit() else 0)
        return any(begin <= at < end for begin, end in self.spans)


def _numbers(wanted: Numbers) -> Optional[FrozenSet[int]]:
    return None if wanted is None else frozenset([wanted] if isinstance(wanted, int) else wanted)


class Epochs(NamedTuple):
    spans: Dict[int, List[Span]]  # by number
    by_regions: bool


@functools.lru_cache(maxsize=64)
def _epochs(folder: str, state: object) -> Epochs:
    found = Epochs({}, True)
    for phase in _program.json_of("report", "--json", folder).get("timeline", {}).get("phases", ()):
        if phase["kind"] == "epoch" and phase["number"] is not None:
            found.spans.setdefault(phase["number"], []).append((phase["begin_ns"], phase["end_ns"]))
            found = found._replace(by_regions=found.by_regions and phase["source"] == "regions")
    return found


def _epochs_of(host: Host) -> Epochs:
    """As the report finds them; once for each state of the trace."""
    try:
        state = os.stat(os.path.join(host.folder, "manifest.json")).st_mtime_ns
    except OSError:
        state = 0
    return _epochs(host.folder, state)


def utc_offset_ns(host: Host) -> int:
    """What is to be added to a TIMESTAMP of HOST for UTC."""
    for row in _lines.records(host.folder, "time_align"):
        return int(row["REALTIME_NS"]) - int(row["TIMESTAMP"])
    raise ValueError(f"{host.folder}: it has no time_align.out, so epochs of other hosts cannot be found in it")


def _spans(hosts: Sequence[Host], wanted: FrozenSet[int]) -> Dict[str, List[Span]]:
    """{folder: spans of the epochs WANTED}: by a host's own account, else by that of the first one that has the epoch."""
    own = {host.folder: _epochs_of(host).spans for host in hosts}
    spans: Dict[str, List[Span]] = {host.folder: [] for host in hosts}
    for number in sorted(wanted):
        first = next((host for host in hosts if number in own[host.folder]), None)
        if first is None:
            there = sorted({n for epochs in own.values() for n in epochs})
            raise ValueError(f"the trace shows no epoch {number}; it shows: {', '.join(map(str, there)) or 'none'}")
        for host in hosts:
            if number in own[host.folder]:
                spans[host.folder] += own[host.folder][number]
            else:
                later = utc_offset_ns(first) - utc_offset_ns(host)
                spans[host.folder] += [(begin + later, end + later) for begin, end in own[first.folder][number]]
    return spans


def _pids(host: Host, pids: Optional[FrozenSet[int]], ranks: Optional[FrozenSet[int]]) -> FrozenSet[bytes]:
    found = None if pids is None else frozenset(str(pid).encode() for pid in pids)
    if ranks is not None:
        named = {str(rank) for rank in ranks}
        of_rank = frozenset(row["PID"].encode() for row in _lines.records(host.folder, "pids") if row["RANK"] in named)
        found = of_rank if found is None else found & of_rank
    return found or frozenset()


def selections(hosts: Sequence[Host], probe: str, names: Sequence[str], *, epoch: Numbers = None, rank: Numbers = None,
               pid: Numbers = None) -> Dict[str, Optional[Selection]]:
    """{folder: what is wanted of its PROBE.out, whose columns are NAMES}; None: all of it."""
    epochs, ranks, pids = _numbers(epoch), _numbers(rank), _numbers(pid)
    if (ranks is not None or pids is not None) and "PID" not in names:
        raise ValueError(f"rows of {probe}.out are of no process: read it without rank= and pid=")
    if epochs is not None and names[0] != "TIMESTAMP":
        raise ValueError(f"rows of {probe}.out have no TIMESTAMP: read it without epoch=")
    spans = None if epochs is None or probe in TIMELESS else _spans(hosts, epochs)
    of_process = ranks is not None or pids is not None
    if spans is None and not of_process:
        return {host.folder: None for host in hosts}
    found: Dict[str, Optional[Selection]] = {}
    for host in hosts:
        selection = Selection(None if spans is None else spans[host.folder], _pids(host, pids, ranks) if of_process else None,
                              names.index("PID") if of_process else 0)
        if spans is not None and epochs is not None and probe == "regions" and "LAT_NS" in names:
            by_name = "EPOCH" in names and _epochs_of(host).by_regions
            selection = selection._replace(lat_at=names.index("LAT_NS"), epoch_at=names.index("EPOCH") if by_name else 0,
                                           epochs=frozenset(str(n).encode() for n in epochs))
        found[host.folder] = selection
    return found
