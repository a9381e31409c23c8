# SPDX-License-Identifier: BSD-2-Clause
"""fids TRACE: every FID of any row has its row in files.out, even if rows were lost."""
import csv
import glob
import os
import sys


def fids(path):
    with open(path, encoding="ascii", newline="") as f:
        next(f)
        return {row.get("FID", "-") for row in csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE)}


known = fids(os.path.join(sys.argv[1], "files.out")) | {"-", "?"}
for name in glob.glob(os.path.join(sys.argv[1], "*.out")):
    missing = fids(name) - known
    if missing:
        sys.exit(f"{os.path.basename(name)}: not in files.out: FID {', '.join(sorted(missing))}")
