#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Of 64 hosts, the text names the three that differ most, and counts the rest, also by their summaries; JSON has all. Needs
# no root.
. "${0%/*}/../lib.sh"
python
golden=$here/../golden
n=64 odd="h7 h23 h50"
for i in $(seq $n); do
	cp -r "$golden/trace-small" h$i
	sed -i 's/"host": "node1"/"host": "host'$i'"/' h$i/manifest.json
	grep -q "\"host\": \"host$i\"" h$i/manifest.json || fail "host $i has no name"
done
# three hosts' reads took ten seconds longer
for host in $odd; do
	awk -F'\t' -v OFS='\t' 'NR == 2 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR > 2 && $at["RW"] == "R" && !done { $at["LAT_NS"] = sprintf("%.0f", $at["LAT_NS"] + 10000000000); done = 1 } { print }' h7/vfs_rw.out >rows
	cmp -s rows h7/vfs_rw.out && fail "no row was changed"
	[ "$host" = h7 ] || cp rows $host/vfs_rw.out
done
mv rows h7/vfs_rw.out

# names FILE: in it, just the three hosts are named, after the answer's list of hosts.
names() {
	equal "hosts in $1" "$(sed -n '/hosts of one job/,/^by how much/p' "$1" | grep -o 'host[0-9][0-9]*' | sort -u | tr '\n' ' ')" "host23 host50 host7 "
	grep -q '^and 61 more: ' "$1" || fail "$1: $(cat "$1")"
	[ "$(wc -l <"$1")" -lt 140 ] || fail "$1: $(wc -l <"$1") lines"
}
"$DLT" report h* >text 2>err || fail "status $?: $(cat err)"
names text
equal "reports" "$(grep -c '^What failed' text)" 3
for host in h*; do
	"$DLT" report --summary-only "$host" || fail "summary of $host: status $?"
done
"$DLT" report h*/summary.json >sums 2>err || fail "summaries: status $?: $(cat err)"
names sums
"$DLT" report --full h* >full 2>err || fail "--full: status $?: $(cat err)"
equal "whole reports" "$(grep -c '^trace  ' full)" 3
"$DLT" report --json h* | python3 -c '
import json, sys
names = {host["name"] for host in json.load(sys.stdin)["hosts"]}
sys.exit(names != {f"host{i}" for i in range(1, 65)} and f"JSON has {sorted(names)}")' || fail "the lines above"
# with four hosts, all of them
"$DLT" report h1 h2 h3 h4 >few || fail "four: status $?"
equal "reports of four hosts" "$(grep -c '^What failed' few)" 4
