#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `dltraced sample', which a trace runs where sysstat is not installed, prints what mpstat and iostat print of the same
# /proc/stat and /proc/diskstats: columns, rows, numbers. In place of the kernel's files are ones of ours (iostat reads a disk's in /sys), in a namespace of
# their own, and at a moment their numbers change, within one interval of each. A trace without sysstat has cpu.out and
# disk.out with the tools' columns, which report and validate read.
. "${0%/*}/../lib.sh"
need python3 mpstat iostat unshare

# --- beside the tools -----------------------------------------------------------------------------

cat >texts.py <<'END'
import glob, os, random, sys
random.seed(4711)
wide = lambda n: f"{n:>14}"  # a text of the same length takes its place at once
cpus, disks = os.sysconf("SC_NPROCESSORS_ONLN"), sorted(os.path.basename(p) for p in glob.glob("/sys/block/*"))
one = [[random.randrange(10**6) for _ in range(10)] for _ in range(cpus)]
grown = [[random.randrange(50) for _ in range(10)] for _ in range(cpus)]
for g in grown:  # a guest's time is in user's and nice's, too
    g[8], g[9] = g[0] // 2, g[1] // 3
def stat(rows):
    rows = [[sum(c) for c in zip(*rows)], *rows]
    return "".join(f"cpu{'' if i == 0 else i - 1}" + "".join(map(wide, r)) + "\n" for i, r in enumerate(rows)) + "ctxt 1\nbtime 1\n"
had = [[random.randrange(10**6) for _ in range(17)] for _ in disks]
more = [[random.randrange(9000, 90000) for _ in range(17)] for _ in disks]
def diskstats(rows):
    return "".join(f"   7 {i} {name}" + "".join(map(wide, r)) + "\n" for i, (name, r) in enumerate(zip(disks, rows)))
add = lambda a, b: [[x + y for x, y in zip(*p)] for p in zip(a, b)]
for name, text in (("stat", stat(one)), ("stat.new", stat(add(one, grown))), ("diskstats", diskstats(had)), ("diskstats.new", diskstats(add(had, more)))):
    open(name, "w").write(text)
for end, rows in ("", had), (".new", add(had, more)):  # iostat reads those of /sys
    for name, row in zip(disks, rows):
        os.makedirs("disks", exist_ok=True)
        open(f"disks/{name}{end}", "w").write("".join(map(wide, row)) + "\n")
END
python3 texts.py || fail "no texts"
cat >run <<'END'
mount --bind stat /proc/stat && mount --bind diskstats /proc/diskstats || exit
for disk in disks/*; do
	case $disk in *.new) continue ;; esac
	mount --bind $disk /sys/block/${disk#*/}/stat || exit
done
export LC_ALL=C TZ=UTC S_TIME_FORMAT=ISO S_COLORS=never
pids=
mpstat -P ALL 1 >mpstat.txt &
pids="$pids $!"
iostat -dxmy 1 >iostat.txt &
pids="$pids $!"
"$DLT" sample cpu 1 >cpu.txt &
pids="$pids $!"
"$DLT" sample disk 1 >disk.txt &
pids="$pids $!"
read _ <end
kill $pids
wait
END
mkfifo end
unshare --mount --propagation private sh run &
running=$!
# printed FILE: the number of its rows of numbers
printed() { grep -hE '^([0-9:]+ +)?[A-Za-z0-9_-]+ +[0-9.]+ ' "$1" 2>err.printed | wc -l; }
# more_than N...: rows of mpstat, cpu, iostat, disk
more_than() { [ "$(printed mpstat.txt)" -gt "$1" ] && [ "$(printed cpu.txt)" -gt "$2" ] && [ "$(printed iostat.txt)" -gt "$3" ] && [ "$(printed disk.txt)" -gt "$4" ]; }
now() { for f in mpstat cpu iostat disk; do printed $f.txt; done; }
await more_than 0 0 0 0
for f in stat diskstats disks/*; do
	case $f in *.new) continue ;; esac
	dd if=$f.new of=$f conv=notrunc bs=1M 2>err.dd || fail "no new $f"
done
changed() { for f in mpstat cpu; do grep -qE ' all +([0-9]+\.[0-9]+ +){9}([0-9]|[1-9][0-9])\.' $f.txt || return 1; done; }
busy() { for f in iostat disk; do grep -qE '^[a-z][A-Za-z0-9_-]* +[1-9][0-9]*\.' $f.txt || return 1; done; }
await changed
await busy
# the interval after it, in which nothing changes
# shellcheck disable=SC2046 # words
await more_than $(now)
echo >end
wait $running
cat >compare.py <<'END'
import sys
def blocks(path, word):
    """[header, {name: numbers}] of the sample in which the texts have changed"""
    header, found = None, {}
    for line in open(path):
        words = line.split()
        if line.startswith(("Average", "Linux")) or not words:
            continue
        if words[0][0].isdigit() and ":" in words[0]:
            words = words[1:]
        if word in words:
            header = words
            continue
        numbers = [float(w) for w in words[1:]]
        if any(numbers[:-1]):  # an idle CPU is 100 % in its last column; of the whole machine mpstat prints zeros then
            assert words[0] not in found, (path, line)
            found[words[0]] = numbers
    return header, found
def near(a, b, what, slack=0.011):
    assert abs(a - b) <= slack + 0.002 * abs(a), (what, a, b)
theirs, ours = blocks("mpstat.txt", "%idle"), blocks("cpu.txt", "%idle")
assert theirs[0] == ours[0], (theirs[0], ours[0])
assert theirs[1].keys() == ours[1].keys() and "all" in ours[1] and "0" in ours[1], (theirs, ours)
for cpu, row in theirs[1].items():
    for a, b, name in zip(row, ours[1][cpu], theirs[0][1:]):
        near(a, b, (cpu, name))
theirs, ours = blocks("iostat.txt", "%util"), blocks("disk.txt", "%util")
assert theirs[0] == ours[0], (theirs[0], ours[0])
assert theirs[1].keys() == ours[1].keys() and ours[1], (theirs, ours)
# a rate is of each program's own interval, which a busy machine makes longer
rates = [i for i, name in enumerate(theirs[0][1:]) if name.endswith("/s") or name in ("aqu-sz", "%util")]
for disk, row in theirs[1].items():
    mine = ours[1][disk]
    scale = row[0] / mine[0]
    assert 0.2 < scale < 5, (row, mine)
    for i, name in enumerate(theirs[0][1:]):
        near(row[i], mine[i] * scale if i in rates else mine[i], (disk, name), 0.02)
print(len(theirs[1]), "disks")
END
python3 compare.py || fail "not as the tools: $(cat mpstat.txt cpu.txt iostat.txt disk.txt)"

# --- in a trace -----------------------------------------------------------------------------------

gate
# The tools are not installed, in the mounts of this script: their folder has links to all others in its place.
hide() {
	mkdir "$2.all" "$2"
	mount --bind "$1" "$2.all" || fail "mount --bind"
	for f in "$2.all"/*; do
		case $f in */mpstat | */iostat) ;; *) echo "$f" ;; esac
	done | xargs ln -s -t "$2"
	mount --bind "$2" "$1" || fail "mount --bind"
}
hide "$(dirname "$(readlink -f "$(command -v mpstat)")")" "$TMPDIR/tools"
hash -r
! command -v mpstat && ! command -v iostat || fail "the tools are not hidden"
spawn --collectors cpu,disk -- sh -c 'read _ <gate'
sampled() { [ "$(grep -c '	all	' "$t/cpu.out" 2>err.grep)" -ge 2 ] && grep -q '^[0-9]' "$t/disk.out"; }
await sampled
pids=$(ps -o pid= --ppid "$dlt")
[ "$pids" ] || fail "no process samples"
echo >&9
join
equal "status" $rc 0
equal "messages" "$(messages)" ""
equal "states" "$(manifest "'; '.join(c['name'] + ' ' + c['state'] for c in m['collectors'])")" "cpu stopped; disk stopped"
for pid in $pids; do
	gone "$pid" || fail "still running: $(ps -o args= "$pid")"
done
check whole
check lines
check collectors cpu=CPU,%usr,%idle disk=Device,r/s,%util
equal "rows of single CPUs" "$(col cpu CPU 'CPU != "all"' | wc -l)" $(($(col cpu CPU 'CPU == "all"' | wc -l) * $(getconf _NPROCESSORS_ONLN)))
"$DLT" validate "$t" >valid || fail "validate: $(cat valid)"
