# SPDX-License-Identifier: BSD-2-Clause
"""pfw.py DIALECT FILE [FOLDER...]: does a .pfw or .pfw.gz follow the format, and does it have the calls of the folders?

Independent of the export: by what DFTracer writes and its readers expect. Dialects 1 and 2 are lines of JSON between
brackets, 3 has none; hashes are numbers in 1 and 16 hex digits in 2 and 3, every other byte of the name's MD5; a name
comes before its first use; gzip members end where a line ends; readers count `ret' of POSIX events as bytes.
"""
import collections
import glob
import hashlib
import json
import os
import re
import sys
import zlib

import probes

dialect, path, folders = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
LIBC = {"pread64": "pread", "pwrite64": "pwrite", "preadv2": "preadv", "pwritev2": "pwritev", "openat2": "openat",
        "renameat2": "renameat"}
NAME = re.compile(r"[^()\\\"'|\x00-\x1f]*")


def bad(line, why):
    sys.exit(f"{path}: {why}: {line!r}")


def members(data):
    """Yields the text of each gzip member."""
    while data:
        z = zlib.decompressobj(31)
        text = z.decompress(data)
        if not z.eof:
            bad(data[:20], "a member without its trailer")
        yield text
        data = z.unused_data


with open(path, "rb") as f:
    content = f.read()
parts = list(members(content)) if path.endswith(".gz") else [content]
for part in parts:
    if not part.endswith(b"\n"):
        bad(part[-40:], "a member ends inside of a line")
lines = b"".join(parts).decode().splitlines()
if dialect < 3:
    if lines[0] != "[" or lines[-1] != "]":
        bad(lines[0], "no brackets around the lines")
    lines = lines[1:-1]
KEYS = {1: ["id", "name", "cat", "pid", "tid", "ts", "dur", "ph", "args"]}
KEYS[2] = KEYS[1]
KEYS[3] = ["id", "name", "cat", "type", "pid", "tid", "ts", "dur", "ph", "args"]
EVENT, COUNTER, METADATA = ("X", "C", "M") if dialect < 3 else (1, 2, 4)
hashes, ids, calls, posix = {"FH": {}, "HH": {}}, set(), collections.Counter(), 0


def is_hash(value):
    if dialect == 1:
        return isinstance(value, int) and 0 < value < 1 << 63
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{16}", value)


def hash_of(raw):
    digest = hashlib.md5(raw).digest()[::2]
    return int.from_bytes(digest, "big") >> 1 if dialect == 1 else digest.hex()


for text in lines:
    if len(text) > 16384:
        bad(text[:40], "a line of more than 16 KiB")
    line = json.loads(text)
    args = line["args"]
    if "id" in line:
        if line["id"] in ids:
            bad(text, "an id twice")
        ids.add(line["id"])
    for key in ("pid", "tid"):
        if not isinstance(line[key], int):
            bad(text, f"{key} is no number")
    if line["ph"] == METADATA:
        if line["cat"] != "dftracer" or (dialect == 3) == ("id" in line) or (dialect == 3 and line["type"] != 1):
            bad(text, "metadata of another dialect")
        if not is_hash(args["value"]) or not NAME.fullmatch(args["name"]):
            bad(text, "a hash or a name that readers stumble over")
        if args["name"].isascii() and "#" not in args["name"] and " " not in args["name"] and args["value"] != hash_of(args["name"].encode()):
            bad(text, "another hash")
        hashes[line["name"]][args["value"]] = args["name"]
    if args["hhash"] not in hashes["HH"]:
        bad(text, "a host that has no name before")
    if line["ph"] == COUNTER:
        if dialect == 1 or line["cat"] not in ("sys", "gpu"):
            bad(text, "a counter")
    elif line["ph"] == EVENT:
        if list(line) != KEYS[dialect]:
            bad(text, f"keys are {list(line)}")
        if not isinstance(line["ts"], int) or not isinstance(line["dur"], int) or line["dur"] < 0 or line["ts"] < 0:
            bad(text, "a time")
        if "fhash" in args and args["fhash"] not in hashes["FH"]:
            bad(text, "a file that has no name before")
        for key in ("ret", "fd", "offset", "count"):
            if key in args and not isinstance(args[key], int):
                bad(text, f"{key} is no number")
        if line["cat"] == "POSIX":
            posix += 1
            if ":" in line["name"] or line["name"] in LIBC:
                bad(text, "no name of libc's")
            if dialect == 3 and line["type"] != 3:
                bad(text, "a call of another type")
            calls[(line["name"], line["pid"], line["tid"], args.get("ret"), hashes["FH"].get(args.get("fhash")))] += 1
    elif line["ph"] != METADATA:
        bad(text, "ph")

wanted = collections.Counter()
for folder in folders:
    paths = {}
    for name in ["files"] + sorted(os.path.basename(p)[:-4] for p in glob.glob(os.path.join(folder, "*.out"))):
        try:
            with open(os.path.join(folder, name + ".out"), encoding="utf-8", errors="surrogateescape") as f:
                rows = f.read().split("\n")[1:-1]
        except FileNotFoundError:
            continue
        columns, last = rows[0].split("\t"), None
        for row in rows[1:]:
            row = dict(zip(columns, row.split("\t")))
            if name == "files":
                paths[row["FID"]] = row["REALPATH"]
            elif name not in probes.OF_CALLS:
                continue
            elif (row["TIMESTAMP"], row["TID"]) == last or ":" in row["FUNC"] or (name, row["FUNC"]) == ("create_del", "create"):
                continue
            else:
                ret = row.get("RETURNED", row.get("RET"))
                where = paths.get(row.get("FID"), "-")
                wanted[(LIBC.get(row["FUNC"], row["FUNC"]), int(row["PID"]), int(row["TID"]), None if ret in "-?" else int(ret) if "x" not in ret else None,
                        None if where == "-" else where)] += 1
            last = (row["TIMESTAMP"], row["TID"]) if name != "files" else None
if folders and calls != wanted:
    for kind, difference in (("no call of a trace", calls - wanted), ("not there", wanted - calls)):
        for call in list(difference)[:3]:
            print(kind, call)
    sys.exit(f"{sum(calls.values())} calls, {sum(wanted.values())} in the traces")
if not ids and dialect < 3:
    sys.exit("no line")
print(json.dumps({"lines": len(lines), "posix": posix, "members": len(parts)}))
