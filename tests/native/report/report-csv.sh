#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The tables of a report are the same as CSV files and as JSON: for a trace with all files, and for the golden ones,
# some cut off or with hostile names. Calls by function are those of the rows. Several hosts have a folder each. What
# cannot be written is reported.
. "${0%/*}/../lib.sh"
need python3

report() { "$DLT" report "$@"; }
golden=$here/../golden

trace --probes -bio,+sched,+sched_switch -- sh -c 'i=0; while [ $i -lt 20 ]; do dd if=/dev/zero of=f$i bs=4k count=4 2>/dev/null; cat f$i >/dev/null & i=$((i + 1)); done; wait; sync; echo epoch 1; mkdir d; mv f1 "d/a, \"b"' ||
	fail "status $?"
report --json "$t" >json || fail "status $?"
check functions json
for of in "$t" "$golden"/trace-*; do
	[ -d "$of" ] || continue
	report --json "$of" >json 2>err || fail "$of: $(cat err)"
	report --csv csv "$of" >text || fail "$of: --csv: $?"
	report "$of" | cmp - text || fail "$of: the text is another with --csv"
	python3 -B "$here/checks/csv_json.py" json csv || fail "$of"
	rm -r csv
done
report --csv both "$golden/trace-small" "$golden/trace-other" >text || fail "two: $?"
equal "folders of two" "$(ls both | tr '\n' ' ')" "trace-other trace-small "
[ -s both/trace-small/probes.csv ] || fail "no probes.csv of one of two"
! report --csv /dev/null "$golden/trace-small" >text 2>err || fail "--csv /dev/null: status 0"
grep -q "CSV files cannot be written: Not a directory" err || fail "--csv /dev/null: $(cat err)"
! report --csv c --compare "$golden/trace-small" "$golden/trace-other" 2>err || fail "--csv --compare: status 0"
