# SPDX-License-Identifier: BSD-2-Clause
"""Prints what people's jobs print: a bar that is drawn again and again on stderr, like that of tqdm."""
import sys
import time


class Bar:
    def __init__(self, title, steps):
        self.title, self.steps, self.step, self.begin, self.drawn = title, steps, 0, time.monotonic(), 0.0

    def update(self, **numbers):
        self.step += 1
        at = time.monotonic()
        if at - self.drawn < 0.1 and self.step != self.steps:
            return
        self.drawn = at
        done = self.step / self.steps
        took = at - self.begin
        left = took / self.step * (self.steps - self.step)
        more = "".join(f", {name}={value:.3g}" for name, value in numbers.items())
        sys.stderr.write(f"\r{self.title}: {done:4.0%}|{'#' * int(10 * done):<10}| {self.step}/{self.steps} "
                         f"[{clock(took)}<{clock(left)}, {self.step / took:5.2f}it/s{more}]")
        sys.stderr.flush()

    def close(self):
        sys.stderr.write("\n")


def clock(seconds):
    return f"{int(seconds) // 60:02}:{int(seconds) % 60:02}"
