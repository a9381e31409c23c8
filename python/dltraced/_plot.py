# SPDX-License-Identifier: BSD-2-Clause
"""
Figures of a trace for papers and notebooks, by matplotlib, from what `dltraced report --json' has: nothing is computed here but
sums over hosts. `python -m dltraced plot KIND DIR -o fig.pdf' writes one.
"""
from __future__ import annotations

import argparse
import os
from typing import Any, Callable, Counter, Dict, Iterable, Mapping, Optional, Sequence, Tuple, Union

import numpy
from matplotlib import rc_context
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from ._columns import unescape
from ._folder import Path
from ._report import report

SIZE_IN = (6.4, 3.2)  # twice the width of a column of two
# Text stays text: it can be searched, and edited in a drawing program.
STYLE = {"pdf.fonttype": 42, "svg.fonttype": "none", "font.size": 9, "axes.grid": True, "grid.alpha": .3, "axes.axisbelow": True}
POINTS = 320  # of a line
LANES = 24  # processes of a timeline, the busiest
# What a process does, the color-blind palette of Okabe and Ito.
ACTIVITIES = (("cpu", "on a CPU", "#bbbbbb"), ("read", "reads", "#0072b2"), ("write", "writes", "#d55e00"), ("open", "opens", "#009e73"),
              ("fault", "page faults", "#cc79a7"), ("other", "other calls on files", "#e69f00"))
SERIES = ((("vfs", "read"), "reads of files", "#0072b2"), (("vfs", "write"), "writes of files", "#d55e00"),
          (("vfs", "fault"), "page faults of files", "#cc79a7"))
PREFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi")


def _power(value: float) -> int:
    """Of 1024: which prefix VALUE takes."""
    power = 0
    while abs(value) >= 1024 and power < len(PREFIXES) - 1:
        value, power = value / 1024, power + 1
    return power


def _binary(value: float) -> str:
    """VALUE bytes as 4 KiB or 1.5 MiB."""
    power = _power(value)
    return f"{value / 1024 ** power:.3g} {PREFIXES[power]}B"


def _duration(ns: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def _label(*parts: Any) -> str:
    """A name in one line; it may be anything that a process calls itself, and is escaped in the report as in the trace."""
    return "".join(c if c.isprintable() else "?" for c in unescape(" ".join(str(part) for part in parts if part is not None)))


def _begin_ns(timeline: Mapping[str, Any]) -> int:
    """Of the axis: times of several hosts count from the begin of the first one already."""
    return 0 if "hosts" in timeline else timeline["begin_ns"]


def _mark_epochs(axes: Any, timeline: Mapping[str, Any], names: bool = True) -> None:
    """Epochs shaded in turn: those of the first host that has any."""
    epochs = [phase for phase in timeline["phases"] if phase["kind"] == "epoch"]
    epochs = [phase for phase in epochs if phase.get("host") == epochs[0].get("host")]
    for number, phase in enumerate(epochs):
        begin, end = ((phase[key] - _begin_ns(timeline)) / 1e9 for key in ("begin_ns", "end_ns"))
        axes.axvspan(begin, end, color="#000000" if number % 2 else "#0072b2", alpha=.06, linewidth=0)
        if names and len(epochs) <= 12:
            axes.annotate(_label(phase["name"]), ((begin + end) / 2, 1), xycoords=("data", "axes fraction"), xytext=(0, 2),
                          textcoords="offset points", ha="center", fontsize="x-small", parse_math=False)


def _series(timeline: Mapping[str, Any]) -> Dict[Tuple[str, str], Any]:
    """{(panel, name): values of the bins}, those of all hosts added up; NaN where there are none."""
    found: Dict[Tuple[str, str], Any] = {}
    for of in timeline["series"]:
        values = numpy.array([numpy.nan if v is None else v for v in of["values"]], dtype=float)
        key = of["panel"], of["name"]
        before = found.get(key)
        found[key] = values if before is None else numpy.where(numpy.isnan(before), values, before + numpy.nan_to_num(values))
    return found


def _coarse(values: Any, group: int) -> Any:
    """The means of each GROUP of bins."""
    padded = numpy.concatenate([values, numpy.full(-len(values) % group, numpy.nan)]).reshape(-1, group)
    n = numpy.count_nonzero(~numpy.isnan(padded), axis=1)
    return numpy.where(n > 0, numpy.nansum(padded, axis=1) / numpy.maximum(n, 1), numpy.nan)


def bandwidth(axes: Any, found: Mapping[str, Any]) -> None:
    """Bytes a second that calls on files and page faults moved, of all processes."""
    timeline = found["timeline"]
    group = -(-timeline["bins"] // POINTS)
    lines = {key: _coarse(values, group) for key, values in _series(timeline).items() if key in {of[0] for of in SERIES}}
    power = max((_power(numpy.nanmax(values)) for values in lines.values() if not numpy.isnan(values).all()), default=0)
    for key, label, color in SERIES:
        if key in lines and numpy.nansum(lines[key]) > 0:
            times = (numpy.arange(len(lines[key])) + .5) * group * timeline["bin_ns"] / 1e9
            axes.plot(times, lines[key] / 1024 ** power, label=label, color=color, linewidth=.9)
    axes.set(xlabel="time, s", ylabel=f"{PREFIXES[power]}B/s", xlim=(0, timeline["bins"] * timeline["bin_ns"] / 1e9), ylim=(0, None))
    _mark_epochs(axes, timeline)


def _shares(busy: Sequence[Sequence[float]], n_bins: int, group: int) -> Any:
    """The share of each GROUP of bins, at most 1."""
    shares = numpy.zeros(n_bins)
    for at, share in busy:
        shares[min(int(at), n_bins - 1)] += share
    return numpy.clip(_coarse(shares, group), 0, 1)


def timeline(axes: Any, found: Mapping[str, Any]) -> None:
    """A lane for each process: the part of its time on a CPU, and before that in calls, one upon the other, up to all of it.
    Where there are calls at all, they take a sixteenth at least."""
    of = found["timeline"]
    busiest = sorted(of["lanes"], key=lambda lane: -sum(share for cells in lane["busy"].values() for _, share in cells))[:LANES]
    lanes = [lane for lane in of["lanes"] if lane in busiest]
    n_bins = -(-of["bins"] * of["bin_ns"] // of["lane_bin_ns"])
    group = -(-n_bins // POINTS)
    edges = numpy.arange(-(-n_bins // group) + 1) * group * of["lane_bin_ns"] / 1e9
    for row, lane in enumerate(lanes):
        lived = numpy.clip(edges, *((lane[key] - _begin_ns(of)) / 1e9 for key in ("begin_ns", "end_ns")))
        shares = {kind: _shares(lane["busy"].get(kind, ()), n_bins, group) for kind, _, _ in ACTIVITIES}
        calls = sum(shares[kind] for kind in shares if kind != "cpu")
        scale = numpy.where(calls > 0, numpy.clip(calls, 1 / 16, 1) / numpy.maximum(calls, 1e-9), 0)
        base = numpy.zeros(len(calls))
        for kind, _, color in ACTIVITIES:
            below, top = (0 * base, shares[kind]) if kind == "cpu" else (base, base + shares[kind] * scale)
            axes.fill_between(lived, row + .95 - .9 * numpy.append(below, 0), row + .95 - .9 * numpy.append(top, 0), step="post",
                              color=color, linewidth=0)
            base = base if kind == "cpu" else top
    axes.set(xlabel="time, s", ylim=(len(lanes), 0), xlim=(0, of["bins"] * of["bin_ns"] / 1e9))
    axes.set_yticks(numpy.arange(len(lanes)) + .5, [_label(lane.get("host"), lane["comm"], lane["pid"]) for lane in lanes],
                    fontsize="x-small", parse_math=False)
    for _, label, color in ACTIVITIES:
        axes.barh(0, 0, color=color, label=label)
    _mark_epochs(axes, of)


def sizes(axes: Any, found: Mapping[str, Any]) -> None:
    """How many reads and writes moved how much, by powers of two; those of pipes and sockets, too."""
    calls: Dict[str, Counter[int]] = {"reads": Counter(), "writes": Counter()}
    for host in found.get("hosts", [found]):
        for of in host["histograms"]:
            if of["probe"] == "vfs_rw" and of["unit"] == "B":
                calls[of["of"]].update({int(begin).bit_length(): n for begin, n in of["counts"]})
    there = sorted({power for of_way in calls.values() for power in of_way})
    powers = list(range(there[0], there[-1] + 1)) if there else []
    for (name, counts), place, color in zip(calls.items(), (-.21, .21), ("#0072b2", "#d55e00")):
        if counts:
            axes.bar(numpy.arange(len(powers)) + place, [counts[power] for power in powers], .42, label=name, color=color)
    axes.set_xticks(numpy.arange(len(powers)), [_binary(2 ** (power - 1)) if power else "0" for power in powers], rotation=45,
                    ha="right")
    axes.set(xlabel="size, from", ylabel="calls", yscale="log" if there else "linear")


def heatmap(axes: Any, found: Mapping[str, Any]) -> Any:
    """Latencies of calls on files, and of page faults, over time: how many took how long."""
    of = found["timeline"]
    cells = [cell for heat in of["heat"] if not heat["name"].startswith("bio ") for cell in heat["counts"]]
    if not cells:
        return None
    columns = min(of["bins"], 256)
    low, high = min(power for _, power, _ in cells), max(power for _, power, _ in cells) + 1
    counts = numpy.zeros((high - low, columns))
    for at, power, n in cells:
        counts[power - low, min(at * columns // of["bins"], columns - 1)] += n
    seconds = of["bins"] * of["bin_ns"] / 1e9
    mesh = axes.pcolormesh(numpy.linspace(0, seconds, columns + 1), numpy.arange(low, high + 1), numpy.ma.masked_equal(counts, 0),
                           norm=LogNorm(), cmap="viridis", rasterized=True)
    axes.set(xlabel="time, s", ylabel="latency")
    axes.yaxis.set_major_formatter(lambda power, _: _duration(2.0 ** power))
    _mark_epochs(axes, of)
    return mesh


KINDS: Dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "bandwidth": bandwidth, "heatmap": heatmap, "sizes": sizes, "timeline": timeline,
}
NAMES = sorted([*KINDS, "overview"])


def plot(kind: str, path: Union[Path, Iterable[Path]], width: Optional[float] = None, height: Optional[float] = None) -> Figure:
    """A figure of the traces at PATH, the hosts of one job: "overview", "timeline", "bandwidth", "sizes" or "heatmap"; WIDTH and
    HEIGHT in inches."""
    from ._overview import height_in, overview  # which uses this file

    if kind not in NAMES:
        raise ValueError(f"there is no figure {kind!r}; there are: {', '.join(NAMES)}")
    found = report(path)
    with rc_context(STYLE):
        if kind == "overview":
            figure = Figure(figsize=(width or SIZE_IN[0], height or height_in(found)), layout="constrained")
            overview(figure, found)
            return figure
        figure = Figure(figsize=(width or SIZE_IN[0], height or SIZE_IN[1]), layout="constrained")
        axes = figure.add_subplot()
        mesh = KINDS[kind](axes, found)
        if mesh is not None:
            figure.colorbar(mesh, ax=axes, label="calls")
        if axes.get_legend_handles_labels()[0]:
            figure.legend(loc="outside upper center", ncols=6, fontsize="x-small", frameon=False)
    return figure


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m dltraced plot", description="Draw a figure of one job's traces.")
    parser.add_argument("kind", choices=NAMES)
    parser.add_argument("dir", nargs="+", help="a trace folder, or one for each host of the job")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the name says in which format: .pdf .svg .png")
    parser.add_argument("--width", type=float, metavar="INCHES")
    parser.add_argument("--height", type=float, metavar="INCHES")
    options = parser.parse_args(argv)
    try:
        figure = plot(options.kind, options.dir, options.width, options.height)
        with rc_context(STYLE):
            figure.savefig(options.output, dpi=300, format=os.path.splitext(options.output)[1][1:] or None)
    except (OSError, RuntimeError, ValueError) as error:
        parser.exit(1, f"dltraced: {error}\n")
