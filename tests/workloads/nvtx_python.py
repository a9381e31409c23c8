# SPDX-License-Identifier: BSD-2-Clause
"""nvtx_python TALLY [torch]: ranges by NVIDIA's package `nvtx', in the ways that its users have: annotations as blocks and
as decorators, with domains, categories and payloads, in threads, in a forked process, and from one thread to another; with
`torch' those of PyTorch (torch.cuda.nvtx). Each is a line of TALLY, as tests/workloads/nvtx.c writes them.
"""
import os
import sys
import threading
import time

if sys.argv[2:] == ["torch"]:
    from torch.cuda import nvtx
else:
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


def block(made, cat, name, args="-"):
    begin, _ = clocked(made.__enter__)
    end, _ = clocked(made.__exit__, None, None, None)
    note(cat, name, begin, end, args)


def annotated(cat, name, args="-", /, **keywords):
    block(nvtx.annotate(**keywords), cat, name, args)


def many(n):
    for i in range(n):
        annotated("nvtx", "step", f"payload={i}", message="step", payload=i)
        annotated("loader", "fetch", "category=io", message="fetch", domain="loader", category="io", color="green")
        annotated("compute", "step", message="ai.compute.step", domain="loader")


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


def torch_ranges():
    for i in range(300):
        outer, level = clocked(nvtx.range_push, "forward")
        inner, _ = clocked(nvtx.range_push, "ai.compute.step")
        inner_end, _ = clocked(nvtx.range_pop)
        outer_end, end_level = clocked(nvtx.range_pop)
        if level != 0 or end_level != 0:
            sys.exit(f"levels {level}, {end_level}")
        note("compute", "step", inner, inner_end)
        note("nvtx", "forward", outer, outer_end)
        block(nvtx.range("batch {}", i), "nvtx", f"batch\\040{i}")
    begin, number = clocked(nvtx.range_start, "started")
    end, _ = clocked(nvtx.range_end, number)
    note("nvtx", "started", begin, end)
    at, _ = clocked(nvtx.mark, "here")
    note("mark", "here", at, at)


def package_ranges():
    many(100)
    threads = [threading.Thread(target=many, args=(50,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pushes()
    across_threads()

    @nvtx.annotate(domain="loader")
    def decorated():
        pass

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


if sys.argv[2:] == ["torch"]:
    torch_ranges()
else:
    package_ranges()
