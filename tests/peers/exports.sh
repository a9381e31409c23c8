#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Exports of a generated trace and of a job that is traced here, read by Perfetto's trace processor, pyarrow, pandas, Polars,
# Dask, DuckDB, SQLite, dftracer-utils and DFAnalyzer, and the traces themselves by the package for Python: counts, bytes
# and times are those of the report, of each file of the trace, each process, and the files that the report lists.
# DFTracer's readers are tried on a trace of its own first, and what they make of that is a note.
native=${0%/*}/../native
. "$native/lib.sh"
peers=$native/../peers
python=$("$peers/environment" exports) || fail "no environment"
PYTHONPATH=$(cd "$here/../../python" && pwd)
export PYTHONPATH DLTRACED_PROGRAM="$DLT"
read_by() { "$python" -B "$peers/exports.py" "$@"; }

# DuckDB's command, which PyPI has no package of
mkdir -p bin
printf '#!/bin/sh\nexec "%s" -c "import sys, duckdb; duckdb.connect().execute(sys.stdin.read())"\n' "$python" >bin/duckdb
chmod +x bin/duckdb

# export_to FOLDER TRACE: all formats of it.
export_to() {
	mkdir -p "$1/pfw"
	ln -s "$(cd "$2" && pwd)" "$1/trace"
	"$DLT" report --json "$2" >"$1/report.json" || fail "report: status $?"
	for of in csv:csv ndjson:rows.ndjson sqlite:trace.db perfetto:trace.pftrace pfw:pfw/trace.pfw.gz parquet:parquet; do
		PATH=$TMPDIR/bin:$PATH "$DLT" export "$2" -f "${of%%:*}" -o "$1/${of#*:}" 2>err || fail "${of%%:*}: $(cat err)"
	done
}

"$W/../tests/gen_trace" -r 5000 -g 2 -w 4 -c 2 -s 8 made >/dev/null || fail "gen_trace: status $?"
export_to made.of made
trace -- "$W/loader" -d data -n 40 -s 100000 -w 2 -e 2 >log || fail "loader: status $?"
export_to traced.of "$t"

DFTRACER_ENABLE=1 DFTRACER_INC_METADATA=1 DFTRACER_TRACE_COMPRESSION=1 "$python" - own/trace <<'END' || fail "DFTracer"
import os, sys
os.mkdir("own")
from dftracer.python import dftracer, dft_fn
log = dftracer.initialize_log(logfile=os.path.abspath(sys.argv[1]), data_dir="all", process_id=-1)
function = dft_fn("app")


@function.log
def work(number):
    pass


for number in range(200):
    work(number)
log.finalize()
END
read_by own made.of/report.json made.of own || fail "DFTracer's readers fail on its own trace"

if command -v node npm >/dev/null && processor=$("$peers/trace-processor"); then
	for of in made traced; do
		read_by perfetto $of.of/report.json $of.of "$processor" 2>err || fail "perfetto, $of: $(cat err)"
	done
else
	echo "note: without Perfetto's trace processor: it takes node and npm"
fi
for reader in $(read_by list made.of/report.json made.of); do
	for of in made traced; do
		read_by "$reader" $of.of/report.json $of.of 2>err || fail "$reader, $of: $(cat err)"
	done
done
