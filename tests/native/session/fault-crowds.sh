#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Very many of everything: 5000 children, 64 at a time; 4096 threads at once; 100 000 distinct files (LONG=1: 20 000
# children and a million files). Each has all its rows, under its own number, or they are counted as lost; each file has
# its own FID; dltraced's memory grows by at most 512 bytes for each.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"
need python3

# lost PROBE: the manifest's number.
lost() { manifest "next(p for p in m['probes'] if p['name'] == '$1')['lost']"; }

# leaves WANTED WHAT: rows of leaves made, and lost ones, are WANTED; each name contains its maker's number.
leaves() {
	made=$(each create_del 'if (FUNC == "create" && PATH ~ /\/leaf/) print PID, TID, PATH' |
		awk '{ n = split($3, part, "."); if (part[n - 1] == $1 && part[n] == $2) made++; else print "not its own: " $0 }
			END { print made + 0 }')
	lost=$(lost create_del)
	case $made in *own*) fail "$2: $made" ;; esac
	[ "$made" -le "$1" ] && [ $((made + lost)) -ge "$1" ] || fail "$2: $made made and $lost lost of $1"
	[ "$lost" != 0 ] || equal "$2: leaves" "$made" "$1"
	echo "$1 $2: $made of their files in rows, $lost lost; $(manifest 'sum(p["rows"] for p in m["probes"])') rows"
	check fids
}

# --- children -------------------------------------------------------------------------------------

children=5000
[ -z "${LONG-}" ] || children=20000
mkdir dir
trace --wait-all -- "$W/forks" -s many -n $children dir >out || fail "children: status $?"
leaves $children "children"
forks=$(rows pids 'EVENT == "fork"' | wc -l)
[ $((forks + $(lost pids))) -ge $children ] || fail "children: $forks forks, $(lost pids) lost"

# --- threads --------------------------------------------------------------------------------------

# Each of them is a system thread: as many as the limits allow.
threads=4096
for limit in /proc/sys/kernel/threads-max /proc/sys/kernel/pid_max; do
	[ "$(cat $limit)" -ge $((2 * threads)) ] || threads=$(($(cat $limit) / 4))
done
trace -- "$W/forks" -s crowd -n $threads dir >out || fail "threads: status $?"
leaves $threads "threads"
equal "threads: each has its own" "$(col create_del TID 'FUNC == "create" && PATH ~ /\/leaf/' | sort -u | wc -l)" \
	"$(rows create_del 'FUNC == "create" && PATH ~ /\/leaf/' | wc -l)"

# --- files ----------------------------------------------------------------------------------------

files=100000
[ -z "${LONG-}" ] || files=1000000
# A thousand at a time, so that they need little space; the program counts them.
cat >files.py <<'END'
import os, sys
n = int(sys.argv[1])
for at in range(0, n, 1000):
    os.mkdir("files")
    for i in range(at, at + 1000):
        fd = os.open(f"files/f{i}", os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(fd, b"x")
        os.close(fd)
    for i in range(at, at + 1000):
        os.unlink(f"files/f{i}")
    os.rmdir("files")
END
mkdir small
mount -t tmpfs -o size=16m none small || skip "to mount tmpfs"
mnt=$TMPDIR/small
resident() { manifest 'm["self"]["max_rss_bytes"]'; }
# Small rings, all of whose memory is used by few files, too.
few=20000
(cd small && trace --buffer 16M -- python3 ../files.py $few) || fail "files: status $?"
before=$(resident)
(cd small && trace --buffer 16M -- python3 ../files.py $files) || fail "files: status $?"
bytes=$((($(resident) - before) / (files - few)))
echo "$files files: $bytes bytes each, from $before bytes on; $(manifest 'sum(p["rows"] for p in m["probes"])') rows," \
	"$(manifest 'sum(p["lost"] for p in m["probes"])') lost"
# a sanitizer has memory of its own for each byte
grep -qa -e __asan_init -e __tsan_init "$DLT" || [ $bytes -le 512 ] || fail "$bytes bytes of memory for each file"
# Calls that a busy machine loses are counted.
lost=$(lost vfs_rw)
col vfs_rw FID 'FILE ~ /^f[0-9]+$/ && RW == "W"' >fids
seen=$(wc -l <fids)
[ "$seen" -le $files ] && [ $((seen + lost)) -ge $files ] || fail "files: $seen writes and $lost lost of $files"
equal "files: FIDs that differ" "$(sort -u fids | wc -l)" "$seen"
equal "files: FIDs" "$(awk -F'\t' -v files="$t/files.out" '
	BEGIN { while ((getline line <files) > 0) { n = split(line, f, "\t"); if (n >= 10) path[f[3]] = f[10] } }
	$16 ~ /^f[0-9]+$/ && substr(path[$15], length(path[$15]) - length($16)) != "/" $16 { wrong++ }
	END { print wrong + 0 }' "$t/vfs_rw.out")" 0
