#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Convert a folder of raw files: read each, scale its samples, compress them, write the result. Trains nothing."""
import argparse
import array
import pathlib
import zlib

from account import Account


def convert(raw):
    samples = array.array("H", raw)
    least, most = min(samples), max(samples)
    return zlib.compress(bytes((sample - least) * 255 // (most - least) for sample in samples[::8]), 1)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("raw", type=pathlib.Path)
    p.add_argument("out", type=pathlib.Path)
    args = p.parse_args()

    account = Account()
    args.out.mkdir(exist_ok=True)
    with account.time("open"):
        paths = sorted(path for path in args.raw.rglob("*") if path.is_file())
    for number, path in enumerate(paths, 1):
        with account.time("read"):
            raw = path.read_bytes()
        with account.time("decode"):
            converted = convert(raw)
        with account.time("write"):
            (args.out / f"{path.stem}.z").write_bytes(converted)
        if number % 40 == 0:
            print(f"converted {number}/{len(paths)} files")
    print("done")
    account.close()


if __name__ == "__main__":
    main()
