#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `dltraced probes --json` has each file with the columns of its header line, in their order. Each value of the golden
# files, which have the largest values and all kinds of rows, fits the type of its column. A number has a unit if its
# meaning names one.
#
# smoke
. "${0%/*}/../lib.sh"

python
"$DLT" probes --json >probes.json || fail "status $?"
python3 - probes.json "$here/../golden" <<'END' || fail "the lines above"
import json, os, re, sys

answer = json.load(open(sys.argv[1], encoding="utf-8"))
TYPES = {
    "int64": lambda v: re.fullmatch(r"-?[0-9]+", v) and -2**63 <= int(v) < 2**63,
    "uint64": lambda v: re.fullmatch(r"[0-9]+", v) and int(v) < 2**64,
    "time": lambda v: re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z", v),
    "hex": lambda v: re.fullmatch(r"0x[0-9a-f]+|0|-[0-9]+", v),
    "octal": lambda v: re.fullmatch(r"0[0-7]*", v),
    "name": lambda v: re.fullmatch(r"[A-Za-z0-9_:/+-]+", v),
    "flags": lambda v: re.fullmatch(r"(\||[A-Za-z0-9_]+)+", v),
    "text": lambda v: re.fullmatch(r'(\\[0-7]{3}|[^\x00-\x20\x7f"#\\])+', v),
}
UNITS = {r"\bns\b": "ns", r"\bbytes$|\bbytes\b[ ;,]": "bytes", r"^(of these, |clean )?pages\b": "pages", r"^first sector": "sectors"}
errors, seen = [], set()
for probe in answer["probes"]:
    assert probe["file"] == probe["name"] + ".out" and probe["description"], probe
    with open(os.path.join(sys.argv[2], probe["name"] + ".txt"), encoding="utf-8") as f:
        f.readline()
        header, *rows = (line.rstrip("\n").split("\t") for line in f)
    if header != [c["name"] for c in probe["columns"]]:
        errors.append(f"{probe['name']}: columns are not those of the header: {header}")
    for i, column in enumerate(probe["columns"]):
        where = f"{probe['name']}.{column['name']}"
        for value in {row[i] for row in rows} - {"-", "?"}:
            seen.add(column["type"])
            if not TYPES[column["type"]](value):
                errors.append(f"{where}: {value} is no {column['type']}")
        wanted = {unit for words, unit in UNITS.items() if re.search(words, column["description"])}
        if column["type"] in ("int64", "uint64"):
            if wanted and column["unit"] not in wanted:
                errors.append(f"{where}: unit {column['unit']}: {column['description']}")
        elif column["unit"]:
            errors.append(f"{where}: a {column['type']} in {column['unit']}")
if seen != set(TYPES):
    errors.append(f"no value of {set(TYPES) - seen}")
if {c["file"] for c in answer["collectors"]} != {"cpu.out", "disk.out", "cgroup.out", "gpu.out", "gpu_dev.out"}:
    errors.append(f"collectors: {answer['collectors']}")
print("\n".join(errors))
sys.exit(bool(errors))
END
