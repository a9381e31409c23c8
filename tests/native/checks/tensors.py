# SPDX-License-Identifier: BSD-2-Clause
"""tensors FOLDER TALLY PROGRAM LIBRARY [bare]: the rows of alloc.out are the calls that tests/workloads/tensors.c counted
itself, to the byte; each free has the size, the life, the thread and the stack of its block's allocation; the stacks are those
that its source has, by the symbols of PROGRAM and LIBRARY. bare: the library has no frame pointers.
"""
import collections
import sys

import tracefolder
from elf_symbols import Symbols

ALLOC_CPU = "_ZN3c109alloc_cpuEm"
EARLY = "77777"
UNCOUNTED = (EARLY, "12345")


def callers(func, size):
    """Returns the functions that a call is made by, from the innermost on, up to the thread's first one."""
    # a child's first calls may reach the probe of posix_memalign() before it has one of the function that calls that
    inner = [ALLOC_CPU] if func == "c10::alloc_cpu" or size == EARLY else []
    if size == "12345":
        return inner + ["deep", "main"]
    if size == EARLY or 100000 <= int(size) < 200000:
        return inner + ["child", "main"]
    if inner and int(size) < 20000:
        return inner + ["tensor", "works"]
    return inner + ["main"]


def check_sites(trace, program, library, bare):
    known = {row["SITE"]: row for row in trace["sites"]}
    trace.require(len(known) == len(trace["sites"]), "a site has two rows")
    files = {"tensors": Symbols(program), "libc10.so": Symbols(library)}
    seen, others = set(), set()
    for row in trace["alloc"]:
        if row["FUNC"] not in ("c10::alloc_cpu", "libc:posix_memalign") or row["SIZE"] == "-":
            continue
        stack = known.get(row["SITE"])
        if not trace.require(stack and stack["KIND"] == "native", f"no stack: {row}"):
            continue
        wanted, names = callers(row["FUNC"], row["SIZE"]), []
        for frame in stack["FRAMES"].split(";"):
            module, at = frame.split("+")
            path = known[module].b("FRAMES").decode() if module != "-" else "-"
            name = path.split("/")[-1].removesuffix(" (deleted)")
            if name in files:
                names.append(files[name].name(int(at, 16) - 1))
                trace.require(known[module]["BUILD_ID"] == files[name].build_id, f"build id: {known[module]}")
            else:
                others.add(name)
        if bare and wanted[0] == ALLOC_CPU:  # the function behind the one without a frame pointer is left out
            del wanted[1:2]
        seen.add(tuple(wanted))
        trace.require(names[:len(wanted)] == wanted, f"{names}, not {wanted}: {row} {stack}")
    trace.require(len(seen) >= 4, f"too few stacks: {seen}")
    trace.require(all(name.startswith(("libc.so", "libc-2")) for name in others), f"frames in {others}")


def main():
    trace = tracefolder.Trace(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as f:
        made = {func: list(map(int, numbers)) for func, *numbers in map(str.split, f)}
    trace.require(made.pop("child") == [23], "the child has not ended by itself")
    found = collections.defaultdict(lambda: [0, 0])
    live, failed, crossed = {}, 0, 0
    for row in trace["alloc"]:
        func, size, block = row["FUNC"], row["SIZE"], (row["PID"], row["ADDR"])
        if func == "c10::alloc_cpu" and row["ADDR"] == "0":
            failed += size == str(1 << 50)
            continue
        if func == "c10::alloc_cpu":
            trace.require(block not in live, f"in use twice: {row}")
            live[block] = row
        elif func in ("c10::free_cpu", "end"):
            of = live.pop(block, None)
            if size == "-" and row["PID"] != trace["alloc"][0]["PID"]:
                continue  # the child has allocated it before it was followed
            if trace.require(of, f"not in use: {row}"):
                trace.require(size == of["SIZE"] and row["ALLOC_TID"] == of["TID"] and row["SITE"] == of["SITE"], f"not of {of}: {row}")
                trace.require(row.n("LIFE_NS") == row.n("TIMESTAMP") - of.n("TIMESTAMP"), f"another life than {of}: {row}")
                crossed += row["TID"] != of["TID"]
        if size not in UNCOUNTED:
            found[func][0] += 1
            found[func][1] += int(size)
    trace.require(not live, f"{len(live)} blocks have no end")
    trace.require(failed == 1, f"{failed} calls that fail")
    trace.require(crossed > 500, f"only {crossed} blocks are freed by another thread")
    for func, numbers in made.items():
        got = found.pop(func, [0, 0])[:len(numbers)]
        trace.require(got == numbers, f"{func}: {got}, not {numbers}")
    trace.require(not found, f"rows of others: {dict(found)}")
    alloc = trace.manifest["alloc"]
    trace.require(alloc["probed_processes"] == 2 and alloc["failed_probes"] == 0 and alloc["siteless"] == 0, f"{alloc}")
    check_sites(trace, sys.argv[3], sys.argv[4], sys.argv[5:] == ["bare"])
    trace.finish()


main()
