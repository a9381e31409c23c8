# SPDX-License-Identifier: BSD-2-Clause
"""Rows as frames of Dask: a partition for each block, which is read where it is needed."""
from __future__ import annotations

from typing import Any, Callable, Sequence

import dask.dataframe

from ._pandas import BAD_VALUES, frame as part

BLOCKS = 4  # a partition
__all__ = ["BAD_VALUES", "BLOCKS", "part", "partitions"]


def partitions(load: Callable[[Any], Any], parts: Sequence[Any], empty: Any) -> Any:
    """LOAD of each of PARTS is a partition; EMPTY has their columns and types."""
    if not parts:
        return dask.dataframe.from_pandas(empty, npartitions=1)
    return dask.dataframe.from_map(load, parts, meta=empty)
