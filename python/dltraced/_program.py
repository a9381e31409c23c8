# SPDX-License-Identifier: BSD-2-Clause
"""The program dltraced: where it is, and the JSON that it prints."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any

FAILED = 125  # with other statuses there is an answer, of a damaged trace too


def find() -> str:
    named = os.environ.get("DLTRACED_PROGRAM", "dltraced")
    found = shutil.which(named)
    if not found:
        raise FileNotFoundError(f"the program {named} was not found; install dltraced (docs/install.md), or set "
                                "DLTRACED_PROGRAM to its path")
    return found


def json_of(*args: str) -> Any:
    """What `dltraced ARGS...' prints. Raises RuntimeError with its messages where it fails."""
    run = subprocess.run([find(), *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if run.returncode == FAILED or run.returncode < 0 or not run.stdout:
        messages = run.stderr.decode(errors="backslashreplace").strip() or f"status {run.returncode}"
        raise RuntimeError(f"`dltraced {' '.join(args)}' failed: {messages}")
    return json.loads(run.stdout)
