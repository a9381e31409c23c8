# SPDX-License-Identifier: BSD-2-Clause
"""export_rows.py NDJSON CSV VIEWS FOLDER...: both exports have each row of the folders, with its values, and no other.

The .out files are read here line by line. VIEWS, the output of `dltraced probes --duckdb', shows which columns are
numbers.
"""
import collections
import csv
import glob
import gzip
import json
import os
import re
import sys

ndjson, folder, views, traces = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
TYPES = {}
for view, columns in re.findall(r"CREATE OR REPLACE VIEW (\w+) AS.*?columns=\{(.*?)\}", open(views).read(), re.DOTALL):
    TYPES[view] = dict(re.findall(r"'([^']+)': '(\w+)'", columns))
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
csv.field_size_limit(1 << 24)


def text(field):
    """Returns a field as in an export: bytes that are not text stay \\ooo, as does the backslash."""
    raw = re.sub(rb"\\([0-3][0-7]{2})", lambda m: bytes([int(m[1], 8)]), field)
    out = []
    for char in raw.decode(errors="surrogateescape"):
        byte = char.encode(errors="surrogateescape")
        odd = "\udc80" <= char <= "\udcff" or char == "\\" or (ord(char) < 32 and char not in "\t\n\r") or 127 <= ord(char) < 160
        out.append("".join("\\%03o" % b for b in byte) if odd else char)
    return "".join(out)


def is_number(probe, column, field):
    kind = TYPES.get(probe, {}).get(column)
    if kind:
        return kind.endswith("BIGINT")
    return column == "TIMESTAMP" or (column != "TIME" and bool(NUMBER.fullmatch(field.decode(errors="replace"))))


def value(probe, column, field):
    """Returns the value as in JSON; Ellipsis: there is no such member."""
    if field == b"-":
        return None
    if field == b"?":
        return Ellipsis
    if is_number(probe, column, field):
        return field.decode() if NUMBER.fullmatch(field.decode(errors="replace")) else None
    return text(field)


def cell(value, number=False):
    if value is None or value is Ellipsis:
        return ""
    return "'" + value if not number and value[:1] and value[0] in "=+-@\t\r\n'\uff1d\uff0b\uff0d\uff20" else value


def lines(path):
    """Yields the complete lines of all segments, in order."""
    base = path[: -len(".out")]
    for part in sorted(glob.glob(base + ".[0-9]*.out*")) + [path]:
        with (gzip.open if part.endswith(".gz") else open)(part, "rb") as f:
            data = f.read()
        yield data.split(b"\n")[:-1]


def rows_of(trace):
    """Yields (probe, {column: field}) of each row."""
    for path in sorted(glob.glob(os.path.join(trace, "*.out"))):
        probe = os.path.basename(path)[: -len(".out")]
        for part in lines(path):
            if len(part) < 2 or not part[0].startswith(b"# dltraced "):
                continue
            columns = part[1].decode().split("\t")
            for line in part[2:]:
                fields = line.split(b"\t")
                if not line.startswith(b"#") and len(fields) >= len(columns) and fields[0].isdigit():
                    yield probe, dict(zip(columns, fields))


def key(values):
    return tuple(sorted((k, str(v)) for k, v in values.items()))


def host_of(trace):
    try:
        return json.load(open(os.path.join(trace, "manifest.json"), encoding="utf-8"))["host"]
    except (OSError, ValueError, KeyError):
        return os.path.basename(os.path.realpath(trace))


wanted_json, wanted_csv, seen = collections.Counter(), collections.Counter(), collections.Counter()
for trace in traces:
    host = host_of(trace)
    seen[host] += 1
    host += f"#{seen[host]}" if seen[host] > 1 else ""
    for probe, row in rows_of(trace):
        known = TYPES.get(probe) or row
        values = {c: value(probe, c, row.get(c, b"-")) for c in known}
        wanted_csv[(probe, key({"host": cell(text(host.encode())), **{c: cell(v, is_number(probe, c, row.get(c, b"-"))) for c, v in values.items()}}))] += 1
        values = {c: v for c, v in values.items() if v is not Ellipsis}
        wanted_json[(probe, key({"host": host, "probe": probe, **values}))] += 1

found_json, found_csv = collections.Counter(), collections.Counter()
with open(ndjson, encoding="utf-8") as f:
    for line in f:
        row = json.loads(line, parse_int=str, parse_float=str)
        found_json[(row["probe"], key(row))] += 1
for name in os.listdir(folder):
    with open(os.path.join(folder, name), encoding="utf-8", newline="") as f:
        for row in csv.DictReader(f):
            if None in row or None in row.values():
                sys.exit(f"{name}: a row has another number of fields than the header: {row}")
            found_csv[(name[: -len(".csv")], key(row))] += 1


def compare(what, found, wanted):
    for more, kind in ((found - wanted, "is in no trace"), (wanted - found, "is not there")):
        for probe, row in list(more)[:3]:
            print(f"{what}: of {probe}, {dict(row)} {kind}")
    if found != wanted:
        sys.exit(1)


compare("ndjson", found_json, wanted_json)
compare("csv", found_csv, wanted_csv)
if not wanted_json:
    sys.exit("no row at all")
print(sum(found_json.values()))
