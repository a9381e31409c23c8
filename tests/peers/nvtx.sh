#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# start --regions nvtx with what others distribute: tests/workloads/nvtx.c compiled with the real headers of NVTX 3, ranges by
# NVIDIA's package `nvtx' for Python, and by PyTorch. Each has its row, as in tests/native/probes/nvtx.sh, where the headers
# are our own.
native=${0%/*}/../native
. "$native/lib.sh"
python=$("$native/../peers/environment" nvtx) || fail "no environment"
headers=$(dirname "$("$python" -c 'import glob, sys
print(*glob.glob(sys.prefix + "/lib/python3*/site-packages/nvidia/*/include/nvtx3"))')")
[ -e "$headers/nvtx3/nvToolsExt.h" ] || fail "no headers: $headers"
export PYTHONDONTWRITEBYTECODE=1

cc -std=gnu11 -O2 -Wall -D_GNU_SOURCE -DREAL_NVTX -I"$headers" -o real "$native/../workloads/nvtx.c" -lpthread -ldl 2>log ||
	fail "cc: $(cat log)"
trace --regions nvtx -P regions,time_align -- ./real tally >out 2>err || fail "status $?: $(cat out err)"
equal "what it prints" "$(cat out)" ""
check nvtx tally 8000

trace --regions nvtx -P regions,time_align -- "$python" "$native/../workloads/nvtx_python.py" python-tally >out 2>err || fail "Python: $(cat err)"
check nvtx python-tally 900

torch=$("$native/../peers/environment") || fail "no environment with PyTorch"
trace --regions nvtx -P regions,time_align -- "$torch" "$native/../workloads/nvtx_python.py" torch-tally torch >out 2>err || fail "PyTorch: $(cat err)"
check nvtx torch-tally 900
