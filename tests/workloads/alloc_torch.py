# SPDX-License-Identifier: BSD-2-Clause
"""alloc_torch: makes tensors of known sizes at known lines, in the first thread and in another. Prints for each line: tensors,
bytes of each, file:line:function. PyTorch has released the GIL when it allocates.
"""
import collections
import sys
import threading

import torch

torch.set_num_threads(1)
tally = collections.Counter()


def note(size):
    frame = sys._getframe(1)
    tally[size, f"{frame.f_code.co_filename}:{frame.f_lineno}:{frame.f_code.co_name}"] += 1


def makes():
    for _ in range(40):
        a = torch.empty(101 * 1024, dtype=torch.uint8); note(101 * 1024)
        b = torch.empty(202 * 1024, dtype=torch.uint8); note(202 * 1024)
    for _ in range(25):
        c = a[:1024].repeat(303); note(303 * 1024)
    return b, c


def in_thread():
    for _ in range(30):
        d = torch.zeros(404 * 1024, dtype=torch.uint8); note(404 * 1024)
    return d


makes()
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
for (size, line), n in sorted(tally.items()):
    print(n, size, line)
