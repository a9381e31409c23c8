#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A mix of calls as fast as two threads can make them: exactly the rows that the workload counted, none lost, none late.
# LONG=1: a million of them.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"

trace -- "$W/calls" -t 2 -m "1${LONG:+0}00000" -T tally dir >pids || fail "status $?"
check tally tally pids
