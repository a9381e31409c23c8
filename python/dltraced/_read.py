# SPDX-License-Identifier: BSD-2-Clause
"""From a file of trace folders to a frame: hosts, segments, blocks, rows."""
from __future__ import annotations

import functools
import importlib
import os
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _columns, _folder, _lines, _select
from ._folder import Host, Path
from ._select import Numbers, Selection

ENGINES = ("pandas", "polars", "pyarrow", "dask")
SAMPLE_ROWS = 10000  # of a collector's file, for the types of its columns


class Part(NamedTuple):
    """Blocks of rows of one host, and what is wanted of them."""
    blocks: Tuple[_lines.Block, ...]
    names: Tuple[str, ...]
    host: Host
    keep: Optional[Selection]


def _engine(name: str) -> Any:
    if name not in ENGINES:
        raise ValueError(f"engine: {name!r} is none of {', '.join(ENGINES)}")
    try:
        return importlib.import_module(f"{__package__}._{name}")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"engine {name!r} needs the package {error.name}: pip install {error.name}, or use another "
                                  f"engine= of {', '.join(ENGINES)}", name=error.name) from error


def _load(part: Part, engine: str, wanted: Sequence[_columns.Column]) -> Any:
    """The rows of PART as the engine keeps them until all are there. Where it stands, so that Dask can send it to other processes; and
    without a parameter `columns', which Dask would set to those that an operation needs."""
    text = b"".join(_lines.filtered(_lines.text(block, len(part.names)), part.keep) for block in part.blocks)
    made = _engine(engine)
    try:
        return made.part(text, part.names, wanted, {"host": part.host.name, "folder": part.host.folder})
    except made.BAD_VALUES as error:
        files = ", ".join(dict.fromkeys(block.file for block in part.blocks))
        raise _lines.Damaged(f"{files}: {error} (`dltraced validate {part.host.folder}' shows what is damaged)") from error


def _parts(host: Host, probe: str, names: Dict[str, List[str]], keep: Optional[Selection], size: int) -> Iterator[Part]:
    """The rows of HOST in parts of about SIZE bytes: parsing many small segments one by one takes longer than all at once."""
    blocks: List[_lines.Block] = []
    for file in _folder.segments(host.folder, probe):
        for block in _lines.blocks(file, size) if file in names else ():
            if blocks and (sum(b.text_bytes for b in blocks) + block.text_bytes > size or names[file] != names[blocks[0].file]):
                yield Part(tuple(blocks), tuple(names[blocks[0].file]), host, keep)
                blocks = []
            blocks.append(block)
    if blocks:
        yield Part(tuple(blocks), tuple(names[blocks[0].file]), host, keep)


def _names(hosts: Sequence[Host], probe: str) -> Dict[str, List[str]]:
    """{segment: its columns}, of those that have a header."""
    found = {file: _lines.header(file, probe) for host in hosts for file in _folder.segments(host.folder, probe)}
    if not found:
        raise FileNotFoundError(f"{', '.join(host.folder for host in hosts)}: no {probe}.out: it was not recorded, or dropped")
    return {file: names for file, names in found.items() if names}


def _all_columns(hosts: Sequence[Host], probe: str, names: Dict[str, List[str]]) -> List[_columns.Column]:
    known = _columns.of(probe)
    if known or not names:
        return known
    file, there = next(iter(names.items()))
    rows = (line for block in _lines.blocks(file) for line in _lines.rows(block, len(there)))
    return _columns.measured(there, [line.decode().split("\t") for line, _ in zip(rows, range(SAMPLE_ROWS))])


def read(path: Union[Path, Iterable[Path]], probe: str, *, engine: str = "pandas", columns: Optional[Sequence[str]] = None,
         epoch: Numbers = None, rank: Numbers = None, pid: Numbers = None) -> Any:
    """
    The rows of PROBE.out ("vfs_rw", "open", "bio", ...) of the traces at PATH, a folder, a pattern, or a list of them,
    with all segments, compressed ones too, as a frame of pandas, Polars, Arrow (a table) or Dask.

    The columns are the file's own, typed as `dltraced probes --json` lists them, then `host` and `folder`; COLUMNS
    names those that are wanted. `-` and `?` are null, escaped names are as they were. Only rows of the EPOCHs, RANKs
    and PIDs, a number or several, are parsed.
    """
    made = _engine(engine)
    hosts = _folder.hosts(path)
    for host in hosts:
        _columns.refuse_newer(os.path.join(host.folder, "manifest.json"), _folder.manifest(host.folder).get("schema"))
    names = _names(hosts, probe)
    everything = _all_columns(hosts, probe, names)
    wanted = _columns.chosen(everything, columns)
    keep = _select.selections(hosts, probe, [column.name for column in everything], epoch=epoch, rank=rank, pid=pid)
    size = _lines.BLOCK_BYTES * getattr(made, "BLOCKS", 1)
    parts = [part for host in hosts for part in _parts(host, probe, names, keep[host.folder], size)]
    load = functools.partial(_load, engine=engine, wanted=wanted)
    empty = made.part(b"", (), wanted, {"host": "", "folder": ""})
    if engine == "dask":
        return made.partitions(load, parts, empty)
    return made.concat([load(part) for part in parts] or [empty])
