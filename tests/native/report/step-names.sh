#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `report --step NAME' makes steps of a program's own regions, whose usual names make none; a name that no region has is
# said. The regions are made up. Needs no root.
. "${0%/*}/../lib.sh"
python
mkdir made
echo '{ "tool": "dltraced", "schema": 1, "complete": true, "probes": [] }' >made/manifest.json
python3 - <<'PY'
begin, second = 1000 * 10**9, 10**9
with open("made/regions.out", "w") as f:
    f.write("# dltraced regions 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tCAT\tNAME\tLAT_NS\tRET\tEPOCH\tSTEP\tBYTES\tLANE\tSOURCE\tARGS\n")
    for i in range(20):
        for cat, name, at, ns in (("io", "load", 0, second // 4), ("Trainer", "Batch", second // 4, second // 2)):
            f.write(f"{begin + i * second + at + ns}\t-\t100\t100\tpython\t{cat}\t{name}\t{ns}\t0\t{i // 10}\t{i}\t-\t-\tapi\t-\n")
PY
steps() { "$DLT" report --json made "$@" 2>err | python3 -c 'import json, sys; print(sum(s["steps"] for s in json.load(sys.stdin)["steps"]))'; }

equal "steps without it" "$(steps)" 0
equal "by name" "$(steps --step batch)" 20
equal "by category and name" "$(steps --step nothing --step ai.trainer.batch)" 20
equal "of another category" "$(steps --step io.batch)" 0
"$DLT" report --json --step batches made >json || fail "--step batches: status $?"
grep -q -e '--step batches: no region has such a name' json || fail "an unknown name: $(cat json)"
"$DLT" report --step '' made >out 2>err && fail "--step with an empty name: status 0"
grep -q -e "--step '': empty" err || fail "an empty name: $(cat err)"
