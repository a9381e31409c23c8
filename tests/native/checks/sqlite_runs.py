# SPDX-License-Identifier: BSD-2-Clause
"""sqlite_runs.py DATABASE FOLDER...: the tables runs and allocs are what the folders have.

The blocks are made here of the ends' own columns (LIFE_NS, ALLOC_TID), there of pairs of rows. Queries of the form that
Heimdallr's programs use give the sums of alloc.out.
"""
import collections
import json
import os
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
FOLDERS = sys.argv[2:]


def number(text):
    return None if text == "-" else int(text, 0)


def rows_of(folder):
    path = f"{folder}/alloc.out"
    if not os.path.exists(path):
        return []
    lines = open(path).read().split("\n")[1:-1]
    columns = lines[0].split("\t")
    return [dict(zip(columns, line.split("\t"))) for line in lines[1:]]


def blocks_of(rows):
    """Returns the blocks, with times since the first row; None stands for what is not known."""
    first = min((int(r["TIMESTAMP"]) for r in rows), default=0)
    blocks, open_blocks = collections.Counter(), collections.Counter()
    for r in rows:
        at, end = int(r["TIMESTAMP"]), r["FUNC"] in ("free", "end")
        state = {"free": "freed", "end": "end"}.get(r["FUNC"], "resized")
        gone = r["ADDR"] if end else r["OLD_ADDR"]
        if gone != "-" and r["LIFE_NS"] != "-":
            begun = at - int(r["LIFE_NS"])
            block = (begun - first, int(gone, 0), number(r["SIZE" if end else "OLD_SIZE"]), int(r["ALLOC_TID"]),
                     number(r["SITE" if end else "OLD_SITE"]))
            blocks[block + (at - first, None if state == "end" else int(r["TID"]), state)] += 1
            open_blocks[block] -= 1
        elif gone != "-" and (end or r["ADDR"] != "0"):
            blocks[(None, int(gone, 0), None, None, None, at - first, None if state == "end" else int(r["TID"]), "before")] += 1
        if not end and r["SIZE"] != "-" and r["ADDR"] != "0":
            open_blocks[(at - first, int(r["ADDR"], 0), int(r["SIZE"]), int(r["TID"]), number(r["SITE"]))] += 1
    for block, n in open_blocks.items():
        assert n >= 0, block
        if n:
            blocks[block + (None, None, "live")] += n
    return blocks


def name_of(folder, dry):
    parts = os.path.basename(os.path.realpath(folder)).rsplit(".", 2)
    if len(parts) == 3 and parts[2].isdigit():
        return parts[0], parts[1], int(parts[2])
    return os.path.basename(os.path.realpath(folder)), "dry" if dry else "trace", 1


total = 0
walls_of = collections.defaultdict(list)
for nr, folder in enumerate(FOLDERS, 1):
    rows = rows_of(folder)
    run = dict(zip((c[1] for c in db.execute("PRAGMA table_info(runs)")), db.execute("SELECT * FROM runs WHERE id = ?", (nr,)).fetchone()))
    m = json.load(open(f"{folder}/manifest.json"))
    used = m["workload"]["rusage"]
    wanted = {
        "utime_ns": used["user_ns"], "stime_ns": used["system_ns"], "wtime_ns": used["wall_ns"], "max_rss": used["max_rss_bytes"] // 1024,
        "minflt": used["minor_faults"], "majflt": used["major_faults"], "nvcsw": used["voluntary_switches"],
        "nivcsw": used["involuntary_switches"], "status": m["workload"]["exit_code"], "dry": int(m.get("dry", False)), "trace": folder,
        "lost": sum(p["lost"] for p in m["probes"]), "first_ns": min((int(r["TIMESTAMP"]) for r in rows), default=None),
    }
    assert {k: run[k] for k in wanted} == wanted, (run, wanted)
    prog, mode, rep = name_of(folder, run["dry"])
    assert (run["prog"], run["mode"], run["run"]) == (prog, mode, rep), run
    walls_of[prog, mode].append(used["wall_ns"])
    assert m["workload"]["argv"][0] in run["cmdline"]
    found = collections.Counter({row[:-1]: row[-1] for row in db.execute(
        "SELECT from_ns, base, size, tid, site_id, to_ns, free_tid, state, count(*) FROM allocs WHERE run_id = ? GROUP BY 1, 2, 3, 4, 5, 6, 7, 8", (nr,))})
    blocks = blocks_of(rows)
    if found != blocks:
        print(list((found - blocks).items())[:3], list((blocks - found).items())[:3])
        sys.exit(f"{folder}: {sum(found.values())} blocks, not {sum(blocks.values())}")
    got = [r for r in rows if r["FUNC"] not in ("free", "end") and r["SIZE"] != "-" and r["ADDR"] != "0"]
    sums = collections.Counter()
    for r in got:
        sums[r["FUNC"], 0] += 1
        sums[r["FUNC"], 1] += int(r["SIZE"])
    for func, n, size in db.execute("SELECT func, count(*), sum(size) FROM allocs WHERE run_id = ? AND from_ns IS NOT NULL GROUP BY func", (nr,)):
        assert (sums[func, 0], sums[func, 1]) == (n, size), (func, n, size)
    # every stack of a block has its frames
    lack = db.execute("SELECT count(*) FROM allocs a JOIN runs r ON r.id = a.run_id LEFT JOIN sites s ON s.host = r.host AND s.SITE = a.site_id "
                      "WHERE a.run_id = ? AND a.site_id IS NOT NULL AND s.FRAMES IS NULL", (nr,)).fetchone()[0] if got else 0
    assert lack == 0, lack
    # the address ranges and the blocks of a picture, by units of 4096 bytes and 1 ms
    drawn = db.execute("""SELECT sum(size) FROM (SELECT from_ns - from_ns % ?2 AS a, to_ns - to_ns % ?2 + ?2 AS b, size, base & ~(?3 - 1) AS low
                          FROM allocs WHERE run_id = ?1 AND coalesce(b >= 0, 1))""", (nr, 1000000, 4096)).fetchone()[0]
    assert (drawn or 0) == sum(b[2] * n for b, n in blocks.items() if b[2]), drawn
    assert db.execute("SELECT count(*), max(at_ns), min(addr), max(is_write) FROM access WHERE run_id = ?", (nr,)).fetchone() == (0, None, None, None)
    total += len(got)

# lists and statistics
listed = db.execute("SELECT prog, mode, group_concat(wtime_ns, ';') FROM runs GROUP BY prog, mode").fetchall()
assert {(prog, mode): sorted(map(int, walls.split(";"))) for prog, mode, walls in listed} == \
    {of: sorted(walls) for of, walls in walls_of.items()}, listed
print(total)
