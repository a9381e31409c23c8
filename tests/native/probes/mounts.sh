#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A file that lies in several places, by bind mounts and in another mount namespace, is one file, and each open has the
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
	"$DLT" start -q --collectors none --probes -bio --min-free 0 ${DLT_BACKEND:+--backend "$DLT_BACKEND"} -o "$t" -- >out ||
	fail "status $?"
equal "paths of the file" "$(col open REALPATH 'FILE == "file" && RET >= 0')" "$PWD/a/file
$PWD/b/file
$PWD/c/file
$PWD/a/file"
equal "files of that name" "$(col files FID 'REALPATH ~ "/file$"' | sort -u | wc -l)" 1
equal "other names" "$(col files 'STATE, REALPATH' 'REALPATH ~ "deleted"' | sort)" "ok /memfd:m\\040(deleted)
ok $PWD/b/odd\\040(deleted)"
check whole
