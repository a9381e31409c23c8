#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The picture of a matrix of runs: each mark is where the numbers of its JSON say, with modes on several nodes, runs that do
# not count, programs without dry runs, and one whose runs take the same time.
. "${0%/*}/../lib.sh"
python

python3 -B "$here/checks/matrix_svg.py" --make m || fail "no matrix"
"$DLT" report --matrix m --json --svg m.svg >json || fail "status $?"
python3 -B "$here/checks/matrix_svg.py" json m.svg >marks || fail "$(cat json)"
equal "marks" "$(cat marks)" "$(python3 -c 'import json
r = json.load(open("json"))["runs"]
timed = [x for x in r if x["wall_ns"] is not None]
dry = {(x["program"], x["cpu"], x["rep"]) for x in timed if x["dry"] and x["counted"] and x["mode"][0] == "a"}
print(len(timed) + sum((x["program"], x["cpu"], x["rep"]) in dry and not x["dry"] for x in timed), "marks")')"

# without a dry run there is nothing to compare with
grep -v "	yes	" m/matrix.tsv >only
mv only m/matrix.tsv
"$DLT" report --matrix m --json --svg m.svg >json || fail "status $?"
python3 -B "$here/checks/matrix_svg.py" json m.svg >marks || fail "$(cat json)"
grep -q 'class="overhead"' m.svg && fail "compared with nothing"
"$DLT" report --matrix m --svg - >stdout || fail "status $?"
cmp stdout m.svg
