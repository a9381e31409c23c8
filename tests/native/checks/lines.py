# SPDX-License-Identifier: BSD-2-Clause
"""lines TRACE: every line but the last one is whole, in a trace that need not be complete."""
import glob
import os
import sys

for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.out"))):
    with open(path, "rb") as f:
        lines = f.read().split(b"\n")
    name = os.path.basename(path)
    last = 0
    if not lines[0].startswith(b"# dltraced "):
        sys.exit(f"{name}: no header: {lines[0]}")
    for nr, line in enumerate(lines[2:-1], 3):
        if line.startswith(b"#"):
            continue
        fields = line.split(b"\t")
        if len(fields) != lines[1].count(b"\t") + 1 or b"" in fields:
            sys.exit(f"{name}:{nr}: not the columns of the header: {line}")
        if int(fields[0]) < last:
            sys.exit(f"{name}:{nr}: comes after {last}")
        last = int(fields[0])
