# SPDX-License-Identifier: BSD-2-Clause
"""annotated FOLDER AUTO PFW: the regions of tests/workloads/annotated.py by our names of DFTracer (trace FOLDER) are those
that DFTracer wrote for the same annotations (PFW...), and those of --regions auto without any (trace AUTO).

DFTracer: the same regions, of the same epochs and steps, within the same others. Its `iter' and `block' are the wait for an
item and the work on it, of which we have one each. auto: as many fetches, backward passes, steps and checkpoints, in the
same order.
"""
import collections
import json
import pathlib
import sys

import tracefolder

ITEMS = {"dataloader.fetch.iter": "dataloader.fetch", "pipeline.epoch.block": "pipeline.epoch",
         "checkpoint.capture": "checkpoint.save"}
OTHER_HALF = ("dataloader.fetch.block", "pipeline.epoch.iter")
BOTH = ("dataloader.fetch", "compute.backward", "compute.step", "checkpoint.save")


class Region(collections.namedtuple("Region", "name begin end epoch step")):
    def within(self, other):
        """DFTracer's times are in us: a region may end in the microsecond in which the next begins."""
        return other is not self and other.begin <= self.begin and self.end <= other.end and self.end - self.begin < other.end - other.begin


def in_time(regions):
    return sorted(regions, key=lambda r: (r.begin, r.end))


def by_us(trace):
    rows = [row for row in trace["regions"] if row["CAT"] not in ("mark", "meta") and row["ARGS"] != "end=1"]
    return in_time(Region(f"{row['CAT']}.{row['NAME']}", row.n("TIMESTAMP") - row.n("LAT_NS"), row.n("TIMESTAMP"), row["EPOCH"], row["STEP"])
                  for row in rows if row["PID"] == rows[0]["PID"])


def by_dftracer(paths):
    out = []
    for path in paths:
        for line in pathlib.Path(path).read_text().splitlines():
            event = json.loads(line) if line.startswith("{") else {}
            name = f"{event.get('cat')}.{event.get('name')}"
            if event.get("ph") == 1 and event["cat"] not in ("dftracer", "POSIX", "STDIO") and name not in OTHER_HALF:
                args = event["args"]
                out.append(Region(ITEMS.get(name, name), event["ts"], event["ts"] + event["dur"], str(args.get("epoch", "-")), str(args.get("step", "-"))))
    return in_time(out)


def nested(regions):
    """How often each name is within which, innermost first."""
    return collections.Counter((r.name, *(o.name for o in sorted((o for o in regions if r.within(o)), key=lambda o: o.end - o.begin)))
                               for r in regions)


def numbered(regions, *names):
    return sorted((r.name, r.epoch, r.step) for r in regions if r.name in names)


def main():
    trace, auto = tracefolder.Trace(sys.argv[1]), tracefolder.Trace(sys.argv[2])
    ours, theirs, own = by_us(trace), by_dftracer(sys.argv[3:]), by_us(auto)
    trace.require(nested(ours) == nested(theirs), f"ours: {nested(ours)}, DFTracer's: {nested(theirs)}")
    computed = numbered(ours, "compute.forward", "compute.backward", "compute.step")
    trace.require(len(computed) == 3 * 18 and computed == numbered(theirs, "compute.forward", "compute.backward", "compute.step"),
                  f"epochs and steps: {computed}, DFTracer's: {numbered(theirs)}")
    order = [[r.name for r in regions if r.name in BOTH] for regions in (ours, own)]
    trace.require(order[0] == order[1] and len(order[0]) == 3 * 18 + 3, f"in order: {order[0]}, auto {order[1]}")
    trace.require(numbered(ours, "compute.backward", "compute.step") == numbered(own, "compute.backward", "compute.step"),
                  f"epochs and steps of auto: {numbered(own, 'compute.step')}")
    trace.finish()


main()
