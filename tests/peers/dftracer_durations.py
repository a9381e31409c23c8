# SPDX-License-Identifier: BSD-2-Clause
"""dftracer_durations.py FILE: every region of this program is measured twice, by DFTracer itself, which writes FILE, and by our
drop-in: the one is around the other, and both around the same wait."""
import importlib
import sys
import time


def imported():
    """Returns dftracer.python as it is now, under no name that a later import could find."""
    module = importlib.import_module("dftracer.python")
    for name in [name for name in sys.modules if name.partition(".")[0] == "dftracer"]:
        del sys.modules[name]
    return module


theirs = imported()
log = theirs.dftracer.initialize_log(logfile=sys.argv[1], data_dir="all", process_id=-1)

import dltraced.dftracer

assert dltraced.dftracer.install(replace=True)
ours = imported()
assert "dltraced" in ours.dft_fn.__module__ and "dltraced" not in theirs.dft_fn.__module__
ours.dftracer.initialize_log(logfile=None, data_dir="all", process_id=-1)

APIS = theirs, ours
ROUNDS, WAIT_S = 5, 0.05


def decorated(of):
    """Returns a wait with the decorator that OF gets from each API."""
    def wait(step=0):
        time.sleep(WAIT_S)

    for api in APIS:
        wait = of(api)(wait)
    return wait


class Reader:
    def __init__(self):
        self.step = 3

    def read(self):
        time.sleep(WAIT_S)


for api in APIS:
    Reader.read = api.dft_fn("reader", name="read").log(Reader.read)
waits = [decorated(of) for of in (
    lambda api: api.dft_fn("COMPUTE", name="work").log,
    lambda api: api.ai.compute.forward,
    lambda api: api.ai.compute.backward(),
    lambda api: api.ai.data.preprocess,
    lambda api: api.ai.device.transfer,
    lambda api: api.ai.comm.all_reduce,
    lambda api: api.ai.checkpoint.capture,
)]
for _ in range(ROUNDS):
    for wait in waits:
        wait()
    Reader().read()
    with theirs.dft_fn("block", name="inside"), ours.dft_fn("block", name="inside"):
        time.sleep(WAIT_S)
    for api in APIS:
        api.ai.pipeline.evaluate.start()
    time.sleep(WAIT_S)
    for api in APIS[::-1]:
        api.ai.pipeline.evaluate.stop()


def items():
    for i in range(ROUNDS):
        time.sleep(WAIT_S)
        yield i


for _ in theirs.dft_fn("loader").iter(ours.dft_fn("loader").iter(items())):
    time.sleep(WAIT_S)
log.finalize()
