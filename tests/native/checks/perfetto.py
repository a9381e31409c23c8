# SPDX-License-Identifier: BSD-2-Clause
"""perfetto.py FOLDER PFTRACE... [-- FOLDER...]: the files hold each call, request and switch of the folders once, as slices.
For each process with rows in alloc.out they hold a counter of the bytes that it has in use, at the end of each millisecond.

Reads the protocol buffers itself, by the numbers of protos/perfetto/trace of google/perfetto, and nests slices as the
trace processor does: events are sorted by time, those of one instant stay in the order of the file, and an end ends the
innermost slice. So a slice that overlaps another on its track gets a wrong length here, too.
"""
import collections
import glob
import json
import os
import re
import struct
import sys


def fields(data):
    """Yields (number, value) of each field of a message: an int, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        number, wire = key >> 3, key & 7
        if wire == 0:
            yield number, varint()
        elif wire == 1:
            yield number, data[at : at + 8]
            at += 8
        elif wire == 2:
            length = varint()
            if at + length > len(data):
                sys.exit("a field goes beyond its message")
            yield number, data[at : at + length]
            at += length
        else:
            sys.exit(f"field {number} has wire type {wire}")


def message(data):
    out = collections.defaultdict(list)
    for number, value in fields(data):
        out[number].append(value)
    return out


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Reader:
    """The content of one file."""

    def __init__(self, path):
        self.names = {1: {}, 2: {}, 3: {}}  # categories, event names, names of annotations
        self.tracks, self.events, self.counters, self.instants = {}, [], collections.Counter(), collections.Counter()
        self.snapshots = 0
        with open(path, "rb") as f:
            data = f.read()
        for number, packet in fields(data):
            if number != 1:
                sys.exit(f"{path}: field {number} of Trace")
            self.packet(message(packet))

    def packet(self, p):
        if p[10] != [1]:
            sys.exit("a packet without its sequence")
        if p[6]:
            self.snapshots += 1
        if p[59] and message(p[59][0])[58] != [3]:
            sys.exit("the default clock is not CLOCK_MONOTONIC")
        for interned in p[12]:
            for kind, entries in message(interned).items():
                for entry in map(message, entries):
                    self.names[kind][entry[1][0]] = entry[2][0].decode()
        for descriptor in p[60]:
            d = message(descriptor)
            if d[5] and d[5][0] not in self.tracks:
                sys.exit(f"track {d[1]} lies below a track that is not described before it")
            self.tracks[d[1][0]] = d
        for event in p[11]:
            if not self.snapshots:
                sys.exit("an event before the first snapshot of the clocks")
            self.event(p[8][0], message(event))

    def event(self, ns, e):
        track = e[11][0]
        if track not in self.tracks:
            sys.exit(f"an event of track {track}, which is not described before it")
        kind = e[9][0]
        if kind == 4:
            self.counters[(track, ns)] += struct.unpack("<d", e[44][0])[0]
            return
        name = e[23][0].decode() if e[23] else self.names[2][e[10][0]] if e[10] else None
        more = {}
        for a in map(message, e[4]):
            more[self.names[3][a[1][0]]] = a[3][0] if a[3] else signed(a[4][0]) if a[4] else a[6][0].decode()
        category = self.names[1][e[3][0]] if e[3] else None
        if kind == 3:
            self.instants[name] += 1
        else:
            self.events.append((ns, len(self.events), kind, track, name, category, more))

    def slices(self):
        stacks = collections.defaultdict(list)
        for ns, _, kind, track, name, category, more in sorted(self.events, key=lambda e: e[:2]):
            if kind == 1:
                stacks[track].append((ns, name, category, more))
            else:
                begin, name, category, more = stacks[track].pop()
                yield track, begin, ns - begin, name, category, more
        if any(stacks.values()):
            sys.exit("slices without an end")

    def thread_of(self, track):
        while not self.tracks[track][4]:
            if not self.tracks[track][5]:
                return None
            track = self.tracks[track][5][0]
        t = message(self.tracks[track][4][0])
        return t[1][0], t[2][0]

    def name_of(self, track):
        return self.tracks[track][2][0].decode() if self.tracks[track][2] else ""


def rows_of(folder, probe):
    try:
        with open(os.path.join(folder, probe + ".out"), "rb") as f:
            lines = f.read().split(b"\n")[:-1]
    except FileNotFoundError:
        return
    columns = lines[1].decode().split("\t")
    for line in lines[2:]:
        values = line.decode(errors="surrogateescape").split("\t")
        if len(values) >= len(columns) and not line.startswith(b"#"):
            yield dict(zip(columns, values))


def levels_of(folder):
    """Yields (pid, ns, bytes in use) after the last row of each process in each millisecond, by the addresses of blocks."""
    live, last = collections.defaultdict(dict), {}
    for row in rows_of(folder, "alloc"):
        pid, ns, blocks = int(row["PID"]), int(row["TIMESTAMP"]), live[row["PID"]]
        if row["FUNC"].startswith("libc:"):
            continue
        if row["FUNC"] in ("free", "end", "c10::free_cpu"):
            blocks.pop(row["ADDR"], None)
        elif row["ADDR"] != "0":
            blocks.pop(row["OLD_ADDR"], None)
            blocks[row["ADDR"]] = 0 if row["SIZE"] == "-" else int(row["SIZE"])
        if pid in last and last[pid][0] // 1000000 < ns // 1000000:
            yield pid, *last[pid]
        last[pid] = ns, sum(blocks.values())
    for pid, at in last.items():
        yield pid, *at


def plain(text):
    return "\\" not in text and text.isascii()


folders = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else [sys.argv[1]]
files = sys.argv[2 : sys.argv.index("--") if "--" in sys.argv else len(sys.argv)] or sys.exit("no file")
several = len(folders) > 1
wanted, instants, wanted_levels = collections.Counter(), collections.Counter(), {}
first_shift = None
for number, folder in enumerate(folders):
    clock = next(rows_of(folder, "time_align"), None)
    shift = int(clock["REALTIME_NS"]) - int(clock["TIMESTAMP"]) if clock else 0
    first_shift = shift if first_shift is None else first_shift
    for pid, ns, level in levels_of(folder):
        wanted_levels[pid + (number << 22), ns + shift - first_shift] = level
    for path in glob.glob(os.path.join(folder, "*.out")):
        probe = os.path.basename(path)[: -len(".out")]
        for row in rows_of(folder, probe):
            columns = set(row)
            if "PREV_TID" in columns:
                if row["PREV_TID"] == "0" or row["RUN_NS"] == "-":
                    continue
                name, lat, thread = row["PREV_COMM"], row["RUN_NS"], None
            elif "LAT_NS" in columns and probe != "rollup":
                name = row.get("NAME") or row.get("FUNC") or row.get("T", probe)
                lat = row["LAT_NS"]
                thread = None if "DISK" in columns else ((int(row["PID"]) + (number << 22)), (int(row["TID"]) + (number << 22)))
            else:
                if probe in ("marks", "pids", "printed", "workload"):
                    instants[row.get("EVENT") or row["TEXT"]] += 1
                continue
            if not lat.isdigit() or not plain(name):
                continue
            end = int(row["TIMESTAMP"]) + shift - first_shift
            begin = end - int(lat) if int(lat) <= int(row["TIMESTAMP"]) else shift - first_shift
            moved = row.get("RETURNED", row.get("BYTES", "-"))
            wanted[(row.get("CAT", probe), name, begin, end - begin, thread, moved)] += 1

levels = {}
found, found_instants, lanes, counters = collections.Counter(), collections.Counter(), collections.Counter(), 0
for path in files:
    reader = Reader(path)
    counters += len(reader.counters)
    for (track, ns), value in reader.counters.items():
        if reader.name_of(track) == "allocated bytes in use":
            levels[message(reader.tracks[reader.tracks[track][5][0]][3][0])[1][0], ns] = value
    for name, n in reader.instants.items():
        found_instants[name] += n
    for track, begin, length, name, category, more in reader.slices():
        if category is None:
            continue  # phases
        thread = reader.thread_of(track)
        lanes[reader.name_of(track)] += 1
        moved = more.get("RETURNED", more.get("BYTES", "-"))
        found[(category, name, begin, length, thread, str(moved))] += 1
for missing in list(wanted - found)[:5]:
    print("is not there:", missing)
surplus = {key: n for key, n in (found - wanted).items() if plain(key[1])}
for more in list(surplus)[:5]:
    print("is in no trace:", more)
if wanted - found or surplus:
    sys.exit(f"{sum((wanted - found).values())} slices are not there, {sum(surplus.values())} are in no trace")
if levels != wanted_levels:
    print(f"bytes in use {sorted(set(levels.items()) ^ set(wanted_levels.items()))[:5]}")
    sys.exit(f"{len(levels)} values of bytes in use, not these {len(wanted_levels)}")
for name, n in instants.items():
    if plain(name) and found_instants[name] != n:
        sys.exit(f"{found_instants[name]} instants {name}, not {n}")
print(json.dumps({"slices": sum(found.values()), "counters": counters, "levels": len(levels), "tracks": len(lanes)}))
