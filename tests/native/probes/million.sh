#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A mix of a million calls as fast as two threads can make them: exactly the rows that the workload
# counted, none lost, none late.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"

trace -- "$W/calls" -t 2 -m 1000000 -T tally dir >pids || fail "status $?"
check tally tally pids
