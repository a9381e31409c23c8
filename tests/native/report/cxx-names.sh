#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Stacks of a program in C++ have the names of its functions, as c++filt has them but for template arguments and parameters: in
# the tables of the report, and for the functions of whole libraries.
. "${0%/*}/../lib.sh"
preloadable
need g++ c++filt nm
python

cat >job.cpp <<'END'
#include <cstdlib>
#include <string>
#include <vector>

namespace job {
namespace {
struct Blocks {
	std::vector<char *> all;

	__attribute__((noinline)) Blocks() { grow(1); }
	template <typename T> __attribute__((noinline)) void grow(T n)
	{
		for (T i = 0; i < n; i++)
			all.push_back(static_cast<char *>(std::malloc(1 << 20)));
	}
	__attribute__((noinline)) void operator+=(int n) { grow(n); }
};
}
__attribute__((noinline)) int run(const std::string &name)
{
	Blocks blocks;
	auto more = [&](auto n) __attribute__((noinline)) { blocks += n; return new char[1 << 21]; };

	return more(2) == nullptr || name.empty();
}
}

int main()
{
	return job::run("job");
}
END
g++ -O1 -g -fno-optimize-sibling-calls -o job job.cpp || fail "g++"
trace --probes alloc,time_align --alloc min=512K -- ./job 2>err || fail "status $?: $(cat err)"
"$DLT" report --json "$t" >json || fail "report: status $?"
python3 - <<'END' || fail "stacks"
import json
rows = [(row["stack"].split(" < "), row["blocks"]) for row in json.load(open("json"))["allocs_by_bytes"]]
blocks, more = "job::(anonymous namespace)::Blocks::", "job::run::{lambda#1}::operator()"
for wanted, n in (([blocks + "grow", blocks + "Blocks", "job::run", "main"], 1),
                  ([blocks + "grow", blocks + "operator+=", more, "job::run", "main"], 2), ([more, "job::run", "main"], 1)):
    # operator new is called by the library's own operator new[], or is the same
    found = sum(n for frames, n in rows if [f for f in frames if not f.startswith("operator new")][:len(wanted)] == wanted)
    assert found == n, (wanted, found, rows)
assert any(frames[0] == "operator new" and more in frames for frames, _ in rows), rows
END

# whole libraries
names=$W/../tests/report/memory/test_cxx_name
[ -x "$names" ] || make -C "$here/../.." "build/tests/report/memory/test_cxx_name" >/dev/null 2>&1 || skip "test_cxx_name"
for library in $(g++ -print-file-name=libstdc++.so.6) /usr/lib/*/libtorch_cpu.so.1.13; do
	[ -e "$library" ] || continue
	nm -D --defined-only "$library" | awk '$2 ~ /[TWi]/ { sub(/@.*/, "", $3); print $3 }' | sort -u >symbols
	"$names" - <symbols >named && c++filt -p <symbols >demangled || fail "$library: status $?"
	n=$(python3 -B "$here/checks/cxx_names.py" symbols named demangled 2>&1) || fail "$library: $n"
	[ "$n" -gt 1000 ] || fail "$library: only $n names"
done
