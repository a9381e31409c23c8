#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The kernel takes the BTF of every object that is loaded, those of an attach too. libbpf goes on
# without it, but then older kernels verify for minutes what they would in a second.
. "${0%/*}/../lib.sh"

sleep 1000 &
pid=$!
trace -v --pid $pid --duration 100ms 2>err || fail "status $?: $(cat err)"
kill $pid
! grep 'Error loading .BTF' err || fail "see -v"
