# SPDX-License-Identifier: BSD-2-Clause
"""snapshot save PID FILE: saves what a process has by /proc, while it stands still.
snapshot TRACE PID FILE: does the trace have exactly this as snapshot rows?
"""
import json
import os
import platform
import sys


def save(pid):
    """Returns descriptors with target and flags, threads, mappings, command line."""
    proc = f"/proc/{pid}"
    fds = {}
    for fd in os.listdir(f"{proc}/fd"):
        with open(f"{proc}/fdinfo/{fd}", encoding="ascii") as f:
            flags = dict(line.split(None, 1) for line in f if line.startswith(("flags:", "pos:")))
        fds[fd] = os.readlink(f"{proc}/fd/{fd}"), int(flags["flags:"], 8) & 3
    maps = []
    with open(f"{proc}/maps", encoding="utf-8") as f:
        for line in f:
            words = line.rstrip("\n").split(None, 5) + [""]
            start, end = (int(word, 16) for word in words[0].split("-"))
            if words[5] != "[vsyscall]":  # the kernel's own, from no mmap
                name = "" if words[5].startswith("[") else words[5]
                maps.append([start, end - start, words[1], int(words[2], 16), name])
    with open(f"{proc}/cmdline", encoding="utf-8") as f:
        args = f.read()
    return {"fds": fds, "threads": sorted(os.listdir(f"{proc}/task")), "maps": sorted(maps), "args": args}


def path(text):
    """Returns the path as in /proc, without the mark of deleted files."""
    return text.removesuffix(" (deleted)")


def check(trace, pid, proc):
    def rows(name, column):
        return [row for row in trace[name] if row[column] == "snapshot" and row["PID"] == pid]

    threads = rows("pids", "EVENT")
    trace.require(sorted(row["TID"] for row in threads) == proc["threads"], f"threads: {threads}")
    for row in threads:
        wanted = proc["args"].rstrip("\0") if row["TID"] == pid else "-"
        trace.require(row.b("ARGS").decode() == wanted, f"arguments: {row}")

    access = {0: "RDONLY", 1: "WRONLY", 2: "RDWR"}
    for row in rows("open", "FUNC"):
        link, flags = proc["fds"].pop(row["RET"], ("nothing", 0))
        trace.require(row.b("REALPATH").decode() == path(link), f"not {link}: {row}")
        trace.require(access[flags] in row["FLAGS"].split("|"), f"not {access[flags]}: {row}")
        trace.require(row["LAT_NS"] == "0" and row["PATH"] == row["MODE"] == "-", f"a call: {row}")
    trace.require(not proc["fds"], f"no rows: {proc['fds']}")

    if tuple(int(n) for n in platform.release().split("-")[0].split(".")[:2]) < (5, 12):  # no BPF iterator over mappings
        trace.require(not rows("mmap", "FUNC"), "mappings without an iterator")
        return
    maps = []
    for row in rows("mmap", "FUNC"):
        letters = "".join(letter if name in row["PROT"].split("|") else "-"
                          for letter, name in (("r", "READ"), ("w", "WRITE"), ("x", "EXEC")))
        letters += "s" if "SHARED" in row["FLAGS"].split("|") else "p"
        real = trace.file(row["FID"]).b("REALPATH").decode() if row["FID"] != "-" else ""
        offset = 0 if row["OFFSET"] == "-" else row.n("OFFSET")
        trace.require(row["RET"] == row["ADDR"], f"address: {row}")
        maps.append([row.n("ADDR"), row.n("LEN"), letters, offset, real])
    wanted = [row[:4] + [path(row[4])] for row in proc["maps"]]
    for row in wanted:
        trace.require(row in maps, f"no mapping {row}")
    for row in maps:
        trace.require(row in wanted, f"a mapping that is none: {row}")


def main():
    trace, pid, file = sys.argv[1:]
    if trace == "save":
        with open(file, "w", encoding="utf-8") as f:
            json.dump(save(pid), f)
        return
    import tracefolder
    trace = tracefolder.Trace(trace)
    with open(file, encoding="utf-8") as f:
        check(trace, pid, json.load(f))
    trace.finish()


main()
