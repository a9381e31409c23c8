#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --pid: a process and its descendants, present and future. What they have at that moment is there as snapshot rows,
# exactly as in /proc; then every call. Of other processes there is nothing. The trace ends with the last of them, which
# need not be the named one.
. "${0%/*}/../lib.sh"
need python3
gate

# attached PID: its snapshot row is in the file, so the search has ended.
attached() { grep -qs "	snapshot	.*	$1	" "$t/pids.out"; }

# --- what a process has open ----------------------------------------------------------------------

cat >job.py <<'END'
import ctypes, mmap, os, resource, socket, sys, threading
data = open("a file", "w+b")
data.write(bytes(65536))
data.flush()
keep = [mmap.mmap(data.fileno(), 8192, offset=4096), mmap.mmap(-1, 8192),
        mmap.mmap(data.fileno(), 4096, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE),
        socket.socketpair(), os.pipe(), os.memfd_create("a memfd"), open("gone", "w"),
        os.open(".", os.O_RDONLY), os.open(".", os.O_PATH), os.open("/dev/null", os.O_RDWR)]
os.unlink("gone")
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
os.dup2(data.fileno(), 1000)
stand = threading.Event()
threads = [threading.Thread(target=stand.wait) for _ in range(3)]
for thread in threads:
    thread.start()
if len(sys.argv) > 1:  # without a first thread
    def rest():
        open("ready", "w").close()
        sys.stdin.readline()
        open("after", "w").close()
        os._exit(0)
    threading.Thread(target=rest).start()
    ctypes.CDLL(None).pthread_exit(None)
open("ready", "w").close()
sys.stdin.readline()
open("after", "w").close()
os._exit(0)
END
python3 job.py <gate &
job=$!
await [ -e ready ] && await at_gate $job
spawn --pid $job
await attached $job
python3 -B "$here/checks/snapshot.py" save $job proc || fail "/proc/$job"
echo >&9
wait $job
join
equal "status" $rc 0
check snapshot $job proc
equal "what it did next" "$(rows create_del 'FUNC == "create" && PATH ~ /\/after$/' | wc -l)" 1

# Files and mappings have one row, though all threads have them, and though the first thread has ended.
rm ready after
python3 job.py without <gate &
job=$!
await [ -e ready ] && await gone $job # its first thread has ended
spawn --pid $job
await grep -qs snapshot "$t/pids.out"
echo >&9
wait $job
join
equal "status without a first thread" $rc 0
equal "threads" "$(rows pids 'EVENT == "snapshot"' | wc -l)" 4
equal "descriptor 1000" "$(rows open "FUNC == \"snapshot\" && PID == $job && RET == 1000" | wc -l)" 1
equal "mappings told twice" "$(col mmap ADDR 'FUNC == "snapshot"' | sort | uniq -d)" ''
equal "what it did next" "$(rows create_del 'FUNC == "create" && PATH ~ /\/after$/' | wc -l)" 1
check whole

# --- descendants ----------------------------------------------------------------------------------

# A child, its child in a new session, and one that outlives the named process.
cat >job <<'END'
(setsid sh -c 'echo $$ >grandchild; read _ && : >made.grandchild') <gate &
: >made.early
echo $! >child
read _ && : >made.root
END
sh job <gate &
job=$!
sh -c 'while [ ! -e over ]; do : >made.other; done' &
other=$!
await [ -s grandchild ] && await [ -s child ]
spawn --pid $job
await attached $job
await attached "$(cat grandchild)"
# a line for each process: the one that reads it makes the row
echo >&9
echo >&9
join
equal "status with descendants" $rc 0
equal "made" "$(col create_del PATH 'FUNC == "create"' | sed 's,.*/made\.,,' | sort | tr '\n' ' ')" \
	"grandchild root "
equal "others" "$(rows pids "PID == $other" | wc -l)" 0
: >over
wait $other $job
check whole
