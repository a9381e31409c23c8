#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The owner of the trace folder, or of a folder above it, gains nothing by planting files and links there: nothing
# outside is made, written, given away or read, and the trace ends normally.
. "${0%/*}/../lib.sh"
need python3 setpriv tar gzip
getent passwd nobody >nobody || skip "a user nobody"
uid=$(cut -d: -f3 nobody) gid=$(cut -d: -f4 nobody)
as_nobody() { setpriv --reuid "$uid" --regid "$gid" --clear-groups "$@"; }

# What the user may not see or change: a file whose content looks like a commit, and empty folders.
secret=$(printf '%064d' 7)
echo "$secret" >secret
chmod 600 secret
mkdir -p roots/empty
mkdir -m 700 private
cp -p secret private/file
install -d -o "$uid" -g "$gid" theirs
outside() { find secret roots private -printf '%p %u %g %m %n %s %T@\n' | sort; cat secret private/file; }
before=$(outside)
untouched() { equal "outside, $1" "$(outside)" "$before"; }

# --- the path to the folder -----------------------------------------------------------------------

ln -s ../roots theirs/way
for user in nobody root; do
	for folder in empty new new/er; do
		t=$TMPDIR/theirs/way/$folder
		"$DLT" start -q --collectors none --probes -bio --min-free 0 --user $user -o "$t" -- true 2>err &&
			fail "as $user, -o $t: not refused"
		grep -q 'symbolic link' err || fail "as $user, -o $t: $(cat err)"
		untouched "as $user, -o $t"
	done
done
# What users may do by themselves is allowed: their own link, to their own folder.
as_nobody mkdir theirs/far
ln -s far theirs/near
t=$TMPDIR/theirs/near/t
trace --user nobody -- true || fail "a link of the user's: $?"
equal "owner" "$(stat -c %u theirs/far/t)" "$uid"
# Root's link may lead anywhere, and root may give root's folders away.
ln -s roots rootslink
t=$TMPDIR/rootslink/empty
"$DLT" start -q --collectors none --probes -bio --min-free 0 --user nobody -o "$t" -- true || fail "root's link: $?"
equal "owner" "$(stat -c %u roots/empty)" "$uid"
rm -r roots/empty
mkdir roots/empty
before=$(outside)

# --- what lies in the working directory -----------------------------------------------------------

as_nobody mkdir -p theirs/repo/.git theirs/repo/out
ln -s "$TMPDIR/secret" theirs/repo/.git/HEAD
t=$TMPDIR/theirs/t
cd theirs/repo || exit 1
trace --user nobody -- true || fail "status $?"
grep -q "$secret" "$t/manifest.json" && fail "git: the manifest tells root's secret"

# Files to collect: a link to a secret, a folder that is at times a link to one of root's, a FIFO.
ln -s "$TMPDIR/secret" out/link
as_nobody mkfifo out/fifo
as_nobody sh -c 'mkdir dir; echo mine >dir/file; echo $$ >swapper
	while mv dir dir.was && ln -s "$0/private" dir && rm dir && mv dir.was dir; do :; done' "$TMPDIR" 2>/dev/null &
await test -s swapper
for i in 1 2 3; do
	trace --user nobody --collect 'out/*' --collect 'dir/*' --collect "$TMPDIR/secret" -- true 2>err
	grep -rq "$secret" "$t" && fail "--collect: root's secret is in the trace"
done
kill "$(cat swapper)"
cd "$TMPDIR" || exit 1
untouched "--collect"

# --- the folder, while dltraced writes to it ------------------------------------------------------

gate
chmod 666 gate
# Every name that dltraced may write or read becomes a link to the secret or to a folder, or a FIFO, again and again.
cat >plant <<'END'
cd "$1/theirs/t" || exit 1
: >"$1/theirs/planting"
while [ -e "$1/theirs/planting" ]; do
	for f in open.out.new vfs_rw.out.new open.000002.out vfs_rw.000002.out.gz vfs_rw.000001.out.gz.tmp \
		open.000001.out.gz.tmp manifest.json.tmp manifest.json rollup.out workload.log.new ../t.tar.gz.part; do
		case $((n = (n + 1) % 4)) in
		0) ln -sf "$1/secret" $f ;;
		1) rm -f $f; mkfifo $f ;;
		2) ln -sfn "$1/roots" $f ;;
		3) ln -sf "$1/roots/made" $f ;;
		esac
	done 2>/dev/null
done
rm -f open.out.new vfs_rw.out.new manifest.json.tmp ../t.tar.gz.part
END
t=$TMPDIR/theirs/t
spawn --user nobody --rotate 64K --compress gzip --log -o "$t.tar.gz" -- \
	sh -c 'read _ <gate; i=0; while [ $i -lt 2500 ]; do true <gone$i; i=$((i + 1)); done 2>/dev/null; : >theirs/looped; read _ <gate'
await grep -qs '"given_up"\|"kept"' "$t/manifest.json"
as_nobody sh plant "$TMPDIR" &
planter=$!
await test -e theirs/planting
# A hard link, as a kernel without fs.protected_hardlinks lets everybody make it.
ln -f secret theirs/t/close.out
before=$(outside)
echo >&9
await test -e theirs/looped
rm theirs/planting
wait $planter
# Another folder in its place.
as_nobody mv theirs/t theirs/was
as_nobody ln -s "$TMPDIR/roots" theirs/t
echo >&9
join
equal "status" "$rc" 0
untouched "by a trace that was interfered with"
t=$TMPDIR/theirs/was
equal "complete" "$(manifest 'm["complete"]')" True
grep -rq "$secret" theirs/was --include='*.out' --exclude=close.out && fail "the secret is in the trace"
[ ! -e roots.tar.gz ] || fail "an archive of what is root's"

# Where nothing can be planted in time: test_logtail shows that a foreign log is not read.
