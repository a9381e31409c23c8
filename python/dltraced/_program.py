# SPDX-License-Identifier: BSD-2-Clause
"""The program dltraced: where it is, and the JSON that it prints."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from typing import Any, Optional

FAILED = 125  # with other statuses there is an answer, of a damaged trace too


def _installed_with_us() -> Optional[str]:
    """The program of the wheel that this package is of: where the interpreter's scheme has programs, as a virtual environment's
    bin/, which need not be in PATH; or for --user. None for a package that came another way."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for scheme in (None, f"{os.name}_user"):
        paths = sysconfig.get_paths(scheme) if scheme else sysconfig.get_paths()
        program = os.path.join(paths["scripts"], "dltraced")
        if os.path.realpath(here) == os.path.realpath(paths["purelib"]) and os.access(program, os.X_OK):
            return program
    return None


def find() -> str:
    named = os.environ.get("DLTRACED_PROGRAM")
    found = shutil.which(named) if named else _installed_with_us() or shutil.which("dltraced")
    if not found:
        named = named or "dltraced"
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
