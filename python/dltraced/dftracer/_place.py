# SPDX-License-Identifier: BSD-2-Clause
"""The modules that a program imports as `dftracer'."""
from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
import types
from typing import Any, Optional

from . import _log, _names, _torch, _tree, _values
from ._lenient import unknown

ENVIRONMENT = "DLTRACED_DFTRACER"  # for the Pythons that this one starts: see ../site/sitecustomize.py
SITE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "site")
# All have all names, whichever version has them where: `logger' is 1.x's.
MODULES = ("dftracer", "dftracer.dftracer", "dftracer.dftracer_dbg", "dftracer.logger", "dftracer.python",
           *(f"dftracer.python.{name}" for name in
             ("ai", "ai_common", "ai_init", "common", "dbg", "dbg.ai", "dbg.logger", "dbg.torch", "dbg.torch.profiler", "dynamo", "env",
              "logger", "torch", "torch.common", "torch.profiler")))
NATIVE = ("dftracer.dftracer", "dftracer.dftracer_dbg")
FUNCTIONS = ("declare_entity", "declare_entity_type", "enter_event", "exit_event", "finalize", "get_config", "get_time", "initialize",
             "log_event", "log_metadata_event", "mark_used", "relate_entities", "set_app_metadata_int", "set_app_metadata_string")


def _all_names() -> dict[str, Any]:
    names: dict[str, Any] = {}
    for module in (_names, _values, _log, _tree, _torch):
        names.update((name, value) for name, value in vars(module).items()
                     if not name.startswith("_") and not isinstance(value, types.ModuleType) and name not in ("annotations", "Any", "Optional"))
    names.update(_tree.ai._children)
    names.update(ai=_tree.ai, profiler=_log.dftracer.get_instance(), NoOpProfiler=_log.dftracer, ProfilerProtocol=_log.dftracer)
    return names


def _fill(module: Any) -> None:
    name = module.__name__
    for below in MODULES:  # first, as there, where a name stands for what has it in its module
        if below.rpartition(".")[0] == name:
            importlib.import_module(below)
    if name in NATIVE:
        module.__dict__.update((each, getattr(_log.dftracer.get_instance(), each)) for each in FUNCTIONS)
    elif name != "dftracer":
        module.__dict__.update(_all_names())
    module.__version__ = "2.2.0"
    module.__getattr__ = lambda attribute: unknown(name, attribute)


class Finder:
    """Finds the modules, and is their loader."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Optional[importlib.machinery.ModuleSpec]:
        if name not in MODULES:
            return None
        is_package = any(each.startswith(name + ".") for each in MODULES)
        return importlib.machinery.ModuleSpec(name, Finder, origin="dltraced", is_package=is_package)  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: Any) -> Any:
        return None

    @staticmethod
    def exec_module(module: Any) -> None:
        _fill(module)


def _is_ours(module: Any) -> bool:
    return getattr(getattr(module, "__spec__", None), "loader", None) is Finder


def install(replace: bool = False) -> bool:
    """Puts `dftracer` in its place, so that it can be imported, here and in the Pythons that this one starts; not where the
    real one can, unless it is to REPLACE that. Returns whether it did."""
    if _is_ours(sys.modules.get("dftracer")):
        return True
    found = None if "dftracer" in sys.modules else importlib.util.find_spec("dftracer")
    if not replace and ("dftracer" in sys.modules or found is not None and found.loader is not Finder):
        return False
    for name in [name for name in sys.modules if name == "dftracer" or name.startswith("dftracer.")]:
        del sys.modules[name]
    if Finder not in sys.meta_path:
        sys.meta_path.insert(0, Finder)  # type: ignore[arg-type]
    _for_children(replace)
    return True


def _for_children(replace: bool) -> None:
    """Puts our site folder into PYTHONPATH where it is not: else a `spawn' child, which imports the program's main file
    without whoever called install(), would fail, and a pool would start it again and again."""
    before = os.environ.get("PYTHONPATH")
    first = before.split(os.pathsep)[0] if before else ""
    there = os.path.exists(os.path.join(first, "_mark.py"))
    if replace or not there:
        os.environ[ENVIRONMENT] = " ".join((*(("replace",) if replace else ()), *(() if there else ("only",))))
    if not there:
        os.environ["PYTHONPATH"] = SITE + (os.pathsep + before if before else "")
