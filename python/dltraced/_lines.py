# SPDX-License-Identifier: BSD-2-Clause
"""
A segment's text in blocks that are read one by one, each of whole lines, and the rows of a block.

A trace may be cut off, still growing or forged: a line with too few fields, or with NULs, which a disk that lost its data
leaves, is skipped with a warning, as `dltraced report' does; bytes that rows cannot have are escaped.
"""
from __future__ import annotations

import itertools
import os
import re
import warnings
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional

from . import _columns, _folder, _packed

BLOCK_BYTES = 16 << 20
HEADER_BYTES = 1 << 16
PIECE_BYTES = 1 << 18
# What no row has: docs/traces.md, Rules of the text.
FORBIDDEN = re.compile(rb'[\x00-\x08\x0b-\x20"#\x7f]')
PLAIN_BYTES = bytes(b for b in range(256) if not FORBIDDEN.match(bytes([b])))


class Damaged(ValueError):
    """A file of a trace has what dltraced does not write."""


class Block(NamedTuple):
    """Bytes of a file, packed ones where it is. `header': it begins with the two lines of the header. TEXT_BYTES: about so many."""
    file: str
    begin: int
    end: int
    header: bool
    text_bytes: int


def _plain(file: str, size: int) -> Iterator[Block]:
    """Cuts at the first line that begins at or behind each SIZE bytes; the header stays whole."""
    with open(file, "rb") as f:
        begin, end = 0, f.seek(0, 2)
        while begin < end:
            f.seek(begin + (size if begin else max(size, HEADER_BYTES)) - 1)
            f.readline()
            cut = min(f.seek(0, 1), end)
            yield Block(file, begin, cut, begin == 0, cut - begin)
            begin = cut


def _zstd(file: str, size: int) -> Iterator[Block]:
    begin = end = text_bytes = 0
    with open(file, "rb") as f:
        for frame in _packed.frames(f):
            if text_bytes and text_bytes + frame.text_bytes > size:
                yield Block(file, begin, end, begin == 0, text_bytes)
                begin, text_bytes = frame.begin, 0
            end = frame.end
            text_bytes += frame.text_bytes
        if end < f.seek(0, 2):
            _warn_cut(file)
    if end:
        yield Block(file, begin, end, begin == 0, text_bytes)


def _gzip(file: str, size: int) -> Iterator[Block]:
    """One block: only unpacking shows where a member ends."""
    yield Block(file, 0, os.path.getsize(file), True, 8 * os.path.getsize(file))


def blocks(file: str, size: int = 0) -> Iterator[Block]:
    """FILE in blocks of about SIZE bytes of text."""
    cut = {".gz": _gzip, ".zst": _zstd}.get(os.path.splitext(file)[1], _plain)
    return cut(file, size or BLOCK_BYTES)


def _warn_cut(file: str) -> None:
    warnings.warn(f"{file}: its end is cut off or damaged: rows there are missing", stacklevel=4)


def _gunzip(packed: bytes, file: str, most: Optional[int]) -> bytes:
    text: List[bytes] = []
    try:
        text.extend(itertools.islice(_packed.members(packed), most))
    except EOFError:
        _warn_cut(file)
    return b"".join(text)


def _text(block: Block, members: Optional[int] = None) -> bytes:
    """The text of BLOCK; of one of gzip only the first MEMBERS."""
    with open(block.file, "rb") as f:
        f.seek(block.begin)
        raw = f.read(block.end - block.begin)
    if block.file.endswith(".gz"):
        return _gunzip(raw, block.file, members)
    try:
        return _packed.unzstd()(raw) if block.file.endswith(".zst") else raw
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{block.file} is {error}") from error
    except Exception as error:  # each package has its own
        raise Damaged(f"{block.file}: {error}") from error


def header(file: str, probe: str) -> List[str]:
    """The names of the columns of FILE, which is of PROBE; none where the header is not written yet."""
    block = next(blocks(file, HEADER_BYTES), None)
    text = _text(block, members=1) if block else b""
    lines = text.split(b"\n", 2)
    if (len(lines) < 3 and len(text) < HEADER_BYTES) or lines[1].startswith(b"#"):  # a banner of a tool that had no sample
        return []
    schema = re.match(rb"# dltraced %s ([0-9]+)" % probe.encode(), lines[0])
    if len(lines) < 3 or not schema:
        raise Damaged(f"{file}: it does not begin with `# dltraced {probe}', as this file of a trace does")
    _columns.refuse_newer(file, int(schema[1]))
    return lines[1].decode("utf-8", "backslashreplace").split("\t")


def _clean(line: bytes) -> bytes:
    """LINE with what a row cannot have as \\ooo."""
    text = FORBIDDEN.sub(lambda m: b"\\%03o" % m[0][0], line).decode("utf-8", "surrogateescape")
    return re.sub("[\udc80-\udcff]", lambda m: f"\\{ord(m[0]) & 255:03o}", text).encode()


def _mend(lines: List[bytes], tabs: int, file: str) -> List[bytes]:
    """The rows among LINES, which are not all whole: comments left out, further columns cut off."""
    lines = [line for line in lines if not line.startswith(b"#")]
    whole = [line for line in lines if line.count(b"\t") >= tabs and b"\0" not in line]
    if len(whole) < len(lines):
        warnings.warn(f"{file}: {len(lines) - len(whole)} damaged lines are skipped (`dltraced validate' shows them)", stacklevel=2)
    return [_clean(b"\t".join(line.split(b"\t", tabs + 1)[:tabs + 1])) for line in whole]


def _is_whole_by_numpy(text: bytes, tabs: int, numpy: Any) -> bool:
    """In pieces of whole lines that stay in the processor's cache: at or below a blank, a row has its TABS and its end alone."""
    begin = 0
    while begin < len(text):
        cut = text.find(b"\n", begin + PIECE_BYTES) + 1 or len(text)
        values = numpy.frombuffer(text, numpy.uint8, cut - begin, begin)
        low = numpy.flatnonzero(values <= 32)
        ends = values[low[tabs::tabs + 1]]
        if len(low) != len(ends) * (tabs + 1) or not (ends == 10).all() or numpy.count_nonzero(values == 9) != len(ends) * tabs:
            return False
        begin = cut
    return not any(byte in text for byte in (b'"', b"#", b"\x7f"))


def _is_whole(text: bytes, tabs: int) -> bool:
    """Whether TEXT has rows with TABS tabs alone, of bytes that rows can have."""
    try:
        text.isascii() or text.decode()
    except UnicodeDecodeError:
        return False
    try:
        import numpy
    except ModuleNotFoundError:
        return not text.translate(None, PLAIN_BYTES) and all(line.count(b"\t") == tabs for line in text.split(b"\n")[:-1])
    return _is_whole_by_numpy(text, tabs, numpy)


def text(block: Block, n_columns: int) -> bytes:
    """The rows of BLOCK, each with N_COLUMNS fields and its end."""
    raw = _text(block)
    begin = raw.find(b"\n", raw.find(b"\n") + 1) + 1 if block.header else 0
    end = raw.rfind(b"\n") + 1
    if end < len(raw):
        warnings.warn(f"{block.file}: its last line is cut off, and is skipped", stacklevel=2)
    raw = raw[begin:end]
    if _is_whole(raw, n_columns - 1):
        return raw
    return b"".join(line + b"\n" for line in _mend(raw.split(b"\n")[:-1], n_columns - 1, block.file))


def rows(block: Block, n_columns: int) -> List[bytes]:
    """The rows of BLOCK, each with N_COLUMNS fields."""
    return text(block, n_columns).split(b"\n")[:-1]


def records(folder: str, probe: str) -> Iterator[Dict[str, str]]:
    """The rows of PROBE.out as they stand in it, by the names of columns; none without the file."""
    for file in _folder.segments(folder, probe):
        names = header(file, probe)
        for block in blocks(file) if names else ():
            for line in rows(block, len(names)):
                yield dict(zip(names, line.decode().split("\t")))


def filtered(text: bytes, keep: Optional[Callable[[bytes], bool]]) -> bytes:
    """Those rows of TEXT that KEEP takes."""
    return text if keep is None else b"".join(line + b"\n" for line in text.split(b"\n")[:-1] if keep(line))
