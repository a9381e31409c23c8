# SPDX-License-Identifier: BSD-2-Clause
"""Rows as frames of Polars."""
from __future__ import annotations

from typing import Any, Mapping, Sequence

import polars

from ._columns import NULLS, Column, unescape

TYPES = {"int64": polars.Int64, "uint64": polars.UInt64, "number": polars.Float64, "time": polars.Datetime("ns", "UTC")}
BAD_VALUES = (polars.exceptions.PolarsError,)  # what frame() raises for a value that is not of its column's type


def _parsed(column: Column) -> Any:
    """The type that the parser of CSV is to find."""
    return polars.String if column.type == "time" else TYPES.get(column.type, polars.String)


def _unescaped(values: Any) -> Any:
    escaped = values.filter(values.str.contains("\\", literal=True)).unique()
    return values.replace(escaped, [unescape(text) for text in escaped]) if len(escaped) else values


def _typed(values: Any, column: Column) -> Any:
    if column.type == "time":
        return values.str.to_datetime("%Y-%m-%dT%H:%M:%S%.9fZ", time_unit="ns", time_zone="UTC")
    return _unescaped(values) if column.type == "text" else values


def frame(text: bytes, names: Sequence[str], columns: Sequence[Column], constants: Mapping[str, str]) -> Any:
    """The COLUMNS of the rows of TEXT, which have the columns NAMES and CONSTANTS; one that is in neither is null."""
    wanted = {column.name: column for column in columns if column.name in names}
    n = text.count(b"\n")
    raw = {}
    if n and wanted:
        header = "\t".join(names).encode() + b"\n"
        raw = polars.read_csv(header + text, separator="\t", columns=list(wanted), quote_char=None, null_values=list(NULLS),
                              schema_overrides={name: _parsed(column) for name, column in wanted.items()})
    data = []
    for column in columns:
        if column.name in constants:
            values = polars.repeat(constants[column.name], n, dtype=polars.String, eager=True)
        elif column.name in raw:
            values = _typed(raw[column.name], column)
        else:
            values = polars.repeat(None, n, dtype=TYPES.get(column.type, polars.String), eager=True)
        data.append(values.alias(column.name))
    return polars.DataFrame(data)


def concat(frames: Sequence[Any]) -> Any:
    return polars.concat(frames)
