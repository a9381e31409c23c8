# SPDX-License-Identifier: BSD-2-Clause
"""touched.py JSON SVG SOURCE: whether a report and its picture say what the program of report/touched.sh has touched."""
import json, re, sys

report, source = json.load(open(sys.argv[1])), sys.argv[3]
sites = {re.search(r"touch\.py:\d+:(\w+)", s["stack"]).group(1): s for s in report["allocs_untouched"] if s["stack"] and "touch.py" in s["stack"]}
# a block of access.out has 64 KiB, and which of its pages were touched is not known
slack = 1 << 16
for name, size, untouched in (("quarter", 64 << 20, 48 << 20), ("nothing", 32 << 20, 32 << 20)):
    s = sites[name]
    assert s["bytes"] == size and s["blocks"] == 1, s
    assert abs(s["untouched_bytes"] - untouched) <= slack, (name, s)
assert sites.get("all_of_it", {"untouched_bytes": 0})["untouched_bytes"] <= slack
assert all(p["source"] == source and (p["interval_bytes"] is None) == (source == "faults") for p in report["access_processes"])
assert max(p["touched_bytes"] for p in report["access_processes"]) >= 24 << 20
# accessed bits say neither how often nor whether a page was written
assert all((p[key] is None) == (source == "pages") for p in report["access_processes"] for key in ("count", "written_bytes"))
memory, = report["timeline"]["memory"]
assert memory["sources"] == [source]
large = sorted(b[4] for b in memory["blocks"])[-3:]
assert large == [8 << 20, 32 << 20, 64 << 20], large
cells = {(x + i, y + k) for x, y, w, h, *_ in memory["rects"] for i in range(w) for k in range(h)}
touched = {}
for begin, end, line, lines, size, *_ in memory["blocks"]:
    touched[size] = len({y for _, y in cells if line <= y + 0.5 < line + lines}) / lines
assert abs(touched[64 << 20] - 0.25) < 0.1 and touched[32 << 20] < 0.1 and touched[8 << 20] > 0.8, touched
assert open(sys.argv[2]).read().count("non-scaling-stroke") == len(memory["blocks"])
# the kernel maps pages of a file around a fault, so faults know only some
file, = (f for f in report["access_files"] if f["path"] and f["path"].endswith("/mapped"))
assert file["mapped_bytes"] == 8 << 20, file
assert file["used_bytes"] == 3 << 20 if source == "pages" else 0 < file["used_bytes"] <= 3 << 20, file
