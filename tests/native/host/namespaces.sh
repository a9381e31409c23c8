#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A container as runtimes make them: with its own pid and mount namespaces, and another root by pivot_root, the old one
# gone. PID and TID are the numbers outside, NSPID is the one inside. REALPATH is the path below the process's root,
# also in a chroot. A file that no path below that root leads to is marked so.
. "${0%/*}/../lib.sh"
need python3 unshare pivot_root chroot
unshare --pid --mount --fork true 2>/dev/null || skip "namespaces"

mkdir -p root/usr root/proc root/data root/old data
mkfifo data/gate
exec 9<>data/gate
echo text >outside
for link in bin sbin lib lib64; do
	if [ -L "/$link" ]; then cp -P "/$link" root/; else mkdir "root/$link"; fi
done

# Runs in the namespaces, before the root is changed and after it.
cat >enter <<'END'
mount --bind root root
for dir in usr bin sbin lib lib64; do
	[ -L root/$dir ] || [ ! -e /$dir ] || mount --rbind /$dir root/$dir
done
mount -t proc proc root/proc
mount --bind data root/data
chroot root /bin/sh -c ': >/data/in-chroot'
exec 8<outside
cd root
pivot_root . old
cd /
umount -l /old
exec /bin/sh -e /data/job
END
cat >data/job <<'END'
: >/data/inner
cat /proc/self/fd/8
cd /data
mkdir sub
: >sub/../relative
ln -s relative link
cat link
exec python3 -c '
import threading

def wait():
    open("in-thread", "w").close()
    open("gate").readline()

threading.Thread(target=wait).start()
'
END

spawn --wait-all -- unshare --pid --mount --fork sh -e enter
await [ -e data/in-thread ]
# Process 1 of that namespace, as /proc here shows it, and its thread
of=$(grep -ls '^NSpid:.*	1$' /proc/[0-9]*/status | while read -r status; do
	! tr '\0' ' ' <"${status%status}cmdline" | grep -q in-thread || echo "$status"
done)
pid=$(echo "$of" | tr -dc 0-9)
for tid in "/proc/$pid/task"/*; do
	tid=${tid##*/}
	[ "$tid" = "$pid" ] || break
done
echo >&9
join
equal "status" $rc 0

equal "the shell's open" "$(col open 'PID, TID, REALPATH' 'PATH == "/data/inner"')" "$pid $pid /data/inner"
equal "the thread's open" "$(col open 'PID, TID, PATH, REALPATH' 'FILE == "in-thread"')" \
	"$pid $tid in-thread /data/in-thread"
equal "relative" "$(col open 'PID, REALPATH' 'PATH == "sub/../relative"')" "$pid /data/relative"
equal "through a link" "$(col open REALPATH 'PATH == "link"')" /data/relative
equal "in a chroot" "$(col open REALPATH 'PATH == "/data/in-chroot"')" /data/in-chroot
equal "made" "$(col create_del FUNC 'PID == '"$pid"' && PATH == "/data/inner"')" create
equal "a folder" "$(rows create_del 'FUNC ~ /^mkdir/ && PATH == "/data/sub" && RET == 0' | wc -l)" 1
outside=$(col open REALPATH 'PATH == "/proc/self/fd/8"')
case $outside in
"(unreachable)"*/outside) ;;
*) fail "what is outside of the root: $outside" ;;
esac
equal "number inside" "$(col pids NSPID 'EVENT == "fork" && PID == '"$pid")" 1
equal "of its thread" "$(col pids NSPID 'EVENT == "thread" && TID == '"$tid")" 1
equal "its end" "$(col pids 'NSPID, STATUS' 'EVENT == "exit" && STATUS != "-" && PID == '"$pid")" "1 0"
check whole
