#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# OFFSET is where a write began, not the position that it gave: a write that appends goes to the end of the file
# whatever its position is (pwrite(2), BUGS).
. "${0%/*}/../lib.sh"
need python3

cat >append.py <<'END'
import os

fd = os.open("data", os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
os.write(fd, bytes(100))
os.pwrite(fd, bytes(10), 5)
os.pwritev(fd, [bytes(10), bytes(10)], 7)
os.pread(fd, 10, 3)
os.write(fd, bytes(1))
fd = os.open("data", os.O_RDWR)
os.pwrite(fd, bytes(10), 6)
os.pwritev(fd, [bytes(10)], 8, 0x10)  # RWF_APPEND
END
trace -- python3 append.py || fail "status $?"
equal offsets "$(col vfs_rw 'FUNC ":" OFFSET' 'FILE == "data"' | tr '\n' ' ')" \
	"write:0 pwrite64:100 pwritev2:110 pread64:3 write:130 pwrite64:6 pwritev2:131 "
