#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `export -f folded' has regions as stacks of their own, with the time in no region within them: as Python finds them in the
# same rows, top down, for random trees with names to escape, threads, lanes and hosts; a lane with more regions side by
# side than are kept, and one deeper than is kept, lose no time. Calls have their stacks as without regions. Needs no root.
. "${0%/*}/../lib.sh"
python
cat >make.py <<'PY'
import collections
import json
import os
import random

made = random.Random(5)
COLUMNS = "TIMESTAMP TIME PID TID COMM CAT NAME LAT_NS RET EPOCH STEP BYTES LANE SOURCE ARGS".split()
stacks = collections.Counter()


def tree(begin, end, depth):
    """Siblings from BEGIN to END: (begin, end, cat, name, those within it)."""
    found = []
    while begin < end:
        until = min(end, begin + made.randint(1, (end - begin) // 2 + 1))
        within = tree(begin + (until - begin) // 5, until - (until - begin) // 5, depth - 1) if depth else []
        cat, name = made.choice((("app", "a"), ("io", "b;c"), ("io", "d\\040e"), ("compute", "step")))
        found.append((begin, until, cat, name, within))
        begin = until + made.randint(1, 99)
    return found


def walk(siblings, path):
    """Counts the stacks of SIBLINGS, and yields their rows, in the order of their ends."""
    for begin, end, cat, name, within in siblings:
        here = path + (f"{cat}.{name}".replace(";", ":").replace("\\040", " "),)
        yield from walk(within, here)
        stacks[here] += end - begin - sum(r[1] - r[0] for r in within)
        yield end, begin, cat, name


def write(folder, lanes):
    os.mkdir(folder)
    with open(f"{folder}/manifest.json", "w") as f:
        json.dump({"tool": "dltraced", "schema": 1, "complete": True, "host": folder, "probes": []}, f)
    rows = [(end, begin, pid, tid, lane, cat, name) for pid, tid, lane, siblings in lanes
            for end, begin, cat, name in walk(siblings, ("(regions)", f"py{tid}"))]
    with open(f"{folder}/regions.out", "w") as f:
        f.write("# dltraced regions 1\n" + "\t".join(COLUMNS) + "\n")
        for end, begin, pid, tid, lane, cat, name in sorted(rows, key=lambda row: row[0]):
            f.write(f"{end}\t-\t{pid}\t{tid}\tpy{tid}\t{cat}\t{name}\t{end - begin}\t0\t-\t-\t-\t{lane}\tapi\t-\n")
        f.write(f"{10**13}\t-\t1\t1\tpy1\tmark\tnow\t0\t0\t-\t-\t-\t-\tapi\t-\n")


begin = 10**12
for host in "one", "two":
    write(host, [(pid, tid, lane, tree(begin, begin + 10**6, 4)) for pid, tid in ((1, 1), (1, 2), (3, 3)) for lane in ("-", 0, 7)])
with open("wanted", "w") as f:
    f.writelines(sorted(f"{';'.join(path)} {ns}\n" for path, ns in stacks.items() if ns))

# side by side, then all of them within one; deeper and deeper
stacks.clear()
write("wide", [(1, 1, "-", [(begin, begin + 20 * 10000, "app", "all", [(begin + 20 * i, begin + 20 * i + 7, "io", "x", []) for i in range(10000)])])])
deep = []
for i in range(500):
    deep = [(begin + 1000 - i, begin + 1001 + i, "app", f"n{i % 7}", deep)]
write("deep", [(1, 1, "-", deep)])
PY
python3 make.py || fail "make.py"
folded() { "$DLT" export -f folded -P regions -o - "$@"; }
folded one two | LC_ALL=C sort >got || fail "status $?"
LC_ALL=C sort wanted | cmp - got || fail "$(LC_ALL=C sort wanted | diff - got | head -n 20)"
[ "$(wc -l <got)" -gt 300 ] || fail "$(wc -l <got) stacks"
equal "time of 10000 within one" "$(folded wide | awk '{ n += $NF } END { print n }')" 200000
equal "of it in the inner ones" "$(folded wide | awk '/io\.x/ { n += $NF } END { print n }')" 70000
equal "time of 500 levels" "$(folded deep | awk '{ n += $NF } END { print n }')" 999

# beside calls
cp -r "$here/../golden/trace-small" calls
"$DLT" export -f folded -o - calls >before 2>/dev/null
[ -s before ] || fail "no stacks of calls"
cp one/regions.out calls
"$DLT" export -f folded -o - calls >after 2>/dev/null
grep -v '^(regions);' after | cmp - before || fail "other calls: $(diff before after)"
equal "regions beside calls" "$(grep -c '^(regions);' after)" "$(folded one | wc -l)"
