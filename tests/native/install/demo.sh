#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `make demo' ends with what its job waited for, in a sentence, what that means in three lines, and the name of the page,
# which exists. Nothing else of the trace is printed, and the job's data is removed. Data in memory, and a machine that
# cannot be traced, are said.
. "${0%/*}/../lib.sh"
need setpriv python3
mkdir -p demo/scripts demo/build/workloads tmpfs
cp "$here/../../scripts/demo" demo/scripts
cp "$DLT" demo/build/dltraced
cp "$W/cold_loader" demo/build/workloads

# demo COMMAND...: out has the answer, err the messages; an answer is of the machine, which may be busy.
demo() {
	"$@" demo/scripts/demo --collectors none --min-free 0 >out 2>err
}
demo env || fail "status $?: $(cat err)"
trace=$(sed -n 's/^demo: the answer, of build\/dltraced report \(traces\/demo_[0-9]*\)$/\1/p' err)
[ -s "demo/$trace/manifest.json" ] || fail "no trace: $(cat err)"
equal "epochs of the job" "$(grep -c '^epoch [1-3]: ' out)" 3
equal "lines after these" "$(sed '/^epoch/d' out | wc -l)" 6
sed -n 5p out | grep -q '^  [A-Z][a-z]* [a-z]* .*' || fail "no answer: $(cat out)"
equal "lines that are too wide" "$(grep -c '.\{82\}' out)" 0
grep -q "docs/rules.md explains each answer" out || fail "no pointer: $(cat out)"
equal "the last message" "$(tail -n 1 err)" "demo: the page, for a browser: $trace/report.html"
equal "messages" "$(wc -l <err)" 3
grep -q '^<!DOCTYPE html>' "demo/$trace/report.html" || fail "no page"
equal "what its data leaves" "$(ls demo/build)" "$(printf 'dltraced\nworkloads')"

# On any machine the job does what it is for: what it reads has to come from the disk. Its own count is the witness.
"$DLT" report --json "demo/$trace" >json || fail "report: $?"
python3 - out json <<'PY' || fail "its reads: $(cat out)"
import json, sys
read = sum(int(line.split()[2]) for line in open(sys.argv[1]) if line.startswith("epoch")) * 16384
sources = json.load(open(sys.argv[2]))["read_sources"]
disk, unaccounted = (sum(row[key] for row in sources) for key in ("disk_bytes", "unaccounted"))
sys.exit(f"{disk} bytes of {read} came from the disk" if disk < 0.9 * read and not unaccounted else 0)
PY

# In memory there is no storage to wait for.
unshare -m mount -t tmpfs none tmpfs 2>/dev/null || skip "to mount tmpfs"
DATA=$PWD/tmpfs demo unshare -m sh -c 'mount -t tmpfs -o size=256m none tmpfs && exec "$@"' - || fail "tmpfs: status $?: $(cat err)"
grep -q "^demo: $PWD/tmpfs is on tmpfs, which is memory" err || fail "tmpfs: $(cat err)"
grep -q "the storage is memory" out || fail "tmpfs: $(cat out)"
equal "the answer on tmpfs" "$(grep -c 'waited for reads from storage' out)" 0

# Without rights to trace, or root: the reason and what to do.
demo setpriv --bounding-set -all --inh-caps -all && fail "it was traced without rights"
grep -q "^dltraced: " err || fail "no reason: $(cat err)"
grep -q "dltraced check' says what to do" err || fail "no remedy: $(cat err)"

# Of a user without sudo, and of one whom sudo refuses; a user cannot enter the folder of this script.
folder=$(mktemp -d /tmp/demo.XXXXXX)
trap 'rm -rf "$folder"; cleanup' EXIT
cp -r demo "$folder" && mkdir "$folder/bin" && chmod -R a+rwX "$folder"
printf '#!/bin/sh\necho "sudo: refused" >&2\nexit 1\n' >"$folder/bin/sudo"
as_nobody() { (cd "$folder" && demo setpriv --reuid 65534 --regid 65534 --clear-groups env PATH="$1") 2>&1; }
rm -f "$folder/out" "$folder/err"
as_nobody /usr/sbin:/usr/bin:/sbin:/bin && fail "it was traced without root"
[ -e /usr/bin/sudo ] || grep -q "^demo: tracing needs root, and there is no sudo: run it as root" "$folder/err" || fail "$(cat "$folder/err")"
chmod +x "$folder/bin/sudo"
as_nobody "$folder/bin:/usr/sbin:/usr/bin:/sbin:/bin" && fail "it was traced though sudo refused"
grep -q "^demo: there is no trace (status 1): the messages above say why" "$folder/err" || fail "$(cat "$folder/err")"
equal "what its data leaves" "$(ls "$folder/demo/build")" "$(printf 'dltraced\nworkloads')"
