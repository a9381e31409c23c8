# SPDX-License-Identifier: BSD-2-Clause
"""python -m dltraced PROGRAM ARG...: runs PROGRAM (a file, -m MODULE, -c TEXT), as `python PROGRAM ARG...` does, with its
regions marked. Only PYTHONPATH is another: see site/sitecustomize.py. python -m dltraced plot ...: draws a figure of a trace."""
from __future__ import annotations

import os
import subprocess
import sys

SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")


def plot() -> None:
    try:
        from ._plot import main as draw
    except ModuleNotFoundError as error:
        sys.exit(f"dltraced: a figure needs the package {error.name}: pip install {error.name}")
    draw(sys.argv[2:])


def main() -> None:
    if sys.argv[1:2] == ["plot"]:  # a program of that name is ./plot
        return plot()
    if sys.argv[1:2] in (["--version"], ["-V"]):  # of this package: the interpreter would print its own
        from . import __version__
        print(f"dltraced {__version__}")
        return None
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print("usage: python -m dltraced PROGRAM [ARG...]\n"
              "       python -m dltraced plot KIND DIR... -o FILE\n"
              "       python -m dltraced --version\n\n"
              "Runs a Python program (a file, -m MODULE or -c TEXT) with its fetches, batches, steps, backward passes,\n"
              "checkpoints and collectives of PyTorch marked as regions, for a trace by dltraced. With plot: draws a figure of\n"
              "a trace, for a paper; `python -m dltraced plot --help' lists the kinds.")
        sys.exit(0 if len(sys.argv) > 1 else 2)
    if sys.flags.ignore_environment or sys.flags.no_site:
        sys.exit("dltraced: -E, -I and -S keep Python from reading PYTHONPATH: regions cannot be marked; leave them out")
    if sys.version_info < (3, 9):
        sys.exit("dltraced: needs Python 3.9 or later")
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = SITE + (os.pathsep + before if before else "")
    os.environ.setdefault("DLTRACED_REGIONS", "all")  # however short the steps are (auto.py)
    # the options of this interpreter, as multiprocessing passes them on
    options = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    os.execv(sys.executable, [sys.executable, *options, *sys.argv[1:]])


if __name__ == "__main__":
    main()
