# SPDX-License-Identifier: BSD-2-Clause
"""The functions of a program or a library, by its symbols."""
import bisect
import struct


class Symbols:
    """The functions of an ELF file by address, and its build id."""

    def __init__(self, path):
        with open(path, "rb") as f:
            elf = f.read()
        begin, size, n = struct.unpack_from("<40xQ10xHH", elf)
        sections = [struct.unpack_from("<IIQQQQII8xQ", elf, begin + i * size) for i in range(n)]
        symbols = next(s for s in sections if s[1] == 2)
        names, found = sections[symbols[6]][4], []
        for i in range(symbols[4], symbols[4] + symbols[5], 24):
            name, info, where, at = struct.unpack_from("<IBxHQ", elf, i)
            if info & 15 == 2 and where:
                found.append((at, elf[names + name:elf.index(b"\0", names + name)].decode()))
        found.sort()
        self.at, self.names = [at for at, _ in found], [name for _, name in found]
        note = elf.index(b"GNU\0", next(s[4] for s in sections if s[1] == 7 and elf[s[4] + 8] == 3))
        self.build_id = elf[note + 4:note + 24].hex()

    def name(self, at):
        return self.names[bisect.bisect_right(self.at, at) - 1]
