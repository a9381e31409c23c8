#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""hosts.py: connections to hosts that have names, all of them in this process; prints NAME ADDRESS of each, - for none.

One is named by its TLS connection, one by an answer of a name server, of a third one nobody says the name.
"""
import select
import socket
import ssl
import struct
import threading

NAME_SERVER, BY_DNS, NAMELESS, BY_TLS = "127.0.0.77", "127.0.0.78", "127.0.0.79", "127.0.0.80"


def serve(listener):
    """Takes what comes first, and closes."""
    connection = listener.accept()[0]
    connection.recv(4096)
    connection.close()


def connected(address):
    listener = socket.create_server((address, 0))
    threading.Thread(target=serve, args=(listener,)).start()
    return socket.create_connection(listener.getsockname(), 20)


def name(text):
    return b"".join(bytes([len(label)]) + label for label in text.encode().split(b".")) + b"\0"


def resolve(host):
    """As the C library does: a question, poll, and the answer."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        server.bind((NAME_SERVER, 53))
        question = name(host) + struct.pack(">HH", 1, 1)
        client.connect((NAME_SERVER, 53))
        client.send(struct.pack(">6H", 7, 0x0100, 1, 0, 0, 0) + question)
        sender = server.recvfrom(512)[1]
        server.sendto(struct.pack(">6H", 7, 0x8180, 1, 1, 0, 0) + question + b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) +
                      socket.inet_aton(BY_DNS), sender)
        select.select([client], [], [])
        client.recv(512)


def put(host, sock):
    print(host, "%s:%d" % sock.getpeername())


resolve("data.example.org")
for host, address in ("data.example.org", BY_DNS), ("-", NAMELESS):
    with connected(address) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: not.looked.at\r\n\r\n")
        put(host, client)
        client.recv(1)
with connected(BY_TLS) as client:
    put("bucket.s3.example.com", client)
    context = ssl.create_default_context()
    try:
        context.wrap_socket(client, server_hostname="bucket.s3.example.com")
    except (OSError, ssl.SSLError):
        pass  # the server knows no TLS
