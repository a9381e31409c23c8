#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The package dltraced: each region of a Python program has one row, with its numbers, its arguments, and its time
# within the program's own clock, in whichever thread, task or process it is. The extension and pure Python leave the
# same rows. There are none where regions are switched off, or nobody traces.
. "${0%/*}/../lib.sh"

python
version=$(python3 -c 'import sys; print(sys.version_info >= (3, 9))') && [ "$version" = True ] || skip "Python 3.9"
cp -r "$here/../../python" package && cp "$here/../../include/dltraced.h" package || fail "no package"
export PYTHONPATH="$TMPDIR/package" PYTHONDONTWRITEBYTECODE=1
program=$here/../workloads/regions.py

# same_for FILE: the rows without what differs between runs: times, processes, and the order of threads and tasks.
same_for() { cut -f 6-7,9- "$t/regions.out" | sed 1,2d | sort >"$1"; }

# run NAME [ARG]
run() {
	rm -f tally
	trace -P regions,time_align -- python3 -B "$program" tally ${2:+"$2"} >"$1.out" || fail "$1: status $?"
	check regions_python tally
	same_for "$1.rows"
}

run fallback fallback
[ -s fallback.rows ] || fail "no rows"

# the package in the tree has the version of the next release, the program that of the commit
equal "version" "$(python3 -c 'import dltraced; print(dltraced.__version__)')" "$("$DLT" --version | sed '1s/.* //; s/\.dev.*//; q')"
equal "version of python -m dltraced" "$(python3 -m dltraced --version)" "$("$DLT" --version | sed 's/\.dev.*//; q')"

DLTRACED_REGIONS=0 python3 -B - <<'PY' || fail "switched off: status $?"
import dltraced
from dltraced import ai
def function(): pass
assert not dltraced.enabled() and dltraced.region("x")(function) is function and ai.compute.step(function) is function
with dltraced.region("x", step=1) as r, ai.pipeline.epoch as e:
    r.update(step=2), e.update(n=1)
assert list(ai.dataloader.fetch.iter([1, 2])) == [1, 2]
dltraced.mark("x"), dltraced.meta("x", 1)
PY
rm -f tally
DLTRACED_REGIONS=0 trace -P regions,time_align -- python3 -B "$program" tally >off.out || fail "switched off: status $?"
equal "rows where it is switched off" "$(grep -c '^[0-9]' "$t/regions.out")" 0

# copied KIND: a copy, and one that another process unpickles, is like the region, but has not begun.
cat >copied.py <<'PY'
import copy
import pickle
import dltraced
live = dltraced.region("a.b", epoch=3, bytes=7, live=True, k="v w", n="5=6")
plain = dltraced.region("c")
with live, plain:
    live.update(forgotten=1)
    for made in live, plain:
        for other in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made)), pickle.loads(pickle.dumps(made, 2))):
            assert type(other) is type(made) and other is not made
            assert all(getattr(other, name) == getattr(made, name) for name in ("name", "epoch", "step", "bytes", "lane"))
            other.stop()  # nothing, as it has not begun
    with copy.deepcopy(live), pickle.loads(pickle.dumps(plain)):
        pass
PY
copied() {
	trace -P regions,time_align -- python3 -B copied.py || fail "$1: copies: status $?"
	equal "$1: rows of copies" "$(sed 1,2d "$t/regions.out" | cut -f 6,7,10,12,15 | tr '\t\n' ' ;')" \
		'app c - - -;a b 3 7 k=v\040w\012n=5=6;app c - - -;a b 3 7 k=v\040w\012n=5=6\012forgotten=1;'
}
copied fallback

(cd package && python3 setup.py -q build_ext --inplace) >build.out 2>&1
if ! python3 -c 'import dltraced._region' 2>/dev/null; then
	python3 -c 'import os, setuptools, sysconfig
os.stat(os.path.join(sysconfig.get_paths()["include"], "Python.h"))' 2>/dev/null && command -v cc >/dev/null && fail "no extension: $(cat build.out)"
	echo "note: the extension was not tested: needs python3-setuptools, a C compiler and python3-dev"
	exit 0
fi
run extension
cmp -s fallback.rows extension.rows || fail "the two differ: $(diff fallback.rows extension.rows | head)"
copied extension
equal "odd calls of DFTracer's names with the extension" "$(python3 -B "$here/../workloads/dftracer_odd.py" 2>odd.err)" "159 calls, 0 raised"
