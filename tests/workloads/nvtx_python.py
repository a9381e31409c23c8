# SPDX-License-Identifier: BSD-2-Clause
"""nvtx_python TALLY: ranges by NVIDIA's package `nvtx', in the ways that its users have: annotations as blocks and as
decorators, with domains, categories and payloads, in threads, in a forked process, and from one thread to another. Each is
a line of TALLY, as tests/workloads/nvtx.c writes them.
"""
import os
import sys
import threading
import time

import nvtx

lock = threading.Lock()


def note(cat, name, begin, end, args="-"):
    """BEGIN and END: the clock before and after each of them."""
    with lock, open(sys.argv[1], "a", encoding="utf-8") as f:
        print(os.getpid(), threading.get_native_id(), cat, name, *begin, *end, args, sep="\t", file=f)


def clocked(call, *args, **keywords):
    before = time.monotonic_ns()
    result = call(*args, **keywords)
    return (before, time.monotonic_ns()), result


def annotated(cat, name, args="-", /, **keywords):
    block = nvtx.annotate(**keywords)
    begin, _ = clocked(block.__enter__)
    end, _ = clocked(block.__exit__, None, None, None)
    note(cat, name, begin, end, args)


def many(n):
    for i in range(n):
        annotated("nvtx", "step", f"payload={i}", message="step", payload=i)
        annotated("loader", "fetch", "category=io", message="fetch", domain="loader", category="io", color="green")
        annotated("compute", "step", message="ai.compute.step", domain="loader")


@nvtx.annotate(domain="loader")
def decorated():
    pass


def pushes():
    outer, _ = clocked(nvtx.push_range, "outer", domain="loader")
    inner, _ = clocked(nvtx.push_range, "inner")
    outer_end, _ = clocked(nvtx.pop_range, domain="loader")
    inner_end, _ = clocked(nvtx.pop_range)
    note("loader", "outer", outer, outer_end)
    note("nvtx", "inner", inner, inner_end)


def across_threads():
    begin, number = clocked(nvtx.start_range, "started", domain="loader")

    def end():
        at, _ = clocked(nvtx.end_range, number)
        note("loader", "started", begin, at)

    thread = threading.Thread(target=end)
    thread.start()
    thread.join()


def main():
    many(100)
    threads = [threading.Thread(target=many, args=(50,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pushes()
    across_threads()
    calls = [clocked(decorated)[0] for _ in range(10)]
    for at in calls:  # its range is within the call
        note("loader", "decorated", at, at)
    at, _ = clocked(nvtx.mark, "here", domain="loader")
    note("mark", "loader.here", at, at)
    pid = os.fork()
    if not pid:
        many(50)
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        sys.exit("a forked process")


main()
