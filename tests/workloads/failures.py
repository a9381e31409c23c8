#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""failures.py CASE FOLDER: something fails, or does what jobs do without failing; prints by its own count what failed.

Each line is KIND CODE N: of calls the errno, of processes the signal or the status. Nothing is printed where nothing failed.
"""
import collections
import errno
import multiprocessing
import os
import resource
import select
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

failed = collections.Counter()
MIB = bytes(1 << 20)


def datagrams():
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def full(folder):
    """Eight saves of 3 MB to a file system of 10: each goes on until it cannot, and waits then."""
    for i in range(8):
        fd = os.open(f"{folder}/{i}.pt", os.O_WRONLY | os.O_CREAT)
        left = 3 << 20
        try:
            while left > 0:
                left -= os.write(fd, MIB[:left])
        except OSError as error:
            failed["call", errno.errorcode[error.errno]] += 1
            time.sleep(0.2)
        os.close(fd)


def files(folder):
    """A limit of open files is reached, and each open is tried again after a pause."""
    os.mkdir(f"{folder}/few")
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    kept = []
    for i in range(150):
        path = f"{folder}/few/{i}"
        for _ in range(3):
            try:
                kept.append(os.open(path, os.O_RDWR | os.O_CREAT))
                break
            except OSError as error:
                failed["call", errno.errorcode[error.errno]] += 1
                time.sleep(0.004)


def processes(folder):
    """A limit of processes is reached, by threads and by processes: another user's, as none holds for root."""
    if os.fork() == 0:
        threads = []
        resource.setrlimit(resource.RLIMIT_NPROC, (8, 8))
        os.setgid(12345)
        os.setuid(12345)
        for _ in range(12):
            try:
                thread = threading.Thread(target=time.sleep, args=(1.5,), daemon=True)
                thread.start()
                threads.append(thread)
            except RuntimeError:
                failed["call", "EAGAIN"] += 1
                time.sleep(0.1)
        try:
            if os.fork() == 0:
                os._exit(0)
        except BlockingIOError as error:
            failed["call", errno.errorcode[error.errno]] += 1
            time.sleep(0.1)
        print("call EAGAIN", failed["call", "EAGAIN"], flush=True)
        os._exit(0)
    os.wait()


def refused(folder):
    """A server that is not there: connects that wait, and some that learn of it by getsockopt."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = closed.getsockname()
    for timeout in [None] * 5 + [1.0] * 7:
        try:
            socket.create_connection(address, timeout)
        except OSError as error:
            failed["call", errno.errorcode[error.errno]] += 1
            time.sleep(0.1)


def unanswered(folder):
    """Questions by datagrams to a server that never answers: without a connect, and with one."""
    with datagrams() as silent:
        silent.bind(("127.0.0.1", 0))
        for connects in (False, True):
            with datagrams() as client:
                client.settimeout(0.3)
                if connects:
                    client.connect(silent.getsockname())
                for _ in range(2):
                    client.send(b"?") if connects else client.sendto(b"?", silent.getsockname())
                    try:
                        client.recv(100)
                    except TimeoutError:
                        failed["call", "no-answer"] += 1


def unreceived(folder):
    """The same by a receive that the kernel ends (SO_RCVTIMEO)."""
    with datagrams() as silent, datagrams() as client:
        silent.bind(("127.0.0.1", 0))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 300000))
        for _ in range(3):
            client.sendto(b"?", silent.getsockname())
            try:
                client.recv(100)
            except BlockingIOError:
                failed["call", "no-answer"] += 1


def unselected(folder):
    """The same by select, with a pipe in the set, too."""
    ends = os.pipe()
    with datagrams() as silent, datagrams() as client:
        silent.bind(("127.0.0.1", 0))
        for _ in range(2):
            client.sendto(b"?", silent.getsockname())
            if not select.select([ends[0], client], [], [], 0.8)[0]:
                failed["call", "no-answer"] += 1


def unready(folder):
    """The same by epoll, where another socket is waited for, too."""
    with datagrams() as silent, datagrams() as client, datagrams() as other, selectors.EpollSelector() as selector:
        silent.bind(("127.0.0.1", 0))
        selector.register(other, selectors.EVENT_READ)
        selector.register(client, selectors.EVENT_READ)
        for _ in range(2):
            client.sendto(b"?", silent.getsockname())
            if not selector.select(0.8):
                failed["call", "no-answer"] += 1


def unconnected(folder):
    """A server that does not accept: its backlog is full, so the kernel drops what asks for a connection."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        kept = []
        for i in range(4):
            kept.append(socket.socket())
            kept[-1].settimeout(0.6)
            try:
                kept[-1].connect(server.getsockname())
            except TimeoutError:
                failed["call", "no-answer"] += 1


def silent(folder):
    """A server that accepts, and never answers a request."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        for _ in range(3):
            with socket.create_connection(server.getsockname(), 0.6) as client:
                client.sendall(b"GET / HTTP/1.0\r\n\r\n")
                try:
                    client.recv(100)
                except TimeoutError:
                    failed["call", "no-answer"] += 1


def child_of(code, limit, before=""):
    """Runs CODE in a child with a limit, and counts what it prints or is ended by."""
    end = subprocess.run(["sh", "-c", f'{before} ulimit {limit}; exec "$@"', "sh", sys.executable, "-c", code],
                         check=False, stdout=subprocess.PIPE)
    if end.returncode < 0:
        failed["signal", signal.Signals(-end.returncode).name] += 1
    for line in end.stdout.decode().split():
        failed["call", line] += 1


def locked(folder):
    """Memory that may not be locked, by another user, as the limit holds for nobody with root's capability."""
    child_of("""
import ctypes, errno, mmap, os
os.setgid(12345)
os.setuid(12345)
libc = ctypes.CDLL(None, use_errno=True)
m = mmap.mmap(-1, 1 << 20)
at = ctypes.addressof(ctypes.c_char.from_buffer(m))
if libc.mlock(ctypes.c_void_p(at), ctypes.c_size_t(1 << 20)) < 0:
    print(errno.errorcode[ctypes.get_errno()])
if libc.mlock(ctypes.c_void_p(at), ctypes.c_size_t(40 << 10)) < 0:
    pass  # a key's, which does without
try:
    mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x2000)
except OSError as error:
    print(errno.errorcode[error.errno])
""", "-l 32")


def cpu(folder):
    """The limit of CPU time is used up."""
    child_of("while True: pass", "-t 1")


def large(folder):
    """A file reaches the limit of its size: Python ignores the signal."""
    child_of(f"""
import errno, os
fd = os.open({folder + "/large"!r}, os.O_WRONLY | os.O_CREAT)
try:
    while True:
        os.write(fd, bytes(1 << 18))
except OSError as error:
    print(errno.errorcode[error.errno])
""", "-f 2048")


def work(how):
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(100)


def killed(folder):
    """A worker is killed: its parent notices at once, unlike many."""
    worker = multiprocessing.Process(target=work, args=("killed",))
    worker.start()
    worker.join()
    failed["signal", signal.Signals(-worker.exitcode).name] += 1
    time.sleep(0.6)


def bus(folder):
    """A process touches a mapping that its full file system has no page for."""
    code = f"""
import mmap
with open({folder + "/map"!r}, "wb+") as f:
    f.truncate(20 << 20)
    m = mmap.mmap(f.fileno(), 0)
    for at in range(0, 20 << 20, 4096):
        m[at] = 1
"""
    end = subprocess.run([sys.executable, "-c", code], check=False).returncode
    failed["signal", signal.Signals(-end).name] += 1


def outside(folder):
    """A process ends by a signal from outside of the job, by who reads its PID."""
    child = subprocess.Popen(["sleep", "1000"])
    with open(f"{folder}/pid.new", "w", encoding="ascii") as f:
        f.write(str(child.pid))
    os.rename(f"{folder}/pid.new", f"{folder}/pid")
    failed["signal", signal.Signals(-child.wait()).name] += 1


def helper(folder):
    """A program says that it could not do its work; the shell around it passes that on."""
    for _ in range(2):
        failed["status", str(subprocess.run(["sh", "-c", f"{sys.executable} -c 'exit(3)'"], check=False).returncode)] += 1


# --- jobs in which nothing fails ---------------------------------------------------------------------------------------


def terminated(folder):
    """Workers are ended as loaders are: by terminate(), by kill(), and at the end."""
    workers = [multiprocessing.Process(target=work, args=("",), daemon=i == 0) for i in range(4)]
    for worker in workers:
        worker.start()
    time.sleep(0.2)
    for worker in workers[1:3]:
        worker.terminate()
    workers[3].kill()
    for worker in workers[1:]:
        worker.join()


def handled(folder):
    """A helper that is asked to end does so with a status of its own, as ssh-agent does."""
    code = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(2)); print(flush=True); time.sleep(100)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        child.terminate()


def searches(folder):
    """3 000 probes along a path, tries that are taken back, and a file that is there already."""
    for i in range(3000):
        try:
            os.open(f"{folder}/lib{i % 30}/module{i}.py", os.O_RDONLY)
        except FileNotFoundError:
            pass
    ends = os.pipe()
    os.set_blocking(ends[0], False)
    for _ in range(100):
        try:
            os.read(ends[0], 1)
        except BlockingIOError:
            pass
    for _ in range(2):
        try:
            os.open(f"{folder}/lock", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:
            pass


def head(folder):
    """A reader has enough; a search finds nothing; a test says no."""
    subprocess.run("yes | head -1 >/dev/null; grep -q x /dev/null; test -e /none; readlink /none", shell=True, check=False)


def connected(folder):
    """A connect that does not wait, to a server that is there, and a try that has nothing to read yet."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname(), 1.0) as end:
        end.setblocking(False)
        try:
            end.recv(1)
        except BlockingIOError:
            pass


def answered(folder):
    """A slow server that answers at last; a question that is too long to be sent; figures that nobody answers."""
    with datagrams() as server, datagrams() as client, datagrams() as figures:
        server.bind(("127.0.0.1", 0))
        client.settimeout(20)

        def answer():
            for _ in range(4):
                sender = server.recvfrom(100)[1]
                time.sleep(0.3)
                server.sendto(b"!", sender)
        thread = threading.Thread(target=answer)
        thread.start()
        for _ in range(2):
            client.sendto(b"?", server.getsockname())
            client.recv(100)
        client.sendto(b"?", server.getsockname())
        while not select.select([client], [], [], 20)[0]:
            pass
        client.recv(100)
        with selectors.EpollSelector() as selector:
            selector.register(client, selectors.EVENT_READ)
            client.sendto(b"?", server.getsockname())
            selector.select(20)
            client.recv(100)
            selector.select(0.05)  # after the answer
        thread.join()
        with datagrams() as unsent:
            try:
                unsent.sendto(bytes(70000), server.getsockname())
            except OSError:
                pass  # EMSGSIZE: nothing was sent, so nobody is to answer
            waits = select.poll()
            waits.register(unsent, select.POLLIN)
            waits.poll(50)
        ends = os.pipe()
        sleep = select.poll()
        sleep.register(ends[0], select.POLLIN)
        for _ in range(3):
            figures.sendto(b"steps:1|c", server.getsockname())
            sleep.poll(50)
            select.select([ends[0]], [figures], [], 0)
            select.select([ends[0]], [], [], 0.05)
            with selectors.EpollSelector() as selector:
                selector.register(ends[0], selectors.EVENT_READ)
                selector.register(figures, selectors.EVENT_WRITE)
                selector.select(0.05)
                selector.unregister(figures)
                selector.select(0.05)


def figures(folder):
    """A loop that has its socket for figures in its set for good, as asyncio has, and sleeps on purpose."""
    import asyncio  # here alone: it takes longer than the other jobs

    async def send():
        with datagrams() as sink:
            sink.bind(("127.0.0.1", 0))
            transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
                asyncio.DatagramProtocol, remote_addr=sink.getsockname())
            for _ in range(12):
                transport.sendto(b"steps:1|c")
                await asyncio.sleep(0.1)
            transport.close()
    asyncio.run(send())


def late(folder):
    """A server that answers at last, while its client looks at the clock; it then waits for more in the same way."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            with server.accept()[0] as end:
                end.settimeout(0.2)
                end.recv(100)
                time.sleep(0.9)
                end.sendall(b"!")
                for _ in range(3):
                    try:
                        end.recv(100)
                    except TimeoutError:
                        pass
        thread = threading.Thread(target=serve)
        thread.start()
        with socket.create_connection(server.getsockname(), 0.2) as client:
            client.sendall(b"?")
            while True:
                try:
                    client.recv(100)
                    break
                except TimeoutError:
                    pass
            thread.join()


def limits(folder):
    """A process near its limits, which it never reaches."""
    child_of("print(end='')", "-t 5; ulimit -l 64; ulimit -f 100000")


def interrupted(folder):
    """A process is asked to end, by its parent, as by ^C."""
    child = subprocess.Popen(["sleep", "1000"])
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    child.wait()


def namespace(folder):
    """The first process of a PID namespace ends, and with it the others: the kernel kills them for it."""
    subprocess.run("unshare --pid --fork sh -c 'sleep 1000 & sleep 0.2' || :", shell=True, check=False)


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
    for (kind, code), n in sorted(failed.items()):
        print(kind, code, n)
