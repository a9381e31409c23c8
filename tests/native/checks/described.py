# SPDX-License-Identifier: BSD-2-Clause
"""Are the members of a JSON report described: by `dltraced report --columns', or in docs/report-json.md?"""
import os
import re
import subprocess
import sys

PAGE = os.path.join(os.path.dirname(__file__), "../../../docs/report-json.md")


def keys(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)


def expect_all(report):
    """Exits where a member of the report, at any depth, is neither among the columns nor on the page."""
    columns = subprocess.run([os.environ["DLT"], "report", "--columns"], check=True, capture_output=True, text=True).stdout
    with open(PAGE, encoding="utf-8") as f:
        page = re.sub("^```.*?^```$", "", f.read(), flags=re.DOTALL | re.MULTILINE)
    names = set(re.split(r"[.\[\]]+", ".".join(re.findall("`([^`]+)`", columns + page))))
    for key in sorted(set(keys(report))):
        if key not in names:
            sys.exit(f"neither dltraced report --columns nor docs/report-json.md describes {key}")
