#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# make install puts everything below DESTDIR, in the folders that its variables name, with manual pages that have every
# column and that every checker accepts, and nothing outside of a PREFIX that is not the system's. make uninstall removes
# all of it.
. "${0%/*}/../lib.sh"
need make
top=$here/../..
root="$TMPDIR/with blank"

# install_with GOAL ARG...
install_with() { make -s --no-print-directory -C "$top" "$@" DESTDIR="$root" >make.out 2>&1 || fail "make $*: $(cat make.out)"; }

install_with install PREFIX=/usr sysconfdir=/conf
equal "version" "$("$root/usr/bin/dltraced" --version)" "$("$DLT" --version)"
man=$root/usr/share/man
for page in man8/dltraced.8 man5/dltraced-traces.5; do
	[ -s "$man/$page" ] || fail "$page is not installed"
done
[ -s "$root/usr/share/bash-completion/completions/dltraced" ] || fail "the completion is not installed"

for library in alloc nvtx; do
	[ -s "$root/usr/lib/dltraced/libdltraced-$library.so" ] || fail "libdltraced-$library.so is not installed"
done

# The views for DuckDB are installed as the program prints them.
"$DLT" probes --duckdb | cmp - "$root/usr/share/dltraced/duckdb.sql" || fail "the views for DuckDB are not installed"

# The manual page of the files has all of them, with their columns in order.
"$DLT" probes --markdown | sed -n 's/^### \(.*\.out\)$/.Ss \1/p; s/^| \([A-Z][A-Z0-9_]*\) | .*/.It \1/p' >wanted
grep -xE '\.Ss .*\.out|\.It [A-Z][A-Z0-9_]*' "$man/man5/dltraced-traces.5" >got
cmp -s wanted got || fail "columns: $(diff wanted got | head)"
grep -q '^\.It STATUS$' got || fail "no columns at all"

for page in "$man"/man?/*; do
	if command -v mandoc >/dev/null; then
		mandoc -T lint -W warning "$page" >lint 2>&1 || fail "${page##*/}: $(cat lint)"
	fi
	if command -v man >/dev/null; then
		LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -E UTF-8 -l "$page" 2>lint >/dev/null
		[ ! -s lint ] || fail "${page##*/}: $(cat lint)"
	fi
done

# The pictures that the pages show are there.
for page in "$root/usr/share/doc/dltraced/README.md" "$root/usr/share/doc/dltraced/docs"/*.md; do
	sed -n 's/^!\[.*\](\(.*\))$/\1/p' "$page" | while read -r picture; do
		[ -s "${page%/*}/$picture" ] || echo "$picture of ${page##*/}"
	done
done >lost
[ ! -s lost ] || fail "pictures are not installed: $(cat lost)"

# An existing configuration stays unchanged; a changed one stays when the program is removed.
if [ -e "$root/conf/dltraced/dltraced.conf" ]; then
	echo '# mine' >>"$root/conf/dltraced/dltraced.conf"
	install_with install PREFIX=/usr sysconfdir=/conf
	tail -n 1 "$root/conf/dltraced/dltraced.conf" | grep -qx '# mine' || fail "the configuration was replaced"
	install_with uninstall PREFIX=/usr sysconfdir=/conf
	rm "$root/conf/dltraced/dltraced.conf" || fail "the changed configuration was removed"
fi

# The unit starts existing programs; all but ours are on every system. A reload is a HUP.
unit=$root/usr/lib/systemd/system/dltraced.service
if [ -e "$unit" ]; then
	others=$(sed -n 's/^Exec[A-Za-z]*=[-@:+!]*\([^ ]*\).*/\1/p' "$unit" | grep -vx /usr/bin/dltraced)
	equal "programs of the unit" "$others" /bin/sh
	sh -c 'trap "echo reloaded; exit" HUP; echo $$; while :; do sleep 0.1; done' >reload &
	await test -s reload
	MAINPID=$(head -n 1 reload) sh -c "$(sed -n "s/^ExecReload=//p" "$unit")"
	wait $!
	equal "reload" "$(tail -n 1 reload)" reloaded
fi

install_with uninstall PREFIX=/usr sysconfdir=/conf
left=$(find "$root" ! -type d)
equal "left after uninstall" "$left" ""

install_with install bindir=/b mandir=/m unitdir=/u completionsdir=/c sysconfdir=/s sysusersdir=/y \
	tmpfilesdir=/t docdir=/d datadir=/a includedir=/i pkgconfigdir=/p libdir=/l
equal "folders" "$(cd "$root" && ls -d b m c d)" "b
c
d
m"
equal "below the default prefix" "$(find "$root/usr" ! -type d)" ""
[ ! -e "$root/u/dltraced.service" ] || grep -q '^ExecStart=/b/dltraced ' "$root/u/dltraced.service" ||
	fail "the unit starts another program: $(grep Exec "$root/u/dltraced.service")"
[ ! -e "$root/u/dltraced.service" ] || grep -q -- '--config=/s/dltraced/dltraced.conf$' "$root/u/dltraced.service" ||
	fail "the unit does not name its config: $(grep Exec "$root/u/dltraced.service")"

# The config is in /etc, where the daemon looks, for the system's own folders, and within any other PREFIX.
rm -rf "$root"
install_with install PREFIX=/usr/local/
equal "in PREFIX=/usr/local" "$(cd "$root" && ls)" "$(printf 'etc\nusr')"
equal "the unit's config" "$(grep -c -- --config "$root/usr/local/lib/systemd/system/dltraced.service")" 0
install_with uninstall PREFIX=/usr/local/
equal "files after uninstall" "$(find "$root" ! -type d)" ""
rm -rf "$root"
install_with install PREFIX=/opt/d
equal "outside of PREFIX" "$(find "$root" ! -type d ! -path "$root/opt/d/*")" ""
[ -s "$root/opt/d/etc/dltraced/dltraced.conf" ] || fail "no config in PREFIX"
install_with uninstall PREFIX=/opt/d
equal "left in PREFIX" "$(find "$root/opt/d")" "$root/opt/d"
make -s --no-print-directory -C "$top" install PREFIX="/opt/a b" DESTDIR="$root" 2>err && fail "a PREFIX with a blank"
grep -q 'PREFIX has a blank' err || fail "a blank: $(cat err)"
