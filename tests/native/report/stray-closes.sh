#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A program that closes numbers by which no file is open does no work on files, however often; one that opens and closes
# files does.
. "${0%/*}/../lib.sh"
python

cat >job.py <<'END'
import os, sys, time
open("data", "w").close()
end = time.monotonic() + 1.5
while time.monotonic() < end:
    for _ in range(1000):
        if sys.argv[1] == "stray":
            try:
                os.close(987)
            except OSError:
                pass
        else:
            os.close(os.open("data", os.O_RDONLY))
END
traced() {
	rm -rf "$t"
	"$DLT" start -o "$t" -- python3 job.py "$1" >log 2>&1 || fail "$1: $(cat log)"
	"$DLT" report --json "$t" >report.json || fail "$1: report: status $?"
	python3 - <<'END'
import json
r = json.load(open("report.json"))
codes = [r["bottleneck"]["code"], *(rule["code"] for rule in r["rules"])]
ns = sum(p["ns"] for p in r["path"]["parts"] if p["kind"] == "cpu-metadata")
closes = next(p for p in r["probes"] if p["name"] == "close")
print("metadata" if "metadata-time" in codes or "open-metadata" in codes else "none",
      "much" if ns > 0.05 * r["path"]["wall_ns"] else "little", closes["failed"] > 10000)
END
}
equal "closes of nothing" "$(traced stray)" "none little True"
equal "near miss: opens and closes of a file" "$(traced files)" "metadata much False"
