# SPDX-License-Identifier: BSD-2-Clause
"""requests TRACE TALLY PREFIX [N]: are the rows whose FUNC begins with PREFIX what the tally says?

TALLY is the -T file of the workload "aio": a line for each row, the file and COLUMN=VALUE with TABs between. Each line
has its own row, and no row is left over; N may be missing if the manifest counts them as lost.
"""
import collections
import sys

import probes
import tracefolder


def wanted(path):
    with open(path, "rb") as f:
        for line in f.read().decode(errors="surrogateescape").splitlines():
            name, *fields = line.split("\t")
            if fields:
                yield name, tuple(field.partition("=")[::2] for field in fields)


def main():
    folder, tally, prefix = sys.argv[1:4]
    may_lack = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    trace = tracefolder.Trace(folder)
    left = {(name, i): row for name in probes.OF_CALLS for i, row in enumerate(trace.files.get(name, ()))}
    missing = []
    shapes = collections.defaultdict(list)
    for name, fields in wanted(tally):
        shapes[name, tuple(column for column, _ in fields)].append(tuple(value for _, value in fields))
    # the lines with the most columns first: a line with fewer columns must not take their rows
    for (name, columns), lines in sorted(shapes.items(), key=lambda s: -len(s[0][1])):
        index = collections.defaultdict(list)
        for key, row in left.items():
            if key[0] == name:
                index[tuple(row[c] for c in columns)].append(key)
        for values in lines:
            if index[values]:
                del left[index[values].pop()]
            else:
                missing.append(f"no row in {name} with " + " ".join(map("=".join, zip(columns, values))))
    lost = sum(p["lost"] for p in trace.manifest["probes"])
    trace.require(len(missing) <= may_lack and lost == len(missing), f"{len(missing)} rows missing, {lost} lost")
    trace.broken += missing if len(missing) != lost else []
    for (name, _), row in left.items():
        trace.require(not row["FUNC"].startswith(prefix), f"in {name}, not in the tally: {dict(row)}")
    trace.finish()


main()
