#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# sites.out: the lines of Python that allocate, each with its calls and bytes, in every interpreter that is installed: in
# recursion, generators, coroutines, code that is compiled again and again, threads, without the GIL, and in children. What is
# kept of a stack is compared with a new look. An interpreter ends while other threads are in it and allocate.
#
# slow: it traces each interpreter three times
. "${0%/*}/../lib.sh"
preloadable

python
root=${PYENV_ROOT:-$HOME/.pyenv}
workloads=$here/../workloads
found='' embedded=''
allocs() { trace --probes alloc,time_align --alloc min=64K "$@" 2>err || fail "status $?: $(cat err)"; }
# version PYTHON: such as 3.11
version() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null; }

for p in /usr/bin/python3.* /usr/local/bin/python3.* "$root"/versions/*/bin/python3; do
	case $p in *-config) continue ;; esac
	[ -x "$p" ] || continue
	v=$(version "$p") || continue
	case $v$("$p" -VV) in *free-threading*) other=$p; continue ;; 3.9* | 3.1[0-4]*) ;; *) other=$p; continue ;; esac
	[ -z "$slow" ] || [ -z "$found" ] || continue # one is enough where a trace takes long
	"$p" -c 'import ctypes' 2>/dev/null || continue
	found="$found $v"
	allocs -- "$p" -W ignore "$workloads/alloc_lines.py" >tally
	check alloc_lines tally
	# shellcheck disable=SC2016 # the workload's shell
	trace --probes alloc --alloc min=0 -- sh -c 'DLTRACED_ALLOC="$DLTRACED_ALLOC check=1" exec "$@"' - \
		"$p" -W ignore "$workloads/alloc_lines.py" 3 >tally 2>err || fail "$v: what is kept is wrong: $? $(cat err)"

	home=${p%/bin/python3} so=${p%/bin/python3}/lib/libpython$v.so.1.0
	[ -e "$so" ] || continue
	embedded=yes
	LD_PRELOAD=$so PYTHONHOME=$home allocs -- "$W/alloc_embeds" 3 >calls
	equal "$v: calls of malloc" "$(rows alloc 'FUNC == "malloc" && SIZE == 70000' | wc -l)" "$(cat calls)"
	[ "$(rows sites 'KIND == "python" && FRAMES ~ /:down;/' | wc -l)" -gt 0 ] || fail "$v: no lines of threads without the GIL"
done
[ -n "$found" ] || skip "an interpreter of Python 3.9 to 3.14"
echo "versions:$found"

# one that is not known has native stacks
if [ -n "${other-}" ]; then
	allocs -- "$other" -c 'x = bytearray(99999)'
	equal "rows with lines of $other" "$(rows sites 'KIND == "python"' | wc -l)" 0
	[ "$(rows sites 'KIND == "native"' | wc -l)" -gt 0 ] || fail "no stacks of $other"
	case $(version "$other") in
	3.*) equal "unknown interpreters" "$(manifest 'm["alloc"]["unread_python_programs"]')" 1 ;;
	esac
fi
[ "${other-}" ] || echo "note: without an interpreter that is not known"
[ "$embedded" ] || echo "note: without libpython, no interpreter was ended beside threads"

# as asked for
allocs --alloc sites=python -- python3 -c 'x = bytearray(99999)'
[ "$(rows sites 'KIND == "python" && FRAMES == "<string>:1:<module>"' | wc -l)" = 1 ] || fail "python: $(rows sites)"
allocs --alloc sites=python -- "$W/alloc" 1 1 10 >tally
equal "stacks of more than a caller" "$(rows sites 'KIND != "module" && FRAMES ~ /;/' | wc -l)" 0
allocs --alloc sites=native -- python3 -c 'x = bytearray(99999)'
equal "rows with lines" "$(rows sites 'KIND == "python"' | wc -l)" 0
