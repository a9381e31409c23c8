# SPDX-License-Identifier: BSD-2-Clause
"""Compressed segments: gzip members or zstd frames of whole lines, one after the other. What is cut off at the end is left."""
from __future__ import annotations

import importlib
import shutil
import subprocess
import zlib
from typing import BinaryIO, Callable, Iterator, NamedTuple

FRAME_MAGIC = b"\x28\xb5\x2f\xfd"
MEMBER_BYTES = 1 << 20  # of text, at most


class Frame(NamedTuple):
    begin: int
    end: int
    text_bytes: int


def _frame(f: BinaryIO) -> int:
    """Reads over a frame from its magic on, by the headers of its blocks (RFC 8878). Returns the length of its text."""
    def number(size: int) -> int:
        raw = f.read(size)
        if len(raw) < size:
            raise EOFError
        return int.from_bytes(raw, "little")

    descriptor = number(1)
    single = descriptor >> 5 & 1
    number((1 - single) + (0, 1, 2, 4)[descriptor & 3])
    size = (single, 2, 4, 8)[descriptor >> 6]
    text_bytes = number(size) + (256 if size == 2 else 0) if size else MEMBER_BYTES
    last = 0
    while not last:
        block = number(3)
        last, kind, length = block & 1, block >> 1 & 3, block >> 3
        f.seek(1 if kind == 1 else length, 1)
    number(4 if descriptor >> 2 & 1 else 0)
    return text_bytes


def frames(f: BinaryIO) -> Iterator[Frame]:
    """The whole zstd frames of F."""
    size = f.seek(0, 2)
    begin = f.seek(0)
    while f.read(4) == FRAME_MAGIC:
        try:
            text_bytes = _frame(f)
        except EOFError:
            return
        if f.seek(0, 1) > size:
            return
        yield Frame(begin, f.seek(0, 1), text_bytes)
        begin = f.seek(0, 1)


def members(packed: bytes) -> Iterator[bytes]:
    """The texts of PACKED's gzip members. EOFError where one is cut off or damaged."""
    while packed:
        member = zlib.decompressobj(31)
        try:
            text = member.decompress(packed)
        except zlib.error as error:
            raise EOFError from error
        if not member.eof:
            raise EOFError
        yield text
        packed = member.unused_data


def _by_command(packed: bytes) -> bytes:
    run = subprocess.run(["zstd", "-dcq"], input=packed, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if run.returncode:
        raise ValueError(run.stderr.decode(errors="backslashreplace").strip())
    return run.stdout


def _by_pyarrow(packed: bytes) -> bytes:
    import pyarrow
    with pyarrow.input_stream(pyarrow.py_buffer(packed), compression="zstd") as stream:
        return stream.read()


def _by_zstandard(packed: bytes) -> bytes:
    import zstandard
    return zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True).read()


def _by_standard_library(packed: bytes) -> bytes:
    return importlib.import_module("compression.zstd").decompress(packed)


# By the module that each takes; the first one that is there.
ZSTD = (("compression.zstd", _by_standard_library), ("zstandard", _by_zstandard), ("pyarrow", _by_pyarrow))


def unzstd() -> Callable[[bytes], bytes]:
    """A function that unpacks whole frames. ModuleNotFoundError where nothing here can."""
    for module, unpack in ZSTD:
        try:
            importlib.import_module(module)
        except ImportError:
            continue
        return unpack
    if shutil.which("zstd"):
        return _by_command
    raise ModuleNotFoundError("compressed by zstd: reading it takes the package zstandard or pyarrow, the command zstd, or "
                              "Python 3.14")
