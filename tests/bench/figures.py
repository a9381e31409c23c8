# SPDX-License-Identifier: BSD-2-Clause
"""Medians over the rounds of what bench.py measured."""
from statistics import median

YARDSTICK_NS = 20  # less than two empty hooks cost on any machine


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
        """Returns the value of the same round: most rounds have several of these, since all others are compared with them.
        """
        values = [r[key] for r in self.of(workload, "none") if r["round"] == nr]
        return median(values) if values else None

    def added(self, workload, tracer, key):
        """Returns what the tracer added to a call in ns, a value per round."""
        return [r[key] - self.untraced(workload, key, r["round"]) for r in self.of(workload, tracer)
                if self.untraced(workload, key, r["round"]) is not None]

    def slowdown(self, workload, tracer, key="wall_ns"):
        return [r[key] / self.untraced(workload, key, r["round"]) for r in self.of(workload, tracer)
                if self.untraced(workload, key, r["round"])]

    def ratio(self, workload, tracer, key, to="dltraced"):
        """Returns the ratio of what TRACER added to what TO added, by medians."""
        ours, theirs = self.added(workload, to, key), self.added(workload, tracer, key)
        if not ours or not theirs or median(ours) <= 0:
            return None
        return median(theirs) / median(ours)

    def ratios(self, workload, tracer, key, to="dltraced"):
        """Returns this ratio for each round; a round in which TO added nothing has none."""
        ours = {r["round"]: r[key] - self.untraced(workload, key, r["round"]) for r in self.of(workload, to)
                if self.untraced(workload, key, r["round"]) is not None}
        return [(r[key] - self.untraced(workload, key, r["round"])) / ours[r["round"]]
                for r in self.of(workload, tracer) if ours.get(r["round"], 0) > 0]

    def cpu_per_million(self, workload, tracer):
        """Returns the tracer's own CPU time in s for a million rows, a value per round."""
        return [r["tracer_cpu_ns"] / r["rows"] / 1000 for r in self.of(workload, tracer)
                if r.get("tracer_cpu_ns") and r["rows"]]

    def bytes_per_row(self, workload, tracer):
        values = [r["bytes"] / r["rows"] for r in self.of(workload, tracer) if r["rows"]]
        return median(values) if values else None

    def lost(self, workload, tracer):
        """Returns the share of calls without a row, in percent."""
        runs = self.of(workload, tracer)
        calls = sum(r["calls"] for r in runs)
        return 100 * (calls - sum(r["rows"] for r in runs)) / calls if calls else None

    def unaccounted(self, workload, tracer):
        """Returns the number of calls that are neither a row nor reported as lost; negative if too many are reported as
        lost.
        """
        return sum(r["calls"] - r["rows"] - r["lost"] for r in self.of(workload, tracer))

    def bystander_ns(self, pattern, attached):
        """Returns the ns of a call of a process that is not traced: the best block of all turns, as other work on the
        machine only adds to it.
        """
        return min((b["least_ns"] for b in self.results.get("bystanders", [])
                    if b["pattern"] == pattern and b["attached"] == attached), default=None)

    def bystander(self, pattern):
        """Returns what dltraced adds to it, in units of what two empty hooks add; None where these add too little to
        measure.
        """
        none, empty, ours = (self.bystander_ns(pattern, k) for k in ("none", "empty hooks", "dltraced"))
        return (ours - none) / (empty - none) if none and empty - none > YARDSTICK_NS else None
