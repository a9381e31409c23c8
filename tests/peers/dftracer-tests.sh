#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# DFTracer 2.2's own tests of its Python names, from its source package, run unchanged by our drop-in under `dltraced start'
# and by DFTracer itself: with the same status, and as many regions of each name. In a program that has both around the same
# waits, the time of all regions of a name is the same within 2 %. Not so test_python_api_coverage.py, which
# ends with a TypeError by DFTracer 2.2 itself, and uses names that it does not have: by ours it must end with 0.
native=${0%/*}/../native
. "$native/lib.sh"
python=$("$native/../peers/environment") || fail "no environment"
ours=$(cd "$native/../../python" && pwd)
export PYTHONDONTWRITEBYTECODE=1

echo 'dftracer==2.2.0 --hash=sha256:53642fc5ea16a9155b31e9fe9bfe61ab0588f7c70c8eedf7cec51c7fa6d5aaed' >sdist.txt
"$python" -m pip download -q --disable-pip-version-check --no-deps --no-binary dftracer --require-hashes -r sdist.txt -d sdist >log 2>&1 ||
	fail "no source package: $(tail -n 3 log)"
tar xzf sdist/dftracer-2.2.0.tar.gz || fail "tar: status $?"
tests=$PWD/dftracer-2.2.0/test/py

# in the place of DFTracer, which is installed
cat >ours.py <<'PY'
import runpy
import sys

import dltraced.dftracer

assert dltraced.dftracer.install(replace=True)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
PY

# both LEAST TEST ARG...: the test by both, with LEAST regions at least.
both() {
	least=$1
	shift
	rm -rf theirs data
	mkdir theirs data
	DFTRACER_ENABLE=1 DFTRACER_INC_METADATA=1 DFTRACER_TRACE_COMPRESSION=0 DFTRACER_LOG_FILE=$PWD/theirs/x "$python" "$@" >log 2>&1 ||
		fail "DFTracer: $*: status $?: $(tail -n 3 log)"
	mv data_npz*.pfw theirs 2>/dev/null # where the program names the file
	rm -rf data
	mkdir data
	PYTHONPATH=$ours trace -P vfs_rw,regions,time_align -- "$python" ours.py "$@" >log 2>&1 || fail "ours: $*: status $?: $(tail -n 3 log)"
	set -- "$@" -- theirs/*.pfw
	while [ "$1" != -- ]; do shift; done
	shift
	[ -e "$1" ] || set --
	n=$("$python" -B "$native/../peers/dftracer_tests.py" "$t" "$@") || fail "the lines above"
	[ "$n" -ge "$least" ] || fail "$n regions"
}
for disabled in '' all dataloader device compute comm ckpt; do
	least=20
	[ "$disabled" != all ] || least=0
	# shellcheck disable=SC2086 # two words or none
	both $least "$tests/ai_logging.py" --data_dir="$PWD/data" --log_dir="$PWD/data" --niter 3 --num_files 2 ${disabled:+--disable-ai-cat $disabled}
done
both 40 "$tests/ai_logging.py" --data_dir="$PWD/data" --log_dir="$PWD/data" --niter 3 --num_files 2 --epoch-as-metadata
both 0 "$tests/test.py" --format=npz --data_dir="$PWD/data" # it ends at its first call, by os._exit()
both 6 "$tests/python_test.py" --data_dir "$PWD/data" --log_dir "$PWD/data" --niter 1

# Between the two begins of a region, or its ends, the machine may run something else: not in each of these, with nothing wrong.
for try in 1 2 3 4 5 6; do
	[ $try -lt 6 ] || fail "$(cat off)"
	rm -rf theirs
	mkdir theirs
	PYTHONPATH=$ours DFTRACER_ENABLE=1 DFTRACER_INC_METADATA=1 DFTRACER_TRACE_COMPRESSION=0 trace -P vfs_rw,regions,time_align -- \
		"$python" "$native/../peers/dftracer_durations.py" "$PWD/theirs/x" >log 2>&1 || fail "both: status $?: $(tail -n 3 log)"
	n=$("$python" -B "$native/../peers/dftracer_tests.py" "$t" --durations theirs/*.pfw 2>off) || continue
	[ "$n" -ge 60 ] || fail "both: $n regions"
	break
done

PYTHONPATH=$ours trace -P vfs_rw,regions,time_align -- "$python" ours.py "$tests/test_python_api_coverage.py" --data_dir "$PWD/data" >log 2>&1 ||
	fail "test_python_api_coverage.py: status $?: $(tail -n 3 log)"
grep -q '^Python API coverage tests completed' log || fail "test_python_api_coverage.py: $(cat log)"
