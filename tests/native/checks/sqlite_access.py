# SPDX-License-Identifier: BSD-2-Clause
"""sqlite_access.py DB FOLDER...: the rows of access_runs, their points, and their sums are those of access.out."""
import sqlite3, sys

db = sqlite3.connect(sys.argv[1])


def table(folder, name):
    try:
        with open(f"{folder}/{name}.out") as f:
            lines = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    except FileNotFoundError:
        return []
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def number(text):
    return None if text == "-" else int(text, 0)


for nr, folder in enumerate(sys.argv[2:], 1):
    rows = table(folder, "access")
    zero = min(int(r["TIMESTAMP"]) for r in rows + table(folder, "alloc"))
    wanted, points = [], []
    for r in rows:
        at, addr, size = int(r["TIMESTAMP"]) - zero, int(r["ADDR"], 0), int(r["BYTES"])
        wanted.append((at, int(r["SPAN_NS"]), addr, size, number(r["TOUCHED"]), number(r["WRITTEN"]), number(r["COUNT"]), r["SOURCE"],
                       number(r["TID"]), number(r["IP"]), number(r["NODE"]), number(r["SITE"])))
        write = None if r["WRITTEN"] == "-" else int(int(r["WRITTEN"]) > 0)
        points += [(at, a, write) for a in ([addr] if r["COUNT"] == "1" else range(addr, addr + size, 65536))]
    found = db.execute("SELECT at_ns, span_ns, addr, bytes, touched, written, count, source, tid, ip, node, site_id FROM access_runs "
                       "WHERE run_id = ? ORDER BY rowid", (nr,)).fetchall()
    assert found == wanted and rows, (found[:3], wanted[:3])
    key = lambda p: (p[0], p[1], p[2] is None, p[2] or 0)
    found = db.execute("SELECT at_ns, addr, is_write FROM access WHERE run_id = ?", (nr,)).fetchall()
    assert sorted(found, key=key) == sorted(points, key=key), (len(found), len(points))
    sums = db.execute("SELECT count(*), sum(BYTES), sum(TOUCHED), sum(WRITTEN), sum(COUNT) FROM access_out a JOIN runs r ON r.host = a.host "
                      "WHERE r.id = ?", (nr,)).fetchone()
    assert sums == db.execute("SELECT count(*), sum(bytes), sum(touched), sum(written), sum(count) FROM access_runs WHERE run_id = ?", (nr,)).fetchone()
assert [c[1] for c in db.execute("PRAGMA table_info(access)")] == ["run_id", "at_ns", "addr", "is_write"]
assert db.execute("SELECT count(*) FROM sqlite_master WHERE type = 'view' AND name = 'access_out_paths'").fetchone() == (1,)
