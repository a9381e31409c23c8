# SPDX-License-Identifier: BSD-2-Clause
"""Medians over the rounds of what bench.py measured."""
from statistics import median

YARDSTICK_NS = 20  # less than two empty hooks add anywhere


class Figures:
    def __init__(self, results):
        self.results = results
        self.runs = {}
        for r in results["runs"]:
            if "failed" not in r:
                self.runs.setdefault((r["workload"], r["tracer"]), []).append(r)

    def of(self, workload, tracer):
        return self.runs.get((workload, tracer), [])

    def values(self, workload, tracer, key):
        return [r[key] for r in self.of(workload, tracer) if key in r]

    def median(self, workload, tracer, key):
        values = self.values(workload, tracer, key)
        return median(values) if values else None

    def untraced(self, workload, key, nr):
        """Of the same round: most have several, since all else is compared with it."""
        values = [r[key] for r in self.of(workload, "none") if r["round"] == nr]
        return median(values) if values else None

    def added(self, workload, tracer, key):
        """What the tracer added to a call, ns, a value a round."""
        return [r[key] - self.untraced(workload, key, r["round"]) for r in self.of(workload, tracer)
                if self.untraced(workload, key, r["round"]) is not None]

    def slowdown(self, workload, tracer, key="wall_ns"):
        return [r[key] / self.untraced(workload, key, r["round"]) for r in self.of(workload, tracer)
                if self.untraced(workload, key, r["round"])]

    def ratio(self, workload, tracer, key, to="dltraced"):
        """Medians of what this tracer added, and of what the other did: how many times as much."""
        ours, theirs = self.added(workload, to, key), self.added(workload, tracer, key)
        if not ours or not theirs or median(ours) <= 0:
            return None
        return median(theirs) / median(ours)

    def ratios(self, workload, tracer, key, to="dltraced"):
        """The same, a value a round; a round in which the other added nothing has none."""
        ours = {r["round"]: r[key] - self.untraced(workload, key, r["round"]) for r in self.of(workload, to)
                if self.untraced(workload, key, r["round"]) is not None}
        return [(r[key] - self.untraced(workload, key, r["round"])) / ours[r["round"]]
                for r in self.of(workload, tracer) if ours.get(r["round"], 0) > 0]

    def cpu_per_million(self, workload, tracer):
        """Seconds of the tracer's own CPU for a million rows, a value a round."""
        return [r["tracer_cpu_ns"] / r["rows"] / 1000 for r in self.of(workload, tracer)
                if r.get("tracer_cpu_ns") and r["rows"]]

    def bytes_per_row(self, workload, tracer):
        values = [r["bytes"] / r["rows"] for r in self.of(workload, tracer) if r["rows"]]
        return median(values) if values else None

    def lost(self, workload, tracer):
        """Calls that are no row, in per cent."""
        runs = self.of(workload, tracer)
        calls = sum(r["calls"] for r in runs)
        return 100 * (calls - sum(r["rows"] for r in runs)) / calls if calls else None

    def unaccounted(self, workload, tracer):
        """Calls that are neither a row nor said to be lost; negative where more is said to be lost."""
        return sum(r["calls"] - r["rows"] - r["lost"] for r in self.of(workload, tracer))

    def bystander_ns(self, pattern, attached):
        """A call of a process that is not traced. The best block of all turns: what else runs only adds, and
        more than there is to be told apart here."""
        return min((b["least_ns"] for b in self.results.get("bystanders", [])
                    if b["pattern"] == pattern and b["attached"] == attached), default=None)

    def bystander(self, pattern):
        """What dltraced adds to it, by what two empty hooks add; None where these cannot be told from
        nothing."""
        none, empty, ours = (self.bystander_ns(pattern, k) for k in ("none", "empty hooks", "dltraced"))
        return (ours - none) / (empty - none) if none and empty - none > YARDSTICK_NS else None
