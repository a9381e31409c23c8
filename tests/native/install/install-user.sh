#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A user without rights installs a built tree into ~/.local, and so writes nowhere else. The program and its libraries have
# no symbols and work: root traces allocations with them. make uninstall leaves only what others have put there.
. "${0%/*}/../lib.sh"
need make setpriv readelf
top=$(cd "$here/../.." && pwd)
home=$TMPDIR/home
mkdir home && chown 65534:65534 home
user() { setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$home" sh -c "cd && $1"; }
user "cd '$top' && cat Makefile build/dltraced" >/dev/null 2>&1 || skip "a built tree that other users may read"
make -s --no-print-directory -C "$top" all >make.out 2>&1 || fail "make: $(cat make.out)"
made() { user "make -s --no-print-directory -C '$top' $1 PREFIX=$2" >make.out 2>&1 || fail "make $1: $(cat make.out)"; }

# shellcheck disable=SC2088 # as a shell passes it that does not expand it here
made install '~/.local'
equal "folders" "$(ls home/.local | paste -sd ' ')" "bin etc include lib share"
equal "the program" "$(user '.local/bin/dltraced --version')" "$("$DLT" --version)"
cmp "$top/scripts/dltraced.conf" home/.local/etc/dltraced/dltraced.conf || fail "the config"
grep -qx "prefix=$home/.local" home/.local/share/pkgconfig/dltraced.pc || fail "$(cat home/.local/share/pkgconfig/dltraced.pc)"
for f in bin/dltraced lib/dltraced/libdltraced-alloc.so lib/dltraced/libdltraced-nvtx.so; do
	readelf -SW "home/.local/$f" >sections || fail "$f: no sections"
	! grep -E ' \.(symtab|debug_info) ' sections || fail "$f has symbols"
done
readelf -SW "$top/build/dltraced" | grep -q ' \.symtab ' || fail "what was built has lost its symbols"

home/.local/bin/dltraced start -q --report=none --collectors none --min-free 0 -P alloc -o "$t" -- \
	"$W/alloc" 2 2 100 >tally || fail "a trace by the installed program: status $?"
[ "$(wc -l <"$t/alloc.out")" -gt 100 ] || fail "no allocations: $(wc -l <"$t/alloc.out") lines"

user 'touch .local/bin/mine'
made uninstall "$home/.local/"
equal "left" "$(cd home/.local && find . | sort | paste -sd ' ')" ". ./bin ./bin/mine"
