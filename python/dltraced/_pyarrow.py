# SPDX-License-Identifier: BSD-2-Clause
"""Rows as tables of Arrow."""
from __future__ import annotations

import functools
from typing import Any, Mapping, Sequence

import pyarrow
import pyarrow.csv

from ._columns import NULLS, Column, unescape

TYPES = {"int64": pyarrow.int64(), "uint64": pyarrow.uint64(), "number": pyarrow.float64(), "time": pyarrow.timestamp("ns", "UTC")}
CHUNK_ROWS = 1 << 16
BAD_VALUES = (pyarrow.ArrowInvalid,)  # what part() raises for a value that is not of its column's type


def _type_of(column: Column) -> Any:
    return TYPES.get(column.type, pyarrow.string())


def _unescaped(values: Any) -> Any:
    coded = values.combine_chunks().dictionary_encode()
    texts = pyarrow.array([unescape(text) for text in coded.dictionary.to_pylist()], pyarrow.string())
    return texts.take(coded.indices)


@functools.lru_cache(maxsize=64)
def _repeated_chunk(text: str) -> Any:
    return pyarrow.repeat(pyarrow.scalar(text, pyarrow.string()), CHUNK_ROWS)


def _repeated(text: str, n: int) -> Any:
    """N times TEXT, in chunks that share their memory: a folder's name for each of millions of rows is more than their numbers."""
    chunk = _repeated_chunk(text)
    return pyarrow.chunked_array([chunk] * (n // CHUNK_ROWS) + [chunk.slice(0, n % CHUNK_ROWS)], pyarrow.string())


def part(text: bytes, names: Sequence[str], columns: Sequence[Column], constants: Mapping[str, str]) -> Any:
    """The COLUMNS of the rows of TEXT, which have the columns NAMES and CONSTANTS; one that is in neither is null."""
    wanted = {column.name: _type_of(column) for column in columns if column.name in names}
    n = text.count(b"\n")
    raw: Any = {}
    if n and wanted:
        table = pyarrow.csv.read_csv(
            pyarrow.py_buffer(text), pyarrow.csv.ReadOptions(column_names=list(names)),
            pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False, double_quote=False, escape_char=False),
            pyarrow.csv.ConvertOptions(column_types=wanted, include_columns=list(wanted), null_values=list(NULLS),
                                       strings_can_be_null=True, quoted_strings_can_be_null=True))
        raw = {name: table.column(name) for name in wanted}
    data = []
    for column in columns:
        if column.name in constants:
            values = _repeated(constants[column.name], n)
        elif column.name in raw:
            values = raw[column.name]
            if column.type == "text" and b"\\" in text:
                values = _unescaped(values)
        else:
            values = pyarrow.nulls(n, _type_of(column))
        data.append(values)
    return pyarrow.table(data, names=[column.name for column in columns])


def concat(frames: Sequence[Any]) -> Any:
    return pyarrow.concat_tables(frames)
