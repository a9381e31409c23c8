# SPDX-License-Identifier: BSD-2-Clause
"""summary_files FOLDERS SUMMARIES: has the JSON of the report on SUMMARIES all of that on FOLDERS, but what it names?"""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    folders = json.load(f)
with open(sys.argv[2], encoding="utf-8") as f:
    summaries = json.load(f)

lacks = set(summaries.pop("not_in_summaries"))
seen = 0


def compare(a, b, path):
    global seen
    if isinstance(a, dict) and isinstance(b, dict):
        for key in a.keys() | b.keys():
            inner = f"{path}.{key}" if path else key
            if inner in lacks and key not in b:
                continue
            if key not in a or key not in b:
                sys.exit(f"{inner}: only in the report on {'summaries' if key in b else 'folders'}")
            compare(a[key], b[key], inner)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for x, y in zip(a, b):
            compare(x, y, path + "[]")
    elif a != b:
        sys.exit(f"{path}: {a} by the folders, {b} by the summaries")
    else:
        seen += 1


compare(folders, summaries, "")
if seen < 300 or not folders["missing_reasons"]:
    sys.exit(f"only {seen} values compared, {len(folders['missing_reasons'])} reasons")
