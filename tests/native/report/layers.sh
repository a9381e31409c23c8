#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The layers of a job with two workers, from the epochs down to the calls of its readers: counts, times, bytes, and the parts
# of them in which the layer above was at work, or anything computed, are those of the rows.
. "${0%/*}/../lib.sh"
python

cat >job.py <<'END'
import os, time
from multiprocessing import get_context
import dltraced

def worker(n, pipe):
    for i in range(10):
        with dltraced.region("reader.read"):
            with open(f"sample{n}.{i}", "wb") as f:
                f.write(bytes(10000 * n + i))
            with open(f"sample{n}.{i}", "rb") as f:
                f.read()
            time.sleep(0.005)
        with open(f"outside{n}.{i}", "wb") as f:
            f.write(bytes(50))
        pipe.send(i)

context = get_context("fork")
workers = []
for n in (1, 2):
    mine, theirs = context.Pipe()
    workers.append((mine, context.Process(target=worker, args=(n, theirs))))
    workers[-1][1].start()
for epoch in range(2):
    with dltraced.region("pipeline.epoch", epoch=epoch):
        for step in range(5):
            with dltraced.region("dataloader.fetch", step=step):
                for pipe, _ in workers:
                    pipe.recv()
            with dltraced.region("compute.step", step=step):
                time.sleep(0.01)
        with dltraced.region("checkpoint.save"):
            with open(f"saved{epoch}", "wb") as f:
                f.write(bytes(100000))
                os.fsync(f.fileno())
for _, process in workers:
    process.join()
END
PYTHONPATH=$(cd "$here/../../python" && pwd) trace -- python3 job.py || fail "status $?"
"$DLT" report --json "$t" >json || fail "--json: status $?"
check layers json
"$DLT" report --full "$t" >text || fail "--full: status $?"
for layer in epoch compute fetch reader 'reader calls' checkpoint 'checkpoint calls' calls; do
	sed -n '/^Layers of the job/,/^$/p' text | grep -q " $layer\$" || fail "no line of $layer: $(cat text)"
done
