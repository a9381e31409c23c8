# SPDX-License-Identifier: BSD-2-Clause
"""
matrix_svg.py --make FOLDER: makes a matrix.tsv of runs that differ in every way that a picture shows.
matrix_svg.py JSON SVG: compares every mark of a picture with the numbers of `report --matrix --json'.
"""
import json, os, random, re, statistics, sys
from xml.etree import ElementTree

HEAD = ("ORDER PROGRAM MODE REP DRY MEM CPU STATUS LOST WALL_NS USER_NS SYSTEM_NS MAX_RSS_BYTES MINOR_FAULTS MAJOR_FAULTS VOLUNTARY_SWITCHES "
        "INVOLUNTARY_SWITCHES SEED COMMAND")
MODES = {"adry0": 0, "adry1": 1, "bdry1": 1, "alloc0": 0, "alloc1": 1, "failed": 0, "half": 1, "no-dry": "-"}
WIDTH = 0.02  # of what a coordinate may differ, in pixels


def make(folder):
    dice = random.Random(42)
    rows = []
    for program, base in ("long", 4_000_000_000), ("a<b>&\"c", 700_000), ("even", 5_000_000_000), ("undry", 10**10):
        for mode, node in MODES.items():
            for rep in range(1, 8):
                wall = base if program == "even" else int(base * (1 + rep / 10) * dice.uniform(0.95, 1.2) * (1.3 if mode == "alloc1" else 1))
                status, lost = 0, 0
                if mode == "failed" or (mode in ("half", "adry1") and rep > 4):
                    status, lost = dice.choice([(3, 0), (0, 5), (125, None)])
                if program == "undry" and "dry" in mode and mode != "no-dry":
                    continue
                dry = "yes" if mode[1:4] == "dry" else "no"
                numbers = ["-"] * 8 if lost is None else [wall, 5, 5, 4096, 1, 0, 2, 3]
                rows.append([program, mode, rep, dry, "-", node, status, "-" if lost is None else lost, *numbers, 9, f"run {program}"])
    dice.shuffle(rows)
    os.mkdir(folder)
    with open(folder + "/matrix.tsv", "w") as f:
        print(*HEAD.split(), sep="\t", file=f)
        for i, row in enumerate(rows):
            print(i + 1, *row, sep="\t", file=f)


def elements(of, tag, **attributes):
    return [e for e in of.iter("{http://www.w3.org/2000/svg}" + tag) if all(e.get(k.rstrip("_").replace("_", "-")) == v for k, v in attributes.items())]


class Plot:
    """A group of the picture: its axis by its ticks, and its marks by the line that they are on."""

    def __init__(self, group):
        ticks = []
        for text in elements(group, "text", text_anchor="middle"):
            number, unit = text.text.split(" ")
            ticks.append((float(text.get("x")), float(number) / {"s": 1e-9, "%": 100}[unit]))
        lines = [e for e in elements(group, "line") if e.get("class") in "az"]
        assert len(lines) == len(ticks) >= 2, ticks
        ticks.sort()
        exact = sorted(float(e.get("x1")) for e in lines)
        assert all(abs(a[0] - b) < 0.1 for a, b in zip(ticks, exact))
        self.x0, self.x1, self.v0, self.v1 = exact[0], exact[-1], ticks[0][1], ticks[-1][1]
        assert all(abs(self.x(v) - x) < WIDTH for x, (_, v) in zip(exact, ticks)), "an axis with uneven steps"
        zeros = [float(e.get("x1")) for e in lines if e.get("class") == "z"]
        self.zero = zeros[0] if zeros else None
        self.points = sorted((float(e.get("cy")), float(e.get("cx"))) for e in elements(group, "circle", class_="p"))
        self.crosses = sorted((float(y) + 4, float(x) + 4) for x, y in (re.match(r"M([-\d.]+) ([-\d.]+)l8 8m0 -8l-8 8$", e.get("d")).groups()
                                                                       for e in elements(group, "path", class_="x")))
        self.bars = sorted(((float(e.get("y1")) + float(e.get("y2"))) / 2, float(e.get("x1")), float(e.get("x2"))) for e in elements(group, "line", class_="m"))
        self.intervals = sorted((float(e.get("y1")), float(e.get("x1")), float(e.get("x2"))) for e in elements(group, "line", class_="i"))

    def x(self, value):
        return self.x0 + (self.x1 - self.x0) * (value - self.v0) / (self.v1 - self.v0)


def equal(what, got, wanted):
    wanted = sorted(wanted)
    assert len(got) == len(wanted), (what, got, wanted)
    for a, b in zip(got, wanted):
        assert all(abs(x - y) <= WIDTH for x, y in zip(a, b)), (what, a, b)


def dry_of(report, run):
    """Returns the run that RUN is compared with, by docs/matrix.md: of the first dry mode with its nodes."""
    like = [r for r in report["runs"] if r["dry"] and all(r[k] == run[k] for k in ("program", "mem", "cpu", "rep"))]
    first = min(like, key=lambda r: r["mode"], default=None)
    return first if first and first["counted"] and not run["dry"] else None


def check(report, name):
    svg = ElementTree.parse(name).getroot()
    texts = [(float(e.get("y")), float(e.get("x")), e.text) for e in elements(svg, "text")]
    programs = sorted({m["program"] for m in report["wall"]})
    heads = elements(svg, "text", class_="h")
    assert [h.text for h in heads] == programs, [h.text for h in heads]
    groups = {kind: [Plot(g) for g in elements(svg, "g", class_=kind)] for kind in ("times", "overhead")}
    ends = [float(h.get("y")) for h in heads[1:]] + [1e9]
    for head, end, program in zip(heads, ends, programs):
        top = float(head.get("y"))
        modes = [m for m in report["wall"] if m["program"] == program]
        names = sorted((float(e.get("y")) - 4, e.text) for e in elements(svg, "text", text_anchor="end") if top < float(e.get("y")) < end)
        assert [n for _, n in names] == [m["mode"] for m in modes], names
        y_of = {mode: y for y, mode in names}
        runs = [r for r in report["runs"] if r["program"] == program]
        timed = [r for r in runs if r["wall_ns"] is not None]
        pairs = [(r, r["wall_ns"] / d["wall_ns"] - 1) for r in timed for d in [dry_of(report, r)] if d]
        if timed:
            plot = groups["times"].pop(0)
            assert plot.zero is None
            for counted, marks in (True, plot.points), (False, plot.crosses):
                equal("times", marks, [(y_of[r["mode"]], plot.x(r["wall_ns"])) for r in timed if r["counted"] == counted])
            equal("medians", plot.bars, [(y_of[m["mode"]], plot.x(m["median_ns"]), plot.x(m["median_ns"])) for m in modes if m["counted"]])
            assert not plot.intervals
        if pairs:
            plot = groups["overhead"].pop(0)
            assert abs(plot.zero - plot.x(0)) < WIDTH
            for counted, marks in (True, plot.points), (False, plot.crosses):
                equal("ratios", marks, [(y_of[r["mode"]], plot.x(ratio)) for r, ratio in pairs if r["counted"] == counted])
            compared = [m for m in modes if m["pairs"]]
            for m in compared:
                own = [ratio for r, ratio in pairs if r["mode"] == m["mode"] and r["counted"]]
                assert len(own) == m["pairs"] and abs(statistics.median(own) - m["overhead"]) < 1e-5, (m, own)
            equal("overheads", plot.bars, [(y_of[m["mode"]], plot.x(m["overhead"]), plot.x(m["overhead"])) for m in compared])
            equal("intervals", plot.intervals, [(y_of[m["mode"]], plot.x(m["overhead_low"]), plot.x(m["overhead_high"])) for m in compared])
        for m in modes:
            beside = [t for y, x, t in sorted(texts) if abs(y - 4 - y_of[m["mode"]]) < 1 and x > 200]
            if m["pairs"]:
                low, mid, high = (100 * m[k] for k in ("overhead_low", "overhead", "overhead_high"))
                assert beside.pop() == f"{mid:+.1f} % ({low:+.1f} to {high:+.1f} %)", beside
            count, = beside
            assert (count == "no run counts") == (m["counted"] == 0), m
            assert count.endswith(f", {m['counted']} of {m['runs']} runs") == (0 < m["counted"] < m["runs"]), (count, m)
    assert not groups["times"] and not groups["overhead"]
    print(sum(len(elements(svg, t)) for t in ("circle", "path")), "marks")


if sys.argv[1] == "--make":
    make(sys.argv[2])
else:
    check(json.load(open(sys.argv[1])), sys.argv[2])
