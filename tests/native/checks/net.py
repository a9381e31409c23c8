# SPDX-License-Identifier: BSD-2-Clause
"""net FOLDER PROTOCOL [STRACE]: are the calls of net.out and the sockets of sockets.out those that tests/workloads/net.py
has counted in PROTOCOL? STRACE: the number and the bytes of its calls by name, as strace -f of another run has them.
"""
import collections
import re
import sys

import tracefolder

SUMS = ("COUNT", "BYTES", "AGAIN", "FAILED")
LONG_NS = 1_000_000
EXCHANGES = 4  # at least: connections whose answers come late once


def read_protocol(path):
    lines = collections.defaultdict(list)
    with open(path, encoding="utf-8") as f:
        for line in f:
            what, *fields = line.rstrip("\n").split("\t")
            lines[what].append(fields)
    return lines


def check_calls(trace, lines, inodes):
    """Each call of the protocol is in one row: of its own, or of a sum."""
    made = {tuple(key): [int(n) for n in numbers] for *key, c, b, a, f in lines["calls"] for numbers in [(c, b, a, f)]}
    rows = collections.defaultdict(lambda: [0] * len(SUMS))
    for row in trace["net"]:
        key = row["TID"], row["CALL"], row["RW"], inodes.get(row["FID"], "-")
        rows[key] = [n + row.n(column) for n, column in zip(rows[key], SUMS)]
        single = row["RET"] != "-"
        trace.require(not single or row.n("COUNT") == 1, f"a call: {row}")
        trace.require(single or row.n("MAX_NS") < LONG_NS, f"a long call is in a sum: {row}")
        trace.require(single or row["CALL"] != "connect", f"a connect is in a sum: {row}")
        trace.require(row.n("MAX_NS") <= row.n("TIME_NS") <= row.n("SPAN_NS"), f"times: {row}")
        trace.require(not single or row.n("RET") < 0 or row["RW"] == "-" or row["CALL"].endswith("mmsg") or
                      row.n("BYTES") in (row.n("RET"), 0), f"bytes: {row}")
    for key, numbers in made.items():
        trace.require(rows.get(key) == numbers, f"{key}: {rows.get(key)}, made {numbers}")
    near = lines["near"][0][0]
    trace.require(not any(key[3] == near for key in rows), "a pipe is in net.out")
    late = [row for row in trace["net"] if row["RET"] != "-" and row["CALL"] != "connect" and row.n("TIME_NS") >= LONG_NS]
    trace.require(len(late) >= EXCHANGES, f"{len(late)} long calls have rows")


def check_sockets(trace, lines, inodes):
    last, first = {}, {}
    for row in trace["sockets"]:
        last[inodes[row["FID"]]] = row
        first.setdefault(inodes[row["FID"]], row)
        trace.require(row["STATE"] == "open" or row is last[inodes[row["FID"]]], f"after its end: {row}")
    used = collections.Counter()
    for row in trace["net"]:
        if row["FID"] != "-" and row["RW"] != "-":
            used[inodes[row["FID"]], row["RW"]] += row.n("BYTES")
    for ino, family, kind, proto, local, peer, path, pid, received, sent in lines["socket"]:
        row = last.get(ino)
        if not row:
            trace.require(False, f"no row of socket {ino} ({family} {local})")
            continue
        got = [row[c] for c in "FAMILY TYPE PROTO LOCAL PEER PATH PEER_PID RECEIVED SENT".split()]
        expected = [family, kind, proto, local, peer, re.sub(r"[ \\]", lambda m: f"\\{ord(m[0]):03o}", path), pid, received, sent]
        trace.require(got == expected, f"socket {ino}: {got}, made {expected}")
        trace.require(row["STATE"] == "closed", f"its end: {row}")
        trace.require((used[ino, "R"], used[ino, "W"]) == (row.n("RECEIVED"), row.n("SENT")), f"bytes of net.out: {used[ino, 'R']}, {used[ino, 'W']}: {row}")
        trace.require((row["RESENT"] == "-") == (proto != "tcp"), f"RESENT: {row}")
    connects = {row["FID"]: row for row in trace["net"] if row["CALL"] == "connect" and row["RET"] == "0"}
    for row in last.values():
        there = row["FID"] in connects
        trace.require((row["CONNECT_NS"] != "-") == there, f"CONNECT_NS: {row}")
        trace.require(not there or row.n("CONNECT_NS") <= connects[row["FID"]].n("TIME_NS"), f"CONNECT_NS: {row} of {connects.get(row['FID'])}")
        trace.require(row["FIRST_NS"] == "-" or row.n("FIRST_NS") > row.n("CONNECT_NS"), f"FIRST_NS: {row}")


def read_strace(path):
    """Returns the numbers of calls on sockets, and the sums of their results above 0, by name."""
    made, bytes_of, on_socket = collections.Counter(), collections.Counter(), {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            tid = line.split()[0]
            begin = re.match(r"\d+ +(\w+)\(\d+<(?:socket|TCP|TCPv6|UDP|UDPv6|UNIX)\b", line)
            if begin:
                made[begin[1]] += 1
                on_socket[tid] = begin[1]
            elif "resumed>" not in line:
                on_socket.pop(tid, None)
            result = re.search(r" = (-?\d+)(?: \w+ \(.*\))?$", line)
            if result and tid in on_socket:
                bytes_of[on_socket.pop(tid)] += max(0, int(result[1]))
    return made, bytes_of


def check_strace(trace, path):
    made, bytes_of = read_strace(path)
    rows = {column: collections.Counter() for column in SUMS}
    for row in trace["net"]:
        for column in SUMS:
            rows[column][row["CALL"]] += row.n(column)
    for call in ("sendto", "recvfrom", "recvmsg", "sendmsg", "connect", "accept4", "sendmmsg", "recvmmsg"):
        trace.require(rows["COUNT"][call] == made[call] > 0, f"{call}: {rows['COUNT'][call]}, by strace {made[call]}")
    for call in ("sendto", "recvmsg", "sendmsg"):  # of recvfrom some only look
        trace.require(rows["BYTES"][call] == bytes_of[call] > 0, f"{call}: {rows['BYTES'][call]} bytes, by strace {bytes_of[call]}")


def main():
    trace = tracefolder.Trace(sys.argv[1])
    lines = read_protocol(sys.argv[2])
    inodes = {row["FID"]: row["INO"] for row in trace["files"] if row["TYPE"] == "sock"}
    check_calls(trace, lines, inodes)
    check_sockets(trace, lines, inodes)
    if len(sys.argv) > 3:
        check_strace(trace, sys.argv[3])
    trace.finish()


main()
