#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The same run of the workload "calls" under dltraced and under strace, from the first instruction of the dynamic loader
# to the end: the same calls, equally often, with the same results, errors, paths, lengths and offsets.
#
# smoke
. "${0%/*}/../lib.sh"
command -v strace >/dev/null || skip "strace"

set -- "$W/calls" -t 2 -f 1 -n 2 -T tally dir
trace -- "$@" >pids || fail "status $?"
rm -r dir
traced=$(sed '1d; /^create\t/d; /^io_submit:/d; s/\t.*//' tally | paste -s -d ,)
data=read,readv,preadv,preadv2,pread64,write,writev,pwritev,pwritev2,pwrite64,io_submit
# raw: the data of reads and writes is not printed
strace -f -qq -xx -s 4096 -e signal=none -e "trace=$traced" -e "raw=$data" -o strace.out "$@" >pids ||
	fail "strace: status $?"
check strace strace.out
