#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A file that is in several places, by bind mounts and in another mount namespace, is one file, and each open has the
# path that its process saw. A name that ends as the kernel marks a deleted file is a name like any other.
. "${0%/*}/../lib.sh"
unshare -m true 2>/dev/null || skip "mount namespaces"

mkdir a b c
echo text >a/file
echo text >"a/odd (deleted)"
# shellcheck disable=SC2016 # for the inner shells
unshare -m --propagation private sh -ec '
	mount --bind a b
	"$@" sh -ec '\''
		cat a/file b/file "b/odd (deleted)"
		unshare -m --propagation private sh -ec "mount --bind b c; exec cat c/file"
		exec 5<a/file
		rm b/file
		cat <&5
		python3 -c "import os; os.write(os.memfd_create(\"m (deleted)\"), b\"x\")"'\''' sh \
	"$DLT" start -q $(start_options) -o "$t" -- >out ||
	fail "status $?"
equal "paths of the file" "$(col open REALPATH 'FILE == "file" && RET >= 0')" "$PWD/a/file
$PWD/b/file
$PWD/c/file
$PWD/a/file"
equal "files of that name" "$(col files FID 'REALPATH ~ "/file$"' | sort -u | wc -l)" 1
equal "other names" "$(col files 'STATE, REALPATH' 'REALPATH ~ "deleted"' | sort)" "ok /memfd:m\\040(deleted)
ok $PWD/b/odd\\040(deleted)"
check whole

# Processes whose file has another process's path: one in its own mount namespace, one with another root. What others do
# to that path does not happen to their files. A renamed folder is renamed for the processes that see it.
mkdir -p own/real jail/real real
echo victim >real/file
echo attacker >own/real/file
echo jailed >jail/real/file
trace -- sh -ec '
	truncate -s 3 real/file
	unshare -U -m -r sh -ec "mount --bind own/real/file real/file; cat real/file"
	python3 -c "import os
os.chroot(\"jail\")
os.chdir(\"/\")
os.makedirs(\"$PWD/real\", exist_ok=True)
open(\"$PWD/real/file\", \"w\").close()"
	python3 -c "import os; os.truncate(\"real/file\", 2)"
	mv real/file real/moved
	mv real real2
	rm real2/moved' >out || fail "status $?"
mine=$(col open FID 'REALPATH ~ "/real/file$" && FLAGS ~ /RDONLY/ && COMM == "cat"')
[ -n "$mine" ] || fail "no open of the own file"
equal "paths of the own file" "$(col files REALPATH "FID == $mine" | grep -c real2)" 0
equal "what others did to it" "$({ col create_del FUNC "FID == $mine"; col sync FUNC "FID == $mine"; } | sort | uniq)" ""
theirs=$(col open FID 'REALPATH ~ "/real/file$" && COMM == "truncate"')
equal "what they did to theirs" "$({ col sync FUNC "FID == $theirs"; col create_del FUNC "FID == $theirs"; } | tr '\n' ' ')" \
	"ftruncate truncate renameat2 unlinkat "
check whole

# A folder is renamed by one path, while files below it are known by other paths: through a bind mount, and as the lower
# layer of an overlay. They keep the path by which they were opened, which is the meaning of REALPATH (docs/traces/files.md),
# until they are opened again.
mkdir -p top/dir view low/dir up work merged
for f in one two; do echo text >top/dir/$f; done
echo text >low/dir/low
rm -rf "$t"
# shellcheck disable=SC2016 # for the inner shells
unshare -m --propagation private sh -ec '
	mount --bind top view
	mount -t overlay -o lowerdir=low,upperdir=up,workdir=work overlay merged 2>/dev/null || cp -r low/dir merged/
	"$@" sh -ec '\''
		exec 5<view/dir/one 6<view/dir/two
		cat merged/dir/low
		mv top/dir top/dir2
		mv low/dir/low low/dir/lower
		cat <&5
		cat view/dir2/two'\''' sh \
	"$DLT" start -q $(start_options) -o "$t" -- >out ||
	fail "status $?"
paths() { col files REALPATH "FID == $(col open FID "FILE == \"$1\"" | head -n 1)" | tr '\n' ' '; }
equal "a file in another view" "$(paths one)" "$PWD/view/dir/one "
equal "one that is opened again" "$(paths two)" "$PWD/view/dir/two $PWD/view/dir2/two "
equal "a file of an overlay, which is renamed below it" "$(paths low)" "$PWD/merged/dir/low "
equal "files of these names" "$(col files FID 'REALPATH ~ "/(one|two)$"' | sort -u | wc -l)" 2
check whole

# A mount covers the data during the trace: open files stay what they were, at their paths; from then on an open reaches
# the other file.
mkdir data
echo below >data/set
rm -rf "$t"
# shellcheck disable=SC2016 # for the inner shell
unshare -m --propagation private "$DLT" start -q $(start_options) -o "$t" -- sh -ec '
	exec 5<data/set
	mount -t tmpfs none data
	echo above >data/set
	cat data/set
	cat <&5' >out || fail "status $?"
equal "what was read" "$(tr '\n' ' ' <out)" "above below "
below=$(col open FID 'FILE == "set" && COMM == "sh" && FLAGS ~ /RDONLY/') above=$(col open FID 'FILE == "set" && COMM == "cat"')
[ -n "$below" ] && [ "$below" != "$above" ] || fail "the file below is $below, the one above $above"
equal "reads of each" "$(col vfs_rw FID 'RW == "R" && FILE == "set" && RETURNED == 6' | tr '\n' ' ')" "$above $below "
equal "paths and types" "$(col files 'FSTYPE, REALPATH' "FID == $below || FID == $above" | sort -u | grep -c " $PWD/data/set\$")" 2
check whole
