# SPDX-License-Identifier: BSD-2-Clause
"""bio_files TRACE MOUNT WHAT [PIDS]: are the files and places of bio.out those that FIEMAP shows?

Each block of each row is looked up in the extents of the files at MOUNT. WHAT is what the workload (bio_files.py of
tests/workloads) did in MOUNT's folder "files": after read and write, every byte of every file there must have been in a
row with its file. PIDS: the workload's output, with the processes that did the direct I/O, or wrote.
"""
import collections
import fcntl
import os
import struct
import sys

import tracefolder

BLOCK = 4096
FS_IOC_FIEMAP = 0xC020660B
LAST, INLINE = 1, 0x200


def extents(path):
    """Yields (offset, place on the device, length) of the file's extents, from FIEMAP."""
    with open(path, "rb") as file:
        start = 0
        while True:
            buffer = bytearray(struct.pack("=QQLLLL", start, 2**63, 0, 0, 256, 0) + bytes(56 * 256))
            fcntl.ioctl(file.fileno(), FS_IOC_FIEMAP, buffer)
            count = struct.unpack_from("=L", buffer, 20)[0]
            flags = LAST
            for i in range(count):
                logical, physical, length, _, _, flags = struct.unpack_from("=QQQQQL", buffer, 32 + 56 * i)
                start = logical + length
                if not flags & INLINE:
                    yield logical, physical, length
            if flags & LAST:
                return


def device(folder):
    """Returns major and minor number as in files.out, and the file system's name."""
    with open("/proc/self/mountinfo", encoding="ascii") as file:
        for line in file:
            fields = line.split()
            if fields[4] == folder:
                return fields[2], fields[fields.index("-") + 1]
    sys.exit(f"{folder} is no mount point")


def owners(folder):
    """Returns a dictionary of the device's blocks: block number to (path, offset)."""
    blocks = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            for logical, physical, length in extents(path):
                for at in range(0, length, BLOCK):
                    blocks[(physical + at) // BLOCK] = (path, logical + at)
    return blocks


def runs(pieces):
    """Returns the number of extents that these (path, offset) form."""
    return sum(1 for a, b in zip([(None, 0)] + pieces[:-1], pieces) if b != (a[0], a[1] + BLOCK))


def shift_of(rows, names, places):
    """btrfs: FIEMAP has addresses of its own; returns their distance from those of the disk, for most of the bytes."""
    shifts = collections.Counter()
    for row in rows:
        place = places.get((names.get(row["FID"]), int(row["FOFF"])) if row["FOFF"] != "-" else None)
        if place is not None:
            shifts[row.n("SECTOR") // 8 - place] += row.n("BYTES")
    return shifts.most_common(1)[0][0] if shifts else 0


ROWS_OF_REQUEST = 16  # rows in bio_map.out; one more row stands for the rest


def pieces_of(trace, row, maps, names, blocks):
    """Returns how many bytes of ROW, a request of several extents, have the right file and place in bio_map.out; compares
    all its rows.
    """
    first, behind = row.n("SECTOR"), row.n("SECTOR") + row.n("BYTES") // 512
    mine = [m for m in maps if m["DISK"] == row["DISK"] and first <= m.n("SECTOR") < behind and
            row.n("TIMESTAMP") - row.n("LAT_NS") <= m.n("TIMESTAMP") <= row.n("TIMESTAMP")]
    trace.require(len(mine) == min(row.n("EXTENTS"), ROWS_OF_REQUEST + 1), f"{len(mine)} rows of the map: {row}")
    at, right = first, 0
    for i, m in enumerate(mine):
        trace.require(m.n("SECTOR") == at, f"a gap in the map, or a piece twice: {m}")
        at += m.n("BYTES") // 512
        if i == 0:  # the request's writer may be that of a later piece
            columns = ("KIND", "FID", "FOFF") if m["WPID"] == "-" else ("KIND", "FID", "FOFF", "WPID", "WTID")
            trace.require(all(m[c] == row[c] for c in columns), f"the first piece is {m}, the request {row}")
        trace.require(i < ROWS_OF_REQUEST or m["FID"] == "-", f"a file in the last row: {m}")
        for j in range(m.n("BYTES") // BLOCK if m["FID"] != "-" else 0):
            piece = blocks.get(m.n("SECTOR") // 8 + j)
            if piece is not None:
                trace.require(piece == (names.get(m["FID"]), m.n("FOFF") + j * BLOCK), f"{m}: block {j} is {piece}")
                right += BLOCK
    trace.require(at == behind, f"the map's pieces end at {at}: {row}")
    for m in mine:
        maps.remove(m)
    return right, sum(m.n("BYTES") for m in mine[:ROWS_OF_REQUEST])


def main():
    folder, mount, what = sys.argv[1:4]
    pids = None
    if len(sys.argv) > 4:
        with open(sys.argv[4], encoding="ascii") as file:
            pids = [line.split()[1] for line in file]
    trace = tracefolder.Trace(folder, may_lose=("bio",))
    lost = trace.counters["bio"]["lost"]
    # writers without room in the table, or whose hook the kernel skipped
    forgotten = trace.counters["bio"].get("overwritten", 0) + trace.manifest["skipped_runs"] + lost
    dev, fstype = device(mount)
    blocks = owners(mount)
    names = {}
    for row in trace["files"]:
        path = os.fsdecode(row.b("REALPATH"))
        names.setdefault(row["FID"], path)
        if row["STATE"] == "ok" and path.startswith(mount + "/") and os.path.exists(path):
            trace.require(str(os.stat(path).st_ino) == row["INO"], f"of another inode: {row}")
    rows = [row for row in trace["bio"] if row["T"] in "RW" and row["BYTES"] not in "0-"]
    if fstype == "btrfs":
        shift = shift_of(rows, names, {place: block for block, place in blocks.items()})
        blocks = {block + shift: place for block, place in blocks.items()}
    sums, covered = collections.Counter(), set()
    maps = list(trace["bio_map"])
    whole_map = not lost and not trace.counters["bio_map"]["lost"]
    for row in rows:
        if row.n("SECTOR") % 8:
            sums["unaligned"] += row.n("BYTES")
            continue
        first, count = row.n("SECTOR") // 8, row.n("BYTES") // BLOCK
        there = [blocks.get(first + i) for i in range(count)]
        kind = row["KIND"]
        sums[kind] += row.n("BYTES")
        whole = None not in there
        if row["EXTENTS"] not in "-1" and whole_map:
            right, bytes_mapped = pieces_of(trace, row, maps, names, blocks)
            sums["mapped"] += right
            # unknown bytes belong to a removed file, or come after the sixteenth piece
            if whole and kind == "data" and what != "hostile":
                trace.require(right == bytes_mapped, f"of {bytes_mapped} bytes {right} have their file in the map: {row}")
        # a request may also contain blocks of a removed file: the blocks of existing files are covered nevertheless
        if what != "hostile":
            covered.update(first + i for i, piece in enumerate(there) if piece is not None)
        trace.require(kind in ("data", "direct", "meta", "journal", "super", "other", "below", "swap"), f"of no kind: {row}")
        if row["FID"] == "-":
            # blocks that were metadata may belong to a file by now
            if any(there) and what != "hostile" and kind not in ("meta", "journal", "super"):
                sums["unknown"] += not (fstype == "btrfs" and what == "direct" and kind in ("direct", "data"))
                sums["unknown " + kind] += row.n("BYTES")
            continue
        trace.require(kind in ("data", "direct"), f"a file's, but not data: {row}")
        name, offset = names.get(row["FID"]), row.n("FOFF")
        if any(there) and there[0]:
            pieces = there if row["EXTENTS"] == "1" else there[:1]
            for i, piece in enumerate(pieces):
                if piece is not None:
                    good = piece == (name, offset + i * BLOCK)
                    sums["right" if good else "wrong"] += BLOCK
                    trace.require(good, f"{row}: block {i} is {piece}, in the row {name} at {offset + i * BLOCK}")
            if whole and kind != "direct":
                trace.require(runs(there) == row.n("EXTENTS"), f"{runs(there)} extents: {row}")
                sums["several"] += row["EXTENTS"] != "1"
        if pids is not None and kind == "direct":
            trace.require(row["PID"] in pids or row["COMM"].startswith("kworker"), f"of none of the processes: {row}")
        if pids is not None and row["T"] == "W" and (row["WPID"] != "-" or not forgotten):
            trace.require(row["WPID"] in pids and row["WN"] == "1", f"written by none of the processes: {row}")
        if row["T"] == "R":
            trace.require(row["WPID"] == row["WN"] == row["WCOMM"] == "-", f"a read has a writer: {row}")
    if what in ("read", "write") and not lost:
        missing = [place for block, place in blocks.items() if block not in covered and
                   place[0].startswith(mount + "/files/") and not place[0].endswith("/mapped")]
        trace.require(not missing, f"{len(missing)} blocks are in no row, the first: {missing[:3]}")
    # the kernel may have skipped the hook that notes direct I/O
    trace.require(sums["unknown"] <= forgotten, f"{sums['unknown']} requests for files are of no known file, {forgotten} can be: {dict(sums)}")
    # a disk that takes bios merges none of them, so each of them is one piece
    merges = any("BIO" not in row["FLAGS"].split("|") for row in rows)
    trace.require(sums["right"] > 0 and (what != "write" or not whole_map or sums["mapped"] > 0 or not merges),
                  f"nothing was compared: {dict(sums)}")
    trace.require(not maps or not whole_map or any(row["STATUS"] == "?" for row in rows), f"of no request: {maps[:3]}")
    print(f"{fstype} {what}: {dict(sums)}", file=sys.stderr)
    trace.finish()


main()
