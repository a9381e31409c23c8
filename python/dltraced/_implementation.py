# SPDX-License-Identifier: BSD-2-Clause
"""The extension where it was built, else the same in Python; nothing that does anything under DLTRACED_REGIONS=0."""
from __future__ import annotations

import importlib
import os
from typing import Any

# include/dltraced.h
WHOLE, MARK, META = 3, 4, 5
SOURCE_TORCH = 1


def _load() -> Any:
    wanted = () if os.environ.get("DLTRACED_REGIONS") == "0" else ("_region", "_fallback")
    for name in (*wanted, "_off"):
        try:
            return importlib.import_module(f"{__package__}.{name}")
        # no ctypes, a C library without prctl, an extension for a later Python: the program goes on
        except (ImportError, AttributeError, OSError, SystemError):
            if name == "_off":
                raise


_module = _load()
ENABLED = not _module.__name__.endswith("._off")
Iterator, Region, region = _module.Iterator, _module.Region, _module.region
send, timed_function, with_source = _module.send, _module.timed_function, _module.with_source
