#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The kernel accepts the BTF of every object that is loaded, also of those that attach. libbpf would go on without BTF,
# but then older kernels verify for minutes what otherwise takes a second.
. "${0%/*}/../lib.sh"

sleep 1000 &
pid=$!
trace -v --pid $pid --duration 100ms 2>err || fail "status $?: $(cat err)"
kill $pid
! grep 'Error loading .BTF' err || fail "see -v"
