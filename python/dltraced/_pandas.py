# SPDX-License-Identifier: BSD-2-Clause
"""
Rows as frames of pandas.

With pyarrow its parser makes the columns, which is several times as fast as pandas' own with these types, and they become
those of pandas at the end, one after the other. Without it pandas parses.
"""
from __future__ import annotations

import csv
import io
from typing import Any, Dict, List, Mapping, Sequence

import numpy
import pandas

from ._columns import NULLS, Column, unescape

try:
    from . import _pyarrow
except ModuleNotFoundError:
    _pyarrow = None  # type: ignore[assignment]

# Nullable ones, since a column may have empty fields, and floating point would round its other values.
TYPES = {"int64": "Int64", "uint64": "UInt64", "number": "float64", "time": "datetime64[ns, UTC]"}
TEXT = "string"
SAMPLE_ROWS = 1000
# what part() and concat() raise for a value that is not of its column's type
BAD_VALUES = (ValueError, OverflowError) + (_pyarrow.BAD_VALUES if _pyarrow else ())


def _type_of(column: Column) -> Any:
    return pandas.api.types.pandas_dtype(TYPES.get(column.type, TEXT))


# --- by pandas -------------------------------------------------------------------------------------------------------


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
    if values.dtype != object:  # parsed as integers, as there are no empty ones
        return pandas.arrays.IntegerArray(values, numpy.zeros(len(values), bool))
    null = (values == NULLS[0]) | (values == NULLS[1])
    if column.type in ("int64", "uint64"):
        return _integers(values, null, column.type)
    if column.type == "number":
        return numpy.where(null, "nan", values).astype("float64")
    if column.type == "time":
        return pandas.to_datetime(numpy.where(null, None, values), utc=True).astype(TYPES["time"])
    return _texts(values, null, escaped and column.type == "text")


def _parse(text: bytes, names: Sequence[str], types: Mapping[str, str], rows: Any = None) -> Any:
    return pandas.read_csv(io.BytesIO(text), sep="\t", header=None, index_col=False, names=names, usecols=list(types), dtype=dict(types),
                           na_filter=False, quoting=csv.QUOTE_NONE, lineterminator="\n", encoding="utf-8", nrows=rows)


def _raw(text: bytes, names: Sequence[str], wanted: Mapping[str, Column]) -> Any:
    """Columns of text, and of integers where none is empty: pandas parses those itself."""
    types = {name: "str" for name in wanted}
    sample = _parse(text, names, types, SAMPLE_ROWS)
    whole = {name: column.type for name, column in wanted.items()
             if column.type in ("int64", "uint64") and not sample[name].isin(NULLS).any()}
    try:
        return _parse(text, names, {**types, **whole})
    except (ValueError, OverflowError):
        return _parse(text, names, types)


def _by_pandas(text: bytes, names: Sequence[str], columns: Sequence[Column], constants: Mapping[str, str]) -> Dict[str, Any]:
    wanted = {column.name: column for column in columns if column.name in names}
    n = text.count(b"\n")
    raw = _raw(text, names, wanted) if n and wanted else {name: numpy.zeros(0, object) for name in wanted}
    data = {}
    for column in columns:
        if column.name in constants:
            data[column.name] = pandas.array([constants[column.name]] * n, dtype=TEXT)
        elif column.name in names:
            values = raw.pop(column.name)
            is_number = len(values) and values.dtype.kind in "iu"
            data[column.name] = _typed(values.to_numpy() if is_number else numpy.asarray(values, dtype=object), column, b"\\" in text)
        else:
            data[column.name] = pandas.array([None] * n, dtype=_type_of(column))
    return data


# --- by pyarrow ------------------------------------------------------------------------------------------------------


def _by_pyarrow(text: bytes, names: Sequence[str], columns: Sequence[Column], constants: Mapping[str, str]) -> Dict[str, Any]:
    table = _pyarrow.part(text, names, columns, constants)
    return {column.name: _Arrow(table.column(column.name), _type_of(column)) for column in columns}


class _Arrow:
    """A column that is still pyarrow's, and the type that it gets."""

    def __init__(self, values: Any, dtype: Any) -> None:
        self.values, self.dtype = values, dtype


def _from_arrow(parts: List[_Arrow]) -> Any:
    dtype = parts[0].dtype
    chunks = [chunk for part in parts for chunk in part.values.chunks]
    values = _pyarrow.pyarrow.chunked_array(chunks, parts[0].values.type)
    return dtype.__from_arrow__(values) if hasattr(dtype, "__from_arrow__") else values.to_numpy()


# --- both ------------------------------------------------------------------------------------------------------------

part = _by_pyarrow if _pyarrow else _by_pandas


def _joined(parts: List[Any]) -> Any:
    if isinstance(parts[0], _Arrow):
        return _from_arrow(parts)
    return parts[0] if len(parts) == 1 else pandas.concat([pandas.Series(values, copy=False) for values in parts], ignore_index=True)


def concat(parts: Sequence[Dict[str, Any]]) -> Any:
    """A frame of the rows of PARTS, whose columns it takes out of them: one after the other, so that none is there twice for long."""
    return pandas.DataFrame({name: _joined([part.pop(name) for part in parts]) for name in list(parts[0])}, copy=False)


def frame(text: bytes, names: Sequence[str], columns: Sequence[Column], constants: Mapping[str, str]) -> Any:
    """The COLUMNS of the rows of TEXT, which have the columns NAMES and CONSTANTS; one that is in neither is null."""
    return concat([part(text, names, columns, constants)])
