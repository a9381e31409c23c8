# SPDX-License-Identifier: BSD-2-Clause
"""
memory_map.py --make FOLDER: makes a trace of accesses and allocations, all of whose intervals are 10 ms and all of whose blocks
are 64 KiB.
memory_map.py FOLDER SVG [OPTION=VALUE...]: compares a picture of it, with cells of that size, with its rows.
memory_map.py --json JSON SVG: compares the cells of a report with those of a picture.
"""
import json, math, os, random, re, sys
from collections import defaultdict

START = 1_000_000_000_000
MS = 1_000_000
BLOCK = 65536
STEPS = 60
HEAD = {
    "access": "TIMESTAMP TIME PID SOURCE SPAN_NS ADDR BYTES TOUCHED WRITTEN COUNT HUGE NODE TID IP KIND FID OFFSET SITE",
    "alloc": "TIMESTAMP TIME PID TID COMM FUNC ADDR SIZE OLD_ADDR OLD_SIZE LIFE_NS ALLOC_TID SITE OLD_SITE",
    "sites": "TIMESTAMP TIME FIRST_PID SITE KIND FRAMES BUILD_ID",
}


def utc(ns):
    return f"2026-11-27T00:{ns // 10**9 % 3600 // 60:02d}:{ns // 10**9 % 60:02d}.{ns % 10**9:09d}Z"


def make(folder):
    dice = random.Random(4711)
    rows = {"access": [], "alloc": [], "sites": [(START, 10, 1, "python", "/a/b&c/train.py:7:<module>", "-")]}
    regions = [(10, 0x10000, 40), (10, 0x7F0000000000, 24), (10, 0x7F0000200000, 3), (20, 0x10000, 30)]
    for step in range(1, STEPS + 1):
        at = START + step * 10 * MS
        for pid, base, n in regions:
            i = 0
            while i < n:
                run = min(dice.randint(1, 9), n - i)
                share = dice.choice([0, 0, 0, 1, 4, 8, 16, 16])
                if share:
                    touched = run * share * 4096
                    written = dice.choice(["-", 0, touched, run * 4096])
                    kind = "file\t7\t" + str(i * BLOCK) if base == 0x7F0000200000 else "anon\t-\t-"
                    rows["access"].append((at, pid, "pages", 10 * MS, hex(base + i * BLOCK), run * BLOCK, touched, written, "-\t-\t-\t-\t-", kind, "-"))
                i += run
    for i, (pid, addr, size, begin, end) in enumerate([(10, 0x10000, 131072, 15, 300), (10, 0x7F0000000000, 1 << 20, 20, 590), (20, 0x900000, 300000, 40, 250),
                                                       (10, 0x7E0000000000, 65536, 100, None)]):
        rows["alloc"].append((START + begin * MS, pid, pid, "a", "malloc", hex(addr), size, "-", "-", "-", "-", 1, "-"))
        if end:
            rows["alloc"].append((START + end * MS, pid, pid, "a", "free", hex(addr), size, "-", "-", (end - begin) * MS, pid, 1, "-"))
    os.mkdir(folder)
    for name, columns in HEAD.items():
        with open(f"{folder}/{name}.out", "w") as f:
            print(f"# dltraced {name} 1", "\t".join(columns.split()), sep="\n", file=f)
            for row in sorted(rows[name], key=lambda r: r[0]):
                print(row[0], utc(row[0]), *row[1:], sep="\t", file=f)
    clocks = {"monotonic_ns": START, "utc": utc(START)}
    with open(f"{folder}/manifest.json", "w") as f:
        json.dump({"tool": "dltraced", "schema": 1, "complete": True, "start": clocks,
                   "end": {"monotonic_ns": START + 600 * MS, "utc": utc(START + 600 * MS)}, "probes": []}, f)
    with open(f"{folder}/time_align.out", "w") as f:
        print("# dltraced time_align 1", "TIMESTAMP\tTIME\tREALTIME_NS\tBOOTTIME_NS\tERROR_NS\tEVENT", sep="\n", file=f)
        print(START, utc(START), 1795737600 * 10**9, START, 100, "start", sep="\t", file=f)


def read(folder, name):
    with open(f"{folder}/{name}.out") as f:
        lines = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def drawn(svg):
    """Returns { (bin, line): (level, hue) } of the picture's shapes; a cell twice is an error."""
    cells = {}
    group = re.search(r'<g id="touched".*?</g>', svg, re.S).group()
    for hue, level, path in re.findall(r'<path class="h(\d) l(\d)" d="([^"]*)"', group):
        shapes = re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)h-(\d+)z", path)
        assert "".join("M%s %sh%sv%sh-%sz" % s for s in shapes) == path, path
        for x, y, w, h, back in (map(int, s) for s in shapes):
            assert w == back and w and h
            for cell in ((i, j) for i in range(x, x + w) for j in range(y, y + h)):
                assert cell not in cells, cell
                cells[cell] = int(level), int(hue)
    return cells


def frames(svg):
    group = re.search(r'<g id="blocks".*?</g>', svg, re.S).group()
    number = r"([-+\d.e]+)"
    return sorted(tuple(map(float, f)) for f in re.findall(rf'd="M{number} {number}h{number}v{number}h-', group))


def check(folder, name, options):
    svg = open(name).read()
    begin, end = (START + int(options.get(k, d)) * MS for k, d in (("begin", 0), ("end", 10**6)))
    low, high = (int(options.get(k, d), 0) for k, d in (("from", "0"), ("to", str(1 << 57))))
    pages = [r for r in read(folder, "access") if begin <= int(r["TIMESTAMP"]) < end]
    live, blocks = {}, []
    for r in read(folder, "alloc"):
        key = r["PID"], r["ADDR"]
        if not begin <= int(r["TIMESTAMP"]) < end:
            continue
        if r["FUNC"] == "malloc":
            live[key] = r
        else:
            live.pop(key, None)
            blocks.append((int(r["PID"]), int(r["ADDR"], 16), int(r["SIZE"]), int(r["TIMESTAMP"]) - int(r["LIFE_NS"]), int(r["TIMESTAMP"])))
    rows = [int(r["TIMESTAMP"]) for r in pages + [r for r in read(folder, "alloc") if begin <= int(r["TIMESTAMP"]) < end]]
    zero = min([int(r["TIMESTAMP"]) - int(r["SPAN_NS"]) for r in pages] + rows)
    last = max(rows)
    blocks += [(int(r["PID"]), int(r["ADDR"], 16), int(r["SIZE"]), int(r["TIMESTAMP"]), last) for r in live.values()]
    blocks = [b for b in blocks if b[2] >= int(options.get("min", 4096)) and b[1] < high and b[1] + b[2] > low]
    used, cells, known = set(), defaultdict(lambda: defaultdict(lambda: [0, 0])), set()
    for r in pages:
        n = int(r["BYTES"]) // BLOCK
        for i in range(n):
            addr = int(r["ADDR"], 16) + i * BLOCK
            if not low <= addr < high:
                continue
            block = int(r["PID"]), addr // BLOCK
            used.add(block)
            x = (int(r["TIMESTAMP"]) - zero) // (10 * MS) - 1
            cells[x, block][r["TIMESTAMP"]][0] += int(r["TOUCHED"]) / n
            if r["WRITTEN"] != "-":
                known.add((x, block))
                cells[x, block][r["TIMESTAMP"]][1] += int(r["WRITTEN"]) / n
    for pid, addr, size, _, _ in blocks:
        used.update((pid, i) for i in range(max(addr, low) // BLOCK, (min(addr + size, high) - 1) // BLOCK + 1))
    line = {block: i for i, block in enumerate(sorted(used))}
    expected = {}
    for (x, block), intervals in cells.items():
        touched, written = (max(v[k] for v in intervals.values()) for k in (0, 1))
        hue = 0 if (x, block) not in known else 1 if not written else 2 if written * 2 < touched else 3
        expected[x, line[block]] = math.ceil(touched / BLOCK * 8), hue
    found = drawn(svg)
    if options.get("scale") == "any":
        assert found and len(frames(svg)) == len(blocks)
        return
    assert found == expected, [(c, found.get(c), expected.get(c)) for c in sorted(found.keys() | expected.keys()) if found.get(c) != expected.get(c)][:10]
    wanted = sorted(((b[3] - zero) / (10 * MS), line[b[0], max(b[1], low) // BLOCK] + max(b[1], low) % BLOCK / BLOCK, (b[4] - b[3]) / (10 * MS),
                     (min(b[1] + b[2], high) - max(b[1], low)) / BLOCK) for b in blocks if b[4] > b[3])
    got = frames(svg)
    assert len(got) == len(wanted) and all(abs(a - b) < 1e-3 for f, g in zip(got, wanted) for a, b in zip(f, g)), (got, wanted)
    assert ('class="b f"' in svg) == (options.get("frames") != "no")
    if "from" not in options and "begin" not in options:
        assert "train.py:7:&lt;module>" in svg and "FID 7" in svg


def check_json(report, name):
    memory, = json.load(open(report))["timeline"]["memory"]
    cells = {}
    for x, y, w, h, level, hue in memory["rects"]:
        for cell in ((i, j) for i in range(x, x + w) for j in range(y, y + h)):
            assert cell not in cells
            cells[cell] = level, hue
    svg = open(name).read()
    assert cells == drawn(svg)
    assert len(memory["blocks"]) == len(frames(svg)) and memory["sources"] == ["pages"]


if sys.argv[1] == "--make":
    make(sys.argv[2])
elif sys.argv[1] == "--json":
    check_json(*sys.argv[2:])
else:
    check(sys.argv[1], sys.argv[2], dict(o.split("=") for o in sys.argv[3:]))
