# SPDX-License-Identifier: BSD-2-Clause
"""What DFTracer has for torch.compile and PyTorch's profiler: accepted, and counted, as it leaves no regions here."""
from __future__ import annotations

import dataclasses
import importlib.util
import logging
from typing import Any

from . import _tally
from ._lenient import method
from ._names import CAT_DYNAMO
from ._tree import DFTracerAI
from ._values import text

TORCH_AVAILABLE = importlib.util.find_spec("torch") is not None


@dataclasses.dataclass
class CallStackRecord:
    op_name: str = ""
    op_type: str = ""
    target: str = ""
    timestamp_us: int = 0
    grad_enabled: bool = False


class Dynamo(DFTracerAI):
    def __init__(self, name: Any = None, *given: Any, **named: Any) -> None:
        super().__init__(CAT_DYNAMO, name, *given, **named)
        self.call_stack: list[CallStackRecord] = []

    @method("function")
    def compile(self, f_py: Any = None, autograd: Any = True) -> Any:
        """The function as it is: operations of its graph are not regions."""
        _tally.count("Dynamo.compile")
        return f_py if callable(f_py) else lambda function=None, *more: function

    @method("nothing")
    def add_enhanced_timing_to_graph(self, gm: Any = None) -> Any:
        _tally.count("Dynamo.add_enhanced_timing_to_graph")
        return gm

    @method("nothing")
    def count_parameters(self, module: Any = None) -> Any:
        return int(sum(p.numel() for p in module.parameters())) if hasattr(module, "parameters") else None


dynamo = Dynamo()


def create_backend(*given: Any, **named: Any) -> Any:
    """A backend of torch.compile that runs the graph as it is."""
    _tally.count("create_backend")
    return lambda gm=None, *more, **options: getattr(gm, "forward", gm)


def create_detailed_op_name(node: Any = None, gm: Any = None) -> str:
    return f"{text(getattr(node, 'op', 'unknown'))}.{text(getattr(node, 'target', 'unknown')).replace('.', '_')}"


def trace_handler(*profiler_result: Any) -> None:
    """For on_trace_ready of PyTorch's profiler, whose events have ended long ago."""
    _tally.count("trace_handler")


def capture_signal(*args: Any) -> None:
    """Signals stay the program's."""


def get_default_args(func: Any = None, *more: Any) -> dict[str, Any]:
    import inspect
    try:
        return {k: v.default for k, v in inspect.signature(func).parameters.items() if v.default is not inspect.Parameter.empty}
    except (TypeError, ValueError):
        return {}


def get_time_scale(*more: Any) -> float:
    """Units of get_time() a second."""
    return 1e6


def setup_logger(name: Any = "dftracer_dbg", *more: Any, **named: Any) -> logging.Logger:
    """A logger without a file."""
    return logging.getLogger(text(name))


def setup_stream_logger(*more: Any, **named: Any) -> logging.Logger:
    return logging.getLogger("DFTRACER")


logger = logging.getLogger("DFTRACER")
