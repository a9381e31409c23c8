#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""audit.py on|off: the kernel makes a record for each openat(2), and lets few of them wait (audit(8), netlink(7)); or no more.

For guests alone: it slows down every process. Ends with 77 where the kernel cannot.
"""
import os
import socket
import struct
import sys

# linux/audit.h
SET, ADD_RULE, DEL_RULE = 1001, 1011, 1012
ENABLED, BACKLOG_LIMIT, BACKLOG_WAIT_TIME = 0x1, 0x10, 0x20
FILTER_EXIT, ALWAYS = 4, 2
OPENAT = {"x86_64": 257, "aarch64": 56}[os.uname().machine]


def request(netlink, kind, body):
    """Sends it, and raises the error of the answer."""
    netlink.send(struct.pack("=IHHII", 16 + len(body), kind, 0x5, 1, 0) + body)  # NLM_F_REQUEST | NLM_F_ACK
    error = struct.unpack_from("=i", netlink.recv(8192), 16)[0]
    if error:
        raise OSError(-error, os.strerror(-error))


def status(mask, enabled=0, backlog=0, wait=0):
    return struct.pack("=11I", mask, enabled, 0, 0, 0, backlog, 0, 0, 0, wait, 0)


def rule():
    mask = [0] * 64
    mask[OPENAT // 32] |= 1 << OPENAT % 32
    return struct.pack("=3I256II", FILTER_EXIT, ALWAYS, 0, *mask, *[0] * 192, 0)


try:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9) as audit:  # NETLINK_AUDIT
        if sys.argv[1] == "on":
            request(audit, SET, status(BACKLOG_LIMIT | BACKLOG_WAIT_TIME, backlog=1, wait=500))
            request(audit, SET, status(ENABLED, enabled=1))
            request(audit, ADD_RULE, rule())
        else:
            request(audit, DEL_RULE, rule())
            request(audit, SET, status(ENABLED))
except OSError as e:
    print(e)
    sys.exit(77)
