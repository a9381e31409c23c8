#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The benchmark counts right: every call of its workloads is a row of dltraced. Its times are not looked at; the counts
# of other tracers are checked by make check-peers.
#
# full: more than a minute of CPU time
. "${0%/*}/../lib.sh"
need unshare awk

BENCH_NEWEST=no "$here/../bench/run" -r 1 -d 100 -t none -t dltraced -o "$PWD/results" \
	-w reads -w 'reads, 2 threads' -w 'small files' -w writes -w mixed >tables 2>err ||
	fail "status $?: $(cat err)"
equal "runs" "$(grep -c '"rows"' results)" 25
python3 - results <<'END' || fail "$(cat err)"
import json, sys

for run in json.load(open(sys.argv[1]))["runs"]:
    if run["tracer"] != "none" and not run["calls"] == run["rows"] + run["lost"] > 0:
        sys.exit("%(workload)s, %(tracer)s: %(calls)d calls, %(rows)d rows, %(lost)d lost" % run)
END

# the cost with a disk: the reads that it makes are requests there. The counter has other processes' requests, too.
BENCH=disk "$here/../bench/run" -r 1 -n 200 >tables 2>err || fail "status $?: $(cat err)"
grep -q '^disk: skipped' err ||
	awk -F ' *[|] *' '$2 == "direct" && $4 ~ /^bio_issue/ && $3 == 200 && $5 >= 200 { found = 1 } END { exit !found }' tables ||
	fail "no 200 reads: $(cat tables err)"

# what allocations cost: no row is lost
BENCH=alloc "$here/../bench/run" -r 1 -n 2000 >tables 2>err || fail "status $?: $(cat tables err)"
[ "$(grep -c '^| 64 bytes' tables)" = 4 ] || fail "$(cat tables)"

# what accesses of memory cost: no row is lost
BENCH=access "$here/../bench/run" -r 1 -n 2000 >tables 2>err || fail "status $?: $(cat tables err)"
[ "$(grep -c 'access' tables)" -ge 4 ] || fail "$(cat tables)"

# what the identity of files costs: no row is lost
BENCH=identity "$here/../bench/run" -r 1 -n 200 >tables 2>err || fail "status $?: $(cat tables err)"
grep -q '^| names | tmpfs |' tables || fail "no figures: $(cat tables err)"

# what a read without a row costs: there are sums in place of rows
BENCH=min_latency "$here/../bench/run" -r 1 -n 20000 >tables 2>err || fail "status $?: $(cat tables err)"
[ "$(grep -c '^| dltraced' tables)" = 2 ] || fail "$(cat tables)"

# the sizes of a row: each form that can be had here
BENCH=sizes "$here/../bench/run" -r 1 -n 2000 >tables 2>err || fail "status $?: $(cat tables err)"
awk -F ' *[|] *' '$2 == "text" { text = $3 + 0 } $2 ~ /zstd/ { zstd = $3 + 0 } $2 ~ /pfw`/ { pfw = $3 + 0 }
	END { exit !(text > 50 && zstd > 1 && zstd < text && pfw > 1 && pfw < text) }' tables || fail "$(cat tables)"

# what a region costs the program: each is a row, those of C and of the four forms of pure Python at least
BENCH=regions "$here/../bench/run" -r 1 -n 2000 >tables 2>err || fail "status $?: $(cat tables err)"
grep -q '^| C | DLTRACED_REGION |' tables && grep -q '^| NVTX, our library | push and pop | [0-9.]* ([^|]*) | [0-9]' tables && grep -q '^| Python, pure | iterator |' tables || fail "$(cat tables err)"
awk -F ' *[|] *' '$2 == "lost rows" { split($4, n, " "); found = n[1] == 0 && n[3] >= 2000 + 3 * 400000 } END { exit !found }' tables ||
	fail "rows: $(cat tables)"
