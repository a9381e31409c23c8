# SPDX-License-Identifier: BSD-2-Clause
"""plot.py TRACE: do the figures of TRACE show what its rows add up to?"""
import sys

import dltraced

trace = sys.argv[1]
files = dltraced.read(trace, "files", columns=["FID", "TYPE"])
types = dict(zip(files["FID"], files["TYPE"]))


def on_files(rows):
    return rows[~rows["FID"].map(types).isin(("fifo", "sock", "chr", "anon"))]


def near(what, got, wanted, by=0.02):
    assert abs(got - wanted) <= by * wanted and wanted, f"{what}: {got}, not {wanted}"


rows = dltraced.read(trace, "vfs_rw")
opens = dltraced.read(trace, "open")
moved = on_files(rows)
moved = moved[moved["RETURNED"] > 0]

axes = dltraced.plot("bandwidth", trace).axes[0]
lines = {line.get_label(): line for line in axes.get_lines()}
unit = {"KiB/s": 2**10, "MiB/s": 2**20, "GiB/s": 2**30}[axes.get_ylabel()]
for label, way in (("reads of files", "R"), ("writes of files", "W")):
    x, y = lines[label].get_data()
    near(label, float(y.sum() * (x[1] - x[0]) * unit), int(moved["RETURNED"][moved["RW"] == way].sum()))

bars = {bar.get_label(): sum(patch.get_height() for patch in bar) for bar in dltraced.plot("sizes", trace).axes[0].containers}
for label, way in (("reads", "R"), ("writes", "W")):
    assert bars[label] == ((rows["RW"] == way) & (rows["RETURNED"] >= 0)).sum(), (label, bars)

mesh, = dltraced.plot("heatmap", trace).axes[0].collections[:1]
calls = len(on_files(rows)) + len(on_files(opens)[on_files(opens)["FUNC"] != "snapshot"])
try:
    calls += dltraced.read(trace, "fault")["LAT_NS"].notna().sum()
except FileNotFoundError:  # a kernel that refuses this probe
    pass
assert mesh.get_array().sum() == calls, (mesh.get_array().sum(), calls)

labels = [text.get_text() for text in dltraced.plot("timeline", trace).axes[0].get_yticklabels()]
assert sorted(int(label.split()[-1]) for label in labels) == sorted(map(int, on_files(rows)["PID"].unique())), labels
