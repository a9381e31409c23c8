#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pkg-config finds dltraced.h as it is installed, and programs with it build without a warning in every standard that it
# supports. They leave regions, also those that end with their block, by a return, or by an exception.
. "${0%/*}/../lib.sh"
need make cc pkg-config
top=$here/../..
make -s --no-print-directory -C "$top" install PREFIX=/opt/d DESTDIR="$TMPDIR/root" >make.out 2>&1 || fail "make install: $(cat make.out)"
export PKG_CONFIG_PATH="$TMPDIR/root/opt/d/share/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$TMPDIR/root"
flags=$(pkg-config --cflags dltraced) || fail "pkg-config: $?"

cat >job.c <<'C'
#include <dltraced.h>
static int early(int i)
{
	DLTRACED_REGION(r, "ai.compute.step");

	r.step = i;
	if (i)
		return i;
	dltraced_update_str(&r, "way", "end");
	return 0;
}
int main(void)
{
	dltraced_meta("from", "C");
	return early(0) + early(1) - 1;
}
C
cat >job.cc <<'CC'
#include <dltraced.h>
static void leave()
{
	DLTRACED_REGION(r, "my.leave");
	r.update("n", 1);
	throw 1;
}
int main()
{
	dltraced::region epoch("ai.pipeline.epoch", true);

	epoch.epoch = 3;
	try {
		leave();
	} catch (int) {
		dltraced_mark("caught");
	}
	return 0;
}
CC

cat >job.c.rows <<'ROWS'
meta	from	0	-	-	C
compute	step	0	-	0	way=end
compute	step	0	-	1	-
ROWS
cat >job.cc.rows <<'ROWS'
my	leave	-1	-	-	n=1
mark	caught	0	-	-	-
pipeline	epoch	0	3	-	-
ROWS

# build COMPILER STANDARD SOURCE
build() {
	command -v "$1" >/dev/null || return 0
	# shellcheck disable=SC2086 # words
	"$1" -std="$2" -O2 -Wall -Wextra -Wpedantic -Werror $flags -o "job-$1-$2" "$3" || fail "$1 -std=$2"
	trace -P regions,time_align -- "./job-$1-$2" || fail "job-$1-$2: $?"
	cut -f 6- "$t/regions.out" | sed '1,2d' | cut -f 1,2,4,5,6,10 >got
	cmp -s got "$3.rows" || fail "$1 -std=$2: $(diff got "$3.rows")"
}

for c in gcc clang; do for s in c99 c11 gnu17; do build $c $s job.c; done; done
for c in g++ clang++; do for s in c++11 c++17 c++20; do build $c $s job.cc; done; done
