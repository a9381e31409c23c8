#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# smoke
# The report on alloc.out has the workload's own numbers: what it allocated, what it never freed, and the most that it had in
# use at a time. The tables by stack and by process, and the series, are those of a replay of the rows block by block. Stacks
# have the names of the workload's functions, and none if the file has changed; folded ones have all bytes. Summaries of hosts
# add up.
. "${0%/*}/../lib.sh"
preloadable

python
n=400
[ -z "$slow" ] || n=40
allocs() { trace --probes alloc,time_align --alloc min=64K "$@" >tally 2>err || fail "status $?: $(cat err)"; }
report() {
	"$DLT" report "$@" 2>err
	[ $? -le 1 ] || fail "report $*: $(cat err)"
}

# one thread: the order of its calls is that of the rows
cp "$W/alloc" ./program
allocs -- ./program 1 1 $n
report --json "$t" >json
check allocs json tally exact leave
report --full "$t" >full
grep -q "^never freed     192 KiB in 3 blocks" full || fail "text: $(cat full)"
report "$t" | tr '\n' ' ' | grep -q "memory   programs had at most .*; *they never freed 192 KiB" || fail "screen: $(report "$t")"
report --csv csv "$t"
equal "rows of CSV" "$(wc -l <csv/alloc.csv)" 2
report --html page "$t"
grep -q '"panel":"alloc"' page || fail "the page has no panel"

# a flame graph's input: all bytes, under the functions from the outermost on
"$DLT" export "$t" -f folded -P alloc -o stacks || fail "folded: status $?"
equal "bytes in stacks" "$(awk '{ s += $NF } END { print s }' stacks)" "$(python3 -c 'import json; print(json.load(open("json"))["alloc"][0]["bytes"])')"
grep -q ';main;leave;get 196608$' stacks || fail "folded: $(cat stacks)"
for files in alloc,vfs_rw vfs_rw,alloc; do # bytes and ns in one graph
	"$DLT" export "$t" -f folded -P $files -o none 2>err
	equal "folded of $files: status" $? 125
	grep -q 'export alloc alone (-P alloc)' err || fail "folded of $files: $(cat err)"
	[ ! -e none ] || fail "folded of $files: there is a file"
done

# the file has another build id, or none: its functions have no names
cp /bin/true ./program
report --json "$t" >json
check allocs json tally exact program

# many threads and processes
allocs -- "$W/alloc" 6 4 $n
report --json "$t" >json
check allocs json tally leave
"$DLT" export "$t" -f perfetto -o trace.pftrace || fail "perfetto: status $?"
python3 -B "$here/checks/perfetto.py" "$t" trace.pftrace >out || fail "perfetto: $(cat out)"

# two hosts
cp -r "$t" other
sed -i 's/"host": "[^"]*"/"host": "other"/; s/"boot_id": "[^"]*"/"boot_id": "1"/' other/manifest.json
report --summary-only "$t" other
report --json "$t/summary.json" other/summary.json >sum
python3 - json sum <<'PY' || fail "summaries"
import json, sys
one, two = (json.load(open(f))["alloc"][0] for f in sys.argv[1:])
for key in set(one) - {"peak_ns", "peak_utc", "peak_phase", "short_share", "min_bytes"}:
    assert two[key] == 2 * one[key], (key, one, two)
assert two["min_bytes"] == one["min_bytes"] and two["peak_utc"] is None, two
PY
