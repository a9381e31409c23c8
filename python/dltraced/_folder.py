# SPDX-License-Identifier: BSD-2-Clause
"""Trace folders: which of them a path means, the host of each, and the segments of a file."""
from __future__ import annotations

import glob
import json
import os
import re
from typing import Any, Dict, Iterable, List, NamedTuple, Union

Path = Union[str, "os.PathLike[str]"]
SEGMENT = re.compile(r"(?P<name>[a-z_]+)(?:\.(?P<number>[0-9]+))?\.out(?P<packing>\.gz|\.zst)?")


class Host(NamedTuple):
    name: str
    folder: str


def manifest(folder: str) -> Dict[str, Any]:
    """The manifest of FOLDER; empty where it is missing or not whole."""
    try:
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8", errors="replace") as f:
            facts = json.load(f)
    except (OSError, ValueError):
        facts = None
    return facts if isinstance(facts, dict) else {}


def _name_of(folder: str) -> str:
    """The manifest's host, else the name of the folder."""
    host = manifest(folder).get("host")
    return host if isinstance(host, str) and host else os.path.basename(os.path.abspath(folder))


def _folders(path: Union[Path, Iterable[Path]]) -> List[str]:
    if not isinstance(path, (str, os.PathLike)):
        return [folder for each in path for folder in _folders(each)]
    named = os.fspath(path)
    found = [named] if os.path.isdir(named) else sorted(f for f in glob.glob(named) if os.path.isdir(f))
    if not found:
        raise FileNotFoundError(f"{named}: there is no such trace folder")
    return found


def hosts(path: Union[Path, Iterable[Path]]) -> List[Host]:
    """The traces at PATH: a folder, a pattern, or several of them. One that is named twice counts once."""
    once: Dict[str, Host] = {}
    for folder in _folders(path):
        if not any(SEGMENT.fullmatch(name) for name in os.listdir(folder)):
            raise FileNotFoundError(f"{folder}: no trace: it has no .out file")
        once.setdefault(os.path.realpath(folder), Host(_name_of(folder), folder))
    return list(once.values())


def segments(folder: str, probe: str) -> List[str]:
    """The files of PROBE.out in the order of their rows; of one that is there plain and packed, the plain one."""
    found: Dict[float, str] = {}
    for name in sorted(os.listdir(folder)):  # plain before packed
        parts = SEGMENT.fullmatch(name)
        if parts and parts["name"] == probe:
            found.setdefault(float(parts["number"] or "inf"), os.path.join(folder, name))
    return [found[number] for number in sorted(found)]
