# SPDX-License-Identifier: BSD-2-Clause
"""Marks the regions of a program that knows nothing of them, and of each Python that it starts: with this folder first in
PYTHONPATH, Python imports this file at its start. `dltraced start` and `python -m dltraced` set it so.

It is small, since each Python pays for it; what marks is loaded by those that import torch, or DFTracer where nobody else
has it. The sitecustomize that would have been imported without it is imported after it, in its place, and sys.path is as it
would have been. Python 2 can read this file, and has no regions.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DFTRACER = os.environ.get("DLTRACED_DFTRACER", "")  # what an install() of dltraced.dftracer asks of its children


def mark(what):
    """Calls the function WHAT of _mark.py."""
    with open(os.path.join(HERE, "_mark.py")) as source:
        there = {"HERE": HERE}
        exec(compile(source.read(), source.name, "exec"), there)
    return there[what]()


class Torch(object):
    """A finder that finds nothing, and sees when torch is imported."""
    seen = os.environ.get("DLTRACED_REGIONS") == "0" or "only" in DFTRACER or sys.version_info < (3, 9)

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == "torch" and not cls.seen:
            cls.seen = True
            mark("torch")


class Dftracer(object):
    """A finder of DFTracer's modules, which are ours where nobody else has them."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == "dftracer" or name.startswith("dftracer."):
            finder = mark("dftracer")
            return finder and finder.find_spec(name)


def next_one():
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != HERE]
    ours = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
        if ours is not None:
            sys.modules["sitecustomize"] = ours  # the import system asks for it


if __name__ == "sitecustomize":
    sys.meta_path.insert(0, Torch)
    next_one()
    if sys.version_info >= (3, 9):
        sys.meta_path.insert(0 if "replace" in DFTRACER else len(sys.meta_path), Dftracer)
