#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A process outside the job that has a lease on a file, fills the job's memory (userfaultfd), decides on its calls (seccomp)
# or stops it (ptrace) is named in the report, with the time of the job's own clock; one that does so at once is none.
. "${0%/*}/../lib.sh"
need python3

# value EXPRESSION: its value, with the report as r, the leaves of its path as p.
value() { python3 -c 'import json, sys
r = json.load(open("report.json"))
p = r["path"]["parts"]
own = int(open("own").read())
def ns(*kinds): return sum(x["ns"] for x in p if x["kind"] in kinds)
print(eval(sys.argv[1]))' "$1"; }

# job KIND US N: the job has N waits of that time for a holder; false where the kernel has no such thing.
job() {
	rm -f place*
	"$W/holders" hold "$1" "$2" "$PWD/place" 2>holder &
	holder=$!
	until [ -e place.ready ] || gone "$holder"; do sleep 0.05; done
	[ -e place.ready ] || { note "$1: $(cat holder)"; return 1; }
	status=0
	trace -- "$W/holders" job "$1" "$3" "$PWD/place" >own 2>err || status=$?
	kill "$holder" 2>/dev/null || :
	wait "$holder" || :
	[ "$status" != 77 ] || { note "$1: $(cat err)"; return 1; }
	[ "$status" = 0 ] || fail "$1: status $status: $(cat err)"
	"$DLT" report --json "$t" >report.json || fail "$1: report --json: status $?"
	code=$(value 'r["bottleneck"]["code"]')
}

note() { echo "note: $*"; }
trap 'kill "$holder" 2>/dev/null; cleanup' EXIT

for kind in lease memory calls; do
	job $kind 20000 40 || continue
	equal "$kind: the answer" "$code" held-by
	equal "$kind: by whom" "$(value '{x["detail"] for x in p if x["kind"] == "held"}')" "{'holders'}"
	# on a busy machine the job has no CPU for a part of it
	equal "$kind: the time" "$(value '0.8 * own < ns("held", "runq") and 0.4 * own < ns("held") < 1.1 * own')" True
done
if job stops 20000 2; then
	equal "stops: the answer" "$code" stopped
	# one of less than 1 ms has no name
	equal "stops: by whom" "$(value '{x["detail"] for x in p if x["kind"] == "stopped" and 10 * x["ns"] > own}')" "{'holders'}"
fi

for kind in lease memory calls; do
	job $kind 0 400 || continue
	[ "$code" != held-by ] || fail "$kind, at once: $(value 'r["bottleneck"]')"
done
