# SPDX-License-Identifier: BSD-2-Clause
"""Marks the regions of a program that knows nothing of them, and of each Python that it starts: with this folder first in
PYTHONPATH, Python imports this file at its start. `dltraced start --regions auto` and `python -m dltraced` set it so.

The sitecustomize that would have been imported without it is imported after it, in its place. sys.path is afterwards as it
would have been.
"""
import os
import sys


def _package():
    """The package, that of the interpreter where it has one: that may have the extension. Else the one that we are in."""
    import importlib.util

    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if importlib.util.find_spec("dltraced") is not None:
        return
    spec = importlib.util.spec_from_file_location("dltraced", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
    module = importlib.util.module_from_spec(spec)
    sys.modules["dltraced"] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules["dltraced"]
        raise


def _mark():
    if os.environ.get("DLTRACED_REGIONS") == "0" or sys.version_info < (3, 9):
        return
    try:
        _package()
        import dltraced.auto

        dltraced.auto.install()
    except Exception as error:  # the program is to run as if we were not here
        sys.stderr.write(f"dltraced: no regions of this program, as its package does not load: {error!r}\n")


def _next_one():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != here]
    ours = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        if ours is not None:
            sys.modules["sitecustomize"] = ours  # the import system asks for it


if __name__ == "sitecustomize":
    _mark()
    _next_one()
