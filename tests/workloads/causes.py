#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""causes.py JOB [FOLDER] --account FILE [--done]: a small job of 2 to 3 s that one cause makes slow.

FOLDER has the files that the job reads, or takes those that it writes. FILE gets JSON, by the job's own clock: `code` of
the cause, `cause_ns` that it took, `cause_cpu_ns` of it on a CPU, and `life_ns` of the process since its first line. With
--done, jobs marked with * do what the report advises. JOB is one of:

    asyncio       an event loop awaits a thread that computes
    checkpoint    a few large files are written, each with one sync at its end
    child         a short program for each sample
    first-epoch   four epochs over the same files, only the first of which reads them from the disk
    halves        files are read, and computing takes as long: either is a cause
    hashing       the main thread waits for two threads that compute hashes, without Python's lock
    http          samples come from a server: FOLDER is the file in which `causes.py server FILE` leaves its port;
                  with --done the server is in the same building
  * lock          another process holds the lock of a file
    log-sync      a line of a log is synced in each step
    mapped-write  a file is written from a mapping of another one that is not in the page cache
    names         all files of a folder are listed and stat(2) called on them
  * own-writes    a thread saves files to the disk that a loader reads
    polling       the trainer looks every 2 ms whether its loader has a sample; the loader reads files
    reads         files are read
    spinning      like polling, without a pause
  * stopped       SIGSTOP, and SIGCONT after 1.5 s
  * trylock       like lock, tried again and again with pauses of 50 ms, as SQLite and filelock do
    upload        what was computed is sent to such a server, which takes it slowly
"""
import time

BEGAN_NS = time.monotonic_ns()  # imports are a part of the life
import argparse
import asyncio
import concurrent.futures
import contextlib
import fcntl
import hashlib
import http.client
import http.server
import json
import mmap
import multiprocessing
import os
import queue
import signal
import subprocess
import threading

BLOCK = bytes(4096)
DONE = False  # --done
now = time.monotonic_ns


class Account:
    """What the cause has taken so far, and how much of it this thread was on a CPU."""

    def __init__(self):
        self.ns = self.cpu_ns = 0

    @contextlib.contextmanager
    def cause(self):
        begin, begin_cpu = now(), time.thread_time_ns()
        yield
        self.cpu_ns += time.thread_time_ns() - begin_cpu
        self.ns += now() - begin


def compute(ms, data=BLOCK):
    """Takes MS of this thread's CPU time."""
    end = time.thread_time_ns() + ms * 10**6
    while time.thread_time_ns() < end:
        hashlib.sha256(data).digest()


def paths(folder):
    return sorted(entry.path for entry in os.scandir(folder) if entry.name.startswith("sample-"))


def read(path):
    with open(path, "rb", buffering=0) as f:
        return f.read()


def save(path, pieces):
    """Writes a file of so many MiB/4, and syncs it."""
    with open(path, "wb", buffering=0) as f:
        for _ in range(pieces):
            f.write(os.urandom(1 << 18))
        os.fsync(f.fileno())


# --- jobs: each returns the code of its cause --------------------------------------------------------------------


def run_asyncio(_, account):
    async def steps():
        for _ in range(80):
            await asyncio.to_thread(compute, 25)

    before = time.process_time_ns()
    asyncio.run(steps())
    account.ns = time.process_time_ns() - before
    return "cpu-bound"


def run_checkpoint(folder, account):
    for epoch in range(3):
        compute(150)
        with account.cause():
            save(f"{folder}/checkpoint-{epoch}", 14)
    return "checkpoint-write"


def run_child(_, account):
    for _ in range(40):
        with account.cause():
            subprocess.run(["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done"], check=True)
        compute(5)
    return "child-process"


def run_first_epoch(folder, account):
    for epoch in range(4):
        for path in paths(folder):
            with account.cause():
                sample = read(path)
            compute(2, sample)
        print(f"epoch {epoch}: loss {1 / (1 + epoch):.3f}", flush=True)
    return "storage-read"


def run_halves(folder, account):
    for path in paths(folder):
        begin = now()
        with account.cause():
            sample = read(path)
        end = 2 * now() - begin
        while now() < end:
            compute(1, sample)
    return "storage-read"


def run_hashing(_, account):
    data = bytes(1 << 24)
    with concurrent.futures.ThreadPoolExecutor(2) as pool, account.cause():
        list(pool.map(lambda _: compute(250, data), range(16)))
    return "cpu-bound"


def run_http(port_file, account):
    with open(port_file, encoding="ascii") as f:
        server = http.client.HTTPConnection("127.0.0.1", int(f.read()))
    for number in range(45):
        with account.cause():
            server.request("GET", f"/sample-{number}")
            sample = server.getresponse().read()
        compute(8, sample)
    return "network-read"


def lock_by_trying(f):
    while True:
        try:
            return fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.05)


def wait_for_lock(folder, account, lock):
    path, (ready, hold) = f"{folder}/lock", os.pipe()
    child = os.fork()
    with open(path, "w", encoding="ascii") as f:
        if not child:
            f = open(path, "w", encoding="ascii")  # flock(2): a lock of its own
            lock(f)
            os.write(hold, b"x")
            time.sleep(1.5)
            os._exit(0)
        os.read(ready, 1)
        if DONE:
            f = open(f"{folder}/lock-of-its-own", "w", encoding="ascii")
        with account.cause():
            lock(f)
        compute(600)
    if not DONE:  # it has nothing that the job needs
        os.waitpid(child, 0)
    return "lock-wait"


def run_lock(folder, account):
    return wait_for_lock(folder, account, lambda f: fcntl.lockf(f, fcntl.LOCK_EX))


def run_trylock(folder, account):
    return wait_for_lock(folder, account, lock_by_trying)


def run_log_sync(folder, account):
    with open(f"{folder}/metrics.jsonl", "w", encoding="ascii") as log:
        begin, step = now(), 0
        while now() - begin < 2 * 10**9:
            compute(1)
            with account.cause():
                log.write(json.dumps({"step": step, "loss": 1 / (1 + step)}) + "\n")
                log.flush()
                os.fsync(log.fileno())
            step += 1
    return "log-sync"


def run_mapped_write(folder, account):
    with open(f"{folder}/model", "rb") as f, open("copy", "wb", buffering=0) as copy:
        with mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as model, memoryview(model) as view, account.cause():
            at = 0
            while at < len(view):
                at += copy.write(view[at:at + (1 << 18)])
    return "storage-read"


def run_names(folder, account):
    with account.cause():
        sizes = [os.stat(f"{where}/{name}").st_size for where, _, names in os.walk(folder) for name in names]
    for _ in range(2):
        compute(200)
    print(f"{len(sizes)} files of {sum(sizes)} bytes")
    return "open-metadata"


def load(samples, files, read_ns):
    """Puts all files; READ_NS gets the time that reading took."""
    for path in files:
        begin = now()
        sample = read(path)
        read_ns.value += now() - begin
        samples.put(sample)
    samples.put(None)


def run_own_writes(folder, account):
    samples, stop, read_ns = multiprocessing.Queue(4), threading.Event(), multiprocessing.Value("q")

    def keep_saving():
        number = 0
        while not stop.is_set():
            save(f"{'.' if DONE else folder}/checkpoint-{number % 2}", 8)
            number += 1

    loader = multiprocessing.Process(target=load, args=(samples, paths(folder), read_ns))
    loader.start()
    saver = threading.Thread(target=keep_saving)
    saver.start()
    while True:
        with account.cause():
            sample = samples.get()
        if sample is None:
            break
        compute(1, sample)
    stop.set()
    saver.join()
    loader.join()
    return "own-writes"


def train_by_polling(folder, account, pause):
    """Returns the times of the loader's reads and of the trainer's computing."""
    samples, read_ns = multiprocessing.Queue(8), multiprocessing.Value("q")
    loader = multiprocessing.Process(target=load, args=(samples, paths(folder), read_ns))
    loader.start()

    def next_sample():
        while True:
            try:
                return samples.get_nowait()
            except queue.Empty:
                pause()

    computed = 0
    while True:
        with account.cause():
            sample = next_sample()
        if sample is None:
            break
        begin = now()
        compute(2, sample)
        computed += now() - begin
    loader.join()
    return read_ns.value, computed


def run_polling(folder, account):
    read_ns, computed = train_by_polling(folder, account, lambda: time.sleep(0.002))
    account.ns = read_ns - computed  # the rest of its waits is pauses after the end of a read
    return "storage-read"


def run_spinning(folder, account):
    train_by_polling(folder, account, lambda: None)
    return "storage-read"


def run_reads(folder, account):
    for path in paths(folder):
        with account.cause():
            sample = read(path)
        compute(3, sample)
    return "storage-read"


def run_stopped(_, account):
    with subprocess.Popen(["sh", "-c", "" if DONE else "sleep 0.3; kill -s STOP $PPID; sleep 1.5; kill -s CONT $PPID"]):
        last, end = now(), time.thread_time_ns() + 8 * 10**8
        while time.thread_time_ns() < end:
            hashlib.sha256(BLOCK).digest()
            before, last = last, now()
            if last - before > 10**9:
                account.ns += last - before
    return "stopped"


def run_upload(port_file, account):
    with open(port_file, encoding="ascii") as f:
        server = http.client.HTTPConnection("127.0.0.1", int(f.read()))
    body = bytes(1 << 20)
    for number in range(16):
        compute(20)
        with account.cause():
            server.request("PUT", f"/part-{number}", body=body)
            server.getresponse().read()
    return "network-write"


# --- the server ---------------------------------------------------------------------------------------------------


class Far(http.server.BaseHTTPRequestHandler):
    """Answers each request after 40 ms, as one in another building, or after 2 ms, and takes 10 MiB a second."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def do_GET(self):
        time.sleep(0.002 if DONE else 0.04)
        body = bytes(20000)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self):
        left = int(self.headers["Content-Length"])
        while left > 0:
            left -= len(self.rfile.read(min(left, 1 << 16)))
            time.sleep(0.00625)
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def serve(port_file):
    with http.server.HTTPServer(("127.0.0.1", 0), Far) as server:
        with open(f"{port_file}.new", "w", encoding="ascii") as f:
            f.write(f"{server.server_port}\n")
        os.rename(f"{port_file}.new", port_file)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        server.serve_forever()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job")
    parser.add_argument("folder", nargs="?", default=".")
    parser.add_argument("--account")
    parser.add_argument("--done", action="store_true")
    arguments = parser.parse_args()
    global DONE
    DONE = arguments.done
    if arguments.job == "server":
        return serve(arguments.folder)
    account = Account()
    code = globals()[f"run_{arguments.job.replace('-', '_')}"](arguments.folder, account)
    with open(arguments.account, "w", encoding="ascii") as f:
        json.dump({"code": code, "cause_ns": account.ns, "cause_cpu_ns": account.cpu_ns,
                   "life_ns": now() - BEGAN_NS}, f)


if __name__ == "__main__":
    main()
