#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""data.py KIND PATH [COUNT] [BYTES]: what the jobs read.

    images  COUNT files of BYTES in a folder for each of 4 classes
    tiny    the same, of small images in 16 folders
    tokens  a file of BYTES
    shards  3 or 4 tar files (COUNT) of samples of 64 KiB, BYTES each
    model   a file with the tensors of pretrained.py
"""
import io
import json
import pathlib
import random
import struct
import sys
import tarfile
import zlib

LAYERS, WIDTH = 5, 1024  # as in pretrained.py
rng = random.Random(1)


def images(path, count, size, classes=4):
    for n in range(count):
        folder = path / f"class-{n % classes:02}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{n:06}.img").write_bytes(zlib.compress(rng.randbytes(size), 0))


def tiny(path, count, size):
    images(path, count, size, 16)


def tokens(path, _, size):
    with open(path, "wb") as f:
        for _ in range(size >> 20):
            f.write(rng.randbytes(1 << 20))


def shards(path, count, size):
    path.mkdir(parents=True, exist_ok=True)
    for shard in range(count):
        with tarfile.open(path / f"shard-{shard:06}.tar", "w") as tar:
            for n in range(size >> 16):
                member = tarfile.TarInfo(f"{shard * 1000 + n:08}.bin")
                member.size = 1 << 16
                tar.addfile(member, io.BytesIO(rng.randbytes(1 << 16)))


def model(path, *_):
    size = 4 * WIDTH * WIDTH
    tensors = {f"layers.{n}.weight": {"dtype": "F32", "shape": [WIDTH, WIDTH], "data_offsets": [n * size, (n + 1) * size]}
               for n in range(LAYERS)}
    header = json.dumps(tensors).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(header)) + header)
        for _ in range(LAYERS):
            f.write(struct.pack("<f", 0.01) * (WIDTH * WIDTH))


def main():
    kind, path, *numbers = sys.argv[1:]
    makers = {f.__name__: f for f in (images, tiny, tokens, shards, model)}
    count, size = (int(n) for n in (*numbers, 0, 0)[:2])
    makers[kind](pathlib.Path(path), count, size)


main()
