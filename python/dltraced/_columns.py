# SPDX-License-Identifier: BSD-2-Clause
"""The columns of a trace's files and their types, as the program prints them; the text of a field and what it stands for."""
from __future__ import annotations

import functools
import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from . import _program


class Column(NamedTuple):
    """Types are those of `dltraced probes --json', and "number" in files of collectors."""
    name: str
    type: str
    unit: Optional[str] = None
    description: str = ""


# Where a row comes from: behind the columns of the file.
HOST = Column("host", "name", None, "host of the row, by the manifest")
FOLDER = Column("folder", "name", None, "trace folder of the row: a FID is a number of its folder")

NULLS = ("-", "?")
ESCAPED = re.compile(r"(?:\\[0-7]{3})+")


@functools.lru_cache(maxsize=None)
def _answer() -> Dict[str, Any]:
    return _program.json_of("probes", "--json")


@functools.lru_cache(maxsize=None)
def _files() -> Dict[str, List[Column]]:
    answer = _answer()
    files = {p["name"]: [Column(**column) for column in p["columns"]] for p in answer["probes"]}
    files.update((c["name"], []) for c in answer["collectors"])
    return files


def of(probe: str) -> List[Column]:
    """The columns of PROBE.out; none for a collector, whose tool chooses them. ValueError: there is no such file."""
    if probe not in _files():
        raise ValueError(f"a trace has no file {probe}.out; it has: {', '.join(sorted(_files()))}")
    return _files()[probe]


def refuse_newer(file: str, schema: Any) -> None:
    """ValueError where FILE has a SCHEMA that this version does not know: its columns may mean something else."""
    newest = _answer()["schema"]
    if isinstance(schema, int) and schema > newest:
        raise ValueError(f"{file} has schema {schema}, of a newer dltraced; this one reads up to schema {newest}: install a newer one")


def measured(names: Sequence[str], rows: Sequence[Sequence[str]]) -> List[Column]:
    """The columns NAMES of a collector's file: a column is of numbers where these ROWS have nothing else in it."""
    def is_number(i: int) -> bool:
        try:
            return all(row[i] in NULLS or float(row[i]) is not None for row in rows)
        except ValueError:
            return False

    known = {column.name: column for column in of("time_align")[:2]}  # TIMESTAMP and TIME
    return [known.get(name) or Column(name, "number" if is_number(i) else "text") for i, name in enumerate(names)]


def chosen(columns: Sequence[Column], names: Optional[Sequence[str]]) -> List[Column]:
    """The columns NAMES, in that order; all without NAMES."""
    there = {column.name: column for column in (*columns, HOST, FOLDER)}
    for name in names or ():
        if name not in there:
            raise ValueError(f"there is no column {name}; there are: {', '.join(there)}")
    return [there[name] for name in (there if names is None else names)]


def unescape(text: str) -> str:
    """TEXT with each \\ooo as the byte that it stands for; bytes that are no UTF-8 stay \\ooo."""
    def plain(escaped: "re.Match[str]") -> str:
        raw = bytes(int(digits, 8) & 255 for digits in escaped[0].split("\\")[1:])
        return re.sub("[\udc80-\udcff]", lambda m: f"\\{ord(m[0]) & 255:03o}", raw.decode("utf-8", "surrogateescape"))

    return ESCAPED.sub(plain, text)
