# SPDX-License-Identifier: BSD-2-Clause
"""dftracer_names.py: each public name of DFTracer's wheel (dftracer_names.txt) is there, and known: not one of those that
are accepted without being known. Prints how many."""
import importlib
import pathlib
import sys

import dltraced.dftracer

dltraced.dftracer.install()
from dltraced.dftracer import _tally

unknown = []
_tally.count = unknown.append
n = 0
for line in pathlib.Path(__file__).with_suffix(".txt").read_text().splitlines()[1:]:
    where, *names = line.split()
    for module in ["dftracer.python"] if where[0] == "." else where.split(","):
        importlib.import_module(module)
        of = sys.modules[module]
        for name in names:
            n += 1
            getattr(getattr(of, where[1:]) if where[0] == "." else of, name)
importlib.import_module("dftracer.python").no_such_name  # the near miss
print(n, *unknown)
