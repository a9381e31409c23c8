# SPDX-License-Identifier: BSD-2-Clause
"""dftracer_example.py FOLDER: a program for DFTracer 1 as its users write them, which knows nothing of dltraced: a decorated
function, files, and a pool whose child imports this file anew."""
import os
import sys
import time
from multiprocessing import get_context

from dftracer.logger import dft_fn, dftracer

log_inst = dftracer.initialize_log(logfile=None, data_dir=None, process_id=-1)
dft_fn = dft_fn("COMPUTE")


@dft_fn.log
def log_events(index):
    time.sleep(0.01)


@dft_fn.log
def posix_calls(item):
    index, folder = item
    with open(f"{folder}/demofile{index}.txt", "w") as f:
        f.write("some text")
    dft_fn.no_such_method(index)
    log_inst.finalize()


def main():
    log_events(0)
    posix_calls((1, sys.argv[1]))
    with get_context("spawn").Pool(1) as pool:
        pool.map(posix_calls, [(2, sys.argv[1])])
    log_inst.finalize()


if __name__ == "__main__":
    main()
    assert sorted(os.listdir(sys.argv[1])) == ["demofile1.txt", "demofile2.txt"]
