#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# dltraced.read() of the package for Python, by pandas, Polars, pyarrow and Dask, on three hosts of which one has segments that
# are compressed by zstd: every column of every file has the sums that DuckDB finds by the views of `dltraced probes --duckdb',
# also in many small blocks; operations on Dask's frame, of this Dask and the oldest, have pandas' results; rows of an epoch are those of `dltraced export --phase'; the examples of docs/python.md run.
native=${0%/*}/../native
. "$native/lib.sh"
python=$("$native/../peers/environment" exports) || fail "no environment"
PYTHONPATH=$(cd "$here/../../python" && pwd)
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1 DLTRACED_PROGRAM="$DLT"

mkdir job
trace -- "$W/names" dir >out || fail "status $?"
mv "$t" job/one
trace --rotate 64K --compress zstd -- "$W/loader" -d data -n 40 -s 100000 -w 2 -e 3 >out || fail "loader: status $?"
sed -i 's/^\( *"host": \).*/\1"other",/' "$t/manifest.json"
mv "$t" job/two
cp -r "$native/../golden/trace-panels" job/three # it has collectors' files, too
"$DLT" probes --duckdb >views.sql || fail "probes --duckdb: status $?"
"$python" -B "$native/../peers/read.py" "job/*" views.sql || fail "the lines above"
"$python" -B "$native/../peers/dask_operations.py" "job/*" pandas polars pyarrow || fail "Dask: the lines above"
old=$("$native/../peers/environment" dask) || fail "no environment"
rm -r damaged
"$old" -B "$native/../peers/dask_operations.py" job/one pandas pyarrow || fail "the oldest Dask: the lines above"

# the examples of docs/python.md, unchanged
mkdir traces
ln -s ../job/two traces/loader
awk '/^```/ { on = /^```python$/; next } on' "$native/../../docs/python.md" >example.py
"$python" -B example.py >said || fail "the examples: status $?: $(cat said)"
equal "bytes of the loaders" "$(awk '$1 == "pt_data_worker" { print $2 }' said)" $((40 * 100000 * 3))

# shellcheck disable=SC2016 # the job's
trace --log -- sh -c 'for e in 1 2 3; do echo "Epoch $e begin"; cat /etc/passwd >/dev/null; sleep 0.1; echo "Epoch $e end"; done' ||
	fail "epochs: status $?"
"$DLT" export "$t" -f csv --probes vfs_rw --phase 'epoch 2' -o - >epoch.csv || fail "export --phase: status $?"
"$python" -B - "$t" epoch.csv <<'END' || fail "the lines above"
import csv, sys
import dltraced

with open(sys.argv[2], encoding="utf-8", newline="") as f:
    wanted = [int(row["TIMESTAMP"]) for row in csv.DictReader(f)]
for engine in "pandas", "polars":
    got = dltraced.read(sys.argv[1], "vfs_rw", engine=engine, epoch=2, columns=["TIMESTAMP"])
    assert list(got["TIMESTAMP"]) == wanted and 0 < len(wanted) < len(dltraced.read(sys.argv[1], "vfs_rw")), (len(got), len(wanted))
every = dltraced.read(sys.argv[1], "vfs_rw", epoch=[1, 2, 3])
pid = int(every["PID"].mode()[0])
assert 0 < len(dltraced.read(sys.argv[1], "vfs_rw", epoch=[1, 2, 3], pid=pid)) == (every["PID"] == pid).sum()
END
