#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""server.py: answers each line with 16 KiB after DELAY ms, any number of clients at a time. Prints its port; a line `delay MS`
on its input sets the delay."""
import asyncio
import sys

delay_ms = 10.0


async def serve(reader, writer):
    while await reader.readline():
        await asyncio.sleep(delay_ms / 1000)
        writer.write(bytes(16384))
        await writer.drain()
    writer.close()


async def main():
    global delay_ms
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        delay_ms = float(line.split()[1])
        print("set", flush=True)


asyncio.run(main())
