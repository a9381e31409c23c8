#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A program for DFTracer leaves regions under its names, each number in its own column (its `step' is not an image's
# size), and so do the callbacks for Lightning and Hugging Face, called as their trainers call them.
. "${0%/*}/../lib.sh"
python
version=$(python3 -c 'import sys; print(sys.version_info >= (3, 9))') && [ "$version" = True ] || skip "Python 3.9"
PYTHONPATH=$(cd "$here/../../python" && pwd)
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1

trace -P regions,time_align -- python3 "$here/../workloads/regions_apis.py" 2>err || fail "status $?: $(cat err)"
# CAT NAME RET EPOCH STEP ARGS
tr ' ' '\t' >wanted <<'ROWS'
meta DFTRACER_DATA_DIR 0 - - /data
reader by_dftracer.<locals>.Reader.__init__ 0 1 - image_idx=5
reader by_dftracer.<locals>.Reader.read 0 1 0 image_idx=1\012image_size=4096
reader by_dftracer.<locals>.Reader.read 0 1 3 image_idx=2\012image_size=8192
compute by_dftracer.<locals>.Reader.static 0 - - -
compute by_dftracer.<locals>.Reader.static 0 - - -
reader loop.iter 0 1 1 -
reader loop.yield 0 1 1 -
reader loop.iter 0 1 2 -
reader loop.yield 0 1 2 -
io block 0 2 4 image_idx=7\012k=v
meta entity 0 - - file:a
meta entity 0 - - file:b
meta entity 0 - - model:3
io related 0 - - used=file:a\012used=file:b\012generated=model:3
io related 0 - - used=file:a
own event 0 - - n=1\012s=t\012used=file:a\012used=5
meta key 0 - - value
compute compute.init 0 2 7 -
compute compute 0 2 7 -
compute forward.block 0 2 7 -
checkpoint load 0 2 7 size=5
comm barrier 0 2 7 -
compute backward 0 3 30 -
compute step 0 3 30 -
pipeline epoch -1 3 - -
pipeline train -1 - - -
compute step 0 4 30 -
mark checkpoint.saved 0 - 30 -
pipeline epoch 0 4 30 -
pipeline train 0 4 30 -
ROWS
sed 1,2d "$t/regions.out" | cut -f 6,7,9-11,15 >got
cmp -s got wanted || fail "rows: $(diff wanted got)"
