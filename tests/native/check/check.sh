#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `dltraced check` reports what start would find: if it returns 0, a trace can be made; if it says "fail", start
# refuses. What it reports about the machine agrees with other tools. It leaves nothing behind, and its text and its
# JSON agree. Its last line is the verdict; it advises nothing where nothing is lost, and without BTF reports only that.
# LONG=1: more limits of open files.
. "${0%/*}/../lib.sh"
need python3 setpriv script unshare
with_helpers

# checked [OPTION...]: the JSON of `check` goes to rows, its status to $rc.
checked() {
	"$DLT" check --json "$@" >rows 2>err
	rc=$?
	[ ! -s err ] || fail "check $*: said: $(cat err)"
}

# row NEED KEY: a value of the last `checked`.
row() {
	python3 -c '
import json, sys
for r in json.load(open("rows")):
    if r["need"] == sys.argv[1]: print(r[sys.argv[2]])' "$1" "$2"
}

# found NEED STATE TEXT: the need has this state, and the text beside it contains TEXT.
found() {
	equal "state of $1" "$(row "$1" state)" "$2"
	row "$1" found | grep -qF -e "$3" || fail "$1: found '$(row "$1" found)', not '$3'"
}

# --- here -----------------------------------------------------------------------------------------

mkdir out
checked -o out/new --min-free 0
equal "status" $rc 0
[ -z "$(ls -A out)" ] || fail "left behind: $(ls -A out)"
trace -- true || fail "check says that a trace can be made, start: $?"

found "pid namespace" ok initial
found BTF ok "$(stat -c %s /sys/kernel/btf/vmlinux | awk '{
	m = $1 / 1048576
	printf m < 9.995 ? "%.2f MiB" : m < 99.95 ? "%.1f MiB" : "%.0f MiB", m }')"
found "open files limit" ok "$(prlimit --raw --noheadings -o HARD --nofile);"
clock=$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)
row "clock source" found | grep -q "^$clock" || fail "clock source: $(row "clock source" found)"
equal "rings" "$(row rings found | sed 's/ .*//')" "$(manifest 'm["rings"]["count"]')"
stall=$(manifest '"%.2f s" % (m["rings"]["stall_ms"] / 1000)')
row rings found | grep -qF "one holds $stall of" || fail "rings: $(row rings found), not $stall"
for probe in $(of_calls); do
	equal "backend of $probe" "$(row "probe $probe" found | sed 's/ .*//')" \
		"$(manifest "next(p['backend'] for p in m['probes'] if p['name'] == '$probe')")"
done
for tool in mpstat iostat; do
	path=$(command -v $tool) || path="not in PATH"
	row $tool found | grep -qF "$path" || fail "$tool: $(row $tool found)"
done

# What works without, needs no remedy: one hook is enough.
"$DLT" check -o out/new --min-free 0 >text || fail "as text: $?"
least=$(row "open files limit" found | sed 's/.* //')
row verdict found | grep -q '^This machine can be traced, by ' || fail "verdict: $(row verdict found)"
equal "last line" "$(tail -n 1 text)" "$(row verdict found)"
by=$(manifest 'next(p["hooks"] for p in m["probes"] if p["name"] == "vfs_rw")' | sed 's/[ /].*//; s/^kprobes$/kprobe/')
row verdict found | grep -q "by .*\b$by\b" || fail "vfs_rw is traced by $by; verdict: $(row verdict found)"
for hook in fentry tp_btf kprobe tp; do
	equal "remedy of hook $hook" "$(row "hook $hook" remedy)" None
	equal "hook $hook is missing" "$(row "hook $hook" state | grep -c missing)" 0
done

# --- its forms ------------------------------------------------------------------------------------

python3 - <<'END' || fail "text and JSON differ: $(cat text)"
import json, sys
rows = json.load(open("rows"))
lines = open("text").read().splitlines()
assert max(map(len, lines)) <= 100, "too wide"
assert rows.pop()["need"] == "verdict" and lines.pop().startswith("This machine can be traced, by ")
assert "\033" not in "".join(lines), "colour"
at = lines[0].index("STATE")
# of two runs: what others do meanwhile is in some rows
passing = ("clock synchronized", "other traces", "write speed")
state = lambda need, state: (need, state if need not in passing else "")
listed = [state(l[:at].rstrip(), l[at:].split()[0]) for l in lines[1:] if l[0] != " "]
told = [state(r["need"], r["state"]) for r in rows]
assert listed == told, (listed, told)
for r in rows:
    assert list(r) == ["need", "state", "found", "remedy"], r
    assert r["state"] in ("ok", "note", "missing", "fail"), r
    assert r["found"] and (r["remedy"] is None or r["remedy"]), r
    assert r["remedy"] or r["state"] not in ("fail", "missing"), r
END

# without_btf COMMAND...: in mounts of its own, where check tries no program: most of its time.
mkdir empty
# shellcheck disable=SC2016 # the inner shell's
without_btf() { unshare -m --propagation private sh -c 'mount --bind empty /sys/kernel/btf && exec "$@"' sh "$@"; }
without_btf env -u NO_COLOR TERM=xterm script -qec "'$DLT' check -o out" /dev/null </dev/null >screen
grep -q "$(printf '\033')\[32mok" screen || fail "no colour on a terminal: $(cat screen)"
without_btf env NO_COLOR=1 TERM=xterm script -qec "'$DLT' check -o out" /dev/null </dev/null >screen
! grep -q "$(printf '\033')" screen || fail "colour in spite of NO_COLOR: $(cat screen)"

# --- without BTF, /sys and /proc -------------------------------------------------------------------

# lacking COMMAND...: the JSON and status of check, in mounts of its own, after COMMAND
lacking() {
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m --propagation private sh -c '"$@" && exec "$DLT" check --json --min-free 0 -o out' sh "$@" >rows 2>err
	equal "status after $*" $? 1
	[ ! -s err ] || fail "check after $*: said: $(cat err)"
}
# fails NEED...: only these have failed.
fails() {
	equal "what failed" "$(python3 -c '
import json
print(*(r["need"] for r in json.load(open("rows")) if r["state"] == "fail"))')" "$* verdict"
}
export DLT
lacking mount --bind empty /sys/kernel/btf
fails BTF
found BTF fail "/sys/kernel/btf/vmlinux: No such file"
found probes note "not tried: needs BTF"
found hooks note "not tried: needs BTF"
found verdict fail "This machine cannot be traced: BTF: "
grep -qi dmesg rows && fail "blamed something else: $(grep -i dmesg rows)"
lacking umount -l /sys
fails BTF
found BTF fail "/sys is not mounted"
row BTF remedy | grep -q '^mount -t sysfs sysfs /sys' || fail "remedy: $(row BTF remedy)"
lacking umount -l /proc
fails rights
found rights fail "/proc is not mounted"
found "pid namespace" note "not known"
found "other traces" note "not known"
mkdir gone
(cd gone && rmdir ../gone && exec "$DLT" check --json --min-free 0) >rows 2>err
equal "status in a folder that was removed" $? 1
fails space
found space fail "the current folder has been removed"
found verdict fail "This machine can be traced, by "

# --- the folder -----------------------------------------------------------------------------------

checked -o out --min-free 1000T
equal "status without space" $rc 1
found space fail "$TMPDIR/out"
checked -o /dev/null/x --min-free 0
equal "status where there can be no folder" $rc 1
mkdir readonly
mount -t tmpfs -o ro none readonly || skip "to mount tmpfs"
mnt=$TMPDIR/readonly
checked -o readonly/x --min-free 0
equal "status on a read-only file system" $rc 1
found "write speed" fail "Read-only file system"
found verdict fail "but not like this: write speed: "
(ulimit -f 4 && without_btf "$DLT" check --json -o out --min-free 0) | cat >rows
found "file size limit" note "for each file"
found "write speed" note "File too large"
[ -z "$(ls -A out)" ] || fail "left behind: $(ls -A out)"

# A name that would clear the screen, and turn the rest around.
bad=$(printf 'out/\033[2J \342\200\256x\377')
mkdir "$bad"
"$DLT" check -o "$bad" --min-free 0 >text || fail "in $bad: $?"
tr -s ' \n' ' ' <text | grep -qF 'out/\033[2J \342\200\256x\377' || fail "name not escaped: $(cat text)"
without_btf "$DLT" check --json -o "$bad" --min-free 0 >rows # and the JSON is valid
found space ok "/out/"

# --- what check finds missing, start refuses -----------------------------------------------------

# refused COMMAND...: run by COMMAND, check returns 1 and start 125.
refused() {
	"$@" "$DLT_COPY" check --json -o out --min-free 0 >rows 2>err
	equal "status of check under $*" $? 1
	"$@" "$DLT_COPY" start -q --collectors none --probes -bio --min-free 0 -o other -- true 2>err
	equal "status of start under $*" $? 125
	[ ! -e other ] || fail "start under $* made a folder"
}

DLT_COPY=$TMPDIR/dltraced
install -m 755 "$DLT" "$DLT_COPY"
chmod 1777 out
refused setpriv --reuid 65534 --regid 65534 --clear-groups
found rights fail CAP_SYS_ADMIN
found probes note "not tried"
refused setpriv --bounding-set -all --inh-caps -all --reuid 0
found rights fail "though the user is root"
found verdict fail "This machine cannot be traced: rights: "
refused unshare --pid --fork --mount-proc
found "pid namespace" fail "container's own"
refused unshare --user --map-root-user
found rights fail "user namespace"

# The hard limit of open files decides. Below the number that all programs need, some would still load, at random: check
# refuses all such limits, and the number that it asks for is enough.
for files in 40 ${LONG:+100 150} 400; do
	refused prlimit --nofile=$files:$files
	grep -qF "open files, $files, is too low" err || fail "start with $files open files said: $(cat err)"
	found "open files limit" fail "$files;"
	found probes fail "Too many open files"
	equal "rows of probes with $files open files" "$(grep -c '"need": *"probe ' rows)" 0
done
prlimit --nofile="40:$least" "$DLT" check --json -o out --min-free 0 >rows || fail "check with $least open files: $?"
found "open files limit" ok "$least;"
prlimit --nofile="40:$least" "$DLT" start -q --min-free 0 -o few -- true || fail "with $least open files: $?"

# With the two capabilities root is not needed.
install -d -o 65534 theirs
caps() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all,+bpf,+perfmon \
		--inh-caps -all,+bpf,+perfmon --ambient-caps -all,+bpf,+perfmon "$@"
}
caps "$DLT_COPY" check --json -o theirs --min-free 0 >rows || fail "with two capabilities: $(cat rows)"
found rights ok "CAP_BPF and CAP_PERFMON"
caps "$DLT_COPY" start -q --collectors none --probes -bio --min-free 0 -o theirs/t -- true ||
	fail "start with two capabilities: $?"

# --- other traces, other tools --------------------------------------------------------------------

gate
spawn -- sh -c 'read _ <gate'
await test -s t/manifest.json
for tool in docker podman; do
	printf '#!/bin/sh\nsleep 600\n' >helpers/$tool
	chmod 755 helpers/$tool
done
# the tools seem not to be installed; only in the mounts of this script
for folder in /usr/local/bin /usr/sbin /usr/bin /sbin /bin; do
	[ ! -e $folder/mpstat ] || mount --bind /dev/null $folder/mpstat
done
checked -o out --min-free 0
equal "status beside another trace" $rc 0
found "other traces" note " $dlt"
echo >&9
join
equal "status of the other trace" $rc 0
found mpstat ok "not in PATH: dltraced itself takes the samples"
found verdict ok "This machine can be traced"
found containers ok "docker, podman"

for bad in "--buffer 1" "--min-free x" "-o %q" stray; do
	# shellcheck disable=SC2086
	"$DLT" check $bad >out.txt 2>err
	equal "status of check $bad" $? 125
	if [ -s out.txt ] || [ ! -s err ]; then fail "check $bad: $(cat out.txt err)"; fi
done
