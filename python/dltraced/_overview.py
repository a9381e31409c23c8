# SPDX-License-Identifier: BSD-2-Clause
"""
The figure of a whole job: phases, CPUs, GPUs, disks, requests of disks and calls on files, a lane each, on one axis of time. A
lane without values is left out.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Tuple

import numpy

from ._plot import POINTS, PREFIXES, SERIES, _begin_ns, _coarse, _label, _mark_epochs, _power, _series

LANE_IN, REST_IN = .8, .7  # inches: of a lane, of the axis and the edges
PHASE_ROWS = 3  # of phases that overlap; of more, the last row has all
PHASES = {"init": "#999999", "epoch": "#0072b2", "training": "#009e73", "eval": "#cc79a7", "checkpoint": "#d55e00"}
CPU = (("usr", "programs", "#0072b2"), ("sys", "kernel", "#d55e00"), ("iowait", "iowait", "#cc79a7"))
GPU = (("sm", "SM", "#009e73"), ("mem", "memory", "#cc79a7"))
WAYS = (("read", "reads", "#0072b2"), ("write", "writes", "#d55e00"))
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
DISKS = 3  # those that were busy the most
Draw = Callable[[Any], None]


def _length_s(of: Mapping[str, Any]) -> float:
    return float(of["bins"] * of["bin_ns"] / 1e9)


def _sampled(of: Mapping[str, Any], panel: str, name: str) -> Any:
    """The means of a collector's values, of all hosts, in cells of equal length; NaN where there are none. None: no value."""
    lines = [line for line in of["sampled"] if line["panel"] == panel and line["name"] == name and line["t"]]
    if not lines:
        return None
    apart_s = max(float(numpy.median(numpy.diff(line["t"]))) / 1e9 if len(line["t"]) > 1 else 1. for line in lines)
    cells = max(1, int(min(POINTS, _length_s(of) / (1.5 * apart_s))))  # wider than the interval: none is empty by chance
    total, n = numpy.zeros(cells), numpy.zeros(cells)
    for line in lines:
        at = (numpy.array(line["t"], dtype=float) - _begin_ns(of)) / 1e9 / _length_s(of) * cells
        numpy.add.at(total, numpy.clip(at.astype(int), 0, cells - 1), line["values"])
        numpy.add.at(n, numpy.clip(at.astype(int), 0, cells - 1), 1)
    return numpy.where(n > 0, total / numpy.maximum(n, 1), numpy.nan)


def _edges(of: Mapping[str, Any], values: Any) -> Any:
    return numpy.linspace(0, _length_s(of), len(values) + 1)


def _steps(axes: Any, of: Mapping[str, Any], values: Any, label: str, color: str) -> None:
    axes.step(_edges(of, values), numpy.append(values, values[-1]), where="post", label=label, color=color, linewidth=.9)


def _phases(of: Mapping[str, Any]) -> List[Tuple[str, Draw]]:
    phases = [phase for phase in of["phases"] if phase["kind"] != "mark" and phase["end_ns"] > phase["begin_ns"]]
    phases = sorted((phase for phase in phases if phase.get("host") == phases[0].get("host")),
                    key=lambda phase: (phase["begin_ns"], -phase["end_ns"]))
    if not phases:
        return []
    ends: List[int] = []
    rows = []
    for phase in phases:
        free = [row for row, end in enumerate(ends) if end <= phase["begin_ns"]]
        row = free[0] if free else min(len(ends), PHASE_ROWS - 1)
        ends[row:row + 1] = [phase["end_ns"]]
        rows.append(row)

    def draw(axes: Any) -> None:
        for phase, row in zip(phases, rows):
            begin, end = ((phase[key] - _begin_ns(of)) / 1e9 for key in ("begin_ns", "end_ns"))
            axes.barh(row, end - begin, left=begin, height=.9, color=PHASES.get(phase["kind"], "#bbbbbb"), alpha=.55, linewidth=.5,
                      edgecolor="white")
            name = _label(phase["name"])
            if end - begin > .012 * len(name) * _length_s(of):  # about as wide as its name
                axes.text((begin + end) / 2, row, name, ha="center", va="center", fontsize="xx-small", parse_math=False, clip_on=True)
        axes.set(ylim=(len(ends) - .5, -.5), yticks=[])
        axes.grid(False)
    return [("phases", draw)]


def _percent(of: Mapping[str, Any], title: str, panel: str, names: Any, stacked: bool) -> List[Tuple[str, Draw]]:
    lines = [(_sampled(of, panel, name), label, color) for name, label, color in names]
    lines = [line for line in lines if line[0] is not None]

    def draw(axes: Any) -> None:
        base = 0
        for values, label, color in lines:
            if not stacked:
                _steps(axes, of, values, label, color)
                continue
            top = base + numpy.nan_to_num(values)
            axes.fill_between(_edges(of, top), numpy.append(top, top[-1]), numpy.append(base + 0 * top, (base + 0 * top)[-1]),
                              step="post", label=label, color=color, linewidth=0)
            base = top
        axes.set(ylabel="%", ylim=(0, 105), yticks=(0, 50, 100))
    return [(title, draw)] if lines else []


def _cpu(of: Mapping[str, Any]) -> List[Tuple[str, Draw]]:
    """By mpstat, else the job's own by sched.out."""
    found = _percent(of, "CPU", "cpu", CPU, True)
    run = _series(of).get(("sched", "run"))
    if found or run is None:
        return found

    def draw(axes: Any) -> None:
        _steps(axes, of, _coarse(run, -(-len(run) // POINTS)), "the job's", "#0072b2")
        axes.set(ylabel="CPUs", ylim=(0, None))
    return [("CPU", draw)]


def _disk(of: Mapping[str, Any]) -> List[Tuple[str, Draw]]:
    """By iostat: how busy each is."""
    panels = sorted({line["panel"] for line in of["sampled"] if line["panel"].startswith("iostat:")})
    busy = {panel.split(":", 1)[1]: _sampled(of, panel, "busy") for panel in panels}
    busiest = sorted((name for name in busy if busy[name] is not None), key=lambda name: -numpy.nanmean(busy[name]))[:DISKS]

    def draw(axes: Any) -> None:
        for name, color in zip(busiest, COLORS):
            _steps(axes, of, busy[name], _label(name), color)
        axes.set(ylabel="% busy", ylim=(0, 105), yticks=(0, 50, 100))
    return [("disk", draw)] if busiest else []


def _bytes(of: Mapping[str, Any], title: str, lines: Mapping[str, Any]) -> List[Tuple[str, Draw]]:
    """LINES: {label: (values of bins in bytes a second, color)}."""
    shown = {label: (_coarse(values, -(-len(values) // POINTS)), color) for label, (values, color) in lines.items()
             if values is not None and numpy.nansum(values) > 0}
    power = max((_power(numpy.nanmax(values)) for values, _ in shown.values()), default=0)

    def draw(axes: Any) -> None:
        for label, (values, color) in shown.items():
            _steps(axes, of, values / 1024 ** power, label, color)
        axes.set(ylabel=f"{PREFIXES[power]}B/s", ylim=(0, None))
    return [(title, draw)] if shown else []


def _block(of: Mapping[str, Any]) -> List[Tuple[str, Draw]]:
    """Bytes of requests of all disks, by bio.out."""
    lines: Dict[str, Any] = {}
    for (panel, name), values in _series(of).items():
        for way, label, color in WAYS:
            if panel.startswith("disk:") and name == way:
                before = lines.get(label, (numpy.zeros(len(values)), color))[0]
                lines[label] = before + numpy.nan_to_num(values), color
    return _bytes(of, "block", lines)


def _files(of: Mapping[str, Any]) -> List[Tuple[str, Draw]]:
    found = _series(of)
    return _bytes(of, "files", {label.replace(" of files", ""): (found.get(key), color) for key, label, color in SERIES})


def lanes(of: Mapping[str, Any]) -> List[Tuple[str, Draw]]:
    """[(title, what draws it)] of the timeline OF a report, from the top."""
    return [*_phases(of), *_cpu(of), *_percent(of, "GPU", "gpu", GPU, False), *_disk(of), *_block(of), *_files(of)]


def height_in(found: Mapping[str, Any]) -> float:
    return LANE_IN * max(1, len(lanes(found["timeline"]))) + REST_IN


def overview(figure: Any, found: Mapping[str, Any]) -> None:
    """Draws all lanes of the report FOUND on one axis of time."""
    of = found["timeline"]
    all_lanes = lanes(of)
    if not all_lanes:
        raise ValueError("the trace has nothing to draw over time")
    every = figure.subplots(len(all_lanes), sharex=True, squeeze=False)[:, 0]
    for axes, (title, draw) in zip(every, all_lanes):
        draw(axes)
        axes.set_title(title, loc="left", fontsize="x-small", pad=2)
        axes.tick_params(labelsize="x-small")
        axes.yaxis.label.set_size("x-small")
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="center left", bbox_to_anchor=(1, .5), fontsize="xx-small", frameon=False, handlelength=1)
        if title != "phases":
            _mark_epochs(axes, of, names=all_lanes[0][0] != "phases" and axes is every[0])
    every[-1].set(xlim=(0, _length_s(of)))
    every[-1].set_xlabel("time, s", fontsize="x-small")
