#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A program for DFTracer, and its `spawn' pool, runs unchanged under `dltraced start', under `python -m dltraced', and by a
# launcher that calls install(): each function is a region. All public names of DFTracer's wheel are there. No call raises,
# whatever is asked for; that is said once for all processes of the job. DFTRACER_ENABLE=0 leaves no regions and says
# nothing, DFTRACER_INC_METADATA=0 no arguments. A program for its C and C++ API leaves its regions, too.
. "${0%/*}/../lib.sh"
python
version=$(python3 -c 'import sys; print(sys.version_info >= (3, 9))') && [ "$version" = True ] || skip "Python 3.9"
python3 -c 'import dftracer' 2>/dev/null && skip "no dftracer"
export PYTHONDONTWRITEBYTECODE=1
program=$here/../workloads/dftracer_example.py package=$(cd "$here/../../python" && pwd)

# rows: CAT NAME EPOCH STEP ARGS of the trace
rows() { sed 1,2d "$t/regions.out" | cut -f 6,7,10,11,15; }
said() { grep -c "of DFTracer's API" "$1"; }
tr ' ' '\t' >wanted <<'ROWS'
COMPUTE log_events - - -
COMPUTE posix_calls - - -
COMPUTE posix_calls - - -
ROWS

mkdir one two three four
DFTRACER_LOG_FILE=x trace -P regions,time_align -- python3 "$program" one 2>err || fail "start: status $?: $(cat err)"
rows >got
cmp -s got wanted || fail "rows: $(diff wanted got)"
equal "processes" "$(sed 1,2d "$t/regions.out" | cut -f 3 | sort -u | grep -c .)" 2
equal "said by two processes" "$(said err)" 1
grep -q 'no_such_method (2), DFTRACER_LOG_FILE' err || fail "counted: $(cat err)"
"$DLT" report --json "$t" >report.json || fail "report --json"
python3 - report.json "$t/regions.out" <<'PY' || fail "the report's table of regions"
import json, sys

of = {}
for row in open(sys.argv[2]).read().splitlines()[2:]:
    f = row.split("\t")
    of.setdefault((f[5], f[6]), []).append((int(f[7]), f[2]))
got = {(r["cat"], r["name"]): (r["count"], r["total_ns"], r["max_ns"], r["processes"]) for r in json.load(open(sys.argv[1]))["regions"]}
want = {name: (len(all), sum(n for n, _ in all), max(n for n, _ in all), len({pid for _, pid in all})) for name, all in of.items()}
assert got == want and want[("COMPUTE", "posix_calls")][3] == 2, (got, want)
PY

PYTHONPATH=$package timeout 60 python3 -m dltraced "$program" two 2>err || fail "-m dltraced: status $?: $(cat err)"
equal "said" "$(said err)" 1
cat >launcher.py <<'PY'
import runpy, sys
import dltraced.dftracer
dltraced.dftracer.install()
runpy.run_path(sys.argv.pop(1), run_name="__main__")
PY
PYTHONPATH=$package timeout 60 python3 launcher.py "$program" three 2>err || fail "install(): status $?: $(cat err)"

DFTRACER_ENABLE=0 trace -P regions,time_align -- python3 "$program" four 2>err || fail "off: status $?: $(cat err)"
equal "rows where it is off" "$(rows | grep -c .)" 0
equal "said where it is off" "$(said err)" 0

# The report lists files of DFTRACER_DATA_DIR alone, by their last names; the trace and all sums have the others, too.
mkdir five named
ln -s named link
: >named/other
cat >dirs.py <<'PY'
import sys, time
from dftracer.python import dftracer

log = dftracer.initialize_log(None, None, -1)
for path in ("named/a", "five/b"):
    with open(path, "w") as f:
        f.write("x" * 4096)
time.sleep(0.6)
PY
DFTRACER_DATA_DIR=link/:./nowhere trace -P regions,time_align,open,vfs_rw,close -- python3 dirs.py 2>err || fail "DATA_DIR: status $?: $(cat err)"
"$DLT" report --json "$t" >report.json || fail "report --json"
"$DLT" report --full "$t" >report.txt || fail "report --full"
python3 - report.json "$(pwd -P)" <<'PY' || fail "DATA_DIR: $(cat report.txt)"
import json, sys

report, here = json.load(open(sys.argv[1])), sys.argv[2]
assert report["listed"] == [f"{here}/named", f"{here}/nowhere"], report["listed"]
for name in ("files_by_bytes", "files_by_time", "files_by_written", "files_by_opens"):
    assert [f["path"] for f in report[name]] == [f"{here}/named/a"], (name, report[name])
assert sum(p["writes"]["bytes"] for p in report["probes"] if p["name"] == "vfs_rw") >= 2 * 4096
PY
grep -q "^listed .*files at or below $(pwd -P)/named, .*/nowhere (DFTRACER_DATA_DIR)" report.txt || fail "no line: $(cat report.txt)"
"$DLT" report --json --path / "$t" | python3 -c 'import json, sys
report = json.load(sys.stdin)
assert "listed" not in report and any(f["path"].endswith("/five/b") for f in report["files_by_written"]), report["files_by_written"]' || fail "--path /"

cat >numbers.py <<'PY'
from dftracer.python import TagDType, TagValue, ai, dft_fn, dftracer

io = dft_fn("io")


class Reader:
    epoch = 4

    @io.log
    def read(self, path, image_idx, step=7, image_size=None):
        io.update(args={"inside": TagValue(5, TagDType.INT)})

    @io.log(name="named")
    def other(self, epoch=None):
        pass

    @io.log()
    def third(self, epoch="x"):
        pass


@io.log
def plain(epoch, step=1):
    pass


Reader().read("a", 3)
Reader().read("a", image_idx=4, step=8, image_size=16)
Reader().other()
Reader().other(6)
Reader().third()
plain(1)
plain(step=3, epoch=2)
io.log_metadata("key", "value")
dftracer.get_instance().set_app_metadata_int("ranks", 2)
with dft_fn("io", "used") as used:
    used.uses("file", "a")
    used.update(step="9")
with ai.compute.step(step=1):
    ai.update(epoch=2)
for epoch in ai.pipeline.epoch.iter(range(1, 3), include_iter=False):
    pass
PY
trace -P regions,time_align -- python3 numbers.py 2>err || fail "numbers: status $?: $(cat err)"
rows >got
tr ' ' '\t' >wanted <<'ROWS'
io Reader.read 4 7 image_idx=3\012inside=5
io Reader.read 4 8 image_idx=4\012image_size=16\012inside=5
io named 4 - -
io named 6 - -
io Reader.third - - epoch_=x
io plain 1 1 -
io plain 2 3 -
meta key - - value
meta ranks - - 2
meta entity - - file:a
io used - 9 used=file:a
compute step 2 1 -
pipeline epoch 1 - -
pipeline epoch 2 - -
ROWS
cmp -s got wanted || fail "numbers: $(diff wanted got)"
equal "said where all is known" "$(said err)" 0
DFTRACER_INC_METADATA=0 trace -P regions,time_align -- python3 numbers.py 2>err || fail "no metadata: status $?: $(cat err)"
equal "arguments" "$(rows | grep -v '^meta' | grep -cv '	-	-	-$')" 0

PYTHONPATH=$package python3 "$here/../workloads/dftracer_names.py" >got 2>err || fail "names: $(cat err)"
equal "names" "$(cat got)" "830 dftracer.python.no_such_name"
PYTHONPATH=$package python3 "$here/../workloads/dftracer_odd.py" >got 2>err || fail "odd calls: $(cat err)"
equal "odd calls" "$(cat got)" "159 calls, 0 raised"

wanted_of() {
	tr ' ' '\t' <<ROWS
meta key - - value
meta ranks - - -4
$1 BLOCK - - n=1
$1 CUSTOM - - key=value
$1 work - 1 -
$1 BLOCK - - n=2
$1 CUSTOM - - key=value
$1 work - 2 -
ROWS
}
trace -P regions,time_align -- "$W/dftracer_regions" || fail "C: status $?"
rows >got
wanted_of C_APP | cmp -s - got || fail "C: $(wanted_of C_APP | diff - got)"
equal "rows of C where it is off" "$(DFTRACER_ENABLE=0 trace -P regions,time_align -- "$W/dftracer_regions" && rows | grep -vc '^meta')" 0
command -v c++ >/dev/null || exit 0
c++ -Wall -Wextra -Werror -std=c++11 -x c++ -I"$here/../../include" -o cpp "$here/../workloads/dftracer_regions.c" || fail "C++ does not compile"
trace -P regions,time_align -- ./cpp || fail "C++: status $?"
rows >got
wanted_of CPP_APP | cmp -s - got || fail "C++: $(wanted_of CPP_APP | diff - got)"
equal "RET of C++" "$(sed 1,2d "$t/regions.out" | cut -f 6,7,9 | grep -c "CPP_APP	work	-1")" 1
