#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# alloc.out: every call of malloc and its relatives in processes that return, call _exit, are killed, execute a program
# or fork, to the byte, with the block's life, who had allocated it, and its stack. What is below --alloc min=SIZE is
# counted. A library that was preloaded before stays.
. "${0%/*}/../lib.sh"
preloadable

python
n=500
[ -z "$slow" ] || n=40
allocs() { trace --probes alloc,time_align "$@" 2>err || fail "status $?: $(cat err)"; }
allocs --alloc min=64K -- "$W/alloc" 12 4 $n >tally
check alloc tally
[ "$(manifest 'm["alloc"]["small_calls"]')" -gt 0 ] || fail "no small allocations"

allocs --alloc min=64K --alloc sites=none -- "$W/alloc" 1 1 10 >tally
[ "$(rows alloc | wc -l)" -gt 0 ] || fail "no rows without stacks"
equal "rows with a stack" "$(rows alloc 'SITE != "-"' | wc -l)" 0
allocs --alloc min=64K --alloc sites=caller -- "$W/alloc" 1 1 10 >tally
equal "stacks of more than a caller" "$(rows sites 'KIND == "native" && FRAMES ~ /;/' | wc -l)" 0
[ "$(rows alloc 'SITE != "-"' | wc -l)" -gt 0 ] || fail "no callers"

# every block of a shell: all that is freed and not known was there before the library
allocs --alloc min=0 -- sh -c 'x=$(echo a | cat); ls / >ls; exec cat ls' >out
cmp ls out || fail "its output has changed"
equal "small" "$(manifest 'm["alloc"]["small_calls"]')" 0
[ "$(rows alloc 'FUNC == "malloc" && COMM == "cat"' | wc -l)" -gt 0 ] || fail "no rows of cat"

# a thread whose first allocation is one of pthread_getattr_np(3), with the lock that shows its stack
allocs --alloc min=0 -- timeout -k 1 60 "$W/alloc_asks" >out
site=$(rows alloc 'FUNC == "malloc" && SIZE == 70000' | cut -f 13)
equal "its allocation's stack has a caller" "$(rows sites "SITE == \"${site:-0}\" && FRAMES ~ /;/" | wc -l)" 1

# what was preloaded before comes second
LD_PRELOAD=libpthread.so.0 allocs -- sh -c 'echo "$LD_PRELOAD"' >out
grep -q '/libdltraced-alloc.so:libpthread.so.0$' out || fail "LD_PRELOAD: $(cat out)"

# another allocator, which prints at each end of a process what it has done
for jemalloc in ${JEMALLOC-} /usr/lib/*/libjemalloc.so.2 /usr/lib64/libjemalloc.so.2; do [ ! -e "$jemalloc" ] || break; done
if [ -e "$jemalloc" ]; then
	allocs --alloc min=64K -- env NO_PVALLOC=1 MALLOC_CONF=stats_print:true \
		sh -c 'LD_PRELOAD=$LD_PRELOAD:$0 exec "$@"' "$jemalloc" "$W/alloc" 6 4 $n >tally
	check alloc tally
	grep -q 'Begin jemalloc statistics' err || fail "not by jemalloc: $(cat err)"
else
	echo "note: no libjemalloc.so.2"
fi

# a program that allocates nothing has the library, too; one with a malloc of its own does without it
allocs -- true
equal "processes without the library" "$(manifest 'm["alloc"]["uncovered_processes"]')" 0
cat >own.c <<'END'
#include <stddef.h>
static char all[1 << 20];
void *malloc(size_t n) { static size_t used; return all + (used += (n + 15) & ~15UL) - n; }
void *calloc(size_t n, size_t size) { return malloc(n * size); }
void *realloc(void *old, size_t n)
{
	char *new = malloc(n);

	for (size_t i = 0; old && i < n; i++)
		new[i] = ((char *)old)[i];
	return new;
}
void free(void *block) { (void)block; }
int main(void) { free(malloc(70000)); return 0; }
END
if gcc -fno-builtin -o own own.c 2>err; then
	allocs -- ./own
	equal "processes with a malloc of their own" "$(manifest 'm["alloc"]["uncovered_processes"]')" 1
else
	echo "note: no gcc: $(tail -n 1 err)"
fi

# a program with AddressSanitizer, which ends at once where another library comes first, unless it is told not to look
cat >asan.c <<'END'
#include <stdlib.h>
int main(int argc, char **argv)
{
	char *volatile block = calloc(1, 70000);
	block = realloc(block, 80000);
	free(block);
	return argc > 1 ? block[7] : 0;
}
END
if gcc -fsanitize=address -o asan asan.c 2>err && ./asan 2>err; then
	allocs --alloc min=64K -- ./asan
	equal "rows with AddressSanitizer" "$(rows alloc 'SIZE == 70000 || SIZE == 80000' | cut -f 6 | xargs)" "calloc realloc free"
	ASAN_OPTIONS=exitcode=42 trace --probes alloc -- ./asan wrong 2>err
	equal "status where it finds an error" $? 42
	grep -q 'heap-use-after-free' err || fail "its message: $(cat err)"
else
	echo "note: no gcc -fsanitize=address: $(tail -n 1 err)"
fi
