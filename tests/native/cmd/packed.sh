#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Files of a trace that somebody has packed by xz, bzip2 and the like are not read: each command that needs their rows says
# which file to unpack, and none takes the rest for the whole trace.
. "${0%/*}/../lib.sh"

trace -- cat "$0" >copied || fail "status $?"
mv t/vfs_rw.out t/vfs_rw.out.xz # how it is packed does not matter, as nothing reads it

# says STATUS WHERE COMMAND...: it ends with STATUS, and WHERE, out or err, names the file.
says() {
	wanted=$1 where=$2
	shift 2
	"$DLT" "$@" >out 2>err
	equal "status of $*" $? "$wanted"
	grep -q 'unpack vfs_rw.out.xz:\|vfs_rw.out.xz:* must be unpacked' "$where" || fail "$* said: $(cat "$where")"
}
says 1 err report t
says 1 out report --full t
says 1 out validate t
says 1 err export t -f ndjson -o rows
says 125 err merge t -o merged
says 125 err anonymize t -o anonymous
says 125 err cut t --from 0 -o part
[ ! -e merged ] && [ ! -e anonymous ] && [ ! -e part ] || fail "made a copy: $(ls)"

# Other files whose names end so are no rows of the trace.
mv t/vfs_rw.out.xz t/vfs_rw.out
touch t/notes.xz t/model.out.xz t/vfs_rw.out.txt.xz t/.out.xz t/vfs_rw.xz
"$DLT" validate t >out || fail "files of somebody else: $(cat out)"
"$DLT" merge t -o merged || fail "merge beside files of somebody else: $?"
