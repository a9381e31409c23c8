# SPDX-License-Identifier: BSD-2-Clause
"""The names of DFTracer's API for Python, so that a program written for it leaves regions in a trace of dltraced. It has no
files of its own, never raises into the program, and says at the end of the job what has no meaning here.

    import dltraced.dftracer; dltraced.dftracer.install()
    from dftracer.python import dftracer, dft_fn

`dltraced start` and `python -m dltraced` need no install(). It provides `dftracer` only where the real package cannot be
imported; install(replace=True) in any case.

image_idx and image_size are arguments of a region under these names. A name of a region is "category.name".
"""
from __future__ import annotations

from ._log import dft_fn, dftracer
from ._place import install
from ._tree import ai

__all__ = ["ai", "dft_fn", "dftracer", "install"]
