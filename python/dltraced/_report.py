# SPDX-License-Identifier: BSD-2-Clause
"""What `dltraced report' finds in traces."""
from __future__ import annotations

from typing import Any, Dict, Iterable, Union

from . import _folder, _program
from ._folder import Path


def report(path: Union[Path, Iterable[Path]]) -> Dict[str, Any]:
    """The object of `dltraced report --json' (docs/report-json.md) on the traces at PATH: a folder, a pattern, or a list of
    them, which are the hosts of one job. Its "bottleneck" is the verdict."""
    return _program.json_of("report", "--json", *(host.folder for host in _folder.hosts(path)))
