#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# If another program has apt's lock, install-deps reports only that, and to try again later. apt-get is a stub here.
. "${0%/*}/../lib.sh"
script=$here/../../scripts/install-deps
[ -e "$script" ] || skip "scripts/install-deps"
mkdir bin
for tool in sh env grep cat id mktemp rm dirname uname; do
	ln -s "$(command -v $tool)" bin/$tool
done
cat >bin/apt-get <<'END'
#!/bin/sh
echo "apt-get $*" >>"$ASKED"
echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 4711 (apt-get)" >&2
echo "E: Unable to lock directory /var/lib/apt/lists/" >&2
exit 100
END
printf '#!/bin/sh\n' >bin/apt-cache
chmod 755 bin/apt-get bin/apt-cache
for what in '' --build --deb; do
	rm -f asked
	# shellcheck disable=SC2086 # none is no word
	ASKED=$TMPDIR/asked PATH=$TMPDIR/bin "$script" $what >out 2>err && fail "install-deps $what: status 0"
	grep -q '^install-deps: another program uses apt: try again later$' err || fail "install-deps $what said: $(cat err)"
	! grep '^E:\|package manager failed' err || fail "install-deps $what says more of it"
	equal "how often apt-get was tried" "$(wc -l <asked)" 1
done
