#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Each rule about access fires where it must, with the number that the job itself counted (access.py), and, with LONG=1,
# does not fire where something only looks like it; unit tests have such rows, too. What describes a job, or costs next
# to nothing, is a fact. On a disk of the test's own.
#
# alone: shares of the time in small jobs
. "${0%/*}/../lib.sh"
with_helpers
need python3 tar gzip
[ -x /usr/bin/python3 ] || skip "/usr/bin/python3"
access=$here/../workloads/access.py

# CODE; problem or fact; the job that has it; by how many % the report's number may differ from the job's; near misses.
# Counts are exact except for Python's own calls; times are taken by two clocks around the same calls.
cat >table <<'EOF'
batch-copies      problem shared-batches       25  shared-once sleeping-loader
cache-too-small   problem reread-dropped        3  reread-cached reread-direct read-ahead
checkpoint-stall  problem steps-that-save         3  steps-saved-behind uneven-steps checkpoints-wait
failed-opens      problem missing-files         5  opens
fault-storm       problem fault-storm          25  mapped-warm mapped-read-ahead
file-imbalance    problem one-reads-more        1  shared-evenly sampled
first-batch       problem late-first-batches      3  late-batches steps-that-save
metadata-time     problem metadata             25  few-imports imports appends
misaligned        problem misaligned            1  aligned appends+fact
no-readahead      problem no-read-ahead-at-all  1  read-ahead-large
open-storm        problem small-files           2  large-files few-imports
random-faults     problem random-faults         1  fault-storm mapped-warm mapped-read-ahead
random-reads      problem random-reads          1  whole-again two-descriptors header-skipped sampled
random-writes     problem random-writes         1  appends small-writes
rank-skew         problem uneven-ranks            3  even-ranks runs-behind-each-other
read-intensive    fact    reads-much            1  writes-much
read-often        fact    reads-much            1  writes-much
redundant-reads   problem read-again            1  read-each-epoch
redundant-writes  problem written-again         1  written-each-epoch
slow-imports      problem imports              25  few-imports metadata
slow-worker       problem large-for-one        40  sampled+fact cold-then-warm+fact shared-evenly+fact
small-reads       problem small-reads           1  whole-files read-ahead few-imports
small-shared      problem shared-in-turn        1  each-epochs-workers handed-over sampled
small-writes      problem small-writes          1  small-files-written
stdout-heavy      problem lines                 1  data-through-pipes lines-through-pipes
step-jitter       problem uneven-steps            3  steps-that-save steps-saved-behind late-first-batches
straggler-data    problem one-reads-more        1  shared-evenly sampled
sync-often        problem syncs                10  one-sync appends
tiny-reads        fact    small-reads           1  whole-files
tiny-reads        problem tiny-reads            1  whole-files few-imports
write-intensive   fact    writes-much           1  reads-much
write-often       fact    writes-much           1  reads-much
EOF

[ "${LONG-}" ] || { awk '{ print $1, $2, $3, $4 }' table >some && mv some table; }

# job NAME: traced, with its report; its files are removed then.
job() {
	"$access" --prepare "$1" "$mnt/job" || fail "--prepare $1"
	trace --log -- sh -c "$long" sh "$here/first" /usr/bin/python3 "$access" "$1" "$mnt/job" account >log ||
		fail "$1: status $?: $(cat log)"
	"$DLT" report --json "$t" >"reports/$1.json" || fail "report --json: status $?"
	cp account "reports/$1.account"
	rm -rf "$mnt/job"
}

disk_ext4 400M
echo 128 >"/sys/block/$disk/queue/read_ahead_kb" || fail "read_ahead_kb"
mkdir reports
for name in $(awk '{ print $3; for (i = 5; i <= NF; i++) { sub(/\+.*/, "", $i); print $i } }' table | sort -u); do
	job "$name"
done
for try in 1 2 3 4 5; do
	python3 -B "$here/checks/rules.py" reports table "$here/../../docs/rules.md" >said
	case $? in
	0)
		cat said
		exit 0
		;;
	75) for name in $(sed -n 's/^again: //p' said); do job "$name"; done ;;
	*) fail "$(cat said)" ;;
	esac
done
skip "a machine that is not so busy: $(tail -n 1 said)"
