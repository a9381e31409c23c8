# SPDX-License-Identifier: BSD-2-Clause
"""tensors_torch READY GO: imports PyTorch, makes the file READY, and when the file GO is there, makes COUNT tensors of sizes of their
own, of which it keeps every tenth; then it frees these. Prints their number and bytes, and ns of each.
"""
import os
import sys
import time

import torch

COUNT = 2000

torch.set_num_threads(1)
torch.empty(4096, dtype=torch.uint8)
with open(sys.argv[1], "w", encoding="utf-8"):
    pass
while not os.path.exists(sys.argv[2]):
    time.sleep(0.02)
kept = []
begin = time.perf_counter_ns()
for i in range(COUNT):
    tensor = torch.empty(100000 + i, dtype=torch.uint8)
    if not i % 10:
        kept.append(tensor)
took = time.perf_counter_ns() - begin
del tensor, kept
print(COUNT, sum(100000 + i for i in range(COUNT)), took // COUNT)
