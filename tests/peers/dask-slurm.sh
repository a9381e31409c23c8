#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# scripts/slurm/dask.sh in a cluster of two nodes: Dask's scheduler and a worker on each node read the traces of both nodes,
# each worker some of it, and what they sum up is what pandas has of the same rows. They end with the script, which gives the
# job its status.
native=${0%/*}/../native
. "$native/lib.sh"
python=$("$native/../peers/environment" exports) || fail "no environment"
. "$native/slurm.inc"
package=$(cd "$native/../../python" && pwd)

mkdir traces
for node in $a $b; do
	"$DLT" start -q --collectors none --probes vfs_rw,time_align --min-free 0 -o "traces/$node" -- \
		sh -c 'i=0; while [ $i -lt 200 ]; do head -c 1000 /dev/zero >file; i=$((i + 1)); done' || fail "start: status $?"
done
cat >analyse.py <<'END'
import json, os, socket, sys
import distributed, dltraced


def part(i):
    """What a worker reads itself."""
    rows = dltraced.read("traces/*", "vfs_rw", engine="dask").partitions[i].compute(scheduler="synchronous")
    return socket.gethostname(), int(rows["RETURNED"].sum()), len(rows)


client = distributed.Client(scheduler_file=os.environ["DASK_SCHEDULER_FILE"], timeout=300)
client.wait_for_workers(2, timeout=300)
frame = dltraced.read("traces/*", "vfs_rw", engine="dask")
workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
sums = client.gather([client.submit(part, i, workers=[workers[i % 2]], allow_other_workers=False) for i in range(frame.npartitions)])
whole = dltraced.read("traces/*", "vfs_rw")
print(json.dumps({"hosts": sorted({host for host, _, _ in sums}), "workers": len(workers),
                  "bytes": int(frame["RETURNED"].sum().compute()), "rows": len(frame),
                  "parts": [sum(part[1] for part in sums), sum(part[2] for part in sums)],
                  "wanted": [int(whole["RETURNED"].sum()), len(whole)]}))
sys.exit(int(sys.argv[1]))
END
for status in 0 3; do
	PYTHONPATH=$package PYTHONDONTWRITEBYTECODE=1 PYTHON=$python DLTRACED_PROGRAM=$DLT DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT=300s \
		salloc -N2 --quiet "$scripts/dask.sh" analyse.py $status >out 2>err
	equal "status" $? $status
	python3 - $a $b <<'END' || fail "$(cat out err)"
import json, sys
got = json.load(open("out"))
assert got["hosts"] == sorted(sys.argv[1:]) and got["workers"] == 2, got
assert [got["bytes"], got["rows"]] == got["parts"] == got["wanted"] and got["rows"] >= 400, got
END
	await idle
	[ -z "$(ls dask-*.json 2>/dev/null)" ] || fail "left: $(ls dask-*.json)"
done
