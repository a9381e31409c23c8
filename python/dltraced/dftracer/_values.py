# SPDX-License-Identifier: BSD-2-Clause
"""Values of arguments, of whatever type, as fields of a region."""
from __future__ import annotations

import collections.abc
import operator
from typing import Any, Optional

from . import _tally
from ._lenient import Lenient, method
from ._names import WITH_ARGUMENTS, TagDType, TagType

NUMBERS = ("epoch", "step")
NAMES = (*NUMBERS, "image_idx", "image_size")
OWN = (*NUMBERS, "bytes", "lane")  # of a region of ours: integers
OF_DTYPE = {TagDType.INT: int, TagDType.FLOAT: float}


class TagValue(Lenient):
    def __init__(self, value: Any = None, dtype: Any = TagDType.STRING, tag_type: Any = TagType.KEY, *more: Any, **unknown: Any) -> None:
        self._tag_type = tag_type if isinstance(tag_type, TagType) else TagType.KEY
        try:
            self._value = OF_DTYPE.get(dtype, text)(value)
        except Exception:
            _tally.count("TagValue with another type of value")
            self._value = text(value)

    @method("nothing")
    def value(self) -> Any:
        return (int(self._tag_type), self._value)  # type: ignore[call-overload]


def text(value: Any) -> str:
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__}>"


def number(value: Any) -> Optional[int]:
    """VALUE as an integer of 64 bits; None: it is none."""
    try:
        n = operator.index(value)
    except Exception:
        try:
            n = int(value) if isinstance(value, (float, str)) else None  # type: ignore[assignment]
        except (ValueError, OverflowError):
            return None
    return n if n is not None and -(1 << 63) < n < 1 << 63 else None


def plain(value: Any) -> Any:
    """VALUE without DFTracer's tags: a TagValue, or what its value() gives."""
    if isinstance(value, TagValue):
        return value._value
    if isinstance(value, tuple) and len(value) == 2 and value[0] in (0, 1, 2):
        return value[1]
    return value


def fields_of(epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None, args: Any = None) -> dict[str, Any]:
    """What of these is given, as fields of a region. A value that is none for its column is an argument: epoch_=x."""
    if not WITH_ARGUMENTS:
        return {}
    if args is not None and not isinstance(args, collections.abc.Mapping):
        _tally.count(f"args of type {type(args).__name__}")
        args = None
    fields: dict[str, Any] = {}
    for key, value in (*zip(NAMES, (epoch, step, image_idx, image_size)), *(args or {}).items()):
        value, key = plain(value), text(key)
        if value is None:
            continue
        n = number(value) if key in OWN else None
        if key in OWN and n is None or key in ("name", "live"):
            key += "_"
        fields[key] = n if n is not None else value if isinstance(value, (int, float)) else text(value)
    return fields
