#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The native stacks of allocations are those that the program has, also where frames have another size each time, and earlier
# calls have left their words in them; what is kept of a stack is what a new look finds. A library that is loaded where another one
# was has stacks of its own, by its whole path, and one that is loaded again has those that it had.
. "${0%/*}/../lib.sh"
preloadable

python
case $(uname -m) in x86_64 | aarch64) ;; *) skip "x86-64 or arm64" ;; esac
n=20000
[ -z "$slow" ] || n=2000
trace --probes alloc,time_align --alloc min=64K -- "$W/alloc_stacks" $n >tally 2>err || fail "status $?: $(cat err)"
check alloc_stacks tally "$W/alloc_stacks" $n
# shellcheck disable=SC2016 # the workload's shell
trace --probes alloc --alloc min=64K -- sh -c 'DLTRACED_ALLOC="$DLTRACED_ALLOC check=1" exec "$@"' - "$W/alloc_stacks" $n >tally 2>err ||
	fail "what is kept is wrong: $? $(cat err)"

cat >part.c <<'END'
#include <stdlib.h>
void work(size_t size) { void *volatile block = malloc(size); free(block); }
END
cat >loads.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	void (*first)(size_t) = NULL, (*work)(size_t);

	for (int i = 0; i < 40; i++) {
		void *library = dlopen(i % 2 ? "./odd.so" : "./even.so", RTLD_NOW);

		work = (void (*)(size_t))dlsym(library, "work");
		first = first ? first : work;
		work(work == first ? 70000 + (size_t)(i % 2) : 99999);
		dlclose(library);
	}
	return 0;
}
END
if gcc -shared -fPIC -o even.so part.c 2>err && cp even.so odd.so && gcc -o loads loads.c -ldl 2>err; then
	trace --probes alloc --alloc min=64K -- ./loads 2>err || fail "status $?: $(cat err)"
	[ "$(rows alloc 'SIZE == 70001' | wc -l)" -gt 2 ] && pair='70000:even.so 70001:odd.so' || echo "note: the libraries were not loaded to one place"
	for of in ${pair-}; do
		site=$(rows alloc "SIZE == ${of%:*}" | cut -f 13 | sort -u)
		module=$(rows sites "SITE == \"${site:-0}\"" | cut -f 6 | cut -d + -f 1)
		equal "the file of blocks of ${of%:*} bytes" "$(rows sites "SITE == \"${module:-0}\"" | cut -f 6)" "$PWD/${of#*:}"
	done
	equal "modules" "$(rows sites 'KIND == "module"' | cut -f 6 | sort | uniq -d)" ""
else
	echo "note: no gcc: $(tail -n 1 err)"
fi
