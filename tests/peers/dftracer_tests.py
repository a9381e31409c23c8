# SPDX-License-Identifier: BSD-2-Clause
"""dftracer_tests.py FOLDER PFW...: has the trace FOLDER, of a program with our drop-in, as many regions of each name as DFTracer wrote into
PFW... for it? Prints their number.

Its `iter' and `block' are the wait for an item and the work on it, of which we have one each; its other names of checkpoints are ours.
"""
import collections
import csv
import json
import sys

NAMES = {"dataloader.fetch.iter": "dataloader.fetch", "pipeline.epoch.block": "pipeline.epoch", "checkpoint.capture": "checkpoint.save",
         "checkpoint.restart": "checkpoint.load"}
OTHER_HALF = ("dataloader.fetch.block", "pipeline.epoch.iter")


def theirs(files):
    found = collections.Counter()
    for file in files:
        with open(file, encoding="utf-8") as f:
            for line in f:
                event = json.loads(line.rstrip().rstrip(",")) if line.startswith("{") else {}
                name = f"{event.get('cat', '').lower()}.{event.get('name')}"
                if "dur" in event and event["cat"] not in ("POSIX", "STDIO", "dftracer") and name not in OTHER_HALF:
                    found[NAMES.get(name, name)] += 1
    return found


def ours(folder):
    with open(f"{folder}/regions.out", encoding="utf-8") as f:
        next(f)
        rows = list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
    return collections.Counter(f"{row['CAT'].lower()}.{row['NAME']}" for row in rows
                               if row["CAT"] not in ("mark", "meta") and row["ARGS"] != "end=1")  # behind the last item


def main():
    wanted, got = theirs(sys.argv[2:]), ours(sys.argv[1])
    if got != wanted:
        sys.exit(f"DFTracer's, not ours: {wanted - got}; ours, not DFTracer's: {got - wanted}")
    print(sum(got.values()))


main()
