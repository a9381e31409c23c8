#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The benchmark counts right: every call of its workloads is a row of dltraced's. What it says of time is not looked at;
# what other tracers count is for make check-peers.
#
# slow: half a minute and more
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
