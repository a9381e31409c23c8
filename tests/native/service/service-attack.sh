#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Whatever a member of the group sends to the service is refused with a reason, or harms only the sender. Others are
# served meanwhile.
. "${0%/*}/../service.inc"
install -d -o nobody -m 700 home
t=$TMPDIR/home/t
install -m 4755 "$(readlink -f "$(command -v sleep)")" roots_sleep
sleep 1000 &
roots=$!
daemon "max-traces-per-user = 3"

cat >attack <<'END'
import array, os, select, socket, struct, subprocess, sys, time

roots = int(sys.argv[1])
good = b"dltraced 1\0opt=collectors=none\0opt=probes=open\0opt=min-free=0\0cwd=/\0"

def ask(packet, fds=()):
    """What it says to PACKET with FDS; the connection."""
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(60)
    s.connect(os.environ["DLTRACED_SOCKET"])
    try:
        s.sendmsg([packet], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [])
    except BrokenPipeError:  # refused before it asked
        pass
    said = ""
    while True:
        word = s.recv(4096).decode()
        if word in ("", "go", "end"):
            return said + "|" + word, s
        said += word

def refused(what, why, packet, fds=()):
    """The process of a request that was refused counts until it has ended: then again."""
    until = time.monotonic() + 60
    while True:
        said, s = ask(packet, fds)
        s.close()
        if "the limit of traces" not in said or time.monotonic() > until:
            break
        time.sleep(0.05)
    if why not in said or not said.endswith("|end"):
        sys.exit(f"{what}: {said}, not {why}")

def folder(name, mode=0o700):
    os.makedirs(name, exist_ok=True)
    os.chmod(name, mode)
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY)

own = subprocess.Popen(["sleep", "100"])
me, root = os.pidfd_open(own.pid), os.pidfd_open(roots)
mine = folder("mine")
null = os.open("/dev/null", os.O_RDONLY)

refused("junk", "the request: Protocol error", os.urandom(1000))
refused("another version", "runs another version", b"dltraced 99\0", [mine, me])
refused("no end", "Protocol error", good + b"cwd=/x", [mine, me])
refused("an unknown key", "Protocol error", good + b"fd=3\0", [mine, me])
refused("too large", "Message too long", good + b"arg=" + b"x" * 100000 + b"\0", [mine, me])
refused("no descriptors", "Protocol error", good)
refused("a folder alone", "Protocol error", good, [mine])
refused("too many", "Argument list too long", good, [mine] + [me] * 200)
for option in ("all", "cgroup=/", "container=new", "user=root", "output=/root/t", "archive", "collect=/etc/shadow",
               "drop-caches", "metrics-file=/root/m", "verbose", "pid=%d" % roots, "nonsense"):
    refused(option, "not available through the service", good + b"opt=" + option.encode() + b"\0", [mine, me])
refused("a watch", "slow other users", good + b"opt=probes=+access\0opt=access=watch=0x400000\0", [mine, me])
refused("samples", "slow other users", good + b"opt=probes=+access\0opt=access=pmu\0", [mine, me])
refused("a bad value", "no such probe", good + b"opt=probes=no\0", [mine, me])
refused("a path for a disk", "no such disk", good + b"opt=disk=../../../root\0", [mine, me])
refused("root's process", "it runs as user 0", good, [mine, root])
refused("root's as workload", "it runs as user 0", good + b"arg=x\0", [mine, root])
refused("one own and root's", "it runs as user 0", good, [mine, me, root])
suid = subprocess.Popen([os.path.join(os.path.dirname(sys.argv[0]) or ".", "roots_sleep"), "100"])
refused("own, but set-user-ID", "cannot be traced", good, [mine, os.pidfd_open(suid.pid)])
refused("no pidfd", "ended", good, [mine, null])
gone = subprocess.Popen(["true"])
fd = os.pidfd_open(gone.pid)
gone.wait()
refused("one that has ended", "ended", good, [mine, fd])
refused("no folder", "is not a folder", good, [null, me])
refused("a path, not open", "is not a folder", good, [os.open("mine", os.O_PATH), me])
refused("somebody else's folder", "cannot become the user's own", good, [os.open("/etc", os.O_RDONLY), me])
refused("a shared folder", "cannot become the user's own", good, [folder("shared", 0o755), me])
# Files in memory would count as the service's and stay: on a tmpfs of the user's own, or on an overlay on top of one.
mount = """mount -t tmpfs none mem && cd mem && mkdir -m 700 l u w m t && echo tmpfs && mount -t overlay -o lowerdir=l,upperdir=u,workdir=w none m &&
mkdir -m 700 m/t && echo overlay && exec sleep 100; echo none; exec sleep 100"""
os.mkdir("mem")
mounted = subprocess.Popen(["unshare", "-Urm", "sh", "-c", mount], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
for kind, below in (("tmpfs", "mem/t"), ("overlay", "mem/m/t")):
    if mounted.stdout.readline().strip() == kind:
        where = f"/proc/{mounted.pid}/root{os.getcwd()}/{below}"
        refused(f"a folder on {kind}", "is in memory (tmpfs)", good, [os.open(where, os.O_RDONLY | os.O_DIRECTORY), me])
mounted.kill()
if os.listdir("mine") and set(os.listdir("mine")) - {"manifest.json"}:
    print("left behind in the refused folder:", os.listdir("mine"))

# Where a file is to be, there is a link to what is not the user's.
trap = folder("trap")
os.symlink(sys.argv[2], "trap/open.out")
said, s = ask(good, [trap, me])
s.close()
if "|end" not in said:
    sys.exit(f"a link in the folder: {said}")

# As many connections as there may be, which say nothing: others of the same user are refused at once. So may one
# of these be while what was asked before comes to its end, and all are when they say nothing for long.
def silent():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(os.environ["DLTRACED_SOCKET"])
    return s

held, tries = [], 0
while True:
    tries += 1
    held = [s for s in held if not select.select([s], [], [], 0)[0]]
    held += [silent() for _ in range(3 - len(held))]
    said, s = ask(good, [folder(f"more{tries}"), me])
    s.close()
    if "the limit of traces per user" in said and said.endswith("|end"):
        break
    if not select.select(held, [], [], 0)[0]:
        sys.exit(f"one more: {said}")
print("held", flush=True)
sys.stdin.readline()

# Sockets that take 1000 s to close, for whoever closes them last: not for the service, which is held meanwhile, and
# refuses these connections when they, too, are gone.
kept = []
for _ in range(3):
    listener, sender = socket.socket(), socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    sender.connect(listener.getsockname())
    kept.append((listener, listener.accept()))
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 1000))
    sender.setblocking(False)
    try:
        while True:
            sender.send(bytes(65536))
    except BlockingIOError:
        pass
    s = silent()
    s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [sender.fileno()]))])
    sender.close()
    s.close()
print("lingering", flush=True)
sys.stdin.readline()
own.kill()
END
chmod 755 attack
: >victim
mkfifo gate && exec 9<>gate
(cd home && setpriv --reuid nobody --regid "$gid" --groups 1 env PYTHONDONTWRITEBYTECODE=1 python3 ../attack $roots \
	"$TMPDIR/victim" <../gate >../said 2>&1) &
attack=$!
await test -s said
kill "$roots"
grep -q '^held' said || fail "$(cat said)"
[ ! -s victim ] || fail "a file of root's was written"
kill -STOP "$daemon"
echo go >&9
await grep -q '^lingering' said
kill -CONT "$daemon"
# another user is served
install -d -o daemon -m 700 other
setpriv --reuid daemon --regid "$gid" --groups 1 "$DLT" start -q --collectors none --probes open --min-free 0 -o other/t -- true ||
	fail "another user is not served"
DLTRACED_SOCKET=$DLTRACED_SOCKET python3 -c '
import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(os.environ["DLTRACED_SOCKET"])
assert b"root needs no service" in s.recv(4096)' || fail "root is served"
echo go >&9
wait $attack
equal "status of the attacks" $? 0
gone "$daemon" && fail "the service has gone: $(cat daemon.err)"
# a connection that sent nothing has ended with its client
await as_start -- true
check whole
