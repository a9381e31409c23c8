#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A job with DFTracer's annotations leaves the same regions by our names as DFTracer writes for it, and as --regions auto
# finds where DFTracer is off.
native=${0%/*}/../native
. "$native/lib.sh"
python=$("$native/../peers/environment") || fail "no environment"
job=$native/../workloads/annotated.py
export PYTHONDONTWRITEBYTECODE=1

DFTRACER_ENABLE=1 DFTRACER_INC_METADATA=1 DFTRACER_TRACE_COMPRESSION=0 "$python" "$job" theirs >log 2>&1 || fail "DFTracer: $(cat log)"
set -- "$TMPDIR"/theirs/job*.pfw
[ -e "$1" ] || fail "no .pfw: $(ls theirs)"
trace --regions auto -- "$python" "$job" plain >log 2>&1 || fail "--regions auto: $(cat log)"
mv "$t" auto
PYTHONPATH=$(cd "$native/../../python" && pwd) trace -- "$python" "$job" ours data >log 2>&1 || fail "our names: $(cat log)"
check annotated auto "$@"
