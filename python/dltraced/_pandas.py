# SPDX-License-Identifier: BSD-2-Clause
"""Rows as frames of pandas."""
from __future__ import annotations

import csv
import io
from typing import Any, Mapping, Sequence

import numpy
import pandas

from ._columns import NULLS, Column, unescape

# Nullable ones, since a column may have empty fields, and floating point would round its other values.
TYPES = {"int64": "Int64", "uint64": "UInt64", "number": "float64", "time": "datetime64[ns, UTC]"}
TEXT = "string"
BAD_VALUES = (ValueError, OverflowError)  # what frame() raises for a value that is not of its column's type


def _integers(values: Any, null: Any, dtype: str) -> Any:
    digits = values.astype("S")
    digits[null] = b"0"
    return pandas.arrays.IntegerArray(digits.astype(dtype), null)


def _texts(values: Any, null: Any, escaped: bool) -> Any:
    if escaped:
        plain = {text: unescape(text) for text in set(values) if "\\" in text}
        values = numpy.array([plain.get(text, text) for text in values], dtype=object) if plain else values
    return pandas.array(numpy.where(null, pandas.NA, values), dtype=TEXT)


def _typed(values: Any, column: Column, escaped: bool) -> Any:
    null = (values == NULLS[0]) | (values == NULLS[1])
    if column.type in ("int64", "uint64"):
        return _integers(values, null, column.type)
    if column.type == "number":
        return numpy.where(null, "nan", values).astype("float64")
    if column.type == "time":
        return pandas.to_datetime(numpy.where(null, None, values), utc=True)
    return _texts(values, null, escaped and column.type == "text")


def frame(text: bytes, names: Sequence[str], columns: Sequence[Column], constants: Mapping[str, str]) -> Any:
    """The COLUMNS of the rows of TEXT, which have the columns NAMES and CONSTANTS; one that is in neither is null."""
    there = [column.name for column in columns if column.name in names]
    n = text.count(b"\n")
    if n and there:
        raw = pandas.read_csv(io.BytesIO(text), sep="\t", header=None, names=names, usecols=there, dtype=str, na_filter=False,
                              quoting=csv.QUOTE_NONE, lineterminator="\n", encoding="utf-8")
    else:
        raw = {name: numpy.zeros(0, object) for name in there}
    data = {}
    for column in columns:
        if column.name in constants:
            data[column.name] = pandas.array([constants[column.name]] * n, dtype=TEXT)
        elif column.name in names:
            data[column.name] = _typed(numpy.asarray(raw[column.name], dtype=object), column, b"\\" in text)
        else:
            data[column.name] = pandas.Series([None] * n, dtype=TYPES.get(column.type, TEXT))
    return pandas.DataFrame(data)


def concat(frames: Sequence[Any]) -> Any:
    return pandas.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
