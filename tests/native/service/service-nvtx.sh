#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A user without rights has the ranges of NVTX too, by the service: the user's own process puts the library into the
# job's environment, and the one that traces for it knows that ranges are to come.
. "${0%/*}/../service.inc"

python
daemon
mkdir -m 777 users
t=$TMPDIR/users/t
as_start --regions nvtx -P regions,time_align -- "$W/nvtx" users/tally >out 2>err || fail "status $?: $(cat out err)"
equal "messages" "$(messages)" ""
check nvtx users/tally 8000
equal "the manifest's nvtx" "$(manifest 'm["nvtx"]')" True
as_start --regions nvtx -P regions -- true 2>err || fail "without ranges: status $?"
grep -q 'no range came by NVTX' err || fail "nothing is said of it: $(cat err)"
