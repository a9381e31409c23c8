#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --keep drops the oldest rows and counts them: kept and dropped rows add up to the tally, rollup.out has the sums of
# the dropped ones, and the names of files stay. --keep=sums writes only sums, which equal the tally.
. "${0%/*}/../lib.sh"
need python3 gzip
head -c 1048576 /dev/zero >data

# probe NAME KEY: of the manifest.
probe() { manifest "next(p['$2'] for p in m['probes'] if p['name'] == '$1')"; }

# summed CONDITION COLUMN: the sum over rollup.out.
summed() {
	each rollup "if ($1) print $2" | awk '{ n += $1 } END { printf "%.0f\n", n }'
}

trace --rotate 256K --keep 2M -- "$W/storm" -n 120000 -w 0 "$TMPDIR/data" >out 2>err || fail "status $?"
bytes=$(cat "$t"/*.out* | wc -c)
[ "$bytes" -le 2400000 ] || fail "--keep 2M, and there are $bytes bytes"
kept=$(cat "$t"/vfs_rw.*out | grep -c '^[0-9]') dropped=$(probe vfs_rw dropped)
[ "$dropped" -gt 60000 ] && [ "$kept" -gt 2000 ] || fail "$kept kept, $dropped dropped"
equal "rows" "$((kept + dropped))" "$(probe vfs_rw rows)"
equal "calls" "$(probe vfs_rw calls)" "$(probe vfs_rw rows)"
equal "lost" "$(manifest 'sum(p["lost"] for p in m["probes"])')" 0
equal "rows summed up" "$(summed 'PROBE == "vfs_rw"' ROWS)" "$dropped"
reads=$(cat "$t"/vfs_rw.*out | awk -F'\t' '$7 == "pread64" && $16 == "data"' | wc -l)
calls=$(($(summed 'PROBE == "vfs_rw" && COMM == "storm" && RW == "R"' BYTES) / 4096 + reads))
[ "$calls" -ge 120256 ] && [ "$calls" -le 120259 ] || fail "$calls reads by rows and sums"
# the oldest went first: the rest has no gap, up to the growing file
first=$(cd "$t" && ls -- vfs_rw.0* | head -n 1 | cut -d. -f2 | sed 's/^0*//')
last=$(cd "$t" && ls -- vfs_rw.0* | tail -n 1 | cut -d. -f2 | sed 's/^0*//')
equal "segments" "$(find "$t" -name 'vfs_rw.0*' | wc -l)" $((last - first + 1))
equal "files dropped" "$(probe files dropped)" 0
"$DLT" report --full "$t" >report || fail "report: status $?"
grep -q "^- vfs_rw: $dropped rows were dropped by --keep; rollup.out has the sums$" report || fail "$(cat report)"
grep -q "^vfs_rw  *$dropped  " report || fail "no sums in the report: $(cat report)"
grep -q 'in the manifest counts' report && fail "$(cat report)"

# Killed between the sum and the removal: the rows are there as well, and count once.
cp "$t/vfs_rw.00${last}.out" again 2>/dev/null || cp "$t/vfs_rw.$(printf %06d "$last").out" again
one=$(each rollup 'if (PROBE == "vfs_rw" && SEGMENT == 1) print ROWS' | awk '{ n += $1 } END { print n }')
sed "1s/segment=.*/segment=1/" again >"$t/vfs_rw.000001.out"
"$DLT" report --json "$t" >json
equal "sums without what is there" "$(python3 -c '
import json
print(next(s["rows"] for s in json.load(open("json"))["rollup"] if s["name"] == "vfs_rw"))')" $((dropped - one))

# --- marks stay -------------------------------------------------------------------------------------

# Segments by time, so that each file has some to drop.
cat >job <<'END'
for i in $(seq 40); do
	"$DLT" mark -t "$t" "mark $i" || exit 1
	"$W/storm" -n 4000 -w 0 data
	sleep 0.1
done
END
export DLT W t
trace --rotate 1s --keep 1M -- sh job >out 2>err || fail "status $?: $(cat err)"
[ "$(probe vfs_rw dropped)" -gt 40000 ] || fail "$(probe vfs_rw dropped) rows of vfs_rw dropped"
for name in marks pids files time_align; do
	equal "$name dropped" "$(probe $name dropped)" 0
	equal "$name" "$(cat "$t/$name".*out | grep -c '^[0-9]')" "$(probe $name rows)"
done
equal "marks" "$(probe marks rows)" 40

# --- sums and no rows -----------------------------------------------------------------------------

trace --keep=sums -- "$W/storm" -n 100000 -w 0 "$TMPDIR/data" >out 2>err || fail "status $?"
for name in bio bio_map files $(of_calls); do
	[ ! -e "$t/$name.out" ] || fail "$name.out is there"
done
bytes=$(summed 'PROBE == "vfs_rw" && COMM == "storm" && RW == "R"' BYTES) reads=$((100256 * 4096))
[ $((bytes - reads)) -ge 0 ] && [ $((bytes - reads)) -lt 4096 ] || fail "$bytes bytes read by the sums, not $reads and the loader's"
for name in close mmap open vfs_rw; do
	equal "rows of $name" "$(probe $name rows)" 0
	equal "calls of $name" "$(probe $name calls)" "$(probe $name summed)"
	equal "sums of $name" "$(summed "PROBE == \"$name\"" ROWS)" "$(probe $name summed)"
done
check lines
"$DLT" report --full "$t" >report || fail "report: status $?"
grep -q 'not in its folder:' report && fail "the report misses what was not to be written: $(cat report)"
grep -q "^vfs_rw  *$(probe vfs_rw summed) " report || fail "no sums in the report: $(cat report)"
for name in pids time_align; do
	[ -s "$t/$name.out" ] || fail "no $name.out"
done
