# SPDX-License-Identifier: BSD-2-Clause
"""dftracer_tests.py FOLDER [--durations] PFW...: has the trace FOLDER, of a program with our drop-in, as many regions of each name as
DFTracer wrote into PFW... for it? With --durations: and is the time of all of a name the same, within 2 %? Prints their number.

Its `iter' and `block' are the wait for an item and the work on it, of which we have one each; its other names of checkpoints are ours.
"""
import collections
import csv
import json
import sys

NAMES = {"dataloader.fetch.iter": "dataloader.fetch", "pipeline.epoch.block": "pipeline.epoch", "checkpoint.capture": "checkpoint.save",
         "checkpoint.restart": "checkpoint.load"}
OTHER_HALF = ("dataloader.fetch.block", "pipeline.epoch.iter")
MAY_DIFFER = 0.02


def theirs(files):
    """Returns {name: [ns of each region]}."""
    found = collections.defaultdict(list)
    for file in files:
        with open(file, encoding="utf-8") as f:
            for line in f:
                event = json.loads(line.rstrip().rstrip(",")) if line.startswith("{") else {}
                name = f"{event.get('cat', '').lower()}.{event.get('name')}"
                if "dur" in event and event["cat"] not in ("POSIX", "STDIO", "dftracer") and name not in OTHER_HALF:
                    found[NAMES.get(name, name)].append(1000 * event["dur"])
    return found


def ours(folder):
    with open(f"{folder}/regions.out", encoding="utf-8") as f:
        next(f)
        rows = list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
    found = collections.defaultdict(list)
    for row in rows:
        if row["CAT"] not in ("mark", "meta") and row["ARGS"] != "end=1":  # behind the last item
            found[f"{row['CAT'].lower()}.{row['NAME']}"].append(int(row["LAT_NS"]))
    return found


def counts(durations):
    return collections.Counter({name: len(each) for name, each in durations.items()})


def main():
    folder, *files = sys.argv[1:]
    with_durations = "--durations" in files
    wanted, got = theirs(file for file in files if file != "--durations"), ours(folder)
    if counts(got) != counts(wanted):
        sys.exit(f"DFTracer's, not ours: {counts(wanted) - counts(got)}; ours, not DFTracer's: {counts(got) - counts(wanted)}")
    if with_durations:
        off = {name: (sum(each), sum(got[name])) for name, each in wanted.items()
               if abs(sum(got[name]) - sum(each)) > MAY_DIFFER * sum(each)}
        if off:
            sys.exit(f"ns of DFTracer's and of ours: {off}")
    print(sum(counts(got).values()))


main()
