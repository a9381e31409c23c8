#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A stand-in for nvidia-smi that tells the truth, for machines without a GPU: pmon and dmon as ../stubs/nvidia-smi has
them, of one GPU whose state tests/workloads/staged.py --gpu keeps in the file gpu beside this one.
"""
import os
import signal
import struct
import sys
import time

STATE = struct.Struct("=3q")
HEADERS = {
    "pmon": """#Date       Time        gpu         pid   type     sm    mem    enc    dec    jpg    ofa     fb   ccpm    command 
#YYYYMMDD   HH:MM:SS    Idx           #    C/G      %      %      %      %      %      %     MB     MB    name """,
    "dmon": """#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk  pviol  tviol     fb   bar1   ccpm  sbecc  dbecc    pci  rxpci  txpci 
#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %      %      %      %      %    MHz    MHz      %   bool     MB     MB     MB   errs   errs   errs   MB/s   MB/s """,
}
ROWS = {
    "pmon": " {stamp}      0    {pid:8}      C    {sm:3}    {mem:3}      -      -      -      -  {fb:5}      0    staged.py ",
    "dmon": " {stamp}      0    412     54     61    {sm:3}    {mem:3}      0      0      0      0   2619   1980      0      0"
            "  {fb:5}      4      0      0      0      0    214     38 ",
}
IDLE = " {stamp}      0           -      -      -      -      -      -      -      -      -      -    -              "


def busy():
    """Returns the process that uses the GPU, 0 without one, and the ns for which it has been busy."""
    try:
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpu"), "rb") as f:
            pid, total, since = STATE.unpack(f.read(STATE.size))
    except (OSError, struct.error):
        return 0, 0
    return pid, total + (time.monotonic_ns() - since if since else 0)


def main():
    command, words = sys.argv[1], sys.argv[2:]
    options = dict(zip(words[::2], words[1::2]))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    print(HEADERS[command], flush=True)
    at, (_, before) = time.monotonic_ns(), busy()
    while True:
        time.sleep(float(options.get("-d", 1)))
        then, (pid, total) = time.monotonic_ns(), busy()
        sm = max(0, min(100, round(100 * (total - before) / (then - at))))
        row = IDLE if command == "pmon" and not pid else ROWS[command]
        print(row.format(stamp=time.strftime("%Y%m%d   %H:%M:%S"), pid=pid, sm=sm, mem=sm // 2, fb=71034 if pid else 0), flush=True)
        at, before = then, total


main()
