#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# access.out by soft-dirty bits: in each interval the pages that a process wrote in it, by instructions or by a call, and no others:
# none that it only read, and none that its parent wrote. Where the kernel has no such bits, that is refused.
. "${0%/*}/../lib.sh"

python
[ "$(uname -m)" = x86_64 ] || skip "x86-64"
[ -w /proc/self/clear_refs ] || skip "/proc/PID/clear_refs (CONFIG_PROC_PAGE_MONITOR)"
# a page that was written shows it in bit 55 of pagemap
cat >soft_dirty.py <<'EOF'
import ctypes
page = ctypes.create_string_buffer(8192)
ctypes.memset(page, 1, 8192)
with open("/proc/self/pagemap", "rb", buffering=0) as f:
    f.seek((ctypes.addressof(page) + 4095) // 4096 * 8)
    print(int.from_bytes(f.read(8), "little") >> 55 & 1)
EOF
if [ "$(python3 soft_dirty.py)" = 0 ]; then
	trace --probes access,time_align --access writes -- touch ran 2>err
	equal "status without soft-dirty bits" $? 125
	grep -q "access writes: the kernel has no soft-dirty bits, CONFIG_MEM_SOFT_DIRTY.*use --access pages or faults" err || fail "message: $(cat err)"
	! grep -q "refused its programs" err || fail "a reason that is none: $(cat err)"
	[ ! -e ran ] || fail "the command ran"
	"$DLT" check --json | python3 -c '
import json, sys
row, = (r for r in json.load(sys.stdin) if r["need"] == "writes of memory")
sys.exit(row["state"] != "note" or "no soft-dirty bits" not in row["found"])' || fail "check: $("$DLT" check)"
	exit
fi
ms=1000 interval=100ms areas=areas
[ -z "$slow" ] || { ms=4000 interval=600ms; } # so that all pages are touched within an interval
case $(uname -r) in 5.*) areas=- ;; esac # from 6.1 on
for mode in "phases 2" "inherited 2" "threads 1"; do
	[ "$mode" != "threads 1" ] || [ -z "$slow" ] || [ -n "${LONG-}" ] || continue # access-pages has it, too
	trace --probes access,time_align --access writes,interval=$interval,block=4K,budget=100 -- "$W/touches" $mode $ms 4000 >tally ||
		fail "$mode: status $?"
	check access_pages tally $areas
done
equal "refused processes" "$(manifest 'm["access"]["refused_processes"]')" 0
