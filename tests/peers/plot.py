# SPDX-License-Identifier: BSD-2-Clause
"""plot.py TRACE GOLDEN: do the figures of TRACE show what its rows add up to? Those of latencies and of the whole job are
checked for GOLDEN, too."""
import sys

import dltraced

trace, golden = sys.argv[1:]

def on_files(folder, probe):
    """The rows of files; not those of pipes, sockets, terminals and the like."""
    files = dltraced.read(folder, "files").drop_duplicates(["host", "FID"])[["host", "FID", "TYPE"]]
    typed = dltraced.read(folder, probe).merge(files, on=["host", "FID"], how="left")
    return typed[~typed["TYPE"].isin(("fifo", "sock", "chr", "anon")).astype(bool)]


def near(what, got, wanted, by=0.02):
    assert abs(got - wanted) <= by * wanted and wanted, f"{what}: {got}, not {wanted}"


def check_heatmap(folder):
    opens = on_files(folder, "open")
    calls = len(on_files(folder, "vfs_rw")) + int((opens["FUNC"] != "snapshot").sum())
    try:
        faults = dltraced.read(folder, "fault")
        calls += int((faults["LAT_NS"].notna() & (faults["FUNC"] == "user")).sum())
    except FileNotFoundError:  # a kernel that refuses this probe
        pass
    mesh = dltraced.plot("heatmap", folder).axes[0].collections[0]
    assert mesh.get_array().sum() == calls, (folder, mesh.get_array().sum(), calls)


rows = on_files(trace, "vfs_rw")
moved = rows[rows["RETURNED"] > 0]
axes = dltraced.plot("bandwidth", trace).axes[0]
lines = {line.get_label(): line for line in axes.get_lines()}
unit = {"KiB/s": 2**10, "MiB/s": 2**20, "GiB/s": 2**30}[axes.get_ylabel()]
for label, way in (("reads of files", "R"), ("writes of files", "W")):
    x, y = lines[label].get_data()
    near(label, float(y.sum() * (x[1] - x[0]) * unit), int(moved["RETURNED"][moved["RW"] == way].sum()))

# the lanes of one figure, on one axis; those of bytes add up to the rows' bytes, of a golden trace that has all of them
lanes = {axes.get_title(loc="left"): axes for axes in dltraced.plot("overview", golden).axes}
assert list(lanes) == ["phases", "CPU", "GPU", "disk", "block", "files"], list(lanes)
assert len({axes.get_xlim() for axes in lanes.values()}) == 1 and all(axes.get_position().height > .03 for axes in lanes.values())
assert [bar.get_width() > 0 for bar in lanes["phases"].patches].count(True) == len(dltraced.report(golden)["timeline"]["phases"])
bio = dltraced.read(golden, "bio")
calls = on_files(golden, "vfs_rw")
calls = calls[calls["RETURNED"] > 0]
for title, of_way in (("block", lambda way: bio["BYTES"][bio["T"] == way]), ("files", lambda way: calls["RETURNED"][calls["RW"] == way])):
    unit = {"KiB/s": 2**10, "MiB/s": 2**20, "GiB/s": 2**30}[lanes[title].get_ylabel()]
    for line, way in zip(lanes[title].get_lines(), "RW"):
        x, y = line.get_data()
        near(f"{title} {way}", float(y[:-1].sum() * (x[1] - x[0]) * unit), int(of_way(way).sum()))
lanes = [axes.get_title(loc="left") for axes in dltraced.plot("overview", trace).axes]
assert lanes[0] == "phases" and "CPU" in lanes and lanes[-1] == "files", lanes  # a trace without collectors

every = dltraced.read(trace, "vfs_rw")
bars = {bar.get_label(): sum(patch.get_height() for patch in bar) for bar in dltraced.plot("sizes", trace).axes[0].containers}
for label, way in (("reads", "R"), ("writes", "W")):
    assert bars[label] == ((every["RW"] == way) & (every["RETURNED"] >= 0)).sum(), (label, bars)

check_heatmap(trace)
check_heatmap(golden)  # this trace has requests of disks, too

axes = dltraced.plot("timeline", trace).axes[0]
labels = [text.get_text() for text in axes.get_yticklabels()]
assert sorted(int(label.split()[-1]) for label in labels) == sorted(rows[["host", "PID"]].drop_duplicates()["PID"].tolist()), labels
timeline = dltraced.report(trace)["timeline"]
begin_ns = 0 if "hosts" in timeline else timeline["begin_ns"]
ends = {lane["pid"]: max(other["end_ns"] for other in timeline["lanes"] if other["pid"] == lane["pid"]) for lane in timeline["lanes"]}
assert axes.collections
for area in axes.collections:  # each is of one lane
    box = area.get_paths()[0].get_extents()
    end_s = (ends[int(labels[int((box.y0 + box.y1) / 2)].split()[-1])] - begin_ns) / 1e9
    assert box.x1 <= end_s + 1e-9, (box, end_s)
assert [text.get_text() for text in axes.texts] == ["epoch 1", "epoch 2", "epoch 3"], axes.texts
