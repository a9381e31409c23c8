#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# make help lists every goal of the Makefile, and no other. A build takes all CPUs where nobody says how many; goals that
# run or remove something, and a make within a make, do not. What tests take from the environment reaches them.
. "${0%/*}/../lib.sh"
top=$here/../..
[ -e "$top/Makefile" ] || skip "the Makefile"
need make

# make_ ARG...: as a user calls it, not as a part of the make that runs these scripts.
make_() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s --no-print-directory -C "$top" "$@"; }

make_ help >help || fail "make help: status $?"
sed -n 's/^  make \([a-z][a-z-]*\)   *[^ ].*/\1/p' help | sort >listed
sed -n '/^\.PHONY: all/,/[^\\]$/p' "$top/Makefile" | sed 's/^\.PHONY: all//; s/\\$//' | tr -s ' \t' '\n' | grep . | sort >goals
diff listed goals >differ || fail "the lines of make help (<) and the goals (>): $(cat differ)"
[ "$(wc -l <goals)" -gt 20 ] || fail "$(wc -l <goals) goals"
! grep -n '.\{121\}' help || fail "lines are too long"

mkdir stubs
printf '#!/bin/sh\necho 7\n' >stubs/nproc
chmod +x stubs/nproc
PATH=$TMPDIR/stubs:$PATH
cat >goals.mk <<'END'
build/flags build/other other-goal:
	@echo '$(filter -j%,$(MAKEFLAGS))'
settings:
	@echo "$$JOBS $$LIMIT $$SCRIPTS $$LONG"
build/within:
	@$(MAKE) -s --no-print-directory -f Makefile -f $(lastword $(MAKEFILE_LIST)) build/flags
END
flags() { make_ -f Makefile -f "$TMPDIR/goals.mk" "$@" 2>&1; }
equal "by default" "$(flags build/flags)" -j7
equal "two builds" "$(flags build/flags build/other)" "$(printf -- '-j7\n-j7')"
equal "with -j3" "$(flags -j3 build/flags)" -j3
equal "with -j1" "$(flags -j1 build/flags)" -j1
equal "by MAKEFLAGS" "$(env -u MAKELEVEL MAKEFLAGS=-j5 make -s --no-print-directory -C "$top" -f Makefile -f "$TMPDIR/goals.mk" build/flags)" -j5
equal "a goal that runs something" "$(flags other-goal)" ""
equal "one beside a build" "$(flags build/flags other-goal | paste -sd ,)" ","
equal "settings of tests in the environment" "$(JOBS=4 LIMIT=5 SCRIPTS=x LONG=1 flags settings)" "4 5 x 1"
equal "within a make" "$(flags build/within)" -j7
